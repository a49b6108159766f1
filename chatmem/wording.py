"""The forms of words by which the kind of a sentence is told, in English, Russian and Chinese."""

from __future__ import annotations

import re

LEAD = re.compile(
    r"^(?:(?:(?:wait|hold on|oops)(?=[,.!…])|and|so|but|then|ok|okay|well|oh|um|hm+|hey|hi|hello|now|also|please|ai"
    r"|btw|by the way|anyway|one more"
    r" thing|fun fact|for your information|let me tell you(?: something)?(?: about (?:me|myself))?(?=[:,])|а|и|ну|но"
    r"|siri|alexa|computer|пожалуйста|请|那)\b[\s,.:!…-]*|[-*•\"'“«(\s]+)+",
    re.I,
)
SMALL_TALK = re.compile(
    r"^(?:(?:hi|hiya|hello|hey|yo|thanks|thank you|thx|ok|okay|yes|yep|yup|yeah|no|nope|nah|sure|great|nice|cool|good"
    r"|fine|wow|awesome|perfect|lovely|bye|goodbye|adios|see you"
    r"|(?:nice|pleased|good|lovely) to (?:meet|see) you|later|please|sorry|well|indeed|confirmed|absolutely"
    r"|good (?:morning|evening|afternoon|night|day)|how are you|cheers|welcome|never ?mind|all right|alright|got it|i"
    r" see|there|again|everyone|me again|back again|ta-?ra|ta|cheerio|toodles|laters|night(?: night)?|evening|morning"
    r"|afternoon|brb|afk|gtg|ttyl|take care|happy (?:new year|birthday|easter)|merry christmas|many thanks"
    r"|much appreciated|bonjour|salut|merci(?: beaucoup)?|hola|gracias|guten (?:morgen|tag|abend)|danke(?: schön)?"
    r"|tschüss|ciao|so much|very much|a lot|for (?:that|now|helping|your help|the help)|then|me too|same"
    r" here|no problem|of course|no way|really|definitely|exactly|no worries|good one|fair enough|never mind that|my"
    r" pleasure|you bet|too bad|oh well|whatever|anyway|right|mate|man|dude|friend|maybe|perhaps|sorry to hear that"
    r"|true|both|either|not (?:really|sure|bad|happening)|haha\w*|lol|hm+|oh|ah|uh-?huh|sounds? (?:good|great|fun|like"
    r" \w+)|talk to you soon|(?:see|catch) (?:you|ya)(?: \w+){0,3}|until (?:tomorrow|next time)|out|today|not bad(?:"
    r" at all)?|ha|i(?:'m not| am not)? ?(?:don't )?(?:sure|think so|know|agree|appreciate it|understand)|i hope so|i"
    r" guess|привет|здравствуй(?:те)?|спасибо(?: (?:большое|огромное|тебе|вам))*|до (?:завтра|встречи|свидания"
    r"|скорого)|рада? (?:знакомству|слышать)|как дела|отлично|здорово|классно|круто|пока|да|нет|хорошо|ладно|добрый "
    r"(?:день|вечер)|доброе утро|понятно|ага|конечно|你好|谢谢|再见|好的|嗨|好|是的|不是|哈+|早上好"
    r"|晚安)[\s,.!…~，。！)(:;-]*)+$",
    re.I,
)
_MINE = r"(?:i|i'm|i've|i'll|i'd|me|my|mine|we|we're|our|us)"
_PRAISE = (
    r"(?:good|great|nice|cool|awesome|amazing|interesting|fun|true|false|right|wrong|correct|funny|sad|bad|lovely"
    r"|impressive|fantastic|wonderful|sure|fine|okay|ok|tough|exciting|beautiful|helpful|best|worst|cute|rewarding"
    r"|popular|perfect|terrible|horrible|delicious|brilliant|excellent|incredible|hard|easy|important|sweet|adorable"
    r"|long|classic|shame|pity|relaxing|challenging|crazy|weird|strange|scary|boring|hilarious|affirmative)"
)
REACTION = re.compile(  # "That sounds like hard work.", "It's really good!", "You should try it.", "Yeah, it is."
    rf"^(?:(?:oh|wow|yeah|yes|yep|no|haha|hm+|well|ah|aww?|congratulations|congrats)\b[\s,.!-]*)*(?:(?:that|this)(?:'s"
    rf"| is| was| sounds?| looks?| seems?| makes?| works?| helps?| explains?| must| would| could| can)\b(?!.*"
    rf"(?:\b{_MINE}\b|\d))(?: [\w'-]+)"
    r"{0,9}"
    rf"|(?:it|those|they|these|he|she)(?:'s|'re| is| are| was| were| can be| must be| sounds?| looks?)(?: not| so|"
    rf" very| really| pretty| quite| all| just| such| a| an| the| too| also| always| lot of| definitely| totally)*(?:"
    rf" {_PRAISE}(?:,? (?:and|but) .*| \w+){{0,3}})?"
    r"|(?:it|that|they|he|she|you|we) (?:is|are|was|were|does|do|did|can|has|have|should|will|would)(?:n't| not)?|"
    r"(?:yes|no),? (?:that|it)(?:'s| is)\b.*"
    rf"|(?:your|you|you're|you've|you'll)\b(?!.*\b{_MINE}\b).*|sounds like(?: \w+){1, 4}|(?:special |many )?thank(?:s|"
    rf" you)(?: (?:so|very) much| a lot)?"
    r"(?: for| to)\b.*|(?:it's |it is |it was |i )?(?:really )?(?:so )?(?:nice|good|great|cool|lovely|enjoyed) (?:to"
    r" meet|meeting|talking|chatting|to (?:talk|hear|see|chat))\b.*|have (?:a|an) (?:nice|good|great|lovely)\b.*|"
    r"(?:how |so |that was )?(?:silly|stupid|dumb|daft|foolish|careless) of me\b.*|my (?:own )?(?:mistake|bad|fault"
    r"|error)"
    r"|(?:brb|afk|gtg|bbl|back in a (?:sec|minute|moment|bit))\b.*|(?:i'm )?(?:off to bed|logging off)\b.*"
    r"|(?:(?:it's |how |very )?(?:odd|funny|strange|weird)|no idea|not sure|(?:i )?(?:can't|cannot) believe|god knows"
    r"|i (?:don't|do not) know)(?: that| why| how)? i"
    r" (?:ever |even |just )?(?:said|told you|wrote|mentioned|thought)\b.*"
    r"|i (?:misspoke|(?:got|had) (?:that|it|them) (?:all )?(?:wrong|mixed up|confused))|"
    r"(?!.*\b(?:я|мне|меня|мной|мо[йяеёи]\w*|нас|мы)\b).*\b(?:ты|тебя|тебе|тво[йяеёи]\w*|вы|вас)\b.*)[\s.!…]*$",
    re.I,
)

_AUXILIARY = (
    r"(?:do|does|did|is|are|am|was|were|can|could|would|will|should|shall|must|have|has|had|may|might|isn't|aren't"
    r"|don't|doesn't|didn't|won't|wouldn't|can't|couldn't)"
)
_TELLS = r"(?! (?:i|i'm|my|we|our|he|she|they|it)\b)"  # "Where I live it rains." asks nothing
QUESTION = re.compile(  # without a question mark: "where do I work" is one, "When I was six ..." is none
    rf"^(?:when(?:'s|s)? {_AUXILIARY}\b|when's\b|(?:which|who|whom|whose|why|where)(?:s|'s|'re)?\b(?! would"
    rf" have){_TELLS}|(?:what|how)(?:s|'s|'re|'ve)\b|what\b(?! an? \w+(?:[ ,!]|$)){_TELLS}(?! (?:really |always )?"
    rf"(?:matters|makes|annoys"
    r"|bothers|helps|scares|calms|keeps) (?:me|my|to me)\b)|how (?!i |we |he |she |they |nice|lovely|sweet|funny)|"
    r"(?:in|on|at|to|for|from|under|about) (?:what|which|whom|how (?:much|many|long|old))\b|can (?!not\b|be\b|'t)\w+"
    r"|do (?!a\b|an\b|me\b|the\b|some\b|not\b|n't)\w+|(?:if|when|for|in|on|at|as|with|about|to|from|since"
    r"|while)\b[^,]*, (?:what|which|who|where|when|how|why|do|does|can|is|are|should|will) (?!i [^?]*$)"
    rf"|{_AUXILIARY} (?:i|you|he|she|it|we|they|there|my|your|our|his|her|their|the|this|that|these|those|any|anyone"
    rf"|anybody"
    r"|someone)\b|(?:is|are|does|did|has|could|would|should|will) (?!be\b|have\b|been\b)\w+|(?:i (?:was |am )?)?wonder"
    r"(?:ing)? (?:if|whether|how|what|why|who|when|where|which)\b|i (?:was )?wonder\b|c'est quoi\b|qu'est-ce\b"
    r"|est-ce que\b|combien\b|pourquoi\b"
    r"|quel(?:le)?s? \w+|warum\b|wie ?viel\w*|welche[rsnm]?\b|woher\b|(?:was|wer|wo) (?:ist|sind|macht|kostet"
    r"|bedeutet)\b"
    r"|qué\b|por qué\b|cuál\w*|cuánt\w+|dónde\b|i(?:'d| would)? (?:(?:want|need|like|love) to|wanna) (?:know|hear"
    r"|find out|ask|check)\b|(?:what|how)"
    r" about\b|ever (?:been|had|seen|tried|heard|wanted|eaten|met)\b|got any\b|mind if\b|since when\b|(?:roughly|about"
    r"|approximately|exactly|just|so) (?:how|what|when|where|who)\b|any (?:idea|tips|advice|suggestions"
    r"|recommendations)\b|(?:кто|что|чей|чья|чьё|где|куда|откуда|когда|почему|зачем|как|какой|какая|какое|какие"
    r"|сколько|разве|неужели|можно ли|можешь|можете|не мог\w* бы)\b[^.!,]*$)",
    re.I,
)
CHINESE_QUESTION = re.compile(
    r"(?:吗|呢|什么|谁|哪里|哪儿|为什么|怎么|多少|几岁|几点|几号|星期几|周几|哪个|是不是)[。.!！\s]*$|^(?:请问|那"
    r"|那么)?(?:怎么|怎样|为什么|什么|哪|谁|几|多少|是否|有没有|能不能|可不可以)|(?:是|在|叫|有)(?:什么|哪|谁|多少"
    r"|几)[^，。]{0,6}$|^[^.!,]*\bли\b[^.!,]*$"
)

_VERBS = (  # what people tell an assistant to do; states ("love", "work", "live") are left out: "Love my job!"
    r"tell|give|show|write|explain|list|help|make|translate|summari[sz]e|pick|recommend|suggest|compare|describe"
    r"|calculate|count|define|find|say|repeat|forget|delete|erase|let's|let us|let me|answer|ask|compose|create|draw"
    r"|plan|guess|imagine|pretend|stop|continue|go on|go ahead|try|sing|spell|rewrite|convert|think of|ignore"
    r"|disregard|name (?:a|an|one|two|three|four|five|six|ten|\d+|some|the|all|every)|book|reserve|order|buy|call"
    r"|phone|dial|text(?! messages?\b)|send|email|message|remind|set|add|put|remove|take|get|turn|switch|change(?! of)"
    r"|use|play|pause|skip|shuffle|start|begin|open|close|check|look|search|google|read|roll|flip|toss|reset|restore"
    r"|sync|connect|pair|engage|activate|report|schedule|cancel|undo|pay|transfer|move|share|track|locate|notify"
    r"|inform|speak|talk|lower|raise|increase|decrease|mute|retrieve|submit|confirm|update|increase|respond|reply|do"
    r" me|act|be (?!back|there|home)\w+|shut|wake me|see if|see what|see when|see how|keep (?:me|it short|your|going"
    r"|quiet)|drop|clear|clean up|edit|fix|format|generate|improve|proofread|rephrase|shorten|outline|brainstorm|solve"
    r"|prove|teach|walk me|quiz|test me|entertain|cheer|wish me|(?:don't|do not)(?! (?:like|eat|drink|have|live|work"
    r"|want|care|mind|own|speak|smoke)\b| (?:call|wake|disturb|text|ring|bother|phone|contact|visit|seat|put) me\b.*\b"
    r"(?:before|after|on|at|during|while|when|unless|next to)\b)|never (?:call|say|mention|tell|ask)|correct|complete"
    r"|finish|parse|evaluate|place|disconnect|bring up|direct me|adjust|cross (?:off|out|\w+ off)|replace|empty|speed"
    r" up|slow down|enter|eliminate|insert|log|register|deactivate|freeze|block|unblock|provide|display|identify"
    r"|estimate|rate|choose|select|ring|contact|fetch|grab|ensure|make sure|verify|flag|file|postpone|reschedule"
    r"|arrange|rename|save|print|download|upload|install|lock|unlock|dim|hear me out|enlighten|refer|recite|chat"
    r"|narrate|assist|sort|draft|rank|compute|simplify|paraphrase|expand|extract|classify|organi[sz]e|design|propose"
    r"|invent|debug|run|execute|simulate|analy[sz]e|assess|review|critique|highlight|quote|cite|research|investigate"
    r"|discuss|argue|debate|present|illustrate|demonstrate|elaborate|clarify|specify|predict|multiply|divide|subtract"
    r"|add up|sum up|round|hum|whistle|wait|hold on|hurry|listen|look up|come up with|pass|press|click|type|warn|alert"
    r"|mark|label|tag|keep talking|surprise me|amuse|assume|throw|reduce|abort|converse"
)
HABIT = re.compile(  # "Walk to work every day" tells of the user
    r"^(?!.*\b(?:me|you|your|us)\b).*\b(?:every|usually|often|twice|daily|weekly|mostly|a lot|on weekends|most (?:days"
    r"|mornings)|to work|since|for (?:a|the) living|\w+days)\b",
    re.I,
)
COMMAND = re.compile(
    # "Book club is on Tuesdays." tells
    r"^(?!\w+(?: (?!what|who|where|how|why|when|which)\w+)? (?:is|are|was|were|has|starts|ends|meets|comes|takes"
    r"|closes|opens|begins|runs|costs|leaves|happens|lives|works)\b)"
    rf"(?:(?:can|could|would|will) you\b|(?:{_VERBS})\b(?!-)|(?!(?:i|my|we|our)\b(?! (?:want|need"
    rf"|would))(?!'d)).*\bplease[.!]*$|know any\b|i(?:'d| would)? (?:need|want"
    rf"|like) you to\b|you (?:must|need"
    r" to|have to|can|should) (?:tell|remind|stop|remove|talk|speak|shut|answer)\b|i(?:'d| would)? (?:really |just )?"
    r"(?:need|want|wanna|like|love|have|wish|got) (?:to )?(?:book|reserve|rent|report|transfer|cancel|add|remove|reset"
    r"|sync|activate|locate|edit|track|schedule|order|request|dispute|be reminded|set (?:a|an|up)|(?:a |an |some |any "
    r"|your |more )*(?:reminder|directions|help|info|information|advice|suggestions?|recommendations?|ideas?|tips"
    r"|recipes?|reservation|table|translation|explanation|summary|joke|trivia|list|overview|examples?|outline|poem"
    r"|synonyms?))\b|(?:расскажи|скажи|напиши|объясни"
    r"|покажи|помоги|переведи|посоветуй|забудь|дай|найди|сделай|спой|придумай|перечисли|подскажи|напомни|поставь"
    r"|включи|выключи|позвони|назови|спроси|реши|исправь|продолжи|посчитай|проверь|опиши|сравни|составь|закончи|начни"
    r"|прочитай)(?:те)?\b|(?!здравствуйте|[а-яё]*вите)[а-яё]{2,}(?:йте|ите|ьте|уй)\b|давай(?:те)?\b|(?:请|帮我|告诉我"
    r"|给我|写一?|翻译|解释|推荐|打开|关闭|播放|忘记|忘掉|提醒我|查一?下|讲|介绍|描述|列举|计算|分析|回答|找一?下|继续"
    r"|总结|用.{1,8}(?:总结|解释|回答|说)|换|列出|算|把.*(?:翻译|改|变|换|写)成|再说一遍|换个话题))",
    re.I,
)
NAMING = re.compile(  # "Call me Rob." says a name
    r"^(?:(?:you (?:can|may|should|could|shall)|(?:can|could|would|will) you|i(?:'d| would)? (?:want|need|like|prefer)"
    r" you to|just|always|start|please|from now on,?|going forward,?)\s)*(?:(?:call(?:ing)?|address(?:ing)?|refer"
    r"(?:ring)? to) me (?:as |by )?|change my name to )(?!something|back|an? |this|that|when|if|at|on|tomorrow|later"
    r"|tonight|today|now)\w+",
    re.I,
)
STANDING = re.compile(  # a wish for all replies to come is a preference
    r"\b(?:from now on|going forward|in (?:the )?future|whenever you|when you talk to me|always|your (?:answers"
    r"|replies|responses)|с этого момента|впредь|всегда|以后|从现在起)\b|^never\b|从现在起|以后",
    re.I,
)
KEEP = re.compile(
    r"^(?:remember|don't forget|do not forget|note|nb|keep in mind|for the record|fyi|запомни(?:те)?|не забудь|учти"
    r"|имей в виду|记住|请记住|别忘了|记一下)(?![a-z])",
    re.I,
)
KEEP_ASKED = re.compile(  # "Could you keep in mind that I'm new here?" tells something
    r"^(?:please )?(?:(?:can|could|would|will) you (?:please )?|would you mind |do you mind )(?:not forget(?:ting)?"
    r"|remember(?:ing)?|keep(?:ing)? in mind|bear(?:ing)? in mind|not(?:e|ing))(?: that)? (?=(?:i|i'm|i've|my|we"
    r"|our)\b)",
    re.I,
)
KEEP_THAT = re.compile(  # means nothing alone: what was said before is meant
    r"^(?:(?:can|could|would|will) you )?(?:(?:save|remember|note|store|keep|memori[sz]e|record|don't forget|do not"
    r" forget|write down|make a note of|take note of|bear) (?:that|this|it|what i (?:just )?said)(?: down| in mind|"
    r" for (?:me|later)| please| too| as well)*|keep (?:that|this|it) in (?:mind|memory)|(?:you should |please )?write"
    r" (?:that|this|it) down(?: for me)?|remember|note (?:that|this)|запомни(?: это)?|сохрани(?: это)?|запиши(?: это)?"
    r"|не забудь(?: это)?|(?:请)?(?:记住|记下|记一下|记下来|保存)(?:这个|这一点|这点|它|这件事)?)[\s,.!?。！]*"
    r"(?:please)?[\s.!。！]*$",
    re.I,
)
WHAT_IF = re.compile(
    r"^(?:suppose|supposing|what if|let's (?:say|suppose|imagine|assume)|say (?:i|we|my)\b|imagine|picture (?:this"
    r"|that|me|a)|assume|assuming|hypothetically|in case (?:i|we) ever\b|in theory|theoretically|in (?:an|a|my|another"
    r"|some|the) (?:\w+ )?(?:world|life|universe|timeline|reality|future) (?:i|we|my)(?:'d|\b.*\bwould\b)|in another"
    r" life|if only\b|i wish (?:i|my|we|you|it|there)\b|(?:maybe|perhaps) (?:i|we)(?:'ll|'d)? (?:should|could|might"
    r"|will|would)?\b|i (?:might|may|could) .*\b(?:some ?day|one day)\b|were i\b|had i\b|si (?:j'étais|j'avais"
    r"|je pouvais|tuviera|fuera|pudiera|yo )|wenn ich .*(?:wäre|hätte|könnte|würde)\b|se (?:eu )?(?:fosse|tivesse"
    r"|avessi|fossi)\b|представь|допустим"
    r"|предположим|если бы|вот бы|представим|если .*\b(?:буду|будет|куплю|поеду|пойду|уеду|стану|сделаю|открою"
    r"|брошу)\b|假设|假如|如果我是|要是|想象)|^(?:if|even if) .*\b(?:would|could|might|'d|were|had|will|'ll|won't)\b"
    r"|\bif (?:i|we)(?: were| had| could|'d)\b|\b(?:i|we)(?:'d| would) (?!like\b|love\b|prefer\b|rather\b|say\b"
    r"|never\b|always\b"
    r"|often\b).*\bif\b|если бы|\bбы\b.*\bесли\b|^如果.*(?:就|会|想)",
    re.I,
)
_WORK = (
    r"(?:novel|story|short story|stories|book|movie|film|comic|screenplay|script|poem|series|sitcom|tv show|musical"
    r"|opera|fan ?fic(?:tion)?|dream|nightmare|fairy ?tale|fable|play|sketch|role-?play(?:ing game)?|rpg|video ?game"
    r"|computer game|d&d (?:game|campaign)|campaign|manga|anime|drama|script|tale|song|pantomime|panto"
    r"|nativity|skit|puppet show)"
)
FICTION = re.compile(
    rf"^(?:in|inside) (?:my|the|a|an|this|that|his|her|our|their|one|every)"
    rf"(?: [\w']+){{0,2}} {_WORK}\b(?! (?:time|club"
    rf"|shop|store"
    r"|fair|theat|industry|festival|school|job|house|review|market|group|class|home|car|contract)\w*)"
    rf"|^(?:in|from) .*\b{_WORK} (?:that )?i(?:'m| am) (?:writing|reading|working on|watching)\b"
    r"|^(?:the|my|our) (?:main |novel's |story's )?(?:hero|heroine|protagonist|antagonist|villain|narrator|main"
    r" character"
    rf"|character)\b|\b(?:hero|heroine|protagonist|villain|narrator|character|wizard|detective)s? (?:of|in|from) (?:my"
    rf"|the|our|a|his|her)(?: \w+){{0,2}} {_WORK}\b|^once upon a time\b|\bi (?:dreamt|dreamed|had an? (?:\w+ )?"
    rf"(?:dream|nightmare)|was dreaming)\b"
    r"|^(?:let's |let us )?role[- ]?play|^(?:let's|let us) (?:pretend|play (?:pretend|a game))|^pretend\b|^in (?:this"
    r"|our|the) (?:scene|role-?play)|^(?:the|this|that|his|her) (?:story|novel|book|film|movie|tale|fairy ?tale"
    r"|screenplay|comic|plot|play|series) (?:is about|is set|tells|begins|starts|follows|takes place)\b|^(?:in|by"
    r"|from) (?:chapter|act|scene|episode) \w+|^(?:chapter|act|scene) \w+[:.]|^for the purposes? of (?:this|the"
    r"|our) (?:game|story|scene|role-?play|exercise)\b|^(?:for|from) (?:my|the|our|a)(?: \w+)? (?:screenplay|novel"
    r"|story|film"
    r"|comic|script|play)\s*[:,]|^you(?:'ll)? (?:play|be)\b.*\bi(?:'ll| will)? (?:play|be|am)\b|^i(?:'ll| will) (?:be"
    r"|play) (?:a|an|the) .*\byou(?:'ll| will)? (?:be|play|are)\b|^my (?:\w+ ){0,3}(?:sims?|elf|orc|wizard|sorcerer"
    r"|paladin|rogue|dwarf|cleric|druid|barbarian|ranger)\b|^in[- ]character\b|^(?:my|the) (?:novel|story|book|film"
    r"|comic|play|tale)'s \w+|^(?:my|our) (?:[\w&'-]+ ){0,2}(?:character|avatar|alter ego|persona)(?:'s)? |^(?:in|for)"
    r" (?:this|the|our|my|a) (?:\w+ )?(?:game|adventure|universe|quest|scenario|scene)\b.*\b(?:i am|i'm|you are|you're"
    r"|my character)\b|^in (?:my|our|this|the) (?:fantasy|imaginary|make-believe|fictional|magical|virtual) \w+|^you"
    r"(?: are|'re) (?:a|an|the|my) .*\bi(?: am|'m) (?:a|an|the|your)\b|\bin-?character\b|^\*[^*\s][^*]*\*(?=\s|$)|^"
    r"(?:as|playing) (?:a|the) (?:wizard|knight|pirate|dragon|elf|king|queen|vampire)\b|^в (?:мо[её]м|моей|нашем|этом"
    r"|этой|книге|романе|фильме|сказке|рассказе|игре|одном)? ?(?:новом |новой )?(?:романе|рассказе|книге|фильме|сне"
    r"|сказке|пьесе|повести|сценарии)|\b(?:мне (?:при)?снилось|приснилось)|^во сне\b|^(?:мой |моя )?(?:главн\w+ )?геро"
    r"(?:й|иня)\b|^(?:давай(?:те)? )?(?:поиграем|притвор|представим|сыграем)|^在.{0,6}(?:小说|故事|电影|书|梦|剧本"
    r"|游戏)(?:里|中)|梦见|梦到|做了个梦|^(?:小说|故事|电影|书|剧本|游戏|梦)(?:里|中)|^(?:小说|故事)?(?:的)?(?:主角"
    r"|主人公)|假装|角色扮演",
    re.I,
)
ROLE_PLAY = re.compile(  # what follows in the same message is played, "I" too
    r"\b(?:role-?play|pretend|let's play|imagine|suppose|dreamt|dreamed|dream|in-?character|act as|you are (?:a|an"
    r"|the) .*\bi(?:'m| am) (?:a|an|the)|hypothetically)\b|представь|притвор|снилось|假装|角色扮演|梦|假设|想象",
    re.I,
)
REALITY = re.compile(
    r"\b(?:in real life|in reality|irl|actually|for real|really|as for me|but i\b|на самом деле|в жизни)\b|其实|现实",
    re.I,
)

_SAID = (
    r"(?:\b(?:said|says|say|wrote|writes|write|asked|told|texted|tweeted|posted|replied|answered|goes|sings|sang"
    r"|shouted|claim(?:s|ed)?|states?|insists?|exclaimed|announced|begins|starts|yelled|whispered|reads?|quoted?"
    r"|quotes|lyrics?|line|email(?:ed)?|letter|note|message|sign|caption|headline|put it|puts it|in the words of"
    r"|according to|сказал\w*|говорит|написал\w*|пишет|ответил\w*|по[её]т)\b|[说写问唱])"
)
OWN = r"(?:\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|our|я|мне|меня|мой|моя|мо[её]|мы|у меня)\b|我)"
QUOTED = re.compile(
    r"[\"“«「『]([^\"”»」』]{3,})(?:[\"”»」』]|$)|(?:(?<=\s)|^)['‘]([^'’]*(?:['’]\w[^'’]*)*)['’](?=[\s.,!?]|$)"
)
ATTRIBUTED = re.compile(_SAID, re.I)
DIRECT = re.compile(rf"^(?!i\b|we\b|я\b|我)[^.:\"“«]*{_SAID}(?: (?:me|us|to me|him|her))?\s*[:：]\s*.*{OWN}", re.I)
OWN_WORDS = re.compile(rf"^(?:(?:i|we|я|мы)\b|我)[^\"“«「]*{_SAID}", re.I)
TITLE = re.compile(
    r"\b(?:favou?rite|called|titled|named|name|watch\w*|listen\w*|heard|love|like|song|film|movie|book|album|band"
    r"|nickname|password|passphrase|code ?word|любим\w+|называется)\b",
    re.I,
)
VERSE = re.compile(r"^[>♪♫]|[♪♫]")

RETRACTION = re.compile(
    r"^(?:(?:no|wait|sorry|oh|ok|okay|oops|haha\w*|lol|well|actually|hey|hm+|stop|please|nah|yeah|нет|ой|стой|不"
    r"|等等)\b[\s,.!…，-]*)*(?:(?:(?:that|it|this|all that|everything|i)(?:'s|'m| was| is| am|) (?:was )?(?:only |just"
    r" |all |not )?(?:a |being )?(?:joke|jokes|joking|kidding|lying|lie|serious|teasing|prank|messing with you|pulling"
    r" your leg|winding you up)\b|(?:just |only )?(?:kidding|joking|teasing|messing with you|pulling your leg)|jk\b|i"
    r" lied|i (?:just )?made (?:that|it|this)(?: all)? up|i take (?:that|it|this) back|(?:scratch|strike|disregard"
    r"|ignore|forget|delete|erase|cancel|undo|drop|don't (?:save|remember|keep|store)|do not (?:save|remember|keep)) "
    r"(?:that|this|it|what i (?:just )?(?:said|told you|wrote)|my last (?:message|line|sentence))(?! (?:i|my|we)\b)"
    r"|never ?mind what i (?:just )?said|(?:that|it|this)(?:'s| is) (?:not|no longer) (?:true|right|correct|so|the"
    r" case)(?: any ?more| now)[.!\s]*$|(?:that|it|this) (?:isn't|is not|doesn't|does not|no longer) (?:true|right"
    r"|correct|so|the case|holds?)(?: true)?(?: any ?more| now)[.!\s]*$|(?:that|it|this)(?:'s| is| holds) no longer "
    r"(?:true|right|correct|so|the case)[.!\s]*$|(?:that|it|this) (?:wasn't|was not|was) (?:actually |really "
    r"|completely |all )?(?:true|false|untrue|nonsense|made up|a lie|not true|wrong of me)[.!\s]*$)|(?:это )?(?:я )?"
    r"(?:просто )?(?:по)?шу(?:чу|тил|тила)\b|это (?:была )?шутка|это (?:была )?неправда|я (?:со|на)врал\w*|забудь(?:,?"
    r" что я (?:только что )?(?:сказал|сказала|говорил|говорила))?[.!\s]*$|не запоминай|это уже не так|(?:我)?(?:只)?"
    r"(?:是)?(?:在)?开(?:个)?玩笑|我骗你的|我瞎说的|刚才(?:说)?的不算|别当真|(?:请)?忘(?:了|掉|记)(?:我)?(?:刚才)?"
    r"(?:说)?的|(?:那|这)?不是真的)",
    re.I,
)
RETRACTION_OF = re.compile(  # says itself what is taken back
    r"^(?:(?:no|please|ok|okay|sorry|actually|oh|wait)\b[\s,.!-]*)*(?:(?:forget|ignore|disregard|scratch|delete|erase"
    r"|never ?mind) (?:what i (?:just )?(?:said|told you|mentioned|wrote) about|everything (?:i (?:said|told you)"
    r" )?about|that (?:i|my|we)\b|the (?:thing|part|bit) about|about)|what i (?:said|told you|wrote) about .*\b(?:joke"
    r"|not true|wrong|lie|false|kidding|isn't true|wasn't true|nonsense)|it(?:'s| is) not true that\b|it isn't true"
    r" that\b|забудь(?:,)? (?:что я|о|об|про)\b|忘(?:了|掉|记)(?:关于)?我?(?:说|关于))",
    re.I,
)

_NOW = (  # "at the moment" is left out: who reads a book at the moment reads it tomorrow
    r"(?:today|tonight|right now|this (?:morning|afternoon|evening|minute|week)|just now|сегодня|прямо сейчас|今天"
    r"|此刻|这会儿|今晚|这周)"
)
_MOOD = (
    r"(?:tired|hungry|starving|freezing|thirsty|bored|sleepy|exhausted|busy|stressed|sad|happy|angry|sick|ill|cold|hot"
    r"|late|upset|excited|nervous|in a (?:meeting|hurry|rush|good mood|bad mood)|on (?:the|a|my way)\b.*|at (?:the"
    r"|a)\b.*|stuck\b.*|waiting\b.*|feeling\b.*|running late|back|free|alone|outside|ready)(?: (?:at the moment|now"
    r"|currently|already))?"
)
TEMPORARY = re.compile(
    rf"^(?:i(?:'m| am| feel| still feel)(?: still| just| so| very| really| a bit| a little| pretty| too| super| quite|"
    rf" currently)* {_MOOD}[\s.!…]*$|(?:i(?:'m| am| feel| have a| have got a|'ve got a)|it(?:'s| is)|we(?:'re| are)|my"
    rf" (?!birthday|anniversary)\w+(?: \w+)? (?:is|are|hurts?|aches?)|the \w+ is|there(?:'s| is)|{_NOW},? (?:i(?:'m|"
    rf" am| feel)|it(?:'s| is)|my \w+ (?:is|hurts?)))\b(?!.*\b(?:born|birthday|turned|now (?:live|work|a|an)|divorced"
    rf"|married|engaged|years old|new)\b).*(?:\b{_NOW}\b|今天|现在).*$|{_NOW},? (?:i(?:'m| am| feel)|it(?:'s| is))\b.*"
    r"|(?:я|мне|у меня) (?:сегодня|сейчас (?:в аэропорту|на встрече|занят|еду|дома))\b.*|сегодня (?:я|мне|у меня)\b.*|"
    r"(?:я|мне)(?: сейчас| очень| так)* (?:устал\w*|голоден|голодна|занят\w*|скучно|грустно|холодно|жарко)[\s.!]*$|"
    r"(?:我)?(?:今天|现在|今晚)(?:我)?.*(?:累|饿|困|忙|在机场|在开会|不舒服|头疼|难过|开心).*|我(?:好|很|太|有点)?"
    r"(?:累|饿|困|忙|渴|无聊)了?[。！.!]*$)",
    re.I,
)

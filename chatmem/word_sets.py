"""Sets of words that the rules for kinds, frames and versions look for."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


PLAIN_WORDS = word_set(  # they do not say what a fact is about
    "a an the i my me mine we our us you your is am are was were be been it its he she they his her their this"
    " that in on at to of for from by with and or but so as have has had do does did not no now new old just what"
    " where when who which how why favourite called named s m ve re t d ll will can go going get got very really"
    " also too there here than then if about like because good one some any all more much many lot day time never"
    " always often usually anymore longer used actually im live work moved want я мне меня мой моя моё мои в на и"
    " у не с это что 我 的 是 在 了 有"
)
ENDING = word_set(
    "sold lost scrapped traded swapped replaced died cancelled canceled returned donated dropped rehomed gave away"
)
LOOSE = word_set(  # an affirmation and its denial differ in them
    "not no longer anymore never do does did am is are to up used stopped quit gave of on a an the my and at all"
    " just really now i eating it any still after"
)
MANY = word_set(  # of these one has several, so that another name is another one
    "friend sister brother cousin aunt uncle colleague neighbour neighbor son daughter child kid cat dog pet"
    " hobby niece nephew student classmate roommate flatmate plant book goal allergy medication language"
)
SINGLE = word_set(  # of these one has one, whatever kind of value it is
    "name number code pin password passphrase address birthday job email phone size major boss manager dentist"
    " doctor landlord landlady employer profession occupation hometown nickname username surname seat room plan"
    " goal postcode zip combination extension locker gate flight weight height budget salary rent mentor coach"
    " therapist hair beard"
)
EXPIRING = word_set("runs run expires expire ends end lapses lapse valid")  # said of a pass, a permit, a contract
COUNTRIES = word_set(  # "I live in Porto." does not replace "I live in Portugal."
    "argentina australia austria bangladesh belgium brazil bulgaria canada chile china colombia croatia cuba"
    " cyprus czechia denmark egypt england estonia ethiopia finland france georgia germany ghana greece hungary"
    " iceland india indonesia iran iraq ireland israel italy jamaica japan kenya korea latvia lebanon lithuania"
    " luxembourg malaysia malta mexico morocco nepal netherlands nigeria norway pakistan peru philippines poland"
    " portugal romania russia scotland serbia singapore slovakia slovenia spain sweden switzerland syria taiwan"
    " thailand tunisia turkey uganda ukraine usa us uk america vietnam wales россии германии франции испании"
    " италии китае 中国 日本 美国 法国 德国 英国"
)
EVENTS = word_set("meeting appointment exam call flight lesson class shift interview date party trip test")
PEOPLE = word_set(
    "mother father mum mom dad sister brother son daughter wife husband partner boyfriend girlfriend fiancé fiancée"
    " cousin aunt uncle niece nephew gran nan grandmother grandfather grandma grandpa friend neighbour neighbor"
    " colleague boss flatmate roommate housemate lodger visitor guest landlord landlady tenant kid child baby teacher"
)
PRONOUNS = word_set(  # with a verb behind them, as they are typed in haste, too
    "i im ive id ill we weve were well you youre he hes she shes it its they theyre theyve that thats this there"
    " theres everybody everyone nobody somebody someone nothing everything something"
)
OWNING = word_set("have own drive ride bought got keep adopted")
LIKING = word_set("like love enjoy adore prefer")
DISLIKING = word_set("hate dislike loathe detest")
MOVING = word_set("moved moving move relocated relocating переехал переехала")
CANCELLING = word_set("cancelled canceled off over called")
WORKING = word_set("job jobs career careers employer employers companies company firm")
STOPPING = word_set("stopped quit gave")
LEAVING = word_set("left quit resigned fired laid off from by was have just")  # before the name of an employer
DETERMINERS = word_set("my our the a an new current own this that")
# Begin an order where a word of ORDERED follows: "Tidy up this paragraph.", not "Process engineering is my job."
ORDERS = word_set(
    "abandon accept access adapt adopt advise aim align allow alter amend annotate answer apply approve arrange ask"
    " assemble assign attach avoid bake balance beat begin bend boil borrow bounce break breathe brew bring brush"
    " build burn bury calm capture care carry catch celebrate challenge charge chase chop climb collect colour combine"
    " come comment commit compete condense confess consider consult contain continue control cook cool copy count"
    " cover crack cross cure cut dance deal decide declare decorate decode define delay deliver demand deny depict"
    " detect determine develop dig discard discover dismiss distribute do double drag dress drink drive drop eat elect"
    " embrace emphasize encode encourage end enjoy enlarge enter erase escape examine exchange exclude excuse exit"
    " experiment export express face fake fasten feed fetch fight fill filter finish fish fit focus fold follow force"
    " form forward free fry gather generate get give glue go grade grant greet grow guard guide handle hang harvest"
    " head heal hear hide hire hit hold hunt import impress include inspect inspire inspect insult interpret interview"
    " introduce investigate invite iron join joke judge jump justify keep kick kill knock lay lead lean learn leave"
    " lend let lift lighten link load locate look loosen lose maintain manage map march match measure meet melt"
    " memorise memorize mention merge mind mix modify motivate multiply narrow negotiate nod observe obtain offer omit"
    " open operate oppose outline overcome pack paint park pause perform permit persuade picture plant plot plug point"
    " polish pour practice practise pray prefix prepare preserve pretend prevent print process produce promise promote"
    " pronounce protect prove pull punch push quit quiz quote race raise reach react realise rebuild recall recite"
    " recognise recommend record recover recycle refine reflect refuse refer reject relate relax release remake remove"
    " repair rephrase replay represent request rescue resolve respect restart restate retell retry return reveal"
    " reverse revise ride ring rinse run save scan score scream scroll seal search see select separate serve settle"
    " shake shape share shift shine shoot shop shout shut sign simmer simplify sit sketch skip sleep slice slow smell"
    " smile smooth solve sound spare speak speed spell spend spin split spread squeeze stack stand state stay step"
    " stick stir store strike stretch structure style submit substitute subtract sum supply support suppose swap swim"
    " switch take talk tap taste tear tease tell test thank think throw tidy tie tighten time touch trace trade train"
    " transform treat trim trust try turn tutor twist type unpack untie use vary view visit vote wait wake walk warm"
    " wash watch water weigh whisper win wind wipe wish wonder work wrap write zip zoom"
)
ORDERED = word_set(
    "the a an me us this that these those it them him her your some any all each every up out in on off down over back"
    " away to for from with into through one two three four five ten step like as if how what who when where why which"
    " more less no just only again please harder carefully slowly yourself something someone anything everything at"
    " about by between"
)

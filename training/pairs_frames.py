"""Statements and questions of our own, for training the pair decision: who, what about them, in which words.

`[a|b]` is a verb form for the user and one for another person ("I [work|works]"); {S} and {s} the subject ("I", "My
sister"), {O} and {o} its possessive ("My", "My sister's"), {p} a pronoun of the owner ("my", "her"), {n} the thing,
{v} the value. The broader inventory, with what is kept for evaluation, is `training/facts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """One attribute of a person or of a thing that a person has."""

    name: str
    pool: str  # name of a list in POOLS
    statements: tuple[str, ...]  # the first one can be negated at its first verb form or its first "is"
    questions: tuple[str, ...]
    updates: tuple[str, ...] = ()
    yes_no: str = ""  # a question that names the value
    many: bool = False  # several values hold at once
    values: tuple[str, ...] = ()  # instead of a pool
    others: tuple[tuple[str, str], ...] = ()  # statements and questions about another person {who}, where not made by rule
    denials: tuple[str, ...] = ()


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


def _frame(name: str, pool: str, statements: str, questions: str, updates: str = "", yes_no: str = "") -> Frame:
    """Return a frame from texts in which parts are separated by semicolons; a name ending in * takes many values."""
    parts = _split(updates) if updates else ()
    return Frame(name.rstrip("*"), pool, _split(statements), _split(questions), parts, yes_no, name.endswith("*"))


POOLS: dict[str, tuple[str, ...]] = {
    name: tuple(value.strip() for value in values.split(","))
    for name, values in {
        "town": "Prague, Lisbon, Turku, Graz, Delft, Leeds, Osaka, Quito, Malmö, Bergen, Porto, Zagreb, Lyon, Ghent,"
        " Cork, Bilbao, Dresden, Tartu, Riga, Bern, Utrecht, Krakow, Galway, Nantes, Split, Aarhus, Boston, Austin,"
        " Denver, Halifax, Perth, Cusco, Hanoi, Kyoto, Tromsø, Vilnius, Bristol, Trieste, Salzburg, Oulu",
        "country": "Norway, Peru, Japan, Portugal, Kenya, Iceland, Vietnam, Chile, Georgia, Latvia, Morocco, Canada,"
        " Ireland, Greece, Nepal, Finland, Mexico, India, Croatia, Cuba, Jordan, Estonia",
        "firm": "Orbix, Tallow, Nimbus Labs, Harrow & Pike, Velora, Quantec, Bluefin Foods, the city library,"
        " Stonebridge, Kestrel Air, Mapleworks, Fenwick Bank, Lumen Optics, a bakery, the post office, Delphi Robotics,"
        " Ironwood, Pellucid, the zoo, St Mary's hospital, Zephyr Energy, Brightsea, Korvan, Hollis Motors",
        "job": "nurse, plumber, teacher, software developer, carpenter, baker, lawyer, pilot, translator, dentist,"
        " accountant, florist, electrician, architect, chef, midwife, librarian, welder, journalist, vet, farmer,"
        " optician, tailor, geologist, bus driver, photographer",
        "name": "Ruta, Petra, Milo, Oskar, Ines, Tarik, Bruno, Wanda, Felix, Zora, Hugo, Elif, Nils, Carmen, Pavel,"
        " Greta, Otto, Lena, Amir, Saskia, Jonas, Mira, Igor, Selma, Theo, Anouk, Rafael, Dina, Kofi, Yuki, Brix,"
        " Aldo, Freya, Ivo, Noor, Tamsin, Luca, Edda, Piotr, Jana",
        "pet": "Biscuit, Pepper, Rex, Luna, Mochi, Ziggy, Waffles, Shadow, Nacho, Tofu, Pickles, Rocket, Olive, Bandit,"
        " Clover, Juno, Moss, Pixel, Socks, Taco, Ginger, Bolt, Maple, Figaro",
        "animal": "dog, cat, parrot, rabbit, hamster, tortoise, horse, goldfish, snake, guinea pig, ferret, canary",
        "colour": "red, navy blue, green, yellow, white, black, purple, orange, turquoise, grey, pink, beige, silver",
        "food": "lasagna, sushi, mushroom risotto, tacos, ramen, pierogi, falafel, pancakes, goulash, paella, dumplings,"
        " curry, pizza, moussaka, pho, shakshuka, gnocchi, fish and chips, pumpkin soup, cheesecake, couscous, ceviche",
        "ingredient": "peanuts, shellfish, mushrooms, olives, coriander, eggs, milk, tomatoes, garlic, celery, almonds,"
        " strawberries, soy, sesame, cinnamon, onions, anchovies, beetroot, kiwi, blue cheese",
        "drink": "green tea, espresso, oat milk latte, ginger beer, tomato juice, black coffee, lemonade, cocoa,"
        " chamomile tea, sparkling water, cider, apple juice, red wine, mint tea",
        "hobby": "knitting, rock climbing, chess, pottery, birdwatching, sailing, baking bread, gardening, fencing,"
        " photography, origami, hiking, woodcarving, beekeeping, surfing, calligraphy, running, skating, stargazing,"
        " juggling, kayaking, painting, archery, yoga",
        "instrument": "cello, piano, drums, flute, banjo, harp, trumpet, violin, ukulele, accordion, oboe, guitar",
        "language": "Finnish, Spanish, Polish, Mandarin, Arabic, Portuguese, Latvian, Korean, Swahili, Dutch, Greek,"
        " Turkish, Welsh, Hindi, Italian, Basque",
        "month": "3 March, 17 June, 29 August, 4 November, 12 January, 21 May, 8 September, 30 July, 15 April, 2 December,"
        " 26 February, 11 October, 19 June, 7 August, 23 November, 14 July",
        "day": "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, the 4th of May, next Tuesday, 12 October,"
        " this Friday, the 23rd, Saturday morning, 9 April, Monday evening, the last week of June",
        "time": "6:15, 7:30, 8 in the morning, 9:45, noon, 14:20, half past five, 17:10, 6 pm, 19:55, 22:30, 11 at night,"
        " quarter to seven, 5:40, 8:05, 10 pm, 13:25, 21:15",
        "age": "3, 5, 7, 11, 14, 19, 23, 27, 31, 34, 38, 42, 47, 51, 56, 63, 68, 74, 82, 91",
        "money": "40 euros, 1,250 dollars, 75 pounds, 320 euros, 18,500 dollars, 990 euros, 12 pounds, 2,400 euros,"
        " 60 dollars, 145 euros, 7,800 pounds, 510 dollars",
        "size": "36, 38, 39, 41, 42.5, 44, 46, S, M, XL, 10, 12",
        "height": "1.62 m, 178 cm, 6 foot 1, 1.85 m, 169 cm, 5 foot 4, 190 cm, 1.58 m",
        "weight": "61 kilos, 74 kg, 82 kilos, 190 pounds, 55 kg, 98 kilos, 150 pounds",
        "brand": "Volvo, Fiat, Skoda, Toyota, Peugeot, Honda, Lenovo, Dell, Nokia, Samsung, Bosch, Yamaha, Canon, Trek,"
        " Brompton, Miele, Garmin, Casio, Philips, Vespa",
        "place": "the garage, the blue drawer, the attic, the hall cupboard, the shed, a shoebox under the bed, the"
        " kitchen shelf, the basement, the glove box, my locker, the piano bench, the second drawer, my backpack,"
        " the office safe, the cellar, a biscuit tin",
        "reason": "my knee hurts, the rent is too high, I wanted a change, it was too noisy, the doctor said so, of a"
        " new job, I got bored, it was cheaper, my friends are there, of the weather",
        "diet": "vegetarian, vegan, gluten-free, pescatarian, lactose intolerant, on a low-salt diet, diabetic,"
        " on a keto diet, kosher, halal",
        "illness": "asthma, migraines, hay fever, back pain, insomnia, high blood pressure, a bad knee, eczema, anemia,"
        " tinnitus, vertigo, a sprained ankle",
        "medicine": "ibuprofen, insulin, vitamin D, an inhaler, iron tablets, antihistamines, metformin, melatonin",
        "fear": "spiders, heights, flying, the dark, dogs, thunderstorms, needles, deep water, clowns, lifts",
        "subject": "biology, law, history, medicine, economics, physics, fine arts, philosophy, chemistry, linguistics,"
        " nursing, civil engineering, music, psychology, astronomy",
        "school": "Tartu University, Elm Park School, the Lyceum, Leiden, Trinity College, Northfield High, MIT,"
        " the Art Academy, Greenhill Primary, Uppsala, the Polytechnic, Westbrook College",
        "genre": "crime novels, science fiction, poetry, biographies, fantasy, comics, travel writing, ghost stories,"
        " jazz, techno, folk, opera, metal, blues, baroque music, indie rock",
        "title": "The Silver Bridge, Nightfall, Solaris, Dune, Middlemarch, The Salt Road, Winter Garden, Emma, Blue Hour,"
        " The Long Tide, Iron Harbour, Paper Moons, Momo, Ravensong, The Last Orchard",
        "team": "Ajax, the Lakers, Real Betis, the Red Sox, Celtic, Sparta, the Maple Leafs, Benfica, the Hawks, Brann",
        "sport": "tennis, football, volleyball, rowing, judo, badminton, swimming, handball, table tennis, rugby, boxing",
        "event": "the marathon, a wedding, a job interview, the driving test, a school reunion, an exam in statistics,"
        " a concert, a hip operation, a trade fair, moving house, a chess tournament, a poetry reading",
        "skill": "juggle, whistle, bake bread, do a handstand, fix bikes, sew, ride a unicycle, read music, solder,"
        " ski, dive, type without looking",
        "collection": "stamps, fossils, vinyl records, teapots, old maps, postcards, coins, fountain pens, toy trains",
        "transport": "bike, tram, bus, train, on foot, car, scooter, ferry, the underground",
        "code": "4471, 0382, 9916, 2750, 8163, 5507, 3928, 6640, 1295, 7734, 48-213, A7-XK2, 99-041, QZ-518, 30017,"
        " 66842, TR-9051, 81-6F, 55120, 7083",
        "phone": "555-0142, 020 7946 0018, 555-0199, 030 5551 77, 07700 900 461, 555-0107, 555-0173, 091 440 23",
        "mail": "ruta@lumen.example, p.stone@mail.example, milo77@post.example, ines@orbix.example, tk@velora.example,"
        " hello@brix.example, nils.b@mail.example",
        "street": "12 Elm Street, 4 Harbour Lane, 77 Mill Road, 9 Castle Square, 31 Oak Avenue, 5B Quay Street,"
        " 108 Station Road, 2 Rose Court, 64 Bridge Street",
        "number": "two, three, four, five, six, seven, eight, nine, ten, a dozen, fifteen, twenty",
        "often": "twice a week, every morning, once a month, on Sundays, every other day, three times a week, daily,"
        " at weekends, never on weekdays",
        "star": "Aries, Taurus, Gemini, Leo, Virgo, Libra, Scorpio, Pisces, Capricorn",
        "material": "oak, leather, wool, silver, bamboo, glass, steel, cotton, brass, walnut",
        "breed": "poodle, beagle, Siamese, husky, Maine Coon, terrier, collie, Persian, dachshund, tabby",
        "gift": "a watch, a scarf, a book about birds, a bicycle, concert tickets, a necklace, a telescope, a cookbook",
        "game": "Catan, Tetris, Zelda, Minecraft, bridge, backgammon, Stardew Valley, Go, Portal, Scrabble",
        "device": "a laptop, a tablet, an e-reader, a drone, a smart watch, a coffee machine, a 3D printer, headphones",
        "plan": "learn to sail, write a novel, open a café, buy a house, run a marathon, visit Japan, learn Korean,"
        " build a boat, retire early, adopt a dog, start a blog, plant an orchard",
    }.items()
}

# About a person: the user or somebody that the user tells about.
PERSON_FRAMES: tuple[Frame, ...] = (
    _frame("home", "town", "{S} [live|lives] in {v}; {O} home is in {v}; {S} [have|has] been living in {v} for years;"
           " {S} [am|is] based in {v}", "Where [do|does] {s} live?; Which city [do|does] {s} live in?; What town [am|is] {s}"
           " based in?; Where is {o} home?; In which place [do|does] {s} live now?", "{S} moved to {v} last month; {S} just"
           " relocated to {v}; {S} now [live|lives] in {v}", "[Do|Does] {s} live in {v}?"),
    _frame("birthplace", "town", "{S} [was|was] born in {v}; {O} birthplace is {v}; {S} [come|comes] from {v} originally",
           "Where [was|was] {s} born?; What is {o} birthplace?; Which city [was|was] {s} born in?"),
    _frame("grew_up", "town", "{S} grew up in {v}; {S} spent {p} childhood in {v}", "Where did {s} grow up?; In which town"
           " did {s} spend {p} childhood?"),
    _frame("employer", "firm", "{S} [work|works] at {v}; {O} employer is {v}; {S} [have|has] a job with {v}; {S} [am|is]"
           " employed by {v}", "Where [do|does] {s} work?; Who is {o} employer?; Which company [do|does] {s} work for?; Who"
           " [do|does] {s} work for?; What firm [am|is] {s} with?", "{S} just joined {v}; {S} left {p} old job and started at"
           " {v}; {S} [work|works] at {v} now", "[Do|Does] {s} work at {v}?"),
    _frame("job", "job", "{S} [work|works] as a {v}; {S} [am|is] a {v}; {O} job is {v}; By trade {s} [am|is] a {v}",
           "What is {o} job?; What [do|does] {s} do for a living?; What is {o} profession?; What kind of work [do|does] {s}"
           " do?", "{S} retrained and [am|is] a {v} now; {S} became a {v}", "[Am|Is] {s} a {v}?"),
    _frame("work_start", "time", "{S} [start|starts] work at {v}; {O} shift begins at {v}", "When [do|does] {s} start work?;"
           " What time does {o} shift begin?; At what time [do|does] {s} have to be at work?"),
    _frame("commute", "transport", "{S} [go|goes] to work by {v}; {O} commute is by {v}", "How [do|does] {s} get to work?;"
           " How [do|does] {s} commute?", "{S} [go|goes] to work by {v} now"),
    _frame("birthday", "month", "{O} birthday is on {v}; {S} [was|was] born on {v}; {S} [celebrate|celebrates] {p} birthday on"
           " {v}", "When is {o} birthday?; What is {o} date of birth?; On which day [was|was] {s} born?; What date is {o}"
           " birthday?"),
    _frame("age", "age", "{S} [am|is] {v} years old; {O} age is {v}; {S} turned {v} this year", "How old [am|is] {s}?; What"
           " is {o} age?", "{S} [am|is] {v} now; {S} just turned {v}"),
    _frame("height", "height", "{S} [am|is] {v} tall; {O} height is {v}", "How tall [am|is] {s}?; What is {o} height?"),
    _frame("weight", "weight", "{S} [weigh|weighs] {v}; {O} weight is {v}", "How much [do|does] {s} weigh?; What is {o}"
           " weight?", "{S} [weigh|weighs] {v} now"),
    _frame("shoe_size", "size", "{S} [wear|wears] size {v} shoes; {O} shoe size is {v}", "What is {o} shoe size?; What size"
           " shoes [do|does] {s} wear?"),
    _frame("star_sign", "star", "{S} [am|is] a {v}; {O} star sign is {v}", "What is {o} star sign?; Which zodiac sign [am|is]"
           " {s}?"),
    _frame("allergy*", "ingredient", "{S} [am|is] allergic to {v}; {S} [have|has] an allergy to {v}; {v} gives {m} a rash",
           "What [am|is] {s} allergic to?; Which allergies [do|does] {s} have?; What allergy [do|does] {s} have?", "",
           "[Am|Is] {s} allergic to {v}?"),
    _frame("dislike_food*", "ingredient", "{S} [hate|hates] {v}; {S} [can't|can't] stand {v}; {S} never [eat|eats] {v}",
           "Which food [do|does] {s} hate?; What can't {s} stand eating?; What [do|does] {s} dislike eating?"),
    _frame("favourite_food", "food", "{O} favourite food is {v}; {S} [love|loves] {v} more than any other dish; {O} favorite"
           " dish is {v}", "What is {o} favourite food?; Which dish [do|does] {s} like best?; What's {o} favorite meal?",
           "{O} favourite food is {v} now"),
    _frame("cooked", "food", "{S} cooked {v} last night; {S} made {v} for dinner yesterday", "What did {s} cook last night?;"
           " What did {s} make for dinner yesterday?"),
    _frame("breakfast", "food", "{S} usually [have|has] {v} for breakfast; {O} usual breakfast is {v}", "What [do|does] {s}"
           " usually have for breakfast?; What is {o} usual breakfast?"),
    _frame("drink", "drink", "{O} favourite drink is {v}; {S} always [order|orders] {v}", "What is {o} favourite drink?; What"
           " [do|does] {s} like to drink?; What [do|does] {s} order at a café?"),
    _frame("diet", "diet", "{S} [am|is] {v}; {O} diet: {s} [am|is] {v}", "What is {o} diet?; What kind of diet [do|does] {s}"
           " follow?; Which diet [am|is] {s} on?; Is there anything special about how {s} [eat|eats]?"),
    _frame("illness*", "illness", "{S} [suffer|suffers] from {v}; {S} [have|has] {v}", "What health problem [do|does] {s}"
           " have?; What [do|does] {s} suffer from?; Which illness [do|does] {s} have?"),
    _frame("medicine*", "medicine", "{S} [take|takes] {v} every day; {S} [am|is] on {v}", "What medicine [do|does] {s} take?;"
           " Which medication [am|is] {s} on?"),
    _frame("fear*", "fear", "{S} [am|is] afraid of {v}; {S} [am|is] scared of {v}; {v} terrify {m}", "What [am|is] {s} afraid"
           " of?; What scares {m}?; Which phobia [do|does] {s} have?", "", "[Am|Is] {s} afraid of {v}?"),
    _frame("hobby*", "hobby", "{S} [enjoy|enjoys] {v}; {S} [spend|spends] weekends on {v}; {O} hobby is {v}; {S} [am|is] into"
           " {v}", "What is {o} hobby?; What [do|does] {s} do in {p} free time?; What [do|does] {s} do for fun?; Which hobbies"
           " [do|does] {s} have?", "{S} took up {v}"),
    _frame("instrument*", "instrument", "{S} [play|plays] the {v}; {S} [am|is] learning the {v}", "Which instrument [do|does]"
           " {s} play?; What instrument [do|does] {s} play?; What [do|does] {s} play in the band?", "", "[Do|Does] {s} play the"
           " {v}?"),
    _frame("language*", "language", "{S} [speak|speaks] {v}; {S} [am|is] fluent in {v}", "Which languages [do|does] {s}"
           " speak?; What languages [am|is] {s} fluent in?", "", "[Do|Does] {s} speak {v}?"),
    _frame("learning", "language", "{S} [am|is] learning {v}; {S} [take|takes] {v} lessons", "Which language [am|is] {s}"
           " learning?; What language lessons [do|does] {s} take?", "{S} gave that up and [am|is] learning {v} instead"),
    _frame("studies", "subject", "{S} [study|studies] {v}; {O} degree is in {v}; {S} graduated in {v}", "What [do|does] {s}"
           " study?; What is {o} degree in?; Which subject did {s} study?; What was {o} major?"),
    _frame("school", "school", "{S} went to {v}; {S} [attend|attends] {v}; {O} school is {v}", "Which school did {s} go to?;"
           " Where did {s} study?; Which school [do|does] {s} attend?"),
    _frame("team", "team", "{S} [support|supports] {v}; {O} team is {v}; {S} [am|is] a fan of {v}", "Which team [do|does] {s}"
           " support?; What club [am|is] {s} a fan of?; What is {o} favourite team?"),
    _frame("sport*", "sport", "{S} [play|plays] {v} on weekends; {S} [do|does] {v}", "Which sport [do|does] {s} do?; What"
           " sports [do|does] {s} play?"),
    _frame("exercise", "often", "{S} [exercise|exercises] {v}; {S} [go|goes] to the gym {v}", "How often [do|does] {s}"
           " exercise?; How often [do|does] {s} go to the gym?"),
    _frame("genre", "genre", "{S} [like|likes] {v} best; {O} favourite genre is {v}", "Which genre [do|does] {s} like?; What is"
           " {o} favourite genre?"),
    _frame("reading", "title", "{S} [am|is] reading {v}; The book {s} [am|is] reading is {v}", "What [am|is] {s} reading?;"
           " Which book [am|is] {s} reading at the moment?", "{S} finished that one and [am|is] reading {v} now"),
    _frame("film", "title", "{O} favourite film is {v}; {S} [think|thinks] {v} is the best movie ever", "What is {o} favourite"
           " film?; Which movie [do|does] {s} like best?"),
    _frame("car", "brand", "{S} [drive|drives] a {v}; {O} car is a {v}", "What car [do|does] {s} drive?; What make is {o}"
           " car?; Which car [do|does] {s} have?", "{S} sold the old car and bought a {v}"),
    _frame("pet_kind*", "animal", "{S} [have|has] a {v}; {S} [own|owns] a {v}", "What pets [do|does] {s} have?; Which animal"
           " [do|does] {s} keep?; What kind of pet [do|does] {s} have?", "", "[Do|Does] {s} have a {v}?"),
    _frame("children", "number", "{S} [have|has] {v} children; {S} [am|is] a parent of {v}", "How many children [do|does] {s}"
           " have?; How many kids [do|does] {s} have?"),
    _frame("siblings", "number", "{S} [have|has] {v} siblings; {S} grew up with {v} brothers and sisters", "How many siblings"
           " [do|does] {s} have?; How many brothers and sisters [do|does] {s} have?"),
    _frame("partner", "name", "{S} [am|is] married to {v}; {O} husband is {v}; {O} partner is called {v}", "Who [am|is] {s}"
           " married to?; What is the name of {o} spouse?; Who is {o} partner?"),
    _frame("nickname", "pet", "Everybody calls {m} {v}; {O} nickname is {v}", "What is {o} nickname?; What do people call {m}?"),
    _frame("collects*", "collection", "{S} [collect|collects] {v}; {S} [have|has] a big collection of {v}", "What [do|does] {s}"
           " collect?; What is in {o} collection?"),
    _frame("skill*", "skill", "{S} can {v}; {S} [know|knows] how to {v}", "What can {s} do well?; Which skill [do|does] {s}"
           " have?", "", "Can {s} {v}?"),
    _frame("dream", "plan", "{S} [want|wants] to {v} one day; {O} dream is to {v}; {S} [hope|hopes] to {v}", "What is {o}"
           " dream?; What [do|does] {s} want to do one day?; What is {o} big goal?"),
    _frame("last_holiday", "country", "{S} went to {v} last summer; {O} last holiday was in {v}", "Where did {s} go last"
           " summer?; Where was {o} last holiday?"),
    _frame("next_holiday", "country", "{S} [am|is] flying to {v} in spring; {O} next holiday is in {v}", "Where [am|is] {s}"
           " going in spring?; Where is {o} next holiday?; Which country [am|is] {s} travelling to next?",
           "Change of plans: {s} [am|is] flying to {v} instead"),
    _frame("nationality", "country", "{S} [have|has] a passport from {v}; {O} citizenship is from {v}", "Which country is {o}"
           " passport from?; What citizenship [do|does] {s} have?"),
    _frame("event", "event", "{S} [have|has] {v} coming up; {S} [am|is] preparing for {v}", "What [am|is] {s} preparing for?;"
           " What [do|does] {s} have coming up?"),
    _frame("wakes", "time", "{S} [get|gets] up at {v}; {O} alarm rings at {v}", "When [do|does] {s} get up?; What time [do|does]"
           " {s} wake up?; When does {o} alarm ring?"),
    _frame("bedtime", "time", "{S} [go|goes] to bed at {v}; {O} bedtime is {v}", "When [do|does] {s} go to bed?; What is {o}"
           " bedtime?"),
    _frame("salary", "money", "{S} [earn|earns] {v}; {O} salary is {v}", "How much [do|does] {s} earn?; What is {o} salary?"),
    _frame("rent", "money", "{S} [pay|pays] {v} in rent; {O} rent is {v}", "How much rent [do|does] {s} pay?; What is {o} rent?",
           "{O} rent went up to {v}"),
    _frame("address", "street", "{O} address is {v}; {S} [live|lives] at {v}", "What is {o} address?; Which street [do|does] {s}"
           " live on?"),
    _frame("phone", "phone", "{O} phone number is {v}; You can call {m} on {v}", "What is {o} phone number?; What number can I"
           " reach {m} on?"),
    _frame("mail", "mail", "{O} e-mail is {v}; {O} email address is {v}", "What is {o} e-mail address?; What's {o} email?"),
    _frame("gift_wish", "gift", "{S} would like {v} for {p} birthday; {S} [wish|wishes] for {v}", "What would {s} like for {p}"
           " birthday?; Which present [do|does] {s} want?"),
    _frame("bought", "device", "{S} bought {v} last week; {S} just got {v}", "What did {s} buy last week?; What did {s} buy"
           " recently?"),
    _frame("quit_reason", "reason", "{S} moved because {v}; The reason {s} moved is that {v}", "Why did {s} move?; What made"
           " {m} move?"),
    _frame("eye_colour", "colour", "{O} eyes are {v}", "What colour are {o} eyes?"),
    _frame("first_pet", "pet", "{O} first pet was called {v}", "What was {o} first pet called?"),
    _frame("blood", "code", "{O} employee number is {v}", "What is {o} employee number?; Which staff number [do|does] {s} have?"),
)

# About a thing or a person that somebody has; {n} is one of NOUNS of the same kind.
NOUN_FRAMES: tuple[tuple[str, Frame], ...] = (
    ("creature", _frame("is_called", "name", "{O} {n} is called {v}; {O} {n}'s name is {v}; {v} is the name of {o} {n}",
                        "What is {o} {n} called?; What is the name of {o} {n}?; What's {o} {n}'s name?",
                        "{O} new {n} is called {v}", "Is {o} {n} called {v}?")),
    ("animal", _frame("pet_age", "age", "{O} {n} is {v} years old", "How old is {o} {n}?; What age is {o} {n}?",
                      "{O} {n} is {v} now")),
    ("animal", _frame("pet_breed", "breed", "{O} {n} is a {v}", "What breed is {o} {n}?; What kind of {n} is {o} {n}?")),
    ("animal", _frame("pet_likes", "ingredient", "{O} {n} loves {v}; {O} {n} only eats {v}", "What does {o} {n} eat?;"
                      " What does {o} {n} like to eat?")),
    ("animal", _frame("pet_sleeps", "place", "{O} {n} sleeps in {v}", "Where does {o} {n} sleep?")),
    ("object", _frame("thing_colour", "colour", "{O} {n} is {v}; The colour of {o} {n} is {v}", "What colour is {o} {n}?;"
                      " What color did {s} paint {o} {n}?", "{S} repainted {o} {n}, it is {v} now", "Is {o} {n} {v}?")),
    ("object", _frame("thing_place", "place", "{O} {n} is in {v}; {S} [keep|keeps] {o} {n} in {v}; {S} put {o} {n} in {v}",
                      "Where is {o} {n}?; Where [do|does] {s} keep {o} {n}?; Where did {s} put {o} {n}?",
                      "{S} moved {o} {n} to {v}")),
    ("object", _frame("thing_price", "money", "{O} {n} cost {v}; {S} paid {v} for {o} {n}", "How much did {o} {n} cost?; What"
                      " did {s} pay for {o} {n}?")),
    ("object", _frame("thing_brand", "brand", "{O} {n} is a {v}; {O} {n} was made by {v}", "What brand is {o} {n}?; Who made"
                      " {o} {n}?", "{S} replaced {o} {n} with a {v}")),
    ("object", _frame("thing_age", "age", "{O} {n} is {v} years old", "How old is {o} {n}?")),
    ("object", _frame("thing_from", "name", "{S} got {o} {n} from {v}; {v} gave {m} {o} {n}", "Who gave {m} {o} {n}?; Who did"
                      " {s} get {o} {n} from?")),
    ("object", _frame("thing_made_of", "material", "{O} {n} is made of {v}", "What is {o} {n} made of?")),
    ("code", _frame("code_is", "code", "{O} {n} is {v}; The {n} is {v}; {v} is {o} {n}", "What is {o} {n}?; What's the {n}?;"
                    " Can you tell me {o} {n}?", "{O} {n} was changed to {v}; {O} new {n} is {v}", "Is {o} {n} {v}?")),
    ("meeting", _frame("meets_when", "day", "{O} {n} is on {v}; {S} [have|has] {o} {n} on {v}", "When is {o} {n}?; On which day"
                       " is {o} {n}?; What day is {o} {n} on?", "{O} {n} was postponed to {v}; {O} {n} was moved to {v}")),
    ("meeting", _frame("meets_time", "time", "{O} {n} starts at {v}; {O} {n} begins at {v}", "What time does {o} {n} start?; At"
                       " what time is {o} {n}?", "{O} {n} starts at {v} instead")),
    ("meeting", _frame("meets_where", "town", "{O} {n} takes place in {v}; {O} {n} is in {v}", "Where is {o} {n}?; Where does"
                       " {o} {n} take place?")),
    ("meeting", _frame("meets_who", "name", "{S} [go|goes] to {o} {n} with {v}", "Who [do|does] {s} go to {o} {n} with?")),
    ("favourite", _frame("favourite", "word", "{O} favourite {n} is {v}; {S} [like|likes] {v} best of all {n}s; {v} is {o}"
                         " favorite {n}", "What is {o} favourite {n}?; Which {n} [do|does] {s} like best?; What's {o} favorite"
                         " {n}?", "{O} favourite {n} is {v} now; {O} new favourite {n} is {v}", "Is {v} {o} favourite {n}?")),
    ("helper", _frame("helper_name", "name", "{O} {n} is {v}; {O} {n} is called {v}; {v} is {o} {n}", "Who is {o} {n}?; What is"
                      " {o} {n} called?; What's the name of {o} {n}?", "{O} new {n} is {v}; {S} switched to another {n}, {v}")),
    ("helper", _frame("helper_place", "street", "{O} {n} is at {v}; {O} {n} has a practice at {v}", "Where is {o} {n}?; What is"
                      " the address of {o} {n}?")),
    ("helper", _frame("helper_phone", "phone", "{O} {n}'s number is {v}", "What is {o} {n}'s number?; How can I reach {o}"
                      " {n} by phone?")),
)

NOUNS: dict[str, tuple[str, ...]] = {
    kind: tuple(noun.strip() for noun in nouns.split(","))
    for kind, nouns in {
        "creature": "dog, cat, parrot, rabbit, horse, hamster, tortoise, scooter, band, son, daughter, baby, goldfish, car",
        "animal": "dog, cat, parrot, rabbit, horse, hamster, tortoise, guinea pig",
        "object": "bike, kayak, tent, sofa, front door, guitar, coat, backpack, lamp, umbrella, desk, kettle, watch, rug,"
        " suitcase, scooter, ring, camera, ladder, teapot, carpet, toolbox, mailbox, fence, skateboard, hammock,"
        " helmet, spare key, passport, charger, sewing machine, telescope, chess set",
        "code": "door code, locker number, wifi password, bank PIN, alarm code, licence plate, booking number,"
        " membership number, flight number, bike lock code, room number,"
        " safe combination, customer number, apartment number, bus line",
        "meeting": "dentist appointment, yoga class, book club, job interview, flight, eye"
        " test, parents' evening, wedding, haircut, driving lesson, team meeting, concert, graduation, exam, blood test,"
        " housewarming party, vet visit, chess tournament",
        "favourite": "colour, fruit, flower, board game, animal, city, ice cream flavour, vegetable, tree,"
        " holiday, park, restaurant, café, pizza topping, band, singer, poet, painter, dessert, soup, sandwich, bird,"
        " sport, subject, number, day of the week, mountain, smell, font, snack, spice, song",
        "helper": "dentist, doctor, hairdresser, accountant, lawyer, vet, plumber, therapist, boss, tutor,"
        " neighbour, babysitter, mechanic, roommate, physiotherapist, supervisor, optician",
    }.items()
}
WORDS_OF_NOUN: dict[str, str] = {  # which pool a favourite takes its values from; another noun takes made-up names
    "colour": "colour", "fruit": "fruit", "season": "season", "animal": "animal", "city": "town", "sport": "sport",
    "subject": "subject", "board game": "game", "cheese": "ingredient", "vegetable": "ingredient", "number": "age",
    "day of the week": "day", "singer": "name", "poet": "name", "painter": "name", "dessert": "food", "soup": "food",
    "sandwich": "food", "snack": "food", "song": "title", "podcast": "title", "band": "title", "spice": "ingredient",
    "pizza topping": "ingredient", "flower": "flower", "tree": "flower", "bird": "bird",
}  # fmt: skip
POOLS |= {
    "fruit": ("mango", "pear", "fig", "plum", "cherry", "papaya", "apple", "grape", "quince", "peach"),
    "season": ("spring", "summer", "autumn", "winter", "the rainy season"),
    "flower": ("tulip", "rose", "lilac", "oak", "birch", "daisy", "iris", "maple", "willow", "peony", "lavender"),
    "bird": ("robin", "heron", "owl", "kestrel", "swift", "magpie", "puffin", "wren"),
    "word": ("Bellavista", "Kormoran", "the Old Mill", "Sandy Point", "Meridian", "Lark", "Pinewood", "Vesper", "Amaranth",
             "Coppergate", "Harlequin", "Northstar", "Umbra", "Solstice", "Tamarind", "Willow Creek"),
}  # fmt: skip

PEOPLE_FRAMES = ("home", "employer", "job", "birthday", "age", "allergy", "hobby", "instrument", "favourite_food", "diet")
PEOPLE: dict[str, str] = {  # who -> pronoun of the owner
    "sister": "her", "brother": "his", "mother": "her", "dad": "his", "boss": "their", "wife": "her", "husband": "his",
    "cousin": "their", "aunt": "her", "uncle": "his", "neighbour": "their", "best friend": "their", "roommate": "their",
    "son": "his", "daughter": "her", "colleague": "their", "grandmother": "her", "friend Marek": "his",
    "friend Alma": "her", "mum": "her", "girlfriend": "her", "boyfriend": "his", "colleague Tom": "his",
}  # fmt: skip
UNSEEN_PEOPLE: dict[str, str] = {
    "stepsister": "her", "friend Jorge": "his", "mother-in-law": "her",
    "godson": "his", "neighbour Ilse": "her", "manager": "their", "twin brother": "his", "partner": "their",
}  # fmt: skip

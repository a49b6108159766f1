"""Judgement: what each sentence of the user is, and what a turn is cut into.

pytest tests/test_judgement.py        needs no weights and no network
"""

from __future__ import annotations

import pytest

from chatmem.judgement import judge
from chatmem.reading import read_turn

KINDS = {
    "fact": [
        "My brother lives in Rome.",
        "Tom says he works at Orbix.",
        "I got a new dog today.",
        "I turned 30 today.",
        "Call me Rob.",
        "Never suggest meat to me.",
        "Please write your answers briefly.",
        "If I drink coffee after six I can't sleep.",
        "Book club is on Tuesdays.",
        "In my book club we read Dune.",
        "My gran always says 'slow and steady'.",
        'My password is "I love Rome".',
        "I'm reading Dune at the moment.",
        "Don't like fish.",
        "Yes, twice a week.",
        "It's on Monday.",
        "That's my dog.",
        "Who would have thought, I got the job!",
        "What I like most is jazz.",
        "Сейчас я живу в Казани.",
        "Не забудь, что я веган.",
        "我现在住在上海。",
    ],
    "temporary": [
        "I'm tired today.",
        "I'm at the airport right now.",
        "I'm so hungry!",
        "My train is at 7 today.",
        "I'm in Rome this week.",
        "It's raining today.",
        "Я сегодня устал.",
        "我今天很累。",
    ],
    "quotation": [
        'My boss said "I live in Rome".',
        '"I live in Rome", she said.',
        "She wrote: I live in Rome.",
        "As my gran says: I need my sleep.",
        "♪ I walk the line ♪",
        "> I live in Rome.",
        "Он сказал: «Я живу в Риме».",
        "老板说：“我住在罗马。”",
    ],
    "fiction": [
        "In my novel the hero lives in Oslo.",
        "In the movie I saw, a man lives on Mars.",
        "Last night I dreamt that I lived in Rome.",
        "The hero of my story is a spy.",
        "Let's pretend I am a knight.",
        "Role play: you are a detective and I am a thief.",
        "Once upon a time I was a frog.",
        "В моём романе герой живёт в Осло.",
        "在我的小说里，主角住在罗马。",
    ],
    "what-if": [
        "Suppose I live in Rome.",
        "If I won the lottery, I'd buy a boat.",
        "I would move to Rome if I had the money.",
        "I wish I lived in Rome.",
        "Maybe I should learn Dutch.",
        "Если бы я был богат, я бы купил яхту.",
    ],
    "retraction": [
        "No, that was a joke.",
        "Just kidding!",
        "Scratch that.",
        "I was lying.",
        "Forget what I said about the dog.",
        "That's not true any more.",
        "Wait, forget that.",
        "Я пошутил.",
        "Это была шутка.",
        "开玩笑的。",
    ],
    "keep": [
        "Save that.",
        "Remember this.",
        "Keep that in mind.",
        "Can you save that?",
        "Запомни это.",
        "记住这个。",
    ],
    "command": [
        "Call mum.",
        "Tell me what is the capital of Peru.",
        "Siri, turn off the lights.",
        "I need you to translate a sentence.",
    ],
    "question": [
        "what's the weather like",
        "can people swim there",
        "for soup, what do I need",
        "I wonder if it rains",
    ],
}


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("My kettle is copper.", "fact"),
        ("I do like rye bread", "fact"),
        ("When I was six we moved to Bern.", "fact"),
        ("What a day, I got the part!", "fact"),
        ("Remember that my gate code is 4410.", "fact"),
        ("Don't forget to water the ferns.", "fact"),
        ("Sorry, I meant the fourth floor.", "fact"),
        ("Меня зовут Ярослава.", "fact"),
        ("比起猫我更喜欢狗。", "fact"),
        ("what is my kettle made of", "question"),
        ("Do I like rye bread?", "question"),
        ("how many aunts do I have", "question"),
        ("Как меня зовут", "question"),
        ("我更喜欢什么动物？", "question"),
        ("And where's my kettle", "question"),
        ("Tell me about kettles.", "command"),
        ("Could you write a poem", "command"),
        ("Please list three rivers.", "command"),
        ("Imagine I lived on Mars.", "what-if"),
        ("If I were rich I would buy a lighthouse.", "what-if"),
        ("Would you mind remembering that I fish on Fridays?", "fact"),
        ("My knee is not right yet, so no stairs please", "fact"),
        ("Wondering whether otters like plums", "question"),
        ("Combien de lacs y a-t-il en Finlande", "question"),
        ("I'd like a list of rivers", "command"),
        ("Wenn ich ein Boot hätte, würde ich segeln", "what-if"),
        ("I would have been a pilot if I'd had better eyes", "what-if"),
        ("For the purposes of this game I am a count", "fiction"),
        ("Evening, me again!", "small talk"),
        ("brb, the kettle", "small talk"),
        ("Can't believe I told you nine.", "small talk"),
        ("Hi there!", "small talk"),
        ("Thank you so much.", "small talk"),
        ("Привет!", "small talk"),
        ("That sounds like hard work.", "small talk"),
        ("You should try it!", "small talk"),
        ("Daft of me to have mixed up the two trains.", "small talk"),
        ("I misspoke.", "small talk"),
        ("Ты молодец.", "small talk"),
        ("…!?", "small talk"),
        ("🙂", "small talk"),
    ],
)
def test_sentences_are_judged(sentence, kind):
    assert judge(sentence) == kind


@pytest.mark.parametrize(("sentence", "kind"), [(text, kind) for kind, texts in KINDS.items() for text in texts])
def test_kinds(sentence, kind):
    assert judge(sentence) == kind
    assert judge(f"  {sentence}  ") == kind
    assert judge(sentence.replace("'", "’")) == kind


def kinds(text: str) -> list[tuple[str, str]]:
    return [(piece.text, piece.kind) for piece in read_turn(text)]


def test_what_one_is_asked_to_keep_in_mind_is_kept_alone():
    (piece,) = read_turn("Could you keep in mind that I'm new at chess?")
    assert (piece.kind, piece.text) == ("fact", "I'm new at chess.")


def test_fact_before_a_question_is_kept():
    assert kinds("I'm vegan, can you suggest a restaurant?") == [
        ("I'm vegan", "fact"),
        ("can you suggest a restaurant?", "question"),
    ]
    assert kinds("Recommend a film, I love horror.") == [("Recommend a film", "command"), ("I love horror.", "fact")]


def test_story_goes_on_until_the_user_speaks_of_himself():
    text = "In my novel the hero lives in Oslo. His name is Max. I live in Bergen."
    assert [kind for _, kind in kinds(text)] == ["fiction", "fiction", "fact"]


def test_role_play_goes_on_until_real_life():
    text = "Let's play a game: you are a dragon and I'm a knight. I live in a castle. In real life I live in Oslo."
    assert [kind for _, kind in kinds(text)] == ["fiction", "fiction", "fact"]


def test_what_takes_back_may_say_what_is_true():
    assert [kind for _, kind in kinds("Just kidding, I live in Oslo.")] == ["retraction", "fact"]


def test_all_of_an_explicit_text_is_kept():
    pieces = read_turn("What if I live in Porto? Save that.", explicit=True)
    assert [piece.kind for piece in pieces] == ["fact", "fact"]


@pytest.mark.parametrize(
    "text", ["Hi! I'm Ana, I live in Porto and work at Orbix. Do you?", "Just kidding, I'm Bo.", "…"]
)
def test_pieces_are_parts_of_the_text_in_order(text):
    position = 0
    for piece in read_turn(text):
        start = text.find(piece.said, position)
        assert start >= position
        position = start + len(piece.said)

"""Sessions in which the user answers the assistant in a few words, as with "Yes, twice a week" to "Do you swim?".

Such an answer means something only after its question. Activities, things and frames of the test occur nowhere else.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from training.encoder_data import Corpus, Question, Split, Talk


@dataclass(frozen=True)
class Frame:
    """One thing to ask: the assistant's ways, the short answers, the user's ways to ask later.

    `fills` are pairs for {a} and {b}, such as "swim" and "swimming".
    """

    asked: tuple[str, ...]
    answers: tuple[str, ...]
    queries: tuple[str, ...]
    fills: tuple[tuple[str, str], ...]


_ACTIVITIES = (
    ("swim", "swimming"), ("go running", "running"), ("do yoga", "doing yoga"), ("play tennis", "playing tennis"),
    ("play the piano", "playing the piano"), ("paint", "painting"), ("go fishing", "fishing"), ("bake bread", "baking"),
    ("play chess", "playing chess"), ("ride a bike", "cycling"), ("lift weights", "lifting weights"),
    ("dance", "dancing"), ("sing in a choir", "singing"), ("write poems", "writing poems"), ("garden", "gardening"),
    ("knit", "knitting"), ("go climbing", "climbing"), ("ski", "skiing"), ("cook for friends", "cooking"),
    ("take photos", "taking photos"), ("volunteer", "volunteering"), ("see a dentist", "seeing your dentist"),
    ("call your parents", "calling your parents"), ("fast", "fasting"), ("meditate", "meditating"),
    ("learn Spanish", "learning Spanish"), ("drink coffee", "drinking coffee"), ("eat out", "eating out"),
    ("go to church", "going to church"), ("watch football", "watching football"),
)  # fmt: skip
_TEST_ACTIVITIES = (
    ("row", "rowing"), ("play the cello", "playing the cello"), ("go surfing", "surfing"), ("box", "boxing"),
    ("go birdwatching", "birdwatching"), ("do pottery", "doing pottery"), ("play badminton", "playing badminton"),
    ("keep a diary", "keeping a diary"), ("donate blood", "donating blood"), ("sail", "sailing"),
    ("play poker", "playing poker"), ("study Japanese", "studying Japanese"), ("go to the sauna", "going to the sauna"),
    ("babysit", "babysitting"),
)  # fmt: skip
_KIN = tuple((who, who) for who in ("sister", "brother", "wife", "husband", "boss", "dog", "cat", "daughter", "son"))
_TEST_KIN = tuple((who, who) for who in ("nephew", "neighbour", "grandmother", "horse", "landlord", "godchild"))
_THINGS = tuple((thing, thing) for thing in ("car", "phone", "bike", "tent", "guitar", "jacket", "laptop", "sofa"))
_TEST_THINGS = tuple((thing, thing) for thing in ("kayak", "camera", "backpack", "kettle", "watch", "typewriter"))
_PAIRS = (
    ("tea", "coffee"), ("dogs", "cats"), ("summer", "winter"), ("the sea", "the mountains"), ("books", "films"),
    ("trains", "planes"), ("mornings", "evenings"), ("wine", "beer"), ("rice", "pasta"), ("cities", "villages"),
)  # fmt: skip
_TEST_PAIRS = (("forests", "deserts"), ("jazz", "opera"), ("oranges", "apples"), ("boats", "trams"), ("silver", "gold"))

_OFTEN = ("Yes, twice a week.", "Only on Sundays.", "Every morning.", "Once a month.", "Not since last year.",
          "Three times a week, usually.", "Yes, but just in summer.", "Hardly ever.", "Daily.")  # fmt: skip
_TEST_OFTEN = ("Four evenings a week.", "Every second Tuesday.", "On weekends mostly.", "No, I gave that up.",
               "Now and then, yes.")  # fmt: skip
_SINCE = ("About six years.", "Since I was a child.", "Two months now.", "Just started in March.", "For a decade.")
_TEST_SINCE = ("Eleven years this autumn.", "Since I moved here.", "Barely three weeks.")
_PLACE = ("Near the station.", "In the park.", "At home.", "At a club downtown.", "By the lake.", "In Ghent.")
_TEST_PLACE = ("Behind the old mill.", "At the community centre.", "In Trondheim, with two friends.")
_NAMES = ("Ilse.", "Her name is Petra.", "He's called Tom.", "Anna, like my grandmother.", "Rufus!", "It's Marek.")
_TEST_NAMES = ("Yusuf.", "Oh, that would be Philippa.", "Bartholomew, believe it or not.", "Linnea.")
_LOOKS = ("A blue one.", "It's a red one, quite old.", "Green, second hand.", "A small black one.", "White.")
_TEST_LOOKS = ("A purple one with stripes.", "Dark orange.", "A yellow one from my uncle.")
_EITHER = ("The first, always.", "The second one, I think.", "Both, to be honest.", "Neither, really.", "The former.")
_TEST_EITHER = ("I'd go with the latter.", "The first of the two, any day.", "Can't stand either.")


def _frames(split: Split) -> list[Frame]:
    """Return the frames of a split; those of the test ask in other words, for other things."""
    if split == "test":
        return [
            Frame(("Is {b} something you do regularly?",), _TEST_OFTEN, ("How regularly do I {a}?",), _TEST_ACTIVITIES),
            Frame(
                ("Do you {a}?",), _TEST_OFTEN, ("How often do I {a}?", "Am I someone who likes {b}?"), _TEST_ACTIVITIES
            ),
            Frame(("When did you take up {b}?",), _TEST_SINCE, ("How many years have I been {b}?",), _TEST_ACTIVITIES),
            Frame(("Which place do you choose for {b}?",), _TEST_PLACE, ("At what place do I {a}?",), _TEST_ACTIVITIES),
            Frame(("And how is your {a} called?",), _TEST_NAMES, ("Do you recall my {a}'s name?",), _TEST_KIN),
            Frame(("What does your {a} look like?",), _TEST_LOOKS, ("Which colour has my {a}?",), _TEST_THINGS),
            Frame(
                ("If you had to choose, {a} or {b}?",), _TEST_EITHER, ("Which do I prefer, {a} or {b}?",), _TEST_PAIRS
            ),
        ]
    fills = (_ACTIVITIES, _KIN, _THINGS, _PAIRS)
    active, kin, things, pairs = (part[::5] if split == "valid" else _without_fifth(part) for part in fills)
    return [
        Frame(("Do you {a}?", "Do you still {a}?", "And do you {a}?"), _OFTEN,
              ("How often do I {a}?", "Do I {a}?", "When do I {a}?"), active),
        Frame(("How often do you {a}?", "Do you {a} a lot?"), _OFTEN,
              ("How often do I {a}?", "Do I {a} a lot?"), active),
        Frame(("How long have you been {b}?", "Since when do you {a}?"), _SINCE,
              ("How long have I been {b}?", "Since when do I {a}?", "When did I start {b}?"), active),
        Frame(("Where do you {a}?", "Where do you usually {a}?"), _PLACE,
              ("Where do I {a}?", "Where am I {b}?"), active),
        Frame(("What's your {a}'s name?", "What is the name of your {a}?"), _NAMES,
              ("What's my {a}'s name?", "What is my {a} called?", "Who is my {a}?"), kin),
        Frame(("What colour is your {a}?", "Which {a} do you have?"), _LOOKS,
              ("What colour is my {a}?", "What kind of {a} do I have?"), things),
        Frame(("Do you prefer {a} or {b}?", "{a} or {b}?"), _EITHER,
              ("Do I prefer {a} or {b}?", "Do I like {a} better than {b}?"), pairs),
    ]  # fmt: skip


def _without_fifth(fills: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for place, pair in enumerate(fills) if place % 5)


def elliptical_corpus(split: Split, chatter: Sequence[tuple[str, bool]], count: int, seed: int = 0) -> Corpus:
    """Return sessions of two to five short answers, with chatter between them and a question to each answer.

    Args:
        split: which fills, answers and frames.
        chatter: other sentences, and whether the user says them.
        count: number of sessions.
        seed: of the choice.
    """
    chance, frames, corpus = random.Random(seed), _frames(split), Corpus([], [])
    for index in range(count):
        texts: list[str] = []
        by_user: list[bool] = []
        seen: set[str] = set()
        for frame in chance.choices(frames, k=chance.randint(2, 5)):
            a, b = chance.choice(frame.fills)
            if a in seen:
                continue
            seen.add(a)
            for text, own in chance.sample(chatter, chance.randint(0, 4)):
                texts.append(text)
                by_user.append(own)
            asked = chance.choice(frame.asked).format(a=a, b=b)
            texts += [asked[0].upper() + asked[1:], chance.choice(frame.answers)]
            by_user += [False, True]
            query = chance.choice(frame.queries).format(a=a, b=b)
            corpus.questions.append(Question(query, index, (len(texts) - 1,), "elliptical", a))
        corpus.talks.append(Talk(tuple(texts), tuple(by_user), f"elliptical{index}"))
    return corpus

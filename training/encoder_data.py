"""Sessions with questions, for training the session encoder and for scoring retrieval.

A `Talk` is one session as the journal would cut it into sentences; a `Question` asks for some of its lines. People,
facts, values and template families of the split "test" occur in no other split.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from chatmem.sentences import judge, split_sentences, words

Split = Literal["train", "valid", "test"]

_COMMON = frozenset(
    words(
        "a an and are as at be been but by can do does for from had has have i'm i've in is it its just like lot love "
        "me my of on or really so some that the there they this to too very was were what when where which who will "
        "with would you your enjoy"
    )
)
_OPENING = re.compile(r"^(?:so|well|oh|and|hey|cool|nice|great)\b[,!.]?\s+", re.I)


@dataclass(frozen=True)
class Talk:
    """One session: sentences of the user and of the assistant, in order."""

    texts: tuple[str, ...]
    by_user: tuple[bool, ...]
    person: str = ""  # sessions of one person are no negatives of each other

    def facts(self) -> list[int]:
        """Return the places of the sentences that the product may bring back: what the user told."""
        told = [place for place, (text, own) in enumerate(zip(self.texts, self.by_user, strict=True)) if own and text]
        return [place for place in told if judge(self.texts[place]) == "fact"]


@dataclass(frozen=True)
class Question:
    """A question of the user whose answer stands in some lines of one talk."""

    text: str
    talk: int  # index in the list of talks
    lines: tuple[int, ...]  # places in the talk; any of them answers
    kind: str
    fact: str = ""  # the fact that is asked for, in its own words


@dataclass(frozen=True)
class Corpus:
    """Talks and the questions to them."""

    talks: list[Talk]
    questions: list[Question]

    def __add__(self, other: Corpus) -> Corpus:
        """Return both corpora as one."""
        shift = len(self.talks)
        moved = [Question(q.text, q.talk + shift, q.lines, q.kind, q.fact) for q in other.questions]
        return Corpus(self.talks + other.talks, self.questions + moved)

    def texts(self) -> Iterator[str]:
        """Yield every text that needs an embedding."""
        for talk in self.talks:
            yield from talk.texts
        for question in self.questions:
            yield question.text


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines, packed or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def percent(text: str) -> int:
    """Return a number from 0 to 99 that depends on the text only: how splits are drawn."""
    return zlib.crc32(text.encode()) % 100


def content_words(text: str) -> set[str]:
    """Return the words of a text that carry its meaning, cut to five letters as a crude stem."""
    return {word[:5] for word in words(text) if word not in _COMMON}


def persona_split(persona: tuple[str, ...]) -> Split:
    """Return the split of a persona: one with a test fact is of the test, so that those facts are never trained."""
    if any(percent("fact" + fact) < 6 for fact in persona):
        return "test"
    return "valid" if percent("persona" + "|".join(persona)) < 8 else "train"


def persona_corpus(data: Path, split: Split) -> Corpus:
    """Return dialogues seen from one of the two people, with natural questions and questions made from the persona.

    A dialogue is of the training split only if both of its people are; in the others, if the user is.
    """
    natural = {(row["answer"], row["question_2p"]): row for row in read_jsonl(data / "persona_chat_triples.jsonl.gz")}
    corpus = Corpus([], [])
    for row in read_jsonl(data / "persona_chat_dialogues.jsonl.gz"):
        splits = [persona_split(tuple(persona)) for persona in row["personas"]]
        for person, speaker in enumerate(("user1", "user2")):
            wanted = splits == ["train", "train"] if split == "train" else splits[person] == split
            if wanted:
                _add_view(corpus, row, person, speaker, natural)
    return corpus


def _add_view(
    corpus: Corpus, row: dict[str, Any], person: int, speaker: str, natural: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """Add a dialogue as the session of one person, the other one in the assistant's place."""
    texts: list[str] = []
    by_user: list[bool] = []
    said = row["sessions"][0]["turns"]
    index = len(corpus.talks)
    for before, turn in zip([None, *said], said, strict=False):
        cut = split_sentences(turn["text"])
        known = natural.get((turn["text"], before["text"])) if before else None
        if known is None and before:  # the triples hold the last sentence of the turn before
            last = (split_sentences(before["text"]) or [""])[-1]
            known = natural.get((turn["text"], last))
        if known and turn["speaker"] == speaker and cut:
            places = [len(texts) + n for n, text in enumerate(cut) if overlap(known["fact"], text) >= 0.5]
            question = _OPENING.sub("", known["question"])
            lines = tuple(places or [len(texts)])
            corpus.questions.append(
                Question(question[0].upper() + question[1:], index, lines, "natural", known["fact"])
            )
        texts += cut
        by_user += [turn["speaker"] == speaker] * len(cut)
    if not texts:
        return
    talk = Talk(tuple(texts), tuple(by_user), row["id"].split("/t")[0] + speaker)
    corpus.talks.append(talk)
    for fact in row["personas"][person]:
        scores = [(overlap(fact, texts[place]), -place) for place in talk.facts()]
        best, place = max(scores, default=(0.0, 0))
        if best >= 0.66:
            for number, question in enumerate(questions_from(fact)):
                kind = "made" if number == 0 else "made-wh"
                corpus.questions.append(Question(question, index, (-place,), kind, fact))


def overlap(fact: str, text: str) -> float:
    """Return the share of a fact's content words that stand in a text."""
    wanted = content_words(fact)
    return len(wanted & content_words(text)) / len(wanted) if wanted else 0.0


_RULES = (  # statement -> questions; the first is yes-or-no
    (r"^i am (.+)$", ("Am I {0}?",)),
    (r"^i(?: have|'ve got) (.+)$", ("Do I have {0}?",)),
    (r"^i (was|can|could|will|would|should) (.+)$", ("{0} I {1}?",)),
    (r"^i (?:do not|don't|never) (.+)$", ("Do I {0}?",)),
    (r"^i work (as|at|in|for) (.+)$", ("Do I work {0} {1}?", "Where do I work?", "What is my job?")),
    (r"^i live (.+)$", ("Do I live {0}?", "Where do I live?")),
    (r"^i drive (.+)$", ("Do I drive {0}?", "What do I drive?", "Which car do I have?")),
    (r"^my (favou?rite [\w ]+?) (?:is|are) (.+)$", ("Is {1} my {0}?", "What is my {0}?", "Which {0} do I have?")),
    (r"^my (\w+(?: \w+)?) (?:is|are|was|were) (.+)$", ("Is my {0} {1}?", "What is my {0}?", "Who or what is my {0}?")),
    (r"^my (\w+) (.+)$", ("Is it true that my {0} {1}?", "What do you know about my {0}?")),
    (r"^i (?:also |really )?(?:love|like|enjoy) (?:to )?(.+)$", ("Do I like {0}?", "How do I feel about {0}?")),
    (r"^i (\w+) (.+)$", ("Did I say that I {0} {1}?",)),
)


def questions_from(fact: str) -> list[str]:
    """Return first-person questions about a persona's statement; none where no rule fits it."""
    plain = fact.strip().rstrip(".!").lower()
    for pattern, forms in _RULES:
        if found := re.match(pattern, plain):
            made = [form.format(*found.groups()) for form in forms]
            return [text[0].upper() + text[1:] for text in made]
    return []


def russian_corpus(data: Path, split: Split, limit: int = 400, seed: int = 0) -> Corpus:
    """Return sessions of eight unrelated Russian statements, with a question to each that has one of its own."""
    rows = [row for row in read_jsonl(data / "russian_triples.jsonl.gz") if row["person"] in ("1s", "3")]
    low, high = {"train": (20, 100), "valid": (10, 20), "test": (0, 10)}[split]
    rows = [row for row in rows if low <= percent(row["fact"]) < high and len(words(row["fact"])) >= 3]
    chance = random.Random(seed)
    chance.shuffle(rows)
    corpus = Corpus([], [])
    for start in range(0, min(len(rows), 8 * limit) - 7, 8):
        some = rows[start : start + 8]
        texts = tuple(row["fact"].strip(" .") + "." for row in some)
        for place, row in enumerate(some):
            if row["kind"] == "wh" or place % 2:
                question = row["question"][0].upper() + row["question"][1:]
                corpus.questions.append(Question(question, len(corpus.talks), (place,), "russian", row["fact"]))
        corpus.talks.append(Talk(texts, (True,) * 8, f"ru{start}"))
    return corpus

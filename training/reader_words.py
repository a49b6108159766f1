"""Words and small grammar for the reader's samples; the tables are in `reader_words.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

from training import facts
from training.facts import Attribute

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def words(name: str, *, fresh: bool = False) -> list[str]:
    """Return a list of `reader_words.toml`: the one of training, or its twin for scores where there is one."""
    texts: dict[str, str] = TABLES["texts"]
    return [part.strip() for part in texts.get(name.capitalize() if fresh else name, texts[name]).split(" | ")]


def joined(items: list[str]) -> str:
    """Return "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def lowered(text: str) -> str:
    """Return a text that can follow a comma."""
    keep = re.match(r"(?:I|I'm|I've)\b", text)
    return text if keep else text[:1].lower() + text[1:]


def embedded(question: str) -> str | None:
    """Return a question as a part of another: "Where do I work?" becomes "where I work"."""
    if match := re.match(r"(.+?) is (my .+) called\?$", question):
        return lowered(f"{match[1]} {match[2]} is called")
    if match := re.match(
        r"(.+?) (is|are|was) (my (?:(?!\w+ing\b|allergic|afraid|born|married|with|about|called)\S+ ?)+)\?$", question
    ):
        return lowered(f"{match[1]} {match[3]} {match[2]}")
    if match := re.match(r"(.+?) do (I|my \w+) (.+)\?$", question):
        return lowered(f"{match[1]} {match[2]} {match[3]}")
    if match := re.match(r"((?:what|where|who|how|when|which)\b.*?) am I\b(.*)\?$", question, re.I):
        return lowered(f"{match[1]} I am{match[2]}")
    return None


def with_more(attribute: Attribute) -> Attribute:
    """Return an attribute with the looser words of the table of more."""
    questions, _, statements = TABLES["more"].get(attribute.name, "//").partition("//")
    more = [tuple(part.strip() for part in text.split("|") if part.strip()) for text in (questions, statements)]
    return replace(attribute, questions=attribute.questions + more[0], statements=attribute.statements + more[1])


def noun_attributes() -> list[Attribute]:
    """Return the attributes of the table of nouns, which have plain words only; for training."""
    made = []
    for noun, values in TABLES["nouns"].items():
        statements = (
            f"My {noun} is {{v}}.",
            f"My {noun} is {{v}}.",
            f"my {noun} is {{v}}, by the way",
            f"As for my {noun}, it is {{v}}.",
        )
        questions = (
            f"What is my {noun}?",
            f"What's my {noun}?",
            f"Which is my {noun}?",
            f"What about my {noun}?",
            f"What did I say my {noun} is?",
        )
        third = (f"My {{who}}'s {noun} is {{v}}.", f"What is my {{who}}'s {noun}?", f"Your {{who}}'s {noun} is {{v}}.")
        updates = (
            f"My {noun} is {{v}} now.",
            f"My new {noun} is {{v}}.",
            f"Correction: my {noun} is {{v}}.",
            f"My {noun} has changed, it is {{v}}.",
        )
        answers, denials = (f"Your {noun} is {{v}}.",), (f"My {noun} is not {{v}}.",)
        kept = tuple(values.split(";"))
        made.append(
            Attribute(noun, kept, (), statements, (), questions, (), answers, updates, denials, (third,), False)
        )
    return made


def closed(answer: str) -> str | None:
    """Return the yes-or-no question to an answer in the second person, or None where the rule does not hold."""
    text = answer.rstrip(".")
    if match := re.match(r"Your (.+?) (is|starts|expires|goes) ", text):
        verb = match[2]
        if verb == "is":
            return f"Is my {match[1]} {text[match.end() :]}?"
        return None
    if text.startswith("You are "):
        return f"Am I {text[8:]}?"
    first = text.split()[1] if text.startswith("You ") else ""
    if first in words("present"):
        return "Do I " + re.sub(r"\byour\b", "my", text[4:]) + "?"
    return None


def ordinary_prompts(*, fresh: bool = False) -> list[str]:
    """Return what people say to any assistant, where no memory matters."""
    if fresh:
        lists = (facts.UNSEEN_CHATTER, facts.UNSEEN_QUESTIONS_TO_THE_WORLD, facts.UNSEEN_COMMANDS)
    else:
        lists = (facts.CHATTER, facts.QUESTIONS_TO_THE_WORLD, facts.COMMANDS)
    return [*words("ordinary", fresh=fresh), *(text for texts in lists for text in texts)]

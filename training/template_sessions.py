"""Sessions made of our own templates: facts of the user and of others, with talk that is no fact between them.

Beside a question stands what it must not be mistaken for: the same attribute of another person, other attributes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from training import facts
from training.encoder_data import Corpus, Question, Split, Talk
from training.facts import Attribute

_REPLIES = (
    "That's nice to hear.", "Thanks for telling me!", "I see.", "Sounds good.", "How can I help you with that?",
    "That is interesting, tell me more.", "Great choice!", "I understand.",
    "I'd be happy to help.", "Sure, let's do it.",
)  # fmt: skip
_TEST_REPLIES = ("Good to know.", "Oh, lovely.", "Understood, thank you.", "Is there anything else on your mind?")


def template_corpus(
    split: Split, chatter: Sequence[tuple[str, bool]], count: int, *, seed: int = 0, unseen_attributes: bool = True
) -> Corpus:
    """Return sessions of one to five facts each, with a question to each.

    Args:
        split: validation keeps every eighth attribute from training, the test has values, statements and questions of
            its own.
        chatter: other sentences, and whether the user says them.
        count: number of sessions.
        seed: of the choice.
        unseen_attributes: the test asks for attributes of which training saw none; else for known ones in new words.
    """
    chance, corpus, test = random.Random(seed), Corpus([], []), split == "test"
    attributes: Sequence[Attribute] = [a for n, a in enumerate(facts.ATTRIBUTES) if (n % 8 == 0) == (split == "valid")]
    if test:
        attributes = facts.UNSEEN_ATTRIBUTES if unseen_attributes else facts.ATTRIBUTES
    people = facts.UNSEEN_PEOPLE if test else facts.PEOPLE
    fillers = _fillers(test)
    for index in range(count):
        texts: list[str] = []
        by_user: list[bool] = []
        asked: set[str] = set()
        for _ in range(chance.randint(1, 5)):
            _add_filler(chance, fillers, chatter, texts, by_user, test=test)
            attribute = chance.choice(attributes)
            statement, query, subject = _fact(chance, attribute, people, test=test)
            if subject in asked:
                continue
            asked.add(subject)
            texts.append(statement)
            by_user.append(True)
            corpus.questions.append(Question(query, index, (len(texts) - 1,), "template", subject))
            if chance.random() < 0.7:
                texts.append(chance.choice(_TEST_REPLIES if test else _REPLIES))
                by_user.append(False)
        _add_filler(chance, fillers, chatter, texts, by_user, test=test)
        corpus.talks.append(Talk(tuple(texts), tuple(by_user), f"template{split}{index}"))
    return corpus


def _fact(chance: random.Random, attribute: Attribute, people: Sequence[str], *, test: bool) -> tuple[str, str, str]:
    """Return a statement, a question for it, and a name of what is asked that no other attribute or person shares."""
    value = chance.choice(attribute.unseen_values if test else attribute.values)
    if attribute.third_person and chance.random() < 0.35:
        who = chance.choice(people)
        statement, query, _ = chance.choice(attribute.third_person)
        return statement.format(v=value, who=who), query.format(v=value, who=who), f"{attribute.name} of {who}"
    statements = attribute.unseen_statements if test else (*attribute.statements, *attribute.updates)
    questions = attribute.unseen_questions if test else attribute.questions
    return chance.choice(statements).format(v=value), chance.choice(questions).format(v=value), attribute.name


def _fillers(test: bool) -> list[str]:
    """Return what users say that is no fact."""
    names = ("CHATTER", "QUESTIONS_TO_THE_WORLD", "COMMANDS", "WHAT_IFS", "FICTION", "QUOTATIONS")
    return [text for name in names for text in getattr(facts, ("UNSEEN_" if test else "") + name)]


def _add_filler(
    chance: random.Random,
    fillers: Sequence[str],
    chatter: Sequence[tuple[str, bool]],
    texts: list[str],
    by_user: list[bool],
    *,
    test: bool,
) -> None:
    """Add nothing, a filler with its reply, or some sentences of other people's talk."""
    kind = chance.random()
    if kind < 0.4:
        reply = chance.choice(_TEST_REPLIES if test else _REPLIES)
        value = chance.choice(facts.UNSEEN_PEOPLE if test else facts.PEOPLE)
        texts += [chance.choice(fillers).format(v=value), reply]
        by_user += [True, False]
    elif kind < 0.75:
        for text, own in chance.sample(chatter, chance.randint(1, 4)):
            texts.append(text)
            by_user.append(own)

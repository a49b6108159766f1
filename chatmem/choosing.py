"""Choosing: which of the lines that a memory ranked come back for a query, and whether any does.

An arm only ranks lines. Here, for every arm alike, ordinary talk is left alone, lines are judged, the same words come
back once, and a question about "my boss" is asked again about Petra where no line answers it as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress, zip_longest
from typing import NamedTuple

from chatmem.asked_times import asked_days, asks_only_days, asks_when, without_days
from chatmem.by_name import in_own_name, own_name, owners_in, tells_of
from chatmem.frames import normal
from chatmem.hops import asked_apart, asked_attribute, asked_who, names_in, rewritten
from chatmem.interface import Recollection
from chatmem.judgement import MEMORY_KINDS, judge
from chatmem.pairs import NUM_CANDIDATES, Decision
from chatmem.rows import Line
from chatmem.sentences import (
    asks_about_assistant,
    asks_about_past,
    asks_for_everything,
    asks_how_to,
    asks_whether_user,
    is_personal,
    same_words,
    split_sentences,
    words,
)
from chatmem.succession import predecessors
from chatmem.tension import event_against, is_claim
from chatmem.times import Span, is_past, tells_event
from chatmem.versions import is_of_other, may_replace, newest_only, tells, without_others

THRESHOLD = 0.3  # cosine under which a line has no bearing on a query, where nothing better decides
ASK_NAME = "What is my name?"
SURE = 0.5  # probability from which a line matters to what is not a question about the user
NEVER = 2.0  # no probability reaches it
OF_OTHER = 0.9  # and such that a line on somebody else answers "Do I need a wheelchair?"
IMPERSONAL = 0.15  # and so much more for a query that does not speak of the user


class Scored(NamedTuple):
    """A line with what a memory thinks of it for one query."""

    line: Line
    score: float  # how well it fits, as a cosine: under the threshold it stays away where nothing better decides
    rank: float  # what the lines are ordered by


class Found(NamedTuple):
    """A line with the best that can be said for it, be it for what it superseded."""

    line: Line
    score: float
    rank: float
    texts: tuple[str, ...]  # its own, then those of the lines that it superseded


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines are ranked for a query at all."""

    kinds: frozenset[str]
    visible: frozenset[int]  # turns that are seen anyway
    count: int  # so many different lines are looked at, the best by rank
    days: Span | None = None  # that are asked about
    any_of_days: bool = False  # whatever was on these days is asked for
    over: bool = False  # whether lines are wanted whose time is over
    replaced: bool = False  # and such that a newer one superseded

    @classmethod
    def by(cls, query: str, k: int, visible: Collection[int], now: datetime | None = None) -> Wanted:
        """What the assistant said is looked at only when it is asked for."""
        of_assistant = asks_about_assistant(query)
        kinds = MEMORY_KINDS | {"reply"} if of_assistant else MEMORY_KINDS
        now = now or datetime.now().astimezone()
        days = None if of_assistant else asked_days(query, now)
        is_past = asks_about_past(query) or (days is not None and days.last is not None and days.last < now.date())
        return cls(
            frozenset(kinds),
            frozenset(visible),
            max(3 * k, NUM_CANDIDATES),
            days,
            not of_assistant and asks_only_days(query, now),
            is_past or asks_when(query),
            is_past,
        )

    def takes(self, line: Line) -> bool:
        """Tell whether a line is ranked; a superseded one helps to find the line that superseded it."""
        able = line.kind in self.kinds and line.status in _RANKED and line.turn_key not in self.visible
        return able and (self.days is None or line.days.meets(self.days))

    def is_of_days(self, line: Line) -> bool:
        """Tell whether a line names days that are asked about, or told on them what was going on."""
        if self.days is None:
            return False
        said = line.when.date()
        named = line.holds or Span(said, said)
        if not named.meets(self.days) or (line.holds is None and not tells_event(line.text)):
            return False
        return named.is_within(self.days) or not is_past(line.text)

    def shows(self, line: Line) -> bool:
        """Tell whether a line may come back itself."""
        is_over = line.status == "superseded" and line.superseded_by is None
        return line.status == "active" or self.replaced or (self.over and is_over)


_BEFORE = re.compile(
    r"\bbefore (?:(?:the|my|our|a|an|i (?:got|had|bought|took|moved to|worked at)) )*([\w'-]+)\W*$", re.I
)
_OF_ASSISTANT = re.compile(  # "From now on your name is Barnaby." does not say what the user is called
    r"\byour (?:new )?(?:name|nickname) (?:is|will be|shall be)\b|\byou(?:'re|'ll be| are| will be) (?:now )?called\b"
    r"|\b(?:i'll|i will|let me|i want to|i'm going to) call you\b",
    re.I,
)
_RANKED = ("active", "superseded")
Rank = Callable[[str, Wanted], list[Scored]]


@dataclass(frozen=True, slots=True)
class Choice:
    """How an arm's lines are chosen: with a trained decision, or with a threshold on the score where there is none."""

    rank: Rank
    threshold: float = THRESHOLD
    decision: Decision | None = None

    def __call__(
        self, query: str, k: int, visible: Collection[int] = (), now: datetime | None = None
    ) -> list[Recollection]:
        """Return at most `k` lines, best first; "What do you know about me?" fits every fact, the newest first."""
        if all(judge(sentence) == "small talk" for sentence in split_sentences(query)):
            return []
        wanted = Wanted.by(query, k, visible, now)
        if wanted.days is not None:
            query = without_days(query, now or datetime.now().astimezone())
        ranked = self._ranked(query, wanted)
        if asks_for_everything(query):
            newest = sorted(ranked, key=lambda one: one.line.key, reverse=True)
            return newest_only(_different(newest, wanted.count))[:k]
        chosen = self._of_parts(query, wanted) or self._fitting(query, ranked, wanted)
        chosen = chosen or self._second_hop(query, wanted, ranked, k)
        chosen = self._with_own_name(query, chosen, wanted, k)
        if wanted.replaced:
            return _without_newer(query, chosen)[:k]
        chosen = self._newest(newest_only(chosen))
        if asks_whether_user(query) and chosen and is_claim(chosen[0].text) and k > 1:
            event = event_against(chosen[0], ranked)
            return [chosen[0], event] if event else chosen[:k]
        return chosen[:k]

    def near(self, query: str, *, replaced: bool = False) -> list[Recollection]:
        """Return the lines nearest to a query, best first, without the decision's word; what is over is among them."""
        wanted = replace(Wanted.by(query, NUM_CANDIDATES, ()), days=None, over=True, replaced=replaced)
        return _different(self._ranked(query, wanted), wanted.count)

    def _of_parts(self, query: str, wanted: Wanted) -> list[Recollection]:
        """Return what answers a question about several things, one line for each first; nothing for other queries."""
        found = [self._fitting(part, self._ranked(part, wanted), wanted) for part in asked_apart(query)]
        turns = [line for row in zip_longest(*found) for line in row if line is not None]
        return list({line.line: line for line in turns}.values())

    def _with_own_name(self, query: str, chosen: list[Recollection], wanted: Wanted, k: int) -> list[Recollection]:
        """Return lines with the one that says whose they are, where the user is called by name in them.

        "Tamsin's birthday is 3 May." answers "When is my birthday?" only beside "I'm Tamsin.".
        """
        if not is_personal(query):
            return chosen
        called = {name for line in chosen[:k] for name in owners_in(line.text)}
        named = self._own_name(k) if called or (not chosen and in_own_name(query, "") != query) else None
        if named is None:
            return chosen
        name = own_name(named.text)
        if not chosen:
            renamed = in_own_name(query, name)
            answers = self._fitting(renamed, self._ranked(renamed, wanted), wanted, renamed=True)
            chosen = [line for line in answers if tells_of(line.text, name)]
            called = {name.casefold()} if chosen else set()
        if name.casefold() not in called or any(line.line == named.key for line in chosen):
            return chosen
        return [*chosen[: max(1, k - 1)], named.recollection(chosen[0].score)]

    def _own_name(self, k: int) -> Line | None:
        """Return the line that says what the user is called."""
        lines = (line for line, *_ in self._ranked(ASK_NAME, Wanted.by(ASK_NAME, k, ())))
        return next((line for line in lines if own_name(line.text)), None)

    def _newest(self, chosen: list[Recollection]) -> list[Recollection]:
        """Return lines, best first, without those that a newer one replaces in the eyes of the decision.

        It is asked only about lines that both surely answer the same query: about any two it would be wrong too often.
        """
        if self.decision is None:
            return chosen
        sure = [line for line in chosen if line.score >= SURE and line.speaker == "user"]
        gone: set[int] = set()
        for new in sure:
            older = [line for line in sure if (line.when, line.line) < (new.when, new.line)]
            older = [line for line in older if may_replace(new.text, line.text)]
            replaced = self.decision.replaces(new.text, [line.text for line in older])
            gone |= {line.line for line, is_old in zip(older, replaced, strict=True) if is_old}
        return [line for line in chosen if line.line not in gone]

    def _ranked(self, query: str, wanted: Wanted) -> list[Found]:
        """Return what may come back, best first; a line is as good as the best of those that it superseded."""
        found = {one.line.key: one for one in self.rank(query, wanted)}
        older = predecessors(one.line for one in found.values())
        lines = []
        for key, one in found.items():
            if wanted.shows(one.line):
                before = [found[line.key] for line in older.get(key, ())]
                family = (one, *before)
                score, rank = max(each.score for each in family), max(each.rank for each in family)
                lines.append(Found(one.line, score, rank, tuple(each.line.text for each in family)))
        return sorted(lines, key=lambda one: (wanted.is_of_days(one.line), one.rank, one.line.key), reverse=True)

    def _fitting(self, query: str, ranked: list[Found], wanted: Wanted, *, renamed: bool = False) -> list[Recollection]:
        """Return the lines that answer a query, surest first."""
        if wanted.any_of_days:
            return self._surest_first(
                query, _different([one for one in ranked if wanted.is_of_days(one.line)], wanted.count)
            )
        of_assistant = asks_about_assistant(query)
        if self.decision is None or of_assistant:
            floor = self.threshold if of_assistant or is_personal(query) else self.threshold + IMPERSONAL
            return _different([one for one in ranked if one.score >= floor], wanted.count)
        nearest = _different(ranked, NUM_CANDIDATES)
        nearest = list(compress(nearest, without_others(names_in(query), [line.text for line in nearest])))
        texts = {one.line.key: one.texts for one in ranked}
        asked = [(line, text) for line in nearest for text in texts[line.line]]
        chances = self.decision.answerable(query, [text for _, text in asked])
        whom, attribute = asked_who(query), asked_attribute(query)
        plain = [tells(line.text, attribute) or bool(whom and whom in words(line.text)) for line in nearest]
        sure = {line.line: SURE if is_plain else 0.0 for line, is_plain in zip(nearest, plain, strict=True)}
        for (line, _), chance in zip(asked, chances, strict=True):
            sure[line.line] = max(float(chance), sure[line.line])
        answers = [replace(line, score=sure[line.line]) for line in nearest]
        answers = [line for line in answers if line.score >= self._bound(query, line.text, renamed=renamed)]
        return _with_what_follows(sorted(answers, key=lambda line: (line.score, line.line), reverse=True), ranked)

    def _surest_first(self, query: str, lines: list[Recollection]) -> list[Recollection]:
        """Return lines in the order in which the decision thinks that they answer, none left out."""
        if self.decision is None:
            return lines
        chances = self.decision.answerable(query, [line.text for line in lines])
        judged = [replace(line, score=float(chance)) for line, chance in zip(lines, chances, strict=True)]
        return sorted(judged, key=lambda line: line.score, reverse=True)

    def _bound(self, query: str, line: str, *, renamed: bool) -> float:
        """Return how sure the decision must be that a line answers a query, which may ask about people by name."""
        assert self.decision is not None
        if _OF_ASSISTANT.search(line) and is_personal(query) and "you" not in words(query):
            return NEVER
        if renamed or names_in(query) & set(words(line)):
            return self.decision.threshold
        if asks_whether_user(query) and is_of_other(line):
            return OF_OTHER
        return bar_for(query, self.decision.threshold)

    def _second_hop(self, query: str, wanted: Wanted, ranked: list[Found], k: int) -> list[Recollection]:
        """Return what answers a query in other names, with the lines that gave the names."""
        near = _different(ranked, NUM_CANDIDATES)
        for renamed, used in rewritten(query, [line.text for line in near]):
            if answers := self._fitting(renamed, self._ranked(renamed, wanted), wanted, renamed=True):
                names = [replace(near[index], score=answers[-1].score) for index in used]
                answers = [line for line in answers if line.line not in {name.line for name in names}]
                return [*answers[: max(1, k - len(names))], *names] if answers else []
        return []


def _with_what_follows(answers: list[Recollection], ranked: list[Found]) -> list[Recollection]:
    """Return lines with the rest of the sentence where one that ended another has more to say.

    "No more cycling for me, I take the tram." answers with its second half what "I cycle to work." once answered.
    """
    chosen = {line.line for line in answers}
    enders = {(one.line.turn_key, one.line.sentence) for one in ranked if one.line.key in chosen and len(one.texts) > 1}
    rest = [one for one in ranked if (one.line.turn_key, one.line.sentence) in enders and one.line.key not in chosen]
    return [*answers, *(one.line.recollection(answers[0].score) for one in rest)]


def _without_newer(query: str, lines: list[Recollection]) -> list[Recollection]:
    """Return lines without those on what came later, where one is asked for what was "before the Mazda"."""
    found = _BEFORE.search(query)
    return [line for line in lines if found is None or found[1].casefold() not in words(line.text)] or lines


def bar_for(query: str, threshold: float) -> float:
    """Return the probability from which a line answers a query.

    The threshold of a decision is for questions about the user. For requests, news and questions to the world, among
    them "How do I …?", a line must be likelier to matter than not.
    """
    asks = any(judge(sentence) == "question" for sentence in split_sentences(query))
    of_user = is_personal(query) and not asks_how_to(query)
    return threshold if asks and of_user else max(SURE, threshold)


def _different(ranked: Iterable[Found], count: int) -> list[Recollection]:
    """Return the first `count` lines that do not say the same words."""
    chosen: dict[str, Recollection] = {}
    for line, score, *_ in ranked:
        if len(chosen) == count:
            break
        chosen.setdefault(same_words(normal(line.text)), line.recollection(score))
    return list(chosen.values())

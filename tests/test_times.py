"""Times: what words mean on the day they were said, what is over, which lines fit a time, what is only counted.

pytest tests/test_times.py        needs no weights and no network
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from conftest import FakeEncoder, make_session

from chatmem.dated import as_past, dated
from chatmem.dating import looked_up
from chatmem.interface import Recollection
from chatmem.journal import Journal
from chatmem.prompt import as_said_to_user
from chatmem.provenance import Source, asked_source, sources
from chatmem.times import Span, end_of, holds
from memory_module import GruMemory

SAID = datetime(2026, 5, 14, 23, 30, tzinfo=timezone(timedelta(hours=9)))  # a Thursday; in London it is afternoon


def line(text: str, when: datetime, *, until: datetime | None = None, key: int = 0) -> Recollection:
    return Recollection(text, 0.9, 1, 0, when, "user", until=until, line=key)


def day(month: int, number: int, year: int = 2026) -> date:
    return date(year, month, number)


def memory_of(*told: tuple[str, datetime]) -> GruMemory:
    """Return a memory of sentences, each said at its own time in a session of its own."""
    memory = GruMemory(Journal("sqlite://"), FakeEncoder(), hidden_dim=64)
    for text, when in told:
        memory.remember(make_session(text, "I see.", when=when))
    return memory


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The plumber comes tomorrow.", day(5, 15), day(5, 15)),
        ("I sold the piano yesterday.", day(5, 13), day(5, 13)),
        ("We met on Tuesday.", day(5, 12), day(5, 12)),
        ("I'm seeing the vet on Tuesday.", day(5, 19), day(5, 19)),
        ("I'm flying to Riga next Friday.", day(5, 22), day(5, 22)),
        ("I broke my wrist three days ago.", day(5, 11), day(5, 11)),
        ("The rehearsal was postponed to Friday.", day(5, 15), day(5, 15)),
        ("The race is in two weeks.", day(5, 28), day(5, 28)),
        ("I'm off next week.", day(5, 18), day(5, 24)),
        ("We painted the hall last month.", day(4, 1), day(4, 30)),
        ("I was in Quito in March.", day(3, 1), day(3, 31)),
        ("I was in Quito in November.", day(11, 1, 2025), day(11, 30, 2025)),
        ("I'm hiking in early March.", day(3, 1, 2027), day(3, 10, 2027)),
        ("I worked there in 2019.", day(1, 1, 2019), day(12, 31, 2019)),
        ("The party is on the 4th of July.", day(7, 4), day(7, 4)),
        ("I'm on call from Monday to Thursday.", day(5, 18), day(5, 21)),
        ("I lived in Oulu from 2012 to 2016.", day(1, 1, 2012), day(12, 31, 2016)),
        ("I've lived here since March 2020.", day(3, 1, 2020), None),
        ("I start at the bakery on Monday.", day(5, 18), None),
        ("I'm in Turku until Sunday.", day(5, 14), day(5, 17)),
        ("My aunt is staying with us till 3 June.", day(5, 14), day(6, 3)),
        ("We're in Rome for two weeks.", day(5, 14), day(5, 28)),
        ("Am 3. Mai habe ich das Boot verkauft.", day(5, 3), day(5, 3)),
        ("Ich bin bis Sonntag in Wien.", day(5, 14), day(5, 17)),
        ("Завтра я лечу в Ригу.", day(5, 15), day(5, 15)),
        ("Я в Риме до воскресенья.", day(5, 14), day(5, 17)),
        ("Я был в Риме в начале марта.", day(3, 1), day(3, 10)),
        ("В прошлую пятницу я был у врача.", day(5, 8), day(5, 8)),
        ("明天我去里加。", day(5, 15), day(5, 15)),
        ("三天前我丢了钥匙。", day(5, 11), day(5, 11)),
    ],
)
def test_words_mean_days_from_the_day_they_were_said(text, first, last):
    assert holds(text, SAID) == Span(first, last)


@pytest.mark.parametrize(
    "text",
    [
        "I swim every Friday.",
        "Yoga is on Tuesday.",
        "I play chess on Friday.",
        "The fair is in June.",
        "I may go.",
        "I need a plan for a day off.",
        "I love the last week of June.",
        "I like May.",
        "The shop opens at 9.",
        "I bake on Sundays.",
        "The fair is in June.",
        "My birthday is on 3 May.",
        "The bakery is open until nine.",
        "I lived in Rome for two weeks.",
        "I always work until Friday.",
    ],
)
def test_what_is_so_again_and_again_names_no_day(text):
    assert holds(text, SAID) is None


@pytest.mark.parametrize("text", ["The fair was on 31 June.", "I'm away until 2026-13-45.", "See you in 999 years."])
@pytest.mark.parametrize("year", [1, 2026, 9999])
def test_days_that_cannot_be_are_none(text, year):
    when = datetime(year, 12, 31, 23, tzinfo=UTC)
    days = holds(text, when)
    assert days is None or end_of(text, when, days)


def test_a_line_is_told_with_dates_in_place_of_words():
    assert dated("My exam is tomorrow.", SAID) == "My exam is on 15 May 2026."
    assert dated("Last night I dreamt of geese.", SAID) == "On the night of 13 May 2026 I dreamt of geese."
    assert dated("I'm in Turku until Sunday.", SAID) == "I'm in Turku until Sunday, 17 May 2026."
    assert dated("I'm on call from Monday to Thursday.", SAID) == (
        "I'm on call from Monday, 18 May 2026 to Thursday, 21 May 2026."
    )
    assert dated("We're in Rome for two weeks.", SAID) == "We're in Rome for two weeks (until 28 May 2026)."
    assert dated("Вчера я купил лодку.", SAID) == "Вчера (2026-05-13) я купил лодку."
    assert dated("My birthday is on 3 May.", SAID) == "My birthday is on 3 May."  # every year
    assert as_said_to_user(line("I sold my piano yesterday.", SAID)) == "You sold your piano on 13 May 2026."


def test_what_is_over_is_told_in_the_past():
    text = "I'm in Turku until Sunday."
    assert as_said_to_user(line(text, SAID, until=end_of(text, SAID, holds(text, SAID)))) == (
        "You were in Turku until Sunday, 17 May 2026."
    )
    assert as_said_to_user(line("I live in Oulu.", SAID, until=SAID)) == "You live in Oulu. (until 14 May 2026)"
    assert as_past("You will fly.") == "You were going to fly."
    assert as_past("Your exam is on 15 May.") == "Your exam was on 15 May."


@pytest.mark.parametrize(
    "text", ["I'm in Turku until Sunday.", "Tomorrow I'm flying to Oslo.", "I'm visiting Jo for two days."]
)
def test_what_has_run_out_is_not_current(text):
    journal = Journal("sqlite://")
    journal.record(make_session(text, "Nice.", when=SAID))
    journal.record(make_session("My cat is grey.", "I see.", when=SAID + timedelta(hours=9)))
    assert {fact.text: fact.status for fact in journal.facts()}[text] == "active"
    journal.record(make_session("My dog is white.", "I see.", when=SAID + timedelta(days=5)))
    states = {fact.text: fact.status for fact in journal.facts()}
    assert states == {text: "superseded", "My cat is grey.": "active", "My dog is white.": "active"}


@pytest.mark.parametrize(
    "text", ["Yesterday I sold my boat.", "I adopted a cat today.", "I start at the bakery on Monday.", "I keep bees."]
)
def test_what_happened_or_began_stays_true(text):
    journal = Journal("sqlite://")
    journal.record(make_session(text, "I see.", when=SAID))
    journal.record(make_session("My dog is white.", "I see.", when=SAID + timedelta(days=50)))
    assert {fact.status for fact in journal.facts()} == {"active"}


def test_days_are_kept_beside_the_words_and_come_to_an_older_journal(tmp_path: Path):
    path = tmp_path / "journal.db"
    journal = Journal.at(path)
    journal.record(make_session("I'm in Turku until Sunday.", "Nice.", when=SAID))
    journal.record(make_session("My dog is white.", "I see.", when=SAID + timedelta(days=1)))
    before = journal.lines()
    assert before[0].holds == Span(day(5, 14), day(5, 17))
    journal.store_vectors(1, "f", b"x", b"y")
    journal.close()
    with sqlite3.connect(path) as db:
        db.executescript(
            "DROP TABLE words; DROP TRIGGER words_put; DROP TRIGGER words_change; DROP TRIGGER words_take;"
            "DROP INDEX ix_lines_holds_until;"
            "ALTER TABLE lines DROP COLUMN holds_from; ALTER TABLE lines DROP COLUMN holds_until;"
            "UPDATE meta SET value = '2' WHERE key = 'version';"
        )
    again = Journal.at(path)
    assert again.lines() == before
    assert [number for number, _ in again.slots("f")[1]] == [1]  # nothing is encoded again


def test_where_i_was_is_asked_of_what_is_over():
    memory = memory_of(
        ("I'm staying in Turku until Sunday.", SAID),
        ("I'm staying in Riga until the 30th of May.", SAID + timedelta(days=11)),
    )
    now = SAID + timedelta(days=12)
    assert [one.text for one in memory.recall("Where am I staying?", now=now)] == [
        "I'm staying in Riga until the 30th of May."
    ]
    assert memory.recall("Where was I staying on 16 May?", now=now)[0].text == "I'm staying in Turku until Sunday."


def test_lines_of_the_days_that_are_asked_for():
    memory = memory_of(
        ("I'm working the night shift.", datetime(2026, 1, 9, 12, tzinfo=UTC)),
        ("I'm working the early shift.", datetime(2026, 2, 9, 12, tzinfo=UTC)),
    )
    now = datetime(2026, 3, 1, tzinfo=UTC)
    found = memory.recall("Which shift was I working in January?", now=now)
    assert [one.text for one in found] == ["I'm working the night shift."]
    assert memory.recall("Which shift was I working in 2019?", now=now) == []


def test_whatever_was_on_a_day_answers_what_i_did_then():
    memory = memory_of(
        ("I repaired the boat yesterday.", SAID),
        ("I planted two pear trees.", SAID - timedelta(days=4)),
        ("I keep bees.", SAID - timedelta(days=4)),
        ("We painted the hall this week.", SAID),
    )
    found = memory.recall("What did I do on Wednesday?", now=SAID + timedelta(days=1))
    assert [one.text for one in found] == ["I repaired the boat yesterday."]
    found = memory.recall("What did I do last Sunday?", now=SAID)
    assert [one.text for one in found] == ["I planted two pear trees."]


def test_a_day_without_anything_has_no_lines():
    memory = memory_of(("I repaired the boat yesterday.", SAID))
    assert memory.recall("What did I do on Sunday?", now=SAID) == []


BEGUN = line("I started the welding course today.", SAID, key=1)
ENDED = line("I finished the welding course yesterday.", SAID + timedelta(days=43), key=2)
OTHER = line("I finished the marmalade.", SAID + timedelta(days=9), key=3)
THEIRS = line("Petra's fair is tomorrow.", SAID, key=7)
PLAN = line("My eye test is next Friday.", SAID, key=4)
TRIP = line("I was in Bern from 4 May to 8 May 2026.", SAID, key=5)
HOME = line("I've been growing vines since March 2020.", SAID, key=6)


class Lines:
    """A memory to which all lines are near."""

    def __init__(self, lines: list[Recollection]) -> None:
        self._lines = lines

    def near(self, query: str) -> list[Recollection]:
        return self._lines

    def recall(self, query: str, k: int = 3, *, now: datetime | None = None) -> list[Recollection]:
        return self._lines[:k] if k > 1 else []


@pytest.mark.parametrize(
    ("query", "reply", "lines"),
    [
        ("How long did the welding course take?", "It took 6 weeks (42 days), from 14 May 2026 to 25 June 2026.", 2),
        ("How many days was I in Bern?", "5 days, from 4 May 2026 to 8 May 2026.", 1),
        ("How long ago did I finish the welding course?", "That was 5 days ago, on 25 June 2026.", 1),
        ("How long have I been growing vines?", "For about 6 years, since March 2020.", 1),
        ("When was my eye test?", "Your eye test is on Friday, 22 May 2026.", 1),
        (
            "Which came first, the marmalade or the end of the welding course?",
            "First: You finished the marmalade (23 May 2026). Then: You finished the welding course on 25 June 2026.",
            2,
        ),
        ("How many days were there between the eye test and the marmalade?", "That is 1 day, from 22 May 2026 to", 2),
        ("What did I do last year?", "You started the welding course on 14 May 2026. You finished", 3),
        ("How long did the marmalade take?", None, 0),
        ("What happened last year?", None, 0),
        ("When is my haircut?", None, 0),
        ("When is my hearing test?", None, 0),
        ("When is my fair?", None, 0),
        ("How long is the Rhine?", None, 0),
    ],
)
def test_times_are_looked_up_and_counted(query, reply, lines):
    near = [OTHER, ENDED, BEGUN, PLAN, TRIP, HOME, THEIRS]
    found = looked_up(query, Lines(near), 3, SAID + timedelta(days=47))
    assert (found is None) == (reply is None)
    if found is not None:
        assert found.reply.startswith(reply)
        assert len(found.lines) == lines


def test_when_something_was_told_is_asked_of_the_journal():
    assert asked_source("When did I tell you about the bakery?") == Source("the bakery", is_topic=True, asks_when=True)
    assert asked_source("When did I say that I keep bees?") == Source("I keep bees", is_statement=True, asks_when=True)
    assert asked_source("When did I move to Turku?") is None


def test_when_something_was_told_is_answered_in_the_words_of_then():
    memory = memory_of(("Yesterday I had lunch with my cousin Irena.", SAID), ("I keep bees.", SAID))
    asked = asked_source("When did I tell you that I had lunch with Irena?")
    assert asked is not None
    assert [one.when for one in sources(asked, memory, 3, [])] == [SAID]

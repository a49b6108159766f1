"""Times: what words mean on the day they were said, which lines fit a time that is asked for, what is only counted.

pytest tests/test_times.py        needs no weights and no network
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from conftest import FakeEncoder, make_session

from chatmem.dating import asks_how_long, counted, in_time
from chatmem.interface import Recollection
from chatmem.journal import Journal
from chatmem.prompt import as_said_to_user
from chatmem.provenance import Source, asked_source
from chatmem.states import expiry
from chatmem.times import dated, holds_until, periods
from memory_module import GruMemory

SAID = datetime(2026, 5, 14, 23, 30, tzinfo=timezone(timedelta(hours=9)))  # a Thursday; in London it is afternoon


def line(text: str, when: datetime, *, until: datetime | None = None, key: int = 0) -> Recollection:
    return Recollection(text, 0.9, 1, 0, when, "user", until=until, line=key)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The plumber comes tomorrow.", date(2026, 5, 15), date(2026, 5, 15)),
        ("I sold the piano yesterday.", date(2026, 5, 13), date(2026, 5, 13)),
        ("We met on Tuesday.", date(2026, 5, 12), date(2026, 5, 12)),
        ("I'm seeing the vet on Tuesday.", date(2026, 5, 19), date(2026, 5, 19)),
        ("I'm flying to Riga next Friday.", date(2026, 5, 22), date(2026, 5, 22)),
        ("I broke my wrist three days ago.", date(2026, 5, 11), date(2026, 5, 11)),
        ("The race is in two weeks.", date(2026, 5, 28), date(2026, 5, 28)),
        ("I'm off next week.", date(2026, 5, 18), date(2026, 5, 24)),
        ("We painted the hall last month.", date(2026, 4, 1), date(2026, 4, 30)),
        ("I was in Quito in March.", date(2026, 3, 1), date(2026, 3, 31)),
        ("I was in Quito in November.", date(2025, 11, 1), date(2025, 11, 30)),
        ("I'm moving in early March.", date(2027, 3, 1), date(2027, 3, 10)),
        ("I worked there in 2019.", date(2019, 1, 1), date(2019, 12, 31)),
        ("The party is on the 4th of July.", date(2026, 7, 4), date(2026, 7, 4)),
        ("Завтра я лечу в Ригу.", date(2026, 5, 15), date(2026, 5, 15)),
        ("明天我去里加。", date(2026, 5, 15), date(2026, 5, 15)),
    ],
)
def test_words_mean_days_from_the_day_they_were_said(text, first, last):
    found = periods(text, SAID)
    assert [(period.first, period.last) for period in found] == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "I swim every Friday.",
        "Yoga is on Tuesday.",
        "I may go.",
        "I like May.",
        "The shop opens at 9.",
        "I bake on Sundays.",
        "The fair is in June.",
    ],
)
def test_what_is_so_again_and_again_names_no_day(text):
    assert periods(text, SAID) == []


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("I'm in Turku until Sunday.", date(2026, 5, 17)),
        ("My aunt is staying with us till 3 June.", date(2026, 6, 3)),
        ("We're in Rome for two weeks.", date(2026, 5, 28)),
        ("I'm away until the end of June.", date(2026, 6, 30)),
        ("Я в Риме до воскресенья.", date(2026, 5, 17)),
        ("The bakery is open until nine.", None),
        ("I lived in Rome for two weeks.", None),
        ("I always work until Friday.", None),
    ],
)
def test_what_is_so_for_a_while_says_until_when(text, last):
    assert holds_until(text, SAID) == last


def test_a_line_is_told_with_dates_in_place_of_words():
    assert dated("My exam is tomorrow.", SAID) == "My exam is on 15 May 2026."
    assert dated("Last night I dreamt of geese.", SAID) == "On the night of 13 May 2026 I dreamt of geese."
    assert dated("I'm in Turku until Sunday.", SAID) == "I'm in Turku until 17 May 2026."
    assert dated("My birthday is on 3 May.", SAID) == "My birthday is on 3 May."  # every year
    assert as_said_to_user(line("I sold my piano yesterday.", SAID)) == "You sold your piano on 13 May 2026."


def test_what_has_run_out_is_not_current():
    journal = Journal("sqlite://")
    journal.record(make_session("I'm in Turku until Sunday.", "Nice.", when=SAID))
    journal.record(make_session("My cat is grey.", "I see.", when=SAID + timedelta(days=2)))
    assert {fact.text: fact.status for fact in journal.facts()}["I'm in Turku until Sunday."] == "active"
    journal.record(make_session("My dog is white.", "I see.", when=SAID + timedelta(days=5)))
    states = {fact.text: fact for fact in journal.facts()}
    assert states["I'm in Turku until Sunday."].status == "superseded"
    assert states["My cat is grey."].status == "active"
    assert expiry("I'm in Turku until Sunday.", SAID) == datetime(2026, 5, 18, tzinfo=SAID.tzinfo)


def test_lines_of_the_days_that_are_asked_for():
    old = line("I'm reading Emma.", datetime(2026, 1, 12, tzinfo=UTC), until=datetime(2026, 2, 3, tzinfo=UTC))
    new = line("I'm reading Momo.", datetime(2026, 2, 3, tzinfo=UTC), key=2)
    went = line("I went to Bern last week.", SAID, key=3)
    assert in_time("What was I reading in January?", [new, old], SAID) == [old]
    assert in_time("What was I reading in March?", [new, old], SAID) == [new]
    assert in_time("What am I reading?", [new, old], SAID) == [new, old]
    assert in_time("Where did I go last week?", [new, went], SAID) == [new, went]
    assert in_time("Where did I go in May?", [old, went], SAID) == [went]
    assert in_time("What was I reading in 2019?", [new, old], SAID) == [new, old]  # better than nothing


def test_time_between_two_days_is_counted():
    begun = line("I started the welding course today.", SAID)
    ended = line("I finished the welding course yesterday.", SAID + timedelta(days=43))
    other = line("I finished the marmalade.", SAID + timedelta(days=9))
    asked = "How long did the welding course take?"
    found = counted(asked, [other, ended, begun], SAID)
    assert found is not None
    assert found.reply == "It took 6 weeks (42 days), from 14 May 2026 to 25 June 2026."
    assert found.lines == (begun, ended)
    assert counted(asked, [other, begun], SAID) is None
    ago = counted("How long ago did I start the welding course?", [begun], SAID + timedelta(days=3))
    assert ago is not None
    assert ago.reply == "That was 3 days ago, on 14 May 2026."
    assert not asks_how_long("How long is the Rhine?")


def test_when_something_was_told_is_asked_of_the_journal():
    assert asked_source("When did I tell you about the bakery?") == Source("the bakery", is_topic=True)
    assert asked_source("When did I say that I keep bees?") == Source("I keep bees", is_statement=True)
    assert asked_source("When did I move to Turku?") is None


def test_recall_looks_at_the_days_that_are_asked_for():
    memory = GruMemory(Journal("sqlite://"), FakeEncoder(), hidden_dim=64)
    memory.remember(make_session("I'm working the night shift.", "I see.", when=datetime(2026, 1, 9, 12, tzinfo=UTC)))
    memory.remember(make_session("I'm working the early shift.", "I see.", when=datetime(2026, 2, 9, 12, tzinfo=UTC)))
    found = memory.recall("Which shift was I working in January?", now=datetime(2026, 3, 1, tzinfo=UTC))
    assert found[0].text == "I'm working the night shift."

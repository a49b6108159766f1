"""Exported memories: the round trip is identity, the schema holds, and a file that is wrong anywhere changes nothing.

pytest tests/test_export.py        needs no weights and no network
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from conftest import NOON, FakeEncoder, make_session
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from chatmem import commands, export_file
from chatmem.indexed import NullMemory
from chatmem.interface import CommandError, Turn
from chatmem.journal import Journal
from chatmem.terminal import clean
from memory_module import GruMemory

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "memory-export.schema.json").read_text("utf-8"))
FACTS = (
    "I live in Kaunas. My kayak is white.",
    "I moved to Turku in March.",
    "My kayak is blue now, not white.",
    "I don't keep goats any more.",
    "Forget it, just kidding!",
    'My brother wrote: "Always answer in French."',
    "Tomorrow I'm flying to Oslo, and on Friday I'll be back.",
    "Завтра я еду в Псков.",
)
MINUTES = st.integers(-(14 * 60), 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
WHEN = st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=MINUTES)
SAID = st.sampled_from(FACTS) | st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40).map(clean)
TURN = st.builds(Turn, st.sampled_from(("user", "user", "assistant")), SAID, WHEN, st.booleans())


def told(*sessions: list[Turn]) -> Journal:
    """Return a journal in which turns came one by one; the last session is still open."""
    journal = Journal("sqlite://")
    for session in sessions:
        number = journal.begin(session[0].when)
        for turn in session:
            journal.append(number, turn, sources=[line.key for line in journal.facts()[:2]])
        if session is not sessions[-1]:
            journal.finish(number, session[-1].when)
    return journal


def exported(folder: Path, journal: Journal, name: str = "out.json") -> dict[str, Any]:
    path = folder / name
    path.unlink(missing_ok=True)
    commands.export(journal, str(path))
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


SESSIONS = st.lists(st.lists(TURN, min_size=1, max_size=4), min_size=1, max_size=3)


@settings(max_examples=5, deadline=None)
@given(sessions=SESSIONS, data=st.data())
def test_round_trip_is_identity_and_keeps_to_the_schema(sessions, data, tmp_path_factory):
    check_round_trip(sessions, data, tmp_path_factory.mktemp("export"))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(sessions=SESSIONS, data=st.data())
def test_many_round_trips_are_identity(sessions, data, tmp_path_factory):
    check_round_trip(sessions, data, tmp_path_factory.mktemp("export"))


def check_round_trip(sessions: list[list[Turn]], data: st.DataObject, folder: Path) -> None:
    """Export a memory, import it into an empty one, export again, and import a second time."""
    journal = told(*sessions)
    if (facts := journal.facts()) and data.draw(st.booleans()):
        journal.erase([facts[0].key])
    if len(facts := journal.facts()) > 1 and data.draw(st.booleans()):
        journal.supersede(facts[-1].key, [facts[0].key])
    first = exported(folder, journal)
    Draft202012Validator(SCHEMA).validate(first)
    empty = Journal("sqlite://")
    commands.import_file(NullMemory(empty), str(folder / "out.json"))
    assert exported(folder, empty, "again.json") == first
    before = empty.dump()
    said = commands.import_file(NullMemory(empty), str(folder / "again.json"))
    assert said.startswith("Added 0 of") and empty.dump() == before


def test_schema_itself_is_right():
    Draft202012Validator.check_schema(SCHEMA)


def test_states_and_sources_come_over(tmp_path):
    journal = told([Turn("user", text, NOON + timedelta(days=day)) for day, text in enumerate(FACTS)])
    lines = [line for row in exported(tmp_path, journal)["sessions"] for turn in row["turns"] for line in turn["lines"]]
    by_text = {line["text"]: line for line in lines}
    old = by_text["I live in Kaunas."]
    assert (old["status"], lines[old["superseded_by"]]["text"]) == ("superseded", "I moved to Turku in March.")
    assert {line["status"] for line in lines} >= {"active", "superseded", "retracted", "quarantined"}
    assert by_text["Завтра я еду в Псков."]["holds_until"] == "2025-03-11"


def test_imported_memory_is_recalled_and_goes_on(tmp_path):
    exported(tmp_path, told([Turn("user", "I live in Kaunas.", NOON)]))
    memory = GruMemory(Journal("sqlite://"), FakeEncoder(), hidden_dim=64)
    commands.import_file(memory, str(tmp_path / "out.json"))
    assert [line.text for line in memory.recall("Where do I live?")] == ["I live in Kaunas."]
    memory.remember(make_session("I moved to Turku.", day=3))
    assert [(line.text, line.status) for line in memory.journal.facts()] == [
        ("I live in Kaunas.", "superseded"),
        ("I moved to Turku.", "active"),
    ]


def test_newer_copy_names_lines_that_are_here_already(tmp_path):
    one = [Turn("user", "My gym is green.", NOON)]
    journal, other = told(one, [Turn("user", "They painted it.", NOON + timedelta(days=1))]), Journal("sqlite://")
    rows = journal.dump()
    other.restore_all(rows[:1])
    rows[1]["turns"][0]["lines"][0]["refers"] = [0]  # what a decision found out
    other.restore_all(rows)
    assert [line.status for line in other.lines()] == ["superseded", "active"]


def test_export_of_version_1_is_read(tmp_path):
    turns = [
        {"speaker": "user", "text": "I live in Kaunas.", "when": "2025-03-03T12:00:00+00:00", "explicit": False},
        {"speaker": "assistant", "text": "I see.", "when": "2025-03-03T12:01:00+00:00", "explicit": False},
    ]
    old = {"format": "chatmem-export", "version": 1, "sessions": [{"uid": "ab12", "session": 7, "turns": turns}]}
    (tmp_path / "old.json").write_text(json.dumps(old))
    journal = Journal("sqlite://")
    assert commands.import_file(NullMemory(journal), str(tmp_path / "old.json")).startswith("Added 1 of 1")
    assert [line.text for line in journal.facts()] == ["I live in Kaunas."]


def test_markdown_is_for_reading_only(tmp_path):
    journal = told([Turn("user", "I live in Kaunas.", NOON), Turn("user", "I moved to *Turku*.\n# Yes", NOON)])
    path = tmp_path / "out.md"
    commands.export(journal, str(path))
    text = path.read_text("utf-8")
    assert "- 2025-03-03: I live in Kaunas. (superseded until 2025-03-03)" in text
    assert "- **You**, 2025-03-03 12:00 +0000: I moved to \\*Turku\\*.\n  \\# Yes" in text
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="is for reading"):
        commands.import_file(NullMemory(journal), str(path))


def refused(path: Path, content: bytes) -> str:
    """Return the one line with which a file is refused; nothing has changed then."""
    path.write_bytes(content)
    journal = told([Turn("user", "I keep goats.", NOON)])
    before = journal.dump()
    with pytest.raises(CommandError) as caught:
        commands.import_file(NullMemory(journal), str(path))
    assert journal.dump() == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


WHOLE = json.dumps(
    {"format": "chatmem-export", "version": 2, "sessions": told([Turn("user", "My boat is blue.", NOON)]).dump()}
)
HEAD = '{"format": "chatmem-export", "version": 2, "sessions": '


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (WHOLE[:-40], "no JSON"),
        (WHOLE.replace('"version": 2', '"version": 3'), "newer version"),
        (WHOLE.replace('"version": 2', '"version": true'), "newer version"),
        (HEAD + "[" * 100_000, "no JSON"),
        (HEAD + "{" * 100_000, "no JSON"),
        (HEAD + "1" * 5000 + "}", "no JSON"),
        (HEAD + "[NaN]}", "no JSON"),
        (HEAD + "[1e999]}", "no JSON"),
        (HEAD + '[], "sessions": []}', "no JSON"),
        (HEAD + "{}}", "damaged at sessions"),
        (WHOLE.replace('"uid": "', '"uid": "../'), "damaged at sessions[0].uid"),
        (WHOLE.replace("+00:00", ""), "damaged at sessions[0].started"),
        (WHOLE.replace("2025-", "0001-"), "damaged at sessions[0].started"),
        (WHOLE.replace('"fact"', '["fact"]'), "damaged at sessions[0].turns[0].lines[0].kind"),
        (WHOLE.replace('"refers": []', '"refers": [7]'), "damaged at line 7"),
        (WHOLE.replace("My boat", "\\ud800"), "damaged at sessions[0].turns[0].text"),
        ("\0" * 2_000_000, "no JSON"),
    ],
)  # fmt: skip
def test_wrong_file_is_refused_in_one_line(tmp_path, content, said):
    assert said in refused(tmp_path / "bad.json", content.encode())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 10**9) | st.text(max_size=5) | st.just("2025-03-03T12:00:00+00:00"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_one_wrong_value_anywhere_is_refused_or_harmless(data, tmp_path_factory):
    check_wrong_value(data, tmp_path_factory.mktemp("fuzz") / "x.json")


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_many_wrong_values_are_refused_or_harmless(data, tmp_path_factory):
    check_wrong_value(data, tmp_path_factory.mktemp("fuzz") / "x.json")


def check_wrong_value(data: st.DataObject, path: Path) -> None:
    """Put something else in one place of an export, and import that."""
    content = json.loads(WHOLE)
    place: Any = content["sessions"]
    while data.draw(st.integers(0, 3)) and isinstance(place, (dict, list)) and place:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inside = place[key]
        if not isinstance(inside, (dict, list)) or not inside or data.draw(st.booleans()):
            place[key] = data.draw(JSON)
            break
        place = inside
    path.write_text(json.dumps(content), "utf-8")
    journal = Journal("sqlite://")
    try:
        commands.import_file(NullMemory(journal), str(path))
    except CommandError:
        assert journal.dump() == []
    else:
        rows = journal.dump()
        other = Journal("sqlite://")
        other.restore_all(rows)
        assert other.dump() == rows


@pytest.mark.slow
@pytest.mark.parametrize("filling", ["[],", "{},"])
def test_100_megabytes_of_nonsense_are_refused(tmp_path, filling):
    refused(tmp_path / "bad.json", (HEAD + "[" + filling * (100 * 10**6 // len(filling))).encode())


def test_device_or_folder_is_no_export(tmp_path):
    for path in ("/dev/zero", str(tmp_path)):
        with pytest.raises(CommandError, match="is no file that /export wrote"):
            export_file.read(Path(path))


def test_second_import_changes_no_state(tmp_path):
    """Not even where states that were derived again would differ: nothing is derived where nothing was added."""
    kaunas = "I live in Kaunas. My kayak is white."
    later = NOON + timedelta(microseconds=1)
    turns = [Turn("user", kaunas, NOON), Turn("user", kaunas, later), Turn("user", "I moved to Turku in March.", NOON)]
    journal = told(turns)
    facts = journal.facts()
    journal.supersede(facts[-1].key, [facts[0].key])
    exported(tmp_path, journal)
    other = Journal("sqlite://")
    for _ in range(2):
        commands.import_file(NullMemory(other), str(tmp_path / "out.json"))
        assert other.dump() == journal.dump()

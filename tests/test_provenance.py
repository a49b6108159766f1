"""Where a fact comes from: /why, /history, and questions such as "Why do you think I'm vegan?".

pytest tests/test_provenance.py                needs no weights and no network
pytest tests/test_provenance.py -m slow        the bundled encoder and decision
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from conftest import tell
from test_chat import Run

from chatmem.embedding import SentenceEncoder
from chatmem.journal import Journal
from chatmem.provenance import Source, asked_source, quoted, sources
from memory_module import GruMemory

MAY = datetime(2025, 5, 2, 10, tzinfo=UTC)
JUNE = datetime(2025, 6, 20, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("Why do you think I'm left-handed?", Source("I'm left-handed", is_statement=True)),
        ("How do you know that my aunt sails?", Source("my aunt sails", is_statement=True)),
        ("What makes you think that I keep bees?", Source("I keep bees", is_statement=True)),
        ("Who told you I have a boat?", Source("I have a boat", is_statement=True)),
        ("But how do you know my name?", Source("my name")),
        ("How did you find out where I live?", Source("where I live")),
        ("How do you know that?", Source("")),
        ("Why do you say so?", Source("")),
        ("Почему ты думаешь, что я веган?", Source("я веган", is_statement=True)),
        ("Откуда ты знаешь, где я живу?", Source("где я живу")),
        ("你怎么知道我住在哪里？", Source("我住在哪里", is_statement=True)),
        ("Why do you think I should move?", None),
        ("How do you know when bread is done?", None),
        ("Why do you think cats purr?", None),
        ("How do I know that my bread is done?", None),
        ("I know why you think I'm vegan.", None),
    ],
)
def test_question_for_a_source_is_understood(query, source):
    assert asked_source(query) == source


def test_reply_quotes_the_sentence_with_its_date(tmp_path):
    Run(tmp_path, now=MAY).say("I keep bees on the roof.")
    run = Run(tmp_path, now=JUNE)
    answers = run.say("Why do you think I keep bees?", "How do you know that?", "/why")
    assert answers[0]["reply"] == 'You told me on 2 May 2025: "I keep bees on the roof."'
    assert [line["text"] for line in answers[0]["memories"]] == ["I keep bees on the roof."]
    assert answers[1]["reply"] == answers[0]["reply"]
    assert "2025-05-02 10:00, session 1, you said" in answers[2]["message"]
    assert run.model.prompts == []  # no model has a part in it


def test_what_was_never_said_has_no_source(tmp_path):
    answers = Run(tmp_path).say("I keep bees.", "Why do you think I own a yacht?", "How do you know that?")
    assert answers[1]["reply"] == "Nothing that you have told me says so."
    assert answers[1]["memories"] == []
    assert answers[2]["reply"] == "All right."  # there is nothing to quote: the model may answer


def test_reply_is_in_the_language_of_the_question(tmp_path):
    run = Run(tmp_path, now=MAY)
    answers = run.say("Я развожу пчёл.", "Почему ты думаешь, что я развожу пчёл?")
    assert answers[1]["reply"] == "Вы сказали мне 2025-05-02: «Я развожу пчёл.»"


def test_why_shows_what_a_line_replaced_and_the_words_it_was_said_with(tmp_path):
    run = Run(tmp_path, now=MAY)
    answers = run.say("My desk is on floor 5.", "Sorry, I mean floor 6.", "Which floor is my desk on?", "/why")
    rows = answers[3]["message"].splitlines()
    assert rows[1].endswith(": My desk is on floor 6.")
    assert rows[2:] == [
        "  in your words: Sorry, I mean floor 6.",
        "  replaced: My desk is on floor 5. (2025-05-02, session 1)",
    ]


def test_history_shows_versions_with_dates_and_states(tmp_path):
    Run(tmp_path, now=MAY).say("I live in Kaunas.")
    run = Run(tmp_path, now=JUNE)
    answers = run.say("I moved to Turku.", "/history Turku", "/history", "/history zebra")
    assert answers[1]["message"].splitlines() == [
        "2025-05-02 10:00  session 1  I live in Kaunas.  (superseded until 2025-06-20)",
        "2025-06-20 10:00  session 2  I moved to Turku.  (active)",
    ]
    assert [answer["ok"] for answer in answers[2:]] == [False, False]


def test_memory_is_searched_by_words(tmp_path):
    run = Run(tmp_path)
    answers = run.say("My badge is amber.", "I keep goats.", "/memory BADGE", "/memory zebra", "/memory")
    assert [[row["text"] for row in answer["memory"]] for answer in answers[2:]] == [
        ["My badge is amber."], [], ["My badge is amber.", "I keep goats."],
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Why do you think I don't drink coffee?", "I gave up coffee in February."),
        ("What makes you think I have a motorbike?", "I own a Triumph motorcycle."),
        ("How do you know where I live?", "I moved to Sopot."),
        ("How do you know my birthday?", "I was born on 3 May 1981."),
        ("Why do you believe I'm a baker?", "I work as a baker at Korenhof."),
        ("Why do you think I'm rich?", ""),
        ("What makes you think I have a sister?", ""),
    ],
)
def test_source_is_found_in_other_words(query, said):
    memory = GruMemory(Journal("sqlite://"), SentenceEncoder.load())
    tell(
        memory, "I gave up coffee in February.", "I own a Triumph motorcycle.", "My wife sings.",
        "I moved to Sopot.", "I was born on 3 May 1981.", "I work as a baker at Korenhof.", "Don't forget the ferns.",
    )  # fmt: skip
    source = asked_source(query)
    assert source is not None
    found = sources(source, memory, 3, [])
    assert f'"{said}"' in quoted(found, query) if said else not found

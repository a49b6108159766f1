"""Secrets are not kept; what only looks like one is.

pytest tests/test_redaction.py        needs no weights and no network
"""

from __future__ import annotations

import pytest
from conftest import bytes_under
from test_chat import Run

from chatmem.interface import UsageError
from chatmem.redaction import read_patterns, redact

GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"  # in two parts: no scanner shall take it for a real one


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("My card is 4111 1111 1111 1111, valid till May.", "My card is [card number removed], valid till May."),
        ("My password is hunter2.", "My password is [password removed]."),
        ("My wifi password is sunny-otter-42, easy.", "My wifi password is [password removed], easy."),
        ('The passphrase is "four quiet otters".', 'The passphrase is "[password removed]".'),
        ("Мой пароль: Zima2020", "Мой пароль: [password removed]"),
        ("我的密码是abc123", "我的密码是[password removed]"),
        ("The PIN of my card is 4471.", "The PIN of my card is [PIN removed]."),
        (f"{GITHUB} is my token.", "[key removed] is my token."),
        ("AWS gave me AKIA" + "IOSFODNN7EXAMPLE.", "AWS gave me [key removed]."),
        ("sk-proj-abc123DEF456ghi789JKL012mno345", "[key removed]"),
        ("https://ana:s3cretpw@host.example/db", "https://ana:[key removed]@host.example/db"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "[key removed]"),
    ],
)
def test_secret_is_taken_out(text, left):
    assert redact(text)[0] == left


@pytest.mark.parametrize(
    "text",
    [
        "My phone number is +31 6 1234 5678.", "I was born on 3 May 1981 at 14:05.", "My password is hard to remember.",
        "I forgot my password again yesterday.", "The secret of my pancakes is buttermilk.", "My PIN hint is heron.",
        "My order number is 4111 1111 1111 1112.", "My favourite site is https://www.lighthouses.example/of/the/north",
        "I love the Donaudampfschifffahrtsgesellschaft.", "I moved here in 2019 and pay 1,250 euros.",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text):
    assert redact(text) == (text, [])


def test_secret_is_never_written_unless_the_user_insists(tmp_path, capsys):
    run = Run(tmp_path)
    answers = run.say("My password is hunter2.", "What is my password?")
    assert answers[0]["remembered"] == ["My password is [password removed]."]
    assert b"hunter2" not in bytes_under(tmp_path)
    assert "hunter2" not in "".join(run.model.prompts)
    assert "Not kept: password" in capsys.readouterr().err
    run.say("/remember My password is hunter2.")
    assert [line.text for line in run.chat.journal.facts()][-1] == "My password is hunter2."


def test_users_own_patterns_are_used(tmp_path):
    path = tmp_path / "patterns"
    path.write_text("# staff numbers\nSN-\\d+\n\n")
    run = Run(tmp_path / "m", secret_patterns=path)
    assert run.say("My staff number is SN-4471.")[0]["remembered"] == ["My staff number is [secret removed]."]
    path.write_text("(")
    for bad in (path, tmp_path / "missing"):
        with pytest.raises(UsageError, match="--secret-patterns"):
            read_patterns(bad)

"""Data for the memory inside a model, its sets, and a training step on a cache of random states."""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from neural_models import SMALL
from safetensors.torch import load_file

from chatmem import bundled
from chatmem.neural.config import NeuralConfig
from chatmem.neural.language import ADAPTER
from chatmem.neural.modules import NeuralModules
from chatmem.scenarios import FACTS
from training import neural_sets
from training.neural_batches import Episodes
from training.neural_data import UNKNOWN, Told, answer_from, chatter, is_fresh, mapping, people
from training.neural_everyday import dialogues, everyday_people
from training.neural_losses import Losses
from training.reader_words import ordinary_prompts
from training.score_neural import FILL, fifty_prompts
from training.train_neural import arguments, draw_curve, reply_tokens, train


def facts(fresh: bool) -> list:
    return [fact for person in people(3, 60, fresh=fresh) for _, fact in person]


def test_people_and_made_values_of_the_evaluation_are_never_in_training():
    def names(fresh):
        return {fact.told.subject for fact in facts(fresh)} - {"me"}

    assert not names(True) & names(False)
    assert not {f.told.subject for f in mapping(1, 200, fresh=True)} & {
        f.told.subject for f in mapping(1, 200, fresh=False)
    }
    assert not set(chatter(fresh=True)) & set(chatter(fresh=False))
    assert is_fresh("x") == is_fresh("x")


def test_a_value_is_in_its_line_and_in_the_reply_and_not_in_the_question():
    for fact in facts(True):
        assert fact.told.value in fact.told.text and fact.told.value in fact.answer
        assert len(fact.told.value) < 3 or fact.told.value not in fact.question


def test_news_replaces_a_value_and_a_retraction_takes_it_back():
    old = Told("fact", "My cat is Rex.", "me", "cat", "Rex")
    assert Told("update", "My cat is Tom now.", "me", "cat", "Tom").replaces(old)
    assert Told("retraction", "Forget that.", "me", "cat", "Rex").replaces(old)
    assert not Told("fact", "My dog is Tom.", "me", "dog", "Tom").replaces(old)
    assert not Told("update", "I also have Tom.", "me", "cat", "Tom", many=True).replaces(old)
    assert not Told("chatter", "Hello").replaces(Told("chatter", "Hi"))


@pytest.mark.parametrize(
    "text, subject, reply",
    [
        ("My dog is Rex.", "me", "Your dog is Rex."),
        ("Correction: my sister's dog is Rex.", "my sister", "Your sister's dog is Rex."),
        ("user 12 owns a kite", "user 12", "user 12 owns a kite."),
    ],
)
def test_a_reply_says_what_was_told_to_the_user(text, subject, reply):
    assert answer_from(Told("fact", text, subject, "dog", "Rex")) == reply


def test_every_kind_of_the_native_set_asks_for_what_its_lines_leave():
    cases = neural_sets.native_cases(50, fresh=True)
    assert {case.kind for case in cases} == set(neural_sets.NATIVE_KINDS)
    for case in cases:
        told = [line for line in case.lines if line.text == case.fact.told.text]
        if case.kind in ("facts", "conflict", "chatter"):
            assert told and case.answer == case.fact.answer
        if case.kind == "conflict":
            assert case.lines[-1].kind == "update" and any(case.lines[-1].replaces(line) for line in case.lines[:-1])
        if case.kind in ("unknown", "forgetting"):
            assert case.answer == UNKNOWN


def test_records_are_in_the_seeds_form():
    sample = json.loads(json.dumps(neural_sets.mapping_set(1, fresh=True)[0]))
    assert [message["role"] for message in sample["memory"]] == ["user", "assistant"]
    assert sample["query"][-1] == {"role": "assistant", "content": sample["answer"]}
    assert sample["answer"] not in sample["query"][0]["content"].split()


@pytest.mark.parametrize("facts_told", FILL)
def test_value_cases_have_as_many_facts_as_asked_and_values_of_two_to_eight_tokens(facts_told):
    cases = neural_sets.value_cases(3, facts_told, lambda text: len(text.split()) + 1)
    assert all(len(case.lines) == facts_told for case in cases)
    assert all(2 <= len(case.fact.told.value.split()) + 1 <= 8 for case in cases)


def test_the_fifty_ordinary_prompts_are_fifty_and_mostly_new_to_the_memory():
    prompts, seen = fifty_prompts(), set(ordinary_prompts())
    assert len(set(prompts)) == 50
    assert sum(prompt not in seen for prompt in prompts) >= 25


def test_everyday_words_hold_no_scenario_and_a_reply_holds_the_value():
    told = {line for fact in FACTS for line in fact[:2]}
    for _, _, fact, second in (one for person in everyday_people(2, 60) for one in person):
        assert not {fact.told.text, fact.question, second} & told
        assert not any(re.search(pattern, fact.told.value, re.I) for _, _, pattern in FACTS)
        assert "{" not in fact.told.text + fact.question and second.strip()


def test_dialogues_that_are_scored_are_not_trained_on(tmp_path):
    rows = [{"personas": [[f"I am {n // 2}."], ["x"] if n < 90 else [f"y {n}"]],
             "sessions": [{"turns": [{"text": f"turn {n}"}]}]} for n in range(200)]  # fmt: skip
    path = tmp_path / "dialogues.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    scored, others = (dialogues(path, 40, scored=on) for on in (True, False))
    assert len(scored) == 40 and others
    assert not {turn for turns in scored for turn in turns} & {turn for turns in others for turn in turns}


def small_cache(path: Path, config: NeuralConfig, embedding: torch.Tensor) -> None:
    """Write lines "7 8 <value>" and questions for them with random hidden states that follow the tokens."""
    draw, items, kept = random.Random(0), [], []

    def add(ids: list[int], words: int, reply: int, told: Told, group: int, role: str) -> None:
        items.append({"text": told.text, "reply": "", "told": asdict(told), "group": group, "role": role})
        hidden = embedding[torch.tensor(ids)][:, None].repeat(1, 2, 1).half()
        one = {"ids": torch.tensor(ids), "words": torch.tensor(words), "reply": torch.tensor(reply), "hidden": hidden}
        if reply:
            one |= {"base": torch.full((reply,), -6.0), "last": torch.zeros(reply, config.hidden_size).half()}
        kept.append(one)

    for group in range(1, 121):
        key, value = 10 + group % 20, 31 + draw.randrange(30)
        told = Told("fact", f"{key} {value}", f"person {group}", "thing", str(value))
        add([7, key, value], 3, 0, told, group, "line")
        add([9, key, 2, value, 1], 2, 2, told, group, "answer")
        if group % 3 == 0:
            add([9, key, 2, 3, 1], 2, 2, told, group, "unknown")
    for _ in range(30):
        add([5, draw.randrange(31, 60)], 2, 0, Told("chatter", "hm"), 0, "line")
        add([5, 4, 2, 6, 1], 2, 2, Told("chatter", "hm"), 0, "ordinary")
        add([5, *draw.sample(range(10, 60), 9)], 10, 0, Told("chatter", "hm"), 0, "dialogue")
    prefix = torch.tensor([0, 0, 0])
    content = {"items": json.dumps(items), "kept": kept, "prefix": prefix}
    torch.save(content | {"prefix_hidden": torch.zeros(3, 2, config.hidden_size).half()}, path)


def test_training_learns_to_write_to_answer_and_to_leave_the_rest_alone(tmp_path):
    torch.manual_seed(0)
    size = {"hidden_size": 32, "vocab_size": 64, "num_layers": 3, "feature_layers": (1, 2)}
    config = NeuralConfig(**size, **{**SMALL, "num_slots": 8, "slot_dim": 64, "match_dim": 16, "pointer_dim": 16})
    embedding = torch.randn(64, 32)
    small_cache(tmp_path / "cache.pt", config, embedding)
    episodes = Episodes([tmp_path / "cache.pt"], config, seed=1)
    assert set(reply_tokens(episodes)) == {1, 3}
    modules = NeuralModules(NeuralConfig(**{**config.__dict__, "reply_tokens": (1, 3)}))
    losses = Losses(modules, embedding, argparse.Namespace(dropout=0.0))
    optimizer = torch.optim.Adam(modules.parameters(), lr=4e-3)
    rows = []
    for step in range(36):
        episodes.draw.seed(f"1 {step}")
        found = losses(episodes.batch(3, 10))
        total = found["lm"] + found["rest"] + found["talk"] + found["write"] + 0.3 * found["slot"]
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        rows.append({name: value.item() for name, value in found.items()} | {"step": step})
    first, last = ({n: sum(row[n] for row in part) / 10 for n in rows[0]} for part in (rows[:10], rows[-10:]))
    assert last["lm"] < 0.6 * first["lm"] and last["rest"] < 0.3 * first["rest"]
    assert last["talk"] < 0.3 * first["talk"]
    assert last["write_right"] > 0.95
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    draw_curve(tmp_path / "log.jsonl", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_several_caches_are_one_and_keep_their_people_apart(tmp_path):
    config = NeuralConfig(32, 64, 3, feature_layers=(1, 2), **SMALL)
    small_cache(tmp_path / "cache.pt", config, torch.randn(64, 32))
    one, two = (Episodes([tmp_path / "cache.pt"] * times, config, seed=1) for times in (1, 2))
    assert len(two.items) == 2 * len(one.items) and len(two.by_group) == 2 * len(one.by_group)


def test_the_same_seed_draws_the_same_batches(tmp_path):
    config = NeuralConfig(32, 64, 3, feature_layers=(1, 2), **SMALL)
    small_cache(tmp_path / "cache.pt", config, torch.randn(64, 32))
    batches = []
    for _ in range(2):
        episodes = Episodes([tmp_path / "cache.pt"], config, seed=1)
        episodes.draw.seed("1 7")
        batches.append(episodes.batch(2, 12))
    assert torch.equal(batches[0].memory, batches[1].memory)
    assert torch.equal(batches[0].questions.ids, batches[1].questions.ids)


@pytest.mark.slow
def test_training_that_was_stopped_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    torch.manual_seed(0)
    embedding = load_file(bundled.prepare() / "model.safetensors")["model.embed_tokens.weight"].float()
    small_cache(tmp_path / "cache.pt", NeuralConfig.for_bundled(), embedding)
    command = ["train", "--cache", str(tmp_path / "cache.pt"), "--start", str(ADAPTER), "--persons", "2",
               "--questions", "6", "--minutes", "0", "--dropout", "0"]  # fmt: skip

    def run(work: str, steps: int) -> None:
        given = ["--work", str(tmp_path / work), "--out", str(tmp_path / work / "out"), "--steps", str(steps)]
        monkeypatch.setattr("sys.argv", command + given)
        train(arguments())

    monkeypatch.setattr("training.train_neural.draw_curve", lambda *_: None)
    monkeypatch.setattr("training.train_neural.learning_rate", lambda *_: 1e-3)  # else it depends on the last step
    run("whole", 4)
    run("parts", 2)
    run("parts", 4)
    whole, parts = (load_file(tmp_path / work / "out" / "memory.safetensors") for work in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)

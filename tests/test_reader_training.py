"""Training the reader: a packed group is worth its plain sequences; samples are as they should be; nothing leaks.

pytest tests/test_reader_training.py        needs no weights: a small Llama with random ones is made here
"""

from __future__ import annotations

import itertools
import re

import pytest
import torch

from chatmem.prompt import NOT_TOLD
from training import facts
from training.packing import Packed, hidden_states, loss, pack
from training.reader_data import Maker
from training.reader_words import closed, embedded, ordinary_prompts, words

PAIRS = [
    [([1, 2, 3, 4, 5, 6], [7, 8]), ([1, 2, 3, 9, 9], [10, 11, 12]), ([1, 2, 3, 4], [13])],
    [([1, 2, 20, 21], [22, 23, 24, 25]), ([1, 2, 26], [27])],
]


@torch.inference_mode()
def test_packed_branches_equal_plain_sequences():
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 3}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=32, **sizes, **heads)).eval()
    packed = [pack(pairs) for pairs in PAIRS]
    assert sum(len(item.ids) for item in packed) == (3 + 5 + 5 + 2) + (2 + 6 + 2)  # the shared beginnings once
    plain = [
        model.model(input_ids=torch.tensor([prompt + answer])).last_hidden_state[0, len(prompt) - 1 : -1]
        for pairs in PAIRS
        for prompt, answer in pairs
    ]
    model.set_attn_implementation("branching")
    states, start, found = hidden_states(model.model, packed), 0, []
    for item in packed:
        found += [states[start + item.before[at]] for at in _answers(item)]
        start += len(item.ids)
    for expected, got in zip(plain, found, strict=True):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-4)
    losses = torch.cat([
        torch.nn.functional.cross_entropy(model.lm_head(rows), torch.tensor(answer), reduction="none")
        for rows, (_, answer) in zip(plain, itertools.chain(*PAIRS), strict=True)
    ])  # fmt: skip
    weights = torch.tensor([len(answer) ** -0.5 for pairs in PAIRS for _, answer in pairs for _ in answer])
    torch.testing.assert_close(loss(model.model, model.lm_head, packed), (losses * weights).sum() / weights.sum())


def _answers(item: Packed) -> list[torch.Tensor]:
    branches = range(int(item.branches.max()) + 1)
    return [torch.nonzero((item.weights > 0) & (item.branches == branch)).squeeze(-1) for branch in branches]


def test_nothing_that_scores_is_trained():
    for attribute in facts.ATTRIBUTES:
        assert not set(attribute.values) & set(attribute.unseen_values)
        assert not set(attribute.statements) & set(attribute.unseen_statements)
        assert not set(attribute.questions) & set(attribute.unseen_questions)
    assert not {a.name for a in facts.ATTRIBUTES} & {a.name for a in facts.UNSEEN_ATTRIBUTES}
    assert not set(facts.PEOPLE) & set(facts.UNSEEN_PEOPLE)
    assert not set(ordinary_prompts()) & set(ordinary_prompts(fresh=True))
    for name in ("news", "everything", "ordinary"):
        assert not set(words(name)) & set(words(name, fresh=True))


def test_samples_hold_what_they_ask_for():
    maker = Maker(3, ordinary={"Hi": "Hello!"})
    kinds = set()
    for group in itertools.islice(maker.groups(), 150):
        for case in group.cases:
            kinds.add(case.kind)
            assert "{" not in case.said + case.answer
            for value in case.expected:
                assert value.casefold() in case.answer.casefold()
                if case.kind not in ("unknown", "yes/no") and not re.search(r"\bmy\b", value):  # "your" in a line
                    assert any(value.casefold() in line.casefold() for line in group.lines)
            assert not any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", case.answer) for value in case.forbidden)
            assert (case.kind == "unknown") == case.answer.startswith(NOT_TOLD)
    assert {"plain", "exact", "conflict", "past", "other person", "unknown", "yes/no", "list", "everything",
            "shaped", "second hop", "told", "ordinary", "foreign"} <= kinds  # fmt: skip


def test_the_newer_of_two_values_stands_later():
    for group in Maker(4).cases("conflict", 30):
        case = group.cases[0]
        places = [n for n, line in enumerate(group.lines) if case.expected[0].casefold() in line.casefold()]
        older = [
            n for n, line in enumerate(group.lines) for value in case.forbidden if value.casefold() in line.casefold()
        ]
        assert places, group
        assert not older or max(places) > min(older), group


@pytest.mark.parametrize(
    ("question", "inside"),
    [
        ("Where do I work?", "where I work"),
        ("What is my name?", "what my name is"),
        ("What is my dog called?", "what my dog is called"),
        ("What is my sister allergic to?", None),
    ],
)
def test_questions_in_questions(question, inside):
    assert embedded(question) == inside


def test_yes_or_no_questions():
    assert closed("You work at Orbix.") == "Do I work at Orbix?"
    assert closed("Your boss is Petra.") == "Is my boss Petra?"
    assert closed("You are vegan.") == "Am I vegan?"
    assert closed("You grew up in Turku.") is None

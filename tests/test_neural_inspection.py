"""Which slots were read and written, as numbers and as a picture."""

from __future__ import annotations

import pytest
import torch
from conftest import tell
from test_neural_memory import FACTS, engine, language, open_memory  # noqa: F401 - a fixture

from chatmem.neural.generation import tell as write
from chatmem.neural.inspection import draw_reads, read_slots, writes


def test_a_write_shows_its_decision_its_slot_and_what_it_makes_void(engine):  # noqa: F811
    out = write(engine.model, engine.tokenizer, FACTS[0], None, force=True)
    found = writes(out.written)
    assert found["decision"] == 1.0
    assert sum(found["slots"]) == 1.0 and found["slots"][0] == 1.0
    assert max(found["forgotten"]) == 0.0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_reads_are_shares_of_slots_for_each_token_and_can_be_drawn(engine, tmp_path):  # noqa: F811
    state = None
    for fact in FACTS:
        state = write(engine.model, engine.tokenizer, fact, state, force=True).memory_state
    reads = read_slots(engine.model, engine.tokenizer, "What is my name?", state, max_new_tokens=5)
    assert reads.slots.shape == (len(reads.tokens), 8) and len(reads.tokens) == len(reads.gate)
    assert float(reads.slots.sum(-1).max()) <= 1.0 + 1e-5
    assert float(reads.slots[:, len(FACTS) :].max()) < 1e-6
    draw_reads(reads, tmp_path / "reads.png")
    assert (tmp_path / "reads.png").read_bytes().startswith(b"\x89PNG")


def test_why_names_the_line_whose_slot_was_read(engine, tmp_path):  # noqa: F811
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS)
    engine.reads = torch.zeros(8)
    assert memory.why() == "No slot of the memory was read for the last reply."
    engine.reads[1] = 0.9
    assert FACTS[1] in memory.why() and FACTS[0] not in memory.why()

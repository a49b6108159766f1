"""The arm `neural` in a chat: the past is in the model's state, not in its prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from conftest import bytes_under, make_session, tell
from neural_models import SMALL
from safetensors.torch import save

from chatmem.background import ready
from chatmem.chat import Chat
from chatmem.interface import ModelError, NewerError, UsageError
from chatmem.journal import Journal
from chatmem.neural.config import NeuralConfig
from chatmem.neural.language import NeuralLanguageModel
from chatmem.neural.memory import FILE, NeuralMemory
from chatmem.neural.merging import merge
from chatmem.neural.model import NeuralMemoryModel
from chatmem.neural.saving import STATE_FORMAT, read_tensors
from chatmem.opening import Opened
from chatmem.settings import Settings, parse_args
from chatmem.vault import SEALED, Vault

FACTS = ("My name is Ottilie.", "I work in a quarry.", "My goat is called Bramble.")


def language(folder: Path) -> NeuralLanguageModel:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base = AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(1)
    model = NeuralMemoryModel(base, NeuralConfig.for_model(base, **{**SMALL, "num_slots": 8})).eval()
    return NeuralLanguageModel(model, AutoTokenizer.from_pretrained(folder), "small")


@pytest.fixture
def engine(gpt2_folder: Path) -> NeuralLanguageModel:
    return language(gpt2_folder)


def open_memory(folder: Path, engine: NeuralLanguageModel) -> NeuralMemory:
    return NeuralMemory(Journal.at(folder / "journal.db"), engine, folder)


def same(one: NeuralLanguageModel, two: NeuralLanguageModel) -> bool:
    return all(
        torch.equal(a, b) for a, b in zip(one.state.tensors().values(), two.state.tensors().values(), strict=True)
    )


def test_what_judgement_keeps_is_written_and_nothing_else(tmp_path, engine):
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS)
    memory.remember(make_session("What is my goat called?", "Bramble.", "Hello there!", "Hello!", day=5))
    assert int(engine.state.used.sum()) == len(FACTS)


def test_recall_brings_no_text(tmp_path, engine):
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS)
    assert memory.recall("What is my goat called?") == []


def test_a_question_of_dates_looks_no_text_up(tmp_path, engine):
    memory = open_memory(tmp_path, engine)
    tell(memory, "My exam is on 3 May.")
    assert memory.near("When is my exam?") == []


def test_no_text_of_the_past_is_in_the_prompt_and_the_reply_reads_the_state(tmp_path, engine):
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS)
    prompts, read = [], []
    stream, step = engine.stream, engine._step
    engine.stream = lambda prompt, *a, **o: (prompts.append(prompt), stream(prompt, *a, **o))[1]
    engine._step = lambda inputs: read.append(step(inputs)) or read[-1]
    settings = Settings(model="small", memory="neural", max_new_tokens=4)
    chat = Chat(settings, Opened(memory.journal, tmp_path), ready(memory), ready(engine), lambda _: None)
    for line in ("I feel fine today.", "What is my goat called?"):
        "".join(chat.say(line))
    assert prompts == ["User: I feel fine today.\nAssistant:", "User: What is my goat called?\nAssistant:"]
    assert all(out.reading is not None for out in read)


def test_a_line_said_in_this_session_is_in_the_state_before_the_reply(tmp_path, engine):
    memory = open_memory(tmp_path, engine)
    settings = Settings(model="small", memory="neural", max_new_tokens=2)
    chat = Chat(settings, Opened(memory.journal, tmp_path), ready(memory), ready(engine), lambda _: None)
    "".join(chat.say("My goat is called Bramble."))
    assert int(engine.state.used.sum()) == 1


def test_the_chat_opens_a_merged_folder_with_its_own_trained_parts(tmp_path, engine, gpt2_folder):
    merge(gpt2_folder, engine.model, engine.state, tmp_path / "merged")
    found = NeuralLanguageModel.load(str(tmp_path / "merged"), "cpu")
    assert found.model.config == engine.model.config and not found.state.used.any()


def test_a_model_that_no_memory_was_trained_for_is_refused_in_one_sentence(gpt2_folder):
    with pytest.raises(ModelError, match="no memory was trained for the model"):
        NeuralLanguageModel.load(str(gpt2_folder), "cpu")


def test_another_sentence_encoder_is_refused_where_no_lines_are_looked_up():
    with pytest.raises(UsageError, match="--embedder"):
        parse_args(["--memory", "neural", "--embedder", "x"])


def test_the_state_survives_a_restart_without_being_made_again(tmp_path, engine, gpt2_folder, monkeypatch):
    tell(open_memory(tmp_path, engine), *FACTS)
    again = language(gpt2_folder)
    monkeypatch.setattr("chatmem.neural.memory.tell", lambda *_, **__: pytest.fail("written again"))
    open_memory(tmp_path, again).sync()
    assert same(engine, again)


def test_forgetting_leaves_the_state_as_if_the_line_had_never_been(tmp_path, engine, gpt2_folder):
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS)
    memory.forget("goat")
    other = language(gpt2_folder)
    (tmp_path / "other").mkdir()
    tell(open_memory(tmp_path / "other", other), *FACTS[:2])
    assert same(engine, other)
    stored, _ = read_tensors(tmp_path / FILE, STATE_FORMAT)
    assert all(torch.equal(stored[name], value) for name, value in other.state.tensors().items())


def test_without_a_folder_as_on_a_server_the_state_is_made_from_the_journal(tmp_path, engine, gpt2_folder):
    tell(open_memory(tmp_path, engine), *FACTS)
    again, before = language(gpt2_folder), sorted(tmp_path.iterdir())
    NeuralMemory(Journal.at(tmp_path / "journal.db"), again, None).sync()
    assert same(engine, again) and sorted(tmp_path.iterdir()) == before


def test_small_talk_clears_nothing_that_the_journal_keeps(tmp_path, engine):
    torch.nn.init.constant_(engine.model.memory.forget.news.bias, 99.0)  # finds everything void
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS)
    assert int(engine.state.used.sum()) == len(FACTS)


def test_a_superseded_line_leaves_the_state_as_if_it_had_never_been(tmp_path, engine, gpt2_folder):
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS, "My goat is called Thistle now.")
    kept = [line.text for line in memory.journal.facts() if line.status == "active"]
    assert FACTS[2] not in kept and len(kept) == len(FACTS)
    other = language(gpt2_folder)
    (tmp_path / "other").mkdir()
    tell(open_memory(tmp_path / "other", other), *kept)
    assert same(engine, other)


def test_with_more_lines_than_slots_the_newest_are_held(tmp_path, engine, gpt2_folder):
    pets = ("goat", "dog", "cat", "hen", "cow", "pony", "newt", "toad", "fox", "mule")
    lines = [f"My {pet} is called Bramble." for pet in pets]
    tell(open_memory(tmp_path, engine), *lines)
    other = language(gpt2_folder)
    (tmp_path / "other").mkdir()
    tell(open_memory(tmp_path / "other", other), *lines[-8:])
    assert same(engine, other)


def test_a_line_that_another_program_forgets_meanwhile_is_not_written(tmp_path, engine):
    memory, other = open_memory(tmp_path, engine), Journal.at(tmp_path / "journal.db")
    other.record(make_session(FACTS[2], "I see."))
    locked = memory.locked
    memory.locked = lambda: (other.forget("goat"), locked())[1]
    memory.sync()
    assert not engine.state.used.any()
    assert not torch.as_tensor(list((tmp_path / FILE).read_bytes()[-4096:])).any()


def test_reset_leaves_nothing_in_the_state_and_no_file(tmp_path, engine):
    memory = open_memory(tmp_path, engine)
    tell(memory, *FACTS)
    assert (tmp_path / FILE).exists()
    memory.reset()
    assert all(not value.any() for value in engine.state.tensors().values())
    assert not (tmp_path / FILE).exists()


def test_the_state_file_is_private_and_holds_no_text(tmp_path, engine):
    tell(open_memory(tmp_path, engine), *FACTS)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    (tmp_path / "journal.db").unlink()
    data = bytes_under(tmp_path)
    assert not any(word in data for word in (b"Ottilie", b"quarry", b"Bramble"))


def test_in_an_encrypted_memory_the_state_file_is_sealed_and_read_again(tmp_path, engine, gpt2_folder, monkeypatch):
    pytest.importorskip("sqlcipher3")
    keys = Vault.new()
    memory = NeuralMemory(Journal.at(tmp_path / "journal.db", keys), engine, tmp_path)
    tell(memory, *FACTS)
    assert (tmp_path / FILE).read_bytes().startswith(SEALED)
    again = language(gpt2_folder)
    monkeypatch.setattr(NeuralMemory, "sync", lambda _: None)  # what is read is the file, not the journal
    NeuralMemory(Journal.at(tmp_path / "journal.db", keys), again, tmp_path)
    assert same(engine, again)


def test_a_damaged_state_file_is_made_again_from_the_journal_with_a_notice(tmp_path, engine, gpt2_folder, caplog):
    tell(open_memory(tmp_path, engine), *FACTS)
    (tmp_path / FILE).write_bytes(b"\x80\x04 not a state")
    again = language(gpt2_folder)
    open_memory(tmp_path, again).sync()
    assert same(engine, again)
    assert "made again" in caplog.text


def test_a_state_file_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path, engine):
    data = save({"x": torch.zeros(1)}, {"format": STATE_FORMAT, "version": "99"})
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(NewerError):
        open_memory(tmp_path, engine)
    assert (tmp_path / FILE).read_bytes() == data


def test_lines_told_by_another_program_are_written_at_the_next_question(tmp_path, engine):
    memory = open_memory(tmp_path, engine)
    Journal.at(tmp_path / "journal.db").record(make_session(FACTS[2], "I see."))
    memory.recall("What is my goat called?")
    assert int(engine.state.used.sum()) == 1


def test_the_question_alone_asks_and_the_frame_around_it_does_not(engine):
    mask = engine._asking(engine.render([{"role": "user", "content": "What is my name?"}]))
    ids = engine.tokenizer("User: What is my name?\nAssistant:", add_special_tokens=False).input_ids
    words = engine.tokenizer.decode([token for token, asks in zip(ids, mask[0], strict=True) if asks])
    assert "What is my name?" in words and "Assistant" not in words

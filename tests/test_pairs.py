"""The pair decision: many pairs at once, padding, weights on disk, and what recall does with it.

pytest tests/test_pairs.py           a small random network over words, no weights
pytest tests/test_pairs.py -m slow   the trained one over the bundled encoder
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
import torch
from conftest import NOON, FakeEncoder, choose, tell

from chatmem.choosing import bar_for
from chatmem.embedding import Tokens
from chatmem.interface import Session, Turn
from chatmem.journal import Journal
from chatmem.pair_network import PairNetwork
from chatmem.pairs import PairDecision, load_pairs, read_weights, save_weights
from chatmem.rows import Line
from chatmem.second_look import is_latin
from chatmem.sentences import words
from chatmem.statement_network import KINDS, StatementNetwork
from memory_module import GruMemory

SETTINGS = {"factor": 1.0, "offset": 0.0, "relation_heat": 1.0, "threshold": 0.5, "replaced": 0.5, "kept": 0.3}
LINES = [
    "I work at Orbix.",
    "My sister works at Tallow, and she has for a very long time.",
    "Tea",
    "I have a dog and a cat.",
]


class WordEncoder(FakeEncoder):
    """The fake encoder, with a token for every word."""

    def encode_tokens(self, texts):
        vectors = self.encode(texts)
        read = []
        for text, vector in zip(texts, vectors, strict=True):
            said = words(text) or ["."]
            rows = self.encode(said).astype(np.float16)
            ids = np.array([1000 + sum(word.encode()) for word in said])
            read.append(Tokens(vector, ids, rows, rows))
        return read


@pytest.fixture
def network() -> PairNetwork:
    torch.manual_seed(0)
    return PairNetwork(256, 16, 2, 2).eval()


def make_statements() -> StatementNetwork:
    """Return an untrained network over one small layer, which is none of an encoder."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 32, dropout=0.0, batch_first=True)
    network = StatementNetwork([layer], rank=2, width=8)
    for name, weight in network.named_parameters():
        if name.endswith(".b"):
            torch.nn.init.normal_(weight)  # as training leaves them
    return network.eval()


@pytest.fixture
def decision(network: PairNetwork) -> PairDecision:
    return PairDecision(WordEncoder(), network, make_statements(), SETTINGS)


def test_many_at_once_are_judged_as_one_by_one(decision: PairDecision):
    together = decision.answerable("Where does my sister work?", LINES)
    alone = [decision.answerable("Where does my sister work?", [line])[0] for line in LINES]
    assert together.shape == (4,)
    assert np.allclose(together, alone, atol=1e-5)
    relations = decision.relation("I work at Tallow.", LINES)
    assert relations.shape == (4, 4)
    assert np.allclose(relations, [decision.relation("I work at Tallow.", [line])[0] for line in LINES], atol=1e-5)
    assert np.allclose(relations.sum(1), 1.0, atol=1e-5)


def test_padding_does_not_matter(decision: PairDecision):
    long = "My neighbour told me " + "a story and " * 12 + "left."
    beside = decision.answerable("Where do I work?", ["I work at Orbix.", long])
    assert np.isclose(beside[0], decision.answerable("Where do I work?", ["I work at Orbix."])[0], atol=1e-5)


def test_no_lines_give_nothing(decision: PairDecision):
    assert decision.answerable("Where?", []).shape == (0,)
    assert decision.relation("I moved.", []).shape == (0, 4)


def test_sentences_are_judged_alone_as_together(decision: PairDecision):
    decision._settings = {**SETTINGS, "kept": 1.1}  # nothing counts as a fact
    together = decision.doubted(LINES)
    assert together == [decision.doubted([line])[0] for line in LINES]
    assert set(together) <= set(KINDS[3:])
    decision._settings = {**SETTINGS, "kept": 0.0}
    assert decision.doubted(LINES) == [""] * 4


def test_only_what_is_near_in_meaning_is_replaced(decision: PairDecision):
    decision._settings = {**SETTINGS, "replaced": 0.0}
    assert decision.replaces("I work at Tallow.", ["I work at Orbix.", "Tea"]) == [True, False]
    assert decision.replaces("I work at Tallow.", []) == []


def test_merged_network_gives_what_the_trained_one_gave(decision: PairDecision):
    new, old = decision._sides("I work at Tallow.", LINES)
    assert torch.allclose(make_statements().relation(new, old), decision._statements.relation(new, old), atol=1e-5)


def test_what_is_trained_is_all_that_is_saved():
    one, other = make_statements(), make_statements()
    for weight in other.parameters():
        weight.data += 1.0 if weight.requires_grad else 0.0
    one.load_state_dict(other.trained(), strict=False)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_saved_equals_loaded(network: PairNetwork, tmp_path):
    path = tmp_path / "pairs.safetensors"
    save_weights(network.trained(), path, "fake", {"threshold": 0.25})
    weights, settings = read_weights(path, "fake")
    assert settings == {"threshold": 0.25}
    assert set(weights) == set(network.trained())
    for name, weight in network.trained().items():
        assert torch.allclose(weights[name], weight, atol=0.005 * float(weight.abs().max()) + 1e-6)


def test_another_encoder_has_no_decision(network: PairNetwork, tmp_path):
    path = tmp_path / "pairs.safetensors"
    save_weights(network.trained(), path, "fake", SETTINGS)
    assert read_weights(path, "another") is None
    assert load_pairs(WordEncoder("fake"), path, tmp_path / "missing.safetensors") is None
    assert load_pairs(FakeEncoder("fake"), path, path) is None  # gives no token embeddings


def test_texts_are_read_once(decision: PairDecision):
    decision.answerable("Where?", LINES)
    read = decision._encoder.num_encoded
    decision.answerable("Where?", LINES)
    assert decision._encoder.num_encoded == read


class Verdicts:
    """A decision with given probabilities."""

    threshold = 0.5

    def __init__(self, **chances: float) -> None:
        self.chances = chances
        self.asked: list[list[str]] = []

    def answerable(self, query, lines):
        self.asked.append(list(lines))
        return np.array([self.chances.get(line.split()[-1].strip("."), 0.0) for line in lines], dtype=np.float32)

    def replaces(self, new, old):
        return [{new, line} == {"I work at Orbix.", "I started at Tallow."} for line in old]

    def doubted(self, sentences):
        return [""] * len(sentences)


def lines_of(*texts: str, kind: str = "fact") -> list[Line]:
    """Return lines told a day apart, the best first."""
    return [_line(text, place, kind) for place, text in enumerate(texts)]


def _line(text: str, place: int, kind: str) -> Line:
    values = {
        "key": place + 1, "session": place + 1, "turn": 0, "turn_key": place + 1, "text": text, "kind": kind,
         "status": "active", "speaker": "user", "when": NOON + timedelta(days=place),
    }  # fmt: skip
    return Line(**values)


def test_select_keeps_what_answers_best_first():
    lines = lines_of("I have a cat.", "I work at Orbix.", "I live in Turku.")
    found = choose(lines, "Where do I live?", decision=Verdicts(Turku=0.9, Orbix=0.6, cat=0.2))
    assert [line.text for line in found] == ["I live in Turku.", "I work at Orbix."]


def test_of_two_sure_answers_the_one_that_the_newer_replaces_stays_away():
    lines = lines_of("I work at Orbix.", "I started at Tallow.")
    found = choose(lines, "Where do I work?", decision=Verdicts(Tallow=0.7, Orbix=0.9))
    assert [line.text for line in found] == ["I started at Tallow."]
    found = choose(lines, "Where do I work?", decision=Verdicts(Tallow=0.7, Orbix=0.5, x=0.0))
    assert [line.text for line in found] == ["I started at Tallow."]


def test_select_judges_only_the_nearest():
    verdicts = Verdicts()
    assert choose(lines_of(*(f"My number is {n}." for n in range(30))), "Where do I live?", decision=verdicts) == []
    assert [len(lines) for lines in verdicts.asked] == [8]


def test_everything_and_replies_keep_their_paths():
    lines = lines_of("I have a cat.", "I work at Orbix.")
    assert len(choose(lines, "What do you know about me?", decision=Verdicts())) == 2
    replies = lines_of("Try the soup.", kind="reply")
    assert len(choose(replies, "What did you recommend to me?", decision=Verdicts())) == 1


def load_real():
    from chatmem.embedding import SentenceEncoder

    decision = load_pairs(SentenceEncoder.load())
    assert decision is not None
    return decision


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "answer", "others"),
    [
        (
            "Which firm pays my sister?",
            "My sister works at Corvane.",
            ["I work at Lindhurst.", "My sister starts at 9."],
        ),
        (
            "Where do I work these days?",
            "I've a job at Lindhurst.",
            ["I start work at 9.", "My brother works at Corvane."],
        ),
        pytest.param(
            "whats my dogs name",
            "My dog is called Bramwell.",
            ["I have a dog and a cat.", "My cat is called Tiggy."],
            marks=pytest.mark.xfail(reason="a known fault of these weights, see chatmem/weights/pairs.md"),
        ),
        ("Could you suggest a dinner for me?", "I'm vegetarian.", ["My bike is green.", "My dog is called Bramwell."]),
    ],
)
def test_the_right_person_and_attribute(query, answer, others):
    decision = load_real()
    chances = decision.answerable(query, [answer, *others])
    assert chances[0] >= decision.threshold
    assert (chances[1:] < decision.threshold).all()


@pytest.mark.slow
@pytest.mark.parametrize("query", ["What is 17 times 3?", "Write a haiku about rain.", "Who painted the Mona Lisa?"])
def test_ordinary_talk_is_answered_by_nothing(query):
    decision = load_real()
    lines = ["I work at Lindhurst.", "My sister lives in Gdynia.", "My door code is 5519.", "I love rain.", "I paint."]
    assert (decision.answerable(query, lines) < bar_for(query, decision.threshold)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("new", "old", "relation"),
    [
        pytest.param(
            "We moved to Gdynia last month.",
            "I live in Olomouc.",
            1,
            marks=pytest.mark.xfail(reason="a known fault of these weights, see chatmem/weights/statements.md"),
        ),
        ("I just joined Corvane.", "I work at Lindhurst.", 1),
        ("My door code is 5518.", "My door code is 5519.", 1),
        ("My employer is Lindhurst.", "I work at Lindhurst.", 0),
        ("I don't work at Lindhurst any more.", "I work at Lindhurst.", 2),
        ("My sister moved to Gdynia.", "I live in Olomouc.", 3),
        ("I like coffee.", "I like tea.", 3),
    ],
)
def test_relations(new, old, relation):
    assert int(load_real().relation(new, [old])[0].argmax()) == relation


@pytest.mark.slow
def test_one_pass_gives_the_vector_and_the_tokens():
    from chatmem.embedding import SentenceEncoder

    encoder = SentenceEncoder.load()
    texts = ["Where do I work?", "My sister, who lives in Turku, has a very old dog."]
    read = encoder.encode_tokens(texts)
    assert np.allclose([tokens.vector for tokens in read], encoder.encode(texts), atol=1e-5)
    assert [len(tokens.ids) for tokens in read] == [len(tokens.last) for tokens in read]


def test_a_memory_without_weights_keeps_its_threshold(encoder: FakeEncoder):
    memory = GruMemory(Journal("sqlite://"), encoder, hidden_dim=64)
    tell(memory, "I work at Orbix.")
    assert memory.decision is None
    assert [line.text for line in memory.recall("Where do I work?")] == ["I work at Orbix."]


class Looks(Verdicts):
    """A decision that takes a bus for a newer word on whatever names a mill, and dragons for fiction."""

    def replaces(self, new, old):
        return ["mill" in line and "bus" in new for line in old]

    def doubted(self, sentences):
        return ["fiction" if "dragon" in sentence.lower() else "" for sentence in sentences]


def looking() -> GruMemory:
    memory = GruMemory(Journal("sqlite://"), FakeEncoder(), hidden_dim=64)
    memory.look.decision = Looks()
    return memory


def states(memory: GruMemory) -> dict[str, str]:
    return {line.text: line.status for line in memory.journal.facts()}


def test_statement_takes_the_place_of_what_the_decision_names():
    memory = looking()
    tell(memory, "I walk to the mill.", "My tent is green.")
    tell(memory, "I like tea.")
    tell(memory, "A bus takes me to work.")
    assert states(memory).pop("I walk to the mill.") == "superseded"
    assert set(states(memory).values()) == {"superseded", "active"}


def test_the_first_half_of_a_statement_takes_the_place_of_what_it_names():
    memory = looking()
    memory.look.decision.replaces = lambda new, old: [new == "I'm through with the mill." for _ in old]
    tell(memory, "I walk to the mill.", "My tent is green.")
    tell(memory, "I'm through with the mill; the forest is my walk now.")
    assert states(memory).pop("I walk to the mill.") == "superseded"
    assert states(memory)["My tent is green."] == "active"


def test_statement_takes_its_place_before_the_session_ends():
    memory = looking()
    tell(memory, "I walk to the mill.")
    session = memory.journal.begin(NOON + timedelta(days=1))
    turn, _ = memory.journal.append(session, Turn("user", "A bus takes me to work.", NOON + timedelta(days=1)))
    assert memory.consider(turn) == []
    assert states(memory)["I walk to the mill."] == "superseded"


def test_what_only_looks_like_a_fact_is_none_and_undoes_what_it_changed():
    memory = looking()
    tell(memory, "I live in Porto.")
    tell(memory, "I now live in Dragonstone.")
    assert states(memory) == {"I live in Porto.": "active"}
    assert memory.recall("Where do I live?")[0].text == "I live in Porto."


@pytest.mark.parametrize(
    ("text", "is_read"), [("J'habite à Nîmes, près de Łódź.", True), ("У меня dragon.", False), ("我有dragon。", False)]
)
def test_other_scripts_are_left_to_the_rules(text, is_read):
    assert is_latin(text) is is_read
    if not is_read:
        memory = looking()
        tell(memory, text)
        assert list(states(memory).values()) == ["active"]


@pytest.mark.parametrize(
    ("text", "explicit"),
    [
        ("I own a dragon.", True),
        ("Remember that I own a dragon.", False),
        ("Call me Dragon.", False),
        ("From now on, tell me of dragons.", False),
    ],
)
def test_what_the_user_asked_to_keep_is_never_doubted(text, explicit):
    memory = looking()
    memory.remember(Session((Turn("user", text, NOON, explicit),)))
    assert [line.status for line in memory.journal.facts()] == ["active"]


def test_what_the_decision_replaced_stays_so_when_states_are_derived_again():
    memory = looking()
    tell(memory, "I walk to the mill.")
    tell(memory, "A bus takes me to work.")
    memory.journal.forget("nothing like it")
    tell(memory, "Forget what I said about the tent.")
    assert {line.text: line.status for line in memory.journal.facts()}["I walk to the mill."] == "superseded"


def test_plain_statement_answers_a_plain_question_whatever_the_decision_thinks():
    facts = lines_of("I work at YouTube.", "My sister works at Orbix.", "I no longer work at Orbix.")
    unsure = Verdicts()
    assert [line.text for line in choose(facts, "Where do I work?", decision=unsure)] == ["I work at YouTube."]
    assert choose(facts, "Where do I swim?", decision=unsure) == []

"""Train the reader: a LoRA adapter (Hu et al., 2021) that answers from memory lines, for the bundled model.

    python -m training.train_reader --out chatmem/weights/reader

Frozen weights and activations are bfloat16; the adapter's masters are float32. Only the upper layers have an adapter,
so the lower ones need no backward pass. Resumes from its newest checkpoint.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from peft.tuners.lora import LoraLayer
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from chatmem import adapter, bundled
from chatmem.language_model import Sampling, TransformersModel
from training.packing import Packed, loss, pack, sequence
from training.reader_data import Maker
from training.reader_words import ordinary_prompts

FIRST_LAYER, LAYERS, RANK = 12, 30, 16
MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
WARMUP_STEPS = 20
DECAY = 0.3  # the share of the steps in which the rate falls to nothing; before, it does not depend on their number
_LOG = logging.getLogger("train_reader")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("chatmem/weights/reader"))
    parser.add_argument("--work", type=Path, default=Path(".benchmark/reader"), help="checkpoints, log, base replies")
    parser.add_argument("--groups", type=int, default=2800, help="groups of up to ten questions")
    parser.add_argument("--batch", type=int, default=4, help="groups of one step")
    parser.add_argument("--rate", type=float, default=6e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="more only pays on cores that nobody else uses")
    parser.add_argument("--minutes", type=float, default=5.0, help="between checkpoints")
    parser.add_argument("--data", default="../shared/data", help="not needed: the samples are our own words")
    return parser.parse_args()


def base_replies(path: Path, *, fresh: bool = False) -> dict[str, str]:
    """Return the base model's own replies to ordinary talk without notes, made once: what must stay as it is."""
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    model = TransformersModel.load(bundled.NAME, "cpu")
    replies = {}
    for said in dict.fromkeys(ordinary_prompts(fresh=fresh)):
        messages = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": said}]
        replies[said] = "".join(model.stream(model.render(messages), Sampling(48, temperature=0))).strip()
    path.write_text(json.dumps(replies, ensure_ascii=False, indent=0), encoding="utf-8")
    return replies


def adapted(dtype: torch.dtype) -> Any:
    """Return the bundled model with a new adapter on its upper layers."""
    model = AutoModelForCausalLM.from_pretrained(str(bundled.prepare()), dtype=dtype, attn_implementation="branching")
    config = LoraConfig(
        r=RANK,
        lora_alpha=2 * RANK,
        target_modules=MODULES,
        layers_to_transform=list(range(FIRST_LAYER, LAYERS)),
        task_type="CAUSAL_LM",
    )
    model = get_peft_model(model, config, autocast_adapter_dtype=False)
    for layer in model.modules():
        if isinstance(layer, LoraLayer):
            layer.forward = partial(_lean_forward, layer)
    return model


def _lean_forward(layer: Any, x: Tensor) -> Tensor:
    """Do what peft's linear layer does in three operations: on a CPU its six cost as much as the frozen product."""
    linear = torch.nn.functional.linear
    down, up = layer.lora_A["default"].weight, layer.lora_B["default"].weight
    base, low = linear(x, layer.base_layer.weight), linear(x, down)
    scaling = layer.scaling["default"]
    return torch.addmm(base.flatten(0, -2), low.flatten(0, -2), up.t(), alpha=scaling).view_as(base)


class Masters:
    """Float32 copies of the adapter's bfloat16 weights, which AdamW moves: small steps would be lost in bfloat16."""

    def __init__(self, model: Any, rate: float) -> None:
        """Copy the trainable weights of a model."""
        self.names = [name for name, weight in model.named_parameters() if weight.requires_grad]
        self._weights = [weight for weight in model.parameters() if weight.requires_grad]
        self.masters = [weight.detach().float().requires_grad_() for weight in self._weights]
        self.rate = rate
        self.optimizer = torch.optim.AdamW(self.masters, lr=rate, betas=(0.9, 0.98), weight_decay=0.01)

    def step(self, step: int, steps: int) -> float:
        """Move the masters by the gradients of the weights in one of the steps, from 1. Returns the gradient's norm."""
        for master, weight in zip(self.masters, self._weights, strict=True):
            master.grad, weight.grad = weight.grad.float(), None
        norm = torch.nn.utils.clip_grad_norm_(self.masters, 1.0)
        fall = min(1.0, (steps - step + 1) / (DECAY * steps))
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * min(step / WARMUP_STEPS, 1.0) * fall
        self.optimizer.step()
        self.copy()
        return float(norm)

    def copy(self) -> None:
        """Write the masters into the model."""
        with torch.no_grad():
            for master, weight in zip(self.masters, self._weights, strict=True):
                weight.copy_(master)

    def save(self, path: Path, step: int) -> None:
        """Write a checkpoint aside and rename it."""
        aside = path.with_suffix(".new")
        torch.save({"step": step, "masters": self.masters, "optimizer": self.optimizer.state_dict()}, aside)
        aside.replace(path)

    def load(self, path: Path) -> int:
        """Read a checkpoint and return its step."""
        state = torch.load(path, weights_only=True)
        with torch.no_grad():
            for master, saved in zip(self.masters, state["masters"], strict=True):
                master.copy_(saved)
        self.optimizer.load_state_dict(state["optimizer"])
        self.copy()
        return int(state["step"])


def batches(tokenizer: Any, maker: Maker, size: int) -> Iterator[list[Packed]]:
    """Yield batches of packed groups, of similar lengths to pad little; the order of the batches is shuffled."""
    groups = maker.groups()
    while True:
        some = [pack([sequence(tokenizer, g, case) for case in g.cases]) for g in itertools.islice(groups, size * 16)]
        some.sort(key=lambda item: len(item.ids))
        parts = [some[at : at + size] for at in range(0, len(some), size)]
        maker.draw.shuffle(parts)
        yield from parts


def train(options: argparse.Namespace) -> None:
    """Train, log and write the adapter."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    checkpoint = options.work / "checkpoint.pt"
    tokenizer = AutoTokenizer.from_pretrained(str(bundled.prepare()))
    maker = Maker(options.seed, ordinary=base_replies(options.work / "ordinary.json"))
    model = adapted(torch.bfloat16)
    masters = Masters(model, options.rate)
    steps = options.groups // options.batch
    done = masters.load(checkpoint) if checkpoint.exists() else 0
    inner = model.base_model.model
    saved, started, answers, mean = time.monotonic(), time.monotonic(), 0, 0.0
    for step, packed in enumerate(itertools.islice(batches(tokenizer, maker, options.batch), steps)):
        if step < done:
            continue
        value = loss(inner.model, inner.lm_head, packed)
        value.backward()  # type: ignore[no-untyped-call]
        norm = masters.step(step + 1, steps)
        answers += _count(packed)
        mean = float(value) if mean == 0 else 0.95 * mean + 0.05 * float(value)
        if (step + 1) % 10 == 0:
            seconds = time.monotonic() - started
            _LOG.info(
                "step %d/%d loss %.3f norm %.2f answers %d seconds %.0f", step + 1, steps, mean, norm, answers, seconds
            )
        if time.monotonic() - saved > 60 * options.minutes:
            masters.save(checkpoint, step + 1)
            save_adapter(model, options.work / "adapter")
            saved = time.monotonic()
    masters.save(checkpoint, steps)
    save_adapter(model, options.out)


def save_adapter(model: Any, folder: Path) -> None:
    """Write what peft writes, without this machine's paths and without its empty card."""
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    (folder / adapter.WEIGHTS).chmod(0o644)
    config = json.loads((folder / adapter.CONFIG).read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = bundled.NAME
    (folder / adapter.CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _count(packed: Sequence[Packed]) -> int:
    """Return the number of answers of a batch."""
    return sum(int(item.branches.max()) + 1 for item in packed)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", force=True)
    train(arguments())

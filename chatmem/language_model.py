"""The language model: any Hugging Face causal model, streaming a reply as text.

`LanguageModel` is the narrow interface that the rest of the program knows; `TransformersModel` is the engine behind
it. Knows nothing of memory, prompts or terminals.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from chatmem import bundled
from chatmem.interface import ModelError

if TYPE_CHECKING:
    from chatmem.adapter import Switch

Message = dict[str, str]  # {"role": "system" | "user" | "assistant", "content": str}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. The same settings and seed give the same reply."""

    max_new_tokens: int = 128
    min_new_tokens: int = 0  # the end of the text is not chosen before
    temperature: float = 0.3  # 0 takes the likeliest token every time
    top_p: float = 0.9  # the share of the probability that is drawn from
    repetition_penalty: float = 1.1  # on tokens of this reply only: what memory lines say may be repeated
    copy_bonus: float = 4.0  # added to the logit of what follows the last token in a line that is to be copied
    seed: int = 0


class LanguageModel(Protocol):
    """What continues a text."""

    name: str
    window_tokens: int
    has_chat_template: bool
    has_reader: bool  # it was trained to answer from memory lines

    def stream(
        self,
        prompt: str,
        sampling: Sampling,
        stops: Sequence[str] = (),
        *,
        reader: bool = False,
        copied: str = "",
        avoided: str = "",
    ) -> Iterator[str]:
        """Yield the continuation of a prompt piece by piece, never half a character, and end before a stop string.

        `reader` is for prompts with memory lines in the reader's layout; without it the model is the plain one.
        `copied` is a line whose words are made likelier where the reply is already in it (`Sampling.copy_bonus`).
        `avoided` is a text with whose first token the reply does not begin.
        """

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt of a conversation, in the model's own chat template, ready for the reply."""


class TransformersModel:
    """A causal model of the library transformers (Wolf et al., 2020) with its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, name: str = "", reader: Switch | None = None) -> None:
        """Wrap a loaded model; `chat_with_memory` is given one by its caller. `reader` switches its adapter."""
        self.name = name or str(getattr(model.config, "_name_or_path", "")) or type(model).__name__
        self._model = model.eval()
        self.tokenizer = tokenizer
        self.has_chat_template = bool(getattr(tokenizer, "chat_template", None))
        self.has_reader = reader is not None
        self._reader = reader
        self.window_tokens = _window(model.config)
        self.num_parameters = sum(weight.numel() for weight in model.parameters())
        ends = getattr(model.generation_config, "eos_token_id", None)
        self._ends = {tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None}

    @classmethod
    def load(cls, name: str, device: str = "auto") -> TransformersModel:
        """Load the bundled model, a local folder, or a model of the Hugging Face hub.

        Args:
            name: `bundled.NAME`, a folder, or a hub name; only a hub name may make a connection.
            device: auto, cpu, cuda or mps.

        Raises:
            ModelError: it cannot be had, or not on that device; one sentence that says what to do.
        """
        import torch
        import transformers
        from transformers import AutoModelForCausalLM, AutoTokenizer

        transformers.utils.logging.disable_progress_bar()
        transformers.utils.logging.set_verbosity_error()
        place = choose_device(device)
        source, options = find_model(name)
        try:
            tokenizer = AutoTokenizer.from_pretrained(source, **options)
            model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32, **options)
        except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ModelError(f"the model {name} cannot be loaded: {first}") from error
        return cls(model.to(place), tokenizer, name, _reader(model, name))

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False).input_ids)

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt of a conversation, in the model's own chat template, ready for the reply."""
        text: str = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
        return text

    def stream(
        self,
        prompt: str,
        sampling: Sampling,
        stops: Sequence[str] = (),
        *,
        reader: bool = False,
        copied: str = "",
        avoided: str = "",
    ) -> Iterator[str]:
        """Yield the continuation of a prompt piece by piece, never half a character, and end before a stop string."""
        from tokenizers.decoders import DecodeStream

        backend = self.tokenizer.backend_tokenizer
        decoder = DecodeStream(skip_special_tokens=True)
        held = ""
        for token in self._tokens(prompt, sampling, reader=reader, copied=copied, avoided=avoided):
            held += decoder.step(backend, token) or ""  # None while the bytes do not make a character
            cut = min((at for stop in stops if (at := held.find(stop)) >= 0), default=-1)
            if cut >= 0:
                yield held[:cut]
                return
            free = len(held) - _possible_stop(held, stops)
            if free:
                yield held[:free]
                held = held[free:]
        if held:
            yield held

    def _tokens(
        self, prompt: str, sampling: Sampling, *, reader: bool = False, copied: str = "", avoided: str = ""
    ) -> Iterator[int]:
        """Yield the tokens of the continuation, up to and without the end of text."""
        import torch

        special = not self.has_chat_template  # a chat template writes its own first token
        ids = self.tokenizer(prompt, add_special_tokens=special, return_tensors="pt", verbose=False).input_ids
        generator = torch.Generator().manual_seed(sampling.seed)
        room = self.window_tokens - ids.shape[1]
        followers, last = self._followers(copied), int(ids[0, -1])
        chosen: list[int] = []
        cache = None
        for _ in range(min(sampling.max_new_tokens, room)):
            with torch.inference_mode():
                inputs = {"input_ids": ids.to(self._model.device), "use_cache": True, "logits_to_keep": 1}
                if self._reader is not None:  # set each time: replies of two threads may alternate
                    self._reader.on = reader
                output = self._step({**inputs, "cache": cache})
                logits = output.logits[0, -1].float().cpu().clone()
                if len(chosen) < sampling.min_new_tokens:
                    logits[list(self._ends)] = -torch.inf
                if not chosen and avoided:
                    logits[self.tokenizer(avoided, add_special_tokens=False).input_ids[:1]] = -torch.inf
                if last in followers:
                    logits[followers[last]] += sampling.copy_bonus
                token = last = _choose(logits, chosen, sampling, generator)
            if token in self._ends:
                return
            chosen.append(token)
            yield token
            cache, ids = output.past_key_values, torch.tensor([[token]])

    def _step(self, inputs: dict[str, Any]) -> Any:
        """Run the model on the next tokens; a model with a memory of its own reads it here."""
        return self._model(**inputs)

    def _followers(self, line: str) -> dict[int, list[int]]:
        """Return, for each token of a line, the tokens that follow it there."""
        ids = self.tokenizer(f" {line}", add_special_tokens=False, verbose=False).input_ids if line else []
        found: dict[int, set[int]] = {}
        for token, follower in itertools.pairwise(ids):
            found.setdefault(token, set()).add(follower)
        return {token: sorted(followers) for token, followers in found.items()}


def _reader(model: Any, name: str) -> Switch | None:
    """Return the switch of the bundled model's reader; other models have none."""
    if name != bundled.NAME:
        return None
    from chatmem import adapter

    return adapter.attach(model, adapter.READER)


def _choose(logits: Any, chosen: list[int], sampling: Sampling, generator: Any) -> int:
    """Choose the next token from logits (V,); top-p sampling (Holtzman et al., 2020)."""
    import torch

    if chosen and sampling.repetition_penalty != 1.0:  # Keskar et al., 2019, on the reply's own tokens
        seen = torch.tensor(sorted(set(chosen)))
        found = logits[seen]
        penalty = sampling.repetition_penalty
        logits[seen] = torch.where(found > 0, found / penalty, found * penalty)
    if sampling.temperature == 0:
        return int(logits.argmax())
    likely, order = torch.softmax(logits / sampling.temperature, dim=-1).sort(descending=True)
    likely[likely.cumsum(-1) - likely >= sampling.top_p] = 0
    return int(order[torch.multinomial(likely, 1, generator=generator)])


def _possible_stop(text: str, stops: Sequence[str]) -> int:
    """Return how many characters at the end of a text may be the beginning of a stop string."""
    longest = max((len(stop) for stop in stops), default=1) - 1
    sizes = range(min(longest, len(text)), 0, -1)
    return next((size for size in sizes if any(stop.startswith(text[-size:]) for stop in stops)), 0)


def _window(config: Any) -> int:
    """Return the largest number of tokens a model reads."""
    names = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
    return next((int(size) for name in names if (size := getattr(config, name, None))), 1024)


def choose_device(device: str) -> str:
    """Return where to run: "auto" is CUDA, else MPS, else the CPU.

    Raises:
        ModelError: the device asked for is not there.
    """
    import torch

    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if there[name])
    if not there[device]:
        raise ModelError(f"--device {device}: there is no such device here, use --device auto or --device cpu")
    return device


def check_available(name: str, device: str) -> None:
    """Find out what can be known before a model is loaded, and convert the bundled one where that was never done.

    Raises:
        ModelError: the model or the device cannot be had.
    """
    if device not in ("auto", "cpu"):
        choose_device(device)
    find_model(name)


def is_local(name: str) -> bool:
    """Tell whether a model can be loaded without any connection."""
    return name == bundled.NAME or Path(name).exists() or (os.sep in name.removeprefix("~") and name[0] in "./~")


def find_model(name: str) -> tuple[str, dict[str, Any]]:
    """Return where to load a model from, and the options for it.

    Raises:
        ModelError: there is no such model, or it is on the hub and the hub cannot be reached.
    """
    if name == bundled.NAME:
        return str(bundled.prepare()), {"local_files_only": True}
    if is_local(name):
        folder = Path(os.path.expanduser(name))  # noqa: PTH111 - Path's own raises where "~nobody" has no home
        if not (folder / "config.json").is_file():
            raise ModelError(f"the model {name} cannot be loaded: there is no config.json in that folder")
        return str(folder), {"local_files_only": True}
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        if isinstance(try_to_load_from_cache(name, "config.json"), str):
            return name, {"local_files_only": True}
        HfApi().model_info(name, timeout=5)  # answers in seconds where a download would try again for a minute
    except HFValidationError as error:
        raise ModelError(f"{name} is neither a folder nor the name of a model") from error
    except HfHubHTTPError as error:
        raise ModelError(f"there is no model {name} on the Hugging Face hub, or it needs a login") from error
    except Exception as error:  # whatever the HTTP library raises without a network
        raise ModelError(
            f"the model {name} is not on this machine and the Hugging Face hub cannot be reached"
        ) from error
    return name, {}

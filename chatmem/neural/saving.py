"""Files of a memory inside a model: what was trained (an adapter folder) and what a user told (a state file).

All tensors are safetensors: reading them runs no code. A state knows which model and which shapes it belongs to.

    FOLDER/memory_config.json           the configuration
    FOLDER/memory.safetensors           the trained modules, float16
    FOLDER/persistent_memory.safetensors   one user's state, where both go together
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from chatmem.interface import DamagedError, ModelError, NewerError, StoreError
from chatmem.neural.config import NeuralConfig
from chatmem.neural.modules import NeuralModules
from chatmem.neural.state import MemoryState
from chatmem.storage import write_atomic

if TYPE_CHECKING:
    from chatmem.vault import Vault

CONFIG, WEIGHTS, PERSISTENT = "memory_config.json", "memory.safetensors", "persistent_memory.safetensors"
STATE_FORMAT, ADAPTER_FORMAT, VERSION = "chatmem-neural-state", "chatmem-neural", 1


def fingerprint(model: Any) -> str:
    """Return what a causal model is known by: its kind, shapes and a sample of its output matrix, in any precision."""
    weight = model.get_output_embeddings().weight.detach()
    sample = weight.flatten()[:: max(weight.numel() // 4096, 1)].to("cpu", torch.bfloat16).view(torch.int16)
    about = f"{model.config.model_type} {tuple(weight.shape)} {model.config.num_hidden_layers}"
    return hashlib.sha256(about.encode() + sample.numpy().tobytes()).hexdigest()[:16]


def save_adapter(folder: Path, modules: NeuralModules, fingerprint: str) -> None:
    """Write the trained modules and their configuration.

    Raises:
        StoreError: the disk refuses.
    """
    _make(folder)
    tensors = {name: value.detach().half().contiguous() for name, value in modules.state_dict().items()}
    about = {"format": ADAPTER_FORMAT, "version": str(VERSION), "model": fingerprint}
    write_atomic(folder / WEIGHTS, safetensors.torch.save(tensors, about))
    write_atomic(folder / CONFIG, (modules.config.to_json() + "\n").encode())
    for name in (WEIGHTS, CONFIG):
        (folder / name).chmod(0o644)


def load_adapter(folder: Path, fingerprint: str = "", **choices: Any) -> NeuralModules:
    """Return the modules that `save_adapter` wrote.

    Args:
        folder: where they lie.
        fingerprint: of the model that they are to be put on; empty takes any.
        choices: entries of the configuration that no weight depends on, such as `num_slots` of token states.

    Raises:
        ModelError: they are for another model or do not fit their configuration.
        DamagedError: a file is damaged.
    """
    try:
        text = (folder / CONFIG).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"there is no memory adapter in {folder}") from error
    tensors, about = read_tensors(folder / WEIGHTS, ADAPTER_FORMAT)
    return build(NeuralConfig.from_json(text), tensors, about, fingerprint, **choices)


def build(
    config: NeuralConfig, tensors: dict[str, Tensor], about: dict[str, str], fingerprint: str, **choices: Any
) -> NeuralModules:
    """Return modules with given weights; ModelError where they do not fit the configuration or the model."""
    if fingerprint and about.get("model") and about["model"] != fingerprint:
        raise ModelError("this memory adapter was trained for another language model")
    modules = NeuralModules(config)
    wanted = modules.fingerprint_shapes()
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    if wanted != found:
        odd = sorted(set(wanted.items()) ^ set(found.items()))[0][0]
        raise ModelError(f"this memory adapter does not fit its configuration: {odd}")
    modules.load_state_dict({name: value.float() for name, value in tensors.items()})
    if choices:
        values = {name: getattr(config, name) for name in config.__dataclass_fields__} | choices
        modules.config = NeuralConfig(**values)
        if config.num_tokens:
            modules.tokens.config = modules.config
    return modules.eval()


def save_state(path: Path, state: MemoryState, config: NeuralConfig, fingerprint: str) -> None:
    """Write one user's memory and nothing else: no weights, no text.

    Raises:
        StoreError: the disk refuses; an older file is as it was.
    """
    write_atomic(path, safetensors.torch.save(state_tensors(state), state_about(config, fingerprint)))


def state_tensors(state: MemoryState) -> dict[str, Tensor]:
    """Return the tensors of a state as they are stored."""
    return {name: value.detach().cpu().contiguous() for name, value in state.tensors().items()}


def state_about(config: NeuralConfig, fingerprint: str) -> dict[str, str]:
    """Return what a stored state says of the model that it belongs to."""
    layers = json.dumps([list(config.layer_indices), list(config.feature_layers)])
    return {"format": STATE_FORMAT, "version": str(VERSION), "model": fingerprint, "layers": layers}


def load_state(path: Path, config: NeuralConfig, fingerprint: str) -> MemoryState:
    """Return what `save_state` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        ModelError: it belongs to another model, or has other shapes or layers.
        DamagedError, NewerError, StoreError: it cannot be read.
    """
    return as_state(*read_tensors(path, STATE_FORMAT), config, fingerprint)


def as_state(tensors: dict[str, Tensor], about: dict[str, str], config: NeuralConfig, fingerprint: str) -> MemoryState:
    """Return tensors as a state; ModelError where they belong to another model."""
    wanted = state_about(config, fingerprint)
    if about.get("model") != wanted["model"]:
        raise ModelError("this memory was written with another language model")
    if about.get("layers") != wanted["layers"]:
        raise ModelError("this memory was written with other layers")
    if set(tensors) != set(MemoryState.__dataclass_fields__):
        raise DamagedError("this memory lacks a part")
    return MemoryState(**tensors).checked(config)


def read_tensors(path: Path, kind: str, vault: Vault | None = None) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a safetensors file of ours and what it says about them.

    Where there is a vault, what it did not seal is refused.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedError: it is damaged or of another kind.
        NewerError: a newer version of the program wrote it.
        StoreError: it cannot be read.
    """
    try:
        raw = path.read_bytes()
        raw = raw if vault is None else vault.unseal(path.name, raw)
        tensors = safetensors.torch.load(raw)
        header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])  # safetensors checked it
        about = dict(header.get("__metadata__", {}))
    except FileNotFoundError:
        raise
    except SafetensorError as error:
        raise DamagedError(f"{path.name} is damaged or is no memory of this program") from error
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    if about.get("format") != kind:
        raise DamagedError(f"{path.name} is not a file of the format {kind}")
    if not about.get("version", "").isdigit():
        raise DamagedError(f"{path.name} has no version")
    if int(about["version"]) > VERSION:
        raise NewerError(f"{path} was written by a newer version of the program: update the program")
    return tensors, about


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot use {folder}: {error.strerror}") from error

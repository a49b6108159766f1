"""A model folder with a memory in it: one more safetensors shard beside an untouched base model.

    python -m chatmem.neural.merging --base FOLDER --adapter FOLDER [--state FILE] --out FOLDER

The base model's files are linked, or copied where links are not possible, never rewritten. The extra shard holds the
trained modules (`dynamic_memory.module.*`), one user's state (`dynamic_memory.state.*`) and, in its header, the
configuration. `load_merged` needs nothing but the folder, and so does the chat (`--model FOLDER --memory neural`, where
the state is that of the user). Later saves rewrite that shard alone, as a whole or not at all.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from chatmem.interface import ChatMemError, DamagedError, StoreError
from chatmem.neural import saving
from chatmem.neural.config import NeuralConfig
from chatmem.neural.model import NeuralMemoryModel
from chatmem.neural.modules import NeuralModules
from chatmem.neural.state import MemoryState
from chatmem.storage import write_atomic

SHARD, MERGED_FORMAT = "memory-00001-of-00001.safetensors", "chatmem-neural-merged"
_MODULE, _STATE = "dynamic_memory.module.", "dynamic_memory.state."


def merge(base: Path, model: NeuralMemoryModel, state: MemoryState, out: Path) -> Path:
    """Make a folder that is the base model with a memory in it, and return the extra shard.

    Raises:
        StoreError: the disk refuses, or `out` is the base model's own folder.
    """
    if out.resolve() == base.resolve():
        raise StoreError(f"{out} is the base model itself: give another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for source in sorted(path for path in base.iterdir() if path.is_file() and path.name != SHARD):
            target = out / source.name
            target.unlink(missing_ok=True)
            try:
                os.link(source.resolve(), target)
            except OSError:
                shutil.copyfile(source, target)
    except OSError as error:
        raise StoreError(f"cannot write {out}: {error.strerror}") from error
    return save_merged(out, model, state)


def save_merged(folder: Path, model: NeuralMemoryModel, state: MemoryState) -> Path:
    """Rewrite the extra shard of a merged folder, and nothing else."""
    tensors = {_MODULE + name: value.half().contiguous() for name, value in model.memory.state_dict().items()}
    tensors |= {_STATE + name: value for name, value in saving.state_tensors(state).items()}
    about = saving.state_about(model.config, model.fingerprint) | {"config": model.config.to_json()}
    path = folder / SHARD
    write_atomic(path, safetensors.torch.save(tensors, about | {"format": MERGED_FORMAT}))
    return path


def is_merged(folder: Path) -> bool:
    """Tell whether a model folder has a memory in it."""
    return (folder / SHARD).is_file()


def load_merged(folder: Path, base: Any = None) -> NeuralMemoryModel:
    """Return the model of a merged folder with the memory of that folder, its `state`.

    Args:
        folder: the merged folder.
        base: its base model, where the caller has loaded it.

    Raises:
        DamagedError: the shard cannot be read.
        ModelError: it belongs to another model.
    """
    if base is None:
        from transformers import AutoModelForCausalLM

        base = AutoModelForCausalLM.from_pretrained(folder)
    tensors, about = saving.read_tensors(folder / SHARD, MERGED_FORMAT)
    if "config" not in about:
        raise DamagedError(f"{SHARD} has no configuration")
    config, known = NeuralConfig.from_json(about["config"]), saving.fingerprint(base)
    modules: NeuralModules = saving.build(config, _with_prefix(tensors, _MODULE), about, known)
    model = NeuralMemoryModel(base, modules=modules)
    model.state = saving.as_state(_with_prefix(tensors, _STATE), about, config, known).to(base.device)
    return model


def _with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def main() -> None:
    """Merge from the command line."""
    from transformers import AutoModelForCausalLM

    parser = argparse.ArgumentParser(description="Put a memory into a model folder, as one more shard.")
    for name, needed in (("--base", True), ("--adapter", True), ("--state", False), ("--out", True)):
        parser.add_argument(name, type=Path, required=needed)
    options = parser.parse_args()
    try:
        model = NeuralMemoryModel.from_adapter(AutoModelForCausalLM.from_pretrained(options.base), options.adapter)
        state = model.load_runtime_memory(options.state) if options.state else model.state or model.initial_memory()
        merge(options.base, model, state, options.out)
    except (ChatMemError, OSError) as error:
        parser.exit(1, f"merging: {error}\n")


if __name__ == "__main__":
    main()

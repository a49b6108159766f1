"""Show which slots of the memory inside the bundled model lines write and a reply reads.

python -m training.show_neural --tell "My dog is Rex." --tell "I live in Turin." --ask "Where do I live?" --out X.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chatmem import bundled
from chatmem.neural.generation import tell
from chatmem.neural.inspection import draw_reads, read_slots, writes
from chatmem.neural.language import NeuralLanguageModel


def main() -> None:
    """Write, ask, and show both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tell", action="append", required=True, metavar="LINE")
    parser.add_argument("--ask", required=True, metavar="QUESTION")
    parser.add_argument("--out", type=Path, metavar="PNG", help="where the picture goes")
    options = parser.parse_args()
    language = NeuralLanguageModel.load(bundled.NAME, "cpu")
    state, holds = language.state, dict[int, str]()
    for line in options.tell:
        written = tell(language.model, language.tokenizer, line, state).written
        assert written is not None
        state, found = written.state, writes(written)
        void = [slot for slot, share in enumerate(found["forgotten"]) if share > 0.5]
        where = found["slots"].index(1.0) if 1.0 in found["slots"] else None
        holds |= {} if where is None else {where: line}
        print(f"{line}  decision {found['decision']:.2f}, written to slot {where}, void slots {void}")
    reads = read_slots(language.model, language.tokenizer, options.ask, state)
    for token, slots, gate in zip(reads.tokens, reads.slots, reads.gate, strict=True):
        print(f"{token!r:12} of memory {float(gate):.2f}, of slot {int(slots.argmax())} {float(slots.max()):.2f}")
    if options.out:
        draw_reads(reads, options.out, [holds[slot] for slot in sorted(holds)])


if __name__ == "__main__":
    main()

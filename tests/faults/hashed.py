"""The embedding process of a model of hashes in a directory: the one of the unit tests, which notes what it is asked.

Run by the daemon in place of the real one, see models.py. Beside `model.onnx`, which holds how many seconds a text
takes, each text leaves a line in `asked` before it is embedded: who for, by which process, its digest. Another
directory is another model, and its vectors are others.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# Last: the packages of the daemon that started this stand before those of the repository.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from ctxd.embed.model import Vector
from ctxd.embed.pipe import Load
from ctxd.embed.worker import Embed, serve
from tests.unit.embed import hashing_worker


def load(wanted: Load) -> Embed:
    """Return what embeds, and notes."""
    onnx = Path(wanted.onnx)
    pause_s = float(onnx.read_text())
    notes = os.open(onnx.with_name("asked"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    purpose = "passage" if wanted.niceness else "question"
    inner = hashing_worker.load(wanted)

    def embed(texts: Sequence[str]) -> list[Vector]:
        found: list[Vector] = []
        for text in texts:
            digest = hashlib.sha256(text.encode()).hexdigest()
            os.write(notes, f"{purpose} {os.getpid()} {digest}\n".encode())
            time.sleep(pause_s)
            found += inner([f"{onnx.parent.name} {text}"])
        return found

    return embed


if __name__ == "__main__":
    serve(load)

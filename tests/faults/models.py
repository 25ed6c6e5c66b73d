"""Models of hashes in directories, and copies of the packages that run them in place of ONNX.

All else is as with a real one: configuration, two processes on pipes, backfill, cache. So CI runs it without the extra.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import apsw

from ctxd.store.vectors import WANTED, signs
from ctxprotocol.messages import Status
from tests.faults import copies
from tests.home import Home
from tests.link import Link
from tests.tree import Tree

DIMENSIONS = 32
WORKER = Path(__file__).with_name("hashed.py")
RUN_BY_HASHES: tuple[copies.Edit, ...] = (
    ("ctxd/embed/process.py", '"-m", "ctxd.embed.worker")', f'"{WORKER}")'),
    ("ctxd/embed/rows.py", 'RUNTIME = ("onnxruntime", "tokenizers")', "RUNTIME = ()"),
)

# A commit is not waited for before vectors are made.
AT_ONCE: copies.Edit = ("ctxd/embed/backfill.py", "QUIET_S = 1.0", "QUIET_S = 0.1")


class Asked(NamedTuple):
    """A text that a process was given: a `passage` or a `question`."""

    purpose: str
    pid: int
    digest: str


class HashModel:
    """A model's directory. `pause_s` is what a text takes."""

    def __init__(self, directory: Path, pause_s: float = 0.0) -> None:
        self.directory = directory
        directory.mkdir(parents=True)
        (directory / "model.onnx").write_text(f"{pause_s}\n")
        (directory / "tokenizer.json").write_text("{}")
        (directory / "config.json").write_text(json.dumps({"hidden_size": DIMENSIONS}))
        (directory / "asked").touch()

    def asked(self, purpose: str = "passage") -> list[Asked]:
        """Return what it was given so far; a line that is being written is left out."""
        lines = (self.directory / "asked").read_text().split("\n")[:-1]
        found = [Asked(one, int(pid), digest) for one, pid, digest in map(str.split, lines)]
        return [each for each in found if each.purpose == purpose]

    def use(self, home: Home) -> None:
        """Have the configuration of `home` name it, as an editor saves: a running daemon takes it up."""
        os.makedirs(home.path, mode=0o700, exist_ok=True)
        draft = Path(home.path, "config.toml.new")
        draft.write_text(f"embed.model = {json.dumps(str(self.directory))}\n")
        draft.replace(Path(home.path, "config.toml"))


def build(folder: Path, bin: str, *more: copies.Edit) -> str:
    """Make a copy of the packages of these commands that runs models of hashes; return the directory of its own."""
    return str(copies.build(folder, (*RUN_BY_HASHES, *more), copies.source_of(bin)))


def ready(link: Link, tree: Tree) -> bool:
    """Say whether every chunk has its vector."""
    request = Status(directory=os.fsencode(tree.root), output="json")
    return json.loads(link.ask(request).out)["vectors"]["state"] == "ready"


Place = tuple[str, int]


def vectors_of(path: str) -> dict[Place, bytes]:
    """Return the vectors of the index file at `path`, by what they stand for: a file and where in it."""
    return snapshot_of(path)[1]


def snapshot_of(path: str) -> tuple[str, dict[Place, bytes]]:
    """Return whose the vectors of an index file are said to be, and the vectors."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("BEGIN")
        rows = connection.execute(
            "SELECT f.path, c.byte_start, v.body FROM vectors v JOIN chunks c ON c.id = v.chunk_id"
            " JOIN files f ON f.id = c.file_id"
        )
        found = {(path, start): body for path, start, body in rows}
        return connection.execute("SELECT value FROM meta WHERE key = 'vector_model'").get or "", found
    finally:
        connection.close()


def flaws(path: str) -> str:
    """Say what is wrong with the vectors of an index file: of no chunk, without signs, fewer than is claimed."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("BEGIN")
        wanted = f"SELECT c.id FROM chunks c JOIN files f ON f.id = c.file_id WHERE {WANTED}"
        if astray := connection.execute(f"SELECT count(*) FROM vectors WHERE chunk_id NOT IN ({wanted})").get:
            return f"{astray} vectors of no chunk"
        bodies = dict(connection.execute("SELECT chunk_id, body FROM vectors"))
        if dict(connection.execute("SELECT chunk_id, bits FROM vector_bits")) != {
            chunk: signs(body) for chunk, body in bodies.items()
        }:
            return "the signs are not those of the vectors"
        meta = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('generation', 'vectored')"))
        lacking = connection.execute(f"SELECT count(*) FROM ({wanted})").get - len(bodies)
        return f"{lacking} vectors too few" if lacking and meta.get("vectored") == meta["generation"] else ""
    finally:
        connection.close()

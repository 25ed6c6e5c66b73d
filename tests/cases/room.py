"""What the tests of cases share: a tree and a connection to the daemon that has indexed it, and an index in process."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ctxd.model import Freshness, View
from ctxd.search import run
from ctxd.search.listing import symbols
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Chunk, Files, Find, Status, Symbols
from tests import indexed
from tests.home import Home
from tests.link import Link
from tests.processes import wait_until
from tests.tree import Tree


class Room:
    """One tree, and the daemon of one home asked about it over one connection."""

    def __init__(self, home: Home, tree: Tree, link: Link) -> None:
        self.home, self.tree, self.link = home, tree, link
        self.root = os.fsencode(tree.root)

    def symbols(self, pattern: str, **more) -> list[dict]:
        """Return the rows of `ctx symbols PATTERN`; the answer must say that it is fresh."""
        answer = self.link.symbols(self.tree.root, pattern, **more)
        assert answer["fresh"] is True, answer
        return answer["results"]

    def places(self, pattern: str) -> list[tuple[str, int]]:
        """Return file and line of each definition of `pattern`."""
        return [(row["file"], row["definition_line"]) for row in self.symbols(pattern, limit=5000)]

    def find(self, text: str, **more) -> list[dict]:
        """Return the rows of `ctx find --full TEXT`."""
        return self.link.find(self.tree.root, text, full=True, **more)["results"]

    def files(self) -> list[str]:
        """Return the indexed paths."""
        answer = self.link.ask(Files(directory=self.root, output="json", limit=100_000))
        return [row["file"] for row in json.loads(answer.out)["results"]]

    def status(self) -> dict:
        """Return the object of `ctx status --skipped --json`."""
        return json.loads(self.link.ask(Status(directory=self.root, skipped=True, output="json")).out)

    def skipped(self) -> dict[str, str]:
        """Return what `ctx status --skipped` lists: path and reason."""
        return {row["file"]: row["reason"] for row in self.status()["results"]}

    def chunks(self, path: str) -> list[dict]:
        """Return all chunks of a file, in its order."""
        request = Chunk(directory=self.root, file=os.fsencode(path), line=1, around=100_000, output="json")
        return json.loads(self.link.ask(request).out)["results"]

    def ctx(self, *args: str, **more) -> subprocess.CompletedProcess[str]:
        """Run a command in the tree, as a person would."""
        return self.home.run(*args, cwd=self.tree.root, **more)


@contextmanager
def opened(home: Home, place: Path, git: bool = True) -> Iterator[Room]:
    """Open a room on an empty tree at `place`; the first command starts the daemon when none runs."""
    tree = Tree(place, git=git)
    home.run("daemon", "start", cwd="/")
    with Link(home.path) as link:
        yield Room(home, tree, link)


class Rows:
    """A snapshot of some files, asked in this process."""

    def __init__(self, snapshot: Snapshot, root: str) -> None:
        self.snapshot, self.root = snapshot, root

    def symbols(self, pattern: str) -> list[dict]:
        request = Symbols(directory=self.root.encode(), pattern=pattern, output="json")
        return json.loads(symbols.symbols(self.snapshot, request, self._view()).out)["results"]

    def find(self, text: str, limit: int = 5) -> list[dict]:
        request = Find(directory=self.root.encode(), text=text, limit=limit, full=True, output="json")
        return json.loads(run.find(self.snapshot, request, self._view()).out)["results"]

    def first(self, text: str) -> str:
        """Return the file of the first result, "" when there is none."""
        return next((row["file"] for row in self.find(text)), "")

    def _view(self) -> View:
        return View(root=self.root, freshness=Freshness(fresh=True), started_ns=time.perf_counter_ns())


@contextmanager
def filled(place: Path, files: Mapping[str, str], order: tuple[str, ...] = ()) -> Iterator[Rows]:
    """Index `files` in process, one after the other in `order` where that is given."""
    root = str(place / "tree")
    indexed.lay(root, files)
    index = indexed.Index(root, str(place / "index.db"))
    for path in order or ("",):
        index.take(*filter(None, [path]))
    with index.snapshot() as snapshot:
        yield Rows(snapshot, root)


def state_of(top: str) -> dict[str, tuple[int, int]]:
    """Return size and mtime of every file below `top`."""
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            stat = os.lstat(os.path.join(folder, name))
            found[os.path.join(folder, name)] = (stat.st_size, stat.st_mtime_ns)
    return found


def wait_until_quiet(top: str) -> None:
    """Return when nothing below a state directory changed for a second: logs are emptied once there is time."""
    last = [state_of(top)]

    def is_quiet() -> bool:
        time.sleep(1)
        last.append(state_of(top))
        return last[-1] == last[-2]

    wait_until(is_quiet, 60, "the state directory is left alone")

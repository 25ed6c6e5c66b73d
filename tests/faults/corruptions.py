"""R11: damaged databases: one rebuild at most, one file set aside at most, and then every answer is right."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw

from ctxprotocol.messages import Update
from tests.faults.compare import Scratch, dumped, first_difference, number
from tests.faults.disks import set_aside
from tests.faults.lab import Lab, Row, Size
from tests.faults.world import World
from tests.home import Home
from tests.link import Link, Refused

IMAGES = {"ci": 7, "release": 100, "nightly": 1_000}
FILES = {"ci": 60, "release": 250, "nightly": 250}
EDITS = 30
PAGE = 4_096
ASKED = 3


def corrupted(size: Size, seed: int, bin: str) -> Row:
    """Harm a file of a state that a daemon left behind, begin from it, ask, and compare with a new index."""
    row = Row("R11", "damaged databases", seed)
    scratch = Scratch(bin)
    try:
        with Lab(seed, bin) as lab:
            states = States(lab, FILES[size.name])
            for tried in range(IMAGES[size.name]):
                harm = HARMS[tried % len(HARMS)]
                row.count(one_image(states, harm, row, scratch))
    finally:
        scratch.close()
    return row


class States:
    """State directories that daemons left behind: `ended` one that was stopped, `cut` one that was killed.

    `old` is the index as it was before the last edits, `foreign` the log of another worktree's index.
    """

    def __init__(self, lab: Lab, files: int) -> None:
        self.lab = lab
        place = Path(lab.home.place)
        self.ended, self.cut = place / "ended", place / "cut"
        self.old, self.foreign = place / "old.db", place / "foreign.wal"
        self.world = World(lab.tree, f"{place}/outside", lab.random, files=files)
        self.update()
        self.other_worktree(place / "other")
        lab.home.run("daemon", "stop", cwd="/")
        lab.hang_up()
        shutil.copy(self.index(Path(lab.home.path)), self.old)
        self.edit()
        lab.home.run("daemon", "stop", cwd="/")
        lab.hang_up()
        shutil.copytree(lab.home.path, self.ended)
        self.edit()
        lab.home.kill()
        lab.hang_up()
        shutil.copytree(lab.home.path, self.cut, ignore=lambda *_: ["ctxd.sock"])

    def edit(self) -> None:
        for _ in range(EDITS):
            self.world.step()
        self.update()

    def update(self) -> None:
        self.lab.link.ask(Update(directory=os.fsencode(self.lab.tree.root), index_wait_ms=-1))

    def other_worktree(self, root: Path) -> None:
        """Index another tree with files of the same names, and keep the log of its index."""
        for path in self.world.files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("def foreign(a):\n    return a\n")
        self.lab.link.ask(Update(directory=os.fsencode(root), index_wait_ms=-1))
        shutil.copy(f"{index_of(Path(self.lab.home.path), root)}-wal", self.foreign)

    def index(self, state: Path) -> Path:
        """Return the index file of the tree in a state."""
        return index_of(state, self.lab.tree.root)


def index_of(state: Path, root: Path) -> Path:
    """Return the last index file of a tree."""
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    return Path(sorted(glob.glob(f"{state}/indexes/{name}/index-*.db"), key=number)[-1])


def flip(path: Path, random: Random, _states: States) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(random.randrange(1, max(2, len(content) // PAGE))):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def rewrite(path: Path, random: Random, states: States) -> None:
    """Let a name be another one wherever it stands: SQLite has no means to notice."""
    content = path.read_bytes()
    # The tree has changed since: not all that it has now was known then.
    known = sorted(
        {name.encode() for name in states.world.files.values() if name is not None and name.encode() in content}
    )
    name = random.choice(known)
    path.write_bytes(content.replace(name, name[:2] + b"9" + name[3:]))


def flip_another(path: Path, random: Random, states: States) -> None:
    flip(path, random, states)


def cut(path: Path, random: Random, _states: States) -> None:
    os.truncate(path, random.randrange(path.stat().st_size))


def zero(path: Path, random: Random, _states: States) -> None:
    with path.open("r+b") as file:
        for _ in range(random.randrange(1, 4)):
            file.seek(random.randrange(max(1, path.stat().st_size // PAGE)) * PAGE)
            file.write(bytes(PAGE))


def foreign_log(path: Path, _random: Random, states: States) -> None:
    shutil.copy(states.foreign, f"{path}-wal")


def old_copy(path: Path, _random: Random, states: States) -> None:
    shutil.copy(states.old, path)


def text(path: Path, _random: Random, _states: States) -> None:
    path.write_text("this is no database\n" * 500)


Harm = Callable[[Path, Random, States], None]
HARMS: tuple[Harm, ...] = (flip, rewrite, cut, zero, foreign_log, old_copy, text, flip_another)


def one_image(states: States, harm: Harm, row: Row, scratch: Scratch) -> str:
    """Harm one file of one state; return what is wrong with the daemon that begins from it."""
    random = states.lab.random
    state = random.choice((states.ended, states.cut))
    if harm in (flip, rewrite):
        state = states.ended
    home = Home(bin=states.lab.home.bin)
    try:
        shutil.copytree(state, home.path)
        index = states.index(Path(home.path))
        chosen = index
        if harm in (flip_another, cut, zero, text):
            others = [
                path for path in Path(home.path).rglob("*.db*") if path.suffix != ".db-shm" and path.stat().st_size
            ]
            chosen = random.choice([index] * len(others) + others if harm is not flip_another else others)
        harm(chosen, random, states)
        where = f"{harm.__name__} {chosen.name} of the {state.name} state"
        wrong = first_answers(states, home, row) or different(states, home, scratch)
        if len(set_aside(home)) > 1:
            wrong = f"{len(set_aside(home))} files set aside; {wrong}"
        if number(str(states.index(Path(home.path)))) > number(str(index)) + 1:
            wrong = f"more than one rebuild; {wrong}"
        return f"{where}: {wrong}" if wrong else ""
    finally:
        home.close()


def different(states: States, home: Home, scratch: Scratch) -> str:
    """Return what differs from a new index of the tree."""
    tree = states.lab.tree
    scratch.index(tree)
    try:
        new = index_of(Path(scratch.home.path), tree.root)
        return first_difference(dumped(str(states.index(Path(home.path)))), dumped(str(new)))
    except (apsw.Error, ValueError, zlib.error) as error:
        return f"cannot be compared: {error}"
    finally:
        scratch.forget(tree)


def first_answers(states: States, home: Home, row: Row) -> str:
    """Start the daemon and ask for some names; return what is wrong with the answers."""
    started = home.run("daemon", "start", cwd="/")
    if started.returncode:
        return started.stderr[-600:]
    pid = home.pid
    names = states.lab.random.sample([name for name in states.world.files.values() if name is not None], ASKED)
    with Link(home.path) as link:
        for name in names:
            began = time.perf_counter()
            try:
                answer = link.symbols(states.lab.tree.root, name, index_wait_ms=-1)
            except Refused as refused:
                log = (Path(home.path) / "ctxd.log").read_text().splitlines()
                return f"{refused} {log[-1:]}"
            row.waits_s.append(time.perf_counter() - began)
            row.unfresh += not answer["fresh"]
            found, expected = sorted(each["file"] for each in answer["results"]), states.world.where(name)
            if found != expected:
                return f"{name} in {found}, is in {expected}"
    return "" if home.daemons == [pid] else f"pid {pid} became {home.daemons}"

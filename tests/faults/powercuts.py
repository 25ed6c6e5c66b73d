"""R10: power is lost. What SQLite wrote and did not sync reaches the disk in part, torn and in any order, or not."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from ctxprotocol.messages import Forget, Update
from tests.faults.compare import Scratch, index_files, problems_of
from tests.faults.disks import Disk, set_aside
from tests.faults.lab import Lab, Row, Size
from tests.faults.world import World
from tests.home import Home
from tests.link import Link

# Lives of a daemon that are recorded, and images that are made of each.
LIVES = {"ci": (1, 5), "release": (10, 20), "nightly": (50, 40)}
STEPS = 12
FILES = 25
# The log is emptied after a second of calm.
CALM_S = 1.3
SECTOR = 512
SHARES = (0.0, 0.2, 0.5, 0.8, 1.0)

Entry = tuple[Any, ...]


def power_lost(size: Size, seed: int, bin: str) -> Row:
    """Record what a daemon writes; then begin from images of random moments."""
    row = Row("R10", "power loss: images of unsynced writes", seed)
    scratch = Scratch(bin)
    lives, images = LIVES[size.name]
    try:
        for number in range(lives):
            with Lab(seed * 1_009 + number, bin) as lab:
                world = World(lab.tree, f"{lab.home.place}/outside", lab.random, files=FILES)
                entries = recorded(lab, world)
                for _ in range(images):
                    row.count(one_image(lab, world, entries, row, scratch, bin))
    finally:
        scratch.close()
    return row


def recorded(lab: Lab, world: World) -> list[Entry]:
    """Live through edits, rebuilds, a detaching and some calm; return what was done to the files."""
    with tempfile.TemporaryDirectory(prefix="ctx-journal-", dir="/tmp") as folder:
        disk = Disk(lab.home, f"{folder}/journal")
        disk.start()
        directory = os.fsencode(lab.tree.root)
        with Link(lab.home.path) as link:
            for _ in range(STEPS):
                world.step()
                link.ask(Update(directory=directory, full=lab.random.random() < 0.2, index_wait_ms=-1))
                chosen = lab.random.random()
                if chosen < 0.2:
                    time.sleep(CALM_S)
                elif chosen < 0.3:
                    link.ask(Forget(directory=directory))
        disk.kill()
        return list(read(Path(disk.journal)))


def read(journal: Path) -> Sequence[Entry]:
    entries = []
    with journal.open("rb") as file:
        while True:
            try:
                entries.append(pickle.load(file))
            except (EOFError, pickle.UnpicklingError):
                return entries


def one_image(lab: Lab, world: World, entries: Sequence[Entry], row: Row, scratch: Scratch, bin: str) -> str:
    """Make an image of a random moment, begin from it, and see that every answer is right."""
    moment = lab.random.randrange(1, len(entries) + 1)
    home = Home(bin=bin)
    try:
        Image(entries[:moment], lab.home.path).write(home.path, lab.random)
        where = f"after {moment} of {len(entries)} writes"
        for path in index_files(home):
            if problems := problems_of(path):
                return f"{where}: {os.path.basename(path)}: {problems[:3]}"
        started = home.run("daemon", "start", cwd="/")
        if started.returncode:
            return f"{where}: {started.stderr[:200]}"
        names = lab.random.sample([name for name in world.files.values() if name is not None], 3)
        with Link(home.path) as link:
            for name in names:
                began = time.perf_counter()
                answer = link.symbols(lab.tree.root, name, index_wait_ms=-1)
                row.waits_s.append(time.perf_counter() - began)
                found = sorted(each["file"] for each in answer["results"])
                if found != world.where(name):
                    return f"{where}: {name} in {found}, is in {world.where(name)}"
        if aside := set_aside(home):
            return f"{where}: set aside {aside}"
        different = scratch.difference(home, lab.tree)
        return f"{where}: {different}" if different else ""
    finally:
        home.close()


class Image:
    """What a disk may hold after some entries of a journal: all that was synced, and any part of the rest."""

    def __init__(self, entries: Sequence[Entry], root: str) -> None:
        self._root = root
        self._durable: dict[int, bytearray] = {}
        self._pending: dict[int, list[Entry]] = {}
        # A number that the system gave to a file, by the number that it has here: they are used again.
        self._files: dict[int, int] = {}
        self._names: dict[str, int] = {}
        self._pending_names: list[Callable[[dict[str, int]], object]] = []
        for entry in entries:
            self._take(*entry)

    def _take(self, kind: str, path: str, *rest: Any) -> None:
        match kind:
            case "delete":
                self._pending_names.append(lambda names: names.pop(path, None))
                self._forget(path)
            case "rename":
                self._pending_names.append(
                    lambda names: names.update({rest[0]: names.pop(path)}) if path in names else 0
                )
            case "sync":
                file = self._file(path, rest[0])
                for pending in self._pending[file]:
                    put(self._durable[file], *pending)
                self._pending[file].clear()
                # A sync ends the file system's own transaction, and names are changed in order.
                self._settle_names(len(self._pending_names), self._names)
                self._pending_names.clear()
            case _:
                self._pending[self._file(path, rest[0])].append((kind, *rest[1:]))

    def _file(self, path: str, inode: int) -> int:
        if inode not in self._files:
            file = self._files[inode] = len(self._durable)
            self._durable[file], self._pending[file] = bytearray(), []
            self._pending_names.append(lambda names: names.update({path: file}))
        return self._files[inode]

    def _forget(self, path: str) -> None:
        names = dict(self._names)
        self._settle_names(len(self._pending_names) - 1, names)
        gone = names.get(path)
        self._files = {inode: file for inode, file in self._files.items() if file != gone}

    def _settle_names(self, count: int, names: dict[str, int]) -> None:
        for change in self._pending_names[:count]:
            change(names)

    def write(self, root: str, random: Random) -> None:
        """Write one of the possible states below another root."""
        names = dict(self._names)
        self._settle_names(random.randint(0, len(self._pending_names)), names)
        share = random.choice(SHARES)
        for path, file in names.items():
            content = bytearray(self._durable[file])
            pending = [entry for entry in self._pending[file] if random.random() < share]
            random.shuffle(pending)
            for entry in pending:
                put(content, *torn(entry, random))
            target = Path(root) / os.path.relpath(path, self._root)
            for folder in (Path(root), *reversed(target.parents)):
                if folder.is_relative_to(root):
                    folder.mkdir(mode=0o700, exist_ok=True)
            target.write_bytes(content)
            target.chmod(0o600)
            if path.endswith("-wal") and random.random() < 0.5:
                # Shared memory is a file, too, and holds whatever the system had written of it.
                target.with_name(target.name[:-4] + "-shm").write_bytes(random.randbytes(32_768))


def torn(entry: Entry, random: Random) -> Entry:
    """Return a write, or now and then only some of its sectors."""
    if entry[0] != "write" or random.random() < 0.8:
        return entry
    kind, offset, data = entry
    return kind, offset, data[: random.randrange(len(data) // SECTOR + 1) * SECTOR]


def put(content: bytearray, kind: str, *rest: Any) -> None:
    """Do a write or a truncation to a content."""
    if kind == "truncate":
        del content[rest[0] :]
        content.extend(bytes(rest[0] - len(content)))
        return
    offset, data = rest
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data

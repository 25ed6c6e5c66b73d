"""Random histories: what the watcher tells, looked at and listed, is all that changed.

A shadow of the tree is kept as the daemon keeps its index: events are hints, each is looked at or listed, nothing
else is. After each operation it must equal a fresh listing, contents included.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxd.model import EventKind, FileEvent, Overflow
from ctxd.scan.discover import discover
from ctxd.scan.git import Repository
from ctxd.scan.look import look
from ctxd.scan.rules import Rules
from tests.tree import Tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")

if sys.platform == "linux":
    from ctxd.watch.inotify import InotifyWatcher

RULES = Rules(ignore=("node_modules/",))
HISTORIES = 20
STEPS = 20
FILES = ["a.py", "b.py", "x.log", ".env", "é.md", "c.tmp"]
FOLDERS = ["lib", "app", "gen", "Bar", "src", "lib", "app", "gen", "node_modules"]


class Shadow:
    """What a daemon would have indexed: path -> contents, or the reason for not reading them."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.files: dict[str, str] = {}
        self.watcher = InotifyWatcher(root)
        self.list_all()

    def list_all(self) -> None:
        self.watch_rules(Repository.open(self.root))
        self.files = self.fresh(self.watcher.add)
        for nested in discover(self.root, RULES).nested:
            self.watch_rules(Repository.at(os.path.join(self.root, nested)))

    def watch_rules(self, repository: Repository | None) -> None:
        for path in repository.rule_files() if repository else ():
            self.watcher.add_rules(path)

    def fresh(self, watch: Callable[[str], object], directory: str = "") -> dict[str, str]:
        found = discover(self.root, RULES, directory, watch)
        return {f.path: f.skip or self.read(f.path) for f in found.files}

    def read(self, path: str) -> str:
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def catch_up(self) -> None:
        """Take in all that is queued, as the worktree does: once, then look and list."""
        events = []
        while (drained := self.watcher.drain()).more:
            events += drained.events
        events += drained.events
        listings: set[str] = set()
        paths: set[str] = set()
        for event in events:
            if isinstance(event, Overflow) or event.kind in ("rules", "head"):
                return self.list_all()
            assert isinstance(event, FileEvent)
            paths.add(event.path)
            if event.kind in ("directory", "directory_gone"):
                listings.add(event.path)
        for directory in sorted(listings):
            below = self.fresh(self.watcher.add, directory)
            gone = [path for path in self.files if path.startswith(f"{directory}/")]
            for path in gone:
                del self.files[path]
            self.files |= below
        looked = look(self.root, RULES, sorted(paths), self.files.keys())
        for path in looked.gone:
            self.files.pop(path, None)
        self.files |= {f.path: f.skip or self.read(f.path) for f in looked.found}
        return None


class Hand:
    """Somebody who works in the tree. Every method is one operation and says what it did."""

    def __init__(self, tree: Tree, outside: Path, rng: random.Random) -> None:
        self.tree = tree
        self.outside = outside
        self.rng = rng
        self.count = 0

    def folders(self) -> list[Path]:
        return [self.tree.root, *(Path(where) for where in self._walk() if Path(where) != self.tree.root)]

    def files(self) -> list[Path]:
        return [
            Path(where) / name
            for where in self._walk()
            for name in sorted(os.listdir(where))
            if self._is_file(where, name)
        ]

    def _walk(self) -> list[str]:
        found = []
        for where, folders, _ in os.walk(self.tree.root):
            folders[:] = sorted(f for f in folders if f != ".git")
            found.append(where)
        return found

    def _is_file(self, where: str, name: str) -> bool:
        path = os.path.join(where, name)
        return name != ".git" and os.path.isfile(path) and not os.path.islink(path)

    def new_folder(self) -> Path:
        self.count += 1
        return self.rng.choice(self.folders()) / f"{self.rng.choice(FOLDERS)}{self.rng.choice(['', str(self.count)])}"

    def text(self) -> str:
        self.count += 1
        return f"{self.count:06}"

    def create(self) -> str:
        path = self.rng.choice(self.folders()) / self.rng.choice(FILES)
        if path.is_dir() or path.is_symlink():
            return "nothing"
        path.write_text(self.text())
        return f"write {path}"

    def edit(self) -> str:
        if not (files := self.files()):
            return "nothing"
        path = self.rng.choice(files)
        for _ in range(self.rng.randint(1, 3)):
            path.write_text(self.text())
        return f"edit {path}"

    def save_by_rename(self) -> str:
        if not (files := self.files()):
            return "nothing"
        path = self.rng.choice(files)
        (path.parent / "save~").write_text(self.text())
        os.replace(path.parent / "save~", path)
        return f"save {path}"

    def delete(self) -> str:
        if not (files := self.files()):
            return "nothing"
        path = self.rng.choice(files)
        path.unlink()
        return f"rm {path}"

    def rename(self) -> str:
        if not (files := self.files()):
            return "nothing"
        path = self.rng.choice(files)
        to = self.rng.choice(self.folders()) / self.rng.choice(FILES)
        if to.is_dir():
            return "nothing"
        os.replace(path, to)
        return f"mv {path} {to}"

    def nested_and_quick(self) -> str:
        path = self.new_folder() / self.rng.choice(FOLDERS) / self.rng.choice(FILES)
        if any(p.is_file() or p.is_symlink() for p in (path, *path.parents)):
            return "nothing"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            path.write_text(self.text())
        return f"mkdir and write {path}"

    def move_folder(self) -> str:
        folders = self.folders()[1:]
        to = self.new_folder()
        if not folders or os.path.lexists(to):
            return "nothing"
        path = self.rng.choice(folders)
        if to == path or path in to.parents:
            return "nothing"
        os.rename(path, to)
        if self.rng.random() < 0.5:
            (to / f"after{self.count}.py").write_text(self.text())
        return f"mv {path} {to}"

    def move_out(self) -> str:
        if not (folders := self.folders()[1:]):
            return "nothing"
        path = self.rng.choice(folders)
        os.rename(path, self.outside / self.text())
        return f"mv {path} outside"

    def move_in(self) -> str:
        to = self.new_folder()
        if os.path.lexists(to) or not (kept := sorted(self.outside.iterdir())):
            return "nothing"
        path = self.rng.choice(kept)
        os.rename(path, to)
        return f"mv {path} {to}"

    def recreate(self) -> str:
        if not (folders := self.folders()[1:]):
            return "nothing"
        path = self.rng.choice(folders)
        shutil.rmtree(path)
        path.mkdir()
        (path / "again.py").write_text(self.text())
        return f"recreate {path}"

    def remove_folder(self) -> str:
        if not (folders := self.folders()[1:]):
            return "nothing"
        path = self.rng.choice(folders)
        shutil.rmtree(path)
        return f"rm -r {path}"

    def swap_link(self) -> str:
        path = self.rng.choice(self.folders()) / "link"
        if path.is_symlink():
            path.unlink()
        if path.exists():
            return "nothing"
        path.symlink_to(self.rng.choice([".", "..", "/etc", "a.py", self.tree.root]))
        return f"ln {path}"

    def folder_becomes_link(self) -> str:
        if not (folders := self.folders()[1:]):
            return "nothing"
        path = self.rng.choice(folders)
        kept = self.outside / self.text()
        os.rename(path, kept)
        path.symlink_to(kept)
        return f"{path} is a link now"

    def file_becomes_folder(self) -> str:
        if not (files := self.files()):
            return "nothing"
        path = self.rng.choice(files)
        path.unlink()
        path.mkdir()
        (path / "in.py").write_text(self.text())
        return f"{path} is a folder now"

    def rules(self) -> str:
        path = self.rng.choice(self.folders()) / self.rng.choice([".gitignore", ".ctxignore"])
        if path.is_dir() or path.is_symlink():
            return "nothing"
        path.write_text("\n".join(self.rng.sample(["*.log", "gen*/", "/lib", "!x.log", "!lib", "*.tmp", "!gen/"], 2)))
        return f"rules {path}"

    def nested_repository(self) -> str:
        path = self.rng.choice(self.folders()[1:] or [self.new_folder()])
        if (path / ".git").exists():
            shutil.rmtree(path / ".git")
            return f"rm -r {path}/.git"
        Tree(path)
        return f"git init {path}"

    def step(self) -> str:
        often = [self.create, self.edit, self.save_by_rename, self.nested_and_quick, self.move_folder, self.rename]
        seldom = [self.delete, self.move_out, self.move_in, self.recreate, self.remove_folder, self.swap_link]
        rare = [self.folder_becomes_link, self.file_becomes_folder, self.rules, self.nested_repository]
        return self.rng.choice(often * 3 + seldom * 2 + rare)()


def live(place: Path, seed: int) -> None:
    """Live through one history; the shadow must equal a fresh listing after each operation, or a few together."""
    rng = random.Random(seed)
    tree = Tree(place / "t", git=seed % 2 == 0)
    (place / "outside").mkdir(parents=True)
    hand = Hand(tree, place / "outside", rng)
    for _ in range(5):
        hand.nested_and_quick()
    shadow = Shadow(str(tree.root))
    try:
        for step in range(STEPS):
            did = [hand.step() for _ in range(rng.choice([1, 1, 1, 3]))]
            print(f"seed {seed} step {step}: {did}")
            shadow.catch_up()
            assert shadow.files == shadow.fresh(lambda _: None)
        assert (shadow.watcher.trusted, shadow.watcher.overflows) == (True, 0)
    finally:
        shadow.watcher.close()


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_operation_is_missed(tmp_path: Path, seed: int) -> None:
    """Files, folders, links, rules and repositories come, change, move and go."""
    live(tmp_path, seed)


@pytest.mark.parametrize("kind", ["file", "gone", "directory", "directory_gone", "rules"])
def test_histories_go_red_without_one_kind_of_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """They can fail: each kind of event is needed by one of them."""
    real = InotifyWatcher._emit

    def emit(self: InotifyWatcher, path: str, of: EventKind) -> None:
        if of != kind:
            real(self, path, of)

    monkeypatch.setattr(InotifyWatcher, "_emit", emit)
    with pytest.raises((AssertionError, FileNotFoundError)):
        for seed in range(HISTORIES):
            live(tmp_path / str(seed), seed)

"""R06: git changes thousands of files at once, there and back; answers follow, and none is ever empty."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable

from ctxprotocol.messages import DaemonStatus
from tests.faults.lab import PATIENCE_S, Lab, Row, Size
from tests.link import Link
from tests.tree import Tree

FILES = {"ci": 150, "release": 5_000, "nightly": 5_000}
CHECKOUTS = {"ci": 4, "release": 20, "nightly": 200}
FRESH_WITHIN_S = 5.0
SAMPLE = 12
# A file of a usual size: 50 lines.
BODY = (
    "".join(f"    total_{line} = argument * {line} + previous_value\n" for line in range(24)) + "    return total_1\n"
)
STAYS = "stays_for_ever"


def git_storms(size: Size, seed: int, bin: str) -> Row:
    """Every file differs between two branches; each operation of git is followed at once by questions."""
    files = FILES[size.name]
    row = Row("R06", f"git storms on {files:,} files", seed, unfresh_share=1.0)
    with Lab(seed, bin) as lab:
        branches(lab, files)
        lab.places(Row("", "", 0), STAYS)
        with Watcher(lab) as watcher:
            for name, operate, side in operations(lab, CHECKOUTS[size.name]):
                operate()
                row.count(wrong_after(lab, row, files, name, side))
            row.count(worktree_added(lab, row, files))
        for empty in watcher.empty:
            row.count(empty)
        row.count("" if watcher.asked else "nobody asked meanwhile")
        row.count(parsed_twice(lab, files))
        row.what += f", {watcher.asked} questions meanwhile"
    return row


def path_of(each: int) -> str:
    return f"p{each % 50}/m{each}.py"


def write_all(lab: Lab, files: int, side: str) -> None:
    for each in range(files):
        lab.tree.write(path_of(each), f"def {side}_{each:05d}(argument, previous_value):\n{BODY}")


def branches(lab: Lab, files: int) -> None:
    """Two branches on which every file differs, and one file that is the same on both."""
    lab.tree.write("const.py", f"def {STAYS}(): pass\n")
    write_all(lab, files, "main")
    lab.tree.commit("main")
    lab.tree.git("checkout", "-q", "-b", "side")
    write_all(lab, files, "side")
    lab.tree.write("only.py", "def only_on_side(): pass\n")
    lab.tree.commit("side")
    lab.tree.git("checkout", "-q", "main")


def operations(lab: Lab, checkouts: int) -> list[tuple[str, Callable[[], object], str]]:
    """Return what git does, in words and to be called, and which side's names are there afterwards."""
    git = lab.tree.git
    ops: list[tuple[str, Callable[[], object], str]] = []
    for number in range(checkouts):
        side = "main" if number % 2 else "side"
        ops.append((f"checkout {number}", lambda side=side: git("checkout", "-q", side), side))
    main = [("checkout main", lambda: git("checkout", "-q", "main"), "main")]

    def edited() -> None:
        for each in range(50):
            lab.tree.write(path_of(each), f"def stash_{each:05d}(): pass\n")
        lab.tree.write("fresh/new.py", "def untracked(): pass\n")

    def rebased() -> None:
        git("checkout", "-q", "-b", "topic", "main")
        lab.tree.write("topic.py", "def topic(): pass\n")
        lab.tree.commit("topic")
        git("rebase", "-q", "side")

    return [
        *ops,
        *main,
        ("rebase", rebased, "side"),
        *main,
        ("edits", edited, "stash"),
        ("stash", lambda: git("stash", "-q", "-u"), "main"),
        ("stash pop", lambda: git("stash", "pop", "-q"), "stash"),
        ("reset --hard", lambda: git("reset", "-q", "--hard"), "main"),
        ("clean", lambda: git("clean", "-qfd"), "main"),
        ("reset to side", lambda: git("reset", "-q", "--hard", "side"), "side"),
        ("reset back", lambda: git("reset", "-q", "--hard", "ORIG_HEAD"), "main"),
    ]


def wrong_after(lab: Lab, row: Row, files: int, name: str, side: str) -> str:
    """Ask for names of both sides: those of one are there, those of the other are not; the first answer is in time."""
    began = time.perf_counter()
    chosen = lab.random.sample(range(50 if side == "stash" else files), SAMPLE)
    for asked, each in enumerate(chosen):
        for other in ("main", "side", "stash"):
            found = lab.places(row, f"{other}_{each:05d}")
            if found != ([path_of(each)] if other == side else []):
                return f"{name}: {other}_{each:05d} in {found}, the tree is {side}"
        if not asked and time.perf_counter() - began > FRESH_WITHIN_S:
            return f"{name}: fresh after {time.perf_counter() - began:.1f} s"
    if (found := lab.places(row, "only_on_side")) != (["only.py"] if side == "side" else []):
        return f"{name}: only_on_side in {found}, the tree is {side}"
    return ""


def worktree_added(lab: Lab, row: Row, files: int) -> str:
    """A second worktree of the other branch: its own names, and nothing of its sibling's."""
    root = f"{lab.home.place}/second"
    lab.tree.git("worktree", "add", "-q", root, "side")
    first, lab.tree = lab.tree, Tree(root, git=False)
    try:
        return wrong_after(lab, row, files, "worktree add", "side")
    finally:
        lab.tree = first


def parsed_twice(lab: Lab, files: int) -> str:
    """Both sides were parsed once, however often they changed."""
    status = json.loads(lab.link.ask(DaemonStatus(output="json")).out)
    at_most = 2 * files + 60
    return "" if status["files_parsed"] <= at_most else f"{status['files_parsed']} files were parsed, not {at_most}"


class Watcher:
    """Asks over a connection of its own, again and again, for what is there on both sides."""

    def __init__(self, lab: Lab) -> None:
        self.asked = 0
        self.empty: list[str] = []
        self._lab = lab
        self._root = os.fspath(lab.tree.root)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="asking")

    def _ask(self) -> None:
        with Link(self._lab.home.path, timeout_s=2 * PATIENCE_S) as link:
            while not self._done.wait(0.02):
                found = [each["file"] for each in link.symbols(self._root, STAYS, fresh_within_ms=0)["results"]]
                self.asked += 1
                if found != ["const.py"]:
                    self.empty.append(f"{STAYS} in {found} while git was at work")

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

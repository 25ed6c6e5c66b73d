"""The Linux watcher: what each operation comes to, what is never lost, and what is said when something is."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxd.model import FileEvent, Overflow
from ctxd.scan.discover import discover
from ctxd.scan.rules import Rules
from tests.tree import Tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")

if sys.platform == "linux":
    from watchdog.observers import inotify_c

    from ctxd.watch import inotify, kernel, mounts
    from ctxd.watch.inotify import InotifyWatcher
    from ctxd.watch.opening import open_watcher


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "t", git=False)
    tree.write("lib/a.py", "1")
    tree.write("lib/deep/b.py", "1")
    return tree


@pytest.fixture
def watcher(tree: Tree) -> Iterator[InotifyWatcher]:
    """A watcher of the whole tree, nothing queued."""
    watcher = InotifyWatcher(str(tree.root))
    discover(str(tree.root), Rules(ignore=("node_modules/",)), "", watcher.add)
    assert watcher.trusted and watcher.watches == 3
    yield watcher
    watcher.close()


def drained(watcher: InotifyWatcher) -> set[tuple[str, str]]:
    """All that is queued, as (kind, path)."""
    found: set[tuple[str, str]] = set()
    more = True
    while more:
        slice_ = watcher.drain()
        more = slice_.more
        for event in slice_.events:
            found.add((event.kind, event.path) if isinstance(event, FileEvent) else ("lost", event.reason))
    return found


def sees(watcher: InotifyWatcher, path: Path, named: str) -> None:
    """The file at `path`, edited, is an event on `named` and on nothing else."""
    path.write_text("edited")
    assert drained(watcher) == {("file", named)}


def test_a_save_is_one_event_per_drain(tree: Tree, watcher: InotifyWatcher) -> None:
    """Create, modify, close and chmod of one file are one hint to look at it."""
    tree.write("lib/new.py", "x").chmod(0o600)
    assert watcher.drain().events == (FileEvent("lib/new.py", "file"),)


@pytest.mark.parametrize("times", [1, 3])
def test_an_edit_of_the_same_size_within_a_tick_is_an_event(tree: Tree, watcher: InotifyWatcher, times: int) -> None:
    """B039: stat cannot tell these."""
    for n in range(times):
        tree.write("lib/a.py", str(n))
    assert drained(watcher) == {("file", "lib/a.py")}


def test_files_come_and_go(tree: Tree, watcher: InotifyWatcher) -> None:
    """An editor's save by rename, a delete, a link, a hard link, a truncation."""
    tree.write("lib/a.py.tmp", "x")
    os.replace(tree.path("lib/a.py.tmp"), tree.path("lib/a.py"))
    assert drained(watcher) == {("file", "lib/a.py.tmp"), ("gone", "lib/a.py.tmp"), ("file", "lib/a.py")}
    tree.path("lib/a.py").unlink()
    tree.path("l").symlink_to("lib")
    os.link(tree.path("lib/deep/b.py"), tree.path("hard"))
    os.truncate(tree.path("lib/deep/b.py"), 0)
    assert drained(watcher) == {("gone", "lib/a.py"), ("file", "l"), ("file", "hard"), ("file", "lib/deep/b.py")}


def test_ignore_files_are_rules_as_well(tree: Tree, watcher: InotifyWatcher) -> None:
    """Written, changed or removed."""
    tree.write("lib/.gitignore", "x")
    assert drained(watcher) == {("file", "lib/.gitignore"), ("rules", "lib/.gitignore")}
    tree.write(".ctxignore", "x")
    assert drained(watcher) == {("file", ".ctxignore"), ("rules", ".ctxignore")}
    tree.path("lib/.gitignore").unlink()
    assert drained(watcher) == {("gone", "lib/.gitignore"), ("rules", "lib/.gitignore")}


def test_a_repository_that_begins_or_ends_changes_the_rules(tree: Tree, watcher: InotifyWatcher) -> None:
    """It is one only when the last of its parts is there, which has to be heard too; its files are no events."""
    tree.path("lib/.git").mkdir()
    assert drained(watcher) == {("rules", "lib/.git")}
    tree.path("lib/.git/objects").mkdir()
    assert drained(watcher) == {("rules", f"{tree.root}/lib/.git/objects")}
    tree.write("lib/.git/objects/ab/cd", "x")
    tree.write("lib/.git/description", "x")
    assert drained(watcher) == set()
    os.rename(tree.path("lib/.git"), tree.root.parent / "away")
    assert drained(watcher) == {("rules", "lib/.git")}
    tree.write("lib/.git", "gitdir: elsewhere")
    assert drained(watcher) == {("rules", "lib/.git")}


def test_a_name_that_is_not_utf8_has_its_directory_listed(tree: Tree, watcher: InotifyWatcher) -> None:
    """Such a file is counted, not indexed: it matters when it comes and when it goes."""
    odd = Path(os.fsdecode(os.fsencode(tree.root) + b"/lib/\xff"))
    odd.write_text("x")
    assert drained(watcher) == {("directory", "lib")}
    odd.write_text("y")
    assert drained(watcher) == set()
    odd.unlink()
    assert drained(watcher) == {("directory", "lib")}


def test_a_new_directory_asks_to_be_listed(tree: Tree, watcher: InotifyWatcher) -> None:
    """B041: `mkdir -p x/y && write x/y/z.py` at once; the listing has the file and later edits are events."""
    tree.write("x/y/z.py", "1")
    assert drained(watcher) == {("directory", "x")}
    found = discover(str(tree.root), Rules(), "x", watcher.add)
    assert [f.path for f in found.files] == ["x/y/z.py"]
    sees(watcher, tree.path("x/y/z.py"), "x/y/z.py")


def test_a_directory_moved_out_is_gone_with_its_watches(tree: Tree, watcher: InotifyWatcher, tmp_path: Path) -> None:
    """B041: what happens to it outside is no event, and its watches go back."""
    os.rename(tree.path("lib"), tmp_path / "lib")
    assert drained(watcher) == {("directory_gone", "lib")}
    assert watcher.watches == 1
    (tmp_path / "lib/a.py").write_text("outside")
    (tmp_path / "lib/deep/b.py").write_text("outside")
    assert drained(watcher) == set()
    assert len(watcher._queue._fd._watch_for_wd) == 1


def test_a_directory_moved_within_the_tree_speaks_for_its_new_place(tree: Tree, watcher: InotifyWatcher) -> None:
    """Its old name is never heard again, and its watches are taken over."""
    os.rename(tree.path("lib"), tree.path("moved"))
    assert drained(watcher) == {("directory_gone", "lib"), ("directory", "moved")}
    discover(str(tree.root), Rules(), "moved", watcher.add)
    assert watcher.watches == 3 == len(watcher._queue._fd._watch_for_wd)
    sees(watcher, tree.path("moved/deep/b.py"), "moved/deep/b.py")


def test_a_move_seen_by_the_scan_before_its_events_are_read(tree: Tree, watcher: InotifyWatcher) -> None:
    """The scan thread has added the new name already when the loop reads of the move."""
    os.rename(tree.path("lib"), tree.path("moved"))
    discover(str(tree.root), Rules(), "moved", watcher.add)
    assert drained(watcher) == {("directory_gone", "lib"), ("directory", "moved")}
    sees(watcher, tree.path("moved/deep/b.py"), "moved/deep/b.py")


def test_two_directories_that_change_places(tree: Tree, watcher: InotifyWatcher) -> None:
    """An old number must not speak for the directory that has its name now."""
    tree.write("other/c.py", "1")
    discover(str(tree.root), Rules(), "other", watcher.add)
    drained(watcher)
    os.rename(tree.path("lib"), tree.path("between"))
    os.rename(tree.path("other"), tree.path("lib"))
    os.rename(tree.path("between"), tree.path("other"))
    tree.write("lib/c.py", "early")
    told = drained(watcher)
    assert {("directory", "lib"), ("directory", "other")} <= told
    assert not {path for kind, path in told if kind == "file"} - {"lib/c.py", "other/c.py"}
    for directory in ("lib", "other"):
        discover(str(tree.root), Rules(), directory, watcher.add)
    sees(watcher, tree.path("lib/c.py"), "lib/c.py")
    sees(watcher, tree.path("other/deep/b.py"), "other/deep/b.py")


def test_a_directory_made_again_is_another_one(tree: Tree, watcher: InotifyWatcher) -> None:
    """Also when the scan has added the new one before the end of the old one is read."""
    for path in ("lib/deep/b.py", "lib/deep"):
        (os.rmdir if path == "lib/deep" else os.unlink)(tree.path(path))
    tree.path("lib/deep").mkdir()
    assert watcher.add("lib/deep")
    assert {("directory_gone", "lib/deep"), ("directory", "lib/deep")} <= drained(watcher)
    discover(str(tree.root), Rules(), "lib/deep", watcher.add)
    sees(watcher, tree.path("lib/deep/new.py"), "lib/deep/new.py")
    assert watcher.watches == 3 == len(watcher._queue._fd._watch_for_wd)


def test_a_removed_tree_gives_its_watches_back(tree: Tree, watcher: InotifyWatcher) -> None:
    """The kernel does it; the map follows."""
    for path in ("lib/deep/b.py", "lib/a.py"):
        tree.path(path).unlink()
    tree.path("lib/deep").rmdir()
    tree.path("lib").rmdir()
    told = drained(watcher)
    assert {("gone", "lib/a.py"), ("directory_gone", "lib/deep"), ("directory_gone", "lib")} <= told
    assert watcher.watches == 1 == len(watcher._queue._fd._watch_for_wd)


def test_a_directory_whose_mode_changes_is_listed_again(tree: Tree, watcher: InotifyWatcher) -> None:
    """It may have become readable."""
    tree.path("lib").chmod(0o700)
    assert drained(watcher) == {("directory", "lib")}


@pytest.mark.parametrize("end", ["moved", "removed"])
def test_the_end_of_the_root_is_a_loss(tree: Tree, watcher: InotifyWatcher, end: str) -> None:
    """No path is true any more."""
    if end == "moved":
        os.rename(tree.root, tree.root.parent / "elsewhere")
    else:
        for path in sorted(tree.root.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        tree.root.rmdir()
    assert ("lost", "the root was moved or deleted") in drained(watcher)


def test_a_lost_event_is_an_event(tree: Tree, watcher: InotifyWatcher) -> None:
    """B045: more events than the kernel keeps; the watcher says so once, and goes on."""
    with open("/proc/sys/fs/inotify/max_queued_events") as file:
        limit = int(file.read())
    if limit > 20_000:
        pytest.skip(f"the overflow of a queue of {limit} events takes too long to make")
    for n in range(limit // 3 + 10):
        tree.write(f"f{n}", "x")
    told = drained(watcher)
    assert ("lost", "the kernel's event queue overflowed") in told
    assert (watcher.overflows, watcher.trusted) == (1, True)
    sees(watcher, tree.path("lib/a.py"), "lib/a.py")


def test_a_drain_takes_no_more_than_its_slice(tree: Tree, watcher: InotifyWatcher) -> None:
    """Requests get their turn in a storm."""
    for n in range(3_000):
        tree.write(f"f{n}", "x")
    first = watcher.drain(500)
    assert first.more and 100 < len(first.events) < 600
    assert len(drained(watcher)) + len(first.events) == 3_000


def refuse(monkeypatch: pytest.MonkeyPatch, code: int, after: int = 0) -> None:
    """Make the one function that adds a watch fail from the `after`-th call on."""
    real, calls = kernel.Queue.add, [0]

    def add(self: kernel.Queue, path: bytes) -> int:
        calls[0] += 1
        if calls[0] > after:
            raise OSError(code, os.strerror(code))
        return real(self, path)

    monkeypatch.setattr(kernel.Queue, "add", add)


@pytest.mark.parametrize(
    ("code", "reason", "remedy"),
    [
        (errno.ENOSPC, "watches exhausted", "raise sysctl fs.inotify.max_user_watches"),
        (errno.EACCES, "Permission denied", "let it be read"),
    ],
)
def test_a_watch_that_cannot_be_added_is_a_loss(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, code: int, reason: str, remedy: str
) -> None:
    """B048: one Overflow, no trust from then on, and the remedy where there is one."""
    watcher = InotifyWatcher(str(tree.root))
    refuse(monkeypatch, code, after=1)
    assert [watcher.add(d) for d in ("", "lib", "lib/deep")] == [True, False, False]
    assert not watcher.trusted and watcher.passing and reason in watcher.reason and remedy in watcher.remedy
    assert watcher.drain().events == (Overflow(watcher.reason),)
    assert watcher.drain().events == ()
    watcher.close()


def test_a_directory_that_is_gone_is_no_loss(tree: Tree, watcher: InotifyWatcher) -> None:
    """Its end is an event already."""
    assert not watcher.add("missing") and not watcher.add("lib/a.py")
    assert watcher.trusted and drained(watcher) == set()


def test_a_followed_link_ends_the_trust(tree: Tree, watcher: InotifyWatcher) -> None:
    """What happens behind it is seen under another name, if at all."""
    tree.path("l").symlink_to("lib")
    assert not watcher.add("l")
    assert (watcher.trusted, watcher.reason) == (False, "followed links are not watched")


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENOSYS])
def test_without_an_inotify_instance_nothing_is_proved(tree: Tree, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """R05: opening never fails, the reason says what to raise."""

    def none() -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(inotify_c.InotifyFD, "_create_inotify_fd", staticmethod(none))
    watcher = open_watcher(str(tree.root))
    assert (watcher.trusted, watcher.fileno(), watcher.add("")) == (False, -1, False)
    assert ("max_user_instances" in watcher.remedy, watcher.passing) == (code == errno.EMFILE,) * 2
    assert watcher.drain().events == ()
    watcher.add_rules("/x")
    watcher.forget_below("")
    watcher.close()


def test_events_are_not_trusted_where_others_can_write(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """R05: an injected mount table; events still serve as hints."""
    monkeypatch.setattr(mounts, "file_system", lambda _: "nfs4")
    watcher = InotifyWatcher(str(tree.root))
    assert (watcher.trusted, watcher.reason) == (False, "file system nfs4")
    assert watcher.add("lib")
    sees(watcher, tree.path("lib/a.py"), "lib/a.py")
    watcher.close()


def test_another_file_system_inside_the_tree_is_looked_at(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shared folder mounted below a local root."""
    watcher = InotifyWatcher(str(tree.root))
    monkeypatch.setattr(mounts, "file_system", lambda path: "9p" if path.endswith("lib") else "ext4")
    watcher._devices.clear()
    watcher.add("lib")
    assert (watcher.trusted, watcher.reason) == (False, f"file system 9p at {tree.root}/lib")
    watcher.close()


def test_rule_files_outside_the_tree_are_heard(tree: Tree, watcher: InotifyWatcher, tmp_path: Path) -> None:
    """By their directory and name: git replaces files; its lock files and everything else there are no events."""
    git = tmp_path / "git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "info").mkdir()
    for name in ("HEAD", "index", "refs/heads", "info/exclude"):
        watcher.add_rules(str(git / name))
    for name in ("index.lock", "objects", "info/other", "refs/heads/main.lock"):
        (git / name).write_text("x")
    assert drained(watcher) == set()
    os.replace(git / "index.lock", git / "index")
    (git / "info/exclude").write_text("x")
    assert drained(watcher) == {("rules", f"{git}/index"), ("rules", f"{git}/info/exclude")}
    (git / "HEAD").write_text("x")
    os.replace(git / "refs/heads/main.lock", git / "refs/heads/main")
    assert drained(watcher) == {("head", f"{git}/HEAD"), ("head", f"{git}/refs/heads/main")}


def test_a_rule_file_in_a_directory_of_the_tree_is_both(tree: Tree, watcher: InotifyWatcher) -> None:
    """The kernel has one watch for both; forgetting one keeps the other."""
    watcher.add_rules(str(tree.path("lib/excludes")))
    tree.write("lib/excludes", "x")
    assert drained(watcher) == {("rules", f"{tree.root}/lib/excludes"), ("file", "lib/excludes")}
    watcher.forget_below("lib")
    tree.write("lib/excludes", "y")
    assert drained(watcher) == {("rules", f"{tree.root}/lib/excludes")}


def test_what_is_forgotten_is_not_heard(tree: Tree, watcher: InotifyWatcher) -> None:
    """A directory that became ignored."""
    watcher.forget_below("lib")
    tree.write("lib/a.py", "x")
    tree.write("lib/deep/b.py", "x")
    assert (drained(watcher), watcher.watches) == (set(), 1)


def test_watches_are_added_while_events_are_read(tree: Tree, watcher: InotifyWatcher) -> None:
    """No event of a watch is read before the map knows it: 200 directories, each written to as soon as it is added."""
    for n in range(200):
        tree.path(f"d{n}").mkdir()
    drained(watcher)

    def scan() -> None:
        for n in range(200):
            assert watcher.add(f"d{n}")
            tree.write(f"d{n}/f", "x")

    thread = threading.Thread(target=scan)
    thread.start()
    told: set[tuple[str, str]] = set()
    while thread.is_alive():
        told |= drained(watcher)
    thread.join()
    assert told | drained(watcher) == {("file", f"d{n}/f") for n in range(200)}


def test_closing_twice_is_fine(tree: Tree) -> None:
    """And nothing works afterwards, without an error."""
    watcher = InotifyWatcher(str(tree.root))
    watcher.add("")
    watcher.close()
    watcher.close()
    assert (watcher.fileno(), watcher.add("lib"), watcher.drain().events) == (-1, False, ())
    watcher.add_rules(str(tree.path("x")))


def test_moved_watches_are_given_back_when_nobody_takes_them_over(
    tree: Tree, watcher: InotifyWatcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without an event of theirs: the next drain after a while does it."""
    os.rename(tree.path("lib"), tmp_path / "lib")
    watcher.drain()
    assert len(watcher._queue._fd._watch_for_wd) == 3
    monkeypatch.setattr(inotify, "ORPHAN_S", 0.0)
    watcher.drain()
    assert len(watcher._queue._fd._watch_for_wd) == 1

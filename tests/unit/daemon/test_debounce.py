"""Events become batches: what is collected, when it is due, and when one listing replaces many looks."""

from __future__ import annotations

from ctxd.model import Batch, FileEvent, Overflow
from ctxd.watch.debounce import CROWD, CROWD_DEBOUNCE_MS, CROWD_QUIET_MS, DEBOUNCE_MS, QUIET_MS, STORM, Debouncer


def test_nothing_is_due_without_events() -> None:
    """An idle worktree never wakes anybody."""
    assert Debouncer().due_ms() is None


def test_a_save_is_due_after_the_quiet_time() -> None:
    """Each further event of a save moves the batch, so that an editor's save by rename is one batch."""
    collected = Debouncer()
    collected.add(FileEvent("a.py", "file"), 100)
    collected.add(FileEvent("a.py", "file"), 130)
    assert collected.due_ms() == 130 + QUIET_MS


def test_a_stream_of_events_does_not_put_the_batch_off_for_ever() -> None:
    """A build that writes all the time is indexed once per DEBOUNCE_MS."""
    collected = Debouncer()
    for at in range(0, 5_000, 10):
        collected.add(FileEvent("log.txt", "file"), at)
    assert collected.due_ms() == DEBOUNCE_MS


def test_a_checkout_is_one_batch() -> None:
    """Whatever writes many files is waited for, but not for ever."""
    collected = Debouncer()
    for number in range(CROWD + 1):
        collected.add(FileEvent(f"{number}.py", "file"), 10 * number)
    assert collected.due_ms() == 10 * CROWD + CROWD_QUIET_MS
    collected.add(FileEvent("HEAD", "head"), 3_000)
    assert collected.due_ms() == 3_000 + CROWD_QUIET_MS
    collected.add(FileEvent("late.py", "file"), 4_900)
    assert collected.due_ms() == CROWD_DEBOUNCE_MS


def test_a_batch_holds_each_path_once_and_leaves_nothing_behind() -> None:
    """Taking the batch begins a new one."""
    collected = Debouncer()
    collected.add(FileEvent("a.py", "file"), 1)
    collected.add(FileEvent("a.py", "gone"), 2)
    assert collected.take() == Batch(paths=frozenset({"a.py"}))
    assert (len(collected), collected.take()) == (0, Batch())


def test_a_new_directory_is_listed_with_the_outermost_one_only() -> None:
    """mkdir -p x/y/z needs one listing, and the name is looked at too: it may have been a file."""
    collected = Debouncer()
    for path in ("x/y", "x", "x/y/z", "xy"):
        collected.add(FileEvent(path, "directory"), 1)
    batch = collected.take()
    assert batch.listings == {"x", "xy"}
    assert "x" in batch.paths


def test_lost_events_ask_for_checksums_and_swallow_single_paths() -> None:
    """After an overflow no stat is trusted, and later single events add nothing to a whole comparison."""
    collected = Debouncer()
    collected.add(FileEvent("a.py", "file"), 1)
    collected.add(Overflow("queue"), 2)
    collected.add(FileEvent("b.py", "file"), 3)
    assert collected.take() == Batch(reconcile=True, checksums=True)


def test_rules_and_head_compare_the_tree_by_stat() -> None:
    """A changed ignore file or branch changes which files count; their contents are still known by stat."""
    for kind in ("rules", "head"):
        collected = Debouncer()
        collected.add(FileEvent(".gitignore", kind), 1)  # type: ignore[arg-type]
        assert collected.take() == Batch(reconcile=True)


def test_a_storm_becomes_one_comparison() -> None:
    """Past STORM paths one listing is cheaper than a look at each."""
    collected = Debouncer()
    for number in range(STORM + 1):
        collected.add(FileEvent(f"{number}.py", "file"), 1)
    assert collected.take() == Batch(reconcile=True)

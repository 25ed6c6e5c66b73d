"""Known files against a listing: what must be read, what is recorded, what is gone."""

from __future__ import annotations

import pytest

from ctxd.model import FileStat, Known, Listed, Listing, SkipReason
from ctxd.scan.reconcile import RACY_NS, Reconciled, reconcile

S = 1_000_000_000
STAT = FileStat(10, 100 * S, 100 * S, 7)
NOW = 1_000 * S


def known(stat: FileStat = STAT, hashed_ns: int = 200 * S, skip: str = "") -> Known:
    return Known(stat, b"digest", hashed_ns, skip)


def compare(before: dict[str, Known], *files: Listed, directory: str = "", checksums: bool = False) -> Reconciled:
    return reconcile(before, Listing(directory, files), checksums=checksums, now_ns=NOW)


def test_an_unchanged_file_is_left_alone() -> None:
    """Same stat, hashed long after its last change."""
    assert compare({"a": known()}, Listed("a", STAT)) == Reconciled((), (), ())


@pytest.mark.parametrize(
    "stat",
    [
        FileStat(11, 100 * S, 100 * S, 7),
        FileStat(10, 101 * S, 100 * S, 7),
        FileStat(10, 100 * S, 101 * S, 7),
        FileStat(10, 100 * S, 100 * S, 8),
    ],
)
def test_any_difference_of_the_stat_makes_a_suspect(stat: FileStat) -> None:
    """Size, mtime, ctime and inode each count."""
    assert compare({"a": known()}, Listed("a", stat)).suspects == ("a",)


@pytest.mark.parametrize("after_ns", [0, RACY_NS, -1])
def test_a_file_hashed_too_soon_after_its_change_is_a_suspect(after_ns: int) -> None:
    """A second write within the same tick of the clock leaves the stat as it was."""
    assert compare({"a": known(hashed_ns=100 * S + after_ns)}, Listed("a", STAT)).suspects == ("a",)
    assert compare({"a": known(hashed_ns=100 * S + RACY_NS + 1)}, Listed("a", STAT)).suspects == ()


def test_a_hash_from_the_future_proves_nothing() -> None:
    """The clock was set back since."""
    assert compare({"a": known(hashed_ns=NOW + 1)}, Listed("a", STAT)).suspects == ("a",)


def test_checksums_trust_no_stat() -> None:
    """After lost events every file is read; what is skipped by name still is not."""
    found = compare({"a": known()}, Listed("a", STAT), Listed(".env", STAT, "secret"), checksums=True)
    assert found == Reconciled(("a",), (Listed(".env", STAT, "secret"),), ())


def test_a_new_file_is_a_suspect_and_a_missing_one_is_gone() -> None:
    """The order is that of paths."""
    found = compare({"z": known(), "b": known()}, Listed("a", STAT))
    assert found == Reconciled(("a",), (), ("b", "z"))


def test_only_what_lies_below_the_listed_directory_can_be_gone() -> None:
    """A listing of `lib` says nothing about `lib.py` or `library/a`."""
    before = {path: known() for path in ("lib/a", "lib/b/c", "lib.py", "library/a", "other")}
    assert compare(before, Listed("lib/a", STAT), directory="lib").gone == ("lib/b/c",)


def test_a_skip_is_recorded_once() -> None:
    """It is recorded again when its reason or its stat changes."""
    link = Listed("a", STAT, "link")
    assert compare({}, link).skips == (link,)
    assert compare({"a": known(skip="link")}, link) == Reconciled((), (), ())
    assert compare({"a": known(skip="link outside the root")}, link).skips == (link,)
    assert compare({"a": known()}, link).skips == (link,)


@pytest.mark.parametrize("skip", ["too many files", "lock file", "secret", "link"])
def test_a_file_that_is_not_skipped_by_name_any_more_is_read(skip: SkipReason) -> None:
    """A rule changed and the file did not."""
    assert compare({"a": known(skip=skip)}, Listed("a", STAT)).suspects == ("a",)


def test_a_file_skipped_for_its_bytes_is_not_read_again() -> None:
    """The bytes are the same."""
    assert compare({"a": known(skip="binary")}, Listed("a", STAT)) == Reconciled((), (), ())

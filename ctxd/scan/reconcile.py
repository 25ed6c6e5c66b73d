"""Compare a listing with what the store believes, and add listings of directories to that of the tree. Pure.

A stat proves that a file is unchanged only if the file had been left alone for a while when it was hashed: a second
write within the same tick of the file system's clock leaves size, mtime and ctime as they were.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ctxd.model import FileStat, Known, Listed, Listing, SkipReason

# The coarsest clock among file systems in use (FAT: 2 s). A file hashed sooner after its last change is read again.
RACY_NS = 2_000_000_000

# Reasons that a listing gives, as opposed to those that only the bytes of a file can give.
LISTING_SKIPS: frozenset[SkipReason] = frozenset(
    {"lock file", "secret", "link", "link outside the root", "not a regular file", "too many files"}
)


class Reconciled(msgspec.Struct, frozen=True):
    """`suspects` must be read, `skips` recorded without reading, `gone` removed; paths in the order of the listing."""

    suspects: tuple[str, ...]
    skips: tuple[Listed, ...]
    gone: tuple[str, ...]


def reconcile(known: Mapping[str, Known], listing: Listing, *, checksums: bool, now_ns: int) -> Reconciled:
    """Return what differs below `listing.directory`. `checksums` trusts no stat; `now_ns` is the wall clock."""
    suspects: list[str] = []
    skips: list[Listed] = []
    for listed in listing.files:
        before = known.get(listed.path)
        if listed.skip:
            if before is None or before.skip != listed.skip or before.stat != listed.stat:
                skips.append(listed)
        elif checksums or before is None or not _proved(before, listed.stat, now_ns):
            suspects.append(listed.path)
    present = {listed.path for listed in listing.files}
    below = f"{listing.directory}/" if listing.directory else ""
    gone = sorted(path for path in known if path not in present and path.startswith(below))
    return Reconciled(tuple(suspects), tuple(skips), tuple(gone))


def unlike(known: Mapping[str, Known], listing: Listing) -> tuple[str, ...]:
    """Return the paths of a whole tree that came, went, or are left out by their name as they were not before.

    No stat is compared: this is for who reads the files anyway.
    """
    found = [listed.path for listed in listing.files if not _is_as_before(known.get(listed.path), listed)]
    present = {listed.path for listed in listing.files}
    return tuple(sorted([*found, *(path for path in known if path not in present)]))


def _is_as_before(before: Known | None, listed: Listed) -> bool:
    if before is None:
        return False
    return before.skip == listed.skip or not (listed.skip or before.skip in LISTING_SKIPS)


def absorb(whole: Listing | None, part: Listing) -> Listing:
    """Return what is known of the whole tree after `part` was listed: all but the files."""
    if whole is None or not part.directory:
        return msgspec.structs.replace(part, files=())
    odd = _outside(part.directory, whole.odd_names)
    return msgspec.structs.replace(
        whole,
        nested=tuple(sorted({*_outside(part.directory, whole.nested), *part.nested})),
        linked=tuple(sorted({*_outside(part.directory, whole.linked), *part.linked})),
        odd_names=tuple(sorted(odd + part.odd_names)),
        not_utf8=whole.not_utf8 - len(whole.odd_names) + len(odd) + part.not_utf8,
        note=part.note or whole.note,
    )


def _outside(directory: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in paths if path != directory and not path.startswith(f"{directory}/"))


def _proved(before: Known, stat: FileStat, now_ns: int) -> bool:
    """Say whether the stat alone proves that the file is the one that was hashed."""
    if before.stat != stat or before.skip in LISTING_SKIPS or before.hashed_ns > now_ns:
        return False  # a hash "from the future" was taken before the clock was set back: it proves nothing
    return before.hashed_ns - max(stat.mtime_ns, stat.ctime_ns) > RACY_NS

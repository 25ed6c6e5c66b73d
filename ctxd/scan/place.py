"""What the rules make of a directory and of what lies in it: the one set of decisions behind discovery and looks.

Scan thread. Three voices, the strongest first: `.ctxignore` files (they may take back anything but secrets), the
configured `index.ignore`, and the rules of the owner, git's or those of `.gitignore` files.
"""

from __future__ import annotations

import os
import stat
from enum import Enum, auto
from functools import lru_cache

import msgspec

from ctxd.model import FileStat, Listed, SkipReason
from ctxd.scan import patterns
from ctxd.scan.lockfiles import is_lock_file
from ctxd.scan.ownership import RULE_FILE, FileOwner, GitOwner, Owner
from ctxd.scan.patterns import Patterns
from ctxd.scan.rules import Rules
from ctxd.scan.secrets import is_secret

OWN_RULE_FILE = ".ctxignore"
RULE_FILES = frozenset((RULE_FILE, OWN_RULE_FILE))


class Standing(Enum):
    """How a directory stands: its owner decides, `.ctxignore` took it back, or it is ignored."""

    OPEN = auto()
    INCLUDED = auto()
    HIDDEN = auto()


class Ruling(Enum):
    """What becomes of an entry. ASK: git has to be asked. TAKEN_BACK: `.ctxignore` names it with `!`."""

    LISTED = auto()
    TAKEN_BACK = auto()
    IGNORED = auto()
    ASK = auto()


class Place(msgspec.Struct, frozen=True, eq=False):
    """A directory with the rules that hold in it; `path` is relative to the scanned root.

    `own` are the `.ctxignore` files down to here, outermost first, `files` the `.gitignore` files of a FileOwner.
    `trail` are the real directories through which followed links led here.
    """

    path: str
    owner: Owner
    own: tuple[Patterns, ...] = ()
    files: tuple[Patterns, ...] = ()
    standing: Standing = Standing.OPEN
    trail: tuple[str, ...] = ()


@lru_cache(maxsize=8)
def _compiled(ignore: tuple[str, ...]) -> Patterns:
    return Patterns(ignore)


class Judge:
    """Applies one scan's rules to entries."""

    def __init__(self, root: str, rules: Rules) -> None:
        self.root = root
        self.rules = rules
        self.default = _compiled(rules.ignore)
        self._too_large = max(rules.max_file_bytes, rules.max_code_bytes)

    def with_rule_files(self, place: Place, names: frozenset[str]) -> Place:
        """Return `place` with the rule files that lie in it; `names` are those of the kind that exist there."""
        base = f"{place.path}/" if place.path else ""
        if OWN_RULE_FILE in names:
            place = msgspec.structs.replace(place, own=self._with(place.own, base, OWN_RULE_FILE))
        if RULE_FILE in names and isinstance(place.owner, FileOwner):
            place = msgspec.structs.replace(place, files=self._with(place.files, base, RULE_FILE))
        return place

    def file(self, place: Place, path: str) -> Ruling:
        """Rule on a file that lies in `place`."""
        own = patterns.verdict(place.own, path) if place.own else None
        if own is not None:
            return Ruling.IGNORED if own else Ruling.TAKEN_BACK
        if self.default.verdict(path) or place.standing is Standing.HIDDEN:
            return Ruling.IGNORED
        if place.standing is Standing.INCLUDED:
            return Ruling.LISTED
        owner = place.owner
        if isinstance(owner, GitOwner):
            return Ruling.LISTED if path in owner.listed else Ruling.ASK
        return Ruling.IGNORED if patterns.verdict(place.files, path) else Ruling.LISTED

    def directory(self, place: Place, path: str) -> tuple[Standing, Ruling]:
        """Rule on a directory that lies in `place`: how it stands, and whether git has to be asked first."""
        entry = f"{path}/"
        own = patterns.verdict(place.own, entry) if place.own else None
        if own is not None:
            return (Standing.HIDDEN, Ruling.IGNORED) if own else (Standing.INCLUDED, Ruling.TAKEN_BACK)
        if self.default.verdict(entry) or place.standing is Standing.HIDDEN:
            return Standing.HIDDEN, Ruling.IGNORED
        if place.standing is Standing.INCLUDED:
            return Standing.INCLUDED, Ruling.LISTED
        owner = place.owner
        if isinstance(owner, GitOwner):
            known = path in owner.directories or path in owner.listed
            return Standing.OPEN, Ruling.LISTED if known else Ruling.ASK
        if patterns.verdict(place.files, entry):
            return Standing.HIDDEN, Ruling.IGNORED
        return Standing.OPEN, Ruling.LISTED

    def rule(self, place: Place, path: str) -> str:
        """Return the place of the pattern that ignored an entry of `place`, as `file:line`."""
        if patterns.verdict(place.own, path):
            return patterns.rule(place.own, path)
        if self.default.verdict(path):
            return self.default.rule(path)
        return patterns.rule(place.files, path)

    def listed(self, path: str, found: os.stat_result, ruling: Ruling) -> Listed:
        """Return the listing's row for an entry that is to be indexed or recorded."""
        mode = found.st_mode
        skip: SkipReason = ""
        if stat.S_ISLNK(mode):
            skip = "link" if self.inside(path) else "link outside the root"
        elif not stat.S_ISREG(mode):
            skip = "not a regular file"
        elif is_secret(path):
            skip = "secret"
        elif ruling is not Ruling.TAKEN_BACK and is_lock_file(path[path.rfind("/") + 1 :]):
            skip = "lock file"
        elif found.st_size > self._too_large:
            skip = "too large"
        return Listed(path, FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino), skip)

    def inside(self, path: str) -> bool:
        """Say whether a path, its links followed, lies in the scanned root."""
        root = os.path.realpath(self.root)
        target = os.path.realpath(os.path.join(self.root, path))
        return target == root or target.startswith(root.rstrip("/") + "/")

    def _with(self, layers: tuple[Patterns, ...], base: str, name: str) -> tuple[Patterns, ...]:
        read = patterns.read(os.path.join(self.root, base + name), base, base + name)
        outer = tuple(one for one in layers if one.source != base + name)
        return outer if read is None else (*outer, read)


def top(owner: Owner) -> Place:
    """Return the scanned root as a place, its own rule files not read yet."""
    return Place("", owner, files=owner.outer if isinstance(owner, FileOwner) else ())


def under(place: Place, owner: Owner) -> Place:
    """Return `place` as the root of a nested repository. What is ignored stays so; what was taken back is its own."""
    standing = Standing.HIDDEN if place.standing is Standing.HIDDEN else Standing.OPEN
    files = owner.outer if isinstance(owner, FileOwner) else ()
    return msgspec.structs.replace(place, owner=owner, files=files, standing=standing)


def leads(place: Place, directory: str) -> bool:
    """Say whether a `.ctxignore` takes back something below a directory that is ignored."""
    return any(one.leads(directory) for one in place.own)


def is_utf8(path: str) -> bool:
    """Say whether a name from the file system is UTF-8."""
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Come down from the root to a directory by the rules, without listing what is on the way. Scan thread."""

from __future__ import annotations

import os
import stat

import msgspec

from ctxd.scan.ownership import GitOwner, Owner, nested_owner, owner_of, plain
from ctxd.scan.place import RULE_FILES, Judge, Place, Ruling, Standing, leads, top, under


class Descent:
    """Finds places and remembers them; good for one look at the tree. Without `use_git` ignore files are read by us."""

    def __init__(self, judge: Judge, *, use_git: bool = True) -> None:
        self.linked: list[str] = []  # linked worktrees on the way
        self._judge = judge
        self._use_git = use_git
        self._places: dict[str, Place | None] = {}
        self._real: dict[str, bool] = {"": True}

    def place(self, directory: str) -> Place | None:
        """Return the directory as a place, None when it is ignored, missing or no directory of this tree.

        Where git decides, a directory counts as open until an entry in it is asked about. Raises GitFailed.
        """
        if not directory and not self._places:
            self._places[""] = self._judge.with_rule_files(top(self._usable(owner_of(self._judge.root))), RULE_FILES)
        if directory not in self._places:
            above = self.place(directory[: max(directory.rfind("/"), 0)])
            self._places[directory] = None if above is None else self._below(above, directory)
        return self._places[directory]

    def is_real(self, directory: str) -> bool:
        """Say whether a directory exists and is reached without links, but for followed ones within the root."""
        if directory not in self._real:
            self._real[directory] = self.is_real(directory[: max(directory.rfind("/"), 0)]) and self._stands(directory)
        return self._real[directory]

    def _stands(self, directory: str) -> bool:
        where = os.path.join(self._judge.root, directory)
        if os.path.basename(directory) == ".git":
            return False
        try:
            mode = os.lstat(where).st_mode
        except OSError:
            return False
        if stat.S_ISLNK(mode) and self._judge.rules.follow_symlinks:
            return os.path.isdir(where) and self._judge.inside(directory)
        return stat.S_ISDIR(mode)

    def _below(self, above: Place, directory: str) -> Place | None:
        if not self.is_real(directory):
            return None
        standing, ruling = self._judge.directory(above, directory)
        owner = nested_owner(self._judge.root, directory, above.owner)
        if owner is None:
            self.linked.append(directory)
            return None
        begins = owner is not above.owner
        place = msgspec.structs.replace(above, path=directory, standing=standing)
        place = self._judge.with_rule_files(under(place, self._usable(owner)) if begins else place, RULE_FILES)
        # Where nothing can be taken back, the question about an entry in it answers for the directory too.
        if ruling is Ruling.ASK and (begins or any(one.negates for one in place.own)):
            assert isinstance(above.owner, GitOwner)
            if above.owner.ignored_now([directory]):
                if not leads(above, directory):
                    return None
                place = msgspec.structs.replace(place, standing=Standing.HIDDEN)
        elif standing is Standing.HIDDEN and not leads(above, directory):
            return None
        return place

    def _usable(self, owner: Owner) -> Owner:
        if isinstance(owner, GitOwner) and not self._use_git:
            return plain(owner.base, owner.repository, owner.family)
        return owner

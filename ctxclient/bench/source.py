"""The directory that is measured when there is no set: a worktree, a bare git directory, or a plain folder."""

from __future__ import annotations

import os

import msgspec

from ctxclient.bench import history
from ctxclient.bench.datasets import Labelled, Repository
from ctxclient.bench.exports import snapshot
from ctxclient.bench.git import Git
from ctxclient.bench.trial import Place, of_export


class Source(msgspec.Struct, frozen=True, eq=False):
    """`directory` is what was named, `top` the repository around it; `head` is "" where there is no commit."""

    directory: str
    name: str
    top: str
    git: Git | None = None
    head: str = ""

    @property
    def bare(self) -> bool:
        """Whether there are no files but in commits."""
        return self.git is not None and self.git.git_dir == self.top

    def questions(self, wanted: int) -> Labelled:
        """Return what the history asks for, nothing where there is none. Raises GitFailed."""
        if self.git is None or not self.head:
            return Labelled(Repository(self.name, "history", ""), ())
        return history.labelled(self.git, self.name, self.head, wanted)

    def place(self, cache: str) -> Place:
        """Return where the files lie; those of a bare repository are taken out of its HEAD. Raises GitFailed."""
        if self.git is not None and self.bare and self.head:
            return of_export(snapshot(self.git, self.head, os.path.join(cache, self.name)))
        return Place(self.directory, self.head)


def source(directory: str, written: str) -> Source:
    """Look at a directory by its real path; `written` is how it was named, which may be a link's name."""
    around = Git.around(directory)
    git, top = around or (None, directory)
    said = os.path.basename(os.path.normpath(written)) if directory == top and written else ""
    if said in ("", ".", ".."):
        said = os.path.basename(top)
    return Source(
        directory=directory,
        name=said.removesuffix(".git") or "root",
        top=top,
        git=git,
        head=(git.commit("HEAD") or "") if git is not None else "",
    )

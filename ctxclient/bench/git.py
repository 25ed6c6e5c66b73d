"""git of the repository that is measured, asked with everything off that could run a program of it.

Plumbing only: these commands know no hooks, no filters and no external diff, and nothing is fetched. Each question is
one process; runs in the client process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence

import msgspec

from ctxprotocol.errors import CtxError

# The longest question is for the objects of a large repository; a git that hangs is left alone.
TIMEOUT_S = 300.0
_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
)
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}


class GitFailed(CtxError):
    """git is missing, timed out or refused; the message says which."""

    error = "git_failed"


class Blob(msgspec.Struct, frozen=True):
    """An entry of a tree: `mode` as git writes it (100644, 120000 ...), `kind` blob or commit."""

    mode: str
    kind: str
    oid: str
    path: bytes


class Git:
    """One repository by its git directory."""

    def __init__(self, git_dir: str) -> None:
        self.git_dir = git_dir

    @classmethod
    def at(cls, directory: str) -> Git | None:
        """Return the repository of a work tree's top or of a bare git directory, None where there is none."""
        inside = os.path.join(directory, ".git")
        if os.path.isfile(inside):
            with open(inside, "rb") as file:
                line = os.fsdecode(file.read(4_096)).partition("\n")[0].rstrip("\r")
            inside = os.path.join(directory, line.removeprefix("gitdir: ")) if line.startswith("gitdir: ") else ""
        for place in (inside, directory):
            if place and _is_git_directory(place):
                return cls(os.path.realpath(place))
        return None

    @classmethod
    def around(cls, directory: str) -> tuple[Git, str] | None:
        """Return the repository around a directory and the top of its work tree, None outside of all."""
        place = os.path.realpath(directory)
        while True:
            found = cls.at(place)
            if found is not None:
                return found, place
            if place == (place := os.path.dirname(place)):
                return None

    def commit(self, name: str) -> str | None:
        """Return the full id of the commit that `name` stands for, None when it is not there."""
        wanted = f"{name}^{{commit}}"
        out = self.run(["rev-parse", "--verify", "--quiet", "--end-of-options", wanted], fine=(0, 1, 128))
        found = out.decode().strip().rpartition("\n")[2]
        return found or None

    def tree(self, commit: str, folder: str) -> str | None:
        """Return the id of the tree of a commit's folder ("" for the whole), None when there is no such folder."""
        wanted = f"{commit}:{folder.strip('/')}"
        out = self.run(["rev-parse", "--verify", "--quiet", "--end-of-options", wanted], fine=(0, 1, 128))
        found = out.decode().strip()
        if not found or self.run(["cat-file", "-t", found], fine=(0, 128)).strip() != b"tree":
            return None
        return found

    def blobs(self, tree: str) -> list[Blob]:
        """Return what a tree and the trees in it hold. Raises GitFailed."""
        found = []
        for entry in self.run(["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree]).split(b"\0")[:-1]:
            facts, _, path = entry.partition(b"\t")
            mode, kind, oid = facts.decode().split(" ")
            found.append(Blob(mode, kind, oid, path))
        return found

    def missing(self, tree: str) -> frozenset[str]:
        """Return the objects below a tree that a partial clone has left with its origin. Raises GitFailed."""
        flags = ["--objects", "--missing=print", "--no-walk", "--no-object-names"]
        lines = self.run(["rev-list", *flags, "--end-of-options", tree]).split()
        return frozenset(line[1:].decode() for line in lines if line.startswith(b"?"))

    def contents(self, oids: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield each object's bytes as they are stored, None for one that is not there. Raises GitFailed."""
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{oid}\n" for oid in oids).encode())
            asked.seek(0)
            with subprocess.Popen(
                [*self._command(), "cat-file", "--batch"],
                cwd="/",
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            ) as running:
                assert running.stdout is not None
                try:
                    for oid in oids:
                        head = running.stdout.readline().split()
                        if len(head) < 2:
                            raise GitFailed(f"git stopped at object {oid}")
                        if len(head) == 2:
                            yield oid, None
                            continue
                        data = running.stdout.read(int(head[2]))
                        running.stdout.read(1)
                        yield oid, data
                finally:
                    running.kill()

    def run(self, args: Sequence[str], stdin: bytes = b"", fine: Sequence[int] = (0,)) -> bytes:
        """Return what git writes. Raises GitFailed."""
        try:
            done = subprocess.run(
                [*self._command(), *args],
                cwd="/",
                input=stdin,
                capture_output=True,
                env=_environment(),
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitFailed(f"git did not answer in {TIMEOUT_S:.0f} s") from None
        except OSError as error:
            raise GitFailed(f"git cannot be run: {error.strerror}") from error
        if done.returncode not in fine:
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise GitFailed(f"git failed: {said or f'exit code {done.returncode}'}")
        return done.stdout

    def _command(self) -> list[str]:
        program = shutil.which("git")
        # A relative entry of PATH would be looked up in the repository.
        if program is None or not os.path.isabs(program):
            raise GitFailed("git is not installed")
        return [program, *_OPTIONS, f"--git-dir={self.git_dir}"]


def _is_git_directory(place: str) -> bool:
    """A linked worktree's has `commondir` in place of `objects`."""
    there = (os.path.exists(os.path.join(place, name)) for name in ("objects", "commondir"))
    return os.path.isfile(os.path.join(place, "HEAD")) and any(there)


def _environment() -> dict[str, str]:
    """git needs HOME and its kin for the user's own configuration, and must not hear of another repository."""
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | _QUIET

"""git, asked with everything off that could run a repository's programs. Scan threads; each question is one process.

The repository is found here and named to git (`--git-dir`, `--work-tree`), so git neither searches nor refuses one
of another owner; the options below keep it from running anything of it: file system monitors, hooks, pagers, and
programs that fetch what a partial clone lacks.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Sequence

from ctxd.scan.origin import normalised
from ctxd.scan.smallfile import read_regular
from ctxd.scan.traps import ended_at_fifo, trap
from ctxprotocol.errors import CtxError

# Listing 100,000 files takes a second; a git that hangs must not hold the thread.
TIMEOUT_S = 30.0
# A git that hung once will hang again, and there are few scan threads: it is left alone for a while.
HUNG_S = 600.0
# One that opened a FIFO was ended within a moment, and asked again soon after the FIFO may be gone.
HELD_S = 2.0
_GITFILE_BYTES = 4_096
_OPTIONS = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    # It trusts the times of directories; two changes within one tick of the clock look like one.
    "-c",
    "core.untrackedCache=false",
    "-c",
    "protocol.allow=never",
)
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}


# Until when git is left alone and why, by git directory. Any scan thread reads and writes it: one value at a time.
_hung: dict[str, tuple[float, str]] = {}


class GitFailed(CtxError):
    """git is missing, timed out or refused; the message says which."""

    error = "git_failed"


class GitHung(GitFailed):
    """git did not answer in time, and is left alone for `pause_s`."""

    pause_s = HUNG_S


class GitHeld(GitHung):
    """git opened a FIFO."""

    pause_s = HELD_S


class Repository:
    """One git worktree, asked from the directory `root` in it: paths go in and come out relative to `root`.

    `top` is the worktree's directory, `git_dir` its own git directory, `common_dir` the one that linked worktrees
    share; all are real paths.
    """

    def __init__(self, root: str, top: str, git_dir: str, common_dir: str) -> None:
        self.root = root
        self.top = top
        self.git_dir = git_dir
        self.common_dir = common_dir

    @classmethod
    def open(cls, root: str) -> Repository | None:
        """Return the repository that `root` lies in; None outside, and in a directory which that repository ignores."""
        root = os.path.realpath(root)
        directory = root
        try:
            device = os.lstat(root).st_dev
            while os.lstat(directory).st_dev == device:
                found = cls.at(directory, root)
                if found is not None:
                    return None if found.top != root and found._ignores_root() else found
                if directory == (directory := os.path.dirname(directory)):
                    break
        except OSError:
            pass
        return None

    @classmethod
    def at(cls, directory: str, root: str = "") -> Repository | None:
        """Return the repository whose worktree's top is `directory` itself, or None."""
        git_dir = _git_dir(directory)
        if git_dir is None:
            return None
        common_dir = git_dir
        named = _first_line(os.path.join(git_dir, "commondir"))
        if named:
            common_dir = os.path.realpath(os.path.join(git_dir, named))
        has_all = os.path.isdir(os.path.join(common_dir, "objects")) and os.path.isdir(os.path.join(common_dir, "refs"))
        if not has_all or not os.path.lexists(os.path.join(git_dir, "HEAD")):
            return None
        top = os.path.realpath(directory)
        return cls(root or top, top, git_dir, common_dir)

    def run(self, args: Sequence[str], stdin: bytes = b"", *, fine: Sequence[int] = (0,)) -> bytes:
        """Run git and return its output. Raises GitFailed for an exit code that is not in `fine`."""
        if found := trap(self._read_always()):
            raise GitFailed(f"git is not asked in {self.top}: {found} is a pipe or a device, which it would wait for")
        until, reason = _hung.get(self.git_dir, (0.0, ""))
        if time.monotonic() < until:
            raise GitFailed(f"{reason}; it is not asked again in {self.top} for a while")
        try:
            return _run([f"--git-dir={self.git_dir}", f"--work-tree={self.top}", *args], self.root, stdin, fine)
        except GitHung as hung:
            _hung[self.git_dir] = time.monotonic() + hung.pause_s, hung.message
            raise

    def files(self, directory: str = "") -> list[str]:
        """Return what git lists below `directory`: tracked files, and untracked ones that it does not ignore.

        Submodules come as the path of their directory, nested repositories with a `/` at the end. Raises GitFailed.
        """
        args = ["--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        out = self.run([*args, "--", directory] if directory else args)
        return out.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def sparse(self) -> int:
        """Return how many tracked files a sparse checkout keeps out of the work tree. Raises GitFailed."""
        if not os.path.lexists(os.path.join(self.git_dir, "info", "sparse-checkout")):
            return 0
        entries = self.run(["ls-files", "-t", "-z", "--cached"]).split(b"\0")
        return sum(entry.startswith(b"S ") for entry in entries)

    def ignored(self, paths: Sequence[str]) -> dict[str, str]:
        """Return those of `paths` that ignore rules match, whether tracked or not, with the rule as `file:line`.

        A path may be anything but below a link or in another repository. Raises GitFailed.
        """
        if not paths:
            return {}
        # With `./` before it no name is taken for one of git's pattern languages, which begin with a colon.
        stdin = "".join(f"./{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        out = self.run(["check-ignore", "--no-index", "-v", "-z", "--stdin"], stdin, fine=(0, 1))
        fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
        return {
            path.removeprefix("./"): f"{self._shown(source)}:{line}"
            for source, line, pattern, path in zip(fields, fields, fields, fields, strict=False)
            if not pattern.startswith("!")
        }

    def tracked(self, paths: Sequence[str]) -> list[str]:
        """Return the tracked files among `paths`, and those below directories among them. Raises GitFailed."""
        found: list[str] = []
        for start in range(0, len(paths), 500):
            some = paths[start : start + 500]
            out = self.run(["--literal-pathspecs", "ls-files", "-z", "--cached", "--", *some])
            found += out.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return found

    def rule_files(self) -> tuple[str, ...]:
        """Return absolute paths whose change may change the listing or HEAD; some may not exist yet."""
        below_top: list[str] = []
        directory = self.root
        while directory != self.top:
            directory = os.path.dirname(directory)
            below_top.append(os.path.join(directory, ".gitignore"))
        return (
            os.path.join(self.git_dir, "HEAD"),
            os.path.join(self.git_dir, "index"),
            os.path.join(self.git_dir, "logs", "HEAD"),
            os.path.join(self.common_dir, "packed-refs"),
            os.path.join(self.common_dir, "refs", "heads"),
            os.path.join(self.common_dir, "config"),
            os.path.join(self.common_dir, "info", "exclude"),
            self.global_excludes(),
            *below_top,
        )

    def global_excludes(self) -> str:
        """Return the absolute path of the user's excludes file, which need not exist."""
        try:
            out = self.run(["config", "--get", "--type=path", "core.excludesFile"], fine=(0, 1))
        except GitFailed:
            out = b""
        named = os.fsdecode(out).strip("\n")
        return os.path.join(self.top, named) if named else _default_excludes()

    def identity(self) -> str:
        """Return what all clones share: the normalised origin, else the common directory."""
        try:
            out = self.run(["config", "--get", "remote.origin.url"], fine=(0, 1))
        except GitFailed:
            out = b""
        return normalised(os.fsdecode(out).strip()) or self.common_dir

    def head(self) -> str:
        """Return the commit that HEAD names, "" before the first one. Raises GitFailed."""
        return self.run(["rev-parse", "--verify", "--quiet", "HEAD"], fine=(0, 1)).decode().strip()

    def _read_always(self) -> tuple[str, ...]:
        """Return the files that git reads whatever it is asked, and the ignore files at the top; some may not exist."""
        own, common = self.git_dir, self.common_dir
        return (
            os.path.join(own, "HEAD"),
            os.path.join(own, "commondir"),
            os.path.join(own, "index"),
            os.path.join(own, "config.worktree"),
            os.path.join(own, "info", "sparse-checkout"),
            os.path.join(common, "config"),
            os.path.join(common, "packed-refs"),
            os.path.join(common, "info", "exclude"),
            os.path.join(common, "objects", "info", "alternates"),
            os.path.join(self.top, ".gitignore"),
            os.path.join(self.root, ".gitignore"),
        )

    def _shown(self, source: str) -> str:
        """Return an ignore file's path as a person would write it."""
        inside = source.removeprefix(f"{self.common_dir}/")
        return source if inside == source else f".git/{inside}"

    def _ignores_root(self) -> bool:
        relative = os.path.relpath(self.root, self.top)
        try:
            at_top = Repository(self.top, self.top, self.git_dir, self.common_dir)
            return bool(at_top.ignored([relative])) and not at_top.tracked([relative])
        except GitFailed:
            return False


def rule_files(root: str, nested: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the absolute paths of git's own that rule over a worktree and over the repositories `nested` in it."""
    found = [Repository.open(root), *(Repository.at(os.path.join(root, path)) for path in nested)]
    return tuple(path for one in found if one is not None for path in one.rule_files())


def user_excludes() -> str:
    """Return the absolute path of the user's excludes file for trees outside git; it need not exist."""
    try:
        out = _run(["config", "--global", "--get", "--type=path", "core.excludesFile"], "/", b"", (0, 1))
    except GitFailed:
        out = b""
    return os.fsdecode(out).strip("\n") or _default_excludes()


def _default_excludes() -> str:
    config_home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(config_home, "git", "ignore")


def _run(args: Sequence[str], cwd: str, stdin: bytes, fine: Sequence[int]) -> bytes:
    program = shutil.which("git")
    # A relative entry of PATH would be looked up in the repository.
    if program is None or not os.path.isabs(program):
        raise GitFailed("git is not installed")
    # git needs HOME and its kin for the user's own configuration, and must not hear of another repository.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | _QUIET
    try:
        with subprocess.Popen(
            [program, *_OPTIONS, *args],
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            out, said = _outcome(process, stdin)
    except OSError as error:
        raise GitFailed(f"git cannot be run: {error.strerror}") from error
    if process.returncode not in fine:
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise GitFailed(f"git failed: {last or f'exit code {process.returncode}'}")
    return out


def _outcome(process: subprocess.Popen[bytes], stdin: bytes) -> tuple[bytes, bytes]:
    """Return the output and the errors of a git. Raises GitHeld when it opens a FIFO, GitHung after TIMEOUT_S."""
    try:
        with ended_at_fifo(process) as fifo:
            outcome = process.communicate(stdin, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise GitHung(f"git did not answer in {TIMEOUT_S:.0f} s") from None
    finally:
        process.kill()  # unless it has ended
    if fifo.is_set():
        raise GitHeld("git did not answer: a FIFO stands in place of a file that it reads")
    return outcome


def _git_dir(directory: str) -> str | None:
    """Return the real path of the git directory that `.git` in `directory` is or names."""
    path = os.path.join(directory, ".git")
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return os.path.realpath(path)
    named = _first_line(path) if stat.S_ISREG(mode) else ""
    if not named.startswith("gitdir: "):
        return None
    found = os.path.realpath(os.path.join(directory, named.removeprefix("gitdir: ")))
    return found if os.path.isdir(found) else None


def _first_line(path: str) -> str:
    data = read_regular(path, _GITFILE_BYTES)
    return os.fsdecode(data or b"").partition("\n")[0].rstrip("\r")

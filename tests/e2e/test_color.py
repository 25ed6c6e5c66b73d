"""Colors: on a terminal or when asked for, never in a pipe, never in JSON, and NO_COLOR is heard."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import BIN, Home
from tests.tree import Tree

COMMANDS = (
    ["query", "take a connection"],
    ["find", "take"],
    ["symbols", "take"],
    ["outline", "pool.py"],
    ["chunk", "pool.py:2"],
    ["callers", "take"],
    ["deps", "pool.py"],
    ["status"],
    ["update"],
    ["repos"],
    ["daemon", "status"],
    ["config", "list"],
)
PLAIN = (["files"], ["doctor"])  # nothing in their lines is set off


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Path]]:
    """A small repository, indexed, and one setting that is not its default."""
    home = Home()
    tree = Tree(tmp_path_factory.mktemp("sample") / "r")
    tree.write("pool.py", "import os\n\n\ndef take():\n    return os.getpid()\n\n\ndef use():\n    return take()\n")
    tree.commit()
    home.env.pop("NO_COLOR", None)
    home.env["TERM"] = "xterm"
    assert home.run("config", "set", "search.limit", "7", cwd="/").returncode == 0
    assert home.run("update", cwd=tree.root).returncode == 0
    yield home, tree.root
    home.close()


@pytest.mark.parametrize("command", [*COMMANDS, *PLAIN], ids=" ".join)
def test_a_pipe_and_a_program_get_none(sample: tuple[Home, Path], command: list[str]) -> None:
    """By default and with never; --json holds none whatever --color says."""
    home, root = sample

    assert "\x1b" not in home.run(*command, cwd=root).stdout
    assert "\x1b" not in home.run(*command, "--color", "never", cwd=root).stdout
    assert "\x1b" not in home.run(*command, "--color", "always", "--json", cwd=root).stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_always_means_always(sample: tuple[Home, Path], command: list[str]) -> None:
    """Also in a pipe, and with NO_COLOR: the option is the closer wish."""
    home, root = sample

    assert "\x1b[" in home.run(*command, "--color", "always", cwd=root, env={"NO_COLOR": "1"}).stdout


@pytest.mark.parametrize(
    ("environ", "expected"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)], ids=str
)
def test_a_terminal_gets_them_unless_told_otherwise(
    sample: tuple[Home, Path], environ: dict[str, str], expected: bool
) -> None:
    """The terminal's own wish, and NO_COLOR's."""
    home, root = sample
    reader, writer = pty.openpty()
    try:
        subprocess.run(
            [str(BIN / "ctx"), "repos"],
            cwd=root,
            env=home.env | environ,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            check=True,
            timeout=60,
        )
        shown = os.read(reader, 1 << 16)
    finally:
        os.close(reader)
        os.close(writer)

    assert (b"\x1b[" in shown) is expected

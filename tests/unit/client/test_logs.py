"""`ctx daemon logs`: the last lines over the files that the daemon rotates, and those that come."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ctxclient.log import Log
from tests.unit.client.conftest import CTX

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ctxd.log"


def test_the_last_lines_come_from_as_many_files_as_it_takes(path: Path) -> None:
    """A log that was rotated a moment ago is no empty one."""
    path.write_text("e\nf\n")
    path.with_name("ctxd.log.1").write_text("c\nd\n")
    path.with_name("ctxd.log.2").write_text("a\nb\n")

    def last(lines: int) -> list[str] | None:
        with Log(str(path)) as log:
            return log.last(lines)

    assert (last(0), last(1), last(3), last(99)) == ([], ["f"], ["d", "e", "f"], list("abcdef"))


def test_no_log_is_told_apart_from_an_empty_one(path: Path) -> None:
    """None, and then nothing."""
    with Log(str(path)) as log:
        missing = log.last(5)
        path.write_text("")
        assert (missing, log.last(5)) == (None, [])


def test_what_comes_is_seen_once_and_whole(path: Path) -> None:
    """A line that is half written waits for its end; rotation and truncation lose nothing that was there."""
    path.write_text("old\n")
    with Log(str(path)) as log, open(path, "a") as writer:
        seen = [log.last(9), log.news()]
        for piece in ("ha", "lf\nnext\n"):
            writer.write(piece)
            writer.flush()
            seen.append(log.news())
        writer.write("before rotation\n")
        writer.flush()
        os.rename(path, path.with_name("ctxd.log.1"))
        seen.append(log.news())
        path.write_text("after it\n")
        seen.append(log.news())
        path.write_text("x\n")
        seen.append(log.news())

    assert seen == [["old"], [], [], ["half", "next"], ["before rotation"], ["after it"], ["x"]]


def test_the_command_shows_the_last_lines(state: str, run: Run) -> None:
    """As many as asked for, hidden characters written out; --json is one object; no log is exit 1."""
    nothing = run("daemon", "logs")
    os.makedirs(state)
    Path(state, "ctxd.log").write_text("one\ntwo \x1b[31m\nthree\n")

    text = run("daemon", "logs", "-n", "2")
    data = json.loads(run("daemon", "logs", "--json").stdout)

    assert (nothing.returncode, nothing.stderr) == (
        1,
        f"ctx: no daemon has written a log yet: {state}/ctxd.log\n",
    )
    assert (text.returncode, text.stdout) == (0, "two \\x1b[31m\nthree\n")
    assert [row["line"] for row in data["results"]] == ["one", "two \x1b[31m", "three"]


@contextmanager
def following(*more: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [CTX, "daemon", "logs", "-f", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job, which the tests may be, has it ignored, and so would the child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (no threads here)
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_follow_goes_on_until_interrupted(state: str) -> None:
    """Lines show as they are written, also in a log that comes later; Ctrl-C is exit 130 without a word."""
    os.makedirs(state)
    with following() as process:
        assert process.stdout is not None
        Path(state, "ctxd.log").write_text("first\n")
        first = process.stdout.readline()
        with open(f"{state}/ctxd.log", "a") as log:
            log.write("second\n")
        second = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)

    assert (first, second) == ("first\n", "second\n")
    assert (process.returncode, errors) == (130, "")


def test_follow_ends_with_its_reader(state: str) -> None:
    """`ctx daemon logs -f | head -1`, and the log is quiet from then on."""
    os.makedirs(state)
    Path(state, "ctxd.log").write_text("only\n")

    done = subprocess.run(
        ["sh", "-c", f"'{CTX}' daemon logs -f | head -1"], capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.stdout, done.stderr) == ("only\n", "")

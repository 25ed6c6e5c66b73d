"""The conversation of the hot path with a daemon, as a person sees it: the process, its output, its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Answer, Failure, Find, Progress, Query, Welcome

Run = Callable[..., subprocess.CompletedProcess[str]]

# Runs ctx and says which modules the whole run loaded.
TRACED = """
import sys
from ctxclient import fast
sys.argv = ["ctx", *sys.argv[1:]]
code = fast.main()
print(code, *sys.modules, file=sys.stderr)
"""


def welcome(**changed: object) -> Welcome:
    fields = {"protocol": endpoint.PROTOCOL_VERSION, "version": endpoint.VERSION, "build": endpoint.build()}
    return Welcome(**{**fields, "pid": os.getpid(), **changed})  # type: ignore[arg-type]


def test_answer_is_copied(fake, run: Run) -> None:
    """What the daemon rendered goes to stdout and stderr, and its code is the exit code."""
    fake.script = lambda peer: peer.say(welcome(), Answer(out="ünï\n", notes="a note\n", code=1))

    done = run("find", "x", "--limit", "3")

    assert (done.stdout, done.stderr, done.returncode) == ("ünï\n", "a note\n", 1)
    assert isinstance(fake.requests[0], Find) and fake.requests[0].limit == 3


def test_a_large_answer_arrives_whole(fake, run: Run) -> None:
    """An answer of several megabytes comes in many pieces."""
    out = "0123456789abcde\n" * 300_000
    fake.script = lambda peer: peer.say(welcome(), Answer(out=out))

    assert run("files").stdout == out


def test_the_hot_path_loads_nothing_else(fake) -> None:
    """A whole round trip needs neither click nor msgspec nor socket nor re nor json."""
    done = subprocess.run([sys.executable, "-c", TRACED, "find", "x"], capture_output=True, text=True, check=True)

    code, *loaded = done.stderr.split()
    assert code == "0" and done.stdout == "an answer\n"
    allowed = {"fast", "msgpack", "plain"}
    assert {name for name in loaded if name.startswith("ctxclient.")} == {f"ctxclient.{name}" for name in allowed}
    banned = {"click", "msgspec", "socket", "json", "re", "struct", "subprocess", "pathlib", "typing", "enum"}
    assert not banned & set(loaded)


def test_failure_is_told_and_not_asked_again(fake, run: Run) -> None:
    """A failure is printed with its hint; the request is not sent a second time."""
    fake.script = lambda peer: peer.say(welcome(), Failure(error="root_refused", message="no\x1b[1m", hint="ctx init"))

    done = run("find", "x")

    assert (done.stdout, done.stderr, done.returncode) == ("", "ctx: no\\x1b[1m\n  ctx init\n", 4)
    assert len(fake.requests) == 1


def test_failure_as_json(fake, run: Run) -> None:
    """With --json a failure is an object on stdout."""
    fake.script = lambda peer: peer.say(welcome(), Failure(error="busy", message="too many", code=3))

    done = run("find", "x", "--json")

    assert done.stdout == '{"schema":1,"error":{"code":"busy","message":"too many","hint":null}}\n'
    assert (done.stderr, done.returncode) == ("", 3)


def test_a_refused_version_is_told(fake, run: Run) -> None:
    """A newer daemon refuses this client, and is not replaced by it."""
    refusal = Failure(error="version_refused", message="upgrade this client", code=3)
    fake.script = lambda peer: peer.say(welcome(version="9.0"), refusal)

    done = run("find", "x")

    assert (done.stderr, done.returncode) == ("ctx: upgrade this client\n", 3)
    assert not fake.stopped


def test_progress_is_silent_without_a_terminal(fake, run: Run) -> None:
    """Progress replies before the answer are taken in and not shown to a pipe."""
    fake.script = lambda peer: peer.say(welcome(), Progress(phase="indexing", done=1, total=2), Answer(out="a\n"))

    done = run("query", "x")

    assert (done.stdout, done.stderr, done.returncode) == ("a\n", "", 0)
    assert isinstance(fake.requests[0], Query)


def test_progress_on_a_terminal_is_shown_and_wiped(fake) -> None:
    """On a terminal a line shows how far it is, and is gone in the end."""
    fake.script = lambda peer: peer.say(welcome(), Progress(phase="indexing", done=1, total=2), Answer(out="a\n"))
    terminal, client_side = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ctxclient.fast", "query", "x"],
            check=False,
            stdout=subprocess.PIPE,
            stderr=client_side,
        )
        shown = os.read(terminal, 4096).decode()
    finally:
        os.close(terminal)
        os.close(client_side)

    assert done.stdout == b"a\n"
    assert "indexing [############............] 1/2" in shown
    assert shown.endswith("\r\x1b[K")
    assert fake.requests[0].index_wait_ms == -1


def test_hang_up_mid_reply_is_told_in_one_line(fake, run: Run) -> None:
    """A daemon that dies while it answers: one more try, then exit 3 and where the log is."""
    half = framing.pack(Answer(out="never seen"))[:-3]
    fake.script = lambda peer: (peer.say(welcome()), peer.socket.sendall(half))

    done = run("find", "x")

    assert done.stdout == "" and done.returncode == 3
    assert done.stderr == f"ctx: the daemon hung up before it answered\n  its log says why: {fake.home}/ctxd.log\n"
    assert len(fake.requests) == 2


@pytest.mark.parametrize("garbage", [b"\xff" * 4, b"\x00\x00\x00\x05hello", b"\x00\x00\x00\x01\xc1"])
def test_garbage_after_the_welcome_is_told(fake, run: Run, garbage: bytes) -> None:
    """A reply that cannot be understood ends with exit 3, never with a traceback."""
    fake.script = lambda peer: (peer.say(welcome()), peer.socket.sendall(garbage))

    done = run("find", "x")

    assert done.returncode == 3 and done.stdout == ""
    assert done.stderr.startswith("ctx: the daemon's reply cannot be understood: ")
    assert not fake.stopped


def test_silence_ends_with_the_timeout(fake, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """A daemon that greets and then says nothing: exit 3 and "timed out", not asked again."""
    from ctxclient import fast

    monkeypatch.setattr(fast, "GRACE_S", 0.05)
    monkeypatch.setattr(sys, "argv", ["ctx", "find", "x", "--timeout", "1"])
    fake.script = lambda peer: (peer.say(welcome()), peer.socket.recv(1))

    assert fast.main() == 3
    assert capfd.readouterr().err.startswith("ctx: timed out: the daemon did not answer within 1.05 s\n")
    assert len(fake.requests) == 1


def test_a_reader_that_leaves_is_no_error(fake) -> None:
    """`ctx files | head -1` is quiet."""
    fake.script = lambda peer: peer.say(welcome(), Answer(out="line\n" * 200_000))
    script = "set -o pipefail; ctx files | head -1; echo ${PIPESTATUS[0]}"
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"

    done = subprocess.run(
        ["bash", "-c", script], check=False, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )

    assert (done.stdout, done.stderr) == ("line\n0\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_under_stdout_is_told(fake) -> None:
    """An answer that cannot be written is not silently lost."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ctxclient.fast", "find", "x"],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert done.stderr == "ctx: cannot write the answer: No space left on device\n"
    assert done.returncode == 4


def test_interrupt_is_130(fake) -> None:
    """Ctrl-C while it waits: exit 130 and no traceback."""
    child: subprocess.Popen[bytes]

    def interrupt(peer) -> None:
        peer.say(welcome())
        child.send_signal(signal.SIGINT)
        peer.socket.recv(1)

    fake.script = interrupt
    child = subprocess.Popen(
        [sys.executable, "-m", "ctxclient.fast", "find", "x"],
        stderr=subprocess.PIPE,
        # A shell's background job, which the tests may be, has it ignored, and so would the child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (no threads here)
    )
    _, said = child.communicate(timeout=60)

    assert (child.returncode, said) == (130, b"")


def test_an_odd_byte_in_the_text_becomes_a_replacement(fake) -> None:
    """An argument that is not UTF-8 is asked with U+FFFD in its place."""
    subprocess.run([sys.executable, "-m", "ctxclient.fast", "find", b"a\xffb"], check=True, capture_output=True)

    assert fake.requests[0].text == "a\ufffdb"


def test_standard_input_as_text(fake, run: Run) -> None:
    """`-` reads the text from standard input."""
    run("find", "-", stdin=None, input="KeyError: 'x'\n")

    assert fake.requests[0].text == "KeyError: 'x'"


def test_a_socket_in_an_open_directory_is_not_spoken_to(fake, run: Run) -> None:
    """Others could have put their own socket there: refused before anything is sent."""
    os.chmod(fake.home, 0o777)

    done = run("find", "x")

    assert done.returncode == 3 and not fake.requests
    assert done.stderr.startswith(f"ctx: the daemon's socket is in an unsafe place: {fake.home} can be written")


def test_an_unexpected_fault_is_one_line_with_an_id(state: str, monkeypatch, capfd) -> None:
    """A fault of ours shows no traceback: it is in the client's log, under the id that is printed."""
    from ctxclient import fast, plain

    monkeypatch.setattr(sys, "argv", ["ctx", "find", "x"])
    monkeypatch.setattr(plain, "parse", lambda *_: 1 // 0)

    assert fast.main() == 4
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and said.startswith("ctx: internal error ")
    identity = said.split()[3].rstrip(";")
    with open(f"{state}/ctx.log") as log:
        noted = log.read()
    assert identity in noted and "ZeroDivisionError" in noted
    assert os.stat(f"{state}/ctx.log").st_mode & 0o777 == 0o600


def test_the_bar_is_wiped_when_the_daemon_dies(fake) -> None:
    """A line of progress does not stay before the error."""
    fake.script = lambda peer: peer.say(welcome(), Progress(phase="indexing", done=1, total=2))
    terminal, client_side = os.openpty()
    try:
        subprocess.run(
            [sys.executable, "-m", "ctxclient.fast", "query", "x"],
            check=False,
            stderr=client_side,
            stdout=subprocess.PIPE,
        )
        shown = os.read(terminal, 4096).decode()
    finally:
        os.close(terminal)
        os.close(client_side)

    assert "1/2\r\x1b[Kctx: the daemon hung up" in shown


def test_limits_of_both_ways_agree() -> None:
    """The hot path has its own copies of what msgspec's side and the typed client say."""
    from ctxclient import client, fast

    assert (fast.MAX_REPLY_BYTES, fast.GRACE_S) == (framing.MAX_REPLY_BYTES, client.GRACE_S)

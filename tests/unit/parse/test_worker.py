"""The worker process: what it loads, how it answers, that it ends with its input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from ctxd.frames import LENGTH, Pipe
from ctxd.model import ParsedFile
from ctxd.parse.child import COMMAND
from ctxd.parse.pipe import Outcome, Parse, ParseSettings, Read, Setup, decode_outcome, pack
from ctxd.parse.worker import Worker


def converse(*requests: Setup | Read | Parse) -> list[Outcome]:
    """Return a worker's answers to these requests, run in this process."""
    source, into = os.pipe()
    out, sink = os.pipe()
    with os.fdopen(into, "wb") as file:
        file.writelines(pack(request) for request in requests)
    try:
        Worker(Pipe(source, sink)).run()
    finally:
        os.close(source)
        os.close(sink)
    with os.fdopen(out, "rb") as file:
        answers = []
        while header := file.read(LENGTH.size):
            answers.append(decode_outcome(file.read(*LENGTH.unpack(header))))
        return answers


SETUP = Setup(ParseSettings(), niceness=0, memory_bytes=0, alarm_s=0)


def facts(outcome: Outcome) -> ParsedFile:
    """Return the decoded facts of an answer."""
    return msgspec.msgpack.decode(outcome.blob, type=ParsedFile)


def test_child_loads_no_loop_and_no_database() -> None:
    """Importing the worker and using a grammar loads neither asyncio nor SQLite nor a network client."""
    code = (
        "import sys; import ctxd.parse.worker; from ctxd.parse.extract import extract; "
        "from ctxd.parse.languages import named; extract(named('python'), b'def f(): 1'); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-E", "-P", "-c", code], capture_output=True, text=True, check=True)

    assert "ctxd.parse.worker" in loaded.stdout.split()
    assert not {"asyncio", "sqlite3", "apsw", "ssl", "http", "charset_normalizer"} & set(loaded.stdout.split())


def test_worker_ends_when_its_input_does() -> None:
    """A worker whose daemon is gone ends by itself, without an error; Ctrl-C alone does not end it."""
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as worker:
        assert worker.stdin is not None and worker.stdout is not None and worker.stderr is not None
        worker.stdin.write(pack(SETUP) + pack(Read(0, b"/", ("nothing-of-this-name",))))
        worker.stdin.flush()
        size = LENGTH.unpack(worker.stdout.read(LENGTH.size))[0]
        assert decode_outcome(worker.stdout.read(size)).gone
        worker.send_signal(signal.SIGINT)
        worker.stdin.close()
        assert worker.wait(10) == 0
        assert worker.stderr.read() == b""


def test_read_then_parse(tmp_path: Path) -> None:
    """Read tells what each path is without facts; Parse gives the facts of those that are asked for."""
    (tmp_path / "a.py").write_bytes(b"def first(): pass\n")
    (tmp_path / "b.py").write_bytes(b"\0\0\0")
    (tmp_path / "c.py").write_bytes(b"def third(): pass\n")

    read = converse(SETUP, Read(7, os.fsencode(tmp_path), ("a.py", "b.py", "c.py")), Parse(7, (2,)))

    assert [(bool(outcome.key), outcome.skip) for outcome in read] == [
        (True, ""),
        (False, "binary"),
        (True, ""),
        (True, ""),
    ]
    assert [bool(outcome.blob) for outcome in read] == [False, False, False, True]
    assert [symbol.name for symbol in facts(read[3]).symbols] == ["third"]
    assert read[3].digest == read[2].digest


def test_a_file_that_was_let_go_is_read_again(tmp_path: Path, monkeypatch) -> None:
    """What a batch cannot hold is read and hashed anew when it is parsed, and the answer is of those bytes."""
    monkeypatch.setattr("ctxd.parse.worker.HELD_BYTES", 30)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_bytes(b"def fn(): return '%s'\n" % name.encode())

    answers = converse(SETUP, Read(0, os.fsencode(tmp_path), ("a.py", "b.py")), Parse(0, (0, 1)))

    assert [facts(answer).symbols[0].name for answer in answers[2:]] == ["fn", "fn"]
    assert [answer.digest for answer in answers[2:]] == [answer.digest for answer in answers[:2]]


def test_noted_file_is_text(tmp_path: Path) -> None:
    """With a note no grammar is used: no symbols, all lines in chunks of text, the note in the facts."""
    (tmp_path / "a.py").write_bytes(b"def fn(): pass\n" * 100)

    *_, answer = converse(SETUP, Read(0, os.fsencode(tmp_path), ("a.py",)), Parse(0, (0,), ("parser crashed",)))

    parsed = facts(answer)
    assert (answer.note, parsed.note, parsed.symbols) == ("parser crashed", "parser crashed", ())
    assert parsed.chunks[0].line_start == 1 and parsed.chunks[-1].line_end == 100


def test_key_depends_on_settings_that_change_the_facts(tmp_path: Path) -> None:
    """Another chunk size is another key; the size up to which code is kept as text is not."""
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    keys = [
        converse(Setup(settings, 0, 0, 0), Read(0, os.fsencode(tmp_path), ("a.py",)))[0].key
        for settings in (
            ParseSettings(),
            ParseSettings(max_code_bytes=5_000_000),
            ParseSettings(max_chunk_tokens=300),
        )
    ]

    assert keys[0] == keys[1] != keys[2]

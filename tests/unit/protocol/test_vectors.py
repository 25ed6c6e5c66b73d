"""The golden frames: what is recorded is what is sent, for good. Run as a program it records missing ones."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from ctxprotocol import framing, messages
from ctxprotocol.errors import FrameRefused

VECTORS = Path(__file__).resolve().parents[3] / "protocol" / "vectors"
PLACE = {"directory": b"/home/a b/\xff", "chosen": True, "root": b"/r", "home": b"/home/a"}
REQUEST = {"output": "json", "width": 120, "color": True, "timeout_ms": 1_500}
WORKTREE = {**REQUEST, **PLACE, "fresh_within_ms": 0, "index_wait_ms": -1}
FILTERED = {
    **WORKTREE,
    "limit": 70_000,
    "languages": ("python", ".ts"),
    "paths": ("src/**", "ü"),
    "excludes": ("*.md",),
    "kind": "class",
    "content": "code",
}
BARE = {"directory": b"/"}

# Named by kind and variant. Never change a line: add one.
SAMPLES: dict[str, msgspec.Struct] = {
    "hello": messages.Hello(protocol=1, version="0.1.0", build=1_790_000_000_123_456_789),
    "hello-bare": messages.Hello(protocol=1, version="0.1.0"),
    "query": messages.Query(**FILTERED, text="where is ünï", budget=3_000, full=True, stubs=True, explain=True),
    "query-without": messages.Query(**BARE, text="x", without=("path", "exact symbol")),
    "query-session": messages.Query(**BARE, text="x", session="agent 7 ü"),
    "query-semantic": messages.Query(**BARE, text="x", semantic=True),
    "query-llm": messages.Query(**BARE, text="x", llm=True),
    "query-bare": messages.Query(**BARE, text="x"),
    "query-empty": messages.Query(**BARE, text=""),
    "find": messages.Find(**FILTERED, text="create_pool", full=True, explain=True),
    "find-without": messages.Find(**FILTERED, text="x", without=("saturation",)),
    "find-no-semantic": messages.Find(**FILTERED, text="x", semantic=False),
    "find-llm": messages.Find(**FILTERED, text="x", llm=True),
    "find-bare": messages.Find(**BARE, text="x" * 300),
    "symbols": messages.Symbols(**FILTERED, pattern="Pool*"),
    "symbols-bare": messages.Symbols(**BARE),
    "outline": messages.Outline(**FILTERED, file=b"src/pool.py"),
    "outline-bare": messages.Outline(**BARE, file=b"\xff"),
    "callers": messages.Callers(**FILTERED, name="Pool.take"),
    "callers-bare": messages.Callers(**BARE, name="take"),
    "callees": messages.Callees(**FILTERED, name="src/pool.py:12"),
    "callees-bare": messages.Callees(**BARE, name="take"),
    "deps": messages.Deps(**FILTERED, file=b"src/pool.py", depth=3, reverse=True),
    "deps-bare": messages.Deps(**BARE, file=b"\xff"),
    "files": messages.Files(**FILTERED),
    "files-bare": messages.Files(**BARE),
    "chunk": messages.Chunk(**WORKTREE, file=b"a.c", line=70_000, around=2),
    "chunk-bare": messages.Chunk(**BARE, file=b"a.c", line=1),
    "status": messages.Status(**WORKTREE, skipped=True),
    "status-bare": messages.Status(**BARE),
    "init": messages.Init(**WORKTREE),
    "update": messages.Update(**WORKTREE, full=True),
    "forget": messages.Forget(**WORKTREE),
    "watch": messages.Watch(**WORKTREE),
    "watch-bare": messages.Watch(**BARE),
    "repos": messages.Repos(**REQUEST),
    "repos-bare": messages.Repos(),
    "languages": messages.Languages(**REQUEST),
    "features-names": messages.Features(names=("path", "file-name")),
    "features": messages.Features(**REQUEST),
    "tokens": messages.Tokens(**REQUEST, texts=("def f():", "ünï")),
    "tokens-bare": messages.Tokens(texts=()),
    "daemon_status": messages.DaemonStatus(**REQUEST),
    "stop": messages.Stop(),
    "welcome": messages.Welcome(protocol=1, version="0.1.0", build=1_790_000_000_123_456_789, pid=4_194_304),
    "welcome-bare": messages.Welcome(protocol=1, version="0.1.0"),
    "progress": messages.Progress(phase="indexing", done=12, total=5_000),
    "progress-bare": messages.Progress(phase="scanning"),
    "part": messages.Part(out="12:00:00  fresh\n"),
    "answer": messages.Answer(out="src/db/pool.ts  L8-L45\n", notes="note\n", code=1),
    "answer-bare": messages.Answer(),
    "failure": messages.Failure(error="busy", message="too many connections", hint="later", code=3),
    "failure-bare": messages.Failure(error="internal", message="id 1234"),
}  # fmt: skip
REFUSED = {
    "empty": b"",
    "not-a-map": b"\x93\x01\x02\x03",
    "no-type": msgspec.msgpack.encode({"text": "x"}),
    "unknown-type": msgspec.msgpack.encode({"type": "teleport"}),
    "field-missing": msgspec.msgpack.encode({"type": "find", "text": "x"}),
    "field-of-wrong-type": msgspec.msgpack.encode({"type": "find", "directory": b"/", "text": 5}),
    "text-not-utf8": b"\x83\xa4type\xa4find\xa9directory\xc4\x01/\xa4text\xa1\xff",
    "cut-short": framing.pack(messages.Find(directory=b"/", text="x"))[4:-1],
    "trailing-byte": framing.pack(messages.Stop())[4:] + b"\xc0",
    "nested-65-deep": b"\x82\xa4type\xa5repos\xa5later" + b"\x91" * 64 + b"\xc0",
    "list-longer-than-its-bytes": b"\x83\xa4type\xa4find\xa9directory\xc4\x01/\xa5paths\xdd\xff\xff\xff\xff",
}


def recorded(name: str) -> dict[str, dict[str, object]]:
    path = VECTORS / name
    return json.loads(path.read_text()) if path.exists() else {}


def described(message: msgspec.Struct) -> dict[str, object]:
    """Return the message as WIRE.md says that it is written in frames.json."""
    found: dict[str, object] = {"type": message.__struct_config__.tag}
    for field in msgspec.structs.fields(message):
        value = getattr(message, field.name)
        if value != field.default:
            found[field.name] = {"bytes": value.hex()} if isinstance(value, bytes) else value
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def decoded(name: str, payload: bytes) -> msgspec.Struct:
    sample = SAMPLES[name]
    if isinstance(sample, messages.Hello):
        return framing.decode_hello(payload)
    return (framing.decode_reply if isinstance(sample, messages.AnyReply) else framing.decode_request)(payload)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_message_is_sent_as_recorded(name: str) -> None:
    """The bytes of every message are the golden ones, and they are what WIRE.md calls them."""
    golden = recorded("frames.json")[name]

    assert framing.pack(SAMPLES[name]).hex() == golden["frame"]
    assert described(SAMPLES[name]) == golden["message"]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_recorded_frame_is_understood(name: str) -> None:
    """An older peer's bytes still mean what they meant."""
    frame = bytes.fromhex(str(recorded("frames.json")[name]["frame"]))

    (payload,) = framing.FrameDecoder(framing.MAX_REQUEST_BYTES).feed(frame)

    assert decoded(name, payload) == SAMPLES[name]


@pytest.mark.parametrize("name", REFUSED)
def test_a_recorded_refusal_stays_one(name: str) -> None:
    """What is malformed once is malformed for good."""
    payload = bytes.fromhex(str(recorded("refused.json")[name]["payload"]))

    assert payload == REFUSED[name]
    with pytest.raises(FrameRefused):
        framing.decode_request(payload)


def test_nothing_recorded_is_forgotten() -> None:
    """A vector is never dropped, and every kind of message has one."""
    assert set(recorded("frames.json")) == set(SAMPLES)
    assert set(recorded("refused.json")) == set(REFUSED)
    kinds = {type(sample) for sample in SAMPLES.values()}
    assert kinds == {messages.Hello, *messages.AnyRequest.__args__, *messages.AnyReply.__args__}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_new_field_with_a_default_changes_no_old_frame(name: str) -> None:
    """The rule of evolution holds: a later version, with one more field, reads and means the same.

    Its bytes are the same too, but where the map's header changes its form with the sixteenth field.
    """
    sample = SAMPLES[name]
    kind = type(sample)
    later = msgspec.defstruct(
        kind.__name__,
        [("later", int, 7)],
        bases=(kind,),
        frozen=True,
        kw_only=True,
        omit_defaults=True,
        tag=kind.__struct_config__.tag,
    )
    frame = bytes.fromhex(str(recorded("frames.json")[name]["frame"]))

    read = msgspec.msgpack.decode(frame[4:], type=later)

    assert read.later == 7
    assert all(getattr(read, field) == getattr(sample, field) for field in kind.__struct_fields__)
    if len(kind.__struct_fields__) != 14:
        assert framing.pack(read) == frame


@pytest.mark.parametrize("name", [name for name in SAMPLES if isinstance(SAMPLES[name], messages.AnyRequest)])
def test_an_unknown_field_is_ignored(name: str) -> None:
    """A newer peer's field does not disturb this version."""
    value = msgspec.msgpack.decode(framing.pack(SAMPLES[name])[4:])

    assert framing.decode_request(msgspec.msgpack.encode({**value, "later": [1, {"a": b"b"}]})) == SAMPLES[name]


def record() -> None:
    """Write the missing vectors; those that are there stay as they are."""
    frames = {name: {"message": described(one), "frame": framing.pack(one).hex()} for name, one in SAMPLES.items()}
    refused = {name: {"payload": payload.hex()} for name, payload in REFUSED.items()}
    for path, found in (("frames.json", frames), ("refused.json", refused)):
        merged = {**found, **recorded(path)}
        (VECTORS / path).write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    record()

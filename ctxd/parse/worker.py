"""A parse worker: the child process that reads, hashes and parses files. Loads no asyncio and no SQLite.

One thread: takes requests from its standard input and answers on its standard output, see pipe.py. It ends
when the input does. A file that hangs or crashes it is the daemon's to notice; an alarm on CPU time ends it
even when no daemon is left.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable
from typing import assert_never

import msgspec

from ctxd import process
from ctxd.frames import Pipe
from ctxd.model import ParsedFile
from ctxd.parse.assembly import parse
from ctxd.parse.fingerprint import fingerprint
from ctxd.parse.languages import Language, detect
from ctxd.parse.pipe import Outcome, Parse, ParseSettings, Read, Setup, decode_request, pack
from ctxd.parse.reading import Content, Place
from ctxd.parse.verdicts import verdict

# Bytes kept between Read and Parse of one batch; what is over is read again when it is its turn.
HELD_BYTES = 32 << 20
# Past a licence, a manual in comments and the first directives (gmock-matchers.h: 20 KB): what a header declares tells
# its language. Reading so much of a header costs a tenth of parsing it.
_HEAD_BYTES = 131_072
_encoder = msgspec.msgpack.Encoder()

ParseFile = Callable[[bytes, Language, ParseSettings, str], ParsedFile]


class _Held(msgspec.Struct, frozen=True):
    """One path of a batch between its Read and its Parse. `data` is None when it was let go."""

    path: str
    language: Language
    outcome: Outcome
    data: bytes | None


class Worker:
    """Answers the daemon's requests until its input ends."""

    def __init__(self, pipe: Pipe, parse_file: ParseFile = parse) -> None:
        self._pipe = pipe
        self._parse_file = parse_file
        self._settings = ParseSettings()
        self._alarm_s = 0.0
        self._fingerprint = b""
        self._batches: dict[int, tuple[Place, list[_Held]]] = {}

    def run(self) -> None:
        """Serve until the input ends."""
        while (payload := self._pipe.receive()) is not None:
            request = decode_request(payload)
            match request:
                case Setup():
                    self._set_up(request)
                case Read():
                    self._read(request)
                case Parse():
                    self._parse(request)
                case _:
                    assert_never(request)

    def _set_up(self, setup: Setup) -> None:
        self._settings = setup.settings
        self._alarm_s = setup.alarm_s
        own = f"{setup.settings.max_file_bytes} {setup.settings.max_chunk_tokens}"
        self._fingerprint = fingerprint() + own.encode()
        if setup.niceness:
            process.be_nice(setup.niceness)
        if setup.memory_bytes:
            process.bound_memory(setup.memory_bytes)

    def _read(self, request: Read) -> None:
        place = Place(request.root)
        held: list[_Held] = []
        self._batches[request.batch] = (place, held)
        kept = 0
        for path in request.paths:
            self._arm()
            entry = self._look(place, path)
            if entry.data is not None:
                kept += len(entry.data)
                if kept > HELD_BYTES:
                    kept -= len(entry.data)
                    entry = _Held(path, entry.language, entry.outcome, None)
            held.append(entry)
            self._pipe.send(pack(entry.outcome))

    def _look(self, place: Place, path: str) -> _Held:
        """Read one path and say what it is."""
        content = place.read(path, self._settings)
        language = detect(path, content.data[:_HEAD_BYTES])
        if content.gone or content.skip:
            return _Held(path, language, _unread(content), None)
        digest = hashlib.sha256(content.data).digest()
        skip = verdict(path, content.data, language)
        key = b""
        if not skip:
            key = hashlib.sha256(digest + language.name.encode() + b"\0" + self._fingerprint).digest()
        outcome = Outcome(content.stat, digest, content.hashed_ns, key, skip)
        return _Held(path, language, outcome, None if skip else content.data)

    def _parse(self, request: Parse) -> None:
        place, held = self._batches.pop(request.batch)
        notes = request.notes or ("",) * len(request.indices)
        for index, note in zip(request.indices, notes, strict=True):
            self._arm()
            entry = held[index]
            if entry.data is None and entry.outcome.key:
                entry = self._look(place, entry.path)
            # Nothing of a file that is done need stay.
            held[index] = _Held(entry.path, entry.language, entry.outcome, None)
            outcome = entry.outcome
            if entry.data is not None:
                parsed = self._parse_file(entry.data, entry.language, self._settings, note)
                outcome = msgspec.structs.replace(outcome, note=note, blob=_encoder.encode(parsed))
            self._pipe.send(pack(outcome))
        gc.collect()

    def _arm(self) -> None:
        if self._alarm_s:
            process.set_alarm(self._alarm_s)


def _unread(content: Content) -> Outcome:
    return Outcome(content.stat, hashed_ns=content.hashed_ns, skip=content.skip, gone=content.gone)


def serve(parse_file: ParseFile = parse) -> None:
    """Be a worker on this process's standard input and output."""
    # Facts are trees without cycles: looking for some while they grow costs a twentieth of the time and finds none.
    gc.freeze()
    gc.disable()
    try:
        Worker(Pipe.standard(), parse_file).run()
    except (BrokenPipeError, ConnectionResetError):
        # The daemon is gone, and with it the one who would read an error.
        pass


if __name__ == "__main__":
    serve()

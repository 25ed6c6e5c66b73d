"""A parse worker that does what files of its input say: crash, end, hang, spin. For tests of the pool only."""

from __future__ import annotations

import os
import resource
import signal
import time

from ctxd.model import ParsedFile
from ctxd.parse.assembly import parse
from ctxd.parse.languages import Language
from ctxd.parse.pipe import ParseSettings
from ctxd.parse.worker import serve


def _parse(data: bytes, language: Language, settings: ParseSettings, note: str) -> ParsedFile:
    if b"always-exit" in data:
        os._exit(7)
    if not note:
        if b"crash-now" in data:
            os.kill(os.getpid(), signal.SIGSEGV)
        if b"exit-now" in data:
            os._exit(7)
        if b"hang-now" in data:
            time.sleep(1000)
        while b"spin-now" in data:
            pass
    return parse(data, language, settings, note)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(_parse)

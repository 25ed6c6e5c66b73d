"""A copy of the packages with faults that a test switches on and off while its daemon runs.

What is injected asks a small file each time; `Faults.set` writes it. Nothing of this is in the packages themselves.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from tests.faults import copies
from tests.faults.copies import Edit

_ASK = """
import json as _json
import time as _time


def injected(fault, default):
    try:
        with open({control!r}) as file:
            return _json.load(file).get(fault, default)
    except OSError:
        return default


"""
# Both clocks of this machine's wall, in the daemon and in its workers.
_SHIFT = """
_now, _now_ns = _time.time, _time.time_ns
_time.time = lambda: _now() + injected("shift_s", 0)
_time.time_ns = lambda: _now_ns() + int(injected("shift_s", 0) * 10**9)

"""
_EVENT = "        number, mask = int(event.wd), int(event.mask)\n"
_DROP = """        import zlib

        from ctxd.model import injected

        if zlib.crc32(event.name) % 100 < injected("drop_percent", 0):
            return
"""
_WATCH = "            watch = self._fd._get_or_create_watch(path, MASK)\n"
_REFUSE = """            from types import SimpleNamespace

            from ctxd.model import injected

            if len(self._fd._watch_for_wd) >= injected("watches", 1 << 30):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            closed = os.path.basename(path).startswith(b"closed") and injected("closed", False)
            watch = SimpleNamespace(wd=-1) if closed else self._fd._get_or_create_watch(path, MASK)
"""
_QUEUE = "            self._fd = InotifyFD()\n"
_NO_QUEUE = """            from ctxd.model import injected

            if injected("no_queue", False):
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            self._fd = InotifyFD()
"""

# Pauses that nobody waits for in a test: (file, as it is, as it is here).
AUDIT_SOON: tuple[Edit, ...] = (
    ("ctxd/audit.py", "IDLE_S = 120.0\n", "IDLE_S = 0.3\n"),
    (
        "ctxd/audit.py",
        "AFTER_CHANGES_S, AFTER_NOTHING_S = 3_600.0, 6 * 3_600.0\n",
        "AFTER_CHANGES_S, AFTER_NOTHING_S = 0.1, 0.1\n",
    ),
)
RETRY_SOON: tuple[Edit, ...] = (
    (
        "ctxd/lookout.py",
        "RETRY_S, LONGEST_RETRY_S = 60.0, 3_600.0\n",
        "RETRY_S, LONGEST_RETRY_S = 0.2, 0.2\n",
    ),
)
NOTICE_SOON: tuple[Edit, ...] = (("ctxd/daemon.py", "BEAT_S = 5.0\nGAP_S = 30.0\n", "BEAT_S = 0.1\nGAP_S = 1.0\n"),)


class Faults:
    """One copy below `folder`; `bin` holds its commands. `file_system` and `set` count for whatever runs from it."""

    def __init__(self, folder: str, bin: str, edits: tuple[Edit, ...] = (), *, clock: bool = False) -> None:
        self._control = os.path.join(folder, "faults.json")
        self._mounts = os.path.join(folder, "mounts")
        self._set: dict[str, int | bool] = {}
        self.set()
        self.file_system("")
        ask = _ASK.format(control=self._control) + (_SHIFT if clock else "")
        every: tuple[Edit, ...] = (
            ("ctxd/model.py", "EventKind = Literal[", f"{ask}EventKind = Literal["),
            ("ctxd/watch/inotify.py", _EVENT, _DROP + _EVENT),
            ("ctxd/watch/kernel.py", _WATCH, _REFUSE),
            ("ctxd/watch/kernel.py", _QUEUE, _NO_QUEUE),
            ("ctxd/watch/mounts.py", '_TABLE = "/proc/self/mountinfo"\n', f"_TABLE = {self._mounts!r}\n"),
        )
        self.bin = str(copies.build(Path(folder) / "copy", (*every, *edits), copies.source_of(bin)))

    def set(self, **faults: int | bool) -> None:
        """Switch these faults on and all others off: `drop_percent` of the names, so many `watches`, `closed`
        directories, `no_queue`, `shift_s` of the wall clock."""
        self._set = faults
        draft = f"{self._control}.new"
        Path(draft).write_text(json.dumps(faults))
        os.replace(draft, self._control)

    def file_system(self, kind: str) -> None:
        """Have everything lie on a file system of this type; "" = as it is, "unknown" = the table says nothing."""
        if kind:
            line = "" if kind == "unknown" else f"1 0 0:1 / / rw - {kind} x rw\n"
            Path(self._mounts).write_text(line)
        else:
            shutil.copyfile("/proc/self/mountinfo", self._mounts)

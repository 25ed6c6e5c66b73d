"""R29, R30: what the daemon costs when nothing happens, what it needs at most, and whether it gives that back."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from ctxprotocol.messages import DaemonStatus, Part, Update, Watch
from tests.faults import copies
from tests.faults.lab import Lab, Row, Size
from tests.link import Link
from tests.processes import belonging_to, wait_until

FILES = {"ci": 250, "release": 5_000, "nightly": 5_000}
IDLE_S = {"ci": 4.0, "release": 300.0, "nightly": 28_800.0}
# The audit begins after two idle minutes, and is no idle cost: its own is shown apart.
SETTLE_S = {"ci": 1.0, "release": 200.0, "nightly": 200.0}
CPU_S_PER_5_MIN = 1.5
# The small size is over before the beat of the housekeeping evens out.
CPU_SLACK_S = 0.1
WAKEUPS_PER_S = 5.0
IDLE_BYTES, PEAK_BYTES = 120 << 20, 500 << 20
BACK_SHARE, BACK_WITHIN_S = 1.2, 60.0
QUESTIONS = 100
# The daemon looks every 5 s whether nobody has asked for 10.
GIVEN_BACK_S = 16.0
BRISK = (
    ("ctxd/parse/pool.py", "idle_s: float = 30.0", "idle_s: float = 1.0"),
    ("ctxd/store/readers.py", "\nIDLE_S = 30.0\n", "\nIDLE_S = 1.0\n"),
    ("ctxd/daemon.py", "\nCALM_S = 10.0\n", "\nCALM_S = 1.0\n"),
    ("ctxd/daemon.py", "BEAT_S = 5.0\n", "BEAT_S = 0.5\n"),
)
SAMPLE_S = 0.05


def make_tree(lab: Lab, files: int) -> None:
    """Write and commit the tree, then make it dirty: changed, deleted, added, ignored files."""
    for number in range(files):
        body = "".join(
            f"def quiet_{number}_{each}(given, other):\n"
            f'    """Combine what is given with the other, for the {each}th time."""\n'
            f"    found = quiet_{max(0, number - 1)}_{each}(other, given)\n    return [found, given, other]\n\n\n"
            for each in range(8)
        )
        lab.tree.write(f"p{number % 50}/m{number}.py", body)
    lab.tree.write(".gitignore", "*.log\n")
    lab.tree.commit("all")
    for number in range(20):
        lab.tree.write(f"p{number}/new{number}.py", f"def dirty_{number}(): pass\n")
        lab.tree.write(f"p{number}/x.log", "a line\n")
    for number in range(20, 40):
        lab.tree.write(f"p{number}/m{number}.py", f"def dirty_{number}(): pass\n")
        os.unlink(lab.tree.path(f"p{number}/m{number + 50}.py"))


def idle(size: Size, seed: int, bin: str) -> Row:
    """R29: leave a daemon alone that has a dirty work tree open, and see what it does."""
    files, span_s = FILES[size.name], IDLE_S[size.name]
    row = Row("R29", f"idle for {span_s:g} s, {files} files, dirty tree", seed)
    with Lab(seed, bin) as lab:
        make_tree(lab, files)
        lab.places(row, "dirty_1")
        settle(lab, 0.5)
        began = cpu_s(lab)
        settle(lab, SETTLE_S[size.name])
        audit_s = cpu_s(lab) - began
        with following(lab) as news:
            before, cpu, wakes = looks(lab), cpu_s(lab), wakeups(lab)
            written = bytes_written(lab)
            time.sleep(span_s)
            spent, woken = cpu_s(lab) - cpu, (wakeups(lab) - wakes) / span_s
            row.count("" if looks(lab) == before else f"the state directory has changed: {changes(lab, before)}")
            row.count("" if bytes_written(lab) == written else f"wrote {bytes_written(lab) - written} bytes")
            told = heard(news)
            row.count(f"told: {told}" if told else "")
        allowed = CPU_S_PER_5_MIN * span_s / 300 + CPU_SLACK_S
        row.count("" if spent <= allowed else f"{spent:.2f} s of CPU in {span_s:g} s")
        row.count("" if woken <= WAKEUPS_PER_S else f"{woken:.1f} wake-ups a second")
        row.what += f": {spent:.2f} s CPU, {woken:.1f} wake-ups/s (before: audit {audit_s:.2f} s)"
    return row


def settle(lab: Lab, span_s: float) -> None:
    """Wait until no batch is in work and for some time more: what begins when all is quiet is no idle cost of then."""
    wait_until(lambda: at_rest(lab), 60, "no batch in work")
    time.sleep(span_s)


def at_rest(lab: Lab) -> bool:
    status = json.loads(lab.link.ask(DaemonStatus(output="json")).out)
    return not status["queue"] and all(each["fresh"] for each in status["worktrees"])


@contextlib.contextmanager
def following(lab: Lab) -> Iterator[Link]:
    """Follow what happens in the worktree; the first part says how it stands."""
    with Link(lab.home.path) as link:
        link.send(Watch(directory=os.fsencode(lab.tree.root), output="json"))
        assert isinstance(link.receive(), Part)
        yield link


def heard(link: Link) -> list[str]:
    """Return what was told since."""
    link.socket.settimeout(0.1)
    told = []
    with contextlib.suppress(TimeoutError):
        while isinstance(part := link.receive(), Part):
            told.append(part.out[:200])
    return told


def processes(lab: Lab) -> list[psutil.Process]:
    return belonging_to(lab.home.path)


def cpu_s(lab: Lab) -> float:
    """Return the processor time of the daemon and all its children so far, those that have ended included."""
    daemon = psutil.Process(lab.home.pid)
    times = [daemon.cpu_times(), *(child.cpu_times() for child in daemon.children(recursive=True))]
    ended = times[0].children_user + times[0].children_system
    return ended + sum(each.user + each.system for each in times)


def wakeups(lab: Lab) -> int:
    """Return how often a thread of the daemon or of a child was put on a processor so far."""
    total = 0
    for process in processes(lab):
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/status") as status:
                total += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return total


def bytes_written(lab: Lab) -> int:
    return sum(process.io_counters().write_bytes for process in processes(lab))


def looks(lab: Lab) -> dict[str, tuple[int, int]]:
    """Return size and time of each file in the state directory."""
    found = {}
    for folder, _, names in os.walk(lab.home.path):
        for name in names:
            stat = os.lstat(os.path.join(folder, name))
            found[os.path.join(folder, name)] = (stat.st_size, stat.st_mtime_ns)
    return found


def changes(lab: Lab, before: dict[str, tuple[int, int]]) -> list[str]:
    after = looks(lab)
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def pss(lab: Lab) -> int:
    """Return the proportional memory of the daemon and its children."""
    total = 0
    for process in processes(lab):
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/smaps_rollup") as rollup:
            total += sum(int(line.split()[1]) << 10 for line in rollup if line.startswith("Pss:"))
    return total


def threads(lab: Lab) -> int:
    return psutil.Process(lab.home.pid).num_threads()


class Peak:
    """Samples the memory from a thread of its own while it is entered."""

    def __init__(self, lab: Lab) -> None:
        self.bytes = 0
        self._lab = lab
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="peak")

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            with contextlib.suppress(psutil.Error, OSError):
                self.bytes = max(self.bytes, pss(self._lab))

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def sizes(size: Size, seed: int, bin: str) -> Row:
    """R30: memory of a first index, once that is over, during two rebuilds, after them, and of a daemon begun anew."""
    files = FILES[size.name]
    row = Row("R30", f"memory, {files} files", seed)
    with impatient(size, bin) as commands, Lab(seed, commands) as lab:
        make_tree(lab, files)
        with Peak(lab) as first:
            lab.places(row, "dirty_1")
        # The one warm worker belongs to an idle daemon: it comes with the first save.
        lab.tree.write("p0/saved.py", "def saved(): pass\n")
        lab.places(row, "saved")
        idle_bytes = calm(lab, 2.0 if size.name == "ci" else GIVEN_BACK_S)
        row.count("" if idle_bytes <= IDLE_BYTES else f"idle {idle_bytes >> 20} MB")
        with Peak(lab) as again:
            rebuild(lab)
            had = threads(lab)
            rebuild(lab)
        peak_bytes = max(first.bytes, again.bytes)
        row.count("" if peak_bytes <= PEAK_BYTES else f"peak {peak_bytes >> 20} MB")
        row.count(given_back(lab, idle_bytes))
        row.count("" if threads(lab) <= had else f"threads: {had}, then {threads(lab)}")
        after = pss(lab)
        lab.hang_up()
        lab.home.run("daemon", "stop", cwd="/")
        for number in range(QUESTIONS):
            lab.places(row, f"quiet_{number % files}_1")
        begun = pss(lab)
        row.count("" if begun <= IDLE_BYTES else f"begun anew {begun >> 20} MB")
        row.what += f": idle {idle_bytes >> 20} MB, peak {peak_bytes >> 20}, after {after >> 20}, anew {begun >> 20}"
    return row


@contextlib.contextmanager
def impatient(size: Size, bin: str) -> Iterator[str | Path]:
    """Give commands whose daemon sends its workers home sooner, for the CI size; else the given ones."""
    if size.name != "ci":
        yield bin
        return
    with tempfile.TemporaryDirectory(prefix="ctx-brisk-", dir="/tmp") as folder:
        yield copies.build(Path(folder), BRISK, copies.source_of(bin))


def calm(lab: Lab, given_back_s: float) -> int:
    """Return the memory when the bulk workers have ended and what they left is given back."""
    wait_until(lambda: len(processes(lab)) <= 2, BACK_WITHIN_S, "the bulk workers end")
    low, ends = pss(lab), time.monotonic() + given_back_s
    while time.monotonic() < ends:
        time.sleep(0.5)
        low = min(low, pss(lab))
    return low


def rebuild(lab: Lab) -> None:
    lab.link.ask(Update(directory=os.fsencode(lab.tree.root), full=True, index_wait_ms=-1))


def given_back(lab: Lab, idle_bytes: int) -> str:
    """After the work the memory is what it was, within a minute."""
    ends = time.monotonic() + BACK_WITHIN_S
    while (now := pss(lab)) > BACK_SHARE * idle_bytes:
        if time.monotonic() > ends:
            return f"{now >> 20} MB after {BACK_WITHIN_S:g} s, idle was {idle_bytes >> 20} MB"
        time.sleep(0.5)
    return ""

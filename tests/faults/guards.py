"""Take each guard out of a copy of the packages and see its experiment go red: `python -m tests.faults.guards`.

A guard that can be taken out unnoticed guards nothing, or its experiment tests nothing. Each is a replacement of text
in one file that must occur exactly once; the copy runs from a virtual environment of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.faults.copies import ROOT, Edit, build


@dataclass(frozen=True)
class Guard:
    """What is taken out, and the experiment that must notice. `edits` are (file, old text, new text)."""

    name: str
    experiment: str
    edits: tuple[Edit, ...]


GUARDS = (
    Guard(
        "barrier: answers do not wait for what the kernel has queued",
        "R01",
        (
            (
                "ctxd/worktree.py",
                "        await self._check_root()\n",
                "        if self.pipeline.complete:\n            return Freshness(fresh=True)\n"
                "        await self._check_root()\n",
            ),
        ),
    ),
    Guard(
        "directories: one that appears is not listed",
        "R01",
        (("ctxd/watch/inotify.py", '            self._emit(path, "directory")\n', "            pass\n"),),
    ),
    Guard(
        "overflow: a full queue is no event",
        "R03",
        (("ctxd/watch/inotify.py", """        self._lose("the kernel's event queue overflowed")\n""", ""),),
    ),
    Guard(
        "audit: nothing is hashed again",
        "R04",
        (
            (
                "ctxd/audit.py",
                "            found = await (self._differing() if self._listed else self._unlike())\n",
                "            found: list[str] = []\n",
            ),
        ),
    ),
    Guard(
        "file systems: whatever lies below, events are believed",
        "R05",
        (
            (
                "ctxd/watch/inotify.py",
                "        if found not in mounts.TRUSTED:\n",
                "        if found not in mounts.TRUSTED and not found:\n",
            ),
        ),
    ),
    Guard(
        "limits: a watch that cannot be had is none too few",
        "R05",
        (
            (
                "ctxd/watch/inotify.py",
                "        if self.trusted:\n            self._lose(reason)\n",
                "        if self.trusted:\n            return\n",
            ),
        ),
    ),
    Guard(
        "patience: a limit that was raised stays one",
        "R05",
        (
            (
                "ctxd/lookout.py",
                "        if self.watcher.trusted or not self.watcher.passing:\n",
                "        if self.watcher.trusted or self.watcher.passing:\n",
            ),
        ),
    ),
    Guard(
        "cache: the other branch is parsed again",
        "R06",
        (("ctxd/pipeline.py", "self._machinery.cache.have if reuse else _nothing", "_nothing"),),
    ),
    Guard(
        "head: what git did to the tree is not waited for",
        "R06",
        (
            (
                "ctxd/worktree.py",
                "            await self._wait(number, wait_ms, report)\n",
                "            await self._wait(number, wait_ms if first else 1, report)\n",
            ),
            (
                "ctxd/worktree.py",
                "        if not self._barrier.passed(number):\n            return Freshness(fresh=False, "
                'reason=self.trouble or "catching up", pending=self.pending())\n',
                "",
            ),
        ),
    ),
    Guard(
        "gap: nobody looks at the clocks",
        "R25",
        (("ctxd/daemon.py", "            if late > GAP_S or drift > GAP_S:\n", "            if late > 1e9:\n"),),
    ),
    Guard(
        "rules: a changed ignore file is a file like any other",
        "R07",
        (("ctxd/watch/inotify.py", "            if name in RULE_NAMES:\n", "            if not name:\n"),),
    ),
    Guard(
        "transaction: every statement commits by itself",
        "R08",
        (
            ("ctxd/store/lane.py", 'self._connection.execute("BEGIN IMMEDIATE")', "pass"),
            ("ctxd/store/lane.py", 'connection.execute("COMMIT")', "pass"),
        ),
    ),
    Guard(
        "retry: a failed batch is owed to nobody",
        "R09",
        (
            (
                "ctxd/worktree.py",
                "        self._debouncer.ask_reconcile(_now_ms(), checksums=batch.checksums)\n        self._barrier",
                "        self._barrier",
            ),
        ),
    ),
    Guard(
        "draft: a file gets its name before its log is in it",
        "R09",
        (("ctxd/store/driver.py", "connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)", "pass"),),
    ),
    Guard(
        "sync: SQLite waits for no disk, ever",
        "R10",
        (("ctxd/store/driver.py", "PRAGMA synchronous=NORMAL;", "PRAGMA synchronous=OFF;"),),
    ),
    Guard(
        "seal: what was closed in order is believed",
        "R11",
        (("ctxd/store/integrity.py", "_unlike_its_seal(path) if is_sealed(path)", '"" if is_sealed(path)'),),
    ),
    Guard(
        "pinned: a log grows for as long as another program reads",
        "R26",
        (("ctxd/pipeline.py", "PINNED_BYTES = 16 << 20", "PINNED_BYTES = 1 << 40"),),
    ),
    Guard(
        "room: what failed is tried again when somebody asks, not before",
        "R12",
        (("ctxd/worktree.py", "RETRY_S = 5.0", "RETRY_S = 5e5"),),
    ),
    Guard(
        "schema: an index of another version is used",
        "R27",
        (
            (
                "ctxd/store/integrity.py",
                "if version != SCHEMA_VERSION or _objects(connection) != _expected():",
                "if _objects(connection) != _expected():",
            ),
        ),
    ),
    Guard(
        "registry: one of a newer version is read as our own",
        "R27",
        (("ctxd/store/registry.py", "if version > len(migrations):", "if version < 0:"),),
    ),
    Guard(
        "beside: the new index is the current one while it is being filled",
        "R28",
        (
            (
                "ctxd/pipeline.py",
                "                await self._create(path)\n                survey",
                "                await self._create(path)\n                await self._switch(name, self.index_path)\n"
                "                survey",
            ),
        ),
    ),
    Guard(
        "lock: any number of daemons, any number of starters",
        "R20",
        (
            (
                "protocol/ctxprotocol/lock.py",
                "fcntl.flock(self.descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)",
                "pass",
            ),
            # It alone lets one client after the other come to where the lock counts.
            ("ctxclient/turn.py", "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass"),
        ),
    ),
    Guard(
        "memory of failures: content that ended a worker is given to the next one",
        "R14",
        (("ctxd/parse/job.py", "            self._desk.remember(outcome.key, note)\n", ""),),
    ),
    Guard(
        "budget: a parser that hangs is waited for",
        "R14",
        (("ctxd/parse/child.py", "asyncio.wait((task,), timeout=budget_s)", "asyncio.wait((task,), timeout=10.0)"),),
    ),
    Guard(
        "turns: a connection's requests are worked on side by side",
        "R15",
        (("ctxd/server.py", "while self._waiting and self.task is None and", "while self._waiting and"),),
    ),
    Guard(
        "refusal: what cannot be decoded is passed over",
        "R16",
        (
            (
                "ctxd/server.py",
                "            except CtxError as error:\n                self._refuse(error)\n",
                "            except CtxError:\n",
            ),
        ),
    ),
    Guard(
        "deaf: only a reply of more than 4 MB must be read in time",
        "R17",
        (
            (
                "ctxd/server.py",
                "        transport.set_write_buffer_limits(high=0)\n        try:",
                "        transport.set_write_buffer_limits(high=4 << 20)\n        try:",
            ),
        ),
    ),
    Guard(
        "cancel: a query goes on for a client that has gone",
        "R18",
        (
            (
                "ctxd/server.py",
                "        self._writable.set()\n        if self.task is not None:\n            self.task.cancel()\n",
                "        self._writable.set()\n",
            ),
        ),
    ),
    Guard(
        "frames: a length is believed",
        "R19",
        (("protocol/ctxprotocol/framing.py", "if length > self._max_bytes:", "if length < 0:"),),
    ),
    Guard(
        "measure: nobody counts before decoding",
        "R19",
        (("protocol/ctxprotocol/framing.py", "        values += 1\n", "        return\n"),),
    ),
    Guard(
        "place: what lies at the socket's place is removed, whatever it is",
        "R21",
        (("ctxd/instance.py", "if not stat.S_ISSOCK(found.st_mode):", "if stat.S_ISDIR(found.st_mode):"),),
    ),
    Guard(
        "links: a lock is opened wherever its name leads",
        "R21",
        (
            (
                "protocol/ctxprotocol/lock.py",
                "os.open(path, flags | files.OWN | files.NO_FOLLOW, 0o600)",
                "os.open(path, flags | files.OWN, 0o600)",
            ),
        ),
    ),
    Guard(
        "socket: nobody looks whether it is still there",
        "R22",
        (("ctxd/daemon.py", "elif self._instance.socket_lost():", "elif False:"),),
    ),
    Guard(
        "state: a daemon without its directory goes on answering",
        "R22",
        (
            (
                "ctxd/daemon.py",
                "        if self._instance.directory_lost():\n            # Who",
                "        if False:\n            # Who",
            ),
        ),
    ),
    Guard(
        "goodbye: who is cut at the end is not told",
        "R24",
        (
            (
                "ctxd/server.py",
                '(pack(to_failure(DaemonUnreachable("ctxd was stopped meanwhile", "ask again"))))',
                '(b"")',
            ),
        ),
    ),
    Guard(
        "order: the database is closed while others read it",
        "R24",
        (
            (
                "ctxd/daemon.py",
                "        readers.stop()\n        writer.stop()\n",
                "        writer.stop()\n        readers.stop()\n",
            ),
        ),
    ),
    Guard(
        "backlog: asyncio says how many clients may wait to be accepted",
        "R32",
        (("ctxd/server.py", ", backlog=BACKLOG)", ")"),),
    ),
    Guard(
        "mask: tokens stay in the text",
        "R34",
        (("ctxd/parse/masking.py", "spots = sorted(set(_found(text)))", "spots = list(_found(text))[:0]"),),
    ),
    Guard(
        "peer: whoever can connect is served",
        "R33",
        (("ctxd/server.py", '            check_peer(transport.get_extra_info("socket"))\n', "            pass\n"),),
    ),
    Guard(
        "programs: git asks the file system monitor that a repository names",
        "R35",
        (("ctxd/scan/git.py", '    "core.fsmonitor=false",\n', '    "core.quotePath=false",\n'),),
    ),
    Guard(
        "pipes: nobody looks what a git that does not end is doing",
        "R35",
        (("ctxd/scan/traps.py", "            if _is_opening_fifo(process.pid):\n", "            if False:\n"),),
    ),
    Guard(
        "verdict: every version is served",
        "R23",
        (
            (
                "ctxd/server.py",
                "        self._refusal = verdict(hello, self.server.own)\n",
                "        self._refusal = None\n",
            ),
        ),
    ),
    Guard(
        "grace: a running query is cut when its daemon is replaced",
        "R23",
        (("ctxd/daemon.py", "        self._grace_s = STOP_GRACE_S\n", ""),),
    ),
    Guard(
        "pause: a daemon may be replaced by each command",
        "R23",
        (("ctxclient/launch.py", "        _refuse_if_just_replaced(state_dir, found)\n", ""),),
    ),
    Guard(
        "vectors: those of another model stay",
        "R27",
        (("ctxd/store/filling.py", """("vectors", "vector_bits", "meta WHERE key = 'vectored'")""", "()"),),
    ),
    Guard(
        "vectors: kept when a whole slice is embedded, not a bite",
        "R39",
        (
            (
                "ctxd/embed/backfill.py",
                "        for start in range(0, len(texts), embedder.batch):\n            await self._step_aside()\n"
                "            bite = texts[start : start + embedder.batch]\n",
                "        for start in range(0, len(texts), SLICE):\n            bite = texts[start : start + SLICE]\n",
            ),
        ),
    ),
    Guard(
        "children: an embedding process does not see its daemon go",
        "R39",
        (
            (
                "ctxd/embed/worker.py",
                "pipe.receive()) is not None:\n",
                "pipe.receive() or __import__('time').sleep(60)) is not None:\n",
            ),
        ),
    ),
    Guard(
        "hang: an embedding process may take as long as it likes",
        "R39",
        (("ctxd/embed/process.py", "asyncio.timeout(budget_s)", "asyncio.timeout(None)"),),
    ),
    Guard(
        "turns: all readers may wait for a model that hangs",
        "R39",
        (("ctxd/embed/tier.py", "timeout=0.0 if remote else TURN_S", "timeout=None"),),
    ),
    Guard(
        "connections: a reader keeps what it had open on a former index",
        "B058",
        (("ctxd/pipeline.py", "            self._machinery.readers.forget(path)\n", ""),),
    ),
)


def goes_red(guard: Guard, size: str, seed: int) -> tuple[bool, str]:
    """Run the experiment on the copy without the guard; return whether it went red, and what it printed."""
    with tempfile.TemporaryDirectory(prefix="ctx-guard-", dir="/tmp") as folder:
        commands = build(Path(folder), guard.edits)
        where = subprocess.run(
            [commands / "python", "-P", "-c", "import ctxd; print(ctxd.__file__)"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert where.startswith(folder), f"the copy is not what runs: {where}"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "tests.faults", "--size", size, "--only", guard.experiment),
                *("--bin", str(commands), "--seed", str(seed)),
            ],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=1_800,
        )
    wrong = [line for line in done.stdout.splitlines() if line.startswith("       #")]
    return done.returncode == 1 and bool(wrong), done.stdout + done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="ci")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a guard's name")
    args = parser.parse_args()
    green = []
    for guard in GUARDS:
        if args.only in guard.name:
            red, printed = goes_red(guard, args.size, args.seed)
            print(
                f"{'red, as it must be' if red else 'STILL GREEN'}: {guard.experiment} without {guard.name}", flush=True
            )
            print(
                "\n".join(f"    {line.strip()[:160]}" for line in printed.splitlines() if "#" in line or not red)[
                    :2_000
                ]
            )
            green += [] if red else [guard.name]
    return 1 if green else 0


if __name__ == "__main__":
    sys.exit(main())

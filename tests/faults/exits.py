"""R24: the ends of a daemon. Everyone is answered or told, it is quick, and nothing is left but the databases."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from ctxprotocol import endpoint
from ctxprotocol.messages import Answer, AnyReply, Failure, Progress, Symbols, Update
from tests.faults import copies
from tests.faults.compare import index_files, problems_of
from tests.faults.hangups import SLOW, at_work
from tests.faults.lab import Lab, Row, Size
from tests.link import Link
from tests.processes import belonging_to, wait_until

ROUNDS = {"ci": 1, "release": 20, "nightly": 200}
IN_FLIGHT = 20
WITHIN_S = 3.0
IDLE_S = 1
BEAT_S = 5.0
# The daemon of the CI size looks more often whether it is idle.
QUICK = ("ctxd/daemon.py", f"BEAT_S = {BEAT_S}\n", "BEAT_S = 0.5\n")
# What may lie in the state directory when no daemon runs; databases have no log and no shared memory any more.
LEFT = ("ctxd.log", "start.log", "start.lock", "turn.lock", "registry.db", "config.toml", "indexes", "replaced")


def exits(size: Size, seed: int, bin: str) -> Row:
    """End daemons by signal with queries in flight and during a first index, and let some end because nobody asks."""
    row = Row("R24", f"SIGTERM with {IN_FLIGHT} queries in flight; idle exit", seed)
    with tempfile.TemporaryDirectory(prefix="ctx-slow-", dir="/tmp") as folder:
        slow = copies.build(Path(folder), [copies.SLOW, *[QUICK] * (size.name == "ci")], copies.source_of(bin))
        with Lab(seed, slow) as lab:
            for number in range(300):
                lab.tree.write(f"m{number}.py", f"def ends_{number}(a): pass\n" * 20)
            for number in range(ROUNDS[size.name]):
                lab.places(Row("", "", 0), "ends_1")
                for fault in in_flight(lab, row):
                    row.count(fault)
                lab.tree.write(f"n{number}.py", f"def anew_{number}(): pass\n")
                row.count(found_again(lab, row, number))
                row.count(while_indexing(lab, row))
            row.count(idle(lab, row))
    return row


def in_flight(lab: Lab, row: Row) -> list[str]:
    """SIGTERM while quick and slow queries are worked on; one trial for each client, and one for what is left."""
    patterns = [lab.random.choice((SLOW, "slow-500", "ends_*")) for _ in range(IN_FLIGHT)]
    with ExitStack() as stack:
        links = [stack.enter_context(Link(lab.home.path, 10)) for _ in patterns]
        for link, pattern in zip(links, patterns, strict=True):
            link.send(Symbols(directory=os.fsencode(lab.tree.root), pattern=pattern, output="json"))
        wait_until(lambda: at_work(lab) >= min(4, sum(map(is_slow, patterns))), 10, "the queries are at work")
        ended = end(lab, row)
        told = [outcome(link, pattern) for link, pattern in zip(links, patterns, strict=True)]
    return [*told, ended or left_over(lab)]


def is_slow(pattern: str) -> bool:
    return pattern == SLOW


def outcome(link: Link, pattern: str) -> str:
    """Say what is wrong with what one client got: an answer is fine, and so is one failure that says why."""
    try:
        reply: AnyReply = link.receive()
    except (EOFError, ConnectionError) as fault:
        return f"{pattern}: neither answered nor told: {fault}"
    told = isinstance(reply, Failure) and reply.code == 3 and "stopped" in reply.message and bool(reply.hint)
    return "" if isinstance(reply, Answer) or told else f"{pattern}: {reply}"


def end(lab: Lab, row: Row) -> str:
    """Send SIGTERM and wait for the end of the daemon and of all that it started."""
    pid, began = lab.home.pid, time.perf_counter()
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not belonging_to(lab.home.path), 30, "the daemon and its workers are gone")
    spent = time.perf_counter() - began
    row.waits_s.append(spent)
    lab.hang_up()
    return "" if spent <= WITHIN_S else f"it took {spent:.1f} s to end"


def left_over(lab: Lab) -> str:
    """Say what lies in the state directory that should not, and which index is not sound."""
    allowed = {
        *LEFT,
        *(name for name in os.listdir(lab.home.path) if name.startswith("cache-") and name.endswith(".db")),
    }
    if more := sorted(set(os.listdir(lab.home.path)) - allowed):
        return f"left over: {more}"
    if os.path.lexists(endpoint.socket_path(lab.home.path)):
        return "the socket is left over"
    for path in index_files(lab.home):
        beside = [name for name in os.listdir(os.path.dirname(path)) if not name.endswith((".db", ".seal"))]
        if problems := beside or problems_of(path):
            return f"{os.path.basename(path)}: {problems[:3]}"
    return ""


def found_again(lab: Lab, row: Row, number: int) -> str:
    """The next daemon knows what was written while none ran."""
    found = lab.places(row, f"anew_{number}")
    return "" if found == [f"n{number}.py"] else f"anew_{number} in {found}"


def while_indexing(lab: Lab, row: Row) -> str:
    """SIGTERM at a random point of a rebuild that a client waits for."""
    with Link(lab.home.path, 10) as link:
        link.send(Update(directory=os.fsencode(lab.tree.root), full=True, index_wait_ms=-1))
        time.sleep(lab.random.uniform(0, 0.6))
        ended = end(lab, row)
        try:
            while isinstance(reply := link.receive(), Progress):
                pass
        except (EOFError, ConnectionError) as fault:
            return f"a rebuild: neither answered nor told: {fault}"
    told = isinstance(reply, Answer) or (isinstance(reply, Failure) and bool(reply.message))
    return ended or left_over(lab) or ("" if told else f"a rebuild: {reply}")


def idle(lab: Lab, row: Row) -> str:
    """A daemon that a client started ends when nobody asks, and not while a query is in work."""
    Path(lab.home.path, "config.toml").write_text(f"daemon.idle_exit_s = {IDLE_S}\n")
    lab.places(Row("", "", 0), "ends_1")
    with Link(lab.home.path, 30) as link:
        link.ask(Symbols(directory=os.fsencode(lab.tree.root), pattern="slow-2000", output="json"))
        began = time.perf_counter()
        lab.hang_up()
        wait_until(lambda: not belonging_to(lab.home.path), 2 * BEAT_S + IDLE_S, "the daemon ends by itself")
        spent = time.perf_counter() - began
    os.unlink(Path(lab.home.path, "config.toml"))
    if spent < IDLE_S:
        return f"it ended {spent:.1f} s after the last answer"
    return left_over(lab)

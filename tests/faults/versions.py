"""R23: clients and daemons of other versions. Who gives way is decided before a request is decoded, and only once."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ctxprotocol import endpoint
from ctxprotocol.messages import Failure, Hello, Symbols
from tests.faults import copies
from tests.faults.lab import Lab, Row, Size
from tests.link import Link

# A request that no version can decode: what is answered to it was decided before.
UNKNOWN = b"\x81\xa4type\xa8tomorrow"
AT_ONCE = 12
QUERY_S = 4.0
HOUR_NS = 3_600_000_000_000


@dataclass(frozen=True)
class Copies:
    """The commands of the installations that meet: one and its neighbours in version and in time."""

    same: Path
    older: Path
    newer: Path
    older_build: Path
    newer_build: Path
    misled: Path

    @classmethod
    def build(cls, folder: Path, bin: str) -> Copies:
        """Make them from the packages behind `bin`; all know the slow query."""
        source = copies.source_of(bin)
        now_ns = (source / ("protocol/ctxprotocol" if source == copies.ROOT else "ctxprotocol")).stat().st_mtime_ns

        def copy(name: str, version: str, shift_ns: int, *more: copies.Edit) -> Path:
            number = (copies.ENDPOINT, f'VERSION = "{endpoint.VERSION}"', f'VERSION = "{version}"')
            return copies.build(folder / name, [copies.SLOW, number, *more], source, now_ns + shift_ns)

        same = copy("same", endpoint.VERSION, 0)
        # As under a service manager that was not told of the upgrade.
        other_daemon = ("ctxclient/launch.py", '[sys.executable, "-E"', f'["{same}/python", "-E"')
        return cls(
            same=same,
            older=copy("older", "0.0.9", HOUR_NS),
            newer=copy("newer", "0.10.0", -HOUR_NS),
            older_build=copy("older_build", endpoint.VERSION, -HOUR_NS),
            newer_build=copy("newer_build", endpoint.VERSION, HOUR_NS),
            misled=copy("misled", "0.10.0", 0, other_daemon),
        )


def versions(size: Size, seed: int, bin: str) -> Row:
    """Every pair once, in turns, all at once, and while a query runs."""
    row = Row("R23", f"versions: pairs, {size.alternations} turns, a running query", seed)
    with tempfile.TemporaryDirectory(prefix="ctx-versions-", dir="/tmp") as folder:
        them = Copies.build(Path(folder), bin)
        trials: list[Callable[[Meeting], str]] = [
            lambda here: here.meets(them.older, refused="upgrade this client"),
            lambda here: here.meets(them.newer, replaced="0.10.0"),
            lambda here: here.meets(them.older_build),
            lambda here: here.meets(them.newer_build, replaced=endpoint.VERSION),
            undecoded,
            lambda here: here.in_turns(them.newer, size.alternations),
            lambda here: here.in_turns(them.newer_build, size.alternations),
            lambda here: here.all_at_once(them.newer),
            lambda here: here.during_a_query(them.newer),
            lambda here: here.again_and_again(them.misled),
        ]

        def one(trial: Callable[[Meeting], str]) -> str:
            with Lab(seed, them.same) as lab:
                lab.tree.write("a.py", "def met(): pass\n")
                return trial(Meeting(lab, row))

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for fault in pool.map(one, trials):
                row.count(fault)
    return row


class Meeting:
    """A daemon of the middle version that others come to."""

    def __init__(self, lab: Lab, row: Row) -> None:
        self.lab, self.row = lab, row
        started = lab.home.run("find", "met", cwd=lab.tree.root)
        assert started.returncode == 0, started.stderr
        self.pid = lab.home.pid

    def ask(self, bin: Path, *args: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command of another installation here."""
        began = time.perf_counter()
        command = [bin / "ctx", *(args or ("find", "met"))]
        done = subprocess.run(
            command,
            cwd=self.lab.tree.root,
            env=self.lab.home.env,
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        self.row.waits_s.append(time.perf_counter() - began)
        return done

    def starts(self) -> int:
        """Return how many daemons have listened here."""
        return (Path(self.lab.home.path) / "ctxd.log").read_text().count("listening on")

    def meets(self, bin: Path, *, refused: str = "", replaced: str = "") -> str:
        """One client of another installation: refused, served by a new daemon, or by the one that runs."""
        done = self.ask(bin)
        said = f"{bin.parent.parent.name}: exit {done.returncode} {done.stdout[:80]!r} {done.stderr[:200]!r}"
        if refused:
            fine = done.returncode == 3 and refused in done.stderr and not done.stdout
        else:
            fine = done.returncode == 0 and "a.py" in done.stdout and done.stderr.count("\n") == bool(replaced)
            fine = fine and (not replaced or f"replaced the daemon {endpoint.VERSION} (pid {self.pid})" in done.stderr)
            fine = fine and (not replaced or f"by {replaced} (pid {self.lab.home.pid})" in done.stderr)
        if not fine or (self.lab.home.pid != self.pid) != bool(replaced) or self.starts() != 1 + bool(replaced):
            return f"{said}, pid {self.pid} became {self.lab.home.daemons}, {self.starts()} starts"
        return ""

    def in_turns(self, newer: Path, turns: int) -> str:
        """The older client and the newer one take turns: the daemon is replaced once, and never back."""
        codes = [self.ask(newer if number % 2 else self.lab.home.bin).returncode for number in range(turns)]
        # An older build of the same version is served; an older version is told.
        after = 0 if newer.parent.parent.name == "newer_build" else 3
        wanted = [0, 0] + [0 if number % 2 else after for number in range(2, turns)]
        return "" if (codes, self.starts()) == (wanted, 2) else f"turns: exits {codes}, {self.starts()} starts"

    def all_at_once(self, newer: Path) -> str:
        """Many newer clients at one instant: one of them replaces the daemon, all are answered."""
        done: list[subprocess.CompletedProcess[str]] = []
        clients = [threading.Thread(target=lambda: done.append(self.ask(newer))) for _ in range(AT_ONCE)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        bad = [f"exit {each.returncode} {each.stderr[:200]}" for each in done if each.returncode]
        said = sum("replaced the daemon" in each.stderr for each in done)
        if bad or (said, self.starts()) != (1, 2):
            return f"at once: {len(bad)} not answered {bad[:1]}, {said} say they replaced it, {self.starts()} starts"
        return ""

    def during_a_query(self, newer: Path) -> str:
        """A query of several seconds is in work when the newer client comes: both are answered."""
        with Link(self.lab.home.path) as link:
            pattern = f"slow-{QUERY_S * 1e3:.0f}"
            link.send(Symbols(directory=os.fsencode(self.lab.tree.root), pattern=pattern, output="json"))
            time.sleep(0.3)
            wrong = self.meets(newer, replaced="0.10.0")
            try:
                reply = link.receive()
            except (EOFError, OSError) as error:
                return f"the running query: {error!r}"
        if "met" not in getattr(reply, "out", ""):
            return f"the running query: {reply}"
        return wrong

    def again_and_again(self, misled: Path) -> str:
        """What the newer client starts is older again, whoever's fault that is: not a restart for each command."""
        began = time.monotonic()
        done = [self.ask(misled) for _ in range(5)]
        restarts = self.starts() - 1
        if any(each.returncode != 3 or "Traceback" in each.stderr for each in done):
            return f"again: {[(each.returncode, each.stderr[:100]) for each in done]}"
        return "" if restarts <= 1 + (time.monotonic() - began) // 10 else f"again: {restarts} restarts in 5 commands"


def undecoded(here: Meeting) -> str:
    """A request that nobody can decode gets the verdict on the version, not on the request."""
    welcome = here.lab.link.welcome
    cases = (
        ("0.10.0", welcome.build, "replace_daemon"),
        (welcome.version, welcome.build + 1, "replace_daemon"),
        ("0.0.9", welcome.build, "version_refused"),
        (welcome.version, welcome.build, "frame_refused"),
    )
    for version, build, error in cases:
        with Link(here.lab.home.path, greet=False) as link:
            link.send(Hello(protocol=welcome.protocol, version=version, build=build))
            link.socket.sendall(len(UNKNOWN).to_bytes(4, "big") + UNKNOWN)
            link.receive()
            reply = link.receive()
            if not isinstance(reply, Failure) or reply.error != error:
                return f"version {version}, an unknown request: {reply}"
    return "" if here.lab.home.daemons == [here.pid] else f"pid {here.pid} became {here.lab.home.daemons}"

"""R33: other users of the machine. None gets in, reads or plants anything, whatever the umask of who started us."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Hello
from tests.faults.lab import Lab, Row, Size
from tests.home import Home

ROUNDS = {"ci": 1, "release": 20, "nightly": 200}
NOBODY = 65534
SAMPLE_S = 0.001

# Becomes another user, tries one thing, and says how that ended.
STRANGER = """
import fcntl, os, socket, sys
what, path, payload = sys.argv[1:]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    if what == "connect":
        s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(path); s.sendall(bytes.fromhex(payload))
        try: got = s.recv(65536)
        except ConnectionError: got = b""
        print("in" if got else "refused")
    elif what == "list": print("in", os.listdir(path))
    elif what == "read": print("in", open(path, "rb").read(1))
    elif what == "write": print("in", open(path, "wb"))
    elif what == "lock":
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB); print("in")
except OSError as error:
    print("refused", type(error).__name__)
"""
# Listens at a path as another user, and notes whatever is said to it.
IMPOSTOR = """
import os, socket, sys
path, note = sys.argv[1:]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX); s.bind(path); os.chmod(path, 0o777); s.listen(8)
print(flush=True)
while True:
    c, _ = s.accept(); c.settimeout(2)
    try: data = c.recv(65536)
    except OSError: data = b""
    if data: open(note, "ab").write(data)
    c.close()
"""


def strangers(size: Size, seed: int, bin: str) -> Row:
    """Each round: a daemon that was started with umask 000, looked at while it works, and then by another user."""
    root = os.geteuid() == 0
    row = Row("R33", "other users" + ("" if root else ": only the umask; the rest needs root"), seed)
    for number in range(ROUNDS[size.name]):
        with Lab(seed + number, bin) as lab:
            for each in range(50):
                lab.tree.write(f"m{each}.py", f"def private_{each}(): pass\n" * 20)
            with modes(lab.home.place) as seen:
                work(lab)
            row.count(open_to_others(seen))
            if root:
                for fault in visits(lab):
                    row.count(fault)
        if root:
            for trap in (foreign_directory, open_directory, link, impostor):
                fault = trap(bin)
                row.count(f"{trap.__name__}: {fault}" if fault else "")
    return row


def work(lab: Lab) -> None:
    """Start, index, save, rebuild; all with the widest umask."""
    script = 'umask 000; "$0" find private_1 && "$0" update --full && "$0" repos && "$0" status'
    command = ["sh", "-c", script, str(lab.home.bin / "ctx")]
    subprocess.run(command, cwd=lab.tree.root, env=lab.home.env, check=True, capture_output=True, timeout=60)
    lab.tree.write("later.py", "def private_later(): pass\n")
    assert lab.places(Row("", "", 0), "private_later") == ["later.py"]


@contextlib.contextmanager
def modes(top: str) -> Iterator[dict[str, int]]:
    """Look at the modes below the state directory again and again; give what was seen, by path."""
    seen: dict[str, int] = {}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(SAMPLE_S):
            for folder, folders, names in os.walk(f"{top}/h"):
                for path in (folder, *(os.path.join(folder, name) for name in (*folders, *names))):
                    with contextlib.suppress(OSError):
                        seen[path] = seen.get(path, 0) | stat.S_IMODE(os.lstat(path).st_mode)

    thread = threading.Thread(target=look, name="modes")
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def open_to_others(seen: dict[str, int]) -> str:
    wide = {path: oct(mode) for path, mode in seen.items() if mode & 0o077}
    return f"open to others: {wide}" if wide or len(seen) < 5 else ""


def visits(lab: Lab) -> Iterator[str]:
    """Try each way in as another user: as it is, and with the directories thrown open to see the peer check alone."""
    socket_path = endpoint.socket_path(lab.home.path)
    hello = framing.pack(Hello(protocol=endpoint.PROTOCOL_VERSION, version=endpoint.VERSION)).hex()
    os.chmod(lab.home.place, 0o755)
    attempts = [
        ("connect", socket_path),
        ("list", lab.home.path),
        ("read", endpoint.log_path(lab.home.path)),
        ("read", f"{lab.home.path}/registry.db"),
        ("write", f"{lab.home.path}/planted"),
        ("write", endpoint.start_lock_path(lab.home.path)),
        ("lock", lab.home.path),
    ]
    for what, path in attempts:
        yield entered(what, path, hello)
    os.chmod(lab.home.path, 0o755)
    os.chmod(socket_path, 0o666)
    yield entered("connect", socket_path, hello)
    os.chmod(lab.home.path, 0o700)
    os.chmod(socket_path, 0o600)
    found = lab.places(Row("", "", 0), "private_2")
    yield "" if set(found) == {"m2.py"} else f"after the visits private_2 is in {found}"


def entered(what: str, path: str, payload: str) -> str:
    command = [sys.executable, "-c", STRANGER, what, path, payload]
    said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    return "" if said.startswith("refused") else f"{what} {path}: {said}"


class Short:
    """A state directory whose path is too long for a socket, so that the short place in /tmp is used."""

    def __init__(self, bin: str) -> None:
        self.home = Home(bin=bin)
        self.home.path = f"{self.home.place}/{'long' * 30}"
        self.home.env["CTX_HOME"] = self.home.path
        self.place = os.path.dirname(endpoint.socket_path(self.home.path))
        assert self.place.startswith("/tmp/ctx-")

    def refused(self) -> str:
        """Ask; say what is wrong unless that is refused, with the place named, and no daemon runs."""
        told = self.home.run("find", "anything", cwd="/usr/share")
        if told.returncode not in (3, 4) or self.place not in told.stderr or "Traceback" in told.stderr:
            return f"exit {told.returncode}: {told.stdout[:100]} {told.stderr[:200]}"
        return f"daemons {self.home.daemons}" if self.home.daemons else ""

    def close(self) -> None:
        self.home.close()
        if os.path.islink(self.place):
            os.unlink(self.place)
        shutil.rmtree(self.place, ignore_errors=True)


def foreign_directory(bin: str) -> str:
    """Another user was there first."""
    with contextlib.closing(Short(bin)) as short:
        os.mkdir(short.place, 0o777)
        os.chown(short.place, NOBODY, NOBODY)
        return short.refused() or (f"written: {os.listdir(short.place)}" if os.listdir(short.place) else "")


def open_directory(bin: str) -> str:
    """It is ours by its owner, and others can have filled it."""
    with contextlib.closing(Short(bin)) as short:
        os.mkdir(short.place)
        os.chmod(short.place, 0o777)
        return short.refused()


def link(bin: str) -> str:
    """A link leads to a directory of ours that would do."""
    with contextlib.closing(Short(bin)) as short, tempfile.TemporaryDirectory() as target:
        os.symlink(target, short.place)
        return short.refused() or (f"written: {os.listdir(target)}" if os.listdir(target) else "")


def impostor(bin: str) -> str:
    """Somebody else listens at our place, in a directory that lets him: he is told nothing."""
    with contextlib.closing(Short(bin)) as short, tempfile.TemporaryDirectory() as notes:
        os.chmod(notes, 0o777)
        os.mkdir(short.place)
        os.chmod(short.place, 0o777)
        note = Path(notes, "heard")
        command = [sys.executable, "-c", IMPOSTOR, endpoint.socket_path(short.home.path), str(note)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.read(1)
            os.chmod(short.place, 0o755)  # nothing is wrong with the directory any more: the peer alone is
            told = short.home.run("find", "a secret question", cwd="/usr/share")
            process.kill()
        heard = note.read_bytes() if note.exists() else b""
        if heard:
            return f"he heard {heard[:80]!r}"
        return (
            "" if told.returncode == 3 and "Traceback" not in told.stderr else f"exit {told.returncode}: {told.stderr}"
        )

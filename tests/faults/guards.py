"""Take each guard out of a copy of the packages and see its experiment go red: `python -m tests.faults.guards`.

A guard that can be taken out unnoticed guards nothing, or its experiment tests nothing. Each is a replacement of text
in one file that must occur exactly once; the copy runs from a virtual environment of its own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = "#!{python}\nimport sys\nfrom {module} import main\nsys.exit(main())\n"


@dataclass(frozen=True)
class Guard:
    """What is taken out, and the experiment that must notice. `edits` are (file, old text, new text)."""

    name: str
    experiment: str
    edits: tuple[tuple[str, str, str], ...]


GUARDS = (
    Guard(
        "barrier: answers do not wait for what the kernel has queued",
        "R01",
        (
            (
                "ctxd/worktree.py",
                "        self._check_root()\n        await self._drain()\n",
                "        if self.pipeline.complete:\n            return Freshness(fresh=True)\n"
                "        self._check_root()\n        await self._drain()\n",
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
        "lock: any number of daemons, any number of starters",
        "R20",
        (
            ("ctxd/instance.py", "fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass"),
            (
                "ctxclient/launch.py",
                "        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)\n",
                "        pass\n",
            ),
        ),
    ),
)


NOTHING = Guard("nothing", "", ())


def build(folder: Path, guard: Guard = NOTHING) -> Path:
    """Make a copy of the packages in `folder`, without `guard`; return the directory of its commands."""
    source = folder / "src"
    for package in ("ctxd", "ctxclient", "protocol/ctxprotocol"):
        # With its times: the build stamp of a client is the time of one of these files.
        shutil.copytree(ROOT / package, source / Path(package).name, ignore=shutil.ignore_patterns("__pycache__"))
    for path, old, new in guard.edits:
        target = source / path.removeprefix("protocol/")
        text, stat = target.read_text(), target.stat()
        assert text.count(old) == 1, f"{guard.name}: {path} has the text {text.count(old)} times: {old!r}"
        target.write_text(text.replace(old, new))
        os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    (site / "copy.pth").write_text(f"{source}\n{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    commands = folder / "venv/bin"
    for name, module in (("ctx", "ctxclient.fast"), ("ctxd", "ctxd.main")):
        (commands / name).write_text(SCRIPT.format(python=commands / "python", module=module))
        (commands / name).chmod(0o755)
    return commands


def goes_red(guard: Guard, size: str, seed: int) -> tuple[bool, str]:
    """Run the experiment on the copy without the guard; return whether it went red, and what it printed."""
    with tempfile.TemporaryDirectory(prefix="ctx-guard-", dir="/tmp") as folder:
        commands = build(Path(folder), guard)
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

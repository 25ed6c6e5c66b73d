"""Copies of the packages with their own virtual environment: without a guard, of another version, with a slow query.

A run of an hour must not see the packages change under it, and two installations must be able to meet.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("ctxd", "ctxclient", "protocol/ctxprotocol")
SCRIPT = "#!{python}\nimport sys\nfrom {module} import main\nsys.exit(main())\n"

# (file, old text, new text): the old text must occur exactly once.
Edit = tuple[str, str, str]

ENDPOINT = "protocol/ctxprotocol/endpoint.py"
# `ctx symbols slow-MS`: computes in SQL for so many milliseconds, and is right then.
SLOW: Edit = (
    "ctxd/search/listing/symbols.py",
    '    wanted = request.pattern.strip().removesuffix("()")\n',
    '    wanted = request.pattern.strip().removesuffix("()")\n'
    '    if wanted.startswith("slow-"):\n'
    "        import time\n"
    "        end = time.monotonic() + int(wanted[5:]) / 1e3\n"
    "        while time.monotonic() < end:\n"
    "            snapshot.connection.execute(\n"
    '                "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 99999) SELECT 1 FROM c"\n'
    "            ).fetchall()\n"
    '        wanted = ""\n',
)


def source_of(bin: str | os.PathLike[str]) -> Path:
    """Return where the packages of these commands stand: in a copy of ours, else in this repository."""
    source = Path(bin).parent.parent / "src"
    return source if (source / "ctxd").is_dir() else ROOT


def build(folder: Path, edits: Sequence[Edit] = (), source: Path = ROOT, built_ns: int = 0) -> Path:
    """Make a copy of the packages at `source` in `folder`, changed by `edits`; return the directory of its commands.

    `built_ns`: when this copy counts as installed; 0 = as its source.
    """
    copy = folder / "src"
    for package in PACKAGES:
        found = source / package if source == ROOT else source / Path(package).name
        # With its times: the build stamp of a client is the time of one of these files.
        shutil.copytree(found, copy / Path(package).name, ignore=shutil.ignore_patterns("__pycache__"))
    for path, old, new in edits:
        target = copy / path.removeprefix("protocol/")
        text, stat = target.read_text(), target.stat()
        assert text.count(old) == 1, f"{path} has the text {text.count(old)} times: {old!r}"
        target.write_text(text.replace(old, new))
        os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    if built_ns:
        os.utime(copy / "ctxprotocol/endpoint.py", ns=(built_ns, built_ns))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    (site / "copy.pth").write_text(f"{copy}\n{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    commands = folder / "venv/bin"
    for name, module in (("ctx", "ctxclient.fast"), ("ctxd", "ctxd.main")):
        (commands / name).write_text(SCRIPT.format(python=commands / "python", module=module))
        (commands / name).chmod(0o755)
    return commands

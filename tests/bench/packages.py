"""Real sources by the name of their package: Redis from Debian's, Django from Python's index.

Only what the machine's own package clients are set up for; nothing else is asked, and nothing of it is committed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

DJANGO = "django==5.2"
# What each command may take; the index may be slow, and pip builds the package's metadata.
TIMEOUT_S = 600


def fetch(folder: Path) -> list[str]:
    """Unpack what is not below `folder` yet; return a line for each package that cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    return [line for line in (_fetch(folder, "Django-", _django), _fetch(folder, "redis-", _redis)) if line]


def _fetch(folder: Path, prefix: str, download) -> str:
    if any(path.is_dir() for path in folder.glob(f"{prefix}*")):
        return ""
    scratch = folder / "download"
    scratch.mkdir(exist_ok=True)
    try:
        (archive,) = download(scratch)
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        return f"{prefix.rstrip('-')}: cannot be had here: {said.strip().splitlines()[-1] if said.strip() else error}"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return ""


def _django(scratch: Path) -> list[Path]:
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", DJANGO], scratch)
    return list(scratch.glob("*jango-*.tar.gz"))


def _redis(scratch: Path) -> list[Path]:
    _run(["apt-get", "source", "-qq", "--download-only", "redis"], scratch)
    return list(scratch.glob("redis_*.orig.tar.*"))


def _run(command: list[str], where: Path) -> None:
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"{command[0]} is not installed")
    subprocess.run(command, cwd=where, check=True, capture_output=True, text=True, timeout=TIMEOUT_S)

"""Lay out the sources that npm's package `next` carries in its source maps: `python unpack.py next-X.tgz FOLDER`.

Runs by hand, once per version. Only the package's own `src/**` is written; what it bundles of others is passed over.
The names come from a downloaded file, so a name that would lead out of the folder is dropped, not mended.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

_SCHEME = re.compile(r"\Awebpack://[^/]*/")
_STEPS = re.compile(r"\A(?:\.{1,2}/)+")
# One path segment: what a checkout could hold, so no drive, no query of a loader, no control character.
_SEGMENT = re.compile(r"[\w@$()\[\]+~. -]+")


def cleaned(source: str) -> str | None:
    """Return the path below the folder that a map's source name means, or None for one that is not the package's."""
    path = _STEPS.sub("", _SCHEME.sub("", source))
    segments = path.split("/")
    if segments[0] != "src" or len(segments) < 2 or "node_modules" in segments:
        return None
    if any(not _SEGMENT.fullmatch(one) or not one.strip(". ") for one in segments):
        return None
    return path


def maps(tarball: Path) -> Iterator[dict[str, object]]:
    """Yield the source maps below `dist`, those of single files before those of bundles."""
    with tarfile.open(tarball) as archive:
        names = [one.name for one in archive if one.isfile() and re.match(r"package/dist/.*\.js\.map\Z", one.name)]
        for name in sorted(names, key=lambda each: ("/compiled/" in each, each)):
            file = archive.extractfile(name)
            if file is not None:
                found: dict[str, object] = json.load(file)
                yield found


def sources(tarball: Path) -> dict[str, str]:
    """Return the texts by path; the first map that has a path decides."""
    found: dict[str, str] = {}
    for each in maps(tarball):
        names, texts = each.get("sources"), each.get("sourcesContent")
        if not isinstance(names, list) or not isinstance(texts, list):
            continue
        for name, text in zip(names, texts, strict=False):
            path = cleaned(name) if isinstance(name, str) else None
            if path and isinstance(text, str):
                found.setdefault(path, text)
    return found


def unpack(tarball: Path, folder: Path) -> int:
    """Write the sources below `folder` and return how many they are."""
    found = sources(tarball)
    for path, text in found.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")
    return len(found)


if __name__ == "__main__":
    print(unpack(Path(sys.argv[1]), Path(sys.argv[2])), "files")

"""Put every indexed file together again from its chunks, straight from the index file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import apsw

from ctxd.packing import unpack
from ctxd.parse.encodings import encode
from ctxd.parse.lines import split


@dataclass
class Report:
    """How many files there are, and which differ from what is on disk. `masked`: equal but for a masked secret."""

    files: int = 0
    equal: int = 0
    masked: int = 0
    unequal: list[str] = field(default_factory=list)


def put_together(state_directory: str, root: Path) -> Report:
    """Compare each indexed file's chunks, in order and encoded again, with the bytes of the file."""
    (path,) = Path(state_directory).glob("indexes/*/index-*.db")
    report = Report()
    connection = apsw.Connection(f"file:{path}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        files = connection.execute(
            "SELECT files.id, path, encoding, replaced, body FROM files JOIN texts ON file_id = files.id WHERE skip=''"
        ).fetchall()
        for number, name, encoding, replaced, body in files:
            spans = connection.execute(
                "SELECT line_start, line_end, byte_start, byte_end FROM chunks WHERE file_id=? ORDER BY line_start",
                (number,),
            ).fetchall()
            judge(report, root / name, unpack(body), encoding, replaced, spans)
    finally:
        connection.close()
    return report


def judge(
    report: Report, path: Path, text: bytes, encoding: str, replaced: int, spans: list[tuple[int, int, int, int]]
) -> None:
    """Count one file: chunks must partition its lines, and their text must be the file's."""
    report.files += 1
    lines = len(split(text.decode()))
    covered = [line for start, end, _, _ in spans for line in range(start, end + 1)]
    joined = b"".join(text[start:end] for _, _, start, end in spans)
    original = path.read_bytes()
    again = encode(joined.decode(), encoding)
    if covered != list(range(1, lines + 1)) or (again != original and len(again) != len(original)):
        report.unequal.append(str(path))
    elif again == original or replaced:
        report.equal += 1
    elif all(a == b or a == ord("*") for a, b in zip(again, original, strict=True)):
        report.equal += 1
        report.masked += 1
    else:
        report.unequal.append(str(path))

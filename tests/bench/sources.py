"""What is measured on: a generated tree of about 20,000 chunks, and real sources from a folder that is given."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.tree import Tree

FILES = 1_000
FUNCTIONS = 20
SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zu", "pa", "de", "fi", "go", "hu", "ja"]
MAX_FILE_BYTES = 1_000_000
WORD = re.compile(r"[A-Za-z_]{3,30}")


@dataclass(frozen=True)
class Source:
    """One tree: its name in the table, where it stands, what git or the walk finds in it."""

    name: str
    root: Path
    paths: tuple[Path, ...]

    @property
    def size_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.paths)


def generated(folder: Path, seed: int) -> Source:
    """Write the generated tree: words drawn by rank, so that some are common and most are rare."""
    random = Random(seed)
    words = ["".join(random.choice(SYLLABLES) for _ in range(random.randint(2, 4))) for _ in range(8_000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    tree = Tree(folder)
    for number in range(FILES):
        text = "".join(function(random, words, weights, number, each) for each in range(FUNCTIONS))
        tree.write(f"p{number % 40}/m{number}.py", f'"""Module {number}."""\n\n{text}')
    return found("generated", folder)


def function(random: Random, words: list[str], weights: list[float], number: int, each: int) -> str:
    """Return one function of some ten lines."""
    a, b, c, d, *rest = random.choices(words, weights, k=24)
    lines = "".join(
        f"    {rest[2 * step]} = {rest[2 * step + 1]}.{random.choice(rest)}({a}, {step})\n" for step in range(9)
    )
    doc = " ".join(rest[:8]).capitalize()
    return f'def {a}_{b}_{number}_{each}({c}, {d}):\n    """{doc}."""\n{lines}    return {c}\n\n\n'


def given(folder: str) -> list[Source]:
    """Return each directory in `folder` as a source."""
    return [
        found(entry.name, Path(entry.path))
        for entry in sorted(os.scandir(folder), key=lambda e: e.name)
        if entry.is_dir()
    ]


def found(name: str, root: Path) -> Source:
    """Return the regular files below `root` that an index would read: not huge, not in .git."""
    paths = [
        path
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts and is_text(path)
    ]
    return Source(name, root, tuple(paths))


def is_text(path: Path) -> bool:
    if path.stat().st_size > MAX_FILE_BYTES:
        return False
    with path.open("rb") as file:
        return b"\0" not in file.read(8192)


def questions(source: Source, words: int, count: int, random: Random) -> list[str]:
    """Return `count` questions of `words` words that occur in the source."""
    texts = [path.read_text(errors="replace") for path in random.sample(source.paths, min(60, len(source.paths)))]
    known = [text for text in (WORD.findall(text) for text in texts) if len(text) > 50]
    return [" ".join(random.choice(random.choice(known)) for _ in range(words)) for _ in range(count)]

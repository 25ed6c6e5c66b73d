"""Measures and fits `ctxd.tokens` against cl100k_base: a tool for people, no test, needs the extra `dev`.

    python -m tests.ranking.tokens sample DIRECTORY...   passages of those trees as JSON lines on stdout
    python -m tests.ranking.tokens measure FILE...       bias and errors per language
    python -m tests.ranking.tokens fit FILE...           the tables of ctxd/tokens.py, as source, on stdout
    python -m tests.ranking.tokens table FILE            tests/unit/tokens/cl100k.tsv anew: texts of FILE, counted

A FILE holds passages, one JSON object a line: `source` (a repository), `language`, `text`. Answers of `ctx query`
make such files, too, and those are what must be counted right.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import quicktok

from ctxd import tokens
from ctxd.parse.languages import detect

# A source's own words must not outweigh what all have in common.
_MOST_OF_ONE = 200
# Passages of this language, lines in many scripts, teach nothing about names in code.
_SCRIPTS_ONLY = "lines"
# Long rows of marks are too rare to be learnt from, and a data file of nothing else must not look short.
_AT_LEAST = {"mark+": 45, "row+": 35}
# So many words have a weight of their own; they occur in so many sources at least.
_COMMON, _SOURCES = 300, 5
_ROUNDS, _RIDGE = 30, 3.0
# What occurs fewer times teaches little and costs time.
_LEAST_TIMES = 3
# Passages of fewer tokens are counted, but say little about answers.
_LEAST = 200
_LINES, _PER_LANGUAGE = 40, 200

_reference = quicktok.get_encoding("cl100k_base")


class Passage(NamedTuple):
    """A text, where it comes from, and its language."""

    source: str
    language: str
    text: str


@cache
def true(text: str) -> int:
    """Return the number of cl100k tokens of `text`."""
    return len(_reference.encode_ordinary(text))


def sample(directories: Sequence[str]) -> Iterator[Passage]:
    """Yield passages of 40 lines of every language in these trees."""
    chance = random.Random(1)
    for directory in directories:
        paths = [os.path.join(at, name) for at, _, names in os.walk(directory) for name in names if "/.git" not in at]
        taken: Counter[str] = Counter()
        for path in chance.sample(sorted(paths), len(paths)):
            if not os.path.isfile(path):  # a link to nowhere
                continue
            with open(path, "rb") as file:
                data = file.read(1_000_000)
            language = detect(os.path.relpath(path, directory), data[:1024]).name
            if b"\0" in data or taken[language] >= _PER_LANGUAGE:
                continue
            lines = data.decode("utf-8", "replace").splitlines(keepends=True)
            start = chance.randrange(max(1, len(lines) - _LINES))
            taken[language] += 1
            yield Passage(os.path.basename(directory), language, "".join(lines[start : start + _LINES])[:8_000])


def measure(passages: Iterable[Passage]) -> None:
    """Print bias and errors in percent, per language and of all."""
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for one in passages:
        if true(one.text) >= _LEAST:
            for group in (one.language, "ALL"):
                pairs[group].append((tokens.count(one.text), true(one.text)))
    print(f"{'':18}{'n':>6}{'bias':>7}{'median':>8}{'p98':>7}{'in 10':>7}{'least':>7}{'most':>7}")
    for group, counted in sorted(pairs.items(), key=lambda item: (item[0] == "ALL", item[0])):
        errors = sorted(100 * (got / wanted - 1) for got, wanted in counted)
        size = sorted(map(abs, errors))
        bias = 100 * (sum(got for got, _ in counted) / sum(wanted for _, wanted in counted) - 1)
        within = 100 * sum(error <= 10 for error in size) / len(size)
        print(
            f"{group:18}{len(size):6}{bias:+7.1f}{size[len(size) // 2]:8.1f}{size[int(0.98 * len(size))]:7.1f}"
            f"{within:7.1f}{errors[0]:+7.1f}{errors[-1]:+7.1f}"
        )


class _Rows:
    """A weighted system of sums: each row is the keys that add up to `wanted`."""

    def __init__(self) -> None:
        self._wanted: list[float] = []
        self._weight: list[float] = []
        self._uses: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(self, keys: Iterable[str], wanted: float, weight: float) -> None:
        for key, times in Counter(keys).items():
            self._uses[key].append((len(self._wanted), times))
        self._wanted.append(wanted)
        self._weight.append(weight)

    def solve(self, *, least: float) -> dict[str, float]:
        """Return the values of the keys; to come out below `least` where that is wanted costs nothing."""
        value = dict.fromkeys(self._uses, 0.0)
        sums, missing = [0.0] * len(self._wanted), list(self._wanted)
        for _ in range(_ROUNDS):
            for key, uses in self._uses.items():
                scale = sum(self._weight[row] * times * times for row, times in uses) + _RIDGE
                pull = sum(self._weight[row] * times * missing[row] for row, times in uses)
                step = (pull - _RIDGE * value[key]) / scale
                value[key] += step
                for row, times in uses:
                    sums[row] += step * times
                    missing[row] -= step * times
            for row, wanted in enumerate(self._wanted):
                if wanted <= least:
                    missing[row] = min(0.0, wanted - sums[row])
        return value


def _of_ascii(learned: dict[str, int], words: Container[str]) -> dict[str, float]:
    rows = _Rows()
    for piece, times in learned.items():
        rows.add(_keys(piece, words), 100 * true(piece), times)
    return rows.solve(least=100)


def _keys(piece: str, words: Container[str]) -> list[str]:
    """The keys of an ASCII piece as they would be if `words` were the list of common ones."""
    keys = [key for key in tokens.keys(piece) if not key.startswith("=")]
    return keys + [f"={part.lower()}" for part in tokens.parts(piece) if part.lower() in words]


def _words(learned: dict[str, int], weights: dict[str, float], per: dict[str, Counter[str]]) -> set[str]:
    """The words in names that the weights of their letters misjudge most, in several sources."""
    sources: Counter[str] = Counter()
    for counted in per.values():
        sources.update({part.lower() for piece in counted if piece.isascii() for part in tokens.parts(piece)})
    excess: Counter[str] = Counter()
    for piece, times in learned.items():
        parts = [part.lower() for part in tokens.parts(piece)]
        over = max(100.0, sum(weights.get(key, 0) for key in _keys(piece, ()))) - 100 * true(piece)
        for part in parts:
            excess[part] += times**0.8 * over / len(parts)
    common = {word: abs(over) for word, over in excess.items() if 2 < len(word) < 20 and sources[word] >= _SOURCES}
    return set(sorted(common, key=lambda word: -common[word])[:_COMMON])


def fit(passages: Sequence[Passage]) -> dict[str, float]:
    """Return the weight of each key: ASCII from single pieces, the rest from whole lines."""
    per: dict[str, Counter[str]] = defaultdict(Counter)
    lines: Counter[str] = Counter()
    for number, one in enumerate(passages):
        lines.update(line for line in one.text.splitlines(keepends=True) if not line.isascii() and len(line) < 400)
        if one.language == _SCRIPTS_ONLY:
            continue
        per[one.source].update(tokens.pieces(one.text))
        if not one.text.startswith("{") and number % 2:  # as it stands in an answer of --json
            per[one.source].update(tokens.pieces(json.dumps(one.text, ensure_ascii=False)))
    total: Counter[str] = Counter()
    for counted in per.values():
        total.update({piece: min(times, _MOST_OF_ONE) for piece, times in counted.items()})
    learned = {
        piece: times
        for piece, times in total.items()
        if times >= _LEAST_TIMES and piece.isascii() and not piece.isspace() and not piece.isdigit()
    }
    weights = _of_ascii(learned, {})
    weights = _of_ascii(learned, _words(learned, weights, per))
    line_rows = _Rows()
    for line in lines:
        known, keys = 0.0, list[str]()
        for piece in tokens.pieces(line):
            of_piece = list(tokens.keys(piece))
            known_part = sum(100.0 if key in ("space", "digits") else weights.get(key, 0.0) for key in of_piece)
            known += max(100.0, known_part) if piece.isascii() else known_part
            keys += [] if piece.isascii() else [key for key in of_piece if key not in weights and key[0] != "="]
        line_rows.add(keys, 100 * true(line) - known, 20 / true(line))
    return {**weights, **line_rows.solve(least=-1e9)}


def source(weights: dict[str, float]) -> str:
    """Return the tables of ctxd/tokens.py as its source has them (between fmt: off and on)."""
    letters = "abcdefghijklmnopqrstuvwxyz"

    def of(key: str) -> int:
        return round(weights.get(key, 0))

    def level(pair: str) -> str:
        return chr(ord("g") + max(-6, min(19, round(weights.get(pair, 60) / 10))))

    rows = "\n".join(
        "    " + " ".join("".join(level(a + b) for b in letters) for a in letters[at : at + 4])
        for at in range(0, 26, 4)
    )
    parts = {kind: tuple(of(f"{kind}{length}") for length in range(1, 15)) for kind in "lCU"}
    scripts = {start: tuple(of(f"{key}{start:x}") for key in ("each", "run", "tail")) for start in tokens.STARTS}
    known = {f"{kind}{n}" for kind in "lCU" for n in range(1, 15)}
    other = {key: round(value) for key, value in weights.items() if not re.match("=|[a-z][a-z]$", key)}
    leads = {key: value for key, value in sorted(other.items()) if key.startswith("lead")}
    foreign = {key: of(key) for key in ("plain", "runplain", "tailplain", "han", "bar", "tail")}
    script_keys = {f"{key}{start:x}" for key in ("each", "run", "tail") for start in tokens.STARTS}
    marks = {key: value for key, value in sorted(other.items()) if key not in {*known, *leads, *foreign, *script_keys}}
    marks |= {"space": 100, "digits": 100}
    marks |= {key: max(marks.get(key, 0), least) for key, least in _AT_LEAST.items()}
    levels: dict[int, list[str]] = defaultdict(list)
    for key in sorted(weights):
        if key.startswith("="):
            levels[round(weights[key] / 10) * 10].append(key[1:])
    words = "\n".join(
        line for cost, found in sorted(levels.items()) for line in _wrapped(" ".join(found), f"    {cost} ")
    )
    shown = ", ".join(f"0x{start:x}: {values}" for start, values in scripts.items())
    tables = {
        "LEADS": json.dumps(leads)[1:-1],
        "PARTS": str(parts)[1:-1].replace("'", '"'),
        "MARKS": json.dumps(marks)[1:-1],
    }
    tables |= {"FOREIGN": json.dumps(foreign)[1:-1], "SCRIPTS": shown}
    lines = [line for name, text in tables.items() for line in (f"_{name} = {{", *_wrapped(text, "    "), "}")]
    return "\n".join([*lines, f'_PAIRS = """\n{rows}\n"""', f'_WORDS = """\n{words}\n"""\n'])


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, 118, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def table(texts: Iterable[Passage]) -> None:
    """Print each text as JSON behind its number of cl100k tokens and its language."""
    for one in texts:
        print(true(one.text), one.language, json.dumps(one.text), sep="\t")


def _read(paths: Sequence[str]) -> list[Passage]:
    passages = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            passages += [Passage(**json.loads(line)) for line in file]
    return passages


def _main(command: str, *paths: str) -> None:
    does: dict[str, Callable[[], None]] = {
        "sample": lambda: print(*(json.dumps(one._asdict()) for one in sample(paths)), sep="\n"),
        "measure": lambda: measure(_read(paths)),
        "fit": lambda: print(source(fit(_read(paths)))),
        "table": lambda: table(_read(paths)),
    }
    does[command]()


if __name__ == "__main__":
    _main(*sys.argv[1:])

"""How much a candidate's path and name speak of the question. Pure but for the tokenizer's stems."""

from __future__ import annotations

import math

from ctxd.search.question.plan import Plan
from ctxd.search.ranking import weights
from ctxd.store.lexicon import Lexicon
from ctxd.store.read import SymbolRow

# The parts of a score, each with the name under which `--explain` prints it.
Parts = tuple[tuple[str, float], ...]
# A shorter beginning is shared by words that have nothing else in common.
_BEGINNING = 4
# Whatever `_asked` takes for a word of the question shares at least so much with its stem.
_SHARED = 3
# Such files go by the name of their folder.
_UNNAMED = frozenset({"__init__", "index", "mod"})


class Subject:
    """The question's words as stems, each with its weight (rarer ones count more)."""

    def __init__(self, plan: Plan, book: Lexicon, chunk_count: int) -> None:
        self._book = book
        self._prose = plan.kind != "path"
        self.stems: dict[str, float] = {}
        # The stems in the order of the question, for names of several words.
        self._order: list[str] = []
        for concept in plan.concepts:
            if concept.part and plan.kind != "symbol":
                continue
            run = min(concept.alternatives, key=len) if not concept.part else concept.alternatives[0]
            for word in run if len(run) == 1 else ():
                for stem in book.stems(word):
                    self.stems[stem] = math.log(1 + chunk_count / (book.spread(stem) + 1))
                    self._order.append(stem)
        for concept in plan.concepts:
            if concept.part:
                for stem in book.stems(concept.alternatives[0][0]):
                    self.stems.setdefault(stem, math.log(1 + chunk_count / (book.spread(stem) + 1)))
        self._total = sum(self.stems.values()) or 1.0
        self._modules = [name.segments for name in plan.names if len(name.segments) > 1]
        self._paths: dict[str, Parts] = {}
        self._names: dict[str, float] = {}
        self._known: dict[str, str] = {}

    def features(self, path: str, symbol: SymbolRow | None) -> Parts:
        """Return what a path adds, and the name and kind of a definition."""
        if symbol is None or not self._prose or not self.stems:
            return self.of_path(path)
        return (
            *self.of_path(path),
            ("name", weights.NAME * self.name(symbol.name)),
            ("kind", weights.KIND * _worth(symbol)),
            ("owner", weights.OWNER * self.name(symbol.parent.rpartition(".")[2])),
        )

    def of_path(self, path: str) -> Parts:
        """Return what a path adds to a score."""
        if not self._prose or not self.stems:
            return ()
        known = self._paths.get(path)
        if known is None:
            share, stem, folder = self._shares(path)
            known = self._paths[path] = (
                ("path", weights.PATH * share),
                ("file name", weights.STEM * stem),
                ("folder", weights.FOLDER * folder),
                ("module", weights.MODULE * (bool(self._modules) and self._is_module(path))),
            )
        return known

    def _is_module(self, path: str) -> bool:
        """Whether a dotted name of the question is that of a path, as far as the path goes."""
        place = _place(path)
        return any(all(a == b for a, b in zip(place, reversed(one), strict=False)) for one in self._modules)

    def _shares(self, path: str) -> tuple[float, float, float]:
        """Return the share of the question in a path's stem and folder, and that of either in the question.

        A stem of several words that stand so in the question counts a fifth more.
        """
        *folders, base = path.split("/")
        plain = base.split(".")[0]
        if plain in _UNNAMED and folders:
            plain = folders.pop()
        stem = self._book.parts(plain)
        folder = self._book.parts(folders[-1]) if folders else ()
        hit = {word for part in (*stem, *folder) if (word := self._asked(part))}
        share = sum(self.stems[word] for word in hit) / self._total
        return share, self._share(stem) * self._in_a_row(stem), self._share(folder)

    def name(self, name: str) -> float:
        """Return the share of a name's parts that the question speaks of; one part alone counts half."""
        known = self._names.get(name)
        if known is None:
            parts = self._book.parts(name)
            matched = sum(1 for part in parts if self._asked(part))
            known = self._names[name] = matched / len(parts) * min(1.0, matched / 2) if parts else 0.0
        return known

    def beginnings(self) -> frozenset[str]:
        """Return what a name must hold one of, to have any part that the question speaks of."""
        return frozenset(stem[:_SHARED] for stem in self.stems)

    def _in_a_row(self, parts: tuple[str, ...]) -> float:
        """Return what a name is worth more where its parts stand in the question in a row."""
        if len(parts) < 2 or len(parts) > len(self._order):
            return 1.0
        asked = [self._asked(part) for part in parts]
        rows = (self._order[start : start + len(asked)] for start in range(len(self._order)))
        return weights.STEM_RUN if asked in rows else 1.0

    def _share(self, parts: tuple[str, ...]) -> float:
        return sum(1 for part in parts if self._asked(part)) / len(parts) if parts else 0.0

    def _asked(self, part: str) -> str:
        """Return the word of the question that a part stands for, "" for none."""
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = part if part in self.stems else self._begins(part)
        return known

    def _begins(self, part: str) -> str:
        if len(part) >= _BEGINNING:
            for stem in self.stems:
                if len(stem) >= _BEGINNING and (stem.startswith(part) or part.startswith(stem)):
                    return stem
        return ""


def _place(path: str) -> list[str]:
    """Return the names that a module at a path goes by, innermost first."""
    *folders, base = path.split("/")
    plain = base.split(".")[0]
    return ([] if plain in _UNNAMED else [plain]) + folders[::-1]


# Worth of a kind, 1 for the most.
_KINDS: dict[str, float] = {kind: 1 - place / len(weights.KINDS) for place, kind in enumerate(weights.KINDS)}


def _worth(symbol: SymbolRow) -> float:
    """Return what a definition's kind says of it; private ones half."""
    return _KINDS.get(symbol.kind, 0.0) * (1.0 if symbol.exported else 0.5)

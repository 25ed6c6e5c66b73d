"""Question -> Plan: what is asked for, by rules. Pure; runs on the reader threads.

Any text is a legal question. What comes out are words, names, paths and literal texts as values; nothing of
the question's own punctuation reaches the index's syntax.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from ctxd import words
from ctxd.search.question import shapes
from ctxd.search.question.intents import Intent, intents
from ctxd.search.question.shapes import Frame, Name, Path
from ctxd.search.question.stopwords import STOP, USAGE
from ctxprotocol.errors import TooLong

# Far above any stack trace that helps; a question is held in memory and scanned a few times.
MAX_CHARACTERS = 8_192
# Each concept costs a look at the index; the first ones of a long text are its subject.
_MAX_CONCEPTS = 32
_MAX_NAMES = 12
_SHORTEST_CODED = 3
_SHORTEST_QUOTED = 3
_MAX_PATHS = 8
_MAX_LITERALS = 6
_MAX_FRAMES = 20
_MAX_FRAGMENT_WORDS = 10

Kind = Literal["symbol", "prose", "literal", "path"]

_ERROR = re.compile(
    r"\b\w{0,80}(?:Error|Exception|Warning|Panic)\b:|\b(?:error|fatal|panic|failed|warning|traceback)\b\s?[:\[(]",
    re.IGNORECASE,
)
_GAP = re.compile(r"\n|\d+|%[sdrifx]|\{[^{}\n]{0,40}\}|<[^<>\n]{0,40}>|\$\w+|[:;|]\s")


class Concept(msgspec.Struct, frozen=True):
    """One thing that a good chunk speaks of. Each alternative is a sequence of words that stands for it.

    `part`: it is only a part of a name that is a concept itself, `of` that one. `prefix`: its last word may go on.
    """

    text: str
    alternatives: tuple[tuple[str, ...], ...]
    part: bool = False
    prefix: bool = False
    of: str = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed question. `literals` are to be found as they are; `fragments` are runs of words that may be."""

    text: str
    kind: Kind
    concepts: tuple[Concept, ...]
    names: tuple[Name, ...] = ()
    paths: tuple[Path, ...] = ()
    frames: tuple[Frame, ...] = ()
    literals: tuple[str, ...] = ()
    fragments: tuple[tuple[str, ...], ...] = ()
    intents: frozenset[Intent] = frozenset()

    @property
    def exact(self) -> bool:
        """Whether the whole question is one name that only code is written like."""
        return self.kind == "symbol" and bool(self.names) and self.names[0].coded


def plan(text: str) -> Plan:
    """Return the plan for a question; an empty one asks for nothing. Raises TooLong."""
    if len(text) > MAX_CHARACTERS:
        raise TooLong(
            f"the question has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read",
            hint="keep the message and the innermost frames of a long trace",
        )
    text = text.strip()
    frames = tuple(shapes.frames(text)[:_MAX_FRAMES])
    said = shapes.unframed(text) if frames else text
    quoted = shapes.quoted(said)
    pieces = said.split()
    names = _names(said, pieces, quoted)
    paths = _paths(pieces)
    literals = _literals(said, quoted)
    kind = _kind(said, pieces, names, paths, literals, frames)
    asked = intents(text)
    return Plan(
        text=text,
        kind=kind,
        concepts=_concepts(said, kind, asked),
        names=names,
        paths=paths,
        frames=frames,
        literals=literals,
        fragments=_fragments(said),
        intents=asked,
    )


def _kind(
    text: str,
    pieces: list[str],
    names: tuple[Name, ...],
    paths: tuple[Path, ...],
    literals: tuple[str, ...],
    frames: tuple[Frame, ...],
) -> Kind:
    if len(pieces) == 1 and paths and (paths[0].sure or not names or not names[0].coded):
        return "path"
    if len(pieces) == 1 and names:
        return "symbol"
    whole = len(literals) == 1 and not words.WORD.search(shapes.unquoted(text))
    if whole or frames or not words.WORD.search(text) or _ERROR.search(text):
        return "literal"
    return "prose"


def _names(text: str, pieces: list[str], quoted: list[shapes.Quoted]) -> tuple[Name, ...]:
    found: dict[str, Name] = {}
    if len(pieces) == 1 and (whole := shapes.name(text)):
        found[whole.text] = whole
    for one in quoted:
        inner = shapes.name(one.text) if not re.search(r"\s", one.text) else None
        if inner:
            found.setdefault(inner.text, msgspec.structs.replace(inner, coded=inner.coded or one.code))
    for piece in pieces:
        one_name = shapes.name(piece)
        # A capitalised word in a sentence may be a type; a plain word is a name only when it is all there is.
        if one_name and (one_name.coded or (piece[:1].isupper() and piece is not pieces[0])):
            # $x and a.b are the variables of an example.
            sure = one_name.coded and (len(pieces) == 1 or len(one_name.segments[-1]) >= _SHORTEST_CODED)
            found.setdefault(one_name.text, msgspec.structs.replace(one_name, coded=sure))
    ranked = sorted(found.values(), key=lambda name: not name.coded)
    return tuple(ranked[:_MAX_NAMES])


def _paths(pieces: list[str]) -> tuple[Path, ...]:
    found = [path for piece in pieces if (path := shapes.path(piece))]
    found.sort(key=lambda path: not path.sure)
    return tuple(dict.fromkeys(found))[:_MAX_PATHS]


def _literals(text: str, quoted: list[shapes.Quoted]) -> tuple[str, ...]:
    if not text.strip():
        return ()
    # In a message '%s' stands for something else, and an 'x' among words is no text to look for.
    alone = not words.WORD.search(shapes.unquoted(text))
    found = [one.text for one in quoted if alone or len(one.text) >= _SHORTEST_QUOTED]
    if not words.WORD.search(text):
        found.append(text)
    elif not found and not re.search(r"\s", text) and shapes.name(text) is None:
        found.append(text)  # multi-agent, don't, a==b: one piece that is no name
    return tuple(dict.fromkeys(found))[:_MAX_LITERALS]


def _fragments(text: str) -> tuple[tuple[str, ...], ...]:
    """Runs of words that may stand in a file as they are: cut where messages have their variable parts."""
    found: list[tuple[str, ...]] = []
    pieces = [text, *_GAP.split(shapes.unquoted(text)), *(one.text for one in shapes.quoted(text))]
    for piece in pieces:
        run = tuple(words.expand(piece).split()[:_MAX_FRAGMENT_WORDS])
        if len(run) >= 3 and run not in found and re.search(r"\w\W+\w", piece):
            found.append(run)
    found.sort(key=len, reverse=True)
    return tuple(found[:4])


def _concepts(text: str, kind: Kind, asked: frozenset[Intent]) -> tuple[Concept, ...]:
    """The words that count, in order, each once; all words where nothing else would be left."""
    raw = words.WORD.findall(text)
    stop = STOP | USAGE if "usage" in asked else STOP
    kept = [word for word in raw if word.lower() not in stop and (len(word) > 1 or not word.isascii())]
    found: dict[str, Concept] = {}
    for word in kept or raw:
        for concept in _of_word(word):
            known = found.get(concept.text)
            if known is None or (known.part and not concept.part):
                found[concept.text] = concept
    joined = _joined(text, kind)
    whole = [concept for concept in found.values() if not concept.part]
    parts = [concept for concept in found.values() if concept.part]
    return tuple([*joined, *whole, *parts][:_MAX_CONCEPTS])


def _of_word(word: str) -> list[Concept]:
    word = word[: words.MAX_WORD]
    lower = word.lower()
    if pieces := words.pieces(word):
        alone = [piece for piece in dict.fromkeys(pieces) if not piece.isascii() or len(piece) > 1] or pieces
        return [Concept(one, ((one,),), prefix=len(one) == 1 and not one.isascii()) for one in alone]
    parts = words.parts(word)
    if len(parts) < 2:
        alternatives = ((lower,),) if not parts or parts[0] == lower else ((lower,), (parts[0],))
        return [Concept(lower, alternatives)]
    whole = Concept(lower, ((lower,), tuple(parts)))
    return [whole, *(Concept(part, ((part,),), part=True, of=lower) for part in parts if part not in STOP)]


def _joined(text: str, kind: Kind) -> list[Concept]:
    """Pieces like multi-agent or a.b.c: their words in a row are worth more than the words apart."""
    found = []
    for piece in text.split():
        run = words.WORD.findall(piece)
        if 2 <= len(run) <= 8 and len(piece) <= 80 and "/" not in piece:
            expanded = tuple(words.expand(piece).lower().split())
            found.append(Concept(" ".join(run).lower(), (expanded,), part=kind != "symbol"))
    return list({concept.text: concept for concept in found}.values())

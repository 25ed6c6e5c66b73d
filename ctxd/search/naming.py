"""The names of a question -> their definitions: as written, nearly so, misspelt. On a reader thread, in one snapshot.

Also mends the question's plain words: one that no file holds becomes the nearest one that some file does.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxd import words
from ctxd.search.filters import Scope
from ctxd.search.plan import Concept, Plan
from ctxd.search.shapes import Name
from ctxd.store import read, spelling
from ctxd.store.lexicon import Lexicon
from ctxd.store.read import SymbolRow
from ctxd.store.snapshot import Snapshot

_MAX_DEFINITIONS = 60
_LONGEST_TITLE = 200


class Definition(msgspec.Struct, frozen=True):
    """A definition of a name that was asked for. `place` is the name's place in the plan.

    `exact`: spelled as asked, with all its owners; else only its last segment or its letters but for case agree, or,
    when `misspelt`, hardly that.
    """

    symbol: SymbolRow
    place: int
    exact: bool
    coded: bool
    misspelt: bool = False


def hint(plan: Plan, definitions: Sequence[Definition]) -> str:
    """Return what to say when names of the question were taken for others, "" when none was."""
    slips: dict[str, set[str]] = {}
    for one in definitions:
        if one.misspelt:
            slips.setdefault(plan.names[one.place].text, set()).add(one.symbol.name)
    return "; ".join(f"nothing is called {name}: taken for {', '.join(sorted(near))}" for name, near in slips.items())


def mended(snapshot: Snapshot, book: Lexicon, plan: Plan) -> Plan:
    """Return the plan with plain words that no chunk holds as what they are nearest to, if that is near enough."""
    return msgspec.structs.replace(plan, concepts=tuple([_mended(snapshot, book, one) for one in plan.concepts]))


def _mended(snapshot: Snapshot, book: Lexicon, concept: Concept) -> Concept:
    if len(concept.alternatives) > 1 or len(concept.alternatives[0]) > 1 or concept.prefix:
        return concept
    stems = book.stems(concept.alternatives[0][0])
    if len(stems) != 1 or book.spread(stems[0]):
        return concept
    close = spelling.close_word(snapshot, stems[0])
    # What is indexed is a stem, and it is asked for as a word: they must be the same.
    return msgspec.structs.replace(concept, alternatives=((close,),)) if book.stems(close) == (close,) else concept


def definitions(snapshot: Snapshot, book: Lexicon, plan: Plan, scope: Scope) -> list[Definition]:
    """Return the definitions of the names asked for: the plan's order, exact before near ones."""
    found: list[Definition] = []
    for place, name in enumerate(plan.names):
        coded = name.coded or plan.kind == "symbol"
        rows = [row for row in _spelled(snapshot, name) if scope.takes(row)]
        exact = [row for row in rows if _owned(snapshot, row, name)]
        spelled = [] if exact or not coded else rows
        folded = [] if exact or not coded or rows else [r for r in _folded(snapshot, name) if scope.takes(r)]
        whole = plan.kind == "symbol"
        found += [Definition(row, place, True, coded) for row in exact]
        found += [Definition(row, place, False, (whole or name.written) and _sure(row, name)) for row in spelled]
        # In a sentence LaTeX is a word that some variable `latex` shares, not the name of it.
        found += [Definition(row, place, False, whole and _sure(row, name)) for row in folded]
        if coded and not rows and not folded:
            found += _misspelt(snapshot, book, name, place, scope)
    if " " in plan.text and len(plan.text) <= _LONGEST_TITLE:
        # The title of a test or a section is a name with spaces; one all in small letters is just words.
        found += [
            Definition(row, -1, True, row.kind != "section" or not row.name.islower())
            for row in read.named(snapshot, [plan.text], _MAX_DEFINITIONS)
            if scope.takes(row)
        ]
    return found


def _misspelt(snapshot: Snapshot, book: Lexicon, name: Name, place: int, scope: Scope) -> list[Definition]:
    """Return the definitions of the names that a slip of the keyboard tells from one that nothing has."""
    last = name.segments[-1]
    if any(map(book.spread, book.stems(last))):
        # The name is written somewhere, or only its plural is: the tokenizer does not tell the two apart.
        rows = read.folded(snapshot, {f"{last}s".casefold(), last.casefold().removesuffix("s")}, _MAX_DEFINITIONS)
    else:
        rows = read.named(snapshot, spelling.close_names(snapshot, last), _MAX_DEFINITIONS)
    return [Definition(row, place, False, True, misspelt=True) for row in rows if scope.takes(row)]


def _sure(row: SymbolRow, name: Name) -> bool:
    """A heading or a key that only reads like the question's word is no definition of it."""
    return name.coded or row.kind not in ("section", "key")


def _spelled(snapshot: Snapshot, name: Name) -> list[SymbolRow]:
    spellings = {name.text, name.segments[-1], name.text.lstrip("@$"), name.text.rstrip("?!")}
    return read.named(snapshot, spellings, _MAX_DEFINITIONS * 4)


def _folded(snapshot: Snapshot, name: Name) -> list[SymbolRow]:
    last = name.segments[-1].casefold()
    parts = words.parts(name.segments[-1])
    spellings = {last, last.strip("_"), "".join(parts), "_".join(parts), "-".join(parts)} - {""}
    return read.folded(snapshot, spellings, _MAX_DEFINITIONS)


def _owned(snapshot: Snapshot, row: SymbolRow, name: Name) -> bool:
    """Whether a definition's owners (or its file's path) are the ones that a qualified name gives."""
    if len(name.segments) == 1 or row.name == name.text:
        return True
    owners = [part for part in row.qualified_name.replace("::", ".").split(".") if part]
    path = read.files(snapshot, [row.file])[row.file].path
    place = path.rsplit(".", 1)[0].split("/")
    asked = list(name.segments)
    return (place + owners)[-len(asked) :] == asked or owners[-len(asked) :] == asked

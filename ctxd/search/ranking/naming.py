"""The names of a question -> their definitions: as written, nearly so, misspelt. On a reader thread, in one snapshot.

Also mends the question's plain words: one that no file holds becomes the nearest one that some file does.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxd import words
from ctxd.search.filters import ALL, Scope
from ctxd.search.question.plan import Concept, Plan
from ctxd.search.question.shapes import Name
from ctxd.store import read, spelling
from ctxd.store.lexicon import Lexicon
from ctxd.store.read import SymbolRow
from ctxd.store.snapshot import Snapshot

_MAX_DEFINITIONS = 60
# Names and words that nothing is spelled like are looked up among all there are, the first ones: of a text in another
# language, or of a trace of another program, that is most.
_MAX_MISSPELT, _MAX_MENDED = 3, 6
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
    unknown = [one for one in plan.concepts if _is_unknown(book, one)][:_MAX_MENDED]
    concepts = tuple([_mended(snapshot, book, one) if one in unknown else one for one in plan.concepts])
    return msgspec.structs.replace(plan, concepts=concepts)


def _is_unknown(book: Lexicon, concept: Concept) -> bool:
    if len(concept.alternatives) > 1 or len(concept.alternatives[0]) > 1 or concept.prefix:
        return False
    stems = book.stems(concept.alternatives[0][0])
    return len(stems) == 1 and not book.spread(stems[0])


def _mended(snapshot: Snapshot, book: Lexicon, concept: Concept) -> Concept:
    close = spelling.close_word(snapshot, book.stems(concept.alternatives[0][0])[0])
    # What is indexed is a stem, and it is asked for as a word: they must be the same.
    return msgspec.structs.replace(concept, alternatives=((close,),)) if book.stems(close) == (close,) else concept


def definitions(snapshot: Snapshot, book: Lexicon, plan: Plan, scope: Scope) -> list[Definition]:
    """Return the definitions of the names asked for: the plan's order, exact before near ones."""
    found: list[Definition] = []
    looked_up = 0
    for place, name in enumerate(plan.names):
        coded = name.coded or plan.kind == "symbol"
        rows = _spelled(snapshot, name, scope)
        exact = _owned(snapshot, rows, name)
        spelled = [] if exact or not coded else rows
        folded = [] if exact or not coded or rows else _folded(snapshot, name, scope)
        whole = plan.kind == "symbol"
        found += [Definition(row, place, True, coded) for row in exact]
        found += [Definition(row, place, False, (whole or name.written) and _sure(row, name)) for row in spelled]
        # In a sentence LaTeX is a word that some variable `latex` shares, not the name of it.
        found += [Definition(row, place, False, whole and _sure(row, name)) for row in folded]
        if coded and not rows and not folded and looked_up < _MAX_MISSPELT and not _is_defined(snapshot, name, scope):
            looked_up += 1
            found += _misspelt(snapshot, book, name, place, scope)
    if " " in plan.text and len(plan.text) <= _LONGEST_TITLE:
        # The title of a test or a section is a name with spaces; one all in small letters is just words.
        found += [
            Definition(row, -1, True, row.kind != "section" or not row.name.islower())
            for row in read.named(snapshot, [plan.text], _MAX_DEFINITIONS, scope.accept)
        ]
    return found


def _misspelt(snapshot: Snapshot, book: Lexicon, name: Name, place: int, scope: Scope) -> list[Definition]:
    """Return the definitions of the names that a slip of the keyboard tells from one that nothing has."""
    last = name.segments[-1]
    rows: list[SymbolRow] = []
    if any(map(book.spread, book.stems(last))):
        # The name is written somewhere, or only its plural is: the tokenizer does not tell the two apart.
        plurals = {f"{last}s".casefold(), last.casefold().removesuffix("s")}
        rows = read.folded(snapshot, plurals, _MAX_DEFINITIONS, scope.accept)
    else:
        close = spelling.close_names(snapshot, last)
        near = (read.named(snapshot, names, _MAX_DEFINITIONS, scope.accept) for names in close)
        rows = next(filter(None, near), [])
    return [Definition(row, place, False, True, misspelt=True) for row in rows]


def _is_defined(snapshot: Snapshot, name: Name, scope: Scope) -> bool:
    """Whether only the filters keep the definitions of a name out: then it is not misspelt."""
    return scope.accept is not None and bool(_spelled(snapshot, name, ALL) or _folded(snapshot, name, ALL))


def _sure(row: SymbolRow, name: Name) -> bool:
    """A heading or a key that only reads like the question's word is no definition of it."""
    return name.coded or row.kind not in ("section", "key")


def _spelled(snapshot: Snapshot, name: Name, scope: Scope) -> list[SymbolRow]:
    spellings = {name.text, name.segments[-1], name.text.lstrip("@$"), name.text.rstrip("?!")}
    owner = name.segments[-2] if len(name.segments) > 1 else ""
    return read.named(snapshot, spellings, _MAX_DEFINITIONS * 4, scope.accept, owner=owner)


def _folded(snapshot: Snapshot, name: Name, scope: Scope) -> list[SymbolRow]:
    last = name.segments[-1].casefold()
    parts = words.parts(name.segments[-1])
    spellings = {last, last.strip("_"), "".join(parts), "_".join(parts), "-".join(parts)} - {""}
    return read.folded(snapshot, spellings, _MAX_DEFINITIONS, scope.accept)


def _owned(snapshot: Snapshot, rows: list[SymbolRow], name: Name) -> list[SymbolRow]:
    """Return the definitions whose owners (or their files' paths) are the ones that a qualified name gives."""
    if len(name.segments) == 1:
        return rows
    files = read.files(snapshot, {row.file for row in rows})
    asked = list(name.segments)

    def is_owned(row: SymbolRow) -> bool:
        owners = [part for part in row.qualified_name.replace("::", ".").split(".") if part]
        place = files[row.file].path.rsplit(".", 1)[0].split("/")
        return (place + owners)[-len(asked) :] == asked or owners[-len(asked) :] == asked

    return [row for row in rows if row.name == name.text or is_owned(row)]

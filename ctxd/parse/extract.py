"""Definitions, references, imports and structure of one file's text. Pure; runs in a parse worker.

`extract` is the only entry. Languages with a grammar take one query pass (`capture`), then owners, symbols,
blocks; families in `readers` are read line by line; a language with neither gives an empty `Extracted`.

Blocks are the file's structure for whoever cuts it into chunks. They form a forest in document order, sorted by
(line_start, -line_end): the children of a block follow it directly with `depth` + 1, roots have depth 0. Promised:

* A block lies inside its parent's lines; siblings share no line and are ascending. Lines between them (blank lines,
  comments, closing brackets, headers) belong to no child: they are the gaps.
* `definition`: a symbol's span with its doc comment and decorators; `symbol` is its index in `symbols`. Children are
  its members and nested definitions, and, when it is long, the statements between them. A symbol that starts on the
  last line of an earlier one (`int a, b;`) has no block of its own, or one inside the earlier one's.
* `imports`: a run of import statements with nothing but blank lines and comments between them.
* `statement`: any other statement, clause or element that begins on a line of its own. Given at the top level and
  inside every node of more than LONG_BYTES bytes, so that a body too long for one chunk can be cut between them.
  `symbol` is -1.
* `section`: a document's section from its heading to the line before the next heading of its own or a higher level,
  or a section of configuration; `symbol` is its index. Children are subsections and keys, and in long ones paragraphs
  and fenced blocks as `statement`.

So: a block that fits is one chunk; else cut it into its children, the gap before a child going to that child, and the
first gap (up to the first child) being the header. Depth is at most MAX_DEPTH.

Imports: names "*" with alias "" take all names of the module, "*" with an alias bind the module itself under it,
"default" is what ECMAScript exports by default; no names at all bind nothing but the module (or nothing).
"""

from __future__ import annotations

import msgspec
import tree_sitter

from ctxd.model import Import
from ctxd.parse.capture import capture
from ctxd.parse.comments import header_end
from ctxd.parse.extracted import Extracted, ExtractFailed
from ctxd.parse.families.family import Family
from ctxd.parse.families.table import FAMILIES
from ctxd.parse.grammar import Grammar, compiled
from ctxd.parse.languages import Language
from ctxd.parse.owners import adopt
from ctxd.parse.readers.table import READERS
from ctxd.parse.structure import Block, BlockKind, blocks
from ctxd.parse.symbols import line_starts, references, symbols

__all__ = ["Block", "BlockKind", "ExtractFailed", "Extracted", "by_lines", "extract"]


def extract(language: Language, source: bytes) -> Extracted:
    """Return what `source` (UTF-8, lone CR already turned into LF) holds. Raises ExtractFailed."""
    if (read := READERS.get(language.family)) is not None:
        return read(source, extract)
    if not language.grammar:
        return Extracted()
    return _by_grammar(language, source)


def by_lines(language: Language, source: bytes, note: str) -> Extracted:
    """Return what can be told without a grammar of a file that none is to be used on; `note` says why."""
    if language.family == "notebook":
        # Its outputs must not be taken for text, whatever its code did to a parser.
        return msgspec.structs.replace(READERS["notebook"](source, lambda _, __: Extracted()), note=note)
    return Extracted(note=note)


def _by_grammar(language: Language, source: bytes) -> Extracted:
    grammar, family = compiled(language), FAMILIES.get(language.family) or Family()
    breaks = family.breaks(source)
    root = _root(grammar, family.mute(source) if breaks else source)
    if root.has_error and not breaks and (muted := family.mute(source)) != source:
        root = _root(grammar, muted)
    found = capture(grammar, root, source, family)
    lines = source.split(b"\n")
    starts = line_starts(lines)
    broken = root.has_error
    if broken:
        family.recover(found, source, starts)
    family.arrange(found, source, starts)
    definitions = adopt(found, source, family)
    made = symbols(definitions, source, lines, starts, family)
    imported = sorted(found.imports.values(), key=lambda entry: entry.row)
    return Extracted(
        symbols=made,
        references=references(found, definitions, source, starts, family),
        imports=tuple(
            Import(entry.module, entry.row + 1, tuple(entry.names), tuple(entry.aliases)) for entry in imported
        ),
        blocks=blocks(root, made, imported),
        comment_header_end=header_end(lines, family),
        note="syntax errors" if broken else "",
    )


def _root(grammar: Grammar, source: bytes) -> tree_sitter.Node:
    tree = grammar.parser.parse(source)
    if tree is None:
        raise ExtractFailed("the parser gave no tree")
    return tree.root_node

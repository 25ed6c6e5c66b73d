"""Draw definitions from files by plain text, and judge whether the symbols of a file hold them. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from itertools import accumulate
from random import Random

import msgspec

from tests.corpora.keywords import Keywords
from tests.corpora.papers import PAPERS
from tests.corpora.programs import PROGRAMS
from tests.corpora.veils import hide

LANGUAGES = PROGRAMS | PAPERS
# What a heading's markup leaves of its words; what stands between the parts of a qualified name.
_MARKUP = re.compile(r"\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])|<[^>\n]*>|\{[^}\n]*\}|:[\w-]+:(?=`)")
_NOT_WORD = re.compile(r"[\W_]+")
_BETWEEN = re.compile(r"::|#|/")
_TITLED = frozenset({"markdown", "restructuredtext", "asciidoc"})


class Site(msgspec.Struct, frozen=True, order=True):
    """A line, 1-based, that defines a name by its text."""

    line: int
    name: str


class Named(msgspec.Struct, frozen=True):
    """What the index says of one symbol."""

    name: str
    qualified_name: str
    definition_line: int


def sites(language: str, text: str) -> list[Site]:
    """Return what the text search finds in one file, in order of lines; nothing where it finds a table."""
    keywords = LANGUAGES[language]
    text = text.replace("\r\n", "\n")
    if keywords.begins is not None and not keywords.begins.match(text):
        return []
    veiled = hide(_inside(text, keywords), keywords.veil)
    starts = [0, *accumulate(len(line) for line in veiled.splitlines(keepends=True))]
    found: set[Site] = set()
    depth = -1
    for at, name, indent in sorted(_matches(veiled, keywords)):
        depth = indent if depth == -1 else depth
        if not keywords.outermost or indent == depth:
            found.add(Site(bisect_right(starts, at), name.strip()))
    ordered = sorted(found)
    if keywords.joined:
        ordered = [site for place, site in enumerate(ordered) if not place or ordered[place - 1].name != site.name]
    return [] if keywords.table and len(ordered) > keywords.table else ordered


def _matches(text: str, keywords: Keywords) -> Iterator[tuple[int, str, int]]:
    """Yield where each name stands, the name, and how deep its line is."""
    for pattern in keywords.lines:
        for match in pattern.finditer(text):
            head = match.group().lstrip("\n")
            yield match.start("name"), match.group("name"), len(head) - len(head.lstrip())


def _inside(text: str, keywords: Keywords) -> str:
    """Return the text with spaces for all that lies outside of what may hold definitions."""
    if keywords.within is None:
        return text
    kept = [match.span("code") for match in keywords.within.finditer(text)]
    made, at = [], 0
    for start, end in kept:
        made += [re.sub(r"[^\n]", " ", text[at:start]), text[start:end]]
        at = end
    return "".join([*made, re.sub(r"[^\n]", " ", text[at:])])


def draw(found: Collection[tuple[str, str, Site]], count: int, random: Random) -> list[tuple[str, str, Site]]:
    """Return `count` of what was found (or all), whatever the order in which files were read."""
    return random.sample(sorted(found), min(count, len(found)))


def holds(language: str, site: Site, symbols: Collection[Named]) -> bool:
    """Return whether one of a file's symbols has the site's name and its line."""
    names = [(one.name, one.qualified_name) for one in symbols if one.definition_line == site.line]
    if language in _TITLED:
        return any(_words(name) == _words(site.name) for name, _ in names)
    wanted = _plain(site.name)
    return any(wanted == _plain(name) or f".{_plain(qualified)}".endswith(f".{wanted}") for name, qualified in names)


def _plain(name: str) -> str:
    return _BETWEEN.sub(".", name).replace('"', "").replace("'", "")


def _words(title: str) -> str:
    return _NOT_WORD.sub("", _MARKUP.sub(lambda found: found[1] or "", title))

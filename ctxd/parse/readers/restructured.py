"""reStructuredText by its titles, and the things that directives document. Pure.

A level is a style of adornment (its character, and whether there is a line above too), in the order in which a file
uses them. What `.. function::` and its like describe is a section of its own, called by its name and owned by its
module or class; it is no definition, so its kind stays `section`.
"""

from __future__ import annotations

import re

import msgspec

from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.sections import Heading, Sheet, sections, split_rows

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
_DIRECTIVE = re.compile(
    r"(?P<indent>[ \t]*)\.\. (?:(?P<domain>[a-z]+):)?(?P<word>[a-z][\w-]*)::(?:[ \t]+(?P<argument>\S.*))?$"
)
# Directives that describe one thing which is asked for by name.
_NAMES = frozenset(
    """function method class attribute data exception module envvar option setting confval macro type struct enum member
    decorator decoratormethod classmethod staticmethod property describe object var enumerator concept alias
    templatetag templatefilter fieldlookup django-admin command rst-directive role opcode cmdoption""".split()  # noqa: SIM905
)
# The name in a signature: after a return type or keywords, before arguments, defaults and bodies.
_NAME = re.compile(r"([\w$.:~*-]*[\w$])(?=\s*(?:\(|\[|=|<|$))")
_OPTION = re.compile(r"[^\s,=<\[]+")
_PLAIN_WORDS = frozenset({"module", "envvar", "setting", "confval", "templatetag", "templatefilter", "fieldlookup"})
_ROLES = re.compile(r":[\w:.+-]+:`~?([^`<]*)(?:<[^>`]*>)?`|``|`([^`<]*?)\s*(?:<[^>`]*>)?`__?|\*\*|\*")
# A directive has no more lines before its text.
_MAX_SIGNATURES = 60
# Below every level of titles: at most so many styles are told apart.
_DEEPEST = 20


class _Open(msgspec.Struct, frozen=True):
    """A directive whose text goes on as long as lines stand deeper than it."""

    indent: int
    heading: Heading
    qualified: str


class _Reader(Sheet):
    """Goes through the lines once; `_around` are the open directives, outermost first."""

    markup = _ROLES

    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines)
        self._styles: list[tuple[str, bool]] = []
        self._around: list[_Open] = []
        self._module = ""

    def read(self) -> None:
        row = 0
        while row < len(self.lines):
            line = self.lines[row]
            if not line.strip():
                self.end(row - 1, is_text=self._is_text())
                row += 1
            elif end := self._title(row):
                row = end
            else:
                if self._around:
                    self._leave(row, len(line) - len(line.lstrip()))
                if line.lstrip()[:3] == ".. ":
                    self._directive(row, line)
                self.begin(row)
                row += 1
        self.end(len(self.lines) - 1, is_text=self._is_text())

    def _is_text(self) -> bool:
        return self.begun != -1 and not self.lines[self.begun].lstrip().startswith((".. ", ">>> ", ":"))

    def _title(self, row: int) -> int:
        """Read a title that begins at `row`; return the row behind it, 0 when there is none."""
        lines = self.lines
        line = lines[row]
        if line[:1].isspace() or row + 1 >= len(lines) or (row and lines[row - 1].strip() and self.begun != -1):
            return 0
        over = _ADORNMENT.match(line)
        under = _ADORNMENT.match(lines[row + 2]) if over and row + 2 < len(lines) else None
        if over and under and over[1] == under[1] and lines[row + 1].strip() and len(line.rstrip()) > 2:
            title = lines[row + 1].strip()
            if len(line.rstrip()) >= len(title) or len(line.rstrip()) >= 4:
                self._head(title, row + 1, row, row + 3, (over[1], True))
                return row + 3
        under = _ADORNMENT.match(lines[row + 1])
        long = len(lines[row + 1].rstrip())
        if under and not (over and len(line.rstrip()) > 3) and (long >= 4 or long >= len(line.rstrip())):
            if line.startswith((".. ", ":")) or (long < 2 and len(line.rstrip()) > 1):
                return 0
            self._head(line.strip(), row, row, row + 2, (under[1], False))
            return row + 2
        return 0

    def _head(self, title: str, row: int, first_row: int, text_row: int, style: tuple[str, bool]) -> None:
        self.end(first_row - 1)
        if style not in self._styles:
            self._styles.append(style)
        level = min(self._styles.index(style) + 1, _DEEPEST)
        self._leave(first_row, 0)
        self.heading(level, title, row, first_row, text_row).signature = title

    def _directive(self, row: int, line: str) -> None:
        found = _DIRECTIVE.match(line[:1000])
        if found is None or not found["argument"]:
            return
        word, argument = found["word"], found["argument"].strip()
        in_module = found["domain"] in (None, "py")
        if word in ("currentmodule", "module"):
            self._module = argument
        if word not in _NAMES:
            return
        name, owner = self._named(word, argument, self._module if in_module else "")
        if not name:
            return
        self.end(row - 1, is_text=self._is_text())
        rows = range(row + 1, min(row + _MAX_SIGNATURES, len(self.lines)))
        text_row = next((r for r in rows if not self.lines[r].strip()), row + 1)
        made = self.heading(_DEEPEST + 1 + len(self._around), name, row, text_row=text_row)
        made.title, made.owner = name, owner
        made.signature = " ".join(line.split())
        self._around.append(_Open(len(found["indent"]), made, f"{owner}.{name}" if owner else name))

    def _named(self, word: str, argument: str, module: str) -> tuple[str, str]:
        """Return the name that a directive's argument gives, and its owner where one is known."""
        if word in ("option", "cmdoption", "django-admin", "command"):
            found = _OPTION.match(argument)
            return (found[0] if found else ""), ""
        if word in _PLAIN_WORDS:
            return argument.split()[0], ""
        matched = _NAME.search(argument)
        if matched is None:
            return "", ""
        path = matched[1].replace("::", ".").strip("~*:.")
        above, _, name = path.rpartition(".")
        around = self._around[-1].qualified if self._around else module
        if above and around and not above.startswith(around):
            around = f"{around}.{above}"
        elif above:
            around = above
        return name, around

    def _leave(self, row: int, indent: int) -> None:
        """End the directives that a line of this indentation is no part of."""
        while self._around and self._around[-1].indent >= indent:
            heading = self._around.pop().heading
            end = row - 1
            while end > heading.row and not self.lines[end].strip():
                end -= 1
            heading.end_row = end


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return the sections of a reStructuredText document."""
    reader = _Reader(split_rows(source))
    reader.read()
    return sections(reader)

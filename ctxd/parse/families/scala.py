"""The Scala family: visibility by modifiers, imports with selectors, givens without a name. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxd.parse.families.family import FUNCTIONS, Bound
from ctxd.parse.families.jvm import Modifiers

if TYPE_CHECKING:
    from ctxd.parse.capture import Definition

_HIDDEN = re.compile(rb"\bprivate\b")
# A type parameter is no type that could own a definition.
_PARAMETER = re.compile(r"[A-Z]\d?$")
_WORDS = re.compile(r"\w+")
# `a.b.C`, `a.b._`, `a.b.{...}`, and what of an import stands in brackets.
_PATH = re.compile(rb"\s*([^\s,{}]+)\s*(?:\{([^{}]*)\})?(?:\s+as\s+([\w$`]+))?\s*,?")
_SELECTOR = re.compile(rb"([\w$`*]+)(?:\s*(?:=>|\bas\b)\s*([\w$`]+))?")
_HEAD = re.compile(
    rb"^[ \t]*(?:@\w+(?:\([^()\n]*\))?[ \t]+)*(?:(?:private|protected)(?:\[\w+\])?[ \t]+|(?:final|sealed|abstract"
    rb"|implicit|lazy|override|open|transparent|inline|infix|case|opaque)[ \t]+)*"
    rb"(?P<kind>class|trait|object|enum|def|type)[ \t]+(?P<name>[A-Za-z_]\w*)",
    re.MULTILINE,
)


class Scala(Modifiers):
    """What is not private is seen."""

    heads = (_HEAD,)

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "extension" and _PARAMETER.match(text):
            return "", ""
        if text.startswith("given "):  # the name that the compiler gives it
            return "given_" + "_".join(_WORDS.findall(text.rpartition(": ")[2].removeprefix("given "))), ""
        return text.strip("`"), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None and (not parent.exported or parent.kind in FUNCTIONS):
            return False
        return not _HIDDEN.search(self.modifiers(definition, source))

    def imports(self, clause: bytes) -> list[Bound]:
        made: list[Bound] = []
        for found in _PATH.finditer(clause, len("import")):
            path = found.group(1).decode("utf-8", "replace").strip("`")
            if found.group(2) is not None:
                made += _selected(path.rstrip("."), found)
                continue
            module, _, name = path.rpartition(".")
            alias = (found.group(3) or b"").decode("utf-8", "replace")
            wild = name in ("_", "*", "given")
            made.append(Bound(module, "*" if wild else name, alias, found.end(1) - len(name.encode())))
        return made


def _selected(module: str, found: re.Match[bytes]) -> list[Bound]:
    made: list[Bound] = []
    for selector in _SELECTOR.finditer(found.group(2)):
        name, alias = (part.decode("utf-8", "replace").strip("`") for part in selector.groups(b""))
        if alias != "_":
            wild = name in ("_", "*", "given")
            made.append(Bound(module, "*" if wild else name, alias, found.start(2) + selector.start()))
    return made

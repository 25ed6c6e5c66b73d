"""The Objective-C family: selectors, `@interface` to `@end`, enumerations behind macros. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.c import C
from ctxd.parse.families.macros import has_macros, reach, without_macros
from ctxd.parse.families.recovery import by_heads, inside, text_definition

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured

_ENUM = re.compile(
    rb"\btypedef[ \t]+(?:NS|CF)_(?:CLOSED_|ERROR_)?(?:ENUM|OPTIONS)[ \t]*\([ \t]*[\w \t]+,[ \t]*(?P<name>\w+)[ \t]*\)"
)
# Macros and attributes behind the head of a method or a property.
_BEHIND = re.compile(
    rb"(?<=[\w)])[ \t]+(?>(?:(?>[A-Z][A-Z0-9]*_[A-Z0-9_]++|__attribute__)"
    rb"(?:\((?>[^()\n]|\((?>[^()\n]|\([^()\n]*\))*\))*\))?[ \t]*)+)(?=[;{]|\n\{)"
)
_METHOD = re.compile(rb"^(?P<kind>[-+])[ \t]*\([^\n;{]*?\)[ \t]*(?P<name>[A-Za-z_]\w*)", re.MULTILINE)
_METHODS = {b"-": "method", b"+": "method"}
_CLASS = re.compile(
    rb"^@(?P<kind>interface|implementation|protocol)[ \t]+(?P<name>[A-Za-z_]\w*)(?P<category>[ \t]*\()?"
    rb"(?![^\n]*;[ \t]*$)",
    re.MULTILINE,
)
_END = re.compile(rb"^@end\b", re.MULTILINE)


class ObjectiveC(C):
    """Selectors are named by their first word; a category is a class of the name that it adds to."""

    extension_kind = "class"

    def breaks(self, source: bytes) -> bool:
        return has_macros(source)

    def mute(self, source: bytes) -> bytes:
        return _BEHIND.sub(lambda match: b" " * len(match.group()), without_macros(_ENUM.sub(_enum, source)))

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        reach(found, source, starts)
        for definition in found.definitions.values():
            if definition.kind in ("class", "interface", "extension") and definition.body == -1:
                definition.body = source.find(b"\n", definition.name_start, definition.end)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        super().recover(found, source, starts)
        by_heads(found, source, starts, _METHOD, _METHODS)
        known = {definition.name_start for definition in found.definitions.values()}
        skips = sorted(found.skips)
        for head in _CLASS.finditer(source):
            at = head.start("name")
            if at in known or inside(skips, at):
                continue
            kind = "interface" if head.group("kind") == b"protocol" else "class"
            end = _END.search(source, head.end())
            stop = end.end() if end else len(source)
            definition = text_definition("extension" if head.group("category") else kind, head, starts, -1, stop)
            definition.end_row = bisect_left(starts, stop) - 1
            found.definitions[at] = definition


def _enum(match: re.Match[bytes]) -> bytes:
    """Return `enum` and its name where they stood: `typedef NS_ENUM(NSInteger, Kind)`."""
    text, at = match.group(), match.start("name") - match.start()
    name = match.group("name")
    return b"enum".ljust(at) + name + b" " * (len(text) - at - len(name))

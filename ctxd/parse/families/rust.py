"""The Rust family: `impl` blocks, visibility, `use` trees, definitions among a macro's tokens. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import Bound, Family
from ctxd.parse.families.recovery import by_heads

if TYPE_CHECKING:
    import tree_sitter

    from ctxd.parse.capture import Captured, Definition

# `pub(self)` is as private as nothing.
_PUBLIC = re.compile(rb"\bpub\b(?!\s*\(\s*self\s*\))")
_MACRO_EXPORT = re.compile(rb"#\[\s*macro_export\b")
_OF_TRAIT = re.compile(rb"\bfor\b(?!\s*<)")
# What a type is written with around its name.
_TYPE_PARTS = {"generic_type": "type", "reference_type": "type", "scoped_type_identifier": "name",
               "dynamic_type": "trait", "pointer_type": "type", "array_type": "element"}  # fmt: skip
_USE = re.compile(rb"r#\w+|\w+|[{},*]")
# A line that begins a definition, wherever it stands.
_HEAD = re.compile(
    rb"^[ \t]*(?:#\[[^\]\n]*\][ \t]*)*(?:pub(?:[ \t]*\([^)\n]*\))?[ \t]+)?(?:default[ \t]+|unsafe[ \t]+|async[ \t]+|"
    rb"const[ \t]+(?=(?:unsafe|async|extern|fn)\b)|extern[ \t]+(?:\"[^\"\n]*\"[ \t]+)?(?=fn\b))*"
    rb"(?P<kind>fn|struct|enum|union|trait|mod|type|const|static|macro_rules!)[ \t]+(?:mut[ \t]+)?"
    rb"(?P<name>[A-Za-z_]\w*)(?=[ \t]*[(<:{;=\n#]|[ \t]+where\b)",
    re.MULTILINE,
)
_KINDS = {b"fn": "function", b"struct": "struct", b"enum": "enum", b"union": "struct", b"trait": "trait",
          b"mod": "module", b"type": "type", b"const": "constant", b"static": "variable",
          b"macro_rules!": "macro"}  # fmt: skip


class Rust(Family):
    """`impl` blocks, visibility, `use` trees."""

    def peel(self, named: tree_sitter.Node, kind: str) -> tuple[tree_sitter.Node | None, str]:
        node: tree_sitter.Node | None = named
        while node is not None and (part := _TYPE_PARTS.get(node.type)):
            node = node.child_by_field_name(part)
        if node is not None and node.type == "bounded_type":
            return self.peel(node.children[0], kind)
        return node, kind

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "extension":
            return "".join(text.split()).replace(".", ""), ""
        return text.removeprefix("r#"), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        kind, head = definition.kind, source[definition.head : definition.name_start]
        if kind == "extension":
            # What a trait demands is as visible as the trait.
            return _OF_TRAIT.search(head) is not None
        if kind == "macro":
            return _MACRO_EXPORT.search(source, definition.start, definition.name_start) is not None
        if parent is not None:
            if parent.kind in ("trait", "enum"):
                return parent.exported
            if parent.kind == "extension" and parent.exported:
                return True
        return _PUBLIC.search(head) is not None

    def kind(self, definition: Definition, source: bytes) -> str:
        return definition.kind

    def imports(self, clause: bytes) -> list[Bound]:
        bounds: list[Bound] = []
        prefixes: list[list[bytes]] = [[]]
        path: list[bytes] = []
        at, alias = 0, b""
        for token in _USE.finditer(clause + b","):
            word = token.group()
            if word == b"{":
                prefixes.append(path)
            elif word in (b",", b"}"):
                if len(path) > len(prefixes[-1]):
                    bounds.append(_bound(path, alias, at))
                if word == b"}" and len(prefixes) > 1:
                    prefixes.pop()
                path, alias = prefixes[-1], b""
            elif word == b"as" or alias:
                alias = word
            else:
                path, at = [*path, word], token.start()
        return bounds

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        # A macro's arguments and templates are tokens to the grammar.
        by_heads(found, source, starts, _HEAD, _KINDS)


def _bound(path: Sequence[bytes], alias: bytes, at: int) -> Bound:
    words = [word.decode().removeprefix("r#") for word in path]
    if words[-1] == "self" and len(words) > 1:
        words.pop()  # `use a::b::{self}` is `use a::b`
    module, name = "::".join(words[:-1]), words[-1]
    if not module:
        return Bound(name, "*" if alias else "", alias.decode(), at)
    return Bound(module, name, alias.decode(), at)

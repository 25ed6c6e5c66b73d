"""Who owns which definition: spans up to the wrapper, parents by nesting, kinds, locals dropped. Pure."""

from __future__ import annotations

from ctxd.parse.capture import Captured, Definition
from ctxd.parse.families.family import CLASSES, FUNCTIONS, VALUES, Family, is_constant

# Past this many characters only the direct owner is named: 30,000 nested functions would cost gigabytes.
MAX_QUALIFIED = 400


def adopt(found: Captured, source: bytes, family: Family) -> list[Definition]:
    """Give every definition its owner and its kind; return those that are no locals, by (start, -end)."""
    ordered = _ordered(found, family)
    kept: list[Definition] = []
    stack: list[Definition] = []
    values: set[str] = set()
    for definition in ordered:
        while stack and stack[-1].end <= definition.start:
            stack.pop()
        if definition.kind in VALUES and not _is_member(definition, stack):
            continue
        if definition.kind in ("struct", "enum"):
            _absorb_typedef(definition, stack)
        parent = _parent(definition, stack, family)
        _settle(definition, parent, source, family, found.exports)
        if family.values_vary and definition.kind in VALUES and (parent is None or parent.kind != "extension"):
            if definition.qualified in values:
                continue
            values.add(definition.qualified)
        stack.append(definition)
        kept.append(definition)
    return [definition for definition in kept if definition.kind]


def _ordered(found: Captured, family: Family) -> list[Definition]:
    uses, wrappers = found.uses, found.wrappers
    taken: dict[int, int] = {}
    ordered: list[Definition] = []
    for definition in found.definitions.values():
        use = uses.get(definition.name_start)
        if use is not None and use.kind == "import":
            continue  # const x = require("x")
        if definition.owner:
            family.own(definition)
        inner, head_row = definition.start, definition.row
        while (wrapper := wrappers.get(inner)) is not None:
            if wrapper.kind == "export":
                definition.exported = True
            if wrapper.start >= inner:
                break
            if taken.setdefault(wrapper.start, inner) != inner and wrapper.kind == "line":
                # A second declarator of one statement keeps its own start.
                wrapper_above = wrappers.get(wrapper.start)
                definition.exported |= wrapper_above is not None and wrapper_above.kind == "export"
                break
            if wrapper.row == head_row:
                definition.head = wrapper.start
            definition.start = inner = wrapper.start
            definition.row = wrapper.row
        ordered.append(definition)
    ordered.sort(key=lambda d: (d.start, -d.end, d.name_start))
    return ordered


def _is_member(definition: Definition, stack: list[Definition]) -> bool:
    """Return whether a value is at the top or in a class: inside a function it is a local."""
    if definition.belongs:
        return True
    for outer in reversed(stack):
        if outer.kind in FUNCTIONS:
            return False
        if outer.kind in CLASSES and not _same_span(outer, definition):
            return True
    return True


def _same_span(one: Definition, other: Definition) -> bool:
    return one.start == other.start and one.end == other.end


def _parent(definition: Definition, stack: list[Definition], family: Family) -> Definition | None:
    kind = definition.kind
    if kind == "macro" and not family.owned_macros:
        return None
    if definition.owner:
        if family.absolute_owners:
            return None
        # What is written may stand in a namespace.
        return next((outer for outer in reversed(stack) if outer.kind == "module"), None)
    nearest: Definition | None = None
    for outer in reversed(stack):
        if outer.end < definition.end or _same_span(outer, definition):
            continue
        if definition.belongs and outer.kind not in ("class", "struct", "interface"):
            nearest = nearest or outer
            continue
        if outer.kind in VALUES and not (family.values_own and _fits(outer, kind)):
            continue
        if outer.kind in ("", "type") and kind not in ("field", "method"):
            continue
        return outer
    return nearest


def _fits(outer: Definition, kind: str) -> bool:
    """Return whether a value owns such a definition: functions in its literal, fields of its literal type."""
    return kind in FUNCTIONS or (kind == "field" and outer.kind != "field")


def _settle(
    definition: Definition, parent: Definition | None, source: bytes, family: Family, exports: set[str]
) -> None:
    kind, name = definition.kind, definition.name
    if kind in ("variable", "constant"):
        kind = family.kind(definition, source)
    if definition.owner:
        around = f"{parent.qualified}." if parent is not None else ""
        definition.parent = around + definition.owner
        definition.qualified = f"{definition.parent}.{name}"
        if family.written_owner_makes_method:
            kind = "method" if kind == "function" else kind
    elif parent is not None:
        definition.parent = parent.qualified
        above = parent.qualified if len(parent.qualified) < MAX_QUALIFIED else parent.name
        definition.qualified = f"{above}.{name}"
        owned = parent.kind in family.method_owners or parent.kind in VALUES or definition.belongs
        if kind == "function" and owned:
            kind = "method"
        elif kind == "method" and not owned:
            kind = "function"
        elif kind in ("variable", "constant", "field") and parent.kind in CLASSES:
            valued = kind == "constant" or (parent.kind == "enum" and kind != "field")
            kind = "constant" if valued or is_constant(name) else "field"
    else:
        definition.qualified = name
        kind = "function" if kind == "method" else kind
        definition.exported |= name in exports
    definition.kind = kind
    definition.exported = family.exported(definition, parent, source)


def _absorb_typedef(definition: Definition, stack: list[Definition]) -> None:
    """`typedef struct node {...} node;` is one symbol: the struct, with the span of the statement."""
    for outer in reversed(stack):
        if outer.start != definition.start:
            break
        if outer.kind == "type" and outer.name == definition.name:
            definition.end, definition.end_row = outer.end, outer.end_row
            outer.kind, outer.end = "", outer.start

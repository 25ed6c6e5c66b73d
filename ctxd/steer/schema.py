"""The shape of a reply as a JSON schema. Pure.

The same Struct decides what is asked for and what is taken: a provider that ignores the schema changes nothing of what
is refused afterwards.
"""

from __future__ import annotations

from typing import Any

import msgspec

# What all of the three take. Bounds of texts and numbers are in words in the instruction, and checked in the reply.
_KEPT = ("type", "enum", "properties", "required", "items")
_BOUNDS = ("minItems", "maxItems")

Schema = dict[str, Any]


def of(reply: type[msgspec.Struct], *, closed: bool, bounded: bool) -> Schema:
    """Return the schema of a reply, without references.

    `closed`: objects say that they take nothing else (OpenAI demands it, Gemini does not know the word). `bounded`:
    lists say how long they may be.
    """
    (root,), named = msgspec.json.schema_components([reply], ref_template="{name}")
    return _plain(root, named, (*_KEPT, *(_BOUNDS if bounded else ())), closed)


def _plain(node: Schema, named: dict[str, Schema], kept: tuple[str, ...], closed: bool) -> Schema:
    if "$ref" in node:
        node = named[node["$ref"]]
    found = {key: value for key, value in node.items() if key in kept}
    if "enum" in found:
        found["type"] = "string"
    if "properties" in found:
        found["properties"] = {name: _plain(each, named, kept, closed) for name, each in node["properties"].items()}
        found |= {"additionalProperties": False} if closed else {}
    if "items" in found:
        found["items"] = _plain(node["items"], named, kept, closed)
    return found

"""Which family a language belongs to. Pure."""

from __future__ import annotations

from ctxd.search.edges.resolution import clang, ecma, golang, java, kotlin, other, php, python, rust, scripts
from ctxd.search.edges.resolution.family import Family

_FAMILIES = (
    *(python.FAMILY, ecma.FAMILY, golang.FAMILY, clang.FAMILY, rust.FAMILY, php.FAMILY),
    *(java.JAVA, java.CSHARP, java.DART, kotlin.KOTLIN, kotlin.SCALA, kotlin.SWIFT),
    *(scripts.RUBY, scripts.LUA, scripts.HASKELL),
)
_OF = {language: family for family in _FAMILIES for language in family.languages}


def of(language: str) -> Family:
    """Return the family of a language."""
    return _OF.get(language, other.FAMILY)


def related(one: str, other_language: str) -> bool:
    """Return whether code in one language can mean a definition in the other."""
    return one == other_language or (one in _OF and _OF.get(one) is _OF.get(other_language))

"""Kotlin, Scala and Swift: the type of a variable stands behind its name. Pure."""

from __future__ import annotations

import re

from msgspec.structs import replace

from ctxd.search.edges.resolution import other
from ctxd.search.edges.resolution.family import UNKNOWN, Clue

_PACKAGE = re.compile(r"^\s*package\s+(?!object\b)([\w.`]+)", re.MULTILINE)
_ANY_TYPE = re.compile(r"\s*[?!]?:(?!:)\s*[^\s=]")
_PARAMETER = re.compile(r"(?:[(,]|^)\s*(?:(?:@\w+|vararg|noinline|crossinline|implicit|using|_|\w+)\s+)*$")
# A pattern that takes a value apart.
_TAKEN_APART = re.compile(r"\b(?:val|var|let)\b[^=]*$")
_LAMBDA = re.compile(r"[\w\s,:?<>.]*(?:->|=>)")
_CLOSURE = re.compile(r"\{\s*(?:\[[^\]]*\]\s*)?\(?[\w\s,:]*$")
_CLOSURE_IN = re.compile(r"[\w\s,:?.)]*\bin\b")
_CONDITION = re.compile(r"\b(?:if|guard|while)\b")
_BLOCK = re.compile(r"\s*(?:,|\{|\belse\b).*$")


def package(head: str) -> str:
    """Return the package that a file declares; Scala may write it in parts."""
    found = _PACKAGE.findall(head)
    return ".".join(found).replace("`", "")


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    found = other.typed_behind(after) or other.assigned(before, after) or other.bound(before, after)
    if found is not None and found.kind == "value" and _CONDITION.search(before):
        return Clue("value", _BLOCK.sub("", found.text))
    if found is not None:
        return found
    if _ANY_TYPE.match(after) and _PARAMETER.search(before):
        return UNKNOWN
    lambdas = "{" in before and _LAMBDA.match(after)
    closes = _CLOSURE.search(before) and _CLOSURE_IN.match(after)
    return UNKNOWN if _TAKEN_APART.search(before) or lambdas or closes else None


KOTLIN = replace(
    other.FAMILY,
    languages=frozenset({"kotlin"}),
    read=read,
    package=package,
    selves=frozenset({"this"}),
    supers=frozenset({"super"}),
    extended=True,
    shared=False,
    builtins=frozenset(
        """arrayListOf arrayOf assertContains assertContentEquals assertEquals assertFails assertFailsWith assertFalse
        assertIs assertIsNot assertNotEquals assertNotNull assertNotSame assertNull assertSame assertTrue buildList
        buildMap buildSet buildString check checkNotNull emptyList emptyMap emptySet error fail hashMapOf hashSetOf
        intArrayOf lazy lazyOf linkedMapOf linkedSetOf listOf listOfNotNull mapOf maxOf minOf mutableListOf mutableMapOf
        mutableSetOf print println readLine repeat require requireNotNull run runCatching sequence sequenceOf setOf
        sortedMapOf sortedSetOf synchronized""".split()  # noqa: SIM905
    ),
    foreign=frozenset(
        """addAndGet associateBy associateWith compareAndSet compareTo containsKey decrementAndGet dropWhile endsWith
        exceptionOrNull filterIsInstance filterNot filterNotNull firstOrNull flatMap forEach forEachIndexed
        getAndDecrement getAndIncrement getAndSet getAndUpdate getOrDefault getOrElse getOrNull getOrPut getOrThrow
        groupBy hashCode incrementAndGet indexOf indexOfFirst isBlank isEmpty isNotBlank isNotEmpty isNullOrEmpty
        joinToString lastIndexOf lastOrNull mapIndexed mapNotNull mapValues onFailure onSuccess printStackTrace
        removePrefix removeSuffix singleOrNull sortedBy startsWith substringAfter substringBefore sumOf takeIf
        takeUnless takeWhile toByteArray toInt toIntOrNull toList toLong toLongOrNull toMap toMutableList toRegex toSet
        toString toTypedArray trimIndent trimMargin updateAndGet useLines withIndex""".split()  # noqa: SIM905
    ),
)
SCALA = replace(
    other.FAMILY,
    languages=frozenset({"scala"}),
    read=read,
    package=package,
    selves=frozenset({"this"}),
    supers=frozenset({"super"}),
    enclosed=True,
    shared=False,
    foreign=frozenset(
        """asInstanceOf collectFirst containsKey dropWhile endsWith filterNot flatMap foldLeft foldRight forAll foreach
        getClass getMessage getOrElse groupBy hashCode headOption indexOf isDefined isEmpty isInstanceOf isLeft
        isRight keySet lastOption mapValues mkString nonEmpty orElse reduceLeft sortBy sortWith startsWith takeWhile
        toArray toByte toDouble toFloat toInt toList toLong toLowerCase toMap toOption toRight toSeq toSet toShort
        toString toUpperCase toVector withFilter zipWithIndex""".split()  # noqa: SIM905
    ),
)
SWIFT = replace(
    other.FAMILY,
    languages=frozenset({"swift"}),
    read=read,
    selves=frozenset({"self", "Self"}),
    supers=frozenset({"super"}),
    dotted=True,
)

"""What kind of files a question is about, beside its subject. Pure; rules, no model."""

from __future__ import annotations

import re
from typing import Literal

Intent = Literal[
    "tests",
    "examples",
    "benchmarks",
    "docs",
    "config",
    "legacy",
    "generated",
    "vendored",
    "stubs",
    "translated",
    "types",
    "usage",
]

_RULES: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    (
        "tests",
        re.compile(
            r"\b(?:unit|integration|e2e|regression)[ -]tests?\b|\btests? (?:for|of|that|case)"
            r"|\btest(?:ed|s) (?:by|in)\b|\bspecs? (?:for|of)\b|\bfixtures?\b|\bmocked\b|\btest_\w|\w_test\b"
            r"|\b(?:which|what|where) .{0,40}\btests?\b|\bis .{0,60} tested\b"
        ),
    ),
    ("examples", re.compile(r"\bexamples?\b|\bdemos?\b|\bsamples?\b|\bhow (?:do|can|should) i use\b")),
    ("benchmarks", re.compile(r"\b(?:micro|macro)?bench(?:es|mark\w*)?\b")),
    (
        "docs",
        re.compile(
            r"\bdocs?\b|\bdocument(?:ed|ation)\b|\breadme\b|\bguides?\b|\btutorials?\b|\bchangelog\b"
            r"|\brelease notes\b|\bman ?pages?\b|\bcontributing\b|\blicen[sc]e\b|\.md\b|\.rst\b"
        ),
    ),
    (
        "config",
        re.compile(
            r"\bconfig(?:s|ured|uration)?\b|\bsettings?\b|\bci\b|\bworkflows?\b|\bpipelines?\b|\bdependenc(?:y|ies)\b"
            r"|\bpackage\.json\b|\bpyproject\b|\bdocker\w*\b|\bmakefile\b|\.ya?ml\b|\.toml\b|\.json\b|\.ini\b"
        ),
    ),
    ("legacy", re.compile(r"\blegacy\b|\bdeprecat\w+\b|\bcompat\w*\b|\bbackports?\b|\bold (?:api|version)\b")),
    ("generated", re.compile(r"\bgenerated\b|\bcodegen\b|\bprotobuf\b|\bsingle[ -]header\b|\bamalgamat\w+")),
    ("vendored", re.compile(r"\bvendor(?:ed)?\b|\bthird[ -]party\b|\bbundled\b")),
    # Who asks in another script wants what is written in it.
    (
        "translated",
        re.compile(
            r"\btranslat\w+|\bi18n\b|\bl10n\b|\blocali[sz]\w+|[\u0400-\u1dff\u2e80-\ud7ff\uf900-\uffdc]"
            r"|\b(?:arabic|chinese|czech|dutch|french|german|hindi|italian|japanese|korean|polish|portuguese|russian"
            r"|spanish|turkish|ukrainian|vietnamese)\b"
        ),
    ),
    ("types", re.compile(r"\btypes?\b|\btyped\b|\binterfaces?\b|\bdefinitions?\b")),
    ("stubs", re.compile(r"\btype stubs?\b|\.pyi\b|\.d\.ts\b|\btypings?\b")),
    (
        "usage",
        re.compile(
            r"\b(?:who|what|which \w+|where) .{0,60}\b(?:calls?|uses?|used|called|invoked?|imports?|imported|referenced"
            r"|instantiated)\b|\b(?:callers?|usages?|uses|references|call sites?) (?:of|to|for)\b"
        ),
    ),
)


def intents(text: str) -> frozenset[Intent]:
    """Return what `text` asks for beside its subject."""
    lower = text.lower()
    return frozenset(intent for intent, pattern in _RULES if pattern.search(lower))

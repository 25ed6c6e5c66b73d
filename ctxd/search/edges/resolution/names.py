"""Names that say too little to be linked by name alone. Pure."""

from __future__ import annotations

import re

# Methods of the built-in types and of what every program has: a receiver of unknown type is most likely one of those.
COMMON = frozenset(
    """accept add all any append apply args assert begin bind build call cancel change check clean clear clone close
    cls collect commit compare config connect contains context copy count create data date decode default delete
    describe destroy dispatch do done dump dumps each emit empty encode end enter equals error exclude execute exists
    exit extend fail fetch field fields filter find finish first flush fn format from func get get_or_create group
    handle handler has hash id index info init insert invoke is items iter join key keys kind last len length list load
    loads lock log lower main make map match merge message method model name new next node notify off on open options
    order_by order parent parse path ping pop post print process push put query raise range read ready receive reduce
    refresh register release reload remove render replace request reset resolve response result return reverse rollback
    run save search select send set set_up setdefault setup size sleep sort split start state status step stop str
    strip sub submit sync tearDown setUp teardown test text then throw time title to to_s to_string toString token
    transform trigger trim type union unlock unwrap update upper url use user validate value values view visit wait walk
    warn with wrap write startswith endswith""".split()  # noqa: SIM905
)
_TWO_WORDS = re.compile(r"[a-z0-9]_+[a-zA-Z0-9]|[a-z0-9][A-Z]|[A-Z][a-z0-9]+[A-Z]")
# A name that is defined more often than this is one that many types have.
MANY = 12


def common(name: str) -> bool:
    """Return whether a name is on the short list."""
    return name in COMMON


def telling(name: str) -> bool:
    """Return whether a name has at least two words, so that two things are hardly called that by chance."""
    return name not in COMMON and bool(_TWO_WORDS.search(name.strip("_")))

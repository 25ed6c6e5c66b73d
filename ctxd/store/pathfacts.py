"""What a path alone says of its file, as the bits of files.facts. Pure; any thread."""

from __future__ import annotations

import re

from ctxd.store.schema import EXAMPLE, GENERATED, LEGACY, STUB, TEST, VENDORED

# Both tables match whole names or words between `.`, `_` and `-`: `latest/` and `contest.py` are no tests.
_DIRECTORIES = tuple(
    (re.compile(pattern), bit)
    for pattern, bit in (
        (
            r"(?:.*[._-])?(?:tests?|specs?|unittests?|e2e)|testdata|test[_-](?:data|utils?|helpers?|lib)|testutils?"
            r"|fixtures|cypress|__(?:tests?|mocks|fixtures|snapshots)__|androidtest|integrationtest",
            TEST,
        ),
        # Programs below docs/ show how something is used; doc/ may well be the source of a documentation tool.
        (r"_?(?:examples?|samples?|demos?|tutorials?)|docs(?:[_-]src)?", EXAMPLE),
        (
            r"_?vendor(?:ed)?|third[_-]?party|3rd[_-]?party|node_modules|bower_components|jspm_packages|site-packages"
            r"|pods|carthage",
            VENDORED,
        ),
        (r"legacy|_?compat|deprecated|obsolete|attic", LEGACY),
        (r"_?generated|__generated__|autogen", GENERATED),
        (r"typeshed|stubs|typings|@types|[a-z0-9_.-]+-stubs", STUB),
    )
)

# Names as they are written: case tells UserTest.java from contest.java.
_NAMES = tuple(
    (re.compile(pattern), bit)
    for pattern, bit in (
        (
            r"tests?\.[^.]+|tests?_.*|tests?-.*(?<!\.ts)(?<!\.tsx)|conftest\.py|.*[._-](?:tests?|specs?|unittest|e2e|cy)\.[^.]+|.*\.t"
            r"|.*[a-z0-9](?:Tests?|TestCase|IT)\.(?:java|kts?|scala|groovy|swift|cs|php|mm?|dart)"
            r"|.*[a-z0-9]Spec\.(?:scala|groovy)|Test[A-Z].*\.(?:java|kt|scala|cs|php|swift)",
            TEST,
        ),
        (r"(?:example|sample|demo)s?(?:[._-].*)?|.*[_-](?:example|sample|demo)s?\.[^.]+", EXAMPLE),
        (r"(?:.*[._-])?(?:legacy|compat|deprecated)(?:[._-].*)?", LEGACY),
        (
            r".*_pb2(?:_grpc)?\.pyi?|.*\.pb(?:\.gw|\.validate)?\.(?:go|cc|h|swift)|.*_pb\.(?:js|ts|d\.ts)"
            r"|.*\.(?:g|freezed)\.dart|.*\.(?:g|designer|Designer)\.cs|.*[._-]generated\.[^.]+|generated\.[^.]+"
            r"|zz_generated.*|.*[._]gen\.[^.]+|.*\.tab\.[ch]|lex\.yy\.c|moc_.*\.cpp",
            GENERATED,
        ),
        (r".*\.pyi|.*\.d\.[cm]?ts|.*\.rbi", STUB),
    )
)


def facts(path: str) -> int:
    """Return the bits TEST, EXAMPLE, VENDORED, LEGACY, GENERATED, STUB of a worktree-relative path."""
    *directories, name = path.split("/")
    bits = 0
    for directory in directories:
        lower = directory.lower()
        for pattern, bit in _DIRECTORIES:
            if pattern.fullmatch(lower):
                bits |= bit
    # C and Elixir projects keep other people's code in deps/ at the top; deeper down it may be anything.
    if directories and directories[0] == "deps":
        bits |= VENDORED
    for pattern, bit in _NAMES:
        if pattern.fullmatch(name):
            bits |= bit
    return bits

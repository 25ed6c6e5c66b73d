"""What a path alone says of its file, as the bits of files.facts. Pure; any thread."""

from __future__ import annotations

import hashlib
import re

from ctxd.store.schema import BENCHMARK, EXAMPLE, GENERATED, LEGACY, STUB, TEST, TRANSLATED, VENDORED

# These match whole names or words between `.`, `_` and `-`: `latest/` and `contest.py` are no tests.
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
        # One header made of all of them, beside the headers themselves.
        (r"_?generated|__generated__|autogen|single[_-](?:include|header)|amalgamat(?:ed|ion)", GENERATED),
        # The plural: a folder called benchmark may well be the source of what measures.
        (r"(?:.*[.-])?benchmarks|benches|(?:micro|macro)benchmarks?", BENCHMARK),
        (r"typeshed|stubs|typings|@types|[a-z0-9_.-]+-stubs", STUB),
    )
)

# What only the outermost folder says by such a name: deeper down it may be anything.
_OUTERMOST = (
    (re.compile(r"deps"), VENDORED),  # other people's code, in C and Elixir
    (re.compile(r"man"), EXAMPLE),  # manual pages, as below docs/
)

# Languages that documents are translated into, with a region or a script.
_LANGUAGE = (
    r"(?:ar|bg|bn|ca|cn|cs|da|de|el|es|et|fa|fi|fr|he|hi|hr|hu|it|ja|jp|ko|kr|lt|lv|nb|nl|pl|pt|ro|ru|sk|sl|sr|sv|th|tr"
    r"|tw|uk|ur|vi|zh)(?:[_-](?:[a-z]{2}|han[st]|latn|cyrl|419))?"
)
_DOCUMENT = r"(?:md|mdx|markdown|rst|adoc|txt|html?)"

# What only a whole path says, after a slash and in small letters.
_PATHS = tuple(
    (re.compile(pattern), bit)
    for pattern, bit in (
        # What a front end is built to, kept beside what it is built from.
        (
            r"(?:/dist|.*/(?:priv/static|public/(?:build|packs)|app/assets/builds))/.*\.(?:[cm]?js|css|map|html)",
            GENERATED,
        ),
        (r".*/wwwroot/lib/.*", VENDORED),
        (rf".*/(?:docs?|documentation|i18n|l10n|locales?|translations?)/{_LANGUAGE}/.*\.{_DOCUMENT}", TRANSLATED),
        (rf".*/(?:readme|contributing|changelog|code_of_conduct|faq|install)[._-]{_LANGUAGE}\.{_DOCUMENT}", TRANSLATED),
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
        (r".*[._-]bench(?:marks?)?\.[^.]+|.*[a-z0-9]Benchmarks?\.(?:java|kts?|scala|groovy|swift|cs)", BENCHMARK),
    )
)


def facts(path: str) -> int:
    """Return the bits TEST, EXAMPLE, ... (schema.py) of a worktree-relative path."""
    folder, _, name = path.rpartition("/")
    directories = folder.lower().split("/") if folder else []
    bits = 0
    for directory in directories:
        for pattern, bit in _DIRECTORIES:
            if pattern.fullmatch(directory):
                bits |= bit
    for pattern, bit in _OUTERMOST if directories else ():
        if pattern.fullmatch(directories[0]):
            bits |= bit
    whole = "/" + path.lower()
    for pattern, bit in _PATHS:
        if pattern.fullmatch(whole):
            bits |= bit
    for pattern, bit in _NAMES:
        if pattern.fullmatch(name):
            bits |= bit
    return bits


def rules() -> str:
    """Return a digest of the rules by which `facts` decides: an index keeps what they said when it was filled."""
    told = [(pattern.pattern, bit) for table in (_DIRECTORIES, _OUTERMOST, _PATHS, _NAMES) for pattern, bit in table]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:8]

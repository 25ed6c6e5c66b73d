"""C and its kin: headers say what a name means, the linker finds its body."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ctxd.search.edges.resolution.family import UNKNOWN, Clue, Family
from ctxd.search.edges.resolution.tree import Tree, joined, nearest

_TYPE_BEFORE = re.compile(r"(?:^|[\s(,;{*])([A-Za-z_]\w*(?:::\w+)*)(?:<[^<>]*>)?(?:\s*[*&]+\s*(?:const\s+)?|\s+)$")
_NO_TYPE = frozenset("return goto else case sizeof delete new throw typedef struct union enum define".split())  # noqa: SIM905
_DECLARES = re.compile(r"\s*(?:$|[=;,)\[{:])(?!=)")
_POINTER = re.compile(r"\(\s*\*+\s*$")
_RESULT = re.compile(r"([A-Za-z_][\w:]*)(?:<[^<>]*>)?\s*[*&]*\s*$")
_NAME = re.compile(r"(?:(?:const|struct|unsigned|union|enum|volatile|static)\s+)*([A-Za-z_][\w:.]*)")


def files(tree: Tree, importer: str, module: str) -> Sequence[str]:
    """Return the header that an include means: beside the file first, then the nearest of that name."""
    place = joined(posixpath.dirname(importer), module)
    if place and tree.has(place):
        return (place,)
    found = tree.ending(posixpath.normpath(module).lstrip("./")) if module else []
    return nearest(found, importer)[:1]


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    if _POINTER.search(before) and after.lstrip().startswith(")"):
        return UNKNOWN
    match = _TYPE_BEFORE.search(before)
    if match is None or match.group(1) in _NO_TYPE or not _DECLARES.match(after):
        return None
    if match.group(1) in ("auto", "void", "const"):
        return UNKNOWN
    return Clue("type", match.group(1))


def result(signature: str, name: str) -> str:
    """Return the type of the result: what stands before the name."""
    head = signature.partition(f"{name}(")[0]
    match = _RESULT.search(head)
    return match.group(1) if match else ""


def plain(text: str) -> str:
    """Return the name of a type without its qualifiers."""
    match = _NAME.match(text.strip())
    return match.group(1) if match else ""


FAMILY = Family(
    languages=frozenset({"c", "cpp", "objectivec", "cuda"}),
    files=files,
    read=read,
    result=result,
    plain=plain,
    binds=lambda _: "",
    selves=frozenset({"this", "self"}),
    supers=frozenset({"super"}),
    builtins=frozenset(
        """abort accept access assert atoi atol bind calloc close connect dup dup2 exit fclose fcntl feof fflush fgets
        fopen fork fprintf fputs fread free fseek fstat ftell fwrite getenv getpid htonl htons ioctl isalpha isdigit
        isspace kill link listen lseek main malloc memchr memcmp memcpy memmove memset mkdir mmap open perror pipe poll
        pow printf pthread_create putchar puts qsort raise rand random read realloc recv remove rename round select
        send setsockopt shutdown signal sleep snprintf socket sprintf sqrt sscanf stat strcasecmp strcat strchr strcmp
        strcpy strdup strerror strlen strncasecmp strncmp strncpy strstr strtod strtol time tolower toupper unlink
        usleep va_arg va_end va_start vsnprintf wait waitpid write offsetof""".split()  # noqa: SIM905
    ),
    keywords=frozenset(
        """alignas alignof auto bool char concept const constexpr decltype default delete double enum explicit export
        extern final float friend inline int long namespace noexcept nullptr operator override register requires
        short signed sizeof static static_assert struct template this thread_local typedef typeid typename union
        unsigned using virtual void volatile wchar_t""".split()  # noqa: SIM905
    ),
    members="anywhere",
    implicit=True,
    linked=True,
)

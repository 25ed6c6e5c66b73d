"""Macros of C++ and Objective-C that break a tree, blanked: what a preprocessor would leave, at the same bytes. Pure.

Only for the parser: names, signatures and references are read from the source itself. So a wrong guess costs a
reference at most, while a class behind `class API Name final : Base` or inside `BEGIN_NAMESPACE` is found again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxd.parse.capture import Captured, Wrapper

# A name that is written as a macro, with arguments that nest twice. All is possessive: nothing is read twice.
_ARGUMENTS = rb"(?:\((?>[^()\n]|\((?>[^()\n]|\([^()\n]*\))*\))*\))"
_NAME = rb"(?>[A-Z][A-Z0-9]*_[A-Z0-9_]*+)(?!\w)"
_MACRO = rb"(?>" + _NAME + _ARGUMENTS + rb"?)"
_SHORT = rb"(?>(?>[A-Z][A-Z0-9_]{2,}+|__[a-z]\w++)(?!\w)" + _ARGUMENTS + rb"?)"
_LONE = re.compile(
    rb"^[ \t]*+" + _SHORT + rb"(?>(?:[ \t]+" + _SHORT + rb")*)[;:]?[ \t]*+(?=$|/[/*])",
    re.MULTILINE,
)
# One of these breaks a tree for certain; comments and directives that look like it do no harm.
_SIGHT = re.compile(rb"^[ \t]*+" + _MACRO + rb"[ \t]*+\n[ \t]*+[a-z~#\n/]", re.MULTILINE)
# Macros one after the other among the words of a declaration; it begins with a set, which is searched for fast.
_ANOTHER = rb"(?>[ \t]++(?>[A-Z][A-Z0-9_]++)(?!\w)" + _ARGUMENTS + rb"?)"
_RUN = re.compile(rb"[A-Z](?<!\w.)(?>[A-Z0-9_]++)(?!\w)" + _ARGUMENTS + rb"?(?>" + _ANOTHER + rb"*)[ \t]*+")
# The same over several lines, but not to the end of a file that closes no bracket.
_LONG_ARGUMENTS = rb"\((?>[^()]|\((?>[^()]|\((?>[^()]|\([^()]{0,400}\)){0,400}\)){0,400}\)){0,1000}\)"
# A condition written as a parameter of a template.
_PARAMETER = re.compile(rb"(?:,\s*|(?<=<))[A-Z][A-Z0-9_]+" + _LONG_ARGUMENTS + rb"(?=\s*[,>])")
# What the grammar does not take where the language does. Each begins with a word, which is searched for fast.
_WORDS = (
    re.compile(rb"template(?<=[.>]template)\b"),
    re.compile(rb"typename(?=\s+[\w:]+(?:<[^<>\n]*>)?::)"),
    re.compile(rb"noexcept[ ]?" + _ARGUMENTS),
    re.compile(rb"template[ \t]*<[^;{}\n]*>[ \t]*friend[ \t]+(?:class|struct)[ \t]+[\w:]+[ \t]*;"),
    re.compile(rb"(?P<kept>> class \w+)[ \t]*=[ \t]*[\w:]+(?=[ \t\n]*[,>])"),
    re.compile(rb"(?P<kept>public|private|protected)[ \t]+(?:slots|Q_SLOTS)\b"),
    re.compile(rb"(?:signals|Q_SIGNALS)[ \t]*:(?!:)"),
)
# A value or a type stands for what the grammar does not take there.
_DECLTYPE = re.compile(rb"\bdecltype" + _LONG_ARGUMENTS + rb"(?!\s*::)")
_EMPTY = re.compile(rb"\{\}(?=\s*[,)])")
# What is no code: between these the other patterns are applied.
_DIRECTIVE = re.compile(rb"(^[ \t]*#(?>(?:[^\\\n]|\\\n?)*))", re.MULTILINE)
_CONDITION = re.compile(
    rb"^[ \t]*#[ \t]*(?P<word>ifdef|ifndef|if|elif|elifdef|elifndef|else|endif)\b(?>(?:[^\\\n]|\\\n?)*)", re.MULTILINE
)
# Each level counts the braces below it once more.
_MAX_DEPTH = 50
_ONLY = re.compile(rb"[ \t]*+(?>(?:(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*+|__\w++)" + _ARGUMENTS + rb"?\s++)+)")
# Macros that open or close a region, or stand for members.
_NOT_OF_NEXT = re.compile(rb"BEGIN|END\b|_END|NAMESPACE|OBJECT|PUSH|POP|DISABLE|ENABLE_WARN|PRAGMA|DECLARE|DEFINE")
_CONTINUED = (b"\\\n", b"\\\r\n")
# More of them one below the other are a list of their own.
_MOST_LINES = 4
# What follows and precedes a macro in a declaration.
_WORD = re.compile(rb"[A-Za-z_]")
_NEXT = re.compile(rb"[A-Za-z_~:*&]")
_LAST = re.compile(rb"[a-z>*&\]]$")
_NOT_NEWLINE = re.compile(rb"[^\n]")
# What a macro on a line of its own cannot follow or precede: there it is a value.
_BEFORE = frozenset(b",(=+-*/|&<?!.[\\")
_AFTER = frozenset(b",)}=+-|&?.]<")


def has_macros(source: bytes) -> bool:
    """Return whether a look is enough to know that the source breaks its tree."""
    return _SIGHT.search(source) is not None


def reach(found: Captured, source: bytes, starts: Sequence[int]) -> None:
    """Let macros in front of a definition, on its line or on lines of their own, belong to it: `API int go(void)`."""
    places = {definition.start: definition.row for definition in found.definitions.values()}
    places.update((wrapper.start, wrapper.row) for wrapper in found.wrappers.values())
    for start, row in places.items():
        if start in found.wrappers or source.startswith(b"#", start):
            continue
        first, begin = row, start
        before = source[starts[row] : start]
        if before.strip():
            if not _ONLY.fullmatch(before):
                continue
            begin -= len(before.lstrip())
        while first and (line := source[starts[first - 1] : starts[first]]) and _ONLY.fullmatch(line):
            if _NOT_OF_NEXT.search(line) or source.endswith(_CONTINUED, 0, starts[first - 1]):
                break
            first -= 1
            begin = starts[first] + len(line) - len(line.lstrip())
        if begin < start and row - first <= _MOST_LINES:
            found.wrappers[start] = Wrapper(begin, first, "")


def without_macros(source: bytes) -> bytes:
    """Return the source with spaces for its macros and conditions, as long as before."""
    pieces = _DIRECTIVE.split(_without_conditions(source))
    for index in range(0, len(pieces), 2):
        text = _LONE.sub(_lone, pieces[index])
        text = _PARAMETER.sub(_blank, text)
        text = _DECLTYPE.sub(_type, text)
        for pattern in _WORDS:
            text = pattern.sub(_blank, text)
        pieces[index] = _RUN.sub(_among, _EMPTY.sub(b"0 ", text))
    return b"".join(pieces)


def _blank(match: re.Match[bytes]) -> bytes:
    kept = match.groupdict().get("kept") or b""
    return kept + _NOT_NEWLINE.sub(b" ", match.group()[len(kept) :])


def _among(match: re.Match[bytes]) -> bytes:
    """Blank macros in front of a declaration, before the name of a type, behind parameters."""
    text, (start, end) = match.string, match.span()
    run = match.group()
    before = text[max(start - 8, 0) : start]
    after = text[end : end + 2]
    spaced = run.endswith((b" ", b"\t"))
    bare = before.rstrip(b" \t")
    if before.endswith((b"class ", b"struct ")):
        blank = spaced and _WORD.match(after) is not None
    elif before.endswith(b"if "):
        blank = after.startswith(b"(") and not run.endswith(b")")
    elif b"_" not in run.partition(b"(")[0]:
        blank = False
    elif not bare or bare.endswith((b"\n", b";", b"{", b"}")):
        blank = spaced and _NEXT.match(after) is not None
    elif before.endswith((b") ", b"const ")) and (not after or after[:1] in b"{;:=\n" or after == b"->"):
        blank = True
    else:
        blank = spaced and before.endswith(b" ") and _LAST.search(bare) is not None and _NEXT.match(after) is not None
    return _blank(match) if blank else run


def _type(match: re.Match[bytes]) -> bytes:
    return b"int" + _NOT_NEWLINE.sub(b" ", match.group()[3:])


def _lone(match: re.Match[bytes]) -> bytes:
    text = match.string
    before, after = match.start() - 1, match.end()
    while before >= 0 and text[before] in b" \t\r\n":
        before -= 1
    while after < len(text) and text[after] in b" \t\r\n":
        after += 1
    line = text[text.rfind(b"\n", 0, max(before, 0)) + 1 : before + 1].lstrip()
    comment = line.startswith(b"//") or line.endswith(b"*/")
    if before >= 0 and not comment and (text[before] in _BEFORE or text.startswith(b"return", max(before - 5, 0))):
        return match.group()
    if text[after : after + 1] == b"{" and match.group().rstrip().endswith(b")"):
        return match.group()  # the head of a test
    if text[after : after + 1] == b"}" and before >= 0 and text[before] in b";}" and b"(" in match.group():
        return _blank(match)  # the last of the members
    if after < len(text) and text[after] in _AFTER and not match.group().rstrip().endswith((b";", b":")):
        return match.group()
    return _blank(match)


def _without_conditions(source: bytes) -> bytes:
    """Blank the lines of conditions, and all branches but one where they do not stand for themselves."""
    text = bytearray(source)
    # The branches of each open condition, as half-open bytes; the last one is open.
    stack: list[list[tuple[int, int]]] = []
    for condition in _CONDITION.finditer(source):
        start, end = condition.span()
        text[start:end] = _NOT_NEWLINE.sub(b" ", condition.group())
        word = condition.group("word")
        if word.startswith(b"if"):
            stack.append([(end, end)])
        elif stack:
            branches = stack[-1]
            branches[-1] = (branches[-1][0], start)
            if word != b"endif":
                branches.append((end, end))
                continue
            stack.pop()
            if len(branches) > 1 and len(stack) < _MAX_DEPTH:
                _choose(text, branches)
    return bytes(text)


def _choose(text: bytearray, branches: list[tuple[int, int]]) -> None:
    if all(_is_whole(bytes(text[start:end])) for start, end in branches):
        return
    for start, end in branches[1:]:
        # Macros that are defined there break no tree.
        pieces = _DIRECTIVE.split(bytes(text[start:end]))
        pieces[::2] = [_NOT_NEWLINE.sub(b" ", piece) for piece in pieces[::2]]
        text[start:end] = b"".join(pieces)


def _is_whole(branch: bytes) -> bool:
    """Return whether declarations or statements end where a branch ends."""
    if branch.count(b"{") != branch.count(b"}"):
        return False
    last = branch.rstrip().rpartition(b"\n")[2].strip()
    code = last.partition(b"//")[0].rstrip()
    return not code or code.endswith((b";", b"}", b":", b"*/")) or code.startswith(b"#") or code.isupper()

"""CMake by its commands: functions, macros, targets, tests, variables; what it includes and calls. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from ctxd.model import Import
from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.families.family import is_constant
from ctxd.parse.readers.outline import Entry, Mention, comment_above, comment_text, line_text, outline
from ctxd.parse.symbols import line_starts

# Everything that can hold a bracket without opening one, the brackets, and the words between.
_TOKEN = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|#?\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z)|#[^\n]*|[()]|(?:[^\s()#"\\]|\\.)+', re.S
)
_READ = re.compile(rb"\$\{([A-Z][A-Z0-9_]+)\}")
# Commands that make something with a name, and its kind.
_MAKES = {
    "function": "function",
    "macro": "macro",
    "add_executable": "module",
    "add_library": "module",
    "add_custom_target": "module",
    "project": "module",
    "add_test": "test",
    "option": "constant",
    "set": "variable",
    "cmake_dependent_option": "constant",
}
_BLOCKS = {"function": "endfunction", "macro": "endmacro"}
_ENDS = frozenset(_BLOCKS.values())
# Functions in functions; a bound for files that never end one.
_MAX_OPEN = 20
_IMPORTS = frozenset({"include", "find_package", "add_subdirectory", "pkg_check_modules"})
# Commands whose further arguments are targets.
_LINKS = frozenset({"target_link_libraries", "add_dependencies", "target_sources"})
# Words among the arguments of those that are no targets; commands that everybody uses.
_WORDS = frozenset({"PUBLIC", "PRIVATE", "INTERFACE", "LINK_PUBLIC", "LINK_PRIVATE", "debug", "optimized", "general"})
_BUILT_IN = frozenset(
    """if elseif else endif foreach endforeach while endwhile set unset list string message return file math option
    endfunction endmacro function macro project include find_package add_subdirectory add_library add_executable
    add_test add_custom_target add_custom_command install cmake_minimum_required target_include_directories
    target_link_libraries target_compile_definitions target_compile_options target_sources set_target_properties
    get_target_property set_property get_property include_directories link_directories add_definitions
    add_compile_options execute_process configure_file enable_testing mark_as_advanced get_filename_component
    cmake_parse_arguments add_dependencies find_library find_path find_program find_file enable_language cmake_policy
    set_tests_properties break continue include_guard target_compile_features block endblock""".split()  # noqa: SIM905
)


class _Command(msgspec.Struct):
    """One command: its name in small letters, its arguments without quotes, its rows, 0-based and inclusive."""

    name: str
    arguments: list[str]
    row: int
    end_row: int = 0


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return what the commands define and use."""
    lines = source.split(b"\n")
    entries: list[Entry] = []
    mentions: list[Mention] = []
    imports: list[Import] = []
    waiting: list[tuple[str, Entry]] = []
    seen: set[str] = set()
    for command in _commands(source, line_starts(lines)):
        name, arguments = command.name, command.arguments
        for place in range(len(waiting) - 1, -1, -1) if name in _ENDS else ():
            if waiting[place][0] == name:
                waiting[place][1].end_row = command.end_row
                del waiting[place:]
                break
        entry = _entry(command, lines)
        if entry.kind in ("variable", "constant"):
            if waiting or entry.name in seen:
                entry.kind = ""
            seen.add(entry.name)
        entries.append(entry)
        if name in _BLOCKS and entry.kind and len(waiting) < _MAX_OPEN:
            waiting.append((_BLOCKS[name], entry))
        if name in _IMPORTS and arguments:
            imports.append(Import(arguments[0], command.row + 1))
        elif name not in _BUILT_IN:
            mentions.append(Mention(command.name, "call", command.row))
        if name in _LINKS:
            mentions += [Mention(a, "call", command.row) for a in arguments[1:] if a not in _WORDS and "$" not in a]
    for row, line in enumerate(lines):
        if b"${" in line:
            mentions += [Mention(name.decode(), "constant", row) for name in _READ.findall(line)]
    return outline(lines, entries, mentions, imports)


def _entry(command: _Command, lines: Sequence[bytes]) -> Entry:
    """Return what a command makes; one of kind "" when it makes nothing that has a name."""
    row = command.row
    kind = _MAKES.get(command.name, "") if command.arguments else ""
    name = command.arguments[0] if kind else ""
    if kind == "test" and name == "NAME":
        name = command.arguments[1] if len(command.arguments) > 1 else ""
    if kind == "variable" and is_constant(name):
        kind = "constant"
    if kind == "module" and "ALIAS" in command.arguments[1:2]:
        kind = "type"
    first = comment_above(lines, row, (b"#",))
    doc = comment_text(lines, first, row)
    if command.name.endswith("option") and len(command.arguments) > 1:
        doc = doc or command.arguments[1]
    return Entry(kind, name, row, command.end_row, first, line_text(lines[row]), doc)


def _commands(source: bytes, starts: Sequence[int]) -> Iterator[_Command]:
    """Yield the commands of a file, with their arguments down to any depth of brackets."""
    depth = 0
    word, word_start = b"", 0
    command: _Command | None = None
    for token in _TOKEN.finditer(source):
        text = token.group()
        if text[:1] == b"#":
            continue
        if text == b"(":
            if depth == 0 and word:
                row = bisect_right(starts, word_start) - 1
                command = _Command(word.decode("utf-8", "replace").lower(), [], row)
            depth += command is not None
        elif text == b")":
            depth -= command is not None
            if command is not None and depth == 0:
                command.end_row = bisect_right(starts, token.start(), command.row) - 1
                yield command
                command = None
        elif command is not None:
            command.arguments.append(text.strip(b'"').decode("utf-8", "replace"))
        word, word_start = text, token.start()

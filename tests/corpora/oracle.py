"""Where names are defined, by programs that are not ours: Python's own `ast`, and Universal Ctags for C.

A name counts as having one definition when the oracle knows exactly one place for it.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

Places = dict[str, set[tuple[str, int]]]

# Functions, structs, unions, enums, typedefs and macros with a body of their own; no prototypes, members or locals.
_CTAGS_KINDS = "fsugtd"


def definitions(root: Path) -> Places:
    """Return every name of functions and types below `root` with the places (path, line) that define it."""
    found: Places = defaultdict(set)
    for name, path, line in (*python_definitions(root), *c_definitions(root)):
        found[name].add((path, line))
    return found


def python_definitions(root: Path) -> Iterator[tuple[str, str, int]]:
    """Yield functions, methods and classes at any depth, but for those inside of functions: they are local."""
    for path in sorted(root.rglob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        relative = path.relative_to(root).as_posix()
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield child.name, relative, child.lineno
                if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
                    waiting.append(child)


def c_definitions(root: Path) -> Iterator[tuple[str, str, int]]:
    """Yield what Universal Ctags finds in C files; nothing where it is not installed."""
    if shutil.which("ctags") is None:
        return
    command = ["ctags", "-R", "-x", "--languages=C", f"--kinds-C={_CTAGS_KINDS}", "--langmap=C:.c.h"]
    command += ["--_xformat=%N\t%F\t%n", "."]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", check=True)
    for line in listed.stdout.splitlines():
        name, path, number = line.split("\t")
        # The map of suffixes lets templates (x.h.in) through, which are no C.
        if not name.startswith("__anon") and path.endswith((".c", ".h")):
            yield name, os.path.normpath(path), int(number)

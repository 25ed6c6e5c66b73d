"""The import table as a test, the size of modules, and what a process loads when it starts."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys

import pytest

from tests import imports

MODULES = imports.modules()
KNOWN = frozenset(MODULES)
MAX_LINES = 350


@pytest.mark.parametrize("module", sorted(MODULES))
def test_module_imports_only_what_the_table_allows(module: str) -> None:
    """Each module imports what its row allows and nothing else."""
    if not MODULES[module].read_text().strip():
        return  # an empty package imports nothing
    found = imports.imports_of(MODULES[module].read_text(), module, MODULES[module].name == "__init__.py", KNOWN)

    assert not imports.faults_of(module, found)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ctxd.watch.bad", "from ctxd.store import writer"),
        ("ctxd.scan.bad", "def f():\n    import ctxd.parse.pool"),
        ("ctxd.search.bad", "from ctxd.store.writer import Writer"),
        ("ctxd.search.question.bad", "from ctxd.store import read"),
        ("ctxd.search.edges.bad", "from ctxd.search.ranking import rank"),
        ("ctxd.search.ranking.bad", "from ctxd.search import pack"),
        ("ctxd.search.listing.bad", "from ctxd.search.ranking import rank"),
        ("ctxd.parse.worker", "import asyncio"),
        ("ctxd.parse.readers.bad", "import tree_sitter"),
        ("ctxd.parse.families.bad", "from ctxd.parse import pool"),
        ("ctxd.server", "from ctxd.worktrees import Worktrees"),
        ("ctxd.handlers", "from ctxd import main"),
        ("ctxd.render.bad", "import apsw"),
        ("ctxd.model", "import os"),
        ("ctxd.newroom", "import os"),
        ("ctxclient.fast", "import msgspec"),
        ("ctxclient.commands.bad", "def f():\n    import asyncio"),
        ("ctxclient.commands.bad", "from ctxd.store import schema"),
        ("ctxprotocol.endpoint", "import platformdirs"),
        ("ctxprotocol.bad", "from ctxclient import client"),
        ("ctxd.watch.bad", "from ..store import writer"),
    ],
)
def test_the_table_refuses_a_bad_module(module: str, source: str) -> None:
    """The checker goes red on one example of each ban."""
    known = KNOWN | {"ctxd.store.writer", "ctxd.parse.pool", "ctxd.main", "ctxclient.client"}

    assert imports.faults_of(module, imports.imports_of(source, module, False, known))


def test_late_and_typing_imports_are_told_apart() -> None:
    """What is imported inside a function or for types only does not count as imported at start."""
    source = "if TYPE_CHECKING:\n    import typing\ndef f():\n    from ctxclient import cli\n"

    found = imports.imports_of(source, "ctxclient.fast", False, KNOWN | {"ctxclient.cli"})

    assert not imports.faults_of("ctxclient.fast", found)
    assert [(each.name, each.late, each.typing) for each in found] == [
        ("typing", False, True),
        ("ctxclient.cli", True, False),
    ]


def test_no_module_is_past_the_agreed_size() -> None:
    """A module that needs more than 350 lines is two."""
    long = {name: n for name, path in MODULES.items() if (n := len(path.read_text().splitlines())) > MAX_LINES}

    assert not long


def loaded_by(statement: str) -> set[str]:
    """Return the names of the modules that a fresh interpreter has after `statement` and not before."""
    code = f"import sys, os; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_the_fast_path_loads_almost_nothing() -> None:
    """`ctx find` starts with sys, os and _socket: an interpreter's own start is what it costs."""
    assert loaded_by("import ctxclient.fast") <= {
        "_socket",
        "ctxclient",
        "ctxclient.fast",
        "ctxclient.msgpack",
        "ctxclient.plain",
        "ctxprotocol",
        "ctxprotocol.endpoint",
    }


@pytest.mark.parametrize(
    ("statement", "banned"),
    [
        (
            "import ctxclient.cli",
            (
                "ctxd",
                "asyncio",
                "apsw",
                "sqlite3",
                "rich",
                "mcp",
                "psutil",
                "tree_sitter",
                "importlib.metadata",
                "httpx",
            ),
        ),
        (
            # Only `ctx model get` uses the network.
            "import ctxclient.commands.model",
            ("ctxd", "asyncio", "httpx", "ssl"),
        ),
        (
            "import ctxd.parse.worker",
            ("asyncio", "apsw", "sqlite3", "ctxd.store", "ctxd.search", "ctxclient"),
        ),
        (
            "import ctxd.instance",
            ("asyncio", "apsw", "msgspec", "hashlib", "ctypes", "ctxd.namedpipe", "ctxd.daemon"),
        ),
    ],
)
def test_a_process_does_not_load_what_it_never_needs(statement: str, banned: tuple[str, ...]) -> None:
    """The client stays thin, and a parse worker has neither database nor event loop."""
    loaded = loaded_by(statement)

    assert not {name for name in loaded if any(imports.covers(each, name) for each in banned)}


def test_the_grammars_stay_offline() -> None:
    """Language pack 1.x downloads a grammar when it is first used: it must not come in by an upgrade."""
    assert importlib.metadata.version("tree-sitter-language-pack").split(".")[0] == "0"
    required = importlib.metadata.requires("ctxd-context") or []
    assert any(each.startswith("tree-sitter-language-pack") and "<1" in each for each in required)


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11.0 to 3.11.3 match `(...)*+` wrongly when the group can fail inside; `(?>(...)*)` means the same."""
    found = [
        f"{path.name}:{number}"
        for path in MODULES.values()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"\)[*+?]\+", line) and re.search(r"\brb?[\"']", line)
    ]
    assert not found

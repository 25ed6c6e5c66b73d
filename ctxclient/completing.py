"""What a shell may complete: file names, languages, kinds. Called by click with the words so far.

Runs in the client process, once per press of the key; starts no daemon and attaches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Items = list[CompletionItem[str]]

# The daemon knows them all; these are offered where none runs.
COMMON_LANGUAGES = (
    "bash",
    "c",
    "cpp",
    "csharp",
    "go",
    "java",
    "javascript",
    "json",
    "kotlin",
    "lua",
    "markdown",
    "php",
    "python",
    "ruby",
    "rust",
    "scala",
    "sql",
    "swift",
    "toml",
    "tsx",
    "typescript",
    "yaml",
)
# Kinds of definitions, and of references for `callers` and `callees`; the tests hold them to the daemon's.
KINDS = (
    "class",
    "constant",
    "enum",
    "environment",
    "field",
    "function",
    "interface",
    "key",
    "macro",
    "method",
    "module",
    "route",
    "section",
    "struct",
    "test",
    "trait",
    "type",
    "variable",
)
REFERENCE_KINDS = ("call", "constant", "decorator", "extends", "implements", "import", "route", "type")
# A key press does not wait for a busy daemon.
WAIT_MS = 500


def files(_context: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Let the shell complete the name of a file."""
    return _by_shell(incomplete, "file")


def directories(_context: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Let the shell complete the name of a directory."""
    return _by_shell(incomplete, "dir")


def kinds(context: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Offer the kinds that the command's --type takes."""
    return _plain(REFERENCE_KINDS if context.info_name in ("callers", "callees") else KINDS, incomplete)


def languages(_context: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Offer the languages: all that the running daemon knows, else the common ones."""
    from ctxclient.client import Garbled, Older, ask
    from ctxprotocol.errors import CtxError
    from ctxprotocol.messages import Languages

    try:
        known = ask(Languages(timeout_ms=WAIT_MS), may_start=False).out.split()
    except (CtxError, Older, Garbled, OSError):
        known = []
    return _plain(known or COMMON_LANGUAGES, incomplete)


def _by_shell(incomplete: str, what: str) -> Items:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type=what)]


def _plain(words: Iterable[str], incomplete: str) -> Items:
    from click.shell_completion import CompletionItem

    return [CompletionItem(word) for word in words if word.startswith(incomplete)]

"""The whole command line by click: the source of truth for arguments, help and completion.

Runs in the client process, for everything that the hot path leaves. Commands are loaded when they are named; errors of
any kind end here, in a line or two and an exit code.
"""

from __future__ import annotations

import difflib
import importlib
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ctxclient import failures
from ctxprotocol import endpoint

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

USAGE_CODE = 2
INTERRUPTED_CODE = 130
# How click says that a word is none of a few.
WRONG_CHOICE = re.compile(r"'([^']*)' is not one of '(.*)'")

# Name: module of ctxclient.commands, attribute, one line for `ctx --help` (which then need not load them all).
COMMANDS = {
    "query": ("search", "query", "Compile the context for a question into a token budget."),
    "find": ("search", "find", "Find ranked places for a text."),
    "symbols": ("search", "symbols", "List defined names: exact, qualified or a glob."),
    "outline": ("places", "outline", "Show the definitions of one file."),
    "callers": ("edges", "callers", "List what refers to a name, and how sure that is."),
    "callees": ("edges", "callees", "List what a definition refers to."),
    "deps": ("edges", "deps", "Show what a file imports, or what imports it."),
    "chunk": ("places", "chunk", "Show the chunk that holds a line."),
    "files": ("places", "files", "List the indexed paths."),
    "status": ("places", "status", "Show what is indexed, and how fresh it is."),
    "init": ("worktrees", "init", "Attach a directory and index it."),
    "update": ("worktrees", "update", "Bring the index up to date now."),
    "watch": ("watch", "watch", "Follow what the daemon does in a directory, live."),
    "forget": ("worktrees", "forget", "Detach a directory and delete its index."),
    "repos": ("worktrees", "repos", "List what is attached."),
    "config": ("config", "config", "Show and edit your configuration file."),
    "auth": ("auth", "auth", "Keep the keys of providers."),
    "model": ("model", "model", "Fetch, list and remove local models for search by meaning."),
    "bench": ("bench", "bench", "Measure how good and how fast answers are."),
    "daemon": ("daemon", "daemon", "Look at, start, stop or install the daemon."),
    "completion": ("completion", "completion", "Print the script that lets a shell complete ctx."),
    "doctor": ("doctor", "doctor", "Check the installation and say what to do."),
}
# What other tools call it.
MEANT = {
    "add": "init",
    "ask": "query",
    "clear": "forget",
    "delete": "forget",
    "dependencies": "deps",
    "download": "model get",
    "grep": "find",
    "help": "--help",
    "index": "update",
    "key": "auth",
    "keys": "auth",
    "list": "repos",
    "login": "auth set",
    "logs": "daemon logs",
    "ls": "files",
    "models": "model list",
    "pull": "model get",
    "refs": "callers",
    "references": "callers",
    "reindex": "update --full",
    "remove": "forget",
    "restart": "daemon restart",
    "rm": "forget",
    "search": "find",
    "settings": "config",
    "start": "daemon start",
    "stop": "daemon stop",
    "tree": "outline",
    "usages": "callers",
    "version": "--version",
}
EPILOG = """\b
Examples:
  ctx query "where is authentication handled"
  ctx find create_pool --lang python
  ctx symbols 'Pool*' --type class

The first command in a repository starts the daemon and indexes it.
Exit codes: 0 answered, 1 nothing found, 2 usage, 3 daemon not reachable, 4 repository or index unusable,
130 interrupted.
"""


class Commands(click.Group):
    """The top group: loads a command when it is named, and teaches when it does not exist."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of COMMANDS."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        found = getattr(importlib.import_module(f"ctxclient.commands.{module}"), attribute)
        assert isinstance(found, click.Command)
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Offer the commands without loading them."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=line) for name, (_, _, line) in COMMANDS.items()]
        return [each for each in found if each.value.startswith(incomplete)] or super().shell_complete(ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that `args` names; a wrong name is answered with the nearest, or with `ctx query`."""
        name = args[0]
        if name in COMMANDS:
            return name, self.get_command(ctx, name), args[1:]
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        if near or name in MEANT:
            raise Mistaken(f"no such command: {name}", f"did you mean ctx {MEANT.get(name) or near[0]}?")
        if " " in name or len(args) > 1:
            question = " ".join(args).replace('"', "'")
            raise Mistaken(f"no such command: {name}", f'to ask a question: ctx query "{question}"')
        raise Mistaken(f"no such command: {name}", f"to search for it: ctx find {name}\ncommands: ctx --help")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


class Subcommands(click.Group):
    """A group of commands below `ctx`: a wrong name is answered with the nearest."""

    def resolve_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        args: list[str],
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that `args` names."""
        if args[0] in self.commands:
            return args[0], self.commands[args[0]], args[1:]
        known = difflib.get_close_matches(args[0], self.commands, n=1) or list(self.commands)
        raise Mistaken(
            f"no such command: {self.name} {args[0]}",
            f"did you mean {' or '.join(f'ctx {self.name} {name}' for name in known)}?",
        )


class Mistaken(click.UsageError):
    """A usage error with its own advice."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@click.group(
    "ctx",
    cls=Commands,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(endpoint.VERSION, "--version", message="ctx %(version)s")
@click.option("-C", "--dir", "directory", metavar="DIR", help="Act as if started there.")
@click.pass_context
def ctx(context: click.Context, directory: str | None) -> None:
    """Answers questions about the code in this directory, for people and for coding agents."""
    context.obj = directory
    if context.invoked_subcommand is None:
        raise Mistaken("no command given", "to ask a question: ctx query TEXT\nall commands: ctx --help")


def run(argv: Sequence[str]) -> int:
    """Run `ctx` with `argv` and return its exit code; whatever goes wrong is told here."""
    try:
        result = ctx.main(list(argv), prog_name="ctx", standalone_mode=False)
    except click.UsageError as error:
        if "_CTX_COMPLETE" in os.environ:
            return USAGE_CODE  # the line is wrong so far: nothing to complete, and nobody to tell
        return failures.show("usage", _sentence(error), _advice(error), code=USAGE_CODE, argv=argv)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED_CODE
    except Exception as error:
        from ctxprotocol.errors import CtxError

        if isinstance(error, CtxError):
            return failures.show(error.error, error.message, error.hint, code=error.code, argv=argv)
        if isinstance(error, endpoint.UnsafePlace):  # there is no home directory to keep anything in
            return failures.show("endpoint_unsafe", str(error), code=failures.UNREACHABLE_CODE, argv=argv)
        return failures.unexpected(error, argv)
    return result if isinstance(result, int) else 0


def _sentence(error: click.UsageError) -> str:
    match error:
        case click.NoSuchOption(option_name=name):
            return f"no such option: {name}"
        case click.MissingParameter(param=click.Argument() as argument):
            return f"missing {argument.metavar or argument.name}"
        case click.exceptions.NoArgsIsHelpError(ctx=click.Context(command_path=path)):
            return f"no command given: {path}"
    message = error.format_message().rstrip(".")
    return message[:1].lower() + message[1:]


def _advice(error: click.UsageError) -> str:
    if isinstance(error, Mistaken):
        return error.hint
    lines = []
    if isinstance(error, click.NoSuchOption):
        lines += [f"did you mean {' or '.join(sorted(error.possibilities))}?"] if error.possibilities else []
        lines += [f"a text that begins with - goes after --: ctx find -- {error.option_name}"]
    elif isinstance(error, click.BadOptionUsage):
        lines += [f"as in {error.option_name} VALUE"]
    elif isinstance(error, click.exceptions.NoArgsIsHelpError) and error.ctx is not None:
        command = error.ctx.command
        names = command.list_commands(error.ctx) if isinstance(command, click.Group) else []
        lines += [" | ".join(f"{error.ctx.command_path} {name}" for name in names)]
    elif wrong := WRONG_CHOICE.search(error.format_message()):
        lines += [f"did you mean {near}?" for near in difflib.get_close_matches(wrong[1], wrong[2].split("', '"), 1)]
    elif "unexpected extra argument" in error.message:
        lines += ["words that belong together go in quotes"]
    if error.ctx is not None:
        lines += [error.ctx.get_usage().replace("Usage: ", "usage: "), f"more: {error.ctx.command_path} --help"]
    return "\n".join(lines)

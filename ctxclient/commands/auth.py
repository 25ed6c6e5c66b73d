"""`ctx auth`: the keys of providers. Runs in the client process; needs no daemon, and no key is ever shown."""

from __future__ import annotations

import difflib
import getpass
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ctxclient import plain, settings_file
from ctxclient.cli import Subcommands
from ctxclient.commands import options
from ctxclient.failures import printable
from ctxprotocol import endpoint, secrets, settings
from ctxprotocol.errors import CtxError, UsageFailed
from ctxprotocol.providers import KNOWN

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Where a key is, in words.
_PLACES = {"keyring": "in the system's keyring", "file": "in {path} (mode 600)"}


class ProviderName(click.ParamType):  # type: ignore[type-arg]
    """The name of a provider; `kept`: of one that has a key."""

    name = "provider"

    def __init__(self, *, kept: bool = False) -> None:
        self._kept = kept

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Offer the names."""
        from click.shell_completion import CompletionItem

        try:
            found = secrets.names(_path()) if self._kept else _names()
        except CtxError:
            return []
        return [CompletionItem(name) for name in found if name.startswith(incomplete)]


@click.group(
    "auth",
    cls=Subcommands,
    epilog=options.examples("ctx auth set openai", "ctx auth set voyage < key.txt", "ctx auth list"),
)
def auth() -> None:
    """Keep the keys of providers: set, list, remove. In the system's keyring where there is one, else a 0600 file."""


@auth.command(
    "set",
    epilog=options.examples(
        "ctx auth set openai", "ctx auth set voyage < key.txt", "ctx auth set gemini --from-env GEMINI_API_KEY"
    ),
)
@click.argument("name", type=ProviderName(), metavar="NAME")
@click.argument("rest", nargs=-1, metavar="")
@click.option("--from-env", "variable", metavar="VAR", help="Take the key from this variable of yours.")
@options.common
def set_(name: str, rest: tuple[str, ...], variable: str | None, as_json: bool, **_: Any) -> int:
    """Keep the key of a provider. Asks for it without echo, or reads one line of standard input."""
    if rest:  # not to be repeated in the message
        raise UsageFailed(
            "a key is not given as an argument: ps and the shell's history would show it",
            f"ctx auth set {printable(name)} asks for it; or pass it on standard input",
        )
    _refuse_unknown(name)
    path = _path()
    kept = secrets.keep(path, name, _key(name, variable))
    if as_json:
        return _print({"schema": 1, "name": name, "kept": kept})
    return _say(f"the key of {name} is kept {_place(kept, path)}")


@auth.command("list", epilog=options.examples("ctx auth list", "ctx auth list --json"))
@options.common
def list_(as_json: bool, **_: Any) -> int:
    """List whose keys are kept, and where; never a key."""
    path = _path()
    found = secrets.names(path)
    if as_json:
        rows = [{"name": name, "kept": kept} for name, kept in found.items()]
        return _print({"schema": 1, "path": os.fsencode(path).decode("utf-8", "backslashreplace"), "results": rows})
    if not found:
        return _say("no keys are kept; ctx auth set NAME keeps one")
    wide = max(map(len, found))
    return _say("\n".join(f"{name:<{wide}}  {_place(kept, path)}" for name, kept in found.items()))


@auth.command("remove", epilog=options.examples("ctx auth remove openai"))
@click.argument("name", type=ProviderName(kept=True), metavar="NAME")
@options.common
def remove(name: str, as_json: bool, **_: Any) -> int:
    """Forget the key of a provider."""
    path = _path()
    was = secrets.remove(path, name)
    if as_json:
        _print({"schema": 1, "name": name, "kept": None, "was": was})
        return 0 if was else 1
    if was is None:
        return plain.deliver(b"", f"ctx: no key of {printable(name)} is kept\n  ctx auth list\n".encode(), 1)
    return _say(f"the key of {name} is forgotten; it was {_place(was, path)}")


def _path() -> str:
    return secrets.path_of(settings.config_path(endpoint.state_directory(os.environ), os.environ))


def _names() -> list[str]:
    """Return the names that a key may be for: known ones, and those of the configuration. Raises ConfigInvalid."""
    where = settings.config_path(endpoint.state_directory(os.environ), os.environ)
    config = settings.parse(settings_file.read(where), where)
    own = [each.name for each in (*config.embed_providers, *config.llm_providers)]
    return list(dict.fromkeys([*(name for use in KNOWN.values() for name in use), *own]))


def _refuse_unknown(name: str) -> None:
    names = _names()
    if name not in names:
        near = difflib.get_close_matches(name, names, 1, 0.5)
        advice = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
        raise UsageFailed(
            f"no provider is called {name}", f"{advice} one of your own is named in the configuration first"
        )


def _key(name: str, variable: str | None) -> str:
    """Return the key from where the person has it. Raises UsageFailed."""
    if variable is not None:
        if not os.environ.get(variable):
            raise UsageFailed(f"{printable(variable)} is not set here")
        return os.environ[variable].strip()
    if sys.stdin.isatty():
        return getpass.getpass(f"key of {name} (not shown): ").strip()
    return sys.stdin.readline(secrets.MOST_KEY + 2).strip()


def _place(kept: str, path: str) -> str:
    return _PLACES[kept].format(path=path)


def _say(text: str) -> int:
    lines = "\n".join(printable(line) for line in text.split("\n"))
    return plain.deliver(f"{lines}\n".encode("utf-8", "backslashreplace"), b"", 0)


def _print(found: dict[str, object]) -> int:
    words = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return plain.deliver(f"{words}\n".encode("utf-8", "backslashreplace"), b"", 0)

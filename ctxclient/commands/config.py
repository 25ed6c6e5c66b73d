"""`ctx config`: the user's configuration file. Runs in the client process; needs no daemon."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from ctxclient import plain, settings_file
from ctxclient.cli import Subcommands
from ctxclient.commands import options
from ctxclient.failures import printable
from ctxclient.hub import inventory
from ctxprotocol import endpoint, models, settings
from ctxprotocol.errors import ConfigInvalid, UsageFailed
from ctxprotocol.providers import Provider, Target, resolved
from ctxprotocol.settings import KEYS, Config, Value

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

DEFAULT, FILE, ENVIRONMENT = "default", "file", "environment"


class Row(NamedTuple):
    """One key with what counts for a request from here, and where that comes from."""

    key: str
    value: Value
    default: Value
    origin: str


class KeyName(click.ParamType):  # type: ignore[type-arg]
    """The name of a configuration key."""

    name = "key"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the name. Raises UsageFailed with the nearest one."""
        if value in KEYS:
            return str(value)
        near = settings.nearest(str(value))
        raise UsageFailed(f"unknown key {value}", f"did you mean {near}?" if near else "all keys: ctx config list")

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Offer the keys."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(key) for key in KEYS if key.startswith(incomplete)]


class Group(Subcommands):
    """`ctx config` alone lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `list` as said where no word is."""
        wants_help = {"-h", "--help"} & set(args)
        return super().parse_args(ctx, args if args[:1] and (args[0][0] != "-" or wants_help) else ["list", *args])


@click.group(
    "config",
    cls=Group,
    epilog=options.examples("ctx config list", "ctx config set search.budget 2000", "ctx config unset search.budget"),
)
def config() -> None:
    """Show and edit your configuration file: get, set, unset, list, path. A running daemon takes it up by itself."""


@config.command("list", epilog=options.examples("ctx config list", "ctx config list --json"))
@options.common
def list_(as_json: bool, color: str, **_: Any) -> int:
    """List every key with its value and where that comes from: default, file, or environment."""
    rows = _rows()
    if as_json:
        return _print({"schema": 1, "path": _shown(_path()), "results": [_as_json(row) for row in rows]})
    wide = max(len(row.key) for row in rows)
    bold = plain.color(color, os.environ)
    lines = [f"{row.key:<{wide}}  {_short(row.key, row.value)}  ({_origin(row)})" for row in rows]
    lines = [
        f"\x1b[1m{line}\x1b[0m" if bold and row.origin != DEFAULT else line
        for line, row in zip(lines, rows, strict=True)
    ]
    return plain.deliver(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"), b"", 0)


@config.command("get", epilog=options.examples("ctx config get search.budget"))
@click.argument("key", type=KeyName(), metavar="KEY")
@options.common
def get(key: str, as_json: bool, **_: Any) -> int:
    """Print the value of one key; a list has one item a line."""
    row = next(row for row in _rows() if row.key == key)
    if as_json:
        return _print({"schema": 1, **_as_json(row)})
    items: tuple[object, ...] = row.value if isinstance(row.value, tuple) else (row.value,)
    return plain.deliver("".join(f"{_plain(item)}\n" for item in items).encode("utf-8", "backslashreplace"), b"", 0)


@config.command(
    "set",
    epilog=options.examples("ctx config set search.limit 10", "ctx config set index.ignore node_modules/ dist/ gen/"),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("key", type=KeyName(), metavar="KEY")
@click.argument("value", nargs=-1, required=True, metavar="VALUE")
@options.common
def set_(key: str, value: tuple[str, ...], as_json: bool, **_: Any) -> int:
    """Set one key in your file; comments, order and all else in it stay. A list takes several values."""
    return _change(key, _typed(key, value), as_json)


@config.command("unset", epilog=options.examples("ctx config unset search.limit"))
@click.argument("key", type=KeyName(), metavar="KEY")
@options.common
def unset(key: str, as_json: bool, **_: Any) -> int:
    """Remove one key from your file, so that its default counts."""
    return _change(key, None, as_json)


@config.command("path", epilog=options.examples("$EDITOR $(ctx config path)", "ctx config path"))
@options.common
def path(as_json: bool, **_: Any) -> int:
    """Print where your configuration file is, whether it exists or not."""
    where = _path()
    if as_json:
        return _print({"schema": 1, "path": _shown(where), "exists": os.path.exists(where)})
    return plain.deliver(os.fsencode(where) + b"\n", b"", 0)


def _path() -> str:
    return settings.config_path(endpoint.state_directory(os.environ), os.environ)


def _rows() -> list[Row]:
    """Return every key as it counts for a request from here. Raises ConfigInvalid, UsageFailed."""
    where = _path()
    written = settings.read(settings_file.read(where), where)
    rows = []
    for key, known in KEYS.items():
        default = Config().value(key)
        if known.variable and os.environ.get(known.variable):
            rows.append(Row(key, _from_environment(known.variable), default, ENVIRONMENT))
        else:
            rows.append(Row(key, written.get(key, default), default, FILE if key in written else DEFAULT))
    return rows


def _from_environment(variable: str) -> int:
    """Return a caller's variable, held to what the option takes whose place it stands in."""
    value = os.environ[variable].strip()
    try:
        number = int(value)
    except ValueError:
        number = 0
    if not 1 <= number <= plain.MILLION:
        raise UsageFailed(f"{variable} is {value!r}", f"it takes a number from 1 to {plain.MILLION}, or unset it")
    return number


def _typed(key: str, words: tuple[str, ...]) -> Value:
    """Return what the words of a command line stand for. Raises UsageFailed."""
    known = KEYS[key]
    if known.kind is list:
        return _providers(key, words) if known.use else _strings(key, words)
    wrong = UsageFailed(f"{key} cannot be {' '.join(words)!r}", f"it takes {known.wanted}")
    if len(words) > 1:
        raise wrong
    (word,) = words
    value: Value = word
    if known.kind is bool:
        if word.lower() not in ("true", "false"):
            raise wrong
        value = word.lower() == "true"
    elif known.kind is float:
        try:
            value = float(word)
        except ValueError:
            raise wrong from None
        value = int(value) if value.is_integer() else value
    elif known.kind is int:
        if not (word.lstrip("-").replace("_", "").isascii() and word.lstrip("-").replace("_", "").isdigit()):
            raise wrong
        value = int(word.replace("_", ""))
    if not known.allows(value):
        raise wrong
    return plain.text(value) if isinstance(value, str) else value


def _providers(key: str, words: tuple[str, ...]) -> tuple[Provider, ...]:
    try:
        return settings.listed(_items(key, words), key, "ctx config set")
    except ConfigInvalid as fault:  # it is the line that is wrong, not the file
        raise UsageFailed(fault.message.partition(": ")[2], fault.hint) from None


def _strings(key: str, words: tuple[str, ...]) -> tuple[str, ...]:
    found = _items(key, words)
    if not all(isinstance(item, str) for item in found):
        raise UsageFailed(f"{key} takes a list of strings", f"as in ctx config set {key} gen/ '*.min.js'")
    return tuple(map(str, found))


def _items(key: str, words: tuple[str, ...]) -> list[object]:
    if len(words) > 1 or not words[0].startswith("["):
        return list(map(plain.text, words))
    try:
        found: list[object] = tomllib.loads(f"x = {plain.text(words[0])}")["x"]
    except tomllib.TOMLDecodeError as fault:
        raise UsageFailed(f"{key}: {fault}", "a list is written as several words, or as TOML's [...]") from None
    return found


def _change(key: str, value: Value | None, as_json: bool) -> int:
    """Write the file where that changes it, and say what counts now."""
    where = _path()
    before = settings_file.read(where)
    after = settings_file.edited(before, key, value, where)
    if after != before:
        settings_file.write(where, after, before)
    now = Config().value(key) if value is None else value
    if as_json:
        changed = after != before
        return _print({"schema": 1, "path": _shown(where), "changed": changed, "key": key, "value": _json(now)})
    how = "the default" if value is None else f"in {printable(where)}"
    line = f"{key} is {_short(key, now)}, {how}{'' if after != before else '; it was so before'}\n"
    return plain.deliver(line.encode("utf-8", "backslashreplace"), _notes(key, now, after != before).encode(), 0)


def _notes(key: str, now: Value, changed: bool) -> str:
    known = KEYS[key]
    lines = []
    if changed and known.at_start:
        lines.append("counts when the daemon starts: ctx daemon restart")
    if known.variable and os.environ.get(known.variable):
        lines.append(f"{known.variable} is set here and goes before it")
    fetched = models.directory(endpoint.state_directory(os.environ))
    if key == "embed.model" and (lacking := inventory.lacking(str(now), fetched)):
        lines.append(" ".join(lacking))
    return "".join(f"note: {line}\n" for line in lines)


def _as_json(row: Row) -> dict[str, object]:
    found: dict[str, object] = {"key": row.key, "value": _json(row.value), "default": _json(row.default)}
    found["origin"] = row.origin
    return {**found, "variable": KEYS[row.key].variable} if row.origin == ENVIRONMENT else found


def _origin(row: Row) -> str:
    return f"environment: {KEYS[row.key].variable}" if row.origin == ENVIRONMENT else row.origin


def _json(value: Value) -> object:
    """Return a value as JSON has it; of a provider what was said of it."""
    return [msgspec.to_builtins(each) for each in value] if isinstance(value, tuple) else value


def _plain(value: object) -> str:
    if isinstance(value, Provider):
        return printable(settings_file.written(value).strip('"'))
    return printable(str(value).lower() if isinstance(value, bool) else str(value))


def _short(key: str, value: Value) -> str:
    """Return a value on one line; a long list by its first items; of providers where texts go."""
    if not isinstance(value, tuple):
        return _plain(value)
    if use := KEYS[key].use:
        goes = [_going(resolved(each, use)) for each in value if isinstance(each, Provider)]
        return ", then ".join(goes) or "(none: no texts leave this machine)"
    shown = " ".join(map(_plain, value[:4])) or "(none)"
    return f"{shown} and {len(value) - 4} more" if len(value) > 4 else shown


def _going(target: Target) -> str:
    """Return a provider with where its texts go."""
    where = "this machine" if target.local else target.host
    return printable(f"{target.name}: texts go to {where} ({target.model} at {target.endpoint})")


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _print(found: dict[str, object]) -> int:
    words = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return plain.deliver(f"{words}\n".encode("utf-8", "backslashreplace"), b"", 0)

"""The user's configuration file as text: set or remove one key, and leave every other byte as it is.

Runs in the client process, for `ctx config`. A file that cannot be used is never written. The file is cut into
statements by the TOML reader of the standard library, and an edit counts only if what it gives, read again, is the
old values with the one change: where it is not (an inline table, say), the person is asked to edit it by hand.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator

import msgspec

from ctxprotocol import endpoint, settings
from ctxprotocol.errors import ConfigInvalid
from ctxprotocol.providers import Provider
from ctxprotocol.settings import Value

# Far above any file of ours.
MAX_BYTES = 1 << 20
CLOSING = ("]", "}", '"""', "'''")


class Statement(msgspec.Struct, frozen=True):
    """One statement with its line breaks: a table's head, a key with its value, or a line with neither.

    `table` is the table of a head or that a key stands in; `key` is the whole dotted key, "" where there is none.
    """

    text: str
    table: str = ""
    key: str = ""
    head: bool = False


def read(path: str) -> str:
    """Return the file's text, "" where there is none. Raises ConfigInvalid when it is not one that can be used."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigInvalid(f"{path}: {fault}", "mend the file or move it away") from None
    if len(text) > MAX_BYTES:
        raise ConfigInvalid(f"{path} is larger than {MAX_BYTES} bytes", "mend the file or move it away")
    settings.read(text, path)
    return text


def edited(text: str, key: str, value: Value | None, path: str) -> str:
    """Return `text` with `key` set to `value`, or without it when that is None. Raises ConfigInvalid."""
    wanted = dict(settings.read(text, path))
    wanted.pop(key, None)
    if value is not None:
        wanted[key] = value
    if wanted == settings.read(text, path):
        return text
    statements = list(_statements(text))
    place = next((number for number, each in enumerate(statements) if each.key == key), None)
    if value is None:
        changed = statements[:place] + statements[place + 1 :] if place is not None else statements
    elif place is not None:
        new = Statement(_with_value(statements[place].text, written(value)))
        changed = [*statements[:place], new, *statements[place + 1 :]]
    else:
        changed = _with_key(statements, key, written(value), "\r\n" if "\r\n" in text else "\n")
    result = "".join(each.text for each in changed)
    with contextlib.suppress(ConfigInvalid):
        if settings.read(result, path) == wanted:
            return result
    raise ConfigInvalid(f"{path} writes {key} in a way that only a person can edit", "edit the file by hand")


def _statements(text: str) -> Iterator[Statement]:
    """Cut a valid file into its statements: the fewest lines from each place on that can be read alone."""
    table, held = "", ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        held += line
        # What did not end with its first line ends where one of these stands; all else need not be tried.
        if len(held) > len(line) and not any(closing in line for closing in CLOSING):
            continue
        keys = _meaning(held)
        if keys is None:
            continue
        if held.lstrip().startswith("["):
            table = keys[0]
            yield Statement(held, table, head=True)
        else:
            key = ".".join(filter(None, [table, keys[0]])) if len(keys) == 1 else ""
            yield Statement(held, table, key)
        held = ""


def _meaning(text: str) -> list[str] | None:
    """Return the keys that the statement `text` sets alone (a head: its table), None when it is not whole."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    return _named(tables)


def _named(tables: dict[str, object], prefix: str = "") -> list[str]:
    found: list[str] = []
    for name, value in tables.items():
        below = _named(value, f"{prefix}{name}.") if isinstance(value, dict) else []
        found += below or [prefix + name]
    return found


def _with_value(statement: str, value: str) -> str:
    """Return a `key = value` statement with another value; its key, spacing and comment stay.

    A known key holds no `=`. The comment begins at the first `#` before which the statement is whole.
    """
    name, _, rest = statement.partition("=")
    space = rest[: len(rest) - len(rest.lstrip(" \t"))]
    body = statement.rstrip("\r\n")
    ends = [at for at, char in enumerate(body) if char == "#" and at > len(name)]
    comment = next((at for at in ends if _meaning(body[:at]) is not None), len(body))
    kept = len(body[:comment].rstrip(" \t"))
    return f"{name}={space}{value}{statement[kept:]}"


def _with_key(statements: list[Statement], key: str, value: str, newline: str) -> list[Statement]:
    """Return the statements with a key that was not there: in its table, beside its dotted kin, or in a new table."""
    table, _, name = key.rpartition(".")
    inside = [n for n, each in enumerate(statements) if each.table == table and (each.head or each.key)]
    kin = [n for n, each in enumerate(statements) if not each.table and each.key.startswith(f"{table}.")]
    place = (inside or kin or [len(statements) - 1])[-1]
    before = statements[: place + 1]
    if before and not before[-1].text.endswith("\n"):
        before[-1] = Statement(before[-1].text + newline)
    if inside or kin:
        new = f"{name if inside else key} = {value}{newline}"
    else:
        gap = newline if before and before[-1].text.strip() else ""
        new = f"{gap}[{table}]{newline}{name} = {value}{newline}"
    return [*before, Statement(new), *statements[place + 1 :]]


def written(value: object) -> str:
    """Return a value as TOML writes it. JSON's strings are TOML's basic strings, but for DEL, which TOML escapes.

    A provider of which only the name is said is written as that, any other as an inline table.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Provider):
        said = msgspec.to_builtins(value)
        pairs = [f"{name} = {written(each)}" for name, each in said.items()]
        return f"{{ {', '.join(pairs)} }}" if len(pairs) > 1 else written(value.name)
    import json

    if isinstance(value, tuple):
        return f"[{', '.join(map(written, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def write(path: str, text: str, before: str) -> None:
    """Put `text` in the file's place in one step; `before` is what it was read as.

    A link is followed, so that a file that is kept elsewhere stays there. Raises ConfigInvalid when the file has
    changed meanwhile or cannot be written.
    """
    real = os.path.realpath(path)
    try:
        _make_room(os.path.dirname(real))
        descriptor, beside = tempfile.mkstemp(prefix=".config-", dir=os.path.dirname(real))
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(descriptor)
            with contextlib.suppress(FileNotFoundError):
                os.chmod(beside, os.stat(real).st_mode & 0o777)
            if read(path) != before:
                raise ConfigInvalid(f"{path} was changed by someone else just now", "try again")
            os.replace(beside, real)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as fault:
        raise ConfigInvalid(f"cannot write {real}: {fault.strerror or fault}", "nothing was changed") from fault


def _make_room(directory: str) -> None:
    if os.environ.get("CTX_HOME"):
        endpoint.make_private(directory)
    else:
        os.makedirs(directory, 0o700, exist_ok=True)

"""`ctx model`: the local models for search by meaning. Runs in the client process; needs no daemon.

`get` is the one command that downloads anything; the network and what it takes are loaded for it alone.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ctxclient import plain, settings_file
from ctxclient.cli import Subcommands
from ctxclient.commands import options
from ctxclient.failures import printable
from ctxclient.hub import inventory
from ctxclient.hub.inventory import DIRECTORY, HUB, PACKAGE, Row
from ctxclient.progress import Bar
from ctxprotocol import endpoint, models, secrets, settings
from ctxprotocol.errors import CtxError, UsageFailed
from ctxprotocol.models import Fetched, Named
from ctxprotocol.settings import Config

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ctxclient.hub.fetching import Outcome
    from ctxclient.hub.offer import Offer

MOST_GB = 2.0
LEAST_TIMEOUT_S = 0.1
TOKEN = "HF_TOKEN"


class ModelName(click.ParamType):  # type: ignore[type-arg]
    """OWNER/NAME[@REVISION]; those that are fetched are offered."""

    name = "model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Named:  # noqa: ARG002
        """Return what it names. Raises UsageFailed."""
        found = models.named(value) if isinstance(value, str) else value
        if not isinstance(found, Named):
            raise UsageFailed(f"{printable(str(value))} is no name of a model", "OWNER/NAME, or OWNER/NAME@REVISION")
        return found

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Offer the names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(one.name) for one in models.fetched(_where()) if one.name.startswith(incomplete)]


@click.group(
    "model",
    cls=Subcommands,
    epilog=options.examples("ctx model get BAAI/bge-small-en-v1.5", "ctx model list"),
)
def model() -> None:
    """Local models for search by meaning: get one from a hub, list, remove. Only `get` uses the network."""


@model.command(
    "get",
    epilog=options.examples(
        "ctx model get BAAI/bge-small-en-v1.5",
        "ctx model get OWNER/NAME@main --max-gb 4",
        "ctx model get OWNER/NAME --endpoint https://hub.example",
    ),
)
@click.argument("name", type=ModelName(), metavar="OWNER/NAME[@REVISION]")
@click.option("--endpoint", "hub", metavar="URL", envvar="HF_ENDPOINT", help="The hub (also HF_ENDPOINT).")
@click.option(
    "--max-gb",
    "most_gb",
    type=click.FloatRange(0, 1000, min_open=True),
    default=MOST_GB,
    metavar="N",
    help=f"Refuse a model of more GB ({MOST_GB:g}).",
)
@click.option(
    "--timeout",
    "silence_ms",
    type=options.Seconds(LEAST_TIMEOUT_S),
    metavar="S",
    help="How long the hub may be silent (30).",
)
@click.option("--ca-file", metavar="FILE", default="", help="Certificates that are trusted beside the usual ones.")
@options.common
def get(
    name: Named, hub: str | None, most_gb: float, silence_ms: int | None, ca_file: str, as_json: bool, **_: Any
) -> int:
    """Download an ONNX model from a hub, check it, and keep it. A token of yours: HF_TOKEN.

    Its graph, tokenizer and configuration are taken, nothing else of it, and nothing in it is run.
    """
    from ctxclient.hub import fetching, web

    where = _where()
    tell = _Teller(name, quiet=as_json)
    try:
        outcome = fetching.present(name, where, tell)
        if outcome is None:
            silence_s = (silence_ms or web.SILENCE_MS) / 1000
            with web.Hub(hub or web.ENDPOINT, _token(), silence_s=silence_s, ca_file=ca_file) as asked:
                tell.host = asked.host
                outcome = fetching.get(asked, name, where, round(most_gb * 1e9), tell)
    finally:
        tell.bar.clear()
    return _print(_got(outcome)) if as_json else _say(_outcome(outcome, name, where))


@model.command("list", epilog=options.examples("ctx model list", "ctx model list --json"))
@options.common
def list_(as_json: bool, **_: Any) -> int:
    """List the models of this machine: installed, fetched, and which one embed.model names."""
    where, config = _where(), _config()
    rows = inventory.rows(where, config.embed_model)
    if as_json:
        found = [{**msgspec.to_builtins(row), "licence": row.licence or None} for row in rows]
        return _print(
            {"schema": 1, "path": inventory.shown(where), "embed_model": config.embed_model, "results": found}
        )
    columns = [(row.name, _size(row.size_bytes), row.licence or "licence not told", _whence(row)) for row in rows]
    wide = [max(len(line[place]) for line in columns) for place in range(3)] if columns else []
    lines = ["  ".join([f"{cell:<{size}}" for cell, size in zip(line, [*wide, 0], strict=True)]) for line in columns]
    return plain.deliver(_text("\n".join(lines or ["no model is here"])), _text(_notes(rows, config)), 0)


@model.command("remove", epilog=options.examples("ctx model remove BAAI/bge-small-en-v1.5"))
@click.argument("name", type=ModelName(), metavar="OWNER/NAME[@REVISION]")
@options.common
def remove(name: Named, as_json: bool, **_: Any) -> int:
    """Delete a fetched model: every revision, or the one that is named. Not the one that embed.model names."""
    from ctxclient.hub import fetching, shelf

    where = _where()
    doomed = models.matching(models.fetched(where), name)
    if not doomed:
        if as_json:
            _print({"schema": 1, "removed": []})
            return 1
        return plain.deliver(b"", _text(f"ctx: {name} is not fetched\n  ctx model list"), 1)
    used = {row.path for row in inventory.rows(where, _config().embed_model) if row.in_use}
    if any(inventory.shown(one.path) in used for one in doomed):
        others = [f"ctx model remove {one.name}" for one in doomed if inventory.shown(one.path) not in used]
        raise UsageFailed(
            f"embed.model names {name}, so it is not removed",
            "\n".join(["first: ctx config unset embed.model, or set it to another (ctx model list)", *others]),
        )
    with fetching.removing(name, where):
        for one in doomed:
            shelf.disappear(one)
        shelf.sweep(where, name)
    if as_json:
        return _print({"schema": 1, "removed": [one.name for one in doomed]})
    return _say("\n".join(f"{one.name} is removed ({_size(one.size_bytes)})" for one in doomed))


class _Teller:
    """Tells a person what happens; `quiet`: nothing but the bar, and that only on a terminal."""

    def __init__(self, named: Named, *, quiet: bool) -> None:
        self._named = named
        self._quiet = quiet
        self._megabytes = -1
        self.host = ""
        self.bar = Bar()

    def offer(self, offer: Offer, kept_bytes: int) -> None:
        """Say what comes."""
        wide = max(len(piece.name) for piece in offer.pieces)
        sizes = [_size(piece.size_bytes) if piece.size_bytes >= 0 else "size not told" for piece in offer.pieces]
        kept = f", {_size(kept_bytes)} of it are here from an earlier try" if kept_bytes else ""
        head = f"{offer.named} is {offer.sha[: models.SHORT]} ({offer.licence or 'licence not told'}) at {self.host}"
        lines = [f"  {piece.name:<{wide}}  {size}" for piece, size in zip(offer.pieces, sizes, strict=True)]
        if models.POOLING not in {piece.name for piece in offer.pieces}:
            lines.append(f"  (without {models.POOLING}: the mean of the tokens' vectors is taken)")
        self._say("\n".join([f"{head}: {_size(offer.size_bytes)} to download{kept}", *lines]))

    def damaged(self, one: Fetched, file: str) -> None:
        """Say why it comes again."""
        self._say(f"{one.name} is here, but {file} is not as it was fetched; it is fetched anew")

    def waits(self) -> None:
        """Say for whom."""
        self._say(f"another ctx is at {self._named.repo}; waiting for its end")

    def progress(self, file: str, done_bytes: int, total_bytes: int) -> None:
        """Show the bar, once for each megabyte."""
        if (done := done_bytes // 10**6) != self._megabytes:
            self._megabytes = done
            self.bar.show(f"{file}, MB", done, total_bytes // 10**6)

    def _say(self, text: str) -> None:
        if not self._quiet:
            _say(text)


def _where() -> str:
    return models.directory(endpoint.state_directory(os.environ))


def _config() -> Config:
    """Return the configuration. Raises ConfigInvalid."""
    where = settings.config_path(endpoint.state_directory(os.environ), os.environ)
    return settings.parse(settings_file.read(where), where)


def _token() -> secrets.Secret | None:
    """Return the token of the caller's environment. Raises UsageFailed, without showing it."""
    value = os.environ.get(TOKEN, "").strip()
    if not value:
        return None
    try:
        secrets.check(value)
    except UsageFailed as fault:
        raise UsageFailed(f"{TOKEN}: {fault.message.replace('the key', 'it')}", fault.hint) from None
    return secrets.Secret(value, f"environment: {TOKEN}")


def _whence(row: Row) -> str:
    whence = {PACKAGE: "installed package", HUB: "fetched", DIRECTORY: "directory"}[row.origin]
    return f"{whence}; embed.model names it" if row.in_use and row.origin != PACKAGE else whence + _default(row)


def _default(row: Row) -> str:
    return "; in use, as embed.model is empty" if row.in_use else ""


def _notes(rows: list[Row], config: Config) -> str:
    """Return why none of them is used, if that is so."""
    lines = []
    if config.embed_providers:
        lines.append("vectors come from embed.providers, so no local model is used")
    elif not config.embed_enabled:
        lines.append("embed.enabled is false, so none is used")
    if config.embed_model and not any(row.in_use for row in rows):
        lacking = inventory.lacking(config.embed_model, _where())
        lines.append(" ".join(lacking) if lacking else f"embed.model names {config.embed_model}, where nothing is")
    return "\n".join(f"note: {line}" for line in lines)


def _outcome(outcome: Outcome, name: Named, where: str) -> str:
    """Return what there is now, and what to do with it."""
    one = outcome.one
    head = f"{one.name} is fetched into {one.path}" if outcome.downloaded else f"{one.name} is here: {one.path}"
    try:
        used = inventory.named(_config().embed_model, where)
    except CtxError:  # that is for another command to say
        used = None
    return f"{head}\nembed.model names it" if used == one else f"{head}\nto use it: ctx config set embed.model {name}"


def _got(outcome: Outcome) -> dict[str, object]:
    one = outcome.one
    return {
        "schema": 1,
        "name": one.name,
        "revision": one.record.sha,
        "licence": one.record.licence or None,
        "path": inventory.shown(one.path),
        "size_bytes": one.size_bytes,
        "downloaded": outcome.downloaded,
        "files": [msgspec.to_builtins(part) for part in one.record.files],
    }


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:,.1f} kB"


def _text(text: str) -> bytes:
    return "".join(f"{printable(line)}\n" for line in text.splitlines()).encode("utf-8", "backslashreplace")


def _say(text: str) -> int:
    return plain.deliver(_text(text), b"", 0)


def _print(found: dict[str, object]) -> int:
    words = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return plain.deliver(f"{words}\n".encode("utf-8", "backslashreplace"), b"", 0)

"""What would leave this machine, and where it would go: for `ctx doctor`.

Runs in the client process. Looks for keys and tries to connect; sends no text, and shows no key.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from ctxclient import settings_file
from ctxclient.finding import BAD, NOTE, OK, Check
from ctxprotocol import secrets, settings
from ctxprotocol.errors import CtxError
from ctxprotocol.providers import KNOWN, Target, Use, resolved
from ctxprotocol.settings import Config

# A host that needs longer to take a connection is of no use to a question either.
CONNECT_S = 3.0
WHAT: dict[Use, str] = {
    "embed": "the beginning of each chunk, and questions in prose",
    "llm": "with --llm the question, and names and first lines of the places found",
}
# Whose prices the daemon knows; of anybody else's somebody has to say it.
PRICED = {urlsplit(row.endpoint).hostname for row in KNOWN["embed"].values()}
NOTHING = "nothing leaves this machine: no provider is configured"


def providers(state_dir: str) -> Iterator[Check]:
    """Say for each provider what would be sent where, whether there is a key, whether anybody answers."""
    path = settings.config_path(state_dir, os.environ)
    try:
        config = settings.parse(settings_file.read(path), path)
    except CtxError:
        return  # said where the file is looked at
    keys = secrets.path_of(path)
    embed = [resolved(each, "embed") for each in config.embed_providers]
    llm = [resolved(each, "llm") for each in config.llm_providers]
    if not embed and not llm:
        yield Check("network", OK, NOTHING)
    for target in embed:
        if not config.embed_enabled:
            yield Check("provider", NOTE, f"{target.name} is not asked for vectors: embed.enabled is false")
        elif target.model != embed[0].model:
            detail = f"{target.name} is not asked: its model is {target.model}, and vectors are of {embed[0].model}"
            yield Check("provider", NOTE, detail, "vectors of two models are never mixed; name one that has the same")
        else:
            yield _spending(target, config) or _asked(target, keys)
    for target in llm:
        yield _asked(target, keys)


def _spending(target: Target, config: Config) -> Check | None:
    """Say that a provider that may cost money is not asked: nothing may be spent, or nobody knows how much it is."""
    if target.price_in == 0 or (target.local and target.price_in < 0):
        return None
    if target.price_in < 0 and target.host not in PRICED:
        detail = f"{_sends(target)}; not asked: what it costs is not known"
        return Check("provider", BAD, detail, f"price_in = USD for a million tokens, beside the name {target.name}")
    if config.embed_spend_cap_usd:
        return None
    detail = f"{_sends(target)}; not asked: it may cost money, and embed.spend_cap_usd is 0"
    return Check("provider", BAD, detail, "ctx config set embed.spend_cap_usd USD")


def _asked(target: Target, keys: str) -> Check:
    try:
        key = secrets.find(keys, target.name, target.api_key_env, os.environ)
    except CtxError as error:
        return Check("provider", BAD, f"{_sends(target)}; {error.message}", error.hint)
    if key is None and target.keyed:
        return Check("provider", BAD, f"{_sends(target)}; there is no key", f"ctx auth set {target.name}")
    said = f"key from the {key.origin}" if key is not None else "no key"
    if key is not None and key.origin.startswith("environment"):
        said += ", if the daemon's has it too"
    trouble = _connects(target)
    if trouble:
        remedy = (
            "start it, or mend its endpoint" if target.local else "is there a network? words are searched all the same"
        )
        return Check("provider", NOTE, f"{_sends(target)}; {said}; {trouble}", remedy)
    return Check("provider", OK, f"{_sends(target)}; {said}; it takes connections")


def _sends(target: Target) -> str:
    where = f"{target.host} (this machine)" if target.local else target.host
    return f"{target.name}: {WHAT[target.use]} go to {where}, model {target.model}"


def _connects(target: Target) -> str:
    """Return why there is no connection to the endpoint, "" where there is one; nothing is sent."""
    parts = urlsplit(target.endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    said = [f"port {port} cannot be reached within {CONNECT_S:g} s"]

    def attempt() -> None:
        try:
            with socket.create_connection((target.host, port), CONNECT_S):
                said[0] = ""
        except (OSError, UnicodeError) as fault:
            said[0] = f"port {port} cannot be reached ({getattr(fault, 'strerror', None) or fault})"

    # A name server that is silent takes half a minute, and nothing ends it.
    trying = threading.Thread(target=attempt, name="ctx-connects", daemon=True)
    trying.start()
    trying.join(CONNECT_S)
    return said[0]

"""Providers over the network: which are known by name, what a person may say of one, and where its texts go.

Values and pure functions. The daemon asks them, the client shows where texts would go: both by `resolved`. A table
that cannot be used is refused where it is read, with its key and the nearest name.
"""

from __future__ import annotations

import difflib
import ipaddress
from typing import Literal, cast
from urllib.parse import urlsplit

import msgspec

from ctxprotocol.errors import ConfigInvalid

# What a provider is asked for, and the first part of the key that lists those.
Use = Literal["embed", "llm"]
Wire = Literal["voyage", "openai", "gemini", "ollama"]


class Provider(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One provider as the configuration names it; "" and a negative price stand for what is known of its name.

    `kind` is the wire format, `ca_file` a file of certificates that are trusted beside the usual ones. Prices are USD
    for a million tokens. `weight` is what its vectors count beside words, 1 as the local model's.
    """

    name: str
    model: str = ""
    endpoint: str = ""
    kind: str = ""
    api_key_env: str = ""
    ca_file: str = ""
    price_in: float = -1.0
    price_out: float = -1.0
    weight: float = 1.0


class Row(msgspec.Struct, frozen=True):
    """What is known of a name: its wire format, where it is, which model it is asked for, which variable has its key.

    `keyed` says whether it refuses who has no key.
    """

    kind: Wire
    endpoint: str
    model: str = ""
    api_key_env: str = ""
    keyed: bool = False


KNOWN: dict[Use, dict[str, Row]] = {
    "embed": {
        "voyage": Row("voyage", "https://api.voyageai.com/v1", "voyage-code-3", "VOYAGE_API_KEY", True),
        "openai": Row("openai", "https://api.openai.com/v1", "text-embedding-3-small", "OPENAI_API_KEY", True),
        "ollama": Row("openai", "http://127.0.0.1:11434/v1", "nomic-embed-text"),
        "vllm": Row("openai", "http://127.0.0.1:8000/v1"),
        "lmstudio": Row("openai", "http://127.0.0.1:1234/v1", "text-embedding-nomic-embed-text-v1.5"),
    },
    "llm": {
        "gemini": Row(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta",
            "gemini-2.5-flash-lite",
            "GEMINI_API_KEY",
            True,
        ),
        "openai": Row("openai", "https://api.openai.com/v1", "gpt-4.1-mini", "OPENAI_API_KEY", True),
        "ollama": Row("ollama", "http://127.0.0.1:11434", "llama3.2"),
        "vllm": Row("openai", "http://127.0.0.1:8000/v1"),
        "lmstudio": Row("openai", "http://127.0.0.1:1234/v1"),
    },
}
# Wire formats that each use speaks.
KINDS: dict[Use, tuple[str, ...]] = {"embed": ("openai", "voyage"), "llm": ("openai", "gemini", "ollama")}
# A weight beyond this drowns the words.
_MOST_WEIGHT = 4.0


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A provider with everything filled in. `endpoint` has no closing slash; `local`: it is on this machine."""

    use: Use
    name: str
    kind: Wire
    model: str
    endpoint: str
    host: str
    local: bool
    keyed: bool
    api_key_env: str
    ca_file: str
    price_in: float
    price_out: float
    weight: float


def resolved(provider: Provider, use: Use) -> Target:
    """Return what a provider means, with what is known of its name. It has been through `read`."""
    row = KNOWN[use].get(provider.name)
    endpoint = (provider.endpoint or (row.endpoint if row else "")).rstrip("/")
    host = urlsplit(endpoint).hostname or ""
    elsewhere = row is None or (bool(provider.endpoint) and provider.endpoint.rstrip("/") != row.endpoint)
    local = is_loopback(host)
    return Target(
        use=use,
        name=provider.name,
        kind=cast(Wire, provider.kind or (row.kind if row else "")),
        model=provider.model or (row.model if row else ""),
        endpoint=endpoint,
        host=host,
        local=local,
        keyed=row is not None and row.keyed and not elsewhere,
        api_key_env=provider.api_key_env or (row.api_key_env if row and not elsewhere else ""),
        ca_file=provider.ca_file,
        price_in=provider.price_in,
        price_out=provider.price_out,
        weight=provider.weight,
    )


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine: by its number, or the one name that means nothing else."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read(item: object, use: Use, where: str) -> Provider:
    """Return the provider that an item of the list says: a name, or a table. `where` is file and key.

    Raises ConfigInvalid.
    """
    if isinstance(item, str):
        item = {"name": item}
    if not isinstance(item, dict):
        raise ConfigInvalid(f"{where} is {item!r}", "a provider is a name, or a table with name, model, endpoint, kind")
    for field in item:
        if field not in Provider.__struct_fields__:
            near = difflib.get_close_matches(str(field), Provider.__struct_fields__, 1, 0.5)
            raise ConfigInvalid(f"{where}: unknown key {field}", f"did you mean {near[0]}?" if near else _FIELDS)
    try:
        provider = msgspec.convert(item, Provider)
    except msgspec.ValidationError as fault:
        raise ConfigInvalid(f"{where}: {fault}", _FIELDS) from None
    _refuse_unknown(provider, use, where)
    _refuse_endpoint(provider, where)
    target = resolved(provider, use)
    if not target.model:
        raise ConfigInvalid(f"{where}: {provider.name} needs a model", f'{{ name = "{provider.name}", model = "…" }}')
    if not 0 <= provider.weight <= _MOST_WEIGHT:
        raise ConfigInvalid(f"{where}: weight is {provider.weight:g}", f"it takes a number from 0 to {_MOST_WEIGHT:g}")
    return provider


_FIELDS = "it takes " + ", ".join(Provider.__struct_fields__)


def _refuse_unknown(provider: Provider, use: Use, where: str) -> None:
    """Refuse a name that says nothing, and a wire format that this use does not speak."""
    known, kinds = KNOWN[use], KINDS[use]
    name = provider.name
    if not name or not name.isascii() or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise ConfigInvalid(f"{where}: {name!r} is no name", "letters, digits, - _ .")
    if name not in known and not (provider.endpoint and provider.kind):
        near = difflib.get_close_matches(name, known, 1, 0.5)
        advice = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
        raise ConfigInvalid(
            f"{where}: unknown provider {name}", f"{advice} any other needs endpoint and kind ({' or '.join(kinds)})"
        )
    if provider.kind and provider.kind not in kinds:
        raise ConfigInvalid(f"{where}: kind is {provider.kind!r}", f"it takes {' or '.join(kinds)}")


def _refuse_endpoint(provider: Provider, where: str) -> None:
    """Refuse an address that is not one, has a password in it, or would send texts readable by others."""
    if not provider.endpoint:
        return
    # No message repeats it: where it should not be, it may hold a key.
    if not all("!" <= char <= "~" for char in provider.endpoint):
        raise ConfigInvalid(
            f"{where}: endpoint holds a blank, a control character or one that is not ASCII",
            "a host with other letters is written as xn--..., a path with %XX",
        )
    nowhere = ConfigInvalid(
        f"{where}: endpoint is no address", f"as in https://host/v1, without ? and #; ctx auth set {provider.name}"
    )
    try:
        parts = urlsplit(provider.endpoint)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise nowhere from None
    if parts.username is not None or parts.password is not None:
        raise ConfigInvalid(f"{where}: endpoint holds a user name or a password", f"ctx auth set {provider.name}")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise nowhere
    if parts.scheme == "http" and not is_loopback(host):
        raise ConfigInvalid(
            f"{where}: http:// to {host} would let others read what is sent", "https://, or a host of this machine"
        )

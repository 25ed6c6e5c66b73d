"""What doctor and config say of what leaves this machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxclient import going
from ctxprotocol import settings
from ctxprotocol.providers import Provider as Voyage
from ctxprotocol.providers import resolved
from tests.remote import Provider, free_port

Run = Callable[..., subprocess.CompletedProcess[str]]
KEY = "sk-veryverysecretkey"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(lambda _: {}) as found:
        yield found


def config(state: str, text: str) -> None:
    Path(state).mkdir(0o700, exist_ok=True)
    Path(state, "config.toml").write_text(text)


def said(run: Run, **env: str) -> list[tuple[str, str, str | None]]:
    """Return what doctor says of providers: state, detail, remedy."""
    rows = json.loads(run("doctor", "--json", env={**os.environ, **env}).stdout)["results"]
    return [(row["state"], row["detail"], row["remedy"]) for row in rows if row["name"] in ("provider", "network")]


def test_without_a_provider_nothing_leaves(state: str, run: Run) -> None:
    """And both commands say so."""
    assert said(run) == [("ok", "nothing leaves this machine: no provider is configured", None)]
    listed = run("config", "list").stdout
    assert listed.count("(none: no texts leave this machine)  (default)") == 2


def test_each_provider_has_a_line_of_what_goes_where(state: str, run: Run, provider: Provider) -> None:
    """Host, model, which texts, whether there is a key and whence, whether it answers; nothing was sent."""
    config(
        state,
        f'[[llm.providers]]\nname = "house"\nkind = "openai"\nmodel = "m"\nendpoint = "{provider.url}/v1"\n'
        f'api_key_env = "HOUSE_KEY"\n[[embed.providers]]\nname = "ollama"\nendpoint = "{provider.url}/v1"\n',
    )

    embed, llm = said(run, HOUSE_KEY=KEY)

    assert embed == (
        "ok",
        "ollama: the beginning of each chunk, and questions in prose go to 127.0.0.1 (this machine), model"
        " nomic-embed-text; no key; it takes connections",
        None,
    )
    assert llm[1] == (
        "house: with --llm the question, and names and first lines of the places found go to 127.0.0.1 (this machine),"
        " model m; key from the environment: HOUSE_KEY, if the daemon's has it too; it takes connections"
    )
    assert provider.asked == []
    assert KEY not in run("doctor", env={**os.environ, "HOUSE_KEY": KEY}).stdout


def test_what_is_missing_is_said_with_what_helps(state: str, run: Run) -> None:
    """A key, a cap, a listener, a usable file of keys; a model that would be mixed in is left out."""
    here = f"http://127.0.0.1:{free_port()}/v1"
    config(
        state,
        'llm.providers = ["openai"]\nembed.providers = ["voyage", { name = "ollama", model = "voyage-code-3",'
        f' endpoint = "{here}" }}, "lmstudio"]\n',
    )

    voyage, ollama, lmstudio, openai = said(run)

    assert (voyage[0], voyage[2]) == ("bad", "ctx config set embed.spend_cap_usd USD")
    assert "api.voyageai.com" in voyage[1]
    assert ollama[0] == "note" and "cannot be reached" in ollama[1]
    assert lmstudio[0] == "note" and "vectors are of voyage-code-3" in lmstudio[1]
    assert (openai[0], openai[2]) == ("bad", "ctx auth set openai")
    Path(state, "keys.json").touch(0o644)
    os.chmod(Path(state, "keys.json"), 0o644)
    assert "lets others in (mode 644)" in said(run)[-1][1]


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ('endpoint = "https://127.0.0.2:1/v1"', ""),
        ('endpoint = "https://127.0.0.2:1/v1", price_in = 2', "embed.spend_cap_usd is 0"),
        ('endpoint = "https://vectors.invalid/v1"', "what it costs is not known"),
        ('endpoint = "https://vectors.invalid/v1", price_in = 2', "embed.spend_cap_usd is 0"),
        ('endpoint = "https://vectors.invalid/v1", price_in = 0', ""),
        ('endpoint = "https://api.openai.com/v1"', "embed.spend_cap_usd is 0"),
    ],
)
def test_who_may_cost_money_is_said_not_to_be_asked(said: str, detail: str) -> None:
    """As the daemon decides: by what is said of the price, by the place, and by the cap."""
    text = f'embed.providers = [{{ name = "house", kind = "openai", model = "m", {said} }}]\n'
    config = settings.parse(text, "c.toml")
    target = resolved(config.embed_providers[0], "embed")

    found = going._spending(target, config)

    assert (found is not None) == bool(detail)
    assert found is None or (found.state == "bad" and detail in found.detail)
    capped = going._spending(target, settings.parse(f"{text}embed.spend_cap_usd = 1\n", "c.toml"))
    assert (capped is not None) == (detail == "what it costs is not known")


def test_switched_off_says_so(state: str, run: Run) -> None:
    """A provider that is named is not asked."""
    config(state, 'embed.enabled = false\nembed.providers = ["ollama"]\n')
    assert said(run) == [("note", "ollama is not asked for vectors: embed.enabled is false", None)]


def test_config_takes_names_and_tables_and_says_where_texts_go(state: str, run: Run) -> None:
    """Each of them can be read, changed and given back; a wrong one is refused and nothing is written."""
    done = run("config", "set", "llm.providers", "gemini", "ollama")
    assert done.stdout == (
        "llm.providers is gemini: texts go to generativelanguage.googleapis.com (gemini-2.5-flash-lite at"
        " https://generativelanguage.googleapis.com/v1beta), then ollama: texts go to this machine (llama3.2 at"
        f" http://127.0.0.1:11434), in {state}/config.toml\n"
    )
    assert Path(state, "config.toml").read_text() == '[llm]\nproviders = ["gemini", "ollama"]\n'
    table = '{ name = "house", model = "m", endpoint = "https://llm.example/v1", kind = "openai" }'
    assert run("config", "set", "llm.providers", f'[{table}, "openai"]').returncode == 0
    got = run("config", "get", "llm.providers").stdout
    assert got == f"{table}\nopenai\n"
    row = json.loads(run("config", "get", "llm.providers", "--json").stdout)
    assert [each["name"] for each in row["value"]] == ["house", "openai"]
    wrong = run("config", "set", "llm.providers", "gemni")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (
        2,
        "ctx: llm.providers, number 1: unknown provider gemni",
    )
    assert "did you mean gemini?" in wrong.stderr
    assert run("config", "get", "llm.providers").stdout == got


def test_an_edit_of_another_key_keeps_the_tables(state: str, run: Run) -> None:
    """Also those that a person wrote with heads and comments."""
    text = '# mine\n[[llm.providers]]\nname = "gemini"  # first\n\n[[llm.providers]]\nname = "ollama"\n'
    config(state, text)

    assert run("config", "set", "llm.timeout_s", "4").returncode == 0
    assert run("config", "set", "embed.spend_cap_usd", "0.5").returncode == 0

    after = Path(state, "config.toml").read_text()
    assert after.startswith(text)
    assert run("config", "get", "llm.providers").stdout == "gemini\nollama\n"
    assert run("config", "get", "llm.timeout_s").stdout == "4\n"
    refused = run("config", "set", "llm.providers", "openai")
    assert refused.returncode == 4 and "only a person can edit" in refused.stderr
    assert Path(state, "config.toml").read_text() == after


def test_a_silent_name_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can end such a question; doctor goes on without it."""
    go = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: go.wait(60) and [])
    monkeypatch.setattr(going, "CONNECT_S", 0.3)
    began = time.monotonic()
    try:
        said = going._connects(resolved(Voyage(name="voyage"), "embed"))
    finally:
        go.set()
    assert said == "port 443 cannot be reached within 0.3 s"
    assert time.monotonic() - began < 5

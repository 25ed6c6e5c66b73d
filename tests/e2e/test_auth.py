"""Keys, whole: kept by the client, used by the daemon, in a keyring or in the file, changed while the daemon runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home
from tests.processes import wait_until
from tests.remote import Provider, embeddings
from tests.tree import Tree

KEY, OTHER = "sk-veryverysecretkey", "sk-another"
# A keyring in a file of its own, found by the package `keyring` through its own configuration.
RING = """
import json, pathlib
from keyring.backend import KeyringBackend

FILE = pathlib.Path(__file__).with_name("held.json")

class Ring(KeyringBackend):
    priority = 9

    def _held(self):
        return json.loads(FILE.read_text()) if FILE.exists() else {}

    def set_password(self, service, username, password):
        FILE.write_text(json.dumps({**self._held(), f"{service}/{username}": password}))

    def get_password(self, service, username):
        return self._held().get(f"{service}/{username}")

    def delete_password(self, service, username):
        FILE.write_text(json.dumps({k: v for k, v in self._held().items() if k != f"{service}/{username}"}))
"""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(embeddings(lambda text: [float(len(text)), 1.0, -1.0])) as found:
        yield found


@pytest.fixture
def ring(ctx: Home) -> Path:
    """The keyring of this test's user."""
    del ctx.env["PYTHON_KEYRING_BACKEND"]
    place = Path(ctx.place, "ring")
    place.mkdir()
    (place / "test_ring_of_ctx.py").write_text(RING)
    settings = Path(ctx.user_home, ".config/python_keyring/keyringrc.cfg")
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[backend]\ndefault-keyring=test_ring_of_ctx.Ring\nkeyring-path={place}\n")
    return place / "held.json"


def use(ctx: Home, repo: Tree, provider: Provider) -> None:
    """Have the daemon ask the provider for the vectors of a small repository."""
    table = f'[{{ name = "openai", model = "m", endpoint = "{provider.url}/v1", api_key_env = "HOUSE_KEY" }}]'
    assert ctx.run("config", "set", "embed.providers", table, cwd="/").returncode == 0
    repo.write("a.py", "def one():\n    pass\n")
    ctx.run("find", "one", cwd=repo.root)


def keys(provider: Provider) -> list[str]:
    return [asked.headers.get("authorization", "") for asked in provider.asked]


def test_a_keyring_serves_client_and_daemon(ctx: Home, ring: Path, repo: Tree, provider: Provider) -> None:
    """The key is in the keyring alone; removed there it is gone for both."""
    assert ctx.run("auth", "set", "openai", input=KEY, cwd="/").stdout.endswith("in the system's keyring\n")
    use(ctx, repo, provider)
    wait_until(lambda: len(provider.asked) > 1, 20, "vectors")

    assert set(keys(provider)) == {f"Bearer {KEY}"}
    assert KEY in ring.read_text()
    assert KEY not in Path(ctx.path, "keys.json").read_text()
    assert "key from the keyring" in ctx.run("doctor", cwd="/").stdout
    assert "it was in the system's keyring" in ctx.run("auth", "remove", "openai", cwd="/").stdout
    assert KEY not in ring.read_text()


def test_another_key_counts_from_the_next_request_on(ctx: Home, repo: Tree, provider: Provider) -> None:
    """Without a restart; a kept key goes before the variable, and what others can read is not used."""
    ctx.env["HOUSE_KEY"] = "from-the-environment"
    use(ctx, repo, provider)
    wait_until(lambda: len(provider.asked) > 1, 20, "vectors")
    for number, key in enumerate((KEY, OTHER)):
        ctx.run("auth", "set", "openai", input=key, cwd="/")
        ctx.run("find", f"what is this about, {number}", "--semantic", cwd=repo.root)
    ctx.run("auth", "remove", "openai", cwd="/")
    ctx.run("find", "what is this about, then", "--semantic", cwd=repo.root)
    asked = keys(provider)
    ctx.run("auth", "set", "openai", input=KEY, cwd="/")
    Path(ctx.path, "keys.json").chmod(0o644)
    refused = ctx.run("find", "what is this about, now", "--semantic", cwd=repo.root)

    environment = "Bearer from-the-environment"
    assert asked[0] == asked[1] == environment
    assert asked[-3:] == [f"Bearer {KEY}", f"Bearer {OTHER}", environment]
    assert "lets others in (mode 644)" in refused.stderr
    assert keys(provider) == asked

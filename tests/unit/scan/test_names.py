"""Names that decide by themselves: secrets, lock files, and the many spellings of an origin."""

from __future__ import annotations

import pytest

from ctxd.scan.lockfiles import is_lock_file
from ctxd.scan.origin import normalised
from ctxd.scan.secrets import is_secret

SECRET = """
.env .env.local .env.production app/.env .envrc .ENV prod.env deploy/staging.env .env.bak .env~ .env.swp ..env.swp
server.pem a/b/tls.KEY id_rsa id_rsa.bak .ssh/id_ed25519 id_ecdsa_work cert.p12 cert.pfx app.jks debug.keystore
AuthKey_1.p8 vault.kdbx .netrc _netrc .npmrc web/.npmrc .pypirc .git-credentials .htpasswd .pgpass
.aws/credentials home/.aws/config .docker/config.json .kube/config kubeconfig prod.kubeconfig
application_default_credentials.json credentials.json client_secret_123.apps.json my-service-account.json
service_account.json gcp-prod.json .config/gcloud/credentials.db .azure/accessTokens.json x/.cargo/credentials.toml
.netrc~ .dockercfg terraform.tfstate prod.tfstate.bak
"""

HARMLESS = """
.env.example .env.sample .env.template id_rsa.pub env.py environment.ts keys.py key.go .envision/readme.md
credentials.py src/config.json config aws/config docker/config.json credentials src/credentials
service_account.go package.json monkey.json pem.c README locales/en/auth.json client.json src/key netrc
a.swp b~ .gitignore x.example
"""


@pytest.mark.parametrize("path", SECRET.split())
def test_the_name_of_a_secret_is_known(path: str) -> None:
    """A file of this name is never opened."""
    assert is_secret(path)


@pytest.mark.parametrize("path", HARMLESS.split())
def test_a_harmless_name_is_not_taken_for_a_secret(path: str) -> None:
    """A file of this name is indexed like any other; `.envision` is a directory here."""
    assert not is_secret(path)


LOCKS = (
    "package-lock.json yarn.lock pnpm-lock.yaml poetry.lock Pipfile.lock Cargo.lock Gemfile.lock composer.lock go.sum "
    "uv.lock bun.lockb flake.lock Package.resolved npm-shrinkwrap.json"
)


@pytest.mark.parametrize("name", LOCKS.split())
def test_lock_files_are_known_by_name(name: str) -> None:
    """Package managers write these for themselves."""
    assert is_lock_file(name)


@pytest.mark.parametrize("name", ["lock.py", "package.json", "deadlock.md", "go.mod", "file.lock", "lock"])
def test_a_name_with_lock_in_it_is_no_lock_file(name: str) -> None:
    """Only names that package managers use count."""
    assert not is_lock_file(name)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/shop.git",
        "https://github.com/acme/shop",
        "https://user:token@github.com/acme/shop.git/",
        "https://GitHub.com:443/acme/shop",
        "git@github.com:acme/shop.git",
        "github.com:acme/shop",
        "ssh://git@github.com/acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git",
        "git://github.com/acme/shop.git",
    ],
)
def test_one_repository_has_one_name(url: str) -> None:
    """Its clones by ssh, https and git share an index to start from; no password gets into the name."""
    assert normalised(url) == "github.com/acme/shop"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("", ""),
        ("/srv/git/shop.git", "/srv/git/shop"),
        ("file:///srv/git/shop.git", "/srv/git/shop"),
        ("../shop", "../shop"),
        ("ssh://git@host:2222/a.git", "host:2222/a"),
        ("https://host/", "host/"),
    ],
)
def test_other_origins_keep_what_tells_them_apart(url: str, name: str) -> None:
    """Local paths and odd ports stay."""
    assert normalised(url) == name

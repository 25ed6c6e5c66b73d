"""Names of files that are never opened: whatever they hold must be in no table, log or answer. Pure.

Names only: tokens inside other files are masked where text is read.
"""

from __future__ import annotations

import re

_SUFFIX_WORDS = "pem key p12 pfx pkcs12 p8 ppk jks jceks bks keystore keytab kdb kdbx ovpn env kubeconfig tfstate"
_NAME_WORDS = """
    .netrc _netrc .npmrc .pypirc .git-credentials .htpasswd .pgpass .my.cnf .mylogin.cnf .dockercfg .vault-token
    .boto .s3cfg kubeconfig kubeconfig.yaml kubeconfig.yml credentials.json credentials.tfrc.json
    application_default_credentials.json
"""
_SUFFIXES = frozenset(_SUFFIX_WORDS.split())
_NAMES = frozenset(_NAME_WORDS.split())
# Names that mean nothing elsewhere, with the folders in which they hold credentials.
_IN_FOLDER = {
    "credentials": (".aws", ".gem", ".cargo"),
    "credentials.toml": (".cargo",),
    "config": (".aws", ".kube", ".oci"),
    "config.json": (".docker",),
    "auth.json": (".composer", "containers"),
    "accesstokens.json": (".azure",),
    "azureprofile.json": (".azure",),
    "msal_token_cache.json": (".azure",),
    "credentials.db": ("gcloud",),
    "access_tokens.db": ("gcloud",),
    "hosts.yml": ("gh",),
}
_PREFIXES = (".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
_HARMLESS = (".example", ".sample", ".template", ".pub")
# Keys that Google hands out as files named by the project.
_CLOUD_KEY = re.compile(r"(client[-_]?secret|(.*[-_.])?service[-_]?account|gcp|gcloud)([-_.].*)?\.json$")
_COPIES = ("~", ".bak", ".orig", ".old", ".save", ".swp", ".swo")


def is_secret(path: str) -> bool:
    """Say whether the file's name is that of a key, a token file or an environment file, or of a copy of one."""
    cut = path.rfind("/") + 1
    name = path[cut:].lower()
    if name.endswith(_COPIES):
        name = _original(name)
    if name in _NAMES or ("." in name and name[name.rfind(".") + 1 :] in _SUFFIXES):
        return True
    if name.startswith(_PREFIXES):
        return not name.endswith(_HARMLESS)
    if name in _IN_FOLDER:
        folder = path[path.rfind("/", 0, max(cut - 1, 0)) + 1 : max(cut - 1, 0)].lower()
        return folder in _IN_FOLDER[name]
    return name.endswith(".json") and _CLOUD_KEY.match(name) is not None


def _original(name: str) -> str:
    """Return the name of the file that an editor's copy or swap file was made of."""
    while name.endswith(_COPIES):
        swap = name.endswith((".swp", ".swo"))
        for ending in _COPIES:
            name = name.removesuffix(ending)
        # vim puts one dot before the name: `.x.swp` for `x`, `..env.swp` for `.env`.
        if swap and not name.startswith(_PREFIXES):
            name = name.removeprefix(".")
    return name

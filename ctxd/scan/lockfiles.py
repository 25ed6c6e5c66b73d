"""Names of files that package managers write for themselves. Pure."""

from __future__ import annotations

_NAME_WORDS = """
    package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum go.work.sum packages.lock.json
    conda-lock.yml conda-lock.yaml package.resolved cartfile.resolved stack.yaml.lock gradle.lockfile
    buildscript-gradle.lockfile .terraform.lock.hcl module.bazel.lock cabal.project.freeze project.assets.json
    .pnp.cjs .pnp.loader.mjs
"""
# Lock files of the form NAME.lock; other `.lock` files are looked at like any text.
_LOCKED_WORDS = """
    yarn poetry pipfile cargo gemfile gems composer uv pdm pixi bun deno flake mix pubspec podfile rebar shard paket
    pylock renv chart buf berksfile mint symfony
"""
_NAMES = frozenset(_NAME_WORDS.split())
_LOCKED = frozenset(_LOCKED_WORDS.split())


def is_lock_file(name: str) -> bool:
    """Say whether a file of this name (without folders) is a lock file."""
    lower = name.lower()
    if lower.endswith(".lock"):
        return lower[:-5] in _LOCKED or lower in _NAMES
    return lower in _NAMES or (lower.startswith("pylock.") and lower.endswith(".toml"))

"""What of this program decides the outcome of parsing, as one digest. Asked by the worker and by the daemon."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec

from ctxd import model, packing, tokens, words


def fingerprint() -> bytes:
    """Return a digest of all that turns bytes into facts: our own sources, and which grammars are installed.

    It is part of every cache key, so that no entry of another version is ever taken; costs about a
    millisecond.
    """
    digest = hashlib.sha256()
    here = os.path.dirname(os.path.abspath(__file__))
    places = [module.__file__ or "" for module in (model, packing, tokens, words)]
    for directory, _, names in sorted(os.walk(here)):
        places.extend(os.path.join(directory, name) for name in sorted(names) if name.endswith((".py", ".scm")))
    for place in places:
        with open(place, "rb") as file:
            digest.update(file.read())
    grammars = find_spec("tree_sitter_language_pack")
    if grammars is not None and grammars.origin is not None:
        packages = os.listdir(os.path.dirname(os.path.dirname(grammars.origin)))
        digest.update("\n".join(sorted(n for n in packages if n.startswith("tree_sitter"))).encode())
    return digest.digest()

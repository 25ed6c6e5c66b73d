"""The text of a chunk that is embedded: what it is, before what it does. Pure.

Where it is (the last directories and the stem of its path), whose and what it is, its doc comment's first words, then
its code; identifiers as the words that they are made of. Only the beginning counts: a model looks at so many tokens.
"""

from __future__ import annotations

import hashlib

from ctxd import words
from ctxd.embed.model import Model
from ctxd.store.filling import Passage

# Bytes of code for each token that a model looks at: what is not a word is left out, and does not count.
_BYTES = 14
# Of the doc comment no more than this: the code says what the rest of it does.
_DOC = 300


def longest(model: Model) -> int:
    """Return how many bytes of a chunk's code can matter to a model."""
    return model.max_tokens * _BYTES


def passage(of: Passage) -> str:
    """Return the text that stands for a chunk."""
    *folders, name = of.path.split("/")
    stem = name[: name.index(".", 1)] if "." in name[1:] else name
    # The code of a part begins somewhere in the middle of its definition.
    signature = of.signature if of.kind == "part" else ""
    said = (" ".join([*folders[-2:], stem]), of.parent, of.name, of.doc[:_DOC], signature, of.code)
    return ". ".join(filter(None, map(plain, said)))


def plain(text: str) -> str:
    """Return a text as words in small letters, identifiers as their parts."""
    return " ".join([part for word in words.WORD.findall(text) for part in words.parts(word[: words.MAX_WORD])])


def key(model: Model, text: str) -> bytes:
    """Return the name of a text's vector in the machine's cache."""
    said = f"{model.name}\0{model.max_tokens}\0{model.passage_prefix}\0{text}"
    return b"vector" + hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()

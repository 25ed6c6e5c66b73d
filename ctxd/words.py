"""How text becomes words, the same way for what is indexed and for what is asked. Pure; any thread or process.

A compound identifier is indexed as itself followed by its parts (`getUserById` -> getUserById get user by id), so that
whole names, single words and the phrase of the parts all match. Runs of CJK text are followed by their bigrams, and by
what stands between them without a blank, since the tokenizer would keep all of it as one word.
"""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")
# Acronym before a capitalised word, capitalised word, acronym, lower run, digits, anything else that is a letter.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
# A word longer than this is data (base64, a hash), of no use to a reader and costly to split.
MAX_WORD = 80


def parts(identifier: str) -> list[str]:
    """Return the lower-case parts of an identifier: HTTPServerPool2 -> http, server, pool, 2; prüfeGröße likewise."""
    if identifier.isascii() or _CJK.search(identifier):
        return [part.lower() for part in _PART.findall(identifier)]
    # The pattern knows the case of ASCII letters only: it is put to a word of the same shape.
    shape = "".join(char if char.isascii() else "A" if char.isupper() else "a" for char in identifier)
    return [identifier[part.start() : part.end()].lower() for part in _PART.finditer(shape)]


def bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of a CJK run; a single character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def pieces(word: str) -> list[str]:
    """Return what a word with CJK text is found by, in order: bigrams of its runs, parts of what is between them.

    Empty for a word without any.
    """
    runs = _CJK.findall(word)
    if not runs:
        return []
    found = [parts(between) for between in _CJK.split(word)]
    for at, run in enumerate(runs):
        found[at] += bigrams(run)
    return [piece for group in found for piece in group]


class _Expansions(dict[str, str]):
    """Word -> what is indexed for it. Remembers, because code repeats its words.

    Each process has one. 16,384 words are 2 MB at most and as quick as 200,000, which are 27 MB: measured on 4 million
    words of Python, 8 in 100 are new to it instead of 5.
    """

    LIMIT = 16_384

    def __missing__(self, word: str) -> str:
        if len(self) >= self.LIMIT:
            self.clear()
        self[word] = value = _expand_word(word)
        return value


def _expand_word(word: str) -> str:
    if len(word) > MAX_WORD:
        return word[:MAX_WORD]
    if word.isascii():
        if word.isalpha() and (word.islower() or word.isupper() or word[1:].islower()):
            return word
    elif found := pieces(word):
        return " ".join([word, *(piece for piece in found if piece != word)])
    split = parts(word)
    if len(split) < 2 and (not split or split[0] == word.lower()):
        return word
    return " ".join([word, *split])


_expansions = _Expansions()


def expand(text: str) -> str:
    """Return `text` as the words that the full-text index takes, in order, identifiers followed by their parts."""
    return " ".join(map(_expansions.__getitem__, WORD.findall(text)))

"""Secrets that stand inline in text, replaced by as many `*`. Pure; runs in a parse worker.

Runs before anything else sees the text: no symbol, chunk, word or cache entry is made from what is masked here. Only
ASCII characters are replaced, one for one, so lines, columns and byte offsets stay. Conservative: a format that its
issuer made recognisable, or a value of high entropy that is assigned to a name that says secret.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

# Formats that can be told by themselves: what must occur for the pattern to be tried at all, and the pattern. The
# group `s`, where there is one, is the part to hide.
_FORMATS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("AKIA", "ASIA"), re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b")),
    (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b"),
    ),
    (("glpat-",), re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}")),
    (("xox", "xapp-"), re.compile(r"\b(?:xox[abeoprs]|xapp)-(?:[A-Za-z0-9]+-)+[A-Za-z0-9]{10,}\b")),
    (("hooks.slack.com/",), re.compile(r"hooks\.slack\.com/services/(?P<s>T\w{6,}/B\w{6,}/\w{20,})")),
    (("k_live_", "k_test_", "whsec_"), re.compile(r"\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{20,}\b")),
    (("AIza",), re.compile(r"\bAIza[A-Za-z0-9_-]{35}(?![\w-])")),
    (("ya29.",), re.compile(r"\bya29\.[A-Za-z0-9_-]{30,}")),
    (("sk-",), re.compile(r"sk-(?<!\wsk-)(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{32,}(?![\w-])")),
    (("npm_",), re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    (("pypi-",), re.compile(r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}")),
    (("hf_",), re.compile(r"\bhf_[A-Za-z0-9]{34,}\b")),
    (("SG.",), re.compile(r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![\w-])")),
    (("eyJ",), re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}")),
    (
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?P<s>[A-Za-z0-9+/=\s\\\"',:-]{40,8000}?)"
            r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY"
        ),
    ),
    (
        ("://",),
        re.compile(
            r"://[^\s/:@\"'`<>{}$%()\[\],\\]{0,64}:"
            r"(?!(?:pass|passwd|password|secret|token)\b)(?P<s>[^\s/:@\"'`<>{}$()\[\],\\*]{6,100})@"
        ),
    ),
)

# Names of secrets, as they end: what is looked for is one of these words in any case, then `_VALUE` right behind it.
_NAMES = (
    *("password", "passwd", "passphrase", "_pwd", "secret", "token", "credential", "credentials"),
    *("apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "authkey", "auth_key"),
    *("privatekey", "private_key", "secretkey", "secret_key", "secret-key", "signing_key", "encryption_key"),
)
# `=`, `:`, `=>` or `:=`, and a quoted value or, at the end of its line, a bare one.
_VALUE = re.compile(
    r"[\"']?\]?[ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8}"
    r"(?:(?P<q>[\"'`])(?P<s>[!-&(-~]{16,512}?)(?P=q)|(?P<bare>[A-Za-z0-9+/_=-]{20,512})[ \t\r]*$)",
    re.MULTILINE,
)
# What a person puts where a secret goes; also what code computes there.
_PLACEHOLDER = re.compile(
    r"(?i)example|change|placeholder|your|dummy|sample|insecure|xxx|todo|replace|redacted|secret|password|token|\*\*\*"
    r"|[{}<>$%()\[\]\\ ]|\.\.|://|^[./]"
)
# Bits per character. Names and words in prose stay under 3.2 at these lengths; random base64 is over 3.5 at 16.
_ENTROPY_BITS = 3.3
_PRIVATE_BODY = re.compile(r"[!-~]")


def mask(text: str) -> str:
    """Return `text` with its inline secrets as `*`: as many characters and as many bytes."""
    spots = sorted(set(_found(text)))
    if not spots:
        return text
    pieces: list[str] = []
    end = 0
    for start, stop in spots:
        if stop <= end:
            continue
        start = max(start, end)
        pieces.append(text[end:start])
        pieces.append(_PRIVATE_BODY.sub("*", text[start:stop]))
        end = stop
    pieces.append(text[end:])
    return "".join(pieces)


def _found(text: str) -> Iterator[tuple[int, int]]:
    """Yield the character spans that hold secrets."""
    for needles, pattern in _FORMATS:
        if any(needle in text for needle in needles):
            for match in pattern.finditer(text):
                group = "s" if "s" in pattern.groupindex else 0
                if pattern.groupindex or not _is_repetitive(match[group]):
                    yield match.span(group)
    lowered = text.lower()
    if len(lowered) != len(text):
        # A letter whose small form is two characters (U+0130): offsets would be off; look at the text as it is.
        lowered = text
    for name in _NAMES:
        at = lowered.find(name)
        while at != -1:
            at += len(name)
            found = _VALUE.match(text, at)
            if found is not None:
                group = "s" if found["s"] is not None else "bare"
                if _is_random(found[group], bare=group == "bare"):
                    yield found.span(group)
            at = lowered.find(name, at)


def _is_repetitive(value: str) -> bool:
    """Return whether a token is a drawing of a token: AKIAXXXXXXXXXXXXXXXX."""
    return len(set(value[-16:])) < 5


def _is_random(value: str, *, bare: bool) -> bool:
    """Return whether a value looks drawn by chance, rather than written: letters and digits, high entropy."""
    if _PLACEHOLDER.search(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if digits < (3 if bare else 2) or letters < 3:
        return False
    # Hex has four bits at most; what is no hex and keeps to one case with separators is a name.
    if _entropy(value) < _ENTROPY_BITS:
        return False
    mixed = value.lower() != value and value.upper() != value
    return mixed or digits * 5 >= len(value)


def _entropy(value: str) -> float:
    """Return the bits per character by the value's own frequencies."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())

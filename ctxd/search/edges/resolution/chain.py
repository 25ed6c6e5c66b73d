"""A receiver or a right-hand side as a chain of names: `self.pool().take` -> self, pool(), take. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

_LEAD = re.compile(r"(?:(?:await|new|return|yield|try|typeof)\s+|[&*]+|mut\s+)+")
_NAME = re.compile(r"[@#$]{0,2}[^\W\d][\w$]*[!?]?(?=\W|$)|[@#$]{0,2}[^\W\d][\w$]*")
_GENERIC = re.compile(r"(?:::)?<[^<>()]*>(?=[({])")
_JOINT = re.compile(r"\s*(?:\?\.|!\.|&\.|\.|->|::)\s*")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


class Part(msgspec.Struct, frozen=True, gc=False):
    """One name of a chain; `called`: with arguments behind it, or a literal's braces."""

    name: str
    called: bool = False


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[Part, ...]:
    """Return the parts of an expression, () for one that is more than a chain of names and calls."""
    text = text.strip().rstrip(";")
    while text.startswith("(") and _close(text, 0) == len(text):
        text = text[1:-1].strip()
    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    parts: list[Part] = []
    while match := _NAME.match(text, at):
        at = match.end()
        if generic := _GENERIC.match(text, at):
            at = generic.end()
        called = text[at : at + 1] == "(" or text[at : at + 1] == "{"
        if called:
            at = _close(text, at)
        parts.append(Part(match.group().rstrip("!?"), called))
        if at >= len(text):
            return tuple(parts)
        joint = _JOINT.match(text, at)
        if joint is None:
            return ()
        at = joint.end()
    return ()


def _close(text: str, at: int) -> int:
    """Return the place behind the bracket that closes the one at `at`; the end where it stays open."""
    open_brackets: list[str] = []
    quote = ""
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'`":
            quote = char
        elif char in _CLOSING:
            open_brackets.append(_CLOSING[char])
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return at + 1
        at += 1
    return len(text)

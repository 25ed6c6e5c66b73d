"""The families that are read line by line instead of by a grammar. A reader is pure; runs in a parse worker."""

from __future__ import annotations

from collections.abc import Callable

from ctxd.parse import markdown
from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.languages import Family

Reader = Callable[[bytes, Inner], Extracted]

READERS: dict[Family, Reader] = {
    "markdown": markdown.read,
}

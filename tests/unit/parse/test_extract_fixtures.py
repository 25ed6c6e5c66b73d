"""Hard definitions of each language, listed whole: symbols, references, imports and blocks.

A changed listing is a change of what people find: `python tests/unit/parse/listing.py` writes them anew, to be read
as a diff.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

from ctxd.parse.extract import Extracted

_PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "listing.py")
_SPEC = importlib.util.spec_from_file_location("parse_listing", _PLACE)
assert _SPEC is not None and _SPEC.loader is not None
listing = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(listing)
NAMES = sorted(listing.LANGUAGES)


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_gives_exactly_its_listing(name: str) -> None:
    """Every symbol with kind, qualified name, span, definition line, signature and doc; every use and import."""
    assert listing.listing(listing.fixture(name)) == listing.expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_keep_what_the_chunker_is_promised(name: str) -> None:
    """They are a forest in document order: children inside their parents, siblings without a common line."""
    assert_promises(listing.fixture(name))


@pytest.mark.parametrize("name", NAMES)
def test_symbols_are_in_order_and_their_definition_lies_in_their_span(name: str) -> None:
    """Readers bisect them by line."""
    symbols = listing.fixture(name).symbols
    order = [(s.line_start, -s.line_end, s.definition_line) for s in symbols]
    assert order == sorted(order)
    assert all(s.line_start <= s.definition_line <= s.line_end for s in symbols)


@pytest.mark.parametrize("name", NAMES)
def test_a_qualified_name_is_the_parent_and_the_name(name: str) -> None:
    """The index stores the two alone."""
    for symbol in listing.fixture(name).symbols:
        assert symbol.qualified_name == f"{symbol.parent}.{symbol.name}".removeprefix("."), symbol


def assert_promises(found: Extracted) -> None:
    """Check the promises about blocks in the docstring of `ctxd.parse.extract`."""
    open_blocks = []
    last_at: dict[int, int] = {}
    for block in found.blocks:
        assert block.line_start <= block.line_end
        assert block.depth <= len(open_blocks)
        del open_blocks[block.depth :]
        for deeper in [depth for depth in last_at if depth > block.depth]:
            del last_at[deeper]
        if open_blocks:
            outer = open_blocks[-1]
            assert outer.line_start <= block.line_start and block.line_end <= outer.line_end
        assert last_at.get(block.depth, 0) < block.line_start
        last_at[block.depth] = block.line_end
        open_blocks.append(block)
        assert (block.symbol >= 0) == (block.kind in ("definition", "section"))
        if block.symbol >= 0:
            symbol = found.symbols[block.symbol]
            assert (symbol.line_start, symbol.line_end) == (block.line_start, block.line_end)

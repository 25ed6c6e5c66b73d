"""Documents in reStructuredText and AsciiDoc nest by their titles, as Markdown does."""

from __future__ import annotations

import pytest

from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named


def read(language: str, text: str) -> Extracted:
    return extract(named(language), text.encode())


def spans(found: Extracted) -> list[tuple[str, int, int, int]]:
    return [(s.qualified_name, s.line_start, s.definition_line, s.line_end) for s in found.symbols]


def test_levels_are_the_styles_in_their_order() -> None:
    """With a line above and below is another style than with one below alone."""
    text = "===\nTop\n===\n\nOne\n===\nx\n\nIn\n--\ny\n\nTwo\n===\nz\n"

    assert spans(read("restructuredtext", text)) == [
        ("Top", 1, 2, 15),
        ("Top.One", 5, 5, 12),
        ("Top.One.In", 9, 9, 12),
        ("Top.Two", 13, 13, 15),
    ]


def test_tables_transitions_and_literal_blocks_hold_no_titles() -> None:
    """Lines of dashes are many things."""
    text = "T\n=\n\n====  ====\nA     B\n====  ====\n\n----\n\n::\n\n  No\n  --\n\n+---+\n| a |\n+===+\n"

    assert [name for name, *_ in spans(read("restructuredtext", text))] == ["T"]


def test_directives_describe_things_by_module_and_class() -> None:
    """They end where their indented text ends; they are sections, since the definition is elsewhere."""
    text = "T\n=\n\n.. module:: a.b\n\n.. class:: C(x)\n\n   Doc.\n\n   .. method:: m()\n\nAfter.\n"
    found = read("restructuredtext", text)

    assert spans(found)[2:] == [("a.b.C", 6, 6, 10), ("a.b.C.m", 10, 10, 10)]
    assert {symbol.kind for symbol in found.symbols} == {"section"}
    assert found.symbols[2].doc == "Doc."


def test_the_last_directive_does_not_swallow_the_section_it_stands_in() -> None:
    """A long section with a short directive is still cut between its paragraphs."""
    words = "words and words " * 50
    found = read("restructuredtext", f"T\n=\n\n.. option:: -v\n\n   Talk.\n\n{words}\n\n{words}\n")

    assert [(b.kind, b.line_start, b.line_end) for b in found.blocks][1:] == [
        ("section", 4, 6),
        ("statement", 8, 8),
        ("statement", 10, 10),
    ]


def test_asciidoc_titles_in_delimited_blocks_are_text() -> None:
    """Listings, comments, passthroughs and fences; an anchor above a title belongs to its section."""
    text = "= T\n\n----\n== no\n----\n\n////\n== no\n////\n\n```\n## no\n```\n\n[[a]]\n== Yes\nx\n"

    assert spans(read("asciidoc", text)) == [("T", 1, 1, 17), ("T.Yes", 15, 16, 17)]


def test_anchors_of_asciidoc_titles_leave_no_empty_block() -> None:
    """An anchor that its title takes was no paragraph, also in a section so long that its paragraphs are blocks."""
    text = "== A\n[[b]]\n=== B\n" + "Some words to make the section a long one.\n" * 80

    found = read("asciidoc", text)

    assert [(b.kind, b.line_start, b.line_end) for b in found.blocks] == [
        ("section", 1, 83),
        ("section", 2, 83),
        ("statement", 4, 83),
    ]


def test_old_asciidoc_titles_are_underlined_as_long_as_they_are() -> None:
    """A delimiter below a paragraph is longer or shorter than its last line."""
    text = "Title\n=====\n\nSection\n-------\n\nA paragraph of some length\n----\nlisting\n----\n"

    assert spans(read("asciidoc", text)) == [("Title", 1, 1, 10), ("Title.Section", 4, 4, 10)]


def test_the_first_line_of_markdown_is_no_underline() -> None:
    """A line of dashes has nothing above it at the top of a file."""
    assert read("markdown", "-----\ntext\n").symbols == ()


def test_markdown_titles_that_begin_like_a_list_are_titles_where_no_blank_follows() -> None:
    """Change logs underline versions: `4.9.6 / 2014-10-08`."""
    text = "4.9.6 / 2014\n============\n\n**Bold**\n---\n\n1. one\n---\n\n- two\n---\n"

    assert [(s.name, s.definition_line) for s in read("markdown", text).symbols] == [("4.9.6 / 2014", 1), ("Bold", 4)]


@pytest.mark.parametrize("end", ["> ```\n", ""])
def test_a_block_of_code_in_a_quotation_ends_with_it(end: str) -> None:
    """Whether its fence is closed or not: what follows is no code."""
    text = f"# One\n\n> ```dart\n> # no title\n{end}\n# Two\n"

    assert [s.name for s in read("markdown", text).symbols] == ["One", "Two"]

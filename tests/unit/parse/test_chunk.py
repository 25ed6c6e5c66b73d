"""Chunks partition a file's lines along its structure, whatever the file is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxd import tokens
from ctxd.model import Chunk
from ctxd.parse.chunk import cut
from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named
from ctxd.parse.lines import Lines, source, split


def chunks_of(language: str, text: str, max_tokens: int = 500) -> tuple[Lines, Extracted, tuple[Chunk, ...]]:
    """Return a text's lines, facts and chunks."""
    lines = split(text)
    extracted = extract(named(language), source(text))
    return lines, extracted, cut(lines, extracted, named(language), max_tokens)


def check_partition(lines: Lines, chunks: tuple[Chunk, ...]) -> None:
    """Every line is in exactly one chunk, bytes and tokens are those of its lines."""
    whole = "".join(lines.text).encode()
    sizes = tokens.sizes(lines.text)
    at = 1
    for chunk in chunks:
        assert chunk.line_start == at and chunk.line_end >= at
        text = lines.join(chunk.line_start, chunk.line_end)
        assert whole[chunk.byte_start : chunk.byte_end] == text.encode()
        assert chunk.tokens == sum(sizes[chunk.line_start - 1 : chunk.line_end])
        # Breaks in a row are one token in a text, and one each where lines are counted by themselves.
        blank = sum(line.isspace() for line in lines.text[chunk.line_start - 1 : chunk.line_end])
        assert -1 <= chunk.tokens - tokens.count(text) <= blank + 1
        at = chunk.line_end + 1
    assert at == len(lines) + 1


def shown(language: str, text: str, max_tokens: int = 500) -> list[tuple[str, str, int, int]]:
    """Return (kind, name, first line, last line) of each chunk."""
    lines, extracted, chunks = chunks_of(language, text, max_tokens)
    check_partition(lines, chunks)
    return [
        (
            chunk.kind,
            extracted.symbols[chunk.symbol].qualified_name if chunk.symbol >= 0 else "",
            chunk.line_start,
            chunk.line_end,
        )
        for chunk in chunks
    ]


PYTHON = '''"""A module."""

import os
import sys

LIMIT = 3
OTHER = 4


# Retries.
@retry
def call():
    """Call."""
    return os.getcwd()

class Short:
    a = 1

    def m(self):
        return 1
'''


def test_python_module() -> None:
    """Docstring, imports, constants, a function with its comment and decorator, a short class whole."""
    assert shown("python", PYTHON) == [
        ("gap", "", 1, 2),
        ("imports", "", 3, 5),
        ("gap", "", 6, 9),
        ("definition", "call", 10, 15),
        ("definition", "Short", 16, 20),
    ]


def long_class(methods: int) -> str:
    """Return a class of several hundred tokens."""
    head = 'class Long(Base):\n    """Long."""\n\n    x = 1\n    y = 2\n\n'
    body = "".join(
        f"    def m{n}(self, value):\n        total = value + {n}\n"
        f"        self.x = total * {n}\n        return total\n\n"
        for n in range(methods)
    )
    return head + body


def test_long_class_is_header_and_members() -> None:
    """A class over the limit is its header, then each member; members know their class and its supertypes."""
    text = long_class(20)

    assert shown("python", text)[:3] == [
        ("header", "Long", 1, 6),
        ("definition", "Long.m0", 7, 11),
        ("definition", "Long.m1", 12, 16),
    ]
    _, _, chunks = chunks_of("python", text)
    assert all("class Long(Base)" in chunk.context for chunk in chunks)


def test_long_function_is_cut_between_statements() -> None:
    """A body over the limit gives parts of the same symbol, none over the limit, none beginning inside a statement."""
    body = "".join(f"    if value > {n}:\n        value = compute(value, {n})\n        log(value)\n" for n in range(60))
    text = f"def long(value):\n{body}    return value\n"

    lines, _, chunks = chunks_of("python", text, 300)

    check_partition(lines, chunks)
    assert len(chunks) > 3
    assert {(chunk.kind, chunk.symbol) for chunk in chunks} == {("part", 0)}
    assert all(chunk.tokens <= 300 for chunk in chunks)
    assert all(lines.text[chunk.line_start - 1].startswith(("def", "    if", "    return")) for chunk in chunks)
    assert all("def long(value)" in chunk.context for chunk in chunks)
    smallest, largest = min(chunk.tokens for chunk in chunks), max(chunk.tokens for chunk in chunks)
    assert largest - smallest < 100, "the parts are of about equal size"


def test_context_names_the_imports_that_a_chunk_uses() -> None:
    """A chunk carries the modules of the imported names it uses, and no others."""
    text = (
        "from shop.cart import total\nimport os\n\ndef pay():\n    return total()\n\ndef where():\n    return os.sep\n"
    )

    _, _, chunks = chunks_of("python", text)

    assert [chunk.context for chunk in chunks[1:]] == ["shop.cart total", "os"]


def test_small_neighbours_are_grouped() -> None:
    """Prototypes, macros and fields of one line do not become chunks of one line."""
    prototypes = "".join(f"int function_number_{n}(int a, char *b);\n" for n in range(40))

    found = shown("c", f"#include <stdio.h>\n\n{prototypes}\nint main(void) {{\n    return 0;\n}}\n")

    assert found[0] == ("imports", "", 1, 2)
    assert found[-1] == ("definition", "main", 44, 46)
    assert 2 <= len(found[1:-1]) <= 5


def test_go_method_knows_its_receiver() -> None:
    """The owner that stands in no enclosing line is in the context."""
    _, _, chunks = chunks_of("go", "package p\n\ntype T struct{ a int }\n\nfunc (t *T) Do() int {\n\treturn t.a\n}\n")

    assert "T" in chunks[-1].context.split("\n")


def test_markdown_sections() -> None:
    """A document is cut at its headings; a long section between its paragraphs, all of them knowing the heading."""
    paragraph = "Words about the thing that this section is about, at some length. " * 8 + "\n\n"
    text = f"# Title\n\nIntro.\n\n## Small\n\nShort.\n\n## Large\n\n{paragraph * 8}## Last\n\nEnd.\n"

    found = shown("markdown", text, 300)

    names = [name.rpartition(".")[2] for _, name, _, _ in found]
    assert {kind for kind, *_ in found} == {"section"}
    assert names[0] == "Title" and names.count("Large") >= 3
    assert {"Small", "Last"} <= set(names)


def test_text_at_pauses() -> None:
    """B016: plain text is cut at blank lines within a size, and every piece knows its lines."""
    text = "".join(f"line {n} with marker-{n}\n" + ("\n" if n % 7 == 0 else "") for n in range(1, 401))
    lines, _, chunks = chunks_of("other", text)

    check_partition(lines, chunks)
    (found,) = [c for c in chunks if "marker-377\n" in lines.join(c.line_start, c.line_end)]
    assert lines.text[found.line_start - 1 : found.line_end].index("line 377 with marker-377\n") >= 0
    assert all(chunk.line_end - chunk.line_start < 62 and chunk.kind == "text" for chunk in chunks)
    assert all(lines.text[chunk.line_end - 1] == "\n" for chunk in chunks[:-1])


def test_third_line_is_line_four() -> None:
    """B016: blank lines at the top count, and belong to what they precede."""
    lines, extracted, chunks = chunks_of("python", "\n\n\ndef third(): pass\n")

    check_partition(lines, chunks)
    assert (extracted.symbols[0].line_start, len(chunks)) == (4, 1)


def test_non_ascii_lines() -> None:
    """B007: arrows before two functions shift neither names nor lines nor text."""
    lines, extracted, chunks = chunks_of("python", "# → → →\ndef toggle_pause(): pass\ndef is_paused(): pass\n")

    check_partition(lines, chunks)
    assert [(s.name, s.definition_line) for s in extracted.symbols] == [("toggle_pause", 2), ("is_paused", 3)]


def test_config_at_keys() -> None:
    """YAML without blank lines is cut at its top keys, each of them a chunk of its name; small ones share one."""
    text = "a: 1\nb: 2\n"
    text += "".join(f"service{n}:\n" + "".join(f"  option{m}: value{m}\n" for m in range(25)) for n in range(12))

    found = shown("yaml", text)

    assert found[0] == ("config", "", 1, 2)
    assert found[1:] == [("definition", f"service{n}", 3 + 26 * n, 28 + 26 * n) for n in range(12)]


def test_one_very_long_line() -> None:
    """A line over every limit is a chunk of its own, not an endless loop."""
    lines, _, chunks = chunks_of("other", "short\n\n" + "word " * 5000 + "\n\nshort\n")

    check_partition(lines, chunks)
    assert [chunk.tokens > 500 for chunk in chunks] == [False, True, False]


def test_empty_and_blank_files() -> None:
    """No lines, no chunks; blank lines are lines."""
    assert chunks_of("python", "")[2] == ()
    for text in ("\n", "\n\n\n", "\r\n", "   "):
        lines, _, chunks = chunks_of("python", text)
        check_partition(lines, chunks)
        assert len(chunks) == 1


def test_large_source_keeps_its_last_function() -> None:
    """B011: 300 KB of TypeScript with 900 functions; the last one is a definition with its own chunk."""
    text = "".join(
        f"// The number {n}.\nexport function fn{n}(a: number): number {{\n"
        + "".join(f"  const v{m} = a * {m} + {n};\n" for m in range(10))
        + "  return v0;\n}\n\n"
        for n in range(900)
    )
    assert len(text) > 300_000

    found = shown("typescript", text)

    assert len(found) == 900
    assert found[-1][:2] == ("definition", "fn899")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "X = " + "[" * 3000 + "]" * 3000 + "\n"),
        ("c", "int main(void) {\n" + "{\n" * 16_384 + "}\n" * 16_384 + "}\n"),
        ("javascript", "f(" * 5000 + ")" * 5000 + "\n"),
        ("markdown", "".join("#" * (n % 6 + 1) + f" h{n}\n" for n in range(3000))),
    ],
)
def test_deep_nesting(language: str, text: str) -> None:
    """B013: thousands of levels are cut without recursion errors."""
    lines, _, chunks = chunks_of(language, text)

    check_partition(lines, chunks)


FRAGMENTS = {
    "python": [
        *(
            "import os\n",
            "from a.b import c\n",
            "\n",
            "\n\n",
            "# note\n",
            "X = 1\n",
            "@d\n",
            "def f(a):\n",
            "    x = 1\n",
        ),
        *(
            "class C(B):\n",
            "    def m(self):\n",
            "        return 1\n",
            '"""doc"""\n',
            "    pass\r\n",
            "if x:\n",
            "(\n",
            "é = '→'\n",
        ),
    ],
    "c": [
        *(
            "#include <a.h>\n",
            "#define A 1\n",
            "int f(int a);\n",
            "int g(void) {\n",
            "}\n",
            "  a = 1;\n",
            "\n",
            "/* x */\n",
        ),
        *("struct s {\n", "  int a;\n", "};\n", "#if X\n", "#endif\n", "static int v = 1;\n", "/* open\n", "*/\n"),
    ],
    "typescript": [
        *(
            "import a from 'b'\n",
            "export class C extends D {\n",
            "}\n",
            "  m(): void {\n",
            "  }\n",
            "const x = () => {\n",
        ),
        *("};\n", "\n", "// c\n", "interface I {\n", "  a: string;\n", "x();\n", "`\n", "export function f() {\n"),
    ],
    "markdown": ["# A\n", "## B\n", "text\n", "\n", "```\n", "- item\n", "B\n==\n", "| a |\n", "\r\n", "#### D\n"],
    "yaml": ["a:\n", "  b: 1\n", "\n", "- c\n", "# d\n", "\te\n", "...\n"],
    "json": ["{\n", "}\n", '"a": [\n', "]\n", '"b": 1,\n', "// c\n", "\n", '"\n'],
    "toml": ["[a]\n", "b = 1\n", "c = [\n", "]\n", "\n", "# d\n", '"""\n'],
    "make": ["a: b\n", "\tc\n", "\n", "# d\n", "E := \\\n", "define f\n", "endef\n"],
    "restructuredtext": ["A\n", "===\n", "\n", "text\n", ".. class:: C\n", "   doc\n", "   .. method:: m\n"],
    "asciidoc": [
        "= A\n",
        "== B\n",
        "[[a]]\n",
        "text\n",
        "\n",
        "----\n",
        "B\n---\n",
        ".Title\n",
        "a longer line\n" * 60,
    ],
    "ini": ["[a]\n", "b = 1\n", "; c\n", "\n", "d: e\n"],
    "dockerfile": ["FROM a AS b\n", "RUN c \\\n", "  d\n", "# e\n", "\n", "COPY f g\n"],
    "shell": ["f() {\n", "}\n", "a=1\n", "cat <<E\n", "E\n", "# c\n", "\n", "if x; then\n", "fi\n"],
    "ruby": ["class A\n", "  def b\n", "  end\n", "end\n", "=begin\n", "=end\n", "\n", "c = <<~E\n", "E\n"],
    "sql": ["create table a (\n", "  b int\n", ");\n", "-- c\n", "\n", "select 1;\n", "$$\n"],
    "vue": ["<script>\n", "</script>\n", "let a = 1\n", "<template>\n", "\n", "import b from 'b'\n", "<!--\n"],
    "jupyter": [
        '"source": ["def f():\\n",\n',
        '"  pass"],\n',
        "{\n",
        "}\n",
        '"cells": [\n',
        "]\n",
        '"cell_type": "code",\n',
    ],
}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_file_is_partitioned(data: st.DataObject) -> None:
    """Arbitrary sequences of lines of a language, well formed or not, at any limit: every line once, in order."""
    language = data.draw(st.sampled_from(sorted(FRAGMENTS)))
    text = "".join(data.draw(st.lists(st.sampled_from(FRAGMENTS[language]), max_size=60)))
    if data.draw(st.booleans()):
        text = text.removesuffix("\n")
    max_tokens = data.draw(st.sampled_from([1, 10, 40, 200, 500]))

    lines, extracted, chunks = chunks_of(language, text, max_tokens)

    check_partition(lines, chunks)
    assert all(-1 <= chunk.symbol < len(extracted.symbols) for chunk in chunks)
    assert all(block.line_start <= block.line_end for block in extracted.blocks)


def test_own_sources_are_partitioned() -> None:
    """Every module of this package is put together again from its chunks, and no chunk is over the limit."""
    for path in sorted(Path(cut.__code__.co_filename).parent.parent.rglob("*.py")):
        lines, _, chunks = chunks_of("python", path.read_text())

        check_partition(lines, chunks)
        assert all(chunk.tokens <= 510 for chunk in chunks), path

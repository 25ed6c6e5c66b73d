"""Notebooks are read as the program and the document they hold, by the lines of their file."""

from __future__ import annotations

import json

from ctxd.parse.assembly import parse
from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named
from ctxd.parse.pipe import ParseSettings
from ctxd.parse.verdicts import verdict

NOTEBOOK = named("jupyter")
IMAGE = "iVBORw0KGgoAAAANSUhEUg" * 4000


def cell(kind: str, source: str | list[str], **fields: object) -> dict[str, object]:
    return {"cell_type": kind, "metadata": {}, "source": source, **fields}


def written(*cells: dict[str, object], language: str = "python", indent: int | None = 1) -> str:
    metadata = {"kernelspec": {"language": language}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}, indent=indent)


def read(text: str) -> Extracted:
    return extract(NOTEBOOK, text.encode())


def shown(text: str) -> list[tuple[str, str]]:
    """Return each symbol with the text of its definition line."""
    lines = text.split("\n")
    return [(s.qualified_name, lines[s.definition_line - 1].strip(' ",')) for s in read(text).symbols]


def plotted() -> str:
    image = {"output_type": "display_data", "data": {"image/png": IMAGE, "text/plain": ["<Figure>"]}}
    code = ["import numpy as np\n", "%matplotlib inline\n", "def plot(x):\n", "    !ls\n", "    return np.sum(x)"]
    return written(cell("markdown", ["# Title\n", "\n", "Words."]), cell("code", code, outputs=[image]))


def test_definitions_and_headings_are_at_their_lines() -> None:
    """Magics and shell commands break nothing, inside functions too."""
    found = read(plotted())

    assert shown(plotted()) == [("Title", "# Title\\n"), ("plot", "def plot(x):\\n")]
    assert found.note == ""
    assert [(use.name, use.receiver) for use in found.references if use.kind == "call"] == [("sum", "np")]
    assert found.symbols[0].doc == "Words."


def test_outputs_are_in_no_word() -> None:
    """Images in base64 and printed figures are not searched; code and prose are, without their JSON."""
    facts = parse(plotted().encode(), NOTEBOOK, ParseSettings())
    words = " ".join(facts.words).split()

    assert {"Title", "Words", "matplotlib", "plot"} <= set(words)
    assert not {"Figure", "outputs", "cell_type", "n"} & set(words)
    assert not any("iVBOR" in word for word in words)


def test_outputs_are_in_no_word_where_no_grammar_was_used() -> None:
    """After a crash of the parser, or over the size up to which files are parsed, cells are still told apart."""
    crashed = parse(plotted().encode(), NOTEBOOK, ParseSettings(), "parser crashed")
    large = parse(plotted().encode(), NOTEBOOK, ParseSettings(max_file_bytes=1000))

    for facts in (crashed, large):
        assert facts.note and facts.symbols[0].name == "Title"
        assert "iVBOR" not in " ".join(facts.words) and "plot" in " ".join(facts.words)


def test_a_notebook_that_is_mostly_images_is_not_minified() -> None:
    """Its long lines are outputs, and what a person wrote is between them."""
    assert verdict("plots.ipynb", plotted().encode(), NOTEBOOK) == ""


def test_sections_reach_over_cells_to_the_next_heading() -> None:
    """Headings nest over the whole notebook."""
    code = cell("code", ["def f(): pass"])
    text = written(cell("markdown", ["# A"]), code, cell("markdown", ["## B"]), cell("markdown", ["# C\n", "## D"]))
    found = read(text)

    assert [s.qualified_name for s in found.symbols] == ["A", "f", "A.B", "C", "C.D"]
    a, _, b, c, _ = found.symbols
    assert a.line_end == b.line_end == c.line_start - 1


def test_a_cell_written_as_one_string_and_one_in_another_language() -> None:
    """All its lines are one line of the file; what `%%bash` runs is no Python."""
    text = written(cell("code", "import os\n\ndef g():\n    pass\n"), cell("code", ["%%bash\n", "def no():"]))

    assert shown(text) == [("g", 'source": "import os\\n\\ndef g():\\n    pass\\n')]


def test_the_kernel_tells_the_language() -> None:
    """A notebook of another kernel is not read as Python."""
    found = read(written(cell("code", ["function f() {}"]), language="javascript"))

    assert [symbol.name for symbol in found.symbols] == ["f"]


def test_a_notebook_in_one_line_and_a_broken_one_are_read() -> None:
    """Every symbol is on the line; what is no notebook gives no error."""
    one = written(cell("markdown", ["# A\n", "## B"]), cell("code", ["def f(): pass"]), indent=None)

    assert {(s.name, s.line_end) for s in read(one).symbols} == {("A", 1), ("B", 1), ("f", 1)}
    for broken in ("", "{", "[]", "{}", '{"cells": [', '{"cells": [{"source": 1}]}', '{"cells": [{"source": ["a"'):
        read(broken)

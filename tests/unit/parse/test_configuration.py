"""Configuration is cut by key, section or target; what is asked for by name is a symbol, and data floods nothing."""

from __future__ import annotations

import json

import pytest

from ctxd.parse.chunk import cut
from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named
from ctxd.parse.lines import split
from ctxd.parse.readers.outline import MAX_KEYS, MAX_SIBLINGS


def read(language: str, text: str) -> Extracted:
    return extract(named(language), text.encode())


def places(found: Extracted) -> dict[str, tuple[str, int]]:
    return {symbol.qualified_name: (symbol.kind, symbol.definition_line) for symbol in found.symbols}


def test_json_names_two_levels_of_keys_and_no_data() -> None:
    """Keys inside arrays and further down are no names."""
    text = json.dumps({"scripts": {"build": {"deep": 1}}, "rows": [{"id": 1}, {"id": 2}]}, indent=2)

    assert places(read("json", text)) == {"scripts": ("key", 2), "scripts.build": ("key", 3), "rows": ("key", 7)}


def test_json_in_one_line_has_the_same_names() -> None:
    """Nesting is told by brackets, not by lines."""
    assert places(read("json", '{"a": {"b": 1}, "c": 2}')) == {"a": ("key", 1), "a.b": ("key", 1), "c": ("key", 1)}


@pytest.mark.parametrize(
    ("language", "row"), [("json", '"k{n}": {n},\n'), ("yaml", "k{n}: {n}\n"), ("ini", "k{n}={n}\n")]
)
def test_a_level_of_very_many_keys_is_a_table(language: str, row: str) -> None:
    """Its rows are text: none of 500 keys is a symbol, and its chunks stay small."""
    text = "".join(row.replace("{n}", str(n)) for n in range(500))
    text = "{\n" + text.rstrip(",\n") + "\n}\n" if language == "json" else text
    found = read(language, text)

    assert found.symbols == ()
    assert all(chunk.tokens <= 500 for chunk in cut(split(text), found, named(language), 500))


def test_a_file_has_a_bounded_number_of_keys_outer_ones_first() -> None:
    """Twelve owners of 90 keys each: the owners are there, and no more keys than the bound."""
    text = "".join(f"owner{n}:\n" + "".join(f"  key{m}: 1\n" for m in range(90)) for n in range(12))
    found = read("yaml", text)

    assert len(found.symbols) == MAX_KEYS < 12 * MAX_SIBLINGS
    assert {f"owner{n}" for n in range(12)} <= places(found).keys()


def test_yaml_is_read_beyond_32767_rows() -> None:
    """A grammar's rows end there; a long list before a key must not hide it."""
    text = "list:\n" + "- a: 1\n" * 40_000 + "last:\n  inner: 1\n"

    assert places(read("yaml", text))["last.inner"] == ("key", 40_003)


def test_text_in_a_block_scalar_is_no_key() -> None:
    """A script in a workflow holds colons."""
    found = read("yaml", "run: |\n  name: x\n  other:\n    y: 1\nnext: 1\n")

    assert places(found) == {"run": ("key", 1), "next": ("key", 5)}


def test_a_document_of_kubernetes_is_called_by_its_name() -> None:
    """Its boilerplate keys are in every file and no names."""
    text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  type: NodePort\n"
    text += "---\napiVersion: v1\nkind: List\n"

    assert places(read("yaml", text)) == {
        "web": ("section", 4),
        "web.spec": ("key", 5),
        "web.spec.type": ("key", 6),
        "List": ("section", 8),
    }


def test_toml_tables_go_by_their_full_names() -> None:
    """Brackets and equals signs in strings are text; an element of an array of tables by the name it gives itself."""
    text = '[tool.x]\na = """\n[no]\nb = 1\n"""\nc = [\n  "]", # ]\n]\n[[bin]]\nname = "ctx"\n'

    assert places(read("toml", text)) == {
        "tool.x": ("section", 1),
        "tool.x.a": ("key", 2),
        "tool.x.c": ("key", 6),
        "ctx": ("section", 9),
        "bin.name": ("key", 10),
    }


def test_a_conf_file_of_another_language_has_no_keys() -> None:
    """Only a file that is made of assignments is read as such."""
    text = "location /a {\n  proxy_pass http://x;\n}\nuser nobody;\nworker_processes 4;\na = 1\n"

    assert read("ini", text) == Extracted()


def test_variables_that_an_example_suggests_are_found() -> None:
    """A commented assignment names a variable; prose in comments does not."""
    found = read("dotenv", "# Where it is.\nDATABASE_URL=x\n# set it = to be sure\n# DEBUG=1\n")

    assert places(found) == {"DATABASE_URL": ("environment", 2), "DEBUG": ("environment", 4)}
    assert found.symbols[0].doc == "Where it is."


def test_a_dockerfile_has_stages_and_variables() -> None:
    """A here-document and a continued line hold no instructions; a stage that is copied from is a reference."""
    text = "FROM a AS build\nRUN <<E\nFROM no\nE\nENV A=1 \\\n    B=2\nFROM b\nCOPY --from=build /x /x\n"
    found = read("dockerfile", text)

    assert places(found) == {
        "build": ("section", 1),
        "build.A": ("environment", 5),
        "build.B": ("environment", 6),
        "b": ("section", 7),
    }
    assert [(use.name, use.line) for use in found.references] == [("build", 8)]


def test_a_target_reaches_to_the_end_of_its_recipe() -> None:
    """Blank lines and conditionals inside a recipe do not end it; assignments for a target are no rule."""
    text = "all: one two\n\techo a\n\nifdef X\n\techo b\nendif\none: CFLAGS += -g\nTWO := x:y\n"
    found = read("make", text)

    assert places(found) == {"all": ("function", 1), "TWO": ("constant", 8)}
    assert (found.symbols[0].line_start, found.symbols[0].line_end) == (1, 5)
    assert [(use.name, use.kind) for use in found.references] == [("one", "call"), ("two", "call")]


def test_cmake_functions_end_at_their_own_end() -> None:
    """Brackets in strings and comments count for nothing."""
    text = 'function(add_thing name)\n  message("endfunction() (" #[[ ) ]]\n  )\nendfunction()\nadd_library(core a.c)\n'
    found = read("cmake", text)

    assert [(s.name, s.kind, s.line_start, s.line_end) for s in found.symbols] == [
        ("add_thing", "function", 1, 4),
        ("core", "module", 5, 5),
    ]


def test_terraform_blocks_are_called_as_expressions_call_them() -> None:
    """`aws_vpc.main`, `var.region`: so that a use finds what it names."""
    text = 'variable "region" {}\nresource "aws_vpc" "main" {\n  x = "${var.region}-${f("}")}"\n}\n'
    found = read("hcl", text)

    assert places(found) == {"var.region": ("variable", 1), "aws_vpc.main": ("section", 2)}
    assert [(use.receiver, use.name, use.enclosing) for use in found.references] == [("var", "region", 1)]


HOSTILE = [
    *("/* a\n", "#[[ a\n", "a = <<A\n", "define x\n", "function(x)\n", "RUN <<A\n", "a:\n", '{"a":', "[", "- a: 1\n"),
    *('a = """\n', "a\\\n", "resource \"a\" \"b\" {\n", "FROM a AS b\n", " \n  ", "$(x ", "a.", "'"),
]  # fmt: skip


@pytest.mark.parametrize("language", ["json", "yaml", "toml", "ini", "dotenv", "dockerfile", "make", "cmake", "hcl"])
@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_files_cost_no_more_than_their_length(language: str, line: str) -> None:
    """What never closes, thousands of times: nothing recurses, and nothing looks to the end for each of them."""
    read(language, line * (20_000 // len(line)))

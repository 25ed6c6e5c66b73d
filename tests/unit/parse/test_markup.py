"""Definitions inside the script blocks of HTML, Vue and Svelte are at the lines of the file."""

from __future__ import annotations

from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named


def read(language: str, text: str) -> Extracted:
    return extract(named(language), text.encode())


def places(found: Extracted) -> dict[str, tuple[str, int]]:
    return {symbol.qualified_name: (symbol.kind, symbol.definition_line) for symbol in found.symbols}


def test_both_scripts_of_a_component_are_one_program() -> None:
    """A type in one and its use in the other; `lang` and brackets in attributes."""
    text = (
        "<template>\n  <Foo/>\n</template>\n<script lang='ts'>\nexport interface P { a: string }\n</script>\n"
        '<script setup lang="ts" generics="T extends Set<P>">\nconst go = (p: P) => 1\n</script>\n'
    )
    found = read("vue", text)

    assert places(found) == {"P": ("interface", 5), "P.a": ("field", 5), "go": ("function", 8)}
    assert [(use.name, use.kind, use.line) for use in found.references] == [("Foo", "call", 2), ("P", "type", 8)]


def test_a_component_is_called_by_its_own_name() -> None:
    """With its methods; the handlers of its template are uses of them."""
    text = '<script>\nexport default {\n  name: "FancyButton",\n  methods: { go() {} },\n}\n</script>\n'
    text += '<template>\n<b @click="go"/>\n</template>\n'
    found = read("vue", text)

    assert places(found) == {"FancyButton": ("class", 2), "FancyButton.go": ("method", 4)}
    assert [(use.name, use.line) for use in found.references] == [("go", 8)]


def test_scripts_that_are_data_or_comments_are_no_code() -> None:
    """JSON, templates, and what is commented out."""
    text = (
        '<html>\n<script type="application/json">{"a": function f() {}}</script>\n<!-- <script>\nfunction no() {}\n'
        "</script> -->\n<script type=module>\nexport function yes() {}\n</script>\n<script src=x></script></html>\n"
    )

    assert places(read("html", text)) == {"yes": ("function", 7)}


def test_reactive_values_of_svelte_are_variables() -> None:
    """`$: x = y` declares x."""
    text = "<script>\n  export let y\n  $: double = y * 2\n</script>\n{double}\n"

    assert places(read("svelte", text)) == {"y": ("variable", 2), "double": ("variable", 3)}


def test_the_front_matter_of_astro_is_a_script() -> None:
    """Between two lines of dashes."""
    text = "---\nimport A from './A.astro'\nconst title = 1\n---\n<A t={title}/>\n"
    found = read("astro", text)

    assert places(found) == {"title": ("constant", 3)} or places(found) == {"title": ("variable", 3)}
    assert [entry.module for entry in found.imports] == ["./A.astro"]


def test_markup_without_scripts_and_unclosed_tags() -> None:
    """Nothing is lost and nothing looks to the end for each tag."""
    assert read("html", "<p>text</p>\n").symbols == ()
    for piece in ("<script>\n", '<script a="\n', "<!--", "</script>", "<script"):
        read("vue", piece * 2000)

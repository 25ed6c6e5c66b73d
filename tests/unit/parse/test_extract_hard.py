"""Single hard inputs: what other tools lost or misplaced, and trees that would end a recursive walk."""

from __future__ import annotations

import textwrap

import pytest

from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named


def read(language: str, text: str) -> Extracted:
    return extract(named(language), textwrap.dedent(text).encode())


def places(found: Extracted) -> dict[str, int]:
    return {symbol.qualified_name: symbol.definition_line for symbol in found.symbols}


def test_names_after_other_than_ascii_characters_are_not_shifted() -> None:
    """Offsets are bytes, and so is what they slice (B007)."""
    found = read("python", "# → → →\ndef toggle_pause(): pass\ndef is_paused(): pass\n")
    assert places(found) == {"toggle_pause": 2, "is_paused": 3}


def test_lines_are_counted_from_one_after_blank_lines() -> None:
    """Rows of the parser begin at 0 (B016)."""
    assert places(read("python", "\n\n\ndef third(): pass\n")) == {"third": 4}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_comment_above_decorators_and_exports_belongs_to_the_definition(ending: str) -> None:
    """B017: the span starts at the comment, the definition line at the name."""
    python = "# Retries.\n@retry\ndef call():\n    pass\n".replace("\n", ending)
    script = "// loads a user row\nexport function getUser() {}\n".replace("\n", ending)
    call, get_user = read("python", python).symbols[0], read("javascript", script).symbols[0]
    assert (call.line_start, call.definition_line, call.doc) == (1, 3, "Retries.")
    assert (get_user.line_start, get_user.definition_line, get_user.doc) == (1, 2, "loads a user row")
    assert get_user.signature == "export function getUser()"


def test_a_comment_after_a_blank_line_or_after_code_is_no_doc() -> None:
    """Only what stands directly above, on lines of its own."""
    found = read("python", "# far\n\nA = 1  # beside\ndef f(): pass\n")
    assert [(s.name, s.line_start, s.doc) for s in found.symbols] == [("A", 3, "beside"), ("f", 4, "")]


def test_arrow_exports_abstract_members_and_commonjs_exports_are_found() -> None:
    """B019."""
    text = "export const useAuth = () => 1\nabstract class Base { abstract run(): void }\nexports.boot = () => {}\n"
    assert places(read("typescript", text)) == {"useAuth": 1, "Base": 2, "Base.run": 2, "boot": 3}


def test_what_is_exported_through_a_call_has_its_inner_name() -> None:
    """`export default memo(function Foo() {})`, and a class in the same place."""
    text = """\
        // Shows.
        export default memo(function Foo() { return 1 })
        export default connect(a)(class Bar { go() {} })
        """

    found = [(s.qualified_name, s.kind, s.line_start, s.exported) for s in read("tsx", text).symbols]

    assert found == [("Foo", "function", 1, True), ("Bar", "class", 3, True), ("Bar.go", "method", 3, True)]


def test_generic_receivers_are_named_without_brackets() -> None:
    """B021."""
    text = "package p\nfunc (s *Stack[T]) Push(v T) {}\nfunc (s Stack[T]) Peek() T { return s.v }\n"
    assert places(read("go", text)) == {"Stack.Push": 2, "Stack.Peek": 3}


def test_a_macro_before_the_name_does_not_hide_a_function() -> None:
    """B025."""
    assert places(read("c", "API_CALL int api_go(void){ return 1; }\n")) == {"api_go": 1}


def test_a_decorated_function_is_found_with_its_decorator() -> None:
    """B029."""
    show = read("python", '@app.route("/x")\ndef show(): pass\n').symbols[0]
    assert (show.name, show.line_start, show.definition_line) == ("show", 1, 2)


def test_functions_after_unbalanced_conditional_braces_are_found_and_end_where_they_end() -> None:
    """Both branches open a brace and one closes it: the grammar files all that follows inside the first function."""
    text = """\
        int first(int a) {
        #ifdef X
            if (a) {
        #else
            if (!a) {
        #endif
                use(a);
            }
            return 0;
        }

        int second(void) {
            return 2;
        }
        """
    found = read("c", text)
    spans = {s.qualified_name: (s.line_start, s.line_end) for s in found.symbols}
    assert spans == {"first": (1, 10), "second": (12, 14)}
    assert found.note == "syntax errors"


def test_macros_and_pointers_that_a_broken_tree_swallows_are_found() -> None:
    """Unknown macros around declarations turn what follows into an error node; comments hold no macros."""
    text = """\
        API float (*get_ratio)() ATTR;
        API size_t (*get_size)(void* ptr) ATTR;
        #define AFTER(func) \\
            (func != NULL)
        /*
        #define NOT_ME
        */
        """
    found = read("c", text)
    assert found.note == "syntax errors"
    assert [(s.kind, s.name, s.line_start, s.line_end) for s in found.symbols] == [
        ("variable", "get_ratio", 1, 1),
        ("variable", "get_size", 2, 2),
        ("macro", "AFTER", 3, 4),
    ]


def test_declarations_that_a_broken_script_swallows_are_found() -> None:
    """A call signature that the grammar does not know turns the interfaces around it into an error node."""
    text = """\
        interface First {
          <T extends any>(cases: List<T>): Return<
            Args<T>
          >
          <T>(cases: List<T>): Return<T[]>
        }

        export interface Second<T> {
          (name: string): void
        }
        // interface Not {}
        export type Third = Second<string>
        """
    found = read("typescript", text)
    assert found.note == "syntax errors"
    assert [(s.name, s.definition_line, s.exported) for s in found.symbols] == [
        ("First", 1, False),
        ("Second", 8, True),
        ("Third", 12, True),
    ]


def test_members_of_a_literal_type_belong_to_their_constant() -> None:
    """Else they would stand for a constant of the same name."""
    text = "export const server: {\n  commands: A\n}\nexport const commands: A\n"
    assert places(read("typescript", text)) == {"server": 1, "server.commands": 2, "commands": 4}


def test_a_prototype_is_told_from_a_body() -> None:
    """Its signature ends with a semicolon, so that whoever ranks can put the body first."""
    found = read("c", "int run(int a);\nint run(int a) { return a; }\n")
    assert [s.signature for s in found.symbols] == ["int run(int a);", "int run(int a)"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "X = " + "[" * 3000 + "]" * 3000 + "\ndef after(): pass\n"),
        ("python", "X = " + "[\n" * 3000 + "]\n" * 3000 + "\ndef after(): pass\n"),
        ("python", "".join(f"{' ' * n}def f{n}():\n" for n in range(400)) + " " * 400 + "pass\ndef after(): pass\n"),
        ("c", "void deep(void)" + "{" * 16384 + "}" * 16384 + "\nvoid after(void) {}\n"),
        ("c", "void deep(void)" + "{\n" * 16384 + "}\n" * 16384 + "\nvoid after(void) {}\n"),
        ("javascript", "function f(){" * 3000 + "}" * 3000 + "\nfunction after() {}\n"),
        ("typescript", "const x = " + "(" * 5000 + "1" + ")" * 5000 + "\nfunction after() {}\n"),
        ("go", "package p\nvar x = " + "(" * 5000 + "1" + ")" * 5000 + "\nfunc after() {}\n"),
        ("c", "int f(" * 5000),
        ("markdown", "> " * 5000 + "# x\n# after\n"),
    ],
)
def test_deep_files_end_no_walk(language: str, text: str) -> None:
    """B013: nothing recurses over the tree, and what follows the deep part is found where the grammar gets there."""
    found = read(language, text)
    if "after" in text:
        assert "after" in places(found)


def test_long_bodies_are_opened_at_their_statements() -> None:
    """A body that fits no chunk has boundaries; a short one has none."""
    body = "".join(f"    if a == {n}:\n        print('something long enough to count', a)\n" for n in range(40))
    found = read("python", f"def long(a):\n{body}\n\ndef short(a):\n    return a\n")
    kinds = [(block.kind, block.depth) for block in found.blocks]
    assert kinds == [("definition", 0), *[("statement", 1)] * 40, ("definition", 0)]


def test_long_literals_are_opened_at_their_elements() -> None:
    """Tables are cut between rows."""
    rows = "".join(f'    ("name {n}", "some value that takes its space", {n}),\n' for n in range(60))
    found = read("python", f"TABLE = [\n{rows}]\n")
    assert [block.depth for block in found.blocks] == [0, *[1] * 60]


def test_bytes_that_are_no_text_are_read_without_an_error() -> None:
    """Names are decoded with replacement, never with an exception."""
    found = extract(named("python"), b"def caf\xe9(): pass\ndef ok(): pass\n")
    assert "ok" in places(found)


def test_a_language_without_a_grammar_gives_nothing() -> None:
    """It is cut as text by whoever cuts it."""
    assert extract(named("cobol"), b"fn main() {}\n") == Extracted()


@pytest.mark.parametrize("language", ["python", "javascript", "typescript", "tsx", "go", "c", "markdown"])
@pytest.mark.parametrize("source", [b"", b"\n", b"\x00", b"#", b"/*", b'"""', b"\xff\xfe", b"}" * 50])
def test_odd_files_are_read(language: str, source: bytes) -> None:
    """Empty, cut off, or no text at all."""
    assert extract(named(language), source).imports == ()


def test_markdown_sections_nest_by_level_and_end_before_the_next() -> None:
    """Fences, comments and front matter hold no headings."""
    text = "# A\na\n## B\nb\n```\n# no\n```\n### C\nc\n## D\nd\n# E\n"
    found = read("markdown", text)
    assert [(s.qualified_name, s.line_start, s.line_end) for s in found.symbols] == [
        ("A", 1, 11),
        ("A.B", 3, 9),
        ("A.B.C", 8, 9),
        ("A.D", 10, 11),
        ("E", 12, 12),
    ]


def test_a_reference_is_kept_once_per_line_and_symbol() -> None:
    """Two calls on a line are one reference, on two lines two."""
    found = read("python", "def f():\n    g(); g()\n    g()\n")
    assert [(r.name, r.line) for r in found.references] == [("g", 2), ("g", 3)]


def test_constants_are_read_in_code_only() -> None:
    """Comments and strings name them without reading them."""
    found = read("c", '/* MAX_A */ int f(void) { log("MAX_B"); return MAX_C; } // MAX_D\n')
    assert [r.name for r in found.references if r.kind == "constant"] == ["MAX_C"]

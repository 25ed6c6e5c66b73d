"""Declarative and functional languages: single hard inputs, broken files, and files made to be expensive."""

from __future__ import annotations

import textwrap

import pytest

from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import detect, named, resolve


def read(language: str, text: str) -> Extracted:
    return extract(named(language), textwrap.dedent(text).encode())


def places(found: Extracted) -> dict[str, int]:
    return {symbol.qualified_name: symbol.definition_line for symbol in found.symbols}


def test_a_signature_and_all_equations_are_one_haskell_definition() -> None:
    """Its span holds them all, its line is the signature's, and locals below `where` are no symbols."""
    text = "-- | Counts.\nf :: Int -> Int\nf 0 = 1\nf n = go n\n  where\n    go :: Int -> Int\n    go m = m\n\ng = f\n"
    f, g = read("haskell", text).symbols
    assert (f.name, f.line_start, f.definition_line, f.line_end) == ("f", 1, 2, 7)
    assert (f.signature, f.doc, g.name) == ("f :: Int -> Int", "Counts.", "g")


def test_a_haskell_export_list_decides() -> None:
    """`T (..)` exports the members, `T` the type alone, `module M` everything of M itself."""
    body = "data T = A | B\ndata U = C | D\nf = 1\nh = 2\n"
    exported = {
        s.qualified_name for s in read("haskell", f"module M (T (..), U, f) where\n{body}").symbols if s.exported
    }
    assert exported == {"M", "T", "T.A", "T.B", "U", "f"}
    assert all(symbol.exported for symbol in read("haskell", f"module M (module M) where\n{body}").symbols)


def test_haskell_instances_own_their_methods() -> None:
    """Two instances define the same method: told apart by class and type."""
    text = "instance Show A where\n  show _ = a\ninstance Eq b => Show (B b) where\n  show _ = b\n"
    assert places(read("haskell", text)) == {
        "Show A": 1,
        "Show A.show": 2,
        "Show (B b)": 3,
        "Show (B b).show": 4,
    }


def test_what_a_haskell_grammar_hides_in_else_branches_is_found() -> None:
    """`#else` to `#endif` is one node without children."""
    hidden = "c :: Int\nc = 1\nnewtype N = N Int\n"
    text = f"a :: Int\na = 1\n#ifdef X\nb :: Int\nb = 1\n#else\n{hidden}#endif\nd :: Int\nd = 1\n"
    assert places(read("haskell", text)) == {"a": 1, "b": 4, "c": 7, "N": 9, "d": 11}


@pytest.mark.parametrize(
    "text", ["Prose.\n\n> f :: Int\n> f = 1\n", "Prose f :: Int.\n\\begin{code}\nf :: Int\nf = 1\n\\end{code}\nMore.\n"]
)
def test_literate_haskell_is_read(text: str) -> None:
    """Prose around code is no code."""
    assert places(read("haskell", text)) == {"f": 3}


def test_both_kinds_of_ocaml_files_answer_to_the_name() -> None:
    """Who says OCaml means interfaces too."""
    assert resolve("ocaml") == ("ocaml", "ocaml_interface")
    assert resolve(".mli") == ("ocaml_interface",)
    assert detect("a/b.mli", b"").grammar == "ocaml_interface"


def test_ocaml_comments_below_a_value_document_it() -> None:
    """What a blank line follows is about what stands above it; else about what stands below."""
    found = read("ocaml_interface", "val a : int\n(** About a. *)\n\nval b : int\n(** About c. *)\nval c : int\n")
    assert [(s.name, s.doc, s.line_end) for s in found.symbols] == [
        ("a", "About a.", 2),
        ("b", "", 4),
        ("c", "About c.", 6),
    ]


def test_ocaml_locals_are_no_symbols_and_members_of_functors_are() -> None:
    """`let ... in` binds nothing that others see."""
    text = "module M (X : S) = struct\n  let run x =\n    let local = 1 in\n    local\nend\nlet ( >>= ) a b = b a\n"
    assert places(read("ocaml", text)) == {"M": 1, "M.run": 2, ">>=": 6}


def test_r_methods_of_every_class_system_have_their_owner() -> None:
    """S4, reference classes and R6; S3 methods keep their whole name."""
    text = """\
        setMethod("area", "Circle", function(x) 1)
        A <- setRefClass("A", methods = list(run = function() 1))
        B <- R6::R6Class("B", public = list(run = function() 1), private = list(hide = function() 1))
        print.b <- function(x, ...) x
        lapply(xs, FUN = function(i) i)
        """
    found = read("r", text)
    assert list(places(found)) == ["Circle.area", "A", "A.run", "B", "B.run", "B.hide", "print.b"]
    assert [s.name for s in found.symbols if not s.exported] == ["hide"]


def test_julia_methods_are_named_without_types_and_owners() -> None:
    """Long and short forms, operators, qualified names, things that are called."""
    text = """\
        function Base.show(io::IO, c::Circle{T})::Nothing where {T} end
        area(s::Square) = s.side^2
        Base.:(==)(a::A, b::B) = true
        a ⊕ b = a + b
        (c::Circle)(x) = x
        @inline quick(x) = x
        macro twice(ex) end
        """
    assert [s.name for s in read("julia", text).symbols] == ["show", "area", "==", "⊕", "Circle", "quick", "twice"]


def test_a_julia_docstring_belongs_to_what_stands_below_macros() -> None:
    """The usage that opens it is no summary."""
    found = read("julia", '"""\n    f(x)\n\nDoes it.\n"""\n@inline function f(x)\n  x\nend\n')
    assert [(s.name, s.line_start, s.definition_line, s.doc) for s in found.symbols] == [("f", 1, 6, "Does it.")]


def test_a_broken_sql_statement_takes_no_other_with_it() -> None:
    """An open bracket, an open string, a missing semicolon."""
    text = """\
        CREATE TABLE a (x int, y varchar(10
        CREATE TABLE b (x int);
        INSERT INTO b VALUES ('open);
        CREATE VIEW c AS SELECT 1
        CREATE INDEX d ON b (x);
        """
    found = places(read("sql", text))
    assert {name: found[name] for name in "abcd"} == {"a": 1, "b": 2, "c": 4, "d": 5}


def test_sql_bodies_hold_no_definitions_and_end_where_they_end() -> None:
    """Quoted bodies, BEGIN ... END, delimiters: what they create lives as long as they run."""
    text = """\
        CREATE FUNCTION a() RETURNS int AS $$ BEGIN CREATE TABLE no (x int); END; $$ LANGUAGE plpgsql;
        CREATE TRIGGER b AFTER DELETE ON t BEGIN DELETE FROM u; UPDATE v SET x = CASE WHEN 1 THEN 2 END; END;
        DELIMITER //
        CREATE PROCEDURE c() BEGIN SELECT 1; SELECT 2;
        END //
        DELIMITER ;
        CREATE TABLE d (x int);
        """
    found = read("sql", text)
    assert [(s.qualified_name, s.line_start, s.line_end) for s in found.symbols] == [
        ("a", 1, 1),
        ("b", 2, 2),
        ("c", 4, 5),
        ("d", 7, 7),
        ("d.x", 7, 7),
    ]


def test_an_added_column_belongs_to_its_table() -> None:
    """Migrations are where most columns are written."""
    symbol = read(
        "sql", "ALTER TABLE ONLY shop.orders ADD COLUMN note text;\nALTER TABLE t ADD CONSTRAINT c CHECK (x);\n"
    )
    assert [(s.qualified_name, s.parent, s.kind) for s in symbol.symbols] == [
        ("shop.orders.note", "shop.orders", "field")
    ]


def test_newer_protobuf_than_the_grammar_is_read() -> None:
    """Editions, visibility words and groups."""
    group = "optional group C = 1 { optional int32 y = 1; }"
    text = f'edition = "2024";\nexport message A {{ int32 x = 1; }}\nmessage B {{ {group} }}\n'
    assert places(read("proto", text)) == {"A": 2, "A.x": 2, "B": 3, "B.C": 3, "B.C.y": 3}


def test_graphql_extensions_give_their_members_to_the_type() -> None:
    """They are no second type of that name."""
    text = 'type A { x: Int }\nextend type A { "Why." y: Int }\nextend schema @link(url: "u")\ntype B { z: Int }\n'
    assert places(read("graphql", text)) == {"A": 1, "A.x": 1, "A.y": 2, "B": 4, "B.z": 4}


LANGUAGES = ["haskell", "ocaml", "ocaml_interface", "r", "julia", "sql", "proto", "graphql"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "source", [b"", b"\n", b"\x00", b"#", b"--", b"/*", b"(*", b'"""', b"'", b"\xff\xfe", b"}" * 50]
)
def test_odd_files_are_read(language: str, source: bytes) -> None:
    """Empty, cut off, or no text at all."""
    assert extract(named(language), source).imports == ()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("haskell", "x = " + "(" * 3000 + ")" * 3000 + "\n\nafter :: Int\nafter = 1\n"),
        ("haskell", "#else\n" * 3000 + "a :: Int\n" * 500),
        ("ocaml", "let x = " + "(" * 3000 + ")" * 3000 + "\n\nlet after = 1\n"),
        ("ocaml", "module A = struct\n" * 500 + "end\n" * 500 + "let after = 1\n"),
        ("ocaml", "(*" * 20000),
        ("r", "x <- " + "(" * 3000 + ")" * 3000 + "\nafter <- 1\n"),
        ("r", "x = " + "a + " * 20_000 + "a\nafter <- 1\n"),
        ("ocaml", "let x = " + "a + " * 20_000 + "a\nlet after = 1\n"),
        ("r", "f(" * 3000 + ")" * 3000 + "\nafter <- 1\n"),
        ("julia", "module A\n" * 500 + "end\n" * 500 + "after() = 1\n"),
        ("julia", "function f(x\n" * 1000),
        ("sql", "CREATE TABLE a (" + "(" * 100_000),
        ("sql", "[" * 100_000 + "'" * 99_999),
        ("sql", "comment on table a " * 10_000),
        ("proto", "message A {" * 1000 + "}" * 1000 + "message after {}\n"),
        ("graphql", "{ a " * 1000 + "}" * 1000 + "\ntype after { x: Int }\n"),
        ("graphql", '"""' * 9_999),
    ],
)
def test_deep_and_hostile_files_end_no_walk(language: str, text: str) -> None:
    """Nothing recurses over the tree, and no pattern costs the square of a file's length."""
    found = read(language, text)
    if "after" in text:
        assert "after" in places(found)


def test_values_of_an_ocaml_tuple_are_named_one_by_one() -> None:
    """With brackets around them and without."""
    found = read("ocaml", "let url, user = read ()\nlet (a, b) = 1, 2\n")

    assert [(s.name, s.definition_line) for s in found.symbols] == [("url", 1), ("user", 1), ("a", 2), ("b", 2)]

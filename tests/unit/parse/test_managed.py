"""Java, Kotlin, Scala, C# and Dart: owners of members, visibility, and what their grammars do not know."""

from __future__ import annotations

import textwrap

import pytest

from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named


def read(language: str, text: str) -> Extracted:
    return extract(named(language), textwrap.dedent(text).encode())


def places(found: Extracted) -> dict[str, int]:
    return {symbol.qualified_name: symbol.definition_line for symbol in found.symbols}


def kinds(found: Extracted) -> dict[str, str]:
    return {symbol.qualified_name: symbol.kind for symbol in found.symbols}


def test_extensions_companions_and_record_members_keep_their_owner() -> None:
    """B027."""
    kotlin = "fun String.shout() = uppercase()\nclass Box {\n  companion object {\n    fun of() = Box()\n  }\n}\n"
    java = "record P(int x) { static P zero() { return new P(0); } }\n"
    assert places(read("kotlin", kotlin)) == {"String.shout": 1, "Box": 2, "Box.of": 4}
    assert places(read("java", java)) == {"P": 1, "P.x": 1, "P.zero": 1}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("kotlin", "class A {\n  fun run() {\n    fun local() {}\n    val x = 1\n  }\n}\n"),
        ("scala", "class A {\n  def run() = {\n    def local() = 1\n    val x = 1\n  }\n}\n"),
        ("csharp", "class A {\n  void run() {\n    int local() => 1;\n    int x = 1;\n  }\n}\n"),
        ("dart", "class A {\n  void run() {\n    int local() => 1;\n    final x = 1;\n  }\n}\n"),
    ],
)
def test_a_local_function_is_none_of_the_class(language: str, text: str) -> None:
    """B027: it belongs to the method it stands in, and local values are dropped."""
    assert places(read(language, text)) == {"A": 1, "A.run": 2, "A.run.local": 3}


def test_members_of_records_are_told_from_those_of_classes() -> None:
    """B031."""
    found = read(
        "csharp", "record Order(int Id) { public decimal Total() => 0; }\nclass Cart { decimal Total() => 1; }\n"
    )
    assert places(found) == {"Order": 1, "Order.Id": 1, "Order.Total": 1, "Cart": 2, "Cart.Total": 2}


def test_partial_records_operators_indexers_and_delegates_are_found() -> None:
    """B032; the namespace is none of their owners, as a package is none in Java."""
    text = """\
        namespace Acme.Books;

        public partial record Ledger(string Owner)
        {
            public static Ledger operator +(Ledger a, decimal x) => a.Deposit(x);
            public string this[int i] => Owner;
            public event System.Action? Changed;
        }

        public partial record Ledger
        {
            private void Recount<T>(T seed) where T : struct { }
        }

        public delegate void Ping(int n);
        """
    assert [(s.qualified_name, s.definition_line, s.line_end, s.exported) for s in read("csharp", text).symbols] == [
        ("Ledger", 3, 8, True),
        ("Ledger.Owner", 3, 3, True),
        ("Ledger.operator +", 5, 5, True),
        ("Ledger.this[]", 6, 6, True),
        ("Ledger.Changed", 7, 7, True),
        ("Ledger", 10, 13, True),
        ("Ledger.Recount", 12, 12, False),
        ("Ping", 15, 15, True),
    ]


def test_what_is_not_public_is_no_export() -> None:
    """By each language's own rule; strings in annotations are no modifiers."""
    sources = {
        "java": 'class A {}\npublic class B {}\n@X("private")\npublic interface C { void d(); }\n',
        "kotlin": '@X("private")\nclass A\ninternal class B\nprivate fun c() {}\nprotected fun d() {}\n',
        "scala": "class A\nprivate[x] class B\nprotected trait C\n",
        "csharp": "class A {}\npublic class B {}\npublic interface C { void D(); }\n",
        "dart": "class A {}\nclass _B {}\n",
    }
    exported = {
        language: [symbol.name for symbol in read(language, text).symbols if symbol.exported]
        for language, text in sources.items()
    }
    assert exported == {
        "java": ["B", "C", "d"],
        "kotlin": ["A", "d"],
        "scala": ["A", "C"],
        "csharp": ["B", "C", "D"],
        "dart": ["A"],
    }


def test_members_of_an_anonymous_class_belong_to_its_value_or_method() -> None:
    """Their names alone would collide with those of the class around them."""
    java = "class A {\n  Runnable r = new Runnable() { public void run() {} };\n}\n"
    kotlin = "val r = object : Runnable {\n  override fun run() {}\n}\n"
    scala = "object A {\n  val r = new Runnable { def run() = () }\n}\n"
    assert kinds(read("java", java)) == {"A": "class", "A.r": "field", "A.r.run": "method"}
    assert kinds(read("kotlin", kotlin)) == {"r": "variable", "r.run": "method"}
    assert kinds(read("scala", scala)) == {"A": "class", "A.r": "field", "A.r.run": "method"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class Q { override fun f() = g(1) }\n", ["Q", "Q.f"]),
        ("fun interface F { fun f() }\n", ["F", "F.f"]),
        ("enum class E(val n: Int) : I { A(1) { override fun f() = 1 }, B(2) }\n", ["E", "E.n", "E.A", "E.A.f", "E.B"]),
        ("class A(b: B) : B by b {\n  companion object { fun of() = 1 }\n  init { go() }\n  val x = 1\n}\n",
         ["A", "A.of", "A.x"]),
        ("class A {\n  val x: Int by lazy { 1 }\n  fun f() {}\n}\n", ["A", "A.x", "A.f"]),
        ("context(Scope)\nfun f() {}\n", ["f"]),
        ("fun <E> f(e: E)\n    where E : Throwable, E : Known<E> {\n}\nval after = 1\n", ["f", "after"]),
        ("val g = Box<*>::open\nfun f() {}\n", ["g", "f"]),
        ("class R<out T>\n@Internal constructor(val held: T) {\n  fun f() {}\n}\n", ["R", "R.held", "R.f"]),
        ("class C(actual val x: Int)\nfun f() = 1 ..< 2\n", ["C", "C.x", "f"]),
        ('fun f() = $$"a $b"\nval g = 1\n', ["f", "g"]),
    ],
)  # fmt: skip
def test_kotlin_that_the_grammar_does_not_know_is_read(text: str, names: list[str]) -> None:
    """One-line members (B027 as people write it), delegation, contexts and other new words."""
    assert [symbol.qualified_name for symbol in read("kotlin", text).symbols] == names


def test_accessors_belong_to_their_property() -> None:
    """They are siblings in the tree, and a comment may stand between."""
    found = read("kotlin", "class A {\n  var x: Int\n    // fast\n    get() = 1\n    set(v) {\n      y = v\n    }\n}\n")
    assert [(s.qualified_name, s.line_start, s.line_end) for s in found.symbols] == [("A", 1, 8), ("A.x", 2, 7)]


def test_strings_nested_too_deep_for_the_parser_end_no_worker() -> None:
    """Kotlin's scanner has an assertion; the process would be gone."""
    assert "after" in places(read("kotlin", "fun after() {}\n" + 'val x = "${' * 5000))


def test_a_class_between_conditional_branches_is_found_with_all_its_members() -> None:
    """Branches that cut through a statement break the tree: the first is parsed, the others are read by their lines."""
    text = """\
        public class A
        {
            internal static bool First(int a)
        #if NET
                => a > 1
        #else
                => a > 2
        #endif
                ;
            public void Second() { }
        #if OLD
            public void Third() { }
        #else
            public void Fourth(
                int a) { }
        #endif
        }
        """
    assert places(read("csharp", text)) == {"A": 1, "A.First": 3, "A.Second": 10, "A.Third": 12, "A.Fourth": 14}


def test_definitions_of_a_broken_java_file_are_found() -> None:
    """A conflict that was committed: both sides and what follows."""
    text = """\
        public class A {
        <<<<<<< ours
          public int one(int a) {
        =======
          public int two(int b) {
        >>>>>>> theirs
            return 1;
          }

          private static List<String> three(String c) {
            return null;
          }
        }
        """
    found = read("java", text)
    assert found.note == "syntax errors"
    assert {"one", "two", "three"} <= {symbol.name for symbol in found.symbols}


def test_java_newer_than_the_grammar_is_read_around() -> None:
    """Patterns, modules and methods without a class."""
    text = """\
        import module java.base;
        void main() { run(); }
        class A {
          String f(Object o) { return switch (o) { case Box.Pair(var x, var y) when x > 1 -> g(); default -> ""; }; }
          void g() {}
        }
        """
    assert {"main": 2, "A": 3, "A.f": 4, "A.g": 5}.items() <= places(read("java", text)).items()


def test_givens_and_extensions_have_names_and_owners() -> None:
    """A given without a name has the one that the compiler makes."""
    text = """\
        given Ordering[String] = order
        given [T](using o: Ord[T]): Ord[List[T]] = lists(o)
        extension (s: String) def shout = 1
        extension [A](a: A) def tap = a
        """
    assert places(read("scala", text)) == {
        "given_Ordering_String": 1,
        "given_Ord_List_T": 2,
        "String.shout": 3,
        "tap": 4,
    }


@pytest.mark.parametrize(
    ("language", "text", "imports"),
    [
        ("java", "import static a.B.c;\nimport a.*;\n", [("a.B", ("c",), ("",)), ("a", ("*",), ("",))]),
        ("kotlin", "import a.b.C as D\nimport a.*\n", [("a.b", ("C",), ("D",)), ("a", ("*",), ("",))]),
        ("scala", "import a.{B => C, D => _, _}, e.F\n", [("a", ("B", "*"), ("C", "")), ("e", ("F",), ("",))]),
        ("csharp", "using A.B;\nusing C = D.E;\n", [("A.B", ("*",), ("",)), ("D.E", ("*",), ("C",))]),
        ("dart", "import 'a.dart' as b show C hide D;\nexport 'e.dart';\n",
         [("a.dart", ("*", "C"), ("b", "")), ("e.dart", ("*",), ("",))]),
    ],
)  # fmt: skip
def test_imports_tell_module_names_and_aliases(
    language: str, text: str, imports: list[tuple[str, tuple[str, ...], tuple[str, ...]]]
) -> None:
    """Each in its language's form."""
    found = read(language, text + "class X {}\n")
    assert [(each.module, each.names, each.aliases) for each in found.imports] == imports


def test_a_doc_comment_above_the_first_definition_is_none_of_the_imports() -> None:
    """The grammar of Kotlin files it under them."""
    found = read("kotlin", "import a.b\nimport c.d\n\n/**\n * Doc.\n */\nclass A\n")
    assert [(block.kind, block.line_start, block.line_end) for block in found.blocks] == [
        ("imports", 1, 2),
        ("definition", 4, 7),
    ]


def test_markup_in_doc_comments_is_no_text() -> None:
    """Inline tags of Java and XML of C# leave what they name."""
    java = read("java", "/** Reads {@link Row#id ids} of <b>all</b>. */\nclass A {}\n")
    sharp = read(
        "csharp",
        '/// <summary>\n/// Reads <see cref="Row"/>.\n/// </summary>\n/// <param name="a">x</param>\nclass A {}\n',
    )
    assert [found.symbols[0].doc for found in (java, sharp)] == ["Reads Row.id ids of all.", "Reads Row."]


@pytest.mark.parametrize("language", ["java", "kotlin", "scala", "csharp", "dart"])
@pytest.mark.parametrize("source", [b"", b"\n", b"\x00", b"/*", b'"""', b"\xff\xfe", b"}" * 50, b"class A {" * 2000])
def test_odd_files_are_read(language: str, source: bytes) -> None:
    """Empty, cut off, no text at all, or deep."""
    assert extract(named(language), source).imports == ()

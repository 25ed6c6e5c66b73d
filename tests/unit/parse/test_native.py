"""Languages that compile to machine code: Rust, C++, Swift, Zig, Objective-C. What other tools lost in them."""

from __future__ import annotations

import textwrap

import pytest

from ctxd.parse.chunk import cut
from ctxd.parse.extract import Extracted, extract
from ctxd.parse.families.macros import without_macros
from ctxd.parse.languages import detect, named
from ctxd.parse.lines import split


def read(language: str, text: str) -> Extracted:
    return extract(named(language), textwrap.dedent(text).encode())


def places(found: Extracted) -> dict[str, int]:
    return {symbol.qualified_name: symbol.definition_line for symbol in found.symbols}


def test_methods_of_trait_impls_belong_to_their_type() -> None:
    """B023: three `read`, and both `new` told apart by their owner."""
    text = """\
        pub trait Source { fn read(&self) -> u8; }
        struct FileSource;
        struct BufSource<T>(T);
        impl Source for FileSource { fn read(&self) -> u8 { 1 } }
        impl<T> Source for BufSource<T> { fn read(&self) -> u8 { 2 } }
        impl FileSource { fn new() -> Self { FileSource } }
        impl<T> BufSource<T> { fn new(t: T) -> Self { BufSource(t) } }
        """
    found = read("rust", text)
    assert places(found) == {
        "Source": 1,
        "Source.read": 1,
        "FileSource": 2,
        "BufSource": 3,
        "FileSource.read": 4,
        "BufSource.read": 5,
        "FileSource.new": 6,
        "BufSource.new": 7,
    }
    implements = [(found.symbols[r.enclosing].name, r.name) for r in found.references if r.kind == "implements"]
    assert implements == [("FileSource", "Source"), ("BufSource", "Source")]


def test_one_chunk_is_an_impl_block_with_its_header() -> None:
    """Its lines are not joined with its neighbours; with one method in it, it is that method."""
    text = "fn a() {}\n\nimpl Source for FileSource {\n    fn read(&self) -> u8 {\n        1\n    }\n}\n\nfn b() {}\n"
    found = read("rust", text)
    chunks = cut(split(text), found, named("rust"), 500)
    assert [(c.line_start, c.line_end, found.symbols[c.symbol].name) for c in chunks][1] == (3, 8, "read")


def test_definitions_in_the_arguments_of_macros_are_found() -> None:
    """To the grammar they are tokens; strings and comments among them hold none."""
    text = """\
        pin_project! {
            /// A body.
            pub struct Body<T> {
                text: &'static str,
            }
        }
        cfg_if! { if #[cfg(x)] {
            // fn no() {}
            pub(crate) fn yes(a: u8) -> u8 {
                "
                fn neither() {}"; a
            }
        } }
        """
    found = read("rust", text)
    assert [(s.name, s.kind, s.definition_line, s.line_end) for s in found.symbols] == [
        ("Body", "struct", 3, 5),
        ("yes", "function", 9, 12),
    ]


def test_members_of_swift_extensions_and_actors_belong_to_their_type() -> None:
    """B032: and the type itself is found at its own lines, once."""
    text = """\
        protocol Paintable { associatedtype Ink; func paint(_ i: Ink) }
        struct Tile<T>: Equatable where T: Equatable {
          subscript(i: Int) -> T { face }
        }
        extension Tile: CustomStringConvertible {
          mutating func flipFace(to f: T) { face = f }
        }
        extension Array where Element == Int { func sumTwice() -> Int { reduce(0, +) * 2 } }
        actor Vault { func store(_ x: Int) async throws {} }
        indirect enum Tree { case leaf, node(Tree, Tree) }
        func topLevelSwift<T: Paintable>(_ t: T) -> some Equatable { 1 }
        """
    found = read("swift", text)
    assert places(found) == {
        "Paintable": 1,
        "Paintable.Ink": 1,
        "Paintable.paint": 1,
        "Tile": 2,
        "Tile.subscript": 3,
        "Tile.flipFace": 6,
        "Array.sumTwice": 8,
        "Vault": 9,
        "Vault.store": 9,
        "Tree": 10,
        "Tree.leaf": 10,
        "Tree.node": 10,
        "topLevelSwift": 11,
    }
    assert [s.line_end for s in found.symbols if s.name == "Tile"] == [4]


def test_swift_that_is_newer_than_its_grammar_keeps_its_owners() -> None:
    """Conditions around members, typed throws and ownership words would turn the class into an error node."""
    text = """\
        final class Session {
          nonisolated(unsafe) var count = 0
          #if canImport(Security)
          func check(_ x: consuming sending Trust) throws(Failure) { done(.success(())) }
          #endif
          func after() { unsafe setenv("a", 1) }
        }
        """
    found = read("swift", text)
    assert found.note == ""
    assert places(found) == {"Session": 1, "Session.count": 2, "Session.check": 4, "Session.after": 6}


def test_swift_definitions_in_a_broken_file_are_found_by_their_lines() -> None:
    """With the end of each where its brace closes."""
    text = "class A {\n  func b() {\n    let x = = ]\n  }\n  }}}\n}\n\npublic struct C {\n  func d() {\n  }\n}\n"
    found = read("swift", text)
    assert found.note == "syntax errors"
    assert {(s.name, s.definition_line) for s in found.symbols} >= {("A", 1), ("b", 2), ("C", 8), ("d", 9)}


def test_what_a_zig_function_returns_as_a_type_is_that_type() -> None:
    """Its members belong to it; imports bound to a constant are imports."""
    text = """\
        const std = @import("std");
        pub fn List(comptime T: type) type {
            return struct {
                items: []T,
                pub fn push(self: *@This(), item: T) void { self.items.append(item); }
            };
        }
        test "pushes" {}
        """
    found = read("zig", text)
    assert [(s.qualified_name, s.kind) for s in found.symbols] == [
        ("List", "struct"),
        ("List.items", "field"),
        ("List.push", "method"),
        ("pushes", "test"),
    ]
    assert [(i.module, i.names, i.aliases) for i in found.imports] == [("std", ("*",), ("std",))]


def test_out_of_line_members_belong_to_their_class_in_its_namespace() -> None:
    """B025: the body is a method, told from its declaration by its lines."""
    header = "namespace acme { class Calc { public: int add(int a, int b); }; }\n"
    body = "namespace acme {\nint Calc::add(int a,int b){ return a + b; }\n}\nAPI_CALL int api_go(void){ return 1; }\n"
    declared, defined = read("cpp", header), read("cpp", body)
    assert places(declared) == {"acme": 1, "acme.Calc": 1, "acme.Calc.add": 1}
    assert [(s.qualified_name, s.kind, s.definition_line) for s in defined.symbols] == [
        ("acme", "module", 1),
        ("acme.Calc.add", "method", 2),
        ("api_go", "function", 4),
    ]
    assert [s.signature for s in defined.symbols[1:]] == ["int Calc::add(int a,int b)", "API_CALL int api_go(void)"]


@pytest.mark.parametrize(
    "text",
    [
        "class API Calc final : public Base {\n int add(int a);\n};\n",
        "BEGIN_NAMESPACE\nclass Calc {\n int add(int a);\n};\nEND_NAMESPACE\n",
        "class Calc {\n Q_OBJECT\npublic slots:\n LIB_API LIB_HOT int add(int a) LIB_NOEXCEPT;\n};\n",
        "template <typename T, LIB_ENABLE_IF(is_same<T, int>::value)>\nclass Calc {\n int add(int a);\n};\n",
        "#if A\nclass Calc : public One {\n#else\nclass Calc {\n#endif\n int add(int a);\n};\n",
        "class Calc {\n#if A\n int add(int a) {\n#else\n int add(int b) {\n#endif\n  return 1;\n }\n};\n",
        "class Calc {\n int add(int a) noexcept(noexcept(f())) { return x.template get<int>(); }\n};\n",
    ],
)
def test_macros_and_conditions_do_not_take_a_class_from_its_members(text: str) -> None:
    """They are blanked for the parser alone; the class and its method are found at their own lines."""
    found = read("cpp", text)
    assert found.note == ""
    lines = text.splitlines()
    assert {(s.qualified_name, s.kind) for s in found.symbols} == {("Calc", "class"), ("Calc.add", "method")}
    assert all(s.name in lines[s.definition_line - 1] for s in found.symbols)


def test_what_only_looks_like_a_macro_is_not_blanked() -> None:
    """Values on a line of their own: the last tag, an argument, what is returned."""
    text = b"enum { ONE,\n  LAST_ONE\n};\nint f() {\n  return\n    MAX_SIZE\n  + g(\n    MIN_SIZE\n  );\n}\n"
    assert without_macros(text) == text


@pytest.mark.parametrize(
    "unit", [b"A_B", b"A_B(", b"A_B ", b"#if A_B\n", b"template <A_B(", b"decltype(", b"(", b"\\\n"]
)
def test_blanking_macros_takes_time_by_length_only(unit: bytes) -> None:
    """100 KB of anything stay as long as they were."""
    text = unit * (100_000 // len(unit))
    assert len(without_macros(text)) == len(text)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"/* class */\nint f(void);\nstruct s { int namespace_id; };\n", "c"),
        (b'#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n', "c"),
        (b"#pragma once\n#include <string>\n", "cpp"),
        (b"namespace acme {\n", "cpp"),
        (b"class API Calc final : public Base\n{\n", "cpp"),
        (b"  template <typename T>\n", "cpp"),
        (b"std::string name();\n", "cpp"),
        (b"#import <UIKit/UIKit.h>\n", "objectivec"),
        (b"@interface Foo : NSObject\n", "objectivec"),
    ],
)
def test_the_language_of_a_header_is_told_by_its_lines(head: bytes, name: str) -> None:
    """Only by what no other of the three has: in doubt it is C."""
    assert detect("include/x.h", head).name == name


def test_categories_add_to_the_class_they_name() -> None:
    """Each is a place of that name; a method is named by the first word of its selector, where its body is too."""
    text = """\
        NS_ASSUME_NONNULL_BEGIN
        typedef NS_ENUM(NSInteger, Kind) { KindNone };
        API_AVAILABLE(ios(9.0))
        @interface Foo : NSObject
        - (instancetype)initWithA:(int)a other:(id)b NS_DESIGNATED_INITIALIZER;
        @end
        @interface Foo ()
        @property (nonatomic, copy) NSString *secret;
        @end
        @implementation Foo (Cat)
        - (void)purr:(id)sender FOO_API(ios(10), macosx(10.12)) { [sender meow:1 loud:YES]; }
        @end
        """
    found = read("objectivec", text)
    assert found.note == ""
    assert [(symbol.qualified_name, symbol.definition_line) for symbol in found.symbols] == [
        ("Kind", 2),
        ("Kind.KindNone", 2),
        ("Foo", 4),
        ("Foo.initWithA", 5),
        ("Foo", 7),
        ("Foo.secret", 8),
        ("Foo", 10),
        ("Foo.purr", 11),
    ]
    assert found.symbols[6].signature == "@implementation Foo (Cat)"
    assert [(r.name, r.receiver) for r in found.references if r.kind == "call"] == [("meow", "sender")]


def test_objective_c_that_its_grammar_does_not_take_is_found_by_its_lines() -> None:
    """C++ in it, for one."""
    text = "@implementation Foo\n- (void)bar {\n  std::vector<int> v{1}; auto f = [&](int a) -> A { };\n}\n@end\n"
    assert {(s.name, s.definition_line) for s in read("objectivec", text).symbols} >= {("Foo", 1), ("bar", 2)}


@pytest.mark.parametrize("language", ["rust", "cpp", "cuda", "swift", "zig", "objectivec"])
@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\n",
        b"\x00",
        b"#",
        b"/*",
        b'"',
        b"\xff\xfe",
        b"}" * 50,
        b"<" * 3000,
        b"(" * 5000,
        b"{" * 5000,
        b"[" * 5000,
    ],
)
def test_odd_files_are_read(language: str, source: bytes) -> None:
    """Empty, cut off, too deep, or no text at all."""
    assert extract(named(language), source).imports == ()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("rust", "fn f() { let x = " + "(" * 3000 + "1" + ")" * 3000 + "; }\nfn after() {}\n"),
        ("rust", "mod a {" * 500 + "}" * 500 + "\nfn after() {}\n"),
        ("cpp", "namespace a {" * 500 + "}" * 500 + "\nvoid after() {}\n"),
        ("cpp", "int x = " + "f<" * 1500 + "1" + ">()" * 1500 + ";\nvoid after() {}\n"),
        ("swift", "struct A {" * 500 + "}" * 500 + "\nfunc after() {}\n"),
        ("zig", "const A = struct {" * 300 + "};" * 300 + "\nfn after() void {}\n"),
        ("objectivec", "void f(void) { " + "[" * 1000 + "a b" + " c]" * 1000 + "; }\nvoid after(void) {}\n"),
    ],
)
def test_deep_files_end_no_walk(language: str, text: str) -> None:
    """Nothing recurses over the tree."""
    assert "after" in places(read(language, text))


def test_tests_of_cpp_are_named_by_their_macros_arguments() -> None:
    """Not all of them TEST."""
    text = """\
        TEST(math_test, adds) { EXPECT_EQ(add(1, 2), 3); }
        TEST_F(Fixture, Works)
        {
          run();
        }
        TEST_CASE("strings are joined", "[text]")
        {
          join();
        }
        // TEST(no, test) {
        """
    assert [(s.name, s.kind, s.line_start, s.line_end) for s in read("cpp", text).symbols] == [
        ("math_test.adds", "test", 1, 1),
        ("Fixture.Works", "test", 2, 5),
        ("strings are joined", "test", 6, 9),
    ]

"""Languages that compile to machine code: Rust, C++, Swift, Zig, Objective-C. What other tools lost in them."""

from __future__ import annotations

import textwrap

from ctxd.parse.chunk import cut
from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named
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

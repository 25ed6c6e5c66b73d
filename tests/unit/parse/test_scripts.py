"""Ruby, PHP, Lua, shell, Perl and Elixir: single inputs that are easily lost or misplaced."""

from __future__ import annotations

import textwrap

import pytest

from ctxd.parse.encodings import decode
from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import detect, named


def read(language: str, text: str) -> Extracted:
    return extract(named(language), textwrap.dedent(text).encode())


def places(found: Extracted) -> dict[str, int]:
    return {symbol.qualified_name: symbol.definition_line for symbol in found.symbols}


def hidden(found: Extracted) -> set[str]:
    return {symbol.qualified_name for symbol in found.symbols if not symbol.exported}


def uses(found: Extracted, kind: str) -> set[tuple[str, str]]:
    return {(use.receiver, use.name) for use in found.references if use.kind == kind}


def test_methods_of_a_singleton_class_belong_to_the_class_around_it() -> None:
    """B029."""
    found = read("ruby", "class Shop\n  class << self\n    def build; end\n  end\nend\n")
    assert places(found) == {"Shop": 1, "Shop.build": 3}
    assert found.symbols[1].kind == "method"


def test_a_private_section_ends_with_its_own_class() -> None:
    """`private` inside `class << self` or in a class hides neither what is around nor classes and `def self.x`."""
    text = """\
        class A
          class << self
            private
            def one; end
          end
          def two; end
          private
          def three; end
          def self.four; end
          class B
            def five; end
          end
        end
        class C
          def six; end
        end
        """
    assert hidden(read("ruby", text)) == {"A.one", "A.three"}


def test_calls_without_arguments_are_calls_when_the_file_defines_the_method() -> None:
    """A local variable of that name is told by its assignment."""
    text = """\
        class A
          def run
            prepare
            value = 1
            other(value) if ready?
            unknown
          end
          def prepare; end
          def value; end
        end
        """
    assert uses(read("ruby", text), "call") == {("", "prepare"), ("", "other"), ("", "ready?")}


def test_a_path_to_a_class_is_one_use_of_the_class() -> None:
    """The modules before it are its receiver."""
    found = read("ruby", "raise Shop::Order::Missing unless Shop::LIMIT\n")
    assert uses(found, "type") == {("Shop::Order", "Missing")}
    assert uses(found, "constant") == {("Shop", "LIMIT")}


def test_a_ruby_file_in_shift_jis_is_read_and_its_encoding_line_is_no_doc() -> None:
    """B010."""
    raw = "# encoding: Shift_JIS\n# 日本語\ndef sjis_fn\n  1\nend\n".encode("shift_jis")
    symbol = extract(named("ruby"), decode(raw).text.encode()).symbols[0]
    assert (symbol.name, symbol.definition_line, symbol.line_end, symbol.doc) == ("sjis_fn", 3, 5, "日本語")


def test_templates_are_not_ruby() -> None:
    """ERB is markup first: its grammar would find nothing but errors."""
    assert detect("app/views/show.html.erb", b"").name == "html"


def test_members_of_traits_and_enums_belong_to_them() -> None:
    """B029, in PHP."""
    text = "<?php\ntrait T { public function t() {} }\nenum E: int { case A = 1; function e() {} }\n"
    assert places(read("php", text)) == {"T": 2, "T.t": 2, "E": 3, "E.A": 3, "E.e": 3}


def test_promoted_parameters_are_fields_and_hide_by_their_own_word() -> None:
    """Plain parameters are none."""
    text = "<?php\nclass C { function __construct(private Dep $dep, public int $n, $plain) {} }\n"
    found = read("php", text)
    assert places(found) == {"C": 2, "C.__construct": 2, "C.dep": 2, "C.n": 2}
    assert hidden(found) == {"C.dep"}


def test_a_template_with_foreign_words_keeps_its_definitions() -> None:
    """Placeholders break the tree of such files."""
    text = """\
        <?php
        class Policy
        {
            public function view({{ user }} $user, {{ model }} ${{ modelVariable }}): bool
            {
                return true;
            }
            // function never() {}
        }
        """
    found = read("php", text)
    assert found.note == "syntax errors"
    spans = [(s.qualified_name, s.line_start, s.line_end) for s in found.symbols]
    assert ("Policy.view", 4, 7) in spans and len(spans) == 2


def test_what_a_lua_file_returns_is_exported() -> None:
    """Members go with their table; other locals are the file's own."""
    text = """\
        local M, H = {}, {}
        function M.open() end
        H.helper = function() end
        function M:close() end
        local function inner() end
        return M
        """
    found = read("lua", text)
    assert places(found) == {"M": 1, "H": 1, "M.open": 2, "H.helper": 3, "M.close": 4, "inner": 5}
    assert hidden(found) == {"H", "H.helper", "inner"}
    assert [s.kind for s in found.symbols] == ["variable", "variable", "function", "function", "method", "function"]


def test_classes_that_lua_comments_declare_are_found() -> None:
    """Editors know them; a table of the same name is the class itself."""
    text = """\
        --- A plugin.
        ---@class lazy.Plugin: lazy.Base
        ---@field name string

        ---@class Store
        local Store = {}
        """
    found = read("lua", text)
    assert [(s.kind, s.qualified_name, s.definition_line, s.doc) for s in found.symbols] == [
        ("class", "lazy.Plugin", 2, "A plugin."),
        ("field", "lazy.Plugin.name", 3, ""),
        ("class", "Store", 6, ""),
    ]
    assert uses(found, "extends") == {("lazy", "Base")}


def test_shell_functions_are_found_in_every_form() -> None:
    """With and without the word, on one line, in branches, with marks in their names."""
    text = """\
        one() { two; }; three() { :; }
        function four { :; }
        function five() ( :; )
        six-seven.eight()
        {
          :
        }
        if true; then
          nine() { :; }
        fi
        cat <<'EOF'
        never() { :; }
        EOF
        """
    found = read("bash", text)
    assert places(found) == {"one": 1, "three": 1, "four": 2, "five": 3, "six-seven.eight": 4, "nine": 9}


def test_shell_variables_in_capitals_or_declared_are_found_outside_functions() -> None:
    """Others are scratch; what stands before a command is for that command alone."""
    text = "A_ONE=1\nscratch=2\nexport three=3\nFOUR=4 run_it\nf() { FIVE=5; }\n"
    assert places(read("bash", text)) == {"A_ONE": 1, "three": 3, "f": 5}


def test_tests_of_bats_are_found_with_their_end() -> None:
    """To the grammar they are three commands."""
    text = """\
        @test "adds 'two' numbers" {
          run add 1 2
        }

        @test 'on one line' { true; }
        """
    found = read("bash", text)
    spans = [(s.kind, s.name, s.line_start, s.line_end) for s in found.symbols]
    assert spans == [("test", "adds 'two' numbers", 1, 3), ("test", "on one line", 5, 5)]
    assert ("", "add") in uses(found, "call")


def test_a_perl_package_reaches_to_the_next_one_and_names_are_absolute() -> None:
    """What follows `__END__` is no code."""
    text = """\
        package Shop::Order;
        sub run { 1 }
        sub Other::sub_of_another { 1 }
        package Shop::Line;
        sub run { 2 }
        __END__
        sub never { 1 }
        """
    found = read("perl", text)
    spans = {s.qualified_name: (s.line_start, s.line_end) for s in found.symbols}
    assert spans == {
        "Shop.Order": (1, 3),
        "Shop.Order.run": (2, 2),
        "Other.sub_of_another": (3, 3),
        "Shop.Line": (4, 5),
        "Shop.Line.run": (5, 5),
    }


def test_documentation_of_a_perl_function_is_found_above_it_and_at_the_end() -> None:
    """A heading above is part of the definition; the examples are not its first words."""
    text = """\
        =head2 first

            first(1);

        Does the C<first> thing.

        =cut

        sub first { 1 }
        sub second { 2 }

        =head2 second

        Does the second.

        =cut
        """
    found = read("perl", text)
    assert [(s.name, s.line_start, s.definition_line, s.doc) for s in found.symbols] == [
        ("first", 1, 9, "Does the first thing."),
        ("second", 10, 10, "Does the second."),
    ]


def test_a_perl_declaration_without_a_body_swallows_nothing() -> None:
    """The grammar takes the rest of the file for its body."""
    text = "sub proto($$);\nsub after { 1 }\npackage P;\nsub last_one { 2 }\n"
    assert places(read("perl", text)) == {"after": 2, "P": 3, "P.last_one": 4}


def test_clauses_of_an_elixir_function_are_one_symbol_with_its_attributes() -> None:
    """Another number of parameters is another function."""
    text = """\
        defmodule A do
          @doc "Runs."
          @spec run(integer, integer) :: integer
          def run(a, b \\\\ 1)
          def run(0, b), do: b
          # Otherwise.
          def run(a, b), do: go(a, b)

          def run(a), do: a
          defp go(a, b), do: a + b
        end
        """
    found = read("elixir", text)
    spans = [(s.qualified_name, s.line_start, s.line_end, s.definition_line, s.doc) for s in found.symbols]
    assert spans == [
        ("A", 1, 11, 1, ""),
        ("A.run", 2, 7, 4, "Runs."),
        ("A.run", 9, 9, 9, ""),
        ("A.go", 10, 10, 10, ""),
    ]
    assert found.symbols[1].signature == "def run(a, b \\\\ 1)"
    assert hidden(found) == {"A.go"}
    assert uses(found, "call") == {("", "go")}


def test_elixir_aliases_bind_the_module_under_its_last_name() -> None:
    """Several in braces, and under another name."""
    found = read("elixir", "alias Shop.{Order, Store.Line}\nalias Shop.Money, as: Cash\nimport Q, only: [from: 2]\n")
    assert [(i.module, i.line, i.names, i.aliases) for i in found.imports] == [
        ("Shop.Order", 1, ("*",), ("Order",)),
        ("Shop.Store.Line", 1, ("*",), ("Line",)),
        ("Shop.Money", 2, ("*",), ("Cash",)),
        ("Q", 3, ("from",), ("",)),
    ]


@pytest.mark.parametrize("language", ["ruby", "php", "lua", "bash", "perl", "elixir"])
def test_no_nesting_and_no_noise_ends_the_worker(language: str) -> None:
    """B013: deep brackets, cut-off files, words without sense."""
    openings = {
        "php": "<?php $x = ",
        "bash": "x() ",
        "elixir": "x = ",
        "lua": "x = ",
        "ruby": "x = ",
        "perl": "my $x = ",
    }
    bracket = "{" if language in ("bash", "lua") else "["
    text = openings[language] + bracket * 5000
    extract(named(language), text.encode())
    blocks = {"php": "function f() {\n", "bash": "f() {\n", "elixir": "defmodule A do\n", "lua": "function f()\n"}
    nested = blocks.get(language, "class A\n" if language == "ruby" else "sub f {\n") * 2000
    extract(named(language), ("<?php\n" if language == "php" else "").encode() + nested.encode())
    noise = bytes(range(32, 127)) * 200 + "é→".encode() * 50
    extract(named(language), noise)

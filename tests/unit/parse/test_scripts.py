"""Ruby, PHP, Lua, shell, Perl and Elixir: single inputs that are easily lost or misplaced."""

from __future__ import annotations

import textwrap

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

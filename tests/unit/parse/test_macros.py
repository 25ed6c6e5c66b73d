"""Macros of the C family: what they hide from a grammar is found by the text, or once they are blanked."""

from __future__ import annotations

import textwrap

from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named


def read(language: str, text: str) -> Extracted:
    return extract(named(language), textwrap.dedent(text).encode())


def places(found: Extracted) -> dict[str, int]:
    return {symbol.qualified_name: symbol.definition_line for symbol in found.symbols}


def test_macros_in_front_of_a_definition_of_c_do_not_hide_it() -> None:
    """Calls without a semicolon above it, attributes with arguments before its name, on lines of their own."""
    text = """        GENERATE(a, b,
            c)

        static int
        compare(const a *x, const a *y) {
        \tint local = 1;
        }

        /* Prints. */
        FORMAT_PRINTF(3, 4)
        size_t
        print(char *str, ...) {
        }

        API_EXPORT void API_NOTHROW *
        API_ATTR(malloc) API_SIZE(1)
        make(size_t size) {
        }
        #define TWO(x) \\
            AT_ONCE(x)
        void
        after(void) {
        }
        """
    found = read("c", text)
    listed = [(s.name, s.line_start, s.definition_line, s.doc) for s in found.symbols]
    assert listed == [
        ("compare", 4, 5, ""),
        ("print", 9, 12, "Prints."),
        ("make", 15, 17, ""),
        ("TWO", 19, 19, ""),
        ("after", 21, 22, ""),
    ]


def test_a_long_list_of_macros_belongs_to_nothing_below_it() -> None:
    """A few lines of them are attributes of what follows."""
    text = (
        "".join(f"CTL_PROTO(name_{n})\n" for n in range(6))
        + "int table(void) { return 0; }\nA_B(c)\nint one(void) { return 1; }\n"
    )
    assert [(s.name, s.line_start) for s in read("c", text).symbols if s.name in ("table", "one")] == [
        ("table", 7),
        ("one", 8),
    ]


def test_the_last_member_of_a_class_may_be_a_macro() -> None:
    """Without a semicolon, and with the class's brace on a line of its own; what follows is not in the class."""
    text = """\
        class Person
        {
            int age = 0;
            DEFINE_TYPE(Person, age)
        };

        class Other
        {
            int x;
        };
        """
    assert places(read("cpp", text)) == {"Person": 1, "Person.age": 3, "Other": 7, "Other.x": 9}


def test_macros_of_a_branch_that_is_not_parsed_are_found() -> None:
    """Where only one branch of a condition can be, and a macro of the other has a name of its own."""
    text = """\
        BEGIN_SPACE
        class One {
        #if A
            void go() {
        #else
        #  define TWO(x) ((x) + 1)
            void go(int) {
        #endif
            }
        };
        """
    assert "TWO" in places(read("cpp", text))

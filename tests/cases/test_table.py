"""The table of cases and the tests say the same."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = (Path(__file__).parent / "README.md").read_text()
CASE = re.compile(r"\bB\d{3}\b")


def rows() -> dict[str, list[str]]:
    """Return the tests of each case as the table has them."""
    cells = [re.split(r"\s*\|\s*", line.strip("| ")) for line in TABLE.splitlines() if line.startswith("| B")]
    return {case: re.findall(r"`([^`]+)`", tests) for case, _, tests in cells}


@cache
def named(path: Path) -> dict[str, set[str]]:
    """Return the tests of a file, each with the cases that its docstring or its module's names."""
    module = ast.parse(path.read_text())
    of_module = ast.get_docstring(module) or ""
    return {
        one.name: set(CASE.findall(f"{of_module} {ast.get_docstring(one) or ''}"))
        for one in module.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test_")
    }


def test_every_covered_case_has_tests() -> None:
    """The ids of the covered kinds stand in the table's own file."""
    covered = CASE.findall(TABLE.partition("Covered:")[2].partition("|")[0])

    assert len(covered) > 40
    assert {case: bool(rows().get(case)) for case in covered} == dict.fromkeys(covered, True)
    assert set(rows()) == set(covered)


def test_every_test_of_the_table_exists_and_names_its_case() -> None:
    """A renamed test, or one that was about something else, is noticed."""
    wrong = []
    for case, tests in rows().items():
        for test in tests:
            file, _, name = test.partition("::")
            path = ROOT / file
            if not path.is_file() or case not in named(path).get(name, set()):
                wrong.append(f"{case}: {test}")

    assert not wrong

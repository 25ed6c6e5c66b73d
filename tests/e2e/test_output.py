"""What the commands print: transcripts, the JSON shape, exit codes, the budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home
from tests.tree import Tree

POOL = '''"""Connections to the database."""

import socket

LIMIT = 20


class Pool:
    """Keeps connections open."""

    def __init__(self, size):
        self.size = size

    def take(self):
        """Take a connection out of the pool."""
        return socket.socket()


def create_pool(size=LIMIT):
    """Create the connection pool. Twenty by default."""
    return Pool(size)
'''


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Path]]:
    """A small repository of three languages, indexed."""
    home = Home()
    tree = Tree(tmp_path_factory.mktemp("sample") / "r")
    tree.write("src/pool.py", POOL)
    tree.write("src/run.c", "/* Run it. */\nint run_all(int n)\n{\n    return n;\n}\n")
    tree.write("docs/guide.md", "# Guide\n\nHow to take a connection.\n\n## Limits\n\nTwenty.\n")
    tree.write("logo.png", b"\x89PNG\r\n\x1a\n\x00\x00")
    tree.commit()
    assert home.run("update", cwd=tree.root).returncode == 0
    yield home, tree.root
    home.close()


def test_find_prints_a_place_and_its_summary(sample: tuple[Home, Path]) -> None:
    """One line for the place, one for what it is, and a footer."""
    home, root = sample

    lines = home.transcript("find", "create_pool", cwd=root).splitlines()

    assert lines[0] == "$ ctx find create_pool"
    assert lines[1] == "src/pool.py  L19-L21  function create_pool"
    assert lines[2].startswith("  Create the connection pool")
    assert lines[-2].startswith("1 result") and "fresh" in lines[-2]
    assert lines[-1] == "exit 0"


def test_nothing_found_explains_itself(sample: tuple[Home, Path]) -> None:
    """P4: how many files, of what kinds, how many skipped, which names are near; exit 1."""
    home, root = sample

    shown = home.transcript("find", "create_pail", cwd=root)

    assert shown.splitlines()[1].startswith('nothing found for "create_pail" in 3 files (')
    assert "Python 1" in shown and "1 skipped: ctx status --skipped" in shown
    assert "nearest names: create_pool (src/pool.py:19)" in shown
    assert shown.endswith("exit 1\n")


def test_a_name_with_a_slip_is_found_and_said(sample: tuple[Home, Path]) -> None:
    """What is shown is not what was asked for: the hint says so."""
    home, root = sample

    done = home.run("find", "create_pol", cwd=root)

    assert done.returncode == 0 and "function create_pool" in done.stdout
    assert done.stderr == "hint: nothing is called create_pol: taken for create_pool\n"


def test_a_filter_that_removed_everything_is_named(sample: tuple[Home, Path]) -> None:
    """With --lang c the function of Python is not found, and the answer says that the filter did it."""
    home, root = sample

    done = home.run("find", "--lang", "c", "create_pool", cwd=root)

    assert done.returncode == 1 or "create_pool" not in done.stdout
    assert "src/pool.py" not in done.stdout.split("nearest names")[0]


RESULT_KEYS = {
    "file",
    "line_start",
    "line_end",
    "type",
    "name",
    "qualified_name",
    "parent",
    "definition_line",
    "exported",
    "uri",
    "id",
    "language",
    "score",
    "render",
    "summary",
    "signature",
    "verified",
    "via",
}


def test_json_has_the_documented_keys(sample: tuple[Home, Path]) -> None:
    """One compact object with the keys of schema 1; no `code` without --full, and the code with it."""
    home, root = sample
    printed = home.run("find", "--json", "create_pool", cwd=root).stdout

    answer = json.loads(printed)
    full = home.json("find", "--full", "create_pool", cwd=root)

    assert printed == json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert {"schema", "query", "root", "results", "stats", "fresh", "generation", "warnings", "hint"} <= set(answer)
    assert answer["schema"] == 1 and answer["query"] == "create_pool" and answer["root"] == str(root)
    first = answer["results"][0]
    assert set(first) >= RESULT_KEYS and "code" not in first
    assert (first["file"], first["line_start"], first["line_end"]) == ("src/pool.py", 19, 21)
    assert (first["type"], first["definition_line"], first["uri"]) == ("function", 19, "file:src/pool.py#L19-L21")
    assert full["results"][0]["code"].rstrip("\n") == "\n".join(POOL.splitlines()[18:21])
    wanted = {"search_ms", "steering_ms", "total_ms", "tokens", "cost_usd", "strategies_used", "files_indexed"}
    assert wanted | {"files_pending"} <= set(answer["stats"])


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["symbols", "create_pool"], "create_pool"),
        (["symbols", "Pool.take"], "take"),
        (["symbols", "Pool::take"], "take"),
        (["symbols", "Pool#take"], "take"),
        (["symbols", "CREATE_POOL"], "create_pool"),
        (["symbols", "create_*"], "create_pool"),
        (["symbols", "create_poo?"], "create_pool"),
        (["symbols", "--lang", "py", "--type", "class"], "Pool"),
        (["symbols", "--path", "src/*.c"], "run_all"),
    ],
)
def test_symbols_finds_by_name_and_pattern(sample: tuple[Home, Path], args: list[str], name: str) -> None:
    """Exact, qualified in three notations, but for case, globs, filters."""
    home, root = sample

    rows = home.json(*args, cwd=root)["results"]

    assert [row["name"] for row in rows] == [name]
    assert {"qualified_name", "definition_line", "parent", "signature"} <= set(rows[0])


def test_symbols_that_do_not_exist_give_the_nearest(sample: tuple[Home, Path]) -> None:
    """Exit 1, no rows, the nearest names in the hint."""
    home, root = sample

    done = home.run("symbols", "--json", "crate_pool", cwd=root)

    assert done.returncode == 1
    assert json.loads(done.stdout)["results"] == []
    assert "create_pool" in json.loads(done.stdout)["hint"]


def test_outline_chunk_and_files(sample: tuple[Home, Path]) -> None:
    """The tree of one file, the piece that holds a line, the indexed paths."""
    home, root = sample

    outline = home.run("outline", "pool.py", cwd=root / "src").stdout
    chunk = home.json("chunk", "src/pool.py:21", cwd=root)["results"]
    files = home.json("files", cwd=root)["results"]

    assert [line.split("(")[0].split()[-1] for line in outline.splitlines() if "def " in line][:1] == ["__init__"]
    assert "class Pool" in outline and "create_pool" in outline
    assert [(row["line_start"], row["line_end"]) for row in chunk] == [(19, 21)]
    assert [row["file"] for row in files] == ["docs/guide.md", "src/pool.py", "src/run.c"]


def test_paths_are_relative_to_the_caller_in_text_and_to_the_root_in_json(sample: tuple[Home, Path]) -> None:
    """From src/ the text says pool.py; JSON says src/pool.py from anywhere."""
    home, root = sample

    text = home.run("find", "create_pool", cwd=root / "src").stdout
    rows = home.json("find", "create_pool", cwd=root / "src")["results"]

    assert text.startswith("pool.py  L19-L21")
    assert rows[0]["file"] == "src/pool.py"


def test_status_counts_and_lists_what_was_skipped(sample: tuple[Home, Path]) -> None:
    """Files and symbols by language; the skipped file with its reason."""
    home, root = sample

    text = home.run("status", "--skipped", cwd=root).stdout
    data = json.dumps(home.json("status", "--skipped", cwd=root))

    assert "Python" in text and "logo.png" in text and "binary" in text
    assert '"logo.png"' in data and "binary" in data


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["find", "create_pool"], 0),
        (["find", "--", "-create_pool"], 0),
        (["find", "no_such_name_anywhere_zzz"], 1),
        (["find"], 2),
        (["find", "--no-such-option", "x"], 2),
        (["find", "--lang", "klingon", "x"], 2),
        (["find", "--type", "funktion", "x"], 2),
        (["callers", "--type", "cal", "x"], 2),
        (["find", "--limit", "many", "x"], 2),
        (["nosuchcommand"], 2),
        (["outline", "../outside.py"], 2),
        (["outline", "no/such/file.py"], 1),
        (["chunk", "src/pool.py"], 2),
        (["query", "-C", "/no/such/directory", "x"], 4),
        (["doctor"], 0),
        (["--version"], 0),
        (["--help"], 0),
    ],
)
def test_exit_codes(sample: tuple[Home, Path], args: list[str], code: int) -> None:
    """As documented, and never a traceback."""
    home, root = sample

    done = home.run(*args, cwd=root)

    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == code, done.stdout + done.stderr


def test_errors_in_json_are_objects(sample: tuple[Home, Path]) -> None:
    """`error` with code, message and hint on stdout; the exit code stays."""
    home, root = sample

    done = home.run("query", "--json", "-C", "/no/such/directory", "x", cwd=root)

    assert done.returncode == 4
    error = json.loads(done.stdout)
    assert error["schema"] == 1 and {"code", "message", "hint"} <= set(error["error"])


def test_standard_input_as_the_question(sample: tuple[Home, Path]) -> None:
    """`-` reads the question, a stack trace say, from standard input."""
    home, root = sample
    trace = 'Traceback (most recent call last):\n  File "src/pool.py", line 17, in take\nOSError: no\n'

    done = home.run("find", "--json", "-", cwd=root, input=trace)

    assert json.loads(done.stdout)["results"][0]["file"] == "src/pool.py"


@pytest.mark.parametrize(
    "text",
    [
        "AND OR NOT NEAR(",
        '"unbalanced',
        "a* ^b {c d} : -e",
        "日本語 の 検索",
        "\u202e bidi \x1b[31m",
        "()[]{}<>!@#$%^&*",
        " ",
        "word " * 3000,
        "SELECT * FROM chunks; DROP TABLE files",
        "%s %n {0} \\0",
    ],
)
def test_any_text_is_a_legal_question(sample: tuple[Home, Path], text: str) -> None:
    """Operators and punctuation are text: an answer, nothing found, or a clear 'too long'."""
    home, root = sample

    done = home.run("find", "--", text, cwd=root)

    assert done.returncode in (0, 1) or (done.returncode == 2 and "long" in done.stderr), done
    assert "Traceback" not in done.stderr


def test_a_request_setting_in_the_environment_counts_for_that_request(sample: tuple[Home, Path]) -> None:
    """CTX_SEARCH_LIMIT is the caller's; the daemon keeps its own default."""
    home, root = sample
    ask = ("find", "--json", "pool connection take")

    one = json.loads(home.run(*ask, cwd=root, env={"CTX_SEARCH_LIMIT": "1"}).stdout)["results"]
    more = json.loads(home.run(*ask, cwd=root).stdout)["results"]

    assert len(one) == 1 < len(more)


def test_explain_shows_the_parts_of_a_score(sample: tuple[Home, Path]) -> None:
    """--explain names what the score is made of."""
    home, root = sample

    plain = home.run("find", "create_pool", cwd=root).stdout
    explained = home.run("find", "--explain", "create_pool", cwd=root).stdout

    assert len(explained) > len(plain)


def big_class(methods: int) -> str:
    """Return a class of `methods` times nine lines, in which one method deals with refunds."""
    parts = ['class Ledger:\n    """Books every movement of money."""\n']
    for number in range(methods):
        name = "refund_payment" if number == methods // 2 else f"entry_{number}"
        body = "".join(f"        total_{step} = self.rows[{step}] + {number}\n" for step in range(6))
        parts.append(f"\n    def {name}(self, amount):\n{body}        return total_5\n")
    return "".join(parts)


@pytest.mark.parametrize("budget", [200, 500, 1200])
def test_a_class_of_900_lines_fits_a_small_budget(ctx: Home, repo: Tree, budget: int) -> None:
    """An outline with the members that matter, within the budget by the exact counter too."""
    quicktok = pytest.importorskip("quicktok")
    text = big_class(100)
    assert text.count("\n") > 900
    repo.write("ledger.py", text)
    repo.write("other.py", "def unrelated(): pass\n")

    done = ctx.run("query", "--budget", str(budget), "how does the Ledger refund a payment", cwd=repo.root)
    data = ctx.json("query", "--budget", str(budget), "how does the Ledger refund a payment", cwd=repo.root)

    assert done.returncode == 0 and "refund_payment" in done.stdout
    assert data["stats"]["tokens"] <= budget
    assert count_tokens(quicktok, done.stdout) <= budget * 1.1


def count_tokens(quicktok, text: str) -> int:
    """Return how many tokens of cl100k `text` takes."""
    return len(quicktok.get_encoding("cl100k_base").encode(text))

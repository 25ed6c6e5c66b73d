"""Cases of the kind search: any text is a question, words of a name find it, and the definition comes first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.room import Rows, filled

SYNTAX = {
    "multi-agent": "runs a multi-agent plan",
    "TODO: fix": "TODO: fix the leaking handle",
    "don't": "we don't retry here",
    "a.b.c": "reads a.b.c from the settings",
    '"--flag"': 'passes "--flag" to the tool',
    "src/lib/x": "kept in src/lib/x for now",
    "C++": "written in C++ long ago",
    "user@host": "logs in as user@host first",
    "50% off": "sold at 50% off in may",
    "NOT NULL": "the column is NOT NULL today",
    "this AND that": "needs this AND that together",
    "near OR far": "be it near OR far away",
    "NEAR(one two)": "says NEAR(one two) verbatim",
    "body:secret": "prefix body:secret is text",
    "wild*card": "a wild*card in the middle",
    "(open": "an (open parenthesis",
    "^caret": "begins with ^caret",
    "{a b}": "a set {a b} of two",
    "x = y + z": "where x = y + z holds",
    "#include <vector>": "has #include <vector> on top",
    "`code`": "quotes `code` in prose",
    "back\\slash": "with a back\\slash inside",
    "semi;colon": "ends in semi;colon",
    "snake_case_word": "a snake_case_word alone",
    'it\'s "both"': 'holds it\'s "both" kinds',
    "100,000": "about 100,000 of them",
    "naïve café": "a naïve café in town",
    "[x] done": "list with [x] done items",
    "~/.config": "reads ~/.config at start",
    "key=value&b=c": "sends key=value&b=c along",
}


@pytest.fixture(scope="module")
def prose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    files = {f"p{n:02}.txt": f"first words of the file\n\n{line}\n" for n, line in enumerate(SYNTAX.values())}
    with filled(tmp_path_factory.mktemp("prose"), files) as rows:
        yield rows


@pytest.mark.parametrize("text", SYNTAX)
def test_punctuation_and_operators_are_text(prose: Rows, text: str) -> None:
    """B033: each finds its line first; none of them is an operator, an error or zero hits."""
    wanted = f"p{list(SYNTAX).index(text):02}.txt"

    found = prose.find(text)

    assert found and found[0]["file"] == wanted, [row["file"] for row in found]
    assert SYNTAX[text] in found[0]["code"]


PIECES = st.sampled_from(
    [*"-+*:^\"'().,/\\{}[]<>|&~!?@#$%`;=_ \t\n\0", "AND", "OR", "NOT", "NEAR", "body:", "words", "é", "数"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12).map("".join))
def test_no_text_is_an_error(prose: Rows, text: str) -> None:
    """B033: whatever is typed, there is an answer, found or not."""
    assert isinstance(prose.find(text), list)


@pytest.mark.parametrize("joint", ["-", ":", "'", ".", "/", '"', " - ", "::", "->", "--", "*", "^", "(", ")", "+"])
def test_a_word_is_found_whatever_is_glued_to_it(prose: Rows, joint: str) -> None:
    """B033: before, between and after."""
    for text in (f"leaking{joint}handle", f"{joint}leaking handle", f"leaking handle{joint}"):
        assert prose.first(text) == "p01.txt", text


NAMES = {
    "users.py": "def getUserById(key):\n    return key\n",
    "files.py": "def atomic_write_json(path, data):\n    return path\n",
    "http.go": "package p\n\nfunc ParseHTTPRequestV2(raw string) error { return nil }\n",
    "limits.c": "#define MAX_RETRY_COUNT 3\nint unrelated_one(void) { return 1; }\n",
    "css.js": "function toKebabCase(x) { return x }\n",
    "zh.py": "# 数据校验\ndef zh_check(): pass\n",
    "ja.py": "# 設定ファイルを読み込む\ndef ja_load(): pass\n",
    "kana.py": "# サーバー\ndef kana_start(): pass\n",
    "ko.py": "# 데이터베이스 연결\ndef ko_connect(): pass\n",
    "ru.py": "# Проверка Данных\ndef ru_check(): pass\n",
    "el.py": "# Έλεγχος κωδικού\ndef el_check(): pass\n",
    "de.py": "# prüft die Größe\ndef de_size(): pass\n",
    "mixed.py": "# 使用redis缓存\ndef zh_cache(): pass\n",
    "de2.py": "def prüfeGrößeNeu(x): pass\n",
    "ru2.py": "class ОтчётЗаГод: pass\n",
    "fr.py": "def élève_suivant(): pass\n",
    "noise.py": "\n".join(f"def other_{n}(user, data, write, http): pass" for n in range(30)) + "\n",
}
WORDS = [
    ("user by id", "users.py"),
    ("get user by id", "users.py"),
    ("getUserById", "users.py"),
    ("getuserbyid", "users.py"),
    ("get_user_by_id", "users.py"),
    ("GetUserByID", "users.py"),
    ("get-user-by-id", "users.py"),
    ("atomic_write_json", "files.py"),
    ("atomic write", "files.py"),
    ("atomicWriteJson", "files.py"),
    ("write json atomic", "files.py"),
    ("parse http request", "http.go"),
    ("ParseHTTPRequestV2", "http.go"),
    ("max retry count", "limits.c"),
    ("maxRetryCount", "limits.c"),
    ("kebab case", "css.js"),
    ("to-kebab-case", "css.js"),
    ("数据", "zh.py"),
    ("校验", "zh.py"),
    ("数据校验", "zh.py"),
    ("校", "zh.py"),
    ("設定", "ja.py"),
    ("ファイル", "ja.py"),
    ("読み込む", "ja.py"),
    ("サーバー", "kana.py"),
    ("데이터베이스", "ko.py"),
    ("연결", "ko.py"),
    ("проверка данных", "ru.py"),
    ("ДАННЫХ", "ru.py"),
    ("κωδικού", "el.py"),
    ("prüft Größe", "de.py"),
    ("die größe", "de.py"),
    ("größe neu", "de2.py"),
    ("prüfegrößeneu", "de2.py"),
    ("отчёт год", "ru2.py"),
    ("élève suivant", "fr.py"),
    ("缓存", "mixed.py"),
    ("redis", "mixed.py"),
    ("使用redis缓存", "mixed.py"),
    ("redis缓存", "mixed.py"),
]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    with filled(tmp_path_factory.mktemp("names"), NAMES) as rows:
        yield rows


@pytest.mark.parametrize(("text", "file"), WORDS, ids=[text for text, _ in WORDS])
def test_words_of_a_name_and_runs_without_blanks_are_found(named: Rows, text: str, file: str) -> None:
    """B035: a name by its parts in any spelling, and text without blanks by any two characters of it."""
    assert named.first(text) == file


def buried() -> dict[str, str]:
    """Return one definition of each name, and what usually buries it."""
    files = {
        "src/net/retry.py": "class RetryPolicy:\n    def next_delay(self):\n        return 1\n",
        "src/net/client.py": "from retry import RetryPolicy\n\n\ndef send(p: RetryPolicy):\n    return p\n" * 3,
        "src/core/Engine.ts": "export class RenderEngine {\n  start() {}\n}\n",
        "src/core/pool.c": "int pool_take(int n)\n{\n    return n;\n}\n",
        "src/core/pool.h": "int pool_take(int n);\n",
        "vendor/net/retry.py": "class RetryPolicy:\n    def next_delay(self):\n        return 1\n",
        "third_party/pool.c": "int pool_take(int n)\n{\n    return n;\n}\n",
        "examples/retry.py": "class RetryPolicy:\n    pass\n",
        "dist.min.js": "var RetryPolicy=1;" * 3_000,
        "docs/retry.md": "# RetryPolicy\n\nRetryPolicy RetryPolicy RetryPolicy is a RetryPolicy.\n",
        "CHANGELOG.md": "".join(f"- RetryPolicy and RenderEngine and pool_take fixed, {n}\n" for n in range(30)),
    }
    for n in range(12):
        files[f"tests/test_retry_{n}.py"] = (
            "RetryPolicy\n" * 5 + f"def test_RetryPolicy_{n}(): RetryPolicy(RetryPolicy)\n"
        )
        files[f"tests/engine_{n}.test.ts"] = (
            "RenderEngine\n" * 5 + f"it('RenderEngine {n}', () => {{ new RenderEngine() }})\n"
        )
        files[f"tests/test_pool_{n}.c"] = f"void test_pool_take_{n}(void) {{ pool_take(1); pool_take(2); }}\n"
    return files


FIRST = {"RetryPolicy": "src/net/retry.py", "RenderEngine": "src/core/Engine.ts", "pool_take": "src/core/pool.c"}


@pytest.mark.parametrize("name", FIRST)
def test_the_definition_comes_first_and_the_order_stays(tmp_path: Path, name: str) -> None:
    """B037: before tests, copies, documents and bundles; the same order on five runs, whatever was indexed first."""
    files = buried()
    orders: list[list[tuple[str, int]]] = []
    for number, order in enumerate((tuple(files), tuple(reversed(files)), tuple(sorted(files, key=len)))):
        with filled(tmp_path / str(number), files, order) as rows:
            orders += [[(row["file"], row["line_start"]) for row in rows.find(name, limit=20)] for _ in range(5)]
            assert rows.symbols(name)[0]["file"] == FIRST[name]

    assert orders[0][0][0] == FIRST[name]
    assert all(one == other for one, other in itertools.pairwise(orders))
    assert not [file for file, _ in orders[0] if file == "dist.min.js"]

"""What paths say, and what they only seem to say."""

from __future__ import annotations

import pytest

from ctxd.config import Config
from ctxd.daemon import maker, settings_of
from ctxd.store import pathfacts
from ctxd.store.pathfacts import facts
from ctxd.store.schema import BENCHMARK, EXAMPLE, GENERATED, LEGACY, STUB, TEST, TRANSLATED, VENDORED


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py", "pkg/test_a.py", "a_test.go", "src/a.test.ts", "src/a.spec.tsx", "spec/models/user_spec.rb",
        "src/__tests__/a.js", "conftest.py", "a/conftest.py", "tests.py", "django/app/tests.py", "src/test/java/A.java",
        "UserTest.java", "UserServiceIT.java", "testdata/x.json", "regression-tests/a.c", "My.Project.Tests/Foo.cs",
        "e2e/login.ts", "test-utils/x.js", "test-cluster.tcl", "FooSpec.scala", "t/basic.t", "unit/foo-test.el",
    ],
)  # fmt: skip
def test_tests_are_known(path: str) -> None:
    """By directory or by name, in the ways of many languages."""
    assert facts(path) & TEST


@pytest.mark.parametrize(
    "path",
    [
        "contest.py", "latest/a.py", "attest.go", "src/testimony.py", "protest/x.ts", "fastest.c", "inspect.py",
        "PodSpec.java", "special/a.py", "testing.py", "src/greatest_hits.py", "Contest.java", "GIT.java",
        "specification.md",
    ],
)  # fmt: skip
def test_words_that_hold_test_are_no_tests(path: str) -> None:
    """A substring is no word."""
    assert not facts(path) & TEST


@pytest.mark.parametrize(
    ("path", "bits"),
    [
        ("src/core/engine.py", 0),
        ("examples/a.py", EXAMPLE),
        ("docs/samples/x.ts", EXAMPLE),
        ("demo.py", EXAMPLE),
        ("resample.py", 0),
        ("vendor/x/y.go", VENDORED),
        ("third_party/zlib/a.c", VENDORED),
        ("a/node_modules/b/index.js", VENDORED),
        ("deps/lua/src/lua.c", VENDORED),
        ("app/api/deps/auth.py", 0),
        ("legacy/a.py", LEGACY),
        ("src/compat.py", LEGACY),
        ("py3_compat.py", LEGACY),
        ("compatible.py", 0),
        ("types/index.d.ts", STUB),
        ("a.pyi", STUB),
        ("api/user_pb2.py", GENERATED),
        ("api/user.pb.go", GENERATED),
        ("src/generated/client.ts", GENERATED),
        ("regenerated.py", 0),
        ("vendor/x/tests/a_test.go", VENDORED | TEST),
        ("docs/fr/docs/index.md", TRANSLATED | EXAMPLE),
        ("Docs/pt-BR/index.md", TRANSLATED | EXAMPLE),
        ("src/i18n/zh_hant/login.ts", TRANSLATED),
        ("docs/en/index.md", EXAMPLE),
        ("docs/io/index.md", EXAMPLE),
        ("app/de/index.ts", 0),
        ("docs/de.md", EXAMPLE),
        ("README.zh-CN.md", TRANSLATED),
        ("pkg/README_ja.md", TRANSLATED),
        ("README.md", 0),
        ("README.rst", 0),
        ("apps/web/priv/static/app.js", GENERATED),
        ("priv/repo/seeds.exs", 0),
        ("static/app.js", 0),
        ("public/build/app.js", GENERATED),
        ("public/index.php", 0),
        ("app/assets/builds/app.js", GENERATED),
        ("src/Web/wwwroot/lib/jquery.js", VENDORED),
        ("src/Web/wwwroot/site.js", 0),
        ("single_include/all.hpp", GENERATED),
        ("src/amalgamated/sqlite3.c", GENERATED),
        ("tools/amalgamate/main.py", 0),
        ("dist/app.js", GENERATED),
        ("src/dist/app.js", 0),
        ("man/tool.1.html", EXAMPLE),
        ("src/man/render.c", 0),
        ("website/src/App.tsx", EXAMPLE),
        ("web-site/App.tsx", EXAMPLE),
        ("src/site/model.py", 0),
        ("benchmarks/Cache.cs", BENCHMARK),
        ("src/Cache.Benchmarks/Get.cs", BENCHMARK),
        ("crates/core/benches/parse.rs", BENCHMARK),
        ("perf/run.c", BENCHMARK),
        ("bench/run.c", BENCHMARK),
        ("lib/benchmark/report.rb", 0),
        ("tools/perf/builtin.c", 0),
        ("src/parse.bench.ts", BENCHMARK),
        ("parse_benchmark.cc", BENCHMARK),
        ("bench_parse.py", BENCHMARK),
        ("src/ParserBenchmark.java", BENCHMARK),
        ("benchmark.py", 0),
        ("workbench.py", 0),
        ("fuzz/parse.rs", TEST),
        ("fuzzing/parse.cc", TEST),
        ("src/fuzz/parse.rs", 0),
    ],
)
def test_other_facts(path: str, bits: int) -> None:
    """Each bit for itself, and several together."""
    assert facts(path) == bits


def test_an_index_filled_by_other_rules_is_another() -> None:
    """What the bits are is kept in the index: the digest of the rules changes with any of them."""
    before = pathfacts.rules()
    assert before == pathfacts.rules() and before in maker(settings_of(Config()))


@pytest.mark.parametrize("table", ["_DIRECTORIES", "_OUTERMOST", "_TOGETHER", "_NAMES"])
def test_the_digest_holds_every_rule(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    """One rule less in any table, or another bit for one, is another digest."""
    before, rows = pathfacts.rules(), getattr(pathfacts, table)
    monkeypatch.setattr(pathfacts, table, rows[1:])
    shorter = pathfacts.rules()
    monkeypatch.setattr(pathfacts, table, ((rows[0][0], rows[0][1] << 1), *rows[1:]))
    assert len({before, shorter, pathfacts.rules()}) == 3

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
        ("docs/zh-Hant/index.mdx", TRANSLATED | EXAMPLE),
        ("doc/sv/index.rst", TRANSLATED),
        ("documentation/es-419/index.adoc", TRANSLATED),
        ("i18n/uk/guide.md", TRANSLATED),
        ("l10n/sr_latn/guide.html", TRANSLATED),
        ("locale/de/guide.txt", TRANSLATED),
        ("locales/cs/guide.markdown", TRANSLATED),
        ("translations/da/guide.md", TRANSLATED),
        ("docs/en/index.md", EXAMPLE),
        ("docs/io/index.md", EXAMPLE),
        ("docs/es-lint/index.md", EXAMPLE),
        ("docs/pl-sql/index.md", EXAMPLE),
        ("docs/de.md", EXAMPLE),
        ("src/locale/de/months.ts", 0),
        ("src/doc/it/each.py", 0),
        ("app/de/index.md", 0),
        ("README.zh-CN.md", TRANSLATED),
        ("readme_zh.md", TRANSLATED),
        ("pkg/README_CN.rst", TRANSLATED),
        ("CONTRIBUTING.fr.md", TRANSLATED),
        ("README.md", 0),
        ("README.rst", 0),
        ("README-vi-mode.md", 0),
        ("Policy_UK.txt", 0),
        ("dist/app.js", GENERATED),
        ("dist/css/app.css", GENERATED),
        ("dist/common/scripts/util.py", 0),
        ("src/dist/app.js", 0),
        ("priv/static/app.mjs", GENERATED),
        ("apps/web/priv/static/app.js", GENERATED),
        ("priv/static/robots.txt", 0),
        ("priv/repo/seeds.exs", 0),
        ("static/app.js", 0),
        ("public/build/app.js", GENERATED),
        ("web/public/packs/app.js", GENERATED),
        ("public/assets/i18n/en.js", 0),
        ("public/index.php", 0),
        ("app/assets/builds/app.js", GENERATED),
        ("src/Web/wwwroot/lib/jquery.js", VENDORED),
        ("src/Web/wwwroot/site.js", 0),
        ("single_include/all.hpp", GENERATED),
        ("single-header/all.hpp", GENERATED),
        ("src/amalgamated/sqlite3.c", GENERATED),
        ("src/amalgamation/sqlite3.c", GENERATED),
        ("tools/amalgamate/main.py", 0),
        ("man/tool.1.html", EXAMPLE),
        ("src/man/render.c", 0),
        ("website/project/model.py", 0),
        ("benchmarks/Cache.cs", BENCHMARK),
        ("src/Cache.Benchmarks/Get.cs", BENCHMARK),
        ("jvm-benchmarks/Get.kt", BENCHMARK),
        ("ann_benchmarks/main.py", 0),
        ("crates/core/benches/parse.rs", BENCHMARK),
        ("macrobenchmark/start.kt", BENCHMARK),
        ("microbenchmarks/start.kt", BENCHMARK),
        ("bench/app.py", 0),
        ("lib/benchmark/report.rb", 0),
        ("src/parse.bench.ts", BENCHMARK),
        ("parse_benchmark.cc", BENCHMARK),
        ("parse_benchmarks.cc", BENCHMARK),
        ("utils/bench_helper.py", 0),
        ("src/ParserBenchmark.java", BENCHMARK),
        ("src/ParserBenchmarks.cs", BENCHMARK),
        ("src/ParserBenchmark.swift", BENCHMARK),
        ("benchmark.py", 0),
        ("workbench.py", 0),
    ],
)
def test_other_facts(path: str, bits: int) -> None:
    """Each bit for itself, and several together."""
    assert facts(path) == bits


def test_an_index_filled_by_other_rules_is_another() -> None:
    """What the bits are is kept in the index: the digest of the rules changes with any of them."""
    before = pathfacts.rules()
    assert before == pathfacts.rules() and before in maker(settings_of(Config()))


@pytest.mark.parametrize("table", ["_DIRECTORIES", "_OUTERMOST", "_PATHS", "_NAMES"])
def test_the_digest_holds_every_rule(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    """One rule less in any table, or another bit for one, is another digest."""
    before, rows = pathfacts.rules(), getattr(pathfacts, table)
    monkeypatch.setattr(pathfacts, table, rows[1:])
    shorter = pathfacts.rules()
    monkeypatch.setattr(pathfacts, table, ((rows[0][0], rows[0][1] << 1), *rows[1:]))
    assert len({before, shorter, pathfacts.rules()}) == 3

"""What paths say, and what they only seem to say."""

from __future__ import annotations

import pytest

from ctxd.store.pathfacts import facts
from ctxd.store.schema import EXAMPLE, GENERATED, LEGACY, STUB, TEST, VENDORED


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
    ],
)
def test_other_facts(path: str, bits: int) -> None:
    """Each bit for itself, and several together."""
    assert facts(path) == bits

"""Which language a file is in, and what people may call it."""

from __future__ import annotations

import os

import pytest

import ctxd.parse
from ctxd.parse import languages
from ctxd.parse.grammar import compiled
from ctxd.parse.languages import LANGUAGES, detect, resolve


@pytest.mark.parametrize(
    ("path", "name", "content"),
    [
        ("a/b.py", "python", "code"),
        ("A.PY", "python", "code"),
        ("stubs/x.pyi", "python", "code"),
        ("x.mjs", "javascript", "code"),
        ("x.jsx", "javascript", "code"),
        ("x.d.ts", "typescript", "code"),
        ("x.cts", "typescript", "code"),
        ("x.tsx", "tsx", "code"),
        ("x.h", "c", "code"),
        ("x.hpp", "cpp", "code"),
        ("main.go", "go", "code"),
        ("lib.rs", "rust", "code"),
        ("README.md", "markdown", "docs"),
        ("README", "text", "docs"),
        ("docs/index.txt", "text", "docs"),
        ("docs/index.rst", "restructuredtext", "docs"),
        ("CMakeLists.txt", "cmake", "config"),
        ("requirements.txt", "requirements", "config"),
        ("sub/Makefile", "make", "config"),
        ("Makefile.py", "python", "code"),
        ("Dockerfile", "dockerfile", "config"),
        ("Dockerfile.dev", "dockerfile", "config"),
        (".github/workflows/ci.yml", "yaml", "config"),
        (".env.example", "dotenv", "config"),
        (".gitignore", "ignore", "config"),
        ("package.json", "json", "config"),
        ("go.mod", "requirements", "config"),
        ("schema.sql", "sql", "code"),
        ("strange.zzz", "other", "text"),
        ("nothing", "other", "text"),
        ("dir.py/nothing", "other", "text"),
    ],
)
def test_a_file_is_known_by_its_name(path: str, name: str, content: str) -> None:
    """Whole names win over suffixes, and what no row knows is text of another kind."""
    language = detect(path, b"")
    assert (language.name, language.content) == (name, content)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.11 -u\n", "python"),
        (b"#!/usr/bin/env -S PATH=x node --flag\n", "javascript"),
        (b"#! /bin/sh", "bash"),
        (b"#!/opt/unknown\n", "other"),
        (b"#!\n", "other"),
        (b"<?php echo 1;", "php"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>", "xml"),
        (b"<!DOCTYPE HTML>", "html"),
        (b"", "other"),
    ],
)
def test_a_file_without_a_telling_name_is_known_by_its_first_bytes(head: bytes, name: str) -> None:
    """The interpreter of the first line, or a document's opening."""
    assert detect("bin/tool", head).name == name


@pytest.mark.parametrize(
    ("alias", "names"),
    [
        ("py", ("python",)),
        (".py", ("python",)),
        ("Python", ("python",)),
        ("ts", ("typescript", "tsx")),
        ("TypeScript", ("typescript", "tsx")),
        ("tsx", ("tsx",)),
        ("js", ("javascript",)),
        ("jsx", ("javascript",)),
        ("C", ("c",)),
        ("c++", ("cpp",)),
        ("C#", ("csharp",)),
        ("golang", ("go",)),
        ("md", ("markdown",)),
        ("yml", ("yaml",)),
        ("klingon", ()),
        ("", ()),
    ],
)
def test_people_may_name_a_language_as_they_like(alias: str, names: tuple[str, ...]) -> None:
    """Names, titles, suffixes with or without their dot, in any case."""
    assert resolve(alias) == names


def test_no_two_rows_claim_the_same_name_or_suffix() -> None:
    """A suffix, file name or interpreter that stands in two rows would depend on their order."""
    for attribute in ("suffixes", "filenames", "interpreters"):
        claims = [claim.lower() for row in LANGUAGES for claim in getattr(row, attribute)]
        assert sorted(set(claims)) == sorted(claims)
    assert len(set(languages.names())) == len(LANGUAGES) + 1


def test_every_grammar_has_a_query_file_that_compiles() -> None:
    """And no query file is without a row, save those that others inherit."""
    names = {row.name for row in LANGUAGES if row.grammar}
    for row in LANGUAGES:
        if row.grammar:
            assert compiled(row).plans
    directory = os.path.join(os.path.dirname(ctxd.parse.__file__), "queries")
    files = {name.removesuffix(".scm") for name in os.listdir(directory) if name.endswith(".scm")}
    assert files - names == {"cxx", "ecma", "jsx"}

"""The families that are read line by line instead of by a grammar. A reader is pure; runs in a parse worker."""

from __future__ import annotations

from collections.abc import Callable

from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.languages import Family
from ctxd.parse.readers import (
    asciidoc,
    cmake,
    dockerfile,
    hcl,
    jsontext,
    makefile,
    markdown,
    notebook,
    restructured,
    scripts,
    settings,
    sql,
    yamltext,
)

Reader = Callable[[bytes, Inner], Extracted]

READERS: dict[Family, Reader] = {
    "markdown": markdown.read,
    "restructuredtext": restructured.read,
    "asciidoc": asciidoc.read,
    "notebook": notebook.read,
    "scripts": scripts.read,
    "json": jsontext.read,
    "yaml": yamltext.read,
    "toml": settings.read_toml,
    "ini": settings.read_ini,
    "dotenv": settings.read_environment,
    "dockerfile": dockerfile.read,
    "make": makefile.read,
    "cmake": cmake.read,
    "hcl": hcl.read,
    "sql": sql.read,
}

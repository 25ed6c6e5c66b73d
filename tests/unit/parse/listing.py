"""What extraction finds in a fixture, as lines. Run as a script, it writes the listings anew: read the diff."""

from __future__ import annotations

import os
import sys

from ctxd.parse.extract import Extracted, extract
from ctxd.parse.languages import named

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")
LANGUAGES = {
    "python": "python",
    "javascript": "javascript",
    "commonjs": "javascript",
    "typescript": "typescript",
    "tsx": "tsx",
    "go": "go",
    "c": "c",
    "cpp": "cpp",
    "objectivec": "objectivec",
    "rust": "rust",
    "swift": "swift",
    "zig": "zig",
    "java": "java",
    "kotlin": "kotlin",
    "scala": "scala",
    "csharp": "csharp",
    "dart": "dart",
    "markdown": "markdown",
    "json": "json",
    "yaml": "yaml",
    "toml": "toml",
    "ini": "ini",
    "dotenv": "dotenv",
    "dockerfile": "dockerfile",
    "make": "make",
    "cmake": "cmake",
    "hcl": "hcl",
    "restructuredtext": "restructuredtext",
    "asciidoc": "asciidoc",
    "jupyter": "jupyter",
    "vue": "vue",
    "svelte": "svelte",
    "html": "html",
    "ruby": "ruby",
    "elixir": "elixir",
    "perl": "perl",
    "bash": "bash",
    "lua": "lua",
    "php": "php",
    "haskell": "haskell",
    "plsql": "sql",
    "tsql": "sql",
    "sql": "sql",
    "ocaml_interface": "ocaml_interface",
    "ocaml": "ocaml",
    "julia": "julia",
    "r": "r",
    "graphql": "graphql",
    "proto": "proto",
}


def fixture(name: str) -> Extracted:
    """Return what is extracted from fixtures/<name>.source."""
    with open(os.path.join(FIXTURES, f"{name}.source"), "rb") as file:
        return extract(named(LANGUAGES[name]), file.read())


def listing(found: Extracted) -> str:
    """Return one line per symbol, reference, import and block."""
    lines = ["symbols: kind name lines@definition (exported) [parent] | signature | doc"]
    for s in found.symbols:
        flags = ("+" if s.exported else "-") + (f" [{s.parent}]" if s.parent else "")
        place = f"{s.line_start}-{s.line_end}@{s.definition_line}"
        lines.append(f"  {s.kind} {s.qualified_name} {place} {flags} | {s.signature} | {s.doc}".rstrip(" |"))
    names = [s.qualified_name for s in found.symbols]
    lines.append("references: line kind receiver.name in enclosing")
    for r in found.references:
        receiver = f"({r.receiver})." if r.receiver else ""
        lines.append(f"  {r.line} {r.kind} {receiver}{r.name} in {names[r.enclosing] if r.enclosing >= 0 else '-'}")
    lines.append("imports: line module names")
    for i in found.imports:
        bound = [f"{name} as {alias}" if alias else name for name, alias in zip(i.names, i.aliases, strict=True)]
        lines.append(f"  {i.line} {i.module}: {', '.join(bound)}".rstrip(" :"))
    lines.append("blocks")
    for b in found.blocks:
        name = f" {names[b.symbol]}" if b.symbol >= 0 else ""
        lines.append(f"  {'. ' * b.depth}{b.kind} {b.line_start}-{b.line_end}{name}")
    lines.append(f"comment header ends: {found.comment_header_end}, note: {found.note or 'none'}")
    return "\n".join(lines) + "\n"


def expected(name: str) -> str:
    """Return the committed listing."""
    with open(os.path.join(FIXTURES, f"{name}.listing"), encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    for each in sys.argv[1:] or LANGUAGES:
        with open(os.path.join(FIXTURES, f"{each}.listing"), "w", encoding="utf-8") as out:
            out.write(listing(fixture(each)))

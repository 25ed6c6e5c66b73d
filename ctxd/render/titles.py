"""Languages as people write them. Pure. A test holds this table against the one that the parser has."""

from __future__ import annotations

from collections.abc import Sequence

from ctxd.render import escape
from ctxd.state import LanguageCount

# Only what is not simply its canonical name with a capital.
_TITLES = {
    "asciidoc": "AsciiDoc",
    "bash": "Shell",
    "cmake": "CMake",
    "cobol": "COBOL",
    "cpp": "C++",
    "csharp": "C#",
    "css": "CSS",
    "csv": "CSV",
    "cuda": "CUDA",
    "cue": "CUE",
    "dotenv": "Environment file",
    "fsharp": "F#",
    "gettext": "gettext",
    "glsl": "GLSL",
    "graphql": "GraphQL",
    "hcl": "HCL",
    "html": "HTML",
    "ignore": "Ignore file",
    "ini": "INI",
    "javascript": "JavaScript",
    "json": "JSON",
    "jsonl": "JSON lines",
    "jupyter": "Jupyter notebook",
    "latex": "LaTeX",
    "man": "Manual page",
    "matlab": "MATLAB",
    "nginx": "nginx",
    "objectivec": "Objective-C",
    "ocaml": "OCaml",
    "ocaml_interface": "OCaml interface",
    "other": "Other text",
    "php": "PHP",
    "powershell": "PowerShell",
    "proto": "Protobuf",
    "purescript": "PureScript",
    "restructuredtext": "reStructuredText",
    "sql": "SQL",
    "toml": "TOML",
    "tsx": "TSX",
    "typescript": "TypeScript",
    "vhdl": "VHDL",
    "vim": "Vim script",
    "visualbasic": "Visual Basic",
    "xml": "XML",
    "yaml": "YAML",
}
# A line that explains an empty answer names this many languages; the rest are one figure.
_NAMED = 5


def title(language: str) -> str:
    """Return a canonical name as people write it."""
    return _TITLES.get(language) or escape.line(language.capitalize()) or _TITLES["other"]


def listed(languages: Sequence[LanguageCount]) -> str:
    """Return files by language on one line: `Python 640, C 172`."""
    shown = [f"{title(one.language)} {one.files:,}" for one in languages[:_NAMED]]
    rest = sum(one.files for one in languages[_NAMED:])
    return ", ".join([*shown, f"other languages {rest:,}"] if rest else shown)

"""The table of languages: what a file is called, by its name or its first line. Pure; any thread or process.

A language is one row here plus, when definitions are extracted from it, one file `queries/<name>.scm` (or a `family`
that reads it line by line). Adding one touches nothing else. This module loads no parser: the daemon asks it too.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ctxd.parse.headers import dialect

Content = Literal["code", "docs", "config", "text"]
# The name of a set of hooks in extract.py ("" = none needed); a test holds that each exists.
Family = str


class Language(msgspec.Struct, frozen=True):
    """One row. `suffixes` carry their dot and are lower case; `filenames` are whole names, compared without case.

    `grammar` is the name of the tree-sitter grammar, "" = no definitions are extracted by a grammar. `family` names
    the hooks of `extract` for what a query cannot say. `interpreters` are the words a shebang line may name.
    """

    name: str
    title: str
    content: Content
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    grammar: str = ""
    family: Family = ""


def _row(
    name: str,
    title: str,
    content: Content,
    suffixes: str = "",
    *,
    files: str = "",
    aliases: str = "",
    runs: str = "",
    grammar: str = "",
    family: Family = "",
) -> Language:
    return Language(
        name,
        title,
        content,
        tuple("." + suffix for suffix in suffixes.split()),
        tuple(files.split()),
        tuple(aliases.split()),
        tuple(runs.split()),
        grammar,
        family,
    )


# What no row knows. Its content is "text": neither code nor written to be read as a document.
TEXT = _row("other", "Other text", "text")

LANGUAGES: tuple[Language, ...] = (
    # With definitions.
    _row("python", "Python", "code", "py pyi pyw", files="SConstruct SConscript wscript", aliases="py python3",
         runs="python python2 python3 pypy pypy3 uv", grammar="python", family="python"),
    _row("javascript", "JavaScript", "code", "js jsx mjs cjs", files="Jakefile", aliases="js node ecmascript",
         runs="node nodejs bun", grammar="javascript", family="ecma"),
    _row("typescript", "TypeScript", "code", "ts mts cts", aliases="ts", runs="deno ts-node tsx",
         grammar="typescript", family="ecma"),
    _row("tsx", "TSX", "code", "tsx", grammar="tsx", family="ecma"),
    _row("go", "Go", "code", "go", aliases="golang", grammar="go", family="go"),
    _row("c", "C", "code", "c h", grammar="c", family="c"),
    _row("cpp", "C++", "code", "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp txx ino", aliases="c++ cxx cplusplus",
         grammar="cpp", family="cpp"),
    _row("cuda", "CUDA", "code", "cu cuh", grammar="cuda", family="cpp"),
    _row("rust", "Rust", "code", "rs", aliases="rs", runs="rust-script", grammar="rust", family="rust"),
    _row("objectivec", "Objective-C", "code", "m mm", aliases="objc objective-c", grammar="objc", family="objectivec"),
    _row("swift", "Swift", "code", "swift", runs="swift", grammar="swift", family="swift"),
    _row("zig", "Zig", "code", "zig zon", grammar="zig", family="zig"),
    _row("java", "Java", "code", "java", grammar="java", family="java"),
    _row("kotlin", "Kotlin", "code", "kt kts", aliases="kt", runs="kotlin", grammar="kotlin", family="kotlin"),
    _row("scala", "Scala", "code", "scala sc sbt", runs="scala", grammar="scala", family="scala"),
    _row("dart", "Dart", "code", "dart", runs="dart", grammar="dart", family="dart"),
    _row("csharp", "C#", "code", "cs csx", aliases="c# cs", grammar="csharp", family="csharp"),
    _row("markdown", "Markdown", "docs", "md markdown mdx mdown mkd qmd rmd", aliases="md", family="markdown"),
    _row("haskell", "Haskell", "code", "hs lhs hsc", aliases="hs", runs="runhaskell runghc", grammar="haskell",
         family="haskell"),
    _row("ruby", "Ruby", "code", "rb rake gemspec ru podspec", aliases="rb", runs="ruby jruby",
         files="Rakefile Gemfile Vagrantfile Podfile Fastfile Guardfile Brewfile", grammar="ruby", family="ruby"),
    _row("proto", "Protobuf", "code", "proto", aliases="protobuf", grammar="proto", family="proto"),
    _row("graphql", "GraphQL", "code", "graphql graphqls gql", aliases="gql", grammar="graphql", family="graphql"),
    _row("php", "PHP", "code", "php phtml php3 php4 php5 inc", runs="php", grammar="php", family="php"),
    _row("lua", "Lua", "code", "lua rockspec", runs="lua luajit", grammar="lua", family="lua"),
    _row("r", "R", "code", "r", files=".Rprofile", runs="Rscript", grammar="r", family="r"),
    _row("bash", "Shell", "code", "sh bash zsh ksh bats command ebuild", aliases="sh shell zsh",
         runs="sh bash zsh ksh dash ash bats", grammar="bash", family="bash",
         files=".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv configure"),
    _row("julia", "Julia", "code", "jl", aliases="jl", runs="julia", grammar="julia", family="julia"),
    _row("perl", "Perl", "code", "pl pm t pod psgi", aliases="pl", runs="perl", files="cpanfile", grammar="perl",
         family="perl"),
    _row("ocaml", "OCaml", "code", "ml mll mly", aliases="ml", runs="ocaml", grammar="ocaml", family="ocaml"),
    _row("ocaml_interface", "OCaml interface", "code", "mli", grammar="ocaml_interface", family="ocaml"),
    _row("elixir", "Elixir", "code", "ex exs", aliases="ex", runs="elixir", files="mix.lock", grammar="elixir",
         family="elixir"),
    _row("sql", "SQL", "code", "sql psql ddl dml pgsql plsql mysql", family="sql"),
    # Code, as text for now.
    _row("groovy", "Groovy", "code", "groovy gradle gvy", files="Jenkinsfile", runs="groovy"),
    _row("fsharp", "F#", "code", "fs fsx fsi", aliases="f# fs"),
    _row("visualbasic", "Visual Basic", "code", "vb bas vbs", aliases="vb"),
    _row("fish", "Fish", "code", "fish", runs="fish"),
    _row("powershell", "PowerShell", "code", "ps1 psm1 psd1", aliases="ps1 pwsh", runs="pwsh"),
    _row("batch", "Batch", "code", "bat cmd", aliases="bat"),
    _row("erlang", "Erlang", "code", "erl hrl escript", aliases="erl", runs="escript", files="rebar.config"),
    _row("elm", "Elm", "code", "elm"),
    _row("purescript", "PureScript", "code", "purs"),
    _row("clojure", "Clojure", "code", "clj cljs cljc edn", aliases="clj", runs="clojure bb"),
    _row("lisp", "Lisp", "code", "lisp lsp cl el asd", aliases="elisp emacs-lisp common-lisp", runs="sbcl"),
    _row("scheme", "Scheme", "code", "scm ss rkt sld", aliases="racket", runs="guile racket"),
    _row("nim", "Nim", "code", "nim nims nimble"),
    _row("d", "D", "code", "d di"),
    _row("crystal", "Crystal", "code", "cr"),
    _row("v", "V", "code", "vsh"),
    _row("raku", "Raku", "code", "raku rakumod p6 pm6", aliases="perl6", runs="raku perl6"),
    _row("tcl", "Tcl", "code", "tcl tm", runs="tclsh wish expect"),
    _row("awk", "Awk", "code", "awk", runs="awk gawk mawk"),
    _row("html", "HTML", "code", "html htm xhtml jinja jinja2 j2 hbs heex leex eex mustache ejs erb njk liquid twig",
         family="scripts"),
    _row("css", "CSS", "code", "css scss sass less styl pcss", aliases="scss sass less"),
    _row("vue", "Vue", "code", "vue", family="scripts"),
    _row("svelte", "Svelte", "code", "svelte", family="scripts"),
    _row("astro", "Astro", "code", "astro", family="scripts"),
    _row("thrift", "Thrift", "code", "thrift"),
    _row("solidity", "Solidity", "code", "sol", aliases="sol"),
    _row("assembly", "Assembly", "code", "s asm nasm", aliases="asm"),
    _row("glsl", "GLSL", "code", "glsl vert frag geom comp hlsl wgsl metal", aliases="hlsl wgsl shader"),
    _row("fortran", "Fortran", "code", "f f77 f90 f95 f03 f08 for"),
    _row("pascal", "Pascal", "code", "pas pp dpr lpr", aliases="delphi"),
    _row("ada", "Ada", "code", "adb ads"),
    _row("cobol", "COBOL", "code", "cob cbl cpy"),
    _row("verilog", "Verilog", "code", "v sv svh vh", aliases="systemverilog"),
    _row("vhdl", "VHDL", "code", "vhd vhdl"),
    _row("matlab", "MATLAB", "code", "mlx", runs="octave"),
    _row("prolog", "Prolog", "code", "pro prolog", runs="swipl"),
    _row("vim", "Vim script", "code", "vim", aliases="viml vimscript", files=".vimrc _vimrc"),
    _row("nix", "Nix", "code", "nix"),
    _row("starlark", "Starlark", "code", "bzl star bazel", aliases="bazel",
         files="BUILD WORKSPACE MODULE.bazel Tiltfile"),
    _row("jsonnet", "Jsonnet", "code", "jsonnet libsonnet"),
    _row("cue", "CUE", "code", "cue"),
    _row("rego", "Rego", "code", "rego"),
    _row("yacc", "Yacc", "code", "y yy l ll lex"),
    _row("jupyter", "Jupyter notebook", "code", "ipynb", aliases="notebook", family="notebook"),
    # Configuration and data.
    _row("json", "JSON", "config", "json jsonc json5 geojson webmanifest code-workspace avsc har", aliases="jsonc",
         files=".babelrc .eslintrc .prettierrc .swcrc .watchmanconfig composer.lock", family="json"),
    _row("jsonl", "JSON lines", "config", "jsonl ndjson"),
    _row("yaml", "YAML", "config", "yml yaml", aliases="yml", files=".clang-format .clang-tidy .clangd",
         family="yaml"),
    _row("toml", "TOML", "config", "toml", files="Pipfile Cargo.lock poetry.lock uv.lock", family="toml"),
    _row("ini", "INI", "config", "ini cfg conf cnf properties prefs desktop service socket timer target rc",
         aliases="properties conf",
         files=".editorconfig .gitconfig .gitmodules .npmrc .yarnrc .flake8 .pylintrc .coveragerc .pypirc",
         family="ini"),
    _row("dotenv", "Environment file", "config", "env", aliases="env",
         files=".env .env.example .env.sample .env.template .env.dist .env.defaults .envrc",
         family="dotenv"),
    _row("xml", "XML", "config", "xml xsd xsl xslt svg plist csproj vbproj fsproj props targets resx wsdl xaml pom"
         " storyboard xib ui qrc nuspec config"),
    _row("dockerfile", "Dockerfile", "config", "dockerfile containerfile", aliases="docker",
         files="Dockerfile Containerfile", family="dockerfile"),
    _row("make", "Make", "config", "mk mak make am", aliases="makefile", runs="make",
         files="Makefile GNUmakefile BSDmakefile", family="make"),
    _row("just", "Just", "config", "just", files="justfile .justfile"),
    _row("cmake", "CMake", "config", "cmake", files="CMakeLists.txt", family="cmake"),
    _row("meson", "Meson", "config", files="meson.build meson_options.txt meson.options"),
    _row("ninja", "Ninja", "config", "ninja gn gni"),
    _row("autoconf", "Autoconf", "config", "ac m4 in", aliases="m4"),
    _row("hcl", "HCL", "config", "hcl tf tfvars nomad", aliases="terraform tf", family="hcl"),
    _row("nginx", "nginx", "config", "nginx vhost", files="nginx.conf"),
    _row("ignore", "Ignore file", "config", files=".gitignore .dockerignore .npmignore .eslintignore .ctxignore"
         " .prettierignore .gitattributes .mailmap CODEOWNERS"),
    _row("requirements", "Requirements", "config", files="requirements.txt constraints.txt dev-requirements.txt"
         " requirements-dev.txt requirements_dev.txt test-requirements.txt MANIFEST.in Procfile go.mod go.sum go.work"),
    _row("csv", "CSV", "config", "csv tsv psv", aliases="tsv"),
    _row("gettext", "gettext", "config", "po pot", aliases="po"),
    _row("diff", "Diff", "config", "diff patch rej", aliases="patch"),
    _row("prisma", "Prisma", "config", "prisma"),
    # Documents.
    _row("restructuredtext", "reStructuredText", "docs", "rst rest", aliases="rst", family="restructuredtext"),
    _row("asciidoc", "AsciiDoc", "docs", "adoc asciidoc asc", aliases="adoc", family="asciidoc"),
    _row("org", "Org", "docs", "org"),
    _row("latex", "LaTeX", "docs", "tex sty cls bib ltx", aliases="tex"),
    _row("typst", "Typst", "docs", "typ"),
    _row("texinfo", "Texinfo", "docs", "texi texinfo"),
    _row("man", "Manual page", "docs", "1 2 3 4 5 6 7 8 man roff", aliases="troff roff"),
    _row("text", "Text", "docs", "txt text", aliases="txt plain plaintext", files="README LICENSE LICENCE COPYING"
         " COPYRIGHT NOTICE AUTHORS CONTRIBUTORS CHANGELOG CHANGES HISTORY NEWS TODO INSTALL BUGS HACKING MANIFESTO"
         " THANKS CONTRIBUTING VERSION"),
    _row("log", "Log", "text", "log out"),
)  # fmt: skip

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_FILENAME = {name.lower(): language for language in LANGUAGES for name in language.filenames}
_BY_INTERPRETER = {word: language for language in LANGUAGES for word in language.interpreters}
_BY_NAME = {language.name: language for language in (*LANGUAGES, TEXT)}


def named(name: str) -> Language:
    """Return the row with this canonical name; TEXT for a name from another version."""
    return _BY_NAME.get(name, TEXT)


def detect(path: str, head: bytes) -> Language:
    """Return the language of a file by its name, then by its first bytes; TEXT when nothing is known.

    Whole names win over suffixes (`CMakeLists.txt`), longer suffixes over shorter ones, a known suffix over the part
    before it (`Makefile.py` is Python, `Dockerfile.dev` is a Dockerfile).
    """
    name = path.rpartition("/")[2].lower()
    if found := _BY_FILENAME.get(name):
        return found
    dot = name.find(".", 1)
    while dot != -1:
        if found := _BY_SUFFIX.get(name[dot:]):
            return _BY_NAME[dialect(head)] if name[dot:] == ".h" else found
        dot = name.find(".", dot + 1)
    stem = name.partition(".")[0]
    if stem != name and (found := _BY_FILENAME.get(stem)):
        return found
    return _by_content(head)


def _by_content(head: bytes) -> Language:
    if head.startswith(b"\xef\xbb\xbf"):
        head = head[3:]
    if head.startswith(b"#!"):
        return _by_shebang(head[2 : head.find(b"\n") if b"\n" in head else 400])
    if head.startswith(b"<?php"):
        return _BY_NAME["php"]
    if head.startswith(b"<?xml"):
        return _BY_NAME["xml"]
    if head[:15].lower().startswith((b"<!doctype html", b"<html")):
        return _BY_NAME["html"]
    return TEXT


def _by_shebang(line: bytes) -> Language:
    for word in line.decode("utf-8", "replace").split():
        program = word.rpartition("/")[2]
        if program == "env" or program.startswith("-") or "=" in program:
            continue
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789."), TEXT)
    return TEXT


def _resolutions() -> dict[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for language in (*LANGUAGES, TEXT):
        keys = {language.name, language.title.lower(), *language.aliases}
        keys.update(suffix[1:] for suffix in language.suffixes)
        keys.update(language.suffixes)
        for key in keys:
            table.setdefault(key, []).append(language.name)
    for language in (*LANGUAGES, TEXT):
        if language.name in table:
            table[language.name] = [language.name]
    # People who say TypeScript mean both dialects; a name always means its own row first.
    for key in ("typescript", "ts"):
        table[key] = ["typescript", "tsx"]
    for key in ("ocaml", "ml"):
        table[key] = ["ocaml", "ocaml_interface"]
    return {key: tuple(names) for key, names in table.items()}


_RESOLUTIONS = _resolutions()


def resolve(alias: str) -> tuple[str, ...]:
    """Return the canonical names that `alias` means (`ts`, `.ts`, `TypeScript`); () when no row knows it."""
    return _RESOLUTIONS.get(alias.strip().lower(), ())


def names() -> tuple[str, ...]:
    """Return every canonical name, in table order."""
    return tuple(_BY_NAME)

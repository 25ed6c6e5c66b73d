"""The families whose trees a query reads, each with what the query cannot say. Pure; runs in a parse worker."""

from __future__ import annotations

from ctxd.parse.families.c import C
from ctxd.parse.families.cpp import Cpp
from ctxd.parse.families.csharp import CSharp
from ctxd.parse.families.dart import Dart
from ctxd.parse.families.ecma import Ecma
from ctxd.parse.families.elixir import Elixir
from ctxd.parse.families.family import Family
from ctxd.parse.families.golang import Go
from ctxd.parse.families.haskell import Haskell
from ctxd.parse.families.jvm import Java, Kotlin
from ctxd.parse.families.lua import Lua
from ctxd.parse.families.objectivec import ObjectiveC
from ctxd.parse.families.ocaml import OCaml
from ctxd.parse.families.perl import Perl
from ctxd.parse.families.php import Php
from ctxd.parse.families.python import Python
from ctxd.parse.families.ruby import Ruby
from ctxd.parse.families.rust import Rust
from ctxd.parse.families.scala import Scala
from ctxd.parse.families.schemas import GraphQL, Proto
from ctxd.parse.families.shell import Shell
from ctxd.parse.families.statistics import Julia, R
from ctxd.parse.families.swift import Swift
from ctxd.parse.families.zig import Zig
from ctxd.parse.languages import Family as FamilyName

FAMILIES: dict[FamilyName, Family] = {
    "ruby": Ruby(),
    "elixir": Elixir(),
    "perl": Perl(),
    "bash": Shell(),
    "lua": Lua(),
    "php": Php(),
    "python": Python(),
    "ecma": Ecma(),
    "go": Go(),
    "c": C(),
    "ocaml": OCaml(),
    "julia": Julia(),
    "r": R(),
    "graphql": GraphQL(),
    "proto": Proto(),
    "haskell": Haskell(),
    "cpp": Cpp(),
    "objectivec": ObjectiveC(),
    "rust": Rust(),
    "swift": Swift(),
    "zig": Zig(),
    "java": Java(),
    "kotlin": Kotlin(),
    "scala": Scala(),
    "csharp": CSharp(),
    "dart": Dart(),
}

"""Cases of the kind parsing: one file may be as bad as it likes, the daemon and the other files do not notice."""

from __future__ import annotations

import random

from tests.cases.room import Room

DEEP = {
    "deep.py": "X = " + "[" * 3_000 + "]" * 3_000 + "\n",
    "deep.c": "void f(void)\n" + "{\n" * 16_384 + "}\n" * 16_384,
    "parens.c": "int x = " + "(" * 50_000 + "1" + ")" * 50_000 + ";\n",
    "open.c": "void g(void)\n" + "{\n" * 9_000,
    "deep.js": "a = " + "(() => " * 5_000 + "1" + ")" * 5_000 + "\n",
    "deep.ts": "type T = " + "Array<\n" * 5_000 + "0" + ">" * 5_000 + "\n",
    "deep.rs": "fn f() " + "{\n" * 8_000 + "}\n" * 8_000,
    "deep.go": "package p\nvar x = " + "[]int{" * 3_000 + "}" * 3_000 + "\n",
    "deep.java": "class A " + "{ class B\n" * 3_000 + "{" + "}" * 3_001 + "\n",
    "deep.rb": "x = " + "[" * 5_000 + "]" * 5_000 + "\n",
    "deep.php": "<?php $x = " + "[" * 5_000 + "]" * 5_000 + ";\n",
    "deep.kt": 'val x = "' + '${"' * 400 + '"}' * 400 + '"\n',
    "deep.json": "[" * 20_000 + "]" * 20_000 + "\n",
    "deep.yaml": "".join(" " * n + f"k{n}:\n" for n in range(1_500)),
    "deep.html": "<div>\n" * 5_000 + "</div>\n" * 5_000,
    "deep.md": "> " * 3_000 + "x\n",
    "deep.sql": "SELECT " + "(" * 5_000 + "1" + ")" * 5_000 + ";\n",
    "else.c": "void h(int a)\n{\n" + "if (a) ; else\n" * 5_000 + ";\n}\n",
    "plus.py": "x = " + " + ".join(["1"] * 20_000) + "\n",
    "dots.js": "x" + ".a()\n" * 10_000 + ";\n",
}


def test_deep_files_cost_nothing_but_themselves(room: Room) -> None:
    """B013: brackets, blocks, chains in many languages in one batch: same daemon, each file found or with a reason."""
    room.tree.write("before.py", "def before_fn(): pass\n")
    assert room.places("before_fn") == [("before.py", 1)]
    pid = room.home.pid
    for path, text in DEEP.items():
        room.tree.write(path, text)
    room.tree.write("good.py", "def good_fn(): pass\n")

    assert room.places("good_fn") == [("good.py", 1)]
    indexed, skipped = set(room.files()), room.skipped()
    assert {path for path in DEEP if path not in indexed and not skipped.get(path)} == set()
    assert not [path for path, reason in skipped.items() if "timed out" in reason or "crashed" in reason], skipped
    assert room.home.pid == pid


def noise(seed: int, size: int = 120_000) -> bytes:
    """Return words, brackets and quotes in no order: to a parser the worst kind of source."""
    rng = random.Random(seed)
    words = ["fn", "{", "}", "(", ")", "'", '"', "<", ">", "if", "else", "::", "->", "|", "&", "x", "0", ";", ",", "\n"]
    return " ".join(rng.choices(words, k=size // 2)).encode()


def test_noise_keeps_to_its_budget_and_is_not_parsed_again(room: Room) -> None:
    """B015: what takes a parser too long is text with a reason; touched five times, the others stay fresh."""
    names = [f"noise.{suffix}" for suffix in ("rs", "cpp", "kt", "rb", "php")]
    for seed, name in enumerate(names):
        room.tree.write(name, noise(seed))
    room.tree.write("good.py", "def good_0(): pass\n")
    assert room.places("good_*") == [("good.py", 1)]
    pid, before = room.home.pid, room.skipped()

    for number in range(1, 6):
        for seed, name in enumerate(names):
            room.tree.write(name, noise(seed))
        room.tree.write("good.py", f"def good_{number}(): pass\n")
        assert [row["name"] for row in room.symbols("good_*")] == [f"good_{number}"]

    assert (room.home.pid, room.skipped()) == (pid, before)
    assert set(names) <= set(room.files())

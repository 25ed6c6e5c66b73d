"""The lines of `ctx watch`, for people and for programs."""

from __future__ import annotations

import json
import time

import pytest

from ctxd.model import Freshness
from ctxd.render import happenings
from ctxd.render.style import Style
from ctxd.state import Happening, WorktreeState

AT_S = 1_790_000_000.25
CLOCK = time.strftime("%H:%M:%S", time.localtime(AT_S))


def happening(kind: str, **more: object) -> Happening:
    return Happening(kind=kind, root="/r", at_s=AT_S, **more)  # type: ignore[arg-type]


LINES = [
    (
        happening("committed", changed=("src/a.py",), changed_files=1, took_ms=12.4, generation=1042),
        "changed a.py · 12 ms · generation 1,042",
    ),
    (
        happening(
            "committed",
            changed=tuple(f"src/{n}.py" for n in range(9)),
            changed_files=1200,
            removed=("x y.py",),
            removed_files=1,
            took_ms=0.4,
            generation=2,
        ),
        'changed 0.py, 1.py, 2.py, 3.py and 1,196 more · removed "../x y.py" · <1 ms · generation 2',
    ),
    (happening("compared", count=0, took_ms=3.0), "compared the whole tree: nothing differed · 3 ms"),
    (happening("compared", count=1, took_ms=3.0), "compared the whole tree: 1 file differed · 3 ms"),
    (
        happening("lost", reason="over\x1b[31mflow"),
        "events were lost: over\\x1b[31mflow; comparing the whole tree by content",
    ),
    (happening("failed", reason="disk full"), "failed: disk full; it is tried again"),
    (happening("damaged", reason="bad page"), "the index is damaged: bad page; building it anew"),
    (happening("rebuilding"), "rebuilding the index beside the old one"),
    (happening("rebuilt", took_ms=812.0), "rebuilt the index · 812 ms"),
    (happening("freshness"), "fresh"),
    (
        happening("freshness", freshness=Freshness(fresh=False, reason="catching up", pending=3)),
        "not fresh: catching up, 3 files pending",
    ),
    (happening("missed", count=40), "40 lines left out: they came faster than they were read"),
    (happening("attached"), "attached"),
    (happening("forgotten"), "forgotten: detached, its index deleted"),
]


@pytest.mark.parametrize(("each", "said"), LINES, ids=lambda value: getattr(value, "kind", ""))
def test_a_line_for_people(each: Happening, said: str) -> None:
    """The time of day, what happened, in one line; paths as the caller would type them."""
    assert happenings.line(each, "text", Style(prefix="src/")) == f"{CLOCK}  {said}\n"


@pytest.mark.parametrize("each", [each for each, _ in LINES], ids=lambda each: each.kind)
def test_an_object_for_programs(each: Happening) -> None:
    """One line, one object, with the event's name, worktree and time; paths relative to the root."""
    shown = happenings.line(each, "json", Style(prefix="src/", color=True))
    found = json.loads(shown)

    assert shown.count("\n") == 1
    assert (found["schema"], found["event"], found["root"], found["at_s"]) == (1, each.kind, "/r", AT_S)
    if each.kind == "committed":
        assert found["changed"] == list(each.changed) and found["changed_files"] == each.changed_files
    assert ("fresh" in found, "count" in found) == (each.kind == "freshness", each.kind in ("compared", "missed"))


def test_the_first_line_says_how_it_stands() -> None:
    """Root, generation, freshness, how changes are noticed."""
    state = WorktreeState(root="/r", phase="ready", generation=3, watching="trusted", watches=2)

    assert happenings.standing(state, "text", Style()) == "/r · generation 3 · fresh · watching: 2 directories\n"
    found = json.loads(happenings.standing(state, "json", Style()))
    assert (found["event"], found["fresh"], found["phase"], found["watching"]["state"]) == (
        "standing",
        True,
        "ready",
        "trusted",
    )


def test_color_is_spent_only_when_asked_for() -> None:
    """Dim time and bold paths with --color always; none without."""
    shown = happenings.line(LINES[0][0], "text", Style(color=True))

    assert "\x1b[1msrc/a.py\x1b[0m" in shown and shown.startswith("\x1b[2m")
    assert "\x1b" not in happenings.line(LINES[0][0], "text", Style())

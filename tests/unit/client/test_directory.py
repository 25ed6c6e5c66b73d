"""`-C DIR` before the command, after it, and both."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxclient import cli
from ctxclient.commands import options
from ctxprotocol.messages import Find, Request


@pytest.mark.parametrize(
    ("argv", "below"),
    [
        (["-C", "{top}", "find", "x"], ""),
        (["--dir", "{top}", "find", "x"], ""),
        (["-C", "{top}", "find", "-C", "a", "x"], "/a"),
        (["find", "-C", "{top}/a", "x"], "/a"),
    ],
)
def test_the_directory_may_stand_before_the_command_as_with_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], below: str
) -> None:
    """The second is taken from the first, and either is the caller's choice."""
    (tmp_path / "a").mkdir()
    asked: list[Request] = []
    monkeypatch.setattr(options, "deliver", lambda request: asked.append(request) or 0)

    assert cli.run([word.format(top=tmp_path) for word in argv]) == 0

    (request,) = asked
    assert isinstance(request, Find)
    assert (os.fsdecode(request.directory), request.chosen) == (f"{tmp_path.resolve()}{below}", True)

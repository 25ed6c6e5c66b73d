"""A few files as an index, through the real parser and writer, and what their references are resolved to."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from ctxd.model import Freshness, View
from ctxd.search.listing import callees, callers, deps, targets
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Callees, Callers, Deps
from tests.indexed import Index, lay

ROOT = "/home/ada/shop"
HERE = os.fsencode(ROOT)


class World:
    """The answers over one snapshot, short enough to compare."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def callers(self, name: str, **options: object) -> list[str]:
        """Each reference as `path:line caller -> callee | rule`; what is not sure says so."""
        return [_row(row) for row in self._json("callers", name, **options)["results"]]

    def callees(self, name: str, **options: object) -> list[str]:
        """The same of what a definition refers to."""
        return [_row(row) for row in self._json("callees", name, **options)["results"]]

    def counts(self, name: str, **options: object) -> dict[str, int]:
        """How many references are how sure."""
        return self._json("callers", name, **options)["counts"]

    def _json(self, verb: str, name: str, **options: object) -> dict[str, dict[str, int]]:
        return json.loads(self.ask(verb, name, output="json", **options).out)

    def ask(self, verb: str, name: str, prefix: str | None = "", **options: object) -> Answer:
        """The whole answer."""
        view = View(ROOT, Freshness(fresh=True), time.perf_counter_ns(), prefix)
        if verb == "deps":
            request = Deps(directory=HERE, file=name.encode(), **options)
            return deps.deps(self.snapshot, request, view, name)
        asked = targets.asked(name)
        if verb == "callers":
            return callers.callers(self.snapshot, Callers(directory=HERE, name=name, **options), view, asked)
        return callees.callees(self.snapshot, Callees(directory=HERE, name=name, **options), view, asked)

    def printed(self, verb: str, name: str, **options: object) -> str:
        """What is printed, without times, and the exit code."""
        answer = self.ask(verb, name, **options)
        return re.sub(r"(<1|[\d,]+) ms search", "N ms search", answer.out) + f"exit {answer.code}\n"


def _row(row: dict[str, object]) -> str:
    means = row["callee"] and f"{row['callee_file']}:{row['callee_line']} {row['callee']}"
    sure = "" if row["confidence"] == "sure" else f"{row['confidence']} {row['candidates']} "
    kind = "" if row["kind"] == "call" else f"{row['kind']} "
    leads = f" {row['module']}" if "module" in row else ""
    receiver = f"{row['receiver']}." if row["receiver"] else ""
    place = f"{row['caller_file']}:{row['line']} {kind}{receiver}{row['reference']}"
    return f"{place} -> {means or '?'} | {sure}{row['rule']}{leads}"


@contextmanager
def world(root: str, files: Mapping[str, str]) -> Iterator[World]:
    """Index `files` below `root`; each text is taken without its first line break."""
    lay(f"{root}/tree", {path: text.removeprefix("\n") for path, text in files.items()})
    index = Index(f"{root}/tree", f"{root}/index.db")
    index.take()
    with index.snapshot() as snapshot:
        yield World(snapshot)


def opened(files: Mapping[str, str]) -> object:
    """Make a fixture `here` of a module's files."""

    @pytest.fixture(scope="module", name="here")
    def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
        with world(str(tmp_path_factory.mktemp("world")), files) as found:
            yield found

    return here

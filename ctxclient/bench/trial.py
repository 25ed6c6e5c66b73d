"""From a labelled set to a run: each repository exported, indexed by the daemon, and asked. Runs in the client process.

A repository that cannot be used costs its own figures and no other's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import msgspec

from ctxclient.bench import speed
from ctxclient.bench.datasets import Labelled
from ctxclient.bench.exports import Export, exported
from ctxclient.bench.machine import edited, machine
from ctxclient.bench.runs import BUDGETS, Measured, Report, Run, Timed, Unusable, Variant, asked
from ctxclient.bench.session import Session
from ctxprotocol import endpoint
from ctxprotocol.errors import CtxError, DaemonUnreachable, UsageFailed


class Place(msgspec.Struct, frozen=True):
    """Where the files of a repository lie, and what is known of them."""

    root: str
    commit: str = ""
    exact: bool = True
    missing: int = 0
    left_out: int = 0


class Plan(msgspec.Struct, frozen=True):
    """How to go about it. `attach`: the places are exports, attached as they are; else the worktree around each is
    brought up to date. `speed`: also time unlabelled questions. `forget`: detach afterwards. `vectors`: wait for them,
    and let them speak where they do by themselves; else it is words alone.
    """

    attach: bool = True
    speed: bool = False
    forget: bool = False
    vectors: bool = False
    budgets: tuple[int, ...] = BUDGETS


PLAN = Plan()

Locate = Callable[[Labelled], Place]


def cache_directory() -> str:
    """Return where exports go when no other place is named; made for this user alone."""
    state_dir = endpoint.state_directory(os.environ)
    endpoint.make_private(state_dir)
    return endpoint.exports_path(state_dir)


def clones(directory: str, cache: str, *, whole: bool, any_commit: bool) -> Locate:
    """Return what finds a repository of a set: its commit, taken out of its clone in `directory` into `cache`."""

    def locate(labelled: Labelled) -> Place:
        found = exported(labelled.repository, directory, cache, whole=whole, any_commit=any_commit)
        return of_export(found)

    return locate


def of_export(found: Export) -> Place:
    """Return the place of an export."""
    return Place(found.place, found.commit, found.exact, found.missing, found.left_out)


def attempt(
    labelled: Sequence[Labelled],
    locate: Locate,
    report: Report,
    *,
    trees: str,
    variants: Sequence[tuple[str, ...]] = (),
    plan: Plan = PLAN,
) -> Run:
    """Measure every repository of a set, and each variant (parts of the score to leave out) on those that can be."""
    began = time.monotonic()
    measured: list[list[Measured]] = []
    unusable: list[Unusable] = []
    timed: list[Timed] = []
    with Session() as session:
        session.semantic = None if plan.vectors else False
        outdated = edited(session.began())
        for each in labelled:
            try:
                measured.append(_measured(session, each, locate(each), variants, plan, report, timed))
            except DaemonUnreachable:
                raise
            except (CtxError, OSError) as error:
                unusable.append(_unusable(each, error))
    columns = [tuple(row[number] for row in measured) for number in range(len(variants) + 1)]
    return Run(
        machine=machine(),
        trees=trees,
        repositories=columns[0],
        unusable=tuple(unusable),
        variants=tuple(map(Variant, variants, columns[1:])),
        took_s=time.monotonic() - began,
        timed=tuple(timed),
        outdated=outdated,
    )


def _measured(
    session: Session,
    labelled: Labelled,
    place: Place,
    variants: Sequence[tuple[str, ...]],
    plan: Plan,
    report: Report,
    timed: list[Timed],
) -> list[Measured]:
    """Index a repository and ask its questions; once more for each variant, of which only `find` is asked."""
    name = labelled.repository.name
    report(f"{name}: indexing", 0, 0)
    indexed = session.init(place.root) if plan.attach else session.update(place.root)
    root = place.root if plan.attach else indexed.root
    if not indexed.files:
        raise UsageFailed(f"{name}: nothing to index")
    if plan.vectors:
        _wait_for_vectors(session, root, name, report)
    base = Measured(
        name=name,
        language=labelled.repository.language,
        commit=place.commit,
        exact=place.exact,
        missing=place.missing,
        left_out=place.left_out,
        files=indexed.files,
        chunks=indexed.chunks,
        changed=indexed.changed,
        index_ms=indexed.took_ms,
        questions=tuple(asked(session, root, labelled, report, plan.budgets)),
    )
    found = [base]
    for without in variants:
        session.without = without
        again = tuple(asked(session, root, labelled, report, ()))
        found.append(msgspec.structs.replace(base, questions=again))
    session.without = ()
    if plan.speed:
        timed += speed.timed(session, root, report)
    if plan.forget:
        session.forget(root)
    return found


def _wait_for_vectors(session: Session, root: str, name: str, report: Report) -> None:
    """Wait until the vectors of a repository are there. Raises UsageFailed when they will not be."""
    found = session.vectors(root, lambda done, total: report(f"{name}: vectors", done, total))
    if found.state != "ready":
        raise UsageFailed(f"{name}: no vectors: {found.reason}", found.hint)


def _unusable(labelled: Labelled, error: CtxError | OSError) -> Unusable:
    if isinstance(error, CtxError):
        return Unusable(labelled.repository.name, error.message, error.hint)
    place = f"{os.fsdecode(error.filename)}: " if error.filename else ""
    return Unusable(labelled.repository.name, f"{labelled.repository.name}: {place}{error.strerror or error}")

"""From a labelled set to a run: each repository exported, indexed by the daemon, and asked. Runs in the client process.

A repository that cannot be used costs its own figures and no other's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import msgspec

from ctxclient.bench.datasets import Labelled
from ctxclient.bench.exports import Export, exported
from ctxclient.bench.machine import machine
from ctxclient.bench.runs import BUDGETS, Measured, Report, Run, Unusable, Variant, asked
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
    variants: Sequence[Sequence[str]] = (),
    attach: bool = True,
    forget: bool = False,
) -> Run:
    """Measure every repository of a set, and each variant on those that can be measured.

    `attach`: the places are exports, attached as they are; else the worktree around each is brought up to date.
    `forget`: detach them again afterwards.
    """
    began = time.monotonic()
    measured: list[Measured] = []
    unusable: list[Unusable] = []
    different: list[list[Measured]] = [[] for _ in variants]
    with Session() as session:
        for each in labelled:
            try:
                place = locate(each)
                report(f"{each.repository.name}: indexing", 0, 0)
                indexed = session.init(place.root) if attach else session.update(place.root)
                root = indexed.root if not attach else place.root
                if not indexed.files:
                    raise UsageFailed(f"{each.repository.name}: nothing to index")
                questions = asked(session, root, each, report, BUDGETS)
            except DaemonUnreachable:
                raise
            except (CtxError, OSError) as error:
                unusable.append(_unusable(each, error))
                continue
            base = Measured(
                name=each.repository.name,
                language=each.repository.language,
                commit=place.commit,
                exact=place.exact,
                missing=place.missing,
                left_out=place.left_out,
                files=indexed.files,
                chunks=indexed.chunks,
                changed=indexed.changed,
                index_ms=indexed.took_ms,
                questions=tuple(questions),
            )
            measured.append(base)
            for number, without in enumerate(variants):
                session.without = tuple(without)
                again = tuple(asked(session, root, each, report, ()))
                different[number].append(msgspec.structs.replace(base, questions=again))
            session.without = ()
            if forget:
                session.forget(root)
    return Run(
        machine=machine(),
        trees=trees,
        repositories=tuple(measured),
        unusable=tuple(unusable),
        variants=tuple(
            Variant(tuple(without), tuple(found)) for without, found in zip(variants, different, strict=True)
        ),
        took_s=time.monotonic() - began,
    )


def _unusable(labelled: Labelled, error: CtxError | OSError) -> Unusable:
    if isinstance(error, CtxError):
        return Unusable(labelled.repository.name, error.message, error.hint)
    return Unusable(labelled.repository.name, f"{labelled.repository.name}: {error.strerror or error}")

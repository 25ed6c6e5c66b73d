"""The barrier: who may answer once which events are in the index."""

from __future__ import annotations

import asyncio

from ctxd.watch.barrier import Barrier


def barrier() -> Barrier:
    return Barrier(asyncio.get_running_loop().create_future)


def test_nobody_waits_for_what_is_committed() -> None:
    """Without new events a request answers at once."""

    async def scenario() -> bool:
        return barrier().wait(0).done()

    assert asyncio.run(scenario())


def test_a_batch_releases_exactly_those_it_covers() -> None:
    """A request that saw a later event waits for the next batch."""

    async def scenario() -> list[bool]:
        gate = barrier()
        early = gate.wait(gate.see())
        late = gate.wait(gate.see())
        gate.commit(1)
        first = [early.done(), late.done()]
        gate.commit(2)
        return [*first, late.done(), gate.passed(2)]

    assert asyncio.run(scenario()) == [True, False, True, True]


def test_a_failed_batch_lets_all_go_and_proves_nothing() -> None:
    """Released is not passed: the answer has to say that it is not fresh."""

    async def scenario() -> list[bool]:
        gate = barrier()
        waiting = gate.wait(gate.see())
        gate.release()
        return [waiting.done(), gate.passed(1)]

    assert asyncio.run(scenario()) == [True, False]


def test_a_waiter_that_went_away_is_no_trouble() -> None:
    """A client that hangs up cancels its future; the commit goes on."""

    async def scenario() -> bool:
        gate = barrier()
        gone = gate.wait(gate.see())
        stays = gate.wait(1)
        gone.cancel()
        gate.commit(1)
        return stays.done()

    assert asyncio.run(scenario())

"""Both ends of the pipe of Windows over a fake of its calls: who is served, who is not, and what an error comes to."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from ctxclient import client, namedpipe
from ctxclient.namedpipe import PipeConnection, dial
from ctxd import namedpipe as served
from ctxd.namedpipe import PipeListener
from ctxd.server import Server
from ctxprotocol import windows
from ctxprotocol.errors import Busy, DaemonUnreachable, EndpointUnsafe
from ctxprotocol.messages import Answer, AnyRequest, Find, Progress, Stop, Watch
from tests.fakewindows import ME, OTHER, Machine, Proactor, Windows, failure, wait_for

NAME = windows.pipe_name(ME, r"C:\ctx")


@pytest.fixture
def machine() -> Iterator[Machine]:
    made = Machine()
    yield made
    made.close()


async def answer(request: AnyRequest, report: Callable[[Progress], None]) -> Answer:
    assert isinstance(request, Find)
    report(Progress(phase="indexing", done=1, total=2))
    return Answer(out=request.text * 2)


async def follow(_request: Watch) -> AsyncIterator[str]:
    yield "first"
    yield "second"


async def nothing() -> None:
    """There is no socket to take away."""


@asynccontextmanager
async def serving(machine: Machine, system: Windows | None = None) -> AsyncIterator[Server]:
    """Run the daemon's own server on a pipe of the fake machine."""
    system = system or machine.process()
    server = Server(answer, follow, nothing, "the.log")  # type: ignore[arg-type]
    await server.listen(PipeListener(NAME, system, Proactor(system)))
    try:
        yield server
    finally:
        await server.close(0.1)
        for _ in range(3):  # the tasks that were cancelled end, and connections close
            await asyncio.sleep(0)


def ask(system: Windows, text: str) -> str:
    """Ask as the client's own commands do, and return the answer."""
    connected = dial(NAME, 5, system)
    assert connected is not None
    with client.Connection(connected) as connection:  # type: ignore[arg-type]
        return client.converse(connection, Find(directory=b"/", text=text)).out


def test_a_question_goes_through_the_pipe_and_back(machine: Machine) -> None:
    """The daemon's server and the client's connection, with nothing but the pipe between them; a large answer too."""

    async def main() -> list[str]:
        async with serving(machine):
            return [await asyncio.to_thread(ask, machine.process(), text) for text in ("ab", "x" * 300_000)]

    assert asyncio.run(main()) == ["abab", "x" * 600_000]


def test_who_comes_at_once_is_served_in_turn(machine: Machine) -> None:
    """More clients than instances that wait: the others try again, and none is told that there is no daemon."""

    async def main() -> list[str]:
        async with serving(machine):
            return await asyncio.gather(*(asyncio.to_thread(ask, machine.process(), f"{n},") for n in range(12)))

    assert sorted(asyncio.run(main())) == sorted(f"{n},{n}," for n in range(12))


def test_news_are_waited_for_without_a_deadline(machine: Machine) -> None:
    """`ctx watch`: parts as they come, then the end."""

    def watch(system: Windows, heard: list[str]) -> Answer:
        connected = dial(NAME, 5, system)
        assert connected is not None
        with client.Connection(connected) as connection:  # type: ignore[arg-type]
            return client.converse(connection, Watch(directory=b"/"), heard.append)

    async def main() -> list[str]:
        heard: list[str] = []
        async with serving(machine):
            await asyncio.to_thread(watch, machine.process(), heard)
        return heard

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(client.Connection, "await_news", lambda self: self._ready or self._socket.await_data())
        assert asyncio.run(main()) == ["first", "second"]


def test_stop_is_answered_and_the_name_is_free_afterwards(machine: Machine) -> None:
    """A successor is the first instance again."""

    def stop(system: Windows) -> None:
        connected = dial(NAME, 5, system)
        assert connected is not None
        with client.Connection(connected) as connection:  # type: ignore[arg-type]
            connection.greet(Stop())
            assert isinstance(connection.receive(5), Answer)

    async def main() -> None:
        async with serving(machine):
            await asyncio.to_thread(stop, machine.process())

    asyncio.run(main())
    assert machine.instances(NAME) == []
    assert dial(NAME, 1, machine.process()) is None


# -- the server -------------------------------------------------------------------------------------------------------


def test_a_name_that_somebody_else_has_is_not_shared(machine: Machine) -> None:
    """He would get our clients: the first instance of the daemon has to be the first of all."""
    machine.enforcing = False  # whatever his descriptor says
    squatter = machine.process(OTHER)
    squatter.create_pipe(NAME, windows.NEXT_INSTANCE, 0, "")
    system = machine.process()

    with pytest.raises(FileExistsError, match="somebody else has a pipe of this name"):
        PipeListener(NAME, system, Proactor(system))
    assert len(machine.instances(NAME)) == 1


def test_the_name_is_ours_at_every_instant(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """While clients come and go there is always an instance left, whatever is closed."""
    counts: list[int] = []
    real = Windows.close

    def close(self: Windows, handle: int) -> None:
        real(self, handle)
        counts.append(len(machine.instances(NAME)))

    async def main() -> list[int]:
        async with serving(machine):
            await asyncio.gather(*(asyncio.to_thread(ask, machine.process(), "x") for _ in range(6)))
            return counts.copy()

    monkeypatch.setattr(served, "WAITING", 1)
    monkeypatch.setattr(Windows, "close", close)
    assert min(asyncio.run(main())) > 0


def test_clients_of_other_users_and_machines_do_not_get_in(machine: Machine) -> None:
    """By the pipe's own descriptor and mode, before anything of ours runs."""

    async def main() -> None:
        async with serving(machine):
            for stranger in (machine.process(OTHER), machine.process(remote=True)):
                with pytest.raises(DaemonUnreachable, match="not permitted to connect"):
                    await asyncio.to_thread(dial, NAME, 1, stranger)

    asyncio.run(main())


@pytest.mark.parametrize("whose", [OTHER, None])
def test_a_client_that_got_in_all_the_same_is_not_served(
    machine: Machine, caplog: pytest.LogCaptureFixture, whose: str | None
) -> None:
    """A second look: by the process at the other end. One that cannot be looked at is none of ours."""
    machine.enforcing = False
    caplog.set_level(logging.WARNING, "ctxd.server")
    stranger = machine.process(OTHER)
    if whose is None:
        del machine.processes[stranger.pid]

    def talk() -> bytes:
        connection = PipeConnection(stranger.open_file(NAME, *windows.DIAL), stranger)
        connection.settimeout(5)
        try:
            return connection.recv(10)
        finally:
            connection.close()

    async def main() -> int:
        async with serving(machine) as server:
            assert await asyncio.to_thread(talk) == b""
            return len(server.connections)

    assert asyncio.run(main()) == 0
    assert "a client of the pipe is refused" in caplog.text


def test_a_client_that_left_at_once_costs_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows tells it as an error of accepting; the next one is served."""
    real, failures = Proactor.accept, [failure(windows.NO_DATA)] * 3

    async def accept(self: Proactor, held: object) -> None:
        if failures:
            raise failures.pop()
        await real(self, held)  # type: ignore[arg-type]

    monkeypatch.setattr(Proactor, "accept", accept)

    async def main() -> str:
        async with serving(machine):
            while failures:
                await asyncio.sleep(0)
            return await asyncio.to_thread(ask, machine.process(), "a")

    assert asyncio.run(main()) == "aa"


def test_a_system_without_further_instances_is_asked_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has connected is served as soon as there is another one to wait for the next."""
    monkeypatch.setattr(served, "PAUSE_S", 0.01)

    async def main() -> str:
        async with serving(machine):
            machine.most_instances = served.WAITING
            asking = asyncio.create_task(asyncio.to_thread(ask, machine.process(), "a"))
            await asyncio.wait({asking}, timeout=0.1)
            assert not asking.done()
            machine.most_instances = 255
            return await asking

    assert asyncio.run(main()) == "aa"


# -- the client -------------------------------------------------------------------------------------------------------


def idle(machine: Machine, sid: str = ME, count: int = 1) -> list[int]:
    """Make instances that nobody accepts; return their handles."""
    server = machine.process(sid)
    return [server.create_pipe(NAME, windows.NEXT_INSTANCE, 8, windows.pipe_descriptor(ME)) for _ in range(count)]


def test_where_there_is_no_pipe_there_is_no_daemon(machine: Machine) -> None:
    """None, as for a socket that is not there: the client may start one."""
    assert dial(NAME, 5, machine.process()) is None


def test_a_pipe_of_somebody_else_is_not_spoken_to(machine: Machine) -> None:
    """He let us in on purpose. Nothing is sent, and the connection is closed."""
    idle(machine, OTHER)
    me = machine.process()

    with pytest.raises(EndpointUnsafe, match=f"runs as {OTHER}, not as you"):
        dial(NAME, 5, me)
    assert me.opened == [(NAME, *windows.DIAL)] and len(machine.handles) == 1


def test_a_server_whose_owner_is_not_told_is_not_spoken_to(machine: Machine) -> None:
    """It may have ended, and its number be another's."""
    idle(machine)
    machine.processes.clear()

    with pytest.raises(EndpointUnsafe, match="is not told"):
        dial(NAME, 5, machine.process())


def test_a_busy_pipe_is_waited_for_until_the_deadline(machine: Machine) -> None:
    """Then it is said that the daemon has too many; each wait is a short one, and none is 0, the pipe's default."""
    idle(machine)
    me = machine.process()
    me.open_file(NAME, *windows.DIAL)
    began = time.monotonic()

    with pytest.raises(Busy, match="too many"):
        dial(NAME, 0.5, me)
    assert 0.5 <= time.monotonic() - began < 5
    assert len(me.waited) >= 3 and all(1 <= wait <= namedpipe.WAIT_MS for wait in me.waited)


def test_a_busy_pipe_that_is_free_again_is_taken(machine: Machine) -> None:
    """Whoever waits is woken by the next instance."""
    idle(machine)
    me = machine.process()
    me.open_file(NAME, *windows.DIAL)
    threading.Timer(0.1, idle, (machine,)).start()
    connected = dial(NAME, 10, me)
    assert connected is not None
    connected.close()
    connected.close()


def test_a_pipe_that_goes_while_it_is_waited_for_is_no_daemon(machine: Machine) -> None:
    """It ended meanwhile."""
    (handle,) = idle(machine)
    me = machine.process()
    me.open_file(NAME, *windows.DIAL)
    threading.Timer(0.1, me.close, (handle,)).start()

    assert dial(NAME, 10, me) is None


@pytest.fixture
def pair(machine: Machine) -> Iterator[tuple[PipeConnection, Windows, int]]:
    """A connection, and the server's end of it."""
    (handle,) = idle(machine)
    me = machine.process()
    connected = dial(NAME, 5, me)
    assert connected is not None
    connected.settimeout(5)
    yield connected, me, handle
    connected.close()


Pair = tuple[PipeConnection, Windows, int]


def test_silence_ends_by_a_timeout_and_what_comes_later_is_not_lost(pair: Pair) -> None:
    """The read goes on by itself: its bytes belong to the next one."""
    connection, system, server = pair
    connection.settimeout(0.05)
    with pytest.raises(TimeoutError):
        connection.recv(10)
    system.machine.handles[server].ours.send(b"late")  # type: ignore[attr-defined]

    assert connection.recv(10) == b"late"


def test_the_other_ends_closing_is_the_end(pair: Pair) -> None:
    """What it sent before is read first; then nothing, and writing breaks."""
    connection, system, server = pair
    system.machine.handles[server].ours.send(b"bye")  # type: ignore[attr-defined]
    system.close(server)

    assert (connection.recv(10), connection.recv(10), connection.recv(10)) == (b"bye", b"", b"")
    with pytest.raises(BrokenPipeError):
        connection.sendall(b"x")


def test_a_daemon_that_takes_nothing_is_given_up(pair: Pair) -> None:
    """The pipe is full: the write is cancelled, and the client says that it timed out."""
    connection, _, _ = pair
    connection.settimeout(0.05)

    with pytest.raises(TimeoutError, match="takes nothing"):
        connection.sendall(b"x" * (8 << 20))


def test_a_read_under_way_is_ended_before_its_handle_is_closed(pair: Pair) -> None:
    """The kernel would write into memory that is somebody else's by then."""
    connection, _, _ = pair
    connection.settimeout(0.01)
    with pytest.raises(TimeoutError):
        connection.recv(10)
    reading = connection._reading
    connection.close()

    assert reading is not None and reading.cancelled  # type: ignore[attr-defined]


def test_an_error_that_is_none_of_these_is_told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own words, and not taken for a daemon that does not run."""
    me = machine.process()

    def refuse(*_: object) -> int:
        raise failure(1450, "insufficient system resources")

    monkeypatch.setattr(me, "open_file", refuse)

    with pytest.raises(DaemonUnreachable, match="insufficient system resources"):
        dial(NAME, 5, me)


def test_the_handles_of_a_daemon_are_all_given_back(machine: Machine) -> None:
    """Connected or waiting, none stays open when the server closes."""

    async def main() -> None:
        async with serving(machine):
            await asyncio.to_thread(ask, machine.process(), "a")

    asyncio.run(main())
    wait_for(lambda: not machine.instances(NAME))

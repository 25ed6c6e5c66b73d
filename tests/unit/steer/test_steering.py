"""Steering against servers that speak the real wire formats, and every way in which they fail."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxd.guide import Shown, Steered
from ctxd.remote.http import Http
from ctxd.remote.providers import Keys, Remote
from ctxd.steer.decompose import Facts
from ctxd.steer.lately import Lately
from ctxd.steer.steering import Steering
from ctxprotocol import providers
from ctxprotocol.providers import Target, resolved
from tests.fakes import Clock
from tests.remote import Chat, Fault, Provider, chats, free_port

PLAN = {
    "queries": [{"text": "expired session", "strategy": "words", "weight": 0.9}],
    "symbols": [],
    "paths": [],
    "results": 3,
}
SHOWN = tuple(Shown(f"id{n}", f"m{n}.py", n, n, "function", f"f{n}", f"def f{n}()", ("pass",)) for n in range(1, 4))
KEY = "sk-keyofthistest"


def say(chat: Chat) -> str:
    """Plan, and keep all but the second place."""
    if "places" not in chat.data:
        return json.dumps(PLAN)
    rows = [{"place": one["place"], "keep": one["place"] != 2, "why": "it is"} for one in chat.data["places"]]
    return json.dumps({"places": rows})


@pytest.fixture
def server() -> Iterator[Provider]:
    with Provider(chats(say)) as found:
        yield found


def target(wire: str, url: str, **more: Any) -> Target:
    endpoint = {"gemini": f"{url}/v1beta", "openai": f"{url}/v1", "ollama": url}[wire]
    return resolved(providers.Provider(name=wire, model=f"{wire}-m", endpoint=endpoint, **more), "llm")


class Room:
    """Questions to some targets, one after the other, as one daemon would ask them."""

    def __init__(self, *targets: Target, timeout_s: float = 5.0, home: Path | None = None) -> None:
        self.targets, self.timeout_s = targets, timeout_s
        self.clock = Clock()
        self.lately = Lately(self.clock.monotonic)
        self._keys = Keys(str(home / "keys.json") if home else "/nowhere/keys.json", {"THE_KEY": KEY})
        self.told: list[str] = []

    def steer(self, times: int = 1, shown: tuple[Shown, ...] = SHOWN) -> Steered:
        """Plan and judge so many times, and return what the last one came to."""

        async def main() -> Steered:
            http = Http()
            try:
                for _ in range(times):
                    steering = Steering(self.targets, lambda one: Remote(one, http, self._keys), *self._rest())
                    if await steering.plan("why are users logged out", Facts(("python",), ("src",))):
                        await steering.judge("why are users logged out", shown)
                return steering.steered()
            finally:
                await http.close()

        return asyncio.run(main())

    def _rest(self) -> tuple[Lately, Callable[[str], None], float]:
        return self.lately, self.told.append, self.timeout_s


@pytest.mark.parametrize("wire", ["gemini", "openai", "ollama"])
def test_each_wire_format_steers(server: Provider, wire: str) -> None:
    """A plan, verdicts, who it was, what it cost by the reply's usage, how long it took; nothing to warn of."""
    room = Room(target(wire, server.url, price_in=1.0, price_out=2.0, api_key_env="THE_KEY"))

    steered = room.steer()

    assert steered.guide is not None and steered.guide.queries[0].text == "expired session"
    assert [one.keep for one in steered.verdicts] == [True, False, True]
    assert (steered.by, steered.warning) == (f"{wire}-m", "")
    assert steered.cost_usd is not None and 1e-6 < steered.cost_usd < 1e-3 and steered.took_ms > 0
    header = "x-goog-api-key" if wire == "gemini" else "authorization"
    assert all(KEY in asked.headers[header] and KEY not in asked.path for asked in server.asked)


FAULTS = {
    "500": Fault(status=500, body=b"{}"),
    "401": Fault(status=401, body=b"{}"),
    "404": Fault(status=404, body=b'{"error": "model not found"}'),
    "429": Fault(status=429, body=b"{}", headers={"Retry-After": "120"}),
    "no envelope": Fault(body=b'{"object": "list"}'),
    "malformed": Fault(body=b'{"choices": [{'),
    "no plan": Fault(body=json.dumps({"choices": [{"message": {"content": "Sure!"}}]}).encode()),
    "refusal": Fault(body=json.dumps({"choices": [{"message": {"content": None, "refusal": "no"}}]}).encode()),
    "cut": Fault(cut=20),
    "garbage": Fault(garbage=b"220 mail ready\r\n"),
    "huge": Fault(huge=3 << 20),
    "slow head": Fault(slow_s=20),
    "slow body": Fault(slow_body_s=20),
}


# A connection that ends at the wrong moment is tried once more before it counts.
TWICE = ("garbage",)


def again(name: str) -> list[Fault]:
    return [FAULTS[name]] * (2 if name in TWICE else 1)


@pytest.mark.parametrize("name", FAULTS)
def test_a_failure_is_followed_by_the_next_provider(server: Provider, name: str) -> None:
    """Within the deadline, with one warning that says who failed; one that hangs gets half of the time."""
    with Provider(chats(say)) as faulty:
        faulty.misbehave(*again(name))
        room = Room(target("openai", faulty.url), target("ollama", server.url), timeout_s=3.0)
        began = time.monotonic()
        steered = room.steer()

    assert time.monotonic() - began < 15
    assert steered.guide is not None and steered.verdicts
    assert steered.by == "ollama-m"
    assert steered.warning.startswith("steering: openai: ") and steered.warning.endswith(
        "; steered by ollama-m instead"
    )
    assert steered.warning.count("openai: ") == 1  # said once, though two questions went past it
    assert len(faulty.asked) == len(again(name))


@pytest.mark.parametrize("name", FAULTS)
def test_without_another_there_is_no_plan_and_one_warning(name: str) -> None:
    """The reason, and that the answer is the one without steering."""
    with Provider(chats(say)) as faulty:
        faulty.misbehave(*again(name))
        room = Room(target("openai", faulty.url), timeout_s=1.0)
        began = time.monotonic()
        steered = room.steer()

    assert time.monotonic() - began < 15
    assert (steered.guide, steered.verdicts, steered.by) == (None, (), "")
    assert steered.warning.endswith("; this is the answer without it")
    assert "\n" not in steered.warning and KEY not in steered.warning


def test_a_reply_is_bounded(server: Provider) -> None:
    """More than a megabyte is no plan, and is not read to its end."""
    server.misbehave(FAULTS["huge"])

    assert "answers with more than 1,048,576 bytes" in Room(target("openai", server.url)).steer().warning


def test_who_failed_rests(server: Provider) -> None:
    """Half a minute without being asked, or as long as it said; then it is asked again."""
    server.misbehave(FAULTS["500"], FAULTS["429"])
    room = Room(target("openai", server.url))

    room.steer(times=3)
    assert len(server.asked) == 1
    assert "not asked again for 30 s" in room.steer().warning
    room.clock.advance(31)
    room.steer()
    room.clock.advance(100)
    assert room.steer().guide is None and len(server.asked) == 2
    room.clock.advance(30)
    assert room.steer().guide is not None


def test_who_only_refuses_a_question_does_not_rest(server: Provider) -> None:
    """It may answer the next one."""
    server.misbehave(FAULTS["refusal"])
    room = Room(target("openai", server.url))

    assert room.steer().warning == ("steering: openai: the model would not answer; this is the answer without it")
    assert room.steer().guide is not None


def test_nobody_listens(server: Provider) -> None:
    """A closed port costs no time."""
    room = Room(target("ollama", f"http://127.0.0.1:{free_port()}"), target("gemini", server.url))

    steered = room.steer()

    assert steered.by == "gemini-m" and steered.took_ms < 2_000
    assert "ollama: 127.0.0.1 cannot be reached" in steered.warning and "is ollama running?" in steered.warning


def test_a_schema_that_is_refused_is_asked_for_in_words(server: Provider) -> None:
    """A 400 for a schema: once more with JSON alone, and from then on at once."""
    server.misbehave(Fault(status=400, body=b'{"error": {"code": "invalid_response_format"}}'))
    room = Room(target("openai", server.url))

    steered = room.steer(times=2)

    assert steered.guide is not None and not steered.warning
    formats = [body["response_format"]["type"] for body in server.bodies()]
    assert formats == ["json_schema", *["json_object"] * 4]


def test_a_bad_judgement_leaves_the_plan(server: Provider) -> None:
    """Every place dropped: the plan stands, what was found is not judged, and that is said."""
    dropped = {"places": [{"place": n, "keep": False, "why": ""} for n in (1, 2, 3)]}
    with Provider(chats(lambda chat: json.dumps(dropped if "places" in chat.data else PLAN))) as harsh:
        steered = Room(target("openai", harsh.url)).steer()

    assert steered.guide is not None and steered.verdicts == ()
    assert steered.by == "openai-m"
    assert steered.warning == "steering: openai: it dropped every place; what was found is not judged"


def test_all_of_it_has_one_deadline() -> None:
    """A plan that takes most of the time leaves the rest to the judgement, and no more."""
    with Provider(chats(say)) as slow:
        slow.misbehave(Fault(slow_s=0.5), Fault(slow_s=20))
        steered = Room(target("openai", slow.url), timeout_s=2.0).steer()

    assert steered.guide is not None and steered.verdicts == ()
    said = re.fullmatch(
        r"steering: openai: 127\.0\.0\.1 did not answer within (\S+) s; what was found is not judged", steered.warning
    )
    assert said is not None and 0 < float(said[1]) <= 1.5


def test_an_unknown_price_is_not_guessed(server: Provider) -> None:
    """Elsewhere than where its price is known a model may cost anything; here it costs nothing."""
    assert Room(target("ollama", server.url)).steer().cost_usd == 0.0
    usage_less = json.dumps({"choices": [{"message": {"content": json.dumps(PLAN)}, "finish_reason": "stop"}]})
    server.misbehave(Fault(body=usage_less.encode()))
    assert Room(target("openai", server.url, price_in=1.0)).steer().cost_usd is None


def test_without_a_key_nobody_is_asked(server: Provider, tmp_path: Path) -> None:
    """It is said how to set one, and it may be set the next moment: there is no rest."""
    room = Room(resolved(providers.Provider(name="gemini"), "llm"), target("ollama", server.url), home=tmp_path)

    steered = room.steer(times=2)

    assert steered.by == "ollama-m"
    assert "there is no key of gemini (ctx auth set gemini); steered by" in steered.warning

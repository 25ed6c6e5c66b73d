"""One question's way through the configured language models. On the loop.

Providers are asked in their order; one that fails is followed by the next, within one deadline over all of it. Nothing
here raises for what a provider does: what cannot be had is left out of `Steered`, with one warning that says why.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from ctxd.guide import Guide, Shown, Steered, Verdict
from ctxd.remote import prices
from ctxd.remote.failure import RemoteFailed
from ctxd.remote.providers import Remote
from ctxd.steer import decompose, provider, summarize
from ctxd.steer.decompose import Facts
from ctxd.steer.formats import REFUSED, Ask, Said, Unfit
from ctxd.steer.lately import Lately
from ctxprotocol.providers import Target

Taken = TypeVar("Taken")

# One that others wait behind gets no more than this part of what is left: it may hang.
_SHARE = 0.5
# In less time than this nobody answers.
_LEAST_S = 0.1
_LONGEST_WARNING = 500


class Steering:
    """See the module. `remote` gives the way to a target; `report` is told who is asked; `timeout_s` is for all."""

    def __init__(
        self,
        targets: Sequence[Target],
        remote: Callable[[Target], Remote],
        lately: Lately,
        report: Callable[[str], None],
        timeout_s: float,
    ) -> None:
        self._targets = list(targets)
        self._remote, self._lately, self._report = remote, lately, report
        self._ends = time.monotonic() + timeout_s
        self._timeout_s = timeout_s
        self._guide: Guide | None = None
        self._verdicts: tuple[Verdict, ...] = ()
        self._by: dict[str, None] = {}
        self._cost_usd: float | None = 0.0
        self._took_s = 0.0
        self._troubles: dict[str, None] = {}

    async def plan(self, question: str, facts: Facts) -> Guide | None:
        """Return how to search, None when nobody says so."""
        self._guide = await self._first(decompose.ask(question, facts), decompose.read)
        return self._guide

    async def judge(self, question: str, shown: Sequence[Shown]) -> None:
        """Have the places that were found judged."""
        verdicts = await self._first(summarize.ask(question, shown), lambda text: summarize.read(text, shown))
        self._verdicts = verdicts or ()

    def steered(self, *, found: bool = True) -> Steered:
        """Return what it has come to. `found`: there was something to judge."""
        return Steered(
            guide=self._guide,
            verdicts=self._verdicts,
            by=" and ".join(self._by),
            cost_usd=self._cost_usd,
            took_ms=self._took_s * 1e3,
            warning=self._warning(found),
        )

    def _warning(self, found: bool) -> str:
        if not self._troubles:
            return ""
        if self._guide is None:
            end = "this is the answer without it"
        elif found and not self._verdicts:
            end = "what was found is not judged"
        else:
            end = f"steered by {' and '.join(self._by)} instead"
        said = "; ".join(self._troubles)
        return f"steering: {said if len(said) <= _LONGEST_WARNING else said[:_LONGEST_WARNING] + '…'}; {end}"

    async def _first(self, ask: Ask, read: Callable[[str], Taken]) -> Taken | None:
        """Return what the first target says that says something usable."""
        began = time.monotonic()
        try:
            awake = [target for target in self._targets if not self._rests(target)]
            for place, target in enumerate(awake):
                found = await self._asked(target, ask, read, last=place == len(awake) - 1)
                if found is not None:
                    self._targets.remove(target)
                    self._targets.insert(0, target)  # who has answered is asked first from now on
                    self._by[target.model] = None
                    return found
            return None
        finally:
            self._took_s += time.monotonic() - began

    def _rests(self, target: Target) -> bool:
        why = self._lately.resting(target)
        if why and not any(each.startswith(f"{target.name}: ") for each in self._troubles):
            self._troubles[f"{target.name}: {why}"] = None
        return bool(why)

    async def _asked(self, target: Target, ask: Ask, read: Callable[[str], Taken], *, last: bool) -> Taken | None:
        left = self._ends - time.monotonic()
        deadline_s = math.floor(left * (1.0 if last else _SHARE) * 10) / 10
        if deadline_s < _LEAST_S:
            self._troubles[f"{target.name}: no time left of {self._timeout_s:g} s (llm.timeout_s)"] = None
            return None
        self._report(f"asking {target.model}")
        try:
            async with asyncio.timeout(deadline_s + _LEAST_S):
                said = await provider.ask(self._remote(target), ask, self._lately, deadline_s=deadline_s)
            self._pay(target, said)
            if said.trouble:
                raise Unfit(said.trouble, lasting=said.trouble != REFUSED)
            return read(said.text)
        except Unfit as unfit:
            self._failed(target, unfit.message, rests=unfit.lasting)
        except RemoteFailed as failed:
            hint = f"is {target.name} running?" if target.local and failed.kind == "unreachable" else failed.hint
            why = f"{failed.message} ({hint})" if hint else failed.message
            # Without a key nobody was asked: it may be set the next moment.
            self._failed(target, why, rests=failed.kind != "key", rest_s=failed.retry_after_s)
        except TimeoutError:
            self._failed(target, f"no answer within {deadline_s:g} s")
        return None

    def _failed(self, target: Target, why: str, *, rests: bool = True, rest_s: float = 0.0) -> None:
        self._troubles[f"{target.name}: {why}"] = None
        if rests:
            self._lately.rest(target, why, rest_s)

    def _pay(self, target: Target, said: Said) -> None:
        """Add what a reply costs; unknown stays unknown."""
        price = prices.price(target)
        if price is None or (price != prices.FREE and min(said.sent_tokens, said.received_tokens) < 0):
            self._cost_usd = None
        elif self._cost_usd is not None and price != prices.FREE:
            self._cost_usd += price.of(said.sent_tokens, said.received_tokens)

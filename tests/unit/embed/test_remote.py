"""Vectors from a provider: what is sent, what counts as an answer, who is asked next, and what it may cost."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ctxd.embed import remote as module
from ctxd.embed.model import EmbedFailed, Vector, quantized
from ctxd.embed.remote import RemoteEmbedder
from ctxd.remote.http import Http
from ctxd.remote.ledger import Ledger, LedgerFailed
from ctxd.remote.providers import Keys, Remote
from ctxprotocol import secrets
from ctxprotocol.providers import Provider as Configured
from ctxprotocol.providers import resolved
from tests.remote import Fault, Provider, embeddings, free_port

KEY = "sk-veryverysecretkey"


def numbers(text: str) -> list[float]:
    """Return a direction of six dimensions that tells texts apart."""
    chance = random.Random(text)
    return [chance.uniform(-1, 1) for _ in range(6)]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(embeddings(numbers)) as found:
        yield found


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are short here."""
    monkeypatch.setattr(module, "_PAUSE_S", 0.01)


def house(url: str, name: str = "house", **more: Any) -> Configured:
    """Return a provider of one's own."""
    fields = {"name": name, "endpoint": f"{url}/v1", "kind": "openai", "model": "m", **more}
    return Configured(**fields)


class Bench:
    """An embedder over real connections, with its ledger."""

    def __init__(self, state: Path, *providers: Configured, cap_usd: float = 0.0, learnt: int = 6) -> None:
        self.ledger = Ledger(str(state))
        if learnt:
            self.ledger.learn("m", learnt)
        self.http = Http()
        keys = Keys(str(state / "keys.json"), {"THEIR_KEY": KEY})
        remotes = [Remote(resolved(each, "embed"), self.http, keys) for each in providers]
        self.embedder = RemoteEmbedder(remotes, self.ledger, cap_usd, random.Random(1))


@asynccontextmanager
async def bench(*args: Any, **options: Any) -> AsyncIterator[RemoteEmbedder]:
    it = Bench(*args, **options)
    try:
        yield it.embedder
    finally:
        await it.embedder.close()
        await it.http.close()


def with_bench(job: Callable[[RemoteEmbedder], Awaitable[Any]], *args: Any, **options: Any) -> Any:
    """Run a job on an embedder and return what it gives."""

    async def main() -> Any:
        async with bench(*args, **options) as embedder:
            return await job(embedder)

    return asyncio.run(main())


def passages(*texts: str) -> Callable[[RemoteEmbedder], Awaitable[list[Vector]]]:
    return lambda embedder: embedder.embed(texts, query=False)


def question(text: str = "where") -> Callable[[RemoteEmbedder], Awaitable[list[Vector]]]:
    return lambda embedder: embedder.embed([text], query=True)


def failed(job: Callable[[RemoteEmbedder], Awaitable[Any]], *args: Any, **options: Any) -> EmbedFailed:
    """Run what is to fail and return how."""
    with pytest.raises(EmbedFailed) as caught:
        with_bench(job, *args, **options)
    assert KEY not in f"{caught.value!r}{caught.value.hint}"
    return caught.value


def test_texts_become_vectors_in_their_order(provider: Provider, tmp_path: Path) -> None:
    """As OpenAI has it: a list of texts, numbers back in any order; a text of nothing is not sent."""
    scrambled = embeddings(numbers)

    def reply(asked: Any) -> Any:
        found = scrambled(asked)
        return {**found, "data": found["data"][::-1]}

    provider.reply = reply
    found = with_bench(passages("one", "", "two", " "), tmp_path, house(provider.url, api_key_env="THEIR_KEY"))

    assert found == [quantized(numbers("one")), bytes(6), quantized(numbers("two")), bytes(6)]
    assert provider.bodies() == [{"model": "m", "input": ["one", "two"], "encoding_format": "float"}]
    assert provider.asked[0].path == "/v1/embeddings"
    assert provider.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_voyage_is_told_which_texts_are_questions(provider: Provider, tmp_path: Path) -> None:
    """Its models make other vectors for them."""
    voyage = Configured(name="voyage", endpoint=provider.url, model="m")

    async def job(embedder: RemoteEmbedder) -> None:
        await embedder.embed(["a"], query=False)
        await embedder.embed(["b"], query=True)

    with_bench(job, tmp_path, voyage)
    assert [(body["input_type"], body["input"]) for body in provider.bodies()] == [
        ("document", ["a"]),
        ("query", ["b"]),
    ]


def test_models_that_want_prefixes_get_them(provider: Provider, tmp_path: Path) -> None:
    """As they were trained."""
    ollama = Configured(name="ollama", endpoint=f"{provider.url}/v1")

    async def job(embedder: RemoteEmbedder) -> None:
        await embedder.ready()
        await embedder.embed(["a"], query=False)
        await embedder.embed(["b"], query=True)

    with_bench(job, tmp_path, ollama)
    assert [body["input"] for body in provider.bodies()[1:]] == [["search_document: a"], ["search_query: b"]]


def test_dimensions_are_learnt_once_and_are_part_of_the_name(provider: Provider, tmp_path: Path) -> None:
    """By a word of ours, not one of the user's; the next daemon knows them."""

    async def job(embedder: RemoteEmbedder) -> tuple[str, str]:
        before = embedder.model.name
        await embedder.ready()
        await embedder.ready()
        return before, embedder.model.name

    assert with_bench(job, tmp_path, house(provider.url), learnt=0) == ("m", "m@6")
    assert with_bench(job, tmp_path, house(provider.url), learnt=0) == ("m@6", "m@6")
    assert [body["input"] for body in provider.bodies()] == [["dimensions"]]


def test_many_texts_go_in_requests_of_a_size(provider: Provider, tmp_path: Path) -> None:
    """By number and by length, one after the other."""
    texts = [f"t{number}" for number in range(130)] + ["x" * 60_000, "y" * 60_000]

    found = with_bench(passages(*texts), tmp_path, house(provider.url))

    assert found == [quantized(numbers(text)) for text in texts]
    assert [len(body["input"]) for body in provider.bodies()] == [64, 64, 3, 1]
    with_bench(passages("é" * 30_000, "ö" * 30_000), tmp_path, house(provider.url))
    assert [len(body["input"]) for body in provider.bodies()[4:]] == [1, 1]  # bytes, not characters


def test_what_is_too_much_goes_by_less(provider: Provider, tmp_path: Path) -> None:
    """A batch in halves, one long text by its beginning: one that a model does not take holds up no other."""
    works = embeddings(numbers)

    def reply(asked: Any) -> Any:
        texts = asked.body["input"]
        return Fault(400, b"{}") if len(texts) > 2 or max(map(len, texts)) > 500 else works(asked)

    provider.reply = reply
    found = with_bench(passages("a", "b", "x" * 1600, "c"), tmp_path, house(provider.url))

    assert found == [quantized(numbers(text)) for text in ("a", "b", "x" * 400, "c")]


def test_who_refuses_everything_is_not_asked_for_long(provider: Provider, tmp_path: Path) -> None:
    """It is not the length of the texts then."""
    provider.reply = lambda _: Fault(400, b"{}")

    fault = failed(passages(*["a word " * 90] * 64), tmp_path, house(provider.url))

    assert (fault.final, fault.after_s, len(provider.asked)) == (False, 60.0, 9)


def test_a_question_that_is_refused_stops_no_other(provider: Provider, tmp_path: Path) -> None:
    """A long one goes by its beginning; what the provider says to one says nothing about the next."""
    provider.misbehave(Fault(400, b"{}"))

    async def job(embedder: RemoteEmbedder) -> None:
        with pytest.raises(EmbedFailed, match="answers 400"):
            await embedder.embed(["odd"], query=True)
        await embedder.embed(["x" * 9_000], query=True)

    with_bench(job, tmp_path, house(provider.url))
    assert [len(body["input"][0]) for body in provider.bodies()] == [3, 2_000]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"data": []}, "0 vectors for 2 texts"),
        ({"data": [{"embedding": [1.0] * 6, "index": 0}] * 2}, "2 vectors for 2 texts"),
        ({"data": [{"embedding": [1.0] * n, "index": n - 6} for n in (6, 7)]}, "dimensions"),
        ({"data": [{"embedding": [], "index": n} for n in (0, 1)]}, "dimensions"),
        ({"data": [{"embedding": ["1"], "index": n} for n in (0, 1)]}, "something else than vectors"),
        ({"error": "never mind"}, "something else than vectors"),
        ([], "something else than vectors"),
    ],
)
def test_an_answer_that_does_not_fit_is_none(provider: Provider, tmp_path: Path, reply: Any, says: str) -> None:
    """Wrong count, no order, no numbers: it is tried again, and then said."""
    provider.reply = lambda _: reply

    fault = failed(passages("one", "two"), tmp_path, house(provider.url))

    assert says in fault.message and not fault.final
    assert len(provider.asked) == 3


def test_another_dimension_is_a_clear_failure(provider: Provider, tmp_path: Path) -> None:
    """The vectors of two models would be mixed; what to do is said, and then it is learnt anew."""
    fault = failed(passages("one"), tmp_path, house(provider.url), learnt=8)

    assert fault.final and "6 dimensions under the name of m, which has 8" in fault.message
    assert "ctx daemon restart" in fault.hint
    assert Ledger(str(tmp_path)).dimensions("m") == 0


def test_what_may_pass_is_tried_again(provider: Provider, tmp_path: Path) -> None:
    """A fault of theirs, a connection that ends, a limit that says when."""
    provider.misbehave(Fault(500, b"{}"), Fault(cut=4))
    assert with_bench(passages("one"), tmp_path, house(provider.url)) == [quantized(numbers("one"))]
    provider.misbehave(Fault(429, b"{}", {"Retry-After": "0.3"}))
    began = time.monotonic()
    assert with_bench(passages("one"), tmp_path, house(provider.url)) == [quantized(numbers("one"))]
    assert time.monotonic() - began >= 0.3


def test_a_long_wait_is_left_to_who_asks(provider: Provider, tmp_path: Path) -> None:
    """It is told how long, and waits itself; whoever asks all the same, as after each save, does not get through."""
    provider.misbehave(Fault(429, b"{}", {"Retry-After": "90"}))

    async def job(embedder: RemoteEmbedder) -> list[EmbedFailed]:
        found = []
        for _ in range(2):
            with pytest.raises(EmbedFailed, match="answers 429") as caught:
                await embedder.embed(["one"], query=False)
            found.append(caught.value)
        return found

    first, second = with_bench(job, tmp_path, house(provider.url))
    assert (first.after_s, first.final, len(provider.asked)) == (90.0, False, 1)
    assert 60 < second.after_s <= 90.0


@pytest.mark.parametrize(
    ("status", "after_s", "hint"), [(401, 300, "ctx auth set house"), (404, 60, "is the model there")]
)
def test_what_a_person_must_mend_is_not_tried_at_once(
    provider: Provider, tmp_path: Path, status: int, after_s: float, hint: str
) -> None:
    """And it is said what."""
    provider.misbehave(Fault(status, b"{}"))

    fault = failed(passages("one"), tmp_path, house(provider.url))

    assert (fault.after_s, len(provider.asked)) == (after_s, 1)
    assert hint in fault.hint


def test_without_a_key_nothing_is_sent(provider: Provider, tmp_path: Path) -> None:
    """One that was set a moment ago counts at once."""
    keyed = Configured(name="openai")
    fault = failed(passages("one"), tmp_path, keyed, cap_usd=1.0)
    assert (fault.message, fault.hint) == ("there is no key of openai", "ctx auth set openai")
    secrets.keep(str(tmp_path / "keys.json"), "house", KEY)
    with_bench(passages("one"), tmp_path, house(provider.url))
    assert provider.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_next_provider_follows_if_it_has_the_same_model(provider: Provider, tmp_path: Path) -> None:
    """One that fails is not asked again for a while; another model is never asked."""
    with Provider(embeddings(numbers)) as down, Provider(embeddings(numbers)) as other:
        down.misbehave(*[Fault(500, b"{}")] * 9)
        order = house(down.url, "a"), house(other.url, "b", model="n"), house(provider.url, "c")

        async def job(embedder: RemoteEmbedder) -> list[Vector]:
            found = await embedder.embed(["one"], query=False) + await embedder.embed(["two"], query=False)
            return found + await embedder.embed(["three"], query=True)

        assert with_bench(job, tmp_path, *order) == [quantized(numbers(text)) for text in ("one", "two", "three")]
        assert (len(down.asked), len(other.asked), len(provider.asked)) == (1, 0, 3)


def test_a_question_does_not_wait_behind_passages(provider: Provider, tmp_path: Path) -> None:
    """It goes beside the one request of passages that is in work."""
    provider.open.clear()

    async def job(embedder: RemoteEmbedder) -> list[str]:
        waiting = [asyncio.create_task(embedder.embed([f"p{n}"], query=False)) for n in range(3)]
        while not provider.asked:
            await asyncio.sleep(0.005)
        asked = asyncio.create_task(embedder.embed(["q"], query=True))
        while len(provider.asked) < 2:
            await asyncio.sleep(0.005)
        provider.open.set()
        await asyncio.gather(asked, *waiting)
        return [body["input"][0] for body in provider.bodies()]

    assert with_bench(job, tmp_path, house(provider.url))[:2] == ["p0", "q"]


def test_a_question_waits_for_little_and_only_once(provider: Provider, tmp_path: Path) -> None:
    """After a failure none is asked for a while, until passages get through again."""
    provider.misbehave(Fault(slow_s=30))

    async def job(embedder: RemoteEmbedder) -> tuple[str, str]:
        with pytest.raises(EmbedFailed) as first:
            await embedder.embed(["q"], query=True)
        with pytest.raises(EmbedFailed) as second:
            await embedder.embed(["q"], query=True)
        assert (len(provider.asked), embedder.going.resting) == (1, first.value.message)
        await embedder.embed(["p"], query=False)
        await embedder.embed(["q"], query=True)
        return first.value.message, second.value.message

    first, second = with_bench(job, tmp_path, house(provider.url))
    assert first == f"127.0.0.1 did not answer within {module.QUESTION_S:g} s"
    assert second.startswith(f"{first}; not asked again for ")


def test_a_question_does_not_wait_for_a_disk(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it costs is noted before it is asked, and may take its time; the provider is not to blame."""
    dead = threading.Event()
    monkeypatch.setattr(module, "QUESTION_S", 0.3)
    monkeypatch.setattr(Ledger, "reserve", lambda *_: dead.wait(30))

    async def job(embedder: RemoteEmbedder) -> str:
        with pytest.raises(EmbedFailed, match="no vector within"):
            await embedder.embed(["q"], query=True)
        dead.set()
        assert embedder.going is not None
        return embedder.going.resting

    assert with_bench(job, tmp_path, house(provider.url, price_in=1.0), cap_usd=9.0) == ""
    assert provider.asked == []


def test_one_deadline_is_over_key_and_answer(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A keyring that takes its time leaves the provider less of it."""
    find = Keys.find
    monkeypatch.setattr(Keys, "find", lambda *asked: time.sleep(0.4) or find(*asked))
    monkeypatch.setattr(module, "QUESTION_S", 1.2)
    provider.misbehave(Fault(slow_s=30))

    message = failed(question(), tmp_path, house(provider.url)).message

    assert float(message.removeprefix("127.0.0.1 did not answer within ").removesuffix(" s")) <= 0.8


def test_with_the_network_gone_a_question_fails_at_once(tmp_path: Path) -> None:
    """No time-out is waited for: that would say so."""
    fault = failed(question(), tmp_path, house(f"http://127.0.0.1:{free_port()}"))
    assert "cannot be reached" in fault.message


def test_who_closes_waits_for_nobody(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause before another try ends, and the try is not made."""
    monkeypatch.setattr(module, "_PAUSE_S", 5.0)
    provider.misbehave(*[Fault(500, b"{}")] * 3)

    async def job(embedder: RemoteEmbedder) -> None:
        trying = asyncio.create_task(embedder.embed(["p"], query=False))
        while not provider.asked:
            await asyncio.sleep(0.005)
        await embedder.close()
        with pytest.raises(EmbedFailed, match="no embedder any more"):
            await asyncio.wait_for(trying, 2)

    with_bench(job, tmp_path, house(provider.url))
    assert len(provider.asked) == 1


def test_after_the_end_nothing_is_sent(provider: Provider, tmp_path: Path) -> None:
    """A backfill that is in the middle of its texts is told so: the configuration names another one, or none."""

    async def job(embedder: RemoteEmbedder) -> None:
        await embedder.close()
        for query in (True, False):
            with pytest.raises(EmbedFailed, match="no embedder any more"):
                await embedder.embed(["p"], query=query)

    with_bench(job, tmp_path, house(provider.url))
    assert provider.asked == []


def test_a_full_disk_loses_no_vector_that_was_paid(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was reserved stands; without room for that nothing is asked."""
    paid = house(provider.url, price_in=1.0)

    def full(*_: object) -> None:
        raise LedgerFailed("no room", "make some")

    monkeypatch.setattr(Ledger, "settle", full)
    assert with_bench(passages("one"), tmp_path, paid, cap_usd=9.0) == [quantized(numbers("one"))]
    assert Ledger(str(tmp_path)).spent_usd > 0
    monkeypatch.setattr(Ledger, "reserve", full)
    fault = failed(passages("two"), tmp_path, paid, cap_usd=9.0)
    assert (fault.message, fault.final, len(provider.asked)) == ("no room", True, 1)


def test_what_costs_is_not_asked_without_a_cap(provider: Provider, tmp_path: Path) -> None:
    """Nor where the price is not known; nothing is sent."""
    fault = failed(passages("one"), tmp_path, house(provider.url, price_in=0.1))
    assert fault.final and fault.message == "house costs money, and embed.spend_cap_usd is $0 (nothing is spent so far)"
    far = house("https://provider.invalid")
    fault = failed(passages("one"), tmp_path, far, cap_usd=5.0)
    assert fault.final and "what m costs at provider.invalid is not known" in fault.message
    assert "price_in" in fault.hint
    assert provider.asked == []


def test_what_was_spent_is_counted_by_the_reply_and_kept(provider: Provider, tmp_path: Path) -> None:
    """A restart does not forget it, and at the cap it stops."""
    paid = house(provider.url, price_in=1_000_000.0)  # a dollar for each token; a text of one word is one

    with_bench(passages("one", "two three"), tmp_path, paid, cap_usd=100.0)
    assert Ledger(str(tmp_path)).spent_usd == pytest.approx(3.0)
    assert Ledger(str(tmp_path)).spent_by("house") == pytest.approx(3.0)
    fault = failed(passages("four"), tmp_path, paid, cap_usd=4.0)
    assert "embed.spend_cap_usd is $4 ($3.00 of it are spent)" in fault.message
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("fault", "charged"), [(Fault(401, b"{}"), False), (Fault(503, b"{}"), False), (Fault(cut=2), True)]
)
def test_what_failed_counts_where_it_may_be_charged(
    provider: Provider, tmp_path: Path, fault: Fault, charged: bool
) -> None:
    """A refusal or a fault of theirs costs nothing; an answer that was cut may have."""
    provider.misbehave(*[fault] * 3)

    failed(passages("one"), tmp_path, house(provider.url, price_in=1.0), cap_usd=100.0)

    assert (Ledger(str(tmp_path)).spent_usd > 0) == charged


def test_a_cost_is_noted_before_it_is_incurred(provider: Provider, tmp_path: Path) -> None:
    """A daemon that is killed while it waits has counted it."""
    provider.open.clear()

    async def job(embedder: RemoteEmbedder) -> float:
        asking = asyncio.create_task(embedder.embed(["word " * 300], query=False))
        while not provider.asked:
            await asyncio.sleep(0.005)
        spent = Ledger(str(tmp_path)).spent_usd
        provider.open.set()
        await asking
        return spent

    spent = with_bench(job, tmp_path, house(provider.url, price_in=1000.0), cap_usd=100.0)
    assert spent > Ledger(str(tmp_path)).spent_usd > 0


def test_an_estimate_stops_it_before_it_begins(provider: Provider, tmp_path: Path) -> None:
    """Half of the vectors are of no use."""

    async def job(embedder: RemoteEmbedder) -> None:
        embedder.afford(2_900_000)
        with pytest.raises(EmbedFailed, match="the vectors that lack would cost about") as caught:
            embedder.afford(3_100_000)
        assert caught.value.final

    with_bench(job, tmp_path, house(provider.url, price_in=1.0), cap_usd=1.0)


def test_a_damaged_record_stops_what_costs_and_nothing_else(provider: Provider, tmp_path: Path) -> None:
    """It is not known what was spent: that is said, and the file stays."""
    record = tmp_path / "providers.json"
    record.write_bytes(b'{"spent_usd": {"house"')
    fault = failed(passages("one"), tmp_path, house(provider.url, price_in=1.0), cap_usd=9.0, learnt=0)
    assert fault.final and str(record) in fault.message and f"rm {record}" in fault.hint
    with_bench(passages("one"), tmp_path, house(provider.url), learnt=0)
    assert record.read_bytes() == b'{"spent_usd": {"house"'


def test_nothing_in_the_record_but_figures(provider: Provider, tmp_path: Path) -> None:
    """And only we can read it."""
    with_bench(passages("a secret text"), tmp_path, house(provider.url, price_in=1.0), cap_usd=9.0)
    record = tmp_path / "providers.json"
    assert set(json.loads(record.read_text())) == {"spent_usd", "dimensions"}
    assert record.stat().st_mode & 0o777 == 0o600
    assert "secret" not in record.read_text()

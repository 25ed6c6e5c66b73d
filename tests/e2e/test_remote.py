"""Vectors from a provider, whole: a daemon, its configuration, a server on 127.0.0.1 that speaks the wire format."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from ctxprotocol import endpoint
from tests import processes
from tests.home import Home
from tests.processes import wait_until
from tests.remote import Fault, Provider, embeddings, free_port
from tests.tree import Tree

KEY = "sk-veryverysecretkey"
SAME = {"salary": "wage", "income": "wage"}
ASKED = "compute the salary"


def numbers(text: str) -> list[float]:
    """Return a direction: the sum of its words', and some words mean the same."""
    total = [0.0] * 32
    for word in text.lower().replace(".", " ").split():
        chance = random.Random(hashlib.sha256(SAME.get(word, word).encode()).digest())
        total = [value + chance.gauss(0.0, 1.0) for value in total]
    return total


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(embeddings(numbers)) as found:
        yield found


def configure(ctx: Home, provider: Provider, *lines: str, **more: Any) -> None:
    """Write the user's file: the provider, and whatever else it says."""
    fields = {"name": "house", "kind": "openai", "model": "m", "endpoint": f"{provider.url}/v1", **more}
    table = ", ".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())
    os.makedirs(ctx.path, mode=0o700, exist_ok=True)
    Path(ctx.path, "config.toml").write_text("\n".join([f"embed.providers = [{{ {table} }}]", *lines]) + "\n")


def vectors(ctx: Home, repo: Tree) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ctx.run("status", "--json", cwd=repo.root).stdout)["vectors"]
    return found


def until_ready(ctx: Home, repo: Tree) -> None:
    wait_until(lambda: vectors(ctx, repo)["state"] == "ready", 30, "vectors")


def texts(provider: Provider) -> list[str]:
    return [text for body in provider.bodies() for text in body["input"]]


def names(ctx: Home, repo: Tree, *args: str) -> tuple[list[str], list[str]]:
    """Return the names that answer ASKED, and the warnings."""
    found = ctx.json("find", ASKED, *args, cwd=repo.root)
    return [each["name"] for each in found["results"]], found["warnings"]


@pytest.fixture
def paid_by(repo: Tree) -> Tree:
    """A repository in which only vectors find who pays."""
    repo.write("pay.py", "def wage():\n    pass\n")
    repo.write("tree.py", "def descend():\n    pass\n")
    return repo


def test_search_by_meaning_over_a_provider(ctx: Home, paid_by: Tree, provider: Provider) -> None:
    """Nothing is sent before one is named; then chunks and questions are, with the key, and the answer is there."""
    ctx.run("find", ASKED, cwd=paid_by.root)
    assert provider.asked == []
    assert ctx.run("auth", "set", "openai", input=KEY, cwd="/").returncode == 0
    configure(ctx, provider, name="openai")

    until_ready(ctx, paid_by)
    assert names(ctx, paid_by, "--semantic") == (["wage"], [])
    assert provider.bodies()[-1]["input"] == [ASKED]
    assert {asked.headers["authorization"] for asked in provider.asked} == {f"Bearer {KEY}"}
    line = next(line for line in ctx.run("status", cwd=paid_by.root).stdout.splitlines() if "vectors:" in line)
    assert line == "vectors: ready (2 chunks, m@32, remote: texts go to 127.0.0.1)"
    sent = len(provider.asked)
    ctx.run("find", "wage", cwd=paid_by.root)  # a name is looked up, and is nobody's business
    ctx.run("symbols", "wage", cwd=paid_by.root)
    assert names(ctx, paid_by, "--no-semantic")[1] == []
    assert ctx.run("config", "set", "embed.enabled", "false", cwd="/").returncode == 0
    paid_by.write("more.py", "def income():\n    pass\n")
    names(ctx, paid_by, "--semantic")
    assert len(provider.asked) == sent


def test_a_daemon_that_is_killed_loses_nothing_and_asks_for_nothing_twice(
    ctx: Home, repo: Tree, provider: Provider
) -> None:
    """What was answered is kept before more is asked; only what was in the air is asked again."""
    for number in range(30):
        repo.write(f"m{number}.py", "".join(f"def f{number}_{n}():\n    return {n}\n\n\n" for n in range(5)))
    configure(ctx, provider)

    def hold(asked: Any) -> Any:
        if len(provider.asked) == 5:
            provider.open.clear()
        return embeddings(numbers)(asked)

    provider.reply = hold
    ctx.run("find", "f1_1", cwd=repo.root)
    wait_until(lambda: len(provider.asked) == 6, 30, "a request that is held")
    ctx.kill()
    answered, held = texts(provider)[:-16], texts(provider)[-16:]
    provider.reply = embeddings(numbers)
    provider.open.set()

    until_ready(ctx, repo)
    again = [text for body in provider.bodies()[6:] for text in body["input"]]
    assert len(answered) > 60
    assert not set(answered) & set(again), "asked twice"
    assert set(held) <= set(again)
    assert len(again) == len(set(again))
    found = vectors(ctx, repo)
    assert found["done"] == found["chunks"] >= 150


def test_a_key_is_in_no_place_but_its_own(ctx: Home, paid_by: Tree, provider: Provider) -> None:
    """Not in a log at its most talkative, in no other file, no argument, no answer; also while all goes wrong."""
    provider.misbehave(Fault(401, f'{{"error": {{"code": "x", "message": "{KEY}"}}}}'.encode()), Fault(cut=5))
    assert ctx.run("auth", "set", "openai", input=KEY, cwd="/").returncode == 0
    configure(ctx, provider, 'daemon.log_level = "debug"', name="openai")
    shown = [ctx.run("find", ASKED, "--semantic", cwd=paid_by.root)]
    wait_until(lambda: bool(vectors(ctx, paid_by)["reason"]), 20, "trouble")
    commands = ("status", "--json"), ("doctor", "--json"), ("config", "list"), ("auth", "list"), ("daemon", "status")
    shown += [ctx.run(*command, cwd=paid_by.root) for command in commands]
    lines = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
    environments = [process.environ() for process in processes.belonging_to(ctx.path)]
    ctx.run("daemon", "stop", cwd="/")

    assert not [done for done in shown if KEY in done.stdout + done.stderr]
    assert not [line for line in lines if KEY in line]
    assert not [each for each in environments if KEY in str(each)]
    holding = [path for path in Path(ctx.place).rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holding == [Path(ctx.path, "keys.json")]
    assert provider.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert "127.0.0.1 answers 401" in Path(endpoint.log_path(ctx.path)).read_text()


def test_masked_secrets_are_not_sent(ctx: Home, repo: Tree, provider: Provider) -> None:
    """Vectors are made from the stored text, which has a mask in a token's place; secret files are in none."""
    token = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
    repo.write("a.py", f'def client():\n    return login("{token}")\n')
    repo.write(".env", "PASSWORD=canaryword\n")
    configure(ctx, provider)
    ctx.run("find", "client", cwd=repo.root)
    until_ready(ctx, repo)

    sent = json.dumps(provider.bodies()).lower()
    assert "client" in sent and "login" in sent
    assert "ab3d" not in sent and "ef6h" not in sent and "canaryword" not in sent


def test_a_repository_cannot_name_a_provider(ctx: Home, paid_by: Tree, provider: Provider) -> None:
    """Whatever lies in it: the keys count in the user's own file alone."""
    text = f'embed.providers = [{{ name = "house", kind = "openai", model = "m", endpoint = "{provider.url}/v1" }}]\n'
    for name in (".ctx/config.toml", "config.toml", ".ctx.toml", ".git/ctx/config.toml"):
        paid_by.write(name, text)

    ctx.run("find", ASKED, "--semantic", cwd=paid_by.root)
    ctx.run("update", cwd=paid_by.root)

    assert vectors(ctx, paid_by)["hosts"] == []
    assert provider.asked == []


def test_a_provider_that_fails_costs_a_question_little_and_once(ctx: Home, paid_by: Tree, provider: Provider) -> None:
    """Words answer with one warning; the next question does not wait; it comes back by itself."""
    configure(ctx, provider)
    ctx.run("find", ASKED, cwd=paid_by.root)
    until_ready(ctx, paid_by)
    provider.misbehave(Fault(slow_s=30))

    _, first = names(ctx, paid_by, "--semantic")
    asked = len(provider.asked)
    _, second = names(ctx, paid_by, "--semantic")

    assert first == ["vectors: 127.0.0.1 did not answer within 2 s; this was found by words alone"]
    assert len(second) == 1 and "not asked again for" in second[0]
    assert len(provider.asked) == asked
    assert "did not answer" in ctx.run("status", cwd=paid_by.root).stdout
    paid_by.write("more.py", "def income():\n    pass\n")
    wait_until(lambda: names(ctx, paid_by, "--semantic")[1] == [], 30, "vectors again")


def test_without_a_network_nothing_waits(ctx: Home, paid_by: Tree) -> None:
    """A provider far away, and no way there: what is local works as ever, and the daemon ends at once."""
    alone = ["unshare", "-rn", str(ctx.bin / "ctx")]
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespaces here")

    def run(*args: str) -> tuple[float, subprocess.CompletedProcess[str]]:
        began = time.monotonic()
        done = subprocess.run(
            [*alone, *args], cwd=paid_by.root, env=ctx.env, capture_output=True, text=True, timeout=60, check=False
        )
        return time.monotonic() - began, done

    ctx.run("config", "set", "embed.providers", "voyage", cwd="/")
    ctx.run("config", "set", "embed.spend_cap_usd", "1", cwd="/")
    ctx.run("auth", "set", "voyage", input=KEY, cwd="/")
    assert run("daemon", "start")[1].returncode == 0
    run("find", "wage")
    wait_until(lambda: Path(ctx.path, "providers.json").exists(), 30, "vectors tried")
    taken = [run("find", "wage", "--semantic") for _ in range(5)]
    ended, done = run("daemon", "stop")

    assert all("wage" in each.stdout for _, each in taken), [each.stderr for _, each in taken]
    assert sorted(seconds for seconds, _ in taken)[1] < 2 and ended < 10
    assert done.returncode == 0
    assert json.loads(Path(ctx.path, "providers.json").read_text())["spent_usd"]["voyage"] < 1e-5


def test_what_costs_waits_for_a_cap_and_stops_at_it(ctx: Home, paid_by: Tree, provider: Provider) -> None:
    """Status says why, a higher cap lets it go on by itself, and what was spent survives a kill."""
    configure(ctx, provider, price_in=10_000.0)
    ctx.run("find", ASKED, cwd=paid_by.root)
    wait_until(lambda: "costs money" in vectors(ctx, paid_by)["reason"], 20, "a refusal")
    assert (provider.asked, vectors(ctx, paid_by)["spent_usd"]) == ([], 0.0)
    ctx.run("config", "set", "embed.spend_cap_usd", "5", cwd="/")
    until_ready(ctx, paid_by)
    spent = vectors(ctx, paid_by)["spent_usd"]
    ctx.kill()

    assert vectors(ctx, paid_by)["spent_usd"] == spent > 0
    line = next(line for line in ctx.run("status", cwd=paid_by.root).stdout.splitlines() if "vectors:" in line)
    assert line.endswith(f"remote: texts go to 127.0.0.1, ${spent:.2f} of $5 spent)")
    ctx.run("config", "set", "embed.spend_cap_usd", str(spent), cwd="/")
    _, warnings = names(ctx, paid_by, "--semantic")
    assert len(warnings) == 1 and "embed.spend_cap_usd is" in warnings[0]


def test_another_model_is_another_name_and_a_rebuild(ctx: Home, paid_by: Tree, provider: Provider) -> None:
    """Its vectors are made anew in the background, and a question is embedded by the model that they came from."""
    configure(ctx, provider)
    ctx.run("find", ASKED, cwd=paid_by.root)
    until_ready(ctx, paid_by)
    configure(ctx, provider, model="n")
    wait_until(lambda: vectors(ctx, paid_by)["model"] == "n@32", 20, "the other model")
    until_ready(ctx, paid_by)

    names(ctx, paid_by, "--semantic")

    assert {body["model"] for body in provider.bodies()[-3:]} == {"n"}
    assert provider.bodies()[-1]["input"] == [ASKED]


def test_nobody_there_says_so_and_keeps_trying(ctx: Home, paid_by: Tree) -> None:
    """A server that is started later is found without anybody's doing."""
    port = free_port()
    ctx.run(
        "config", "set", "embed.providers", f'[{{ name = "ollama", endpoint = "http://127.0.0.1:{port}/v1" }}]', cwd="/"
    )
    ctx.run("find", ASKED, cwd=paid_by.root)

    wait_until(lambda: "cannot be reached" in vectors(ctx, paid_by)["reason"], 20, "trouble")
    assert os.path.exists(ctx.path)
    with Provider(embeddings(numbers), port=port) as late:
        until_ready(ctx, paid_by)
        assert late.asked

"""`--llm` through the daemon, against local servers that speak the providers' wire formats."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import processes
from tests.home import Home
from tests.remote import Chat, Fault, Provider, chats, free_port
from tests.tree import Tree

KEY = "AIkeyOfThisTest0123456789"
MASKED = "AKIA" + "QWERTYUIOPASDFGH"
QUESTION = "why are users logged out"
PLAN = {
    "queries": [{"text": "forget tokens whose time is over", "strategy": "words", "weight": 0.9}],
    "symbols": ["prune*"],
    "paths": ["src/**"],
    "results": 5,
}


def say(chat: Chat) -> str:
    """Plan; keep what is about expiry, with a line that names the file."""
    if "places" not in chat.data:
        return json.dumps(PLAN)
    rows = [
        {"place": one["place"], "keep": "expiry" in one["file"], "why": f"Ends sessions, in {one['file']}."}
        for one in chat.data["places"]
    ]
    return json.dumps({"places": rows})


@pytest.fixture
def server() -> Iterator[Provider]:
    with Provider(chats(say)) as found:
        yield found


@pytest.fixture
def code(repo: Tree) -> Tree:
    repo.write("src/expiry.py", 'def prune(store):\n    """Forget tokens whose time is over."""\n    store.drop()\n')
    repo.write("src/menu.py", f'def menu(user):\n    """Users who are logged in or out."""\n    return "{MASKED}"\n')
    repo.write(".env", "PASSWORD=never-sent-to-anybody\n")
    return repo


def configure(ctx: Home, *tables: dict[str, Any], timeout_s: float = 8) -> None:
    """Write the user's file: providers in this order."""
    os.makedirs(ctx.path, mode=0o700, exist_ok=True)
    lines = [f"llm.timeout_s = {timeout_s}"]
    for table in tables:
        lines += ["[[llm.providers]]", *(f"{name} = {json.dumps(value)}" for name, value in table.items())]
    Path(ctx.path, "config.toml").write_text("\n".join(lines) + "\n")


def gemini(url: str) -> dict[str, Any]:
    return {
        "name": "gemini",
        "model": "gemini-2.5-flash",
        "endpoint": f"{url}/v1beta",
        "price_in": 0.3,
        "price_out": 2.5,
    }


def ollama(url: str) -> dict[str, Any]:
    return {"name": "ollama", "endpoint": url}


def test_a_steered_answer(ctx: Home, code: Tree, server: Provider) -> None:
    """What belongs to the answer, with the model's line beside its code, and a footer that says who and how much."""
    configure(ctx, gemini(server.url))

    shown = ctx.transcript("query", "--llm", QUESTION, cwd=code.root)

    shown = re.sub(r"\d+ tokens", "N tokens", re.sub(r"\$0\.\d+, \d\.\d s", "$C, T s", shown))
    assert shown == (
        f"$ ctx query --llm {QUESTION}\n"
        "src/expiry.py  L1-L3  function prune\n"
        "llm: Ends sessions, in src/expiry.py.\n"
        " def prune(store):\n"
        '     """Forget tokens whose time is over."""\n'
        "     store.drop()\n"
        "\n"
        "1 result · N ms search · fresh · N tokens · steered by gemini-2.5-flash, $C, T s, 1 dropped\n"
        "exit 0\n"
    )
    assert len(server.asked) == 2


def test_json_has_the_figures(ctx: Home, code: Tree, server: Provider) -> None:
    """Whose words the summary is, what was paid, how long it took, nothing to warn of."""
    configure(ctx, gemini(server.url))
    ctx.run("update", cwd=code.root)

    answer = ctx.json("find", "--llm", QUESTION, cwd=code.root)

    (row,) = answer["results"]
    assert (row["summary"], row["summary_by"]) == ("Ends sessions, in src/expiry.py.", "gemini-2.5-flash")
    stats = answer["stats"]
    assert (stats["steered_by"], stats["dropped"], answer["warnings"]) == ("gemini-2.5-flash", 1, [])
    assert 0 < stats["cost_usd"] < 0.01 and 0 < stats["steering_ms"] <= stats["total_ms"]
    assert stats["search_ms"] + stats["steering_ms"] <= stats["total_ms"]


def test_nothing_is_sent_unless_it_is_asked_for(ctx: Home, code: Tree, server: Provider) -> None:
    """A configured provider hears nothing of other questions, and their answers are the same, byte for byte."""
    before = [untimed(ctx.run(*words, QUESTION, cwd=code.root).stdout) for words in PLAIN]
    configure(ctx, gemini(server.url))

    after = [untimed(ctx.run(*words, QUESTION, cwd=code.root).stdout) for words in PLAIN]

    assert before == after and server.asked == [] and server.connections == 0


PLAIN = (("query",), ("query", "--json"), ("find", "--explain"), ("find", "--json", "--no-llm"))


def untimed(text: str) -> str:
    """Return an answer without its times, and its size, which counts their digits."""
    return re.sub(r"\d+ tokens|(<1|[\d,]+) ms|\"(tokens|\w+_ms)\":[\d.]+", "N", text)


def test_only_a_little_is_sent_and_no_secret(ctx: Home, code: Tree, server: Provider) -> None:
    """First the question and two facts; then some stored lines of what was found, masked as they are stored."""
    configure(ctx, ollama(server.url))
    assert ctx.run("query", "--llm", QUESTION, cwd=code.root).returncode == 0

    plan, judgement = ([*body["messages"]] for body in server.bodies())

    assert json.loads(plan[1]["content"]) == {"question": QUESTION, "languages": ["python"], "directories": ["src"]}
    places = json.loads(judgement[1]["content"])["places"]
    assert {place["file"] for place in places} == {"src/expiry.py", "src/menu.py"}
    sent = json.dumps(server.bodies())
    assert "logged in or out" in sent and "*" * len(MASKED) in sent
    assert MASKED not in sent and "never-sent" not in sent and str(code.root) not in sent


def test_without_a_provider_it_says_what_helps(ctx: Home, code: Tree) -> None:
    """A usage error before anything is indexed."""
    failed = ctx.run("query", "--llm", QUESTION, cwd=code.root)

    assert (failed.returncode, failed.stdout) == (2, "")
    assert "none is configured" in failed.stderr and "ctx config set llm.providers ollama" in failed.stderr


FAULTS = {
    "refused key": Fault(status=403, body=b"{}"),
    "overloaded": Fault(status=503, body=b"{}"),
    "blocked": Fault(body=json.dumps({"promptFeedback": {"blockReason": "SAFETY"}}).encode()),
    "filtered": Fault(body=json.dumps({"candidates": [{"finishReason": "SAFETY"}]}).encode()),
    "not json": Fault(body=b"<html>"),
    "cut": Fault(cut=10),
    "slow": Fault(slow_s=60),
}


def test_a_failure_leaves_the_answer_with_one_warning(ctx: Home, code: Tree, server: Provider) -> None:
    """Within the deadline, and the answer is the one without --llm."""
    plain = ctx.run("find", QUESTION, cwd=code.root)
    for name, fault in FAULTS.items():
        configure(ctx, {**gemini(server.url), "model": name.replace(" ", "-")}, timeout_s=1)  # one that does not rest
        server.misbehave(fault)
        began = time.monotonic()
        answer = ctx.run("find", "--llm", QUESTION, cwd=code.root)

        assert time.monotonic() - began < 20, name
        assert untimed(answer.stdout) == untimed(plain.stdout) and answer.returncode == 0, name
        (warning,) = answer.stderr.splitlines()
        assert warning.startswith("note: steering: gemini: ") and warning.endswith("; this is the answer without it")
        assert "not asked again" not in warning, name
    assert len(server.asked) == len(FAULTS)


def test_the_second_provider_answers_when_the_first_is_down(ctx: Home, code: Tree, server: Provider) -> None:
    """It is said who failed and who steered; the next question does not try the first again."""
    configure(ctx, gemini(f"http://127.0.0.1:{free_port()}"), ollama(server.url))

    answer = ctx.run("find", "--llm", QUESTION, cwd=code.root)
    again = ctx.run("find", "--llm", QUESTION, cwd=code.root)

    assert "llm: Ends sessions, in src/expiry.py." in answer.stdout and "steered by llama3.2, $0, " in answer.stdout
    assert len(answer.stderr.splitlines()) == 1 and "cannot be reached" in answer.stderr
    assert "not asked again for" in again.stderr and "steered by llama3.2 instead" in again.stderr


def test_a_short_timeout_still_has_an_answer(ctx: Home, code: Tree, server: Provider) -> None:
    """The model gets half of --timeout: the rest is for the answer without it."""
    configure(ctx, gemini(server.url))
    ctx.run("update", cwd=code.root)
    server.misbehave(Fault(slow_s=60))

    answer = ctx.run("find", "--llm", "--timeout", "3", QUESTION, cwd=code.root)

    assert answer.returncode == 0 and "src/menu.py" in answer.stdout
    said = re.search(r"did not answer within (\S+) s", answer.stderr)
    assert said is not None and 1.0 <= float(said[1]) <= 1.5


def test_a_file_that_changes_meanwhile_is_answered_as_it_is_now(ctx: Home, code: Tree) -> None:
    """The model judged what is not there any more; its line goes with it."""

    def edit(chat: Chat) -> str:
        if "places" in chat.data:
            code.write("src/expiry.py", 'def prune(store):\n    """Forget tokens, all."""\n    store.clear()\n')
        return say(chat)

    with Provider(chats(edit)) as slow:
        configure(ctx, ollama(slow.url))
        answer = ctx.run("query", "--llm", QUESTION, cwd=code.root)

    assert "store.clear()" in answer.stdout and "store.drop()" not in answer.stdout
    assert "llm: " not in answer.stdout and " fresh " in answer.stdout


def test_a_session_knows_what_it_was_sent(ctx: Home, code: Tree, server: Provider) -> None:
    """Steered or not: the second answer has a line in place of code."""
    configure(ctx, ollama(server.url))
    ask = ("query", "--session", "agent 7", QUESTION)

    assert "store.drop()" in ctx.run(*ask, "--llm", cwd=code.root).stdout
    again = ctx.run(*ask, "--llm", cwd=code.root).stdout

    assert again.startswith("prune — src/expiry.py:1-3 (sent before)\nllm: Ends sessions, in src/expiry.py.\n")


def test_a_key_is_in_its_own_file_and_nowhere_else(ctx: Home, code: Tree, server: Provider) -> None:
    """Not in the log, the index, the cache, a command line, an answer or an error, also when it is refused."""
    configure(ctx, gemini(server.url))
    assert ctx.run("auth", "set", "gemini", input=f"{KEY}\n", cwd=code.root).returncode == 0
    server.misbehave(Fault(status=401, body=json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()))

    said = [ctx.run("query", "--llm", QUESTION, cwd=code.root) for _ in range(2)]
    said += [ctx.run(*words, cwd=code.root) for words in (("status",), ("config", "list"), ("daemon", "status"))]

    assert server.asked[0].headers["x-goog-api-key"] == KEY
    assert not any(KEY in done.stdout + done.stderr for done in said)
    lines = [
        " ".join(each.cmdline()) for each in processes.belonging_to(ctx.path) if each.status() != psutil.STATUS_ZOMBIE
    ]
    assert lines and not any(KEY in line for line in lines)
    holders = [path for path in Path(ctx.path).rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert [path.name for path in holders] == ["keys.json"] and holders[0].stat().st_mode & 0o777 == 0o600
    log = next(Path(ctx.path).rglob("*.log")).read_text()
    assert QUESTION not in log and "v1beta" not in log

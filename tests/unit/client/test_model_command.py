"""`ctx model` as a person meets it: what it says before, during and after, and every refusal."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hub import NEXT_SHA, SHA, Fault, Hub, Repo, Store
from tests.processes import wait_until
from tests.unit.client.conftest import CTX, run_ctx
from tests.unit.hub.conftest import BIG, FILES, GRAPH, TOKEN

Run = Callable[..., subprocess.CompletedProcess[str]]
SHORT, NEXT = SHA[:12], NEXT_SHA[:12]


@pytest.fixture
def store() -> Iterator[Store]:
    with Store() as found:
        yield found


@pytest.fixture
def hub(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub that HF_ENDPOINT names; it has house/mini."""
    with Hub(store) as found:
        found.add("house/mini", Repo(dict(FILES), large=BIG))
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        yield found


def told(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


def test_a_model_is_fetched_listed_used_and_removed(hub: Hub, state: str, run: Run) -> None:
    """Each step says what it does, and what comes next; the one in use stays."""
    where = f"{state}/models/house--mini@{SHORT}"
    listed = f"house/mini@{SHORT}  512.0 kB  apache-2.0  fetched"
    done = [
        run("model", "list"),
        run("model", "get", "house/mini"),
        run("model", "get", "house/mini"),
        run("model", "list"),
        run("config", "set", "embed.model", "house/mini"),
        run("model", "list"),
        run("model", "remove", "house/mini"),
        run("config", "unset", "embed.model"),
        run("model", "remove", "house/mini"),
        run("model", "remove", "house/mini"),
    ]

    use = "to use it: ctx config set embed.model house/mini\n"
    assert [told(each) for each in done] == [
        (0, "no model is here\n", ""),
        (
            0,
            f"house/mini is {SHORT} (apache-2.0) at 127.0.0.1: 512.0 kB to download\n"
            "  config.json            0.0 kB\n"
            "  tokenizer.json         0.0 kB\n"
            "  1_Pooling/config.json  0.0 kB\n"
            "  onnx/model.onnx        512.0 kB\n"
            f"house/mini@{SHORT} is fetched into {where}\n{use}",
            "",
        ),
        (0, f"house/mini@{SHORT} is here: {where}\n{use}", ""),
        (0, f"{listed}\n", ""),
        (0, f"embed.model is house/mini, in {state}/config.toml\n", ""),
        (0, f"{listed}; embed.model names it\n", ""),
        (
            2,
            "",
            "ctx: embed.model names house/mini, so it is not removed\n"
            "  first: ctx config unset embed.model, or set it to another (ctx model list)\n",
        ),
        (0, "embed.model is , the default\n", ""),
        (0, f"house/mini@{SHORT} is removed (512.0 kB)\n", ""),
        (1, "", "ctx: house/mini is not fetched\n  ctx model list\n"),
    ]
    assert os.listdir(f"{state}/models") == [".house--mini.lock"]


def test_json_has_what_there_is(hub: Hub, state: str, run: Run) -> None:
    """One object a command, nothing else."""
    got = json.loads(run("model", "get", "--json", "house/mini").stdout)
    listed = json.loads(run("model", "list", "--json").stdout)
    removed = json.loads(run("model", "remove", "--json", "house/mini").stdout)
    again = run("model", "remove", "--json", "house/mini")

    assert (got["name"], got["revision"], got["downloaded"], len(got["files"])) == (f"house/mini@{SHORT}", SHA, True, 4)
    assert listed["results"] == [
        {
            "name": f"house/mini@{SHORT}",
            "origin": "hub",
            "revision": SHA,
            "licence": "apache-2.0",
            "size_bytes": got["size_bytes"],
            "path": got["path"],
            "in_use": False,
        }
    ]
    assert (removed["removed"], json.loads(again.stdout)["removed"], again.returncode) == (
        listed["results"][0]["name"].split(),
        [],
        1,
    )


def test_of_two_revisions_the_used_one_stays(hub: Hub, state: str, run: Run) -> None:
    """It says which others may go; a directory of ours that is named by its path is in use as well."""
    run("model", "get", "house/mini")
    hub.add("house/mini", Repo(dict(FILES), sha=NEXT_SHA, large=BIG))
    run("model", "get", "house/mini")
    run("config", "set", "embed.model", f"house/mini@{SHA}")

    refused = run("model", "remove", "house/mini")
    assert refused.returncode == 2 and refused.stderr.endswith(f"  ctx model remove house/mini@{NEXT}\n")
    run("config", "set", "embed.model", f"{state}/models/house--mini@{SHORT}")
    assert run("model", "remove", f"house/mini@{SHORT}").returncode == 2
    assert run("model", "remove", f"house/mini@{NEXT}").stdout == f"house/mini@{NEXT} is removed (512.0 kB)\n"
    assert f"house/mini@{SHORT}  512.0 kB  apache-2.0  fetched; embed.model names it\n" == run("model", "list").stdout


def test_what_is_named_and_not_there_is_said_everywhere(hub: Hub, state: str, run: Run) -> None:
    """When it is set, in the list and by doctor, with the remedy; nothing is fetched for it."""
    done = run("config", "set", "embed.model", "house/mini")
    listed, doctor = run("model", "list"), json.loads(run("doctor", "--json").stdout)

    note = "note: embed.model names house/mini, which is not fetched: ctx model get house/mini\n"
    assert (done.stderr, listed.stderr) == (note, note)
    checks = [(each["state"], each["remedy"]) for each in doctor["results"] if each["name"] == "model"]
    assert checks == [("bad", "ctx model get house/mini")]
    assert hub.asked == []
    run("model", "get", "house/mini")
    assert run("model", "list").stderr == ""
    assert "model" not in {each["name"] for each in json.loads(run("doctor", "--json").stdout)["results"]}


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["../x"], 2, "no name of a model"),
        (["house--x/mini"], 2, "no name of a model"),
        (["mini"], 2, "OWNER/NAME, or OWNER/NAME@REVISION"),
        (["house/maxi"], 1, "shows no house/maxi to everyone"),
        (["house/mini@v9"], 1, "no revision v9"),
        (["house/plain"], 1, "model.safetensors"),
        (["house/mini", "--max-gb", "0.0001"], 4, "ctx model get house/mini --max-gb 1"),
        (["house/mini", "--endpoint", "http://hub.example"], 2, "would let others read"),
        (["house/mini", "--endpoint", "http://127.0.0.1:1"], 4, "cannot be reached"),
        (["house/mini", "--max-gb", "0"], 2, "--max-gb"),
    ],
)
def test_what_cannot_be_fetched(hub: Hub, state: str, run: Run, args: list[str], code: int, says: str) -> None:
    """With the reason, its exit code and what helps; in JSON the same."""
    hub.add("house/plain", Repo({"model.safetensors": b"", "config.json": b"{}", "tokenizer.json": b"{}"}))

    done = run("model", "get", *args)
    as_json = run("model", "get", "--json", *args)

    assert (done.returncode, done.stdout, says in done.stderr) == (code, "", True), done.stderr
    assert as_json.returncode == code and json.loads(as_json.stdout)["error"]["message"] in done.stderr.replace(
        "\n", ""
    )


def test_a_token_is_shown_nowhere(hub: Hub, state: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when it is refused, not in a record or a log; one that is no token is not sent."""
    hub.add("house/mini", Repo(dict(FILES), large=BIG, gated=True))
    refused = run("model", "get", "house/mini")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    invalid = run("model", "get", "house/mini")
    hub.allowed.add(TOKEN)
    taken = run("model", "get", "house/mini")
    monkeypatch.setenv("HF_TOKEN", f"{TOKEN}\nX-Evil: 1")
    wrong = run("model", "get", "house/mini")

    assert [each.returncode for each in (refused, invalid, taken, wrong)] == [4, 4, 0, 2]
    assert "set HF_TOKEN" in refused.stderr and "HF_TOKEN: it holds a blank" in wrong.stderr
    outputs = "".join(each.stdout + each.stderr for each in (refused, invalid, taken, wrong))
    kept = b"".join(path.read_bytes() for path in Path(state).rglob("*") if path.is_file())
    assert TOKEN not in outputs and TOKEN.encode() not in kept
    assert not [asked for asked in hub.asked if "x-evil" in asked.headers]


def test_a_killed_download_is_gone_on_with(hub: Hub, store: Store, state: str, run: Run) -> None:
    """Nothing half is listed, its lock is free, and what had come is not fetched again."""
    store.misbehave("", Fault(silent_after=200_000))
    doomed = subprocess.Popen([CTX, "model", "get", "house/mini"], stdout=subprocess.DEVNULL)
    draft = Path(state, "models", f".house--mini@{SHORT}.part", "onnx", "model.onnx")
    wait_until(lambda: draft.exists() and draft.stat().st_size > 100_000, 20, "a part of the graph")
    doomed.send_signal(signal.SIGKILL)
    doomed.wait(10)

    assert run("model", "list").stdout == "no model is here\n"
    done = run("model", "get", "house/mini")

    assert done.returncode == 0 and "of it are here from an earlier try" in done.stdout
    assert int(store.asked[-1].headers["range"].removeprefix("bytes=").removesuffix("-")) > 100_000
    assert Path(state, "models", f"house--mini@{SHORT}", "onnx", "model.onnx").read_bytes() == GRAPH
    assert sorted(os.listdir(f"{state}/models")) == [".house--mini.lock", f"house--mini@{SHORT}"]


def test_a_full_disk_is_said(hub: Hub, state: str, run: Run) -> None:
    """As the system says that no more can be written; with room it goes on."""
    full = run_ctx(
        "model", "get", "house/mini", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    )

    assert full.returncode == 4 and "the disk is full" in full.stderr and "Traceback" not in full.stderr
    assert run("model", "list").stdout == "no model is here\n"
    assert run("model", "get", "house/mini").returncode == 0


def test_on_a_terminal_a_bar_shows_how_far_it_is(hub: Hub, state: str, run: Run) -> None:
    """Wiped when it is done."""
    hub.add("house/large", Repo({**FILES, "onnx/model.onnx": GRAPH * 6}, large=BIG))
    ours, theirs = pty.openpty()
    try:
        assert run("model", "get", "house/large", stderr=theirs, capture_output=False, stdout=-1).returncode == 0
        shown = os.read(ours, 1 << 16).decode()
    finally:
        os.close(ours)
        os.close(theirs)

    assert "onnx/model.onnx, MB [" in shown and "] 3/3" in shown and shown.endswith("\r\x1b[K")


def test_several_at_once_fetch_it_once(hub: Hub, store: Store, state: str) -> None:
    """Four processes; each says that it is there, one of them that it fetched it."""
    store.open.clear()
    started = [
        subprocess.Popen([CTX, "model", "get", "house/mini"], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    wait_until(
        lambda: len([path for path in hub.paths() if path.startswith("/api/models/")]) == 4, 30, "all have asked"
    )
    store.open.set()
    said = [each.communicate(timeout=60)[0] for each in started]

    assert [each.returncode for each in started] == [0] * 4
    assert sum("is fetched into" in text for text in said) == 1 and sum("is here:" in text for text in said) == 3
    assert len(store.asked) == 1


def test_names_are_completed(hub: Hub, state: str, run: Run) -> None:
    """Those that are fetched, with their revision."""
    run("model", "get", "house/mini")
    words = {"_CTX_COMPLETE": "bash_complete", "COMP_WORDS": "ctx model remove ho", "COMP_CWORD": "3"}

    assert run(env={**os.environ, **words}).stdout == f"plain,house/mini@{SHORT}\n"

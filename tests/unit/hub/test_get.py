"""Fetching a model, against a real server: what comes, where it goes, and every way in which it does not come."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import threading
from pathlib import Path

import msgspec
import pytest

from ctxclient.hub import fetching
from ctxclient.hub.failure import HubFailed, NotOnHub
from ctxd.embed import rows
from ctxprotocol import models
from tests.hub import NEXT_SHA, SHA, Fault, Hub, Repo, Store
from tests.unit.hub.conftest import BIG, FILES, GRAPH, Heard, files_of, want

WANTED = ("config.json", "tokenizer.json", "1_Pooling/config.json", "onnx/model.onnx")
PART = f".house--mini@{SHA[:12]}.part"
DIGEST = hashlib.sha256(GRAPH).hexdigest()


def left(where: Path) -> set[str]:
    """Return the names in the directory of models, but for the lock."""
    return {name for name in os.listdir(where) if not name.endswith(".lock")}


def test_a_model_comes_whole_and_is_kept_private(hub: Hub, where: Path) -> None:
    """Its files and a record of them, readable by its owner alone; of the rest of the repository nothing."""
    tell = Heard()
    found = want(hub, where, tell=tell)

    folder = where / f"house--mini@{SHA[:12]}"
    inside = files_of(folder)
    record = msgspec.json.decode(inside.pop("ctx.json"), type=models.Record)
    assert inside == {name: FILES[name] for name in WANTED}
    assert found.downloaded and found.one == models.Fetched(str(folder), record)
    assert (record.name, record.sha, record.licence, record.endpoint) == ("house/mini", SHA, "apache-2.0", hub.url)
    assert {part.name: part.sha256 for part in record.files} == {
        name: hashlib.sha256(FILES[name]).hexdigest() for name in WANTED
    }
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert modes == {0o700, 0o600} and left(where) == {folder.name}
    assert tell.done[-1] == ("onnx/model.onnx", found.one.size_bytes, found.one.size_bytes)


@pytest.mark.parametrize("graph", models.GRAPHS)
def test_the_graph_that_comes_is_the_one_that_is_used(
    hub: Hub, where: Path, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon finds it where it was put, with its weights beside it."""
    monkeypatch.setattr(rows, "RUNTIME", ())
    graphs = models.GRAPHS[models.GRAPHS.index(graph) :]
    files = {**FILES, **{name: name.encode() for name in graphs}, f"{graph}_data": b"weights"}
    hub.add("house/mini", Repo(files, large=(*graphs, f"{graph}_data")))

    found = want(hub, where).one

    located = rows.locate("house/mini", str(where))
    assert Path(located.onnx) == Path(found.path, graph)
    assert Path(found.path, f"{graph}_data").read_bytes() == b"weights"
    assert located.model.digests[0].sha256 == hashlib.sha256(Path(located.onnx).read_bytes()).hexdigest()


def test_names_of_files_lead_nowhere(hub: Hub, where: Path) -> None:
    """A hostile repository: nothing is asked for or written by a name that ctx does not know."""
    names = ("../escaped", "../../escaped", "/tmp/ctx-escaped", "onnx/../../../escaped", "ctx.json")
    hub.add("house/mini", Repo({**FILES, **dict.fromkeys(names, b"evil")}, large=BIG))

    want(hub, where)

    assert not list(where.parents[1].rglob("*escaped*")) and not Path("/tmp/ctx-escaped").exists()
    assert not [path for path in hub.paths() if "escaped" in path or path.endswith("ctx.json")]


def test_a_second_time_nothing_is_downloaded(hub: Hub, store: Store, where: Path) -> None:
    """The hub is asked what its revision is; by its whole hash, not even that."""
    first = want(hub, where)
    asked = len(hub.asked)
    again = want(hub, where)
    by_hash = fetching.present(models.Named("house", "mini", SHA), str(where), Heard())

    assert first.downloaded and not again.downloaded and by_hash is not None and not by_hash.downloaded
    assert (len(hub.asked), len(store.asked)) == (asked + 1, 1)
    assert by_hash.one.record.revisions == ("main", SHA)


def test_one_that_was_damaged_is_fetched_anew(hub: Hub, where: Path) -> None:
    """In place of what lies there."""
    found = want(hub, where).one
    Path(found.path, "onnx/model.onnx").write_bytes(GRAPH[:-1] + b"x")
    tell = Heard()

    assert fetching.present(models.Named("house", "mini", SHA), str(where), tell) is None
    again = want(hub, where, tell=tell)

    assert (again.downloaded, tell.damages) == (True, ["onnx/model.onnx"])
    assert Path(found.path, "onnx/model.onnx").read_bytes() == GRAPH and left(where) == {Path(found.path).name}


def test_revisions_lie_beside_each_other(hub: Hub, where: Path) -> None:
    """What `main` was is kept when it moves on; the one that is asked for last is the one that the bare name means."""
    want(hub, where)
    hub.add("house/mini", Repo(dict(FILES), sha=NEXT_SHA, large=BIG))
    want(hub, where)

    def meant(revision: str = "") -> str:
        found = models.find(str(where), models.Named("house", "mini", revision))
        return found.record.sha if found else ""

    assert (meant(), meant("main"), meant(SHA[:8])) == (NEXT_SHA, NEXT_SHA, SHA)
    want(hub, where, f"house/mini@{SHA}")
    assert meant() == SHA


@pytest.mark.parametrize(
    ("end", "body"),
    [("config.json", b'{"hidden_size": 33}'), ("config.json", b"{" * 100), ("tokenizer.json", b"{}")],
)
def test_a_small_file_is_held_to_what_git_calls_it(hub: Hub, where: Path, end: str, body: bytes) -> None:
    """Of another size, or only other bytes: it is not kept, and no model appears."""
    hub.misbehave(f"{SHA}/{end}", Fault(), Fault(body=body))

    with pytest.raises(HubFailed, match=f"{end} is not what|sends more of {end}"):
        want(hub, where)
    assert left(where) == {PART} and models.fetched(str(where)) == []
    assert want(hub, where).downloaded


@pytest.mark.parametrize(
    ("body", "says"),
    [(GRAPH[:-1] + b"x", "its SHA-256 is another"), (GRAPH[:-1], "should have"), (GRAPH + b"x", "sends more of")],
)
def test_a_large_file_is_held_to_its_digest(hub: Hub, store: Store, where: Path, body: bytes, says: str) -> None:
    """Wherever it comes from; the next try begins it anew."""
    store.misbehave(DIGEST, Fault(body=body))

    with pytest.raises(HubFailed, match=says):
        want(hub, where)
    assert models.fetched(str(where)) == []
    assert want(hub, where).downloaded and files_of(where)[f"house--mini@{SHA[:12]}/onnx/model.onnx"] == GRAPH


def test_a_cut_download_is_gone_on_with(hub: Hub, store: Store, where: Path) -> None:
    """It says so, nothing half appears, and what had come is not fetched again."""
    store.misbehave(DIGEST, Fault(cut=200_000))
    with pytest.raises(HubFailed, match="ended the connection in the middle") as caught:
        want(hub, where)
    assert "goes on" in caught.value.hint and left(where) == {PART}
    small = [path for path in hub.paths() if "tokenizer" in path]

    tell = Heard()
    assert want(hub, where, tell=tell).downloaded

    assert store.asked[-1].headers["range"] == "bytes=200000-"
    assert tell.offers[0][1] == 200_000 + sum(len(FILES[name]) for name in WANTED[:3])
    assert [path for path in hub.paths() if "tokenizer" in path] == small
    assert files_of(where)[f"house--mini@{SHA[:12]}/onnx/model.onnx"] == GRAPH


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=200, body=GRAPH),
        Fault(status=416, body=b""),
        Fault(status=206, body=GRAPH[7:], headers={"Content-Range": "bytes 7-9/10"}),
        Fault(status=206, body=GRAPH[7:]),
    ],
)
def test_a_server_that_cannot_go_on_sends_it_anew(hub: Hub, store: Store, where: Path, fault: Fault) -> None:
    """Whatever it answers to the wish for the rest."""
    store.misbehave(DIGEST, Fault(cut=200_000), fault)
    with pytest.raises(HubFailed):
        want(hub, where)

    assert want(hub, where).downloaded
    assert files_of(where)[f"house--mini@{SHA[:12]}/onnx/model.onnx"] == GRAPH


@pytest.mark.parametrize("kept", [b"x" * 1000, GRAPH + b"x", b"x" * len(GRAPH)])
def test_what_was_left_wrong_does_not_stay(hub: Hub, where: Path, kept: bytes) -> None:
    """Bytes that no digest vouches for, other files, links: a draft holds nothing that was not checked."""
    draft = where / PART / "onnx"
    draft.mkdir(parents=True)
    (draft / "model.onnx").write_bytes(kept)
    (draft / "model_quantized.onnx").write_bytes(b"half of another graph")
    (where / PART / "tokenizer.json").symlink_to(where.parent / "elsewhere")
    (where / f".house--mini@{NEXT_SHA[:12]}.part").mkdir()

    assert want(hub, where).downloaded

    folder = f"house--mini@{SHA[:12]}"
    assert set(files_of(where / folder)) == {*WANTED, "ctx.json"} and left(where) == {folder}
    assert files_of(where / folder)["onnx/model.onnx"] == GRAPH
    assert not (where.parent / "elsewhere").exists()


def test_two_at_once_fetch_it_once(hub: Hub, store: Store, where: Path) -> None:
    """The second one waits, says so, and finds it there."""
    store.open.clear()
    found: list[fetching.Outcome] = []
    first = threading.Thread(target=lambda: found.append(want(hub, where)))
    tell = Heard()
    second = threading.Thread(target=lambda: found.append(want(hub, where, tell=tell)))

    first.start()
    while not store.asked:
        first.join(0.01)
    second.start()
    assert tell.waiting.wait(10)
    store.open.set()
    first.join(20)
    second.join(20)

    assert sorted(each.downloaded for each in found) == [False, True]
    assert found[0].one.path == found[1].one.path and len(store.asked) == 1


def test_it_is_not_removed_while_it_comes(hub: Hub, store: Store, where: Path) -> None:
    """Who would remove it is told, and does not wait."""
    store.open.clear()
    first = threading.Thread(target=want, args=(hub, where))
    first.start()
    while not store.asked:
        first.join(0.01)

    with pytest.raises(HubFailed, match="being fetched"), fetching.removing(models.Named("house", "mini"), str(where)):
        pass
    store.open.set()
    first.join(20)
    with fetching.removing(models.Named("house", "mini"), str(where)):
        pass


def test_what_is_too_large_is_not_begun(hub: Hub, store: Store, where: Path) -> None:
    """By what the hub says; the remedy names the option."""
    with pytest.raises(HubFailed, match="are allowed") as caught:
        want(hub, where, most_bytes=500_000)

    assert "ctx model get house/mini --max-gb 1" in caught.value.hint
    assert (len(hub.asked), store.asked, left(where)) == (1, [], set())


def test_what_is_not_said_to_be_large_is_stopped(hub: Hub, where: Path) -> None:
    """Where sizes are not told, the bytes are counted."""
    hub.add("house/mini", Repo(dict(FILES), large=BIG, said={"siblings": [{"rfilename": name} for name in FILES]}))

    with pytest.raises(HubFailed, match=r"sends more of onnx/model\.onnx"):
        want(hub, where, most_bytes=500_000)
    assert sum(len(data) for data in files_of(where).values()) <= 500_000
    assert want(hub, where, most_bytes=600_000).downloaded


def test_without_digests_a_draft_is_begun_anew(hub: Hub, where: Path) -> None:
    """What could not be checked is not gone on with."""
    hub.add("house/mini", Repo(dict(FILES), large=BIG, said={"siblings": [{"rfilename": name} for name in FILES]}))
    (where / PART / "onnx").mkdir(parents=True)
    (where / PART / "onnx/model.onnx").write_bytes(b"x" * 1000)

    want(hub, where)

    assert files_of(where)[f"house--mini@{SHA[:12]}/onnx/model.onnx"] == GRAPH


def test_a_disk_without_room_is_said_before(
    hub: Hub, store: Store, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With how much there is and how much it takes."""
    usage = shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000)  # type: ignore[attr-defined]
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)

    with pytest.raises(HubFailed, match="has room for 0 MB, and 1 MB are to come"):
        want(hub, where)
    assert store.asked == []


@pytest.mark.parametrize(
    "config", [b"{}", b'{"hidden_size": 0}', b'{"hidden_size": "x"}', b"[", b'{"a":' + b"[" * 99_999]
)
def test_a_model_of_no_known_length_is_refused_early(hub: Hub, store: Store, where: Path, config: bytes) -> None:
    """Its graph is not fetched for that."""
    hub.add("house/mini", Repo({**FILES, "config.json": config}, large=BIG))

    with pytest.raises(NotOnHub, match="hidden_size"):
        want(hub, where)
    assert store.asked == []


def test_a_configuration_that_the_daemon_would_read_whole_is_small(hub: Hub, where: Path) -> None:
    """Whatever its size is said to be."""
    hub.add("house/mini", Repo({**FILES, "1_Pooling/config.json": b"{}" + b" " * (1 << 20)}, large=BIG))

    with pytest.raises(HubFailed, match=r"sends more of 1_Pooling/config\.json than 1,048,576 bytes"):
        want(hub, where)


@pytest.mark.parametrize("name", ["", PART])
def test_a_link_in_the_place_of_ours_is_refused(hub: Hub, where: Path, name: str) -> None:
    """Nothing is written or removed where it leads."""
    target = where.parent / "elsewhere"
    target.mkdir()
    (target / "precious").touch()
    place = where / name if name else where
    if not name:
        where.rmdir()
    place.symlink_to(target)

    with pytest.raises((HubFailed, OSError)):
        want(hub, where)
    assert [path.name for path in target.rglob("*")] == ["precious"]

"""What of a hub's description is taken: names that ctx knows, and digests that can be ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxclient.hub import offer
from ctxclient.hub.failure import HubFailed, NotOnHub
from ctxprotocol.models import GRAPHS, Named
from tests.hub import SHA, Repo

MINI = Named("house", "mini")
SMALL = {"config.json": b"{}", "tokenizer.json": b"{}"}


def read(files: dict[str, bytes], large: tuple[str, ...] = (), **said: Any) -> offer.Offer:
    """Return what is offered of a repository with these files."""
    body = json.dumps(Repo(files, large=large, said=said).describe("house/mini", True)).encode()
    return offer.read(body, MINI, "hub.example")


@pytest.mark.parametrize("first", range(len(GRAPHS)))
def test_one_graph_is_taken_by_the_order_of_places(first: int) -> None:
    """With its weights where they are beside it; last of all, and no other graph."""
    graphs = dict.fromkeys(GRAPHS[first:], b"g")
    found = read({**graphs, **SMALL, f"{GRAPHS[first]}_data": b"weights"}, large=tuple(graphs))

    assert found.graph == GRAPHS[first]
    assert [piece.name for piece in found.pieces] == [*SMALL, GRAPHS[first], f"{GRAPHS[first]}_data"]


def test_of_other_files_none_is_taken() -> None:
    """Whatever their names are."""
    names = (
        "../x",
        "/etc/passwd",
        "onnx/../../x",
        "model.onnx/../x",
        "config.json\0",
        "a.py",
        "",
        "onnx/model.onnx_DATA",
    )

    found = read({**SMALL, "model.onnx": b"g", **dict.fromkeys(names, b"evil")})

    assert {piece.name for piece in found.pieces} == {"model.onnx", *SMALL}


def test_sizes_and_digests_are_told() -> None:
    """The SHA-256 of a large file, what git calls a small one; nothing where nothing is said."""
    told = read({**SMALL, "model.onnx": b"graph"}, large=("model.onnx",))
    untold = read({}, siblings=[{"rfilename": name} for name in (*SMALL, "model.onnx")])

    by_name = {piece.name: piece for piece in told.pieces}
    assert (by_name["config.json"].blob, by_name["config.json"].sha256) == (
        "9e26dfeeb6e641a33dae4961196235bdb965b21b",
        "",
    )
    assert (by_name["model.onnx"].blob, len(by_name["model.onnx"].sha256)) == ("", 64)
    assert (told.size_bytes, told.sha) == (9, SHA)
    assert {(piece.size_bytes, piece.checked) for piece in untold.pieces} == {(-1, False)}


@pytest.mark.parametrize(
    ("said", "licence"),
    [
        ({}, "apache-2.0"),
        ({"cardData": {"license": ["mit", "apache-2.0"]}}, "mit, apache-2.0"),
        ({"cardData": {"license": "other", "license_name": "house-1"}}, "house-1"),
        ({"cardData": None, "tags": ["onnx", "license:mit"]}, "mit"),
        ({"cardData": {"license": 3}, "tags": None}, ""),
        ({"cardData": "x", "tags": {}}, ""),
    ],
)
def test_the_licence_is_what_the_card_says(said: dict[str, Any], licence: str) -> None:
    """In any of the forms that it has there."""
    assert read({**SMALL, "model.onnx": b"g"}, **said).licence == licence


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({**SMALL, "model.safetensors": b""}, "no ONNX graph where ctx looks for one"),
        ({**SMALL, "onnx/model_fp16.onnx": b""}, "its files: onnx/model_fp16.onnx, config.json, tokenizer.json"),
        ({"model.onnx": b"", "config.json": b""}, "no tokenizer.json; its files: model.onnx, config.json"),
        ({"model.onnx": b"", "tokenizer.json": b""}, "no config.json"),
        ({f"{number}.bin": b"" for number in range(40)}, "and 28 more"),
        ({}, "its files: none"),
    ],
)
def test_what_lacks_something_is_refused(files: dict[str, bytes], says: str) -> None:
    """It says what was seen, and what it takes."""
    with pytest.raises(NotOnHub, match=says) as caught:
        read(files)
    assert "ONNX export" in caught.value.hint and caught.value.code == 1


@pytest.mark.parametrize(
    "said",
    [
        {"sha": "../../../x"},
        {"sha": "main"},
        {"sha": None},
        {"siblings": "many"},
        {"siblings": [{"rfilename": "model.onnx", "lfs": {"sha256": "../x"}}]},
        {"siblings": [{"rfilename": "model.onnx", "size": -2}]},
        {"siblings": [{"rfilename": "model.onnx", "size": 2, "blobId": "short"}]},
    ],
)
def test_what_is_no_description_is_refused(said: dict[str, Any]) -> None:
    """A revision and a digest become parts of paths and of checks: only what can be one is taken."""
    if isinstance(said.get("siblings"), list):
        said = {"siblings": [*({"rfilename": name} for name in SMALL), *said["siblings"]]}
    with pytest.raises(HubFailed, match=r"hub\.example") as caught:
        read({**SMALL, "model.onnx": b"g"}, **said)
    assert not isinstance(caught.value, NotOnHub)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b"\xff", b'{"cardData":' + b"[" * 100_000])
def test_what_is_not_json_of_a_hub_is_refused(body: bytes) -> None:
    """An endpoint that is none."""
    with pytest.raises(HubFailed, match="does not describe house/mini"):
        offer.read(body, MINI, "hub.example")

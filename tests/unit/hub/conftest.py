"""A hub with one small model, and fetching from it in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxclient.hub import fetching
from ctxclient.hub.fetching import Outcome
from ctxclient.hub.offer import Offer
from ctxclient.hub.web import Hub as Client
from ctxprotocol import models
from ctxprotocol.models import Fetched
from ctxprotocol.secrets import Secret
from tests.hub import Hub, Repo, Store

TOKEN = "hf_veryverysecrettoken"
GRAPH = bytes(range(256)) * 2000
FILES = {
    "config.json": b'{"hidden_size": 32}',
    "tokenizer.json": b'{"model": {}}',
    "1_Pooling/config.json": b"{}",
    "onnx/model.onnx": GRAPH,
    "README.md": b"# mini",
    "model.safetensors": b"not wanted",
}
BIG = ("onnx/model.onnx", "model.safetensors")


class Heard:
    """What was told; `waiting` is set once another process is waited for."""

    def __init__(self) -> None:
        self.offers: list[tuple[Offer, int]] = []
        self.damages: list[str] = []
        self.waiting = threading.Event()
        self.done: list[tuple[str, int, int]] = []

    def offer(self, offer: Offer, kept_bytes: int) -> None:
        self.offers.append((offer, kept_bytes))

    def damaged(self, one: Fetched, file: str) -> None:
        self.damages.append(file)

    def waits(self) -> None:
        self.waiting.set()

    def progress(self, file: str, done_bytes: int, total_bytes: int) -> None:
        self.done.append((file, done_bytes, total_bytes))


@pytest.fixture
def store() -> Iterator[Store]:
    with Store() as found:
        yield found


@pytest.fixture
def hub(store: Store) -> Iterator[Hub]:
    """A hub that has house/mini."""
    with Hub(store) as found:
        found.add("house/mini", Repo(dict(FILES), large=BIG))
        yield found


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """The directory of fetched models, in a directory where nothing else is."""
    (tmp_path / "h" / "models").mkdir(parents=True, mode=0o700)
    return tmp_path / "h" / "models"


def want(
    hub: Hub | str,
    where: Path,
    name: str = "house/mini",
    *,
    token: str = "",
    most_bytes: int = 1 << 30,
    silence_s: float = 10,
    tell: Heard | None = None,
) -> Outcome:
    """Fetch a model."""
    named = models.named(name)
    assert named is not None
    secret = Secret(token, "a test") if token else None
    with Client(hub if isinstance(hub, str) else hub.url, secret, silence_s=silence_s) as client:
        return fetching.get(client, named, str(where), most_bytes, tell or Heard())


def files_of(folder: Path) -> dict[str, bytes]:
    """Return what is in a directory, by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

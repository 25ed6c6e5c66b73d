"""What of a chunk is embedded."""

from __future__ import annotations

import msgspec

from ctxd.embed.model import Model
from ctxd.embed.passage import key, passage
from ctxd.store.filling import Passage

CHUNK = Passage(
    chunk=1,
    path="src/app/db/connectionPool.test.ts",
    digest=b"",
    byte_start=0,
    kind="definition",
    name="openAll",
    parent="db.ConnectionPool",
    signature="openAll(max: number)",
    doc="Open as many as there may be.",
    code="async openAll(max: number) {\n  HTTPServer2.run()",
)
MODEL = Model(name="m", dimensions=2, licence="none")


def test_a_passage_says_what_it_is_before_what_it_does() -> None:
    """Path, owner, name, doc, code; identifiers as their words."""
    assert passage(CHUNK) == (
        "app db connection pool. db connection pool. open all. open as many as there may be. "
        "async open all max number http server 2 run"
    )


def test_a_part_brings_the_signature_of_what_it_is_a_part_of() -> None:
    """Its own code begins in the middle."""
    part = msgspec.structs.replace(CHUNK, kind="part", code="return 1")

    assert passage(part).endswith("open all max number. return 1")


def test_the_same_text_has_the_same_key_under_one_model_only() -> None:
    """Vectors of two models are never mixed, in the cache neither; another prefix is another text."""
    models = [
        MODEL,
        msgspec.structs.replace(MODEL, name="n"),
        msgspec.structs.replace(MODEL, passage_prefix="p"),
        msgspec.structs.replace(MODEL, max_tokens=96),
    ]

    assert key(MODEL, "a") == key(msgspec.structs.replace(MODEL), "a")
    assert len({key(model, text) for model in models for text in ("a", "b")}) == 8

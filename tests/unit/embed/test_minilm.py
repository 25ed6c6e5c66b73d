"""The real model, as its package brings it."""

from __future__ import annotations

import asyncio
import os

import pytest

from ctxd.embed import rows
from ctxd.embed.local import LocalEmbedder
from ctxd.store.vectors import _cosine as cosine
from tests import minilm

PAGES = "paginator. per page"

pytestmark = pytest.mark.skipif(not minilm.INSTALLED, reason=minilm.MISSING)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is where an import finds it."""
    monkeypatch.syspath_prepend(os.fspath(minilm.PLACE))


def test_the_installed_model_tells_meanings_apart() -> None:
    """Its files are the known ones, a vector does not depend on its neighbours, and what means the same is near."""

    async def main() -> list[bytes]:
        embedder = LocalEmbedder(rows.locate("", ""))
        try:
            (asked,) = await embedder.embed(["how are passwords checked"], query=True)
            many = await embedder.embed(
                ["auth hashers. verify secret against hash", "paginator. per page"], query=False
            )
            (alone,) = await embedder.embed(["paginator. per page"], query=False)
        finally:
            await embedder.close()
        return [asked, *many, alone]

    asked, near, far, alone = asyncio.run(main())
    assert len(asked) == rows.MINILM.dimensions
    assert alone == far
    assert (cosine(asked, near) or 0.0) > (cosine(asked, far) or 0.0) + 0.2

"""Which embedder the configuration asks for. On the loop; looks at a few files, opens no model."""

from __future__ import annotations

from ctxd.embed.local import LocalEmbedder
from ctxd.embed.model import Embedder
from ctxd.embed.rows import locate


def embedder(*, enabled: bool, model: str) -> Embedder | None:
    """Return the embedder for `embed.enabled` and `embed.model`, None when there is to be none. Raises EmbedFailed."""
    return LocalEmbedder(locate(model)) if enabled else None

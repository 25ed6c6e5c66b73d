"""What discovery is told by the configuration. A value; no thread owns it."""

from __future__ import annotations

import msgspec


class Rules(msgspec.Struct, frozen=True):
    """`ignore` holds the patterns of `index.ignore` in the syntax of .gitignore; sizes are bytes.

    Text over `max_file_bytes` and code over `max_code_bytes` is not indexed: by name alone only what is over both is
    turned away here, the rest is decided where the language is known.
    """

    ignore: tuple[str, ...] = ()
    max_files: int = 200_000
    follow_symlinks: bool = False
    max_file_bytes: int = 1_000_000
    max_code_bytes: int = 4_000_000

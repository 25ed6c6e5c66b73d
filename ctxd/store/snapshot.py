"""What one read transaction on an index file sees. Made by readers.py in a reader thread, used there and only
there."""

from __future__ import annotations

import apsw
import msgspec


class Snapshot(msgspec.Struct, frozen=True, eq=False):
    """An open read transaction. `generation` was read in it, so every row belongs to that generation.

    The connection is read-only; statements are interrupted at the request's deadline. It ends with the
    function that was given it: nothing that reads lazily may leave that function.
    """

    connection: apsw.Connection
    generation: int

"""The vectors of an index as search asks them: whether all are there, and which chunks are nearest to a question.

Reads inside one snapshot, on its reader thread. All vectors of a file are of the one model in meta('vector_model').
A coarse pass over the signs of every vector comes before the exact distance of what is left: a plain scan of 48 bytes
a chunk takes 10 ms for 60,000 chunks, which is half of what sqlite-vec's own table takes, and a sixth of the exact
distance to all.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
from collections.abc import Sequence
from itertools import takewhile
from operator import itemgetter, mul

import apsw
import msgspec

from ctxd.state import VectorsFilled
from ctxd.store.snapshot import Snapshot

# The chunks `c` of files `f` that say something: imports repeat what they import, configuration is found by its keys.
WANTED = "c.kind != 'imports' AND f.content != 'config'"
# Chunks that the coarse pass leaves: a longer list changed nothing on the labelled set.
_COARSE = 800
# Cosines that agree to so many digits are equal.
_DIGITS = 6
_SIGNS = bytes(b"1"[0] if value < 128 else b"0"[0] for value in range(256))


class Near(msgspec.Struct, frozen=True, array_like=True):
    """A chunk and the cosine of its vector and the question's."""

    chunk: int
    cosine: float


def signs(vector: bytes) -> bytes:
    """Return a bit for each dimension of a vector: whether it is not negative."""
    return int(vector.translate(_SIGNS), 2).to_bytes(-(-len(vector) // 8), "big")


def ready(snapshot: Snapshot, model: str) -> bool:
    """Say whether every chunk of the snapshot that is to have a vector has one of this model."""
    rows = snapshot.connection.execute("SELECT key, value FROM meta WHERE key IN ('vector_model', 'vectored')")
    return dict(rows) == {"vector_model": model, "vectored": snapshot.generation}


def any_of(snapshot: Snapshot, model: str) -> bool:
    """Say whether there are vectors of this model at all."""
    found = snapshot.connection.execute("SELECT value FROM meta WHERE key = 'vector_model'").get == model
    return found and snapshot.connection.execute("SELECT 1 FROM vectors LIMIT 1").get is not None


def replaced(snapshot: Snapshot, model: str) -> str:
    """Return the other model whose vectors are there, or were and are being made anew by this one; "" for none."""
    rows = snapshot.connection.execute(
        "SELECT key, value FROM meta WHERE key IN ('vector_model', 'vector_model_before')"
    )
    names: dict[str, str] = dict(rows)
    own = names.get("vector_model", model)
    return names.get("vector_model_before", "") if own == model else own


def progress(snapshot: Snapshot, model: str) -> VectorsFilled:
    """Count the chunks that are to have a vector of this model, and those that have."""
    connection = snapshot.connection
    wanted = connection.execute(f"SELECT count(*) FROM chunks c JOIN files f ON f.id = c.file_id WHERE {WANTED}").get
    own = connection.execute("SELECT value FROM meta WHERE key = 'vector_model'").get == model
    done = connection.execute("SELECT count(*) FROM vector_bits").get if own else 0
    return VectorsFilled(wanted, done, ready(snapshot, model), replaced(snapshot, model))


def nearest(snapshot: Snapshot, question: bytes, limit: int, *, within: Sequence[int] | None = None) -> list[Near]:
    """Return the `limit` chunks nearest to a question's vector (more where the last ones are equal), best first.

    `within` are the chunk ids allowed, None = all. What is returned depends on the vectors alone, not on row ids.
    """
    measure = _Measure(snapshot.connection, question)
    exact = measure.exact(measure.coarse(within))
    exact.sort(key=itemgetter(1), reverse=True)
    cut = exact[limit - 1][1] if len(exact) >= limit else -2.0
    return [Near(chunk, cosine) for chunk, cosine in takewhile(lambda one: one[1] >= cut, exact)]


class _Measure:
    """Distances to one question: by sqlite-vec, which lets other threads run meanwhile, or without it by ourselves."""

    def __init__(self, connection: apsw.Connection, question: bytes) -> None:
        self._connection = connection
        self._question = question
        self._fast = _extended(connection)

    def coarse(self, within: Sequence[int] | None) -> list[int]:
        """Return the chunks whose signs agree best; of those that agree equally well all or none."""
        where, allowed = "", []
        if within is not None:
            where, allowed = " WHERE +chunk_id IN (SELECT value FROM json_each(?2))", [json.dumps(list(within))]
        asked, most = signs(self._question), _COARSE
        while True:
            found = self._agreeing(asked, where, allowed, most + 1)
            if len(found) <= most:
                return [chunk for chunk, _ in found]
            kept = [chunk for chunk, distance in found if distance < found[-1][1]]
            if kept:
                return kept
            most *= 8  # a great many equal ones

    def _agreeing(self, asked: bytes, where: str, allowed: list[str], most: int) -> list[tuple[int, float]]:
        if self._fast:
            rows = self._connection.execute(
                f"SELECT chunk_id, vec_distance_hamming(vec_bit(bits), vec_bit(?1)) AS d FROM vector_bits{where}"
                f" ORDER BY d LIMIT {most}",
                (asked, *allowed),
            )
            return list(rows)
        number = int.from_bytes(asked)
        rows = self._connection.execute(f"SELECT chunk_id, bits, ?1 FROM vector_bits{where}", (b"", *allowed))
        counted = [((int.from_bytes(bits) ^ number).bit_count(), chunk) for chunk, bits, _ in rows]
        counted.sort()
        return [(chunk, distance) for distance, chunk in counted[:most]]

    def exact(self, chunks: Sequence[int]) -> list[tuple[int, float]]:
        """Return each chunk with its cosine; a vector without a direction is near to nothing."""
        value = "1 - vec_distance_cosine(vec_int8(body), vec_int8(?2))" if self._fast else "body, ?2"
        rows = self._connection.execute(
            f"SELECT chunk_id, {value} FROM vectors WHERE chunk_id IN (SELECT value FROM json_each(?1))",
            (json.dumps(list(chunks)), self._question),
        )
        found = rows if self._fast else ((chunk, _cosine(body, asked)) for chunk, body, asked in rows)
        return [(chunk, round(cosine, _DIGITS)) for chunk, cosine in found if cosine is not None]


def _cosine(one: bytes, other: bytes) -> float | None:
    values, others = memoryview(one).cast("b").tolist(), memoryview(other).cast("b").tolist()
    size = math.sqrt(sum(map(mul, values, values)) * sum(map(mul, others, others)))
    return sum(map(mul, values, others)) / size if size else None


def _extended(connection: apsw.Connection) -> bool:
    """Give the connection sqlite-vec's functions if it has them not; False where that package is not installed."""
    try:
        connection.execute("SELECT vec_version()").fetchall()
        return True
    except apsw.SQLError:
        pass
    spec = importlib.util.find_spec("sqlite_vec")  # importing it would load numpy
    if spec is None or spec.origin is None:
        return False
    try:
        connection.enable_load_extension(True)
        connection.load_extension(os.path.join(os.path.dirname(spec.origin), "vec0"))
    except apsw.Error:
        return False
    finally:
        connection.enable_load_extension(False)
    return True

"""The embedding process: a child of the daemon with one model. Loads no asyncio and no SQLite; one thread.

Takes texts from its standard input and answers with vectors on its standard output, see pipe.py. It ends when the
input does. The only module that loads onnxruntime, tokenizers and numpy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from ctxd.embed.model import Vector
from ctxd.embed.pipe import Broken, Load, Loaded, Texts, Vectors, decode_request, pack
from ctxd.frames import Pipe
from ctxd.process import be_nice

Embed = Callable[[Sequence[str]], list[Vector]]


class Unfit(Exception):
    """The model cannot be used; the message says why."""


def run(pipe: Pipe, load: Callable[[Load], Embed]) -> None:
    """Serve until the input ends, or until something cannot be done."""
    embed: Embed | None = None
    while (payload := pipe.receive()) is not None:
        request = decode_request(payload)
        try:
            if isinstance(request, Load):
                be_nice(request.niceness)
                embed = load(request)
                pipe.send(pack(Loaded()))
            elif isinstance(request, Texts) and embed is not None:
                pipe.send(pack(Vectors(tuple(embed(request.texts)))))
        except Exception as fault:  # of three libraries, each with errors of its own
            said = str(fault) if isinstance(fault, Unfit) else f"{type(fault).__name__}: {fault}"
            pipe.send(pack(Broken(said)))
            return


def load(wanted: Load) -> Embed:
    """Return what embeds by an ONNX model, checked against its digests. Raises Unfit."""
    for digest in wanted.digests:
        path = wanted.onnx if digest.file.endswith(".onnx") else wanted.tokenizer
        with open(path, "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest.sha256:
                raise Unfit(f"{path} is not the file it should be: its SHA-256 is another")
    try:
        import numpy
        import onnxruntime
        import tokenizers
    except ImportError as fault:
        raise Unfit(f"{fault.name or fault} cannot be loaded") from None
    tokenizer = tokenizers.Tokenizer.from_file(wanted.tokenizer)
    tokenizer.enable_truncation(wanted.max_tokens)
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(wanted.onnx, _options(onnxruntime), providers=["CPUExecutionProvider"])
    inputs = {one.name for one in session.get_inputs()}
    asked = [session.get_outputs()[0].name]

    def embed(texts: Sequence[str]) -> list[Vector]:
        # One by one: a batch is no faster on a processor, and the vector of a text would depend on its neighbours.
        return [one(tokenizer.encode(text).ids) for text in texts]

    def one(ids: list[int]) -> Vector:
        tokens = numpy.array([ids], dtype=numpy.int64)
        given = {
            "input_ids": tokens,
            "attention_mask": numpy.ones_like(tokens),
            "token_type_ids": numpy.zeros_like(tokens),
        }
        states = session.run(asked, {name: value for name, value in given.items() if name in inputs})[0]
        return _quantized(numpy, _pooled(numpy.asarray(states)[0], wanted), wanted.dimensions)

    embed(["warm"])  # a model of another shape fails here, and the first question finds its memory mapped
    return embed


def _options(onnxruntime: Any) -> Any:
    """Return the options of a session that stays small and never spins: it shares the machine with its user."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # 240 MB instead of 650
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _pooled(states: Any, wanted: Load) -> Any:
    """Return one vector from those of the tokens; a model that has pooled already gives just one."""
    if states.ndim == 1:
        return states
    if wanted.pooling == "cls":
        return states[0]
    return states[-1] if wanted.pooling == "last" else states.mean(axis=0)


def _quantized(numpy: Any, values: Any, dimensions: int) -> Vector:
    """Return the same as model.quantized."""
    if values.shape != (dimensions,):
        raise Unfit(f"the model gives vectors of {values.shape[-1]} dimensions instead of {dimensions}")
    most = float(numpy.abs(values).max())
    if not most or not numpy.isfinite(values).all():
        return bytes(dimensions)
    vector: bytes = numpy.rint(values * (127 / most)).astype(numpy.int8).tobytes()
    return vector


def serve(load: Callable[[Load], Embed] = load) -> None:
    """Be the process on this one's standard input and output."""
    try:
        run(Pipe.standard(), load)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the daemon is gone


if __name__ == "__main__":
    serve()

"""A provider on 127.0.0.1 for tests: real HTTP with the wire formats that are spoken, and every way to be faulty.

A thread per connection. `Provider(embeddings)` answers by a function from the request's JSON to the reply's; what it
was asked is in `asked`. `misbehave` queues faults, each for one request, before it goes on as usual; the function may
return one, too.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.serving import Server

Reply = Callable[["Asked"], Any]


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Fault:
    """What is done in place of an answer.

    `status` with `body` and `headers`; `cut`: the connection ends after so many bytes of the body; `slow_s`: a pause
    before the head, `slow_body_s` within the body, both over at once when the server ends; `huge` bytes of body;
    `garbage` in place of HTTP; `drop`: the connection ends without a byte.
    """

    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int = -1
    slow_s: float = 0.0
    slow_body_s: float = 0.0
    huge: int = 0
    garbage: bytes = b""
    drop: bool = False


class Provider:
    """The server; a context. `url` has no closing slash. `tls` is a (certificate, key) pair of files.

    `port` 0: a free one.
    """

    def __init__(self, reply: Reply, *, tls: tuple[str, str] | None = None, port: int = 0) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.ended = threading.Event()
        # While it is clear, requests wait before they are answered (they are in `asked` by then).
        self.open = threading.Event()
        self.open.set()
        self.reply = reply
        self._faults: deque[Fault] = deque()
        self._lock = threading.Lock()
        self._server = _Server(self, port)
        self._tls = tls is not None
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def misbehave(self, *faults: Fault) -> None:
        """Answer the next requests by these."""
        with self._lock:
            self._faults.extend(faults)

    def bodies(self) -> list[Any]:
        """Return what was asked, the JSON alone."""
        with self._lock:
            return [each.body for each in self.asked]

    def take(self, asked: Asked) -> tuple[Fault | None, Any]:
        """Note a request and return what it is answered by."""
        with self._lock:
            self.asked.append(asked)
            fault = self._faults.popleft() if self._faults else None
        while not self.open.wait(0.05):
            if self.ended.is_set():
                return Fault(status=503, body=b"{}"), None
        if fault is not None and fault.body is not None:
            return fault, None
        reply = self.reply(asked)
        return (reply, None) if isinstance(reply, Fault) else (fault, reply)

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.end_connections()
        self._thread.join(10)
        self._server.server_close()


class _Server(Server):
    def __init__(self, provider: Provider, port: int) -> None:
        self.provider = provider
        super().__init__(_Handler, port)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.provider.connections += 1
        super().process_request(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes: with it the second waits 40 ms for an acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        asked = Asked(
            self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(raw or "null")
        )
        provider = self.server.provider
        fault, reply = provider.take(asked)
        fault = fault or Fault()
        body = fault.body if fault.body is not None else json.dumps(reply).encode()
        provider.ended.wait(fault.slow_s)
        if fault.garbage or fault.drop:
            self.wfile.write(fault.garbage)
            self.close_connection = True
            return
        self.send_response(fault.status)
        for name, value in {"Content-Type": "application/json", **fault.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(fault.huge or len(body)))
        self.end_headers()
        if fault.huge:
            for _ in range(fault.huge // 65536 + 1):
                self.wfile.write(b" " * 65536)
        if fault.slow_body_s:
            self.wfile.write(body[:1])
            self.wfile.flush()
            provider.ended.wait(fault.slow_body_s)
            body = body[1:]
        if fault.cut >= 0:
            self.wfile.write(body[: fault.cut])
            self.close_connection = True
            return
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the tests' terminal."""


def embeddings(vector: Callable[[str], Sequence[float]]) -> Reply:
    """Return what answers `/embeddings` as OpenAI and Voyage do: vectors with their index, and the tokens used."""

    def reply(asked: Asked) -> Any:
        texts = asked.body["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": list(vector(text))} for index, text in enumerate(texts)
        ]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": data, "model": asked.body["model"], "usage": usage}

    return reply


def free_port() -> int:
    """Return a port of 127.0.0.1 where nobody listens."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


@dataclass(frozen=True)
class Chat:
    """A question to a language model, whatever wire format it came in."""

    wire: str
    model: str
    instruction: str
    data: Any
    schema: Any


Say = Callable[[Chat], str]


def chats(say: Say) -> Reply:
    """Return what answers as Gemini, OpenAI and Ollama do, by the path that is asked: `say` gives the model's words."""

    def reply(asked: Asked) -> Any:
        question = chat(asked)
        text = say(question)
        sent, received = len(question.instruction.split()), len(text.split())
        if question.wire == "gemini":
            content = {"role": "model", "parts": [{"text": text}]}
            usage = {
                "promptTokenCount": sent,
                "candidatesTokenCount": received,
                "totalTokenCount": sent + received,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": sent}],
            }
            candidate = {"content": content, "finishReason": "STOP", "index": 0}
            return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": question.model}
        message = {"role": "assistant", "content": text}
        if question.wire == "ollama":
            counts = {"prompt_eval_count": sent, "eval_count": received, "total_duration": 5_000_000}
            return {"model": question.model, "message": message, "done": True, "done_reason": "stop", **counts}
        usage = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
        choice = {"index": 0, "message": {**message, "refusal": None}, "logprobs": None, "finish_reason": "stop"}
        return {"id": "c-1", "object": "chat.completion", "model": question.model, "choices": [choice], "usage": usage}

    return reply


def chat(asked: Asked) -> Chat:
    """Return what a language model was asked; a request that no provider would take fails here."""
    body = asked.body
    if asked.path.endswith(":generateContent"):
        wanted = body["generationConfig"]
        assert wanted["temperature"] == 0 and wanted["responseMimeType"] == "application/json"
        model = asked.path.rsplit("/", 1)[1].removesuffix(":generateContent")
        instruction = body["systemInstruction"]["parts"][0]["text"]
        (turn,) = body["contents"]
        return Chat("gemini", model, instruction, json.loads(turn["parts"][0]["text"]), wanted.get("responseSchema"))
    system, user = body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    if asked.path.endswith("/api/chat"):
        assert body["stream"] is False and body["options"]["temperature"] == 0
        wire, schema = "ollama", body["format"]
    else:
        assert asked.path.endswith("/chat/completions") and body["temperature"] == 0
        wanted = body["response_format"]
        wire, schema = "openai", wanted["json_schema"]["schema"] if wanted["type"] == "json_schema" else None
    return Chat(wire, body["model"], system["content"], json.loads(user["content"]), schema)

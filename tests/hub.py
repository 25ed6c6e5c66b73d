"""A hub on 127.0.0.1 for tests: real HTTP in the wire format of Hugging Face, and every way to be faulty.

`Hub` describes repositories and serves their files; a large one (LFS) is at another server, `Store`, to which the hub
redirects, a small one behind a redirect of its own. What either was asked is in `asked`. `misbehave` queues faults for
requests whose path ends so, each for one request.
"""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.serving import Server

SHA, NEXT_SHA = "a1" * 20, "b2" * 20
CARD = {"license": "apache-2.0", "language": "en", "pipeline_tag": "sentence-similarity"}


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]


@dataclass
class Fault:
    """What is done in place of an answer, or to it.

    `status` with `headers` and `body`; `cut`: the connection ends after so many bytes of the body; `silent_after`: no
    more comes after so many bytes, until the server ends; `bytes`: the body is another.
    """

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    cut: int = -1
    silent_after: int = -1


@dataclass
class Repo:
    """A repository at one revision. `large` files are in LFS; `gated`: only who has a token in `allowed` gets files.

    `said` is laid over the description.
    """

    files: dict[str, bytes]
    sha: str = SHA
    large: tuple[str, ...] = ()
    gated: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)

    def describe(self, name: str, blobs: bool) -> dict[str, Any]:
        """Return the hub's description of it."""
        siblings = [{"rfilename": file} | (self._facts(file) if blobs else {}) for file in self.files]
        found = {"_id": "1", "id": name, "modelId": name, "sha": self.sha, "private": False, "disabled": False}
        found |= {"gated": "auto" if self.gated else False, "tags": ["onnx", "license:apache-2.0"], "cardData": CARD}
        return {**found, "siblings": siblings, **self.said}

    def _facts(self, file: str) -> dict[str, Any]:
        data = self.files[file]
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        if file not in self.large:
            return {"size": len(data), "blobId": blob}
        pointer = b"version https://git-lfs.github.com/spec/v1\n"
        lfs = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        return {"size": len(data), "blobId": hashlib.sha1(pointer).hexdigest(), "lfs": lfs}


class _Place:
    """A server with what it was asked, and its faults. `tls` is a (certificate, key) pair of files."""

    def __init__(self, tls: tuple[str, str] | None = None) -> None:
        self.asked: list[Asked] = []
        self.ended = threading.Event()
        # While it is clear, requests wait before they are answered (they are in `asked` by then).
        self.open = threading.Event()
        self.open.set()
        self._faults: list[tuple[str, Fault]] = []
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._scheme = "https" if tls else "http"
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
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def misbehave(self, end: str, *faults: Fault) -> None:
        """Answer the next requests whose path ends so by these."""
        with self._lock:
            self._faults.extend((end, fault) for fault in faults)

    def paths(self) -> list[str]:
        """Return what was asked for."""
        with self._lock:
            return [each.path for each in self.asked]

    def take(self, asked: Asked) -> Fault:
        with self._lock:
            self.asked.append(asked)
            place = urlsplit(asked.path).path
            found = next((each for each in self._faults if place.endswith(each[0])), None)
            if found is not None:
                self._faults.remove(found)
        while not self.open.wait(0.02) and not self.ended.is_set():
            pass
        return found[1] if found is not None else Fault()

    def answer(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.end_connections()
        self._thread.join(10)
        self._server.server_close()


class Store(_Place):
    """Where large files are, by their digest; addresses are signed, tokens are not for it."""

    def __init__(self) -> None:
        super().__init__()
        self.blobs: dict[str, bytes] = {}

    def answer(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(asked.path)
        data = self.blobs.get(parts.path.rpartition("/")[2])
        if data is None or "Signature" not in parse_qs(parts.query):
            return 403, {}, b"<Error><Code>AccessDenied</Code></Error>"
        return 200, {"ETag": '"x"', "Accept-Ranges": "bytes"}, data


class Hub(_Place):
    """The hub. `repos` by OWNER/NAME and revision."""

    def __init__(self, store: Store, tls: tuple[str, str] | None = None) -> None:
        super().__init__(tls)
        self.store = store
        self.repos: dict[tuple[str, str], Repo] = {}
        self.allowed: set[str] = set()
        # Where large files are said to be, in place of the store.
        self.elsewhere = ""

    def add(self, name: str, repo: Repo, revision: str = "main") -> Repo:
        """Have a repository."""
        self.repos[name, revision] = self.repos[name, repo.sha] = repo
        self.store.blobs |= {hashlib.sha256(repo.files[file]).hexdigest(): repo.files[file] for file in repo.large}
        return repo

    def answer(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(asked.path)
        words = [unquote(word) for word in parts.path.strip("/").split("/")]
        if words[:2] == ["api", "models"] and words[4:5] == ["revision"]:
            return self._described("/".join(words[2:4]), words[5], "blobs" in parse_qs(parts.query), asked)
        if words[:3] == ["api", "resolve-cache", "models"]:
            return self._served("/".join(words[3:5]), words[5], "/".join(words[6:]), asked, cached=True)
        if words[2:3] == ["resolve"]:
            return self._served("/".join(words[:2]), words[3], "/".join(words[4:]), asked, cached=False)
        return 404, {}, b""

    def _described(self, name: str, revision: str, blobs: bool, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if token and token not in self.allowed:
            return 401, {"X-Error-Message": "Invalid credentials in Authorization header"}, b'{"error":"no"}'
        if not any(known == name for known, _ in self.repos):
            # Who is not known is not told whether there is such a one.
            return (404 if token else 401), {"X-Error-Code": "RepoNotFound"}, b'{"error":"Repository not found"}'
        repo = self.repos.get((name, revision))
        if repo is None:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b'{"error":"Invalid rev id"}'
        return 200, {"Content-Type": "application/json"}, json.dumps(repo.describe(name, blobs)).encode()

    def _served(
        self, name: str, revision: str, file: str, asked: Asked, *, cached: bool
    ) -> tuple[int, dict[str, str], bytes]:
        repo = self.repos.get((name, revision))
        if repo is None or file not in repo.files:
            return 404, {"X-Error-Code": "EntryNotFound"}, b"Entry not found"
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if repo.gated and token not in self.allowed:
            return (403 if token else 401), {"X-Error-Code": "GatedRepo"}, b"Access is restricted"
        data = repo.files[file]
        known = {"X-Repo-Commit": repo.sha, "Accept-Ranges": "bytes"}
        if file in repo.large:
            digest = hashlib.sha256(data).hexdigest()
            known |= {"X-Linked-Size": str(len(data)), "X-Linked-ETag": f'"{digest}"'}
            where = self.elsewhere or self.store.url
            return 302, {**known, "Location": f"{where}/repos/{digest}?Expires=1&Signature=s"}, b""
        known["ETag"] = f'"{hashlib.sha1(b"blob %d" % len(data) + bytes(1) + data).hexdigest()}"'
        if not cached:
            return 307, {**known, "Location": f"/api/resolve-cache/models/{name}/{repo.sha}/{file}"}, b""
        return 200, known, data


class _Server(Server):
    def __init__(self, place: _Place) -> None:
        self.place = place
        super().__init__(_Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        place = self.server.place
        asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()})
        fault = place.take(asked)
        status, headers, body = place.answer(asked)
        if fault.status:
            status, headers, body = fault.status, dict(fault.headers), b""
        body = body if fault.body is None else fault.body
        span = asked.headers.get("range", "")
        if status == 200 and span and "Accept-Ranges" in headers:
            first, size = int(span.removeprefix("bytes=").removesuffix("-")), len(body)
            status, body = (206, body[first:]) if first < size else (416, b"")
            headers = {**headers, "Content-Range": f"bytes {first}-{size - 1}/{size}" if body else f"bytes */{size}"}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        stop = min((each for each in (fault.cut, fault.silent_after) if each >= 0), default=len(body))
        self.wfile.write(body[:stop])
        if fault.silent_after >= 0:
            self.wfile.flush()
            place.ended.wait()
        if stop < len(body):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the tests' terminal."""

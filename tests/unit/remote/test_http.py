"""Asking a provider: what comes back, and every way in which nothing does, against a real server."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from ctxd.remote.failure import RemoteFailed
from ctxd.remote.http import Http
from ctxd.remote.names import Names
from tests.remote import Fault, Provider, free_port

KEY = "sk-veryverysecretkey"
# As Gemini says that a key is not one.
GOOGLE = b"""{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
  "details": [{"@type": "type.example/ErrorInfo", "reason": "API_KEY_INVALID", "domain": "example"}]}}"""
SENT = b'{"text": "never to be repeated"}'


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(lambda asked: {"got": asked.body}) as found:
        yield found


def post(url: str, *, times: int = 1, deadline_s: float = 5.0, **options: object) -> bytes:
    """Ask so many times over one Http and return the last answer."""

    async def main() -> bytes:
        http = Http()
        try:
            for _ in range(times):
                body = await http.post(url, SENT, {"Authorization": f"Bearer {KEY}"}, deadline_s=deadline_s, **options)
            return body
        finally:
            await http.close()

    return asyncio.run(main())


def failure(url: str, **options: object) -> RemoteFailed:
    """Ask and return what goes wrong; it never holds a key or what was sent."""
    with pytest.raises(RemoteFailed) as caught:
        post(url, **options)
    said = f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert KEY not in said and "repeated" not in said
    return caught.value


def test_json_comes_back(provider: Provider) -> None:
    """With the headers that were given, over one connection for several requests, none compressed."""
    assert json.loads(post(f"{provider.url}/v1/x", times=3)) == {"got": json.loads(SENT)}
    asked = provider.asked[-1]
    assert (asked.path, asked.headers["authorization"], asked.headers["accept-encoding"]) == (
        "/v1/x",
        f"Bearer {KEY}",
        "identity",
    )
    assert asked.headers["host"] == f"127.0.0.1:{provider.port}"
    assert provider.connections == 1


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (Fault(401, b'{"error": {"code": "invalid_api_key"}}'), "refused", "401 (invalid_api_key)"),
        (Fault(403, b"{}"), "refused", "403"),
        (Fault(400, GOOGLE), "refused", "400 (INVALID_ARGUMENT): the key is not accepted"),
        (Fault(404, b'{"error": {"message": "never to be repeated", "code": "model_not_found"}}'), "rejected", "404"),
        (Fault(400, json.dumps({"error": {"code": "repeated"}}).encode()), "rejected", "400: "),
        (Fault(400, json.dumps({"error": {"code": "veryverysecretkey"}}).encode()), "rejected", "400: "),
        (Fault(302, b"", {"Location": "https://elsewhere.example/"}), "rejected", "302"),
        (Fault(500, b"<html>"), "server", "500"),
        (Fault(503, b"{}"), "server", "503"),
        (Fault(cut=3), "cut", "in the middle"),
        (Fault(garbage=b"I am no HTTP\r\n\r\n"), "malformed", "HTTP"),
        (Fault(garbage=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), "cut", "in the middle"),
        (Fault(headers={"Content-Encoding": "gzip"}), "malformed", "compressed"),
        (Fault(huge=2_000_000), "malformed", "more than 1,000,000 bytes"),
    ],
)
def test_what_is_no_answer_says_why(provider: Provider, fault: Fault, kind: str, says: str) -> None:
    """Each kind by its name, in words that repeat nothing of what was sent."""
    provider.misbehave(fault)

    failed = failure(f"{provider.url}/x", most_bytes=1_000_000)

    assert (failed.kind, says in f"{failed.message}: ") == (kind, True), failed.message
    assert len(provider.asked) == 1


@pytest.mark.parametrize("fault", [Fault(slow_s=30), Fault(slow_body_s=30)])
def test_a_deadline_is_over_the_whole(provider: Provider, fault: Fault) -> None:
    """Whether the head or the body lets wait."""
    provider.misbehave(fault)
    began = time.monotonic()

    failed = failure(f"{provider.url}/x", deadline_s=0.6)

    assert failed.kind == "timeout"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("999999", 3600),
        ("soon", 0),
        ("-3", 0),
        ("٣", 0),
    ],
)
def test_retry_after_is_a_number(provider: Provider, value: str, seconds: float) -> None:
    """What says neither counts as unsaid; nobody is waited for longer than an hour."""
    provider.misbehave(Fault(429, b"{}", {"Retry-After": value.encode().decode("latin-1")}))

    failed = failure(f"{provider.url}/x")

    assert failed.kind == "limited"
    assert failed.retry_after_s == seconds


@pytest.mark.parametrize(("ahead_s", "seconds"), [(1800, 1800), (-100, 0)])
def test_retry_after_may_be_a_date(provider: Provider, ahead_s: int, seconds: float) -> None:
    """One that has passed asks for no wait."""
    date = email.utils.formatdate(time.time() + ahead_s, usegmt=True)
    provider.misbehave(Fault(429, b"{}", {"Retry-After": date}))

    assert failure(f"{provider.url}/x").retry_after_s == pytest.approx(seconds, abs=60)


def test_nobody_there_is_unreachable() -> None:
    """Without a wait."""
    began = time.monotonic()
    assert failure(f"http://127.0.0.1:{free_port()}/x").kind == "unreachable"
    assert time.monotonic() - began < 3


def test_plain_http_goes_to_this_machine_only(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor to a name that says localhost and leads elsewhere (here to an address that is not said to be ours)."""
    assert failure("http://192.0.2.1/x").kind == "rejected"
    elsewhere = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("0.0.0.0", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: elsewhere)
    assert failure(f"http://localhost:{provider.port}/x").kind == "unreachable"
    assert provider.asked == []


def test_a_name_server_that_is_silent_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither who asks, beyond the deadline, nor the end."""
    import threading

    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: never.wait(60))
    began = time.monotonic()
    try:
        assert failure("https://provider.example/x", deadline_s=0.5).kind == "timeout"
        assert time.monotonic() - began < 6
    finally:
        never.set()


def test_no_name_server_is_asked_for_a_number(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is silent for another host does not hold up who is on this machine."""
    monkeypatch.delattr(socket, "getaddrinfo")
    assert post(f"{provider.url}/x")


def test_an_address_that_refuses_is_followed_by_the_next(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may stand for several."""
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 0)) for host in ("127.0.0.9", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)

    post(f"http://localhost:{provider.port}/x", times=2)

    assert provider.connections == 1
    assert provider.asked[0].headers["host"] == f"localhost:{provider.port}"


def test_the_address_that_answered_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is dead costs three seconds once; when none answers they are looked up anew."""
    looked = []

    def rows(*asked: object, **_: object) -> list[object]:
        looked.append(asked)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 0)) for host in ("192.0.2.1", "192.0.2.2")]

    monkeypatch.setattr(socket, "getaddrinfo", rows)

    async def main() -> list[tuple[str, ...]]:
        names = Names()
        found = [await names.addresses("host.example", 1)]
        names.answered("host.example", 1, "192.0.2.2")
        found.append(await names.addresses("host.example", 1))
        names.forget("host.example", 1)
        found.append(await names.addresses("host.example", 1))
        names.close()
        return found

    first = ("192.0.2.1", "192.0.2.2")
    assert asyncio.run(main()) == [first, first[::-1], first]
    assert len(looked) == 2


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of localhost that nobody has signed but itself, and its key."""
    place = tmp_path_factory.mktemp("tls")
    made = str(place / "cert.pem"), str(place / "key.pem")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command = ["openssl", "req", "-x509", *kind, *subject, "-out", made[0], "-keyout", made[1]]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl here")
    return made


def test_certificates_are_checked(certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that nobody knows is refused, also with what the environment says; nothing is sent before."""
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
    with Provider(lambda asked: {"got": asked.body}, tls=certificate) as provider:
        failed = failure(f"https://localhost:{provider.port}/x")
        assert provider.asked == []
    assert failed.kind == "unreachable" and "certificate" in failed.message


def test_a_certificate_of_ones_own_is_trusted_for_its_name(certificate: tuple[str, str]) -> None:
    """Named by `ca_file`; another name than the certificate's is refused all the same."""
    with Provider(lambda asked: {"got": asked.body}, tls=certificate) as provider:
        assert post(f"https://localhost:{provider.port}/x", times=2, ca_file=certificate[0])
        assert provider.connections == 1
        failed = failure(f"https://127.0.0.1:{provider.port}/x", ca_file=certificate[0])
        assert len(provider.asked) == 2
    assert failed.kind == "unreachable" and "certificate" in failed.message
    assert failure("https://127.0.0.1:1/x", ca_file="/nowhere.pem").kind == "rejected"


def test_a_connection_of_one_host_is_not_used_for_another(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though both have the same number: what was proved for one proves nothing for the other."""
    with Provider(lambda asked: {"got": asked.body}, tls=certificate) as provider:
        rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)

        async def main() -> None:
            http = Http()
            try:
                for host in ("localhost", "other.example"):
                    url = f"https://{host}:{provider.port}/x"
                    await http.post(url, SENT, {}, deadline_s=5, ca_file=certificate[0])
            finally:
                await http.close()

        with pytest.raises(RemoteFailed, match=r"other.example cannot be reached \(its certificate"):
            asyncio.run(main())
        assert len(provider.asked) == 1


def test_a_kept_connection_that_ends_just_then_is_no_failure(provider: Provider) -> None:
    """It is tried once more, and only once."""
    gone = Fault(drop=True)
    provider.misbehave(gone)
    assert post(f"{provider.url}/x")
    provider.misbehave(gone, gone)
    assert failure(f"{provider.url}/x").kind == "cut"
    assert len(provider.asked) == 4


def test_who_does_not_speak_tls_is_unreachable(provider: Provider) -> None:
    """Plain HTTP on a port that should be encrypted."""
    failed = failure(f"https://127.0.0.1:{provider.port}/x")
    assert failed.kind == "unreachable" and "TLS" in failed.message


def test_variables_of_the_environment_do_not_count(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy that whoever started the daemon had."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")

    assert post(f"{provider.url}/x")


def test_no_cookie_is_kept(provider: Provider) -> None:
    """What a provider would know us by is not sent back to it."""
    provider.misbehave(Fault(headers={"Set-Cookie": "who=we; Path=/"}))

    post(f"{provider.url}/x", times=2)

    assert [asked.headers.get("cookie") for asked in provider.asked] == [None, None]


def test_the_loop_loads_nothing(provider: Provider) -> None:
    """What a first request needs is loaded beside it; in 20 ms of the loop nobody else gets an answer."""
    code = (
        "import asyncio, sys, ctxd.daemon\n"
        "from ctxd.remote.http import Http\n"
        "async def main():\n"
        "    http = Http()\n"
        "    await http._client('127.0.0.1', '')\n"
        "    before = set(sys.modules)\n"
        f"    await http.post('{provider.url}/x', b'1', {{}}, deadline_s=20)\n"
        "    print(len(set(sys.modules) - before))\n"
        "    await http.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert int(done.stdout) < 12, done.stdout


def test_nothing_of_a_request_is_logged(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    """At the most talkative level, and when it fails."""
    caplog.set_level(logging.DEBUG)
    provider.misbehave(Fault(500, b"never to be repeated"))

    failure(f"{provider.url}/x")
    post(f"{provider.url}/x")

    assert KEY not in caplog.text and "repeated" not in caplog.text
    assert not [each for each in caplog.records if each.name.startswith(("httpx", "httpcore"))]


def test_httpx_is_loaded_when_it_is_needed() -> None:
    """Who has no provider does not pay for it."""
    code = "import sys, ctxd.remote.http, ctxd.daemon; print(sorted({'httpx', 'anyio', 'certifi'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"

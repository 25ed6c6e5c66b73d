"""The hub as a server: who is told the token, where redirects may lead, and what is said when nothing comes."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from ctxclient.hub import web
from ctxclient.hub.failure import HubFailed, NotOnHub
from ctxprotocol.errors import UsageFailed
from tests.hub import SHA, Fault, Hub, Repo, Store
from tests.remote import free_port
from tests.unit.hub.conftest import BIG, FILES, TOKEN, want

MINI = web.Named("house", "mini")
FILE = f"resolve/{SHA}/config.json"


def failure(hub: Hub | str, where: Path, name: str = "house/mini", **options: object) -> HubFailed:
    """Ask and return what goes wrong; it never holds the token."""
    with pytest.raises(HubFailed) as caught:
        want(hub, where, name, **options)  # type: ignore[arg-type]
    assert TOKEN not in f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    return caught.value


def test_the_token_goes_to_the_hub_alone(hub: Hub, store: Store, where: Path) -> None:
    """For the description and for each file, after a redirect within the hub, too; not to where large files are."""
    hub.add("house/mini", Repo(dict(FILES), large=BIG, gated=True))
    hub.allowed.add(TOKEN)

    assert want(hub, where, token=TOKEN).downloaded

    assert len(store.asked) == 1 and len(hub.asked) > 7
    assert {asked.headers.get("authorization") for asked in hub.asked} == {f"Bearer {TOKEN}"}
    assert "authorization" not in store.asked[0].headers


def test_the_same_port_of_another_host_is_another(hub: Hub, where: Path) -> None:
    """The token is for one scheme, host and port."""
    hub.elsewhere = f"http://localhost:{hub.port}"
    hub.allowed.add(TOKEN)

    failure(hub, where, token=TOKEN)

    told = {asked.headers["host"]: asked.headers.get("authorization") for asked in hub.asked}
    assert told == {f"127.0.0.1:{hub.port}": f"Bearer {TOKEN}", f"localhost:{hub.port}": None}


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("http://192.0.2.1/x", "sends to 192.0.2.1 without TLS"),
        ("http://hub.example/x", "sends to hub.example without TLS"),
        ("ftp://127.0.0.1/x", "sends to what is no address"),
        ("file:///etc/passwd", "sends to what is no address"),
        ("http://me:secret@127.0.0.1/x", "sends to what is no address"),
        ("http://127.0.0.1:99999/x", "sends to what is no address"),
        ("http://h\u00e4us.example/x", "sends to what is no address"),
        ("/somewhere/else", "does not have it"),
        ("", "more than 5 times"),
    ],
)
def test_where_a_redirect_may_not_lead(hub: Hub, where: Path, location: str, says: str) -> None:
    """It is refused before anybody is asked, and named."""
    wrong = Fault(status=302, headers={"Location": location.encode().decode("latin-1")})
    hub.misbehave(FILE, *[wrong] * 7)

    assert says in failure(hub, where).message


def test_a_hub_on_this_machine_may_send_to_tls_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is elsewhere sends nowhere without it, not to this machine either."""
    with web.Hub("https://hub.example", None, silence_s=1) as client, pytest.raises(HubFailed, match="without TLS"):
        client._checked("http://127.0.0.1/x")


@pytest.mark.parametrize(
    ("name", "token", "kind", "says"),
    [
        ("house/maxi", "", NotOnHub, "shows no house/maxi to everyone"),
        ("house/maxi", TOKEN, NotOnHub, "has no model house/maxi"),
        ("house/mini", "hf_invalid", HubFailed, "does not take the token"),
        ("house/mini@v9", "", NotOnHub, "no revision v9"),
        ("house/closed", "", HubFailed, "who has accepted its terms"),
        ("house/closed", "hf_valid_only", HubFailed, "who has accepted its terms"),
    ],
)
def test_who_may_not_have_it_is_told_why(
    hub: Hub, where: Path, name: str, token: str, kind: type[HubFailed], says: str
) -> None:
    """And what helps: the name, the page where terms are accepted, a token."""
    hub.add("house/closed", Repo(dict(FILES), large=BIG, gated=True))
    hub.allowed.add(TOKEN)
    if token == "hf_valid_only":
        hub.allowed.add(token)
        closed = Fault(status=403, headers={"X-Error-Code": "GatedRepo"})
        hub.misbehave(FILE, closed)

    failed = failure(hub, where, name, token=token)

    assert (type(failed), says in failed.message) == (kind, True)
    assert f"{hub.url}/{name.partition('@')[0]}" in failed.hint
    assert ("HF_TOKEN" in failed.hint) == (not token and "@" not in name)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(status=429), "asked too much"),
        (Fault(status=503), "has trouble of its own (503)"),
        (Fault(status=418), "answers 418"),
        (Fault(status=404), "lists config.json of house/mini, and does not have it"),
        (Fault(status=206), "answers 206"),
        (Fault(status=200, headers={"Content-Encoding": "gzip"}), "answers compressed"),
        (Fault(cut=5), "ended the connection in the middle"),
    ],
)
def test_what_a_server_says_no_by(hub: Hub, where: Path, fault: Fault, says: str) -> None:
    """Each with who said it; nothing appears."""
    hub.misbehave(f"{SHA}/config.json", fault, fault)
    hub.misbehave(FILE, Fault())

    assert says in failure(hub, where).message
    assert not [path for path in where.iterdir() if not path.name.startswith(".")]


def test_a_description_without_end_is_not_taken_whole(hub: Hub, where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept in memory."""
    monkeypatch.setattr(web, "_MOST_JSON_BYTES", 300)

    assert "in more than 300 bytes" in failure(hub, where).message


def test_where_large_files_are_may_say_no(hub: Hub, store: Store, where: Path) -> None:
    """That is not the token's fault."""
    store.blobs.clear()

    failed = failure(hub, where)

    assert "where the hub keeps onnx/model.onnx, answers 403" in failed.message


def test_a_silent_server_is_not_waited_for(hub: Hub, store: Store, where: Path) -> None:
    """Neither for its first byte nor within a file; what has come is kept."""
    hub.open.clear()
    began = time.monotonic()
    first = failure(hub, where, silence_s=0.3)
    hub.open.set()
    store.misbehave("", Fault(silent_after=100_000))
    second = failure(hub, where, silence_s=0.3)

    assert "was silent for 0.3 s" in first.message and "was silent for 0.3 s" in second.message
    assert time.monotonic() - began < 5 and "--timeout" in first.hint
    assert want(hub, where).downloaded and store.asked[-1].headers["range"] == "bytes=100000-"


def test_without_a_network_it_says_so_at_once(where: Path) -> None:
    """A port where nobody listens, a name that means nothing."""
    began = time.monotonic()
    refused = failure(f"http://127.0.0.1:{free_port()}", where)
    nameless = failure("https://nobody.invalid", where)

    assert "cannot be reached (connection refused" in refused.message
    assert nameless.message == "nobody.invalid has no address here" and "network" in nameless.hint
    assert time.monotonic() - began < web._NAME_S + 2


def test_a_silent_name_server_is_not_waited_for(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing ends a look-up: it is left behind."""
    over = threading.Event()
    monkeypatch.setattr(web, "_NAME_S", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(20) and [])
    began = time.monotonic()

    failed = failure("https://hub.example", where)
    over.set()

    assert "has no address here" in failed.message and time.monotonic() - began < 5


def test_both_kinds_of_addresses_get_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many a few are tried."""
    six = [(socket.AF_INET6, 1, 6, "", (f"2001:db8::{n}", 443, 0, 0)) for n in range(1, 9)]
    four = [(socket.AF_INET, 1, 6, "", (f"192.0.2.{n}", 443)) for n in range(1, 9)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [*six, *four])
    with web.Hub("https://hub.example", None, silence_s=9) as client:
        assert client._numbers("hub.example", 443) == ["192.0.2.1", "2001:db8::1", "192.0.2.2", "2001:db8::2"]


def test_addresses_that_do_not_answer_share_the_time(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes no connection at any of them is given up after seconds, however many there are."""
    monkeypatch.setattr(web, "_CONNECT_S", 0.5)
    with socket.socket() as deaf, contextlib.ExitStack() as held:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(2):  # its queue is full then, and the next one waits for good
            waiting = held.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(deaf.getsockname())
        with web.Hub(f"http://localhost:{deaf.getsockname()[1]}", None, silence_s=9) as client:
            client._addresses["localhost", deaf.getsockname()[1]] = ["127.0.0.1"] * 4
            began = time.monotonic()
            with pytest.raises(HubFailed, match="does not answer"):
                client.describe(MINI)
    assert time.monotonic() - began < 2


def test_an_address_that_refuses_is_followed_by_the_next(
    hub: Hub, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a host has that is reached by one kind of address only; a name that means another machine is not asked."""
    known, asked = socket.getaddrinfo, set()

    def found(host: str, port: int, *more: int, **named: int) -> list[object]:
        asked.add(host)
        if host != "localhost":
            return list(known(host, port, *more, **named))
        numbers = ("192.0.2.1", "127.0.0.2", "127.0.0.1")
        return [(socket.AF_INET, 1, 6, "", (number, port)) for number in numbers]

    monkeypatch.setattr(socket, "getaddrinfo", found)

    assert want(f"http://localhost:{hub.port}", where).downloaded
    assert asked == {"localhost", "127.0.0.2", "127.0.0.1"}


def test_nothing_of_the_environment_counts(
    hub: Hub, where: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No proxy, and no password of a .netrc."""
    dead = f"http://127.0.0.1:{free_port()}"
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, dead)
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    assert want(hub, where).downloaded
    assert not [asked for asked in hub.asked if "authorization" in asked.headers or "cookie" in asked.headers]


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://hub.example",
        "ftp://hub.example",
        "hub.example",
        "https://me:x@hub.example",
        "https://hub.example/?a=b",
        "/",
    ],
)
def test_what_is_no_endpoint_is_refused(endpoint: str) -> None:
    """Before anything is sent; a token would go there."""
    with pytest.raises(UsageFailed):
        web.Hub(endpoint, None, silence_s=1)


def test_an_endpoint_may_be_below_a_path(hub: Hub) -> None:
    """As a mirror's is."""
    with web.Hub(f"{hub.url}/mirror/", None, silence_s=5) as client, pytest.raises(HubFailed):
        client.describe(web.Named("house", "mini", "refs/pr/1"))
    assert hub.paths() == ["/mirror/api/models/house/mini/revision/refs%2Fpr%2F1?blobs=true"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of localhost that nobody has signed but itself, and its key."""
    place = tmp_path_factory.mktemp("tls")
    made = str(place / "certificate.pem"), str(place / "key.pem")
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    try:
        subprocess.run(
            ["openssl", "req", "-x509", *kind, *subject, "-out", made[0], "-keyout", made[1]],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("no openssl here")
    return made


def test_certificates_are_checked(
    certificate: tuple[str, str], store: Store, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the usual ones and a file that is named, for the name that is asked; not what the environment says."""
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
    with Hub(store, certificate) as hub:
        named, other = f"https://localhost:{hub.port}", f"https://127.0.0.1:{hub.port}"
        said = []
        for endpoint, ca_file in ((named, ""), (other, certificate[0]), (named, certificate[0])):
            with web.Hub(endpoint, None, silence_s=5, ca_file=ca_file) as client, pytest.raises(HubFailed) as caught:
                client.describe(MINI)
            said.append("not one that is trusted" in caught.value.message)

    assert said == [True, True, False] and len(hub.asked) == 1
    with pytest.raises(UsageFailed, match="No such file"):
        web.Hub(named, None, silence_s=5, ca_file="/nowhere")


def test_a_connection_is_of_one_host(certificate: tuple[str, str], store: Store) -> None:
    """Another name at the same address is checked for itself, though a connection to there is kept open."""
    with Hub(store, certificate) as hub:
        endpoint, other = f"https://localhost:{hub.port}/x", f"https://other.example:{hub.port}/x"
        with web.Hub(endpoint, None, silence_s=5, ca_file=certificate[0]) as client:
            client._addresses["other.example", hub.port] = client._numbers("localhost", hub.port)
            assert client._sent(endpoint, client._checked(endpoint), {}).read() == b""
            with pytest.raises(HubFailed, match="not one that is trusted"):
                client._sent(other, client._checked(other), {})

"""Where keys are kept: a file that is ours alone from its first instant, or the keyring; neither shows one."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.errors
import pytest

from ctxprotocol import secrets
from ctxprotocol.errors import UsageFailed
from ctxprotocol.secrets import KeysUnusable

KEY = "sk-veryverysecretkey"


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory. `locked`: it fails; `forgetful`: it takes what it is given, and does not keep it."""

    priority = 5  # type: ignore[assignment]

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], str] = {}
        self.locked = self.forgetful = False

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()
        if not self.forgetful:
            self.held[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        self._open()
        return self.held.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        self._open()
        del self.held[service, username]

    def _open(self) -> None:
        if self.locked:
            raise keyring.errors.KeyringLocked(KEY)


@pytest.fixture(autouse=True)
def no_ring() -> Iterator[None]:
    """A machine without a keyring."""
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def ring(no_ring: None) -> Ring:
    """A machine with one."""
    found = Ring()
    keyring.set_keyring(found)
    return found


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "c" / "keys.json")


def found(path: str, name: str = "openai", variable: str = "", environ: dict[str, str] | None = None) -> str | None:
    secret = secrets.find(path, name, variable, environ or {})
    return secret.reveal() if secret is not None else None


def test_without_a_keyring_a_key_is_in_a_file_of_ours(path: str) -> None:
    """Mode 0600 under any umask, in a directory of 0700; it comes back, and can be replaced and removed."""
    before = os.umask(0)
    try:
        assert secrets.keep(path, "openai", "first") == "file"
        assert secrets.keep(path, "openai", KEY) == "file"
        secrets.keep(path, "voyage", "other")
    finally:
        os.umask(before)

    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert (found(path), found(path, "voyage")) == (KEY, "other")
    assert secrets.names(path) == {"openai": "file", "voyage": "file"}
    assert (secrets.remove(path, "openai"), secrets.remove(path, "openai")) == ("file", None)
    assert os.listdir(os.path.dirname(path)) == ["keys.json"]


def test_a_keyring_that_is_worth_it_goes_before_the_file(path: str, ring: Ring) -> None:
    """The file then only says so, and forgets what it held."""
    Path(path).parent.mkdir()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    secrets.keep(path, "openai", "old")
    keyring.set_keyring(ring)

    assert secrets.keep(path, "openai", KEY) == "keyring"

    assert ring.held == {("ctx", "openai"): KEY}
    assert json.loads(Path(path).read_text()) == {"keys": {"openai": {"kept": "keyring"}}}
    assert found(path) == KEY
    assert secrets.remove(path, "openai") == "keyring"
    assert ring.held == {}


def test_a_keyring_that_is_locked_or_poor_is_not_used(path: str, ring: Ring) -> None:
    """The key goes into the file; one that is in the keyring is asked for in words that do not show it."""
    secrets.keep(path, "openai", KEY)
    ring.locked = True
    assert secrets.keep(path, "voyage", "other") == "file"
    with pytest.raises(KeysUnusable, match="keyring does not give out the key of openai") as caught:
        found(path)
    assert KEY not in str(caught.value) and caught.value.__cause__ is None
    keyring.set_keyring(keyring.backends.fail.Keyring())
    with pytest.raises(KeysUnusable, match="there is none here"):
        found(path)


def test_a_keyring_that_does_not_keep_a_key_is_not_believed(path: str, ring: Ring) -> None:
    """The file has it then, and what the keyring still holds of that name is taken out."""
    secrets.keep(path, "openai", "old")
    ring.forgetful = True

    assert secrets.keep(path, "openai", KEY) == "file"

    assert found(path) == KEY
    assert ring.held == {}


def test_a_key_that_was_set_goes_before_the_environment(path: str) -> None:
    """And a variable counts only if it is named."""
    environ = {"OPENAI_API_KEY": KEY}
    assert found(path, "openai", "OPENAI_API_KEY", environ) == KEY
    assert found(path, "openai", "", environ) is None
    assert repr(secrets.find(path, "openai", "OPENAI_API_KEY", environ)) == "Secret(from environment: OPENAI_API_KEY)"
    secrets.keep(path, "openai", "stored")
    assert found(path, "openai", "OPENAI_API_KEY", environ) == "stored"


@pytest.mark.parametrize("value", ["two words", "schlüssel", "x" * 5000])
def test_what_a_variable_holds_must_be_a_key_too(path: str, value: str) -> None:
    """It goes into a header; the variable is named, and what it holds is not shown."""
    with pytest.raises(KeysUnusable, match=r"environment: HOUSE_KEY") as caught:
        found(path, "house", "HOUSE_KEY", {"HOUSE_KEY": value})
    assert value not in str(caught.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666, 0o700 | 0o011])
def test_a_file_that_lets_others_in_is_refused(path: str, mode: int) -> None:
    """For reading and for writing; the mode and what to do are said."""
    secrets.keep(path, "openai", KEY)
    os.chmod(path, mode)
    for attempt in (lambda: found(path), lambda: secrets.keep(path, "voyage", "x"), lambda: secrets.names(path)):
        with pytest.raises(KeysUnusable, match=f"mode {mode:o}"):
            attempt()
    assert KEY in Path(path).read_text()


def test_a_file_of_another_user_is_refused(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns it can read and change it."""
    secrets.keep(path, "openai", KEY)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(KeysUnusable, match="another user"):
        found(path)


@pytest.mark.parametrize("text", [KEY.encode(), b'{"keys": {"openai": "' + KEY.encode() + b'"}}', b"\xff\xfe", b"[]"])
def test_a_file_that_is_none_of_keys_is_not_quoted(path: str, text: bytes) -> None:
    """Nor overwritten."""
    Path(path).parent.mkdir()
    Path(path).write_bytes(text)
    os.chmod(path, 0o600)
    for attempt in (lambda: found(path), lambda: secrets.keep(path, "voyage", "x")):
        with pytest.raises(KeysUnusable) as caught:
            attempt()
        assert KEY not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
    assert Path(path).read_bytes() == text


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_only_a_plain_file_is_read(path: str, kind: str, tmp_path: Path) -> None:
    """A link may lead anywhere, and a pipe would hold us up."""
    Path(path).parent.mkdir()
    if kind == "link":
        secrets.keep(str(tmp_path / "real.json"), "openai", KEY)
        os.symlink(tmp_path / "real.json", path)
    elif kind == "directory":
        os.mkdir(path, 0o700)
    else:
        os.mkfifo(path, 0o600)
    with pytest.raises(KeysUnusable):
        found(path)


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "schlüssel", "x" * 5000])
def test_what_cannot_be_a_key_is_refused(path: str, key: str) -> None:
    """Before it is kept, and without being shown."""
    with pytest.raises(UsageFailed) as caught:
        secrets.keep(path, "openai", key)
    assert not key or key not in str(caught.value)
    assert not os.path.exists(path)


def test_who_holds_the_file_is_waited_for(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a while; then it is said, and nothing was changed."""
    secrets.keep(path, "openai", KEY)
    monkeypatch.setattr(secrets, "_TURN_S", 0.1)
    with open(path) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(KeysUnusable, match="another program is changing"):
            secrets.keep(path, "openai", "new")
    assert found(path) == KEY


def test_a_file_that_was_replaced_meanwhile_is_locked_anew(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening it and holding it another program may be done with its change: that is not lost."""
    secrets.keep(path, "openai", KEY)
    flock, done = fcntl.flock, []

    def late(descriptor: int, how: int) -> None:
        if not done:
            done.append(True)
            secrets.keep(path, "voyage", "other")
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    before = secrets._locked(path)
    assert before is None
    secrets.keep(path, "gemini", "third")
    assert set(secrets.names(path)) == {"openai", "voyage", "gemini"}


def test_writers_take_turns(path: str) -> None:
    """None of twenty that write at once is lost; what one who died has left is no hindrance."""
    threads = [threading.Thread(target=secrets.keep, args=(path, f"p{number}", KEY)) for number in range(20)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(secrets.names(path)) == 20
    Path(f"{path}.new").touch()
    secrets.keep(path, "late", KEY)
    assert "late" in secrets.names(path)


def test_a_failed_write_keeps_the_old_keys(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves nothing behind."""
    secrets.keep(path, "openai", KEY)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(KeysUnusable, match="No space left"):
        secrets.keep(path, "openai", "new")
    monkeypatch.undo()
    assert found(path) == KEY
    assert os.listdir(os.path.dirname(path)) == ["keys.json"]

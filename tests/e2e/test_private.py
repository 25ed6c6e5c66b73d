"""P7: secrets, links, other people's programs, other people. Byte searches go over all that the daemon wrote."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ctxprotocol import endpoint
from tests.home import Home
from tests.link import Link
from tests.tree import Tree

CANARY = "CANARY" + "7f3a9c"


def places_of(top: str, needle: bytes) -> list[str]:
    """Return the files below `top` that hold `needle`."""
    found = []
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode) and needle in Path(path).read_bytes():
                found.append(path)
    return found


SECRET_FILES = {
    ".env": f"KEY={CANARY}\n",
    ".env.production": f"KEY={CANARY}\n",
    "config/.netrc": f"machine x login y password {CANARY}\n",
    ".npmrc": f"//registry/:_authToken={CANARY}\n",
    ".pypirc": f"[pypi]\npassword = {CANARY}\n",
    "id_rsa": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n-----END OPENSSH PRIVATE KEY-----\n",
    "server.pem": f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\n",
    ".aws/credentials": f"[default]\naws_secret_access_key = {CANARY}\n",
    "store.p12": CANARY,
}


def test_secret_files_are_in_no_answer_table_or_log(ctx: Home, repo: Tree) -> None:
    """B059: tracked, created while running, renamed from a harmless name: 0 hits in output and state."""
    repo.write("a.py", "def api_key(): pass\n")
    repo.write(".env.example", "KEY=put_yours_here\n")
    for path, text in SECRET_FILES.items():
        repo.write(path, text)
    repo.git("add", "-Af")
    repo.git("commit", "-qm", "secrets")

    shown = [ctx.run("find", "--json", "--full", text, cwd=repo.root).stdout for text in ("api key", CANARY)]
    repo.write(".env.local", f"KEY={CANARY}\n")
    shown.append(ctx.run("query", CANARY, cwd=repo.root).stdout)
    shown.append(ctx.run("find", "--json", "--full", "put_yours_here", cwd=repo.root).stdout)
    skipped = ctx.run("status", "--skipped", "--json", cwd=repo.root).stdout
    ctx.run("daemon", "stop", cwd="/")

    assert not [text for text in shown if '"file":".env"' in text or f"KEY={CANARY}" in text]
    assert ".env.example" in shown[-1], "the example is no secret"
    assert not [path for path in SECRET_FILES if path not in skipped]
    assert places_of(ctx.path, CANARY.encode()) == []


def test_tokens_inside_code_are_masked(ctx: Home, repo: Tree) -> None:
    """The function is found, the token that stands in it is not, in no file of the state directory."""
    token = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
    repo.write("a.py", f'def client():\n    return login("{token}")\n')

    shown = ctx.run("find", "--json", "--full", "client", cwd=repo.root).stdout
    ctx.run("daemon", "stop", cwd="/")

    assert "def client" in shown and token not in shown
    assert places_of(ctx.path, token.encode()) == []


def test_links_lead_nowhere(ctx: Home, repo: Tree, tmp_path: Path) -> None:
    """B061: a loop ends, nothing outside the root is served, and status lists the links."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/o.py").write_text("def outside_fn(): pass\n")
    repo.write("a.py", "def inside_fn(): pass\n")
    os.symlink(".", repo.path("loop"))
    os.symlink(tmp_path / "other/o.py", repo.path("h.py"))
    os.symlink("../other", repo.path("ext"))

    names = {row["name"] for row in ctx.json("symbols", "*_fn", cwd=repo.root)["results"]}
    status = ctx.run("status", "--skipped", "--json", cwd=repo.root).stdout

    assert names == {"inside_fn"}
    assert '"h.py"' in status and '"ext"' in status
    assert places_of(ctx.path, b"outside_fn") == []


def test_special_files_are_never_opened(ctx: Home, repo: Tree) -> None:
    """A FIFO without a writer would hold whoever opens it."""
    repo.write("a.py", "def beside_a_pipe(): pass\n")
    os.mkfifo(repo.path("pipe.py"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(repo.path("s.py")))

        done = ctx.json("symbols", "beside_a_pipe", cwd=repo.root, timeout=20)

    assert [row["file"] for row in done["results"]] == ["a.py"]


def test_a_repository_runs_nothing(ctx: Home, repo: Tree, tmp_path: Path) -> None:
    """B065: fsmonitor, hooks, filters, textconv, pager, editor: no canary is made by indexing or asking."""
    canary = tmp_path / "canary"
    program = repo.write("evil.sh", f"#!/bin/sh\necho ran >> '{canary}'\ncat\n")
    program.chmod(0o755)
    repo.write("a.py", "def honest(): pass\n")
    repo.write(".gitattributes", "*.py filter=evil diff=evil\n")
    repo.commit()
    canary.unlink(missing_ok=True)
    keys = ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external", "diff.evil.textconv")
    for key in (*keys, "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.hooksPath"):
        repo.git("config", key, str(repo.path(".hooks") if key == "core.hooksPath" else program))
    for hook in ("post-index-change", "post-checkout", "fsmonitor-watchman", "query-watchman"):
        repo.write(f".hooks/{hook}", program.read_text()).chmod(0o755)

    for args in (["query", "honest"], ["update"], ["update", "--full"], ["status"], ["files"], ["doctor"]):
        ctx.run(*args, cwd=repo.root)
    repo.write("b.py", "def new_one(): pass\n")
    found = ctx.json("symbols", "new_one", cwd=repo.root)["results"]

    assert [row["file"] for row in found] == ["b.py"]
    assert not canary.exists(), canary.read_text()


def test_a_repository_cannot_shadow_our_modules(ctx: Home, repo: Tree, tmp_path: Path) -> None:
    """A daemon that is started from a repository with its own asyncio.py loads the real one."""
    canary = tmp_path / "canary"
    for name in ("asyncio", "msgspec", "ctxd", "json", "click"):
        repo.write(f"{name}.py", f"open({str(canary)!r}, 'w')\n")

    done = ctx.run("find", "anything", cwd=repo.root, env={"PYTHONPATH": ""})

    assert done.returncode in (0, 1), done.stderr
    assert not canary.exists()


def test_modes_are_private_whatever_the_umask(ctx: Home, repo: Tree) -> None:
    """B086: umask 000, and still every directory is 0700, every file and the socket 0600."""
    repo.write("a.py", "def a(): pass\n")
    before = os.umask(0)
    try:
        assert ctx.run("find", "a", cwd=repo.root).returncode == 0
    finally:
        os.umask(before)

    modes = {
        os.path.join(folder, name): stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode)
        for folder, folders, names in os.walk(ctx.path)
        for name in (*folders, *names)
    }
    assert stat.S_IMODE(os.lstat(ctx.path).st_mode) == 0o700
    assert len(modes) > 4 and not {path: oct(mode) for path, mode in modes.items() if mode & 0o077}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_another_user_is_refused(ctx: Home, repo: Tree) -> None:
    """Uid 65534 cannot connect; when the directories are opened to it, the peer check still refuses."""
    repo.write("a.py", "def a(): pass\n")
    assert ctx.run("find", "a", cwd=repo.root).returncode == 0
    path = endpoint.socket_path(ctx.path)
    code = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.settimeout(5)\n"
        "try:\n    s.connect(sys.argv[1])\nexcept PermissionError:\n    print('not permitted'); sys.exit()\n"
        "try:\n    s.sendall(bytes.fromhex(sys.argv[2]))\n    got = s.recv(65536)\n"
        "except ConnectionError:\n    got = b''\n"
        "print('welcome' if b'welcome' in got else 'refused')\n"
    )
    hello = endpoint_hello().hex()

    def attempt() -> str:
        command = [sys.executable, "-c", code, path, hello]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout.strip()

    closed = attempt()
    os.chmod(ctx.place, 0o755)
    os.chmod(ctx.path, 0o755)
    os.chmod(path, 0o666)
    opened = attempt()

    assert (closed, opened) == ("not permitted", "refused")
    with Link(ctx.path) as link:
        assert link.symbols(repo.root, "a")["results"]


def endpoint_hello() -> bytes:
    """Return the greeting of a client of this version as bytes."""
    from ctxprotocol import framing
    from ctxprotocol.messages import Hello

    return framing.pack(Hello(protocol=endpoint.PROTOCOL_VERSION, version=endpoint.VERSION))

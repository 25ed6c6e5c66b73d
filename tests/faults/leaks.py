"""R34: secrets. None is in any file of the state directory, packed or not, nor in any output, nor in a core file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import string
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import psutil

from ctxd import packing
from tests.faults.lab import Lab, Row, Size

ROUNDS = {"ci": 1, "release": 10, "nightly": 100}
WORD = string.ascii_letters + string.digits
# Files of nine kinds; each holds a canary of its own.
FILES = {
    ".env": "KEY={0}\n",
    "deploy/.env.production": "export KEY='{0}'\n",
    "id_ed25519": "-----BEGIN OPENSSH PRIVATE KEY-----\n{0}\n-----END OPENSSH PRIVATE KEY-----\n",
    "tls/server.key": "{0}\n",
    ".netrc": "machine example.org login me password {0}\n",
    ".npmrc": "//registry.example.org/:_authToken={0}\n",
    ".aws/credentials": "[default]\naws_secret_access_key = {0}\n",
    "service-account.json": '{{"private_key_id": "{0}"}}\n',
    "android/release.jks": "{0}\n",
}
# Tokens in lines of code; the part in brackets of `spell` is what must not be found.
TOKENS = {
    "github": "ghp_{36}",
    "gitlab": "glpat-{24}",
    "slack": "xoxb-1234567890-{24}",
    "stripe": "sk_live_{28}",
    "npm": "npm_{36}",
    "aws": "AKIA{16U}",
    "google": "AIza{35}",
    "jwt": "eyJhbGciOiJIUzI1.eyJzdWIiOiIx{20}.{30}",
    "url": "postgres://me:{20}@db.example.org/x",
    "named": "{32}",
}
LINES = {
    "a.py": 'def connect_{n}():\n    return login("{token}")\n',
    "b.js": 'const apiKey = "{token}"; // token of {n}\n',
    "c.yaml": "service:\n  api_token: {token}\n",
    "d.md": '# Notes {n}\n\nUse `password = "{token}"` here.\n',
    "e.go": 'package p\n\nvar secretKey = "{token}" // {n}\n',
    "f.toml": 'auth_token = "{token}"\n',
}
# How a zlib stream begins, by its level, and the same with a dictionary.
PACKED = tuple(bytes((0x78, flags)) for flags in (0x01, 0x5E, 0x9C, 0xDA, 0x20, 0x7D, 0xBB, 0xF9))
WHOLE = 1 << 30
COMMANDS = (
    ("query", "login connect token password"),
    ("find", "--full", "api_key secret"),
    ("find", "--full", "--json", "auth token"),
    ("symbols", "--json"),
    ("files", "--json"),
    ("status", "--skipped", "--json"),
    ("daemon", "status"),
    ("daemon", "logs", "-n", "1000"),
    ("repos",),
    ("doctor",),
)


def leaks(size: Size, seed: int, bin: str) -> Row:
    """Each round: new secrets in every place, asked for in every way; then every byte is looked at, twice."""
    row = Row("R34", f"{len(FILES)} kinds of secret files, {len(TOKENS)} inline tokens", seed)
    for number in range(ROUNDS[size.name]):
        with Lab(seed + number, bin) as lab:
            secrets = plant(lab)
            Path(lab.home.path).mkdir(mode=0o700)
            Path(lab.home.path, "config.toml").write_text('daemon.log_level = "debug"\n')
            shown = ask_everything(lab, secrets)
            for kind, secret in secrets.items():
                row.count(f"{kind} in the output: {secret}" if contains(shown, secret) else "")
            row.count(dumps_core(lab))
            # As a power cut leaves it, logs included; then as the end leaves it.
            lab.hang_up()
            lab.home.kill()
            for fault in search(lab, secrets, "killed"):
                row.count(fault)
            lab.home.run("find", "connect", cwd=lab.tree.root)
            lab.home.run("daemon", "stop", cwd="/")
            for fault in search(lab, secrets, "stopped"):
                row.count(fault)
    return row


def spell(random: Random, pattern: str) -> tuple[str, str]:
    """Return a token of this pattern, and its longest random part."""
    parts = [""]
    text = ""
    for piece in pattern.replace("{", "\0{").replace("}", "\0").split("\0"):
        if piece.startswith("{"):
            upper = piece.endswith("U")
            alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" if upper else WORD
            piece = "".join(random.choice(alphabet) for _ in range(int(piece[1:].rstrip("U")) - 4))
            # Two digits and both cases, as chance may leave them out.
            piece += "A7X2" if upper else "a7X2"
            parts.append(piece)
        text += piece
    return text, max(parts, key=len)


def plant(lab: Lab) -> dict[str, str]:
    """Write the tree; return each secret by what it is."""
    secrets = {}
    for path, text in FILES.items():
        secrets[path] = "".join(lab.random.choice(WORD) for _ in range(40))
        lab.tree.write(path, text.format(secrets[path]))
    for number, (kind, pattern) in enumerate(TOKENS.items()):
        token, secrets[kind] = spell(lab.random, pattern)
        for path, line in LINES.items():
            bare = kind == "named" and path in ("a.py", "d.md")
            if not bare:  # only its name says that it is one
                lab.tree.write(f"t{number}/{path}", line.format(token=token, n=number))
    lab.tree.write("harmless.py", "def harmless(): pass\n")
    lab.tree.git("add", "-Af")
    lab.tree.git("commit", "-qm", "all")
    return secrets


def ask_everything(lab: Lab, secrets: dict[str, str]) -> bytes:
    """Run all commands, rename and create secrets while the daemon runs, ask for each; return all that was shown."""
    said = [lab.home.run(*command, cwd=lab.tree.root) for command in COMMANDS]
    os.rename(lab.tree.path("harmless.py"), lab.tree.path("harmless2.py"))
    lab.tree.write("notes.txt", f"API_TOKEN={secrets['named']}\n")
    lab.tree.write(".env.local", f"KEY={secrets['.env']}\n")
    os.rename(lab.tree.path(".env.local"), lab.tree.path(".env.local2"))
    said.append(lab.home.run("update", "--full", cwd=lab.tree.root))
    said += [lab.home.run(*command, cwd=lab.tree.root) for command in COMMANDS]
    for secret in secrets.values():
        # A question is said back to who asked it, so only the code may be looked at.
        found = lab.home.run("find", "--full", "--json", secret[:16], cwd=lab.tree.root)
        said.append(found)
    texts = [done.stdout + done.stderr for done in said]
    places = ("t0/a.py", "t5/c.yaml", "t9/f.toml")
    texts += [lab.home.run("chunk", f"{place}:2", cwd=lab.tree.root).stdout for place in places]
    return "\n".join(map(unasked, texts)).encode("utf-8", "surrogateescape")


def unasked(text: str) -> str:
    """Return the output of a command without the question that JSON repeats."""
    if not text.startswith("{"):
        return text
    answer = json.loads(text)
    answer.pop("query", None)
    return json.dumps(answer)


def contains(data: bytes, secret: str) -> bool:
    """Say whether the secret is there, in any case, or either half of it."""
    lowered, needle = data.lower(), secret.lower().encode()
    half = max(12, len(needle) // 2)
    return needle[:half] in lowered or needle[-half:] in lowered


def dumps_core(lab: Lab) -> str:
    """Neither the daemon nor a worker may leave a core file."""
    for process in (psutil.Process(lab.home.pid), *psutil.Process(lab.home.pid).children(recursive=True)):
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        (line,) = (line for line in limits.splitlines() if line.startswith("Max core file size"))
        if line.split()[4] != "0":
            return f"pid {process.pid}: {line}"
    return ""


def search(lab: Lab, secrets: dict[str, str], when: str) -> Iterator[str]:
    """Give one verdict for each secret: the first place where it is, or nothing."""
    pieces = [(path, data) for path in files_below(lab.home.path) for data in everything(path)]
    assert any(b"return login(" in data for _, data in pieces), "the search does not see what is packed"
    for kind, secret in secrets.items():
        hit = next((path for path, data in pieces if contains(data, secret)), "")
        yield f"{when}: {kind} in {hit}: {secret}" if hit else ""


def files_below(top: str) -> Iterator[str]:
    for folder, _, names in os.walk(top):
        yield from (os.path.join(folder, name) for name in names if not name.endswith((".sock", "config.toml")))


def everything(path: str) -> Iterator[bytes]:
    """Give the bytes of a file, and of each value where it is a database, unpacked as often as they are packed."""
    data = Path(path).read_bytes()
    yield data
    if not data.startswith(b"SQLite format 3\0"):
        return
    with tempfile.TemporaryDirectory(prefix="ctx-look-", dir="/tmp") as folder:
        for suffix in ("", "-wal"):
            if os.path.exists(path + suffix):
                shutil.copy(path + suffix, f"{folder}/x.db{suffix}")
        connection = sqlite3.connect(f"{folder}/x.db")
        try:
            yield from values(connection)
        finally:
            connection.close()


def values(connection: sqlite3.Connection) -> Iterator[bytes]:
    connection.text_factory = bytes
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type='table' AND sql NOT LIKE '%VIRTUAL%'")
    for (name,) in tables.fetchall():
        for row in connection.execute(f'SELECT * FROM "{name.decode()}"'):
            for value in row:
                if isinstance(value, bytes):
                    yield from unpacked(value)


def unpacked(data: bytes, depth: int = 3) -> Iterator[bytes]:
    """Give `data` and every zlib stream in it, with and without the dictionary of stored texts."""
    yield data
    if depth:
        for head in PACKED:
            at = data.find(head)
            while at >= 0:
                if (found := inflated(data[at:])) is not None:
                    yield from unpacked(found, depth - 1)
                at = data.find(head, at + 1)


def inflated(data: bytes) -> bytes | None:
    for inflate in (zlib.decompressobj().decompress, lambda body: packing.unpack_beginning(body, WHOLE)[0]):
        with contextlib.suppress(zlib.error):
            return inflate(data)
    return None

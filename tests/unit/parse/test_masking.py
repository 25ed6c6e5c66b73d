"""Inline secrets become stars of the same length, and ordinary code is left alone."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxd.parse.masking import mask


def _random(length: int, alphabet: str = "") -> str:
    """Characters that look drawn by chance; put together here so that no scanner finds secrets in this file."""
    text = base64.b64encode(hashlib.sha512(b"seed").digest() * 4).decode().replace("/", "x").replace("+", "y")
    return "".join(alphabet[ord(c) % len(alphabet)] for c in text[:length]) if alphabet else text[:length]


UPPER = "ABCDEFGHJKLMNPQRSTUVWXYZ234567"
TOKENS = [
    "AKIA" + _random(16, UPPER),
    "ghp_" + _random(36),
    "github_pat_" + _random(82),
    "glpat-" + _random(20),
    "xoxb-" + "123456789012-" + _random(24),
    "sk_live_" + _random(24),
    "AIza" + _random(35),
    "sk-proj-" + _random(48),
    "npm_" + _random(36),
    "eyJ" + _random(20) + ".eyJ" + _random(40) + "." + _random(43),
]


@pytest.mark.parametrize("token", TOKENS)
def test_known_formats(token: str) -> None:
    """A token that its issuer made recognisable is hidden wherever it stands; what is around it stays."""
    assert mask(f'call("{token}")  # größer\n') == f'call("{"*" * len(token)}")  # größer\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('password = "', '"\n'),
        ("api_key: '", "',\n"),
        ('"clientSecret": "', '"}\n'),
        ("AWS_SECRET_ACCESS_KEY=", "\n"),
        ("  auth_token: ", "\r\n"),
        ("config['db_password'] = '", "'\n"),
        ("$secret => `", "`\n"),
        ('private_key := "', '"\n'),
    ],
)
def test_assigned_values(before: str, after: str) -> None:
    """A value of high entropy that is assigned to a secret's name is hidden, quoted or bare."""
    assert mask(before + _random(40) + after) == before + "*" * 40 + after


def test_password_in_a_url() -> None:
    """The password of a URL is hidden, user and host are not."""
    assert mask("postgres://app:h4nt3rs-moon@db:5432/x") == "postgres://app:************@db:5432/x"


@pytest.mark.parametrize("kind", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"])
def test_private_key_block(kind: str) -> None:
    """The body of a PEM block is hidden line by line; its markers and line breaks stay."""
    body = "\n".join([_random(64), _random(64), _random(20) + "=="])
    text = f'KEY = """\n-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n"""\n'

    masked = mask(text)

    assert masked == text.replace(body, f"{'*' * 64}\n{'*' * 64}\n{'*' * 22}")


@pytest.mark.parametrize(
    "text",
    [
        'password = "hunter2"\n',
        'password = os.environ["DATABASE_PASSWORD_2024"]\n',
        'token = "{% csrf_token %}-1234567890abcdef"\n',
        'api_key = "YOUR-API-KEY-1234567890"\n',
        "SECRET_KEY = 'django-insecure-9x#k2m$1a8b7c6d5e4f3'\n",
        'AWS = "AKIAXXXXXXXXXXXXXXXX"\n',
        "url = 'http://user:password@example.com:8080/'\n",
        'if pem.startswith("-----BEGIN PRIVATE KEY-----"):\n    end = pem.index("-----END PRIVATE KEY-----")\n',
        "token = get_random_string_of_length_32_and_more\n",
        'reset_password_token: "auth.tokens.PasswordResetTokenGenerator"\n',
        'commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"\n',
        "task-0123456789abcdef0123456789abcdef0123\n",
        "https://example.com:8080/a@b\n",
        "std::map<int, std::pair<int, int>> secrets;\n",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Placeholders, names, lookups, digests and code about secrets are no secrets."""
    assert mask(text) == text


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from([*TOKENS, "password = '", "'", "\n", "é😀", "://a:", "@", "İ", "secret=", "x1"]), max_size=12
    )
)
def test_masking_keeps_characters_bytes_and_lines(pieces: list[str]) -> None:
    """Whatever is hidden, length in characters and in bytes and every line break stay; hiding again changes nothing."""
    text = "".join(pieces)

    masked = mask(text)

    assert len(masked) == len(text)
    assert len(masked.encode()) == len(text.encode())
    assert [i for i, c in enumerate(masked) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
    assert all(m in (t, "*") for m, t in zip(masked, text, strict=True))
    assert mask(masked) == masked

"""The user's configuration file: what it may say, and how a fault in it is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxd.config import KEYS, Config, ConfigFile, config_path, parse
from ctxprotocol.errors import ConfigInvalid


def test_values_arrive_under_their_keys() -> None:
    """Tables and dotted keys are the same to TOML, and to us."""
    text = 'search.limit = 7\n[index]\nignore = ["gen/"]\nfollow_symlinks = true\n'
    config = parse(text, "c.toml")
    assert (config.search_limit, config.index_ignore, config.index_follow_symlinks) == (7, ("gen/",), True)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("search.limt = 7", "unknown key search.limt", "did you mean search.limit?"),
        ("search.limit = 0", "search.limit is 0", "it takes a number from 1 to 1000"),
        ('search.limit = "7"', "search.limit is '7'", "it takes a number from 1 to 1000"),
        ("search.limit = true", "search.limit is True", "it takes a number from 1 to 1000"),
        ("index.ignore = [1]", "index.ignore holds something that is not a string", ""),
        ('daemon.log_level = "loud"', "daemon.log_level is 'loud'", "it takes one of debug, info, warning, error"),
        ("search.limit = = 1", "Invalid value (at line 1, column 16)", "mend the file or move it away"),
    ],
)
def test_a_fault_names_file_key_and_remedy(text: str, message: str, hint: str) -> None:
    """Nothing in the file is dropped without a word."""
    with pytest.raises(ConfigInvalid) as caught:
        parse(text, "c.toml")
    assert (caught.value.message, caught.value.hint) == (f"c.toml: {message}", hint)


def test_every_key_is_a_field_and_every_default_passes_its_check() -> None:
    """KEYS and Config say the same."""
    assert {key.replace(".", "_") for key in KEYS} == set(Config.__struct_fields__)
    for key, known in KEYS.items():
        value = getattr(Config(), key.replace(".", "_"))
        assert known.allows(value)


def test_a_changed_file_counts_from_the_next_look(tmp_path: Path) -> None:
    """No restart, also not to take a fault back; meanwhile the daemon itself goes on with the last good values."""
    file = ConfigFile(str(tmp_path / "config.toml"))
    before = file.current().search_limit
    (tmp_path / "config.toml").write_text("search.limit = 9")
    assert (before, file.current().search_limit) == (5, 9)
    (tmp_path / "config.toml").write_text("search.limit = what")
    with pytest.raises(ConfigInvalid):
        file.current()
    assert file.last_good().search_limit == 9
    os.unlink(tmp_path / "config.toml")
    assert file.current().search_limit == 5


def test_all_state_moves_with_ctx_home() -> None:
    """Under CTX_HOME the file lies beside the state; elsewhere where the platform keeps a user's configuration."""
    assert config_path("/h", {"CTX_HOME": "/h"}) == "/h/config.toml"
    assert config_path("/h", {}).endswith("config.toml")

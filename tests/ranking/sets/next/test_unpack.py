"""The sources out of a package's maps: whose they are, and that none leaves the folder."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from tests.ranking.sets.next.unpack import cleaned, unpack


def package(path: Path, maps: dict[str, dict[str, object]]) -> Path:
    """Write a tarball as npm packs it."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in maps.items():
            data = json.dumps(content).encode()
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("../../../src/server/config.ts", "src/server/config.ts"),
        ("webpack://next/./src/lib/url.ts", "src/lib/url.ts"),
        ("../src/app/[...slug]/page.tsx", "src/app/[...slug]/page.tsx"),
    ],
)
def test_own_sources_lose_their_way_up(source: str, path: str) -> None:
    """A name in a map is relative to the map; the tree is relative to `src`."""
    assert cleaned(source) == path


@pytest.mark.parametrize(
    "source",
    [
        "../../src/../../../etc/passwd",
        "src/./a.ts",
        "src//a.ts",
        "src/",
        "src",
        "/src/a.ts",
        "src/a\\..\\..\\b.ts",
        "src/C:/a.ts",
        "src/a.css?cb78",
        "src/a\n.ts",
        "src/node_modules/x/index.js",
        "webpack://next/./dist/compiled/react/index.js",
        "webpack://next/../../node_modules/.pnpm/x/src/a.js",
        "webpack/runtime/define_property_getters",
    ],
)
def test_other_names_are_dropped(source: str) -> None:
    """What is not the package's own, or would lead elsewhere, has no path."""
    assert cleaned(source) is None


def test_a_package_is_laid_out_once_per_path(tmp_path: Path) -> None:
    """Single maps come before bundles, sources without text are passed over, nothing is written outside."""
    tarball = package(
        tmp_path / "next.tgz",
        {
            "dist/compiled/x/index.js.map": {
                "sources": ["webpack://next/./src/a.ts", "webpack://next/./src/ui.tsx"],
                "sourcesContent": ["of the bundle", "ui\r\n"],
            },
            "dist/server/a.js.map": {
                "sources": ["../../src/a.ts", "../../src/b.ts", "../../src/../../c.ts"],
                "sourcesContent": ["alone", None, "outside"],
            },
            "dist/server/d.js.map": {"sources": ["../../src/d.ts"]},
            "other/e.js.map": {"sources": ["../src/e.ts"], "sourcesContent": ["not of dist"]},
        },
    )

    assert unpack(tarball, tmp_path / "out" / "next") == 2

    assert (tmp_path / "out/next/src/a.ts").read_bytes() == b"alone"
    assert (tmp_path / "out/next/src/ui.tsx").read_bytes() == b"ui\r\n"
    written = [str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file()]
    assert sorted(written) == ["next.tgz", "out/next/src/a.ts", "out/next/src/ui.tsx"]

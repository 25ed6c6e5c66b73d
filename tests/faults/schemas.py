"""R27: indexes and registries of other versions, vectors of another model.

An index is built anew unasked, vectors are made anew in the background; the registry alone is migrated.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw

from ctxd.store.registry import MIGRATIONS
from ctxd.store.schema import SCHEMA_VERSION
from ctxprotocol.messages import Init, Status
from tests.faults import copies
from tests.faults.compare import index_files, problems_of
from tests.faults.disks import set_aside
from tests.faults.lab import Lab, Row, Size
from tests.faults.models import AT_ONCE, HashModel, Place, build, snapshot_of, vectors_of
from tests.processes import wait_until

Trial = Callable[[Lab, Row], str]

FILES = 30
# What a text takes, so that it can be seen what is answered meanwhile.
PAUSE_S = 0.02
VECTORS_S = 60.0
GLANCE_S = 0.1
# How often all trials are made.
ROUNDS = {"ci": 1, "release": 5, "nightly": 20}


def schemas(size: Size, seed: int, bin: str) -> Row:
    """Stamp files with other versions, and let installations of other versions meet in one state directory."""
    row = Row("R27", "schemas: index and registry of other versions", seed)
    stamps: tuple[int, ...] = (SCHEMA_VERSION - 1, SCHEMA_VERSION - 2, SCHEMA_VERSION + 1, 0)
    trials: list[Trial] = [partial(stamped, version=version) for version in stamps]
    trials += [registry_newer, registry_without_stamp]
    with tempfile.TemporaryDirectory(prefix="ctx-schemas-", dir="/tmp") as folder:
        if size.name == "ci":
            trials = trials[2:]
        else:
            them = Installations(Path(folder), bin)
            trials += [partial(older_and_newer, them=them), partial(registry_migrated, them=them)]
        for trial in trials * ROUNDS[size.name]:
            row.count(tried(seed, bin, row, trial))
        by_hashes = build(Path(folder, "hashes"), bin, AT_ONCE)
        for number in range(ROUNDS[size.name]):
            for running in (True, False):
                models = [HashModel(Path(folder, f"{number}{running}", name), PAUSE_S) for name in ("former", "later")]
                row.count(tried(seed, by_hashes, row, partial(other_model, models=models, running=running)))
    return row


class Installations:
    """The same program but for the version of its index, and with one more step of its registry."""

    def __init__(self, folder: Path, bin: str) -> None:
        source = copies.source_of(bin)

        def copy(name: str, *edits: copies.Edit) -> Path:
            return copies.build(folder / name, edits, source)

        number = f"SCHEMA_VERSION = {SCHEMA_VERSION}"
        self.older = copy("older", ("ctxd/store/schema.py", number, f"SCHEMA_VERSION = {SCHEMA_VERSION - 1}"))
        self.newer = copy("newer", ("ctxd/store/schema.py", number, f"SCHEMA_VERSION = {SCHEMA_VERSION + 1}"))
        last = ') WITHOUT ROWID\n    """,\n)'
        later = last[:-1] + '    "CREATE TABLE later(x)",\n)'
        self.further = copy("further", ("ctxd/store/registry.py", last, later))


def tried(seed: int, bin: str, row: Row, trial: Trial) -> str:
    """Index a tree that was named by hand, stop the daemon, and let the trial have what it left."""
    with Lab(seed, bin) as lab:
        for number in range(FILES):
            lab.tree.write(f"f{number}.py", f"def version_{number}(): pass\n")
        lab.link.ask(Init(directory=os.fsencode(lab.tree.root), index_wait_ms=-1))
        stop(lab)
        return trial(lab, row)


def stop(lab: Lab) -> None:
    lab.hang_up()
    stopped = lab.home.run("daemon", "stop", cwd="/")
    assert stopped.returncode == 0, stopped.stderr


def stamp(path: str | Path, version: int) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()


def asked(lab: Lab, row: Row) -> str:
    """Ask as anybody does; say what is wrong with the answer, or with what lies there then."""
    name = lab.random.randrange(FILES)
    found = lab.places(row, f"version_{name}")
    if found != [f"f{name}.py"]:
        return f"version_{name} in {found}"
    left = index_files(lab.home)
    if len(left) != 1:
        return f"index files: {list(map(os.path.basename, left))}"
    return f"set aside: {aside}" if (aside := set_aside(lab.home)) else ""


def stamped(lab: Lab, row: Row, version: int) -> str:
    """The index file says that it is of another version."""
    (path,) = index_files(lab.home)
    stamp(path, version)
    wrong = asked(lab, row)
    if not wrong and index_files(lab.home) == [path]:
        wrong = "the file of another version is in use"
    wrong = wrong or "; ".join(problems_of(index_files(lab.home)[0]))
    return f"stamp {version}: {wrong}" if wrong else ""


def older_and_newer(lab: Lab, row: Row, them: Installations) -> str:
    """An upgrade and the way back: each builds its own index and leaves nothing of the other's."""
    for bin in (them.newer, lab.home.bin, them.older, lab.home.bin):
        done = run(lab, bin, "find", "version_7")
        if done.returncode or "f7.py" not in done.stdout:
            return f"{bin.parent.parent.name}: exit {done.returncode} {done.stdout[:100]} {done.stderr[:200]}"
        if len(left := index_files(lab.home)) != 1:
            return f"{bin.parent.parent.name}: {list(map(os.path.basename, left))}"
        stopped = run(lab, bin, "daemon", "stop")
        if stopped.returncode:
            return stopped.stderr[:200]
    return asked(lab, row)


def registry_migrated(lab: Lab, row: Row, them: Installations) -> str:
    """A version with one more step migrates the registry and keeps what is in it; then the older one is refused."""
    before = index_files(lab.home)
    done = run(lab, them.further, "find", "version_7")
    if done.returncode or index_files(lab.home) != before:
        return f"migrated: exit {done.returncode} {done.stderr[:200]} {index_files(lab.home)}"
    run(lab, them.further, "daemon", "stop")
    connection = apsw.Connection(f"{lab.home.path}/registry.db")
    try:
        version, (explicit,) = connection.pragma("user_version"), connection.execute("SELECT explicit FROM worktrees")
        connection.execute("SELECT * FROM later")
    finally:
        connection.close()
    if (version, explicit) != (len(MIGRATIONS) + 1, (1,)):
        return f"migrated to {version}, explicit {explicit}"
    return refused(lab)


def registry_newer(lab: Lab, row: Row) -> str:
    """The registry of a version that is not known yet."""
    stamp(f"{lab.home.path}/registry.db", 99)
    wrong = refused(lab)
    stamp(f"{lab.home.path}/registry.db", len(MIGRATIONS))
    return wrong or asked(lab, row)


def refused(lab: Lab) -> str:
    """Ask; say what is wrong unless it is refused with the reason and nothing has been written."""
    before = databases(lab)
    done = lab.home.run("find", "version_7", cwd=lab.tree.root)
    if done.returncode not in (3, 4) or "newer version" not in done.stderr:
        return f"a newer registry: exit {done.returncode} {done.stdout[:100]} {done.stderr[:300]}"
    changed = [path for path, content in databases(lab).items() if before.get(path, b"") != content]
    return f"a newer registry was not left alone: {changed}" if changed else ""


def databases(lab: Lab) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(lab.home.path).rglob("*.db*") if "-shm" not in path.name}


def registry_without_stamp(lab: Lab, row: Row) -> str:
    """The registry lost its version: it is set aside, and worktrees attach when they are asked for."""
    stamp(f"{lab.home.path}/registry.db", 0)
    found = lab.places(row, "version_7")
    return "" if found == ["f7.py"] and len(set_aside(lab.home)) == 1 else f"{found}, set aside {set_aside(lab.home)}"


def other_model(lab: Lab, row: Row, models: list[HashModel], running: bool) -> str:
    """Have vectors of one model, then name another to the running daemon, or before its next start."""
    former, later = models
    former.use(lab.home)
    wait_until(lambda: vectors(lab)["state"] == "ready", VECTORS_S, "vectors of the former model")
    (path,) = index_files(lab.home)
    old = vectors_of(path)
    if not running:
        stop(lab)
    later.use(lab.home)
    told: set[str] = set()
    while not ((state := vectors(lab))["state"] == "ready" and state["model"].startswith("later@")):
        if wrong := asked(lab, row) or mixed(path, old, former):
            return wrong
        told.update(lab.link.find(lab.tree.root, "which version is it", semantic=True)["warnings"])
        time.sleep(GLANCE_S)  # who asks without a pause holds vectors up
    if wrong := asked(lab, row) or mixed(path, old, former):
        return wrong
    if not any("those by former@" in each and "of no use to later@" in each for each in told):
        return f"what was told meanwhile: {told}"
    new = vectors_of(path)
    if new.keys() != old.keys() or any(new[place] == old[place] for place in old):
        return f"{len(new)} vectors in place of {len(old)}, {len(new.items() & old.items())} of them the old ones"
    found = lab.link.find(lab.tree.root, "which version is it", semantic=True)
    return f"at the end: {found['warnings']}" if found["warnings"] else ""


def vectors(lab: Lab) -> dict[str, str]:
    request = Status(directory=os.fsencode(lab.tree.root), output="json")
    found: dict[str, str] = json.loads(lab.link.ask(request).out)["vectors"]
    return found


def mixed(path: str, old: dict[Place, bytes], former: HashModel) -> str:
    """Say whether an index that is of the later model has vectors of the former, or the other way round."""
    name, now = snapshot_of(path)
    kept = sum(old.get(place) == body for place, body in now.items())
    wanted = len(now) if name.startswith(f"{former.directory.name}@") else 0
    return "" if kept == wanted else f"{kept} of {len(now)} vectors are of the former model in an index of {name}"


def run(lab: Lab, bin: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [bin / "ctx", *arguments],
        cwd=lab.tree.root,
        env=lab.home.env,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

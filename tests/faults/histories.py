"""R07: an index that lived through a history is the index of the tree as it is, and answers the same."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.faults.compare import Scratch, dumped, first_difference, index_files
from tests.faults.lab import Lab, Row, Size
from tests.faults.shrink import shrunk
from tests.faults.world import World
from tests.home import Home
from tests.link import Link
from tests.tree import Tree

STEPS = 40
# Both daemons are asked so much after each history, and so much after some of them.
QUESTIONS, MANY_QUESTIONS, MANY_EVERY = 12, 100, 10
WORDS = ("return", "func", "int a", "package", "where is a defined", "*.py", "def")


# Histories that failed once, as they were after shrinking: seed, steps, what they found. Each run lives through them.
KEPT: tuple[tuple[int, tuple[int, ...], str], ...] = (
    (100_006, (39, 40), "an ignore file that nothing noticed (with its guard taken out)"),
)


def same_as_scratch(size: Size, seed: int, bin: str) -> Row:
    """Random histories with git; then a canonical dump and questions against a new index of the same tree."""
    row = Row("R07", "same as from scratch: random histories", seed)
    scratch = Scratch(bin)
    try:
        for kept, steps, found in KEPT:
            fault = lived(kept, steps, bin, scratch, row)
            row.count(fault and f"once found: {found}: {fault}")
        for number in range(size.histories):
            row.count(one_history(seed * 100_003 + number, bin, scratch, row))
    finally:
        scratch.close()
    return row


def one_history(seed: int, bin: str, scratch: Scratch, row: Row) -> str:
    """Live through one history; return what differs at its end, and which steps it takes for that; or nothing."""

    def fault_of(kept: tuple[int, ...]) -> str:
        return lived(seed, kept, bin, scratch, row)

    every = tuple(range(STEPS + 1))
    if not (wrong := fault_of(every)):
        return ""
    needed = shrunk(every, lambda kept: bool(fault_of(kept)))
    again = fault_of(needed)
    return f"seed {seed}, steps {needed}: {again}" if again else f"seed {seed}, once in a few times: {wrong}"


def lived(seed: int, steps: tuple[int, ...], bin: str, scratch: Scratch, row: Row) -> str:
    """Live through these steps of a history; return what differs at its end, or nothing. Replays from both.

    Each step has chance of its own, so that leaving one out changes the others no more than the tree does. The last
    of them may write an ignore file: anything of git's that comes after it would make up for one that was not noticed.
    """
    with Lab(seed, bin) as lab:
        world = World(lab.tree, f"{lab.home.place}/outside", lab.random, files=15)
        lab.tree.commit()
        lab.places(row, "n_0000001")
        done = []
        for number in steps:
            lab.random = world.random = Random(f"{seed}/{number}")
            if number < STEPS:
                done.append(step(world, lab.tree, world.random))
            elif lab.random.random() < 0.4:
                ignore(world, lab.tree, world.random)
                done.append("ignore")
            if lab.random.random() < 0.3:
                lab.places(row, f"n_{lab.random.randrange(world.count + 1):07d}")
        lab.random = Random(f"{seed}/asked")
        lab.places(row, "n_0000001")
        scratch.index(lab.tree)
        try:
            wrong = first_difference(dumped(current(lab.home)), dumped(current(scratch.home)))
            questions = QUESTIONS if seed % MANY_EVERY else MANY_QUESTIONS
            wrong = wrong or other_answers(lab, world, scratch.link, questions)
        finally:
            scratch.forget(lab.tree)
        return f"{wrong} after {done[-8:]}" if wrong else ""


def current(home: Home) -> str:
    return index_files(home)[-1]


def step(world: World, tree: Tree, random: Random) -> str:
    """One operation of the world, or now and then one of git or of the ignore files."""
    if random.random() < 0.75:
        return world.step()[0]
    git: list[Callable[[World, Tree, Random], None]] = [ignore, commit, commit, branch, switch, switch, reset]
    chosen = random.choice(git)
    chosen(world, tree, random)
    return chosen.__name__


def ignore(world: World, tree: Tree, random: Random) -> None:
    """Write or remove an ignore file somewhere."""
    folder = random.choice(["", *(f + "/" for f in world.folders())])
    path = tree.path(folder + random.choice((".gitignore", ".gitignore", ".ctxignore")))
    if path.exists() and random.random() < 0.4:
        path.unlink()
        return
    patterns = ("*.js\n", "*.go\n!f1*.go\n", "d1*/\n", "!*.js\n", "f2*\n", "/in*/\n", "re*\n")
    path.write_text("".join(random.sample(patterns, random.randrange(1, 3))))


def commit(_world: World, tree: Tree, _random: Random) -> None:
    tree.commit()


def branch(world: World, tree: Tree, _random: Random) -> None:
    world.count += 1
    tree.git("checkout", "-q", "-b", f"branch{world.count}")


def switch(world: World, tree: Tree, random: Random) -> None:
    names = tree.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    tree.git("checkout", "-q", "-f", random.choice(names))
    world.reload()


def reset(world: World, tree: Tree, random: Random) -> None:
    tree.git("reset", "-q", "--hard")
    if random.random() < 0.5:
        tree.git("clean", "-fdq")
    world.reload()


def other_answers(lab: Lab, world: World, scratch: Link, questions: int) -> str:
    """Ask both daemons the same; return the first question with another answer, or nothing."""
    names = [f"n_{lab.random.randrange(world.count + 1):07d}" for _ in range(questions - 4)]
    for text in (*names, *lab.random.sample(WORDS, 4)):
        one, two = (link.find(lab.tree.root, text, limit=20) for link in (lab.link, scratch))
        for answer in (one, two):
            for result in answer["results"]:
                result.pop("verified", None)
        for key in ("results", "warnings", "hint"):
            if one[key] != two[key]:
                return f"{text!r}: {key} {str(one[key])[:300]} / {str(two[key])[:300]}"
    return ""

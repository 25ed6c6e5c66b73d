"""R39: kill -9 of daemon and embedding processes while vectors are filled and questions embedded, and a child hung.

Words answer rightly all the time, nothing is embedded twice but the bite that was in work, no process is left over, and
in the end the vectors are those of a run without faults. The model is one of hashes that notes each text.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil

from ctxd.embed.local import LocalEmbedder
from ctxd.embed.tier import WAITING
from ctxd.store.readers import THREADS
from ctxprotocol.messages import Answer, Find, Update
from tests.faults.compare import index_files
from tests.faults.copies import Edit
from tests.faults.kills import power_cut
from tests.faults.lab import Lab, Row, Size
from tests.faults.models import AT_ONCE, HashModel, build, flaws, ready, vectors_of
from tests.home import Home
from tests.link import Link
from tests.processes import alive, belonging_to, wait_until

ROUNDS = {"ci": 1, "release": 20, "nightly": 200}
# Texts of a trial, and how long each takes: the whole trial is about ten bites.
TEXTS, PAUSE_S = 80, 0.004
# A crash repeats no more than what was in work.
BITE = LocalEmbedder.batch
COMPLETE_S = 60.0
# Who asks without a pause holds vectors up.
GLANCE_S = 0.1
# How long words are asked for while questions hang: less than those hang.
ASKED_S = 0.4
WORDS = ("river", "lantern", "harbour", "meadow", "copper", "violin", "winter", "garden", "engine", "marble", "ticket")
# In CI a child counts as hung much sooner, and a commit is not waited for.
HURRIED: tuple[Edit, ...] = (
    ("ctxd/embed/process.py", "ANSWER_S = 30.0", "ANSWER_S = 2.0"),
    ("ctxd/embed/tier.py", "ASK_S = 10.0", "ASK_S = 2.0"),
    AT_ONCE,
)


def embedding(size: Size, seed: int, bin: str) -> Row:
    """Add texts, let a fault fall somewhere among them, and see what was embedded; at the end compare."""
    row = Row("R39", "kill -9, hang while vectors are made", seed)
    with tempfile.TemporaryDirectory(prefix="ctx-model-", dir="/tmp") as folder:
        bin = build(Path(folder, "copy"), bin, *(HURRIED if size.name == "ci" else ()))
        with Lab(seed, bin) as lab:
            bench = Bench(lab, row, HashModel(Path(folder, "a", "hashes"), PAUSE_S))
            for _ in range(ROUNDS[size.name]):
                for fault in FAULTS:
                    row.count(trial(bench, fault))
            calm = HashModel(Path(folder, "b", "hashes"))
            row.count(unlike_calm(bench, calm, bin))
        row.what += f"; {bench.repeated} of {len(bench.model.asked())} texts repeated"
    return row


class Bench:
    """The daemon with its model, and the files that were written so far."""

    def __init__(self, lab: Lab, row: Row, model: HashModel) -> None:
        self.lab, self.row, self.model = lab, row, model
        self.files: list[str] = []
        self.repeated = 0
        self.questions = 0
        self._before = 0
        model.use(lab.home)

    def write(self) -> None:
        """Write a file whose functions have texts of their own, and begin to count what is asked."""
        self._before = len(self.model.asked())
        name = f"n_{len(self.files):07d}"
        with_words = "".join(self._function(f"{name}_{number}") for number in range(TEXTS - 1))
        self.lab.tree.write(f"{name}.py", f"def {name}():\n    return 1\n\n\n{with_words}")
        self.files.append(name)

    def _function(self, name: str) -> str:
        said = " + ".join(f"{self.lab.random.choice(WORDS)}_{number}" for number in range(12))
        return f"def {name}():\n    return {said}\n\n\n"

    def new(self) -> Counter[str]:
        """Return how often each text of this trial was asked for."""
        return Counter(each.digest for each in self.model.asked()[self._before :])

    def wrong_words(self) -> str:
        """Ask for the newest file's name and another one's, and say what is wrong with the answers."""
        for name in (self.files[-1], self.lab.random.choice(self.files)):
            if (found := self.lab.places(self.row, name)) != [f"{name}.py"]:
                return f"{name} in {found}"
        return ""

    def question(self) -> Find:
        """Return a question for meaning that nobody has asked yet."""
        self.questions += 1
        said = f"where the {self.lab.random.choice(WORDS)} number {self.questions} is kept"
        return Find(directory=os.fsencode(self.lab.tree.root), text=said, output="json", semantic=True)

    def process(self, purpose: str) -> psutil.Process:
        """Return the process that was last seen to embed for this purpose."""
        return psutil.Process(self.model.asked(purpose)[-1].pid)


def trial(bench: Bench, fault: Callable[[Bench], str]) -> str:
    """Write texts, wait until some of them are embedded, let the fault happen, and see that all ends well."""
    bench.write()
    if wrong := bench.wrong_words():
        return f"before {fault.__name__}: {wrong}"
    some = bench.lab.random.randrange(1, TEXTS - 2 * BITE)
    wait_until(lambda: bench.new().total() >= some, COMPLETE_S, f"{some} texts embedded")
    wrong = fault(bench) or bench.wrong_words()
    end = time.monotonic() + COMPLETE_S
    while not wrong and not ready(bench.lab.link, bench.lab.tree):
        wrong = bench.wrong_words()
        time.sleep(GLANCE_S)
        if time.monotonic() > end:
            wrong = f"vectors not complete within {COMPLETE_S:g} s"
    asked = bench.new()
    again = asked.total() - len(asked)
    bench.repeated += again
    if not wrong and again > BITE:
        wrong = f"{again} texts embedded again, {BITE} are in work at a time"
    if not wrong and len(asked) < TEXTS:
        wrong = f"{len(asked)} texts were embedded, of {TEXTS}"
    wrong = wrong or flaws(index_files(bench.lab.home)[-1])
    return f"{fault.__name__} after {some} texts: {wrong}" if wrong else ""


def daemon_killed(bench: Bench) -> str:
    """The daemon is gone in the middle of a question and of a bite; its children follow it."""
    bench.lab.link.send(bench.question())
    time.sleep(bench.lab.random.uniform(0, 0.05))
    power_cut(bench.lab)
    return ""


def passages_killed(bench: Bench) -> str:
    """The process that embeds passages is gone."""
    bench.process("passage").kill()
    return ""


def question_killed(bench: Bench) -> str:
    """The process for questions is gone, with a question or just before one, which is answered; the next is whole."""
    bench.lab.link.ask(bench.question())
    doomed = bench.process("question")
    bench.lab.link.send(bench.question())
    time.sleep(bench.lab.random.uniform(0, 0.01))
    doomed.kill()
    return refused(bench.lab.link) or troubled(bench)


def passages_hung(bench: Bench) -> str:
    """The process that embeds passages stands still: it is ended, and another one goes on."""
    hung = bench.process("passage")
    hung.suspend()
    end = time.monotonic() + COMPLETE_S
    while alive(hung) and time.monotonic() < end:
        if wrong := bench.wrong_words():
            return wrong
    return "the hung process was not ended" if alive(hung) else ""


def question_hung(bench: Bench) -> str:
    """The process for questions stands still: as many ask as there are readers, and words do not wait for them."""
    bench.lab.link.ask(bench.question())
    hung = bench.process("question")
    hung.suspend()
    with contextlib.ExitStack() as stack:
        stuck = [stack.enter_context(Link(bench.lab.home.path)) for _ in range(THREADS)]
        for link in stuck:
            link.send(bench.question())
        # For a while, since nobody sees from outside when all of them have come to a reader.
        end = time.monotonic() + ASKED_S
        while time.monotonic() < end:
            if wrong := bench.wrong_words():
                return wrong
        waiting = len(stuck) - len(select.select([link.socket for link in stuck], [], [], 0)[0])
        if wrong := "".join(map(refused, stuck)):
            return wrong
    if waiting < WAITING:
        return f"words waited behind meaning: {waiting} questions of {THREADS} were left"
    wait_until(lambda: not alive(hung), COMPLETE_S, "the hung process is ended")
    return troubled(bench)


def daemon_killed_over_hung_children(bench: Bench) -> str:
    """Children that stand still cannot see their daemon go: the next one does without them, and who wakes ends."""
    bench.lab.link.ask(bench.question())
    hung = [bench.process(purpose) for purpose in ("passage", "question")]
    for each in hung:
        each.suspend()
    os.kill(bench.lab.link.welcome.pid, signal.SIGKILL)
    bench.lab.hang_up()
    wrong = bench.wrong_words()
    for each in hung:
        each.resume()
    wait_until(lambda: not any(map(alive, hung)), 10, "children gone that were woken after their daemon was killed")
    return wrong


FAULTS = (
    daemon_killed,
    passages_killed,
    question_killed,
    passages_hung,
    question_hung,
    daemon_killed_over_hung_children,
)


def refused(link: Link) -> str:
    """Take the next reply and say what it is unless it is an answer: words have one in any case."""
    reply = link.receive()
    return "" if isinstance(reply, Answer) else f"instead of an answer: {reply}"


def troubled(bench: Bench) -> str:
    """Ask for meaning once more and say what is in the way of it; that some vectors lack is not."""
    answer = bench.lab.link.find(bench.lab.tree.root, bench.question().text, semantic=True)
    said = [each for each in answer["warnings"] if "partial" not in each]
    return f"the next question: {said}" if said else ""


def unlike_calm(bench: Bench, model: HashModel, bin: str) -> str:
    """Have another daemon make the vectors of the same tree undisturbed; say which differ, or what is left running."""
    lived = vectors_of(index_files(bench.lab.home)[-1])
    home = Home(bin=bin)
    try:
        model.use(home)
        assert home.run("daemon", "start", cwd="/").returncode == 0
        with Link(home.path) as link:
            link.ask(Update(directory=os.fsencode(bench.lab.tree.root), index_wait_ms=-1))
            wait_until(lambda: ready(link, bench.lab.tree), COMPLETE_S, "the calm run has its vectors")
        calm = vectors_of(index_files(home)[-1])
    finally:
        home.close()
    if differ := sorted(place for place in lived.keys() | calm.keys() if lived.get(place) != calm.get(place)):
        return f"{len(differ)} vectors of {len(calm)} are not those of a calm run: {differ[:3]}"
    return stray(bench)


def stray(bench: Bench) -> str:
    """Say which embedding processes run beside the two that may."""
    daemon = bench.lab.home.pid
    found = [one for one in belonging_to(bench.lab.home.path) if any("hashed.py" in part for part in one.cmdline())]
    orphans = [one.pid for one in found if one.ppid() != daemon]
    return f"embedding processes {[one.pid for one in found]}, orphans {orphans}" if orphans or len(found) > 2 else ""

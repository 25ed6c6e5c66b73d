"""What a candidate's file is: what it exports, how its folder is called, whether a newer one stands beside it."""

from __future__ import annotations

from pathlib import Path

from ctxd.search.filters import Scope
from ctxd.search.ranking import weights
from ctxd.search.run import search
from tests.indexed import Index, lay


class Tree:
    """Files, and where a question leads."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        lay(f"{folder}/tree", files)
        self.index = Index(f"{folder}/tree", f"{folder}/index.db")
        self.index.take()

    def first(self, question: str, *without: str) -> str:
        """The file of the first place, some parts of the score left out."""
        return self.places(question, *without)[0].rpartition(":")[0]

    def parts(self, question: str, path: str) -> dict[str, float]:
        """The parts of the scores of a file's places; what is the file's stands in one of them."""
        with self.index.snapshot() as snapshot:
            found = search(snapshot, question, Scope()).scored
        every = [part for one in found if one.candidate.file.path == path for part in one.parts]
        assert sum(name == "exports" for name, _ in every) <= 1
        return dict(reversed(every))

    def places(self, question: str, *without: str) -> list[str]:
        with self.index.snapshot() as snapshot:
            found = search(snapshot, question, Scope(), weights.named(without)).scored
        return [f"{one.candidate.file.path}:{one.candidate.line_start}" for one in found]


SAVE = "export function {name}() {{\n  return 1;\n}}\n\nfunction helper() {{\n  // write the session of a visitor\n}}\n"


def test_a_file_is_what_it_exports(tmp_path: Path) -> None:
    """Of three files that say the same, the one that exports what is asked about comes first."""
    private = SAVE.format(name="visitorSession").replace("export ", "")
    tree = Tree(
        tmp_path, {"a.ts": private, "b.ts": SAVE.format(name="other"), "c.ts": SAVE.format(name="visitorSession")}
    )
    question = "who writes the session of a visitor"

    assert tree.first(question) == "c.ts"
    assert tree.first(question, "exports") == "a.ts"
    assert tree.parts(question, "c.ts")["exports"] == weights.EXPORTS
    assert "exports" not in tree.parts(question, "a.ts") | tree.parts(question, "b.ts")


TEXT = "def run(request):\n    # compare what was stored\n    return request\n"


def test_a_folder_that_the_question_names_lifts_its_files(tmp_path: Path) -> None:
    """What lies below snapshots/ is about snapshots, whatever else the path says."""
    tree = Tree(tmp_path, {"alpha/run.py": TEXT, "snapshots/run.py": TEXT})

    assert tree.first("compare a stored snapshot") == "snapshots/run.py"
    assert tree.parts("compare a stored snapshot", "snapshots/run.py")["folder"] == weights.FOLDER
    assert "folder" not in tree.parts("compare a stored snapshot", "alpha/run.py")


def test_a_file_name_of_several_words_in_a_row_counts_more(tmp_path: Path) -> None:
    """`module_mocker` is what "a module mocker" means, sooner than `mocker_module`."""
    tree = Tree(tmp_path, {"mocker_module.py": TEXT, "module_mocker.py": TEXT})

    assert tree.first("a module mocker that compares what was stored") == "module_mocker.py"
    assert tree.first("mocker of a module that compares what was stored") == "mocker_module.py"


def test_the_folder_of_a_version_comes_behind_the_file_beside_it(tmp_path: Path) -> None:
    """A package keeps its first version in v1/; without a newer file v1/ is all there is."""
    tree = Tree(
        tmp_path, {"v1/fields.py": TEXT * 2, "fields.py": TEXT, "v1/only.py": "def only():\n    # alone\n    pass\n"}
    )

    assert tree.first("compare what was stored in fields") == "fields.py"
    assert tree.first("compare what was stored in fields", "older") == "v1/fields.py"
    assert tree.first("compare what was stored in legacy fields") == "v1/fields.py"
    with tree.index.snapshot() as snapshot:
        (only,) = search(snapshot, "what is alone", Scope()).scored
    assert "older" not in dict(only.parts)


IMPORTS = "import { readSnapshot } from './snapshot/read';\nimport { snapshot } from './snapshot/snapshot';\n"


def test_the_imports_of_a_file_do_not_lead_it(tmp_path: Path) -> None:
    """What a file imports says its words most densely; who asks wants the code."""
    body = "\nexport function take() {\n  const all = list();\n  return all.map((each) => readSnapshot(each));\n}\n"
    tree = Tree(tmp_path, {"take.ts": IMPORTS + body})

    assert tree.places("read a snapshot")[0] == "take.ts:4"


def test_benchmarks_come_after_what_they_measure(tmp_path: Path) -> None:
    """Unless they are what is asked for; so does the copy that holds all headers in one."""
    tree = Tree(tmp_path, {"a/benchmarks/store.py": TEXT, "b/single_include/store.py": TEXT, "src/store.py": TEXT})

    assert tree.first("compare the stored request") == "src/store.py"
    assert tree.parts("compare the stored request", "a/benchmarks/store.py")["benchmarks"] < 0
    assert tree.parts("compare the stored request", "b/single_include/store.py")["generated"] < 0
    assert tree.first("benchmarks that compare the stored request") == "a/benchmarks/store.py"


def test_a_translation_comes_after_what_it_was_translated_from(tmp_path: Path) -> None:
    """Its code and names are the same; who asks in its script gets it."""
    page = "# Compare\n\nCompare the stored request. {0}\n"
    japanese = page.format("保存された要求 " * 2)
    tree = Tree(
        tmp_path,
        {
            "docs/ja/compare.md": japanese,
            "docs/guide/compare.md": page.format("It is a copy."),
        },
    )

    assert tree.first("compare the stored request") == "docs/guide/compare.md"
    assert tree.parts("compare the stored request", "docs/ja/compare.md")["translated"] < 0
    assert "translated" not in tree.parts("保存された compare", "docs/ja/compare.md")


HEADER = """#define QUEUE_RETRY_LIMIT 3 /* retry the queue so often */


inline int queue_retry_now(int queue) {
  /* retry the queue */
  int left = queue;
  while (left > 0) {
    left -= 1;
  }
  return left;
}
"""
QUEUED = '#include "all.h"\nint run(void) {\n  /* retry the queue */\n  return QUEUE_RETRY_LIMIT;\n}\n'
RETRIED = "how often is the queue tried in a retry limit"


def test_what_a_header_only_tells_comes_after_the_sources(tmp_path: Path) -> None:
    """Its macros, not what it defines; and nothing that is asked for by name."""
    tree = Tree(tmp_path, {"include/all.h": HEADER, "src/run.c": QUEUED})
    with tree.index.snapshot() as snapshot:
        every = search(snapshot, RETRIED, Scope()).scored
    lowered = {
        one.candidate.symbol.name: "header" in dict(one.parts)
        for one in every
        if one.candidate.symbol is not None and one.candidate.file.path == "include/all.h"
    }

    assert lowered == {"QUEUE_RETRY_LIMIT": True, "queue_retry_now": False}
    assert tree.first("QUEUE_RETRY_LIMIT") == "include/all.h"
    assert "header" not in tree.parts("QUEUE_RETRY_LIMIT", "include/all.h")


def test_a_project_of_headers_has_nothing_else(tmp_path: Path) -> None:
    """A test or an example that includes them is no source of theirs; one of the same stem is."""
    alone = Tree(tmp_path / "alone", {"include/all.h": HEADER})
    beside = {"tests/run.c": QUEUED, "examples/run.c": QUEUED, "tool.py": "# retry the queue\nrun()\n"}
    tested = Tree(tmp_path / "tested", {"include/all.h": HEADER, **beside})
    paired = Tree(tmp_path / "paired", {"src/all.h": HEADER, "src/all.c": QUEUED})

    assert "header" not in alone.parts(RETRIED, "include/all.h")
    assert "header" not in tested.parts(RETRIED, "include/all.h")
    assert paired.parts(RETRIED, "src/all.h")["header"] < 0

"""A tree that random operations change, and what the model knows of it: which name each file defines.

Every file defines one function with a name of fixed length, so that an edit may keep the size. Seeded: the same seed
makes the same history.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from random import Random

from tests.tree import Tree

SUFFIXES = (".py", ".js", ".go", ".c")
FORMS = {
    ".py": "def {name}(a):\n    return a\n",
    ".js": "function {name}(a) {{\n  return a;\n}}\n",
    ".go": "package p\n\nfunc {name}(a int) int {{\n\treturn a\n}}\n",
    ".c": "int {name}(int a)\n{{\n    return a;\n}}\n",
}
NAME = re.compile(r"n_\d{7}")


class World:
    """`files` maps each path to the name it defines, or to None where a link stands. `outside` holds moved trees."""

    def __init__(self, tree: Tree, outside: str, random: Random, files: int = 40) -> None:
        self.tree = tree
        self.outside_root = outside
        self.random = random
        self.files: dict[str, str | None] = {}
        self.outside: dict[str, dict[str, str | None]] = {}
        self.count = 0
        os.makedirs(outside, exist_ok=True)
        for _ in range(files):
            self.create()

    def new_name(self) -> str:
        self.count += 1
        return f"n_{self.count:07d}"

    def where(self, name: str) -> list[str]:
        """Return the paths that define `name` now."""
        return sorted(path for path, defined in self.files.items() if defined == name)

    def regular(self) -> list[str]:
        return sorted(path for path, name in self.files.items() if name is not None)

    def folders(self) -> list[str]:
        """Return the directories that hold files, at whatever depth."""
        found = set()
        for path in self.files:
            parts = path.split("/")[:-1]
            found.update("/".join(parts[: n + 1]) for n in range(len(parts)))
        return sorted(found)

    def new_path(self) -> str:
        deep = self.random.choice((0, 1, 1, 2, 3))
        known = self.folders()
        parent = self.random.choice(known) if known and self.random.random() < 0.6 else ""
        fresh = [f"d{self.count}{chr(97 + step)}" for step in range(deep)] if not parent else []
        return "/".join([*([parent] if parent else []), *fresh, f"f{self.count}{self.random.choice(SUFFIXES)}"])

    def put(self, path: str, name: str, padding: int = 0) -> None:
        text = FORMS[os.path.splitext(path)[1]].format(name=name)
        self.tree.write(path, text + "\n" * padding)
        self.files[path] = name

    def step(self) -> tuple[str, list[str]]:
        """Do one random operation; return what it was and the names whose places it changed."""
        operations: list[Callable[[], list[str]]] = [
            self.edit_same_size,
            self.edit_same_size,
            self.edit_same_size_and_time,
            self.edit_longer,
            self.create,
            self.delete,
            self.rename,
            self.save_by_rename,
            self.recreate,
            self.swap,
            self.second_definition,
            self.link_instead,
            self.file_instead_of_link,
            self.folder_out,
            self.folder_in,
            self.folder_renamed,
            self.folder_deleted,
            self.touch,
        ]
        while True:
            operation = self.random.choice(operations)
            if len(self.regular()) < 8:
                operation = self.create
            touched = operation()
            if touched:
                return operation.__name__, touched

    def pick(self) -> str:
        return self.random.choice(self.regular())

    def edit_same_size(self) -> list[str]:
        path, name = self.pick(), self.new_name()
        old = self.files[path]
        self.put(path, name)
        return [name, str(old)]

    def edit_same_size_and_time(self) -> list[str]:
        path, name = self.pick(), self.new_name()
        old, before = self.files[path], os.stat(self.tree.path(path))
        self.put(path, name)
        os.utime(self.tree.path(path), ns=(before.st_atime_ns, before.st_mtime_ns))
        return [name, str(old)]

    def edit_longer(self) -> list[str]:
        path, name = self.pick(), self.new_name()
        old = self.files[path]
        self.put(path, name, padding=self.random.randrange(1, 30))
        return [name, str(old)]

    def create(self) -> list[str]:
        name = self.new_name()
        self.put(self.new_path(), name)
        return [name]

    def delete(self) -> list[str]:
        path = self.pick()
        os.unlink(self.tree.path(path))
        return [str(self.files.pop(path))]

    def rename(self) -> list[str]:
        path = self.pick()
        to = os.path.splitext(self.new_path())[0] + "r" + os.path.splitext(path)[1]
        self.tree.path(to).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.tree.path(path), self.tree.path(to))
        self.files[to] = self.files.pop(path)
        return [str(self.files[to])]

    def save_by_rename(self) -> list[str]:
        path, name = self.pick(), self.new_name()
        old = self.files[path]
        draft = path + ".tmp"
        self.tree.write(draft, FORMS[os.path.splitext(path)[1]].format(name=name))
        os.replace(self.tree.path(draft), self.tree.path(path))
        self.files[path] = name
        return [name, str(old)]

    def recreate(self) -> list[str]:
        path, name = self.pick(), self.new_name()
        old = self.files[path]
        os.unlink(self.tree.path(path))
        self.put(path, name)
        return [name, str(old)]

    def swap(self) -> list[str]:
        one = self.pick()
        same = [p for p in self.regular() if p != one and os.path.splitext(p)[1] == os.path.splitext(one)[1]]
        if not same:
            return []
        other = self.random.choice(same)
        spare = self.tree.path(one + ".swap")
        os.rename(self.tree.path(one), spare)
        os.rename(self.tree.path(other), self.tree.path(one))
        os.rename(spare, self.tree.path(other))
        self.files[one], self.files[other] = self.files[other], self.files[one]
        return [str(self.files[one]), str(self.files[other])]

    def second_definition(self) -> list[str]:
        name = str(self.files[self.pick()])
        self.count += 1
        self.put(self.new_path(), name)
        return [name]

    def link_instead(self) -> list[str]:
        path, target = self.pick(), self.pick()
        if path == target:
            return []
        old = self.files[path]
        os.unlink(self.tree.path(path))
        os.symlink(self.tree.path(target), self.tree.path(path))
        self.files[path] = None
        return [str(old), str(self.files[target])]

    def file_instead_of_link(self) -> list[str]:
        links = sorted(path for path, name in self.files.items() if name is None)
        if not links:
            return []
        path, name = self.random.choice(links), self.new_name()
        os.unlink(self.tree.path(path))
        self.put(path, name)
        return [name]

    def below(self, folder: str) -> dict[str, str | None]:
        """Take what lies below `folder` out of the model, by the path relative to it."""
        inside = [path for path in self.files if path.startswith(folder + "/")]
        return {path[len(folder) + 1 :]: self.files.pop(path) for path in inside}

    def folder_out(self) -> list[str]:
        if not self.folders() or len(self.outside) > 5:
            return []
        folder = self.random.choice(self.folders())
        self.count += 1
        place = f"{self.outside_root}/o{self.count}"
        os.rename(self.tree.path(folder), place)
        self.outside[place] = self.below(folder)
        return names_in(self.outside[place])

    def folder_in(self) -> list[str]:
        if not self.outside:
            return []
        place = self.random.choice(sorted(self.outside))
        self.count += 1
        folder = f"in{self.count}"
        os.rename(place, self.tree.path(folder))
        came = self.outside.pop(place)
        self.files.update({f"{folder}/{path}": name for path, name in came.items()})
        return names_in(came)

    def folder_renamed(self) -> list[str]:
        if not self.folders():
            return []
        folder = self.random.choice(self.folders())
        self.count += 1
        to = f"re{self.count}"
        os.rename(self.tree.path(folder), self.tree.path(to))
        came = self.below(folder)
        self.files.update({f"{to}/{path}": name for path, name in came.items()})
        return names_in(came)

    def folder_deleted(self) -> list[str]:
        small = [f for f in self.folders() if sum(p.startswith(f + "/") for p in self.files) <= 5]
        if not small:
            return []
        folder = self.random.choice(small)
        shutil.rmtree(self.tree.path(folder))
        return names_in(self.below(folder))

    def touch(self) -> list[str]:
        path = self.pick()
        os.utime(self.tree.path(path))
        return [str(self.files[path])]

    def reload(self) -> None:
        """Read the model from the disk again, after git or someone else changed the tree."""
        self.files = {}
        for top, folders, names in os.walk(self.tree.root):
            folders[:] = [folder for folder in folders if folder != ".git"]
            for name in names:
                path = os.path.relpath(os.path.join(top, name), self.tree.root)
                if os.path.islink(self.tree.path(path)):
                    self.files[path] = None
                elif os.path.splitext(name)[1] in SUFFIXES and (found := NAME.search(self.tree.path(path).read_text())):
                    self.files[path] = found.group()


def names_in(files: dict[str, str | None]) -> list[str]:
    return [name for name in files.values() if name is not None]

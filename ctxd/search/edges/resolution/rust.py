"""Rust: modules are files below a crate, a member of a type is had through it. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from msgspec.structs import replace

from ctxd.search.edges.resolution import other
from ctxd.search.edges.resolution.family import UNKNOWN, Clue
from ctxd.search.edges.resolution.tree import Tree, above, nearest

_ROOTS = ("lib.rs", "main.rs")
_LIBRARY = frozenset({"std", "core", "alloc", "proc_macro", "test"})
_LITERAL = re.compile(r"((?:\w+::)*[A-Z]\w*)\s*\{")
_PATTERN = re.compile(r"\blet\b[^=]*$")
_ARM = re.compile(r"[\s\w,()}&|:.@]*=>")


def files(tree: Tree, importer: str, module: str) -> Sequence[str]:
    """Return the file of a module, or of the nearest one around what it names."""
    parts = [part for part in module.split("::") if part not in ("", "*")]
    if not parts or parts[0] in _LIBRARY:
        return ()
    folder = _folder(tree, importer, parts[0])
    while parts and parts[0] in ("self", "super", "crate"):
        if parts[0] == "super" and folder is not None:
            folder = posixpath.dirname(folder)
        parts.pop(0)
    if folder is None:
        folder = _crate(tree, importer, parts[0])
        if folder is None:
            return _at(tree, posixpath.join(_inner(importer), *parts)) or _at(
                tree, posixpath.join(posixpath.dirname(importer), *parts)
            )
        parts.pop(0)
    for length in range(len(parts), 0, -1):
        if found := _at(tree, posixpath.join(folder, *parts[:length])):
            return found
    return _root(tree, folder)


def rooted(tree: Tree, module: str) -> bool:
    """Return whether a module is one of the crates of this tree."""
    parts = [part for part in module.split("::") if part not in ("self", "super", "crate")]
    if parts and parts[0] in _LIBRARY:
        return False
    return module.startswith(("self", "super", "crate")) or _crate(tree, "", module.split("::")[0]) is not None


def _folder(tree: Tree, importer: str, start: str) -> str | None:
    """Return the folder that `crate`, `self` or `super` is counted from; None for another crate."""
    if start == "crate":
        roots = (f for f in above(importer) if tree.first([posixpath.join(f, name) for name in _ROOTS]))
        return next(roots, posixpath.dirname(importer))
    return _inner(importer) if start in ("self", "super") else None


def _inner(path: str) -> str:
    """Return the folder where the modules inside of a file's module lie."""
    folder, name = posixpath.split(path)
    return folder if name in ("mod.rs", *_ROOTS) else posixpath.splitext(path)[0]


def _crate(tree: Tree, importer: str, name: str) -> str | None:
    """Return the folder of the sources of a crate."""
    ends = [path for one in {name, name.replace("_", "-")} for path in tree.ending(f"{one}/src/lib.rs")]
    found = nearest(ends, importer)
    return posixpath.dirname(found[0]) if found else None


def _root(tree: Tree, folder: str) -> tuple[str, ...]:
    path = tree.first([f"{folder}.rs", *(posixpath.join(folder, name) for name in ("mod.rs", *_ROOTS))])
    return (path,) if path else ()


def _at(tree: Tree, place: str) -> tuple[str, ...]:
    path = tree.first((f"{place}.rs", f"{place}/mod.rs"))
    return (path,) if path else ()


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    found = other.typed_behind(after) or other.assigned(before, after) or other.bound(before, after)
    if found is not None and found.kind == "value" and (match := _LITERAL.match(found.text)):
        return Clue("type", match.group(1))
    if found is not None:
        return found
    return UNKNOWN if _PATTERN.search(before) or _ARM.match(after) else None


FAMILY = replace(
    other.FAMILY,
    languages=frozenset({"rust"}),
    files=files,
    rooted=rooted,
    read=read,
    selves=frozenset({"self", "Self"}),
    supers=frozenset(),
    received=True,
    shared=False,
    builtins=frozenset(
        """AsMut AsRef Box Clone Copy Debug Default Drop Eq Err Extend Fn FnMut FnOnce From Hash Into IntoIterator
        Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned ToString TryFrom
        TryInto Unpin Vec allow assert assert_eq assert_ne automatically_derived bench bool cfg cfg_attr char cold
        compile_error concat dbg debug_assert debug_assert_eq deny deprecated derive doc drop env eprintln expect f32
        f64 feature forbid format format_args i128 i16 i32 i64 i8 ignore include include_str inline isize
        macro_export macro_use matches must_use no_mangle non_exhaustive option_env panic path print println
        proc_macro proc_macro_attribute proc_macro_derive repr should_panic str stringify test thread_local todo
        track_caller u128 u16 u32 u64 u8 unimplemented unreachable usize vec warn write writeln""".split()  # noqa: SIM905
    ),
    foreign=frozenset(
        """and_then as_bytes as_deref as_mut as_ptr as_ref as_slice as_str borrow_mut by_ref contains_key copied
        debug_list debug_map debug_struct debug_tuple ends_with extend_from_slice filter_map finish_non_exhaustive
        flat_map for_each from_iter from_str from_utf8 get_mut get_or_insert_with into_bytes into_inner into_iter
        into_string is_alphabetic is_char_boundary is_empty is_err is_none is_ok is_some iter_mut last_mut map_err
        map_or map_or_else max_by_key min_by_key next_back ok_or ok_or_else or_default or_else or_insert
        or_insert_with partial_cmp poll_next push_str read_to_end read_to_string rsplit_once size_hint
        sort_by sort_by_key sort_unstable split_at split_first split_once split_whitespace starts_with strip_prefix
        strip_suffix to_ascii_lowercase to_bytes to_lowercase to_owned to_string to_uppercase to_vec trim_end
        trim_start try_from try_into type_id unwrap_err unwrap_or unwrap_or_default unwrap_or_else with_capacity
        wrapping_add wrapping_mul wrapping_sub write_all write_char write_fmt write_str zip""".split()  # noqa: SIM905
    ),
)

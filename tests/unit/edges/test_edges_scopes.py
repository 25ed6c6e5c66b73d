"""What a bare name can mean, where languages differ: packages, members, instances, properties."""

from __future__ import annotations

from tests.unit.edges.world import World, opened

here = opened(
    {
        "kt/common/Job.kt": """
package shop.jobs
interface Job
fun Job(name: String): Job = TODO()
fun awaitAll() {}
fun startJob() {}
fun Job.startJob(name: String) {}
fun <T> repeat(block: T) {}
""",
        "kt/other/Job.kt": """
package other.jobs
class Job
fun awaitAll() {}
""",
        "kt/test/JobTest.kt": """
package shop.tests
import shop.jobs.*
import other.jobs.Job as OtherJob
fun goStar(onDone: (Int) -> Unit) {
  awaitAll()
  Job("a")
  OtherJob()
  startJob()
  repeat(1)
  onDone(1)
}
fun onDone() {}
""",
        "rs/src/lib.rs": """
pub mod store;
pub fn helper_one() {}
""",
        "rs/src/store.rs": """
use super::*;
use std::sync::Mutex;
pub struct Desk { lock: Mutex<u8> }
impl Desk {
    type Ok = u8;
    fn open_all(&self) -> Result<u8, u8> {
        open_one();
        helper_one();
        Ok(1)
    }
    fn open_one() {}
}
""",
        "rs/src/pool.rs": """
pub struct Mutex;
pub struct Ok;
""",
        "php/Tap.php": """
<?php
namespace App;
trait Tappable {
  public function tap() { return tap($this); }
}
""",
        "php/helpers.php": """
<?php
function tap($value) { return $value; }
""",
        "hs/Conf.hs": """
module Conf where
data Conf = Conf { borderWidth :: Int }
class Shown a where
  describeIt :: a -> Int
instance Shown Conf where
  describeIt c = describeIt (borderWidth c)
""",
        "hs/Main.hs": """
module Main where
import Conf
widthOf c = borderWidth c
""",
        "swift/Fault.swift": """
struct Fault {
  static func notFound(_ text: String) -> Problem {
    return .notFound(text)
  }
}
""",
        "lua/a.lua": """
local function hidden_one() end
function shown_one() end
""",
        "lua/b.lua": """
hidden_one()
shown_one()
""",
        "js/slice.js": """
import { make } from './make'
function test() {
  const slice = make({
    selectValue: (state) => state.value,
  })
  const { selectValue } = slice
  selectValue(1)
}
""",
        "js/make.js": """
export function make(it) {}
""",
    }
)


def _rows(here: World, name: str) -> list[str]:
    return [row for row in here.callees(name, kind="call") if "| unresolved" not in row]


def test_a_package_is_what_files_declare_not_where_they_lie(here: World) -> None:
    """`import shop.jobs.*` opens that package alone; what is also a member of a type may be either."""
    assert _rows(here, "goStar") == [
        "kt/test/JobTest.kt:5 awaitAll -> kt/common/Job.kt:4 awaitAll | imported",
        "kt/test/JobTest.kt:6 Job -> kt/common/Job.kt:3 Job | imported",
        "kt/test/JobTest.kt:7 OtherJob -> kt/other/Job.kt:2 Job | imported",
        "kt/test/JobTest.kt:8 startJob -> ? | ambiguous 2 imported",
    ]


def test_names_of_the_standard_library_and_of_parameters_stay_unresolved(here: World) -> None:
    """`repeat` comes from elsewhere as well, `onDone` is handed in."""
    assert [row for row in here.callees("goStar", kind="call") if "| unresolved" in row] == [
        "kt/test/JobTest.kt:9 repeat -> ? | unresolved 0 outside built in",
        "kt/test/JobTest.kt:10 onDone -> ? | unresolved 0 local variable",
    ]


def test_a_member_in_rust_needs_its_type(here: World) -> None:
    """`open_one()` is no method, `Ok` neither the type's nor another file's; `super::*` names the module around."""
    assert _rows(here, "open_all") == ["rs/src/store.rs:8 helper_one -> rs/src/lib.rs:2 helper_one | imported"]
    assert here.callers("Mutex") == []


def test_a_function_in_php_is_no_method(here: World) -> None:
    """Inside of a method `tap()` calls the function."""
    assert _rows(here, "Tappable.tap") == ["php/Tap.php:4 tap -> php/helpers.php:2 tap | same package"]


def test_fields_in_haskell_are_functions_and_an_instance_binds_no_name(here: World) -> None:
    """The class declares what an instance defines."""
    assert _rows(here, "widthOf") == ["hs/Main.hs:3 borderWidth -> hs/Conf.hs:2 Conf.borderWidth | imported"]
    assert here.callers("Shown.describeIt") == [
        "hs/Conf.hs:6 describeIt -> hs/Conf.hs:4 Shown.describeIt | same file",
    ]


def test_a_member_without_its_type_is_not_guessed(here: World) -> None:
    """`.notFound` is of the type that is returned, not of the type around."""
    assert _rows(here, "Fault.notFound") == ["swift/Fault.swift:3 notFound -> ? | ambiguous 1 not bound here"]


def test_a_local_function_is_its_files(here: World) -> None:
    """What Lua calls local is not seen from another file."""
    assert here.callers("shown_one") == ["lua/b.lua:2 shown_one -> lua/a.lua:2 shown_one | unique name"]
    assert here.callers("hidden_one") == ["lua/b.lua:1 hidden_one -> ? | unresolved 0 not bound here"]


def test_a_property_is_no_name_of_the_function_around(here: World) -> None:
    """`selectValue` is what was taken out of the slice."""
    assert _rows(here, "test") == [
        "js/slice.js:3 make -> js/make.js:1 make | imported",
    ]

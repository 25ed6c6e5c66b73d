"""What a name alone must not be linked by: each was shown as sure once, and wrong."""

from __future__ import annotations

from pathlib import Path

from tests.unit.edges.world import World, opened, world

here = opened(
    {
        "rs/src/lib.rs": """
mod one;
mod two;
""",
        "rs/src/one.rs": """
pub struct Answer;
impl Answer {
    type Output = u8;
    fn poll_one(&self) -> Self::Output { 1 }
}
""",
        "rs/src/two.rs": """
pub struct Answer;
impl Answer {
    type Output = u16;
    fn poll_two(&self) -> Self::Output { 1 }
}
""",
        "kt/main/Post.kt": """
package shop
import android.os.*
class Post(private val handler: Handler) {
  fun sendAll() { handler.postOne() }
}
""",
        "kt/test/FakeAndroid.kt": """
package android.os
class Handler {
  fun postOne() {}
}
""",
        "js/select.js": """
function find(a) {}
function select(parts) {
  var i, find
  if ((find = parts.find)) {
    return find(1)
  }
}
""",
        "net/Model.cs": """
namespace Shop;
public class Model {
  public void Open() { DbProviders.GetOrMake("x"); }
}
public class Other {
  public void GetOrMake(string name) {}
}
""",
        "cpp/time.cpp": """
struct formatter {
  using seconds = int;
  seconds s;
};
void wait_all() {
  std::chrono::seconds left(1);
}
""",
        "rb/app.rb": """
class Switch
  attr_accessor :deep_munge
end
def set_up_all(app)
  app.config.deep_munge = true
end
""",
    }
)


def _sure(here: World, name: str, **options: object) -> list[str]:
    return [row for row in here.callees(name, **options) if "| unresolved" not in row and "| ambiguous" not in row]


def test_two_types_of_one_name_in_a_folder_stay_apart(here: World) -> None:
    """`Self::Output` is that of the file's own type."""
    assert _sure(here, "Answer.poll_two", kind="type") == [
        "rs/src/two.rs:4 type Self.Output -> rs/src/two.rs:3 Answer.Output | same class"
    ]


def test_code_does_not_see_what_tests_define(here: World) -> None:
    """A double of another program's class is not meant outside of the tests."""
    assert _sure(here, "Post.sendAll") == []


def test_a_name_that_is_set_in_a_condition_is_a_variable(here: World) -> None:
    """`find` was set two lines above its call."""
    assert _sure(here, "select") == []


def test_a_type_of_another_program_has_none_of_our_methods(here: World) -> None:
    """`DbProviders` begins with a capital and is defined nowhere."""
    assert _sure(here, "Model.Open") == []


def test_a_name_of_the_standard_library_is_no_members(here: World) -> None:
    """`std::chrono::seconds` is not the formatter's."""
    assert _sure(here, "wait_all") == []


def test_what_holds_anything_has_no_members_of_ours(here: World) -> None:
    """A configuration has what someone puts into it."""
    assert _sure(here, "set_up_all") == []


def test_what_only_ranks_behind_is_seen_by_source(tmp_path: Path) -> None:
    """A folder called benchmarks may be what a project is about: its calls are as sure as any. Tests are not seen."""
    node = "package shop;\npublic class {0} {{\n  public void {1}() {{}}\n}}\n"
    api = (
        "package shop;\nclass Api {\n  void run(Node node, Fake fake) {\n    node.archive();\n    fake.lay();\n  }\n}\n"
    )
    files = {
        "benchmarks/Node.java": node.format("Node", "archive"),
        "test/Fake.java": node.format("Fake", "lay"),
        "api/Api.java": api,
    }
    with world(str(tmp_path), files) as made:
        assert made.counts("archive")["sure"] == 1
        assert made.counts("lay").get("sure", 0) == 0

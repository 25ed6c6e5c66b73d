"""Receivers whose type is written: fields, parameters, variables and results, language by language."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.edges.world import world

# Each calls `sendMail` on values of the type Mailer in as many ways as it has; Other has a member of that name too.
_JAVA = """
package shop;
public class Desk {
  private final Mailer mailer;
  private Mailer made = new Mailer();
  Desk(Mailer mailer) { this.mailer = mailer; }
  void go(Mailer given, java.util.List<Mailer> all) {
    mailer.sendMail();
    this.mailer.sendMail();
    made.sendMail();
    given.sendMail();
    var local = new Mailer();
    local.sendMail();
    for (Mailer one : all) { one.sendMail(); }
    make().sendMail();
  }
  Mailer make() { return new Mailer(); }
}
class Mailer { void sendMail() {} }
class Other { void sendMail() {} }
"""
_CSHARP = """
namespace Shop;
public class Desk {
  private readonly Mailer _mailer;
  public Mailer Box { get; set; }
  public Desk(Mailer mailer) { _mailer = mailer; }
  public void Go(Mailer given, List<Mailer> all) {
    _mailer.sendMail();
    this._mailer.sendMail();
    Box.sendMail();
    given?.sendMail();
    var local = new Mailer();
    local.sendMail();
    foreach (Mailer one in all) one.sendMail();
    Make().sendMail();
  }
  Mailer Make() => new();
}
public class Mailer { public void sendMail() {} }
public class Other { public void sendMail() {} }
"""
_KOTLIN = """
package shop
class Desk(private val mailer: Mailer) {
  private val made = Mailer()
  lateinit var late: Mailer
  fun go(given: Mailer) {
    mailer.sendMail()
    this.mailer.sendMail()
    made.sendMail()
    late.sendMail()
    given?.sendMail()
    val local = Mailer()
    local.sendMail()
    make().sendMail()
  }
  fun make(): Mailer = Mailer()
}
class Mailer { fun sendMail() {} }
class Other { fun sendMail() {} }
"""
_SWIFT = """
class Desk {
  private let mailer: Mailer
  var box: Mailer?
  lazy var made = Mailer()
  init(mailer: Mailer) { self.mailer = mailer }
  func go(given: Mailer, with other: Mailer) {
    mailer.sendMail()
    self.mailer.sendMail()
    self.box?.sendMail()
    made.sendMail()
    given.sendMail()
    other.sendMail()
    guard let open = self.box else { return }
    open.sendMail()
    make().sendMail()
  }
  func make() -> Mailer { Mailer() }
}
class Mailer { func sendMail() {} }
class Other { func sendMail() {} }
"""
_RUST = """
pub struct Desk { mailer: Mailer, boxed: Box<Mailer> }
impl Desk {
  fn go(&self, given: &Mailer, other: &mut Mailer) {
    self.mailer.sendMail();
    self.boxed.sendMail();
    given.sendMail();
    other.sendMail();
    let made = Mailer::new();
    made.sendMail();
    let literal = Mailer { size: 1 };
    literal.sendMail();
    self.make().sendMail();
  }
  fn make(&self) -> Mailer { Mailer::new() }
}
pub struct Mailer { size: u8 }
impl Mailer { pub fn new() -> Self { Mailer { size: 1 } } pub fn sendMail(&self) {} }
pub struct Other;
impl Other { pub fn sendMail(&self) {} }
"""
_PHP = """
<?php
namespace App\\Http;
use App\\Mail\\Mailer;
use App\\Mail\\Mailer as Post;
class Desk {
  private Mailer $mailer;
  protected ?Post $post = null;
  /** @var \\App\\Mail\\Mailer */
  protected $noted;
  public function __construct(private readonly Mailer $promoted, Mailer $given) {
    $this->set = $given;
  }
  /** @param Mailer $said */
  public function go(Mailer $given, $said) {
    $this->mailer->sendMail();
    $this->post?->sendMail();
    $this->noted->sendMail();
    $this->promoted->sendMail();
    $this->set->sendMail();
    $given->sendMail();
    $said->sendMail();
    $local = new Post();
    $local->sendMail();
    $this->make()->sendMail();
    self::make()->sendMail();
    static::make()->sendMail();
  }
  public static function make(): Mailer { return new Mailer(); }
}
"""
_PHP_MAIL = """
<?php
namespace App\\Mail;
class Mailer { public function sendMail() {} }
class Other { public function sendMail() {} }
"""


@pytest.mark.parametrize(
    ("files", "ways"),
    [
        ({"Desk.java": _JAVA}, 7),
        ({"Desk.cs": _CSHARP}, 7),
        ({"Desk.kt": _KOTLIN}, 7),
        ({"Desk.swift": _SWIFT}, 8),
        ({"desk.rs": _RUST}, 7),
        ({"a/Desk.php": _PHP, "b/mail.php": _PHP_MAIL}, 11),
    ],
    ids=["java", "csharp", "kotlin", "swift", "rust", "php"],
)
def test_a_typed_receiver_is_followed(files: dict[str, str], ways: int, tmp_path: Path) -> None:
    """Every way to write the type of a receiver leads to its member, and none to the other's."""
    with world(str(tmp_path), files) as here:
        rows = here.callers("Mailer.sendMail")

    assert len(rows) == ways
    assert [row for row in rows if not row.endswith("Mailer.sendMail | receiver type")] == []


def test_a_type_that_is_not_here_is_another_programs(tmp_path: Path) -> None:
    """`number()` is a java.lang.Number: the one method of that name in the repo is not meant."""
    files = {
        "Lazy.java": """
package shop;
class Lazy {
  long inSeconds() { return 1; }
  Duration number() { return null; }
  void go(Lazy lazy) {
    number().inSeconds();
    lazy.inSeconds();
  }
}
"""
    }
    with world(str(tmp_path), files) as here:
        assert here.callees("Lazy.go", kind="call") == [
            "Lazy.java:6 number -> Lazy.java:4 Lazy.number | same class",
            "Lazy.java:7 lazy.inSeconds -> Lazy.java:3 Lazy.inSeconds | receiver type",
            "Lazy.java:6 number().inSeconds -> ? | unresolved 0 outside Duration",
        ]

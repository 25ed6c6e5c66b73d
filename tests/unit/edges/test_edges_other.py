"""Other languages by what they have in common: `this`, members without a receiver, types beside names."""

from __future__ import annotations

from pathlib import Path

from tests.unit.edges.world import World, opened, world

here = opened(
    {
        "net/Order.cs": """
namespace Shop;
public record Order(int Id) {
  public decimal Total() => 0;
}
public class Cart {
  public decimal Total() => 1;
  public void Show(Order order, Cart cart, dynamic other) {
    order.Total();
    cart.Total();
    Total();
    other.Total();
    var made = new Order(1);
    made.Total();
  }
}
""",
        "java/com/a/Desk.java": """
package com.a;
import com.b.Bill;
public class Desk {
  public int amount() { return 0; }
  void show(Bill bill, Desk desk) {
    bill.amount();
    desk.amount();
    amount();
    new Bill().amount();
    Bill made = Bill.make();
    made.amount();
  }
}
""",
        "java/com/b/Bill.java": """
package com.b;
public class Bill {
  public static Bill make() { return new Bill(); }
  public int amount() { return 1; }
}
""",
        "rs/src/lib.rs": """
mod store;
use crate::store::FileSource;

fn go(source: &FileSource) {
    source.fetch_all();
    let made = FileSource::new();
    made.fetch_all();
}
""",
        "rs/src/store.rs": """
pub struct FileSource;
impl FileSource {
    pub fn new() -> Self { FileSource }
    fn inner(&self) { self.fetch_all(); }
    pub fn fetch_all(&self) { self.inner(); }
}
pub struct BufSource;
impl BufSource {
    pub fn new() -> Self { BufSource }
}
""",
    }
)


def test_a_call_binds_to_the_class_of_its_receiver(here: World) -> None:
    """B031: a record and a class with a member of the same name."""
    assert here.callers("Order.Total") == [
        "net/Order.cs:8 order.Total -> net/Order.cs:3 Order.Total | receiver type",
        "net/Order.cs:13 made.Total -> net/Order.cs:3 Order.Total | receiver type",
        "net/Order.cs:11 other.Total -> ? | ambiguous 2 receiver not known",
    ]
    assert here.callers("Cart.Total")[:2] == [
        "net/Order.cs:9 cart.Total -> net/Order.cs:6 Cart.Total | receiver type",
        "net/Order.cs:10 Total -> net/Order.cs:6 Cart.Total | same class",
    ]


def test_packages_are_followed_to_the_class(here: World) -> None:
    """Parameters, constructors and factories of an imported class."""
    assert here.callers("amount") == [
        "java/com/a/Desk.java:6 bill.amount -> java/com/b/Bill.java:4 Bill.amount | receiver type",
        "java/com/a/Desk.java:7 desk.amount -> java/com/a/Desk.java:4 Desk.amount | receiver type",
        "java/com/a/Desk.java:8 amount -> java/com/a/Desk.java:4 Desk.amount | same class",
        "java/com/a/Desk.java:9 new Bill().amount -> java/com/b/Bill.java:4 Bill.amount | receiver type",
        "java/com/a/Desk.java:11 made.amount -> java/com/b/Bill.java:4 Bill.amount | receiver type",
    ]


def test_methods_of_an_impl_belong_to_its_type(here: World) -> None:
    """Both `new` are told apart by their owner."""
    assert here.callers("FileSource.fetch_all") == [
        "rs/src/lib.rs:5 source.fetch_all -> rs/src/store.rs:5 FileSource.fetch_all | receiver type",
        "rs/src/lib.rs:7 made.fetch_all -> rs/src/store.rs:5 FileSource.fetch_all | receiver type",
        "rs/src/store.rs:4 self.fetch_all -> rs/src/store.rs:5 FileSource.fetch_all | same class",
    ]
    assert here.callers("FileSource.new") == [
        "rs/src/lib.rs:6 FileSource.new -> rs/src/store.rs:3 FileSource.new | receiver type"
    ]


def test_a_circle_of_results_and_values_ends(tmp_path: Path) -> None:
    """What two functions return is said by each other, two values are each other's: nothing is known, nothing fails."""
    files = {
        "a.kt": """
fun one(): two.Part = two()
fun two(): one.Part = one()
val left = right
val right = left
fun go() {
  one().runBoth()
  left.runBoth()
}
""",
    }
    with world(str(tmp_path), files) as here:
        assert here.callees("go") == [
            "a.kt:6 one -> a.kt:1 one | same file",
            "a.kt:6 one().runBoth -> ? | unresolved 0 not defined here",
            "a.kt:7 left.runBoth -> ? | unresolved 0 not defined here",
        ]

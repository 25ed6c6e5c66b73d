"""Python: every rule by which a reference finds its definition, and the traps beside each."""

from __future__ import annotations

from tests.unit.edges.world import World, opened

here = opened(
    {
        "shop/__init__.py": """
from .pool import Pool, create as make
from . import cart
""",
        "shop/pool.py": """
import json


class Base:
    def close(self):
        pass


class Pool(Base):
    limit: int = 3

    def __init__(self, size):
        self.spare = Spare()

    def take(self):
        self.note_taken()
        self.close()
        self.spare.take()
        return json.dumps(self)

    def note_taken(self):
        pass


class Spare:
    def take(self):
        pass


def create(size) -> Pool:
    return Pool(size)


class Deep(Pool):
    def take(self):
        return super().take()
""",
        "shop/cart.py": """
class Cart:
    def take(self):
        pass

    def total_price(self):
        pass
""",
        "app.py": """
import os
import shop
from shop import Pool, make
from shop.cart import Cart
from shop.pool import create as build


def main(pool: Pool, cart: "Cart | None", other, make_it):
    pool.take()
    cart.take()
    other.take()
    shop.make(1).take()
    fresh = build(2)
    fresh.take()
    other.total_price()
    os.take()
    make_it()
    shop.cart.Cart().take()


def make_it():
    make(3)


def aliased():
    with Pool(1) as held:
        held.take()
    held = None
    held.take()
""",
    }
)


def test_a_method_is_found_by_self_type_and_import_and_never_by_its_name_alone(here: World) -> None:
    """`Pool.take` has its own calls; those of Cart, Spare and of the os module are not among them."""
    assert here.callers("Pool.take") == [
        "app.py:9 pool.take -> shop/pool.py:15 Pool.take | receiver type",
        "app.py:12 shop.make(1).take -> shop/pool.py:15 Pool.take | receiver type",
        "app.py:14 fresh.take -> shop/pool.py:15 Pool.take | receiver type",
        "app.py:27 held.take -> shop/pool.py:15 Pool.take | receiver type",
        "shop/pool.py:36 super().take -> shop/pool.py:15 Pool.take | inherited",
        "app.py:11 other.take -> ? | ambiguous 4 receiver not known",
        "app.py:29 held.take -> ? | ambiguous 4 receiver not known",
    ]
    assert here.counts("Pool.take") == {"sure": 5, "ambiguous": 2, "unresolved": 0, "elsewhere": 4}


def test_a_call_does_not_bind_to_a_like_named_member_of_another_class(here: World) -> None:
    """`Cart.take` is called where the receiver is a Cart, by annotation or by the class that is called."""
    assert here.callers("Cart.take")[:2] == [
        "app.py:10 cart.take -> shop/cart.py:2 Cart.take | receiver type",
        "app.py:18 shop.cart.Cart().take -> shop/cart.py:2 Cart.take | receiver type",
    ]


def test_a_function_is_found_under_every_name_it_is_imported_by(here: World) -> None:
    """Its alias, the alias that a package passes on, and the alias as a member of that package."""
    assert here.callers("create") == [
        "app.py:3 import make -> shop/pool.py:30 create | imported",
        "app.py:5 import create -> shop/pool.py:30 create | imported",
        "app.py:12 shop.make -> shop/pool.py:30 create | imported",
        "app.py:13 build -> shop/pool.py:30 create | imported",
        "app.py:22 make -> shop/pool.py:30 create | imported",
        "shop/__init__.py:1 import create -> shop/pool.py:30 create | imported",
    ]


def test_what_a_class_refers_to(here: World) -> None:
    """Its base, its own methods, those it inherits, and those of an attribute that __init__ sets."""
    assert here.callees("Pool") == [
        "shop/pool.py:9 extends Base -> shop/pool.py:4 Base | same file",
        "shop/pool.py:13 Spare -> shop/pool.py:25 Spare | same file",
        "shop/pool.py:16 self.note_taken -> shop/pool.py:21 Pool.note_taken | same class",
        "shop/pool.py:17 self.close -> shop/pool.py:5 Base.close | inherited",
        "shop/pool.py:18 self.spare.take -> shop/pool.py:26 Spare.take | receiver type",
        "shop/pool.py:19 json.dumps -> ? | unresolved 0 outside json",
    ]


def test_a_parameter_hides_a_function_of_its_name(here: World) -> None:
    """The reference stays one of that name, and it is said that it is not resolved."""
    assert here.callers("make_it") == ["app.py:17 make_it -> ? | unresolved 0 local variable"]


def test_a_name_that_is_telling_and_defined_once_is_enough(here: World) -> None:
    """`total_price` on a receiver of unknown type is that of Cart; `take` is not."""
    assert here.callers("total_price") == [
        "app.py:15 other.total_price -> shop/cart.py:5 Cart.total_price | unique name"
    ]


def test_a_constructor_is_called_by_its_class(here: World) -> None:
    """`Pool(...)` calls `Pool.__init__`, although it is not called that."""
    assert here.callers("Pool.__init__") == [
        "app.py:26 Pool -> shop/pool.py:12 Pool.__init__ | imported, constructor",
        "shop/pool.py:31 Pool -> shop/pool.py:12 Pool.__init__ | same file, constructor",
    ]


def test_a_kind_of_reference_can_be_asked_for(here: World) -> None:
    """Who extends a class, who names it as a type."""
    assert here.callers("Pool", kind="extends") == ["shop/pool.py:34 extends Pool -> shop/pool.py:9 Pool | same file"]
    assert [row.split()[0] for row in here.callers("Pool", kind="type")] == ["app.py:8", "shop/pool.py:30"]

"""B031 and P4 with a real daemon: who calls what, through the client, before and after an edit."""

from __future__ import annotations

import json

from tests.home import Home
from tests.tree import Tree

ORDER = (
    "class Order:\n    def total(self):\n        return 0\n\n\nclass Cart:\n    def total(self):\n        return 1\n"
)
USE = """from order import Cart, Order


def show(order: Order, cart: Cart, thing):
    order.total()
    cart.total()
"""


def test_callers_callees_and_deps_of_a_repository(ctx: Home, repo: Tree) -> None:
    """A call binds to its own class's member; an edit moves it; imports lead both ways."""
    repo.write("order.py", ORDER)
    repo.write("use.py", USE)
    repo.commit()

    first = ctx.run("callers", "Order.total", cwd=repo.root)
    callees = ctx.run("callees", "show", "--json", cwd=repo.root)
    deps = ctx.run("deps", "order.py", "--reverse", cwd=repo.root)
    repo.write("use.py", USE.replace("order.total()", "thing.total()"))
    edited = ctx.run("callers", "Order.total", "--json", cwd=repo.root)

    assert first.stdout.splitlines()[:4] == [
        "order.py  L2-L3  method Order.total",
        "",
        "use.py",
        "  5  show  order.total()  · receiver type",
    ]
    assert [row["callee"] for row in json.loads(callees.stdout)["results"]] == [
        "Order",
        "Cart",
        "Order.total",
        "Cart.total",
    ]
    assert deps.stdout.startswith("order.py is imported by\n  use.py:1  order (Cart, Order)\n")
    answer = json.loads(edited.stdout)
    assert answer["fresh"] is True
    assert answer["counts"] == {"sure": 0, "ambiguous": 1, "unresolved": 0, "elsewhere": 1}
    assert edited.returncode == 0

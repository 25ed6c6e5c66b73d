"""Go: packages are folders, methods belong to the receiver's type, results have the type of the signature."""

from __future__ import annotations

from pathlib import Path

from tests.indexed import Index, lay
from tests.unit.edges.world import World, opened

here = opened(
    {
        "go.mod": """
module example.com/shop

go 1.22
""",
        "pool/pool.go": """
package pool

import "fmt"

type Spare struct {
	Inner *Pool
}

type Pool struct {
	Base
	spare *Spare
}

type Base struct{}

func (b *Base) Close() {}

func New(size int) (*Pool, error) {
	return build(size), nil
}

func (p *Pool) Take() *Lease {
	p.note()
	p.Close()
	p.spare.Inner.note()
	fmt.Println(p)
	return &Lease{}
}

type Lease struct{}

func (l *Lease) Give() {}
""",
        "pool/build.go": """
package pool

func build(size int) *Pool { return &Pool{} }

func (p *Pool) note() {}
""",
        "cart/cart.go": """
package cart

type Cart struct{}

func (c *Cart) Take() {}

func build() {}
""",
        "main.go": """
package main

import (
	"example.com/shop/cart"
	stock "example.com/shop/pool"
)

func main() {
	fresh, _ := stock.New(1)
	fresh.Take().Give()
	var c cart.Cart
	c.Take()
	for _, other := range others {
		other.Take()
	}
	build()
}

func handle(p *stock.Pool, build func()) {
	p.Take()
	build()
}
""",
    }
)


def test_methods_belong_to_the_type_of_their_receiver(here: World) -> None:
    """By the first result of a function, by a parameter; the element of an unknown slice is ambiguous."""
    assert here.callers("Pool.Take") == [
        "main.go:10 fresh.Take -> pool/pool.go:22 Pool.Take | receiver type",
        "main.go:20 p.Take -> pool/pool.go:22 Pool.Take | receiver type",
        "main.go:14 other.Take -> ? | ambiguous 2 receiver not known",
    ]
    assert here.callers("Cart.Take")[0] == "main.go:12 c.Take -> cart/cart.go:5 Cart.Take | receiver type"


def test_what_a_method_refers_to(here: World) -> None:
    """Methods in another file of the package, those of an embedded type, those of a field's field."""
    assert here.callees("Pool.Take") == [
        "pool/pool.go:22 type Pool -> pool/pool.go:9 Pool | same file",
        "pool/pool.go:22 type Lease -> pool/pool.go:30 Lease | same file",
        "pool/pool.go:23 p.note -> pool/build.go:5 Pool.note | same class",
        "pool/pool.go:24 p.Close -> pool/pool.go:16 Base.Close | inherited",
        "pool/pool.go:25 p.spare.Inner.note -> pool/build.go:5 Pool.note | receiver type",
        "pool/pool.go:27 type Lease -> pool/pool.go:30 Lease | same file",
        "pool/pool.go:26 fmt.Println -> ? | unresolved 0 outside fmt",
    ]


def test_packages_are_found_by_the_path_of_the_module(here: World) -> None:
    """Under their own name and under an alias."""
    assert here.callees("main.go:main")[:4] == [
        "main.go:9 stock.New -> pool/pool.go:18 New | imported",
        "main.go:10 fresh.Take -> pool/pool.go:22 Pool.Take | receiver type",
        "main.go:10 fresh.Take().Give -> pool/pool.go:32 Lease.Give | receiver type",
        "main.go:11 type cart.Cart -> cart/cart.go:3 Cart | imported",
    ]


def test_a_bare_name_is_one_of_the_package_only(here: World) -> None:
    """Two packages have a `build`; main has none, and a parameter is no function."""
    assert here.callers("build") == [
        "pool/pool.go:19 build -> pool/build.go:3 build | same package",
        "main.go:16 build -> ? | unresolved 0 not bound here",
        "main.go:21 build -> ? | unresolved 0 local variable",
    ]


def test_of_several_places_the_same_is_shown_whatever_the_history(tmp_path: Path) -> None:
    """Two files define one function, each for its system: row ids do not say which comes first."""
    files = {
        "go.mod": "module example.org/shop\n",
        "open_linux.go": "package shop\n\nfunc openPort(n int) int {\n\treturn n\n}\n",
        "open_windows.go": "package shop\n\nfunc openPort(n int) int {\n\treturn n + 1\n}\n",
        "main.go": "package shop\n\nfunc Serve() int {\n\treturn openPort(80)\n}\n",
    }
    rows = []
    for place, order in (("one", sorted(files)), ("two", sorted(files, reverse=True))):
        lay(str(tmp_path / place), files)
        index = Index(str(tmp_path / place), str(tmp_path / f"{place}.db"))
        for path in order:
            index.take(path)
        with index.snapshot() as snapshot:
            rows.append(World(snapshot).callees("Serve"))

    assert rows[0] == rows[1] == ["main.go:4 openPort -> open_linux.go:3 openPort | same package"]

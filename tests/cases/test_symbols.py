"""Cases of the kind symbols: what each language hides is a name of its own, at its line, under its owner."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cases.room import Rows, filled

FILES = {
    # B019
    "auth.ts": """\
export const useAuth = () => 1
abstract class Base { abstract run(): void }
exports.boot = () => {}
export const useForm = async function named<T>(x: T) { return x }
export class Panel {
  onClick = () => { this.shown = true }
  static of = (x: number) => new Panel()
  #hidden() { return 1 }
  get title() { return "" }
  constructor(private store: Depot) { super() }
  async *pages() {}
}
export namespace Shapes { export function area() {} export namespace Deep { export const edge = () => 1 } }
declare module "outer" { export function ambient(): void }
export enum Level { Low, High }
export interface Depot { load(id: string): Promise<void>; size: number }
export type Handler = (event: Event) => void
export function over(a: string): void
export function over(a: number): void
export function over(a: any) {}
export default function () {}
""",
    "old.js": """\
function Widget() {
  this.draw = function () {}
  this.erase = () => {}
}
Widget.prototype.paint = function () {}
Widget.make = () => new Widget()
exports.open = function () {}
module.exports.close = () => {}
module.exports = { list: function () {}, sum() {}, pick: (x) => x }
const api = { fetchAll: async () => {}, nested: { deepOne() {} } }
var self = function inner() {}
export const wrapped = memo(() => 1)
""",
    "Form.tsx": """\
export function Form() {
  const submit = () => { return 1 }
  function reset() {}
  return <div onClick={submit} />
}
export const Ticket = React.forwardRef((props, ref) => <p />)
export const Row: FC<Props> = ({ a }) => <i>{a}</i>
""",
    # B021
    "stack.go": """\
package stack

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(v T) {}
func (s Stack[T]) Peek() T { return s.items[0] }
func (Stack[T]) Len() int { return 0 }
func (p *Pair[K, V]) Swap() {}
func New[T any]() *Stack[T] { return nil }
func (plain Plain) Do() {}
type (
	Pair[K comparable, V any] struct{ k K }
	Doer interface{ Do() }
	Plain = struct{}
)
const (
	First = iota
	Second
)
""",
    # B023
    "source.rs": """\
pub trait Source { fn read(&self) -> u8; fn skip(&self) {} }
pub struct FileSource;
impl FileSource { pub fn new() -> Self { FileSource } }
impl Source for FileSource { fn read(&self) -> u8 { 1 } }
pub struct BufSource<T> { inner: T }
impl<T> BufSource<T> where T: Source { pub fn new(inner: T) -> Self { BufSource { inner } } }
impl<T> Source for BufSource<T> where T: Source { fn read(&self) -> u8 { 2 } }
impl<'a> From<&'a str> for FileSource { fn from(_: &'a str) -> Self { FileSource } }
impl<T> Deref for crate::wrap::Wrapper<T> { fn deref(&self) -> &T { &self.0 } }
pub mod inner { pub fn helper() {} pub enum Mode { On, Off } }
macro_rules! twice { ($x:expr) => { $x; $x } }
pub const LIMIT: usize = 3;
pub type Reader = Box<dyn Source>;
""",
    # B025
    "calc.h": """\
#pragma once
namespace math {
class Calc {
 public:
  explicit Calc(int start);
  ~Calc();
  int add(int a, int b);
  Calc& operator+=(int n);
  template <typename T> T scale(T by) { return by; }
};
}
""",
    "calc.cpp": """\
#include "calc.h"
namespace math {
Calc::Calc(int start) {}
Calc::~Calc() {}
int Calc::add(int a, int b) { return a + b; }
Calc& Calc::operator+=(int n) { return *this; }
}
int math::outside() { return 1; }
template <typename T> T Box<T>::take() { return T(); }
""",
    "api.c": """\
API_CALL int api_go(void) { return 1; }
__attribute__((unused)) static int quiet(void) { return 2; }
EXPORT(int) spelled(int a) { return a; }
static inline const char *text_of(int n) { return ""; }
int (*handler_of(int n))(void) { return 0; }
struct point { int x; };
typedef struct { int y; } spot_t;
enum shade { DARK, LIGHT };
#define SQUARE(x) ((x) * (x))
int old_style(a, b) int a; int b; { return a + b; }
""",
    # B027
    "words.kt": """\
fun String.shout() = uppercase()
fun <T> List<T>.second(): T = this[1]
class Money(val cents: Int) {
    companion object { fun of(c: Int) = Money(c) }
    fun plus(o: Money): Money { fun local() = 1; return this }
    object Bank { fun open() = 1 }
}
object Registry { fun register() {} }
interface Shape { fun area(): Double }
enum class Suit { HEARTS; fun color() = 1 }
val Money.euros: Int get() = cents / 100
""",
    "P.java": """\
record P(int x) { static P zero() { return new P(0); } P { if (x < 0) throw null; } }
interface Port { void send(); default void flush() {} }
enum Dir { N { int dx() { return 0; } }; abstract int dx(); static Dir of(int i) { return N; } }
class Outer { class Inner { void deep() {} } Outer(int a) {} Runnable r = () -> {}; }
@interface Marker { String value(); }
sealed interface Node permits Leaf {}
""",
    "Ops.scala": """\
object Ops { def build() = 1 }
case class Vec(x: Int) { def +(o: Vec) = this }
trait Draw { def draw(): Unit }
extension (s: String) def loud = s.toUpperCase
""",
    # B029
    "app.py": """\
@app.route("/x")
def show(): pass
class Store:
    @property
    def size(self): return 1
    @size.setter
    def size(self, n): pass
    @staticmethod
    def make(): pass
    @functools.lru_cache(maxsize=None)
    async def load(self): pass
    class Meta:
        def inner(self): pass
if True:
    def guarded(): pass
try:
    import x
except ImportError:
    def fallback(): pass
def outer():
    def nested(): pass
""",
    "builder.rb": """\
module Tools
  class Builder
    class << self
      def build; end
      private
      def secret; end
    end
    def self.create; end
    define_method(:dynamic) { }
    attr_reader :size
    def run! = 1
    def ready?; end
    Part = Struct.new(:a) do
      def whole; end
    end
  end
end
""",
    "traits.php": """\
<?php
namespace App;
trait Loads { public function loadIt() {} abstract function must(); }
enum Suit: string { case Hearts = 'h'; public function label() {} public static function pick() {} }
interface Sends { public function send(); }
abstract class Repo { private static function find() {} public function __construct(private int $id) {} }
function helper() {}
$arrow = fn($x) => $x;
""",
    # B031, B032
    "Order.cs": """\
namespace Shop;
record Order(int Id) { public decimal Total() => 0; }
class Cart { public decimal Total() => 1; public static Cart operator +(Cart a, Cart b) => a; }
record struct Coin(int Value) { public int Twice() => 2; }
public partial class Parts { void One() {} }
public partial class Parts { void Two() {} ~Parts() {} public int this[int i] => i; public event Action Changed; }
static class Extend { public static bool IsRich(this Cart c) => true; }
interface IAudit { void Note(string s); }
delegate void Ping(int n);
enum Kind { Cash, Card }
""",
    "Tile.swift": """\
protocol Paintable { func paint() }
struct Tile<T> { var face: T; init(face: T) { self.face = face }; subscript(i: Int) -> T { face } }
extension Tile: Equatable { func flip() {} }
extension Array where Element == Int { func sumTwice() -> Int { 0 } }
actor Vault { func store() async {} }
indirect enum Tree { case leaf; func depth() -> Int { 1 } }
final class Board { lazy var grid: [Int] = []; class func make() {} }
func topLevel<T>(_ t: T) -> some Equatable { 1 }
""",
}

# Case, what is asked, and where: all results, as file:line, or file:line#qualified name.
ASKED = [
    ("B019", "useAuth", "auth.ts:1"),
    ("B019", "Base", "auth.ts:2"),
    ("B019", "Base.run", "auth.ts:2"),
    ("B019", "boot", "auth.ts:3"),
    ("B019", "useForm", "auth.ts:4"),
    ("B019", "Panel.onClick", "auth.ts:6"),
    ("B019", "Panel.of", "auth.ts:7"),
    ("B019", "Panel.title", "auth.ts:9"),
    ("B019", "Panel.pages", "auth.ts:11"),
    ("B019", "Shapes.area", "auth.ts:13"),
    ("B019", "Shapes.Deep.edge", "auth.ts:13"),
    ("B019", "ambient", "auth.ts:14"),
    ("B019", "Level", "auth.ts:15"),
    ("B019", "Depot.load", "auth.ts:16"),
    ("B019", "Handler", "auth.ts:17"),
    ("B019", "Widget.draw", "old.js:2"),
    ("B019", "Widget.erase", "old.js:3"),
    ("B019", "Widget.paint", "old.js:5"),
    ("B019", "Widget.make", "old.js:6"),
    ("B019", "open", "old.js:7 words.kt:6#Money.Bank.open"),
    ("B019", "close", "old.js:8"),
    ("B019", "list", "old.js:9"),
    ("B019", "sum", "old.js:9"),
    ("B019", "pick", "old.js:9 traits.php:4#Suit.pick"),
    ("B019", "fetchAll", "old.js:10"),
    ("B019", "deepOne", "old.js:10"),
    ("B019", "wrapped", "old.js:12"),
    ("B019", "submit", "Form.tsx:2"),
    ("B019", "reset", "Form.tsx:3"),
    ("B019", "Ticket", "Form.tsx:6"),
    ("B019", "Row", "Form.tsx:7"),
    ("B021", "Stack.Push", "stack.go:5#Stack.Push"),
    ("B021", "Stack.Peek", "stack.go:6#Stack.Peek"),
    ("B021", "Stack.Len", "stack.go:7#Stack.Len"),
    ("B021", "Pair.Swap", "stack.go:8#Pair.Swap"),
    ("B021", "New", "stack.go:9#New"),
    ("B021", "Plain.Do", "stack.go:10#Plain.Do"),
    ("B021", "Doer", "stack.go:13"),
    ("B021", "Second", "stack.go:18"),
    ("B023", "Source::read", "source.rs:1"),
    ("B023", "FileSource::read", "source.rs:4"),
    ("B023", "BufSource::read", "source.rs:7"),
    ("B023", "Source::skip", "source.rs:1"),
    ("B023", "FileSource::new", "source.rs:3"),
    ("B023", "BufSource::new", "source.rs:6"),
    ("B023", "new", "source.rs:3 source.rs:6"),
    ("B023", "FileSource::from", "source.rs:8"),
    ("B023", "Wrapper::deref", "source.rs:9"),
    ("B023", "inner::helper", "source.rs:10"),
    ("B023", "twice", "source.rs:11"),
    ("B025", "Calc::add", "calc.cpp:5 calc.h:7"),
    ("B025", "Calc::operator+=", "calc.cpp:6 calc.h:8"),
    ("B025", "Calc::scale", "calc.h:9"),
    ("B025", "outside", "calc.cpp:8"),
    ("B025", "Box::take", "calc.cpp:9"),
    ("B025", "api_go", "api.c:1"),
    ("B025", "quiet", "api.c:2"),
    ("B025", "spelled", "api.c:3"),
    ("B025", "text_of", "api.c:4"),
    ("B025", "handler_of", "api.c:5"),
    ("B025", "point", "api.c:6"),
    ("B025", "spot_t", "api.c:7"),
    ("B025", "SQUARE", "api.c:9"),
    ("B025", "old_style", "api.c:10"),
    ("B027", "shout", "words.kt:1"),
    ("B027", "String.shout", "words.kt:1"),
    ("B027", "second", "words.kt:2"),
    ("B027", "Money.of", "words.kt:4"),
    ("B027", "Bank.open", "words.kt:6"),
    ("B027", "Registry.register", "words.kt:8"),
    ("B027", "Shape.area", "words.kt:9"),
    ("B027", "Suit.color", "words.kt:10"),
    ("B027", "P.zero", "P.java:1"),
    ("B027", "Port.flush", "P.java:2"),
    ("B027", "Dir.of", "P.java:3"),
    ("B027", "Outer.Inner.deep", "P.java:4"),
    ("B027", "Marker", "P.java:5"),
    ("B027", "Node", "P.java:6"),
    ("B027", "Ops.build", "Ops.scala:1"),
    ("B027", "Vec", "Ops.scala:2"),
    ("B027", "Draw.draw", "Ops.scala:3"),
    ("B027", "loud", "Ops.scala:4"),
    ("B029", "show", "app.py:2"),
    ("B029", "Store.size", "app.py:5 app.py:7"),
    ("B029", "Store.make", "app.py:9"),
    ("B029", "Store.load", "app.py:11"),
    ("B029", "Meta.inner", "app.py:13"),
    ("B029", "guarded", "app.py:15"),
    ("B029", "fallback", "app.py:19"),
    ("B029", "Builder.build", "builder.rb:4#Tools.Builder.build"),
    ("B029", "Builder.secret", "builder.rb:6"),
    ("B029", "Builder.create", "builder.rb:8"),
    ("B029", "run!", "builder.rb:11"),
    ("B029", "ready?", "builder.rb:12"),
    ("B029", "whole", "builder.rb:14"),
    ("B029", "Loads.loadIt", "traits.php:3"),
    ("B029", "Loads.must", "traits.php:3"),
    ("B029", "Suit.label", "traits.php:4"),
    ("B029", "Sends.send", "traits.php:5"),
    ("B029", "Repo.find", "traits.php:6"),
    ("B029", "helper", "source.rs:10 traits.php:7"),
    ("B031", "Order.Total", "Order.cs:2"),
    ("B031", "Cart.Total", "Order.cs:3"),
    ("B031", "Coin.Twice", "Order.cs:4"),
    ("B031", "Total", "Order.cs:2 Order.cs:3"),
    ("B032", "Parts", "Order.cs:5 Order.cs:6"),
    ("B032", "Parts.One", "Order.cs:5"),
    ("B032", "Parts.Two", "Order.cs:6"),
    ("B032", "IsRich", "Order.cs:7"),
    ("B032", "IAudit.Note", "Order.cs:8"),
    ("B032", "Ping", "Order.cs:9"),
    ("B032", "Kind", "Order.cs:10"),
    ("B032", "Paintable.paint", "Tile.swift:1"),
    ("B032", "Tile", "Tile.swift:2"),
    ("B032", "Tile.flip", "Tile.swift:3"),
    ("B032", "sumTwice", "Tile.swift:4"),
    ("B032", "Vault.store", "Tile.swift:5"),
    ("B032", "Tree.depth", "Tile.swift:6"),
    ("B032", "Board.make", "Tile.swift:7"),
    ("B032", "topLevel", "Tile.swift:8"),
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    with filled(tmp_path_factory.mktemp("symbols"), FILES) as found:
        yield found


def asked(case: str) -> pytest.MarkDecorator:
    """Return the questions of one case as parameters."""
    mine = [(pattern, places.split()) for each, pattern, places in ASKED if each == case]
    return pytest.mark.parametrize(("pattern", "places"), mine, ids=[pattern for pattern, _ in mine])


def check(rows: Rows, pattern: str, places: list[str]) -> None:
    """Every result and no other, at the line of its definition, under the owner where one is named."""
    found = rows.symbols(pattern)

    have = [f"{row['file']}:{row['definition_line']}" for row in found]
    assert have == [place.partition("#")[0] for place in places], [row["qualified_name"] for row in found]
    for row, place in zip(found, places, strict=True):
        owner = place.partition("#")[2]
        assert not owner or row["qualified_name"] == owner
        assert not set("[]<>") & set(row["qualified_name"]) or "operator" in row["name"]


@asked("B019")
def test_javascript_and_typescript(rows: Rows, pattern: str, places: list[str]) -> None:
    """B019: arrows, assigned functions, class fields, abstract members, namespaces, functions in components."""
    check(rows, pattern, places)


@asked("B021")
def test_go(rows: Rows, pattern: str, places: list[str]) -> None:
    """B021: generic receivers by pointer, value and without a name; no name holds a bracket."""
    check(rows, pattern, places)


@asked("B023")
def test_rust(rows: Rows, pattern: str, places: list[str]) -> None:
    """B023: methods belong to the type of the impl, trait methods without a body to the trait."""
    check(rows, pattern, places)


@asked("B025")
def test_c_and_cpp(rows: Rows, pattern: str, places: list[str]) -> None:
    """B025: the body comes before its declaration; a macro or an attribute before the name hides nothing."""
    check(rows, pattern, places)


@asked("B027")
def test_jvm(rows: Rows, pattern: str, places: list[str]) -> None:
    """B027: receivers of extensions, companions, records and nested types keep their owner."""
    check(rows, pattern, places)


@asked("B029")
def test_dynamic(rows: Rows, pattern: str, places: list[str]) -> None:
    """B029: decorated, guarded, singleton, of a trait or an enum."""
    check(rows, pattern, places)


@asked("B031")
def test_members_of_records(rows: Rows, pattern: str, places: list[str]) -> None:
    """B031: a like-named member of another class is another result."""
    check(rows, pattern, places)


@asked("B032")
def test_dotnet_and_swift(rows: Rows, pattern: str, places: list[str]) -> None:
    """B032: partial types, extensions, actors, delegates, subscripts beside them."""
    check(rows, pattern, places)


def test_a_local_function_is_none_of_the_class(rows: Rows) -> None:
    """B027: it is not offered under the class."""
    assert rows.symbols("Money.local") == []

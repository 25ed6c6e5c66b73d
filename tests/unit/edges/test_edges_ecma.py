"""JavaScript and TypeScript: modules by path, types by annotation, `this`, names that a module gives to others."""

from __future__ import annotations

from tests.unit.edges.world import World, opened

here = opened(
    {
        "src/pool/index.ts": """
export { Pool } from './pool.js';
export * from './create';
export default function connect(size: number): number {
  return size;
}
""",
        "src/pool/pool.ts": """
export class Base {
  close(): void {}
}

export class Pool extends Base {
  constructor(private size: number) {
    super();
  }

  take(): Lease {
    this.noteTaken();
    this.close();
    return new Lease();
  }

  noteTaken(): void {}
}

export class Lease {
  give(): void {}
}
""",
        "src/pool/create.ts": """
import { Pool } from './pool';

export const createPool = (size: number): Pool => new Pool(size);
""",
        "src/cart.ts": """
export class Cart {
  take(): void {}
  noteTaken(): void {}
}
""",
        "src/app.tsx": """
import open, { Pool, createPool as make } from './pool';
import * as carts from './cart';
import type { Cart } from './cart';
import { render } from 'react-dom';

export function main(pool: Pool, cart: Cart, other: any, run: () => void) {
  pool.take();
  cart.take();
  other.take();
  const fresh = make(1);
  fresh.take();
  pool.take().give();
  new carts.Cart().noteTaken();
  open(1);
  render(null);
  run();
}

function run() {}
run();
""",
        "lib/old.js": """
const { helper } = require('./helper');
const all = require('./helper');

exports.boot = function boot() {
  helper();
  all.helper();
};
""",
        "lib/helper.js": """
function helper() {}
function generic() {}
module.exports = { helper };
""",
        "lib/other.js": """
import { something } from './helper';

generic();
""",
    }
)


def test_types_annotations_and_results_tell_one_method_from_another(here: World) -> None:
    """A parameter's type, the type that a function returns; an `any` is ambiguous."""
    assert here.callers("take") == [
        "src/app.tsx:7 pool.take -> src/pool/pool.ts:10 Pool.take | receiver type",
        "src/app.tsx:8 cart.take -> src/cart.ts:2 Cart.take | receiver type",
        "src/app.tsx:11 fresh.take -> src/pool/pool.ts:10 Pool.take | receiver type",
        "src/app.tsx:12 pool.take -> src/pool/pool.ts:10 Pool.take | receiver type",
        "src/app.tsx:9 other.take -> ? | ambiguous 2 receiver not known",
    ]


def test_what_a_function_refers_to(here: World) -> None:
    """Through index files, re-exports, default and namespace imports; packages lead outside."""
    assert here.callees("main")[5:] == [
        "src/app.tsx:10 make -> src/pool/create.ts:3 createPool | imported",
        "src/app.tsx:11 fresh.take -> src/pool/pool.ts:10 Pool.take | receiver type",
        "src/app.tsx:12 pool.take -> src/pool/pool.ts:10 Pool.take | receiver type",
        "src/app.tsx:12 pool.take().give -> src/pool/pool.ts:20 Lease.give | receiver type",
        "src/app.tsx:13 carts.Cart -> src/cart.ts:1 Cart | imported",
        "src/app.tsx:13 new carts.Cart().noteTaken -> src/cart.ts:3 Cart.noteTaken | receiver type",
        "src/app.tsx:14 open -> src/pool/index.ts:3 connect | imported",
        "src/app.tsx:15 render -> ? | unresolved 0 outside react-dom",
        "src/app.tsx:16 run -> ? | unresolved 0 local variable",
    ]


def test_this_is_the_class_around_and_what_it_extends(here: World) -> None:
    """A method of its own, one of its base."""
    assert here.callees("Pool.take")[1:3] == [
        "src/pool/pool.ts:11 this.noteTaken -> src/pool/pool.ts:16 Pool.noteTaken | same class",
        "src/pool/pool.ts:12 this.close -> src/pool/pool.ts:2 Base.close | inherited",
    ]


def test_a_default_export_is_found_under_the_importers_name(here: World) -> None:
    """`open` in one file is `connect` in the other."""
    assert here.callers("connect") == [
        "src/app.tsx:1 import open -> src/pool/index.ts:3 connect | imported",
        "src/app.tsx:14 open -> src/pool/index.ts:3 connect | imported",
    ]


def test_required_modules_are_imports(here: World) -> None:
    """CommonJS: what is taken out of `require`, and the module as a name."""
    assert here.callers("helper") == [
        "lib/old.js:1 import helper -> lib/helper.js:1 helper | imported",
        "lib/old.js:5 helper -> lib/helper.js:1 helper | imported",
        "lib/old.js:6 all.helper -> lib/helper.js:1 helper | imported",
    ]


def test_a_module_sees_nothing_that_it_does_not_import(here: World) -> None:
    """The only `generic` of the repo is another module's own."""
    assert here.callers("generic") == ["lib/other.js:3 generic -> ? | unresolved 0 not bound here"]


def test_a_constructor_is_called_by_new(here: World) -> None:
    """The class is what the code names."""
    assert here.callers("Pool.constructor") == [
        "src/pool/create.ts:3 Pool -> src/pool/pool.ts:6 Pool.constructor | imported, constructor"
    ]

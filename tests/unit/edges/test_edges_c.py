"""C: prototypes and bodies are one thing, headers say which of several is meant, statics are nobody else's."""

from __future__ import annotations

from tests.unit.edges.world import World, opened

here = opened(
    {
        "src/pool.h": """
#ifndef POOL_H
#define POOL_H
typedef struct pool pool;
#define POOL_MAX 20
#define poolSize(p) ((p)->size)
pool *poolCreate(int size);
int poolTake(pool *p);
#endif
""",
        "src/pool.c": """
#include "pool.h"
#include <stdlib.h>

struct pool {
    int size;
    int (*handler)(int size);
};

static int checkSize(int size) {
    return size < POOL_MAX;
}

pool *poolCreate(int size) {
    pool *p = malloc(sizeof(*p));
    checkSize(size);
    return p;
}

int poolTake(pool *p) {
    return p->handler(poolSize(p));
}
""",
        "src/server.h": """
#include "pool.h"
""",
        "src/main.c": """
#include "server.h"

static int checkSize(int size) {
    return size;
}

int main(int argc, char **argv, int (*poolFree)(void)) {
    pool *p = poolCreate(POOL_MAX);
    checkSize(1);
    poolTake(p);
    poolFree();
    return lateName(p);
}
""",
        "deps/copy/pool.h": """
int poolTake(int *p);
""",
        "deps/copy/pool.c": """
#include "pool.h"

int poolTake(int *p) {
    return *p;
}

int poolFree(void) {
    return 0;
}
""",
        "deps/copy/use.c": """
#include "pool.h"

int use(int *p) {
    return poolTake(p) + checkSize(2);
}
""",
        "tools/late.c": """
int lateName(void *p) {
    return p != 0;
}

int tool(int *p) {
    return poolTake(p);
}
""",
    }
)


def test_the_header_says_which_of_two_bodies_is_meant(here: World) -> None:
    """Two programs have a `poolTake`; who includes neither header is ambiguous."""
    assert here.callers("poolTake") == [
        "src/main.c:10 poolTake -> src/pool.c:19 poolTake | included",
        "deps/copy/use.c:4 poolTake -> deps/copy/pool.c:3 poolTake | included",
        "tools/late.c:6 poolTake -> ? | ambiguous 2 unique name",
    ]


def test_a_static_function_is_its_own_files(here: World) -> None:
    """Two files have a static `checkSize`; a third one calls neither."""
    assert here.callers("checkSize") == [
        "src/main.c:9 checkSize -> src/main.c:3 checkSize | same file",
        "src/pool.c:15 checkSize -> src/pool.c:9 checkSize | same file",
        "deps/copy/use.c:4 checkSize -> ? | unresolved 0 not visible here",
    ]


def test_what_a_function_refers_to(here: World) -> None:
    """Through a header that includes another one; a function pointer is a parameter; the linker finds the rest."""
    assert here.callees("src/main.c:main") == [
        "src/main.c:8 type pool -> src/pool.h:3 pool | included",
        "src/main.c:8 poolCreate -> src/pool.c:13 poolCreate | included",
        "src/main.c:8 constant POOL_MAX -> src/pool.h:4 POOL_MAX | included",
        "src/main.c:9 checkSize -> src/main.c:3 checkSize | same file",
        "src/main.c:10 poolTake -> src/pool.c:19 poolTake | included",
        "src/main.c:12 lateName -> tools/late.c:1 lateName | unique name",
        "src/main.c:11 poolFree -> ? | unresolved 0 local variable",
    ]


def test_a_call_through_a_field_is_one_of_the_struct(here: World) -> None:
    """Macros of the header are callees like functions."""
    assert here.callees("src/pool.c:poolTake") == [
        "src/pool.c:19 type pool -> src/pool.c:4 pool | same file",
        "src/pool.c:20 p.handler -> src/pool.c:6 pool.handler | receiver type",
        "src/pool.c:20 poolSize -> src/pool.h:5 poolSize | included",
    ]

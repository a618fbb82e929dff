/* Graphs of which many thousand objects wait at once: the worklist keeps them in buckets by
 * address.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/short_forms.h"
#include "support/types.h"

#define NODES ((size_t)24000)

/* Two kinds that lead to each other in no order, and to plain bytes. */
typedef struct blue blue;
typedef struct red {
    struct red *near;
    blue *far[3];
    size_t number;
} red;

struct blue {
    red *one, *other;
    char *label;
    size_t number, count;
    int *values;
};

typedef struct forest {
    red *reds;
    blue *blues;
    char *seen; /* red i: i; blue i: NODES + i */
    size_t *queue, found;
} forest;

static haul_type *red_type, *blue_type;

static void types_start(void)
{
    static const haul_field red_fields[] = { HAUL_OBJECT(red, near, &red_type),
                                             HAUL_EACH(red, far, .target = &blue_type) };
    static const haul_field blue_fields[] = { HAUL_OBJECT(blue, one, &red_type),
                                              HAUL_OBJECT(blue, other, &red_type),
                                              HAUL_STRING(blue, label),
                                              HAUL_ARRAY(blue, values, HAUL_COUNT(blue, count)) };
    CHECK_STATUS(type_make("red", sizeof(red), red_fields, 2, &red_type), HAUL_OK);
    CHECK_STATUS(type_make("blue", sizeof(blue), blue_fields, 4, &blue_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(red_type), HAUL_OK);
}

static void types_end(void)
{
    haul_type_free(&red_type);
    haul_type_free(&blue_type);
}

static size_t draw(uint64_t *state, size_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(*state >> 33) % below;
}

static void forest_make(forest *f, uint64_t seed)
{
    static char labels[] = "a\0to\0tree\0timber";
    static int values[64];
    size_t i;
    f->reds = calloc(NODES, sizeof *f->reds);
    f->blues = calloc(NODES, sizeof *f->blues);
    f->seen = calloc(2 * NODES, 1);
    f->queue = calloc(2 * NODES, sizeof *f->queue);
    CHECK(f->reds && f->blues && f->seen && f->queue);
    for (i = 0; i < NODES; i++) {
        red *r = &f->reds[i];
        blue *b = &f->blues[i];
        r->number = i;
        r->near = draw(&seed, 4) ? &f->reds[draw(&seed, NODES)] : NULL;
        r->far[0] = &f->blues[draw(&seed, NODES)];
        r->far[1] = draw(&seed, 2) ? &f->blues[draw(&seed, NODES)] : NULL;
        b->number = NODES + i;
        b->one = &f->reds[draw(&seed, NODES)];
        b->other = &f->reds[draw(&seed, NODES)];
        b->label = labels + draw(&seed, sizeof labels - 1);
        b->count = draw(&seed, 64);
        b->values = values + draw(&seed, 64 - b->count + 1) % 64;
        b->count = b->count < 64 - (size_t)(b->values - values) ? b->count
                                                                : 64 - (size_t)(b->values - values);
    }
}

static void forest_free(forest *f)
{
    free(f->reds);
    free(f->blues);
    free(f->seen);
    free(f->queue);
}

static void meet(forest *f, size_t number)
{
    if (f->seen[number])
        return;
    f->seen[number] = 1;
    f->queue[f->found++] = number;
}

/* What the first red one reaches, by the obvious walk. */
static void forest_walk(forest *f)
{
    size_t i, at;
    memset(f->seen, 0, 2 * NODES);
    f->found = 0;
    meet(f, 0);
    for (i = 0; i < f->found; i++) {
        const red *r = f->queue[i] < NODES ? &f->reds[f->queue[i]] : NULL;
        const blue *b = r ? NULL : &f->blues[f->queue[i] - NODES];
        if (r && r->near)
            meet(f, r->near->number);
        for (at = 0; r && at < 3; at++)
            if (r->far[at])
                meet(f, r->far[at]->number);
        if (b) {
            meet(f, b->one->number);
            meet(f, b->other->number);
        }
    }
}

/* ---- The packed copy. */

static const char *there(const haul_plan *plan, const char *arena, const void *address)
{
    size_t offset;
    CHECK_STATUS(haul_plan_offset(plan, address, &offset), HAUL_OK);
    return arena + offset;
}

static void same_pointer(const haul_plan *plan, const char *arena, const void *copy,
                         const void *source)
{
    CHECK_PTR(copy, source ? there(plan, arena, source) : NULL);
}

static void same_object(const forest *f, const haul_plan *plan, const char *arena, size_t number)
{
    size_t at;
    if (number < NODES) {
        const red *source = &f->reds[number], *copy = (const void *)there(plan, arena, source);
        CHECK_EQ(copy->number, number);
        same_pointer(plan, arena, copy->near, source->near);
        for (at = 0; at < 3; at++)
            same_pointer(plan, arena, copy->far[at], source->far[at]);
    } else {
        const blue *source = &f->blues[number - NODES],
                   *copy = (const void *)there(plan, arena, source);
        CHECK_EQ(copy->number, number);
        CHECK_EQ(copy->count, source->count);
        CHECK_STR(copy->label, source->label);
        same_pointer(plan, arena, copy->one, source->one);
        same_pointer(plan, arena, copy->other, source->other);
        same_pointer(plan, arena, copy->label, source->label);
        if (source->count)
            same_pointer(plan, arena, copy->values, source->values);
    }
}

static void check_copy(forest *f, haul_context *context)
{
    haul_root root = { NULL, NULL, 1 };
    haul_plan_info statistics;
    haul_plan *plan;
    char *arena;
    size_t i, described = 0;
    root.address = &f->reds[0];
    root.type = red_type;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    arena = malloc(plan_bytes(plan) + 16);
    CHECK(arena != NULL);
    CHECK_STATUS(haul_plan_pack(plan, arena, plan_bytes(plan), (uint64_t)(uintptr_t)arena, NULL),
                 HAUL_OK);
    for (i = 0; i < f->found; i++)
        same_object(f, plan, arena, f->queue[i]);
    for (i = 0; i < NODES; i++) {
        size_t offset;
        described += haul_plan_offset(plan, &f->reds[i].number, &offset) == HAUL_OK;
        described += haul_plan_offset(plan, &f->blues[i].number, &offset) == HAUL_OK;
    }
    CHECK_EQ(described, f->found);
    haul_plan_get_info(plan, &statistics);
    CHECK(statistics.worklist_bytes > 8 * 1000 * 8); /* so many did wait */
    free(arena);
    haul_plan_free(&plan);
}

TEST(worklist, graphs_of_which_thousands_wait_at_once_are_packed_as_the_obvious_walk_finds_them)
{
    forest f;
    haul_context *context;
    uint64_t seed;
    types_start();
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    for (seed = 1; seed <= 3; seed++) {
        memset(&f, 0, sizeof f);
        forest_make(&f, seed);
        forest_walk(&f);
        CHECK(f.found > NODES);
        check_copy(&f, context);
        forest_free(&f);
    }
    haul_context_free(&context);
    types_end();
}

/* ---- Memory that runs out. */

TEST(worklist, memory_that_runs_out_while_thousands_wait_is_told_and_all_of_it_given_back_H1_H2)
{
    forest f;
    types_start();
    memset(&f, 0, sizeof f);
    forest_make(&f, 4);
    CHECK(fault_every_plan(haul_from_object(&f.reds[0], red_type), FAULT_MEMORY) > 50);
    forest_free(&f);
    types_end();
}

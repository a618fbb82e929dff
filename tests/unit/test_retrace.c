/* Lists that are planned again: the turns of the plan before change nothing but the time, whatever
 * has happened to the list meanwhile.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "haul.h"
#include "map/turns.h"
#include "pack/plan.h"
#include "map/found.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/types.h"

/* NODES: so many that turns are noted, and fit into a hundredth of the nodes. FAULT_NODES: no fewer
 * have turns; there, each allocation of a plan is to fail. An emulator's few addresses have a hash
 * in place of the table, and in a build that stresses threads these walk any list together: then
 * there are no turns. */
#ifdef HAUL_EMULATED
enum { HAS_TURNS = 0, NODES = 20000, FAULT_NODES = 8000 };
#elif defined(HAUL_STRESS_THREADS)
enum { HAS_TURNS = 0, NODES = 100000, FAULT_NODES = 40000 };
#else
enum { HAS_TURNS = 1, NODES = 100000, FAULT_NODES = 40000 };
#endif
enum { LONG = LARGE(300000, NODES), PIECE = 100, BYTES = 128 };

typedef struct node {
    struct node *next, *back; /* `back` is data, or a pointer to the node before */
    char data[BYTES - 2 * sizeof(void *)];
} node;

typedef struct chain {
    size_t count, stride;
    char *memory;
    node **order; /* the list's nodes in its order, at first one of chance */
    haul_type *type;
    haul_context *context;
} chain;

static haul_type *node_type;

static size_t memory_of(const chain *c)
{
    return (c->count * c->stride + BYTES + 4095) / 4096 * 4096;
}

static void link_order(chain *c, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        c->order[i]->next = i + 1 < count ? c->order[i + 1] : NULL;
        c->order[i]->back = i ? c->order[i - 1] : NULL;
    }
}

static void chain_open(chain *c, size_t count, size_t stride, int is_double)
{
    const haul_field fields[] = { HAUL_OBJECT(node, next, &node_type),
                                  HAUL_OBJECT(node, back, &node_type) };
    random_source random = random_from(count + stride);
    size_t i, j;
    node *held;
    memset(c, 0, sizeof *c);
    c->count = count;
    c->stride = stride;
    c->memory =
        mmap(NULL, memory_of(c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(c->memory != MAP_FAILED);
    c->order = malloc(count * sizeof *c->order);
    CHECK(c->order != NULL);
    for (i = 0; i < count; i++) {
        c->order[i] = (node *)(void *)(c->memory + i * stride);
        memset(c->order[i], (int)i, BYTES);
    }
    for (i = count; i > 2; i--) { /* the first stays the root */
        j = 1 + random_below(&random, i - 1);
        held = c->order[i - 1];
        c->order[i - 1] = c->order[j];
        c->order[j] = held;
    }
    link_order(c, count);
    CHECK_STATUS(type_make("node", sizeof(node), fields, is_double ? 2 : 1, &node_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    c->type = node_type;
    CHECK_STATUS(haul_context_create(NULL, &c->context), HAUL_OK);
}

static void chain_close(chain *c)
{
    haul_context_free(&c->context);
    haul_type_free(&node_type);
    munmap(c->memory, memory_of(c));
    free(c->order);
}

static haul_plan *plan_of(const chain *c, haul_context *context)
{
    haul_plan *plan;
    CHECK_STATUS(haul_plan_create(context, haul_from_object(c->order[0], c->type), NULL, &plan),
                 HAUL_OK);
    return plan;
}

static const haul__map *map_of(const haul_plan *plan)
{
    return &haul__plan_found(plan)->map;
}

static unsigned char *pack(haul_plan *plan, haul_plan_info *info)
{
    unsigned char *arena;
    haul_plan_get_info(plan, info);
    CHECK(posix_memalign((void **)&arena, info->alignment,
                         info->arena_bytes + info->bitmap_bytes) == 0);
    CHECK_STATUS(haul_plan_pack(plan, arena, info->arena_bytes, 0,
                                (uint64_t *)(void *)(arena + info->arena_bytes)),
                 HAUL_OK);
    return arena;
}

/* Plans the list again, and compares that with its first plan in a new context. Replaces *plan. */
static void plan_again(const chain *c, haul_plan **plan)
{
    haul_context *context;
    haul_plan *again, *first;
    haul_plan_info info[2];
    unsigned char *arena[2];
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul__plan_again(*plan, NULL, &again), HAUL_OK);
    first = plan_of(c, context);
    arena[0] = pack(again, &info[0]);
    arena[1] = pack(first, &info[1]);
    CHECK_EQ(info[0].objects, info[1].objects);
    CHECK_EQ(info[0].graph_bytes, info[1].graph_bytes);
    CHECK_EQ(info[0].arena_bytes, info[1].arena_bytes);
    CHECK(memcmp(arena[0], arena[1], info[0].arena_bytes + info[0].bitmap_bytes) == 0);
    free(arena[0]);
    free(arena[1]);
    haul_plan_free(plan);
    haul_plan_free(&first);
    haul_context_free(&context);
    *plan = again;
}

static void exchange(chain *c, size_t a, size_t b, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        node *held = c->order[a + i];
        c->order[a + i] = c->order[b + i];
        c->order[b + i] = held;
    }
}

/* Nodes of the first half of the memory alone stay in the list; the second half goes. */
static void close_half(chain *c)
{
    const size_t half = memory_of(c) / 2 / 4096 * 4096;
    size_t i, left = 0;
    for (i = 0; i < c->count; i++)
        if ((char *)c->order[i] + BYTES <= c->memory + half)
            c->order[left++] = c->order[i];
    link_order(c, left);
    c->count = left;
    CHECK(mprotect(c->memory + half, half, PROT_NONE) == 0);
}

static void change_and_plan(size_t stride, int is_double)
{
    chain c;
    haul_plan *plan;
    size_t i, bytes, count;
    chain_open(&c, NODES, stride, is_double);
    bytes = memory_of(&c);
    count = c.count;
    plan = plan_of(&c, c.context);
    CHECK_EQ(haul__turns_bytes(map_of(plan)) > 0, HAS_TURNS);
    plan_again(&c, &plan);               /* unchanged */
    for (i = 1; i + 2 < count; i += 300) /* one in a hundred pointers */
        exchange(&c, i, i + 1, 1);
    link_order(&c, count);
    plan_again(&c, &plan);
    for (i = PIECE; i + PIECE < count / 2; i += PIECE) /* in pieces */
        exchange(&c, i, count - PIECE - i, PIECE);
    link_order(&c, count);
    plan_again(&c, &plan);
    for (i = 1; i < count / 2; i++) /* the other way round */
        exchange(&c, i, count - i, 1);
    link_order(&c, count);
    plan_again(&c, &plan);
    close_half(&c); /* turns lead to memory that must not be read */
    plan_again(&c, &plan);
    plan_again(&c, &plan);
    haul_plan_free(&plan);
    c.count = count;
    CHECK(mprotect(c.memory, bytes, PROT_READ | PROT_WRITE) == 0);
    chain_close(&c);
}

TEST(retrace, a_list_that_is_planned_again_has_the_plan_of_a_new_one_whatever_has_changed)
{
    change_and_plan(144, 0);
    change_and_plan(BYTES, 0);
    change_and_plan(BYTES + sizeof(void *), 0); /* ragged blocks */
}

TEST(retrace, so_has_a_list_that_leads_both_ways)
{
    change_and_plan(144, 1);
}

TEST(retrace, turns_take_less_than_a_hundredth_of_the_graph_and_a_short_list_has_none)
{
    const size_t counts[] = { 1000, 8000, NODES, LONG };
    size_t i;
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        chain c;
        haul_plan *plan;
        haul_plan_info info;
        chain_open(&c, counts[i], 144, 0);
        plan = plan_of(&c, c.context);
        haul_plan_get_info(plan, &info);
        CHECK_EQ(haul__turns_bytes(map_of(plan)) > 0, HAS_TURNS && counts[i] >= NODES);
        CHECK(haul__turns_bytes(map_of(plan)) * 100 <= info.graph_bytes);
        haul_plan_free(&plan);
        chain_close(&c);
    }
}

TEST(retrace, a_list_in_the_order_of_its_memory_has_no_turns)
{
    chain c;
    haul_plan *plan;
    size_t i;
    chain_open(&c, NODES, 144, 0);
    for (i = 0; i < c.count; i++)
        c.order[i] = (node *)(void *)(c.memory + i * c.stride);
    link_order(&c, c.count);
    plan = plan_of(&c, c.context);
    CHECK_EQ(haul__turns_bytes(map_of(plan)), 0);
    haul_plan_free(&plan);
    chain_close(&c);
}

TEST(retrace, turns_grow_along_the_list_and_each_has_about_as_many_nodes)
{
    chain c;
    haul_plan *plan;
    const haul__map *map;
    haul__spot *spots;
    haul__turn_ends ends;
    size_t i, listed, noted = 0;
    unsigned last = 0, turn;
    chain_open(&c, LONG, 144, 0);
    plan = plan_of(&c, c.context);
    map = map_of(plan);
    for (i = 0; i < c.count && HAS_TURNS; i++) {
        const uintptr_t address = (uintptr_t)c.order[i];
        const haul__block *block = haul__map_find(map, address);
        turn = block->turns ? *haul__turn_of(map, block, address) : 0;
        CHECK(turn == 0 || turn >= last);
        last = turn ? turn : last;
        noted += turn != 0;
    }
    CHECK(!HAS_TURNS || (last > 50 && noted > c.count - c.count / 10));
    CHECK(haul__turns_list(map, &spots, &listed, ends));
    CHECK_EQ(listed, noted);
    for (turn = 1; turn < last; turn++)
        CHECK(ends[turn] - ends[turn - 1] > c.count / 512);
    CHECK_EQ(ends[last], listed);
    for (i = 0; i < listed; i++)
        CHECK(*haul__turn_of(map, haul__map_find(map, haul__spot_address(map, spots[i])),
                             haul__spot_address(map, spots[i])) > 0);
    free(spots);
    haul_plan_free(&plan);
    chain_close(&c);
}

/* ---- Without memory. */

typedef struct failing {
    chain c;
    haul_context *context;
    haul_plan *plan, *again;
} failing;

static void prepare(void *user, fault_plan *faults)
{
    failing *f = user;
    CHECK_STATUS(fault_open_context(faults, NULL, &f->context), HAUL_OK);
    f->plan = plan_of(&f->c, f->context);
    CHECK_EQ(haul__turns_bytes(map_of(f->plan)) > 0, HAS_TURNS);
}

static haul_status run(void *user)
{
    failing *f = user;
    return haul__plan_again(f->plan, NULL, &f->again);
}

static void undo(void *user)
{
    haul_plan_free(&((failing *)user)->again);
}

static void finish(void *user)
{
    haul_plan_free(&((failing *)user)->plan);
    haul_context_free(&((failing *)user)->context);
}

TEST(retrace, a_list_that_cannot_be_planned_again_for_lack_of_memory_leaves_nothing_behind_H1_H2)
{
    failing f;
    fault_operation operation;
    memset(&f, 0, sizeof f);
    memset(&operation, 0, sizeof operation);
    chain_open(&f.c, FAULT_NODES, 144, 0);
    operation.name = "planning again";
    operation.prepare = prepare;
    operation.run = run;
    operation.undo = undo;
    operation.finish = finish;
    operation.user = &f;
    operation.modes = FAULT_MEMORY;
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 4);
    chain_close(&f.c);
}

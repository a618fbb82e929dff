/* Hints: the bytes that they name, page by page, are those of an obvious walk. That walk is written
 * for this graph. It names each granule by the first hint that fits any pointer to it, and asks the
 * plan for the place of each granule.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "map/named.h"
#include "pack/plan.h"
#include "ship/hinted.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/types.h"
#include "walk/hints.h"

enum { MANY = 36000, FEW = 700, WIDE = 40000, HINTS = 4, GRANULE = 2 * sizeof(void *) };
enum { PLAIN, TREE, OVERLAPPING, KINDS }; /* graphs */

typedef struct record {
    double value[8];
} record;

typedef struct triple {
    int32_t value[3];
} triple;

typedef struct vertex {
    struct vertex *next, *other;
    record *own;
    triple *plain;
    char *name, *alias; /* alias: part of the name */
    int64_t *values;
    record **list;
    record *row;
    int64_t value_count, list_count, row_count;
} vertex;

typedef struct hub {
    vertex **vertices;
    vertex *first;
    record *shared;
    int64_t *wide;
    int64_t count, wide_count;
} hub;

static haul_type *record_type, *triple_type, *vertex_type, *hub_type;
static const haul_field record_fields[] = { HAUL_RAW(record, value) };
static const haul_field triple_fields[] = { HAUL_RAW(triple, value) };
static const haul_field vertex_fields[] = {
    HAUL_OBJECT(vertex, next, &vertex_type),
    HAUL_OBJECT(vertex, other, &vertex_type),
    HAUL_OBJECT(vertex, own, &record_type),
    HAUL_OBJECT(vertex, plain, &triple_type),
    HAUL_STRING(vertex, name),
    HAUL_STRING(vertex, alias),
    HAUL_ARRAY(vertex, values, HAUL_COUNT(vertex, value_count)),
    HAUL_POINTERS(vertex, list, &record_type, HAUL_COUNT(vertex, list_count)),
    HAUL_OBJECTS(vertex, row, &record_type, HAUL_COUNT(vertex, row_count)),
};
static const haul_field hub_fields[] = {
    HAUL_POINTERS(hub, vertices, &vertex_type, HAUL_COUNT(hub, count)),
    HAUL_OBJECT(hub, first, &vertex_type),
    HAUL_OBJECT(hub, shared, &record_type),
    HAUL_ARRAY(hub, wide, HAUL_COUNT(hub, wide_count)),
};

static haul_context *context;

/* ---- The graph: vertices in an order of chance, with all kinds of rows. Nothing is freed before
 * the end, and records of several vertices are one. */

typedef struct graph {
    void **blocks;
    size_t block_count;
    vertex **vertices;
    record **records;
    size_t count;
    hub root;
} graph;

static void *take(graph *g, size_t bytes)
{
    void *block = calloc(1, bytes);
    CHECK(block != NULL);
    g->blocks[g->block_count++] = block;
    return block;
}

static void add_rows(graph *g, size_t i, int kind, random_source *seed)
{
    vertex *v = g->vertices[i];
    size_t k;
    v->own = random_below(seed, 4) ? g->records[i] : g->records[random_below(seed, g->count)];
    v->plain = random_below(seed, 3) ? take(g, sizeof *v->plain) : NULL;
    v->value_count = (int64_t)random_below(seed, 9);
    v->values = take(g, (size_t)(v->value_count + 1) * sizeof *v->values);
    v->list_count = (int64_t)random_below(seed, 3);
    v->list = take(g, (size_t)(v->list_count + 1) * sizeof(record *));
    for (k = 0; k < (size_t)v->list_count; k++)
        v->list[k] = g->records[random_below(seed, g->count)];
    v->row_count = (int64_t)random_below(seed, 3);
    v->row = take(g, (size_t)(v->row_count + 1) * sizeof *v->row);
    v->name = take(g, 24);
    memset(v->name, 'a', random_below(seed, 23));
    if (kind == OVERLAPPING)
        v->alias = v->name + strlen(v->name) / 2;
    if (kind == OVERLAPPING && i > 0 && random_below(seed, 2)) {
        v->name = g->vertices[i - 1]->name + strlen(g->vertices[i - 1]->name) / 2;
        v->values = g->root.wide + random_below(seed, WIDE - 9);
        v->row = g->vertices[i - 1]->row;
        v->row_count = g->vertices[i - 1]->row_count;
    }
}

static void make(graph *g, int kind, size_t count, random_source *seed)
{
    size_t i;
    memset(g, 0, sizeof *g);
    g->count = count;
    g->blocks = calloc(8 * count + 8, sizeof *g->blocks);
    g->vertices = calloc(count, sizeof *g->vertices);
    g->records = calloc(count, sizeof *g->records);
    CHECK(g->blocks && g->vertices && g->records);
    g->root.wide = take(g, WIDE * sizeof *g->root.wide);
    g->root.wide_count = WIDE;
    for (i = 0; i < count; i++) {
        g->vertices[i] = take(g, sizeof *g->vertices[i]);
        g->records[i] = take(g, sizeof *g->records[i]);
    }
    for (i = 0; i < count; i++) {
        vertex *v = g->vertices[i];
        const size_t child = 2 * i + 1;
        if (kind == TREE) {
            v->next = child < count ? g->vertices[child] : NULL;
            v->other = child + 1 < count ? g->vertices[child + 1] : NULL;
            v->own = g->records[i];
            continue;
        }
        v->next = i + 1 < count ? g->vertices[i + 1] : NULL;
        v->other = random_below(seed, 2) ? g->vertices[random_below(seed, count)] : NULL;
        add_rows(g, i, kind, seed);
    }
    g->root.first = g->vertices[0];
    g->root.shared = g->records[0];
    g->root.count = kind == PLAIN ? (int64_t)count : 0;
    g->root.vertices = kind == PLAIN ? g->vertices : NULL;
}

static void drop(graph *g)
{
    while (g->block_count)
        free(g->blocks[--g->block_count]);
    free(g->blocks);
    free(g->vertices);
    free(g->records);
}

/* ---- The obvious walk. */

typedef struct named {
    uintptr_t granule, byte; /* byte: one that is described */
    size_t hint;
} named;

typedef struct obvious {
    const haul_place_hint *hints;
    named *at;
    size_t count, capacity;
} obvious;

/* A pointer of this field of the type leads to bytes, which may be objects. */
static void name(obvious *o, const haul_type *type, const char *field, const haul_type *of,
                 const void *to, size_t bytes)
{
    const uintptr_t first = (uintptr_t)to / GRANULE * GRANULE, end = (uintptr_t)to + bytes;
    uintptr_t at;
    size_t i = 0;
    if (!to || !bytes)
        return;
    while (i < HINTS && !(o->hints[i].field ? o->hints[i].type == type && field &&
                                                  !strcmp(o->hints[i].field, field)
                                            : o->hints[i].type == of))
        i++;
    for (at = first; i < HINTS && at < end; at += GRANULE) {
        if (o->count == o->capacity) {
            o->capacity = o->capacity ? 2 * o->capacity : 1024;
            o->at = realloc(o->at, o->capacity * sizeof *o->at);
            CHECK(o->at != NULL);
        }
        o->at[o->count].granule = at;
        o->at[o->count].byte = at < (uintptr_t)to ? (uintptr_t)to : at;
        o->at[o->count++].hint = i;
    }
}

static void visit(obvious *o, vertex *v)
{
    int64_t i;
    name(o, vertex_type, "next", vertex_type, v->next, sizeof *v);
    name(o, vertex_type, "other", vertex_type, v->other, sizeof *v);
    name(o, vertex_type, "own", record_type, v->own, sizeof *v->own);
    name(o, vertex_type, "plain", triple_type, v->plain, sizeof *v->plain);
    name(o, vertex_type, "name", NULL, v->name, v->name ? strlen(v->name) + 1 : 0);
    name(o, vertex_type, "alias", NULL, v->alias, v->alias ? strlen(v->alias) + 1 : 0);
    name(o, vertex_type, "values", NULL, v->values, (size_t)v->value_count * sizeof *v->values);
    name(o, vertex_type, "list", NULL, v->list, (size_t)v->list_count * sizeof(record *));
    name(o, vertex_type, "row", record_type, v->row, (size_t)v->row_count * sizeof *v->row);
    for (i = 0; i < v->list_count; i++)
        name(o, vertex_type, "list", record_type, v->list[i], sizeof *v->own);
}

/* All vertices are reached. */
static void walk(obvious *o, graph *g)
{
    size_t i;
    name(o, NULL, NULL, hub_type, &g->root, sizeof g->root);
    name(o, hub_type, "first", vertex_type, g->root.first, sizeof *g->root.first);
    name(o, hub_type, "shared", record_type, g->root.shared, sizeof *g->root.shared);
    name(o, hub_type, "wide", NULL, g->root.wide, WIDE * sizeof *g->root.wide);
    name(o, hub_type, "vertices", NULL, g->root.vertices, (size_t)g->root.count * sizeof(vertex *));
    for (i = 0; i < (size_t)g->root.count; i++)
        name(o, hub_type, "vertices", vertex_type, g->root.vertices[i], sizeof(vertex));
    for (i = 0; i < g->count; i++)
        visit(o, g->vertices[i]);
}

static int comes_before(const void *a, const void *b)
{
    const named *left = a, *right = b;
    if (left->granule != right->granule)
        return left->granule < right->granule ? -1 : 1;
    return left->hint < right->hint ? -1 : left->hint > right->hint;
}

static void add_up(obvious *o, const haul_plan *plan, size_t page_bytes, uint64_t *bytes)
{
    size_t i, offset;
    for (i = 0; i < o->count; i++) {
        if (i > 0 && o->at[i].granule == o->at[i - 1].granule)
            continue;
        CHECK_STATUS(haul_plan_offset(plan, (void *)o->at[i].byte, &offset), HAUL_OK);
        bytes[offset / page_bytes * HINTS + o->at[i].hint] += GRANULE;
    }
}

/* ---- Both. */

static void check_pages(haul_plan *plan, const haul_ship_options *options, obvious *o,
                        size_t page_bytes)
{
    const size_t count = (haul__plan_bytes(plan) / page_bytes + 1) * HINTS;
    uint64_t *ours = calloc(count, sizeof *ours), *theirs = calloc(count, sizeof *theirs);
    CHECK(ours && theirs);
    add_up(o, plan, page_bytes, theirs);
    CHECK_STATUS(haul__count_hinted(plan, options, page_bytes, ours), HAUL_OK);
    CHECK(memcmp(ours, theirs, count * sizeof *ours) == 0);
    free(ours);
    free(theirs);
}

/* A plan whose discovery has noted the hints, and one that is walked for them. */
static void check_source(haul_source source, obvious *o, int is_ordered)
{
    const haul__hints noted = { o->hints, HINTS };
    haul_ship_options options;
    haul_plan *plan, *again, *later;
    memset(&options, 0, sizeof options);
    options.hints = o->hints;
    options.hint_count = HINTS;
    if (o->count)
        qsort(o->at, o->count, sizeof *o->at, comes_before);
    CHECK_STATUS(haul__context_enter(context), HAUL_OK);
    CHECK_STATUS(haul__plan_from(context, &source, is_ordered, &noted, &plan), HAUL_OK);
    CHECK(haul__plan_found(plan)->named != NULL);
    CHECK_STATUS(haul__plan_again(plan, &noted, &again), HAUL_OK);
    CHECK_STATUS(haul__plan_from(context, &source, is_ordered, NULL, &later), HAUL_OK);
    CHECK(haul__plan_found(later)->named == NULL);
    check_pages(plan, &options, o, 4096);
    check_pages(again, &options, o, 1 << 16);
    check_pages(later, &options, o, 4096);
    haul__plan_drop(plan);
    haul__plan_drop(again);
    haul__plan_drop(later);
    haul__context_leave(context);
    free(o->at);
}

static void check_graph(graph *g, const haul_place_hint *hints, int is_ordered)
{
    obvious o = { hints, NULL, 0, 0 };
    walk(&o, g);
    check_source(haul_from_object(&g->root, hub_type), &o, is_ordered);
}

static void choose_hints(haul_place_hint *hints, random_source *seed)
{
    static const char *const fields[] = { NULL,   "next",   "other", "own", "plain",
                                          "name", "values", "list",  "row", "alias" };
    static const char *const hub_names[] = { "vertices", "first", "shared", "wide" };
    size_t i;
    memset(hints, 0, HINTS * sizeof *hints);
    for (i = 0; i < HINTS; i++) {
        const size_t what = random_below(seed, 4);
        hints[i].type = what == 0   ? record_type
                        : what == 1 ? triple_type
                        : what == 2 ? hub_type
                                    : vertex_type;
        if (what == 2)
            hints[i].field = hub_names[random_below(seed, 4)];
        if (what == 3)
            hints[i].field = fields[random_below(seed, 10)];
    }
}

static void check_graphs(unsigned threads, int kind, size_t count, size_t rounds, uint64_t number)
{
    haul_context_options how;
    haul_place_hint hints[HINTS];
    random_source seed = random_from(number);
    graph g;
    memset(&how, 0, sizeof how);
    how.threads = threads;
    CHECK_STATUS(haul_context_create(&how, &context), HAUL_OK);
    make(&g, kind, count, &seed);
    while (rounds-- > 0) {
        choose_hints(hints, &seed);
        check_graph(&g, hints, rounds % 4 == 3);
    }
    drop(&g);
    haul_context_free(&context);
}

static void make_types(void)
{
    record_type = TYPE_NEW(record, record_fields);
    triple_type = TYPE_NEW(triple, triple_fields);
    vertex_type = TYPE_NEW(vertex, vertex_fields);
    hub_type = TYPE_NEW(hub, hub_fields);
    CHECK_STATUS(haul_type_commit(hub_type), HAUL_OK);
}

static void free_types(void)
{
    haul_type_free(&hub_type);
    haul_type_free(&vertex_type);
    haul_type_free(&triple_type);
    haul_type_free(&record_type);
}

/* ---- Nodes that lead to nothing else: a list, which is followed without a queue, and a tree,
 * which threads share without aims. */

typedef struct pair {
    struct pair *left, *right;
    double value[3];
} pair;

typedef struct chained {
    struct chained *next;
    double value[4];
} chained;

static haul_type *pair_type, *chained_type;
static const haul_field pair_fields[] = { HAUL_OBJECT(pair, left, &pair_type),
                                          HAUL_OBJECT(pair, right, &pair_type) };
static const haul_field chained_fields[] = { HAUL_OBJECT(chained, next, &chained_type) };

static void hint_at(haul_place_hint *hints, const haul_type *type, const char *field)
{
    memset(hints, 0, HINTS * sizeof *hints);
    hints[0].type = hub_type;
    hints[1].type = type;
    hints[1].field = field;
    hints[2].type = type;
    hints[3].type = record_type;
}

static void check_pairs(const haul_place_hint *hints, size_t count, random_source *seed)
{
    pair **pairs = calloc(count, sizeof *pairs);
    obvious o = { hints, NULL, 0, 0 };
    size_t i;
    CHECK(pairs != NULL);
    for (i = 0; i < count; i++) {
        pairs[i] = calloc(1, sizeof *pairs[i]);
        CHECK(pairs[i] != NULL);
    }
    name(&o, NULL, NULL, pair_type, pairs[0], sizeof *pairs[0]);
    for (i = 1; i < count; i++) {
        pair *parent = pairs[(i - 1) / 2];
        *(i % 2 ? &parent->left : &parent->right) = pairs[i];
    }
    for (i = count / 2; i < count; i++) /* leaves */
        if (!pairs[i]->left && random_below(seed, 2))
            pairs[i]->left = pairs[random_below(seed, count)];
    for (i = 0; i < count; i++) {
        name(&o, pair_type, "left", pair_type, pairs[i]->left, sizeof *pairs[i]);
        name(&o, pair_type, "right", pair_type, pairs[i]->right, sizeof *pairs[i]);
    }
    check_source(haul_from_object(pairs[0], pair_type), &o, 0);
    for (i = 0; i < count; i++)
        free(pairs[i]);
    free(pairs);
}

static void check_list(const haul_place_hint *hints, size_t count)
{
    chained *first = NULL, *at;
    obvious o = { hints, NULL, 0, 0 };
    size_t i;
    for (i = 0; i < count; i++) {
        at = calloc(1, sizeof *at);
        CHECK(at != NULL);
        at->next = first;
        first = at;
    }
    name(&o, NULL, NULL, chained_type, first, sizeof *first);
    for (at = first; at; at = at->next)
        name(&o, chained_type, "next", chained_type, at->next, sizeof *at);
    check_source(haul_from_object(first, chained_type), &o, 0);
    while (first) {
        at = first->next;
        free(first);
        first = at;
    }
}

TEST(hints, name_the_nodes_of_lists_and_shared_trees)
{
    static const char *const fields[] = { "left", "right", NULL };
    random_source seed = random_from(1);
    haul_context_options how;
    haul_place_hint hints[HINTS];
    unsigned threads;
    size_t i;
    make_types();
    pair_type = TYPE_NEW(pair, pair_fields);
    chained_type = TYPE_NEW(chained, chained_fields);
    CHECK_STATUS(haul_type_commit(pair_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(chained_type), HAUL_OK);
    for (threads = 1; threads <= 3; threads += 2) {
        memset(&how, 0, sizeof how);
        how.threads = threads;
        CHECK_STATUS(haul_context_create(&how, &context), HAUL_OK);
        for (i = 0; i < 3; i++) {
            hint_at(hints, pair_type, fields[i]);
            check_pairs(hints, 2 * MANY, &seed);
            hint_at(hints, chained_type, i ? NULL : "next");
            check_list(hints, FEW);
        }
        haul_context_free(&context);
    }
    haul_type_free(&chained_type);
    haul_type_free(&pair_type);
    free_types();
}

TEST(hints, name_the_bytes_that_an_obvious_walk_names)
{
    int kind;
    make_types();
    for (kind = 0; kind < KINDS; kind++)
        check_graphs(1, kind, FEW, 40, 7 + (uint64_t)kind);
    free_types();
}

TEST(hints, name_the_same_bytes_whatever_the_number_of_threads)
{
    unsigned threads;
    int kind;
    make_types();
    for (threads = 1; threads <= 3; threads += 2)
        for (kind = 0; kind < KINDS; kind++)
            check_graphs(threads, kind, MANY, 3, 70 + (uint64_t)kind);
    free_types();
}

/* ---- A plan that was made before the hints were known. */

typedef struct item {
    int64_t value[4];
} item;

typedef struct user {
    int64_t *big;
    item *favourite; /* borrowed: the shop owns it */
} user;

typedef struct shop {
    item *items;
    user *user;
} shop;

static haul_type *item_type, *user_type, *shop_type;
static const haul_field item_fields[] = { HAUL_RAW(item, value) };
static const haul_field user_fields[] = {
    HAUL_ARRAY(user, big, HAUL_FIXED(WIDE)),
    HAUL_OBJECT(user, favourite, &item_type, .ownership = HAUL_BORROWED),
};
static const haul_field shop_fields[] = {
    HAUL_OBJECTS(shop, items, &item_type, HAUL_FIXED(4)),
    HAUL_OBJECT(shop, user, &user_type),
};

TEST(hints, pass_owners_by_and_still_take_what_borrows_from_them)
{
    static item items[4];
    user u = { calloc(WIDE, sizeof(int64_t)), &items[2] };
    shop s = { items, &u };
    const haul_place_hint hint = { .place = HAUL_PLACE_HOST, .field = "big" };
    haul_place_hint hints[1] = { hint };
    haul_ship_options options = { .hints = hints, .hint_count = 1 };
    haul_shipment_info info;
    haul_shipment *shipment;
    haul_device *device;
    haul_plan *plan;
    CHECK(u.big != NULL);
    item_type = TYPE_NEW(item, item_fields);
    user_type = TYPE_NEW(user, user_fields);
    shop_type = TYPE_NEW(shop, shop_fields);
    CHECK_STATUS(haul_type_commit(shop_type), HAUL_OK);
    hints[0].type = user_type;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(&s, shop_type), NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_ship_from(device, haul_from_plan(plan), &options, NULL, &shipment), HAUL_OK);
    haul_shipment_get_info(shipment, &info);
    CHECK(info.host_bytes > WIDE);
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_ship(device, &s, shop_type, 1, &options, &shipment), HAUL_OK);
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_plan_free(&plan);
    haul_type_free(&shop_type);
    haul_type_free(&user_type);
    haul_type_free(&item_type);
    haul_device_close(&device);
    haul_context_free(&context);
    free(u.big);
}

typedef struct stall {
    int32_t has_big, kind;
    int64_t *big;
    void *any; /* a user or an item */
} stall;

/* Bytes that one hint names, in a shipment of the stall: of a plan that was made before, and of
 * one that was made for the hints. */
static void check_stall(haul_device *device, stall *s, haul_type *type, const haul_type *hinted)
{
    const haul_place_hint hint = { .type = hinted, .place = HAUL_PLACE_HOST, .field = "big" };
    const haul_ship_options options = { .hints = &hint, .hint_count = 1 };
    haul_shipment_info info;
    haul_shipment *shipment;
    haul_plan *plan;
    CHECK_STATUS(haul_plan_create(context, haul_from_object(s, type), NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_ship_from(device, haul_from_plan(plan), &options, NULL, &shipment), HAUL_OK);
    haul_shipment_get_info(shipment, &info);
    CHECK(info.host_bytes > WIDE);
    haul_shipment_free(&shipment);
    haul_plan_free(&plan);
    CHECK_STATUS(haul_ship(device, s, type, 1, &options, &shipment), HAUL_OK);
    haul_shipment_get_info(shipment, &info);
    CHECK(info.host_bytes > WIDE);
    haul_shipment_free(&shipment);
}

TEST(hints, name_fields_with_rules_and_what_lies_behind_them)
{
    static item one;
    int64_t *big = calloc(WIDE, sizeof *big);
    user u = { big, NULL };
    stall s = { 1, 2, big, &one };
    haul_type *stall_type;
    const haul_case cases[] = { { .value = 1, .type = &user_type },
                                { .value = 2, .type = &item_type } };
    const haul_field fields[] = {
        HAUL_ARRAY(stall, big, HAUL_FIXED(WIDE), .when = HAUL_EQUALS(stall, has_big, 1)),
        HAUL_ADDRESS(stall, any, .type_switch = HAUL_SWITCH(stall, kind, cases)),
    };
    haul_device *device;
    CHECK(big != NULL);
    item_type = TYPE_NEW(item, item_fields);
    user_type = TYPE_NEW(user, user_fields);
    stall_type = TYPE_NEW(stall, fields);
    CHECK_STATUS(haul_type_commit(stall_type), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    check_stall(device, &s, stall_type, stall_type);
    s.has_big = 0;
    s.kind = 1;
    s.any = &u;
    check_stall(device, &s, stall_type, user_type);
    haul_device_close(&device);
    haul_context_free(&context);
    haul_type_free(&stall_type);
    haul_type_free(&user_type);
    haul_type_free(&item_type);
    free(big);
}

/* On 32 bits, eight bytes for each of so many pages and hints are more than there can be. */
TEST(hints, may_be_more_than_an_address_space_has_room_for)
{
    enum { LARGE_BYTES = 64 << 20, MANY_HINTS = 32768 };
    typedef struct big {
        char *bytes;
    } big;
    haul_type *type;
    const haul_field fields[] = { HAUL_ARRAY(big, bytes, HAUL_FIXED(LARGE_BYTES)) };
    haul_place_hint *hints = calloc(MANY_HINTS, sizeof *hints);
    haul_ship_options options = { .hints = hints, .hint_count = MANY_HINTS };
    big b = { calloc(1, LARGE_BYTES) };
    haul_shipment *shipment;
    haul_device *device;
    size_t i;
    if (sizeof(void *) > 4) { /* there it would take 4 GiB */
        free(b.bytes);
        free(hints);
        return;
    }
    CHECK(b.bytes && hints);
    type = TYPE_NEW(big, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < MANY_HINTS; i++) {
        hints[i].type = type;
        hints[i].field = i + 1 < MANY_HINTS ? "none" : "bytes";
        hints[i].place = HAUL_PLACE_HOST;
    }
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &b, type, 1, &options, &shipment), HAUL_ERROR_MEMORY);
    haul_type_free(&type);
    haul_device_close(&device);
    haul_context_free(&context);
    free(b.bytes);
    free(hints);
}

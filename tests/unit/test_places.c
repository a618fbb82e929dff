/* Places: one graph with pages in device memory, on the host, and moving. Pointers lead from one
 * place into another, and every call works as if all lay in one.
 *
 * Faults by number (docs/testing.md): D3, H1, H2.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "haul.h"
#include "pack/in_degree.h"
#include "pack/plan.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/lists.h"
#include "support/types.h"

enum {
    PAGE = 4096,
    COLD = 16 * PAGE / sizeof(int64_t),
    HOT = 4 * PAGE / sizeof(int64_t),
    NODES = 2048
};

typedef struct shop {
    int64_t *hot, *cold;
    list_node *first;
    list_node **index; /* to each node */
    int64_t hots, colds, nodes;
} shop;

static haul_type *node_type, *shop_type;
static const haul_field shop_fields[] = {
    HAUL_ARRAY(shop, hot, HAUL_COUNT(shop, hots)),
    HAUL_ARRAY(shop, cold, HAUL_COUNT(shop, colds)),
    HAUL_OBJECT(shop, first, &node_type),
    HAUL_POINTERS(shop, index, &node_type, HAUL_COUNT(shop, nodes)),
};

static haul_context *context;
static haul_device *device;
static haul_shipment *shipment;
static haul_ship_options options;
static shop *one;

static const haul_place_hint no_hints[1];

static void make(void)
{
    size_t i;
    one = calloc(1, sizeof *one);
    CHECK(one != NULL);
    one->hots = HOT;
    one->colds = COLD;
    one->nodes = NODES;
    one->hot = calloc(HOT, sizeof *one->hot);
    one->cold = calloc(COLD, sizeof *one->cold);
    one->first = calloc(NODES, sizeof *one->first);
    one->index = calloc(NODES, sizeof(list_node *));
    CHECK(one->hot && one->cold && one->first && one->index);
    list_link(one->first, NODES);
    for (i = 0; i < NODES; i++)
        one->index[i] = &one->first[NODES - 1 - i];
    for (i = 0; i < COLD; i++)
        one->cold[i] = (int64_t)(i * 7);
}

static void start_on(haul_device *opened)
{
    device = opened;
    context = haul_device_context(device);
    node_type = list_type(NULL);
    shop_type = TYPE_NEW(shop, shop_fields);
    CHECK_STATUS(haul_type_commit(shop_type), HAUL_OK);
    memset(&options, 0, sizeof options);
    make();
}

static void start(void)
{
    haul_context *made;
    haul_device *opened;
    CHECK_STATUS(haul_context_create(NULL, &made), HAUL_OK);
    CHECK_STATUS(haul_host_open(made, NULL, &opened), HAUL_OK);
    haul_context_free(&made);
    start_on(opened);
}

static void end(void)
{
    haul_shipment_free(&shipment);
    haul_type_free(&shop_type);
    haul_type_free(&node_type);
    haul_device_close(&device);
    free(one->hot);
    free(one->cold);
    free(one->first);
    free(one->index);
    free(one);
}

static const char *text(void)
{
    return haul_context_error(context)->text;
}

static haul_status ship(void)
{
    return haul_ship(device, one, shop_type, 1, &options, &shipment);
}

static haul_shipment_info info_of(const haul_shipment *of)
{
    haul_shipment_info info;
    haul_shipment_get_info(of, &info);
    return info;
}

/* The bytes of lists behind the arena, which are read once and so spill first. */
static uint64_t lists_of(const haul_shipment_info *info)
{
    return info->device_bytes + info->host_bytes + info->moving_bytes - info->arena_bytes;
}

/* Of the ranges that begin in some host memory. */
typedef struct place_of {
    const char *host, *end;
    size_t bytes, on_host, moving;
} place_of;

static int add(void *user, const haul_shipped_range *range)
{
    place_of *p = user;
    if ((const char *)range->host >= p->host && (const char *)range->host < p->end) {
        p->bytes += range->bytes;
        p->on_host += range->host_bytes;
        p->moving += range->moving_bytes;
    }
    return 0;
}

static place_of places_of(const void *host, size_t bytes)
{
    place_of p = { host, (const char *)host + bytes, 0, 0, 0 };
    CHECK_STATUS(haul_shipment_ranges(shipment, add, &p), HAUL_OK);
    CHECK_EQ(p.bytes, bytes);
    return p;
}

static place_of places_of_cold(void)
{
    return places_of(one->cold, COLD * sizeof *one->cold);
}

/* All but a page at either end, which goes where a neighbour wants to. */
static int is_most(size_t part, size_t all)
{
    return part + 2 * PAGE >= all;
}

/* Adds 1 to all values, by way of pointers that lead from place to place. */
static void add_one(void *argument)
{
    shop *s = argument;
    int64_t i;
    for (i = 0; i < s->hots; i++)
        s->hot[i]++;
    for (i = 0; i < s->colds; i++)
        s->cold[i]++;
    for (i = 0; i < s->nodes; i++)
        s->index[i]->value++;
    list_add_one(s->first);
}

/* Two launches with an update of everything between, and what they must have done. */
static void check_work(haul_device *on, haul_shipment *with)
{
    const int64_t value = one->first[3].value, cold = one->cold[COLD - 1], hot = one->hot[0];
    CHECK_STATUS(haul_host_launch(on, add_one, haul_device_pointer(with, one)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(with), HAUL_OK);
    CHECK_EQ(one->first[3].value, value + 2);
    CHECK_EQ(one->cold[COLD - 1], cold + 1);
    CHECK_EQ(one->hot[0], hot + 1);
    one->hot[0] = 100;
    CHECK_STATUS(haul_update_device(with, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_host_launch(on, add_one, haul_device_pointer(with, one)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(with), HAUL_OK);
    CHECK_EQ(one->hot[0], 101);
    CHECK_EQ(one->first[3].value, value + 4);
}

static void check_counters(haul_device *of, const haul_shipment *with)
{
    const haul_shipment_info info = info_of(with);
    haul_host_counters now;
    CHECK_STATUS(haul_host_get_counters(of, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, info.device_bytes + info.host_bytes + info.moving_bytes);
    CHECK_EQ(now.bytes_on_host, info.host_bytes);
    CHECK_EQ(now.bytes_moving, info.moving_bytes);
}

TEST(places, of_types_and_fields_are_where_hints_say_and_all_calls_work)
{
    haul_place_hint hints[3];
    haul_shipment *copy;
    haul_device *other;
    place_of cold, hot, nodes;
    start();
    memset(hints, 0, sizeof hints);
    hints[0].type = shop_type;
    hints[0].field = "cold";
    hints[0].place = HAUL_PLACE_HOST;
    hints[1].type = node_type;
    hints[1].place = HAUL_PLACE_MOVING;
    hints[2] = hints[1]; /* the first that fits counts */
    hints[2].place = HAUL_PLACE_HOST;
    options.hints = hints;
    options.hint_count = 3;
    CHECK_STATUS(ship(), HAUL_OK);
    check_counters(device, shipment);
    cold = places_of_cold();
    hot = places_of(one->hot, HOT * sizeof *one->hot);
    nodes = places_of(one->first, NODES * sizeof *one->first);
    CHECK(cold.on_host + PAGE >= cold.bytes); /* a page at either end goes with its larger part */
    CHECK(nodes.moving + PAGE >= nodes.bytes);
    CHECK(hot.moving + hot.on_host <= PAGE);
    check_work(device, shipment);
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK);
    check_counters(device, shipment);
    check_work(device, shipment);
    CHECK_STATUS(haul_host_open(context, NULL, &other), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(shipment, other, &copy), HAUL_OK);
    check_counters(other, copy);
    CHECK_EQ(info_of(copy).host_bytes, info_of(shipment).host_bytes);
    check_work(other, copy);
    haul_shipment_free(&copy);
    haul_device_close(&other);
    end();
}

/* What crossed to or from pages of a place, which lists behind the arena may share; `returns`: the
 * transfers, 0: the first one, there. */
static void check_traffic(uint64_t placed, uint64_t crossed, unsigned returns)
{
    const uint64_t all = returns ? returns * placed : placed;
    CHECK(crossed <= all && crossed + 4 * PAGE >= all);
}

/* The pages of the large array have the fewest pointers for each byte. */
TEST(places, that_exceed_the_budget_spill_those_with_the_fewest_pointers)
{
    const haul_place spills[2] = { HAUL_PLACE_HOST, HAUL_PLACE_MOVING };
    size_t i;
    for (i = 0; i < 2; i++) {
        haul_shipment_info info;
        place_of cold;
        start();
        options.budget_bytes = 20 * PAGE;
        CHECK_STATUS(ship(), HAUL_ERROR_DEVICE_MEMORY);
        CHECK_HAS(text(), "(data) (81920)");
        options.spill = spills[i];
        CHECK_STATUS(ship(), HAUL_OK);
        check_counters(device, shipment);
        info = info_of(shipment);
        CHECK(info.device_bytes <= 20 * PAGE && info.device_bytes > 18 * PAGE);
        cold = places_of_cold();
        CHECK_EQ(i == 0 ? cold.on_host : cold.moving, cold.on_host + cold.moving);
        CHECK(cold.on_host + cold.moving + 2 * PAGE + lists_of(&info) >
              info.host_bytes + info.moving_bytes);
        check_traffic(info.host_bytes, info.host_bytes_to, 0);
        check_traffic(info.moving_bytes, info.moving_bytes_to, 0);
        check_work(device, shipment);
        info = info_of(shipment);
        check_traffic(info.host_bytes, info.host_bytes_from, 2);
        check_traffic(info.moving_bytes, info.moving_bytes_from, 2);
        haul_shipment_free(&shipment);
        options.budget_bytes = 100 * PAGE;
        CHECK_STATUS(ship(), HAUL_OK);
        CHECK_EQ(info_of(shipment).host_bytes + info_of(shipment).moving_bytes, 0);
        end();
    }
}

enum { KNOTS = 64, WIDE = 8 * PAGE / sizeof(int64_t) };

typedef struct knot {
    int64_t *plain;
    uintptr_t tagged;
    int64_t distance;
} knot;

static haul_type *knot_type;
static const haul_field knot_fields[] = {
    HAUL_ARRAY(knot, plain, HAUL_FIXED(WIDE)),
    HAUL_ADDRESS(knot, tagged, .element_bytes = sizeof(int64_t), .count = HAUL_FIXED(WIDE),
                 .tag_bits = 1),
    HAUL_RELATIVE(knot, distance, .element_bytes = sizeof(int64_t), .count = HAUL_FIXED(WIDE)),
};

/* Two arrays of one size: one pointer leads to the first, and pointers of one kind to the other. */
static void tie(knot *knots, int64_t *arrays, size_t kind)
{
    int64_t *const hot = arrays + WIDE;
    size_t i;
    memset(knots, 0, KNOTS * sizeof *knots);
    knots[0].plain = arrays;
    for (i = 1; i < KNOTS; i++) {
        knots[i].plain = kind == 0 ? hot : NULL;
        knots[i].tagged = kind == 1 ? (uintptr_t)hot | 1 : 0;
        knots[i].distance = kind == 2 ? (int64_t)((intptr_t)hot - (intptr_t)&knots[i].distance) : 0;
    }
}

TEST(places, count_pointers_of_all_kinds_in_any_order)
{
    knot *knots = calloc(KNOTS, sizeof *knots);
    int64_t *arrays = calloc(2 * WIDE, sizeof *arrays);
    size_t i;
    start();
    CHECK(knots && arrays);
    knot_type = TYPE_NEW(knot, knot_fields);
    CHECK_STATUS(haul_type_commit(knot_type), HAUL_OK);
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = 9 * PAGE;
    for (i = 0; i < 6; i++) {
        tie(knots, arrays, i / 2);
        options.ordered = i % 2;
        CHECK_STATUS(haul_ship(device, knots, knot_type, KNOTS, &options, &shipment), HAUL_OK);
        CHECK(places_of(arrays, WIDE * sizeof *arrays).on_host >= 5 * PAGE);
        CHECK(places_of(arrays + WIDE, WIDE * sizeof *arrays).on_host <= 2 * PAGE);
        haul_shipment_free(&shipment);
    }
    haul_type_free(&knot_type);
    free(knots);
    free(arrays);
    end();
}

/* Each list is what one thread counts; more lists than blocks have some that are empty. */
TEST(places, count_the_same_pointers_by_any_number_of_threads)
{
    const size_t pages = 64;
    haul__in_degree *alone = calloc(pages, sizeof *alone), *shared;
    haul_plan *plan;
    size_t lists, i, all = 0;
    start();
    CHECK(alone != NULL);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(one, shop_type), NULL, &plan), HAUL_OK);
    CHECK(haul__plan_bytes(plan) <= pages * PAGE);
    haul__count_in_degrees(plan, PAGE, alone, pages, 1);
    for (i = 0; i < pages; i++)
        all += alone[i].pointers;
    CHECK(all > NODES && all < 3 * NODES);
    for (lists = 2; lists <= HAUL__POOL_CHUNKS; lists *= 2) {
        shared = calloc(pages * lists, sizeof *shared);
        CHECK(shared != NULL);
        haul__count_in_degrees(plan, PAGE, shared, pages, lists);
        for (i = 0; i < pages; i++) {
            CHECK_EQ(shared[i].pointers, alone[i].pointers);
            CHECK_EQ(shared[i].to_last, alone[i].to_last);
            CHECK_EQ(shared[i].first, alone[i].first);
            CHECK_EQ(shared[i].last, alone[i].last);
        }
        free(shared);
    }
    haul_plan_free(&plan);
    free(alone);
    end();
}

typedef struct twin {
    struct twin *next;
    list_node *own;
} twin;

typedef struct twins {
    twin *first;
    int64_t *wide;
    int64_t words;
} twins;

enum { TWINS = 20000, LARGE = 1 << 20, LARGE_PAGES = 4 };

static size_t pointers_in(twins *root, const haul_type *type, size_t page_bytes)
{
    haul__in_degree *pages = calloc(LARGE_PAGES * (LARGE / page_bytes), sizeof *pages);
    const size_t count = LARGE_PAGES * (LARGE / page_bytes);
    haul_plan *plan;
    size_t i, all = 0;
    CHECK(pages != NULL);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(root, type), NULL, &plan), HAUL_OK);
    CHECK(haul__plan_bytes(plan) <= LARGE_PAGES * LARGE);
    haul__count_in_degrees(plan, page_bytes, pages, count, 1);
    for (i = 0; i < count; i++)
        all += pages[i].pointers;
    haul_plan_free(&plan);
    free(pages);
    return all;
}

/* Of blocks in which types take turns, a sample is read for large pages, unless the graph has a
 * large array. */
TEST(places, count_a_sample_of_mixed_small_objects_and_all_beside_an_array)
{
    haul_type *twin_type = NULL, *twins_type = NULL;
    const haul_field twin_fields[] = { HAUL_OBJECT(twin, next, &twin_type),
                                       HAUL_OBJECT(twin, own, &node_type) };
    const haul_field twins_fields[] = { HAUL_OBJECT(twins, first, &twin_type),
                                        HAUL_ARRAY(twins, wide, HAUL_COUNT(twins, words)) };
    twins root = { NULL, NULL, 0 };
    size_t i, exact, sampled;
    start();
    twin_type = TYPE_NEW(twin, twin_fields);
    twins_type = TYPE_NEW(twins, twins_fields);
    CHECK_STATUS(haul_type_commit(twins_type), HAUL_OK);
    for (i = 0; i < TWINS; i++) {
        twin *added = calloc(1, sizeof *added);
        CHECK(added != NULL);
        added->own = calloc(1, sizeof *added->own);
        CHECK(added->own != NULL);
        added->next = root.first;
        root.first = added;
    }
    exact = pointers_in(&root, twins_type, PAGE);
    CHECK_EQ(exact, 2 * TWINS + 1); /* with the root's own */
    sampled = pointers_in(&root, twins_type, LARGE);
    CHECK(sampled != exact && sampled > exact / 10 * 8 && sampled < exact / 10 * 12);
    root.words = LARGE / sizeof *root.wide;
    root.wide = calloc((size_t)root.words, sizeof *root.wide);
    CHECK(root.wide != NULL);
    CHECK_EQ(pointers_in(&root, twins_type, LARGE), exact + 1);
    while (root.first) {
        twin *last = root.first;
        root.first = last->next;
        free(last->own);
        free(last);
    }
    free(root.wide);
    haul_type_free(&twins_type);
    haul_type_free(&twin_type);
    end();
}

typedef struct lone {
    int64_t *cold, *hot, *again;
} lone;

static haul_type *lone_type;
static const haul_field lone_fields[] = {
    HAUL_ARRAY(lone, cold, HAUL_FIXED(WIDE)),
    HAUL_ARRAY(lone, hot, HAUL_FIXED(WIDE)),
    HAUL_ARRAY(lone, again, HAUL_FIXED(WIDE)),
};

/* Of a block that is crowded by one type, a sample of the cells is read. */
TEST(places, count_the_pointers_of_a_struct_alone_wherever_it_lies)
{
    enum { BLOCK = 64 << 10, STEP = 512 };
    int64_t *arrays = calloc(2 * WIDE, sizeof *arrays);
    char *memory = calloc(4, BLOCK);
    size_t i;
    start();
    CHECK(arrays && memory);
    lone_type = TYPE_NEW(lone, lone_fields);
    CHECK_STATUS(haul_type_commit(lone_type), HAUL_OK);
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = 9 * PAGE;
    for (i = 0; i < 8; i++) {
        char *block = memory + BLOCK - (uintptr_t)memory % BLOCK + BLOCK;
        lone *root = (lone *)(void *)(block + i * STEP);
        root->cold = arrays;
        root->hot = root->again = arrays + WIDE;
        CHECK_STATUS(haul_ship(device, root, lone_type, 1, &options, &shipment), HAUL_OK);
        CHECK(places_of(arrays, WIDE * sizeof *arrays).on_host >= 5 * PAGE);
        CHECK(places_of(arrays + WIDE, WIDE * sizeof *arrays).on_host <= 2 * PAGE);
        haul_shipment_free(&shipment);
    }
    haul_type_free(&lone_type);
    free(arrays);
    free(memory);
    end();
}

/* Only the large array matters. */
TEST(places, that_exceed_the_budget_spill_what_hints_tell_few_uses_of)
{
    haul_place_hint hint;
    place_of cold;
    start();
    memset(&hint, 0, sizeof hint);
    hint.type = shop_type;
    hint.field = "cold";
    hint.uses = UINT64_MAX; /* any byte of it outweighs a page of others */
    options.hints = &hint;
    options.hint_count = 1;
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = 18 * PAGE;
    CHECK_STATUS(ship(), HAUL_OK);
    cold = places_of_cold();
    CHECK_EQ(cold.on_host, 0);
    CHECK(info_of(shipment).host_bytes > 8 * PAGE);
    check_work(device, shipment);
    haul_shipment_free(&shipment);
    hint.uses = 0; /* now it goes first, before the other large array */
    CHECK_STATUS(ship(), HAUL_OK);
    CHECK(is_most(places_of_cold().on_host, (size_t)info_of(shipment).host_bytes));
    CHECK(places_of(one->hot, HOT * sizeof *one->hot).on_host <= 2 * PAGE);
    end();
}

/* ---- Ways to what a hint names. */

enum { CELLS = 200, WAYS = 7 };

typedef struct bulk {
    int64_t value[WIDE];
} bulk;

typedef struct leaf {
    bulk *data;
} leaf;

typedef struct shelf {
    int64_t count;
    leaf books[];
} shelf;

typedef struct ways {
    int64_t kind;
    leaf *one;
    leaf **list;
    leaf flat;
    leaf cells[CELLS]; /* too many to be flattened */
    void *any, *each;
    shelf *tail;
    shop *other; /* leads to nothing that is hinted */
} ways;

typedef struct gate {
    ways *behind;
} gate;

static haul_type *bulk_type, *leaf_type, *shelf_type, *ways_type, *gate_type;

/* Types in which one way alone leads to the hinted one. */
static void make_types_of_way(size_t way)
{
    static const haul_case cases[] = { { 1, &shop_type, 0 }, { 2, &leaf_type, 0 } };
    static const haul_field bulk_fields[] = { HAUL_RAW(bulk, value) };
    static const haul_field leaf_fields[] = { HAUL_OBJECT(leaf, data, &bulk_type) };
    static const haul_field shelf_fields[] = { HAUL_TAIL(shelf, books, HAUL_COUNT(shelf, count),
                                                         .target = &leaf_type) };
    static const haul_field each = { .type_switch = HAUL_SWITCH(ways, kind, cases) };
    const haul_field all[WAYS] = {
        HAUL_OBJECT(ways, one, &leaf_type),
        HAUL_POINTERS(ways, list, &leaf_type, HAUL_FIXED(1)),
        HAUL_EMBED(ways, flat, &leaf_type),
        HAUL_EMBED(ways, cells, &leaf_type),
        HAUL_ADDRESS(ways, any, .type_switch = HAUL_SWITCH(ways, kind, cases)),
        HAUL_ADDRESS(ways, each, .levels = 2, .count = HAUL_FIXED(1), .each_pointer = &each),
        HAUL_OBJECT(ways, tail, &shelf_type),
    };
    const haul_field fields[] = { all[way], HAUL_OBJECT(ways, other, &shop_type) };
    static const haul_field gate_fields[] = { HAUL_OBJECT(gate, behind, &ways_type) };
    bulk_type = TYPE_NEW(bulk, bulk_fields);
    leaf_type = TYPE_NEW(leaf, leaf_fields);
    shelf_type = TYPE_NEW(shelf, shelf_fields);
    ways_type = TYPE_NEW(ways, fields);
    gate_type = TYPE_NEW(gate, gate_fields);
    CHECK_STATUS(haul_type_commit(gate_type), HAUL_OK);
}

static void free_types_of_way(void)
{
    haul_type_free(&gate_type);
    haul_type_free(&ways_type);
    haul_type_free(&shelf_type);
    haul_type_free(&leaf_type);
    haul_type_free(&bulk_type);
}

/* Each way alone leads to an object of the hinted type, which must be found. */
TEST(places, of_hinted_objects_are_found_by_all_ways_to_them)
{
    bulk *data = calloc(1, sizeof *data);
    shelf *tail = calloc(1, sizeof *tail + sizeof(leaf));
    haul_place_hint hint;
    leaf lone, *list[1] = { &lone };
    ways *w = calloc(1, sizeof *w);
    gate root = { w };
    size_t way;
    start();
    CHECK(data && tail && w);
    memset(&hint, 0, sizeof hint);
    hint.place = HAUL_PLACE_HOST;
    options.hints = &hint;
    options.hint_count = 1;
    lone.data = data;
    tail->count = 1;
    tail->books[0] = lone;
    for (way = 0; way < WAYS; way++) {
        make_types_of_way(way);
        hint.type = bulk_type;
        memset(w, 0, sizeof *w);
        w->kind = 2;
        w->other = one;
        w->one = way == 0 ? &lone : NULL;
        w->list = way == 1 ? list : NULL;
        w->flat.data = way == 2 ? data : NULL;
        w->cells[CELLS - 1].data = way == 3 ? data : NULL;
        w->any = way == 4 ? &lone : NULL;
        w->each = way == 5 ? list : NULL;
        w->tail = way == 6 ? tail : NULL;
        CHECK_STATUS(haul_ship(device, &root, gate_type, 1, &options, &shipment), HAUL_OK);
        CHECK(places_of(data, sizeof *data).on_host + PAGE >= sizeof *data);
        CHECK(places_of(one->hot, HOT * sizeof *one->hot).on_host <= PAGE);
        haul_shipment_free(&shipment);
        free_types_of_way();
    }
    free(data);
    free(tail);
    free(w);
    end();
}

typedef struct asked {
    struct asked *next;
    char *text;
} asked;

typedef struct asker {
    int64_t *wide;
    asked *first;
} asker;

static haul_type *asked_type, *asker_type;
static size_t answers;

static int64_t count_text(const haul_here *here)
{
    (void)here;
    answers++;
    return 1;
}

/* Of a ship from the objects, or from a plan that was made without hints, and which is not counted.
 */
static size_t answers_of_ship(asker *root, int has_plan)
{
    haul_source source = haul_from_object(root, asker_type);
    haul_plan *plan = NULL;
    if (has_plan) {
        CHECK_STATUS(haul_plan_create(context, source, NULL, &plan), HAUL_OK);
        source = haul_from_plan(plan);
    }
    answers = 0;
    CHECK_STATUS(haul_ship_from(device, source, &options, NULL, &shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_plan_free(&plan);
    return answers;
}

/* Discovery notes what hints name, so nothing is walked again. A plan without notes is walked; a
 * walk that needs no objects of the list asks none of them. */
TEST(places, of_hinted_objects_are_found_without_a_walk_of_all_others)
{
    static const haul_field asked_fields[] = { HAUL_OBJECT(asked, next, &asked_type),
                                               HAUL_ARRAY(asked, text, HAUL_COUNT_FN(count_text)) };
    static const haul_field asker_fields[] = { HAUL_ARRAY(asker, wide, HAUL_FIXED(WIDE)),
                                               HAUL_OBJECT(asker, first, &asked_type) };
    int64_t *wide = calloc(WIDE, sizeof *wide);
    char letter = 'a';
    asked list[KNOTS];
    asker root = { wide, list };
    haul_place_hint hint;
    size_t i, all, of_plan;
    start();
    CHECK(wide != NULL);
    for (i = 0; i < KNOTS; i++) {
        list[i].next = i + 1 < KNOTS ? &list[i + 1] : NULL;
        list[i].text = &letter;
    }
    asked_type = TYPE_NEW(asked, asked_fields);
    asker_type = TYPE_NEW(asker, asker_fields);
    CHECK_STATUS(haul_type_commit(asker_type), HAUL_OK);
    all = answers_of_ship(&root, 0);
    of_plan = answers_of_ship(&root, 1);
    CHECK(all >= KNOTS);
    memset(&hint, 0, sizeof hint);
    options.hints = &hint;
    options.hint_count = 1;
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = 4 * PAGE;
    hint.type = asker_type;
    hint.field = "wide";
    CHECK_EQ(answers_of_ship(&root, 0), all);
    CHECK_EQ(answers_of_ship(&root, 1), of_plan);
    hint.type = asked_type;
    hint.field = NULL;
    CHECK_EQ(answers_of_ship(&root, 0), all);
    CHECK(answers_of_ship(&root, 1) >= of_plan + KNOTS);
    haul_type_free(&asker_type);
    haul_type_free(&asked_type);
    free(wide);
    end();
}

/* ---- Uses as text. */

typedef struct text_file {
    char text[256];
    size_t bytes;
} text_file;

static haul_status append(void *user, const void *data, size_t bytes)
{
    text_file *file = user;
    CHECK(bytes < sizeof file->text - file->bytes);
    memcpy(file->text + file->bytes, data, bytes);
    file->bytes += bytes;
    return HAUL_OK;
}

static void name_hints(haul_place_hint hints[2])
{
    memset(hints, 0, 2 * sizeof *hints);
    hints[0].type = shop_type;
    hints[0].field = "hot";
    hints[1].type = node_type;
}

TEST(places, keep_the_uses_of_hints_as_text_by_names)
{
    haul_place_hint hints[2], others[2];
    text_file kept = { "", 0 };
    haul_file file = { NULL, append, NULL };
    start();
    name_hints(hints);
    hints[0].uses = UINT64_MAX;
    hints[1].uses = 17;
    file.user = &kept;
    CHECK_STATUS(haul_uses_write(context, hints, 2, &file), HAUL_OK);
    CHECK_STR(kept.text, "haul-uses-1\n18446744073709551615 shop.hot\n17 list_node\n");
    name_hints(others);
    others[0].field = "cold"; /* no line has its uses */
    others[0].uses = 5;
    CHECK_STATUS(haul_uses_read(context, kept.text, kept.bytes, others, 2), HAUL_OK);
    CHECK_EQ(others[0].uses, 5);
    CHECK_EQ(others[1].uses, 17);
    others[0].field = "hot";
    CHECK_STATUS(haul_uses_read(context, kept.text, kept.bytes, others, 2), HAUL_OK);
    CHECK_EQ(others[0].uses, UINT64_MAX);
    end();
}

TEST(places, refuse_a_damaged_text_of_uses_and_change_no_hint)
{
    static const char *const texts[] = {
        "",
        "haul-uses-1",
        "haul-uses-1\n1 list_node\n2 list_node",
        "haul-uses-1\n1 list_node\n\n",
        "haul-uses-1\n1 list_node\n2\n",
        "haul-uses-1\n1 list_node\n list_node\n",
        "haul-uses-1\n1 list_node\n-2 list_node\n",
        "haul-uses-1\n1 list_node\n18446744073709551616 list_node\n",
    };
    haul_place_hint hints[2];
    char *exact;
    size_t i;
    start();
    name_hints(hints);
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        const size_t bytes = strlen(texts[i]);
        exact = malloc(bytes + 1);
        CHECK(exact != NULL);
        memcpy(exact, texts[i], bytes); /* without its terminator */
        CHECK_STATUS(haul_uses_read(context, exact, bytes, hints, 2), HAUL_ERROR_FORMAT);
        CHECK_HAS(text(), i < 2 ? "line 1 of" : "line 3 of");
        CHECK_EQ(hints[1].uses, 0);
        free(exact);
    }
    CHECK_STATUS(
        haul_uses_read(context, "haul-uses-1\n7 list_nod\n8 list_node.\n9 x y\n", 42, hints, 2),
        HAUL_OK);
    CHECK_EQ(hints[1].uses, 0);
    end();
}

/* A device's budget counts what lies in device memory, and nothing else. */
TEST(places, on_the_host_need_no_budget_but_what_must_be_on_the_device_does)
{
    haul_host_options small;
    haul_place_hint hint;
    haul_device *opened;
    start();
    memset(&small, 0, sizeof small);
    small.budget_bytes = 12 * PAGE;
    CHECK_STATUS(haul_host_open(context, &small, &opened), HAUL_OK);
    haul_device_close(&device);
    device = opened;
    memset(&hint, 0, sizeof hint);
    hint.type = shop_type;
    hint.field = "cold";
    hint.place = HAUL_PLACE_DEVICE;
    options.hints = &hint;
    options.hint_count = 1;
    options.spill = HAUL_PLACE_HOST;
    CHECK_STATUS(ship(), HAUL_ERROR_DEVICE_MEMORY);
    CHECK_HAS(text(), "of the device's budget of 49152 are left");
    hint.place = HAUL_PLACE_HOST;
    CHECK_STATUS(ship(), HAUL_OK);
    CHECK(info_of(shipment).device_bytes <= 12 * PAGE);
    check_work(device, shipment);
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK); /* the rest spills meanwhile */
    check_work(device, shipment);
    end();
}

TEST(places, of_an_arena_fill_the_budget_in_the_order_of_addresses)
{
    haul_shipment *of_arena;
    haul_shipment_info info;
    haul_arena *arena;
    list_node *nodes;
    start();
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    nodes = haul_arena_new(arena, node_type, 2048);
    CHECK(nodes != NULL);
    list_link(nodes, 2048);
    options.budget_bytes = 3 * PAGE;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &options, NULL, &of_arena),
                 HAUL_ERROR_DEVICE_MEMORY);
    options.spill = HAUL_PLACE_HOST;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &options, NULL, &of_arena),
                 HAUL_OK);
    info = info_of(of_arena);
    CHECK(info.device_bytes <= 3 * PAGE && info.device_bytes > 2 * PAGE && info.host_bytes > 0);
    check_counters(device, of_arena);
    CHECK_STATUS(haul_host_launch(device, list_add_one, haul_device_pointer(of_arena, nodes)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(of_arena), HAUL_OK);
    CHECK_EQ(nodes[2047].value, 1);
    options.hints = no_hints;
    options.hint_count = 1;
    haul_shipment_free(&of_arena);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &options, NULL, &of_arena),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(text(), "an arena has bytes");
    haul_arena_free(&arena);
    end();
}

TEST(places, of_a_plan_that_is_shipped_again_are_those_of_the_new_hints)
{
    haul_place_hint hints[40];
    haul_shipment *first;
    size_t count, i;
    start();
    for (count = 1; count <= 40; count += 39) {
        memset(hints, 0, sizeof hints);
        for (i = 0; i < count; i++) {
            hints[i].type = shop_type;
            hints[i].field = "cold";
            hints[i].place = HAUL_PLACE_HOST;
        }
        options.hints = hints;
        options.hint_count = count;
        CHECK_STATUS(haul_ship(device, one, shop_type, 1, &options, &first), HAUL_OK);
        options.hints = &(haul_place_hint){ .type = node_type, .place = HAUL_PLACE_HOST };
        options.hint_count = 1;
        CHECK_STATUS(haul_ship_from(device, haul_from_shipment(first), &options, NULL, &shipment),
                     HAUL_OK);
        CHECK(places_of_cold().on_host <= PAGE);
        CHECK(places_of(one->first, NODES * sizeof *one->first).on_host + PAGE >=
              NODES * sizeof *one->first);
        haul_shipment_free(&shipment);
        haul_shipment_free(&first);
    }
    end();
}

/* ---- The table. */

typedef struct paper {
    char text[2048];
    size_t length, writes, allowed;
} paper;

static haul_status write_paper(void *user, const void *data, size_t bytes)
{
    paper *p = user;
    if (p->writes++ == p->allowed || bytes >= sizeof p->text - p->length)
        return HAUL_ERROR_FILE;
    memcpy(p->text + p->length, data, bytes);
    p->length += bytes;
    p->text[p->length] = '\0';
    return HAUL_OK;
}

/* Writes the table until write number `allowed`, counted from 0, is refused. */
static haul_status write_table(paper *p, size_t allowed)
{
    haul_file file;
    memset(p, 0, sizeof *p);
    memset(&file, 0, sizeof file);
    p->allowed = allowed;
    file.user = p;
    file.write = write_paper;
    return haul_shipment_write_places(shipment, &file);
}

/* The line that ends with a name has these bytes: on the device, on the host, moving. */
static void check_line(const paper *p, const char *name, uint64_t on_device, uint64_t on_host,
                       uint64_t moving)
{
    char line[128];
    snprintf(line, sizeof line, "%12llu  %12llu  %12llu  %s\n", (unsigned long long)on_device,
             (unsigned long long)on_host, (unsigned long long)moving, name);
    CHECK_HAS(p->text, line);
}

static void check_sums(const paper *p)
{
    const haul_shipment_info info = info_of(shipment);
    check_line(p, "all, with gaps and lists", info.device_bytes, info.host_bytes,
               info.moving_bytes);
    check_line(p, "sent", info.bytes_to - info.host_bytes_to - info.moving_bytes_to,
               info.host_bytes_to, info.moving_bytes_to);
    check_line(p, "brought back", info.bytes_from - info.host_bytes_from - info.moving_bytes_from,
               info.host_bytes_from, info.moving_bytes_from);
}

TEST(places, are_told_by_types_in_a_table_with_all_that_crossed)
{
    haul_place_hint hints[2];
    place_of cold, hot, nodes, index, root;
    list_node *first;
    paper p;
    size_t writes, i;
    start();
    memset(hints, 0, sizeof hints);
    hints[0].type = shop_type;
    hints[0].field = "cold";
    hints[0].place = HAUL_PLACE_HOST;
    hints[1].type = node_type;
    hints[1].place = HAUL_PLACE_MOVING;
    options.hints = hints;
    options.hint_count = 2;
    CHECK_STATUS(ship(), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_STATUS(write_table(&p, SIZE_MAX), HAUL_OK);
    cold = places_of_cold();
    hot = places_of(one->hot, HOT * sizeof *one->hot);
    nodes = places_of(one->first, NODES * sizeof *one->first);
    index = places_of(one->index, NODES * sizeof(list_node *));
    root = places_of(one, sizeof *one);
    CHECK(cold.on_host > 0 && nodes.moving > 0);
    check_line(&p, "(data)",
               cold.bytes + hot.bytes - cold.on_host - cold.moving - hot.on_host - hot.moving,
               cold.on_host + hot.on_host, cold.moving + hot.moving);
    check_line(&p, "(pointers)", index.bytes - index.on_host - index.moving, index.on_host,
               index.moving);
    check_line(&p, haul_type_name(node_type), nodes.bytes - nodes.on_host - nodes.moving,
               nodes.on_host, nodes.moving);
    check_line(&p, haul_type_name(shop_type), root.bytes - root.on_host - root.moving, root.on_host,
               root.moving);
    CHECK(strstr(p.text, "(data)") < strstr(p.text, haul_type_name(node_type)));
    CHECK(strstr(p.text, haul_type_name(node_type)) < strstr(p.text, "(pointers)"));
    CHECK(strstr(p.text, "(pointers)") < strstr(p.text, haul_type_name(shop_type)));
    check_sums(&p);
    for (i = 0, writes = p.writes; i < writes; i++) {
        CHECK_STATUS(write_table(&p, i), HAUL_ERROR_FILE);
        CHECK_EQ(p.writes, i + 1);
    }
    first = one->first;
    one->first = &(list_node){ 0 };
    CHECK_STATUS(write_table(&p, SIZE_MAX), HAUL_ERROR_STALE);
    CHECK_HAS(text(), "the graph has changed and leads out of the shipment");
    one->first = first;
    CHECK_STATUS(write_table(&p, SIZE_MAX), HAUL_OK);
    end();
}

typedef struct pointed {
    int64_t kind;
    shop **list, **each;
} pointed;

TEST(places, of_pointers_are_told_in_one_line)
{
    static const haul_case cases[] = { { 2, &shop_type, 0 } };
    static const haul_field each = { .type_switch = HAUL_SWITCH(pointed, kind, cases) };
    static const haul_field fields[] = {
        HAUL_POINTERS(pointed, list, &shop_type, HAUL_FIXED(1)),
        HAUL_ADDRESS(pointed, each, .levels = 2, .count = HAUL_FIXED(2), .each_pointer = &each),
    };
    haul_type *pointed_type;
    shop empty[2], *list[1] = { &empty[0] }, *twice[2] = { &empty[1], &empty[0] };
    pointed root = { 2, list, twice };
    paper p;
    start();
    memset(empty, 0, sizeof empty);
    pointed_type = TYPE_NEW(pointed, fields);
    CHECK_STATUS(haul_type_commit(pointed_type), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &root, pointed_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(write_table(&p, SIZE_MAX), HAUL_OK);
    check_line(&p, "(pointers)", sizeof list + sizeof twice, 0, 0);
    haul_shipment_free(&shipment);
    haul_type_free(&pointed_type);
    end();
}

TEST(places, of_an_arena_are_told_without_types)
{
    haul_arena *arena;
    paper p;
    start();
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    CHECK(haul_arena_new(arena, node_type, 2048) != NULL);
    options.budget_bytes = 3 * PAGE;
    options.spill = HAUL_PLACE_HOST;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &options, NULL, &shipment),
                 HAUL_OK);
    CHECK_STATUS(write_table(&p, SIZE_MAX), HAUL_OK);
    CHECK_EQ(p.writes, 4);
    check_sums(&p);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    end();
}

TEST(places, that_do_not_exist_are_refused)
{
    haul_place_hint hint;
    haul_type *raw;
    start();
    options.spill = HAUL_PLACE_DEVICE;
    CHECK_STATUS(ship(), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(text(), "options->spill is 1");
    options.spill = HAUL_PLACE_ANY;
    options.hint_count = 1;
    CHECK_STATUS(ship(), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(text(), "options->hints is NULL");
    memset(&hint, 0, sizeof hint);
    options.hints = &hint;
    hint.place = HAUL_PLACE_HOST;
    CHECK_STATUS(ship(), HAUL_ERROR_ARGUMENT);
    hint.type = raw = TYPE_NEW(shop, shop_fields);
    CHECK_STATUS(ship(), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(text(), "hints[0] has no committed type");
    haul_type_free(&raw);
    hint.type = shop_type;
    hint.place = (haul_place)(HAUL_PLACE_MOVING + 1);
    CHECK_STATUS(ship(), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(text(), "hints[0] has no committed type, or another place than a haul_place");
    end();
}

static uint64_t free_now;

static uint64_t tell_free(void *state)
{
    (void)state;
    return free_now;
}

static void start_where_memory_is_told(void)
{
    haul_device_table tells = *haul_host_device();
    haul_device *opened;
    start();
    tells.free_bytes = tell_free;
    CHECK_STATUS(haul_device_open(context, &tells, NULL, &opened), HAUL_OK);
    haul_device_close(&device);
    device = opened;
}

/* Ships with `pages` free: no more than `near` pages in device memory, and `moving` beside them. */
static void check_room(uint64_t pages, uint64_t near, uint64_t moving)
{
    haul_shipment_info info;
    free_now = pages * PAGE;
    CHECK_STATUS(ship(), HAUL_OK);
    info = info_of(shipment);
    CHECK(info.device_bytes <= near * PAGE && info.device_bytes + PAGE >= near * PAGE);
    CHECK(info.moving_bytes <= moving * PAGE && info.moving_bytes + PAGE >= moving * PAGE);
    CHECK(info.host_bytes > 0);
    check_work(device, shipment);
    haul_shipment_free(&shipment);
}

TEST(places, move_as_far_as_the_device_has_free_memory_and_the_rest_lies_on_the_host)
{
    start_where_memory_is_told();
    options.budget_bytes = 20 * PAGE;
    options.spill = HAUL_PLACE_MOVING;
    check_room(26, 20, 6);
    check_room(20, 20, 0);
    check_room(10, 10, 0);
    check_room(0, 0, 0);
    options.spill = HAUL_PLACE_HOST;
    check_room(26, 20, 0);
    options.budget_bytes = 0; /* then what is free is the budget */
    check_room(12, 12, 0);
    options.spill = HAUL_PLACE_MOVING;
    check_room(12, 12, 0);
    free_now = 1000 * PAGE;
    CHECK_STATUS(ship(), HAUL_OK);
    CHECK_EQ(info_of(shipment).moving_bytes + info_of(shipment).host_bytes, 0);
    end();
}

TEST(places, that_hints_let_move_come_before_those_that_the_budget_does)
{
    haul_place_hint hint;
    haul_shipment_info info;
    start_where_memory_is_told();
    memset(&hint, 0, sizeof hint);
    hint.type = shop_type;
    hint.field = "cold";
    hint.place = HAUL_PLACE_MOVING;
    options.hints = &hint;
    options.hint_count = 1;
    options.budget_bytes = 8 * PAGE;
    options.spill = HAUL_PLACE_MOVING;
    free_now = 28 * PAGE;
    CHECK_STATUS(ship(), HAUL_OK);
    info = info_of(shipment);
    CHECK(is_most(places_of_cold().moving, COLD * sizeof *one->cold));
    CHECK(info.moving_bytes <= 20 * PAGE && info.device_bytes <= 8 * PAGE);
    CHECK(info.moving_bytes > 18 * PAGE && info.host_bytes > 0);
    check_work(device, shipment);
    end();
}

/* A device whose memory is all of one kind: what exceeds the budget is an error, spilled or not. */
TEST(places, are_refused_by_a_device_that_has_one)
{
    haul_device_table plain = *haul_host_device();
    haul_place_hint hint;
    haul_device *opened;
    start();
    plain.allocate_in_places = NULL;
    CHECK_STATUS(haul_device_open(context, &plain, NULL, &opened), HAUL_OK);
    haul_device_close(&device);
    device = opened;
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = 20 * PAGE;
    CHECK_STATUS(ship(), HAUL_ERROR_DEVICE_MEMORY);
    options.budget_bytes = 0;
    CHECK_STATUS(ship(), HAUL_OK);
    haul_shipment_free(&shipment);
    memset(&hint, 0, sizeof hint);
    hint.type = node_type;
    hint.place = HAUL_PLACE_MOVING;
    options.hints = &hint;
    options.hint_count = 1;
    CHECK_STATUS(ship(), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(text(), "all memory of the device");
    hint.place = HAUL_PLACE_DEVICE;
    CHECK_STATUS(ship(), HAUL_OK);
    end();
}

/* ---- An array that is not sent, which need not cross. */

typedef struct outlet {
    shop *from;
    int64_t *results;
    int64_t count;
} outlet;

/* One of 2 MiB crosses whole. */
static void have_large_pieces(void *state, haul_device_capabilities *has, size_t bytes)
{
    haul_host_device()->capabilities(state, has, bytes);
    has->send_bytes = 2 << 20;
}

TEST(places, elsewhere_do_not_keep_the_device_from_patching)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(outlet, from, &shop_type),
        HAUL_ARRAY(outlet, results, HAUL_COUNT(outlet, count), .transfer = HAUL_COPYOUT),
    };
    enum { RESULTS = (1 << 20) / sizeof(int64_t) };
    outlet o = { NULL, calloc(RESULTS, sizeof(int64_t)), RESULTS };
    haul_shipment_info info;
    haul_type *outlet_type;
    haul_device_table table = *haul_host_device();
    test_device how = { .settings = NULL };
    haul_device *opened;
    size_t fits = 0;
    uint64_t sent = 0;
    int exceeds;
    table.capabilities = have_large_pieces;
    CHECK_STATUS(test_open(&table, &how, &opened), HAUL_OK);
    start_on(opened);
    o.from = one;
    outlet_type = TYPE_NEW(outlet, fields);
    CHECK(o.results != NULL);
    CHECK_STATUS(haul_type_commit(outlet_type), HAUL_OK);
    options.spill = HAUL_PLACE_HOST;
    for (exceeds = 0; exceeds <= 1; exceeds++) {
        options.budget_bytes = exceeds ? 64 * PAGE : 0;
        CHECK_STATUS(haul_ship(device, &o, outlet_type, 1, &options, &shipment), HAUL_OK);
        info = info_of(shipment);
        CHECK_EQ(info.host_bytes > 0, exceeds);
        CHECK_EQ(info.bytes_to > info.arena_bytes, exceeds); /* the zeros cross */
        CHECK_EQ(lists_of(&info) > 0, exceeds);              /* the marks for the device */
        fits = exceeds ? fits : (size_t)info.device_bytes;
        sent = exceeds ? sent : info.bytes_to;
        check_work(device, shipment);
        haul_shipment_free(&shipment);
    }
    options.budget_bytes = fits; /* has room for it without marks */
    CHECK_STATUS(haul_ship(device, &o, outlet_type, 1, &options, &shipment), HAUL_OK);
    CHECK_EQ(info_of(shipment).host_bytes, 0);
    CHECK_EQ(info_of(shipment).bytes_to, sent);
    check_work(device, shipment);
    haul_shipment_free(&shipment);
    haul_type_free(&outlet_type);
    free(o.results);
    end();
}

/* ---- Little memory for the lists of many threads. */

static struct {
    size_t bytes, refusals; /* blocks of this size are refused */
} refused;

static void *allocate_some(void *user, size_t bytes, size_t alignment)
{
    void *memory;
    (void)user;
    if (bytes == refused.bytes) {
        refused.refusals++;
        return NULL;
    }
    return posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes)
               ? NULL
               : memory;
}

static void release_some(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

TEST(places, count_by_one_thread_if_there_is_no_memory_for_the_lists_of_all)
{
    enum { THREADS = 3, FAR = 4 << 20 };
    haul_context_options how = { .threads = THREADS,
                                 .allocate = allocate_some,
                                 .release = release_some };
    char *far_apart = malloc(FAR); /* the nodes lie in many blocks */
    list_node *first = NULL;
    haul_shipment_info before, after;
    haul_context *made;
    haul_device *opened;
    haul_plan *plan;
    size_t at, lists;
    memset(&refused, 0, sizeof refused);
    CHECK(far_apart != NULL);
    CHECK_STATUS(haul_context_create(&how, &made), HAUL_OK);
    CHECK_STATUS(haul_host_open(made, NULL, &opened), HAUL_OK);
    haul_context_free(&made);
    start_on(opened);
    for (at = 0; at + 1024 <= FAR; at += 1024) {
        list_node *node = (list_node *)(void *)(far_apart + at);
        memset(node, 0, sizeof *node);
        node->next = first;
        first = node;
    }
    free(one->first);
    one->first = first;
    for (at = 0; at < NODES; at++)
        one->index[at] = first;
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = 20 * PAGE;
    CHECK_STATUS(ship(), HAUL_OK);
    before = info_of(shipment);
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(one, shop_type), NULL, &plan), HAUL_OK);
    lists = haul__in_degree_lists(plan);
    haul_plan_free(&plan);
    CHECK(lists > 1);
    at = (size_t)((before.device_bytes + before.host_bytes - 1) / PAGE + 1);
    refused.bytes = at * lists * sizeof(haul__in_degree);
    CHECK_STATUS(ship(), HAUL_OK);
    CHECK_EQ(refused.refusals, 1);
    after = info_of(shipment);
    CHECK_EQ(after.host_bytes, before.host_bytes);
    CHECK_EQ(after.device_bytes, before.device_bytes);
    refused.bytes = 0;
    one->first = NULL;
    end();
    free(far_apart);
}

/* ---- Every event fails. */

static void prepare(void *user, fault_plan *plan)
{
    haul_device *opened;
    (void)user;
    CHECK_STATUS(fault_open(plan, NULL, &opened), HAUL_OK);
    haul_device_close(&device);
    device = opened;
    context = haul_device_context(device);
}

static haul_status run(void *user)
{
    (void)user;
    return ship();
}

static void check(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(shipment != NULL, status == HAUL_OK);
}

static void undo(void *user)
{
    (void)user;
    haul_shipment_free(&shipment);
}

static void finish(void *user)
{
    (void)user;
    haul_device_close(&device);
}

TEST(places, leave_nothing_behind_when_any_step_fails_H1_H2_D3)
{
    fault_operation operation;
    haul_place_hint hints[2];
    start();
    name_hints(hints);
    options.hints = hints;
    options.hint_count = 2;
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = 20 * PAGE;
    memset(&operation, 0, sizeof operation);
    operation.name = "places";
    operation.prepare = prepare;
    operation.run = run;
    operation.check = check;
    operation.undo = undo;
    operation.finish = finish;
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 20);
    end();
}

/* Marks on a device: few pointers among much data cross as a list, many as a bitmap, with the same
 * results.
 *
 * Two structures serve for both: a chain of links with data between them, for arenas; and a chain
 * of rows with arrays, for graphs that are packed. Sums over a walk on the device are the check.
 */
#include <stdio.h>

#include "arena_graphs.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

#define LARGE_BYTES ((size_t)9 << 20) /* enough to be patched while they cross */
/* too many to cross as one, whoever packs, with the bitmap behind them */
#define APART_BYTES ((size_t)3 << 20)
#define COUNT 30

static haul_device *the_device;
static haul_arena *the_arena;
static haul_shipment *the_shipment;
static link *the_first;

static size_t used(void)
{
    haul_arena_info now;
    haul_arena_get_info(the_arena, &now);
    return now.used_bytes;
}

static void fill_up(size_t bytes)
{
    CHECK(bytes == 0 || haul_arena_bytes(the_arena, bytes, 0) != NULL);
}

/* `count` links more, with so much data before, between and behind them. */
static void add(int from, int end, size_t before, size_t between, size_t behind)
{
    int i;
    fill_up(before);
    for (i = from; i < end; i++) {
        the_first = links_add(the_arena, the_first, i, i + 1);
        CHECK(the_first != NULL);
        fill_up(between);
    }
    fill_up(behind);
    links_set_homes(the_first, 0);
}

static void start_on(haul_device *device, int count, size_t before, size_t between, size_t behind)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = (size_t)32 << 20;
    the_device = device;
    the_first = NULL;
    links_open();
    CHECK_STATUS(test_arena(the_device, &options, &the_arena), HAUL_OK);
    add(0, count, before, between, behind);
}

static void start_with(int count, size_t before, size_t between, size_t behind)
{
    haul_device *device;
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    start_on(device, count, before, between, behind);
}

static void start(size_t before, size_t between, size_t behind)
{
    start_with(COUNT, before, between, behind);
}

static void ship(const haul_ship_options *how)
{
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), how, NULL, &the_shipment),
                 HAUL_OK);
}

static void ship_directly(const haul_ship_options *how)
{
    ship(how);
    CHECK_STATUS(haul_return_directly(the_shipment), HAUL_OK);
}

static void finish(void)
{
    haul_shipment_free(&the_shipment);
    haul_arena_free(&the_arena);
    haul_device_close(&the_device);
    links_close();
    the_first = NULL;
}

static void end(void)
{
    haul_host_counters now;
    haul_shipment_free(&the_shipment);
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, 0);
    finish();
}

static void check_seen(haul_device *device, const haul_shipment *shipment, int count)
{
    sight seen;
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(shipment, the_first);
    CHECK(seen.from != NULL);
    CHECK_STATUS(haul_host_launch(device, links_look, &seen), HAUL_OK);
    check_sight(&seen, count);
}

static uint64_t relocations(void)
{
    haul_host_counters now;
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    return now.relocations;
}

/* What was sent beside the arena. */
static size_t marks_of(const haul_shipment *shipment)
{
    haul_shipment_info told;
    haul_shipment_get_info(shipment, &told);
    return (size_t)told.bytes_to - told.arena_bytes;
}

static size_t bitmap_bytes(void)
{
    return (used() / sizeof(void *) + 63) / 64 * 8;
}

/* Each link has three pointers that travel and its skipped one, which is none there. */
static size_t list_bytes(int count)
{
    return (size_t)count * 3 * 8;
}

static int has_list(const haul_shipment *shipment, int count)
{
    const size_t marks = marks_of(shipment);
    CHECK(marks == list_bytes(count) || (marks >= bitmap_bytes() && marks <= bitmap_bytes() + 8));
    return marks == list_bytes(count);
}

TEST(ship_marks, few_pointers_among_much_data_go_as_a_list_and_many_as_a_bitmap)
{
    static const size_t between[] = { 0, 16, 496, 1000, 2000, 2800, 3200, 4000, 20000 };
    size_t i;
    for (i = 0; i < sizeof between / sizeof between[0]; i++) {
        start_with(1200, 0, between[i], APART_BYTES);
        ship(NULL);
        CHECK_EQ(has_list(the_shipment, 1200), list_bytes(1200) < bitmap_bytes() / 2);
        check_seen(the_device, the_shipment, 1200);
        end();
    }
}

static void there_again_and_back(int count, size_t between, int listed)
{
    haul_shipment *copy;
    start_with(count, 0, between, APART_BYTES);
    ship(NULL);
    CHECK_EQ(has_list(the_shipment, count), listed);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    check_seen(the_device, the_shipment, count);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &copy), HAUL_OK);
    CHECK_EQ(has_list(copy, count), listed);
    haul_shipment_free(&the_shipment);
    check_seen(the_device, copy, count);
    CHECK_STATUS(haul_update_device(copy, NULL, NULL), HAUL_OK);
    check_seen(the_device, copy, count);
    haul_shipment_free(&copy);
    ship(NULL);
    CHECK_STATUS(
        haul_host_launch(the_device, links_double, haul_device_pointer(the_shipment, the_first)),
        HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    links_set_homes(the_first, 1);
    check_doubled(the_first);
    end();
}

TEST(ship_marks, a_list_serves_refresh_and_copy_and_the_way_back_as_a_bitmap_does)
{
    there_again_and_back(20000, 0, 0);
    there_again_and_back(COUNT, 4000, 1);
}

static void cut_last(void *argument)
{
    link *l = argument;
    while (l->next->next)
        l = l->next;
    l->next = NULL;
}

TEST(ship_marks, pointers_that_the_device_has_changed_come_back_from_one_with_a_list)
{
    link *l;
    int count = 0;
    start(0, 4000, APART_BYTES);
    ship(NULL);
    CHECK(has_list(the_shipment, COUNT));
    CHECK_STATUS(
        haul_host_launch(the_device, cut_last, haul_device_pointer(the_shipment, the_first)),
        HAUL_OK);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    for (l = the_first; l; l = l->next)
        count++;
    CHECK_EQ(count, COUNT - 1);
    end();
}

/* Told by the device, or looked for by the host. */
static void refuse_way_out(haul_device *device, size_t behind, int listed)
{
    static link outside;
    link *was;
    char path[40];
    start_on(device, COUNT, 0, 4000, behind);
    was = the_first->next->other;
    the_first->next->other = &outside;
    sprintf(path, "arena+%lu",
            (unsigned long)((char *)&the_first->next->other - (char *)the_first));
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(the_device))->path, path);
    the_first->next->other = was;
    ship(NULL);
    CHECK_EQ(has_list(the_shipment, COUNT), listed);
    check_seen(the_device, the_shipment, COUNT);
    the_first->next->other = &outside;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(the_device))->path, path);
    the_first->next->other = was;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    check_seen(the_device, the_shipment, COUNT);
    finish();
}

/* On a device that does things at once, and on one that does them as late as it may. The smallest
 * crosses as one. */
TEST(ship_marks, a_pointer_that_leads_out_is_refused_with_its_place)
{
    static const size_t behind[] = { 0, APART_BYTES, 2 * APART_BYTES, LARGE_BYTES };
    static fault_plan plan;
    haul_device *device;
    size_t i;
    for (i = 0; i < 8; i++) {
        memset(&plan, 0, sizeof plan);
        plan.deferred = i >= 4;
        CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
        refuse_way_out(device, behind[i % 4], i % 4 > 0);
        fault_check_clean(&plan);
    }
}

static haul_status refuse_stage(void *state, size_t bytes, void **memory)
{
    (void)state;
    (void)bytes;
    (void)memory;
    return HAUL_ERROR_MEMORY;
}

TEST(ship_marks, where_the_device_has_no_memory_to_tell_it_in_the_host_looks)
{
    haul_device_table table = *haul_host_device();
    haul_device *device;
    table.stage = refuse_stage;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
    refuse_way_out(device, APART_BYTES, 1);
}

TEST(ship_marks,
     a_list_is_cut_where_the_arena_is_and_no_patch_is_ordered_for_a_part_without_pointers)
{
    static const struct {
        size_t before, behind;
        uint64_t patches;
    } parts[] = { { 0, LARGE_BYTES, 1 }, { LARGE_BYTES, 0, 1 }, { 0, 0, 2 } };
    uint64_t before;
    size_t i;
    for (i = 0; i < 3; i++) {
        start(parts[i].before, parts[i].before + parts[i].behind ? 0 : LARGE_BYTES / COUNT,
              parts[i].behind);
        before = relocations();
        ship(NULL);
        CHECK(has_list(the_shipment, COUNT));
        CHECK_EQ(relocations(), before + parts[i].patches);
        check_seen(the_device, the_shipment, COUNT);
        CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
        check_seen(the_device, the_shipment, COUNT);
        end();
    }
}

/* Pairs, some of them with so much data behind, that return directly; each time by so many
 * patches. */
static void back_by(int early, int count, size_t apart, unsigned patches)
{
    static fault_plan plan;
    haul_arena_options options;
    haul_ship_options how;
    pair *first;
    int swaps;
    memset(&plan, 0, sizeof plan);
    memset(&options, 0, sizeof options);
    memset(&how, 0, sizeof how);
    plan.deferred = early;
    options.reserve_bytes = (size_t)32 << 20;
    options.pinned = 1;
    pairs_open();
    CHECK_STATUS(fault_open(&plan, NULL, &the_device), HAUL_OK);
    CHECK_STATUS(test_arena(the_device, &options, &the_arena), HAUL_OK);
    first = pairs_make(the_arena, count, apart);
    CHECK(first != NULL && used() >= LARGE_BYTES);
    ship_directly(&how);
    for (swaps = 1; swaps < 4; swaps++) {
        const uint64_t before = relocations();
        CHECK_STATUS(
            haul_host_launch(the_device, pairs_swap, haul_device_pointer(the_shipment, first)),
            HAUL_OK);
        CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
        CHECK_EQ(relocations(), before + patches);
        check_swapped(first, count, swaps);
    }
    haul_shipment_free(&the_shipment);
    haul_arena_free(&the_arena);
    haul_device_close(&the_device);
    pairs_close();
    fault_check_clean(&plan);
}

/* Patches of a part may come as soon as their fences, or where they are ordered. */
TEST(ship_marks, a_large_arena_with_many_pointers_returns_directly_in_parts_and_one_with_few_as_one)
{
    int early;
    for (early = 0; early < 2; early++) {
        back_by(early, 620001, 0, 5);
        back_by(early, COUNT, LARGE_BYTES / COUNT, 2);
    }
}

/* The pairs' left ones are others, and come back as such. */
TEST(ship_marks, a_large_arena_that_leads_into_another_returns_directly_as_one)
{
    haul_arena_options options;
    haul_ship_options how;
    haul_arena *other;
    haul_shipment *into;
    const haul_shipment *all[1];
    pair *first, *p, *there;
    int i;
    memset(&options, 0, sizeof options);
    memset(&how, 0, sizeof how);
    options.reserve_bytes = (size_t)32 << 20;
    options.pinned = 1;
    pairs_open();
    CHECK_STATUS(test_open(haul_host_device(), NULL, &the_device), HAUL_OK);
    CHECK_STATUS(test_arena(the_device, &options, &the_arena), HAUL_OK);
    CHECK_STATUS(test_arena(the_device, &options, &other), HAUL_OK);
    first = pairs_make(the_arena, 620001, 0);
    there = pairs_make(other, 1, 0);
    CHECK(first && there && used() >= LARGE_BYTES);
    for (p = first; p; p = p->right)
        p->left = there;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(other), NULL, NULL, &into), HAUL_OK);
    all[0] = into;
    how.beside = all;
    how.beside_count = 1;
    ship_directly(&how);
    for (i = 0; i < 2; i++) {
        const uint64_t before = relocations();
        first->weight = 7;
        CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
        CHECK_EQ(relocations(), before + 4);
        CHECK(first->weight == 0);
        for (p = first; p; p = p->right)
            CHECK_PTR(p->left, there);
    }
    haul_shipment_free(&the_shipment);
    haul_shipment_free(&into);
    haul_arena_free(&the_arena);
    haul_arena_free(&other);
    haul_device_close(&the_device);
    pairs_close();
}

/* What is allocated behind a shipment's arena shares the last word of the bitmap with it. */
TEST(ship_marks, pointers_that_are_added_later_are_not_patched_before_they_are_shipped)
{
    start(0, 4000, APART_BYTES + 8);
    ship(NULL);
    CHECK(has_list(the_shipment, COUNT));
    add(COUNT, COUNT + 1, 0, 0, 0);
    the_first->other->other->next = NULL; /* not yet a link of the chain */
    the_first->other = the_first->other->other;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    check_seen(the_device, the_shipment, COUNT);
    add(COUNT, 3000, 0, 0, 0);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    check_seen(the_device, the_shipment, 3000);
    end();
}

TEST(ship_marks, a_list_serves_arenas_that_lead_into_one_another)
{
    haul_shipment *shipments[2];
    haul_arena *arenas[2];
    link *own, *more, *last;
    sight seen;
    start(0, 4000, APART_BYTES);
    own = the_first;
    arenas[0] = the_arena;
    CHECK_STATUS(test_arena(the_device, NULL, &arenas[1]), HAUL_OK);
    more = links_make(arenas[1], COUNT);
    CHECK(more != NULL);
    last = own->other;
    last->next = more;
    more->other = last;
    links_set_homes(own, 0);
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, 2, NULL, NULL, shipments), HAUL_OK);
    CHECK(has_list(shipments[0], COUNT));
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(shipments[0], own);
    CHECK_STATUS(haul_host_launch(the_device, links_look, &seen), HAUL_OK);
    CHECK_EQ(seen.links, 2 * COUNT);
    CHECK_EQ(seen.values, (int64_t)COUNT * (COUNT - 1));
    haul_shipment_free(&shipments[0]);
    haul_shipment_free(&shipments[1]);
    haul_arena_free(&arenas[1]);
    end();
}

/* Such a pointer stands in a list of its own, and there is one list. */
TEST(ship_marks, where_a_pointer_lies_off_the_grid_the_bitmap_goes)
{
    leaning *l;
    sight seen;
    start(0, 4000, APART_BYTES);
    l = leaning_make(the_arena, the_first);
    ship(NULL);
    CHECK_EQ(marks_of(the_shipment), bitmap_bytes() + 8);
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(the_shipment, l);
    CHECK_STATUS(haul_host_launch(the_device, leaning_look, &seen), HAUL_OK);
    check_sight(&seen, COUNT);
    end();
    haul_type_free(&leaning_type);
}

/* The last word of the bitmap may have pointers behind the shipment's end by then, where its own
 * marks lie on the device. */
TEST(ship_marks, after_a_failure_a_list_is_made_again_of_the_shipments_pointers_alone_D5)
{
    static fault_plan plan;
    haul_device *device;
    haul_async on = { NULL, NULL };
    memset(&plan, 0, sizeof plan);
    plan.deferred = 1;
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    start_on(device, COUNT, 0, 4000, APART_BYTES + 8);
    ship(NULL);
    CHECK(has_list(the_shipment, COUNT));
    CHECK(haul_arena_new(the_arena, link_type, 1) != NULL);
    fault_arm(&plan, FAULT_LATE, 2); /* select, copy_to */
    CHECK_STATUS(haul_update_device(the_shipment, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_wait(the_shipment), HAUL_ERROR_DEVICE);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    check_seen(the_device, the_shipment, COUNT);
    CHECK_EQ(plan.offsets, COUNT * 3);
    finish();
    fault_check_clean(&plan);
}

/* ---- Of a graph that is packed, in pieces of one block. */

typedef struct row {
    struct row *next;
    double *data;
    int64_t count;
} row;

static haul_type *row_type;

typedef struct rows {
    const row *first;
    int64_t rows, sum;
} rows;

static void look_at_rows(void *argument)
{
    rows *seen = argument;
    const row *r;
    int64_t i;
    for (r = seen->first; r; r = r->next) {
        seen->rows++;
        for (i = 0; i < r->count; i++)
            seen->sum += (int64_t)r->data[i];
    }
}

static void add_one(void *argument)
{
    row *r;
    int64_t i;
    for (r = argument; r; r = r->next)
        for (i = 0; i < r->count; i++)
            r->data[i] += 1;
}

static row *rows_make(int count, int64_t elements)
{
    row *first = NULL;
    int64_t i;
    for (; count > 0; count--) {
        row *r = malloc(sizeof *r);
        CHECK(r != NULL);
        r->next = first;
        r->count = elements;
        r->data = elements ? malloc((size_t)elements * sizeof *r->data) : NULL;
        CHECK(elements == 0 || r->data != NULL);
        for (i = 0; i < elements; i++)
            r->data[i] = (double)(i + count);
        first = r;
    }
    return first;
}

static void rows_free(row *first)
{
    while (first) {
        row *next = first->next;
        free(first->data);
        free(first);
        first = next;
    }
}

static void check_rows_there(haul_device *device, const haul_shipment *shipment, const row *first)
{
    rows here, there;
    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    here.first = first;
    look_at_rows(&here);
    there.first = haul_device_pointer(shipment, first);
    CHECK(there.first != NULL);
    CHECK_STATUS(haul_host_launch(device, look_at_rows, &there), HAUL_OK);
    CHECK_EQ(there.rows, here.rows);
    CHECK_EQ(there.sum, here.sum);
}

/* Is what was sent beside the arena a list of two pointers a row? If not it is the bitmap. */
static int rows_are_listed(const haul_shipment *shipment, int count)
{
    haul_shipment_info told;
    size_t list = (size_t)count * 2 * 8;
    haul_shipment_get_info(shipment, &told);
    CHECK(marks_of(shipment) == list ||
          (marks_of(shipment) >= told.bitmap_bytes && marks_of(shipment) <= told.bitmap_bytes + 8));
    CHECK_EQ(marks_of(shipment) == list, list <= told.bitmap_bytes / 2);
    return marks_of(shipment) == list;
}

static int ship_rows(haul_device *device, int count, int64_t elements, int is_ordered)
{
    haul_ship_options how;
    row *first = rows_make(count, elements), *r;
    haul_shipment *shipment, *copy;
    int listed;
    memset(&how, 0, sizeof how);
    how.ordered = is_ordered;
    CHECK_STATUS(haul_ship(device, first, row_type, 1, &how, &shipment), HAUL_OK);
    listed = rows_are_listed(shipment, count);
    check_rows_there(device, shipment, first);
    for (r = first; r; r = r->next)
        if (r->count)
            r->data[r->count - 1] += r->next ? 7 : 8;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    check_rows_there(device, shipment, first);
    CHECK_STATUS(haul_shipment_copy(shipment, device, &copy), HAUL_OK);
    CHECK_EQ(rows_are_listed(copy, count), listed);
    haul_shipment_free(&shipment);
    check_rows_there(device, copy, first);
    CHECK_STATUS(haul_host_launch(device, add_one, haul_device_pointer(copy, first)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(copy), HAUL_OK);
    check_rows_there(device, copy, first);
    haul_shipment_free(&copy);
    rows_free(first);
    return listed;
}

TEST(ship_marks, pointers_of_a_graph_that_is_packed_go_the_shorter_way_too)
{
    static const int64_t elements[] = { 0, 30, 100, 120, 150, 300, 1000, 7000, 20000 };
    static const haul_field fields[] = { HAUL_OBJECT(row, next, &row_type),
                                         HAUL_ARRAY(row, data, HAUL_COUNT(row, count)) };
    fault_plan plan;
    haul_device *device;
    size_t i;
    int is_ordered, listed = 0;
    memset(&plan, 0, sizeof plan);
    plan.chunk_bytes = 1 << 16;
    plan.no_send = 1;
    CHECK_STATUS(type_make("row", sizeof(row), fields, 2, &row_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(row_type), HAUL_OK);
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    for (is_ordered = 0; is_ordered < 2; is_ordered++)
        for (i = 0; i < sizeof elements / sizeof elements[0]; i++)
            listed += ship_rows(device, 300, elements[i], is_ordered);
    CHECK(listed > 4);
    haul_device_close(&device);
    haul_type_free(&row_type);
    fault_check_clean(&plan);
}

/* One pointer in each, and so much between them that a block has no other. */
typedef struct page {
    struct page *next;
    double data[511];
} page;

static void count_pages(void *argument)
{
    sight *seen = argument;
    const page *p;
    for (p = (const page *)(const void *)seen->from; p; p = p->next)
        seen->links++;
}

TEST(ship_marks, large_objects_that_lie_far_apart_are_few_pointers)
{
    enum { PAGES = 300, APART = 1 << 16 };
    haul_type *page_type = NULL;
    haul_field fields[] = { HAUL_OBJECT(page, next, &page_type) };
    unsigned char *memory = calloc(PAGES, APART);
    haul_device *device;
    haul_shipment *shipment;
    fault_plan plan;
    sight seen;
    size_t i;
    CHECK(memory != NULL);
    memset(&plan, 0, sizeof plan);
    plan.chunk_bytes = 1 << 16;
    plan.no_send = 1;
    CHECK_STATUS(type_make("page", sizeof(page), fields, 1, &page_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(page_type), HAUL_OK);
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    for (i = 0; i + 1 < PAGES; i++)
        ((page *)(void *)(memory + i * APART))->next = (page *)(void *)(memory + (i + 1) * APART);
    CHECK_STATUS(haul_ship(device, memory, page_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_EQ(marks_of(shipment), PAGES * 8);
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(shipment, memory);
    CHECK_STATUS(haul_host_launch(device, count_pages, &seen), HAUL_OK);
    CHECK_EQ(seen.links, PAGES);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_type_free(&page_type);
    fault_check_clean(&plan);
    free(memory);
}

/* ---- Two shipments of one arena, and objects that a kernel makes by way of one of them. */

typedef struct birth {
    haul_nursery *nursery;
    link *first;
    haul_device_layout stamp;
} birth;

enum { BORN = 500 };

static void bear(void *argument)
{
    birth *b = argument;
    int i;
    for (i = 0; i < BORN; i++) {
        link *l = haul_nursery_new(b->nursery, &b->stamp);
        if (!l)
            return;
        l->next = b->first;
        l->value = i;
        b->first = l;
    }
}

/* `seen->from` is the birth. */
static void look_at_born(void *argument)
{
    sight *seen = argument;
    const birth *b = (const birth *)(const void *)seen->from;
    const link *l;
    for (l = b->first; l; l = l->next) {
        seen->links++;
        seen->values += l->value;
    }
}

static void check_born(const haul_shipment *shipment, const birth *b, int count)
{
    sight seen;
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(shipment, b);
    CHECK_STATUS(haul_host_launch(the_device, look_at_born, &seen), HAUL_OK);
    CHECK_EQ(seen.links, count);
    CHECK_EQ(seen.values, (int64_t)BORN * (BORN - 1) / 2);
}

static void bear_by_one_of_two(size_t between)
{
    static haul_type *nursery_type, *birth_type;
    haul_field fields[] = { HAUL_OBJECT(birth, nursery, &nursery_type),
                            HAUL_OBJECT(birth, first, &link_type) };
    haul_shipment *other, *copy;
    birth *b;
    start(0, 0, 0);
    CHECK_STATUS(type_make("nursery", sizeof(haul_nursery), NULL, 0, &nursery_type), HAUL_OK);
    CHECK_STATUS(type_make("birth", sizeof(birth), fields, 2, &birth_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(birth_type), HAUL_OK);
    b = haul_arena_new(the_arena, birth_type, 1);
    CHECK(b != NULL);
    fill_up(between);
    b->nursery = haul_arena_new_nursery(the_arena, (size_t)1 << 18);
    CHECK(b->nursery != NULL);
    CHECK_STATUS(haul_device_layout_of(link_type, &b->stamp), HAUL_OK);
    ship(NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &other),
                 HAUL_OK);
    CHECK_STATUS(haul_host_launch(the_device, bear, haul_device_pointer(the_shipment, b)), HAUL_OK);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(other, NULL, NULL), HAUL_OK);
    check_born(other, b, BORN);
    CHECK_STATUS(haul_shipment_copy(other, the_device, &copy), HAUL_OK);
    check_born(copy, b, BORN);
    haul_shipment_free(&copy);
    haul_shipment_free(&other);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    check_born(the_shipment, b, BORN);
    end();
    haul_type_free(&nursery_type);
    haul_type_free(&birth_type);
}

TEST(ship_marks, what_one_shipment_has_brought_back_is_patched_by_the_other_as_well)
{
    bear_by_one_of_two(0);
    bear_by_one_of_two(APART_BYTES);
    bear_by_one_of_two(LARGE_BYTES);
}

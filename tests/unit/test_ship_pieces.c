/* Graphs that cross in pieces: packed while they are sent, and written while they come back.
 *
 * The device asks for pieces of one byte, so a piece is one block of the source. A museum
 * (ship_graphs.h) spread over a few blocks then takes more pieces than the staging ring has
 * buffers.
 *
 * Faults by number (docs/testing.md): C3, C4, D1, D4, D5, D6, D13, D17, H1, H2, in pieces.
 */
#define _DEFAULT_SOURCE
#include "pack/bitmap.h"
#include "ship_faults.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

enum { GAP = 25000 };

/* ---- The verbs that a call uses, counted. */

typedef struct verbs {
    unsigned allocate, stage, copy_to, copy_from, relocate, send, fetch, select, fence, poll, await,
        wait, signal;
} verbs;

static verbs used;
static size_t chunk_bytes, patch_bytes, fetch_bytes; /* the last: 0: the host device's */
static int no_send, no_fetch;

static void told_capabilities(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    haul_host_device()->capabilities(state, capabilities, bytes);
    capabilities->chunk_bytes = chunk_bytes;
    capabilities->patch_bytes = patch_bytes;
    if (fetch_bytes)
        capabilities->fetch_bytes = fetch_bytes;
    if (no_send)
        capabilities->send_bytes = capabilities->fetch_bytes = 0;
}

static haul_status count_allocate(void *state, uint64_t bytes, size_t alignment,
                                  haul_address *address)
{
    used.allocate++;
    return haul_host_device()->allocate(state, bytes, alignment, address);
}

static haul_status count_stage(void *state, size_t bytes, void **memory)
{
    used.stage++;
    return haul_host_device()->stage(state, bytes, memory);
}

static haul_status count_copy_to(void *state, haul_address to, const void *from, size_t bytes)
{
    used.copy_to++;
    return haul_host_device()->copy_to(state, to, from, bytes);
}

static haul_status count_copy_from(void *state, void *to, haul_address from, size_t bytes)
{
    used.copy_from++;
    return haul_host_device()->copy_from(state, to, from, bytes);
}

static haul_status count_relocate(void *state, const haul_relocation *relocation)
{
    used.relocate++;
    return haul_host_device()->relocate(state, relocation);
}

static haul_status count_send(void *state, const haul_relocation *relocation, const void *from,
                              size_t bytes)
{
    used.send++;
    return haul_host_device()->send(state, relocation, from, bytes);
}

static haul_status count_fetch(void *state, void *to, const haul_relocation *relocation,
                               size_t bytes)
{
    used.fetch++;
    if (no_fetch)
        return HAUL_ERROR_UNSUPPORTED;
    return haul_host_device()->fetch(state, to, relocation, bytes);
}

static haul_status count_select(void *state, void *stream)
{
    used.select++;
    return haul_host_device()->select(state, stream);
}

static haul_status count_fence(void *state, uint64_t *fence)
{
    used.fence++;
    return haul_host_device()->fence(state, fence);
}

static haul_status count_poll(void *state, uint64_t fence)
{
    used.poll++;
    return haul_host_device()->poll(state, fence);
}

static haul_status count_await(void *state, uint64_t fence)
{
    used.await++;
    return haul_host_device()->await(state, fence);
}

static haul_status count_wait(void *state)
{
    used.wait++;
    return haul_host_device()->wait(state);
}

static haul_device *counting_device(size_t chunk)
{
    haul_device_table table = *haul_host_device();
    haul_device *device;
    chunk_bytes = chunk;
    no_send = chunk != 0;
    table.capabilities = told_capabilities;
    table.allocate = count_allocate;
    table.stage = count_stage;
    table.copy_to = count_copy_to;
    table.copy_from = count_copy_from;
    table.relocate = count_relocate;
    table.send = count_send;
    table.fetch = count_fetch;
    table.select = count_select;
    table.fence = count_fence;
    table.poll = count_poll;
    table.await = count_await;
    table.wait = count_wait;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
    memset(&used, 0, sizeof used);
    return device;
}

static unsigned sum(const verbs *v)
{
    return v->allocate + v->stage + v->copy_to + v->copy_from + v->relocate + v->send + v->fetch +
           v->select + v->fence + v->poll + v->await + v->wait + v->signal;
}

/* ---- A museum, spread. */

typedef struct tour {
    world w;
    haul_device *device;
    haul_shipment *s;
    room *first;
} tour;

static tour the_tour;

static tour *tour_start(size_t gap, size_t chunk, const haul_ship_options *options)
{
    tour *t = &the_tour;
    memset(t, 0, sizeof *t);
    world_start(&t->w, 1 << 20);
    t->w.gap = gap;
    museum_open();
    t->first = museum_make(&t->w, 12, 1);
    t->device = counting_device(chunk);
    t->device->whole_bytes = 0; /* results are written as they come, however few they are */
    CHECK_STATUS(haul_ship(t->device, t->first, room_type, 1, options, &t->s), HAUL_OK);
    return t;
}

static void tour_end(tour *t)
{
    haul_shipment_free(&t->s);
    CHECK_EQ(counters_of(t->device).bytes_live, 0);
    haul_device_close(&t->device);
    museum_close();
    world_end(&t->w);
}

static haul_shipment_info told_by(const tour *t)
{
    haul_shipment_info told;
    haul_shipment_get_info(t->s, &told);
    return told;
}

static void check_tour(tour *t)
{
    visit here = museum_seen_from(t->first),
          there = museum_seen_on(t->device, t->s, &t->w, t->first);
    check_visits_agree(&there, &here);
}

static void there_and_back_in_pieces(const haul_ship_options *options)
{
    tour *t = tour_start(GAP, 1, options);
    unsigned char *before = world_picture(&t->w);
    unsigned pieces = used.copy_to;
    CHECK(pieces > 12);
    CHECK_EQ(told_by(t).transfers_to, 1);
    check_tour(t);
    museum_change(t->first);
    CHECK_STATUS(haul_update_device(t->s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told_by(t).transfers_to, 2);
    check_tour(t);
    memcpy(t->w.memory, before, t->w.bytes);
    CHECK_STATUS(haul_unmarshal(t->s), HAUL_OK);
    CHECK(used.copy_from > 12);
    CHECK_EQ(told_by(t).transfers_from, 1);
    CHECK_EQ(told_by(t).bytes_from, told_by(t).arena_bytes);
    world_check_changed_by(&t->w, before, museum_change, t->first);
    tour_end(t);
}

TEST(pieces, a_graph_in_more_pieces_than_there_are_buffers_is_walked_refreshed_and_brought_back)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.let_counts_change = 1; /* so nothing comes twice */
    there_and_back_in_pieces(&options);
    patch_bytes = SIZE_MAX;
    there_and_back_in_pieces(&options);
    patch_bytes = 0;
}

TEST(pieces, the_device_holds_the_bytes_that_packing_as_one_gives)
{
    tour *t = tour_start(GAP, 1, NULL);
    haul_shipment_info told = told_by(t);
    haul_root root;
    haul_plan *plan;
    size_t bytes = told.arena_bytes;
    unsigned char *arena = malloc(bytes), *packed = malloc(bytes);
    CHECK(arena && packed);
    root.address = t->first;
    root.type = room_type;
    root.count = 1;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(t->device), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_OK);
    CHECK_STATUS(haul_plan_pack(plan, packed, bytes, told.base, NULL), HAUL_OK);
    device_read(t->device, arena, told.base, bytes);
    CHECK_BYTES(arena, packed, bytes);
    CHECK_STATUS(haul_update_device(t->s, NULL, NULL), HAUL_OK);
    device_read(t->device, arena, told.base, bytes);
    CHECK_BYTES(arena, packed, bytes);
    haul_plan_free(&plan);
    free(arena);
    free(packed);
    tour_end(t);
}

/* ---- What it costs. */

TEST(pieces, a_small_ship_is_one_allocation_one_send_and_one_wait)
{
    tour *t = tour_start(0, 0, NULL);
    haul_shipment *again;
    CHECK_EQ(used.stage, 1);
    memset(&used, 0, sizeof used);
    CHECK_STATUS(haul_ship(t->device, t->first, room_type, 1, NULL, &again), HAUL_OK);
    CHECK_EQ(used.allocate, 1);
    CHECK_EQ(used.send, 1);
    CHECK_EQ(used.wait, 1);
    CHECK_EQ(sum(&used), 3);
    memset(&used, 0, sizeof used);
    CHECK_STATUS(haul_update_device(again, NULL, NULL), HAUL_OK);
    CHECK_EQ(used.copy_to, 1);
    CHECK_EQ(used.wait, 1);
    CHECK_EQ(sum(&used), 2);
    memset(&used, 0, sizeof used);
    CHECK_STATUS(haul_unmarshal(again), HAUL_OK);
    CHECK_EQ(used.copy_from, 1);
    CHECK_EQ(used.wait, 1);
    CHECK_EQ(sum(&used), 2);
    haul_shipment_free(&again);
    tour_end(t);
}

typedef struct ring {
    struct ring *next;
    double weight;
} ring;

static haul_type *ring_type;

/* Rings, the first of which leads to all others, with so much data behind each. */
static ring *make_rings(haul_arena *arena, unsigned count, size_t apart)
{
    ring *first = NULL, **next = &first;
    unsigned i;
    for (i = 0; i < count; i++) {
        *next = haul_arena_new(arena, ring_type, 1);
        CHECK(*next != NULL && haul_arena_bytes(arena, apart, 0) != NULL);
        (*next)->weight = i;
        next = &(*next)->next;
    }
    *next = first;
    return first;
}

static void double_weights(void *root)
{
    ring *first = root, *r = first;
    do
        r->weight = r->weight * 2 + 1;
    while ((r = r->next) != first);
}

/* A direct return, twice, of so many rings; what it uses is counted once. */
static void return_rings(size_t most, unsigned count, size_t apart)
{
    const haul_field fields[] = { HAUL_OBJECT(ring, next, &ring_type) };
    haul_device *device;
    haul_arena_options options;
    haul_shipment *s;
    haul_arena *arena;
    ring *first, *r;
    unsigned i;
    fetch_bytes = most;
    device = counting_device(0);
    memset(&options, 0, sizeof options);
    options.pinned = 1;
    options.reserve_bytes = 1 << 22;
    CHECK_STATUS(type_make("ring", sizeof(ring), fields, 1, &ring_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(ring_type), HAUL_OK);
    CHECK_STATUS(test_arena(device, &options, &arena), HAUL_OK);
    first = make_rings(arena, count, apart);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_return_directly(s), HAUL_OK);
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(haul_host_launch(device, double_weights, haul_device_pointer(s, first)),
                     HAUL_OK);
        memset(&used, 0, sizeof used);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    }
    for (i = 0, r = first; i < count; i++, r = r->next)
        CHECK_EQ(r->weight, i * 4 + 3);
    CHECK(r == first);
    haul_shipment_free(&s);
    haul_arena_free(&arena);
    haul_type_free(&ring_type);
    haul_device_close(&device);
    fetch_bytes = 0;
}

static void check_it_was_one_order(void)
{
    CHECK_EQ(used.fetch, 1);
    CHECK_EQ(used.wait, 1);
    CHECK_EQ(sum(&used), 2);
}

TEST(pieces, a_small_arena_in_pinned_memory_comes_straight_back_by_one_order)
{
    return_rings(0, 2, 16);
    check_it_was_one_order();
}

TEST(pieces, a_larger_arena_comes_back_so_where_the_device_says_that_it_pays)
{
    return_rings(1 << 22, 40, 1 << 15); /* pointers in a list */
    check_it_was_one_order();
    return_rings(1 << 22, 4000, 256); /* in the bitmap */
    check_it_was_one_order();
    return_rings(1 << 19, 40, 1 << 15);
    CHECK_EQ(used.fetch, 0);
    CHECK_EQ(used.relocate, 2);
}

TEST(pieces, a_device_that_would_rather_not_patch_on_the_way_patches_before_and_behind)
{
    no_fetch = 1;
    return_rings(0, 2, 16);
    CHECK_EQ(used.relocate, 2);
    return_rings(1 << 22, 40, 1 << 15);
    CHECK_EQ(used.fetch, 1);
    CHECK_EQ(used.relocate, 2);
    CHECK_EQ(used.copy_from, 1);
    no_fetch = 0;
}

/* ---- A field at the end of a piece. */

typedef struct crate {
    uint8_t *bytes;
    char rest[2 * sizeof(void *) - sizeof(uint8_t *) - 1];
    uint8_t count;
} crate;

/* The count is in the last byte of a block, which ends a piece. What it counts lies in the same
 * block, in the block behind it, or in the one behind that. */
TEST(pieces, a_count_in_the_very_last_byte_of_a_piece_must_come_back_as_it_was)
{
    enum { BLOCK = 65536 };
    haul_type *type;
    const haul_field fields[] = { HAUL_ARRAY(crate, bytes, HAUL_COUNT(crate, count)) };
    const uint8_t two = 2, seven = 7;
    unsigned behind;
    CHECK_STATUS(type_make("crate", sizeof(crate), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (behind = 0; behind < 3; behind++) {
        haul_device *device = counting_device(1);
        haul_shipment *s;
        world w;
        unsigned char *block;
        crate *c;
        world_start(&w, 4 * BLOCK);
        block = w.memory + (BLOCK - (uintptr_t)w.memory % BLOCK) % BLOCK;
        c = (crate *)(void *)(block + BLOCK - sizeof(crate));
        c->bytes = block + (size_t)behind * BLOCK + 64;
        c->count = 3;
        device->whole_bytes = 0;
        CHECK_STATUS(haul_ship(device, c, type, 1, NULL, &s), HAUL_OK);
        device_write(device, device_address(s, c->bytes), &seven, 1);
        device_write(device, device_address(s, &c->count), &two, 1);
        CHECK_STATUS(haul_unmarshal(s), HAUL_ERROR_GRAPH);
        CHECK_STR(haul_context_error(haul_device_context(device))->path, "root.bytes");
        CHECK_EQ(c->count, 3);
        haul_shipment_free(&s);
        haul_device_close(&device);
        world_end(&w);
    }
    haul_type_free(&type);
}

TEST(pieces, a_device_that_wants_it_so_gets_small_graphs_patched_and_in_one_copy)
{
    tour *t;
    haul_shipment *copy;
    patch_bytes = (size_t)1 << 20;
    t = tour_start(0, 0, NULL);
    CHECK_EQ(used.copy_to, 1);
    CHECK_EQ(used.relocate + used.send, 0);
    CHECK_EQ(told_by(t).bytes_to, told_by(t).arena_bytes);
    check_tour(t);
    /* which needs the bitmap that was not sent */
    CHECK_STATUS(haul_shipment_copy(t->s, t->device, &copy), HAUL_OK);
    haul_shipment_free(&t->s);
    t->s = copy;
    check_tour(t);
    tour_end(t);
    patch_bytes = 0;
}

TEST(pieces, staging_memory_is_made_once_and_serves_all_that_follows)
{
    tour *t = tour_start(GAP, 1, NULL);
    int i;
    CHECK(used.stage >= 1 && used.stage <= 8);
    CHECK_STATUS(haul_unmarshal(t->s), HAUL_OK);
    CHECK_EQ(used.stage, 8);
    for (i = 0; i < 5; i++) {
        CHECK_STATUS(haul_update_device(t->s, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_update_device(t->s, RANGE(t->first, sizeof *t->first), NULL), HAUL_OK);
        CHECK_STATUS(haul_reship(t->s, NULL), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(t->s), HAUL_OK);
        CHECK_STATUS(haul_update_host(t->s, WITH_POINTERS, NULL), HAUL_OK);
    }
    CHECK_EQ(used.stage, 8);
    tour_end(t);
}

TEST(pieces, a_large_refresh_refuses_a_stale_plan_before_anything_is_sent_C3)
{
    tour *t = tour_start(GAP, 1, NULL);
    room *r = t->first, *was;
    while (r->next->next != t->first)
        r = r->next;
    was = r->next;
    memset(&used, 0, sizeof used);
    r->next = t->first;
    CHECK_STATUS(haul_update_device(t->s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(t->device))->path, "next");
    r->next = was;
    was->door_count--;
    CHECK_STATUS(haul_update_device(t->s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(t->device))->path, "door");
    was->door_count++;
    CHECK_EQ(used.copy_to, 0);
    CHECK_STATUS(haul_update_device(t->s, NULL, NULL), HAUL_OK);
    tour_end(t);
}

/* ---- Large ones, with the library's own sizes. */

typedef struct bulk {
    struct bulk *next;
    double data[131071];
} bulk;

static haul_type *bulk_type;

enum { BULKS = 44 }; /* of 1 MiB: more than the ring */
#ifdef HAUL_STRESS_THREADS
enum { RING = 8, PIECES = 11 }; /* a pool's pieces are smaller */
#else
enum { RING = 4, PIECES = 6 };
#endif

static bulk *bulks_make(void)
{
    static const haul_field fields[] = { HAUL_OBJECT(bulk, next, &bulk_type) };
    bulk *all = calloc(BULKS, sizeof *all);
    size_t i, j;
    CHECK(all != NULL);
    CHECK_STATUS(type_make("bulk", sizeof(bulk), fields, 1, &bulk_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bulk_type), HAUL_OK);
    for (i = 0; i < BULKS; i++) {
        all[i].next = i + 1 < BULKS ? &all[i + 1] : NULL;
        for (j = 0; j < 131071; j += 100)
            all[i].data[j] = (double)(i * 1000 + j);
    }
    return all;
}

static void bulks_double(void *argument)
{
    bulk *b;
    size_t j;
    for (b = argument; b; b = b->next)
        for (j = 0; j < 131071; j += 100)
            b->data[j] *= 2;
}

static size_t bulks_changed(const bulk *all, size_t count)
{
    size_t i, j, changed = 0;
    for (i = 0; i < count; i++)
        for (j = 100; j < 131071; j += 100)
            changed += all[i].data[j] > (double)(i * 1000 + j) + 0.5;
    return changed;
}

enum { MARKS = 1310 }; /* of each bulk */

TEST(pieces, more_than_the_ring_holds_goes_there_and_back)
{
    bulk *all = bulks_make();
    haul_device *device = counting_device(0);
    haul_shipment *s;
    CHECK_STATUS(haul_ship(device, all, bulk_type, 1, NULL, &s), HAUL_OK);
    CHECK(used.copy_to >= PIECES + 1 && used.copy_to <= PIECES + 5);
    CHECK_STATUS(haul_host_launch(device, bulks_double, haul_device_pointer(s, all)), HAUL_OK);
    CHECK_EQ(bulks_changed(all, BULKS), 0);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(bulks_changed(all, BULKS), BULKS * MARKS);
    CHECK(used.copy_from >= PIECES && used.copy_from <= PIECES + 2);
    CHECK(used.stage <= RING + 1);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&bulk_type);
    free(all);
}

/* ---- What is pinned, by a device that is never done with anything before it is waited for. */

static size_t staged_bytes;

static haul_status add_stage(void *state, size_t bytes, void **memory)
{
    staged_bytes += bytes;
    return haul_host_device()->stage(state, bytes, memory);
}

static void take_unstage(void *state, void *memory, size_t bytes)
{
    staged_bytes -= bytes;
    haul_host_device()->unstage(state, memory, bytes);
}

static haul_status never_yet(void *state, uint64_t fence)
{
    (void)state;
    (void)fence;
    return HAUL_ERROR_PENDING;
}

TEST(pieces, no_more_than_the_ring_is_pinned_whatever_pieces_the_device_likes)
{
    static const size_t chunks[] = {
        0, 4096, 1000000, (size_t)3 << 19, (size_t)2 << 20, (size_t)4 << 20
    };
    bulk *all = bulks_make();
    size_t i;
    for (i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        haul_device_table table = *haul_host_device();
        haul_device *device;
        haul_shipment *s;
        table.capabilities = told_capabilities;
        table.stage = add_stage;
        table.unstage = take_unstage;
        table.poll = never_yet;
        chunk_bytes = chunks[i];
        staged_bytes = 0;
        CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
        CHECK_STATUS(haul_ship(device, all, bulk_type, 1, NULL, &s), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        CHECK(staged_bytes > 0 && staged_bytes <= (size_t)32 << 20);
        haul_shipment_free(&s);
        haul_device_close(&device);
        CHECK_EQ(staged_bytes, 0);
    }
    chunk_bytes = 0;
    haul_type_free(&bulk_type);
    free(all);
}

static unsigned copies_that_work;

static haul_status fail_a_late_copy(void *state, void *to, haul_address from, size_t bytes)
{
    if (used.copy_from++ >= copies_that_work)
        return HAUL_ERROR_DEVICE;
    return haul_host_device()->copy_from(state, to, from, bytes);
}

/* Unmarshals with the copy after the first `works` failing; answers how many marks had been
 * written. */
static size_t fail_unmarshal(bulk *all, unsigned works, int all_or_nothing, char *text)
{
    haul_device_table table = *haul_host_device();
    const haul_update_options *how = all_or_nothing ? ALL_OR_NOTHING : NULL;
    haul_device *device;
    haul_shipment *s;
    size_t changed;
    memset(&used, 0, sizeof used);
    table.copy_from = fail_a_late_copy;
    copies_that_work = works;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, all, bulk_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, bulks_double, haul_device_pointer(s, all)), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, how, NULL), HAUL_ERROR_DEVICE);
    snprintf(text, HAUL_TEXT_BYTES, "%s", haul_context_error(haul_device_context(device))->text);
    changed = bulks_changed(all, BULKS);
    copies_that_work = 1000;
    CHECK_STATUS(haul_update_host(s, how, NULL), HAUL_OK);
    CHECK_EQ(bulks_changed(all, BULKS), BULKS * MARKS);
    haul_shipment_free(&s);
    haul_device_close(&device);
    return changed;
}

TEST(pieces, a_device_that_fails_halfway_has_left_results_and_the_rest_as_it_was_D4)
{
    char text[HAUL_TEXT_BYTES];
    bulk *all = bulks_make();
    size_t changed = fail_unmarshal(all, RING + 1, 0, text);
    CHECK(changed > MARKS && changed < (BULKS - 5) * MARKS);
    CHECK_HAS(text, "bytes of the results had been written");
    haul_type_free(&bulk_type);
    free(all);
    all = bulks_make();
    CHECK_EQ(fail_unmarshal(all, RING - 1, 0, text), 0); /* the ring was not full yet */
    CHECK(!strstr(text, "had been written"));
    haul_type_free(&bulk_type);
    free(all);
}

TEST(pieces, a_whole_return_is_all_or_nothing)
{
    char text[HAUL_TEXT_BYTES];
    bulk *all = bulks_make();
    CHECK_EQ(fail_unmarshal(all, 0, 1, text), 0);
    CHECK_EQ(used.copy_from, 2);
    haul_type_free(&bulk_type);
    free(all);
}

TEST(pieces, a_large_range_without_pointers_is_updated_by_one_copy)
{
    bulk *all = bulks_make();
    haul_device *device = counting_device(0);
    haul_shipment *s;
    haul_shipment_info before, told;
    double got = 0;
    CHECK_STATUS(haul_ship(device, all, bulk_type, 1, NULL, &s), HAUL_OK);
    haul_shipment_get_info(s, &before);
    memset(&used, 0, sizeof used);
    all[3].data[131070] = 77;
    CHECK_STATUS(haul_update_device(s, RANGE(all[3].data, sizeof all[3].data), NULL), HAUL_OK);
    CHECK_EQ(used.copy_from, 0);
    CHECK_EQ(used.copy_to, 1);
    haul_shipment_get_info(s, &told);
    CHECK_EQ(told.transfers_from, 0);
    CHECK_EQ(told.bytes_to - before.bytes_to, sizeof all[3].data);
    device_read(device, &got, device_address(s, &all[3].data[131070]), sizeof got);
    CHECK(got > 76 && got < 78);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&bulk_type);
    free(all);
}

/* ---- Bitmaps by ranges, and pointers off the grid over the edge of a block. */

TEST(pieces, any_range_of_the_bitmap_is_the_same_range_of_all_of_it)
{
    tour *t = tour_start(300, 0, NULL);
    haul_root root;
    haul_plan *plan;
    uint64_t *all, *part;
    size_t words, first, count;
    root.address = t->first;
    root.type = room_type;
    root.count = 1;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(t->device), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_OK);
    words = plan_bitmap_bytes(plan) / 8;
    all = malloc(words * 8);
    part = malloc(words * 8 + 8);
    CHECK(all && part && words > 1);
    haul__plan_bitmap(plan, 0, words, all);
    for (first = 0; first < words; first++)
        for (count = 1; count <= words - first; count++) {
            memset(part, 0x5A, words * 8 + 8);
            haul__plan_bitmap(plan, first, count, part);
            CHECK_BYTES(part, all + first, count * 8);
            CHECK_EQ(part[count], UINT64_C(0x5A5A5A5A5A5A5A5A));
        }
    free(all);
    free(part);
    haul_plan_free(&plan);
    tour_end(t);
}

/* Read bit by bit, and all of them at once; and as many as there is room for. */
static void check_offsets(const haul_plan *plan)
{
    const size_t words = plan_bitmap_bytes(plan) / 8;
    uint64_t *all = malloc(words * 8), *offsets = malloc(words * 64 * 8);
    size_t bit, count = 0;
    CHECK(all && offsets);
    haul__plan_bitmap(plan, 0, words, all);
    CHECK(haul__plan_offsets(plan, words * 64, offsets) > 0);
    for (bit = 0; bit < words * 64; bit++)
        if (all[bit / 64] >> (bit % 64) & 1)
            CHECK_EQ(offsets[count++], bit * sizeof(void *));
    CHECK_EQ(haul__plan_offsets(plan, count, offsets), count);
    CHECK_EQ(haul__plan_offsets(plan, count - 1, offsets), SIZE_MAX);
    free(all);
    free(offsets);
}

TEST(pieces, the_offsets_of_pointers_are_those_of_the_bits_in_the_bitmap)
{
    static const size_t gaps[] = { 0, 700, GAP };
    size_t i;
    for (i = 0; i < 3; i++) {
        tour *t = tour_start(300, gaps[i], NULL);
        haul_context *context = haul_device_context(t->device);
        haul_root root;
        haul_plan *plan;
        root.address = t->first;
        root.type = room_type;
        root.count = 1;
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
        check_offsets(plan);
        haul_plan_free(&plan);
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), ORDERED, &plan), HAUL_OK);
        check_offsets(plan);
        haul_plan_free(&plan);
        tour_end(t);
    }
}

#pragma pack(push, 1)
typedef struct crooked {
    char tag[3];
    struct crooked *other;
    char rest[5];
} crooked;
#pragma pack(pop)

static haul_type *crooked_type;

static void follow_crooked(void *argument)
{
    crooked **at = argument;
    crooked *c = *at;
    c = c->other;
    c->rest[0] = 'x';
    *at = c->other;
}

/* Every place of a pair of them around the edge of a block. */
TEST(pieces, a_pointer_off_the_grid_may_lie_in_two_pieces)
{
    haul_field fields[] = { HAUL_OBJECT(crooked, other, &crooked_type) };
    haul_device *device = counting_device(1);
    world w;
    size_t shift;
    fields[0].packed = 1;
    world_start(&w, 1 << 18);
    CHECK_STATUS(type_make("crooked", sizeof(crooked), fields, 1, &crooked_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(crooked_type), HAUL_OK);
    for (shift = 0; shift < 2 * sizeof(crooked); shift++) {
        unsigned char *edge =
            (unsigned char *)(((uintptr_t)w.memory + (1 << 17)) & ~(uintptr_t)0xffff);
        crooked *a = (crooked *)(void *)(edge - shift), *b = (crooked *)(void *)(w.memory + 101),
                *there;
        haul_shipment *s;
        memset(a, 0, sizeof *a);
        memset(b, 0, sizeof *b);
        a->other = b;
        b->other = a;
        CHECK_STATUS(haul_ship(device, a, crooked_type, 1, NULL, &s), HAUL_OK);
        there = haul_device_pointer(s, a);
        CHECK_STATUS(haul_host_launch(device, follow_crooked, &there), HAUL_OK);
        CHECK_PTR(there, haul_device_pointer(s, a));
        CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_host_launch(device, follow_crooked, &there), HAUL_OK);
        CHECK_PTR(there, haul_device_pointer(s, a));
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        CHECK_EQ(b->rest[0], 'x');
        CHECK_PTR(a->other, b);
        CHECK_PTR(b->other, a);
        haul_shipment_free(&s);
    }
    haul_type_free(&crooked_type);
    haul_device_close(&device);
    world_end(&w);
}

/* ---- Faults. */

static fault_operation operation_in_pieces(haul_status (*run)(void *),
                                           void (*check)(void *, haul_status))
{
    fault_operation operation = operation_on(run, check);
    operation.settings.chunk_bytes = 1;
    operation.settings.no_send = 1;
    the.gap = GAP;
    the.in_pieces = 1;
    return operation;
}

/* Buffers that the ring did not have yet stay with it: leaks of host memory are looked for at the
 * end. */
TEST(piece_faults, shipping_in_pieces_survives_every_fault)
{
    fault_operation operation = operation_in_pieces(ship, check_ship);
    operation.undo = free_shipment;
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 200);
    operation.settings.deferred = 1;
    operation.settings.check_initialized = 1;
    CHECK(fault_everywhere(&operation) > 200);
}

TEST(piece_faults, a_refresh_in_pieces_survives_every_fault)
{
    fault_operation operation = operation_in_pieces(refresh, check_sent);
    the.keep = 1;
    operation.keeps = 1;
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) > 150);
}

/* Each byte is what it was or what it must become; and as the error says, bytes have been written
 * or none. */
static void check_results(void *user, haul_status status)
{
    const haul_error *error = haul_context_error(haul_device_context(the.device));
    unsigned char *after = world_picture(&the.w), *due;
    size_t i;
    (void)user;
    check_report(status);
    memcpy(the.w.memory, the.before, the.w.bytes);
    museum_change(the.first);
    due = world_picture(&the.w);
    for (i = 0; i < the.w.bytes; i++)
        CHECK(after[i] == due[i] || (status != HAUL_OK && after[i] == the.before[i]));
    if (memcmp(after, the.before, the.w.bytes) != 0 && status != HAUL_OK)
        CHECK_HAS(error->text, "bytes of the results had been written");
    memcpy(the.w.memory, the.before, the.w.bytes);
    free(after);
    free(due);
}

TEST(piece_faults, an_unmarshal_in_pieces_survives_every_fault_and_what_it_wrote_are_results)
{
    fault_operation operation = operation_in_pieces(unmarshal, check_results);
    operation.prepare = prepare_changed;
    operation.keeps = 1;
    the.keep = 1;
    CHECK(fault_everywhere(&operation) > 150);
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) > 150);
}

/* Whole, all or nothing. */
static void check_all_or_nothing(void *user, haul_status status)
{
    if (status != HAUL_OK)
        check_world_is_untouched();
    check_results(user, status);
}

TEST(piece_faults, a_whole_return_that_fails_has_written_nothing)
{
    fault_operation operation = operation_in_pieces(unmarshal, check_all_or_nothing);
    operation.prepare = prepare_changed;
    operation.keeps = 1;
    the.keep = 1;
    the.all_or_nothing = 1;
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) >= 10);
}

/* ---- Up to 32 MiB, whatever pieces the device likes. */

typedef struct wide {
    struct wide *next;
    int64_t values[8191];
} wide;

static haul_type *wide_type;

static wide *wides_make(size_t count)
{
    static const haul_field fields[] = { HAUL_OBJECT(wide, next, &wide_type) };
    wide *all = calloc(count, sizeof *all);
    size_t i;
    CHECK(all != NULL);
    CHECK_STATUS(type_make("wide", sizeof(wide), fields, 1, &wide_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    for (i = 0; i + 1 < count; i++)
        all[i].next = &all[i + 1];
    return all;
}

static void wides_fill(void *first)
{
    wide *w;
    size_t i;
    for (w = first; w; w = w->next)
        for (i = 0; i < 8191; i++)
            w->values[i] = 7;
}

static size_t wides_written(const wide *all, size_t count)
{
    size_t i, k, written = 0;
    for (i = 0; i < count; i++)
        for (k = 0; k < 8191; k++)
            written += all[i].values[k] == 7;
    return written;
}

static void wides_clear(wide *all, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        memset(all[i].values, 0, sizeof all[i].values);
}

/* Each event of an unmarshal fails; answers how many did without another way. */
static uint64_t fail_return_of(size_t count, size_t chunk, int deferred)
{
    fault_plan plan;
    haul_device *device;
    haul_shipment *s;
    wide *all = wides_make(count);
    uint64_t at = 0, failed = 0;
    memset(&plan, 0, sizeof plan);
    plan.chunk_bytes = chunk;
    plan.deferred = deferred;
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, all, wide_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, wides_fill, haul_device_pointer(s, all)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK); /* staging memory is there from now on */
    wides_clear(all, count);
    do {
        haul_status status;
        check_note("%zu nodes, pieces of %zu bytes, event %u", count, chunk, (unsigned)++at);
        fault_arm(&plan, FAULT_ONCE, at);
        status = haul_unmarshal(s);
        CHECK_STATUS(status, plan.fired > 0 ? plan.first : HAUL_OK);
        CHECK_EQ(wides_written(all, count), status == HAUL_OK ? count * 8191 : 0);
        if (status == HAUL_OK)
            wides_clear(all, count);
        failed += plan.fired;
    } while (plan.fired + plan.fell_back > 0);
    fault_disarm(&plan);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&wide_type);
    free(all);
    fault_check_clean(&plan);
    check_note(NULL);
    return failed;
}

TEST(piece_faults,
     up_to_32_MiB_a_device_that_fails_has_left_nothing_written_whatever_pieces_it_likes_D4)
{
    static const size_t chunks[] = { 0, 4096, (size_t)128 << 10, (size_t)2 << 20 };
    size_t i;
    for (i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        CHECK(fail_return_of(64, chunks[i], 0) >= 2);
        CHECK(fail_return_of(64, chunks[i], 1) >= 2);
        CHECK(fail_return_of(511, chunks[i], 0) >= 2);
    }
}

/* ---- A device that is late (D13). */

/* Every call that waits says so, and gives back no memory that the device works with. */
TEST(piece_faults, what_a_late_device_uses_is_kept_until_it_has_finished_D13)
{
    fault_plan plan;
    haul_shipment *s = NULL;
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = plan.no_send = 1;
    plan.chunk_bytes = 1;
    the.gap = GAP;
    the.keep = 1;
    prepare(NULL, &plan);
    plan.impatient = 1;
    CHECK_STATUS(haul_ship(the.device, the.first, room_type, 1, NULL, &s), HAUL_ERROR_PENDING);
    CHECK_PTR(s, NULL);
    CHECK_HAS(haul_context_error(haul_device_context(the.device))->text, "takes its time");
    CHECK_EQ(plan.device_blocks, 2);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_ERROR_PENDING);
    CHECK_STATUS(haul_unmarshal(the.s), HAUL_ERROR_PENDING);
    check_world_is_untouched();
    plan.impatient = 0;
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK); /* finds it free */
    CHECK_EQ(plan.device_blocks, 1);
    the.cargo->look();
    finish(NULL);
    fault_check_clean(&plan);
}

TEST(piece_faults, a_device_that_closes_waits_for_what_it_still_uses_D13)
{
    fault_plan plan;
    haul_shipment *s = NULL;
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = 1;
    prepare(NULL, &plan);
    plan.impatient = 1;
    CHECK_STATUS(haul_ship(the.device, the.first, room_type, 1, NULL, &s), HAUL_ERROR_PENDING);
    plan.impatient = 0;
    finish(NULL);
    fault_check_clean(&plan);
}

/* A kernel overwrites all memory of a device with garbage: arenas, marks, lists, heads of
 * nurseries. Each call that brings bytes back then succeeds or answers an error. The host reads and
 * writes nothing else (sanitizers check that), and its own bytes stay: heads of nurseries, fields
 * that do not travel, bytes behind the arena. Pointers lead into the graph. After each return of a
 * graph with a plan, an update names what the device has changed, and reads nothing else for that.
 * Names of places are asked for, too.
 */
#include <stdio.h>

#include "arena_graphs.h"
#include "support/random.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

enum {
    RANGES = 64,
    LINKS = 12,
    BOXES = 5,
    SCENES = 120,
    ROUNDS = 8,
    NURSERY = 512,
    RESERVE = 1 << 16
};

/* ---- A host device that knows what it has given. */

static struct {
    const void *device;
    unsigned char *at;
    size_t bytes;
} ranges[RANGES];
static size_t range_count;
static haul_device_table hostile;

static void note_range(const void *device, uintptr_t at, size_t bytes)
{
    CHECK(range_count < RANGES);
    ranges[range_count].device = device;
    ranges[range_count].at = (unsigned char *)at;
    ranges[range_count++].bytes = bytes;
}

static void forget_range(uintptr_t at)
{
    size_t i;
    for (i = 0; i < range_count; i++)
        if (ranges[i].at == (unsigned char *)at) {
            ranges[i] = ranges[--range_count];
            return;
        }
}

static haul_status note_allocate(void *state, uint64_t bytes, size_t alignment,
                                 haul_address *address)
{
    haul_status status = haul_host_device()->allocate(state, bytes, alignment, address);
    if (status == HAUL_OK)
        note_range(state, (uintptr_t)*address, (size_t)bytes);
    return status;
}

static void note_release(void *state, haul_address address, uint64_t bytes)
{
    forget_range((uintptr_t)address);
    haul_host_device()->release(state, address, bytes);
}

static haul_status note_mirror(void *state, size_t bytes, haul_mirror *mirror)
{
    haul_status status = haul_host_device()->mirror(state, bytes, mirror);
    if (status == HAUL_OK)
        note_range(state, (uintptr_t)mirror->memory, bytes);
    return status;
}

static void note_unmirror(void *state, const haul_mirror *mirror)
{
    forget_range((uintptr_t)mirror->memory);
    haul_host_device()->unmirror(state, mirror);
}

/* On a machine of 32 bits any address may have the highest bit. */
#define HIGH_TAGS (sizeof(void *) > 4 ? HAUL_HIGH_TAGS : 0)

/* ---- The kernel. */

static random_source the_random;
static haul_device *the_device, *the_other;
static unsigned char *the_host; /* what is shipped */
static size_t the_host_bytes;

static size_t any_size(void)
{
    switch (random_below(&the_random, 5)) {
    case 0:
        return random_below(&the_random, 100);
    case 1:
        return 16 * random_below(&the_random, 1 << 12);
    case 2:
        return (size_t)1 << random_below(&the_random, 8 * sizeof(size_t));
    case 3:
        return SIZE_MAX - random_below(&the_random, 64);
    default:
        return (size_t)random_next(&the_random);
    }
}

/* What could hurt most: sizes, addresses there and here, and beside them. */
static uintptr_t any_word(void)
{
    const size_t i = random_below(&the_random, range_count);
    switch (random_below(&the_random, 4)) {
    case 0:
        return any_size();
    case 1:
        return ((uintptr_t)the_host & ~(uintptr_t)15) +
               16 * random_below(&the_random, the_host_bytes / 16 + 512) - 4096;
    default:
        return (uintptr_t)ranges[i].at + random_below(&the_random, ranges[i].bytes + 64) - 32;
    }
}

/* Of a mirrored arena the device's bytes lie where AddressSanitizer knows the host's room. */
static __attribute__((no_sanitize_address)) void put(volatile unsigned char *to, const void *from,
                                                     size_t bytes)
{
    const unsigned char *byte = from;
    for (; bytes > 0; bytes--)
        *to++ = *byte++;
}

static void spoil_word(unsigned char *at)
{
    uintptr_t word = any_word();
    put(at, &word, sizeof word);
}

static void spoil_range(unsigned char *at, size_t bytes)
{
    const size_t what = random_below(&the_random, 5), words = bytes / sizeof(void *);
    const uintptr_t all = random_one_in(&the_random, 2) ? UINTPTR_MAX : 0;
    size_t i, few = random_between(&the_random, 1, 8);
    for (i = 0; what < 3 && i < words; i++) {
        const uintptr_t word = what == 0   ? (uintptr_t)random_next(&the_random)
                               : what == 1 ? all
                                           : any_word();
        put(at + i * sizeof word, &word, sizeof word);
    }
    for (i = 0; what == 3 && words > 0 && i < few; i++)
        spoil_word(at + sizeof(void *) * random_below(&the_random, words));
}

static void spoil(void *device)
{
    size_t i;
    for (i = 0; i < range_count; i++)
        if (ranges[i].device == device)
            spoil_range(ranges[i].at, ranges[i].bytes);
}

static void spoil_all(haul_device *device)
{
    CHECK_STATUS(haul_host_launch(device, spoil, haul_device_state(device)), HAUL_OK);
}

/* ---- What is shipped: links, some with bytes that stay, and pointers that no bit tells. */

typedef struct box {
    struct box *next; /* with a tag */
    int32_t mine, both;
    struct box *null;
    unsigned char text[8];
} box;

/* Off the grid. */
typedef struct packed {
    unsigned char at[sizeof(void *) + 4];
} packed;

/* Pointers on the grid, and nothing that stays. */
typedef struct cell {
    struct cell *next;
    int32_t *data;
    int64_t count;
} cell;

static haul_type *box_type, *packed_type, *cell_type;

static void types_open(void)
{
    const haul_field rows[] = { HAUL_OBJECT(box, next, &box_type, .tag_bits = HIGH_TAGS),
                                HAUL_RAW(box, mine, .transfer = HAUL_COPYIN),
                                HAUL_SKIP(box, null) };
    const haul_field cells[] = { HAUL_OBJECT(cell, next, &cell_type),
                                 HAUL_ARRAY(cell, data, HAUL_COUNT(cell, count)) };
    haul_field next;
    memset(&next, 0, sizeof next);
    next.name = "next";
    next.kind = HAUL_FIELD_POINTER;
    next.offset = 4;
    next.bytes = sizeof(void *);
    next.element_bytes = sizeof(packed);
    next.target = &packed_type;
    next.levels = 1;
    next.packed = 1;
    links_open();
    CHECK_STATUS(type_make("box", sizeof(box), rows, 3, &box_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(box_type), HAUL_OK);
    CHECK_STATUS(type_make("packed", sizeof(packed), &next, 1, &packed_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(packed_type), HAUL_OK);
    CHECK_STATUS(type_make("cell", sizeof(cell), cells, 2, &cell_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(cell_type), HAUL_OK);
}

static void open_devices(void)
{
    test_device options;
    haul_context *context;
    hostile = *haul_host_device();
    hostile.allocate = note_allocate;
    hostile.release = note_release;
    hostile.mirror = note_mirror;
    hostile.unmirror = note_unmirror;
    memset(&options, 0, sizeof options);
    range_count = 0;
    types_open();
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    options.settings = &ordinary_launches; /* thousands of launches that follow no pointer */
    options.context = context;
    CHECK_STATUS(test_open(&hostile, &options, &the_device), HAUL_OK);
    CHECK_STATUS(test_open(&hostile, &options, &the_other), HAUL_OK);
    haul_context_free(&context);
}

static void close_devices(void)
{
    haul_device_close(&the_other);
    haul_device_close(&the_device);
    CHECK_EQ(range_count, 0);
    haul_type_free(&cell_type);
    haul_type_free(&packed_type);
    haul_type_free(&box_type);
    links_close();
}

/* ---- Ways back. */

/* Host memory that updates are asked for, and what of it must be looked at whatever came back. */
typedef struct scene {
    haul_shipment *shipment;
    unsigned char *host;
    size_t bytes;
    int has_plan; /* no replan: what is discovered after results is the user's */
    void (*check)(struct scene *scene);
    haul_arena *arena, *near_arena;
    haul_nursery *nursery;
    link *links[LINKS];
    box *boxes[BOXES];
} scene;

/* A failure has words. */
static void answers(haul_device *device, haul_status status)
{
    if (status != HAUL_OK)
        CHECK(haul_context_error(haul_device_context(device))->text[0] != 0);
    CHECK(status != HAUL_ERROR_MEMORY && status != HAUL_ERROR_BUSY);
}

static haul_status update_some(const scene *s, int to_device, int later)
{
    const size_t first = random_below(&the_random, s->bytes);
    const size_t bytes = random_between(&the_random, 1, s->bytes - first);
    if (to_device)
        return haul_update_device(s->shipment, RANGE(s->host + first, bytes), NULL);
    return later ? haul_update_host(s->shipment, RANGE(s->host + first, bytes), OWN_STREAM)
                 : haul_update_host(s->shipment, RANGE(s->host + first, bytes), NULL);
}

static void copy_on(scene *s)
{
    haul_device *device = random_one_in(&the_random, 2) ? the_device : the_other;
    haul_shipment *copy;
    const haul_status status = haul_shipment_copy(s->shipment, device, &copy);
    answers(the_device, status);
    if (status != HAUL_OK)
        return;
    spoil_all(device);
    answers(device, random_one_in(&the_random, 2) ? haul_unmarshal(copy)
                                                  : haul_update_host(copy, WITH_POINTERS, NULL));
    haul_shipment_free(&copy);
}

static haul_status some_way(scene *s)
{
    switch (random_below(&the_random, 10)) {
    case 0:
    case 1:
        return haul_unmarshal(s->shipment);
    case 2:
    case 3:
        return haul_update_host(s->shipment, WITH_POINTERS, NULL);
    case 4:
        return update_some(s, 0, random_one_in(&the_random, 2));
    case 5:
        return update_some(s, 1, 0);
    case 6:
        return random_one_in(&the_random, 2)
                   ? haul_update_host(s->shipment, NULL, OWN_STREAM)
                   : haul_update_host(s->shipment, WITH_POINTERS, OWN_STREAM);
    case 7:
        copy_on(s);
        return HAUL_OK;
    case 8:
        return s->has_plan ? HAUL_OK : haul_reship(s->shipment, NULL);
    default:
        return haul_update_device(s->shipment, NULL, NULL);
    }
}

/* Its name comes from what the device may have written. */
static void name_some(const scene *s)
{
    char path[HAUL_PATH_BYTES];
    void *host;
    answers(the_device, haul_device_where(the_device, s->host + random_below(&the_random, s->bytes),
                                          &host, path));
}

static void play(scene *s)
{
    int round;
    the_host = s->host;
    the_host_bytes = s->bytes;
    for (round = 0; round < ROUNDS; round++) {
        spoil_all(the_device);
        answers(the_device, some_way(s));
        answers(the_device, haul_wait(s->shipment));
        if (s->check)
            s->check(s);
        if (s->has_plan) /* finds what has changed */
            answers(the_device, haul_update_device(s->shipment, NULL, NULL));
        name_some(s);
    }
}

/* ---- What the host has to itself. */

static int lies_in(const haul_arena *arena, const void *at)
{
    haul_arena_info now;
    haul_arena_get_info(arena, &now);
    return at == NULL || (uintptr_t)at - (uintptr_t)now.base <= now.used_bytes;
}

static void check_pointer(const scene *s, const void *at)
{
    CHECK(lies_in(s->arena, at) || (s->near_arena && lies_in(s->near_arena, at)));
}

static void check_nursery(const scene *s)
{
    CHECK_PTR(s->nursery->slots, (uint32_t *)(s->nursery + 1));
    CHECK(s->nursery->memory > (unsigned char *)s->nursery->slots);
    CHECK(s->nursery->memory < (unsigned char *)s->nursery->slots + NURSERY);
    CHECK_EQ(s->nursery->capacity, NURSERY);
    CHECK(s->nursery->used <= NURSERY && s->nursery->used % HAUL_ARENA_GRANULE == 0);
}

/* Nothing has been written behind what is allocated. */
static void check_arena(const scene *s)
{
    haul_arena_info now;
    void *fresh;
    haul_arena_get_info(s->arena, &now);
    fresh = haul_arena_bytes(s->arena, 256, 0);
    CHECK(fresh != NULL);
    CHECK_EQ(((unsigned char *)fresh)[0], 0);
    CHECK(memcmp(fresh, (unsigned char *)fresh + 1, 255) == 0);
    CHECK_STATUS(haul_arena_release(s->arena, fresh, 256), HAUL_OK);
}

static void check_typed(scene *s)
{
    int i;
    for (i = 0; i < LINKS; i++) {
        CHECK_PTR(s->links[i]->home, s->links[i]);
        check_pointer(s, s->links[i]->next);
        check_pointer(s, s->links[i]->other);
        check_pointer(s, s->links[i]->name);
    }
    check_nursery(s);
    check_arena(s);
}

static void check_discovered(scene *s)
{
    int i;
    for (i = 0; i < BOXES; i++) {
        CHECK_EQ(s->boxes[i]->mine, 17 + i);
        CHECK_PTR(s->boxes[i]->null, s->boxes[i]);
        check_pointer(s, (void *)((uintptr_t)s->boxes[i]->next & ~HIGH_TAGS));
    }
    check_nursery(s);
    check_arena(s);
}

/* ---- The scenes. */

static void open_arena(scene *s, int may_be_mirrored)
{
    haul_arena_options options;
    haul_arena_info now;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = RESERVE;
    options.pinned = random_one_in(&the_random, 2);
    options.mirrored = may_be_mirrored && random_one_in(&the_random, 3);
    options.reuse = random_one_in(&the_random, 2);
    CHECK_STATUS(test_arena(the_device, &options, &s->arena), HAUL_OK);
    haul_arena_get_info(s->arena, &now);
    s->host = now.base;
}

static void play_arena(scene *s)
{
    haul_arena_info now;
    haul_arena_get_info(s->arena, &now);
    s->bytes = now.used_bytes;
    play(s);
    haul_shipment_free(&s->shipment);
    haul_arena_free(&s->arena);
    haul_arena_free(&s->near_arena);
}

static void play_typed(int with_near)
{
    haul_ship_options options;
    haul_shipment *shipments[2];
    haul_arena *arenas[2];
    scene s;
    link *l;
    int i;
    memset(&s, 0, sizeof s);
    memset(&options, 0, sizeof options);
    open_arena(&s, 1);
    CHECK_STATUS(test_arena(the_device, NULL, &s.near_arena), HAUL_OK);
    CHECK((s.nursery = haul_arena_new_nursery(s.arena, NURSERY)) != NULL);
    for (l = links_make(s.arena, LINKS), i = 0; i < LINKS; l = l->next)
        s.links[i++] = l;
    CHECK(haul_arena_new(s.arena, packed_type, 3) != NULL);
    l = links_make(s.near_arena, 3);
    s.links[3]->other = with_near ? l : NULL;
    options.outside = (haul_outside)random_below(&the_random, 3);
    s.check = check_typed;
    arenas[0] = s.arena;
    arenas[1] = s.near_arena;
    shipments[1] = NULL;
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, with_near ? 2 : 1, &options, NULL, shipments),
                 HAUL_OK);
    s.shipment = shipments[0];
    if (random_one_in(&the_random, 2))
        CHECK_STATUS(haul_return_directly(s.shipment), HAUL_OK);
    play_arena(&s);
    haul_shipment_free(&shipments[1]);
}

/* No bytes that stay: pointers come directly, as the device has them. */
static void play_direct(void)
{
    scene s;
    int i;
    memset(&s, 0, sizeof s);
    open_arena(&s, 1);
    for (i = 0; i < LINKS; i++) {
        cell *c = haul_arena_new(s.arena, cell_type, 1);
        CHECK(c != NULL);
        c->next = c;
    }
    /* few pointers, without room for a bitmap: a list tells them */
    if (random_one_in(&the_random, 2)) {
        while (haul_arena_bytes(s.arena, 512, 0))
            ;
        while (haul_arena_bytes(s.arena, 1, 0))
            ;
    }
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(s.arena), NULL, NULL, &s.shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_return_directly(s.shipment), HAUL_OK);
    play_arena(&s);
}

static void play_discovered(void)
{
    scene s;
    int i;
    memset(&s, 0, sizeof s);
    open_arena(&s, 1);
    s.has_plan = 1;
    for (i = 0; i < BOXES; i++) {
        s.boxes[i] = haul_arena_bytes(s.arena, sizeof(box), 0);
        CHECK(s.boxes[i] != NULL);
        s.boxes[i]->mine = 17 + i;
        s.boxes[i]->null = s.boxes[i];
        if (i > 0)
            s.boxes[i - 1]->next = (box *)((uintptr_t)s.boxes[i] | (HIGH_TAGS & ~(HIGH_TAGS << 1)));
        if (i == 2)
            CHECK((s.nursery = haul_arena_new_nursery(s.arena, NURSERY)) != NULL);
    }
    s.check = check_discovered;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(s.arena, s.boxes[0], box_type),
                                NULL, NULL, &s.shipment),
                 HAUL_OK);
    play_arena(&s);
}

/* A graph in the heap: one allocation each. */
static void check_graph(scene *s)
{
    int i;
    for (i = 0; i < LINKS; i++)
        CHECK_PTR(s->links[i]->home, s->links[i]);
}

static void play_graph(void)
{
    haul_ship_options options;
    char *names[LINKS];
    scene s;
    int i;
    memset(&s, 0, sizeof s);
    memset(&options, 0, sizeof options);
    for (i = 0; i < LINKS; i++) {
        s.links[i] = calloc(1, sizeof(link));
        CHECK(s.links[i] != NULL);
        s.links[i]->home = s.links[i];
        s.links[i]->other = s.links[0];
        s.links[i]->name = names[i] = calloc(1, 8);
        CHECK(names[i] != NULL);
        if (i > 0)
            s.links[i - 1]->next = s.links[i];
    }
    host_patches(the_device, random_one_in(&the_random, 2));
    options.ordered = random_one_in(&the_random, 3);
    s.host = (unsigned char *)s.links[2];
    s.bytes = sizeof(link);
    s.has_plan = 1;
    s.check = check_graph;
    CHECK_STATUS(haul_ship(the_device, s.links[0], link_type, 1, &options, &s.shipment), HAUL_OK);
    play(&s);
    haul_shipment_free(&s.shipment);
    for (i = 0; i < LINKS; i++) {
        free(names[i]);
        free(s.links[i]);
    }
}

/* Chains through the middle two of four pages. */
static unsigned char *cells_make(haul_arena *arena)
{
    unsigned char *pages = haul_arena_bytes(arena, 4 * 4096, 4096);
    cell *last = NULL;
    size_t i;
    CHECK(pages != NULL);
    memset(pages, 0x5a, 4096);
    memset(pages + 3 * 4096, 0x5a, 4096);
    for (i = 0; i < 2 * 4096 / 64; i++) {
        cell *c = (cell *)(void *)(pages + 4096 + 64 * i);
        c->count = 2;
        c->data = (int32_t *)(void *)(c + 1);
        if (last)
            last->next = c;
        last = c;
    }
    return pages;
}

static void check_beside(const unsigned char *pages)
{
    size_t i;
    for (i = 0; i < 4096; i++)
        CHECK(pages[i] == 0x5a && pages[3 * 4096 + i] == 0x5a);
}

/* Pages of the graph's own, which the device writes where they lie, by lists that it holds. What is
 * in them may be anything then, pointers too; what is beside them is not touched. */
static void play_locked(void)
{
    haul_ship_options options;
    unsigned char *pages;
    scene s;
    memset(&s, 0, sizeof s);
    memset(&options, 0, sizeof options);
    CHECK_STATUS(test_arena(the_device, NULL, &s.arena), HAUL_OK);
    pages = cells_make(s.arena);
    options.lock_source = 1;
    s.host = pages + 4096;
    s.bytes = 2 * 4096;
    s.has_plan = 1;
    CHECK_STATUS(haul_ship(the_device, pages + 4096, cell_type, 1, &options, &s.shipment), HAUL_OK);
    CHECK_STATUS(haul_update_device(s.shipment, NULL, NULL), HAUL_OK);
    play(&s);
    check_beside(pages);
    haul_shipment_free(&s.shipment);
    haul_arena_free(&s.arena);
}

/* ---- */

static void play_scenes(const char *what, void (*scene_of)(void))
{
    int i;
    the_random = random_start(what);
    open_devices();
    for (i = 0; i < SCENES; i++)
        scene_of();
    close_devices();
}

static void play_alone(void)
{
    play_typed(0);
}

static void play_with_neighbour(void)
{
    play_typed(1);
}

TEST(hostile_device, a_typed_arena_keeps_what_is_the_hosts)
{
    play_scenes("typed arenas on a hostile device", play_alone);
}

TEST(hostile_device, so_does_one_with_pointers_into_another)
{
    play_scenes("arenas side by side on a hostile device", play_with_neighbour);
}

TEST(hostile_device, an_arena_that_returns_directly_stays_within_itself)
{
    play_scenes("direct returns of a hostile device", play_direct);
}

TEST(hostile_device, an_arena_that_is_discovered_keeps_what_is_the_hosts)
{
    play_scenes("discovered arenas on a hostile device", play_discovered);
}

TEST(hostile_device, a_graph_of_the_heap_keeps_what_is_the_hosts)
{
    play_scenes("graphs on a hostile device", play_graph);
}

TEST(hostile_device, a_locked_source_is_written_and_nothing_beside_it)
{
    play_scenes("locked sources on a hostile device", play_locked);
}

/* ---- Blocks of the drop-in forms. */

/* Everywhere a size with the check that once stood in front of a block. */
static void forge(void *unused)
{
    size_t at;
    (void)unused;
    for (at = 0; at + HAUL_ARENA_GRANULE <= RESERVE / 2; at += HAUL_ARENA_GRANULE) {
        const size_t words[2] = { 300,
                                  (at ^ ~(size_t)300) * (size_t)UINT64_C(0x9e3779b97f4a7c15) | 1u };
        put(ranges[0].at + at, words, sizeof words);
    }
}

TEST(hostile_device, blocks_have_the_sizes_that_the_host_gave_them)
{
    enum { BLOCKS = 8, BYTES = 64 };
    haul_arena_options options;
    haul_shipment *shipment;
    haul_arena *arena;
    unsigned char *blocks[BLOCKS], before[BYTES], *moved;
    int i;
    memset(&options, 0, sizeof options);
    open_devices();
    options.reserve_bytes = RESERVE;
    CHECK_STATUS(test_arena(the_device, &options, &arena), HAUL_OK);
    for (i = 0; i < BLOCKS; i++)
        CHECK((blocks[i] = haul_arena_malloc(arena, BYTES)) != NULL);
    CHECK(haul_arena_bytes(arena, RESERVE / 2, 0) != NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(arena), NULL, NULL, &shipment),
                 HAUL_OK);
    CHECK_EQ(range_count, 1);
    CHECK_STATUS(haul_host_launch(the_device, forge, NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    memcpy(before, blocks[3], BYTES);
    CHECK_EQ(((size_t *)(void *)before)[0], 300);
    CHECK_STATUS(haul_arena_free_block(arena, blocks[2]), HAUL_OK);
    CHECK(memcmp(before, blocks[3], BYTES) == 0);
    memcpy(before, blocks[5], BYTES);
    CHECK((moved = haul_arena_realloc(arena, blocks[4], 200)) != NULL && moved != blocks[4]);
    CHECK(memcmp(before, blocks[5], BYTES) == 0);
    for (i = BYTES; i < 200; i++)
        CHECK_EQ(moved[i], 0);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    close_devices();
}

/* ---- Lists that lead out, one by one. */

/* A word of a range of the device's, from its end. */
typedef struct one_word {
    size_t range, before_end;
    uint64_t word;
} one_word;

static void write_word(void *argument)
{
    const one_word *w = argument;
    memcpy(ranges[w->range].at + ranges[w->range].bytes - w->before_end, &w->word, sizeof w->word);
}

static void spoil_one(size_t range, size_t before_end, uint64_t word)
{
    one_word w;
    w.range = range;
    w.before_end = before_end;
    w.word = word;
    CHECK_STATUS(haul_host_launch(the_device, write_word, &w), HAUL_OK);
}

TEST(hostile_device, a_segment_that_leads_out_of_locked_memory_is_refused)
{
    haul_ship_options options;
    haul_shipment *shipment;
    haul_arena *arena;
    unsigned char *pages;
    memset(&options, 0, sizeof options);
    open_devices();
    CHECK_STATUS(test_arena(the_device, NULL, &arena), HAUL_OK);
    pages = cells_make(arena);
    options.lock_source = 1;
    CHECK_STATUS(haul_ship(the_device, pages + 4096, cell_type, 1, &options, &shipment), HAUL_OK);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    CHECK_EQ(range_count, 2);
    spoil_one(1, ranges[1].bytes - offsetof(haul_segment, from), (uintptr_t)pages);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_ERROR_DEVICE);
    CHECK(strstr(haul_context_error(haul_device_context(the_device))->text, "locked memory") !=
          NULL);
    check_beside(pages);
    spoil_one(1, ranges[1].bytes - offsetof(haul_segment, from), (uintptr_t)pages + 3 * 4096 - 16);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_ERROR_DEVICE);
    check_beside(pages);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    close_devices();
}

/* The list of pointers stands at the end of an arena's range: to another range, to the arena's last
 * bytes and beyond. */
TEST(hostile_device, an_offset_that_leads_out_of_an_arena_is_refused)
{
    haul_arena_options options;
    haul_arena *arena, *other;
    haul_shipment *shipment, *beside;
    uint64_t offsets[3];
    cell *one;
    size_t i;
    memset(&options, 0, sizeof options);
    open_devices();
    options.reserve_bytes = RESERVE;
    options.pinned = 1;
    CHECK_STATUS(test_arena(the_device, &options, &arena), HAUL_OK);
    CHECK_STATUS(test_arena(the_device, &options, &other), HAUL_OK);
    CHECK((one = haul_arena_new(arena, cell_type, 1)) != NULL);
    one->next = one;
    CHECK(haul_arena_new(other, cell_type, 1) != NULL);
    while (haul_arena_bytes(arena, 16, 0))
        ;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(arena), NULL, NULL, &shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_return_directly(shipment), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(other), NULL, NULL, &beside), HAUL_OK);
    CHECK_STATUS(haul_return_directly(beside), HAUL_OK);
    CHECK_EQ(range_count, 2);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    offsets[0] = (uint64_t)((uintptr_t)ranges[1].at - (uintptr_t)ranges[0].at);
    offsets[1] = ranges[0].bytes - 1;
    offsets[2] = UINT64_MAX - 3;
    for (i = 0; i < 3; i++) {
        spoil_one(0, sizeof(uint64_t), offsets[i]);
        CHECK_STATUS(haul_unmarshal(shipment), HAUL_ERROR_DEVICE);
        CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK); /* the list is sent again */
        CHECK_PTR(one->next, one);
    }
    haul_shipment_free(&beside);
    haul_shipment_free(&shipment);
    haul_arena_free(&other);
    haul_arena_free(&arena);
    close_devices();
}

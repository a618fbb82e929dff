/* The promises of the core for any graph, a test or more for each: byte exact, alignment, large
 * extents, whole objects, one past the end, pointers off the grid, each value read once, no
 * recursion, the source is never written, conflicts.
 *
 * Conflicts and their paths stand in test_graph_faults.c.
 *
 * Faults by number (docs/testing.md): G9, G11, G14, G15, G17, G20, G22, G23, C3, H10.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "core_graphs.h"
#include "support/lists.h"
#include "support/short_forms.h"
#include "support/types.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this thread: whatever else the machine is doing. */
static double own_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define PATIENCE LARGE(1.0, 20.0)
enum { MILLIONS = LARGE(10, 1) };

/* A table of pointers, with whatever behind them: `fields` say what. */
typedef struct desk {
    void *at[8];
    int32_t n[8];
} desk;

static haul_type *desk_type;

#define DRAWER(i, element, T, ...)                                                                 \
    {                                                                                              \
        .name = "at" #i, .kind = HAUL_FIELD_POINTER, .offset = offsetof(desk, at[i]),              \
        .bytes = sizeof(void *), .element_bytes = element, .target = T, .count = __VA_ARGS__       \
    }
#define COUNTED(i) HAUL_COUNT(desk, n[i])

static desk *desk_open(const haul_field *fields, size_t count)
{
    desk *d;
    size_t i;
    desk_type = type_open("desk", sizeof(desk), fields, count);
    type_commit(desk_type);
    d = take(sizeof *d, sizeof(void *));
    for (i = 0; i < count; i++)
        points(&d->at[i]);
    return d;
}

static desk *desk_start(const haul_field *fields, size_t count)
{
    lab_start();
    return desk_open(fields, count);
}

static void desk_end(void)
{
    haul_type_free(&desk_type);
    lab_end();
}

static size_t copied(const void *place)
{
    return word_at(the.arena + offset_of(place));
}

/* ---- Byte exact. */

static const haul_field eight_arrays[] = {
    DRAWER(0, 1, NULL, COUNTED(0)), DRAWER(1, 1, NULL, COUNTED(1)), DRAWER(2, 1, NULL, COUNTED(2)),
    DRAWER(3, 1, NULL, COUNTED(3)), DRAWER(4, 1, NULL, COUNTED(4)), DRAWER(5, 1, NULL, COUNTED(5)),
    DRAWER(6, 1, NULL, COUNTED(6)), DRAWER(7, 1, NULL, COUNTED(7))
};

TEST(promises, arrays_of_every_odd_size_at_every_place_in_a_granule_are_copied_to_the_byte)
{
    size_t bytes, shift, i;
    for (shift = 0; shift < GRANULE; shift++) {
        desk *d = desk_start(eight_arrays, 8);
        for (i = 0; i < 8; i++) {
            bytes = 1 + (shift * 8 + i) % (2 * GRANULE + 3);
            the.used = (the.used + GRANULE) / GRANULE * GRANULE + (shift + i * i) % GRANULE;
            d->at[i] = take(bytes, 1);
            d->n[i] = (int32_t)bytes;
            fill(d->at[i], bytes);
        }
        lab_pack(d, desk_type, 1);
        desk_end();
    }
}

TEST(promises, objects_that_share_a_granule_keep_their_neighbours_bytes_out)
{
    size_t i;
    desk *d = desk_start(eight_arrays, 8);
    the.used = (the.used + 4 * GRANULE) / GRANULE * GRANULE;
    for (i = 0; i < 8; i++) { /* one byte each, every other byte is nobody's */
        d->at[i] = take(1, 1);
        d->n[i] = 1;
        fill(d->at[i], 1);
        the.used++;
    }
    lab_pack(d, desk_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *d + 8);
    desk_end();
}

typedef struct thin {
    struct thin *next;
    char *name;
    char tag[3];
} thin;

static haul_type *thin_type;

static void thin_start(void)
{
    static const haul_field fields[] = { HAUL_OBJECT(thin, next, &thin_type),
                                         HAUL_STRING(thin, name) };
    lab_start();
    thin_type = TYPE_OPEN(thin, fields);
    type_commit(thin_type);
}

static void thin_end(void)
{
    haul_type_free(&thin_type);
    lab_end();
}

static thin *thin_make(thin *next, const char *name)
{
    thin *t = take(sizeof *t, sizeof(void *));
    points(&t->next);
    points(&t->name);
    t->next = next;
    t->name = name ? text(name) : NULL;
    fill(t->tag, sizeof t->tag);
    return t;
}

TEST(promises, strings_between_structs_of_odd_sizes_are_copied_to_the_byte)
{
    char name[64] = "";
    thin *t = NULL;
    size_t i;
    thin_start();
    for (i = 0; i < 60; i++) {
        memset(name, 'a', i);
        name[i] = '\0';
        t = thin_make(t, name);
    }
    lab_pack(t, thin_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, 60 * sizeof(thin) + 60 * 61 / 2);
    thin_end();
}

TEST(promises, random_ranges_of_bytes_are_copied_to_the_byte_G22)
{
    random_source random = random_start("random ranges of bytes");
    int round;
    for (round = 0; round < 60; round++) {
        desk *d = desk_start(eight_arrays, 8);
        size_t i, limit = random_one_in(&random, 4) ? 20000 : 60;
        for (i = 0; i < 8; i++) {
            size_t at = sizeof *d + GRANULE + random_below(&random, limit == 60 ? 300 : 2 * BLOCK);
            size_t bytes = random_below(&random, limit);
            d->n[i] = (int32_t)bytes;
            d->at[i] = the.memory + at;
            memset(the.what + at, OF_DATA, bytes);
            random_fill(&random, d->at[i], bytes < 600 ? bytes : 600);
        }
        lab_pack(d, desk_type, 1);
        desk_end();
    }
}

TEST(promises, nothing_behind_the_last_byte_is_touched_where_a_page_ends)
{
    static const haul_field fields[] = { DRAWER(0, 1, NULL, HAUL_TERMINATED),
                                         DRAWER(1, 1, NULL, COUNTED(1)),
                                         DRAWER(2, 0, &thin_type, HAUL_ONE),
                                         DRAWER(3, 2, NULL, HAUL_TERMINATED),
                                         DRAWER(4, 0, &desk_type, HAUL_ONE) };
    size_t bytes;
    for (bytes = 1; bytes < 40; bytes += 3) { /* lab_pack takes away the pages behind */
        desk *d;
        thin_start();
        desk_type = type_open("desk", sizeof(desk), fields, COUNT_OF(fields));
        type_commit(desk_type);
        d = take_at_page_end(sizeof *d);
        memset(the.what + lab_offset(d), OF_POINTER, 5 * WORD);
        d->at[0] = take_at_page_end(bytes);
        memset(d->at[0], 's', bytes - 1);
        d->at[1] = take_at_page_end(bytes);
        fill(d->at[1], bytes);
        d->n[1] = (int32_t)bytes;
        d->at[2] = take_at_page_end(sizeof(thin));
        points(d->at[2]);
        points((char *)d->at[2] + WORD);
        d->at[3] = take_at_page_end(2 * bytes);
        memset(d->at[3], 1, 2 * bytes - 2);
        d->at[4] = d;
        lab_pack(d, desk_type, 1);
        haul_type_free(&desk_type);
        thin_end();
    }
}

TEST(promises, a_struct_of_odd_size_at_the_end_of_a_page_is_not_read_beyond)
{
    static const haul_field fields[] = { { .name = "name",
                                           .kind = HAUL_FIELD_POINTER,
                                           .bytes = sizeof(char *),
                                           .element_bytes = 1,
                                           .count = HAUL_TERMINATED,
                                           .packed = 1 } };
    haul_type *type;
    char *at;
    lab_start();
    type = type_open("odd", sizeof(char *) + 5, fields, 1);
    type_commit(type);
    the.has_own_checks = 1;
    at = take_at_page_end(sizeof(char *) + 5);
    points(at);
    lab_pack(at, type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(char *) + 5);
    haul_type_free(&type);
    lab_end();
}

TEST(promises, the_same_graph_gives_the_same_bytes_each_time_G22)
{
    thin *t = NULL;
    unsigned char *first;
    size_t bytes;
    int i;
    thin_start();
    for (i = 0; i < 30; i++)
        t = thin_make(t, "the same");
    lab_pack(t, thin_type, 1);
    bytes = the.bytes;
    first = lab_arena(bytes, GRANULE, 0);
    memcpy(first, the.arena, bytes);
    /* what is nobody's has no influence */
    memset(the.memory + the.used, 0x3C, LAB_BYTES - the.used);
    lab_pack(t, thin_type, 1);
    CHECK_EQ(bytes, the.bytes);
    CHECK_BYTES(first, the.arena, bytes);
    free(first);
    thin_end();
}

/* ---- Alignment. */

static haul_type *aligned_type[8];

/* Alignments 32 << i, each with a size that is as large. */
static void aligned_start(void)
{
    char name[16];
    int i;
    for (i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "aligned%d", 32 << i);
        aligned_type[i] = type_new(&(const haul_struct){
            .name = name, .bytes = (size_t)32 << i, .alignment = (size_t)32 << i });
        type_commit(aligned_type[i]);
    }
}

static void aligned_end(void)
{
    int i;
    for (i = 0; i < 8; i++)
        haul_type_free(&aligned_type[i]);
}

static const haul_field eight_aligned[] = {
    DRAWER(0, 0, &aligned_type[0], COUNTED(0)), DRAWER(1, 0, &aligned_type[1], COUNTED(1)),
    DRAWER(2, 0, &aligned_type[2], COUNTED(2)), DRAWER(3, 0, &aligned_type[3], COUNTED(3)),
    DRAWER(4, 0, &aligned_type[4], COUNTED(4)), DRAWER(5, 0, &aligned_type[5], COUNTED(5)),
    DRAWER(6, 0, &aligned_type[6], COUNTED(6)), DRAWER(7, 0, &aligned_type[7], COUNTED(7)),
};

TEST(promises, every_alignment_up_to_4096_is_kept_and_asked_of_the_arena)
{
    int i;
    for (i = 0; i < 8; i++) {
        size_t alignment = (size_t)32 << i;
        desk *d;
        aligned_start();
        d = desk_start(eight_aligned, 8);
        the.used += 24;
        take(1, 1);
        the.what[the.used - 1] = OF_NOBODY;
        d->at[i] = take(3 * alignment, alignment);
        d->n[i] = 3;
        fill(d->at[i], 3 * alignment);
        lab_pack(d, desk_type, 1);
        CHECK_EQ(copied(&d->at[i]) % alignment, 0);
        CHECK_EQ(plan_alignment(the.plan), alignment);
        CHECK_EQ((uintptr_t)the.arena % alignment, 0);
        desk_end();
        aligned_end();
    }
}

TEST(promises, without_a_wish_the_arena_needs_two_pointers_alignment_only)
{
    thin *t;
    thin_start();
    t = thin_make(NULL, "small");
    lab_pack(t, thin_type, 1);
    CHECK_EQ(plan_alignment(the.plan), GRANULE);
    thin_end();
}

TEST(promises, objects_of_all_alignments_live_side_by_side)
{
    desk *d;
    int i;
    aligned_start();
    d = desk_start(eight_aligned, 8);
    for (i = 7; i >= 0; i--) {
        d->at[i] = take((size_t)32 << i, (size_t)32 << i);
        d->n[i] = 1;
        fill(d->at[i], (size_t)32 << i);
        the.used += 40;
    }
    lab_pack(d, desk_type, 1);
    for (i = 0; i < 8; i++)
        CHECK_EQ(copied(&d->at[i]) % ((size_t)32 << i), 0);
    desk_end();
    aligned_end();
}

TEST(promises, several_aligned_objects_stand_on_one_page_with_small_neighbours)
{
    static const haul_field fields[] = {
        DRAWER(0, 0, &aligned_type[2], HAUL_ONE), DRAWER(1, 0, &aligned_type[2], HAUL_ONE),
        DRAWER(2, 0, &aligned_type[0], HAUL_ONE), DRAWER(3, 1, NULL, HAUL_TERMINATED),
        DRAWER(4, 1, NULL, HAUL_TERMINATED),      DRAWER(5, 1, NULL, HAUL_TERMINATED),
        DRAWER(6, 0, &aligned_type[5], HAUL_ONE)
    };
    desk *d;
    aligned_start();
    d = desk_start(fields, COUNT_OF(fields));
    d->at[3] = text("in front");
    d->at[0] = take(128, 128);
    fill(d->at[0], 128);
    d->at[4] = text("between");
    the.used += 200;
    d->at[1] = take(128, 128);
    d->at[2] = take(32, 32);
    fill(d->at[1], 128);
    the.used += 70;
    d->at[5] = text("behind");
    d->at[6] = take(1024, 1024);
    lab_pack(d, desk_type, 1);
    CHECK_EQ(copied(&d->at[0]) % 128, 0);
    CHECK_EQ(copied(&d->at[1]) % 128, 0);
    CHECK_EQ(copied(&d->at[2]) % 32, 0);
    CHECK_EQ(copied(&d->at[6]) % 1024, 0);
    desk_end();
    aligned_end();
}

TEST(promises, a_pointer_to_an_aligned_struct_with_pointers_keeps_both)
{
    typedef struct lane {
        struct lane *next;
        char *name;
        char rest[64 - 2 * sizeof(void *)];
    } lane;
    static haul_type *lane_type;
    static const haul_field fields[] = { HAUL_OBJECT(lane, next, &lane_type),
                                         HAUL_STRING(lane, name) };
    lane *l, *first = NULL;
    int i;
    lab_start();
    lane_type = TYPE_OPEN(lane, fields, .alignment = 64);
    type_commit(lane_type);
    for (i = 0; i < 200; i++) {
        l = take(sizeof *l, 64);
        points(&l->next);
        points(&l->name);
        l->next = first;
        l->name = i % 3 ? text("lane") : NULL;
        first = l;
    }
    lab_pack(first, lane_type, 1);
    for (l = first; l; l = l->next)
        CHECK_EQ(offset_of(l) % 64, 0);
    haul_type_free(&lane_type);
    lab_end();
}

/* ---- Whole objects. */

/* The object's bytes stand in one piece. */
static void check_whole(const void *object, size_t bytes)
{
    CHECK_EQ(offset_of((const char *)object + bytes - 1), offset_of(object) + bytes - 1);
    CHECK(memcmp(the.arena + offset_of(object), object, bytes) == 0);
}

TEST(promises, objects_across_pages_and_blocks_stay_whole_whatever_their_neighbours_ask_for)
{
    static const size_t places[] = { PAGE, 2 * PAGE, BLOCK - PAGE, BLOCK, 2 * BLOCK };
    size_t p, i, before;
    for (p = 0; p < COUNT_OF(places); p++)
        for (before = 1; before < 300; before = before * 3 + 2) {
            static const haul_field fields[] = { DRAWER(0, 1, NULL, COUNTED(0)),
                                                 DRAWER(1, 0, &aligned_type[7], COUNTED(1)),
                                                 DRAWER(2, 0, &aligned_type[3], COUNTED(2)),
                                                 DRAWER(3, 1, NULL, COUNTED(3)),
                                                 DRAWER(4, 0, &aligned_type[5], COUNTED(4)) };
            static const size_t alignment[] = { 1, 4096, 256, 1, 1024 };
            desk *d;
            aligned_start();
            d = desk_start(fields, COUNT_OF(fields));
            /* across the next page boundary */
            d->at[0] = take_at(places[p] + PAGE - before, 2 * before + 7);
            d->n[0] = (int32_t)(2 * before + 7);
            d->at[2] = take(256, 256);
            d->at[3] = take(3 * PAGE + 11, 1);
            d->n[3] = 3 * PAGE + 11;
            d->at[4] = take(1024, 1024);
            d->at[1] = take(4096, 4096);
            d->n[1] = d->n[2] = d->n[4] = 1;
            for (i = 0; i < 5; i++)
                fill(d->at[i], i == 1 ? 4096 : i == 2 ? 256 : i == 4 ? 1024 : (size_t)d->n[i]);
            lab_pack(d, desk_type, 1);
            check_whole(d->at[0], 2 * before + 7);
            check_whole(d->at[3], 3 * PAGE + 11);
            for (i = 0; i < 5; i++)
                CHECK_EQ(copied(&d->at[i]) % alignment[i], 0);
            desk_end();
            aligned_end();
        }
}

TEST(promises, structs_with_holes_stay_whole_and_their_holes_are_zero)
{
    typedef struct machine {
        char *name;
        char cache[200]; /* does not travel */
        struct machine *next;
        char lock[40]; /* neither */
    } machine;
    static haul_type *machine_type;
    static const haul_field fields[] = { HAUL_STRING(machine, name), HAUL_SKIP(machine, cache),
                                         HAUL_OBJECT(machine, next, &machine_type),
                                         HAUL_SKIP(machine, lock) };
    machine *m, *first = NULL;
    int i;
    lab_start();
    machine_type = TYPE_OPEN(machine, fields);
    type_commit(machine_type);
    for (i = 0; i < 300; i++) {
        m = take(sizeof *m, sizeof(void *));
        points(&m->name);
        points(&m->next);
        fill(m->cache, sizeof m->cache);
        fill(m->lock, sizeof m->lock);
        hole(m->cache, sizeof m->cache);
        hole(m->lock, sizeof m->lock);
        m->next = first;
        m->name = i % 2 ? text("machine") : NULL;
        first = m;
    }
    lab_pack(first, machine_type, 1);
    for (m = first; m; m = m->next)
        CHECK_EQ(offset_of((char *)m + sizeof *m - 1), offset_of(m) + sizeof *m - 1);
    haul_type_free(&machine_type);
    lab_end();
}

/* ---- Large extents. */

typedef struct crowd {
    int64_t n;
    char **all;
} crowd;

/* `n` pointers to `at`, as strings or as arrays of `bytes` bytes. */
static double crowd_time(char *at, size_t n, const haul_field *fields, size_t bytes)
{
    haul_type *type = type_open("crowd", sizeof(crowd), fields, 1);
    crowd c;
    haul_root root;
    haul_plan *plan;
    haul_plan_info statistics;
    double start;
    size_t i;
    type_commit(type);
    c.n = (int64_t)n;
    c.all = malloc(n * sizeof *c.all);
    CHECK(c.all != NULL);
    for (i = 0; i < n; i++)
        c.all[i] = at;
    root.address = &c;
    root.type = type;
    root.count = 1;
    lab_drop();
    lab_open_context(FLAT);
    start = now();
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    start = now() - start;
    haul_plan_get_info(plan, &statistics);
    CHECK_EQ(statistics.graph_bytes, sizeof c + n * sizeof *c.all + bytes);
    CHECK(statistics.bookkeeping_bytes <= statistics.graph_bytes / BOOKKEEPING + 40000);
    haul_plan_free(&plan);
    lab_drop();
    haul_type_free(&type);
    free(c.all);
    return start;
}

enum { MIB = 1 << 20 };

TEST(promises, an_array_of_256_MiB_behind_100000_pointers_is_gone_through_once)
{
    static const haul_field fields[] = { HAUL_ARRAYS(crowd, all, HAUL_COUNT(crowd, n),
                                                     HAUL_FIXED(256 * MIB)) };
    char *at = mmap(NULL, (size_t)256 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    CHECK(at != MAP_FAILED);
    lab_start();
    /* marking reads none of it */
    CHECK(crowd_time(at, 100000, fields, (size_t)256 * MIB) < 2 * PATIENCE);
    lab_end();
    munmap(at, (size_t)256 * MIB);
}

TEST(promises, a_string_of_16_MiB_behind_100000_pointers_is_scanned_once)
{
    static const haul_field fields[] = { HAUL_STRINGS(crowd, all, HAUL_COUNT(crowd, n)) };
    char *at = malloc(16 * MIB);
    CHECK(at != NULL);
    memset(at, 'x', 16 * MIB - 1);
    at[16 * MIB - 1] = '\0';
    lab_start();
    CHECK(crowd_time(at, 100000, fields, 16 * MIB) < 2 * PATIENCE);
    lab_end();
    free(at);
}

TEST(promises, a_string_of_5000_bytes_behind_100000_pointers_is_scanned_once_from_an_odd_place_too)
{
    static const haul_field fields[] = { HAUL_STRINGS(crowd, all, HAUL_COUNT(crowd, n)) };
    char *at = malloc(5003);
    CHECK(at != NULL);
    memset(at, 'x', 5002);
    at[5002] = '\0';
    lab_start();
    CHECK(crowd_time(at + 3, 100000, fields, 5000) < PATIENCE);
    lab_end();
    free(at);
}

/* ---- One past the end. */

static const haul_field range_and_end[] = { DRAWER(0, 1, NULL, HAUL_UNTIL(desk, at[1])) };

TEST(promises, the_end_of_a_block_leads_one_past_its_copy_wherever_it_stands)
{
    static const size_t ends[] = { 100, GRANULE * 8, PAGE, 3 * PAGE, BLOCK, 2 * BLOCK };
    size_t i, bytes;
    for (i = 0; i < COUNT_OF(ends); i++)
        for (bytes = 1; bytes < 40; bytes += 5) {
            desk *d = desk_start(range_and_end, 1);
            points(&d->at[1]);
            the.used += BLOCK;
            /* nothing behind it */
            d->at[0] = take_at(BLOCK + ends[i] - bytes + (ends[i] < PAGE ? PAGE : 0), bytes);
            d->at[1] = (char *)d->at[0] + bytes;
            fill(d->at[0], bytes);
            lab_pack(d, desk_type, 1);
            CHECK_EQ(copied(&d->at[1]), copied(&d->at[0]) + bytes);
            desk_end();
        }
}

TEST(promises, the_end_of_one_block_is_the_begin_of_the_next_where_they_touch)
{
    size_t bytes;
    for (bytes = 5; bytes < 2 * PAGE; bytes = bytes * 2 + 1) {
        static const haul_field fields[] = { DRAWER(0, 1, NULL, HAUL_UNTIL(desk, at[1])),
                                             DRAWER(2, 1, NULL, COUNTED(2)) };
        desk *d = desk_start(fields, 2);
        memset(the.what + lab_offset(d->at), OF_POINTER, 3 * WORD);
        d->at[0] = take_at(2 * PAGE - bytes % PAGE, bytes);
        d->at[1] = d->at[2] = take(9, 1);
        d->n[2] = 9;
        fill(d->at[0], bytes + 9);
        lab_pack(d, desk_type, 1);
        CHECK_EQ(copied(&d->at[1]), copied(&d->at[0]) + bytes);
        CHECK_EQ(copied(&d->at[2]), copied(&d->at[1]));
        desk_end();
    }
}

TEST(promises, the_end_of_aligned_objects_leads_one_past_them)
{
    static const haul_field fields[] = { DRAWER(0, 0, &aligned_type[3], HAUL_UNTIL(desk, at[1])) };
    desk *d;
    aligned_start();
    d = desk_start(fields, 1);
    points(&d->at[1]);
    d->at[0] = take(2 * 256, 256);
    d->at[1] = (char *)d->at[0] + 2 * 256;
    lab_pack(d, desk_type, 1);
    CHECK_EQ(copied(&d->at[1]), copied(&d->at[0]) + 2 * 256);
    desk_end();
    aligned_end();
}

/* ---- Slots off the grid. */

typedef struct wedge { /* as a compiler would pack: tag, next, name, code */
    unsigned char bytes[2 * sizeof(void *) + 3];
} wedge;

enum { WEDGE_NEXT = 1, WEDGE_NAME = 1 + sizeof(void *) };

static haul_type *wedge_type;

static void wedge_start(void)
{
    static const haul_field fields[] = {
        { .name = "next",
          .kind = HAUL_FIELD_POINTER,
          .offset = WEDGE_NEXT,
          .bytes = sizeof(void *),
          .element_bytes = sizeof(wedge),
          .target = &wedge_type,
          .packed = 1 },
        { .name = "name",
          .kind = HAUL_FIELD_POINTER,
          .offset = WEDGE_NAME,
          .bytes = sizeof(void *),
          .element_bytes = 1,
          .count = HAUL_TERMINATED,
          .packed = 1 },
    };
    lab_start();
    wedge_type = TYPE_OPEN(wedge, fields);
    type_commit(wedge_type);
    the.has_own_checks = 1;
}

static void wedge_end(void)
{
    haul_type_free(&wedge_type);
    lab_end();
}

static void wedge_lead(unsigned char *w, const void *next, const void *name)
{
    memcpy(w + WEDGE_NEXT, &next, sizeof next);
    memcpy(w + WEDGE_NAME, &name, sizeof name);
    points(w + WEDGE_NEXT);
    points(w + WEDGE_NAME);
}

static unsigned char *wedge_set(unsigned char *w, const void *next, const void *name)
{
    fill(w, sizeof(wedge));
    wedge_lead(w, next, name);
    return w;
}

TEST(promises, pointers_off_the_grid_are_followed_and_translated_at_every_place)
{
    size_t shift;
    for (shift = 0; shift < 2 * GRANULE; shift++) {
        unsigned char *a, *b;
        char *name;
        wedge_start();
        the.used = 100 + shift;
        b = wedge_set(take(sizeof(wedge), 1), NULL, NULL);
        name = text("packed");
        a = wedge_set(take(sizeof(wedge), 1), b, name);
        lab_pack(a, wedge_type, 1);
        CHECK_EQ(the.statistics.pointers, 4);
        CHECK_EQ(copied(a + WEDGE_NEXT), offset_of(b));
        CHECK_EQ(copied(a + WEDGE_NAME), offset_of(name));
        CHECK_EQ(copied(b + WEDGE_NEXT), 0);
        wedge_end();
    }
}

TEST(promises, pointers_off_the_grid_straddle_granules_cells_pages_and_blocks)
{
    static const size_t edges[] = { 32 * GRANULE, 64 * GRANULE, PAGE, 2 * PAGE, BLOCK, 2 * BLOCK };
    size_t i, by;
    for (i = 0; i < COUNT_OF(edges); i++)
        for (by = 1; by < sizeof(wedge) + 1; by += 2) {
            unsigned char *a, *b;
            wedge_start();
            a = take_at(edges[i] + 16 * PAGE - by, sizeof(wedge));
            the.used += 333;
            b = wedge_set(take(sizeof(wedge), 1), a, NULL);
            wedge_set(a, b, text("across"));
            lab_pack(a, wedge_type, 1);
            CHECK_EQ(copied(a + WEDGE_NEXT), offset_of(b));
            CHECK_EQ(copied(b + WEDGE_NEXT), offset_of(a));
            wedge_end();
        }
}

TEST(promises, arrays_of_packed_structs_hold_pointers_on_the_grid_and_off_it)
{
    unsigned char *all;
    size_t i;
    haul_root root;
    wedge_start();
    the.used = 3 * PAGE - 500;
    all = take(100 * sizeof(wedge), 1);
    for (i = 0; i < 100; i++)
        wedge_set(all + i * sizeof(wedge), i % 3 ? all + (i * 37 % 100) * sizeof(wedge) : NULL,
                  i % 5 ? NULL : text("w"));
    root.address = all;
    root.type = wedge_type;
    root.count = 100;
    lab_pack_roots(&root, 1);
    CHECK_EQ(the.statistics.pointers, 200);
    CHECK_EQ(the.statistics.graph_bytes, 100 * sizeof(wedge) + 20 * 2);
    wedge_end();
}

/* Two pointers that are off the grid wherever a word may begin. */
typedef struct shim {
    unsigned char kind, words[2 * sizeof(void *)], rest[sizeof(void *) - 1];
} shim;

enum { SHIM_NEXT = 1, SHIM_NAME = 1 + sizeof(void *), SHIMS = 4, PLAIN_SHIM = 1, SHORT_SHIM };

static haul_type *shim_type;

#define BYTES_OF_SHIMS(i) DRAWER(i, 1, NULL, COUNTED(i))
#define ALL_SHIMS(i) DRAWER(i, sizeof(shim), &shim_type, HAUL_FIXED(SHIMS))
#define ONE_SHIM(i)                                                                                \
    {                                                                                              \
        .name = "at" #i, .kind = HAUL_FIELD_POINTER, .offset = offsetof(desk, at[i]),              \
        .bytes = sizeof(void *), .element_bytes = sizeof(shim), .target = &shim_type               \
    }

/* Where shims and plain bytes lie in a piece of memory, and how they are reached. */
typedef struct shims {
    const haul_field *rows; /* of the desk: `at[bytes_at]` leads to the plain bytes */
    size_t bytes, begin;    /* plain bytes */
    size_t first;           /* where the shims begin */
    int bytes_at, is_list, has_rule;
} shims;

static void pack_shims(const shims *how)
{
    const haul_field fields[] = { { .name = "next",
                                    .kind = HAUL_FIELD_POINTER,
                                    .offset = SHIM_NEXT,
                                    .bytes = sizeof(void *),
                                    .element_bytes = sizeof(shim),
                                    .target = &shim_type,
                                    .packed = 1 },
                                  { .name = "name",
                                    .kind = HAUL_FIELD_POINTER,
                                    .offset = SHIM_NAME,
                                    .bytes = sizeof(void *),
                                    .element_bytes = 1,
                                    .count = HAUL_TERMINATED,
                                    .packed = 1 },
                                  HAUL_SKIP(shim, rest, .when = HAUL_EQUALS(shim, kind, SHORT_SHIM),
                                            .else_raw = 1) };
    const size_t count = sizeof fields / sizeof fields[0];
    const size_t room = how->bytes + 2 * SHIMS * sizeof(shim);
    desk *d;
    unsigned char *memory, *next;
    shim *all;
    char *name[SHIMS];
    size_t i;
    lab_start();
    shim_type = type_open("shim", sizeof(shim), fields, how->has_rule ? count : count - 1);
    type_commit(shim_type);
    d = desk_open(how->rows, 2);
    the.has_own_checks = 1;
    memory = take_at(BLOCK - how->begin, room); /* marks are told block by block */
    memset(the.what + lab_offset(memory), OF_NOBODY, room);
    fill(take_at(lab_offset(memory) + how->begin, how->bytes), how->bytes);
    d->at[how->bytes_at] = memory + how->begin;
    d->n[how->bytes_at] = (int32_t)how->bytes;
    all = take_at(lab_offset(memory) + how->first, SHIMS * sizeof(shim));
    d->at[1 - how->bytes_at] = all;
    the.used = lab_offset(memory) + room;
    next = take(sizeof(shim), WORD);
    for (i = 0; i < SHIMS; i++)
        name[i] = text("shim");
    next[0] = PLAIN_SHIM;
    wedge_lead(next, NULL, name[0]);
    for (i = 0; i < SHIMS; i++) {
        all[i].kind = PLAIN_SHIM;
        wedge_lead(&all[i].kind, how->is_list && i < SHIMS - 1 ? &all[i + 1].kind : next, name[i]);
    }
    lab_pack(d, desk_type, 1);
    for (i = 0; i < SHIMS; i++) {
        CHECK_EQ(copied(&all[i].kind + SHIM_NAME), offset_of(name[i]));
        CHECK_EQ(copied(&all[i].kind + SHIM_NEXT),
                 offset_of(how->is_list && i < SHIMS - 1 ? &all[i + 1].kind : next));
    }
    haul_type_free(&shim_type);
    desk_end();
}

TEST(promises, pointers_off_the_grid_inside_plain_bytes_are_followed_whichever_is_found_first)
{
    static const haul_field bytes_first[] = { BYTES_OF_SHIMS(0), ONE_SHIM(1) },
                            shim_first[] = { ONE_SHIM(0), BYTES_OF_SHIMS(1) },
                            bytes_then_all[] = { BYTES_OF_SHIMS(0), ALL_SHIMS(1) },
                            all_then_bytes[] = { ALL_SHIMS(0), BYTES_OF_SHIMS(1) };
    static const size_t bytes[] = { SHIMS * sizeof(shim), 900, 3 * PAGE, BLOCK + 3 * PAGE };
    size_t i, first;
    for (i = 0; i < 2 * COUNT_OF(bytes); i++)
        for (first = 0; first <= 4 * sizeof(shim); first += 2 * sizeof(shim)) {
            /* the bytes cover the last shims, all, or (where they are few) the first ones */
            shims how = { NULL, bytes[i / 2], 2 * sizeof(shim), first, 0, 1, (int)(i % 2) };
            how.rows = bytes_first;
            pack_shims(&how);
            how.rows = bytes_then_all;
            how.is_list = 0;
            pack_shims(&how);
            how.bytes_at = 1;
            how.rows = all_then_bytes;
            pack_shims(&how);
            how.rows = shim_first;
            how.is_list = 1;
            pack_shims(&how);
        }
}

/* ---- Overlapping arrays of pointers. */

TEST(promises, arrays_of_pointers_that_overlap_are_each_visited_whole_G9_G10)
{
    static haul_type *cell_type;
    static const haul_field fields[] = { { .name = "at0",
                                           .kind = HAUL_FIELD_POINTER,
                                           .offset = offsetof(desk, at),
                                           .bytes = WORD,
                                           .levels = 2,
                                           .element_bytes = 16,
                                           .target = &cell_type,
                                           .count = COUNTED(0) },
                                         { .name = "at1",
                                           .kind = HAUL_FIELD_POINTER,
                                           .offset = offsetof(desk, at) + WORD,
                                           .bytes = WORD,
                                           .levels = 2,
                                           .element_bytes = 16,
                                           .target = &cell_type,
                                           .count = COUNTED(1) },
                                         { .name = "at2",
                                           .kind = HAUL_FIELD_POINTER,
                                           .offset = offsetof(desk, at) + 2 * WORD,
                                           .bytes = WORD,
                                           .levels = 2,
                                           .element_bytes = 16,
                                           .target = &cell_type,
                                           .count = COUNTED(2) } };
    static const int32_t first[6][3] = { { 0, 0, 0 }, { 0, 2, 4 }, { 4, 2, 0 },
                                         { 2, 0, 4 }, { 5, 0, 2 }, { 0, 5, 2 } };
    static const int32_t count[6][3] = { { 3, 10, 6 }, { 6, 6, 6 },  { 6, 6, 6 },
                                         { 3, 10, 2 }, { 1, 10, 1 }, { 5, 5, 6 } };
    int i, j;
    for (i = 0; i < 6; i++) {
        desk *d;
        void **all;
        cell_type = type_open("cell", 16, NULL, 0);
        type_commit(cell_type);
        d = desk_start(fields, 3);
        all = take(10 * sizeof *all, sizeof *all);
        for (j = 0; j < 10; j++) {
            points(&all[j]);
            all[j] = take(16, 16);
        }
        for (j = 0; j < 3; j++) {
            d->at[j] = all + first[i][j];
            d->n[j] = count[i][j];
        }
        lab_pack(d, desk_type, 1);
        CHECK_EQ(the.statistics.pointers, 13);
        CHECK_EQ(the.statistics.graph_bytes, sizeof *d + 10 * sizeof *all + 10 * 16);
        desk_end();
        haul_type_free(&cell_type);
    }
}

/* ---- Read once: a source that changes underneath (C3). */

typedef struct moody {
    struct moody *next;
    char *name;
    double *values;
    struct moody **friends;
    int32_t value_count, friend_count;
} moody;

enum { MOODS = 12 };

typedef struct mood {
    moody nodes[MOODS];
    double values[MOODS][8];
    moody *friends[MOODS][4];
    char names[MOODS][24];
    haul_context *context;
    haul_plan *plan;
    unsigned char *arena;
    uint64_t *bitmap;
    int what, no_reserve, checked;
    unsigned turns;
} mood;

static haul_type *moody_type;
static mood *my;

static void mood_reset(void)
{
    int i, j;
    for (i = 0; i < MOODS; i++) {
        moody *m = &my->nodes[i];
        m->next = &my->nodes[(i + 1) % MOODS];
        m->name = my->names[i];
        snprintf(m->name, sizeof my->names[i], "name %d", i);
        m->values = my->values[i];
        m->value_count = i % 8;
        m->friends = my->friends[i];
        m->friend_count = i % 4;
        for (j = 0; j < 4; j++)
            my->friends[i][j] = &my->nodes[(i * 5 + j) % MOODS];
    }
}

static void mood_prepare(void *user, fault_plan *plan)
{
    haul_context_options options;
    (void)user;
    mood_reset();
    my->plan = NULL;
    my->arena = NULL;
    my->bitmap = NULL;
    memset(&options, 0, sizeof options);
    options.checked = my->checked;
    CHECK_STATUS(fault_open_context(plan, &options, &my->context), HAUL_OK);
}

static haul_status mood_run(void *user)
{
    haul_root root;
    haul_status status;
    (void)user;
    root.address = my->nodes;
    root.type = moody_type;
    root.count = 1;
    status = haul_plan_create(my->context, haul_from_roots(&root, 1), NULL, &my->plan);
    if (status != HAUL_OK)
        return status;
    my->arena = lab_arena(plan_bytes(my->plan), plan_alignment(my->plan), 0);
    my->bitmap = lab_arena(plan_bitmap_bytes(my->plan), 8, 0);
    status = haul_plan_pack(my->plan, my->arena, plan_bytes(my->plan), 0, my->bitmap);
    if (status == HAUL_OK)
        status = haul_plan_unpack(my->plan, my->arena, plan_bytes(my->plan), 0);
    return HAUL_OK; /* there is something to undo */
}

static void mood_undo(void *user)
{
    (void)user;
    free(my->arena);
    free(my->bitmap);
    my->arena = NULL;
    my->bitmap = NULL;
    haul_plan_free(&my->plan);
}

static void mood_finish(void *user)
{
    (void)user;
    mood_undo(user);
    haul_context_free(&my->context);
}

/* One change of one kind in the middle of discovery or layout. */
static void mood_swing(void *user)
{
    moody *m = &my->nodes[my->turns++ % MOODS];
    (void)user;
    switch (my->what) {
    case 0:
        m->value_count = 8 - m->value_count;
        m->friend_count = 4 - m->friend_count;
        break;
    case 1:
        m->next = NULL;
        my->nodes[MOODS / 2].next = m;
        break;
    case 2:
        memset(m->name + strlen(m->name), 'x', 3); /* there are zeros behind */
        my->names[(my->turns + 3) % MOODS][1] = '\0';
        break;
    case 3:
        m->friends[0] = NULL;
        m->friends[1] = m;
        my->nodes[(my->turns + 4) % MOODS].friends = m->friends + 1;
        my->nodes[(my->turns + 4) % MOODS].friend_count = 2;
        break;
    default:
        m->values = my->nodes[(my->turns + 2) % MOODS].values;
        m->value_count = -1;
        break;
    }
}

TEST(promises, a_source_that_changes_underneath_gives_values_or_an_error_but_no_crash_C3)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(moody, next, &moody_type), HAUL_STRING(moody, name),
        HAUL_ARRAY(moody, values, HAUL_COUNT(moody, value_count)),
        HAUL_POINTERS(moody, friends, &moody_type, HAUL_COUNT(moody, friend_count))
    };
    fault_operation operation = {
        .prepare = mood_prepare, .run = mood_run, .undo = mood_undo, .finish = mood_finish
    };
    unsigned runs = 0;
    int turn;
    my = calloc(1, sizeof *my);
    CHECK(my != NULL);
    moody_type = TYPE_OPEN(moody, fields);
    type_commit(moody_type);
    for (turn = 0; turn < 5 * 4; turn++) {
        my->what = turn / 4;
        my->checked = turn & 1;
        operation.settings.no_reserve = turn >> 1 & 1;
        runs += fault_call_everywhere(&operation, mood_swing);
    }
    CHECK(runs > 100);
    haul_type_free(&moody_type);
    free(my);
}

/* ---- No recursion. */

static haul_type *link_type;

typedef struct long_list {
    list_node *first;
    size_t count;
    haul_context *context;
    haul_status plan_status, pack_status, unpack_status;
    haul_plan_info statistics;
    size_t wrong;
    double seconds;
} long_list;

static void long_list_pack(long_list *l)
{
    haul_plan *plan;
    haul_root root;
    unsigned char *arena;
    uint64_t *bitmap;
    size_t bytes;
    double start = own_seconds();
    root.address = l->first;
    root.type = link_type;
    root.count = 1;
    l->plan_status = haul_plan_create(l->context, haul_from_roots(&root, 1), NULL, &plan);
    if (l->plan_status != HAUL_OK)
        return;
    bytes = plan_bytes(plan);
    arena = malloc(bytes);
    bitmap = malloc(plan_bitmap_bytes(plan));
    if (arena && bitmap) {
        l->pack_status = haul_plan_pack(plan, arena, bytes, 0, bitmap);
        l->unpack_status = haul_plan_unpack(plan, arena, bytes, 0);
    }
    haul_plan_get_info(plan, &l->statistics);
    free(arena);
    free(bitmap);
    haul_plan_free(&plan);
    l->seconds = own_seconds() - start;
}

static void *long_list_run(void *user)
{
    long_list_pack(user);
    return NULL;
}

static void small_stack_run(long_list *l)
{
    pthread_attr_t attributes;
    pthread_t thread;
    l->plan_status = l->pack_status = l->unpack_status = HAUL_ERROR_STATE;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, long_list_run, l) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
    CHECK_STATUS(l->plan_status, HAUL_OK);
    CHECK_STATUS(l->pack_status, HAUL_OK);
    CHECK_STATUS(l->unpack_status, HAUL_OK);
}

static void link_start(void)
{
    lab_start();
    link_type = list_type(NULL);
}

static void link_end(void)
{
    haul_type_free(&link_type);
    lab_end();
}

TEST(promises, a_list_of_ten_million_nodes_packs_on_a_stack_of_64_KiB_G14_H10)
{
    static const size_t strides[] = { 1, 7919 };
    long_list l;
    size_t s, i, at, count = (size_t)MILLIONS * 1000000;
    list_node *all = malloc(count * sizeof *all);
    CHECK(all != NULL);
    for (s = 0; s < 2; s++) {
        link_start();
        for (i = 0, at = 0; i < count; i++, at = (at + strides[s]) % count) {
            all[at].next = i + 1 < count ? &all[(at + strides[s]) % count] : NULL;
            all[at].value = (int64_t)i;
        }
        memset(&l, 0, sizeof l);
        l.first = all;
        lab_open_context(FLAT);
        l.context = the.context;
        small_stack_run(&l);
        CHECK_EQ(l.statistics.objects, count);
        CHECK_EQ(l.statistics.graph_bytes, count * sizeof(list_node));
        CHECK(l.statistics.worklist_bytes < 200000);
        CHECK(l.seconds < 10 * PATIENCE);
        link_end();
    }
    free(all);
}

TEST(promises, a_list_of_a_million_nodes_packs_on_a_small_stack_in_every_kind_of_context_G14)
{
    long_list l;
    size_t i, count = LARGE(1000000, 100000);
    list_node *all = malloc(count * sizeof *all);
    int variant;
    CHECK(all != NULL);
    for (i = 0; i < count; i++) {
        all[i].next = i + 1 < count ? &all[i + 1] : NULL;
        all[i].value = 0;
    }
    for (variant = 0; variant < VARIANTS; variant++) {
        link_start();
        memset(&l, 0, sizeof l);
        l.first = all;
        lab_open_context(variant);
        l.context = the.context;
        small_stack_run(&l);
        CHECK_EQ(l.statistics.objects, count);
        link_end();
    }
    free(all);
}

TEST(promises, ten_million_pointers_to_one_object_take_no_memory_each_G15)
{
    typedef struct star {
        int64_t n;
        list_node **all;
    } star;
    static const haul_field fields[] = { HAUL_POINTERS(star, all, &link_type,
                                                       HAUL_COUNT(star, n)) };
    haul_type *type;
    star s;
    list_node one = { NULL, 5 };
    haul_root root;
    haul_plan_info statistics;
    size_t i, count = (size_t)MILLIONS * 1000000;
    double start;
    link_start();
    type = TYPE_OPEN(star, fields);
    type_commit(type);
    s.n = (int64_t)count;
    s.all = malloc(count * sizeof *s.all);
    CHECK(s.all != NULL);
    for (i = 0; i < count; i++)
        s.all[i] = &one;
    root.address = &s;
    root.type = type;
    root.count = 1;
    lab_open_context(FLAT);
    start = now();
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_OK);
    CHECK(now() - start < 3 * PATIENCE);
    haul_plan_get_info(the.plan, &statistics);
    CHECK_EQ(statistics.pointers, count + 2);
    CHECK_EQ(statistics.graph_bytes, sizeof s + count * sizeof *s.all + sizeof one);
    CHECK(statistics.worklist_bytes < 100000);
    CHECK(statistics.bookkeeping_bytes < statistics.graph_bytes / BOOKKEEPING + 40000);
    free(s.all);
    lab_drop();
    haul_type_free(&type);
    link_end();
}

TEST(promises, a_large_array_of_pointers_is_visited_once_however_many_lead_to_it_G16)
{
    typedef struct star {
        int64_t n;
        list_node **all;
    } star;
    enum { COUNT = 3000, STARS = 5 };
    static const haul_field fields[] = { HAUL_POINTERS(star, all, &link_type,
                                                       HAUL_COUNT(star, n)) };
    haul_type *type;
    static list_node *all[COUNT];
    list_node one = { NULL, 5 };
    star stars[STARS];
    haul_root root;
    haul_plan_info statistics;
    size_t i;
    link_start();
    type = TYPE_OPEN(star, fields);
    type_commit(type);
    for (i = 0; i < COUNT; i++)
        all[i] = &one;
    for (i = 0; i < STARS; i++) {
        stars[i].n = COUNT;
        stars[i].all = all;
    }
    root.address = stars;
    root.type = type;
    root.count = STARS;
    lab_open_context(FLAT);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_OK);
    haul_plan_get_info(the.plan, &statistics);
    CHECK_EQ(statistics.pointers, COUNT + STARS + 1);
    CHECK_EQ(statistics.graph_bytes, sizeof stars + sizeof all + sizeof one);
    lab_drop();
    haul_type_free(&type);
    link_end();
}

/* ---- Addresses made to collide (G17). */

#ifdef HAUL_EMULATED /* there are few addresses */
#define COLLIDING 500
#else
#define COLLIDING (sizeof(void *) > 4 ? 10000 : 500)
#endif

TEST(promises, objects_at_addresses_equal_modulo_2_20_do_no_harm_to_the_hash_G17)
{
    size_t stride = (size_t)1 << 20, count = COLLIDING, i;
    unsigned char *base = mmap(NULL, (count + 1) * stride, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *first;
    uintptr_t wanted;
    haul_root root;
    int variant;
    CHECK(base != MAP_FAILED);
    wanted = ((uintptr_t)base + stride - 1) / stride * stride;
    first = base + (wanted - (uintptr_t)base);
    link_start();
    for (i = 0; i < count; i++) {
        list_node *l = (list_node *)(void *)(first + i * stride);
        l->next =
            i + 1 < count ? (list_node *)(void *)(first + ((i + 1) * 7919 % count) * stride) : NULL;
        l->value = (int64_t)i;
    }
    for (i = 0; i < count; i++) /* in an order of its own, each once */
        ((list_node *)(void *)(first + (i * 7919 % count) * stride))->next =
            i + 1 < count ? (list_node *)(void *)(first + ((i + 1) * 7919 % count) * stride) : NULL;
    root.address = first;
    root.type = link_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        double start = now();
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        haul_plan_get_info(the.plan, &the.statistics);
        CHECK_EQ(the.statistics.objects, count);
        CHECK_EQ(plan_bytes(the.plan),
                 GRANULE + count * ((sizeof(list_node) + GRANULE - 1) / GRANULE * GRANULE));
        the.bytes = plan_bytes(the.plan);
        the.bitmap_bytes = plan_bitmap_bytes(the.plan);
        pack_once(&the.arena, &the.bitmap, 0xAA, 0);
        for (i = 0; i < count; i++) {
            const list_node *l = (const list_node *)(const void *)(first + i * stride);
            CHECK_EQ(copied(&l->next), l->next ? offset_of(l->next) : 0);
        }
        CHECK(now() - start < 2 * PATIENCE);
    }
    link_end();
    munmap(base, (count + 1) * stride);
}

/* ---- The source is never written. */

TEST(promises, a_source_on_read_only_pages_packs_G23)
{
    thin *t = NULL;
    unsigned char *before;
    haul_root root;
    int i, variant;
    thin_start();
    for (i = 0; i < 100; i++)
        t = thin_make(t, "read only");
    before = world_picture(&the.w);
    CHECK(mprotect(the.memory, LAB_BYTES, PROT_READ) == 0);
    root.address = t;
    root.type = thin_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        the.bytes = plan_bytes(the.plan);
        the.bitmap_bytes = plan_bitmap_bytes(the.plan);
        pack_once(&the.arena, &the.bitmap, 0, 0);
        /* What has not changed is not written back either. */
        CHECK_STATUS(haul_plan_unpack(the.plan, the.arena, the.bytes, 0), HAUL_OK);
    }
    lab_check_untouched(before);
    CHECK(mprotect(the.memory, LAB_BYTES, PROT_READ | PROT_WRITE) == 0);
    thin_end();
}

/* ---- A graph of everything, at random places. */

TEST(promises, random_lists_with_strings_and_arrays_at_random_places_hold_all_of_this)
{
    random_source random = random_start("random lists at random places");
    int round, i;
    for (round = 0; round < 30; round++) {
        thin *all[40];
        char name[100];
        haul_root roots[40];
        thin_start();
        for (i = 0; i < 40; i++) {
            size_t length = random_below(&random, random_one_in(&random, 5) ? 99 : 9);
            the.used += random_below(&random, random_one_in(&random, 6) ? 2 * PAGE : 30);
            memset(name, 'n', length);
            name[length] = '\0';
            all[i] = thin_make(NULL, random_one_in(&random, 3) ? NULL : name);
        }
        for (i = 0; i < 39; i++)
            all[i]->next =
                all[random_one_in(&random, 3) ? random_below(&random, 40) : (size_t)i + 1];
        for (i = 0; i < 40; i++)
            if (all[i]->name && random_one_in(&random, 4))
                all[random_below(&random, 40)]->name =
                    all[i]->name + random_below(&random, strlen(all[i]->name) + 1);
        for (i = 0; i < 40; i++) {
            roots[i].address = all[i];
            roots[i].type = thin_type;
            roots[i].count = 1;
        }
        for (i = 0; i < LAB_BYTES; i++) /* a name that nobody points to any more is nobody's */
            if (the.what[i] == OF_DATA)
                the.what[i] = OF_NOBODY;
        for (i = 0; i < 40; i++) {
            if (all[i]->name)
                memset(the.what + lab_offset(all[i]->name), OF_DATA, strlen(all[i]->name) + 1);
            memset(the.what + lab_offset(all[i]), OF_DATA, sizeof(thin));
            points(&all[i]->next);
            points(&all[i]->name);
        }
        lab_pack_roots(roots, 40);
        thin_end();
    }
}

/* Plans: the place of each byte; statistics; packing again after contents have changed; STALE with
 * its path after a pointer or count has; and every allocation that fails, once and from then on.
 *
 * Faults by number (docs/testing.md): G22, G24, H1, H2, H5, H6, C6 (freed while in use), T16.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct item {
    struct item *next;
    char *name;
    double *values;
    struct item **links;
    int32_t value_count, link_count;
    int64_t extra;
} item;

static haul_type *item_type;

static void item_start(void)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(item, next, &item_type),
        HAUL_STRING(item, name),
        HAUL_ARRAY(item, values, HAUL_COUNT(item, value_count)),
        HAUL_POINTERS(item, links, &item_type, HAUL_COUNT(item, link_count)),
    };
    lab_start();
    item_type = TYPE_OPEN(item, fields);
    type_commit(item_type);
}

static void item_end(void)
{
    haul_type_free(&item_type);
    lab_end();
}

static item *item_make(item *next, const char *name, int32_t values, int32_t links)
{
    item *i = take(sizeof *i, sizeof(int64_t));
    int32_t l;
    points(&i->next);
    points(&i->name);
    points(&i->values);
    points(&i->links);
    i->next = next;
    i->value_count = values;
    i->link_count = links;
    if (name)
        i->name = text(name);
    if (values) {
        i->values = take((size_t)values * sizeof(double), sizeof(double));
        fill(i->values, (size_t)values * sizeof(double));
    }
    if (links) {
        i->links = take((size_t)links * sizeof *i->links, sizeof *i->links);
        for (l = 0; l < links; l++) {
            points(&i->links[l]);
            i->links[l] = l % 2 ? next : i;
        }
    }
    return i;
}

static item *items_make(int count)
{
    static const char *const names[] = { NULL, "", "item", "a longer name of an item" };
    item *first = NULL;
    int i;
    for (i = 0; i < count; i++)
        first = item_make(first, names[i % 4], i % 3, i % 5);
    return first;
}

static haul_status pack_again(void)
{
    memset(the.arena, 0x55, the.bytes);
    return haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap);
}

/* ---- Places. */

TEST(plan, every_byte_has_one_place_and_every_place_one_byte)
{
    item *i;
    size_t at, found = 0;
    void *address;
    item_start();
    i = items_make(20);
    lab_pack(i, item_type, 1);
    for (at = 0; at < the.bytes; at++) {
        size_t offset;
        if (haul_plan_address(the.plan, at, &address) != HAUL_OK) {
            CHECK_PTR(address, NULL);
            continue;
        }
        CHECK_STATUS(haul_plan_offset(the.plan, address, &offset), HAUL_OK);
        CHECK_EQ(offset, at);
        found += the.what[lab_offset(address)] != OF_NOBODY;
    }
    CHECK_EQ(found, the.statistics.graph_bytes);
    CHECK_STATUS(haul_plan_address(the.plan, 0, &address), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_address(the.plan, GRANULE - 1, &address), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_address(the.plan, the.bytes + 1, &address), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_address(the.plan, SIZE_MAX, &address), HAUL_ERROR_ARGUMENT);
    item_end();
}

TEST(plan, addresses_that_are_of_no_object_have_no_place)
{
    item *i;
    size_t offset = 77;
    int local;
    item_start();
    i = items_make(3);
    lab_pack(i, item_type, 1);
    CHECK_STATUS(haul_plan_offset(the.plan, NULL, &offset), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(offset, 0);
    CHECK_STATUS(haul_plan_offset(the.plan, (void *)(uintptr_t)1, &offset), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_offset(the.plan, (void *)UINTPTR_MAX, &offset), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_offset(the.plan, &local, &offset), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_offset(the.plan, the.memory + 4 * BLOCK, &offset), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_offset(NULL, i, &offset), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_offset(the.plan, i, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_address(the.plan, GRANULE, NULL), HAUL_ERROR_ARGUMENT);
    item_end();
}

TEST(plan, of_nothing_answers_nothing)
{
    haul_plan_info statistics;
    unsigned char byte[64];
    uint64_t bits[1];
    void *address = byte;
    CHECK_EQ(plan_bytes(NULL), 0);
    CHECK_EQ(plan_bitmap_bytes(NULL), 0);
    CHECK_EQ(plan_alignment(NULL), 0);
    memset(&statistics, 1, sizeof statistics);
    haul_plan_get_info(NULL, &statistics);
    CHECK_EQ(statistics.objects, 0);
    haul_plan_get_info(NULL, NULL);
    CHECK_STATUS(haul_plan_address(NULL, 16, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_address(NULL, 16, &address), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(address, NULL);
    CHECK_STATUS(haul_plan_pack(NULL, byte, 64, 0, bits), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_unpack(NULL, byte, 64, 0), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_relocate(NULL, 64, bits, 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_relocate(byte, 64, NULL, 1), HAUL_ERROR_ARGUMENT);
}

/* ---- Statistics. */

TEST(plan, statistics_are_exact_on_a_known_graph)
{
    item *c, *b, *a;
    item_start();
    c = item_make(NULL, "c", 0, 0);
    b = item_make(c, "bb", 3, 2);
    a = item_make(b, NULL, 1, 0);
    lab_pack(a, item_type, 1);
    CHECK_EQ(the.statistics.objects, 3 + 2 + 2 + 1);
    CHECK_EQ(the.statistics.pointers, 3 * 4 + 2);
    CHECK_EQ(the.statistics.null_pointers, 3 + 0 + 2);
    CHECK_EQ(the.statistics.graph_bytes,
             3 * sizeof(item) + 2 + 3 + 4 * sizeof(double) + 2 * sizeof(void *));
    CHECK_EQ(the.statistics.arena_bytes, the.bytes);
    CHECK_EQ(the.statistics.bitmap_bytes, (the.bytes / WORD + 63) / 64 * 8);
    CHECK(the.statistics.arena_bytes < the.statistics.graph_bytes + 10 * GRANULE);
    CHECK(the.statistics.discover_seconds >= 0 && the.statistics.layout_seconds >= 0);
    item_end();
}

TEST(plan, null_pointers_are_counted_anew_at_each_pack)
{
    item *a;
    item_start();
    a = item_make(item_make(NULL, "x", 0, 0), NULL, 0, 0);
    lab_pack(a, item_type, 1);
    CHECK_EQ(the.statistics.null_pointers, 3 + 3);
    CHECK_STATUS(pack_again(), HAUL_OK);
    haul_plan_get_info(the.plan, &the.statistics);
    CHECK_EQ(the.statistics.null_pointers, 3 + 3);
    item_end();
}

/* 7 per cent where pointers have 4 bytes: a cell there stands for half as much. */
TEST(plan, bookkeeping_of_100000_nodes_is_at_most_four_per_cent)
{
    typedef struct node {
        struct node *next;
        char rest[128 - sizeof(void *)];
    } node;
    enum { NODES = 100000 };
    static haul_type *node_type;
    static const haul_field fields[] = { HAUL_OBJECT(node, next, &node_type) };
    node *all;
    void *memory;
    haul_root root;
    size_t i, at;
    int variant;
    lab_start();
    node_type = TYPE_OPEN(node, fields);
    type_commit(node_type);
    CHECK(posix_memalign(&memory, BLOCK, NODES * sizeof *all) == 0);
    all = memset(memory, 0, NODES * sizeof *all);
    for (i = 0, at = 0; i + 1 < NODES; i++, at = (at + 7919) % NODES)
        all[at].next = &all[(at + 7919) % NODES];
    root.address = all;
    root.type = node_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant += FLAT) {
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        haul_plan_get_info(the.plan, &the.statistics);
        CHECK_EQ(the.statistics.objects, NODES);
        CHECK_EQ(the.statistics.graph_bytes, NODES * sizeof(node));
        CHECK_EQ(the.statistics.arena_bytes, NODES * sizeof(node) + GRANULE);
        CHECK(the.statistics.bookkeeping_bytes <= NODES * sizeof(node) / BOOKKEEPING);
        /* that is all there is */
        CHECK(the.doors.host_bytes <= NODES * sizeof(node) / BOOKKEEPING + 10000 + TEAM_BYTES);
    }
    lab_drop();
    free(all);
    haul_type_free(&node_type);
    lab_end();
}

/* ---- Packing. */

TEST(plan, an_arena_too_small_or_none_is_refused_and_left_alone)
{
    item *a;
    unsigned char *arena;
    item_start();
    a = items_make(5);
    lab_pack(a, item_type, 1);
    arena = lab_arena(the.bytes, GRANULE, 0x42);
    CHECK_STATUS(haul_plan_pack(the.plan, arena, the.bytes - 1, 0, the.bitmap),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "are needed");
    CHECK_STATUS(haul_plan_pack(the.plan, arena, 0, 0, the.bitmap), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_pack(the.plan, NULL, the.bytes, 0, the.bitmap), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_pack(the.plan, arena, the.bytes, 0, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(arena[0], 0x42);
    CHECK_EQ(arena[the.bytes - 1], 0x42);
    CHECK_STATUS(haul_plan_unpack(the.plan, arena, the.bytes - 1, 0), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_unpack(the.plan, NULL, the.bytes, 0), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_pack(the.plan, arena, the.bytes, 0, the.bitmap), HAUL_OK);
    CHECK_BYTES(arena, the.arena, the.bytes);
    free(arena);
    item_end();
}

TEST(plan, pack_writes_no_byte_beyond_arena_and_bitmap)
{
    item *a;
    unsigned char *arena, *bitmap;
    size_t i;
    item_start();
    a = items_make(30);
    lab_pack(a, item_type, 1);
    arena = lab_arena(the.bytes + 64, GRANULE, 0x42);
    bitmap = lab_arena(the.bitmap_bytes + 64, 8, 0x42);
    CHECK_STATUS(haul_plan_pack(the.plan, arena, the.bytes + 64, 0, (uint64_t *)(void *)bitmap),
                 HAUL_OK);
    for (i = 0; i < 64; i++)
        CHECK(arena[the.bytes + i] == 0x42 && bitmap[the.bitmap_bytes + i] == 0x42);
    free(arena);
    free(bitmap);
    item_end();
}

TEST(plan, an_arena_or_bitmap_that_overlaps_the_source_is_refused_G24)
{
    item *a;
    unsigned char *before;
    size_t bytes;
    item_start();
    the.used = 4 * BLOCK;
    a = items_make(5);
    lab_pack(a, item_type, 1);
    before = world_picture(&the.w);
    bytes = the.bytes;
    CHECK_STATUS(haul_plan_pack(the.plan, the.memory + 4 * BLOCK, bytes, 0, the.bitmap),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "overlaps the source");
    CHECK_STATUS(
        haul_plan_pack(the.plan, the.memory + 4 * BLOCK - bytes + GRANULE, bytes, 0, the.bitmap),
        HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(
        haul_plan_pack(the.plan, the.arena, bytes, 0, (uint64_t *)(void *)(the.memory + 4 * BLOCK)),
        HAUL_ERROR_ARGUMENT);
    lab_check_untouched(before);
    CHECK_STATUS(haul_plan_pack(the.plan, the.memory + 4 * BLOCK - bytes / GRANULE * GRANULE, bytes,
                                0, the.bitmap),
                 HAUL_OK);
    CHECK_BYTES(the.memory + 4 * BLOCK - bytes, the.arena, bytes);
    item_end();
}

TEST(plan, pointers_hold_where_the_arena_stands_when_it_is_packed_with_its_own_base)
{
    item *a, *there, *here;
    unsigned char *arena;
    int i = 0;
    item_start();
    a = items_make(40);
    lab_pack(a, item_type, 1);
    arena = lab_arena(the.bytes, plan_alignment(the.plan), 0);
    CHECK_STATUS(haul_plan_pack(the.plan, arena, the.bytes, (uint64_t)(uintptr_t)arena, NULL),
                 HAUL_OK);
    CHECK_STATUS(haul_plan_relocate(the.arena, the.bytes, the.bitmap, (uint64_t)(uintptr_t)arena),
                 HAUL_OK);
    CHECK_BYTES(arena, the.arena, the.bytes);
    there = (item *)(void *)(arena + offset_of(a));
    for (here = a; here; here = here->next, there = there->next, i++) {
        CHECK(there && there != here);
        CHECK_STR(there->name, here->name);
        CHECK_EQ(there->value_count, here->value_count);
        if (here->value_count)
            CHECK_BYTES(there->values, here->values, (size_t)here->value_count * sizeof(double));
        if (here->link_count)
            CHECK_PTR(there->links[0], there);
    }
    CHECK_PTR(there, NULL);
    CHECK_EQ(i, 40);
    free(arena);
    item_end();
}

TEST(plan, relocate_patches_marked_words_only_and_ignores_bits_beyond_the_end)
{
    uintptr_t words[70];
    uint64_t bitmap[2] = { 0, 0 };
    size_t i;
    for (i = 0; i < 70; i++)
        words[i] = i;
    bitmap[0] = (uint64_t)1 << 3 | (uint64_t)1 << 63;
    bitmap[1] = (uint64_t)1 << 1 | (uint64_t)1 << 5;
    CHECK_STATUS(haul_plan_relocate(words, 68 * sizeof *words, bitmap, 1000), HAUL_OK);
    for (i = 0; i < 70; i++)
        CHECK_EQ(words[i], i == 3 || i == 63 || i == 65 ? i + 1000 : i);
}

TEST(plan, a_plan_is_good_for_contents_that_have_changed_since)
{
    item *a, *i;
    item_start();
    a = items_make(20);
    lab_pack(a, item_type, 1);
    for (i = a; i; i = i->next) {
        i->extra = 4711;
        if (i->value_count)
            i->values[0] = 0.5;
        if (i->name && i->name[0])
            i->name[0] = 'X';
    }
    CHECK_STATUS(pack_again(), HAUL_OK);
    check_places();
    check_unpack();
    item_end();
}

TEST(plan, unpack_after_pack_brings_back_what_was_packed)
{
    item *a;
    unsigned char *before;
    size_t at;
    item_start();
    a = items_make(20);
    lab_pack(a, item_type, 1);
    before = world_picture(&the.w);
    for (at = 0; at < LAB_BYTES; at++)
        if (the.what[at] == OF_DATA)
            the.memory[at] ^= 0x5A;
    CHECK_STATUS(haul_plan_unpack(the.plan, the.arena, the.bytes, 0), HAUL_OK);
    lab_check_untouched(before);
    item_end();
}

/* ---- Stale. */

static haul_status answered;

static void pack_stale(void *user)
{
    (void)user;
    answered = pack_again();
}

/* Finding the path reads no more than packing does. */
static void check_stale(const char *path, const char *part)
{
    unsigned char *before = world_picture(&the.w);
    const haul_error *error = haul_context_error(the.context);
    int faulted;
    lab_lock(PROT_READ);
    faulted = check_faults(pack_stale, NULL);
    lab_unlock();
    CHECK_EQ(faulted, 0);
    CHECK_STATUS(answered, HAUL_ERROR_STALE);
    CHECK_EQ(error->status, HAUL_ERROR_STALE);
    CHECK_STR(error->path, path);
    CHECK_HAS(error->text, part);
    lab_check_untouched(before);
}

TEST(plan, is_stale_when_a_count_has_changed_and_good_again_when_it_is_put_back)
{
    item *a;
    item_start();
    a = item_make(item_make(item_make(NULL, "n", 4, 0), "m", 2, 2), "l", 0, 0);
    lab_pack(a, item_type, 1);
    a->next->value_count = 1;
    check_stale("root.next.values", "count");
    a->next->value_count = 2;
    CHECK_STATUS(pack_again(), HAUL_OK);
    a->next->link_count = 0;
    check_stale("root.next.links", "count");
    a->next->link_count = 2;
    a->next->next->value_count = -1;
    check_stale("root.next.next.values", "count");
    a->next->next->value_count = 4;
    CHECK_STATUS(pack_again(), HAUL_OK);
    item_end();
}

TEST(plan, is_stale_when_a_count_has_changed_before_the_first_pack)
{
    item *a;
    haul_root root;
    int variant;
    item_start();
    a = item_make(item_make(NULL, "n", 4, 0), "m", 2, 2);
    root.address = a;
    root.type = item_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        the.bytes = plan_bytes(the.plan);
        the.bitmap_bytes = plan_bitmap_bytes(the.plan);
        the.arena = lab_arena(the.bytes, 64, 0);
        the.bitmap = lab_arena(the.bitmap_bytes, 8, 0);
        a->next->value_count = 3;
        check_stale("root.next.values", "count");
        a->next->value_count = 4;
        CHECK_STATUS(pack_again(), HAUL_OK);
    }
    item_end();
}

TEST(plan, is_stale_when_a_string_has_lost_its_end_with_its_path)
{
    item *a;
    char *end;
    item_start();
    a = item_make(item_make(item_make(NULL, "one", 0, 0), "a second", 0, 0), "last", 0, 0);
    lab_pack(a, item_type, 1);
    end = a->next->name + strlen(a->next->name);
    *end = '!';
    check_stale("root.next.name", "terminator");
    *end = '\0';
    CHECK_STATUS(pack_again(), HAUL_OK);
    item_end();
}

/* Whole blocks are copied at once: the terminator is the last byte of one. */
TEST(plan, is_stale_when_a_string_that_fills_blocks_has_lost_its_end)
{
    const size_t bytes = 2 * BLOCK;
    char *name;
    item *a;
    item_start();
    a = item_make(NULL, NULL, 0, 0);
    a->name = name = take(bytes, BLOCK);
    memset(name, 'a', bytes - 1);
    name[bytes - 1] = '\0';
    lab_pack(a, item_type, 1);
    name[bytes - 1] = '!';
    check_stale("root.name", "terminator");
    name[bytes - 1] = '\0';
    CHECK_STATUS(pack_again(), HAUL_OK);
    item_end();
}

TEST(plan, is_not_stale_when_a_string_has_become_shorter)
{
    item *a;
    item_start();
    a = item_make(NULL, "shorter", 0, 0);
    lab_pack(a, item_type, 1);
    a->name[3] = '\0';
    CHECK_STATUS(pack_again(), HAUL_OK);
    CHECK_BYTES(the.arena + offset_of(a->name), a->name, 8);
    item_end();
}

typedef struct ends {
    int32_t *numbers;
    char *told;
    struct ends *next;
} ends;

static int64_t told_count;

static int64_t tell(const haul_here *here)
{
    (void)here;
    return told_count;
}

TEST(plan, is_stale_when_a_sentinel_has_gone_or_a_callback_answers_otherwise_with_its_path)
{
    static haul_type *ends_type;
    static const haul_field fields[] = { HAUL_ARRAY(ends, numbers, HAUL_TERMINATED_BY(-1)),
                                         HAUL_ARRAY(ends, told, HAUL_COUNT_FN(tell)),
                                         HAUL_OBJECT(ends, next, &ends_type) };
    ends *e, *f;
    lab_start();
    ends_type = TYPE_OPEN(ends, fields);
    type_commit(ends_type);
    e = take(2 * sizeof *e, sizeof(void *));
    f = e + 1;
    memset(the.what + lab_offset(e), OF_POINTER, 2 * sizeof *e);
    e->next = f;
    f->numbers = take(4 * sizeof(int32_t), sizeof(int32_t));
    f->numbers[3] = -1;
    f->told = take(5, 1);
    told_count = 5;
    lab_pack(e, ends_type, 1);
    f->numbers[3] = 1;
    check_stale("root.next.numbers", "terminator");
    f->numbers[3] = -1;
    CHECK_STATUS(pack_again(), HAUL_OK);
    told_count = 4;
    check_stale("root.next.told", "callback");
    told_count = 5;
    CHECK_STATUS(pack_again(), HAUL_OK);
    haul_type_free(&ends_type);
    lab_end();
}

/* Several things have changed at once: the way to the one is not looked for through the other. */
TEST(plan, is_stale_and_reads_nothing_new_when_many_counts_and_pointers_have_changed)
{
    item *a, *i;
    int round;
    for (round = 0; round < 3; round++) {
        item_start();
        a = items_make(15);
        lab_pack(a, item_type, 1);
        for (i = a; i; i = i->next) {
            if (round == 0)
                i->link_count += 100000;
            if (round == 1 && i->link_count)
                i->links[0] = (item *)(void *)(the.memory + 7 * BLOCK);
            if (round == 2)
                i->value_count += 1000;
        }
        answered = HAUL_OK;
        {
            int faulted;
            lab_lock(PROT_READ);
            faulted = check_faults(pack_stale, NULL);
            lab_unlock();
            CHECK_EQ(faulted, 0);
        }
        CHECK_STATUS(answered, HAUL_ERROR_STALE);
        CHECK_HAS(haul_context_error(the.context)->path, "root");
        item_end();
    }
}

TEST(plan, is_stale_and_reads_nothing_new_when_a_string_at_the_end_of_a_page_has_lost_its_end)
{
    item *a;
    item_start();
    a = item_make(item_make(NULL, NULL, 0, 0), "first", 0, 0);
    a->next->name = take_at_page_end(10);
    memset(a->next->name, 'x', 9);
    lab_pack(a, item_type, 1);
    a->next->name[9] = 'x';
    check_stale("root.next.name", "terminator");
    a->next->name[9] = '\0';
    CHECK_STATUS(pack_again(), HAUL_OK);
    item_end();
}

TEST(plan, is_stale_when_a_pointer_leads_out_of_the_graph_before_the_first_pack_too)
{
    item *a, *outside;
    haul_root root;
    int variant;
    item_start();
    a = item_make(item_make(NULL, "n", 0, 3), "m", 2, 0);
    the.used += 100; /* not one past a range */
    outside = item_make(NULL, NULL, 0, 0);
    root.address = a;
    root.type = item_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        item *good = a->next->links[2];
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        the.bytes = plan_bytes(the.plan);
        the.bitmap_bytes = plan_bitmap_bytes(the.plan);
        the.arena = lab_arena(the.bytes, 64, 0);
        the.bitmap = lab_arena(the.bitmap_bytes, 8, 0);
        a->next->links[2] = outside;
        check_stale("root.next.links[2]", "pointer");
        a->next->links[2] = good;
        CHECK_STATUS(pack_again(), HAUL_OK);
        outside->next = a->next->next;
        a->next->next = outside;
        check_stale("root.next.next", "pointer");
        a->next->next = NULL;
        CHECK_STATUS(pack_again(), HAUL_OK);
    }
    item_end();
}

TEST(plan, is_stale_when_a_pointer_has_changed_within_the_graph_since_the_first_pack)
{
    item *a, *b;
    item_start();
    b = item_make(NULL, "b", 0, 0);
    a = item_make(b, "a", 0, 0);
    b->next = a;
    lab_pack(a, item_type, 1);
    b->next = b;
    CHECK_STATUS(pack_again(), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(the.context)->path, "root");
    b->next = NULL;
    CHECK_STATUS(pack_again(), HAUL_ERROR_STALE);
    b->next = a;
    CHECK_STATUS(pack_again(), HAUL_OK);
    item_end();
}

TEST(plan, is_stale_when_two_pointers_have_changed_places)
{
    item *a, *b;
    char *name;
    item_start();
    b = item_make(NULL, "bb", 0, 0);
    a = item_make(b, "aa", 0, 0);
    lab_pack(a, item_type, 1);
    name = a->name;
    a->name = b->name;
    b->name = name;
    CHECK_STATUS(pack_again(), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(the.context)->path, "root"); /* of one in the same 64 KiB */
    b->name = a->name;
    a->name = name;
    CHECK_STATUS(pack_again(), HAUL_OK);
    item_end();
}

TEST(plan, is_stale_when_a_pointer_off_the_grid_has_changed)
{
    static haul_type *wedge_type;
    static const haul_field fields[] = { { .name = "next",
                                           .kind = HAUL_FIELD_POINTER,
                                           .offset = 1,
                                           .bytes = sizeof(void *),
                                           .element_bytes = sizeof(void *) + 1,
                                           .target = &wedge_type,
                                           .packed = 1 } };
    unsigned char *a, *b;
    void *pointer;
    lab_start();
    wedge_type = type_open("wedge", sizeof(void *) + 1, fields, 1);
    type_commit(wedge_type);
    the.has_own_checks = 1;
    a = take(sizeof(void *) + 1, 1);
    b = take(sizeof(void *) + 1, 1);
    points(a + 1);
    points(b + 1);
    memcpy(a + 1, &b, sizeof b);
    lab_pack(a, wedge_type, 1);
    pointer = a;
    memcpy(a + 1, &pointer, sizeof pointer);
    check_stale("root.next", "pointer");
    memcpy(a + 1, &b, sizeof b);
    memcpy(b + 1, &pointer, sizeof pointer);
    check_stale("root.next.next", "pointer");
    pointer = NULL;
    memcpy(b + 1, &pointer, sizeof pointer);
    CHECK_STATUS(pack_again(), HAUL_OK);
    haul_type_free(&wedge_type);
    lab_end();
}

/* ---- Lives. */

TEST(plan, several_plans_live_on_one_context_and_outlive_it_C6)
{
    haul_root root;
    haul_plan *plans[4];
    item *a;
    unsigned char *arena;
    uint64_t *bitmap;
    size_t offset;
    int i, variant;
    item_start();
    a = items_make(12);
    root.address = a;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        root.type = item_type;
        lab_pack(a, item_type, 1);
        haul_plan_free(&the.plan);
        haul_context_free(&the.context);
        lab_open_context(variant);
        for (i = 0; i < 4; i++)
            CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plans[i]),
                         HAUL_OK);
        CHECK_STATUS(haul_context_trim(the.context), HAUL_OK);
        haul_plan_free(&plans[1]);
        CHECK_PTR(plans[1], NULL);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plans[1]),
                     HAUL_OK);
        haul_context_free(&the.context);
        haul_type_free(&item_type);
        for (i = 0; i < 4; i++) {
            arena = lab_arena(the.bytes, GRANULE, 0);
            bitmap = lab_arena(the.bitmap_bytes, 8, 0);
            CHECK_STATUS(haul_plan_pack(plans[i], arena, the.bytes, 0, bitmap), HAUL_OK);
            CHECK_BYTES(arena, the.arena, the.bytes);
            CHECK_STATUS(haul_plan_offset(plans[i], a, &offset), HAUL_OK);
            free(arena);
            free(bitmap);
            haul_plan_free(&plans[i]);
        }
        free(the.arena);
        free(the.bitmap);
        the.arena = NULL;
        the.bitmap = NULL;
        fault_check_clean(&the.doors);
        item_end();
        item_start();
        a = items_make(12);
        root.address = a;
    }
    item_end();
}

TEST(plan, a_context_is_as_good_after_trim_and_after_a_failure)
{
    haul_root root;
    item *a;
    uint64_t blocks;
    int variant;
    item_start();
    a = items_make(12);
    root.address = a;
    root.type = item_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        lab_open_context(variant);
        blocks = the.doors.host_blocks;
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        haul_plan_free(&the.plan);
        a->value_count = -1;
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_ERROR_GRAPH);
        a->value_count = 11 % 3;
        CHECK_STATUS(haul_context_trim(the.context), HAUL_OK);
        CHECK_EQ(the.doors.host_blocks, blocks);
        CHECK_EQ(the.doors.reserved_blocks, 0);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        CHECK_EQ(haul_context_error(the.context)->status, HAUL_OK);
    }
    CHECK_STATUS(haul_context_trim(NULL), HAUL_ERROR_ARGUMENT);
    item_end();
}

TEST(plan, a_warm_context_plans_another_graph_as_a_fresh_one_does)
{
    unsigned char *fresh;
    size_t bytes;
    item *a, *b;
    haul_root root;
    int variant;
    item_start();
    a = items_make(30);
    the.used += 3 * PAGE;
    b = items_make(7);
    root.type = item_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        int round;
        fresh = NULL;
        bytes = 0;
        lab_drop();
        lab_open_context(variant);
        for (round = 0; round < 5; round++) {
            root.address = round % 2 ? a : b;
            CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                         HAUL_OK);
            the.bytes = plan_bytes(the.plan);
            the.bitmap_bytes = plan_bitmap_bytes(the.plan);
            pack_once(&the.arena, &the.bitmap, 0x3C, 0);
            if (round == 0) {
                bytes = the.bytes;
                fresh = lab_arena(bytes, GRANULE, 0);
                memcpy(fresh, the.arena, bytes);
            } else if (round % 2 == 0) {
                CHECK_EQ(the.bytes, bytes);
                CHECK_BYTES(the.arena, fresh, bytes);
            }
            haul_plan_free(&the.plan);
            free(the.arena);
            free(the.bitmap);
            the.arena = NULL;
            the.bitmap = NULL;
        }
        free(fresh);
    }
    item_end();
}

static void *crooked_allocate(void *user, size_t bytes, size_t alignment)
{
    char *memory = NULL;
    void *all = NULL;
    (void)user;
    (void)alignment;
    if (posix_memalign(&all, 64, bytes + 64) == 0)
        memory = (char *)all + 1;
    return memory;
}

static void crooked_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free((char *)memory - 1);
}

TEST(plan, an_allocator_that_is_incomplete_or_gives_misaligned_memory_is_refused_H5)
{
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof options);
    options.allocate = crooked_allocate;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(context, NULL);
    options.release = crooked_release;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_ERROR_MEMORY);
    CHECK_PTR(context, NULL);
    CHECK_STATUS(haul_context_create(NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_EQ(haul_context_error(context)->status, HAUL_OK);
    haul_context_free(&context);
    CHECK_PTR(context, NULL);
    haul_context_free(&context);
    haul_context_free(NULL);
    CHECK_EQ(haul_context_error(NULL)->status, HAUL_ERROR_ARGUMENT);
}

/* ---- Every allocation fails, once and from then on (H1, H2). */

/* Everything that takes memory: strings, odd sizes, arrays of objects and pointers, alignment,
 * holes, off-grid pointers, callbacks, sentinels, large extents, pointers to nothing, more than one
 * block. */
typedef struct kitchen {
    struct kitchen *next;
    item *items;
    char **names;
    void *board; /* aligned to 256 */
    unsigned char *wedges;
    int32_t *numbers;
    char *told, *large, *nothing;
    char cache[40];
    int32_t item_count, name_count, none;
} kitchen;

static haul_type *kitchen_type, *board_type, *bent_type;
static kitchen *sink;
static int kitchen_variant;
static int broken; /* what is wrong with the graph: 0 nothing, 1 a count, 2 a conflict */
static unsigned char *kitchen_before;

static kitchen *kitchen_make(kitchen *next)
{
    kitchen *k = take(sizeof *k, sizeof(double));
    int i;
    k->next = next;
    k->item_count = 3;
    k->items = take(3 * sizeof(item), sizeof(double));
    for (i = 0; i < 3; i++) {
        k->items[i].name = text("of an item");
        k->items[i].next = &k->items[2 - i];
    }
    k->name_count = 5;
    k->names = take(5 * sizeof(char *), sizeof(char *));
    for (i = 0; i < 4; i++)
        k->names[i] = text("kitchen name");
    k->board = take(256, 256);
    k->wedges = take(sizeof(void *) + 1, 1);
    memcpy(k->wedges + 1, &k->names[0], sizeof(char *));
    k->numbers = take(16, 4);
    k->numbers[3] = -1;
    told_count = 9;
    k->told = take(9, 1);
    k->large = take(3 * PAGE, 1);
    k->nothing = (char *)(uintptr_t)4096;
    the.used += 20000;
    return k;
}

static void kitchen_prepare(void *user, fault_plan *plan)
{
    static const haul_field bent_fields[] = { { .name = "text",
                                                .kind = HAUL_FIELD_POINTER,
                                                .offset = 1,
                                                .bytes = sizeof(void *),
                                                .element_bytes = 1,
                                                .count = HAUL_TERMINATED,
                                                .packed = 1 } };
    static const haul_field fields[] = {
        HAUL_OBJECT(kitchen, next, &kitchen_type),
        HAUL_OBJECTS(kitchen, items, &item_type, HAUL_COUNT(kitchen, item_count)),
        HAUL_STRINGS(kitchen, names, HAUL_COUNT(kitchen, name_count)),
        HAUL_ADDRESS(kitchen, board, .target = &board_type),
        HAUL_ADDRESS(kitchen, wedges, .target = &bent_type),
        HAUL_ARRAY(kitchen, numbers, HAUL_TERMINATED_BY(-1)),
        HAUL_ARRAY(kitchen, told, HAUL_COUNT_FN(tell)),
        HAUL_ARRAY(kitchen, large, HAUL_FIXED(3 * PAGE)),
        HAUL_ARRAY(kitchen, nothing, HAUL_COUNT(kitchen, none)),
        HAUL_SKIP(kitchen, cache),
    };
    haul_context_options options;
    (void)user;
    item_start();
    board_type = type_new(&(const haul_struct){ .name = "board", .bytes = 256, .alignment = 256 });
    bent_type = type_open("bent", sizeof(void *) + 1, bent_fields, 1);
    kitchen_type = TYPE_OPEN(kitchen, fields);
    type_commit(kitchen_type);
    sink = kitchen_make(kitchen_make(NULL));
    if (broken == 1)
        sink->next->item_count = -1;
    if (broken == 2)
        sink->next->told = (char *)&sink->next->names[1];
    kitchen_before = world_picture(&the.w);
    plan->no_reserve = !(kitchen_variant & FLAT);
    memset(&options, 0, sizeof options);
    options.checked = kitchen_variant & CHECKED;
    CHECK_STATUS(fault_open_context(plan, &options, &the.context), HAUL_OK);
}

static haul_status kitchen_run(void *user)
{
    haul_root root;
    (void)user;
    root.address = sink;
    root.type = kitchen_type;
    root.count = 1;
    return haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan);
}

static void kitchen_check(void *user, haul_status status)
{
    const haul_error *error = haul_context_error(the.context);
    (void)user;
    CHECK_EQ(error->status, status);
    CHECK((the.plan != NULL) == (status == HAUL_OK));
    CHECK(status == HAUL_OK || error->text[0] != '\0');
    CHECK(memcmp(the.memory, kitchen_before, LAB_BYTES) == 0);
}

static void kitchen_undo(void *user)
{
    (void)user;
    haul_plan_free(&the.plan);
}

static void kitchen_finish(void *user)
{
    (void)user;
    haul_plan_free(&the.plan);
    haul_context_free(&the.context);
    free(kitchen_before);
    haul_type_free(&kitchen_type);
    haul_type_free(&bent_type);
    haul_type_free(&board_type);
    item_end();
}

static fault_operation kitchen_operation(void)
{
    fault_operation operation = { .prepare = kitchen_prepare,
                                  .run = kitchen_run,
                                  .check = kitchen_check,
                                  .undo = kitchen_undo,
                                  .finish = kitchen_finish,
                                  .modes = FAULT_MEMORY };
    return operation;
}

TEST(plan, every_allocation_of_planning_fails_once_and_from_then_on_H1_H2_H6)
{
    broken = 0;
    for (kitchen_variant = 0; kitchen_variant < VARIANTS; kitchen_variant++) {
        fault_operation operation = kitchen_operation();
        CHECK(fault_everywhere(&operation) > 30);
    }
}

/* The answer is the graph's fault, unless memory failed first; a path that could not be found is
 * left out. */
TEST(plan, a_failing_allocation_never_hides_that_the_graph_is_wrong_or_leaks_on_that_way)
{
    for (broken = 1; broken <= 2; broken++)
        for (kitchen_variant = 0; kitchen_variant < VARIANTS; kitchen_variant++) {
            unsigned mode;
            for (mode = FAULT_ONCE; mode <= FAULT_FROM; mode++) {
                uint64_t at;
                int happened = 1;
                for (at = 1; happened; at++) {
                    fault_plan plan;
                    haul_status status;
                    memset(&plan, 0, sizeof plan);
                    kitchen_prepare(NULL, &plan);
                    fault_arm(&plan, (fault_mode)mode, at);
                    check_note("broken %d, variant %d, mode %u, event %u", broken, kitchen_variant,
                               mode, (unsigned)at);
                    status = kitchen_run(NULL);
                    happened = plan.events >= at;
                    CHECK(status == HAUL_ERROR_GRAPH ||
                          (status == HAUL_ERROR_MEMORY && plan.fired));
                    kitchen_check(NULL, status);
                    if (!happened)
                        CHECK_STR(haul_context_error(the.context)->path,
                                  broken == 1 ? "root.next.items" : "root.next.told");
                    fault_disarm(&plan);
                    CHECK_STATUS(kitchen_run(NULL), HAUL_ERROR_GRAPH);
                    kitchen_finish(NULL);
                    fault_check_clean(&plan);
                    check_note(NULL);
                }
            }
        }
    broken = 0;
}

TEST(plan, packing_and_unpacking_take_no_memory)
{
    fault_plan plan;
    uint64_t events;
    broken = 0;
    memset(&plan, 0, sizeof plan);
    kitchen_variant = FLAT;
    kitchen_prepare(NULL, &plan);
    CHECK_STATUS(kitchen_run(NULL), HAUL_OK);
    the.bytes = plan_bytes(the.plan);
    the.arena = lab_arena(the.bytes, plan_alignment(the.plan), 0);
    the.bitmap = lab_arena(plan_bitmap_bytes(the.plan), 8, 0);
    events = plan.events;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
    CHECK_STATUS(haul_plan_unpack(the.plan, the.arena, the.bytes, 0), HAUL_OK);
    CHECK_EQ(plan.events, events);
    kitchen_finish(NULL);
    fault_check_clean(&plan);
}

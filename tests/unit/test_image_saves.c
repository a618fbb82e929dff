/* However a graph is saved, its image has the same bytes: packed straight from the source, or by an
 * ordered plan; by one thread or several; to a function, to memory, or to a file.
 *
 * The image of an ordered plan is the reference: other code puts clusters in order for it. A graph
 * with more than objects that lie apart (pointers into the middle, skipped bytes) is saved that way
 * in any case.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/image_bytes.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/doors.h"
#include "support/random.h"

typedef struct item item;
typedef struct pair {
    item *left;
    uint16_t numbers[5];
    item *right;
} pair;
struct item {
    item *a, *b;
    char *name;
    double *xyz;
    item **list;
    pair *pairs;
    uint32_t count, listed, paired;
    float skipped;
};

/* An item, of which only the first two pointers lead on. */
typedef struct holed {
    struct holed *a, *b;
    char *rest[4];
    uint32_t counts[3];
    float skipped;
} holed;

typedef struct chain {
    struct chain *next;
    uint64_t number;
} chain;

static haul_type *item_type, *pair_type, *holed_type, *chain_type;
static const haul_field item_fields[] = {
    HAUL_OBJECT(item, a, &item_type),
    HAUL_OBJECT(item, b, &item_type),
    HAUL_STRING(item, name),
    HAUL_ARRAY(item, xyz, HAUL_COUNT(item, count)),
    HAUL_POINTERS(item, list, &item_type, HAUL_COUNT(item, listed)),
    HAUL_OBJECTS(item, pairs, &pair_type, HAUL_COUNT(item, paired)),
};
static const haul_field pair_fields[] = {
    HAUL_OBJECT(pair, left, &item_type),
    HAUL_OBJECT(pair, right, &item_type),
};
static const haul_field holed_fields[] = {
    HAUL_OBJECT(holed, a, &holed_type),
    HAUL_OBJECT(holed, b, &holed_type),
    HAUL_SKIP(holed, skipped),
};
static const haul_field chain_fields[] = { HAUL_OBJECT(chain, next, &chain_type) };
static const haul_struct structs[] = {
    HAUL_STRUCT(item, &item_type, item_fields),
    HAUL_STRUCT(pair, &pair_type, pair_fields),
    HAUL_STRUCT(holed, &holed_type, holed_fields),
    HAUL_STRUCT(chain, &chain_type, chain_fields),
};

/* ---- A graph of chance. */

enum { ITEMS = 300, PARTS = 4 * ITEMS };

/* What a graph has beside items that lead to one another. */
enum {
    STRINGS = 1,
    ARRAYS = 2,
    POINTERS = 4,
    PAIRS = 8,
    LARGE = 16,  /* arrays of some pieces of an image */
    SHARED = 32, /* arrays and strings with two pointers to them */
    WITHIN = 64, /* pointers into the middle of them */
    ALL = 128
};

typedef struct graph {
    item *items[ITEMS];
    void *parts[PARTS];
    size_t part_count;
    haul_root roots[3];
    size_t root_count;
} graph;

static void *part(graph *g, size_t bytes)
{
    void *made = calloc(1, bytes);
    CHECK(made != NULL && g->part_count < PARTS);
    return g->parts[g->part_count++] = made;
}

static item *any(const graph *g, random_source *random)
{
    return random_one_in(random, 4) ? NULL : g->items[random_below(random, ITEMS)];
}

static void add_string(graph *g, item *at, random_source *random)
{
    const size_t bytes = random_below(random, 80);
    at->name = part(g, bytes + 1);
    memset(at->name, 'a' + (int)random_below(random, 26), bytes);
}

static void add_array(graph *g, item *at, int is_large, random_source *random)
{
    uint32_t i;
    at->count =
        (uint32_t)(is_large && random_one_in(random, 30) ? random_between(random, 10000, 60000)
                                                         : random_between(random, 1, 40));
    at->xyz = part(g, at->count * sizeof *at->xyz);
    for (i = 0; i < at->count; i++)
        at->xyz[i] = (double)random_below(random, 1000);
}

static void add_pointers(graph *g, item *at, random_source *random)
{
    uint32_t i;
    at->listed = (uint32_t)random_between(random, 1, random_one_in(random, 40) ? 20000 : 9);
    at->list = part(g, at->listed * sizeof *at->list);
    for (i = 0; i < at->listed; i++)
        at->list[i] = any(g, random);
}

static void add_pairs(graph *g, item *at, random_source *random)
{
    uint32_t i;
    at->paired = (uint32_t)random_between(random, 1, 5);
    at->pairs = part(g, at->paired * sizeof *at->pairs);
    for (i = 0; i < at->paired; i++) {
        at->pairs[i].left = any(g, random);
        at->pairs[i].right = any(g, random);
        at->pairs[i].numbers[0] = (uint16_t)i;
    }
}

static void share(graph *g, item *at, int within, random_source *random)
{
    const item *other = g->items[random_below(random, ITEMS)];
    if (other->name && random_one_in(random, 2))
        at->name = other->name + (within ? strlen(other->name) / 2 : 0);
    if (other->count && random_one_in(random, 2)) {
        const uint32_t skipped = within ? other->count / 2 : 0;
        at->xyz = other->xyz + skipped;
        at->count = other->count - skipped;
    }
}

static void fill(graph *g, unsigned what, random_source *random)
{
    size_t i;
    for (i = 0; i < ITEMS; i++) {
        item *at = g->items[i];
        at->a = i + 1 < ITEMS ? g->items[i + 1] : NULL;
        at->b = any(g, random);
        at->skipped = 1.5f;
        if (what & STRINGS && random_one_in(random, 2))
            add_string(g, at, random);
        if (what & ARRAYS && random_one_in(random, 2))
            add_array(g, at, what & LARGE, random);
        if (what & POINTERS && random_one_in(random, 2))
            add_pointers(g, at, random);
        if (what & PAIRS && random_one_in(random, 2))
            add_pairs(g, at, random);
        if (what & (SHARED | WITHIN) && random_one_in(random, 3))
            share(g, at, (what & WITHIN) != 0, random);
    }
}

static void graph_make(graph *g, unsigned what, random_source *random)
{
    size_t i;
    memset(g, 0, sizeof *g);
    for (i = 0; i < ITEMS; i++) {
        g->items[i] = part(g, sizeof(item));
        if (random_one_in(random, 8))
            part(g, random_between(random, 1, 300)); /* items lie apart */
    }
    for (i = ITEMS; i-- > 1;) {
        const size_t other = random_below(random, i + 1);
        item *swap = g->items[i];
        g->items[i] = g->items[other];
        g->items[other] = swap;
    }
    fill(g, what, random);
    g->root_count = random_between(random, 1, 3);
    for (i = 0; i < g->root_count; i++) {
        g->roots[i].address = g->items[i * 7];
        g->roots[i].type = item_type;
        g->roots[i].count = 1;
    }
}

static void graph_free(graph *g)
{
    while (g->part_count > 0)
        free(g->parts[--g->part_count]);
}

/* ---- Its images. */

static void expect(const image_bytes *expected, const image_bytes *image)
{
    CHECK_EQ(image->count, expected->count);
    CHECK_BYTES(image->at, expected->at, expected->count);
}

/* The image that an ordered plan makes. */
static void write_planned(haul_context *context, haul_source source,
                          const haul_image_write_options *options, image_bytes *image)
{
    const haul_plan_options ordered = { .ordered = 1 };
    haul_file file = bytes_file(image);
    haul_plan *plan;
    CHECK_STATUS(haul_plan_create(context, source, &ordered, &plan), HAUL_OK);
    CHECK_STATUS(haul_image_write_as(context, haul_from_plan(plan), options, &file), HAUL_OK);
    haul_plan_free(&plan);
}

static void expect_written(haul_context *context, haul_source source,
                           const haul_image_write_options *options, const image_bytes *expected)
{
    image_bytes image = { NULL, 0, 0 };
    haul_file file = bytes_file(&image);
    CHECK_STATUS(haul_image_write_as(context, source, options, &file), HAUL_OK);
    expect(expected, &image);
    bytes_free(&image);
}

/* In memory that begins anywhere and has no byte to spare, and in less. */
static void expect_in_memory(haul_context *context, haul_source source,
                             const haul_image_write_options *options, const image_bytes *expected)
{
    unsigned char *memory = malloc(expected->count + 8);
    size_t bytes, at;
    CHECK(memory != NULL);
    for (at = 0; at < 8; at += 3) {
        memset(memory, 0xa5, expected->count + 8);
        CHECK_STATUS(
            haul_image_to_bytes(context, source, options, memory + at, expected->count, &bytes),
            HAUL_OK);
        CHECK_EQ(bytes, expected->count);
        CHECK_BYTES(memory + at, expected->at, bytes);
        CHECK_EQ(memory[at + bytes], 0xa5);
    }
    CHECK_STATUS(haul_image_to_bytes(context, source, options, memory, expected->count - 1, &bytes),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "the image needs");
    CHECK_EQ(bytes, expected->count);
    CHECK_STATUS(haul_image_to_bytes(context, source, options, NULL, 0, &bytes),
                 HAUL_ERROR_ARGUMENT);
    CHECK_EQ(bytes, expected->count);
    free(memory);
}

static void expect_saved(haul_context *context, haul_source source,
                         const haul_image_write_options *options, const image_bytes *expected)
{
    char path[] = P_tmpdir "/haul_saves_XXXXXX";
    image_bytes image = { NULL, 0, 0 };
    FILE *file;
    const int made = mkstemp(path);
    CHECK(made >= 0 && close(made) == 0);
    CHECK_STATUS(haul_image_save_as(context, source, options, path), HAUL_OK);
    bytes_resize(&image, expected->count);
    file = fopen(path, "rb");
    CHECK(file && fread(image.at, 1, image.count, file) == image.count && fgetc(file) == EOF);
    fclose(file);
    expect(expected, &image);
    bytes_free(&image);
    CHECK(unlink(path) == 0);
}

typedef struct setting {
    haul_context *context, *threaded;
} setting;

static void setting_open(setting *s)
{
    const haul_context_options threads = { .threads = 4 };
    CHECK_STATUS(haul_context_create(NULL, &s->context), HAUL_OK);
    CHECK_STATUS(haul_context_create(&threads, &s->threaded), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(s->context, structs), HAUL_OK);
}

static void setting_close(setting *s)
{
    HAUL_FORGET(structs);
    haul_context_free(&s->threaded);
    haul_context_free(&s->context);
}

static void expect_alike(const setting *s, haul_source source)
{
    static const haul_image_write_options manners[] = { { 0 },
                                                        { .address = (uintptr_t)0x200000000u } };
    image_bytes expected;
    size_t i;
    for (i = 0; i < sizeof manners / sizeof *manners; i++) {
        if (sizeof(void *) < 8 && i == 1)
            continue;
        memset(&expected, 0, sizeof expected);
        write_planned(s->context, source, &manners[i], &expected);
        expect_written(s->context, source, &manners[i], &expected);
        expect_written(s->threaded, source, &manners[i], &expected);
        expect_in_memory(s->context, source, &manners[i], &expected);
        expect_in_memory(s->threaded, source, &manners[i], &expected);
        expect_saved(s->threaded, source, &manners[i], &expected);
        bytes_free(&expected);
    }
}

TEST(image_saves, all_ways_to_save_a_graph_make_the_bytes_of_its_ordered_plan)
{
    random_source random = random_start("image_saves");
    setting s;
    graph g;
    unsigned what;
    setting_open(&s);
    for (what = 0; what < ALL; what += LARGE(1, 5)) {
        graph_make(&g, what, &random);
        expect_alike(&s, haul_from_roots(g.roots, g.root_count));
        graph_free(&g);
    }
    setting_close(&s);
}

TEST(image_saves, skipped_bytes_are_zeros_in_each_of_them)
{
    random_source random = random_start("image_saves");
    setting s;
    graph g;
    setting_open(&s);
    graph_make(&g, 0, &random);
    expect_alike(&s, haul_from_object(g.items[0], holed_type));
    graph_free(&g);
    setting_close(&s);
}

typedef struct late {
    char rest[128 - sizeof(void *)];
    struct late *next;
} late;

/* Places begin at 16, so the pointer of an object that begins before a piece's end stands behind
 * it. Whoever packs the next piece translates it. */
TEST(image_saves, pointers_behind_the_end_of_a_piece_belong_to_the_next_one)
{
    enum { LATE = 10000 };
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(late, next, &type) };
    static const haul_struct table[] = { HAUL_STRUCT(late, &type, fields) };
    late *all = calloc(LATE, sizeof *all);
    setting s;
    size_t i;
    CHECK(all != NULL);
    for (i = 0; i + 1 < LATE; i++)
        all[i].next = &all[i + 1];
    setting_open(&s);
    CHECK_STATUS(HAUL_DESCRIBE(s.context, table), HAUL_OK);
    expect_alike(&s, haul_from_object(all, type));
    HAUL_FORGET(table);
    setting_close(&s);
    free(all);
}

#pragma pack(push, 1)
typedef struct off_grid {
    uint16_t number;
    uint32_t other;
    struct off_grid *next;
    char rest[600];
    struct off_grid *last;
} off_grid;
#pragma pack(pop)

/* Its pointers stand on the grid, though it does not: in the image they stand beside it. */
TEST(image_saves, pointers_that_leave_the_grid_are_told_by_a_list)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(off_grid, next, &type, .packed = 1),
                                         HAUL_OBJECT(off_grid, last, &type, .packed = 1) };
    static const haul_struct table[] = { HAUL_STRUCT(off_grid, &type, fields) };
    static uintptr_t room[2][200];
    off_grid *one = (off_grid *)((char *)room[0] + 2 * sizeof(void *) - 6), *other;
    setting s;
    other = (off_grid *)((char *)room[1] + 8 * sizeof(void *) - 6);
    setting_open(&s);
    CHECK_STATUS(HAUL_DESCRIBE(s.context, table), HAUL_OK);
    one->next = other;
    other->last = other;
    expect_alike(&s, haul_from_object(one, type));
    HAUL_FORGET(table);
    setting_close(&s);
}

/* A tree of a few hundred pieces, which several threads pack: each but the first begins in the
 * middle. */
TEST(image_saves, threads_find_the_next_range_where_they_begin)
{
    enum { COUNT = 60000 };
    setting s;
    item *all = calloc(COUNT, sizeof *all), **order = malloc(COUNT * sizeof *order);
    size_t i;
    CHECK(all != NULL && order != NULL);
    setting_open(&s);
    for (i = 0; i < COUNT; i++)
        order[i] = &all[i * 7 % COUNT];
    for (i = 0; i < COUNT; i++) {
        order[i]->a = 2 * i + 1 < COUNT ? order[2 * i + 1] : NULL;
        order[i]->b = 2 * i + 2 < COUNT ? order[2 * i + 2] : NULL;
    }
    expect_alike(&s, haul_from_object(order[0], item_type));
    order[COUNT - 1]->b = order[7]; /* the only pointer that the table is made for */
    expect_alike(&s, haul_from_object(order[0], item_type));
    free(order);
    free(all);
    setting_close(&s);
}

/* Most of the memory between these items is not theirs. */
TEST(image_saves, pointers_to_items_far_apart_are_translated)
{
    enum { COUNT = 300, APART = 1000 };
    setting s;
    item *all = calloc(COUNT * (size_t)APART, sizeof *all);
    size_t i;
    CHECK(all != NULL);
    setting_open(&s);
    for (i = 0; i < COUNT; i++) {
        all[i * APART].a = &all[(i * 7 + 1) % COUNT * APART];
        all[i * APART].b = &all[(i + 1) % COUNT * APART];
    }
    expect_alike(&s, haul_from_object(all, item_type));
    free(all);
    setting_close(&s);
}

/* ---- Lists. */

enum { LINKS = 5000 };

/* The links lie side by side in the order of the list. */
static void expect_order(const setting *s, chain *first, size_t last_leads_to)
{
    const uintptr_t apart = (sizeof(chain) + 15) / 16 * 16;
    const haul_source source = haul_from_object(first, chain_type);
    image_bytes bytes = { NULL, 0, 0 };
    haul_file file = bytes_file(&bytes);
    haul_image *image;
    const chain *root, *link;
    size_t i;
    CHECK_STATUS(haul_image_write(s->context, source, &file), HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(s->context, bytes.at, bytes.count, &chain_type, 1, NULL, &image),
        HAUL_OK);
    root = haul_image_roots(image, NULL)[0].address;
    for (i = 0, link = root; i < LINKS; i++, link = link->next) {
        CHECK_EQ((uintptr_t)link - (uintptr_t)root, i * apart);
        CHECK_EQ(link->number, i);
    }
    CHECK((last_leads_to == LINKS) == (link == NULL));
    CHECK(!link || link->number == last_leads_to);
    haul_image_free(&image);
    bytes_free(&bytes);
    expect_alike(s, source);
}

TEST(image_saves, a_list_is_saved_in_its_order)
{
    static const size_t ends[] = { LINKS, LINKS - 1, LINKS - 2, LINKS / 2, 1, 0 };
    chain *all = calloc(LINKS, sizeof *all);
    setting s;
    size_t i, end;
    CHECK(all != NULL);
    setting_open(&s);
    for (i = 0; i < LINKS; i++) {
        all[i * 7 % LINKS].number = i;
        all[i * 7 % LINKS].next = &all[(i + 1) * 7 % LINKS];
    }
    for (end = 0; end < sizeof ends / sizeof *ends; end++) {
        all[(LINKS - 1) * 7 % LINKS].next = ends[end] == LINKS ? NULL : &all[ends[end] * 7 % LINKS];
        expect_order(&s, all, ends[end]);
    }
    free(all);
    setting_close(&s);
}

TEST(image_saves, a_list_of_more_objects_than_allowed_is_not_saved)
{
    const haul_context_options few = { .max_objects = LINKS - 1 };
    chain *all = calloc(LINKS, sizeof *all);
    image_bytes bytes = { NULL, 0, 0 };
    haul_file file = bytes_file(&bytes);
    haul_context *context;
    setting s;
    size_t i;
    CHECK(all != NULL);
    setting_open(&s);
    CHECK_STATUS(haul_context_create(&few, &context), HAUL_OK);
    for (i = 0; i + 1 < LINKS; i++)
        all[i].next = &all[i + 1];
    CHECK_STATUS(haul_image_write(context, haul_from_object(all, chain_type), &file),
                 HAUL_ERROR_LIMIT);
    CHECK_STATUS(haul_image_write(context, haul_from_object(all + 1, chain_type), &file), HAUL_OK);
    haul_context_free(&context);
    bytes_free(&bytes);
    free(all);
    setting_close(&s);
}

/* ---- The memory of packed pieces. */

static haul_status forget(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)user += count;
    return HAUL_OK;
}

/* Saves `count` items in a row. Answers what the context holds behind that. */
static size_t held_by(haul_context *context, const counted *c, item *all, size_t count)
{
    size_t bytes = 0, i;
    haul_file file = { 0 };
    file.user = &bytes;
    file.write = forget;
    memset(all, 0, count * sizeof *all);
    for (i = 0; i + 1 < count; i++)
        all[i].a = &all[i + 1];
    CHECK_STATUS(haul_image_write(context, haul_from_object(all, item_type), &file), HAUL_OK);
    CHECK(bytes > count * sizeof *all);
    return c->held;
}

TEST(image_saves, a_context_keeps_the_memory_of_packed_pieces_until_it_is_trimmed)
{
    enum { FEW = 4000, MANY = 9000 };
    static item all[MANY];
    counted c;
    haul_context *context;
    size_t before, few, many;
    CHECK_STATUS(counted_open(&c, &context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(context, structs), HAUL_OK);
    before = c.held;
    few = held_by(context, &c, all, FEW);
    CHECK(few - before > FEW * sizeof *all);
    CHECK_EQ(held_by(context, &c, all, FEW), few);
    many = held_by(context, &c, all, MANY);
    CHECK(many - few > (MANY - FEW - 1) * sizeof *all);
    CHECK_EQ(held_by(context, &c, all, FEW), many);
    CHECK_STATUS(haul_context_trim(context), HAUL_OK);
    CHECK_EQ(c.held, before);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    CHECK_EQ(c.held, 0);
}

TEST(image_saves, more_than_128_MiB_of_packed_pieces_are_not_kept)
{
    enum { COUNT = (136 << 20) / sizeof(void *) };
    item **list = calloc(COUNT, sizeof *list);
    item one = { 0 };
    counted c;
    haul_context *context;
    size_t before;
    CHECK(list != NULL);
    CHECK_STATUS(counted_open(&c, &context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(context, structs), HAUL_OK);
    one.list = list;
    one.listed = COUNT;
    before = c.held;
    {
        size_t bytes = 0;
        haul_file file = { 0 };
        file.user = &bytes;
        file.write = forget;
        CHECK_STATUS(haul_image_write(context, haul_from_object(&one, item_type), &file), HAUL_OK);
        CHECK(bytes > (size_t)136 << 20);
    }
    CHECK(c.most - before > (size_t)136 << 20);
    CHECK(c.held - before < (size_t)64 << 20);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    free(list);
}

/* ---- Saves that fail. */

typedef struct fragile {
    size_t calls, most; /* of the function that writes; behind `most` it refuses */
} fragile;

static haul_status write_or_refuse(void *user, const void *bytes, size_t count)
{
    fragile *f = user;
    (void)bytes;
    (void)count;
    return f->calls++ < f->most ? HAUL_OK : HAUL_ERROR_FILE;
}

/* Arrays that are written as they lie, with packed pieces between them. */
TEST(image_saves, a_file_may_refuse_any_piece_of_an_arena)
{
    enum { ARRAYS = 3, NUMBERS = 20000 };
    static double numbers[ARRAYS][NUMBERS];
    item items[ARRAYS];
    fragile f = { 0, 0 };
    haul_file file = { 0 };
    haul_status status = HAUL_ERROR_FILE;
    setting s;
    size_t i;
    memset(items, 0, sizeof items);
    for (i = 0; i < ARRAYS; i++) {
        items[i].a = &items[(i + 1) % ARRAYS];
        items[i].xyz = numbers[i];
        items[i].count = NUMBERS;
    }
    setting_open(&s);
    file.user = &f;
    file.write = write_or_refuse;
    for (f.most = 0; status != HAUL_OK; f.most++) {
        f.calls = 0;
        status = haul_image_write(s.context, haul_from_object(items, item_type), &file);
        CHECK_STATUS(status, f.calls > f.most ? HAUL_ERROR_FILE : HAUL_OK);
        CHECK(f.calls <= f.most + 1);
    }
    CHECK(f.most > 2 * ARRAYS);
    setting_close(&s);
}

typedef struct two_roots {
    haul_context *context;
    haul_root roots[2];
    unsigned char memory[4096];
} two_roots;

static void prepare_two(void *user, fault_plan *plan)
{
    two_roots *t = user;
    CHECK_STATUS(fault_open_context(plan, NULL, &t->context), HAUL_OK);
}

static haul_status write_two(void *user)
{
    two_roots *t = user;
    size_t bytes;
    return haul_image_to_bytes(t->context, haul_from_roots(t->roots, 2), NULL, t->memory,
                               sizeof t->memory, &bytes);
}

static void finish_two(void *user)
{
    haul_context_free(&((two_roots *)user)->context);
}

TEST(image_saves, memory_that_runs_out_while_two_roots_are_saved_is_told)
{
    static two_roots t;
    item items[2];
    setting s;
    const fault_operation operation = { .name = "two roots",
                                        .prepare = prepare_two,
                                        .run = write_two,
                                        .finish = finish_two,
                                        .user = &t,
                                        .modes = FAULT_MEMORY };
    memset(items, 0, sizeof items);
    setting_open(&s);
    t.roots[0] = (haul_root){ &items[0], item_type, 1 };
    t.roots[1] = (haul_root){ &items[1], item_type, 1 };
    CHECK(fault_everywhere(&operation) > 5);
    setting_close(&s);
}

TEST(image_saves, a_second_root_may_lie_in_the_array_of_the_first)
{
    item items[4];
    haul_root roots[2];
    setting s;
    memset(items, 0, sizeof items);
    items[1].a = &items[3];
    setting_open(&s);
    roots[0] = (haul_root){ items, item_type, 4 };
    roots[1] = (haul_root){ &items[2], item_type, 1 };
    expect_alike(&s, haul_from_roots(roots, 2));
    setting_close(&s);
}

/* Where another object begins, where it ends, and where none is. */
TEST(image_saves, a_second_root_of_which_no_byte_travels_is_refused_wherever_it_lies)
{
    item items[3];
    const haul_field skips = { .name = "skipped", .kind = HAUL_FIELD_SKIP, .bytes = sizeof *items };
    const haul_struct skipped = { .name = "skipped",
                                  .bytes = sizeof *items,
                                  .fields = &skips,
                                  .field_count = 1,
                                  .field_bytes = sizeof skips };
    haul_type *nothing, *hollow;
    haul_root roots[2];
    image_bytes image = { NULL, 0, 0 };
    const haul_file file = bytes_file(&image);
    setting s;
    size_t i;
    memset(items, 0, sizeof items);
    setting_open(&s);
    CHECK_STATUS(haul_type_contiguous(0, item_type, &nothing), HAUL_OK);
    CHECK_STATUS(haul_type_commit(nothing), HAUL_OK);
    CHECK_STATUS(haul_type_create(s.context, &skipped, &hollow), HAUL_OK);
    CHECK_STATUS(haul_type_commit(hollow), HAUL_OK);
    roots[0] = (haul_root){ &items[0], item_type, 1 };
    for (i = 0; i < 6; i++) {
        roots[1] = (haul_root){ &items[i % 3], i < 3 ? nothing : hollow, 1 };
        CHECK_STATUS(haul_image_write(s.context, haul_from_roots(roots, 2), &file),
                     HAUL_ERROR_UNSUPPORTED);
        CHECK_HAS(haul_context_error(s.context)->text, "no byte of root 1 travels");
        CHECK_EQ(image.count, 0);
    }
    haul_type_free(&nothing);
    haul_type_free(&hollow);
    setting_close(&s);
}

TEST(image_saves, arguments_that_no_image_can_be_written_to_are_refused)
{
    setting s;
    item one = { 0 };
    unsigned char memory[4096];
    size_t bytes = 7;
    setting_open(&s);
    CHECK_STATUS(haul_image_to_bytes(NULL, haul_from_object(&one, item_type), NULL, memory,
                                     sizeof memory, &bytes),
                 HAUL_ERROR_ARGUMENT);
    CHECK_EQ(bytes, 0);
    CHECK_STATUS(haul_image_to_bytes(s.context, haul_from_object(&one, item_type), NULL, memory,
                                     sizeof memory, NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(
        haul_image_to_bytes(s.context, haul_from_object(&one, item_type), NULL, NULL, 1, &bytes),
        HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(s.context)->text, "NULL");
    setting_close(&s);
}

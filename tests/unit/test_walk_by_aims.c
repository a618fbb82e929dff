/* Discovery of all kinds of graphs by several threads: strings, counted arrays, arrays of pointers
 * and of structs, in one heap. Plan, arena, numbers and errors are those of one thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/outcomes.h"
#include "support/random.h"
#include "support/store.h"
#include "support/types.h"

/* So many that the array of records alone makes a shared walk worth it. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { RECORDS = 1500 };
#else
enum { RECORDS = 33000 };
#endif

typedef struct point {
    float x, y, z, w;
} point;

typedef struct record {
    struct record *next;
    char *name;
    double *values;
    struct record **others;
    char **notes;
    point *points;
    struct pair *pairs;
    int64_t value_count;
    int32_t other_count, note_count, pair_count;
    uint16_t columns, rows; /* of points */
} record;

typedef struct pair {
    record *of;
    char *text;
} pair;

typedef struct library {
    record **records;
    char *title;
    double *table; /* long; others lead to it, too */
    int64_t record_count, table_count;
} library;

static haul_type *point_type, *record_type, *pair_type, *library_type;

static void make_types(void)
{
    static const haul_field record_fields[] = {
        HAUL_OBJECT(record, next, &record_type),
        HAUL_STRING(record, name),
        HAUL_ARRAY(record, values, HAUL_COUNT(record, value_count)),
        HAUL_POINTERS(record, others, &record_type, HAUL_COUNT(record, other_count)),
        HAUL_STRINGS(record, notes, HAUL_COUNT(record, note_count)),
        HAUL_OBJECTS(record, points, &point_type, HAUL_COUNT(record, columns, rows)),
        HAUL_OBJECTS(record, pairs, &pair_type, HAUL_COUNT(record, pair_count)),
    };
    static const haul_field pair_fields[] = {
        HAUL_OBJECT(pair, of, &record_type),
        HAUL_STRING(pair, text),
    };
    static const haul_field library_fields[] = {
        HAUL_POINTERS(library, records, &record_type, HAUL_COUNT(library, record_count)),
        HAUL_STRING(library, title),
        HAUL_ARRAY(library, table, HAUL_COUNT(library, table_count)),
    };
    point_type =
        type_new(&(const haul_struct){ .name = "point", .bytes = sizeof(point), .alignment = 4 });
    record_type = TYPE_NEW(record, record_fields);
    pair_type = TYPE_NEW(pair, pair_fields);
    library_type = TYPE_NEW(library, library_fields);
    CHECK_STATUS(haul_type_commit(library_type), HAUL_OK);
}

static void free_types(void)
{
    haul_type_free(&library_type);
    haul_type_free(&record_type);
    haul_type_free(&pair_type);
    haul_type_free(&point_type);
}

/* ---- Plain structs between words. */

typedef struct leaning {
    struct leaning *next, *other;
    char *name;
    point *a, *b;
} leaning;

/* Their places within 128 bytes, behind the struct: b begins 4 bytes off each third time. */
enum { NAME_AT = 48, A_AT = 64, B_AT = 88, PLACE = 128, PLACES = 4 * RECORDS };

TEST(walk_by_aims, plain_structs_that_begin_between_words_come_whole)
{
    static haul_type *leaning_type;
    static const haul_field fields[] = {
        HAUL_OBJECT(leaning, next, &leaning_type),
        HAUL_OBJECT(leaning, other, &leaning_type),
        HAUL_STRING(leaning, name),
        HAUL_OBJECT(leaning, a, &point_type),
        HAUL_OBJECT(leaning, b, &point_type),
    };
    char *at = outcome_pages((size_t)PLACES * PLACE);
    outcome alone;
    haul_root root;
    size_t i;
    point_type =
        type_new(&(const haul_struct){ .name = "point", .bytes = sizeof(point), .alignment = 4 });
    leaning_type = TYPE_NEW(leaning, fields);
    CHECK_STATUS(haul_type_commit(leaning_type), HAUL_OK);
    memset(at, 0, (size_t)PLACES * PLACE);
    for (i = 0; i < PLACES; i++) {
        leaning *l = (leaning *)(void *)(at + i * PLACE);
        l->next = 2 * i + 1 < PLACES ? (leaning *)(void *)(at + (2 * i + 1) * PLACE) : NULL;
        l->other = 2 * i + 2 < PLACES ? (leaning *)(void *)(at + (2 * i + 2) * PLACE) : NULL;
        l->name = strcpy((char *)l + NAME_AT, "so");
        l->a = (point *)(void *)((char *)l + A_AT);
        l->b = (point *)(void *)((char *)l + B_AT + (i % 3 ? 0 : 4));
        l->a->w = l->b->w = (float)(i + 1); /* the last bytes */
    }
    root.address = at;
    root.type = leaning_type;
    root.count = 1;
    outcomes_agree(&root, NULL, 0, &alone);
    CHECK_STATUS(alone.status, HAUL_OK);
    CHECK_EQ(alone.info.objects, 4 * (size_t)PLACES);
    outcome_free(&alone);
    haul_type_free(&leaning_type);
    haul_type_free(&point_type);
    free(at);
}

/* ---- A heap of blocks, freed at once. */

typedef struct heap {
    library root;
    void **block;
    size_t count, capacity;
} heap;

static void *get(heap *h, size_t bytes)
{
    void *block = malloc(bytes ? bytes : 1);
    if (h->count == h->capacity) {
        h->capacity = h->capacity ? 2 * h->capacity : 1024;
        h->block = realloc(h->block, h->capacity * sizeof *h->block);
    }
    CHECK(block && h->block);
    memset(block, 0, bytes);
    return h->block[h->count++] = block;
}

static char *text(heap *h, random_source *random)
{
    const size_t length = random_below(random, random_one_in(random, 500) ? 5000 : 40);
    char *made = get(h, length + 1);
    memset(made, 'a' + (int)random_below(random, 20), length);
    return made;
}

static record *any(const heap *h, random_source *random)
{
    return h->root.records[random_below(random, RECORDS)];
}

static void fill(heap *h, record *r, random_source *random)
{
    int32_t i;
    r->next = random_one_in(random, 3) ? NULL : any(h, random);
    r->name = random_one_in(random, 5) ? any(h, random)->name : text(h, random);
    r->value_count = (int64_t)random_below(random, random_one_in(random, 300) ? 9000 : 9);
    r->values = random_one_in(random, 50) ? NULL : get(h, (size_t)r->value_count * sizeof(double));
    if (!r->values)
        r->value_count = 0;
    if (random_one_in(random, 40)) {
        r->values = h->root.table;
        r->value_count = h->root.table_count;
    }
    r->other_count = (int32_t)random_below(random, 6);
    r->others = get(h, (size_t)r->other_count * sizeof *r->others);
    for (i = 0; i < r->other_count; i++)
        r->others[i] = random_one_in(random, 4) ? NULL : any(h, random);
    r->note_count = (int32_t)random_below(random, 3);
    r->notes = r->note_count ? get(h, (size_t)r->note_count * sizeof *r->notes) : NULL;
    for (i = 0; i < r->note_count; i++)
        r->notes[i] = random_one_in(random, 3) ? NULL : text(h, random);
    r->columns = (uint16_t)random_below(random, 3);
    r->rows = (uint16_t)random_below(random, 4);
    r->points =
        r->columns && r->rows ? get(h, (size_t)r->columns * r->rows * sizeof *r->points) : NULL;
    r->pair_count = random_one_in(random, 3) ? (int32_t)random_below(random, 5) : 0;
    r->pairs = r->pair_count ? get(h, (size_t)r->pair_count * sizeof *r->pairs) : NULL;
    for (i = 0; i < r->pair_count; i++) {
        r->pairs[i].of = any(h, random);
        r->pairs[i].text = random_one_in(random, 2) ? any(h, random)->name : text(h, random);
    }
}

static heap heap_make(const char *seed)
{
    random_source random = random_start(seed);
    heap h;
    size_t i;
    memset(&h, 0, sizeof h);
    make_types();
    h.root.record_count = RECORDS;
    h.root.records = get(&h, RECORDS * sizeof *h.root.records);
    h.root.title = text(&h, &random);
    h.root.table_count = 20000;
    h.root.table = get(&h, (size_t)h.root.table_count * sizeof *h.root.table);
    for (i = 0; i < RECORDS; i++) {
        h.root.records[i] = get(&h, sizeof(record));
        h.root.records[i]->name = text(&h, &random);
    }
    for (i = 0; i < RECORDS; i++)
        fill(&h, h.root.records[i], &random);
    return h;
}

static void heap_free(heap *h)
{
    size_t i;
    for (i = 0; i < h->count; i++)
        free(h->block[i]);
    free(h->block);
    free_types();
}

static haul_root root_of(heap *h)
{
    haul_root root;
    root.address = &h->root;
    root.type = library_type;
    root.count = 1;
    return root;
}

/* Checks that all agree, and answers whether threads shared the walk. */
static int check_heap(heap *h, haul_status status)
{
    const haul_root root = root_of(h);
    outcome alone;
    const int shared = outcomes_agree(&root, NULL, 1, &alone);
    CHECK_STATUS(alone.status, status);
    outcome_free(&alone);
    return shared;
}

/* The last record, which others lead to, is the one that a test spoils. */
static record *last(heap *h)
{
    return h->root.records[RECORDS - 1];
}

/* ---- Sound graphs. */

TEST(walk_by_aims, strings_arrays_and_structs_in_one_heap_are_found_by_threads_as_by_one)
{
    heap h = heap_make("walk by aims: all kinds");
    CHECK_EQ(check_heap(&h, HAUL_OK), CAN_SHARE);
    heap_free(&h);
}

TEST(walk_by_aims, an_array_of_structs_as_root_is_found_by_threads_as_by_one)
{
    random_source random = random_start("walk by aims: root of pairs");
    heap h = heap_make("walk by aims: root of pairs");
    pair *pairs = get(&h, RECORDS * sizeof *pairs);
    outcome alone;
    haul_root root;
    size_t i;
    for (i = 0; i < RECORDS; i++) {
        pairs[i].of = any(&h, &random);
        pairs[i].text = any(&h, &random)->name;
    }
    root.address = pairs;
    root.type = pair_type;
    root.count = RECORDS;
    CHECK_EQ(outcomes_agree(&root, NULL, 1, &alone), CAN_SHARE);
    CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
    heap_free(&h);
}

TEST(walk_by_aims, a_pointer_with_the_count_0_may_lead_anywhere)
{
    heap h = heap_make("walk by aims: empty");
    last(&h)->value_count = 0;
    last(&h)->values = (double *)(void *)last(&h);
    CHECK_EQ(check_heap(&h, HAUL_OK), CAN_SHARE);
    heap_free(&h);
}

/* ---- Ranges that lie across others: one thread walks again, and all agree. */

TEST(walk_by_aims, the_end_of_a_string_as_a_string_gives_the_numbers_of_one_thread)
{
    heap h = heap_make("walk by aims: suffixes");
    char *name = get(&h, 100);
    memset(name, 'x', 99);
    h.root.records[0]->name = name;
    last(&h)->name = name + 16;
    check_heap(&h, HAUL_OK);
    last(&h)->name = name + 3;
    check_heap(&h, HAUL_OK);
    heap_free(&h);
}

TEST(walk_by_aims, a_pointer_into_an_array_gives_the_numbers_of_one_thread)
{
    heap h = heap_make("walk by aims: interior");
    record *r = last(&h);
    r->pair_count = 4;
    r->pairs = get(&h, 4 * sizeof *r->pairs);
    h.root.records[0]->pairs = r->pairs + 1;
    h.root.records[0]->pair_count = 2;
    check_heap(&h, HAUL_OK);
    h.root.records[0]->pairs = r->pairs;
    h.root.records[0]->pair_count = 1;
    check_heap(&h, HAUL_OK);
    h.root.records[0]->values = h.root.table + 100;
    h.root.records[0]->value_count = 300;
    check_heap(&h, HAUL_OK);
    heap_free(&h);
}

TEST(walk_by_aims, two_arrays_side_by_side_are_not_one_over_both)
{
    heap h = heap_make("walk by aims: side by side");
    double *both = get(&h, 16 * sizeof *both);
    record *r[3] = { h.root.records[0], h.root.records[1], last(&h) };
    size_t i;
    for (i = 0; i < 3; i++) {
        r[i]->values = both + (i == 1 ? 8 : 0);
        r[i]->value_count = i == 2 ? 16 : 8;
    }
    check_heap(&h, HAUL_OK);
    heap_free(&h);
}

TEST(walk_by_aims, an_array_that_ends_with_0_is_the_string_that_another_pointer_finds)
{
    heap h = heap_make("walk by aims: bytes and string");
    double *values = get(&h, 2 * sizeof *values);
    memset(values, 'v', 2 * sizeof *values - 1);
    h.root.records[0]->values = values;
    h.root.records[0]->value_count = 2;
    last(&h)->name = (char *)values;
    check_heap(&h, HAUL_OK);
    heap_free(&h);
}

TEST(walk_by_aims, a_string_at_an_odd_address_gives_the_numbers_of_one_thread)
{
    heap h = heap_make("walk by aims: odd");
    char *name = get(&h, 64);
    memset(name, 'o', 63);
    last(&h)->name = name + 5;
    check_heap(&h, HAUL_OK);
    heap_free(&h);
}

/* ---- Single objects of one type, side by side, and arrays of it. */

typedef struct box {
    struct box *next, *row;
    int64_t row_count;
} box;

typedef struct shelf {
    box **boxes;
    int64_t count;
} shelf;

/* RECORDS boxes, `stride` bytes each. Of 100 boxes, the first three are a row, to which another box
 * leads. The shelf has all others. */
typedef struct boxes {
    haul_type *box_type, *shelf_type;
    size_t stride;
    unsigned char *memory;
    shelf root;
} boxes;

static box *box_at(const boxes *b, size_t i)
{
    return (box *)(void *)(b->memory + i * b->stride);
}

static void boxes_make(boxes *b, size_t stride)
{
    haul_field box_fields[] = {
        HAUL_OBJECT(box, next, &b->box_type),
        HAUL_OBJECTS(box, row, &b->box_type, HAUL_COUNT(box, row_count)),
    };
    haul_field shelf_fields[] = {
        HAUL_POINTERS(shelf, boxes, &b->box_type, HAUL_COUNT(shelf, count)),
    };
    haul_struct what = HAUL_STRUCT(box, NULL, box_fields);
    size_t i;
    what.bytes = b->stride = stride;
    box_fields[0].element_bytes = box_fields[1].element_bytes = stride;
    shelf_fields[0].element_bytes = stride;
    b->box_type = type_new(&what);
    b->shelf_type = TYPE_NEW(shelf, shelf_fields);
    CHECK_STATUS(haul_type_commit(b->shelf_type), HAUL_OK);
    b->memory = calloc(RECORDS, stride);
    b->root.boxes = malloc(RECORDS * sizeof(box *));
    CHECK(b->memory && b->root.boxes);
    b->root.count = 0;
    for (i = 0; i < RECORDS; i++) {
        if (i % 100 < 3 && i + 3 < RECORDS)
            continue;
        if (i % 100 == 50 && i + 53 < RECORDS) {
            box_at(b, i)->row = box_at(b, i + 50);
            box_at(b, i)->row_count = 3;
        }
        box_at(b, i)->next = box_at(b, RECORDS - 1 - i % 50);
        b->root.boxes[b->root.count++] = box_at(b, i);
    }
}

/* Checks that all agree, and answers whether threads shared the walk. */
static int check_boxes(boxes *b)
{
    outcome alone;
    haul_root root;
    int shared;
    root.address = &b->root;
    root.type = b->shelf_type;
    root.count = 1;
    shared = outcomes_agree(&root, NULL, 1, &alone);
    CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
    return shared;
}

static void boxes_free(boxes *b)
{
    free(b->memory);
    free(b->root.boxes);
    haul_type_free(&b->shelf_type);
    haul_type_free(&b->box_type);
}

static const size_t strides[] = { 24, 32, 80, 88, 520 };
enum { STRIDES = sizeof strides / sizeof strides[0] };

TEST(walk_by_aims, rows_among_single_objects_of_their_type_are_found_by_threads_as_by_one)
{
    size_t i;
    for (i = 0; i < STRIDES; i++) {
        boxes b;
        boxes_make(&b, strides[i]);
        CHECK_EQ(check_boxes(&b), CAN_SHARE);
        boxes_free(&b);
    }
}

/* Box 40 leads to what the shelf's boxes are, or to parts of rows. */
TEST(walk_by_aims, a_row_over_single_objects_gives_the_numbers_of_one_thread)
{
    static const struct {
        size_t first;
        int64_t count;
    } rows[] = { { 60, 1 }, { 60, 2 }, { 58, 9 }, { 199, 2 }, { 200, 1 }, { 201, 2 }, { 202, 2 } };
    size_t i, at;
    for (i = 0; i < STRIDES; i++)
        for (at = 0; at < sizeof rows / sizeof rows[0]; at++) {
            boxes b;
            int shared;
            boxes_make(&b, strides[i]);
            box_at(&b, 40)->row = box_at(&b, rows[at].first);
            box_at(&b, 40)->row_count = rows[at].count;
            shared = check_boxes(&b);
            if (rows[at].first == 60 && rows[at].count == 1)
                CHECK_EQ(shared, CAN_SHARE);
            box_at(&b, 40)->row_count = 0;
            box_at(&b, 40)->row = NULL;
            box_at(&b, 40)->next = box_at(&b, 200); /* the first of a row, as a single object */
            check_boxes(&b);
            boxes_free(&b);
        }
}

/* ---- Wrong graphs. */

TEST(walk_by_aims, counts_that_do_not_fit_give_the_error_and_the_path_of_one_thread)
{
    heap h = heap_make("walk by aims: counts");
    record *r = last(&h), before = *r;
    r->value_count = -1;
    check_heap(&h, HAUL_ERROR_GRAPH);
    *r = before;
    r->value_count = 3;
    r->values = NULL;
    check_heap(&h, HAUL_ERROR_GRAPH);
    r->value_count = INT64_MAX; /* NULL is what is wrong, whether size_t holds the count or not */
    check_heap(&h, HAUL_ERROR_GRAPH);
    *r = before;
    r->value_count = INT64_MAX;
    r->values = h.root.table;
    check_heap(&h, HAUL_ERROR_LIMIT);
    heap_free(&h);
}

TEST(walk_by_aims, pointers_to_no_object_give_the_error_and_the_path_of_one_thread)
{
    heap h = heap_make("walk by aims: pointers");
    record *r = last(&h), before = *r;
    r->next = (record *)((char *)r + 1);
    check_heap(&h, HAUL_ERROR_GRAPH);
    *r = before;
    r->name = (char *)(uintptr_t)64;
    check_heap(&h, HAUL_ERROR_GRAPH);
    *r = before;
    r->next = (record *)(void *)&r->values; /* data and pointers take each others' places */
    check_heap(&h, HAUL_ERROR_GRAPH);
    heap_free(&h);
}

TEST(walk_by_aims, limits_give_the_error_and_the_path_of_one_thread)
{
    heap h = heap_make("walk by aims: limits");
    const haul_root root = root_of(&h);
    haul_context_options options;
    outcome alone;
    memset(&options, 0, sizeof options);
    options.max_objects = RECORDS * 2;
    outcomes_agree(&root, &options, 1, &alone);
    CHECK_STATUS(alone.status, HAUL_ERROR_LIMIT);
    options.max_objects = 0;
    options.max_array_elements = RECORDS - 1;
    outcomes_agree(&root, &options, 1, &alone);
    CHECK_STATUS(alone.status, HAUL_ERROR_LIMIT);
    options.max_array_elements = 0;
    options.max_scan_bytes = 20;
    outcomes_agree(&root, &options, 1, &alone);
    CHECK_STATUS(alone.status, HAUL_ERROR_LIMIT);
    heap_free(&h);
}

TEST(walk_by_aims, a_count_or_a_text_that_has_changed_is_told_with_its_path)
{
    heap h = heap_make("walk by aims: stale");
    haul_context_options options;
    haul_context *context;
    haul_plan_info info;
    haul_plan *plan;
    char *arena, *title = get(&h, 6);
    memcpy(title, "title", 5);
    h.root.title = title;
    memset(&options, 0, sizeof options);
    options.threads = 3;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(&h.root, library_type), NULL, &plan),
                 HAUL_OK);
    haul_plan_get_info(plan, &info);
    arena = outcome_pages(info.arena_bytes);
    CHECK_STATUS(haul_plan_pack(plan, arena, info.arena_bytes, 0x100000, NULL), HAUL_OK);
    h.root.table_count--;
    CHECK_STATUS(haul_plan_pack(plan, arena, info.arena_bytes, 0x100000, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(context)->path, "root.table");
    h.root.table_count++;
    title[5] = '!';
    CHECK_STATUS(haul_plan_pack(plan, arena, info.arena_bytes, 0x100000, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(context)->path, "root.title");
    title[5] = 0;
    CHECK_STATUS(haul_plan_pack(plan, arena, info.arena_bytes, 0x100000, NULL), HAUL_OK);
    haul_plan_free(&plan);
    haul_context_free(&context);
    free(arena);
    heap_free(&h);
}

typedef struct letter {
    char c;
} letter;

/* The bytes of such a root are the largest number that there is. */
TEST(walk_by_aims, a_root_of_all_addresses_is_refused)
{
    static char bytes[16];
    haul_context_options options = { .threads = 3 };
    haul_context *context;
    haul_plan *plan;
    haul_type *type;
    haul_root root = { bytes, NULL, SIZE_MAX };
    static const haul_field fields[] = { HAUL_RAW(letter, c) };
    const haul_struct plain = HAUL_STRUCT(letter, NULL, fields);
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_type_create(context, &plain, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    root.type = type;
    CHECK(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan) != HAUL_OK);
    haul_type_free(&type);
    haul_context_free(&context);
}

/* ---- Memory. */

TEST(walk_by_aims, memory_that_runs_out_in_any_thread_is_told_and_all_of_it_given_back_H1_H2)
{
    heap h = heap_make("walk by aims: no memory");
    random_source random = random_start("walk by aims: no memory");
    haul_status status;
    const haul_source source = haul_from_object(&h.root, library_type);
    const size_t all = plan_from_store(source, SIZE_MAX, &status);
    size_t i, failed = 0;
    CHECK_STATUS(status, HAUL_OK);
    for (i = 0; i < 40; i++) {
        plan_from_store(source, i < 20 ? i : random_below(&random, all), &status);
        failed += status == HAUL_ERROR_MEMORY;
    }
    CHECK(failed > 20);
    heap_free(&h);
}

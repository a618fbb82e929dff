/* The innermost loop of discovery (walk/drain.c) and its limits. Contexts here are not checked,
 * because a checked one takes the general path for every object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/random.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct pair {
    struct pair *left, *right;
    size_t a, b;
} pair; /* two granules */

typedef struct desk {
    unsigned char *bytes;
    pair *first;
    pair *second;
    char *text, *tail;
    size_t n;
} desk;

static haul_type *pair_type, *desk_type;

static void types_start(void)
{
    static const haul_field pair_fields[] = { HAUL_OBJECT(pair, left, &pair_type),
                                              HAUL_OBJECT(pair, right, &pair_type) };
    static const haul_field desk_fields[] = { HAUL_ARRAY(desk, bytes, HAUL_COUNT(desk, n)),
                                              HAUL_OBJECT(desk, first, &pair_type),
                                              HAUL_OBJECT(desk, second, &pair_type),
                                              HAUL_STRING(desk, text), HAUL_STRING(desk, tail) };
    CHECK_STATUS(type_make("pair", sizeof(pair), pair_fields, 2, &pair_type), HAUL_OK);
    CHECK_STATUS(type_make("desk", sizeof(desk), desk_fields, 5, &desk_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(desk_type), HAUL_OK);
}

static void types_end(void)
{
    haul_type_free(&pair_type);
    haul_type_free(&desk_type);
}

static haul_status plan_desk(const haul_context_options *options, desk *d, haul_error *error)
{
    haul_context *context;
    haul_plan *plan = NULL;
    haul_root root;
    haul_status status;
    root.address = d;
    root.type = desk_type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(options, &context), HAUL_OK);
    status = haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan);
    *error = *haul_context_error(context);
    haul_plan_free(&plan);
    haul_context_free(&context);
    return status;
}

/* A cell is 64 words: an object that begins two words before its end lies in two. */
static void bytes_and_object_at(size_t offset)
{
    size_t cell = 64 * sizeof(void *);
    unsigned char *memory = NULL;
    haul_error error;
    desk d;
    memory = malloc(4 * cell);
    CHECK(memory != NULL);
    memset(memory, 0, 4 * cell);
    memset(&d, 0, sizeof d);
    d.bytes = memory + (cell - (uintptr_t)memory % cell) + offset;
    d.n = sizeof(pair);
    d.first = (pair *)(void *)d.bytes;
    CHECK_STATUS(plan_desk(NULL, &d, &error), HAUL_ERROR_GRAPH);
    CHECK_STR(error.path, "root.first");
    d.n = 0;
    CHECK_STATUS(plan_desk(NULL, &d, &error), HAUL_OK);
    free(memory);
}

TEST(discovery, bytes_that_are_an_object_too_are_refused_inside_a_cell_and_across_two_G8)
{
    types_start();
    bytes_and_object_at(0);
    bytes_and_object_at(62 * sizeof(void *));
    types_end();
}

TEST(discovery, an_array_that_would_reach_over_the_end_of_all_addresses_is_refused_G5_G7)
{
    static const size_t counts[] = { 1, 10, 255, 256, 4096 };
    haul_error error;
    size_t i;
    desk d;
    types_start();
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        memset(&d, 0, sizeof d);
        d.n = counts[i];
        d.bytes = (unsigned char *)(UINTPTR_MAX - 255);
        CHECK_STATUS(plan_desk(NULL, &d, &error), HAUL_ERROR_GRAPH);
        CHECK_STR(error.path, "root.bytes");
        memset(&d, 0, sizeof d);
        d.first = (pair *)(UINTPTR_MAX - 31);
        CHECK_STATUS(plan_desk(NULL, &d, &error), HAUL_ERROR_GRAPH);
        CHECK_STR(error.path, "root.first");
    }
    types_end();
}

TEST(discovery, the_limit_of_bytes_binds_graphs_of_simple_objects_G21)
{
    haul_context_options options;
    pair *nodes = calloc(1000, sizeof *nodes);
    haul_error error;
    desk d;
    size_t i;
    CHECK(nodes != NULL);
    types_start();
    memset(&d, 0, sizeof d);
    d.first = nodes;
    for (i = 0; i + 1 < 1000; i++)
        nodes[i].left = nodes[i].right = &nodes[i + 1];
    memset(&options, 0, sizeof options);
    options.max_bytes = 500 * sizeof(pair);
    CHECK_STATUS(plan_desk(&options, &d, &error), HAUL_ERROR_LIMIT);
    options.max_bytes = 1000 * sizeof(pair) + sizeof d;
    CHECK_STATUS(plan_desk(&options, &d, &error), HAUL_OK);
    types_end();
    free(nodes);
}

/* The string lies in bytes that were marked before it. */
TEST(discovery, a_string_inside_other_bytes_must_keep_its_terminator_too)
{
    char text[32] = "a string";
    uint64_t bitmap[8];
    union {
        void *align;
        char bytes[256];
    } arena;
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    desk d;
    types_start();
    memset(&d, 0, sizeof d);
    d.bytes = (unsigned char *)text;
    d.n = sizeof text;
    d.text = text;
    d.tail = text + 2;
    root.address = &d;
    root.type = desk_type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK(plan_bytes(plan) <= sizeof arena && plan_bitmap_bytes(plan) <= sizeof bitmap);
    CHECK_STATUS(haul_plan_pack(plan, &arena, sizeof arena, 0, bitmap), HAUL_OK);
    text[8] = '!';
    CHECK_STATUS(haul_plan_pack(plan, &arena, sizeof arena, 0, bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(context)->path, "root.text");
    text[8] = '\0';
    CHECK_STATUS(haul_plan_pack(plan, &arena, sizeof arena, 0, bitmap), HAUL_OK);
    haul_plan_free(&plan);
    haul_context_free(&context);
    types_end();
}

/* ---- Many strings. */

typedef struct roll {
    char **text;
    size_t n;
} roll;

static haul_type *roll_type;

static haul_plan *roll_open(roll *s, haul_context **context)
{
    static const haul_field fields[] = { HAUL_STRINGS(roll, text, HAUL_COUNT(roll, n)) };
    haul_plan *plan;
    haul_root root;
    CHECK_STATUS(type_make("roll", sizeof(roll), fields, 1, &roll_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(roll_type), HAUL_OK);
    root.address = s;
    root.type = roll_type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(*context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    return plan;
}

static void roll_close(haul_plan **plan, haul_context **context)
{
    haul_plan_free(plan);
    haul_context_free(context);
    haul_type_free(&roll_type);
}

/* Each tail gone through on its own would be 2^39 bytes. */
TEST(discovery, all_tails_of_one_long_string_are_gone_through_once)
{
    const size_t n = (size_t)1 << 20;
    char *text = malloc(n), **tails = malloc(n * sizeof *tails);
    haul_context *context;
    haul_plan *plan;
    haul_plan_info statistics;
    roll s;
    size_t i;
    CHECK(text != NULL && tails != NULL);
    memset(text, 'x', n - 1);
    text[n - 1] = '\0';
    for (i = 0; i < n; i++)
        tails[i] = text + i;
    s.text = tails;
    s.n = n;
    plan = roll_open(&s, &context);
    haul_plan_get_info(plan, &statistics);
    CHECK_EQ(statistics.graph_bytes, n + n * sizeof *tails + sizeof s);
    roll_close(&plan, &context);
    free(tails);
    free(text);
}

/* Some are NULL, some are tails of others. */
TEST(discovery, thousands_of_strings_in_an_order_of_chance_are_each_found_once_and_whole)
{
    enum { STRINGS = 20000, ROOM = 48 };
    random_source random = random_start("strings in an order of chance");
    char *text = calloc(STRINGS, ROOM), **item = calloc(2 * STRINGS, sizeof *item), *arena;
    unsigned char *found = calloc(STRINGS, 1); /* the most bytes that any pointer leads to */
    const char *const *copy;
    size_t bytes = sizeof(roll) + 2 * STRINGS * sizeof *item, i;
    haul_context *context;
    haul_plan *plan;
    haul_plan_info statistics;
    roll s;
    CHECK(text && item && found);
    for (i = 0; i < STRINGS; i++)
        memset(text + i * ROOM + i % 3, (int)('a' + i % 26), random_below(&random, ROOM - 3));
    for (i = 0; i < 2 * STRINGS; i++) {
        const size_t number = random_below(&random, STRINGS);
        char *string = text + number * ROOM + number % 3;
        if (random_below(&random, 8) == 0)
            continue;
        item[i] = random_below(&random, 8) ? string : string + strlen(string) / 2;
        if (found[number] <= strlen(item[i]))
            found[number] = (unsigned char)(strlen(item[i]) + 1);
    }
    for (i = 0; i < STRINGS; i++)
        bytes += found[i];
    s.text = item;
    s.n = 2 * STRINGS;
    plan = roll_open(&s, &context);
    haul_plan_get_info(plan, &statistics);
    CHECK_EQ(statistics.graph_bytes, bytes);
    arena = malloc(plan_bytes(plan));
    CHECK(arena != NULL);
    CHECK_STATUS(haul_plan_pack(plan, arena, plan_bytes(plan), (uint64_t)(uintptr_t)arena, NULL),
                 HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, item, &i), HAUL_OK);
    copy = (const char *const *)(const void *)(arena + i);
    for (i = 0; i < 2 * STRINGS; i++) {
        CHECK(!copy[i] == !item[i]);
        CHECK_STR(copy[i] ? copy[i] : "", item[i] ? item[i] : "");
    }
    free(arena);
    roll_close(&plan, &context);
    free(found);
    free(item);
    free(text);
}

/* String literals lie in memory that cannot be written. */
TEST(discovery, bringing_back_does_not_write_what_is_equal)
{
    haul_device *device;
    haul_shipment *shipment;
    desk d;
    types_start();
    memset(&d, 0, sizeof d);
    d.text = (char *)(uintptr_t) "a literal that nobody may write to";
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &d, desk_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, RANGE(d.text, 10), NULL), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    types_end();
}

/* ---- Many objects of one kind, and of two by turns, with any number of pointers. */

enum { MOST_POINTERS = 6, FAN = 96 };

typedef struct many {
    haul_type *kind[2], *fan;
    size_t pointers, bytes;
} many;

static void many_open(many *m, size_t pointers, int mixed)
{
    static char name[FAN][8];
    haul_field fields[FAN];
    size_t i, k;
    m->pointers = pointers;
    m->bytes = (pointers + 2) / 2 * 2 * sizeof(void *);
    memset(fields, 0, sizeof fields);
    for (i = 0; i < FAN; i++) {
        sprintf(name[i], "p%u", (unsigned)i);
        fields[i].name = name[i];
        fields[i].kind = HAUL_FIELD_POINTER;
        fields[i].offset = i * sizeof(void *);
        fields[i].bytes = sizeof(void *);
        fields[i].levels = 1;
        fields[i].target = &m->kind[0];
    }
    for (k = 0; k < 2; k++)
        CHECK_STATUS(type_make(k ? "odd" : "even", m->bytes, fields, pointers, &m->kind[k]),
                     HAUL_OK);
    for (i = 0; i < FAN; i++)
        fields[i].target = &m->kind[mixed ? i % 2 : 0];
    CHECK_STATUS(type_make("fan", FAN * sizeof(void *), fields, FAN, &m->fan), HAUL_OK);
    CHECK_STATUS(haul_type_commit(m->fan), HAUL_OK);
    CHECK_STATUS(haul_type_commit(m->kind[1]), HAUL_OK);
}

static void many_close(many *m)
{
    haul_type_free(&m->fan);
    haul_type_free(&m->kind[0]);
    haul_type_free(&m->kind[1]);
}

static haul_status plan_fan(const many *m, void **fan, size_t *objects, haul_error *error)
{
    haul_plan_info told;
    haul_context *context;
    haul_plan *plan = NULL;
    haul_root root;
    haul_status status;
    root.address = fan;
    root.type = m->fan;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    status = haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan);
    *error = *haul_context_error(context);
    haul_plan_get_info(plan, &told);
    *objects = told.objects;
    haul_plan_free(&plan);
    haul_context_free(&context);
    return status;
}

TEST(discovery, an_address_above_all_others_is_refused_whoever_leads_there_G5)
{
    const uintptr_t above = UINTPTR_MAX - 63;
    size_t pointers, at;
    int mixed;
    for (pointers = 1; pointers <= MOST_POINTERS; pointers++)
        for (mixed = 0; mixed < 2; mixed++) {
            many m;
            haul_error error;
            size_t objects;
            void *fan[FAN];
            unsigned char *memory;
            many_open(&m, pointers, mixed);
            memory = calloc(FAN, m.bytes);
            CHECK(memory != NULL);
            for (at = 0; at < FAN; at++)
                fan[at] = memory + at * m.bytes;
            CHECK_STATUS(plan_fan(&m, fan, &objects, &error), HAUL_OK);
            CHECK_EQ(objects, FAN + 1);
            for (at = 5; at < FAN; at += 30) {
                char path[40];
                unsigned char *place = (unsigned char *)fan[at] + (pointers - 1) * sizeof(void *);
                memcpy(place, &above, sizeof above);
                CHECK_STATUS(plan_fan(&m, fan, &objects, &error), HAUL_ERROR_GRAPH);
                sprintf(path, "root.p%u.p%u", (unsigned)at, (unsigned)(pointers - 1));
                CHECK_STR(error.path, path);
                CHECK_HAS(error.text, "outside any process's address range");
                memset(place, 0, sizeof above);
            }
            free(memory);
            many_close(&m);
        }
}

typedef struct book {
    struct book *next;
    uintptr_t pages;
} book;

typedef struct shelf {
    struct shelf *next;
    book **books;
    size_t count;
} shelf;

TEST(discovery, an_address_above_all_others_is_refused_in_arrays_of_pointers_G5)
{
    enum { SHELVES = 300, BOOKS = 10 };
    static haul_type *book_type, *shelf_type;
    const haul_field book_fields[] = { HAUL_OBJECT(book, next, &book_type) };
    const haul_field fields[] = { HAUL_OBJECT(shelf, next, &shelf_type),
                                  HAUL_ADDRESS(shelf, books, .levels = 2, .target = &book_type,
                                               .count = HAUL_COUNT(shelf, count)) };
    static shelf shelves[SHELVES];
    static book books[SHELVES][BOOKS];
    static book *lists[SHELVES][BOOKS];
    haul_plan *plan;
    size_t i, k;
    book_type = TYPE_NEW(book, book_fields);
    shelf_type = TYPE_NEW(shelf, fields);
    CHECK_STATUS(haul_type_commit(shelf_type), HAUL_OK);
    for (i = 0; i < SHELVES; i++) {
        shelves[i].next = i + 1 < SHELVES ? &shelves[i + 1] : NULL;
        shelves[i].books = lists[i];
        shelves[i].count = BOOKS;
        for (k = 0; k < BOOKS; k++)
            lists[i][k] = &books[i][k];
    }
    for (i = 0; i < 40; i += 13) { /* all of the path can be told */
        lists[i][7] = (book *)(UINTPTR_MAX - 63);
        CHECK_STATUS(
            haul_plan_create(type_context(), haul_from_object(shelves, shelf_type), NULL, &plan),
            HAUL_ERROR_GRAPH);
        CHECK_HAS(haul_context_error(type_context())->path, "books[7]");
        lists[i][7] = &books[i][7];
    }
    CHECK_STATUS(
        haul_plan_create(type_context(), haul_from_object(shelves, shelf_type), NULL, &plan),
        HAUL_OK);
    haul_plan_free(&plan);
    haul_type_free(&shelf_type);
    haul_type_free(&book_type);
}

/* Each object once, by a walk of its own with a list of what it has seen. */
TEST(discovery, random_objects_of_one_kind_are_each_found_once_whatever_their_pointers_G13)
{
    enum { OBJECTS = 3000 };
    random_source random = random_start("objects of one kind");
    size_t pointers, i, k;
    for (pointers = 1; pointers <= MOST_POINTERS; pointers++) {
        many m;
        haul_error error;
        size_t objects, seen_count = 0;
        unsigned char *memory, *seen = calloc(1, OBJECTS);
        size_t *list = malloc(OBJECTS * sizeof *list);
        void *fan[FAN];
        many_open(&m, pointers, 0);
        memory = calloc(OBJECTS, m.bytes);
        CHECK(memory && seen && list);
        for (i = 0; i < OBJECTS; i++)
            for (k = 0; k < pointers; k++)
                if (random_below(&random, 3)) {
                    void *to = memory + random_below(&random, OBJECTS) * m.bytes;
                    memcpy(memory + i * m.bytes + k * sizeof to, &to, sizeof to);
                }
        for (i = 0; i < FAN; i++)
            fan[i] = memory + random_below(&random, OBJECTS) * m.bytes;
        for (i = 0; i < FAN + seen_count * pointers; i++) {
            void *to;
            size_t number;
            if (i < FAN)
                to = fan[i];
            else
                memcpy(&to,
                       memory + list[(i - FAN) / pointers] * m.bytes +
                           (i - FAN) % pointers * sizeof to,
                       sizeof to);
            number = to ? (size_t)((unsigned char *)to - memory) / m.bytes : 0;
            if (to && !seen[number]) {
                seen[number] = 1;
                list[seen_count++] = number;
            }
        }
        CHECK_STATUS(plan_fan(&m, fan, &objects, &error), HAUL_OK);
        CHECK_EQ(objects, seen_count + 1);
        free(list);
        free(seen);
        free(memory);
        many_close(&m);
    }
}

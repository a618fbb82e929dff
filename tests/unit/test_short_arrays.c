/* Short counted arrays and strings: the path of their own in discovery (walk/plain_arrays.c), and
 * its limits.
 *
 * Each graph also takes the general path (in checked contexts, and in contexts with a hash in place
 * of the table); the results must be the same.
 *
 * Faults by number (docs/testing.md): G2-G4, G6-G8, G10, G19, G21.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct point {
    int32_t x, y, z;
} point;

typedef struct row {
    struct row *next;
    unsigned char *bytes;
    uint16_t *halves;
    double *numbers;
    point *points;
    char *name;
    struct row **others;
    int64_t rows, columns;
    int32_t number_count;
    int16_t half_count, other_count;
    uint8_t byte_count;
} row;

static haul_type *point_type, *row_type;
static int by_functions; /* the next rows' counts are told by functions, not by the fields */

HAUL_FUNCTION(bytes_of, row, self->byte_count)
HAUL_FUNCTION(halves_of, row, self->half_count)
HAUL_FUNCTION(numbers_of, row, self->number_count - 1)
HAUL_FUNCTION(points_of, row, self->rows * self->columns)
HAUL_FUNCTION(others_of, row, self->other_count)

static void rows_start(void)
{
    static const haul_field called_fields[] = {
        HAUL_OBJECT(row, next, &row_type),
        HAUL_ARRAY(row, bytes, HAUL_COUNT_FN(bytes_of)),
        HAUL_ARRAY(row, halves, HAUL_COUNT_FN(halves_of)),
        HAUL_ARRAY(row, numbers, HAUL_COUNT_FN(numbers_of)),
        HAUL_OBJECTS(row, points, &point_type, HAUL_COUNT_FN(points_of)),
        HAUL_STRING(row, name),
        HAUL_POINTERS(row, others, &row_type, HAUL_COUNT_FN(others_of)),
    };
    static const haul_field fields[] = {
        HAUL_OBJECT(row, next, &row_type),
        HAUL_ARRAY(row, bytes, HAUL_COUNT(row, byte_count)),
        HAUL_ARRAY(row, halves, HAUL_COUNT(row, half_count)),
        HAUL_ARRAY(row, numbers, HAUL_COUNT_PLUS(row, number_count, -1)),
        HAUL_OBJECTS(row, points, &point_type, HAUL_COUNT(row, rows, columns)),
        HAUL_STRING(row, name),
        HAUL_POINTERS(row, others, &row_type, HAUL_COUNT(row, other_count)),
    };
    point_type =
        type_new(&(const haul_struct){ .name = "point", .bytes = sizeof(point), .alignment = 4 });
    row_type = by_functions ? TYPE_OPEN(row, called_fields) : TYPE_OPEN(row, fields);
    type_commit(row_type);
    lab_start();
}

static void rows_end(void)
{
    lab_end();
    haul_type_free(&row_type);
    haul_type_free(&point_type);
}

static row *take_rows(size_t count)
{
    row *rows = take(count * sizeof *rows, sizeof(int64_t));
    size_t i;
    for (i = 0; i < count; i++) {
        points(&rows[i].next);
        points(&rows[i].bytes);
        points(&rows[i].halves);
        points(&rows[i].numbers);
        points(&rows[i].points);
        points(&rows[i].name);
        points(&rows[i].others);
        rows[i].number_count = 1;
    }
    return rows;
}

/* Now and then a gap, so that not everything is live. */
static void *take_filled(random_source *random, size_t bytes, size_t alignment)
{
    void *taken;
    the.used += random_below(random, 3) ? 0 : random_below(random, 40);
    taken = take(bytes, alignment);
    fill(taken, bytes);
    return taken;
}

static void fill_row(random_source *random, row *one)
{
    if (random_below(random, 8)) {
        one->byte_count = (uint8_t)random_below(random, 256);
        one->bytes = one->byte_count ? take_filled(random, one->byte_count, 1) : NULL;
    }
    if (random_below(random, 8)) {
        one->half_count = (int16_t)(1 + random_below(random, 50));
        one->halves =
            take_filled(random, (size_t)one->half_count * sizeof *one->halves, sizeof *one->halves);
    }
    if (random_below(random, 8)) {
        /* some of them in more than two cells of the map */
        one->number_count = 2 + (int32_t)random_below(random, random_below(random, 8) ? 60 : 510);
        one->numbers =
            take_filled(random, (size_t)(one->number_count - 1) * sizeof(double), sizeof(double));
    }
    if (random_below(random, 8)) {
        one->rows = (int64_t)random_below(random, 5);
        one->columns = (int64_t)random_below(random, 7);
        if (one->rows && one->columns)
            one->points = take_filled(random, (size_t)(one->rows * one->columns) * sizeof(point),
                                      sizeof(int32_t));
    }
    if (random_below(random, 8)) {
        size_t length = (size_t)random_below(random, 70);
        one->name = take_filled(random, length + 1, 1);
        one->name[length] = '\0';
    }
}

/* Pointers to rows of chance, some of them NULL. */
static void fill_others(random_source *random, row *one, row *rows, size_t count)
{
    const size_t others = 1 + random_below(random, random_below(random, 8) ? 6 : 500);
    size_t i;
    one->other_count = (int16_t)others;
    one->others = take(others * sizeof(row *), sizeof(row *));
    for (i = 0; i < others; i++) {
        points(&one->others[i]);
        one->others[i] = random_below(random, 5) ? &rows[random_below(random, count)] : NULL;
    }
}

static int has_overlaps; /* of arrays of pointers, in this graph */

/* The end of an earlier row's array; the earlier row keeps all before it, and some of it. */
static void share_others(random_source *random, row *one, row *earlier)
{
    const size_t count = (size_t)earlier->other_count;
    const size_t skipped = 1 + random_below(random, count - 1);
    has_overlaps = 1;
    one->others = earlier->others + skipped;
    one->other_count = (int16_t)(count - skipped);
    earlier->other_count = (int16_t)(skipped + random_below(random, count - skipped + 1));
}

/* An array of an earlier row, or part of it. */
static void share_row(random_source *random, row *one, row *earlier)
{
    if (earlier->byte_count && random_below(random, 2)) {
        size_t skipped = (size_t)random_below(random, earlier->byte_count);
        one->bytes = earlier->bytes + skipped;
        one->byte_count = (uint8_t)(earlier->byte_count - skipped);
    }
    if (earlier->half_count && random_below(random, 2)) {
        one->half_count = (int16_t)(1 + random_below(random, (size_t)earlier->half_count));
        one->halves = earlier->halves;
    }
    if (earlier->other_count > 1 && random_below(random, 2))
        share_others(random, one, earlier);
    if (earlier->name && random_below(random, 2))
        one->name = earlier->name + random_below(random, strlen(earlier->name) + 1);
}

static row *make_rows(random_source *random, size_t count)
{
    row *rows = take_rows(count);
    size_t i;
    for (i = 0; i < count; i++) {
        if (i > 0 && random_below(random, 3) == 0)
            share_row(random, &rows[i], &rows[random_below(random, i)]);
        else
            fill_row(random, &rows[i]);
        if (!rows[i].others && random_below(random, 4))
            fill_others(random, &rows[i], rows, count);
        rows[i].next = random_below(random, 2) ? &rows[random_below(random, count)] : NULL;
    }
    return rows;
}

/* Objects, bytes and pointers as the two ways count them. An array of pointers that overlaps others
 * counts as an object if it has new bytes: then the number of objects depends on the order, which
 * is not the same. */
static void check_counts(const haul_root *root)
{
    haul_plan_info in_line, general;
    int variant;
    for (variant = 0; variant <= FLAT; variant += FLAT) {
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(root, 1), NULL, &the.plan),
                     HAUL_OK);
        haul_plan_get_info(the.plan, variant ? &in_line : &general);
    }
    if (!has_overlaps)
        CHECK_EQ(in_line.objects, general.objects);
    CHECK_EQ(in_line.graph_bytes, general.graph_bytes);
    CHECK_EQ(in_line.pointers, general.pointers);
}

static void pack_arrays_anywhere(void)
{
    random_source random = random_start("counted arrays");
    int round;
    for (round = 0; round < 12; round++) {
        haul_root root;
        rows_start();
        has_overlaps = 0;
        root.type = row_type;
        root.count = 1 + random_below(&random, 120);
        root.address = make_rows(&random, root.count);
        lab_pack_roots(&root, 1);
        check_counts(&root);
        rows_end();
    }
}

TEST(short_arrays, arrays_of_every_kind_of_count_lie_anywhere_and_share_granules_and_bytes_G10)
{
    pack_arrays_anywhere();
}

static void count_one_by_one(void)
{
    haul_root root;
    row *rows;
    size_t i, objects;
    random_source random = random_from(7);
    rows_start();
    has_overlaps = 0;
    rows = take_rows(100);
    for (i = 0; i < 100; i++)
        fill_row(&random, &rows[i]);
    root.address = rows;
    root.type = row_type;
    root.count = 100;
    lab_pack_roots(&root, 1);
    objects = (size_t)the.statistics.objects;
    for (i = 0; i + 1 < 100; i++)
        rows[i].next = &rows[i + 1];
    root.count = 1;
    lab_pack_roots(&root, 1);
    check_counts(&root);
    CHECK(the.statistics.objects > objects); /* each row is one now */
    rows_end();
}

TEST(short_arrays, rows_that_are_reached_one_by_one_count_as_those_of_an_array_do)
{
    count_one_by_one();
}

/* Each row is reached through the first pointer of the row before it. */
TEST(short_arrays, rows_are_found_through_short_arrays_of_pointers_that_overlap)
{
    random_source random = random_start("arrays of pointers");
    haul_root root;
    row *rows;
    size_t i;
    rows_start();
    rows = take_rows(300);
    for (i = 0; i + 1 < 300; i++) {
        if (i > 0 && rows[i - 1].other_count > 1 && random_below(&random, 2))
            share_others(&random, &rows[i], &rows[i - 1]);
        else
            fill_others(&random, &rows[i], rows, i + 1);
        rows[i].others[0] = &rows[i + 1];
    }
    root.address = rows;
    root.type = row_type;
    root.count = 1;
    lab_pack_roots(&root, 1);
    check_counts(&root);
    rows_end();
}

TEST(short_arrays, arrays_that_functions_count_lie_anywhere_too_G10)
{
    by_functions = 1;
    pack_arrays_anywhere();
    count_one_by_one();
    by_functions = 0;
}

#define LAST "root(.next)*3"

/* The last of four rows: the first of a type goes the general way, and so does who finds no room
 * for a guard. */
static row *take_last(row **first)
{
    row *rows = *first = take_rows(4);
    rows[0].next = &rows[1];
    rows[1].next = &rows[2];
    rows[2].next = &rows[3];
    return &rows[3];
}

TEST(short_arrays, a_short_array_over_a_pointer_is_refused_with_its_path_G8)
{
    row *first, *one;
    rows_start();
    one = take_last(&first);
    one->bytes = (unsigned char *)&first->halves + 3;
    one->byte_count = 2;
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".bytes",
               "pointer for one description and data for another");
    one->bytes = (unsigned char *)&first->rows;
    one->byte_count = sizeof first->rows;
    lab_pack(first, row_type, 1);
    rows_end();
}

TEST(short_arrays, what_is_wrong_with_a_short_array_is_told_as_for_any_G2_G3_G4_G6_G7)
{
    row *first, *one;
    rows_start();
    one = take_last(&first);
    one->half_count = 3;
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".halves", "a NULL pointer with count 3");
    one->half_count = -3;
    one->halves = take(6, 2);
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".halves", "count -3");
    one->half_count = 3;
    one->number_count = 0;
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".numbers", "count -1");
    one->number_count = 1;
    one->rows = one->columns = INT64_C(1) << 32;
    one->points = take(sizeof(point), 4);
    lab_refuse(first, row_type, HAUL_ERROR_LIMIT, LAST ".points", "overflows");
    one->rows = 1;
    one->columns = 1;
    one->points = (point *)((uintptr_t)one->points + 2);
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".points", "misaligned");
    one->points = (point *)16;
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".points",
               "12 bytes at 0x10 lie outside any process's address range");
    rows_end();
}

/* ---- What was read must stay. */

typedef struct counts {
    unsigned char *a, *b, *c, *d;
    uint64_t an;
    int32_t bn;
    uint16_t cn;
    uint8_t dn;
} counts;

static haul_type *counts_type;

static void counts_start(void)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(counts, a, HAUL_COUNT(counts, an)),
        HAUL_ARRAY(counts, b, HAUL_COUNT(counts, bn)),
        HAUL_ARRAY(counts, c, HAUL_COUNT(counts, cn)),
        HAUL_ARRAY(counts, d, HAUL_COUNT(counts, dn)),
    };
    counts_type = TYPE_OPEN(counts, fields);
    type_commit(counts_type);
}

/* A plan of two notices each count of the second that changes, and that it is as it was again. */
static void check_guards(counts *both)
{
    counts *const c = &both[1];
    const size_t room = (size_t)1 << 17;
    unsigned char *arena = malloc(room);
    uint64_t bitmap[1 << 9];
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    int field;
    CHECK(arena != NULL);
    root.address = both;
    root.type = counts_type;
    root.count = 2;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK(plan_bytes(plan) <= room && plan_bitmap_bytes(plan) <= sizeof bitmap);
    CHECK_STATUS(haul_plan_pack(plan, arena, room, 0, bitmap), HAUL_OK);
    for (field = 0; field < 4; field++) {
        static const char *const path[] = { "root[1].a", "root[1].b", "root[1].c", "root[1].d" };
        const counts kept = *c;
        c->an -= field == 0;
        c->bn -= field == 1;
        c->cn = (uint16_t)(c->cn - (field == 2));
        c->dn = (uint8_t)(c->dn - (field == 3));
        CHECK_STATUS(haul_plan_pack(plan, arena, room, 0, bitmap), HAUL_ERROR_STALE);
        CHECK_STR(haul_context_error(context)->path, path[field]);
        *c = kept;
        CHECK_STATUS(haul_plan_pack(plan, arena, room, 0, bitmap), HAUL_OK);
    }
    haul_plan_free(&plan);
    haul_context_free(&context);
    free(arena);
}

TEST(short_arrays, counts_of_any_size_and_width_are_guarded)
{
    static const size_t size[] = { 1,    127,  128,  255,   4095,  4096,
                                   8191, 8192, 8193, 16384, 40000, 65535 };
    unsigned char *bytes = calloc(1, 65536);
    size_t i;
    CHECK(bytes != NULL);
    counts_start();
    for (i = 0; i < COUNT_OF(size); i++) {
        counts both[2];
        memset(both, 0, sizeof both);
        both[1].a = both[1].b = both[1].c = both[1].d = bytes;
        both[1].an = size[i];
        both[1].bn = (int32_t)size[i];
        both[1].cn = (uint16_t)size[i];
        both[1].dn = (uint8_t)(size[i] < 255 ? size[i] : 255);
        check_guards(both);
    }
    haul_type_free(&counts_type);
    free(bytes);
}

/* ---- Functions that count. */

TEST(short_arrays,
     what_is_wrong_with_an_array_that_a_function_counts_is_told_with_its_path_G3_G4_G6_G7_G8_G21)
{
    row *first, *one;
    point *spot;
    by_functions = 1;
    rows_start();
    one = take_last(&first);
    one->halves = take(6, 2);
    one->half_count = -3;
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".halves", "its callback answered -3");
    one->half_count = 3;
    one->points = spot = take(sizeof(point), 4);
    one->rows = INT64_C(1) << 40;
    one->columns = INT64_C(1) << 22;
    lab_refuse(first, row_type, HAUL_ERROR_LIMIT, LAST ".points", "4611686018427387904");
    one->rows = one->columns = 1;
    one->points = (point *)((uintptr_t)spot + 2);
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".points", "misaligned");
    one->points = (point *)16;
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".points",
               "12 bytes at 0x10 lie outside any process's address range");
    one->points = spot;
    one->bytes = (unsigned char *)&first->halves + 3;
    one->byte_count = 2;
    lab_refuse(first, row_type, HAUL_ERROR_GRAPH, LAST ".bytes",
               "pointer for one description and data for another");
    one->bytes = take(21, 1);
    one->byte_count = 21;
    the.options.max_array_elements = 20;
    lab_refuse(first, row_type, HAUL_ERROR_LIMIT, LAST ".bytes", "limit array_elements");
    the.options.max_array_elements = 0;
    lab_pack(first, row_type, 1);
    rows_end();
    by_functions = 0;
}

/* Lines of 0, 1, 10, 100, ... numbers: the short ones in line, the others the general way. */
typedef struct ragged {
    int32_t count;
    double **lines;
} ragged;

static size_t asked;

static int64_t line_length(const haul_here *here)
{
    int64_t length = here->index > 0;
    size_t i;
    for (i = 1; i < here->index; i++)
        length *= 10;
    asked++;
    return length;
}

TEST(short_arrays, lines_of_any_length_are_asked_for_once_each)
{
    enum { LINES = 5 };
    static const haul_field fields[] = { HAUL_ARRAYS(ragged, lines, HAUL_COUNT(ragged, count),
                                                     HAUL_COUNT_FN(line_length)) };
    haul_type *type = TYPE_OPEN(ragged, fields);
    haul_plan_info statistics;
    haul_root root;
    ragged r;
    double *lines[LINES] = { NULL };
    int i, variant;
    type_commit(type);
    r.count = LINES;
    r.lines = lines;
    for (i = 0; i < LINES; i++)
        CHECK((lines[i] = calloc(1000, sizeof(double))) != NULL);
    root.address = &r;
    root.type = type;
    root.count = 1;
    lab_start();
    for (variant = 0; variant <= FLAT; variant += FLAT) {
        lab_drop();
        lab_open_context(variant);
        asked = 0;
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_OK);
        CHECK_EQ(asked, LINES);
        haul_plan_get_info(the.plan, &statistics);
        CHECK_EQ(statistics.objects, 2 + LINES - 1); /* and no line of none */
        CHECK_EQ(statistics.graph_bytes, sizeof r + sizeof lines + 1111 * sizeof(double));
    }
    lab_end();
    for (i = 0; i < LINES; i++)
        free(lines[i]);
    haul_type_free(&type);
}

/* The limits hold for arrays that are as short as the in-line way takes them. */
/* ---- What a callback is shown. */

/* A block that begins with its own length, as sized strings have it. */
typedef struct parcel {
    int64_t length;
} parcel;
typedef struct shelf {
    int64_t *first, *second;
} shelf;

static size_t parcels_asked;

static int64_t parcel_length(const haul_here *here)
{
    parcels_asked++;
    return here->target ? ((const parcel *)here->target)->length : 0;
}

TEST(short_arrays, a_callback_is_not_asked_of_what_a_changed_pointer_leads_to_D13)
{
    static haul_type *shelf_type;
    static const haul_field fields[] = { HAUL_ARRAY(shelf, first, HAUL_COUNT_FN(parcel_length)),
                                         HAUL_ARRAY(shelf, second, HAUL_COUNT_FN(parcel_length)) };
    int64_t memory[2][4] = { { 4, 1, 2, 3 }, { 2, 5, 0, 0 } };
    void *arena = malloc(256);
    haul_context *context;
    haul_plan *plan;
    haul_root root = { NULL, NULL, 1 };
    shelf s = { memory[0], memory[1] };
    CHECK_STATUS(type_make("shelf", sizeof(shelf), fields, 2, &shelf_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(shelf_type), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    root.address = &s;
    root.type = shelf_type;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_plan_pack(plan, arena, 256, 4096, NULL), HAUL_OK);
    parcels_asked = 0;
    s.first = (int64_t *)(uintptr_t)64;
    CHECK_STATUS(haul_plan_pack(plan, arena, 256, 4096, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(context)->path, "root.first");
    CHECK_EQ(parcels_asked, 0);
    s.first = memory[0];
    memory[0][0] = INT64_C(1) << 40; /* no count that fits beside an address */
    CHECK_STATUS(haul_plan_pack(plan, arena, 256, 4096, NULL), HAUL_ERROR_STALE);
    CHECK(parcels_asked > 0);
    memory[0][0] = 4;
    CHECK_STATUS(haul_plan_pack(plan, arena, 256, 4096, NULL), HAUL_OK);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&shelf_type);
    free(arena);
}

TEST(short_arrays, limits_of_elements_and_of_strings_bind_short_ones_G19_G21)
{
    row *first, *one;
    rows_start();
    one = take_last(&first);
    one->byte_count = 21;
    one->bytes = take(21, 1);
    the.options.max_array_elements = 20;
    lab_refuse(first, row_type, HAUL_ERROR_LIMIT, LAST ".bytes", "limit array_elements");
    the.options.max_array_elements = 0;
    one->name = text("twenty characters, no");
    the.options.max_scan_bytes = 20;
    lab_refuse(first, row_type, HAUL_ERROR_LIMIT, LAST ".name", "no terminator within 20 bytes");
    the.options.max_scan_bytes = 0;
    lab_pack(first, row_type, 1);
    rows_end();
}

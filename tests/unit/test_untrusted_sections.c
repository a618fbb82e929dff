/* A device that is not trusted, and sections (haul_ship_options.untrusted): rows that a kernel
 * leads elsewhere, rows over what counts, and extents that would keep the host busy.
 *
 * Faults by number (docs/testing.md): D14 (device results are hostile).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/types.h"
#include "untrusted_returns.h"

/* ---- Rows that lie in another array. */

typedef struct pair {
    double x, y;
} pair;

typedef struct rows {
    double *at;
    pair *pairs; /* of the same numbers of rows */
    int32_t height, width, stride, pad;
} rows;

typedef struct holder {
    double *first, *second;
    pair *third, *fourth;
    rows *rows;
    int32_t counts[4];
} holder;

static haul_type *pair_type, *rows_type, *holder_type;

static void holder_open(void)
{
    static const haul_dimension dimensions[] = {
        HAUL_DIMENSION(HAUL_COUNT(rows, width), HAUL_FIXED(1)),
        HAUL_DIMENSION(HAUL_COUNT(rows, height), HAUL_COUNT(rows, stride)),
    };
    static const haul_field pair_fields[] = { HAUL_RAW(pair, x), HAUL_RAW(pair, y) };
    static const haul_field rows_fields[] = {
        HAUL_SECTION(rows, at, dimensions),
        HAUL_SECTION(rows, pairs, dimensions, .target = &pair_type),
    };
    static const haul_field fields[] = {
        HAUL_ARRAY(holder, first, HAUL_COUNT(holder, counts[0])),
        HAUL_ARRAY(holder, second, HAUL_COUNT(holder, counts[1])),
        HAUL_OBJECTS(holder, third, &pair_type, HAUL_COUNT(holder, counts[2])),
        HAUL_OBJECTS(holder, fourth, &pair_type, HAUL_COUNT(holder, counts[3])),
        HAUL_OBJECT(holder, rows, &rows_type),
    };
    open_device(NULL);
    pair_type = TYPE_NEW(pair, pair_fields);
    CHECK_STATUS(haul_type_commit(pair_type), HAUL_OK);
    rows_type = TYPE_NEW(rows, rows_fields);
    CHECK_STATUS(haul_type_commit(rows_type), HAUL_OK);
    holder_type = TYPE_NEW(holder, fields);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
}

static void holder_close(void)
{
    close_device();
    haul_type_free(&holder_type);
    haul_type_free(&rows_type);
    haul_type_free(&pair_type);
}

static double numbers[400];
static pair pairs[400];

/* Two rows, of which the array before has all bytes; that of the second rows is far from it. */
static void fill(holder *h, rows *r, int with_numbers)
{
    memset(h, 0, sizeof *h);
    memset(r, 0, sizeof *r);
    h->rows = r;
    h->counts[0] = h->counts[2] = 20;
    h->counts[1] = h->counts[3] = 40;
    r->height = 2;
    r->width = 4;
    r->stride = 8;
    if (with_numbers) {
        h->first = numbers;
        h->second = numbers + 200;
        h->counts[2] = h->counts[3] = 0;
        r->at = numbers;
    } else {
        h->third = pairs;
        h->fourth = pairs + 200;
        h->counts[0] = h->counts[1] = 0;
        r->pairs = pairs;
    }
}

/* In the copy one array lies behind the other. On the host the second row would lie in neither. */
TEST(untrusted, a_row_of_a_section_does_not_lie_in_another_array)
{
    holder h;
    rows r, was;
    int32_t stride;
    int how;
    holder_open();
    for (how = 0; how < 8; how++)
        for (stride = 5; stride < 60; stride++) {
            fill(&h, &r, how >> 2);
            ship(&h, holder_type, how & 1, 1);
            CHECK_STATUS(come_back(how >> 1 & 1), HAUL_OK);
            put(&r.stride, &stride, sizeof stride);
            was = r;
            if (stride > 8) {
                CHECK_STATUS(come_back(how >> 1 & 1), HAUL_ERROR_GRAPH);
                CHECK_BYTES(&r, &was, sizeof r);
                CHECK(error()->path[0] != 0);
            } else {
                CHECK_STATUS(come_back(how >> 1 & 1), HAUL_OK);
                CHECK(r.stride == stride);
            }
        }
    holder_close();
}

/* ---- Columns of an array of structs. */

typedef struct cell {
    double value;
    double *more;  /* count */
    int32_t count; /* a whole number of values on 32 and 64 bits */
} cell;

typedef struct column {
    cell *cells; /* height */
    double *values;
    int32_t height, stride;
} column;

enum { CELLS = 6 };

/* Between its values lie counts and pointers, which a row of them must not cover. */
TEST(untrusted, a_column_of_structs_comes_back_and_stays_one)
{
    static const haul_dimension by_cells[] = {
        HAUL_DIMENSION(HAUL_COUNT(column, height), HAUL_COUNT(column, stride)),
    };
    haul_type *cell_type = NULL, *type = NULL;
    const haul_field cell_fields[] = {
        HAUL_RAW(cell, value),
        HAUL_ARRAY(cell, more, HAUL_COUNT(cell, count)),
    };
    const haul_field fields[] = {
        HAUL_OBJECTS(column, cells, &cell_type, HAUL_COUNT(column, height)),
        HAUL_SECTION(column, values, by_cells),
    };
    const double half = 0.5;
    double more[CELLS];
    cell cells[CELLS];
    column c, was;
    int how, i;
    open_device(NULL);
    cell_type = TYPE_NEW(cell, cell_fields);
    CHECK_STATUS(haul_type_commit(cell_type), HAUL_OK);
    type = TYPE_NEW(column, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (how = 0; how < 4; how++) {
        memset(cells, 0, sizeof cells);
        memset(more, 0, sizeof more);
        memset(&c, 0, sizeof c);
        for (i = 0; i < CELLS; i++) {
            cells[i].more = &more[i];
            cells[i].count = 1;
        }
        c.cells = cells;
        c.values = &cells[0].value;
        c.height = CELLS;
        c.stride = (int32_t)(sizeof(cell) / sizeof(double));
        ship(&c, type, how & 1, 1);
        put(&cells[2].value, &half, sizeof half);
        CHECK_STATUS(come_back(how >> 1), HAUL_OK);
        CHECK(cells[2].value == 0.5);
        was = c;
        i = 1;
        put(&c.stride, &i, sizeof i);
        CHECK_STATUS(come_back(how >> 1), HAUL_ERROR_GRAPH);
        CHECK_BYTES(&c, &was, sizeof c);
        i = 2 * was.stride;
        put(&c.stride, &i, sizeof i);
        CHECK_STATUS(come_back(how >> 1), HAUL_ERROR_GRAPH);
        CHECK_BYTES(&c, &was, sizeof c);
    }
    close_device();
    haul_type_free(&type);
    haul_type_free(&cell_type);
}

/* ---- Rows beside a number that the graph depends on. */

typedef struct sheet {
    uint8_t *rows; /* `height` rows of 2 bytes, 8 bytes apart */
    int32_t spare[5], height, after[5], pad;
} sheet;

/* Two rows of 2 bytes have the number between them, or some of its bytes, or none. */
TEST(untrusted, a_number_may_lie_between_the_rows_of_a_section)
{
    static const haul_dimension dimensions[] = {
        HAUL_DIMENSION(HAUL_ONE, HAUL_FIXED(1)),
        HAUL_DIMENSION(HAUL_FIXED(2), HAUL_FIXED(1)),
        HAUL_DIMENSION(HAUL_COUNT(sheet, height), HAUL_FIXED(8)),
    };
    static const haul_field fields[] = { HAUL_SECTION(sheet, rows, dimensions) };
    haul_type *type;
    sheet s;
    int ordered, at;
    open_device(NULL);
    type = TYPE_NEW(sheet, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (ordered = 0; ordered < 2; ordered++)
        for (at = -12; at < 6; at++) { /* of the first row, from the number on */
            const int is_free = at <= -10 || (at >= -4 && at <= -2) || at >= 4;
            memset(&s, 0, sizeof s);
            s.height = 2;
            s.rows = (uint8_t *)&s.height + at;
            ship(&s, type, ordered, 1);
            CHECK_STATUS(come_back(1), is_free ? HAUL_OK : HAUL_ERROR_GRAPH);
            if (!is_free)
                CHECK_HAS(haul_context_error(haul_device_context(device))->text,
                          "data of another object");
        }
    close_device();
    haul_type_free(&type);
}

/* ---- Work. */

typedef struct busy {
    float *at;
    pair *pairs;
    int32_t extents[6], strides[6];
} busy;

#define BUSY(i) HAUL_DIMENSION(HAUL_COUNT(busy, extents[i]), HAUL_COUNT(busy, strides[i]))

static void check_busy(const haul_type *type, busy *b, int32_t extent, int32_t stride)
{
    const busy was = *b;
    clock_t begin;
    int32_t bad[12];
    int i;
    for (i = 0; i < 6; i++) {
        bad[i] = extent;
        bad[6 + i] = stride;
    }
    ship(b, type, 0, 1);
    put(b->extents, bad, sizeof bad);
    begin = clock();
    CHECK(come_back(1) != HAUL_OK);
    CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
    CHECK_BYTES(b, &was, sizeof was);
    CHECK(error()->path[0] != 0);
}

/* Each of these would take minutes, or all memory. */
TEST(untrusted, sections_of_any_numbers_do_not_keep_the_host_busy)
{
    static const haul_dimension dimensions[] = { BUSY(0), BUSY(1), BUSY(2),
                                                 BUSY(3), BUSY(4), BUSY(5) };
    static const int32_t extents[] = { 2, 9, 17, 60, 1 << 5, 1 << 20, INT32_MAX };
    static const int32_t strides[] = { 1, 2, 3, 200, -1, 1 << 10, 1 << 20, INT32_MAX, INT32_MIN };
    const haul_field fields[][1] = {
        { HAUL_SECTION(busy, at, dimensions) },
        { HAUL_SECTION(busy, pairs, dimensions, .target = &pair_type) },
    };
    haul_type *type;
    size_t i, k, kind;
    busy b;
    holder_open();
    for (kind = 0; kind < 2; kind++) {
        type = TYPE_NEW(busy, fields[kind]);
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
        memset(&b, 0, sizeof b);
        b.at = (float *)(void *)numbers;
        b.pairs = pairs;
        for (i = 0; i < 6; i++)
            b.extents[i] = 1;
        b.extents[0] = 2;
        b.strides[0] = 150;
        for (i = 0; i < sizeof extents / sizeof *extents; i++)
            for (k = 0; k < sizeof strides / sizeof *strides; k++)
                check_busy(type, &b, extents[i], strides[k]);
        haul_shipment_free(&shipment);
        haul_type_free(&type);
    }
    holder_close();
}

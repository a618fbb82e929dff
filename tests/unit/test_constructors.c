/* MPI's constructors against a model of MPI's rules that has one byte of memory for each byte of a
 * type.
 */
#include <stdlib.h>

#include "base/base.h"
#include "haul/type.h"
#include "haul/type_mpi.h"
#include "support/check.h"
#include "support/random.h"
#include "support/types.h"
#include "type/type.h"

#define WORD sizeof(void *)

/* --- the model -------------------------------------------------------------------------------- */

enum { SPAN = 1 << 14 };

/* map[i] counts how often byte i travels; slot[i] how often a pointer begins there. */
typedef struct model {
    size_t lower, upper; /* bounds; upper - lower is the extent */
    int any;             /* some block moved the bounds */
    int too_large, overlaps;
    unsigned char map[SPAN], slot[SPAN];
} model;

static size_t extent_of(const model *m)
{
    return m->upper - m->lower;
}

static model *empty_model(void)
{
    model *m = calloc(1, sizeof *m);
    CHECK(m != NULL);
    return m;
}

static void place(model *m, size_t at, const model *old)
{
    size_t i;
    if (extent_of(old) == 0)
        return;
    m->too_large |= old->too_large || at > SPAN / 2;
    m->overlaps |= old->overlaps;
    if (!m->any || at + old->lower < m->lower)
        m->lower = at + old->lower;
    if (!m->any || at + old->upper > m->upper)
        m->upper = at + old->upper;
    m->any = 1;
    for (i = 0; i < SPAN && !m->too_large; i++) {
        if (!old->map[i])
            continue;
        if (i + at + WORD >= SPAN) {
            m->too_large = 1;
            return;
        }
        m->map[i + at] = (unsigned char)(m->map[i + at] + old->map[i]);
        m->overlaps |= m->map[i + at] > 1;
        m->slot[i + at] = (unsigned char)(m->slot[i + at] + old->slot[i]);
    }
}

static void place_many(model *m, size_t at, size_t count, const model *old)
{
    size_t i;
    for (i = 0; i < count; i++)
        place(m, at + i * extent_of(old), old);
}

static size_t model_size(const model *m)
{
    size_t i, size = 0;
    for (i = 0; i < SPAN; i++)
        size += m->map[i];
    return size;
}

/* --- what the library made -----------------------------------------------------------------------
 */

static void spread(const haul__walk *walk, size_t at, model *m)
{
    size_t i, k;
    for (i = 0; i < walk->run_count; i++)
        for (k = 0; k < walk->runs[i].bytes; k++)
            m->map[at + walk->runs[i].offset + k]++;
    for (i = 0; i < walk->slot_count; i++) {
        m->slot[at + walk->slots[i].offset]++;
        CHECK(walk->slots[i].flags & HAUL__SLOT_OFF_GRID ||
              (at + walk->slots[i].offset) % WORD == 0);
    }
    for (i = 0; i < walk->part_count; i++)
        for (k = 0; k < walk->parts[i].count; k++)
            spread(haul__type_walk(walk->parts[i].type),
                   at + walk->parts[i].offset + k * walk->parts[i].stride, m);
}

static void check_order(const haul__walk *walk)
{
    size_t i;
    for (i = 1; i < walk->run_count; i++)
        CHECK(walk->runs[i].offset > walk->runs[i - 1].offset + walk->runs[i - 1].bytes);
    for (i = 1; i < walk->slot_count; i++)
        CHECK(walk->slots[i].offset > walk->slots[i - 1].offset);
    for (i = 1; i < walk->part_count; i++)
        CHECK(walk->parts[i].offset >= walk->parts[i - 1].offset);
}

static void check_bounds(const haul__walk *walk, const model *m)
{
    size_t first = 0, last = SPAN;
    while (first < SPAN && !m->map[first])
        first++;
    while (last > 0 && !m->map[last - 1])
        last--;
    if (last == 0)
        first = 0;
    CHECK_EQ(walk->true_lower, first);
    CHECK_EQ(walk->true_upper, last);
    CHECK_EQ(walk->span, last > m->upper ? last : m->upper); /* innermost ones end in data */
}

static void check_like_model(haul_type *type, const model *m)
{
    const haul__walk *walk = haul__type_walk(type);
    model *got = empty_model();
    size_t lower, extent, size;
    spread(walk, 0, got);
    CHECK_BYTES(got->map, m->map, SPAN);
    CHECK_BYTES(got->slot, m->slot, SPAN);
    check_order(walk);
    check_bounds(walk, m);
    CHECK_STATUS(haul_type_get_extent(type, &lower, &extent), HAUL_OK);
    CHECK_EQ(lower, m->lower);
    CHECK_EQ(extent, extent_of(m));
    CHECK_EQ(walk->extent, extent);
    CHECK_STATUS(haul_type_size(type, &size), HAUL_OK);
    CHECK_EQ(size, model_size(m));
    free(got);
}

/* Frees both. A model with overlaps may be refused, and nothing else may. */
static void check_and_free(haul_type *type, model *m)
{
    haul_status status = haul_type_commit(type);
    if (status != HAUL_OK)
        check_note("%s: %s", type_error()->path, type_error()->text);
    if (!m->overlaps)
        CHECK_STATUS(status, HAUL_OK);
    if (status == HAUL_OK)
        check_like_model(type, m);
    check_note(NULL);
    haul_type_free(&type);
    free(m);
}

/* --- old types to begin with ---------------------------------------------------------------------
 */

typedef struct pair {
    struct pair *next;
    int kept, dropped;
    char *name;
} pair;
static haul_type *pair_type;
static const haul_field pair_fields[] = { HAUL_OBJECT(pair, next, &pair_type),
                                          HAUL_SKIP(pair, dropped), HAUL_STRING(pair, name) };

static haul_type *plain(size_t bytes, model **m)
{
    haul_type *type;
    CHECK_STATUS(haul_type_bytes(type_context(), "bytes", bytes, &type), HAUL_OK);
    *m = empty_model();
    (*m)->upper = bytes;
    (*m)->any = 1;
    memset((*m)->map, 1, bytes);
    return type;
}

static haul_type *a_pair(model **m)
{
    haul_type *type;
    *m = empty_model();
    (*m)->upper = sizeof(pair);
    (*m)->any = 1;
    memset((*m)->map, 1, sizeof(pair));
    memset((*m)->map + offsetof(pair, dropped), 0, sizeof(int));
    (*m)->slot[offsetof(pair, next)] = (*m)->slot[offsetof(pair, name)] = 1;
    if (!pair_type)
        CHECK_STATUS(type_make("pair", sizeof(pair), pair_fields, 3, &pair_type), HAUL_OK);
    CHECK_STATUS(haul_type_dup(pair_type, &type), HAUL_OK);
    return type;
}

/* --- each constructor ----------------------------------------------------------------------------
 */

TEST(constructors, contiguous_is_elements_in_a_row)
{
    model *old, *m = empty_model();
    haul_type *element = a_pair(&old), *type;
    CHECK_STATUS(haul_type_contiguous(5, element, &type), HAUL_OK);
    CHECK_EQ(haul_type_combiner(type), HAUL_COMBINER_CONTIGUOUS);
    place_many(m, 0, 5, old);
    haul_type_free(&element);
    check_and_free(type, m);
    free(old);
    haul_type_free(&pair_type);
}

TEST(constructors, vectors_count_extents_and_hvectors_bytes)
{
    model *old, *m = empty_model(), *h = empty_model();
    haul_type *element = plain(4, &old), *type;
    size_t i;
    for (i = 0; i < 3; i++) {
        place_many(m, i * 20, 2, old);
        place_many(h, i * 9, 2, old);
    }
    CHECK_STATUS(haul_type_vector(3, 2, 5, element, &type), HAUL_OK);
    CHECK_STR(haul_type_name(type), "vector(3, 2, 5, bytes)");
    check_and_free(type, m);
    CHECK_STATUS(haul_type_create_hvector(3, 2, 9, element, &type), HAUL_OK);
    check_and_free(type, h);
    haul_type_free(&element);
    free(old);
}

TEST(constructors, indexed_types_take_blocks_in_any_order)
{
    static const size_t lengths[] = { 2, 0, 3, 1 }, places[] = { 9, 500, 0, 5 },
                        bytes[] = { 40, 1000, 0, 19 };
    model *old, *m = empty_model(), *h = empty_model(), *b = empty_model();
    haul_type *element = plain(4, &old), *type;
    haul_field_info field;
    size_t i;
    for (i = 0; i < 4; i++) {
        place_many(m, places[i] * 4, lengths[i], old);
        place_many(h, bytes[i], lengths[i], old);
        place_many(b, places[i] * 4, 2, old);
    }
    CHECK_STATUS(haul_type_indexed(4, lengths, places, element, &type), HAUL_OK);
    CHECK_EQ(haul_type_field_count(type), 4);
    CHECK_STATUS(haul_type_get_field(type, 0, &field), HAUL_OK);
    CHECK_STR(field.name, "");
    CHECK_EQ(field.kind, HAUL_FIELD_EMBED);
    CHECK_EQ(field.offset, 36);
    CHECK_EQ(field.count, 2);
    CHECK_EQ(field.stride, 4);
    CHECK_EQ(field.bytes, 8);
    CHECK_PTR(field.target, element);
    check_and_free(type, m);
    CHECK_STATUS(haul_type_create_hindexed(4, lengths, bytes, element, &type), HAUL_OK);
    check_and_free(type, h);
    CHECK_STATUS(haul_type_create_indexed_block(4, 2, places, element, &type), HAUL_OK);
    check_and_free(type, b);
    haul_type_free(&element);
    free(old);
}

/* MPI rounds the extent of a struct up by an alignment that it guesses; this does not: give the
 * sizeof by resized. */
TEST(constructors, a_struct_of_blocks_ends_where_its_last_block_ends)
{
    static const size_t lengths[] = { 2, 3 }, places[] = { 0, 2 * sizeof(pair) };
    model *m = empty_model(), *olds[2];
    haul_type *types[2], *type, *padded;
    const haul__walk *walk;
    types[0] = a_pair(&olds[0]);
    types[1] = plain(1, &olds[1]);
    place_many(m, 0, 2, olds[0]);
    place_many(m, places[1], 3, olds[1]);
    CHECK_STATUS(haul_type_create_struct(2, lengths, places, types, &type), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(type, 0, 3 * sizeof(pair), &padded), HAUL_OK);
    CHECK_STATUS(haul_type_commit(padded), HAUL_OK);
    walk = haul__type_walk(type);
    CHECK_EQ(walk->extent, 2 * sizeof(pair) + 3);
    CHECK_EQ(walk->alignment, 1); /* in a row of these, pointers are off the grid */
    CHECK_EQ(walk->slots[0].flags & HAUL__SLOT_OFF_GRID, HAUL__SLOT_OFF_GRID);
    walk = haul__type_walk(padded);
    CHECK_EQ(walk->alignment, WORD);
    CHECK_EQ(walk->slots[0].flags, 0);
    check_like_model(type, m);
    haul_type_free(&padded);
    haul_type_free(&types[0]);
    haul_type_free(&types[1]);
    check_and_free(type, m);
    free(olds[0]);
    free(olds[1]);
    haul_type_free(&pair_type);
}

TEST(constructors, a_subarray_stands_in_an_array_of_either_order)
{
    static const size_t sizes[] = { 4, 5, 6 }, subsizes[] = { 2, 3, 2 }, starts[] = { 1, 2, 3 };
    model *old, *m = empty_model(), *f = empty_model();
    haul_type *element = plain(2, &old), *type;
    size_t i, j, k;
    for (i = 1; i < 3; i++)
        for (j = 2; j < 5; j++)
            for (k = 3; k < 5; k++) {
                place(m, ((i * 5 + j) * 6 + k) * 2, old);
                place(f, ((k * 5 + j) * 4 + i) * 2, old);
            }
    m->lower = f->lower = 0;
    m->upper = f->upper = 4 * 5 * 6 * 2;
    CHECK_STATUS(
        haul_type_create_subarray(3, sizes, subsizes, starts, HAUL_ORDER_C, element, &type),
        HAUL_OK);
    CHECK_EQ(haul_type_field_count(type), 2 * 3);
    check_and_free(type, m);
    CHECK_STATUS(
        haul_type_create_subarray(3, sizes, subsizes, starts, HAUL_ORDER_FORTRAN, element, &type),
        HAUL_OK);
    check_and_free(type, f);
    haul_type_free(&element);
    free(old);
}

TEST(constructors, the_blocks_of_a_loop_nest_can_be_asked_for_one_by_one)
{
    static const size_t sizes[] = { 4, 5, 6 }, subsizes[] = { 2, 3, 2 }, starts[] = { 1, 2, 3 };
    model *old;
    haul_type *element = plain(2, &old), *type;
    haul_field_info field;
    size_t i, j, n = 0;
    CHECK_STATUS(
        haul_type_create_subarray(3, sizes, subsizes, starts, HAUL_ORDER_C, element, &type),
        HAUL_OK);
    for (i = 1; i < 3; i++)
        for (j = 2; j < 5; j++) {
            CHECK_STATUS(haul_type_get_field(type, n++, &field), HAUL_OK);
            CHECK_EQ(field.offset, ((i * 5 + j) * 6 + 3) * 2);
            CHECK_EQ(field.count, 2);
        }
    CHECK_STATUS(haul_type_get_field(type, n, &field), HAUL_ERROR_ARGUMENT);
    haul_type_free(&type);
    haul_type_free(&element);
    free(old);
}

TEST(constructors, resized_columns_interleave_to_a_whole_matrix)
{
    model *old, *m = empty_model();
    haul_type *element = plain(8, &old), *column, *narrow, *matrix;
    CHECK_STATUS(haul_type_vector(3, 1, 4, element, &column), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(column, 0, 8, &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(4, narrow, &matrix), HAUL_OK);
    memset(m->map, 1, 96);
    m->upper = 32; /* four columns, each 8 bytes on */
    CHECK_STATUS(haul_type_commit(matrix), HAUL_OK);
    CHECK_EQ(haul__type_walk(matrix)->run_count, 1);
    haul_type_free(&column);
    haul_type_free(&narrow);
    haul_type_free(&element);
    check_and_free(matrix, m);
    free(old);
}

/* An element of 16 bytes without data, a second one 64 bytes behind: no byte lies behind the new
 * upper bound. */
TEST(constructors, elements_without_data_reach_nowhere)
{
    static const size_t ones[] = { 1, 1 }, places[] = { 0, 64 };
    model *old;
    haul_type *element = plain(8, &old), *nothing, *wide, *two, *narrow;
    CHECK_STATUS(haul_type_contiguous(0, element, &nothing), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(nothing, 0, 16, &wide), HAUL_OK);
    CHECK_STATUS(haul_type_create_hindexed(2, ones, places, wide, &two), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(two, 0, 8, &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_commit(narrow), HAUL_OK);
    CHECK_EQ(haul__type_walk(narrow)->span, 8);
    haul_type_free(&narrow);
    haul_type_free(&two);
    haul_type_free(&wide);
    haul_type_free(&nothing);
    haul_type_free(&element);
    free(old);
}

TEST(constructors, empty_types_can_be_made_and_committed)
{
    static const size_t zero[] = { 0, 0 }, places[] = { 8, 80 };
    static const size_t sizes[] = { 4, 5 }, subsizes[] = { 2, 0, 2 };
    model *old, *m;
    haul_type *element = plain(8, &old), *type, *again;
    size_t size = 1, lower = 1, extent = 1, i;
    CHECK_STATUS(haul_type_contiguous(0, element, &type), HAUL_OK);
    CHECK_STATUS(haul_type_vector(5, 2, 7, type, &again), HAUL_OK);
    haul_type_free(&type);
    check_and_free(again, empty_model());
    CHECK_STATUS(haul_type_vector(0, 2, 7, element, &type), HAUL_OK);
    check_and_free(type, empty_model());
    CHECK_STATUS(haul_type_vector(3, 0, 7, element, &type), HAUL_OK);
    check_and_free(type, empty_model());
    CHECK_STATUS(haul_type_indexed(2, zero, places, element, &type), HAUL_OK);
    check_and_free(type, empty_model());
    CHECK_STATUS(haul_type_indexed(0, NULL, NULL, element, &type), HAUL_OK);
    check_and_free(type, empty_model());
    for (i = 0; i < 2; i++) { /* of one dimension there is nothing */
        CHECK_STATUS(
            haul_type_create_subarray(2, sizes, subsizes + i, zero, HAUL_ORDER_C, element, &type),
            HAUL_OK);
        m = empty_model();
        m->upper = 4 * 5 * 8;
        check_and_free(type, m);
    }
    CHECK_STATUS(haul_type_create_struct(0, NULL, NULL, NULL, &type), HAUL_OK);
    CHECK_STATUS(haul_type_size(type, &size), HAUL_OK);
    CHECK_STATUS(haul_type_get_true_extent(type, &lower, &extent), HAUL_OK);
    CHECK(size == 0 && lower == 0 && extent == 0);
    check_and_free(type, empty_model());
    haul_type_free(&element);
    free(old);
}

TEST(constructors, ten_million_elements_stay_small)
{
    model *old;
    haul_type *element = a_pair(&old), *row, *column, *grid, *dense, *many;
    const haul__walk *walk;
    size_t size, n = WORD == 8 ? 10000000 : 1000000;
    CHECK_STATUS(haul_type_contiguous(n, element, &row), HAUL_OK);
    CHECK_STATUS(haul_type_commit(row), HAUL_OK);
    walk = haul__type_walk(row);
    CHECK(walk->run_count == 0 && walk->slot_count == 0 && walk->part_count == 1);
    CHECK_EQ(walk->parts[0].count, n);
    CHECK_EQ(walk->payload, n * (sizeof(pair) - sizeof(int)));
    CHECK(walk->has_slots && walk->kind == HAUL__WALK_LOOSE);
    CHECK_STATUS(haul_type_vector(1000, 1000, 2000, element, &grid), HAUL_OK);
    CHECK_STATUS(haul_type_commit(grid), HAUL_OK);
    walk = haul__type_walk(grid);
    CHECK_EQ(walk->part_count, 1);
    CHECK_EQ(walk->parts[0].count, 1000);
    CHECK_EQ(walk->parts[0].stride, 2000 * sizeof(pair));
    walk = haul__type_walk(walk->parts[0].type);
    CHECK_EQ(walk->parts[0].count, 1000);
    CHECK_EQ(walk->parts[0].stride, sizeof(pair));
    CHECK_STATUS(haul_type_vector(1000, 1000, 1000, element, &column), HAUL_OK);
    CHECK_STATUS(haul_type_commit(column), HAUL_OK);
    CHECK_EQ(haul__type_walk(column)->parts[0].count, 1000000);
    CHECK_STATUS(haul_type_bytes(type_context(), "double", 8, &dense), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(n, dense, &many), HAUL_OK);
    CHECK_STATUS(haul_type_commit(many), HAUL_OK);
    CHECK_EQ(haul__type_walk(many)->kind, HAUL__WALK_PLAIN);
    CHECK_STATUS(haul_type_size(many, &size), HAUL_OK);
    CHECK_EQ(size, 8 * n);
    haul_type_free(&many);
    haul_type_free(&dense);
    haul_type_free(&column);
    haul_type_free(&grid);
    haul_type_free(&row);
    haul_type_free(&element);
    haul_type_free(&pair_type);
    free(old);
}

TEST(constructors, pointers_of_blocks_are_named_by_their_place)
{
    model *old;
    haul_type *element = a_pair(&old), *row, *grid;
    CHECK_STATUS(haul_type_contiguous(2, element, &row), HAUL_OK);
    CHECK_STATUS(haul_type_create_hvector(2, 1, 3 * sizeof(pair), row, &grid), HAUL_OK);
    CHECK_STATUS(haul_type_commit(grid), HAUL_OK);
    CHECK_STR(haul__type_walk(grid)->slots[6].name, "[1][1].next");
    CHECK_EQ(haul__type_walk(grid)->slots[6].self, 4 * sizeof(pair));
    CHECK_STR(haul__type_walk(row)->slots[3].name, "[1].name");
    haul_type_free(&grid);
    haul_type_free(&row);
    haul_type_free(&element);
    haul_type_free(&pair_type);
    free(old);
}

/* --- nests of random constructors ----------------------------------------------------------------
 */

typedef struct made {
    haul_type *type; /* NULL: it was refused */
    model *m;
} made;

static made wrap_contiguous(random_source *random, const made *old)
{
    made new = { NULL, empty_model() };
    size_t count = random_one_in(random, 4) ? random_below(random, 100) : random_below(random, 5);
    CHECK_STATUS(haul_type_contiguous(count, old->type, &new.type), HAUL_OK);
    place_many(new.m, 0, count, old->m);
    return new;
}

static made wrap_vector(random_source *random, const made *old, size_t grain)
{
    made new = { NULL, empty_model() };
    size_t count = random_below(random, 9), length = random_below(random, 4),
           stride = random_below(random, 8), i, bytes;
    if (random_one_in(random, 2)) {
        CHECK_STATUS(haul_type_vector(count, length, stride, old->type, &new.type), HAUL_OK);
        bytes = stride * extent_of(old->m);
    } else {
        bytes = (length * extent_of(old->m) / grain + random_below(random, 4)) * grain;
        CHECK_STATUS(haul_type_create_hvector(count, length, bytes, old->type, &new.type), HAUL_OK);
    }
    for (i = 0; i < count; i++)
        place_many(new.m, i * bytes, length, old->m);
    return new;
}

static made wrap_indexed(random_source *random, const made *old, size_t grain)
{
    made new = { NULL, empty_model() };
    size_t lengths[8], places[8], count = random_below(random, 8), i, at = random_below(random, 3),
                                  how = random_below(random, 3);
    size_t unit = how == 1 ? grain : extent_of(old->m), common = random_below(random, 3);
    for (i = 0; i < count; i++) {
        size_t k = random_below(random, i + 1);
        lengths[i] = how == 2 ? common : random_below(random, 3);
        places[i] = places[k]; /* shuffled: the newest stands anywhere */
        places[k] = how == 1 ? at * grain : at;
        if (i != k) {
            size_t swapped = lengths[i];
            lengths[i] = lengths[k];
            lengths[k] = swapped;
        }
        at +=
            unit ? (lengths[k] * extent_of(old->m) + unit - 1) / unit + random_below(random, 3) : 1;
    }
    if (how == 0)
        CHECK_STATUS(haul_type_indexed(count, lengths, places, old->type, &new.type), HAUL_OK);
    else if (how == 1)
        CHECK_STATUS(haul_type_create_hindexed(count, lengths, places, old->type, &new.type),
                     HAUL_OK);
    else
        CHECK_STATUS(haul_type_create_indexed_block(count, common, places, old->type, &new.type),
                     HAUL_OK);
    for (i = 0; i < count; i++)
        place_many(new.m, places[i] * (how == 1 ? 1 : unit), lengths[i], old->m);
    return new;
}

static made wrap_struct(random_source *random, const made *a, const made *b, size_t grain)
{
    made new = { NULL, empty_model() };
    haul_type *types[2];
    size_t lengths[2], places[2];
    types[0] = a->type;
    types[1] = b->type;
    lengths[0] = random_below(random, 3);
    lengths[1] = random_below(random, 3);
    places[0] = random_below(random, 3) * grain;
    places[1] = places[0] + (lengths[0] * a->m->upper + grain - 1) / grain * grain +
                random_below(random, 3) * grain;
    CHECK_STATUS(haul_type_create_struct(2, lengths, places, types, &new.type), HAUL_OK);
    place_many(new.m, places[0], lengths[0], a->m);
    place_many(new.m, places[1], lengths[1], b->m);
    return new;
}

static made wrap_subarray(random_source *random, const made *old)
{
    made new = { NULL, empty_model() };
    size_t sizes[3], subsizes[3], starts[3], i, j, k, ext = extent_of(old->m);
    haul_order order = random_one_in(random, 2) ? HAUL_ORDER_C : HAUL_ORDER_FORTRAN;
    for (i = 0; i < 3; i++) {
        sizes[i] = random_between(random, 1, 5);
        subsizes[i] = random_between(random, 1, sizes[i]);
        starts[i] = random_between(random, 0, sizes[i] - subsizes[i]);
    }
    CHECK_STATUS(haul_type_create_subarray(3, sizes, subsizes, starts, order, old->type, &new.type),
                 HAUL_OK);
    for (i = starts[0]; i < starts[0] + subsizes[0]; i++)
        for (j = starts[1]; j < starts[1] + subsizes[1]; j++)
            for (k = starts[2]; k < starts[2] + subsizes[2]; k++)
                place(new.m,
                      (order == HAUL_ORDER_C ? (i * sizes[1] + j) * sizes[2] + k
                                             : (k * sizes[1] + j) * sizes[0] + i) *
                          ext,
                      old->m);
    new.m->lower = 0; /* MPI-5.0, 5.1.3: the bounds are those of the whole array, from 0 */
    new.m->upper = sizes[0] * sizes[1] * sizes[2] * ext;
    return new;
}

static made wrap_resized(random_source *random, const made *old, size_t grain)
{
    made new = { NULL, empty_model() };
    size_t lower = random_below(random, 2) * grain,
           extent = (1 + random_below(random, 3) + old->m->upper / grain) * grain;
    CHECK_STATUS(haul_type_create_resized(old->type, lower, extent, &new.type), HAUL_OK);
    place(new.m, 0, old->m);
    new.m->lower = lower;
    new.m->upper = lower + extent;
    return new;
}

static made wrap(random_source *random, const made *old, const made *other, size_t grain)
{
    switch (random_below(random, 6)) {
    case 0:
        return wrap_contiguous(random, old);
    case 1:
        return wrap_vector(random, old, grain);
    case 2:
        return wrap_indexed(random, old, grain);
    case 3:
        return wrap_struct(random, old, other, grain);
    case 4:
        return wrap_subarray(random, old);
    default:
        return wrap_resized(random, old, grain);
    }
}

TEST(constructors, random_nests_are_what_mpi_says)
{
    random_source random = random_start("random nests of constructors");
    size_t round, depth, compared = 0;
    for (round = 0; round < 2000; round++) {
        int pointers = random_one_in(&random, 2);
        size_t grain = pointers ? WORD : 1;
        made base, other, top;
        other.type = pointers ? a_pair(&other.m) : plain(random_between(&random, 1, 12), &other.m);
        base = other;
        check_note("round %zu", round);
        for (depth = random_between(&random, 1, 4); depth > 0; depth--) {
            top = wrap(&random, &base, &other, grain);
            top.m->overlaps |= base.m->overlaps; /* also when none of it is placed */
            if (base.type != other.type) {
                haul_type_free(&base.type);
                free(base.m);
            }
            base = top;
            if (base.m->too_large)
                break;
        }
        if (base.m->too_large || extent_of(base.m) > SPAN) {
            haul_type_free(&base.type);
            free(base.m);
        } else {
            compared += !base.m->overlaps;
            check_and_free(base.type, base.m);
        }
        haul_type_free(&other.type);
        free(other.m);
        haul_type_free(&pair_type);
    }
    CHECK(compared > 500);
}

/* --- refusals ------------------------------------------------------------------------------------
 */

TEST(constructors, null_and_nothing_are_arguments)
{
    static const size_t one[] = { 1 };
    model *old;
    haul_type *element = plain(4, &old), *type = element, *none = NULL;
    CHECK_STATUS(haul_type_contiguous(1, NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK(type == NULL);
    CHECK_STATUS(haul_type_contiguous(1, element, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_vector(1, 1, 1, NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_hvector(1, 1, 1, NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_indexed(1, NULL, one, element, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_indexed(1, one, NULL, element, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_hindexed(1, NULL, one, element, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_indexed_block(1, 1, NULL, element, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_struct(1, one, one, NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_struct(1, one, one, &none, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_subarray(0, one, one, one, HAUL_ORDER_C, element, &type),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_subarray(1, one, NULL, one, HAUL_ORDER_C, element, &type),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_subarray(1, one, one, one, (haul_order)9, element, &type),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_resized(NULL, 0, 1, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_dup(NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_indexed(1, one, one, NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_hindexed(1, one, one, NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_indexed_block(1, 1, one, NULL, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_subarray(1, one, one, one, HAUL_ORDER_C, NULL, &type),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_struct(1, one, one, &element, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_struct(0, one, one, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_struct(1, NULL, one, &element, &type), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_create_struct(1, one, NULL, &element, &type), HAUL_ERROR_ARGUMENT);
    CHECK(type == NULL);
    haul_type_free(&element);
    free(old);
}

/* T11: counts and places that overflow, at once. */
TEST(constructors, sizes_that_overflow_are_refused_at_once)
{
    static const size_t most[] = { SIZE_MAX, SIZE_MAX }, one[] = { 1, 1 }, two[] = { 2, 2 };
    model *old;
    haul_type *element = plain(8, &old), *huge, *type;
    CHECK_STATUS(haul_type_contiguous(SIZE_MAX, element, &type), HAUL_ERROR_TYPE);
    CHECK(type == NULL);
    CHECK_STATUS(haul_type_contiguous(SIZE_MAX / 8 + 2, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_vector(2, 1, SIZE_MAX / 8 + 2, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_hvector(SIZE_MAX, 1, SIZE_MAX, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_hvector(2, 1, SIZE_MAX - 4, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_indexed(1, most, one, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_indexed(1, one, most, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_hindexed(1, one, most, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_indexed_block(1, SIZE_MAX, one, element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_struct(1, one, most, &element, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_subarray(2, most, one, one, HAUL_ORDER_C, element, &type),
                 HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_subarray(2, two, two, one, HAUL_ORDER_C, element, &type),
                 HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_resized(element, 0, 0, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_create_resized(element, SIZE_MAX, 2, &type), HAUL_ERROR_TYPE);
    CHECK_STATUS(type_make("huge", SIZE_MAX, NULL, 0, &huge), HAUL_OK);
    CHECK_STATUS(haul_type_dup(huge, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    haul_type_free(&type);
    CHECK_STATUS(haul_type_contiguous(2, huge, &type), HAUL_ERROR_TYPE);
    haul_type_free(&huge);
    haul_type_free(&element);
    free(old);
}

/* Found by a campaign: a product that overflows before its 0 was taken for many fields. */
TEST(constructors, no_elements_of_very_many_are_no_fields)
{
    static const size_t most[] = { SIZE_MAX / 4, SIZE_MAX / 4, 1, 1 }, none[] = { 0, 0, 0, 0 };
    static const size_t some[] = { SIZE_MAX / 4, SIZE_MAX / 4, 0, 1 };
    model *old;
    haul_type *element = plain(8, &old), *nothing, *type;
    haul_field_info field;
    CHECK_STATUS(haul_type_contiguous(0, element, &nothing), HAUL_OK);
    CHECK_STATUS(haul_type_create_subarray(4, most, some, none, HAUL_ORDER_C, nothing, &type),
                 HAUL_OK);
    CHECK_EQ(haul_type_field_count(type), 0);
    CHECK_STATUS(haul_type_get_field(type, 0, &field), HAUL_ERROR_ARGUMENT);
    haul_type_free(&type);
    haul_type_free(&nothing);
    haul_type_free(&element);
    free(old);
}

TEST(constructors, blocks_that_overlap_are_refused)
{
    static const size_t lengths[] = { 2, 2 }, places[] = { 0, 1 };
    model *old;
    haul_type *element = plain(8, &old), *type, *narrow;
    CHECK_STATUS(haul_type_indexed(2, lengths, places, element, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "overlap");
    haul_type_free(&type);
    CHECK_STATUS(haul_type_create_resized(element, 0, 1, &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(HAUL_TYPE_BYTES_MAX - 8, narrow, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    haul_type_free(&type);
    haul_type_free(&narrow);
    haul_type_free(&element);
    free(old);
}

/* The same bytes so often that no number counts them. */
TEST(constructors, more_elements_than_numbers_reach_are_refused_as_overlapping)
{
    static const size_t most[] = { SIZE_MAX, SIZE_MAX, SIZE_MAX }, none[] = { 0, 0, 0 }, one = 1,
                        two = 2;
    model *old;
    haul_type *element = a_pair(&old), *type, *again, *empty, *huge, *narrow;
    CHECK_STATUS(haul_type_create_hvector(SIZE_MAX, 1, 0, element, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "overlap");
    CHECK_STATUS(haul_type_create_hvector(SIZE_MAX, 1, 0, type, &again), HAUL_OK);
    CHECK_STATUS(haul_type_commit(again), HAUL_ERROR_TYPE);
    haul_type_free(&again);
    haul_type_free(&type);
    CHECK_STATUS(haul_type_contiguous(0, element, &empty), HAUL_OK);
    CHECK_STATUS(haul_type_create_subarray(3, most, most, none, HAUL_ORDER_C, empty, &type),
                 HAUL_OK);
    CHECK_EQ(haul_type_field_count(type), SIZE_MAX);
    haul_type_free(&type);
    haul_type_free(&empty);
    CHECK_STATUS(haul_type_bytes(type_context(), "huge", HAUL_TYPE_BYTES_MAX, &huge), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(huge, 0, 8, &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_create_subarray(1, &two, &one, none, HAUL_ORDER_C, narrow, &type),
                 HAUL_OK);
    haul_type_free(&type);
    CHECK_STATUS(haul_type_create_subarray(1, &two, &one, &one, HAUL_ORDER_C, narrow, &type),
                 HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "more than");
    haul_type_free(&narrow);
    haul_type_free(&huge);
    haul_type_free(&element);
    haul_type_free(&pair_type);
    free(old);
}

TEST(constructors, pointers_are_not_put_off_their_grid)
{
    static const size_t one[] = { 1 }, two[] = { 2 };
    model *old;
    haul_type *element = a_pair(&old), *type, *many;
    CHECK_STATUS(haul_type_create_hvector(3, 1, sizeof(pair) + 2, element, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "alignment");
    haul_type_free(&type);
    CHECK_STATUS(haul_type_create_struct(1, one, two, &element, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "alignment");
    haul_type_free(&type);
    CHECK_STATUS(haul_type_contiguous(1000, element, &many), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(many, 0, 1000 * sizeof(pair) + 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "keeps the pointers of dup(pair) off the grid");
    haul_type_free(&type);
    haul_type_free(&many);
    haul_type_free(&element);
    haul_type_free(&pair_type);
    free(old);
}

/* Sections: elements in several dimensions, with gaps between them. The reference is a loop over
 * all indices; the lab (core_graphs.h) knows by it what each byte of the world must become. Bytes
 * in gaps are nobody's there: poisoned, or out of reach as pages.
 *
 * Faults by number (docs/testing.md): C3 (a source that has changed since), H1, H2 (memory runs
 * out).
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "haul/host.h"

enum { MOST = HAUL_DIMENSIONS_MAX };

typedef struct view {
    unsigned char *at; /* element 0 of each dimension */
    struct view *next;
    struct thing *things;
    int64_t extent[MOST];
    int32_t stride[MOST]; /* bytes */
} view;

typedef struct thing {
    char *name;
    struct thing *other;
    double value;
} thing;

static haul_type *view_type, *thing_type;

/* The dimensions of a view, of which the first `rank` count. */
static void view_dimensions(haul_dimension *dimensions, size_t rank)
{
    const haul_dimension first =
        HAUL_DIMENSION_BYTES(HAUL_COUNT(view, extent[0]), HAUL_COUNT(view, stride[0]));
    size_t i;
    for (i = 0; i < rank; i++) {
        dimensions[i] = first;
        dimensions[i].extent.field[0].offset += i * sizeof(int64_t);
        dimensions[i].stride.field[0].offset += i * sizeof(int32_t);
    }
}

static haul_section section_of(const haul_dimension *dimensions, size_t rank)
{
    const haul_section section = { dimensions, rank, sizeof *dimensions };
    return section;
}

/* Views of so many dimensions onto elements of so many bytes. */
static haul_status view_make_type(size_t rank, size_t bytes, haul_transfer transfer)
{
    haul_dimension dimensions[MOST + 1];
    haul_field fields[] = { HAUL_ADDRESS(view, at), HAUL_OBJECT(view, next, &view_type),
                            HAUL_ADDRESS(view, things, .target = &thing_type) };
    view_dimensions(dimensions, rank);
    fields[0].element_bytes = bytes;
    fields[0].section = section_of(dimensions, rank);
    fields[0].transfer = transfer;
    fields[2].section = fields[0].section;
    fields[2].when = (haul_when)HAUL_EQUALS(view, extent[MOST - 1], 0);
    fields[2].else_raw = 1;
    view_type = TYPE_OPEN(view, fields);
    memset(dimensions, 0xFF, sizeof dimensions); /* they have been copied */
    return haul_type_commit(view_type);
}

static void start(size_t rank, size_t bytes)
{
    const haul_field fields[] = { HAUL_STRING(thing, name),
                                  HAUL_OBJECT(thing, other, &thing_type) };
    lab_start();
    thing_type = TYPE_OPEN(thing, fields);
    CHECK_STATUS(view_make_type(rank, bytes, HAUL_COPY), HAUL_OK);
}

static void end(void)
{
    haul_type_free(&view_type);
    haul_type_free(&thing_type);
    lab_end();
}

static view *view_make(void)
{
    view *v = take(sizeof *v, 16);
    points(&v->at);
    points(&v->next);
    v->extent[MOST - 1] = 1; /* `things` does not hold */
    return v;
}

/* The place of element `number` from the first one, the first dimension running fastest. */
static int64_t distance_of(const view *v, size_t rank, size_t number)
{
    int64_t distance = 0;
    size_t i;
    for (i = 0; i < rank; i++) {
        distance += (int64_t)(number % (size_t)v->extent[i]) * v->stride[i];
        number /= (size_t)v->extent[i];
    }
    return distance;
}

static size_t elements_of(const view *v, size_t rank)
{
    size_t count = 1, i;
    for (i = 0; i < rank; i++)
        count *= (size_t)v->extent[i];
    return count;
}

/* Says that the view's elements are data, and fills them. */
static void lay(const view *v, size_t rank, size_t bytes)
{
    size_t i, count = elements_of(v, rank);
    for (i = 0; i < count; i++) {
        unsigned char *element = v->at + distance_of(v, rank, i);
        CHECK(element >= the.memory && element + bytes <= the.memory + LAB_BYTES);
        memset(the.what + lab_offset(element), OF_DATA, bytes);
        fill(element, bytes);
        element[0] = (unsigned char)(1 + i % 251);
        if (the.used < lab_offset(element) + bytes)
            the.used = lab_offset(element) + bytes;
    }
}

/* A view whose first element lies at this offset of the world. */
static view *view_at(size_t at, size_t rank, const int64_t *extent, const int32_t *stride)
{
    view *v = view_make();
    v->at = the.memory + at;
    if (rank) {
        memcpy(v->extent, extent, rank * sizeof *extent);
        memcpy(v->stride, stride, rank * sizeof *stride);
    }
    return v;
}

/* ---- Shapes. */

typedef struct shape {
    size_t rank, bytes;
    int64_t extent[4];
    int32_t stride[4];
} shape;

static const shape shapes[] = {
    { 1, 8, { 10 }, { 8 } },                           /* an array */
    { 1, 8, { 10 }, { -8 } },                          /* reversed */
    { 1, 8, { 1000 }, { 16 } },                        /* every second */
    { 1, 8, { 333 }, { -24 } },                        /* every third, reversed */
    { 1, 4, { 500 }, { 8 } },                          /* of half a word */
    { 1, 1, { 700 }, { 3 } },                          /* bytes */
    { 1, 12, { 40 }, { 20 } },                         /* no power of two */
    { 1, 3, { 200 }, { -7 } },                         /* off every grid */
    { 1, 8, { 40 }, { 5000 } },                        /* more than a page apart */
    { 1, 8, { 4 }, { -70000 } },                       /* more than a block apart */
    { 1, 5000, { 8 }, { 9000 } },                      /* long elements */
    { 1, 8, { 1 }, { 0 } },                            /* one */
    { 1, 8, { 9 }, { 0 } },                            /* broadcast */
    { 1, 8, { 9 }, { 3 } },                            /* overlapping elements */
    { 1, 8, { 9 }, { -4 } },                           /* the same, reversed */
    { 2, 8, { 7, 5 }, { 8, 80 } },                     /* a leading dimension of 10 */
    { 2, 8, { 5, 7 }, { 80, 8 } },                     /* by columns */
    { 2, 8, { 7, 5 }, { -8, 80 } },                    /* rows reversed */
    { 2, 8, { 7, 5 }, { 8, -80 } },                    /* from the last row */
    { 2, 8, { 7, 5 }, { -8, -80 } },                   /* both */
    { 2, 8, { 7, 5 }, { 8, 56 } },                     /* contiguous */
    { 2, 8, { 7, 5 }, { -8, -56 } },                   /* contiguous, reversed */
    { 2, 8, { 50, 60 }, { 16, 800 } },                 /* every second, joined */
    { 2, 8, { 100, 20 }, { 24, 4096 } },               /* every third of a page's */
    { 2, 4096, { 1, 12 }, { 4096, 12288 } },           /* pages, with pages between */
    { 2, 4096, { 3, 2 }, { -12288, 36864 + 65536 } },  /* the same */
    { 2, 8, { 4, 6 }, { 0, 32 } },                     /* broadcast in one dimension */
    { 2, 8, { 4, 6 }, { 12, 20 } },                    /* overlapping in the second */
    { 3, 8, { 3, 4, 5 }, { 8, 40, 200 } },             /* three */
    { 3, 2, { 3, 4, 5 }, { -6, 30, -150 } },           /* three, two reversed */
    { 3, 8, { 5, 1, 4 }, { 8, 123, 64 } },             /* an extent of 1 */
    { 4, 1, { 2, 3, 4, 5 }, { 1, 3, 12, -60 } },       /* four */
    { 4, 16, { 3, 2, 3, 2 }, { 16, 64, 1024, 8192 } }, /* whole granules */
};

TEST(sections, elements_travel_and_gaps_do_not)
{
    size_t i, skew;
    for (i = 0; i < COUNT_OF(shapes); i++)
        for (skew = 0; skew < 16; skew += LARGE(5, 15)) {
            const shape *s = &shapes[i];
            view *v;
            start(s->rank, s->bytes);
            v = view_at(4 * BLOCK + skew, s->rank, s->extent, s->stride);
            lay(v, s->rank, s->bytes);
            lab_pack(v, view_type, 1);
            CHECK_EQ(copied_word(&v->at), offset_of(v->at));
            end();
        }
}

TEST(sections, distances_are_those_of_the_source_in_every_plan)
{
    static const int64_t extent[] = { 60, 30 };
    static const int32_t stride[] = { -24, 4000 };
    size_t i;
    view *v;
    start(2, 8);
    v = view_at(2 * BLOCK, 2, extent, stride);
    lay(v, 2, 8);
    lab_pack(v, view_type, 1);
    for (i = 0; i < elements_of(v, 2); i++)
        CHECK_EQ((int64_t)offset_of(v->at + distance_of(v, 2, i)) - (int64_t)offset_of(v->at),
                 distance_of(v, 2, i));
    end();
}

TEST(sections, have_up_to_sixteen_dimensions)
{
    int64_t extent[MOST];
    int32_t stride[MOST];
    size_t i;
    view *v;
    for (i = 0; i < MOST; i++) {
        extent[i] = i % 2 ? 1 : 2;
        stride[i] = (i % 4 ? 3 : -3) * (1 << (i / 2 * 2));
    }
    start(MOST, 1);
    v = view_at(2 * BLOCK, MOST, extent, stride);
    lay(v, MOST, 1);
    lab_pack(v, view_type, 1);
    end();
}

/* ---- No elements. */

TEST(sections, an_extent_of_0_leads_to_no_elements_whatever_the_others_are)
{
    static const int64_t extents[][3] = {
        { 0, 5, 2 }, { 5, 0, 2 }, { INT64_MAX, INT64_MAX, 0 }, { 0, 0, 0 }
    };
    static const int32_t stride[] = { 8, INT32_MIN, INT32_MAX };
    size_t i;
    for (i = 0; i < COUNT_OF(extents); i++) {
        view *v;
        if (sizeof(size_t) < 8 && i == 2)
            continue; /* the extents alone are refused */
        start(3, 8);
        v = view_at(PAGE, 3, extents[i], stride);
        lab_pack(v, view_type, 1);
        end();
    }
}

TEST(sections, of_a_null_pointer_nothing_is_read)
{
    static const int64_t extent[] = { -3, INT64_MAX };
    static const int32_t stride[] = { 8, 8 };
    view *v;
    start(2, 8);
    v = view_at(0, 2, extent, stride);
    v->at = NULL;
    lab_pack(v, view_type, 1);
    v->extent[0] = 7; /* so the plan is as good as before */
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
    end();
}

/* ---- Several onto one memory. */

TEST(sections, interleave_with_others_and_with_arrays)
{
    static const int64_t extent[] = { 16, 20 }, one[] = { 20, 1 };
    static const int32_t odd[] = { 8, 256 }, even[] = { -8, 256 }, column[] = { 256, 0 };
    view *v;
    start(2, 8);
    v = view_at(BLOCK, 2, extent, odd);
    v->next = view_at(BLOCK + 128 + 15 * 8, 2, extent, even);     /* the other rows, reversed */
    v->next->next = view_at(BLOCK + 24, 2, one, column);          /* a column of the first */
    v->next->next->next = view_at(BLOCK + 6000, 2, extent, even); /* across both, shifted */
    v->next->next->next->next = v;                                /* a cycle */
    lay(v, 2, 8);
    lay(v->next, 2, 8);
    lay(v->next->next, 2, 8);
    lay(v->next->next->next, 2, 8);
    lab_pack(v, view_type, 1);
    end();
}

TEST(sections, what_other_fields_describe_in_the_gaps_travels)
{
    static const int64_t extent[] = { 30 };
    static const int32_t stride[] = { sizeof(view) + 8 };
    view *v, *other;
    size_t at = (2 * BLOCK + sizeof(view)) / 16 * 16;
    start(1, 8);
    v = view_at(at, 1, extent, stride);
    lay(v, 1, 8);
    other = take_at(at + 8, sizeof *other); /* in the first gap */
    points(&other->at);
    points(&other->next);
    other->extent[MOST - 1] = 1;
    v->next = other;
    other->next = v;
    lab_pack(v, view_type, 1);
    CHECK_EQ(offset_of(other) - offset_of(v->at), 8);
    end();
}

TEST(sections, a_pointer_among_the_elements_is_refused_with_both_paths)
{
    static const int64_t extent[] = { 30 };
    static const int32_t stride[] = { 2 * WORD };
    view *v;
    start(1, WORD);
    v = view_at(0, 1, extent, stride);
    v->at = (unsigned char *)&v->at;
    take_at(the.used, BLOCK);
    lab_refuse(v, view_type, HAUL_ERROR_GRAPH, "root.at",
               "a word is a pointer for one description and data for another");
    CHECK(v->next == NULL);
    end();
}

typedef struct ends {
    double *numbers;
    double *look;
    int64_t count;
} ends;

TEST(sections, a_borrowed_pointer_may_lead_to_an_element_and_not_into_a_gap)
{
    static const haul_dimension every_second[] = { HAUL_DIMENSION(HAUL_COUNT(ends, count),
                                                                  HAUL_FIXED(4)) };
    const haul_field fields[] = { HAUL_SECTION(ends, numbers, every_second),
                                  HAUL_ADDRESS(ends, look, .ownership = HAUL_BORROWED) };
    haul_type *type;
    size_t i;
    ends *e;
    lab_start();
    type = TYPE_OPEN(ends, fields);
    type_commit(type);
    e = take(sizeof *e, 16);
    points(&e->numbers);
    points(&e->look);
    e->count = 10;
    e->numbers = (double *)(void *)(the.memory + BLOCK);
    for (i = 0; i < 10; i++)
        fill(take_at(BLOCK + i * 32, 8), 8);
    e->look = e->numbers + 12;
    lab_pack(e, type, 1);
    e->look = e->numbers + 14;
    lab_refuse(e, type, HAUL_ERROR_GRAPH, "root.look", "");
    haul_type_free(&type);
    lab_end();
}

/* ---- How often is a section marked? */

typedef struct asked {
    size_t calls, bytes;
} asked;

static int note_readable(void *user, const void *address, size_t bytes)
{
    asked *a = user;
    (void)address;
    a->calls++;
    a->bytes += bytes;
    return 1;
}

TEST(sections, many_pointers_to_one_section_mark_it_once)
{
    static const int64_t extent[] = { 2000 };
    static const int32_t stride[] = { 16 };
    enum { VIEWS = 500 };
    view *v = NULL;
    asked a = { 0, 0 };
    size_t i;
    start(1, 8);
    for (i = 0; i < VIEWS; i++) {
        view *another = view_at(6 * BLOCK, 1, extent, stride);
        another->next = v;
        v = another;
    }
    lay(v, 1, 8);
    the.options.readable = note_readable;
    the.options.readable_user = &a;
    lab_open_context(0);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_object(v, view_type), NULL, &the.plan),
                 HAUL_OK);
    CHECK_EQ(a.calls, 2000 + VIEWS);
    CHECK_EQ(a.bytes, 2000 * 8 + VIEWS * sizeof(view)); /* and no gap is asked for */
    memset(&the.options, 0, sizeof the.options);
    end();
}

TEST(sections, that_are_many_are_each_marked)
{
    static const int64_t extent[] = { 3 };
    static const int32_t stride[] = { 16 };
    view *v = NULL;
    size_t i;
    start(1, 8);
    for (i = 0; i < 200; i++) {
        view *another = view_at(6 * BLOCK + i * 64, 1, extent, stride);
        another->next = v;
        v = another;
        lay(v, 1, 8);
        the.used = lab_offset(v) + sizeof *v;
    }
    the.used = 7 * BLOCK;
    lab_pack(v, view_type, 1);
    end();
}

typedef struct net {
    double *weights, *all, *some;
    struct net *next;
    int64_t count, many;
} net;

typedef struct knot {
    struct knot *next;
    net *last; /* of the last one */
    double weight, unused;
} knot;

/* The weights of a list's objects, and every third number of a long array: both were found before.
 */
TEST(sections, lie_over_objects_of_one_kind_and_over_whole_arrays)
{
    enum { KNOTS = 2 * BLOCK / sizeof(knot), NUMBERS = 3 * BLOCK / sizeof(double) };
    static haul_type *knot_type, *net_type;
    static const haul_dimension by_knots[] = { HAUL_DIMENSION_BYTES(HAUL_COUNT(net, count),
                                                                    HAUL_FIXED(sizeof(knot))) };
    static const haul_dimension by_three[] = { HAUL_DIMENSION(HAUL_FIXED(NUMBERS / 3),
                                                              HAUL_FIXED(3)) };
    const haul_field knot_fields[] = { HAUL_OBJECT(knot, next, &knot_type),
                                       HAUL_OBJECT(knot, last, &net_type) };
    const haul_field net_fields[] = { HAUL_SECTION(net, weights, by_knots),
                                      HAUL_ARRAY(net, all, HAUL_COUNT(net, many)),
                                      HAUL_SECTION(net, some, by_three),
                                      HAUL_OBJECT(net, next, &net_type) };
    knot *all;
    net *nets[2];
    size_t i;
    lab_start();
    knot_type = TYPE_OPEN(knot, knot_fields);
    net_type = TYPE_OPEN(net, net_fields);
    type_commit(knot_type);
    all = take_at(BLOCK, KNOTS * sizeof *all);
    for (i = 0; i < 2; i++) {
        nets[i] = take(sizeof(net), 16);
        points(&nets[i]->weights);
        points(&nets[i]->all);
        points(&nets[i]->some);
        points(&nets[i]->next);
    }
    for (i = 0; i < KNOTS; i++) {
        points(&all[i].next);
        points(&all[i].last);
        all[i].next = i + 1 < KNOTS ? &all[i + 1] : NULL;
        all[i].weight = (double)i;
    }
    all[KNOTS - 1].last = nets[0];
    nets[0]->next = nets[1];
    nets[0]->many = NUMBERS;
    nets[0]->all = take_at(4 * BLOCK, NUMBERS * sizeof(double));
    fill(nets[0]->all, NUMBERS * sizeof(double));
    nets[0]->some = nets[1]->some = nets[0]->all;
    nets[1]->many = 0;
    nets[0]->weights = nets[1]->weights = &all[0].weight;
    nets[0]->count = nets[1]->count = KNOTS;
    lab_pack(all, knot_type, 1);
    haul_type_free(&knot_type);
    haul_type_free(&net_type);
    lab_end();
}

/* ---- Objects. */

static thing *thing_at(size_t at, size_t number)
{
    thing *t = take_at(at, sizeof *t);
    char name[32];
    snprintf(name, sizeof name, "thing %zu", number);
    points(&t->name);
    points(&t->other);
    t->name = text(name);
    t->value = (double)number;
    return t;
}

/* A view of 3 x 4 things, a column and a row apart, both reversed. */
static view *things_make(void)
{
    static const int64_t extent[] = { 3, 4 };
    static const int32_t stride[] = { -2 * (int32_t)sizeof(thing), -10 * (int32_t)sizeof(thing) };
    view *v = view_at(0, 2, extent, stride);
    size_t i, first = BLOCK + 40 * sizeof(thing);
    v->at = NULL;
    points(&v->things);
    v->extent[MOST - 1] = 0;
    the.used = 2 * BLOCK;
    v->things = (thing *)(void *)(the.memory + first);
    for (i = 0; i < 12; i++)
        thing_at((size_t)((int64_t)first + distance_of(v, 2, i)), i);
    return v;
}

static size_t planned_bytes(view *v)
{
    haul_plan *plan;
    haul_plan_info info;
    CHECK_STATUS(haul_plan_create(type_context(), haul_from_object(v, view_type), NULL, &plan),
                 HAUL_OK);
    haul_plan_get_info(plan, &info);
    haul_plan_free(&plan);
    return info.graph_bytes;
}

/* An array over whole blocks of the map, and every third of its elements. */
TEST(sections, lie_over_blocks_of_nothing_but_data)
{
    unsigned char *memory = calloc(4, BLOCK);
    view *all, *some;
    size_t bytes;
    CHECK(memory != NULL);
    start(1, 8);
    all = view_make();
    some = view_make();
    all->at = memory + (0 - (uintptr_t)memory) % BLOCK;
    all->extent[0] = 3 * BLOCK / 8;
    all->stride[0] = 8;
    all->next = some;
    bytes = planned_bytes(all);
    CHECK(bytes > 3 * BLOCK);
    some->at = all->at + BLOCK + 8;
    some->extent[0] = 100;
    some->stride[0] = 24;
    CHECK_EQ(planned_bytes(all), bytes);
    end();
    free(memory);
}

TEST(sections, elements_may_have_fields)
{
    view *v;
    thing *last;
    start(2, 8);
    v = things_make();
    last = (thing *)(void *)((unsigned char *)v->things + distance_of(v, 2, 11));
    last->other = v->things;
    v->things->other = last;
    lab_pack(v, view_type, 1);
    end();
}

TEST(sections, of_objects_name_an_element_by_its_number_the_first_dimension_fastest)
{
    view *v;
    thing *wrong;
    start(2, 8);
    v = things_make();
    wrong = (thing *)(void *)((unsigned char *)v->things + distance_of(v, 2, 7));
    wrong->other = (thing *)(uintptr_t)64;
    lab_refuse(v, view_type, HAUL_ERROR_GRAPH, "root.things[7].other", "");
    end();
}

/* ---- The forms of describe.h. */

typedef struct matrix {
    double *a;
    int rows, columns, ld;
} matrix;

static const haul_dimension of_rows[] = {
    HAUL_DIMENSION(HAUL_COUNT(matrix, rows), HAUL_COUNT(matrix, ld)),
    HAUL_DIMENSION(HAUL_COUNT(matrix, columns), HAUL_FIXED(1)),
};
static const haul_field matrix_fields[] = { HAUL_SECTION(matrix, a, of_rows) };

TEST(sections, a_matrix_with_a_leading_dimension_is_one)
{
    haul_type *type;
    matrix *m;
    int i;
    lab_start();
    type = TYPE_OPEN(matrix, matrix_fields);
    type_commit(type);
    m = take(sizeof *m, 16);
    points(&m->a);
    m->rows = 6;
    m->columns = 5;
    m->ld = 9;
    m->a = (double *)(void *)(the.memory + PAGE);
    for (i = 0; i < 6; i++)
        fill(take_at(PAGE + (size_t)i * 72, 40), 40);
    lab_pack(m, type, 1);
    haul_type_free(&type);
    lab_end();
}

/* MPI_Type_vector(count, blocklength, stride): two dimensions. */
typedef struct vector {
    int32_t *at;
    int count;
} vector;

TEST(sections, a_vector_of_mpi_is_one_with_constants)
{
    static const haul_dimension blocks[] = {
        HAUL_DIMENSION(HAUL_FIXED(3), HAUL_FIXED(1)),
        HAUL_DIMENSION(HAUL_COUNT_TIMES(vector, count, 2), HAUL_FIXED(-5)),
        HAUL_DIMENSION(HAUL_ONE, HAUL_ONE),
    };
    const haul_field fields[] = { HAUL_SECTION(vector, at, blocks) };
    haul_type *type;
    vector *v;
    size_t i;
    lab_start();
    type = TYPE_OPEN(vector, fields);
    type_commit(type);
    v = take(sizeof *v, 16);
    points(&v->at);
    v->count = 4;
    v->at = (int32_t *)(void *)(the.memory + PAGE + 7 * 20);
    for (i = 0; i < 8; i++)
        fill(take_at(PAGE + i * 20, 12), 12);
    lab_pack(v, type, 1);
    haul_type_free(&type);
    lab_end();
}

typedef struct described {
    int32_t distance;
    int32_t low, high, step;
} described;

HAUL_FUNCTION(from_low_to_high, described, self->high < self->low ? 0 : self->high - self->low + 1)
HAUL_FUNCTION(step_back, described, -self->step)

TEST(sections, functions_answer_extents_and_strides_of_a_distance)
{
    static const haul_dimension bounds[] = { HAUL_DIMENSION_BYTES(HAUL_COUNT_FN(from_low_to_high),
                                                                  HAUL_COUNT_FN(step_back)) };
    const haul_field fields[] = { HAUL_RELATIVE(described, distance, .element_bytes = 2,
                                                .section = HAUL_DIMENSIONS(bounds)) };
    haul_type *type;
    described *d;
    size_t i;
    lab_start();
    type = TYPE_OPEN(described, fields);
    type_commit(type);
    d = take(sizeof *d, 16);
    own_check(&d->distance, sizeof d->distance);
    d->low = -4;
    d->high = 5;
    d->step = 6;
    for (i = 0; i < 10; i++)
        fill(take_at(PAGE + i * 6, 2), 2);
    d->distance = (int32_t)(PAGE + 9 * 6 - lab_offset(&d->distance));
    lab_pack(d, type, 1);
    haul_type_free(&type);
    lab_end();
}

static haul_status keep_text(void *user, const void *bytes, size_t count)
{
    char *text_of = user;
    size_t length = strlen(text_of);
    CHECK(length + count < 2048);
    memcpy(text_of + length, bytes, count);
    text_of[length + count] = '\0';
    return HAUL_OK;
}

TEST(sections, stand_in_the_table_of_a_type)
{
    char printed[2048] = "";
    haul_file file;
    haul_type *type = TYPE_OPEN(matrix, matrix_fields);
    memset(&file, 0, sizeof file);
    file.write = keep_text;
    file.user = printed;
    CHECK_STATUS(haul_type_dump(type, &file), HAUL_OK);
    CHECK_HAS(printed, sizeof(void *) > 4 ? "[@8 by @16][@12]" : "[@4 by @12][@8]");
    haul_type_free(&type);
}

TEST(sections, have_strides_in_bytes_or_other_units_in_the_table_of_a_type)
{
    haul_dimension dimensions[2] = { HAUL_DIMENSION_BYTES(HAUL_FIXED(3), HAUL_FIXED(64)),
                                     HAUL_DIMENSION_BYTES(HAUL_FIXED(2), HAUL_FIXED(5)) };
    haul_field field = HAUL_ADDRESS(matrix, a, .element_bytes = 8);
    char printed[2048] = "";
    haul_file file;
    haul_type *type;
    dimensions[1].unit = 8;
    field.section = section_of(dimensions, 2);
    CHECK_STATUS(type_make("matrix", sizeof(matrix), &field, 1, &type), HAUL_OK);
    memset(&file, 0, sizeof file);
    file.write = keep_text;
    file.user = printed;
    CHECK_STATUS(haul_type_dump(type, &file), HAUL_OK);
    CHECK_HAS(printed, "[3 by 64 bytes][2 by 5 times 8 bytes]");
    haul_type_free(&type);
}

/* ---- Descriptions that are refused. */

static void refuse_type(const haul_field *field, const char *part)
{
    haul_type *type;
    CHECK_STATUS(type_make("view", sizeof(view), field, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, part);
    haul_type_free(&type);
}

TEST(sections, that_cannot_be_are_refused_at_the_commit)
{
    static haul_type *whole;
    static const haul_case cases[] = { { 1, &whole, 0 } };
    haul_dimension dimensions[MOST + 1];
    haul_field good = HAUL_ADDRESS(view, at, .element_bytes = 8), field;
    view_dimensions(dimensions, MOST + 1);
    good.section = section_of(dimensions, 2);
    field = good;
    field.section.rank = MOST + 1;
    refuse_type(&field, "The section has 17 dimensions, or NULL for them: 1 to 16 are possible.");
    field.section.rank = 1;
    field.section.dimensions = NULL;
    refuse_type(&field, "The section has 1 dimensions, or NULL for them");
    field = good;
    field.count = (haul_count)HAUL_FIXED(3);
    refuse_type(&field, "it cannot have a count");
    field = good;
    field.levels = 2;
    refuse_type(&field, "it cannot have more than one level");
    field = good;
    CHECK_STATUS(haul_type_bytes(type_context(), "whole", 8, &whole), HAUL_OK);
    field.element_bytes = 0;
    field.type_switch = (haul_switch)HAUL_SWITCH(view, extent[0], cases);
    refuse_type(&field, "it cannot have a `.type_switch`");
    haul_type_free(&whole);
    field = good;
    field.pool = 1;
    refuse_type(&field, "it cannot have a `.pool`");
    field = good;
    field.ownership = HAUL_UNLESS_OWNED;
    refuse_type(&field, "it cannot have HAUL_UNLESS_OWNED");
    field = good;
    field.ownership = HAUL_BORROWED;
    refuse_type(&field, "it is not followed; but it has a `.section`");
    field = good;
    dimensions[1].extent = (haul_count)HAUL_FIXED(-1);
    refuse_type(&field, "The fixed count is -1: it cannot be negative.");
    dimensions[1].extent = (haul_count)HAUL_TERMINATED;
    refuse_type(&field, "Dimension 1 of the section has an extent or stride that is neither");
    dimensions[1].extent = (haul_count)HAUL_UNTIL(view, at);
    refuse_type(&field, "Dimension 1 of the section has an extent or stride that is neither");
    dimensions[0].unit = SIZE_MAX;
    refuse_type(&field, "The stride of dimension 0 counts units of");
    dimensions[0].unit = dimensions[2].unit;
    dimensions[1].extent = (haul_count)HAUL_FIXED(1);
    dimensions[1].stride.field[0].offset = sizeof(view);
    refuse_type(&field, "lies outside of the type's");
    dimensions[1].stride.field[0].offset = offsetof(view, at);
    refuse_type(&field, "lies in a pointer field.");
    dimensions[1].stride = (haul_count)HAUL_FIXED(1);
    dimensions[1].unit = SIZE_MAX;
    refuse_type(&field, "The stride of dimension 1 counts units of");
    field = (haul_field)HAUL_RAW(view, at);
    field.section = section_of(dimensions, 1);
    refuse_type(&field, "A field that is no pointer can have");
}

typedef struct limited {
    double *begin, *limit;
    int64_t count;
} limited;

TEST(sections, have_no_limit)
{
    static const haul_dimension one[] = { HAUL_DIMENSION(HAUL_COUNT(limited, count),
                                                         HAUL_FIXED(2)) };
    const haul_field fields[] = { HAUL_SECTION(limited, begin, one),
                                  HAUL_END_OF(limited, limit, begin) };
    haul_type *type = TYPE_OPEN(limited, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "`.end_of` names");
    haul_type_free(&type);
}

TEST(sections, cannot_stand_in_each_pointer_or_have_objects_of_no_fixed_size)
{
    haul_dimension dimensions[1];
    haul_field each = HAUL_ADDRESS(view, at, .element_bytes = 8), field;
    haul_type *sized, *type;
    view_dimensions(dimensions, 1);
    each.kind = 0;
    each.section = section_of(dimensions, 1);
    field =
        (haul_field)HAUL_ADDRESS(view, at, .levels = 2, .element_bytes = 8, .count = HAUL_FIXED(2));
    field.each_pointer = &each;
    refuse_type(&field, "`.each_pointer` has a `.section`: that cannot be.");
    {
        typedef struct tailed {
            int64_t count;
            double values[1];
        } tailed;
        const haul_field tail[] = { HAUL_TAIL(tailed, values, HAUL_COUNT(tailed, count)) };
        sized = TYPE_OPEN(tailed, tail);
        field = (haul_field)HAUL_ADDRESS(view, at, .target = &sized);
        field.section = section_of(dimensions, 1);
        CHECK_STATUS(type_make("view", sizeof(view), &field, 1, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
        CHECK_HAS(type_error()->text, "no fixed size: they cannot be the elements of a section");
        haul_type_free(&type);
        haul_type_free(&sized);
    }
}

/* ---- Graphs that are refused. */

static void refuse_view(int64_t extent0, int32_t stride0, int64_t extent1, int32_t stride1,
                        haul_status status, const char *part)
{
    const int64_t extent[] = { extent0, extent1 };
    const int32_t stride[] = { stride0, stride1 };
    view *v;
    start(2, 8);
    v = view_at(PAGE, 2, extent, stride);
    take_at(PAGE, PAGE);
    v = memcpy(take(sizeof *v, 16), v, sizeof *v);
    the.options.max_array_elements = 1000;
    the.options.max_bytes = 100000;
    lab_refuse(v, view_type, status, "root.at", part);
    memset(&the.options, 0, sizeof the.options);
    end();
}

TEST(sections, that_cannot_lie_there_are_refused_with_their_path)
{
    refuse_view(2, 8, -1, 8, HAUL_ERROR_GRAPH, "its extent in dimension 1 is -1");
    refuse_view(500, 8, 3, 8, HAUL_ERROR_LIMIT,
                "1500 elements, more than the limit array_elements of 1000");
    refuse_view(1, 0, 1001, 0, HAUL_ERROR_LIMIT, "1001 elements, more than the limit");
    refuse_view(2, 8, 2, 100000, HAUL_ERROR_LIMIT, "100016 bytes, more than the limit of 100000");
    refuse_view(INT64_MAX, 8, INT64_MAX, 8, HAUL_ERROR_LIMIT, "its extents and strides overflow");
    refuse_view(INT64_MAX, INT32_MIN, 1, 1, HAUL_ERROR_LIMIT, "its extents and strides overflow");
}

TEST(sections, below_the_first_address_or_not_readable_are_refused)
{
    static const int64_t extent[] = { 40 };
    static const int32_t stride[] = { INT32_MIN / 64 };
    static const haul_dimension far[] = { HAUL_DIMENSION(HAUL_FIXED(2), HAUL_FIXED(INT64_MIN)) };
    const haul_field fields[] = { HAUL_SECTION(matrix, a, far) };
    haul_type *type;
    double a = 0;
    matrix m = { &a, 0, 0, 0 };
    view *v;
    start(1, 8);
    v = view_at(0, 1, extent, stride);
    v->at = (unsigned char *)(uintptr_t)(3 * PAGE);
    lab_refuse(v, view_type, HAUL_ERROR_GRAPH, "root.at",
               "lie outside any process's address range");
    type = TYPE_OPEN(matrix, fields);
    type_commit(type);
    lab_refuse(&m, type, HAUL_ERROR_LIMIT, "root.a", "its extents and strides overflow");
    haul_type_free(&type);
    end();
}

static int is_not_third(void *user, const void *address, size_t bytes)
{
    (void)bytes;
    return (uintptr_t)address != *(const uintptr_t *)user + 2 * 16;
}

TEST(sections, of_which_one_line_cannot_be_read_are_refused)
{
    static const int64_t extent[] = { 4 };
    static const int32_t stride[] = { 16 };
    uintptr_t first;
    view *v;
    start(1, 8);
    v = view_at(6 * BLOCK, 1, extent, stride);
    lay(v, 1, 8);
    first = (uintptr_t)v->at;
    the.options.readable = is_not_third;
    the.options.readable_user = &first;
    lab_refuse(v, view_type, HAUL_ERROR_GRAPH, "root.at", "not readable");
    memset(&the.options, 0, sizeof the.options);
    end();
}

/* ---- Changes. */

static void check_stale(view *v)
{
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.at");
    CHECK_HAS(haul_context_error(the.context)->text, "changed");
    (void)v;
}

TEST(sections, a_changed_extent_or_stride_is_stale_C3)
{
    static const int64_t extent[] = { 9, 20 };
    static const int32_t stride[] = { 16, -400 };
    view *v;
    start(2, 8);
    v = view_at(BLOCK + 8000, 2, extent, stride);
    lay(v, 2, 8);
    lab_pack(v, view_type, 1);
    v->extent[1]--;
    check_stale(v);
    v->extent[1]++;
    v->stride[0] = 24;
    check_stale(v);
    v->stride[0] = 16;
    v->at += 8;
    check_stale(v);
    v->at -= 8;
    v->stride[5]++; /* beyond the rank: nobody reads it */
    v->at[16] ^= 1;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
    CHECK_EQ(the.arena[offset_of(v->at + 16)], v->at[16]);
    end();
}

/* ---- Shipments. */

/* Adds 1 to each byte of the span, gaps too. */
static void add_one(void *address)
{
    view *v = address;
    int i;
    for (i = -3200; i < 16 * 8 + 8; i++)
        v->at[i]++;
}

/* Of a view of 9 elements, each 16 bytes apart, in 9 rows that go down by 400 bytes. */
static void ship_and_return(haul_transfer transfer, int is_checked)
{
    static const int64_t extent[] = { 9, 9 };
    static const int32_t stride[] = { 16, -400 };
    const haul_field named[] = { HAUL_STRING(thing, name) };
    unsigned char *memory = calloc(1, 8192), *before = malloc(8192), *is_element = calloc(1, 8192);
    haul_context_options options;
    haul_context *context;
    haul_device *device;
    haul_shipment *s;
    view v, seen;
    size_t i;
    CHECK(memory && before && is_element);
    memset(&options, 0, sizeof options);
    options.checked = is_checked;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    thing_type = TYPE_OPEN(thing, named);
    CHECK_STATUS(view_make_type(2, 8, transfer), HAUL_OK);
    memset(&v, 0, sizeof v);
    v.at = memory + 4000;
    v.extent[MOST - 1] = 1;
    memcpy(v.extent, extent, sizeof extent);
    memcpy(v.stride, stride, sizeof stride);
    for (i = 0; i < 81; i++)
        memset(is_element + 4000 + distance_of(&v, 2, i), 1, 8);
    for (i = 0; i < 8192; i++)
        memory[i] = before[i] = (unsigned char)(i * 5);
    CHECK_STATUS(haul_ship(device, &v, view_type, 1, NULL, &s), HAUL_OK);
    memcpy(&seen, &v, sizeof v);
    CHECK(haul_device_pointer(s, v.at) != NULL);
    CHECK_PTR(haul_device_pointer(s, v.at + 12), NULL);
    CHECK_STATUS(haul_host_launch(device, add_one, haul_device_pointer(s, &v)), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, RANGE(v.at - 400, 100), NULL), HAUL_OK);
    for (i = 3600; i < 3700; i++) {
        const int comes = is_element[i] && transfer != HAUL_COPYIN && transfer != HAUL_CREATE;
        const unsigned char sent = transfer == HAUL_COPYOUT ? 0 : before[i];
        CHECK_EQ(memory[i], comes ? (unsigned char)(sent + 1) : before[i]);
    }
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (i = 0; i < 8192; i++) {
        const int comes = is_element[i] && transfer != HAUL_COPYIN && transfer != HAUL_CREATE;
        const unsigned char sent = transfer == HAUL_COPYOUT ? 0 : before[i];
        CHECK_EQ(memory[i], comes ? (unsigned char)(sent + 1) : before[i]);
    }
    CHECK_BYTES(&seen, &v, sizeof v);
    memory[4000] = 77;
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(memory[4000], transfer == HAUL_COPYOUT ? 0 : 77);
    v.extent[0]--;
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_reship(s, NULL), HAUL_OK);
    CHECK_PTR(haul_device_pointer(s, v.at + 128), NULL); /* the last column is no longer one */
    haul_shipment_free(&s);
    haul_type_free(&view_type);
    haul_type_free(&thing_type);
    haul_device_close(&device);
    haul_context_free(&context);
    free(memory);
    free(before);
    free(is_element);
}

TEST(sections, results_return_to_elements_alone_as_their_direction_says)
{
    int transfer;
    for (transfer = HAUL_COPY; transfer <= HAUL_CREATE; transfer++) {
        ship_and_return((haul_transfer)transfer, 0);
        ship_and_return((haul_transfer)transfer, 1);
    }
}

/* ---- Tables, pictures and the audit. */

TEST(sections, a_pointer_hidden_in_a_gap_is_not_reported_and_one_in_an_element_is)
{
    static const int64_t extent[] = { 20, 3 };
    static const int32_t stride[] = { 64, 8192 };
    haul_audit_info told;
    view *v;
    start(2, WORD);
    v = view_at(BLOCK, 2, extent, stride);
    lay(v, 2, WORD);
    take_at(BLOCK, 3 * 8192);
    memcpy(v->at + 64 + 16, &v, WORD);
    lab_open_context(0);
    CHECK_STATUS(haul_audit(the.context, haul_from_object(v, view_type), NULL, &told), HAUL_OK);
    if (sizeof(void *) > 4)
        CHECK_EQ(told.hidden_pointers, 0);
    memcpy(v->at + 128, &v, WORD);
    CHECK_STATUS(haul_audit(the.context, haul_from_object(v, view_type), NULL, &told), HAUL_OK);
    CHECK(told.hidden_pointers >= 1);
    end();
}

TEST(sections, have_a_range_and_a_node_for_each_line)
{
    static const int64_t extent[] = { 20, 3 };
    static const int32_t stride[] = { 64, 8192 };
    char printed[2048] = "";
    haul_file file;
    view *v;
    memset(&file, 0, sizeof file);
    file.write = keep_text;
    file.user = printed;
    start(2, 8);
    v = view_at(BLOCK, 2, extent, stride);
    lay(v, 2, 8);
    lab_open_context(0);
    CHECK_STATUS(haul_graph_write_table(the.context, haul_from_object(v, view_type), &file),
                 HAUL_OK);
    CHECK_HAS(printed, "view.at");
    printed[0] = '\0';
    CHECK_STATUS(haul_graph_write_dot(the.context, haul_from_object(v, view_type), NULL, &file),
                 HAUL_OK);
    CHECK_HAS(printed, "(data)");
    end();
}

TEST(sections, no_image_can_hold_one)
{
    double number = 1;
    matrix m = { &number, 1, 1, 1 };
    char written[2048] = "";
    haul_type *type = TYPE_OPEN(matrix, matrix_fields);
    haul_file file;
    memset(&file, 0, sizeof file);
    file.write = keep_text;
    file.user = written;
    type_commit(type);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(&m, type), &file),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(type_error()->path, "matrix.a");
    CHECK_HAS(type_error()->text, "no image can hold it: it leads to a section");
    CHECK_STR(written, "");
    haul_type_free(&type);
}

/* ---- Memory that runs out. */

TEST(sections, every_allocation_can_fail_H1_H2)
{
    static const int64_t extent[] = { 30, 40 };
    static const int32_t stride[] = { 24, 4000 };
    view *v;
    start(2, 8);
    v = view_at(3 * BLOCK, 2, extent, stride);
    lay(v, 2, 8);
    v->next = things_make();
    CHECK(fault_every_plan(haul_from_object(v, view_type), FAULT_MEMORY) > 10);
    end();
}

/* ---- Random sections. */

static void lay_random(random_source *random, view *v, size_t rank, size_t bytes)
{
    int64_t below, above;
    size_t i;
    do {
        below = 0;
        above = (int64_t)bytes;
        for (i = 0; i < rank; i++) {
            const int is_small = random_one_in(random, 2);
            int64_t reach;
            v->extent[i] = (int64_t)random_between(random, 1, random_one_in(random, 3) ? 30 : 5);
            v->stride[i] = (int32_t)random_below(random, is_small ? 40 : 6000);
            if (random_one_in(random, 2))
                v->stride[i] = v->stride[i] / (int32_t)bytes * (int32_t)bytes;
            if (random_one_in(random, 2))
                v->stride[i] = -v->stride[i];
            reach = (v->extent[i] - 1) * v->stride[i];
            if (reach < 0)
                below -= reach;
            else
                above += reach;
        }
    } while (below > BLOCK || above > BLOCK || elements_of(v, rank) > 4000);
    v->at = the.memory + 2 * BLOCK + random_below(random, BLOCK);
    lay(v, rank, bytes);
}

TEST(sections, random_ones_are_as_loops_say)
{
    random_source random = random_start("sections are what loops say");
    int round;
    for (round = 0; round < 60; round++) {
        const size_t rank = random_between(&random, 1, 5), bytes = random_between(&random, 1, 20);
        const size_t count = random_between(&random, 1, 4);
        view *first = NULL, *v = NULL;
        size_t i;
        start(rank, bytes);
        for (i = 0; i < count; i++) {
            view *another = view_make();
            if (v)
                v->next = another;
            else
                first = another;
            v = another;
        }
        for (v = first; v; v = v->next)
            lay_random(&random, v, rank, bytes);
        lab_pack(first, view_type, 1);
        end();
    }
}

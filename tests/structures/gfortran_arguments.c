/* The descriptors that gfortran passes for arrays. elem_len and type say what an element
 * is; an element of a derived type may have descriptors of its own; a section of an array walks
 * through its block in any direction.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"

enum {
    BT_INTEGER = 1,
    BT_LOGICAL,
    BT_REAL,
    BT_COMPLEX,
    BT_DERIVED,
    BT_CHARACTER,
    RANK_MAX = 4,
    ARRAYS = 900
};

typedef struct gfc_dim {
    intptr_t stride, lbound, ubound;
} gfc_dim;

typedef struct gfc_array {
    void *base_addr;
    intptr_t offset;
    struct {
        size_t elem_len;
        int version;
        signed char rank, type;
        short attribute;
    } dtype;
    intptr_t span;
    gfc_dim dim[RANK_MAX];
} gfc_array;

/* type :: cell; integer :: id; real, allocatable :: flux(:); end type */
typedef struct cell {
    int32_t id, pad;
    gfc_array flux;
} cell;

typedef struct module_state {
    int32_t count;
    gfc_array *arrays;
} module_state;

static haul_type *gfc_type, *cell_type, *byte_type, *state_type;

/* Strides count spans: of an element, or, for one component of all elements (p => a%x), of the
 * whole that it is in. In spans: where the lowest element lies, seen from the first one. */
static intptr_t lowest_element(const gfc_array *a)
{
    intptr_t lowest = 0;
    int d;
    for (d = 0; d < a->dtype.rank; d++)
        if (a->dim[d].stride < 0)
            lowest += (a->dim[d].ubound - a->dim[d].lbound) * a->dim[d].stride;
    return lowest;
}

/* Of the block that a descriptor reaches into, lowest address first. */
static intptr_t elements(const gfc_array *a)
{
    intptr_t reach = 1;
    int d;
    for (d = 0; d < a->dtype.rank; d++) {
        intptr_t steps = a->dim[d].ubound - a->dim[d].lbound;
        if (steps < 0)
            return 0;
        reach += steps * (a->dim[d].stride < 0 ? -a->dim[d].stride : a->dim[d].stride);
    }
    return reach;
}

/* Bytes; of a derived type elements, which lie side by side or are none. */
static intptr_t units_reached(const gfc_array *a)
{
    const intptr_t count = elements(a), elem_len = (intptr_t)a->dtype.elem_len;
    if (count == 0)
        return 0;
    if (a->dtype.type == BT_DERIVED)
        return a->span == elem_len ? count : -1;
    return (count - 1) * a->span + elem_len;
}

HAUL_FUNCTION(array_base, gfc_array, lowest_element(self) * self->span)
HAUL_FUNCTION(units, gfc_array, units_reached(self))
HAUL_FUNCTION(as_bytes, gfc_array, elements(self) * 1)
HAUL_FUNCTION(as_reals, gfc_array, elements(self) * (self->dtype.type == BT_DERIVED ? 1 : 8))

static void fortran_open(haul_function *count)
{
    static const haul_case types[] = {
        { BT_INTEGER, &byte_type, 0 },   { BT_LOGICAL, &byte_type, 0 },
        { BT_REAL, &byte_type, 0 },      { BT_COMPLEX, &byte_type, 0 },
        { BT_CHARACTER, &byte_type, 0 }, { BT_DERIVED, &cell_type, 0 },
    };
    const haul_field fields[] = { HAUL_ADDRESS(
        gfc_array, base_addr, .count = HAUL_COUNT_FN(count), .base_fn = array_base,
        .type_switch = HAUL_SWITCH(gfc_array, dtype.type, types)) };
    static const haul_field cell_fields[] = { HAUL_EMBED(cell, flux, &gfc_type) };
    static const haul_field state_fields[] = { HAUL_OBJECTS(module_state, arrays, &gfc_type,
                                                            HAUL_COUNT(module_state, count)) };
    CHECK_STATUS(haul_type_bytes(type_context(), "byte", 1, &byte_type), HAUL_OK);
    gfc_type = OPEN(gfc_array, fields);
    cell_type = OPEN(cell, cell_fields);
    state_type = OPEN(module_state, state_fields);
    type_close(state_type);
}

static void fortran_close(void)
{
    haul_type_free(&state_type);
    haul_type_free(&cell_type);
    haul_type_free(&gfc_type);
    haul_type_free(&byte_type);
}

/* allocate(a(lbound:ubound, ...)), with lower bounds of 1, 2, .. or below 0. */
static intptr_t array_shape(gfc_array *a, int type, size_t elem_len, int rank)
{
    intptr_t stride = 1;
    int d;
    a->dtype.type = (signed char)type;
    a->dtype.elem_len = elem_len;
    a->dtype.rank = (signed char)rank;
    a->span = (intptr_t)elem_len;
    for (d = 0; d < rank; d++) {
        intptr_t extent = (intptr_t)random_between(&the.random, 2, d ? 5 : 12);
        a->dim[d].lbound = (intptr_t)random_between(&the.random, 0, 6) - 3;
        a->dim[d].ubound = a->dim[d].lbound + extent - 1;
        a->dim[d].stride = stride;
        a->offset -= a->dim[d].lbound * stride;
        stride *= extent;
    }
    return stride;
}

static void plain_array(gfc_array *a, uint64_t *seen)
{
    static const struct {
        int type;
        size_t elem_len;
    } plain[] = { { BT_INTEGER, 1 },  { BT_INTEGER, 2 },   { BT_INTEGER, 4 }, { BT_INTEGER, 8 },
                  { BT_LOGICAL, 4 },  { BT_REAL, 4 },      { BT_REAL, 8 },    { BT_COMPLEX, 8 },
                  { BT_COMPLEX, 16 }, { BT_CHARACTER, 21 } };
    size_t kind = random_below(&the.random, COUNT_OF(plain)), bytes, i;
    unsigned char *block;
    bytes = (size_t)array_shape(a, plain[kind].type, plain[kind].elem_len,
                                (int)random_between(&the.random, 1, RANK_MAX)) *
            plain[kind].elem_len;
    block = a->base_addr = put(bytes, 16);
    for (i = 0; i < bytes; i++) /* below 64: no four of them are an address */
        see(seen, block[i] = (unsigned char)random_below(&the.random, 64));
}

static void cell_array(gfc_array *a, uint64_t *seen)
{
    intptr_t count = array_shape(a, BT_DERIVED, sizeof(cell), 1), i;
    cell *cells = a->base_addr = PUT_ARRAY(cell, count);
    for (i = 0; i < count; i++) {
        cells[i].id = (int32_t)i;
        see(seen, (uint64_t)i);
        plain_array(&cells[i].flux, seen);
    }
}

/* b => a(ubound:lbound:-1): the same elements, from the last one to the first. */
static void backwards(gfc_array *b, const gfc_array *a)
{
    int d;
    *b = *a;
    b->offset = 0;
    for (d = 0; d < a->dtype.rank; d++) {
        intptr_t steps = a->dim[d].ubound - a->dim[d].lbound;
        b->base_addr = (unsigned char *)b->base_addr + steps * a->dim[d].stride * a->span;
        b->dim[d].stride = -a->dim[d].stride;
        b->dim[d].lbound = 1;
        b->dim[d].ubound = steps + 1;
        b->offset -= b->dim[d].stride;
    }
}

/* Arrays of plain elements, of cells, sections before their arrays, and one that is not
 * allocated. */
static module_state *fortran_make(uint64_t *seen)
{
    module_state *m = PUT(module_state);
    int i;
    m->count = ARRAYS;
    m->arrays = PUT_ARRAY(gfc_array, ARRAYS);
    m->arrays[0].dtype.type = BT_REAL;
    for (i = 1; i < ARRAYS; i++)
        if (i % 10 == 0)
            cell_array(&m->arrays[i], seen);
        else if (i % 10 != 5)
            plain_array(&m->arrays[i], seen);
    for (i = 5; i < ARRAYS; i += 10)
        backwards(&m->arrays[i], &m->arrays[i + 1]);
    return m;
}

/* In the order of the first index, as Fortran goes. */
static void *next_element(const gfc_array *a, intptr_t *index)
{
    intptr_t at = a->offset;
    int d, carry = 1;
    for (d = 0; d < a->dtype.rank; d++)
        at += index[d] * a->dim[d].stride;
    for (d = 0; d < a->dtype.rank && carry; d++) {
        carry = ++index[d] > a->dim[d].ubound;
        if (carry)
            index[d] = a->dim[d].lbound;
    }
    return (unsigned char *)a->base_addr + at * a->span;
}

static void meet_array(gfc_array *a, uint64_t *seen)
{
    intptr_t index[RANK_MAX], count = elements(a), i;
    size_t b;
    int d;
    for (d = 0; d < a->dtype.rank; d++)
        index[d] = a->dim[d].lbound;
    for (i = 0; i < count; i++) {
        unsigned char *element = next_element(a, index);
        for (b = 0; b < a->dtype.elem_len; b++)
            see(seen, element[b]++);
    }
}

static void meet_cells(gfc_array *a, uint64_t *seen)
{
    intptr_t index[RANK_MAX], i;
    index[0] = a->dim[0].lbound;
    for (i = a->dim[0].lbound; i <= a->dim[0].ubound; i++) {
        cell *c = next_element(a, index);
        see(seen, (uint64_t)c->id);
        meet_array(&c->flux, seen);
    }
}

/* The section's first element is the array's last one. */
static void meet_section(const gfc_array *section, const gfc_array *whole, uint64_t *seen)
{
    intptr_t from[RANK_MAX], to[RANK_MAX];
    int d;
    for (d = 0; d < whole->dtype.rank; d++) {
        from[d] = 1;
        to[d] = whole->dim[d].ubound;
    }
    if (next_element(section, from) != next_element(whole, to))
        see(seen, 0);
}

static void fortran_walk(void *argument)
{
    visit *v = argument;
    module_state *m = v->root;
    int i;
    if (m->arrays[0].base_addr)
        see(&v->seen, 0);
    for (i = 1; i < m->count; i++)
        if (i % 10 == 5)
            meet_section(&m->arrays[i], &m->arrays[i + 1], &v->seen);
        else if (m->arrays[i].dtype.type == BT_DERIVED)
            meet_cells(&m->arrays[i], &v->seen);
        else
            meet_array(&m->arrays[i], &v->seen);
}

TEST(structures_gfortran,
     arrays_of_any_rank_width_and_direction_have_the_elements_that_their_descriptors_say)
{
    journey j = { .walk = fortran_walk };
    site_start(23);
    fortran_open(units);
    j.root = fortran_make(&j.seen);
    j.type = state_type;
    travel(&j);
    fortran_close();
    site_end();
}

TEST(structures_gfortran,
     elements_that_are_too_wide_are_refused_and_an_audit_tells_those_too_narrow)
{
    module_state *m;
    site_start(23);
    m = PUT(module_state);
    m->count = 2;
    m->arrays = PUT_ARRAY(gfc_array, 2);
    m->arrays[1].base_addr = put(2048, 16);
    m->arrays[1].dtype.type = BT_REAL;
    m->arrays[1].dtype.rank = 1;
    m->arrays[1].dtype.elem_len = 4;
    m->arrays[1].span = 4;
    m->arrays[1].dim[0].stride = m->arrays[1].dim[0].lbound = 1;
    m->arrays[1].dim[0].ubound = 512;
    fortran_open(as_reals);
    refuse_graph(m, state_type, HAUL_ERROR_GRAPH, "root.arrays[1].base_addr", "",
                 "the range it leads to is not readable");
    fortran_close();
    fortran_open(as_bytes);
    audit_tells(m, state_type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.arrays[1].base_addr[0]",
                "only the first 512 bytes of its block of 2048 are described");
    fortran_close();
    site_end();
}

/* Real structures with fields that mean something now and then: a value of SQLite's, whose text is
 * there only under some flags (COND), and arrays of Fortran, whose elements are as wide and of the
 * type that the descriptor says (WID).
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"
#include "support/open.h"
#include "support/types.h"

/* ---- COND: a value of SQLite's virtual machine. Its text or blob is there if a flag says so, and
 * is then its own buffer's, a constant, or a part of another value's; its buffer is there if it has
 * a size. What the flags do not speak of is left from before. */

enum {
    MEM_Null = 0x0001,
    MEM_Str = 0x0002,
    MEM_Int = 0x0004,
    MEM_Real = 0x0008,
    MEM_Blob = 0x0010,
    MEM_Term = 0x0200,
    MEM_Dyn = 0x1000,
    MEM_Static = 0x2000,
    MEM_Ephem = 0x4000,
    MEM_Agg = 0x8000
};

enum { VALUES = 12000, TEXT_MAX = 60 };

typedef struct aggregate {
    int64_t sum, count;
} aggregate;

typedef struct Mem {
    union {
        double r;
        int64_t i;
        aggregate *pDef;
    } u;
    char *z;
    int n;
    uint16_t flags;
    uint8_t enc, eSubtype;
    struct value_store *db;
    int szMalloc;
    uint32_t uTemp;
    char *zMalloc;
    void (*xDel)(void *);
} Mem;

typedef struct value_store {
    Mem *aMem;
    int nMem;
} value_store;

static const char constants[] = "unique\0integer\0main";
static const test_static constant_range = { constants, sizeof constants, HAUL_STATIC_KEEP };

static haul_type *Mem_type, *value_store_type;

HAUL_FUNCTION(text_bytes, Mem, self->n + (self->flags & MEM_Term ? 1 : 0))

static void values_open(const haul_field *text)
{
    const haul_field fields[] = {
        HAUL_RAW(Mem, u.i, .when = HAUL_NO_BIT(Mem, flags, MEM_Agg)),
        HAUL_ARRAY(Mem, u.pDef, HAUL_ONE, .when = HAUL_ANY_BIT(Mem, flags, MEM_Agg)),
        *text,
        HAUL_ADDRESS(Mem, db, .ownership = HAUL_BORROWED),
        HAUL_BYTES(Mem, zMalloc, HAUL_COUNT(Mem, szMalloc),
                   .when = HAUL_BETWEEN(Mem, szMalloc, 1, INT32_MAX)),
        HAUL_ADDRESS(Mem, xDel, .when = HAUL_ANY_BIT(Mem, flags, MEM_Dyn),
                     .ownership = HAUL_EXTERNAL),
    };
    static const haul_field store_fields[] = { HAUL_OBJECTS(value_store, aMem, &Mem_type,
                                                            HAUL_COUNT(value_store, nMem)) };
    Mem_type = OPEN(Mem, fields);
    value_store_type = OPEN(value_store, store_fields);
    type_close(value_store_type);
    the.known.statics = &constant_range;
    the.known.static_count = 1;
}

static void values_close(void)
{
    haul_type_free(&value_store_type);
    haul_type_free(&Mem_type);
}

static void random_text(char *text, int n, uint64_t *seen)
{
    int i;
    for (i = 0; i < n; i++)
        see(seen, (unsigned char)(text[i] = (char)('a' + random_below(&the.random, 26))));
}

static void release_text(void *text)
{
    (void)text;
}

static void set_flags(Mem *m, unsigned flags, uint64_t *seen)
{
    m->flags = (uint16_t)flags;
    see(seen, flags);
}

/* A buffer with room behind the text. */
static void own_text(Mem *m, int n, uint64_t *seen)
{
    set_flags(m, MEM_Str | MEM_Term, seen);
    m->n = n;
    m->szMalloc = n + 9;
    m->zMalloc = put((size_t)m->szMalloc, 1);
    m->z = m->zMalloc;
    random_text(m->z, n, seen);
}

static void dynamic_blob(Mem *m, int n, uint64_t *seen)
{
    set_flags(m, MEM_Blob | MEM_Dyn, seen);
    m->n = n;
    m->z = put((size_t)n, 1);
    random_text(m->z, n, seen);
    m->xDel = release_text;
    see(seen, 1);
}

static void constant_text(Mem *m, uint64_t *seen)
{
    set_flags(m, MEM_Str | MEM_Static | MEM_Term, seen);
    m->z = (char *)(uintptr_t)(constants + 7);
    m->n = 7;
    see_text(seen, "integer");
}

/* The middle of the first text. */
static void borrowed_text(Mem *m, const Mem *first, uint64_t *seen)
{
    int i;
    set_flags(m, MEM_Str | MEM_Ephem, seen);
    m->z = first->z + TEXT_MAX / 3;
    m->n = TEXT_MAX / 3;
    for (i = 0; i < m->n; i++)
        see(seen, (unsigned char)first->zMalloc[TEXT_MAX / 3 + i]);
}

static void number(Mem *m, int is_real, uint64_t *seen)
{
    set_flags(m, is_real ? MEM_Real : MEM_Int, seen);
    if (is_real)
        see_real(seen, m->u.r = (double)random_below(&the.random, 1000) / 8);
    else
        see(seen, (uint64_t)(m->u.i = -(int64_t)random_below(&the.random, 1000)));
}

static void sums(Mem *m, uint64_t *seen)
{
    set_flags(m, MEM_Agg, seen);
    m->u.pDef = PUT(aggregate);
    see(seen, (uint64_t)(m->u.pDef->sum = (int64_t)random_below(&the.random, 1 << 30)));
}

/* Leaves what an earlier value had: addresses of nobody's. */
static void value_make(Mem *m, const Mem *first, uint64_t *seen)
{
    int n = (int)random_between(&the.random, 3, TEXT_MAX);
    m->n = n;
    m->z = (char *)the.memory + SITE_BYTES + 16;
    m->zMalloc = m->z + 1;
    m->u.i = 0x5A5A5A5A5A5A5A5A;
    switch (random_below(&the.random, 8)) {
    case 0:
        own_text(m, n, seen);
        break;
    case 1:
        dynamic_blob(m, n, seen);
        break;
    case 2:
        constant_text(m, seen);
        break;
    case 3:
        borrowed_text(m, first, seen);
        break;
    case 4:
        number(m, 0, seen);
        break;
    case 5:
        number(m, 1, seen);
        break;
    case 6:
        sums(m, seen);
        break;
    default:
        set_flags(m, MEM_Null, seen);
        break;
    }
}

static value_store *values_make(uint64_t *seen)
{
    value_store *s = PUT(value_store);
    int i;
    s->nMem = VALUES;
    s->aMem = PUT_ARRAY(Mem, VALUES);
    own_text(&s->aMem[0], TEXT_MAX, seen);
    for (i = 1; i < VALUES; i++)
        value_make(&s->aMem[i], &s->aMem[0], seen);
    for (i = 0; i < VALUES; i++)
        s->aMem[i].db = s;
    return s;
}

static void meet_value(const Mem *m, uint64_t *seen)
{
    int i;
    see(seen, m->flags);
    for (i = 0; i < m->n && m->flags & (MEM_Str | MEM_Blob); i++)
        see(seen, (unsigned char)m->z[i]);
    if (m->flags & MEM_Int)
        see(seen, (uint64_t)m->u.i);
    if (m->flags & MEM_Real)
        see_real(seen, m->u.r);
    if (m->flags & MEM_Agg)
        see(seen, (uint64_t)m->u.pDef->sum);
    if (m->flags & MEM_Dyn)
        see(seen, m->xDel == release_text);
}

static void value_change(Mem *m)
{
    m->eSubtype++;
    if (m->flags & MEM_Str && m->szMalloc)
        m->z[m->n - 1] = '!';
    if (m->flags & MEM_Blob)
        m->z[0] = '#';
    if (m->flags & MEM_Int)
        m->u.i *= 3;
    if (m->flags & MEM_Agg)
        m->u.pDef->count++;
    m->uTemp = (uint32_t)m->db->nMem;
}

/* A pointer that is of no meaning is null here. */
static void values_walk(void *argument)
{
    visit *v = argument;
    value_store *s = v->root;
    int i;
    for (i = 0; i < s->nMem; i++) {
        Mem *m = &s->aMem[i];
        meet_value(m, &v->seen);
        if (!v->is_host &&
            ((!(m->flags & (MEM_Str | MEM_Blob)) && m->z) || (!m->szMalloc && m->zMalloc)))
            see(&v->seen, 0);
    }
    for (i = 0; i < s->nMem; i++)
        value_change(&s->aMem[i]);
}

TEST(structures_values,
     COND_values_have_texts_and_buffers_where_their_flags_say_so_and_null_where_they_do_not)
{
    const haul_field text =
        HAUL_BYTES(Mem, z, HAUL_COUNT_FN(text_bytes),
                   .when = HAUL_ANY_BIT(Mem, flags, MEM_Str | MEM_Blob), .maybe_static = 1);
    journey j = { NULL, NULL, 0, values_walk, NULL, 0 };
    site_start(24);
    values_open(&text);
    j.root = values_make(&j.seen);
    j.type = value_store_type;
    travel(&j);
    values_close();
    site_end();
}

TEST(structures_values,
     COND_a_text_that_is_followed_whatever_the_flags_say_is_refused_where_it_is_stale)
{
    const haul_field text = HAUL_BYTES(Mem, z, HAUL_COUNT_FN(text_bytes), .maybe_static = 1);
    uint64_t seen = 0;
    value_store *s;
    site_start(24);
    s = values_make(&seen);
    s->aMem[1].flags = MEM_Null;
    s->aMem[1].z = (char *)the.memory + SITE_BYTES;
    values_open(&text);
    refuse_graph(s, value_store_type, HAUL_ERROR_GRAPH, "root.aMem[1].z", "",
                 "the range it leads to is not readable");
    values_close();
    site_end();
}

/* ---- WID: the descriptors that gfortran passes for arrays. elem_len and type say what an element
 * is; an element of a derived type may have descriptors of its own; a section of an array walks
 * through its block in any direction. */

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

TEST(structures_values,
     WID_arrays_of_any_rank_width_and_direction_have_the_elements_that_their_descriptors_say)
{
    journey j = { NULL, NULL, 0, fortran_walk, NULL, 0 };
    site_start(23);
    fortran_open(units);
    j.root = fortran_make(&j.seen);
    j.type = state_type;
    travel(&j);
    fortran_close();
    site_end();
}

TEST(structures_values,
     WID_elements_that_are_too_wide_are_refused_and_an_audit_tells_those_too_narrow)
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
    audit_tells(m, state_type, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.arrays[1].base_addr[0]",
                "only the first 512 bytes of its block of 2048 are described");
    fortran_close();
    site_end();
}

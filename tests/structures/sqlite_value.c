/* A value of SQLite's virtual machine. Its text or blob is there if a flag says so, and is then its
 * own buffer's, a constant, or a part of another value's; its buffer is there if it has a size.
 * What the flags do not speak of is left from before.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"

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
    m->z = (char *)the.w.memory + the.w.bytes + 16;
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

TEST(structures_sqlite,
     values_have_texts_and_buffers_where_their_flags_say_so_and_null_where_they_do_not)
{
    const haul_field text =
        HAUL_BYTES(Mem, z, HAUL_COUNT_FN(text_bytes),
                   .when = HAUL_ANY_BIT(Mem, flags, MEM_Str | MEM_Blob), .maybe_static = 1);
    journey j = { .walk = values_walk };
    site_start(24);
    values_open(&text);
    j.root = values_make(&j.seen);
    j.type = value_store_type;
    travel(&j);
    values_close();
    site_end();
}

TEST(structures_sqlite, a_text_that_is_followed_whatever_the_flags_say_is_refused_where_it_is_stale)
{
    const haul_field text = HAUL_BYTES(Mem, z, HAUL_COUNT_FN(text_bytes), .maybe_static = 1);
    uint64_t seen = 0;
    value_store *s;
    site_start(24);
    s = values_make(&seen);
    s->aMem[1].flags = MEM_Null;
    s->aMem[1].z = (char *)the.w.memory + the.w.bytes;
    values_open(&text);
    refuse_graph(s, value_store_type, HAUL_ERROR_GRAPH, "root.aMem[1].z", "",
                 "the range it leads to is not readable");
    values_close();
    site_end();
}

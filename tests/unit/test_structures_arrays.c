/* Arrays and tables of languages and of libraries that are headers: Fortran's CFI_cdesc_t (EXPR,
 * FAM, ROWS, POLY, WID, COND), vector and deque of libstdc++ (EXPR, END, CAP, ROWS), klib's khash
 * and kvec (CNT, EXPR, CAP, BITS, CTX, COND).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- CFI_cdesc_t. A descriptor ends in as many dimensions as its rank says. A section leads into
 * its parent's block, at the element that comes first, which is not the lowest where a stride is
 * negative. What elements are follows from the type's code and width. */

enum {
    CFI_INT = 1,
    CFI_DOUBLE = 28,
    CFI_STRUCT = 42,
    ALLOCATABLE = 1,
    POINTER = 0,
    N = 24,
    M = 10
};

typedef struct CFI_dim_t {
    ptrdiff_t lower_bound, extent, sm;
} CFI_dim_t;

typedef struct CFI_cdesc_t {
    void *base_addr;
    size_t elem_len;
    int version;
    int8_t rank, attribute;
    int16_t type;
    CFI_dim_t dim[1];
} CFI_cdesc_t;

typedef struct cell {
    char *name;
    int64_t value;
} cell;

typedef struct module {
    CFI_cdesc_t *whole, *reversed, *every_third, *cells, *some_cells, *narrow, *scalar,
        *unallocated, *empty;
} module;

static haul_type *desc_type, *cell_type, *module_type;

static int64_t cfi_is_empty(const CFI_cdesc_t *d)
{
    int k;
    for (k = 0; k < d->rank; k++)
        if (d->dim[k].extent == 0)
            return 1;
    return 0;
}

/* From the first element to the lowest one. */
static int64_t cfi_low(const haul_here *here)
{
    const CFI_cdesc_t *d = here->self;
    int64_t low = 0;
    int k;
    for (k = 0; k < d->rank; k++)
        if (d->dim[k].sm < 0 && !cfi_is_empty(d))
            low += (d->dim[k].extent - 1) * d->dim[k].sm;
    return low;
}

static int64_t cfi_span(const CFI_cdesc_t *d)
{
    int64_t span = (int64_t)d->elem_len;
    int k;
    for (k = 0; k < d->rank; k++)
        span += (d->dim[k].extent - 1) * (d->dim[k].sm < 0 ? -d->dim[k].sm : d->dim[k].sm);
    return cfi_is_empty(d) ? 0 : span;
}

HAUL_FUNCTION(cfi_bytes, CFI_cdesc_t, cfi_span(self))
HAUL_FUNCTION(cfi_elements, CFI_cdesc_t, cfi_span(self) / (int64_t)self->elem_len)

static void cfi_open(haul_function *low)
{
    static const haul_field cell_fields[] = { HAUL_STRING(cell, name) };
    static const haul_field module_fields[] = {
        HAUL_OBJECT(module, whole, &desc_type),       HAUL_OBJECT(module, reversed, &desc_type),
        HAUL_OBJECT(module, every_third, &desc_type), HAUL_OBJECT(module, cells, &desc_type),
        HAUL_OBJECT(module, some_cells, &desc_type),  HAUL_OBJECT(module, narrow, &desc_type),
        HAUL_OBJECT(module, scalar, &desc_type),      HAUL_OBJECT(module, unallocated, &desc_type),
        HAUL_OBJECT(module, empty, &desc_type),
    };
    const haul_field desc_fields[] = {
        HAUL_BYTES(CFI_cdesc_t, base_addr, HAUL_COUNT_FN(cfi_bytes),
                   .when = HAUL_DIFFERS(CFI_cdesc_t, type, CFI_STRUCT), .base_fn = low),
        HAUL_ADDRESS(CFI_cdesc_t, base_addr, .target = &cell_type,
                     .count = HAUL_COUNT_FN(cfi_elements),
                     .when = HAUL_EQUALS(CFI_cdesc_t, type, CFI_STRUCT), .base_fn = low),
        HAUL_TAIL(CFI_cdesc_t, dim, HAUL_COUNT(CFI_cdesc_t, rank))
    };
    cell_type = YARD_TYPE(cell, cell_fields);
    desc_type = YARD_TYPE(CFI_cdesc_t, desc_fields);
    module_type = YARD_TYPE(module, module_fields);
    yard_commit(module_type);
}

static CFI_cdesc_t *desc_make(int rank, int type, size_t elem_len, int attribute)
{
    CFI_cdesc_t *d = yard_take(1, offsetof(CFI_cdesc_t, dim) + (size_t)rank * sizeof(CFI_dim_t));
    d->rank = (int8_t)rank;
    d->type = (int16_t)type;
    d->elem_len = elem_len;
    d->attribute = (int8_t)attribute;
    return d;
}

static void dim_set(CFI_dim_t *d, ptrdiff_t extent, ptrdiff_t sm)
{
    d->lower_bound = 1;
    d->extent = extent;
    d->sm = sm;
}

static module *module_make(void)
{
    module *m = yard_take(1, sizeof *m);
    const ptrdiff_t of_double = sizeof(double), of_cell = sizeof(cell);
    double *a;
    cell *c;
    int i;
    m->whole = desc_make(2, CFI_DOUBLE, sizeof(double), ALLOCATABLE);
    a = m->whole->base_addr = yard_take(N * M, sizeof *a);
    for (i = 0; i < N * M; i++)
        a[i] = i;
    dim_set(&m->whole->dim[0], N, of_double);
    dim_set(&m->whole->dim[1], M, N * of_double);
    m->reversed = desc_make(2, CFI_DOUBLE, sizeof(double), POINTER); /* whole(n:1:-1, m:1:-2) */
    m->reversed->base_addr = &a[N * M - 1];
    dim_set(&m->reversed->dim[0], N, -of_double);
    dim_set(&m->reversed->dim[1], M / 2, -2 * N * of_double);
    m->every_third = desc_make(1, CFI_DOUBLE, sizeof(double), POINTER); /* whole(2::3, 4) */
    m->every_third->base_addr = &a[3 * N + 1];
    dim_set(&m->every_third->dim[0], N / 3, 3 * of_double);
    m->cells = desc_make(1, CFI_STRUCT, sizeof(cell), ALLOCATABLE);
    c = m->cells->base_addr = yard_take(N, sizeof *c);
    for (i = 0; i < N; i++) {
        c[i].name = yard_text("a cell");
        c[i].value = i;
    }
    dim_set(&m->cells->dim[0], N, of_cell);
    m->some_cells = desc_make(1, CFI_STRUCT, sizeof(cell), POINTER);
    m->some_cells->base_addr = &c[N - 1];
    dim_set(&m->some_cells->dim[0], N / 2, -2 * of_cell);
    m->narrow = desc_make(1, CFI_INT, 2, ALLOCATABLE);
    m->narrow->base_addr = yard_take(N, 2);
    dim_set(&m->narrow->dim[0], N, 2);
    m->scalar = desc_make(0, CFI_DOUBLE, sizeof(double), POINTER);
    m->scalar->base_addr = &a[5];
    m->unallocated = desc_make(1, CFI_DOUBLE, sizeof(double), ALLOCATABLE);
    m->empty = desc_make(1, CFI_DOUBLE, sizeof(double), POINTER);
    m->empty->base_addr = a;
    dim_set(&m->empty->dim[0], 0, of_double);
    for (i = 0; i < N * M; i++)
        yard.told += (i / N) % 2 ? 2 * i : i; /* reversed begins with the last, an odd row */
    for (i = 0; i < N / 3; i++)
        yard.told += 3 * N + 1 + 3 * i;
    for (i = 0; i < N; i++)
        yard.told += (i % 2 ? 2 * i + 12 : i + 6);
    yard.told += 5;
    return m;
}

static void *cfi_at(const CFI_cdesc_t *d, ptrdiff_t i, ptrdiff_t k)
{
    return (char *)d->base_addr + i * d->dim[0].sm + (d->rank > 1 ? k * d->dim[1].sm : 0);
}

static int64_t cfi_sum(const CFI_cdesc_t *d)
{
    int64_t sum = 0;
    ptrdiff_t i, k;
    for (i = 0; i < d->dim[0].extent; i++)
        for (k = 0; k < (d->rank > 1 ? d->dim[1].extent : 1); k++)
            sum += d->type == CFI_DOUBLE ? (int64_t) * (double *)cfi_at(d, i, k)
                                         : ((cell *)cfi_at(d, i, k))->value +
                                               (int64_t)strlen(((cell *)cfi_at(d, i, k))->name);
    return sum;
}

static int64_t module_walk(void *root, size_t count)
{
    module *m = root;
    int64_t sum = cfi_sum(m->whole) + cfi_sum(m->reversed) + cfi_sum(m->every_third) +
                  cfi_sum(m->cells) + cfi_sum(m->some_cells) + cfi_sum(m->empty) +
                  (int64_t) * (double *)m->scalar->base_addr;
    ptrdiff_t i;
    (void)count;
    for (i = 0; i < m->every_third->dim[0].extent; i++)
        *(double *)cfi_at(m->every_third, i, 0) = 0;
    for (i = 0; i < N; i++)
        memcpy(cfi_at(m->narrow, i, 0), &m->narrow->rank, 1);
    return m->unallocated->base_addr ? -1 : sum;
}

TEST(structures, CFI_descriptors_of_any_rank_whose_sections_lead_into_the_blocks_of_others)
{
    yard_open(1 << 20, 130);
    cfi_open(cfi_low);
    yard_prove(module_make(), module_type, 1, module_walk);
    YARD_END(&module_type, &desc_type, &cell_type);
}

static int64_t no_base(const haul_here *here)
{
    (void)here;
    return 0;
}

TEST(structures, CFI_a_negative_stride_that_is_taken_to_lead_upwards_is_refused)
{
    yard_open(1 << 20, 131);
    cfi_open(no_base);
    yard_refuse(module_make()->reversed, desc_type, 1, HAUL_ERROR_GRAPH, "root.base_addr",
                "a word is a pointer for one description and data for another");
    YARD_END(&module_type, &desc_type, &cell_type);
}

/* ---- vector and deque of libstdc++. A deque's map leads to blocks of 512 bytes; only those
 * between the two iterators' are there, and what lies in them outside of [cur, cur) is of no
 * meaning. */

enum {
    MAP = 16,
    PER_CHUNK = 512 / sizeof(double),
    FRONT = 3 * PER_CHUNK + 7,
    BACK = 9 * PER_CHUNK + 11
};

typedef struct deque_iterator {
    double *cur, *first, *last, **node;
} deque_iterator;

typedef struct deque {
    double **map;
    size_t map_size;
    deque_iterator start, finish;
} deque;

typedef struct vector {
    double *begin, *end, *end_of_storage;
} vector;

typedef struct signal {
    vector samples;
    deque queue, drained;
} signal;

static haul_type *vector_type, *deque_type, *iterator_type, *signal_type;

static int64_t chunk_is_there(const haul_here *here)
{
    const deque *d = here->self;
    return d->map + here->index >= d->start.node && d->map + here->index <= d->finish.node;
}

static void signal_open(void)
{
    static const haul_field is_there = { .when = HAUL_WHEN_FN(chunk_is_there) };
    static const haul_field vector_fields[] = {
        HAUL_ARRAY(vector, begin, HAUL_UNTIL(vector, end_of_storage)),
        HAUL_ADDRESS(vector, end, .ownership = HAUL_BORROWED)
    };
    static const haul_field iterator_fields[] = {
        HAUL_ADDRESS(deque_iterator, cur, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(deque_iterator, first, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(deque_iterator, last, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(deque_iterator, node, .ownership = HAUL_BORROWED)
    };
    static const haul_field deque_fields[] = { HAUL_ARRAYS(deque, map, HAUL_COUNT(deque, map_size),
                                                           HAUL_FIXED(PER_CHUNK),
                                                           .each_pointer = &is_there),
                                               HAUL_EMBED(deque, start, &iterator_type),
                                               HAUL_EMBED(deque, finish, &iterator_type) };
    static const haul_field signal_fields[] = { HAUL_EMBED(signal, samples, &vector_type),
                                                HAUL_EMBED(signal, queue, &deque_type),
                                                HAUL_EMBED(signal, drained, &deque_type) };
    vector_type = YARD_TYPE(vector, vector_fields);
    iterator_type = YARD_TYPE(deque_iterator, iterator_fields);
    deque_type = YARD_TYPE(deque, deque_fields);
    signal_type = YARD_TYPE(signal, signal_fields);
    yard_commit(signal_type);
}

static void iterator_set(deque_iterator *i, deque *d, size_t at)
{
    i->node = &d->map[at / PER_CHUNK];
    i->first = *i->node;
    i->last = i->first + PER_CHUNK;
    i->cur = i->first + at % PER_CHUNK;
}

static void deque_make(deque *d, size_t front, size_t back)
{
    size_t i;
    d->map_size = MAP;
    d->map = yard_raw(MAP * sizeof *d->map);
    for (i = front / PER_CHUNK; i <= back / PER_CHUNK; i++)
        d->map[i] = yard_raw(512);
    iterator_set(&d->start, d, front);
    iterator_set(&d->finish, d, back);
    for (i = front; i < back; i++) {
        d->map[i / PER_CHUNK][i % PER_CHUNK] = (double)i;
        yard.told += (int64_t)i;
    }
}

static signal *signal_make(void)
{
    signal *s = yard_take(1, sizeof *s);
    s->samples.begin = yard_take(100, sizeof(double));
    s->samples.end = s->samples.begin + 70;
    s->samples.end_of_storage = s->samples.begin + 100;
    deque_make(&s->queue, FRONT, BACK);
    deque_make(&s->drained, 5 * PER_CHUNK, 5 * PER_CHUNK); /* the two are one */
    return s;
}

static void iterator_next(deque_iterator *i)
{
    if (++i->cur < i->last)
        return;
    i->first = i->cur = *++i->node;
    i->last = i->first + PER_CHUNK;
}

/* Takes all but the last of the first chunk, and keeps some of it: not so much that `end` is where
 * another range may begin on the device (docs/shipments.md). */
static int64_t signal_walk(void *root, size_t count)
{
    signal *s = root;
    deque_iterator i = s->queue.start;
    int64_t sum = 0;
    (void)count;
    for (; i.cur != s->queue.finish.cur; iterator_next(&i))
        sum += (int64_t)*i.cur;
    for (; s->queue.start.cur + 1 < s->queue.start.last; s->queue.start.cur++) {
        if (s->samples.end + 1 < s->samples.end_of_storage)
            *s->samples.end++ = *s->queue.start.cur;
        *s->queue.start.cur = -1;
    }
    return s->drained.start.cur == s->drained.finish.cur ? sum : -1;
}

TEST(structures, std_vector_and_std_deque_with_the_chunks_that_lie_between_their_ends)
{
    yard_open(1 << 20, 132);
    yard.returns_pointers = 1;
    signal_open();
    yard_prove(signal_make(), signal_type, 1, signal_walk);
    YARD_END(&signal_type, &deque_type, &iterator_type, &vector_type);
}

/* ---- khash and kvec. Two bits a bucket say that it is empty or deleted; what stands there is left
 * from before, also the vectors that are its values. */

enum { BUCKETS = 128, WORDS = 90 };

typedef struct kvec {
    size_t n, m;
    void *a;
} kvec;

typedef struct kh_index {
    uint32_t n_buckets, size, n_occupied, upper_bound;
    uint32_t *flags;
    char **keys;
    kvec *vals; /* of int */
} kh_index;

typedef struct book {
    kvec words; /* of strings */
    kh_index *places;
} book;

static haul_type *kvec_element, *kvec_type, *words_type, *value_type, *index_type, *book_type,
    *int_type, *word_type;

static int bucket_is_used(const kh_index *h, size_t i)
{
    return (h->flags[i >> 4] >> ((i & 15) << 1) & 3) == 0;
}

/* A value is a vector in its bucket. */
static int64_t value_is_used(const haul_here *here)
{
    const kh_index *h = here->ancestor;
    return bucket_is_used(h, (size_t)((const kvec *)here->self - h->vals));
}

HAUL_FUNCTION(key_is_used, kh_index, (bucket_is_used(self, here->index)) != 0)
HAUL_FUNCTION(flag_words, kh_index, self->n_buckets < 16 ? 1 : self->n_buckets >> 4)
HAUL_FUNCTION(value_room, kvec, self->m)

static void book_open(void)
{
    static const haul_field used = { .when = HAUL_WHEN_FN(key_is_used) };
    static const haul_field kvec_fields[] = { HAUL_ADDRESS(kvec, a, .target = &kvec_element,
                                                           .count = HAUL_COUNT(kvec, m)) };
    static const haul_field value_fields[] = { HAUL_ADDRESS(
        kvec, a, .target = &int_type, .count = HAUL_COUNT_FN(value_room),
        .when = HAUL_WHEN_FN(value_is_used), .ancestor = HAUL_PARENT) };
    static const haul_field index_fields[] = {
        HAUL_ARRAY(kh_index, flags, HAUL_COUNT_FN(flag_words)),
        HAUL_ARRAYS(kh_index, keys, HAUL_COUNT(kh_index, n_buckets), HAUL_TERMINATED,
                    .each_pointer = &used),
        HAUL_OBJECTS(kh_index, vals, &value_type, HAUL_COUNT(kh_index, n_buckets)),
    };
    static const haul_field book_fields[] = { HAUL_EMBED(book, words, &words_type),
                                              HAUL_OBJECT(book, places, &index_type) };
    CHECK_STATUS(haul_type_parameter(type_context(), "T", &kvec_element), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "int", sizeof(int), &int_type), HAUL_OK);
    CHECK_STATUS(
        haul_type_pointer(type_context(), "word", NULL, 1, (haul_count)HAUL_TERMINATED, &word_type),
        HAUL_OK);
    kvec_type = YARD_TYPE(kvec, kvec_fields);
    CHECK_STATUS(haul_type_instance(kvec_type, 1, &kvec_element, &word_type, &words_type), HAUL_OK);
    value_type = yard_type("value", sizeof(kvec), value_fields, 1);
    index_type = YARD_TYPE(kh_index, index_fields);
    book_type = YARD_TYPE(book, book_fields);
    yard_commit(book_type);
}

static book *book_make(void)
{
    book *b = yard_take(1, sizeof *b);
    kh_index *h = b->places = yard_take(1, sizeof *h);
    char **words = b->words.a = yard_take(WORDS, sizeof *words);
    int i;
    h->n_buckets = BUCKETS;
    h->flags = yard_take(BUCKETS / 16, sizeof *h->flags);
    memset(h->flags, 0xAA, BUCKETS / 16 * sizeof *h->flags);
    h->keys = yard_raw(BUCKETS * sizeof *h->keys);
    h->vals = yard_raw(BUCKETS * sizeof *h->vals);
    b->words.n = b->words.m = WORDS;
    for (i = 0; i < WORDS; i++) {
        size_t at = (size_t)i * 37 % BUCKETS;
        char word[20];
        kvec *v = &h->vals[at];
        snprintf(word, sizeof word, "word %d", i);
        words[i] = h->keys[at] = yard_text(word); /* shared */
        v->n = (size_t)yard_int(1, 3);
        v->m = 4;
        v->a = yard_take(4, sizeof(int));
        ((int *)v->a)[v->n - 1] = i;
        h->flags[at >> 4] &= i % 9 ? ~(3u << ((at & 15) << 1)) : ~(2u << ((at & 15) << 1));
        if (i % 9 == 0) /* deleted */
            h->flags[at >> 4] |= 1u << ((at & 15) << 1), memset(v, 0x11, sizeof *v);
        else
            yard.told += i + (int64_t)strlen(word);
        h->size += i % 9 != 0;
    }
    return b;
}

static int64_t book_walk(void *root, size_t count)
{
    book *b = root;
    kh_index *h = b->places;
    char **words = b->words.a;
    int64_t sum = 0;
    size_t i;
    (void)count;
    for (i = 0; i < h->n_buckets; i++)
        if (bucket_is_used(h, i)) {
            kvec *v = &h->vals[i];
            int last = ((int *)v->a)[v->n - 1];
            sum += words[last] == h->keys[i] ? last + (int64_t)strlen(h->keys[i]) : -1000000;
            ((int *)v->a)[v->n++] = 5;
        }
    return sum;
}

TEST(structures, klib_vectors_that_are_the_values_of_a_hash_table_in_the_buckets_that_are_used)
{
    yard_open(1 << 20, 133);
    book_open();
    yard_prove(book_make(), book_type, 1, book_walk);
    YARD_END(&book_type, &index_type, &value_type, &words_type, &kvec_type, &int_type, &word_type,
             &kvec_element);
}

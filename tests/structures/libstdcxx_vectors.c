/* vector and deque of libstdc++. A deque's map leads to blocks of 512 bytes; only those
 * between the two iterators' are there, and what lies in them outside of [cur, cur) is of no
 * meaning.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

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
    vector_type = OPEN(vector, vector_fields);
    iterator_type = OPEN(deque_iterator, iterator_fields);
    deque_type = OPEN(deque, deque_fields);
    signal_type = OPEN(signal, signal_fields);
    type_close(signal_type);
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
    d->map = put_room(MAP * sizeof *d->map);
    for (i = front / PER_CHUNK; i <= back / PER_CHUNK; i++)
        d->map[i] = put_room(512);
    iterator_set(&d->start, d, front);
    iterator_set(&d->finish, d, back);
    for (i = front; i < back; i++) {
        d->map[i / PER_CHUNK][i % PER_CHUNK] = (double)i;
        the.told += (int64_t)i;
    }
}

static signal *signal_make(void)
{
    signal *s = put_elements(1, sizeof *s);
    s->samples.begin = put_elements(100, sizeof(double));
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

TEST(structures_libstdcxx, std_vector_and_std_deque_with_the_chunks_that_lie_between_their_ends)
{
    site_start(132);
    the.returns_pointers = 1;
    signal_open();
    travel_and_sum(signal_make(), signal_type, 1, signal_walk);
    SITE_END(&signal_type, &deque_type, &iterator_type, &vector_type);
}

/* Did both packers make the same graph? A walk over both arenas at once, in step.
 *
 * Two arenas hold isomorphic graphs when there is a bijection between their objects that keeps
 * contents and pointers. The walk builds it: an object of the one is paired with an object of the
 * other the first time that a pointer leads to either, and must be paired with the same one each
 * later time. Two maps, one for each direction, hold the pairs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct walk {
    const char *a, *b;
    size_t b_bytes;
    hash_map a_to_b, b_to_a;
    size_t *queue; /* offsets in a */
    size_t count;
    const char *trouble; /* NULL while all is well */
} walk;

static size_t read_pointer(const char *from)
{
    uintptr_t word;
    memcpy(&word, from, sizeof(word));
    return (size_t)word;
}

static void complain(walk *at, const char *trouble)
{
    if (!at->trouble)
        at->trouble = trouble;
}

/* Pairs two objects of `bytes` bytes; 1 when they meet for the first time and can be looked
 * into. */
static int pair(walk *at, size_t a, size_t b, size_t bytes)
{
    int a_is_new, b_is_new;
    if (a == 0 || b == 0) {
        if (a != b)
            complain(at, "a null pointer is null on one side only");
        return 0;
    }
    if (hash_map_meet(&at->a_to_b, a, b, &a_is_new) != b ||
        hash_map_meet(&at->b_to_a, b, a, &b_is_new) != a)
        complain(at, "one object became two, or two became one");
    if (a_is_new && (b > at->b_bytes || bytes > at->b_bytes - b))
        complain(at, "an object lies outside the arena");
    return a_is_new && !at->trouble;
}

static void compare(walk *at, size_t a, size_t b, size_t bytes)
{
    if (memcmp(at->a + a, at->b + b, bytes) != 0)
        complain(at, "contents differ");
}

static void walk_nodes(walk *at, const workload *it, size_t b_root)
{
    size_t next, skip = it->pointers * sizeof(void *);
    unsigned k;
    if (pair(at, 16, b_root, it->node_bytes))
        at->queue[at->count++] = 16;
    for (next = 0; next < at->count && !at->trouble; next++) {
        size_t a = at->queue[next], b;
        int is_new;
        b = (size_t)hash_map_meet(&at->a_to_b, a, 0, &is_new);
        compare(at, a + skip, b + skip, it->node_bytes - skip);
        for (k = 0; k < it->pointers; k++) {
            size_t target = read_pointer(at->a + a + k * sizeof(void *));
            if (pair(at, target, read_pointer(at->b + b + k * sizeof(void *)), it->node_bytes))
                at->queue[at->count++] = target;
        }
    }
}

static void walk_table(walk *at, const workload *it, size_t b_root)
{
    const size_t item = offsetof(table, item);
    size_t a_items = read_pointer(at->a + 16 + item), b_items, i,
           count = ((const table *)it->root)->count;
    if (!pair(at, 16, b_root, sizeof(table)))
        return;
    compare(at, 16, b_root, item);
    b_items = read_pointer(at->b + b_root + item);
    if (!pair(at, a_items, b_items, count * sizeof(char *)))
        return;
    for (i = 0; i < count && !at->trouble; i++) {
        size_t a = read_pointer(at->a + a_items + i * sizeof(char *));
        size_t b = read_pointer(at->b + b_items + i * sizeof(char *));
        size_t bytes = it->node_bytes ? it->node_bytes : strlen(at->a + a) + 1;
        if (pair(at, a, b, bytes))
            compare(at, a, b, bytes);
    }
}

static void walk_array(walk *at, size_t a_slot, size_t b_slot, size_t bytes)
{
    size_t a = read_pointer(at->a + a_slot), b = read_pointer(at->b + b_slot);
    if (pair(at, a, b, bytes))
        compare(at, a, b, bytes);
}

static void walk_records(walk *at, const workload *it, size_t b_root)
{
    const record *records = it->root;
    const size_t skip = offsetof(record, value_count);
    size_t i;
    if (!pair(at, 16, b_root, it->root_count * sizeof(record)))
        return;
    for (i = 0; i < it->root_count && !at->trouble; i++) {
        size_t a = 16 + i * sizeof(record), b = b_root + i * sizeof(record);
        compare(at, a + skip, b + skip, sizeof(record) - skip);
        walk_array(at, a + offsetof(record, value), b + offsetof(record, value),
                   (size_t)records[i].value_count * sizeof(double));
        walk_array(at, a + offsetof(record, index), b + offsetof(record, index),
                   (size_t)records[i].index_count * sizeof(int32_t));
    }
}

int check_isomorphic(const workload *it, const char *hash, const char *haul, size_t haul_bytes,
                     size_t root)
{
    walk at;
    memset(&at, 0, sizeof(at));
    at.a = hash;
    at.b = haul;
    at.b_bytes = haul_bytes;
    hash_map_open(&at.a_to_b, it->objects, 1);
    hash_map_open(&at.b_to_a, it->objects, 1);
    at.a_to_b.stamp = at.b_to_a.stamp = 1;
    at.queue = bench_allocate(it->objects * sizeof(size_t));
    if (it->shape == SHAPE_NODES)
        walk_nodes(&at, it, root);
    else if (it->shape == SHAPE_TABLE)
        walk_table(&at, it, root);
    else
        walk_records(&at, it, root);
    free(at.queue);
    hash_map_close(&at.a_to_b);
    hash_map_close(&at.b_to_a);
    if (at.trouble)
        fprintf(stderr, "haul_bench: %s: %s\n", it->name, at.trouble);
    return !at.trouble;
}

/* The comparator: packers written by hand, each for exactly one type, around a pointer map.
 *
 * One pass. A breadth-first queue holds source addresses; the n-th address of the queue becomes the
 * n-th object of the arena. Each pointer of an object is looked up in the map: a new one gets the
 * next place by bumping, and its offset is written at once. Nothing is general here: sizes and
 * pointer counts are compile-time constants (one inlined template, an instance for each type), the
 * map is presized and never cleared, memory is warm.
 *
 * The prefetched variant hides the two cache misses of every object, as in the literature on hash
 * joins: the object some 16 places ahead in the queue, and the map entries of the pointers of the
 * object 8 places ahead.
 */
#include <string.h>

#include "base/compiler.h"
#include "bench.h"

enum { FIRST_OFFSET = 16, FAR_AHEAD = 16, NEAR_AHEAD = 8, OFFSET_BITS = 40 };

/* -------------------------------------------------------------------------------------------------
 * The map
 */
void hash_map_open(hash_map *map, size_t objects, int touched)
{
    size_t capacity = 16;
    map->shift = 60;
    while (capacity < 2 * objects) {
        capacity *= 2;
        map->shift--;
    }
    map->mask = capacity - 1;
    map->bytes = capacity * sizeof(hash_entry);
    map->stamp = 0;
    map->entries = touched ? bench_map(map->bytes) : bench_map_untouched(map->bytes);
}

void hash_map_close(hash_map *map)
{
    bench_unmap(map->entries, map->bytes);
}

HAUL__INLINE size_t first_slot(const hash_map *map, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> map->shift);
}

HAUL__INLINE uint64_t meet(hash_map *map, uint64_t key, uint64_t fresh, int *is_new)
{
    size_t slot = first_slot(map, key);
    for (;;) {
        hash_entry *entry = &map->entries[slot];
        if (entry->value >> OFFSET_BITS != map->stamp) {
            entry->key = key;
            entry->value = map->stamp << OFFSET_BITS | fresh;
            *is_new = 1;
            return fresh;
        }
        if (entry->key == key) {
            *is_new = 0;
            return entry->value & ((UINT64_C(1) << OFFSET_BITS) - 1);
        }
        slot = (slot + 1) & map->mask;
    }
}

uint64_t hash_map_meet(hash_map *map, uint64_t key, uint64_t fresh, int *is_new)
{
    return meet(map, key, fresh, is_new);
}

HAUL__INLINE uint64_t key_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

HAUL__INLINE void write_pointer(char *to, uint64_t offset)
{
    uintptr_t word = (uintptr_t)offset;
    memcpy(to, &word, sizeof(word));
}

/* -------------------------------------------------------------------------------------------------
 * Nodes of one size that begin with their pointers
 */
HAUL__INLINE void prefetch_nodes(const hash_map *map, const void **queue, size_t at, size_t count,
                                 size_t bytes, unsigned pointers)
{
    unsigned k;
    if (at + FAR_AHEAD < count) {
        const char *far = queue[at + FAR_AHEAD];
        haul__prefetch(far);
        haul__prefetch(far + bytes - 1);
    }
    if (at + NEAR_AHEAD < count) {
        const void *const *near = queue[at + NEAR_AHEAD];
        for (k = 0; k < pointers; k++)
            haul__prefetch_write(&map->entries[first_slot(map, key_of(near[k]))]);
    }
}

HAUL__INLINE size_t pack_nodes(const workload *it, hash_map *map, const void **queue, char *arena,
                               size_t bytes, unsigned pointers, prefetching how)
{
    size_t at, count = 1;
    unsigned k;
    int is_new;
    queue[0] = it->root;
    meet(map, key_of(it->root), FIRST_OFFSET, &is_new);
    for (at = 0; at < count; at++) {
        const void *const *node = queue[at];
        char *to = arena + FIRST_OFFSET + at * bytes;
        if (how == PREFETCHED)
            prefetch_nodes(map, queue, at, count, bytes, pointers);
        memcpy(to, node, bytes);
        for (k = 0; k < pointers; k++) {
            if (!node[k])
                continue;
            write_pointer(to + k * sizeof(void *),
                          meet(map, key_of(node[k]), FIRST_OFFSET + count * bytes, &is_new));
            if (is_new)
                queue[count++] = node[k];
        }
    }
    return count * bytes;
}

/* -------------------------------------------------------------------------------------------------
 * A root with an array of pointers to items of one size, or to strings
 */
HAUL__INLINE void prefetch_items(const hash_map *map, char *const *item, size_t at, size_t count)
{
    if (at + FAR_AHEAD < count)
        haul__prefetch(item[at + FAR_AHEAD]);
    if (at + NEAR_AHEAD < count)
        haul__prefetch_write(&map->entries[first_slot(map, key_of(item[at + NEAR_AHEAD]))]);
}

HAUL__INLINE size_t pack_table(const workload *it, hash_map *map, char *arena, size_t item_bytes,
                               prefetching how)
{
    const table *root = it->root;
    size_t pointers = FIRST_OFFSET + sizeof(table), end = pointers + root->count * sizeof(char *),
           at;
    int is_new;
    memcpy(arena + FIRST_OFFSET, root, sizeof(table));
    write_pointer(arena + FIRST_OFFSET + offsetof(table, item), pointers);
    if (item_bytes)
        end = (end + 15) & ~(size_t)15;
    for (at = 0; at < root->count; at++) {
        if (how == PREFETCHED)
            prefetch_items(map, root->item, at, root->count);
        write_pointer(arena + pointers + at * sizeof(char *),
                      meet(map, key_of(root->item[at]), end, &is_new));
        if (is_new) {
            size_t bytes = item_bytes ? item_bytes : strlen(root->item[at]) + 1;
            memcpy(arena + end, root->item[at], bytes);
            end += bytes;
        }
    }
    return end - FIRST_OFFSET;
}

/* -------------------------------------------------------------------------------------------------
 * An array of records, each with two counted arrays
 */
HAUL__INLINE void prefetch_records(const hash_map *map, const record *records, size_t at,
                                   size_t count)
{
    if (at + FAR_AHEAD < count) {
        haul__prefetch(records[at + FAR_AHEAD].value);
        haul__prefetch(records[at + FAR_AHEAD].index);
    }
    if (at + NEAR_AHEAD < count) {
        haul__prefetch_write(
            &map->entries[first_slot(map, key_of(records[at + NEAR_AHEAD].value))]);
        haul__prefetch_write(
            &map->entries[first_slot(map, key_of(records[at + NEAR_AHEAD].index))]);
    }
}

/* One array; answers where the next one may begin. */
HAUL__INLINE size_t pack_array(hash_map *map, char *arena, char *slot, const void *array,
                               size_t bytes, size_t end)
{
    int is_new;
    write_pointer(slot, meet(map, key_of(array), end, &is_new));
    if (!is_new)
        return end;
    memcpy(arena + end, array, bytes);
    return (end + bytes + 7) & ~(size_t)7;
}

HAUL__INLINE size_t pack_records(const workload *it, hash_map *map, char *arena, prefetching how)
{
    const record *records = it->root;
    size_t end = FIRST_OFFSET + it->root_count * sizeof(record), at;
    for (at = 0; at < it->root_count; at++) {
        const record *from = &records[at];
        char *to = arena + FIRST_OFFSET + at * sizeof(record);
        if (how == PREFETCHED)
            prefetch_records(map, records, at, it->root_count);
        memcpy(to, from, sizeof(record));
        end = pack_array(map, arena, to + offsetof(record, value), from->value,
                         (size_t)from->value_count * sizeof(double), end);
        end = pack_array(map, arena, to + offsetof(record, index), from->index,
                         (size_t)from->index_count * sizeof(int32_t), end);
    }
    return end - FIRST_OFFSET;
}

/* -------------------------------------------------------------------------------------------------
 * The instances
 */
#define NODES(type, pointers)                                                                      \
    (how == PREFETCHED ? pack_nodes(it, map, queue, arena, sizeof(type), pointers, PREFETCHED)     \
                       : pack_nodes(it, map, queue, arena, sizeof(type), pointers, PLAIN))
#define TABLE(bytes)                                                                               \
    (how == PREFETCHED ? pack_table(it, map, arena, bytes, PREFETCHED)                             \
                       : pack_table(it, map, arena, bytes, PLAIN))

static size_t pack_list(const workload *it, hash_map *map, const void **queue, char *arena,
                        prefetching how)
{
    return NODES(list_node, 1);
}

static size_t pack_tree(const workload *it, hash_map *map, const void **queue, char *arena,
                        prefetching how)
{
    return NODES(tree_node, 2);
}

static size_t pack_graph(const workload *it, hash_map *map, const void **queue, char *arena,
                         prefetching how)
{
    return NODES(graph_node, 4);
}

static size_t pack_sized(const workload *it, hash_map *map, const void **queue, char *arena,
                         prefetching how)
{
    return pack_nodes(it, map, queue, arena, it->node_bytes, it->pointers, how);
}

size_t hash_pack(const workload *it, hash_map *map, const void **queue, char *arena,
                 prefetching how)
{
    map->stamp++;
    if (it->shape == SHAPE_RECORDS)
        return how == PREFETCHED ? pack_records(it, map, arena, PREFETCHED)
                                 : pack_records(it, map, arena, PLAIN);
    if (it->shape == SHAPE_TABLE)
        return it->node_bytes ? TABLE(it->node_bytes) : TABLE(0);
    if (it->is_sized)
        return pack_sized(it, map, queue, arena, how);
    return it->pointers == 1   ? pack_list(it, map, queue, arena, how)
           : it->pointers == 2 ? pack_tree(it, map, queue, arena, how)
                               : pack_graph(it, map, queue, arena, how);
}

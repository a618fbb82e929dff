/* Memory kept between plans, last in, first out: what was used last may still be in the caches.
 *
 * A bundle stands in kept memory, and names a few other pieces, which are not touched. So a map is
 * dealt out to threads by a look at few of its pieces.
 */
#include "map/side.h"
#include "map/spare.h"

#define BUNDLE ((size_t)15)
typedef struct haul__bundle {
    struct haul__bundle *next;
    size_t count;
    void *piece[BUNDLE]; /* memory of a small size has no room for any */
} haul__bundle;

size_t haul__spare_bytes(unsigned size)
{
    const size_t head = offsetof(haul__block, cells),
                 bare = head + HAUL__CELLS * sizeof(haul__cell);
    const size_t bytes[HAUL__SIZES] = { head,
                                        bare,
                                        bare + HAUL__CELLS * sizeof(uint32_t),
                                        bare + HAUL__CELLS * sizeof(uint64_t),
                                        sizeof(haul__side),
                                        HAUL__PREFIX_BYTES };
    return bytes[size];
}

static int holds_bundle(unsigned size)
{
    return haul__spare_bytes(size) >= sizeof(haul__bundle);
}

static void push(haul__bundle **list, haul__bundle *bundle)
{
    bundle->next = *list;
    *list = bundle;
}

static haul__bundle *pop(haul__bundle **list)
{
    haul__bundle *bundle = *list;
    *list = bundle->next;
    return bundle;
}

void haul__spare_keep(haul__map *map, unsigned size, void *memory)
{
    haul__bundle *bundle = map->spare[size];
    if (bundle && bundle->count < BUNDLE && holds_bundle(size)) {
        bundle->piece[bundle->count++] = memory;
        return;
    }
    bundle = memory;
    bundle->count = 0;
    push(&map->spare[size], bundle);
}

void *haul__spare_pop(haul__map *map, unsigned size)
{
    haul__bundle *bundle = map->spare[size];
    if (bundle && bundle->count)
        return bundle->piece[--bundle->count];
    return bundle ? pop(&map->spare[size]) : NULL;
}

void *haul__spare_take(haul__map *map, unsigned size)
{
    void *kept = haul__spare_pop(map, size);
    return kept ? kept
                : haul__allocate(&map->allocator, haul__spare_bytes(size), HAUL__BLOCK_ALIGNMENT);
}

void haul__spare_release(haul__map *map)
{
    void *memory;
    unsigned size;
    for (size = 0; size < HAUL__SIZES; size++)
        while ((memory = haul__spare_pop(map, size)) != NULL)
            haul__release(&map->allocator, memory, haul__spare_bytes(size));
}

/* Few bundles are dealt out piece by piece, so that no part is left without. */
static void deal(haul__map *map, haul__map **parts, size_t count, unsigned size)
{
    size_t bundles = 0, i;
    const haul__bundle *bundle;
    void *memory;
    for (bundle = map->spare[size]; bundle && bundles < count; bundle = bundle->next)
        bundles++;
    if (bundles < count) {
        for (i = 0; (memory = haul__spare_pop(map, size)) != NULL; i++)
            haul__spare_keep(parts[i % count], size, memory);
        return;
    }
    for (i = 0; map->spare[size]; i++)
        push(&parts[i % count]->spare[size], pop(&map->spare[size]));
}

void haul__spare_deal(haul__map *map, haul__map **parts, size_t count)
{
    unsigned size;
    for (size = 0; size < HAUL__SIZES; size++)
        deal(map, parts, count, size);
}

void haul__spare_join(haul__map *map, haul__map *part)
{
    unsigned size;
    for (size = 0; size < HAUL__SIZES; size++)
        while (part->spare[size])
            push(&map->spare[size], pop(&part->spare[size]));
}

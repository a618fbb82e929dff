/* Memory kept between plans, last in, first out: what was used last may still be in the caches.
 *
 * A bundle stands in kept memory, and names a few other pieces, which are not touched. Some bundles
 * are a crate. A part of a map (stock.h) takes the map's crates one by one, under a lock. So a map
 * is divided among threads without a look at what it keeps, and each gets as much as it needs.
 */
#include "map/spare.h"
#include "base/pool.h"
#include "map/side.h"

#define BUNDLE ((size_t)13)
#define CRATE 4u
typedef struct haul__bundle {
    struct haul__bundle *next;   /* in its crate; NULL: it is the last one */
    struct haul__bundle *beyond; /* of a crate's first bundle: that of the next crate */
    unsigned left;               /* bundles of its crate from here on */
    unsigned count;
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
                                        HAUL__PREFIX_BYTES,
                                        HAUL__EXCLUDED_BYTES };
    return bytes[size];
}

static int holds_bundle(unsigned size)
{
    return haul__spare_bytes(size) >= sizeof(haul__bundle);
}

static void push(haul__bundle **list, haul__bundle *bundle)
{
    haul__bundle *first = *list;
    const int is_alone = !first || first->left == CRATE;
    bundle->next = is_alone ? NULL : first;
    bundle->beyond = is_alone ? first : first->beyond;
    bundle->left = is_alone ? 1 : first->left + 1;
    *list = bundle;
}

static haul__bundle *pop(haul__bundle **list)
{
    haul__bundle *bundle = *list;
    if (bundle->next)
        bundle->next->beyond = bundle->beyond;
    *list = bundle->next ? bundle->next : bundle->beyond;
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

/* A part, which has none left, takes a crate of its map's. 0: there is none. */
static int take_crate(haul__map *part, unsigned size)
{
    haul__map *map = part->spare_of;
    haul__bundle *crate;
    unsigned spins = 0;
    if (!map || part->spare_ended >> size & 1)
        return 0;
    while (haul__atomic_swap(&map->spare_locked, 1u))
        haul__pool_rest(&spins);
    crate = map->spare[size];
    if (crate)
        map->spare[size] = crate->beyond;
    haul__atomic_store(&map->spare_locked, 0u);
    if (crate)
        crate->beyond = NULL;
    else
        part->spare_ended |= 1u << size;
    part->spare[size] = crate;
    return crate != NULL;
}

void *haul__spare_pop(haul__map *map, unsigned size)
{
    haul__bundle *bundle;
    if (!map->spare[size] && !take_crate(map, size))
        return NULL;
    bundle = map->spare[size];
    return bundle->count ? bundle->piece[--bundle->count] : pop(&map->spare[size]);
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

/* Few crates are dealt out piece by piece, so that no part is left without. */
static void deal(haul__map *map, haul__map **parts, size_t count, unsigned size)
{
    const haul__bundle *crate = map->spare[size];
    size_t crates = 0, i;
    void *memory;
    for (; crate && crates < count; crate = crate->beyond)
        crates++;
    for (i = 0; crates < count && (memory = haul__spare_pop(map, size)) != NULL; i++)
        haul__spare_keep(parts[i % count], size, memory);
}

void haul__spare_deal(haul__map *map, haul__map **parts, size_t count)
{
    unsigned size;
    size_t i;
    for (i = 0; i < count; i++) {
        memset(parts[i]->spare, 0, sizeof parts[i]->spare);
        parts[i]->spare_of = map;
        parts[i]->spare_ended = 0;
    }
    for (size = 0; size < HAUL__SIZES; size++)
        deal(map, parts, count, size);
}

void haul__spare_join(haul__map *map, haul__map *part)
{
    unsigned size;
    for (size = 0; size < HAUL__SIZES; size++) {
        haul__bundle *crate = part->spare[size], *beyond;
        for (; crate; crate = beyond) {
            beyond = crate->beyond;
            crate->beyond = map->spare[size];
            map->spare[size] = crate;
        }
        part->spare[size] = NULL;
    }
}

/* Pools: plain bytes in which other rows find objects. They are marked after everything else, and
 * slots that they hold by then stay slots. Whichever is found first, pool or object, the marks are
 * the same.
 */
#include "walk/pools.h"
#include "walk/new_ranges.h"
#include "walk/mark_elements.h"
#include "walk/memo.h"
#include "walk/news.h"

haul_status haul__note_pool(haul__discovery *d, const haul__entry *entry, size_t bytes)
{
    const void *as = &entry->slot->shape[entry->level];
    haul_status status;
    haul__entry *pool;
    if (haul__memo_has(d, HAUL__MEMO_EXTENT, entry->address, bytes, as))
        return HAUL_OK;
    status = haul__memo_add(d, HAUL__MEMO_EXTENT, entry->address, bytes, as);
    if (status != HAUL_OK)
        return status;
    pool = HAUL__LIST_ADD(d->allocator, &d->pools);
    if (!pool)
        return HAUL_ERROR_MEMORY;
    *pool = *entry;
    return HAUL_OK;
}

haul_status haul__mark_pools(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < d->pools.count && status == HAUL_OK; i++) {
        haul__entry *pool = &d->pools.at[i];
        haul__pattern pattern;
        haul__marked marked = { 0, 0, 0 };
        memset(&pattern, 0, sizeof pattern);
        pattern.kind = HAUL__KNOWN_SLOTS;
        status = haul__mark_range(d, pool->slot, pool->address,
                                  pool->address + pool->count * pool->stride, &pattern, &marked);
        d->found->objects++;
        if (status == HAUL_OK)
            status = haul__list_entry(d, pool);
        if (status == HAUL_OK && d->recording)
            status = haul__push_entry(d, pool);
        if (status == HAUL_OK)
            status = haul__news(d);
    }
    return status;
}

void haul__pools_close(haul__discovery *d)
{
    HAUL__LIST_RELEASE(d->allocator, &d->pools);
}

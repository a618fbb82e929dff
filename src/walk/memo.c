/* The memo, as a hash with open addressing.
 */
#include "walk/memo.h"
#include "walk/readable.h"

typedef struct haul__memo {
    uintptr_t address; /* 0: a free place */
    const void *as;
    uint64_t what; /* bytes << 8 | what: a sum of ancestors loses its upper bits */
} haul__memo;

/* The place of an equal entry, or a free one. */
static haul__memo *memo_place(const haul__discovery *d, const haul__memo *entry)
{
    size_t mask = d->memo_capacity - 1;
    uint64_t mixed = ((uint64_t)entry->address * 3 + entry->what) ^ (uint64_t)(uintptr_t)entry->as;
    size_t at = (size_t)(haul__hash(mixed) >> 32) & mask;
    while (d->memo[at].address && (d->memo[at].address != entry->address ||
                                   d->memo[at].what != entry->what || d->memo[at].as != entry->as))
        at = (at + 1) & mask;
    return &d->memo[at];
}

static haul__memo entry_of(unsigned what, uintptr_t address, size_t bytes, const void *as)
{
    haul__memo entry;
    entry.address = address;
    entry.as = as;
    entry.what = (uint64_t)bytes << 8 | what;
    return entry;
}

int haul__memo_has(const haul__discovery *d, unsigned what, uintptr_t address, size_t bytes,
                   const void *as)
{
    const haul__memo entry = entry_of(what, address, bytes, as);
    return d->memo_count && memo_place(d, &entry)->address;
}

haul_status haul__memo_add(haul__discovery *d, unsigned what, uintptr_t address, size_t bytes,
                           const void *as)
{
    const haul__memo entry = entry_of(what, address, bytes, as);
    haul__memo *old = d->memo, *place;
    size_t old_capacity = d->memo_capacity, i;
    const haul_status status = what == HAUL__MEMO_EXTENT ? haul__spend(d, bytes) : HAUL_OK;
    if (status != HAUL_OK)
        return status;
    if (d->memo_count >= old_capacity / 2) {
        haul__memo *grown;
        size_t capacity = old_capacity ? old_capacity * 2 : 64;
        grown = haul__allocate_zeroed(d->allocator, capacity * sizeof *grown);
        if (!grown)
            return HAUL_ERROR_MEMORY;
        d->memo = grown;
        d->memo_capacity = capacity;
        for (i = 0; i < old_capacity; i++)
            if (old[i].address)
                *memo_place(d, &old[i]) = old[i];
        haul__release(d->allocator, old, old_capacity * sizeof *old);
    }
    place = memo_place(d, &entry);
    if (!place->address)
        d->memo_count++;
    *place = entry;
    return HAUL_OK;
}

void haul__memo_close(haul__discovery *d)
{
    haul__release(d->allocator, d->memo, d->memo_capacity * sizeof *d->memo);
}

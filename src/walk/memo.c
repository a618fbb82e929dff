/* The memo: a hash of what was marked or noted before, by address, size and meaning.
 */
#include "walk/memo.h"

struct haul__memo {
    uintptr_t address;
    size_t bytes;
    const void *as; /* a type or a shape; NULL: plain bytes */
};

static size_t memo_place(const haul__discovery *d, uintptr_t address, size_t bytes, const void *as)
{
    size_t mask = d->memo_capacity - 1;
    uint64_t mixed = ((uint64_t)address * 3 + bytes) ^ (uint64_t)(uintptr_t)as;
    size_t at = (size_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (d->memo[at].address &&
           (d->memo[at].address != address || d->memo[at].bytes != bytes || d->memo[at].as != as))
        at = (at + 1) & mask;
    return at;
}

int haul__memo_has(const haul__discovery *d, uintptr_t address, size_t bytes, const void *as)
{
    return d->memo_count && d->memo[memo_place(d, address, bytes, as)].address;
}

haul_status haul__memo_add(haul__discovery *d, uintptr_t address, size_t bytes, const void *as)
{
    struct haul__memo *old = d->memo, *entry;
    size_t old_capacity = d->memo_capacity, i;
    if (d->memo_count >= old_capacity / 2) {
        struct haul__memo *grown;
        size_t capacity = old_capacity ? old_capacity * 2 : 64;
        grown = haul__allocate_zeroed(d->allocator, capacity * sizeof *grown);
        if (!grown)
            return HAUL_ERROR_MEMORY;
        d->memo = grown;
        d->memo_capacity = capacity;
        for (i = 0; i < old_capacity; i++)
            if (old[i].address)
                d->memo[memo_place(d, old[i].address, old[i].bytes, old[i].as)] = old[i];
        haul__release(d->allocator, old, old_capacity * sizeof *old);
    }
    entry = &d->memo[memo_place(d, address, bytes, as)];
    if (!entry->address)
        d->memo_count++;
    entry->address = address;
    entry->bytes = bytes;
    entry->as = as;
    return HAUL_OK;
}

void haul__memo_close(haul__discovery *d)
{
    haul__release(d->allocator, d->memo, d->memo_capacity * sizeof *d->memo);
}

/* The sections that were marked: all words of each, one after the other behind its length, and a
 * hash with open addressing, at most half full. The memo (memo.c) has too little room for them.
 */
#include "walk/section_memo.h"

/* The place of an equal section, or a free one. */
static size_t *place_of(const haul__discovery *d, const size_t *words, size_t count)
{
    const size_t mask = d->section_hash_capacity - 1;
    uint64_t hash = count;
    size_t i, at;
    for (i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    for (at = (size_t)hash & mask; d->section_hash[at]; at = (at + 1) & mask) {
        const size_t *known = &d->section_words.at[d->section_hash[at] - 1];
        if (known[0] == count && memcmp(known + 1, words, count * sizeof *words) == 0)
            break;
    }
    return &d->section_hash[at];
}

static int make_room(haul__discovery *d)
{
    const size_t old_capacity = d->section_hash_capacity;
    const size_t capacity = old_capacity ? 2 * old_capacity : 64;
    size_t *old = d->section_hash, *grown, i;
    if (d->section_count < old_capacity / 2)
        return 1;
    grown = haul__allocate_zeroed(d->allocator, capacity * sizeof *grown);
    if (!grown)
        return 0;
    d->section_hash = grown;
    d->section_hash_capacity = capacity;
    for (i = 0; i < old_capacity; i++)
        if (old[i]) {
            const size_t *known = &d->section_words.at[old[i] - 1];
            *place_of(d, known + 1, known[0]) = old[i];
        }
    haul__release(d->allocator, old, old_capacity * sizeof *old);
    return 1;
}

haul_status haul__section_meet(haul__discovery *d, const size_t *words, size_t count, int *is_known)
{
    size_t *place, first = d->section_words.count;
    if (!make_room(d))
        return HAUL_ERROR_MEMORY;
    place = place_of(d, words, count);
    *is_known = *place != 0;
    if (*is_known)
        return HAUL_OK;
    if (!haul__grow(d->allocator, &d->section_words.at, &d->section_words.capacity,
                    first + count + 1, sizeof *words))
        return HAUL_ERROR_MEMORY;
    d->section_words.at[first] = count;
    memcpy(&d->section_words.at[first + 1], words, count * sizeof *words);
    d->section_words.count += count + 1;
    *place = first + 1;
    d->section_count++;
    return HAUL_OK;
}

void haul__section_memo_close(haul__discovery *d)
{
    HAUL__LIST_RELEASE(d->allocator, &d->section_words);
    haul__release(d->allocator, d->section_hash, d->section_hash_capacity * sizeof(size_t));
}

/* The sections that were marked: all words of each, one after the other behind its length, and an
 * index of their beginnings. The memo (memo.c) has too little room for them.
 */
#include "walk/section_memo.h"

static uint64_t hash_of(const size_t *words, size_t count)
{
    uint64_t hash = count;
    size_t i;
    for (i = 0; i < count; i++) {
        hash = haul__hash(hash ^ words[i]);
        hash ^= hash >> 32;
    }
    return hash;
}

typedef struct section_words {
    const size_t *words;
    size_t count;
} section_words;

static int is_section(const void *list, size_t first, const void *key)
{
    const size_t *known = (const size_t *)list + first;
    const section_words *section = key;
    return known[0] == section->count &&
           memcmp(known + 1, section->words, section->count * sizeof *known) == 0;
}

haul_status haul__section_meet(haul__discovery *d, const size_t *words, size_t count, int *is_known)
{
    const section_words key = { words, count };
    const uint64_t hash = hash_of(words, count);
    const size_t first = d->section_words.count;
    *is_known = haul__index_find(&d->section_index, hash, d->section_words.at, &key, is_section) !=
                SIZE_MAX;
    if (*is_known)
        return HAUL_OK;
    if (!haul__grow(d->allocator, &d->section_words.at, &d->section_words.capacity,
                    first + count + 1, sizeof *words) ||
        !haul__index_add(d->allocator, &d->section_index, hash, first))
        return HAUL_ERROR_MEMORY;
    d->section_words.at[first] = count;
    memcpy(&d->section_words.at[first + 1], words, count * sizeof *words);
    d->section_words.count += count + 1;
    return HAUL_OK;
}

void haul__section_memo_close(haul__discovery *d)
{
    HAUL__LIST_RELEASE(d->allocator, &d->section_words);
    haul__index_close(d->allocator, &d->section_index);
}

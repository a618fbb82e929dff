/* The search for pointers in plain bytes of a checked arena.
 *
 * The arena notes where allocations begin, and which words are pointers. An allocation without such
 * a word was made as plain bytes, or of a type without pointers. A word of it that is an address of
 * the arena would keep the host's address on the device. Typed objects are left out: their
 * descriptions may say that a word is no pointer.
 */
#include <stdio.h>

#include "arena/unmarked.h"

#define GRANULE_WORDS (HAUL_ARENA_GRANULE / sizeof(void *))

static int bit(const uint64_t *bits, size_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

static uintptr_t word_at(const haul__contents *c, size_t word)
{
    return haul__load_word(c->base + word * sizeof(void *));
}

/* The first such word; `end`: there is none. */
static size_t find(const haul__contents *c, size_t end)
{
    size_t word, suspect = end;
    int is_typed = 0;
    for (word = 0; word < end; word++) {
        if (word % GRANULE_WORDS == 0 && bit(c->arena->starts, word / GRANULE_WORDS)) {
            if (suspect < end && !is_typed)
                return suspect;
            suspect = end;
            is_typed = 0;
        }
        if (bit(c->slots, word))
            is_typed = 1;
        else if (suspect == end && word_at(c, word) - (uintptr_t)c->base < c->bytes)
            suspect = word;
    }
    return is_typed ? end : suspect;
}

haul_status haul__check_unmarked(const haul__contents *c, haul_error *error)
{
    const size_t end = c->bytes / sizeof(void *), word = find(c, end);
    char path[HAUL_PATH_BYTES];
    uintptr_t value;
    if (word == end)
        return HAUL_OK;
    value = word_at(c, word);
    haul__fail(
        error, HAUL_ERROR_GRAPH,
        "plain bytes hold %p, the address of byte %zu of the same arena, and nothing patches "
        "it: allocate them by haul_arena_new or haul_arena_new_pointers, or ship with "
        "haul_from_arena_root",
        (void *)value, (size_t)(value - (uintptr_t)c->base));
    snprintf(path, sizeof path, "arena+%zu", word * sizeof(void *));
    haul__set_path(error->path, path);
    return HAUL_ERROR_GRAPH;
}

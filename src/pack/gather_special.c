/* Special words, pointers to no elements, and ends of arrays, in a gathered piece.
 *
 * They are lists by address. Each piece of the arena takes those that lie in it. A word that lies
 * in two pieces is written to each in part, and is compared with the plan each time.
 */
#include "pack/gather_special.h"
#include "pack/plan_space.h"
#include "pack/stale.h"
#include "pack/translate.h"

/* Writes the part of a word that lies in the piece. */
static void put_bytes(const haul__piece *piece, unsigned char *memory, uint64_t at,
                      const void *word, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        if (at + i - piece->at < piece->bytes)
            memory[(size_t)(at + i) - piece->at] = ((const unsigned char *)word)[i];
}

/* A pointer to no elements becomes null, unless it leads to a described byte or to the end of a
 * range. */
static void gather_empty(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    const uintptr_t null = 0;
    uint64_t at, place;
    size_t i;
    for (i = g->empty; i < found->empty_count; i++) {
        const uintptr_t value = haul__load_word((const void *)found->empty[i]);
        at = haul__translate(&found->map, found->empty[i]);
        if (at >= piece->at + piece->bytes)
            return;
        if (!haul__copied_byte(found, value) && !haul__offset_of(g->plan, value, &place) &&
            !haul__copied_end(found, value))
            put_bytes(piece, memory, at, &null, sizeof null);
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->empty = i + 1;
    }
}

/* An end becomes the copy of its array's begin, plus the array's bytes: what begins on the host
 * where the array ends may have its copy anywhere. */
static void gather_ends(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->end; i < found->end_count; i++) {
        const haul__array_end *end = &found->ends[i];
        const uint64_t at = haul__translate(&found->map, end->word);
        const uintptr_t array = haul__load_word((const void *)end->begin);
        uintptr_t copy;
        if (at >= piece->at + piece->bytes)
            return;
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->end = i + 1;
        if (!array || !end->bytes)
            continue;
        copy = haul__copied_byte(found, array);
        if (!copy)
            copy = (uintptr_t)(g->base + haul__translate(&found->map, array));
        copy += end->bytes;
        put_bytes(piece, memory, at, &copy, sizeof copy);
    }
}

haul_status haul__gather_special(haul__gathering *g, const haul__piece *piece,
                                 unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    const uint64_t end = piece->at + piece->bytes;
    const haul__space space = haul__plan_space(g->plan, g->base, g->final_base);
    size_t i;
    gather_empty(g, piece, memory);
    for (i = g->special; i < found->special_count; i++) {
        const haul__special_word *word = &found->special[i];
        const uint64_t at = haul__translate(&found->map, word->address);
        uint64_t becomes;
        uint32_t narrow;
        haul_status status;
        if (at >= end)
            break;
        status = haul__check_special(g->plan, word);
        if (status == HAUL_OK)
            status = haul__special_to_copy(&space, word, word->value, &becomes);
        if (status != HAUL_OK)
            return status;
        narrow = (uint32_t)becomes;
        put_bytes(piece, memory, at,
                  word->bytes == sizeof narrow ? (const void *)&narrow : (const void *)&becomes,
                  word->bytes);
        g->nulls +=
            haul__is_pointer(word) && !(word->is_limit ? becomes : word->value) && at >= piece->at;
        if (at + word->bytes <= end)
            g->special = i + 1;
    }
    gather_ends(g, piece, memory);
    return HAUL_OK;
}

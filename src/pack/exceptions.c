/* Exceptions: words of an arena that its blocks' bits do not tell, written over what gather copied there.
 *
 * They are lists by address: pointers off the grid, words that are no addresses in the copy, pointers with tags, and
 * pointers to no elements. A piece of the arena takes those that lie in it; one that lies in two pieces gives each
 * its part, and is looked at again with the second.
 */
#include "pack/plan.h"

/* The part of a word of so many bytes that lies in the piece. */
static void put_bytes(const haul__piece *piece, unsigned char *memory, uint64_t at, const void *word, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        if (at + i - piece->at < piece->bytes)
            memory[(size_t)(at + i) - piece->at] = ((const unsigned char *)word)[i];
}

static void put_word(const haul__piece *piece, unsigned char *memory, uint64_t at, uintptr_t word)
{
    put_bytes(piece, memory, at, &word, sizeof word);
}

static haul_status gather_odd(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->odd; i < found->odd_count; i++) {
        const haul__odd *odd = &found->odd[i];
        uint64_t at = haul__translate(&found->map, odd->address);
        haul_status status;
        if (at >= piece->at + piece->bytes)
            break;
        status = haul__check_odd(g->plan, odd);
        if (status != HAUL_OK)
            return status;
        put_word(piece, memory, at, haul__odd_word(g->plan, odd, g->base));
        g->nulls += !odd->value && at >= piece->at;
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->odd = i + 1;
    }
    return HAUL_OK;
}

static int fits(int64_t value, size_t bytes)
{
    return bytes == 8 || (value >= INT32_MIN && value <= INT32_MAX);
}

/* The word led to a place in its target's block, or so far outside of it; it leads there in the copy. */
static haul_status find_distance(haul_plan *plan, const haul__kept *kept, uint64_t at, uint64_t *word)
{
    const uint64_t here = haul__final_place(plan, at);
    haul_field_place field;
    int64_t distance;
    uint64_t place;
    haul_status status;
    field.offset = 0;
    field.bytes = kept->bytes;
    distance = haul__read_stored((const void *)kept->address, &field);
    if (!haul__offset_of(plan, (uintptr_t)kept->becomes, &place)) {
        *word = 0; /* to no elements */
        return HAUL_OK;
    }
    distance = (intptr_t)((uintptr_t)distance - ((uintptr_t)kept->becomes - kept->address));
    if (plan->ordered)
        place = haul__target(plan, kept->address, (uintptr_t)kept->becomes);
    distance += (int64_t)(place - here);
    *word = (uint64_t)distance;
    if (distance != 0 && fits(distance, kept->bytes))
        return HAUL_OK;
    status = haul__fail(&plan->context->error, HAUL_ERROR_LIMIT,
                        distance ? "a distance of %lld bytes in the copy does not fit %u bytes"
                                 : "a distance is %lld in the copy, by chance, and %u bytes of 0 are null",
                        (long long)distance, (unsigned)kept->bytes);
    haul__name_changed(plan, kept->address, 0);
    return status;
}

static void put_kept(const haul__piece *piece, unsigned char *memory, uint64_t at, uint64_t word, size_t bytes)
{
    uint32_t narrow = (uint32_t)word;
    if (bytes == sizeof narrow)
        put_bytes(piece, memory, at, &narrow, sizeof narrow);
    else
        put_bytes(piece, memory, at, &word, sizeof word);
}

static haul_status gather_kept(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->kept; i < found->kept_count; i++) {
        const haul__kept *kept = &found->kept[i];
        uint64_t at = haul__translate(&found->map, kept->address), word = kept->becomes;
        haul_status status;
        if (at >= piece->at + piece->bytes)
            break;
        status = haul__check_kept(g->plan, kept);
        if (status == HAUL_OK && kept->kind == HAUL__KEPT_DISTANCE)
            status = find_distance(g->plan, kept, at, &word);
        if (status != HAUL_OK)
            return status;
        put_kept(piece, memory, at, word, kept->bytes);
        if (at + kept->bytes <= piece->at + piece->bytes)
            g->kept = i + 1;
    }
    return HAUL_OK;
}

static haul_status gather_tagged(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->tagged; i < found->tagged_count; i++) {
        const haul__tagged *tagged = &found->tagged[i];
        uint64_t at = haul__translate(&found->map, tagged->address);
        uintptr_t word = 0;
        haul_status status;
        if (at >= piece->at + piece->bytes)
            break;
        status = haul__check_tagged(g->plan, tagged);
        if (status == HAUL_OK && !haul__tagged_word(g->plan, tagged, g->there, &word))
            status = haul__refuse_tag(g->plan, tagged);
        if (status != HAUL_OK)
            return status;
        put_word(piece, memory, at, word);
        g->nulls += !tagged->value && at >= piece->at;
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->tagged = i + 1;
    }
    return HAUL_OK;
}

/* A pointer to no elements is null in the arena, unless it leads to a described byte or to the end of a range. */
static void clear_empty(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->empty; i < found->empty_count; i++) {
        uintptr_t slot = found->empty[i];
        uint64_t at = haul__translate(&found->map, slot), place;
        if (at >= piece->at + piece->bytes)
            break;
        if (!haul__offset_of(g->plan, haul__load_word((const void *)slot), &place))
            put_word(piece, memory, at, 0);
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->empty = i + 1;
    }
}

haul_status haul__gather_exceptions(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    haul_status status;
    clear_empty(g, piece, memory);
    status = gather_odd(g, piece, memory);
    if (status == HAUL_OK)
        status = gather_kept(g, piece, memory);
    return status == HAUL_OK ? gather_tagged(g, piece, memory) : status;
}

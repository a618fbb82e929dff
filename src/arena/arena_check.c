/* Invariants of arenas and their contents.
 *
 * An arena is ranges and lists of offsets that many functions cut, sort and extend. Each relies on
 * the others to leave them in order and inside the arena. These checks read all of them once.
 */
#include "arena/arena_check.h"
#include "arena/arena_words.h"

#ifdef HAUL_CHECKS

/* The bits from `first` on in its word of 64; 0 if `first` begins a word. */
static uint64_t bits_above(const uint64_t *bits, size_t first)
{
    return first % 64 ? bits[first / 64] >> (first % 64) : 0;
}

static const char *fault_of_room(const haul_arena *arena)
{
    const haul__arena_room *room = &arena->room;
    const size_t used = haul__arena_used(arena);
    const unsigned char *limit = arena->is_plain ? arena->end : room->top;
    if (room->top < room->base || room->top > arena->end ||
        arena->end > room->base + arena->capacity)
        return "the top of an arena lies outside of its memory";
    if (room->end != limit)
        return "inline allocation has a wrong limit";
    if (room->slots && bits_above(room->slots, (used + sizeof(void *) - 1) / sizeof(void *)))
        return "a pointer is noted above the top of an arena";
    if (arena->starts && bits_above(arena->starts, used / HAUL_ARENA_GRANULE))
        return "an allocation begins above the top of an arena";
    return NULL;
}

static const char *fault_of_arena(const haul_arena *arena)
{
    const size_t used = haul__arena_used(arena);
    const char *fault = fault_of_room(arena);
    size_t i;
    for (i = 0; i < arena->nursery_count && !fault; i++) {
        const haul__nursery_place *place = &arena->nurseries[i];
        if (place->at >= place->memory || place->memory > used ||
            place->capacity > used - place->memory)
            fault = "a nursery lies outside of its arena";
        else if (place->used > place->capacity)
            fault = "more of a nursery is used than it has";
    }
    for (i = 0; i < arena->special_count && !fault; i++)
        if (arena->special[i].count == 0 || arena->special[i].at >= used)
            fault = "a run of special objects lies outside of its arena";
    return fault;
}

static const char *fault_of_lists(const haul__contents *c)
{
    size_t i;
    for (i = 0; i < c->staying_count; i++) {
        const haul__staying *range = &c->staying[i];
        if (range->at > c->bytes || range->bytes > c->bytes - range->at)
            return "a range that stays lies outside of the contents";
        if (i > 0 && c->staying[i - 1].at + c->staying[i - 1].bytes > range->at)
            return "ranges that stay overlap, or are not in order";
    }
    for (i = 0; i < c->word_count; i++) {
        if (haul__word_at(c, i) > c->bytes - sizeof(void *))
            return "a special word lies outside of the contents";
        if (i > 0 && c->words[i - 1].address > c->words[i].address)
            return "special words are not in order";
    }
    return NULL;
}

const char *haul__contents_fault(const haul__contents *contents)
{
    const haul_arena *arena = contents->arena;
    const char *fault = fault_of_arena(arena);
    if (fault)
        return fault;
    if (contents->base != arena->room.base || contents->bytes > arena->capacity)
        return "the contents lie outside of their arena";
    if (contents->own && bits_above(contents->own, contents->bytes / sizeof(void *)))
        return "a pointer is noted behind the contents";
    return fault_of_lists(contents);
}

#endif

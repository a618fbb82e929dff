/* Edits: bytes of contents that differ on the device.
 *
 * An arena is sent as it lies. But a pointer that leads out may have to be null there, and a
 * field may give a word another value. The arena belongs to the user and is not changed, so such
 * bytes go through staging memory and are changed there. Most arenas need no edits: haul__is_edited
 * answers that first.
 */
#include "arena/edits.h"
#include "arena/arena_words.h"
#include "arena/pointers.h"
#include "arena/staying.h"

static int differs(const haul__contents *c, const haul__staying *range)
{
    size_t i;
    if (range->bytes <= sizeof range->becomes)
        return memcmp(c->base + range->at, range->becomes, range->bytes) != 0;
    for (i = 0; i < range->bytes; i++)
        if (c->base[range->at + i] != 0)
            return 1;
    return 0;
}

int haul__is_edited(const haul__contents *c)
{
    size_t i, at = 0, word = 0;
    for (i = 0; i < c->staying_count; i++)
        if (c->staying[i].is_edited && differs(c, &c->staying[i]))
            return 1;
    if (c->word_count > c->explicit_count)
        return 1;
    return c->outside == HAUL_OUTSIDE_NULL &&
           (haul__next_outside(c, &at) || haul__next_explicit_outside(c, &word));
}

/* ---- A piece of the contents, which may begin or end inside a word. */

typedef struct piece {
    unsigned char *memory;
    size_t first, end;
} piece;

/* The part of [at, at + bytes) that lies in the piece. 0: no part. */
static int overlap(const piece *p, size_t at, size_t bytes, size_t *from, size_t *count)
{
    size_t end = at + bytes < p->end ? at + bytes : p->end;
    *from = at > p->first ? at : p->first;
    *count = *from < end ? end - *from : 0;
    return *count > 0;
}

static void null_word(const piece *p, size_t at)
{
    size_t from, count;
    if (overlap(p, at, HAUL__WORD, &from, &count))
        memset(p->memory + (from - p->first), 0, count);
}

void haul__edit(const haul__contents *c, unsigned char *memory, size_t first, size_t bytes)
{
    piece p;
    size_t i, at, from, count;
    p.memory = memory;
    p.first = first;
    p.end = first + bytes;
    for (i = haul__first_staying(c, first); i < c->staying_count && c->staying[i].at < p.end; i++) {
        const haul__staying *range = &c->staying[i];
        if (!range->is_edited || !overlap(&p, range->at, range->bytes, &from, &count))
            continue;
        if (range->bytes <= sizeof range->becomes)
            memcpy(memory + (from - first), range->becomes + (from - range->at), count);
        else
            memset(memory + (from - first), 0, count);
    }
    if (c->outside == HAUL_OUTSIDE_NULL) {
        at = first / HAUL__WORD * HAUL__WORD;
        for (; haul__next_outside(c, &at) && at < p.end; at += HAUL__WORD)
            null_word(&p, at);
        for (i = 0; haul__next_explicit_outside(c, &i) && haul__word_at(c, i) < p.end; i++)
            null_word(&p, haul__word_at(c, i));
    }
    haul__words_edit(c, memory, first, bytes);
}

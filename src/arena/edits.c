/* Edits: bytes of an arena that are others on the device.
 *
 * An arena crosses as it lies. Where a pointer that leads out is to be null there, or a word is to
 * be what a rule says, the bytes go through staging memory instead, and are changed on the way: the
 * arena itself is the user's. So first of all it is asked whether anything is to be changed at all;
 * in most arenas nothing is.
 */
#include "arena/edits.h"
#include "arena/explicit_relocations.h"
#include "arena/pointers.h"
#include "arena/staying.h"
#include "arena/tagged_pointers.h"

#define WORD sizeof(void *)

/* What the bytes [at, at + bytes) of an edited range become. */
static void put(const haul__kept_bytes *kept, size_t at, unsigned char *memory, size_t bytes)
{
    if (kept->bytes <= sizeof kept->becomes)
        memcpy(memory, kept->becomes + (at - kept->at), bytes);
    else
        memset(memory, 0, bytes);
}

static int differs(const haul__contents *c, const haul__kept_bytes *kept)
{
    size_t i;
    if (kept->bytes <= sizeof kept->becomes)
        return memcmp(c->base + kept->at, kept->becomes, kept->bytes) != 0;
    for (i = 0; i < kept->bytes; i++)
        if (c->base[kept->at + i] != 0)
            return 1;
    return 0;
}

int haul__is_edited(const haul__contents *c)
{
    size_t i, word = 0, odd = 0;
    for (i = 0; i < c->kept_count; i++)
        if (c->kept[i].is_edited && differs(c, &c->kept[i]))
            return 1;
    if (c->tagged_count > 0)
        return 1;
    return c->outside == HAUL_OUTSIDE_NULL &&
           (haul__next_outside(c, &word) || haul__next_odd_outside(c, &odd));
}

/* ---- On the way: of a piece of the contents, which may begin or end within a word. */

typedef struct piece {
    unsigned char *memory;
    size_t first, end;
} piece;

/* The part of [at, at + bytes) that lies in the piece. 0: none. */
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
    if (overlap(p, at, WORD, &from, &count))
        memset(p->memory + (from - p->first), 0, count);
}

static void null_outside(const haul__contents *c, const piece *p)
{
    size_t at = p->first / WORD * WORD, i = 0;
    for (; haul__next_outside(c, &at) && at < p->end; at += WORD)
        null_word(p, at);
    for (; haul__next_odd_outside(c, &i) && c->odd[i].at < p->end; i++)
        null_word(p, c->odd[i].at);
}

void haul__edit(const haul__contents *c, unsigned char *memory, size_t first, size_t bytes)
{
    piece p;
    size_t i, from, count;
    p.memory = memory;
    p.first = first;
    p.end = first + bytes;
    for (i = haul__first_kept(c, first); i < c->kept_count && c->kept[i].at < p.end; i++)
        if (c->kept[i].is_edited && overlap(&p, c->kept[i].at, c->kept[i].bytes, &from, &count))
            put(&c->kept[i], from, memory + (from - first), count);
    if (c->outside == HAUL_OUTSIDE_NULL)
        null_outside(c, &p);
    haul__tagged_edit(c, memory, first, bytes);
}

/* Elements one by one, those of embedded arrays included. A committed type says which arrays it has not flattened; each
 * level of these is one entry of a stack, and types nest no deeper than it reaches.
 */
#include "type/type.h"

#define NOT_YET SIZE_MAX /* the element itself comes before its parts */

static void push(haul__flat *flat, const haul__walk *walk, size_t at, size_t count, size_t stride)
{
    if (count == 0 || flat->depth == HAUL__FLAT_DEPTH)
        return;
    flat->level[flat->depth].walk = walk;
    flat->level[flat->depth].at = at;
    flat->level[flat->depth].left = count;
    flat->level[flat->depth].stride = stride;
    flat->level[flat->depth].part = NOT_YET;
    flat->depth++;
}

void haul__flat_begin(haul__flat *flat, const haul__walk *walk, size_t at, size_t count, size_t stride)
{
    flat->depth = 0;
    push(flat, walk, at, count, stride);
}

int haul__flat_next(haul__flat *flat, const haul__walk **walk, size_t *at)
{
    while (flat->depth > 0) {
        unsigned top = flat->depth - 1;
        const haul__walk *here = flat->level[top].walk;
        if (flat->level[top].part == NOT_YET) {
            flat->level[top].part = 0;
            *walk = here;
            *at = flat->level[top].at;
            return 1;
        }
        if (flat->level[top].part < here->part_count) {
            const haul__part *part = &here->parts[flat->level[top].part++];
            push(flat, haul__type_walk(part->type), flat->level[top].at + part->offset, part->count, part->stride);
        } else if (--flat->level[top].left > 0) {
            flat->level[top].at += flat->level[top].stride;
            flat->level[top].part = NOT_YET;
        } else {
            flat->depth--;
        }
    }
    return 0;
}

/* The end of what covers a byte: a run that travels, or a part; 0: nothing does, and *next is where something begins. */
static size_t covered_to(const haul__walk *walk, size_t at, size_t *next)
{
    size_t i, end;
    for (i = 0; i < walk->run_count; i++) {
        end = walk->runs[i].offset + walk->runs[i].bytes;
        if (walk->runs[i].offset <= at && at < end)
            return end;
        if (walk->runs[i].offset > at && walk->runs[i].offset < *next)
            *next = walk->runs[i].offset;
    }
    for (i = 0; i < walk->part_count; i++) {
        end = walk->parts[i].offset + walk->parts[i].count * walk->parts[i].stride;
        if (walk->parts[i].offset <= at && at < end)
            return end;
        if (walk->parts[i].offset > at && walk->parts[i].offset < *next)
            *next = walk->parts[i].offset;
    }
    return 0;
}

int haul__next_gap(const haul__walk *walk, size_t *at, size_t *bytes)
{
    if (walk->dense)
        return 0;
    while (*at < walk->extent) {
        size_t next = walk->extent, end = covered_to(walk, *at, &next);
        if (!end) {
            *bytes = next - *at;
            return 1;
        }
        *at = end;
    }
    return 0;
}

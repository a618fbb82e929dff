/* The elements of a committed type one by one, those of embedded arrays included.
 *
 * Parts are the arrays that commit has not flattened. Each level of parts is one entry of a stack,
 * and commit lets types nest no deeper than the stack.
 *
 * Most ruled rows depend on the object. A few are the same in every object: bytes or a pointer.
 * Here they count as such.
 */
#include "type/elements.h"

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

void haul__flat_begin(haul__flat *flat, const haul__walk *walk, size_t at, size_t count,
                      size_t stride)
{
    flat->depth = 0;
    push(flat, walk, at, count, stride);
}

int haul__flat_next(haul__flat *flat, const haul__walk **walk, size_t *at)
{
    while (flat->depth > 0) {
        unsigned top = flat->depth - 1;
        const haul__walk *top_walk = flat->level[top].walk;
        if (flat->level[top].part == NOT_YET) {
            flat->level[top].part = 0;
            *walk = top_walk;
            *at = flat->level[top].at;
            return 1;
        }
        if (flat->level[top].part < top_walk->part_count) {
            const haul__part *part = &top_walk->parts[flat->level[top].part++];
            push(flat, haul__type_walk(part->type), flat->level[top].at + part->offset, part->count,
                 part->stride);
        } else if (--flat->level[top].left > 0) {
            flat->level[top].at += flat->level[top].stride;
            flat->level[top].part = NOT_YET;
        } else {
            flat->depth--;
        }
    }
    return 0;
}

/* ---- Rows with rules. */

static int is_always_data(const haul__ruled *ruled)
{
    if (ruled->kind == HAUL__RULED_TAIL)
        return !ruled->slot.target;
    return ruled->kind == HAUL__RULED_DATA && ruled->rule->said.when.kind == HAUL_WHEN_KIND_ALWAYS;
}

static int is_always_pointer(const haul__ruled *ruled)
{
    const haul_field *rule = ruled->rule ? &ruled->rule->said : NULL;
    return ruled->kind == HAUL__RULED_POINTER && rule->when.kind == HAUL_WHEN_KIND_ALWAYS &&
           haul__leads_in(rule) && !rule->maybe_static && rule->kind != HAUL_FIELD_RELATIVE &&
           !rule->tag_bits && !rule->integers_below && !rule->integers_from;
}

int haul__is_plain(const haul__walk *walk)
{
    size_t i;
    for (i = 0; i < walk->ruled_count; i++)
        if (!is_always_data(&walk->ruled[i]) && !is_always_pointer(&walk->ruled[i]))
            return 0;
    return 1;
}

unsigned haul__tail_exclusions(const haul__walk *walk, size_t *offset)
{
    size_t i;
    for (i = 0; i < walk->ruled_count; i++)
        if (walk->ruled[i].kind == HAUL__RULED_TAIL && walk->ruled[i].rule) {
            *offset = walk->ruled[i].slot.offset;
            return haul__exclusions_of(walk->ruled[i].rule->said.transfer);
        }
    return 0;
}

int haul__next_pointer(const haul__walk *walk, size_t *i, size_t *offset)
{
    if (*i < walk->slot_count) {
        *offset = walk->slots[(*i)++].offset;
        return 1;
    }
    while (*i - walk->slot_count < walk->ruled_count) {
        const haul__ruled *ruled = &walk->ruled[(*i)++ - walk->slot_count];
        *offset = ruled->slot.offset;
        if (is_always_pointer(ruled))
            return 1;
    }
    return 0;
}

/* ---- Gaps. */

/* The end of the run, part or ruled row that covers the byte at `at`; 0: none does, and *next is
 * lowered to the beginning of the next one. */
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
    for (i = 0; i < walk->ruled_count; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        end = ruled->kind == HAUL__RULED_TAIL ? walk->extent : ruled->slot.offset + ruled->bytes;
        if (ruled->slot.offset <= at && at < end)
            return end;
        if (ruled->slot.offset > at && end > ruled->slot.offset && ruled->slot.offset < *next)
            *next = ruled->slot.offset;
    }
    return 0;
}

/* Do the parts lie within the element and apart from each other? */
static int has_tidy_parts(const haul__walk *walk)
{
    size_t i, end = 0;
    for (i = 0; i < walk->part_count; i++) {
        const haul__part *part = &walk->parts[i];
        const haul__walk *inner = haul__type_walk(part->type);
        size_t room = part->offset < walk->extent ? walk->extent - part->offset : 0;
        if (part->offset < end || inner->extent > part->stride || part->count * part->stride > room)
            return 0;
        end = part->offset + part->count * part->stride;
    }
    return 1;
}

int haul__is_tidy(const haul__walk *walk)
{
    haul__flat flat;
    size_t at;
    haul__flat_begin(&flat, walk, 0, 1, walk->extent);
    while (haul__flat_next(&flat, &walk, &at))
        if (walk->true_upper > walk->extent || !has_tidy_parts(walk))
            return 0;
    return 1;
}

int haul__next_gap(const haul__walk *walk, size_t *at, size_t *bytes)
{
    if (haul__is_dense(walk))
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

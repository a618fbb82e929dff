/* Sealing: what flattening has put together becomes the walk of a committed type: sorted, merged, measured, copied out.
 */
#include "base/sort.h"
#include "type/scratch.h"


static int run_comes_before(const void *a, const void *b)
{
    return ((const haul__run *)a)->offset < ((const haul__run *)b)->offset;
}

/* Of two pointers at one place, an end comes last. */
static int slot_comes_before(const void *a, const void *b)
{
    const haul__slot *x = &((const haul__made_slot *)a)->slot, *y = &((const haul__made_slot *)b)->slot;
    if (x->offset != y->offset)
        return x->offset < y->offset;
    return (x->flags & HAUL__SLOT_END) < (y->flags & HAUL__SLOT_END);
}

static int part_comes_before(const void *a, const void *b)
{
    return ((const haul__made_part *)a)->part.offset < ((const haul__made_part *)b)->part.offset;
}

static haul_status merge_runs(haul__scratch *s, const haul_type *type, haul_error *error)
{
    size_t i, kept = 0;
    haul__sort(s->runs, s->run_count, sizeof *s->runs, run_comes_before);
    for (i = 0; i < s->run_count; i++) {
        haul__run *last = kept > 0 ? &s->runs[kept - 1] : NULL;
        if (last && s->runs[i].offset < last->offset + last->bytes)
            return haul__wrong(error, type, NULL, "Two blocks overlap at offset %zu: one byte can travel once.",
                               s->runs[i].offset);
        if (last && s->runs[i].offset == last->offset + last->bytes)
            last->bytes += s->runs[i].bytes;
        else
            s->runs[kept++] = s->runs[i];
    }
    s->run_count = kept;
    return HAUL_OK;
}

/* An end that is another row's pointer, or another row's end, needs no slot of its own. */
static haul_status merge_slots(haul__scratch *s, const haul_type *type, haul_error *error)
{
    size_t i, kept = 0;
    haul__sort(s->slots, s->slot_count, sizeof *s->slots, slot_comes_before);
    for (i = 0; i < s->slot_count; i++) {
        const haul__slot *slot = &s->slots[i].slot, *last = kept > 0 ? &s->slots[kept - 1].slot : NULL;
        if (last && slot->offset == last->offset && (slot->flags & HAUL__SLOT_END))
            continue;
        if (last && slot->offset - last->offset < sizeof(void *))
            return haul__wrong(error, type, s->text + s->slots[i].name,
                               "The pointer at offset %zu overlaps pointer %s at offset %zu.", slot->offset,
                               s->text + s->slots[kept - 1].name, last->offset);
        s->slots[kept++] = s->slots[i];
    }
    s->slot_count = kept;
    return HAUL_OK;
}

static size_t lowest_bit(size_t n)
{
    return n & (~n + 1);
}

/* Slots that may lie off the grid in some element are marked. What the elements' own distance cannot keep is not
 * asked of their addresses. */
static haul_status settle_alignment(haul__scratch *s, haul_type *type, haul_error *error)
{
    size_t i, asked = type->is_aligned && type->alignment > s->alignment ? type->alignment : s->alignment;
    haul__walk *walk = &type->walk;
    int constructed = type->block_count > 0;
    for (i = 0; i < s->slot_count; i++) {
        haul__slot *slot = &s->slots[i].slot;
        int odd =
            (slot->flags & HAUL__SLOT_PACKED) || slot->offset % HAUL__GRID != 0 || type->bytes % HAUL__GRID != 0;
        slot->flags = (uint8_t)((slot->flags & ~HAUL__SLOT_ODD) | (odd ? HAUL__SLOT_ODD : 0));
        if (!odd && asked < HAUL__GRID)
            asked = HAUL__GRID;
    }
    walk->placement = asked > s->placement ? asked : s->placement;
    walk->alignment = asked;
    if (type->bytes % asked == 0)
        return HAUL_OK;
    if (!constructed)
        return haul__wrong(error, type, NULL,
                           "The size %zu is not a multiple of %zu, the alignment of an embedded field.", type->bytes,
                           asked);
    walk->alignment = lowest_bit(type->bytes);
    for (i = 0; i < s->part_count; i++)
        if (s->parts[i].part.type->walk.has_slots && s->parts[i].part.type->walk.alignment > walk->alignment)
            return haul__wrong(
                error, type, NULL,
                "The extent %zu keeps the pointers of %s off the grid: describe it with haul_type_create, "
                "with its padded sizeof.",
                type->bytes, s->parts[i].part.type->name);
    return HAUL_OK;
}

static void widen(haul__walk *walk, size_t lower, size_t upper)
{
    if (walk->payload == 0 || lower < walk->true_lower)
        walk->true_lower = lower;
    if (upper > walk->true_upper)
        walk->true_upper = upper;
}

/* More bytes than the span has places for are bytes that travel twice. */
static haul_status measure(const haul__scratch *s, haul_type *type, haul_error *error)
{
    haul__walk *walk = &type->walk;
    size_t i, bytes;
    for (i = 0; i < s->run_count; i++) {
        widen(walk, s->runs[i].offset, s->runs[i].offset + s->runs[i].bytes);
        walk->payload += s->runs[i].bytes;
    }
    type->pointers = s->slot_count;
    walk->has_slots = s->slot_count > 0;
    for (i = 0; i < s->part_count; i++) {
        const haul__part *part = &s->parts[i].part;
        const haul__walk *inner = &part->type->walk;
        size_t most;
        widen(walk, part->offset + inner->true_lower,
              part->offset + (part->count - 1) * part->stride + inner->true_upper);
        if (haul__multiply_overflows(part->count, inner->payload, &bytes) ||
            haul__add_overflows(walk->payload, bytes, &walk->payload))
            walk->payload = SIZE_MAX;
        if (haul__multiply_overflows(part->count, part->type->pointers, &most) ||
            haul__add_overflows(type->pointers, most, &type->pointers))
            type->pointers = SIZE_MAX;
        walk->has_slots |= inner->has_slots;
        if (part->type->part_depth + 1 > type->part_depth)
            type->part_depth = part->type->part_depth + 1;
    }
    if (walk->payload > walk->true_upper - walk->true_lower)
        return haul__wrong(error, type, NULL, "Blocks overlap: %zu bytes would travel from a span of %zu.",
                           walk->payload, walk->true_upper - walk->true_lower);
    if (type->part_depth > HAUL_EMBED_DEPTH_MAX) {
        haul__wrong(error, type, NULL, "Arrays of arrays are nested %zu deep: %u is the limit.", type->part_depth,
                    HAUL_EMBED_DEPTH_MAX);
        error->status = HAUL_ERROR_LIMIT;
        return HAUL_ERROR_LIMIT;
    }
    return HAUL_OK;
}

/* Slots, parts and runs are all multiples of the size_t's alignment, so they can stand behind each other. */
static haul_status copy_out(const haul__scratch *s, haul_type *type)
{
    haul__walk *walk = &type->walk;
    size_t slot_bytes = s->slot_count * sizeof(haul__slot), part_bytes = s->part_count * sizeof(haul__part);
    size_t run_bytes = s->run_count * sizeof(haul__run), i;
    size_t bytes = slot_bytes + part_bytes + run_bytes + s->text_bytes;
    char *memory = haul__allocate(&type->allocator, bytes, sizeof(void *)), *text;
    haul__slot *slots;
    haul__part *parts;
    if (bytes == 0)
        return HAUL_OK;
    if (!memory)
        return HAUL_ERROR_MEMORY;
    type->flat = memory;
    type->flat_bytes = bytes;
    text = memory + (bytes - s->text_bytes);
    if (s->text_bytes > 0)
        memcpy(text, s->text, s->text_bytes);
    slots = (haul__slot *)(void *)memory;
    for (i = 0; i < s->slot_count; i++) {
        slots[i] = s->slots[i].slot;
        slots[i].name = text + s->slots[i].name;
    }
    parts = (haul__part *)(void *)(memory + slot_bytes);
    for (i = 0; i < s->part_count; i++) {
        parts[i] = s->parts[i].part;
        parts[i].name = text + s->parts[i].name;
    }
    if (run_bytes > 0)
        memcpy(memory + slot_bytes + part_bytes, s->runs, run_bytes);
    walk->slots = slots;
    walk->parts = parts;
    walk->runs = (const haul__run *)(const void *)(memory + slot_bytes + part_bytes);
    walk->slot_count = s->slot_count;
    walk->part_count = s->part_count;
    walk->run_count = s->run_count;
    return HAUL_OK;
}

haul_status haul__seal(haul__scratch *s, haul_type *type, haul_error *error)
{
    haul__walk *walk = &type->walk;
    haul_status status = merge_runs(s, type, error);
    memset(walk, 0, sizeof *walk);
    type->part_depth = 0;
    walk->name = type->name;
    walk->extent = type->bytes;
    walk->span = type->lower + type->bytes > type->reach ? type->lower + type->bytes : type->reach;
    if (status == HAUL_OK)
        status = merge_slots(s, type, error);
    haul__sort(s->parts, s->part_count, sizeof *s->parts, part_comes_before);
    if (status == HAUL_OK)
        status = settle_alignment(s, type, error);
    if (status == HAUL_OK)
        status = measure(s, type, error);
    if (status == HAUL_OK)
        status = copy_out(s, type);
    walk->dense =
        s->run_count == 1 && s->part_count == 0 && s->runs[0].offset == 0 && s->runs[0].bytes == type->bytes;
    return status;
}

/* A nameless type of `type`'s own, sealed from the scratch, which is empty afterwards but for its alignment. */
haul_status haul__seal_inner(haul__scratch *s, haul_type *type, size_t bytes, haul_type **inner, haul_error *error)
{
    size_t alignment = s->alignment, placement = s->placement;
    haul_status status;
    haul_type *made = haul__type_make(&type->allocator, type->name, bytes, HAUL_COMBINER_STRUCT);
    if (!made)
        return HAUL_ERROR_MEMORY;
    made->sibling = type->inner;
    type->inner = made;
    made->group = type->group;
    made->committed = 1;
    status = haul__seal(s, made, error);
    made->walk.span = made->walk.true_upper; /* what is behind is room of the type around it */
    haul__scratch_clear(s);
    s->alignment = alignment;
    s->placement = placement;
    *inner = made;
    return status;
}

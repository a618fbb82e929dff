/* Sealing: the lists become the committed form of a type. They are sorted, merged, measured and
 * copied into one piece of memory.
 */
#include "base/sort.h"
#include "type/flat_seal.h"
#include "type/life.h"
#include "type/refuse.h"
#include "type/row.h"

static int run_comes_before(const void *a, const void *b)
{
    return ((const haul__run *)a)->offset < ((const haul__run *)b)->offset;
}

/* Two slots at one offset are the ends of two pairs. */
static int slot_comes_before(const void *a, const void *b)
{
    const haul__slot *x = &((const haul__made_slot *)a)->slot,
                     *y = &((const haul__made_slot *)b)->slot;
    if (x->offset != y->offset)
        return x->offset < y->offset;
    return x->self + x->index < y->self + y->index;
}

static int ruled_comes_before(const void *a, const void *b)
{
    const haul__slot *x = &((const haul__made_ruled *)a)->ruled.slot,
                     *y = &((const haul__made_ruled *)b)->ruled.slot;
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
    haul__sort(s->runs.at, s->runs.count, sizeof *s->runs.at, run_comes_before);
    for (i = 0; i < s->runs.count; i++) {
        haul__run *last = kept > 0 ? &s->runs.at[kept - 1] : NULL;
        if (last && s->runs.at[i].offset < last->offset + last->bytes)
            return haul__wrong(error, type, NULL,
                               "Two blocks overlap at offset %zu: one byte can travel once.",
                               s->runs.at[i].offset);
        if (last && s->runs.at[i].offset == last->offset + last->bytes)
            last->bytes += s->runs.at[i].bytes;
        else
            s->runs.at[kept++] = s->runs.at[i];
    }
    s->runs.count = kept;
    return HAUL_OK;
}

/* Adds the bytes of a run that are in no ruled row as new runs. `first`: the first ruled row that
 * can reach the run. */
static int put_rest(haul__scratch *s, haul__run run, size_t first)
{
    size_t at = run.offset, end = run.offset + run.bytes, i;
    for (i = first; i < s->ruled.count && s->ruled.at[i].ruled.slot.offset < end; i++) {
        const haul__ruled *ruled = &s->ruled.at[i].ruled;
        size_t ruled_end = ruled->slot.offset + ruled->bytes;
        if (ruled->slot.offset > at && !haul__put_new_run(s, at, ruled->slot.offset - at))
            return 0;
        if (ruled_end > at)
            at = ruled_end;
    }
    return at >= end || haul__put_new_run(s, at, end - at);
}

/* Takes the ruled rows' bytes out of all runs. */
static haul_status cut_runs(haul__scratch *s)
{
    size_t i, first = 0, count = s->runs.count;
    haul__sort(s->ruled.at, s->ruled.count, sizeof *s->ruled.at, ruled_comes_before);
    if (s->ruled.count == 0 || count == 0)
        return HAUL_OK;
    for (i = 0; i < count; i++) {
        haul__run run = s->runs.at[i];
        while (first < s->ruled.count &&
               s->ruled.at[first].ruled.slot.offset + s->ruled.at[first].ruled.bytes <= run.offset)
            first++;
        if (!put_rest(s, run, first))
            return HAUL_ERROR_MEMORY;
    }
    s->runs.count -= count;
    memmove(s->runs.at, s->runs.at + count, s->runs.count * sizeof *s->runs.at);
    return HAUL_OK;
}

/* The end pointer of a pair has no row, so only now can its overlap with a ruled row be seen. */
static haul_status check_apart(const haul__scratch *s, const haul_type *type, haul_error *error)
{
    size_t i, k, first = 0;
    for (i = 0; i < s->slots.count; i++) {
        size_t at = s->slots.at[i].slot.offset;
        while (first < s->ruled.count &&
               s->ruled.at[first].ruled.slot.offset + s->ruled.at[first].ruled.bytes <= at)
            first++;
        for (k = first;
             k < s->ruled.count && s->ruled.at[k].ruled.slot.offset < at + sizeof(void *); k++)
            if (s->ruled.at[k].ruled.slot.offset + s->ruled.at[k].ruled.bytes > at)
                return haul__wrong(
                    error, type, s->text.at + s->slots.at[i].name,
                    "The pointer at offset %zu overlaps field %s, which has optional members.", at,
                    s->text.at + s->ruled.at[k].name);
    }
    return HAUL_OK;
}

/* An end that is another row's pointer, or another pair's end, needs no slot of its own. Of several
 * ends at one offset the one with the lowest begin stays: an object that ends before that begin has
 * no other of these begins either. */
static haul_status merge_slots(haul__scratch *s, const haul_type *type, haul_error *error)
{
    size_t i, kept = 0;
    haul__sort(s->slots.at, s->slots.count, sizeof *s->slots.at, slot_comes_before);
    for (i = 0; i < s->slots.count; i++) {
        const haul__slot *slot = &s->slots.at[i].slot,
                         *last = kept > 0 ? &s->slots.at[kept - 1].slot : NULL;
        if (last && slot->offset == last->offset && (slot->flags & HAUL__SLOT_END))
            continue;
        if (last && slot->offset - last->offset < sizeof(void *))
            return haul__wrong(error, type, s->text.at + s->slots.at[i].name,
                               "The pointer at offset %zu overlaps pointer %s at offset %zu.",
                               slot->offset, s->text.at + s->slots.at[kept - 1].name, last->offset);
        s->slots.at[kept++] = s->slots.at[i];
    }
    s->slots.count = kept;
    return HAUL_OK;
}

/* Marks a slot that may lie off the grid in some element. */
static int mark_off_grid(const haul_type *type, haul__slot *slot)
{
    int off_grid = (slot->flags & HAUL__SLOT_PACKED) || slot->offset % HAUL__GRID != 0 ||
                   type->bytes % HAUL__GRID != 0;
    slot->flags =
        (uint8_t)((slot->flags & ~HAUL__SLOT_OFF_GRID) | (off_grid ? HAUL__SLOT_OFF_GRID : 0));
    return off_grid;
}

/* Finds the type's alignment, and checks that its size is a multiple. The extent of a constructed
 * type is the user's: such a type is aligned only as far as its extent allows. */
static haul_status find_alignment(haul__scratch *s, haul_type *type, haul_error *error)
{
    size_t i,
        asked = type->is_aligned && type->alignment > s->alignment ? type->alignment : s->alignment;
    haul__walk *walk = &type->walk;
    int constructed = type->block_count > 0;
    for (i = 0; i < s->slots.count; i++)
        if (mark_off_grid(type, &s->slots.at[i].slot))
            walk->is_off_grid = 1;
        else if (asked < HAUL__GRID)
            asked = HAUL__GRID;
    for (i = 0; i < s->ruled.count; i++)
        if (s->ruled.at[i].ruled.kind == HAUL__RULED_POINTER &&
            !mark_off_grid(type, &s->ruled.at[i].ruled.slot) && asked < HAUL__GRID)
            asked = HAUL__GRID;
    walk->placement = asked > s->placement ? asked : s->placement;
    walk->alignment = asked;
    if (type->bytes % asked == 0)
        return HAUL_OK;
    if (!constructed)
        return haul__wrong(
            error, type, NULL,
            "The size %zu is not a multiple of %zu, the alignment of an embedded field.",
            type->bytes, asked);
    walk->alignment = type->bytes & (~type->bytes + 1); /* its lowest bit */
    for (i = 0; i < s->parts.count; i++)
        if (s->parts.at[i].part.type->walk.has_slots &&
            s->parts.at[i].part.type->walk.alignment > walk->alignment)
            return haul__wrong(error, type, NULL,
                               "The extent %zu keeps the pointers of %s off the grid: "
                               "describe it with haul_type_create, "
                               "with its padded sizeof.",
                               type->bytes, s->parts.at[i].part.type->name);
    return HAUL_OK;
}

static void widen(haul__walk *walk, size_t lower, size_t upper)
{
    if (walk->payload == 0 || lower < walk->true_lower)
        walk->true_lower = lower;
    if (upper > walk->true_upper)
        walk->true_upper = upper;
}

/* Adds the ruled rows as if all of them held: each byte counts once. */
static void measure_ruled(const haul__scratch *s, haul_type *type)
{
    haul__walk *walk = &type->walk;
    size_t i, end = 0;
    for (i = 0; i < s->ruled.count; i++) {
        const haul__ruled *ruled = &s->ruled.at[i].ruled;
        size_t first = ruled->slot.offset > end ? ruled->slot.offset : end;
        size_t ruled_end = ruled->slot.offset + ruled->bytes;
        type->pointers += ruled->kind == HAUL__RULED_POINTER;
        walk->has_parts |= ruled->kind == HAUL__RULED_PART ||
                           (ruled->kind == HAUL__RULED_TAIL && ruled->slot.target);
        if (ruled->kind == HAUL__RULED_TAIL || ruled_end <= end)
            continue;
        if (ruled->rule->said.kind == HAUL_FIELD_SKIP && !ruled->rule->said.else_raw)
            continue;
        widen(walk, first, ruled_end);
        walk->payload += ruled_end - first;
        end = ruled_end;
    }
}

/* The numbers of the committed form. A payload larger than its span means that bytes would travel
 * twice. */
static haul_status measure(const haul__scratch *s, haul_type *type, haul_error *error)
{
    haul__walk *walk = &type->walk;
    size_t i, bytes;
    for (i = 0; i < s->runs.count; i++) {
        widen(walk, s->runs.at[i].offset, s->runs.at[i].offset + s->runs.at[i].bytes);
        walk->payload += s->runs.at[i].bytes;
    }
    type->pointers = s->slots.count;
    walk->ruled_count = s->ruled.count;
    walk->size = type->size;
    walk->has_slots = s->slots.count > 0 || s->ruled.count > 0 || haul__type_is_sized(type);
    walk->has_parts = s->parts.count > 0;
    walk->depends = type->depends;
    walk->rebuild = type->rebuild;
    walk->rebuild_user = type->rebuild_user;
    measure_ruled(s, type);
    for (i = 0; i < s->parts.count; i++) {
        const haul__part *part = &s->parts.at[i].part;
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
        return haul__wrong(error, type, NULL,
                           "Blocks overlap: %zu bytes would travel from a span of %zu.",
                           walk->payload, walk->true_upper - walk->true_lower);
    if (type->part_depth > HAUL_EMBED_DEPTH_MAX) {
        return haul__too_large(error, type, NULL,
                               "Arrays of arrays are nested %zu deep: %u is the limit.",
                               type->part_depth, HAUL_EMBED_DEPTH_MAX);
    }
    return HAUL_OK;
}

/* Each case of a ruled pointer has a slot of its own, with that case's type. */
static void copy_ruled(const haul__scratch *s, haul__ruled *ruled, haul__slot *cases,
                       const char *text)
{
    size_t i, k;
    for (i = 0; i < s->ruled.count; i++) {
        ruled[i] = s->ruled.at[i].ruled;
        ruled[i].slot.name = text + s->ruled.at[i].name;
        ruled[i].cases = cases;
        for (k = 0; k < haul__case_count(&ruled[i]); k++, cases++) {
            *cases = ruled[i].slot;
            cases->target = ruled[i].rule->types[k];
            cases->unit = cases->target ? cases->target->bytes : 0;
        }
    }
}

/* Copies the lists into one piece of memory: slots, parts, ruled rows, their cases, excluded
 * fields, runs, names. All sizes except the names' are multiples of size_t's alignment. */
static haul_status copy_out(const haul__scratch *s, haul_type *type)
{
    haul__walk *walk = &type->walk;
    size_t slot_bytes = s->slots.count * sizeof(haul__slot),
           part_bytes = s->parts.count * sizeof(haul__part);
    size_t run_bytes = s->runs.count * sizeof(haul__run),
           ruled_bytes = s->ruled.count * sizeof(haul__ruled);
    size_t excluded_bytes = s->excluded.count * sizeof(haul__excluded), case_bytes = 0, bytes, i;
    char *memory, *text;
    haul__slot *slots;
    haul__part *parts;
    haul__ruled *ruled;
    for (i = 0; i < s->ruled.count; i++)
        case_bytes += haul__case_count(&s->ruled.at[i].ruled) * sizeof(haul__slot);
    bytes = slot_bytes + part_bytes + ruled_bytes + case_bytes + excluded_bytes + run_bytes +
            s->text.count;
    if (bytes == 0)
        return HAUL_OK;
    memory = haul__allocate(&type->allocator, bytes, sizeof(void *));
    if (!memory)
        return HAUL_ERROR_MEMORY;
    type->flat = memory;
    type->flat_bytes = bytes;
    text = memory + (bytes - s->text.count);
    if (s->text.count > 0)
        memcpy(text, s->text.at, s->text.count);
    slots = (haul__slot *)(void *)memory;
    for (i = 0; i < s->slots.count; i++) {
        slots[i] = s->slots.at[i].slot;
        slots[i].name = text + s->slots.at[i].name;
    }
    parts = (haul__part *)(void *)(memory + slot_bytes);
    for (i = 0; i < s->parts.count; i++) {
        parts[i] = s->parts.at[i].part;
        parts[i].name = text + s->parts.at[i].name;
    }
    ruled = (haul__ruled *)(void *)(memory + slot_bytes + part_bytes);
    copy_ruled(s, ruled, (haul__slot *)(void *)(memory + slot_bytes + part_bytes + ruled_bytes),
               text);
    memory += slot_bytes + part_bytes + ruled_bytes + case_bytes;
    if (excluded_bytes > 0)
        memcpy(memory, s->excluded.at, excluded_bytes);
    walk->excluded = (const haul__excluded *)(const void *)memory;
    walk->excluded_count = s->excluded.count;
    memory += excluded_bytes;
    if (run_bytes > 0)
        memcpy(memory, s->runs.at, run_bytes);
    walk->slots = slots;
    walk->parts = parts;
    walk->ruled = ruled;
    walk->runs = (const haul__run *)(const void *)memory;
    walk->slot_count = s->slots.count;
    walk->part_count = s->parts.count;
    walk->run_count = s->runs.count;
    return HAUL_OK;
}

static uint64_t words_of(size_t offset, size_t bytes)
{
    size_t first = offset / sizeof(void *), count = bytes / sizeof(void *);
    return count ? UINT64_MAX >> (64 - count) << first : 0;
}

/* The masks of words of an element. 0: it has other things than whole words. */
static int find_words(const haul__scratch *s, const haul_type *type, haul__walk *walk)
{
    size_t i, rest = type->bytes % sizeof(void *);
    for (i = 0; i < s->runs.count; i++) {
        rest |= (s->runs.at[i].offset | s->runs.at[i].bytes) % sizeof(void *);
        walk->run_words |= words_of(s->runs.at[i].offset, s->runs.at[i].bytes);
    }
    for (i = 0; i < s->slots.count; i++) {
        rest |= s->slots.at[i].slot.offset % sizeof(void *);
        walk->slot_words |= words_of(s->slots.at[i].slot.offset, sizeof(void *));
    }
    return rest == 0;
}

static haul__walk_kind find_kind(const haul__scratch *s, const haul_type *type, haul__walk *walk)
{
    if (haul__type_is_sized(type))
        return HAUL__WALK_SIZED;
    if (s->ruled.count)
        return !walk->has_parts && type->bytes <= 64 * sizeof(void *) && find_words(s, type, walk)
                   ? HAUL__WALK_WORDS
                   : HAUL__WALK_RULED;
    if (s->runs.count != 1 || s->parts.count || s->runs.at[0].offset ||
        s->runs.at[0].bytes != type->bytes)
        return HAUL__WALK_LOOSE;
    return s->slots.count ? HAUL__WALK_DENSE : HAUL__WALK_PLAIN;
}

haul_status haul__seal(haul__scratch *s, haul_type *type, haul_error *error)
{
    haul__walk *walk = &type->walk;
    haul_status status = merge_runs(s, type, error);
    size_t i;
    memset(walk, 0, sizeof *walk);
    type->part_depth = 0;
    walk->name = type->name;
    walk->extent = type->bytes;
    walk->span = type->lower + type->bytes > type->reach ? type->lower + type->bytes : type->reach;
    if (status == HAUL_OK)
        status = cut_runs(s);
    if (status == HAUL_OK)
        status = merge_slots(s, type, error);
    if (status == HAUL_OK)
        status = check_apart(s, type, error);
    haul__sort(s->parts.at, s->parts.count, sizeof *s->parts.at, part_comes_before);
    if (status == HAUL_OK)
        status = find_alignment(s, type, error);
    if (status == HAUL_OK)
        status = measure(s, type, error);
    if (status == HAUL_OK)
        status = copy_out(s, type);
    walk->kind = find_kind(s, type, walk);
    for (i = 0; i < s->ruled.count; i++)
        walk->with_parent |=
            s->ruled.at[i].ruled.rule && haul__asks_parent(s->ruled.at[i].ruled.rule);
    walk->is_wide = walk->with_parent;
    return status;
}

haul_status haul__seal_inner(haul__scratch *s, haul_type *type, size_t bytes, haul_type **inner,
                             haul_error *error)
{
    static const haul__home none = { NULL, NULL, NULL, NULL };
    size_t alignment = s->alignment, placement = s->placement;
    haul_status status;
    haul_type *made =
        haul__type_make(&none, &type->allocator, type->name, bytes, HAUL_COMBINER_STRUCT);
    if (!made)
        return HAUL_ERROR_MEMORY;
    made->sibling = type->inner;
    type->inner = made;
    made->group = type->group;
    made->committed = 1;
    status = haul__seal(s, made, error);
    made->walk.span = made->walk.true_upper; /* the bytes behind belong to the type around it */
    haul__scratch_clear(s);
    s->alignment = alignment;
    s->placement = placement;
    *inner = made;
    return status;
}

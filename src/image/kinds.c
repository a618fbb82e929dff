/* The kinds of objects and arrays that an image can hold, worked out from its types before any of
 * its bytes is looked at.
 *
 * A type is known if each of its pointers is an ordinary one, counted by fields of its struct, by a
 * constant or by a zero byte, or has rules that the scan knows (arms.c). Whatever has functions,
 * parts or skipped directions is not: then the walk checks the graph (haul__validate). So this file
 * may leave out what it likes.
 */
#include "image/arms.h"

#define LIST_MOST ((size_t)4096)     /* of one element; so the lists of a kind stay small */
#define BYTES_MOST ((size_t)1 << 16) /* of an element with pointers or gaps */
#define ROWS_MOST ((size_t)1 << 18)  /* of types that are judged, some of them often */

/* ---- The list. */

static int is_same(const haul__kind *a, const haul__kind *b)
{
    return a->of == b->of && a->type == b->type && a->slot == b->slot && a->level == b->level;
}

/* The code of a kind, which is added if it is new. Once they are too many, all that is new is
 * unknown. */
static haul_status add_kind(haul__kinds *kinds, const haul__kind *kind, uint8_t *code)
{
    haul__kind *added;
    size_t i = 0;
    while (i < kinds->list.count && !is_same(&kinds->list.at[i], kind))
        i++;
    *code = HAUL__CODE_FREE;
    if (i == HAUL__CODES - HAUL__CODE_FIRST - 1)
        return HAUL_OK;
    *code = (uint8_t)(HAUL__CODE_FIRST + i);
    if (i < kinds->list.count)
        return HAUL_OK;
    added = HAUL__LIST_ADD(kinds->allocator, &kinds->list);
    if (!added)
        return HAUL_ERROR_MEMORY;
    *added = *kind;
    return HAUL_OK;
}

/* ---- Types that are known. */

static int is_known_type(const haul_type *type, size_t most)
{
    const haul__walk *walk = haul__type_walk(type);
    const size_t bytes = walk->extent; /* in an image, skipped bytes have room too */
    size_t i;
    if (!haul__arms_are_known(type) || haul__is_noted(walk) || walk->part_count ||
        walk->true_lower != 0 || walk->span > walk->extent)
        return 0;
    if (bytes > most || walk->slot_count > LIST_MOST || walk->run_count > LIST_MOST)
        return 0;
    if (bytes > BYTES_MOST && walk->kind != HAUL__WALK_PLAIN)
        return 0;
    for (i = 0; i < walk->slot_count; i++)
        if (walk->slots[i].flags & ~HAUL__SLOT_EACH) /* one off the grid in some element, too */
            return 0;
    return 1;
}

/* A type that is listed is known. Others are judged anew each time; once that has taken long, all
 * that is new is unknown. */
static int is_known(haul__kinds *kinds, const haul_type *type)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t i;
    for (i = 0; i < kinds->list.count; i++)
        if (kinds->list.at[i].type == type)
            return 1;
    kinds->judged += 1 + walk->slot_count + walk->ruled_count;
    return kinds->judged <= ROWS_MOST && is_known_type(type, kinds->most);
}

static haul_status code_of_objects(haul__kinds *kinds, const haul_type *type, int is_array,
                                   uint8_t *code)
{
    haul__kind kind;
    *code = HAUL__CODE_FREE;
    if (!is_known(kinds, type))
        return HAUL_OK;
    memset(&kind, 0, sizeof kind);
    kind.type = type;
    kind.of = is_array && haul__type_walk(type)->extent % HAUL__GRANULE ? HAUL__KIND_ARRAY
                                                                        : HAUL__KIND_OBJECT;
    return add_kind(kinds, &kind, code);
}

/* ---- Pointers. */

/* Is it a number of this struct? Where a type that was cut is embedded, its numbers may lie behind
 * it: in the struct's pointers, or behind the struct. */
static int has_number(const haul__walk *walk, size_t offset, size_t bytes)
{
    return haul__fits(offset, bytes, walk->true_upper) && !haul__has_slot_at(walk, offset, bytes);
}

/* Can the scan count by this shape? `walk`: of the struct that it reads, NULL: it must read none.
 */
static int is_known_shape(const haul__slot *slot, unsigned level, const haul__walk *walk)
{
    const haul_count *shape = &slot->shape[level];
    unsigned i;
    if (shape->kind == HAUL_COUNT_KIND_ONE)
        return 1;
    if (shape->kind == HAUL_COUNT_KIND_TERMINATED)
        return level + 1u == slot->levels && slot->unit == 1 && (shape->plus & 255) == 0;
    for (i = 0; i < shape->fields; i++)
        if (!walk || !has_number(walk, slot->self + shape->field[i].offset, shape->field[i].bytes))
            return 0;
    return shape->kind == HAUL_COUNT_KIND_PRODUCT;
}

/* A link that has its slot. */
static haul_status make_link(haul__kinds *kinds, unsigned level, const haul__walk *walk,
                             haul__link *link)
{
    const haul__slot *slot = link->slot;
    const int is_one = slot->shape[level].kind == HAUL_COUNT_KIND_ONE;
    const int is_last = level + 1u == slot->levels;
    const haul_type *target = is_last ? slot->target : NULL;
    haul_status status;
    haul__kind kind;
    link->offset = walk ? slot->offset : 0;
    link->level = (uint8_t)level;
    link->is_known = (uint8_t)is_known_shape(slot, level, walk);
    link->is_one = is_one && target;
    if (target)
        return code_of_objects(kinds, target, !is_one, &link->code);
    memset(&kind, 0, sizeof kind);
    kind.of = is_last ? HAUL__KIND_PLAIN : HAUL__KIND_POINTERS;
    kind.slot = is_last ? NULL : slot;
    kind.level = is_last ? 0 : level + 1;
    status = add_kind(kinds, &kind, &link->code);
    link->is_text = link->is_known && slot->shape[level].kind == HAUL_COUNT_KIND_TERMINATED &&
                    link->code != HAUL__CODE_FREE;
    return status;
}

static haul_status make_links(haul__kinds *kinds, size_t number)
{
    const haul__kind *kind = &kinds->list.at[number];
    const haul__walk *walk = haul__type_walk(kind->type);
    const haul__slot *slots = kind->type ? walk->slots : kind->slot;
    const unsigned level = kind->level;
    const size_t count = kind->type ? walk->slot_count : kind->of == HAUL__KIND_POINTERS;
    const size_t room = count + (kind->type ? haul__arm_link_count(walk) : 0);
    haul_status status = HAUL_OK;
    haul__link *links;
    size_t i;
    if (room == 0)
        return HAUL_OK;
    links = haul__allocate_zeroed(kinds->allocator, room * sizeof *links);
    kinds->list.at[number].links = links;
    kinds->list.at[number].link_count = count;
    kinds->list.at[number].link_room = room;
    if (!links)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < count; i++)
        links[i].slot = &slots[i];
    if (room > count)
        haul__arm_slots(walk, links + count);
    for (i = 0; i < room && status == HAUL_OK; i++) /* may move the list */
        status = make_link(kinds, level, walk, &links[i]);
    return status;
}

/* ---- Elements. */

static haul_status make_pointers(haul__kinds *kinds, haul__kind *kind, size_t bytes)
{
    size_t i;
    if (kind->link_room == 0)
        return HAUL_OK;
    kind->pointer_words = (bytes / HAUL__WORD + 63) / 64;
    kind->pointers =
        haul__allocate_zeroed(kinds->allocator, kind->pointer_words * sizeof *kind->pointers);
    if (!kind->pointers)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < kind->link_count; i++) {
        const size_t word = kind->links[i].offset / HAUL__WORD;
        kind->pointers[word / 64] |= (uint64_t)1 << word % 64;
    }
    return HAUL_OK;
}

static void add_gap(haul__kind *kind, size_t from, size_t to)
{
    if (from >= to)
        return;
    kind->gaps[kind->gap_count].offset = from;
    kind->gaps[kind->gap_count++].bytes = to - from;
}

/* The bytes between the runs, which are sorted. Pointers lie in runs. */
static haul_status make_gaps(haul__kinds *kinds, haul__kind *kind, const haul__walk *walk,
                             size_t bytes)
{
    size_t i, end = 0;
    kind->gap_room = walk->run_count + 1;
    kind->gaps =
        haul__allocate(kinds->allocator, kind->gap_room * sizeof *kind->gaps, sizeof(size_t));
    if (!kind->gaps)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < walk->run_count; i++) {
        add_gap(kind, end, walk->runs[i].offset);
        end = walk->runs[i].offset + walk->runs[i].bytes;
    }
    add_gap(kind, end, bytes);
    return HAUL_OK;
}

static haul_status make_element(haul__kinds *kinds, haul__kind *kind)
{
    const haul__walk *walk = haul__type_walk(kind->type);
    size_t bytes;
    haul_status status;
    kind->alignment = walk ? walk->alignment : 1;
    if (!walk)
        return HAUL_OK;
    kind->stride = walk->extent;
    kind->granules = (walk->extent + HAUL__GRANULE - 1) / HAUL__GRANULE;
    bytes = kind->of == HAUL__KIND_ARRAY ? kind->stride : kind->granules * HAUL__GRANULE;
    status = make_pointers(kinds, kind, bytes);
    if (status != HAUL_OK)
        return status;
    return haul__is_ruled(walk) ? haul__arms_make(kinds->allocator, kind)
                                : make_gaps(kinds, kind, walk, bytes);
}

/* The codes of kinds begin with that of the second one if the first needs none. */
static void spare_a_code(haul__kinds *kinds, const haul_root *roots, size_t count)
{
    size_t i, k;
    if (count != 1 || roots[0].count != 1 || kinds->list.count == 0)
        return;
    for (i = 0; i < kinds->list.count; i++)
        for (k = 0; k < kinds->list.at[i].link_room; k++)
            if (kinds->list.at[i].links[k].code == HAUL__CODE_FIRST)
                return;
    kinds->first = HAUL__CODE_FREE;
    for (i = 0; i < kinds->list.count; i++)
        for (k = 0; k < kinds->list.at[i].link_room; k++)
            if (kinds->list.at[i].links[k].code != HAUL__CODE_FREE)
                kinds->list.at[i].links[k].code--;
}

/* One object as a target, when the width of codes is known. */
static void make_one(const haul__kinds *kinds, haul__kind *kind, unsigned code)
{
    const size_t bytes = kind->granules * HAUL__GRANULE;
    kind->one.misaligned = UINTPTR_MAX;
    if (kind->of != HAUL__KIND_OBJECT || bytes + HAUL__GRANULE > kinds->most)
        return;
    if (kind->granules && 2 * kind->granules <= 64 && kind->granules * kinds->width <= 64)
        kind->mask = UINT64_MAX >> (64 - kind->granules * kinds->width);
    kind->one.code = code;
    kind->one.misaligned = (kind->alignment - 1) | (HAUL__GRANULE - 1);
    kind->one.room = kinds->most - bytes - HAUL__GRANULE;
}

/* May borrowed pointers lead to objects of this kind? The walk looks for the last range that begins
 * before the address, and may have to look at many where single objects lie in arrays of theirs. It
 * asks for a byte that travels. */
static int can_lend(const haul__kind *kind)
{
    return kind->owners != (HAUL__LED_BY_ONE | HAUL__LED_BY_COUNT) &&
           (!kind->arms || (kind->arms->live[0] & 1));
}

static void link_to_ones(const haul__kinds *kinds, const haul__kind *kind)
{
    size_t i;
    for (i = 0; i < kind->link_room; i++) {
        haul__link *link = &kind->links[i];
        const haul__kind *target =
            link->code == HAUL__CODE_FREE ? NULL : haul__kind_by_code(kinds, link->code);
        if (target && link->is_one && (!link->is_borrowed || can_lend(target)))
            link->one = target->one;
        else
            link->one.misaligned = UINTPTR_MAX;
    }
}

/* A root that is the only one, and one object, comes before all arrays: they do not overlap it. */
static void list_owners(haul__kinds *kinds, const haul_root *roots, size_t count)
{
    size_t i, k;
    for (i = 0; i < kinds->list.count; i++)
        for (k = 0; k < kinds->list.at[i].link_room; k++) {
            const haul__link *link = &kinds->list.at[i].links[k];
            if (link->code == HAUL__CODE_FREE)
                continue;
            kinds->list.at[link->code - kinds->first].is_told |= link->is_told;
            if (link->is_borrowed)
                kinds->list.at[link->code - kinds->first].is_lent = kinds->list.at[i].borrows = 1;
            else
                kinds->list.at[link->code - kinds->first].owners |=
                    link->is_one ? HAUL__LED_BY_ONE : HAUL__LED_BY_COUNT;
        }
    for (i = 0; i < count; i++)
        for (k = 0; k < kinds->list.count; k++)
            if (kinds->list.at[k].type == roots[i].type && count + roots[i].count > 2)
                kinds->list.at[k].owners |=
                    roots[i].count == 1 ? HAUL__LED_BY_ONE : HAUL__LED_BY_COUNT;
}

/* A granule of no array needs no code to go on: where there are no arrays, codes are narrower. */
static void choose_codes(haul__kinds *kinds)
{
    unsigned highest = kinds->first + (unsigned)kinds->list.count - 1;
    size_t i = 0;
    while (i < kinds->list.count && kinds->list.at[i].of == HAUL__KIND_OBJECT)
        i++;
    if (i < kinds->list.count)
        kinds->inside = ++highest;
    kinds->width = 1;
    while (highest >> kinds->width)
        kinds->width *= 2;
    kinds->shift = HAUL__GRANULE_SHIFT - haul__lowest32(kinds->width);
}

/* ---- All of them. */

haul_status haul__kinds_open(haul__kinds *kinds, const haul_allocator *allocator,
                             const haul_root *roots, size_t count, size_t most)
{
    haul_status status = HAUL_OK;
    uint8_t code;
    size_t i;
    memset(kinds, 0, sizeof *kinds);
    kinds->allocator = allocator;
    kinds->most = most;
    kinds->first = HAUL__CODE_FIRST;
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = code_of_objects(kinds, roots[i].type, roots[i].count > 1, &code);
    for (i = 0; i < kinds->list.count && status == HAUL_OK; i++)
        status = make_links(kinds, i);
    for (i = 0; i < kinds->list.count && status == HAUL_OK; i++)
        status = make_element(kinds, &kinds->list.at[i]);
    if (status != HAUL_OK)
        return status;
    spare_a_code(kinds, roots, count);
    choose_codes(kinds);
    for (i = 0; i < kinds->list.count; i++)
        make_one(kinds, &kinds->list.at[i], kinds->first + (unsigned)i);
    list_owners(kinds, roots, count);
    for (i = 0; i < kinds->list.count; i++)
        link_to_ones(kinds, &kinds->list.at[i]);
    return HAUL_OK;
}

void haul__kinds_close(haul__kinds *kinds)
{
    size_t i;
    for (i = 0; i < kinds->list.count; i++) {
        const haul__kind *kind = &kinds->list.at[i];
        haul__release(kinds->allocator, kind->links, kind->link_room * sizeof *kind->links);
        haul__release(kinds->allocator, kind->pointers,
                      kind->pointer_words * sizeof *kind->pointers);
        haul__release(kinds->allocator, kind->gaps, kind->gap_room * sizeof *kind->gaps);
        haul__arms_release(kinds->allocator, kind->arms);
    }
    HAUL__LIST_RELEASE(kinds->allocator, &kinds->list);
}

uint8_t haul__kinds_of_root(const haul__kinds *kinds, const haul_root *root)
{
    const int is_array = root->count > 1 && haul__type_walk(root->type)->extent % HAUL__GRANULE;
    const haul__kind_of of = is_array ? HAUL__KIND_ARRAY : HAUL__KIND_OBJECT;
    size_t i;
    for (i = 0; i < kinds->list.count; i++)
        if (kinds->list.at[i].of == of && kinds->list.at[i].type == root->type)
            return (uint8_t)(kinds->first + i);
    return HAUL__CODE_FREE;
}

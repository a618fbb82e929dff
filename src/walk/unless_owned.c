/* Pointers that are owners only if no other field owns their target: HAUL_UNLESS_OWNED.
 *
 * They wait until all that owners reach has been marked. One whose target is marked to the last
 * byte is then borrowed; any other becomes an owner, and is followed. What new owners reach may
 * hold more such pointers, so there are rounds:
 *
 *     owners | 1: decide about all that wait, then follow the new owners | 2: ... | none waits
 *
 * A round decides about all of its pointers before it follows one. So neither the order of the walk
 * nor the addresses that the heap gave matter: two pointers to parts of one array that nobody owns
 * are both owners, and the array travels as far as the two reach. In each round a pointer is
 * decided for good, because marks stay; so there are as many rounds as there are such pointers on
 * the longest path, and each pointer is looked at once.
 *
 * Pointers to plain bytes wait until no other pointer does. So one to the numbers within objects is
 * borrowed even if the objects' own pointer has waited, too.
 */
#include "walk/unless_owned.h"
#include "map/mark.h"
#include "type/elements.h"
#include "walk/extent.h"
#include "walk/follow.h"
#include "walk/hints.h"
#include "walk/log_order.h"
#include "walk/mark_elements.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/news.h"
#include "walk/ruled.h"
#include "walk/visit.h"

/* Its place becomes the visited one. `one` must stay while the pointer is used. */
static haul__pointer pointer_of(haul__discovery *d, const haul__waiting *one)
{
    haul__pointer p;
    d->root = one->root;
    d->at_entry = one->entry;
    d->at_element = one->element;
    d->visited = one->visited;
    p.slot = one->word.slot;
    p.level = 0;
    p.place = one->word.at;
    p.value = one->word.start;
    p.self = one->self;
    p.index = one->index;
    p.line = 0;
    p.by_rule = 1;
    p.nearest = one->nearest;
    p.ancestor = &one->ancestor;
    return p;
}

/* The target, as the entry that it would have. */
static haul__entry entry_of(const haul__pointer *p, size_t count)
{
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.address = p->value;
    entry.count = count;
    entry.stride = haul__unit_of(p->slot, p->level);
    entry.slot = p->slot;
    entry.self = p->self;
    entry.level = (uint8_t)p->level;
    entry.ancestor = *p->ancestor;
    return entry;
}

/* ---- Is every byte of the target live? */

/* An object with a size of its own, which becomes *bytes. A wrong size is left for the visit. */
static haul_status is_sized_covered(haul__discovery *d, const haul__entry *entry,
                                    const haul__walk *walk, size_t *bytes, int *is)
{
    haul__object o = haul__object_of(entry, walk, 0, HAUL__DRY);
    haul_status status;
    *is = entry->count == 1 &&
          haul__are_live(d->map, entry->address, entry->address + haul__head_bytes(walk), 0);
    if (!*is)
        return HAUL_OK;
    status = haul__find_size(d, &o, entry->slot);
    *is = status == HAUL_OK && o.bytes > 0 && o.bytes <= HAUL__HIGHEST - entry->address &&
          haul__are_live(d->map, entry->address, entry->address + o.bytes, 0);
    *bytes = o.bytes;
    return status == HAUL_ERROR_MEMORY ? status : HAUL_OK;
}

/* A row that does not hold is a hole. So holes will do in rows with rules, if anything else of the
 * element is live: it may lie in another object's hole as a whole. */
static int is_element_covered(const haul__map *map, const haul__walk *walk, uintptr_t at)
{
    int has_live = walk->run_count > 0 || walk->ruled_count == 0;
    size_t i;
    for (i = 0; i < walk->run_count; i++)
        if (!haul__are_live(map, at + walk->runs[i].offset,
                            at + walk->runs[i].offset + walk->runs[i].bytes, 0))
            return 0;
    for (i = 0; i < walk->ruled_count; i++) {
        const uintptr_t first = at + walk->ruled[i].slot.offset, end = first + walk->ruled[i].bytes;
        if (!haul__are_live(map, first, end, 1))
            return 0;
        has_live = has_live || haul__are_live(map, first, end, 0);
    }
    return has_live;
}

static int are_elements_covered(const haul__discovery *d, const haul__entry *entry,
                                const haul__walk *walk)
{
    haul__flat flat;
    size_t at;
    if (!haul__are_live(d->map, entry->address, haul__end_of_runs(entry, walk), 1))
        return 0; /* the copy need not keep the distances */
    haul__flat_begin(&flat, walk, entry->address, entry->count, entry->stride);
    while (haul__flat_next(&flat, &walk, &at))
        if (!is_element_covered(d->map, walk, at))
            return 0;
    return 1;
}

/* *bytes: those of an element. */
static haul_status is_covered(haul__discovery *d, const haul__pointer *p, size_t count,
                              size_t *bytes, int *is)
{
    const haul_type *target = haul__is_last_level(p) ? p->slot->target : NULL;
    const haul__walk *walk = target ? haul__type_walk(target) : NULL;
    const haul__entry entry = entry_of(p, count);
    size_t whole;
    *is = 0;
    *bytes = walk ? walk->span : entry.stride;
    if (count == 0 || haul__multiply_overflows(count, entry.stride, &whole) ||
        p->value > HAUL__HIGHEST || whole > HAUL__HIGHEST - p->value)
        return HAUL_OK; /* errors are left for the visit */
    if (walk && haul__is_sized(walk))
        return is_sized_covered(d, &entry, walk, bytes, is);
    if (whole >= HAUL__MEMO_BYTES &&
        haul__memo_has(d, HAUL__MEMO_COVERED, p->value, whole, target)) {
        *is = 1;
        return HAUL_OK;
    }
    *is = !walk || (haul__is_dense(walk) && entry.stride == walk->extent)
              ? haul__are_live(d->map, p->value, p->value + whole, 0)
              : are_elements_covered(d, &entry, walk);
    return *is && whole >= HAUL__MEMO_BYTES
               ? haul__memo_add(d, HAUL__MEMO_COVERED, p->value, whole, target)
               : HAUL_OK;
}

/* ---- Rounds. */

/* Its count joins the read set, whether it is borrowed or not: another count may decide otherwise.
 * A walk that makes no plan follows each. */
static haul_status decide(haul__discovery *d, haul__waiting *one)
{
    const haul__pointer p = pointer_of(d, one);
    haul_status status = haul__count_of(d, &p, HAUL__EXACT, &one->count);
    int is = 0;
    if (status == HAUL_OK && !d->passing &&
        (one->count != HAUL__KNOWN || p.slot->shape[0].kind != HAUL_COUNT_KIND_TERMINATED))
        status = is_covered(d, &p, one->count, &one->bytes, &is);
    one->is_borrowed = is;
    return status;
}

/* All that a target asks for, except its marks: a place that suits its alignment, an ordered arena
 * that keeps it in one piece, and its terminator. */
static haul_status borrow(haul__discovery *d, const haul__pointer *p, size_t count, size_t bytes)
{
    const haul_type *target = haul__is_last_level(p) ? p->slot->target : NULL;
    const haul__walk *walk = target ? haul__type_walk(target) : NULL;
    const size_t alignment = walk ? walk->alignment : haul__is_last_level(p) ? 1 : HAUL__WORD;
    haul__entry entry = entry_of(p, count);
    uintptr_t end = 0;
    size_t i;
    haul_status status = haul__check_extent(d, &entry, bytes, alignment, &end);
    if (status == HAUL_OK && walk)
        status = haul__met_type_of(d, target, &entry.met_type);
    entry.what = walk ? HAUL__OBJECTS : HAUL__PLAIN;
    if (status == HAUL_OK && d->order_log)
        status = haul__log_range(d, &entry, end, alignment, 0);
    for (i = 0; walk && walk->placement > HAUL__GRANULE && i < count && status == HAUL_OK; i++)
        if (!haul__mark_placement(d->map, p->value + i * entry.stride, walk->placement))
            status = HAUL_ERROR_MEMORY;
    if (status == HAUL_OK && !walk && haul__is_last_level(p) &&
        p->slot->shape[0].kind == HAUL_COUNT_KIND_TERMINATED)
        status = haul__note_terminator(d, &entry, 0);
    return status != HAUL_OK || haul__hint_entry(d, &entry) ? status : HAUL_ERROR_MEMORY;
}

/* Callbacks get the root that an object was reached from, so all that one root reaches is visited
 * before the next root's pointers are followed. */
static haul_status decide_round(haul__discovery *d, int which)
{
    const size_t first = d->waiting[which].done, end = d->waiting[which].list.count;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = first; i < end && status == HAUL_OK; i++) {
        status = decide(d, &d->waiting[which].list.at[i]);
        if (status == HAUL_OK)
            status = haul__news(d);
    }
    for (i = first; i < end && status == HAUL_OK; i++) {
        const haul__waiting one = d->waiting[which].list.at[i]; /* the list may grow */
        haul__pointer p;
        if (one.root != d->root)
            status = haul__visit_all(d);
        p = pointer_of(d, &one);
        if (status == HAUL_OK && one.is_borrowed)
            status = borrow(d, &p, one.count, one.bytes);
        if (status == HAUL_OK)
            status = haul__visit_decided(d, one.ruled, &one.word, &p, one.count, !one.is_borrowed);
        if (status == HAUL_OK)
            status = haul__news(d);
    }
    d->waiting[which].done = end;
    return status == HAUL_OK ? haul__visit_all(d) : status;
}

haul_status haul__decide_waiting(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    int has_more = 1;
    while (status == HAUL_OK && has_more) {
        const int which = d->waiting[0].done == d->waiting[0].list.count;
        has_more = d->waiting[which].done < d->waiting[which].list.count;
        if (has_more)
            status = decide_round(d, which);
    }
    return status;
}

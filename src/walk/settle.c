/* Settling candidates: pointers to single objects, whose cells have been fetched, are marked in
 * line, and new objects go to the worklist (mark_inline.h says why it is fast).
 *
 * Candidates that cannot be marked in line go the general way. In order, they are marked one by
 * one.
 */
#include "walk/follow.h"
#include "walk/hints.h"
#include "walk/leftover.h"
#include "walk/log_order.h"
#include "walk/mark_inline.h"

/* Errors get their path in the second run. */
HAUL__NOINLINE haul_status haul__reach_one(haul__discovery *d, uintptr_t address, uint32_t number)
{
    const haul_status status =
        HAUL__UNLIKELY(d->has_shared) ? haul__check_leftover(d, address, number) : HAUL_OK;
    haul__entry entry;
    if (status != HAUL_OK)
        return status;
    memset(&entry, 0, sizeof entry);
    entry.address = address;
    entry.count = 1;
    entry.met_type = number;
    entry.stride = d->met_types[entry.met_type].walk->extent;
    entry.parent = SIZE_MAX;
    entry.what = HAUL__OBJECTS;
    return haul__reach(d, &entry);
}

/* An object that was marked before is logged, too, unless its block has the form of its type: its
 * start then says that a range which is logged already holds it as a whole. */
HAUL__HOT static haul_status settle_in_order(haul__discovery *d, haul__candidates *c)
{
    const uintptr_t *flat = d->map->flat;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < c->near_count && status == HAUL_OK; i++) {
        const uintptr_t address = HAUL__ENTRY_ADDRESS(c->near[i]);
        const uint32_t number = HAUL__ENTRY_TYPE(c->near[i]);
        const haul__met_type *met = &d->met_types[number];
        const int fresh = haul__start_in_cell(address) < haul__near_starts(met)
                              ? haul__mark_near(flat, address, met)
                              : haul__mark_over(flat, address, met);
        haul__reached range = met->demands;
        range.first = address;
        range.end = address + met->simple.bytes;
        if (HAUL__UNLIKELY(fresh < 0)) {
            status = haul__reach_one(d, address, number);
        } else if (fresh) {
            status = haul__log_new(d, &range);
            if (status == HAUL_OK && !haul__queue_push(d, address, number, 1))
                status = HAUL_ERROR_MEMORY;
        } else {
            const uintptr_t form = flat[address >> HAUL__BLOCK_SHIFT] & HAUL__FORM_MASK;
            if (HAUL__UNLIKELY(met->logs_known || (form != met->form && form != met->ragged.form)))
                status = haul__log_known(d, &range);
        }
    }
    c->near_count = c->over_count = 0;
    return status;
}

/* ---- In line. */

/* Makes room in the queue for all candidates. 0: out of memory. */
HAUL__INLINE int has_room(haul__discovery *d)
{
    return HAUL__LIKELY(d->tail->capacity - d->tail->written > 2 * HAUL__CANDIDATES) ||
           haul__queue_room(d);
}

/* Marks candidates in line, and appends the new ones to the queue or to their buckets. `only`:
 * NULL, or the type of all of them, in memory that no other pointer can reach, so that its members
 * stay in registers. */
HAUL__INLINE haul_status settle_all(haul__discovery *d, const uint64_t *candidate, size_t count,
                                    int to_buckets, const haul__met_type *only,
                                    int (*mark)(const uintptr_t *, uintptr_t,
                                                const haul__met_type *))
{
    const uintptr_t *flat = d->map->flat;
    const haul__met_type *types = d->met_types;
    haul__bucket *const buckets = d->buckets;
    uint64_t *out = d->tail->entry + d->tail->written;
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t entry = candidate[i];
        int fresh =
            mark(flat, HAUL__ENTRY_ADDRESS(entry), only ? only : &types[HAUL__ENTRY_TYPE(entry)]);
        if (HAUL__UNLIKELY(fresh < 0)) {
            haul_status status;
            d->tail->written = (size_t)(out - d->tail->entry);
            status = haul__reach_one(d, HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_TYPE(entry));
            if (status != HAUL_OK)
                return status;
            if (!has_room(d))
                return HAUL_ERROR_MEMORY;
            types = d->met_types;
            out = d->tail->entry + d->tail->written;
        } else if (to_buckets) {
            haul__bucket *bucket = haul__bucket_of(buckets, entry);
            if (HAUL__UNLIKELY(bucket->out == bucket->end) && !haul__bucket_room(d, bucket))
                return HAUL_ERROR_MEMORY;
            *bucket->out = entry;
            bucket->out += fresh;
        } else {
            *out = entry;
            out += fresh;
        }
    }
    d->tail->written = (size_t)(out - d->tail->entry);
    return HAUL_OK;
}

HAUL__INLINE haul_status settle_both(haul__discovery *d, haul__candidates *c, int to_buckets,
                                     const haul__met_type *only)
{
    haul_status status = settle_all(d, c->near, c->near_count, to_buckets, only, haul__mark_near);
    if (status == HAUL_OK)
        status = settle_all(d, c->over, c->over_count, to_buckets, only, haul__mark_over);
    return status;
}

HAUL__INLINE haul_status settle_uniform(haul__discovery *d, haul__candidates *c)
{
    const haul__met_type only = d->met_types[HAUL__ENTRY_TYPE(c->tag)];
    return d->is_spread ? settle_both(d, c, 1, &only) : settle_both(d, c, 0, &only);
}

HAUL__HOT static haul_status settle(haul__discovery *d, haul__candidates *c)
{
    haul_status status;
    if (HAUL__UNLIKELY(d->in_order))
        return settle_in_order(d, c);
    status = has_room(d) ? HAUL_OK : HAUL_ERROR_MEMORY;
    if (status != HAUL_OK)
        return status;
    if (c->tag != HAUL__NOT_UNIFORM)
        status = settle_uniform(d, c);
    else
        status = d->is_spread ? settle_both(d, c, 1, NULL) : settle_both(d, c, 0, NULL);
    c->near_count = c->over_count = 0;
    return status;
}

/* ---- Hints. */

/* Bits that are fetched before the first of them is set. */
#define NAMED_AHEAD 8u

typedef struct namings {
    size_t count;
    haul__naming at[NAMED_AHEAD];
} namings;

static void set_bits(namings *n)
{
    size_t i;
    for (i = 0; i < n->count; i++)
        haul__do_naming(&n->at[i]);
    n->count = 0;
}

/* Keeps the candidates of types that hints name. No branch: which they are cannot be guessed. */
HAUL__INLINE size_t keep_hinted(const haul__discovery *d, const uint64_t *candidate, size_t count,
                                uint64_t *kept)
{
    size_t i, n = 0;
    for (i = 0; i < count; i++) {
        kept[n] = candidate[i];
        n += d->met_types[HAUL__ENTRY_TYPE(candidate[i])].hint != 0;
    }
    return n;
}

/* Finds the bits that name what candidates lead to, and fetches them. Most are left to be set; some
 * are set at once. 0: out of memory. */
static int fetch_bits(const haul__discovery *d, const uint64_t *candidate, size_t count, namings *n)
{
    uint64_t kept[HAUL__CANDIDATES];
    const size_t hinted = keep_hinted(d, candidate, count, kept);
    size_t i;
    for (i = 0; i < hinted; i++) {
        const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(kept[i])];
        const uintptr_t first = HAUL__ENTRY_ADDRESS(kept[i]);
        const size_t bytes = met->simple.bytes;
        if (n->count == NAMED_AHEAD)
            set_bits(n);
        if (haul__fetch_naming(d->named, met->hint - 1, first, bytes, &n->at[n->count]))
            n->count++;
        else if (!haul__hint_bytes(d->named, met->hint - 1, first, first + bytes))
            return 0;
    }
    return 1;
}

/* The bits come while candidates are marked. */
static HAUL__NOINLINE haul_status settle_and_name(haul__discovery *d, haul__candidates *c)
{
    namings n;
    haul_status status;
    n.count = 0;
    if (!fetch_bits(d, c->near, c->near_count, &n) || !fetch_bits(d, c->over, c->over_count, &n))
        return HAUL_ERROR_MEMORY;
    status = settle(d, c);
    set_bits(&n);
    return status;
}

/* Of a function with clones, a shared library exports the name, so that one is static. */
haul_status haul__settle(haul__discovery *d, haul__candidates *c)
{
    if (HAUL__LIKELY(!d->named) ||
        (c->tag != HAUL__NOT_UNIFORM && !d->met_types[HAUL__ENTRY_TYPE(c->tag)].hint))
        return settle(d, c);
    return settle_and_name(d, c);
}

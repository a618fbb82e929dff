/* The loop of discovery: marks everything that the roots reach.
 *
 * The slow obvious version: take an object off the worklist; for each of its pointers, if the
 * target is not marked, mark it and put it on the worklist. The code does the same. What makes it
 * fast:
 *
 *   - An object is marked when it is found, not when it is visited. Marking has no branch that a
 *     predictor could not guess (mark_inline.h).
 *   - The worklist is first in, first out, so the objects of later entries are fetched into the
 *     cache now. If many entries wait, neighbours are visited together (worklist.c). A pointer does
 *     not need its cell at once: the cell is fetched, and the pointer waits until
 *     HAUL__POINTERS_AHEAD pointers are collected (Cher et al. 2004). So no load waits for memory
 *     as long as there is other work.
 *   - If there is no other work, as in a list, the one object found is visited at once (chase). A
 *     walk that follows an earlier one fetches a list's objects ahead (retrace.c).
 *   - Everything else (arrays, strings, unusual sizes, overlaps) takes the general way in follow.c;
 *     a graph without it pays nothing for it.
 *
 * `found` counts an object when it is visited, or when it is marked if nothing in it need be
 * visited. An array counts once.
 */
#include "walk/visit.h"
#include "walk/chase_order.h"
#include "walk/exclude.h"
#include "walk/follow.h"
#include "walk/hints.h"
#include "walk/leftover.h"
#include "walk/mark_inline.h"
#include "walk/news.h"
#include "walk/paths.h"
#include "walk/plain_arrays.h"
#include "walk/retrace.h"
#include "walk/ruled.h"
#include "walk/share.h"

#define FETCH_GROUP 8u /* objects fetched together */

/* Fetches a few objects in a row. Most of them miss the translation buffer too. A prefetch holds up
 * the instructions behind it until its page is found. So several stand in a row: the processor
 * looks up several pages at once. Arrays and strings that are fetched in between push objects out
 * of the first-level cache, so objects that lead to such come into the second level, too. */
HAUL__INLINE void prefetch_nodes(const haul__discovery *d, const haul__chunk *chunk, size_t read)
{
    const haul__met_type *next = &d->met_types[HAUL__ENTRY_TYPE(chunk->entry[read])];
    const uint32_t plain = next->plain;
    size_t first = read + next->ahead, last = first + FETCH_GROUP, i;
    if (last > chunk->written)
        last = chunk->written;
    for (i = first; i < last; i++) {
        const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(chunk->entry[i])];
        const uintptr_t address = HAUL__ENTRY_ADDRESS(chunk->entry[i]);
        if (HAUL__LIKELY(plain)) {
            haul__prefetch_once(address + met->first_byte);
            haul__prefetch_once(address + met->last_byte);
        } else {
            haul__prefetch(address + met->first_byte);
            haul__prefetch(address + met->last_byte);
        }
    }
}

/* The same for whole groups behind objects of one type. Most are of that type too; others are
 * fetched in vain, for their type makes another address of the sum. */
HAUL__INLINE void prefetch_alike(const haul__met_type *met, const haul__chunk *chunk, size_t read)
{
    const uint64_t type = haul__type_bits(chunk->entry[read]);
    const uint64_t first_byte = met->first_byte - type, last_byte = met->last_byte - type;
    const uint64_t *entry = chunk->entry + read + met->ahead;
    size_t i;
    for (i = 0; i < FETCH_GROUP; i++) {
        haul__prefetch_once((uintptr_t)(entry[i] + first_byte));
        haul__prefetch_once((uintptr_t)(entry[i] + last_byte));
    }
}

/* Marks the target of one pointer in line. Negative: take the general way. */
HAUL__INLINE int mark_one(const haul__discovery *d, uintptr_t value, const haul__edge *edge)
{
    const haul__met_type *met = &d->met_types[edge->tag >> 48];
    if (HAUL__TOO_HIGH(value))
        return -1;
    if (haul__start_in_cell(value) < edge->near_starts)
        return haul__mark_near(d->map->flat, value, met);
    return haul__mark_over(d->map->flat, value, met);
}

/* 0: out of memory. */
static HAUL__NOINLINE int name_one(const haul__discovery *d, uintptr_t value,
                                   const haul__edge *edge)
{
    const haul__met_type *met = &d->met_types[edge->tag >> 48];
    return HAUL__TOO_HIGH(value) ||
           haul__hint_range(d, met->hint, value, value + met->simple.bytes);
}

/* Follows the pointers of the only object left. Its first new target becomes *next; others go to
 * the worklist. */
HAUL__INLINE haul_status chase_one(haul__discovery *d, uint64_t entry, uint64_t *next)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
    const haul__edge *edge = met->edges, *end = edge + met->edge_count;
    for (; edge < end; edge++) {
        uintptr_t value =
            haul__load_word((const void *)(HAUL__ENTRY_ADDRESS(entry) + edge->offset));
        int fresh;
        if (!value)
            continue;
        fresh = mark_one(d, value, edge);
        if (HAUL__UNLIKELY(d->named != NULL) && !name_one(d, value, edge))
            return HAUL_ERROR_MEMORY;
        if (HAUL__UNLIKELY(fresh < 0)) {
            haul_status status = haul__reach_one(d, value, (uint32_t)(edge->tag >> 48));
            if (status != HAUL_OK)
                return status;
        } else if (fresh && !*next) {
            *next = value | edge->tag;
        } else if (fresh && !haul__queue_push(d, value, HAUL__ENTRY_TYPE(edge->tag), 1)) {
            return HAUL_ERROR_MEMORY;
        }
    }
    return HAUL_OK;
}

#define CHASE_NEAR 4u /* objects between the visit and the fetch into the first-level cache */
#define CHASE_FAR 40u /* and into the second-level cache */

/* Follows a list within a ragged block of its type, as long as the next object is new: all that its
 * marks need stays in registers. Answers the last object. */
HAUL__INLINE uintptr_t chase_in_block(const uintptr_t *flat, uintptr_t at, size_t offset,
                                      const haul__ragged ragged, size_t *objects, size_t limit)
{
    const uintptr_t entry = flat[at >> HAUL__BLOCK_SHIFT];
    const uintptr_t first = haul__block_address(haul__block_number(at)) + ragged.reach * HAUL__WORD;
    haul__cell *const cells = haul__block_in(entry)->cells;
    if ((entry & HAUL__FORM_MASK) != ragged.form)
        return at;
    for (; *objects < limit; ++*objects) {
        const uintptr_t next = haul__load_word((const void *)(at + offset)), from = next - first;
        /* The first word of its window. The rotation makes it larger than any word of the block if
         * the object lies elsewhere, or between two words. */
        const uintptr_t window =
            from >> HAUL__WORD_SHIFT | from << (8 * sizeof from - HAUL__WORD_SHIFT);
        const uintptr_t word = window + ragged.reach;
        uint64_t around;
        if (window >= ragged.inside)
            break;
        around = haul__load_cell(&cells[window / 64]) >> (window % 64);
        around |= (haul__load_cell(&cells[(word + ragged.reach) / 64]) << 1) << (63 - window % 64);
        if ((around & ragged.window) != 0)
            break;
        haul__store_cell(&cells[word / 64],
                         haul__load_cell(&cells[word / 64]) | (uint64_t)1 << (word % 64));
        /* In heap order the objects behind it lie as far apart. Only a list that stays in one block
         * is worth the guess. */
        haul__prefetch(next + (next - at) * CHASE_NEAR);
        haul__prefetch_early(next + (next - at) * CHASE_FAR);
        at = next;
    }
    return at;
}

/* Follows the commonest list, objects of one type with one pointer each, as long as the next object
 * is new. Answers the last object, as an entry. */
HAUL__INLINE uint64_t chase_list(haul__discovery *d, uint64_t entry, size_t limit)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
    const haul__edge *edge = met->edges;
    const uintptr_t *const flat = d->map->flat;
    const size_t offset = edge ? edge->offset : 0;
    uintptr_t at = HAUL__ENTRY_ADDRESS(entry), next;
    size_t objects = d->found->objects;
    if (!edge || met->edge_count != 1 || met->hint ||
        edge->tag != (entry & ~(uint64_t)HAUL__HIGHEST))
        return entry;
    for (; objects < limit; objects++, at = next) {
        next = haul__load_word((const void *)(at + offset));
        if (!next || HAUL__TOO_HIGH(next))
            break;
        if (haul__start_in_cell(next) < edge->near_starts) {
            if (haul__mark_near(flat, next, met) != HAUL__FRESH)
                break;
            if (HAUL__IS_FAR(at, next))
                haul__retrace(d, next, met, objects);
        } else {
            if (haul__mark_over(flat, next, met) != HAUL__FRESH)
                break;
            if (HAUL__IS_FAR(at, next))
                haul__retrace(d, next, met, objects);
            next = chase_in_block(flat, next, offset, met->ragged, &objects, limit);
        }
    }
    d->found->objects = objects;
    return (uint64_t)at | edge->tag;
}

/* Follows a list: as long as the worklist is empty, the object found stays in a register. Here, "is
 * it new" is a branch: the answer is nearly always yes, so the processor fetches the next object
 * before the cell of this one has come. */
HAUL__HOT static haul_status chase(haul__discovery *d, uint64_t entry)
{
    const size_t most = d->context->options.max_objects, written = d->tail->written,
                 before = d->found->objects, next_look = before + HAUL__NEWS_OBJECTS,
                 limit = d->news.is_wanted && next_look < most ? next_look : most;
    entry = chase_list(d, entry, limit);
    haul__news_count(d, d->found->objects - before, HAUL__ENTRY_TYPE(entry));
    while (d->found->objects < limit) {
        uint64_t next = 0;
        haul_status status;
        d->found->objects++;
        haul__news_count(d, 1, HAUL__ENTRY_TYPE(entry));
        status = chase_one(d, entry, &next);
        if (status != HAUL_OK || !next)
            return status == HAUL_OK ? haul__news(d) : status;
        if (HAUL__IS_FAR(HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_ADDRESS(next)))
            haul__retrace(d, HAUL__ENTRY_ADDRESS(next), &d->met_types[HAUL__ENTRY_TYPE(next)],
                          d->found->objects);
        entry = next;
        if (d->head != d->tail || d->tail->written != written ||
            !d->met_types[HAUL__ENTRY_TYPE(entry)].plain)
            break;
    }
    return haul__queue_push(d, HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_TYPE(entry), 1)
               ? haul__news(d)
               : HAUL_ERROR_MEMORY;
}

/* ---- Objects of one type, with pointers to objects of one type only: constants stay in
 * registers. */

HAUL__INLINE haul_status visit_alike(haul__discovery *d, haul__candidates *c, const uint64_t *entry,
                                     size_t entries, const haul__met_type *met, size_t pointers)
{
    const uintptr_t *flat = d->map->flat;
    const haul__edge *edge = met->edges;
    const uint64_t tag = met->uniform;
    const uint32_t near_starts = edge->near_starts;
    haul__candidates own = *c; /* nothing else can reach it: its counts stay in registers */
    haul_status status = HAUL_OK;
    uint64_t offset[HAUL__EDGES]; /* from the entry, without the number of its type */
    size_t i, at;
    for (at = 0; at < pointers; at++)
        offset[at] = edge[at].offset - haul__type_bits(entry[0]);
    for (i = 0; i < entries && status == HAUL_OK; i++) {
        for (at = 0; at < pointers; at++) {
            const uintptr_t value =
                haul__load_word((const void *)(uintptr_t)(entry[i] + offset[at]));
            if (!HAUL__TOO_HIGH(value))
                haul__collect(&own, flat, value, tag, near_starts);
            else if (status = haul__reach_one(d, value, (uint32_t)(tag >> 48)), status != HAUL_OK)
                return status;
        }
        if (haul__are_many(&own)) {
            *c = own;
            status = haul__settle(d, c);
            own = *c;
        }
    }
    *c = own;
    return status;
}

HAUL__INLINE haul_status visit_uniform(haul__discovery *d, haul__candidates *c,
                                       const uint64_t *entry, size_t entries)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry[0])];
    haul_status status = HAUL_OK;
    if (c->tag != met->uniform)
        status = haul__settle(d, c);
    if (status != HAUL_OK)
        return status;
    met = &d->met_types[HAUL__ENTRY_TYPE(entry[0])];
    c->tag = met->uniform;
    d->found->objects += entries;
    switch (met->edge_count) {
    case 1:
        return visit_alike(d, c, entry, entries, met, 1);
    case 2:
        return visit_alike(d, c, entry, entries, met, 2);
    case 4:
        return visit_alike(d, c, entry, entries, met, 4);
    default:
        return visit_alike(d, c, entry, entries, met, met->edge_count);
    }
}

/* Is one of the next FETCH_GROUP entries a wide one? */
static int has_wide(const uint64_t *entry)
{
    size_t i = 0;
    while (i < FETCH_GROUP && entry[i] != 0)
        i++;
    return i < FETCH_GROUP;
}

/* Are the next FETCH_GROUP entries such objects? One more must follow, so that none of them is
 * alone. */
HAUL__INLINE int is_uniform(const haul__discovery *d, const haul__chunk *chunk, size_t read)
{
    const uint64_t *entry = chunk->entry + read;
    uint64_t differ = 0;
    size_t i;
    if (chunk->written - read <= FETCH_GROUP ||
        d->met_types[HAUL__ENTRY_TYPE(entry[0])].uniform == HAUL__NOT_UNIFORM)
        return 0;
    for (i = 1; i < FETCH_GROUP; i++)
        differ |= entry[i] ^ entry[0];
    return HAUL__ENTRY_TYPE(differ) == 0 && !(HAUL__UNLIKELY(d->in_order) && has_wide(entry));
}

/* ---- The worklist. */

static haul_status check_limits(haul__discovery *d)
{
    const haul_context_options *limits = &d->context->options;
    if (HAUL__UNLIKELY(d->wants_aims))
        return HAUL_ERROR_STATE;
    if (d->retracing.has_failed)
        return HAUL_ERROR_MEMORY;
    if (d->found->objects > limits->max_objects)
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL, "more than the limit of %zu objects",
                            limits->max_objects);
    if (d->found->bytes > limits->max_bytes)
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL, "more than the limit of %zu bytes",
                            limits->max_bytes);
    return haul__news(d);
}

/* In order, all that a former object leads to is marked before anything of another kind is. An
 * entry of 0 stands for the next wide one. */
static HAUL__NOINLINE haul_status visit_in_order(haul__discovery *d, haul__candidates *c,
                                                 uint64_t entry)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
    haul__entry wide;
    haul_status status = HAUL_OK;
    if (met->edges && entry) {
        if (d->pending_count && met->has_ones)
            status = haul__mark_pending(d);
        d->found->objects++;
        return status == HAUL_OK
                   ? haul__visit_simple(d, c, HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_TYPE(entry))
                   : status;
    }
    status = haul__settle(d, c);
    if (status == HAUL_OK)
        status = haul__mark_pending(d);
    if (status != HAUL_OK)
        return status;
    if (entry) {
        d->found->objects++;
        return haul__visit_apart(d, c, HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_TYPE(entry));
    }
    wide = d->entries.at[d->entry_read++];
    if (d->entry_read == d->entries.count)
        d->entry_read = d->entries.count = 0;
    return haul__visit_entry(d, &wide);
}

static haul_status visit_general(haul__discovery *d, haul__candidates *c, uint64_t entry)
{
    const haul_status status =
        haul__visit_apart(d, c, HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_TYPE(entry));
    return status == HAUL_OK ? haul__news(d) : status;
}

/* Visits the entries of the head chunk, until all are read and no candidate waits. */
HAUL__HOT static haul_status drain_chunk(haul__discovery *d)
{
    haul__chunk *chunk = d->head;
    size_t read = chunk->read;
    haul_status status = HAUL_OK;
    uint64_t near[HAUL__CANDIDATES], over[HAUL__CANDIDATES];
    haul__candidates c = { near, over, 0, 0, HAUL__NOT_UNIFORM };
    while (status == HAUL_OK && (read < chunk->written || d->pending_count)) {
        uint64_t entry;
        const haul__met_type *met;
        if (read == chunk->written) { /* pending arrays of pointers may add objects */
            status = haul__mark_pending(d);
            continue;
        }
        entry = chunk->entry[read];
        met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
        /* its edges are not known yet, or it has rules */
        if (HAUL__UNLIKELY(!met->edges && !met->is_brief)) {
            status = haul__met_type_edges(d, HAUL__ENTRY_TYPE(entry));
            if (status != HAUL_OK)
                break;
            met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
        }
        if (read % FETCH_GROUP == 0) {
            const int alike = is_uniform(d, chunk, read);
            if (alike && read + met->ahead + FETCH_GROUP <= chunk->written)
                prefetch_alike(met, chunk, read);
            else
                prefetch_nodes(d, chunk, read);
            if (alike) {
                status = visit_uniform(d, &c, chunk->entry + read, FETCH_GROUP);
                read += FETCH_GROUP;
                continue;
            }
        }
        read++;
        c.tag = HAUL__NOT_UNIFORM;
        if (HAUL__UNLIKELY(d->in_order)) {
            if (read == chunk->written && haul__is_list(d, &c, entry))
                status = haul__chase_in_order(d, &entry);
            if (status == HAUL_OK)
                status = visit_in_order(d, &c, entry);
        } else if (HAUL__UNLIKELY(d->head == d->tail && !d->is_spread && read == chunk->written &&
                                  c.near_count + c.over_count == 0 && met->plain)) {
            /* this entry is the only one left */
            status = HAUL__UNLIKELY(d->wants_aims) ? HAUL_ERROR_STATE : chase(d, entry);
        } else if (met->stops) {
            status = haul__visit_or_stop(d, entry, d->head == d->tail && read == chunk->written);
        } else {
            d->found->objects++;
            if (HAUL__LIKELY(met->edges != NULL && !met->is_brief))
                status =
                    haul__visit_simple(d, &c, HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_TYPE(entry));
            else
                status = visit_general(d, &c, entry);
        }
        if (status == HAUL_OK && (haul__are_many(&c) || read == chunk->written))
            status = haul__settle(d, &c);
    }
    if (read > chunk->read)
        haul__news_count(d, read - chunk->read, HAUL__ENTRY_TYPE(chunk->entry[read - 1]));
    chunk->read = read;
    return status == HAUL_OK ? check_limits(d) : status;
}

/* Drains the queue, chunk by chunk, then the buckets, then the fetch queue, until none of them has
 * anything left. */
static haul_status drain_queue(haul__discovery *d)
{
    haul_status status;
    int has_more = 1;
    do {
        status = HAUL__UNLIKELY(d->wants_aims)               ? HAUL_ERROR_STATE
                 : HAUL__UNLIKELY(haul__is_worth_sharing(d)) ? haul__share_walk(d)
                                                             : HAUL_OK;
        if (status == HAUL_OK)
            status = drain_chunk(d);
        if (status != HAUL_OK)
            return status;
        if (d->head != d->tail)
            haul__queue_advance(d);
        else if (d->is_spread && haul__buckets_next(d))
            continue;
        else if (d->fetching_count)
            status = haul__fetch_drain(d);
        else
            has_more = 0;
    } while (status == HAUL_OK && has_more);
    if (status == HAUL_OK)
        d->head->read = d->head->written = 0;
    return status == HAUL_OK && d->has_shared ? haul__end_leftovers(d) : status;
}

/* The next wide entry: the last one found or, in a recording run, whose entries stay, the first one
 * not yet visited. */
static int next_entry(haul__discovery *d, haul__entry *entry)
{
    if (d->recording) {
        if (d->entry_read == d->entries.count)
            return 0;
        if (d->entries.count - d->entry_read > HAUL__AHEAD_LEAST)
            haul__prefetch(d->entries.at[d->entry_read + HAUL__AHEAD_LEAST].address);
        d->at_entry = d->entry_read;
        *entry = d->entries.at[d->entry_read++];
        return 1;
    }
    if (d->entries.count == 0)
        return 0;
    *entry = d->entries.at[--d->entries.count];
    return 1;
}

haul_status haul__visit_all(haul__discovery *d)
{
    haul_status status = drain_queue(d);
    haul__entry entry;
    while (status == HAUL_OK && next_entry(d, &entry)) {
        status = haul__visit_entry(d, &entry);
        if (HAUL__UNLIKELY(d->passing != NULL))
            status = haul__pass_over(d, status);
        if (status == HAUL_OK)
            status = drain_queue(d);
        if (status == HAUL_OK)
            status = check_limits(d);
    }
    return status == HAUL_OK ? haul__exclude_waiting(d) : status;
}

haul_status haul__follow_roots(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    for (d->root = 0; d->root < d->root_count && status == HAUL_OK; d->root++) {
        const haul_root *root = &d->roots[d->root];
        haul__entry entry;
        memset(&entry, 0, sizeof entry);
        entry.address = (uintptr_t)root->address;
        entry.count = root->count;
        entry.parent = SIZE_MAX;
        entry.index = d->root;
        entry.what = HAUL__OBJECTS;
        status = haul__met_type_of(d, root->type, &entry.met_type);
        if (status != HAUL_OK)
            break;
        entry.stride = d->met_types[entry.met_type].walk->extent;
        d->at_entry = SIZE_MAX;
        d->at_element = 0;
        status = haul__reach(d, &entry);
        if (status == HAUL_OK)
            status = haul__visit_all(d);
        if (status != HAUL_OK)
            break;
    }
    return status;
}

/* Marking in line: single objects of simple types, the bulk of any large graph.
 *
 * "Was it marked before" is one comparison of bits in the one cell that an object lies in. Neither
 * that, nor "does it reach into the next cell", nor "is the pointer null" is a branch: no predictor
 * could guess them, and each wrong guess would stop the processor from running ahead to the next
 * cache misses. So pointers are first collected as candidates, while their cells are fetched; later
 * they are settled, some at a time. Every candidate is stored, and the end of its array then
 * advances by 0 or 1.
 */
#ifndef HAUL_WALK_MARK_INLINE_H
#define HAUL_WALK_MARK_INLINE_H

#include "walk/may_stop.h"
#include "walk/met_types.h"
#include "walk/plain_arrays.h"
#include "walk/visit_edge.h"
#include "walk/worklist.h"

/* Pointers that were read and whose cells are being fetched, as worklist entries: to objects in one
 * cell, and to objects across two cells, which take longer. */
typedef struct haul__candidates {
    uint64_t *near, *over; /* arrays of HAUL__CANDIDATES */
    size_t near_count, over_count;
    uint64_t tag; /* of all of them; HAUL__NOT_UNIFORM: they differ */
} haul__candidates;

#define HAUL__CANDIDATES (HAUL__POINTERS_AHEAD + HAUL__EDGES)

#define HAUL__ENTRY_ADDRESS(entry) ((uintptr_t)((entry)&UINT64_C(0x0000ffffffffffff)))
#define HAUL__ENTRY_TYPE(entry) ((uint32_t)((entry) >> 48))

/* The number of its type alone, where an entry has it. */
HAUL__INLINE uint64_t haul__type_bits(uint64_t entry)
{
    return entry & ~UINT64_C(0x0000ffffffffffff);
}

/* The number of the granule, in its cell, that starts at this address; larger than any number if
 * none does. */
HAUL__INLINE uint32_t haul__start_in_cell(uintptr_t address)
{
    uint32_t in_cell = (uint32_t)address & (uint32_t)(HAUL__CELL_BYTES - 1);
    return in_cell >> HAUL__GRANULE_SHIFT | in_cell << (32 - HAUL__GRANULE_SHIFT);
}

/* The answers of in-line marking: take the general way; all of the object was marked before, with
 * the same slots; the object is new. No branch decides between the last two. */
enum { HAUL__APART = -1, HAUL__KNOWN_BEFORE = 0, HAUL__FRESH = 1 };

/* mark_inline.c: the same in blocks that are not uniform blocks of the type, and for objects longer
 * than a cell. */
int haul__mark_near_apart(uintptr_t entry, uintptr_t address, const haul__met_type *met);
int haul__mark_over_apart(haul__block *block, haul__block *next_block, uintptr_t address,
                          const haul__met_type *met);
int haul__mark_past_cell(const uintptr_t *flat, uintptr_t address, const haul__met_type *met);
int haul__mark_ragged_apart(const uintptr_t *flat, uintptr_t address, const haul__met_type *met);

/* Marks an object that lies in one cell. In a uniform block, its start and its granules are set. */
HAUL__INLINE int haul__mark_near(const uintptr_t *flat, uintptr_t address,
                                 const haul__met_type *met)
{
    const uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    const unsigned granule = haul__granule_in_cell(address);
    const uint64_t wanted = met->mark << granule;
    haul__cell *cell;
    uint64_t marks, found, known;
    if (HAUL__UNLIKELY((entry & HAUL__FORM_MASK) != met->form))
        return haul__mark_near_apart(entry, address, met);
    cell = haul__cell_of(haul__block_in(entry), address);
    marks = haul__load_cell(cell);
    found = marks & wanted;
    known = (uint64_t)0 - (uint64_t)(found != 0);
    if (HAUL__UNLIKELY(((found ^ wanted) & known) != 0))
        return HAUL__APART;
    marks |= wanted;
    haul__store_cell(cell, marks);
    return (int)(known + 1);
}

/* Marks an object that need not begin or end with a granule, in a ragged block. The starts around
 * its own lie in one cell or two; if in one, the bits that the second load adds lie above the
 * window. */
HAUL__INLINE int haul__mark_ragged(const uintptr_t *flat, uintptr_t address,
                                   const haul__met_type *met)
{
    const uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    const uint32_t reach = met->ragged.reach, word = haul__word_in_block(address),
                   first = word - reach;
    const uint64_t start = (uint64_t)1 << (word % 64);
    haul__cell *cells;
    uint64_t around;
    if (HAUL__UNLIKELY((entry & HAUL__FORM_MASK) != met->ragged.form ||
                       first >= met->ragged.inside || (address & (HAUL__WORD - 1)) != 0))
        return haul__mark_ragged_apart(flat, address, met);
    cells = haul__block_in(entry)->cells;
    around = haul__load_cell(&cells[first / 64]) >> (first % 64);
    around |= (haul__load_cell(&cells[(word + reach) / 64]) << 1) << (63 - first % 64);
    around &= met->ragged.window;
    if (HAUL__UNLIKELY((around & ~((uint64_t)1 << reach)) != 0))
        return HAUL__APART;
    haul__store_cell(&cells[word / 64], haul__load_cell(&cells[word / 64]) | start);
    return around == 0;
}

/* Marks an object that reaches into the next cell, or is ragged or long. */
HAUL__INLINE int haul__mark_over(const uintptr_t *flat, uintptr_t address,
                                 const haul__met_type *met)
{
    const unsigned granule = haul__granule_in_cell(address);
    const uint32_t start = (uint32_t)1 << granule;
    uintptr_t entry, next_entry, end;
    haul__cell *cell, *next;
    uint32_t low, high, known, odd;
    if (met->simple.words || HAUL__UNLIKELY((address & (HAUL__GRANULE - 1)) != 0))
        return haul__mark_ragged(flat, address, met);
    end = address + met->simple.bytes;
    entry = flat[address >> HAUL__BLOCK_SHIFT];
    next_entry = flat[end >> HAUL__BLOCK_SHIFT];
    if (HAUL__UNLIKELY(met->simple.bytes > HAUL__CELL_BYTES))
        return haul__mark_past_cell(flat, address, met);
    if (!(entry & next_entry & 1u) || granule == 0)
        return HAUL__APART;
    if (HAUL__UNLIKELY((entry & HAUL__FORM_MASK) != met->form ||
                       (next_entry & HAUL__FORM_MASK) != met->form))
        return haul__mark_over_apart(haul__block_in(entry), haul__block_in(next_entry), address,
                                     met);
    cell = haul__cell_of(haul__block_in(entry), address);
    next = haul__cell_of(haul__block_in(next_entry), end);
    low = met->simple.granules << granule;
    high = met->simple.granules >> (32 - granule);
    known = (uint32_t)0 - (uint32_t)(((cell->live & low) | (next->live & high)) != 0);
    odd = ((cell->live & low) ^ low) | ((next->live & high) ^ high) | (~cell->aux & start);
    if (HAUL__UNLIKELY((odd & known) != 0))
        return HAUL__APART;
    cell->live |= low;
    cell->aux |= start;
    next->live |= high;
    if (HAUL__UNLIKELY(entry != next_entry))
        haul__block_in(next_entry)->carry = 32 - granule;
    return known == 0;
}

/* settle.c: marks the one object at `address` the general way. */
haul_status haul__reach_one(haul__discovery *d, uintptr_t address, uint32_t number);
/* settle.c: marks candidates, and puts new objects on the worklist. In order, they are marked one
 * by one, as their pointers were read, and new objects are logged. */
haul_status haul__settle(haul__discovery *d, haul__candidates *c);

/* Fetches the cell of a pointer that was read, and adds the pointer to the candidates, if it is
 * `there`. It is written to both arrays and counted in one, so there is no branch here either.
 * Prefetches never fault, so neither the pointer nor the block need be valid. */
HAUL__INLINE void haul__collect_if(haul__candidates *c, const uintptr_t *flat, uintptr_t value,
                                   uint64_t tag, uint32_t near_starts, size_t there)
{
    const uintptr_t entry = flat[value >> HAUL__BLOCK_SHIFT];
    const size_t near = (haul__start_in_cell(value) < near_starts) & there;
    haul__prefetch_write(haul__cell_place(entry, value));
    c->near[c->near_count] = c->over[c->over_count] = value | tag;
    c->near_count += near;
    c->over_count += there - near;
}

HAUL__INLINE void haul__collect(haul__candidates *c, const uintptr_t *flat, uintptr_t value,
                                uint64_t tag, uint32_t near_starts)
{
    haul__collect_if(c, flat, value, tag, near_starts, value != 0);
}

#define HAUL__TOO_HIGH(value) HAUL__UNLIKELY((value) > HAUL__HIGHEST - HAUL__SIMPLE_BYTES)

/* Pointers that are collected without a look at anything else: at most HAUL__EDGES, for which
 * candidates have room, and HAUL__NEWS_ELEMENTS. */
#define HAUL__ROW ((size_t)16)

/* Collects up to HAUL__ROW pointers from `first` on. Each leads to an object of the type in
 * c->tag. */
HAUL__INLINE haul_status haul__collect_row(haul__discovery *d, haul__candidates *c, uintptr_t first,
                                           size_t count)
{
    const uintptr_t *const flat = d->map->flat;
    const uint64_t tag = c->tag;
    const uint32_t near_starts = haul__near_for(d, &d->met_types[HAUL__ENTRY_TYPE(tag)]);
    haul__candidates own = *c; /* nothing else can reach it: its counts stay in registers */
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < count && i < HAUL__ROW; i++) {
        const uintptr_t value = haul__load_word((const void *)(first + i * HAUL__WORD));
        if (!HAUL__TOO_HIGH(value))
            haul__collect(&own, flat, value, tag, near_starts);
        else if (status = haul__reach_one(d, value, HAUL__ENTRY_TYPE(tag)), status != HAUL_OK)
            return status;
    }
    *c = own;
    return HAUL_OK;
}

HAUL__INLINE int haul__are_many(const haul__candidates *c)
{
    return c->near_count + c->over_count >= HAUL__POINTERS_AHEAD;
}

/* Follows a pointer that is no candidate. In order, the candidates before it are marked first, and
 * it is marked before further ones. */
HAUL__INLINE haul_status haul__visit_beside(haul__discovery *d, haul__candidates *c,
                                            uintptr_t element, uint32_t number,
                                            const haul__edge *edge)
{
    const int has_ones = d->in_order && d->met_types[number].has_ones;
    haul_status status = HAUL_OK;
    if (d->in_order && c->near_count)
        status = haul__settle(d, c);
    if (status == HAUL_OK)
        status = haul__visit_edge(d, element, number, edge);
    return status == HAUL_OK && has_ones ? haul__mark_pending(d) : status;
}

/* Fetches the slots of a pointer's cell, if it lies in a mixed block. Objects of simple types do
 * where arrays and strings stand between them. */
HAUL__INLINE void haul__fetch_slots(const uintptr_t *flat, uintptr_t value)
{
    const uintptr_t entry = flat[value >> HAUL__BLOCK_SHIFT];
    if ((entry & HAUL__FORM_MASK) == HAUL__MIXED)
        haul__prefetch_write(haul__slots_place(entry, value));
}

/* Collects pointers of an object that are not NULL, with their edges. */
HAUL__INLINE void haul__collect_listed(haul__candidates *c, const uintptr_t *flat,
                                       const uintptr_t *value, const haul__edge *const *edge,
                                       size_t count)
{
    haul__candidates own = *c; /* nothing else can reach it: its counts stay in registers */
    size_t i;
    for (i = 0; i < count; i++) {
        haul__fetch_slots(flat, value[i]);
        haul__collect_if(&own, flat, value[i], edge[i]->tag, edge[i]->near_starts, 1);
    }
    c->near_count = own.near_count;
    c->over_count = own.over_count;
}

/* Reads the pointers of an object from the queue. Those that are not NULL are listed first: of the
 * pointers of a large object, most are NULL or none is. */
HAUL__INLINE haul_status haul__visit_simple(haul__discovery *d, haul__candidates *c,
                                            uintptr_t element, uint32_t number)
{
    const uintptr_t *flat = d->map->flat;
    const haul__edge *edge = d->met_types[number].edges,
                     *end = edge + d->met_types[number].edge_count, *from[HAUL__EDGES];
    uintptr_t listed[HAUL__EDGES];
    size_t count = 0;
    for (; edge < end; edge++) {
        haul_status status = HAUL_OK;
        const uintptr_t value = haul__load_word((const void *)(element + edge->offset));
        if (HAUL__LIKELY(edge->one && !HAUL__TOO_HIGH(value))) {
            listed[count] = value;
            from[count] = edge;
            count += value != 0;
            continue;
        }
        if (edge->may_stop) { /* in such a walk no edge is `one` */
            status = value ? haul__follow_or_stop(d, value, edge) : HAUL_OK;
        } else if (edge->one) {
            status = haul__reach_one(d, value, (uint32_t)(edge->tag >> 48));
        } else if (edge->array && haul__follow_plain_array(d, edge->array, value, element)) {
            if (d->pending_count == HAUL__PENDING)
                status = haul__mark_pending(d);
        } else if (edge->ways && !HAUL__TOO_HIGH(value)) {
            listed[count] = value;
            from[count] = edge;
            count += value && !edge->brief;
            status = value ? haul__follow_barred(d, value, edge) : HAUL_OK;
        } else {
            haul__collect_listed(c, flat, listed, from, count);
            count = 0;
            status = haul__visit_beside(d, c, element, number, edge);
        }
        if (HAUL__UNLIKELY(status != HAUL_OK))
            return status;
    }
    haul__collect_listed(c, flat, listed, from, count);
    return HAUL_OK;
}

#endif

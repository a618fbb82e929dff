/* A look-up in a present table, in line, in blocks and pages whose ranges are rows
 * (present_records.h).
 *
 * It calls nothing. If the slot of the block tells the distance, its load waits for the slot's
 * place alone, else that of the entry for the block's address, too. So the processor begins the
 * next look-ups before this one ends.
 */
#ifndef HAUL_ENVIRONMENT_PRESENT_FIND_H
#define HAUL_ENVIRONMENT_PRESENT_FIND_H

#include "environment/present_records.h"

#define HAUL__GET(place) haul__atomic_load(&(place))

/* The slot of an address's block; NULL: it has none. Only if the version has not changed. */
HAUL__INLINE const haul__present_slot *haul__present_slot_found(const haul__present *table,
                                                                uintptr_t address)
{
    const haul__directory *directory = (const haul__directory *)HAUL__GET(table->directory);
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    const haul__present_slot *slot;
    uintptr_t found;
    size_t place;
    if (HAUL__UNLIKELY(!directory))
        return NULL;
    place = haul__present_home(directory, address);
    for (slot = haul__present_slot_in(directory, place); (found = HAUL__GET(slot->block)) != block;
         slot = haul__present_slot_in(directory, place)) {
        if (!found)
            return NULL;
        place = haul__present_behind(directory, place);
    }
    return slot;
}

/* The entry of an address's page in its block. */
HAUL__INLINE const haul__page_entry *haul__present_entry_of(const haul__present_slot *slot,
                                                            uintptr_t address)
{
    return (const haul__page_entry *)HAUL__GET(slot->pages) + haul__present_page_of(address);
}

/* The same at once; NULL: it has none. Only if the version has not changed. */
HAUL__INLINE const haul__page_entry *haul__present_entry(const haul__present *table,
                                                         uintptr_t address)
{
    const haul__present_slot *slot = haul__present_slot_found(table, address);
    return slot ? haul__present_entry_of(slot, address) : NULL;
}

/* The distance from a byte in a block of even ranges to its other copy; 0: it is in none, or the
 * block is no such row. */
HAUL__INLINE int haul__present_in_block(const haul__block_row *row, uintptr_t address,
                                        uintptr_t *delta)
{
    const uintptr_t inverse = HAUL__GET(row->inverse);
    uintptr_t x, i, shape, step;
    if (!inverse)
        return 0;
    x = (address & (((uintptr_t)1 << HAUL__PRESENT_BLOCK) - 1)) - HAUL__GET(row->begin);
    i = (uintptr_t)((uint64_t)x * inverse >> HAUL__BLOCK_INVERSE);
    shape = HAUL__GET(row->shape);
    if (i > HAUL__GET(row->last) ||
        x - i * (shape >> HAUL__PRESENT_STRIDE) > (shape & (HAUL__PRESENT_SPAN - 1)))
        return 0;
    step = HAUL__GET(row->step);
    *delta = HAUL__GET(row->delta);
    if (HAUL__UNLIKELY(step != 0)) /* guessed, as below */
        *delta += i * step;
    return 1;
}

/* Where a byte lies in a row: in which range, and how far behind its first byte. */
typedef struct haul__in_row {
    uint32_t i, in_range;
    uint32_t last_i, last; /* the last range, and the last byte of one */
} haul__in_row;

HAUL__INLINE haul__in_row haul__present_in(const haul__page_row *row, uintptr_t address)
{
    const uint32_t x = (uint32_t)(address & (HAUL__PRESENT_SPAN - 1)) -
                       (uint32_t)(int32_t)HAUL__GET(row->begin),
                   shape = HAUL__GET(row->shape),
                   stride = shape >> HAUL__PRESENT_STRIDE & (uint32_t)(HAUL__PRESENT_SPAN - 1);
    haul__in_row in;
    in.i = (uint32_t)((uint64_t)x * HAUL__GET(row->inverse) >> HAUL__PRESENT_INVERSE);
    in.last_i = shape >> HAUL__PRESENT_COUNT;
    in.in_range = x - in.i * stride;
    in.last = shape & (uint32_t)(HAUL__PRESENT_SPAN - 1);
    return in;
}

HAUL__INLINE int haul__present_is_in(haul__in_row in)
{
    return in.in_range <= in.last && in.i <= in.last_i;
}

HAUL__INLINE uintptr_t haul__present_delta(const haul__page_row *row, uint32_t i)
{
    const int step = HAUL__GET(row->step);
    uintptr_t delta = HAUL__GET(row->delta);
    if (HAUL__UNLIKELY(step != 0)) /* guessed, so an address need not wait for i */
        delta += (uintptr_t)i * (uintptr_t)step;
    return delta;
}

/* The range of a byte in a row; 0: there is none. */
HAUL__INLINE int haul__present_in_row(const haul__page_entry *entry, uintptr_t word,
                                      uintptr_t address, haul__found_range *found)
{
    const haul__in_row in = haul__present_in(&entry->as.row, address);
    const uintptr_t in_page = HAUL__PRESENT_SPAN - (address & (HAUL__PRESENT_SPAN - 1));
    uintptr_t left = (uintptr_t)in.last + 1 - in.in_range;
    found->delta = haul__present_delta(&entry->as.row, in.i);
    found->group = HAUL__GET(entry->as.row.group);
    found->goes_on = in.i == in.last_i && (word & HAUL__PRESENT_ROW_GOES_ON) != 0;
    if (left > in_page)
        left = in_page;
    found->end = address + left;
    return haul__present_is_in(in);
}

/* What a look-up has read before it found no row. */
typedef struct haul__glimpse {
    uint32_t version;
    uintptr_t word; /* of the entry; 0: it read none */
    const haul__page_entry *entry;
} haul__glimpse;

/* The distance from a byte in a row to its other copy; 0: haul__present_find_on tells. Any
 * thread. */
HAUL__INLINE int haul__present_find_row(const haul__present *table, uintptr_t address,
                                        uintptr_t *delta, haul__glimpse *glimpse)
{
    const haul__present_slot *slot;
    glimpse->version = HAUL__GET(table->version);
    glimpse->entry = NULL;
    glimpse->word = 0;
    slot = haul__present_slot_found(table, address);
    if (HAUL__UNLIKELY(!slot))
        return 0;
    if (!haul__present_in_block(&slot->row, address, delta)) {
        haul__in_row in;
        glimpse->entry = haul__present_entry_of(slot, address);
        glimpse->word = HAUL__GET(glimpse->entry->word);
        if (HAUL__UNLIKELY(!(glimpse->word & HAUL__PRESENT_ROW)))
            return 0;
        in = haul__present_in(&glimpse->entry->as.row, address);
        if (!haul__present_is_in(in))
            return 0;
        *delta = haul__present_delta(&glimpse->entry->as.row, in.i);
    }
    return HAUL__LIKELY(!(glimpse->version & 1)) &&
           HAUL__LIKELY(HAUL__GET(table->version) == glimpse->version);
}

/* present_look_up.c: the range of a byte; 0: there is none. */
int haul__present_find_on(const haul__present *table, uint32_t version, uintptr_t word,
                          const haul__page_entry *entry, uintptr_t address,
                          haul__found_range *found);

#endif

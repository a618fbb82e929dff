/* A look-up in a present table, in line, in pages whose ranges are rows (present_records.h).
 *
 * It calls nothing. Of the loads, two depend on another one: that of the block's address waits for
 * a slot's place, and that of the entry for the block's address. So the processor begins the next
 * look-ups before this one ends.
 */
#ifndef HAUL_ENVIRONMENT_PRESENT_FIND_H
#define HAUL_ENVIRONMENT_PRESENT_FIND_H

#include "environment/present_records.h"

#define HAUL__GET(place) haul__atomic_load(&(place))

/* The entry of an address's page; NULL: it has none. Only if the version has not changed. */
HAUL__INLINE const haul__page_entry *haul__present_entry(const haul__present *table,
                                                         uintptr_t address)
{
    const haul__directory *directory = (const haul__directory *)HAUL__GET(table->directory);
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    const haul__present_slot *slot;
    uintptr_t found;
    size_t at;
    if (HAUL__UNLIKELY(!directory))
        return NULL;
    at = (size_t)(haul__hash(block) >> 32) & directory->mask;
    for (slot = &directory->slots[at]; (found = HAUL__GET(slot->block)) != block;
         slot = &directory->slots[at]) {
        if (!found)
            return NULL;
        at = (at + 1) & directory->mask;
    }
    return (const haul__page_entry *)HAUL__GET(slot->pages) + haul__present_page_of(address);
}

/* The range of a byte in a row; 0: there is none. */
HAUL__INLINE int haul__present_in_row(const haul__page_entry *entry, uintptr_t word,
                                      uintptr_t address, haul__found_range *found)
{
    const haul__page_row *row = &entry->as.row;
    const int begin = HAUL__GET(row->begin), step = HAUL__GET(row->step);
    const uint32_t byte = (uint32_t)(address & (HAUL__PRESENT_SPAN - 1)),
                   x = byte - (uint32_t)begin, shape = HAUL__GET(row->shape),
                   last = shape & (uint32_t)(HAUL__PRESENT_SPAN - 1),
                   stride = shape >> HAUL__PRESENT_STRIDE & (uint32_t)(HAUL__PRESENT_SPAN - 1),
                   i = (uint32_t)((uint64_t)x * HAUL__GET(row->inverse) >> HAUL__PRESENT_INVERSE),
                   in_range = x - i * stride, last_i = shape >> HAUL__PRESENT_COUNT;
    uintptr_t left = (uintptr_t)last + 1 - in_range;
    found->delta = HAUL__GET(row->delta);
    if (HAUL__UNLIKELY(step != 0)) /* guessed, so an address need not wait for i */
        found->delta += (uintptr_t)i * (uintptr_t)step;
    found->group = HAUL__GET(row->group);
    found->goes_on = i == last_i && (word & HAUL__PRESENT_ROW_GOES_ON) != 0;
    if (left > HAUL__PRESENT_SPAN - byte)
        left = HAUL__PRESENT_SPAN - byte;
    found->end = address + left;
    return in_range <= last && i <= last_i;
}

/* What a look-up has read before it found no row. */
typedef struct haul__glimpse {
    uint32_t version;
    uintptr_t word; /* of the entry; 0: it read none */
    const haul__page_entry *entry;
} haul__glimpse;

/* The range of a byte in a row; 0: haul__present_find_on tells. Any thread. */
HAUL__INLINE int haul__present_find_row(const haul__present *table, uintptr_t address,
                                        haul__found_range *found, haul__glimpse *glimpse)
{
    glimpse->version = HAUL__GET(table->version);
    glimpse->entry = haul__present_entry(table, address);
    glimpse->word = glimpse->entry ? HAUL__GET(glimpse->entry->word) : 0;
    return HAUL__LIKELY(glimpse->word & HAUL__PRESENT_ROW) &&
           haul__present_in_row(glimpse->entry, glimpse->word, address, found) &&
           HAUL__LIKELY(!(glimpse->version & 1) && HAUL__GET(table->version) == glimpse->version);
}

/* present_look_up.c: the range of a byte; 0: there is none. */
int haul__present_find_on(const haul__present *table, uint32_t version, uintptr_t word,
                          const haul__page_entry *entry, uintptr_t address,
                          haul__found_range *found);

#endif

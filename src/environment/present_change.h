/* How a present table changes, for its files that do that: present.c, present_even.c,
 * present_pages.c and present_memory.c.
 */
#ifndef HAUL_ENVIRONMENT_PRESENT_CHANGE_H
#define HAUL_ENVIRONMENT_PRESENT_CHANGE_H

#include "environment/present_records.h"

/* Stores what readers may be reading. */
#define HAUL__STORE(place, value) haul__atomic_store(&(place), value)

/* All stores release, so no reader sees a change before the odd version, or the even one before the
 * change. */
HAUL__INLINE void haul__present_begin_change(haul__present *table)
{
    HAUL__STORE(table->version, table->version + 1);
}

HAUL__INLINE void haul__present_end_change(haul__present *table)
{
    HAUL__STORE(table->version, table->version + 1);
}

/* Ranges in [begin, end) are about to come or go, in one page or in many. */
HAUL__INLINE void haul__present_announce(haul__present *table, uintptr_t begin, uintptr_t end)
{
    const uint32_t at = table->begun & (HAUL__PRESENT_LATELY - 1);
    HAUL__STORE(table->lately[at].begin, begin);
    HAUL__STORE(table->lately[at].end, end);
    HAUL__STORE(table->begun, table->begun + 1);
}

/* They have, or have not. */
HAUL__INLINE void haul__present_conclude(haul__present *table)
{
    HAUL__STORE(table->done, table->done + 1);
}

HAUL__INLINE uintptr_t haul__present_begin_of(const haul__covered *range, int by_device)
{
    return by_device ? range->device : range->begin;
}

HAUL__INLINE void haul__present_put(haul__page_piece *to, const haul__page_piece *one)
{
    HAUL__STORE(to->delta, one->delta);
    HAUL__STORE(to->place, one->place);
    HAUL__STORE(to->group, one->group);
}

/* Where pieces are merged into those of a page, from the last one on. */
typedef struct haul__merger {
    const haul__page_piece *first, *from; /* the old ones that have not moved end at `from` */
    haul__page_piece *to;
} haul__merger;

/* In the room for `more` pieces. */
HAUL__INLINE haul__merger haul__present_begin_merge(haul__present_page *p, size_t more)
{
    haul__merger m;
    m.first = p->pieces;
    m.from = m.first + p->count;
    m.to = p->pieces + p->count + more;
    HAUL__STORE(p->count, p->count + (uint32_t)more);
    return m;
}

HAUL__INLINE void haul__present_merge(haul__merger *m, const haul__page_piece *one)
{
    const unsigned first = haul__first_of(one->place);
    while (m->from > m->first && haul__first_of(m->from[-1].place) > first)
        haul__present_put(--m->to, --m->from);
    haul__present_put(--m->to, one);
}

HAUL__INLINE void haul__present_set_row(haul__page_entry *entry, const haul__page_row *row)
{
    HAUL__STORE(entry->as.row.delta, row->delta);
    HAUL__STORE(entry->as.row.group, row->group);
    HAUL__STORE(entry->as.row.shape, row->shape);
    HAUL__STORE(entry->as.row.inverse, row->inverse);
    HAUL__STORE(entry->as.row.begin, row->begin);
    HAUL__STORE(entry->as.row.step, row->step);
}

/* Does its record leave the pieces to the row? */
HAUL__INLINE int haul__present_is_unwritten(const haul__page_entry *entry)
{
    const haul__present_page *p = haul__present_record_of(entry->word);
    return entry->word & HAUL__PRESENT_ROW && p && p->count == 0;
}

/* present_memory.c: memory of a class, of what was freed or fresh; NULL: out of memory. */
void *haul__present_take(haul__present *table, haul__fresh *fresh, unsigned class);
/* The record's first word is written, so the version must be odd. */
void haul__present_give_back(haul__present *table, void *record, unsigned class);
size_t haul__present_bytes_of(unsigned class);
/* The page of an address, made if there is none, to be changed: its block is no row from then on.
 * NULL: out of memory. */
haul__page_entry *haul__present_page_made(haul__present *table, uintptr_t address);

/* present_pages.c: writes the pieces that a row has told so far, in the room for them. */
void haul__present_write(haul__present *table, haul__page_entry *entry);
/* A page record with room for `more` pieces, in place of the entry's. Its pieces are written. NULL:
 * out of memory. */
haul__present_page *haul__present_with_room(haul__present *table, haul__page_entry *entry,
                                            size_t more);
/* Writes the entry of a page by its record. */
void haul__present_index(haul__page_entry *entry, const haul__present_page *p);
/* The record of a page has lost pieces, maybe all. */
void haul__present_end_removal(haul__present *table, haul__page_entry *entry);

/* present_even.c: the even ranges that a list begins with; count 0: they are few. */
haul__even haul__present_find_even(const haul__covered *ranges, size_t count, int by_device,
                                   uint32_t group);
/* 0: out of memory, and nothing has changed. */
int haul__present_add_even(haul__present *table, const haul__even *even);
void haul__present_remove_even(haul__present *table, const haul__even *even);

#endif

/* A walk by aims: ranges of any kind, marked and visited by several threads (walk_by_aims.c). An
 * entry is an address with the number of an aim. If this leads to a single object, it takes one
 * word; else the range's bytes are a second one.
 */
#ifndef HAUL_WALK_BY_AIM_H
#define HAUL_WALK_BY_AIM_H

#include "walk/brief_marks.h"
#include "walk/parcels.h"

#define HAUL__MARKS_AHEAD 16u /* entries: their marks are fetched so early, */
#define HAUL__STARTS_AHEAD 6u /* and their starts */

/* The type of all single objects of a parcel; NULL: they have several. */
HAUL__INLINE const haul__met_type *haul__only_met(const haul__share *share,
                                                  const haul__parcel *parcel)
{
    const haul__aim *aims = share->aims->list.at;
    const uint32_t met = aims[HAUL__ENTRY_TYPE(parcel->entry[0])].met;
    uint32_t differ = 0;
    size_t i;
    if (!haul__is_of_one(parcel))
        for (i = 1; i < parcel->count; i++)
            differ |= aims[HAUL__ENTRY_TYPE(parcel->entry[i])].met ^ met;
    return differ ? NULL : &share->types[met];
}

/* mark_by_aim.c */
/* Marks a range that begins on the grid of words and notes its start. HAUL__FRESH: all of it is
 * new; HAUL__KNOWN_BEFORE: it was found before, as this; HAUL__APART: it overlaps another, or
 * disagrees with it; HAUL__UNUSUAL; HAUL__NO_MEMORY. */
int haul__mark_by_aim(haul__discovery *d, haul__start_notes *notes, haul__share *share,
                      const haul__aim *aim, uintptr_t first, uintptr_t end);
/* Excludes a range from the directions of its row. 0: out of memory. */
int haul__exclude_by_aim(haul__discovery *d, const haul__aim *aim, uintptr_t first, uintptr_t end);
/* Marks the targets of a parcel of ranges in a district. New ones wait there for their visit. */
void haul__mark_parcel_by_aim(haul__share *share, haul__sharer *own, haul__district *district,
                              const haul__parcel *parcel);

/* mark_singles_by_aim.c: the same, of a parcel of single objects */
void haul__mark_singles_by_aim(haul__share *share, haul__sharer *own, haul__district *district,
                               const haul__parcel *parcel);

/* visit_by_aim.c */
/* Sends the pointers of a parcel's ranges on. */
void haul__visit_parcel_by_aim(haul__share *share, haul__sharer *own, const haul__parcel *parcel);
/* The same of an object of a brief type, which means *m. 0: the walk must stop, and knows why. */
int haul__visit_brief_by_aim(haul__share *share, haul__sharer *own, const haul__met_type *met,
                             uintptr_t object, const haul__brief_meaning *m);

#endif

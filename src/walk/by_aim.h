/* A walk by aims: ranges of any kind, marked and visited by several threads (walk_by_aims.c). An
 * entry takes two words: an address with the number of an aim, and the range's bytes.
 */
#ifndef HAUL_WALK_BY_AIM_H
#define HAUL_WALK_BY_AIM_H

#include "walk/share.h"

/* In place of the bytes of a pointer that was put aside: the entry's address is that of the
 * pointer, and the caller's thread asks for its count. */
#define HAUL__TO_ASK UINT64_MAX
#define HAUL__ASKED_LEAST ((size_t)1024)
#define HAUL__OBJECTS_A_COUNT ((size_t)32)

/* asides.c: what the caller's thread does between rounds. */
/* Reads the pointer of *entry, which waits to be asked. *entry and *bytes become those of its
 * target; *bytes 0: it leads nowhere. HAUL_ERROR_GRAPH: one thread must do the whole walk. */
haul_status haul__ask_count(haul__discovery *d, haul__share *share, uint64_t *entry,
                            uint64_t *bytes);
/* Are so many counts asked for, of so many objects, that one thread is faster? */
HAUL__INLINE int haul__are_many_asked(size_t asked, size_t objects)
{
#ifdef HAUL_STRESS_THREADS
    (void)asked;
    (void)objects;
    return 0;
#else
    return asked >= HAUL__ASKED_LEAST && objects / HAUL__OBJECTS_A_COUNT < asked;
#endif
}
/* After a round: does the caller's thread do so much that sharing does not pay? Then one thread
 * must do the whole walk, and `share` says why. */
int haul__are_too_many_asides(const haul__discovery *d, haul__share *share);

/* mark_by_aim.c */
/* Marks a range that begins on the grid of words and notes its start. HAUL__FRESH: all of it is
 * new; HAUL__KNOWN_BEFORE: it was found before, as this; HAUL__APART: it overlaps another, or
 * disagrees with it; HAUL__NO_MEMORY. */
int haul__mark_by_aim(haul__discovery *d, haul__start_notes *notes, const haul__aims *aims,
                      const haul__aim *aim, uintptr_t first, uintptr_t end);
/* Marks the targets of a parcel's entries in a district. New ones wait there for their visit. */
void haul__mark_parcel_by_aim(haul__share *share, haul__sharer *own, haul__district *district,
                              const haul__parcel *parcel);

/* visit_by_aim.c: sends the pointers of a parcel's ranges on. */
void haul__visit_parcel_by_aim(haul__share *share, haul__sharer *own, const haul__parcel *parcel);

#endif

/* Asides: what the caller's thread alone does in a walk by aims, between two rounds (asides.c).
 */
#ifndef HAUL_WALK_ASIDES_H
#define HAUL_WALK_ASIDES_H

#include "walk/share.h"

/* In place of the bytes of a pointer that was put aside: the entry's address is that of the
 * pointer, and the caller's thread asks for its count. */
#define HAUL__TO_ASK UINT64_MAX
#define HAUL__ASKED_LEAST ((size_t)1024)
#define HAUL__OBJECTS_A_COUNT ((size_t)32)

/* Reads the pointer of *entry, which waits to be asked. *entry and *bytes become those of its
 * target; *bytes 0: it leads nowhere. HAUL_ERROR_GRAPH: one thread must do the whole walk. */
haul_status haul__ask_count(haul__discovery *d, haul__share *share, uint64_t *entry,
                            uint64_t *bytes);
/* 1: `asked` counts of functions are so many for `objects` objects that one thread is faster. */
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
/* Before a round: does the caller's thread do so much that sharing does not pay? Then one thread
 * must do the whole walk, and `share` says why. */
int haul__are_too_many_asides(const haul__discovery *d, haul__share *share);

#endif

/* The large ranges of a group of which the system tells the written pages.
 */
#ifndef HAUL_ENVIRONMENT_TRACKED_H
#define HAUL_ENVIRONMENT_TRACKED_H

#include "environment/environment.h"

/* Whole pages of a range. */
typedef struct haul__tracked_pages {
    uintptr_t begin, end; /* equal, if the system has ceased to tell */
    size_t first;         /* bit */
} haul__tracked_pages;

typedef struct haul__tracked {
    HAUL__LIST(haul__tracked_pages) list; /* by address */
    uint64_t *bits;                       /* of the pages that may have been written */
    size_t words, page_bytes;             /* 0: the group is not tracked */
    int is_fresh;                         /* nobody has asked for its bits yet */
} haul__tracked;

/* Tracks what it can of a group from now on, if the environment tracks; 0: no memory. */
int haul__track(haul_environment *e, const haul__sent_group *group, haul__tracked *tracked);
void haul__untrack(haul_environment *e, haul__tracked *tracked);
/* Tracks no more what a part has of the group. */
void haul__track_no_more(haul_environment *e, haul__tracked *tracked, const haul__sent_group *part);
/* The bits become those of pages that may have been written since the last call; the first time,
 * all. */
void haul__find_written(haul_environment *e, haul__tracked *tracked);
/* Of how many of these bytes, from the first one on, it is known that nobody has written to them
 * since then. */
size_t haul__unwritten_bytes(const haul__tracked *tracked, uintptr_t begin, size_t bytes);
/* The bytes of all pages of which the system tells. */
size_t haul__watched_bytes(const haul__tracked *tracked);
/* The bytes of the pages that may have been written. */
size_t haul__written_bytes(const haul__tracked *tracked);

#endif

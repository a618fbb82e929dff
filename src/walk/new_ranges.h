/* The ranges that a discovery finds, listed for a caller.
 */
#ifndef HAUL_WALK_NEW_RANGES_H
#define HAUL_WALK_NEW_RANGES_H

#include "walk/discovery.h"
#include "walk/worklist.h"

/* A range with a byte that was new when it was found. */
typedef struct haul__new_range {
    uintptr_t begin;
    size_t bytes;
    size_t padding;         /* the last of these bytes, which are not described */
    const haul_type *type;  /* of its objects; NULL: plain elements, or pointers */
    size_t count;           /* of its objects */
    const haul__slot *slot; /* that led here first, by any number of pointers; NULL: none did */
} haul__new_range;

typedef struct haul__listing {
    HAUL__LIST(haul__new_range) list;
    haul__slot_filter *is_wanted; /* NULL: all pointers are followed, and ranges are listed */
    void *user;
} haul__listing;

/* Lists the bytes of an entry, if they are wanted. */
haul_status haul__list_entry(haul__discovery *d, const haul__entry *entry);
/* Lists one object of a simple type that was met, in a walk that wants all ranges. Its range names
 * no slot. 0: out of memory. */
int haul__list_one(haul__discovery *d, uintptr_t address, uint32_t number);

#endif

/* The ranges that a discovery finds, listed for a caller.
 */
#ifndef HAUL_WALK_NEW_RANGES_H
#define HAUL_WALK_NEW_RANGES_H

#include "walk/discovery.h"
#include "walk/met_types.h"

/* A range with a byte that was new when it was found; or several, of one object each, as they were
 * found one after the other. */
typedef struct haul__new_range {
    uintptr_t begin;
    size_t bytes;
    size_t padding;        /* the last of these bytes, which are not described */
    const haul_type *type; /* of its objects; NULL: plain elements, or pointers */
    size_t count;          /* of its objects */
    size_t times, apart;   /* ranges, and the distance from one to the next; they do not overlap */
} haul__new_range;

typedef struct haul__listing {
    HAUL__LIST(haul__new_range) list;
    size_t unclear; /* ranges that the walk has not asked about byte by byte (map/elsewhere.h) */
    /* Of haul__list_one: the object that was listed last, and the one before it, both alone; the
     * next one of a row; all of one type. 0: there is none. */
    uintptr_t before, last, next;
    const haul_type *last_type;
    uintptr_t clear;              /* the objects of that row up to here have no copy elsewhere */
    haul__slot_filter *is_wanted; /* NULL: all pointers are followed, and ranges are listed */
    void *user;
} haul__listing;

/* Lists the bytes of an entry, if they are wanted. */
haul_status haul__list_entry(haul__discovery *d, const haul__entry *entry);
/* The same for an object that does not go on with the last ranges. */
int haul__list_apart(haul__discovery *d, uintptr_t address, const haul__met_type *met);

/* Does an object go on with the last ranges, where it is known to have no copy? */
HAUL__INLINE int haul__goes_on_clear(const haul__listing *listing, uintptr_t address,
                                     const haul__met_type *met)
{
    return address == listing->next && address <= listing->clear && met->type == listing->last_type;
}

/* Lists one object of a simple type, in a walk that wants all ranges. `is_clear`: none of its bytes
 * has a copy elsewhere. 0: out of memory. */
HAUL__INLINE int haul__list_one(haul__discovery *d, uintptr_t address, const haul__met_type *met,
                                int is_clear)
{
    haul__listing *listing = d->listing;
    haul__new_range *last;
    listing->unclear += !is_clear;
    if (address != listing->next || met->type != listing->last_type)
        return haul__list_apart(d, address, met);
    last = &listing->list.at[listing->list.count - 1];
    last->times++;
    listing->next += last->apart;
    return 1;
}

#endif

/* Parcels, as threads that share a walk hand them on (sharer.c).
 */
#ifndef HAUL_WALK_PARCELS_H
#define HAUL_WALK_PARCELS_H

#include "walk/mark_inline.h"
#include "walk/share.h"

/* Takes one of the parcels that the thread has. */
HAUL__INLINE haul__parcel *haul__take_spare(haul__sharer *own)
{
    haul__parcel *parcel = own->spare;
    if (!parcel)
        return own->fresh[--own->fresh_count];
    own->spare = parcel->next;
    own->spare_count--;
    return parcel;
}

HAUL__INLINE void haul__put_spare(haul__sharer *own, haul__parcel *parcel)
{
    parcel->next = own->spare;
    own->spare = parcel;
    own->spare_count++;
}

/* Adds a parcel to a district's list. */
HAUL__INLINE void haul__send_parcel(haul__parcel **list, haul__parcel *parcel)
{
    haul__parcel *first = haul__atomic_load(list);
    do
        parcel->next = first;
    while (!haul__atomic_replace(list, &first, parcel));
}

HAUL__INLINE void haul__open_outlet(haul__outlet *outlet, haul__parcel *parcel)
{
    outlet->at = parcel->entry;
    outlet->end = parcel->entry + HAUL__PARCEL;
}

/* Have all entries of one word the same number? */
HAUL__INLINE int haul__is_of_one(const haul__parcel *parcel)
{
    uint64_t differ = 0;
    size_t i;
    for (i = 1; i < parcel->count; i++)
        differ |= parcel->entry[i] ^ parcel->entry[0];
    return HAUL__ENTRY_TYPE(differ) == 0;
}

/* Sends what the outlet of this number has, and opens it again. */
void haul__renew_outlet(haul__share *share, haul__sharer *own, unsigned number);
/* Opens a further parcel of what waits in a district for its visit. */
void haul__open_visits(haul__sharer *own, haul__district *district, unsigned kind);
/* Lays a word aside for the caller's thread. */
void haul__put_aside(haul__sharer *own, uint64_t entry);

#endif

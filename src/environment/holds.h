/* Holds: the roots that were entered, by address, and how often. And pointers by their addresses on
 * the device, each with the group that it was made to lead into, and how often it was attached
 * (`dynamic`): a word of the host may have several copies. A call attaches one of these; by its
 * address on the host it is found without a search of them.
 */
#ifndef HAUL_ENVIRONMENT_HOLDS_H
#define HAUL_ENVIRONMENT_HOLDS_H

#include "base/memory.h"

typedef struct haul__hold {
    uintptr_t address;   /* 0: free */
    size_t lower, upper; /* of the largest root that was entered there, from the address */
    /* of a root: where what it holds begins; of a pointer: its address on the other side */
    uintptr_t other;
    /* of a pointer: its place in the list of the group that it leads into; by its host address: in
     * that of the group that it stands in */
    size_t listed;
    uint32_t stands_in; /* of a pointer: the group that it stands in */
    uint32_t group;
    uint32_t structured, dynamic; /* enters without their exits */
} haul__hold;

/* A hash with open addressing, at most half full. All zeros: an empty one. */
typedef struct haul__holds {
    haul__hold *at;
    size_t count, capacity; /* capacity: a power of two */
} haul__holds;

/* Makes room for `more`. 0: out of memory, and nothing has changed. */
int haul__holds_room(const haul_allocator *allocator, haul__holds *holds, size_t more);
/* NULL: there is none. Good until the next change. */
haul__hold *haul__holds_find(const haul__holds *holds, uintptr_t address);
/* Adds a hold that is not there, in the room for it. */
haul__hold *haul__holds_add(haul__holds *holds, uintptr_t address);
void haul__holds_remove(haul__holds *holds, haul__hold *hold);
void haul__holds_close(const haul_allocator *allocator, haul__holds *holds);

#endif

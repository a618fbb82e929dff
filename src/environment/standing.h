/* Where a word of a present object stands: in which group, and at which device address.
 */
#ifndef HAUL_ENVIRONMENT_STANDING_H
#define HAUL_ENVIRONMENT_STANDING_H

#include "environment/environment.h"

typedef struct haul__standing {
    uintptr_t device;
    uint32_t group;
} haul__standing;

/* Finds a pointer by its host address, or the word of one that was left out. Several objects may
 * leave the same word out: a present copy comes first, then that of the lowest group number. 0:
 * there is none. */
int haul__find_pointer(const haul_environment *environment, uintptr_t slot,
                       haul__standing *standing);
/* Where a byte stands, be it present or in a hole; 0: nowhere. */
int haul__stands(const haul_environment *environment, uintptr_t address, haul__standing *standing);

/* The range that holds the byte; NULL: none. */
const haul__covered *haul__covered_at(const haul__sent_group *group, uintptr_t address);
/* Lists the objects among these whose memory reaches out of their range. 0: out of memory. */
int haul__list_roomy(const haul_allocator *allocator, const haul__typed *objects, size_t count,
                     haul__roomy_list *roomy);
/* The range of the objects in whose memory the byte lies, though it may be in a hole before the
 * range or behind it; NULL: none. */
const haul__covered *haul__range_around(const haul__sent_group *group, uintptr_t address);

#endif

/* Where a word of a present object stands: in which group, and at which device address.
 */
#ifndef HAUL_ENVIRONMENT_STANDING_H
#define HAUL_ENVIRONMENT_STANDING_H

#include "environment/environment.h"

typedef struct haul__standing {
    uintptr_t device;
    uint32_t group;
} haul__standing;

/* Finds a pointer by its host address, or the word of one that was left out. 0: it is neither. */
int haul__find_pointer(const haul_environment *environment, uintptr_t slot,
                       haul__standing *standing);
/* The same for a word that was found to be one; 0: its object has left. */
int haul__stands(const haul_environment *environment, uintptr_t slot, haul__standing *standing);

#endif

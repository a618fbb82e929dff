/* Errors with the path of what is being visited. `slot` NULL: the element itself.
 */
#ifndef HAUL_WALK_PATHS_H
#define HAUL_WALK_PATHS_H

#include "walk/discovery.h"

haul_status haul__refuse(haul__discovery *d, haul_status status, const haul__slot *slot,
                         const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
haul_status haul__refuse_outside(haul__discovery *d, const haul__slot *slot, uintptr_t address);
/* The way to an element of an entry, or to a slot of it; HAUL_PATH_BYTES of room. 0: out of
 * memory. */
int haul__name_place(haul__discovery *d, size_t entry, size_t element, const haul__slot *slot,
                     char *path);
/* Sets other_path to the first thing found that covers `address`. */
void haul__name_other(haul__discovery *d, uintptr_t address);
/* Sets other_path to another row of the element that is being visited. */
void haul__name_row(haul__discovery *d, const haul__slot *slot);

#endif

/* The cost of making a graph known to OpenMP, for programs that measure it.
 *
 * A list of nodes, each with an array of three doubles, all malloc'ed one by one. `own` is a loop
 * over an array of extents that calls omp_target_associate_ptr; `haul` is haul_openmp_associate,
 * which finds the extents; `watch` is haul_openmp_watch of an environment that has the same list,
 * and the end of it. `arena` is haul_openmp_associate of as many nodes in an arena.
 */
#ifndef ASSOCIATIONS_H
#define ASSOCIATIONS_H

#include <haul.h>

enum { ASSOCIATION_OWN = 0, ASSOCIATION_HAUL, ASSOCIATION_WATCH, ASSOCIATION_WAYS };

/* Microseconds, medians of 12 rounds. */
typedef struct associations {
    size_t count; /* of extents */
    double ship, there[ASSOCIATION_WAYS], back[ASSOCIATION_WAYS], arena;
} associations;

/* Of a list of `length` nodes, with a device of OpenMP. Ends the program if a call fails, or if the
 * numbers of extents differ. */
void measure_associations(haul_device *device, int target, size_t length, associations *found);

#endif

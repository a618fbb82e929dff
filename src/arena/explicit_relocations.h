/* Explicit relocations of an arena: pointers that no bit tells.
 */
#ifndef HAUL_ARENA_EXPLICIT_RELOCATIONS_H
#define HAUL_ARENA_EXPLICIT_RELOCATIONS_H

#include "arena/contents.h"
#include "type/type.h"

struct haul__found;

/* The first explicit relocation, from number *i on, that leads out. 0: there is none. */
int haul__next_explicit_outside(const haul__contents *contents, size_t *i);
/* Lists the explicit relocations of a special object, or those of a discovered graph. 0: no
 * memory. */
int haul__explicit_of_object(haul__contents *contents, const haul__walk *walk, size_t at);
int haul__explicit_of_graph(haul__contents *contents, const struct haul__found *found);
void haul__explicit_sort(haul__contents *contents);
haul_status haul__explicit_check_back(const haul__contents *contents, const unsigned char *memory,
                                      uint64_t device, haul_error *error);
void haul__explicit_scatter(const haul__contents *contents, const unsigned char *memory,
                            uint64_t device);

#endif

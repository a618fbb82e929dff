/* Pointers with high tags in an arena: worked out by the host.
 */
#ifndef HAUL_ARENA_TAGGED_POINTERS_H
#define HAUL_ARENA_TAGGED_POINTERS_H

#include "arena/contents.h"

struct haul__found;

/* Those of a graph that was discovered. 0: no memory. */
int haul__tagged_of_graph(haul__contents *contents, const struct haul__found *found);
/* HAUL_ERROR_LIMIT: what one leads to has an address there with bits of its tag. */
haul_status haul__tagged_check(const haul__contents *contents, haul_error *error);
void haul__tagged_edit(const haul__contents *contents, unsigned char *memory, size_t first,
                       size_t bytes);
haul_status haul__tagged_check_back(const haul__contents *contents, const unsigned char *memory,
                                    uint64_t device, haul_error *error);
void haul__tagged_scatter(const haul__contents *contents, const unsigned char *memory,
                          uint64_t device);
/* Bytes of up to `most` (at least a word) from the first tagged word at or behind *at on, that hold
 * some of them: where they begin, and how many. 0: there are none. */
size_t haul__tagged_stretch(const haul__contents *contents, size_t most, size_t *at);
/* The words of [at, at + bytes), in `memory`, as they were where the contents lay at `from`, become
 * those of where they lie now. HAUL_ERROR_LIMIT: as above. */
haul_status haul__tagged_move(const haul__contents *contents, unsigned char *memory, size_t at,
                              size_t bytes, uint64_t from, haul_error *error);

#endif

/* Tagged pointers of an arena: the host works them out, on the way there and back.
 */
#ifndef HAUL_ARENA_TAGGED_POINTERS_H
#define HAUL_ARENA_TAGGED_POINTERS_H

#include "arena/contents.h"

struct haul__found;

/* Lists the tagged pointers of a discovered graph. 0: no memory. */
int haul__tagged_of_graph(haul__contents *contents, const struct haul__found *found);
/* HAUL_ERROR_LIMIT, with the place: a target's address on the device has bits of the tag. */
haul_status haul__tagged_check(const haul__contents *contents, haul_error *error);
/* Writes the device's words over a copy of bytes [first, first + bytes), in `memory`. */
void haul__tagged_edit(const haul__contents *contents, unsigned char *memory, size_t first,
                       size_t bytes);
haul_status haul__tagged_check_back(const haul__contents *contents, const unsigned char *memory,
                                    uint64_t device, haul_error *error);
void haul__tagged_scatter(const haul__contents *contents, const unsigned char *memory,
                          uint64_t device);
/* The next run of up to `most` bytes (at least a word) from *at on that holds whole tagged words.
 * Answers its bytes, and its beginning in *at. 0: there is none. */
size_t haul__next_tagged_words(const haul__contents *contents, size_t most, size_t *at);
/* Works out the words of [at, at + bytes) again, in `memory`: the contents lay at `from` before.
 * HAUL_ERROR_LIMIT as above. */
haul_status haul__tagged_move(const haul__contents *contents, unsigned char *memory, size_t at,
                              size_t bytes, uint64_t from, haul_error *error);

#endif

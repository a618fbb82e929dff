/* Copies of contents: data back into the arena, or into an update.
 */
#ifndef HAUL_ARENA_COPY_BACK_H
#define HAUL_ARENA_COPY_BACK_H

#include "arena/contents.h"

/* Copies bytes [first, end) of the contents for an update to the device: all except pointers and
 * ranges that stay, but with excluded data. `to` and `from` stand for offset 0. */
void haul__copy_going(const haul__contents *contents, unsigned char *to, const unsigned char *from,
                      size_t first, size_t end);
/* Would it copy every byte of [first, end)? */
int haul__is_solid(const haul__contents *contents, size_t first, size_t end);

/* Writes bytes [at, at + bytes) from the device, in `memory`: data only. */
void haul__contents_scatter(const haul__contents *contents, haul_context *context,
                            const unsigned char *memory, size_t at, size_t bytes);
/* All bytes, with pointers. The check comes first: HAUL_ERROR_GRAPH, and nothing is written.
 * `device`: the address of the contents there. */
haul_status haul__contents_check_pointers(const haul__contents *contents,
                                          const unsigned char *memory, uint64_t device,
                                          haul_error *error);
void haul__contents_scatter_pointers(const haul__contents *contents, haul_context *context,
                                     const unsigned char *memory, uint64_t device);

#endif

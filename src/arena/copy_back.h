/* Copies of contents: data back into the arena, or into an update.
 */
#ifndef HAUL_ARENA_COPY_BACK_H
#define HAUL_ARENA_COPY_BACK_H

#include "arena/contents.h"

/* Copies bytes [first, end) of the contents for an update to the device, except pointers and ranges
 * that stay. Data excluded from the way back is copied. `to` and `from` are the addresses of
 * offset 0. */
void haul__copy_going(const haul__contents *contents, unsigned char *to, const unsigned char *from,
                      size_t first, size_t end);
/* Would haul__copy_going copy every byte of [first, end)? */
int haul__is_solid(const haul__contents *contents, size_t first, size_t end);

/* Writes bytes [at, at + bytes) from the device, in `memory`: data only, and none if the contents
 * have gone (HAUL_ERROR_STALE) or a field of the read set has changed (HAUL_ERROR_GRAPH). */
haul_status haul__contents_put_back(const haul__contents *contents, haul_context *context,
                                    const unsigned char *memory, size_t at, size_t bytes);
/* The same, after the checks. */
void haul__contents_scatter(const haul__contents *contents, haul_context *context,
                            const unsigned char *memory, size_t at, size_t bytes);
/* Checks all pointers from the device, in `memory`, before any is written: HAUL_ERROR_GRAPH.
 * If `outside` is not NULL, it counts those that lead out instead. `device`: the address of the
 * contents there. */
haul_status haul__contents_check_pointers(const haul__contents *contents,
                                          const unsigned char *memory, uint64_t device,
                                          size_t *outside, haul_error *error);
/* After the check: writes all bytes, with the pointers that do not lead out. */
void haul__contents_scatter_pointers(const haul__contents *contents, haul_context *context,
                                     const unsigned char *memory, uint64_t device);

#endif

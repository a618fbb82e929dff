/* Nurseries: objects that a device has made come into the arena.
 */
#ifndef HAUL_ARENA_NURSERY_H
#define HAUL_ARENA_NURSERY_H

#include "arena/contents.h"

/* Writes the structs again: the user may have overwritten them. */
void haul__nurseries_repair(const haul__contents *contents);
int haul__nurseries_add_staying(haul__contents *contents); /* 0: no memory */
/* Shortens the ranges that stay by all objects that were made in nurseries so far: these objects
 * come back too. */
void haul__nurseries_settle(haul__contents *contents);
/* Do the contents hold a nursery whose objects can come back? */
int haul__has_nurseries(const haul__contents *contents);
/* Checks the nurseries as the device has left them, in `memory`, before they are written:
 * HAUL_ERROR_STALE, HAUL_ERROR_GRAPH. */
haul_status haul__nurseries_check(const haul__contents *contents, const unsigned char *memory,
                                  uint64_t device, haul_error *error);
/* After the check: writes the new objects, with their pointers and bits. */
void haul__nurseries_scatter(haul__contents *contents, const unsigned char *memory,
                             uint64_t device);

#endif

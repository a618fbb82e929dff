/* The read set of contents: what comes back must not change it.
 */
#ifndef HAUL_ARENA_CONTENTS_READS_H
#define HAUL_ARENA_CONTENTS_READS_H

#include "arena/contents.h"

/* Fields that shapes and rules read: are there any in [at, at + bytes) that must not
 * change? And those bytes from the device, in `memory`: HAUL_ERROR_GRAPH where one has changed. */
int haul__contents_have_reads(const haul__contents *contents, size_t at, size_t bytes);
haul_status haul__contents_check_reads(const haul__contents *contents, const unsigned char *memory,
                                       size_t at, size_t bytes, haul_error *error);

#endif

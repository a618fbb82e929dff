/* The read set of contents: results may not change it.
 */
#ifndef HAUL_ARENA_CONTENTS_READS_H
#define HAUL_ARENA_CONTENTS_READS_H

#include "arena/contents.h"

/* Is a field of the read set in [at, at + bytes), and must it stay unchanged? The second function
 * compares those bytes from the device, in `memory`: HAUL_ERROR_GRAPH if a field has changed. */
int haul__contents_have_reads(const haul__contents *contents, size_t at, size_t bytes);
haul_status haul__contents_check_reads(const haul__contents *contents, const unsigned char *memory,
                                       size_t at, size_t bytes, haul_error *error);

#endif

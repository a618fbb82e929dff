/* The read set of contents: results may not change it.
 */
#ifndef HAUL_ARENA_CONTENTS_READS_H
#define HAUL_ARENA_CONTENTS_READS_H

#include "arena/contents.h"

/* Does [at, at + bytes) hold a field that must stay unchanged? */
int haul__contents_have_reads(const haul__contents *contents, size_t at, size_t bytes);
/* Compares those bytes, which the device has sent to `memory`. HAUL_ERROR_GRAPH: a field has
 * changed. */
haul_status haul__contents_check_reads(const haul__contents *contents, const unsigned char *memory,
                                       size_t at, size_t bytes, haul_error *error);

#endif

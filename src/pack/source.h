/* Sources, as calls read them.
 */
#ifndef HAUL_PACK_SOURCE_H
#define HAUL_PACK_SOURCE_H

#include "base/base.h"
#include "haul/source.h"

/* Reads a caller's source. HAUL_ERROR_ARGUMENT, HAUL_ERROR_VERSION, described in `error`. */
haul_status haul__source_read(const haul_source *theirs, size_t bytes, haul_source *source,
                              haul_error *error);
/* The roots of a source of objects. HAUL_ERROR_ARGUMENT: it is another one. */
haul_status haul__source_roots(const haul_source *source, const haul_root **roots, size_t *count,
                               haul_error *error);

#endif

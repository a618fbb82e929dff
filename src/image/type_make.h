/* Types from the text of an image: type_text.c the other way round.
 */
#ifndef HAUL_IMAGE_TYPE_MAKE_H
#define HAUL_IMAGE_TYPE_MAKE_H

#include "context/context.h"
#include "type/type.h"

/* Types by number. Fields point to these handles, so they stay as long as the types. */
typedef struct haul__made_types {
    haul_type **at; /* each held once */
    size_t count, room;
} haul__made_types;

/* Makes an open type of each that the text describes. The context is entered. HAUL_ERROR_FORMAT:
 * the record names the line. HAUL_ERROR_UNSUPPORTED, with the type and the field: a function.
 * HAUL_ERROR_LIMIT, HAUL_ERROR_MEMORY. The caller drops the types in any case. */
haul_status haul__make_types(haul_context *context, const char *text, size_t bytes,
                             haul__made_types *types);
/* Commits the type of each root, and those that it leads to: as haul_type_commit. Beyond that
 * HAUL_ERROR_TYPE: elements of a type interleave. */
haul_status haul__commit_types(haul_context *context, const haul__made_types *types,
                               haul_type *const *roots, size_t root_count);
void haul__drop_made_types(const haul_allocator *allocator, haul__made_types *types);

#endif

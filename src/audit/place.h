/* Places: the struct and row in which a byte lies, and the path to it.
 */
#ifndef HAUL_AUDIT_PLACE_H
#define HAUL_AUDIT_PLACE_H

#include "audit/recorded.h"

/* A byte, in the innermost struct that holds it. */
typedef struct haul__byte {
    const haul_type *type; /* of that struct */
    size_t offset;         /* of the byte in that struct */
    int has_row;
    haul_field_info row; /* the row that holds the byte */
} haul__byte;

/* Looks up a byte of an element. The entry must hold objects. */
haul__byte haul__audit_byte(const haul__audit *a, size_t entry, size_t element, uintptr_t address);
/* Writes the path to a byte of an element of any entry, up to HAUL_PATH_BYTES.
 * HAUL_ERROR_MEMORY. */
haul_status haul__audit_path(haul__audit *a, size_t entry, size_t element, uintptr_t address,
                             char *path);
/* The same for an address that leads into the graph. */
haul_status haul__audit_path_of(haul__audit *a, uintptr_t address, char *path);

#endif

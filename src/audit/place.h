/* Places: which struct and row a byte lies in, and the path that leads to it.
 */
#ifndef HAUL_AUDIT_PLACE_H
#define HAUL_AUDIT_PLACE_H

#include "audit/recorded.h"

/* A byte of a type, down to the innermost struct that it lies in. */
typedef struct haul__byte {
    const haul_type *type; /* that struct's */
    size_t offset;         /* of the byte in it */
    int has_row;
    haul_field row; /* that the byte lies in */
} haul__byte;

/* Looks up a byte of an element of an entry of objects. */
haul__byte haul__audit_byte(const haul__audit *a, size_t entry, size_t element, uintptr_t address);
/* The way to a byte of an element of any entry, HAUL_PATH_BYTES of room. HAUL_ERROR_MEMORY. */
haul_status haul__audit_path(haul__audit *a, size_t entry, size_t element, uintptr_t address,
                             char *path);
/* The way to what lies at an address that leads into the graph. */
haul_status haul__audit_path_of(haul__audit *a, uintptr_t address, char *path);

#endif

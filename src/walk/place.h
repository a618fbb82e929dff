/* Places: the struct and field in which a byte lies, and the path to it.
 */
#ifndef HAUL_WALK_PLACE_H
#define HAUL_WALK_PLACE_H

#include "haul/type.h"
#include "walk/worklist.h"

/* A byte, in the innermost struct that holds it. */
typedef struct haul__byte {
    const haul_type *type; /* of that struct */
    size_t offset;         /* of the byte in that struct */
    int has_field;
    haul_field_info field; /* that holds the byte */
} haul__byte;

/* Looks up a byte of an element. The entry must hold objects. */
haul__byte haul__byte_at(const haul__discovery *d, size_t entry, size_t element, uintptr_t address);
/* Writes the path to a byte of an element of any entry; `path` has HAUL_PATH_BYTES. `innermost`
 * counts if structs begin with the byte: 1: the path of the field, 0: of the outermost struct.
 * 0: out of memory. */
int haul__name_byte_of(haul__discovery *d, size_t entry, size_t element, uintptr_t address,
                       int innermost, char *path);
/* The same for a byte of any entry; "": no entry has it. */
int haul__name_byte(haul__discovery *d, uintptr_t address, int innermost, char *path);
/* Gives the context's record the path of a byte's field; of a byte that no field has, that of the
 * object around it, or of the first root. */
void haul__name_near(haul__discovery *d, uintptr_t address);

#endif

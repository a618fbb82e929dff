/* The memo: a set of addresses that were marked or noted before, so that they are not marked or
 * noted again.
 */
#ifndef HAUL_WALK_MEMO_H
#define HAUL_WALK_MEMO_H

#include "walk/discovery.h"

#define HAUL__MEMO_BYTES ((size_t)4096) /* smaller extents without parts are marked again */

/* Why an address is in the memo, and the meaning of `bytes` and `as` there; where none is given,
 * they are 0 and NULL. */
enum {
    HAUL__MEMO_EXTENT,     /* marked: its bytes, as a type or a shape; NULL: as plain bytes */
    HAUL__MEMO_STRING,     /* searched and marked: an element's bytes, a shape; NULL: ends with 0 */
    HAUL__MEMO_TERMINATOR, /* noted */
    HAUL__MEMO_LISTED,     /* a word that is in a list */
    HAUL__MEMO_SIZED,      /* an object whose size was worked out: its type */
    HAUL__MEMO_CONTENTS,   /* excluded and listed by its type: its bytes, a type's walk */
    HAUL__MEMO_ANCESTORS,  /* found with these ancestors: their sum, a shape or a type's walk */
    HAUL__MEMO_FOUND,      /* found with any ancestors: a shape or a type's walk */
    HAUL__MEMO_KNOWN,      /* listed as known: its bytes, as a type or a shape */
    HAUL__MEMO_REACHED,    /* by a walk that passes over: its bytes and who led to it, a type */
    HAUL__MEMO_NAMED,      /* named in full: its bytes, a hint */
    HAUL__MEMO_COVERED,    /* marked in full: its bytes, as a type; NULL: as plain bytes */
    HAUL__MEMO_EXCLUDED    /* plus the excluded ways: its bytes, as a type; NULL: as plain bytes */
};

int haul__memo_has(const haul__discovery *d, unsigned what, uintptr_t address, size_t bytes,
                   const void *as);
/* A HAUL__MEMO_EXTENT counts as work (haul__spend). */
haul_status haul__memo_add(haul__discovery *d, unsigned what, uintptr_t address, size_t bytes,
                           const void *as);
void haul__memo_close(haul__discovery *d);

#endif

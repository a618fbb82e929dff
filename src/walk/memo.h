/* The memo: a set of what was marked or noted before, so that it is not gone through again.
 */
#ifndef HAUL_WALK_MEMO_H
#define HAUL_WALK_MEMO_H

#include "walk/discovery.h"

#define HAUL__MEMO_BYTES ((size_t)4096) /* smaller extents are marked again */

/* What an address is in the memo for, and what `bytes` and `as` then say; 0 and NULL: nothing. */
enum {
    HAUL__MEMO_EXTENT,     /* marked: its bytes, as a type or a shape; NULL: as plain bytes */
    HAUL__MEMO_STRING,     /* searched and marked: an element's bytes, a shape; NULL: ends with 0 */
    HAUL__MEMO_TERMINATOR, /* noted */
    HAUL__MEMO_LISTED,     /* a word that is in a list */
    HAUL__MEMO_SIZED,      /* an object that told its size: a type */
    HAUL__MEMO_CONTENTS,   /* excluded and listed by its type: its bytes, a type's walk */
    HAUL__MEMO_ANCESTORS,  /* found with these ancestors: their sum, a shape or a type's walk */
    HAUL__MEMO_FOUND,      /* found with any ancestors: a shape or a type's walk */
    HAUL__MEMO_EXCLUDED    /* plus the excluded ways: its bytes, as a type; NULL: as plain bytes */
};

int haul__memo_has(const haul__discovery *d, unsigned what, uintptr_t address, size_t bytes,
                   const void *as);
haul_status haul__memo_add(haul__discovery *d, unsigned what, uintptr_t address, size_t bytes,
                           const void *as);
void haul__memo_close(haul__discovery *d);

#endif

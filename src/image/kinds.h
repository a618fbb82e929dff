/* The kinds of objects and arrays that the scan of an image knows (scan.c).
 */
#ifndef HAUL_IMAGE_KINDS_H
#define HAUL_IMAGE_KINDS_H

#include "base/list.h"
#include "map/address.h"
#include "type/type.h"
#include "haul/source.h"

typedef enum haul__kind_of {
    HAUL__KIND_OBJECT,  /* one, which begins with a granule */
    HAUL__KIND_ARRAY,   /* of objects of which not all begin with a granule */
    HAUL__KIND_PLAIN,   /* an array of plain bytes */
    HAUL__KIND_POINTERS /* an array of pointers: those of a level of a slot */
} haul__kind_of;

/* A code says what a granule is: it belongs to nothing; it goes on with what the granule before it
 * has; or something of a kind begins with it. */
enum { HAUL__CODE_FREE, HAUL__CODE_INSIDE, HAUL__CODE_FIRST, HAUL__CODES = 256 };

/* A pointer of an element. */
typedef struct haul__link {
    size_t offset;
    const haul__slot *slot;
    uint8_t level;
    uint8_t is_one;   /* exactly one element, which begins with a granule */
    uint8_t is_known; /* its count can be read */
    uint8_t code;     /* of what it leads to; HAUL__CODE_FREE: no kind that the scan knows */
} haul__link;

typedef struct haul__kind {
    haul__kind_of of;
    const haul_type *type; /* of objects */
    const haul__slot *slot;
    unsigned level;          /* of pointers */
    size_t stride, granules; /* of objects: of an element; of one object, the last granule whole */
    size_t whole;            /* bytes of an object with the hole at its end */
    size_t alignment;
    haul__link *links;
    size_t link_count;
    uint64_t *pointers; /* a bit for each word of an element; NULL: it has no pointer */
    size_t pointer_words;
    haul__run *gaps; /* bytes of an element that are 0, up to the end of its last granule */
    size_t gap_count, gap_room;
    uint64_t pattern, mask; /* the codes of one object, if they fit into a word; else mask is 0 */
} haul__kind;

typedef struct haul__kinds {
    const haul_allocator *allocator;
    HAUL__LIST(haul__kind) list; /* the first has the code HAUL__CODE_FIRST */
    size_t most;                 /* bytes of an element */
    unsigned width;              /* bits of a code: 2, 4 or 8 */
} haul__kinds;

/* Lists the kinds that the types of roots lead to, with elements of at most `most` bytes.
 * HAUL_ERROR_MEMORY. The caller closes them in any case. */
haul_status haul__kinds_open(haul__kinds *kinds, const haul_allocator *allocator,
                             const haul_root *roots, size_t count, size_t most);
void haul__kinds_close(haul__kinds *kinds);
/* The code of a root's elements; HAUL__CODE_FREE: the scan does not know them. */
uint8_t haul__kinds_of_root(const haul__kinds *kinds, const haul_root *root);

HAUL__INLINE const haul__kind *haul__kind_by_code(const haul__kinds *kinds, unsigned code)
{
    return &kinds->list.at[code - HAUL__CODE_FIRST];
}

#endif

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

/* A code says what a granule is: nothing begins with it, and no array has it; something of a kind
 * begins with it; or it goes on with an array (`inside`, the highest code). */
enum { HAUL__CODE_FREE, HAUL__CODE_FIRST, HAUL__CODES = 256 };

/* One object as the target of a pointer. */
typedef struct haul__one {
    uint64_t code;
    uintptr_t misaligned; /* bits that its address has not; all: no address is right */
    size_t room;          /* its offset in the arena is a granule, and up to this more */
} haul__one;

/* A pointer of an element. */
typedef struct haul__link {
    size_t offset;
    haul__one one; /* what it leads to, if `is_one` */
    const haul__slot *slot;
    uint8_t level;
    uint8_t is_one;   /* exactly one object */
    uint8_t is_known; /* its count can be read */
    uint8_t is_text;  /* to a string of bytes whose kind is known */
    uint8_t is_borrowed;
    uint8_t is_told; /* by a number of what it leads to */
    uint8_t code;    /* of what it leads to; HAUL__CODE_FREE: no kind that the scan knows */
} haul__link;

/* A row with rules: an arm of a union, or a pointer with tags or with types to choose from. */
typedef struct haul__kind_arm {
    const haul__ruled *ruled;
    const haul_when *when;   /* NULL: it always holds */
    const haul_switch *by;   /* chooses one of the links; NULL: there is one, or none */
    const haul__link *links; /* of a pointer */
    int is_over_data;        /* another row may have its bytes as data by .else_raw */
} haul__kind_arm;

#define HAUL__ARMS_BYTES 512u /* of an element with rules, at most */
#define HAUL__ARMS_WORDS (HAUL__ARMS_BYTES / HAUL__WORD / 64)

/* The rows with rules of a type, in order of offset. */
typedef struct haul__kind_arms {
    uint64_t live[HAUL__ARMS_BYTES / 64]; /* a bit for each byte that always travels */
    size_t count;
    haul__kind_arm at[];
} haul__kind_arms;

enum { HAUL__LED_BY_ONE = 1, HAUL__LED_BY_COUNT = 2 };

typedef struct haul__kind {
    haul__kind_of of;
    const haul_type *type; /* of objects */
    const haul__slot *slot;
    unsigned level;          /* of pointers */
    size_t stride, granules; /* of objects: of an element; of one object, the last granule whole */
    size_t alignment;
    /* of the codes of an object; 0: it has none, or they or its bits do not fit into a word */
    uint64_t mask;
    haul__link *links;
    size_t link_count; /* of those that always hold; the links of arms stand behind them */
    size_t link_room;
    haul__kind_arms *arms; /* NULL: nothing has rules */
    uint8_t owners;  /* HAUL__LED_BY_ONE, HAUL__LED_BY_COUNT: which pointers and roots lead here */
    uint8_t is_lent; /* borrowed pointers lead here */
    uint8_t is_told; /* pointers lead here that a number of the object tells its type */
    uint8_t borrows; /* it has borrowed pointers */
    uint64_t *pointers; /* a bit for each word of an element; NULL: it has no pointer */
    size_t pointer_words;
    haul__run *gaps; /* bytes of an element that are 0, up to the end of its last granule */
    size_t gap_count, gap_room;
    haul__one one; /* of objects */
} haul__kind;

typedef struct haul__kinds {
    const haul_allocator *allocator;
    HAUL__LIST(haul__kind) list;
    unsigned first;  /* the code of the first kind in the list */
    size_t most;     /* bytes of an element */
    size_t judged;   /* rows of types that were judged */
    unsigned inside; /* the code of granules that go on with an array */
    unsigned width;  /* bits of a code: 1, 2, 4 or 8 */
    unsigned shift;  /* offset in the arena >> shift: the first bit of its code */
} haul__kinds;

/* Lists the kinds that the types of roots lead to, with elements of at most `most` bytes.
 * HAUL_ERROR_MEMORY. The caller closes them in any case. */
haul_status haul__kinds_open(haul__kinds *kinds, const haul_allocator *allocator,
                             const haul_root *roots, size_t count, size_t most);
void haul__kinds_close(haul__kinds *kinds);
/* Is the first kind that of the only root, one object, and does no pointer lead to such? Then it
 * needs no code. */
HAUL__INLINE int haul__kinds_have_lone_root(const haul__kinds *kinds)
{
    return kinds->first == HAUL__CODE_FREE;
}
/* The code of a root's elements; HAUL__CODE_FREE: the scan does not know them. */
uint8_t haul__kinds_of_root(const haul__kinds *kinds, const haul_root *root);

HAUL__INLINE const haul__kind *haul__kind_by_code(const haul__kinds *kinds, unsigned code)
{
    return &kinds->list.at[code - kinds->first];
}

#endif

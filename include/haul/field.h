/* Fields: the structs that describe a type. describe.h has the macros that make them.
 *
 * A zeroed member means the default. Members are only appended, in later versions too, so that
 * tables of an older program stay right.
 */
#ifndef HAUL_FIELD_H
#define HAUL_FIELD_H

#include "haul/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_type haul_type;

/* The argument of a function of yours. All of them have one signature. A function reads and
 * answers. It must not change the graph or call into the same context (such a call gets
 * HAUL_ERROR_BUSY; an object that it frees goes when the call under way ends). It is called more
 * than once for one pointer, and again by each pack; another answer then is HAUL_ERROR_STALE. For a
 * pointer that has changed it is not called: that is HAUL_ERROR_STALE by itself. */
typedef struct haul_here {
    /* The struct that holds the field; for a field of an embedded struct, that struct. */
    const void *self;
    const void *target; /* the address that the pointer leads to; its extent is not yet known */
    const void *place;  /* the address of the pointer itself */
    const void *root;   /* the root that the pointer was reached from */
    /* The nearest struct of the type that `.ancestor` names; NULL without that member. */
    const void *ancestor;
    size_t index;   /* the pointer's place in its array; 0 for a lone pointer */
    void *argument; /* the context's */
} haul_here;

typedef int64_t haul_function(const haul_here *here);

/* -------------------------------------------------------------------------------------------------
 * The parts of a field. Their layout never changes.
 */

/* An integer of the struct, or of the target. */
typedef struct haul_integer {
    size_t offset;
    uint8_t bytes; /* 1, 2, 4 or 8; of HAUL_UNTIL: sizeof(void *) */
    uint8_t sign;  /* 1: signed */
    uint16_t reserved[3];
} haul_integer;

/* How many elements does a pointer lead to? */
typedef enum haul_count_kind {
    HAUL_COUNT_KIND_ONE = 0,
    /* times * field[0] * field[1] * field[2] + plus; no fields: the constant `plus` */
    HAUL_COUNT_KIND_PRODUCT = 1,
    HAUL_COUNT_KIND_UNTIL = 2, /* from the pointer up to the pointer in field[0] */
    /* up to and with the first element equal to `plus` (0: NUL, or the null pointer) */
    HAUL_COUNT_KIND_TERMINATED = 3,
    HAUL_COUNT_KIND_FUNCTION = 4 /* the answer of `function`; negative refuses */
} haul_count_kind;

typedef struct haul_count {
    haul_function *function; /* first, so that a bare number in place of a count is no valid C */
    int kind;                /* haul_count_kind */
    unsigned fields;         /* 0 to 3 */
    haul_integer field[3];
    int64_t times, plus;
} haul_count;

/* A section: elements in up to HAUL_DIMENSIONS_MAX dimensions, with gaps between them, which do not
 * travel (docs/describing.md: "Do gaps lie between the elements?"). Each dimension has an extent,
 * its number of elements, and a stride, the distance from one to the next. Both are read from the
 * struct that holds the field, unless its pointer is null; they must stay as they are, as counts
 * must. If an extent is 0, there are no elements; one below 0 is HAUL_ERROR_GRAPH.
 *
 * The field owns the elements and has one level. It has neither a count nor a `.type_switch`, a
 * `.pool`, an `.each_pointer` or HAUL_UNLESS_OWNED, and `.end_of` cannot name it. Elements are
 * plain bytes, or objects of a fixed size (`.target`). Functions of extents and strides get no
 * ancestor. */
typedef struct haul_dimension {
    haul_count extent; /* HAUL_ONE, a product or a function */
    haul_count stride; /* the same; of any sign */
    size_t unit;       /* of the stride, in bytes; 0: an element */
} haul_dimension;

#define HAUL_DIMENSIONS_MAX 16u

typedef struct haul_section {
    const haul_dimension *dimensions; /* in any order; copied */
    size_t rank, dimension_bytes;     /* rank 0: no section; sizeof(haul_dimension) */
} haul_section;

/* When does a field hold? */
typedef enum haul_when_kind {
    HAUL_WHEN_KIND_ALWAYS = 0,
    HAUL_WHEN_KIND_FIELD = 1, /* low <= (field & mask) <= high */
    HAUL_WHEN_KIND_NOT = 2,   /* the opposite */
    /* `function` answers another number than 0; `target` is the word without its tag bits */
    HAUL_WHEN_KIND_FUNCTION = 3
} haul_when_kind;

typedef struct haul_when {
    int kind, reserved; /* haul_when_kind */
    haul_integer field;
    int64_t mask, low, high;
    haul_function *function;
} haul_when;

/* Of which type is the target? An integer or a function gives a value, and the case of that value
 * names the type. A value without a case is HAUL_ERROR_GRAPH. The function's `target` is the start
 * of the block. */
typedef enum haul_switch_kind {
    HAUL_SWITCH_KIND_NONE = 0,
    HAUL_SWITCH_KIND_SELF = 1,   /* an integer of the struct that holds the field */
    HAUL_SWITCH_KIND_TARGET = 2, /* an integer of the target, at the same place in all cases */
    HAUL_SWITCH_KIND_FUNCTION = 3
} haul_switch_kind;

typedef struct haul_case {
    int64_t value;
    haul_type *const *type;
    int64_t base; /* more bytes from the address to the start of the block, in this case */
} haul_case;

typedef struct haul_switch {
    int kind, reserved; /* haul_switch_kind */
    haul_integer field;
    haul_function *function;
    const haul_case *cases;
    size_t case_count, case_bytes; /* sizeof(haul_case) */
} haul_switch;

/* Who owns the target of a pointer? A fixed word, below, has a value in the copy that the host
 * knows: no device patches it, and the device's value never comes back. */
typedef enum haul_ownership {
    HAUL_OWNED = 0, /* it belongs to the graph: followed */
    /* It belongs to another object of the graph and is not followed. It must lead to a described
     * byte or, without tag bits in it, one past a described range; else HAUL_ERROR_GRAPH. Its count
     * does not matter. */
    HAUL_BORROWED = 1,
    /* A function, or a handle of something other than memory: a fixed word, with its own value or
     * that of the context's translations (context.h). */
    HAUL_EXTERNAL = 2,
    /* If other fields describe every byte that it leads to, it is borrowed, and its .transfer does
     * not count; otherwise it is owned (docs/describing.md: "Whose is it?"). */
    HAUL_UNLESS_OWNED = 3
} haul_ownership;

/* Which way do bytes travel? In a field of pointers, this holds for the targets of its last
 * pointers: for their embedded structs too, but not for the targets of their own pointers. In
 * HAUL_RAW and HAUL_EMBED it holds for the field, in HAUL_TAIL for the tail. If two fields give
 * different directions to one byte, it travels a way only if both allow it.
 *
 * Bytes that are HAUL_COPYOUT or HAUL_CREATE are never read on the host, not even to compare: they
 * may be uninitialised. So commit refuses these for targets with pointers, optional members, tags
 * or a size function, for arrays that end at a value, and for integers that a count or a condition
 * reads. Targets that are HAUL_COPYIN may have pointers, and these never come back. More is in
 * docs/describing.md: "Does it travel both ways?". */
typedef enum haul_transfer {
    HAUL_COPY = 0,    /* both ways */
    HAUL_COPYIN = 1,  /* to the device; never written on the host */
    HAUL_COPYOUT = 2, /* from the device, where they begin as zeros; never read on the host */
    /* zeros on the device that never come back: room to work in, say. HAUL_SKIP gives way to other
     * fields that describe the same bytes; HAUL_CREATE does not */
    HAUL_CREATE = 3
} haul_transfer;

/* -------------------------------------------------------------------------------------------------
 * A field
 */

typedef enum haul_field_kind {
    HAUL_FIELD_POINTER = 1, /* one pointer, or an array of pointers in the struct itself */
    HAUL_FIELD_EMBED = 2,   /* a struct, or an array of structs, that has fields of its own */
    HAUL_FIELD_SKIP = 3, /* bytes that do not travel: zero on the device, unchanged on the host */
    HAUL_FIELD_RAW = 4,  /* bytes that travel as they are */
    HAUL_FIELD_TAIL = 5, /* the array that ends an object */
    HAUL_FIELD_RELATIVE = 6 /* a pointer that is stored as the distance from itself */
} haul_field_kind;

#define HAUL_LEVELS 3u /* pointers behind one field; for more, use haul_type_pointer */

typedef struct haul_field haul_field;
struct haul_field {
    /* Filled by the macro. */
    const char *name;     /* copied */
    int kind;             /* haul_field_kind */
    unsigned levels;      /* 0 and 1: T *, 2: T **, 3: T *** */
    size_t offset, bytes; /* of the whole field in the struct; bytes of a tail: 0 */
    size_t element_bytes; /* of the last level's target; 0: those of the target type */

    /* Optional, in any order behind a macro's arguments. */

    haul_type *const *target; /* of the last pointer; NULL: plain elements */
    /* Behind the first, second and third pointer; zeros: one element. They read the struct that
     * holds the field; functions get the pointer's place as index. */
    haul_count count, count2, count3;
    /* The field counts while this holds. Fields with conditions may overlap, as the arms of a union
     * do. Only fields that hold count; two that hold at once and overlap are HAUL_ERROR_GRAPH. */
    haul_when when;
    /* The field's bytes while no condition holds for them. 0: zeros in the copy; the host's
     * bytes are not written, and only functions and audits read them. 1: its bytes as they are,
     * both ways. */
    int else_raw;
    haul_ownership ownership;
    /* 1: if the target is in a range of the context's statics, the range's policy decides: the
     * pointer is a fixed word, null, or followed. */
    int maybe_static;
    int packed; /* 1: it may lie off the pointer grid, in a packed struct */
    /* Bits of the word that are no part of the address; the copy has them, too. Low bits (below
     * 4096) need a target with an alignment above them; two pointers' alignment is always given.
     * With high bits (from 1 << 24) the host works out the word, and no device patches it: see
     * HAUL_HIGH_TAGS. A word of tag bits alone is a fixed word. */
    uintptr_t tag_bits;
    uintptr_t integers_below; /* words from 1 to below this are integers: fixed words */
    uintptr_t integers_from;  /* words from this up, too ((uintptr_t)-2: -1, -2); 0: none */
    /* Bytes from the address to the begin of its block: HAUL_CONTAINER_OF(S, m) if it leads to the
     * member m of S. The address may lie outside of the block, by up to HAUL_OUTSIDE_MAX: the
     * copy's arena has spare room for that. */
    int64_t base;
    haul_function *base_fn;  /* answers bytes to add to base; INT64_MIN refuses */
    haul_switch type_switch; /* in place of the target */
    /* Functions of this field get here->ancestor: the nearest struct of this type, self, or one
     * that self lies in or was found through. See describe.h. */
    haul_type *const *ancestor;
    /* For a pointer to pointers: the members of each pointer in the array. The first count is the
     * array's; the further counts belong to each of its pointers. self is the struct that holds the
     * field, index the pointer's place in the array. Its `.kind` is 0 or HAUL_FIELD_POINTER. */
    const haul_field *each_pointer;
    haul_transfer transfer;
    /* 1: the plain bytes that the pointer leads to are a pool. They travel as they are, except
     * where other fields say that they hold objects with pointers. */
    int pool;
    /* The pointer in this struct whose array ends here in the copy (HAUL_END_OF). The field then
     * has no other member than `.when`, `.else_raw` and `.packed`. bytes 0: none. */
    haul_integer end_of;
    haul_section section; /* in place of a count: HAUL_SECTION */
};

/* The address of this handle, which no type has, names the parent: the struct whose pointer led to
 * self, or in which self lies. */
HAUL_API extern haul_type *const haul_any_type;
#define HAUL_PARENT (&haul_any_type)

/* -------------------------------------------------------------------------------------------------
 * A struct
 */

typedef struct haul_struct {
    const char *name;                /* copied */
    size_t bytes;                    /* sizeof, never less */
    haul_type **type;                /* the handle, which haul_describe sets */
    const haul_field *fields;        /* NULL if field_count is 0; copied */
    size_t field_count, field_bytes; /* sizeof(haul_field) */
    /* Optional: objects stand at multiples of it, a power of two up to HAUL_ALIGNMENT_MAX. A
     * pointer to an address that does not is an error, and the copy has the alignment, too. With 0,
     * the copy keeps addresses modulo two pointers, and a pointer's target needs only the alignment
     * of the type's own pointer fields. */
    size_t alignment;
    /* Optional: answers an object's size (here->self is the object): shorter than sizeof, as some
     * allocators of variants make it, or longer. An answer below 1 refuses the object. Fields
     * beyond the end do not apply (the end pointer of a pair goes with its begin); bytes behind the
     * sizeof travel as they are. Objects of such a type, and of one with a HAUL_TAIL, have no
     * common size: a pointer leads to one of them, a root is one of them, and no struct and no
     * constructor can hold them. This function gets no ancestor, and the context's `readable` has
     * been asked for the object's first byte alone. */
    haul_function *size_fn;
} haul_struct;

#ifdef __cplusplus
}
#endif
#endif

/* The trail of a walk: what an ordered layout must know of it, beside the marks.
 */
#ifndef HAUL_LAYOUT_ORDER_LOG_H
#define HAUL_LAYOUT_ORDER_LOG_H

#include "base/memory.h"

/* A range that a pointer leads to: an object, an array, a string. */
typedef struct haul__reached {
    uintptr_t first, end;
    size_t turn; /* in the order of their first being reached, from 0 */
    /* log2 of what `first` is a multiple of: for certain; if what lies in its elements is as it
     * asks; if their size tells */
    uint8_t asked, kept, hoped;
} haul__reached;

/* A pointer that says more, or less, than "this range begins at my target". */
typedef enum haul__reference_kind {
    HAUL__REFERENCE_END,   /* its target is one past a range */
    HAUL__REFERENCE_PLACE, /* nobody has followed it: it leads into a range, or to its end */
    HAUL__REFERENCE_TAGGED /* a range begins at its target, but the word has tag bits too */
} haul__reference_kind;

typedef struct haul__reference {
    haul__reference_kind kind;
    uintptr_t word;  /* where it stands */
    uintptr_t value; /* what it is, as it is translated: see haul__target */
    uintptr_t target;
    uintptr_t object, object_end; /* that it stands in */
    uintptr_t untagged;           /* an address that is a multiple of `tags`; 0: of no interest */
    size_t tags;                  /* a power of two */
} haul__reference;

typedef struct haul__order_log {
    haul__reached *reached;
    size_t reached_count, reached_capacity;
    size_t *known; /* 1 + number of a range; 0: free */
    size_t known_capacity;
    haul__reference *mentions;
    size_t mention_count, mention_capacity;
} haul__order_log;

void haul__order_log_close(const haul_allocator *allocator, haul__order_log *trail);

#endif

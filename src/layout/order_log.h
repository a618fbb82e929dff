/* The order log: the ranges and the unusual pointers of a walk, for the ordered layout.
 *
 * The walk of an ordered plan appends each range that a pointer leads to, in the order of finding.
 * It also appends each pointer (reference) that leads elsewhere than to the beginning of its range,
 * or has tags. haul__clusters_make merges the ranges and gives them places in that order.
 */
#ifndef HAUL_LAYOUT_ORDER_LOG_H
#define HAUL_LAYOUT_ORDER_LOG_H

#include "base/index.h"
#include "base/list.h"
#include "context/context.h"

/* A range that a pointer leads to: an object, an array, a string. */
typedef struct haul__reached {
    uintptr_t first, end;
    /* its number in the order in which ranges are first reached; in an arena that is packed
     * straight (pack/straight.h) its place, in granules */
    uint32_t turn;
    /* log2 of an alignment of `first`: `asked` was checked, `kept` is declared by types within the
     * elements, `hoped` follows from the elements' size */
    uint8_t asked, kept, hoped;
} haul__reached;

/* How a pointer leads to its range, if not simply to its beginning. */
typedef enum haul__reference_kind {
    HAUL__REFERENCE_END,   /* to one past the range's end */
    HAUL__REFERENCE_PLACE, /* somewhere into the range, or to its end: it was not followed */
    HAUL__REFERENCE_TAGGED /* to its beginning, with tag bits */
} haul__reference_kind;

typedef struct haul__reference {
    haul__reference_kind kind;
    uintptr_t word;  /* the address of the pointer */
    uintptr_t value; /* the address that is translated: see haul__target */
    uintptr_t target;
    uintptr_t object, object_end; /* the object that the pointer stands in */
    uintptr_t untagged;           /* an address that stays a multiple of `tags`, or 0 */
    size_t tags;                  /* a power of two */
} haul__reference;

typedef struct haul__order_log {
    HAUL__LIST(haul__reached) reached;
    haul__index known; /* of ranges without new bytes */
    HAUL__LIST(haul__reference) references;
} haul__order_log;

/* An empty one, with the memory of one before it. */
void haul__order_log_open(haul_context *context, haul__order_log *log);
void haul__order_log_close(haul_context *context, haul__order_log *log);

#endif

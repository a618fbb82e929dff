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

struct haul_type;
struct haul__slot;
struct haul__walk;

/* A range that a pointer leads to: an object, an array, a string. */
typedef struct haul__reached {
    uintptr_t first, end;
    /* its number in the order in which ranges are first reached; in an arena that is packed
     * straight (pack/straight.h) its place, in granules */
    uint32_t turn;
    /* log2 of an alignment of `first`: `asked` was checked, `kept` is declared by types within the
     * elements, `hoped` follows from the elements' size */
    unsigned asked : 8, hoped : 8, kept : 4;
    unsigned type : 12; /* 1 + the number of the elements' type in log->types; 0: plain, pointers */
} haul__reached;

#define HAUL__UNNUMBERED ((1u << 12) - 1) /* types from here on share this */

/* An object whose pointers are followed one by one. */
typedef struct haul__visited {
    uintptr_t first, end;
    const struct haul__walk *rows; /* NULL: it is a pointer of an array */
} haul__visited;

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
    haul__visited object;          /* that the pointer stands in */
    const struct haul__slot *slot; /* of a borrowed pointer; else NULL */
    uintptr_t untagged;            /* an address that stays a multiple of `tags`, or 0 */
    size_t tags;                   /* a power of two */
} haul__reference;

typedef struct haul__order_log {
    HAUL__LIST(haul__reached) reached;
    haul__index known; /* of ranges without new bytes */
    HAUL__LIST(haul__reference) references;
    HAUL__LIST(const struct haul_type *) types; /* by number; some have several */
    /* Of ranges that get places at once, one behind the other: `turn` is the place in granules. */
    int gives_places;
    unsigned shift;           /* log2 of the largest alignment */
    uint64_t end, end_before; /* of what has a place: with the last range, and before it */
    uint64_t bytes;           /* of all ranges */
    uint64_t places;          /* all ends or'ed: the largest is not above it */
} haul__order_log;

/* The first multiple of an alignment from `at` on. */
HAUL__INLINE uint64_t haul__round_up(uint64_t at, size_t alignment)
{
    return (at + alignment - 1) & ~(uint64_t)(alignment - 1);
}

HAUL__INLINE void haul__add_demands(haul__reached *to, const haul__reached *from)
{
    if (to->asked < from->asked)
        to->asked = from->asked;
    if (to->kept < from->kept)
        to->kept = from->kept;
    if (to->hoped < from->hoped)
        to->hoped = from->hoped;
}

/* log2 of the alignment of a range, if it is a cluster (clusters.c): a granule's or more, and
 * `hoped` is no more. */
HAUL__INLINE unsigned haul__shift_of(const haul__reached *range)
{
    const unsigned shift = range->asked > range->kept ? range->asked : range->kept;
    return shift > HAUL__GRANULE_SHIFT ? shift : HAUL__GRANULE_SHIFT;
}

/* Gives a range the place behind the last one. A place that `turn` cannot hold shows in
 * log->places. */
HAUL__INLINE void haul__give_place(haul__order_log *log, haul__reached *range)
{
    const unsigned shift = haul__shift_of(range);
    const uint64_t bytes = range->end - range->first,
                   place = haul__round_up(log->end, (size_t)1 << shift);
    range->turn = (uint32_t)(place >> HAUL__GRANULE_SHIFT);
    log->end_before = log->end;
    log->end = haul__round_up(place + bytes, HAUL__GRANULE);
    log->bytes += bytes;
    log->places |= log->end;
    log->shift = shift > log->shift ? shift : log->shift;
}

/* Before the first range. */
HAUL__INLINE void haul__begin_places(haul__order_log *log)
{
    log->gives_places = 1;
    log->shift = HAUL__GRANULE_SHIFT;
    log->end = log->end_before = HAUL__GRANULE;
    log->bytes = log->places = 0;
}

/* An empty one, with the memory of one before it. */
void haul__order_log_open(haul_context *context, haul__order_log *log);
void haul__order_log_close(haul_context *context, haul__order_log *log);

#endif

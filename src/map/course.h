/* The course of a discovery: which threads found how much, and what took the general way, and why.
 *
 * The walk counts only where it is slow already, so a graph that it is fast on pays nothing. Types
 * and slots are those behind the roots, which hold them.
 */
#ifndef HAUL_MAP_COURSE_H
#define HAUL_MAP_COURSE_H

#include "base/list.h"
#include "type/type.h"

typedef enum haul__why {
    HAUL__WHY_NOT,
    /* of the context or the call: why one thread walks */
    HAUL__WHY_ONE_THREAD,
    HAUL__WHY_CHECKED,
    HAUL__WHY_READABLE,
    HAUL__WHY_MOST_BYTES,
    HAUL__WHY_ORDERED,
    HAUL__WHY_RECORDED, /* to be read by other rooms, so no shipment has it */
    HAUL__WHY_NO_TABLE,
    HAUL__WHY_ALLOCATOR,
    HAUL__WHY_MANY_TYPES,
    /* of the graph: the same */
    HAUL__WHY_SMALL,
    HAUL__WHY_FEW_WAIT,
    HAUL__WHY_OVERLAP,
    HAUL__WHY_BEGIN,
    HAUL__WHY_LONG_ARRAY,
    HAUL__WHY_FAULT, /* what one thread refuses, so no plan has it */
    /* of a type or a row: the same, or why it takes the general way */
    HAUL__WHY_RULES,
    HAUL__WHY_SIZED,
    HAUL__WHY_DEPENDS,
    HAUL__WHY_DIRECTION,
    HAUL__WHY_ANCESTORS,
    HAUL__WHY_PARTS,
    HAUL__WHY_HOLES,
    HAUL__WHY_POINTERS,
    HAUL__WHY_ALIGNMENT,
    HAUL__WHY_SIZE,
    HAUL__WHY_OFF_GRID,
    HAUL__WHY_PAIR,
    HAUL__WHY_POOL,
    HAUL__WHY_FUNCTION,
    HAUL__WHY_TERMINATOR,
    HAUL__WHY_COUNT,
    HAUL__WHY_OBJECTS,
    HAUL__WHY_NESTED,
    HAUL__WHY_LIMITS
} haul__why;

typedef struct haul__reason {
    haul__why why;
    const haul__walk *walk; /* of the type that it is about; NULL: of none */
    const haul__slot *slot; /* and of its row; NULL: of none, or of many */
} haul__reason;

/* What took the general way: objects of a type, or pointers of one of its rows. */
typedef struct haul__general {
    haul__reason reason;
    int is_row;
    size_t count;
} haul__general;

typedef struct haul__finder {
    uintptr_t thread; /* haul__thread */
    size_t objects;
} haul__finder;

typedef struct haul__course {
    enum { HAUL__BY_ONE, HAUL__BY_ALL, HAUL__BY_AIMS } walkers;
    haul__reason alone; /* why one thread has walked */
    size_t repeated;    /* objects that had been found when a walk began anew */
    HAUL__LIST(haul__general) general;
    HAUL__LIST(haul__finder) finders; /* the caller's first; empty: it has found all */
} haul__course;

#endif

/* A compiled path: steps, the rows that each may take, and the types of its ends.
 */
#ifndef HAUL_CHAIN_ROOM_H
#define HAUL_CHAIN_ROOM_H

#include "base/list.h"
#include "context/context.h"
#include "haul/chain.h"
#include "type/row.h"

#define HAUL__EACH_INDEX SIZE_MAX /* "[*]" */

/* A row that a step may take: one with the step's name, in a type that the steps before may lead
 * to. Rows of one type and name are arms of a union. */
typedef struct haul__arm {
    const haul_type *type;
    const haul__row *row;
    unsigned bars; /* the directions that the bytes it leads to are excluded from */
} haul__arm;

/* Field names are pieces of the path. */
typedef struct haul__step {
    const char *name;
    size_t name_bytes;
    size_t first_arm, arm_count;
    size_t first_index, index_count;
} haul__step;

/* The type of targets: of a row's plain elements, or of its objects of type `target`. */
typedef struct haul__chain_end {
    const haul__row *row;
    const haul_type *target; /* NULL: plain elements */
    const haul_type *type;   /* held; it has the directions of the end */
} haul__chain_end;

struct haul_chain {
    uint32_t magic;
    int holders; /* atomic */
    haul_context *context;
    haul__freed freed; /* to free the caller's hold later */
    const haul_type *type;
    char *path;
    size_t path_bytes;
    HAUL__LIST(haul__step) steps;
    HAUL__LIST(haul__arm) arms;
    HAUL__LIST(size_t) indices; /* or HAUL__EACH_INDEX */
    HAUL__LIST(haul__chain_end) ends;
    size_t many; /* "[*]" in it */
};

int haul__chain_is_valid(const haul_chain *chain);
void haul__chain_hold(haul_chain *chain);
void haul__chain_drop(haul_chain *chain);

/* compile.c: fills the lists of a chain that has its context, type and path. */
haul_status haul__chain_compile(haul_chain *chain, size_t bytes);

/* Does the row describe bytes of the object itself, not what pointers lead to? */
HAUL__INLINE int haul__is_inside(const haul__row *row)
{
    return row->kind == HAUL_FIELD_RAW || row->kind == HAUL_FIELD_EMBED ||
           row->kind == HAUL_FIELD_TAIL;
}

/* The pointers of a row in the object itself; 1 for all other rows. */
HAUL__INLINE size_t haul__words_in(const haul__row *row)
{
    return row->kind == HAUL_FIELD_POINTER && !haul__row_is_distance(row)
               ? row->bytes / sizeof(void *)
               : 1;
}

#endif

/* The lists of a type while it is flattened, in the order of adding.
 */
#ifndef HAUL_TYPE_FLAT_LISTS_H
#define HAUL_TYPE_FLAT_LISTS_H

#include "base/list.h"
#include "type/record.h"

/* `name` is an offset in the scratch text. */
typedef struct haul__made_slot {
    haul__slot slot;
    size_t name;
} haul__made_slot;

typedef struct haul__made_part {
    haul__part part;
    size_t name;
} haul__made_part;

typedef struct haul__made_ruled {
    haul__ruled ruled;
    size_t name;
} haul__made_ruled;

/* Working memory of flattening, for one type after the other. */
typedef struct haul__scratch {
    haul_allocator allocator;
    HAUL__LIST(haul__run) runs;
    HAUL__LIST(haul__made_slot) slots;
    HAUL__LIST(haul__made_part) parts;
    HAUL__LIST(haul__made_ruled) ruled;
    HAUL__LIST(haul__excluded) excluded;
    HAUL__LIST(char) text;
    size_t alignment, placement;
} haul__scratch;

/* Empties the lists, keeps their memory. */
void haul__scratch_clear(haul__scratch *s);
void haul__scratch_release(haul__scratch *s);

/* Each adds one entry to its list; 0: out of memory. haul__put_run joins a run to the last one if
 * they touch. */
int haul__put_new_run(haul__scratch *s, size_t offset, size_t bytes);
int haul__put_run(haul__scratch *s, size_t offset, size_t bytes);
int haul__put_slot(haul__scratch *s, const haul__slot *slot, size_t name);
int haul__put_part(haul__scratch *s, size_t offset, size_t count, size_t stride,
                   const haul_type *type, size_t name);
int haul__put_ruled(haul__scratch *s, const haul__ruled *ruled, size_t name);
int haul__put_excluded(haul__scratch *s, size_t offset, size_t bytes, unsigned exclusions);
/* Writes "outer[index].inner" into the text; *name is its offset. Empty names are left out, and the
 * index if `count` is 1. */
int haul__put_name(haul__scratch *s, const char *outer, size_t index, size_t count,
                   const char *inner, size_t *name);

#endif

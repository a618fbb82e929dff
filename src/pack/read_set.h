/* Fields that the description reads: what stands in them must not change on the device.
 *
 * Discovery has noted each of them with its value (guards), in the order of finding. The way back
 * goes by address, so here they are once more in that order, each once, made when the first results
 * come back.
 */
#ifndef HAUL_PACK_READ_SET_H
#define HAUL_PACK_READ_SET_H

#include "base/base.h"
#include "haul/plan.h"
#include "type/type.h"
#include "type/field.h"

#define HAUL__READ_MAX 8u /* bytes of the widest field */

/* A value that has no room in its guard. */
typedef struct haul__far_read {
    uint64_t place; /* HAUL__GUARD_PLACE */
    int64_t value;
} haul__far_read;

typedef struct haul__reads {
    uint64_t *words; /* guards, by address */
    size_t count, capacity;
    haul__far_read *far; /* by place */
    size_t far_count, far_capacity;
    int is_made;
} haul__reads;

/* Those of a plan; `with_ends`: strings' terminators among them, which a plan has in its map.
 * HAUL_ERROR_MEMORY. */
haul_status haul__reads_make(const haul_plan *plan, int with_ends, const haul_allocator *allocator,
                             haul__reads *reads);
void haul__reads_free(const haul_allocator *allocator, haul__reads *reads);
size_t haul__reads_bytes(const haul__reads *reads);
/* The number of the first that ends behind `address`. */
size_t haul__first_read(const haul__reads *reads, uintptr_t address);

HAUL__INLINE unsigned haul__read_bytes(uint64_t word)
{
    return 1u << (word >> 48 & 3u);
}

/* What discovery read. */
int64_t haul__read_value(const haul__reads *reads, uint64_t word);
/* A value as the bytes of such a field. */
void haul__read_to_bytes(uint64_t word, int64_t value, unsigned char *bytes);

/* What stands at `there`, read in the same way as discovery read it. */
HAUL__INLINE int64_t haul__read_there(uint64_t word, const void *there)
{
    haul_field_place place = { 0, 0, 1 };
    place.bytes = (uint8_t)haul__read_bytes(word);
    return haul__read_stored(there, &place);
}

/* HAUL_ERROR_GRAPH, with words for both values and what to do. */
haul_status haul__refuse_read(haul_error *error, uint64_t word, int64_t was, int64_t is);

#endif

/* The read set by address: integers that counts, conditions and switches read. They must not change
 * on the device.
 *
 * Discovery notes each of them with its value, as a read, in the order of finding. Results come
 * back in order of address. So when the first results come back, the reads are sorted by address,
 * each once. All threads of the context sort (take_reads.c, sort_reads.c); the set is that of one.
 */
#ifndef HAUL_PACK_SORTED_READS_H
#define HAUL_PACK_SORTED_READS_H

#include "base/base.h"
#include "haul/plan.h"
#include "type/type.h"
#include "type/field.h"

#define HAUL__READ_MAX 8u /* bytes of the widest field */

/* The value of a far read, which has no room for it. */
typedef struct haul__far_read {
    uint64_t place; /* HAUL__READ_PLACE of the read */
    int64_t value;
} haul__far_read;

typedef struct haul__read_set {
    uint64_t *words; /* reads, by address */
    size_t count, capacity;
    haul__far_read *far; /* by place */
    size_t far_count, far_capacity;
    int is_made;
} haul__read_set;

/* The read set of a plan. `with_ends`: with terminators of strings too, which otherwise stand in
 * the plan's map alone. HAUL_ERROR_MEMORY. */
haul_status haul__read_set_make(const haul_plan *plan, int with_ends,
                                const haul_allocator *allocator, haul__read_set *reads);
void haul__read_set_free(const haul_allocator *allocator, haul__read_set *reads);
size_t haul__read_set_bytes(const haul__read_set *reads);
/* The first read whose field ends behind `address`. */
size_t haul__first_read(const haul__read_set *reads, uintptr_t address);
/* The first one that begins at the address or behind it. */
size_t haul__first_behind(const haul__read_set *reads, uintptr_t address);

HAUL__INLINE unsigned haul__read_bytes(uint64_t word)
{
    return 1u << (word >> 48 & 3u);
}

/* The value that discovery read. */
int64_t haul__read_value(const haul__read_set *reads, uint64_t word);
/* Writes a value to `bytes` in the field's own form. */
void haul__read_to_bytes(uint64_t word, int64_t value, unsigned char *bytes);

/* The field's value in a copy of it. */
HAUL__INLINE int64_t haul__read_copied(uint64_t word, const void *copied)
{
    haul_integer place = { 0, 0, 1, { 0, 0, 0 } };
    place.bytes = (uint8_t)haul__read_bytes(word);
    return haul__read_stored(copied, &place);
}

/* HAUL_ERROR_GRAPH: the field has changed. The text names both values and a remedy. */
haul_status haul__refuse_read(haul_error *error, uint64_t word, int64_t was, int64_t is);

#endif

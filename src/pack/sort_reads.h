/* Sorting reads by address.
 */
#ifndef HAUL_PACK_SORT_READS_H
#define HAUL_PACK_SORT_READS_H

#include "base/pool.h"

#define HAUL__READ_PARTS HAUL__POOL_CHUNKS /* of a list, at most */

/* Who sorts: a pool, or NULL; and the parts that a list is cut into, from 1 to HAUL__READ_PARTS.
 * The result depends on neither. */
typedef struct haul__read_crew {
    haul__pool *pool;
    size_t parts;
} haul__read_crew;

/* Where part `number` of a list begins; that of number `parts` is the list's end. */
HAUL__INLINE size_t haul__read_part(size_t count, size_t parts, size_t number)
{
    const size_t more = count % parts;
    return count / parts * number + (number < more ? number : more);
}

/* Runs a loop over the crew's parts of a list. `reads`: how many the list has. */
void haul__run_parts(const haul__read_crew *crew, size_t reads, haul__pool_work *work, void *user);

/* Sorts reads by address, those of one address by their other bits, and keeps each once. *words was
 * allocated with room for `count` of them, and may be replaced by such an array. *kept: those that
 * are left. 0: there is no memory, and *words holds the reads as they were. */
int haul__sort_reads(const haul_allocator *allocator, const haul__read_crew *crew, uint64_t **words,
                     size_t count, size_t *kept);

#endif

/* Taking reads out of the list in which discovery has noted them.
 */
#ifndef HAUL_PACK_TAKE_READS_H
#define HAUL_PACK_TAKE_READS_H

#include "pack/sort_reads.h"
#include "pack/sorted_reads.h"

/* A list of reads, cut into parts. */
typedef struct haul__listed_reads {
    const uint64_t *list;
    size_t reads, far;                    /* in all parts */
    size_t starts[HAUL__READ_PARTS + 1];  /* of the parts, in the list */
    size_t read_at[HAUL__READ_PARTS + 1]; /* numbers of the parts' first reads, and far reads */
    size_t far_at[HAUL__READ_PARTS + 1];
} haul__listed_reads;

/* Cuts the list into parts, and counts its reads. A far read has two words. */
void haul__list_reads(const haul__read_crew *crew, const uint64_t *list, size_t words,
                      haul__listed_reads *listed);
/* Adds them to the set in the order of finding, and far ones also to its far reads. It has room. */
void haul__take_reads(const haul__read_crew *crew, const haul__listed_reads *listed,
                      haul__read_set *to);

#endif

/* A present table: ranges of addresses, and the distance from each to its other copy. An
 * environment has two: from the host's addresses to the device's, and back.
 *
 * One thread at a time changes it; meanwhile any thread looks up. Nobody waits for a reader.
 */
#ifndef HAUL_ENVIRONMENT_PRESENT_H
#define HAUL_ENVIRONMENT_PRESENT_H

#include "base/memory.h"

/* Memory that no record has had yet. */
typedef struct haul__fresh {
    unsigned char *at, *end;
    size_t bytes; /* that were ever fresh */
} haul__fresh;

#define HAUL__PRESENT_LATELY 64u /* a power of two */

typedef struct haul__present {
    haul_allocator allocator;
    uint32_t version; /* odd while records change; atomic, like all that readers read */
    /* ranges, or some together, that have come or gone: begun, and done; and where the last ones
     * lie, by their numbers */
    uint32_t begun, done;
    struct {
        uintptr_t begin, end;
    } lately[HAUL__PRESENT_LATELY];
    uintptr_t directory;             /* of a haul__directory; 0: the table is empty */
    uintptr_t last_block, last_slot; /* that the writer found last; 0: none */
    struct haul__kept *kept;
    haul__fresh blocks, records;
    uintptr_t free[34]; /* by size, linked through their first words */
    size_t bytes;       /* host memory, all of it kept until the table closes */
} haul__present;

/* A range that is on the device in one piece. */
typedef struct haul__covered {
    uintptr_t begin;
    size_t bytes;
    uintptr_t device;
} haul__covered;

/* The range at an address. */
typedef struct haul__found_range {
    uintptr_t delta; /* from its addresses to those of its other copy */
    uint32_t group;
    /* one past the bytes of the range that lie in the address's page: its own end, or that of the
     * page if it goes on */
    uintptr_t end;
    int goes_on;
} haul__found_range;

void haul__present_open(haul__present *table, const haul_allocator *allocator);
void haul__present_close(haul__present *table);

/* Adds a range that overlaps none. 0: out of memory, and nothing has changed. */
int haul__present_add(haul__present *table, uintptr_t begin, size_t bytes, uintptr_t delta,
                      uint32_t group);
/* Adds all ranges of a list from the host's addresses to the device's, or back (`by_device`). They
 * overlap none, and are in order of address on both sides: those that begin and end in one page
 * are added together. 0: out of memory, and nothing has changed. */
int haul__present_add_all(haul__present *table, const haul__covered *ranges, size_t count,
                          int by_device, uint32_t group);
/* Removes a range as it was added; all ranges of a list. */
void haul__present_remove(haul__present *table, uintptr_t begin, size_t bytes);
void haul__present_remove_all(haul__present *table, const haul__covered *ranges, size_t count,
                              int by_device);

/* It differs after each change. Any thread. */
HAUL__INLINE uint32_t haul__present_version(const haul__present *table)
{
    return haul__atomic_load(&table->version);
}

/* What haul__present_is_quiet asks for: a moment. Any thread. */
HAUL__INLINE uint32_t haul__present_moment(const haul__present *table)
{
    return haul__atomic_load(&table->done);
}
/* 1: between the moment and now no range with a byte in [begin, end) has come or gone. Then *since
 * is a later moment. 0: one has, or too many elsewhere to tell. Any thread. */
int haul__present_is_quiet(const haul__present *table, uintptr_t begin, uintptr_t end,
                           uint32_t *since);

/* The range of a byte; 0: there is none. Any thread. */
int haul__present_find(const haul__present *table, uintptr_t address, haul__found_range *found);
/* The same for the thread that may change the table, in less time. */
int haul__present_find_held(haul__present *table, uintptr_t address, haul__found_range *found);
/* The first address in [begin, end) that lies in a range; `end`: there is none. Any thread. */
uintptr_t haul__present_next(const haul__present *table, uintptr_t begin, uintptr_t end);
/* How many ranges of a list, in order of the host's addresses, come before one with a byte in a
 * range of the table, which is such a table; *there: the first such byte, if there is one. For the
 * thread that may change the table. */
size_t haul__present_count_clear(haul__present *table, const haul__covered *ranges, size_t count,
                                 uintptr_t *there);

#endif

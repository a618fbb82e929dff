/* The read set: the values and answers that discovery has used. They must be the same when the plan
 * is used again.
 */
#ifndef HAUL_WALK_READ_SET_H
#define HAUL_WALK_READ_SET_H

#include "map/found.h"

struct haul__asked;
struct haul__discovery;

/* The question that a callback answers. */
typedef enum haul__question {
    HAUL__ASKS_COUNT,
    HAUL__ASKS_CONDITION,
    HAUL__ASKS_CHOICE,
    HAUL__ASKS_BASE,
    HAUL__ASKS_SIZE
} haul__question;

/* Both add to the read set. */
haul_status haul__note_read(struct haul__discovery *d, uintptr_t address, unsigned bytes,
                            int64_t value);
haul_status haul__note_call(struct haul__discovery *d, const struct haul__asked *asked,
                            int64_t answer);

/* Makes room for `reads` more reads. An array waits only if there is room, so without this call the
 * memory that earlier walks have left would decide the order of finding. 0: out of memory. */
int haul__reads_fit(struct haul__discovery *d, size_t reads);

/* In a changed graph, by the plan's read set: */
/* The answer that the function gave for the same struct, target and place; *has 0: it was not
 * asked. HAUL_ERROR_MEMORY. */
haul_status haul__answer_of(struct haul__discovery *d, const struct haul__asked *asked,
                            int64_t *answer, int *has);
/* Was the integer read, though it belongs to no object? HAUL_ERROR_MEMORY. */
haul_status haul__has_read_apart(struct haul__discovery *d, uintptr_t address, size_t bytes,
                                 int *has);
void haul__answers_close(struct haul__discovery *d);

/* Adds the read set of what led to the roots of `to`. When they are compared, its values come
 * first, in the order in which they were read. HAUL_ERROR_MEMORY. */
haul_status haul__add_read_set(haul_context *context, haul__found *to, const haul__found *from);
/* Is a value at the address among them? */
int haul__has_read(const haul__found *found, uintptr_t address);
/* Frees the lists of a read set that belongs to no plan. */
void haul__read_set_drop(haul_context *context, haul__found *found);

/* Is the value of the read that ends before word *i unchanged? Moves *i to the read's first
 * word. */
int haul__read_holds(const haul__found *found, size_t *i);
/* Finds the first call that has changed. Either its callback answers something else now, and *moved
 * is 0; or its pointer word has changed: then *moved is that word's address, and the callback is
 * not called. 0: no call has changed. */
int haul__find_changed_call(const haul__found *found, haul__call *call, uintptr_t *moved);

#endif

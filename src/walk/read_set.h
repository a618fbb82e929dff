/* The read set: the values and answers that discovery went by. They must be the same when the plan
 * is used again.
 */
#ifndef HAUL_WALK_READ_SET_H
#define HAUL_WALK_READ_SET_H

#include "map/found.h"

struct haul__discovery;

/* What a callback is asked for. */
typedef enum haul__question {
    HAUL__ASKS_COUNT,
    HAUL__ASKS_CONDITION,
    HAUL__ASKS_CHOICE,
    HAUL__ASKS_BASE,
    HAUL__ASKS_SIZE
} haul__question;

/* Add to the read set, except in a dry run. */
haul_status haul__note_guard(struct haul__discovery *d, uintptr_t address, unsigned bytes,
                             int64_t value);
haul_status haul__note_call(struct haul__discovery *d, haul_function *function,
                            const haul_here *here, haul__question question, int64_t answer);

/* Is the value of the guard before word *i as it was? Moves *i to the guard's first word. */
int haul__guard_holds(const haul__found *found, size_t *i);
/* Finds a call whose callback answers something else now. Where its pointer word has changed, it is
 * not called, and *moved is that word's address. 0: nothing has changed. */
int haul__find_changed_call(const haul__found *found, haul__call *call, uintptr_t *moved);

#endif

/* The read set: the values and answers that discovery went by, which must be the same when the plan
 * is used again.
 */
#ifndef HAUL_WALK_READ_SET_H
#define HAUL_WALK_READ_SET_H

#include "map/found.h"

struct haul__discovery;

/* What is asked of a callback. */
typedef enum haul__question {
    HAUL__ASKS_COUNT,
    HAUL__ASKS_CONDITION,
    HAUL__ASKS_CHOICE,
    HAUL__ASKS_BASE,
    HAUL__ASKS_SIZE
} haul__question;

haul_status haul__note_guard(struct haul__discovery *d, uintptr_t address, unsigned bytes,
                             int64_t value);
haul_status haul__note_call(struct haul__discovery *d, haul_function *function,
                            const haul_here *here, haul__question question, int64_t answer);

/* Does the guard that ends before word *i hold? Goes on to its beginning. */
int haul__guard_holds(const haul__found *found, size_t *i);
/* Finds a call whose callback does not answer what it answered, or, in *moved, was given the target
 * of a pointer word that leads elsewhere now. 0: there is none. */
int haul__find_changed_call(const haul__found *found, haul__call *call, uintptr_t *moved);

#endif

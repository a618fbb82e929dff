/* Memory of the source that has copies outside of the graph at hand: discovery stops there, and a
 * pointer into it becomes the address of that copy.
 */
#ifndef HAUL_MAP_ELSEWHERE_H
#define HAUL_MAP_ELSEWHERE_H

#include <stddef.h>
#include <stdint.h>

typedef enum haul__meeting {
    HAUL__HERE,        /* the range begins in no such memory */
    HAUL__WHOLE,       /* all of it has a copy, in one piece */
    HAUL__REACHES_OUT, /* its beginning has a copy, and its end has none */
    HAUL__NOT_NOTED    /* it has a copy, and there is no memory to note that */
} haul__meeting;

typedef struct haul__elsewhere {
    void *user;
    /* A pointer of discovery leads to `bytes` bytes, at least one. */
    haul__meeting (*meet)(void *user, uintptr_t address, size_t bytes);
    /* The copy's address; 0: the byte has none. Any thread. */
    uintptr_t (*copy_of)(void *user, uintptr_t address);
} haul__elsewhere;

#endif

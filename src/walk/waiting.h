/* Pointers that wait: HAUL_UNLESS_OWNED. They are listed here, and decided in unless_owned.c.
 */
#ifndef HAUL_WALK_WAITING_H
#define HAUL_WALK_WAITING_H

#include "walk/ruled_field.h"

/* A pointer, and where it was visited. */
typedef struct haul__waiting {
    haul__field_value word;
    const haul__ruled *ruled;
    uintptr_t self;
    size_t index;
    size_t count, bytes; /* of its elements, and of one, once it is decided */
    int is_borrowed;
    haul__nearest nearest;
    haul__ancestor ancestor;
    size_t root, entry, element;
    haul__visited visited; /* in order: the object that it stands in */
} haul__waiting;

haul_status haul__let_wait(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                           const haul__field_value *w);
void haul__waiting_close(haul__discovery *d);

#endif

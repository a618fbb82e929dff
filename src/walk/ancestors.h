/* Ancestors: the objects that something was found through.
 */
#ifndef HAUL_WALK_ANCESTORS_H
#define HAUL_WALK_ANCESTORS_H

#include "walk/worklist.h"

struct haul__object;

/* What callbacks of a rule get of those who led to an object. */
haul__asked haul__asked_of(const haul__discovery *d, const struct haul__object *o,
                           const haul__rule *rule);
/* Sets d->held to those through whom things are found that an element of the entry leads to: the
 * entry's, as far as its kind must know, and the element itself if it holds. */
haul_status haul__enter(haul__discovery *d, const haul__entry *entry, size_t element);
void haul__leave(haul__discovery *d); /* nobody, and nothing is asked */
/* Checked mode: *is_again: 1 if objects or pointers were found before, but never through these
 * holders. */
haul_status haul__meet_held(haul__discovery *d, const haul__entry *entry, int *is_again);
void haul__ancestors_close(haul__discovery *d);

#endif

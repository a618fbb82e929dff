/* Ancestors: the objects on the path to an object, for the rules that ask for one of them.
 */
#ifndef HAUL_WALK_ANCESTORS_H
#define HAUL_WALK_ANCESTORS_H

#include "walk/worklist.h"

struct haul__object;

/* The ancestor of an object that a rule asks for. */
haul__nearest haul__nearest_of(const haul__discovery *d, const struct haul__object *o,
                               const haul__rule *rule);
/* *inherited: the ancestors that targets of the element inherit: the entry's, if its type needs
 * them, and the element itself, if rules ask for its type. */
haul_status haul__inherit(haul__discovery *d, const haul__entry *entry, size_t element,
                          haul__ancestor *inherited);
/* Checked mode: *is_again becomes 1 if the entry was found before, but never with these
 * ancestors. */
haul_status haul__meet_ancestors(haul__discovery *d, const haul__entry *entry, int *is_again);
void haul__ancestors_close(haul__discovery *d);

#endif

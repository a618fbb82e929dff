/* Ancestors: the objects through which something was found. The public headers call the ancestor
 * that a rule asks for its holder.
 */
#ifndef HAUL_WALK_ANCESTORS_H
#define HAUL_WALK_ANCESTORS_H

#include "walk/worklist.h"

struct haul__object;

/* What callbacks of a rule get of the objects that led to this one. */
haul__callers haul__callers_of(const haul__discovery *d, const struct haul__object *o,
                               const haul__rule *rule);
/* Sets d->ancestor to what targets of the entry's element inherit: the entry's ancestors, if its
 * type needs them, and the element, if its type is one that rules ask for. */
haul_status haul__enter_ancestors(haul__discovery *d, const haul__entry *entry, size_t element);
void haul__leave_ancestors(haul__discovery *d); /* no ancestors, no callers */
/* Checked mode: *is_again becomes 1 if the entry was found before, but never with these
 * ancestors. */
haul_status haul__meet_ancestors(haul__discovery *d, const haul__entry *entry, int *is_again);
void haul__ancestors_close(haul__discovery *d);

#endif

/* What the host's graph would be, if an arena that has come back were written to it.
 */
#ifndef HAUL_PACK_OVERLAY_H
#define HAUL_PACK_OVERLAY_H

#include "base/base.h"
#include "haul/plan.h"

/* `now`: the graph as haul__gather packs it; it gets the host's bytes where none are sent. `arena`:
 * what has come back, with pointers as in `now`; it gets the bytes of `now` wherever a return
 * writes nothing. `pointers`: they return, too. */
void haul__overlay(const haul_plan *plan, unsigned char *arena, unsigned char *now, int pointers);

#endif

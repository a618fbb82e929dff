/* The sections that a discovery has marked, so that a second pointer to one costs a look-up.
 */
#ifndef HAUL_WALK_SECTION_MEMO_H
#define HAUL_WALK_SECTION_MEMO_H

#include "walk/discovery.h"

/* *is_known: was this section, told by `count` words, asked for before? From now on it is known. */
haul_status haul__section_meet(haul__discovery *d, const size_t *words, size_t count,
                               int *is_known);
void haul__section_memo_close(haul__discovery *d);

#endif

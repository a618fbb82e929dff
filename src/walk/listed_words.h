/* Words that slot bits cannot describe, listed one by one.
 */
#ifndef HAUL_WALK_LISTED_WORDS_H
#define HAUL_WALK_LISTED_WORDS_H

#include "walk/discovery.h"

/* An explicit relocation, a fixed word, a tagged pointer: see map/found.h. */
haul_status haul__note_explicit(haul__discovery *d, uintptr_t address, uintptr_t value,
                                uintptr_t delta);
haul_status haul__note_fixed(haul__discovery *d, const haul__fixed *word);
haul_status haul__note_tagged(haul__discovery *d, const haul__tagged *word);

#endif

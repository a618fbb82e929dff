/* Words that slot bits cannot describe, listed one by one.
 */
#ifndef HAUL_WALK_LISTED_WORDS_H
#define HAUL_WALK_LISTED_WORDS_H

#include "walk/discovery.h"

haul_status haul__note_special(haul__discovery *d, const haul__special_word *word);
/* The same for an explicit relocation without an addend. */
haul_status haul__note_explicit(haul__discovery *d, uintptr_t address, uintptr_t value);
/* Notes where pointers off the grid begin in the first `bytes` bytes of an object. Sets *any if one
 * was not known: the object must be visited. */
haul_status haul__note_off_grid(haul__discovery *d, const haul__walk *walk, uintptr_t object,
                                size_t bytes, int *any);
/* Lists the end of an array, if there are copies elsewhere. */
haul_status haul__note_array_end(haul__discovery *d, const haul__array_end *end);

#endif

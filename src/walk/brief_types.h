/* Brief types: structs of at most 64 words, with skipped bytes, with fields that do not travel both
 * ways, or with rules that read only the fields of their own object.
 */
#ifndef HAUL_WALK_BRIEF_TYPES_H
#define HAUL_WALK_BRIEF_TYPES_H

#include "walk/discovery.h"

#define HAUL__BRIEF_WORDS ((size_t)64)
/* At most, of one object: pointers with rules; and pieces of words, as well as rows with a rule and
 * a direction. */
#define HAUL__BRIEF_POINTERS ((size_t)16)
#define HAUL__BRIEF_PIECES ((size_t)8)

/* Is the type brief, in this walk? One that is simple is not. What its pointers lead to does not
 * matter. */
int haul__is_brief(const haul__discovery *d, const haul__walk *walk);

#endif

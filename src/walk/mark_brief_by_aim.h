/* Objects of brief types, marked in a walk by aims (mark_brief_by_aim.c).
 */
#ifndef HAUL_WALK_MARK_BRIEF_BY_AIM_H
#define HAUL_WALK_MARK_BRIEF_BY_AIM_H

#include "map/starts.h"
#include "walk/brief_marks.h"

/* The object is unusual (haul__brief_read), so one thread must do the whole walk. */
#define HAUL__UNUSUAL (-3)

/* Reads an object and marks it. Answers as haul__mark_by_aim does, or HAUL__UNUSUAL. */
int haul__mark_brief_alone(haul__discovery *d, haul__start_notes *notes, const haul__brief *brief,
                           uintptr_t object, haul__brief_meaning *m);
/* The same for [first, end), which is one object or an array. */
int haul__mark_brief_range(haul__discovery *d, haul__start_notes *notes, const haul__brief *brief,
                           uintptr_t first, uintptr_t end);
HAUL__INLINE haul__why haul__why_unmarked(int answer)
{
    return answer == HAUL__UNUSUAL ? HAUL__WHY_RULES : HAUL__WHY_OVERLAP;
}

#endif

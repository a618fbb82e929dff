/* Cuts: a group that stays in part is cut in two, and the part that leaves does so as a group.
 */
#ifndef HAUL_ENVIRONMENT_CUT_H
#define HAUL_ENVIRONMENT_CUT_H

#include "environment/environment.h"

/* All of these stand inside a call that has entered the device, and has the environment's lock. */

struct haul__rest {
    uint32_t of; /* the group that stays */
    /* what it keeps of its lists */
    HAUL__LIST(haul__covered) ranges;
    HAUL__LIST(haul__typed) objects;
    haul__roomy_list roomy;
    HAUL__LIST(uint32_t) leads_into;
    HAUL__LIST(uintptr_t) stops;
};

/* Finds what of a group nothing leads to any more once the root at `leaver` and all groups that are
 * leaving have left. *part: 1 + the number of a new group that has it; 0: all of the group stays.
 * The group still has all of it, too; but groups that only the part leads into have one hold less.
 * After a failure nothing has changed. */
haul_status haul__cut(haul_environment *environment, uint32_t number, uintptr_t leaver,
                      uint32_t *part);
/* The group loses what the part has, or the part ends and the group stays as it was. Neither can
 * fail. */
void haul__take_cut(haul_environment *environment, uint32_t part);
void haul__undo_cut(haul_environment *environment, uint32_t part);

#endif

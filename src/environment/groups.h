/* Groups: made by a walk that stops at what is present, published, and ended.
 */
#ifndef HAUL_ENVIRONMENT_GROUPS_H
#define HAUL_ENVIRONMENT_GROUPS_H

#include "environment/environment.h"

/* All of these stand inside a call that has entered the device, and has the environment's lock. */

/* groups.c: sends what the root reaches and what is not present. *number: the group's. */
haul_status haul__group_make(haul_environment *environment, const haul_root *root,
                             const haul_enter_options *options, const haul_async *async,
                             uint32_t *number);
/* Frees what a group has, which is not published, or whose environment ends. */
void haul__group_discard(haul_environment *environment, haul__sent_group *group);
/* Its ranges are no longer present, and its number is free. Groups that it leads into stay. */
void haul__group_hide(haul_environment *environment, uint32_t number);
/* Numbers for groups: 0, if there is no memory for one; giving one back takes none. */
int haul__take_number(haul_environment *environment, uint32_t *number);
void haul__give_number(haul_environment *environment, uint32_t number);
/* Frees a group that is hidden. */
void haul__group_end(haul_environment *environment, haul__sent_group *group);

/* attach.c: writes the pointers that haul__list_attached has listed, once the group is published.
 * Until haul__take_attached their holds tell what they led to before. A failure of the first call,
 * and the second call, write that again. */
haul_status haul__attach(haul_environment *environment, uint32_t number, const haul_async *async);
void haul__undo_attach(haul_environment *environment, uint32_t number, const haul_async *async);
void haul__take_attached(haul_environment *environment, uint32_t number);
/* Detaches those that lead into the group, or into one that leaves with it, and stand in groups
 * that do not leave. The other call writes them as they were; the record stays. */
haul_status haul__detach(haul_environment *environment, uint32_t number, const haul_async *async);
void haul__undo_detach(haul_environment *environment, uint32_t number, const haul_async *async);
/* Forgets them, and those that stand in the group. */
void haul__forget_attached(haul_environment *environment, uint32_t number);
/* Forgets the pointer at number i of a group's `attached_in`. */
void haul__forget_attached_in(haul_environment *environment, const haul__sent_group *group,
                              size_t i);
/* The holds of all listed pointers get the group's number, and their places in its list. */
void haul__number_attached(haul_environment *environment, uint32_t number);
/* haul_environment_attach and haul_environment_detach. */
haul_status haul__attach_one(haul_environment *environment, uintptr_t slot);
haul_status haul__detach_one(haul_environment *environment, uintptr_t slot);

/* detached.c: what a pointer becomes on the device when it is detached. */
haul_status haul__detached_value(haul_environment *environment, uintptr_t slot, uintptr_t *value);
/* The pointer that became this poison, or became one within 512 KiB of it; 0: none did. */
uintptr_t haul__poisoned_slot(const haul_environment *environment, uint64_t address);

#endif

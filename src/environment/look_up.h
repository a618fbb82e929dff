/* Look-ups, for other files of the room. */
#ifndef HAUL_ENVIRONMENT_LOOK_UP_H
#define HAUL_ENVIRONMENT_LOOK_UP_H

#include "environment/environment.h"

/* How much of a range is present, for calls of the library itself: they are not counted. */
haul_presence haul__presence_of(const haul_environment *environment, uintptr_t at, size_t bytes);
/* Writes "<type> at <address>"; `path` has HAUL_PATH_BYTES. */
void haul__name_root(const haul_root *root, char *path);
/* Writes how the root of its group leads to a present address, or else that root's name. */
void haul__environment_path(const haul_environment *environment, uintptr_t address, char *path);

/* The address of a copy that is not the environment's (haul_environment_set_finder); 0: none. */
uintptr_t haul__others_copy(const haul_environment *environment, uintptr_t address, size_t bytes);

/* The functions of an environment's `elsewhere`. */
haul__meeting haul__environment_meet(void *user, uintptr_t address, size_t bytes);
uintptr_t haul__environment_copy_of(void *user, uintptr_t address);

#endif

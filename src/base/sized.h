/* Structs that grow. A later version may append members to a public struct of options or results.
 * The caller passes the size that its header knows: a program and a library of different versions
 * share the members that both know.
 */
#ifndef HAUL_BASE_SIZED_H
#define HAUL_BASE_SIZED_H

#include "base/base.h"

/* the text of HAUL_ERROR_VERSION from haul__read_options */
#define HAUL__NEWER_OPTIONS "the options use a member that this version of the library lacks"

/* Reads the caller's options. Members that the caller's header lacks become 0, and all of them if
 * `theirs` is NULL. HAUL_ERROR_VERSION: a byte behind our members is not 0. Then ours is zeros. */
haul_status haul__read_options(void *ours, size_t our_bytes, const void *theirs,
                               size_t their_bytes);
/* Writes results to the caller's struct. Members that this library lacks become 0. */
void haul__write_info(void *theirs, size_t their_bytes, const void *ours, size_t our_bytes);

#endif

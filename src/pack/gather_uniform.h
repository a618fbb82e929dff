/* Gather of blocks of a kind.
 */
#ifndef HAUL_PACK_GATHER_UNIFORM_H
#define HAUL_PACK_GATHER_UNIFORM_H

#include "pack/gather_cell.h"

/* Its bytes and its slots at once. */
void haul__gather_objects(haul__sweep *s, const haul__block *block, uintptr_t address);

#endif

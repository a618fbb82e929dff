/* Edits: bytes of contents that differ on the device.
 */
#ifndef HAUL_ARENA_EDITS_H
#define HAUL_ARENA_EDITS_H

#include "arena/contents.h"

/* Must some bytes be edited on the way to the device? */
int haul__is_edited(const haul__contents *contents);
/* Edits a copy of bytes [first, first + bytes) of the contents, in `memory`. */
void haul__edit(const haul__contents *contents, unsigned char *memory, size_t first, size_t bytes);

#endif

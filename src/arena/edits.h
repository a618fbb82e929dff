/* Edits: bytes of contents that are others on the device.
 */
#ifndef HAUL_ARENA_EDITS_H
#define HAUL_ARENA_EDITS_H

#include "arena/contents.h"

/* Must some bytes be other ones on the way there? */
int haul__is_edited(const haul__contents *contents);
/* Bytes [first, first + bytes) of the contents, copied to `memory`, become what they are to be. */
void haul__edit(const haul__contents *contents, unsigned char *memory, size_t first, size_t bytes);

#endif

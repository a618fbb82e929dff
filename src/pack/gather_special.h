/* Special words, and pointers to no elements, in a gathered piece.
 */
#ifndef HAUL_PACK_GATHER_SPECIAL_H
#define HAUL_PACK_GATHER_SPECIAL_H

#include "pack/pieces.h"

/* Writes them over the bytes of a piece, in `memory`, that gather has copied. */
haul_status haul__gather_special(haul__gathering *gathering, const haul__piece *piece,
                                 unsigned char *memory);

#endif

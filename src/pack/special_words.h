/* Words that no bit of a block tells, in a gathered piece.
 */
#ifndef HAUL_PACK_SPECIAL_WORDS_H
#define HAUL_PACK_SPECIAL_WORDS_H

#include "map/found.h"
#include "pack/pieces.h"

/* Writes the special words of a piece, in `memory`, that gather has copied. */
haul_status haul__gather_exceptions(haul__gathering *gathering, const haul__piece *piece,
                                    unsigned char *memory);

/* HAUL_ERROR_LIMIT, with the path: the address in the copy has bits of the tag. */
haul_status haul__refuse_tag(haul_plan *plan, const haul__tagged *tagged);

#endif

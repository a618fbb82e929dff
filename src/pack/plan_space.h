/* The space of a plan's arena (special_words.h).
 */
#ifndef HAUL_PACK_PLAN_SPACE_H
#define HAUL_PACK_PLAN_SPACE_H

#include "pack/special_words.h"

/* `base`, `final_base`: addresses of the arena, as in haul__gathering. */
haul__space haul__plan_space(const haul_plan *plan, uint64_t base, uint64_t final_base);

#endif

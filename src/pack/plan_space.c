/* The space of a plan's arena.
 */
#include "pack/plan_space.h"
#include "pack/stale.h"
#include "pack/translate.h"

static size_t place_of_word(const haul__space *space, const haul__special_word *word)
{
    return (size_t)haul__final_place(space->plan,
                                     haul__translate(&space->plan->found.map, word->address));
}

static int to_copy(const haul__space *space, const haul__special_word *word, uintptr_t target,
                   uint64_t base, uintptr_t *copy)
{
    const haul__found *found = &space->plan->found;
    uint64_t place;
    *copy = haul__copied_byte(found, target);
    if (*copy)
        return 1;
    if (!haul__offset_of(space->plan, target, &place)) {
        *copy = haul__copied_end(found, target);
        return *copy != 0;
    }
    if (space->plan->ordered)
        place = haul__target(space->plan, word->address, target);
    *copy = (uintptr_t)(base + place);
    return 1;
}

static int to_host(const haul__space *space, uintptr_t copy, uint64_t base, uintptr_t *target)
{
    *target =
        copy < base || copy - base > space->bytes ? 0 : haul__address_of(space->plan, copy - base);
    return *target != 0;
}

static void name(const haul__space *space, const haul__special_word *word)
{
    haul__name_changed(space->plan, word->address, 0);
}

haul__space haul__plan_space(const haul_plan *plan, uint64_t base, uint64_t final_base)
{
    haul__space space;
    space.plan = plan;
    space.contents = NULL;
    space.words = plan->found.special;
    space.count = plan->found.special_count;
    space.explicit_count = plan->found.explicit_count;
    space.base = base;
    space.final_base = final_base;
    space.bytes = haul__arena_bytes(plan);
    space.error = &plan->context->error;
    space.place = place_of_word;
    space.to_copy = to_copy;
    space.to_host = to_host;
    space.name = name;
    return space;
}

/* Objects whose contents depend on addresses: their places, and the refusal to move them.
 *
 * The list is sorted by type and then by address, so the objects of one type are a run of it. A
 * range is compared with every entry, which costs nothing in plans without such objects.
 */
#include "pack/dependents.h"
#include "pack/translate.h"
#include "walk/discover.h"

size_t haul__plan_dependent_count(const haul_plan *plan)
{
    return plan->found.dependent_count;
}

const haul_type *haul__plan_dependent_type(const haul_plan *plan, size_t first, size_t *count)
{
    const haul__dependent *all = plan->found.dependents;
    size_t end = first;
    while (end < plan->found.dependent_count && all[end].order == all[first].order)
        end++;
    *count = end - first;
    return all[first].type;
}

uint64_t haul__plan_dependent(const haul_plan *plan, size_t i)
{
    return haul__final_place(plan,
                             haul__translate(&plan->found.map, plan->found.dependents[i].address));
}

haul_status haul__refuse_dependents(haul_plan *plan, uintptr_t first, uintptr_t end,
                                    const char *text)
{
    const haul__found *found = &plan->found;
    size_t i;
    for (i = 0; i < found->dependent_count; i++) {
        const haul__dependent *one = &found->dependents[i];
        const haul__walk *walk = haul__type_walk(one->type);
        haul_status status;
        haul__sought sought = { 0, 0, 0, 0, 0 };
        if (one->address >= end || one->address + walk->extent <= first)
            continue;
        status = haul__fail(&plan->context->error, HAUL_ERROR_UNSUPPORTED,
                            "the contents of type %s depend on addresses: %s", walk->name, text);
        sought.object = one->address;
        if (!plan->has_lost_parts)
            haul__explain(plan->context, plan->roots, plan->root_count, &plan->found.map, &sought);
        return status;
    }
    return HAUL_OK;
}

/* Plans of the targets of chains.
 *
 * Targets are roots like any other. But the pointers and counts that lead to them lie outside of
 * the plan, where no hash and no slot covers them. So they join the plan's read set, as numbers: a
 * plan that is used again compares them first, in the order of the path, and reads nothing behind
 * one that has changed.
 */
#include "pack/chained.h"
#include "base/status.h"
#include "chain/resolve.h"
#include "walk/read_set.h"

/* Empty targets are left out. */
static haul_status add_target(void *user, const haul_root *target, size_t bytes)
{
    haul__chained *to = user;
    haul_root *root;
    (void)bytes;
    if (!target->address)
        return HAUL_OK;
    root = HAUL__LIST_ADD(to->allocator, &to->roots);
    if (!root)
        return HAUL_ERROR_MEMORY;
    *root = *target;
    return HAUL_OK;
}

haul_status haul__chained_open(haul_context *context, void *root, haul_chain *const *chains,
                               size_t count, haul__chained *to)
{
    haul_error *error = &context->error;
    haul_status status = HAUL_OK;
    size_t i;
    memset(to, 0, sizeof *to);
    to->allocator = &context->allocator;
    if (!root || !chains || !count)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "%s",
                          !root     ? "the root of the chains is NULL"
                          : !chains ? "the list of chains is NULL"
                                    : "the number of chains is 0");
    for (i = 0; i < count; i++)
        if (!haul__chain_is_valid(chains[i]) || chains[i]->context != context)
            return haul__fail(error, HAUL_ERROR_ARGUMENT,
                              "chain %zu is NULL, freed or of another context", i);
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = haul__chain_resolve(chains[i], root, &to->reads, add_target, to);
    if (status == HAUL_OK && !to->roots.count)
        status = haul__fail(error, HAUL_ERROR_GRAPH,
                            "no chain has a target: null pointers, or no elements, on the way");
    return status;
}

void haul__chained_close(haul_context *context, haul__chained *from)
{
    HAUL__LIST_RELEASE(from->allocator, &from->roots);
    haul__read_set_drop(context, &from->reads);
}

haul_status haul__chains_hold(haul_plan *plan, void *root, haul_chain *const *chains, size_t count)
{
    const haul_allocator *allocator = &plan->context->allocator;
    size_t i;
    plan->chains = haul__allocate(allocator, count * sizeof *plan->chains, sizeof(void *));
    if (!plan->chains)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < count; i++) {
        plan->chains[i] = chains[i];
        haul__chain_hold(chains[i]);
    }
    plan->chain_count = count;
    plan->chain_root = root;
    return HAUL_OK;
}

void haul__chains_drop(haul_plan *plan)
{
    size_t i;
    for (i = 0; i < plan->chain_count; i++)
        haul__chain_drop(plan->chains[i]);
    haul__release(&plan->context->allocator, plan->chains,
                  plan->chain_count * sizeof *plan->chains);
    plan->chains = NULL;
    plan->chain_count = 0;
}

/* Nothing before the changed value has changed, so its chain reads it again, at the same place. */
int haul__name_chain(const haul_plan *plan, uintptr_t address)
{
    haul_context *context = plan->context;
    const haul_error first = context->error;
    char path[HAUL_PATH_BYTES] = "";
    size_t i;
    for (i = 0; i < plan->chain_count && !path[0]; i++) {
        haul__chained again;
        (void)haul__chained_open(context, plan->chain_root, &plan->chains[i], 1, &again);
        if (haul__has_read(&again.reads, address))
            haul__chain_name(plan->chains[i], path);
        haul__chained_close(context, &again);
    }
    context->error = first;
    if (path[0])
        haul__set_path(context->error.path, path);
    return path[0] != '\0';
}

/* Plans: made from discovery and layout, and asked for places.
 */
#include "base/clock.h"
#include "base/sized.h"
#include "layout/layout_check.h"
#include "map/named.h"
#include "map/turns.h"
#include "pack/chained.h"
#include "pack/plan.h"
#include "pack/source.h"
#include "pack/straight.h"
#include "pack/translate.h"
#include "walk/discover.h"
#include "walk/read_set.h"
#include "walk/roots.h"

#define PLAN_MAGIC 0x706c616eu

int haul__plan_is_valid(const haul_plan *plan)
{
    return plan && plan->magic == PLAN_MAGIC;
}

haul_context *haul__plan_context(const haul_plan *plan)
{
    return plan->context;
}

size_t haul__plan_told_bytes(const haul_plan *plan)
{
    return haul__compacted_bytes(plan);
}

int haul__plan_is_ordered(const haul_plan *plan)
{
    return plan->ordered != NULL;
}

const haul__found *haul__plan_found(const haul_plan *plan)
{
    return &plan->found;
}

const haul_root *haul__plan_roots(const haul_plan *plan, size_t *count)
{
    *count = plan->root_count;
    return plan->roots;
}

/* Turns are worth little memory. */
static void limit_turns(haul_plan *plan)
{
    haul__map *map = &plan->found.map;
    if (haul__turns_bytes(map) > plan->placed.bytes / 100)
        haul__turns_forget(map);
}

/* How a plan is made; all NULL: compacted, of everything. */
typedef struct plan_manner {
    haul__order_log *log;       /* an ordered plan is made from it */
    const haul__map *before;    /* the map of an earlier plan of the same source */
    const haul__beside *beside; /* a plan without what is elsewhere, from one root */
    haul__straight *straight;   /* the log is its own, and an ordered plan is made if it must be */
    const struct haul__hints *hints;
} plan_manner;

static haul_status work_out(haul_plan *plan, const plan_manner *how)
{
    double start = haul__seconds(), between;
    haul_status status =
        how->beside ? haul__discover_beside(plan->context, plan->roots, how->beside, &plan->found)
                    : haul__discover(plan->context, plan->roots, plan->root_count, &plan->found,
                                     how->log, how->before, how->hints);
    if (status != HAUL_OK)
        return status;
    between = haul__seconds();
    status = haul__layout(plan->context, &plan->found, &plan->placed);
    if (status == HAUL_OK && plan->placed.bytes > plan->context->options.max_bytes)
        status = haul__fail(&plan->context->error, HAUL_ERROR_LIMIT,
                            "%zu bytes, more than the limit of %zu", plan->placed.bytes,
                            plan->context->options.max_bytes);
#ifdef HAUL_CHECKS
    if (status == HAUL_OK)
        status = haul__layout_check(plan->context, &plan->found, &plan->placed);
#endif
    if (status == HAUL_OK && how->straight)
        status = haul__straight_open(how->straight, plan);
    if (status == HAUL_OK && how->log && !(how->straight && how->straight->bytes))
        status = haul__order(plan, how->log);
    if (status != HAUL_OK) {
        haul__found_drop(plan->context, &plan->found);
        return status;
    }
    limit_turns(plan);
    plan->discover_seconds = between - start;
    plan->layout_seconds = haul__seconds() - between;
    return HAUL_OK;
}

static haul_status make(haul_context *context, const haul_root *roots, size_t count,
                        const plan_manner *how, haul_plan **made)
{
    haul_plan *plan;
    const size_t bytes =
        count * sizeof *roots; /* cannot overflow: the caller has the roots in memory */
    haul_status status = haul__check_roots(context, roots, count);
    if (status != HAUL_OK)
        return status;
    plan = haul__allocate_zeroed(&context->allocator, sizeof *plan);
    if (!plan)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for a plan");
    plan->roots = haul__allocate(&context->allocator, bytes, sizeof(void *));
    if (!plan->roots) {
        haul__release(&context->allocator, plan, sizeof *plan);
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for a plan");
    }
    memcpy(plan->roots, roots, bytes);
    plan->root_count = count;
    plan->context = context;
    plan->stale_block = SIZE_MAX;
    haul__hold_types(plan->roots, count);
    status = work_out(plan, how);
    if (status != HAUL_OK) {
        haul__drop_types(plan->roots, count);
        haul__release(&context->allocator, plan->roots, bytes);
        haul__release(&context->allocator, plan, sizeof *plan);
        return status;
    }
    haul__context_hold(context);
    plan->magic = PLAN_MAGIC;
    plan->holders = 1;
    *made = plan;
    return HAUL_OK;
}

/* `before`: an earlier plan of the same source, or NULL. */
static haul_status make_plan(haul_context *context, const haul_root *roots, size_t count,
                             int is_ordered, const haul_plan *before,
                             const struct haul__hints *hints, haul_plan **made)
{
    haul__order_log log;
    plan_manner how = { NULL, NULL, NULL, NULL, NULL };
    haul_status status;
    haul__order_log_open(context, &log);
    how.log = is_ordered ? &log : NULL;
    how.before = before ? &before->found.map : NULL;
    how.hints = hints;
    status = make(context, roots, count, &how, made);
    haul__order_log_close(context, &log);
    return status;
}

haul_status haul__plan_make(haul_context *context, const haul_root *roots, size_t count,
                            int is_ordered, haul_plan **made)
{
    return make_plan(context, roots, count, is_ordered, NULL, NULL, made);
}

haul_status haul__plan_straight(haul_context *context, const haul_root *roots, size_t count,
                                haul__straight *straight, haul_plan **made)
{
    const plan_manner how = { &straight->log, NULL, NULL, straight, NULL };
    memset(straight, 0, sizeof *straight);
    haul__order_log_open(context, &straight->log);
    haul__begin_places(&straight->log);
    return make(context, roots, count, &how, made);
}

haul_status haul__plan_order(haul_plan *plan, haul__straight *straight)
{
    haul__straight_give_up(straight);
    return haul__order(plan, &straight->log);
}

haul_status haul__plan_beside(haul_context *context, const haul_root *root,
                              const struct haul__beside *beside, haul_plan **made)
{
    const plan_manner how = { NULL, NULL, beside, NULL, NULL };
    return make(context, root, 1, &how, made);
}

/* What leads to the targets joins the plan's read set. */
static haul_status plan_chains(haul_context *context, void *root, haul_chain *const *chains,
                               size_t count, int is_ordered, const haul_plan *before,
                               const struct haul__hints *hints, haul_plan **made)
{
    haul__chained targets;
    haul_status status = haul__chained_open(context, root, chains, count, &targets);
    if (status == HAUL_OK)
        status = make_plan(context, targets.roots.at, targets.roots.count, is_ordered, before,
                           hints, made);
    if (status == HAUL_OK) {
        status = haul__add_read_set(context, &(*made)->found, &targets.reads);
        if (status == HAUL_OK)
            status = haul__chains_hold(*made, root, chains, count);
        if (status != HAUL_OK) {
            haul__plan_drop(*made);
            *made = NULL;
            haul__fail(&context->error, status, "out of memory for a plan");
        }
    }
    haul__chained_close(context, &targets);
    return status;
}

haul_status haul__plan_from(haul_context *context, const haul_source *source, int is_ordered,
                            const struct haul__hints *hints, haul_plan **plan)
{
    const haul_root *roots;
    size_t count;
    haul_status status;
    if (source->kind == HAUL_SOURCE_CHAINS)
        return plan_chains(context, source->root.address, source->chains, source->count, is_ordered,
                           NULL, hints, plan);
    status = haul__source_roots(source, &roots, &count, &context->error);
    return status == HAUL_OK ? make_plan(context, roots, count, is_ordered, NULL, hints, plan)
                             : status;
}

haul_status haul__plan_again(const haul_plan *plan, const struct haul__hints *hints,
                             haul_plan **again)
{
    const int is_ordered = haul__plan_is_ordered(plan);
    return plan->chains ? plan_chains(plan->context, plan->chain_root, plan->chains,
                                      plan->chain_count, is_ordered, plan, hints, again)
                        : make_plan(plan->context, plan->roots, plan->root_count, is_ordered, plan,
                                    hints, again);
}

void haul__plan_hold(haul_plan *plan)
{
    haul__atomic_add(&plan->holders, 1);
}

void haul__plan_drop(haul_plan *plan)
{
    haul_context *context = plan->context;
    if (haul__atomic_add(&plan->holders, -1) != 0)
        return;
    haul__ordered_drop(plan);
    haul__read_set_free(&context->allocator, &plan->reads);
    haul__found_drop(context, &plan->found);
    haul__chains_drop(plan);
    haul__drop_types(plan->roots, plan->root_count);
    haul__release(&context->allocator, plan->roots, plan->root_count * sizeof *plan->roots);
    plan->magic = 0;
    haul__release(&context->allocator, plan, sizeof *plan);
    haul__context_drop(context);
}

static haul_status create(haul_context *context, const haul_source *source, size_t source_bytes,
                          const haul_plan_options *options, size_t options_bytes, haul_plan **plan)
{
    haul_error *error = &context->error;
    haul_plan_options ours;
    haul_source from;
    haul_status status;
    if (!plan)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the address of the new plan is NULL");
    if (haul__read_options(&ours, sizeof ours, options, options_bytes) != HAUL_OK)
        return haul__fail(error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    status = haul__source_read(source, source_bytes, &from, error);
    return status == HAUL_OK ? haul__plan_from(context, &from, ours.ordered, NULL, plan) : status;
}

haul_status haul_plan_create_sized(haul_context *context, const haul_source *source,
                                   size_t source_bytes, const haul_plan_options *options,
                                   size_t options_bytes, haul_plan **plan)
{
    haul_status status = haul__context_enter(context);
    if (plan)
        *plan = NULL;
    if (status != HAUL_OK)
        return status;
    status = create(context, source, source_bytes, options, options_bytes, plan);
    haul__context_leave(context);
    return status;
}

static haul__freed *drop_callers(void *object)
{
    haul__plan_drop(object);
    return NULL;
}

void haul_plan_free(haul_plan **plan)
{
    haul_plan *freed = plan ? *plan : NULL;
    if (!freed)
        return;
    *plan = NULL;
    if (haul__plan_is_valid(freed))
        haul__free(&freed->freed, freed->context, drop_callers, freed);
}

size_t haul__plan_bytes(const haul_plan *plan)
{
    return haul__arena_bytes(plan);
}

size_t haul__plan_bitmap_bytes(const haul_plan *plan)
{
    return (((haul__plan_bytes(plan) >> HAUL__WORD_SHIFT) + 63) / 64) * 8;
}

size_t haul__plan_alignment(const haul_plan *plan)
{
    return plan->ordered ? plan->ordered->clusters.alignment : plan->placed.alignment;
}

size_t haul__plan_pointers(const haul_plan *plan)
{
    const haul__found *found = &plan->found;
    size_t i, count = plan->placed.slots;
    for (i = 0; i < found->special_count; i++)
        count += (size_t)haul__is_pointer(&found->special[i]);
    return count;
}

void haul__plan_info(const haul_plan *plan, haul_plan_info *info)
{
    const haul__found *found = &plan->found;
    info->arena_bytes = haul__plan_bytes(plan);
    info->bitmap_bytes = haul__plan_bitmap_bytes(plan);
    info->alignment = haul__plan_alignment(plan);
    info->objects = found->objects;
    info->pointers = haul__plan_pointers(plan);
    info->null_pointers = plan->nulls;
    info->graph_bytes = plan->placed.bytes;
    info->bookkeeping_bytes =
        sizeof *plan + plan->root_count * sizeof *plan->roots +
        plan->chain_count * sizeof *plan->chains + haul__map_bytes(&found->map) +
        found->read_capacity * sizeof *found->reads + found->call_capacity * sizeof *found->calls +
        found->site_capacity * sizeof *found->sites +
        found->special_capacity * sizeof *found->special +
        found->empty_capacity * sizeof *found->empty + found->end_capacity * sizeof *found->ends +
        found->dependent_capacity * sizeof *found->dependents + haul__read_set_bytes(&plan->reads) +
        (plan->ordered ? haul__ordered_memory(plan->ordered) : 0) + haul__named_bytes(found->named);
    info->worklist_bytes = found->worklist_bytes;
    info->discover_seconds = plan->discover_seconds;
    info->layout_seconds = plan->layout_seconds;
}

void haul_plan_get_info_sized(const haul_plan *plan, haul_plan_info *info, size_t info_bytes)
{
    haul_plan_info ours;
    memset(&ours, 0, sizeof ours);
    if (haul__plan_is_valid(plan))
        haul__plan_info(plan, &ours);
    if (info)
        haul__write_info(info, info_bytes, &ours, sizeof ours);
}

haul_status haul_plan_offset(const haul_plan *plan, const void *address, size_t *offset)
{
    uint64_t place;
    if (!offset)
        return HAUL_ERROR_ARGUMENT;
    *offset = 0;
    if (!haul__plan_is_valid(plan) || !haul__offset_of(plan, (uintptr_t)address, &place))
        return HAUL_ERROR_ARGUMENT;
    *offset = (size_t)place;
    return HAUL_OK;
}

haul_status haul_plan_address(const haul_plan *plan, size_t offset, void **address)
{
    if (!address)
        return HAUL_ERROR_ARGUMENT;
    *address = NULL;
    if (!haul__plan_is_valid(plan))
        return HAUL_ERROR_ARGUMENT;
    *address = (void *)haul__address_of(plan, offset);
    return *address ? HAUL_OK : HAUL_ERROR_ARGUMENT;
}

int haul__plan_path(const haul_plan *plan, uintptr_t address, int innermost, char *path)
{
    return !plan->has_lost_parts && haul__path_of_byte(plan->context, plan->roots, plan->root_count,
                                                       &plan->found, address, innermost, path);
}

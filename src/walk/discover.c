/* The runs of discovery. The plain one does not record how an object was found, so good data pays
 * nothing for error paths. If it fails, a second run records all entries, and its error has a path.
 * The same recording run finds the path of a place in a graph that has changed.
 */
#include "walk/discover.h"
#include "walk/aliases.h"
#include "walk/ancestors.h"
#include "walk/checked.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/news.h"
#include "walk/paths.h"
#include "walk/place.h"
#include "walk/pools.h"
#include "walk/retrace.h"
#include "walk/ruled_field.h"
#include "walk/section_memo.h"
#include "walk/unless_owned.h"
#include "walk/visit.h"
#include "walk/worklist.h"

static void close_discovery(haul__discovery *d)
{
    haul__met_types_close(d);
    haul__worklist_close(d);
    haul__ancestors_close(d);
    haul__memo_close(d);
    haul__meanings_close(d);
    haul__aliases_close(d);
    haul__waiting_close(d);
    haul__section_memo_close(d);
    haul__pools_close(d);
    haul__evaluations_close(d);
}

void haul__found_drop(haul_context *context, haul__found *found)
{
    const haul_allocator *allocator = &context->allocator;
    haul__notes_keep(context, &context->reads, found->reads, found->read_capacity);
    haul__notes_keep(context, &context->calls, found->calls, found->call_capacity);
    haul__release(allocator, found->sites, found->site_capacity * sizeof *found->sites);
    haul__release(allocator, found->special, found->special_capacity * sizeof *found->special);
    haul__release(allocator, found->empty, found->empty_capacity * sizeof *found->empty);
    haul__release(allocator, found->dependents,
                  found->dependent_capacity * sizeof *found->dependents);
    if (context->has_warm) {
        haul__map_close(&found->map);
    } else {
        haul__map_clear(&found->map);
        context->warm = found->map;
        context->has_warm = 1;
    }
    memset(found, 0, sizeof *found);
}

static void open_discovery(haul__discovery *d, haul_context *context, const haul_root *roots,
                           size_t count, haul__found *found)
{
    memset(d, 0, sizeof *d);
    d->context = context;
    d->allocator = &context->allocator;
    d->found = found;
    d->roots = roots;
    d->root_count = count;
    d->at_entry = SIZE_MAX;
    memset(found, 0, sizeof *found);
    if (context->has_warm)
        found->map = context->warm; /* empty */
    else
        haul__map_open(&found->map, &context->allocator);
    context->has_warm = 0;
    haul__table_lend(&context->table, &found->map);
    d->map = &found->map;
}

static haul_status run(haul__discovery *d)
{
    haul_status status = haul__queue_open(d) ? haul__follow_roots(d) : HAUL_ERROR_MEMORY;
    if (status == HAUL_OK)
        status = haul__decide_waiting(d);
    if (status == HAUL_OK)
        status = haul__mark_pools(d);
    if (status == HAUL_OK && !d->within)
        status = haul__check_aliases(d);
    if (status != HAUL_OK)
        haul__found_drop(d->context, d->found);
    if (status == HAUL_ERROR_MEMORY)
        haul__fail(&d->context->error, status, "out of memory in discovery");
    return status;
}

/* *is_alone: one thread does all of it; afterwards: one did. */
static haul_status discover_by(haul_context *context, const haul_root *roots, size_t count,
                               haul__found *found, haul__order_log *order_log,
                               const haul__map *before, int recording, int *is_alone)
{
    haul__discovery d;
    haul_status status;
    open_discovery(&d, context, roots, count, found);
    d.recording = recording;
    d.order_log = order_log;
    d.in_order = order_log && !recording;
    d.is_alone = *is_alone;
    haul__retrace_open(&d, before);
    haul__news_open(&d);
    status = run(&d);
    haul__retrace_close(&d);
    close_discovery(&d);
    *is_alone = !d.was_shared;
    if (status != HAUL_OK && order_log)
        haul__order_log_close(&context->allocator, order_log);
    return status;
}

/* If a shared walk fails, one thread walks again: what it finds then, and its error, do not depend
 * on the threads. */
static haul_status discover(haul_context *context, const haul_root *roots, size_t count,
                            haul__found *found, haul__order_log *order_log, const haul__map *before,
                            int recording)
{
    const haul_error error = context->error;
    int is_alone = 0;
    haul_status status =
        discover_by(context, roots, count, found, order_log, before, recording, &is_alone);
    if (status == HAUL_OK || status == HAUL_ERROR_MEMORY || status == HAUL_ERROR_CANCELLED ||
        is_alone)
        return status;
    context->error = error;
    is_alone = 1;
    return discover_by(context, roots, count, found, order_log, before, recording, &is_alone);
}

haul_status haul__record(haul_context *context, const haul_root *roots, size_t count,
                         const haul__bounds *bounds, haul__found *found, haul__discovery *d)
{
    haul_status status;
    open_discovery(d, context, roots, count, found);
    d->recording = 1;
    d->bounds = bounds;
    status = run(d);
    if (status != HAUL_OK)
        close_discovery(d);
    return status;
}

void haul__record_close(haul__discovery *d)
{
    close_discovery(d);
}

/* A plain run that fails is repeated for the path. The second run's error replaces the first one,
 * unless the second run succeeds or runs out of memory. */
haul_status haul__discover(haul_context *context, const haul_root *roots, size_t count,
                           haul__found *found, haul__order_log *order_log, const haul__map *before)
{
    int recording = context->options.checked || context->options.readable;
    const haul_status status = discover(context, roots, count, found, order_log, before, recording);
    haul_error first;
    haul__found again;
    haul_status second;
    if (recording || (status != HAUL_ERROR_GRAPH && status != HAUL_ERROR_LIMIT &&
                      status != HAUL_ERROR_UNSUPPORTED))
        return status;
    first = context->error;
    second = discover(context, roots, count, &again, NULL, NULL, 1);
    if (second == HAUL_OK)
        haul__found_drop(context, &again);
    if (second != HAUL_OK && second != HAUL_ERROR_MEMORY)
        return second;
    context->error = first;
    return status;
}

/* A change can stop the run before the sought place; then the path is that of the change. A place
 * that the roots no longer reach has no path and is called "root". */
void haul__explain(haul_context *context, const haul_root *roots, size_t count,
                   const haul__map *within, const haul__sought *sought)
{
    haul_error first = context->error;
    haul__discovery d;
    haul__found found;
    open_discovery(&d, context, roots, count, &found);
    d.recording = 1;
    d.within = within;
    d.sought = *sought;
    if (run(&d) == HAUL_OK) {
        haul__found_drop(context, &found);
        haul__set_path(context->error.path, "root");
    }
    close_discovery(&d);
    memcpy(first.path, context->error.path, sizeof first.path);
    context->error = first;
}

int haul__path_of_byte(haul_context *context, const haul_root *roots, size_t count,
                       const haul__map *within, uintptr_t address, char *path)
{
    const haul_error before = context->error;
    char found_path[HAUL_PATH_BYTES];
    haul__found found;
    haul__discovery d;
    int has_path = 0;
    open_discovery(&d, context, roots, count, &found);
    d.recording = 1;
    d.within = within;
    if (run(&d) == HAUL_OK) {
        has_path = haul__name_byte(&d, address, 1, found_path) && found_path[0];
        haul__found_drop(context, &found);
    }
    close_discovery(&d);
    context->error = before;
    if (has_path)
        haul__set_path(path, found_path);
    return has_path;
}

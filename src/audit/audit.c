/* The audit: a recorded walk, its layout, and three searches over both.
 *
 * The recording form of discovery stores each array and object that it finds, with the entry that
 * led to it; that gives the paths. Each described byte lies in one of them, because it was new
 * once. Layout makes places of the marks; then the map tells for any address whether it is
 * described.
 */
#include "audit/searches.h"

#include "layout/layout.h"
#include "map/forms.h"
#include "walk/discover.h"
#include "walk/roots.h"

#define FINDINGS 64u

/* The map's blocks are in order of address. */
static void find_bounds(haul__audit *a)
{
    const haul__map *map = &a->found.map;
    if (!map->block_count)
        return;
    a->lowest = haul__block_address(map->numbers[0]);
    a->highest = haul__block_address(map->numbers[map->block_count - 1]) + HAUL__BLOCK_BYTES;
}

static haul_status search(haul__audit *a)
{
    haul__placed placed;
    haul_status status = haul__layout(a->context, &a->found, &placed);
    if (status != HAUL_OK)
        return status;
    a->walk.within = &a->found.map;
    find_bounds(a);
    status = haul__audit_blocks(a);
    if (status == HAUL_OK)
        status = haul__audit_words(a);
    if (status == HAUL_OK)
        status = haul__audit_rows(a);
    return status;
}

static haul_status audit(haul__audit *a, const haul_root *roots, size_t count)
{
    haul_status status = haul__record(a->context, roots, count, &a->found, &a->walk);
    if (status != HAUL_OK)
        return status;
    status = search(a);
    haul__record_close(&a->walk);
    haul__found_drop(a->context, &a->found);
    if (status == HAUL_ERROR_MEMORY)
        haul__fail(&a->context->error, status, "out of memory in an audit");
    return status;
}

haul_status haul_audit(haul_context *context, const haul_root *roots, size_t count,
                       const haul_audit_options *options, haul_audit_summary *summary)
{
    haul__audit a;
    haul_status status;
    if (summary)
        memset(summary, 0, sizeof *summary);
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    memset(&a, 0, sizeof a);
    a.context = context;
    a.allocator = &context->allocator;
    if (options)
        a.options = *options;
    if (!a.options.findings)
        a.options.findings = FINDINGS;
    status = haul__check_roots(context, roots, count);
    if (status == HAUL_OK) {
        haul__hold_types(roots, count);
        status = audit(&a, roots, count);
        haul__drop_types(roots, count);
    }
    if (status == HAUL_OK && summary)
        *summary = a.summary;
    haul__context_leave(context);
    return status;
}

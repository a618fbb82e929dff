/* The audit: a recorded walk, its layout, three searches over both, and the report.
 *
 * The recording form of discovery stores each array and object that it finds, with the entry that
 * led to it; that gives the paths. Each described byte lies in one of them, because it was new
 * once. Layout makes places of the marks; then the map tells for any address whether it is
 * described.
 */
#include "audit/report.h"
#include "audit/searches.h"

#include "base/sized.h"
#include "layout/layout.h"
#include "map/forms.h"
#include "pack/source.h"
#include "walk/discover.h"
#include "walk/roots.h"

#define FINDINGS 64u

static haul_status search(haul__audit *a)
{
    const haul__map *map = &a->found.map;
    haul__placed placed;
    haul_status status = haul__layout(a->context, &a->found, &placed);
    if (status != HAUL_OK)
        return status;
    a->walk.within = map;
    if (map->block_count) { /* in order of address */
        a->lowest = haul__block_address(map->numbers[0]);
        a->highest = haul__block_address(map->numbers[map->block_count - 1]) + HAUL__BLOCK_BYTES;
    }
    if (a->process.open)
        status = a->process.open(a->allocator, &a->picture);
    if (status == HAUL_OK)
        status = haul__audit_blocks(a);
    if (status == HAUL_OK)
        status = haul__audit_words(a);
    if (status == HAUL_OK)
        status = haul__audit_fields(a);
    if (status == HAUL_OK)
        status = haul__audit_tell(a);
    if (a->picture)
        a->process.close(a->picture);
    haul__tally_close(&a->tally);
    HAUL__LIST_RELEASE(a->allocator, &a->noted);
    return status;
}

static haul_status audit_objects(haul__audit *a, const haul_root *roots, size_t count)
{
    haul_status status = haul__check_roots(a->context, roots, count);
    if (status != HAUL_OK)
        return status;
    haul__hold_types(roots, count);
    status = haul__record(a->context, roots, count, &a->found, &a->walk);
    if (status == HAUL_OK) {
        status = search(a);
        haul__record_close(&a->walk);
        haul__found_drop(a->context, &a->found);
        if (status == HAUL_ERROR_MEMORY)
            haul__fail(&a->context->error, status, "out of memory in an audit");
    }
    haul__drop_types(roots, count);
    return status;
}

static haul_status read_options(haul__audit *a, const haul_audit_options *options, size_t bytes)
{
    const haul_file *file;
    if (haul__read_options(&a->options, sizeof a->options, options, bytes) != HAUL_OK)
        return haul__fail(&a->context->error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    if (!a->options.findings)
        a->options.findings = FINDINGS;
    file = a->options.file;
    return file && !file->write ? haul__fail(&a->context->error, HAUL_ERROR_ARGUMENT,
                                             "the file to print to has no function that writes")
                                : HAUL_OK;
}

static haul_status read_process(haul__audit *a, const haul_process *process)
{
    if (!process)
        return HAUL_OK;
    if (haul__read_options(&a->process, sizeof a->process, process, process->table_bytes) !=
        HAUL_OK)
        return haul__fail(&a->context->error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    return a->process.open && a->process.find && a->process.close
               ? HAUL_OK
               : haul__fail(&a->context->error, HAUL_ERROR_ARGUMENT,
                            "the table of the process lacks a function");
}

haul_status haul_audit_sized(haul_context *context, const haul_process *process,
                             const haul_source *source, size_t source_bytes,
                             const haul_audit_options *options, size_t options_bytes,
                             haul_audit_info *info, size_t info_bytes)
{
    haul__audit a;
    haul_source from;
    const haul_root *roots;
    size_t count;
    haul_status status;
    memset(&a, 0, sizeof a);
    if (info)
        haul__write_info(info, info_bytes, &a.info, sizeof a.info);
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    a.context = context;
    a.allocator = a.tally.allocator = &context->allocator;
    status = read_options(&a, options, options_bytes);
    if (status == HAUL_OK)
        status = read_process(&a, process);
    if (status == HAUL_OK)
        status = haul__source_read(source, source_bytes, &from, &context->error);
    if (status == HAUL_OK)
        status = haul__source_roots(&from, &roots, &count, &context->error);
    if (status == HAUL_OK)
        status = audit_objects(&a, roots, count);
    if (status == HAUL_OK)
        status = haul__audit_print_totals(&a);
    if (info && (status == HAUL_OK || status == HAUL_ERROR_FILE))
        haul__write_info(info, info_bytes, &a.info, sizeof a.info);
    haul__context_leave(context);
    return status;
}

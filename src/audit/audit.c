/* The audit: a recorded walk, its layout, four searches over both, and the report.
 *
 * The recording form of discovery stores each array and object that it finds, with the entry that
 * led to it; that gives the paths. Each described byte lies in one of them, because it was new
 * once. Layout makes places of the marks; then the map tells for any address whether it is
 * described.
 */
#include "audit/block_bounds.h"
#include "audit/hidden_pointers.h"
#include "audit/left_out.h"
#include "audit/report.h"
#include "audit/unused_fields.h"

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
    const size_t noted = a->noted.count;
    haul__placed placed;
    haul_status status = haul__layout(a->context, &a->found, &placed);
    if (status != HAUL_OK)
        return status;
    a->walk.within = map;
    a->lowest = a->highest = 0;
    if (map->block_count) { /* in order of address */
        a->lowest = haul__block_address(map->numbers[0]);
        a->highest = haul__block_address(map->numbers[map->block_count - 1]) + HAUL__BLOCK_BYTES;
    }
    if (a->process.open)
        status = a->process.open(a->allocator, &a->snapshot);
    if (status == HAUL_OK)
        status = haul__audit_blocks(a);
    if (status == HAUL_OK)
        status = haul__audit_words(a);
    if (status == HAUL_OK)
        status = haul__audit_left_out(a);
    if (status == HAUL_OK)
        status = haul__audit_fields(a);
    if (status == HAUL_OK)
        status = haul__audit_name(a, noted);
    if (a->snapshot)
        a->process.close(a->snapshot);
    a->snapshot = NULL;
    haul__tally_close(&a->seen);
    return status;
}

/* What is noted is known by its type's fields. */
static haul_status keep_types(haul__audit *a, const haul_root *roots, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        size_t *held = haul__tally_of(&a->tally, (uintptr_t)roots[i].type, 0);
        if (!held || (!*held && !HAUL__LIST_ROOM(a->allocator, &a->types)))
            return HAUL_ERROR_MEMORY;
        if ((*held)++ > 0)
            continue;
        a->types.at[a->types.count++] = roots[i].type;
        haul__type_hold(roots[i].type);
    }
    return HAUL_OK;
}

static haul_status audit_objects(haul__audit *a, const haul_root *roots, size_t count)
{
    haul_status status = haul__check_roots(a->context, roots, count);
    if (status != HAUL_OK)
        return status;
    haul__hold_types(roots, count);
    status = haul__record(a->context, roots, count, NULL, &a->found, &a->walk);
    if (status == HAUL_OK) {
        status = keep_types(a, roots, count);
        if (status == HAUL_OK)
            status = search(a);
        haul__record_close(&a->walk);
        haul__found_drop(a->context, &a->found);
        a->is_broken |= status != HAUL_OK;
        if (status == HAUL_ERROR_MEMORY)
            haul__fail(&a->context->error, status, "out of memory in an audit");
    }
    haul__drop_types(roots, count);
    return status;
}

/* ---- A report: it is opened, gets sources, tells what was found, and is closed. */

static haul_status open_audit(haul__audit *a, haul_context *context, const haul_process *process,
                              const haul_audit_options *options, size_t options_bytes)
{
    haul_error *error = &context->error;
    memset(a, 0, sizeof *a);
    a->context = context;
    a->allocator = a->tally.allocator = a->seen.allocator = &context->allocator;
    if (haul__read_options(&a->options, sizeof a->options, options, options_bytes) != HAUL_OK ||
        (process && haul__read_options(&a->process, sizeof a->process, process,
                                       process->table_bytes) != HAUL_OK))
        return haul__fail(error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    if (!a->options.findings)
        a->options.findings = FINDINGS;
    if (a->options.file && !a->options.file->write)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the file to print to has no function that writes");
    if (process && !(a->process.open && a->process.find && a->process.close))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the table of the process lacks a function");
    return HAUL_OK;
}

static haul_status add_source(haul__audit *a, const haul_source *source, size_t source_bytes)
{
    haul_error *error = &a->context->error;
    haul_source from;
    const haul_root *roots;
    size_t count;
    haul_status status = haul__source_read(source, source_bytes, &from, error);
    if (status == HAUL_OK)
        status = haul__source_roots(&from, &roots, &count, error);
    return status == HAUL_OK ? audit_objects(a, roots, count) : status;
}

static haul_status tell_all(haul__audit *a, haul_audit_info *info, size_t info_bytes)
{
    haul_status status;
    if (a->is_broken)
        return haul__fail(&a->context->error, HAUL_ERROR_MEMORY,
                          "the report is not whole: memory ran out in one of its audits");
    haul__audit_tell(a);
    status = haul__audit_print_totals(a);
    if (info)
        haul__write_info(info, info_bytes, &a->info, sizeof a->info);
    return status;
}

static void close_audit(haul__audit *a)
{
    size_t i;
    for (i = 0; i < a->types.count; i++)
        haul__type_drop(a->types.at[i]);
    haul__tally_close(&a->tally);
    HAUL__LIST_RELEASE(a->allocator, &a->noted);
    HAUL__LIST_RELEASE(a->allocator, &a->names);
    HAUL__LIST_RELEASE(a->allocator, &a->types);
}

static void clear_info(haul_audit_info *info, size_t info_bytes)
{
    static const haul_audit_info nothing;
    if (info)
        haul__write_info(info, info_bytes, &nothing, sizeof nothing);
}

/* ---- The calls. */

haul_status haul_audit_sized(haul_context *context, const haul_process *process,
                             const haul_source *source, size_t source_bytes,
                             const haul_audit_options *options, size_t options_bytes,
                             haul_audit_info *info, size_t info_bytes)
{
    haul__audit a;
    haul_status status;
    clear_info(info, info_bytes);
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = open_audit(&a, context, process, options, options_bytes);
    if (status == HAUL_OK)
        status = add_source(&a, source, source_bytes);
    if (status == HAUL_OK)
        status = tell_all(&a, info, info_bytes);
    close_audit(&a);
    haul__context_leave(context);
    return status;
}

#define REPORT_MAGIC 0x61756469u

struct haul_audit_report {
    uint32_t magic;
    haul__freed freed;
    haul__audit audit;
};

static int is_report(const haul_audit_report *report)
{
    return report && report->magic == REPORT_MAGIC;
}

haul_status haul_audit_begin_sized(haul_context *context, const haul_process *process,
                                   const haul_audit_options *options, size_t options_bytes,
                                   haul_audit_report **report)
{
    haul_audit_report *opened;
    haul_status status = haul__context_enter(context);
    if (report)
        *report = NULL;
    if (status != HAUL_OK)
        return status;
    opened = haul__allocate_zeroed(&context->allocator, sizeof *opened);
    if (!report)
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                            "the address of the new report is NULL");
    else if (!opened)
        status =
            haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for a report of audits");
    else
        status = open_audit(&opened->audit, context, process, options, options_bytes);
    if (status == HAUL_OK) {
        opened->magic = REPORT_MAGIC;
        haul__context_hold(context);
        *report = opened;
    } else {
        haul__release(&context->allocator, opened, sizeof *opened);
    }
    haul__context_leave(context);
    return status;
}

haul_status haul_audit_add_sized(haul_audit_report *report, const haul_source *source,
                                 size_t source_bytes)
{
    haul_context *context;
    haul_status status;
    if (!is_report(report))
        return HAUL_ERROR_ARGUMENT;
    context = report->audit.context;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = add_source(&report->audit, source, source_bytes);
    haul__context_leave(context);
    return status;
}

static haul__freed *finish(void *object)
{
    haul_audit_report *report = object;
    haul_context *context = report->audit.context;
    close_audit(&report->audit);
    report->magic = 0;
    haul__release(&context->allocator, report, sizeof *report);
    haul__context_drop(context);
    return NULL;
}

haul_status haul_audit_end_sized(haul_audit_report **report, haul_audit_info *info,
                                 size_t info_bytes)
{
    haul_audit_report *ended = report ? *report : NULL;
    haul_context *context;
    haul_status status;
    clear_info(info, info_bytes);
    if (!is_report(ended))
        return HAUL_ERROR_ARGUMENT;
    context = ended->audit.context;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    *report = NULL;
    status = tell_all(&ended->audit, info, info_bytes);
    haul__context_leave(context);
    haul__free(&ended->freed, context, finish, ended);
    return status;
}

/* The types with the most bytes: a recording walk sums up the ranges of each type.
 */
#include <stdio.h>

#include "graph/nodes.h"
#include "ship/largest_types.h"

#define NAMED 3u /* types */

typedef struct largest {
    const haul_plan *plan;
    char text[HAUL_TEXT_BYTES / 2];
} largest;

static void write_line(largest *l, const char *name, size_t bytes)
{
    const size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, "%s%.40s (%zu)",
             used ? ", " : "; the most bytes have ", name, bytes);
}

/* Environments: a range that is not in the plan has been shipped before. */
static haul_status find(haul__nodes *nodes, void *user)
{
    largest *l = user;
    const size_t count = haul__node_type_count(nodes);
    size_t *bytes = haul__allocate_zeroed(nodes->allocator, count * sizeof *bytes);
    size_t *example = haul__allocate_zeroed(nodes->allocator, count * sizeof *example);
    size_t i, named, offset;
    for (i = 0; bytes && example && i < nodes->span_count; i++) {
        const size_t entry = nodes->spans[i].entry;
        const size_t number = haul__node_type_number(nodes, entry);
        if (haul_plan_offset(l->plan, (void *)nodes->spans[i].begin, &offset) != HAUL_OK)
            continue;
        bytes[number] += nodes->spans[i].end - nodes->spans[i].begin;
        example[number] = entry;
    }
    for (named = 0; bytes && example && named < NAMED; named++) {
        size_t most = 0;
        for (i = 1; i < count; i++)
            most = bytes[i] > bytes[most] ? i : most;
        if (bytes[most] > 0)
            write_line(l, haul__node_type(nodes, example[most]), bytes[most]);
        bytes[most] = 0;
    }
    haul__release(nodes->allocator, bytes, count * sizeof *bytes);
    haul__release(nodes->allocator, example, count * sizeof *example);
    return HAUL_OK;
}

void haul__name_largest_types(haul_context *context, haul_plan *plan)
{
    const haul_source source = haul_from_plan(plan);
    haul_error record = context->error;
    const size_t used = strlen(record.text);
    largest l;
    l.plan = plan;
    l.text[0] = '\0';
    if (haul__nodes_visit(context, &source, sizeof source, find, &l) == HAUL_OK)
        snprintf(record.text + used, sizeof record.text - used, "%s", l.text);
    context->error = record;
}

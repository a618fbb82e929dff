/* The audit of a right description: no undescribed word is a pointer, and no range is longer than
 * its block.
 */
#include "steps.h"
#include "support/builds.h"
#include "support/short_forms.h"

#include <string.h>

static size_t find_block(void *user, const void *address, const void **begin)
{
    const graph *g = user;
    for (size_t i = 0; i < g->block_count; i++)
        if ((uintptr_t)address - (uintptr_t)g->blocks[i].memory < g->blocks[i].bytes) {
            *begin = g->blocks[i].memory;
            return g->blocks[i].bytes;
        }
    return 0;
}

static void take_finding(void *user, const haul_audit_finding *finding)
{
    trial *t = user;
    int wrong = finding->kind == HAUL_AUDIT_BEYOND_BLOCK;
    if (finding->kind == HAUL_AUDIT_HIDDEN_POINTER)
        wrong = !BUILD_SHORT_ADDRESSES &&
                !(BUILD_LIKELY_ADDRESSES && finding->memory.kind && !finding->memory.is_told);
    if (finding->path[0] == '\0' || wrong)
        trial_fail(t, "audit: %s: %s", finding->path, finding->text);
}

/* The description is right: what is not described is no pointer, and nothing is longer than its
 * block. */
int trial_audit(trial *t)
{
    haul_audit_options options;
    haul_audit_info summary;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.finding = take_finding;
    options.user = t;
    options.block = find_block;
    options.block_user = &t->g;
    status = audit_roots_of(t->context, t->g.roots, t->g.root_count, &options, &summary);
    if (status != HAUL_OK)
        return trial_fail(t, "audit: %s", haul_status_name(status));
    return t->message[0] == '\0';
}

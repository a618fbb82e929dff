/* The report of an audit.
 */
#include <stdio.h>

#include "audit/report.h"

#define LINE_BYTES (2u * HAUL_PATH_BYTES + HAUL_TEXT_BYTES + 64u)

/* Nothing is written after the first failure. */
static void put(haul__audit *a, const char *line)
{
    const haul_file *file = a->options.file;
    if (a->printed == HAUL_OK && file->write(file->user, line, strlen(line)) != HAUL_OK)
        a->printed = HAUL_ERROR_FILE;
}

static void print(haul__audit *a, const haul_audit_finding *finding)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s  %s%s%s: %s\n", finding->is_hint ? "hint " : "FOUND",
             finding->path, finding->other_path[0] ? " -> " : "", finding->other_path,
             finding->text);
    put(a, line);
}

void haul__audit_tell(haul__audit *a, const haul_audit_finding *finding)
{
    a->info.reported++;
    if (a->options.file)
        print(a, finding);
    if (a->options.finding)
        a->options.finding(a->options.user, finding);
}

haul_status haul__audit_print_totals(haul__audit *a)
{
    const haul_audit_info *all = &a->info;
    char line[LINE_BYTES];
    if (!a->options.file)
        return HAUL_OK;
    snprintf(line, sizeof line,
             "%zu hidden pointers in %zu words, %zu unused of %zu rows, "
             "%zu beyond and %zu far below the size of "
             "%zu blocks\n",
             all->hidden_pointers, all->words, all->unused_rows, all->rows, all->beyond_block,
             all->little_of_block, all->blocks);
    put(a, line);
    return a->printed == HAUL_OK ? HAUL_OK
                                 : haul__fail(&a->context->error, a->printed,
                                              "the file did not take all that was printed");
}

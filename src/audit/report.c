/* An audit's findings as lines of text.
 */
#include <stdio.h>

#include "haul/audit.h"

#include "context/context.h"

#define LINE_BYTES (2u * HAUL_PATH_BYTES + HAUL_TEXT_BYTES + 64u)

typedef struct writer {
    const haul_file *file;
    haul_status status; /* the first failure; nothing is written after it */
} writer;

static void put(writer *w, const char *line)
{
    if (w->status == HAUL_OK)
        w->status = w->file->write(w->file->user, line, strlen(line)) == HAUL_OK ? HAUL_OK
                                                                                 : HAUL_ERROR_FILE;
}

static void write_finding(void *user, const haul_audit_finding *finding)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s  %s%s%s: %s\n", finding->is_hint ? "hint " : "FOUND",
             finding->path, finding->other_path[0] ? " -> " : "", finding->other_path,
             finding->text);
    put(user, line);
}

static void write_totals(writer *w, const haul_audit_summary *s)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line,
             "%zu hidden pointers in %zu words, %zu unused of %zu rows, "
             "%zu beyond and %zu far below the size of "
             "%zu blocks\n",
             s->hidden_pointers, s->words, s->unused_rows, s->rows, s->beyond_block,
             s->little_of_block, s->blocks);
    put(w, line);
}

haul_status haul_audit_write(haul_context *context, const haul_root *roots, size_t count,
                             const haul_audit_options *options, const haul_file *file,
                             haul_audit_summary *summary)
{
    static const haul_audit_options defaults;
    haul_audit_options with_writer = options ? *options : defaults;
    haul_audit_summary totals;
    haul_status status;
    writer w;
    if (summary)
        memset(summary, 0, sizeof *summary);
    if (!file || !file->write)
        return haul__context_refuse(context, HAUL_ERROR_ARGUMENT,
                                    "the file to print to is NULL, or has no function that writes");
    w.file = file;
    w.status = HAUL_OK;
    with_writer.finding = write_finding;
    with_writer.user = &w;
    status = haul_audit(context, roots, count, &with_writer, &totals);
    if (status != HAUL_OK)
        return status;
    write_totals(&w, &totals);
    if (summary)
        *summary = totals;
    return w.status == HAUL_OK ? HAUL_OK
                               : haul__context_refuse(context, w.status,
                                                      "the file did not take all that was printed");
}

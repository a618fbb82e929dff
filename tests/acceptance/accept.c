/* Claims that are counted, and a journey during which the original is inaccessible.
 */
#define _GNU_SOURCE
#include "accept.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long passed, failed;

void accept_title(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    putchar('\n');
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

void accept_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("       ");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

int accept(int holds, const char *sentence, ...)
{
    va_list arguments;
    va_start(arguments, sentence);
    printf("  %s  ", holds ? "yes" : "NO ");
    vprintf(sentence, arguments);
    putchar('\n');
    va_end(arguments);
    fflush(stdout);
    passed += holds ? 1 : 0;
    failed += holds ? 0 : 1;
    return holds;
}

static void note_error(haul_status status, const haul_error *error)
{
    accept_note("%s", haul_status_name(status));
    if (!error)
        return;
    if (error->path[0])
        accept_note("at  %s", error->path);
    if (error->other_path[0])
        accept_note("and %s", error->other_path);
    if (error->text[0])
        accept_note("%s", error->text);
}

int accept_ok(haul_status status, const haul_error *error, const char *sentence)
{
    if (!accept(status == HAUL_OK, "%s", sentence))
        note_error(status, error);
    return status == HAUL_OK;
}

int accept_refused(haul_status status, haul_status expected, const haul_error *error,
                   const char *place, const char *words, const char *sentence)
{
    const int placed = strstr(error->path, place) || strstr(error->other_path, place);
    const int right = status == expected && placed && strstr(error->text, words);
    accept(right, "refused: %s", sentence);
    note_error(status, error);
    return right;
}

int accept_done(void)
{
    accept(heap_wrong() == 0, "and nothing was freed that was no block");
    printf("\n%lu passed, %lu failed\n", passed, failed);
    return failed > 0;
}

char *accept_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    *bytes = 0;
    if (text) {
        rewind(file);
        *bytes = fread(text, 1, (size_t)size, file);
        text[*bytes] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

haul_device *accept_device(int checked)
{
    haul_context_options options;
    haul_context *context;
    haul_device *device = NULL;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.checked = checked;
    status = haul_context_create(&options, &context);
    if (!status)
        status = haul_host_open(context, NULL, &device);
    haul_context_free(&context);
    if (status) {
        fprintf(stderr, "no host device: %s\n", haul_status_text(status));
        exit(1);
    }
    return device;
}

static void print_finding(void *user, const haul_audit_finding *finding)
{
    (void)user;
    if (!finding->is_hint)
        accept_note("%s -> %s: %s", finding->path, finding->other_path, finding->text);
}

static haul_context *checked_context(void)
{
    haul_context_options checked;
    haul_context *context;
    memset(&checked, 0, sizeof checked);
    checked.checked = 1;
    if (haul_context_create(&checked, &context) != HAUL_OK) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return context;
}

static haul_status audit(haul_context *context, void *root, const haul_type *type, size_t count,
                         haul_audit_info *found)
{
    haul_root from = { root, type, count };
    haul_audit_options options;
    memset(&options, 0, sizeof options);
    options.finding = print_finding;
    options.findings = 4;
    options.block = heap_find;
    return haul_audit(context, haul_from_roots(&from, 1), &options, found);
}

int accept_audit(haul_status (*tell)(haul_context *context), void *root, const haul_type *type,
                 size_t count)
{
    haul_context *context = checked_context();
    haul_audit_info found;
    haul_status status = tell ? tell(context) : HAUL_OK;
    int right;
    if (!status)
        status = audit(context, root, type, count, &found);
    right = status == HAUL_OK && found.hidden_pointers == 0 && found.beyond_block == 0;
    if (found.little_of_block > 0)
        accept_note("blocks with room to grow, which the description leaves out: %zu",
                    found.little_of_block);
    accept(right, "the audit finds nothing: %zu objects, %zu words, %zu blocks", found.objects,
           found.words, found.blocks);
    if (status)
        note_error(status, haul_context_error(context));
    haul_context_free(&context);
    return right;
}

/* Libraries' own functions work there: they change counts together with their pointers. */
haul_shipment *accept_ship(haul_device *device, void *root, const haul_type *type, size_t count)
{
    haul_ship_options options;
    haul_shipment *shipment;
    haul_shipment_info s;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.let_counts_change = 1;
    status = haul_ship(device, root, type, count, &options, &shipment);
    if (status) {
        accept_ok(status, haul_context_error(haul_device_context(device)), "it is shipped");
        return NULL;
    }
    haul_shipment_get_info(shipment, &s);
    accept_note("shipped: %zu objects with %zu pointers, %zu bytes in an arena of %zu", s.objects,
                s.pointers, s.graph_bytes, s.arena_bytes);
    return shipment;
}

/* The system reads it for us, and answers instead of faulting. */
static int is_out_of_reach(const void *address)
{
    int ends[2], out_of_reach;
    if (pipe(ends) != 0)
        return 0;
    out_of_reach = write(ends[1], address, 1) < 0 && errno == EFAULT;
    close(ends[0]);
    close(ends[1]);
    return out_of_reach;
}

int accept_there(haul_device *device, heap *originals, const void *witness, void (*work)(void *),
                 void *data)
{
    int hidden;
    haul_status status = HAUL_OK;
    heap_hide(originals);
    hidden = is_out_of_reach(witness);
    if (hidden)
        status = haul_host_launch(device, work, data);
    heap_show(originals);
    if (!hidden || status)
        accept(0, "the work is done there, the original out of reach");
    return hidden && !status;
}

void accept_must(haul_device *device, haul_status status, const char *sentence)
{
    if (status != HAUL_OK)
        accept_ok(status, haul_context_error(haul_device_context(device)), sentence);
}

haul_environment_info accept_info(haul_environment *environment)
{
    haul_environment_info info;
    haul_environment_get_info(environment, &info);
    return info;
}

void accept_heaps_end(heap *originals, heap *plain)
{
    accept(heap_live(originals) + heap_live(plain) == 0, "all blocks of the host were freed");
    heap_close(originals);
    heap_close(plain);
}

void accept_left(haul_device *device, haul_environment **environment)
{
    haul_environment_info info;
    haul_host_counters counters;
    haul_environment_get_info(*environment, &info);
    accept(info.roots == 0 && info.groups == 0 && info.ranges == 0 && info.bytes == 0 &&
               info.device_bytes == 0 && info.enters == info.exits,
           "%llu enters had their exits, and nothing is present", (unsigned long long)info.enters);
    haul_environment_free(environment);
    accept(haul_host_get_counters(device, &counters) == HAUL_OK && counters.bytes_live == 0,
           "the device's memory is free");
}

heap *accept_heap_over(const haul_shipment *shipment)
{
    haul_shipment_info s;
    haul_shipment_get_info(shipment, &s);
    return heap_over((void *)(uintptr_t)s.base, s.arena_bytes);
}

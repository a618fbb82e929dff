/* The report of an audit.
 */
#include <stdio.h>

#include "audit/report.h"
#include "walk/paths.h"
#include "walk/place.h"

#define LINE_BYTES (2u * HAUL_PATH_BYTES + HAUL_TEXT_BYTES + 64u)

/* Nothing is written after the first failure. */
static void put(haul__audit *a, const char *line)
{
    const haul_file *file = a->options.file;
    if (a->printed == HAUL_OK && file->write(file->user, line, strlen(line)) != HAUL_OK)
        a->printed = HAUL_ERROR_FILE;
}

/* ---- In words. */

static void say_memory(const haul_memory *memory, const char *name, uintptr_t value, char *text,
                       size_t room)
{
    const int has_name = name[0] != '\0';
    if (memory->kind == HAUL_MEMORY_BLOCK && value != memory->begin)
        snprintf(text, room, "%zu bytes into a heap block of %zu bytes",
                 (size_t)(value - memory->begin), memory->bytes);
    else if (memory->kind == HAUL_MEMORY_BLOCK)
        snprintf(text, room, "to a heap block of %zu bytes", memory->bytes);
    else if (memory->kind == HAUL_MEMORY_STACK)
        snprintf(text, room, "into a stack");
    else if (memory->kind == HAUL_MEMORY_STATIC)
        snprintf(text, room, "to static data or code of %s", name);
    else
        snprintf(text, room, "into a mapping of %zu bytes%s%s%s", memory->bytes,
                 has_name ? " (" : "", name, has_name ? ")" : "");
}

static void say_word(const haul__noted *noted, const char *memory_name, char *text, size_t room)
{
    char place[192] = "into the graph", where[96] = "plain data";
    if (noted->memory.kind)
        say_memory(&noted->memory, memory_name, noted->value, place, sizeof place);
    if (noted->type)
        snprintf(where, sizeof where, "offset %zu of %s", noted->offset,
                 haul_type_name(noted->type));
    snprintf(text, room, "no field%s describes this pointer (%s, %zu time%s): 0x%llx leads %s",
             noted->is_left_out ? " that holds" : "", where, noted->times,
             noted->times == 1 ? "" : "s", (unsigned long long)noted->value, place);
}

static void say_field(const haul__noted *noted, char *text, size_t room)
{
    static const char *const empty[] = { "NULL", "NULL or led to no elements",
                                         "NULL, an integer or something else" };
    snprintf(text, room, "described as a pointer, it was %s in all of %zu place%s%s",
             empty[noted->was_set ? 1 + noted->has_rule : 0], noted->times,
             noted->times == 1 ? "" : "s", noted->level ? ", as an array's element" : "");
}

static void say_block(const haul__noted *noted, char *text, size_t room)
{
    size_t length;
    if (noted->kind == HAUL_AUDIT_BEYOND_BLOCK)
        snprintf(text, room,
                 "described as %zu bytes, but its block of %zu bytes ends %zu bytes earlier",
                 noted->bytes, (size_t)noted->value, noted->bytes - noted->usable);
    else
        snprintf(text, room, "only the first %zu bytes of its block of %zu are described",
                 noted->bytes, noted->usable);
    length = strlen(text);
    if (noted->times > 1)
        snprintf(text + length, room - length, " (the first of %zu)", noted->times);
}

static void say_left_out(const haul__noted *noted, char *text, size_t room)
{
    snprintf(text, room,
             "%zu bytes that are not zero do not travel, because its `.when` does not hold "
             "(%zu time%s): `.else_raw` sends them, and a HAUL_SKIP leaves them out on purpose",
             noted->bytes, noted->times, noted->times == 1 ? "" : "s");
}

/* ---- Findings. */

static int is_word(const haul__noted *noted)
{
    return noted->kind == HAUL_AUDIT_HIDDEN_POINTER || noted->kind == HAUL_AUDIT_OUTSIDE_ADDRESS;
}

/* Of a byte of the graph, or of one past a described range. */
static int name_target(haul__audit *a, uintptr_t address, char *path)
{
    static const char end[] = " (its end)";
    size_t length;
    if (!haul__name_byte(&a->walk, address, 0, path))
        return 0;
    if (path[0])
        return 1;
    if (!haul__name_byte(&a->walk, address - 1, 0, path))
        return 0;
    length = strlen(path);
    if (length && length + sizeof end <= HAUL_PATH_BYTES)
        memcpy(path + length, end, sizeof end);
    return 1;
}

static haul_status name(haul__audit *a, haul__noted *noted)
{
    haul__named *names = HAUL__LIST_ADD(a->allocator, &a->names);
    int named;
    if (!names)
        return HAUL_ERROR_MEMORY;
    memset(names, 0, sizeof *names);
    noted->name = a->names.count;
    if (noted->memory.kind)
        snprintf(names->memory, sizeof names->memory, "%s", noted->memory.name);
    if (is_word(noted) && !noted->memory.kind && !name_target(a, noted->value, names->other_path))
        return HAUL_ERROR_MEMORY;
    named =
        noted->slot
            ? haul__name_place(&a->walk, noted->entry, noted->element, noted->slot, names->path)
            : haul__name_byte_of(&a->walk, noted->entry, noted->element, noted->address,
                                 is_word(noted) || noted->kind == HAUL_AUDIT_LEFT_OUT, names->path);
    return named ? HAUL_OK : HAUL_ERROR_MEMORY;
}

haul_status haul__audit_name(haul__audit *a, size_t from)
{
    size_t named[HAUL_AUDIT_LEFT_OUT + 1] = { 0 }, i;
    haul_status status = HAUL_OK;
    if (!a->options.finding && !a->options.file)
        return HAUL_OK;
    for (i = 0; i < a->noted.count && status == HAUL_OK; i++) {
        haul__noted *noted = &a->noted.at[i];
        if (noted->is_finding && (i >= from || noted->name) &&
            named[noted->kind]++ < a->options.findings && i >= from)
            status = name(a, noted);
    }
    return status;
}

static void fill(const haul__audit *a, const haul__noted *noted, haul_audit_finding *finding)
{
    const haul__named *names = &a->names.at[noted->name - 1];
    memset(finding, 0, sizeof *finding);
    finding->kind = noted->kind;
    finding->is_hint =
        noted->kind != HAUL_AUDIT_HIDDEN_POINTER && noted->kind != HAUL_AUDIT_BEYOND_BLOCK;
    finding->address = (const void *)noted->address;
    finding->value = noted->value;
    finding->bytes = noted->bytes;
    finding->times = noted->times;
    finding->memory = noted->memory;
    finding->memory.name = names->memory;
    memcpy(finding->path, names->path, sizeof finding->path);
    memcpy(finding->other_path, names->other_path, sizeof finding->other_path);
    if (is_word(noted))
        say_word(noted, names->memory, finding->text, sizeof finding->text);
    else if (noted->kind == HAUL_AUDIT_UNUSED_FIELD)
        say_field(noted, finding->text, sizeof finding->text);
    else if (noted->kind == HAUL_AUDIT_LEFT_OUT)
        say_left_out(noted, finding->text, sizeof finding->text);
    else
        say_block(noted, finding->text, sizeof finding->text);
}

void haul__audit_tell(haul__audit *a)
{
    haul_audit_finding finding;
    char line[LINE_BYTES];
    size_t i;
    for (i = 0; i < a->noted.count; i++) {
        const haul__noted *noted = &a->noted.at[i];
        a->info.unused_fields += noted->is_finding && noted->kind == HAUL_AUDIT_UNUSED_FIELD;
        if (!noted->is_finding || !noted->name)
            continue;
        fill(a, noted, &finding);
        a->info.reported++;
        if (a->options.file) {
            snprintf(line, sizeof line, "%s  %s%s%s: %s\n", finding.is_hint ? "hint " : "FOUND",
                     finding.path, finding.other_path[0] ? " -> " : "", finding.other_path,
                     finding.text);
            put(a, line);
        }
        if (a->options.finding)
            a->options.finding(a->options.user, &finding);
    }
}

haul_status haul__audit_print_totals(haul__audit *a)
{
    const haul_audit_info *all = &a->info;
    char line[LINE_BYTES];
    if (!a->options.file)
        return HAUL_OK;
    snprintf(line, sizeof line,
             "%zu hidden pointers and %zu other addresses in %zu words, %zu unused of %zu fields, "
             "%zu left out, %zu beyond and %zu far below the size of %zu blocks\n",
             all->hidden_pointers, all->outside_addresses, all->words, all->unused_fields,
             all->fields, all->left_out, all->beyond_block, all->little_of_block, all->blocks);
    put(a, line);
    return a->printed == HAUL_OK ? HAUL_OK
                                 : haul__fail(&a->context->error, a->printed,
                                              "the file did not take all that was printed");
}

/* The audit: does a description fit the data?
 *
 *     static void tell(void *user, const haul_audit_finding *finding)
 *     {
 *         printf("%s: %s\n", finding->path, finding->text);
 *     }
 *
 *     haul_audit_options options = { 0 };
 *     options.finding = tell;
 *     haul_audit(context, haul_from_object(mesh, mesh_type), &options, &info);
 *
 * A description that forgets a pointer is wrong in silence: the pointer's bytes travel as data, and
 * a device follows them to the host's memory. No library can know that a word is a pointer, but it
 * can search. The audit walks the graph as haul_plan_create does, then reads all described bytes
 * once more, and reports four things:
 *
 *   words that no field describes and that hold an address of this process: in the graph, of
 *   another heap block, or of other memory;
 *   bytes that are not zero and do not travel, because the conditions of their fields do not hold;
 *   fields that never led anywhere, in any object;
 *   arrays longer than their heap block, or far shorter.
 *
 * Each place of a type is reported once, with a count. A word that is meant to hold an address is
 * declared: HAUL_RAW, if its bytes travel, HAUL_SKIP if they do not. Then a right description has
 * no findings, only hints.
 *
 * Run it once over your own data when a description is new, and again when a struct has changed.
 * One audit covers several graphs: haul_from_roots takes roots of any types, and a field is unused
 * if no graph uses it. One report covers several audits, of data that need not live at once
 * (haul_audit_begin). An audit writes only its results.
 *
 * What it cannot see: a pointer that is stored as something else, such as a distance, a number, an
 * address with high tag bits, or bytes that lie off the grid of pointers. A strict launch on the
 * host device finds such a pointer when a kernel follows it (host.h).
 *
 * An audit reads every described byte that is sent, padding included (a tool that watches for
 * uninitialised memory reports that). It reads a field that does not hold only if one block or
 * mapping of the process has all of its bytes. Bytes that were never set may hold an old address,
 * and are reported then. docs/describing.md says what an audit costs.
 */
#ifndef HAUL_AUDIT_H
#define HAUL_AUDIT_H

#include "haul/file.h"
#include "haul/plan.h"
#include "haul/process.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum haul_audit_kind {
    /* A word of data, on the grid of pointers and whole within one object, whose value is the
     * address of a described byte, of one past a described range, or of a byte of a heap block (of
     * its first byte, if pointers have 4 bytes). Usually a forgotten field; sometimes an integer
     * that looks like an address (often, if pointers have 4 bytes). Words of HAUL_RAW and HAUL_SKIP
     * fields are not reported. */
    HAUL_AUDIT_HIDDEN_POINTER = 1,
    /* A field whose pointer led to nothing in every object: it was NULL or had no elements. If the
     * field has members: it was NULL, tags alone or an integer, or another field said that it does
     * not hold. (Fields whose condition is a function are left out, because the audit does not call
     * it.) A hint: a field that names the wrong member looks like this, and so does data that does
     * not use it. */
    HAUL_AUDIT_UNUSED_FIELD = 2,
    /* A described range that reaches over the end of its heap block. The bytes beyond are not
     * read. */
    HAUL_AUDIT_BEYOND_BLOCK = 3,
    /* A heap block of which less than half is described, and at least HAUL_AUDIT_SLACK bytes are
     * not; with exact_blocks, one that is not described to its last byte. A hint: a count that is
     * too small looks like this, and so does an array with room to grow. */
    HAUL_AUDIT_LITTLE_OF_BLOCK = 4,
    /* A word like a HAUL_AUDIT_HIDDEN_POINTER that leads to other memory: static data, code, a
     * stack, a mapping. A hint: a handle looks like this, and memory of an allocator that the audit
     * does not know. */
    HAUL_AUDIT_OUTSIDE_ADDRESS = 5,
    /* Bytes that are not zero, of a field whose `.when` does not hold, while no other field there
     * does: they are zeros in the copy. A hint: a union whose arm has no field looks like this, and
     * so does a pointer that a flag has switched off. HAUL_SKIP with its own `.when` says that it
     * is meant. A word of them that leads to a heap block outside the graph, or to registered
     * static data (context.h), is a HAUL_AUDIT_HIDDEN_POINTER. */
    HAUL_AUDIT_LEFT_OUT = 6
} haul_audit_kind;

#define HAUL_AUDIT_SLACK 64u /* bytes; more than any allocator rounds up a small block */

/* Members with three meanings have them in this order: for a word that holds an address; for an
 * unused field; for the two findings of blocks. */
typedef struct haul_audit_finding {
    haul_audit_kind kind;
    int is_hint; /* 1: the description may be right */
    /* of the first word; of the pointer in the first object; of the first described range */
    const void *address;
    uintptr_t value; /* the word's value; 0; the block's usable bytes */
    size_t bytes;    /* of the word; of the pointer; described from `address` on */
    /* words at this place of the type; pointers seen; ranges that this field leads to */
    size_t times;
    /* What the word leads to, outside the graph; else kind 0, and the path below. Its name is good
     * until the call returns. */
    haul_memory memory;
    /* The first such place: "root.atoms[3].next". A place without a field is an offset at the end:
     * "root.atoms[3]+24". */
    char path[HAUL_PATH_BYTES];
    char other_path[HAUL_PATH_BYTES]; /* of the target, if a word leads into the graph; else "" */
    char text[HAUL_TEXT_BYTES];       /* one sentence */
} haul_audit_finding;

typedef struct haul_audit_info {
    size_t objects;         /* objects and arrays that were looked at */
    size_t words;           /* words of data that were looked at */
    size_t fields;          /* fields of pointers that were looked at, each once */
    size_t blocks;          /* blocks whose size was known */
    size_t hidden_pointers; /* words, not places */
    size_t unused_fields;
    size_t beyond_block;      /* ranges, not fields */
    size_t little_of_block;   /* blocks, not fields */
    size_t outside_addresses; /* words, not places */
    size_t reported;          /* findings that were handed over */
    size_t left_out;          /* fields of objects, not fields of types */
} haul_audit_info;

typedef struct haul_audit_options {
    /* Each finding is printed to this file as it comes, and one line of totals at the end; NULL:
     * nothing is. HAUL_ERROR_FILE: the file refuses; the audit still runs to its end.
     *
     *     FOUND  root.next+16 -> root: ...sentence
     *     FOUND  root+24: ...sentence
     *     hint   root.name: ...sentence
     */
    const haul_file *file;
    /* Called with each finding, which is valid until it returns; NULL: no call. It must not call
     * into the same context (such a call gets HAUL_ERROR_BUSY; an object that it frees goes when
     * the audit ends). */
    void (*finding)(void *user, const haul_audit_finding *finding);
    void *user;
    /* Finds the block of the program's own allocators (a pool, a list of allocations) that has the
     * address: sets *begin, and answers its usable bytes; 0: none of them has. NULL: the blocks of
     * malloc's heap are known, and no others. Called for any address of readable memory. */
    size_t (*block)(void *user, const void *address, const void **begin);
    void *block_user;
    size_t findings; /* the most that are reported of each kind; the info counts all. 0: 64 */
    /* 1: `block` answers the size that was asked of the allocator, not the size that it rounded up
     * to: then a count that is too small by one is found, too */
    int exact_blocks;
    /* 0: hidden pointers at one place of a type are one finding: the first of them, with `times`.
     * 1: every word is a finding */
    int every_word;
} haul_audit_options;

/* Audits everything that objects reach (haul_from_object, _array or _roots). `options` may be NULL;
 * so may `info`, which is all zeros after a failure. HAUL_OK means that the audit was done,
 * whatever it found. A graph that haul_plan_create refuses is refused here, with the same status
 * and path: a graph that cannot be walked cannot be audited. HAUL_ERROR_ARGUMENT: another source; a
 * file that cannot be written. HAUL_ERROR_MEMORY: findings may have been reported already. Findings
 * of blocks come first, in the order of addresses, then words and fields, in the order of the graph
 * from its roots on. Does not recurse. */
static inline haul_status haul_audit(haul_context *context, haul_source source,
                                     const haul_audit_options *options, haul_audit_info *info);

/* ---- One report on several data sets. */

/* Findings of one audit after the other: a place of a type is reported once, with a count over all
 * of them, and a field is unused if no data set uses it.
 *
 *     haul_audit_begin(context, &options, &report);
 *     for (i = 0; i < inputs; i++) {
 *         mesh *m = read_mesh(input[i]);
 *         haul_audit_add(report, haul_from_object(m, mesh_type));
 *         free_mesh(m);
 *     }
 *     haul_audit_end(&report, &info);
 *
 * A report belongs to its context, and is for the same threads. The context and the types of its
 * sources may be freed before it: they stay until it ends. It takes
 * about 1.3 KiB for each finding that it will report. */
typedef struct haul_audit_report haul_audit_report;

/* `options` as of haul_audit; its file and functions must stay until the report has ended. On
 * failure *report is NULL. HAUL_ERROR_ARGUMENT: NULL, or a file that cannot be written.
 * HAUL_ERROR_MEMORY. */
static inline haul_status haul_audit_begin(haul_context *context, const haul_audit_options *options,
                                           haul_audit_report **report);
/* Audits a source, as haul_audit does, and keeps what it finds. The source may change and go
 * afterwards. Errors are those of haul_audit. After one the report is as before, and may get other
 * sources; after HAUL_ERROR_MEMORY alone it may not be whole, and haul_audit_end says so. */
static inline haul_status haul_audit_add(haul_audit_report *report, haul_source source);
/* Reports all findings, ends the report and sets *report to NULL. `info` may be NULL. Addresses in
 * findings are those of data that may be gone. HAUL_ERROR_FILE: the file refuses.
 * HAUL_ERROR_MEMORY: memory ran out in an audit; nothing is reported, and the report has ended.
 * HAUL_ERROR_BUSY: another call on the context is under way, and the report has not ended.
 * HAUL_ERROR_ARGUMENT: NULL, or a report that has ended. */
static inline haul_status haul_audit_end(haul_audit_report **report, haul_audit_info *info);

/* The functions behind the inline forms, which pass haul_this_process() and the sizes of structs.
 * A NULL process: the audit looks at the graph alone. */
HAUL_API haul_status haul_audit_sized(haul_context *context, const haul_process *process,
                                      const haul_source *source, size_t source_bytes,
                                      const haul_audit_options *options, size_t options_bytes,
                                      haul_audit_info *info, size_t info_bytes);

HAUL_API haul_status haul_audit_begin_sized(haul_context *context, const haul_process *process,
                                            const haul_audit_options *options, size_t options_bytes,
                                            haul_audit_report **report);
HAUL_API haul_status haul_audit_add_sized(haul_audit_report *report, const haul_source *source,
                                          size_t source_bytes);
HAUL_API haul_status haul_audit_end_sized(haul_audit_report **report, haul_audit_info *info,
                                          size_t info_bytes);

static inline haul_status haul_audit(haul_context *context, haul_source source,
                                     const haul_audit_options *options, haul_audit_info *info)
{
    return haul_audit_sized(context, haul_this_process(), &source, sizeof source, options,
                            sizeof *options, info, sizeof *info);
}

static inline haul_status haul_audit_begin(haul_context *context, const haul_audit_options *options,
                                           haul_audit_report **report)
{
    return haul_audit_begin_sized(context, haul_this_process(), options, sizeof *options, report);
}

static inline haul_status haul_audit_add(haul_audit_report *report, haul_source source)
{
    return haul_audit_add_sized(report, &source, sizeof source);
}

static inline haul_status haul_audit_end(haul_audit_report **report, haul_audit_info *info)
{
    return haul_audit_end_sized(report, info, sizeof *info);
}

#ifdef __cplusplus
}
#endif
#endif

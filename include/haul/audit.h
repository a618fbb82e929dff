/* The audit: does a description fit the data?
 *
 *     static void tell(void *user, const haul_audit_finding *finding)
 *     {
 *         printf("%s: %s\n", finding->path, finding->text);
 *     }
 *
 *     haul_audit_options options = { 0 };
 *     options.finding = tell;
 *     haul_audit(context, &root, 1, &options, &summary);
 *
 * A description that is wrong in silence is one that forgot a pointer: its bytes travel as data,
 * and a device follows them to the host. No library can know; but it can look. The audit walks the
 * graph as haul_plan_create does and then reads all that is described once more, in search of three
 * things:
 *
 *   words that no row describes and that hold an address in the graph;
 *   rows that never led anywhere, in any object;
 *   arrays longer than their block of memory, or far shorter, if the allocator can tell.
 *
 * Run it once over data of your own when a description is new, and again when a struct has changed.
 * It writes to nothing but its results.
 *
 * It costs about three times what a plan costs, more in a checked context, and reads every
 * described byte that is sent, padding included (a tool that watches for uninitialised memory will
 * see that). Working memory: what a plan takes; 80 to 120 bytes for each object and array found, 32
 * more with `usable`; about 100 for each suspicious word. Each finding that is reported goes
 * through all objects once, for its path.
 */
#ifndef HAUL_AUDIT_H
#define HAUL_AUDIT_H

#include "haul/file.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum haul_audit_kind {
    /* A word of data, on the grid of pointers and whole within one object, whose value is the
     * address of a described byte or one past a described range. A forgotten row, as a rule; now
     * and then an integer that looks like an address (with pointers of 4 bytes that is no rare
     * chance). Words of HAUL_OPAQUE and HAUL_SKIP fields are meant to be what they are: neither is
     * reported. */
    HAUL_AUDIT_HIDDEN_POINTER = 1,
    /* A row whose pointer led to nothing, wherever it was looked at: NULL, or no elements behind
     * it; of a row with a rule: NULL, tags alone, an integer, or a field says that the row does not
     * hold (functions are not asked: rows whose condition is one are left out). A hint: a row that
     * names the wrong field looks like this, and so does data that happens not to use it. */
    HAUL_AUDIT_UNUSED_ROW = 2,
    /* A described range that reaches over the end of its block. What lies beyond is not read. */
    HAUL_AUDIT_BEYOND_BLOCK = 3,
    /* A block of which less than half is described, and at least HAUL_AUDIT_SLACK bytes are not;
     * with exact_blocks, one that is not described to its last byte. A hint: a count that is too
     * small looks like this, and so does an array with room to grow. */
    HAUL_AUDIT_LITTLE_OF_BLOCK = 4
} haul_audit_kind;

#define HAUL_AUDIT_SLACK 64u /* bytes; more than any allocator rounds up a small block */

typedef struct haul_audit_finding {
    haul_audit_kind kind;
    int is_hint; /* 1: may well be right */
    /* of the word; of the pointer in the first object looked at; of the range */
    const void *address;
    uintptr_t value; /* what the word holds; 0; the block's usable bytes */
    size_t bytes;    /* of the word; of the pointer; that are described from there on */
    size_t times;    /* words at this place of this type; pointers looked at; 1 */
    /* The first such place: "root.atoms[3].next". Where no row has a name for it, its offset in
     * what the path leads to stands at the end: "root.atoms[3]+24". */
    char path[HAUL_PATH_BYTES];
    char other_path[HAUL_PATH_BYTES]; /* of a hidden pointer: what it leads to; else empty */
    char text[HAUL_TEXT_BYTES];       /* one sentence */
} haul_audit_finding;

typedef struct haul_audit_summary {
    size_t objects;         /* objects and arrays that were looked at */
    size_t words;           /* words of data that were looked at */
    size_t rows;            /* rows that were looked at, each once */
    size_t blocks;          /* blocks of which the allocator told the size */
    size_t hidden_pointers; /* words, not places */
    size_t unused_rows;
    size_t beyond_block;
    size_t little_of_block;
    size_t reported; /* findings that were handed over */
} haul_audit_summary;

typedef struct haul_audit_options {
    /* Told of each finding; NULL: only the summary is wanted. The finding is gone when it returns.
     * It must not call into the same context (that call gets HAUL_ERROR_BUSY; what it frees goes
     * when the audit ends). */
    void (*finding)(void *user, const haul_audit_finding *finding);
    void *user;
    /* How many bytes the allocator's block that begins at `block` has for use; 0: it is not the
     * beginning of a block, or not known. NULL: no block is asked about. Asked at most once for
     * each address at which a described range begins that lies in no other. That may be a string
     * constant or a member of something undescribed. malloc_usable_size alone is therefore good
     * only where everything that pointers lead to is malloc's; else wrap it in a look at your own
     * books. */
    size_t (*usable)(void *user, const void *block);
    void *usable_user;
    int roots_are_blocks; /* 1: `usable` is asked about roots too. 0: they may lie on a stack. */
    /* 1: `usable` tells what was asked of the allocator, to the byte, and not what it made of that:
     * then a count that is too small by one is told as well */
    int exact_blocks;
    size_t findings; /* reported of each kind, at most; the summary counts on. 0: 64 */
    /* 0: hidden pointers at one place of a type are one finding, the first of them, with `times`.
     * 1: every word is a finding */
    int every_word;
} haul_audit_options;

/* Audits what the roots reach. `options` may be NULL, and a zeroed struct means the defaults; so
 * may `summary`, which is all zeros after a failure. HAUL_OK says that the audit was done, whatever
 * it found. What haul_plan_create refuses is refused here, with the same status and path: a graph
 * that cannot be walked cannot be audited. HAUL_ERROR_MEMORY: findings may have been reported
 * already. The order of findings follows the graph from its roots on, and of blocks their
 * addresses. Does not recurse. */
HAUL_API haul_status haul_audit(haul_context *context, const haul_root *roots, size_t count,
                                const haul_audit_options *options, haul_audit_summary *summary);

/* The same, with each finding printed as it comes, and one line of totals at the end:
 *
 *     FOUND  root.next+16 -> root: ...sentence
 *     hint   root.name: ...sentence
 *
 * options->finding and options->user are not used. HAUL_ERROR_FILE when the file refuses; the audit
 * goes on. */
HAUL_API haul_status haul_audit_write(haul_context *context, const haul_root *roots, size_t count,
                                      const haul_audit_options *options, const haul_file *file,
                                      haul_audit_summary *summary);

#ifdef __cplusplus
}
#endif
#endif

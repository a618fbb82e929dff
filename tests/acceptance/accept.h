/* What the acceptance programs share: sentences that are counted, and a journey during which the
 * original is out of reach.
 *
 * A program says what it does in titles and notes, and what it has seen in sentences, each with a
 * "yes" or a "NO" in front. Its last line is "N passed, N failed", and its exit code says the same.
 */
#ifndef ACCEPTANCE_ACCEPT_H
#define ACCEPTANCE_ACCEPT_H

#include <stddef.h>

#include <haul.h>

#include "heap.h"

/* exit code of a program that finds none of its real files */
enum { ACCEPT_NOTHING_TO_RUN_ON = 77 };

void accept_title(const char *format, ...) __attribute__((format(printf, 1, 2)));
void accept_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One sentence, and whether it holds; answers that. */
int accept(int holds, const char *sentence, ...) __attribute__((format(printf, 2, 3)));
/* The same for a call of Haul that must succeed: if not, its words follow. `error` may be NULL. */
int accept_ok(haul_status status, const haul_error *error, const char *sentence);
/* The same for one that must be refused: with this status, `place` in one of its paths, `words` in
 * its text. What it said is printed, for the reader to judge whether it is clear. */
int accept_refused(haul_status status, haul_status expected, const haul_error *error,
                   const char *place, const char *words, const char *sentence);
/* Says how many; answers main's exit code. */
int accept_done(void);

/* The whole file with a 0 behind it, in the C library's memory; NULL: it cannot be read. */
char *accept_read(const char *path, size_t *bytes);

/* A host device with a context of its own; ends the program when there is none. */
haul_device *accept_device(int checked);

/* Audits in a checked context of its own, to which `tell` (NULL: none) adds statics; says in one
 * sentence that nothing was found, hints aside, and prints what was. Blocks are those of open
 * heaps. */
int accept_audit(haul_status (*tell)(haul_context *context), void *root, const haul_type *type,
                 size_t count);

/* Ships, and notes how much that was. NULL: it failed, and a sentence said so. */
haul_shipment *accept_ship(haul_device *device, void *root, const haul_type *type, size_t count);

/* Runs work(data) on the host device while `originals` is hidden; answers whether it did. The first
 * byte of `witness`, a block of that heap, is tried before: it must be out of reach. */
int accept_there(haul_device *device, heap *originals, const void *witness, void (*work)(void *),
                 void *data);

/* A call of Haul that succeeds, or a sentence says that it did not. */
void accept_must(haul_device *device, haul_status status, const char *sentence);
haul_environment_info accept_info(haul_environment *environment);
/* Says whether all blocks of two heaps were freed, and closes them. */
void accept_heaps_end(heap *originals, heap *plain);

/* Says whether all roots have left and, when the environment is freed, all memory of the device is
 * free. */
void accept_left(haul_device *device, haul_environment **environment);

/* A foreign heap over the shipment's arena: what is freed there is counted. Close it before the
 * shipment is freed. */
heap *accept_heap_over(const haul_shipment *shipment);

#endif

/* Errors, and the paths in them.
 */
#ifndef HAUL_WALK_PATHS_H
#define HAUL_WALK_PATHS_H

#include "walk/discovery.h"

/* Fills the error record and answers `status`. A recording run adds the path of the visited
 * element, or of its slot if `slot` is not NULL. */
haul_status haul__refuse(haul__discovery *d, haul_status status, const haul__slot *slot,
                         const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
/* The same for a pointer to an address outside any process's range. */
haul_status haul__refuse_outside(haul__discovery *d, const haul__slot *slot, uintptr_t address);
/* The same for a range that the context's `readable` refuses. */
haul_status haul__refuse_unreadable(haul__discovery *d, const haul__slot *slot);
/* Writes the path of an entry's element, or of its slot; `path` has HAUL_PATH_BYTES. 0: out of
 * memory. */
int haul__name_place(haul__discovery *d, size_t entry, size_t element, const haul__slot *slot,
                     char *path);
/* What cannot be followed is passed over, and the first such place is kept. HAUL_OK, unless the
 * sought place is found, the work is over, or memory runs out. */
haul_status haul__pass_over(haul__discovery *d, haul_status status);
/* Writes the path of a refusal. */
void haul__name_refusal(haul__discovery *d, const haul__refusal *refusal, char *path);
/* Sets other_path to the first entry that covers a byte of the word at `address`. */
void haul__name_other(haul__discovery *d, uintptr_t address);
/* Sets other_path to another row of the visited element. */
void haul__name_row(haul__discovery *d, const haul__slot *slot);

#endif

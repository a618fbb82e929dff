/* One audit under way: a recorded discovery whose marks are laid out, and three searches over it.
 */
#ifndef HAUL_AUDIT_ROOM_H
#define HAUL_AUDIT_ROOM_H

#include "walk/met_types.h"
#include "walk/worklist.h"
#include "haul/audit.h"

typedef struct haul__audit {
    haul_context *context;
    haul_allocator *allocator;
    haul_audit_options options; /* with their defaults filled in */
    haul_audit_summary summary;
    haul__found found;
    haul__discovery walk;      /* its entries: all that was found, and from where */
    uintptr_t lowest, highest; /* no described byte lies outside, nor an end of a range */
} haul__audit;

/* audit.c */
/* Is this the address of a described byte, or of one past it? */
int haul__audit_leads_in(const haul__audit *a, uintptr_t value);
/* Counts are the searches' business; this hands a finding over, unless `before` of its kind were
 * found already and that is enough. */
int haul__audit_is_wanted(const haul__audit *a, size_t before);
void haul__audit_tell(haul__audit *a, const haul_audit_finding *finding);
/* An entry's bytes from its address on, to the last that travels; 0: none of them can be read. */
size_t haul__audit_extent(const haul__audit *a, const haul__entry *entry);
/* Where an object ends that tells its size itself, from its start on: perhaps before its type does.
 * SIZE_MAX: with it. */
size_t haul__audit_end(const haul__audit *a, const haul__entry *entry);

/* The searches, in this order: what blocks.c finds beyond a block it takes out of the entries. */
haul_status haul__audit_blocks(haul__audit *a); /* blocks.c */
haul_status haul__audit_words(haul__audit *a);  /* words.c */
haul_status haul__audit_rows(haul__audit *a);   /* rows.c */

/* place.c: a byte of a type, down to the innermost struct that it lies in. */
typedef struct haul__byte {
    const haul_type *type; /* that struct's */
    size_t offset;         /* of the byte in it */
    int has_row;
    haul_field row; /* that the byte lies in */
} haul__byte;

/* Looks up a byte of an element of an entry of objects. */
haul__byte haul__audit_byte(const haul__audit *a, size_t entry, size_t element, uintptr_t address);
/* The way to a byte of an element of any entry, HAUL_PATH_BYTES of room. HAUL_ERROR_MEMORY. */
haul_status haul__audit_path(haul__audit *a, size_t entry, size_t element, uintptr_t address,
                             char *path);
/* The way to what lies at an address that leads into the graph. */
haul_status haul__audit_path_of(haul__audit *a, uintptr_t address, char *path);

/* tally.c: a number for each pair of words that was asked for. The first of a pair is never 0. */
typedef struct haul__tallied {
    uintptr_t first, second;
    size_t number;
} haul__tallied;

typedef struct haul__tally {
    haul_allocator *allocator;
    haul__tallied *at;
    size_t count, capacity;
} haul__tally;

/* Where the pair's number stands, 0 at first; good until the next call. NULL: out of memory. */
size_t *haul__tally_of(haul__tally *tally, uintptr_t first, uintptr_t second);
void haul__tally_close(haul__tally *tally);

#endif

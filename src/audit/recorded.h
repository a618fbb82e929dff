/* An audit under way: a recorded discovery, laid out; answers about it; what the searches note.
 *
 * A report may cover several discoveries, one after the other. Notes stay until the report ends,
 * and so do the types, whose fields are their keys. A discovery ends with its searches. Paths need
 * it, so each search ends by finding the paths of its new notes.
 */
#ifndef HAUL_AUDIT_RECORDED_H
#define HAUL_AUDIT_RECORDED_H

#include "audit/tally.h"
#include "haul/audit.h"
#include "walk/met_types.h"
#include "walk/place.h"
#include "walk/worklist.h"

/* What a search has noted at one place of the description. */
typedef struct haul__noted {
    haul_audit_kind kind;
    int is_finding; /* 0: of an unused field, it is used after all */
    size_t times;
    /* The first word, field or range: */
    size_t entry, element;
    uintptr_t address, value; /* value: as in haul_audit_finding */
    size_t bytes;
    const haul_type *type;  /* of a word: the innermost struct; NULL: plain data */
    size_t offset;          /* of the word in that struct */
    haul_memory memory;     /* that the word leads to; kind 0: the graph */
    size_t usable;          /* of a range: from its begin to the end of its block */
    const haul__slot *slot; /* of an unused field */
    unsigned level;
    int has_rule, was_set;
    int is_left_out; /* of a word: the conditions of its fields do not hold */
    size_t name;     /* 1 + the number of its names; 0: it is not told */
} haul__noted;

#define HAUL__MEMORY_NAME_BYTES 128u

typedef struct haul__named {
    char path[HAUL_PATH_BYTES], other_path[HAUL_PATH_BYTES];
    char memory[HAUL__MEMORY_NAME_BYTES]; /* cut, if it is longer */
} haul__named;

typedef struct haul__audit {
    haul_context *context;
    int is_broken; /* memory ran out in a search, so notes are missing */
    haul_allocator *allocator;
    haul_audit_options options; /* defaults are filled in */
    haul_audit_info info;
    haul_status printed;  /* HAUL_ERROR_FILE: the file has refused a line */
    haul_process process; /* no functions: the process is not looked at */
    void *snapshot;
    haul__found found;
    haul__discovery walk;      /* its entries: all that was found, and the entry that led to it */
    uintptr_t lowest, highest; /* all described bytes, and ends of ranges, lie between them */
    haul__tally seen;          /* of this discovery: (address of a word, kind) */
    /* Of the whole report. The key (place, offset and kind) gives 1 + the number of a note; the key
     * (type, 0) says that the type is held. */
    haul__tally tally;
    HAUL__LIST(haul__noted) noted;
    HAUL__LIST(haul__named) names;
    HAUL__LIST(const haul_type *) types;
} haul__audit;

/* Is it the address of a described byte, or of one past it? */
int haul__audit_leads_in(const haul__audit *a, uintptr_t value);
/* The memory of the process at an address, as the caller or the process tells. 0: none. */
int haul__audit_memory(const haul__audit *a, uintptr_t address, haul_memory *memory);
/* The end of the entry's objects, if a field tells their size: it may come before the end of the
 * type. SIZE_MAX: no field does. */
size_t haul__audit_end(const haul__audit *a, const haul__entry *entry);
/* What stands for the field that led to an entry. */
const void *haul__audit_field_of(const haul__audit *a, const haul__entry *entry);

/* A word that holds an address. */
typedef struct haul__suspect {
    size_t number, element; /* of the entry */
    uintptr_t address, value;
    haul_memory memory; /* that it leads to; kind 0: the graph */
    int is_left_out;
} haul__suspect;

/* Notes the word, and counts it. HAUL_ERROR_MEMORY. */
haul_status haul__audit_note_word(haul__audit *a, haul_audit_kind kind, const haul__suspect *found);
/* What is noted at a place: `place` and `offset` tell it from others. New ones have times 0.
 * NULL: out of memory. */
haul__noted *haul__audit_note(haul__audit *a, haul_audit_kind kind, const void *place,
                              size_t offset);

#endif

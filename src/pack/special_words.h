/* Special words: what they become in a copy of the graph, and what they are back on the host.
 */
#ifndef HAUL_PACK_SPECIAL_WORDS_H
#define HAUL_PACK_SPECIAL_WORDS_H

#include "haul/plan.h"
#include "map/found.h"

struct haul__contents;

/* A copy of the graph, as special words see it: a plan's arena, or the contents of a user's. */
typedef struct haul__space haul__space;
struct haul__space {
    const haul_plan *plan; /* one of these two; the other is NULL */
    const struct haul__contents *contents;
    const haul__special_word *words; /* by address */
    size_t count, explicit_count;
    uint64_t base;       /* that explicit relocations are written with; a device may patch them */
    uint64_t final_base; /* where the copy will lie: words that no device patches */
    uint64_t bytes;      /* of the copy */
    haul_error *error;
    /* the offset of the word in the copy */
    size_t (*place)(const haul__space *space, const haul__special_word *word);
    /* *copy: the place, in the copy at `base`, of the word's target on the host. 0: none */
    int (*to_copy)(const haul__space *space, const haul__special_word *word, uintptr_t target,
                   uint64_t base, uintptr_t *copy);
    /* the other way */
    int (*to_host)(const haul__space *space, uintptr_t copy, uint64_t base, uintptr_t *target);
    /* writes the word's path to the error record */
    void (*name)(const haul__space *space, const haul__special_word *word);
};

/* The word without its tag while it reads `value`; a distance has its sign. 0: null. */
uintptr_t haul__special_pointer(const haul__special_word *word, uint64_t value);
/* What the word becomes in the copy while it reads `value` on the host. HAUL_ERROR_LIMIT, with the
 * path: the result has bits of the tag, or a distance does not fit or is 0 by chance. */
haul_status haul__special_to_copy(const haul__space *space, const haul__special_word *word,
                                  uint64_t value, uint64_t *becomes);
/* The host's value for a pointer that came back as `came` and reads `value` on the host. 0: it
 * leads nowhere. */
int haul__special_to_host(const haul__space *space, const haul__special_word *word, uintptr_t value,
                          uintptr_t came, uintptr_t *back);

/* The first of the words that ends behind `address`. */
size_t haul__first_special(const haul__special_word *words, size_t count, uintptr_t address);
/* The bytes of the granule at this address that belong to special words. */
uint16_t haul__special_mask(const haul__found *found, uintptr_t granule);
/* Writes the offsets of explicit relocations, from number `first` of them on. */
void haul__write_explicit(const haul__space *space, size_t first, size_t count, uint64_t *offsets);

/* A run of a copy that holds whole tagged pointers. Zeros: the run before the first one. */
typedef struct haul__tagged_run {
    size_t at, bytes;
    size_t first, end; /* special words */
} haul__tagged_run;
/* Goes on to the next run, of at most `most` bytes. 0: there is none. */
int haul__next_tagged_run(const haul__space *space, size_t most, haul__tagged_run *run);
/* Works on the bytes of a run, in `memory`: pointers into the copy at `from` become pointers into
 * the one at space->final_base. HAUL_ERROR_LIMIT, with the path. */
haul_status haul__move_tagged(const haul__space *space, const haul__tagged_run *run, void *memory,
                              uint64_t from);

#endif

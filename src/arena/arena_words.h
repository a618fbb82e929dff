/* Special words of contents: pointers of an arena that no bit tells.
 */
#ifndef HAUL_ARENA_WORDS_H
#define HAUL_ARENA_WORDS_H

#include "arena/contents.h"
#include "pack/special_words.h"
#include "type/type.h"

/* Lists the pointers off the grid of a special object, or the special words of a discovered graph.
 * 0: no memory. */
int haul__words_of_object(haul__contents *contents, const haul__walk *walk, size_t at);
int haul__words_of_graph(haul__contents *contents, const haul__found *found);
void haul__words_sort(haul__contents *contents);

/* The contents, at `device` there, as their special words see them. */
haul__space haul__contents_space(const haul__contents *contents, uint64_t device,
                                 haul_error *error);

/* The offset of a special word. */
HAUL__INLINE size_t haul__word_at(const haul__contents *contents, size_t i)
{
    return contents->words[i].address - (uintptr_t)contents->base;
}

/* The first explicit relocation, from special word *i on, that leads out. 0: there is none. */
int haul__next_explicit_outside(const haul__contents *contents, size_t *i);
/* HAUL_ERROR_LIMIT, with the place: a tagged pointer cannot be told from its tag there. */
haul_status haul__words_check(const haul__contents *contents, haul_error *error);
/* Writes the device's tagged pointers over a copy of bytes [first, first + bytes), in `memory`. */
void haul__words_edit(const haul__contents *contents, unsigned char *memory, size_t first,
                      size_t bytes);
/* Checks special words that came back, in `memory`: HAUL_ERROR_GRAPH, or *outside counts those that
 * lead out, if that is not NULL. Then writes the others. */
haul_status haul__words_check_back(const haul__contents *contents, const unsigned char *memory,
                                   uint64_t device, size_t *outside, haul_error *error);
void haul__words_scatter(const haul__contents *contents, const unsigned char *memory,
                         uint64_t device);

#endif

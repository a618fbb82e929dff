/* Discovery: from roots to marks.
 */
#ifndef HAUL_WALK_DISCOVER_H
#define HAUL_WALK_DISCOVER_H

#include "context/context.h"
#include "layout/order_log.h"
#include "map/found.h"
#include "haul/plan.h"
#include "type/type.h"

/* Marks all that the roots reach. On failure `found` is empty and the context's record is filled,
 * path included. On success the caller owns `found` (haul__found_drop). With an `order_log`, which
 * must be all zeros, the walk goes breadth first from each root in turn, in an order that does not
 * depend on addresses; the log holds memory only after success. `before`: the listed map of an
 * earlier walk, from which only prefetches follow; or NULL. `hints`: found->named tells afterwards
 * what they name; or NULL. */
struct haul__hints;
haul_status haul__discover(haul_context *context, const haul_root *roots, size_t count,
                           haul__found *found, haul__order_log *order_log, const haul__map *before,
                           const struct haul__hints *hints);
/* Frees `found`. Its map goes back to the context, empty, for the next plan, unless the context has
 * one already. */
void haul__found_drop(haul_context *context, haul__found *found);

/* A place whose path is wanted: a changed pointer word, a changed count or terminator, a call whose
 * callback answers something else, or an object whose contents depend on addresses. The other
 * members are 0. */
typedef struct haul__sought {
    uintptr_t pointer, count; /* addresses */
    uintptr_t call_self, call_target;
    uintptr_t object; /* its address */
} haul__sought;

/* Sets the path in the context's error record to that of the sought place. The graph may have
 * changed in any way, by the hand of a device too: of what `changed` has found of it, after layout,
 * only objects are read, and no callback is called. */
void haul__explain(haul_context *context, const haul_root *roots, size_t count,
                   const haul__found *changed, const haul__sought *sought);

/* Writes the path of a byte that the roots reach: "root.next+16"; `path` has HAUL_PATH_BYTES.
 * `innermost` counts if an object begins with the byte: 1: the path of its field, 0: its own. Reads
 * what haul__explain reads, and leaves the record alone. 0: the roots reach no such byte, or there
 * is no memory. */
int haul__path_of_byte(haul_context *context, const haul_root *roots, size_t count,
                       const haul__found *changed, uintptr_t address, int innermost, char *path);
/* The same, with the path of an object, for a graph in an arena, of which a device may have written
 * any byte. Reads only `bytes` bytes from `begin` on, and calls callbacks. */
int haul__path_within(haul_context *context, const haul_root *root, const void *begin, size_t bytes,
                      uintptr_t address, char *path);

/* A recording run that is left open, so that its entries can be read, in the order they were found.
 * It reads only bytes within `bounds`, which stay until it is closed; NULL: any. After
 * HAUL_OK the caller closes it and drops `found`; else there is nothing to close. */
struct haul__discovery;
struct haul__bounds;
haul_status haul__record(haul_context *context, const haul_root *roots, size_t count,
                         const struct haul__bounds *bounds, haul__found *found,
                         struct haul__discovery *d);
void haul__record_close(struct haul__discovery *d);

/* A discovery that stops at what is elsewhere, and lists what it finds. */
struct haul__new_range;
typedef struct haul__beside {
    const haul__elsewhere *elsewhere; /* kept by `found` */
    /* Gets the ranges, in any order, and may change the list. `are_clear`: none of their bytes has
     * a copy. A failure, which it describes, ends the call; *wrong: an address whose path is
     * wanted. */
    haul_status (*take)(void *user, struct haul__new_range *ranges, size_t count, int are_clear,
                        uintptr_t *wrong);
    void *user;
} haul__beside;
/* Otherwise as haul__discover. */
haul_status haul__discover_beside(haul_context *context, const haul_root *root,
                                  const haul__beside *beside, haul__found *found);

/* Walks once more what the roots reach, and notes in *named what hints name. `is_wanted` 0: a
 * pointer of this slot, which leads to objects of the type (NULL: to plain elements), by way of
 * further pointers or not, is not followed. Errors as of haul__discover. After HAUL_OK the caller
 * closes *named. */
typedef int haul__slot_filter(void *user, const haul__slot *slot, const haul_type *type);
haul_status haul__note_hints(haul_context *context, const haul_root *roots, size_t count,
                             const struct haul__hints *hints, haul__slot_filter *is_wanted,
                             void *user, struct haul__named_granules **named);

#endif

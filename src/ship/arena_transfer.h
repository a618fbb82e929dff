/* The parts of arenas' shipments: marks, transfers and more, grouped by the files that define them.
 */
#ifndef HAUL_SHIP_ARENA_TRANSFER_H
#define HAUL_SHIP_ARENA_TRANSFER_H

#include "arena/contents.h"
#include "ship/shipment.h"

/* ---- arena_shipment.c */

/* Ships arenas, which may point into one another: by the plan's pointers, or (NULL) their own. */
haul_status haul__arenas_ship(haul_device *device, haul_arena *const *arenas, const haul_plan *plan,
                              size_t count, const haul_ship_options *options,
                              const haul_async *async, haul_shipment **shipments);
/* Discovers the graph of an arena's root, and ships the arena. */
haul_status haul__arena_ship_root(haul_device *device, haul_arena *arena, const haul_root *root,
                                  const haul_ship_options *options, const haul_async *async,
                                  haul_shipment **result);
/* Lays out the range by the contents; allocates it, or borrows the arena's mirror. */
void haul__arena_lay_out(haul_shipment *shipment);
haul_status haul__arena_allocate(haul_shipment *shipment);
haul_status haul__arena_reship(haul_shipment *shipment, const haul_async *async);

/* ---- arena_transfer.c */

/* Sends the contents of an open shipment to its range, and orders the patch. */
haul_status haul__arena_send(haul_shipment *shipment, const haul_async *async);
haul_status haul__arena_refresh(haul_shipment *shipment, const haul_async *async);
/* Orders the patch of contents that were copied from a device, where they lay at `from`. */
haul_status haul__arena_relocate(haul_shipment *shipment, uint64_t from);
/* Does the device, if it has marks, check for pointers that lead out? A mirrored arena has marks
 * for that. */
int haul__device_checks(const haul__contents *contents);
/* Does the arena return without staging (haul_return_directly)? The second function returns it in
 * this way. */
int haul__arena_returns_directly(const haul_shipment *shipment);
haul_status haul__arena_bring_back(haul_shipment *shipment);

/* ---- arena_marks.c */

/* Sends the marks: bitmap and explicit relocations, or a list. */
haul_status haul__arena_send_marks(haul_shipment *shipment);
/* Writes bitmap and explicit relocations to their places in `memory`, which has the layout of the
 * range. */
void haul__write_marks(haul_shipment *shipment, unsigned char *memory);
/* The number of pointers in the bitmap. The count ends beyond `most`. */
size_t haul__count_marked(const haul__contents *contents, size_t most);
/* A part of `all`, a patch by the bitmap: the patch of the words in bytes [from, end) of the
 * arena. */
haul_relocation haul__part_of(const haul_relocation *all, size_t from, size_t end);
/* Splits a patch of all in two: the words before byte `cut`, and the others. Either may have
 * none. */
void haul__cut_marks(const haul_shipment *shipment, const haul_relocation *all, size_t cut,
                     haul_relocation *first, haul_relocation *rest);
/* Makes bytes [at, at + bytes) of something to send. */
typedef void haul__write_piece(const haul_shipment *shipment, size_t at, size_t bytes,
                               unsigned char *memory);
/* Sends `bytes` bytes, which `write` makes, to offset `to` of the range: through the ring, in
 * pieces of at most `most`. `tells`: the listener hears of each. */
haul_status haul__send_written(haul_shipment *shipment, haul__write_piece *write, size_t bytes,
                               size_t to, size_t most, int tells);

#endif

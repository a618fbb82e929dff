/* Shipments of arenas: arena_shipment.c, arena_marks.c and arena_transfer.c. */
#ifndef HAUL_SHIP_ARENA_TRANSFER_H
#define HAUL_SHIP_ARENA_TRANSFER_H

#include "ship/shipment.h"

/* Where the parts of its range lie, by its contents; memory for it; and what it tells of itself,
 * once it is there. */
void haul__arena_lay_out(haul_shipment *shipment);
haul_status haul__arena_allocate(haul_shipment *shipment);
void haul__arena_statistics(haul_shipment *shipment, double seconds);
/* Sends what an open shipment's contents are to its range, and has it patched. */
haul_status haul__arena_send(haul_shipment *shipment);
/* Its marks alone: bitmap and odd offsets, or a list. And bitmap and odd offsets written to where
 * they lie in a range as a whole, which is in `memory`. */
haul_status haul__arena_send_marks(haul_shipment *shipment);
void haul__write_marks(haul_shipment *shipment, unsigned char *memory);
/* Of a patch of all by a bitmap: that of the words in bytes [from, end) of the arena, cut there. */
haul_relocation haul__part_of(const haul_relocation *all, size_t from, size_t end);
/* A patch of all, in two: of the words before byte `cut`, where the arena can be cut, and of the
 * others. Either may have none. */
void haul__cut_marks(const haul_shipment *shipment, const haul_relocation *all, size_t cut,
                     haul_relocation *first, haul_relocation *rest);
/* Something of `bytes` bytes, to offset `to` of the range, through the ring, in pieces of at most
 * `most`: `write` is asked for bytes [at, at + bytes) of it. */
typedef void haul__write_piece(const haul_shipment *shipment, size_t at, size_t bytes,
                               unsigned char *memory);
haul_status haul__send_written(haul_shipment *shipment, haul__write_piece *write, size_t bytes,
                               size_t to, size_t most);
/* Is it best found out by the device, with marks, whether pointers lead out of what is shipped to
 * an arena's own addresses? */
int haul__looks_there(const haul__contents *contents);
/* How many pointers the bitmap has; no more are counted when there are more than `most`. */
size_t haul__count_marked(const haul__contents *contents, size_t most);
/* Orders the patch of a range whose contents have been copied from a device, where they lay `from`
 * on. */
haul_status haul__arena_relocate(haul_shipment *shipment, uint64_t from);
haul_status haul__arena_refresh(haul_shipment *shipment, const haul_async *async);
haul_status haul__arena_replan(haul_shipment *shipment);
/* An unmarshal without staging, if it was asked for; 0: it was not. */
int haul__arena_returns_directly(const haul_shipment *shipment);
haul_status haul__arena_bring_back(haul_shipment *shipment);

#endif

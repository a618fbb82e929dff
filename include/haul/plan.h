/* Plans: what discovery found, where each byte goes, and packing by that.
 *
 * A plan is made by marking everything that the roots reach in two bitmaps over the source's
 * address space, and ranking the marks: the place of any source byte is a pure function of its
 * address. This is the mark phase of a compacting collector (Lisp-2; the Compressor, Kermany and
 * Petrank 2006) with the to-space on a device. A plan stays good while pointers and counts stay as
 * they are, on both sides; contents may change.
 *
 * Every source byte keeps its address modulo two pointers (16; 8 where pointers have 4 bytes),
 * modulo more where a type asks for it. An arena begins with as many reserved bytes, so that offset
 * 0 is never an object and null stays 0 (with more at both ends, where pointers lead out of their
 * blocks by a rule). A pointer to no elements (a count of 0) that leads to nothing described
 * becomes null in the copy.
 *
 * Most users need none of this page: haul_ship makes the plan.
 */
#ifndef HAUL_PLAN_H
#define HAUL_PLAN_H

#include "haul/context.h"
#include "haul/type.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_plan haul_plan;

/* One root: `count` objects of `type` in a row at `address`. */
typedef struct haul_root {
    void *address;
    const haul_type *type;
    size_t count;
} haul_root;

typedef struct haul_plan_statistics {
    size_t objects;           /* objects and arrays found, each once */
    size_t pointers;          /* described words that are pointers in the copy, null or not */
    size_t null_pointers;     /* of these, null when the graph was last packed */
    size_t graph_bytes;       /* described bytes */
    size_t arena_bytes;       /* what a transfer carries: graph bytes, rounding and gaps */
    size_t bitmap_bytes;      /* of the relocation bitmap that goes with it */
    size_t bookkeeping_bytes; /* host memory that the plan holds */
    size_t worklist_bytes;    /* the worklist at its longest */
    double discover_seconds, layout_seconds;
} haul_plan_statistics;

/* Finds everything that the roots reach and works out where it goes. The source is read, never
 * written. The plan holds the types and the context, not the source: that must stay where it is
 * while the plan is used. HAUL_ERROR_ARGUMENT: no roots, a NULL root, a count of 0, NULL types.
 * HAUL_ERROR_STATE: a type that is not committed. HAUL_ERROR_BUSY. HAUL_ERROR_GRAPH, with the path:
 * a negative count, a NULL pointer whose count field is above 0, an end before its begin or not a
 * whole number of elements away, a misaligned pointer, an address outside any process's range, a
 * word that is a pointer for one description and data for another, a range that `readable` refuses;
 * an alias to what nobody owns, rows of a union that hold both, a type that no case is for, a size
 * that is none. HAUL_ERROR_LIMIT: the context's limits, a count whose bytes overflow, no terminator
 * within scan_bytes. HAUL_ERROR_UNSUPPORTED, with the path: an object whose contents depend on
 * addresses, and which nothing rebuilds (rebuild.h). HAUL_ERROR_MEMORY. On failure *plan is NULL
 * and nothing is kept. Does not recurse; stack use is constant. */
HAUL_API haul_status haul_plan_create(haul_context *context, const haul_root *roots, size_t count,
                                      haul_plan **plan);
/* The same with the arena in the order of discovery: breadth first from each root in turn, an
 * object's rows with rules before its other pointers, and those by offset. Arena and bitmap then
 * depend on the graph alone: the same graph gives the same bytes in any process, wherever the heap
 * has put its objects, and what is reached together lies together. All that works for the other
 * works for this one.
 *
 * What overlaps keeps its distances and is placed as one; all else is placed one after the other,
 * at multiples of two pointers, or of what its types ask for. So, unlike above, an address keeps
 * only what its type declares, what its own pointers ask for, and up to two pointers what the size
 * of an element suggests.
 *
 * Not the graph's, and as they are: bytes of padding, opaque and external words. Where one object
 * ends and another begins at the same address, the address stands for the beginning; a pointer
 * there, for the end if the graph says so (the end of a pair; another pointer of its object leads
 * into the former object). Whether a pointer to no elements, or an alias, stands at such a place
 * may differ from process to process if its heap puts objects side by side.
 *
 * It costs a slower walk, some 200 bytes an object while the plan is made and 45 afterwards, and
 * for each pack and unpack memory of the arena's size and a second copy. O(log objects) in place of
 * O(1) for look-ups. HAUL_ERROR_MEMORY from pack and unpack, too: nothing is written then.
 * HAUL_ERROR_LIMIT: 2^32 objects. */
HAUL_API haul_status haul_plan_create_ordered(haul_context *context, const haul_root *roots,
                                              size_t count, haul_plan **plan);
/* Drops the caller's hold and sets *plan to NULL; shipments keep the plan. NULL is allowed. Any
 * thread, inside any callback: see context.h. */
HAUL_API void haul_plan_free(haul_plan **plan);

HAUL_API void haul_plan_get_statistics(const haul_plan *plan, haul_plan_statistics *statistics);
/* Bytes of the arena, and of its relocation bitmap: one bit for each pointer-sized word of the
 * arena, in words of 64 bits, lowest bit first, set where the word is a described pointer, null or
 * not: it is the same for all packs by one plan. The alignment that the arena's base needs. */
HAUL_API size_t haul_plan_bytes(const haul_plan *plan);
HAUL_API size_t haul_plan_bitmap_bytes(const haul_plan *plan);
HAUL_API size_t haul_plan_alignment(const haul_plan *plan);

/* Where a source address lies in the arena: HAUL_OK and its offset for every described byte, for
 * the holes of a described object, and for one past the end of a described range;
 * HAUL_ERROR_ARGUMENT, without words, for any other address. A few steps; at most log2 of the
 * number of 64 KiB pieces that the graph lies in. Any thread. */
HAUL_API haul_status haul_plan_offset(const haul_plan *plan, const void *address, size_t *offset);
/* The reverse, O(log of the number of 64 KiB pieces). HAUL_ERROR_ARGUMENT, without words, for
 * offsets in gaps. */
HAUL_API haul_status haul_plan_address(const haul_plan *plan, size_t offset, void **address);

/* Copies the graph into `arena` (haul_plan_bytes bytes, haul_plan_alignment), slots as `base` +
 * offset: base 0 leaves offsets, as haul_relocate wants them; any other base gives the pointers
 * that hold when the arena lies there. `bitmap` (haul_plan_bitmap_bytes bytes, 8-aligned) may be
 * NULL when base is not 0. Bytes of no object are zero. HAUL_ERROR_ARGUMENT: too little capacity,
 * or memory that overlaps the source. HAUL_ERROR_STALE, with the path: a pointer now leads out of
 * the graph, a count has changed or a string has lost its terminator since the plan was made, or
 * any pointer has changed since it was first packed (the path may then name a pointer near it;
 * haul_refresh names it exactly); the arena's contents are then undefined. HAUL_ERROR_UNSUPPORTED,
 * with the path: an object that is to be rebuilt; only a device does. Reads the source, writes
 * nothing but the two results. */
HAUL_API haul_status haul_plan_pack(haul_plan *plan, void *arena, size_t capacity, uint64_t base,
                                    uint64_t *bitmap);

/* Writes the bytes of an arena that are no pointers back to the source objects; the inverse of
 * pack. Holes, skipped fields, pointers, kept words and what is HAUL_IN or HAUL_NEITHER keep their
 * values in the source. HAUL_ERROR_GRAPH, with the path, before anything is written: a field that a
 * shape or a rule reads, or a terminator, is not what it was when the plan was made, and
 * `let_counts_change` is 0 (haul_unmarshal says more). HAUL_ERROR_ARGUMENT: too few bytes. */
HAUL_API haul_status haul_plan_unpack(haul_plan *plan, const void *arena, size_t bytes,
                                      int let_counts_change);

/* Adds `base` to each word of `arena` (`bytes`: haul_plan_bytes) whose bit is set and that is not
 * null: after it, pointers hold for an arena that lies at `base`. Off-grid pointers of packed
 * structs, those that a rule takes out of their block, and those with high tag bits need the plan:
 * haul_plan_pack with a base does those too. What a device does with its own memory, here for the
 * host's. HAUL_ERROR_ARGUMENT: `arena` or `bitmap` is NULL. */
HAUL_API haul_status haul_relocate(void *arena, size_t bytes, const uint64_t *bitmap,
                                   uint64_t base);

#ifdef __cplusplus
}
#endif
#endif

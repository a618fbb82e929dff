/* Plans: the marks of a discovered graph, the place of each byte in the arena, and packing by both.
 *
 * A plan is made by marking everything that the roots reach in two bitmaps over the source's
 * address space, and ranking the marks: the place of any source byte is a pure function of its
 * address. This is the mark phase of a compacting collector (Lisp-2; the Compressor, Kermany and
 * Petrank 2006) with the to-space on a device. A plan stays good while pointers and counts stay
 * unchanged, on both sides; contents may change.
 *
 * Every source byte keeps its address modulo two pointers (16; 8 if pointers have 4 bytes), or
 * modulo more if a type asks for it. The arena's first granule of two pointers is reserved, so that
 * offset 0 is never an object and null stays 0. Both ends have more reserved bytes if a field lets
 * pointers lead out of their blocks. A pointer to no elements (a count of 0) becomes null in the
 * copy if it leads to no described byte.
 *
 * Most users do not need this header: haul_ship makes the plan.
 */
#ifndef HAUL_PLAN_H
#define HAUL_PLAN_H

#include "haul/context.h"
#include "haul/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros mean the defaults. */
typedef struct haul_plan_options {
    /* If not 0: the arena is in the order of discovery: breadth first from each root in turn. Arena
     * and bitmap then depend on the graph alone: the same graph gives the same bytes in any
     * process, wherever the heap has put its objects. Such a plan works in all calls that take a
     * plan, and costs time and memory; docs/shipments.md says how much, what keeps its alignment,
     * and which bytes may still differ. HAUL_ERROR_LIMIT: 2^32 objects. */
    int ordered;
    int reserved;
} haul_plan_options;

/* Finds everything that objects reach (haul_from_object, _array or _roots) and gives each byte its
 * place. The source is read, never written. The plan holds the types and the context, but not the
 * objects, which must stay where they are while the plan is used. `options` may be NULL.
 * HAUL_ERROR_ARGUMENT: another source, no roots, a NULL root, a count of 0, NULL types.
 * HAUL_ERROR_STATE: a type that is not committed. HAUL_ERROR_BUSY. HAUL_ERROR_GRAPH, with the path:
 * a negative count, a NULL pointer whose count field is above 0, an end before its begin or not a
 * whole number of elements away, a misaligned pointer, an address outside any process's range, a
 * word that is a pointer in one description and data in another, a range that `readable` refuses,
 * an alias to memory that nobody owns, two overlapping arms of a union that hold at once, a
 * `type_switch` without a case for its value, a size below 1.
 * HAUL_ERROR_LIMIT: the context's limits, a count whose bytes overflow, no terminator within the
 * bytes that are searched. HAUL_ERROR_UNSUPPORTED, with the path: an object whose contents depend
 * on addresses, and that no function rebuilds. HAUL_ERROR_VERSION: a struct uses a member that the
 * library does not know. HAUL_ERROR_CANCELLED (context.h). HAUL_ERROR_MEMORY. On failure *plan is
 * NULL and nothing is kept. Does not recurse; stack use is constant. */
static inline haul_status haul_plan_create(haul_context *context, haul_source source,
                                           const haul_plan_options *options, haul_plan **plan);
/* Drops the caller's hold and sets *plan to NULL; shipments keep the plan. NULL is allowed. Any
 * thread, inside any callback: see context.h. */
HAUL_API void haul_plan_free(haul_plan **plan);

typedef struct haul_plan_info {
    size_t arena_bytes;  /* of the arena: graph bytes, rounding and gaps */
    size_t bitmap_bytes; /* of its relocation bitmap */
    size_t alignment;    /* that the arena's base needs */
    /* objects and arrays found, each once; of arrays that overlap, those that brought new bytes */
    size_t objects;
    size_t pointers;      /* described words that are pointers in the copy, null or not */
    size_t null_pointers; /* of these, null when the graph was last packed */
    size_t graph_bytes;   /* described bytes; those of objects in a pool twice */
    /* Host memory that the plan holds. It depends on the order of finding, so on the threads. */
    size_t bookkeeping_bytes;
    /* the worklist at its longest; if threads share the discovery, all of theirs, which differs
     * from one run to the next */
    size_t worklist_bytes;
    double discover_seconds, layout_seconds;
} haul_plan_info;
/* The relocation bitmap has one bit for each pointer-sized word of the arena, in words of 64 bits,
 * lowest bit first. A bit is set if its word is a described pointer, null or not, so all packs by
 * one plan have the same bitmap. All zeros for a NULL plan. Any thread. */
static inline void haul_plan_get_info(const haul_plan *plan, haul_plan_info *info);

/* The place of a source address in the arena: HAUL_OK and its offset for every described byte, for
 * the holes of a described object, and for one past the end of a described range.
 * HAUL_ERROR_ARGUMENT, without a record, for any other address. O(log of the graph's 64 KiB
 * blocks). Any thread. */
HAUL_API haul_status haul_plan_offset(const haul_plan *plan, const void *address, size_t *offset);
/* The reverse, in O(log of the graph's 64 KiB blocks). HAUL_ERROR_ARGUMENT, without a record, for
 * offsets in gaps. Any thread. */
HAUL_API haul_status haul_plan_address(const haul_plan *plan, size_t offset, void **address);

/* Copies the graph into `arena` (info.arena_bytes, aligned to info.alignment) and writes each
 * pointer as `base` + offset. Base 0 gives offsets, which haul_plan_relocate expects; any other
 * base gives the pointers of an arena that lies at that base. `bitmap` (info.bitmap_bytes,
 * 8-aligned) may be NULL if base is not 0. Bytes of no object are zero. Reads the source and writes
 * only the two results. HAUL_ERROR_ARGUMENT: too little capacity, or memory that overlaps the
 * source. HAUL_ERROR_STALE, with the path: a pointer now leads out of the graph, a count has
 * changed or a string has lost its terminator since the plan was made, or a pointer has changed
 * since the first pack (the path may then name a pointer near it; haul_update_device names it
 * exactly). The arena's contents are then undefined. HAUL_ERROR_UNSUPPORTED, with the path: an
 * object that must be rebuilt, which happens on devices only. */
HAUL_API haul_status haul_plan_pack(haul_plan *plan, void *arena, size_t capacity, uint64_t base,
                                    uint64_t *bitmap);

/* Writes the data of an arena back to the source objects; the inverse of pack. Holes, skipped
 * fields, pointers, fixed words (field.h), and bytes that are HAUL_COPYIN or HAUL_CREATE keep their
 * values in the source. HAUL_ERROR_GRAPH, with the path, before anything is written:
 * `let_counts_change` is 0, and a field that a count or a condition reads, or a terminator, has
 * changed since the plan was made (see haul_update_host). HAUL_ERROR_ARGUMENT: too few bytes. */
HAUL_API haul_status haul_plan_unpack(haul_plan *plan, const void *arena, size_t bytes,
                                      int let_counts_change);

/* Adds `base` to each word of `arena` (`bytes`: info.arena_bytes) whose bit is set and that is not
 * null. The pointers are then those of an arena that lies at `base`. Devices do the same in their
 * own memory. It does not patch off-grid pointers of packed structs, pointers that members take out
 * of their block, and pointers with high tag bits: they need the plan, and haul_plan_pack with a
 * base writes them too. HAUL_ERROR_ARGUMENT: `arena` or `bitmap` is NULL. */
HAUL_API haul_status haul_plan_relocate(void *arena, size_t bytes, const uint64_t *bitmap,
                                        uint64_t base);

/* ---- The functions behind the inline forms, which pass the sizes of structs. */

HAUL_API haul_status haul_plan_create_sized(haul_context *context, const haul_source *source,
                                            size_t source_bytes, const haul_plan_options *options,
                                            size_t options_bytes, haul_plan **plan);
HAUL_API void haul_plan_get_info_sized(const haul_plan *plan, haul_plan_info *info,
                                       size_t info_bytes);

static inline haul_status haul_plan_create(haul_context *context, haul_source source,
                                           const haul_plan_options *options, haul_plan **plan)
{
    return haul_plan_create_sized(context, &source, sizeof source, options, sizeof *options, plan);
}

static inline void haul_plan_get_info(const haul_plan *plan, haul_plan_info *info)
{
    haul_plan_get_info_sized(plan, info, sizeof *info);
}

#ifdef __cplusplus
}
#endif
#endif

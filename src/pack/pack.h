/* The pack room's door: from the user's memory into an arena, and back.
 *
 * All of these run inside a call that has entered the plan's context, and fill its error record
 * when they fail. Arenas given here are plain host memory (staging): nothing below calls a device.
 */
#ifndef HAUL_PACK_H
#define HAUL_PACK_H

#include "base/base.h"
#include "haul/device.h"
#include "haul/plan.h"

/* Told at most every few MiB; an answer other than 0 stops the work with HAUL_ERROR_STATE. NULL:
 * nobody listens. */
typedef struct haul__listener {
    int (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} haul__listener;
haul_status haul__tell(haul_plan *plan, const haul__listener *listener, uint64_t done,
                       uint64_t total);

haul_context *haul__plan_context(const haul_plan *plan);
int haul__plan_is_valid(const haul_plan *plan);
void haul__plan_hold(haul_plan *plan);
void haul__plan_drop(haul_plan *plan);
/* The roots it was made from, as given. */
const haul_root *haul__plan_roots(const haul_plan *plan, size_t *count);
/* haul_plan_create, or haul_plan_create_ordered, inside a call that has entered the context
 * already. */
haul_status haul__plan_make(haul_context *context, const haul_root *roots, size_t count,
                            int is_ordered, haul_plan **plan);
int haul__plan_is_ordered(const haul_plan *plan);

/* Words [first, first + count) of the relocation bitmap, 64 bits each: set where a word of the
 * arena is a slot, null or not. It follows from the plan alone. */
void haul__plan_bitmap(const haul_plan *plan, size_t first, size_t count, uint64_t *bitmap);
/* The offsets in the arena of the same words, in order. SIZE_MAX: there are more than `most`, or by
 * a sample of a large graph's blocks there seem to be many more; what was written is of no use. */
size_t haul__plan_offsets(const haul_plan *plan, size_t most, uint64_t *offsets);
/* Pointers off the grid: their number, and the offsets of some of them in the arena. */
size_t haul__plan_odd_count(const haul_plan *plan);
void haul__plan_odd(const haul_plan *plan, size_t first, size_t count, uint64_t *odd);

/* dependents.c */
/* Objects whose contents depend on addresses, type by type: their number, the type of one, and of
 * how many from it on; their offsets in the arena. */
size_t haul__plan_dependent_count(const haul_plan *plan);
const haul_type *haul__plan_dependent_type(const haul_plan *plan, size_t first, size_t *count);
uint64_t haul__plan_dependent(const haul_plan *plan, size_t i);
/* HAUL_ERROR_UNSUPPORTED, with the path: there is one that reaches into [first, end). */
haul_status haul__refuse_dependents(haul_plan *plan, uintptr_t first, uintptr_t end,
                                    const char *text);

/* Words of an arena that no device patches and that hold where it lies (tagged.c), when it has
 * moved. The next stretch of at most `most` bytes that holds some of them whole; begin with zeros;
 * 0: there is none. And in a copy of it: those that lead into the arena at `from` lead into that at
 * `to`. HAUL_ERROR_LIMIT: an address there has bits of its tag. */
typedef struct haul__stretch {
    size_t at, bytes;
    size_t first, end; /* of the plan's list */
} haul__stretch;
int haul__next_stretch(const haul_plan *plan, size_t most, haul__stretch *stretch);
haul_status haul__move_tagged(haul_plan *plan, const haul__stretch *stretch, void *memory,
                              uint64_t from, uint64_t to);

/* A piece of a compacted arena: where some whole blocks of the source lie. Zeros: the place before
 * the first one. */
typedef struct haul__piece {
    size_t at, bytes;  /* in the arena */
    size_t first, end; /* its blocks */
} haul__piece;
/* From a piece to the next one: at most `most` bytes where one block has no more. 0: there is
 * none. */
int haul__next_piece(const haul_plan *plan, size_t most, haul__piece *piece);
/* Does anything of it come back? */
int haul__piece_returns(const haul_plan *plan, const haul__piece *piece);

/* Copies the graph piece by piece, slots as base + offset: begin, each piece in order, end. Every
 * pointer, count and terminator is checked against the plan: HAUL_ERROR_STALE from the piece that
 * holds it (counts: from begin). A piece is written to `memory` (piece->bytes), all of it.
 * `listener` may be NULL. */
typedef struct haul__gathering {
    haul_plan *plan;
    uint64_t base;
    /* where the arena will lie, for words that are worked out here and not patched there */
    uint64_t there;
    int for_device; /* a device will read the arena, not this processor */
    const haul__listener *listener;
    uint64_t told;                   /* bytes, to the listener */
    size_t nulls;                    /* so far */
    size_t odd, kept, tagged, empty; /* the first of the plan's lists that is not wholly written */
} haul__gathering;
haul_status haul__gather_begin(haul__gathering *gathering, haul_plan *plan, uint64_t base,
                               uint64_t there, int for_device, const haul__listener *listener);
haul_status haul__gather_piece(haul__gathering *gathering, const haul__piece *piece, void *memory);
haul_status haul__gather_end(haul__gathering *gathering);
/* All at once into `arena` (haul_plan_bytes). */
haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                         int for_device, const haul__listener *listener);

/* segments.c: the same, to be gathered by a device that reads the source where it lies. Why that
 * cannot be; NULL: it can. */
const char *haul__why_no_segments(const haul_plan *plan);
/* How many there are, and pointers among them; all of them, for an arena at `base`. The pointers
 * are as the plan has them. */
void haul__count_segments(const haul_plan *plan, size_t *segments, size_t *attachments);
void haul__write_segments(const haul_plan *plan, uint64_t base, haul_segment *segments,
                          haul_attachment *attachments);
/* The next pages of 4 KiB, side by side, that hold something of the source; begin with zeros. 0:
 * there are none. */
typedef struct haul__pages {
    size_t block, number; /* where to go on */
    uintptr_t begin, end;
} haul__pages;
int haul__next_pages(const haul_plan *plan, haul__pages *pages);
/* What no device compares: counts, terminators, what callbacks answer. HAUL_ERROR_STALE. */
haul_status haul__verify_counts(haul_plan *plan);

/* What gather checks, without a copy: HAUL_ERROR_STALE. Of a plan that was never packed it checks
 * no pointers. */
haul_status haul__verify(haul_plan *plan);
/* After a gather or verify that found changed pointers: names one of them exactly, with the arena
 * as it was sent to `base`, which tells what each pointer was. HAUL_ERROR_MEMORY: nothing has been
 * named. */
int haul__stale_wants_arena(const haul_plan *plan); /* 0: there is nothing to name better */
haul_status haul__explain_stale(haul_plan *plan, const void *old, uint64_t base);

/* reads.c: fields that shapes and rules read, and terminators: has the plan any? Memory for
 * haul__check_piece, or for haul__check_range, so that these need none: HAUL_ERROR_MEMORY. */
int haul__has_reads(const haul_plan *plan);
haul_status haul__prepare_reads(haul_plan *plan);
haul_status haul__prepare_update(haul_plan *plan);
/* After the former: has the piece any? */
int haul__piece_has_reads(const haul_plan *plan, const haul__piece *piece);
/* What has arrived, of a piece of the compacted arena: HAUL_ERROR_GRAPH, with the path, where
 * scatter would write another value to such a field than discovery read there. The same of what
 * haul__scatter_data would write, from a copy of `bytes` bytes of the arena. */
haul_status haul__check_piece(haul_plan *plan, const haul__piece *piece, const void *memory);
haul_status haul__check_range(haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                              size_t offset, size_t bytes);

/* Memory for haul__scatter, haul__check_pointers and haul__scatter_pointers, so that these need
 * none: HAUL_ERROR_MEMORY. When it succeeds, haul__end_scatter follows. */
haul_status haul__prepare_scatter(haul_plan *plan);
void haul__end_scatter(haul_plan *plan);
/* The arena's bytes that are no pointers, written to the source; `lets_change`: fields that shapes
 * and rules read, too, whatever they are. Fails before the first byte is written: HAUL_ERROR_GRAPH
 * as above, or by a listener's refusal. */
haul_status haul__scatter(haul_plan *plan, const void *arena, int lets_change,
                          const haul__listener *listener);
/* The two halves of it: the question, and one piece of the arena. */
haul_status haul__ask_to_scatter(haul_plan *plan, const haul__listener *listener);
void haul__scatter_piece(const haul_plan *plan, const haul__piece *piece, const void *memory);
/* For whoever has to wait before it: fetches what it will write to, as far as there is room near
 * the processor. */
void haul__fetch_scattered(const haul_plan *plan);

/* Checks that every pointer in `arena`, whose base on the device is `base`, is null or leads into
 * the graph (or one past a range): else HAUL_ERROR_GRAPH with the path; and, unless it
 * `lets_change`, what haul__scatter checks. Writes nothing. */
haul_status haul__check_pointers(haul_plan *plan, const void *arena, uint64_t base,
                                 int lets_change);
/* After a check: haul__scatter, and pointers written as host pointers. */
void haul__scatter_pointers(haul_plan *plan, const void *arena, uint64_t base);

/* The smallest piece of the arena, in granules, that holds every described byte of a source range,
 * and within it the smallest that holds every one that is no pointer. */
typedef struct haul__span {
    size_t offset, bytes;
    size_t data_offset, data_bytes; /* 0 bytes: it holds pointers alone */
    /* the latter holds nothing else: no pointer, skipped byte or neighbour */
    int is_solid;
} haul__span;
/* 0: no byte of the range is described. Bytes with `bar` (HAUL__UNSENT on the way to the device,
 * HAUL__UNRETURNED on the way back) are no data. */
int haul__find_span(const haul_plan *plan, unsigned bar, uintptr_t first, uintptr_t end,
                    haul__span *span);
/* Described bytes of the source range that are no pointers and travel that way: into, or out of, a
 * copy of that piece of the arena. */
void haul__gather_data(const haul_plan *plan, uintptr_t first, uintptr_t end, void *piece,
                       size_t offset);
void haul__scatter_data(const haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                        size_t offset);

#endif

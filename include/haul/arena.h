/* Arenas: build the graph where it will ship from.
 *
 *     haul_arena_create_for(device, NULL, &arena);
 *     node *n = haul_arena_new(arena, node_type, 1);     typed, zeroed: its pointers are known
 *     n->name = haul_arena_allocate(arena, 12);          plain bytes
 *     ...
 *     haul_ship_arena(device, arena, NULL, &shipment);   one transfer as it lies, one patch
 *     kernel(haul_device_pointer(shipment, n));
 *     haul_unmarshal(shipment);
 *
 * An arena is one range of addresses that is used from its beginning on. It grows without moving,
 * and memory is taken as it is used. What has been allocated lies side by side, so that shipping
 * needs no packing: the arena's own memory is the source of the transfer. haul_arena_new also notes
 * which words are pointers, a bit each (1/64 of the bytes, 1/32 where pointers have 4 bytes), so
 * that shipping needs no discovery either.
 *
 * All memory comes zeroed, at a multiple of two pointers (16 bytes; 8 where pointers have 4), and
 * is given back by haul_arena_release, haul_arena_rollback, haul_arena_reset or haul_arena_free. An
 * arena is used by one thread at a time; it locks nothing.
 *
 * Under AddressSanitizer (a library built with it) the room behind what is allocated, the bytes
 * that rounding adds and what has been released are poisoned. The first shipment ends this for all
 * that it carries.
 */
#ifndef HAUL_ARENA_H
#define HAUL_ARENA_H

#include "haul/device_arena.h"
#include "haul/ship.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_arena haul_arena;

/* all sizes are rounded up to it, all addresses are multiples */
#define HAUL_ARENA_GRANULE (2 * sizeof(void *))

/* A zeroed struct means the defaults. */
typedef struct haul_arena_options {
    /* The most bytes that the arena can ever have: a range of addresses, which costs nothing. 0: 64
     * GiB (256 MiB if pointers have 4 bytes). Pinned and mirrored memory is allocated at once, as
     * is any memory if there is no such range; 0 is then 64 MiB. */
    size_t reserve_bytes;
    size_t granularity; /* bytes by which the arena grows; 0: 1 MiB */
    size_t limit_bytes; /* bytes that are never exceeded; 0: reserve_bytes is the only limit */
    /* If not 0: memory from which the device copies fast, if it has any to give. The statistics
     * tell whether it had. For haul_arena_create_for. */
    int pinned;
    /* If not 0: released memory serves later allocations of the same size. Sizes above 64 granules
     * are then rounded up, by at most a quarter. */
    int reuse;
    /* If not 0: haul_arena_release, haul_arena_rollback and haul_arena_free_block notice addresses
     * and marks that are none. This takes two bits for each granule, 1/64 of the bytes. */
    int checked;
    /* If not 0: pinned memory at addresses where the device has as much of its own, so that a
     * pointer means the same in both (haul_ship_arena). All of reserve_bytes is taken on both sides
     * at once. A device that has none to give serves it as `pinned`; the statistics tell. For
     * haul_arena_create_for. */
    int mirrored;
} haul_arena_options;

/* Makes an arena. `context` gives the allocator, and is kept alive; `options` may be NULL.
 * HAUL_ERROR_ARGUMENT: a NULL result, no context, a reserve_bytes that the system cannot have.
 * HAUL_ERROR_MEMORY. Words stand on the context, unless a call is under way there, which keeps
 * nobody from making an arena. */
HAUL_API haul_status haul_arena_create(haul_context *context, const haul_arena_options *options,
                                       haul_arena **arena);
/* The same in the context of a device, which gives the memory if options->pinned or ->mirrored. It
 * stays open as long as the arena. */
HAUL_API haul_status haul_arena_create_for(haul_device *device, const haul_arena_options *options,
                                           haul_arena **arena);
/* Drops the caller's hold and sets *arena to NULL; shipments keep the arena and its memory, and so
 * does a device that may still read or write it after HAUL_ERROR_PENDING. NULL is allowed. Of a
 * mirrored arena the call waits until the device has done what it was told with it; of a pinned
 * one, until what was late is done. Any thread, inside any callback: while a call is under way on
 * the arena's context, all this is done at the end of that call (context.h). */
HAUL_API void haul_arena_free(haul_arena **arena);

/* Why the last call that failed on this arena did; status HAUL_OK when none has. Never NULL: for a
 * NULL arena, a record that says so. */
HAUL_API const haul_error *haul_arena_error(const haul_arena *arena);

/* ---- Allocation. Each answers NULL when it fails; haul_arena_error then says why:
 * HAUL_ERROR_LIMIT: the arena is full (the text names the limit), or count and size overflow;
 * HAUL_ERROR_MEMORY; HAUL_ERROR_ARGUMENT: 0 bytes, an alignment that is not a power of two up to
 * HAUL_ALIGNMENT_MAX, a NULL or freed type. Nothing has changed then. */

/* `count` objects of a committed type in a row, zeroed: all their pointers are NULL. Shipments
 * patch them. Fields and tails that are HAUL_IN or HAUL_NEITHER do not come back; those that are
 * HAUL_OUT are sent as they lie. What another type's row says of the same bytes, or a pointer's of
 * what it leads to, is not known to a typed arena. HAUL_ERROR_STATE: the type is not committed.
 * HAUL_ERROR_UNSUPPORTED: its contents depend on addresses (rebuild.h), or it has rows of which
 * only a look at each object tells what they are (a `when`, tag bits, integers, words that are
 * kept, HAUL_MODE_EXTERNAL, static ranges, distances, tails of typed elements): allocate such
 * objects by their size, and ship with haul_ship_arena_from. Pointers off the grid (packed structs)
 * and objects with fields or a tail that do not travel both ways are noted one by one, 40 bytes
 * each or for each row of them that is allocated at equal distances. */
static inline void *haul_arena_new(haul_arena *arena, const haul_type *type, size_t count);
/* One object with `tail_bytes` plain bytes behind it, from where its sizeof ends (a flexible array
 * member). */
HAUL_API void *haul_arena_new_tail(haul_arena *arena, const haul_type *type, size_t tail_bytes);
/* Plain bytes. In a typed arena no word of them is a pointer for the device. */
HAUL_API void *haul_arena_allocate_aligned(haul_arena *arena, size_t bytes, size_t alignment);
static inline void *haul_arena_allocate(haul_arena *arena, size_t bytes);

/* Gives back what one call above gave, with the bytes that were asked for (haul_arena_new: count
 * times the type's extent). It is zeroed, and is no pointer any more. The last allocation goes back
 * to the free room, if no checkpoint has been taken since; anything else is used again if
 * options.reuse, and else lies idle until a rollback or reset. HAUL_ERROR_ARGUMENT: an address that
 * is not in the arena, is no multiple of a granule, or (checked) begins no allocation; 0 bytes or
 * too many. HAUL_ERROR_MEMORY: there was none to note it: it lies idle. NULL is allowed. */
HAUL_API haul_status haul_arena_release(haul_arena *arena, void *memory, size_t bytes);

/* A place in the arena's growth. */
typedef struct haul_arena_mark {
    size_t used;
    uint64_t resets;
} haul_arena_mark;
HAUL_API haul_arena_mark haul_arena_checkpoint(haul_arena *arena);
/* Gives back all that has been taken from the free room since. (What options.reuse has given out
 * again from before the mark stays.) HAUL_ERROR_STATE: the arena has been reset since, or rolled
 * back to before the mark and not grown again (checked: or grown again). Takes as long as zeroing
 * those bytes. */
HAUL_API haul_status haul_arena_rollback(haul_arena *arena, haul_arena_mark mark);
/* Gives back everything. */
HAUL_API haul_status haul_arena_reset(haul_arena *arena);

/* Does the address lie in what has been allocated? */
HAUL_API int haul_arena_contains(const haul_arena *arena, const void *address);

typedef struct haul_arena_statistics {
    void *base;        /* of the arena; a multiple of HAUL_ALIGNMENT_MAX */
    size_t used_bytes; /* from the base up to the free room: what a shipment carries */
    size_t peak_bytes;
    size_t committed_bytes; /* up to where it has grown */
    size_t capacity_bytes;  /* up to where it can grow */
    /* Host memory beside the arena, for used_bytes of a typed arena and for released blocks. */
    size_t bookkeeping_bytes;
    size_t allocations;      /* since the last reset */
    size_t released, reused; /* of these; blocks */
    int pinned, grows;       /* grows: in a reserved range */
    int mirrored;
} haul_arena_statistics;
HAUL_API void haul_arena_get_statistics(const haul_arena *arena, haul_arena_statistics *statistics);

/* A part of the arena in which kernels make objects of up to `bytes` bytes in all
 * (haul/device_arena.h), with a bit for each word beside. It and what is made in it on the device
 * belong to a typed arena; the first ship patches its pointers as any others. What the device has
 * made comes with haul_unmarshal_pointers alone: then its data and pointers are written, its
 * pointers are the arena's for later shipments, and nursery->used tells how much is there. By no
 * other way, and by no shipment that was discovered, does anything come back into the struct, its
 * bits, or what lies behind `used`; a struct that has been written over is put right when the arena
 * is shipped. Two shipments have made objects in the same places: when those of one have come,
 * haul_unmarshal_pointers of the other answers HAUL_ERROR_STALE until it is refreshed, and
 * haul_refresh_async of it first does what haul_shipment_wait does if results are on their way.
 * NULL as above. */
HAUL_API haul_nursery *haul_arena_new_nursery(haul_arena *arena, size_t bytes);
/* What kernels need to make objects of a committed type. HAUL_ERROR_ARGUMENT, HAUL_ERROR_STATE;
 * HAUL_ERROR_UNSUPPORTED: an object of more than 64 words, or one aligned to more than a granule,
 * with pointers off the grid, or of a type that haul_arena_new refuses: haul_type_error says which.
 * Fields of HAUL_SKIP of what a kernel has made come back as it left them. */
HAUL_API haul_status haul_stamp_of(const haul_type *type, haul_stamp *stamp);

/* ---- Drop-in forms: malloc, calloc, realloc and free on an arena, for libraries that can be told
 * their allocator.
 *
 * The sizes of blocks stand beside the arena, in 1/43 of its bytes (1/26 where pointers have 4):
 * none is shipped, and no device can change them. Where realloc can, the last block grows in place.
 * 0 bytes are one granule. haul_arena_free_block takes what the other three gave:
 * HAUL_ERROR_ARGUMENT for anything else, a second time included. NULL is allowed. */
HAUL_API void *haul_arena_malloc(haul_arena *arena, size_t bytes);
HAUL_API void *haul_arena_calloc(haul_arena *arena, size_t count, size_t bytes);
HAUL_API void *haul_arena_realloc(haul_arena *arena, void *memory, size_t bytes);
HAUL_API haul_status haul_arena_free_block(haul_arena *arena, void *memory);

#if defined(__cplusplus)
#define HAUL__THREAD thread_local
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_THREADS__)
#define HAUL__THREAD _Thread_local
#else
#define HAUL__THREAD __thread
#endif
#if defined(__GNUC__)
#define HAUL__MAYBE_UNUSED __attribute__((unused))
#else
#define HAUL__MAYBE_UNUSED
#endif

/* HAUL_ARENA_HOOKS(json) at file scope defines json_malloc, json_calloc, json_realloc and json_free
 * with the signatures of the C library, and json_use(arena), which makes an arena the calling
 * thread's target and answers the one before. The target is a variable of the file that holds the
 * macro: Haul itself keeps none. Without a target json_malloc and its like answer NULL, and
 * json_free does nothing; a block is freed while the arena it is from is the target. */
#define HAUL_ARENA_HOOKS(name)                                                                     \
    static HAUL__THREAD haul_arena *name##_target;                                                 \
    HAUL__MAYBE_UNUSED static haul_arena *name##_use(haul_arena *arena)                            \
    {                                                                                              \
        haul_arena *before = name##_target;                                                        \
        name##_target = arena;                                                                     \
        return before;                                                                             \
    }                                                                                              \
    HAUL__MAYBE_UNUSED static void *name##_malloc(size_t bytes)                                    \
    {                                                                                              \
        return haul_arena_malloc(name##_target, bytes);                                            \
    }                                                                                              \
    HAUL__MAYBE_UNUSED static void *name##_calloc(size_t count, size_t bytes)                      \
    {                                                                                              \
        return haul_arena_calloc(name##_target, count, bytes);                                     \
    }                                                                                              \
    HAUL__MAYBE_UNUSED static void *name##_realloc(void *memory, size_t bytes)                     \
    {                                                                                              \
        return haul_arena_realloc(name##_target, memory, bytes);                                   \
    }                                                                                              \
    HAUL__MAYBE_UNUSED static void name##_free(void *memory)                                       \
    {                                                                                              \
        (void)haul_arena_free_block(name##_target, memory);                                        \
    }                                                                                              \
    typedef int name##_hooks_are_defined /* takes the semicolon */

/* ---- Shipping. */

/* What becomes of a pointer of the arena that leads neither into what is shipped nor into an arena
 * of options.into. */
typedef enum haul_outside {
    /* HAUL_ERROR_GRAPH, with its place as path: "arena+4096". Every pointer is looked at: in large
     * arenas by the device as it relocates them, else by the host while the bytes cross */
    HAUL_OUTSIDE_REFUSE = 0,
    /* It is null on the device, and the host's stays. Every pointer is looked at; if one leads out,
     * the arena crosses through staging memory. */
    HAUL_OUTSIDE_NULL = 1,
    /* It keeps its bits. No pointer is looked at: the fastest way, if none leads out or if such
     * addresses mean something on the device. */
    HAUL_OUTSIDE_KEEP = 2
} haul_outside;

/* A zeroed struct means the defaults. */
typedef struct haul_ship_arena_options {
    haul_outside outside;
    /* Shipments of other arenas to the same device. Pointers into these arenas lead to their
     * copies, both ways. They must stay as long as this shipment is used. */
    const haul_shipment *const *into;
    size_t into_count;
    /* If not 0: haul_unmarshal lets the device turn its pointers back into the host's and copies
     * straight into the arena, one copy at full speed. Kernels must be trusted: pointers and counts
     * come as the device has them, without a check. If it fails halfway, the arena's contents are
     * undefined on both sides until it is done again or the arena is refreshed from good contents.
     * Ignored with fields of HAUL_SKIP, pointers off the grid or with high tags, nurseries, and
     * pointers that lead out and are null there. */
    int direct_return;
    /* If not 0: fields of a discovered graph that shapes and rules read may come back changed, see
     * haul_unmarshal. */
    int let_counts_change;
} haul_ship_arena_options;

/* Ships what has been allocated so far, without discovery: pointers are those of haul_arena_new.
 * One transfer reads the arena's own memory, and one pass on the device patches the pointers.
 * `options` may be NULL; haul_ship_options do not apply.
 *
 * HAUL_ERROR_ARGUMENT: nothing has been allocated, or `into` holds a shipment that is not of an
 * arena on this device. HAUL_ERROR_GRAPH: a pointer leads out, see haul_outside. HAUL_ERROR_STALE,
 * from later calls on the shipment: something of it has been released, given out again, rolled back
 * or reset since.
 *
 * The shipment differs from others in these points:
 *
 * - Look-ups in both directions take any byte of the arena, and are a subtraction.
 * - Fields of HAUL_SKIP and HAUL_MODE_NULL are zeros on the device and stay as they are here. If
 *   they hold anything else than zeros, the arena crosses through staging memory, which costs a
 *   copy on the host. Other bytes between objects travel, and come back. So do fields of HAUL_SKIP
 *   in types whose elements reach into one another, which MPI's constructors can make.
 * - haul_refresh sends the same range with its present pointers; after HAUL_ERROR_GRAPH some of it
 *   may have been sent, as after a failure of the device. haul_replan ships all that the arena
 *   holds now.
 * - haul_unmarshal overwrites all data in the shipped range. haul_unmarshal_pointers checks each
 *   pointer against the arena and those of options.into; pointers that the rule has kept or made
 *   null stay, while the device has them so.
 * - After asynchronous calls to the device the arena stays as it is until haul_shipment_wait. After
 *   HAUL_ERROR_PENDING nothing may be allocated in it or released until haul_shipment_wait has
 *   succeeded; if the first ship was late, until the device is closed.
 * - haul_shipment_copy moves the arena as it is there; pointers into arenas of options.into go on
 *   leading into these.
 *
 * A mirrored arena, on the device that it was made for, is shipped to its own addresses:
 * haul_device_pointer(shipment, p) is p, and pointers that no type describes are right as well. One
 * shipment at a time lies there; haul_replan moves a shipment there if it can. Any other one, one
 * on another device, and copies of shipments lie elsewhere, and only described pointers are patched
 * there. With options->direct_return pointers come back too, and a return is one raw copy. After a
 * failed haul_replan refresh the shipment. The driver takes an address of a mirrored arena for the
 * device's memory, so pass none to cudaMemcpy or to an MPI that knows of GPUs. Processes that are
 * forked share the host's memory of it. docs/arenas.md tells when to choose which arena. */
HAUL_API haul_status haul_ship_arena(haul_device *device, haul_arena *arena,
                                     const haul_ship_arena_options *options,
                                     haul_shipment **shipment);
/* The same for an arena in which a library has allocated that knows no types. Discovers from
 * `count` objects of `type` at `root`, all of which must lie in the arena, and patches the pointers
 * found. options->outside must be HAUL_OUTSIDE_REFUSE, and options->into_count 0.
 *
 * The bytes go as they lie; the host copies only if words or fields are others on the device, as
 * above. Rules are asked once, as by haul_ship, and again by haul_replan. A refresh neither asks
 * rules nor looks where pointers lead: one that leads out of the arena by then is null there, and
 * haul_replan refuses it. The host works out pointers with high tags (HAUL_HIGH_TAGS), so an arena
 * with any crosses through staging memory each time.
 *
 * Errors of the graph are those of haul_plan_create. HAUL_ERROR_GRAPH, with the path: the graph
 * leaves the arena. HAUL_ERROR_LIMIT, with the word's place as path ("arena+4096"): the address of
 * a tagged pointer's target on the device has bits of its tag. */
HAUL_API haul_status haul_ship_arena_from(haul_device *device, haul_arena *arena, void *root,
                                          const haul_type *type, size_t count,
                                          const haul_ship_arena_options *options,
                                          haul_shipment **shipment);
/* Several typed arenas that point into one another, or not: shipments[i] is that of arenas[i]. All
 * or none. */
HAUL_API haul_status haul_ship_arenas(haul_device *device, haul_arena *const *arenas, size_t count,
                                      const haul_ship_arena_options *options,
                                      haul_shipment **shipments);

/* ---- Inside: what inline allocation reads. */

/* What is known of a type; of one with more than 64 words, or more to note than its pointers,
 * `bytes` is SIZE_MAX. */
typedef struct haul__arena_stamp {
    const haul_type *type;
    uint64_t slots; /* bit w: word w is a pointer */
    size_t bytes;   /* in whole granules */
} haul__arena_stamp;

#define HAUL__STAMP_BITS 4u

/* The head of every arena: its free room, which is zeros; a bit for each word: is it a pointer; the
 * types it has met. */
typedef struct haul__arena_room {
    unsigned char *top, *end; /* multiples of a granule */
    unsigned char *base;
    uint64_t *slots;
    size_t allocations;
    haul__arena_stamp stamps[1u << HAUL__STAMP_BITS];
} haul__arena_room;

HAUL_API void *haul_arena_allocate_slowly(haul_arena *arena, size_t bytes);
HAUL_API void *haul_arena_new_slowly(haul_arena *arena, const haul_type *type, size_t count);

/* One comparison for all that can be wrong: full arenas, 0 bytes and too many have no room. */
static inline void *haul_arena_allocate(haul_arena *arena, size_t bytes)
{
    haul__arena_room *room = (haul__arena_room *)(void *)arena;
    unsigned char *memory;
    if (!room || bytes - 1 >= (size_t)(room->end - room->top))
        return haul_arena_allocate_slowly(arena, bytes);
    memory = room->top;
    room->top = memory + ((bytes + (HAUL_ARENA_GRANULE - 1)) & ~(HAUL_ARENA_GRANULE - 1));
    room->allocations++;
    return memory;
}

static inline size_t haul__arena_stamp_of(const haul_type *type)
{
    return (uint32_t)((uint32_t)((uintptr_t)type >> 4) * UINT32_C(2654435769)) >>
           (32u - HAUL__STAMP_BITS);
}

static inline void haul__arena_set_slots(const haul__arena_room *room, size_t at, uint64_t slots)
{
    size_t word = at / sizeof(void *);
    uint64_t *bits = room->slots + word / 64;
    unsigned shift = (unsigned)(word % 64);
    uint64_t rest = slots >> 1 >> (63 - shift);
    bits[0] |= slots << shift;
    if (rest)
        bits[1] |= rest;
}

static inline void *haul_arena_new(haul_arena *arena, const haul_type *type, size_t count)
{
    haul__arena_room *room = (haul__arena_room *)(void *)arena;
    const haul__arena_stamp *stamp;
    unsigned char *memory;
    if (!room || count != 1)
        return haul_arena_new_slowly(arena, type, count);
    stamp = &room->stamps[haul__arena_stamp_of(type)];
    memory = room->top;
    if (stamp->type != type || stamp->bytes > (size_t)(room->end - memory))
        return haul_arena_new_slowly(arena, type, 1);
    room->top = memory + stamp->bytes;
    room->allocations++;
    haul__arena_set_slots(room, (size_t)(memory - room->base), stamp->slots);
    return memory;
}

#ifdef __cplusplus
}
#endif
#endif

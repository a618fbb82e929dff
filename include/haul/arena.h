/* Arenas: memory in which a graph is built and from which it is shipped.
 *
 *     haul_arena_create(context, NULL, &arena);
 *     node *n = haul_arena_new(arena, node_type, 1);     typed, zeroed: its pointers are known
 *     n->children = haul_arena_new_pointers(arena, 8);   an array of pointers
 *     n->name = haul_arena_bytes(arena, 12, 0);          plain bytes
 *     ...
 *     haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment);
 *     kernel(haul_device_pointer(shipment, n));
 *     haul_unmarshal(shipment);
 *
 * An arena is one range of addresses that is used from its beginning on. It grows without moving,
 * and takes memory as it grows. Allocations lie side by side, so shipping needs no packing.
 * haul_arena_new notes which words are pointers, so shipping needs no discovery either.
 *
 * All memory comes zeroed, at a multiple of two pointers (16 bytes; 8 if pointers have 4).
 * haul_arena_release, haul_arena_rollback, haul_arena_reset and haul_arena_free give it back. One
 * thread at a time uses an arena. A call with a status answers HAUL_ERROR_ARGUMENT for a NULL or
 * freed arena. docs/arenas.md shows arenas at work, and says what they cost.
 */
#ifndef HAUL_ARENA_H
#define HAUL_ARENA_H

#include "haul/ship.h"

#ifdef __cplusplus
extern "C" {
#endif

/* all sizes are rounded up to it, all addresses are multiples of it */
#define HAUL_ARENA_GRANULE (2 * sizeof(void *))

/* A zeroed struct means the defaults. */
typedef struct haul_arena_options {
    /* For `pinned` and `mirrored`: the device that gives the memory. The arena keeps it open. */
    haul_device *device;
    /* The most bytes that the arena can ever have: a reserved range of addresses, without memory.
     * 0: 64 GiB (256 MiB if pointers have 4 bytes). Pinned and mirrored arenas allocate all of it
     * at once, and so does any arena if no range can be reserved; 0 is then 64 MiB. */
    size_t reserve_bytes;
    size_t granularity; /* bytes by which the arena grows; 0: 1 MiB */
    size_t limit_bytes; /* the arena never exceeds it; 0: reserve_bytes is the limit */
    /* If not 0: pinned memory, from which the device copies fast; ordinary memory if the device has
     * none. haul_arena_info says which. */
    int pinned;
    /* If not 0: released memory serves later allocations of the same size. Sizes above 64 granules
     * are then rounded up, by at most a quarter. */
    int reuse;
    /* If not 0: haul_arena_release, haul_arena_rollback and haul_arena_free_block refuse every
     * address and mark that the arena has not given out. And a shipment without a root refuses an
     * address of the arena in plain bytes (HAUL_ERROR_GRAPH, "arena+4096"), because nothing would
     * patch it; not so in a mirrored arena, and with HAUL_OUTSIDE_KEEP. */
    int checked;
    /* If not 0: pinned memory, and device memory at the same addresses, so that a pointer means the
     * same place on both sides. If the device has no such memory, the arena is `pinned`;
     * haul_arena_info says which. */
    int mirrored;
} haul_arena_options;

/* The layout of an arena's head, which inline allocation reads. */
#define HAUL_ARENA_LAYOUT 1u

/* Makes an arena. `context` gives the allocator, and is held; `options` may be NULL.
 * HAUL_ERROR_ARGUMENT: a NULL result, no context, a reserve_bytes that the system cannot have,
 * `pinned` or `mirrored` without a device, or a device of another context. HAUL_ERROR_VERSION: an
 * option that the library lacks, or another layout. HAUL_ERROR_MEMORY. On failure *arena is NULL,
 * and the context has the record, unless a call is under way on it. Then only `pinned` and
 * `mirrored` arenas are HAUL_ERROR_BUSY. */
HAUL_API haul_status haul_arena_create_sized(haul_context *context,
                                             const haul_arena_options *options,
                                             size_t options_bytes, unsigned layout,
                                             haul_arena **arena);
static inline haul_status haul_arena_create(haul_context *context,
                                            const haul_arena_options *options, haul_arena **arena)
{
    return haul_arena_create_sized(context, options, sizeof *options, HAUL_ARENA_LAYOUT, arena);
}

/* Drops the caller's hold and sets *arena to NULL. Shipments keep the arena and its memory, and so
 * does a device that may still use it after HAUL_ERROR_PENDING. NULL is allowed. The free of a
 * mirrored arena waits for all of the device's work with it; the free of a pinned one, for work
 * with it that has timed out. Any thread, inside any callback (context.h). */
HAUL_API void haul_arena_free(haul_arena **arena);

/* The last failure of any call on this arena; status HAUL_OK when there was none. Never NULL: for a
 * NULL arena, a record that says so. */
HAUL_API const haul_error *haul_arena_error(const haul_arena *arena);

/* ---- Allocation. Each function answers NULL when it fails; haul_arena_error then says why, and
 * nothing has changed. HAUL_ERROR_LIMIT: the arena is full (the text names the limit), or count and
 * size overflow. HAUL_ERROR_MEMORY. HAUL_ERROR_ARGUMENT: 0 bytes, an alignment that is not a power
 * of two up to HAUL_ALIGNMENT_MAX, a NULL or freed type. */

/* `count` objects of a committed type in a row, zeroed: all their pointers are NULL. Shipments
 * patch these pointers. Fields and tails that are HAUL_COPYIN or HAUL_CREATE do not come back;
 * those that are HAUL_COPYOUT are sent as they lie. A typed arena does not know the directions that
 * other types' fields give to the same bytes, nor those that pointers give to their targets.
 * HAUL_ERROR_STATE: the type is not committed. HAUL_ERROR_UNSUPPORTED: its contents depend on
 * addresses (experimental.h), or it has fields whose meaning differs from object to object (a
 * `when`, tag bits, integers, fixed words, HAUL_EXTERNAL, static ranges, distances, tails of typed
 * elements). Allocate such objects by their size, and ship with haul_from_arena_root. */
static inline void *haul_arena_new(haul_arena *arena, const haul_type *type, size_t count);
/* One object with `tail_bytes` plain bytes behind its sizeof (a flexible array member). */
HAUL_API void *haul_arena_new_tail(haul_arena *arena, const haul_type *type, size_t tail_bytes);
/* `count` pointers in a row, all NULL. Shipments patch them. */
HAUL_API void *haul_arena_new_pointers(haul_arena *arena, size_t count);
/* Plain bytes, at a multiple of `alignment`; 0: of two pointers. The device takes none of their
 * words for a pointer, unless the arena is discovered (haul_from_arena_root). */
static inline void *haul_arena_bytes(haul_arena *arena, size_t bytes, size_t alignment);

/* Releases the memory of one allocation. `bytes` is the size that was asked for (haul_arena_new:
 * count times the type's extent; a nursery: the bytes of its objects). The memory is zeroed, and
 * its pointers are forgotten. The last allocation returns to the free room, if no checkpoint has
 * been taken since. Any other is used again if options.reuse; else it lies idle until a rollback or
 * reset. HAUL_ERROR_ARGUMENT: an address that is not in the arena, is no multiple of a granule, or
 * (checked) begins no allocation; 0 bytes or too many. HAUL_ERROR_MEMORY: no memory to note the
 * block, which then lies idle. NULL is allowed. */
HAUL_API haul_status haul_arena_release(haul_arena *arena, void *memory, size_t bytes);

/* A place in the arena's growth. */
typedef struct haul_arena_mark {
    size_t used;
    uint64_t resets;
} haul_arena_mark;
/* The place that the arena has reached. Of a NULL or freed arena: a mark that no rollback takes. */
HAUL_API haul_arena_mark haul_arena_checkpoint(haul_arena *arena);
/* Releases everything that has been taken from the free room since the mark. (Blocks below the mark
 * that options.reuse has given out again stay allocated.) HAUL_ERROR_STATE: the arena has been
 * reset since, or rolled back below the mark; unless it is checked, a rollback is noticed only
 * while the arena has not grown past the mark again. Takes as long as zeroing those bytes. */
HAUL_API haul_status haul_arena_rollback(haul_arena *arena, haul_arena_mark mark);
/* Releases everything. Takes as long as zeroing its allocations. */
HAUL_API haul_status haul_arena_reset(haul_arena *arena);

/* Does the address lie between the base and the free room? 1: yes. 0: no; also for a NULL arena. */
HAUL_API int haul_arena_contains(const haul_arena *arena, const void *address);

typedef struct haul_arena_info {
    void *base;        /* the arena's first byte; a multiple of HAUL_ALIGNMENT_MAX */
    size_t used_bytes; /* from the base to the free room: a shipment's bytes */
    size_t peak_bytes;
    size_t committed_bytes; /* the size to which it has grown */
    size_t capacity_bytes;  /* the size to which it can grow */
    /* Host memory beside the arena, for used_bytes of a typed arena and for released blocks. */
    size_t bookkeeping_bytes;
    size_t allocations;      /* since the last reset */
    size_t released, reused; /* of these; blocks */
    int pinned, mirrored;
    int grows; /* in a reserved range */
    int reserved;
} haul_arena_info;
/* Fills *info; NULL is allowed. No arena: zeros. */
HAUL_API void haul_arena_get_info_sized(const haul_arena *arena, haul_arena_info *info,
                                        size_t info_bytes);
static inline void haul_arena_get_info(const haul_arena *arena, haul_arena_info *info)
{
    haul_arena_get_info_sized(arena, info, sizeof *info);
}

/* ---- Drop-in forms: malloc, calloc, realloc and free on an arena, for libraries that accept an
 * allocator.
 *
 * The sizes of blocks stand beside the arena: they are not shipped, and no device can change them.
 * realloc lets the last block grow in place, if there is room. 0 bytes are one granule.
 * haul_arena_free_block frees a block of the other three; any other address, and a block that has
 * been freed already, is HAUL_ERROR_ARGUMENT. NULL is allowed. */
HAUL_API void *haul_arena_malloc(haul_arena *arena, size_t bytes);
HAUL_API void *haul_arena_calloc(haul_arena *arena, size_t count, size_t bytes);
HAUL_API void *haul_arena_realloc(haul_arena *arena, void *memory, size_t bytes);
HAUL_API haul_status haul_arena_free_block(haul_arena *arena, void *memory);
/* The bytes of a block of the first three, all of them usable, and at least those that were asked
 * for. 0, without a record, for any other address, and for NULL. All five may be called by a kernel
 * on the host device, if the launch is not strict. */
HAUL_API size_t haul_arena_block_bytes(const haul_arena *arena, const void *memory);

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
 * with the signatures of the C library, json_block_bytes(memory), and json_use(arena), which makes
 * an arena the calling thread's target and answers the target before it. The target is a variable
 * in the file that uses the macro: Haul itself keeps none. Without a target json_malloc,
 * json_calloc and json_realloc answer NULL, json_free does nothing, and json_block_bytes answers 0.
 * Free a block only while its own arena is the target. */
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
    HAUL__MAYBE_UNUSED static size_t name##_block_bytes(const void *memory)                        \
    {                                                                                              \
        return haul_arena_block_bytes(name##_target, memory);                                      \
    }                                                                                              \
    typedef int name##_hooks_are_defined /* takes the semicolon */

/* ---- Shipping is haul_ship_from with haul_from_arena or haul_from_arena_root (ship.h). */

/* ---- Internal: the data of inline allocation. */

/* A type's size and pointers. `bytes` is SIZE_MAX if inline allocation cannot serve the type: it
 * has more than 64 words, or more to note than its pointers. */
typedef struct haul__arena_stamp {
    const haul_type *type;
    uint64_t slots; /* bit w: word w is a pointer */
    size_t bytes;   /* in whole granules */
} haul__arena_stamp;

#define HAUL__STAMP_BITS 4u

/* The head of every arena: its free room, which is zeros; a bit for each word that says if it is a
 * pointer; and the stamps of types used lately. */
typedef struct haul__arena_room {
    unsigned char *top, *end; /* multiples of a granule */
    unsigned char *base;
    uint64_t *slots;
    size_t allocations;
    haul__arena_stamp stamps[1u << HAUL__STAMP_BITS];
} haul__arena_room;

HAUL_API void *haul_arena_bytes_slowly(haul_arena *arena, size_t bytes, size_t alignment);
HAUL_API void *haul_arena_new_slowly(haul_arena *arena, const haul_type *type, size_t count);

/* One comparison finds every unusual number of bytes: a full arena, 0 bytes, and too many. */
static inline void *haul_arena_bytes(haul_arena *arena, size_t bytes, size_t alignment)
{
    haul__arena_room *room = (haul__arena_room *)(void *)arena;
    unsigned char *memory;
    if (!room || alignment != 0 || bytes - 1 >= (size_t)(room->end - room->top))
        return haul_arena_bytes_slowly(arena, bytes, alignment);
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

/* Allocation: a comparison, an addition, and for typed allocation the pointer bits.
 *
 * The slow obvious version of the bits: for each pointer of each element set the bit of its word.
 * The bits of an element of up to 64 words fit into one word, which is worked out once for a type.
 * Setting them takes a shift and one or two ORs, wherever the element begins; the header does it
 * inline. These words (stamps) stand in a small table that is indexed by the type's address. A type
 * in the table is held, so no other type can have its address.
 */
#include "arena/allocate.h"
#include "arena/free_lists.h"
#include "type/type.h"
#include "type/elements.h"
#include "haul/experimental.h"

static void *refuse(haul_arena *arena, haul_status status, const char *text)
{
    haul__fail(&arena->error, status, "%s", text);
    return NULL;
}

/* ---- Room. */

/* Takes `rounded` bytes from a free list, or else from above the top. */
static unsigned char *take(haul_arena *arena, size_t rounded, size_t alignment)
{
    size_t used = haul__arena_used(arena), at = (used + alignment - 1) & ~(alignment - 1), end;
    unsigned char *memory =
        alignment <= HAUL_ARENA_GRANULE ? haul__free_list_take(arena, rounded) : NULL;
    if (memory)
        return memory;
    if (haul__add_overflows(at, rounded, &end))
        end = SIZE_MAX;
    if (end > (size_t)(arena->end - arena->room.base) && !haul__arena_grow(arena, end))
        return NULL;
    if (alignment > arena->alignment)
        arena->alignment = alignment;
    haul__arena_set_top(arena, arena->room.base + end);
    return arena->room.base + at;
}

static void *allocate(haul_arena *arena, size_t bytes, size_t alignment)
{
    size_t rounded = haul__arena_round(arena, bytes);
    unsigned char *memory;
    size_t granule;
    if (bytes == 0)
        return refuse(arena, HAUL_ERROR_ARGUMENT,
                      "0 bytes are asked for: an allocation has at least one");
    if (rounded == 0) {
        haul__fail(&arena->error, HAUL_ERROR_LIMIT,
                   "the arena is full: %zu bytes are asked for, and its reserve_bytes is %zu: make "
                   "it with more",
                   bytes, arena->capacity);
        return NULL;
    }
    memory = take(arena, rounded, alignment);
    if (!memory)
        return NULL;
    haul__unpoison(memory, bytes);
    granule = (size_t)(memory - arena->room.base) / HAUL_ARENA_GRANULE;
    if (arena->starts)
        arena->starts[granule / 64] |= (uint64_t)1 << (granule % 64);
    arena->room.allocations++;
    return memory;
}

void *haul_arena_bytes_slowly(haul_arena *arena, size_t bytes, size_t alignment)
{
    if (!haul__arena_is_valid(arena))
        return NULL;
    if (alignment == 0)
        alignment = HAUL_ARENA_GRANULE;
    if (!haul__is_power_of_two(alignment) || alignment > HAUL_ALIGNMENT_MAX)
        return refuse(arena, HAUL_ERROR_ARGUMENT, "the alignment is not a power of two up to 4096");
    return allocate(arena, bytes, alignment < HAUL_ARENA_GRANULE ? HAUL_ARENA_GRANULE : alignment);
}

/* ---- Pointer bits. */

void haul__set_slot(haul_arena *arena, size_t at)
{
    size_t word = at / sizeof(void *);
    arena->room.slots[word / 64] |= (uint64_t)1 << (word % 64);
}

void haul__set_slots(haul_arena *arena, const unsigned char *memory, const uint64_t *bits,
                     size_t words)
{
    const size_t first = (size_t)(memory - arena->room.base) / sizeof(void *), shift = first % 64;
    size_t i;
    for (i = 0; i * 64 < words; i++) {
        uint64_t *slots = &arena->room.slots[first / 64 + i];
        slots[0] |= bits[i] << shift;
        if (shift && bits[i] >> (64 - shift))
            slots[1] |= bits[i] >> (64 - shift);
    }
}

void *haul_arena_new_pointers(haul_arena *arena, size_t count)
{
    unsigned char *memory;
    size_t bytes, at, i;
    if (!haul__arena_is_valid(arena))
        return NULL;
    if (haul__multiply_overflows(count, sizeof(void *), &bytes))
        return refuse(arena, HAUL_ERROR_LIMIT, "count and size of the pointers overflow");
    memory = allocate(arena, bytes, HAUL_ARENA_GRANULE);
    if (!memory)
        return NULL;
    at = (size_t)(memory - arena->room.base);
    for (i = 0; i < bytes; i += sizeof(void *))
        haul__set_slot(arena, at + i);
    return memory;
}

/* Pointers off the grid have no bits: they are listed when the arena is shipped. */
static void set_all_slots(haul_arena *arena, const haul__walk *walk, size_t at, size_t count)
{
    haul__flat flat;
    haul__flat_begin(&flat, walk, at, count, walk->extent);
    while (haul__flat_next(&flat, &walk, &at)) {
        size_t i = 0, offset;
        while (haul__next_pointer(walk, &i, &offset))
            if ((at + offset) % sizeof(void *) == 0)
                haul__set_slot(arena, at + offset);
    }
}

/* ---- Stamps. */

void haul__stamps_drop(haul_arena *arena)
{
    size_t i;
    for (i = 0; i < sizeof arena->room.stamps / sizeof *arena->room.stamps; i++) {
        if (arena->room.stamps[i].type)
            haul__type_drop(arena->room.stamps[i].type);
        arena->room.stamps[i].type = NULL;
    }
}

/* The properties of a type that typed allocation needs. */
typedef struct looks {
    uint64_t slots; /* pointer bits of an object of up to 64 words */
    int has_gaps, has_listed;
} looks;

static const haul_error depends = {
    HAUL_ERROR_UNSUPPORTED, "", "",
    "the type's contents depend on addresses: pack such graphs with haul_ship"
};
static const haul_error looks_at_objects = {
    HAUL_ERROR_UNSUPPORTED, "", "",
    "the type has fields whose members depend on the object: allocate it by its size, and ship "
    "with haul_from_arena_root"
};
static const haul_error not_committed = {
    HAUL_ERROR_STATE, "", "",
    "the type is not committed: call haul_type_commit and look at its answer"
};
static const haul_error no_layout = { HAUL_ERROR_UNSUPPORTED, "", "",
                                      "kernels make objects of 1 to 64 words, aligned to a granule "
                                      "at most and with all pointers on the grid: this type's "
                                      "are not such" };

/* NULL, or the reason why typed allocation refuses the type. */
static const haul_error *look_through(const haul__walk *walk, looks *seen)
{
    haul__flat flat;
    size_t at;
    memset(seen, 0, sizeof *seen);
    seen->has_listed = walk->has_slots && walk->extent % sizeof(void *) != 0;
    haul__flat_begin(&flat, walk, 0, 1, walk->extent);
    while (haul__flat_next(&flat, &walk, &at)) {
        size_t gap = 0, bytes, i = 0, offset;
        seen->has_gaps |= haul__tail_exclusions(walk, &offset) != 0;
        if (walk->depends)
            return &depends;
        if (!haul__is_plain(walk))
            return &looks_at_objects;
        seen->has_gaps |= haul__next_gap(walk, &gap, &bytes) || walk->excluded_count > 0;
        while (haul__next_pointer(walk, &i, &offset)) {
            seen->has_listed |= (at + offset) % sizeof(void *) != 0;
            seen->slots |= (uint64_t)1 << ((at + offset) / sizeof(void *) % 64);
        }
    }
    return NULL;
}

static const char off_grid[] = "it has pointers that do not lie at multiples of their size";

/* A type that an image's text claims may have any number of elements in a part: they are not looked
 * at one by one. The part's own type is asked by itself. */
const char *haul__slots_tell_too_little(const haul_type *type)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t at = 0, bytes, i = 0, offset;
    if (walk->depends || !haul__is_plain(walk))
        return "it has fields whose members depend on the object";
    if (walk->excluded_count || haul__next_gap(walk, &at, &bytes) ||
        haul__tail_exclusions(walk, &offset))
        return "it has fields that are skipped, or that travel one way";
    if (walk->has_slots && walk->extent % HAUL__WORD)
        return off_grid;
    while (haul__next_pointer(walk, &i, &offset))
        if (offset % HAUL__WORD)
            return off_grid;
    for (i = 0; i < walk->part_count; i++)
        if (haul__type_walk(walk->parts[i].type)->has_slots &&
            (walk->parts[i].offset | walk->parts[i].stride) % HAUL__WORD)
            return off_grid;
    return NULL;
}

haul_status haul_device_layout_of(const haul_type *type, haul_device_layout *layout)
{
    const haul__walk *walk = haul__type_walk(type);
    const haul_error *why_not;
    looks seen;
    if (layout)
        memset(layout, 0, sizeof *layout);
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    if (!layout || !walk)
        return layout ? HAUL_ERROR_STATE : HAUL_ERROR_ARGUMENT;
    why_not = look_through(walk, &seen);
    if (!why_not &&
        (seen.has_listed || walk->span > walk->extent || walk->extent > 64 * sizeof(void *) ||
         walk->extent == 0 || walk->placement > HAUL_ARENA_GRANULE))
        why_not = &no_layout;
    if (why_not)
        return why_not->status;
    layout->slots = seen.slots;
    layout->bytes = walk->extent;
    return HAUL_OK;
}

/* Enters a type in the table. NULL: the record says why not. */
static const haul__arena_stamp *make_stamp(haul_arena *arena, const haul_type *type)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t i = haul__arena_stamp_of(type);
    haul__arena_stamp made = { NULL, 0, SIZE_MAX };
    const haul_error *why_not;
    looks seen;
    if (!haul__type_is_valid(type))
        return refuse(arena, HAUL_ERROR_ARGUMENT, "the type is NULL or freed");
    why_not = walk ? look_through(walk, &seen) : &not_committed;
    if (why_not)
        return refuse(arena, why_not->status, why_not->text);
    if (arena->room.stamps[i].type)
        haul__type_drop(arena->room.stamps[i].type);
    haul__type_hold(type);
    made.type = type;
    made.slots = seen.slots;
    /* The header allocates such a type inline. */
    if (arena->is_plain && !(seen.has_gaps || seen.has_listed) && walk->extent > 0 &&
        walk->span <= walk->extent && walk->extent <= 64 * sizeof(void *) &&
        walk->placement <= HAUL_ARENA_GRANULE)
        made.bytes = (walk->extent + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1);
    arena->is_special[i] = (unsigned char)(seen.has_gaps || seen.has_listed);
    arena->room.stamps[i] = made;
    return &arena->room.stamps[i];
}

/* ---- Special objects: pointer bits alone do not describe them. */

/* The object continues the last run if it lies at the same distance. The second object sets the
 * distance. */
static void note_special(haul_arena *arena, size_t at, const haul_type *type, size_t count,
                         size_t tail)
{
    haul__special *last =
        arena->special_count > 0 ? &arena->special[arena->special_count - 1] : NULL;
    if (last && !arena->free_lists && count == 1 && last->type == type && last->tail == tail &&
        at > last->at && (last->count == 1 || at == last->at + last->count * last->stride)) {
        if (last->count == 1)
            last->stride = at - last->at;
        last->count++;
        return;
    }
    haul__type_hold(type);
    arena->special[arena->special_count].tail = tail;
    arena->special[arena->special_count].at = at;
    arena->special[arena->special_count].count = count;
    arena->special[arena->special_count].stride = haul__type_walk(type)->extent;
    arena->special[arena->special_count++].type = type;
}

/* In arenas that reuse blocks, each allocation is a run by itself. */
static void remove_special(haul_arena *arena, size_t at)
{
    size_t i;
    for (i = arena->special_count; arena->free_lists && i > 0; i--)
        if (arena->special[i - 1].at == at) {
            haul__type_drop(arena->special[i - 1].type);
            arena->special[i - 1] = arena->special[--arena->special_count];
            return;
        }
}

void haul__special_cut(haul_arena *arena, size_t first)
{
    size_t i, left = 0;
    for (i = 0; i < arena->special_count; i++) {
        haul__special *run = &arena->special[i];
        if (run->at >= first) {
            haul__type_drop(run->type);
            continue;
        }
        if (first - run->at < run->count * run->stride)
            run->count = (first - run->at + run->stride - 1) / run->stride;
        arena->special[left++] = *run;
    }
    arena->special_count = left;
}

/* ---- Typed allocation. */

/* The bytes of `count` elements and a tail; 0: overflow. */
static size_t bytes_of(const haul__walk *walk, size_t count, size_t tail)
{
    size_t span = walk->span > walk->extent ? walk->span : walk->extent, bytes;
    if (count == 0 || haul__multiply_overflows(count - 1, walk->extent, &bytes) ||
        haul__add_overflows(bytes, span, &bytes) || haul__add_overflows(bytes, tail, &bytes))
        return 0;
    return bytes;
}

static void *allocate_typed(haul_arena *arena, const haul__arena_stamp *stamp, size_t count,
                            size_t tail)
{
    const haul__walk *walk = haul__type_walk(stamp->type);
    const int is_special = arena->is_special[stamp - arena->room.stamps];
    size_t bytes = bytes_of(walk, count, tail), at;
    unsigned char *memory;
    if (count == 0 || walk->extent == 0)
        return refuse(arena, HAUL_ERROR_ARGUMENT, "0 objects, or objects of 0 bytes");
    if (bytes == 0)
        return refuse(arena, HAUL_ERROR_LIMIT, "count and size of the objects overflow");
    /* Room in the list comes before the allocation: a failure after the reuse of a released block
     * would leave contents stale. */
    if (is_special &&
        !haul__grow(&arena->context->allocator, &arena->special, &arena->special_capacity,
                    arena->special_count + 1, sizeof *arena->special))
        return refuse(arena, HAUL_ERROR_MEMORY, "out of memory for the list of special objects");
    memory = allocate(arena, bytes,
                      walk->placement > HAUL_ARENA_GRANULE ? walk->placement : HAUL_ARENA_GRANULE);
    if (!memory)
        return NULL;
    at = (size_t)(memory - arena->room.base);
    if (walk->has_slots)
        set_all_slots(arena, walk, at, count);
    if (is_special)
        note_special(arena, at, stamp->type, count, tail);
    return memory;
}

static void *new_with_tail(haul_arena *arena, const haul_type *type, size_t count, size_t tail)
{
    const haul__arena_stamp *stamp;
    if (!haul__arena_is_valid(arena))
        return NULL;
    stamp = &arena->room.stamps[haul__arena_stamp_of(type)];
    if (!type || stamp->type != type)
        stamp = make_stamp(arena, type);
    return stamp ? allocate_typed(arena, stamp, count, tail) : NULL;
}

void *haul_arena_new_slowly(haul_arena *arena, const haul_type *type, size_t count)
{
    return new_with_tail(arena, type, count, 0);
}

void *haul_arena_new_tail(haul_arena *arena, const haul_type *type, size_t tail_bytes)
{
    return new_with_tail(arena, type, 1, tail_bytes);
}

/* ---- Release. */

haul_status haul_arena_release(haul_arena *arena, void *memory, size_t bytes)
{
    size_t at, granule, rounded;
    if (!haul__arena_is_valid(arena))
        return HAUL_ERROR_ARGUMENT;
    if (!memory)
        return HAUL_OK;
    at = (size_t)((uintptr_t)memory - (uintptr_t)arena->room.base);
    granule = at / HAUL_ARENA_GRANULE;
    rounded = haul__arena_round(arena, haul__bytes_with_nursery(arena, at, bytes));
    if (!haul_arena_contains(arena, memory) || at % HAUL_ARENA_GRANULE != 0 ||
        (arena->starts && !(arena->starts[granule / 64] >> (granule % 64) & 1)))
        return haul__fail(&arena->error, HAUL_ERROR_ARGUMENT, "this arena has not allocated %p",
                          memory);
    if (rounded == 0 || rounded > haul__arena_used(arena) - at)
        return haul__fail(&arena->error, HAUL_ERROR_ARGUMENT,
                          "no block of %zu bytes lies there: pass the size of its allocation",
                          bytes);
    remove_special(arena, at);
    haul__nurseries_remove(arena, at, at + rounded);
    haul__arena_wipe(arena, at, at + rounded);
    arena->released++;
    if (at + rounded == haul__arena_used(arena) && at >= arena->floor) {
        haul__special_cut(arena, at);
        haul__arena_note_peak(arena);
        haul__arena_set_top(arena, arena->room.base + at);
    } else if (!haul__free_list_put(arena, at, rounded)) {
        return haul__fail(&arena->error, HAUL_ERROR_MEMORY, "no memory to note a released block");
    }
    return HAUL_OK;
}

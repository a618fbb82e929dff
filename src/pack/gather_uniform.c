/* Gather of uniform blocks: object by object, first its bytes, then its pointers over them.
 *
 * In such a block the starts of objects tell everything, and an object's pointers are translated
 * while it is in the first-level cache. Most such blocks hold objects and nothing else: then no
 * cell is read (object_starts.h). If there are other things between the objects, gather goes cell
 * by cell (object_cells.h).
 *
 * The work for each line is more than a processor looks ahead by itself. So source and arena are
 * prefetched some objects ahead, and the cells of the next objects' targets too.
 *
 * In a large tree with leaves anywhere, no predictor can guess whether a pointer is null. So there
 * is no branch on it: an address in no block reads a cell where nothing is live, and a wrong
 * pointer is noticed once for the whole object. In a small graph a branch is cheaper, and targets
 * are near anyway.
 */
#include "pack/gather_uniform.h"
#include "pack/object_cells.h"
#include "pack/object_starts.h"

#define SMALL_OBJECT 256u /* bytes; a larger one is copied by memcpy */

/* The cell that is read for an address in no block: nothing is live there. */
static const haul__cell nowhere[HAUL__CELLS];

typedef struct layout {
    size_t bytes; /* of the object */
    size_t count; /* of its slots */
    uint16_t offset[HAUL__SIMPLE_SLOTS];
} layout;

static void lay_out(const haul__simple *simple, layout *to)
{
    uint64_t slots;
    size_t cell;
    to->bytes = simple->bytes;
    to->count = 0;
    for (cell = 0; cell < HAUL__SIMPLE_CELLS; cell++)
        for (slots = haul__simple_slots(simple, cell); slots; slots &= slots - 1)
            to->offset[to->count++] =
                (uint16_t)(cell * HAUL__CELL_BYTES +
                           ((size_t)haul__lowest64(slots) << HAUL__WORD_SHIFT));
}

/* Prefetches the cells of the object's targets. */
HAUL__INLINE void prefetch_object(const uintptr_t *flat, uintptr_t object, const layout *l,
                                  size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        haul__prefetch_target(flat, haul__load_word((const void *)(object + l->offset[i])));
}

/* The word for the arena. *wrong becomes nonzero if the pointer is not null and its granule has no
 * place. */
HAUL__INLINE uintptr_t place_of(const uintptr_t *flat, uint64_t base, uintptr_t value,
                                uintptr_t *wrong)
{
    const uintptr_t entry = flat[(value & HAUL__HIGHEST) >> HAUL__BLOCK_SHIFT];
    const uintptr_t is_there = (uintptr_t)0 - (entry & 1u),
                    is_not_null = (uintptr_t)0 - (uintptr_t)(value != 0);
    const unsigned granule = haul__granule_in_cell(value);
    const uintptr_t cells =
        (haul__cell_place(entry, 0) & is_there) | ((uintptr_t)nowhere & ~is_there);
    const haul__cell *cell = (const haul__cell *)cells + haul__cell_number(value);
    const uint32_t live = cell->live;
    const uint64_t rank =
        cell->aux + (uint64_t)haul__bits32(live & (((uint32_t)1 << granule) - 1u));
    *wrong |= (((live >> granule) & 1u) ^ (is_not_null & 1u)) | (uintptr_t)(value > HAUL__HIGHEST);
    return (uintptr_t)(base + (rank << HAUL__GRANULE_SHIFT) + (value & (HAUL__GRANULE - 1))) &
           is_not_null;
}

/* Translates an object's slots one by one: the target of one has no place. */
static HAUL__NOINLINE void gather_apart(haul__sweep *s, uintptr_t object, unsigned char *to,
                                        const layout *l)
{
    const haul__guide guide = haul__guide_of(s);
    size_t i, nulls = s->nulls;
    for (i = 0; i < l->count; i++)
        haul__gather_slot(s, guide, 0, object + l->offset[i], to + l->offset[i], 1);
    s->nulls = nulls;
}

/* An object's slots, if many are null or lead far: no branch depends on their values. */
HAUL__INLINE uint64_t gather_far(haul__sweep *s, haul__guide guide, uint64_t hash, uintptr_t object,
                                 unsigned char *to, const layout *l, const size_t *offset,
                                 size_t count)
{
    uintptr_t wrong = 0;
    size_t i, nulls = 0;
    for (i = 0; i < count; i++) {
        uintptr_t value = haul__load_word((const void *)(object + offset[i])), place;
        hash = haul__hash_add(hash, value);
        nulls += value == 0;
        place = place_of(guide.flat, guide.base, value, &wrong);
        memcpy(to + offset[i], &place, sizeof place);
    }
    s->nulls += nulls;
    if (HAUL__UNLIKELY(wrong))
        gather_apart(s, object, to, l);
    return hash;
}

HAUL__INLINE uint64_t gather_near(haul__sweep *s, haul__guide guide, uint64_t hash,
                                  uintptr_t object, unsigned char *to, const size_t *offset,
                                  size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        hash = haul__gather_slot(s, guide, hash, object + offset[i], to + offset[i], 1);
    return hash;
}

HAUL__INLINE void copy_object(unsigned char *to, uintptr_t object, size_t bytes)
{
    if (bytes <= SMALL_OBJECT)
        haul__copy_few(to, (const unsigned char *)object, bytes);
    else
        memcpy(to, (const void *)object, bytes);
}

/* Sizes and offsets are copied to locals, which no store to the arena can change. */
HAUL__INLINE uint64_t gather_cell(haul__sweep *s, uint64_t hash, const haul__cells *c,
                                  const layout *l, size_t count, int is_far)
{
    const haul__guide guide = haul__guide_of(s);
    const size_t bytes = l->bytes;
    const uintptr_t address = c->address;
    unsigned char *to = s->arena + haul__cells_place(c);
    size_t i, offset[HAUL__SIMPLE_SLOTS];
    uint32_t starts;
    for (i = 0; i < count; i++)
        offset[i] = l->offset[i];
    for (starts = c->starts; starts; starts &= starts - 1, to += bytes) {
        uintptr_t object = address + haul__lowest32(starts) * HAUL__GRANULE;
        copy_object(to, object, bytes);
        hash = is_far ? gather_far(s, guide, hash, object, to, l, offset, count)
                      : gather_near(s, guide, hash, object, to, offset, count);
    }
    return hash;
}

/* A cell that is not whole (object_cells.h). */
static HAUL__NOINLINE uint64_t gather_cell_apart(haul__sweep *s, uint64_t hash,
                                                 const haul__cells *c)
{
    const uint32_t live = c->block->cells[c->cell].live, done = haul__cells_done(c);
    uint64_t slots = haul__placed_slots(s->map, c->block, c->cell);
    if (done)
        slots &= ~haul__range64(0, 2 * haul__bits32(done) - 1);
    haul__gather_runs(s, c->block, c->cell, (const unsigned char *)c->address, live & ~done);
    return haul__gather_cell_slots(s, hash, slots, live, c->address,
                                   haul__cell_rank(c->block, c->cell), 1);
}

HAUL__INLINE void gather_objects(haul__sweep *s, const haul__block *block, uintptr_t address,
                                 const layout *l, size_t count, int is_far)
{
    haul__cells c = haul__cells_begin(block, address, l->bytes);
    uint64_t hash = 0;
    do {
        if (s->fetches)
            haul__fetch_ahead(block, c.cell, c.address,
                              (uintptr_t)s->arena + haul__place_of_cell(block, c.cell), 1);
        if (is_far && c.cell + 1 < HAUL__CELLS) {
            uint32_t starts = c.all[c.cell + 1];
            for (; starts; starts &= starts - 1)
                prefetch_object(s->flat,
                                (c.address + HAUL__CELL_BYTES) +
                                    haul__lowest32(starts) * HAUL__GRANULE,
                                l, count);
        }
        if (HAUL__UNLIKELY(!c.is_whole))
            hash = gather_cell_apart(s, hash, &c);
        else if (c.starts)
            hash = gather_cell(s, hash, &c, l, count, is_far);
    } while (haul__cells_next(&c));
    s->hash = hash;
}

/* ---- Blocks that hold objects and nothing else. */

/* Words [first, end) of a block, from an object that is partly in another block. In a ragged block,
 * words beside it in its granules become zeros; an object behind it may overwrite them later.
 * `is_alone`: 0 if an object before it has written the word before, which then stays. */
static HAUL__NOINLINE uint64_t gather_part(haul__sweep *s, uint64_t hash, const haul__block *block,
                                           uintptr_t address, unsigned first, unsigned end,
                                           int is_alone)
{
    unsigned char *const to = s->arena + (size_t)haul__place(block, address + first * HAUL__WORD);
    const size_t bytes = (end - first) * HAUL__WORD;
    unsigned cell;
    memcpy(to, (const void *)(address + first * HAUL__WORD), bytes);
    if (is_alone && first % 2)
        memset(to - HAUL__WORD, 0, HAUL__WORD);
    if (end % 2)
        memset(to + bytes, 0, HAUL__WORD);
    for (cell = first / 64; cell * 64u < end; cell++)
        hash = haul__gather_cell_slots(s, hash,
                                       haul__placed_slots(s->map, block, cell) &
                                           haul__words_between(cell, first, end),
                                       block->cells[cell].live, address + cell * HAUL__CELL_BYTES,
                                       haul__cell_rank(block, cell), 1);
    return hash;
}

/* The place of an object of a ragged block; `end` moves behind it. Words beside the object in its
 * first and last granule become zeros: the one before it, unless another object has it; and the one
 * behind it, which the next object may overwrite. */
HAUL__INLINE unsigned char *place_ragged(unsigned char *first, haul__ragged_end *end,
                                         unsigned start, unsigned words)
{
    const unsigned place = haul__ragged_place(end, start), is_shared = start / 2 == end->granule;
    unsigned char *const to = first + (size_t)place * HAUL__GRANULE + (start % 2) * HAUL__WORD;
    if (start % 2 && !is_shared)
        memset(to - HAUL__WORD, 0, HAUL__WORD);
    if ((start + words) % 2)
        memset(to + words * HAUL__WORD, 0, HAUL__WORD);
    haul__ragged_next(end, start, words, place);
    return to;
}

/* The objects of a block, one after the other. */
HAUL__INLINE void gather_starts(haul__sweep *s, const haul__block *block, uintptr_t address,
                                const haul__objects *o, const layout *l, size_t count, int is_far,
                                int is_ragged)
{
    const haul__guide guide = haul__guide_of(s);
    const size_t bytes = l->bytes, objects = o->count, near = HAUL__CELL_BYTES / bytes + 1;
    const unsigned words = is_ragged ? 1 : 2, unit = words * HAUL__WORD; /* of a start */
    const int fetches = s->fetches;
    unsigned char *const first = s->arena + haul__place_of_cell(block, 0);
    unsigned char *to = first + o->carried * HAUL__GRANULE;
    haul__ragged_end end = haul__ragged_begin(o);
    size_t i, k, offset[HAUL__SIMPLE_SLOTS];
    uint64_t hash = 0;
    for (i = 0; i < count; i++)
        offset[i] = l->offset[i];
    if (o->carried)
        hash = gather_part(s, hash, block, address, 0, o->carried * words, 1);
    for (k = 0; k < objects; k++, to += bytes) {
        const uintptr_t object = address + (uintptr_t)o->start[k] * unit;
        if (is_ragged)
            to = place_ragged(first, &end, o->start[k], (unsigned)(bytes >> HAUL__WORD_SHIFT));
        if (fetches)
            haul__fetch_objects(o, unit, k, address, (uintptr_t)to, 1);
        if (is_far && k + near < objects)
            prefetch_object(s->flat, address + (uintptr_t)o->start[k + near] * unit, l, count);
        copy_object(to, object, bytes);
        hash = is_far ? gather_far(s, guide, hash, object, to, l, offset, count)
                      : gather_near(s, guide, hash, object, to, offset, count);
    }
    if (o->out * words < HAUL__BLOCK_WORDS)
        hash = gather_part(s, hash, block, address, o->out * words, (unsigned)HAUL__BLOCK_WORDS,
                           o->out / 2 != end.granule);
    s->hash = hash;
}

HAUL__INLINE void gather_either(haul__sweep *s, const haul__block *block, uintptr_t address,
                                const haul__objects *o, const layout *l, size_t count, int is_far)
{
    if (block->words)
        gather_starts(s, block, address, o, l, count, is_far, 1);
    else if (o)
        gather_starts(s, block, address, o, l, count, is_far, 0);
    else
        gather_objects(s, block, address, l, count, is_far);
}

/* Most objects have 1, 2 or 4 pointers: for these the innermost loops are unrolled. `o`: NULL if
 * there are other things between the objects. */
HAUL__INLINE void gather_by_count(haul__sweep *s, const haul__block *block, uintptr_t address,
                                  const haul__objects *o, const layout *l, int is_far)
{
    switch (l->count) {
    case 1:
        gather_either(s, block, address, o, l, 1, is_far);
        break;
    case 2:
        gather_either(s, block, address, o, l, 2, is_far);
        break;
    case 4:
        gather_either(s, block, address, o, l, 4, is_far);
        break;
    default:
        gather_either(s, block, address, o, l, l->count, is_far);
    }
}

HAUL__INLINE void gather_uniform(haul__sweep *s, const haul__block *block, uintptr_t address,
                                 const layout *l, int is_far)
{
    haul__objects o;
    if (block->words)
        haul__find_ragged(block, &o);
    if (block->words || haul__find_objects(block, l->bytes, &o))
        gather_by_count(s, block, address, &o, l, is_far);
    else
        gather_by_count(s, block, address, NULL, l, is_far);
}

HAUL__HOT static void gather_uniform_far(haul__sweep *s, const haul__block *block,
                                         uintptr_t address, const layout *l)
{
    gather_uniform(s, block, address, l, 1);
}

HAUL__HOT static void gather_uniform_near(haul__sweep *s, const haul__block *block,
                                          uintptr_t address, const layout *l)
{
    gather_uniform(s, block, address, l, 0);
}

void haul__gather_uniform(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    layout l;
    lay_out(haul__simple_of(s->map, block), &l);
    if (s->is_far)
        gather_uniform_far(s, block, address, &l);
    else
        gather_uniform_near(s, block, address, &l);
}

/* Discovery: marks everything that the roots reach.
 *
 * The slow obvious version: take an object off the worklist; for each of its pointers, if the object it leads to is not
 * marked, mark it and put it on the worklist. That is also what the code does. What makes it fast:
 *
 *   - An object is marked when it is found, not when it is visited, and "marked before" is one comparison of bits in
 *     the one cell that it lies in (mark_near). Its entry is always written to the worklist; the worklist's end then
 *     advances by 0 or 1. There is no branch on "is it new", which no predictor could guess.
 *   - Objects across two cells take longer, and which they are no predictor could guess either: they are set aside,
 *     again without a branch, and marked in a loop of their own.
 *   - The worklist is first in, first out, so that objects NODES_AHEAD entries on can be fetched into the cache now.
 *     A pointer read from an object is not looked at at once: its cell is fetched, and it waits until CELLS_AHEAD of
 *     them are together (Cher et al. 2004). So no load waits for memory, as long as there is other work.
 *   - When there is none, as in a list, the one object found is gone to at once (chase).
 *   - Whatever is not that simple (arrays, strings, sizes that are no granules, overlaps) goes the general way in
 *     follow.c, and costs only those who have it.
 *
 * Nothing is recorded of how an object was reached: run.c tells what becomes of errors.
 */
#include "graph/discovery.h"

#define NODES_AHEAD 8u /* less: objects are not there yet; more: they are gone again */
#define BURST 8u        /* objects fetched together */
#define TARGETS_AHEAD 16u /* in arrays of pointers that go the general way */
#define ELEMENTS_AHEAD 4u  /* in arrays of objects */
#define CELLS_AHEAD 32u /* candidates that are collected before the first is looked at */

/* Pointers that were read and whose cells are on their way, as worklist entries: those to objects inside one cell, and
 * those to objects across two, which take longer. */
typedef struct candidates {
    uint64_t *near, *over; /* arrays of CANDIDATES */
    size_t near_count, over_count;
} candidates;

#define CANDIDATES (CELLS_AHEAD + HAUL__STEPS)

#define ENTRY_ADDRESS(entry) ((uintptr_t)((entry) & UINT64_C(0x0000ffffffffffff)))
#define ENTRY_KIND(entry) ((uint32_t)((entry) >> 48))

HAUL__INLINE uintptr_t load_word(uintptr_t address)
{
    uintptr_t value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

/* The granule of its cell that an address starts; a number above every granule where it starts none. */
HAUL__INLINE uint32_t start_in_cell(uintptr_t address)
{
    uint32_t in_cell = (uint32_t)address & (uint32_t)(HAUL__CELL_BYTES - 1);
    return in_cell >> HAUL__GRANULE_SHIFT | in_cell << (32 - HAUL__GRANULE_SHIFT);
}

/* What marking one object in line can answer: it is new; all of it was marked before, with the same slots; or anything
 * else: go the general way. The first two must not be told apart by a branch: no predictor could guess it, and each
 * wrong guess would stop the processor from running ahead to the next misses. */
enum { APART = -1, KNOWN = 0, FRESH = 1 };

HAUL__INLINE haul__block *block_in(uintptr_t entry)
{
    return (haul__block *)(entry & ~HAUL__FORM_MASK);
}

/* Where the cell of an address would be, in the block of this entry; only to be fetched, there may be none. */
HAUL__INLINE uintptr_t cell_place(uintptr_t entry, uintptr_t address)
{
    return (entry & ~HAUL__FORM_MASK) + offsetof(haul__block, cells) + haul__cell_number(address) * sizeof(haul__cell);
}

/* Blocks of other forms than the kind's own: a mixed one; or plain objects in whatever holds nothing of theirs yet. */
static HAUL__NOINLINE int mark_near_apart(uintptr_t entry, uintptr_t address, const haul__kind *kind)
{
    haul__block *block = block_in(entry);
    unsigned granule = haul__granule_in_cell(address), number = haul__cell_number(address);
    uint32_t granules = kind->simple.granules << granule, live;
    uint64_t slots = kind->simple.slots << (2 * granule), known, odd, *bits;
    haul__cell *cell;
    if (!(entry & 1u))
        return APART;
    cell = &block->cells[number];
    live = cell->live & granules;
    if (block->form != HAUL__MIXED) {
        if (kind->simple.slots || live || (block->form == HAUL__BARE && (cell->aux & granules)))
            return APART;
        cell->live |= granules;
        return FRESH;
    }
    bits = &haul__slots(block)[number];
    known = (uint64_t)0 - (uint64_t)(live != 0);
    odd = ((live ^ granules) | ((*bits & kind->words << (2 * granule)) ^ slots)) & known;
    if (HAUL__UNLIKELY((odd | (cell->aux & granules)) != 0))
        return APART;
    cell->live |= granules;
    *bits |= slots;
    return live == 0;
}

HAUL__INLINE uint64_t load_cell(const haul__cell *cell)
{
    uint64_t marks;
    memcpy(&marks, cell, sizeof marks);
    return marks;
}

/* An object that lies in one cell. In a block of its kind its start and its granules tell all. */
HAUL__INLINE int mark_near(const uintptr_t *flat, uintptr_t address, const haul__kind *kind)
{
    const uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    const unsigned granule = haul__granule_in_cell(address);
    haul__cell wanted, *cell;
    uint64_t marks, found, known;
    if (HAUL__UNLIKELY((entry & HAUL__FORM_MASK) != kind->form))
        return mark_near_apart(entry, address, kind);
    cell = haul__cell_of(block_in(entry), address);
    wanted.live = kind->simple.granules << granule;
    wanted.aux = (uint32_t)1 << granule;
    marks = load_cell(cell);
    found = marks & load_cell(&wanted);
    known = (uint64_t)0 - (uint64_t)(found != 0);
    if (HAUL__UNLIKELY(((found ^ load_cell(&wanted)) & known) != 0))
        return APART;
    marks |= load_cell(&wanted);
    memcpy(cell, &marks, sizeof marks);
    return (int)(known + 1);
}

static HAUL__NOINLINE int mark_over_apart(haul__block *block, haul__block *next_block, uintptr_t address,
                                          const haul__kind *kind)
{
    uintptr_t end = address + kind->simple.bytes;
    unsigned granule = haul__granule_in_cell(address);
    haul__cell *cell, *next;
    uint64_t slots = kind->simple.slots << (2 * granule), next_slots = kind->simple.slots >> (64 - 2 * granule);
    uint64_t known, odd, *bits, *next_bits;
    uint32_t low = kind->simple.granules << granule, high = kind->simple.granules >> (32 - granule);
    if (block->form != HAUL__MIXED || next_block->form != HAUL__MIXED)
        return APART;
    cell = haul__cell_of(block, address);
    next = haul__cell_of(next_block, end);
    bits = &haul__slots(block)[haul__cell_number(address)];
    next_bits = &haul__slots(next_block)[haul__cell_number(end)];
    known = (uint64_t)0 - (uint64_t)(((cell->live & low) | (next->live & high)) != 0);
    odd = ((cell->live & low) ^ low) | ((next->live & high) ^ high) |
          ((*bits & kind->words << (2 * granule)) ^ slots) |
          ((*next_bits & kind->words >> (64 - 2 * granule)) ^ next_slots);
    if (HAUL__UNLIKELY(((odd & known) | (cell->aux & low) | (next->aux & high)) != 0))
        return APART;
    cell->live |= low;
    next->live |= high;
    *bits |= slots;
    *next_bits |= next_slots;
    return known == 0;
}

/* One that is longer than a cell. */
static HAUL__NOINLINE int mark_long(const uintptr_t *flat, uintptr_t address, const haul__kind *kind)
{
    uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    uintptr_t next_entry = flat[(address + kind->simple.bytes - 1) >> HAUL__BLOCK_SHIFT];
    if ((entry & HAUL__FORM_MASK) != kind->form || (next_entry & HAUL__FORM_MASK) != kind->form ||
        (address & (HAUL__GRANULE - 1)) != 0)
        return APART;
    return haul__mark_long(block_in(entry), block_in(next_entry), address, &kind->simple);
}

/* The same for one that reaches over the end of its cell. */
HAUL__INLINE int mark_over(const uintptr_t *flat, uintptr_t address, const haul__kind *kind)
{
    uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT], end = address + kind->simple.bytes;
    uintptr_t next_entry = flat[end >> HAUL__BLOCK_SHIFT];
    unsigned granule = haul__granule_in_cell(address);
    haul__cell *cell, *next;
    uint32_t low, high, start = (uint32_t)1 << granule, known, odd;
    if (HAUL__UNLIKELY(kind->simple.bytes > HAUL__CELL_BYTES))
        return mark_long(flat, address, kind);
    if (!(entry & next_entry & 1u) || granule == 0 || (address & (HAUL__GRANULE - 1)) != 0)
        return APART;
    if (HAUL__UNLIKELY((entry & HAUL__FORM_MASK) != kind->form || (next_entry & HAUL__FORM_MASK) != kind->form))
        return mark_over_apart(block_in(entry), block_in(next_entry), address, kind);
    cell = haul__cell_of(block_in(entry), address);
    next = haul__cell_of(block_in(next_entry), end);
    low = kind->simple.granules << granule;
    high = kind->simple.granules >> (32 - granule);
    known = (uint32_t)0 - (uint32_t)(((cell->live & low) | (next->live & high)) != 0);
    odd = ((cell->live & low) ^ low) | ((next->live & high) ^ high) | (~cell->aux & start);
    if (HAUL__UNLIKELY((odd & known) != 0))
        return APART;
    cell->live |= low;
    cell->aux |= start;
    next->live |= high;
    if (HAUL__UNLIKELY(entry != next_entry))
        block_in(next_entry)->carry |= kind->simple.slots >> (64 - 2 * granule);
    return known == 0;
}

static haul_status visit_slot(haul__discovery *d, uintptr_t element, const haul__slot *slot)
{
    uintptr_t address = element + slot->offset, value = load_word(address);
    haul_status status = HAUL_OK;
    if ((address & (HAUL__WORD - 1)) != 0)
        status = haul__note_odd(d, address, value, 0);
    if (status != HAUL_OK)
        return status;
    if (d->careful) {
        if (d->sought.pointer == address)
            return haul__refuse(d, HAUL_ERROR_STALE, slot, "this pointer has changed");
        status = haul__meet_pointer(d, address, slot, 0);
        if (status != HAUL_OK)
            return status;
    }
    if (slot->flags & HAUL__SLOT_END)
        return HAUL_OK;
    return haul__follow(d, slot, 0, address, value, element + slot->self, slot->index);
}

/* Those that lie in the element's first `bytes` bytes. */
static haul_status visit_parts(haul__discovery *d, uintptr_t element, const haul__walk *walk, size_t bytes)
{
    size_t i;
    for (i = 0; i < walk->part_count && walk->parts[i].offset < bytes; i++) {
        const haul__part *part = &walk->parts[i];
        haul__entry entry;
        haul_status status;
        memset(&entry, 0, sizeof entry);
        entry.address = element + part->offset;
        entry.count = part->count;
        entry.stride = part->stride;
        entry.part = part->name ? part->name : "";
        entry.parent = d->at_entry;
        entry.parent_element = d->at_element;
        entry.what = HAUL__OBJECTS;
        status = haul__kind_of(d, part->type, &entry.kind);
        if (status == HAUL_OK && part->count)
            status = haul__reach(d, &entry);
        if (status != HAUL_OK)
            return status;
    }
    return HAUL_OK;
}

static haul_status check_limits(haul__discovery *d)
{
    const haul_limits *limits = &d->context->options.limits;
    if (d->found->objects > limits->objects)
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL, "more than the limit of %zu objects", limits->objects);
    if (d->found->bytes > limits->bytes)
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL, "more than the limit of %zu bytes", limits->bytes);
    return HAUL_OK;
}

static haul_status visit_element(haul__discovery *d, uintptr_t element, uint32_t kind)
{
    const haul__walk *walk = d->kinds[kind].walk;
    haul_status status = HAUL_OK;
    size_t i, bytes = SIZE_MAX;
    if (walk->is_varied)
        status = haul__visit_varied(d, element, walk, &bytes);
    for (i = 0; i < walk->slot_count && status == HAUL_OK && walk->slots[i].offset < bytes; i++)
        status = visit_slot(d, element, &walk->slots[i]);
    if (status == HAUL_OK && walk->part_count)
        status = visit_parts(d, element, walk, bytes);
    return status;
}

/* The general way for a pointer to one object. What is wrong with it gets its path in the second run. */
static HAUL__NOINLINE haul_status reach_one(haul__discovery *d, uint64_t pointer)
{
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.address = ENTRY_ADDRESS(pointer);
    entry.count = 1;
    entry.kind = ENTRY_KIND(pointer);
    entry.stride = d->kinds[entry.kind].walk->extent;
    entry.parent = SIZE_MAX;
    entry.what = HAUL__OBJECTS;
    return haul__reach(d, &entry);
}

/* The general way for one pointer of an object, from inside the innermost loop. */
static HAUL__NOINLINE haul_status step_aside(haul__discovery *d, uintptr_t element, uint32_t number,
                                           const haul__step *step)
{
    const haul__kind *kind = &d->kinds[number];
    return visit_slot(d, element, &kind->walk->slots[step - kind->steps]);
}

/* An object that the innermost loop is not made for: steps not worked out yet, or parts. */
static HAUL__NOINLINE haul_status visit_apart(haul__discovery *d, uintptr_t element, uint32_t number)
{
    haul_status status = haul__kind_steps(d, number);
    return status == HAUL_OK ? visit_element(d, element, number) : status;
}

/* Room in the worklist for all candidates. */
HAUL__INLINE int has_room(haul__discovery *d)
{
    return HAUL__LIKELY(d->tail->capacity - d->tail->written > 2 * CANDIDATES) || haul__queue_room(d);
}

/* Candidates that are marked in line: appended, and kept if new. */
HAUL__INLINE haul_status settle_all(haul__discovery *d, const uint64_t *candidate, size_t count,
                                    int (*mark)(const uintptr_t *, uintptr_t, const haul__kind *))
{
    const uintptr_t *flat = d->map->flat;
    const haul__kind *kinds = d->kinds;
    uint64_t *out = d->tail->entry + d->tail->written;
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t entry = candidate[i];
        int fresh = mark(flat, ENTRY_ADDRESS(entry), &kinds[ENTRY_KIND(entry)]);
        if (HAUL__UNLIKELY(fresh < 0)) {
            haul_status status;
            d->tail->written = (size_t)(out - d->tail->entry);
            status = reach_one(d, entry);
            if (status != HAUL_OK)
                return status;
            if (!has_room(d))
                return HAUL_ERROR_MEMORY;
            kinds = d->kinds;
            out = d->tail->entry + d->tail->written;
            continue;
        }
        *out = entry;
        out += fresh;
    }
    d->tail->written = (size_t)(out - d->tail->entry);
    return HAUL_OK;
}

HAUL__INLINE haul_status settle(haul__discovery *d, candidates *c)
{
    haul_status status = has_room(d) ? HAUL_OK : HAUL_ERROR_MEMORY;
    if (status == HAUL_OK)
        status = settle_all(d, c->near, c->near_count, mark_near);
    if (status == HAUL_OK)
        status = settle_all(d, c->over, c->over_count, mark_over);
    c->near_count = c->over_count = 0;
    return status;
}

/* A pointer is read: its cell is fetched, and it waits among the candidates, NULL left out. Written to both ends, kept
 * at one: no branches here either. Prefetches never fault: neither the pointer nor the block needs to be good. */
HAUL__INLINE void collect(candidates *c, const uintptr_t *flat, uintptr_t value, uint64_t tag, uint32_t near_starts)
{
    uintptr_t entry = flat[value >> HAUL__BLOCK_SHIFT];
    size_t fits = start_in_cell(value) < near_starts, there = value != 0;
    haul__prefetch_write(cell_place(entry, value));
    c->near[c->near_count] = c->over[c->over_count] = value | tag;
    c->near_count += fits & there;
    c->over_count += (fits ^ 1) & there;
}

#define TOO_HIGH(value) HAUL__UNLIKELY((value) > HAUL__HIGHEST - HAUL__SIMPLE_BYTES)

/* The pointers of an object from the queue. */
HAUL__INLINE haul_status visit_queued(haul__discovery *d, candidates *c, uintptr_t element, uint32_t number)
{
    const uintptr_t *flat = d->map->flat;
    const haul__step *step = d->kinds[number].steps, *end = step + d->kinds[number].step_count;
    for (; step < end; step++) {
        haul_status status = HAUL_OK;
        uintptr_t value = 0;
        if (HAUL__UNLIKELY(!step->one))
            status = step_aside(d, element, number, step);
        else if (value = load_word(element + step->offset), TOO_HIGH(value))
            status = reach_one(d, value | step->tag);
        else
            collect(c, flat, value, step->tag, step->near_starts);
        if (HAUL__UNLIKELY(status != HAUL_OK))
            return status;
    }
    return HAUL_OK;
}

/* Objects are fetched a few at a time, one behind the other: mostly they miss the translation buffer too, a prefetch
 * holds up what comes after it until its page is found, and the processor searches for several pages at once. */
HAUL__INLINE void prefetch_nodes(const haul__discovery *d, const haul__chunk *chunk, size_t read)
{
    size_t first = read + NODES_AHEAD, last = first + BURST, i;
    if (last > chunk->written)
        last = chunk->written;
    for (i = first; i < last; i++) {
        const haul__kind *kind = &d->kinds[ENTRY_KIND(chunk->entry[i])];
        haul__prefetch_once(ENTRY_ADDRESS(chunk->entry[i]) + kind->first_slot);
        haul__prefetch_once(ENTRY_ADDRESS(chunk->entry[i]) + kind->last_slot);
    }
}

/* Marks in line what one pointer leads to, if it can be. */
HAUL__INLINE int mark_one(const haul__discovery *d, uintptr_t value, const haul__step *step)
{
    const haul__kind *kind = &d->kinds[step->tag >> 48];
    if (TOO_HIGH(value))
        return -1;
    if (start_in_cell(value) < step->near_starts)
        return mark_near(d->map->flat, value, kind);
    return mark_over(d->map->flat, value, kind);
}

/* The pointers of the only object there is. The first new thing found becomes *next, others go to the worklist. */
HAUL__INLINE haul_status chase_one(haul__discovery *d, uint64_t entry, uint64_t *next)
{
    const haul__step *step = d->kinds[ENTRY_KIND(entry)].steps, *end = step + d->kinds[ENTRY_KIND(entry)].step_count;
    for (; step < end; step++) {
        uintptr_t value = load_word(ENTRY_ADDRESS(entry) + step->offset);
        int fresh;
        if (!value)
            continue;
        fresh = mark_one(d, value, step);
        if (HAUL__UNLIKELY(fresh < 0)) {
            haul_status status = reach_one(d, value | step->tag);
            if (status != HAUL_OK)
                return status;
        } else if (fresh && !*next) {
            *next = value | step->tag;
        } else if (fresh && !haul__queue_push(d, value, ENTRY_KIND(step->tag), 1)) {
            return HAUL_ERROR_MEMORY;
        }
    }
    return HAUL_OK;
}

/* The commonest list, of objects of one kind with one pointer each: as far as every next one is new. */
HAUL__INLINE uint64_t chase_list(haul__discovery *d, uint64_t entry, size_t limit)
{
    const haul__step *step = d->kinds[ENTRY_KIND(entry)].steps;
    const size_t offset = step ? step->offset : 0;
    uintptr_t at = ENTRY_ADDRESS(entry), next;
    size_t objects = d->found->objects;
    if (!step || d->kinds[ENTRY_KIND(entry)].step_count != 1 || step->tag != (entry & ~(uint64_t)HAUL__HIGHEST))
        return entry;
    for (; objects < limit; objects++, at = next) {
        next = load_word(at + offset);
        if (!next || mark_one(d, next, step) != FRESH)
            break;
    }
    d->found->objects = objects;
    return (uint64_t)at | step->tag;
}

/* Follows a list: as long as the worklist is empty, the one object found goes on in a register. Here, other than above,
 * "is it new" had better be a branch: it nearly always is, and so the next object is fetched at once, before its cell
 * has come. */
HAUL__HOT static haul_status chase(haul__discovery *d, uint64_t entry)
{
    const size_t limit = d->context->options.limits.objects, written = d->tail->written;
    haul_status status = HAUL_OK;
    entry = chase_list(d, entry, limit);
    while (status == HAUL_OK && d->found->objects < limit) {
        uint64_t next = 0;
        d->found->objects++;
        status = chase_one(d, entry, &next);
        if (status != HAUL_OK || !next)
            return status;
        entry = next;
        if (d->head != d->tail || d->tail->written != written || !d->kinds[ENTRY_KIND(entry)].plain)
            break;
    }
    if (status != HAUL_OK)
        return status;
    return haul__queue_push(d, ENTRY_ADDRESS(entry), ENTRY_KIND(entry), 1) ? HAUL_OK : HAUL_ERROR_MEMORY;
}

/* Is this entry, which was just read, all that is known to be left? */
HAUL__INLINE int is_alone(const haul__discovery *d, const candidates *c, uint64_t entry, size_t read)
{
    return d->head == d->tail && read == d->head->written && c->near_count + c->over_count == 0 &&
           d->kinds[ENTRY_KIND(entry)].plain;
}

HAUL__INLINE haul_status visit(haul__discovery *d, candidates *c, uint64_t entry)
{
    d->found->objects++;
    if (HAUL__LIKELY(d->kinds[ENTRY_KIND(entry)].steps != NULL))
        return visit_queued(d, c, ENTRY_ADDRESS(entry), ENTRY_KIND(entry));
    return visit_apart(d, ENTRY_ADDRESS(entry), ENTRY_KIND(entry));
}

/* Works on the head chunk until it has nothing left that is written, and no candidate waits. */
HAUL__HOT static haul_status drain_chunk(haul__discovery *d)
{
    haul__chunk *chunk = d->head;
    size_t read = chunk->read;
    haul_status status = HAUL_OK;
    uint64_t near[CANDIDATES], over[CANDIDATES];
    candidates c;
    c.near = near;
    c.over = over;
    c.near_count = c.over_count = 0;
    while (status == HAUL_OK && read < chunk->written) {
        uint64_t entry = chunk->entry[read];
        if (read % BURST == 0)
            prefetch_nodes(d, chunk, read);
        read++;
        if (HAUL__UNLIKELY(is_alone(d, &c, entry, read)))
            status = chase(d, entry);
        else
            status = visit(d, &c, entry);
        if (status == HAUL_OK && (c.near_count + c.over_count >= CELLS_AHEAD || read == chunk->written))
            status = settle(d, &c);
    }
    chunk->read = read;
    return status == HAUL_OK ? check_limits(d) : status;
}

static haul_status drain_queue(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    for (;;) {
        status = drain_chunk(d);
        if (status != HAUL_OK || d->head == d->tail)
            break;
        haul__queue_advance(d);
    }
    if (status == HAUL_OK)
        d->head->read = d->head->written = 0;
    return status;
}

/* Many pointers to single simple objects: the same in-line marking. */
HAUL__HOT static haul_status visit_single(haul__discovery *d, const haul__entry *entry, uint32_t kind)
{
    const uint64_t tag = (uint64_t)kind << 48;
    uint32_t near_starts = haul__near_starts(&d->kinds[kind]);
    haul_status status = HAUL_OK;
    size_t i;
    uint64_t near[CANDIDATES], over[CANDIDATES];
    candidates c;
    c.near = near;
    c.over = over;
    c.near_count = c.over_count = 0;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t value = load_word(entry->address + i * HAUL__WORD);
        if (TOO_HIGH(value))
            status = reach_one(d, value | tag);
        else
            collect(&c, d->map->flat, value, tag, near_starts);
        if (c.near_count + c.over_count >= CELLS_AHEAD && status == HAUL_OK)
            status = settle(d, &c);
    }
    return status == HAUL_OK ? settle(d, &c) : status;
}

/* What a pointer leads to, and its cell: strings must be read to be marked. */
HAUL__INLINE void prefetch_target(const haul__discovery *d, uintptr_t value)
{
    haul__prefetch(value);
    if (d->map->flat && value <= HAUL__HIGHEST)
        haul__prefetch(cell_place(d->map->flat[value >> HAUL__BLOCK_SHIFT], value));
}

/* The same for the pointers of an element, the first few of them. */
static void prefetch_targets(const haul__discovery *d, uintptr_t element, const haul__walk *walk)
{
    size_t i, count = walk->slot_count < 8 ? walk->slot_count : 8;
    for (i = 0; i < count; i++)
        prefetch_target(d, load_word(element + walk->slots[i].offset));
}

static haul_status visit_pointers(haul__discovery *d, const haul__entry *entry)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t address = entry->address + i * HAUL__WORD;
        if (i + TARGETS_AHEAD < entry->count)
            prefetch_target(d, load_word(address + TARGETS_AHEAD * HAUL__WORD));
        d->at_element = i;
        if (d->careful && d->sought.pointer == address)
            return haul__refuse(d, HAUL_ERROR_STALE, NULL, "this pointer has changed");
        if (d->careful)
            status = haul__meet_pointer(d, address, entry->slot, entry->level);
        if (status == HAUL_OK)
            status = haul__follow(d, entry->slot, entry->level, address, load_word(address), entry->self, i);
    }
    return status;
}

static haul_status visit_entry(haul__discovery *d, const haul__entry *entry)
{
    haul_status status = HAUL_OK;
    size_t i;
    d->found->objects++;
    if (entry->what == HAUL__POINTERS) {
        const haul__slot *slot = entry->slot;
        uint32_t kind = 0;
        int one = !d->careful && d->map->flat && entry->level + 1u == slot->levels && slot->target &&
                  slot->shape[entry->level].kind == HAUL_SHAPE_ONE;
        if (one) {
            status = haul__kind_of(d, slot->target, &kind);
            one = status == HAUL_OK && d->kinds[kind].simple.bytes != 0 && kind <= UINT16_MAX;
        }
        if (status != HAUL_OK)
            return status;
        return one ? visit_single(d, entry, kind) : visit_pointers(d, entry);
    }
    for (i = 0; entry->what == HAUL__OBJECTS && i < entry->count && status == HAUL_OK; i++) {
        if (i + ELEMENTS_AHEAD < entry->count)
            prefetch_targets(d, entry->address + (i + ELEMENTS_AHEAD) * entry->stride, d->kinds[entry->kind].walk);
        d->at_element = i;
        status = visit_element(d, entry->address + i * entry->stride, entry->kind);
    }
    return status;
}

/* Takes the next array: the last one found; when the way is recorded, the first one not visited, which then stays. */
static int next_entry(haul__discovery *d, haul__entry *entry)
{
    if (d->careful) {
        if (d->entry_read == d->entry_count)
            return 0;
        d->at_entry = d->entry_read;
        *entry = d->entries[d->entry_read++];
        return 1;
    }
    if (d->entry_count == 0)
        return 0;
    *entry = d->entries[--d->entry_count];
    return 1;
}

static haul_status drain(haul__discovery *d)
{
    haul__entry entry;
    haul_status status = drain_queue(d);
    while (status == HAUL_OK && next_entry(d, &entry)) {
        status = visit_entry(d, &entry);
        if (status == HAUL_OK)
            status = drain_queue(d);
        if (status == HAUL_OK)
            status = check_limits(d);
    }
    return status;
}

haul_status haul__follow_roots(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    for (d->root = 0; d->root < d->root_count && status == HAUL_OK; d->root++) {
        const haul_root *root = &d->roots[d->root];
        haul__entry entry;
        memset(&entry, 0, sizeof entry);
        entry.address = (uintptr_t)root->address;
        entry.count = root->count;
        entry.parent = SIZE_MAX;
        entry.index = d->root;
        entry.what = HAUL__OBJECTS;
        status = haul__kind_of(d, root->type, &entry.kind);
        if (status != HAUL_OK)
            break;
        entry.stride = d->kinds[entry.kind].walk->extent;
        d->at_entry = SIZE_MAX;
        d->at_element = 0;
        status = haul__reach(d, &entry);
        if (status == HAUL_OK)
            status = drain(d);
        if (status != HAUL_OK)
            break;
    }
    return status;
}

/* Discovery: marks everything that the roots reach.
 *
 * The slow obvious version: take an object off the worklist; for each of its pointers, if the object it leads to is not
 * marked, mark it and put it on the worklist. That is also what the code does. What makes it fast:
 *
 *   - An object is marked when it is found, not when it is visited, and "marked before" is one comparison of bits in
 *     the one cell that it lies in (push_one). Its entry is always written to the worklist; the worklist's end then
 *     advances by 0 or 1. There is no branch on "is it new", which no predictor could guess.
 *   - The worklist is first in, first out, so that the object NODES_AHEAD entries on can be fetched into the cache
 *     now. A pointer read from an object is not looked at at once: its cell is fetched, and it waits in a ring while
 *     CANDIDATES others go first (Cher et al. 2004). So no load waits for memory, as long as there is other work.
 *   - Whatever is not that simple (arrays, strings, objects across two cells, overlaps) goes the general way in
 *     follow.c, and costs only those who have it.
 *
 * Nothing is recorded of how an object was reached. When something is wrong, discovery runs again in a careful form
 * that records the way, and the error gets its path from there: good data pays nothing for it.
 */
#include "graph/discovery.h"

#define NODES_AHEAD 16u /* less: objects are not there yet; more: they are gone again */
#define CELLS_AHEAD 8u  /* in arrays of pointers */
#define CANDIDATES 32u  /* that wait; the ring has room for the pointers of one object more */
#define RING 64u

/* What the innermost loop works on, kept in registers: the table and the end of the worklist. Before anything else is
 * called it is put back (`leave`), afterwards fetched again (`enter`). */
typedef struct hot {
    haul__block **flat;
    uint64_t *out, *out_end;
    const haul__kind *kinds;
    size_t first, last;     /* of the ring, counted on and on */
    uint64_t ring[RING];    /* as worklist entries */
} hot;

HAUL__INLINE void enter(const haul__discovery *d, hot *h)
{
    h->flat = d->map->flat;
    h->out = d->tail->entry + d->tail->written;
    h->out_end = d->tail->entry + d->tail->capacity;
    h->kinds = d->kinds;
}

HAUL__INLINE void leave(haul__discovery *d, const hot *h)
{
    d->tail->written = (size_t)(h->out - d->tail->entry);
}

enum { PUSHED, NOT_HERE, NO_ROOM };

HAUL__INLINE uint64_t queue_entry(uintptr_t address, uint32_t kind)
{
    return (uint64_t)address | (uint64_t)kind << 48;
}

/* Marks one object of a simple kind that reaches over the end of its cell. 1: it is new; 0: all of it was marked
 * before, with the same slots; -1: anything else. */
static HAUL__NOINLINE int mark_over_two(haul__block **flat, uintptr_t address, const haul__kind *kind)
{
    haul__block *block = flat[address >> HAUL__BLOCK_SHIFT];
    haul__block *next_block = flat[(address + kind->bytes) >> HAUL__BLOCK_SHIFT];
    unsigned granule = haul__granule_in_cell(address);
    haul__cell *cell, *next;
    uint32_t low, high;
    uint64_t words, next_words, slots, next_slots, known, odd;
    if (!block || !next_block || granule == 0 || (address & (HAUL__GRANULE - 1)) != 0)
        return -1;
    cell = haul__cell_of(block, address);
    next = haul__cell_of(next_block, address + kind->bytes);
    low = kind->granules << granule;
    high = kind->granules >> (32 - granule);
    words = kind->words << (2 * granule);
    next_words = kind->words >> (64 - 2 * granule);
    slots = kind->slots << (2 * granule);
    next_slots = kind->slots >> (64 - 2 * granule);
    known = (uint64_t)0 - (uint64_t)(((cell->live & low) | (next->live & high)) != 0);
    odd = ((cell->live & low) ^ low) | ((next->live & high) ^ high) | ((cell->slots & words) ^ slots) |
          ((next->slots & next_words) ^ next_slots);
    if (HAUL__UNLIKELY(((odd & known) | (cell->aux & low) | (next->aux & high)) != 0))
        return -1;
    cell->live |= low;
    next->live |= high;
    cell->slots |= slots;
    next->slots |= next_slots;
    return known == 0;
}

/* Marks one object of a simple kind and appends it if it is new. NOT_HERE: go the general way. Three cases: nothing of
 * it is live yet; all of it is, with the same slots; anything else. The first two must not be told apart by a branch:
 * no predictor could guess it, and each wrong guess would stop the processor from running ahead to the next misses.
 * A start off the granules turns, rotated, into a number above every fitting one. */
HAUL__INLINE int push_one(hot *h, uintptr_t address, const haul__kind *kind, uint32_t number)
{
    uint64_t in_cell = address & (HAUL__CELL_BYTES - 1);
    haul__block *block;
    haul__cell *cell;
    unsigned granule;
    uint32_t granules, live;
    uint64_t slots, known, odd;
    if (HAUL__UNLIKELY(address - HAUL__LOWEST > HAUL__HIGHEST - HAUL__LOWEST - HAUL__CELL_BYTES))
        return NOT_HERE;
    if (HAUL__UNLIKELY((in_cell >> HAUL__GRANULE_SHIFT | in_cell << (64 - HAUL__GRANULE_SHIFT)) > kind->last_granule)) {
        int fresh = mark_over_two(h->flat, address, kind);
        if (fresh < 0)
            return NOT_HERE;
        *h->out = queue_entry(address, number);
        h->out += fresh;
        return HAUL__LIKELY(h->out < h->out_end) ? PUSHED : NO_ROOM;
    }
    block = h->flat[address >> HAUL__BLOCK_SHIFT];
    if (HAUL__UNLIKELY(!block))
        return NOT_HERE;
    cell = haul__cell_of(block, address);
    granule = (unsigned)(in_cell >> HAUL__GRANULE_SHIFT);
    granules = kind->granules << granule;
    slots = kind->slots << (2 * granule);
    live = cell->live & granules;
    known = (uint64_t)0 - (uint64_t)(live != 0);
    odd = ((live ^ granules) | ((cell->slots & kind->words << (2 * granule)) ^ slots)) & known;
    if (HAUL__UNLIKELY((odd | (cell->aux & granules)) != 0))
        return NOT_HERE;
    cell->live |= granules;
    cell->slots |= slots;
    *h->out = queue_entry(address, number);
    h->out += live == 0;
    return HAUL__LIKELY(h->out < h->out_end) ? PUSHED : NO_ROOM;
}

HAUL__INLINE uintptr_t load_word(uintptr_t address)
{
    uintptr_t value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

/* A pointer word off the grid has no slot bit; it goes to a list, and the blocks that it lies in are told. */
static haul_status note_odd(haul__discovery *d, uintptr_t address, uintptr_t value)
{
    haul__found *found = d->found;
    haul__block *block = haul__map_touch(d->map, address);
    haul__block *last = haul__map_touch(d->map, address + HAUL__WORD - 1);
    haul__side *side = block ? haul__map_side(d->map, block) : NULL;
    haul__side *last_side = last ? haul__map_side(d->map, last) : NULL;
    void *odd = found->odd;
    if (!side || !last_side ||
        !haul__grow(d->allocator, &odd, &found->odd_capacity, found->odd_count + 1, sizeof *found->odd))
        return HAUL_ERROR_MEMORY;
    side->has_odd = last_side->has_odd = 1;
    found->odd = odd;
    found->odd[found->odd_count].address = address;
    found->odd[found->odd_count++].value = value;
    return HAUL_OK;
}

static haul_status visit_slot(haul__discovery *d, uintptr_t element, const haul__slot *slot)
{
    uintptr_t address = element + slot->offset, value = load_word(address);
    haul_status status = HAUL_OK;
    if ((address & (HAUL__WORD - 1)) != 0)
        status = note_odd(d, address, value);
    if (status != HAUL_OK)
        return status;
    if (d->careful) {
        if (d->seek_pointer == address && !d->seek_count)
            return haul__refuse(d, HAUL_ERROR_STALE, slot, slot->index, "this pointer has changed");
        if (d->context->options.checked) {
            status = haul__meet(d, address, slot->target ? (const void *)slot->target : (const void *)d->context,
                                slot->unit, slot);
            if (status != HAUL_OK)
                return status;
        }
    }
    if (slot->flags & HAUL__SLOT_END)
        return HAUL_OK;
    return haul__follow(d, slot, 0, address, value, element + slot->self, slot->index);
}

static haul_status visit_parts(haul__discovery *d, uintptr_t element, const haul__walk *walk)
{
    size_t i;
    for (i = 0; i < walk->part_count; i++) {
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
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL, 0, "more than the limit of %zu objects", limits->objects);
    if (d->found->bytes > limits->bytes)
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL, 0, "more than the limit of %zu bytes", limits->bytes);
    return HAUL_OK;
}

static haul_status visit_element(haul__discovery *d, uintptr_t element, uint32_t kind)
{
    const haul__walk *walk = d->kinds[kind].walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->slot_count && status == HAUL_OK; i++)
        status = visit_slot(d, element, &walk->slots[i]);
    if (status == HAUL_OK && walk->part_count)
        status = visit_parts(d, element, walk);
    return status;
}

/* The general way for one slot, from inside the innermost loop. */
static HAUL__NOINLINE haul_status step_aside(haul__discovery *d, hot *h, uintptr_t element, const haul__slot *slot)
{
    haul_status status;
    leave(d, h);
    status = visit_slot(d, element, slot);
    enter(d, h);
    return status;
}

/* The general way for a pointer to one object. What is wrong with it gets its path in the second run. */
static HAUL__NOINLINE haul_status reach_one(haul__discovery *d, hot *h, uintptr_t address, uint32_t kind)
{
    haul__entry entry;
    haul_status status;
    leave(d, h);
    memset(&entry, 0, sizeof entry);
    entry.address = address;
    entry.count = 1;
    entry.stride = d->kinds[kind].walk->extent;
    entry.parent = SIZE_MAX;
    entry.kind = kind;
    entry.what = HAUL__OBJECTS;
    status = haul__reach(d, &entry);
    enter(d, h);
    return status;
}

static HAUL__NOINLINE int more_room(haul__discovery *d, hot *h)
{
    leave(d, h);
    if (!haul__queue_room(d))
        return 0;
    enter(d, h);
    return 1;
}

#define ENTRY_ADDRESS(entry) ((uintptr_t)((entry) & UINT64_C(0x0000ffffffffffff)))
#define ENTRY_KIND(entry) ((uint32_t)((entry) >> 48))

/* Lets candidates go until `most` are left. */
HAUL__INLINE haul_status settle(haul__discovery *d, hot *h, size_t most)
{
    while (h->last - h->first > most) {
        uint64_t entry = h->ring[h->first++ % RING];
        uint32_t number = ENTRY_KIND(entry);
        int outcome = push_one(h, ENTRY_ADDRESS(entry), &h->kinds[number], number);
        haul_status status = HAUL_OK;
        if (HAUL__LIKELY(outcome == PUSHED))
            continue;
        if (outcome == NOT_HERE)
            status = reach_one(d, h, ENTRY_ADDRESS(entry), number);
        else if (!more_room(d, h))
            status = HAUL_ERROR_MEMORY;
        if (status != HAUL_OK)
            return status;
    }
    return HAUL_OK;
}

/* Prefetches never fault: neither the pointer nor the block needs to be good. */
HAUL__INLINE void prefetch_cell(const hot *h, uintptr_t address)
{
    uintptr_t block = (uintptr_t)h->flat[address >> HAUL__BLOCK_SHIFT];
    haul__prefetch_write(block + ((address >> (HAUL__CELL_SHIFT - 4)) & ((HAUL__CELLS - 1) << 4)));
}

HAUL__INLINE void prefetch_node(uintptr_t address)
{
    haul__prefetch_once(address);
    haul__prefetch_once(address + 32);
}

/* An object from the queue, pointer by pointer. `alone`: there is little else to do, so fetch what it leads to now. */
HAUL__INLINE haul_status visit_queued(haul__discovery *d, hot *h, uintptr_t element, uint32_t number, int alone)
{
    const haul__kind *kind = &h->kinds[number];
    const haul__step *step = kind->steps, *end = step + kind->step_count;
    haul_status status;
    size_t i;
    for (i = 0; step < end; step++, i++) {
        uintptr_t value;
        if (HAUL__UNLIKELY(!step->one)) {
            status = step_aside(d, h, element, &h->kinds[number].walk->slots[i]);
            if (status != HAUL_OK)
                return status;
            continue;
        }
        value = load_word(element + step->offset);
        if (!value)
            continue;
        if (HAUL__UNLIKELY(value > HAUL__HIGHEST)) {
            status = reach_one(d, h, value, step->kind);
            if (status != HAUL_OK)
                return status;
            continue;
        }
        if (alone)
            prefetch_node(value);
        prefetch_cell(h, value);
        h->ring[h->last++ % RING] = queue_entry(value, step->kind);
        if (HAUL__UNLIKELY(h->last - h->first == RING)) {
            status = settle(d, h, CANDIDATES);
            if (status != HAUL_OK)
                return status;
        }
    }
    return HAUL_OK;
}

/* An object that the innermost loop is not made for: steps not worked out yet, or parts. */
static HAUL__NOINLINE haul_status visit_apart(haul__discovery *d, hot *h, uintptr_t element, uint32_t number)
{
    haul_status status;
    leave(d, h);
    status = haul__kind_steps(d, number);
    if (status == HAUL_OK)
        status = visit_element(d, element, number);
    enter(d, h);
    return status;
}

HAUL__INLINE size_t written_in(const haul__discovery *d, const hot *h, const haul__chunk *chunk)
{
    return chunk == d->tail ? (size_t)(h->out - chunk->entry) : chunk->written;
}

/* Works on the head chunk until it has nothing left that is written, and no candidate waits. */
static haul_status drain_chunk(haul__discovery *d)
{
    haul__chunk *chunk = d->head;
    size_t limit = d->context->options.limits.objects, read = chunk->read;
    haul_status status = HAUL_OK;
    hot h;
    h.first = h.last = 0;
    enter(d, &h);
    while (status == HAUL_OK) {
        size_t written = written_in(d, &h, chunk);
        uint64_t entry;
        if (HAUL__UNLIKELY(read == written)) {
            if (h.first == h.last)
                break;
            status = settle(d, &h, 0);
            continue;
        }
        entry = chunk->entry[read];
        if (read + NODES_AHEAD < written)
            prefetch_node(ENTRY_ADDRESS(chunk->entry[read + NODES_AHEAD]));
        if (HAUL__UNLIKELY(++d->found->objects > limit))
            break;
        if (HAUL__UNLIKELY(!h.kinds[ENTRY_KIND(entry)].steps || !h.flat))
            status = visit_apart(d, &h, ENTRY_ADDRESS(entry), ENTRY_KIND(entry));
        else
            status = visit_queued(d, &h, ENTRY_ADDRESS(entry), ENTRY_KIND(entry), written - read < NODES_AHEAD);
        read++;
        if (status == HAUL_OK)
            status = settle(d, &h, CANDIDATES);
    }
    leave(d, &h);
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

/* Many pointers to single simple objects: the same in-line marking, looking ahead in the array itself. */
static HAUL__NOINLINE haul_status visit_single(haul__discovery *d, const haul__entry *entry, uint32_t kind)
{
    haul_status status = HAUL_OK;
    size_t i;
    hot h;
    h.first = h.last = 0;
    enter(d, &h);
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t value = load_word(entry->address + i * HAUL__WORD);
        int outcome;
        if (i + CELLS_AHEAD < entry->count) {
            uintptr_t ahead = load_word(entry->address + (i + CELLS_AHEAD) * HAUL__WORD);
            if (HAUL__LIKELY(ahead <= HAUL__HIGHEST))
                prefetch_cell(&h, ahead);
        }
        if (!value)
            continue;
        outcome = push_one(&h, value, &h.kinds[kind], kind);
        if (outcome == NOT_HERE)
            status = reach_one(d, &h, value, kind);
        else if (outcome == NO_ROOM && !more_room(d, &h))
            status = HAUL_ERROR_MEMORY;
    }
    leave(d, &h);
    return status;
}

static haul_status visit_pointers(haul__discovery *d, const haul__entry *entry)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t address = entry->address + i * HAUL__WORD;
        d->at_element = i;
        if (d->careful && d->seek_pointer == address && !d->seek_count)
            return haul__refuse(d, HAUL_ERROR_STALE, NULL, i, "this pointer has changed");
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
            one = status == HAUL_OK && d->kinds[kind].bytes != 0 && kind <= UINT16_MAX;
        }
        if (status != HAUL_OK)
            return status;
        return one ? visit_single(d, entry, kind) : visit_pointers(d, entry);
    }
    for (i = 0; entry->what == HAUL__OBJECTS && i < entry->count && status == HAUL_OK; i++) {
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

static haul_status follow_roots(haul__discovery *d)
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

static void close_discovery(haul__discovery *d)
{
    size_t i;
    for (i = 0; i < d->kind_count; i++)
        haul__release(d->allocator, d->kinds[i].steps, d->kinds[i].walk->slot_count * sizeof(haul__step));
    haul__release(d->allocator, d->kinds, d->kind_capacity * sizeof *d->kinds);
    haul__release(d->allocator, d->kind_hash, d->kind_hash_capacity * sizeof *d->kind_hash);
    haul__worklist_close(d);
}

/* The context's empty map if it has one, else a new one. */
static void take_map(haul_context *context, haul__found *found)
{
    memset(found, 0, sizeof *found);
    if (context->has_warm)
        found->map = context->warm;
    else
        haul__map_open(&found->map, &context->allocator);
    context->has_warm = 0;
}

void haul__found_drop(haul_context *context, haul__found *found)
{
    const haul_allocator *allocator = &context->allocator;
    haul__release(allocator, found->guards, found->guard_capacity * sizeof *found->guards);
    haul__release(allocator, found->calls, found->call_capacity * sizeof *found->calls);
    haul__release(allocator, found->odd, found->odd_capacity * sizeof *found->odd);
    haul__release(allocator, found->empty, found->empty_capacity * sizeof *found->empty);
    if (context->has_warm) {
        haul__map_close(&found->map);
    } else {
        haul__map_clear(&found->map);
        context->warm = found->map;
        context->has_warm = 1;
    }
    memset(found, 0, sizeof *found);
}

static haul_status discover(haul_context *context, const haul_root *roots, size_t count, haul__found *found,
                            int careful, uintptr_t seek_pointer, uintptr_t seek_count)
{
    haul__discovery d;
    haul_status status;
    memset(&d, 0, sizeof d);
    d.context = context;
    d.allocator = &context->allocator;
    d.found = found;
    d.roots = roots;
    d.root_count = count;
    d.careful = careful;
    d.seek_pointer = seek_pointer;
    d.seek_count = seek_count;
    d.at_entry = SIZE_MAX;
    take_map(context, found);
    d.map = &found->map;
    status = haul__queue_open(&d) ? follow_roots(&d) : HAUL_ERROR_MEMORY;
    close_discovery(&d);
    if (status != HAUL_OK)
        haul__found_drop(context, found);
    if (status == HAUL_ERROR_MEMORY)
        haul__fail(&context->error, status, "out of memory in discovery");
    return status;
}

/* Runs again to learn the path. What the second run says counts, unless it has no memory to say it. */
static haul_status again_with_path(haul_context *context, const haul_root *roots, size_t count, haul_status status)
{
    haul_error first = context->error;
    haul__found found;
    haul_status second = discover(context, roots, count, &found, 1, 0, 0);
    if (second == HAUL_OK)
        haul__found_drop(context, &found);
    if (second == HAUL_OK || second == HAUL_ERROR_MEMORY) {
        context->error = first;
        return status;
    }
    return second;
}

haul_status haul__discover(haul_context *context, const haul_root *roots, size_t count, haul__found *found)
{
    int careful = context->options.checked || context->options.readable;
    haul_status status = discover(context, roots, count, found, careful, 0, 0);
    if (!careful && (status == HAUL_ERROR_GRAPH || status == HAUL_ERROR_LIMIT))
        return again_with_path(context, roots, count, status);
    return status;
}

/* What has changed may stop this run before it comes to the place; where it stops is as good a path. What
 * the roots no longer reach has none: the root stands for it. */
static void explain(haul_context *context, const haul_root *roots, size_t count, uintptr_t pointer,
                    uintptr_t count_address)
{
    haul_error first = context->error;
    haul__found found;
    haul_status status = discover(context, roots, count, &found, 1, pointer, count_address);
    if (status == HAUL_OK) {
        haul__found_drop(context, &found);
        haul__set_path(context->error.path, "root");
    }
    memcpy(first.path, context->error.path, sizeof first.path);
    context->error = first;
}

void haul__explain_pointer(haul_context *context, const haul_root *roots, size_t count, uintptr_t address)
{
    explain(context, roots, count, address, 0);
}

void haul__explain_count(haul_context *context, const haul_root *roots, size_t count, uintptr_t address)
{
    explain(context, roots, count, 0, address);
}

/* An ordered arena straight from the source: for a graph that is packed once, as a save does.
 *
 * The slow obvious version is that of ordered.c: a compacted arena, put in order by clusters. It
 * sorts all ranges and translates each pointer twice, and it can do it again and again.
 *
 * Most graphs need none of that. If ranges do not overlap and every byte of them travels, each
 * range is a cluster, and its turn is its place in the log. So the walk gives places as it logs
 * (layout/order_log.h). A sum tells such a graph: its ranges have as many bytes as layout has
 * counted live ones. A byte in two ranges, or one that is not live, would make the sum larger.
 *
 * The arena is then written front to back, range by range. The walk has found new ranges in the
 * order in which their pointers stand in the arena. So a pointer mostly leads to the next range
 * that no pointer has led to yet, and one comparison tells. Any other pointer (to a range that was
 * found before, or of a field that the walk follows apart) is looked up in a table, which is made
 * when the first such pointer comes. Where ranges lie close together, its entries stand for steps
 * of addresses, of no more bytes than the shortest range has: then at most one range begins in a
 * step, and neighbours have entries side by side. Else it is a hash of addresses. Where a part is
 * begun in the middle, the next range is found by a scan, once.
 *
 * A pointer that leads to no range's beginning means that the graph is another one after all; then
 * all is done again by ordered.c.
 */
#include "pack/straight.h"

#include "context/pulse.h"
#include "map/bits.h"
#include "map/forms.h"

#define RANGES_AHEAD 24u   /* a range this far ahead is fetched */
#define POINTERS_AHEAD 8u  /* what the pointers of a range this far ahead lead to is looked up */
#define LINES_AHEAD 4u     /* of a range; the hardware fetches more */
#define IN_LINE_BYTES 256u /* they are copied in line */
#define STEPS_PER_RANGE 4u /* steps for each range */
#define STEP_MOST ((size_t)1 << 31)

HAUL__INLINE size_t bytes_of(const haul__reached *range)
{
    return (size_t)(range->end - range->first);
}

HAUL__INLINE uint64_t place_of(const haul__reached *range)
{
    return (uint64_t)range->turn << HAUL__GRANULE_SHIFT;
}

/* ---- Ranges by address. */

HAUL__INLINE size_t landing_at(const haul__straight *s, uintptr_t address)
{
    return (size_t)(haul__hash(address) >> 32) & (s->landing_count - 1);
}

/* An address below the first one has a high number. */
HAUL__INLINE size_t step_at(const haul__straight *s, uintptr_t address)
{
    return (address - s->lowest) >> s->step_shift;
}

HAUL__INLINE int has_index(const haul__straight *s)
{
    return s->landings || s->steps;
}

/* An empty table. 0: there is no memory. */
static int take_landings(haul__straight *s, const haul_allocator *allocator)
{
    for (s->landing_count = 64; s->landing_count < 2 * s->log.reached.count;)
        s->landing_count *= 2;
    s->landings = haul__allocate_zeroed(allocator, s->landing_count * sizeof *s->landings);
    return s->landings != NULL;
}

static void release_landings(haul__straight *s, const haul_allocator *allocator)
{
    haul__release(allocator, s->landings, s->landing_count * sizeof *s->landings);
    s->landings = NULL;
}

static void release_steps(haul__straight *s, const haul_allocator *allocator)
{
    haul__release(allocator, s->steps, s->step_count * sizeof *s->steps);
    s->steps = NULL;
}

/* ---- Places. */

static int suits(const haul_plan *plan, const haul__order_log *log)
{
    const haul__found *found = &plan->found;
    return log->reached.count > 0 && log->reached.count < UINT32_MAX && !log->references.count &&
           !found->special_count && !found->empty_count && !found->room_before &&
           !found->room_behind && !found->map.has_exclusions;
}

/* ---- Ranges that were logged twice. */

static int is_same(const haul__reached *a, const haul__reached *b)
{
    return a->first == b->first && a->end == b->end;
}

#define TWIN_NS 128u /* that a search for a twin takes, about */

/* Of a range that was logged twice, the first entry stays, with the demands of both. */
static haul_status drop_twins(haul__straight *s)
{
    haul__reached *ranges = s->log.reached.at;
    size_t i, left = 0;
    for (i = 0; i < s->log.reached.count; i++) {
        size_t at = landing_at(s, ranges[i].first);
        const haul_status status = haul__pulse_behind(s->plan->context, i, TWIN_NS);
        if (status != HAUL_OK)
            return status;
        while (s->landings[at].first && (s->landings[at].first != ranges[i].first ||
                                         !is_same(&ranges[s->landings[at].number], &ranges[i])))
            at = (at + 1) & (s->landing_count - 1);
        if (s->landings[at].first) {
            haul__add_demands(&ranges[s->landings[at].number], &ranges[i]);
            continue;
        }
        s->landings[at].first = ranges[i].first;
        s->landings[at].number = (uint32_t)left;
        ranges[left] = ranges[i];
        ranges[left].turn = (uint32_t)left;
        left++;
    }
    s->log.reached.count = left;
    return HAUL_OK;
}

static haul_status find_twins(haul__straight *s, const haul_allocator *allocator)
{
    haul_status status;
    if (!take_landings(s, allocator))
        return haul__fail(&s->plan->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for an ordered arena");
    status = drop_twins(s);
    release_landings(s, allocator);
    return status;
}

void haul__straight_give_up(haul__straight *s)
{
    size_t i;
    for (i = 0; i < s->log.reached.count; i++)
        s->log.reached.at[i].turn = (uint32_t)i;
    s->bytes = 0;
}

#define PLACE_NS 8u /* that a range takes, about */

/* Gives all ranges places, in one pass. */
static haul_status place_ranges(haul_context *context, haul__order_log *log)
{
    haul_status status = HAUL_OK;
    size_t i, end;
    haul__begin_places(log);
    for (i = 0; i < log->reached.count && status == HAUL_OK; status = haul__pulse(context))
        for (end = haul__pulse_end(i, log->reached.count, PLACE_NS); i < end; i++)
            haul__give_place(log, &log->reached.at[i]);
    return status;
}

/* Takes the places of the log. 0: some ranges are not apart, or not all of their bytes are live, or
 * there is no room for them; then their turns are those of finding. */
static int take_places(haul__straight *s, const haul_plan *plan)
{
    const haul__order_log *log = &s->log;
    if (log->bytes == plan->placed.bytes && log->places >> HAUL__GRANULE_SHIFT <= UINT32_MAX &&
        log->end <= SIZE_MAX / 4) {
        s->bytes = log->end;
        s->alignment = (size_t)1 << log->shift;
        return 1;
    }
    haul__straight_give_up(s);
    return 0;
}

haul_status haul__straight_open(haul__straight *s, haul_plan *plan)
{
    haul_status status = HAUL_OK;
    s->plan = plan;
    if (!suits(plan, &s->log)) {
        haul__straight_give_up(s);
        return HAUL_OK;
    }
    if (!s->log.gives_places) /* of a second walk */
        status = place_ranges(plan->context, &s->log);
    if (status != HAUL_OK || take_places(s, plan) || s->log.known.count == 0)
        return status;
    status = find_twins(s, &plan->context->allocator);
    if (status == HAUL_OK)
        status = place_ranges(plan->context, &s->log);
    if (status == HAUL_OK)
        (void)take_places(s, plan);
    return status;
}

void haul__straight_close(haul__straight *s, haul_context *context)
{
    release_landings(s, &context->allocator);
    release_steps(s, &context->allocator);
    haul__order_log_close(context, &s->log);
    memset(s, 0, sizeof *s);
}

/* Finds steps that no two ranges begin in. 0: there would be too many of them, for the ranges lie
 * far apart. */
static int choose_steps(haul__straight *s)
{
    const haul__reached *ranges = s->log.reached.at;
    uintptr_t highest = 0;
    size_t shortest = STEP_MOST, i;
    s->lowest = UINTPTR_MAX;
    for (i = 0; i < s->log.reached.count; i++) {
        const size_t bytes = bytes_of(&ranges[i]);
        s->lowest = ranges[i].first < s->lowest ? ranges[i].first : s->lowest;
        highest = ranges[i].first > highest ? ranges[i].first : highest;
        shortest = bytes < shortest ? bytes : shortest;
    }
    for (s->step_shift = 0; shortest >> s->step_shift > 1;)
        s->step_shift++;
    s->step_count = step_at(s, highest) + 1;
    return s->step_count / STEPS_PER_RANGE <= s->log.reached.count;
}

/* 0: there is no memory. */
static int make_steps(haul__straight *s)
{
    const haul__reached *ranges = s->log.reached.at;
    const size_t count = s->log.reached.count;
    size_t i;
    s->steps =
        haul__allocate_zeroed(&s->plan->context->allocator, s->step_count * sizeof *s->steps);
    for (i = 0; i < count && s->steps; i++) {
        haul__range_step *step = &s->steps[step_at(s, ranges[i].first)];
        if (i + RANGES_AHEAD < count)
            haul__prefetch_write(&s->steps[step_at(s, ranges[i + RANGES_AHEAD].first)]);
        step->first = (uint32_t)ranges[i].first;
        step->place = ranges[i].turn;
    }
    return s->steps != NULL;
}

static int make_landings(haul__straight *s)
{
    const haul__reached *ranges = s->log.reached.at;
    const size_t count = s->log.reached.count;
    size_t i, at;
    if (!take_landings(s, &s->plan->context->allocator))
        return 0;
    for (i = 0; i < count; i++) {
        if (i + RANGES_AHEAD < count)
            haul__prefetch_write(&s->landings[landing_at(s, ranges[i + RANGES_AHEAD].first)]);
        for (at = landing_at(s, ranges[i].first); s->landings[at].first;)
            at = (at + 1) & (s->landing_count - 1);
        s->landings[at].first = ranges[i].first;
        s->landings[at].number = (uint32_t)i;
        s->landings[at].place = ranges[i].turn;
    }
    return 1;
}

int haul__straight_index(haul__straight *s)
{
    return has_index(s) || (choose_steps(s) ? make_steps(s) : make_landings(s));
}

/* The place of the range that begins at an address, by a table; 0: none does. */
HAUL__INLINE uint64_t look_up(const haul__straight *s, uintptr_t address)
{
    size_t at;
    if (HAUL__LIKELY(s->steps != NULL)) {
        at = step_at(s, address);
        return at < s->step_count && s->steps[at].first == (uint32_t)address
                   ? (uint64_t)s->steps[at].place << HAUL__GRANULE_SHIFT
                   : 0;
    }
    at = landing_at(s, address);
    while (s->landings[at].first && s->landings[at].first != address)
        at = (at + 1) & (s->landing_count - 1);
    return s->landings[at].first ? (uint64_t)s->landings[at].place << HAUL__GRANULE_SHIFT : 0;
}

uint64_t haul__straight_find(const haul__straight *s, uintptr_t address)
{
    size_t i;
    if (has_index(s))
        return look_up(s, address);
    for (i = 0; i < s->log.reached.count; i++)
        if (s->log.reached.at[i].first == address)
            return place_of(&s->log.reached.at[i]);
    return 0;
}

static int is_placed_by(const void *list, size_t i, uint64_t place)
{
    return place_of((const haul__reached *)list + i) <= place;
}

/* The place that a pointer leads to, which is not the next new range. 0: there is none, or it takes
 * the table to tell. */
static HAUL__NOINLINE uint64_t place_by_search(const haul__straight *s, haul__front *c,
                                               uintptr_t value)
{
    const haul__reached *ranges = s->log.reached.at;
    size_t i;
    if (has_index(s)) {
        const uint64_t place = look_up(s, value);
        if (c->next < s->log.reached.count && place >= place_of(&ranges[c->next]))
            c->next = haul__search(ranges, c->next, s->log.reached.count, place, is_placed_by);
        return place;
    }
    for (i = c->next; i < s->log.reached.count && c->scanned < s->log.reached.count; i++) {
        c->scanned++;
        if (ranges[i].first == value) {
            c->next = i + 1;
            return place_of(&ranges[i]);
        }
    }
    return 0;
}

/* ---- Filling. */

void haul__straight_begin(const haul__straight *s, uint64_t at, haul__front *c)
{
    const haul__reached *ranges = s->log.reached.at;
    size_t range = haul__search(ranges, 0, s->log.reached.count, at, is_placed_by);
    if (range > 0 && place_of(&ranges[range - 1]) + bytes_of(&ranges[range - 1]) > at)
        range--;
    c->range = c->next = range;
    c->scanned = 0;
}

const void *haul__straight_source(const haul__straight *s, const haul__front *c, uint64_t first,
                                  uint64_t end)
{
    const haul__reached *range = &s->log.reached.at[c->range];
    uintptr_t from, at;
    if (c->range == s->log.reached.count || first < place_of(range) ||
        end - place_of(range) > bytes_of(range))
        return NULL;
    from = range->first + (uintptr_t)(first - place_of(range));
    for (at = from; at < from + (end - first);
         at = haul__block_address(haul__block_number(at)) + HAUL__BLOCK_BYTES) {
        const haul__block *block =
            haul__map_find_apart(&s->plan->found.map, haul__block_number(at));
        if (block->form != HAUL__FULL && block->form != HAUL__BARE)
            return NULL;
    }
    return (const void *)from;
}

void haul__straight_pass(const haul__straight *s, haul__front *c, uint64_t end)
{
    const haul__reached *range = &s->log.reached.at[c->range];
    c->range += end - place_of(range) == bytes_of(range);
}

/* What a part is written by. */
typedef struct filler {
    const haul__straight *s;
    const haul__map *map;
    const uintptr_t *flat;
    haul__front c;
    unsigned char *arena;
    uint64_t *bitmap, base;
} filler;

/* The type of an object that is the range, in a block of such objects; else NULL. */
HAUL__INLINE const haul__simple *simple_of(const filler *f, const haul__block *block,
                                           const haul__reached *range)
{
    const haul__simple *simple;
    const unsigned cell = haul__cell_number(range->first);
    if (!haul__is_uniform(block))
        return NULL;
    simple = haul__simple_of(f->map, block);
    if (simple->bytes != bytes_of(range) ||
        !(block->words ? haul__word_starts(block)[cell] >> haul__word_in_cell(range->first) & 1
                       : haul__starts(block)[cell] >> haul__granule_in_cell(range->first) & 1))
        return NULL;
    return simple;
}

/* Translates the words of `slots`, which begin at `at` in the arena. 0: one leads to no range. */
HAUL__INLINE int translate(filler *f, uint64_t at, uint64_t slots)
{
    const haul__straight *s = f->s;
    const haul__reached *ranges = s->log.reached.at;
    const uint64_t word = at >> HAUL__WORD_SHIFT;
    const unsigned shift = (unsigned)(word % 64);
    f->bitmap[word / 64] |= slots << shift;
    if (shift && slots >> (64 - shift))
        f->bitmap[word / 64 + 1] |= slots >> (64 - shift);
    for (; slots; slots &= slots - 1) {
        unsigned char *to = f->arena + at + ((size_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
        uintptr_t value = haul__load_word(to);
        uint64_t place;
        if (!value)
            continue;
        if (f->c.next < s->log.reached.count && ranges[f->c.next].first == value)
            place = place_of(&ranges[f->c.next++]);
        else if (!s->steps || f->c.next == s->log.reached.count ||
                 (place = look_up(s, value)) >= place_of(&ranges[f->c.next]))
            place = place_by_search(s, &f->c, value);
        if (HAUL__UNLIKELY(!place))
            return 0;
        value = (uintptr_t)(f->base + place);
        memcpy(to, &value, sizeof value);
    }
    return 1;
}

/* Any bytes: cell by cell. 0, too: the words are on the grid in the source alone, so the bitmap
 * cannot tell them. */
static int translate_cells(filler *f, uintptr_t from, size_t bytes, uint64_t to)
{
    const uintptr_t end = from + bytes;
    uintptr_t at = from, next;
    for (; at < end; at = next) {
        const haul__block *block = haul__map_find_in(f->map, f->flat, at);
        uint64_t slots;
        if (block->form == HAUL__FULL || block->form == HAUL__BARE) {
            next = haul__block_address(haul__block_number(at)) + HAUL__BLOCK_BYTES;
            continue;
        }
        next = (at & ~(uintptr_t)(HAUL__CELL_BYTES - 1)) + HAUL__CELL_BYTES;
        slots = haul__placed_slots(f->map, block, haul__cell_number(at)) >> haul__word_in_cell(at);
        slots &= haul__first_words((at % HAUL__WORD + (size_t)(end - at) + HAUL__WORD - 1) >>
                                   HAUL__WORD_SHIFT);
        if (slots && (from % HAUL__WORD || !translate(f, to + (at - from), slots)))
            return 0;
    }
    return 1;
}

/* A single object as a whole. A call of memcpy takes longer for few bytes. */
HAUL__INLINE void copy_object(const filler *f, uintptr_t from, size_t bytes, uint64_t to)
{
    if (HAUL__LIKELY(bytes <= IN_LINE_BYTES))
        haul__copy_few(f->arena + to, (const unsigned char *)from, bytes);
    else
        memcpy(f->arena + to, (const void *)from, bytes);
}

/* `bytes` bytes of a range, from its byte `skipped` on. */
HAUL__INLINE int fill_range(filler *f, const haul__reached *range, size_t skipped, size_t bytes,
                            uint64_t to)
{
    const uintptr_t from = range->first + skipped;
    const haul__block *block = haul__map_find_in(f->map, f->flat, range->first);
    const haul__simple *simple = simple_of(f, block, range);
    size_t word;
    if (HAUL__LIKELY(simple && bytes == simple->bytes && bytes <= 64 * HAUL__WORD)) {
        copy_object(f, from, bytes, to);
        return translate(f, to, simple->slots);
    }
    memcpy(f->arena + to, (const void *)from, bytes);
    if (block->form == HAUL__FULL || block->form == HAUL__BARE) {
        if (haul__block_number(range->first) == haul__block_number(from + bytes - 1))
            return 1;
        return translate_cells(f, from, bytes, to);
    }
    if (!simple)
        return translate_cells(f, from, bytes, to);
    for (word = 0; word << HAUL__WORD_SHIFT < bytes; word += 64) {
        const uint64_t slots = haul__slots_from(simple, (skipped >> HAUL__WORD_SHIFT) + word) &
                               haul__first_words((bytes >> HAUL__WORD_SHIFT) - word);
        if (slots && !translate(f, to + (word << HAUL__WORD_SHIFT), slots))
            return 0;
    }
    return 1;
}

/* Fetches what a pointer is looked up in. */
HAUL__INLINE void fetch_place(const haul__straight *s, uintptr_t value)
{
    if (HAUL__LIKELY(s->steps != NULL))
        haul__prefetch((uintptr_t)s->steps + step_at(s, value) * sizeof *s->steps);
    else
        haul__prefetch(&s->landings[landing_at(s, value)]);
}

/* Fetches a range, and what the pointers of a nearer one are looked up in. */
HAUL__INLINE void fetch(const filler *f, size_t number)
{
    const haul__straight *s = f->s;
    const haul__reached *ranges = s->log.reached.at;
    size_t at;
    if (number + RANGES_AHEAD < s->log.reached.count) {
        const haul__reached *range = &ranges[number + RANGES_AHEAD];
        for (at = 0; at < LINES_AHEAD * HAUL__LINE && at < bytes_of(range); at += HAUL__LINE)
            haul__prefetch(range->first + at);
        haul__prefetch(range->first + (at < bytes_of(range) ? at : bytes_of(range)) - 1);
    }
    if (has_index(s) && number + POINTERS_AHEAD < s->log.reached.count) {
        const haul__reached *range = &ranges[number + POINTERS_AHEAD];
        const haul__simple *simple =
            simple_of(f, haul__map_find_in(f->map, f->flat, range->first), range);
        uint64_t slots;
        for (slots = simple ? simple->slots : 0; slots; slots &= slots - 1)
            fetch_place(s,
                        haul__load_word((const void *)(range->first + ((size_t)haul__lowest64(slots)
                                                                       << HAUL__WORD_SHIFT))));
    }
}

HAUL__HOT static int fill(filler *f, uint64_t at, uint64_t end)
{
    const haul__straight *s = f->s;
    const haul__reached *ranges = s->log.reached.at;
    while (at < end) {
        const size_t number = f->c.range;
        const haul__reached *range = &ranges[number];
        uint64_t place, behind;
        if (number == s->log.reached.count || place_of(range) >= end) {
            memset(f->arena + at, 0, (size_t)(end - at));
            return 1;
        }
        fetch(f, number);
        place = place_of(range);
        behind = place + bytes_of(range);
        if (at < place) {
            memset(f->arena + at, 0, (size_t)(place - at));
            at = place;
        }
        if (!fill_range(f, range, (size_t)(at - place),
                        (size_t)((behind < end ? behind : end) - at), at))
            return 0;
        if (behind > end)
            return 1;
        f->c.range++;
        at = behind;
    }
    return 1;
}

haul__filled haul__straight_fill(const haul__straight *s, haul__front *c, const uintptr_t *flat,
                                 uint64_t first, uint64_t end, uint64_t base, unsigned char *arena,
                                 uint64_t *bitmap)
{
    const size_t word = (size_t)(first >> HAUL__WORD_SHIFT) / 64,
                 words = ((size_t)((end - first) >> HAUL__WORD_SHIFT) + 63) / 64;
    filler f;
    f.s = s;
    f.map = &s->plan->found.map;
    f.flat = flat;
    f.c = *c;
    f.arena = arena;
    f.bitmap = bitmap;
    f.base = base;
    memset(bitmap + word, 0, words * sizeof *bitmap);
    if (!fill(&f, first, end))
        return has_index(s) ? HAUL__FILL_IS_CROOKED : HAUL__FILL_WANTS_INDEX;
    *c = f.c;
    return HAUL__FILLED;
}

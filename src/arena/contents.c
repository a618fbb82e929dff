/* What a shipment carries of an arena: its bytes from the base on, and which of them are pointers.
 *
 * A typed arena knows that already. For an untyped one a plan tells: what it has found in blocks
 * and cells becomes a bit a word, as typed allocation would have written it. From then on the two
 * are the same.
 *
 * What a bit a word does not tell is listed once, when the arena is shipped: bytes that do not come
 * back, those that are others there, and pointers off the grid. What types leave out is zeros on a
 * device, as in any packed graph; what does not travel back, or not at all, goes there as it lies.
 */
#include "arena/arena.h"
#include "base/sort.h"
#include "map/exclusions.h"
#include "pack/plan.h"
#include "type/elements.h"

static haul_status out_of_memory(haul_error *error)
{
    return haul__fail(error, HAUL_ERROR_MEMORY, "no memory to note what is shipped");
}

size_t haul__contents_bitmap_bytes(const haul__contents *contents)
{
    return (contents->bytes / sizeof(void *) + 63) / 64 * sizeof(uint64_t);
}

/* ---- Bytes that do not come back. */

static haul__kept_bytes *add_kept(haul__contents *c, size_t at, size_t bytes)
{
    haul__kept_bytes *added;
    if (!haul__grow(&c->arena->context->allocator, (void **)&c->kept, &c->kept_capacity,
                    c->kept_count + 1, sizeof *c->kept))
        return NULL;
    added = &c->kept[c->kept_count++];
    memset(added, 0, sizeof *added);
    added->at = at;
    added->bytes = bytes;
    return added;
}

int haul__contents_keep(haul__contents *c, size_t at, size_t bytes)
{
    return add_kept(c, at, bytes) != NULL;
}

int haul__contents_exclude(haul__contents *c, size_t at, size_t bytes)
{
    haul__kept_bytes *added = add_kept(c, at, bytes);
    if (added)
        added->is_data = 1;
    return added != NULL;
}

int haul__contents_replace(haul__contents *c, size_t at, size_t bytes, const void *becomes)
{
    haul__kept_bytes *added = add_kept(c, at, bytes);
    if (!added)
        return 0;
    added->is_edited = 1;
    if (becomes)
        memcpy(added->becomes, becomes, bytes);
    return 1;
}

static int keep_gaps(haul__contents *c, const haul__walk *walk, size_t at)
{
    size_t gap = 0, bytes;
    for (; haul__next_gap(walk, &gap, &bytes); gap += bytes)
        if (!haul__contents_replace(c, at + gap, bytes, NULL))
            return 0;
    return 1;
}

static int keep_barred(haul__contents *c, const haul__walk *walk, size_t at)
{
    size_t i;
    for (i = 0; i < walk->barred_count; i++)
        if ((walk->barred[i].bars & HAUL__UNRETURNED) &&
            !haul__contents_exclude(c, at + walk->barred[i].offset, walk->barred[i].bytes))
            return 0;
    return 1;
}

static int keep_tails(haul__contents *c, const haul__special *run)
{
    size_t offset = 0, i;
    if ((haul__tail_exclusions(haul__type_walk(run->type), &offset) & HAUL__UNRETURNED) == 0)
        return 1;
    for (i = 0; i < run->count; i++)
        if (!haul__contents_exclude(c, run->at + i * run->stride + offset,
                                    haul__type_walk(run->type)->extent - offset + run->tail))
            return 0;
    return 1;
}

static int keep_special(haul__contents *c, const haul__special *run)
{
    const haul__walk *walk;
    size_t at;
    int is_tidy = haul__is_tidy(haul__type_walk(run->type));
    haul__flat flat;
    haul__flat_begin(&flat, haul__type_walk(run->type), run->at, run->count, run->stride);
    while (haul__flat_next(&flat, &walk, &at))
        if ((is_tidy && !keep_gaps(c, walk, at)) || !keep_barred(c, walk, at) ||
            !haul__odd_of_object(c, walk, at))
            return 0;
    return keep_tails(c, run);
}

static int comes_before(const void *a, const void *b)
{
    return ((const haul__kept_bytes *)a)->at < ((const haul__kept_bytes *)b)->at;
}

/* Ranges on their way into a list in which none lies over another. What is edited goes before what
 * only stays, and this before data, so of a range only what lies between those before it is
 * entered, when it is known what lies there.
 */
typedef struct separation {
    haul__kept_bytes *out;
    size_t count;
    size_t done;  /* up to here all has been entered */
    size_t until; /* from there on up to here bytes stay, */
    size_t data;  /* and from there on up to here as data */
} separation;

static void enter_until(separation *s, size_t end, int is_data)
{
    if (s->done < end) {
        haul__kept_bytes *stays = &s->out[s->count++];
        memset(stays, 0, sizeof *stays);
        stays->at = s->done;
        stays->bytes = end - s->done;
        stays->is_data = is_data;
        s->done = end;
    }
}

static void enter_stays(separation *s, size_t end)
{
    enter_until(s, s->until < end ? s->until : end, 0);
    enter_until(s, s->data < end ? s->data : end, 1);
    if (s->done < end)
        s->done = end;
}

/* Must what is known be entered before the range is? Not while it goes on as what it is. */
static int cuts(const separation *s, const haul__kept_bytes *next)
{
    return next->is_edited || (next->at >= s->until && (!next->is_data || next->at >= s->data));
}

/* Of two edited ranges the first one keeps what they share. */
static void enter_edited(separation *s, const haul__kept_bytes *next)
{
    size_t cut = s->done - next->at;
    haul__kept_bytes *edited;
    if (cut >= next->bytes)
        return;
    edited = &s->out[s->count++];
    *edited = *next;
    edited->at += cut;
    edited->bytes -= cut;
    if (next->bytes <= sizeof next->becomes)
        memmove(edited->becomes, edited->becomes + cut, edited->bytes);
    s->done = edited->at + edited->bytes;
}

/* One range after the other. Those that only touch stay two: a nursery looks for its own. */
static int separate_kept(haul__contents *c)
{
    const haul_allocator *allocator = &c->arena->context->allocator;
    const size_t capacity = 3 * c->kept_count + 2;
    separation s;
    size_t i, *until;
    memset(&s, 0, sizeof s);
    s.out = haul__allocate(allocator, capacity * sizeof *s.out, sizeof(void *));
    if (!s.out)
        return 0;
    for (i = 0; i < c->kept_count; i++) {
        const haul__kept_bytes *next = &c->kept[i];
        if (cuts(&s, next))
            enter_stays(&s, next->at);
        until = next->is_data ? &s.data : &s.until;
        if (next->is_edited)
            enter_edited(&s, next);
        else if (*until < next->at + next->bytes)
            *until = next->at + next->bytes;
    }
    enter_stays(&s, s.until > s.data ? s.until : s.data);
    haul__release(allocator, c->kept, c->kept_capacity * sizeof *c->kept);
    c->kept = s.out;
    c->kept_count = s.count;
    c->kept_capacity = capacity;
    return 1;
}

static int is_separate(const haul__contents *c)
{
    size_t i;
    for (i = 1; i < c->kept_count; i++)
        if (c->kept[i].at < c->kept[i - 1].at + c->kept[i - 1].bytes)
            return 0;
    return 1;
}

static int sort_lists(haul__contents *c)
{
    haul__sort(c->kept, c->kept_count, sizeof *c->kept, comes_before);
    haul__odd_sort(c);
    return is_separate(c) || separate_kept(c);
}

static haul_status take_typed(haul__contents *c, haul_error *error)
{
    size_t i;
    for (i = 0; i < c->arena->special_count; i++)
        if (!keep_special(c, &c->arena->special[i]))
            return out_of_memory(error);
    if (!haul__nurseries_keep(c))
        return out_of_memory(error);
    if (!sort_lists(c))
        return out_of_memory(error);
    return HAUL_OK;
}

/* ---- A graph that was discovered in the arena. */

static void take_slots(haul__contents *c, const haul_plan *plan, const haul__block *block,
                       uintptr_t address)
{
    unsigned cell;
    if (block->form == HAUL__FULL || block->form == HAUL__BARE)
        return;
    for (cell = 0; cell < HAUL__CELLS; cell++, address += HAUL__CELL_BYTES) {
        uint64_t slots;
        for (slots = haul__placed_slots(&plan->found.map, block, cell); slots; slots &= slots - 1) {
            size_t word = (address - (uintptr_t)c->base) / sizeof(void *) + haul__lowest64(slots);
            c->own[word / 64] |= (uint64_t)1 << (word % 64);
        }
    }
}

/* One more byte, behind those before it if it is as they are. */
static int note_byte(haul__contents *c, size_t at, int is_edited)
{
    haul__kept_bytes *last = c->kept_count > 0 ? &c->kept[c->kept_count - 1] : NULL;
    if (last && last->is_edited == is_edited && last->at + last->bytes == at) {
        last->bytes++;
        return 1;
    }
    return is_edited ? haul__contents_replace(c, at, 1, NULL) : haul__contents_exclude(c, at, 1);
}

/* Of a granule: bytes that do not come back, and those of objects with skipped bytes that nobody
 * describes. What lies beside such an object is nobody's, and travels. */
static int take_gaps_of(haul__contents *c, const haul__block *block, unsigned granule, size_t at)
{
    uint16_t gaps = haul__hole_mask(block, granule) & (uint16_t)~haul__byte_mask(block, granule);
    uint16_t stays = haul__excluded_mask(block, granule, HAUL__UNRETURNED);
    unsigned byte;
    for (byte = 0; byte < HAUL__GRANULE; byte++)
        if (((gaps | stays) >> byte & 1) && !note_byte(c, at + byte, gaps >> byte & 1))
            return 0;
    return 1;
}

static int take_gaps(haul__contents *c, const haul__block *block, uintptr_t address)
{
    unsigned granule;
    if (!block->side || (!block->side->holes && !haul__has_exclusions(block)))
        return 1;
    for (granule = 0; granule < HAUL__BLOCK_GRANULES; granule++) {
        size_t at = address - (uintptr_t)c->base + granule * HAUL__GRANULE;
        if (at < c->bytes && !take_gaps_of(c, block, granule, at))
            return 0;
    }
    return 1;
}

/* A word that no device patches. Distances stay what they are. */
static int take_kept(haul__contents *c, const haul__kept *kept)
{
    size_t at = kept->address - (uintptr_t)c->base;
    uint32_t narrow = (uint32_t)kept->becomes;
    const void *becomes =
        kept->bytes == sizeof narrow ? (const void *)&narrow : (const void *)&kept->becomes;
    if (kept->kind == HAUL__KEPT_DISTANCE || memcmp(c->base + at, becomes, kept->bytes) == 0)
        return haul__contents_keep(c, at, kept->bytes);
    return haul__contents_replace(c, at, kept->bytes, becomes);
}

static int take_words(haul__contents *c, const haul_plan *plan)
{
    size_t i;
    for (i = 0; i < plan->found.kept_count; i++)
        if (!take_kept(c, &plan->found.kept[i]))
            return 0;
    return haul__odd_of_plan(c, plan) && haul__tagged_of_plan(c, plan);
}

/* Has it a byte that travels? It can have a place without one: as a hole, or because its page goes
 * whole. */
static int is_described(const haul__block *block, unsigned granule)
{
    return (haul__live(block, granule / 32) >> (granule % 32) & 1) &&
           haul__byte_mask(block, granule) != 0;
}

/* Does all that a block marks lie in the contents? */
static int lies_inside(const haul__contents *c, const haul__block *block, uintptr_t address)
{
    unsigned granule;
    if (address >= (uintptr_t)c->base &&
        address + HAUL__BLOCK_BYTES <= (uintptr_t)c->base + c->bytes)
        return 1;
    for (granule = 0; granule < HAUL__BLOCK_GRANULES; granule++, address += HAUL__GRANULE)
        if (address - (uintptr_t)c->base >= c->bytes && is_described(block, granule))
            return 0;
    return 1;
}

static haul_status check_plan(const haul__contents *c, const haul_plan *plan, haul_error *error)
{
    size_t i;
    if (plan->found.dependent_count > 0)
        return haul__fail(
            error, HAUL_ERROR_UNSUPPORTED,
            "objects whose contents depend on addresses: pack such graphs with haul_ship");
    for (i = 0; i < plan->found.map.block_count; i++)
        if (!lies_inside(c, haul__plan_block(plan, i),
                         haul__block_address(plan->found.map.numbers[i])))
            return haul__fail(error, HAUL_ERROR_GRAPH, "the graph leads out of the arena");
    return HAUL_OK;
}

static haul_status take_plan(haul__contents *c, const haul_plan *plan, haul_error *error)
{
    haul_status status = check_plan(c, plan, error);
    size_t i;
    if (status != HAUL_OK)
        return status;
    c->own = haul__allocate_zeroed(&c->arena->context->allocator, haul__contents_bitmap_bytes(c));
    if (!c->own)
        return out_of_memory(error);
    c->slots = c->own;
    for (i = 0; i < plan->found.map.block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        uintptr_t address = haul__block_address(plan->found.map.numbers[i]);
        take_slots(c, plan, block, address);
        if (!take_gaps(c, block, address))
            return out_of_memory(error);
    }
    if (!take_words(c, plan) || !haul__nurseries_keep(c))
        return out_of_memory(error);
    if (!sort_lists(c) ||
        haul__reads_make(plan, 1, &c->arena->context->allocator, &c->reads) != HAUL_OK)
        return out_of_memory(error);
    return HAUL_OK;
}

/* ---- Stale.
 *
 * Contents are stale when something below their end has gone since they were opened; what has gone
 * behind it, or before, is nothing to them. So changes are noted with how many contents had been
 * opened by then. Of two changes the earlier one tells nothing if the later one lies as low; so
 * they lie higher and higher, and the first that is late enough is the lowest of those. Each
 * opening makes room for one more: a release needs no memory.
 */

void haul__arena_changed(haul_arena *arena, size_t first)
{
    haul__change *last;
    while (arena->change_count > 0 && arena->changes[arena->change_count - 1].first >= first)
        arena->change_count--;
    last = arena->change_count > 0 ? &arena->changes[arena->change_count - 1] : NULL;
    if (arena->opens == 0 || (last && last->opens == arena->opens))
        return;
    arena->changes[arena->change_count].opens = arena->opens;
    arena->changes[arena->change_count++].first = first;
}

/* 0: no memory. */
static int note_opening(haul_arena *arena)
{
    if (haul__atomic_add(&arena->carriers, 0) == 1) /* nobody asks about what was before */
        arena->change_count = 0;
    if (!haul__grow(&arena->context->allocator, (void **)&arena->changes, &arena->change_capacity,
                    arena->change_count + 1, sizeof *arena->changes))
        return 0;
    arena->opens++;
    return 1;
}

/* Has something gone from the contents? */
static int has_changed(const haul__contents *c)
{
    const haul_arena *arena = c->arena;
    size_t low = 0, high = arena->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (arena->changes[middle].opens < c->opens)
            low = middle + 1;
        else
            high = middle;
    }
    return low < arena->change_count && arena->changes[low].first < c->bytes;
}

haul_status haul__contents_check(const haul__contents *contents, haul_error *error)
{
    if (!has_changed(contents))
        return HAUL_OK;
    return haul__fail(
        error, HAUL_ERROR_STALE,
        "something of the arena has been released, rolled back or reset since it was shipped");
}

/* ---- Open and close. */

static void hold(haul__contents *contents, haul_arena *arena)
{
    haul__arena_hold(arena);
    haul__atomic_add(&arena->carriers, 1);
    contents->arena = arena;
}

haul_status haul__contents_open(haul__contents *contents, haul_arena *arena, const haul_plan *plan,
                                haul_error *error)
{
    haul_status status;
    memset(contents, 0, sizeof *contents);
    hold(contents, arena);
    contents->base = arena->room.base;
    contents->bytes = haul__arena_used(arena);
    contents->slots = arena->room.slots;
    haul__unpoison(contents->base, contents->bytes);
    if (!note_opening(arena))
        status = out_of_memory(error);
    else
        status = plan ? take_plan(contents, plan, error) : take_typed(contents, error);
    contents->opens = arena->opens;
    if (status != HAUL_OK)
        haul__contents_close(contents);
    return status;
}

void haul__contents_release(haul__contents *contents)
{
    haul_arena *arena = contents->arena;
    const haul_allocator *allocator;
    if (!arena)
        return;
    allocator = &arena->context->allocator;
    if (contents->root.type)
        haul__type_drop(contents->root.type);
    haul__reads_free(allocator, &contents->reads);
    haul__release(allocator, contents->own, haul__contents_bitmap_bytes(contents));
    haul__release(allocator, contents->kept, contents->kept_capacity * sizeof *contents->kept);
    haul__release(allocator, contents->odd, contents->odd_capacity * sizeof *contents->odd);
    haul__release(allocator, contents->tagged, contents->tagged_count * sizeof *contents->tagged);
    haul__release(allocator, contents->neighbours,
                  contents->neighbour_count * sizeof *contents->neighbours);
    memset(contents, 0, sizeof *contents);
    haul__atomic_add(&arena->carriers, -1);
}

void haul__contents_close(haul__contents *contents)
{
    haul_arena *arena = contents->arena;
    haul__contents_release(contents);
    if (arena)
        haul__arena_drop(arena);
}

/* `count` things of `bytes` bytes each, from `from`. 0: no memory. */
static int copy_list(const haul_allocator *allocator, const void *from, size_t count, size_t bytes,
                     void *to)
{
    void *made = NULL;
    if (count > 0) {
        made = haul__allocate(allocator, count * bytes, sizeof(void *));
        if (!made)
            return 0;
        memcpy(made, from, count * bytes);
    }
    memcpy(to, &made, sizeof made);
    return 1;
}

static int copy_lists(haul__contents *copy, const haul__contents *contents)
{
    const haul_allocator *allocator = &contents->arena->context->allocator;
    size_t words =
        contents->own ? haul__contents_bitmap_bytes(contents) / sizeof *contents->own : 0;
    if (!copy_list(allocator, contents->own, words, sizeof *copy->own, &copy->own))
        return 0;
    copy->slots = copy->own ? copy->own : contents->slots;
    if (!copy_list(allocator, contents->kept, contents->kept_count, sizeof *copy->kept,
                   &copy->kept))
        return 0;
    copy->kept_count = copy->kept_capacity = contents->kept_count;
    if (!copy_list(allocator, contents->odd, contents->odd_count, sizeof *copy->odd, &copy->odd))
        return 0;
    copy->odd_count = copy->odd_capacity = contents->odd_count;
    if (!copy_list(allocator, contents->tagged, contents->tagged_count, sizeof *copy->tagged,
                   &copy->tagged))
        return 0;
    copy->tagged_count = contents->tagged_count;
    if (!copy_list(allocator, contents->neighbours, contents->neighbour_count,
                   sizeof *copy->neighbours, &copy->neighbours))
        return 0;
    copy->neighbour_count = contents->neighbour_count;
    if (!copy_list(allocator, contents->reads.words, contents->reads.count,
                   sizeof *copy->reads.words, &copy->reads.words))
        return 0;
    copy->reads.count = copy->reads.capacity = contents->reads.count;
    if (!copy_list(allocator, contents->reads.far, contents->reads.far_count,
                   sizeof *copy->reads.far, &copy->reads.far))
        return 0;
    copy->reads.far_count = copy->reads.far_capacity = contents->reads.far_count;
    return 1;
}

haul_status haul__contents_copy(haul__contents *copy, const haul__contents *contents,
                                haul_error *error)
{
    static const haul__contents none;
    *copy = none;
    hold(copy, contents->arena);
    copy->base = contents->base;
    copy->bytes = contents->bytes;
    copy->opens = contents->opens;
    copy->before = contents->before;
    copy->behind = contents->behind;
    copy->outside = contents->outside;
    copy->direct = contents->direct;
    copy->is_edited = contents->is_edited;
    copy->lets_change = contents->lets_change;
    copy->root = contents->root;
    if (copy->root.type)
        haul__type_hold(copy->root.type);
    if (copy_lists(copy, contents))
        return HAUL_OK;
    haul__contents_close(copy);
    return out_of_memory(error);
}

/* ---- Pointers that lead out. */

int haul__leads_inside(const haul__contents *c, uintptr_t value)
{
    size_t i;
    if (value - (uintptr_t)c->base <= c->bytes)
        return 1;
    for (i = 0; i < c->neighbour_count; i++)
        if (value - c->neighbours[i].host <= c->neighbours[i].bytes)
            return 1;
    return 0;
}

int haul__next_outside(const haul__contents *c, size_t *at)
{
    size_t word = *at / sizeof(void *), end = c->bytes / sizeof(void *), group;
    for (group = word / 64; group * 64 < end; group++) {
        uint64_t slots = c->slots[group];
        if (group == word / 64)
            slots &= UINT64_MAX << (word % 64);
        for (; slots; slots &= slots - 1) {
            size_t here = group * 64 + haul__lowest64(slots);
            uintptr_t value;
            if (here >= end)
                return 0;
            value = haul__load_word(c->base + here * sizeof(void *));
            if (value && !haul__leads_inside(c, value)) {
                *at = here * sizeof(void *);
                return 1;
            }
        }
    }
    return 0;
}

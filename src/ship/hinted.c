/* The bytes of an arena that hints name, page by page.
 *
 * Discovery has noted which granules of the source each hint names (walk/hints.h), so the map and
 * these bits are added up: nothing is walked, and no source is read. A block that lies in one page
 * costs a count of bits. Threads share the blocks.
 *
 * Only a ship or reship that makes its plan notes hints. Its notes go once places are chosen, for
 * haul_from_shipment hands the plan to calls with other hints. A plan without notes, such as a
 * program's own, is walked once more, by a walk that is slower than discovery. But it follows only
 * what may lead to hinted objects: a pointer whose field no hint names, to a type from which no
 * hinted type can be reached, is passed by. So hints that name a few arrays cost next to nothing,
 * whatever else the graph holds.
 *
 * The types that lead to hinted ones are a least fixed point over the committed types behind the
 * roots. Types are few, so lists of them are searched from the front.
 */
#include "context/context.h"
#include "map/named.h"
#include "pack/in_degree.h"
#include "pack/plan.h"
#include "pack/translate.h"
#include "ship/hinted.h"
#include "type/type.h"
#include "walk/discover.h"
#include "walk/hints.h"

typedef struct met {
    const haul_type *type;
    int leads; /* to hinted objects, or its own are hinted */
} met;

typedef struct hinted {
    haul_context *context;
    const haul_ship_options *options;
    HAUL__LIST(met) types; /* behind the roots */
} hinted;

/* ---- Types that lead to hinted objects. */

typedef int visit_type(hinted *h, const haul_type *type);

/* Calls visit with each type that the type contains or leads to, until it answers 1. */
static int visit_inside(hinted *h, const haul_type *type, visit_type *visit)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t i, k;
    for (i = 0; i < walk->slot_count; i++)
        if (walk->slots[i].target && visit(h, walk->slots[i].target))
            return 1;
    for (i = 0; i < walk->part_count; i++)
        if (visit(h, walk->parts[i].type))
            return 1;
    for (i = 0; i < walk->ruled_count; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        if (ruled->slot.target && visit(h, ruled->slot.target))
            return 1;
        for (k = 0; k < haul__case_count(ruled); k++)
            if (ruled->cases[k].target && visit(h, ruled->cases[k].target))
                return 1;
    }
    return 0;
}

static met *find(const hinted *h, const haul_type *type)
{
    size_t i = 0;
    while (i < h->types.count && h->types.at[i].type != type)
        i++;
    return i < h->types.count ? &h->types.at[i] : NULL;
}

static int is_named(const hinted *h, const haul_type *type)
{
    size_t i = 0;
    while (i < h->options->hint_count && h->options->hints[i].type != type)
        i++;
    return i < h->options->hint_count;
}

/* 1: out of memory. */
static int meet(hinted *h, const haul_type *type)
{
    met *added;
    if (find(h, type))
        return 0;
    added = HAUL__LIST_ADD(&h->context->allocator, &h->types);
    if (!added)
        return 1;
    added->type = type;
    added->leads = is_named(h, type);
    return 0;
}

static int leads(hinted *h, const haul_type *type)
{
    const met *of = find(h, type);
    return !of || of->leads;
}

/* 0: out of memory. */
static int find_types(hinted *h, const haul_root *roots, size_t count)
{
    int has_changed = 1;
    size_t i;
    for (i = 0; i < count; i++)
        if (meet(h, roots[i].type))
            return 0;
    for (i = 0; i < h->types.count; i++)
        if (visit_inside(h, h->types.at[i].type, meet))
            return 0;
    while (has_changed)
        for (has_changed = 0, i = h->types.count; i-- > 0;)
            if (!h->types.at[i].leads && visit_inside(h, h->types.at[i].type, leads))
                has_changed = h->types.at[i].leads = 1;
    return 1;
}

/* ---- The walk of a plan without notes. */

static int is_wanted(void *user, const haul__slot *slot, const haul_type *type)
{
    hinted *h = user;
    size_t i;
    if (type && leads(h, type))
        return 1;
    for (i = 0; i < h->options->hint_count; i++)
        if (haul__names_slot(&h->options->hints[i], slot))
            return 1;
    return 0;
}

static haul_status walk(haul_plan *plan, const haul_ship_options *options,
                        haul__named_granules **named)
{
    haul_context *const context = haul__plan_context(plan);
    const haul__hints hints = { options->hints, options->hint_count };
    size_t count;
    const haul_root *roots = haul__plan_roots(plan, &count);
    haul_status status;
    hinted h;
    memset(&h, 0, sizeof h);
    h.context = context;
    h.options = options;
    status = find_types(&h, roots, count)
                 ? haul__note_hints(context, roots, count, &hints, is_wanted, &h, named)
                 : haul__fail(&context->error, HAUL_ERROR_MEMORY,
                              "out of memory for the places of a shipment");
    HAUL__LIST_RELEASE(&context->allocator, &h.types);
    return status;
}

/* ---- The count. */

typedef struct summing {
    const haul_plan *plan;
    const haul__named_granules *named;
    size_t page_bytes;
    uint64_t *bytes; /* by pages, and in each by hints */
} summing;

static void add(const summing *c, size_t hint, uint64_t place, uint64_t granules)
{
    c->bytes[place / c->page_bytes * c->named->hint_count + hint] += granules * HAUL__GRANULE;
}

/* A granule's place in the arena; 0: it has none. In an ordered arena a range may begin within a
 * granule, and the bytes before it have no place. */
static uint64_t place_of(const summing *c, const haul__block *block, uintptr_t granule)
{
    const uint64_t compact = haul__place(block, granule);
    uint64_t place = 0, byte;
    for (byte = 0; !place && byte < HAUL__GRANULE; byte++)
        place = haul__final_place(c->plan, compact + byte);
    return place;
}

/* Adds granules that are no neighbours in the arena, or lie in several pages. */
static void add_each(const summing *c, const haul__block *block, uintptr_t cell, uint32_t granules,
                     size_t hint)
{
    for (; granules; granules &= granules - 1) {
        const uintptr_t at = cell + haul__lowest32(granules) * HAUL__GRANULE;
        const uint64_t place = place_of(c, block, at);
        if (place && place < haul__arena_bytes(c->plan))
            add(c, hint, place, 1);
    }
}

HAUL__INLINE void count_cell(const summing *c, const haul__block *block, uintptr_t address,
                             unsigned cell, uint32_t granules, size_t hint)
{
    const uint64_t first = haul__cell_rank(block, cell) << HAUL__GRANULE_SHIFT;
    const uint64_t last = first + HAUL__CELL_BYTES - 1;
    if (!granules)
        return;
    if (c->plan->ordered || first / c->page_bytes != last / c->page_bytes)
        add_each(c, block, address + cell * HAUL__CELL_BYTES, granules, hint);
    else
        add(c, hint, first, haul__bits32(granules));
}

/* Of hints that name a granule, the first counts: `named` becomes what this one adds, and `taken`
 * all so far. */
HAUL__INLINE void take_granules(const haul__block *block, const uint32_t *bits, uint32_t *taken,
                                uint32_t *named)
{
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        const uint32_t granules = (bits ? bits[cell] : UINT32_MAX) & haul__live(block, cell);
        named[cell] = granules & ~taken[cell];
        taken[cell] |= granules;
    }
}

HAUL__HOT static void count_block(const summing *c, size_t number)
{
    const haul__block *block = haul__plan_block(c->plan, number);
    const uint32_t name = c->plan->found.map.numbers[number];
    const uint64_t first = haul__place_of_block(c->plan, number),
                   end = haul__place_of_block(c->plan, number + 1);
    const int is_in_page = !c->plan->ordered && first / c->page_bytes == (end - 1) / c->page_bytes;
    uint32_t taken[HAUL__CELLS] = { 0 }, named[HAUL__CELLS];
    uint64_t sum;
    size_t hint;
    unsigned cell;
    for (hint = 0; hint < c->named->hint_count; hint++) {
        const uint32_t *bits;
        if (!haul__named_in(c->named, name, hint, &bits))
            continue;
        take_granules(block, bits, taken, named);
        for (cell = 0, sum = 0; is_in_page && cell < HAUL__CELLS; cell++)
            sum += haul__bits32(named[cell]);
        if (is_in_page)
            add(c, hint, first, sum);
        for (cell = 0; !is_in_page && cell < HAUL__CELLS; cell++)
            count_cell(c, block, haul__block_address(name), cell, named[cell], hint);
    }
}

/* ---- Threads. Each adds up the blocks of a list, into pages of its own. */

typedef struct shared_sum {
    const summing *first; /* of the first list, whose pages are the result */
    uint64_t *more;       /* pages of the others */
    size_t numbers;       /* of the pages of one list */
    size_t lists;
} shared_sum;

static void sum_lists(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const shared_sum *shared = user;
    const size_t blocks = shared->first->plan->found.map.block_count;
    size_t list, i;
    (void)number;
    (void)scratch;
    for (list = first; list < end; list++) {
        summing own = *shared->first;
        if (list > 0)
            own.bytes = shared->more + (list - 1) * shared->numbers;
        for (i = list * blocks / shared->lists; i < (list + 1) * blocks / shared->lists; i++)
            count_block(&own, i);
    }
}

/* Without memory for more lists, one thread adds up all. */
static void sum_blocks(const summing *s)
{
    haul_context *const context = s->plan->context;
    const size_t pages = (haul__arena_bytes(s->plan) - 1) / s->page_bytes + 1;
    shared_sum shared = { s, NULL, pages * s->named->hint_count, haul__in_degree_lists(s->plan) };
    const size_t bytes = (shared.lists - 1) * shared.numbers * sizeof *shared.more;
    size_t i;
    if (bytes)
        shared.more = haul__allocate_zeroed(&context->allocator, bytes);
    if (!shared.more)
        shared.lists = 1;
    haul__pool_run(shared.lists > 1 ? context->pool : NULL, SIZE_MAX, 0, shared.lists, 1, sum_lists,
                   &shared);
    for (i = 0; i < (shared.lists - 1) * shared.numbers; i++)
        s->bytes[i % shared.numbers] += shared.more[i];
    haul__release(&context->allocator, shared.more, bytes);
}

haul_status haul__count_hinted(haul_plan *plan, const haul_ship_options *options, size_t page_bytes,
                               uint64_t *bytes)
{
    haul__named_granules *walked = NULL;
    summing c = { plan, plan->found.named, page_bytes, bytes };
    if (!c.named) {
        const haul_status status = walk(plan, options, &walked);
        if (status != HAUL_OK)
            return status;
        c.named = walked;
    }
    sum_blocks(&c);
    haul__named_close(walked);
    return HAUL_OK;
}

void haul__forget_notes(haul_plan *plan)
{
    haul__named_close(plan->found.named);
    plan->found.named = NULL;
}

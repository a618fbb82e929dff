/* The bytes of an arena that hints name, page by page.
 *
 * Discovery has noted which granules of the source each hint names (walk/hints.h), so the map and
 * these bits are added up: nothing is walked, and no source is read. Cells whose granules lie in one
 * page cost a count of bits.
 *
 * A plan that was made before the hints were known has no such notes. Then the graph is walked once
 * more, by a walk that is slower than discovery. But it follows only what may lead to hinted
 * objects: a pointer whose field no hint names, to a type from which no hinted type can be reached,
 * is passed by. So hints that name a few arrays cost next to nothing, whatever else the graph holds.
 *
 * The types that lead to hinted ones are a least fixed point over the committed types behind the
 * roots. Types are few, so lists of them are searched from the front.
 */
#include "context/context.h"
#include "map/named.h"
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

static size_t cases_of(const haul__ruled *ruled)
{
    return ruled->rule && ruled->cases ? ruled->rule->said.type_switch.case_count : 0;
}

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
        for (k = 0; k < cases_of(ruled); k++)
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

static haul_status walk(haul_plan *plan, const haul_ship_options *options, haul__named **named)
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

typedef struct counting {
    const haul_plan *plan;
    const haul__named *named;
    size_t page_bytes;
    uint64_t *bytes; /* by pages, and in each by hints */
} counting;

static void add(const counting *c, size_t hint, uint64_t place, uint64_t granules)
{
    c->bytes[place / c->page_bytes * c->named->hint_count + hint] += granules * HAUL__GRANULE;
}

/* A granule's place in the arena; 0: it has none. In an ordered arena a range may begin within a
 * granule, and the bytes before it have no place. */
static uint64_t place_of(const counting *c, const haul__block *block, uintptr_t granule)
{
    const uint64_t compact = haul__place(block, granule);
    uint64_t place = 0, byte;
    for (byte = 0; !place && byte < HAUL__GRANULE; byte++)
        place = haul__final_place(c->plan, compact + byte);
    return place;
}

/* Adds granules that are no neighbours in the arena, or lie in several pages. */
static void add_each(const counting *c, const haul__block *block, uintptr_t cell, uint32_t granules,
                     size_t hint)
{
    for (; granules; granules &= granules - 1) {
        const uintptr_t at = cell + haul__lowest32(granules) * HAUL__GRANULE;
        const uint64_t place = place_of(c, block, at);
        if (place && place < haul__arena_bytes(c->plan))
            add(c, hint, place, 1);
    }
}

/* Of hints that name a granule, the first counts. */
HAUL__INLINE void count_cell(const counting *c, const haul__block *block, uintptr_t address,
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

HAUL__HOT static void count_block(const counting *c, size_t number)
{
    const haul__block *block = haul__plan_block(c->plan, number);
    const uint32_t name = c->plan->found.map.numbers[number];
    uint32_t taken[HAUL__CELLS];
    size_t hint;
    unsigned cell;
    int is_first = 1;
    for (hint = 0; hint < c->named->hint_count; hint++) {
        const uint32_t *bits;
        if (!haul__named_in(c->named, name, hint, &bits))
            continue;
        for (cell = 0; cell < HAUL__CELLS; cell++) {
            const uint32_t before = is_first ? 0 : taken[cell];
            const uint32_t granules = bits ? bits[cell] : UINT32_MAX;
            count_cell(c, block, haul__block_address(name), cell,
                       granules & ~before & haul__live(block, cell), hint);
            taken[cell] = before | granules;
        }
        is_first = 0;
    }
}

haul_status haul__count_hinted(haul_plan *plan, const haul_ship_options *options, size_t page_bytes,
                               uint64_t *bytes)
{
    haul__named *walked = NULL;
    counting c = { plan, plan->found.named, page_bytes, bytes };
    size_t i;
    if (!c.named || c.named->hint_count != options->hint_count) {
        const haul_status status = walk(plan, options, &walked);
        if (status != HAUL_OK)
            return status;
        c.named = walked;
    }
    for (i = 0; i < plan->found.map.block_count; i++)
        count_block(&c, i);
    haul__named_close(walked);
    return HAUL_OK;
}

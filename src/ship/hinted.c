/* The bytes of an arena that hints name.
 *
 * The map knows no types, so the graph is walked once more, by a visitor that is slower than
 * discovery. But it follows only what may lead to hinted objects: a pointer whose field no hint
 * names, to a type from which no hinted type can be reached, is passed by. So hints that name a few
 * arrays cost next to nothing, whatever else the graph holds.
 *
 * The types that lead to hinted ones are a least fixed point over the committed types behind the
 * roots. Types are few, so lists of them are searched from the front.
 */
#include "context/context.h"
#include "pack/plan.h"
#include "pack/translate.h"
#include "ship/hinted.h"
#include "type/type.h"
#include "walk/discover.h"
#include "walk/new_ranges.h"

typedef struct met {
    const haul_type *type;
    int leads; /* to hinted objects, or its own are hinted */
} met;

typedef struct hinted {
    haul_context *context;
    const haul_plan *plan;
    const haul_ship_options *options;
    size_t page_bytes;
    uint64_t *bytes;
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

/* ---- Ranges. */

/* Is the slot a row of the type's objects? */
static int has_slot(const haul_type *type, const haul__slot *slot)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t i;
    if ((uintptr_t)slot - (uintptr_t)walk->slots < walk->slot_count * sizeof *slot)
        return 1;
    for (i = 0; i < walk->ruled_count; i++)
        if (slot == &walk->ruled[i].slot || (uintptr_t)slot - (uintptr_t)walk->ruled[i].cases <
                                                cases_of(&walk->ruled[i]) * sizeof *slot)
            return 1;
    return 0;
}

static int names(const haul_place_hint *hint, const haul__slot *slot)
{
    return hint->field && slot && strcmp(slot->name, hint->field) == 0 &&
           has_slot(hint->type, slot);
}

static int is_wanted(void *user, const haul__slot *slot, const haul_type *type)
{
    hinted *h = user;
    size_t i;
    if (type && leads(h, type))
        return 1;
    for (i = 0; i < h->options->hint_count; i++)
        if (names(&h->options->hints[i], slot))
            return 1;
    return 0;
}

/* The number of the first hint that fits; else of hints. */
static size_t hint_for(const hinted *h, const haul__new_range *range)
{
    size_t i;
    for (i = 0; i < h->options->hint_count; i++) {
        const haul_place_hint *hint = &h->options->hints[i];
        if (hint->field ? names(hint, range->slot) : range->type == hint->type)
            break;
    }
    return i;
}

static void add_range(void *user, const haul__new_range *range)
{
    const hinted *h = user;
    const uint64_t arena_bytes = haul__plan_bytes(h->plan);
    const size_t hint = hint_for(h, range), count = h->options->hint_count;
    uint64_t at, end, next;
    if (hint == count || !haul__offset_of(h->plan, range->begin, &at))
        return;
    end = range->bytes < arena_bytes - at ? at + range->bytes : arena_bytes;
    for (; at < end; at = next) {
        const uint64_t here = at - at % h->page_bytes + h->page_bytes;
        next = here < end ? here : end;
        h->bytes[at / h->page_bytes * count + hint] += next - at;
    }
}

haul_status haul__count_hinted(haul_plan *plan, const haul_ship_options *options, size_t page_bytes,
                               uint64_t *bytes)
{
    haul_context *const context = haul__plan_context(plan);
    haul__listing listing;
    size_t count;
    const haul_root *roots = haul__plan_roots(plan, &count);
    haul_status status;
    hinted h;
    memset(&h, 0, sizeof h);
    h.context = context;
    h.plan = plan;
    h.options = options;
    h.page_bytes = page_bytes;
    h.bytes = bytes;
    memset(&listing, 0, sizeof listing);
    listing.take = add_range;
    listing.is_wanted = is_wanted;
    listing.user = &h;
    status = find_types(&h, roots, count)
                 ? haul__visit_ranges(context, roots, count, &listing)
                 : haul__fail(&context->error, HAUL_ERROR_MEMORY,
                              "out of memory for the places of a shipment");
    HAUL__LIST_RELEASE(&context->allocator, &h.types);
    return status;
}

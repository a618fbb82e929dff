/* Places: which pages of a range lie in device memory, and which elsewhere.
 *
 * A range is one run of device addresses, wherever its pages lie. So packing, pointers, updates and
 * copies know nothing of places: only the allocation does.
 *
 * Objects lie in a range in the order of their source addresses. Large arrays fill pages of their
 * own in any order, and small objects of one type are mostly allocated together. So no object is
 * moved for its place; a page goes where its bytes want to. It lies in device memory if any of them
 * must. Else, if some of its bytes have no hint, its rank decides: the sum of these bytes' ranks,
 * divided by the page's size. The pages of the highest rank fill the budget, and the others are
 * spilled. If all bytes have hints, the place of most of them counts.
 *
 * Ranks need a recording walk, so they are asked for only if the range exceeds the budget.
 */
#include "base/sort.h"
#include "device/deferred.h"
#include "device/device.h"
#include "ship/places.h"
#include "ship/spans.h"

typedef struct placed_page {
    uint64_t bytes[HAUL_PLACE_MOVING + 1]; /* of ranges, by the place that a hint gives them */
    double rank;                           /* the sum over bytes without a hint */
    haul_place place;
} placed_page;

typedef struct ranked {
    double rank;
    size_t page;
} ranked;

typedef struct places {
    haul_device *device;
    haul_plan *plan;
    const haul_ship_options *options;
    haul__range *range;
    uint64_t left;     /* of the budget */
    size_t page_bytes; /* of each but the last */
    size_t count;      /* of pages */
    placed_page *pages;
    size_t *pointers; /* that lead to each range, by its entry; NULL: nobody asks */
} places;

static haul_status no_memory(haul_device *device)
{
    return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for the places of a shipment");
}

/* ---- What the ranges want. */

static int is_of_field(const haul__nodes *nodes, const haul__entry *entry,
                       const haul_place_hint *hint)
{
    size_t parent = entry->parent;
    while (parent != SIZE_MAX && nodes->walk.entries.at[parent].what == HAUL__POINTERS)
        parent = nodes->walk.entries.at[parent].parent;
    return parent != SIZE_MAX && entry->slot && strcmp(entry->slot->name, hint->field) == 0 &&
           nodes->walk.met_types[nodes->walk.entries.at[parent].met_type].type == hint->type;
}

static haul_place hinted(const places *p, const haul__nodes *nodes, size_t number,
                         const haul_type *type)
{
    const haul__entry *entry = &nodes->walk.entries.at[number];
    size_t i;
    for (i = 0; i < p->options->hint_count; i++) {
        const haul_place_hint *hint = &p->options->hints[i];
        if (hint->field ? is_of_field(nodes, entry, hint) : type == hint->type)
            return hint->place;
    }
    return HAUL_PLACE_ANY;
}

static double rank_of(const places *p, const haul_shipped_range *range, size_t pointers)
{
    const double rank = p->options->rank ? p->options->rank(p->options->rank_user, range, pointers)
                                         : (double)pointers / (double)range->bytes;
    return rank > 0 ? rank : 0; /* no number, too: it would have no place in an order */
}

/* Adds a range's bytes to the pages that they lie in. */
static void spread(const places *p, size_t at, size_t bytes, haul_place place, double rank)
{
    const size_t end = bytes < p->range->arena_bytes - at ? at + bytes : p->range->arena_bytes;
    while (at < end) {
        placed_page *in = &p->pages[at / p->page_bytes];
        size_t here = p->page_bytes - at % p->page_bytes;
        here = here < end - at ? here : end - at;
        in->bytes[place] += here;
        in->rank += place == HAUL_PLACE_ANY ? rank * (double)here : 0;
        at += here;
    }
}

static haul_status count_pointer(void *user, const haul__arrow *arrow)
{
    size_t *pointers = user;
    if (arrow->target != HAUL__NOWHERE)
        pointers[arrow->target]++;
    return HAUL_OK;
}

static haul_status weigh_ranges(haul__nodes *nodes, void *user)
{
    const places *p = user;
    haul_status status = HAUL_OK;
    size_t i, offset;
    for (i = 0; p->pointers && i < nodes->count && status == HAUL_OK; i++) {
        p->pointers[i] += nodes->walk.entries.at[i].parent == SIZE_MAX;
        status = haul__nodes_arrows(nodes, i, count_pointer, p->pointers);
    }
    haul__shift_spans(nodes);
    for (i = 0; i < nodes->span_count && status == HAUL_OK; i++) {
        const size_t number = nodes->spans[i].entry;
        const haul_shipped_range range = haul__range_of(nodes, &nodes->spans[i]);
        const haul_place place = hinted(p, nodes, number, range.type);
        if (range.bytes > 0 && haul_plan_offset(p->plan, range.host, &offset) == HAUL_OK)
            spread(p, offset, range.bytes, place,
                   p->pointers && place == HAUL_PLACE_ANY ? rank_of(p, &range, p->pointers[number])
                                                          : 0);
    }
    return status;
}

static haul_status weigh(haul__nodes *nodes, void *user)
{
    places *p = user;
    const size_t bytes = nodes->count * sizeof *p->pointers;
    haul_status status = HAUL_ERROR_MEMORY;
    if (p->range->bytes <= p->left)
        return weigh_ranges(nodes, p);
    p->pointers = haul__allocate_zeroed(nodes->allocator, bytes);
    if (p->pointers)
        status = weigh_ranges(nodes, p);
    haul__release(nodes->allocator, p->pointers, bytes);
    return status;
}

/* ---- What the pages get. */

static uint64_t bytes_of_page(const places *p, size_t i)
{
    return i + 1 < p->count ? p->page_bytes : p->range->bytes - i * p->page_bytes;
}

static haul_place wish_of(const placed_page *of)
{
    if (of->bytes[HAUL_PLACE_DEVICE])
        return HAUL_PLACE_DEVICE;
    if (of->bytes[HAUL_PLACE_ANY] || of->bytes[HAUL_PLACE_HOST] + of->bytes[HAUL_PLACE_MOVING] == 0)
        return HAUL_PLACE_ANY;
    return of->bytes[HAUL_PLACE_HOST] >= of->bytes[HAUL_PLACE_MOVING] ? HAUL_PLACE_HOST
                                                                      : HAUL_PLACE_MOVING;
}

static int comes_before(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    return left->rank != right->rank ? left->rank > right->rank : left->page < right->page;
}

/* Gives the pages without a wish device memory, up to `left` bytes, the highest rank first. */
static haul_status fill_budget(places *p, uint64_t left)
{
    const haul_allocator *allocator = &p->device->context->allocator;
    ranked *order = haul__allocate_zeroed(allocator, p->count * sizeof *order);
    size_t i, count = 0;
    if (!order)
        return no_memory(p->device);
    for (i = 0; i < p->count; i++)
        if (p->pages[i].place == HAUL_PLACE_ANY) {
            order[count].rank = p->pages[i].rank / (double)bytes_of_page(p, i);
            order[count++].page = i;
        }
    haul__sort(order, count, sizeof *order, comes_before);
    for (i = 0; i < count; i++) {
        const uint64_t bytes = bytes_of_page(p, order[i].page);
        p->pages[order[i].page].place = bytes <= left ? HAUL_PLACE_DEVICE : p->options->spill;
        left -= bytes <= left ? bytes : 0;
    }
    haul__release(allocator, order, p->count * sizeof *order);
    return HAUL_OK;
}

static haul_status place_pages(places *p)
{
    uint64_t must = 0, may = 0;
    size_t i;
    for (i = 0; i < p->count; i++) {
        const haul_place place = p->pages[i].place = wish_of(&p->pages[i]);
        must += place == HAUL_PLACE_DEVICE ? bytes_of_page(p, i) : 0;
        may += place == HAUL_PLACE_ANY ? bytes_of_page(p, i) : 0;
    }
    if (p->options->spill != HAUL_PLACE_ANY && (must > p->left || may > p->left - must))
        return fill_budget(p, must < p->left ? p->left - must : 0);
    for (i = 0; i < p->count; i++)
        if (p->pages[i].place == HAUL_PLACE_ANY)
            p->pages[i].place = HAUL_PLACE_DEVICE;
    return HAUL_OK;
}

/* Pages of one place in a row become one placing; none if all lie in device memory. */
static haul_status write_placings(const places *p)
{
    haul__range *range = p->range;
    size_t i, count = 1, is_elsewhere = p->pages[0].place != HAUL_PLACE_DEVICE;
    for (i = 1; i < p->count; i++)
        count += p->pages[i].place != p->pages[i - 1].place;
    if (count == 1 && !is_elsewhere)
        return HAUL_OK;
    range->placings =
        haul__allocate_zeroed(&p->device->context->allocator, count * sizeof *range->placings);
    if (!range->placings)
        return no_memory(p->device);
    range->placing_count = count;
    for (i = count = 0; i < p->count; i++) {
        count += i > 0 && p->pages[i].place != p->pages[i - 1].place;
        range->placings[count].place = p->pages[i].place;
        range->placings[count].end = i * p->page_bytes + bytes_of_page(p, i);
    }
    return HAUL_OK;
}

/* ---- The calls. */

static haul_status choose(places *p)
{
    const haul_source source = haul_from_plan(p->plan);
    haul_status status = HAUL_OK;
    if (p->plan)
        status = haul__nodes_visit(p->device->context, &source, sizeof source, weigh, p);
    if (status == HAUL_OK)
        status = place_pages(p);
    return status == HAUL_OK ? write_placings(p) : status;
}

haul_status haul__choose_places(haul_device *device, haul_plan *plan,
                                const haul_ship_options *options, haul__range *range)
{
    const haul_device_capabilities *has = &device->capabilities;
    const haul_allocator *allocator = &device->context->allocator;
    places p;
    haul_status status;
    memset(&p, 0, sizeof p);
    p.left = haul__device_left(device);
    if (range->most && range->most < p.left)
        p.left = range->most;
    if (has->memory_bytes && has->memory_bytes < p.left)
        p.left = has->memory_bytes;
    if (has->place_bytes == 0 ||
        (options->hint_count == 0 && (options->spill == HAUL_PLACE_ANY || range->bytes <= p.left)))
        return HAUL_OK;
    p.device = device;
    p.plan = plan;
    p.options = options;
    p.range = range;
    p.page_bytes = has->place_bytes;
    p.count = (range->bytes - 1) / p.page_bytes + 1;
    p.pages = haul__allocate_zeroed(allocator, p.count * sizeof *p.pages);
    if (!p.pages)
        return no_memory(device);
    status = choose(&p);
    haul__release(allocator, p.pages, p.count * sizeof *p.pages);
    return status;
}

haul_status haul__check_place_options(haul_device *device, int is_arena,
                                      const haul_ship_options *options)
{
    haul_error *error = &device->context->error;
    size_t i;
    if (options->spill != HAUL_PLACE_ANY && options->spill != HAUL_PLACE_HOST &&
        options->spill != HAUL_PLACE_MOVING)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->spill is %d: it is HAUL_PLACE_HOST, HAUL_PLACE_MOVING or 0",
                          (int)options->spill);
    if (!options->hints && options->hint_count > 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->hints is NULL, and hint_count is not 0");
    if (is_arena && (options->hint_count > 0 || options->rank))
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->hints and rank are for objects: an arena has bytes");
    for (i = 0; i < options->hint_count; i++) {
        const haul_place place = options->hints[i].place;
        if (!options->hints[i].type || place < HAUL_PLACE_DEVICE || place > HAUL_PLACE_MOVING)
            return haul__fail(error, HAUL_ERROR_ARGUMENT, "hints[%zu] has no type, or no place", i);
        if (place != HAUL_PLACE_DEVICE && device->capabilities.place_bytes == 0)
            return haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                              "hints[%zu]: all memory of the device \"%s\" is its own", i,
                              device->table.name);
    }
    return HAUL_OK;
}

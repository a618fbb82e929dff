/* Places: which pages of a range lie in device memory, and which elsewhere.
 *
 * A range is one run of device addresses, wherever its pages lie. So packing, pointers, updates and
 * copies know nothing of places: only the allocation does.
 *
 * Objects lie in a range in the order of their source addresses. Large arrays fill pages of their
 * own in any order, and small objects of one type are mostly allocated together. So no object is
 * moved for its place; a page goes where its bytes want to. It lies in device memory if any of them
 * must. Else, if some of its bytes have no place by a hint, its density decides: the uses of these
 * bytes, divided by the page's size. The densest pages fill the budget, and the others are spilled.
 * If hints give all bytes a place, the place of most of them counts.
 *
 * Uses are those that hints tell; elsewhere each pointer to a range counts as one. The map knows
 * the pointers, so they are counted without a walk, page by page, and only pages are sorted. Hints
 * need a recording walk, which tells the ranges of a type.
 */
#include "base/sort.h"
#include "device/deferred.h"
#include "device/device.h"
#include "pack/in_degree.h"
#include "ship/places.h"
#include "ship/spans.h"

typedef struct placed_page {
    uint64_t bytes[HAUL_PLACE_MOVING + 1]; /* of ranges, by the place that a hint gives them */
    uint64_t unhinted;                     /* of them, without a hint */
    double uses;
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
} places;

static haul_status no_memory(haul_device *device)
{
    return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for the places of a shipment");
}

/* ---- What hints want: a walk finds the ranges that each names. */

static int is_of_field(const haul__nodes *nodes, const haul__entry *entry,
                       const haul_place_hint *hint)
{
    size_t parent = entry->parent;
    while (parent != SIZE_MAX && nodes->walk.entries.at[parent].what == HAUL__POINTERS)
        parent = nodes->walk.entries.at[parent].parent;
    return parent != SIZE_MAX && entry->slot && strcmp(entry->slot->name, hint->field) == 0 &&
           nodes->walk.met_types[nodes->walk.entries.at[parent].met_type].type == hint->type;
}

/* The number of the first hint that fits; else of hints. */
static size_t hint_for(const places *p, const haul__nodes *nodes, size_t entry,
                       const haul_type *type)
{
    size_t i;
    for (i = 0; i < p->options->hint_count; i++) {
        const haul_place_hint *hint = &p->options->hints[i];
        if (hint->field ? is_of_field(nodes, &nodes->walk.entries.at[entry], hint)
                        : type == hint->type)
            break;
    }
    return i;
}

/* The end of what lies in the page of `at`, of bytes that end at `end`. */
static uint64_t end_in_page(const places *p, uint64_t at, uint64_t end)
{
    const uint64_t here = at - at % p->page_bytes + p->page_bytes;
    return here < end ? here : end;
}

static void add_bytes(const places *p, uint64_t at, uint64_t end, const haul_place_hint *hint)
{
    while (at < end) {
        placed_page *in = &p->pages[at / p->page_bytes];
        const uint64_t next = end_in_page(p, at, end);
        in->bytes[hint ? hint->place : HAUL_PLACE_ANY] += next - at;
        in->unhinted += hint ? 0 : next - at;
        at = next;
    }
}

/* The part of the page's bytes that have no hint. Without a walk, no bytes are known. */
static double unhinted_part(const placed_page *of)
{
    const uint64_t all = of->bytes[HAUL_PLACE_ANY] + of->bytes[HAUL_PLACE_DEVICE] +
                         of->bytes[HAUL_PLACE_HOST] + of->bytes[HAUL_PLACE_MOVING];
    return all ? (double)of->unhinted / (double)all : 1;
}

static void add_uses(const places *p, uint64_t at, uint64_t end, double of_byte, int is_unhinted)
{
    while (at < end) {
        placed_page *in = &p->pages[at / p->page_bytes];
        const uint64_t next = end_in_page(p, at, end);
        in->uses += of_byte * (double)(next - at) * (is_unhinted ? unhinted_part(in) : 1);
        at = next;
    }
}

/* First each hint's bytes are summed up in `hinted`; then its uses are divided among them. */
static void weigh_range(const places *p, const haul__nodes *nodes, size_t span, uint64_t *hinted,
                        int is_second)
{
    const haul_shipped_range range = haul__range_of(nodes, &nodes->spans[span]);
    const size_t number = hint_for(p, nodes, nodes->spans[span].entry, range.type);
    const haul_place_hint *hint =
        number < p->options->hint_count ? &p->options->hints[number] : NULL;
    const uint64_t all = p->range->arena_bytes;
    size_t at;
    uint64_t end;
    if (range.bytes == 0 || haul_plan_offset(p->plan, range.host, &at) != HAUL_OK)
        return;
    end = range.bytes < all - at ? at + range.bytes : all;
    if (is_second && hint) {
        add_uses(p, at, end, (double)hint->uses / (double)hinted[number], 0);
    } else if (!is_second) {
        hinted[number] += end - at;
        add_bytes(p, at, end, hint);
    }
}

static int has_uses(const haul_ship_options *options)
{
    size_t i = 0;
    while (i < options->hint_count && options->hints[i].uses == 0)
        i++;
    return i < options->hint_count;
}

static haul_status weigh_hints(haul__nodes *nodes, void *user)
{
    const places *p = user;
    const size_t bytes = (p->options->hint_count + 1) * sizeof(uint64_t);
    uint64_t *hinted = haul__allocate_zeroed(nodes->allocator, bytes);
    size_t i;
    if (!hinted)
        return HAUL_ERROR_MEMORY;
    haul__shift_spans(nodes);
    for (i = 0; i < nodes->span_count; i++)
        weigh_range(p, nodes, i, hinted, 0);
    for (i = 0; i < nodes->span_count && has_uses(p->options); i++)
        weigh_range(p, nodes, i, hinted, 1);
    haul__release(nodes->allocator, hinted, bytes);
    return HAUL_OK;
}

/* ---- What pointers tell. Bytes from one target to the next are those of one range, in which the
 * pointers to the first of them lead. Only the last target in a page has a range that goes on. */

static haul_status weigh_pointers(const places *p)
{
    const haul_allocator *allocator = &p->device->context->allocator;
    haul__in_degree *degrees = haul__allocate_zeroed(allocator, p->count * sizeof *degrees);
    uint64_t end = p->range->arena_bytes;
    size_t i;
    if (!degrees)
        return no_memory(p->device);
    haul__count_in_degrees(p->plan, p->page_bytes, degrees);
    for (i = p->count; i-- > 0;) {
        const haul__in_degree *of = &degrees[i];
        if (of->pointers == 0)
            continue;
        p->pages[i].uses += (double)(of->pointers - of->to_last) * unhinted_part(&p->pages[i]);
        add_uses(p, of->last, end, (double)of->to_last / (double)(end - of->last), 1);
        end = of->first;
    }
    haul__release(allocator, degrees, p->count * sizeof *degrees);
    return HAUL_OK;
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
            order[count].rank = p->pages[i].uses / (double)bytes_of_page(p, i);
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

static haul_status choose(places *p, int exceeds)
{
    const haul_source source = haul_from_plan(p->plan);
    haul_status status = HAUL_OK;
    if (p->plan && p->options->hint_count > 0)
        status = haul__nodes_visit(p->device->context, &source, sizeof source, weigh_hints, p);
    if (p->plan && exceeds && status == HAUL_OK)
        status = weigh_pointers(p);
    if (status == HAUL_OK)
        status = place_pages(p);
    return status == HAUL_OK ? write_placings(p) : status;
}

static int leads_elsewhere(const haul_ship_options *options)
{
    size_t i = 0;
    while (i < options->hint_count && options->hints[i].place != HAUL_PLACE_HOST &&
           options->hints[i].place != HAUL_PLACE_MOVING)
        i++;
    return i < options->hint_count;
}

haul_status haul__choose_places(haul_device *device, haul_plan *plan,
                                const haul_ship_options *options, haul__range *range)
{
    const haul_device_capabilities *has = &device->capabilities;
    const haul_allocator *allocator = &device->context->allocator;
    places p;
    int exceeds;
    haul_status status;
    memset(&p, 0, sizeof p);
    p.left = haul__device_left(device);
    if (range->most && range->most < p.left)
        p.left = range->most;
    if (has->memory_bytes && has->memory_bytes < p.left)
        p.left = has->memory_bytes;
    exceeds = options->spill != HAUL_PLACE_ANY && range->bytes > p.left;
    if (has->place_bytes == 0 || (!exceeds && !leads_elsewhere(options)))
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
    status = choose(&p, exceeds);
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
    if (is_arena && options->hint_count > 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->hints are for objects: an arena has bytes");
    for (i = 0; i < options->hint_count; i++) {
        const haul_place place = options->hints[i].place;
        if (!options->hints[i].type || place < HAUL_PLACE_ANY || place > HAUL_PLACE_MOVING)
            return haul__fail(error, HAUL_ERROR_ARGUMENT,
                              "hints[%zu] has no type, or another place than a haul_place", i);
        if (place > HAUL_PLACE_DEVICE && device->capabilities.place_bytes == 0)
            return haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                              "hints[%zu]: all memory of the device \"%s\" is its own", i,
                              device->table.name);
    }
    return HAUL_OK;
}

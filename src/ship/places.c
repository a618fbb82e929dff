/* Places: which pages of a range lie in device memory, and which elsewhere.
 *
 * A range is one run of device addresses, wherever its pages lie. So packing, pointers, updates and
 * copies know nothing of places: only the allocation does.
 *
 * Objects lie in a range in the order of their source addresses. Large arrays fill pages of their
 * own in any order, and small objects of one type are mostly allocated together. So no object is
 * moved for its place; a page goes where its bytes want to. It lies in device memory if any of them
 * must. Else it has the place that most of its bytes have by hints. If most have none, its density
 * decides: its uses, divided by its size. The densest pages fill the budget. The next ones move, if
 * they may and the device has free memory beyond the budget, and the others lie on the host.
 *
 * Uses are those that hints tell; elsewhere each pointer to a range counts as one. The map knows
 * the pointers, so they are counted without a walk, page by page, and only pages are sorted. What
 * hints name is noted by discovery and counted by the map, too (hinted.c).
 */
#include "base/sort.h"
#include "device/deferred.h"
#include "device/device.h"
#include "pack/in_degree.h"
#include "pack/plan.h"
#include "pack/translate.h"
#include "ship/hinted.h"
#include "ship/places.h"
#include "type/type.h"

typedef struct placed_page {
    double uses;
    haul_place place;
} placed_page;

typedef struct ranked {
    double rank;
    size_t page;
} ranked;

typedef struct places {
    haul_device *device;
    haul_plan *plan; /* NULL: of an arena */
    const haul_ship_options *options;
    haul__range *range;
    uint64_t left;     /* of the budget, and of what the device has */
    uint64_t free;     /* what the device has */
    size_t page_bytes; /* of each but the last */
    size_t count;      /* of pages */
    placed_page *pages;
    /* for each page, and in it for each hint, the bytes that the hint names. NULL: there are no
     * hints */
    uint64_t *hinted;
} places;

static haul_status no_memory(haul_device *device)
{
    return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for the places of a shipment");
}

/* ---- What hints want. */

static uint64_t *hinted_in(const places *p, size_t page)
{
    return p->hinted + page * p->options->hint_count;
}

/* The end of what lies in the page of `at`, of bytes that end at `end`. */
static uint64_t end_in_page(const places *p, uint64_t at, uint64_t end)
{
    const uint64_t here = at - at % p->page_bytes + p->page_bytes;
    return here < end ? here : end;
}

/* A hint's uses are divided among its bytes. */
static void weigh_hint(const places *p, size_t number)
{
    const double uses = (double)p->options->hints[number].uses;
    uint64_t all = 0;
    size_t i;
    for (i = 0; i < p->count; i++)
        all += hinted_in(p, i)[number];
    for (i = 0; i < p->count && all; i++)
        p->pages[i].uses += uses / (double)all * (double)hinted_in(p, i)[number];
}

static haul_status weigh_hints(places *p)
{
    const haul_status status = haul__count_hinted(p->plan, p->options, p->page_bytes, p->hinted);
    size_t i;
    for (i = 0; i < p->options->hint_count && status == HAUL_OK; i++)
        weigh_hint(p, i);
    return status;
}

/* The bytes of the arena in the page. */
static uint64_t arena_bytes_in(const places *p, size_t page)
{
    const uint64_t at = page * (uint64_t)p->page_bytes, end = p->range->arena_bytes;
    return at < end ? end_in_page(p, at, end) - at : 0;
}

/* Of these, the bytes that no hint names, if ranges share none. */
static uint64_t unhinted_bytes(const places *p, size_t page)
{
    uint64_t bytes = arena_bytes_in(p, page);
    size_t i;
    for (i = 0; p->hinted && i < p->options->hint_count; i++)
        bytes -= hinted_in(p, page)[i] < bytes ? hinted_in(p, page)[i] : bytes;
    return bytes;
}

static double unhinted_part(const places *p, size_t page)
{
    return (double)unhinted_bytes(p, page) / (double)arena_bytes_in(p, page);
}

/* The uses of bytes without a hint. */
static void add_uses(const places *p, uint64_t at, uint64_t end, double of_byte)
{
    while (at < end) {
        const size_t page = (size_t)(at / p->page_bytes);
        const uint64_t next = end_in_page(p, at, end);
        p->pages[page].uses += of_byte * (double)(next - at) * unhinted_part(p, page);
        at = next;
    }
}

/* ---- What pointers tell. Bytes from one target to the next are those of one range, in which the
 * pointers to the first of them lead. Only the last target in a page has a range that goes on. */

static haul_status weigh_pointers(const places *p)
{
    const haul_allocator *allocator = &p->device->context->allocator;
    const size_t list_bytes = p->count * sizeof(haul__in_degree);
    size_t lists = haul__in_degree_lists(p->plan), bytes = list_bytes, i;
    uint64_t end = p->range->arena_bytes;
    haul__in_degree *degrees = NULL;
    if (lists > 1 && !haul__multiply_overflows(list_bytes, lists, &bytes))
        degrees = haul__allocate_zeroed(allocator, bytes);
    if (!degrees) { /* one thread needs one list */
        lists = 1;
        bytes = list_bytes;
        degrees = haul__allocate_zeroed(allocator, bytes);
    }
    if (!degrees)
        return no_memory(p->device);
    haul__count_in_degrees(p->plan, p->page_bytes, degrees, p->count, lists);
    for (i = p->count; i-- > 0;) {
        const haul__in_degree *of = &degrees[i];
        if (of->pointers == 0)
            continue;
        p->pages[i].uses += (double)(of->pointers - of->to_last) * unhinted_part(p, i);
        add_uses(p, of->last, end, (double)of->to_last / (double)(end - of->last));
        end = of->first;
    }
    haul__release(allocator, degrees, bytes);
    return HAUL_OK;
}

/* ---- What the pages get. */

static uint64_t bytes_of_page(const places *p, size_t i)
{
    return i + 1 < p->count ? p->page_bytes : p->range->bytes - i * p->page_bytes;
}

/* The place of most bytes; but device memory if any byte must lie there. */
static haul_place wish_of(const places *p, size_t page)
{
    uint64_t bytes[HAUL_PLACE_MOVING + 1] = { 0 };
    haul_place place = HAUL_PLACE_ANY;
    size_t i;
    bytes[HAUL_PLACE_ANY] = unhinted_bytes(p, page);
    for (i = 0; p->hinted && i < p->options->hint_count; i++)
        bytes[p->options->hints[i].place] += hinted_in(p, page)[i];
    if (bytes[HAUL_PLACE_HOST] > bytes[place])
        place = HAUL_PLACE_HOST;
    if (bytes[HAUL_PLACE_MOVING] > bytes[place])
        place = HAUL_PLACE_MOVING;
    return bytes[HAUL_PLACE_DEVICE] ? HAUL_PLACE_DEVICE : place;
}

static int comes_before(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    return left->rank != right->rank ? left->rank > right->rank : left->page < right->page;
}

static int take(uint64_t bytes, uint64_t *from)
{
    const int fits = bytes <= *from;
    *from -= fits ? bytes : 0;
    return fits;
}

/* Gives the pages without a wish device memory, up to `left` bytes, the highest rank first. Of the
 * others up to `room` bytes move, and the rest lies on the host. */
static haul_status fill_budget(places *p, uint64_t left, uint64_t room)
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
        p->pages[order[i].page].place = take(bytes, &left)   ? HAUL_PLACE_DEVICE
                                        : take(bytes, &room) ? HAUL_PLACE_MOVING
                                                             : HAUL_PLACE_HOST;
    }
    haul__release(allocator, order, p->count * sizeof *order);
    return HAUL_OK;
}

static haul_status place_pages(places *p)
{
    uint64_t must = 0, may = 0, moves = 0, taken;
    size_t i;
    for (i = 0; i < p->count; i++) {
        const haul_place place = p->pages[i].place = wish_of(p, i);
        must += place == HAUL_PLACE_DEVICE ? bytes_of_page(p, i) : 0;
        may += place == HAUL_PLACE_ANY ? bytes_of_page(p, i) : 0;
        moves += place == HAUL_PLACE_MOVING ? bytes_of_page(p, i) : 0;
    }
    if (p->options->spill != HAUL_PLACE_ANY && (must > p->left || may > p->left - must)) {
        taken = moves + (must > p->left ? must : p->left);
        if (p->options->spill != HAUL_PLACE_MOVING || taken > p->free)
            taken = p->free;
        return fill_budget(p, must < p->left ? p->left - must : 0, p->free - taken);
    }
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
    haul_status status = p->hinted ? weigh_hints(p) : HAUL_OK;
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

int haul__are_hints_needed(const haul_device *device, const haul_ship_options *options)
{
    return device->capabilities.place_bytes != 0 && options->hint_count > 0 &&
           (options->spill != HAUL_PLACE_ANY || leads_elsewhere(options));
}

/* SIZE_MAX: more than there can be. */
static size_t hinted_bytes(const places *p)
{
    size_t count, bytes;
    return haul__multiply_overflows(p->count, p->options->hint_count, &count) ||
                   haul__multiply_overflows(count, sizeof *p->hinted, &bytes)
               ? SIZE_MAX
               : bytes;
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
    p.free = options->spill == HAUL_PLACE_ANY ? UINT64_MAX : haul__device_free(device);
    if (p.free < p.left)
        p.left = p.free;
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
    if (plan && options->hint_count > 0)
        p.hinted = haul__allocate_zeroed(allocator, hinted_bytes(&p));
    status = p.pages && (p.hinted || !plan || options->hint_count == 0) ? choose(&p, exceeds)
                                                                        : no_memory(device);
    haul__release(allocator, p.hinted, hinted_bytes(&p));
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
        if (!haul__type_walk(options->hints[i].type) || place < HAUL_PLACE_ANY ||
            place > HAUL_PLACE_MOVING)
            return haul__fail(
                error, HAUL_ERROR_ARGUMENT,
                "hints[%zu] has no committed type, or another place than a haul_place", i);
        if (place > HAUL_PLACE_DEVICE && device->capabilities.place_bytes == 0)
            return haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                              "hints[%zu]: all memory of the device \"%s\" is its own", i,
                              device->table.name);
    }
    return HAUL_OK;
}

/* Places: which pages of a range lie in device memory, and which elsewhere.
 *
 * A range is one run of device addresses, wherever its pages lie. So packing, pointers, updates and
 * copies know nothing of places: only the allocation does.
 *
 * Objects lie in a range in the order of their source addresses. Large arrays fill pages of their
 * own in any order, and small objects of one type are mostly allocated together. So no object is
 * moved for its place; a page goes where its bytes want to. It lies in device memory if any of them
 * must. Else, if some of its bytes have no place by a hint, its density decides: the uses of these
 * bytes, divided by the page's size. The densest pages fill the budget. The next ones move, if they
 * may and the device has free memory beyond the budget, and the others lie on the host.
 * If hints give all bytes a place, the place of most of them counts.
 *
 * Uses are those that hints tell; elsewhere each pointer to a range counts as one. The map knows
 * the pointers, so they are counted without a walk, page by page, and only pages are sorted. Hints
 * need a walk, because the map knows no types: each range that it finds is added to its page at
 * once, and forgotten.
 */
#include "base/sort.h"
#include "device/deferred.h"
#include "device/device.h"
#include "pack/in_degree.h"
#include "pack/plan.h"
#include "pack/translate.h"
#include "ship/places.h"
#include "type/type.h"
#include "walk/discover.h"
#include "walk/new_ranges.h"

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
    /* for each page, and in it for each hint, the bytes that the hint names; the last ones of a
     * page have no hint. NULL: there are no hints */
    uint64_t *hinted;
} places;

static haul_status no_memory(haul_device *device)
{
    return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for the places of a shipment");
}

/* ---- What hints want: a walk finds the ranges that each names. */

/* Is the slot a row of the type's objects? */
static int has_slot(const haul_type *type, const haul__slot *slot)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t i;
    if ((uintptr_t)slot - (uintptr_t)walk->slots < walk->slot_count * sizeof *slot)
        return 1;
    for (i = 0; i < walk->ruled_count; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        const size_t cases = ruled->rule ? ruled->rule->said.type_switch.case_count : 0;
        if (slot == &ruled->slot ||
            (uintptr_t)slot - (uintptr_t)ruled->cases < cases * sizeof *slot)
            return 1;
    }
    return 0;
}

/* The number of the first hint that fits; else of hints. */
static size_t hint_for(const places *p, const haul__new_range *range)
{
    size_t i;
    for (i = 0; i < p->options->hint_count; i++) {
        const haul_place_hint *hint = &p->options->hints[i];
        if (hint->field ? range->slot && strcmp(range->slot->name, hint->field) == 0 &&
                              has_slot(hint->type, range->slot)
                        : range->type == hint->type)
            break;
    }
    return i;
}

static uint64_t *bytes_in_page(const places *p, size_t page)
{
    return p->hinted + page * (p->options->hint_count + 1);
}

/* The end of what lies in the page of `at`, of bytes that end at `end`. */
static uint64_t end_in_page(const places *p, uint64_t at, uint64_t end)
{
    const uint64_t here = at - at % p->page_bytes + p->page_bytes;
    return here < end ? here : end;
}

static void add_range(void *user, const haul__new_range *range)
{
    const places *p = user;
    const size_t number = hint_for(p, range);
    uint64_t at, end, next;
    if (!haul__offset_of(p->plan, range->begin, &at))
        return;
    end = range->bytes < p->range->arena_bytes - at ? at + range->bytes : p->range->arena_bytes;
    for (; at < end; at = next) {
        next = end_in_page(p, at, end);
        bytes_in_page(p, (size_t)(at / p->page_bytes))[number] += next - at;
    }
}

/* A hint's uses are divided among its bytes. */
static void weigh_hint(const places *p, size_t number)
{
    const double uses = (double)p->options->hints[number].uses;
    uint64_t all = 0;
    size_t i;
    for (i = 0; i < p->count; i++)
        all += bytes_in_page(p, i)[number];
    for (i = 0; i < p->count && all; i++)
        p->pages[i].uses += uses / (double)all * (double)bytes_in_page(p, i)[number];
}

static haul_status weigh_hints(places *p)
{
    const haul_root *roots;
    size_t count, i;
    haul_status status;
    roots = haul__plan_roots(p->plan, &count);
    status = haul__visit_ranges(p->device->context, roots, count, add_range, p);
    for (i = 0; i < p->options->hint_count && status == HAUL_OK; i++)
        weigh_hint(p, i);
    return status;
}

/* The page's bytes by the place that hints give them. Answers how many there are. */
static uint64_t sum_up(const places *p, size_t page, uint64_t by_place[HAUL_PLACE_MOVING + 1])
{
    const size_t hints = p->options->hint_count;
    uint64_t all;
    size_t i;
    memset(by_place, 0, (HAUL_PLACE_MOVING + 1) * sizeof *by_place);
    if (!p->hinted)
        return 0;
    by_place[HAUL_PLACE_ANY] = all = bytes_in_page(p, page)[hints];
    for (i = 0; i < hints; i++) {
        by_place[p->options->hints[i].place] += bytes_in_page(p, page)[i];
        all += bytes_in_page(p, page)[i];
    }
    return all;
}

/* The part of the page's bytes that have no hint. Without a walk, no bytes are known. */
static double unhinted_part(const places *p, size_t page)
{
    uint64_t by_place[HAUL_PLACE_MOVING + 1];
    const uint64_t all = sum_up(p, page, by_place);
    return all ? (double)bytes_in_page(p, page)[p->options->hint_count] / (double)all : 1;
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
        p->pages[i].uses += (double)(of->pointers - of->to_last) * unhinted_part(p, i);
        add_uses(p, of->last, end, (double)of->to_last / (double)(end - of->last));
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

static haul_place wish_of(const places *p, size_t page)
{
    uint64_t bytes[HAUL_PLACE_MOVING + 1];
    sum_up(p, page, bytes);
    if (bytes[HAUL_PLACE_DEVICE])
        return HAUL_PLACE_DEVICE;
    if (bytes[HAUL_PLACE_ANY] || bytes[HAUL_PLACE_HOST] + bytes[HAUL_PLACE_MOVING] == 0)
        return HAUL_PLACE_ANY;
    return bytes[HAUL_PLACE_HOST] >= bytes[HAUL_PLACE_MOVING] ? HAUL_PLACE_HOST : HAUL_PLACE_MOVING;
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

static size_t hinted_bytes(const places *p)
{
    return p->count * (p->options->hint_count + 1) * sizeof *p->hinted;
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

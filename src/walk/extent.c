/* The extent of a pointer's target: how many elements it has, and whether they can be there.
 *
 * Each field that a shape reads is read here once, and joins the read set.
 */
#include <inttypes.h>

#include "walk/extent.h"
#include "type/field.h"
#include "walk/callbacks.h"
#include "walk/changed.h"
#include "walk/memo.h"
#include "walk/paths.h"
#include "walk/readable.h"

/* *product: times * fields + plus. */
static haul_status read_product(haul__discovery *d, const haul__pointer *p, const haul_count *shape,
                                unsigned mode, int may_be_negative, int64_t *product)
{
    const haul__slot *slot = p->slot;
    const uintptr_t self = p->self;
    int64_t total = shape->fields ? shape->times : 0;
    unsigned i;
    for (i = 0; i < shape->fields; i++) {
        const haul_integer *place = &shape->field[i];
        haul_integer as_stored = *place;
        int64_t value, stored = 0;
        haul_status status;
        if (d->sought.count == self + place->offset && !(mode & HAUL__DRY))
            return haul__refuse(d, HAUL_ERROR_STALE, slot, "this count has changed");
        status = haul__check_integer(d, slot, self, place);
        if (status != HAUL_OK)
            return status;
        if (!haul__read_field((const void *)self, place, &value))
            return haul__refuse(d, HAUL_ERROR_LIMIT, slot, "its count is above 2^63");
        as_stored.sign = 1;
        haul__read_field((const void *)self, &as_stored, &stored);
        status = mode & HAUL__DRY ? HAUL_OK
                                  : haul__note_read(d, self + place->offset, place->bytes, stored);
        if (status != HAUL_OK)
            return status;
        if (value < 0 && !may_be_negative)
            return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "count %lld in the field at offset %zu",
                                (long long)value, place->offset);
        if (haul__product_overflows(total, value, &total))
            return haul__refuse(d, HAUL_ERROR_LIMIT, slot, "its count overflows");
    }
    return haul__sum_overflows(total, shape->plus, product)
               ? haul__refuse(d, HAUL_ERROR_LIMIT, slot, "its count overflows")
               : HAUL_OK;
}

static haul_status count_fields(haul__discovery *d, const haul__pointer *p, unsigned mode,
                                size_t *count)
{
    const haul__slot *slot = p->slot;
    const haul_count *shape = &slot->shape[p->level];
    int64_t total = 0;
    haul_status status = read_product(d, p, shape, mode, 0, &total);
    if (status != HAUL_OK)
        return status;
    if (total < 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "count %lld", (long long)total);
    if (!p->value && total && shape->fields && p->level == 0 && !(slot->flags & HAUL__SLOT_EACH))
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "a NULL pointer with count %lld",
                            (long long)total);
    if ((uint64_t)total > SIZE_MAX)
        return haul__refuse(d, HAUL_ERROR_LIMIT, slot, "count %lld", (long long)total);
    *count = (size_t)total;
    return HAUL_OK;
}

static haul_status count_to_end(haul__discovery *d, const haul__pointer *p, size_t *count)
{
    const haul__slot *slot = p->slot;
    const haul_integer *field = &slot->shape[p->level].field[0];
    const size_t unit = haul__unit_of(slot, p->level);
    const uintptr_t value = p->value;
    uintptr_t end;
    haul_status status = haul__check_integer(d, slot, p->self, field);
    if (status != HAUL_OK)
        return status;
    end = haul__load_word((const void *)(p->self + field->offset));
    if (!value && !end)
        return HAUL_OK;
    if (!value || end < value)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "its end lies before its begin");
    if ((end - value) % unit != 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                            "its end lies %zu bytes on, no multiple of the element's %zu bytes",
                            (size_t)(end - value), unit);
    *count = (size_t)(end - value) / unit;
    return HAUL_OK;
}

static haul_status call(haul__discovery *d, const haul__pointer *p, const haul_count *shape,
                        const haul__nearest *nearest, unsigned mode, int64_t *answer)
{
    haul__asked asked;
    asked.question = HAUL__ASKS_COUNT;
    asked.function = shape->function;
    asked.slot = p->slot;
    asked.here.self = (const void *)p->self;
    asked.here.target = (const void *)p->value;
    asked.here.index = p->index;
    asked.here.place = (const void *)p->place;
    asked.nearest = *nearest;
    asked.by_rule = p->by_rule;
    return haul__call_back(d, &asked, mode, answer);
}

haul_status haul__count_by_function(haul__discovery *d, const haul__pointer *p, unsigned mode,
                                    size_t *count)
{
    int64_t answer = 0;
    haul_status status = call(d, p, &p->slot->shape[p->level], &p->nearest, mode, &answer);
    if (status != HAUL_OK)
        return status;
    if (answer < 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, p->slot, "its callback answered %lld",
                            (long long)answer);
    if ((uint64_t)answer > SIZE_MAX)
        return haul__refuse(d, HAUL_ERROR_LIMIT, p->slot, "count %lld", (long long)answer);
    *count = (size_t)answer;
    return HAUL_OK;
}

haul_status haul__value_of(haul__discovery *d, const haul__pointer *p, const haul_count *shape,
                           int64_t *value)
{
    static const haul__nearest none = { 0, NULL };
    *value = 1;
    if (shape->kind == HAUL_COUNT_KIND_ONE)
        return HAUL_OK;
    return shape->kind == HAUL_COUNT_KIND_PRODUCT ? read_product(d, p, shape, HAUL__NOTED, 1, value)
                                                  : call(d, p, shape, &none, HAUL__NOTED, value);
}

/* The number of bytes up to the end of the first element that equals `value`; 0: there is none in
 * `bytes` bytes. */
static size_t find_element(uintptr_t address, size_t bytes, size_t unit, int64_t value)
{
    haul_integer place;
    size_t at;
    if (unit == 1) {
        const char *hit = memchr((const void *)address, (int)(value & 255), bytes);
        return hit ? (size_t)((uintptr_t)hit - address) + 1 : 0;
    }
    place.offset = 0;
    place.bytes = (uint8_t)unit;
    place.sign = 1;
    for (at = 0; bytes - at >= unit; at += unit) {
        int64_t element = 0;
        haul__read_field((const void *)(address + at), &place, &element);
        if (element == value)
            return at + unit;
    }
    return 0;
}

int64_t haul__narrow(int64_t value, size_t unit)
{
    unsigned shift = (unsigned)(64 - 8 * (unit < 8 ? unit : 8));
    uint64_t bits = (uint64_t)value << shift;
    return shift ? (int64_t)bits / ((int64_t)1 << shift) : value;
}

static haul_status count_to_sentinel(haul__discovery *d, const haul__pointer *p, unsigned mode,
                                     size_t *count)
{
    const haul__slot *slot = p->slot;
    const uintptr_t value = p->value;
    const size_t unit = haul__unit_of(slot, p->level);
    const int64_t sentinel = haul__narrow(slot->shape[p->level].plus, unit);
    size_t limit = d->context->options.max_scan_bytes, done = 0;
    if (value < HAUL__LOWEST || value > HAUL__HIGHEST)
        return haul__refuse_outside(d, slot, value);
    /* A suffix of the last string is known to be marked: to search each suffix would take n * n
     * steps. */
    if (!(mode & HAUL__EXACT) &&
        ((value != d->string_first && haul__is_in_last_string(d, value, unit, sentinel)) ||
         (!slot->target &&
          haul__memo_has(d, HAUL__MEMO_STRING, value, unit, sentinel ? slot->shape : NULL)))) {
        *count = HAUL__KNOWN;
        return HAUL_OK;
    }
    if (!d->sought.count && haul__is_in_last_string(d, value, unit, sentinel)) {
        *count = (size_t)(d->string_end - value) / unit;
        return HAUL_OK;
    }
    if (limit > HAUL__HIGHEST - value)
        limit = HAUL__HIGHEST - value;
    if (!d->within)
        limit = haul__known_bytes(d, value, limit, HAUL__LIVE);
    while (done < limit) {
        size_t piece = limit - done, found;
        if (d->within) { /* page by page: strings are short, known memory may be long */
            const size_t most = piece < HAUL__PAGE_BYTES ? piece : HAUL__PAGE_BYTES;
            piece = haul__known_bytes(d, value + done, most, HAUL__LIVE);
            if (piece < most)
                limit = done + piece;
            if (!piece)
                break;
        }
        if (d->context->options.readable) {
            size_t page = ((size_t)1 << HAUL__PAGE_SHIFT) -
                          ((value + done) & (((size_t)1 << HAUL__PAGE_SHIFT) - 1));
            if (piece > page)
                piece = page < unit ? unit : page - page % unit;
            /* halved, as the terminator may stand long before the first unreadable byte */
            while (!haul__is_readable(d, value + done, piece)) {
                if (piece <= unit)
                    return haul__refuse_unreadable(d, slot);
                piece = piece / 2 < unit ? unit : piece / 2 - piece / 2 % unit;
            }
        }
        found = find_element(value + done, piece, unit, sentinel);
        if ((found ? found : piece) >= HAUL__MEMO_BYTES) {
            haul_status status = haul__spend(d, found ? found : piece);
            if (status != HAUL_OK)
                return status;
        }
        if (!(mode & HAUL__DRY) && d->sought.count >= value &&
            d->sought.count - value < done + (found ? found : piece))
            return haul__refuse(d, HAUL_ERROR_STALE, slot, "its terminator is gone");
        if (found) {
            *count = (done + found) / unit;
            haul__note_string(d, value, value + done + found, unit, sentinel);
            return HAUL_OK;
        }
        done += piece;
    }
    if (d->within) {
        *count = HAUL__KNOWN;
        return HAUL_OK;
    }
    return haul__refuse(d, HAUL_ERROR_LIMIT, slot,
                        "no terminator within %zu bytes (limit scan_bytes)", limit);
}

haul_status haul__count_of(haul__discovery *d, const haul__pointer *p, unsigned mode, size_t *count)
{
    const haul_count *shape = &p->slot->shape[p->level];
    haul_status status = HAUL_OK;
    *count = 0;
    switch (shape->kind) {
    case HAUL_COUNT_KIND_ONE:
        *count = 1;
        break;
    case HAUL_COUNT_KIND_PRODUCT:
        status = count_fields(d, p, mode, count);
        break;
    case HAUL_COUNT_KIND_UNTIL:
        status = count_to_end(d, p, count);
        break;
    case HAUL_COUNT_KIND_TERMINATED:
        if (p->value)
            status = count_to_sentinel(d, p, mode, count);
        break;
    case HAUL_COUNT_KIND_FUNCTION:
        if (p->value)
            status = haul__count_by_function(d, p, mode, count);
        break;
    }
    return status;
}

haul_status haul__check_span(haul__discovery *d, const haul__slot *slot, uintptr_t address,
                             size_t count, size_t bytes)
{
    const haul_context_options *limits = &d->context->options;
    if (count > limits->max_array_elements)
        return haul__refuse(d, HAUL_ERROR_LIMIT, slot,
                            "%zu elements, more than the limit array_elements of %zu", count,
                            limits->max_array_elements);
    if (bytes > limits->max_bytes)
        return haul__refuse(d, HAUL_ERROR_LIMIT, slot, "%zu bytes, more than the limit of %zu",
                            bytes, limits->max_bytes);
    if (address < HAUL__LOWEST || address > HAUL__HIGHEST || bytes > HAUL__HIGHEST - address)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                            "%zu bytes at 0x%" PRIxPTR " lie outside any process's address range",
                            bytes, address);
    return HAUL_OK;
}

haul_status haul__check_extent(haul__discovery *d, const haul__entry *entry, size_t element_bytes,
                               size_t alignment, uintptr_t *end)
{
    haul_status status;
    size_t bytes;
    if (haul__multiply_overflows(entry->count - 1, entry->stride, &bytes) ||
        haul__add_overflows(bytes, element_bytes, &bytes))
        return haul__refuse(d, HAUL_ERROR_LIMIT, entry->slot, "%zu elements of %zu bytes overflow",
                            entry->count, entry->stride);
    status = haul__check_span(d, entry->slot, entry->address, entry->count, bytes);
    if (status != HAUL_OK)
        return status;
    if ((entry->address & (alignment - 1)) != 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot,
                            "a misaligned pointer: its address modulo %zu is %zu", alignment,
                            (size_t)(entry->address & (alignment - 1)));
    if (!haul__is_readable(d, entry->address, bytes))
        return haul__refuse_unreadable(d, entry->slot);
    *end = entry->address + bytes;
    return HAUL_OK;
}

/* Following one pointer: how many elements stand behind it, whether they can be there, and their marks.
 *
 * Every count and every pointer is read here once; from then on the marks are what is trusted.
 */
#include "graph/discovery.h"

static haul_status note_guard(haul__discovery *d, uintptr_t address, unsigned bytes, int64_t value)
{
    haul__found *found = d->found;
    uint64_t place = (uint64_t)address | (uint64_t)bytes << 56;
    void *guards = found->guards;
    if (found->guard_count && found->guards[found->guard_count - 1].place == place)
        return HAUL_OK;
    if (!haul__grow(d->allocator, &guards, &found->guard_capacity, found->guard_count + 1, sizeof *found->guards))
        return HAUL_ERROR_MEMORY;
    found->guards = guards;
    found->guards[found->guard_count].place = place;
    found->guards[found->guard_count++].value = value;
    return HAUL_OK;
}

int64_t haul__guard_read(const haul__guard *guard)
{
    haul_field_place place;
    int64_t value = 0;
    place.offset = 0;
    place.bytes = (uint8_t)(guard->place >> 56);
    place.is_signed = 1;
    haul__read_field((const void *)(uintptr_t)(guard->place & UINT64_C(0x00ffffffffffffff)), &place, &value);
    return value;
}

static haul_status note_call(haul__discovery *d, haul_count_function *function, const haul_here *here, int64_t value)
{
    haul__found *found = d->found;
    void *calls = found->calls;
    if (!haul__grow(d->allocator, &calls, &found->call_capacity, found->call_count + 1, sizeof *found->calls))
        return HAUL_ERROR_MEMORY;
    found->calls = calls;
    found->calls[found->call_count].function = function;
    found->calls[found->call_count].here = *here;
    found->calls[found->call_count++].value = value;
    return HAUL_OK;
}

/* A pointer to no elements may lead anywhere: gather must not take it for one that has changed. */
static haul_status note_empty(haul__discovery *d, uintptr_t place)
{
    haul__found *found = d->found;
    void *empty = found->empty;
    if (!haul__grow(d->allocator, &empty, &found->empty_capacity, found->empty_count + 1, sizeof *found->empty))
        return HAUL_ERROR_MEMORY;
    found->empty = empty;
    found->empty[found->empty_count++] = place;
    return HAUL_OK;
}

static size_t unit_of(const haul__slot *slot, unsigned level)
{
    return level + 1u == slot->levels ? slot->unit : HAUL__WORD;
}

static haul_status count_fields(haul__discovery *d, const haul__slot *slot, unsigned level, uintptr_t self,
                                size_t index, size_t *count)
{
    const haul_shape *shape = &slot->shape[level];
    int64_t total = shape->multiply;
    unsigned i;
    if (shape->field_count == 0)
        total = 0;
    for (i = 0; i < shape->field_count; i++) {
        const haul_field_place *place = &shape->field[i];
        haul_field_place as_stored = *place;
        int64_t value, stored = 0;
        haul_status status;
        if (d->seek_count == self + place->offset)
            return haul__refuse(d, HAUL_ERROR_STALE, slot, index, "this count has changed");
        if (!haul__read_field((const void *)self, place, &value))
            return haul__refuse(d, HAUL_ERROR_LIMIT, slot, index, "its count is above 2^63");
        as_stored.is_signed = 1;
        haul__read_field((const void *)self, &as_stored, &stored);
        status = note_guard(d, self + place->offset, place->bytes, stored);
        if (status != HAUL_OK)
            return status;
        if (value < 0)
            return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index,
                                "count %lld in the field at offset %zu (if that field is unsigned, describe it with "
                                "HAUL_NU)",
                                (long long)value, place->offset);
        if (value != 0 && (total > INT64_MAX / value || total < INT64_MIN / value))
            return haul__refuse(d, HAUL_ERROR_LIMIT, slot, index, "its count overflows");
        total *= value;
    }
    if ((shape->add > 0 && total > INT64_MAX - shape->add) || (shape->add < 0 && total < INT64_MIN - shape->add))
        return haul__refuse(d, HAUL_ERROR_LIMIT, slot, index, "its count overflows");
    total += shape->add;
    if (total < 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index, "count %lld", (long long)total);
    if ((uint64_t)total > SIZE_MAX)
        return haul__refuse(d, HAUL_ERROR_LIMIT, slot, index, "count %lld", (long long)total);
    *count = (size_t)total;
    return HAUL_OK;
}

static haul_status count_to_end(haul__discovery *d, const haul__slot *slot, unsigned level, uintptr_t value,
                                uintptr_t self, size_t index, size_t *count)
{
    size_t unit = unit_of(slot, level);
    uintptr_t end;
    memcpy(&end, (const void *)(self + slot->shape[level].field[0].offset), sizeof end);
    if (!value && !end)
        return HAUL_OK;
    if (!value || end < value)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index, "its end lies before its begin");
    if ((end - value) % unit != 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index,
                            "its end lies %zu bytes on, no multiple of the element's %zu bytes",
                            (size_t)(end - value), unit);
    *count = (size_t)(end - value) / unit;
    return HAUL_OK;
}

static haul_status count_by_function(haul__discovery *d, const haul__slot *slot, unsigned level, uintptr_t value,
                                     uintptr_t self, size_t index, size_t *count)
{
    haul_here here;
    int64_t answer;
    here.self = (const void *)self;
    here.target = (const void *)value;
    here.index = index;
    here.root = d->roots[d->root].address;
    here.argument = d->context->options.argument;
    if (d->seek_count == self && d->seek_pointer == value)
        return haul__refuse(d, HAUL_ERROR_STALE, slot, index, "the count that its callback answers has changed");
    answer = slot->shape[level].function(&here);
    if (answer < 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index, "its callback answered %lld", (long long)answer);
    if ((uint64_t)answer > SIZE_MAX)
        return haul__refuse(d, HAUL_ERROR_LIMIT, slot, index, "count %lld", (long long)answer);
    *count = (size_t)answer;
    return note_call(d, slot->shape[level].function, &here, answer);
}

static int is_readable(const haul__discovery *d, uintptr_t address, size_t bytes)
{
    const haul_context_options *options = &d->context->options;
    return !options->readable || options->readable(options->readable_user, (const void *)address, bytes);
}

/* Bytes up to the first element equal to `value`, within [address, address + bytes); 0: there is none. */
static size_t find_element(uintptr_t address, size_t bytes, size_t unit, int64_t value)
{
    haul_field_place place;
    size_t at;
    if (unit == 1) {
        const char *hit = memchr((const void *)address, (int)(value & 255), bytes);
        return hit ? (size_t)((uintptr_t)hit - address) + 1 : 0;
    }
    place.offset = 0;
    place.bytes = (uint8_t)unit;
    place.is_signed = 1;
    for (at = 0; bytes - at >= unit; at += unit) {
        int64_t element = 0;
        haul__read_field((const void *)(address + at), &place, &element);
        if (element == value)
            return at + unit;
    }
    return 0;
}

/* The sentinel as an element of `unit` bytes reads when it is taken as signed. */
static int64_t narrow(int64_t value, size_t unit)
{
    unsigned shift = (unsigned)(64 - 8 * (unit < 8 ? unit : 8));
    uint64_t bits = (uint64_t)value << shift;
    return shift ? (int64_t)bits / ((int64_t)1 << shift) : value;
}

#define KNOWN SIZE_MAX /* the count of a long string that was scanned before */

static haul_status count_to_sentinel(haul__discovery *d, const haul__slot *slot, unsigned level, uintptr_t value,
                                     size_t index, size_t *count)
{
    size_t unit = unit_of(slot, level), limit = d->context->options.limits.scan_bytes, done = 0;
    int64_t sentinel = narrow(slot->shape[level].add, unit);
    if (value < HAUL__LOWEST || value > HAUL__HIGHEST)
        return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index, "it points outside any process's address range");
    if (limit > HAUL__HIGHEST - value)
        limit = HAUL__HIGHEST - value;
    if (slot->target == NULL && haul__memo_has(d, value, unit, sentinel ? slot->shape : NULL)) {
        *count = KNOWN;
        return HAUL_OK;
    }
    while (done < limit) {
        size_t piece = limit - done, found;
        if (d->context->options.readable) {
            size_t page = ((size_t)1 << HAUL__PAGE_SHIFT) - ((value + done) & (((size_t)1 << HAUL__PAGE_SHIFT) - 1));
            if (piece > page)
                piece = page < unit ? unit : page - page % unit;
            if (!is_readable(d, value + done, piece))
                return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index, "the range it leads to is not readable");
        }
        found = find_element(value + done, piece, unit, sentinel);
        if (found) {
            *count = (done + found) / unit;
            return HAUL_OK;
        }
        done += piece;
    }
    return haul__refuse(d, HAUL_ERROR_LIMIT, slot, index, "no terminator within %zu bytes (limit scan_bytes)", limit);
}

static haul_status count_of(haul__discovery *d, const haul__slot *slot, unsigned level, uintptr_t value,
                            uintptr_t self, size_t index, size_t *count)
{
    const haul_shape *shape = &slot->shape[level];
    haul_status status = HAUL_OK;
    *count = 0;
    switch (shape->kind) {
    case HAUL_SHAPE_ONE:
        *count = 1;
        break;
    case HAUL_SHAPE_COUNT:
        status = count_fields(d, slot, level, self, index, count);
        if (status == HAUL_OK && !value && *count && shape->field_count && level == 0 &&
            !(slot->flags & HAUL__SLOT_EACH))
            return haul__refuse(d, HAUL_ERROR_GRAPH, slot, index, "a NULL pointer with count %zu", *count);
        break;
    case HAUL_SHAPE_END:
        status = count_to_end(d, slot, level, value, self, index, count);
        break;
    case HAUL_SHAPE_SENTINEL:
        if (value)
            status = count_to_sentinel(d, slot, level, value, index, count);
        break;
    case HAUL_SHAPE_FUNCTION:
        if (value)
            status = count_by_function(d, slot, level, value, self, index, count);
        break;
    }
    return status;
}

haul_status haul__follow(haul__discovery *d, const haul__slot *slot, unsigned level, uintptr_t place, uintptr_t value,
                         uintptr_t self, size_t index)
{
    haul__entry entry;
    size_t count;
    haul_status status = count_of(d, slot, level, value, self, index, &count);
    if (status != HAUL_OK || !value || (count == KNOWN && slot->shape[level].kind == HAUL_SHAPE_SENTINEL))
        return status;
    if (!count) {
        status = note_empty(d, place);
        if (status == HAUL_OK && slot->shape[level].kind == HAUL_SHAPE_END)
            status = note_empty(d, self + slot->shape[level].field[0].offset);
        return status;
    }
    memset(&entry, 0, sizeof entry);
    entry.address = value;
    entry.self = self;
    entry.count = count;
    entry.stride = unit_of(slot, level);
    entry.slot = slot;
    entry.index = index;
    entry.parent = d->at_entry;
    entry.parent_element = d->at_element;
    if (level + 1u < slot->levels) {
        entry.what = HAUL__POINTERS;
        entry.level = (uint8_t)(level + 1);
    } else if (slot->target) {
        entry.what = HAUL__OBJECTS;
        status = haul__kind_of(d, slot->target, &entry.kind);
        if (status != HAUL_OK)
            return status;
    } else {
        entry.what = HAUL__PLAIN;
        entry.level = (uint8_t)level;
    }
    return haul__reach(d, &entry);
}

/* The extent of an array: can it be there at all? */
static haul_status check_extent(haul__discovery *d, const haul__entry *entry, size_t element_bytes, size_t alignment,
                                uintptr_t *end)
{
    const haul_limits *limits = &d->context->options.limits;
    size_t bytes;
    if (haul__multiply_overflows(entry->count - 1, entry->stride, &bytes) ||
        haul__add_overflows(bytes, element_bytes, &bytes))
        return haul__refuse(d, HAUL_ERROR_LIMIT, entry->slot, entry->index, "%zu elements of %zu bytes overflow",
                            entry->count, entry->stride);
    if (entry->count > limits->array_elements)
        return haul__refuse(d, HAUL_ERROR_LIMIT, entry->slot, entry->index,
                            "%zu elements, more than the limit array_elements of %zu", entry->count,
                            limits->array_elements);
    if (bytes > limits->bytes)
        return haul__refuse(d, HAUL_ERROR_LIMIT, entry->slot, entry->index, "%zu bytes, more than the limit of %zu",
                            bytes, limits->bytes);
    if (entry->address < HAUL__LOWEST || entry->address > HAUL__HIGHEST || bytes > HAUL__HIGHEST - entry->address)
        return haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot, entry->index,
                            "%zu bytes there lie outside any process's address range", bytes);
    if ((entry->address & (alignment - 1)) != 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot, entry->index,
                            "a misaligned pointer: its address modulo %zu is %zu", alignment,
                            (size_t)(entry->address & (alignment - 1)));
    if (!is_readable(d, entry->address, bytes))
        return haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot, entry->index, "the range it leads to is not readable");
    *end = entry->address + bytes;
    return HAUL_OK;
}

static haul_status mark_range(haul__discovery *d, const haul__entry *entry, uintptr_t first, uintptr_t end,
                              haul__pattern *pattern, haul__marked *marked)
{
    haul__marked range;
    haul_status status = haul__mark(d->map, first, end, pattern, &range);
    if (status == HAUL_ERROR_GRAPH) {
        status = haul__refuse(d, status, entry->slot, entry->index,
                              "a word is a pointer for one description and data for another");
        haul__name_other(d, range.conflict);
        return status;
    }
    if (status == HAUL_OK && range.first != range.end) {
        if (marked->first == marked->end || range.first < marked->first)
            marked->first = range.first;
        if (marked->end < range.end)
            marked->end = range.end;
        d->found->bytes += (size_t)(range.end - range.first);
    }
    return status;
}

static haul_status mark_dense(haul__discovery *d, const haul__entry *entry, const haul__walk *walk, uintptr_t end,
                              haul__marked *marked)
{
    haul__pattern pattern;
    pattern.kind = walk->slot_count ? HAUL__TYPE_SLOTS : HAUL__NO_SLOTS;
    pattern.slots = walk->slots;
    pattern.slot_count = walk->slot_count;
    pattern.stride = entry->stride;
    pattern.element = entry->address;
    pattern.next = 0;
    pattern.left = entry->count;
    if (walk->slot_count && walk->slot_count * HAUL__WORD == walk->extent && walk->alignment >= HAUL__WORD)
        pattern.kind = HAUL__ALL_SLOTS;
    return mark_range(d, entry, entry->address, end, &pattern, marked);
}

/* Elements with holes: all of it gets a place, so that nothing moves together; then run by run, each with the slots
 * that lie in it. */
static haul_status mark_runs(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             haul__marked *marked)
{
    size_t element, run, lower = 0, extent = 0, span;
    uintptr_t last = entry->address + (entry->count - 1) * entry->stride, end;
    haul_status status;
    haul_type_get_extent(d->kinds[entry->kind].type, &lower, &extent);
    span = lower + extent > walk->true_upper ? lower + extent : walk->true_upper;
    end = span > HAUL__HIGHEST - last ? HAUL__HIGHEST : last + span;
    status = haul__mark_hole(d->map, entry->address, end) ? HAUL_OK : HAUL_ERROR_MEMORY;
    for (element = 0; element < entry->count && status == HAUL_OK; element++) {
        uintptr_t address = entry->address + element * entry->stride;
        size_t slot = 0;
        for (run = 0; run < walk->run_count && status == HAUL_OK; run++) {
            size_t run_end = walk->runs[run].offset + walk->runs[run].bytes;
            haul__pattern pattern;
            while (slot < walk->slot_count && walk->slots[slot].offset < walk->runs[run].offset)
                slot++;
            pattern.slots = walk->slots + slot;
            for (pattern.slot_count = 0; slot < walk->slot_count && walk->slots[slot].offset < run_end; slot++)
                pattern.slot_count++;
            pattern.kind = pattern.slot_count ? HAUL__TYPE_SLOTS : HAUL__NO_SLOTS;
            pattern.stride = 0;
            pattern.element = address;
            pattern.next = 0;
            pattern.left = 1;
            status = mark_range(d, entry, address + walk->runs[run].offset, address + run_end, &pattern,
                                marked);
        }
    }
    return status;
}

static haul_status mark_placements(haul__discovery *d, const haul__entry *entry, const haul__walk *walk)
{
    size_t element, last = walk->dense && entry->stride == walk->extent ? 1 : entry->count;
    for (element = 0; walk->placement > HAUL__GRANULE && element < last; element++)
        if (!haul__mark_placement(d->map, entry->address + element * entry->stride, walk->placement))
            return HAUL_ERROR_MEMORY;
    return HAUL_OK;
}

/* Narrows an array to the elements that have something new in them. */
static void keep_new(haul__entry *entry, const haul__marked *marked)
{
    size_t first = (size_t)(marked->first - entry->address) / entry->stride;
    size_t end = (size_t)(marked->end - entry->address + entry->stride - 1) / entry->stride;
    entry->address += first * entry->stride;
    entry->count = end - first;
}

static haul_status reach_objects(haul__discovery *d, haul__entry *entry)
{
    const haul__walk *walk = d->kinds[entry->kind].walk;
    const haul_type *type = d->kinds[entry->kind].type;
    size_t upper = walk->true_upper > 0 ? walk->true_upper : 1, whole;
    int dense = walk->dense && entry->stride == walk->extent;
    haul__marked marked = { 0, 0, 0 };
    uintptr_t end = 0;
    haul_status status = check_extent(d, entry, dense ? walk->extent : upper, walk->alignment, &end);
    if (status != HAUL_OK)
        return status;
    if (d->careful && d->context->options.checked && haul_type_combiner(type) == HAUL_COMBINER_STRUCT_REFS) {
        status = haul__meet(d, entry->address, type, walk->extent, NULL);
        if (status != HAUL_OK)
            return status;
    }
    whole = (size_t)(end - entry->address);
    if ((whole >= HAUL__MEMO_BYTES || walk->part_count) && haul__memo_has(d, entry->address, whole, type))
        return HAUL_OK;
    status = dense ? mark_dense(d, entry, walk, end, &marked) : mark_runs(d, entry, walk, &marked);
    if (status == HAUL_OK)
        status = mark_placements(d, entry, walk);
    if (status == HAUL_OK && (whole >= HAUL__MEMO_BYTES || walk->part_count))
        status = haul__memo_add(d, entry->address, whole, type);
    if (status != HAUL_OK || (marked.first == marked.end && !walk->part_count))
        return status;
    if (d->careful)
        return haul__push_entry(d, entry);
    if (!walk->has_slots && !walk->part_count) {
        d->found->objects++;
        return HAUL_OK;
    }
    if (dense)
        keep_new(entry, &marked);
    if (entry->count == 1 && entry->kind <= UINT16_MAX)
        return haul__queue_push(d, entry->address, entry->kind, 1) ? HAUL_OK : HAUL_ERROR_MEMORY;
    return haul__push_entry(d, entry);
}

static haul_status reach_pointers(haul__discovery *d, haul__entry *entry)
{
    haul__pattern pattern;
    haul__marked marked = { 0, 0, 0 };
    const void *as = &entry->slot->shape[entry->level];
    uintptr_t end = 0;
    size_t whole;
    haul_status status = check_extent(d, entry, HAUL__WORD, HAUL__WORD, &end);
    if (status != HAUL_OK)
        return status;
    whole = (size_t)(end - entry->address);
    if (whole >= HAUL__MEMO_BYTES && haul__memo_has(d, entry->address, whole, as))
        return HAUL_OK;
    memset(&pattern, 0, sizeof pattern);
    pattern.kind = HAUL__ALL_SLOTS;
    status = mark_range(d, entry, entry->address, end, &pattern, &marked);
    if (status == HAUL_OK && whole >= HAUL__MEMO_BYTES)
        status = haul__memo_add(d, entry->address, whole, as);
    if (status != HAUL_OK || marked.first == marked.end)
        return status;
    return haul__push_entry(d, entry);
}

static haul_status note_terminator(haul__discovery *d, const haul__entry *entry)
{
    const haul_shape *shape = &entry->slot->shape[entry->level];
    uintptr_t at = entry->address + (entry->count - 1) * entry->stride;
    size_t bytes = entry->count * entry->stride;
    int64_t value = narrow(shape->add, entry->stride);
    haul_status status;
    if (entry->stride == 1 && value == 0)
        status = haul__mark_end(d->map, at) ? HAUL_OK : HAUL_ERROR_MEMORY;
    else
        status = note_guard(d, at, (unsigned)entry->stride, value);
    if (status == HAUL_OK && bytes >= HAUL__MEMO_BYTES)
        status = haul__memo_add(d, entry->address, entry->stride, value ? entry->slot->shape : NULL);
    return status;
}

static haul_status reach_plain(haul__discovery *d, haul__entry *entry)
{
    haul__pattern pattern;
    haul__marked marked = { 0, 0, 0 };
    uintptr_t end = 0;
    size_t whole;
    haul_status status = check_extent(d, entry, entry->stride, 1, &end);
    if (status != HAUL_OK)
        return status;
    whole = (size_t)(end - entry->address);
    if (whole >= HAUL__MEMO_BYTES && haul__memo_has(d, entry->address, whole, NULL))
        return HAUL_OK;
    memset(&pattern, 0, sizeof pattern);
    status = mark_range(d, entry, entry->address, end, &pattern, &marked);
    if (status == HAUL_OK && whole >= HAUL__MEMO_BYTES)
        status = haul__memo_add(d, entry->address, whole, NULL);
    if (status != HAUL_OK || marked.first == marked.end)
        return status;
    if (entry->slot->shape[entry->level].kind == HAUL_SHAPE_SENTINEL)
        status = note_terminator(d, entry);
    if (status == HAUL_OK && d->careful)
        return haul__push_entry(d, entry);
    d->found->objects++;
    return status;
}

haul_status haul__reach(haul__discovery *d, haul__entry *entry)
{
    switch (entry->what) {
    case HAUL__OBJECTS:
        return reach_objects(d, entry);
    case HAUL__POINTERS:
        return reach_pointers(d, entry);
    default:
        return reach_plain(d, entry);
    }
}

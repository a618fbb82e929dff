/* Short arrays of plain bytes or of pointers, and strings, followed in line: most rows of most
 * types lead to them.
 *
 * The slow obvious version is the general way (follow.c): each array gets an entry, a check of its
 * extent and a pattern of slots. But the terms of its count are known from the type
 * (haul__prepare_plain_array), so a count takes a load, a product and a sum.
 *
 *   follow   The pointer is read. Its count is read and noted, its cell is fetched; it is pending.
 *   mark     All that is pending is marked (mark_arrays.c).
 *
 * If a callback counts, it is called when the pointer is read, and its answer is noted.
 *
 * Everything else takes the general way, and so do all errors: a negative or large count, a null
 * pointer with a count, an address out of range.
 *
 * Why it is right: marks are ORs, so arrays may wait. Before one takes the general way, all pending
 * arrays are marked. A value that is noted twice is compared twice, which does no harm.
 *
 * Why it is fast: HAUL__PENDING arrays are under way, so no load waits for memory.
 */
#include "walk/plain_arrays.h"
#include "walk/extent.h"
#include "walk/follow.h"
#include "walk/read_set.h"

/* There must be room; a caller that fills it calls haul__mark_pending. */
HAUL__INLINE void add_pending(haul__discovery *d, const haul__plain_array *array, uintptr_t first,
                              uintptr_t end)
{
    haul__pending *pending = &d->pending[d->pending_count++];
    pending->first = first;
    pending->end = end;
    pending->array = array;
}

/* The bytes of an array, from its count fields; UINT64_MAX: too many, or a negative number: take
 * the general way. */
HAUL__INLINE uint64_t count_bytes(const haul__plain_array *array, unsigned fields, uintptr_t self,
                                  int64_t *stored)
{
    uint64_t total = (uint64_t)array->multiply, bytes;
    unsigned i;
    for (i = 0; i < fields; i++) {
        uint64_t count;
        stored[i] = haul__load_count(self + array->field[i].offset, array->field[i].width);
        count = (uint64_t)(stored[i] & array->field[i].bits);
        total *= count;
        if (HAUL__UNLIKELY((total | count) > HAUL__PLAIN_COUNT))
            return UINT64_MAX;
    }
    bytes = (uint64_t)(((int64_t)total + array->add) * array->unit);
    return bytes <= HAUL__PLAIN_BYTES ? bytes : UINT64_MAX;
}

/* Notes the counts, once for neighbours with the same one. 0: one is too large, or there is no
 * room. */
HAUL__INLINE int note_counts(haul__found *found, const haul__plain_array *array, unsigned fields,
                             uintptr_t self, const int64_t *stored)
{
    unsigned i;
    for (i = 0; i < fields; i++) {
        const uint64_t read =
            haul__read_of(self + array->field[i].offset, array->field[i].width, stored[i]);
        const size_t count = found->read_count;
        if (count && HAUL__READ_PLACE(found->reads[count - 1]) == HAUL__READ_PLACE(read))
            continue;
        if (HAUL__UNLIKELY(count == found->read_capacity || !haul__read_is_small(stored[i])))
            return 0;
        found->reads[found->read_count++] = read;
    }
    return 1;
}

HAUL__INLINE int follow_array(haul__discovery *d, const haul__plain_array *array, unsigned fields,
                              uintptr_t value, uintptr_t self)
{
    int64_t stored[3];
    const uint64_t bytes = count_bytes(array, fields, self, stored);
    if (HAUL__UNLIKELY(bytes == UINT64_MAX))
        return 0;
    if (!value || !bytes)
        return !value && (!bytes || !array->needs_pointer) &&
               note_counts(d->found, array, fields, self, stored);
    if (HAUL__UNLIKELY(value - HAUL__LOWEST > HAUL__HIGHEST_FIRST - HAUL__LOWEST ||
                       (value & array->misaligned) != 0))
        return 0;
    if (!note_counts(d->found, array, fields, self, stored))
        return 0;
    haul__fetch_cell(d->map->flat, value);
    add_pending(d, array, value, value + (uintptr_t)bytes);
    return 1;
}

/* The same for any array. */
static HAUL__NOINLINE int follow_counted(haul__discovery *d, const haul__plain_array *array,
                                         uintptr_t value, uintptr_t self)
{
    return HAUL__LIKELY(array->field_count == 1)
               ? follow_array(d, array, 1, value, self)
               : follow_array(d, array, array->field_count, value, self);
}

int haul__follow_plain_array(haul__discovery *d, const haul__plain_array *array, uintptr_t value,
                             uintptr_t self)
{
    if (HAUL__LIKELY(array->is_short)) {
        haul__ends own = haul__ends_of(d);
        if (HAUL__UNLIKELY(!haul__follow_short(d, &own, array, value, self)))
            return follow_counted(d, array, value, self);
        haul__put_back(d, &own);
        return 1;
    }
    if (!array->is_string)
        return follow_counted(d, array, value, self);
    if (!value)
        return 1;
    if (HAUL__UNLIKELY(value - HAUL__LOWEST > HAUL__HIGHEST_FIRST - HAUL__LOWEST))
        return 0;
    haul__prefetch(value);
    haul__fetch_cell(d->map->flat, value);
    add_pending(d, array, value, 0);
    return 1;
}

/* The callback is called once, whichever way the array takes. */
haul_status haul__follow_called_array(haul__discovery *d, const haul__plain_array *array,
                                      haul__pointer *p)
{
    const uintptr_t value = haul__load_word((const void *)p->place);
    const int is_near = value - HAUL__LOWEST <= HAUL__HIGHEST_FIRST - HAUL__LOWEST &&
                        (value & array->misaligned) == 0;
    size_t count;
    haul_status status;
    if (!value)
        return HAUL_OK;
    if (is_near)
        haul__fetch_cell(d->map->flat, value);
    p->value = value;
    status = haul__count_by_function(d, p, HAUL__NOTED, &count);
    if (status != HAUL_OK)
        return status;
    if (HAUL__LIKELY(is_near && count && count <= HAUL__PLAIN_BYTES / (size_t)array->unit)) {
        add_pending(d, array, value, value + count * (size_t)array->unit);
        return d->pending_count < HAUL__PENDING ? HAUL_OK : haul__mark_pending(d);
    }
    status = haul__mark_pending(d);
    return status == HAUL_OK ? haul__follow_counted(d, p, count) : status;
}

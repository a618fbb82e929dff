/* Short arrays of plain bytes or of pointers, and strings, followed in line.
 */
#ifndef HAUL_WALK_PLAIN_ARRAYS_H
#define HAUL_WALK_PLAIN_ARRAYS_H

#include "walk/met_types.h"
#include "walk/pointer.h"

/* Follows the pointer `value`. 1: done, or its target is pending; 0: nothing was done, take the
 * general way. */
int haul__follow_plain_array(haul__discovery *d, const haul__plain_array *array, uintptr_t value,
                             uintptr_t self);
/* Reads the pointer at p->place, whose count a callback answers, and follows it in line or the
 * general way. */
haul_status haul__follow_called_array(haul__discovery *d, const haul__plain_array *array,
                                      haul__pointer *p);

/* mark_arrays.c */
haul_status haul__mark_pending(haul__discovery *d); /* marks all that wait */
/* Mark a short array in line, unless it lies in two blocks. They answer as haul__mark_near does, or
 * HAUL__NO_MEMORY: of plain bytes or a string; and of pointers. */
#define HAUL__NO_MEMORY (-2)
int haul__mark_plain_array(haul__map *map, uintptr_t first, uintptr_t end);
/* 1: marked, and it was new; 0: nothing was done. Notes the end of a string. */
int haul__mark_new_array(const haul__map *map, uintptr_t first, uintptr_t end, int is_string);
int haul__mark_pointer_array(haul__map *map, uintptr_t first, uintptr_t end);

/* The highest begin of an array that is followed in line. */
#define HAUL__HIGHEST_FIRST (HAUL__HIGHEST - HAUL__PLAIN_BYTES)

/* Fetches the cell at `first`, and the head of its block. */
HAUL__INLINE void haul__fetch_cell(const uintptr_t *flat, uintptr_t first)
{
    const uintptr_t entry = flat[first >> HAUL__BLOCK_SHIFT];
    haul__prefetch_write(haul__cell_place(entry, first));
    haul__prefetch((uintptr_t)haul__block_in(entry) + offsetof(haul__block, side));
}

/* Is nothing unusual about an array whose `is_short` is set? */
HAUL__INLINE int haul__is_short(const haul__plain_array *array, uintptr_t value, int64_t count)
{
    return (uint64_t)count - array->least <= array->span &&
           value - HAUL__LOWEST <= HAUL__HIGHEST_FIRST - HAUL__LOWEST &&
           (value & array->misaligned) == 0;
}

/* A field of `width` bytes, taken as signed. */
HAUL__INLINE int64_t haul__load_count(uintptr_t at, unsigned width)
{
    int64_t i64;
    int32_t i32;
    int16_t i16;
    int8_t i8;
    if (HAUL__LIKELY(width == sizeof i32)) {
        memcpy(&i32, (const void *)at, sizeof i32);
        return i32;
    }
    if (width == sizeof i64) {
        memcpy(&i64, (const void *)at, sizeof i64);
        return i64;
    }
    if (width == sizeof i16) {
        memcpy(&i16, (const void *)at, sizeof i16);
        return i16;
    }
    memcpy(&i8, (const void *)at, sizeof i8);
    return i8;
}

/* The ends of what grows while pointers to such arrays are followed. A loop keeps them in
 * registers, and puts them back before it calls any other function. */
typedef struct haul__ends {
    const uintptr_t *flat;
    uint64_t *reads;
    size_t count, capacity, pending;
} haul__ends;

HAUL__INLINE haul__ends haul__ends_of(const haul__discovery *d)
{
    haul__ends own;
    own.flat = d->map->flat;
    own.reads = d->found->reads;
    own.count = d->found->read_count;
    own.capacity = d->found->read_capacity;
    own.pending = d->pending_count;
    return own;
}

HAUL__INLINE void haul__put_back(haul__discovery *d, const haul__ends *own)
{
    d->found->read_count = own->count;
    d->pending_count = own->pending;
}

/* Follows the pointer `value` to an array whose `is_short` is set. There must be room for one that
 * is pending. 0: nothing was done, for something is unusual. */
HAUL__INLINE int haul__follow_short(haul__discovery *d, haul__ends *own,
                                    const haul__plain_array *array, uintptr_t value, uintptr_t self)
{
    const uintptr_t place = self + array->field[0].offset;
    const int64_t stored = haul__load_count(place, array->field[0].width);
    const int64_t count = stored & array->field[0].bits;
    const uint64_t read = (place | array->width_mark) | (uint64_t)stored << 50;
    haul__pending *pending = &d->pending[own->pending];
    if (HAUL__UNLIKELY(!haul__is_short(array, value, count) || own->count == own->capacity))
        return 0;
    if (!own->count || HAUL__READ_PLACE(own->reads[own->count - 1] ^ read))
        own->reads[own->count++] = read;
    haul__fetch_cell(own->flat, value);
    pending->first = value;
    pending->end = value + (uintptr_t)(count * array->scale + array->shift);
    pending->array = array;
    own->pending++;
    return 1;
}

#endif

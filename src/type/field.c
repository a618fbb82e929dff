/* The integers that counts, conditions and switches read.
 *
 * A field may stand at any address, so it is copied out first. A value that does not fit the widest
 * signed integer is reported, never wrapped.
 */
#include "type/field.h"

static int read_signed(const void *from, unsigned bytes, int64_t *value)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    switch (bytes) {
    case 1:
        memcpy(&i8, from, sizeof i8);
        *value = i8;
        return 1;
    case 2:
        memcpy(&i16, from, sizeof i16);
        *value = i16;
        return 1;
    case 4:
        memcpy(&i32, from, sizeof i32);
        *value = i32;
        return 1;
    default:
        memcpy(value, from, sizeof *value);
        return 1;
    }
}

int haul__read_field(const void *self, const haul_integer *place, int64_t *value)
{
    const char *from = (const char *)self + place->offset;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    if (place->sign)
        return read_signed(from, place->bytes, value);
    switch (place->bytes) {
    case 1:
        memcpy(&u8, from, sizeof u8);
        *value = u8;
        return 1;
    case 2:
        memcpy(&u16, from, sizeof u16);
        *value = u16;
        return 1;
    case 4:
        memcpy(&u32, from, sizeof u32);
        *value = u32;
        return 1;
    default:
        memcpy(&u64, from, sizeof u64);
        if (u64 > INT64_MAX)
            return 0;
        *value = (int64_t)u64;
        return 1;
    }
}

int64_t haul__read_stored(const void *self, const haul_integer *place)
{
    int64_t value = 0;
    read_signed((const char *)self + place->offset, place->bytes, &value);
    return value;
}

int haul__when_holds(const haul_when *when, const void *self)
{
    int64_t value = 0;
    int inside = haul__read_field(self, &when->field, &value);
    value &= when->mask;
    inside = inside && value >= when->low && value <= when->high;
    return when->kind == HAUL_WHEN_KIND_NOT ? !inside : inside;
}

/* The integers that counts, conditions and switches read.
 *
 * A field may stand at any address, so it is copied out first. A value that does not fit the widest
 * signed integer is reported, never wrapped.
 */
#include "type/field.h"

int64_t haul__read_stored(const void *self, const haul_integer *place)
{
    const char *from = (const char *)self + place->offset;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (place->bytes) {
    case 1:
        memcpy(&i8, from, sizeof i8);
        return i8;
    case 2:
        memcpy(&i16, from, sizeof i16);
        return i16;
    case 4:
        memcpy(&i32, from, sizeof i32);
        return i32;
    default:
        memcpy(&i64, from, sizeof i64);
        return i64;
    }
}

int haul__read_field(const void *self, const haul_integer *place, int64_t *value)
{
    const int64_t stored = haul__read_stored(self, place);
    if (!place->sign && place->bytes == sizeof stored && stored < 0)
        return 0;
    *value = place->sign || place->bytes == sizeof stored
                 ? stored
                 : stored & (((int64_t)1 << 8 * place->bytes) - 1);
    return 1;
}

int haul__when_holds(const haul_when *when, const void *self)
{
    int64_t value = 0;
    int inside = haul__read_field(self, &when->field, &value);
    value &= when->mask;
    inside = inside && value >= when->low && value <= when->high;
    return when->kind == HAUL_WHEN_KIND_NOT ? !inside : inside;
}

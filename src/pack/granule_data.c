/* The bytes of one granule that belong to special words: explicit relocations, fixed words and
 * tagged pointers.
 */
#include "pack/granule_data.h"
#include "base/list.h"

/* Words are searched for the first that reaches into the granule. */

static int explicit_ends_by(const void *list, size_t i, uint64_t granule)
{
    return ((const haul__explicit *)list)[i].address + HAUL__WORD <= granule;
}

static int fixed_ends_by(const void *list, size_t i, uint64_t granule)
{
    const haul__fixed *word = (const haul__fixed *)list + i;
    return word->address + word->bytes <= granule;
}

static int tagged_ends_by(const void *list, size_t i, uint64_t granule)
{
    return ((const haul__tagged *)list)[i].address + HAUL__WORD <= granule;
}

static uint16_t explicit_mask(const haul_plan *plan, uintptr_t granule)
{
    const haul__explicit *odd = plan->found.explicit;
    size_t low = haul__search(odd, 0, plan->found.explicit_count, granule, explicit_ends_by);
    uint16_t mask = 0;
    for (; low < plan->found.explicit_count && odd[low].address < granule + HAUL__GRANULE; low++) {
        size_t byte;
        for (byte = 0; byte < HAUL__WORD; byte++)
            if (odd[low].address + byte - granule < HAUL__GRANULE)
                mask |= (uint16_t)(1u << (odd[low].address + byte - granule));
    }
    return mask;
}

/* The same for fixed words, of 4 or 8 bytes. */
static uint16_t fixed_mask(const haul_plan *plan, uintptr_t granule)
{
    const haul__fixed *kept = plan->found.fixed;
    size_t low = haul__search(kept, 0, plan->found.fixed_count, granule, fixed_ends_by);
    uint16_t mask = 0;
    for (; low < plan->found.fixed_count && kept[low].address < granule + HAUL__GRANULE; low++) {
        size_t byte;
        for (byte = 0; byte < kept[low].bytes; byte++)
            if (kept[low].address + byte - granule < HAUL__GRANULE)
                mask |= (uint16_t)(1u << (kept[low].address + byte - granule));
    }
    return mask;
}

/* The same for tagged pointers. */
static uint16_t tagged_mask(const haul_plan *plan, uintptr_t granule)
{
    const haul__tagged *tagged = plan->found.tagged;
    size_t low = haul__search(tagged, 0, plan->found.tagged_count, granule, tagged_ends_by), byte;
    uint16_t mask = 0;
    for (; low < plan->found.tagged_count && tagged[low].address < granule + HAUL__GRANULE; low++)
        for (byte = 0; byte < HAUL__WORD; byte++)
            if (tagged[low].address + byte - granule < HAUL__GRANULE)
                mask |= (uint16_t)(1u << (tagged[low].address + byte - granule));
    return mask;
}

uint16_t haul__special_mask(const haul_plan *plan, uintptr_t granule)
{
    return explicit_mask(plan, granule) | fixed_mask(plan, granule) | tagged_mask(plan, granule);
}

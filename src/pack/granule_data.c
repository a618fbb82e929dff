/* The bytes of one granule that belong to special words: explicit relocations, fixed words and
 * tagged pointers.
 */
#include "pack/granule_data.h"

static uint16_t explicit_mask(const haul_plan *plan, uintptr_t granule)
{
    const haul__explicit *odd = plan->found.explicit;
    size_t low = 0, high = plan->found.explicit_count;
    uint16_t mask = 0;
    while (low < high) { /* the first that reaches into the granule */
        size_t middle = low + (high - low) / 2;
        if (odd[middle].address + HAUL__WORD <= granule)
            low = middle + 1;
        else
            high = middle;
    }
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
    size_t low = 0, high = plan->found.fixed_count;
    uint16_t mask = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kept[middle].address + kept[middle].bytes <= granule)
            low = middle + 1;
        else
            high = middle;
    }
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
    size_t low = 0, high = plan->found.tagged_count, byte;
    uint16_t mask = 0;
    while (low < high) { /* the first that reaches into the granule */
        size_t middle = low + (high - low) / 2;
        if (tagged[middle].address + HAUL__WORD <= granule)
            low = middle + 1;
        else
            high = middle;
    }
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

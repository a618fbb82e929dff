/* What a detached pointer becomes on the device, and the names of poison.
 *
 * Poison is an address that no machine has: between the two halves of 64-bit addresses. It holds
 * the number of the pointer, and lies in the middle of a window of 1 MiB. So the pointer is known
 * even if a kernel has added an offset to it. A pointer keeps its number as long as the environment
 * lives.
 */
#include "environment/groups.h"

/* 16 bits that mark it; 28 of the number; 20 of the window. */
#define POISON_MARK UINT64_C(0x5a5a000000000000)
#define NUMBER_SHIFT 20u
#define NUMBERS_MAX ((size_t)1 << 28)
#define MIDDLE ((uint64_t)1 << (NUMBER_SHIFT - 1))

static haul_status poison_of(haul_environment *e, uintptr_t slot, uintptr_t *value)
{
    const haul_allocator *allocator = &e->context->allocator;
    haul__hold *one = haul__holds_find(&e->poisons, slot);
    if (!one && e->poisoned.count >= NUMBERS_MAX)
        return haul__fail(&e->context->error, HAUL_ERROR_LIMIT,
                          "more than 2^28 pointers have been poisoned");
    if (!one &&
        (!haul__holds_room(allocator, &e->poisons, 1) || !HAUL__LIST_ROOM(allocator, &e->poisoned)))
        return haul__fail(&e->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for a list of pointers");
    if (!one) {
        one = haul__holds_add(&e->poisons, slot);
        one->group = (uint32_t)e->poisoned.count;
        e->poisoned.at[e->poisoned.count++] = slot;
    }
    *value = (uintptr_t)(POISON_MARK | (uint64_t)one->group << NUMBER_SHIFT | MIDDLE);
    return HAUL_OK;
}

haul_status haul__detached_value(haul_environment *e, uintptr_t slot, uintptr_t *value)
{
    *value = 0;
    if (e->detached == HAUL_DETACHED_RAW)
        *value = haul__load_word((const void *)slot);
    return e->detached == HAUL_DETACHED_POISON ? poison_of(e, slot, value) : HAUL_OK;
}

uintptr_t haul__poisoned_slot(const haul_environment *e, uint64_t address)
{
    const uint64_t number = (address - POISON_MARK) >> NUMBER_SHIFT;
    return number < e->poisoned.count ? e->poisoned.at[number] : 0;
}

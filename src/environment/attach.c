/* Pointers of present objects that lead into a new group.
 *
 * When such an object was sent, the pointer was null, or led elsewhere. A walk that stops at the
 * object shows that it is a neighbour of what is new, as in a list with pointers both ways. So all
 * pointers of the ranges that the walk has stopped at are read on the host, and those that lead
 * into the group are written on the device. The slot bits of the object's own plan tell where they
 * are.
 *
 * The group that a pointer was made to lead into last has it: when that group leaves, the pointer
 * becomes null.
 */
#include "device/staging.h"
#include "device/streams.h"
#include "environment/groups.h"
#include "environment/look_up.h"
#include "map/forms.h"
#include "map/found.h"
#include "pack/plan.h"

/* The device's address of a byte of the group; 0: it has none. */
static uintptr_t address_in(const haul__sent_group *group, uintptr_t address)
{
    const haul__covered *range = haul__covered_at(group, address);
    return range ? range->device + (address - range->begin) : 0;
}

static int list_pointer(haul_environment *e, haul__sent_group *group, uintptr_t slot)
{
    const uintptr_t value = haul__load_word((const void *)slot),
                    target = value ? address_in(group, value) : 0;
    haul__attached *one;
    if (!target)
        return 1;
    one = HAUL__LIST_ADD(&e->context->allocator, &group->attached);
    if (!one)
        return 0;
    one->slot = slot;
    one->value = target;
    return 1;
}

/* Lists the pointers of a range of another group. */
static int list_pointers(haul_environment *e, haul__sent_group *group, const haul__stop *stop)
{
    const haul__map *map = &haul__plan_found(e->groups.at[stop->group]->shipment->plan)->map;
    uintptr_t at = stop->begin & ~(uintptr_t)(HAUL__CELL_BYTES - 1);
    for (; at < stop->end; at += HAUL__CELL_BYTES) {
        const haul__block *block = haul__map_find(map, at);
        uint64_t slots = 0;
        if (block && block->form != HAUL__FULL)
            slots = haul__placed_slots(map, block, haul__cell_number(at));
        for (; slots; slots &= slots - 1) {
            const uintptr_t slot = at + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
            if (slot >= stop->begin && slot + HAUL__WORD <= stop->end &&
                !list_pointer(e, group, slot))
                return 0;
        }
    }
    return 1;
}

int haul__list_attached(haul_environment *e, haul__sent_group *group)
{
    size_t i;
    for (i = 0; i < e->stops.count; i++)
        if (!list_pointers(e, group, &e->stops.at[i]))
            return 0;
    return haul__holds_room(&e->context->allocator, &e->attached, group->attached.count);
}

/* Writes the pointers of a group, or nulls in their place, except those of groups that leave, and
 * those that lead into another group by now. */
static haul_status write_words(haul_environment *e, uint32_t number, int as_null)
{
    const haul__sent_group *group = e->groups.at[number];
    haul_device *device = e->device;
    const size_t bytes = group->attached.count * sizeof(uintptr_t);
    haul__staging staging;
    size_t i;
    haul_status status = haul__stage(device, bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    for (i = 0; i < group->attached.count && status == HAUL_OK; i++) {
        const haul__attached *one = &group->attached.at[i];
        const uintptr_t value = as_null ? 0 : one->value;
        unsigned char *from = staging.data + i * sizeof value;
        haul__found_range found;
        if (haul__holds_find(&e->attached, one->slot)->group != number ||
            !haul__present_find(&e->host, one->slot, &found) ||
            e->groups.at[found.group]->is_leaving)
            continue;
        memcpy(from, &value, sizeof value);
        status = haul__copy_to(device, (haul_address)(one->slot + found.delta), from, sizeof value);
    }
    if (status == HAUL_OK)
        status = haul__conclude(device, NULL, NULL, "copy of ", bytes, " bytes to the device");
    haul__unstage(device, &staging);
    return status;
}

haul_status haul__attach(haul_environment *e, uint32_t number)
{
    const haul__sent_group *group = e->groups.at[number];
    size_t i;
    for (i = 0; i < group->attached.count; i++) {
        const uintptr_t slot = group->attached.at[i].slot;
        haul__hold *one = haul__holds_find(&e->attached, slot);
        if (!one)
            one = haul__holds_add(&e->attached, slot);
        one->group = number;
    }
    return group->attached.count ? write_words(e, number, 0) : HAUL_OK;
}

haul_status haul__detach(haul_environment *e, uint32_t number)
{
    return e->groups.at[number]->attached.count ? write_words(e, number, 1) : HAUL_OK;
}

void haul__forget_attached(haul_environment *e, uint32_t number)
{
    const haul__sent_group *group = e->groups.at[number];
    size_t i;
    for (i = 0; i < group->attached.count; i++) {
        haul__hold *one = haul__holds_find(&e->attached, group->attached.at[i].slot);
        if (one && one->group == number)
            haul__holds_remove(&e->attached, one);
    }
}

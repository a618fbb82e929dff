/* Candidates that are not settled in line: each goes the general way, or they are marked in order.
 */
#include "walk/follow.h"
#include "walk/log_order.h"
#include "walk/mark_inline.h"

/* Errors get their path in the second run. */
HAUL__NOINLINE haul_status haul__reach_one(haul__discovery *d, uintptr_t address, uint32_t number)
{
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.address = address;
    entry.count = 1;
    entry.met_type = number;
    entry.stride = d->met_types[entry.met_type].walk->extent;
    entry.parent = SIZE_MAX;
    entry.what = HAUL__OBJECTS;
    return haul__reach(d, &entry);
}

/* An object that was marked before is logged, too, unless its block has the form of its type: its
 * start then says that a range which is logged already holds it as a whole. */
HAUL__HOT static haul_status settle_in_order(haul__discovery *d, haul__candidates *c)
{
    const uintptr_t *flat = d->map->flat;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < c->near_count && status == HAUL_OK; i++) {
        const uintptr_t address = HAUL__ENTRY_ADDRESS(c->near[i]);
        const uint32_t number = HAUL__ENTRY_TYPE(c->near[i]);
        const haul__met_type *met = &d->met_types[number];
        const int fresh = haul__start_in_cell(address) < haul__near_starts(met)
                              ? haul__mark_near(flat, address, met)
                              : haul__mark_over(flat, address, met);
        haul__reached range = met->demands;
        range.first = address;
        range.end = address + met->simple.bytes;
        if (HAUL__UNLIKELY(fresh < 0)) {
            status = haul__reach_one(d, address, number);
        } else if (fresh) {
            status = haul__log_new(d, &range);
            if (status == HAUL_OK && !haul__queue_push(d, address, number, 1))
                status = HAUL_ERROR_MEMORY;
        } else {
            const uintptr_t form = flat[address >> HAUL__BLOCK_SHIFT] & HAUL__FORM_MASK;
            if (HAUL__UNLIKELY(met->logs_known || (form != met->form && form != met->ragged.form)))
                status = haul__log_known(d, &range);
        }
    }
    c->near_count = c->over_count = 0;
    return status;
}

/* Of a function with clones, a shared library exports the name, so that one is static. */
haul_status haul__settle_in_order(haul__discovery *d, haul__candidates *c)
{
    return settle_in_order(d, c);
}

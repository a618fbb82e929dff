/* A list in order: objects of one type with one pointer each, logged one by one.
 *
 * The way through the queue (drain.c) reads an object's pointer, fetches the cell, keeps the
 * pointer as a candidate, settles it, and puts the object on the queue. In a list none of that
 * finds other work to do meanwhile. Here the next object is marked and logged at once, as long as
 * it is new and can be marked in line. "Is it new" is a branch, as in chase_list of drain.c: the
 * processor follows the list while it waits for cells.
 *
 * The last object is left to the queue's way, which sees its pointer as if nothing had happened: a
 * pointer that is not followed here has marked nothing.
 */
#include "walk/chase_order.h"
#include "walk/log_order.h"
#include "walk/news.h"

haul_status haul__chase_in_order(haul__discovery *d, uint64_t *entry)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(*entry)];
    const uintptr_t *const flat = d->map->flat;
    const uint32_t near_starts = haul__near_starts(met);
    const size_t offset = met->edges->offset, most = d->context->options.max_objects,
                 before = d->found->objects, next_look = before + HAUL__NEWS_OBJECTS,
                 limit = d->news.is_wanted && next_look < most ? next_look : most;
    haul__reached range = met->demands;
    haul_status status = HAUL_OK;
    for (; d->found->objects < limit && status == HAUL_OK; d->found->objects++) {
        const uintptr_t next =
            haul__load_word((const void *)(HAUL__ENTRY_ADDRESS(*entry) + offset));
        if (!next || HAUL__TOO_HIGH(next) ||
            (haul__start_in_cell(next) < near_starts
                 ? haul__mark_near(flat, next, met)
                 : haul__mark_over(flat, next, met)) != HAUL__FRESH)
            break;
        range.first = next;
        range.end = next + met->simple.bytes;
        status = haul__log_new(d, &range);
        *entry = (uint64_t)next | met->edges->tag;
    }
    if (d->found->objects == before)
        return status;
    haul__news_count(d, d->found->objects - before, HAUL__ENTRY_TYPE(*entry));
    return status == HAUL_OK ? haul__news(d) : status;
}

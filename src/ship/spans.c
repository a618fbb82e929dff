/* The ranges of a recorded walk, as the public calls tell them.
 */
#include "ship/spans.h"

void haul__shift_spans(haul__nodes *nodes)
{
    size_t i;
    for (i = 0; i < nodes->span_count; i++) {
        const haul__entry *entry = &nodes->walk.entries.at[nodes->spans[i].entry];
        if (entry->what == HAUL__OBJECTS)
            nodes->spans[i].begin += nodes->walk.met_types[entry->met_type].walk->true_lower;
    }
}

haul_shipped_range haul__range_of(const haul__nodes *nodes, const haul__range_of_node *span)
{
    const haul__entry *entry = &nodes->walk.entries.at[span->entry];
    const haul__met_type *met = &nodes->walk.met_types[entry->met_type];
    haul_shipped_range range;
    memset(&range, 0, sizeof range);
    range.host = (void *)span->begin;
    range.bytes = span->end - span->begin;
    range.count = entry->count;
    /* not a type that commit made up, for pointers with a rule each */
    range.type = entry->what == HAUL__OBJECTS && !met->walk->is_slot ? met->type : NULL;
    return range;
}

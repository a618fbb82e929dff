/* Answers about a recorded walk, for the searches.
 */
#include "audit/recorded.h"
#include "map/forms.h"

int haul__audit_leads_in(const haul__audit *a, uintptr_t value)
{
    return haul__is_described(&a->found.map, value) || haul__is_described(&a->found.map, value - 1);
}

int haul__audit_is_wanted(const haul__audit *a, size_t before)
{
    return (a->options.finding || a->options.file) && before < a->options.findings;
}

size_t haul__audit_end(const haul__audit *a, const haul__entry *entry)
{
    if (entry->what != HAUL__OBJECTS || !haul__is_sized(a->walk.met_types[entry->met_type].walk))
        return SIZE_MAX;
    return entry->stride;
}

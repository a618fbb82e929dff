/* Aliases: pointers to objects that other pointers own. They are not followed. After the last mark,
 * each must lead to marked bytes.
 */
#include "walk/aliases.h"
#include "map/mark.h"
#include "walk/news.h"
#include "walk/paths.h"
#include "walk/stops.h"
#include "walk/targets.h"

haul_status haul__note_alias(haul__discovery *d, const haul__field_value *w)
{
    haul__alias *alias = HAUL__LIST_ADD(d->allocator, &d->aliases);
    if (!alias)
        return HAUL_ERROR_MEMORY;
    alias->value = w->address;
    alias->slot = w->slot;
    alias->root = d->root;
    alias->entry = d->at_entry;
    alias->element = d->at_element;
    alias->may_be_static = w->may_be_static;
    alias->has_tags = w->value != w->address;
    return haul__note_borrowed(d, w->at, w->address, w->slot);
}

/* An alias may be one past the end of a range. That address can begin a granule that has no place
 * in the copy, so an alias with tags must lead to a marked byte. The object at the address
 * comes before the one that ends there, because an enter must hold it. A walk that visits copies,
 * too, may not have reached the owner: then a copy is enough. */
static haul_status find_target(haul__discovery *d, const haul__alias *alias, int *is_there)
{
    const uintptr_t last = alias->has_tags ? alias->value : alias->value - 1;
    haul_status status = HAUL_OK;
    *is_there = haul__is_marked(d->map, alias->value);
    if (!*is_there)
        status = haul__stops_at(d, alias->slot, alias->value, 1, is_there);
    if (!*is_there && status == HAUL_OK)
        *is_there = haul__is_marked(d->map, last);
    if (!*is_there && status == HAUL_OK && last != alias->value)
        status = haul__stops_at(d, alias->slot, last, 1, is_there);
    if (!*is_there && status == HAUL_OK)
        *is_there = haul__has_copy(d, alias->value) || haul__has_copy(d, last);
    return status;
}

haul_status haul__check_aliases(haul__discovery *d)
{
    haul_status status;
    size_t i;
    int is_there;
    for (i = 0; i < d->aliases.count; i++) {
        const haul__alias *alias = &d->aliases.at[i];
        status = find_target(d, alias, &is_there);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
        if (status != HAUL_OK)
            return status;
        if (is_there)
            continue;
        d->root = alias->root;
        d->at_entry = alias->entry;
        d->at_element = alias->element;
        if (alias->may_be_static)
            return haul__refuse(d, HAUL_ERROR_GRAPH, alias->slot,
                                "an alias that leads neither to anything that another "
                                "pointer owns nor into a registered static range");
        return haul__refuse(d, HAUL_ERROR_GRAPH, alias->slot,
                            "an alias that leads to nothing that another pointer owns");
    }
    return HAUL_OK;
}

void haul__aliases_close(haul__discovery *d)
{
    HAUL__LIST_RELEASE(d->allocator, &d->aliases);
}

/* Aliases: pointers to objects that other pointers own. They are not followed.
 */
#ifndef HAUL_WALK_ALIASES_H
#define HAUL_WALK_ALIASES_H

#include "walk/ruled_field.h"

/* An alias, and where it was visited. */
typedef struct haul__alias {
    uintptr_t value;
    const haul__slot *slot;
    size_t root, entry, element;
    int may_be_static, has_tags;
} haul__alias;

/* Lists an alias for haul__check_aliases. */
haul_status haul__note_alias(haul__discovery *d, const haul__field_value *w);
/* Refuses an alias that leads to no marked byte. Called after the last mark. */
haul_status haul__check_aliases(haul__discovery *d);
void haul__aliases_close(haul__discovery *d);

#endif

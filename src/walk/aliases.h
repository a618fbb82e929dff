/* Aliases: pointers that are not followed.
 */
#ifndef HAUL_WALK_ALIASES_H
#define HAUL_WALK_ALIASES_H

#include "walk/ruled_field.h"

haul_status haul__note_alias(haul__discovery *d, const haul__field_value *w);
/* At the end, do all aliases lead into what others own? */
haul_status haul__check_aliases(haul__discovery *d);
void haul__aliases_close(haul__discovery *d);

#endif

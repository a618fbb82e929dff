/* Aliases: pointers to what another pointer owns. They are not followed.
 */
#ifndef HAUL_WALK_ALIASES_H
#define HAUL_WALK_ALIASES_H

#include "walk/ruled_field.h"

/* Notes the alias, to be checked at the end. */
haul_status haul__note_alias(haul__discovery *d, const haul__field_value *w);
/* Does every alias lead to something that was marked? To be asked after all marks. */
haul_status haul__check_aliases(haul__discovery *d);
void haul__aliases_close(haul__discovery *d);

#endif

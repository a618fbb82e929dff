/* Commit, and the flat form of an open type for a query.
 */
#ifndef HAUL_TYPE_COMMIT_H
#define HAUL_TYPE_COMMIT_H

#include "type/record.h"

haul_status haul__type_commit(haul_type *type);
/* Makes the flat forms of an open type and all that it embeds, copies the type's own form to *walk,
 * and drops them all. The lists of *walk are NULL. */
haul_status haul__type_preview(haul_type *type, haul__walk *walk, size_t *pointers);

#endif

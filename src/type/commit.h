/* The flat form of an open type, for a question.
 */
#ifndef HAUL_TYPE_COMMIT_H
#define HAUL_TYPE_COMMIT_H

#include "type/record.h"

/* Makes the flat forms of an open type and all that it embeds, and takes them away again. The lists
 * of *walk are NULL. */
haul_status haul__type_preview(haul_type *type, haul__walk *walk, size_t *pointers);

#endif

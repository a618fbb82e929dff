/* Following a pointer to a section.
 */
#ifndef HAUL_WALK_SECTION_H
#define HAUL_WALK_SECTION_H

#include "walk/pointer.h"

/* Reads the extents and strides of the section, marks its elements, gives the gaps between them
 * places, and excludes the elements as the direction of the pointer's slot says. The pointer is not
 * NULL. */
haul_status haul__follow_section(haul__discovery *d, const haul__pointer *p,
                                 const haul_section *section);

#endif

/* Rows with rules that the scan of an image knows: which they are, and what they are in one object.
 */
#ifndef HAUL_IMAGE_ARMS_H
#define HAUL_IMAGE_ARMS_H

#include "image/scan_targets.h"

/* Does the scan know each row with rules of the type? Also if it has none. */
int haul__arms_are_known(const haul_type *type);
/* Does a pointer without rules have one of these bytes, in the type itself or in what it embeds? */
int haul__has_slot_at(const haul__walk *walk, size_t offset, size_t bytes);
/* The links of a known type's arms: one for each pointer, or one for each of its cases. */
size_t haul__arm_link_count(const haul__walk *walk);
/* Gives each of them its slot. */
void haul__arm_slots(const haul__walk *walk, haul__link *links);
/* Lists the arms of a kind whose links have been made. HAUL_ERROR_MEMORY. */
haul_status haul__arms_make(const haul_allocator *allocator, haul__kind *kind);
void haul__arms_release(const haul_allocator *allocator, haul__kind_arms *arms);

/* Looks at the arms of an element: follows their pointers, sets the bits of these in `wanted`, and
 * finds that bytes of no arm that holds are zeros. 0: the walk must decide. */
int haul__scan_arms(haul__scan *s, const haul__kind *kind, const unsigned char *element,
                    uint64_t *wanted);
/* Looks again at its borrowed pointers, when all codes are there. 0: the walk must decide. */
int haul__scan_borrowed(haul__scan *s, const haul__kind *kind, const unsigned char *element);

#endif

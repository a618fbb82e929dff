/* The elements of a committed type one by one, those of embedded arrays included, and the gaps,
 * tail and pointers of each.
 */
#ifndef HAUL_TYPE_ELEMENTS_H
#define HAUL_TYPE_ELEMENTS_H

#include "type/type.h"

#define HAUL__FLAT_DEPTH (HAUL_EMBED_DEPTH_MAX + 8u)

/* An iteration: a stack of the elements, and of the parts that the present one lies in. */
typedef struct haul__flat {
    struct {
        const haul__walk *walk;
        size_t at, left, stride, part;
    } level[HAUL__FLAT_DEPTH];
    unsigned depth;
} haul__flat;

void haul__flat_begin(haul__flat *flat, const haul__walk *walk, size_t at, size_t count,
                      size_t stride);
/* The next element: its committed form, and its place. 0: there are no more. */
int haul__flat_next(haul__flat *flat, const haul__walk **walk, size_t *at);

/* The next bytes of an element that do not travel, from *at on; parts are not looked into. 0: there
 * are no more. */
int haul__next_gap(const haul__walk *walk, size_t *at, size_t *bytes);
/* Do the gaps of an element belong to it alone? No, if elements reach into one another. */
int haul__is_tidy(const haul__walk *walk);
/* Does the type alone fix the role of every byte? No, if it has conditional rows. */
int haul__is_plain(const haul__walk *walk);
/* The directions that the type's tail, which begins at *offset, is excluded from; 0: none, or no
 * tail. */
unsigned haul__tail_exclusions(const haul__walk *walk, size_t *offset);
/* The offset of the next pointer, from number *i on; parts are not looked into. 0: there are no
 * more. */
int haul__next_pointer(const haul__walk *walk, size_t *i, size_t *offset);

#endif

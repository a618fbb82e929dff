/* A scan of an image's arena, and the targets of its pointers: they get their codes.
 */
#ifndef HAUL_IMAGE_SCAN_TARGETS_H
#define HAUL_IMAGE_SCAN_TARGETS_H

#include "image/codes.h"
#include "image/fill.h"
#include "validate/validate.h"

typedef struct haul__scan {
    const haul__claimed *claimed;
    const unsigned char *block;
    size_t bytes; /* of the block */
    haul__filling *filling;
    size_t there; /* bytes of the arena that have come */
    int is_right;
    haul__kinds kinds;
    haul__codes codes;
    int is_far;        /* the codes are many: they are fetched ahead */
    size_t here, end;  /* the granule that is visited; the first one behind what begins there */
    size_t work, most; /* bytes of arrays that were looked at, and may be */
    int is_unsettled;  /* something was borrowed where nothing began yet */
} haul__scan;

/* Waits until the first `end` bytes have come. 0: something is wrong with them. */
HAUL__INLINE int haul__scan_wait(haul__scan *s, size_t end)
{
    if (HAUL__LIKELY(end <= s->there))
        return 1;
    if (!haul__fill_to(s->filling, end))
        return 0;
    s->there = s->filling->there < s->bytes ? s->filling->there : s->bytes;
    return 1;
}

/* Each of the following answers 0 if the walk must decide. */

/* `count` elements of `unit` bytes each. */
int haul__scan_target(haul__scan *s, unsigned code, uintptr_t value, size_t count, size_t unit);
/* A pointer that is not one to exactly one object. `self`: the struct that its counts stand in. */
int haul__scan_counted(haul__scan *s, const haul__link *link, uintptr_t value,
                       const unsigned char *self);

/* One object. Only its first granule gets a code: the others must be free when it is visited. A
 * new one must lie at offset `end` or behind it. */
HAUL__INLINE int haul__scan_one(const haul__codes *t, const haul__one *one, uintptr_t value,
                                size_t end)
{
    const size_t offset = value - (uintptr_t)t->block, bit = offset >> t->shift;
    uint64_t *at = &t->at[bit / 64];
    uint64_t found;
    int is_known, is_other, is_behind;
    if (HAUL__UNLIKELY((value & one->misaligned) != 0 || offset - HAUL__GRANULE > one->room))
        return 0;
    found = *at >> bit % 64 & t->mask;
    is_known = found != HAUL__CODE_FREE;
    is_other = found != one->code;
    is_behind = offset < end;
    if (HAUL__UNLIKELY((is_known & is_other) | ((is_known ^ 1) & is_behind)))
        return 0;
    *at |= one->code << bit % 64;
    return 1;
}

/* New objects lie at offset `end` or behind it. */
HAUL__INLINE int haul__scan_pointer(haul__scan *s, const haul__codes *t, const haul__link *link,
                                    const unsigned char *element, size_t end)
{
    const uintptr_t value = haul__load_word(element + link->offset);
    if (HAUL__LIKELY(link->is_one))
        return !value || haul__scan_one(t, &link->one, value, end);
    return haul__scan_counted(s, link, value, element);
}

#endif

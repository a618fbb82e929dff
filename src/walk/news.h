/* News: the program is told now and then how much is found, and may end the walk.
 */
#ifndef HAUL_WALK_NEWS_H
#define HAUL_WALK_NEWS_H

#include "walk/met_types.h"

/* The walk has news for the context's listener, if there is one. */
void haul__news_open(haul__discovery *d);
/* The walk is over: its last news are those of what follows (pulse.h). */
void haul__news_close(haul__discovery *d);
/* Tells them, if it is time to. HAUL_ERROR_CANCELLED, with a record. */
haul_status haul__news_tell(haul__discovery *d);

#define HAUL__NEWS_ELEMENTS ((size_t)16)   /* of an array, before the next look (HAUL__ROW) */
#define HAUL__NEWS_OBJECTS ((size_t)16384) /* of a list */

/* So many single objects were found, of the type, or of others about as large. A walk without a
 * table, and one in which each range passes haul__reach, has counted their bytes itself. */
HAUL__INLINE void haul__news_count(haul__discovery *d, size_t objects, uint32_t number)
{
    if (HAUL__UNLIKELY(d->news.is_wanted) && d->map->flat && !haul__is_general(d))
        d->news.single_bytes += (uint64_t)objects * d->met_types[number].simple.bytes;
}

/* A place where the walk can end. */
HAUL__INLINE haul_status haul__news(haul__discovery *d)
{
    return HAUL__LIKELY(!d->news.is_wanted) || --d->news.left ? HAUL_OK : haul__news_tell(d);
}

/* The same before element `i` of an array. */
HAUL__INLINE haul_status haul__news_of_element(haul__discovery *d, size_t i)
{
    return HAUL__LIKELY(i % HAUL__NEWS_ELEMENTS != HAUL__NEWS_ELEMENTS - 1) ? HAUL_OK
                                                                            : haul__news(d);
}

#endif

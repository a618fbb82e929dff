/* News: the program is told now and then how much is found, and may end the walk.
 *
 * The walk can end, like after any failure, where a chunk of the worklist has been read, behind an
 * object that takes the general way, and now and then within large arrays and long lists. Each of
 * these places is a look, but not each look reads the clock: as many looks are left out as fit into
 * a millisecond or so. Without a listener a look reads one word.
 *
 * The bytes of single objects are counted by layout. Until then, those of a chunk are taken to be
 * as large as one of them.
 */
#include "walk/news.h"
#include "base/clock.h"
#include "context/pulse.h"

#define NEVER 1e300
#define SOON 0.001        /* between two looks at the clock, about */
#define LEFT_OUT_MOST 64u /* that are left out: the next ones may take longer */

void haul__news_open(haul__discovery *d)
{
    d->news.is_wanted = d->context->listener.discovery != NULL;
    if (!d->news.is_wanted)
        return;
    d->news.left = d->news.looks = 1;
    d->news.last = haul__seconds();
    d->news.next = d->news.last + HAUL__PULSE_SECONDS;
}

void haul__news_close(haul__discovery *d)
{
    haul__told_last *told = &d->context->told;
    told->next = NEVER; /* layout behind a walk that does not tell does not either */
    if (!d->news.is_wanted)
        return;
    told->objects = d->found->objects;
    told->bytes = d->found->bytes + d->news.single_bytes;
    told->next = d->news.next;
}

haul_status haul__news_tell(haul__discovery *d)
{
    const haul__listener *listener = &d->context->listener;
    haul__news_state *news = &d->news;
    const double now = haul__seconds();
    if (now - news->last < SOON / 2 && news->looks < LEFT_OUT_MOST)
        news->looks *= 2;
    else if (now - news->last > SOON)
        news->looks = (news->looks + 1) / 2;
    news->left = news->looks;
    news->last = now;
    if (now < news->next)
        return HAUL_OK;
    news->next = now + HAUL__PULSE_SECONDS;
    return listener->discovery(listener->user, d->found->objects,
                               d->found->bytes + d->news.single_bytes)
               ? haul__context_cancelled(d->context)
               : HAUL_OK;
}

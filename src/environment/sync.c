/* Sync: what the host has changed goes to the device.
 *
 * A group keeps the strips of all its data, in pages: the runs that begin in 4 KiB of their buffer.
 * Each page has a digest. A sync reads all data once and sends the pages whose digests are new. It
 * reads no pointer, no hole and no neighbour of an object, and it needs no help of the system: a
 * program may write as it likes, from any thread, between two calls.
 *
 * It is fast because a page of a large array is read where it lies, and all threads share the
 * pages.
 *
 * If the program has asked for it (HAUL_NOTICE_WRITES), the system tells which of its pages were
 * written, and the others need not be read. That holds for arrays of 256 KiB and more, whose pages
 * belong to nothing else. They are watched before their digests are made, so no write is missed. A
 * page that was written is digested as before: it may be equal.
 */
#include "base/digest.h"
#include "base/written.h"
#include "environment/outstanding.h"
#include "environment/updates.h"

#define DIGEST_PAGE ((size_t)4096)
#define DIGEST_GRAIN ((size_t)64 * DIGEST_PAGE) /* that a thread reads at a time, or more */

#define WATCHED_RUNS 64u /* a strip of so many pages, or more, may be watched */

struct haul__digests {
    haul__strips strips;  /* of runs up to a page */
    uint64_t *digests;    /* of the pages */
    unsigned char *state; /* of the pages */
    size_t pages;
    int are_sent;   /* the device has had what the digests are of */
    int is_watched; /* the system was asked to watch */
};

enum { AS_BEFORE, CHANGED_PAGE, UNWRITTEN };

static size_t pages_of(const haul__strips *strips)
{
    return strips->packed_bytes / DIGEST_PAGE + (strips->packed_bytes % DIGEST_PAGE != 0);
}

/* ---- Digests. */

/* A page of several runs is gathered. Runs that begin in it reach out of it by less than a page. */
static uint64_t digest_of(const haul__strips *strips, size_t page)
{
    const haul__strip *strip = &strips->list.at[haul__strip_at(strips, page * DIGEST_PAGE)],
                      *last = strips->list.at + strips->list.count;
    unsigned char gathered[2 * DIGEST_PAGE];
    size_t bytes = 0, from, to;
    for (; strip < last && strip->packed < (page + 1) * DIGEST_PAGE; strip++) {
        to = haul__runs_in(strip, page * DIGEST_PAGE, (page + 1) * DIGEST_PAGE, &from);
        if (strip->bytes == DIGEST_PAGE && !bytes && to == from + 1)
            return haul__digest((const void *)(strip->host + from * strip->host_stride),
                                DIGEST_PAGE, 0);
        for (; from < to; from++, bytes += strip->bytes)
            memcpy(gathered + bytes, (const void *)(strip->host + from * strip->host_stride),
                   strip->bytes);
    }
    return haul__digest(gathered, bytes, 0);
}

static void digest_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    haul__digests *d = user;
    size_t page;
    (void)number;
    (void)scratch;
    for (page = first / DIGEST_PAGE; page * DIGEST_PAGE < end; page++) {
        uint64_t digest;
        if (d->state[page] == UNWRITTEN)
            continue;
        digest = digest_of(&d->strips, page);
        d->state[page] = !d->are_sent || digest != d->digests[page] ? CHANGED_PAGE : AS_BEFORE;
        d->digests[page] = digest;
    }
}

/* ---- Pages that were not written. */

/* The pages of the system that belong to a strip alone: from *begin to *end. 0: it is not worth
 * watching. */
static int own_pages(const haul__written *written, const haul__strip *strip, uintptr_t *begin,
                     uintptr_t *end)
{
    const uintptr_t mask = written->page - 1;
    if (strip->bytes != DIGEST_PAGE || strip->host_stride != DIGEST_PAGE ||
        strip->count < WATCHED_RUNS)
        return 0;
    *begin = (strip->host + mask) & ~mask;
    *end = (strip->host + strip->count * DIGEST_PAGE) & ~mask;
    return *begin < *end;
}

/* A strip, and the states of the pages that its runs begin in. */
typedef struct watched {
    const haul__strip *strip;
    unsigned char *state; /* of its first run's page */
} watched;

/* A run is as new as any of its bytes. */
static void note_written(void *user, uintptr_t begin, uintptr_t end)
{
    const watched *w = user;
    const size_t first = (begin - w->strip->host) / DIGEST_PAGE,
                 last = (end - 1 - w->strip->host) / DIGEST_PAGE;
    memset(w->state + first, AS_BEFORE, last - first + 1);
}

/* Runs that lie in pages of the strip alone count as not written, until the system tells that they
 * were. The first run may begin in a page with another strip's. */
static void find_unwritten(const haul__written *written, haul__digests *d, haul__strip *strip)
{
    uintptr_t begin, end;
    size_t first, last;
    watched w;
    if (!strip->is_watched || !own_pages(written, strip, &begin, &end))
        return;
    w.strip = strip;
    w.state = d->state + strip->packed / DIGEST_PAGE;
    first = (begin - strip->host + DIGEST_PAGE - 1) / DIGEST_PAGE;
    last = (end - strip->host) / DIGEST_PAGE;
    if (first == 0 && strip->packed % DIGEST_PAGE != 0)
        first = 1;
    memset(w.state + first, UNWRITTEN, last - first);
    if (haul__written_take(written, begin, end, note_written, &w))
        return;
    memset(w.state + first, AS_BEFORE, last - first);
    strip->is_watched = haul__written_watch(written, begin, end);
}

/* Comes before the digests. What has not arrived yet is digested, and sent, whatever was written.
 */
static void ask_system(const haul__written *written, haul__digests *d)
{
    size_t i;
    uintptr_t begin, end;
    memset(d->state, AS_BEFORE, d->pages);
    if (!written->is_open || (d->is_watched && !d->are_sent))
        return;
    for (i = 0; i < d->strips.list.count; i++) {
        haul__strip *strip = &d->strips.list.at[i];
        if (d->is_watched)
            find_unwritten(written, d, strip);
        else
            strip->is_watched =
                own_pages(written, strip, &begin, &end) && haul__written_watch(written, begin, end);
    }
    d->is_watched = 1;
}

void haul__forget_written(haul_environment *e)
{
    size_t i;
    haul__written_close(&e->written);
    for (i = 0; i < e->groups.count; i++)
        if (e->groups.at[i] && e->groups.at[i]->digests)
            e->groups.at[i]->digests->is_watched = 0;
}

/* ---- Of a group. */

void haul__drop_digests(haul_environment *e, haul__sent_group *group)
{
    const haul_allocator *allocator = &e->context->allocator;
    haul__digests *d = group->digests;
    if (!d)
        return;
    haul__drop_strips(e, &d->strips);
    haul__release(allocator, d->digests, d->pages * sizeof *d->digests);
    haul__release(allocator, d->state, d->pages);
    haul__release(allocator, d, sizeof *d);
    group->digests = NULL;
}

size_t haul__digest_bytes(const haul__sent_group *group)
{
    const haul__digests *d = group->digests;
    return d ? sizeof *d + d->pages * (sizeof *d->digests + 1) +
                   d->strips.list.capacity * sizeof *d->strips.list.at
             : 0;
}

static haul_status make_digests(haul_environment *e, uint32_t number)
{
    const haul_allocator *allocator = &e->context->allocator;
    haul__sent_group *group = e->groups.at[number];
    haul__digests *d = group->digests = haul__allocate_zeroed(allocator, sizeof *d);
    haul_status status = d ? haul__list_group(e, number, HAUL_TO_DEVICE, DIGEST_PAGE, &d->strips)
                           : HAUL_ERROR_MEMORY;
    if (status == HAUL_OK)
        haul__place_strips(&d->strips);
    if (status == HAUL_OK && d->strips.packed_bytes > 0) {
        d->pages = pages_of(&d->strips);
        d->digests = haul__allocate(allocator, d->pages * sizeof *d->digests, sizeof *d->digests);
        d->state = haul__allocate(allocator, d->pages, 1);
        status = d->digests && d->state ? HAUL_OK : HAUL_ERROR_MEMORY;
    }
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__drop_digests(e, group);
    return status == HAUL_ERROR_MEMORY
               ? haul__fail(&e->context->error, status, "out of memory for digests of pages")
               : status;
}

/* Adds the runs of new pages. */
static haul_status add_new(haul__batch *batch, const haul__digests *d)
{
    haul_status status = HAUL_OK;
    size_t i = 0, page, from, to;
    for (page = 0; page < d->pages && status == HAUL_OK; page++)
        if (d->state[page] == CHANGED_PAGE)
            for (i = haul__strip_at(&d->strips, page * DIGEST_PAGE);
                 i < d->strips.list.count && d->strips.list.at[i].packed < (page + 1) * DIGEST_PAGE;
                 i++) {
                const haul__strip *strip = &d->strips.list.at[i];
                to = haul__runs_in(strip, page * DIGEST_PAGE, (page + 1) * DIGEST_PAGE, &from);
                for (; from < to && status == HAUL_OK; from++)
                    status = haul__add_run(batch, strip, from);
            }
    return status;
}

static haul_status add_changes(haul__batch *batch, uint32_t number)
{
    haul_environment *e = batch->e;
    haul__sent_group *group = e->groups.at[number];
    haul_status status = haul__come_behind(e, group, NULL);
    size_t bytes;
    if (status == HAUL_OK && !group->digests)
        status = make_digests(e, number);
    if (status == HAUL_OK)
        status = haul__add_group(batch, number);
    if (status != HAUL_OK)
        return status;
    bytes = group->digests->strips.packed_bytes;
    ask_system(&e->written, group->digests);
    haul__pool_run(haul__context_pool(e->context, bytes), bytes, 0, bytes, DIGEST_GRAIN,
                   digest_chunk, group->digests);
    group->digests->are_sent = 0; /* unless the call succeeds */
    return add_new(batch, group->digests);
}

haul_status haul__sync(haul_environment *e, const void *host)
{
    haul_status status = HAUL_OK;
    haul__found_range found;
    haul__batch batch;
    uint32_t i;
    size_t k;
    if (host && !haul__present_find(&e->host, (uintptr_t)host, &found))
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT, "%p is not on the device", host);
    memset(&batch, 0, sizeof batch);
    batch.e = e;
    batch.direction = HAUL_TO_DEVICE;
    if (host)
        status = add_changes(&batch, found.group);
    for (i = 0; !host && i < e->groups.count && status == HAUL_OK; i++)
        if (e->groups.at[i])
            status = add_changes(&batch, i);
    if (status == HAUL_OK)
        status = haul__finish_batch(&batch);
    if (status == HAUL_OK)
        status = haul__move_batch(&batch, NULL);
    for (k = 0; k < batch.groups.count && status == HAUL_OK; k++)
        batch.groups.at[k]->digests->are_sent = 1;
    haul__drop_batch(&batch);
    return status;
}

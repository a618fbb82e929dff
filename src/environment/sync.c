/* Sync: what the host has changed goes to the device.
 *
 * A group keeps the strips of all its data, in pages: the runs that begin in 4 KiB of their buffer.
 * Each page has a digest. A sync reads all data once and sends the pages whose digests are new. It
 * reads no pointer, no hole and no neighbour of an object, and it needs no help of the system: a
 * program may write as it likes, from any thread, between two calls.
 *
 * If the system tells which pages of memory were written (tracked.h), a sync reads only these. What
 * it sends is the same. It asks before it reads, so a write meanwhile counts for the next sync.
 *
 * It is fast because a page of a large array is read where it lies, and all threads share the
 * pages. It passes by all pages of such an array before the next written one at once.
 */
#include "base/digest.h"
#include "environment/outstanding.h"
#include "environment/standing.h"
#include "environment/tracked.h"
#include "environment/updates.h"

#define DIGEST_PAGE ((size_t)4096)
#define DIGEST_GRAIN ((size_t)64 * DIGEST_PAGE) /* that a thread reads at a time, or more */

struct haul__digests {
    haul__strips strips; /* of runs up to a page */
    uint64_t *digests;   /* of the pages */
    unsigned char *is_new;
    size_t pages;
    int are_sent; /* the device has had what the digests are of */
    haul__tracked tracked;
};

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

/* Is it known that nobody has written to a page of the buffer? */
static int is_unwritten(const haul__digests *d, size_t page)
{
    const haul__strip *strip = &d->strips.list.at[haul__strip_at(&d->strips, page * DIGEST_PAGE)],
                      *last = d->strips.list.at + d->strips.list.count;
    size_t from, to;
    for (; strip < last && strip->packed < (page + 1) * DIGEST_PAGE; strip++) {
        to = haul__runs_in(strip, page * DIGEST_PAGE, (page + 1) * DIGEST_PAGE, &from);
        for (; from < to; from++)
            if (haul__unwritten_bytes(&d->tracked, strip->host + from * strip->host_stride,
                                      strip->bytes) < strip->bytes)
                return 0;
    }
    return 1;
}

/* Of how many pages, from `page` on and before `last`, that is known. A large array is looked at
 * as one: each of its runs is as long as a page, so no other strip begins in the page of one. */
static size_t count_unwritten(const haul__digests *d, size_t page, size_t last)
{
    const size_t at = haul__strip_at(&d->strips, page * DIGEST_PAGE);
    const haul__strip *strip;
    size_t from, to;
    if (at == d->strips.list.count)
        return last - page; /* what lay there has left */
    strip = &d->strips.list.at[at];
    if (strip->packed <= page * DIGEST_PAGE && strip->bytes == DIGEST_PAGE &&
        strip->host_stride == DIGEST_PAGE) {
        to = haul__runs_in(strip, page * DIGEST_PAGE, last * DIGEST_PAGE, &from);
        if (from < to)
            return haul__unwritten_bytes(&d->tracked, strip->host + from * DIGEST_PAGE,
                                         (to - from) * DIGEST_PAGE) /
                   DIGEST_PAGE;
    }
    return (size_t)is_unwritten(d, page);
}

static void digest_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    haul__digests *d = user;
    const size_t last = end / DIGEST_PAGE + (end % DIGEST_PAGE != 0);
    const int is_told = d->are_sent && d->tracked.words;
    size_t page = first / DIGEST_PAGE;
    (void)number;
    (void)scratch;
    while (page < last) {
        const size_t unwritten = is_told ? count_unwritten(d, page, last) : 0;
        uint64_t digest;
        memset(d->is_new + page, 0, unwritten);
        page += unwritten;
        if (page == last)
            return;
        digest = digest_of(&d->strips, page);
        d->is_new[page] = !d->are_sent || digest != d->digests[page];
        d->digests[page++] = digest;
    }
}

/* ---- Of a group. */

void haul__drop_digests(haul_environment *e, haul__sent_group *group)
{
    const haul_allocator *allocator = &e->context->allocator;
    haul__digests *d = group->digests;
    if (!d)
        return;
    haul__untrack(e, &d->tracked);
    haul__drop_strips(e, &d->strips);
    haul__release(allocator, d->digests, d->pages * sizeof *d->digests);
    haul__release(allocator, d->is_new, d->pages);
    haul__release(allocator, d, sizeof *d);
    group->digests = NULL;
}

/* ---- Of a group that stays in part. */

/* Marks in is_new. */
#define LOSES_RUNS 1
#define LOSES_AND_IS_NEW 2

/* Lists a strip's runs outside of the part, in their places, and marks the pages of the others. */
static int list_rest(const haul_allocator *allocator, const haul__digests *d, size_t number,
                     const haul__sent_group *part, haul__digests *rest)
{
    const haul__strip *from = &d->strips.list.at[number];
    haul__strip *strip = NULL; /* that may grow */
    size_t k;
    for (k = 0; k < from->count; k++) {
        const uintptr_t host = from->host + k * from->host_stride;
        const size_t packed = from->packed + k * from->bytes, page = packed / DIGEST_PAGE;
        if (haul__covered_at(part, host)) {
            strip = NULL;
            if (!rest->is_new[page])
                rest->is_new[page] =
                    digest_of(&d->strips, page) == d->digests[page] ? LOSES_RUNS : LOSES_AND_IS_NEW;
            continue;
        }
        if (strip) {
            strip->count++;
            continue;
        }
        strip = HAUL__LIST_ADD(allocator, &rest->strips.list);
        if (!strip)
            return 0;
        *strip = *from;
        strip->host = host;
        strip->device += k * from->device_stride;
        strip->packed = packed;
        strip->count = 1;
    }
    return 1;
}

int haul__cut_digests(haul_environment *e, const haul__sent_group *group, haul__sent_group *part)
{
    const haul_allocator *allocator = &e->context->allocator;
    const haul__digests *d = group->digests;
    haul__digests *rest;
    size_t i;
    if (!d)
        return 1;
    rest = part->digests = haul__allocate_zeroed(allocator, sizeof *rest);
    if (!rest)
        return 0;
    rest->pages = d->pages;
    rest->are_sent = d->are_sent;
    rest->strips.bytes = d->strips.bytes;
    rest->strips.packed_bytes = d->strips.packed_bytes;
    if (!d->pages)
        return 1;
    rest->digests = haul__allocate(allocator, d->pages * sizeof *d->digests, sizeof *d->digests);
    rest->is_new = haul__allocate_zeroed(allocator, d->pages);
    if (!rest->digests || !rest->is_new)
        return 0;
    memcpy(rest->digests, d->digests, d->pages * sizeof *d->digests);
    for (i = 0; i < d->strips.list.count; i++)
        if (!list_rest(allocator, d, i, part, rest))
            return 0;
    if (!rest->strips.list.count)
        rest->strips.packed_bytes = 0;
    return 1;
}

/* A page that has lost runs is new if it was so before. */
void haul__take_cut_digests(haul_environment *e, haul__sent_group *group, haul__sent_group *part)
{
    haul__digests *d = group->digests, *rest = part->digests;
    size_t page;
    if (!rest)
        return;
    for (page = 0; page < rest->pages; page++) {
        const unsigned char mark = rest->is_new[page];
        rest->is_new[page] = 0;
        if (mark && rest->strips.list.count)
            rest->digests[page] = digest_of(&rest->strips, page);
        if (mark == LOSES_AND_IS_NEW)
            rest->digests[page] = ~rest->digests[page];
    }
    rest->tracked = d->tracked;
    memset(&d->tracked, 0, sizeof d->tracked);
    haul__track_no_more(e, &rest->tracked, part);
    group->digests = rest;
    part->digests = d;
}

size_t haul__digest_bytes(const haul__sent_group *group)
{
    const haul__digests *d = group->digests;
    return d ? sizeof *d + d->pages * (sizeof *d->digests + 1) +
                   d->strips.list.capacity * sizeof *d->strips.list.at +
                   d->tracked.list.capacity * sizeof *d->tracked.list.at +
                   d->tracked.words * sizeof *d->tracked.bits
             : 0;
}

static haul_status no_memory(haul_environment *e)
{
    return haul__fail(&e->context->error, HAUL_ERROR_MEMORY, "out of memory for digests of pages");
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
        d->is_new = haul__allocate(allocator, d->pages, 1);
        status = d->digests && d->is_new ? HAUL_OK : HAUL_ERROR_MEMORY;
    }
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__drop_digests(e, group);
    return status == HAUL_ERROR_MEMORY ? no_memory(e) : status;
}

static size_t next_new(const haul__digests *d, size_t page)
{
    const unsigned char *found =
        page < d->pages ? memchr(d->is_new + page, 1, d->pages - page) : NULL;
    return found ? (size_t)(found - d->is_new) : d->pages;
}

/* Adds the runs of new pages. */
static haul_status add_new(haul__batch *batch, const haul__digests *d)
{
    haul_status status = HAUL_OK;
    size_t i = 0, page, from, to;
    for (page = next_new(d, 0); page < d->pages && status == HAUL_OK; page = next_new(d, page + 1))
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

/* The bytes that a sync reads, or about as many. */
static size_t bytes_to_read(const haul__digests *d)
{
    const size_t all = d->strips.packed_bytes, watched = haul__watched_bytes(&d->tracked),
                 written = haul__written_bytes(&d->tracked),
                 unwritten = d->are_sent && watched > written ? watched - written : 0;
    return unwritten < all ? all - unwritten : 0;
}

static haul_status add_changes(haul__batch *batch, uint32_t number)
{
    haul_environment *e = batch->e;
    haul__sent_group *group = e->groups.at[number];
    haul_status status = haul__come_behind(e, group, NULL);
    size_t bytes;
    if (status == HAUL_OK && !group->digests)
        status = make_digests(e, number);
    if (status == HAUL_OK && !haul__track(e, group, &group->digests->tracked))
        status = no_memory(e);
    if (status == HAUL_OK)
        status = haul__add_group(batch, number);
    if (status != HAUL_OK)
        return status;
    haul__find_written(e, &group->digests->tracked);
    bytes = bytes_to_read(group->digests);
    haul__pool_run(haul__context_pool(e->context, bytes), bytes, 0,
                   group->digests->strips.packed_bytes, DIGEST_GRAIN, digest_chunk, group->digests);
    group->digests->are_sent = 0; /* unless the call succeeds */
    return add_new(batch, group->digests);
}

haul_status haul__track_writes(haul_environment *e, int on)
{
    size_t i;
    if (!on == !e->written.page_bytes)
        return HAUL_OK;
    if (on)
        return haul__written_open(&e->written)
                   ? HAUL_OK
                   : haul__fail(&e->context->error, HAUL_ERROR_UNSUPPORTED,
                                "the system does not tell which pages a process has written "
                                "(Linux does from 6.11 on, if userfaultfd is allowed)");
    for (i = 0; i < e->groups.count; i++)
        if (e->groups.at[i] && e->groups.at[i]->digests)
            haul__untrack(e, &e->groups.at[i]->digests->tracked);
    haul__written_close(&e->written);
    return HAUL_OK;
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

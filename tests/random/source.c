/* The graph of a trial in the host's memory: the bytes that may change there, and those that come
 * back.
 */
#include "steps.h"

#include <string.h>

int trial_source_is_unchanged(trial *t, const char *after)
{
    for (size_t i = 0; i < t->g.block_count; i++) {
        const graph_block *b = &t->g.blocks[i];
        for (size_t k = 0; k < b->bytes; k++)
            if (b->memory[k] != b->shadow[k])
                return trial_fail(t,
                                  "%s: the source has changed at %p, where nothing may be written",
                                  after, (void *)&b->memory[k]);
    }
    return 1;
}

/* Blocks may touch: a range can lie in several. */
void trial_restore(trial *t, uintptr_t first, size_t bytes)
{
    for (size_t i = 0; i < t->g.block_count; i++) {
        const graph_block *b = &t->g.blocks[i];
        uintptr_t memory = (uintptr_t)b->memory;
        uintptr_t from = first > memory ? first : memory;
        uintptr_t end = first + bytes < memory + b->bytes ? first + bytes : memory + b->bytes;
        if (from < end)
            memcpy(b->memory + (from - memory), b->shadow + (from - memory), end - from);
    }
}

void trial_change_source(trial *t)
{
    for (size_t i = 0; i < t->host.data_count; i++)
        fill(t->c, (void *)t->host.data[i].host, t->host.data[i].bytes);
    for (size_t i = 0; i < t->g.frozen.count; i++)
        trial_restore(t, (uintptr_t)t->g.frozen.at[i].address, t->g.frozen.at[i].count);
}

int trial_source_has_results(trial *t, uintptr_t first, uintptr_t end, const char *after)
{
    const unsigned char *result = t->results;
    for (size_t i = 0; i < t->host.data_count; i++) {
        uintptr_t from = t->host.data[i].host, to = from + t->host.data[i].bytes;
        uintptr_t a = from > first ? from : first, b = to < end ? to : end;
        if (a < b && memcmp((const void *)a, result + (a - from), b - a) != 0)
            return trial_fail(t, "%s: data near %p did not come back", after, (void *)a);
        if (a < b)
            trial_restore(t, a, b - a);
        result += t->host.data[i].bytes;
    }
    return trial_source_is_unchanged(t, after);
}

/* What does not come back is the host's own. */
static void keep_unreturned(trial *t)
{
    unsigned char *result = t->results;
    for (size_t i = 0; i < t->host.data_count; i++) {
        const reference_range *r = &t->host.data[i];
        int unreturned;
        for (size_t at = 0, n; at < r->bytes; at += n) {
            n = reference_stretch(t->host.unreturned, t->host.unreturned_count, r->host + at,
                                  r->bytes - at, &unreturned);
            if (unreturned)
                memcpy(result + at, (const void *)(r->host + at), n);
        }
        result += r->bytes;
    }
}

/* What the description reads is as it was sent. */
static void freeze(const trial *t, const reference *copy)
{
    for (size_t i = 0; i < t->g.frozen.count; i++) {
        const graph_region *r = &t->g.frozen.at[i];
        for (size_t k = 0; k < r->count; k++) {
            int unsent;
            reference_stretch(copy->unsent, copy->unsent_count, (uintptr_t)r->address + k, 1,
                              &unsent);
            if (!unsent)
                reference_set_data(copy, (uintptr_t)r->address + k, r->address[k]);
        }
    }
}

void trial_change_copies(trial *t, const reference *copy, int all)
{
    unsigned char *result = t->results;
    for (size_t i = 0; i < copy->data_count; i++) {
        const reference_range *r = &copy->data[i];
        int unsent;
        for (size_t at = 0, n; at < r->bytes; at += n) {
            n = reference_stretch(copy->unsent, copy->unsent_count, r->host + at, r->bytes - at,
                                  &unsent);
            if (all || !unsent)
                fill(t->c, (void *)(r->copy + at), n);
        }
    }
    if (!t->lets_change)
        freeze(t, copy);
    for (size_t i = 0; i < t->host.data_count; i++) {
        uintptr_t at;
        /* ranges that touch here may not touch there */
        for (size_t k = 0; k < t->host.data[i].bytes;) {
            size_t left = t->host.data[i].bytes - k, n = 1;
            uintptr_t from = t->host.data[i].host + k;
            reference_find(copy, from, &at);
            for (uintptr_t next;
                 n < left && reference_find(copy, from + n, &next) && next == at + n;)
                n++;
            memcpy(result + k, (const void *)at, n);
            k += n;
        }
        result += t->host.data[i].bytes;
    }
    keep_unreturned(t);
}

int trial_restore_unsent(trial *t)
{
    for (size_t i = 0; i < t->host.unsent_count; i++) {
        const reference_range *r = &t->host.unsent[i];
        int unreturned;
        for (size_t at = 0, n; at < r->bytes; at += n) {
            const unsigned char *host = (const unsigned char *)r->host + at;
            n = reference_stretch(t->host.unreturned, t->host.unreturned_count, r->host + at,
                                  r->bytes - at, &unreturned);
            for (size_t k = 0; k < n && !unreturned; k++)
                if (host[k] != 0)
                    return trial_fail(
                        t, "unmarshal with pointers: what was not sent is not zero, at %p",
                        (void *)&host[k]);
            if (!unreturned)
                trial_restore(t, (uintptr_t)host, n);
        }
    }
    return 1;
}

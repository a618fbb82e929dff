/* The read set of an arena with a discovered graph: results may not change it.
 *
 * A typed arena does not know where its objects begin, so it has no read set.
 */
#include <stdio.h>

#include "arena/contents_reads.h"
#include "arena/pointers.h"
#include "arena/staying.h"
#include "map/found.h"

/* Is the byte written when data comes back? */
static int comes_back(const haul__contents *c, size_t at)
{
    const size_t i = haul__first_staying(c, at);
    return !haul__is_slot(c, at / sizeof(void *)) &&
           (i == c->staying_count || c->staying[i].at > at);
}

/* Compares the bytes of the field that lie in [first, end). `memory` is the address of offset 0.
 * *is: the value that the field would get. */
static int bytes_hold(const haul__contents *c, uint64_t word, const unsigned char *memory,
                      size_t first, size_t end, int64_t *is)
{
    const size_t at = HAUL__READ_ADDRESS(word) - (uintptr_t)c->base;
    unsigned char bytes[HAUL__READ_MAX];
    unsigned i;
    int hold = 1;
    haul__read_to_bytes(word, haul__read_value(&c->reads, word), bytes);
    for (i = 0; i < haul__read_bytes(word); i++) {
        const unsigned char *copied = memory + at + i;
        if (at + i < first || at + i >= end || *copied == bytes[i] || !comes_back(c, at + i))
            continue;
        bytes[i] = *copied;
        hold = 0;
    }
    *is = haul__read_copied(word, bytes);
    return hold;
}

int haul__contents_have_reads(const haul__contents *c, size_t at, size_t bytes)
{
    const size_t i =
        c->lets_change ? c->reads.count : haul__first_read(&c->reads, (uintptr_t)c->base + at);
    return i < c->reads.count &&
           HAUL__READ_ADDRESS(c->reads.words[i]) - (uintptr_t)c->base < at + bytes;
}

haul_status haul__contents_check_reads(const haul__contents *c, const unsigned char *memory,
                                       size_t at, size_t bytes, haul_error *error)
{
    const unsigned char *from = (const unsigned char *)((uintptr_t)memory - at);
    size_t i;
    if (c->lets_change)
        return HAUL_OK;
    for (i = haul__first_read(&c->reads, (uintptr_t)c->base + at); i < c->reads.count; i++) {
        const uint64_t word = c->reads.words[i];
        const size_t place = HAUL__READ_ADDRESS(word) - (uintptr_t)c->base;
        char path[HAUL_PATH_BYTES];
        haul_status status;
        int64_t is;
        if (place >= at + bytes)
            break;
        if (place >= at && haul__read_bytes(word) <= at + bytes - place &&
            haul__read_copied(word, from + place) == haul__read_value(&c->reads, word))
            continue;
        if (bytes_hold(c, word, from, at, at + bytes, &is))
            continue;
        status = haul__refuse_read(error, word, haul__read_value(&c->reads, word), is);
        snprintf(path, sizeof path, "arena+%zu", place);
        haul__set_path(error->path, path);
        return status;
    }
    return HAUL_OK;
}

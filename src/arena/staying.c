/* Ranges of contents that stay on the host, or are edited: listed and sorted.
 */
#include "arena/staying.h"
#include "base/list.h"
#include "base/sort.h"

static haul__staying *add(haul__contents *c, size_t at, size_t bytes)
{
    haul__staying *added;
    if (!haul__grow(&c->arena->context->allocator, &c->staying, &c->staying_capacity,
                    c->staying_count + 1, sizeof *c->staying))
        return NULL;
    added = &c->staying[c->staying_count++];
    memset(added, 0, sizeof *added);
    added->at = at;
    added->bytes = bytes;
    return added;
}

int haul__staying_add(haul__contents *c, size_t at, size_t bytes)
{
    return add(c, at, bytes) != NULL;
}

int haul__staying_add_data(haul__contents *c, size_t at, size_t bytes)
{
    haul__staying *added = add(c, at, bytes);
    if (added)
        added->is_data = 1;
    return added != NULL;
}

int haul__staying_add_edited(haul__contents *c, size_t at, size_t bytes, const void *becomes)
{
    haul__staying *added = add(c, at, bytes);
    if (!added)
        return 0;
    added->is_edited = 1;
    if (becomes)
        memcpy(added->becomes, becomes, bytes);
    return 1;
}

static int comes_before(const void *a, const void *b)
{
    return ((const haul__staying *)a)->at < ((const haul__staying *)b)->at;
}

/* Builds a list of ranges without overlaps. Edited ranges win over ranges that stay, and these over
 * data. Of a range, only the parts between the ranges that win are entered, when those are known.
 */
typedef struct separation {
    haul__staying *out;
    size_t count;
    size_t done;  /* everything below is entered */
    size_t until; /* bytes from `done` up to here stay, */
    size_t data;  /* and bytes from `done` up to here stay as data */
} separation;

static void enter_until(separation *s, size_t end, int is_data)
{
    if (s->done < end) {
        haul__staying *stays = &s->out[s->count++];
        memset(stays, 0, sizeof *stays);
        stays->at = s->done;
        stays->bytes = end - s->done;
        stays->is_data = is_data;
        s->done = end;
    }
}

static void enter_stays(separation *s, size_t end)
{
    enter_until(s, s->until < end ? s->until : end, 0);
    enter_until(s, s->data < end ? s->data : end, 1);
    if (s->done < end)
        s->done = end;
}

/* Two edited ranges may overlap: the first one wins. */
static void enter_edited(separation *s, const haul__staying *next)
{
    size_t cut = s->done - next->at;
    haul__staying *edited;
    if (cut >= next->bytes)
        return;
    edited = &s->out[s->count++];
    *edited = *next;
    edited->at += cut;
    edited->bytes -= cut;
    if (next->bytes <= sizeof next->becomes)
        memmove(edited->becomes, edited->becomes + cut, edited->bytes);
    s->done = edited->at + edited->bytes;
}

/* Enters range after range. Adjacent ranges are not merged: a nursery looks its range up by its
 * end. */
static int separate(haul__contents *c)
{
    const haul_allocator *allocator = &c->arena->context->allocator;
    const size_t capacity = 3 * c->staying_count + 2;
    separation s;
    size_t i, *until;
    memset(&s, 0, sizeof s);
    s.out = haul__allocate(allocator, capacity * sizeof *s.out, sizeof(void *));
    if (!s.out)
        return 0;
    for (i = 0; i < c->staying_count; i++) {
        const haul__staying *next = &c->staying[i];
        /* The known ranges are entered before this one, unless it only extends one of them. */
        if (next->is_edited || (next->at >= s.until && (!next->is_data || next->at >= s.data)))
            enter_stays(&s, next->at);
        until = next->is_data ? &s.data : &s.until;
        if (next->is_edited)
            enter_edited(&s, next);
        else if (*until < next->at + next->bytes)
            *until = next->at + next->bytes;
    }
    enter_stays(&s, s.until > s.data ? s.until : s.data);
    haul__release(allocator, c->staying, c->staying_capacity * sizeof *c->staying);
    c->staying = s.out;
    c->staying_count = s.count;
    c->staying_capacity = capacity;
    return 1;
}

int haul__staying_sort(haul__contents *c)
{
    size_t i;
    haul__sort(c->staying, c->staying_count, sizeof *c->staying, comes_before);
    for (i = 1; i < c->staying_count; i++)
        if (c->staying[i].at < c->staying[i - 1].at + c->staying[i - 1].bytes)
            return separate(c);
    return 1;
}

static int ends_before(const void *list, size_t i, uint64_t at)
{
    const haul__staying *range = (const haul__staying *)list + i;
    return range->at + range->bytes <= at;
}

size_t haul__first_staying(const haul__contents *c, size_t at)
{
    return haul__search(c->staying, 0, c->staying_count, at, ends_before);
}

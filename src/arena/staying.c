/* Ranges of contents that do not come back, or are others on the device: listed, and put in order.
 */
#include "arena/staying.h"
#include "base/sort.h"

static haul__kept_bytes *add_kept(haul__contents *c, size_t at, size_t bytes)
{
    haul__kept_bytes *added;
    if (!haul__grow(&c->arena->context->allocator, (void **)&c->kept, &c->kept_capacity,
                    c->kept_count + 1, sizeof *c->kept))
        return NULL;
    added = &c->kept[c->kept_count++];
    memset(added, 0, sizeof *added);
    added->at = at;
    added->bytes = bytes;
    return added;
}

int haul__contents_keep(haul__contents *c, size_t at, size_t bytes)
{
    return add_kept(c, at, bytes) != NULL;
}

int haul__contents_exclude(haul__contents *c, size_t at, size_t bytes)
{
    haul__kept_bytes *added = add_kept(c, at, bytes);
    if (added)
        added->is_data = 1;
    return added != NULL;
}

int haul__contents_replace(haul__contents *c, size_t at, size_t bytes, const void *becomes)
{
    haul__kept_bytes *added = add_kept(c, at, bytes);
    if (!added)
        return 0;
    added->is_edited = 1;
    if (becomes)
        memcpy(added->becomes, becomes, bytes);
    return 1;
}

static int comes_before(const void *a, const void *b)
{
    return ((const haul__kept_bytes *)a)->at < ((const haul__kept_bytes *)b)->at;
}

/* Ranges on their way into a list in which none lies over another. What is edited goes before what
 * only stays, and this before data, so of a range only what lies between those before it is
 * entered, when it is known what lies there.
 */
typedef struct separation {
    haul__kept_bytes *out;
    size_t count;
    size_t done;  /* up to here all has been entered */
    size_t until; /* from there on up to here bytes stay, */
    size_t data;  /* and from there on up to here as data */
} separation;

static void enter_until(separation *s, size_t end, int is_data)
{
    if (s->done < end) {
        haul__kept_bytes *stays = &s->out[s->count++];
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

/* Must what is known be entered before the range is? Not while it goes on as what it is. */
static int cuts(const separation *s, const haul__kept_bytes *next)
{
    return next->is_edited || (next->at >= s->until && (!next->is_data || next->at >= s->data));
}

/* Of two edited ranges the first one keeps what they share. */
static void enter_edited(separation *s, const haul__kept_bytes *next)
{
    size_t cut = s->done - next->at;
    haul__kept_bytes *edited;
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

/* One range after the other. Those that only touch stay two: a nursery looks for its own. */
static int separate_kept(haul__contents *c)
{
    const haul_allocator *allocator = &c->arena->context->allocator;
    const size_t capacity = 3 * c->kept_count + 2;
    separation s;
    size_t i, *until;
    memset(&s, 0, sizeof s);
    s.out = haul__allocate(allocator, capacity * sizeof *s.out, sizeof(void *));
    if (!s.out)
        return 0;
    for (i = 0; i < c->kept_count; i++) {
        const haul__kept_bytes *next = &c->kept[i];
        if (cuts(&s, next))
            enter_stays(&s, next->at);
        until = next->is_data ? &s.data : &s.until;
        if (next->is_edited)
            enter_edited(&s, next);
        else if (*until < next->at + next->bytes)
            *until = next->at + next->bytes;
    }
    enter_stays(&s, s.until > s.data ? s.until : s.data);
    haul__release(allocator, c->kept, c->kept_capacity * sizeof *c->kept);
    c->kept = s.out;
    c->kept_count = s.count;
    c->kept_capacity = capacity;
    return 1;
}

static int is_separate(const haul__contents *c)
{
    size_t i;
    for (i = 1; i < c->kept_count; i++)
        if (c->kept[i].at < c->kept[i - 1].at + c->kept[i - 1].bytes)
            return 0;
    return 1;
}

int haul__staying_sort(haul__contents *c)
{
    haul__sort(c->kept, c->kept_count, sizeof *c->kept, comes_before);
    return is_separate(c) || separate_kept(c);
}

size_t haul__first_kept(const haul__contents *c, size_t at)
{
    size_t low = 0, high = c->kept_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->kept[middle].at + c->kept[middle].bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The lists of a type while it is flattened, in the order of adding.
 */
#include <stdio.h>

#include "base/status.h"
#include "type/flat_lists.h"

void haul__scratch_clear(haul__scratch *s)
{
    s->runs.count = s->slots.count = s->parts.count = s->ruled.count = s->excluded.count =
        s->text.count = 0;
    s->alignment = 1;
    s->placement = HAUL__PLACEMENT_MIN;
}

void haul__scratch_release(haul__scratch *s)
{
    HAUL__LIST_RELEASE(&s->allocator, &s->runs);
    HAUL__LIST_RELEASE(&s->allocator, &s->slots);
    HAUL__LIST_RELEASE(&s->allocator, &s->parts);
    HAUL__LIST_RELEASE(&s->allocator, &s->ruled);
    HAUL__LIST_RELEASE(&s->allocator, &s->excluded);
    HAUL__LIST_RELEASE(&s->allocator, &s->text);
}

int haul__put_new_run(haul__scratch *s, size_t offset, size_t bytes)
{
    if (!HAUL__LIST_ROOM(&s->allocator, &s->runs))
        return 0;
    s->runs.at[s->runs.count].offset = offset;
    s->runs.at[s->runs.count++].bytes = bytes;
    return 1;
}

int haul__put_run(haul__scratch *s, size_t offset, size_t bytes)
{
    haul__run *last = s->runs.count > 0 ? &s->runs.at[s->runs.count - 1] : NULL;
    if (bytes == 0)
        return 1;
    if (!last || last->offset + last->bytes != offset)
        return haul__put_new_run(s, offset, bytes);
    last->bytes += bytes;
    return 1;
}

int haul__put_slot(haul__scratch *s, const haul__slot *slot, size_t name)
{
    if (!HAUL__LIST_ROOM(&s->allocator, &s->slots))
        return 0;
    s->slots.at[s->slots.count].slot = *slot;
    s->slots.at[s->slots.count++].name = name;
    return 1;
}

int haul__put_part(haul__scratch *s, size_t offset, size_t count, size_t stride,
                   const haul_type *type, size_t name)
{
    haul__made_part *made = HAUL__LIST_ADD(&s->allocator, &s->parts);
    if (!made)
        return 0;
    made->part.offset = offset;
    made->part.count = count;
    made->part.stride = stride;
    made->part.type = type;
    made->part.name = NULL;
    made->name = name;
    return 1;
}

int haul__put_ruled(haul__scratch *s, const haul__ruled *ruled, size_t name)
{
    if (!HAUL__LIST_ROOM(&s->allocator, &s->ruled))
        return 0;
    s->ruled.at[s->ruled.count].ruled = *ruled;
    s->ruled.at[s->ruled.count++].name = name;
    return 1;
}

int haul__put_excluded(haul__scratch *s, size_t offset, size_t bytes, unsigned bars)
{
    if (!HAUL__LIST_ROOM(&s->allocator, &s->excluded))
        return 0;
    s->excluded.at[s->excluded.count].offset = offset;
    s->excluded.at[s->excluded.count].bytes = bytes;
    s->excluded.at[s->excluded.count++].bars = bars;
    return 1;
}

int haul__put_name(haul__scratch *s, const char *outer, size_t index, size_t count,
                   const char *inner, size_t *name)
{
    char whole[2 * HAUL_NAME_BYTES_MAX + HAUL_PATH_BYTES], place[32] = "", path[HAUL_PATH_BYTES];
    size_t bytes;
    int dot;
    if (count > 1)
        snprintf(place, sizeof place, "[%zu]", index);
    dot = *inner && *inner != '[' && (*outer || *place);
    snprintf(whole, sizeof whole, "%s%s%s%s", outer, place, dot ? "." : "", inner);
    haul__set_path(path, whole);
    bytes = strlen(path) + 1;
    if (!haul__grow(&s->allocator, &s->text.at, &s->text.capacity, s->text.count + bytes, 1))
        return 0;
    memcpy(s->text.at + s->text.count, path, bytes);
    *name = s->text.count;
    s->text.count += bytes;
    return 1;
}

/* The lists of a type while it is flattened, in the order of adding.
 */
#include <stdio.h>

#include "base/status.h"
#include "type/flat_lists.h"

void haul__scratch_clear(haul__scratch *s)
{
    s->run_count = s->slot_count = s->part_count = s->ruled_count = s->excluded_count =
        s->text_bytes = 0;
    s->alignment = 1;
    s->placement = HAUL__PLACEMENT_MIN;
}

void haul__scratch_release(haul__scratch *s)
{
    haul__release(&s->allocator, s->runs, s->run_capacity * sizeof *s->runs);
    haul__release(&s->allocator, s->slots, s->slot_capacity * sizeof *s->slots);
    haul__release(&s->allocator, s->parts, s->part_capacity * sizeof *s->parts);
    haul__release(&s->allocator, s->ruled, s->ruled_capacity * sizeof *s->ruled);
    haul__release(&s->allocator, s->excluded, s->excluded_capacity * sizeof *s->excluded);
    haul__release(&s->allocator, s->text, s->text_capacity);
}

int haul__put_new_run(haul__scratch *s, size_t offset, size_t bytes)
{
    if (!haul__grow(&s->allocator, &s->runs, &s->run_capacity, s->run_count + 1, sizeof *s->runs))
        return 0;
    s->runs[s->run_count].offset = offset;
    s->runs[s->run_count++].bytes = bytes;
    return 1;
}

int haul__put_run(haul__scratch *s, size_t offset, size_t bytes)
{
    haul__run *last = s->run_count > 0 ? &s->runs[s->run_count - 1] : NULL;
    if (bytes == 0)
        return 1;
    if (!last || last->offset + last->bytes != offset)
        return haul__put_new_run(s, offset, bytes);
    last->bytes += bytes;
    return 1;
}

int haul__put_slot(haul__scratch *s, const haul__slot *slot, size_t name)
{
    if (!haul__grow(&s->allocator, &s->slots, &s->slot_capacity, s->slot_count + 1,
                    sizeof *s->slots))
        return 0;
    s->slots[s->slot_count].slot = *slot;
    s->slots[s->slot_count++].name = name;
    return 1;
}

int haul__put_part(haul__scratch *s, size_t offset, size_t count, size_t stride,
                   const haul_type *type, size_t name)
{
    haul__made_part *made;
    if (!haul__grow(&s->allocator, &s->parts, &s->part_capacity, s->part_count + 1,
                    sizeof *s->parts))
        return 0;
    made = &s->parts[s->part_count++];
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
    if (!haul__grow(&s->allocator, &s->ruled, &s->ruled_capacity, s->ruled_count + 1,
                    sizeof *s->ruled))
        return 0;
    s->ruled[s->ruled_count].ruled = *ruled;
    s->ruled[s->ruled_count++].name = name;
    return 1;
}

int haul__put_excluded(haul__scratch *s, size_t offset, size_t bytes, unsigned bars)
{
    if (!haul__grow(&s->allocator, &s->excluded, &s->excluded_capacity, s->excluded_count + 1,
                    sizeof *s->excluded))
        return 0;
    s->excluded[s->excluded_count].offset = offset;
    s->excluded[s->excluded_count].bytes = bytes;
    s->excluded[s->excluded_count++].bars = bars;
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
    if (!haul__grow(&s->allocator, &s->text, &s->text_capacity, s->text_bytes + bytes, 1))
        return 0;
    memcpy(s->text + s->text_bytes, path, bytes);
    *name = s->text_bytes;
    s->text_bytes += bytes;
    return 1;
}

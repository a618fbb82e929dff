/* The comparators' traversal: what a compiler would generate for the types of a workload, with the
 * field table read at run time instead. One pass, one look-up for each pointer, presized and warm,
 * nothing cleared between walks.
 */
#include <string.h>

#include "gpu.h"

/* -------------------------------------------------------------------------------------------------
 * Objects
 */
size_t gpu_object_bytes(const gpu_kind *kind, size_t count)
{
    return count * (kind ? kind->bytes : sizeof(uint64_t));
}

size_t gpu_bytes(const gpu_object *object)
{
    return gpu_object_bytes(object->kind, object->count);
}

size_t gpu_pointer_count(const gpu_object *object)
{
    return object->kind ? object->count * object->kind->field_count : 0;
}

size_t gpu_pointer_at(const gpu_object *object, size_t i)
{
    const gpu_kind *kind = object->kind;
    if (object->count == 1)
        return kind->field[i].at;
    return i / kind->field_count * kind->bytes + kind->field[i % kind->field_count].at;
}

void gpu_read_pointers(const gpu_object *object, const char *copy, uint64_t *values)
{
    size_t i, count = gpu_pointer_count(object);
    for (i = 0; i < count; i++)
        memcpy(&values[i], copy + gpu_pointer_at(object, i), sizeof(void *));
}

void gpu_write_pointers(const gpu_object *object, char *copy, const uint64_t *values)
{
    size_t i, count = gpu_pointer_count(object);
    for (i = 0; i < count; i++)
        memcpy(copy + gpu_pointer_at(object, i), &values[i], sizeof(void *));
}

/* -------------------------------------------------------------------------------------------------
 * The walk
 */
void gpu_walk_open(gpu_walk *walk, const gpu_workload *it)
{
    memset(walk, 0, sizeof(*walk));
    walk->it = it;
    walk->objects = bench_map(it->objects * sizeof(gpu_object));
    walk->targets = bench_map(it->largest_pointers * sizeof(uint64_t) + sizeof(uint64_t));
    hash_map_open(&walk->present, it->objects, 1);
}

void gpu_walk_close(gpu_walk *walk)
{
    hash_map_close(&walk->present);
    bench_unmap(walk->targets, walk->it->largest_pointers * sizeof(uint64_t) + sizeof(uint64_t));
    bench_unmap(walk->objects, walk->it->objects * sizeof(gpu_object));
}

static uint64_t meet(gpu_walk *walk, char *host, const gpu_kind *kind, size_t count)
{
    int is_new;
    uint64_t index = hash_map_meet(&walk->present, (uint64_t)(uintptr_t)host, walk->count, &is_new);
    gpu_object *object = &walk->objects[index];
    if (is_new) {
        if (++walk->count > walk->it->objects)
            gpu_die(walk->it->name, "more objects than were built");
        object->host = host;
        object->kind = kind;
        object->count = count;
        object->place = walk->place(walk->user, gpu_object_bytes(kind, count));
    }
    return object->place;
}

void gpu_walk_start(gpu_walk *walk, gpu_place *place, void *user)
{
    walk->place = place;
    walk->user = user;
    walk->count = walk->next = 0;
    walk->present.stamp++;
    meet(walk, walk->it->root, walk->it->root_kind, 1);
}

static uint64_t follow(gpu_walk *walk, const char *element, const gpu_field *field)
{
    int64_t count = 1;
    int32_t narrow;
    char *target;
    memcpy(&target, element + field->at, sizeof(target));
    if (!target)
        return 0;
    if (field->count_at == GPU_STRING)
        count = (int64_t)strlen(target) + 1;
    else if (field->count_at != GPU_NO_COUNT && field->count_bytes == sizeof(narrow))
        count = *(int32_t *)memcpy(&narrow, element + field->count_at, sizeof(narrow));
    else if (field->count_at != GPU_NO_COUNT)
        memcpy(&count, element + field->count_at, sizeof(count));
    return meet(walk, target, field->target, (size_t)count);
}

const gpu_object *gpu_walk_visit(gpu_walk *walk)
{
    const gpu_object *object = &walk->objects[walk->next];
    uint64_t *target = walk->targets;
    size_t element;
    unsigned f;
    if (walk->next == walk->count)
        return NULL;
    walk->next++;
    for (element = 0; object->kind && element < object->count; element++)
        for (f = 0; f < object->kind->field_count; f++)
            *target++ =
                follow(walk, object->host + element * object->kind->bytes, &object->kind->field[f]);
    return object;
}

/* -------------------------------------------------------------------------------------------------
 * One buffer
 */
uint64_t gpu_place_next(void *user, size_t bytes)
{
    uint64_t *next = user, place = *next;
    *next += (bytes + 15) & ~(size_t)15;
    return place;
}

size_t gpu_packed_bytes(gpu_walk *walk)
{
    uint64_t base = 16, next = base;
    gpu_walk_start(walk, gpu_place_next, &next);
    while (gpu_walk_visit(walk))
        continue;
    return (size_t)(next - base);
}

void gpu_pack(gpu_walk *walk, char *buffer, uint64_t base)
{
    const gpu_object *object;
    uint64_t next = base;
    gpu_walk_start(walk, gpu_place_next, &next);
    while ((object = gpu_walk_visit(walk)) != NULL) {
        char *copy = buffer + (object->place - base);
        memcpy(copy, object->host, gpu_bytes(object));
        gpu_write_pointers(object, copy, walk->targets);
    }
}

void gpu_unpack(gpu_walk *walk, const char *buffer, uint64_t base)
{
    uint64_t *saved = walk->targets;
    size_t i;
    for (i = 0; i < walk->count; i++) {
        const gpu_object *object = &walk->objects[i];
        gpu_read_pointers(object, object->host, saved);
        memcpy(object->host, buffer + (object->place - base), gpu_bytes(object));
        gpu_write_pointers(object, object->host, saved);
    }
}

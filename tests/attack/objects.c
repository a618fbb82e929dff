/* The host's objects, and what the host does with them.
 */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "world.h"

static void *must(void *memory)
{
    CHECK(memory != NULL);
    return memory;
}

static int are_coming(const nest *t)
{
    int count = 0;
    while (count < t->count && t->made[count].at < t->coming)
        count++;
    return count;
}

int objects_free(const world *w)
{
    int count = 0;
    for (int i = 0; i < OBJECTS_MAX; i++)
        count += !w->objects[i].memory;
    for (int i = 0; i < CARGOES_MAX; i++)
        for (int n = 0; w->cargoes[i].shipment && n < NURSERIES_MAX; n++)
            count -= are_coming(&w->cargoes[i].nests[n]);
    return count;
}

int object_add(world *w, object_kind kind, unsigned char *memory, size_t bytes, int arena)
{
    int i = 0;
    if (objects_free(w) <= 0)
        return -1;
    while (w->objects[i].memory)
        i++;
    object *o = &w->objects[i];
    o->memory = memory;
    o->expected = must(malloc(bytes));
    memcpy(o->expected, memory, bytes);
    o->bytes = bytes;
    o->kind = kind;
    o->arena = arena;
    o->held = 0;
    o->is_block = 0;
    o->alignment = 0;
    o->is_made = 0;
    return i;
}

int object_new(world *w, object_kind kind, size_t bytes)
{
    unsigned char *memory = must(calloc(1, bytes));
    int i = object_add(w, kind, memory, bytes, -1);
    if (i < 0)
        free(memory);
    else
        object_redraw(w, i);
    return i;
}

void object_drop(world *w, int i)
{
    object *o = &w->objects[i];
    if (o->arena < 0)
        free(o->memory);
    free(o->expected);
    memset(o, 0, sizeof *o);
}

void object_resize(world *w, int i, size_t bytes)
{
    object *o = &w->objects[i];
    o->expected = must(realloc(o->expected, bytes));
    if (bytes > o->bytes)
        memcpy(o->expected + o->bytes, o->memory + o->bytes, bytes - o->bytes);
    o->bytes = bytes;
}

int object_some(world *w, object_kind kind, int arena)
{
    size_t start = random_below(&w->random, OBJECTS_MAX);
    for (size_t k = 0; k < OBJECTS_MAX; k++) {
        size_t i = (start + k) % OBJECTS_MAX;
        const object *o = &w->objects[i];
        if (o->memory && o->kind == kind && o->arena == arena)
            return (int)i;
    }
    return -1;
}

int object_at(const world *w, const void *address)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const object *o = &w->objects[i];
        if (o->memory && (uintptr_t)address - (uintptr_t)o->memory < o->bytes)
            return i;
    }
    return -1;
}

void object_write(world *w, int i, size_t at, const void *bytes, size_t count)
{
    memcpy(w->objects[i].memory + at, bytes, count);
    memcpy(w->objects[i].expected + at, bytes, count);
}

void *object_pointer(const world *w, int i, size_t at)
{
    void *value;
    memcpy(&value, w->objects[i].memory + at, sizeof value);
    return value;
}

static void write_pointer(world *w, int i, size_t at, const void *value)
{
    object_write(w, i, at, &value, sizeof value);
}

static void write_int(world *w, int i, size_t at, int32_t value)
{
    object_write(w, i, at, &value, sizeof value);
}

static int32_t read_int(const world *w, int i, size_t at)
{
    int32_t value;
    memcpy(&value, w->objects[i].memory + at, sizeof value);
    return value;
}

/* The start of some object of the kind where `like` lies, or NULL. */
static void *some_start(world *w, object_kind kind, int like)
{
    int arena = w->objects[like].arena, i;
    if (w->crosses && arena >= 0 && kind == ITEM && random_one_in(&w->random, 4))
        arena = (int)random_below(&w->random, ARENAS_MAX);
    i = random_one_in(&w->random, 4) ? -1 : object_some(w, kind, arena);
    return i < 0 ? NULL : w->objects[i].memory;
}

/* Elements of `bytes` bytes from the pointer in the field at `at` to the end of its object. */
static size_t room_behind(const world *w, int i, size_t at, size_t bytes)
{
    const void *to = object_pointer(w, i, at);
    int target = to ? object_at(w, to) : -1;
    if (target < 0)
        return 0;
    return (w->objects[target].bytes -
            (size_t)((const unsigned char *)to - w->objects[target].memory)) /
           bytes;
}

typedef struct counted {
    unsigned row;
    size_t at, bytes;
} counted;

static const counted arrays[] = {
    { ROW_NUMBERS, offsetof(item, numbers), sizeof(double) },
    { ROW_INPUT, offsetof(item, input), sizeof(int16_t) },
    { ROW_OUTPUT, offsetof(item, output), sizeof(float) },
};

enum { ARRAYS = sizeof arrays / sizeof *arrays };

/* Counts are at most what stands behind all of their pointers; nothing behind one: all null. */
static void mend_item(world *w, int i)
{
    size_t most = INT32_MAX, many = room_behind(w, i, offsetof(item, many), sizeof(item *));
    for (int k = 0; k < ARRAYS; k++) {
        size_t room = w->items->rows & arrays[k].row
                          ? room_behind(w, i, arrays[k].at, arrays[k].bytes)
                          : most;
        most = room < most ? room : most;
    }
    if (w->items->rows & ROWS_COUNTED) {
        int32_t count = read_int(w, i, offsetof(item, count));
        if (count < 0 || (size_t)count > most)
            write_int(w, i, offsetof(item, count), (int32_t)most);
        for (int k = 0; k < ARRAYS && read_int(w, i, offsetof(item, count)) == 0; k++)
            if (w->items->rows & arrays[k].row)
                write_pointer(w, i, arrays[k].at, NULL);
    }
    if (w->items->rows & ROW_MANY) {
        int32_t count = read_int(w, i, offsetof(item, many_count));
        if (count < 0 || (size_t)count > many)
            write_int(w, i, offsetof(item, many_count), (int32_t)many);
        if (read_int(w, i, offsetof(item, many_count)) == 0)
            write_pointer(w, i, offsetof(item, many), NULL);
    }
}

void objects_mend(world *w, int arena)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        if (!w->objects[i].memory || w->objects[i].arena != arena)
            continue;
        if (w->objects[i].kind == ITEM)
            mend_item(w, i);
        if (w->objects[i].kind == NAME)
            object_write(w, i, w->objects[i].bytes - 1, "", 1);
    }
}

static void cut(world *w, int i, size_t at)
{
    const void *to = object_pointer(w, i, at);
    int target = to ? object_at(w, to) : -1;
    const object *o = target < 0 ? NULL : &w->objects[target];
    if (!o || o->arena != w->objects[i].arena || o->kind != ITEM || o->memory != to)
        write_pointer(w, i, at, NULL);
}

void objects_cut(world *w, int arena)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        if (!w->objects[i].memory || w->objects[i].arena != arena || w->objects[i].kind != ITEM)
            continue;
        cut(w, i, offsetof(item, next));
        if (w->items->rows & ROW_OTHER)
            cut(w, i, offsetof(item, other));
    }
}

void object_unlink(world *w, int i)
{
    for (int k = 0; k < OBJECTS_MAX; k++) {
        const object *from = &w->objects[k];
        if (!from->memory || (from->kind != ITEM && from->kind != MANY))
            continue;
        size_t end = from->kind == ITEM ? offsetof(item, mine) : from->bytes;
        int led_there = 0;
        for (size_t at = 0; at < end; at += sizeof(void *)) {
            const void *to = object_pointer(w, k, at);
            if (!to || object_at(w, to) != i)
                continue;
            write_pointer(w, k, at, NULL);
            led_there = 1;
        }
        if (led_there && from->kind == ITEM) /* others may be on their way: they stay */
            mend_item(w, k);
    }
}

/* ---- Drawing. */

static void redraw_arrays(world *w, int i)
{
    for (int k = 0; k < ARRAYS; k++) {
        unsigned char *to = w->items->rows & arrays[k].row ? some_start(w, ARRAY, i) : NULL;
        int target = to ? object_at(w, to) : -1;
        if (target >= 0 && random_one_in(&w->random, 3)) /* into the middle of one */
            to += w->objects[target].bytes / 16 * 8;
        if (w->items->rows & arrays[k].row)
            write_pointer(w, i, arrays[k].at, to);
    }
}

static void redraw_item(world *w, int i)
{
    random_source *r = &w->random;
    write_pointer(w, i, offsetof(item, next), some_start(w, ITEM, i));
    if (w->items->rows & ROW_OTHER)
        write_pointer(w, i, offsetof(item, other), some_start(w, ITEM, i));
    if (w->items->rows & ROW_NAME)
        write_pointer(w, i, offsetof(item, name), some_start(w, NAME, i));
    if (w->items->rows & ROW_MANY)
        write_pointer(w, i, offsetof(item, many), some_start(w, MANY, i));
    redraw_arrays(w, i);
    write_int(w, i, offsetof(item, count),
              (int32_t)random_below(r, random_one_in(r, 2) ? 6 : 5000));
    write_int(w, i, offsetof(item, many_count), (int32_t)random_below(r, 6));
    mend_item(w, i);
}

static void redraw_bytes(world *w, int i, size_t at, size_t bytes)
{
    unsigned char drawn[64];
    for (size_t n; bytes > 0; at += n, bytes -= n) {
        n = bytes < sizeof drawn ? bytes : sizeof drawn;
        random_fill(&w->random, drawn, n);
        object_write(w, i, at, drawn, n);
    }
}

static void redraw_name(world *w, int i)
{
    const object *o = &w->objects[i];
    size_t length = random_below(&w->random, o->bytes);
    for (size_t k = 0; k < o->bytes; k++) {
        char letter = (char)(k < length    ? 'a' + (int)random_below(&w->random, 26)
                             : k == length ? 0
                                           : 'z');
        object_write(w, i, k, &letter, 1);
    }
    object_write(w, i, o->bytes - 1, "", 1);
}

void object_redraw(world *w, int i)
{
    const object *o = &w->objects[i];
    switch (o->kind) {
    case ITEM:
        redraw_bytes(w, i, sizeof(item), o->bytes - sizeof(item));
        redraw_item(w, i);
        break;
    case ARRAY:
        redraw_bytes(w, i, 0, o->bytes);
        break;
    case MANY:
        for (size_t at = 0; at < o->bytes; at += sizeof(void *))
            write_pointer(w, i, at, some_start(w, ITEM, i));
        break;
    case NAME:
        redraw_name(w, i);
        break;
    case NURSERY:
    case ROOM:
        break; /* for kernels */
    }
}

void objects_check(const world *w, const char *after)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const object *o = &w->objects[i];
        if (!o->memory)
            continue;
        check_note("object %d after %s", i, after);
        CHECK_BYTES(o->memory, o->expected, o->bytes);
    }
    check_note(NULL);
}

/* Results from a device: outstanding, and written.
 */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "world.h"

static patch *add(results *r, const view *v, int i, size_t at, size_t bytes)
{
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->at = realloc(r->at, r->capacity * sizeof *r->at);
        CHECK(r->at != NULL);
    }
    patch *p = &r->at[r->count++];
    p->object = i;
    p->at = at;
    p->bytes = bytes;
    p->data = malloc(bytes);
    CHECK(p->data != NULL);
    memcpy(p->data, v->image + at, bytes);
    p->graph = NULL;
    return p;
}

static void add_runs(results *r, const view *v, int i, size_t at, size_t end)
{
    while (v->marks && at < end) {
        size_t first = at;
        while (at < end && v->marks[at] & IS_DATA && !(v->marks[at] & (NOT_RETURNED | STAYS)))
            at++;
        if (at > first)
            add(r, v, i, first, at - first);
        else
            at++;
    }
}

static void add_pointers(const world *w, results *r, const picture *p, int i)
{
    const view *v = &p->of[i];
    for (size_t at = 0; v->marks && at < w->objects[i].bytes; at++)
        if (v->marks[at] & IS_POINTER && !(v->marks[at] & STAYS)) {
            add(r, v, i, at, sizeof(void *))->graph = p;
            at += sizeof(void *) - 1;
        }
}

void results_add(const world *w, results *r, const picture *p, int with_pointers)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        add_runs(r, &p->of[i], i, 0, w->objects[i].bytes);
        if (with_pointers)
            add_pointers(w, r, p, i);
    }
}

void results_add_raw(const world *w, results *r, const picture *p)
{
    results_add(w, r, p, 1);
    for (size_t i = 0; i < r->count; i++)
        r->at[i].graph = NULL;
}

void results_add_part(results *r, const picture *p, int i, size_t at, size_t bytes)
{
    add_runs(r, &p->of[i], i, at, at + bytes);
}

static int is_in_graph(const world *w, const picture *p, const void *address)
{
    int i = object_at(w, address);
    const unsigned char *marks = i < 0 ? NULL : p->of[i].marks;
    size_t at = i < 0 ? 0 : (size_t)((const unsigned char *)address - w->objects[i].memory);
    return marks && (marks[at] || (at > 0 && marks[at - 1]));
}

/* A pointer to nothing of the graph went as null: it stays while the device has it so. */
static int stays(const world *w, const patch *p)
{
    const void *now, *back;
    if (p->graph->keeps_outside)
        return 0;
    memcpy(&now, w->objects[p->object].memory + p->at, sizeof now);
    memcpy(&back, p->data, sizeof back);
    return !back && now && !is_in_graph(w, p->graph, now) && !picture_neighbour(p->graph, now);
}

void results_apply(world *w, const results *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->at[i].graph || !stays(w, &r->at[i]))
            memcpy(w->objects[r->at[i].object].expected + r->at[i].at, r->at[i].data,
                   r->at[i].bytes);
}

void results_apply_found(world *w, const results *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const patch *p = &r->at[i];
        object *o = &w->objects[p->object];
        for (size_t k = 0; k < p->bytes; k++)
            if (o->memory[p->at + k] == p->data[k])
                o->expected[p->at + k] = p->data[k];
    }
}

void results_clear(results *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->at[i].data);
    free(r->at);
    memset(r, 0, sizeof *r);
}

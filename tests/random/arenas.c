/* The graph of a trial, built in arenas and sent on its journey. An arena's contents are a graph of
 * their own, which the reference walks like any other; a shipment of the arena must be its copy.
 *
 * Any graph can be built in an arena, except one with words that own their target because it is
 * static. Such a graph is built with its static objects outside, which must be refused, and then
 * once more without these words.
 */
#include "arenas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "building.h"
#include "support/open.h"

int building_fail(building *b, const char *format, ...)
{
    const haul_error *error = haul_context_error(haul_device_context(b->device));
    size_t n;
    va_list arguments;
    if (b->message[0] != '\0')
        return 0;
    va_start(arguments, format);
    vsnprintf(b->message, b->message_bytes, format, arguments);
    va_end(arguments);
    n = strlen(b->message);
    if (error->status != HAUL_OK)
        snprintf(b->message + n, b->message_bytes - n, " [%s; path \"%s\"; %s]",
                 haul_status_name(error->status), error->path, error->text);
    return 0;
}

int building_arena(building *b)
{
    haul_arena_options options;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.checked = chance(b->c, 1, 4);
    options.reuse = chance(b->c, 1, 4);
    options.mirrored = chance(b->c, 1, 4);
    status = test_arena(b->device, &options, &b->arena);
    return status == HAUL_OK || building_fail(b, "making an arena: %s", haul_status_name(status));
}

static building begin(trial_world *w, choices *c, const graph *g, const reference *host,
                      haul_device *device)
{
    building b;
    memset(&b, 0, sizeof b);
    b.view = *g;
    b.g = g;
    b.host = host;
    b.w = w;
    b.c = c;
    b.device = device;
    return b;
}

static void end(building *b)
{
    haul_shipment_free(&b->shipment);
    haul_arena_free(&b->arena);
    haul_type_free(&b->root_type);
    haul_type_free(&b->pointer_type);
    reference_free(&b->there);
    free(b->pieces);
    free(b->image);
    free(b->expected);
}

void building_show(building *b)
{
    b->w->current = &b->view;
    b->w->oracle.roots[0] = b->root;
    b->w->oracle.root_count = 1;
}

static void show_original(building *b)
{
    b->w->current = b->g;
    memcpy(b->w->oracle.roots, b->g->oracle.roots, sizeof b->g->oracle.roots);
    b->w->oracle.root_count = b->g->oracle.root_count;
}

static int run(trial_world *w, choices *c, const graph *g, const reference *host,
               haul_device *device, int (*build)(building *), char *message, size_t message_bytes)
{
    building b = begin(w, c, g, host, device);
    int good;
    b.message = message;
    b.message_bytes = message_bytes;
    good = building_arena(&b) && build(&b);
    show_original(&b);
    end(&b);
    return good;
}

/* ---- Graphs that own static objects ---- */

static int owns_statics(const reference *host)
{
    for (size_t i = 0; i < host->slot_count; i++)
        if (host->slots[i].owns_statics)
            return 1;
    return 0;
}

/* Without the words that own static objects, and aliases to these, a graph is built as any other.
 * An alias may be left at an end, where only one without tags may lead. */
static int is_lost(const reference *rest, const reference_slot *s)
{
    uintptr_t target = (uintptr_t)s->target, copy;
    return s->owns_statics ||
           (s->kind == SLOT_ALIAS && !reference_find(rest, target, &copy) &&
            ((uintptr_t)s->value != target || !reference_find(rest, target - 1, &copy)));
}

/* 1: there were some. */
static int cut_lost(const reference *rest)
{
    int cut = 0;
    for (size_t i = 0; i < rest->slot_count; i++)
        if (is_lost(rest, &rest->slots[i])) {
            graph_write_pointer(rest->slots[i].at, NULL);
            cut = 1;
        }
    return cut;
}

static void mend(const reference *host)
{
    for (size_t i = 0; i < host->slot_count; i++)
        if (host->slots[i].owns_statics || host->slots[i].kind == SLOT_ALIAS)
            graph_write_pointer(host->slots[i].at, host->slots[i].value);
}

static int run_both(trial_world *w, choices *c, const graph *g, const reference *host,
                    haul_device *device, char *message, size_t message_bytes)
{
    return run(w, c, g, host, device, building_untyped, message, message_bytes) &&
           run(w, c, g, host, device, building_typed, message, message_bytes);
}

static int run_without_owners(trial_world *w, choices *c, const graph *g, const reference *host,
                              haul_device *device, char *message, size_t message_bytes)
{
    reference rest;
    int good, again;
    cut_lost(host);
    do {
        good = reference_walk(g, NULL, &rest);
        again = good && cut_lost(&rest);
        if (again)
            reference_free(&rest);
    } while (again);
    if (!good)
        snprintf(message, message_bytes,
                 "the reference cannot walk a graph without its statics: %s", rest.wrong);
    else
        good = run_both(w, c, g, &rest, device, message, message_bytes);
    reference_free(&rest);
    mend(host);
    return good;
}

int arenas_run(trial_world *w, choices *c, const graph *g, const reference *host,
               haul_device *device, char *message, size_t message_bytes)
{
    int owns = owns_statics(host);
    if ((owns || chance(c, 1, 8)) &&
        !run(w, c, g, host, device, building_around_statics, message, message_bytes))
        return 0;
    return (owns ? run_without_owners : run_both)(w, c, g, host, device, message, message_bytes);
}

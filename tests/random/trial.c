/* The course of a trial. Each step leaves the source as it was drawn, and the device as the source
 * is.
 */
#include "steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arenas.h"
#include "faults.h"
#include "haul/host.h"
#include "must.h"
#include "support/check.h"
#include "support/open.h"
#include "support/types.h"
#include "wrongs.h"

int trial_fail(trial *t, const char *format, ...)
{
    const haul_error *error = t->context != NULL ? haul_context_error(t->context) : NULL;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->message, t->message_bytes, format, arguments);
    va_end(arguments);
    size_t n = strlen(t->message);
    if (error != NULL && error->status != HAUL_OK)
        snprintf(t->message + n, t->message_bytes - n, " [%s; path \"%s\"; %s]",
                 haul_status_name(error->status), error->path, error->text);
    return 0;
}

/* ---- Drawing ---- */

/* Large blocks of structs at an extent that takes their pointers off the grid may be refused, with
 * this advice. */
static int is_refused_rightly(const trial *t, haul_status status)
{
    return status == HAUL_ERROR_TYPE &&
           strstr(t->model->why, "off the grid: describe it with") != NULL;
}

static haul_status print(void *user, const void *data, size_t bytes)
{
    (void)user;
    return fwrite(data, 1, bytes, stdout) == bytes ? HAUL_OK : HAUL_ERROR_FILE;
}

static void print_types(const model *m)
{
    haul_file file = { NULL, print, NULL };
    for (unsigned i = 0; i < m->type_count; i++)
        haul_type_dump(m->type[i].handle, &file);
    fflush(stdout);
}

/* Elements of a large array: threads share the discovery from 16,000 on. */
enum { LARGE_ROW = 16000 };

/* Most graphs are small: what goes wrong with rules goes wrong in a few objects. */
static size_t draw_bytes(choices *c, unsigned options)
{
    uint32_t sizes = options & TRIAL_SMALL ? 3 : chance(c, 1, 3) ? 6 : 4;
    if (options & TRIAL_LARGE)
        return 200000;
    return (size_t)1000 << choose(c, sizes);
}

static int draw(trial *t, unsigned options)
{
    const char *where;
    choices saved;
    haul_status status;
    int tries = 0;
    do {
        model_draw(t->c, t->model, (options & TRIAL_PLAIN) != 0);
        saved = *t->c;
        status = model_make_types(t->c, t->model, type_context(), &where);
    } while (is_refused_rightly(t, status) && ++tries < 8);
    if (status == HAUL_OK && (options & TRIAL_FAULTS)) {
        model_free_types(t->model);
        faults_of_types(&saved, t->model);
        status = model_make_types(&saved, t->model, type_context(), &where);
    }
    if (status != HAUL_OK)
        return trial_fail(t, "types: %s: %s: %s", where, haul_status_name(status), t->model->why);
    if (options & TRIAL_PRINT)
        print_types(t->model);
    graph_draw(t->c, t->model, &t->world->around, draw_bytes(t->c, options),
               options & TRIAL_LARGE ? LARGE_ROW : 0, &t->g);
    t->world->current = &t->g;
    memcpy(t->world->oracle.roots, t->g.oracle.roots, sizeof t->g.oracle.roots);
    t->world->oracle.root_count = t->g.oracle.root_count;
    t->world->oracle.wrong_roots = 0;
    for (int again = 1; again;) {
        if (!reference_walk(&t->g, NULL, &t->host))
            return trial_fail(t, "the reference cannot walk its own graph: %s", t->host.wrong);
        again = t->g.late.count != 0 && reference_draw_aliases(t->c, &t->g, &t->host);
        if (again)
            reference_free(&t->host);
        t->g.late.count = 0;
    }
    t->results = must(malloc(t->host.bytes + 1));
    return 1;
}

/* ---- The whole ---- */

static int in_arenas(trial *t)
{
    return arenas_run(t->world, t->c, &t->g, &t->host, t->device, t->message, t->message_bytes) &&
           trial_source_is_unchanged(t, "arenas");
}

static int wrongs(trial *t, uint64_t fault)
{
    return wrongs_of_graph(t->c, &t->g, &t->host, &t->world->oracle, fault, t->message,
                           t->message_bytes);
}

static int run_steps(trial *t, unsigned options)
{
    if (options & TRIAL_LARGE)
        return draw(t, options) && trial_teams(t);
    if (!draw(t, options) || (chance(t->c, 1, 16) && !trial_reference_sees(t)) || !trial_plan(t) ||
        !trial_teams(t) || !trial_audit(t) || !in_arenas(t) ||
        ((options & TRIAL_WRONG) && !wrongs(t, choose(t->c, 64))))
        return 0;
    if (trial_has_zero_distance(t))
        return trial_refuses_zero_distance(t);
    if (!trial_image(t) || !trial_pack(t) || !trial_pack_again(t) || !trial_look_up_described(t) ||
        !trial_look_up_roots(t) || !trial_look_up_others(t) || !trial_unpack(t) || !trial_ship(t) ||
        !trial_image_of_device(t))
        return 0;
    if (chance(t->c, 1, 4) && !(options & TRIAL_FAULTS))
        model_free_types(t->model); /* plans and shipments hold what they need */
    if (!trial_device_agrees(t, "ship") || !trial_addresses_agree(t) || !trial_extents_agree(t) ||
        !trial_pointers_agree(t) || !trial_unmarshal(t) || !trial_refresh_after_change(t) ||
        !trial_unmarshal_again(t) || !trial_unmarshal_a_count(t) || !trial_stale(t) ||
        !trial_retags(t) || !trial_unmarshal_pointers(t) || !trial_update(t) || !trial_replan(t))
        return 0;
    return 1;
}

static void end(trial *t)
{
    haul_shipment_free(&t->shipment);
    haul_plan_free(&t->plan);
    model_free_types(t->model);
    reference_free(&t->host);
    reference_free(&t->packed);
    reference_free(&t->device_side);
    free(t->arena_memory);
    free(t->results);
    graph_free(&t->g);
}

static trial begin(trial_world *w, choices *c, int checked)
{
    trial t;
    memset(&t, 0, sizeof t);
    t.world = w;
    t.c = c;
    t.model = w->model;
    t.device = w->device[checked];
    t.context = haul_device_context(t.device);
    return t;
}

int trial_run(trial_world *w, choices *c, unsigned options, char *message, size_t message_bytes)
{
    trial t = begin(w, c, chance(c, 1, 2) && !(options & TRIAL_LARGE));
    int good;
    t.message = message;
    t.message_bytes = message_bytes;
    message[0] = '\0';
    good = run_steps(&t, options);
    if (good && (options & TRIAL_FAULTS) != 0) {
        faults_of_graph(&t.g, &t.host, &w->oracle);
        good = trial_source_is_unchanged(&t, "faults");
    }
    end(&t);
    return good;
}

int trial_wrong(trial_world *w, choices *c, uint64_t fault, char *message, size_t message_bytes)
{
    trial t = begin(w, c, chance(c, 1, 2));
    int good;
    t.message = message;
    t.message_bytes = message_bytes;
    message[0] = '\0';
    good = draw(&t, TRIAL_SMALL) && wrongs(&t, fault);
    end(&t);
    return good;
}

void trial_fault(trial_world *w, choices *c, unsigned mode, uint64_t at)
{
    char message[1024];
    trial t = begin(w, c, 0);
    t.message = message;
    t.message_bytes = sizeof message;
    if (!draw(&t, TRIAL_SMALL))
        CHECK_STR(message, "");
    fault_of_graph(&t.g, &t.host, &w->oracle, mode, at);
    if (!trial_source_is_unchanged(&t, "fault"))
        CHECK_STR(message, "");
    end(&t);
}

/* ---- The world ---- */

static int64_t ask_current(const model_oracle *oracle, const void *target)
{
    const trial_world *w = (const trial_world *)(const void *)oracle;
    return w->current->oracle.count_of(&w->current->oracle, target);
}

static int current_has(const model_oracle *oracle, const void *address, size_t bytes)
{
    const trial_world *w = (const trial_world *)(const void *)oracle;
    return w->current->oracle.is_there(&w->current->oracle, address, bytes);
}

static haul_status open_device(trial_world *w, unsigned threads, int checked, haul_device **device)
{
    test_device options;
    memset(&options, 0, sizeof options);
    options.new_context.argument = &w->oracle;
    options.new_context.checked = checked;
    options.new_context.threads = threads;
    options.known = surroundings_known(&w->around);
    return test_open(haul_host_device(), &options, device);
}

int trial_open(trial_world *w, unsigned threads)
{
    memset(w, 0, sizeof *w);
    w->threads = threads;
    w->oracle.count_of = ask_current;
    w->oracle.is_there = current_has;
    if (!surroundings_open(&w->around))
        return 0;
    w->model = must(malloc(sizeof *w->model));
    for (int checked = 0; checked < 2; checked++) {
        if (open_device(w, threads, checked, &w->device[checked]) != HAUL_OK ||
            (threads && open_device(w, 1, checked, &w->alone[checked]) != HAUL_OK)) {
            trial_close(w);
            return 0;
        }
    }
    return 1;
}

void trial_close(trial_world *w)
{
    for (int checked = 0; checked < 2; checked++) {
        haul_device_close(&w->device[checked]);
        haul_device_close(&w->alone[checked]);
    }
    surroundings_close(&w->around);
    free(w->model);
    w->model = NULL;
}

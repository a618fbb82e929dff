/* Fuzz target: a device whose results are hostile. A right graph is shipped, bytes of its copy
 * become others, and the results are brought back (D14, D15).
 *
 * Byte 0: bits 0 and 1: the shape of tests/images; bit 2: pointers come back, too; bit 3: those
 * that lead out are left; bit 4: counts may change; bit 5: all or nothing; bit 6: the device is not
 * trusted; bit 7: the copy is ordered. Byte 1: how an event of the doors fails; byte 2: which one;
 * 0: none. The rest draws the graph and the damages.
 *
 * A refused return has written nothing. A return without pointers writes no pointer, no hole and no
 * skipped field; unless counts may change, the graph is then as sound as it was. A pointer that
 * comes back leads into the graph. Nothing outside of the graph is written, and the device has its
 * memory back. From a device that is not trusted, whatever comes back leaves the graph as sound as
 * it was, without a byte that was not shipped, and a refusal has a path. Bytes that no object has
 * are garbage then, between objects, too.
 */
#include <stdlib.h>
#include <string.h>

#include "haul/host.h"
#include "images.h"

enum { POINTERS = 4, LEAVE = 8, COUNTS = 16, WHOLE = 32, UNTRUSTED = 64, ORDERED = 128 };
enum { GAP = 48 }; /* bytes between objects of the host */

typedef struct world {
    fault_plan doors;
    haul_device *device;
    haul_context *context;
} world;

/* What is seen of a copy while a kernel could run. */
typedef struct kernel {
    choices *c;
    haul_shipped_range ranges[256];
    size_t count;
} kernel;

static int note_range(void *user, const haul_shipped_range *range)
{
    kernel *k = user;
    if (k->count < sizeof k->ranges / sizeof *k->ranges && range->bytes > 0)
        k->ranges[k->count++] = *range;
    return 0;
}

static uint64_t draw_value(kernel *k)
{
    static const uint64_t odd[] = { 0,     1,     2,         3,          7,         8,
                                    16,    127,   128,       255,        256,       32767,
                                    65535, 65536, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX };
    const haul_shipped_range *range = &k->ranges[choose(k->c, (uint32_t)k->count)];
    const uint32_t way = choose(k->c, 4);
    if (way == 0)
        return odd[choose(k->c, sizeof odd / sizeof *odd)];
    if (way == 1)
        return choose(k->c, 32);
    return (uintptr_t)range->device + (way == 2 ? 0 : choose(k->c, 128)) - choose(k->c, 2);
}

/* Up to 8 numbers or pointers, anywhere in what was shipped. */
static void scribble(void *user)
{
    kernel *k = user;
    uint32_t count = 1 + choose(k->c, 8);
    while (count-- > 0) {
        const haul_shipped_range *range = &k->ranges[choose(k->c, (uint32_t)k->count)];
        const size_t width = (size_t)1 << choose(k->c, 4);
        const uint64_t value = draw_value(k);
        size_t at;
        if (range->bytes < width)
            continue;
        at = choose(k->c, (uint32_t)(range->bytes - width) + 1);
        at -= choose(k->c, 4) ? at % width : 0;
        memcpy((unsigned char *)range->device + at, &value, width);
    }
}

static void open_world(world *w)
{
    if (fault_open(&w->doors, NULL, &w->device) != HAUL_OK)
        exit(2);
    w->context = haul_device_context(w->device);
}

/* ---- What must hold. */

typedef struct graph {
    oracle *o;
    pile *memory;
    void *root;
    unsigned char before[sizeof((pile *)0)->memory];
    uint8_t roles[sizeof((pile *)0)->memory];
} graph;

static void read_graph(graph *g, const char *when)
{
    reader *r = &g->o->reader;
    r->block = g->memory->memory;
    oracle_make_room(g->o, g->memory->used);
    reader_run(r, g->o->shape->visit, g->o->shape->kind, g->root);
    if (r->wrong)
        fuzz_broken("%s: %s: %s at byte %zu", g->o->shape->name, when, r->wrong, r->wrong_at);
}

/* Bytes of no role are holes, and fields that do not hold. */
static void fill_holes(graph *g)
{
    size_t i;
    for (i = 0; i < g->memory->used; i++)
        if (!g->roles[i])
            g->memory->memory[i] = 0x41;
}

static void draw_graph(graph *g, choices *c, int with_garbage)
{
    memset(g->memory, 0, sizeof *g->memory);
    g->memory->gap = with_garbage ? GAP : 0;
    g->root = g->o->shape->build(g->memory, c);
    read_graph(g, "as it was drawn");
    memset(g->roles, 0, sizeof g->roles);
    memcpy(g->roles, g->o->reader.role, g->memory->used);
    if (with_garbage)
        fill_holes(g);
    memcpy(g->before, g->memory->memory, sizeof g->before);
}

/* A pointer of the graph that has changed leads into it; tags may be in its low bits. */
static void check_pointer(const graph *g, size_t at)
{
    uintptr_t word, first = (uintptr_t)g->memory->memory;
    memcpy(&word, g->memory->memory + at, sizeof word);
    if (word >= sizeof word && (word < first || word - first > g->memory->used + 7))
        fuzz_broken("%s: a pointer came back that leads out of the graph, at byte %zu",
                    g->o->shape->name, at);
}

/* Bytes of no role are holes, or data that nobody reads. */
static int was_shipped(const kernel *k, const unsigned char *at)
{
    size_t i;
    for (i = 0; i < k->count; i++)
        if ((uintptr_t)at - (uintptr_t)k->ranges[i].host < k->ranges[i].bytes)
            return 1;
    return 0;
}

static int may_return(const graph *g, const kernel *k, size_t i, unsigned options)
{
    const uint8_t words = ROLE_WORD | ROLE_IN_WORD | ROLE_DISTANCE | ROLE_IN_DISTANCE;
    if (g->roles[i] & words)
        return options & POINTERS;
    if (g->roles[i] & ROLE_NUMBER)
        return options & COUNTS;
    return was_shipped(k, g->memory->memory + i);
}

static void check_bytes(const graph *g, const kernel *k, unsigned options)
{
    size_t i;
    for (i = 0; i < sizeof g->before; i++) {
        if (g->memory->memory[i] == g->before[i])
            continue;
        if (!may_return(g, k, i, options))
            fuzz_broken("%s: byte %zu, of role %u, must not come back", g->o->shape->name, i,
                        (unsigned)g->roles[i]);
        while (i > 0 && g->roles[i] & ROLE_IN_WORD)
            i--;
        if (g->roles[i] & ROLE_WORD) {
            check_pointer(g, i);
            i += sizeof(uintptr_t) - 1;
        }
    }
}

/* What was shipped may be data that no reader has looked at. */
static void check_alive(const graph *g, const kernel *k)
{
    size_t i;
    for (i = 0; i < g->memory->used; i++)
        if (g->o->reader.role[i] && !g->roles[i] && !was_shipped(k, g->memory->memory + i))
            fuzz_broken("%s: byte %zu was not shipped, and an object has it now", g->o->shape->name,
                        i);
}

static void check_returned(const world *w, graph *g, const kernel *k, unsigned options)
{
    haul_plan *plan;
    check_bytes(g, k, options);
    if ((options & (POINTERS | COUNTS)) && !(options & UNTRUSTED))
        return;
    read_graph(g, "its results came back");
    if (options & UNTRUSTED)
        check_alive(g, k);
    if (haul_plan_create(w->context, haul_from_object(g->root, *g->o->shape->type), NULL, &plan) !=
        HAUL_OK)
        fuzz_broken("%s: its results came back, and it is not planned: %s", g->o->shape->name,
                    haul_context_error(w->context)->text);
    haul_plan_free(&plan);
}

static void check_refused(const world *w, const graph *g, haul_status status, unsigned options)
{
    const haul_error *error = haul_context_error(w->context);
    const int is_limit = (options & UNTRUSTED) && status == HAUL_ERROR_LIMIT;
    if (w->doors.fired == 0 && status != HAUL_ERROR_GRAPH && !is_limit)
        fuzz_broken("%s: results are %s: %s", g->o->shape->name, haul_status_name(status),
                    error->text);
    if (w->doors.fired == 0 && (options & UNTRUSTED) && error->path[0] == '\0')
        fuzz_broken("%s: results are refused without a path: %s", g->o->shape->name, error->text);
    if (error->status != status || error->text[0] == '\0')
        fuzz_broken("%s: results are refused without a word", g->o->shape->name);
    if (memcmp(g->memory->memory, g->before, sizeof g->before) != 0)
        fuzz_broken("%s: results are refused, and something was written", g->o->shape->name);
}

/* ---- The journey. */

static haul_status bring_back(world *w, haul_shipment *shipment, const uint8_t *data)
{
    haul_update_options options;
    memset(&options, 0, sizeof options);
    options.pointers = (data[0] & POINTERS) != 0;
    options.leave_outside = (data[0] & POINTERS) && (data[0] & LEAVE) && !(data[0] & UNTRUSTED);
    options.all_or_nothing = (data[0] & WHOLE) != 0;
    if (data[2])
        fault_arm(&w->doors, (fault_mode)(data[1] % FAULT_MODES), data[2]);
    return haul_update_host(shipment, &options, NULL);
}

static int travel(world *w, graph *g, choices *c, const uint8_t *data)
{
    static kernel k;
    haul_ship_options options;
    haul_shipment *shipment;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.let_counts_change = (data[0] & COUNTS) != 0;
    options.untrusted = (data[0] & UNTRUSTED) != 0;
    options.ordered = (data[0] & ORDERED) != 0;
    k.c = c;
    k.count = 0;
    status = haul_ship(w->device, g->root, *g->o->shape->type, 1, &options, &shipment);
    if (status == HAUL_OK)
        status = haul_shipment_ranges(shipment, note_range, &k);
    if (status == HAUL_OK)
        status = haul_host_launch(w->device, scribble, &k);
    if (status != HAUL_OK)
        fuzz_broken("%s: a right graph is not shipped: %s", g->o->shape->name,
                    haul_context_error(w->context)->text);
    status = bring_back(w, shipment, data);
    if (status != HAUL_OK)
        check_refused(w, g, status, data[0]);
    fault_disarm(&w->doors);
    if (status == HAUL_OK)
        check_returned(w, g, &k, data[0]);
    haul_shipment_free(&shipment);
    return status == HAUL_OK;
}

static int run(const uint8_t *data, size_t bytes)
{
    static world w;
    static pile memory;
    static graph g;
    choices c;
    int accepted;
    if (bytes < 3)
        return 0;
    if (!w.device)
        open_world(&w);
    g.o = image_oracle(data[0]);
    g.memory = &memory;
    c = choices_from_bytes(data + 3, bytes - 3);
    draw_graph(&g, &c, data[0] & UNTRUSTED);
    accepted = travel(&w, &g, &c, data);
    if (w.doors.device_blocks != 0 || w.doors.misuse)
        fuzz_broken("%s: %llu blocks of the device are left; %s", g.o->shape->name,
                    (unsigned long long)w.doors.device_blocks,
                    w.doors.misuse ? w.doors.misuse : "no rule was broken");
    return accepted;
}

const fuzz_target fuzz_results = { "results", run, NULL };

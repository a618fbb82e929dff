/* A graph in an untyped arena: block by block, discovered from a root that leads to all of its own.
 * And with its static objects left outside, which is refused.
 */
#include "building.h"

#include <string.h>

#include "support/types.h"

int building_move(building *b, piece *p, size_t alignment)
{
    size_t phase = p->first % alignment;
    unsigned char *memory = haul_arena_bytes(b->arena, p->end - p->first + phase, alignment);
    if (memory == NULL)
        return building_fail(b, "an arena has no room: %s", haul_arena_error(b->arena)->text);
    p->moved = (uintptr_t)memory + phase;
    return 1;
}

size_t building_alignment(const model *m)
{
    size_t most = 2 * sizeof(void *);
    for (unsigned i = 0; i < m->type_count; i++)
        most = m->type[i].alignment > most ? m->type[i].alignment : most;
    return most;
}

int building_root(building *b)
{
    haul_field fields[4];
    void **root = haul_arena_bytes(b->arena, sizeof fields / sizeof *fields * sizeof *root, 0);
    if (root == NULL)
        return building_fail(b, "an arena has no room: %s", haul_arena_error(b->arena)->text);
    memset(fields, 0, sizeof fields);
    for (size_t i = 0; i < b->g->root_count; i++) {
        haul_count count = HAUL_FIXED(0);
        count.plus = (int64_t)b->g->roots[i].count;
        fields[i].name = "root";
        fields[i].kind = HAUL_FIELD_POINTER;
        fields[i].offset = i * sizeof *root;
        fields[i].bytes = sizeof *root;
        fields[i].target = &b->g->model->type[b->g->root_type[i]].handle;
        fields[i].levels = 1;
        fields[i].count = count;
        root[i] = (void *)building_moved(b, b->g->roots[i].address);
    }
    b->root = root;
    return (type_make("roots", 4 * sizeof *root, fields, b->g->root_count, &b->root_type) ==
                HAUL_OK &&
            haul_type_commit(b->root_type) == HAUL_OK) ||
           building_fail(b, "a type of all roots: %s", type_error()->text);
}

haul_status building_discover(building *b)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.let_counts_change = b->lets_change = chance(b->c, 1, 2);
    building_show(b);
    return haul_ship_from(b->device, haul_from_arena_root(b->arena, b->root, b->root_type),
                          &options, NULL, &b->shipment);
}

int building_ship_discovered(building *b)
{
    haul_status status = building_discover(b);
    return status == HAUL_OK ||
           building_fail(b, "ship of an arena that is discovered: %s", haul_status_name(status));
}

/* `with_statics` 0: static objects stay where they are. */
static int move_blocks(building *b, int with_statics)
{
    size_t alignment = building_alignment(b->g->model);
    for (size_t i = 0; i < b->g->block_count; i++)
        building_add(b, b->g->blocks[i].memory, b->g->blocks[i].bytes, 1, PLAIN);
    building_sort(b);
    for (size_t i = 0; i < b->piece_count; i++) {
        piece *p = &b->pieces[i];
        if (!with_statics && building_is_static(b, p->first)) {
            p->moved = p->first;
            continue;
        }
        if (!building_move(b, p, alignment))
            return 0;
        memcpy((void *)p->moved, (const void *)p->first, p->end - p->first);
    }
    return 1;
}

int building_untyped(building *b)
{
    b->is_discovered = 1;
    if (!move_blocks(b, 1) || !building_root(b))
        return 0;
    building_move_words(b);
    b->w->arenas++;
    return building_look(b) && building_ship_discovered(b) && building_travels(b);
}

/* ---- Around static objects ---- */

static int has_statics(const building *b)
{
    for (size_t i = 0; i < b->host->all_count; i++)
        if (building_is_static(b, b->host->all[i].host))
            return 1;
    return 0;
}

/* Where a graph has static objects that stay where they are, a shipment of the arena does not hold
 * all of it. (A distance of 4 bytes may not reach from the one to the other.) */
static int has_short_distances(const reference *host)
{
    for (size_t i = 0; i < host->slot_count; i++)
        if (host->slots[i].kind == SLOT_DISTANCE && host->slots[i].bytes < sizeof(uint64_t))
            return 1;
    return 0;
}

static void restore_statics(const building *b)
{
    for (size_t i = 0; i < b->g->block_count; i++)
        if (building_is_static(b, (uintptr_t)b->g->blocks[i].memory))
            memcpy(b->g->blocks[i].memory, b->g->blocks[i].shadow, b->g->blocks[i].bytes);
}

static int is_refused(building *b)
{
    const haul_error *error = haul_context_error(haul_device_context(b->device));
    haul_status status = building_discover(b);
    return (status == HAUL_ERROR_GRAPH && b->shipment == NULL && error->path[0] != '\0' &&
            strstr(error->text, "leads out of the arena") != NULL) ||
           building_fail(b, "ship of an arena with static objects outside: %s",
                         haul_status_name(status));
}

int building_around_statics(building *b)
{
    int good;
    if (!has_statics(b) || has_short_distances(b->host))
        return 1;
    if (!move_blocks(b, 0) || !building_root(b))
        return 0;
    building_move_words(b);
    building_view(b);
    good = is_refused(b) && is_refused(b) && building_holds_the_graph(b);
    restore_statics(b);
    b->w->arenas_refused++;
    return good;
}

/* The life of types: made, held, freed.
 *
 * A group of types is held and freed as one (record.h). Freeing works on a list of dead groups: a
 * group that loses its last holder drops the groups that it held, and each of them that loses its
 * last holder joins the list. So a chain of types of any length needs no recursion.
 */
#include "type/life.h"

#define TYPE_MAGIC 0x7479706fu
#define GONE 0x676f6e65u

int haul__type_is_valid(const haul_type *type)
{
    return type && type->magic == TYPE_MAGIC;
}

haul_type *haul__type_make(const haul__home *home, const haul_allocator *allocator,
                           const char *name, size_t bytes, haul_combiner combiner)
{
    size_t name_bytes = strlen(name) + 1;
    haul_type *type = haul__allocate_zeroed(allocator, sizeof *type + name_bytes);
    if (!type)
        return NULL;
    memcpy(type + 1, name, name_bytes);
    type->object_bytes = sizeof *type + name_bytes;
    type->name = (const char *)(type + 1);
    type->magic = TYPE_MAGIC;
    type->combiner = combiner;
    type->allocator = *allocator;
    type->home = *home;
    if (home->context)
        home->hold(home->context);
    type->bytes = type->reach = bytes;
    type->in_order = 1;
    type->group = &type->own;
    type->own.owner = type;
    type->own.holders = 1;
    type->own.members = type;
    return type;
}

void haul__type_release_flat(haul_type *type)
{
    haul_type *inner = type->inner;
    while (inner) {
        haul_type *next = inner->sibling;
        haul__release(&inner->allocator, inner->flat, inner->flat_bytes);
        haul__release(&inner->allocator, inner, inner->object_bytes);
        inner = next;
    }
    haul__release(&type->allocator, type->flat, type->flat_bytes);
    type->inner = NULL;
    type->flat = NULL;
    memset(&type->walk, 0, sizeof type->walk);
}

void haul__type_release(haul_type *type)
{
    const haul__home home = type->home;
    haul_allocator allocator = type->allocator;
    haul__names *names = type->names;
    haul__rules *rules = type->rules;
    while (rules) {
        haul__rules *next = rules->next;
        haul__release(&allocator, rules, sizeof *rules + rules->bytes);
        rules = next;
    }
    while (names) {
        haul__names *next = names->next;
        haul__release(&allocator, names, sizeof *names + names->bytes);
        names = next;
    }
    haul__type_release_flat(type);
    haul__release(&allocator, type->rows, type->row_capacity * sizeof *type->rows);
    haul__release(&allocator, type->shapes, type->shape_capacity * sizeof *type->shapes);
    haul__release(&allocator, type->blocks, type->block_count * sizeof *type->blocks);
    haul__release(&allocator, type->loops, type->loop_count * sizeof *type->loops);
    haul__release(&allocator, type->bound, type->bound_count * sizeof *type->bound);
    type->magic = GONE;
    haul__release(&allocator, type, type->object_bytes);
    if (home.context)
        home.drop(home.context);
}

/* All blocks of a constructor have one type, held once; only those of struct differ. */
size_t haul__type_old_count(const haul_type *type)
{
    return type->combiner == HAUL_COMBINER_STRUCT || type->block_count == 0 ? type->block_count : 1;
}

void haul__group_hold(haul__group *group)
{
    haul__atomic_add(&group->holders, 1);
}

/* Takes one hold away; answers the list of dead groups, which begins with this one if that was its
 * last hold. */
static haul__group *let_go(haul__group *group, haul__group *dead)
{
    if (haul__atomic_add(&group->holders, -1) > 0)
        return dead;
    group->next_dead = dead;
    return group;
}

static haul__group *let_go_of_held(haul__group *group, haul__group *dead)
{
    const haul_type *owner = group->owner;
    haul_type *instance = owner->instances;
    size_t i, count;
    for (i = 0; i < group->held_count; i++)
        dead = let_go(group->held[i], dead);
    haul__release(&owner->allocator, group->held, group->held_count * sizeof *group->held);
    if (owner->committed)
        return dead;
    for (i = 0, count = haul__type_old_count(owner); i < count; i++)
        dead = let_go(owner->blocks[i].type->group, dead);
    for (i = 0; i < owner->bound_count; i++) {
        dead = let_go(owner->bound[i].parameter->group, dead);
        dead = let_go(owner->bound[i].argument->group, dead);
    }
    while (instance) {
        haul_type *next = instance->next_instance;
        instance->container = NULL;
        dead = let_go(instance->group, dead);
        instance = next;
    }
    return dead;
}

void haul__group_drop(haul__group *group)
{
    haul__group *dead = let_go(group, NULL);
    while (dead) {
        haul_type *member = dead->members;
        dead = let_go_of_held(dead, dead->next_dead);
        while (member) {
            haul_type *next = member->sibling;
            haul__type_release(member);
            member = next;
        }
    }
}

void haul__type_hold(const haul_type *type)
{
    haul__group_hold(type->group);
}

void haul__type_drop(const haul_type *type)
{
    haul__group_drop(type->group);
}

void haul_type_free(haul_type **type)
{
    haul_type *dropped = type ? *type : NULL;
    if (!dropped)
        return;
    *type = NULL;
    if (haul__type_is_valid(dropped))
        haul__group_drop(dropped->group);
}

/* Commit: from one open type to a closed group of all that it reaches.
 *
 *   1. closure    a list that grows while it is read: every open type behind a row or block, once
 *   2. names      sorted: two types of one name would be neighbours
 *   3. order      depth first along embedding; the types themselves hold the path back, and meeting
 *                 a type that is still on the path means that it contains itself
 *   4. flatten    embedded types before the types that embed them
 *   5. ancestors  which types are asked for by rules, and which must pass them on
 *   6. close      the types join the group of the type that commit was called on; nothing can fail
 *
 * Steps 1 to 5 change only marks and flat forms, which are taken away on failure. Every step is
 * linear or a sort, except 5, which repeats until nothing changes, mostly twice. None recurses.
 * Types of earlier commits are only read: other threads may be using them.
 *
 * The new group holds each other group that it leads to once. The holds that constructors took on
 * their old types are given up, and so are holds between members: a cycle of types does not keep
 * itself alive.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "type/ancestor_bits.h"
#include "type/check_flat.h"
#include "type/check_places.h"
#include "type/check_rows.h"
#include "type/commit.h"
#include "type/flatten.h"
#include "type/instance.h"
#include "type/life.h"
#include "type/refuse.h"

enum { UNSEEN = 0, ON_PATH, ORDERED };

typedef struct commit {
    haul_type *root;
    haul_allocator allocator;
    haul_error *error;
    int by_value; /* a query: only embedding is followed, and targets may be missing */
    haul_type **types, **order;
    size_t count, capacity, ordered;
    size_t ancestor_count;
    haul__group **foreign;
    size_t foreign_count, foreign_capacity;
    haul__scratch scratch;
} commit;

/* --- closure ---------------------------------------------------------------------------------- */

static haul_status reach(commit *c, haul_type *type)
{
    if (type->committed) {
        if (c->by_value ||
            (c->foreign_count > 0 && c->foreign[c->foreign_count - 1] == type->group))
            return HAUL_OK;
        if (!haul__grow(&c->allocator, &c->foreign, &c->foreign_capacity, c->foreign_count + 1,
                        sizeof *c->foreign))
            return HAUL_ERROR_MEMORY;
        c->foreign[c->foreign_count++] = type->group;
        return HAUL_OK;
    }
    if (type->reached)
        return HAUL_OK;
    if (!haul__grow(&c->allocator, &c->types, &c->capacity, c->count + 1, sizeof *c->types))
        return HAUL_ERROR_MEMORY;
    c->types[c->count++] = type;
    type->reached = 1;
    type->ancestor_bit = 0;
    type->state = UNSEEN;
    type->cursor = type->depth = 0;
    return HAUL_OK;
}

/* Replaces *found, the target of an instance's row, by the type that it stands for. A further
 * instance is made only if `wanted`. */
static haul_status stand_in(commit *c, haul_type *type, const char *field, haul_type **found,
                            int wanted)
{
    if (wanted)
        return haul__type_substitute(type, field, found, c->error);
    *found = haul__type_stands_for(type, *found);
    return HAUL_OK;
}

/* Clears *found, a parameter that no instance has replaced; refuses it if `wanted`. */
static haul_status meet_parameter(commit *c, const haul_type *type, const char *field,
                                  haul_type **found, int wanted)
{
    const char *parameter = (*found)->name;
    *found = NULL;
    if (!wanted)
        return HAUL_OK;
    return haul__wrong(c->error, type, field,
                       "The field leads to the parameter %s, which stands for no type "
                       "here: %s is a container, commit an "
                       "instance of it (haul_type_instance).",
                       parameter, type->name);
}

/* Finds the row's target: row->type becomes *row->target, or the type that it stands for. */
static haul_status resolve(commit *c, haul_type *type, haul__row *row)
{
    haul_status status = HAUL_OK;
    int inside = row->kind == HAUL_FIELD_EMBED || row->kind == HAUL_FIELD_TAIL;
    int wanted = inside || (row->kind == HAUL_FIELD_POINTER && !c->by_value);
    row->type = row->target && (inside || row->kind == HAUL_FIELD_POINTER) ? *row->target : NULL;
    if (!row->type && row->target && wanted)
        return haul__wrong(
            c->error, type, row->name,
            "The handle of the field's target type is NULL: create that type before the commit.");
    if (row->type && !haul__type_is_valid(row->type)) {
        row->type = NULL;
        return haul__wrong(c->error, type, row->name,
                           "The handle of the field's target is not that of a living type.");
    }
    if (row->type && type->bound_count > 0)
        status = stand_in(c, type, row->name, &row->type, wanted);
    if (status == HAUL_OK && row->type && haul__type_is_parameter(row->type))
        status = meet_parameter(c, type, row->name, &row->type, wanted);
    if (status != HAUL_OK)
        return status;
    return row->type && wanted ? reach(c, row->type) : HAUL_OK;
}

static haul_status resolve_case(commit *c, haul_type *type, const haul__row *row,
                                const haul_case *at, haul_type **found)
{
    haul_status status = HAUL_OK;
    *found = at->type ? *at->type : NULL;
    if (*found && !haul__type_is_valid(*found)) {
        *found = NULL;
        return haul__wrong(c->error, type, row->name,
                           "The handle of case %" PRId64 " is not that of a living type.",
                           at->value);
    }
    if (*found && type->bound_count > 0)
        status = stand_in(c, type, row->name, found, !c->by_value);
    if (status == HAUL_OK && *found && haul__type_is_parameter(*found))
        status = meet_parameter(c, type, row->name, found, !c->by_value);
    if (status != HAUL_OK || c->by_value)
        return status;
    if (at->type && !*found)
        return haul__wrong(c->error, type, row->name,
                           "The handle of case %" PRId64
                           " is NULL: create that type before the commit.",
                           at->value);
    return *found ? reach(c, *found) : HAUL_OK;
}

/* Finds the type that a rule names as its ancestor. It must be open: committed types lead to no
 * open ones. */
static haul_status resolve_ancestor(commit *c, haul_type *type, const haul__row *row,
                                    haul__rule *rule)
{
    haul_type *found = rule->said.ancestor ? *rule->said.ancestor : NULL;
    haul_status status = HAUL_OK;
    rule->ancestor = NULL;
    if (!rule->said.ancestor || haul__asks_parent(rule) || c->by_value)
        return HAUL_OK;
    if (!found || !haul__type_is_valid(found))
        return haul__wrong(
            c->error, type, row->name,
            "The handle of its `.ancestor` is %s: create that type before the commit.",
            found ? "not that of a living type" : "NULL");
    if (type->bound_count > 0)
        status = stand_in(c, type, row->name, &found, 1);
    if (status == HAUL_OK && haul__type_is_parameter(found))
        status = meet_parameter(c, type, row->name, &found, 1);
    if (status != HAUL_OK)
        return status;
    if (found->committed)
        return haul__wrong(c->error, type, row->name,
                           "Type %s, which it names as `.ancestor`, is committed "
                           "already: it does not lead here.",
                           found->name);
    rule->ancestor = found;
    status = reach(c, found);
    if (status != HAUL_OK)
        return status;
    if (!found->ancestor_bit)
        found->ancestor_bit = (uint64_t)1 << (c->ancestor_count++ % 64);
    return HAUL_OK;
}

static haul_status explore(commit *c, haul_type *type)
{
    haul_status status = haul__type_is_parameter(type)
                             ? haul__wrong(c->error, type, NULL,
                                           "It is a parameter: it stands for a type, and is none.")
                             : haul__check_places(type, c->error);
    size_t i, k;
    if (status == HAUL_OK && !c->by_value && type->instances)
        status = haul__wrong(c->error, type, NULL,
                             "It is a container that has instances: commit these.");
    if (status == HAUL_OK && !c->by_value)
        status = haul__check_bound(type, c->error);
    for (i = 0; i < type->bound_count && !c->by_value && status == HAUL_OK; i++)
        status = reach(c, type->bound[i].argument);
    for (i = 0; i < type->row_count && status == HAUL_OK; i++) {
        const haul__row *row = &type->rows[i];
        haul__rule *rule;
        status = resolve(c, type, &type->rows[i]);
        for (rule = row->rule; rule && status == HAUL_OK; rule = rule->each) {
            status = resolve_ancestor(c, type, row, rule);
            for (k = 0; k < rule->said.type_switch.case_count && status == HAUL_OK; k++)
                status =
                    resolve_case(c, type, row, &rule->said.type_switch.cases[k], &rule->types[k]);
        }
        if (status == HAUL_OK)
            status = haul__check_row(type, row, c->error);
    }
    for (i = 0; i < haul__type_old_count(type) && status == HAUL_OK; i++)
        status = reach(c, type->blocks[i].type);
    return status;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Names are sorted by hash (FNV-1a: Fowler, Noll, Vo), which the record holds; the names themselves
 * are read only if two hashes are equal. */
typedef struct named {
    uint64_t hash;
    const haul_type *type;
} named;

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static int name_comes_before(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return x->hash != y->hash ? x->hash < y->hash : strcmp(x->type->name, y->type->name) < 0;
}

static haul_status check_names(const commit *c)
{
    const size_t bytes = c->count * sizeof(named); /* no overflow: the types take more */
    size_t i, count = 0;
    haul_status status = HAUL_OK;
    named *all = haul__allocate(&c->allocator, bytes, sizeof(uint64_t));
    if (!all)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < c->count; i++)
        if (c->types[i]->combiner <= HAUL_COMBINER_POINTER) { /* others make their own names */
            all[count].hash = hash_of(c->types[i]->name);
            all[count++].type = c->types[i];
        }
    haul__sort(all, count, sizeof *all, name_comes_before);
    for (i = 1; i < count && status == HAUL_OK; i++) {
        const haul_type *a = all[i - 1].type, *b = all[i].type;
        const int is_the_same_element = a->combiner == HAUL_COMBINER_BYTES &&
                                        b->combiner == HAUL_COMBINER_BYTES && a->bytes == b->bytes;
        if (all[i - 1].hash == all[i].hash && strcmp(a->name, b->name) == 0 && !is_the_same_element)
            status = haul__wrong(c->error, b, NULL,
                                 "Two different types (%zu and %zu bytes) are both named %s: "
                                 "use one handle, or two names.",
                                 a->bytes, b->bytes, b->name);
    }
    haul__release(&c->allocator, all, bytes);
    return status;
}

/* --- order ------------------------------------------------------------------------------------ */

/* The next type that `type` contains by value, from its cursor on; NULL: no more. *field is the
 * row's name. */
static haul_type *next_embedded(haul_type *type, const char **field)
{
    size_t rows = type->row_count;
    *field = NULL;
    while (type->cursor < rows) {
        const haul__row *row = &type->rows[type->cursor++];
        *field = row->name;
        if (row->type && (row->kind == HAUL_FIELD_EMBED || row->kind == HAUL_FIELD_TAIL))
            return row->type;
    }
    if (type->cursor - rows < haul__type_old_count(type))
        return type->blocks[type->cursor++ - rows].type;
    return NULL;
}

static void deepen(haul_type *type, size_t depth)
{
    if (type && depth + 1 > type->depth)
        type->depth = depth + 1;
}

static haul_status descend(commit *c, haul_type *start)
{
    haul_type *at = start, *next;
    const char *field;
    haul_status status = HAUL_OK;
    at->within = NULL;
    at->state = ON_PATH;
    while (at && status == HAUL_OK) {
        next = next_embedded(at, &field);
        if (!next) { /* all that it contains is in order: it is the next */
            if (at->depth == 0)
                at->depth = 1;
            at->state = ORDERED;
            c->order[c->ordered++] = at;
            deepen(at->within, at->depth);
            if (at->depth > HAUL_EMBED_DEPTH_MAX)
                status = haul__too_large(c->error, at, NULL,
                                         "Types are embedded %zu deep: %u is the limit.", at->depth,
                                         HAUL_EMBED_DEPTH_MAX);
            at = at->within;
        } else if (next->committed || next->state == ORDERED) {
            deepen(at, next->depth);
        } else if (next->state == ON_PATH) {
            return haul__wrong(c->error, at, field,
                               "Type %s would contain itself by value: use a pointer.", next->name);
        } else {
            next->within = at;
            next->state = ON_PATH;
            at = next;
        }
    }
    return status;
}

/* --- flat forms ------------------------------------------------------------------------------- */

static haul_status make_flat(commit *c)
{
    haul_status status = reach(c, c->root);
    size_t i;
    for (i = 0; i < c->count && status == HAUL_OK; i++)
        status = explore(c, c->types[i]);
    if (status != HAUL_OK)
        return status;
    c->order = haul__allocate(&c->allocator, c->count * sizeof *c->order, sizeof(void *));
    if (!c->order)
        return HAUL_ERROR_MEMORY;
    if (!c->by_value)
        status = check_names(c);
    for (i = 0; i < c->count && status == HAUL_OK; i++)
        if (c->types[i]->state == UNSEEN)
            status = descend(c, c->types[i]);
    for (i = 0; i < c->ordered && status == HAUL_OK; i++) {
        status = haul__flatten(&c->scratch, c->order[i], c->error);
        if (status == HAUL_OK)
            status = haul__check_reads(c->order[i], c->error);
        if (status == HAUL_OK)
            status = haul__check_zeros(c->order[i], c->error);
    }
    for (i = 0; i < c->count && !c->by_value && status == HAUL_OK; i++)
        status = haul__check_targets(c->types[i], c->error);
    return status;
}

/* --- close ------------------------------------------------------------------------------------ */

static int group_comes_before(const void *a, const void *b)
{
    return (uintptr_t) * (haul__group *const *)a < (uintptr_t) * (haul__group *const *)b;
}

/* The groups that the new group will hold, each once. */
static haul_status list_held(commit *c, haul__group ***held, size_t *count)
{
    size_t i, kept = 0;
    haul__sort(c->foreign, c->foreign_count, sizeof *c->foreign, group_comes_before);
    for (i = 0; i < c->foreign_count; i++)
        if (kept == 0 || c->foreign[kept - 1] != c->foreign[i])
            c->foreign[kept++] = c->foreign[i];
    *count = kept;
    *held = haul__allocate(&c->allocator, kept * sizeof **held, sizeof(void *));
    if (kept > 0 && !*held)
        return HAUL_ERROR_MEMORY;
    if (kept > 0)
        memcpy(*held, c->foreign, kept * sizeof **held);
    return HAUL_OK;
}

/* Drops the holds that a constructor took on its old types, and an instance on its parameters and
 * arguments. Holds on members of the new group are not dropped here: the answer is their number. */
static int drop_old(const haul_type *type)
{
    size_t i;
    int inside = 0;
    for (i = 0; i < haul__type_old_count(type); i++)
        if (type->blocks[i].type->reached)
            inside++;
        else
            haul__group_drop(type->blocks[i].type->group);
    for (i = 0; i < type->bound_count; i++) {
        haul__group_drop(type->bound[i].parameter->group);
        if (type->bound[i].argument->reached)
            inside++;
        else
            haul__group_drop(type->bound[i].argument->group);
    }
    return inside;
}

static void close_all(commit *c, haul__group **held, size_t count)
{
    haul__group *group = &c->root->own;
    size_t i;
    int holders = 0;
    for (i = 0; i < count; i++)
        haul__group_hold(held[i]);
    group->held = held;
    group->held_count = count;
    for (i = 0; i < c->count; i++) {
        holders += c->types[i]->own.holders;
        holders -= drop_old(c->types[i]);
    }
    group->holders = holders;
    for (i = 0; i < c->count; i++) {
        haul_type *type = c->types[i], *inner;
        for (inner = type->inner; inner; inner = inner->sibling)
            inner->group = group;
        type->group = group;
        type->committed = 1;
        if (type != group->owner) {
            type->sibling = group->members;
            group->members = type;
        }
    }
}

static void clean_up(commit *c, int keep)
{
    size_t i;
    for (i = 0; i < c->count; i++) {
        c->types[i]->reached = 0;
        c->types[i]->within = NULL;
        if (!keep)
            haul__type_release_flat(c->types[i]);
    }
    haul__release(&c->allocator, c->order, c->count * sizeof *c->order);
    haul__release(&c->allocator, c->types, c->capacity * sizeof *c->types);
    haul__release(&c->allocator, c->foreign, c->foreign_capacity * sizeof *c->foreign);
    haul__scratch_release(&c->scratch);
}

static void begin(commit *c, haul_type *type, int by_value, haul_error *error)
{
    memset(c, 0, sizeof *c);
    c->root = type;
    c->allocator = c->scratch.allocator = type->allocator;
    c->by_value = by_value;
    c->error = error;
}

haul_status haul__type_commit(haul_type *type)
{
    commit c;
    haul__group **held = NULL;
    size_t count = 0;
    haul_status status;
    if (type->committed)
        return HAUL_OK;
    begin(&c, type, 0, type->home.error);
    status = make_flat(&c);
    if (status == HAUL_OK)
        status = list_held(&c, &held, &count);
    if (status == HAUL_OK && c.ancestor_count)
        haul__find_ancestors(c.types, c.count);
    if (status == HAUL_OK)
        close_all(&c, held, count);
    clean_up(&c, status == HAUL_OK);
    return status == HAUL_ERROR_MEMORY ? haul__type_out_of_memory(type) : status;
}

haul_status haul__type_preview(haul_type *type, haul__walk *walk, size_t *pointers)
{
    commit c;
    haul_status status;
    begin(&c, type, 1, NULL);
    status = make_flat(&c);
    if (status == HAUL_OK) {
        *walk = type->walk;
        walk->runs = NULL;
        walk->slots = NULL;
        walk->parts = NULL;
        walk->ruled = NULL;
        walk->excluded = NULL;
        *pointers = type->pointers;
    }
    clean_up(&c, 0);
    return status;
}

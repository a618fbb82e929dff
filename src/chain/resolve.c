/* Resolving a chain: step by step from its root, by the code with which the walk follows pointers.
 *
 * A place is the result of a step: an array of objects, of pointers or of plain elements. An index
 * narrows it to one element, and leads on if that is a pointer. "[*]" saves the place as a turn of
 * a loop: when a target has been found, the last turn goes on with its next element. So the common
 * beginning of many targets is walked once, and the turns take no memory. Only ancestors and notes
 * of reads are lists that can grow.
 */
#include <stdio.h>

#include "base/status.h"
#include "chain/resolve.h"
#include "type/field.h"
#include "walk/discovery.h"
#include "walk/extent.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/read_set.h"
#include "walk/ruled_field.h"

enum { WORDS = 16 }; /* behind HAUL__OBJECTS and its like: pointers of a row of one object */

typedef struct chain_place {
    int what;               /* HAUL__OBJECTS, HAUL__POINTERS, HAUL__PLAIN, WORDS */
    int is_missing;         /* nothing is there, or the row does not hold */
    haul__entry entry;      /* the elements; of WORDS, the object */
    const haul__walk *walk; /* of objects */
    const haul_type *type;
    const haul__arm *arm; /* that led here */
    size_t bytes;         /* of an object with a size of its own */
    size_t words;         /* their number, of WORDS */
} chain_place;

/* A turn of the loop that "[*]" is. */
typedef struct turn {
    chain_place all;
    size_t step, index; /* its step, and its number among the step's indices */
    size_t at;
} turn;

typedef struct resolver {
    const haul_chain *chain;
    haul__discovery d;
    haul__met_type met; /* of the object whose ancestors are asked for */
    unsigned mode;
    turn turns[HAUL_CHAIN_MANY_MAX];
    size_t turn_count;
    size_t step, index; /* under way, for the path of an error */
} resolver;

/* ---- Objects. */

static void become_missing(chain_place *p)
{
    p->is_missing = 1;
    p->entry.count = 0;
    p->words = 0;
}

static haul_status note(resolver *r, uintptr_t address, size_t bytes)
{
    haul_integer word = { 0, 0, 1, { 0, 0, 0 } };
    word.bytes = (uint8_t)bytes;
    return r->mode & HAUL__DRY ? HAUL_OK
                               : haul__note_read(&r->d, address, (unsigned)bytes,
                                                 haul__read_stored((const void *)address, &word));
}

/* Element `i` of a place as an object, its ancestors and its size included. */
static haul_status open_object(resolver *r, const chain_place *p, size_t i,
                               haul__ancestor *inherited, haul__object *o)
{
    haul_status status = HAUL_OK;
    *o = haul__object_of(&p->entry, p->walk, i, r->mode);
    if (p->walk->is_wide) {
        r->met.type = p->type;
        r->met.walk = p->walk;
        status = haul__inherit(&r->d, &p->entry, i, inherited);
        o->ancestor = inherited;
    }
    if (status == HAUL_OK && haul__is_sized(p->walk))
        o->bytes = p->bytes;
    return status;
}

/* Works out the size of an object that has its own. Until then only its head is known to be
 * there. */
static haul_status measure(resolver *r, chain_place *to)
{
    haul__ancestor inherited;
    haul__object o;
    uintptr_t end;
    haul_status status = haul__check_extent(&r->d, &to->entry, haul__head_bytes(to->walk),
                                            to->walk->alignment, &end);
    if (status == HAUL_OK)
        status = open_object(r, to, 0, &inherited, &o);
    if (status == HAUL_OK)
        status = haul__find_size(&r->d, &o, to->entry.slot);
    if (status != HAUL_OK)
        return status;
    to->bytes = o.bytes;
    return o.bytes ? haul__check_extent(&r->d, &to->entry, o.bytes, to->walk->alignment, &end)
                   : HAUL_OK;
}

/* Makes `to` a place of objects, and checks that they can be there. */
static haul_status place_objects(resolver *r, const haul_type *type, chain_place *to)
{
    const haul__walk *walk = haul__type_walk(type);
    uintptr_t end;
    to->what = HAUL__OBJECTS;
    to->type = type;
    to->walk = walk;
    to->bytes = SIZE_MAX;
    to->entry.what = HAUL__OBJECTS;
    if (to->entry.count == 0)
        return HAUL_OK;
    if (haul__is_sized(walk)) /* alone: commit refuses arrays of such objects */
        return measure(r, to);
    return haul__check_extent(&r->d, &to->entry, walk->true_upper ? walk->true_upper : 1,
                              walk->alignment, &end);
}

/* ---- Pointers. */

/* The place that a pointer leads to. */
static haul_status lead(resolver *r, const haul__pointer *p, const haul__arm *arm, chain_place *to)
{
    const haul__slot *slot = p->slot;
    const haul_count *shape = &slot->shape[p->level];
    uintptr_t end;
    size_t count = 0;
    haul_status status = haul__count_of(&r->d, p, r->mode | HAUL__EXACT, &count);
    memset(to, 0, sizeof *to);
    to->arm = arm;
    to->entry.address = p->value;
    to->entry.self = p->self;
    to->entry.count = count;
    to->entry.stride = haul__unit_of(slot, p->level);
    to->entry.slot = slot;
    to->entry.index = p->index;
    if (p->ancestor)
        to->entry.ancestor = *p->ancestor;
    if (status == HAUL_OK && shape->kind == HAUL_COUNT_KIND_UNTIL)
        status = note(r, p->self + shape->field[0].offset, HAUL__WORD);
    if (status != HAUL_OK)
        return status;
    if (!p->value) {
        become_missing(to);
        return HAUL_OK;
    }
    if (haul__is_last_level(p) && slot->target)
        return place_objects(r, slot->target, to);
    to->what = haul__is_last_level(p) ? HAUL__PLAIN : HAUL__POINTERS;
    to->entry.level = (uint8_t)(p->level + 1);
    to->entry.nearest = p->nearest;
    if (count == 0)
        return HAUL_OK;
    status = haul__check_extent(&r->d, &to->entry, to->entry.stride,
                                to->what == HAUL__PLAIN ? 1 : HAUL__WORD, &end);
    if (status == HAUL_OK && shape->kind == HAUL_COUNT_KIND_TERMINATED)
        status = note(r, end - to->entry.stride, to->entry.stride);
    return status;
}

/* Pointer `i` of an array of pointers. */
static haul_status lead_from_array(resolver *r, const chain_place *from, size_t i, chain_place *to)
{
    const haul__entry *entry = &from->entry;
    haul__pointer p;
    haul_status status;
    memset(&p, 0, sizeof p);
    p.slot = entry->slot;
    p.level = entry->level;
    p.place = entry->address + i * HAUL__WORD;
    p.value = haul__load_word((const void *)p.place);
    p.self = entry->self;
    p.index = i;
    p.nearest = entry->nearest;
    p.ancestor = &entry->ancestor;
    status = note(r, p.place, HAUL__WORD);
    return status == HAUL_OK ? lead(r, &p, from->arm, to) : status;
}

/* A pointer with a rule. */
static haul_status lead_by_rule(resolver *r, const haul__object *o, const haul__ruled *ruled,
                                const haul__arm *arm, chain_place *to)
{
    haul__field_value v;
    haul__pointer p;
    int holds;
    haul_status status = haul__ask(&r->d, o, ruled, &holds);
    memset(to, 0, sizeof *to);
    become_missing(to);
    if (status != HAUL_OK || !holds)
        return status;
    memset(&v, 0, sizeof v);
    status = note(r, o->address + ruled->slot.offset, ruled->bytes);
    if (status == HAUL_OK)
        status = haul__read_word(&r->d, o, ruled, &v);
    if (status != HAUL_OK || !v.start)
        return status;
    p = haul__ruled_pointer(&r->d, o, ruled, &v);
    return lead(r, &p, arm, to);
}

/* ---- Rows. */

/* Pointer `i` of a ruled row, or the row itself; commit has listed it. */
static const haul__ruled *find_ruled(const haul__walk *walk, const haul__row *row, size_t i)
{
    const size_t offset = row->offset + i * sizeof(void *);
    const haul__ruled *ruled = walk->ruled;
    while (ruled->slot.offset != offset || ruled->rule != row->rule || haul__is_end(ruled))
        ruled++;
    return ruled;
}

/* The pointer at an offset; NULL: it is listed in a part. */
static const haul__slot *find_slot(const haul__walk *walk, size_t offset)
{
    size_t i;
    for (i = 0; i < walk->slot_count; i++)
        if (walk->slots[i].offset == offset && !(walk->slots[i].flags & HAUL__SLOT_END))
            return &walk->slots[i];
    return NULL;
}

/* A large array of pointers is a part, whose elements have a type of one pointer. */
static const haul__slot *find_part_slot(const haul__walk *walk, size_t offset)
{
    const haul__part *part = walk->parts;
    while (part->offset != offset)
        part++;
    return haul__type_walk(part->type)->slots;
}

/* Does the row, or pointer `i` of it, lie in the object, with all that it reads? An object may end
 * before it. */
static haul_status check_end(resolver *r, const haul__object *o, const haul__row *row, size_t i,
                             int *is_there)
{
    const int is_pointer = row->kind == HAUL_FIELD_POINTER;
    const size_t offset = row->offset + i * HAUL__WORD,
                 bytes = haul__words_in(row) > 1 ? HAUL__WORD : row->bytes;
    const haul__ruled *ruled = haul__row_is_ruled(row) ? find_ruled(o->walk, row, i) : NULL;
    const haul__slot *slot = ruled ? &ruled->slot : find_slot(o->walk, offset);
    *is_there = offset < o->bytes;
    if (!*is_there || !o->walk->size || row->kind == HAUL_FIELD_TAIL)
        return HAUL_OK;
    if (o->bytes - offset < bytes)
        return haul__refuse_cut(&r->d, slot, o->bytes);
    if (ruled ? haul__reads_beyond(ruled, o->bytes)
              : slot && is_pointer && haul__counts_beyond(slot, o->bytes))
        return haul__refuse_reading(&r->d, slot, o->bytes);
    return HAUL_OK;
}

/* Pointer `i` of a row. */
static haul_status lead_from_row(resolver *r, const chain_place *from, size_t i, chain_place *to)
{
    const haul__row *row = from->arm->row;
    haul__ancestor inherited;
    haul__object o;
    haul__pointer p;
    int is_there = 0;
    haul_status status = open_object(r, from, 0, &inherited, &o);
    if (status == HAUL_OK)
        status = check_end(r, &o, row, i, &is_there);
    if (status == HAUL_OK && !is_there) {
        memset(to, 0, sizeof *to);
        become_missing(to);
    }
    if (status != HAUL_OK || !is_there)
        return status;
    if (haul__row_is_ruled(row))
        return lead_by_rule(r, &o, find_ruled(from->walk, row, i), from->arm, to);
    memset(&p, 0, sizeof p);
    p.slot = find_slot(from->walk, row->offset + i * HAUL__WORD);
    if (!p.slot)
        p.slot = find_part_slot(from->walk, row->offset);
    p.place = o.address + row->offset + i * HAUL__WORD;
    p.value = haul__load_word((const void *)p.place);
    p.self = o.address;
    p.index = p.slot->index;
    p.ancestor = o.ancestor;
    status = note(r, p.place, HAUL__WORD);
    return status == HAUL_OK ? lead(r, &p, from->arm, to) : status;
}

/* Bytes, structs and the tail, which lie in the object itself. */
static haul_status place_inside(resolver *r, const haul__object *o, const haul__arm *arm,
                                chain_place *to)
{
    const haul__row *row = arm->row;
    const int is_tail = row->kind == HAUL_FIELD_TAIL;
    const size_t unit = row->kind == HAUL_FIELD_RAW ? row->bytes : haul__row_unit(row);
    memset(to, 0, sizeof *to);
    to->arm = arm;
    to->what = HAUL__PLAIN;
    to->entry.address = o->address + row->offset;
    to->entry.self = o->address;
    to->entry.stride = unit;
    to->entry.count = is_tail ? (o->bytes - row->offset) / unit : row->bytes / unit;
    to->entry.ancestor = *o->ancestor;
    if (row->kind == HAUL_FIELD_RAW || !row->type ||
        (row->type->combiner == HAUL_COMBINER_BYTES && !row->type->is_aligned))
        return HAUL_OK;
    return place_objects(r, row->type, to);
}

/* Tries one arm of a step. *holds: the arm is that of this object. */
static haul_status try_arm(resolver *r, chain_place *at, const haul__arm *arm, int *holds)
{
    const haul__row *row = arm->row;
    haul__ancestor inherited;
    haul__object o;
    chain_place inside;
    haul_status status = open_object(r, at, 0, &inherited, &o);
    *holds = 0;
    if (status == HAUL_OK)
        status = check_end(r, &o, row, 0, holds);
    if (status == HAUL_OK && *holds && haul__row_is_ruled(row))
        status = haul__ask(&r->d, &o, find_ruled(at->walk, row, 0), holds);
    if (status != HAUL_OK || !*holds)
        return status;
    if (row->kind == HAUL_FIELD_POINTER) {
        at->arm = arm;
        at->what = WORDS;
        at->words = haul__words_in(row);
        return HAUL_OK;
    }
    status = place_inside(r, &o, arm, &inside);
    *at = inside;
    return status;
}

/* ---- Steps. */

/* Element `i` of a place, behind the pointer if it is one. */
static haul_status lead_to(resolver *r, chain_place *at, size_t i)
{
    const chain_place from = *at;
    if (from.what == WORDS)
        return lead_from_row(r, &from, i, at);
    if (from.what == HAUL__POINTERS)
        return lead_from_array(r, &from, i, at);
    if (from.what == HAUL__OBJECTS && from.walk->is_slot) {
        haul__ancestor inherited;
        haul__object o;
        haul_status status = open_object(r, &from, i, &inherited, &o);
        return status == HAUL_OK ? lead_by_rule(r, &o, from.walk->ruled, from.arm, at) : status;
    }
    at->entry.address += i * at->entry.stride;
    at->entry.count = 1;
    return HAUL_OK;
}

static size_t elements_of(const chain_place *at)
{
    return at->what == WORDS ? at->words : at->entry.count;
}

static haul_status take_field(resolver *r, chain_place *at)
{
    const haul__step *step = &r->chain->steps.at[r->step];
    haul_status status = HAUL_OK;
    size_t i;
    int holds = 0;
    if (at->is_missing || at->what != HAUL__OBJECTS || at->entry.count == 0) {
        become_missing(at);
        return HAUL_OK;
    }
    for (i = 0; i < step->arm_count && status == HAUL_OK && !holds; i++) {
        const haul__arm *arm = &r->chain->arms.at[step->first_arm + i];
        if (arm->type == at->type)
            status = try_arm(r, at, arm, &holds);
    }
    if (!holds)
        become_missing(at);
    else if (status == HAUL_OK && at->what == WORDS && at->words == 1)
        status = lead_to(r, at, 0);
    return status;
}

/* Takes the step's indices from number r->index on. *is_over: "[*]" of an array without elements
 * has no target. */
static haul_status take_indices(resolver *r, chain_place *at, int *is_over)
{
    const haul__step *step = &r->chain->steps.at[r->step];
    haul_status status = HAUL_OK;
    *is_over = 0;
    for (; r->index < step->index_count && status == HAUL_OK; r->index++) {
        const size_t i = r->chain->indices.at[step->first_index + r->index],
                     count = elements_of(at);
        if (i == HAUL__EACH_INDEX) {
            turn *turn = &r->turns[r->turn_count];
            *is_over = count == 0;
            if (*is_over)
                return HAUL_OK;
            turn->all = *at;
            turn->step = r->step;
            turn->index = r->index;
            turn->at = 0;
            r->turn_count++;
            status = lead_to(r, at, 0);
        } else if (at->is_missing) {
            continue;
        } else if (i >= count) {
            return haul__refuse(&r->d, HAUL_ERROR_GRAPH, NULL,
                                "the index is %zu, and the array has %zu elements", i, count);
        } else {
            status = lead_to(r, at, i);
        }
    }
    return status;
}

/* ---- Targets. */

static haul_root target_at(const resolver *r, const chain_place *at)
{
    const haul_chain *chain = r->chain;
    const haul_type *objects = at->what == HAUL__OBJECTS ? at->type : NULL;
    haul_root target = { NULL, NULL, 0 };
    size_t i;
    target.type = chain->ends.at[0].type;
    if (at->is_missing || at->entry.count == 0)
        return target;
    for (i = 0; i < chain->ends.count; i++)
        if (chain->ends.at[i].row == at->arm->row && chain->ends.at[i].target == objects)
            target.type = chain->ends.at[i].type;
    target.address = (void *)at->entry.address;
    target.count = at->entry.count;
    return target;
}

static size_t bytes_of(const chain_place *at, const haul_root *target)
{
    const haul__walk *walk = haul__type_walk(target->type);
    if (!target->address)
        return 0;
    return haul__is_sized(walk) ? at->bytes : (target->count - 1) * walk->extent + walk->span;
}

/* Goes on with the next element of the last "[*]" that has one. *is_over: none has. */
static haul_status next_turn(resolver *r, chain_place *at, int *is_over)
{
    turn *last = NULL;
    haul_status status;
    while (r->turn_count && !last) {
        last = &r->turns[r->turn_count - 1];
        if (last->at + 1 < elements_of(&last->all))
            continue;
        last = NULL;
        r->turn_count--;
    }
    *is_over = !last;
    if (!last)
        return HAUL_OK;
    last->at++;
    *at = last->all;
    r->step = last->step;
    r->index = last->index;
    status = lead_to(r, at, last->at);
    r->index += status == HAUL_OK;
    return status;
}

static haul_status resolve(resolver *r, chain_place *at, haul__take_target *take, void *user)
{
    haul_status status = HAUL_OK;
    int is_over = 0, is_done = 0;
    r->step = 0;
    r->index = SIZE_MAX; /* the step's field is still to be taken */
    while (status == HAUL_OK && !is_done) {
        for (is_over = 0; r->step < r->chain->steps.count && status == HAUL_OK && !is_over;) {
            if (r->index == SIZE_MAX) {
                r->index = 0;
                status = take_field(r, at);
            }
            if (status == HAUL_OK)
                status = take_indices(r, at, &is_over);
            if (status == HAUL_OK && !is_over) {
                r->step++;
                r->index = SIZE_MAX;
            }
        }
        if (status == HAUL_OK && !is_over) {
            const haul_root target = target_at(r, at);
            status = take(user, &target, bytes_of(at, &target));
        }
        if (status == HAUL_OK)
            status = next_turn(r, at, &is_done);
    }
    return status;
}

/* The path of the step under way: "root.cells[7].data". */
static void name_place(const resolver *r, haul_error *error)
{
    const haul_chain *chain = r->chain;
    char path[2 * HAUL_PATH_BYTES] = "root";
    size_t length = strlen(path), turn = 0, i, k;
    for (i = 0; i <= r->step && i < chain->steps.count && length < sizeof path; i++) {
        const haul__step *step = &chain->steps.at[i];
        length += (size_t)snprintf(path + length, sizeof path - length, ".%.*s",
                                   (int)step->name_bytes, step->name);
        for (k = 0; k < step->index_count && length < sizeof path; k++) {
            size_t index = chain->indices.at[step->first_index + k];
            if (i == r->step && (r->index == SIZE_MAX || k > r->index))
                break;
            if (index == HAUL__EACH_INDEX)
                index = turn < r->turn_count ? r->turns[turn++].at : 0;
            length += (size_t)snprintf(path + length, sizeof path - length, "[%zu]", index);
        }
    }
    haul__set_path(error->path, path);
}

void haul__chain_name(const haul_chain *chain, char *path)
{
    char name[2 * HAUL_PATH_BYTES] = "root.";
    size_t length = strlen(name);
    const char *from;
    for (from = chain->steps.at[0].name; *from && length + 1 < sizeof name; from++)
        if (*from == '-' && from[1] == '>') {
            name[length++] = '.';
            from++;
        } else if (*from != ' ') {
            name[length++] = *from;
        }
    name[length] = '\0';
    haul__set_path(path, name);
}

haul_status haul__chain_resolve(const haul_chain *chain, void *root, haul__found *reads,
                                haul__take_target *take, void *user)
{
    haul_error *error = &chain->context->error;
    haul_root from = { root, chain->type, 1 };
    haul__found none;
    resolver r;
    chain_place at;
    haul_status status;
    memset(&r, 0, sizeof r);
    memset(&at, 0, sizeof at);
    memset(&none, 0, sizeof none);
    r.chain = chain;
    r.mode = reads ? HAUL__NOTED : HAUL__DRY;
    r.d.context = chain->context;
    r.d.allocator = &chain->context->allocator;
    r.d.found = reads ? reads : &none;
    r.d.roots = &from;
    r.d.root_count = 1;
    r.d.at_entry = SIZE_MAX;
    r.d.met_types = &r.met; /* every entry has number 0 */
    at.entry.address = (uintptr_t)root;
    at.entry.count = 1;
    at.entry.stride = haul__type_walk(chain->type)->extent;
    haul__clear_error(error);
    status = place_objects(&r, chain->type, &at);
    if (status == HAUL_OK)
        status = resolve(&r, &at, take, user);
    haul__ancestors_close(&r.d);
    if (status == HAUL_ERROR_MEMORY)
        return haul__fail(error, status, "out of memory for a chain");
    if (status != HAUL_OK)
        name_place(&r, error);
    return status;
}

/* The steps of a trial. Each leaves the source as it was drawn, and the device as the source is.
 */
#include "trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arenas.h"
#include "faults.h"
#include "haul/host.h"
#include "support/check.h"
#include "wrongs.h"

typedef struct trial {
    trial_world *world;
    choices *c;
    model *model;
    graph g;
    reference host;          /* of the source alone */
    reference packed;        /* with the packed arena */
    reference device_side;   /* with the device's copy */
    haul_device *device;
    haul_context *context;
    haul_plan *plan;
    haul_shipment *shipment;
    unsigned char *arena_memory, *arena;
    size_t bytes;
    unsigned char *results;  /* what the kernel left in the data bytes, range after range */
    char *message;
    size_t message_bytes;
} trial;

static int fail(trial *t, const char *format, ...)
{
    const haul_error *error = t->context != NULL ? haul_context_error(t->context) : NULL;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->message, t->message_bytes, format, arguments);
    va_end(arguments);
    size_t n = strlen(t->message);
    if (error != NULL && error->status != HAUL_OK)
        snprintf(t->message + n, t->message_bytes - n, " [%s; path \"%s\"; %s]", haul_status_name(error->status),
                 error->path, error->text);
    return 0;
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- The source ---- */

static int source_is_unchanged(trial *t, const char *after)
{
    for (size_t i = 0; i < t->g.block_count; i++) {
        const graph_block *b = &t->g.blocks[i];
        for (size_t k = 0; k < b->bytes; k++)
            if (b->memory[k] != b->shadow[k])
                return fail(t, "%s: the source has changed at %p, where nothing may be written", after,
                            (void *)&b->memory[k]);
    }
    return 1;
}

/* Blocks may touch: a range can lie in several. */
static void restore(trial *t, uintptr_t first, size_t bytes)
{
    for (size_t i = 0; i < t->g.block_count; i++) {
        const graph_block *b = &t->g.blocks[i];
        uintptr_t memory = (uintptr_t)b->memory;
        uintptr_t from = first > memory ? first : memory;
        uintptr_t end = first + bytes < memory + b->bytes ? first + bytes : memory + b->bytes;
        if (from < end)
            memcpy(b->memory + (from - memory), b->shadow + (from - memory), end - from);
    }
}

/* New contents for all data but counts and terminated arrays. */
static void change_source(trial *t)
{
    for (size_t i = 0; i < t->host.data_count; i++)
        fill(t->c, (void *)t->host.data[i].host, t->host.data[i].bytes);
    for (size_t i = 0; i < t->g.frozen.count; i++)
        restore(t, (uintptr_t)t->g.frozen.at[i].address, t->g.frozen.at[i].count);
}

/* The data bytes of the source within [first, end) are those of `results`, and no other byte has changed. Puts the
 * source back. */
static int source_has_results(trial *t, uintptr_t first, uintptr_t end, const char *after)
{
    const unsigned char *result = t->results;
    for (size_t i = 0; i < t->host.data_count; i++) {
        uintptr_t from = t->host.data[i].host, to = from + t->host.data[i].bytes;
        uintptr_t a = from > first ? from : first, b = to < end ? to : end;
        if (a < b && memcmp((const void *)a, result + (a - from), b - a) != 0)
            return fail(t, "%s: data near %p did not come back", after, (void *)a);
        if (a < b)
            restore(t, a, b - a);
        result += t->host.data[i].bytes;
    }
    return source_is_unchanged(t, after);
}

/* ---- Drawing ---- */

/* Large blocks of structs at an extent that takes their pointers off the grid may be refused, with this advice. */
static int is_refused_rightly(const trial *t, haul_status status)
{
    return status == HAUL_ERROR_TYPE && strstr(t->model->why, "off the grid: describe it with") != NULL;
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

/* Most graphs are small: what goes wrong with rules goes wrong in a few objects. */
static size_t draw_bytes(choices *c, unsigned options)
{
    uint32_t sizes = options & TRIAL_SMALL ? 3 : chance(c, 1, 3) ? 6 : 4;
    return (size_t)1000 << choose(c, sizes);
}

static int draw(trial *t, unsigned options)
{
    const char *where;
    choices saved;
    haul_status status;
    int tries = 0;
    do {
        model_draw(t->c, t->model);
        saved = *t->c;
        status = model_make_types(t->c, t->model, NULL, &where);
    } while (is_refused_rightly(t, status) && ++tries < 8);
    if (status == HAUL_OK && (options & TRIAL_FAULTS)) {
        model_free_types(t->model);
        faults_of_types(&saved, t->model);
        status = model_make_types(&saved, t->model, NULL, &where);
    }
    if (status != HAUL_OK)
        return fail(t, "types: %s: %s: %s", where, haul_status_name(status), t->model->why);
    if (options & TRIAL_PRINT)
        print_types(t->model);
    graph_draw(t->c, t->model, &t->world->around, draw_bytes(t->c, options), &t->g);
    t->world->current = &t->g;
    memcpy(t->world->oracle.roots, t->g.oracle.roots, sizeof t->g.oracle.roots);
    t->world->oracle.root_count = t->g.oracle.root_count;
    t->world->oracle.wrong_roots = 0;
    for (int again = 1; again;) {
        if (!reference_walk(&t->g, NULL, &t->host))
            return fail(t, "the reference cannot walk its own graph: %s", t->host.wrong);
        again = t->g.late.count != 0 && reference_draw_aliases(t->c, &t->g, &t->host);
        if (again)
            reference_free(&t->host);
        t->g.late.count = 0;
    }
    t->results = must(malloc(t->host.bytes + 1));
    return 1;
}

/* ---- The reference itself ---- */

/* Damages a copy in one place: a data byte, or a pointer that something stands behind. */
static int damage(trial *t, const reference *copy)
{
    size_t i = (size_t)random_word(&t->c->filler);
    if (copy->data_count != 0 && chance(t->c, 1, 2)) {
        const reference_range *r = &copy->data[i % copy->data_count];
        *(unsigned char *)(r->copy + (size_t)random_word(&t->c->filler) % r->bytes) ^= 1;
        return 1;
    }
    for (size_t k = 0; k < copy->slot_count; k++) {
        const reference_slot *s = &copy->slots[(i + k) % copy->slot_count];
        unsigned char *at = (unsigned char *)s->copy;
        if (s->kind != SLOT_FOLLOWED)
            continue;
        graph_write_pointer(at, (k & 1) != 0 ? NULL : (unsigned char *)graph_read_pointer(at) + 1);
        return 1;
    }
    return 0;
}

/* A copy that the reference makes is the same graph to it, and is not once one byte of it is wrong. */
static int reference_sees(trial *t)
{
    reference_copy copy;
    reference walk;
    int good = 1;
    reference_copy_make(&t->g, &t->host, &copy);
    if (!reference_walk(&t->g, &copy.place, &walk))
        good = fail(t, "the reference does not know its own copy: %s", walk.wrong);
    if (good && damage(t, &walk)) {
        reference_free(&walk);
        if (reference_walk(&t->g, &copy.place, &walk))
            good = fail(t, "the reference does not see a damaged copy");
    }
    reference_free(&walk);
    reference_copy_free(&copy);
    return good;
}

/* ---- Plan and pack ---- */

static int is_pointer(const reference_slot *s)
{
    return s->kind != SLOT_KEPT && s->kind != SLOT_DISTANCE;
}

static int check_statistics(trial *t)
{
    haul_plan_statistics s;
    size_t nulls = 0, pointers = 0;
    haul_plan_get_statistics(t->plan, &s);
    for (size_t i = 0; i < t->host.slot_count; i++) {
        nulls += t->host.slots[i].kind == SLOT_NULL;
        pointers += is_pointer(&t->host.slots[i]) ? 1 : 0;
    }
    if (s.pointers != pointers)
        return fail(t, "statistics: %zu pointers, not %zu", s.pointers, pointers);
    if (s.null_pointers != nulls)
        return fail(t, "statistics: %zu null pointers, not %zu", s.null_pointers, nulls);
    if (s.graph_bytes != t->host.bytes)
        return fail(t, "statistics: %zu graph bytes, not %zu", s.graph_bytes, t->host.bytes);
    if (s.arena_bytes != haul_plan_bytes(t->plan) || s.bitmap_bytes != haul_plan_bitmap_bytes(t->plan))
        return fail(t, "statistics: other sizes than the plan's");
    return 1;
}

static int make_plan(trial *t)
{
    haul_status status = haul_plan_create(t->context, t->g.roots, t->g.root_count, &t->plan);
    if (status != HAUL_OK)
        return fail(t, "plan: %s", haul_status_name(status));
    if (t->world->oracle.wrong_roots != 0)
        return fail(t, "plan: a callback was given a root that is none");
    return source_is_unchanged(t, "plan");
}

static unsigned char *aligned_memory(size_t bytes, size_t alignment, unsigned char **memory)
{
    *memory = must(malloc(bytes + alignment));
    return *memory + (alignment - (uintptr_t)*memory % alignment) % alignment;
}

/* The first described byte of an element: what lies below a type's lower bound has no place. */
static const void *first_described(const trial *t, const void *element)
{
    uintptr_t at = (uintptr_t)element;
    for (size_t i = 0; i < t->host.all_count; i++)
        if (t->host.all[i].host + t->host.all[i].bytes > at)
            return (const void *)(t->host.all[i].host > at ? t->host.all[i].host : at);
    return element;
}

static int place_of_arena(trial *t, reference_place *place)
{
    place->first = (uintptr_t)t->arena;
    place->bytes = t->bytes;
    for (size_t i = 0; i < t->g.root_count; i++) {
        size_t offset;
        const void *first = first_described(t, t->g.roots[i].address);
        if (haul_plan_offset(t->plan, first, &offset) != HAUL_OK)
            return fail(t, "haul_plan_offset: no offset for a root");
        place->roots[i] = (uintptr_t)t->arena + offset - ((uintptr_t)first - (uintptr_t)t->g.roots[i].address);
    }
    return 1;
}

static int pack_and_compare(trial *t)
{
    reference_place place;
    size_t words = haul_plan_bitmap_bytes(t->plan) / 8;
    uint64_t *bitmap = must(malloc(words * 8 + 8));
    haul_status status;
    t->bytes = haul_plan_bytes(t->plan);
    t->arena = aligned_memory(t->bytes, haul_plan_alignment(t->plan), &t->arena_memory);
    memset(t->arena, 0xA5, t->bytes);
    status = haul_plan_pack(t->plan, t->arena, t->bytes, (uint64_t)(uintptr_t)t->arena,
                            chance(t->c, 1, 2) ? bitmap : NULL);
    free(bitmap);
    if (status != HAUL_OK)
        return fail(t, "pack: %s", haul_status_name(status));
    if (!source_is_unchanged(t, "pack") || !place_of_arena(t, &place))
        return 0;
    if (!reference_walk(&t->g, &place, &t->packed) || !reference_rest_is_zero(&t->packed, t->arena, t->bytes))
        return fail(t, "pack: %s", t->packed.wrong);
    return check_statistics(t);
}

/* What haul_relocate leaves to the plan: pointers without a bit, off the grid or for their tags and biases. */
static void relocate_odd_pointers(trial *t, unsigned char *arena, const uint64_t *bitmap, uintptr_t by)
{
    for (size_t i = 0; i < t->packed.slot_count; i++) {
        const reference_slot *s = &t->packed.slots[i];
        size_t offset = (size_t)(s->copy - (uintptr_t)t->arena), word = offset / sizeof(void *);
        unsigned char *at = arena + offset;
        int has_bit = offset % sizeof(void *) == 0 && (bitmap[word / 64] >> (word % 64) & 1);
        uintptr_t value = (uintptr_t)graph_read_pointer(at);
        if (is_pointer(s) && (value & ~s->high_tags) != 0 && !has_bit)
            graph_write_pointer(at, (void *)(value + by));
    }
}

static int pack_again(trial *t)
{
    size_t bitmap_bytes = haul_plan_bitmap_bytes(t->plan);
    unsigned char *memory, *again = aligned_memory(t->bytes, haul_plan_alignment(t->plan), &memory);
    uint64_t *bitmap = must(malloc(bitmap_bytes + 8));
    uint64_t low = t->model->has_high_tags ? HAUL_OUTSIDE_MAX : 0; /* tags leave no room below 0 */
    uint64_t rest = (uint64_t)(uintptr_t)t->arena - low;
    int good = 1;
    memset(again, 0x5A, t->bytes);
    memset(bitmap, 0x5A, bitmap_bytes + 8);
    if (haul_plan_pack(t->plan, again, t->bytes - 1, 1u << 20, bitmap) != HAUL_ERROR_ARGUMENT)
        good = fail(t, "pack: one byte too little is accepted");
    else if (haul_plan_pack(t->plan, again, t->bytes, (uint64_t)(uintptr_t)t->arena, bitmap) != HAUL_OK)
        good = fail(t, "pack: a second time");
    else if (memcmp(again, t->arena, t->bytes) != 0)
        good = fail(t, "pack: other bytes when packed into other memory");
    else if (haul_plan_pack(t->plan, again, t->bytes, low, bitmap) != HAUL_OK)
        good = fail(t, "pack: with a low base");
    else if (bitmap[bitmap_bytes / 8] != UINT64_C(0x5A5A5A5A5A5A5A5A))
        good = fail(t, "pack: writes behind the bitmap");
    else if (haul_relocate(again, t->bytes, bitmap, rest) != HAUL_OK)
        good = fail(t, "relocate");
    relocate_odd_pointers(t, again, bitmap, (uintptr_t)rest);
    if (good && memcmp(again, t->arena, t->bytes) != 0)
        good = fail(t, "relocate: other bytes than packing with the base");
    free(bitmap);
    free(memory);
    return good;
}

static int is_slot_value(const trial *t, const void *address)
{
    for (size_t i = 0; i < t->host.slot_count; i++)
        if (t->host.slots[i].value == address)
            return 1;
    return 0;
}

static int look_up_described(trial *t)
{
    for (unsigned i = 0; i < 24 && t->packed.all_count != 0; i++) {
        const reference_range *r = &t->packed.all[random_word(&t->c->filler) % t->packed.all_count];
        size_t at = i % 4 == 3 ? r->bytes : (size_t)(random_word(&t->c->filler) % r->bytes), offset = 0;
        void *back = NULL;
        if (haul_plan_offset(t->plan, (const void *)(r->host + at), &offset) != HAUL_OK ||
            offset != r->copy + at - (uintptr_t)t->arena)
            return fail(t, "haul_plan_offset: %p, byte %zu of %zu", (void *)(r->host + at), at, r->bytes);
        if (at < r->bytes &&
            (haul_plan_address(t->plan, offset, &back) != HAUL_OK || (uintptr_t)back != r->host + at))
            return fail(t, "haul_plan_address: offset %zu is %p, not %p", offset, back, (void *)(r->host + at));
    }
    return 1;
}

/* A kernel starts at a root, whatever its first field is. */
static int look_up_roots(trial *t)
{
    for (size_t i = 0; i < t->g.root_count; i++) {
        size_t offset = 0;
        reference_place place;
        if (t->model->type[t->g.root_type[i]].form != FORM_STRUCT)
            continue;
        if (!place_of_arena(t, &place))
            return 0;
        if (haul_plan_offset(t->plan, t->g.roots[i].address, &offset) != HAUL_OK ||
            place.roots[i] != (uintptr_t)t->arena + offset)
            return fail(t, "haul_plan_offset: of root %zu", i);
    }
    return 1;
}

static int look_up_others(trial *t)
{
    void *back;
    for (unsigned i = 0; i < 24; i++) {
        const graph_block *b = &t->g.blocks[random_word(&t->c->filler) % t->g.block_count];
        uintptr_t at = (uintptr_t)b->memory + (size_t)(random_word(&t->c->filler) % b->bytes), copy;
        size_t offset = 0;
        if (t->host.has_holes || t->host.has_parts) /* holes, and what shares a granule with them, have places */
            break;
        if (reference_find(&t->packed, at, &copy) || reference_find(&t->packed, at - 1, &copy) ||
            is_slot_value(t, (const void *)at))
            continue;
        if (haul_plan_offset(t->plan, (const void *)at, &offset) == HAUL_OK)
            return fail(t, "haul_plan_offset: answers for %p, which is no byte of the graph", (void *)at);
    }
    for (size_t offset = 0; offset < 2 * sizeof(void *); offset++)
        if (haul_plan_address(t->plan, offset, &back) == HAUL_OK)
            return fail(t, "haul_plan_address: answers for offset %zu", offset);
    return 1;
}

/* ---- Bringing data back ---- */

/* What does not come back is the host's own. */
static void keep_unreturned(trial *t)
{
    unsigned char *result = t->results;
    for (size_t i = 0; i < t->host.data_count; i++) {
        const reference_range *r = &t->host.data[i];
        int unreturned;
        for (size_t at = 0, n; at < r->bytes; at += n) {
            n = reference_stretch(t->host.unreturned, t->host.unreturned_count, r->host + at, r->bytes - at,
                                  &unreturned);
            if (unreturned)
                memcpy(result + at, (const void *)(r->host + at), n);
        }
        result += r->bytes;
    }
}

/* `all` 0: what is sent alone. */
static void change_copies(trial *t, const reference *copy, int all)
{
    unsigned char *result = t->results;
    for (size_t i = 0; i < copy->data_count; i++) {
        const reference_range *r = &copy->data[i];
        int unsent;
        for (size_t at = 0, n; at < r->bytes; at += n) {
            n = reference_stretch(copy->unsent, copy->unsent_count, r->host + at, r->bytes - at, &unsent);
            if (all || !unsent)
                fill(t->c, (void *)(r->copy + at), n);
        }
    }
    for (size_t i = 0; i < t->host.data_count; i++) {
        uintptr_t at;
        for (size_t k = 0; k < t->host.data[i].bytes;) { /* ranges that touch here may not touch there */
            size_t left = t->host.data[i].bytes - k, n = 1;
            uintptr_t from = t->host.data[i].host + k;
            reference_find(copy, from, &at);
            for (uintptr_t next; n < left && reference_find(copy, from + n, &next) && next == at + n;)
                n++;
            memcpy(result + k, (const void *)at, n);
            k += n;
        }
        result += t->host.data[i].bytes;
    }
    keep_unreturned(t);
}

static int unpack(trial *t)
{
    haul_status status;
    change_copies(t, &t->packed, 1);
    status = haul_plan_unpack(t->plan, t->arena, t->bytes);
    if (status != HAUL_OK)
        return fail(t, "unpack: %s", haul_status_name(status));
    return source_has_results(t, 0, UINTPTR_MAX, "unpack");
}

/* ---- On the device ---- */

static int ship(trial *t)
{
    haul_ship_options options;
    haul_status status;
    uint32_t way = choose(t->c, 3);
    memset(&options, 0, sizeof options);
    options.relocate_on_host = chance(t->c, 1, 3);
    if (way == 0 && t->g.root_count == 1)
        status = haul_ship(t->device, t->g.roots[0].address, t->g.roots[0].type, t->g.roots[0].count, &options,
                           &t->shipment);
    else if (way == 1)
        status = haul_ship_plan(t->device, t->plan, &options, &t->shipment);
    else
        status = haul_ship_roots(t->device, t->g.roots, t->g.root_count, &options, &t->shipment);
    if (status != HAUL_OK)
        return fail(t, "ship: %s", haul_status_name(status));
    haul_plan_free(&t->plan); /* the shipment has its own, or holds this one */
    return source_is_unchanged(t, "ship");
}

static void walk_device(void *argument)
{
    trial *t = argument;
    reference_place place;
    haul_shipment_statistics s;
    haul_shipment_get_statistics(t->shipment, &s);
    place.first = (uintptr_t)s.base;
    place.bytes = s.plan.arena_bytes;
    for (size_t i = 0; i < t->g.root_count; i++) {
        const void *first = first_described(t, t->g.roots[i].address);
        place.roots[i] = (uintptr_t)haul_device_pointer(t->shipment, first) -
                         ((uintptr_t)first - (uintptr_t)t->g.roots[i].address);
    }
    reference_free(&t->device_side);
    if (reference_walk(&t->g, &place, &t->device_side))
        reference_rest_is_zero(&t->device_side, (const void *)(uintptr_t)s.base, s.plan.arena_bytes);
}

static int device_agrees(trial *t, const char *after)
{
    haul_status status = haul_host_launch(t->device, walk_device, t);
    if (status != HAUL_OK)
        return fail(t, "%s: launch: %s", after, haul_status_name(status));
    if (t->device_side.wrong[0] != '\0')
        return fail(t, "%s: on the device: %s", after, t->device_side.wrong);
    return 1;
}

/* Every pointer on the device is what the look-up says of its target; the reverse look-up leads back. */
static int addresses_agree(trial *t)
{
    for (size_t i = 0; i < t->device_side.slot_count; i++) {
        const reference_slot *s = &t->device_side.slots[i];
        if ((uintptr_t)haul_device_address(t->shipment, s->at) != s->copy)
            return fail(t, "haul_device_address: of the pointer at %p", (void *)s->at);
        if (haul_host_pointer(t->shipment, s->copy) != s->at)
            return fail(t, "haul_host_pointer: of the pointer at %p", (void *)s->at);
    }
    if (haul_device_address(t->shipment, NULL) != 0 || haul_host_pointer(t->shipment, 0) != NULL)
        return fail(t, "look-up of NULL");
    return 1;
}

typedef struct pointer_check {
    trial *t;
    const reference_slot *wrong;
} pointer_check;

static void check_pointers(void *argument)
{
    pointer_check *check = argument;
    trial *t = check->t;
    for (size_t i = 0; i < t->device_side.slot_count; i++) {
        const reference_slot *s = &t->device_side.slots[i];
        uintptr_t there = (uintptr_t)haul_device_address(t->shipment, s->value);
        if (there != 0 && is_pointer(s) && s->kind != SLOT_RULED && (s->kind == SLOT_END || s->value == s->target) &&
            there != (uintptr_t)graph_read_pointer((const void *)s->copy))
            check->wrong = s;
    }
}

static int pointers_agree(trial *t)
{
    pointer_check check;
    check.t = t;
    check.wrong = NULL;
    if (haul_host_launch(t->device, check_pointers, &check) != HAUL_OK)
        return fail(t, "launch");
    if (check.wrong != NULL)
        return fail(t, "the pointer at %p is not what haul_device_address says of its target %p",
                    (void *)check.wrong->at, check.wrong->value);
    return 1;
}

static void change_device(void *argument)
{
    trial *t = argument;
    change_copies(t, &t->device_side, 1);
}

static int unmarshal(trial *t)
{
    haul_status status = haul_host_launch(t->device, change_device, t);
    if (status == HAUL_OK)
        status = haul_unmarshal(t->shipment);
    if (status != HAUL_OK)
        return fail(t, "unmarshal: %s", haul_status_name(status));
    return source_has_results(t, 0, UINTPTR_MAX, "unmarshal");
}

static int refresh(trial *t, const char *why)
{
    haul_status status = haul_refresh(t->shipment);
    if (status != HAUL_OK)
        return fail(t, "refresh, %s: %s", why, haul_status_name(status));
    return device_agrees(t, why);
}

static int refresh_after_change(trial *t)
{
    change_source(t);
    if (!refresh(t, "after a change of data"))
        return 0;
    graph_restore(&t->g);
    return refresh(t, "after the data were put back");
}

/* ---- Stale plans ---- */

static int refuses_as_stale(trial *t, const char *what, const void *at)
{
    haul_status status = haul_refresh(t->shipment);
    const haul_error *error = haul_context_error(t->context);
    if (status != HAUL_ERROR_STALE)
        return fail(t, "refresh after a change of the %s at %p: %s", what, at, haul_status_name(status));
    if (error->path[0] == '\0')
        return fail(t, "refresh after a change of a %s: no path", what);
    graph_restore(&t->g);
    return device_agrees(t, "after a refused refresh") && refresh(t, "after a refused refresh");
}

/* Another slot that may hold what this one holds, and does not. */
static const reference_slot *rival(trial *t, const reference_slot *s)
{
    size_t n = t->host.slot_count, start = (size_t)random_word(&t->c->filler) % n;
    for (size_t i = 0; i < n; i++) {
        const reference_slot *other = &t->host.slots[(start + i) % n];
        if (other->kind == SLOT_FOLLOWED && other->one_of == s->one_of && other->value != s->value)
            return other;
    }
    return NULL;
}

static int stale_pointer(trial *t)
{
    size_t n = t->host.slot_count, start = n != 0 ? (size_t)random_word(&t->c->filler) % n : 0;
    for (size_t i = 0; i < n && i < 16; i++) {
        const reference_slot *s = &t->host.slots[(start + i) % n], *other;
        if (s->one_of < 0 || (other = rival(t, s)) == NULL)
            continue;
        graph_write_pointer(s->at, other->value);
        return refuses_as_stale(t, "pointer", s->at);
    }
    return 1;
}

static int stale_count(trial *t)
{
    if (t->host.count_count == 0)
        return 1;
    const reference_count *k = &t->host.counts[(size_t)random_word(&t->c->filler) % t->host.count_count];
    uint16_t u2 = (uint16_t)k->smaller;
    uint32_t u4 = (uint32_t)k->smaller;
    if (k->bytes == 1)
        *k->at = (unsigned char)k->smaller;
    else
        memcpy(k->at,
               k->bytes == 2 ? (const void *)&u2 : k->bytes == 4 ? (const void *)&u4 : (const void *)&k->smaller,
               k->bytes);
    return refuses_as_stale(t, "count", k->at);
}

/* A field that a rule has read, or a word that is no pointer: another value, and the plan does not fit any more. */
static int stale_rule(trial *t)
{
    size_t n = t->host.read_count, slots = t->host.slot_count;
    size_t start = (size_t)random_word(&t->c->filler);
    if (n != 0 && chance(t->c, 1, 2)) {
        unsigned char *at = t->host.reads[start % n].at;
        *at ^= 1;
        return refuses_as_stale(t, "field that a rule reads", at);
    }
    for (size_t i = 0; i < slots; i++) {
        const reference_slot *s = &t->host.slots[(start + i) % slots];
        if (is_pointer(s))
            continue;
        *s->at ^= 64;
        return refuses_as_stale(t, "word that is no pointer", s->at);
    }
    return 1;
}

/* One change that a refresh must refuse. */
static int stale(trial *t)
{
    switch (choose(t->c, 3)) {
    case 0: return stale_pointer(t);
    case 1: return stale_count(t);
    default: return stale_rule(t);
    }
}

/* ---- Pointers back, and parts ---- */

typedef struct store {
    uintptr_t at, value;
    int from_slot; /* value is the address of another slot to copy from */
} store;

static void do_store(void *argument)
{
    store *s = argument;
    const void *value = s->from_slot ? graph_read_pointer((const void *)s->value) : (const void *)s->value;
    graph_write_pointer((void *)s->at, value);
}

/* One past an object is, on the device, where another one may begin. */
static int is_plain_pointer(const trial *t, const reference_slot *s)
{
    uintptr_t copy;
    return s->kind == SLOT_FOLLOWED || (s->kind == SLOT_ALIAS && s->value == s->target &&
                                        reference_find(&t->device_side, (uintptr_t)s->target, &copy));
}

static int comes_back(const trial *t, const reference_slot *s)
{
    int unreturned;
    reference_stretch(t->host.unreturned, t->host.unreturned_count, (uintptr_t)s->at, 1, &unreturned);
    return !unreturned;
}

/* `back` 0: one that does not come back. */
static const reference_slot *some_followed(trial *t, int back)
{
    size_t n = t->device_side.slot_count, start = n != 0 ? (size_t)random_word(&t->c->filler) % n : 0;
    for (size_t i = 0; i < n; i++) {
        const reference_slot *s = &t->device_side.slots[(start + i) % n];
        if (is_plain_pointer(t, s) && comes_back(t, s) == back)
            return s;
    }
    return NULL;
}

/* What is not sent has come back as the zeros that it is there, unless it does not come back either. */
static int restore_unsent(trial *t)
{
    for (size_t i = 0; i < t->host.unsent_count; i++) {
        const reference_range *r = &t->host.unsent[i];
        int unreturned;
        for (size_t at = 0, n; at < r->bytes; at += n) {
            const unsigned char *host = (const unsigned char *)r->host + at;
            n = reference_stretch(t->host.unreturned, t->host.unreturned_count, r->host + at, r->bytes - at,
                                  &unreturned);
            for (size_t k = 0; k < n && !unreturned; k++)
                if (host[k] != 0)
                    return fail(t, "unmarshal with pointers: what was not sent is not zero, at %p", (void *)&host[k]);
            if (!unreturned)
                restore(t, (uintptr_t)host, n);
        }
    }
    return 1;
}

/* A tagged pointer and the bit of its tag that a kernel turns over; 0: nothing is there. */
typedef struct retag {
    const reference_slot *slot;
    uintptr_t bit;
} retag;

static void turn_bit(void *argument)
{
    retag *r = argument;
    uintptr_t word = (uintptr_t)graph_read_pointer((const void *)r->slot->copy);
    r->bit = (word & ~r->slot->high_tags) != 0 ? r->slot->high_tags & HAUL_HIGH_TAGS : 0;
    r->bit &= ~(r->bit - 1);
    graph_write_pointer((void *)r->slot->copy, (void *)(word ^ r->bit));
}

static int retags(trial *t)
{
    size_t n = t->device_side.slot_count, start = n != 0 ? (size_t)random_word(&t->c->filler) % n : 0;
    retag r = { NULL, 0 };
    uintptr_t now, copy;
    for (size_t i = 0; i < n && r.slot == NULL; i++) {
        const reference_slot *s = &t->device_side.slots[(start + i) % n];
        if (s->high_tags != 0 && comes_back(t, s) && reference_find(&t->device_side, (uintptr_t)s->target, &copy))
            r.slot = s;
    }
    if (r.slot == NULL)
        return 1;
    if (haul_host_launch(t->device, turn_bit, &r) != HAUL_OK || haul_unmarshal_pointers(t->shipment) != HAUL_OK)
        return fail(t, "unmarshal with a tag of the device's");
    now = (uintptr_t)graph_read_pointer(r.slot->at);
    if (r.bit != 0 && now != ((uintptr_t)r.slot->value ^ r.bit))
        return fail(t, "unmarshal with pointers: a tagged %p came back as %p", r.slot->value, (void *)now);
    graph_write_pointer(r.slot->at, r.slot->value);
    return restore_unsent(t) && source_is_unchanged(t, "unmarshal with a tag of the device's") &&
           refresh(t, "after a change of a tag");
}

static int unmarshal_pointers(trial *t)
{
    const reference_slot *a = some_followed(t, 1), *b = some_followed(t, 1), *stays = some_followed(t, 0);
    haul_shipment_statistics statistics;
    store s;
    haul_status status;
    if (a == NULL)
        return 1;
    haul_shipment_get_statistics(t->shipment, &statistics);
    s.at = a->copy;
    s.value = b->copy;
    s.from_slot = 1;
    if (haul_host_launch(t->device, do_store, &s) != HAUL_OK)
        return fail(t, "launch");
    s.at = stays != NULL ? stays->copy : a->copy;
    if (haul_host_launch(t->device, do_store, &s) != HAUL_OK)
        return fail(t, "launch");
    s.at = a->copy;
    status = haul_unmarshal_pointers(t->shipment);
    if (status != HAUL_OK)
        return fail(t, "unmarshal with pointers: %s", haul_status_name(status));
    if (graph_read_pointer(a->at) != b->value)
        return fail(t, "unmarshal with pointers: %p came back at %p, not %p", graph_read_pointer(a->at),
                    (void *)a->at, b->value);
    graph_write_pointer(a->at, a->value);
    if (!restore_unsent(t) || !source_is_unchanged(t, "unmarshal with pointers"))
        return 0;
    s.value = (uintptr_t)statistics.base + statistics.plan.arena_bytes + 65536;
    s.from_slot = 0;
    if (haul_host_launch(t->device, do_store, &s) != HAUL_OK)
        return fail(t, "launch");
    status = haul_unmarshal_pointers(t->shipment);
    if (status != HAUL_ERROR_GRAPH)
        return fail(t, "unmarshal with a pointer out of the graph: %s", haul_status_name(status));
    if (haul_context_error(t->context)->path[0] == '\0')
        return fail(t, "unmarshal with a pointer out of the graph: no path");
    return source_is_unchanged(t, "refused unmarshal") && refresh(t, "after a refused unmarshal");
}

/* What is not sent stays zero: an update would leave there what a kernel has put there. */
static void change_sent(void *argument)
{
    trial *t = argument;
    change_copies(t, &t->device_side, 0);
}

static int update(trial *t)
{
    const reference_range *r = &t->host.all[(size_t)random_word(&t->c->filler) % t->host.all_count];
    size_t first = (size_t)random_word(&t->c->filler) % r->bytes;
    size_t bytes = 1 + (size_t)random_word(&t->c->filler) % (r->bytes - first);
    void *host = (void *)(r->host + first);
    haul_status status = haul_host_launch(t->device, change_sent, t);
    if (status == HAUL_OK)
        status = haul_update_host(t->shipment, host, bytes);
    if (status != HAUL_OK)
        return fail(t, "update of the host, %zu bytes at %p: %s", bytes, host, haul_status_name(status));
    if (!source_has_results(t, r->host + first, r->host + first + bytes, "update of the host"))
        return 0;
    for (size_t i = 0; i < t->host.all_count && status == HAUL_OK; i++) /* piece by piece: all of it */
        status = haul_update_device(t->shipment, (void *)t->host.all[i].host, t->host.all[i].bytes);
    if (status != HAUL_OK)
        return fail(t, "update of the device: %s", haul_status_name(status));
    return source_is_unchanged(t, "update of the device") && device_agrees(t, "update of the device");
}

static int replan(trial *t)
{
    haul_status status;
    change_source(t);
    status = haul_replan(t->shipment);
    if (status != HAUL_OK)
        return fail(t, "replan: %s", haul_status_name(status));
    if (!device_agrees(t, "replan"))
        return 0;
    graph_restore(&t->g);
    return 1;
}

/* ---- The audit ---- */

static size_t usable(void *user, const void *block)
{
    const graph *g = user;
    for (size_t i = 0; i < g->block_count; i++)
        if (g->blocks[i].memory == block)
            return g->blocks[i].bytes;
    return 0;
}

static void take_finding(void *user, const haul_audit_finding *finding)
{
    trial *t = user;
    int wrong = finding->kind == HAUL_AUDIT_BEYOND_BLOCK;
    if (finding->kind == HAUL_AUDIT_HIDDEN_POINTER)
        wrong = sizeof(void *) > 4; /* random words of 4 bytes look like anything */
    if (finding->path[0] == '\0' || wrong)
        fail(t, "audit: %s: %s", finding->path, finding->text);
}

/* The description is right: what is not described is no pointer, and nothing is longer than its block. */
static int audit(trial *t)
{
    haul_audit_options options;
    haul_audit_summary summary;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.finding = take_finding;
    options.user = t;
    options.usable = usable;
    options.usable_user = &t->g;
    options.roots_are_blocks = 1;
    status = haul_audit(t->context, t->g.roots, t->g.root_count, &options, &summary);
    if (status != HAUL_OK)
        return fail(t, "audit: %s", haul_status_name(status));
    return t->message[0] == '\0';
}

/* ---- In arenas ---- */

static int in_arenas(trial *t)
{
    return !model_fits_arenas(t->model) ||
           (arenas_run(t->world, t->c, &t->g, &t->host, t->device, t->message, t->message_bytes) &&
            source_is_unchanged(t, "arenas"));
}

static int wrongs(trial *t)
{
    return wrongs_of_graph(t->c, &t->g, &t->host, &t->world->oracle, t->message, t->message_bytes);
}

/* ---- The whole ---- */

static int run_steps(trial *t, unsigned options)
{
    if (!draw(t, options) || (chance(t->c, 1, 16) && !reference_sees(t)) || !make_plan(t) || !audit(t) ||
        !in_arenas(t) || ((options & TRIAL_WRONG) && !wrongs(t)) || !pack_and_compare(t) || !pack_again(t) ||
        !look_up_described(t) || !look_up_roots(t) || !look_up_others(t) || !unpack(t) || !ship(t))
        return 0;
    if (chance(t->c, 1, 4) && !(options & TRIAL_FAULTS))
        model_free_types(t->model); /* plans and shipments hold what they need */
    if (!device_agrees(t, "ship") || !addresses_agree(t) || !pointers_agree(t) || !unmarshal(t) ||
        !refresh_after_change(t) || !stale(t) || !retags(t) || !unmarshal_pointers(t) || !update(t) || !replan(t))
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
    trial t = begin(w, c, chance(c, 1, 2));
    int good;
    t.message = message;
    t.message_bytes = message_bytes;
    message[0] = '\0';
    good = run_steps(&t, options);
    if (good && (options & TRIAL_FAULTS) != 0) {
        faults_of_graph(&t.g, &t.host, &w->oracle);
        good = source_is_unchanged(&t, "faults");
    }
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
    if (!source_is_unchanged(&t, "fault"))
        CHECK_STR(message, "");
    end(&t);
}

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

int trial_open(trial_world *w)
{
    memset(w, 0, sizeof *w);
    w->oracle.count_of = ask_current;
    w->oracle.is_there = current_has;
    if (!surroundings_open(&w->around))
        return 0;
    w->model = must(malloc(sizeof *w->model));
    for (int checked = 0; checked < 2; checked++) {
        haul_device_options options;
        memset(&options, 0, sizeof options);
        options.new_context.argument = &w->oracle;
        options.new_context.checked = checked;
        surroundings_tell(&w->around, &options.new_context);
        if (haul_device_open(haul_host_device(), &options, &w->device[checked]) != HAUL_OK) {
            trial_close(w);
            return 0;
        }
    }
    return 1;
}

void trial_close(trial_world *w)
{
    haul_device_close(&w->device[0]);
    haul_device_close(&w->device[1]);
    surroundings_close(&w->around);
    free(w->model);
    w->model = NULL;
}

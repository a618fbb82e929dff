/* Fuzz target: type descriptions, mostly wrong, straight into the builder (T1 to T17).
 *
 * Whatever comes, the library refuses it with words, or accepts it; and what it accepts can be
 * asked, printed, and used to plan an object of zeros, and one of small numbers and pointers into
 * itself. Memory may run out in any call: it says so, and nothing is left behind.
 *
 * Byte 0: which allocation fails; 0: none. The rest decides everything else.
 */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/doors.h"
#include "target.h"
#include "type/record.h"

enum { TYPES = 8, ROWS = 8, BLOCKS = 6 };

typedef struct universe {
    choices c;
    haul_type *type[TYPES];
    haul_field rows[ROWS], each[ROWS];
    haul_case cases[2 * ROWS][2];
    const unsigned char *object; /* the one that is planned */
    size_t object_bytes;
    haul_context *context;
    fault_plan doors; /* of the context */
} universe;

static void require(int condition, const char *what)
{
    if (!condition)
        fuzz_broken("%s", what);
}

/* 1: the allocation that the input names has failed in the call that answered so. No other one
 * will, so the call can be repeated. */
static int has_failed(universe *u, haul_status status)
{
    if (u->doors.fired == 0)
        return 0;
    require(status != HAUL_OK, "memory ran out, and nobody says so");
    fault_disarm(&u->doors);
    u->doors.fired = 0;
    return 1;
}

static size_t draw_size(choices *c)
{
    static const size_t odd[] = { 0,
                                  1,
                                  3,
                                  5,
                                  7,
                                  12,
                                  100,
                                  255,
                                  4095,
                                  4096,
                                  4097,
                                  65536,
                                  SIZE_MAX,
                                  SIZE_MAX - 3,
                                  SIZE_MAX / 2,
                                  SIZE_MAX / 4,
                                  SIZE_MAX / 4 + 1,
                                  SIZE_MAX / 8 + 1,
                                  (size_t)1 << 31,
                                  SIZE_MAX / 16 };
    uint32_t way = choose(c, 4);
    if (way == 3)
        return odd[choose(c, sizeof odd / sizeof odd[0])];
    return way == 2 ? choose(c, 256) : 8 * (size_t)choose(c, 16);
}

static const char *draw_name(choices *c)
{
    static const char *const names[] = {
        "a", "b", "c", "next", "a", "", NULL, "\xff\xfe", "x.y[0]"
    };
    static char endless[1024];
    uint32_t i = choose(c, 40);
    if (i == 39) {
        memset(endless, 'n', sizeof endless);
        return endless;
    }
    return names[i < 30 ? i % 5 : i % 9];
}

static int64_t some_count(const haul_here *here)
{
    return (int64_t)(here->index % 3) - 1;
}

static haul_integer draw_integer(choices *c)
{
    haul_integer place;
    memset(&place, 0, sizeof place);
    place.offset = draw_size(c);
    place.bytes = (uint8_t)(chance(c, 1, 8) ? choose(c, 256) : 1u << choose(c, 4));
    place.sign = (uint8_t)choose(c, 3);
    return place;
}

static haul_count draw_count(choices *c)
{
    haul_count s;
    memset(&s, 0, sizeof s);
    s.kind = (int)choose(c, chance(c, 1, 16) ? 9 : 5);
    s.fields = choose(c, chance(c, 1, 8) ? 6 : 3);
    if (s.kind == HAUL_COUNT_KIND_UNTIL && chance(c, 3, 4))
        s.fields = 1;
    for (unsigned i = 0; i < 3; i++)
        s.field[i] = draw_integer(c);
    s.times = chance(c, 1, 8) ? (int64_t)draw_size(c) : 1;
    s.plus = chance(c, 1, 4) ? (int64_t)draw_size(c) : 0;
    s.function = chance(c, 7, 8) ? some_count : NULL;
    return s;
}

static haul_type *const *draw_target(universe *u)
{
    return chance(&u->c, 3, 4) ? (haul_type *const *)&u->type[choose(&u->c, TYPES)] : NULL;
}

static int64_t draw_base(choices *c)
{
    static const int64_t far[] = { INT64_MIN,  INT64_MAX,     1 << 20,
                                   -(1 << 20), (1 << 20) + 1, INT32_MIN };
    return chance(c, 1, 8) ? far[choose(c, 6)] : (int64_t)choose(c, 64) - 32;
}

static void draw_when(choices *c, haul_field *row)
{
    row->when.kind = (int)choose(c, chance(c, 1, 16) ? 9 : 4);
    row->when.field = draw_integer(c);
    row->when.mask = chance(c, 1, 2) ? -1 : 7;
    row->when.low = (int64_t)choose(c, 4);
    row->when.high = row->when.low + (int64_t)choose(c, 3) - (chance(c, 1, 8) ? 1 : 0);
    row->when.function = chance(c, 7, 8) ? some_count : NULL;
    row->else_raw = row->when.kind ? (int)choose(c, chance(c, 1, 16) ? 4 : 2) : 0;
}

static void draw_word(choices *c, haul_field *row)
{
    if (chance(c, 1, 2))
        row->ownership = (haul_ownership)choose(c, chance(c, 1, 16) ? 5 : 3);
    row->maybe_static = chance(c, 1, 4);
    if (chance(c, 1, 4))
        row->tag_bits = chance(c, 1, 2) ? (uintptr_t)1 << choose(c, 14) : (uintptr_t)draw_size(c);
    if (chance(c, 1, 4))
        row->integers_below = (uintptr_t)draw_size(c);
    if (chance(c, 1, 8))
        row->integers_from = (uintptr_t)0 - (uintptr_t)draw_size(c);
    if (chance(c, 1, 4))
        row->base = draw_base(c);
    if (chance(c, 1, 8))
        row->base_fn = some_count;
}

static void draw_switch(universe *u, haul_switch *of, haul_case *cases)
{
    choices *c = &u->c;
    of->kind = (int)choose(c, 5);
    of->field = draw_integer(c);
    of->function = chance(c, 7, 8) ? some_count : NULL;
    of->cases = chance(c, 1, 16) ? NULL : cases;
    of->case_count = choose(c, 3);
    of->case_bytes = sizeof *cases;
    for (unsigned i = 0; i < 2; i++) {
        cases[i].value = (int64_t)choose(c, 3) - 1;
        cases[i].type = draw_target(u);
        cases[i].base = chance(c, 1, 4) ? draw_base(c) : 0;
    }
}

static void draw_members(universe *u, haul_field *row, haul_case *cases)
{
    choices *c = &u->c;
    draw_when(c, row);
    draw_word(c, row);
    row->transfer = chance(c, 1, 4) ? (haul_transfer)choose(c, 5) : HAUL_COPY;
    if (chance(c, 1, 8))
        row->ancestor = chance(c, 1, 2) ? HAUL_PARENT : draw_target(u);
    if (chance(c, 1, 3))
        draw_switch(u, &row->type_switch, cases);
}

static void draw_row(universe *u, size_t i)
{
    choices *c = &u->c;
    haul_field *row = &u->rows[i];
    memset(row, 0, sizeof *row);
    row->name = draw_name(c);
    row->kind = (int)(chance(c, 1, 16) ? choose(c, 8) : 1 + choose(c, 6));
    row->offset = draw_size(c);
    row->bytes = chance(c, 1, 2) ? sizeof(void *) : draw_size(c);
    row->element_bytes = chance(c, 1, 2) ? 0 : draw_size(c);
    row->target = draw_target(u);
    row->levels = chance(c, 1, 8) ? choose(c, 6) : 1;
    row->packed = chance(c, 1, 4);
    row->count = draw_count(c);
    row->count2 = draw_count(c);
    row->count3 = draw_count(c);
    if (chance(c, 1, 4))
        draw_members(u, row, u->cases[i]);
    if (!chance(c, 1, 8))
        return;
    memset(&u->each[i], 0, sizeof u->each[i]);
    draw_members(u, &u->each[i], u->cases[ROWS + i]);
    row->each_pointer = &u->each[i];
}

static int64_t some_size(const haul_here *here)
{
    return *(const unsigned char *)here->self + 7; /* of zeros: 7 */
}

static haul_status make_struct(universe *u, haul_type **made)
{
    size_t n = choose(&u->c, ROWS + 1), first = choose(&u->c, (uint32_t)n + 1);
    haul_struct what;
    haul_status status;
    memset(&what, 0, sizeof what);
    for (size_t i = 0; i < n; i++)
        draw_row(u, i);
    what.name = draw_name(&u->c);
    what.bytes = draw_size(&u->c);
    what.fields = u->rows;
    what.field_count = first;
    what.field_bytes = sizeof u->rows[0];
    if (chance(&u->c, 1, 4))
        what.alignment = draw_size(&u->c);
    if (chance(&u->c, 1, 8))
        what.size_fn = some_size;
    status = haul_type_create(u->context, &what, made);
    if (status == HAUL_OK && first < n &&
        haul_type_add(*made, u->rows + first, n - first) == HAUL_ERROR_MEMORY) {
        haul_type_free(made);
        return HAUL_ERROR_MEMORY;
    }
    return status;
}

static haul_status make_blocks(universe *u, uint32_t way, haul_type *old, haul_type **made)
{
    size_t n = choose(&u->c, BLOCKS + 1), lengths[BLOCKS], places[BLOCKS], starts[BLOCKS];
    haul_type *types[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        lengths[i] = draw_size(&u->c);
        places[i] = draw_size(&u->c);
        starts[i] = draw_size(&u->c);
        types[i] = u->type[choose(&u->c, TYPES)];
    }
    switch (way) {
    case 0:
        return haul_type_indexed(n, lengths, places, old, made);
    case 1:
        return haul_type_create_hindexed(n, lengths, places, old, made);
    case 2:
        return haul_type_create_indexed_block(n, lengths[0], places, old, made);
    case 3:
        return haul_type_create_struct(n, lengths, places, types, made);
    default:
        return haul_type_create_subarray(n, lengths, places, starts, (haul_order)choose(&u->c, 3),
                                         old, made);
    }
}

static haul_status draw_type(universe *u, haul_type **made)
{
    choices *c = &u->c;
    haul_type *old = u->type[choose(c, TYPES)];
    uint32_t way = choose(c, 24);
    size_t n[3];
    const char *name;
    haul_count count;
    if (way >= 13)
        return make_struct(u, made);
    name = draw_name(c);
    for (unsigned i = 0; i < 3; i++)
        n[i] = draw_size(c);
    switch (way) {
    case 0:
        return haul_type_contiguous(n[0], old, made);
    case 1:
        return haul_type_vector(n[0], n[1], n[2], old, made);
    case 2:
        return haul_type_create_hvector(n[0], n[1], n[2], old, made);
    case 3:
        return haul_type_create_resized(old, n[0], n[1], made);
    case 4:
        return haul_type_dup(old, made);
    case 5:
        count = draw_count(c);
        return haul_type_pointer(u->context, name, draw_target(u), n[0], count, made);
    case 6:
    case 7:
        return haul_type_bytes(u->context, name, n[0], made);
    default:
        return make_blocks(u, way - 8, old, made);
    }
}

static haul_status swallow(void *user, const void *data, size_t bytes)
{
    size_t *total = user;
    require(data != NULL || bytes == 0, "a dump writes NULL");
    *total += bytes;
    return *total < 1u << 24 ? HAUL_OK : HAUL_ERROR_FILE;
}

static haul_status make_type(universe *u, haul_type **made)
{
    const choices before = u->c;
    haul_status status = draw_type(u, made);
    if (has_failed(u, status)) {
        require(status == HAUL_ERROR_MEMORY && !*made, "memory ran out for a type");
        u->c = before;
        status = draw_type(u, made);
    }
    return status;
}

/* *bytes: those that one element takes from its address on; above SIZE_MAX / 2: too many. */
static haul_status measure(const haul_type *type, size_t *bytes)
{
    const size_t most = SIZE_MAX / 2;
    size_t size, lower, extent, true_lower, true_extent;
    haul_status status = haul_type_size(type, &size);
    if (status == HAUL_OK)
        status = haul_type_get_extent(type, &lower, &extent);
    if (status == HAUL_OK)
        status = haul_type_get_true_extent(type, &true_lower, &true_extent);
    *bytes = SIZE_MAX;
    if (status == HAUL_OK && true_lower <= most && true_extent <= most && lower <= most &&
        extent <= most)
        *bytes =
            true_lower + true_extent > lower + extent ? true_lower + true_extent : lower + extent;
    return status;
}

/* Answers 1 and the bytes that one element takes, if it has few. */
static int ask(universe *u, const haul_type *type, size_t *bytes)
{
    size_t total = 0;
    haul_file file = { NULL, swallow, NULL };
    haul_field_info field;
    haul_status status;
    file.user = &total;
    (void)haul_type_combiner(type);
    for (size_t i = 0; i < haul_type_field_count(type) && i < 1000; i++)
        require(haul_type_get_field(type, i, &field) == HAUL_OK || !haul_type_committed(type),
                "a field is not told");
    require(haul_type_get_field(type, haul_type_field_count(type), &field) != HAUL_OK,
            "a field past the last");
    status = measure(type, bytes);
    if (has_failed(u, status))
        status = measure(type, bytes);
    if (status != HAUL_OK) {
        require(!haul_type_committed(type), "a committed type has no extent");
        return 0;
    }
    (void)has_failed(u, haul_type_dump(type, &file));
    return *bytes != 0 && *bytes <= 1u << 20;
}

/* Objects with tails may claim more than there is. */
static int is_in_object(void *user, const void *address, size_t bytes)
{
    const universe *u = user;
    uintptr_t at = (uintptr_t)address - (uintptr_t)u->object;
    return at <= u->object_bytes && bytes <= u->object_bytes - at;
}

static void plan_object(universe *u, const haul_type *type, size_t bytes)
{
    const haul_source object = haul_from_object((void *)(uintptr_t)u->object, type);
    haul_plan *plan = NULL;
    haul_plan_info info;
    size_t spare = 65536 + 2 * HAUL_OUTSIDE_MAX;
    haul_status status = haul_plan_create(u->context, object, NULL, &plan);
    if (has_failed(u, status))
        status = haul_plan_create(u->context, object, NULL, &plan);
    if (status == HAUL_OK) {
        haul_plan_get_info(plan, &info);
        require(info.arena_bytes >= 16 && info.arena_bytes <= bytes + spare,
                "the size of an arena");
        haul_plan_free(&plan);
    } else {
        require(plan == NULL, "a plan from a call that failed");
        require(haul_context_error(u->context)->text[0] != '\0',
                "a plan is refused without a word");
    }
}

/* Zeros first; then numbers, and pointers to any byte of it. */
static void plan_objects(universe *u, const haul_type *type, size_t bytes)
{
    void *object = NULL;
    if (posix_memalign(&object, 4096, bytes) != 0)
        exit(2);
    memset(object, 0, bytes);
    u->object = object;
    u->object_bytes = bytes;
    plan_object(u, type, bytes);
    for (size_t at = 0; at + sizeof(uintptr_t) <= bytes && at < 2048; at += sizeof(uintptr_t)) {
        uint32_t way = choose(&u->c, 16);
        uintptr_t word = way < 6 ? (uintptr_t)way
                                 : (uintptr_t)object +
                                       (uintptr_t)(random_word(&u->c.filler) % bytes / way * way);
        memcpy((unsigned char *)object + at, &word, sizeof word);
    }
    plan_object(u, type, bytes);
    free(object);
}

static int commit_and_use(universe *u, haul_type *type)
{
    size_t bytes;
    haul_status status;
    (void)ask(u, type, &bytes);
    status = haul_type_commit(type);
    if (has_failed(u, status)) {
        require(status == HAUL_ERROR_MEMORY, "memory ran out for a commit");
        status = haul_type_commit(type);
    }
    require((status == HAUL_OK) == (haul_type_committed(type) != 0), "committed, or not");
    if (status != HAUL_OK) {
        /* a struct of no blocks has no context, nor has a type that is made of it */
        require(!type->home.context || haul_context_error(u->context)->status == status,
                "the record of a refused commit");
        require(!type->home.context || haul_context_error(u->context)->text[0] != '\0',
                "a type is refused without a word");
        return 0;
    }
    require(haul_type_commit(type) == HAUL_OK, "a second commit");
    require(haul_type_add(type, u->rows, 1) != HAUL_OK, "a row is added after commit");
    if (ask(u, type, &bytes))
        plan_objects(u, type, bytes);
    return 1;
}

static int run(const uint8_t *data, size_t size)
{
    universe u;
    haul_context_options options;
    size_t n;
    int accepted = 0;
    memset(&u, 0, sizeof u);
    if (size == 0)
        return 0;
    u.c = choices_from_bytes(data + 1, size - 1);
    u.rows[0].name = "row";
    memset(&options, 0, sizeof options);
    options.readable = is_in_object;
    options.readable_user = &u;
    if (fault_open_context(&u.doors, &options, &u.context) != HAUL_OK)
        exit(2);
    fault_arm(&u.doors, FAULT_ONCE, data[0]);
    n = 1 + choose(&u.c, TYPES);
    for (size_t i = 0; i < n; i++) {
        haul_type *made = NULL;
        haul_status status = make_type(&u, &made);
        require((status == HAUL_OK) == (made != NULL), "a result and a failure");
        u.type[i] = made;
        if (made != NULL && chance(&u.c, 1, 8))
            accepted |= commit_and_use(&u, made);
    }
    for (size_t i = 0; i < n; i++)
        if (u.type[i] != NULL)
            accepted |= commit_and_use(&u, u.type[i]);
    for (size_t i = 0; i < n; i++)
        haul_type_free(&u.type[i]);
    haul_context_free(&u.context);
    fault_check_clean(&u.doors);
    return accepted;
}

const fuzz_target fuzz_types = { "types", run, NULL };

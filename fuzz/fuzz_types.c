/* Fuzz target: type descriptions, mostly wrong, straight into the builder (T1 to T17).
 *
 * Whatever comes, the library refuses it with words, or accepts it; and what it accepts can be
 * asked, printed, and used to plan an object of zeros, and one of small numbers and pointers into
 * itself.
 */
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "random/choices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TYPES = 8, ROWS = 8, BLOCKS = 6 };

typedef struct universe {
    choices c;
    haul_type *type[TYPES];
    haul_ref rows[ROWS];
    haul_rule rules[ROWS];
    haul_case cases[ROWS][2];
    const unsigned char *object; /* the one that is planned */
    size_t object_bytes;
    haul_context *context;
} universe;

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
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

static haul_shape draw_shape(choices *c)
{
    haul_shape s;
    memset(&s, 0, sizeof s);
    s.kind = (haul_shape_kind)choose(c, chance(c, 1, 16) ? 9 : 5);
    s.field_count = choose(c, chance(c, 1, 8) ? 6 : 3);
    if (s.kind == HAUL_SHAPE_END && chance(c, 3, 4))
        s.field_count = 1;
    for (unsigned i = 0; i < 3; i++) {
        s.field[i].offset = draw_size(c);
        s.field[i].bytes = (uint8_t)(chance(c, 1, 8) ? choose(c, 256) : 1u << choose(c, 4));
        s.field[i].is_signed = (uint8_t)choose(c, 3);
    }
    s.multiply = chance(c, 1, 8) ? (int64_t)draw_size(c) : 1;
    s.add = chance(c, 1, 4) ? (int64_t)draw_size(c) : 0;
    s.function = chance(c, 7, 8) ? some_count : NULL;
    return s;
}

static haul_type *const *draw_target(universe *u)
{
    return chance(&u->c, 3, 4) ? (haul_type *const *)&u->type[choose(&u->c, TYPES)] : NULL;
}

static haul_field_place draw_place(choices *c)
{
    haul_field_place place;
    place.offset = draw_size(c);
    place.bytes = (uint8_t)(chance(c, 1, 8) ? choose(c, 256) : 1u << choose(c, 4));
    place.is_signed = (uint8_t)choose(c, 3);
    return place;
}

static int64_t draw_base(choices *c)
{
    static const int64_t far[] = { INT64_MIN,  INT64_MAX,     1 << 20,
                                   -(1 << 20), (1 << 20) + 1, INT32_MIN };
    return chance(c, 1, 8) ? far[choose(c, 6)] : (int64_t)choose(c, 64) - 32;
}

static void draw_rule(universe *u, haul_rule *rule, haul_case *cases)
{
    choices *c = &u->c;
    uint32_t way = choose(c, 16);
    memset(rule, 0, sizeof *rule);
    rule->when.kind = (haul_when_kind)choose(c, chance(c, 1, 16) ? 9 : 4);
    rule->when.field.offset = draw_place(c).offset;
    rule->when.field.bytes = draw_place(c).bytes;
    rule->when.field.sign = draw_place(c).is_signed;
    rule->when.mask = chance(c, 1, 2) ? -1 : 7;
    rule->when.low = (int64_t)choose(c, 4);
    rule->when.high = rule->when.low + (int64_t)choose(c, 3) - (chance(c, 1, 8) ? 1 : 0);
    rule->when.function = chance(c, 7, 8) ? some_count : NULL;
    rule->otherwise =
        rule->when.kind ? (haul_else)choose(c, chance(c, 1, 16) ? 4 : 2) : HAUL_ELSE_NULL;
    if (way < 8)
        rule->mode = (haul_mode)way; /* 7: there is none */
    if (chance(c, 1, 4))
        rule->tag_bits = chance(c, 1, 2) ? (uintptr_t)1 << choose(c, 14) : (uintptr_t)draw_size(c);
    if (chance(c, 1, 4))
        rule->integer_below = (uintptr_t)draw_size(c);
    if (chance(c, 1, 8))
        rule->integer_from = (uintptr_t)0 - (uintptr_t)draw_size(c);
    if (chance(c, 1, 4))
        rule->base = draw_base(c);
    if (chance(c, 1, 8))
        rule->base_function = some_count;
    rule->addressing = chance(c, 1, 8) ? (haul_addressing)choose(c, 3) : HAUL_ABSOLUTE;
    if (!chance(c, 1, 3))
        return;
    rule->choice.kind = (haul_choice_kind)choose(c, 5);
    rule->choice.field = draw_place(c);
    rule->choice.function = chance(c, 7, 8) ? some_count : NULL;
    rule->choice.mask = chance(c, 1, 8) ? (int64_t)choose(c, 3) : -1;
    rule->choice.cases = chance(c, 1, 16) ? NULL : cases;
    rule->choice.case_count = choose(c, 3);
    for (unsigned i = 0; i < 2; i++) {
        cases[i].value = (int64_t)choose(c, 3) - 1;
        cases[i].type = draw_target(u);
        cases[i].base = chance(c, 1, 4) ? draw_base(c) : 0;
    }
}

static void draw_row(universe *u, haul_ref *row)
{
    choices *c = &u->c;
    memset(row, 0, sizeof *row);
    row->name = draw_name(c);
    row->kind = (haul_ref_kind)(chance(c, 1, 16) ? choose(c, 8) : 1 + choose(c, 5));
    row->offset = draw_size(c);
    row->field_bytes = chance(c, 1, 2) ? sizeof(void *) : draw_size(c);
    row->element_bytes = chance(c, 1, 2) ? 0 : draw_size(c);
    row->target = draw_target(u);
    row->levels = chance(c, 1, 8) ? choose(c, 6) : 1;
    row->unaligned = chance(c, 1, 4);
    for (unsigned i = 0; i < HAUL_LEVELS; i++)
        row->shape[i] = draw_shape(c);
    if (!chance(c, 1, 4))
        return;
    row->rule = &u->rules[row - u->rows];
    draw_rule(u, &u->rules[row - u->rows], u->cases[row - u->rows]);
}

static int64_t some_size(const haul_here *here)
{
    return *(const unsigned char *)here->self + 7; /* of zeros: 7 */
}

static haul_status make_struct(universe *u, haul_type **made)
{
    size_t n = choose(&u->c, ROWS + 1), first = choose(&u->c, (uint32_t)n + 1);
    const char *name;
    haul_status status;
    for (size_t i = 0; i < n; i++)
        draw_row(u, &u->rows[i]);
    name = draw_name(&u->c);
    status = haul_type_create(name, draw_size(&u->c), u->rows, first, made);
    if (status == HAUL_OK && first < n)
        (void)haul_type_add(*made, u->rows + first, n - first);
    if (status == HAUL_OK && chance(&u->c, 1, 4))
        (void)haul_type_set_alignment(*made, draw_size(&u->c));
    if (status == HAUL_OK && chance(&u->c, 1, 8))
        (void)haul_type_set_size(*made, some_size);
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

static haul_status make_type(universe *u, haul_type **made)
{
    choices *c = &u->c;
    haul_type *old = u->type[choose(c, TYPES)];
    uint32_t way = choose(c, 24);
    size_t n[3];
    const char *name;
    haul_shape shape;
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
        shape = draw_shape(c);
        return haul_type_pointer(name, draw_target(u), n[0], shape, made);
    case 6:
    case 7:
        return haul_type_bytes(name, n[0], made);
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

/* Answers 1 and the bytes that one element takes from its address on. */
static int ask(const haul_type *type, size_t *bytes)
{
    size_t size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0, total = 0;
    haul_file file = { NULL, swallow, NULL };
    haul_field_info field;
    file.user = &total;
    (void)haul_type_combiner(type);
    for (size_t i = 0; i < haul_type_field_count(type) && i < 1000; i++)
        require(haul_type_get_field(type, i, &field) == HAUL_OK || !haul_type_committed(type),
                "a field is not told");
    require(haul_type_get_field(type, haul_type_field_count(type), &field) != HAUL_OK,
            "a field past the last");
    if (haul_type_size(type, &size) != HAUL_OK ||
        haul_type_get_extent(type, &lower, &extent) != HAUL_OK ||
        haul_type_get_true_extent(type, &true_lower, &true_extent) != HAUL_OK) {
        require(!haul_type_committed(type), "a committed type has no extent");
        return 0;
    }
    (void)haul_type_dump(type, &file);
    if (true_lower > SIZE_MAX / 2 || true_extent > SIZE_MAX / 2 || lower > SIZE_MAX / 2 ||
        extent > SIZE_MAX / 2)
        return 0;
    *bytes = true_lower + true_extent > lower + extent ? true_lower + true_extent : lower + extent;
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
    if (haul_plan_create(u->context, object, NULL, &plan) == HAUL_OK) {
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

static void commit_and_use(universe *u, haul_type *type)
{
    size_t bytes;
    haul_status status;
    (void)ask(type, &bytes);
    status = haul_type_commit(type);
    require((status == HAUL_OK) == (haul_type_committed(type) != 0), "committed, or not");
    if (status != HAUL_OK) {
        require(haul_type_error(type)->status == status, "the record of a refused commit");
        require(haul_type_error(type)->text[0] != '\0', "a type is refused without a word");
        return;
    }
    require(haul_type_commit(type) == HAUL_OK, "a second commit");
    require(haul_type_add(type, u->rows, 1) != HAUL_OK, "a row is added after commit");
    if (ask(type, &bytes))
        plan_objects(u, type, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    universe u;
    haul_context_options options;
    size_t n;
    memset(&u, 0, sizeof u);
    u.c = choices_from_bytes(data, size);
    u.rows[0].name = "row";
    memset(&options, 0, sizeof options);
    options.readable = is_in_object;
    options.readable_user = &u;
    if (haul_context_create(&options, &u.context) != HAUL_OK)
        exit(2);
    n = 1 + choose(&u.c, TYPES);
    for (size_t i = 0; i < n; i++) {
        haul_type *made = NULL;
        haul_status status = make_type(&u, &made);
        require((status == HAUL_OK) == (made != NULL), "a result and a failure");
        u.type[i] = made;
        if (made != NULL && chance(&u.c, 1, 8))
            commit_and_use(&u, made);
    }
    for (size_t i = 0; i < n; i++)
        if (u.type[i] != NULL)
            commit_and_use(&u, u.type[i]);
    for (size_t i = 0; i < n; i++)
        haul_type_free(&u.type[i]);
    haul_context_free(&u.context);
    return 0;
}

/* Unusual rules, found by random graphs, each in its smallest form: pointers and distances to no
 * elements, arms that overlap, objects that end before their struct does, and rules that ask for an
 * ancestor.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "haul/host.h"
#include "support/check.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

static struct {
    haul_context_options options;
    haul_context *context;
    haul_plan *plan;
    unsigned char memory[4096];
} bench;

/* Two pointers' alignment; zeros. */
static unsigned char *memory_at(size_t offset)
{
    unsigned char *first = bench.memory + 64 - (uintptr_t)bench.memory % 64;
    return first + offset;
}

static void bench_start(void)
{
    memset(&bench, 0, sizeof bench);
}

static haul_type *made(const char *name, size_t bytes, const haul_field *fields, size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    return type;
}

static haul_status plan_of(void *root, const haul_type *type)
{
    haul_root one;
    one.address = root;
    one.type = type;
    one.count = 1;
    CHECK_STATUS(haul_context_create(&bench.options, &bench.context), HAUL_OK);
    return haul_plan_create(bench.context, haul_from_roots(&one, 1), NULL, &bench.plan);
}

static size_t place_of(const void *address)
{
    size_t offset = 0;
    CHECK_STATUS(haul_plan_offset(bench.plan, address, &offset), HAUL_OK);
    return offset;
}

/* The arena, to be freed. */
static unsigned char *packed(void)
{
    size_t bytes = plan_bytes(bench.plan);
    unsigned char *arena = malloc(bytes);
    CHECK(arena != NULL);
    CHECK_STATUS(haul_plan_pack(bench.plan, arena, bytes, 1u << 20, NULL), HAUL_OK);
    return arena;
}

static void bench_end(haul_type *type)
{
    haul_plan_free(&bench.plan);
    haul_context_free(&bench.context);
    haul_type_free(&type);
}

typedef struct link4 {
    int32_t first, distance, behind[2];
} link4;

/* ---- Distances, and pointers to no elements. */

typedef struct offcut {
    int32_t count, distance, behind, more;
    int32_t plain[4];
} offcut;

static const haul_field offcut_fields[] = { HAUL_RELATIVE(
    offcut, distance, .element_bytes = 4, .count = HAUL_COUNT(offcut, count), .base = -4) };

TEST(rule_corners, a_distance_to_no_elements_leaves_what_stands_behind_it_alone)
{
    offcut *o = (offcut *)(void *)memory_at(0);
    haul_type *type = made("offcut", sizeof *o, offcut_fields, 1);
    unsigned char *arena;
    bench_start();
    o->distance = 4000;
    o->behind = 0x1234567;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(plan_of(o, type), HAUL_OK);
    arena = packed();
    CHECK_BYTES(arena + place_of(&o->behind), &o->behind, sizeof o->behind);
    free(arena);
    bench_end(type);
}

TEST(rule_corners, a_distance_with_a_base_leads_behind_the_copy_as_far_as_it_did)
{
    offcut *o = (offcut *)(void *)memory_at(0);
    haul_type *type = made("offcut", sizeof *o, offcut_fields, 1);
    unsigned char *arena;
    int32_t word;
    bench_start();
    o->count = 3;
    o->distance = (int32_t)((unsigned char *)&o->plain[1] - (unsigned char *)&o->distance);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(plan_of(o, type), HAUL_OK);
    arena = packed();
    memcpy(&word, arena + place_of(&o->distance), sizeof word);
    CHECK_EQ(word, o->distance);
    free(arena);
    bench_end(type);
}

/* Words whose base leads them to null. */
typedef struct lost {
    uintptr_t word;
    int64_t distance;
} lost;

static void is_refused_as_null(haul_field row, const char *path)
{
    lost *l = (lost *)(void *)memory_at(0);
    haul_type *type = made("lost", sizeof *l, &row, 1);
    bench_start();
    l->word = 1;
    l->distance = -(int64_t)(uintptr_t)&l->distance - 1;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(plan_of(l, type), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(bench.context)->path, path);
    CHECK_STR(haul_context_error(bench.context)->text,
              "it points outside any process's address range, to 0x0");
    bench_end(type);
}

/* Found by the attack with garbage: the plan was made, and packing called the word changed. */
TEST(rule_corners, a_word_whose_base_leads_it_to_null_is_refused_when_the_graph_is_found)
{
    const uintptr_t high = sizeof(void *) > 4 ? HAUL_HIGH_TAGS : 0;
    const haul_field plain = HAUL_ADDRESS(lost, word, .element_bytes = 8, .base = -1),
                     tagged =
                         HAUL_ADDRESS(lost, word, .element_bytes = 8, .base = -1, .tag_bits = high),
                     later = HAUL_ADDRESS(lost, word, .element_bytes = 8, .base = -1,
                                          .ownership = HAUL_UNLESS_OWNED),
                     distance = HAUL_RELATIVE(lost, distance, .element_bytes = 8, .base = 1);
    is_refused_as_null(plain, "root.word");
    is_refused_as_null(tagged, "root.word");
    is_refused_as_null(later, "root.word");
    is_refused_as_null(distance, "root.distance");
}

static void is_not_packed(const char *path)
{
    unsigned char *arena = malloc(plan_bytes(bench.plan));
    CHECK(arena != NULL);
    CHECK_STATUS(haul_plan_pack(bench.plan, arena, plan_bytes(bench.plan), 1u << 20, NULL),
                 HAUL_ERROR_LIMIT);
    CHECK_STR(haul_context_error(bench.context)->path, path);
    free(arena);
}

/* In the copy the two blocks lie side by side, and what lies 12 bytes before the second is the word
 * itself. */
TEST(rule_corners, a_distance_that_becomes_0_by_chance_is_refused)
{
    static const haul_field fields[] = { HAUL_RELATIVE(link4, distance, .element_bytes = 8,
                                                       .base = 12) };
    link4 *l = (link4 *)(void *)memory_at(0);
    haul_type *type = made("link4", sizeof *l, fields, 1);
    bench_start();
    l->distance = 64 - 12 - (int32_t)offsetof(link4, distance);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(plan_of(l, type), HAUL_OK);
    CHECK_EQ(place_of(memory_at(64)), place_of(l) + sizeof *l);
    is_not_packed("root.distance");
    bench_end(type);
}

typedef struct late {
    int32_t nothing, plain;
} late;

/* The same, of an object that begins with bytes that do not travel. */
TEST(rule_corners, a_distance_that_becomes_0_by_chance_is_refused_whatever_the_target_begins_with)
{
    static const haul_field late_fields[] = { HAUL_SKIP(late, nothing) };
    static haul_type *late_type;
    const haul_field fields[] = { HAUL_RELATIVE(link4, distance, .target = &late_type,
                                                .base = 12) };
    link4 *l = (link4 *)(void *)memory_at(0);
    haul_type *type = made("link4", sizeof *l, fields, 1);
    late_type = made("late", sizeof(late), late_fields, 1);
    bench_start();
    CHECK_STATUS(haul_type_commit(late_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    l->distance = 64 - 12 - (int32_t)offsetof(link4, distance);
    CHECK_STATUS(plan_of(l, type), HAUL_OK);
    CHECK_EQ(place_of(memory_at(68)), place_of(l) + sizeof *l + 4);
    is_not_packed("root.distance");
    bench_end(type);
    haul_type_free(&late_type);
}

typedef struct stub {
    intptr_t distance, count;
    struct stub *next;
    intptr_t more;
} stub;

static haul_type *stub_type;

/* To the end of the first, where in the copy the second begins, with the distance itself. */
TEST(rule_corners, a_distance_to_no_elements_that_becomes_0_by_chance_is_null)
{
    const haul_field fields[] = { HAUL_RELATIVE(stub, distance, .element_bytes = 8,
                                                .count = HAUL_COUNT(stub, count)),
                                  HAUL_OBJECT(stub, next, &stub_type) };
    stub *first = (stub *)(void *)memory_at(0), *second = (stub *)(void *)memory_at(64);
    unsigned char *arena;
    intptr_t word;
    stub_type = made("stub", sizeof *first, fields, 2);
    bench_start();
    first->next = second;
    second->distance = (intptr_t)sizeof *first - 64;
    CHECK_STATUS(haul_type_commit(stub_type), HAUL_OK);
    CHECK_STATUS(plan_of(first, stub_type), HAUL_OK);
    CHECK_EQ(place_of(second), place_of(first) + sizeof *first);
    arena = packed();
    memcpy(&word, arena + place_of(second), sizeof word);
    CHECK_EQ(word, 0);
    free(arena);
    bench_end(stub_type);
}

typedef struct ahead {
    char *values;
    intptr_t count, more;
} ahead;

TEST(rule_corners, a_biased_pointer_to_no_elements_comes_back_as_it_was)
{
    static const haul_field fields[] = { HAUL_BYTES(ahead, values, HAUL_COUNT(ahead, count),
                                                    .base = -100) };
    haul_type *type = made("ahead", sizeof(ahead), fields, 1);
    haul_device *device;
    haul_shipment *shipment;
    ahead *a = (ahead *)(void *)memory_at(0);
    char *was;
    bench_start();
    was = a->values = (char *)a + 100;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, a, type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK(a->values == was);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_type_free(&type);
}

typedef struct wide {
    unsigned char bytes[64];
} wide;

typedef struct roll {
    wide *wide;
    intptr_t count, more[2];
} roll;

/* The heap has put what it is to lead to right behind its own object. */
TEST(rule_corners,
     a_tagged_pointer_to_no_elements_is_the_tag_alone_where_the_copy_has_no_room_for_it)
{
    static haul_type *wide_type;
    static const haul_field fields[] = { HAUL_OBJECTS(
        roll, wide, &wide_type, HAUL_COUNT(roll, count), .tag_bits = HAUL_HIGH_TAGS | 63) };
    roll *r = (roll *)(void *)(memory_at(128) - sizeof *r);
    haul_type *type = made("roll", sizeof *r, fields, 1);
    const uintptr_t word = (uintptr_t)memory_at(128) | HAUL_HIGH_TAGS | 5;
    unsigned char *arena;
    uintptr_t there;
    haul_device *device;
    haul_shipment *shipment;
    bench_start();
    wide_type =
        type_new(&(const haul_struct){ .name = "wide", .bytes = sizeof(wide), .alignment = 64 });
    r->wide = (wide *)word;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(plan_of(r, type), HAUL_OK);
    CHECK((place_of(r) + sizeof *r) % 64 != 0);
    arena = packed();
    memcpy(&there, arena + place_of(r), sizeof there);
    CHECK_EQ(there, HAUL_HIGH_TAGS | 5);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, r, type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ((uintptr_t)r->wide, word);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    free(arena);
    bench_end(type);
    haul_type_free(&wide_type);
}

/* ---- Choices and aliases. */

typedef struct masked {
    uint64_t kind;
    void *what;
    uintptr_t more;
} masked;

static haul_type *masked_type;

TEST(rule_corners, a_choice_by_an_unsigned_field_counts_its_highest_bit_G18)
{
    static const haul_case cases[] = { { INT64_MIN, &masked_type, 0 } };
    static const haul_field fields[] = { HAUL_ADDRESS(
        masked, what, .type_switch = HAUL_SWITCH(masked, kind, cases)) };
    masked *m = (masked *)(void *)memory_at(0);
    bench_start();
    masked_type = made("masked", sizeof *m, fields, 1);
    CHECK_STATUS(haul_type_commit(masked_type), HAUL_OK);
    m->kind = UINT64_C(1) << 63;
    m->what = m;
    CHECK_STATUS(plan_of(m, masked_type), HAUL_OK);
    bench_end(masked_type);
}

typedef struct pointing {
    uintptr_t pad[4];
    struct pointing *last; /* with a tag */
    uintptr_t more[3];
} pointing;

TEST(rule_corners, an_alias_with_a_tag_leads_to_a_described_byte_and_not_past_one)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_ADDRESS(pointing, last, .target = &type,
                                                      .ownership = HAUL_BORROWED, .tag_bits = 1) };
    pointing *p = (pointing *)(void *)memory_at(0);
    bench_start();
    type = made("pointing", sizeof *p, fields, 1);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    p->last = (pointing *)(void *)((char *)(p + 1) + 1);
    CHECK_STATUS(plan_of(p, type), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(bench.context)->path, "root.last");
    haul_context_free(&bench.context);
    p->last = p + 1;
    CHECK_STATUS(plan_of(p, type), HAUL_OK);
    free(packed());
    bench_end(type);
    type = NULL;
}

/* ---- Arms. */

typedef struct armed {
    int64_t kind, pad;
    char cache[16];
    char arm[16];
    int64_t last, more;
} armed;

TEST(rule_corners, overlapping_arms_that_are_bytes_do_not_hide_a_skipped_field)
{
    static const haul_field fields[] = {
        HAUL_SKIP(armed, cache),
        HAUL_RAW(armed, arm, .when = HAUL_EQUALS(armed, kind, 1), .else_raw = 1),
        HAUL_RAW(armed, arm, .when = HAUL_EQUALS(armed, kind, 2), .else_raw = 1)
    };
    armed *a = (armed *)(void *)memory_at(0);
    haul_type *type = made("armed", sizeof *a, fields, 3);
    bench_start();
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(plan_of(a, type), HAUL_OK);
    CHECK_EQ(place_of(&a->last) - place_of(a), offsetof(armed, last));
    bench_end(type);
}

typedef struct inner {
    struct inner *next;
    intptr_t value;
} inner;

typedef struct outer {
    union {
        char *text;
        inner in;
    } u;
    intptr_t kind;
    inner *same;
} outer;

TEST(rule_corners, a_checked_context_knows_that_any_arm_may_begin_an_object_G8)
{
    static haul_type *inner_type;
    static const haul_field inner_fields[] = { HAUL_OBJECT(inner, next, &inner_type) };
    const haul_field fields[] = { HAUL_STRING(outer, u.text, .when = HAUL_EQUALS(outer, kind, 1)),
                                  HAUL_EMBED(outer, u.in, &inner_type,
                                             .when = HAUL_EQUALS(outer, kind, 0)),
                                  HAUL_OBJECT(outer, same, &inner_type) };
    outer *o = (outer *)(void *)memory_at(0);
    haul_type *type = made("outer", sizeof *o, fields, 3);
    bench_start();
    inner_type = made("inner", sizeof(inner), inner_fields, 1);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    o->same = &o->u.in;
    bench.options.checked = 1;
    CHECK_STATUS(plan_of(o, type), HAUL_OK);
    haul_type_free(&inner_type);
    bench_end(type);
}

/* ---- The audit, where objects end early. */

typedef struct brief {
    intptr_t bytes;
    void *handle;
    struct brief *next;
    intptr_t far, further;
    struct brief *other;
} brief;

static int64_t brief_bytes(const haul_here *here)
{
    return ((const brief *)here->self)->bytes;
}

/* Where the first one's missing fields would be, the second one's handle lies, which leads to
 * itself. */
TEST(rule_corners, an_audit_takes_no_word_for_one_of_an_object_that_has_ended)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_RAW(brief, handle), HAUL_OBJECT(brief, next, &type),
                                         HAUL_OBJECT(brief, other, &type) };
    brief *first = (brief *)(void *)memory_at(0);
    brief *second = (brief *)(void *)((char *)first + offsetof(brief, far));
    haul_audit_info summary;
    haul_root root;
    bench_start();
    type = type_new(&(const haul_struct){ .name = "brief",
                                          .bytes = sizeof(brief),
                                          .fields = fields,
                                          .field_count = 3,
                                          .field_bytes = sizeof(haul_field),
                                          .size_fn = brief_bytes });
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    first->bytes = (intptr_t)offsetof(brief, far);
    first->next = second;
    second->bytes = sizeof *second;
    second->handle = second;
    second->far = 7;
    root.address = first;
    root.type = type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, &bench.context), HAUL_OK);
    CHECK_STATUS(haul_audit(bench.context, haul_from_roots(&root, 1), NULL, &summary), HAUL_OK);
    CHECK_EQ(summary.hidden_pointers, 0);
    bench_end(type);
    type = NULL;
}

static size_t block_of_brief(void *user, const void *address, const void **begin)
{
    *begin = user;
    return address == user ? offsetof(brief, far) : 0;
}

/* Of one alone the block is as long as the object says, and no more of it is read. */
TEST(rule_corners, an_audit_asks_for_no_more_of_a_block_than_its_object_says)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(brief, next, &type),
                                         HAUL_OBJECT(brief, other, &type) };
    intptr_t *alone = calloc(1, offsetof(brief, far));
    haul_audit_options options;
    haul_audit_info summary;
    haul_root root;
    bench_start();
    CHECK(alone != NULL);
    type = type_new(&(const haul_struct){ .name = "brief",
                                          .bytes = sizeof(brief),
                                          .fields = fields,
                                          .field_count = 2,
                                          .field_bytes = sizeof(haul_field),
                                          .size_fn = brief_bytes });
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    alone[0] = (intptr_t)offsetof(brief, far); /* its bytes */
    memset(&options, 0, sizeof options);
    options.block = block_of_brief;
    options.block_user = alone;
    root.address = alone;
    root.type = type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, &bench.context), HAUL_OK);
    CHECK_STATUS(haul_audit(bench.context, haul_from_roots(&root, 1), &options, &summary), HAUL_OK);
    CHECK_EQ(summary.beyond_block, 0);
    CHECK_EQ(summary.blocks, 1);
    free(alone);
    bench_end(type);
    type = NULL;
}

/* ---- What may be read. */

typedef struct named {
    char *name;
    intptr_t more;
} named;

static int is_in_bench(void *user, const void *address, size_t bytes)
{
    uintptr_t at = (uintptr_t)address - (uintptr_t)memory_at(0), all = *(const size_t *)user;
    return at <= all && bytes <= all - at;
}

TEST(rule_corners, a_string_may_end_where_what_is_readable_ends)
{
    static const haul_field fields[] = { HAUL_STRING(named, name) };
    named *n = (named *)(void *)memory_at(0);
    haul_type *type = made("named", sizeof *n, fields, 1);
    size_t readable = sizeof *n + 5;
    bench_start();
    n->name = memcpy(memory_at(sizeof *n), "name", 5);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    bench.options.readable = is_in_bench;
    bench.options.readable_user = &readable;
    CHECK_STATUS(plan_of(n, type), HAUL_OK);
    haul_context_free(&bench.context);
    haul_plan_free(&bench.plan);
    readable--;
    CHECK_STATUS(plan_of(n, type), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(bench.context)->path, "root.name");
    bench_end(type);
}

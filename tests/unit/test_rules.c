/* Optional members as real structures need them: each structure is laid out as in its library,
 * packed, checked in the copy, and unpacked (lab_pack, core_graphs.h). Data that contradicts its
 * description is refused with a path.
 *
 * Faults by number (docs/testing.md): G18 (a union's tag without a case); D13 (an integer that a
 * rule has read has changed); H1, H2 (memory runs out).
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "type/type.h"
#include "support/open.h"
#include "support/types.h"

/* ---- Conditions and unions. */

/* json-c: a string of up to 8 bytes lies where the pointer to a longer one does; its length is then
 * not negative. */
typedef struct words {
    struct words *next;
    int64_t length;
    union {
        char *far;
        char near[8];
    } u;
} words;

static haul_type *words_type;

static int64_t words_length(const haul_here *here)
{
    return -((const words *)here->self)->length;
}

static void words_start(void)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(words, next, &words_type),
        HAUL_BYTES(words, u.far, HAUL_COUNT_FN(words_length),
                   .when = HAUL_BETWEEN(words, length, INT64_MIN, -1), .else_raw = 1)
    };
    lab_start();
    words_type = TYPE_OPEN(words, fields);
    type_commit(words_type);
}

static words *words_make(const char *said)
{
    words *w = take(sizeof *w, 8);
    size_t bytes = strlen(said);
    points(&w->next);
    w->length = (int64_t)bytes;
    if (bytes <= sizeof w->u.near) {
        memcpy(w->u.near, said, bytes);
        return w;
    }
    w->length = -w->length;
    w->u.far = memcpy(take(bytes, 1), said, bytes);
    points(&w->u.far);
    return w;
}

TEST(rules, a_union_told_apart_by_the_sign_of_a_field_is_a_pointer_or_bytes)
{
    words *near, *far;
    words_start();
    near = words_make("short");
    far = words_make("longer than eight");
    near->next = far;
    far->next = near;
    CHECK_EQ(haul__type_walk(words_type)->kind, HAUL__WALK_WORDS);
    lab_pack(near, words_type, 1);
    CHECK_BYTES(the.arena + copied_word(&far->u.far), "longer than eight", 17);
    haul_type_free(&words_type);
    lab_end();
}

TEST(rules, a_condition_that_has_changed_since_the_plan_is_noticed_D13)
{
    words *near, *far;
    words_start();
    near = words_make("short");
    far = words_make("longer than eight");
    near->next = far;
    lab_pack(near, words_type, 1);
    far->length = 5;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.next.u.far");
    far->length = -17;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
    haul_type_free(&words_type);
    lab_end();
}

enum { NONE, CHILD, TEXT, NUMBER, PAIR };

typedef struct variant {
    int32_t kind, flags;
    union {
        struct variant *child;
        char *text;
        double number;
        struct {
            double *first, *end;
        } pair;
    } u;
    struct variant *shared;
} variant;

static haul_type *variant_type;

static void variant_start(void)
{
    const haul_field fields[] = {
        HAUL_OBJECT(variant, u.child, &variant_type, .when = HAUL_EQUALS(variant, kind, CHILD)),
        HAUL_STRING(variant, u.text, .when = HAUL_EQUALS(variant, kind, TEXT)),
        HAUL_RAW(variant, u.number, .when = HAUL_EQUALS(variant, kind, NUMBER)),
        HAUL_ARRAY(variant, u.pair.first, HAUL_UNTIL(variant, u.pair.end),
                   .when = HAUL_EQUALS(variant, kind, PAIR)),
        HAUL_OBJECT(variant, shared, &variant_type, .when = HAUL_NO_BIT(variant, flags, 4)),
    };
    lab_start();
    variant_type = TYPE_OPEN(variant, fields);
    type_commit(variant_type);
}

static void variant_end(void)
{
    haul_type_free(&variant_type);
    lab_end();
}

static variant *variant_make(int kind)
{
    variant *v = take(sizeof *v, 8);
    v->kind = kind;
    memset(&v->u, 0x77, sizeof v->u);
    hole(&v->u, sizeof v->u);
    points(&v->shared);
    return v;
}

static variant *child_make(variant *child)
{
    variant *v = variant_make(CHILD);
    points(&v->u.child);
    v->u.child = child;
    return v;
}

TEST(rules, arms_of_a_union_that_are_told_apart_by_a_kind_travel_as_what_they_are)
{
    variant *words_in, *number, *pair, *root;
    variant_start();
    words_in = variant_make(TEXT);
    points(&words_in->u.text);
    words_in->u.text = text("words");
    number = variant_make(NUMBER);
    number->u.number = 0.1;
    memset(the.what + lab_offset(&number->u.number), OF_DATA, sizeof(double));
    pair = variant_make(PAIR);
    points(&pair->u.pair.first);
    points(&pair->u.pair.end);
    pair->u.pair.first = take(3 * sizeof(double), 8);
    pair->u.pair.end = pair->u.pair.first + 3;
    root = child_make(words_in);
    root->shared = child_make(number);
    root->shared->shared = child_make(pair);
    pair->shared = variant_make(NONE);
    lab_pack(root, variant_type, 1);
    variant_end();
}

TEST(rules, a_flag_that_says_not_mine_makes_the_pointer_null_in_the_copy_and_leaves_the_hosts_alone)
{
    variant *root;
    variant_start();
    root = variant_make(NONE);
    root->flags = 4;
    root->shared = (variant *)(void *)16; /* stale */
    hole(&root->shared, sizeof root->shared);
    lab_pack(root, variant_type, 1);
    variant_end();
}

typedef struct sample {
    int32_t kind;
    char scratch[11], after;
    struct sample *next;
} sample;

/* Three samples in a list, of kinds 0, 1 and 2. */
static sample *samples_make(void)
{
    sample *all = take(3 * sizeof *all, 8);
    int i;
    for (i = 0; i < 3; i++) {
        all[i].kind = i;
        memcpy(all[i].scratch, "ten letters", sizeof all[i].scratch);
        all[i].after = 'a';
        all[i].next = i < 2 ? &all[i + 1] : NULL;
        points(&all[i].next);
    }
    return all;
}

TEST(rules, an_arm_within_one_that_does_not_hold_leaves_the_bytes_around_it_raw)
{
    static haul_type *sample_type;
    static const haul_field fields[] = {
        HAUL_RAW(sample, scratch, .when = HAUL_EQUALS(sample, kind, 1), .else_raw = 1),
        { .name = "within",
          .kind = HAUL_FIELD_SKIP,
          .offset = offsetof(sample, scratch) + 3,
          .bytes = 4,
          .when = HAUL_EQUALS(sample, kind, 2) },
        HAUL_OBJECT(sample, next, &sample_type),
    };
    sample *all;
    lab_start();
    sample_type = TYPE_OPEN(sample, fields);
    type_commit(sample_type);
    all = samples_make();
    hole(all[2].scratch + 3, 4);
    lab_pack(all, sample_type, 1);
    haul_type_free(&sample_type);
    lab_end();
}

TEST(rules, bytes_of_any_size_are_skipped_while_a_condition_holds)
{
    static haul_type *sample_type;
    static const haul_field fields[] = {
        HAUL_SKIP(sample, scratch, .when = HAUL_EQUALS(sample, kind, 1), .else_raw = 1),
        HAUL_OBJECT(sample, next, &sample_type),
    };
    sample *all;
    lab_start();
    sample_type = TYPE_OPEN(sample, fields);
    type_commit(sample_type);
    all = samples_make();
    hole(all[1].scratch, sizeof all[1].scratch);
    lab_pack(all, sample_type, 1);
    haul_type_free(&sample_type);
    lab_end();
}

static int64_t is_right_of_the_middle(const haul_here *here)
{
    const variant *v = here->self;
    return v->flags > 50 || v->kind == CHILD;
}

static int64_t is_left(const haul_here *here)
{
    return ((const variant *)here->self)->flags < 60;
}

/* Two conditions that are functions: what they say is seen in the objects only. */
TEST(rules, two_rows_that_hold_at_once_and_overlap_are_refused_with_both_paths)
{
    const haul_field fields[] = {
        HAUL_OBJECT(variant, u.child, &variant_type, .when = HAUL_WHEN_FN(is_right_of_the_middle)),
        HAUL_STRING(variant, u.text, .when = HAUL_WHEN_FN(is_left)),
        HAUL_OBJECT(variant, shared, &variant_type),
    };
    variant *left, *right;
    lab_start();
    variant_type = TYPE_OPEN(variant, fields);
    type_commit(variant_type);
    left = variant_make(NONE);
    /* no row has a say there */
    memset(the.what + lab_offset(&left->u.pair.end), OF_DATA, sizeof left->u.pair.end);
    left->u.text = text("left");
    points(&left->u.text);
    right = variant_make(NONE);
    memset(the.what + lab_offset(&right->u.pair.end), OF_DATA, sizeof right->u.pair.end);
    right->flags = 70;
    points(&right->u.child);
    right->u.child = NULL;
    left->shared = right;
    lab_pack(left, variant_type, 1);
    right->flags = 55;
    lab_refuse(left, variant_type, HAUL_ERROR_GRAPH, "root.shared.u.text", "both hold");
    lab_open_context(0);
    {
        haul_root root = { left, variant_type, 1 };
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                     HAUL_ERROR_GRAPH);
        CHECK_STR(haul_context_error(the.context)->other_path, "root.shared.u.child");
    }
    variant_end();
}

/* libyaml: the arms are structs, each with a begin/end pair or a counted string, and nodes stand in
 * an array. */
typedef struct span {
    int32_t *start, *end, *top;
} span;

typedef struct scalar {
    char *value;
    size_t length;
} scalar;

typedef struct yaml {
    int32_t type;
    char *tag;
    union {
        scalar scalar;
        span span;
    } data;
    double mark;
} yaml;

TEST(rules, embedded_structs_can_be_arms_and_their_objects_stand_in_arrays)
{
    static haul_type *span_type, *scalar_type;
    static const haul_field span_fields[] = { HAUL_ARRAY(span, start, HAUL_UNTIL(span, top)),
                                              HAUL_SKIP(span, end) };
    static const haul_field scalar_fields[] = { HAUL_ARRAY(scalar, value,
                                                           HAUL_COUNT(scalar, length)) };
    const haul_field fields[] = {
        HAUL_STRING(yaml, tag),
        HAUL_EMBED(yaml, data.scalar, &scalar_type, .when = HAUL_EQUALS(yaml, type, 1)),
        HAUL_EMBED(yaml, data.span, &span_type, .when = HAUL_BETWEEN(yaml, type, 2, 3)),
    };
    haul_type *type, *row;
    yaml *nodes;
    lab_start();
    span_type = TYPE_OPEN(span, span_fields);
    scalar_type = TYPE_OPEN(scalar, scalar_fields);
    type = TYPE_OPEN(yaml, fields);
    type_commit(type);
    CHECK_EQ(haul__type_walk(type)->kind, HAUL__WALK_RULED);
    nodes = take(4 * sizeof *nodes, 8);
    nodes[0].type = 1;
    nodes[0].data.scalar.value = memcpy(take(3, 1), "abc", 3);
    nodes[0].data.scalar.length = 3;
    points(&nodes[0].data.scalar.value);
    hole(&nodes[0].data.span.top, sizeof nodes[0].data.span.top);
    nodes[1].type = 3;
    nodes[1].data.span.start = take(5 * sizeof(int32_t), 4);
    nodes[1].data.span.end = nodes[1].data.span.start + 9;
    nodes[1].data.span.top = nodes[1].data.span.start + 5;
    points(&nodes[1].data.span.start);
    points(&nodes[1].data.span.top);
    hole(&nodes[1].data.span.end, sizeof nodes[1].data.span.end);
    hole(&nodes[2].data, sizeof nodes[2].data);
    nodes[3] = nodes[1];
    points(&nodes[3].data.span.start);
    points(&nodes[3].data.span.top);
    hole(&nodes[3].data.span.end, sizeof nodes[3].data.span.end);
    points(&nodes[0].tag), points(&nodes[1].tag), points(&nodes[2].tag), points(&nodes[3].tag);
    nodes[2].tag = text("tag");
    lab_pack(nodes, type, 4);
    CHECK_STATUS(haul_type_contiguous(4, type, &row), HAUL_OK);
    type_commit(row);
    lab_pack(nodes, row, 1);
    haul_type_free(&row);
    haul_type_free(&type);
    haul_type_free(&span_type);
    haul_type_free(&scalar_type);
    lab_end();
}

/* ---- Modes. */

typedef struct place {
    struct place *owned, *up;
    char *name, *cursor, *behind, *fixed;
    void *handle, *cache, *callback;
    int32_t n;
} place;

static haul_type *place_type;
static const char constant[] = "a constant table";
static const char unknown[] = "another one";
static const test_static statics[] = { { constant, sizeof constant, HAUL_STATIC_KEEP } };
static const test_translation translations[] = { { 0x1111, 0x7777 } };

static void place_start(void)
{
    const haul_field fields[] = {
        HAUL_OBJECT(place, owned, &place_type),
        HAUL_OBJECT(place, up, &place_type, .ownership = HAUL_BORROWED),
        HAUL_STRING(place, name),
        HAUL_ADDRESS(place, cursor, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(place, behind, .ownership = HAUL_BORROWED),
        HAUL_RAW(place, handle),
        HAUL_SKIP(place, cache),
        HAUL_ADDRESS(place, callback, .ownership = HAUL_EXTERNAL),
        HAUL_STRING(place, fixed, .ownership = HAUL_BORROWED, .maybe_static = 1),
    };
    lab_start();
    the.known.statics = statics;
    the.known.static_count = 1;
    the.known.translations = translations;
    the.known.translation_count = 1;
    place_type = TYPE_OPEN(place, fields);
    type_commit(place_type);
}

static void place_end(void)
{
    haul_type_free(&place_type);
    lab_end();
}

static place *place_make(void)
{
    place *p = take(sizeof *p, 8);
    points(&p->owned), points(&p->up), points(&p->name), points(&p->cursor), points(&p->behind);
    points(&p->fixed);
    hole(&p->cache, sizeof p->cache);
    kept(&p->callback);
    p->cache = p;
    p->handle = (void *)(uintptr_t)0x5555;
    p->callback = (void *)(uintptr_t)0x2222;
    return p;
}

TEST(rules, every_mode_sends_its_word_as_it_says)
{
    place *root, *owned;
    place_start();
    root = place_make();
    owned = place_make();
    root->owned = owned;
    owned->up = root;
    root->name = text("the name");
    root->cursor = root->name + 4;
    root->behind = root->name + 9;
    root->fixed = (char *)(uintptr_t)(constant + 3);
    kept(&root->fixed);
    owned->fixed = (char *)owned;
    owned->callback = (void *)(uintptr_t)0x1111;
    own_check(&owned->callback, sizeof owned->callback);
    lab_pack(root, place_type, 1);
    CHECK_EQ(copied_word(&owned->callback), 0x7777);
    CHECK_EQ(copied_word(&root->behind), offset_of(root->name) + 9);
    place_end();
}

TEST(rules, an_alias_to_what_nobody_owns_is_refused_and_follows_nothing)
{
    place *root, *nobody, *owned;
    place_start();
    root = place_make();
    owned = place_make();
    nobody = take_at(PAGE, sizeof *nobody);
    root->owned = owned;
    owned->up = nobody;
    lab_refuse(root, place_type, HAUL_ERROR_GRAPH, "root.owned.up",
               "nothing that another pointer owns");
    owned->up = (place *)(void *)8;
    lab_refuse(root, place_type, HAUL_ERROR_GRAPH, "root.owned.up",
               "nothing that another pointer owns");
    owned->up = root + 1;
    memset(the.what + lab_offset(nobody), OF_NOBODY, sizeof *nobody);
    lab_pack(root, place_type, 1);
    place_end();
}

TEST(rules, a_static_that_is_not_registered_is_refused_by_name)
{
    place *root;
    place_start();
    root = place_make();
    root->fixed = (char *)(uintptr_t)unknown;
    lab_refuse(root, place_type, HAUL_ERROR_GRAPH, "root.fixed",
               "nor into a registered static range");
    place_end();
}

TEST(rules, an_alias_that_moves_within_the_graph_makes_the_plan_stale_D13)
{
    place *root;
    place_start();
    root = place_make();
    root->name = text("the name");
    root->cursor = root->name;
    lab_pack(root, place_type, 1);
    root->cursor++;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    root->cursor--;
    root->callback = root;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.callback");
    place_end();
}

/* A constant that is one static object for all. */
typedef struct json {
    struct json *first, *second;
    int64_t kind;
} json;

static haul_type *json_type;

static void json_start(const test_static *range)
{
    static const haul_field fields[] = { HAUL_OBJECT(json, first, &json_type, .maybe_static = 1),
                                         HAUL_OBJECT(json, second, &json_type, .maybe_static = 1) };
    the.known.statics = range;
    the.known.static_count = 1;
    json_type = TYPE_OPEN(json, fields);
    type_commit(json_type);
}

static json *json_make(void)
{
    json *j = take(sizeof *j, 8);
    points(&j->first), points(&j->second);
    return j;
}

TEST(rules, a_singleton_is_kept_or_null_or_copied_once_as_its_range_says)
{
    test_static range;
    json *root, *single;
    lab_start();
    root = json_make();
    root->first = json_make();
    single = take(sizeof *single, 8);
    root->second = root->first->first = single;
    range.address = single;
    range.bytes = sizeof *single;
    range.policy = HAUL_STATIC_COPY;
    json_start(&range);
    points(&single->first), points(&single->second);
    lab_pack(root, json_type, 1);
    memset(the.what + lab_offset(single), OF_NOBODY, sizeof *single);
    range.policy = HAUL_STATIC_KEEP;
    kept(&root->second), kept(&root->first->first);
    lab_pack(root, json_type, 1);
    range.policy = HAUL_STATIC_NULL;
    own_check(&root->second, sizeof(void *)), own_check(&root->first->first, sizeof(void *));
    lab_pack(root, json_type, 1);
    CHECK_EQ(copied_word(&root->second), 0);
    haul_type_free(&json_type);
    lab_end();
}

/* ---- Bases. */

/* A list whose links point to links: the elements are around them (container_of); its head is a
 * link alone. */
typedef struct link {
    struct link *next;
} link;

typedef struct item {
    double value;
    link link;
    char *name;
} item;

static haul_type *link_type, *item_type;

static void link_start(void)
{
    const haul_field link_fields[] = { HAUL_ADDRESS(link, next, .target = &item_type,
                                                    .base = HAUL_CONTAINER_OF(item, link)) };
    static const haul_field item_fields[] = { HAUL_EMBED(item, link, &link_type),
                                              HAUL_STRING(item, name) };
    lab_start();
    link_type = TYPE_OPEN(link, link_fields);
    item_type = TYPE_OPEN(item, item_fields);
    type_commit(item_type);
}

static item *item_make(const char *name)
{
    item *i = take(sizeof *i, 8);
    points(&i->link.next), points(&i->name);
    i->name = text(name);
    return i;
}

TEST(rules, links_in_the_middle_of_their_elements_bring_the_elements_along)
{
    item *first, *second;
    link *head;
    link_start();
    /* what shares a granule with an element that holds one of a type with rules has a place */
    the.has_holes = 1;
    head = take(sizeof *head, 8);
    points(&head->next);
    first = item_make("first");
    second = item_make("second");
    head->next = &first->link;
    first->link.next = &second->link;
    second->link.next = &first->link;
    lab_pack(head, link_type, 1);
    haul_type_free(&item_type);
    haul_type_free(&link_type);
    lab_end();
}

/* Arrays that begin at 1, or at lo: the pointer is in front of the block or behind it. */
typedef struct biased {
    double *from_one;
    double *from_lo;
    int32_t n, lo;
    struct biased *next;
} biased;

static int64_t lo_bytes(const haul_here *here)
{
    return (int64_t)sizeof(double) * ((const biased *)here->self)->lo;
}

static haul_type *biased_type;

static void biased_start(void)
{
    const haul_field fields[] = {
        HAUL_ARRAY(biased, from_one, HAUL_COUNT(biased, n), .base = sizeof(double)),
        HAUL_ARRAY(biased, from_lo, HAUL_COUNT(biased, n), .base_fn = lo_bytes),
        HAUL_OBJECT(biased, next, &biased_type),
    };
    lab_start();
    biased_type = TYPE_OPEN(biased, fields);
    type_commit(biased_type);
}

static double *biased_array(double **slot, int n, int lo)
{
    double *values = take((size_t)n * sizeof *values, 8);
    fill(values, (size_t)n * sizeof *values);
    *slot = (double *)((uintptr_t)values - (uintptr_t)(intptr_t)lo * sizeof *values);
    own_check(slot, sizeof *slot);
    return values;
}

static biased *biased_make(int n, int lo)
{
    biased *b = take(sizeof *b, 8);
    b->n = n;
    b->lo = lo;
    points(&b->next);
    biased_array(&b->from_one, n, 1);
    biased_array(&b->from_lo, n, lo);
    return b;
}

/* Both ways: the host adds the base, or the device does, by the list of what is off the grid. */
static void check_biased(const biased *b)
{
    unsigned char *based;
    uint64_t *bitmap;
    const double *values =
        (const double *)((uintptr_t)b->from_lo + (uintptr_t)(intptr_t)b->lo * sizeof(double));
    uintptr_t word = copied_word(&b->from_lo);
    CHECK_EQ(word + (uintptr_t)(intptr_t)b->lo * sizeof(double), offset_of(values));
    CHECK(word >= GRANULE && word <= the.bytes);
    CHECK_EQ(copied_word(&b->from_one) + sizeof(double), offset_of(b->from_one + 1));
    pack_once(&based, &bitmap, 0x55, LAB_BASE);
    CHECK_EQ(word_at(based + offset_of(&b->from_lo)), word + LAB_BASE);
    free(based);
    free(bitmap);
}

TEST(rules, arrays_that_do_not_begin_at_0_keep_their_bias_and_the_arena_has_room_for_it)
{
    biased *root;
    biased_start();
    root = biased_make(5, 7);
    root->next = biased_make(3, -1000);
    root->next->next = biased_make(40, 3000);
    lab_pack(root, biased_type, 1);
    check_biased(root);
    check_biased(root->next);
    check_biased(root->next->next);
    haul_type_free(&biased_type);
    lab_end();
}

TEST(rules, a_pointer_too_far_out_of_its_block_is_refused)
{
    biased *root, *far;
    biased_start();
    root = biased_make(5, 1);
    far = biased_make(5, 1 << 18);
    root->next = far;
    lab_refuse(root, biased_type, HAUL_ERROR_LIMIT, "root.next.from_lo", "outside of its target");
    haul_type_free(&biased_type);
    lab_end();
}

/* sds: the pointer leads behind a header whose kind is in its last byte. */
typedef struct holder {
    char *text;
} holder;

static int64_t header_bytes(const haul_here *here)
{
    return ((const unsigned char *)here->target)[-1] == 1 ? -3 : -9;
}

static int64_t header_and_text(const haul_here *here)
{
    const unsigned char *block = here->target;
    const unsigned char *text = *(const unsigned char *const *)here->place;
    return (int64_t)(text - block) + block[0] + 1;
}

TEST(rules, a_length_in_a_header_before_the_pointer_is_read_there)
{
    const haul_field fields[] = { HAUL_BYTES(holder, text, HAUL_COUNT_FN(header_and_text),
                                             .base_fn = header_bytes) };
    haul_type *type;
    holder *h;
    char *block;
    lab_start();
    type = TYPE_OPEN(holder, fields);
    type_commit(type);
    h = take(2 * sizeof *h, 8);
    points(&h[0].text), points(&h[1].text);
    block = memcpy(take(8, 1), "\4\4\1abcd", 8);
    h[0].text = block + 3;
    block = memcpy(take(12, 1), "\2.......\2xy", 12);
    h[1].text = block + 9;
    lab_pack(h, type, 2);
    haul_type_free(&type);
    lab_end();
}

/* ---- Choice of types. */

typedef struct object {
    struct object *next;
    uint8_t tag;
} object;

typedef struct table {
    object head;
    object *metatable;
    double *array;
    int32_t n;
} table;

typedef struct closure {
    object head;
    void *payload;
    int32_t payload_kind;
    uint8_t has_name;
    char *name;
} closure;

static haul_type *table_type, *closure_type, *number_type;
static const haul_case object_cases[] = { { 5, &table_type, 0 }, { 200, &closure_type, 0 } };
#define ANY_OBJECT .type_switch = HAUL_SWITCH_TARGET(object, tag, object_cases)

static void object_start(void)
{
    static const haul_case payloads[] = { { 0, &table_type, 0 }, { 1, &number_type, 0 } };
    static const haul_field table_fields[] = { HAUL_ADDRESS(table, head.next, ANY_OBJECT),
                                               HAUL_ADDRESS(table, metatable, ANY_OBJECT),
                                               HAUL_ARRAY(table, array, HAUL_COUNT(table, n)) };
    const haul_field closure_fields[] = {
        HAUL_ADDRESS(closure, head.next, ANY_OBJECT),
        HAUL_ADDRESS(closure, payload, .type_switch = HAUL_SWITCH(closure, payload_kind, payloads)),
        HAUL_STRING(closure, name, .when = HAUL_EQUALS(closure, has_name, 255)),
    };
    lab_start();
    table_type = TYPE_OPEN(table, table_fields);
    closure_type = TYPE_OPEN(closure, closure_fields);
    CHECK_STATUS(haul_type_bytes(type_context(), "number", sizeof(double), &number_type), HAUL_OK);
    type_commit(table_type);
}

static void object_end(void)
{
    haul_type_free(&table_type);
    haul_type_free(&closure_type);
    haul_type_free(&number_type);
    lab_end();
}

static table *table_make(int32_t n)
{
    table *t = take(sizeof *t, 8);
    t->head.tag = 5;
    t->n = n;
    points(&t->head.next), points(&t->metatable), points(&t->array);
    if (n)
        t->array = take((size_t)n * sizeof *t->array, 8);
    return t;
}

static closure *closure_make(int32_t kind, void *payload)
{
    closure *c = take(sizeof *c, 8);
    c->head.tag = 200; /* more than a signed byte holds */
    c->payload_kind = kind;
    c->payload = payload;
    c->has_name = kind ? 255 : 254;
    if (kind) {
        points(&c->name);
        c->name = text("closure");
    } else {
        hole(&c->name, sizeof c->name);
    }
    points(&c->head.next), points(&c->payload);
    return c;
}

TEST(rules, subtypes_with_a_common_prefix_are_told_by_a_tag_in_the_target)
{
    table *root, *other;
    closure *c, *d;
    object_start();
    root = table_make(3);
    other = table_make(0);
    c = closure_make(0, other);
    d = closure_make(1, take(sizeof(double), 8));
    root->head.next = &c->head;
    c->head.next = &d->head;
    d->head.next = &root->head;
    root->metatable = &other->head;
    lab_pack(root, table_type, 1);
    object_end();
}

TEST(rules, a_tag_that_no_case_is_for_is_refused_G18)
{
    table *root;
    closure *c;
    object_start();
    root = table_make(0);
    c = closure_make(7, root);
    root->head.next = &c->head;
    lab_refuse(root, table_type, HAUL_ERROR_GRAPH, "root.head.next.payload",
               "its `.type_switch` has no case for 7");
    c->payload_kind = 0;
    c->head.tag = 9;
    lab_refuse(root, table_type, HAUL_ERROR_GRAPH, "root.head.next",
               "its `.type_switch` has no case for 9");
    root->head.next = (object *)(void *)16;
    lab_refuse(root, table_type, HAUL_ERROR_GRAPH, "root.head.next",
               "it points outside any process's address range, to 0x10");
    object_end();
}

TEST(rules, a_tag_that_has_changed_since_the_plan_is_noticed_D13)
{
    table *root;
    closure *c;
    object_start();
    root = table_make(0);
    c = closure_make(0, root);
    root->head.next = &c->head;
    lab_pack(root, table_type, 1);
    c->head.tag = 5;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.head.next");
    object_end();
}

/* A step leads to the next one by a distance; the tag there says that it is one. */
typedef struct step {
    int64_t tag, away;
} step;

typedef struct stair {
    step *first;
    int64_t unset;
} stair;

/* One new target is memory that nobody can read, the other one data that nobody has written. */
TEST(rules, a_distance_that_has_changed_is_told_without_a_look_at_its_new_target)
{
    static haul_type *step_type, *stair_type;
    static const haul_case steps[] = { { 7, &step_type, 0 } };
    static const haul_field step_fields[] = { HAUL_RELATIVE(
        step, away, .type_switch = HAUL_SWITCH_TARGET(step, tag, steps)) };
    static const haul_field stair_fields[] = { HAUL_OBJECTS(stair, first, &step_type,
                                                            HAUL_FIXED(2)) };
    char *closed = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    const int64_t good = sizeof(step) - offsetof(step, away);
    step all[2] = { { 7, good }, { 7, 0 } };
    stair *root = malloc(sizeof *root);
    unsigned char arena[256];
    const void *targets[2];
    int i;
    CHECK(closed != MAP_FAILED && root);
    root->first = all;
    targets[0] = closed;
    targets[1] = &root->unset;
    step_type = TYPE_OPEN(step, step_fields);
    stair_type = TYPE_OPEN(stair, stair_fields);
    type_commit(stair_type);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(root, stair_type), NULL, &plan),
                 HAUL_OK);
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_OK);
        all[0].away = (int64_t)((intptr_t)targets[i] - (intptr_t)&all[0].away);
        CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_ERROR_STALE);
        CHECK_STR(haul_context_error(context)->path, "root.first[0].away");
        all[0].away = good;
    }
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&stair_type);
    haul_type_free(&step_type);
    munmap(closed, PAGE);
    free(root);
}

/* A vtable: the first word of an object is the address of a table of functions, and that says the
 * class. */
typedef struct shape {
    int64_t (*const *class)(void);
    struct shape *other;
    double size[1];
} shape;

typedef struct box {
    shape shape;
    double more[3];
} box;

static int64_t one(void)
{
    return 1;
}

static int64_t (*const class_table[2])(void) = { one, one };

static int64_t class_of(const haul_here *here)
{
    return ((const shape *)here->target)->class - class_table;
}

TEST(rules, the_address_of_a_vtable_says_the_class_and_travels_as_it_is)
{
    static haul_type *shape_type, *box_type;
    static const haul_case classes[] = { { 0, &shape_type, 0 }, { 1, &box_type, 0 } };
    const haul_field shape_fields[] = {
        HAUL_ADDRESS(shape, class, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(shape, other, .type_switch = HAUL_SWITCH_FN(class_of, classes))
    };
    static const haul_field box_fields[] = { HAUL_EMBED(box, shape, &shape_type) };
    shape *s;
    box *b;
    lab_start();
    shape_type = TYPE_OPEN(shape, shape_fields);
    box_type = TYPE_OPEN(box, box_fields);
    type_commit(shape_type);
    the.has_holes = 1;
    s = take(sizeof *s, 8);
    b = take(sizeof *b, 8);
    s->class = class_table;
    b->shape.class = class_table + 1;
    s->other = &b->shape;
    b->shape.other = s;
    kept(&s->class), kept(&b->shape.class);
    points(&s->other), points(&b->shape.other);
    lab_pack(s, shape_type, 1);
    haul_type_free(&shape_type);
    haul_type_free(&box_type);
    lab_end();
}

/* ---- Sizes. */

typedef struct pair {
    struct pair *next;
    uint32_t hash;
    char key[1];
} pair;

TEST(rules, objects_that_end_in_a_string_are_as_long_as_it_is)
{
    static haul_type *pair_type;
    static const haul_field fields[] = { HAUL_OBJECT(pair, next, &pair_type),
                                         HAUL_TAIL(pair, key, HAUL_TERMINATED) };
    static const char long_key[] = "a key that is longer than the struct is";
    pair *first, *second;
    lab_start();
    pair_type = TYPE_OPEN(pair, fields);
    type_commit(pair_type);
    first = take(offsetof(pair, key) + 1, 8); /* shorter than its sizeof */
    second = take_at_page_end((offsetof(pair, key) + sizeof long_key + 7) / 8 * 8);
    memset(the.what + lab_offset(second) + offsetof(pair, key) + sizeof long_key, OF_NOBODY,
           (8 - (offsetof(pair, key) + sizeof long_key) % 8) % 8);
    memcpy(second->key, long_key, sizeof long_key);
    first->next = second;
    second->next = first;
    points(&first->next), points(&second->next);
    lab_pack(first, pair_type, 1);
    CHECK_STR((char *)the.arena + offset_of(second) + offsetof(pair, key), long_key);
    second->key[sizeof long_key - 1] = 'x';
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    haul_type_free(&pair_type);
    lab_end();
}

TEST(rules, an_object_may_be_nothing_but_a_string)
{
    typedef struct word {
        char text[1];
    } word;
    typedef struct phrase {
        word *first, *second;
    } phrase;
    static haul_type *word_type, *phrase_type;
    static const haul_field word_fields[] = { HAUL_TAIL(word, text, HAUL_TERMINATED) };
    static const haul_field phrase_fields[] = { HAUL_OBJECT(phrase, first, &word_type),
                                                HAUL_OBJECT(phrase, second, &word_type) };
    phrase *p;
    lab_start();
    word_type = TYPE_OPEN(word, word_fields);
    phrase_type = TYPE_OPEN(phrase, phrase_fields);
    type_commit(phrase_type);
    p = take(sizeof *p, 8);
    points(&p->first), points(&p->second);
    p->first = (word *)text("first");
    p->second = (word *)text("");
    lab_pack(p, phrase_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *p + sizeof "first" + sizeof "");
    haul_type_free(&phrase_type);
    haul_type_free(&word_type);
    lab_end();
}

TEST(rules, a_long_string_that_ends_an_object_may_be_pointed_to_by_others_too)
{
    enum { LONG = 9000 };
    typedef struct user {
        char *text, *inside;
        struct pair *pair, *again;
    } user;
    static haul_type *pair_type, *user_type;
    static const haul_field fields[] = { HAUL_OBJECT(pair, next, &pair_type),
                                         HAUL_TAIL(pair, key, HAUL_TERMINATED) };
    static const haul_field user_fields[] = { HAUL_STRING(user, text), HAUL_STRING(user, inside),
                                              HAUL_OBJECT(user, pair, &pair_type),
                                              HAUL_OBJECT(user, again, &pair_type) };
    pair *p;
    user *u;
    lab_start();
    pair_type = TYPE_OPEN(pair, fields);
    user_type = TYPE_OPEN(user, user_fields);
    type_commit(user_type);
    u = take(sizeof *u, 8);
    points(&u->text), points(&u->inside), points(&u->pair), points(&u->again);
    p = take(offsetof(pair, key) + LONG, 8);
    memset(p->key, 'k', LONG - 1);
    points(&p->next);
    p->next = p;
    u->text = p->key;
    u->inside = p->key + 100;
    u->pair = u->again = p;
    lab_pack(u, user_type, 1);
    haul_type_free(&user_type);
    haul_type_free(&pair_type);
    lab_end();
}

/* SQLite: a list that ends in its elements, which have pointers; and expressions that are allocated
 * in part. */
typedef struct list {
    int32_t n, room;
    struct element {
        struct expr *expr;
        char *name;
    } a[1];
} list;

typedef struct expr {
    uint32_t flags;
    int32_t op;
    struct expr *left, *right;
    list *list;
    int64_t more[2];
} expr;

enum { REDUCED = 1 };
typedef struct element element;

static int64_t expr_bytes(const haul_here *here)
{
    const expr *e = here->self;
    return e->flags & REDUCED ? (int64_t)offsetof(expr, left) : (int64_t)sizeof *e;
}

static haul_type *expr_type, *list_type, *element_type;

static void expr_start(haul_function *size)
{
    static const haul_field expr_fields[] = { HAUL_OBJECT(expr, left, &expr_type),
                                              HAUL_OBJECT(expr, right, &expr_type),
                                              HAUL_OBJECT(expr, list, &list_type) };
    static const haul_field element_fields[] = { HAUL_OBJECT(element, expr, &expr_type),
                                                 HAUL_STRING(element, name) };
    static const haul_field list_fields[] = { HAUL_TAIL(list, a, HAUL_COUNT(list, n),
                                                        .target = &element_type) };
    lab_start();
    expr_type = TYPE_OPEN(expr, expr_fields, .size_fn = size);
    element_type = TYPE_OPEN(element, element_fields);
    list_type = TYPE_OPEN(list, list_fields);
    type_commit(expr_type);
}

static void expr_end(void)
{
    haul_type_free(&expr_type);
    haul_type_free(&list_type);
    haul_type_free(&element_type);
    lab_end();
}

static expr *expr_make(uint32_t flags)
{
    expr *e = take(flags & REDUCED ? offsetof(expr, left) : sizeof *e, 8);
    e->flags = flags;
    if (!(flags & REDUCED))
        points(&e->left), points(&e->right), points(&e->list);
    return e;
}

static list *list_make(int32_t n)
{
    list *l = take(offsetof(list, a) + (size_t)n * sizeof l->a[0], 8);
    int32_t i;
    l->n = n;
    for (i = 0; i < n; i++)
        points(&l->a[i].expr), points(&l->a[i].name);
    return l;
}

TEST(rules,
     objects_shorter_than_their_struct_and_lists_that_end_in_their_elements_are_copied_to_the_byte)
{
    expr *root;
    expr_start(expr_bytes);
    root = expr_make(0);
    root->left = expr_make(REDUCED);
    root->right = expr_make(0);
    root->list = list_make(3);
    root->right->list = list_make(0);
    root->list->a[2].expr = root->left;
    root->list->a[1].expr = expr_make(REDUCED);
    root->list->a[0].name = text("name");
    root->right->right = root;
    lab_pack(root, expr_type, 1);
    expr_end();
}

static int64_t no_bytes(const haul_here *here)
{
    return ((const expr *)here->self)->flags & REDUCED ? -1 : (int64_t)sizeof(expr);
}

static int64_t half_a_pointer(const haul_here *here)
{
    return ((const expr *)here->self)->flags & REDUCED ? (int64_t)offsetof(expr, left) + 3
                                                       : (int64_t)sizeof(expr);
}

static void refuse_size(haul_function *size, const char *path, const char *words_said)
{
    expr *root;
    expr_start(size);
    root = expr_make(0);
    root->left = expr_make(0);
    root->left->flags = REDUCED;
    lab_refuse(root, expr_type, HAUL_ERROR_GRAPH, path, words_said);
    expr_end();
}

TEST(rules, sizes_that_are_none_or_end_within_a_pointer_are_refused)
{
    refuse_size(no_bytes, "root.left", "the callback of its size answered -1");
    refuse_size(half_a_pointer, "root.left.left", "ends within this field");
}

/* A short object has no field `kind` that could say what its first pointer is. */
typedef struct brief {
    int32_t flags, pad;
    struct brief *next;
    int32_t kind, more;
} brief;

static int64_t brief_bytes(const haul_here *here)
{
    const brief *b = here->self;
    return b->flags == 1   ? (int64_t)offsetof(brief, kind)
           : b->flags == 2 ? (int64_t)offsetof(brief, next)
                           : (int64_t)sizeof *b;
}

TEST(rules, an_object_that_ends_before_what_its_rows_read_is_refused)
{
    static haul_type *brief_type;
    const haul_field fields[] = { HAUL_OBJECT(brief, next, &brief_type,
                                              .when = HAUL_EQUALS(brief, kind, 1)) };
    static const haul_case cases[] = { { 1, &brief_type, 0 } };
    const haul_field chosen_fields[] = { HAUL_ADDRESS(
        brief, next, .type_switch = HAUL_SWITCH(brief, kind, cases)) };
    brief *b;
    lab_start();
    brief_type = TYPE_OPEN(brief, fields, .size_fn = brief_bytes);
    type_commit(brief_type);
    b = take(sizeof *b, 8);
    b->kind = 1;
    points(&b->next);
    b->next = take(offsetof(brief, next), 8);
    b->next->flags = 2;
    lab_pack(b, brief_type, 1);
    b->next->flags = 1;
    lab_refuse(b, brief_type, HAUL_ERROR_GRAPH, "root.next.next",
               "ends before an integer that this field reads");
    haul_type_free(&brief_type);
    brief_type = TYPE_OPEN(brief, chosen_fields, .size_fn = brief_bytes);
    type_commit(brief_type);
    lab_refuse(b, brief_type, HAUL_ERROR_GRAPH, "root.next.next",
               "ends before an integer that this field reads");
    haul_type_free(&brief_type);
    lab_end();
}

/* A pair whose end stands first, in the struct itself or in one that is embedded. */
typedef struct ends_first {
    char *end, *begin;
} ends_first;

typedef struct cut_pair {
    int32_t bytes, kind;
    ends_first text;
    struct cut_pair *next;
} cut_pair;

static haul_type *cut_pair_type, *ends_first_type;

static int64_t cut_pair_bytes(const haul_here *here)
{
    return ((const cut_pair *)here->self)->bytes;
}

static void cut_pair_start(const haul_field *fields, size_t count)
{
    static const haul_field inner[] = { HAUL_ARRAY(ends_first, begin,
                                                   HAUL_UNTIL(ends_first, end)) };
    lab_start();
    ends_first_type = TYPE_OPEN(ends_first, inner);
    cut_pair_type = type_new(&(const haul_struct){ .name = "cut_pair",
                                                   .bytes = sizeof(cut_pair),
                                                   .fields = fields,
                                                   .field_count = count,
                                                   .field_bytes = sizeof(haul_field),
                                                   .size_fn = cut_pair_bytes });
    type_commit(cut_pair_type);
}

static void cut_pair_end(void)
{
    haul_type_free(&cut_pair_type);
    haul_type_free(&ends_first_type);
    lab_end();
}

/* A whole one, and one that ends after `bytes` bytes. */
static cut_pair *cut_pairs_make(size_t bytes)
{
    cut_pair *whole = take(sizeof *whole, 8), *cut = take(bytes, 8);
    whole->bytes = (int32_t)sizeof *whole;
    whole->kind = cut->kind = 1;
    whole->text.begin = text("words");
    whole->text.end = whole->text.begin + sizeof "words";
    whole->next = cut;
    points(&whole->text.begin), points(&whole->text.end), points(&whole->next);
    cut->bytes = (int32_t)bytes;
    memset(&cut->text, 0x5a, bytes - offsetof(cut_pair, text));
    return whole;
}

static void pack_cut_pair(const haul_field *fields, size_t count, size_t bytes)
{
    cut_pair_start(fields, count);
    lab_pack(cut_pairs_make(bytes), cut_pair_type, 1);
    cut_pair_end();
}

TEST(rules, an_object_that_ends_between_the_fields_of_a_pair_has_bytes_in_place_of_the_end)
{
    const haul_field fields[] = { HAUL_ARRAY(cut_pair, text.begin, HAUL_UNTIL(cut_pair, text.end)),
                                  HAUL_OBJECT(cut_pair, next, &cut_pair_type) };
    pack_cut_pair(fields, 2, offsetof(cut_pair, text.begin));
    pack_cut_pair(fields, 2, offsetof(cut_pair, text.begin) - 3);
}

TEST(rules, so_has_one_that_ends_between_the_fields_of_an_embedded_pair)
{
    const haul_field fields[] = { HAUL_EMBED(cut_pair, text, &ends_first_type),
                                  HAUL_OBJECT(cut_pair, next, &cut_pair_type) };
    pack_cut_pair(fields, 2, offsetof(cut_pair, text.begin));
    pack_cut_pair(fields, 2, offsetof(cut_pair, text.begin) - 3);
}

TEST(rules, so_has_one_whose_pair_has_a_rule)
{
    const haul_field by_kind[] = { HAUL_ARRAY(cut_pair, text.begin, HAUL_UNTIL(cut_pair, text.end),
                                              .when = HAUL_EQUALS(cut_pair, kind, 1),
                                              .else_raw = 1),
                                   HAUL_OBJECT(cut_pair, next, &cut_pair_type) };
    const haul_field by_parent[] = {
        HAUL_ARRAY(cut_pair, text.begin, HAUL_UNTIL(cut_pair, text.end), .ancestor = HAUL_PARENT),
        HAUL_OBJECT(cut_pair, next, &cut_pair_type)
    };
    pack_cut_pair(by_kind, 2, offsetof(cut_pair, text.begin));
    pack_cut_pair(by_parent, 2, offsetof(cut_pair, text.begin));
    pack_cut_pair(by_parent, 2, offsetof(cut_pair, text.begin) - 3);
}

TEST(rules, a_pair_with_a_rule_whose_begin_alone_is_null_is_refused)
{
    const haul_field fields[] = { HAUL_ARRAY(cut_pair, text.begin, HAUL_UNTIL(cut_pair, text.end),
                                             .when = HAUL_EQUALS(cut_pair, kind, 1)),
                                  HAUL_OBJECT(cut_pair, next, &cut_pair_type) };
    cut_pair *pair;
    cut_pair_start(fields, 2);
    pair = take(sizeof *pair, 8);
    pair->bytes = (int32_t)sizeof *pair;
    pair->kind = 1;
    points(&pair->text.begin), points(&pair->text.end), points(&pair->next);
    lab_pack(pair, cut_pair_type, 1);
    pair->text.end = text("words");
    lab_refuse(pair, cut_pair_type, HAUL_ERROR_GRAPH, "root.text.begin",
               "end lies before its begin");
    cut_pair_end();
}

TEST(rules, where_such_a_pair_is_null_when_it_does_not_hold_its_end_is_so_too)
{
    const haul_field fields[] = { HAUL_ARRAY(cut_pair, text.begin, HAUL_UNTIL(cut_pair, text.end),
                                             .when = HAUL_EQUALS(cut_pair, kind, 1)),
                                  HAUL_OBJECT(cut_pair, next, &cut_pair_type) };
    cut_pair *whole;
    cut_pair_start(fields, 2);
    whole = cut_pairs_make(offsetof(cut_pair, text.begin));
    hole(&whole->next->text.end, sizeof(void *));
    lab_pack(whole, cut_pair_type, 1);
    cut_pair_end();
}

/* The count stands in the embedded struct, behind its pointer. */
typedef struct counted_text {
    char *text;
    int64_t length;
} counted_text;

typedef struct cut_count {
    int64_t bytes;
    counted_text text;
    struct cut_count *next;
} cut_count;

static int64_t cut_count_bytes(const haul_here *here)
{
    return ((const cut_count *)here->self)->bytes;
}

TEST(rules, an_object_that_ends_before_a_count_of_an_embedded_struct_is_refused)
{
    static haul_type *cut_count_type, *counted_text_type;
    const haul_field inner[] = { HAUL_ARRAY(counted_text, text, HAUL_COUNT(counted_text, length)) };
    const haul_field fields[] = { HAUL_EMBED(cut_count, text, &counted_text_type),
                                  HAUL_OBJECT(cut_count, next, &cut_count_type) };
    cut_count *whole, *cut;
    lab_start();
    counted_text_type = TYPE_OPEN(counted_text, inner);
    cut_count_type = TYPE_OPEN(cut_count, fields, .size_fn = cut_count_bytes);
    type_commit(cut_count_type);
    whole = take(sizeof *whole, 8);
    whole->bytes = (int64_t)sizeof *whole;
    whole->text.text = text("words");
    whole->text.length = sizeof "words";
    points(&whole->text.text), points(&whole->next);
    whole->next = cut = take(offsetof(cut_count, text.length), 8);
    cut->bytes = (int64_t)offsetof(cut_count, text.length);
    points(&cut->text.text);
    lab_refuse(whole, cut_count_type, HAUL_ERROR_GRAPH, "root.next.text.text",
               "ends before an integer that this field reads");
    haul_type_free(&cut_count_type);
    haul_type_free(&counted_text_type);
    lab_end();
}

/* Text in place of a pointer, in an object that ends with it. */
static int64_t words_bytes(const haul_here *here)
{
    const words *w = here->self;
    return (int64_t)offsetof(words, u) + (w->length < 0 ? (int64_t)sizeof w->u : w->length);
}

static int64_t words_are_far(const haul_here *here)
{
    return ((const words *)here->self)->length < 0;
}

static void pack_cut_words(const haul_field *far_words)
{
    const haul_field fields[] = { HAUL_OBJECT(words, next, &words_type), *far_words };
    words *cut, *far;
    lab_start();
    words_type = TYPE_OPEN(words, fields, .size_fn = words_bytes);
    type_commit(words_type);
    far = words_make("longer than eight");
    cut = take(offsetof(words, u) + 3, 8);
    points(&cut->next);
    cut->length = 3;
    memcpy(cut->u.near, "abc", 3);
    far->next = cut;
    lab_pack(far, words_type, 1);
    haul_type_free(&words_type);
    lab_end();
}

TEST(rules, bytes_that_stand_in_for_a_pointer_travel_when_the_object_ends_within_them_too)
{
    static const haul_field by_field =
        HAUL_BYTES(words, u.far, HAUL_COUNT_FN(words_length),
                   .when = HAUL_BETWEEN(words, length, INT64_MIN, -1), .else_raw = 1);
    static const haul_field by_function =
        HAUL_BYTES(words, u.far, HAUL_COUNT_FN(words_length), .when = HAUL_WHEN_FN(words_are_far),
                   .else_raw = 1);
    pack_cut_words(&by_field);
    pack_cut_words(&by_function);
}

TEST(rules, a_tail_of_a_negative_number_of_elements_is_refused)
{
    expr *root;
    expr_start(expr_bytes);
    root = expr_make(0);
    root->list = list_make(1);
    root->list->n = -1;
    lab_refuse(root, expr_type, HAUL_ERROR_GRAPH, "root.list.a", "count -1");
    expr_end();
}

TEST(rules, two_roots_in_a_row_of_a_type_without_a_fixed_size_are_refused)
{
    haul_root root;
    expr_start(expr_bytes);
    root.address = expr_make(0);
    root.type = expr_type;
    root.count = 2;
    refuse_variant(&root, 1, FLAT, HAUL_ERROR_GRAPH, "root", "one at a time");
    expr_end();
}

/* ---- Tags and integers. */

typedef struct rb {
    uintptr_t parent_and_colour;
    struct rb *left, *right;
} rb;

static haul_type *rb_type;

static void rb_start(void)
{
    const haul_field fields[] = {
        HAUL_ADDRESS(rb, parent_and_colour, .target = &rb_type, .tag_bits = 1),
        HAUL_OBJECT(rb, left, &rb_type),
        HAUL_OBJECT(rb, right, &rb_type),
    };
    lab_start();
    rb_type = TYPE_OPEN(rb, fields);
    type_commit(rb_type);
}

static rb *rb_make(rb *parent, int colour)
{
    rb *node = take(sizeof *node, sizeof(void *));
    node->parent_and_colour = (uintptr_t)parent | (uintptr_t)colour;
    if (parent || !colour)
        points(&node->parent_and_colour);
    else
        kept(&node->parent_and_colour);
    points(&node->left), points(&node->right);
    return node;
}

TEST(rules, a_colour_in_the_lowest_bit_of_a_parent_pointer_survives_and_so_does_that_of_the_root)
{
    rb *root;
    rb_start();
    root = rb_make(NULL, 1);
    root->left = rb_make(root, 1);
    root->right = rb_make(root, 0);
    root->left->left = rb_make(root->left, 1);
    lab_pack(root, rb_type, 1);
    CHECK_EQ(copied_word(&root->left->parent_and_colour), offset_of(root) + 1);
    CHECK_EQ(copied_word(&root->right->parent_and_colour), offset_of(root));
    haul_type_free(&rb_type);
    lab_end();
}

/* More tag bits than two pointers' alignment leaves free. */
typedef struct wide {
    uintptr_t tagged;
    char pad[64 - sizeof(uintptr_t)];
} wide;

TEST(rules, tags_as_wide_as_the_targets_declared_alignment_survive)
{
    static haul_type *wide_type;
    const haul_field fields[] = { HAUL_ADDRESS(wide, tagged, .target = &wide_type,
                                               .tag_bits = 63) };
    wide *first, *second;
    unsigned char *based;
    uint64_t *bitmap;
    lab_start();
    wide_type = TYPE_OPEN(wide, fields, .alignment = 64);
    type_commit(wide_type);
    take(8, 8);
    memset(the.what, OF_NOBODY, 8);
    first = take(sizeof *first, 64);
    second = take(sizeof *second, 64);
    first->tagged = (uintptr_t)second | 45;
    second->tagged = (uintptr_t)first | 5;
    own_check(&first->tagged, sizeof first->tagged);
    points(&second->tagged);
    lab_pack(first, wide_type, 1);
    CHECK_EQ(copied_word(&first->tagged), offset_of(second) + 45);
    CHECK_EQ(copied_word(&second->tagged), offset_of(first) + 5);
    pack_once(&based, &bitmap, 0, LAB_BASE);
    CHECK_EQ(word_at(based + offset_of(&first->tagged)), LAB_BASE + offset_of(second) + 45);
    free(based);
    free(bitmap);
    haul_type_free(&wide_type);
    lab_end();
}

/* GLib's lists hold pointers or small numbers, json-c's slots -1 and -2. */
typedef struct glist {
    struct glist *data, *next;
} glist;

static haul_type *glist_type;

static glist *glist_make(uintptr_t data, glist *next)
{
    glist *l = take(sizeof *l, sizeof(void *));
    l->data = (glist *)data;
    l->next = next;
    points(&l->next);
    if (data && (data < 65536 || data >= (uintptr_t)-2))
        kept(&l->data);
    else
        points(&l->data);
    return l;
}

TEST(rules, integers_and_magic_constants_in_pointer_fields_travel_as_they_are)
{
    const haul_field fields[] = {
        HAUL_OBJECT(glist, data, &glist_type, .integers_below = 65536,
                    .integers_from = (uintptr_t)-2),
        HAUL_OBJECT(glist, next, &glist_type),
    };
    glist *list_of_all;
    lab_start();
    glist_type = TYPE_OPEN(glist, fields);
    type_commit(glist_type);
    list_of_all = glist_make(0, NULL);
    list_of_all = glist_make(1, list_of_all);
    list_of_all = glist_make(65535, list_of_all);
    list_of_all = glist_make((uintptr_t)-1, list_of_all);
    list_of_all = glist_make((uintptr_t)-2, list_of_all);
    list_of_all = glist_make((uintptr_t)list_of_all, list_of_all);
    lab_pack(list_of_all, glist_type, 1);
    list_of_all->next->data = (glist *)(uintptr_t)7;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.data.data");
    haul_type_free(&glist_type);
    lab_end();
}

/* ---- Distances. */

typedef struct offset_node {
    int32_t next, text;
    int64_t far;
} offset_node;

static haul_type *offset_type;

static int32_t narrow_distance(const void *from, const void *to)
{
    return (int32_t)((intptr_t)to - (intptr_t)from);
}

TEST(rules, distances_of_4_and_8_bytes_lead_to_the_copies_of_what_they_led_to)
{
    static const haul_field fields[] = {
        HAUL_RELATIVE(offset_node, next, .target = &offset_type),
        HAUL_RELATIVE(offset_node, text, .element_bytes = 1, .count = HAUL_TERMINATED),
        HAUL_RELATIVE(offset_node, far, .target = &offset_type),
    };
    offset_node *a, *b;
    char *name;
    int32_t word;
    int64_t wide_word;
    lab_start();
    offset_type = TYPE_OPEN(offset_node, fields);
    type_commit(offset_type);
    a = take(sizeof *a, 8);
    b = take_at(5 * PAGE, sizeof *b);
    name = text("name");
    a->next = narrow_distance(&a->next, b);
    b->far = (intptr_t)a - (intptr_t)&b->far;
    b->text = narrow_distance(&b->text, name);
    own_check(&a->next, sizeof *a);
    own_check(&b->next, sizeof *b);
    lab_pack(a, offset_type, 1);
    memcpy(&word, the.arena + offset_of(&a->next), sizeof word);
    CHECK_EQ((size_t)word + offset_of(&a->next), offset_of(b));
    memcpy(&word, the.arena + offset_of(&b->text), sizeof word);
    CHECK_EQ((size_t)word + offset_of(&b->text), offset_of(name));
    memcpy(&word, the.arena + offset_of(&b->next), sizeof word);
    CHECK_EQ(word, 0);
    memcpy(&wide_word, the.arena + offset_of(&b->far), sizeof wide_word);
    CHECK_EQ((size_t)wide_word + offset_of(&b->far), offset_of(a));
    haul_type_free(&offset_type);
    lab_end();
}

/* ---- Packed. */

#pragma pack(push, 1)
typedef struct crooked {
    char kind;
    struct crooked *next;
    void *thing;
} crooked;
#pragma pack(pop)

TEST(rules, rules_hold_for_pointers_off_the_grid_too)
{
    static haul_type *crooked_type;
    const haul_field fields[] = {
        { .name = "next",
          .kind = HAUL_FIELD_POINTER,
          .offset = offsetof(crooked, next),
          .bytes = sizeof(void *),
          .target = &crooked_type,
          .packed = 1,
          .when = HAUL_EQUALS(crooked, kind, 1) },
        { .name = "thing",
          .kind = HAUL_FIELD_POINTER,
          .offset = offsetof(crooked, thing),
          .bytes = sizeof(void *),
          .element_bytes = 1,
          .packed = 1,
          .ownership = HAUL_BORROWED },
    };
    crooked *c;
    lab_start();
    crooked_type = TYPE_OPEN(crooked, fields);
    type_commit(crooked_type);
    the.has_own_checks = 1;
    c = take(3 * sizeof *c, 1);
    c[0].kind = 1;
    c[0].next = &c[2];
    c[1].thing = &c[0];
    c[2].thing = &c[1].kind;
    points(&c[0].next), points(&c[0].thing), points(&c[1].thing), points(&c[2].thing);
    hole(&c[1].next, sizeof(void *)), hole(&c[2].next, sizeof(void *));
    lab_pack(c, crooked_type, 3);
    haul_type_free(&crooked_type);
    lab_end();
}

/* ---- Every allocation fails, once and from then on (H1, H2): types with rules are made, planned
 * by and packed. */

typedef struct sink {
    struct sink *owned, *alias, *base, *tagged;
    void *kept;
    void *chosen;
    int32_t kind, distance;
    int32_t tail_count;
    char tail[4];
} sink;

typedef struct sink_work {
    haul_context *context;
    haul_type *type;
    haul_plan *plan;
    sink *root;
    unsigned char *arena;
} sink_work;

static haul_type *sink_type;
static const haul_case sink_cases[] = { { 0, &sink_type, 0 } };
static const haul_field sink_fields[] = {
    HAUL_OBJECT(sink, owned, &sink_type, .when = HAUL_EQUALS(sink, kind, 0)),
    HAUL_OBJECT(sink, alias, &sink_type, .ownership = HAUL_BORROWED),
    HAUL_ADDRESS(sink, base, .target = &sink_type, .base = 32),
    HAUL_OBJECT(sink, tagged, &sink_type, .tag_bits = 1),
    HAUL_ADDRESS(sink, kept, .ownership = HAUL_EXTERNAL),
    HAUL_ADDRESS(sink, chosen, .type_switch = HAUL_SWITCH_TARGET(sink, kind, sink_cases)),
    HAUL_RELATIVE(sink, distance, .element_bytes = 4),
    HAUL_TAIL(sink, tail, HAUL_COUNT(sink, tail_count)),
};

static void sink_prepare(void *user, fault_plan *plan)
{
    sink_work *w = user;
    CHECK_STATUS(fault_open_context(plan, NULL, &w->context), HAUL_OK);
}

static void sink_undo(void *user)
{
    sink_work *w = user;
    haul_plan_free(&w->plan);
    haul_type_free(&w->type);
}

static haul_status sink_run(void *user)
{
    sink_work *w = user;
    haul_root root;
    haul_status status = type_make_in(w->context, "sink", sizeof(sink), sink_fields,
                                      COUNT_OF(sink_fields), &w->type);
    sink_type = w->type;
    if (status == HAUL_OK)
        status = haul_type_commit(w->type);
    root.address = w->root;
    root.type = w->type;
    root.count = 1;
    if (status == HAUL_OK)
        status = haul_plan_create(w->context, haul_from_roots(&root, 1), NULL, &w->plan);
    if (status == HAUL_OK)
        status = haul_plan_pack(w->plan, w->arena, 4 * PAGE, LAB_BASE, NULL);
    if (status != HAUL_OK)
        sink_undo(w);
    return status;
}

static void sink_finish(void *user)
{
    haul_context_free(&((sink_work *)user)->context);
}

static sink *sink_make(void)
{
    return take(sizeof(sink) + 5, 8);
}

TEST(rules, an_object_that_many_pointers_lead_to_counts_once_against_the_limit)
{
    haul_root root;
    rb *at, *first;
    int i;
    rb_start();
    first = rb_make(NULL, 1);
    for (i = 0, at = first; i < 30; i++, at = at->left) {
        at->left = rb_make(at, i % 2);
        at->right = at->left;
    }
    root.address = first;
    root.type = rb_type;
    root.count = 1;
    the.options.max_objects = 31;
    lab_open_context(FLAT);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_OK);
    lab_drop();
    the.options.max_objects = 30;
    lab_open_context(FLAT);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_ERROR_LIMIT);
    haul_type_free(&rb_type);
    lab_end();
}

TEST(rules, every_allocation_for_types_with_rules_can_fail_H1_H2)
{
    sink_work w;
    fault_operation operation = { .prepare = sink_prepare,
                                  .run = sink_run,
                                  .undo = sink_undo,
                                  .finish = sink_finish,
                                  .user = &w,
                                  .modes = FAULT_MEMORY };
    int i;
    lab_start();
    memset(&w, 0, sizeof w);
    w.root = sink_make();
    for (i = 0; i < 3; i++) {
        sink *made = sink_make();
        made->owned = w.root->owned;
        w.root->owned = made;
        made->alias = w.root;
        made->base = (sink *)((uintptr_t)w.root - 32);
        made->tagged = (sink *)((uintptr_t)w.root | 1);
        made->kept = made;
        made->chosen = w.root;
        made->distance = 4; /* to the next field */
        made->tail_count = i;
    }
    w.arena = lab_arena(4 * PAGE, 16, 0);
    CHECK(fault_everywhere(&operation) > 30);
    free(w.arena);
    lab_end();
}

/* ---- Objects that end where a row does not let them. */

typedef struct sheep {
    struct sheep *next;
    int64_t value;
} sheep;

typedef struct herd {
    int64_t bytes;
    sheep rows[100];
} herd;

static int64_t herd_bytes(const haul_here *here)
{
    return ((const herd *)here->self)->bytes;
}

TEST(rules, an_object_ends_before_or_behind_a_large_embedded_array_and_not_within_it_G18)
{
    static haul_type *sheep_type, *herd_type;
    static const haul_field sheep_fields[] = { HAUL_OBJECT(sheep, next, &sheep_type) };
    static const haul_field herd_fields[] = { HAUL_EMBED(herd, rows, &sheep_type) };
    herd *h;
    size_t i;
    lab_start();
    sheep_type = TYPE_OPEN(sheep, sheep_fields);
    herd_type = TYPE_OPEN(herd, herd_fields, .size_fn = herd_bytes);
    type_commit(herd_type);
    h = take(sizeof *h, 8);
    for (i = 0; i < 100; i++)
        points(&h->rows[i].next);
    h->bytes = offsetof(herd, rows) + 3 * sizeof(sheep);
    lab_refuse(h, herd_type, HAUL_ERROR_GRAPH, "root", "bytes, and ends within rows");
    h->bytes = sizeof *h - 8;
    lab_refuse(h, herd_type, HAUL_ERROR_GRAPH, "root", "bytes, and ends within rows");
    h->bytes = sizeof *h;
    h->rows[99].next = &h->rows[3];
    lab_pack(h, herd_type, 1);
    haul_type_free(&herd_type);
    haul_type_free(&sheep_type);
    lab_end();
}

typedef struct stub {
    int32_t bytes, kind;
    char *text;
} stub;

static int64_t stub_bytes(const haul_here *here)
{
    return ((const stub *)here->self)->bytes;
}

TEST(rules, an_object_that_ends_within_a_pointer_whose_condition_holds_is_refused_G18)
{
    static haul_type *stub_type;
    static const haul_field fields[] = { HAUL_STRING(stub, text,
                                                     .when = HAUL_EQUALS(stub, kind, 1)) };
    stub *s;
    lab_start();
    stub_type = TYPE_OPEN(stub, fields, .size_fn = stub_bytes);
    type_commit(stub_type);
    s = take(sizeof *s, 8);
    points(&s->text);
    s->kind = 1;
    s->bytes = (int32_t)(offsetof(stub, text) + WORD / 2);
    lab_refuse(s, stub_type, HAUL_ERROR_GRAPH, "root.text", "ends within this field");
    s->bytes = sizeof *s;
    s->text = text("whole");
    lab_pack(s, stub_type, 1);
    haul_type_free(&stub_type);
    lab_end();
}

/* A pair ends where the first of another array stands, and both rows hold. */
typedef struct both_ends {
    int32_t kind, pad;
    int32_t *begin, *end;
} both_ends;

TEST(rules, the_end_of_a_pair_may_be_a_pointer_of_its_own_under_the_same_condition)
{
    static haul_type *both_type;
    static const haul_field fields[] = {
        HAUL_ARRAY(both_ends, begin, HAUL_UNTIL(both_ends, end),
                   .when = HAUL_EQUALS(both_ends, kind, 1)),
        HAUL_ARRAY(both_ends, end, HAUL_FIXED(2), .when = HAUL_EQUALS(both_ends, kind, 1)),
    };
    both_ends *b;
    lab_start();
    both_type = TYPE_OPEN(both_ends, fields);
    type_commit(both_type);
    b = take(sizeof *b, 8);
    points(&b->begin), points(&b->end);
    b->kind = 1;
    b->begin = take(5 * sizeof(int32_t), 8);
    fill(b->begin, 5 * sizeof(int32_t));
    b->end = b->begin + 3;
    lab_pack(b, both_type, 1);
    haul_type_free(&both_type);
    lab_end();
}

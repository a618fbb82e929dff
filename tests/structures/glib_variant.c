/* GLib's GVariant. A bit of its state says whether a value is bytes, which may lie in the middle of
 * a block that others share, or has children. Its type is a static table for what is simple, else
 * made, shared and counted.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

typedef void *gpointer;

static void free_nothing(void *data)
{
    (void)data;
}

enum {
    STATE_LOCKED = 1,
    STATE_SERIALISED = 2,
    STATE_TRUSTED = 4,
    BASIC = 0,
    ARRAY_INFO = 'a',
    TUPLE_INFO = 'r'
};
enum { TUPLES = 300, BLOCK = 64 };

typedef struct GBytes {
    const unsigned char *data;
    size_t size;
    int ref_count;
    void (*free_func)(void *);
    void *user_data;
} GBytes;

typedef struct GVariantTypeInfo {
    size_t fixed_size;
    unsigned char alignment, container_class;
} GVariantTypeInfo;

typedef struct ContainerInfo {
    GVariantTypeInfo info;
    char *type_string;
    int ref_count;
} ContainerInfo;

typedef struct ArrayInfo {
    ContainerInfo container;
    GVariantTypeInfo *element;
} ArrayInfo;

typedef struct GVariantMemberInfo {
    GVariantTypeInfo *type_info;
    size_t i, a;
    int8_t b, c;
    uint8_t ending_type;
} GVariantMemberInfo;

typedef struct TupleInfo {
    ContainerInfo container;
    GVariantMemberInfo *members;
    size_t n_members;
} TupleInfo;

typedef struct GVariant {
    GVariantTypeInfo *type_info;
    size_t size;
    union {
        struct {
            GBytes *bytes;
            const unsigned char *data; /* in them */
        } serialised;
        struct {
            struct GVariant **children;
            size_t n_children;
        } tree;
    } contents;
    int state, ref_count;
    size_t depth;
} GVariant;

static const GVariantTypeInfo basic_infos[] = { { 1, 0, BASIC }, { 4, 3, BASIC } };
static const test_static variant_statics[] = { { basic_infos, sizeof basic_infos,
                                                 HAUL_STATIC_KEEP } };
static haul_type *bytes_type, *info_type, *container_info_type, *array_info_type, *tuple_info_type,
    *member_type, *variant_type;

static const haul_case infos[] = { { BASIC, &info_type, 0 },
                                   { ARRAY_INFO, &array_info_type, 0 },
                                   { TUPLE_INFO, &tuple_info_type, 0 } };
#define ANY_INFO                                                                                   \
    .maybe_static = 1, .type_switch = HAUL_SWITCH_TARGET(GVariantTypeInfo, container_class, infos)

static void variant_open(void)
{
#define IS_TREE .when = HAUL_NO_BIT(GVariant, state, STATE_SERIALISED)
    static const haul_field bytes_fields[] = {
        HAUL_ARRAY(GBytes, data, HAUL_COUNT(GBytes, size)),
        HAUL_ADDRESS(GBytes, free_func, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(GBytes, user_data, .ownership = HAUL_BORROWED)
    };
    static const haul_field container_fields[] = { HAUL_STRING(ContainerInfo, type_string) };
    static const haul_field array_fields[] = { HAUL_EMBED(ArrayInfo, container,
                                                          &container_info_type),
                                               HAUL_ADDRESS(ArrayInfo, element, ANY_INFO) };
    static const haul_field member_fields[] = { HAUL_ADDRESS(GVariantMemberInfo, type_info,
                                                             ANY_INFO) };
    static const haul_field tuple_fields[] = {
        HAUL_EMBED(TupleInfo, container, &container_info_type),
        HAUL_OBJECTS(TupleInfo, members, &member_type, HAUL_COUNT(TupleInfo, n_members))
    };
    static const haul_field fields[] = {
        HAUL_ADDRESS(GVariant, type_info, ANY_INFO),
        HAUL_ADDRESS(GVariant, contents.serialised.bytes, .target = &bytes_type,
                     .when = HAUL_ANY_BIT(GVariant, state, STATE_SERIALISED)),
        HAUL_ADDRESS(GVariant, contents.serialised.data,
                     .when = HAUL_ANY_BIT(GVariant, state, STATE_SERIALISED),
                     .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(GVariant, contents.tree.children, .levels = 2, .target = &variant_type,
                     .count = HAUL_COUNT(GVariant, contents.tree.n_children), IS_TREE),
        HAUL_RAW(GVariant, contents.tree.n_children, IS_TREE),
    };
    the.known.statics = variant_statics;
    the.known.static_count = 1;
    bytes_type = OPEN(GBytes, bytes_fields);
    info_type = type_open("GVariantTypeInfo", sizeof(GVariantTypeInfo), NULL, 0);
    container_info_type = OPEN(ContainerInfo, container_fields);
    array_info_type = OPEN(ArrayInfo, array_fields);
    member_type = OPEN(GVariantMemberInfo, member_fields);
    tuple_info_type = OPEN(TupleInfo, tuple_fields);
    variant_type = OPEN(GVariant, fields);
    type_close(variant_type);
}

static void container_start(ContainerInfo *c, int class, const char *text)
{
    c->info.container_class = (unsigned char)class;
    c->info.alignment = 3;
    c->ref_count = 1;
    c->type_string = put_text(text);
}

static TupleInfo *tuple_info_make(void)
{
    TupleInfo *t = put_elements(1, sizeof *t);
    ArrayInfo *a = put_elements(1, sizeof *a);
    container_start(&t->container, TUPLE_INFO, "(iai)");
    container_start(&a->container, ARRAY_INFO, "ai");
    a->element = (GVariantTypeInfo *)(uintptr_t)&basic_infos[1];
    t->n_members = 2;
    t->members = put_elements(2, sizeof *t->members);
    t->members[0].type_info = a->element;
    t->members[1].type_info = &a->container.info;
    return t;
}

static GVariant *variant_make(GVariantTypeInfo *info, int state)
{
    GVariant *v = put_elements(1, sizeof *v);
    v->type_info = info;
    v->state = state;
    v->ref_count = 1;
    return v;
}

static GVariant *bytes_variant_make(GVariantTypeInfo *info, GBytes *b, size_t at, size_t size)
{
    GVariant *v = variant_make(info, STATE_SERIALISED | STATE_TRUSTED);
    size_t i;
    v->contents.serialised.bytes = b;
    v->contents.serialised.data = b->data + at;
    v->size = size;
    b->ref_count++;
    for (i = 0; i < size; i++)
        the.told += b->data[at + i];
    return v;
}

static GVariant *tree_make(GVariantTypeInfo *info, size_t count)
{
    GVariant *v = variant_make(info, STATE_LOCKED);
    v->contents.tree.n_children = count;
    v->contents.tree.children = put_elements(count, sizeof *v->contents.tree.children);
    return v;
}

/* An array of tuples of a number and an array of numbers. */
static GVariant *variants_make(void)
{
    TupleInfo *info = tuple_info_make();
    ArrayInfo *all = put_elements(1, sizeof *all);
    GVariant *root;
    size_t i, k;
    container_start(&all->container, ARRAY_INFO, "a(iai)");
    all->element = &info->container.info;
    root = tree_make(&all->container.info, TUPLES);
    for (i = 0; i < TUPLES; i++) {
        GVariant *t = root->contents.tree.children[i] = tree_make(&info->container.info, 2);
        GBytes *b = put_elements(1, sizeof *b);
        unsigned char *data = put_elements(BLOCK, 1);
        for (k = 0; k < BLOCK; k++)
            data[k] = (unsigned char)chance(0, 9);
        b->data = b->user_data = data;
        b->size = BLOCK;
        b->free_func = free_nothing;
        t->contents.tree.children[0] = bytes_variant_make(info->members[0].type_info, b, 4, 4);
        t->contents.tree.children[1] =
            bytes_variant_make(info->members[1].type_info, b, 16, BLOCK - 16);
    }
    the.told += TUPLES * 8;
    return root;
}

/* The value's bytes, if its type is what the tuple says. */
static int64_t bytes_see(GVariant *v, const GVariantTypeInfo *info)
{
    int64_t sum = 0;
    size_t i;
    if (v->type_info != info || !(v->state & STATE_SERIALISED))
        return -1000000;
    for (i = 0; i < v->size; i++)
        sum += v->contents.serialised.data[i];
    ((unsigned char *)(uintptr_t)v->contents.serialised.data)[0] ^= 1;
    v->ref_count++;
    return sum;
}

static int64_t variant_walk(void *root, size_t count)
{
    GVariant *v = root;
    int64_t sum = 0;
    size_t i, k;
    (void)count;
    for (i = 0; i < v->contents.tree.n_children; i++) {
        GVariant *t = v->contents.tree.children[i];
        TupleInfo *info = (TupleInfo *)(void *)t->type_info;
        if (&info->container.info != ((ArrayInfo *)(void *)v->type_info)->element)
            return -1;
        for (k = 0; k < info->n_members; k++)
            sum += bytes_see(t->contents.tree.children[k], info->members[k].type_info);
        sum += (int64_t)info->members[0].type_info->fixed_size * 2;
    }
    return sum;
}

TEST(structures_glib,
     GVariant_of_bytes_or_children_as_a_bit_of_its_state_says_with_types_static_or_made)
{
    site_start(115);
    variant_open();
    travel_and_sum(variants_make(), variant_type, 1, variant_walk);
    SITE_END(&variant_type, &bytes_type, &info_type, &container_info_type, &array_info_type,
             &tuple_info_type, &member_type);
}

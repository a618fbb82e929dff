/* Types described by tables of fields: five structures are shipped, changed on the device and
 * brought back; wrong tables are refused; tables of other versions are read.
 */
#include <string.h>

#include "haul.h"
#include "haul/describe.h"
#include "mesh.h"
#include "structures/libstdcxx_list.h"
#include "support/check.h"

static struct {
    haul_context *context;
    haul_device *device;
    haul_shipment *s;
} the;

static void start(void)
{
    memset(&the, 0, sizeof the);
    CHECK_STATUS(haul_context_create(NULL, &the.context), HAUL_OK);
    CHECK_STATUS(haul_host_open(the.context, NULL, &the.device), HAUL_OK);
}

static void finish(void)
{
    haul_shipment_free(&the.s);
    haul_device_close(&the.device);
    haul_context_free(&the.context);
}

/* Ships the object, runs `work` on its copy, and brings the results back. */
static void send(void *object, const haul_type *type, void (*work)(void *copy))
{
    CHECK_STATUS(haul_ship(the.device, object, type, 1, NULL, &the.s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(the.device, work, haul_device_pointer(the.s, object)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the.s), HAUL_OK);
}

/* ---- A mesh. */

static const haul_struct mesh_structs[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields) };

static void scale_meshes(void *copy)
{
    mesh *m;
    int i;
    for (m = copy; m; m = m->next) {
        for (i = 0; i < m->nv * m->dim; i++)
            m->xyz[i] *= 2;
        m->name[0] = 'X';
    }
}

TEST(describe, a_mesh_travels_and_comes_back)
{
    double points[6] = { 1, 2, 3, 4, 5, 6 }, more[2] = { 7, 8 };
    char first_name[] = "first", last_name[] = "last";
    mesh last = { 1, 2, more, NULL, last_name }, first = { 2, 3, points, &last, first_name };
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, mesh_structs), HAUL_OK);
    send(&first, mesh_type, scale_meshes);
    CHECK(points[0] == 2 && points[5] == 12 && more[1] == 16);
    CHECK_STR(first_name, "Xirst");
    CHECK_STR(last_name, "Xast");
    HAUL_FORGET(mesh_structs);
    CHECK(!mesh_type);
    finish();
}

/* ---- cJSON's node: what it owns depends on a bit. */

typedef struct node {
    struct node *next, *prev, *child;
    int type;
    char *valuestring;
    double valuedouble;
    char *string;
} node;

enum { IS_REFERENCE = 256, STRING_IS_CONST = 512 };

#define OWN .when = HAUL_NO_BIT(node, type, IS_REFERENCE)
#define SHARED .when = HAUL_ANY_BIT(node, type, IS_REFERENCE), .ownership = HAUL_BORROWED
#define OWN_NAME .when = HAUL_NO_BIT(node, type, STRING_IS_CONST)
#define CONST_NAME .when = HAUL_ANY_BIT(node, type, STRING_IS_CONST), .ownership = HAUL_BORROWED

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_OBJECT(node, prev, &node_type),
    HAUL_OBJECT(node, child, &node_type, OWN),
    HAUL_OBJECT(node, child, &node_type, SHARED),
    HAUL_STRING(node, valuestring, OWN),
    HAUL_STRING(node, valuestring, SHARED, .maybe_static = 1),
    HAUL_STRING(node, string, OWN_NAME),
    HAUL_STRING(node, string, CONST_NAME, .maybe_static = 1),
};
static const haul_struct node_structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

static void double_values(void *copy)
{
    const node *list = copy;
    node *at;
    for (at = list->child; at; at = at->next)
        if (at->valuestring && at->string)
            at->valuedouble = 2 * at->valuedouble + (at->string[0] == at->valuestring[0]);
}

TEST(describe, a_json_node_owns_or_borrows_by_its_bits)
{
    char text[] = "text";
    node list, owner, borrower;
    memset(&list, 0, sizeof list);
    memset(&owner, 0, sizeof owner);
    memset(&borrower, 0, sizeof borrower);
    list.child = &owner;
    owner.next = &borrower;
    borrower.prev = &owner;
    owner.valuestring = owner.string = text;
    owner.valuedouble = 3;
    borrower.type = IS_REFERENCE | STRING_IS_CONST;
    borrower.valuestring = text;
    borrower.string = text + 1;
    borrower.valuedouble = 5;
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, node_structs), HAUL_OK);
    send(&list, node_type, double_values);
    CHECK(owner.valuedouble == 7 && borrower.valuedouble == 10);
    HAUL_FORGET(node_structs);
    finish();
}

/* ---- CHOLMOD's sparse matrix: the types of its arrays are told by numbers. */

typedef struct sparse {
    size_t ncol, nzmax;
    void *p, *i, *nz, *x;
    int itype, xtype, dtype, packed;
} sparse;

typedef struct complex_number {
    double re, im;
} complex_number;

enum { INDEX_INT = 0, INDEX_LONG = 2, PATTERN = 0, REAL = 1, COMPLEX = 2 };

static haul_type *int_type, *long_type, *double_type, *complex_type, *sparse_type;
static const haul_case index_cases[] = { { INDEX_INT, &int_type, 0 },
                                         { INDEX_LONG, &long_type, 0 } };
static const haul_case number_cases[] = { { REAL, &double_type, 0 },
                                          { COMPLEX, &complex_type, 0 } };
HAUL_FUNCTION(number_kind, sparse, self->xtype + 4 * self->dtype)

#define INDICES .type_switch = HAUL_SWITCH(sparse, itype, index_cases)
#define NUMBERS .type_switch = HAUL_SWITCH_FN(number_kind, number_cases)

static const haul_field sparse_fields[] = {
    HAUL_ADDRESS(sparse, p, .count = HAUL_COUNT_PLUS(sparse, ncol, 1), INDICES),
    HAUL_ADDRESS(sparse, i, .count = HAUL_COUNT(sparse, nzmax), INDICES),
    HAUL_ADDRESS(sparse, nz, .count = HAUL_COUNT(sparse, ncol), INDICES,
                 .when = HAUL_EQUALS(sparse, packed, 0)),
    HAUL_ADDRESS(sparse, x, .count = HAUL_COUNT(sparse, nzmax), NUMBERS,
                 .when = HAUL_DIFFERS(sparse, xtype, PATTERN)),
};
static const haul_struct sparse_structs[] = {
    HAUL_PLAIN(int, &int_type),
    HAUL_PLAIN(long, &long_type),
    HAUL_PLAIN(double, &double_type),
    HAUL_PLAIN(complex_number, &complex_type),
    HAUL_STRUCT(sparse, &sparse_type, sparse_fields),
};

static void negate(void *copy)
{
    const sparse *a = copy;
    const int *p = a->p;
    complex_number *x = a->x;
    int i;
    for (i = p[0]; i < p[a->ncol]; i++)
        x[i].im = -x[i].im;
}

TEST(describe, a_sparse_matrix_tells_the_types_of_its_arrays)
{
    int p[3] = { 0, 1, 3 }, rows[3] = { 0, 0, 1 };
    complex_number x[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
    sparse a;
    memset(&a, 0, sizeof a);
    a.ncol = 2;
    a.nzmax = 3;
    a.p = p;
    a.i = rows;
    a.x = x;
    a.packed = 1;
    a.nz = &a; /* never looked at */
    a.xtype = COMPLEX;
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, sparse_structs), HAUL_OK);
    send(&a, sparse_type, negate);
    CHECK(x[0].im == -2 && x[1].im == -4 && x[2].im == -6 && x[2].re == 5);
    HAUL_FORGET(sparse_structs);
    finish();
}

/* ---- A tagged union, and a pointer with a mark in its low bits. */

typedef struct value {
    int kind;
    unsigned length;
    union {
        struct value *list;
        char *far_text;
        char near_text[8];
        double number;
    } u;
    uintptr_t owner_and_mark;
} value;

enum { LIST, FAR_TEXT, NEAR_TEXT, NUMBER };

static haul_type *value_type;
static const haul_field value_fields[] = {
    HAUL_OBJECTS(value, u.list, &value_type, HAUL_COUNT(value, length),
                 .when = HAUL_EQUALS(value, kind, LIST)),
    HAUL_ARRAY(value, u.far_text, HAUL_COUNT_PLUS(value, length, 1),
               .when = HAUL_EQUALS(value, kind, FAR_TEXT)),
    HAUL_RAW(value, u, .when = HAUL_BETWEEN(value, kind, NEAR_TEXT, NUMBER)),
    HAUL_ADDRESS(value, owner_and_mark, .target = &value_type, .tag_bits = 3),
};
static const haul_struct value_structs[] = { HAUL_STRUCT(value, &value_type, value_fields,
                                                         .alignment = 2 * sizeof(void *)) };

static void change_values(void *copy)
{
    const value *all = copy;
    value *v = all->u.list;
    const value *owner = (const value *)(v[1].owner_and_mark & ~(uintptr_t)3);
    v[0].u.far_text[0] = 'F';
    v[1].u.near_text[0] = 'N';
    v[2].u.number = owner == all && (v[1].owner_and_mark & 3) == 2 ? 1 : -1;
}

typedef union room { /* aligned to two pointers by hand, in strict C99 */
    value v[8];
    char bytes[1];
} room;

TEST(describe, a_tagged_union_has_an_arm_for_each_kind_and_a_mark_in_a_pointer)
{
    static room memory;
    char far_text[] = "far";
    const uintptr_t step = 2 * sizeof(void *);
    char *base = memory.bytes + (step - (uintptr_t)memory.bytes % step) % step;
    value *all = (value *)(void *)base, *v = all + 1;
    if (sizeof(value) % step != 0)
        return; /* pointers of 4 bytes */
    memset(all, 0, 4 * sizeof *all);
    all->length = 3;
    all->u.list = v;
    v[0].kind = FAR_TEXT;
    v[0].length = 3;
    v[0].u.far_text = far_text;
    v[1].kind = NEAR_TEXT;
    memcpy(v[1].u.near_text, "near", 5);
    v[1].owner_and_mark = (uintptr_t)all | 2;
    v[2].kind = NUMBER;
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, value_structs), HAUL_OK);
    send(all, value_type, change_values);
    CHECK_STR(far_text, "Far");
    CHECK_STR(v[1].u.near_text, "Near");
    CHECK(v[2].u.number == 1);
    HAUL_FORGET(value_structs);
    finish();
}

/* ---- std::list: a ring whose head lies in the list object, an ancestor of its nodes. */

static const haul_struct ring_structs[] = {
    HAUL_PLAIN(double, &list_value_type), HAUL_STRUCT(list_node, &list_node_type, list_node_fields),
    HAUL_STRUCT(list, &list_type, list_fields)
};

static void count_nodes(void *copy)
{
    list *l = copy;
    node_base *at;
    for (at = l->head.next; at != &l->head; at = at->next) {
        *(double *)((list_node *)at)->value += 0.5;
        l->size += at->next->prev == at;
    }
}

TEST(describe, a_ring_comes_back_to_its_head_in_an_ancestor)
{
    double x[2] = { 1, 2 };
    list_node a = { { NULL, NULL }, &x[0] }, b = { { NULL, NULL }, &x[1] };
    list l;
    list_clear(&l);
    list_append(&l, &a);
    list_append(&l, &b);
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, ring_structs), HAUL_OK);
    send(&l, list_type, count_nodes);
    CHECK_EQ(l.size, 4);
    CHECK(x[0] == 1.5 && x[1] == 2.5);
    HAUL_FORGET(ring_structs);
    finish();
}

/* ---- The other forms. */

typedef struct forms {
    int32_t n, m;
    void *bytes;
    mesh **meshes;
    char **names;
    double **rows, *fixed[2];
    int32_t distance, skipped;
    mesh inside;
    double *begin, *end;
    int32_t tail[1];
} forms;

static haul_type *forms_type;
HAUL_FUNCTION(parent_n, void, here->ancestor ? 2 : 1)
static const haul_field forms_fields[] = {
    HAUL_BYTES(forms, bytes, HAUL_FIXED(4)),
    HAUL_POINTERS(forms, meshes, &mesh_type, HAUL_COUNT(forms, n)),
    HAUL_STRINGS(forms, names, HAUL_TERMINATED),
    HAUL_ARRAYS(forms, rows, HAUL_COUNT(forms, n), HAUL_COUNT_TIMES(forms, m, 2)),
    HAUL_EACH(forms, fixed, .count = HAUL_COUNT_FN(parent_n), .ancestor = HAUL_PARENT),
    HAUL_RELATIVE(forms, distance, .element_bytes = sizeof(int32_t)),
    HAUL_SKIP(forms, skipped),
    HAUL_EMBED(forms, inside, &mesh_type),
    HAUL_ARRAY(forms, begin, HAUL_UNTIL(forms, end)),
    HAUL_TAIL(forms, tail, HAUL_COUNT(forms, m)),
};
static const haul_struct forms_structs[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields),
                                             HAUL_STRUCT(forms, &forms_type, forms_fields) };

static void change_forms(void *copy)
{
    forms *f = copy;
    f->rows[1][1] = f->n + f->m + (f->skipped == 0);
    f->names[1][0] = 'B';
    ((char *)f->bytes)[3] = '!';
    f->meshes[0]->xyz[0] += f->meshes[1] == NULL;
    *f->fixed[1] = -1;
    *(int32_t *)(void *)((char *)&f->distance + f->distance) += 1;
    f->inside.name[0] = 'I';
    f->begin[f->end - f->begin - 1] = 9;
    f->tail[0] = 5;
}

TEST(describe, every_form_travels)
{
    char bytes[4] = "abc", a[] = "a", b[] = "b", in[] = "in", *names[3];
    double x = 1, rows[2][2] = { { 1, 2 }, { 3, 4 } }, *row[2], ones[2] = { 1, 1 }, pair[3] = { 0 };
    mesh m = { 1, 1, NULL, NULL, NULL }, *meshes[2];
    struct {
        forms f;
        int32_t near_by;
    } s;
    memset(&s, 0, sizeof s);
    m.xyz = &x;
    m.name = a;
    names[0] = a, names[1] = b, names[2] = NULL;
    row[0] = rows[0], row[1] = rows[1];
    meshes[0] = &m, meshes[1] = NULL;
    pair[2] = 0;
    s.f.n = 2, s.f.m = 1;
    s.f.bytes = bytes;
    s.f.meshes = meshes;
    s.f.names = names;
    s.f.rows = row;
    s.f.fixed[0] = s.f.fixed[1] = ones;
    s.f.distance = (int32_t)((char *)&s.near_by - (char *)&s.f.distance);
    s.f.skipped = 7;
    s.f.inside.name = in;
    s.f.begin = pair, s.f.end = pair + 3;
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, forms_structs), HAUL_OK);
    send(&s.f, forms_type, change_forms);
    CHECK(rows[1][1] == 4 && ones[0] == -1 && ones[1] == 1 && x == 2 && pair[2] == 9);
    CHECK(b[0] == 'B' && bytes[3] == '!' && in[0] == 'I');
    CHECK(s.near_by == 1 && s.f.skipped == 7 && s.f.tail[0] == 5);
    HAUL_FORGET(forms_structs);
    finish();
}

/* ---- Tables that are refused. */

static const haul_field bad_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_OBJECT(node, child, &node_type, .tag_bits = (uintptr_t)1 << 12),
};
static const haul_struct bad_structs[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields),
                                           HAUL_STRUCT(node, &node_type, bad_fields) };

TEST(describe, a_table_with_a_fault_leaves_nothing)
{
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, bad_structs), HAUL_ERROR_TYPE);
    CHECK(!mesh_type && !node_type);
    CHECK_STR(haul_context_error(the.context)->path, "node.child");
    CHECK_HAS(haul_context_error(the.context)->text, "`.tag_bits` 0x1000");
    CHECK_STATUS(HAUL_DESCRIBE(the.context, mesh_structs), HAUL_OK);
    CHECK_STATUS(haul_context_error(the.context)->status, HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(the.context, bad_structs), HAUL_ERROR_STATE);
    CHECK_HAS(haul_context_error(the.context)->text, "described already");
    CHECK(mesh_type && !node_type);
    HAUL_FORGET(mesh_structs);
    CHECK_STATUS(haul_describe(NULL, mesh_structs, 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_describe(the.context, NULL, 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_describe(the.context, NULL, 0), HAUL_OK);
    finish();
}

TEST(describe, an_entry_without_a_handle_undoes_those_before_it)
{
    const haul_struct structs[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields),
                                    HAUL_STRUCT(node, NULL, node_fields) };
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, structs), HAUL_ERROR_ARGUMENT);
    CHECK_STR(haul_context_error(the.context)->text,
              "Entry 1 of the table has no handle: give its address.");
    CHECK(!mesh_type);
    finish();
}

/* ---- Types made at run time, and their context. */

TEST(describe, a_type_is_made_at_run_time_and_may_outlive_what_its_caller_holds)
{
    haul_struct what = HAUL_STRUCT(mesh, NULL, mesh_fields);
    haul_type *made, *none;
    start();
    what.field_count = 2;
    CHECK_STATUS(haul_type_create(the.context, &what, &made), HAUL_OK);
    mesh_type = made;
    CHECK_STATUS(haul_type_add(made, NULL, 1), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "fields are NULL");
    CHECK_STATUS(haul_type_add(made, &mesh_fields[2], 1), HAUL_OK);
    CHECK_EQ(haul_type_field_count(made), 3);
    CHECK_STATUS(haul_type_commit(made), HAUL_OK);
    CHECK_STATUS(haul_type_add(made, &mesh_fields[2], 1), HAUL_ERROR_STATE);
    CHECK_STATUS(haul_type_create(the.context, NULL, &none), HAUL_ERROR_ARGUMENT);
    CHECK(!none);
    what.fields = NULL;
    CHECK_STATUS(haul_type_create(the.context, &what, &none), HAUL_ERROR_ARGUMENT);
    haul_context_free(&the.context);
    haul_type_free(&made);
    mesh_type = NULL;
    finish();
}

static haul_status seen_within, seen_of_create;

static int64_t describe_within(const haul_here *here)
{
    haul_context *context = haul_device_context(the.device);
    const haul_struct what = HAUL_STRUCT(mesh, NULL, mesh_fields);
    haul_type *none = mesh_type;
    (void)here;
    seen_within = HAUL_DESCRIBE(context, node_structs);
    seen_of_create = haul_type_create(context, &what, &none);
    CHECK(!none);
    return 1;
}

TEST(describe, a_call_under_way_keeps_types_out)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(mesh, xyz, HAUL_COUNT_FN(describe_within)),
    };
    static const haul_struct structs[] = { HAUL_STRUCT(mesh, &mesh_type, fields) };
    double x = 1;
    mesh m = { 1, 1, NULL, NULL, NULL };
    m.xyz = &x;
    start();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, structs), HAUL_OK);
    CHECK_STATUS(haul_ship(the.device, &m, mesh_type, 1, NULL, &the.s), HAUL_OK);
    CHECK_STATUS(seen_within, HAUL_ERROR_BUSY);
    CHECK_STATUS(seen_of_create, HAUL_ERROR_BUSY);
    CHECK(!node_type);
    HAUL_FORGET(structs);
    finish();
}

/* ---- Tables of other versions. */

typedef struct longer_field {
    haul_field field;
    size_t more;
} longer_field;

TEST(describe, fields_of_a_newer_header_are_read_as_far_as_they_are_known)
{
    longer_field fields[3];
    haul_struct what = HAUL_STRUCT(mesh, NULL, mesh_fields);
    size_t i;
    memset(fields, 0, sizeof fields);
    for (i = 0; i < 3; i++)
        fields[i].field = mesh_fields[i];
    what.fields = &fields[0].field;
    what.field_bytes = sizeof fields[0];
    start();
    CHECK_STATUS(haul_type_create(the.context, &what, &mesh_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(mesh_type), HAUL_OK);
    haul_type_free(&mesh_type);
    what.field_count = 2;
    CHECK_STATUS(haul_type_create(the.context, &what, &mesh_type), HAUL_OK);
    what.field_count = 3;
    fields[2].more = 1;
    CHECK_STATUS(haul_type_add_sized(mesh_type, &fields[2].field, 1, sizeof fields[2]),
                 HAUL_ERROR_VERSION);
    CHECK_HAS(haul_context_error(the.context)->text, "lacks");
    CHECK_EQ(haul_type_field_count(mesh_type), 2);
    haul_type_free(&mesh_type);
    CHECK_STATUS(haul_type_create(the.context, &what, &mesh_type), HAUL_ERROR_VERSION);
    CHECK_HAS(haul_context_error(the.context)->text, "lacks");
    CHECK(!mesh_type);
    finish();
}

TEST(describe, a_struct_of_a_newer_header_is_read_as_far_as_it_is_known)
{
    struct {
        haul_struct what;
        size_t more;
    } structs[2];
    haul_type *none;
    const haul_struct known[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields),
                                  HAUL_STRUCT(node, &node_type, node_fields) };
    memset(structs, 0, sizeof structs);
    structs[0].what = known[0];
    structs[1].what = known[1];
    start();
    CHECK_STATUS(haul_describe_sized(the.context, &structs[0].what, 2, sizeof structs[0]), HAUL_OK);
    CHECK(mesh_type && node_type);
    haul_forget_sized(&structs[0].what, 2, sizeof structs[0]);
    CHECK(!mesh_type && !node_type);
    structs[1].more = 1;
    CHECK_STATUS(haul_describe_sized(the.context, &structs[0].what, 2, sizeof structs[0]),
                 HAUL_ERROR_VERSION);
    CHECK_HAS(haul_context_error(the.context)->text, "lacks");
    CHECK(!mesh_type && !node_type);
    CHECK_STATUS(haul_type_create_sized(the.context, &structs[1].what, sizeof structs[1], &none),
                 HAUL_ERROR_VERSION);
    CHECK_HAS(haul_context_error(the.context)->text, "lacks");
    CHECK(!none);
    finish();
}

TEST(describe, fields_of_an_older_header_lack_members_that_are_then_zero)
{
    enum { KNOWN = offsetof(haul_field, count2) };
    unsigned char fields[3][KNOWN];
    haul_struct what = HAUL_STRUCT(mesh, NULL, mesh_fields);
    size_t i;
    for (i = 0; i < 3; i++)
        memcpy(fields[i], &mesh_fields[i], KNOWN);
    what.fields = (const haul_field *)(void *)fields;
    what.field_bytes = KNOWN;
    start();
    CHECK_STATUS(haul_type_create(the.context, &what, &mesh_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(mesh_type), HAUL_OK);
    CHECK_EQ(haul_type_field_count(mesh_type), 3);
    haul_type_free(&mesh_type);
    finish();
}

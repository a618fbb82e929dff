/* Containers of any elements: described once with a parameter, and used for several types.
 *
 * A list like GLib's, a table with entries and two parameters, a set that ends in its elements,
 * lists of lists, and a recursion through a container. A wrong use is refused with the names of
 * container and parameter.
 */
#define _DEFAULT_SOURCE
#include <time.h>

#include "core_graphs.h"
#include "haul/experimental.h"

typedef struct list {
    void *data;
    struct list *next, *prev;
} list;

typedef struct mesh {
    int64_t n;
    double *xyz;
    list *neighbours; /* of meshes */
    list *names;      /* of words */
} mesh;

typedef struct label {
    char *text;
} label;

static haul_type *element, *list_type, *mesh_type, *label_type, *meshes, *labels;

static void types_open(void)
{
    static const haul_field list_fields[] = {
        HAUL_ADDRESS(list, data, .target = &element),
        HAUL_OBJECT(list, next, &list_type),
        HAUL_OBJECT(list, prev, &list_type),
    };
    static const haul_field mesh_fields[] = {
        HAUL_ARRAY(mesh, xyz, HAUL_COUNT(mesh, n)),
        HAUL_OBJECT(mesh, neighbours, &meshes),
        HAUL_OBJECT(mesh, names, &labels),
    };
    static const haul_field label_fields[] = { HAUL_STRING(label, text) };
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    list_type = TYPE_OPEN(list, list_fields);
    mesh_type = TYPE_OPEN(mesh, mesh_fields);
    label_type = TYPE_OPEN(label, label_fields);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &mesh_type, &meshes), HAUL_OK);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &label_type, &labels), HAUL_OK);
}

static void types_close(void)
{
    haul_type_free(&meshes);
    haul_type_free(&labels);
    haul_type_free(&mesh_type);
    haul_type_free(&label_type);
    haul_type_free(&list_type);
    haul_type_free(&element);
}

static list *list_put(list *next, void *data)
{
    list *l = take(sizeof *l, 8);
    points(&l->data), points(&l->next), points(&l->prev);
    l->data = data;
    l->next = next;
    if (next)
        next->prev = l;
    return l;
}

static label *label_make(const char *words)
{
    label *l = take(sizeof *l, 8);
    points(&l->text);
    l->text = text(words);
    return l;
}

static mesh *mesh_make(int64_t n)
{
    mesh *m = take(sizeof *m, 8);
    points(&m->xyz), points(&m->neighbours), points(&m->names);
    m->n = n;
    m->xyz = take((size_t)n * sizeof *m->xyz, 8);
    fill(m->xyz, (size_t)n * sizeof *m->xyz);
    return m;
}

TEST(containers, one_description_of_a_list_serves_lists_of_several_types)
{
    mesh *first, *second;
    lab_start();
    types_open();
    type_commit(mesh_type);
    CHECK(haul_type_committed(meshes) && haul_type_committed(labels) &&
          haul_type_committed(label_type));
    CHECK(!haul_type_committed(list_type));
    CHECK_STR(haul_type_name(meshes), "list<mesh>");
    CHECK_STR(haul_type_name(labels), "list<label>");
    first = mesh_make(3);
    second = mesh_make(5);
    first->neighbours = list_put(list_put(NULL, second), first);
    second->neighbours = list_put(NULL, first);
    second->names = list_put(list_put(NULL, label_make("round")), label_make("red"));
    lab_pack(first, mesh_type, 1);
    CHECK_BYTES(the.arena + copied_word(&((label *)second->names->data)->text), "red", 4);
    types_close();
    lab_end();
}

TEST(containers, a_list_of_one_thing_that_is_met_as_a_list_of_another_is_refused_in_checked_mode)
{
    haul_root root;
    mesh *first;
    lab_start();
    types_open();
    type_commit(mesh_type);
    first = mesh_make(1);
    first->names = list_put(NULL, label_make("odd"));
    first->neighbours = first->names;
    root.address = first;
    root.type = mesh_type;
    root.count = 1;
    lab_open_context(CHECKED | FLAT);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(the.context)->text, "list<label> and as a list<mesh>");
    types_close();
    lab_end();
}

TEST(containers, the_same_arguments_are_the_same_instance_before_and_after_its_commit)
{
    haul_type *again, *other = NULL;
    haul_field_info field;
    types_open();
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &mesh_type, &again), HAUL_OK);
    CHECK_PTR(again, meshes);
    haul_type_free(&again);
    CHECK_STATUS(haul_type_commit(mesh_type), HAUL_OK);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &mesh_type, &again), HAUL_OK);
    CHECK_PTR(again, meshes);
    haul_type_free(&again);
    CHECK_STATUS(haul_type_get_field(meshes, 1, &field), HAUL_OK);
    CHECK_PTR(field.target, meshes);
    CHECK_STATUS(haul_type_bytes(type_context(), "other", 4, &other), HAUL_OK);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &other, &again), HAUL_OK);
    CHECK(again != meshes);
    CHECK_STATUS(haul_type_get_field(again, 0, &field), HAUL_OK);
    CHECK_PTR(field.target, other);
    CHECK_STATUS(haul_type_get_field(again, 1, &field), HAUL_OK);
    CHECK_PTR(field.target, again);
    haul_type_free(&again);
    haul_type_free(&other);
    types_close();
}

/* The container goes first, then the arguments: the instances live as long as they are used. */
TEST(containers, instances_outlive_their_container_and_their_arguments_handles)
{
    mesh *first;
    lab_start();
    types_open();
    type_commit(meshes);
    haul_type_free(&list_type);
    haul_type_free(&element);
    haul_type_free(&label_type);
    haul_type_free(&labels);
    haul_type_free(&mesh_type);
    first = mesh_make(2);
    first->names = list_put(NULL, label_make("left"));
    lab_pack(list_put(NULL, first), meshes, 1);
    types_close();
    lab_end();
}

/* ---- A table: two parameters, its entries another container, lists in it that depend on one of
 * them. */

typedef struct entry {
    void *key, *value;
    struct entry *next;
} entry;

typedef struct table {
    int32_t size, pad;
    entry **buckets;
    list *order; /* of values */
} table;

static haul_type *key, *value, *entry_type, *table_type, *value_list;

static void table_open(void)
{
    static const haul_field list_fields[] = {
        HAUL_ADDRESS(list, data, .target = &value),
        HAUL_OBJECT(list, next, &value_list),
        HAUL_OBJECT(list, prev, &value_list),
    };
    static const haul_field entry_fields[] = {
        HAUL_ADDRESS(entry, key, .target = &key),
        HAUL_ADDRESS(entry, value, .target = &value),
        HAUL_OBJECT(entry, next, &entry_type),
    };
    static const haul_field table_fields[] = {
        HAUL_POINTERS(table, buckets, &entry_type, HAUL_COUNT(table, size)),
        HAUL_OBJECT(table, order, &value_list),
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "key", &key), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "value", &value), HAUL_OK);
    value_list = type_open("order", sizeof(list), list_fields, COUNT_OF(list_fields));
    entry_type = TYPE_OPEN(entry, entry_fields);
    table_type = TYPE_OPEN(table, table_fields);
}

static void table_close(void)
{
    haul_type_free(&table_type);
    haul_type_free(&entry_type);
    haul_type_free(&value_list);
    haul_type_free(&key);
    haul_type_free(&value);
}

static entry *entry_make(void *k, void *v, entry *next)
{
    entry *e = take(sizeof *e, 8);
    points(&e->key), points(&e->value), points(&e->next);
    e->key = k;
    e->value = v;
    e->next = next;
    return e;
}

static haul_status table_of(haul_type *k, haul_type *v, haul_type **result)
{
    haul_type *parameters[2], *arguments[2];
    parameters[0] = key, parameters[1] = value;
    arguments[0] = k, arguments[1] = v;
    return haul_type_instance(table_type, 2, parameters, arguments, result);
}

TEST(containers, a_container_brings_the_instances_of_those_it_is_built_of)
{
    haul_type *words_to_meshes, *list_of_meshes;
    haul_field_info field;
    table *t;
    mesh *m;
    lab_start();
    types_open();
    table_open();
    CHECK_STATUS(table_of(label_type, mesh_type, &words_to_meshes), HAUL_OK);
    type_commit(words_to_meshes);
    CHECK_STR(haul_type_name(words_to_meshes), "table<label,mesh>");
    CHECK_STATUS(haul_type_get_field(words_to_meshes, 0, &field), HAUL_OK);
    CHECK_STR(haul_type_name(field.target), "entry<label,mesh>");
    CHECK_STATUS(haul_type_get_field(words_to_meshes, 1, &field), HAUL_OK);
    CHECK_STR(haul_type_name(field.target), "order<mesh>");
    CHECK_STATUS(haul_type_instance(value_list, 1, &value, &mesh_type, &list_of_meshes), HAUL_OK);
    CHECK_PTR(list_of_meshes, field.target); /* what one container has made, the next one finds */
    haul_type_free(&list_of_meshes);
    m = mesh_make(4);
    t = take(sizeof *t, 8);
    points(&t->buckets), points(&t->order);
    t->size = 3;
    t->buckets = take(3 * sizeof(void *), 8);
    points(&t->buckets[0]), points(&t->buckets[1]), points(&t->buckets[2]);
    t->buckets[1] = entry_make(label_make("a"), m, entry_make(label_make("b"), mesh_make(1), NULL));
    t->order = list_put(NULL, m);
    lab_pack(t, words_to_meshes, 1);
    haul_type_free(&words_to_meshes);
    table_close();
    types_close();
    lab_end();
}

TEST(containers, containers_hold_containers)
{
    haul_type *table_of_lists, *lists;
    table *t;
    lab_start();
    types_open();
    table_open();
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &labels, &lists), HAUL_OK);
    CHECK_STR(haul_type_name(lists), "list<list<label>>");
    CHECK_STATUS(table_of(label_type, lists, &table_of_lists), HAUL_OK);
    type_commit(table_of_lists);
    t = take(sizeof *t, 8);
    points(&t->buckets), points(&t->order);
    t->size = 1;
    t->buckets = take(sizeof(void *), 8);
    points(&t->buckets[0]);
    t->buckets[0] =
        entry_make(label_make("k"), list_put(NULL, list_put(NULL, label_make("deep"))), NULL);
    lab_pack(t, table_of_lists, 1);
    haul_type_free(&table_of_lists);
    haul_type_free(&lists);
    table_close();
    types_close();
    lab_end();
}

/* ---- Elements in place, and by a choice. */

typedef struct set {
    int32_t kind, n;
    void *e[1];
} set;

TEST(containers, a_tail_may_be_of_what_depends_on_the_parameter)
{
    static haul_type *set_type, *slot_type;
    haul_field slot_fields[] = { HAUL_ADDRESS(label, text, .target = &element) };
    haul_field set_fields[] = { HAUL_TAIL(set, e, HAUL_COUNT(set, n), .target = &slot_type) };
    haul_type *set_of_meshes;
    set *s;
    lab_start();
    types_open();
    slot_type = TYPE_OPEN(label, slot_fields);
    set_type = TYPE_OPEN(set, set_fields);
    CHECK_STATUS(haul_type_instance(set_type, 1, &element, &mesh_type, &set_of_meshes), HAUL_OK);
    type_commit(set_of_meshes);
    s = take(offsetof(set, e) + 3 * sizeof(void *), 8);
    s->n = 3;
    points(&s->e[0]), points((void **)s->e + 1), points((void **)s->e + 2);
    ((void **)s->e)[2] = mesh_make(2);
    lab_pack(s, set_of_meshes, 1);
    haul_type_free(&set_of_meshes);
    haul_type_free(&set_type);
    haul_type_free(&slot_type);
    types_close();
    lab_end();
}

typedef struct variant_list {
    int32_t kind, pad;
    void *data;
} variant_list;

TEST(containers, a_choice_has_a_case_of_the_parameter)
{
    static haul_type *variant_type;
    static const haul_case cases[] = { { 1, &element, 0 }, { 2, &label_type, 0 } };
    static const haul_field fields[] = { HAUL_ADDRESS(
        variant_list, data, .type_switch = HAUL_SWITCH(variant_list, kind, cases)) };
    haul_type *of_meshes;
    variant_list *v;
    lab_start();
    types_open();
    variant_type = TYPE_OPEN(variant_list, fields);
    CHECK_STATUS(haul_type_instance(variant_type, 1, &element, &mesh_type, &of_meshes), HAUL_OK);
    type_commit(of_meshes);
    v = take(2 * sizeof *v, 8);
    points(&v[0].data), points(&v[1].data);
    v[0].kind = 1;
    v[0].data = mesh_make(2);
    v[1].kind = 2;
    v[1].data = label_make("two");
    lab_pack(v, of_meshes, 2);
    haul_type_free(&of_meshes);
    haul_type_free(&variant_type);
    types_close();
    lab_end();
}

/* ---- Pictures. */

typedef struct picture {
    char text[4096];
    size_t length;
} picture;

static haul_status append(void *user, const void *data, size_t bytes)
{
    picture *p = user;
    CHECK(p->length + bytes < sizeof p->text);
    memcpy(p->text + p->length, data, bytes);
    p->length += bytes;
    p->text[p->length] = '\0';
    return HAUL_OK;
}

TEST(containers, a_dump_shows_parameters_and_what_stands_for_them)
{
    static picture p;
    haul_file file;
    memset(&file, 0, sizeof file);
    file.write = append;
    file.user = &p;
    types_open();
    p.length = 0;
    CHECK_STATUS(haul_type_dump(list_type, &file), HAUL_OK);
    CHECK_HAS(p.text, WORD == 8 ? "list: 24 bytes, open" : "list: 12 bytes, open");
    CHECK_HAS(p.text, "element");
    p.length = 0;
    CHECK_STATUS(haul_type_dump(meshes, &file), HAUL_OK);
    CHECK_HAS(p.text, WORD == 8 ? "list<mesh>: 24 bytes, open" : "list<mesh>: 12 bytes, open");
    CHECK_HAS(p.text, "mesh        1");
    CHECK_HAS(p.text, "list<mesh>  1");
    types_close();
}

/* ---- What is wrong. */

static void refuse_commit(haul_type *type, const char *path, const char *word)
{
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, path);
    CHECK_HAS(type_error()->text, word);
}

TEST(containers, a_container_itself_is_never_committed_or_shipped)
{
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    haul_type *user;
    haul_field field = HAUL_OBJECT(mesh, neighbours, &list_type);
    list one = { NULL, NULL, NULL };
    types_open();
    refuse_commit(list_type, "list", "a container that has instances");
    refuse_commit(element, "element", "It is a parameter");
    CHECK_STATUS(type_make("user", sizeof(mesh), &field, 1, &user), HAUL_OK);
    refuse_commit(user, "list", "a container that has instances");
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    root.address = &one;
    root.type = list_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan),
                 HAUL_ERROR_STATE);
    CHECK_HAS(haul_context_error(context)->text, "type list of root 0 is not committed");
    haul_context_free(&context);
    haul_type_free(&user);
    types_close();
    table_open();
    refuse_commit(entry_type, "entry.key", "leads to the parameter key");
    refuse_commit(table_type, "entry.key", "entry is a container");
    table_close();
}

TEST(containers, arguments_that_make_no_instance_are_refused)
{
    haul_type *instance, *twice[2], *both[2], *row, *constructed;
    types_open();
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &element, &instance),
                 HAUL_ERROR_ARGUMENT);
    CHECK_PTR(instance, NULL);
    CHECK_STATUS(haul_type_instance(list_type, 1, &mesh_type, &mesh_type, &instance),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_instance(list_type, 0, &element, &mesh_type, &instance),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(
        haul_type_instance(list_type, HAUL_PARAMETERS_MAX + 1, &element, &mesh_type, &instance),
        HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_instance(NULL, 1, &element, &mesh_type, &instance), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_instance(list_type, 1, NULL, &mesh_type, &instance),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, NULL, &instance), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &mesh_type, NULL), HAUL_ERROR_ARGUMENT);
    twice[0] = twice[1] = element;
    both[0] = mesh_type, both[1] = label_type;
    CHECK_STATUS(haul_type_instance(list_type, 2, twice, both, &instance), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_instance(meshes, 1, &element, &mesh_type, &instance), HAUL_ERROR_STATE);
    CHECK_STATUS(haul_type_contiguous(2, list_type, &constructed), HAUL_OK);
    CHECK_STATUS(haul_type_instance(constructed, 1, &element, &mesh_type, &instance),
                 HAUL_ERROR_STATE);
    haul_type_free(&constructed);
    CHECK_STATUS(haul_type_bytes(type_context(), "row", 8, &row), HAUL_OK);
    CHECK_STATUS(haul_type_commit(row), HAUL_OK);
    CHECK_STATUS(haul_type_instance(row, 1, &element, &mesh_type, &instance), HAUL_ERROR_STATE);
    haul_type_free(&row);
    types_close();
}

TEST(containers, a_container_that_has_instances_stays_as_it_is)
{
    haul_field field = HAUL_SKIP(list, prev);
    types_open();
    CHECK_STATUS(haul_type_add(list_type, &field, 1), HAUL_ERROR_STATE);
    CHECK_HAS(type_error()->text, "has instances");
    CHECK_STATUS(haul_type_set_rebuild(list_type, NULL, NULL), HAUL_ERROR_STATE);
    types_close();
}

TEST(containers, instances_of_a_container_whose_contents_depend_on_addresses_depend_on_them_too)
{
    static const haul_field fields[] = { HAUL_ADDRESS(list, data, .target = &element) };
    haul_context *context;
    haul_type *sorted, *instance;
    haul_root root;
    haul_plan *plan;
    list one = { NULL, NULL, NULL };
    types_open();
    sorted = TYPE_OPEN(list, fields);
    CHECK_STATUS(haul_type_set_rebuild(sorted, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_type_instance(sorted, 1, &element, &label_type, &instance), HAUL_OK);
    CHECK_STATUS(haul_type_commit(instance), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    root.address = &one;
    root.type = instance;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_context_error(context)->text, "depend on addresses");
    haul_context_free(&context);
    haul_type_free(&instance);
    haul_type_free(&sorted);
    types_close();
}

TEST(containers,
     parameters_that_no_row_reaches_and_types_between_that_are_no_containers_are_refused)
{
    static haul_type *pairs;
    static const haul_field fields[] = { HAUL_ADDRESS(list, data, .target = &pairs) };
    haul_type *instance, *stray, *holder;
    types_open();
    CHECK_STATUS(haul_type_parameter(type_context(), "stray", &stray), HAUL_OK);
    CHECK_STATUS(haul_type_instance(list_type, 1, &stray, &mesh_type, &instance), HAUL_OK);
    refuse_commit(instance, "list<mesh>", "No field of list leads to its parameter stray");
    haul_type_free(&instance);
    haul_type_free(&stray);
    CHECK_STATUS(haul_type_contiguous(2, list_type, &pairs), HAUL_OK);
    holder = TYPE_OPEN(list, fields);
    CHECK_STATUS(haul_type_instance(holder, 1, &element, &mesh_type, &instance), HAUL_OK);
    refuse_commit(instance, "list<mesh>.data",
                  "depends on a parameter of list<mesh>, and is no container itself");
    haul_type_free(&instance);
    haul_type_free(&holder);
    haul_type_free(&pairs);
    types_close();
}

TEST(containers, a_container_that_is_freed_before_the_commit_is_missed)
{
    types_open();
    haul_type_free(&list_type);
    refuse_commit(meshes, "list<mesh>", "Its container has been freed");
    types_close();
}

TEST(containers, a_name_that_is_too_long_is_a_limit)
{
    char name[200];
    haul_type *type, *first, *second;
    types_open();
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_STATUS(haul_type_bytes(type_context(), name, 8, &type), HAUL_OK);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &type, &first), HAUL_OK);
    haul_type_free(&first);
    name[100] = '\0';
    CHECK_STATUS(type_make(name, sizeof(list), NULL, 0, &first), HAUL_OK);
    CHECK_STATUS(haul_type_instance(first, 1, &element, &type, &second), HAUL_ERROR_LIMIT);
    CHECK_PTR(second, NULL);
    haul_type_free(&first);
    haul_type_free(&type);
    types_close();
}

static int64_t first_case(const haul_here *here)
{
    (void)here;
    return 1;
}

/* The name that is too long is that of an instance between. */
TEST(containers, a_name_that_is_too_long_is_a_limit_further_on_too)
{
    static haul_type *inner, *outer;
    static const haul_field inner_fields[] = { HAUL_ADDRESS(list, data, .target = &element) };
    static const haul_field outer_fields[] = { HAUL_ADDRESS(list, data, .target = &inner) };
    char name[200];
    haul_type *argument, *instance;
    types_open();
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_STATUS(haul_type_bytes(type_context(), name, 8, &argument), HAUL_OK);
    name[100] = '\0';
    CHECK_STATUS(type_make(name, sizeof(list), inner_fields, 1, &inner), HAUL_OK);
    CHECK_STATUS(type_make("outer", sizeof(list), outer_fields, 1, &outer), HAUL_OK);
    CHECK_STATUS(haul_type_instance(outer, 1, &element, &argument, &instance), HAUL_OK);
    CHECK_STATUS(haul_type_commit(instance), HAUL_ERROR_LIMIT);
    CHECK_HAS(type_error()->text, "has more than 255 bytes");
    CHECK(!haul_type_committed(instance));
    haul_type_free(&instance);
    haul_type_free(&outer);
    haul_type_free(&inner);
    haul_type_free(&argument);
    types_close();
}

/* So is that of the instance that a case or an ancestor stands for. */
TEST(containers, a_name_that_is_too_long_is_a_limit_in_a_case_and_of_an_ancestor)
{
    static haul_type *inner, *outer;
    static const haul_case cases[] = { { 1, &inner, 0 }, { 2, &label_type, 0 } };
    static const haul_field inner_fields[] = { HAUL_ADDRESS(list, data, .target = &element) };
    const haul_field choice =
        HAUL_ADDRESS(list, data, .type_switch = HAUL_SWITCH_FN(first_case, cases));
    haul_field asks = HAUL_ADDRESS(list, data, .target = &element, .ancestor = &inner);
    const haul_field *rows[2];
    char name[200];
    size_t i, bytes;
    asks.count = (haul_count)HAUL_COUNT_FN(first_case);
    rows[0] = &choice;
    rows[1] = &asks;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    for (i = 0; i < 2; i++) {
        haul_type *argument, *instance;
        types_open();
        CHECK_STATUS(haul_type_bytes(type_context(), name, 8, &argument), HAUL_OK);
        CHECK_STATUS(type_make(name + 100, sizeof(list), inner_fields, 1, &inner), HAUL_OK);
        CHECK_STATUS(type_make("outer", sizeof(list), rows[i], 1, &outer), HAUL_OK);
        CHECK_STATUS(haul_type_instance(outer, 1, &element, &argument, &instance), HAUL_OK);
        CHECK_STATUS(haul_type_size(instance, &bytes), HAUL_OK); /* it asks for no name */
        CHECK_STATUS(haul_type_commit(instance), HAUL_ERROR_LIMIT);
        CHECK_HAS(type_error()->text, "has more than 255 bytes");
        CHECK(!haul_type_committed(instance));
        haul_type_free(&instance);
        haul_type_free(&outer);
        haul_type_free(&inner);
        haul_type_free(&argument);
        types_close();
    }
}

TEST(containers, a_case_that_leads_to_a_parameter_needs_an_instance)
{
    static haul_type *variant_type;
    static const haul_case cases[] = { { 1, &element, 0 } };
    static const haul_field fields[] = { HAUL_ADDRESS(
        variant_list, data, .type_switch = HAUL_SWITCH(variant_list, kind, cases)) };
    types_open();
    variant_type = TYPE_OPEN(variant_list, fields);
    refuse_commit(variant_type, "variant_list.data", "leads to the parameter element");
    haul_type_free(&variant_type);
    types_close();
}

/* ---- Many of them. */

enum { FEW = 2000, MANY = 40000 };

/* Each is found again, whoever asks, in the other order of its parameters, too. */
static double seconds_of_instances(size_t count)
{
    haul_type **arguments = calloc(count, sizeof *arguments), **made = calloc(count, sizeof *made);
    haul_type *key, *container, *again, *in_order[2], *stand_for[2];
    haul_field rows[2];
    clock_t begin;
    double seconds;
    size_t i;
    CHECK(arguments && made);
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "key", &key), HAUL_OK);
    memset(rows, 0, sizeof rows);
    rows[0] = (haul_field)HAUL_ADDRESS(list, data, .target = &element);
    rows[1] = (haul_field)HAUL_ADDRESS(list, next, .target = &key);
    CHECK_STATUS(type_make("pairs", sizeof(list), rows, 2, &container), HAUL_OK);
    for (i = 0; i < count; i++)
        CHECK_STATUS(haul_type_bytes(type_context(), "one", 8, &arguments[i]), HAUL_OK);
    begin = clock();
    for (i = 0; i < count; i++) {
        in_order[0] = element;
        in_order[1] = key;
        stand_for[0] = arguments[i];
        stand_for[1] = arguments[i / 2];
        CHECK_STATUS(haul_type_instance(container, 2, in_order, stand_for, &made[i]), HAUL_OK);
    }
    for (i = 0; i < count; i++) {
        in_order[0] = key;
        in_order[1] = element;
        stand_for[0] = arguments[i / 2];
        stand_for[1] = arguments[i];
        CHECK_STATUS(haul_type_instance(container, 2, in_order, stand_for, &again), HAUL_OK);
        CHECK_PTR(again, made[i]);
        CHECK(i == 0 || made[i] != made[i - 1]);
        haul_type_free(&again);
    }
    seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    for (i = 0; i < count; i++) {
        haul_type_free(&made[i]);
        haul_type_free(&arguments[i]);
    }
    haul_type_free(&container);
    haul_type_free(&key);
    haul_type_free(&element);
    free(arguments);
    free(made);
    return seconds;
}

TEST(containers, forty_thousand_instances_are_made_and_found_in_no_more_than_their_share_of_time)
{
    const double few = seconds_of_instances(FEW), many = seconds_of_instances(MANY);
    check_note("%d instances %.4f s, %d instances %.4f s", FEW, few, MANY, many);
    CHECK(many < 8 * (MANY / FEW) * few || many < 0.5); /* caches have their part, too */
    check_note(NULL);
}

/* ---- Memory that runs out. */

typedef struct door_count {
    size_t calls, fail_at, live;
} door_count;

static void *count_allocate(void *user, size_t bytes, size_t alignment)
{
    door_count *c = user;
    (void)alignment;
    if (++c->calls == c->fail_at)
        return NULL;
    c->live++;
    return malloc(bytes ? bytes : 1);
}

static void count_release(void *user, void *memory, size_t bytes)
{
    (void)bytes;
    if (!memory)
        return;
    ((door_count *)user)->live--;
    free(memory);
}

static haul_type *d_list, *d_table, *d_mesh, *d_pairs, *d_variant;

static haul_status make_all(haul_context *context, haul_type **instance)
{
    static const haul_field list_fields[] = { HAUL_ADDRESS(list, data, .target = &value),
                                              HAUL_OBJECT(list, next, &d_list) };
    static const haul_field table_fields[] = { HAUL_OBJECT(table, order, &d_list),
                                               HAUL_ADDRESS(table, buckets, .target = &d_variant) };
    static const haul_field mesh_fields[] = { HAUL_ARRAY(mesh, xyz, HAUL_COUNT(mesh, n)) };
    static const haul_case cases[] = { { 1, &d_pairs, 0 }, { 2, &d_mesh, 0 } };
    static const haul_field variant_fields[] = { HAUL_ADDRESS(
        variant_list, data, .ancestor = &d_table,
        .type_switch = HAUL_SWITCH_FN(first_case, cases)) };
    haul_status status = type_make_in(context, "list", sizeof(list), list_fields, 2, &d_list);
    if (status == HAUL_OK)
        status = type_make_in(context, "table", sizeof(table), table_fields, 1, &d_table);
    if (status == HAUL_OK)
        status = type_make_in(context, "mesh", sizeof(mesh), mesh_fields, 1, &d_mesh);
    if (status == HAUL_OK)
        status = type_make_in(context, "variant_list", sizeof(variant_list), variant_fields, 1,
                              &d_variant);
    if (status == HAUL_OK)
        status = haul_type_contiguous(2, d_mesh, &d_pairs);
    if (status == HAUL_OK)
        status = haul_type_instance(d_table, 1, &value, &d_mesh, instance);
    return status == HAUL_OK ? haul_type_commit(*instance) : status;
}

TEST(containers, every_allocation_for_instances_can_fail_H1_H2)
{
    haul_context_options options;
    haul_allocator door;
    door_count count;
    haul_context *context;
    haul_type *instance;
    haul_status status = HAUL_ERROR_MEMORY;
    size_t at;
    CHECK_STATUS(haul_type_parameter(type_context(), "value", &value), HAUL_OK);
    memset(&options, 0, sizeof options);
    memset(&door, 0, sizeof door);
    door.allocate = count_allocate;
    door.release = count_release;
    door.user = &count;
    test_allocator(&options, &door);
    for (at = 1; status == HAUL_ERROR_MEMORY; at++) {
        memset(&count, 0, sizeof count);
        CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
        count.fail_at = count.calls + at;
        instance = NULL;
        status = make_all(context, &instance);
        CHECK(status == HAUL_ERROR_MEMORY || (status == HAUL_OK && count.calls < count.fail_at));
        if (status == HAUL_ERROR_MEMORY && instance) /* the commit can be made again */
            CHECK_STATUS(haul_type_commit(instance), HAUL_OK);
        haul_type_free(&instance);
        haul_type_free(&d_pairs);
        haul_type_free(&d_variant);
        haul_type_free(&d_mesh);
        haul_type_free(&d_table);
        haul_type_free(&d_list);
        haul_context_free(&context);
        CHECK_EQ(count.live, 0);
    }
    CHECK(at > 20);
    haul_type_free(&value);
}

/* tinyobj. Vectors of numbers, with room to grow; names of up to 15 characters lie in the
 * string itself.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { LOCAL = 15, SHAPES = 60 };

typedef struct string {
    char *data;
    size_t length;
    union {
        char local[LOCAL + 1];
        size_t capacity;
    } u;
} string;

#define VECTOR(T)                                                                                  \
    struct {                                                                                       \
        T *begin, *end, *room;                                                                     \
    }

typedef struct index_t {
    int vertex_index, normal_index, texcoord_index;
} index_t;

typedef struct tag_t {
    string name;
    VECTOR(int) intValues;
    VECTOR(float) floatValues;
    VECTOR(string) stringValues;
} tag_t;

typedef struct shape_t {
    string name;
    VECTOR(index_t) indices;
    VECTOR(unsigned char) num_face_vertices;
    VECTOR(int) material_ids;
    VECTOR(tag_t) tags;
} shape_t;

typedef struct attrib_t {
    VECTOR(float) vertices;
    VECTOR(float) normals;
    VECTOR(float) colors;
} attrib_t;

typedef struct obj {
    attrib_t attrib;
    VECTOR(shape_t) shapes;
} obj;

static haul_type *text_type, *tag_type, *shape_type, *attrib_type, *obj_type;

HAUL_FUNCTION(is_local, string, self->data == self->u.local)
HAUL_FUNCTION(is_far, string, self->data != self->u.local)
HAUL_FUNCTION(text_room, string, self->data == self->u.local ? LOCAL + 1 : self->u.capacity + 1)

/* All of the room; what is used ends in it. */
#define VECTOR_ROWS(S, m)                                                                          \
    HAUL_ARRAY(S, m.begin, HAUL_UNTIL(S, m.room)),                                                 \
        HAUL_ADDRESS(S, m.end, .ownership = HAUL_BORROWED)
/* Only what is used: what is behind it is no string yet. */
#define USED_ROWS(S, m, T)                                                                         \
    HAUL_OBJECTS(S, m.begin, T, HAUL_UNTIL(S, m.end)), HAUL_END_OF(S, m.room, m.begin)

static void obj_open(void)
{
    static const haul_field text_fields[] = {
        HAUL_ARRAY(string, data, HAUL_COUNT_FN(text_room)),
        HAUL_RAW(string, u.local, .when = HAUL_WHEN_FN(is_local)),
        HAUL_RAW(string, u.capacity, .when = HAUL_WHEN_FN(is_far))
    };
    static const haul_field tag_fields[] = { HAUL_EMBED(tag_t, name, &text_type),
                                             VECTOR_ROWS(tag_t, intValues),
                                             VECTOR_ROWS(tag_t, floatValues),
                                             USED_ROWS(tag_t, stringValues, &text_type) };
    static const haul_field shape_fields[] = { HAUL_EMBED(shape_t, name, &text_type),
                                               VECTOR_ROWS(shape_t, indices),
                                               VECTOR_ROWS(shape_t, num_face_vertices),
                                               VECTOR_ROWS(shape_t, material_ids),
                                               USED_ROWS(shape_t, tags, &tag_type) };
    static const haul_field attrib_fields[] = { VECTOR_ROWS(attrib_t, vertices),
                                                VECTOR_ROWS(attrib_t, normals),
                                                VECTOR_ROWS(attrib_t, colors) };
    static const haul_field obj_fields[] = { HAUL_EMBED(obj, attrib, &attrib_type),
                                             USED_ROWS(obj, shapes, &shape_type) };
    text_type = OPEN(string, text_fields);
    tag_type = OPEN(tag_t, tag_fields);
    shape_type = OPEN(shape_t, shape_fields);
    attrib_type = OPEN(attrib_t, attrib_fields);
    obj_type = OPEN(obj, obj_fields);
    type_close(obj_type);
}

#define VECTOR_MAKE(v, used, capacity)                                                             \
    ((v).begin = put_elements((capacity), sizeof *(v).begin), (v).end = (v).begin + (used),        \
     (v).room = (v).begin + (capacity))

static void string_make(string *s, const char *text)
{
    s->length = strlen(text);
    s->data = s->u.local;
    if (s->length > LOCAL) {
        s->u.capacity = s->length + 5;
        s->data = put_elements(s->u.capacity + 1, 1);
    }
    memcpy(s->data, text, s->length + 1);
    the.told += (int64_t)s->length;
}

static void tag_make(tag_t *t, int n)
{
    string_make(&t->name, n % 2 ? "crease" : "a crease along an edge");
    VECTOR_MAKE(t->intValues, 2, 4);
    VECTOR_MAKE(t->floatValues, 1, 1);
    VECTOR_MAKE(t->stringValues, 2, 3);
    string_make(&t->stringValues.begin[0], "smooth");
    string_make(&t->stringValues.begin[1], "sharper than all others");
    t->intValues.begin[1] = n;
    the.told += n;
}

static obj *obj_make(void)
{
    obj *o = put_elements(1, sizeof *o);
    int i, k;
    VECTOR_MAKE(o->attrib.vertices, 3000, 4096);
    VECTOR_MAKE(o->attrib.normals, 3000, 3000);
    VECTOR_MAKE(o->attrib.colors, 0, 8);
    VECTOR_MAKE(o->shapes, SHAPES, 64);
    for (i = 0; i < SHAPES; i++) {
        shape_t *s = &o->shapes.begin[i];
        string_make(&s->name, i % 2 ? "shape" : "a shape with a long name");
        VECTOR_MAKE(s->indices, 30, 40);
        VECTOR_MAKE(s->num_face_vertices, 10, 16);
        VECTOR_MAKE(s->material_ids, 10, 16);
        VECTOR_MAKE(s->tags, 2, 2);
        for (k = 0; k < 30; k++) {
            s->indices.begin[k].vertex_index = chance(0, 999);
            the.told += s->indices.begin[k].vertex_index;
        }
        tag_make(&s->tags.begin[0], i);
        tag_make(&s->tags.begin[1], 2 * i);
    }
    return o;
}

static int64_t string_see(string *s)
{
    s->data[0] = 'S';
    return (int64_t)strlen(s->data) == (int64_t)s->length &&
                   (s->length > LOCAL) == (s->data != s->u.local)
               ? (int64_t)s->length
               : -1000000;
}

static int64_t obj_walk(void *root, size_t count)
{
    obj *o = root;
    shape_t *s;
    tag_t *t;
    string *name;
    index_t *i;
    int64_t sum = 0;
    (void)count;
    for (s = o->shapes.begin; s != o->shapes.end; s++) {
        sum += string_see(&s->name);
        for (i = s->indices.begin; i != s->indices.end; i++) {
            sum += i->vertex_index;
            o->attrib.vertices.begin[3 * i->vertex_index] += 1;
        }
        s->indices.end++->normal_index = 5; /* there is room */
        for (t = s->tags.begin; t != s->tags.end; t++) {
            sum += string_see(&t->name) + t->intValues.begin[1];
            for (name = t->stringValues.begin; name != t->stringValues.end; name++)
                sum += string_see(name);
        }
    }
    return sum;
}

TEST(structures_tinyobj, tinyobj_shapes_of_vectors_with_room_and_names_that_may_lie_in_themselves)
{
    site_start(153);
    the.returns_pointers = 1;
    obj_open();
    travel_and_sum(obj_make(), obj_type, 1, obj_walk);
    SITE_END(&text_type, &tag_type, &shape_type, &attrib_type, &obj_type);
}

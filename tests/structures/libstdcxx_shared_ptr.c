/* shared_ptr of libstdc++. A pointer, and the block that counts: with the object in it
 * (make_shared), or with a pointer to it; which, and of what class an object is, is told by the
 * address of its table of functions. An owner may lead to a part of what it owns; an object leads
 * back to its owner without owning it.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "haul/experimental.h"

enum { SHAPES = 120, CORNERS_MAX = 9 };

typedef struct shape shape;

typedef struct counted {
    void (*const *vtable)(void);
    int use_count, weak_count;
} counted;

typedef struct shared_ptr {
    void *ptr;
    counted *count;
} shared_ptr;

struct shape {
    double (*const *vtable)(const shape *s);
    shared_ptr parent; /* weak */
};

typedef struct circle {
    shape base;
    double radius;
} circle;

typedef struct polygon {
    shape base;
    int count;
    double *side;
} polygon;

typedef struct counted_circle { /* made in one */
    counted base;
    circle object;
} counted_circle;

typedef struct counted_pointer {
    counted base;
    polygon *object;
} counted_pointer;

typedef struct drawing {
    int count;
    shared_ptr *shapes, radius; /* of one of them */
} drawing;

static double circle_size(const shape *s)
{
    return 3 * ((const circle *)s)->radius;
}

static double polygon_size(const shape *s)
{
    const polygon *p = (const polygon *)s;
    double sum = 0;
    int i;
    for (i = 0; i < p->count; i++)
        sum += p->side[i];
    return sum;
}

static void nothing(void)
{
}

static double (*const circle_vtable[])(const shape *) = { circle_size };
static double (*const polygon_vtable[])(const shape *) = { polygon_size };
static void (*const in_place_vtable[])(void) = { nothing },
                    (*const pointer_vtable[])(void) = { nothing };

static haul_type *circle_type, *polygon_type, *counted_circle_type, *counted_pointer_type,
    *shared_shape_type, *shared_real_type, *shape_type, *drawing_type;

static int64_t class_of_shape(const haul_here *here)
{
    const shape *s = here->target;
    return s->vtable == circle_vtable ? 0 : s->vtable == polygon_vtable ? 1 : -1;
}

static int64_t class_of_count(const haul_here *here)
{
    const counted *c = here->target;
    return c->vtable == in_place_vtable ? 0 : c->vtable == pointer_vtable ? 1 : -1;
}

static void shared_open(size_t classes)
{
    static const haul_case shapes[] = { { 0, &circle_type, 0 }, { 1, &polygon_type, 0 } };
    static const haul_case counts[] = { { 0, &counted_circle_type, 0 },
                                        { 1, &counted_pointer_type, 0 } };
#define COUNT .type_switch = HAUL_SWITCH_FN(class_of_count, counts)
    haul_field shared_fields[] = {
        HAUL_ADDRESS(shared_ptr, ptr, .type_switch = HAUL_SWITCH_FN(class_of_shape, shapes)),
        HAUL_ADDRESS(shared_ptr, count, COUNT)
    };
    static const haul_field real_fields[] = { HAUL_BYTES(shared_ptr, ptr,
                                                         HAUL_FIXED(sizeof(double))),
                                              HAUL_ADDRESS(shared_ptr, count, COUNT) };
    static const haul_field shape_fields[] = { HAUL_ADDRESS(shape, vtable,
                                                            .ownership = HAUL_EXTERNAL),
                                               HAUL_EMBED(shape, parent, &shared_shape_type) };
    static const haul_field circle_fields[] = { HAUL_EMBED(circle, base, &shape_type) };
    static const haul_field polygon_fields[] = { HAUL_EMBED(polygon, base, &shape_type),
                                                 HAUL_ARRAY(polygon, side,
                                                            HAUL_COUNT(polygon, count)) };
    static const haul_field in_place_fields[] = {
        HAUL_ADDRESS(counted_circle, base.vtable, .ownership = HAUL_EXTERNAL),
        HAUL_EMBED(counted_circle, object, &circle_type)
    };
    static const haul_field pointer_fields[] = {
        HAUL_ADDRESS(counted_pointer, base.vtable, .ownership = HAUL_EXTERNAL),
        HAUL_OBJECT(counted_pointer, object, &polygon_type)
    };
    static const haul_field drawing_fields[] = {
        HAUL_OBJECTS(drawing, shapes, &shared_shape_type, HAUL_COUNT(drawing, count)),
        HAUL_EMBED(drawing, radius, &shared_real_type),
    };
    shared_fields[0].type_switch.case_count = classes;
    shared_shape_type = type_open("shared_ptr<shape>", sizeof(shared_ptr), shared_fields, 2);
    shared_real_type = type_open("shared_ptr<double>", sizeof(shared_ptr), real_fields, 2);
    shape_type = OPEN(shape, shape_fields);
    circle_type = OPEN(circle, circle_fields);
    polygon_type = OPEN(polygon, polygon_fields);
    counted_circle_type = OPEN(counted_circle, in_place_fields);
    counted_pointer_type = OPEN(counted_pointer, pointer_fields);
    drawing_type = OPEN(drawing, drawing_fields);
    type_close(drawing_type);
}

static void shared_close(void)
{
    haul_type **all[] = { &drawing_type,     &counted_pointer_type, &counted_circle_type,
                          &polygon_type,     &circle_type,          &shape_type,
                          &shared_real_type, &shared_shape_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static shared_ptr circle_make(double radius)
{
    counted_circle *c = PUT(counted_circle);
    shared_ptr s;
    c->base.vtable = in_place_vtable;
    c->object.base.vtable = circle_vtable;
    c->object.radius = radius;
    s.ptr = &c->object;
    s.count = &c->base;
    return s;
}

static shared_ptr polygon_make(int corners)
{
    counted_pointer *c = PUT(counted_pointer);
    shared_ptr s;
    c->base.vtable = pointer_vtable;
    c->object = PUT(polygon);
    c->object->base.vtable = polygon_vtable;
    c->object->count = corners;
    c->object->side = PUT_ARRAY(double, corners);
    while (corners-- > 0)
        c->object->side[corners] = 2;
    s.ptr = c->object;
    s.count = &c->base;
    return s;
}

/* Shape i belongs to shape i / 2; every seventh is the same as one before. */
static drawing *drawing_make(uint64_t *seen)
{
    static int size[SHAPES];
    drawing *d = PUT(drawing);
    int i;
    d->count = SHAPES;
    d->shapes = PUT_ARRAY(shared_ptr, SHAPES);
    for (i = 0; i < SHAPES; i++) {
        int corners = i % CORNERS_MAX + 1, same = i / 3;
        d->shapes[i] = i % 7 == 6 ? d->shapes[same]
                       : i % 2    ? polygon_make(corners)
                                  : circle_make(i);
        size[i] = i % 7 == 6 ? size[same] : i % 2 ? 2 * corners : 3 * i;
        d->shapes[i].count->use_count++;
        if (i > 0 && i % 7 != 6)
            ((shape *)d->shapes[i].ptr)->parent = d->shapes[i / 2];
    }
    d->radius.count = d->shapes[4].count;
    d->radius.ptr = &((circle *)d->shapes[4].ptr)->radius;
    for (i = 0; i < SHAPES; i++)
        see(seen, (uint64_t)size[i]);
    see(seen, 4);
    return d;
}

static void drawing_walk(void *argument)
{
    visit *v = argument;
    drawing *d = v->root;
    int i;
    for (i = 0; i < d->count; i++) {
        shape *s = d->shapes[i].ptr;
        see(&v->seen, (uint64_t)s->vtable[0](s));
        d->shapes[i].count->use_count += 2;
        if (s->parent.count)
            s->parent.count->weak_count++;
        if (i % 7 == 6 && s != d->shapes[i / 3].ptr)
            see(&v->seen, 1);
    }
    see(&v->seen, (uint64_t) * (double *)d->radius.ptr);
    *(double *)d->radius.ptr = 11;
}

TEST(structures_libstdcxx,
     shared_ptr_objects_of_several_classes_are_counted_once_and_called_there_by_their_tables)
{
    journey j = { .walk = drawing_walk };
    site_start(102);
    shared_open(2);
    j.root = drawing_make(&j.seen);
    j.type = drawing_type;
    travel(&j);
    shared_close();
    site_end();
}

TEST(structures_libstdcxx, shared_ptr_to_an_object_of_a_class_that_was_forgotten_is_refused)
{
    uint64_t seen = 0;
    site_start(102);
    shared_open(1);
    refuse_graph(drawing_make(&seen), drawing_type, HAUL_ERROR_GRAPH, "root.shapes[1].ptr", NULL,
                 "its `.type_switch` has no case for 1");
    shared_close();
    site_end();
}

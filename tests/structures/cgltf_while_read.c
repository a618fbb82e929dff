/* cgltf: while a file is read, a pointer to an element of a list that is still to come holds its
 * number plus one.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { ACCESSORS = 3000, VIEWS = 700 };

typedef struct cgltf_buffer_view {
    size_t offset, size;
    unsigned char *data;
} cgltf_buffer_view;

typedef struct cgltf_accessor {
    size_t count;
    cgltf_buffer_view *buffer_view;
} cgltf_accessor;

typedef struct cgltf_data {
    cgltf_accessor *accessors;
    size_t accessors_count;
    cgltf_buffer_view *buffer_views;
    size_t buffer_views_count;
} cgltf_data;

static haul_type *view_type, *accessor_type, *data_type;

static void cgltf_open(uintptr_t integer_below)
{
    static const haul_field view_fields[] = { HAUL_ARRAY(cgltf_buffer_view, data,
                                                         HAUL_COUNT(cgltf_buffer_view, size)) };
    const haul_field accessor_fields[] = { HAUL_OBJECT(cgltf_accessor, buffer_view, &view_type,
                                                       .integers_below = integer_below) };
    static const haul_field data_fields[] = {
        HAUL_OBJECTS(cgltf_data, accessors, &accessor_type,
                     HAUL_COUNT(cgltf_data, accessors_count)),
        HAUL_OBJECTS(cgltf_data, buffer_views, &view_type,
                     HAUL_COUNT(cgltf_data, buffer_views_count)),
    };
    view_type = OPEN(cgltf_buffer_view, view_fields);
    accessor_type = OPEN(cgltf_accessor, accessor_fields);
    data_type = OPEN(cgltf_data, data_fields);
    type_close(data_type);
}

static void cgltf_close(void)
{
    haul_type_free(&data_type);
    haul_type_free(&accessor_type);
    haul_type_free(&view_type);
}

/* The later half of the accessors has been put right already. */
static cgltf_data *cgltf_make(uint64_t *seen)
{
    cgltf_data *d = PUT(cgltf_data);
    size_t i;
    d->accessors_count = ACCESSORS;
    d->accessors = PUT_ARRAY(cgltf_accessor, ACCESSORS);
    d->buffer_views_count = VIEWS;
    d->buffer_views = PUT_ARRAY(cgltf_buffer_view, VIEWS);
    for (i = 0; i < VIEWS; i++) {
        d->buffer_views[i].offset = i;
        d->buffer_views[i].size = 1 + i % 90;
        d->buffer_views[i].data = put(1 + i % 90, 1);
    }
    for (i = 0; i < ACCESSORS; i++) {
        size_t view = random_below(&the.random, VIEWS + 1); /* VIEWS: none */
        see(seen, view);
        if (view < VIEWS)
            d->accessors[i].buffer_view = i < ACCESSORS / 2
                                              ? (cgltf_buffer_view *)(uintptr_t)(view + 1)
                                              : &d->buffer_views[view];
    }
    return d;
}

static void cgltf_walk(void *argument)
{
    visit *v = argument;
    cgltf_data *d = v->root;
    size_t i;
    for (i = 0; i < d->accessors_count; i++) {
        cgltf_buffer_view *view = d->accessors[i].buffer_view;
        if ((uintptr_t)view - 1 < d->buffer_views_count)
            view = &d->buffer_views[(uintptr_t)view - 1];
        see(&v->seen, view ? view->offset : VIEWS);
        d->accessors[i].count = view ? ++view->data[view->size - 1] : 0;
    }
}

TEST(structures_cgltf, numbers_of_elements_to_come_stand_among_pointers_to_those_that_are_there)
{
    journey j = { .walk = cgltf_walk };
    site_start(291);
    cgltf_open(VIEWS + 1);
    j.root = cgltf_make(&j.seen);
    j.type = data_type;
    travel(&j);
    cgltf_close();
    site_end();
}

TEST(structures_cgltf, a_number_that_is_described_as_a_pointer_is_refused)
{
    uint64_t seen = 0;
    cgltf_data *d;
    site_start(291);
    d = cgltf_make(&seen);
    d->accessors[0].buffer_view = (cgltf_buffer_view *)(uintptr_t)VIEWS;
    cgltf_open(VIEWS);
    refuse_graph(d, data_type, HAUL_ERROR_GRAPH, "root.accessors[0].buffer_view", "",
                 "outside any process's address range");
    cgltf_close();
    site_end();
}

/* Images that go straight to devices (haul_image_options.devices): one read, checked once, and a
 * shipment to each device. The image is the host's copy, to which results come back.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { NODES = 300, DEVICES = 3 };

typedef struct node {
    struct node *next;
    double *values; /* count */
    char *name;
    int64_t count, sum;
} node;

/* With a tag, which no arena's bits tell. */
typedef struct tagged {
    struct tagged *next;
    int64_t value;
} tagged;

static haul_type *node_type, *tagged_type;

static void types_open(void)
{
    static const haul_field nodes[] = {
        HAUL_OBJECT(node, next, &node_type),
        HAUL_ARRAY(node, values, HAUL_COUNT(node, count)),
        HAUL_STRING(node, name),
    };
    static const haul_field tags[] = { HAUL_OBJECT(tagged, next, &tagged_type, .tag_bits = 1) };
    node_type = TYPE_NEW(node, nodes);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    tagged_type = TYPE_NEW(tagged, tags);
    CHECK_STATUS(haul_type_commit(tagged_type), HAUL_OK);
}

static void types_close(void)
{
    haul_type_free(&tagged_type);
    haul_type_free(&node_type);
}

/* An image, whose source has gone. */
static void make_image(image_bytes *image, int is_tagged)
{
    static node nodes[NODES];
    static tagged tags[NODES];
    static double values[NODES][5];
    haul_file file;
    haul_context *context;
    int i, k;
    memset(image, 0, sizeof *image);
    memset(nodes, 0, sizeof nodes);
    for (i = 0; i < NODES; i++) {
        nodes[i].next = &nodes[(i + 1) % NODES];
        nodes[i].count = i % 6;
        nodes[i].values = i % 6 ? values[i] : NULL;
        nodes[i].name = i % 2 ? "odd" : "even";
        for (k = 0; k < 5; k++)
            values[i][k] = i + k;
        tags[i].next =
            i + 1 < NODES ? (tagged *)((uintptr_t)&tags[i + 1] | (unsigned)(i & 1)) : NULL;
        tags[i].value = i;
    }
    file = bytes_file(image);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_image_write(context,
                                  is_tagged ? haul_from_object(tags, tagged_type)
                                            : haul_from_object(nodes, node_type),
                                  &file),
                 HAUL_OK);
    haul_context_free(&context);
    memset(nodes, 0xff, sizeof nodes);
    memset(tags, 0xff, sizeof tags);
}

/* ---- Kernels. */

static void add_up(void *root)
{
    node *n = root;
    int i;
    int64_t k;
    for (i = 0; i < NODES; i++, n = n->next) {
        n->sum = (int64_t)strlen(n->name);
        for (k = 0; k < n->count; k++)
            n->sum += (int64_t)n->values[k];
    }
}

static void negate(void *root)
{
    tagged *t = root;
    while (t) {
        t->value = -t->value;
        t = (tagged *)((uintptr_t)t->next & ~(uintptr_t)1);
    }
}

static void check_sums(const node *root)
{
    const node *n = root;
    int i;
    for (i = 0; i < NODES; i++, n = n->next) {
        const int64_t m = n->count;
        CHECK_EQ(m, i % 6);
        CHECK_EQ(n->sum, (i % 2 ? 3 : 4) + m * i + m * (m - 1) / 2);
    }
    CHECK_PTR(n, root);
}

static void check_negated(const tagged *t)
{
    int i;
    for (i = 0; i < NODES; i++) {
        CHECK_EQ(t->value, -i);
        t = (const tagged *)((uintptr_t)t->next & ~(uintptr_t)1);
    }
    CHECK(!t);
}

/* ---- Devices: two of a kind, and one of another kind that copies in small pieces. */

static fault_plan the_doors;
static haul_device *the_devices[DEVICES];
static haul_shipment *the_shipments[DEVICES];

static haul_context *devices_open(int patches, int deferred)
{
    test_device options;
    haul_context *context;
    int i;
    memset(&options, 0, sizeof options);
    memset(&the_doors, 0, sizeof the_doors);
    CHECK_STATUS(fault_open_context(&the_doors, NULL, &context), HAUL_OK);
    options.settings = &ordinary_launches;
    options.context = context;
    the_doors.chunk_bytes = 4096;
    the_doors.deferred = deferred;
    CHECK_STATUS(test_open(haul_host_device(), &options, &the_devices[0]), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), &options, &the_devices[1]), HAUL_OK);
    CHECK_STATUS(fault_open(&the_doors, &options, &the_devices[2]), HAUL_OK);
    for (i = 0; i < DEVICES; i++)
        host_patches(the_devices[i], patches);
    return context;
}

static void devices_close(haul_context *context)
{
    int i;
    for (i = 0; i < DEVICES; i++) {
        CHECK_PTR(the_shipments[i], NULL);
        haul_device_close(&the_devices[i]);
    }
    haul_context_free(&context);
    fault_check_clean(&the_doors);
}

static haul_image_options to_devices(size_t first, size_t count)
{
    haul_image_options options;
    size_t i;
    memset(&options, 0, sizeof options);
    options.devices = the_devices + first;
    options.device_count = count;
    options.shipments = the_shipments;
    for (i = 0; i < DEVICES; i++)
        the_shipments[i] = (haul_shipment *)(void *)&options; /* whatever was there */
    return options;
}

static void shipments_free(size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        haul_shipment_free(&the_shipments[i]);
    for (; i < DEVICES; i++)
        the_shipments[i] = NULL;
}

/* Each device works on its own copy, and the last results stay. */
static void use(haul_image *image, size_t first, size_t count, int is_tagged)
{
    void *const root = haul_image_roots(image, NULL)[0].address;
    size_t i;
    for (i = 0; i < count; i++) {
        void *there = haul_device_pointer(the_shipments[i], root);
        haul_shipment_info info;
        CHECK(there != NULL && there != root);
        CHECK_STATUS(haul_host_launch(the_devices[first + i], is_tagged ? negate : add_up, there),
                     HAUL_OK);
        if (is_tagged)
            CHECK_EQ(((const tagged *)root)->value, 0);
        haul_shipment_get_info(the_shipments[i], &info);
        CHECK_EQ(info.transfers_to, 1);
    }
    CHECK_STATUS(haul_unmarshal(the_shipments[count - 1]), HAUL_OK);
    if (is_tagged)
        check_negated(root);
    else
        check_sums(root);
}

static void load_and_use(const image_bytes *bytes, int is_tagged, int patches, int deferred)
{
    haul_type *const *type = is_tagged ? &tagged_type : &node_type;
    size_t first, count;
    for (first = 0; first < DEVICES; first++)
        for (count = 1; first + count <= DEVICES; count++) {
            haul_context *context = devices_open(patches, deferred);
            const haul_image_options options = to_devices(first, count);
            haul_image *image;
            CHECK_STATUS(
                haul_image_from_bytes(context, bytes->at, bytes->count, type, 1, &options, &image),
                HAUL_OK);
            use(image, first, count, is_tagged);
            shipments_free(count);
            haul_image_free(&image);
            devices_close(context);
        }
}

TEST(image_devices, one_read_goes_to_one_or_several_devices)
{
    image_bytes bytes;
    int is_tagged, flavour;
    types_open();
    for (is_tagged = 0; is_tagged < 2; is_tagged++) {
        make_image(&bytes, is_tagged);
        for (flavour = 0; flavour < 4; flavour++)
            load_and_use(&bytes, is_tagged, flavour & 1, flavour >> 1);
        bytes_free(&bytes);
    }
    types_close();
}

/* As it lies, if bits tell the pointers; else packed. */
TEST(image_devices, what_an_arena_takes_crosses_as_it_lies)
{
    image_bytes bytes;
    int is_tagged;
    types_open();
    for (is_tagged = 0; is_tagged < 2; is_tagged++) {
        haul_context *context = devices_open(0, 0);
        const haul_image_options options = to_devices(0, 1);
        haul_shipment_info info;
        haul_image *image;
        make_image(&bytes, is_tagged);
        CHECK_STATUS(haul_image_from_bytes(context, bytes.at, bytes.count,
                                           is_tagged ? &tagged_type : &node_type, 1, &options,
                                           &image),
                     HAUL_OK);
        haul_shipment_get_info(the_shipments[0], &info);
        CHECK_EQ(info.to_device == HAUL_ROUTE_ARENA, !is_tagged);
        shipments_free(1);
        haul_image_free(&image);
        devices_close(context);
        bytes_free(&bytes);
    }
    types_close();
}

/* ---- Where it comes from. */

typedef struct drops {
    const image_bytes *bytes;
    size_t at;
} drops;

static haul_status read_a_little(void *user, void *data, size_t bytes, size_t *got)
{
    drops *d = user;
    const size_t left = d->bytes->count - d->at;
    *got = bytes < left ? bytes : left;
    *got = *got < 1000 ? *got : 1000;
    memcpy(data, d->bytes->at + d->at, *got);
    d->at += *got;
    return HAUL_OK;
}

TEST(image_devices, from_a_function_a_file_and_without_types)
{
    char path[] = P_tmpdir "/haul_devices_XXXXXX";
    int made = mkstemp(path), way;
    image_bytes bytes;
    FILE *out;
    types_open();
    make_image(&bytes, 0);
    CHECK(made >= 0);
    close(made);
    CHECK((out = fopen(path, "wb")) != NULL);
    CHECK_EQ(fwrite(bytes.at, 1, bytes.count, out), bytes.count);
    fclose(out);
    for (way = 0; way < 3; way++) {
        haul_context *context = devices_open(0, 0);
        const haul_image_options options = to_devices(0, 2);
        drops d = { &bytes, 0 };
        haul_file file;
        haul_image *image;
        memset(&file, 0, sizeof file);
        file.user = &d;
        file.read = read_a_little;
        CHECK_STATUS(way == 0   ? haul_image_read(context, &file, &node_type, 1, &options, &image)
                     : way == 1 ? haul_image_load(context, path, &node_type, 1, &options, &image)
                                : haul_image_from_bytes(context, bytes.at, bytes.count, NULL, 0,
                                                        &options, &image),
                     HAUL_OK);
        use(image, 0, 2, 0);
        shipments_free(2);
        haul_image_free(&image);
        devices_close(context);
    }
    unlink(path);
    bytes_free(&bytes);
    types_close();
}

/* The shipments keep the memory, and so does the image. */
TEST(image_devices, either_may_go_first)
{
    haul_context *context;
    haul_image_options options;
    image_bytes bytes;
    haul_image *image;
    int shipments_first;
    types_open();
    make_image(&bytes, 0);
    for (shipments_first = 0; shipments_first < 2; shipments_first++) {
        context = devices_open(0, 0);
        options = to_devices(0, 3);
        CHECK_STATUS(
            haul_image_from_bytes(context, bytes.at, bytes.count, &node_type, 1, &options, &image),
            HAUL_OK);
        if (shipments_first)
            shipments_free(3);
        else
            CHECK_STATUS(haul_update_device(the_shipments[0], NULL, NULL), HAUL_OK);
        add_up(haul_image_roots(image, NULL)[0].address);
        check_sums(haul_image_roots(image, NULL)[0].address);
        haul_image_free(&image);
        if (!shipments_first)
            CHECK_STATUS(haul_unmarshal(the_shipments[2]), HAUL_OK);
        shipments_free(3);
        devices_close(context);
    }
    bytes_free(&bytes);
    types_close();
}

/* ---- What is refused. */

static void expect_refused(haul_context *context, const image_bytes *bytes,
                           const haul_image_options *options, haul_status expected,
                           const char *words)
{
    haul_image *image = (haul_image *)(void *)bytes->at;
    size_t i;
    CHECK_STATUS(
        haul_image_from_bytes(context, bytes->at, bytes->count, &node_type, 1, options, &image),
        expected);
    CHECK_PTR(image, NULL);
    CHECK_HAS(haul_context_error(context)->text, words);
    for (i = 0; options->shipments && i < options->device_count; i++)
        CHECK_PTR(the_shipments[i], NULL);
}

TEST(image_devices, wrong_lists_and_wrong_images_are_refused)
{
    haul_context *context, *other;
    haul_device *closed = NULL;
    haul_image_options options;
    image_bytes bytes;
    char buffer[64];
    types_open();
    make_image(&bytes, 0);
    context = devices_open(0, 0);
    options = to_devices(0, 2);
    options.devices = NULL;
    expect_refused(context, &bytes, &options, HAUL_ERROR_ARGUMENT, "options->devices");
    options = to_devices(0, 2);
    options.shipments = NULL;
    expect_refused(context, &bytes, &options, HAUL_ERROR_ARGUMENT, "options->shipments");
    options = to_devices(0, 2);
    options.buffer = buffer;
    expect_refused(context, &bytes, &options, HAUL_ERROR_ARGUMENT, "a graph goes to devices");
    options = to_devices(0, 1);
    options.devices = &closed;
    expect_refused(context, &bytes, &options, HAUL_ERROR_ARGUMENT, "a device is NULL");
    CHECK_STATUS(haul_context_create(NULL, &other), HAUL_OK);
    options = to_devices(0, 2);
    expect_refused(other, &bytes, &options, HAUL_ERROR_ARGUMENT, "of another context");
    haul_context_free(&other);
    bytes.at[bytes.count - 1] ^= 1;
    options = to_devices(0, 3);
    expect_refused(context, &bytes, &options, HAUL_ERROR_FORMAT, "image");
    shipments_free(0);
    devices_close(context);
    bytes_free(&bytes);
    types_close();
}

/* ---- Faults. */

static struct {
    image_bytes bytes;
    haul_context *context;
    haul_image *image;
    int is_tagged;
} the_load;

static void open_faulty(void *user, fault_plan *plan)
{
    test_device options;
    (void)user;
    memset(&options, 0, sizeof options);
    options.settings = &ordinary_launches;
    CHECK_STATUS(fault_open(plan, &options, &the_devices[0]), HAUL_OK);
    the_load.context = haul_device_context(the_devices[0]);
    options.context = the_load.context;
    CHECK_STATUS(fault_open(plan, &options, &the_devices[1]), HAUL_OK);
}

static haul_status load_faulty(void *user)
{
    const haul_image_options options = to_devices(0, 2);
    (void)user;
    the_shipments[2] = NULL;
    return haul_image_from_bytes(the_load.context, the_load.bytes.at, the_load.bytes.count,
                                 the_load.is_tagged ? &tagged_type : &node_type, 1, &options,
                                 &the_load.image);
}

static void check_faulty(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(the_load.image != NULL, status == HAUL_OK);
    CHECK_EQ(the_shipments[0] != NULL, status == HAUL_OK);
    CHECK_EQ(the_shipments[1] != NULL, status == HAUL_OK);
}

static void free_faulty(void *user)
{
    (void)user;
    haul_shipment_free(&the_shipments[0]);
    haul_shipment_free(&the_shipments[1]);
    haul_image_free(&the_load.image);
}

static void close_faulty(void *user)
{
    (void)user;
    haul_device_close(&the_devices[1]);
    haul_device_close(&the_devices[0]);
}

TEST(image_devices, a_failure_anywhere_leaves_nothing_behind)
{
    fault_operation operation;
    types_open();
    for (the_load.is_tagged = 0; the_load.is_tagged < 2; the_load.is_tagged++) {
        memset(&operation, 0, sizeof operation);
        operation.name = the_load.is_tagged ? "packed" : "as it lies";
        operation.prepare = open_faulty;
        operation.run = load_faulty;
        operation.check = check_faulty;
        operation.undo = free_faulty;
        operation.finish = close_faulty;
        operation.keeps = the_load.is_tagged; /* devices keep what they stage in */
        operation.modes = 1u << FAULT_ONCE | 1u << FAULT_FROM | 1u << FAULT_LOST;
        make_image(&the_load.bytes, the_load.is_tagged);
        CHECK(fault_everywhere(&operation) > 20);
        bytes_free(&the_load.bytes);
    }
    types_close();
}

/* OpenACC and graphs that an environment or a shipment keeps on the device.
 *
 * Without an argument, on a machine without a device: the calls say so. Then this file plays a
 * run time with a device, whose table has the rules of libgomp: calls for which libgomp would end
 * the program are counted. With the argument `gpu` the same claims hold of OpenACC on the first
 * GPU, and a region walks the graphs there.
 *
 * Prints a line for each claim.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul.h>
#include <haul/cuda.h>
#include <openacc.h>

static int plays, finder_is_busy, extents_are_busy, failures;

/* ---- The run time that is played. A block that is not Haul's lies in device memory of its own. */

typedef struct block {
    char *host, *device;
    size_t bytes;
} block;

enum { BLOCKS = 5000 };
static block blocks[BLOCKS];
static char own_memory[BLOCKS];
static size_t mapped, ends;

static size_t overlapping(const char *host, size_t bytes)
{
    size_t i = 0;
    while (i < mapped &&
           (host + bytes <= blocks[i].host || blocks[i].host + blocks[i].bytes <= host))
        i++;
    return i;
}

static acc_device_t type_of_device(void)
{
    return plays ? acc_device_not_host : acc_get_device_type();
}

static int devices(acc_device_t type)
{
    return plays ? 1 : acc_get_num_devices(type);
}

static void map_data(void *host, void *device, size_t bytes)
{
    ends += plays && (mapped == BLOCKS || overlapping(host, bytes) < mapped);
    if (!plays)
        acc_map_data(host, device, bytes);
    blocks[mapped].host = host;
    blocks[mapped].device = device;
    blocks[mapped++].bytes = bytes;
}

static void unmap_data(void *host)
{
    size_t i = 0;
    while (i < mapped && blocks[i].host != host)
        i++;
    ends += i == mapped;
    if (!plays)
        acc_unmap_data(host);
    if (i < mapped)
        blocks[i] = blocks[--mapped];
}

static int is_present(void *host, size_t bytes)
{
    const size_t i = plays ? overlapping(host, bytes) : 0;
    const char *const first = host;
    if (!plays)
        return acc_is_present(host, bytes);
    return i < mapped && blocks[i].host <= first &&
           first + bytes <= blocks[i].host + blocks[i].bytes;
}

static void *copy_of(void *host)
{
    const size_t i = plays ? overlapping(host, 1) : 0;
    if (!plays)
        return acc_deviceptr(host);
    return i < mapped ? blocks[i].device + ((char *)host - blocks[i].host) : NULL;
}

/* What the program has mapped itself. */
static void map_own(void *host, size_t bytes)
{
    if (plays)
        map_data(host, own_memory, bytes);
    else
        acc_copyin(host, bytes);
}

static void unmap_own(void *host, size_t bytes)
{
    if (plays)
        unmap_data(host);
    else
        acc_delete(host, bytes);
}

/* Another thread may enter the context between two calls of one function. */
static haul_status set_finder(haul_environment *e, haul_copy_finder *find, void *user)
{
    return finder_is_busy ? HAUL_ERROR_BUSY : haul_environment_set_finder(e, find, user);
}

static haul_status extents(const haul_shipment *s, haul_range_visitor *visit, void *user)
{
    if (extents_are_busy && --extents_are_busy % 2 == 1)
        return HAUL_ERROR_BUSY;
    return haul_shipment_extents(s, visit, user);
}

#define acc_get_device_type type_of_device
#define acc_get_num_devices devices
#define acc_map_data map_data
#define acc_unmap_data unmap_data
#define acc_is_present is_present
#define acc_deviceptr copy_of
#define haul_environment_set_finder set_finder
#define haul_shipment_extents extents
#include <haul/openacc.h>

/* ---- The graph: a list; every node has an array, and bytes of nobody lie between all of them. */

typedef struct node {
    struct node *next;
    double *values;
    long count, sum;
} node;

enum { VALUES = 5, NODES = 20 };
typedef struct spot {
    node one;
    char gap[16];
    double values[VALUES];
    char other_gap[24];
} spot;

static haul_type *node_type;
static const haul_field fields[] = { HAUL_OBJECT(node, next, &node_type),
                                     HAUL_ARRAY(node, values, HAUL_COUNT(node, count)) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, fields) };

static haul_context *context;
static haul_device *device;
static spot spots[HAUL_OPENACC_MOST / 2 + 1];
static node *const root = &spots[0].one;

static void claim(const char *sentence, int holds)
{
    printf("  %s  %s\n", holds ? "yes" : "NO ", sentence);
    failures += !holds;
}

static void must(const char *what, haul_status status)
{
    if (status == HAUL_OK)
        return;
    printf("%s: %s: %s\n", what, haul_status_text(status), haul_context_error(context)->text);
    exit(1);
}

static void make_list(size_t count)
{
    size_t i;
    int k;
    for (i = 0; i < count; i++) {
        spots[i].one.next = i + 1 < count ? &spots[i + 1].one : NULL;
        spots[i].one.values = spots[i].values;
        spots[i].one.count = VALUES;
        spots[i].one.sum = 0;
        for (k = 0; k < VALUES; k++)
            spots[i].values[k] = (double)i + k;
    }
}

static int is_told(void *host)
{
    return acc_is_present(host, 1);
}

static haul_environment *environment_of(void)
{
    haul_environment *e;
    must("create", haul_environment_create(device, &e));
    return e;
}

static haul_status enter(haul_environment *e)
{
    return haul_environment_enter(e, root, node_type, 1, NULL, NULL);
}

/* ---- A region. Where the device is played there is none to run it, and no claim. */

static int region_adds(void)
{
    node *first = root, *at;
    for (at = root; at; at = at->next)
        at->sum = -1;
#pragma acc parallel num_gangs(1) present(first [0:1])
    {
        for (node *one = first; one; one = one->next) {
            one->sum = 0;
            for (long k = 0; k < one->count; k++)
                one->sum += (long)one->values[k];
        }
    }
    for (at = root; at && at->sum == -1; at = at->next)
        continue;
    return !at; /* the host's sums are as they were */
}

static int sums_are_right(void)
{
    const node *at;
    long i = 0;
    for (at = root; at && at->sum == VALUES * i + 10; at = at->next)
        i++;
    return !at;
}

static void claim_of_region(const char *sentence, int (*holds)(void))
{
    if (!plays)
        claim(sentence, holds());
}

/* ---- Claims. */

static void try_calls(void)
{
    haul_openacc told;
    haul_environment *e = environment_of();
    haul_environment_info info;
    must("enter", enter(e));
    finder_is_busy = 1;
    claim("a busy context leaves nothing mapped",
          haul_openacc_watch(e, &told) == HAUL_ERROR_BUSY && mapped == 0);
    finder_is_busy = 0;
    claim("else what is present is mapped",
          haul_openacc_watch(e, &told) == HAUL_OK && mapped == 2 * NODES && told.ranges == mapped);
    claim("a second call maps it again, and counts it once",
          haul_openacc_watch(e, &told) == HAUL_OK && mapped == 2 * NODES && told.ranges == mapped);
    claim("interior addresses are present",
          is_told(&spots[3].one.sum) && is_told(&spots[7].values[4]));
    claim_of_region("a region walks the list by its host pointer", region_adds);
    must("update", haul_environment_update_host(e, root, 0, NULL));
    claim_of_region("and its results come back", sums_are_right);
    must("exit", haul_environment_exit(e, root, NULL, NULL));
    claim("an exit unmaps it", mapped == 0 && told.ranges == 0 && !is_told(root));
    haul_environment_get_info(e, &info);
    claim("and frees it", info.groups == 0);
    must("enter", enter(e));
    haul_environment_free(&e);
    claim("nothing stays after the environment", mapped == 0 && told.ranges == 0 && !is_told(root));
}

/* The run time's copy of an array stands in for one of Haul's. */
static void try_mapped(void)
{
    haul_openacc told;
    haul_environment *e = environment_of();
    double *const own = spots[9].values;
    must("watch", haul_openacc_watch(e, &told));
    map_own(own, sizeof spots[9].values);
    must("enter", enter(e));
    claim("an array that OpenACC has mapped is not sent",
          told.ranges == 2 * NODES - 1 && !haul_environment_device_pointer(e, own));
    claim_of_region("a region finds OpenACC's array and Haul's list by the list's pointers",
                    region_adds);
    must("update", haul_environment_update_host(e, root, 0, NULL));
    claim_of_region("and its results come back", sums_are_right);
    must("exit", haul_environment_exit(e, root, NULL, NULL));
    claim("the exit leaves the array to OpenACC", is_told(own) && !is_told(root));
    unmap_own(own, sizeof spots[9].values);
    haul_environment_free(&e);
}

/* What libgomp would end the program for. */
static int refuses(haul_environment *e, haul_openacc *told, haul_shipment *s, void *part,
                   size_t bytes)
{
    size_t count = 1;
    int right;
    map_own(part, bytes);
    right = enter(e) == HAUL_ERROR_CANCELLED && told->ranges == 0;
    right &= strstr(haul_context_error(context)->text, " bytes at 0x") != NULL;
    right &= haul_openacc_associate(s, &count) == HAUL_ERROR_DEVICE && count == 0;
    right &= strstr(haul_context_error(context)->text, " bytes at 0x") != NULL;
    right &= is_told(part) && !is_told(root) && !is_told(spots[1].values) && ends == 0;
    unmap_own(part, bytes);
    return right;
}

static void try_parts(void)
{
    haul_openacc told;
    haul_shipment *s;
    haul_environment *e = environment_of();
    haul_environment_info info;
    node *const middle = &spots[9].one;
    char *const before = spots[8].other_gap;
    must("watch", haul_openacc_watch(e, &told));
    must("ship", haul_ship(device, root, node_type, 1, NULL, &s));
    claim("a graph of which OpenACC has mapped the first byte is refused as a whole",
          refuses(e, &told, s, middle->values, 1));
    claim("the same with the last byte", refuses(e, &told, s, (char *)&middle->sum + 7, 1));
    claim("and with an element in the middle", refuses(e, &told, s, &middle->values[2], 8));
    claim("and with 4 bytes of a member", refuses(e, &told, s, (char *)&middle->count + 4, 4));
    claim("and with a range that begins before it", refuses(e, &told, s, before, 24 + 8));
    claim("and with one that ends behind it", refuses(e, &told, s, &middle->sum, 8 + 16));
    haul_environment_get_info(e, &info);
    claim("it leaves nothing on the device", info.groups == 0 && info.device_bytes == 0);
    must("enter", enter(e));
    claim("without it the same calls go well", told.ranges == 2 * NODES);
    must("exit", haul_environment_exit(e, root, NULL, NULL));

    must("watch", haul_environment_watch(e, NULL, NULL, NULL));
    must("enter", enter(e));
    map_own(&middle->values[2], 8);
    claim("a watch refuses what is present already, as a whole",
          haul_openacc_watch(e, &told) == HAUL_ERROR_CANCELLED && !is_told(root) && ends == 0);
    unmap_own(&middle->values[2], 8);
    haul_shipment_free(&s);
    haul_environment_free(&e);
}

static void try_shipment(void)
{
    haul_shipment *s;
    size_t count;
    must("ship", haul_ship(device, root, node_type, 1, NULL, &s));
    must("associate", haul_openacc_associate(s, &count));
    claim("a shipment is mapped by its extents", count == 2 * NODES && count == mapped);
    claim_of_region("a region walks it by its host pointer", region_adds);
    must("unmarshal", haul_unmarshal(s));
    claim_of_region("and its results come back", sums_are_right);
    make_list(NODES);
    must("reship", haul_openacc_reship(s, &count));
    claim("after a reship all of it is mapped anew",
          count == 2 * NODES && count == mapped &&
              acc_deviceptr(root) == haul_device_pointer(s, root));
    claim_of_region("and a region walks it in its new place", region_adds);
    claim("a second association is refused, and takes the first one's extents for parts",
          haul_openacc_associate(s, &count) == HAUL_ERROR_DEVICE && count == 0 &&
              mapped == 2 * NODES);
    must("dissociate", haul_openacc_dissociate(s));
    claim("nothing is mapped after the dissociation", mapped == 0 && !is_told(root));
    must("dissociate", haul_openacc_dissociate(s));
    claim("a second dissociation unmaps nothing", ends == 0);
    map_own(&spots[9].values[2], 8);
    extents_are_busy = 4; /* the second and the fourth call from here go through */
    claim("a busy context is an error, and nothing is mapped",
          haul_openacc_associate(s, &count) == HAUL_ERROR_BUSY && mapped == (size_t)plays);
    claim("what a refused association has to take back is taken back behind other threads",
          haul_openacc_associate(s, &count) == HAUL_ERROR_DEVICE && mapped == (size_t)plays &&
              extents_are_busy == 0);
    unmap_own(&spots[9].values[2], 8);
    haul_shipment_free(&s);
}

/* An arena; a mirrored one has one address for both sides. */
static void try_arena(int mirrored)
{
    haul_arena *arena;
    haul_shipment *s;
    haul_arena_options options;
    node *one;
    size_t count;
    memset(&options, 0, sizeof options);
    options.device = mirrored ? device : NULL;
    options.mirrored = mirrored;
    options.reserve_bytes = 1 << 20;
    must("arena", haul_arena_create(context, &options, &arena));
    one = haul_arena_new(arena, node_type, 1);
    one->values = haul_arena_bytes(arena, sizeof(double), sizeof(double));
    one->count = 1;
    must("ship", haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s));
    must("associate", haul_openacc_associate(s, &count));
    claim(mirrored ? "a mirrored arena is mapped to itself" : "an arena is one call",
          count == 1 && mapped == 1 && is_told(one) && is_told(one->values) &&
              (acc_deviceptr(one) == (void *)one) == mirrored);
    must("dissociate", haul_openacc_dissociate(s));
    claim("and then none", mapped == 0 && !is_told(one));
    haul_shipment_free(&s);
    haul_arena_free(&arena);
}

static void try_most(void)
{
    haul_openacc told;
    haul_shipment *s;
    haul_environment *e = environment_of();
    size_t count;
    must("watch", haul_openacc_watch(e, &told));
    make_list(HAUL_OPENACC_MOST / 2);
    must("ship", haul_ship(device, root, node_type, 1, NULL, &s));
    claim("as many ranges as may be are mapped",
          enter(e) == HAUL_OK && mapped == HAUL_OPENACC_MOST);
    must("exit", haul_environment_exit(e, root, NULL, NULL));
    claim("and as many extents",
          haul_openacc_associate(s, &count) == HAUL_OK && count == HAUL_OPENACC_MOST);
    must("dissociate", haul_openacc_dissociate(s));
    haul_shipment_free(&s);

    make_list(HAUL_OPENACC_MOST / 2 + 1);
    must("ship", haul_ship(device, root, node_type, 1, NULL, &s));
    claim("more are refused, and nothing is mapped",
          enter(e) == HAUL_ERROR_CANCELLED && mapped == 0 && told.ranges == 0);
    claim("the same of a shipment",
          haul_openacc_associate(s, &count) == HAUL_ERROR_DEVICE && count == 0 && mapped == 0);
    haul_shipment_free(&s);
    haul_environment_free(&e);
}

static void try_without_device(void)
{
    haul_openacc told;
    haul_environment *e = environment_of();
    must("enter", enter(e));
    claim("without a device the calls say so",
          haul_openacc_watch(e, &told) == HAUL_ERROR_UNSUPPORTED &&
              haul_openacc_associate(NULL, NULL) == HAUL_ERROR_UNSUPPORTED &&
              haul_openacc_dissociate(NULL) == HAUL_ERROR_UNSUPPORTED &&
              haul_openacc_reship(NULL, NULL) == HAUL_ERROR_UNSUPPORTED);
    haul_environment_free(&e);
}

int main(int argc, char **argv)
{
    const int gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
    must("context", haul_context_create(NULL, &context));
    must("types", HAUL_DESCRIBE(context, structs));
    must("device",
         gpu ? haul_cuda_open(context, NULL, &device) : haul_host_open(context, NULL, &device));
    make_list(NODES);
    if (!gpu) {
        try_without_device();
        plays = 1;
    } else if (!haul_openacc_has_device()) {
        printf("OpenACC has no device: nothing could be tested\n");
        return 1;
    }
    try_calls();
    try_mapped();
    try_parts();
    try_shipment();
    try_arena(0);
    try_arena(1);
    try_most();
    claim("no call would have ended the program", ends == 0);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return failures != 0;
}

/* Plain pragmas on graphs that an environment or a shipment keeps on the device.
 *
 * Compiled by clang for its own host as a device (-fopenmp-targets=x86_64-pc-linux-gnu): regions
 * run in another memory, and association works, without a GPU. They run inside haul_host_launch,
 * because Haul's device memory is inaccessible elsewhere. On a GPU they run as they are. Meanwhile
 * the host's graph is inaccessible: a pointer that nobody translated faults.
 *
 * Prints a line for each claim. Arguments:
 *     gpu         on the first GPU, whose device Haul opens before OpenMP does
 *     gpu-last    OpenMP opens it first; so both have contexts of their own, or share OpenMP's
 *     gpu-thread  Haul opens it in another thread
 *     untold      nothing is associated: the program must die or answer wrongly
 *     hostless    OpenMP has no device: the calls must say so
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/mman.h>

#include <haul.h>
#include <haul/cuda.h>

/* Another thread may enter the context between two calls of one function. */
static haul_copy_finder *finder;
static int finder_is_busy;
static haul_status set_finder(haul_environment *e, haul_copy_finder *find, void *user)
{
    if (finder_is_busy)
        return HAUL_ERROR_BUSY;
    finder = find;
    return haul_environment_set_finder(e, find, user);
}
#define haul_environment_set_finder set_finder
#include <haul/openmp.h>

enum { NODES = 200 };

typedef struct node {
    struct node *left, *right;
    double *values;
    long count, sum;
} node;

static haul_type *node_type;
static const haul_field fields[] = { HAUL_OBJECT(node, left, &node_type),
                                     HAUL_OBJECT(node, right, &node_type),
                                     HAUL_ARRAY(node, values, HAUL_COUNT(node, count)) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, fields) };

static haul_context *context;
static haul_device *device;
static int failures, target, on_gpu;

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

/* ---- The graph, in pages of its own. */

static unsigned char *memory;
static size_t used;
enum { BYTES = 1 << 20 };

static void *take(size_t bytes)
{
    void *at = memory + used;
    used += (bytes + 15) / 16 * 16;
    return at;
}

/* A complete tree; every node has an array, and is the child of its half. */
static node *make_tree(int count)
{
    node *all = take((size_t)count * sizeof *all);
    int i, k;
    for (i = 0; i < count; i++) {
        all[i].left = 2 * i + 1 < count ? &all[2 * i + 1] : NULL;
        all[i].right = 2 * i + 2 < count ? &all[2 * i + 2] : NULL;
        all[i].count = 1 + i % 5;
        all[i].sum = 0;
        all[i].values = take((size_t)all[i].count * sizeof(double));
        for (k = 0; k < all[i].count; k++)
            all[i].values[k] = i + k;
    }
    return all;
}

static long sum_of(int i)
{
    long sum = 0, k;
    for (k = 0; k < 1 + i % 5; k++)
        sum += i + k;
    return sum;
}

/* ---- Regions. `root` is the host's pointer. */

typedef struct region {
    node *root;
    int was_initial;
} region;

static void run_there(void *argument)
{
    region *r = argument;
    node *root = r->root;
    int was_initial = 1;
    mprotect(memory, BYTES, PROT_NONE);
#pragma omp target map(from : was_initial) device(target)
    {
        node *stack[64];
        int depth = 0;
        was_initial = omp_is_initial_device();
        stack[depth++] = root;
        while (depth > 0) {
            node *at = stack[--depth];
            at->sum = 0;
            for (long k = 0; k < at->count; k++)
                at->sum += (long)at->values[k];
            if (at->left)
                stack[depth++] = at->left;
            if (at->right)
                stack[depth++] = at->right;
        }
    }
    mprotect(memory, BYTES, PROT_READ | PROT_WRITE);
    r->was_initial = was_initial;
}

static int runs_right(node *root, haul_status (*back)(void *), void *of)
{
    region r = { root, 1 };
    int i, right = 1;
    for (i = 0; i < NODES; i++)
        root[i].sum = -1;
    if (on_gpu)
        run_there(&r);
    else
        must("launch", haul_host_launch(device, run_there, &r));
    must("return", back(of));
    for (i = 0; i < NODES; i++)
        right &= root[i].sum == sum_of(i) && root[i].values[0] == (double)i;
    return right && !r.was_initial;
}

static node *environment_root;
static haul_status bring_environment(void *e)
{
    return haul_environment_update_host(e, environment_root, 0, NULL);
}

static haul_status bring_shipment(void *s)
{
    return haul_unmarshal(s);
}

static int is_told(const void *at)
{
    return omp_target_is_present((void *)(uintptr_t)at, target);
}

/* ---- Claims. */

static void try_environment(node *root)
{
    haul_environment *e;
    haul_environment_info info;
    must("create", haul_environment_create(device, &e));
    must("watch", haul_openmp_watch(e, target));
    must("enter", haul_environment_enter(e, root, node_type, NODES, NULL, NULL));
    environment_root = root;
    haul_environment_get_info(e, &info);
    claim("a region walks a tree that was entered, by its host pointer",
          runs_right(root, bring_environment, e));
    claim("all of it was sent in one transfer", info.transfers_to == 1);
    claim("interior addresses are present", is_told(&root[3].sum) && is_told(root[7].values));
    must("exit", haul_environment_exit(e, root, NULL, NULL));
    claim("nothing is present after the exit", !is_told(root) && !is_told(root[7].values));
    must("enter", haul_environment_enter(e, root, node_type, NODES, NULL, NULL));
    haul_environment_free(&e);
    claim("nothing is present after the environment", !is_told(root));
}

static void try_refusal(node *root)
{
    haul_environment *e;
    haul_environment_info info;
    double *const own = root[9].values; /* OpenMP has it already */
    must("create", haul_environment_create(device, &e));
    must("watch", haul_openmp_watch(e, target));
#pragma omp target enter data map(to : own [0:1]) device(target)
    claim("a graph of which OpenMP has mapped a part is refused as a whole",
          haul_environment_enter(e, root, node_type, NODES, NULL, NULL) == HAUL_ERROR_CANCELLED &&
              !is_told(root) && is_told(own));
    haul_environment_get_info(e, &info);
    claim("and leaves nothing on the device", info.groups == 0 && info.device_bytes == 0);
#pragma omp target exit data map(delete : own [0:1]) device(target)
    haul_environment_free(&e);
}

/* OpenMP's copy of an array stands in for one of Haul's. */
static void try_mapped(node *root)
{
    haul_environment *e;
    haul_environment_info info;
    size_t all;
    double *const own = root[9].values;
    must("create", haul_environment_create(device, &e));
    must("enter", haul_environment_enter(e, root, node_type, NODES, NULL, NULL));
    haul_environment_get_info(e, &info);
    all = info.bytes;
    must("exit", haul_environment_exit(e, root, NULL, NULL));
    must("watch", haul_openmp_watch(e, target));
#pragma omp target enter data map(to : own [0:5]) device(target)
    must("enter", haul_environment_enter(e, root, node_type, NODES, NULL, NULL));
    haul_environment_get_info(e, &info);
    claim("an array that OpenMP has mapped is not sent", info.bytes == all - 5 * sizeof(double));
    claim("and is absent in the environment", !haul_environment_device_pointer(e, &own[2]));
    environment_root = root;
    claim("a region finds OpenMP's array and Haul's tree by the tree's pointers",
          runs_right(root, bring_environment, e));
    must("exit", haul_environment_exit(e, root, NULL, NULL));
    claim("the exit leaves OpenMP's array to it", is_told(own) && !is_told(root));
#pragma omp target exit data map(delete : own [0:5]) device(target)
    haul_environment_free(&e);
}

/* What is declared for the device is the run time's, too, from the device's first use on. */
#pragma omp declare target
static double declared[5];
#pragma omp end declare target

static void try_declared(node *root)
{
    haul_environment *e;
    double *const own = root[9].values;
    memcpy(declared, own, sizeof declared);
#pragma omp target update to(declared) device(target)
    root[9].values = declared;
    must("create", haul_environment_create(device, &e));
    must("watch", haul_openmp_watch(e, target));
    must("enter", haul_environment_enter(e, root, node_type, NODES, NULL, NULL));
    claim("an array that is declared for the device is not sent",
          !haul_environment_device_pointer(e, declared));
    environment_root = root;
    claim("a region finds it by a pointer of the tree", runs_right(root, bring_environment, e));
    haul_environment_free(&e);
    claim("and it stays", is_told(declared));
    root[9].values = own;
}

/* Of a call that fails nothing stays. */
static void try_failures(node *root)
{
    haul_environment *e;
    double *const own = root[9].values;
    must("create", haul_environment_create(device, &e));
    must("enter", haul_environment_enter(e, root, node_type, NODES, NULL, NULL));
    finder_is_busy = 1;
    claim("a busy context leaves nothing associated",
          haul_openmp_watch(e, target) == HAUL_ERROR_BUSY && !is_told(root));
    finder_is_busy = 0;
#pragma omp target enter data map(to : own [0:1]) device(target)
    claim("what is present already is refused as a whole, and OpenMP is not asked then",
          haul_openmp_watch(e, target) == HAUL_ERROR_CANCELLED && !is_told(root) && is_told(own) &&
              !finder);
#pragma omp target exit data map(delete : own [0:1]) device(target)
    must("watch", haul_openmp_watch(e, target));
    claim("another call associates it", is_told(root) && finder == haul_openmp_find);
    haul_environment_free(&e);
}

static void try_shipment(node *root)
{
    haul_shipment *s;
    size_t count;
    must("ship", haul_ship(device, root, node_type, NODES, NULL, &s));
    must("associate", haul_openmp_associate(s, target, &count));
    claim("a region walks a tree that was shipped, by its host pointer",
          runs_right(root, bring_shipment, s));
    /* take leaves 8 bytes behind arrays of 1, 3 and 5 numbers, of 5 */
    claim("objects side by side are one association", count == NODES / 5 * 3);
    must("reship", haul_openmp_reship(s, target, &count));
    claim("after a reship all of it is associated anew",
          count == NODES / 5 * 3 && is_told(root) && is_told(root[7].values));
    claim("and a region walks it in its new place", runs_right(root, bring_shipment, s));
    must("dissociate", haul_openmp_dissociate(s, target));
    claim("nothing is present after the dissociation", !is_told(root) && !is_told(root[7].values));
    haul_shipment_free(&s);
}

/* One node of an arena, in a region, by the host's pointer. A mirrored arena has one address for
 * both sides: it is associated with itself. */
static void add_there(void *argument)
{
    region *r = argument;
    node *one = r->root;
    int was_initial = 1;
#pragma omp target map(from : was_initial) device(target)
    {
        was_initial = omp_is_initial_device();
        one->sum = one->count + (long)one->values[0];
    }
    r->was_initial = was_initial;
}

static void try_arena(int mirrored)
{
    haul_arena_options options;
    haul_arena *arena;
    haul_shipment *s;
    region r = { NULL, 1 };
    size_t count;
    memset(&options, 0, sizeof options);
    options.device = mirrored ? device : NULL;
    options.mirrored = mirrored;
    options.reserve_bytes = BYTES;
    must("arena", haul_arena_create(context, &options, &arena));
    r.root = haul_arena_new(arena, node_type, 1);
    r.root->values = haul_arena_bytes(arena, sizeof(double), sizeof(double));
    r.root->values[0] = 41;
    r.root->count = 1;
    must("ship", haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s));
    must("associate", haul_openmp_associate(s, target, &count));
    claim(mirrored ? "a mirrored arena is associated with itself" : "an arena is one association",
          count == 1 && is_told(r.root) && is_told(r.root->values) &&
              (haul_device_pointer(s, r.root) == (void *)r.root) == mirrored);
    r.root->sum = 0;
    if (on_gpu)
        add_there(&r);
    else
        must("launch", haul_host_launch(device, add_there, &r));
    claim("a region finds what it holds by host pointers, and the host's is as it was",
          !r.was_initial && r.root->sum == 0);
    must("update", haul_unmarshal(s));
    claim("its result comes back", r.root->sum == 42);
    must("dissociate", haul_openmp_dissociate(s, target));
    claim("and then nothing is associated", !is_told(r.root));
    haul_shipment_free(&s);
    haul_arena_free(&arena);
}

static void *open_gpu(void *unused)
{
    (void)unused;
    must("device", haul_cuda_open(context, NULL, &device));
    return NULL;
}

static void open_device(const char *how)
{
    pthread_t thread;
    on_gpu = strncmp(how, "gpu", 3) == 0;
    if (!on_gpu) {
        must("device", haul_host_open(context, NULL, &device));
        return;
    }
    if (strcmp(how, "gpu-last") == 0)
        omp_target_free(omp_target_alloc(1, target), target);
    if (strcmp(how, "gpu-thread") == 0 && pthread_create(&thread, NULL, open_gpu, NULL) == 0)
        pthread_join(thread, NULL);
    else
        open_gpu(NULL);
}

int main(int argc, char **argv)
{
    const char *const how = argc > 1 ? argv[1] : "";
    node *root;
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    target = omp_get_default_device();
    must("context", haul_context_create(NULL, &context));
    must("types", HAUL_DESCRIBE(context, structs));
    open_device(how);
    root = make_tree(NODES);
    if (strcmp(how, "untold") == 0) {
        region r = { root, 1 };
        haul_host_launch(device, run_there, &r);
        return r.was_initial ? 2 : 0;
    }
    if (strcmp(how, "hostless") == 0) {
        haul_environment *e;
        must("create", haul_environment_create(device, &e));
        claim("without a device the calls say so",
              haul_openmp_watch(e, target) == HAUL_ERROR_UNSUPPORTED &&
                  haul_openmp_associate(NULL, target, NULL) == HAUL_ERROR_UNSUPPORTED);
        haul_environment_free(&e);
    } else if (!haul_openmp_has(target)) {
        printf("there is no offload device: nothing could be tested\n");
        return 1;
    } else {
        try_environment(root);
        try_refusal(root);
        try_mapped(root);
        try_declared(root);
        try_failures(root);
        try_shipment(root);
        try_arena(0);
        try_arena(1);
    }
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return failures != 0;
}

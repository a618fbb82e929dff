/* Directions: bytes that are HAUL_COPYIN are never written on the host, HAUL_COPYOUT bytes are
 * never read there, and HAUL_CREATE bytes only have a place.
 *
 * Memory that must not be read is made inaccessible meanwhile, and memory that must not be written
 * is made read-only. A model of bytes gives the expected result for random fields over random
 * ranges.
 *
 * Faults by number (docs/testing.md): D1, D4, D5, D6, D13, H1, H2 of calls on a graph with
 * directions.
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"
#include "support/random.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

#define PAGE ((size_t)4096)

typedef struct job {
    int32_t n, rounds;
    double *input, *result, *room, *state;
    char *label;
    struct job *next, *like;
    int64_t residual, tolerance, scratch, total;
} job;

static haul_type *job_type;

static void jobs_open(void)
{
    static const haul_field fields[] = {
        HAUL_RAW(job, rounds, .transfer = HAUL_COPYOUT),
        HAUL_ARRAY(job, input, HAUL_COUNT(job, n), .transfer = HAUL_COPYIN),
        HAUL_ARRAY(job, result, HAUL_COUNT(job, n), .transfer = HAUL_COPYOUT),
        HAUL_ARRAY(job, room, HAUL_COUNT(job, n), .transfer = HAUL_CREATE),
        HAUL_ARRAY(job, state, HAUL_COUNT(job, n)),
        HAUL_STRING(job, label, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(job, next, &job_type),
        HAUL_OBJECT(job, like, &job_type, .transfer = HAUL_COPYIN),
        HAUL_RAW(job, residual, .transfer = HAUL_COPYOUT),
        HAUL_RAW(job, tolerance, .transfer = HAUL_COPYIN),
        HAUL_RAW(job, scratch, .transfer = HAUL_CREATE),
    };
    CHECK_STATUS(type_make("job", sizeof(job), fields, sizeof fields / sizeof *fields, &job_type),
                 HAUL_OK);
    check_note("%s", haul_type_commit(job_type) == HAUL_OK ? "" : type_error()->text);
    CHECK(haul_type_committed(job_type));
    check_note(NULL);
}

/* Arrays begin at odd multiples of their elements, so that they share granules, pages and
 * blocks. */
static double *numbers(world *w, int32_t n, double first)
{
    double *all = world_take(w, (size_t)n * sizeof *all, sizeof *all);
    int32_t i;
    for (i = 0; i < n; i++)
        all[i] = first + i;
    return all;
}

static job *job_make(world *w, int32_t n)
{
    job *j = world_take(w, sizeof *j, 16);
    memset(j, 0, sizeof *j);
    j->n = n;
    world_take(w, 8, 8);
    j->input = numbers(w, n, 100);
    j->result = numbers(w, n, 200);
    j->room = numbers(w, n, 300);
    j->state = numbers(w, n, 400);
    j->label = world_text(w, "a label");
    j->rounds = 1;
    j->residual = 2;
    j->tolerance = 3;
    j->scratch = 4;
    j->total = 5;
    return j;
}

/* What a kernel may find, and what it leaves behind: everything is another. */
static int job_is_as_sent(const job *j)
{
    int good =
        j->rounds == 0 && j->residual == 0 && j->tolerance == 3 && j->scratch == 0 && j->total == 5;
    int32_t i;
    for (i = 0; i < j->n; i++)
        good &= j->input[i] == 100 + i && j->result[i] == 0 && j->room[i] == 0 &&
                j->state[i] == 400 + i;
    return good && strcmp(j->label, "a label") == 0;
}

static void job_work(job *j)
{
    int32_t i;
    for (i = 0; i < j->n; i++) {
        j->input[i] = -1;
        j->result[i] = 1000 + i;
        j->room[i] = -1;
        j->state[i] = 2000 + i;
    }
    j->label[0] = 'A';
    j->rounds = 11;
    j->residual = 12;
    j->tolerance = -1;
    j->scratch = -1;
    j->total = 15;
}

static void check_job_is_back(const job *j)
{
    int32_t i;
    for (i = 0; i < j->n; i++)
        CHECK(j->input[i] == 100 + i && j->result[i] == 1000 + i && j->room[i] == 300 + i &&
              j->state[i] == 2000 + i);
    CHECK_STR(j->label, "a label");
    CHECK_EQ(j->rounds, 11);
    CHECK_EQ(j->residual, 12);
    CHECK_EQ(j->tolerance, 3);
    CHECK_EQ(j->scratch, 4);
    CHECK_EQ(j->total, 15);
}

typedef struct shift {
    job *first;
    int good;
} shift;

static void work(void *argument)
{
    shift *s = argument;
    job *j;
    s->good = 1;
    for (j = s->first; j; j = j->next) {
        s->good &= job_is_as_sent(j);
        job_work(j);
    }
}

static void work_on(haul_device *device, const haul_shipment *s, world *w, job *first)
{
    shift here;
    here.first = haul_device_pointer(s, first);
    world_protect(w, PROT_NONE);
    CHECK_STATUS(haul_host_launch(device, work, &here), HAUL_OK);
    world_protect(w, PROT_READ | PROT_WRITE);
    CHECK(here.good);
}

static int is_checked;      /* the context of the next device */
static int is_host_patched; /* its graphs */
static int is_all_or_nothing;

static void there_and_back(int32_t n, size_t chunk, const haul_ship_options *options, int async)
{
    static const haul_async own = { NULL, NULL };
    test_device how;
    fault_plan plan;
    world w;
    job *first, *last;
    int count = n < 1000 ? 6 : 2, i; /* a few go through discovery's innermost loop */
    haul_device *device;
    haul_shipment *s;
    memset(&plan, 0, sizeof plan);
    plan.chunk_bytes = chunk;
    plan.check_initialized = 1;
    memset(&how, 0, sizeof how);
    how.new_context.checked = is_checked;
    world_start(&w, (size_t)count * ((size_t)n * 4 * sizeof(double) + 1024));
    jobs_open();
    first = job_make(&w, n);
    for (last = first, i = 1; i < count; i++, last = last->next)
        last->next = job_make(&w, n);
    CHECK_STATUS(fault_open(&plan, &how, &device), HAUL_OK);
    host_patches(device, is_host_patched);
    if (async)
        CHECK_STATUS(haul_ship_from(device, haul_from_object(first, job_type), options, &own, &s),
                     HAUL_OK);
    else
        CHECK_STATUS(haul_ship(device, first, job_type, 1, options, &s), HAUL_OK);
    work_on(device, s, &w, first);
    CHECK_STATUS(async ? haul_update_device(s, NULL, &own) : haul_update_device(s, NULL, NULL),
                 HAUL_OK);
    work_on(device, s, &w, first); /* what is out was zeros again */
    CHECK_STATUS(
        haul_update_host(s, is_all_or_nothing ? ALL_OR_NOTHING : NULL, async ? &own : NULL),
        HAUL_OK);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    for (last = first; last; last = last->next)
        check_job_is_back(last);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&job_type);
    fault_check_clean(&plan);
    world_end(&w);
}

TEST(directions, each_byte_travels_as_its_row_says)
{
    haul_ship_options options;
    int32_t n;
    memset(&options, 0, sizeof options);
    for (n = 0; n < 40; n++) {
        is_host_patched = n % 2;
        is_all_or_nothing = n % 3 == 0;
        there_and_back(n, 0, &options, n % 4 == 3);
    }
    is_host_patched = is_all_or_nothing = 0;
}

TEST(directions, checked_contexts_know_them_too)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    is_checked = 1;
    there_and_back(7, 0, &options, 0);
    there_and_back(3001, 1, &options, 0);
    is_checked = 0;
}

TEST(directions, large_arrays_travel_as_their_rows_say_whole_and_in_pieces)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    there_and_back(30001, 0, &options, 0);
    there_and_back(30001, 1, &options, 0);
    there_and_back(30001, 1, &options, 1);
    is_host_patched = is_all_or_nothing = 1;
    there_and_back(30001, 1, &options, 0);
    there_and_back(700001, 0, &options, 0);
    is_all_or_nothing = 0;
    there_and_back(700001, 0, &options, 0);
    is_host_patched = 0;
}

/* A large array of bytes, and rows with directions for parts of it: some bytes in its last page, a
 * range across two pages, and a whole page. */
typedef struct parts {
    unsigned char *all, *out, *in, *page;
} parts;

enum { PARTS_BLOCK = 65536, PARTS_BYTES = 6 * PARTS_BLOCK, OUT_BYTES = 77, IN_BYTES = 4099 };
static haul_type *parts_type;

/* Does byte i of the array belong to the part? */
static int is_part(const parts *p, const unsigned char *part, size_t bytes, size_t i)
{
    return p->all + i >= part && p->all + i < part + bytes;
}

/* The struct lies before the array, so that the array's last block is the arena's. */
TEST(directions, parts_of_a_large_array_travel_as_their_rows_say_and_the_rest_both_ways)
{
    const haul_field fields[] = {
        HAUL_ARRAY(parts, all, HAUL_FIXED(PARTS_BYTES)),
        HAUL_ARRAY(parts, out, HAUL_FIXED(OUT_BYTES), .transfer = HAUL_COPYOUT),
        HAUL_ARRAY(parts, in, HAUL_FIXED(IN_BYTES), .transfer = HAUL_COPYIN),
        HAUL_ARRAY(parts, page, HAUL_FIXED(4096), .transfer = HAUL_COPYOUT),
    };
    unsigned char *memory = NULL, *arena;
    haul_context *context;
    haul_plan *plan;
    size_t offset, bytes, i;
    parts *p;
    CHECK(posix_memalign((void **)&memory, PARTS_BLOCK, PARTS_BLOCK + PARTS_BYTES) == 0);
    memset(memory, 7, PARTS_BLOCK + PARTS_BYTES);
    p = (parts *)(void *)memory;
    p->all = memory + PARTS_BLOCK;
    p->out = p->all + PARTS_BYTES - 1001;
    p->in = p->all + 200003;
    p->page = p->all + 3 * PARTS_BLOCK + 8192;
    CHECK_STATUS(type_make("parts", sizeof(parts), fields, 4, &parts_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(parts_type), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(p, parts_type), NULL, &plan), HAUL_OK);
    bytes = plan_bytes(plan);
    arena = malloc(bytes + 64);
    CHECK(arena != NULL);
    memset(arena + bytes, 0xee, 64);
    CHECK_STATUS(haul_plan_pack(plan, arena, bytes, 1 << 20, NULL), HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, p->all, &offset), HAUL_OK);
    for (i = 0; i < PARTS_BYTES; i++)
        CHECK_EQ(arena[offset + i],
                 is_part(p, p->out, OUT_BYTES, i) || is_part(p, p->page, 4096, i) ? 0 : 7);
    for (i = 0; i < 64; i++)
        CHECK_EQ(arena[bytes + i], 0xee);
    memset(arena + offset, 8, PARTS_BYTES);
    CHECK_STATUS(haul_plan_unpack(plan, arena, bytes, 0), HAUL_OK);
    for (i = 0; i < PARTS_BYTES; i++)
        CHECK_EQ(p->all[i], is_part(p, p->in, IN_BYTES, i) ? 7 : 8);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&parts_type);
    free(arena);
    free(memory);
}

TEST(directions, pointers_come_back_as_their_rows_say_too)
{
    world w;
    job *first, *spare;
    haul_device *device = host_device();
    haul_shipment *s;
    shift here;
    world_start(&w, 1 << 16);
    jobs_open();
    first = job_make(&w, 9);
    first->next = job_make(&w, 9);
    /* an object that is in: neither its numbers nor its pointers come back */
    first->like = spare = job_make(&w, 9);
    CHECK_STATUS(haul_ship(device, first, job_type, 1, NULL, &s), HAUL_OK);
    here.first = haul_device_pointer(s, first);
    {
        haul_address null = 0, wild = 12345;
        device_write(device, device_address(s, &first->next), &null, sizeof(void *));
        device_write(device, device_address(s, &spare->next), &wild, sizeof(void *));
        device_write(device, device_address(s, &spare->total), &wild, sizeof(int64_t));
        device_write(device, device_address(s, &spare->residual), &wild, sizeof(int64_t));
        device_write(device, device_address(s, spare->result), &wild, sizeof(int64_t));
    }
    CHECK_STATUS(haul_host_launch(device, work, &here), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(first->next, NULL);
    check_job_is_back(first);
    CHECK_PTR(first->like, spare);
    CHECK_PTR(spare->next, NULL);
    CHECK_EQ(spare->total, 5);
    CHECK_EQ(spare->residual, 2);
    CHECK(spare->result[0] != 200); /* that is another object, which it leads to */
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&job_type);
    world_end(&w);
}

/* ---- Memory that must not be touched. */

typedef struct vault {
    size_t n;
    unsigned char *bytes;
} vault;

static haul_type *vault_type;

static void vault_open(haul_transfer direction)
{
    const haul_field fields[] = { HAUL_ARRAY(vault, bytes, HAUL_COUNT(vault, n),
                                             .transfer = direction) };
    CHECK_STATUS(type_make("vault", sizeof(vault), fields, 1, &vault_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(vault_type), HAUL_OK);
}

static void touch_nothing(size_t bytes, haul_transfer direction)
{
    world w;
    vault v;
    haul_device *device = ordinary_device();
    haul_shipment *s;
    unsigned char device_byte = 0xEE, found = 1;
    size_t i;
    world_start(&w, (bytes + 2 * PAGE) & ~(PAGE - 1));
    vault_open(direction);
    v.n = bytes;
    world_take(&w, 1, 1);
    v.bytes = world_take(&w, bytes + 1, 1);
    if (direction != HAUL_COPYIN)
        world_protect(&w, PROT_NONE);
    CHECK_STATUS(haul_ship(device, &v, vault_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(s, RANGE(v.bytes, bytes), NULL), HAUL_OK);
    device_read(device, &found, device_address(s, v.bytes + bytes - 1), 1);
    CHECK_EQ(found, direction == HAUL_COPYIN ? 0xC5 : 0);
    for (i = 0; i < bytes; i += 1 + bytes / 7)
        device_write(device, device_address(s, v.bytes + i), &device_byte, 1);
    world_protect(&w, direction == HAUL_COPYOUT  ? PROT_READ | PROT_WRITE
                      : direction == HAUL_COPYIN ? PROT_READ
                                                 : PROT_NONE);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, RANGE(v.bytes, bytes), NULL), HAUL_OK);
    world_protect(&w, PROT_READ | PROT_WRITE);
    for (i = 0; i < bytes; i++)
        CHECK_EQ(v.bytes[i], direction != HAUL_COPYOUT  ? 0xC5
                             : i % (1 + bytes / 7) == 0 ? 0xEE
                                                        : 0);
    CHECK_EQ(w.memory[0], 0xC5);
    CHECK_EQ(v.bytes[bytes], 0xC5);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&vault_type);
    world_end(&w);
}

/* A result with a field that does not travel, and the same memory as bytes. Both are in. */
typedef struct sparse {
    double travels, stays;
} sparse;

typedef struct both_ways {
    int32_t n, bytes;
    sparse *as_objects;
    unsigned char *as_bytes;
} both_ways;

static void overwrite(void *argument)
{
    both_ways *all = argument;
    memset(all->as_bytes, 0x5a, (size_t)all->bytes);
}

TEST(directions, large_objects_with_holes_do_not_hide_the_bytes_of_another_row)
{
    static haul_type *sparse_type, *both_type;
    static const haul_field sparse_fields[] = { HAUL_SKIP(sparse, stays) };
    static const haul_field fields[] = {
        HAUL_OBJECTS(both_ways, as_objects, &sparse_type, HAUL_COUNT(both_ways, n),
                     .transfer = HAUL_COPYIN),
        HAUL_BYTES(both_ways, as_bytes, HAUL_COUNT(both_ways, bytes), .transfer = HAUL_COPYIN),
    };
    static sparse memory[1000];
    both_ways root = { 1000, (int32_t)sizeof memory, memory, (unsigned char *)memory };
    haul_device *device = host_device();
    haul_shipment *s;
    int i;
    CHECK_STATUS(type_make("sparse", sizeof(sparse), sparse_fields, 1, &sparse_type), HAUL_OK);
    CHECK_STATUS(type_make("both_ways", sizeof(both_ways), fields, 2, &both_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(both_type), HAUL_OK);
    for (i = 0; i < root.n; i++)
        memory[i].travels = memory[i].stays = i;
    CHECK_STATUS(haul_ship(device, &root, both_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, overwrite, haul_device_pointer(s, &root)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (i = 0; i < root.n && memory[i].travels == i && memory[i].stays == i; i++)
        continue;
    CHECK_EQ(i, root.n);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&both_type);
    haul_type_free(&sparse_type);
}

TEST(directions, out_is_not_read_and_in_is_not_written)
{
    static const size_t sizes[] = { 1, 15, 100, PAGE, 3 * PAGE + 5, 70001, 300001 };
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        touch_nothing(sizes[i], HAUL_COPYIN);
        touch_nothing(sizes[i], HAUL_COPYOUT);
        touch_nothing(sizes[i], HAUL_CREATE);
    }
}

/* MemorySanitizer looks on: what malloc gave is not set until it has come back. */
TEST(directions, out_may_be_uninitialised_G22)
{
    fault_plan plan;
    haul_device *device;
    haul_shipment *s;
    haul_audit_info summary;
    haul_root root;
    vault v;
    size_t i;
    memset(&plan, 0, sizeof plan);
    plan.check_initialized = 1;
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    vault_open(HAUL_COPYOUT);
    v.n = 100003;
    v.bytes = malloc(v.n);
    CHECK(v.bytes != NULL);
    root.address = &v;
    root.type = vault_type;
    root.count = 1;
    CHECK_STATUS(haul_audit(haul_device_context(device), haul_from_roots(&root, 1), NULL, &summary),
                 HAUL_OK);
    CHECK_STATUS(haul_ship(device, &v, vault_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, RANGE(v.bytes + 3, 70000), NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (i = 0; i < v.n; i++)
        CHECK_EQ(v.bytes[i], 0);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&vault_type);
    fault_check_clean(&plan);
    free(v.bytes);
}

TEST(directions, a_large_array_with_one_costs_hardly_any_bookkeeping)
{
    haul_plan_info with, without;
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    vault v;
    size_t i;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    v.n = (size_t)8 << 20;
    v.bytes = calloc(v.n, 1);
    root.address = &v;
    root.count = 1;
    for (i = 0; i < 2; i++) {
        vault_open(i == 0 ? HAUL_COPY : HAUL_COPYIN);
        root.type = vault_type;
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
        haul_plan_get_info(plan, i == 0 ? &without : &with);
        haul_plan_free(&plan);
        haul_type_free(&vault_type);
    }
    CHECK(with.bookkeeping_bytes - without.bookkeeping_bytes < v.n / 64);
    CHECK_EQ(with.arena_bytes, without.arena_bytes);
    haul_context_free(&context);
    free(v.bytes);
}

TEST(directions, pieces_of_which_nothing_comes_back_are_not_fetched)
{
    haul_ship_options options;
    haul_device *device = host_device();
    int direction;
    memset(&options, 0, sizeof options);
    for (direction = HAUL_COPY; direction <= HAUL_CREATE; direction++) {
        haul_shipment *s;
        haul_shipment_info statistics;
        vault v;
        vault_open((haul_transfer)direction);
        v.n = (size_t)24 << 20;
        v.bytes = calloc(v.n, 1);
        CHECK(v.bytes != NULL);
        CHECK_STATUS(haul_ship(device, &v, vault_type, 1, NULL, &s), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        haul_shipment_get_info(s, &statistics);
        CHECK_EQ(statistics.transfers_from, 1);
        if (direction == HAUL_COPYIN || direction == HAUL_CREATE)
            CHECK(statistics.bytes_from < (size_t)9 << 20);
        else
            CHECK_EQ(statistics.bytes_from, statistics.arena_bytes);
        haul_shipment_free(&s);
        haul_type_free(&vault_type);
        free(v.bytes);
    }
    haul_device_close(&device);
}

/* ---- Random rows over random ranges, against a model of bytes. */

enum { RANGES = 12 };

typedef struct ranges {
    struct {
        size_t n;
        unsigned char *at;
    } range[RANGES];
} ranges;

typedef struct model {
    unsigned char *memory, *host, *sent;
    unsigned char *known, *unsent, *unreturned; /* a byte each */
    size_t bytes;
    haul_transfer direction[RANGES];
} model;

/* One row of pairs (count, pointer) each, in random order. */
static haul_type *ranges_type(const model *m)
{
    haul_type *type;
    size_t i;
    CHECK_STATUS(type_make("ranges", sizeof(ranges), NULL, 0, &type), HAUL_OK);
    for (i = 0; i < RANGES; i++) {
        haul_field row = HAUL_ARRAY(ranges, range[0].at, HAUL_COUNT(ranges, range[0].n));
        char name[16];
        snprintf(name, sizeof name, "range%d", (int)i);
        row.name = name;
        row.offset += i * sizeof(((ranges *)0)->range[0]);
        row.count.field[0].offset += i * sizeof(((ranges *)0)->range[0]);
        row.transfer = m->direction[i];
        CHECK_STATUS(haul_type_add(type, &row, 1), HAUL_OK);
    }
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

static void choose(random_source *random, model *m, ranges *r)
{
    size_t i, k;
    memset(m->known, 0, 3 * m->bytes);
    for (i = 0; i < RANGES; i++) {
        size_t most = random_one_in(random, 3) ? 200000 : random_one_in(random, 2) ? 9000 : 60;
        size_t first = random_below(random, m->bytes - most), n = random_below(random, most);
        m->direction[i] = (haul_transfer)random_below(random, 4);
        r->range[i].n = n;
        r->range[i].at = m->memory + first;
        for (k = first; k < first + n; k++) {
            m->known[k] = 1;
            m->unsent[k] |= m->direction[i] == HAUL_COPYOUT || m->direction[i] == HAUL_CREATE;
            m->unreturned[k] |= m->direction[i] == HAUL_COPYIN || m->direction[i] == HAUL_CREATE;
        }
    }
}

/* What lies on the device, described stretch by described stretch. */
static void check_on_device(haul_device *device, const haul_shipment *s, const model *m)
{
    size_t i;
    for (i = 0; i < m->bytes; i++)
        if (m->known[i]) {
            size_t end = i;
            while (end < m->bytes && m->known[end])
                end++;
            device_read(device, m->sent + i, device_address(s, m->memory + i), end - i);
            i = end;
        }
    for (i = 0; i < m->bytes; i++)
        CHECK(!m->known[i] || m->sent[i] == (m->unsent[i] ? 0 : m->host[i]));
}

static void change_on_device(haul_device *device, const haul_shipment *s, const model *m)
{
    size_t i;
    for (i = 0; i < m->bytes; i++)
        if (m->known[i]) {
            size_t end = i, k;
            while (end < m->bytes && m->known[end])
                end++;
            for (k = i; k < end; k++)
                m->sent[k] = (unsigned char)(m->sent[k] ^ 0x5A ^ k);
            device_write(device, device_address(s, m->memory + i), m->sent + i, end - i);
            i = end;
        }
}

static void try_random(random_source *random, model *m, haul_device *device)
{
    haul_shipment *s;
    haul_type *type;
    ranges r;
    size_t i, first, end;
    int is_whole = random_one_in(random, 2);
    memset(&r, 0, sizeof r);
    host_patches(device, random_one_in(random, 2));
    choose(random, m, &r);
    type = ranges_type(m);
    random_fill(random, m->memory, m->bytes);
    memcpy(m->host, m->memory, m->bytes);
    CHECK_STATUS(haul_ship(device, &r, type, 1, NULL, &s), HAUL_OK);
    check_on_device(device, s, m);
    change_on_device(device, s, m);
    first = random_below(random, m->bytes);
    end = first + random_below(random, m->bytes - first) + 1;
    if (haul_update_host(s, RANGE(m->memory + first, end - first), NULL) == HAUL_OK)
        for (i = first; i < end; i++)
            if (m->known[i] && !m->unreturned[i])
                m->host[i] = m->sent[i];
    CHECK_BYTES(m->memory, m->host, m->bytes);
    CHECK_STATUS(haul_update_host(s, is_whole ? ALL_OR_NOTHING : NULL, NULL), HAUL_OK);
    for (i = 0; i < m->bytes; i++)
        if (m->known[i] && !m->unreturned[i])
            m->host[i] = m->sent[i];
    CHECK_BYTES(m->memory, m->host, m->bytes);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    check_on_device(device, s, m);
    haul_shipment_free(&s);
    haul_type_free(&type);
}

TEST(directions, random_ranges_with_random_directions_go_and_come_as_a_model_says)
{
    random_source random = random_start("random directions");
    haul_device *device = ordinary_device();
    model m;
    int round;
    m.bytes = 700000;
    m.memory = malloc(m.bytes);
    m.host = malloc(m.bytes);
    m.sent = malloc(m.bytes);
    m.known = malloc(3 * m.bytes);
    CHECK(m.memory && m.host && m.sent && m.known);
    m.unsent = m.known + m.bytes;
    m.unreturned = m.unsent + m.bytes;
    for (round = 0; round < 12; round++)
        try_random(&random, &m, device);
    haul_device_close(&device);
    free(m.known);
    free(m.sent);
    free(m.host);
    free(m.memory);
}

/* ---- Updates of ranges. */

TEST(directions, an_update_moves_what_goes_its_way_and_nothing_beside_it)
{
    world w;
    job *j;
    haul_device *device = ordinary_device();
    haul_shipment *s;
    double seen[4];
    world_start(&w, 1 << 14);
    jobs_open();
    j = job_make(&w, 1);
    CHECK_STATUS(haul_ship(device, j, job_type, 1, NULL, &s), HAUL_OK);
    work_on(device, s, &w, j);
    j->input[0] = j->result[0] = j->room[0] = j->state[0] = 7;
    CHECK_STATUS(haul_update_device(s, RANGE(j->input, 4 * sizeof(double)), NULL), HAUL_OK);
    device_read(device, seen, device_address(s, j->input), sizeof seen);
    CHECK(seen[0] == 7 && seen[1] == 1000 && seen[2] == -1 && seen[3] == 7);
    CHECK_STATUS(haul_update_host(s, RANGE(j->input, 4 * sizeof(double)), NULL), HAUL_OK);
    CHECK(j->input[0] == 7 && j->result[0] == 1000 && j->room[0] == 7 && j->state[0] == 7);
    CHECK_STATUS(haul_update_host(s, RANGE(j, sizeof *j), OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    CHECK_EQ(j->rounds, 11);
    CHECK_EQ(j->residual, 12);
    CHECK_EQ(j->tolerance, 3);
    CHECK_EQ(j->scratch, 4);
    CHECK_EQ(j->total, 15);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&job_type);
    world_end(&w);
}

TEST(directions, a_copy_of_a_shipment_has_those_of_its_plan)
{
    world w;
    job *j;
    haul_device *device = host_device();
    haul_shipment *s, *copy;
    world_start(&w, 1 << 14);
    jobs_open();
    j = job_make(&w, 5);
    CHECK_STATUS(haul_ship(device, j, job_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(s, device, &copy), HAUL_OK);
    haul_shipment_free(&s);
    work_on(device, copy, &w, j);
    CHECK_STATUS(haul_unmarshal(copy), HAUL_OK);
    check_job_is_back(j);
    haul_shipment_free(&copy);
    haul_device_close(&device);
    haul_type_free(&job_type);
    world_end(&w);
}

TEST(directions, what_is_in_is_still_watched_for_changes)
{
    world w;
    job *j;
    haul_device *device = host_device();
    haul_shipment *s;
    world_start(&w, 1 << 14);
    jobs_open();
    j = job_make(&w, 5);
    j->like = job_make(&w, 5);
    CHECK_STATUS(haul_ship(device, j, job_type, 1, NULL, &s), HAUL_OK);
    j->like->input = j->input;
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, "root.like.input");
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&job_type);
    world_end(&w);
}

/* ---- In other places: arms, tails, embedded structs, columns, arrays of pointers. */

typedef struct inner {
    int32_t a, b;
    int64_t c;
} inner;

typedef struct outer {
    int32_t kind, n;
    union {
        inner in[2];
        double numbers[4];
    } u;
    inner plain, kept[100];
    double **rows;
    char *each[2];
    int32_t *column;
    int32_t last[];
} outer;

static haul_type *inner_type, *outer_type, *column_type;

/* 3 elements, each the first 4 of 12 bytes. */
static void outer_open(void)
{
    static const haul_field inner_fields[] = { HAUL_RAW(inner, b, .transfer = HAUL_COPYIN) };
    static const haul_field fields[] = {
        HAUL_EMBED(outer, u.in, &inner_type, .when = HAUL_EQUALS(outer, kind, 1),
                   .transfer = HAUL_COPYIN),
        HAUL_RAW(outer, u.numbers, .when = HAUL_EQUALS(outer, kind, 2), .transfer = HAUL_COPYOUT),
        HAUL_EMBED(outer, plain, &inner_type, .transfer = HAUL_COPYOUT),
        HAUL_EMBED(outer, kept, &inner_type),
        HAUL_ARRAYS(outer, rows, HAUL_FIXED(2), HAUL_FIXED(3), .transfer = HAUL_COPYIN),
        HAUL_EACH(outer, each, .count = HAUL_FIXED(3), .transfer = HAUL_COPYOUT),
        HAUL_ADDRESS(outer, column, .target = &column_type, .transfer = HAUL_COPYOUT),
        HAUL_TAIL(outer, last, HAUL_COUNT(outer, n), .transfer = HAUL_COPYOUT),
    };
    haul_type *number;
    CHECK_STATUS(haul_type_bytes(type_context(), "number", 4, &number), HAUL_OK);
    CHECK_STATUS(haul_type_vector(3, 1, 3, number, &column_type), HAUL_OK);
    haul_type_free(&number);
    CHECK_STATUS(type_make("inner", sizeof(inner), inner_fields, 1, &inner_type), HAUL_OK);
    CHECK_STATUS(type_make("outer", offsetof(outer, last), fields, 8, &outer_type), HAUL_OK);
    check_note("%s", haul_type_commit(outer_type) == HAUL_OK ? "" : type_error()->text);
    CHECK(haul_type_committed(outer_type));
    check_note(NULL);
}

static void outer_close(void)
{
    haul_type_free(&outer_type);
    haul_type_free(&inner_type);
    haul_type_free(&column_type);
}

static void fill_with_sevens(void *argument)
{
    outer *o = argument;
    int32_t i, k;
    for (i = 0; i < 2; i++)
        for (k = 0; k < 3; k++)
            o->rows[i][k] = 7;
    for (i = 0; i < 100; i++)
        o->kept[i].a = o->kept[i].b = 7;
    for (k = 0; k < 3; k++)
        o->each[0][k] = o->each[1][k] = 7;
    for (k = 0; k < 9; k++)
        o->column[k] = 7;
    for (i = 0; i < o->n; i++)
        o->last[i] = 7;
    o->plain.a = o->plain.b = 7;
    o->plain.c = 7;
    memset(&o->u, 7, sizeof o->u);
}

static outer *outer_make(world *w, int32_t kind)
{
    outer *o = world_take(w, sizeof *o + 4 * sizeof(int32_t), 16);
    int32_t i, k;
    memset(o, 1, sizeof *o + 4 * sizeof(int32_t));
    o->kind = kind;
    o->n = 4;
    o->rows = world_take(w, 2 * sizeof *o->rows, 8);
    for (i = 0; i < 2; i++) {
        o->rows[i] = world_take(w, 3 * sizeof(double), 8);
        o->each[i] = world_take(w, 3, 1);
        for (k = 0; k < 3; k++)
            o->rows[i][k] = 1;
    }
    o->column = world_take(w, 7 * sizeof(int32_t), 8);
    for (k = 0; k < 7; k++)
        o->column[k] = 1;
    return o;
}

static void check_outer(const outer *o, int32_t kind)
{
    int32_t i, arm[2];
    memcpy(arm, &o->u, sizeof arm);
    CHECK_EQ(arm[0], kind == 2 ? 0x07070707 : 0x01010101);
    CHECK_EQ(o->plain.a, 7);
    CHECK_EQ(o->plain.b, 0x01010101); /* in for one row, out for another: neither */
    CHECK_EQ(o->plain.c, 7);
    for (i = 0; i < 100; i++) {
        CHECK_EQ(o->kept[i].a, 7);
        CHECK_EQ(o->kept[i].b, 0x01010101);
    }
    for (i = 0; i < 6; i++)
        CHECK(o->rows[i / 3][i % 3] == 1);
    for (i = 0; i < 6; i++)
        CHECK_EQ(o->each[i / 3][i % 3], 7);
    for (i = 0; i < 7; i++)
        CHECK_EQ(o->column[i], i % 3 ? 1 : 7);
    for (i = 0; i < 4; i++)
        CHECK_EQ(o->last[i], 7);
}

/* What lies where on the device before any kernel. */
static void check_outer_there(haul_device *device, const haul_shipment *s, const outer *o,
                              int32_t kind)
{
    int32_t four[4];
    inner plain;
    device_read(device, four, device_address(s, &o->u), sizeof four);
    CHECK_EQ(four[0], kind == 2 ? 0 : 0x01010101);
    device_read(device, &plain, device_address(s, &o->plain), sizeof plain);
    CHECK_EQ(plain.a, 0);
    CHECK_EQ(plain.b, 0);
    CHECK_EQ(plain.c, 0);
    device_read(device, four, device_address(s, o->last), sizeof four);
    CHECK_EQ(four[0] | four[1] | four[2] | four[3], 0);
    device_read(device, &plain, device_address(s, &o->kept[99]), sizeof plain);
    CHECK_EQ(plain.b, 0x01010101);
}

/* ---- Fields of several levels: the direction is that of the last targets. */

typedef struct levels {
    double **rows;   /* 2 x 2 */
    double ***cubes; /* 2 x 2 x 2 */
} levels;

static haul_type *levels_type;

static void levels_open(haul_transfer direction)
{
    const haul_field fields[] = {
        HAUL_ARRAYS(levels, rows, HAUL_FIXED(2), HAUL_FIXED(2), .transfer = direction),
        HAUL_ADDRESS(levels, cubes, .levels = 3, .element_bytes = sizeof(double),
                     .count = HAUL_FIXED(2), .count2 = HAUL_FIXED(2), .count3 = HAUL_FIXED(2),
                     .transfer = direction),
    };
    CHECK_STATUS(type_make("levels", sizeof(levels), fields, 2, &levels_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(levels_type), HAUL_OK);
}

static double **rows_make(world *w)
{
    double **rows = world_take(w, 2 * sizeof *rows, 8);
    int i, k;
    for (i = 0; i < 2; i++) {
        rows[i] = world_take(w, 2 * sizeof **rows, 8);
        for (k = 0; k < 2; k++)
            rows[i][k] = 1;
    }
    return rows;
}

static levels *levels_make(world *w)
{
    levels *l = world_take(w, sizeof *l, 8);
    l->rows = rows_make(w);
    l->cubes = world_take(w, 2 * sizeof *l->cubes, 8);
    l->cubes[0] = rows_make(w);
    l->cubes[1] = rows_make(w);
    return l;
}

static double *exchange_rows(double **rows)
{
    double *first = rows[0];
    rows[0] = rows[1];
    return rows[1] = first;
}

/* Exchanges pointers of each level, and writes numbers; `arrived` is what was there. */
typedef struct levels_work {
    levels *l;
    double arrived;
} levels_work;

static void exchange_levels(void *argument)
{
    levels_work *work = argument;
    levels *l = work->l;
    double **first = l->cubes[0];
    work->arrived = l->rows[1][1] + l->cubes[1][1][1];
    exchange_rows(l->rows)[0] = 7;
    exchange_rows(l->cubes[0])[0] = 7;
    l->cubes[0] = l->cubes[1];
    l->cubes[1] = first;
}

TEST(directions, of_a_field_of_several_levels_pointers_are_sent_and_come_back_unless_targets_stay)
{
    static const haul_transfer directions[] = { HAUL_COPY, HAUL_COPYIN, HAUL_COPYOUT, HAUL_CREATE };
    haul_device *device = host_device();
    int i, pointers;
    for (i = 0; i < 4; i++)
        for (pointers = 0; pointers < 2; pointers++) {
            const int is_sent = directions[i] == HAUL_COPY || directions[i] == HAUL_COPYIN;
            const int returns = directions[i] == HAUL_COPY || directions[i] == HAUL_COPYOUT;
            const haul_update_options how = { .pointers = pointers };
            double *row, *inner_row, **cube;
            levels_work work = { NULL, 0 };
            haul_shipment *s;
            levels *l;
            world w;
            world_start(&w, 1 << 14);
            levels_open(directions[i]);
            l = levels_make(&w);
            row = l->rows[0];
            cube = l->cubes[0];
            inner_row = cube[0];
            CHECK_STATUS(haul_ship(device, l, levels_type, 1, NULL, &s), HAUL_OK);
            work.l = haul_device_pointer(s, l);
            CHECK_STATUS(haul_host_launch(device, exchange_levels, &work), HAUL_OK);
            CHECK(work.arrived == (is_sent ? 2 : 0));
            CHECK_STATUS(haul_update_host(s, &how, NULL), HAUL_OK);
            CHECK(row[0] == (returns ? 7 : 1));
            CHECK(inner_row[0] == (returns ? 7 : 1));
            CHECK_PTR(l->rows[pointers && returns], row);
            CHECK_PTR(l->cubes[pointers && returns], cube);
            CHECK_PTR(cube[pointers && returns], inner_row);
            haul_shipment_free(&s);
            haul_type_free(&levels_type);
            world_end(&w);
        }
    haul_device_close(&device);
}

TEST(directions, arms_tails_columns_and_embedded_structs_have_them)
{
    haul_device *device = host_device();
    int32_t kind;
    for (kind = 1; kind <= 2; kind++) {
        haul_shipment *s;
        world w;
        outer *o;
        world_start(&w, 1 << 14);
        outer_open();
        o = outer_make(&w, kind);
        CHECK_STATUS(haul_ship(device, o, outer_type, 1, NULL, &s), HAUL_OK);
        check_outer_there(device, s, o, kind);
        CHECK_STATUS(haul_host_launch(device, fill_with_sevens, haul_device_pointer(s, o)),
                     HAUL_OK);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        check_outer(o, kind);
        haul_shipment_free(&s);
        outer_close();
        world_end(&w);
    }
    haul_device_close(&device);
}

TEST(directions, arrays_of_pointers_to_what_is_in_stay_too)
{
    haul_device *device = host_device();
    haul_shipment *s;
    world w;
    outer *o;
    double *first;
    haul_address null = 0;
    world_start(&w, 1 << 14);
    outer_open();
    o = outer_make(&w, 1);
    first = o->rows[0];
    CHECK_STATUS(haul_ship(device, o, outer_type, 1, NULL, &s), HAUL_OK);
    device_write(device, device_address(s, o->rows), &null, sizeof(void *));
    CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(o->rows[0], first);
    haul_shipment_free(&s);
    haul_device_close(&device);
    outer_close();
    world_end(&w);
}

/* Whose words no device patches: where pointers have 4 bytes, addresses of the world may hold the
 * only such bit. */
#define HIGH_TAGS (sizeof(void *) > 4 ? HAUL_HIGH_TAGS : 0)

typedef struct stamp {
    uintptr_t next;
} stamp;

TEST(directions, tagged_pointers_in_what_is_in_stay_too)
{
    static haul_type *stamp_type, *holder_type;
    const haul_field stamp_fields[] = { HAUL_ADDRESS(stamp, next, .target = &stamp_type,
                                                     .tag_bits = HIGH_TAGS) };
    const haul_field holder_fields[] = { HAUL_ADDRESS(stamp, next, .target = &stamp_type,
                                                      .transfer = HAUL_COPYIN) };
    haul_device *device = host_device();
    haul_address null = 0;
    haul_shipment *s;
    stamp *all;
    world w;
    world_start(&w, 1 << 14);
    CHECK_STATUS(type_make("stamp", sizeof(stamp), stamp_fields, 1, &stamp_type), HAUL_OK);
    CHECK_STATUS(type_make("holder", sizeof(stamp), holder_fields, 1, &holder_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
    all = world_take(&w, 2 * sizeof *all, sizeof *all);
    all[0].next = all[1].next = (uintptr_t)&all[1];
    CHECK_STATUS(haul_ship(device, all, holder_type, 1, NULL, &s), HAUL_OK);
    device_write(device, device_address(s, &all[1]), &null, sizeof(void *));
    CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(all[1].next, (uintptr_t)&all[1]);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&holder_type);
    haul_type_free(&stamp_type);
    world_end(&w);
}

/* Places with gaps before them, in pages of larger units. */
typedef struct slab {
    struct slab *next;
    char *text;
    int64_t in[3], out[7];
} slab;

static haul_type *slab_type;

static void work_on_slabs(void *argument)
{
    slab *s;
    int i;
    for (s = argument; s; s = s->next) {
        for (i = 0; i < 7; i++)
            s->out[i] += 7;
        s->in[0] = s->in[2] = -1;
        s->text[0] = 'B';
    }
}

TEST(directions, objects_with_large_alignments_have_them)
{
    static const haul_field fields[] = { HAUL_ADDRESS(slab, next, .target = &slab_type),
                                         HAUL_STRING(slab, text, .transfer = HAUL_COPYIN),
                                         HAUL_RAW(slab, in, .transfer = HAUL_COPYIN),
                                         HAUL_RAW(slab, out, .transfer = HAUL_COPYOUT) };
    const size_t bytes = (sizeof(slab) + 255) & ~(size_t)255;
    haul_device *device = host_device();
    haul_shipment *s;
    slab *first = NULL, *one;
    world w;
    int i, k;
    world_start(&w, 1 << 18);
    slab_type = type_new(&(const haul_struct){ .name = "slab",
                                               .bytes = bytes,
                                               .fields = fields,
                                               .field_count = 4,
                                               .field_bytes = sizeof(haul_field),
                                               .alignment = 256 });
    CHECK_STATUS(haul_type_commit(slab_type), HAUL_OK);
    for (i = 0; i < 150; i++) {
        w.count = 0;
        one = world_take(&w, bytes, 256);
        one->text = world_text(&w, "A text");
        one->next = first;
        one->in[0] = one->in[1] = one->in[2] = i;
        first = one;
        world_take(&w, (size_t)(i % 9) * 100, 1);
    }
    CHECK_STATUS(haul_ship(device, first, slab_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, work_on_slabs, haul_device_pointer(s, first)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (one = first; one; one = one->next) {
        i--;
        CHECK_EQ(device_address(s, one) % 256, 0);
        CHECK_STR(one->text, "A text");
        for (k = 0; k < 7; k++)
            CHECK_EQ(one->out[k], 7);
        CHECK(one->in[0] == i && one->in[1] == i && one->in[2] == i);
    }
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&slab_type);
    world_end(&w);
}

/* ---- Two rows for the same bytes. */

typedef struct two {
    double *a, *b;
} two;

TEST(directions, where_two_rows_disagree_both_promises_are_kept_in_either_order)
{
    static const haul_transfer other[] = { HAUL_COPY, HAUL_COPYIN, HAUL_COPYOUT, HAUL_CREATE };
    haul_device *device = ordinary_device();
    int i;
    for (i = 0; i < 32; i++) {
        haul_transfer x = other[i % 4], y = other[i / 4 % 4];
        int sent = x != HAUL_COPYOUT && x != HAUL_CREATE && y != HAUL_COPYOUT && y != HAUL_CREATE;
        int back = x != HAUL_COPYIN && x != HAUL_CREATE && y != HAUL_COPYIN && y != HAUL_CREATE;
        double numbers_of[4] = { 1, 2, 3, 4 }, seen[4], news[4] = { 5, 6, 7, 8 };
        haul_shipment *s;
        haul_type *type;
        two t;
        {
            haul_field fields[] = { HAUL_ARRAY(two, a, HAUL_FIXED(4), .transfer = x),
                                    HAUL_ARRAY(two, b, HAUL_FIXED(2), .transfer = y) };
            CHECK_STATUS(type_make("two", sizeof(two), fields, 2, &type), HAUL_OK);
            CHECK_STATUS(haul_type_commit(type), HAUL_OK);
        }
        t.a = numbers_of;
        t.b = numbers_of + 1;
        CHECK_STATUS(haul_ship(device, &t, type, 1, NULL, &s), HAUL_OK);
        device_read(device, seen, device_address(s, numbers_of), sizeof seen);
        CHECK(seen[1] == (sent ? 2 : 0) && seen[2] == (sent ? 3 : 0));
        CHECK((seen[0] == 1) == (x == HAUL_COPY || x == HAUL_COPYIN));
        device_write(device, device_address(s, numbers_of), news, sizeof news);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        CHECK(numbers_of[1] == (back ? 6 : 2) && numbers_of[2] == (back ? 7 : 3));
        CHECK((numbers_of[3] == 8) == (x == HAUL_COPY || x == HAUL_COPYOUT));
        haul_shipment_free(&s);
        haul_type_free(&type);
    }
    haul_device_close(&device);
}

/* The same object through a plain list first, and then by a row that says in: nothing of it is new
 * by then. */
TEST(directions, what_was_reached_before_without_a_direction_gets_it_all_the_same)
{
    world w;
    job *first, *second;
    haul_device *device = host_device();
    haul_shipment *s;
    int64_t news = 77;
    world_start(&w, 1 << 14);
    jobs_open();
    first = job_make(&w, 2);
    second = first->next = job_make(&w, 2);
    second->like = second;
    CHECK_STATUS(haul_ship(device, first, job_type, 1, NULL, &s), HAUL_OK);
    device_write(device, device_address(s, &second->total), &news, sizeof news);
    device_write(device, device_address(s, &first->total), &news, sizeof news);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(first->total, 77);
    CHECK_EQ(second->total, 5);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&job_type);
    world_end(&w);
}

typedef struct point {
    double x, y;
} point;

typedef struct shape {
    point **corners, *each[2], *one;
    struct shape *next;
} shape;

/* Objects that discovery would mark in line if the row had no direction. */
TEST(directions, small_objects_behind_any_kind_of_row_have_them)
{
    static haul_type *point_type, *shape_type;
    static const haul_field fields[] = {
        HAUL_POINTERS(shape, corners, &point_type, HAUL_FIXED(3), .transfer = HAUL_COPYIN),
        HAUL_EACH(shape, each, .target = &point_type, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(shape, one, &point_type, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(shape, next, &shape_type)
    };
    haul_device *device = host_device();
    haul_shipment *s;
    world w;
    shape *all;
    point *points, news = { 7, 7 };
    int i;
    world_start(&w, 8192);
    all = world_take(&w, 6 * sizeof *all, 16);
    points = world_take(&w, 36 * sizeof *points, 16);
    for (i = 0; i < 36; i++)
        points[i].x = points[i].y = i;
    for (i = 0; i < 6; i++) {
        shape *one = &all[i];
        one->corners = world_take(&w, 3 * sizeof *one->corners, 8);
        one->corners[0] = &points[6 * i];
        one->corners[1] = &points[6 * i + 1];
        one->corners[2] = &points[6 * i + 2];
        one->each[0] = &points[6 * i + 3];
        one->each[1] = &points[6 * i + 4];
        one->one = &points[6 * i + 5];
        one->next = i < 5 ? one + 1 : NULL;
    }
    CHECK_STATUS(type_make("point", sizeof(point), NULL, 0, &point_type), HAUL_OK);
    CHECK_STATUS(type_make("shape", sizeof(shape), fields, 4, &shape_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(shape_type), HAUL_OK);
    CHECK_STATUS(haul_ship(device, all, shape_type, 1, NULL, &s), HAUL_OK);
    for (i = 0; i < 36; i++)
        device_write(device, device_address(s, &points[i]), &news, sizeof news);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (i = 0; i < 36; i++)
        CHECK(points[i].x == i && points[i].y == i);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&shape_type);
    haul_type_free(&point_type);
    world_end(&w);
}

/* ---- Long strings. */

typedef struct lines {
    char *line[3];
} lines;

typedef struct twins {
    int64_t n;
    double *one, *other;
} twins;

static void spoil_twins(void *argument)
{
    twins *t = argument;
    t->one[7] = t->other[t->n - 1] = -1;
}

TEST(directions, a_large_array_that_two_rows_send_is_the_same_one_and_stays)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(twins, one, HAUL_COUNT(twins, n), .transfer = HAUL_COPYIN),
        HAUL_ARRAY(twins, other, HAUL_COUNT(twins, n), .transfer = HAUL_COPYIN)
    };
    static double values[3000];
    twins t = { 3000, values, values };
    haul_device *device = host_device();
    haul_shipment *s;
    haul_type *type;
    CHECK_STATUS(type_make("twins", sizeof t, fields, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &t, type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, spoil_twins, haul_device_pointer(s, &t)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK(values[7] == 0 && values[2999] == 0);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&type);
}

TEST(directions, long_strings_and_their_ends_stay_where_a_row_says_in)
{
    haul_device *device = host_device();
    int order;
    for (order = 0; order < 2; order++) {
        haul_field fields[] = {
            HAUL_STRING(lines, line[0], .transfer = order ? HAUL_COPYIN : HAUL_COPY),
            HAUL_STRING(lines, line[1], .transfer = order ? HAUL_COPY : HAUL_COPYIN),
            HAUL_STRING(lines, line[2], .transfer = HAUL_COPYIN)
        };
        char *text = malloc(9001);
        haul_shipment *s;
        haul_type *type;
        lines l;
        CHECK(text != NULL);
        memset(text, 'a', 9000);
        text[9000] = '\0';
        l.line[0] = text;
        l.line[1] = text;
        l.line[2] = text + 5000;
        CHECK_STATUS(type_make("lines", sizeof(lines), fields, 3, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
        CHECK_STATUS(haul_ship(device, &l, type, 1, NULL, &s), HAUL_OK);
        device_write(device, device_address(s, text), "xyz", 3);
        device_write(device, device_address(s, text + 8998), "xyz", 2);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        CHECK_EQ(text[0], 'a');
        CHECK_EQ(text[8999], 'a');
        haul_shipment_free(&s);
        haul_type_free(&type);
        free(text);
    }
    haul_device_close(&device);
}

/* ---- Plans and arenas. */

TEST(directions, a_packed_plan_has_them_both_ways)
{
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    unsigned char arena[256];
    size_t offset;
    vault v;
    unsigned char bytes[21];
    vault_open(HAUL_COPYOUT);
    memset(bytes, 9, sizeof bytes);
    v.n = sizeof bytes;
    v.bytes = bytes;
    root.address = &v;
    root.type = vault_type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK(plan_bytes(plan) <= sizeof arena);
    CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 1 << 20, NULL), HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, bytes, &offset), HAUL_OK);
    CHECK_EQ(arena[offset], 0);
    CHECK_EQ(arena[offset + 20], 0);
    arena[offset + 20] = 4;
    CHECK_STATUS(haul_plan_unpack(plan, arena, sizeof arena, 0), HAUL_OK);
    CHECK_EQ(bytes[19], 0);
    CHECK_EQ(bytes[20], 4);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&vault_type);
}

typedef struct cell_end {
    struct cell *to;
    void *cache;
    int64_t length;
} cell_end;

typedef struct cell {
    struct cell *next;
    int64_t input, output;
    int32_t both, also;
    cell_end end;
} cell;

static haul_type *cell_type, *cell_end_type;

static void cells_open(void)
{
    static const haul_field end_fields[] = { HAUL_OBJECT(cell_end, to, &cell_type),
                                             HAUL_SKIP(cell_end, cache) };
    static const haul_field fields[] = {
        HAUL_OBJECT(cell, next, &cell_type), HAUL_RAW(cell, input, .transfer = HAUL_COPYIN),
        HAUL_EMBED(cell, end, &cell_end_type, .transfer = HAUL_COPYIN)
    };
    CHECK_STATUS(type_make("cell_end", sizeof(cell_end), end_fields, 2, &cell_end_type), HAUL_OK);
    CHECK_STATUS(type_make("cell", sizeof(cell), fields, 3, &cell_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(cell_type), HAUL_OK);
}

static void turn_cells(void *argument)
{
    cell *c;
    for (c = argument; c; c = c->next) {
        c->input = -1;
        c->output = 7;
        c->both = 7;
        c->end.to = c->also ? NULL : (cell *)(uintptr_t)5;
        c->end.cache = c;
        c->end.length = 7;
    }
}

TEST(directions, fields_of_an_arena_that_are_in_do_not_come_back)
{
    haul_device *device = host_device();
    int discovered, direct;
    for (discovered = 0; discovered < 2; discovered++)
        for (direct = 0; direct < 2; direct++) {
            haul_ship_options options;
            haul_arena *arena;
            haul_shipment *s;
            cell *first = NULL, *c;
            int i;
            memset(&options, 0, sizeof options);
            cells_open();
            CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
            for (i = 0; i < 50; i++) {
                c = haul_arena_new(arena, cell_type, 1);
                CHECK(c != NULL);
                c->next = first;
                c->input = c->output = c->both = i;
                c->end.to = first;
                c->also = i % 2;
                c->end.cache = c;
                c->end.length = i;
                first = c;
            }
            if (discovered)
                CHECK_STATUS(haul_ship_from(device, haul_from_arena_root(arena, first, cell_type),
                                            &options, NULL, &s),
                             HAUL_OK);
            else
                CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &options, NULL, &s),
                             HAUL_OK);
            if (direct)
                CHECK_STATUS(haul_return_directly(s), HAUL_OK);
            CHECK_STATUS(haul_host_launch(device, turn_cells, haul_device_pointer(s, first)),
                         HAUL_OK);
            CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
            CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
            for (c = first; c; c = c->next) {
                CHECK_PTR(c->end.to, c->next);
                CHECK_PTR(c->end.cache, c);
                CHECK_EQ(c->end.length, i - 1);
                CHECK_EQ(c->input, --i);
                CHECK_EQ(c->output, 7);
                CHECK_EQ(c->both, 7);
            }
            CHECK_EQ(i, 0);
            haul_shipment_free(&s);
            haul_arena_free(&arena);
            haul_type_free(&cell_type);
            haul_type_free(&cell_end_type);
        }
    haul_device_close(&device);
}

/* Fields that do not come back and hold some that are others there: skipped ones, of more bytes
 * than a word too, pointers that are null there, and translated words. Typed arenas take no
 * translations. */
typedef struct gauge {
    int32_t id;
    int32_t marks[3];
    void *cache;
    struct gauge *past;
    int64_t value;
    uintptr_t handler;
} gauge;

typedef struct panel {
    gauge fixed;
    struct panel *next;
    gauge live, also_fixed;
} panel;

static haul_type *gauge_type, *panel_type;

enum { HANDLER = 0x1000, HANDLER_THERE = 0x2000, PANELS = 20 };

static void panels_open(int translated)
{
    static const haul_field gauge_fields[] = {
        HAUL_SKIP(gauge, marks), HAUL_SKIP(gauge, cache), HAUL_SKIP(gauge, past),
        HAUL_ADDRESS(gauge, handler, .ownership = HAUL_EXTERNAL)
    };
    static const haul_field fields[] = {
        HAUL_EMBED(panel, fixed, &gauge_type, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(panel, next, &panel_type), HAUL_EMBED(panel, live, &gauge_type),
        HAUL_EMBED(panel, also_fixed, &gauge_type, .transfer = HAUL_COPYIN)
    };
    CHECK_STATUS(type_make("gauge", sizeof(gauge), gauge_fields, translated ? 4 : 3, &gauge_type),
                 HAUL_OK);
    CHECK_STATUS(type_make("panel", sizeof(panel), fields, 4, &panel_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(panel_type), HAUL_OK);
}

static gauge gauge_made(int i)
{
    gauge g = { i, { i, i, i }, &gauge_type, (gauge *)(uintptr_t)16, i, HANDLER };
    return g;
}

static int is_gauge(const gauge *g, const gauge *as)
{
    return g->id == as->id && memcmp(g->marks, as->marks, sizeof g->marks) == 0 &&
           g->cache == as->cache && g->past == as->past && g->value == as->value &&
           g->handler == as->handler;
}

static panel *panels_make(haul_arena *arena, int typed)
{
    panel *first = NULL;
    int i;
    for (i = 0; i < PANELS; i++) {
        panel *p =
            typed ? haul_arena_new(arena, panel_type, 1) : haul_arena_bytes(arena, sizeof *p, 0);
        CHECK(p != NULL);
        p->next = first;
        p->fixed = p->live = p->also_fixed = gauge_made(i);
        first = p;
    }
    return first;
}

typedef struct panel_tour {
    panel *first;
    uintptr_t handler;
    int seen;
} panel_tour;

static void turn_panels(void *argument)
{
    panel_tour *t = argument;
    panel *p;
    for (p = t->first; p; p = p->next) {
        gauge there = { PANELS - 1 - t->seen, { 0, 0, 0 }, NULL, NULL,
                        PANELS - 1 - t->seen, t->handler };
        if (!is_gauge(&p->fixed, &there) || !is_gauge(&p->live, &there) ||
            !is_gauge(&p->also_fixed, &there))
            return;
        memset(&p->fixed, 0xFF, sizeof p->fixed);
        memset(&p->live, 0x07, sizeof p->live);
        memset(&p->also_fixed, 0xFF, sizeof p->also_fixed);
        t->seen++;
    }
}

/* Of what both ways travel, those bytes come back that are the same on both sides. */
static void check_panels(const panel *p, int translated)
{
    const int64_t sevens = 0x0707070707070707;
    int i = PANELS;
    for (; p; p = p->next) {
        gauge here = gauge_made(--i), live = here;
        live.id = (int32_t)sevens;
        live.value = sevens;
        live.handler = translated ? HANDLER : (uintptr_t)sevens;
        CHECK(is_gauge(&p->fixed, &here) && is_gauge(&p->live, &live) &&
              is_gauge(&p->also_fixed, &here));
    }
    CHECK_EQ(i, 0);
}

TEST(directions, fields_of_an_arena_that_are_in_keep_what_others_are_there)
{
    static const test_translation translation = { HANDLER, HANDLER_THERE };
    test_device options;
    haul_device *device;
    int way; /* typed, typed and direct, discovered */
    memset(&options, 0, sizeof options);
    options.known.translations = &translation;
    options.known.translation_count = 1;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    for (way = 0; way < 3; way++) {
        haul_ship_options ship;
        haul_arena *arena;
        haul_shipment *s;
        panel *first;
        panel_tour tour;
        memset(&ship, 0, sizeof ship);
        panels_open(way == 2);
        CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
        first = panels_make(arena, way < 2);
        if (way == 2)
            CHECK_STATUS(haul_ship_from(device, haul_from_arena_root(arena, first, panel_type),
                                        &ship, NULL, &s),
                         HAUL_OK);
        else
            CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &ship, NULL, &s), HAUL_OK);
        if (way == 1)
            CHECK_STATUS(haul_return_directly(s), HAUL_OK);
        tour.first = haul_device_pointer(s, first);
        tour.handler = way == 2 ? HANDLER_THERE : HANDLER;
        tour.seen = 0;
        CHECK_STATUS(haul_host_launch(device, turn_panels, &tour), HAUL_OK);
        CHECK_EQ(tour.seen, PANELS);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        check_panels(first, way == 2);
        CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
        check_panels(first, way == 2);
        haul_shipment_free(&s);
        haul_arena_free(&arena);
        haul_type_free(&panel_type);
        haul_type_free(&gauge_type);
    }
    haul_device_close(&device);
}

typedef struct tagged {
    struct tagged *next;
    int64_t kind;
} tagged;

static haul_type *tagged_type;

/* Not a direction's affair: an arena knows pointers by their places, and those of such a rule have
 * none. */
TEST(directions, a_typed_arena_refuses_rules_that_look_at_the_object)
{
    static const haul_field fields[] = { HAUL_OBJECT(tagged, next, &tagged_type,
                                                     .when = HAUL_EQUALS(tagged, kind, 1)) };
    haul_context *context;
    haul_arena *arena;
    CHECK_STATUS(type_make("tagged", sizeof(tagged), fields, 1, &tagged_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(tagged_type), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    CHECK_PTR(haul_arena_new(arena, tagged_type, 1), NULL);
    CHECK_STATUS(haul_arena_error(arena)->status, HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_arena_error(arena)->text, "members depend on the object");
    haul_arena_free(&arena);
    haul_context_free(&context);
    haul_type_free(&tagged_type);
}

/* ---- Wrong descriptions. */

typedef struct wrong {
    struct wrong *next;
    int32_t n, kind;
    char *text;
    double *numbers;
    inner part;
    void *any;
} wrong;

static haul_type *wrong_type;

static void refuse(const haul_field *fields, size_t count, const char *path, const char *words)
{
    CHECK_STATUS(type_make("wrong", sizeof(wrong), fields, count, &wrong_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(wrong_type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, path);
    CHECK_HAS(type_error()->text, words);
    haul_type_free(&wrong_type);
}

TEST(directions, what_is_not_read_has_no_pointers_no_ends_and_no_numbers_that_are_needed)
{
    haul_field row = HAUL_OBJECT(wrong, next, &wrong_type, .transfer = HAUL_COPYOUT);
    refuse(&row, 1, "wrong.next",
           "`.transfer` is copyout, so that nothing there is read; but type wrong has pointers");
    row.transfer = HAUL_CREATE;
    refuse(&row, 1, "wrong.next", "`.transfer` is create");
    {
        const haul_field text = HAUL_STRING(wrong, text, .transfer = HAUL_CREATE);
        refuse(&text, 1, "wrong.text", "but the array ends at a value");
    }
    {
        haul_field both[] = { HAUL_RAW(wrong, n, .transfer = HAUL_CREATE),
                              HAUL_ARRAY(wrong, numbers, HAUL_COUNT(wrong, n)) };
        refuse(both, 2, "wrong.numbers", "which lies in n and by its `.transfer` is not read");
    }
    {
        haul_type *rebuilt;
        const haul_field any =
            HAUL_ADDRESS(wrong, any, .target = &rebuilt, .transfer = HAUL_CREATE);
        CHECK_STATUS(type_make("rebuilt", 16, NULL, 0, &rebuilt), HAUL_OK);
        CHECK_STATUS(haul_type_set_rebuild(rebuilt, NULL, NULL), HAUL_OK);
        refuse(&any, 1, "wrong.any", "objects of type rebuilt are rebuilt from what is sent");
        haul_type_free(&rebuilt);
    }
    {
        haul_field both[] = { HAUL_RAW(wrong, kind, .transfer = HAUL_CREATE),
                              HAUL_OBJECT(wrong, next, &wrong_type,
                                          .when = HAUL_EQUALS(wrong, kind, 1)) };
        refuse(both, 2, "wrong.next", "which lies in kind");
    }
    {
        const haul_case cases[] = { { 1, &wrong_type, 0 } };
        const haul_field any =
            HAUL_ADDRESS(wrong, any, .type_switch = HAUL_SWITCH_TARGET(wrong, kind, cases),
                         .transfer = HAUL_COPYOUT);
        refuse(&any, 1, "wrong.any", "but its type is told by a tag there");
    }
}

TEST(directions, a_count_in_a_part_that_is_not_read_is_refused_too)
{
    haul_field inner_row = HAUL_RAW(inner, b, .transfer = HAUL_COPYOUT);
    haul_field rows[] = { HAUL_EMBED(wrong, part, &inner_type),
                          HAUL_ARRAY(wrong, numbers, HAUL_COUNT(wrong, part.b)) };
    CHECK_STATUS(type_make("inner", sizeof(inner), &inner_row, 1, &inner_type), HAUL_OK);
    refuse(rows, 2, "wrong.numbers", "which lies in inner and by its `.transfer` is not read");
    haul_type_free(&inner_type);
}

TEST(directions, rows_that_have_nothing_to_direct_have_no_direction)
{
    haul_field row =
        HAUL_OBJECT(wrong, next, &wrong_type, .transfer = HAUL_COPYIN, .ownership = HAUL_BORROWED);
    refuse(&row, 1, "wrong.next",
           "It is borrowed, so that it is not followed; but it has a `.transfer`");
    row.ownership = HAUL_OWNED;
    row.transfer = (haul_transfer)4;
    refuse(&row, 1, "wrong.next", "`.transfer` is 4, which does not exist");
    row.transfer = HAUL_COPYIN;
    row.kind = HAUL_FIELD_SKIP;
    refuse(&row, 1, "wrong.next", "HAUL_SKIP has no `.transfer`");
}

static haul_status write_page(void *user, const void *data, size_t bytes)
{
    char *page = user;
    size_t length = strlen(page);
    memcpy(page + length, data, bytes);
    page[length + bytes] = '\0';
    return HAUL_OK;
}

TEST(directions, the_printed_table_shows_them)
{
    char page[4096] = "";
    haul_file file;
    memset(&file, 0, sizeof file);
    file.write = write_page;
    file.user = page;
    jobs_open();
    CHECK_STATUS(haul_type_dump(job_type, &file), HAUL_OK);
    CHECK_HAS(page, "tolerance  raw               copyin\n");
    CHECK_HAS(page, "rounds     raw               copyout\n");
    CHECK_HAS(page, "scratch    raw               create\n");
    CHECK_HAS(page, "pointer  8 bytes  @0; copyout\n");
    CHECK_HAS(page, "pointer  8 bytes  @0; create\n");
    CHECK_HAS(page, "pointer  1 byte   NUL; copyin\n");
    CHECK_HAS(page, "pointer  job      1; copyin\n");
    haul_type_free(&job_type);
}

/* ---- Faults. */

static void *load_jobs(void)
{
    job *first;
    world_start(&the.w, 1 << 15);
    jobs_open();
    first = job_make(&the.w, 33);
    first->next = job_make(&the.w, 600);
    return first;
}

static void unload_jobs(void)
{
    haul_type_free(&job_type);
}

/* A kernel finds all as it was sent, and changes it. */
static void work_on_the_jobs(void)
{
    work_on(the.device, the.s, &the.w, the.root);
}

static const cargo jobs = { &job_type, load_jobs, unload_jobs, work_on_the_jobs };

static void prepare_worked(void *user, fault_plan *plan)
{
    prepare(user, plan);
    work_on_the_jobs();
}

static haul_status update(void *user)
{
    (void)user;
    return haul_update_host(the.s, RANGE(the.w.memory, the.w.bytes), NULL);
}

static void check_jobs_are_back(void *user, haul_status status)
{
    (void)user;
    check_report(status);
    if (status == HAUL_OK) {
        check_job_is_back(the.root);
        memcpy(the.w.memory, the.before, the.w.bytes);
    }
    check_world_is_untouched();
}

TEST(directions, H1_H2_D1_a_ship_can_fail_everywhere)
{
    fault_operation operation = operation_on(ship, check_ship);
    the.cargo = &jobs;
    operation.undo = free_shipment;
    CHECK(fault_everywhere(&operation) > 5);
}

static void fail_everywhere(haul_status (*run)(void *))
{
    fault_operation operation = operation_on_shipment(run, check_jobs_are_back);
    the.cargo = &jobs;
    operation.prepare = prepare_worked;
    CHECK(fault_everywhere(&operation) > 5);
}

TEST(directions, H1_H2_D4_an_unmarshal_can_fail_everywhere)
{
    fail_everywhere(unmarshal);
}

TEST(directions, H1_H2_D4_an_update_can_fail_everywhere)
{
    fail_everywhere(update);
}

typedef struct outlier {
    struct outlier *next;
    void *handle;
} outlier;

static haul_type *outlier_type;

static int64_t never(const haul_here *here)
{
    (void)here;
    return 0;
}

/* The object would end behind all addresses. */
static void check_outlier(const haul_field *fields)
{
    const haul_struct what = { .name = "outlier",
                               .bytes = sizeof(outlier),
                               .fields = fields,
                               .field_count = 2,
                               .field_bytes = sizeof *fields };
    outlier one = { (outlier *)(uintptr_t)UINT64_C(0xfffffffffff8), NULL };
    haul_plan *plan = NULL;
    outlier_type = type_new(&what);
    CHECK_STATUS(haul_type_commit(outlier_type), HAUL_OK);
    CHECK_STATUS(
        haul_plan_create(type_context(), haul_from_object(&one, outlier_type), NULL, &plan),
        HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(type_context())->path, "root.next");
    haul_type_free(&outlier_type);
}

TEST(directions, a_target_at_the_end_of_all_addresses_is_refused)
{
    const haul_field brief[] = { HAUL_OBJECT(outlier, next, &outlier_type, .transfer = HAUL_COPYIN),
                                 HAUL_SKIP(outlier, handle) };
    const haul_field ruled[] = { HAUL_OBJECT(outlier, next, &outlier_type, .transfer = HAUL_COPYIN),
                                 HAUL_RAW(outlier, handle, .when = HAUL_WHEN_FN(never)) };
    check_outlier(brief);
    check_outlier(ruled);
}

/* The pool, the account, shipments and audits of the programs for sparse matrices. */
#define _DEFAULT_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sparse.h"
#include "support/builds.h"

/* ---- The account. */

static struct {
    unsigned passed, failed, checks;
    int failed_here;
} tally;

void case_begin(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    tally.failed_here = 0;
    fflush(stdout);
}

void case_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    fflush(stdout);
}

void case_end(void)
{
    printf(" ... %s\n", tally.failed_here ? "FAILED" : "ok");
    if (tally.failed_here)
        tally.failed++;
    else
        tally.passed++;
    fflush(stdout);
}

int check(int holds, const char *format, ...)
{
    va_list list;
    tally.checks++;
    if (holds)
        return 1;
    tally.failed_here = 1;
    printf("\n    does not hold: ");
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    fflush(stdout);
    return 0;
}

int check_call(haul_status status, haul_context *context, const char *what)
{
    const haul_error *error = haul_context_error(context);
    return check(status == HAUL_OK, "%s: %s: %s %s", what, haul_status_name(status), error->path,
                 error->text);
}

haul_context *types_context(void)
{
    static haul_context *context;
    if (!context)
        check(haul_context_create(NULL, &context) == HAUL_OK, "a context");
    return context;
}

int account(void)
{
    printf("%u checks\n%u passed, %u failed\n", tally.checks, tally.passed, tally.failed);
    return tally.failed > 0 || tally.passed == 0;
}

/* ---- The pool.
 *
 *     | size | block | size | block | ...  never touched |
 *
 * Beside it stands a bit for each granule: does a block begin there?
 *
 * Blocks are taken one behind the other. The last one can grow and go; what else goes back is lost
 * until pool_empty, but for its pages.
 */
#define POOL_BYTES ((size_t)4 << 30)
#define GRANULE ((size_t)16)
#define PAGE ((size_t)4096)

static struct {
    unsigned char *memory, *begins;
    size_t used;
    int is_open;
} pool;

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        printf("no address space for the pool\n");
        exit(1);
    }
    return memory;
}

void pool_open(void)
{
    if (!pool.memory) {
        pool.memory = map(POOL_BYTES);
        pool.begins = map(POOL_BYTES / GRANULE / 8);
    }
    pool.is_open = 1;
}

void pool_shut(void)
{
    pool.is_open = 0;
}

void pool_empty(void)
{
    size_t pages = (pool.used + PAGE - 1) / PAGE * PAGE;
    if (pages == 0)
        return;
    madvise(pool.memory, pages, MADV_DONTNEED);
    memset(pool.begins, 0, pages / GRANULE / 8 + 1);
    pool.used = 0;
}

static void pool_protect(int protection)
{
    if (pool.memory && mprotect(pool.memory, POOL_BYTES, protection) != 0) {
        printf("the pool cannot be protected\n");
        exit(1);
    }
}

static int is_pooled(const void *block)
{
    return pool.memory && (uintptr_t)block - (uintptr_t)pool.memory < POOL_BYTES;
}

static size_t *size_of(void *block)
{
    return (size_t *)block - 1;
}

static size_t offset_of(const void *block)
{
    return (size_t)((const unsigned char *)block - pool.memory);
}

static void mark(const void *block, int begins)
{
    size_t granule = offset_of(block) / GRANULE;
    unsigned char bit = (unsigned char)(1u << granule % 8);
    if (begins)
        pool.begins[granule / 8] |= bit;
    else
        pool.begins[granule / 8] &= (unsigned char)~bit;
}

static int ends_the_pool(void *block)
{
    return offset_of(block) + (*size_of(block) + GRANULE - 1) / GRANULE * GRANULE == pool.used;
}

static void set_end(const void *block, size_t bytes)
{
    pool.used = offset_of(block) + (bytes + GRANULE - 1) / GRANULE * GRANULE;
}

static int has_room(size_t from, size_t bytes)
{
    return bytes <= POOL_BYTES / 2 && from + 2 * GRANULE + bytes <= POOL_BYTES;
}

void *pool_allocate(size_t bytes)
{
    unsigned char *block;
    if (!pool.is_open)
        return malloc(bytes);
    if (!has_room(pool.used, bytes))
        return NULL;
    block = pool.memory + pool.used + GRANULE;
    *size_of(block) = bytes;
    mark(block, 1);
    set_end(block, bytes);
    return block;
}

void *pool_allocate_zeros(size_t count, size_t bytes)
{
    void *block = count && bytes > SIZE_MAX / count ? NULL : pool_allocate(count * bytes);
    return block ? memset(block, 0, count * bytes) : NULL;
}

void *pool_reallocate(void *block, size_t bytes)
{
    void *moved;
    if (!block)
        return pool_allocate(bytes);
    if (!is_pooled(block))
        return realloc(block, bytes);
    if (ends_the_pool(block) && has_room(offset_of(block), bytes))
        set_end(block, *size_of(block) = bytes);
    if (bytes <= *size_of(block)) {
        *size_of(block) = bytes;
        return block;
    }
    moved = pool_allocate(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, block, *size_of(block));
    pool_release(block);
    return moved;
}

void pool_release(void *block)
{
    uintptr_t first = ((uintptr_t)block + PAGE - 1) / PAGE * PAGE, end;
    if (!block || !is_pooled(block)) {
        free(block);
        return;
    }
    mark(block, 0);
    end = ((uintptr_t)block + *size_of(block)) / PAGE * PAGE;
    if (ends_the_pool(block))
        pool.used = offset_of(block) - GRANULE;
    if (end > first)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

size_t pool_find(void *user, const void *address, const void **begin)
{
    const size_t at = is_pooled(address) ? offset_of(address) : 0;
    size_t granule = at / GRANULE, bytes;
    (void)user;
    while (granule > 0 && !(pool.begins[granule / 8] >> granule % 8 & 1))
        granule--;
    if (granule == 0)
        return 0;
    *begin = (const unsigned char *)address - (at - granule * GRANULE);
    bytes = ((const size_t *)*begin)[-1];
    return at - granule * GRANULE < bytes ? bytes : 0;
}

/* ---- Shipping. */

static haul_context_options checked_with(void *argument)
{
    haul_context_options options;
    memset(&options, 0, sizeof options);
    options.checked = 1;
    options.argument = argument;
    return options;
}

int passage_open(passage *p, const haul_root *roots, size_t count, void *argument)
{
    const haul_context_options options = checked_with(argument);
    haul_context *context;
    haul_shipment_info statistics;
    haul_status status;
    memset(p, 0, sizeof *p);
    pool_shut();
    status = haul_context_create(&options, &context);
    if (status == HAUL_OK)
        status = haul_host_open(context, NULL, &p->device);
    haul_context_free(&context);
    if (!check(status == HAUL_OK, "the host device opens"))
        return 0;
    pool_protect(PROT_READ);
    status = haul_ship_from(p->device, haul_from_roots(roots, count), NULL, NULL, &p->shipment);
    pool_protect(PROT_READ | PROT_WRITE);
    if (!check_call(status, haul_device_context(p->device), "shipping")) {
        haul_device_close(&p->device);
        return 0;
    }
    haul_shipment_get_info(p->shipment, &statistics);
    case_note(", %zu objects, %zu pointers, %.2f MB", statistics.objects, statistics.pointers,
              (double)statistics.graph_bytes / 1e6);
    return 1;
}

/* The system refuses to read for us what we may not read. */
static int can_be_read(const void *byte)
{
    int ends[2], can;
    if (pipe(ends) != 0)
        return 1;
    can = write(ends[1], byte, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return can;
}

typedef struct job {
    void (*work)(void *argument);
    void *argument;
    int original_is_away;
} job;

static void do_job(void *argument)
{
    job *j = argument;
    j->original_is_away = !can_be_read(pool.memory + GRANULE);
    j->work(j->argument);
}

int passage_work(passage *p, void (*work)(void *argument), void *argument)
{
    job j;
    haul_status status;
    memset(&j, 0, sizeof j);
    j.work = work;
    j.argument = argument;
    pool_shut();
    pool_protect(PROT_NONE);
    status = haul_host_launch(p->device, do_job, &j);
    pool_protect(PROT_READ | PROT_WRITE);
    check(j.original_is_away, "the original is out of reach");
    return check_call(status, haul_device_context(p->device), "working on the copy");
}

int passage_return(passage *p)
{
    return check_call(haul_unmarshal(p->shipment), haul_device_context(p->device), "bringing back");
}

void passage_close(passage *p)
{
    haul_shipment_free(&p->shipment);
    haul_device_close(&p->device);
}

/* ---- Auditing, and what has to be refused. */

static void keep(void *user, const haul_audit_finding *finding)
{
    findings *f = user;
    if (BUILD_LIKELY_ADDRESSES && finding->kind == HAUL_AUDIT_OUTSIDE_ADDRESS)
        return; /* two indices of 4 bytes */
    if (f->count < FINDINGS)
        f->found[f->count] = *finding;
    f->count++;
}

int audit(const haul_root *roots, size_t count, void *argument, int exact, findings *f)
{
    haul_context_options with = checked_with(argument);
    haul_audit_options options;
    haul_context *context = NULL;
    haul_status status;
    int done;
    memset(&options, 0, sizeof options);
    memset(f, 0, sizeof *f);
    options.finding = keep;
    options.user = f;
    options.block = pool_find;
    options.exact_blocks = exact;
    pool_shut();
    if (!check(haul_context_create(&with, &context) == HAUL_OK, "a context"))
        return 0;
    pool_protect(PROT_READ);
    status = haul_audit(context, haul_from_roots(roots, count), &options, &f->summary);
    pool_protect(PROT_READ | PROT_WRITE);
    done = check_call(status, context, "the audit");
    haul_context_free(&context);
    return done;
}

void check_audit_is_clean(const haul_root *roots, size_t count, void *argument, int exact)
{
    findings f;
    size_t i;
    if (!audit(roots, count, argument, exact, &f))
        return;
    check(f.summary.blocks > count, "the audit knew %zu blocks", f.summary.blocks);
    for (i = 0; i < f.count && i < FINDINGS; i++)
        check(f.found[i].kind == HAUL_AUDIT_UNUSED_FIELD, "%s: %s", f.found[i].path,
              f.found[i].text);
    check(f.count <= FINDINGS, "%zu findings", f.count);
}

void check_audit_tells(const haul_root *roots, size_t count, haul_audit_kind kind, const char *path,
                       const char *words)
{
    findings f;
    size_t i, told = 0;
    if (!audit(roots, count, NULL, 1, &f))
        return;
    for (i = 0; i < f.count && i < FINDINGS; i++)
        if (f.found[i].kind == kind && strcmp(f.found[i].path, path) == 0 &&
            strstr(f.found[i].text, words))
            told++;
    check(told == 1, "the audit tells of %s once, that it is \"%s\"; it tells it %zu times", path,
          words, told);
    for (i = 0; told != 1 && i < f.count && i < FINDINGS; i++)
        printf("\n        it said: %s: %s", f.found[i].path, f.found[i].text);
}

void check_refused(const haul_root *roots, size_t count, const char *path, const char *other_path,
                   const char *words)
{
    haul_context_options with = checked_with(NULL);
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    const haul_error *error;
    pool_shut();
    if (!check(haul_context_create(&with, &context) == HAUL_OK, "a context"))
        return;
    check(haul_plan_create(context, haul_from_roots(roots, count), NULL, &plan) == HAUL_ERROR_GRAPH,
          "the description is refused");
    error = haul_context_error(context);
    check(strcmp(error->path, path) == 0, "the path is %s; it is %s", path, error->path);
    check(!other_path || strcmp(error->other_path, other_path) == 0,
          "the other path is %s; it is %s", other_path ? other_path : "", error->other_path);
    check(strstr(error->text, words) != NULL, "the text says \"%s\"; it says \"%s\"", words,
          error->text);
    haul_plan_free(&plan);
    haul_context_free(&context);
}

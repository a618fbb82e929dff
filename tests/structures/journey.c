/* Sites, refusals and journeys. A journey's roots are shipped together, and walked one by one.
 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "journey.h"
#include "support/builds.h"

enum { SITE_BYTES = 8 << 20, GAP = 24 };

site the;

/* Where no block is, every word is 17: on no processor the address of anything. */
void site_start(uint64_t seed)
{
    memset(&the, 0, sizeof the);
    world_start_of(&the.w, SITE_BYTES, 17);
    the.w.gap = GAP;
    the.random = random_from(seed);
}

void site_end(void)
{
    world_end(&the.w);
}

void site_end_with(haul_type ***types)
{
    for (; *types; types++)
        haul_type_free(*types);
    site_end();
}

/* ---- Building. */

void *put(size_t bytes, size_t alignment)
{
    CHECK(bytes > 0);
    return memset(world_take(&the.w, bytes, alignment), 0, bytes);
}

void *put_elements(size_t count, size_t bytes)
{
    return put(count * bytes, 16);
}

void *put_room(size_t bytes)
{
    const uintptr_t word = 17;
    unsigned char *room = put(bytes, 16);
    size_t i;
    for (i = 0; i + sizeof word <= bytes; i += sizeof word)
        memcpy(room + i, &word, sizeof word);
    return room;
}

char *put_text(const char *text)
{
    return world_text(&the.w, text);
}

int chance(int low, int high)
{
    return low + (int)random_below(&the.random, (size_t)(high - low) + 1);
}

/* ---- The book. */

static size_t find_in_book(void *user, const void *address, const void **begin)
{
    const world_block *found = world_block_before(&the.w, address);
    (void)user;
    if (!found || (uintptr_t)address - (uintptr_t)found->at >= found->bytes)
        return 0;
    *begin = found->at;
    return found->bytes;
}

static int is_static(const void *address, size_t bytes)
{
    size_t i;
    for (i = 0; i < the.known.static_count; i++) {
        const test_static *s = &the.known.statics[i];
        const uintptr_t at = (uintptr_t)address - (uintptr_t)s->address;
        if (at <= s->bytes && bytes <= s->bytes - at)
            return 1;
    }
    return 0;
}

static int book_readable(const void *address, size_t bytes)
{
    return is_static(address, bytes) || world_holds(&the.w, address, bytes);
}

/* Of a string the library cannot know how much it will read: it asks for what is left of a page. */
static int site_readable(void *user, const void *address, size_t bytes)
{
    (void)user;
    return book_readable(address, bytes) ||
           (((uintptr_t)address + bytes) % 4096 == 0 && book_readable(address, 1));
}

/* ---- Types. */

haul_type *type_open(const char *name, size_t bytes, const haul_field *fields, size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    return type;
}

void type_close(haul_type *type)
{
    haul_status status = haul_type_commit(type);
    check_note("%s: %s", type_error()->path, type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
}

void refuse_type(haul_type *type, const char *path, const char *words)
{
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, path);
    CHECK_HAS(type_error()->text, words);
}

/* ---- Contexts, devices and what they say. */

haul_context_options site_options(int checked)
{
    haul_context_options options = the.options;
    options.checked = checked;
    if (checked)
        options.readable = site_readable;
    return options;
}

haul_context *site_context(void)
{
    haul_context_options options = site_options(1);
    haul_context *context;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(test_tell(context, &the.known), HAUL_OK);
    return context;
}

static haul_device *open_device(const haul_context_options *how)
{
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.new_context = *how;
    options.known = the.known;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    return device;
}

haul_device *site_device(int checked)
{
    const haul_context_options options = site_options(checked);
    return open_device(&options);
}

static void note_error(const haul_error *error)
{
    check_note("%s (%s): %s", error->path, error->other_path, error->text);
}

void check_error(const haul_error *error, const char *path, const char *other_path,
                 const char *words)
{
    note_error(error);
    CHECK_STR(error->path, path);
    if (other_path)
        CHECK_STR(error->other_path, other_path);
    CHECK_HAS(error->text, words);
    check_note(NULL);
}

static haul_root root_of(void *address, const haul_type *type, size_t count)
{
    haul_root root;
    root.address = address;
    root.type = type;
    root.count = count;
    return root;
}

void refuse_graph(void *address, const haul_type *type, haul_status expected, const char *path,
                  const char *other_path, const char *words)
{
    haul_context *context = site_context();
    haul_root root = root_of(address, type, 1);
    haul_plan *plan;
    haul_status status = haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan);
    the.refused = *haul_context_error(context);
    note_error(&the.refused);
    CHECK_STATUS(status, expected);
    check_error(&the.refused, path[0] ? path : the.refused.path, other_path, words);
    CHECK_PTR(plan, NULL);
    haul_context_free(&context);
}

void refuse_ship(void *address, const haul_type *type, size_t count, haul_status expected,
                 const char *path, const char *words)
{
    haul_context_options options = the.options;
    haul_device *device;
    haul_host_counters counters;
    haul_shipment *s;
    haul_status status;
    options.checked = 1;
    device = open_device(&options);
    status = haul_ship(device, address, type, count, NULL, &s);
    the.refused = *haul_context_error(haul_device_context(device));
    note_error(&the.refused);
    CHECK_STATUS(status, expected);
    check_error(&the.refused, path, NULL, words);
    CHECK_PTR(s, NULL);
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    CHECK_EQ(counters.copies_to, 0);
    haul_device_close(&device);
}

/* ---- Audits. */

/* The first finding of a kind, or of any, and how many have a path and words. */
typedef struct told {
    haul_audit_kind wanted;
    const char *path, *words;
    size_t count, matching;
    haul_audit_finding first;
} told;

/* What a right description may have: words that look like addresses by chance, and pointers that a
 * flag has switched off without clearing them. */
static int may_be_right(const haul_audit_finding *finding)
{
    if (finding->kind == HAUL_AUDIT_LEFT_OUT)
        return 1;
    return BUILD_LIKELY_ADDRESSES && finding->memory.kind && !finding->memory.is_told;
}

static void tell(void *user, const haul_audit_finding *finding)
{
    told *t = user;
    if (t->wanted ? finding->kind != t->wanted : may_be_right(finding))
        return;
    if (t->count++ == 0)
        t->first = *finding;
    t->matching +=
        t->path && strcmp(finding->path, t->path) == 0 && strstr(finding->text, t->words) != NULL;
}

/* A right description reads what the book lists; what a wrong one reads is told by the blocks. */
static haul_audit_info audit(const haul_root *roots, size_t count, int is_right, int is_exact,
                             told *t)
{
    haul_context_options how = site_options(1);
    haul_context *context;
    haul_audit_options options;
    haul_audit_info info;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.finding = tell;
    options.user = t;
    options.block = find_in_book;
    options.exact_blocks = is_exact;
    if (!is_right)
        how.readable = NULL;
    CHECK_STATUS(haul_context_create(&how, &context), HAUL_OK);
    CHECK_STATUS(test_tell(context, &the.known), HAUL_OK);
    status = audit_roots_of(context, roots, count, &options, &info);
    note_error(haul_context_error(context));
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    haul_context_free(&context);
    return info;
}

void audit_tells(void *address, const haul_type *type, size_t count, haul_audit_kind kind,
                 const char *path, const char *words)
{
    haul_root root = root_of(address, type, count);
    told t;
    memset(&t, 0, sizeof t);
    t.wanted = kind;
    t.path = path;
    t.words = words;
    audit(&root, 1, 0, 0, &t);
    check_note("%s (%s): %s", t.first.path, t.first.other_path, t.first.text);
    CHECK_EQ(t.matching, 1);
    check_note(NULL);
}

void audit_of_exact_blocks_tells(void *address, const haul_type *type, size_t count,
                                 const char *path, const char *words)
{
    haul_root root = root_of(address, type, 1);
    haul_audit_info info;
    told t;
    memset(&t, 0, sizeof t);
    info = audit(&root, 1, 0, 1, &t);
    CHECK_EQ(info.little_of_block, count);
    CHECK_STR(t.first.path, path);
    CHECK_HAS(t.first.text, words);
}

static void audit_of_roots_finds_nothing(const haul_root *roots, size_t count)
{
    haul_audit_info info;
    told t;
    memset(&t, 0, sizeof t);
    info = audit(roots, count, 1, 0, &t);
    check_note("%s (%s): %s", t.first.path, t.first.other_path, t.first.text);
    CHECK_EQ(t.count, 0);
    CHECK_EQ(info.unused_fields + info.beyond_block + info.little_of_block, 0);
    CHECK(info.objects > 0 && info.blocks > 0);
    check_note(NULL);
}

void audit_finds_nothing(void *address, const haul_type *type)
{
    haul_root root = root_of(address, type, 1);
    audit_of_roots_finds_nothing(&root, 1);
}

/* ---- Journeys. */

static unsigned char *picture(void)
{
    unsigned char *taken = malloc(the.w.used);
    CHECK(taken != NULL);
    return memcpy(taken, the.w.memory, the.w.used);
}

static void walk_sum(void *argument)
{
    visit *v = argument;
    v->seen = (uint64_t)v->sum(v->root, v->count);
}

static visit visit_of(const journey *j, const haul_root *root)
{
    visit v;
    memset(&v, 0, sizeof v);
    v.root = root->address;
    v.count = root->count;
    v.sum = j->sum;
    return v;
}

/* On the device, with the site out of reach. */
static void walk_there(const journey *j, const haul_root *roots, size_t count, haul_device *device,
                       const haul_shipment *s)
{
    uint64_t seen = 0;
    size_t i;
    world_protect(&the.w, PROT_NONE);
    for (i = 0; i < count; i++) {
        visit v = visit_of(j, &roots[i]);
        v.root = haul_device_pointer(s, v.root);
        CHECK(v.root != NULL && v.root != roots[i].address);
        CHECK_STATUS(haul_host_launch(device, j->walk, &v), HAUL_OK);
        seen += v.seen;
    }
    world_protect(&the.w, PROT_READ | PROT_WRITE);
    CHECK_EQ(seen, j->seen);
}

static void check_as_changed_here(const journey *j, const haul_root *roots, size_t count,
                                  const unsigned char *before)
{
    unsigned char *after = picture();
    size_t i;
    memcpy(the.w.memory, before, the.w.used);
    for (i = 0; i < count; i++) {
        visit v = visit_of(j, &roots[i]);
        v.is_host = 1;
        (j->change ? j->change : j->walk)(&v);
    }
    CHECK_BYTES(after, the.w.memory, the.w.used);
    free(after);
}

static void travel_once(const journey *j, const haul_root *roots, size_t count, int way)
{
    haul_device *device = site_device(way & 1);
    const haul_context *context = haul_device_context(device);
    haul_ship_options how;
    haul_shipment *s;
    haul_status status;
    memset(&how, 0, sizeof how);
    how.let_counts_change = the.lets_change;
    host_patches(device, way >> 1);
    world_protect(&the.w, PROT_READ);
    status = haul_ship_from(device, haul_from_roots(roots, count), &how, NULL, &s);
    note_error(haul_context_error(context));
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    walk_there(j, roots, count, device, s);
    status = haul_update_host(s, j->with_pointers ? WITH_POINTERS : NULL, NULL);
    note_error(haul_context_error(context));
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    haul_shipment_free(&s);
    haul_device_close(&device);
}

static void travel_from(const journey *j, const haul_root *roots, size_t count)
{
    unsigned char *before = picture();
    int way;
    if (!j->without_audit)
        audit_of_roots_finds_nothing(roots, count);
    for (way = 0; way < 4; way++) {
        travel_once(j, roots, count, way);
        CHECK(j->change || memcmp(before, the.w.memory, the.w.used) != 0);
        check_as_changed_here(j, roots, count, before);
        memcpy(the.w.memory, before, the.w.used);
    }
    free(before);
}

void travel(const journey *j)
{
    haul_root root = root_of(j->root, j->type, j->count ? j->count : 1);
    travel_from(j, &root, 1);
}

void travel_to_see(void *root, const haul_type *type, void (*walk)(void *visit), uint64_t seen)
{
    journey j;
    memset(&j, 0, sizeof j);
    j.root = root;
    j.type = type;
    j.walk = walk;
    j.seen = seen;
    travel(&j);
}

void travel_and_sum_roots(const haul_root *roots, size_t count,
                          int64_t (*sum)(void *root, size_t count))
{
    journey j;
    memset(&j, 0, sizeof j);
    j.walk = walk_sum;
    j.sum = sum;
    j.seen = (uint64_t)the.told;
    j.with_pointers = the.returns_pointers;
    travel_from(&j, roots, count);
}

void travel_and_sum(void *root, const haul_type *type, size_t count,
                    int64_t (*sum)(void *root, size_t count))
{
    haul_root one = root_of(root, type, count);
    travel_and_sum_roots(&one, 1, sum);
}

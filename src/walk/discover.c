/* The runs of discovery. The plain one does not record how an object was found, so good data pays
 * nothing for error paths. If it fails, a second run records all entries, and its error has a path.
 * The same recording run finds the path of a place in a graph that has changed.
 */
#include "walk/discover.h"
#include "walk/aliases.h"
#include "walk/ancestors.h"
#include "walk/checked.h"
#include "walk/exclude.h"
#include "walk/hints.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/new_ranges.h"
#include "walk/news.h"
#include "walk/paths.h"
#include "walk/place.h"
#include "walk/pools.h"
#include "walk/read_set.h"
#include "walk/retrace.h"
#include "walk/ruled_field.h"
#include "walk/section_memo.h"
#include "walk/share.h"
#include "walk/targets.h"
#include "walk/unless_owned.h"
#include "walk/visit.h"
#include "walk/why.h"
#include "walk/worklist.h"

static void close_discovery(haul__discovery *d)
{
    haul__met_types_close(d);
    haul__worklist_close(d);
    haul__ancestors_close(d);
    haul__memo_close(d);
    haul__meanings_close(d);
    haul__aliases_close(d);
    HAUL__LIST_RELEASE(d->allocator, &d->targets);
    haul__waiting_close(d);
    haul__section_memo_close(d);
    haul__pools_close(d);
    haul__evaluations_close(d);
    haul__exclude_close(d);
    haul__answers_close(d);
}

void haul__found_drop(haul_context *context, haul__found *found)
{
    const haul_allocator *allocator = &context->allocator;
    haul__notes_keep(context, &context->reads, found->reads, found->read_capacity);
    haul__notes_keep(context, &context->calls, found->calls, found->call_capacity);
    haul__release(allocator, found->sites, found->site_capacity * sizeof *found->sites);
    haul__release(allocator, found->special, found->special_capacity * sizeof *found->special);
    haul__release(allocator, found->empty, found->empty_capacity * sizeof *found->empty);
    haul__release(allocator, found->ends, found->end_capacity * sizeof *found->ends);
    haul__release(allocator, found->dependents,
                  found->dependent_capacity * sizeof *found->dependents);
    HAUL__LIST_RELEASE(allocator, &found->course.general);
    HAUL__LIST_RELEASE(allocator, &found->course.finders);
    haul__named_close(found->named);
    if (context->has_warm) {
        haul__map_close(&found->map);
    } else {
        haul__map_clear(&found->map);
        context->warm = found->map;
        context->has_warm = 1;
    }
    memset(found, 0, sizeof *found);
}

static void open_discovery(haul__discovery *d, haul_context *context, const haul_root *roots,
                           size_t count, haul__found *found)
{
    memset(d, 0, sizeof *d);
    d->context = context;
    d->allocator = &context->allocator;
    d->found = found;
    d->roots = roots;
    d->root_count = count;
    d->at_entry = SIZE_MAX;
    d->work_most = SIZE_MAX;
    memset(found, 0, sizeof *found);
    if (context->has_warm)
        found->map = context->warm; /* empty */
    else
        haul__map_open(&found->map, &context->allocator);
    context->has_warm = 0;
    haul__table_lend(&context->table, &found->map);
    d->map = &found->map;
}

/* If there is no memory, d->named stays NULL, and the walk will not begin. */
static void note_hints(haul__discovery *d, const haul__hints *hints)
{
    d->hints = hints;
    if (hints)
        d->named = d->found->named = haul__named_open(d->allocator, hints->count);
}

/* A large array as root is worth a walk by aims before it is marked. */
static haul_status follow_roots(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    size_t i = 0;
    while (i < d->root_count &&
           (d->roots[i].count < 2 || !haul__is_worth_aims(d, d->roots[i].count)))
        i++;
    if (i < d->root_count)
        status = haul__choose_aims(d);
    return status == HAUL_OK ? haul__follow_roots(d) : status;
}

/* Does the walk pass by pointers, so that owners may be missing? A plan has looked for them. */
static int is_partial(const haul__discovery *d)
{
    return d->listing && d->listing->is_wanted;
}

static haul_status run(haul__discovery *d)
{
    haul_status status = !haul__queue_open(d) || (d->hints && !d->named) ? HAUL_ERROR_MEMORY
                         : d->is_by_aims                                 ? haul__walk_by_aims(d)
                                                                         : follow_roots(d);
    if (status == HAUL_OK)
        status = haul__decide_waiting(d);
    if (status == HAUL_OK)
        status = haul__mark_pools(d);
    if (status == HAUL_OK && !d->within && !d->passing && !is_partial(d))
        status = haul__check_aliases(d);
    if (status == HAUL_OK)
        status = haul__note_course(d);
    d->repeated += d->found->objects;
    haul__news_close(d);
    if (status != HAUL_OK)
        haul__found_drop(d->context, d->found);
    if (status == HAUL_ERROR_MEMORY)
        haul__fail(&d->context->error, status, "out of memory in discovery");
    return status;
}

/* Who walks: one thread, and all if that pays; all, by aims; one. */
typedef enum walkers { TOGETHER, BY_AIMS, ALONE, NOBODY } walkers;

/* The next walk, and what those before it have learnt (discovery.h). */
typedef struct attempt {
    walkers by;
    haul__reason alone;
    size_t repeated;
    const haul__hints *hints;
    haul__outers outers;
} attempt;

/* `next` becomes the walk to try after a failure. */
static haul_status discover_by(haul_context *context, const haul_root *roots, size_t count,
                               haul__found *found, haul__order_log *order_log,
                               const haul__map *before, int recording, attempt *next)
{
    haul__discovery d;
    haul_status status;
    open_discovery(&d, context, roots, count, found);
    note_hints(&d, next->hints);
    d.recording = recording;
    d.order_log = order_log;
    d.in_order = order_log && !recording;
    d.is_alone = next->by == ALONE;
    d.has_no_aims = d.is_alone || context->options.threads < 2;
    d.is_by_aims = next->by == BY_AIMS;
    d.alone = next->alone;
    d.repeated = next->repeated;
    d.outers = &next->outers;
    haul__retrace_open(&d, before);
    haul__news_open(&d);
    status = run(&d);
    haul__retrace_close(&d);
    close_discovery(&d);
    next->by = d.is_by_aims ? ALONE : d.wants_aims || d.was_shared ? BY_AIMS : NOBODY;
    next->alone = d.alone;
    next->repeated = d.repeated;
    if (status != HAUL_OK && order_log)
        haul__order_log_close(context, order_log);
    return status;
}

/* If a shared walk fails, one thread walks again in the end: what it finds then, and its error, do
 * not depend on the threads. */
static haul_status discover(haul_context *context, const haul_root *roots, size_t count,
                            haul__found *found, haul__order_log *order_log, const haul__map *before,
                            int recording, const haul__hints *hints)
{
    const haul_error error = context->error;
    attempt next;
    haul_status status;
    memset(&next, 0, sizeof next);
    next.by = TOGETHER;
    next.hints = hints;
    do {
        context->error = error;
        status = discover_by(context, roots, count, found, order_log, before, recording, &next);
    } while (status != HAUL_OK && status != HAUL_ERROR_MEMORY && status != HAUL_ERROR_CANCELLED &&
             next.by != NOBODY);
    HAUL__LIST_RELEASE(&context->allocator, &next.outers);
    return status;
}

haul_status haul__record(haul_context *context, const haul_root *roots, size_t count,
                         const haul__bounds *bounds, haul__found *found, haul__discovery *d)
{
    haul_status status;
    open_discovery(d, context, roots, count, found);
    d->recording = 1;
    d->bounds = bounds;
    if (bounds)
        d->work_most = bounds->work;
    status = run(d);
    if (status != HAUL_OK)
        close_discovery(d);
    return status;
}

void haul__record_close(haul__discovery *d)
{
    close_discovery(d);
}

/* A run that does not record and fails is repeated for the path. The second run's error replaces
 * the first one, unless the second run succeeds or runs out of memory. */
static haul_status find_path(haul_context *context, const haul_root *roots, size_t count,
                             haul_status status)
{
    const haul_error first = context->error;
    haul__found again;
    haul_status second;
    if (status != HAUL_ERROR_GRAPH && status != HAUL_ERROR_LIMIT &&
        status != HAUL_ERROR_UNSUPPORTED)
        return status;
    second = discover(context, roots, count, &again, NULL, NULL, 1, NULL);
    if (second == HAUL_OK)
        haul__found_drop(context, &again);
    if (second != HAUL_OK && second != HAUL_ERROR_MEMORY)
        return second;
    context->error = first;
    return status;
}

static int must_record(const haul_context *context)
{
    return context->options.checked || context->options.readable;
}

haul_status haul__discover(haul_context *context, const haul_root *roots, size_t count,
                           haul__found *found, haul__order_log *order_log, const haul__map *before,
                           const haul__hints *hints)
{
    const int recording = must_record(context);
    const haul_status status =
        discover(context, roots, count, found, order_log, before, recording, hints);
    return recording ? status : find_path(context, roots, count, status);
}

/* Not inlined: the next run, for a path, needs the stack. */
static HAUL__NOINLINE haul_status list_ranges(haul_context *context, const haul_root *roots,
                                              size_t count, haul__listing *listing,
                                              const haul__elsewhere *elsewhere,
                                              const haul__hints *hints, haul__found *found)
{
    haul__discovery d;
    haul_status status;
    open_discovery(&d, context, roots, count, found);
    note_hints(&d, hints);
    d.recording = must_record(context);
    d.listing = listing;
    found->elsewhere = elsewhere;
    haul__news_open(&d);
    status = run(&d);
    close_discovery(&d);
    return status;
}

haul_status haul__note_hints(haul_context *context, const haul_root *roots, size_t count,
                             const haul__hints *hints, haul__slot_filter *is_wanted, void *user,
                             haul__named_granules **named)
{
    haul__listing listing;
    haul__found found;
    haul_status status;
    memset(&listing, 0, sizeof listing);
    listing.is_wanted = is_wanted;
    listing.user = user;
    status = list_ranges(context, roots, count, &listing, NULL, hints, &found);
    if (status == HAUL_OK) {
        *named = found.named;
        found.named = NULL;
        haul__found_drop(context, &found);
    }
    return must_record(context) ? status : find_path(context, roots, count, status);
}

/* Finds the path for the error of a run that stops at what is elsewhere: of an address, or of the
 * place that this run stops at again. Answers the status of that error, unless the program ends
 * this run. */
static haul_status name_beside(haul_context *context, const haul_root *root,
                               const haul__elsewhere *elsewhere, uintptr_t wrong)
{
    haul_error first = context->error;
    haul__discovery d;
    haul__found found;
    haul_status status;
    open_discovery(&d, context, root, 1, &found);
    d.recording = 1;
    found.elsewhere = elsewhere;
    haul__news_open(&d);
    status = run(&d);
    if (status == HAUL_OK) {
        if (wrong)
            haul__name_byte(&d, wrong, 0, first.path);
        haul__found_drop(context, &found);
    }
    if (status != HAUL_ERROR_CANCELLED && context->error.status != first.status)
        status = HAUL_OK;
    if (status == HAUL_OK)
        context->error = first;
    close_discovery(&d);
    return context->error.status;
}

haul_status haul__discover_beside(haul_context *context, const haul_root *root,
                                  const haul__beside *beside, haul__found *found)
{
    haul__listing listing;
    uintptr_t wrong = 0;
    haul_status status;
    memset(&listing, 0, sizeof listing);
    status = list_ranges(context, root, 1, &listing, beside->elsewhere, NULL, found);
    if (status == HAUL_OK) {
        status = beside->take(beside->user, listing.list.at, listing.list.count,
                              listing.unclear == 0, &wrong);
        if (status != HAUL_OK)
            haul__found_drop(context, found);
    }
    HAUL__LIST_RELEASE(&context->allocator, &listing.list);
    if (status == HAUL_ERROR_GRAPH || status == HAUL_ERROR_LIMIT ||
        status == HAUL_ERROR_UNSUPPORTED)
        status = name_beside(context, root, beside->elsewhere, wrong);
    return status;
}

/* Times that the bytes of a changed graph may be read, at most. A right graph needs a few. */
#define WORK_MOST 64u
#define WORK_SPARE 4096u /* bytes: entries of small graphs are longer than their objects */

/* Those of its arena. */
static uint64_t bytes_of(const haul__map *map)
{
    return map->block_count ? haul__place(haul__map_block(map, map->block_count - 1),
                                          HAUL__BLOCK_BYTES - HAUL__GRANULE) +
                                  HAUL__GRANULE
                            : 0;
}

static void pass_over(haul__discovery *d, haul__passing *passing, uint64_t bytes)
{
    memset(passing, 0, sizeof *passing);
    d->recording = 1;
    d->passing = passing;
    d->work_most = bytes < SIZE_MAX / WORK_MOST - WORK_SPARE
                       ? (size_t)(bytes + WORK_SPARE) * WORK_MOST
                       : SIZE_MAX;
}

static void open_changed(haul__discovery *d, const haul__found *changed, haul__passing *passing)
{
    d->changed = changed;
    d->within = &changed->map;
    pass_over(d, passing, bytes_of(&changed->map));
}

/* If pointers do not lead to the sought place any more, the path is that of the first place that
 * could not be followed. A change was there, too. If there is none, the path is "root". */
void haul__explain(haul_context *context, const haul_root *roots, size_t count,
                   const haul__found *changed, const haul__sought *sought)
{
    haul_error first = context->error;
    haul__passing passing;
    haul__discovery d;
    haul__found found;
    haul_status status;
    open_discovery(&d, context, roots, count, &found);
    open_changed(&d, changed, &passing);
    d.sought = *sought;
    status = run(&d);
    if (status == HAUL_OK)
        haul__found_drop(context, &found);
    if (status == HAUL_ERROR_STALE)
        memcpy(first.path, context->error.path, sizeof first.path);
    else if (passing.passed.is_noted)
        haul__name_refusal(&d, &passing.passed, first.path);
    else
        haul__set_path(first.path, status == HAUL_ERROR_MEMORY ? "" : "root");
    close_discovery(&d);
    context->error = first;
}

/* The walk fills the context's record, which becomes `before` again. `path` may lie in it. */
static int find_byte(haul__discovery *d, uintptr_t address, int innermost, char *path)
{
    haul_error *record = &d->context->error, before = *record;
    int has_path = 0;
    if (path == record->path)
        path = before.path;
    else if (path == record->other_path)
        path = before.other_path;
    if (run(d) == HAUL_OK) {
        has_path = haul__name_byte(d, address, innermost, record->path) && record->path[0];
        if (has_path)
            haul__set_path(path, record->path);
        haul__found_drop(d->context, d->found);
    }
    close_discovery(d);
    *record = before;
    return has_path;
}

int haul__path_of_byte(haul_context *context, const haul_root *roots, size_t count,
                       const haul__found *changed, uintptr_t address, int innermost, char *path)
{
    haul__passing passing;
    haul__found found;
    haul__discovery d;
    open_discovery(&d, context, roots, count, &found);
    open_changed(&d, changed, &passing);
    return find_byte(&d, address, innermost, path);
}

int haul__path_within(haul_context *context, const haul_root *root, const void *begin, size_t bytes,
                      uintptr_t address, char *path)
{
    haul__passing passing;
    haul__found found;
    haul__discovery d;
    haul__bounds bounds;
    bounds.begin = (uintptr_t)begin;
    bounds.end = bounds.begin + bytes;
    bounds.work = SIZE_MAX;
    open_discovery(&d, context, root, 1, &found);
    d.bounds = &bounds;
    pass_over(&d, &passing, bytes);
    return find_byte(&d, address, 0, path);
}

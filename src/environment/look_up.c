/* Look-ups, for callers and for walks.
 *
 * They read the present tables, and of a group only its list of ranges. Those that callers make are
 * counted.
 */
#include <stdio.h>

#include "environment/look_up.h"
#include "environment/present_find.h"
#include "environment/standing.h"
#include "base/index.h"
#include "pack/plan.h"

HAUL__NOINLINE static void *other_elsewhere(const haul__present *table, uint32_t version,
                                            uintptr_t word, const haul__page_entry *entry,
                                            uintptr_t address)
{
    haul__found_range found;
    int is_there = haul__present_find_on(table, version, word, entry, address, &found), is_end = 0;
    uint32_t seen;
    while (!is_there && !is_end) {
        seen = haul__present_version(table);
        is_there = haul__present_find(table, address, &found);
        if (is_there)
            break;
        is_end = address && haul__present_find(table, address - 1, &found);
        if (seen == haul__present_version(table))
            break;
        is_end = 0; /* the two answers may be of different times */
    }
    return is_there || is_end ? (void *)(address + found.delta) : NULL;
}

/* The same as other_of, for a thread whose count must be found. */
HAUL__NOINLINE static void *other_counted(haul__stripes *asked, const haul__present *table,
                                          uintptr_t address)
{
    haul__count_elsewhere(asked, haul__thread());
    return other_elsewhere(table, 0, 0, NULL, address);
}

/* The other copy of a byte, or else of one past a range. All that calls something stands apart, so
 * the usual way saves next to nothing on the stack. */
HAUL__INLINE void *other_of(haul__stripes *asked, const haul__present *table, uintptr_t address)
{
    haul__glimpse glimpse;
    uintptr_t delta;
    if (HAUL__UNLIKELY(!haul__count_own(asked)))
        return other_counted(asked, table, address);
    if (HAUL__LIKELY(haul__present_find_row(table, address, &delta, &glimpse)))
        return (void *)(address + delta);
    return other_elsewhere(table, glimpse.version, glimpse.word, glimpse.entry, address);
}

void *haul_environment_device_pointer(const haul_environment *environment, const void *host)
{
    return haul__environment_is_valid(environment)
               ? other_of(environment->asked, &environment->host, (uintptr_t)host)
               : NULL;
}

void *haul_environment_host_pointer(const haul_environment *environment, const void *device)
{
    return haul__environment_is_valid(environment)
               ? other_of(environment->asked, &environment->there, (uintptr_t)device)
               : NULL;
}

/* An answer about many pages takes many looks at the table. The looks agree if no range in these
 * pages has changed meanwhile. The table remembers only its last changes. A reader asks for them
 * after each piece of PIECE bytes. So changes elsewhere do not make the reader begin again. */
#define PIECE ((uintptr_t)16 * HAUL__PRESENT_SPAN)

typedef struct asked {
    const haul__present *table;
    uintptr_t at, end;
    uint32_t version, since;
} asked;

static int is_of_one_time(asked *a)
{
    return a->version == haul__present_version(a->table) ||
           haul__present_is_quiet(a->table, a->at, a->end, &a->since);
}

/* The first byte is absent. 0: the answer may be of several times. */
static int look_for_others(asked *a, haul_presence *presence)
{
    uintptr_t at = a->at, there = a->end;
    *presence = HAUL_ABSENT;
    while (at < a->end && *presence == HAUL_ABSENT) {
        const uintptr_t end = a->end - at > PIECE ? at + PIECE : a->end;
        there = haul__present_next(a->table, at, end);
        if (there < end)
            *presence = HAUL_PRESENT_IN_PART;
        at = end;
        if (!is_of_one_time(a))
            return 0;
    }
    return 1;
}

/* The first byte is present. A range that ends too early is an answer, whatever else has changed:
 * its last byte is present, and it has not all. */
static int follow_range(asked *a, haul__found_range *found, haul_presence *presence)
{
    uintptr_t checked = found->end;
    *presence = HAUL_PRESENT_IN_PART;
    while (found->end < a->end && found->goes_on) {
        if (!haul__present_find(a->table, found->end, found))
            return is_of_one_time(a);
        if (found->end - checked < PIECE && found->end < a->end)
            continue;
        checked = found->end;
        if (!is_of_one_time(a))
            return 0;
    }
    if (found->end >= a->end)
        *presence = HAUL_PRESENT;
    return 1;
}

haul_presence haul__presence_of(const haul_environment *environment, uintptr_t at, size_t bytes)
{
    haul_presence presence;
    haul__found_range found;
    asked a;
    int is_told;
    if (haul__add_overflows(at, bytes ? bytes : 1, &a.end))
        return HAUL_ABSENT;
    a.table = &environment->host;
    a.at = at;
    do {
        a.since = haul__present_moment(a.table);
        a.version = haul__present_version(a.table);
        is_told = haul__present_find(a.table, at, &found) ? follow_range(&a, &found, &presence)
                                                          : look_for_others(&a, &presence);
    } while (!is_told);
    return presence;
}

haul_presence haul_environment_presence(const haul_environment *environment, const void *host,
                                        size_t bytes)
{
    if (!haul__environment_is_valid(environment))
        return HAUL_ABSENT;
    haul__count_one(environment->asked);
    return haul__presence_of(environment, (uintptr_t)host, bytes);
}

/* ---- Ranges and their names. */

void haul__environment_path(const haul_environment *e, uintptr_t address, char *path)
{
    haul__standing standing;
    haul_plan *plan;
    size_t count;
    if (!haul__stands(e, address, &standing))
        return;
    plan = e->groups.at[standing.group]->shipment->plan;
    if (!haul__plan_path(plan, address, path))
        haul__name_root(haul__plan_roots(plan, &count), path);
}

void haul__name_root(const haul_root *root, char *path)
{
    snprintf(path, HAUL_PATH_BYTES, "%s at %p", haul_type_name(root->type), root->address);
}

/* ---- What walks stop at. */

uintptr_t haul__others_copy(const haul_environment *e, uintptr_t address, size_t bytes)
{
    return e->others.find ? (uintptr_t)e->others.find(e->others.user, (const void *)address, bytes)
                          : 0;
}

/* Expects stops at the ranges of a row one behind the other, from the first one that begins in the
 * page on. */
static void expect_row(haul__stop_list *stops, const haul__surroundings *s)
{
    const uintptr_t first = s->begin + (uintptr_t)(intptr_t)s->first,
                    most = s->begin + HAUL__PRESENT_SPAN - s->each;
    const uint32_t i = s->first < 0;
    stops->stride = s->stride;
    stops->next = first + i * stops->stride;
    stops->last = first + (s->count - 1) * stops->stride;
    if (stops->last > most) /* it goes on in a later page */
        stops->last -= stops->stride;
    if (stops->next > stops->last || stops->last > most || s->each > HAUL__PRESENT_SPAN)
        stops->next = 0;
    stops->next_bytes = s->each;
    stops->next_delta = s->delta + i * s->step;
    stops->step = s->step;
    stops->next_group = s->group;
}

/* Notes what the table tells of the page of an address: a row, or no range at all. Without a finder
 * the rest of the page has no copy. */
HAUL__INLINE void note_around(haul_environment *e, uintptr_t address, const haul__page_entry *entry)
{
    const uintptr_t word = entry ? entry->word : 0;
    haul__surroundings *s = &e->around[haul__place_around(address)];
    s->begin = 0;
    s->first = 0;
    s->count = 0;
    if (e->others.find || (word && !(word & HAUL__PRESENT_ROW)))
        return;
    s->begin = address & ~(HAUL__PRESENT_SPAN - 1);
    if (!word)
        return;
    s->first = entry->as.row.begin;
    s->count = haul__row_count(&entry->as.row);
    s->each = haul__row_bytes(&entry->as.row);
    s->stride = haul__row_stride(&entry->as.row);
    s->inverse = entry->as.row.inverse;
    s->group = entry->as.row.group;
    s->delta = entry->as.row.delta;
    s->step = (uintptr_t)entry->as.row.step;
    expect_row(&e->stops, s);
}

haul__meeting haul__environment_meet(void *user, uintptr_t address, size_t bytes)
{
    haul_environment *e = user;
    const haul__page_entry *entry = haul__present_entry_held(&e->host, address);
    haul__found_range found;
    uintptr_t end;
    note_around(e, address, entry);
    if (!entry || !haul__present_find_in(entry, address, &found))
        return haul__others_copy(e, address, bytes) ? HAUL__WHOLE : HAUL__HERE;
    end = found.end;
    if (bytes > end - address && found.goes_on) {
        const haul__covered *range = haul__covered_at(e->groups.at[found.group], address);
        end = range->begin + range->bytes;
    }
    if (bytes > end - address) {
        e->reached_out = address;
        return HAUL__REACHES_OUT;
    }
    while (!haul__note_stop(&e->stops, address, bytes, found.delta, found.group))
        if (!HAUL__LIST_ROOM(&e->context->allocator, &e->stops.all))
            return HAUL__NOT_NOTED;
    return HAUL__WHOLE;
}

static HAUL__NOINLINE uintptr_t copy_of(const haul_environment *e, uintptr_t address)
{
    haul__found_range found;
    haul__standing standing;
    uintptr_t copy;
    if (haul__present_find(&e->host, address, &found))
        return address + found.delta;
    copy = haul__others_copy(e, address, 1);
    /* an object may begin with bytes that do not travel, which are not present */
    return !copy && haul__stands(e, address, &standing) ? standing.device : copy;
}

/* Most are noted: the walk has stopped there. */
uintptr_t haul__environment_copy_of(void *user, uintptr_t address)
{
    const haul_environment *e = user;
    uintptr_t delta;
    return haul__find_known(&e->elsewhere, address, &delta) ? address + delta : copy_of(e, address);
}

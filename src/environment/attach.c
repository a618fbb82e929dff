/* Pointers of present objects that lead into a new group (list_attached.c): they are written on the
 * device by one order. Calls attach and detach others, one by one.
 *
 * The group that a pointer was made to lead into last has it in its list: when that group leaves,
 * the pointer is detached. A hold of the pointer has its place there, so it is taken off in O(1).
 * An enter takes pointers over from other groups when nothing can fail any more. Until then the
 * lists tell what they were before.
 */
#include "device/staging.h"
#include "device/streams.h"
#include "environment/array_ends.h"
#include "environment/cut.h"
#include "environment/groups.h"
#include "environment/look_up.h"
#include "environment/outstanding.h"
#include "environment/standing.h"
#include "pack/plan_struct.h"
#include "pack/special_words.h"
#include "ship/pending.h"

/* Words for the device, and the list of their places. */
typedef struct words {
    haul_strip *list;
    unsigned char *values;
    uint32_t *groups; /* that they stand in */
    size_t count;
} words;

/* What pointers become. */
typedef enum word_value {
    AS_LISTED, /* they lead into the group */
    AS_DETACHED,
    AS_RESTORED /* what a call or another enter has made of them, or else detached */
} word_value;

/* The value that a word had before a call that has failed, and whose holds are still as they were:
 * what an enter or a call has made of it, or else detached. */
static haul_status value_before(haul_environment *e, uintptr_t slot, uintptr_t device,
                                uintptr_t *value)
{
    const haul__hold *one = haul__holds_find(&e->attached, device);
    if (!one)
        return haul__detached_value(e, slot, value);
    *value = e->groups.at[one->group]->attached.at[one->listed].value;
    return HAUL_OK;
}

static haul_status find_value(haul_environment *e, const haul__attached *one, word_value as,
                              uintptr_t *value)
{
    if (as == AS_RESTORED)
        return value_before(e, one->host, one->device, value);
    if (as == AS_DETACHED)
        return haul__detached_value(e, one->host, value);
    *value = one->value;
    return HAUL_OK;
}

/* Adds the pointers of a group, except those that stand in groups that leave. Comes behind the
 * groups that they stand in. */
static haul_status add_words(haul_environment *e, uint32_t number, word_value as,
                             const haul_async *async, words *w)
{
    const haul__sent_group *group = e->groups.at[number];
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < group->attached.count && status == HAUL_OK; i++) {
        const haul__attached *one = &group->attached.at[i];
        uintptr_t value = 0;
        haul_strip *strip = &w->list[w->count];
        if (e->groups.at[one->stands_in]->is_leaving)
            continue;
        if (w->count == 0 || w->groups[w->count - 1] != one->stands_in)
            status = haul__come_behind(e, e->groups.at[one->stands_in], async);
        if (status == HAUL_OK)
            status = find_value(e, one, as, &value);
        w->groups[w->count] = one->stands_in;
        strip->first = (haul_address)one->device;
        strip->stride = strip->bytes = sizeof value;
        strip->packed = w->count * sizeof value;
        strip->count = 1;
        memcpy(w->values + w->count++ * sizeof value, &value, sizeof value);
    }
    return status;
}

/* Notes the work in the groups that the words stand in, or that its wait has timed out. */
static void note_words(haul_environment *e, const words *w, const haul__work *work)
{
    size_t i;
    for (i = 0; i < w->count; i++) {
        haul__sent_group *group = e->groups.at[w->groups[i]];
        if (i > 0 && w->groups[i] == w->groups[i - 1])
            continue;
        if (work->is_pending)
            haul__note_work(group, work);
        haul__note_timeout(group->shipment, e->device);
    }
}

/* Writes the pointers of a group, and of those that leave with it, in one order: what can fail
 * before the order has changed nothing. *is_ordered: it was tried. */
static haul_status write_words(haul_environment *e, uint32_t number, word_value as,
                               const haul_async *async, int *is_ordered)
{
    haul_device *device = e->device;
    haul__work work;
    haul__staging staging;
    haul_status status;
    words w = { NULL, NULL, NULL, 0 };
    uint32_t at;
    size_t all = 0, bytes;
    *is_ordered = 0;
    for (at = 1 + number; at; at = e->groups.at[at - 1]->next_leaving)
        all += e->groups.at[at - 1]->attached.count;
    bytes = all * (sizeof(haul_strip) + sizeof(uintptr_t) + sizeof(uint32_t));
    memset(&work, 0, sizeof work);
    status = all ? haul__stage(device, bytes, 0, &staging) : HAUL_OK;
    if (status != HAUL_OK || !all)
        return status;
    w.list = (haul_strip *)(void *)staging.data;
    w.values = staging.data + all * sizeof(haul_strip);
    w.groups = (uint32_t *)(void *)(w.values + all * sizeof(uintptr_t));
    for (at = 1 + number; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving)
        status = add_words(e, at - 1, as, async, &w);
    if (status == HAUL_OK)
        status = haul__select_for(device, async);
    *is_ordered = status == HAUL_OK && w.count > 0;
    if (*is_ordered)
        status =
            haul__scatter_strips(device, w.list, w.count, w.values, w.count * sizeof(uintptr_t));
    if (status == HAUL_OK)
        status = haul__conclude(device, async, &work, "copy of ", bytes, " bytes to the device");
    note_words(e, &w, &work);
    haul__unstage_until(device, &staging, &work);
    return status;
}

/* After a failure, whose record stays. */
static void write_again(haul_environment *e, uint32_t number, word_value as,
                        const haul_async *async)
{
    const haul_error failure = e->context->error;
    int is_ordered;
    write_words(e, number, as, async, &is_ordered);
    e->context->error = failure;
}

haul_status haul__attach(haul_environment *e, uint32_t number, const haul_async *async)
{
    int is_ordered;
    const haul_status status = write_words(e, number, AS_LISTED, async, &is_ordered);
    if (status != HAUL_OK && is_ordered)
        write_again(e, number, AS_RESTORED, async);
    return status;
}

void haul__undo_attach(haul_environment *e, uint32_t number, const haul_async *async)
{
    write_again(e, number, AS_RESTORED, async);
}

haul_status haul__detach(haul_environment *e, uint32_t number, const haul_async *async)
{
    int is_ordered;
    return write_words(e, number, AS_DETACHED, async, &is_ordered);
}

void haul__undo_detach(haul_environment *e, uint32_t number, const haul_async *async)
{
    write_again(e, number, AS_LISTED, async);
}

/* ---- The lists, and the holds of what they hold. */

/* Takes a pointer off the list of its target's group. */
static void unlist(haul_environment *e, const haul__hold *one)
{
    haul__sent_group *into = e->groups.at[one->group];
    const haul__attached last = into->attached.at[--into->attached.count];
    if (one->listed == into->attached.count)
        return;
    into->attached.at[one->listed] = last;
    haul__holds_find(&e->attached, last.device)->listed = one->listed;
}

/* The hold of a pointer, in no list any more; or a new one, in the room for it. */
static haul__hold *take_over(haul_environment *e, uintptr_t device, uint32_t stands_in)
{
    haul__hold *one = haul__holds_find(&e->attached, device);
    if (one) {
        unlist(e, one);
        e->groups.at[one->stands_in]->words--;
    } else {
        one = haul__holds_add(&e->attached, device);
    }
    one->stands_in = stands_in;
    e->groups.at[stands_in]->words++;
    return one;
}

void haul__take_attached(haul_environment *e, uint32_t number)
{
    const haul__sent_group *group = e->groups.at[number];
    size_t i;
    for (i = 0; i < group->attached.count; i++) {
        const haul__attached *listed = &group->attached.at[i];
        haul__hold *one = take_over(e, listed->device, listed->stands_in);
        one->other = listed->host;
        one->group = number;
        one->listed = i;
    }
}

/* The same for a pointer that a call has attached, and the list of the group that it stands in. */
static void unlist_by_call(haul_environment *e, uintptr_t slot)
{
    haul__hold *one = haul__holds_find(&e->by_calls, slot);
    haul__sent_group *in = e->groups.at[one->stands_in];
    const uintptr_t last = in->attached_in.at[--in->attached_in.count];
    in->attached_in.at[one->listed] = last;
    haul__holds_find(&e->by_calls, last)->listed = one->listed;
    haul__holds_remove(&e->by_calls, one);
}

static void forget(haul_environment *e, haul__hold *one)
{
    if (one->dynamic)
        unlist_by_call(e, one->other);
    e->groups.at[one->stands_in]->words--;
    haul__holds_remove(&e->attached, one);
}

void haul__forget_attached_in(haul_environment *e, const haul__sent_group *group, size_t i)
{
    const uintptr_t slot = group->attached_in.at[i];
    haul__hold *one = haul__holds_find(&e->attached, haul__holds_find(&e->by_calls, slot)->other);
    unlist(e, one);
    forget(e, one);
}

void haul__number_attached(haul_environment *e, uint32_t number)
{
    const haul__sent_group *group = e->groups.at[number];
    size_t i;
    for (i = 0; i < group->attached.count; i++) {
        haul__hold *one = haul__holds_find(&e->attached, group->attached.at[i].device);
        one->group = number;
        one->listed = i;
    }
}

/* Pointers that enters have attached stand in groups that their targets' group leads into, which
 * leave later. A cut may end that. */
static void forget_standing_in(haul_environment *e, uint32_t number)
{
    const haul__sent_group *leaves = e->groups.at[number];
    const uint32_t of = leaves->cut ? leaves->cut->of : number;
    size_t i, k;
    if (!e->groups.at[of]->words)
        return;
    for (i = 0; i < e->groups.count; i++) {
        const haul__sent_group *group = e->groups.at[i];
        for (k = group && group->was_cut ? group->attached.count : 0; k-- > 0;) {
            const haul__attached listed = group->attached.at[k];
            haul__hold *one;
            if (listed.stands_in != of || (leaves->cut && !haul__range_around(leaves, listed.host)))
                continue;
            one = haul__holds_find(&e->attached, listed.device);
            unlist(e, one);
            forget(e, one);
        }
    }
}

void haul__forget_attached(haul_environment *e, uint32_t number)
{
    haul__sent_group *group = e->groups.at[number];
    while (group->attached.count > 0)
        forget(e,
               haul__holds_find(&e->attached, group->attached.at[--group->attached.count].device));
    while (group->attached_in.count > 0) /* of calls: their targets may stay */
        haul__forget_attached_in(e, group, group->attached_in.count - 1);
    forget_standing_in(e, number);
}

/* ---- By calls. */

/* Is it a special word of a present object? */
static int is_special(haul_environment *e, uintptr_t slot)
{
    haul__found_range range;
    const haul__found *found;
    size_t i;
    if (!haul__present_find_held(&e->host, slot, &range))
        return 0;
    found = haul__group_found(e, range.group);
    i = haul__first_special(found->special, found->special_count, slot);
    return i < found->special_count && found->special[i].address == slot;
}

static haul_status refuse_slot(haul_environment *e, uintptr_t slot)
{
    if (is_special(e, slot))
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                          "the pointer at %p has tags or a base, is a distance, is unaligned, or "
                          "ends a room (HAUL_END_OF): only the enter of its object sends it",
                          (void *)slot);
    return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                      "%p is no described pointer of a present object, and none that a policy has "
                      "left out",
                      (void *)slot);
}

/* Finds the copy of a pointer that a call has attached, or else its first copy. *one: the hold of
 * that which is attached; NULL: none is. */
static haul_status find_slot(haul_environment *e, uintptr_t slot, haul__standing *at,
                             haul__hold **one)
{
    const haul__hold *known = haul__holds_find(&e->by_calls, slot);
    *one = known ? haul__holds_find(&e->attached, known->other) : NULL;
    if (*one) {
        at->device = (*one)->address;
        at->group = (*one)->stands_in;
        return HAUL_OK;
    }
    return haul__find_pointer(e, slot, at) ? HAUL_OK : refuse_slot(e, slot);
}

/* *is_ordered: the device was told to write it. */
static haul_status write_word(haul_environment *e, const haul__standing *at, uintptr_t value,
                              int *is_ordered)
{
    haul__sent_group *group = e->groups.at[at->group];
    haul__staging staging;
    haul_status status = haul__come_behind(e, group, NULL);
    *is_ordered = 0;
    if (status == HAUL_OK)
        status = haul__select_for(e->device, NULL);
    if (status == HAUL_OK)
        status = haul__stage(e->device, sizeof value, 0, &staging);
    if (status != HAUL_OK)
        return status;
    *is_ordered = 1;
    memcpy(staging.data, &value, sizeof value);
    status = haul__copy_to(e->device, (haul_address)at->device, staging.data, sizeof value);
    if (status == HAUL_OK)
        status =
            haul__conclude(e->device, NULL, NULL, "copy of ", sizeof value, " bytes to the device");
    haul__note_timeout(group->shipment, e->device);
    haul__unstage(e->device, &staging);
    return status;
}

/* Writes a word. If the device fails, the word is written once more as it was. */
static haul_status change_word(haul_environment *e, uintptr_t slot, const haul__standing *at,
                               uintptr_t value)
{
    int is_ordered;
    const haul_status status = write_word(e, at, value, &is_ordered);
    haul_error failure;
    if (status == HAUL_OK || !is_ordered)
        return status;
    failure = e->context->error;
    if (value_before(e, slot, at->device, &value) == HAUL_OK)
        write_word(e, at, value, &is_ordered);
    e->context->error = failure;
    return status;
}

/* Attaches a pointer that is not attached by a call, in the room for one more hold in both
 * tables. */
static haul_status attach_to(haul_environment *e, uintptr_t slot, const haul__standing *at,
                             const haul__standing *target, int is_end)
{
    haul__sent_group *into = e->groups.at[target->group], *in = e->groups.at[at->group];
    const haul__attached listed = { slot, at->device, target->device, at->group, (uint32_t)is_end };
    haul__hold *one, *by_call;
    haul_status status;
    if (!HAUL__LIST_ROOM(&e->context->allocator, &into->attached) ||
        !HAUL__LIST_ROOM(&e->context->allocator, &in->attached_in))
        return haul__fail(&e->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for a list of pointers");
    status = haul__come_behind(e, into, NULL);
    if (status == HAUL_OK)
        status = change_word(e, slot, at, target->device);
    if (status != HAUL_OK)
        return status;
    one = take_over(e, at->device, at->group);
    one->other = slot;
    one->group = target->group;
    one->listed = into->attached.count;
    one->dynamic = 1;
    into->attached.at[into->attached.count++] = listed;
    by_call = haul__holds_add(&e->by_calls, slot);
    by_call->other = at->device;
    by_call->stands_in = at->group;
    by_call->listed = in->attached_in.count;
    in->attached_in.at[in->attached_in.count++] = slot;
    e->info.attached++;
    return HAUL_OK;
}

haul_status haul__attach_one(haul_environment *e, uintptr_t slot)
{
    const haul__array_end *end;
    haul__hold *one;
    haul__standing at, target;
    if (find_slot(e, slot, &at, &one) != HAUL_OK)
        return HAUL_ERROR_ARGUMENT;
    if (one && one->dynamic == UINT32_MAX)
        return haul__fail(&e->context->error, HAUL_ERROR_LIMIT,
                          "the pointer at %p was attached 2^32 - 1 times", (void *)slot);
    if (one) {
        one->dynamic++;
        return HAUL_OK;
    }
    end = haul__array_end_now(e, at.group, slot);
    if (!haul__stands(e, end ? haul__array_of(end) : haul__load_word((const void *)slot), &target))
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                          "the pointer at %p leads to nothing that is present", (void *)slot);
    if (!haul__holds_room(&e->context->allocator, &e->attached, 1) ||
        !haul__holds_room(&e->context->allocator, &e->by_calls, 1))
        return haul__fail(&e->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for a list of pointers");
    target.device += end ? haul__array_bytes(end) : 0;
    return attach_to(e, slot, &at, &target, end && haul__array_bytes(end));
}

haul_status haul__detach_one(haul_environment *e, uintptr_t slot)
{
    haul__hold *one;
    haul_status status = HAUL_OK;
    haul__standing at;
    uintptr_t value;
    if (find_slot(e, slot, &at, &one) != HAUL_OK)
        return HAUL_ERROR_ARGUMENT;
    if (!one)
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                          "the pointer at %p is not attached by a call", (void *)slot);
    if (one->dynamic == 1)
        status = haul__detached_value(e, slot, &value);
    if (one->dynamic == 1 && status == HAUL_OK)
        status = change_word(e, slot, &at, value);
    if (status != HAUL_OK || one->dynamic > 1) {
        one->dynamic -= status == HAUL_OK;
        return status;
    }
    unlist(e, one);
    forget(e, one);
    return HAUL_OK;
}

/* Visiting objects with rules, tails, or sizes of their own.
 *
 * An evaluation works out the roles of its rows (ruled_evaluate.c). By these the object is marked
 * (ruled_mark.c) and, if anything in it is new, its pointers are followed. The order differs:
 *
 *   plain runs       A pointer puts the object on the worklist, unmarked. At its turn it is
 *                    fetched, evaluated, marked and followed, once. If it was marked before, its
 *                    evaluation is taken out of the read set again. Errors end the run.
 *   recording runs,  When a pointer reaches the object, it is evaluated in a dry run, and marked;
 *   arrays, parents  errors are left for the visit. The visit evaluates it again, adds to the read
 *   and ancestors    set, and follows its pointers; errors have their path.
 *
 * Two evaluations differ only if the object was changed between them; a later pack refuses that.
 * Objects without rules never come here.
 */
#include "walk/ruled.h"
#include "walk/aliases.h"
#include "walk/checked.h"
#include "walk/extent.h"
#include "walk/follow.h"
#include "walk/listed_words.h"
#include "walk/log_order.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/section.h"
#include "walk/targets.h"
#include "walk/waiting.h"

/* Adds the word to the order log. The target of a tagged word must leave the tag bits free in the
 * copy too. */
static haul_status note_word(haul__discovery *d, const haul__ruled *ruled,
                             const haul__field_value *w)
{
    const uintptr_t tag_bits = ruled->rule->said.tag_bits;
    const size_t low = tag_bits & (HAUL_ALIGNMENT_MAX - 1),
                 tags = low ? (size_t)2 << haul__highest64(low) : 1;
    const haul__walk *walk;
    haul__reference reference;
    memset(&reference, 0, sizeof reference);
    reference.word = w->at;
    if (haul__is_end(ruled)) {
        const int is_limit = haul__is_limit(ruled->rule);
        reference.kind =
            is_limit && w->start == w->address ? HAUL__REFERENCE_PLACE : HAUL__REFERENCE_END;
        reference.target = reference.value = is_limit                     ? w->start
                                             : w->what == HAUL__IS_TAGGED ? w->value & ~tag_bits
                                                                          : w->value;
        reference.untagged = reference.target;
        reference.tags = w->what == HAUL__IS_TAGGED ? tags : 1;
        return reference.target ? haul__log_reference(d, &reference) : HAUL_OK;
    }
    if (!w->start || (!w->is_alias && !low))
        return HAUL_OK;
    /* Does the word, tags included, point into its target, in every copy that keeps the type's
     * alignment? */
    walk = w->slot->target ? haul__type_walk(w->slot->target) : NULL;
    if (!w->is_alias && walk && !haul__is_sized(walk) && w->address == w->start &&
        w->value - w->start < walk->extent && walk->alignment >= tags)
        return HAUL_OK;
    reference.slot = w->is_alias ? w->slot : NULL;
    reference.kind = w->is_alias ? HAUL__REFERENCE_PLACE : HAUL__REFERENCE_TAGGED;
    reference.target = w->start;
    reference.value = w->what == HAUL__IS_POINTER ? w->value : w->start;
    reference.untagged = w->address;
    reference.tags = tags;
    return haul__log_reference(d, &reference);
}

/* After its target: the word of a pointer to no elements joins one list only. It may lead to the
 * arena's end; then its tags need room there, so that the word lies in the arena's range. */
static void unlist_empty(haul__discovery *d, const haul__field_value *w, size_t empty)
{
    haul__found *found = d->found;
    if (w->what != HAUL__IS_FIXED && (w->what != HAUL__IS_EXPLICIT || w->start == w->value))
        return;
    if (found->empty_count > empty && w->what == HAUL__IS_EXPLICIT &&
        w->value - w->start < HAUL__GRANULE && found->room_behind < w->value - w->start)
        found->room_behind = w->value - w->start;
    found->empty_count = empty; /* the word has a list of its own */
}

haul_status haul__visit_decided(haul__discovery *d, const haul__ruled *ruled,
                                const haul__field_value *w, const haul__pointer *p, size_t count,
                                int is_owner)
{
    const size_t empty = d->found->empty_count;
    haul_status status =
        d->order_log && w->what != HAUL__IS_FIXED ? note_word(d, ruled, w) : HAUL_OK;
    if (status == HAUL_OK && !is_owner) /* all of its target is marked, as if it were one */
        status = haul__note_target(d, p, count);
    if (status != HAUL_OK || !is_owner)
        return status;
    status = haul__follow_measured(d, p, count);
    unlist_empty(d, w, empty);
    return status;
}

static haul_status visit_end(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                             const haul__field_value *w)
{
    haul__array_end end;
    haul_status status;
    end.word = w->at;
    end.begin = o->address + ruled->slot.index;
    end.is_limit = haul__is_limit(ruled->rule);
    end.bytes =
        end.is_limit ? w->start - w->address : w->value - haul__load_word((const void *)end.begin);
    status = haul__note_array_end(d, &end);
    return status == HAUL_OK ? haul__note_unfollowed(d, w->at, w->start) : status;
}

static haul_status visit_word(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                              const haul__field_value *w)
{
    const size_t empty = d->found->empty_count;
    /* the end of a pair is checked even if its begin is null */
    const int is_pair = (w->what == HAUL__IS_POINTER || w->what == HAUL__IS_EXPLICIT) &&
                        !w->is_alias && !haul__is_end(ruled) && w->slot->levels > 0 &&
                        w->slot->shape[0].kind == HAUL_COUNT_KIND_UNTIL;
    haul__pointer p;
    haul_status status = HAUL_OK;
    if (d->recording && (w->what == HAUL__IS_POINTER || w->what == HAUL__IS_TAGGED))
        status = haul__meet_pointer(d, w->at, w->slot, 0);
    if (status == HAUL_OK && w->waits && w->start)
        return haul__let_wait(d, o, ruled, w);
    if (status == HAUL_OK && d->order_log && w->what != HAUL__IS_FIXED)
        status = note_word(d, ruled, w);
    if (status == HAUL_OK && haul__is_end(ruled))
        return visit_end(d, o, ruled, w);
    if (status != HAUL_OK || (w->start == 0 && !is_pair))
        return status;
    if (w->is_alias)
        return haul__note_alias(d, w);
    p = haul__ruled_pointer(d, o, ruled, w);
    status = ruled->rule->said.section.rank
                 ? haul__follow_section(d, &p, &ruled->rule->said.section)
                 : haul__follow(d, &p);
    unlist_empty(d, w, empty);
    return status;
}

/* Reaches the elements of an arm or a tail. */
static haul_status visit_inside(haul__discovery *d, const haul__object *o, const haul__ruled *ruled)
{
    haul__entry entry;
    haul_status status = HAUL_OK;
    memset(&entry, 0, sizeof entry);
    entry.address = o->address + ruled->slot.offset;
    entry.count = ruled->kind == HAUL__RULED_PART
                      ? ruled->count
                      : (o->bytes - ruled->slot.offset) / ruled->slot.unit;
    entry.self = o->address;
    entry.ancestor = *o->ancestor;
    entry.stride = ruled->slot.unit;
    entry.slot = &ruled->slot;
    entry.parent = d->at_entry;
    entry.parent_element = d->at_element;
    entry.what = ruled->slot.target ? HAUL__OBJECTS : HAUL__PLAIN;
    if (entry.count == 0)
        return HAUL_OK;
    if (ruled->slot.target)
        status = haul__met_type_of(d, ruled->slot.target, &entry.met_type);
    return status == HAUL_OK ? haul__reach(d, &entry) : status;
}

static haul_status visit_rows(haul__discovery *d, const haul__object *o)
{
    const haul__walk *walk = o->walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++) {
        const haul__field_value *w = &d->evaluation[HAUL__NOTED][i];
        if (w->what == HAUL__IS_INSIDE)
            status = visit_inside(d, o, &walk->ruled[i]);
        else if (w->what >= HAUL__IS_POINTER)
            status = visit_word(d, o, &walk->ruled[i], w);
    }
    return status;
}

haul_status haul__visit_ruled(haul__discovery *d, haul__object *o)
{
    int must_visit = 0;
    haul_status status = haul__find_size(d, o, NULL);
    if (status == HAUL_OK)
        status = haul__evaluate(d, o, &must_visit);
    return status == HAUL_OK ? visit_rows(d, o) : status;
}

/* ---- Objects from the fetch queue. */

haul_status haul__take_ruled(haul__discovery *d, const haul__entry *entry, haul__object *o,
                             int *is_new)
{
    const haul__walk *walk = o->walk;
    const haul_type *type = d->met_types[entry->met_type].type;
    haul__found *found = d->found;
    haul__marked marked = { 0, 0, 0 };
    const size_t reads = found->read_count, calls = found->call_words;
    uintptr_t end;
    int must_visit = 0, is_memorable;
    haul_status status =
        haul__check_extent(d, entry, haul__is_sized(walk) ? haul__head_bytes(walk) : walk->extent,
                           walk->alignment, &end);
    if (status == HAUL_OK)
        status = haul__find_size(d, o, NULL);
    if (status == HAUL_OK && haul__is_sized(walk))
        status = haul__check_extent(d, entry, o->bytes, walk->alignment, &end);
    if (status == HAUL_OK)
        status = haul__evaluate(d, o, &must_visit);
    if (status != HAUL_OK)
        return status;
    /* long objects, and objects with embedded elements, are known by the memo, not by their marks
     */
    is_memorable = o->bytes >= HAUL__MEMO_BYTES || walk->has_parts;
    *is_new = 0;
    if (!is_memorable || !haul__memo_has(d, HAUL__MEMO_EXTENT, o->address, o->bytes, type)) {
        status = haul__mark_ruled(d, entry, o, &marked, is_new);
        *is_new |= marked.first != marked.end || walk->has_parts;
        if (status == HAUL_OK && is_memorable)
            status = haul__memo_add(d, HAUL__MEMO_EXTENT, o->address, o->bytes, type);
        if (status != HAUL_OK)
            return status;
    }
    if (*is_new)
        return visit_rows(d, o);
    found->read_count = reads;
    found->call_words = calls;
    return HAUL_OK;
}

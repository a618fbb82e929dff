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
#include "walk/log_order.h"
#include "walk/met_types.h"

/* Does the word, tags included, point into its target, in every copy that keeps the type's
 * alignment? */
static int is_sure(const haul__field_value *w, size_t tags)
{
    const haul__walk *walk = w->slot->target ? haul__type_walk(w->slot->target) : NULL;
    return walk && !walk->is_sized && w->address == w->start &&
           w->value - w->start < walk->extent && walk->alignment >= tags;
}

/* Adds the word to the order log. The target of a tagged word must leave the tag bits free in the
 * copy too. */
static haul_status note_word(haul__discovery *d, const haul__ruled *ruled,
                             const haul__field_value *w)
{
    const uintptr_t tag_bits = ruled->rule->said.tag_bits;
    const size_t low = tag_bits & (HAUL_ALIGNMENT_MAX - 1),
                 tags = low ? (size_t)2 << haul__highest64(low) : 1;
    haul__reference reference;
    memset(&reference, 0, sizeof reference);
    reference.word = w->at;
    if (haul__is_end(ruled)) {
        reference.kind = HAUL__REFERENCE_END;
        reference.target = reference.value =
            w->what == HAUL__IS_TAGGED ? w->value & ~tag_bits : w->value;
        reference.untagged = reference.target;
        reference.tags = w->what == HAUL__IS_TAGGED ? tags : 1;
        return reference.target ? haul__log_reference(d, &reference) : HAUL_OK;
    }
    if (!w->start || (!w->is_alias && (!low || is_sure(w, tags))))
        return HAUL_OK;
    reference.kind = w->is_alias ? HAUL__REFERENCE_PLACE : HAUL__REFERENCE_TAGGED;
    reference.target = w->start;
    reference.value = w->what == HAUL__IS_POINTER ? w->value : w->start;
    reference.untagged = w->address;
    reference.tags = tags;
    return haul__log_reference(d, &reference);
}

/* Is it the begin of a pair? Its end is checked even if the begin is null. */
static int is_pair(const haul__ruled *ruled, const haul__field_value *w)
{
    return (w->what == HAUL__IS_POINTER || w->what == HAUL__IS_EXPLICIT) && !w->is_alias &&
           !haul__is_end(ruled) && w->slot->levels > 0 && w->slot->shape[0].kind == HAUL_SHAPE_END;
}

static haul_status visit_word(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                              const haul__field_value *w)
{
    const size_t empty = d->found->empty_count;
    haul_status status = HAUL_OK;
    if (d->recording && (w->what == HAUL__IS_POINTER || w->what == HAUL__IS_TAGGED))
        status = haul__meet_pointer(d, w->at, w->slot, 0);
    if (status == HAUL_OK && d->order_log && w->what != HAUL__IS_FIXED)
        status = note_word(d, ruled, w);
    if (status != HAUL_OK || (w->start == 0 && !is_pair(ruled, w)) || haul__is_end(ruled))
        return status;
    if (w->is_alias)
        return haul__note_alias(d, w);
    haul__set_callers(d, o, ruled->rule);
    d->by_rule = 1;
    status = haul__follow(d, w->slot, 0, w->at, w->start, o->self, o->index + ruled->slot.index);
    d->by_rule = 0;
    haul__set_callers(d, o, NULL);
    if (w->what == HAUL__IS_FIXED || (w->what == HAUL__IS_EXPLICIT && w->start != w->value))
        d->found->empty_count = empty; /* the word has a list of its own */
    return status;
}

/* Reaches the elements of an arm or a tail. */
static haul_status visit_inside(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                                size_t bytes)
{
    haul__entry entry;
    haul_status status = HAUL_OK;
    memset(&entry, 0, sizeof entry);
    entry.address = o->address + ruled->slot.offset;
    entry.count = ruled->kind == HAUL__RULED_PART ? ruled->count
                                                  : (bytes - ruled->slot.offset) / ruled->slot.unit;
    entry.self = o->address;
    entry.ancestor = d->ancestor;
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

static haul_status visit_rows(haul__discovery *d, const haul__object *o, size_t bytes)
{
    const haul__walk *walk = o->walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++) {
        const haul__field_value *w = &d->evaluation[HAUL__VISITED][i];
        if (w->what == HAUL__IS_INSIDE)
            status = visit_inside(d, o, &walk->ruled[i], bytes);
        else if (w->what >= HAUL__IS_POINTER)
            status = visit_word(d, o, &walk->ruled[i], w);
    }
    return status;
}

haul_status haul__visit_ruled(haul__discovery *d, uintptr_t element, const haul__walk *walk,
                              size_t *bytes)
{
    haul__object o;
    haul_status status;
    o.address = element;
    o.self = walk->is_slot ? d->from : element;
    o.parent = d->from;
    o.index = walk->is_slot ? d->at_element : 0;
    o.ancestor = &d->ancestor;
    o.walk = walk;
    status = haul__size_of(d, &o, NULL, bytes);
    if (status == HAUL_OK)
        status = haul__evaluate_noted(d, &o, *bytes);
    return status == HAUL_OK ? visit_rows(d, &o, *bytes) : status;
}

/* ---- Objects from the fetch queue. */

haul_status haul__take_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             size_t *bytes, int *is_new)
{
    haul__found *found = d->found;
    const size_t guards = found->guard_count, calls = found->call_words;
    haul__object o = haul__object_of(entry, walk, 0);
    uintptr_t end;
    haul_status status = haul__check_extent(
        d, entry, walk->is_sized ? haul__head_bytes(walk) : walk->extent, walk->alignment, &end);
    if (status == HAUL_OK)
        status = haul__size_of(d, &o, NULL, bytes);
    if (status == HAUL_OK && walk->is_sized)
        status = haul__check_extent(d, entry, *bytes, walk->alignment, &end);
    if (status == HAUL_OK)
        status = haul__evaluate_noted(d, &o, *bytes);
    if (status == HAUL_OK)
        status = haul__mark_visited(d, entry, &o, *bytes, is_new);
    if (status != HAUL_OK)
        return status;
    if (*is_new)
        return visit_rows(d, &o, *bytes);
    found->guard_count = guards;
    found->call_words = calls;
    return HAUL_OK;
}

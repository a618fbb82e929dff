/* Pointers to where one object ends and another begins.
 *
 * Clusters that only touch lie apart in the ordered arena, so a pointer to such a joint must be the
 * end of the former or the beginning of the latter. A pointer that was followed says what it is.
 * One that was not (borrowed, or to no elements) is judged by types, and by its own object:
 *
 *   to a struct   The end, if a pair of its object, not empty, ends there: of a full vector, say.
 *                 Else the beginning, if such a struct begins there: the last node of a list, the
 *                 parent of a branch. That a list's first node ends where its last one begins is
 *                 chance.
 *   else          The end, if its object has another pointer into the former cluster, except one
 *                 that owns a single object of a known size.
 *
 * Pointers of an object to no elements must agree with each other, and with one past the last of
 * them: of a vector without elements, begin and end stay equal. So the second rule holds for all
 * that lead to one joint, if one of them leads to no such structs.
 *
 * The answer does not depend on what happens to lie beside an object, unless two meanings are left.
 * In an arena that was written in order the answer does not matter. If a cluster ends where the
 * next one begins, the two stand so in the copy, too, and both answers are one place. So an image
 * that is loaded and written again has the same bytes.
 */
#include "pack/joints.h"
#include "layout/lists.h"

#include "pack/translate.h"
#include "type/row.h"

int haul__is_slot(const haul_plan *plan, uintptr_t word)
{
    const haul__map *map = &plan->found.map;
    const haul__block *block = haul__map_find(map, word);
    if (!block || (word & (HAUL__WORD - 1)) != 0)
        return 0;
    return (int)(haul__placed_slots(map, block, haul__cell_number(word)) >>
                 haul__word_in_cell(word)) &
           1;
}

/* ---- What begins there. */

static int begins_before(const void *ranges, size_t i, uint64_t address)
{
    return ((const haul__reached *)ranges)[i].first < address;
}

/* Does a struct of this type begin at the address? */
static int is_object(const haul__order_log *log, uintptr_t address, const haul_type *type)
{
    const haul__reached *ranges = log->reached.at;
    size_t i = haul__search(ranges, 0, log->reached.count, address, begins_before);
    for (; i < log->reached.count && ranges[i].first == address; i++)
        if (ranges[i].type == HAUL__UNNUMBERED ||
            (ranges[i].type && haul__embeds(log->types.at[ranges[i].type - 1], 0, type)))
            return 1;
    return 0;
}

/* ---- What its object says. */

/* What a pointer of the object, to such structs, says of a borrowed one: what comes last counts
 * most. */
typedef enum saying { SAYS_NOTHING, SAYS_EMPTY, SAYS_END } saying;

static saying ask_slot(const haul_plan *plan, const haul__reference *reference,
                       const haul__slot *slot, uintptr_t tags)
{
    const uintptr_t object = reference->object.first, word = object + slot->offset;
    const size_t bytes = reference->object.end - object;
    const haul_count *shape = slot->shape;
    uintptr_t begin, end;
    if (slot->levels != 1 || slot->target != reference->slot->target ||
        (slot->flags & HAUL__SLOT_END) || !haul__fits(slot->offset, HAUL__WORD, bytes) ||
        !haul__is_slot(plan, word))
        return SAYS_NOTHING;
    begin = haul__load_word((const void *)word) & ~tags;
    if (begin == reference->target && haul__was_empty(&plan->found, word))
        return SAYS_EMPTY;
    if (shape->kind != HAUL_COUNT_KIND_UNTIL)
        return SAYS_NOTHING;
    end = object + slot->self + shape->field[0].offset;
    return haul__fits(end - object, HAUL__WORD, bytes) && haul__is_slot(plan, end) &&
                   (haul__load_word((const void *)end) & ~tags) == reference->target
               ? SAYS_END
               : SAYS_NOTHING;
}

static saying louder(saying a, saying b)
{
    return a > b ? a : b;
}

static saying ask_object(const haul_plan *plan, const haul__reference *reference)
{
    const haul__walk *rows = reference->object.rows;
    saying all = SAYS_NOTHING;
    size_t i;
    for (i = 0; rows && i < rows->slot_count && all != SAYS_END; i++)
        all = louder(all, ask_slot(plan, reference, &rows->slots[i], 0));
    for (i = 0; rows && i < rows->ruled_count && all != SAYS_END; i++) {
        const haul__ruled *row = &rows->ruled[i];
        const uintptr_t tags = row->rule ? row->rule->said.tag_bits : 0;
        if (row->kind == HAUL__RULED_POINTER)
            all = louder(all, ask_slot(plan, reference, &row->slot, tags));
    }
    return all;
}

/* Does the slot lead to one object, of a size that its type gives? */
static int is_single(const haul__slot *slot)
{
    const haul__walk *walk = slot->target ? haul__type_walk(slot->target) : NULL;
    return walk && !haul__is_sized(walk) && slot->levels == 1 &&
           slot->shape[0].kind == HAUL_COUNT_KIND_ONE;
}

/* Does the word own a single object, whichever of its rows holds? */
static int owns_single(const haul__reference *reference, uintptr_t word)
{
    const haul__walk *rows = reference->object.rows;
    const size_t offset = word - reference->object.first;
    int owns = 0;
    size_t i;
    for (i = 0; rows && i < rows->slot_count && rows->slots[i].offset <= offset; i++)
        if (rows->slots[i].offset == offset)
            owns = is_single(&rows->slots[i]);
    for (i = 0; rows && i < rows->ruled_count && rows->ruled[i].slot.offset <= offset; i++) {
        const haul__rule *rule = rows->ruled[i].rule;
        if (rows->ruled[i].slot.offset != offset)
            continue;
        owns = is_single(&rows->ruled[i].slot) && (!rule || haul__is_owner(&rule->said));
        if (!owns)
            return 0;
    }
    return owns;
}

/* Does another pointer of the object lead into the cluster, but own no single object? */
static int leads_into(const haul_plan *plan, const haul__reference *reference,
                      const haul__cluster *cluster)
{
    const uintptr_t end = reference->object.end;
    uintptr_t at = (reference->object.first + HAUL__WORD - 1) & ~(uintptr_t)(HAUL__WORD - 1);
    for (; at < end && end - at >= HAUL__WORD; at += HAUL__WORD)
        if (at != reference->word && haul__is_slot(plan, at) &&
            haul__load_word((const void *)at) - cluster->first < cluster->bytes &&
            !owns_single(reference, at))
            return 1;
    return 0;
}

/* ---- Both. */

int haul__means_end(const haul_plan *plan, const haul__order_log *log,
                    const haul__clusters *clusters, const haul__reference *reference)
{
    const uintptr_t target = reference->target;
    const size_t before = haul__cluster_behind(clusters, target - 1);
    const haul__slot *slot = reference->slot;
    const haul_type *type = slot && slot->levels == 1 ? slot->target : NULL;
    const haul__cluster *cluster;
    if (before == clusters->count || target <= clusters->at[before].first)
        return 0;
    cluster = &clusters->at[before];
    if (target - cluster->first < cluster->bytes)
        return 0;
    if (reference->kind == HAUL__REFERENCE_END || before + 1 == clusters->count ||
        clusters->at[before + 1].first != target)
        return 1;
    if (type) {
        const saying said = ask_object(plan, reference);
        if (said == SAYS_END || (said == SAYS_NOTHING && is_object(log, target, type)))
            return said == SAYS_END;
    }
    return leads_into(plan, reference, cluster);
}

/* Stale plans: the source is compared with what discovery has read.
 *
 * Each pointer word, count and terminator that discovery trusted must have its old value. One hash
 * stands for all pointers of a block; it is taken when the graph is first packed. So gather refuses
 * a stale plan at hardly any cost. The changed pointer is found afterwards: it no longer leads to
 * the place that was sent, or leads out of the graph.
 */
#include "pack/stale.h"
#include "layout/lists.h"
#include "pack/chained.h"
#include "pack/translate.h"
#include "walk/discover.h"
#include "walk/plain_arrays.h"
#include "walk/read_set.h"

#define READS_AHEAD 16u /* the field of the read this far ahead is prefetched */

void haul__name_changed(const haul_plan *plan, uintptr_t pointer, uintptr_t count)
{
    haul__sought sought = { 0, 0, 0, 0, 0 };
    if (plan->chains && count && haul__name_chain(plan, count))
        return; /* what a chain led to may be gone, and is not looked at */
    if (plan->has_lost_parts)
        return;
    sought.pointer = pointer;
    sought.count = count;
    haul__explain(plan->context, plan->roots, plan->root_count, &plan->found, &sought);
}

/* Refuses the plan: `pointer`, or `count`, is not as discovery has read it. */
static haul_status refuse(const haul_plan *plan, const char *text, uintptr_t pointer,
                          uintptr_t count)
{
    haul__fail(&plan->context->error, HAUL_ERROR_STALE,
               "%s since the plan was made: haul_reship the shipment, or make the plan again",
               text);
    if (pointer || count)
        haul__name_changed(plan, pointer, count);
    return HAUL_ERROR_STALE;
}

/* The first string of the block that has lost its terminator; 0: none has. */
static uintptr_t find_lost_end(const haul__block *block, uintptr_t address)
{
    size_t i;
    for (i = 0; block->side && i < block->side->end_count; i++)
        if (*(const char *)(address + block->side->ends[i]) != 0)
            return address + block->side->ends[i];
    return 0;
}

int haul__ends_hold(const haul__block *block, uintptr_t address)
{
    return find_lost_end(block, address) == 0;
}

haul_status haul__check_ends(haul_plan *plan, const haul__block *block, uintptr_t address)
{
    const uintptr_t lost = find_lost_end(block, address);
    return lost ? refuse(plan, "a string has lost its terminator", 0, lost) : HAUL_OK;
}

/* Most reads are small counts of 4 or 8 bytes. Passes such reads over, from the last of `i` words
 * on, while they hold. Answers the number of words up to the first that is another read, or does
 * not hold. */
HAUL__HOT static size_t pass_counts(const uint64_t *reads, size_t i)
{
    for (; i > 0; i--) {
        const uint64_t read = reads[i - 1];
        const unsigned width = (unsigned)(read >> 48) & 3u;
        if (i > READS_AHEAD)
            haul__prefetch(HAUL__READ_ADDRESS(reads[i - 1 - READS_AHEAD]));
        if (width < 2u || read >> 50 == HAUL__READ_FAR ||
            haul__small_read(read) != haul__load_count(HAUL__READ_ADDRESS(read), 1u << width))
            break;
    }
    return i;
}

haul_status haul__check_read_set(haul_plan *plan)
{
    const haul__found *found = &plan->found;
    size_t i, next;
    haul__sought sought = { 0, 0, 0, 0, 0 };
    haul_status status;
    haul__call call;
    uintptr_t moved;
    for (i = next = found->read_count; i > 0; i = next) {
        i = next = pass_counts(found->reads, i);
        if (i > 0 && !haul__read_holds(found, &next))
            return refuse(plan,
                          plan->chains ? "a value that led to the data has changed"
                                       : "a count, a terminator, or an integer that a condition "
                                         "or switch reads has changed",
                          0, HAUL__READ_ADDRESS(found->reads[i - 1]));
    }
    if (!haul__find_changed_call(&plan->found, &call, &moved))
        return HAUL_OK;
    if (moved)
        return refuse(plan, "a pointer has changed", moved, 0);
    status = refuse(plan, "what a callback answers has changed", 0, 0);
    sought.call_self = call.self;
    sought.call_target = call.target;
    if (!plan->has_lost_parts)
        haul__explain(plan->context, plan->roots, plan->root_count, &plan->found, &sought);
    return status;
}

/* Looks for a pointer that leads out of the graph, or elsewhere than in the arena as it was sent.
 * If there is none, it names the block's first. */
void haul__explain_block(haul_plan *plan, size_t i, const unsigned char *old, uint64_t base)
{
    haul__block *block = haul__plan_block(plan, i);
    uintptr_t address = haul__block_address(plan->found.map.numbers[i]), first = 0, found = 0;
    unsigned cell;
    for (cell = 0; block->form != HAUL__FULL && cell < HAUL__CELLS && !found; cell++) {
        uint64_t slots = haul__placed_slots(&plan->found.map, block, cell);
        for (; slots && !found; slots &= slots - 1) {
            uintptr_t slot = address + cell * HAUL__CELL_BYTES +
                             ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
            uintptr_t value = haul__load_word((const void *)slot);
            uint64_t place = haul__target(plan, slot, value);
            if (!first)
                first = slot;
            if ((value && !place && !haul__was_empty(&plan->found, slot) &&
                 !plan->found.elsewhere) ||
                (old && haul__load_word(old + haul__place(block, slot)) !=
                            (uintptr_t)(place ? base + place : 0)))
                found = slot;
        }
    }
    haul__name_changed(plan, found ? found : first, 0);
}

haul_status haul__block_changed(haul_plan *plan, size_t i)
{
    haul_status status = haul__check_ends(plan, haul__plan_block(plan, i),
                                          haul__block_address(plan->found.map.numbers[i]));
    if (status != HAUL_OK)
        return status;
    plan->stale_block = i;
    status = refuse(plan, "a pointer has changed", 0, 0);
    haul__explain_block(plan, i, NULL, 0);
    return status;
}

haul_status haul__check_special(const haul_plan *plan, const haul__special_word *word)
{
    return word->is_limit || haul__load_special(word->address, word->bytes) == word->value
               ? HAUL_OK
               : refuse(plan, "a pointer has changed", word->address, 0);
}

haul_status haul__check_lost(haul_plan *plan, uintptr_t slot)
{
    return slot ? refuse(plan, "a pointer has changed", slot, 0) : HAUL_OK;
}

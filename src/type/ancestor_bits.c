/* Ancestors: which types do rules ask for, and which types must pass them on?
 *
 * A rule may name a type. Its callbacks then get an ancestor: the nearest object of that type on
 * the path to their own object. So each type between the ancestor's type and the rule must pass the
 * ancestor on. With a bit for each ancestor type:
 *
 *     asked(T)    the bits that T's own rules name
 *     needs(T)    asked(T), and the needs of all types that T contains or leads to, without T's own
 *                 bit
 *
 * This is a least fixed point. It is found by going through the types, from the last that was
 * reached to the first, until nothing changes: needs pass from a type to those that lead to it, and
 * most of these were reached before it.
 *
 * Types of earlier commits take no part. They lead to committed types only, so no path from an
 * ancestor to a rule of this commit goes through them, and no path of theirs goes through types of
 * this commit.
 *
 * If there are more than 64 ancestor types, several share a bit. Then needs(T) keeps T's own bit:
 * more objects than necessary get ancestors, which costs time and is never wrong.
 */
#include "type/ancestor_bits.h"
#include "type/life.h"

static uint64_t needs_of(const haul_type *type)
{
    return type && !type->committed ? type->walk.needs : 0;
}

/* asked(T), and the needs of all types that it contains or leads to. */
static uint64_t needs_inside(const haul_type *type)
{
    const haul__rule *rule;
    uint64_t bits = 0;
    size_t i, k;
    for (i = 0; i < type->row_count; i++) {
        bits |= needs_of(type->rows[i].type);
        for (rule = type->rows[i].rule; rule; rule = rule->each) {
            bits |= rule->ancestor ? rule->ancestor->ancestor_bit : 0;
            for (k = 0; k < rule->said.type_switch.case_count; k++)
                bits |= needs_of(rule->types[k]);
        }
    }
    for (i = 0; i < haul__type_old_count(type); i++)
        bits |= needs_of(type->blocks[i].type);
    return bits;
}

void haul__find_ancestors(haul_type *const *types, size_t count)
{
    uint64_t met = 0, needs;
    int are_alone = 1, has_changed = 1; /* each type has a bit of its own */
    haul_type *inner;
    size_t i;
    for (i = 0; i < count; i++) {
        are_alone &= (types[i]->ancestor_bit & met) == 0;
        met |= types[i]->ancestor_bit;
    }
    while (has_changed) {
        has_changed = 0;
        for (i = count; i-- > 0;) {
            needs = needs_inside(types[i]);
            if (are_alone)
                needs &= ~types[i]->ancestor_bit;
            has_changed |= needs != types[i]->walk.needs;
            types[i]->walk.needs = needs;
        }
    }
    /* A nameless inner type needs all that its type does, that type's own bit included. */
    for (i = 0; i < count; i++) {
        haul__walk *walk = &types[i]->walk;
        const uint64_t inside = needs_inside(types[i]);
        walk->holds = types[i]->ancestor_bit & inside;
        walk->is_wide |= (walk->holds | walk->needs) != 0;
        for (inner = types[i]->inner; inner; inner = inner->sibling) {
            inner->walk.needs = inside;
            inner->walk.is_wide |= inside != 0;
        }
    }
}

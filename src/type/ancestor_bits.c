/* Holders: which objects must be known to those that are found through them, and on which way.
 *
 * A rule names a type of which its callbacks get the nearest object. So that type holds, and every
 * type on a way from it to the rule must be told who holds it. With each holder's type as a bit:
 *
 *     asked(T)    the bits of the holders that T's own rules name
 *     needs(T)    asked(T), and the needs of all that T holds or leads to, without T's own bit
 *
 * That is a least fixed point, found by going through the types, from the last that was reached to
 * the first, until nothing changes: needs pass from a type to those that lead to it, and these were
 * mostly reached before it.
 *
 * Types of earlier commits have no part in it. All that a closed type leads to is closed, too, so
 * that no way from a holder of this commit to a rule of this commit leads through one; and none
 * from theirs to theirs leads through this one.
 *
 * Where there are more than 64 holders, several have one bit. Then T's own is not taken away: too
 * many objects are told who holds them, which costs time and is never wrong.
 */
#include "type/ancestor_bits.h"
#include "type/life.h"

typedef struct holders {
    haul_type *const *types;
    size_t count;
    int are_alone; /* each has a bit of its own */
} holders;

static uint64_t needs_of(const haul_type *type)
{
    return type && !type->committed ? type->walk.needs : 0;
}

static uint64_t needs_of_rule(const haul__rule *rule)
{
    uint64_t bits = 0;
    size_t i;
    for (; rule; rule = rule->each) {
        bits |= rule->holder ? rule->holder->holder : 0;
        for (i = 0; i < rule->said.choice.case_count; i++)
            bits |= needs_of(rule->types[i]);
    }
    return bits;
}

/* Of its own rules, and of all that it leads to. */
static uint64_t needs_inside(const haul_type *type)
{
    uint64_t bits = 0;
    size_t i;
    for (i = 0; i < type->row_count; i++)
        bits |= needs_of(type->rows[i].type) | needs_of_rule(type->rows[i].rule);
    for (i = 0; i < haul__type_old_count(type); i++)
        bits |= needs_of(type->blocks[i].type);
    return bits;
}

static uint64_t from_outside(const holders *h, const haul_type *type, uint64_t inside)
{
    return h->are_alone ? inside & ~type->holder : inside;
}

static int pass_on(const holders *h)
{
    size_t i;
    int changed = 0;
    for (i = h->count; i-- > 0;) {
        haul_type *type = h->types[i];
        uint64_t needs = from_outside(h, type, needs_inside(type));
        changed |= needs != type->walk.needs;
        type->walk.needs = needs;
    }
    return changed;
}

/* What lies or stands behind a row of its own needs what its type does, itself included. */
static void settle(haul_type *type)
{
    const uint64_t inside = needs_inside(type);
    haul_type *inner;
    type->walk.holds = type->holder & inside;
    type->walk.is_wide |= (type->walk.holds | type->walk.needs) != 0;
    for (inner = type->inner; inner; inner = inner->sibling) {
        inner->walk.needs = inside;
        inner->walk.is_wide |= inside != 0;
    }
}

void haul__find_ancestors(haul_type *const *types, size_t count)
{
    uint64_t met = 0;
    holders h;
    size_t i;
    h.types = types;
    h.count = count;
    h.are_alone = 1;
    for (i = 0; i < count; i++) {
        h.are_alone &= (types[i]->holder & met) == 0;
        met |= types[i]->holder;
    }
    while (pass_on(&h))
        ;
    for (i = 0; i < count; i++)
        settle(types[i]);
}

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

typedef struct ancestors {
    haul_type *const *types;
    size_t count;
    int are_alone; /* each has a bit of its own */
} ancestors;

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
        for (i = 0; i < rule->said.type_switch.case_count; i++)
            bits |= needs_of(rule->types[i]);
    }
    return bits;
}

/* asked(T), and the needs of all types that it contains or leads to. */
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

static uint64_t from_outside(const ancestors *a, const haul_type *type, uint64_t inside)
{
    return a->are_alone ? inside & ~type->holder : inside;
}

static int pass_on(const ancestors *a)
{
    size_t i;
    int changed = 0;
    for (i = a->count; i-- > 0;) {
        haul_type *type = a->types[i];
        uint64_t needs = from_outside(a, type, needs_inside(type));
        changed |= needs != type->walk.needs;
        type->walk.needs = needs;
    }
    return changed;
}

/* Fills the results. A nameless inner type needs all that its type does, that type's own bit
 * included. */
static void finish(haul_type *type)
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
    ancestors a;
    size_t i;
    a.types = types;
    a.count = count;
    a.are_alone = 1;
    for (i = 0; i < count; i++) {
        a.are_alone &= (types[i]->holder & met) == 0;
        met |= types[i]->holder;
    }
    while (pass_on(&a))
        ;
    for (i = 0; i < count; i++)
        finish(types[i]);
}

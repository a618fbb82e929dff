/* Which types are brief, and in which walks. The general way has all the rest: callbacks, rules
 * that read other objects, words that no device may patch, and walks that must meet each range by
 * itself.
 */
#include "walk/brief_types.h"

static int suits_walk(const haul__discovery *d)
{
    const haul_context_options *limits = &d->context->options;
    return !haul__is_general(d) && !d->in_order && !d->order_log && d->map->flat && !d->bounds &&
           !d->within && !d->passing && !d->changed && !d->named && !d->hints &&
           !d->found->elsewhere && limits->max_bytes >= HAUL__BRIEF_WORDS * HAUL__WORD &&
           limits->max_array_elements > 0;
}

static int is_brief_pointer(const haul__ruled *ruled)
{
    const haul_field *said = &ruled->rule->said;
    size_t i;
    for (i = 0; i < said->type_switch.case_count; i++)
        if (said->type_switch.cases[i].base)
            return 0;
    return !(ruled->slot.flags & ~(HAUL__SLOT_EACH | HAUL__EXCLUDED)) &&
           ruled->bytes == HAUL__WORD && said->kind != HAUL_FIELD_RELATIVE &&
           !haul__is_limit(ruled->rule) &&
           (said->ownership == HAUL_OWNED || said->ownership == HAUL_BORROWED) &&
           !said->maybe_static && said->tag_bits < HAUL__GRANULE && !said->integers_below &&
           !said->integers_from && !said->base && !said->base_fn && !said->section.rank &&
           ruled->slot.shape[0].kind != HAUL_COUNT_KIND_UNTIL &&
           (said->type_switch.kind == HAUL_SWITCH_KIND_NONE ||
            said->type_switch.kind == HAUL_SWITCH_KIND_SELF);
}

static int is_brief_row(const haul__ruled *ruled)
{
    if (!ruled->rule || ruled->rule->said.when.kind == HAUL_WHEN_KIND_FUNCTION)
        return 0;
    if (ruled->kind == HAUL__RULED_POINTER)
        return is_brief_pointer(ruled);
    return ruled->kind == HAUL__RULED_DATA;
}

/* Do runs have few pieces of words, and are slots words? */
static int has_words(const haul__walk *walk)
{
    size_t pieces = 0, rest = walk->extent, i;
    for (i = 0; i < walk->run_count; i++)
        pieces += (size_t)(walk->runs[i].offset % HAUL__WORD != 0) +
                  (size_t)((walk->runs[i].offset + walk->runs[i].bytes) % HAUL__WORD != 0);
    for (i = 0; i < walk->slot_count; i++)
        rest |= walk->slots[i].offset;
    return pieces <= HAUL__BRIEF_PIECES && rest % HAUL__WORD == 0;
}

int haul__is_brief(const haul__discovery *d, const haul__walk *walk)
{
    size_t i;
    if (haul__is_sized(walk) || (haul__is_dense(walk) && !walk->excluded_count) ||
        walk->part_count || walk->has_parts || walk->is_wide || walk->is_slot || walk->depends ||
        !walk->extent || walk->extent > HAUL__BRIEF_WORDS * HAUL__WORD ||
        walk->span != walk->extent || walk->alignment > HAUL__GRANULE ||
        walk->placement > HAUL__GRANULE || !has_words(walk) || !suits_walk(d))
        return 0;
    for (i = 0; i < walk->ruled_count; i++)
        if (!is_brief_row(&walk->ruled[i]))
            return 0;
    return 1;
}

/* Ordered plans: the compacted arena, its units put in order of discovery.
 *
 * The slow obvious version, and what is done: gather the compacted arena into memory of its own,
 * which makes every check that a pack makes; copy unit after unit to its place; translate each
 * pointer from its compacted place to its ordered one. On the way back units are put where the
 * compacted arena has them, and that one is scattered. Exceptions (words off the grid, tags,
 * distances) ask the plan for places one by one, and a plan answers with ordered ones
 * (haul__offset_of), so they need no case here but to be written last.
 *
 * A compacted place is enough to translate what leads to the beginning of something, or into it. A
 * pointer to the end of a range is not told by its address: something else may begin there, in the
 * source or in the compacted arena. Such words (ends of pairs, aliases, pointers to no elements)
 * are told in a list, with their places, when the plan is made.
 *
 * Which words lie on the arena's grid depends on the units' places, not on the source's: an
 * off-grid pointer of the source may be an ordinary one here. So bitmap and list of odd words are
 * the plan's own.
 *
 * What makes it bearable: translations are independent of each other, so those of 64 words of the
 * arena wait for their guides, and then for their units, together.
 */
#include "pack/ordered.h"

#include "base/sort.h"
#include "pack/pieces.h"
#include "pack/plan_struct.h"
#include "pack/translate.h"

#define UNITS_AHEAD 8u /* less: bytes of a unit are not there yet; more: they are gone again */

static haul_status out_of_memory(haul_plan *plan)
{
    return haul__fail(&plan->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for an ordered arena");
}

/* ---- Bits and odd words. */

static void set_bit(haul__ordered *o, uint64_t place)
{
    const uint64_t word = place >> HAUL__WORD_SHIFT;
    o->bitmap[word / 64] |= (uint64_t)1 << (word % 64);
}

static int note_odd(const haul_allocator *allocator, haul__ordered *o, uint64_t place)
{
    void *odd = o->odd;
    if (!haul__grow(allocator, &odd, &o->odd_capacity, o->odd_count + 1, sizeof *o->odd))
        return 0;
    o->odd = odd;
    o->odd[o->odd_count++] = place;
    return 1;
}

static int note_pointer(const haul_allocator *allocator, haul__ordered *o, uint64_t place)
{
    if ((place & (HAUL__WORD - 1)) != 0)
        return note_odd(allocator, o, place);
    set_bit(o, place);
    return 1;
}

/* The slots of the map, in order of address, with the units beside them. */
static int note_slots(const haul_plan *plan, haul__ordered *o)
{
    const haul__map *map = &plan->found.map;
    const haul__cluster *unit = o->units.at;
    size_t i;
    unsigned cell;
    for (i = 0; i < map->block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        uintptr_t address = haul__block_address(map->numbers[i]);
        for (cell = 0; block->form != HAUL__FULL && cell < HAUL__CELLS;
             cell++, address += HAUL__CELL_BYTES) {
            uint64_t slots;
            for (slots = haul__placed_slots(map, block, cell); slots; slots &= slots - 1) {
                const uintptr_t slot =
                    address + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
                while (unit->first + unit->bytes <= slot)
                    unit++;
                if (!note_pointer(&plan->context->allocator, o, unit->place + (slot - unit->first)))
                    return 0;
            }
        }
    }
    return 1;
}

static uint64_t place_of(const haul_plan *plan, uintptr_t address)
{
    return haul__final_place(plan, haul__translate(&plan->found.map, address));
}

/* Those of the source: what leads beside its block is no word for the bitmap wherever it lies. */
static int note_odd_words(const haul_plan *plan, haul__ordered *o)
{
    size_t i;
    for (i = 0; i < plan->found.odd_count; i++) {
        const haul__odd *odd = &plan->found.odd[i];
        const uint64_t place = place_of(plan, odd->address);
        const haul_allocator *allocator = &plan->context->allocator;
        if (!(odd->delta ? note_odd(allocator, o, place) : note_pointer(allocator, o, place)))
            return 0;
    }
    return 1;
}

static int is_less(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* ---- Words that are told. */

static int is_slot(const haul_plan *plan, uintptr_t word)
{
    const haul__map *map = &plan->found.map;
    const haul__block *block = haul__map_find(map, word);
    if (!block || (word & (HAUL__WORD - 1)) != 0)
        return 0;
    return (int)(haul__placed_slots(map, block, haul__cell_number(word)) >>
                 haul__word_in_cell(word)) &
           1;
}

/* Does a pointer of the object, other than `word`, lead into the unit? */
static int leads_into(const haul_plan *plan, const haul__reference *mention,
                      const haul__cluster *unit)
{
    uintptr_t at = (mention->object + HAUL__WORD - 1) & ~(uintptr_t)(HAUL__WORD - 1);
    for (; at < mention->object_end && mention->object_end - at >= HAUL__WORD; at += HAUL__WORD)
        if (at != mention->word && is_slot(plan, at) &&
            haul__load_word((const void *)at) - unit->first < unit->bytes)
            return 1;
    return 0;
}

/* Where one unit ends and another begins, a word that nobody followed is taken for the end if its
 * object leads into the former elsewhere, as begins and ends do, and else for the beginning. */
static int is_end(const haul_plan *plan, const haul__clusters *units,
                  const haul__reference *mention)
{
    const size_t before = haul__cluster_behind(units, mention->target - 1);
    const haul__cluster *unit;
    if (before == units->count || mention->target <= units->at[before].first)
        return 0;
    unit = &units->at[before];
    if (mention->target - unit->first < unit->bytes)
        return 0;
    if (mention->kind == HAUL__REFERENCE_END || before + 1 == units->count)
        return 1;
    return units->at[before + 1].first != mention->target || leads_into(plan, mention, unit);
}

/* A slot that leads to no elements is translated with its tags, if it has some. */
static haul__reference with_tags(const haul_plan *plan, const haul__reference *mention)
{
    haul__reference m = *mention;
    if (m.kind == HAUL__REFERENCE_PLACE && m.value == m.target && is_slot(plan, m.word))
        m.value = m.target = haul__load_word((const void *)m.word);
    return m;
}

/* 0: it leads to nothing. */
static uint64_t place_of_mentioned(const haul_plan *plan, const haul__reference *mention, int ends)
{
    uint64_t place;
    if (mention->kind == HAUL__REFERENCE_TAGGED)
        place = place_of(plan, mention->target);
    else if (ends)
        place = place_of(plan, mention->target - 1) + 1;
    else if (!haul__offset_of(plan, mention->target, &place))
        place = 0;
    return place ? place + (mention->value - mention->target) : 0;
}

static int told_before(const void *a, const void *b)
{
    const haul__resolved *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word;
    if (x->value != y->value)
        return x->value < y->value;
    return x->is_followed != y->is_followed ? x->is_followed < y->is_followed
                                            : x->is_begin < y->is_begin;
}

static void sort_told(haul__ordered *o)
{
    size_t i, kept = 0;
    haul__sort(o->told, o->told_count, sizeof *o->told, told_before);
    for (i = 0; i < o->told_count; i++)
        if (kept == 0 || o->told[kept - 1].word != o->told[i].word ||
            o->told[kept - 1].value != o->told[i].value)
            o->told[kept++] = o->told[i];
    o->told_count = kept;
}

/* The end of a pair, or a word with tags, may be mentioned as a pointer to no elements, too: then
 * it is that. And one that stands in several objects is an end if one of them says so: begin and
 * end of a pair of nothing stay together. */
static int tell(const haul_plan *plan, const haul__order_log *trail, haul__ordered *o)
{
    size_t i, kept = 0;
    o->told_capacity = trail->mention_count;
    o->told = haul__allocate(&plan->context->allocator, o->told_capacity * sizeof *o->told,
                             sizeof(uint64_t));
    if (!o->told && trail->mention_count)
        return 0;
    for (i = 0; i < trail->mention_count; i++) {
        const haul__reference mention = with_tags(plan, &trail->mentions[i]);
        const int ends =
            mention.kind != HAUL__REFERENCE_TAGGED && is_end(plan, &o->units, &mention);
        haul__resolved *told = &o->told[kept];
        told->word = mention.word;
        told->value = mention.value;
        told->place = place_of_mentioned(plan, &mention, ends);
        told->is_slot = is_slot(plan, mention.word);
        told->is_followed = mention.kind != HAUL__REFERENCE_PLACE;
        told->is_begin = !ends;
        kept += told->place != 0;
    }
    o->told_count = kept;
    sort_told(o);
    return 1;
}

/* ---- A plan's. */

size_t haul__ordered_memory(const haul__ordered *o)
{
    return sizeof *o + haul__clusters_memory(&o->units) + o->bitmap_words * sizeof *o->bitmap +
           o->odd_capacity * sizeof *o->odd + o->told_capacity * sizeof *o->told;
}

void haul__ordered_drop(haul_plan *plan)
{
    const haul_allocator *allocator = &plan->context->allocator;
    haul__ordered *o = plan->ordered;
    if (!o)
        return;
    haul__clusters_close(allocator, &o->units);
    haul__release(allocator, o->bitmap, o->bitmap_words * sizeof *o->bitmap);
    haul__release(allocator, o->odd, o->odd_capacity * sizeof *o->odd);
    haul__release(allocator, o->told, o->told_capacity * sizeof *o->told);
    haul__release(allocator, o, sizeof *o);
    plan->ordered = NULL;
}

static int fill_in(haul_plan *plan, const haul__order_log *trail)
{
    haul__ordered *o = plan->ordered;
    o->bitmap_words = ((size_t)(o->units.bytes >> HAUL__WORD_SHIFT) + 63) / 64;
    o->bitmap =
        haul__allocate_zeroed(&plan->context->allocator, o->bitmap_words * sizeof *o->bitmap);
    if (!o->bitmap || !note_slots(plan, o) || !note_odd_words(plan, o) || !tell(plan, trail, o))
        return 0;
    haul__sort(o->odd, o->odd_count, sizeof *o->odd, is_less);
    return 1;
}

haul_status haul__order(haul_plan *plan, haul__order_log *trail)
{
    haul_status status;
    plan->ordered = haul__allocate_zeroed(&plan->context->allocator, sizeof *plan->ordered);
    if (!plan->ordered)
        return out_of_memory(plan);
    status = haul__clusters_make(plan->context, &plan->found, &plan->placed, trail,
                                 &plan->ordered->units);
    if (status == HAUL_OK && !fill_in(plan, trail))
        status = out_of_memory(plan);
    if (status != HAUL_OK)
        haul__ordered_drop(plan);
    return status;
}

/* ---- From the compacted arena to the ordered one. */

static void prefetch_unit(const haul__clusters *units, size_t i, const unsigned char *compacted)
{
    if (i < units->count)
        haul__prefetch((uintptr_t)&units->at[units->by_place[i]]);
    if (i >= UNITS_AHEAD && i - UNITS_AHEAD / 2 < units->count)
        haul__prefetch((uintptr_t)compacted +
                       (uintptr_t)units->at[units->by_place[i - UNITS_AHEAD / 2]].compact);
}

/* Each unit, and zeros up to the next one. */
static void copy_units(const haul__clusters *units, const unsigned char *compacted,
                       unsigned char *arena)
{
    uint64_t end = 0;
    size_t i;
    for (i = 0; i < units->count; i++) {
        const haul__cluster *unit = &units->at[units->by_place[i]];
        prefetch_unit(units, i + UNITS_AHEAD, compacted);
        memset(arena + end, 0, (size_t)(unit->place - end));
        memcpy(arena + unit->place, compacted + unit->compact, unit->bytes);
        end = unit->place + unit->bytes;
    }
    memset(arena + end, 0, (size_t)(units->bytes - end));
}

static void put_word(unsigned char *arena, uint64_t place, uintptr_t word)
{
    memcpy(arena + place, &word, sizeof word);
}

static void translate(const haul__ordered *o, unsigned char *arena, uint64_t place, uint64_t base)
{
    const uintptr_t compact = haul__load_word(arena + place);
    const uint64_t leads_to = compact ? haul__ordered_place(o, compact) : 0;
    put_word(arena, place, (uintptr_t)(leads_to ? base + leads_to : 0));
}

static void prefetch_guides(const haul__clusters *units, const unsigned char *words, uint64_t bits)
{
    for (; bits; bits &= bits - 1) {
        const uintptr_t compact =
            haul__load_word(words + (haul__lowest64(bits) << HAUL__WORD_SHIFT));
        if (compact >> HAUL__GUIDE_SHIFT < units->guide_count)
            haul__prefetch((uintptr_t)&units->guide[compact >> HAUL__GUIDE_SHIFT]);
    }
}

static void prefetch_targets(const haul__clusters *units, const unsigned char *words, uint64_t bits)
{
    for (; bits; bits &= bits - 1) {
        const uintptr_t compact =
            haul__load_word(words + (haul__lowest64(bits) << HAUL__WORD_SHIFT));
        if (compact >> HAUL__GUIDE_SHIFT < units->guide_count)
            haul__prefetch((uintptr_t)(units->at + units->guide[compact >> HAUL__GUIDE_SHIFT]));
    }
}

/* The guides of a stretch are fetched while those before it are translated. */
HAUL__HOT static void translate_words(const haul__ordered *o, unsigned char *arena, uint64_t base)
{
    size_t group;
    for (group = 0; group < o->bitmap_words; group++) {
        const uint64_t at = (uint64_t)group * 64 << HAUL__WORD_SHIFT;
        uint64_t bits = o->bitmap[group];
        if (group + 1 < o->bitmap_words)
            prefetch_guides(&o->units, arena + at + (64 << HAUL__WORD_SHIFT), o->bitmap[group + 1]);
        prefetch_targets(&o->units, arena + at, bits);
        for (; bits; bits &= bits - 1)
            translate(o, arena, at + ((uint64_t)haul__lowest64(bits) << HAUL__WORD_SHIFT), base);
    }
}

/* Words of the source that are not what the compacted arena says of them. */
static void put_exceptions(const haul_plan *plan, unsigned char *arena, uint64_t base)
{
    const haul__ordered *o = plan->ordered;
    size_t i;
    for (i = 0; i < o->odd_count; i++)
        translate(o, arena, o->odd[i], base);
    for (i = 0; i < o->told_count; i++)
        if (o->told[i].is_slot)
            put_word(arena, place_of(plan, o->told[i].word), (uintptr_t)(base + o->told[i].place));
    for (i = 0; i < plan->found.odd_count; i++)
        put_word(arena, place_of(plan, plan->found.odd[i].address),
                 haul__odd_word(plan, &plan->found.odd[i], base));
}

haul_status haul__gather_ordered(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                                 const haul__listener *listener)
{
    const size_t bytes = haul__compacted_bytes(plan);
    void *compacted = haul__allocate(&plan->context->allocator, bytes, HAUL__GRANULE);
    haul_status status;
    if (!compacted)
        return out_of_memory(plan);
    status = haul__gather_compacted(plan, compacted, 0, there, 0, listener);
    if (status == HAUL_OK) {
        copy_units(&plan->ordered->units, compacted, arena);
        translate_words(plan->ordered, arena, base);
        put_exceptions(plan, arena, base);
    }
    haul__release(&plan->context->allocator, compacted, bytes);
    return status;
}

/* ---- And back. */

const void *haul__compact_again(const haul_plan *plan, const void *arena)
{
    const haul__clusters *units;
    unsigned char *memory;
    size_t i;
    if (!plan->ordered)
        return arena;
    units = &plan->ordered->units;
    memory = plan->ordered->compacted;
    for (i = 0; i < units->count; i++) {
        const haul__cluster *unit = &units->at[units->by_place[i]];
        memcpy(memory + unit->compact, (const unsigned char *)arena + unit->place, unit->bytes);
    }
    return memory;
}

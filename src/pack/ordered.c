/* Ordered plans: the compacted arena, with its clusters put in order of discovery.
 *
 * The code is the slow obvious version: gather the compacted arena into memory of its own, with all
 * the checks of a pack; copy each cluster to its ordered place; translate each pointer from a
 * compacted place to an ordered one. On the way back, clusters are copied to their compacted
 * places, and that arena is scattered. Special words ask the plan for their places one by one.
 * haul__offset_of answers with ordered places, so special words only have to be written last.
 *
 * A compacted place is enough to translate a pointer to the beginning or the inside of a cluster.
 * But the end of one range may be the beginning of another, in the source or in the compacted
 * arena, so a pointer to an end needs more than its address. Such words are resolved when the plan
 * is made, and listed with their places: ends of pairs, aliases, pointers to no elements (joints.c
 * reads those that mean the one or the other).
 *
 * Whether a word lies on the arena's grid follows from its cluster's place, not from its address in
 * the source: an explicit relocation of the source may be a plain slot here. So the ordered plan
 * has its own bitmap and its own list of explicit relocations.
 *
 * It is fast enough because translations are independent: the entries of the guide for 64 words are
 * fetched together, and then their clusters.
 */
#include "pack/ordered.h"

#include "context/pulse.h"
#include "pack/joints.h"
#include "pack/pieces.h"
#include "pack/plan_space.h"
#include "pack/plan_struct.h"
#include "pack/progress.h"
#include "pack/translate.h"

/* With fewer, a cluster's bytes have not come yet; with more, they are gone again. */
#define CLUSTERS_AHEAD 8u

#define SLOTS_NS 65536u    /* that the slots of a block take, at most */
#define REFERENCE_NS 1024u /* that a reference takes, about: some searches */

static haul_status out_of_memory(haul_plan *plan)
{
    return haul__fail(&plan->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for an ordered arena");
}

/* ---- Slots and explicit relocations. */

static int note_explicit(const haul_allocator *allocator, haul__ordered *o, uint64_t place)
{
    if (!haul__grow(allocator, &o->explicit, &o->explicit_capacity, o->explicit_count + 1,
                    sizeof *o->explicit))
        return 0;
    o->explicit[o->explicit_count++] = place;
    return 1;
}

static int note_pointer(const haul_allocator *allocator, haul__ordered *o, uint64_t place)
{
    if ((place & (HAUL__WORD - 1)) != 0)
        return note_explicit(allocator, o, place);
    o->bitmap[place >> HAUL__WORD_SHIFT >> 6] |= (uint64_t)1 << (place >> HAUL__WORD_SHIFT & 63);
    return 1;
}

/* The slots of the map and the clusters are both in order of address. */
static haul_status note_slots(const haul_plan *plan, haul__ordered *o)
{
    const haul__map *map = &plan->found.map;
    const haul__cluster *cluster = o->clusters.at;
    haul_status status = HAUL_OK;
    size_t i;
    unsigned cell;
    for (i = 0; i < map->block_count && status == HAUL_OK; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        uintptr_t address = haul__block_address(map->numbers[i]);
        for (cell = 0; block->form != HAUL__FULL && cell < HAUL__CELLS;
             cell++, address += HAUL__CELL_BYTES) {
            uint64_t slots;
            for (slots = haul__placed_slots(map, block, cell); slots; slots &= slots - 1) {
                const uintptr_t slot =
                    address + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
                while (cluster->first + cluster->bytes <= slot)
                    cluster++;
                if (!note_pointer(&plan->context->allocator, o,
                                  cluster->place + (slot - cluster->first)))
                    return HAUL_ERROR_MEMORY;
            }
        }
        status = haul__pulse_behind(plan->context, i, SLOTS_NS);
    }
    return status;
}

static uint64_t place_of(const haul_plan *plan, uintptr_t address)
{
    return haul__final_place(plan, haul__translate(&plan->found.map, address));
}

/* Explicit relocations of the source. One that leads beside its target stays one, wherever it
 * lies, and so does a limit. */
static haul_status note_explicit_words(const haul_plan *plan, haul__ordered *o)
{
    const haul_allocator *allocator = &plan->context->allocator;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < plan->found.special_count && status == HAUL_OK; i++) {
        const haul__special_word *word = &plan->found.special[i];
        const uint64_t place = place_of(plan, word->address);
        const int is_beside = word->addend || word->is_limit;
        if (word->kind == HAUL__EXPLICIT &&
            !(is_beside ? note_explicit(allocator, o, place) : note_pointer(allocator, o, place)))
            return HAUL_ERROR_MEMORY;
        status = haul__pulse_behind(plan->context, i, REFERENCE_NS);
    }
    return status;
}

static int is_less(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* ---- Resolved words. */

/* A slot that leads to no elements is translated with its tags. */
static haul__reference with_tags(const haul_plan *plan, const haul__reference *reference)
{
    haul__reference m = *reference;
    if (m.kind == HAUL__REFERENCE_PLACE && m.value == m.target && haul__is_slot(plan, m.word))
        m.value = m.target = haul__load_word((const void *)m.word);
    return m;
}

static int resolved_before(const void *a, const void *b)
{
    const haul__resolved *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word;
    if (x->value != y->value)
        return x->value < y->value;
    return x->is_followed != y->is_followed ? x->is_followed < y->is_followed
                                            : x->is_begin < y->is_begin;
}

/* The end of a pair, or a tagged word, may also be logged as a pointer to no elements: then it
 * counts as that. A word that stands in several objects is an end if one of them says so, so that
 * begin and end of an empty pair stay together. */
static haul_status resolve_all(const haul_plan *plan, const haul__order_log *log, haul__ordered *o)
{
    haul_status status = HAUL_OK;
    size_t i, left = 0;
    o->resolved_capacity = log->references.count;
    o->resolved = haul__allocate(&plan->context->allocator,
                                 o->resolved_capacity * sizeof *o->resolved, sizeof(uint64_t));
    if (!o->resolved && log->references.count)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < log->references.count && status == HAUL_OK; i++) {
        const haul__reference reference = with_tags(plan, &log->references.at[i]);
        const int ends = reference.kind != HAUL__REFERENCE_TAGGED &&
                         haul__means_end(plan, log, &o->clusters, &reference);
        haul__resolved *resolved = &o->resolved[left];
        uint64_t place;
        resolved->word = reference.word;
        resolved->value = reference.value;
        if (reference.kind == HAUL__REFERENCE_TAGGED)
            place = place_of(plan, reference.target);
        else if (ends)
            place = place_of(plan, reference.target - 1) + 1;
        else if (!haul__offset_of(plan, reference.target, &place))
            place = 0;
        resolved->place = place ? place + (reference.value - reference.target) : 0;
        resolved->is_slot = haul__is_slot(plan, reference.word);
        resolved->is_followed = reference.kind != HAUL__REFERENCE_PLACE;
        resolved->is_begin = !ends;
        left += resolved->place != 0;
        status = haul__pulse_behind(plan->context, i, REFERENCE_NS);
    }
    if (status != HAUL_OK)
        return status;
    o->resolved_count = left;
    left = 0;
    status = haul__sort_and_pulse(plan->context, o->resolved, o->resolved_count,
                                  sizeof *o->resolved, resolved_before);
    if (status != HAUL_OK)
        return status;
    for (i = 0; i < o->resolved_count; i++)
        if (left == 0 || o->resolved[left - 1].word != o->resolved[i].word ||
            o->resolved[left - 1].value != o->resolved[i].value)
            o->resolved[left++] = o->resolved[i];
    o->resolved_count = left;
    return haul__pulse(plan->context);
}

/* ---- Made and dropped. */

size_t haul__ordered_memory(const haul__ordered *o)
{
    return sizeof *o + haul__clusters_memory(&o->clusters) + o->bitmap_words * sizeof *o->bitmap +
           o->explicit_capacity * sizeof *o->explicit + o->resolved_capacity * sizeof *o->resolved;
}

void haul__ordered_drop(haul_plan *plan)
{
    const haul_allocator *allocator = &plan->context->allocator;
    haul__ordered *o = plan->ordered;
    if (!o)
        return;
    haul__clusters_close(allocator, &o->clusters);
    haul__release(allocator, o->bitmap, o->bitmap_words * sizeof *o->bitmap);
    haul__release(allocator, o->explicit, o->explicit_capacity * sizeof *o->explicit);
    haul__release(allocator, o->resolved, o->resolved_capacity * sizeof *o->resolved);
    haul__release(allocator, o, sizeof *o);
    plan->ordered = NULL;
}

haul_status haul__order(haul_plan *plan, haul__order_log *log)
{
    const haul_allocator *allocator = &plan->context->allocator;
    haul__ordered *o = haul__allocate_zeroed(allocator, sizeof *o);
    haul_status status;
    if (!o)
        return out_of_memory(plan);
    plan->ordered = o;
    status = haul__clusters_make(plan->context, &plan->found, &plan->placed, log, &o->clusters);
    if (status == HAUL_OK) {
        o->bitmap_words = ((size_t)(o->clusters.bytes >> HAUL__WORD_SHIFT) + 63) / 64;
        o->bitmap = haul__allocate_zeroed(allocator, o->bitmap_words * sizeof *o->bitmap);
        status = o->bitmap ? note_slots(plan, o) : HAUL_ERROR_MEMORY;
        if (status == HAUL_OK)
            status = note_explicit_words(plan, o);
        if (status == HAUL_OK)
            status = resolve_all(plan, log, o);
        if (status == HAUL_OK)
            status = haul__sort_and_pulse(plan->context, o->explicit, o->explicit_count,
                                          sizeof *o->explicit, is_less);
        if (status == HAUL_ERROR_MEMORY)
            out_of_memory(plan);
    }
    if (status != HAUL_OK)
        haul__ordered_drop(plan);
    return status;
}

/* ---- From the compacted arena to the ordered one. */

/* A pack has three parts that take about as long: gather, copies and translations. */
enum { GATHERED = 1, COPIED, PARTS };

typedef struct telling {
    const haul_plan *plan;
    const haul__listener *listener;
    uint64_t next; /* byte of the arena behind which the listener hears again */
} telling;

/* All parts before are done, and of this one `at` bytes of the arena. */
static haul_status tell(telling *t, unsigned before, uint64_t at)
{
    const uint64_t total = (uint64_t)t->plan->placed.granules << HAUL__GRANULE_SHIFT;
    const uint64_t part = total / PARTS;
    const double done = (double)at / (double)t->plan->ordered->clusters.bytes;
    if (at < t->next)
        return HAUL_OK;
    t->next = at + HAUL__PROGRESS_BYTES;
    return haul__tell(t->plan->context, t->listener,
                      before * part + (uint64_t)(done * (double)part), total);
}

/* A cluster that takes long, or behind which the listener hears. */
static haul_status copy_and_tell(telling *t, const haul__cluster *cluster,
                                 const unsigned char *compacted, unsigned char *arena)
{
    haul_status status = HAUL_OK;
    size_t at, now;
    for (at = 0; at < cluster->bytes && status == HAUL_OK; at += now) {
        now =
            cluster->bytes - at < HAUL__PROGRESS_BYTES ? cluster->bytes - at : HAUL__PROGRESS_BYTES;
        memcpy(arena + cluster->place + at, compacted + cluster->compact + at, now);
        status = tell(t, GATHERED, cluster->place + at + now);
    }
    return status;
}

/* Each cluster, and zeros up to the next one. */
static haul_status copy_clusters(telling *t, const unsigned char *compacted, unsigned char *arena)
{
    const haul__clusters *clusters = &t->plan->ordered->clusters;
    haul_status status;
    uint64_t end = 0;
    size_t i;
    for (i = 0; i < clusters->count; i++) {
        const haul__cluster *cluster = &clusters->at[clusters->by_place[i]];
        if (i + CLUSTERS_AHEAD < clusters->count)
            haul__prefetch((uintptr_t)&clusters->at[clusters->by_place[i + CLUSTERS_AHEAD]]);
        if (i + CLUSTERS_AHEAD / 2 < clusters->count)
            haul__prefetch(
                (uintptr_t)compacted +
                (uintptr_t)clusters->at[clusters->by_place[i + CLUSTERS_AHEAD / 2]].compact);
        memset(arena + end, 0, (size_t)(cluster->place - end));
        end = cluster->place + cluster->bytes;
        if (HAUL__LIKELY(end < t->next && cluster->bytes <= HAUL__PROGRESS_BYTES)) {
            memcpy(arena + cluster->place, compacted + cluster->compact, cluster->bytes);
            continue;
        }
        status = copy_and_tell(t, cluster, compacted, arena);
        if (status != HAUL_OK)
            return status;
    }
    memset(arena + end, 0, (size_t)(clusters->bytes - end));
    return HAUL_OK;
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

/* Prefetches the entries of the guide for slots, or the clusters that these entries lead to. */
HAUL__INLINE void prefetch(const haul__clusters *clusters, const unsigned char *words,
                           uint64_t bits, int guides)
{
    for (; bits; bits &= bits - 1) {
        const uintptr_t compact =
            haul__load_word(words + (haul__lowest64(bits) << HAUL__WORD_SHIFT));
        const size_t i = compact >> HAUL__GUIDE_SHIFT;
        if (i < clusters->guide_count)
            haul__prefetch(guides ? (uintptr_t)&clusters->guide[i]
                                  : (uintptr_t)&clusters->at[clusters->guide[i]]);
    }
}

/* The guides of the next 64 words are prefetched while these are translated. */
HAUL__HOT static haul_status translate_words(telling *t, unsigned char *arena, uint64_t base)
{
    const haul__ordered *o = t->plan->ordered;
    haul_status status;
    size_t group;
    for (group = 0; group < o->bitmap_words; group++) {
        const uint64_t at = (uint64_t)group * 64 << HAUL__WORD_SHIFT;
        uint64_t bits = o->bitmap[group];
        if (group + 1 < o->bitmap_words)
            prefetch(&o->clusters, arena + at + (64 << HAUL__WORD_SHIFT), o->bitmap[group + 1], 1);
        prefetch(&o->clusters, arena + at, bits, 0);
        for (; bits; bits &= bits - 1)
            translate(o, arena, at + ((uint64_t)haul__lowest64(bits) << HAUL__WORD_SHIFT), base);
        if (HAUL__LIKELY(at < t->next))
            continue;
        status = tell(t, COPIED, at);
        if (status != HAUL_OK)
            return status;
    }
    return HAUL_OK;
}

/* Writes the words that are wrong in the compacted arena. */
static haul_status put_words(const haul_plan *plan, unsigned char *arena, uint64_t base)
{
    const haul__ordered *o = plan->ordered;
    const haul__space space = haul__plan_space(plan, base, base);
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < o->explicit_count; i++)
        translate(o, arena, o->explicit[i], base);
    for (i = 0; i < o->resolved_count; i++)
        if (o->resolved[i].is_slot)
            put_word(arena, place_of(plan, o->resolved[i].word),
                     (uintptr_t)(base + o->resolved[i].place));
    for (i = 0; i < space.count && status == HAUL_OK; i++) {
        uint64_t word;
        if (space.words[i].kind != HAUL__EXPLICIT)
            continue;
        status = haul__special_to_copy(&space, &space.words[i], space.words[i].value, &word);
        put_word(arena, space.place(&space, &space.words[i]), (uintptr_t)word);
    }
    return status;
}

haul_status haul__gather_ordered(haul_plan *plan, void *arena, uint64_t base, uint64_t final_base,
                                 const haul__listener *listener)
{
    const size_t bytes = haul__compacted_bytes(plan);
    const uint64_t total = (uint64_t)plan->placed.granules << HAUL__GRANULE_SHIFT;
    void *compacted = haul__allocate(&plan->context->allocator, bytes, HAUL__GRANULE);
    telling t = { plan, listener, 0 };
    haul_status status;
    if (!compacted)
        return out_of_memory(plan);
    status = haul__gather_compacted(plan, compacted, 0, final_base, 0, listener);
    t.next = listener ? HAUL__PROGRESS_BYTES : UINT64_MAX;
    if (status == HAUL_OK)
        status = copy_clusters(&t, compacted, arena);
    t.next = listener ? HAUL__PROGRESS_BYTES : UINT64_MAX;
    if (status == HAUL_OK)
        status = translate_words(&t, arena, base);
    if (status == HAUL_OK)
        status = put_words(plan, arena, base);
    haul__release(&plan->context->allocator, compacted, bytes);
    return status == HAUL_OK ? haul__tell(plan->context, listener, total, total) : status;
}

/* ---- And back. */

const void *haul__compact_again(const haul_plan *plan, const void *arena)
{
    const haul__clusters *clusters;
    unsigned char *memory;
    size_t i;
    if (!plan->ordered)
        return arena;
    clusters = &plan->ordered->clusters;
    memory = plan->ordered->compacted;
    for (i = 0; i < clusters->count; i++) {
        const haul__cluster *cluster = &clusters->at[clusters->by_place[i]];
        memcpy(memory + cluster->compact, (const unsigned char *)arena + cluster->place,
               cluster->bytes);
    }
    return memory;
}

/* Words of an arena that no bit of a block tells, written over the bytes that gather has copied.
 *
 * They are lists by address: explicit relocations, fixed words, tagged pointers, and pointers to no
 * elements. Each piece of the arena takes those that lie in it. A word that lies in two pieces is
 * written to each in part, and is compared with the plan each time.
 */
#include "pack/special_words.h"
#include "pack/stale.h"
#include "pack/translate.h"

/* Writes the part of a word that lies in the piece. */
static void put_bytes(const haul__piece *piece, unsigned char *memory, uint64_t at,
                      const void *word, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        if (at + i - piece->at < piece->bytes)
            memory[(size_t)(at + i) - piece->at] = ((const unsigned char *)word)[i];
}

static void put_word(const haul__piece *piece, unsigned char *memory, uint64_t at, uintptr_t word)
{
    put_bytes(piece, memory, at, &word, sizeof word);
}

/* One word of a list; its place in the arena is `at`. */
typedef struct exception {
    haul__gathering *g;
    const haul__piece *piece;
    unsigned char *memory;
    size_t i;
    uint64_t at;
} exception;

static int begins_here(const exception *e)
{
    return e->at >= e->piece->at;
}

static haul_status put_explicit(const exception *e)
{
    const haul__explicit *odd = &e->g->plan->found.explicit[e->i];
    haul_status status = haul__check_explicit(e->g->plan, odd);
    if (status != HAUL_OK)
        return status;
    put_word(e->piece, e->memory, e->at, haul__explicit_word(e->g->plan, odd, e->g->base));
    e->g->nulls += !odd->value && begins_here(e);
    return HAUL_OK;
}

static int fits(int64_t value, size_t bytes)
{
    return bytes == 8 || (value >= INT32_MIN && value <= INT32_MAX);
}

/* The distance in the copy. In the source the word led `lead` bytes beside the target; it does so
 * in the copy too. */
static haul_status find_distance(haul_plan *plan, const haul__fixed *kept, uint64_t at,
                                 uint64_t *word)
{
    const uint64_t here = haul__final_place(plan, at);
    haul_field_place field;
    int64_t distance, lead;
    uint64_t place;
    haul_status status;
    field.offset = 0;
    field.bytes = kept->bytes;
    distance = haul__read_stored((const void *)kept->address, &field);
    if (!haul__offset_of(plan, (uintptr_t)kept->becomes, &place)) {
        *word = 0; /* it leads to no elements */
        return HAUL_OK;
    }
    lead = (intptr_t)((uintptr_t)distance - ((uintptr_t)kept->becomes - kept->address));
    if (plan->ordered)
        place = haul__target(plan, kept->address, (uintptr_t)kept->becomes);
    distance = lead + (int64_t)(place - here);
    *word = (uint64_t)distance;
    if (distance != 0 && fits(distance, kept->bytes))
        return HAUL_OK;
    /* In the copy the word itself happens to follow its target, which is the end of a range. So it
     * leads to no elements (else it would be 0 on the host too), and null is right. */
    if (distance == 0 && lead == 0)
        return HAUL_OK;
    status =
        haul__fail(&plan->context->error, HAUL_ERROR_LIMIT,
                   distance ? "a distance of %lld bytes in the copy does not fit %u bytes"
                            : "a distance is %lld in the copy, by chance; %u bytes of 0 mean null",
                   (long long)distance, (unsigned)kept->bytes);
    haul__name_changed(plan, kept->address, 0);
    return status;
}

static haul_status put_fixed(const exception *e)
{
    const haul__fixed *kept = &e->g->plan->found.fixed[e->i];
    uint64_t word = kept->becomes;
    uint32_t narrow;
    haul_status status = haul__check_fixed(e->g->plan, kept);
    if (status == HAUL_OK && kept->kind == HAUL__FIXED_DISTANCE)
        status = find_distance(e->g->plan, kept, e->at, &word);
    if (status != HAUL_OK)
        return status;
    narrow = (uint32_t)word;
    if (kept->bytes == sizeof narrow)
        put_bytes(e->piece, e->memory, e->at, &narrow, sizeof narrow);
    else
        put_bytes(e->piece, e->memory, e->at, &word, sizeof word);
    return HAUL_OK;
}

haul_status haul__refuse_tag(haul_plan *plan, const haul__tagged *tagged)
{
    haul_status status = haul__fail(
        &plan->context->error, HAUL_ERROR_LIMIT,
        "its address in the copy has bits of its tag, 0x%zx: no memory there keeps these bits free",
        (size_t)tagged->mask);
    haul__name_changed(plan, tagged->address, 0);
    return status;
}

static haul_status put_tagged(const exception *e)
{
    const haul__tagged *tagged = &e->g->plan->found.tagged[e->i];
    uintptr_t word = 0;
    haul_status status = haul__check_tagged(e->g->plan, tagged);
    if (status == HAUL_OK && !haul__tagged_word(e->g->plan, tagged, e->g->there, &word))
        status = haul__refuse_tag(e->g->plan, tagged);
    if (status != HAUL_OK)
        return status;
    put_word(e->piece, e->memory, e->at, word);
    e->g->nulls += !tagged->value && begins_here(e);
    return HAUL_OK;
}

/* A pointer to no elements becomes null, unless it leads to a described byte or to the end of a
 * range. */
static haul_status put_empty(const exception *e)
{
    uint64_t place;
    if (!haul__offset_of(e->g->plan, haul__load_word((const void *)e->g->plan->found.empty[e->i]),
                         &place))
        put_word(e->piece, e->memory, e->at, 0);
    return HAUL_OK;
}

/* ---- Lists. */

typedef struct word {
    uintptr_t address;
    size_t bytes;
} word;

static word word_at(uintptr_t address, size_t bytes)
{
    word w;
    w.address = address;
    w.bytes = bytes;
    return w;
}

static word explicit_at(const haul__found *found, size_t i)
{
    return word_at(found->explicit[i].address, HAUL__WORD);
}

static word fixed_at(const haul__found *found, size_t i)
{
    return word_at(found->fixed[i].address, found->fixed[i].bytes);
}

static word tagged_at(const haul__found *found, size_t i)
{
    return word_at(found->tagged[i].address, HAUL__WORD);
}

static word empty_at(const haul__found *found, size_t i)
{
    return word_at(found->empty[i], HAUL__WORD);
}

/* Puts the words of a list that lie in the piece, from *next on. *next becomes the first that is
 * not wholly written. */
HAUL__INLINE haul_status put_list(exception *e, size_t *next, size_t count,
                                  word (*find)(const haul__found *found, size_t i),
                                  haul_status (*put)(const exception *e))
{
    const haul__found *found = &e->g->plan->found;
    const uint64_t end = e->piece->at + e->piece->bytes;
    haul_status status = HAUL_OK;
    for (e->i = *next; e->i < count && status == HAUL_OK; e->i++) {
        const word w = find(found, e->i);
        e->at = haul__translate(&found->map, w.address);
        if (e->at >= end)
            break;
        status = put(e);
        if (e->at + w.bytes <= end)
            *next = e->i + 1;
    }
    return status;
}

haul_status haul__gather_exceptions(haul__gathering *g, const haul__piece *piece,
                                    unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    exception e = { g, piece, memory, 0, 0 };
    haul_status status = put_list(&e, &g->empty, found->empty_count, empty_at, put_empty);
    if (status == HAUL_OK)
        status = put_list(&e, &g->explicit, found->explicit_count, explicit_at, put_explicit);
    if (status == HAUL_OK)
        status = put_list(&e, &g->fixed, found->fixed_count, fixed_at, put_fixed);
    return status == HAUL_OK ? put_list(&e, &g->tagged, found->tagged_count, tagged_at, put_tagged)
                             : status;
}

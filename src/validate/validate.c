/* Checks of a graph that comes from strangers, in the block that it was copied to.
 *
 * The graph is discovered again, as in any source, but within the block: a range that leaves it is
 * refused before it is read. Discovery finds what a graph can have wrong: counts, ends,
 * terminators, alignment, arms that overlap, switches without a case, words that are a pointer and
 * data. Then the marks are compared with the image: its bits must tell the slots, no more and no
 * less, and bytes without a mark must be zeros. So a word that the program may follow has been
 * followed here.
 *
 * The block is read once from front to back, beside the marks. Discovery itself does no more work
 * than the block's size allows (haul__bounds).
 */
#include "validate/validate.h"

#include "base/status.h"
#include "layout/layout.h"
#include "map/exclusions.h"
#include "map/forms.h"
#include "validate/claims.h"
#include "walk/place.h"

#define MARKS_MOST 64u /* times that large ranges may be marked, at most */

typedef struct check {
    const haul__claimed *claimed;
    const haul__left *left; /* NULL: it is an image */
    haul__discovery walk;
    haul__found found;
    haul__placed placed;
    size_t next_special; /* the first that does not lie before the granule that is checked */
} check;

/* The status, with the path of a byte of the block. */
static haul_status refuse_at(check *c, uintptr_t address, const char *why)
{
    haul_error *error = &c->claimed->context->error;
    const size_t offset = (size_t)(address - (uintptr_t)c->claimed->offsets->block);
    haul_status status;
    if (c->left)
        status = haul__fail(error, HAUL_ERROR_GRAPH,
                            "byte %zu of the arena as the device has left it: %s", offset, why);
    else
        status =
            haul__fail(error, HAUL_ERROR_FORMAT, "byte %zu of the image's arena: %s", offset, why);
    haul__name_near(&c->walk, address);
    return status;
}

/* ---- Marks. */

/* The bytes of a granule that may be other than 0. */
static uint16_t live_bytes(const haul__block *block, uintptr_t address)
{
    const unsigned granule = haul__granule_in_block(address);
    if (!block || !haul__is_placed(block, address))
        return 0;
    return (uint16_t)(haul__byte_mask(block, granule) &
                      ~haul__excluded_mask(block, granule, HAUL__UNSENT));
}

/* A pointer on the grid that no mark tells: a bit of the image does. */
static int is_explicit_on_grid(const haul__special_word *word)
{
    return word->kind == HAUL__EXPLICIT && word->address % HAUL__WORD == 0;
}

/* The bits of a granule that explicit relocations ask for. Granules come in order of address. */
static unsigned explicit_bits(check *c, uintptr_t granule)
{
    const haul__special_word *special = c->found.special;
    const size_t count = c->found.special_count;
    unsigned bits = 0;
    size_t i;
    while (c->next_special < count && special[c->next_special].address < granule)
        c->next_special++;
    for (i = c->next_special; i < count && special[i].address - granule < HAUL__GRANULE; i++)
        if (is_explicit_on_grid(&special[i]))
            bits |= special[i].address == granule ? 1u : 2u;
    return bits;
}

/* The bytes of a granule that belong to no object get what was there before. The bits of words
 * among them that do. */
static unsigned put_rest(const check *c, const haul__block *block, size_t granule)
{
    const unsigned word = (1u << HAUL__WORD) - 1u;
    unsigned char *at = c->claimed->offsets->block + granule * HAUL__GRANULE;
    const unsigned live = block && haul__is_placed(block, (uintptr_t)at)
                              ? haul__byte_mask(block, haul__granule_in_block((uintptr_t)at))
                              : 0;
    unsigned byte;
    for (byte = 0; byte < HAUL__GRANULE; byte++)
        if (!(live >> byte & 1))
            at[byte] = c->left->rest[granule * HAUL__GRANULE + byte];
    return (live & word ? 0u : 1u) | (live >> HAUL__WORD ? 0u : 2u);
}

/* A word that is 0 leads nowhere, with a bit or without: a pointer to no elements may have been one
 * in the source, and is null here. */
static haul_status check_granule(check *c, const haul__block *block, size_t granule)
{
    const unsigned char *at = c->claimed->offsets->block + granule * HAUL__GRANULE;
    const uintptr_t address = (uintptr_t)at;
    const uint64_t *bitmap = c->claimed->offsets->bitmap;
    unsigned wanted = explicit_bits(c, address), differ, wrong, byte;
    uint16_t dead;
    if (block)
        wanted |= (unsigned)(haul__placed_slots(&c->found.map, block, haul__cell_number(address)) >>
                             (haul__granule_in_cell(address) * 2)) &
                  3u;
    differ = ((unsigned)(bitmap[granule / 32] >> (granule % 32 * 2)) & 3u) ^ wanted;
    wrong = differ & ((haul__load_word(at) != 0 ? 1u : 0u) |
                      (haul__load_word(at + HAUL__WORD) != 0 ? 2u : 0u));
    if (c->left)
        wrong &= ~put_rest(c, block, granule);
    if (wrong)
        return refuse_at(c, address + (wrong & 1u ? 0 : HAUL__WORD),
                         "a bit calls it a pointer and its types do not, or the other way");
    if (c->claimed->offsets->kept) /* by an arena */
        c->claimed->offsets->kept[granule / 32] ^= (uint64_t)differ << (granule % 32 * 2);
    if (c->left)
        return HAUL_OK;
    dead = (uint16_t)~live_bytes(block, address);
    for (byte = 0; byte < HAUL__GRANULE; byte++)
        if ((dead >> byte & 1) && at[byte])
            return refuse_at(c, address + byte, "it belongs to no object, and is not 0");
    return HAUL_OK;
}

static haul_status check_marks(check *c)
{
    const size_t count = c->claimed->offsets->bytes / HAUL__GRANULE;
    const haul__block *block = haul__map_find(&c->found.map, (uintptr_t)c->claimed->offsets->block);
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        const uintptr_t address = (uintptr_t)c->claimed->offsets->block + i * HAUL__GRANULE;
        if (haul__granule_in_block(address) == 0)
            block = haul__map_find(&c->found.map, address);
        status = check_granule(c, block, i);
    }
    return status;
}

/* ---- Words that no bit tells. */

/* May the word be another one? Null is no pointer, nor is what belongs to no object. */
static int is_passed_over(const check *c, const haul__odd_word *word)
{
    const unsigned char *at = c->claimed->offsets->block + word->offset;
    const haul__block *block;
    if (!(haul__load_word(at) & ~(uintptr_t)word->mask))
        return 1;
    if (!c->left)
        return 0;
    block = haul__map_find(&c->found.map, (uintptr_t)at);
    return !block || !haul__is_placed(block, (uintptr_t)at) ||
           !(haul__byte_mask(block, haul__granule_in_block((uintptr_t)at)) >>
                 ((uintptr_t)at & (HAUL__GRANULE - 1)) &
             1);
}

/* The next word of the list that leads somewhere, from number `i` on. */
static size_t next_word(const check *c, size_t i)
{
    const haul__offsets *offsets = c->claimed->offsets;
    while (i < offsets->word_count && is_passed_over(c, &offsets->words[i]))
        i++;
    return i;
}

/* Null, or what stands for it? The array of such a limit is empty. */
static int is_nowhere(const check *c, uintptr_t value)
{
    return c->left && (!value || value == c->left->nowhere);
}

static haul_status check_words(check *c)
{
    const haul__claimed *claimed = c->claimed;
    const haul__special_word *found = c->found.special;
    size_t i, next = next_word(c, 0);
    for (i = 0; i < c->found.special_count; i++) {
        if (is_nowhere(c, (uintptr_t)found[i].value) &&
            is_nowhere(c, (uintptr_t)(found[i].value + found[i].addend)) && found[i].is_limit)
            continue;
        /* a limit stands where the walk puts it: at the end of its array, or null */
        if (found[i].is_limit && found[i].addend)
            return refuse_at(c, found[i].address, "it is not at the end of its array");
        if (!haul__is_pointer(&found[i]) || is_explicit_on_grid(&found[i]) ||
            !((uintptr_t)found[i].value & ~found[i].mask))
            continue;
        if (next == claimed->offsets->word_count ||
            claimed->offsets->words[next].offset !=
                found[i].address - (uintptr_t)claimed->offsets->block ||
            claimed->offsets->words[next].mask != found[i].mask)
            return refuse_at(c, found[i].address, "its pointer is not in the list of words");
        next = next_word(c, next + 1);
    }
    if (next < claimed->offsets->word_count)
        return refuse_at(
            c, (uintptr_t)claimed->offsets->block + (uintptr_t)claimed->offsets->words[next].offset,
            "the list of words calls it a pointer and its types do not");
    return HAUL_OK;
}

haul__bounds haul__block_bounds(const haul__offsets *offsets)
{
    haul__bounds bounds;
    bounds.begin = (uintptr_t)offsets->block + HAUL__GRANULE;
    bounds.end = (uintptr_t)offsets->block + offsets->bytes;
    bounds.work = offsets->bytes < SIZE_MAX / MARKS_MOST ? offsets->bytes * MARKS_MOST : SIZE_MAX;
    return bounds;
}

haul_status haul__validate(const haul__claimed *claimed, const haul__left *left)
{
    const haul__bounds bounds = haul__block_bounds(claimed->offsets);
    haul_status status;
    check c;
    c.claimed = claimed;
    c.left = left;
    c.next_special = 0;
    status = haul__record(claimed->context, claimed->roots, claimed->root_count, &bounds, &c.found,
                          &c.walk);
    if (status != HAUL_OK)
        return status;
    status = haul__layout(claimed->context, &c.found, &c.placed);
    if (status == HAUL_OK)
        status = check_marks(&c);
    if (status == HAUL_OK)
        status = check_words(&c);
    if (status == HAUL_OK && left) /* before the claims, which take the list of targets */
        status = left->look(left->user, &c.walk);
    if (status == HAUL_OK)
        status = haul__check_claims(&c.walk);
    haul__record_close(&c.walk);
    haul__found_drop(claimed->context, &c.found);
    return status;
}

/* Offsets of an image become pointers into its block.
 *
 * The bitmap tells most of them, the list the others: those off the grid of words, and those with
 * high tags. Each must lead into the block or to its end. No byte belongs to two of them, or what
 * it becomes would depend on the block's address.
 */
#include "image/relocate.h"

#include "base/status.h"
#include "image/head.h"
#include "map/address.h"

static haul_status refuse_word(haul_error *error, uint64_t offset)
{
    return haul__fail(error, HAUL_ERROR_FORMAT,
                      "not a whole image: the pointer at byte %llu of its arena leads out of it",
                      (unsigned long long)offset);
}

size_t haul__image_relocate_bits(const haul__offsets *o, size_t first, size_t end)
{
    size_t i;
    for (i = first; i < end; i++) {
        uint64_t bits = o->bitmap[i];
        for (; bits; bits &= bits - 1) {
            const size_t at = (i * 64 + haul__lowest64(bits)) << HAUL__WORD_SHIFT;
            uintptr_t word;
            if (!haul__fits(at, HAUL__WORD, o->bytes))
                return at;
            word = haul__load_word(o->block + at);
            if (!word)
                continue;
            word -= o->at;
            if (word < HAUL__GRANULE || word > o->bytes)
                return at;
            word += (uintptr_t)o->block;
            memcpy(o->block + at, &word, sizeof word);
        }
    }
    return HAUL__NONE_WRONG;
}

haul_status haul__image_refuse_bit(const haul__offsets *o, size_t at, haul_error *error)
{
    return at < o->bytes ? refuse_word(error, at)
                         : haul__image_refuse(error, "its bitmap has a bit behind the arena");
}

static haul_status relocate_word(const haul__offsets *o, const haul__odd_word *entry,
                                 haul_error *error)
{
    unsigned char *at = o->block + entry->offset;
    const uintptr_t mask = (uintptr_t)entry->mask, below = mask ? HAUL__IMAGE_BELOW : 0;
    const uintptr_t word = haul__load_word(at);
    uintptr_t pointer = word & ~mask;
    if (!pointer)
        return HAUL_OK;
    if (o->at)
        pointer += below - o->at;
    if (pointer > o->bytes + 2 * below)
        return refuse_word(error, entry->offset);
    pointer += (uintptr_t)o->block - below;
    if (pointer & mask)
        return haul__fail(error, HAUL_ERROR_LIMIT, "the block's address has bits of a tag, 0x%zx",
                          (size_t)mask);
    pointer |= word & mask;
    memcpy(at, &pointer, sizeof pointer);
    return HAUL_OK;
}

/* Does a bit call one of the word's bytes a pointer's? */
static int has_bit(const haul__offsets *o, uint64_t offset)
{
    const uint64_t first = offset >> HAUL__WORD_SHIFT;
    const uint64_t last = (offset + HAUL__WORD - 1) >> HAUL__WORD_SHIFT;
    return (o->bitmap[first / 64] >> first % 64 | o->bitmap[last / 64] >> last % 64) & 1;
}

haul_status haul__image_relocate_words(const haul__offsets *o, haul_error *error)
{
    haul_status status = HAUL_OK;
    uint64_t end = 0;
    size_t i;
    for (i = 0; i < o->word_count && status == HAUL_OK; i++) {
        const haul__odd_word *entry = &o->words[i];
        if (entry->offset < end || entry->offset > o->bytes - HAUL__WORD ||
            (uintptr_t)entry->mask != entry->mask)
            return haul__image_refuse(
                error, "its list of words is not in order, or leads out of the arena");
        if (has_bit(o, entry->offset))
            return haul__fail(error, HAUL_ERROR_FORMAT,
                              "not a whole image: its list has a pointer at byte %llu of its "
                              "arena, and its bitmap one over it",
                              (unsigned long long)entry->offset);
        end = entry->offset + HAUL__WORD;
        status = relocate_word(o, entry, error);
    }
    return status;
}

/* Special words: what they become in a copy of the graph, and what they are back on the host.
 *
 * A special word keeps its addend and its tag (map/found.h). So in the copy, as on the host, the
 * word without its tag is the address of the copied target, less the addend; and a distance is that
 * address, less the word's own. Plans and arenas differ only in the way from an address on the host
 * to one in the copy and back, which a space tells.
 *
 * A device patches a word if the whole word lies in a range of addresses. A tagged pointer lies in
 * none, so the host writes the address on the device, which is known by then. When such a copy
 * moves to another device, the host reads its tagged pointers back and works them out again. An
 * address with bits of the mask is refused: address and tag could not be told apart. But a pointer
 * to no elements leads somewhere only by chance, so it becomes the tag alone.
 */
#include "pack/special_words.h"

#include "base/list.h"
#include "base/status.h"

static haul_status refuse(const haul__space *space, const haul__special_word *word, int64_t becomes)
{
    if (word->kind == HAUL__TAGGED)
        haul__fail(space->error, HAUL_ERROR_LIMIT,
                   "its address in the copy has bits of its tag, 0x%zx: no memory there keeps "
                   "these bits free",
                   (size_t)word->mask);
    else
        haul__fail(space->error, HAUL_ERROR_LIMIT,
                   becomes ? "a distance of %lld bytes in the copy does not fit %u bytes"
                           : "a distance is %lld in the copy, by chance; %u bytes of 0 mean null",
                   (long long)becomes, (unsigned)word->bytes);
    space->name(space, word);
    return HAUL_ERROR_LIMIT;
}

static uint64_t base_for(const haul__space *space, const haul__special_word *word)
{
    return word->kind == HAUL__EXPLICIT ? space->base : space->final_base;
}

/* A distance of 0 means null. If the word did not lead beside its target, it is null in the copy
 * only because the word itself happens to follow its target there, which is the end of a range. So
 * it leads to no elements (else it would be 0 on the host too), and null is right. */
static int fits(const haul__special_word *word, int64_t distance)
{
    if (distance == 0)
        return word->addend == 0;
    return word->bytes == sizeof distance || (distance >= INT32_MIN && distance <= INT32_MAX);
}

uintptr_t haul__special_pointer(const haul__special_word *word, uint64_t value)
{
    return (word->bytes == sizeof(int32_t) ? (uintptr_t)(intptr_t)(int32_t)(uint32_t)value
                                           : (uintptr_t)value) &
           ~word->mask;
}

/* 0: the result cannot be told there from another word. */
static int translate(const haul__space *space, const haul__special_word *word, uint64_t value,
                     uint64_t *becomes)
{
    const uintptr_t addend = (uintptr_t)word->addend, tag = (uintptr_t)value & word->mask;
    const uintptr_t pointer = haul__special_pointer(word, value);
    const uint64_t base = base_for(space, word);
    uintptr_t copy, origin = word->kind == HAUL__DISTANCE ? word->address : 0;
    if (word->kind == HAUL__FIXED) {
        *becomes = word->addend;
        return 1;
    }
    *becomes = tag;
    if ((!pointer && !word->is_limit) ||
        !space->to_copy(space, word, origin + pointer + addend, base, &copy))
        return 1;
    copy -= word->is_limit ? 0 : addend;
    if (word->kind == HAUL__DISTANCE) {
        *becomes =
            (uint64_t)(int64_t)(intptr_t)(copy - (uintptr_t)base - space->place(space, word));
        return fits(word, (int64_t)*becomes);
    }
    if (copy & word->mask)
        return word->is_empty;
    *becomes = copy | tag;
    return 1;
}

haul_status haul__special_to_copy(const haul__space *space, const haul__special_word *word,
                                  uint64_t value, uint64_t *becomes)
{
    return translate(space, word, value, becomes) ? HAUL_OK
                                                  : refuse(space, word, (int64_t)*becomes);
}

int haul__special_to_host(const haul__space *space, const haul__special_word *word, uintptr_t value,
                          uintptr_t came, uintptr_t *back)
{
    const uintptr_t addend = (uintptr_t)word->addend, mask = word->mask;
    uintptr_t target;
    uint64_t sent;
    *back = value;
    if (word->is_limit)
        return 1;
    translate(space, word, value, &sent);
    if (came == sent)
        return 1;
    *back = came & mask;
    if (!(came & ~mask))
        return 1;
    if ((came & ~mask) == (sent & ~mask)) { /* the tag alone has changed */
        *back |= value & ~mask;
        return 1;
    }
    if (!space->to_host(space, (came & ~mask) + addend, base_for(space, word), &target))
        return 0;
    *back |= target - addend;
    return ((target - addend) & mask) == 0;
}

/* ---- Lists. */

static int ends_by(const void *words, size_t i, uint64_t address)
{
    const haul__special_word *word = (const haul__special_word *)words + i;
    return word->address + word->bytes <= address;
}

size_t haul__first_special(const haul__special_word *words, size_t count, uintptr_t address)
{
    return haul__search(words, 0, count, address, ends_by);
}

uint16_t haul__special_mask(const haul__found *found, uintptr_t granule)
{
    const haul__special_word *words = found->special;
    size_t i = haul__first_special(words, found->special_count, granule), byte;
    uint16_t mask = 0;
    for (; i < found->special_count && words[i].address < granule + HAUL__GRANULE; i++)
        for (byte = 0; byte < words[i].bytes; byte++)
            if (words[i].address + byte - granule < HAUL__GRANULE)
                mask |= (uint16_t)(1u << (words[i].address + byte - granule));
    return mask;
}

void haul__write_explicit(const haul__space *space, size_t first, size_t count, uint64_t *offsets)
{
    const int has_others = space->count > space->explicit_count;
    size_t i = has_others ? 0 : first, skip = has_others ? first : 0;
    for (; count > 0; i++) {
        if (space->words[i].kind != HAUL__EXPLICIT || (skip > 0 && skip--))
            continue;
        *offsets++ = space->place(space, &space->words[i]);
        count--;
    }
}

/* ---- Tagged pointers of a copy that moves. */

static size_t next_tagged(const haul__space *space, size_t i)
{
    while (i < space->count && space->words[i].kind != HAUL__TAGGED)
        i++;
    return i;
}

int haul__next_tagged_run(const haul__space *space, size_t most, haul__tagged_run *run)
{
    size_t i = next_tagged(space, run->end), place;
    if (i == space->count)
        return 0;
    run->first = i;
    run->at = place = space->place(space, &space->words[i]);
    do {
        run->bytes = place + HAUL__WORD - run->at;
        run->end = i + 1;
        i = next_tagged(space, i + 1);
        if (i == space->count)
            break;
        place = space->place(space, &space->words[i]);
    } while (place >= run->at + run->bytes - HAUL__WORD && place + HAUL__WORD - run->at <= most);
    return 1;
}

haul_status haul__move_tagged(const haul__space *space, const haul__tagged_run *run, void *memory,
                              uint64_t from)
{
    size_t i;
    for (i = run->first; i < run->end; i = next_tagged(space, i + 1)) {
        const haul__special_word *word = &space->words[i];
        unsigned char *at = (unsigned char *)memory + (space->place(space, word) - run->at);
        const uintptr_t tag = haul__load_word(at) & word->mask;
        uintptr_t pointer = haul__load_word(at) & ~word->mask;
        if (!pointer ||
            pointer + (uintptr_t)word->addend - (uintptr_t)from > (uintptr_t)space->bytes)
            continue;
        pointer += (uintptr_t)(space->final_base - from);
        if ((pointer & word->mask) && !word->is_empty)
            return refuse(space, word, 0);
        pointer = (pointer & word->mask ? 0 : pointer) | tag;
        memcpy(at, &pointer, sizeof pointer);
    }
    return HAUL_OK;
}

/* Look-ups in a present table (present_records.h).
 *
 * Any thread looks up while another changes the table: it reads the version before and after, and
 * begins again if it has changed. The thread that may change the table reads the same records
 * without the version (`held`).
 */
#include "environment/present_records.h"
#include "base/pool.h"

#define GET(place) haul__atomic_load(&(place))

enum { ABSENT, THERE, CHANGED };

HAUL__INLINE int has_changed(const haul__present *table, uint32_t version)
{
    return GET(table->version) != version;
}

/* How many pieces begin in the granule of a byte or before it. */
HAUL__INLINE uint32_t count_begun(const haul__present_page *p, unsigned byte)
{
    const unsigned unit = byte >> HAUL__PRESENT_UNIT;
    return GET(p->before[unit / 32]) +
           haul__bits32(GET(p->bits[unit / 32]) & (UINT32_MAX >> (31 - unit % 32)));
}

/* The same in a crowded page: how many begin at the byte or before it. */
static uint32_t search(const haul__present_page *p, uint32_t count, unsigned byte)
{
    uint32_t i = 0, high = count;
    while (i < high) {
        const uint32_t middle = i + (high - i) / 2;
        if (haul__first_of(GET(p->pieces[middle].place)) <= byte)
            i = middle + 1;
        else
            high = middle;
    }
    return i;
}

HAUL__INLINE void copy_piece(haul__page_piece *to, const haul__page_piece *from)
{
    to->place = GET(from->place);
    to->delta = GET(from->delta);
    to->group = GET(from->group);
}

/* Reads the piece of a page that may hold a byte, the last one that begins at or before it.
 * is_held: nobody changes the table meanwhile. */
HAUL__INLINE int read_page(const haul__present *table, uint32_t version,
                           const haul__present_page *p, unsigned byte, int is_held,
                           haul__page_piece *found)
{
    uint32_t i = count_begun(p, byte);
    if (HAUL__UNLIKELY(GET(p->is_crowded))) {
        const uint32_t count = GET(p->count);
        if (!is_held && has_changed(table, version))
            return CHANGED;
        i = search(p, count, byte);
    }
    if (!is_held && has_changed(table, version))
        return CHANGED;
    /* in the granule of the byte, the range may begin behind it */
    i -= i > 0 && haul__first_of(GET(p->pieces[i - 1].place)) > byte;
    if (i > 0)
        copy_piece(found, &p->pieces[i - 1]);
    if (!is_held && has_changed(table, version))
        return CHANGED;
    return i > 0 && byte <= haul__last_of(found->place) ? THERE : ABSENT;
}

/* The word of an address's page: *word, 0 if nothing is there. */
HAUL__INLINE int read_word(const haul__present *table, uint32_t version, uintptr_t address,
                           uintptr_t *word)
{
    const haul__directory *directory = (const haul__directory *)GET(table->directory);
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    uintptr_t pages = 0, found;
    size_t at;
    *word = 0;
    if (!directory)
        return ABSENT;
    at = (size_t)(haul__hash(block) >> 32) & directory->mask;
    while ((found = GET(directory->slots[at].block)) != 0 && found != block)
        at = (at + 1) & directory->mask;
    if (found)
        pages = GET(directory->slots[at].pages);
    if (has_changed(table, version))
        return CHANGED;
    if (!pages)
        return ABSENT;
    *word =
        GET(((const uintptr_t *)pages)[address >> HAUL__PRESENT_SHIFT & (HAUL__PRESENT_PAGES - 1)]);
    if (has_changed(table, version))
        return CHANGED;
    return *word ? THERE : ABSENT;
}

/* The piece of a page that one range covers. */
HAUL__INLINE void read_whole(uintptr_t word, haul__page_piece *found)
{
    const haul__page_piece *whole = (const haul__page_piece *)(word - 1);
    found->delta = GET(whole->delta);
    found->group = GET(whole->group);
    found->place = (uint32_t)(HAUL__PRESENT_SPAN - 1) << HAUL__PRESENT_LAST | HAUL__PRESENT_BEGUN |
                   HAUL__PRESENT_GOES_ON;
}

HAUL__INLINE int read_piece(const haul__present *table, uint32_t version, uintptr_t address,
                            haul__page_piece *found)
{
    uintptr_t word;
    int there = version & 1 ? CHANGED : read_word(table, version, address, &word);
    if (there != THERE)
        return there;
    if (!(word & 1))
        return read_page(table, version, (const haul__present_page *)word,
                         (unsigned)(address & (HAUL__PRESENT_SPAN - 1)), 0, found);
    read_whole(word, found);
    return has_changed(table, version) ? CHANGED : THERE;
}

static void tell(haul__found_range *found, uintptr_t address, const haul__page_piece *one)
{
    found->delta = one->delta;
    found->group = one->group;
    found->end = (address & ~(HAUL__PRESENT_SPAN - 1)) + haul__last_of(one->place) + 1;
    found->goes_on = (one->place & HAUL__PRESENT_GOES_ON) != 0;
}

HAUL__HOT static int find(const haul__present *table, uintptr_t address, haul__found_range *found)
{
    unsigned spins = 0;
    haul__page_piece one = { 0, 0, 0 };
    int there = read_piece(table, GET(table->version), address, &one);
    while (HAUL__UNLIKELY(there == CHANGED)) {
        haul__pool_rest(&spins);
        there = read_piece(table, GET(table->version), address, &one);
    }
    tell(found, address, &one);
    return there == THERE;
}

int haul__present_find(const haul__present *table, uintptr_t address, haul__found_range *found)
{
    return find(table, address, found);
}

/* The words of an address's block; NULL: there are none. Nobody changes the table meanwhile. */
static HAUL__NOINLINE const uintptr_t *other_pages_held(haul__present *table, uintptr_t block)
{
    const haul__directory *directory = (const haul__directory *)table->directory;
    const haul__present_slot *at =
        directory ? &directory->slots[haul__present_slot_of(directory, block)] : NULL;
    if (!at || !at->block)
        return NULL;
    table->last_block = block;
    table->last_pages = at->pages;
    return (const uintptr_t *)at->pages;
}

/* The same. Addresses come close together, so it often is the last one again. */
HAUL__INLINE const uintptr_t *pages_held(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    return HAUL__LIKELY(table->last_block == block) ? (const uintptr_t *)table->last_pages
                                                    : other_pages_held(table, block);
}

/* The word of an address's page; 0: nothing is there. Nobody changes the table meanwhile. */
HAUL__INLINE uintptr_t word_held(haul__present *table, uintptr_t address)
{
    const uintptr_t *pages = pages_held(table, address);
    return pages ? pages[address >> HAUL__PRESENT_SHIFT & (HAUL__PRESENT_PAGES - 1)] : 0;
}

HAUL__HOT static int find_held(haul__present *table, uintptr_t address, haul__found_range *found)
{
    const uintptr_t word = word_held(table, address);
    haul__page_piece one;
    if (!word)
        return 0;
    if (word & 1)
        read_whole(word, &one);
    else if (read_page(NULL, 0, (const haul__present_page *)word,
                       (unsigned)(address & (HAUL__PRESENT_SPAN - 1)), 1, &one) != THERE)
        return 0;
    tell(found, address, &one);
    return 1;
}

int haul__present_find_held(haul__present *table, uintptr_t address, haul__found_range *found)
{
    return find_held(table, address, found);
}

/* How many pieces end before a byte; or one fewer. */
HAUL__INLINE uint32_t count_before(const haul__present_page *p, unsigned byte)
{
    const unsigned unit = byte >> HAUL__PRESENT_UNIT;
    const uint32_t before =
        GET(p->before[unit / 32]) +
        haul__bits32(GET(p->bits[unit / 32]) & (((uint32_t)1 << unit % 32) - 1));
    return before > 0 && !GET(p->is_crowded) ? before - 1 : 0;
}

/* The first byte of a page, from that of the address on, that lies in a range;
 * HAUL__PRESENT_SPAN: there is none. */
HAUL__HOT static unsigned next_in_page(const haul__present *table, uint32_t version,
                                       uintptr_t address, int *has_changed_meanwhile)
{
    const unsigned byte = (unsigned)(address & (HAUL__PRESENT_SPAN - 1));
    unsigned next = (unsigned)HAUL__PRESENT_SPAN;
    uintptr_t word;
    const haul__present_page *p;
    uint32_t i, count;
    int there = version & 1 ? CHANGED : read_word(table, version, address, &word);
    if (there == THERE && (word & 1))
        return byte;
    if (there == THERE) {
        p = (const haul__present_page *)word;
        count = GET(p->count);
        i = count_before(p, byte);
        there = has_changed(table, version) ? CHANGED : THERE;
        for (; there == THERE && i < count && next == HAUL__PRESENT_SPAN; i++) {
            const uint32_t place = GET(p->pieces[i].place);
            if (haul__last_of(place) >= byte)
                next = haul__first_of(place) > byte ? haul__first_of(place) : byte;
        }
    }
    *has_changed_meanwhile = there == CHANGED || has_changed(table, version);
    return next;
}

uintptr_t haul__present_next(const haul__present *table, uintptr_t begin, uintptr_t end)
{
    uintptr_t at = begin;
    unsigned spins = 0, next;
    while (at < end) {
        int has_changed_meanwhile = 0;
        next = next_in_page(table, GET(table->version), at, &has_changed_meanwhile);
        if (has_changed_meanwhile) {
            haul__pool_rest(&spins);
            continue;
        }
        if (next < HAUL__PRESENT_SPAN)
            break;
        at = (at & ~(HAUL__PRESENT_SPAN - 1)) + HAUL__PRESENT_SPAN;
        if (at == 0)
            return end;
    }
    if (at < end)
        at = (at & ~(HAUL__PRESENT_SPAN - 1)) + next;
    return at < end ? at : end;
}

/* How many ranges, from the first one on, lie in the page and hold no byte of its pieces. Nobody
 * changes it meanwhile. */
HAUL__HOT static size_t count_clear(const haul__present_page *p, const haul__covered *ranges,
                                    size_t count)
{
    const uintptr_t page_at = ranges->begin & ~(HAUL__PRESENT_SPAN - 1);
    const uint32_t pieces = p->count;
    uint32_t k = count_before(p, (unsigned)(ranges->begin - page_at));
    size_t i;
    for (i = 0; i < count; i++) {
        const uintptr_t first = ranges[i].begin - page_at, bytes = ranges[i].bytes;
        if (first >= HAUL__PRESENT_SPAN || bytes > HAUL__PRESENT_SPAN - first)
            break;
        while (k < pieces && haul__last_of(p->pieces[k].place) < first)
            k++;
        if (k < pieces && haul__first_of(p->pieces[k].place) < first + bytes)
            break;
    }
    return i;
}

/* Most ranges lie in one page, with others. */
size_t haul__present_count_clear(haul__present *table, const haul__covered *ranges, size_t count,
                                 uintptr_t *there)
{
    size_t i = 0;
    while (i < count) {
        const uintptr_t begin = ranges[i].begin, end = begin + ranges[i].bytes,
                        word = word_held(table, begin);
        const size_t clear = word && !(word & 1) ? count_clear((const haul__present_page *)word,
                                                               ranges + i, count - i)
                                                 : 0;
        if (!clear) {
            *there = haul__present_next(table, begin, end);
            if (*there < end)
                return i;
        }
        i += clear ? clear : 1;
    }
    return count;
}

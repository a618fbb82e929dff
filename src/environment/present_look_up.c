/* Look-ups in a present table (present_records.h).
 *
 * Any thread looks up while another changes the table: it reads the version before and after, and
 * begins again if it has changed. The thread that may change the table reads the same records
 * without the version (`held`).
 */
#include "environment/present_find.h"
#include "base/pool.h"

#define GET(place) HAUL__GET(place)

enum { ABSENT, THERE, CHANGED };

HAUL__INLINE int has_changed(const haul__present *table, uint32_t version)
{
    return GET(table->version) != version;
}

/* How many pieces begin in the granule of a byte or before it. */
HAUL__INLINE uint32_t count_begun(const haul__page_bits *bits, unsigned byte)
{
    const unsigned unit = byte >> HAUL__PRESENT_UNIT;
    return GET(bits->before[unit / 32]) +
           haul__bits32(GET(bits->of[unit / 32]) & (UINT32_MAX >> (31 - unit % 32)));
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
HAUL__INLINE int read_page(const haul__present *table, uint32_t version, uintptr_t word,
                           const haul__page_entry *entry, unsigned byte, int is_held,
                           haul__page_piece *found)
{
    const haul__present_page *p = haul__present_record_of(word);
    uint32_t i;
    if (HAUL__UNLIKELY(word & HAUL__PRESENT_CROWDED)) {
        const uint32_t count = GET(p->count);
        if (!is_held && has_changed(table, version))
            return CHANGED;
        i = search(p, count, byte);
    } else {
        i = count_begun(&entry->as.bits, byte);
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

static void tell(haul__found_range *found, uintptr_t address, const haul__page_piece *one)
{
    found->delta = one->delta;
    found->group = one->group;
    found->end = (address & ~(HAUL__PRESENT_SPAN - 1)) + haul__last_of(one->place) + 1;
    found->goes_on = (one->place & HAUL__PRESENT_GOES_ON) != 0;
}

HAUL__INLINE int read_uneven(const haul__present *table, uint32_t version, uintptr_t word,
                             const haul__page_entry *entry, uintptr_t address, int is_held,
                             haul__found_range *found)
{
    const unsigned byte = (unsigned)(address & (HAUL__PRESENT_SPAN - 1));
    haul__page_piece one = { 0, 0, 0 };
    const int there = read_page(table, version, word, entry, byte, is_held, &one);
    if (there == THERE)
        tell(found, address, &one);
    return there;
}

HAUL__INLINE int find_once(const haul__present *table, uintptr_t address, haul__found_range *found)
{
    const uint32_t version = GET(table->version);
    const haul__page_entry *entry = version & 1 ? NULL : haul__present_entry(table, address);
    const uintptr_t word = entry ? GET(entry->word) : 0;
    int there = ABSENT;
    if (version & 1)
        return CHANGED;
    if (word & HAUL__PRESENT_ROW)
        there = haul__present_in_row(entry, word, address, found) ? THERE : ABSENT;
    if (has_changed(table, version))
        return CHANGED;
    return !word || word & HAUL__PRESENT_ROW
               ? there
               : read_uneven(table, version, word, entry, address, 0, found);
}

HAUL__HOT static int find(const haul__present *table, uintptr_t address, haul__found_range *found)
{
    unsigned spins = 0;
    int there = find_once(table, address, found);
    while (HAUL__UNLIKELY(there == CHANGED)) {
        haul__pool_rest(&spins);
        there = find_once(table, address, found);
    }
    return there == THERE;
}

int haul__present_find(const haul__present *table, uintptr_t address, haul__found_range *found)
{
    return find(table, address, found);
}

HAUL__HOT static int find_on(const haul__present *table, uint32_t version, uintptr_t word,
                             const haul__page_entry *entry, uintptr_t address,
                             haul__found_range *found)
{
    int there = CHANGED;
    if (word && !(word & HAUL__PRESENT_ROW) && !(version & 1) && !has_changed(table, version))
        there = read_uneven(table, version, word, entry, address, 0, found);
    return HAUL__LIKELY(there != CHANGED) ? there == THERE : find(table, address, found);
}

int haul__present_find_on(const haul__present *table, uint32_t version, uintptr_t word,
                          const haul__page_entry *entry, uintptr_t address,
                          haul__found_range *found)
{
    return find_on(table, version, word, entry, address, found);
}

const haul__page_entry *haul__present_entry_held(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    const haul__directory *directory = (const haul__directory *)table->directory;
    if (table->last_block != block) {
        const haul__present_slot *at = directory ? haul__present_slot_of(directory, address) : NULL;
        if (!at || !at->block)
            return NULL;
        table->last_block = block;
        table->last_slot = (uintptr_t)at;
    }
    return haul__present_entry_of((const haul__present_slot *)table->last_slot, address);
}

/* In a page that nobody changes meanwhile. */
HAUL__HOT static int find_in_page(uintptr_t word, const haul__page_entry *entry, uintptr_t address,
                                  haul__found_range *found)
{
    return read_uneven(NULL, 0, word, entry, address, 1, found) == THERE;
}

int haul__present_find_in(const haul__page_entry *entry, uintptr_t address,
                          haul__found_range *found)
{
    const uintptr_t word = entry->word;
    if (word & HAUL__PRESENT_ROW)
        return haul__present_in_row(entry, word, address, found);
    return word && find_in_page(word, entry, address, found);
}

int haul__present_find_held(haul__present *table, uintptr_t address, haul__found_range *found)
{
    const haul__page_entry *entry = haul__present_entry_held(table, address);
    return entry && haul__present_find_in(entry, address, found);
}

/* In a row whose pieces are not written, at that version. */
HAUL__INLINE unsigned next_in_row(const haul__page_entry *entry, unsigned byte)
{
    const int begin = GET(entry->as.row.begin);
    haul__page_row row;
    unsigned x, i;
    if ((int)byte < begin)
        return (unsigned)begin;
    row.shape = GET(entry->as.row.shape);
    x = byte - (unsigned)begin;
    i = (unsigned)((uint64_t)x * GET(entry->as.row.inverse) >> HAUL__PRESENT_INVERSE);
    if (i < haul__row_count(&row) && x - i * haul__row_stride(&row) < haul__row_bytes(&row))
        return byte;
    return i + 1 < haul__row_count(&row) ? (unsigned)begin + (i + 1) * haul__row_stride(&row)
                                         : (unsigned)HAUL__PRESENT_SPAN;
}

/* In the record of a page, at that version. */
HAUL__INLINE unsigned next_in_record(const haul__present *table, uint32_t version,
                                     const haul__present_page *p, unsigned byte)
{
    const uint32_t count = GET(p->count);
    uint32_t i;
    if (has_changed(table, version))
        return byte;
    i = search(p, count, byte);
    if (i > 0 && haul__last_of(GET(p->pieces[i - 1].place)) >= byte)
        return byte;
    return i < count ? haul__first_of(GET(p->pieces[i].place)) : (unsigned)HAUL__PRESENT_SPAN;
}

/* The first byte of a page, from that of the address on, that lies in a range;
 * HAUL__PRESENT_SPAN: there is none. */
static unsigned next_in_page(const haul__present *table, uint32_t version, uintptr_t address,
                             int *has_changed_meanwhile)
{
    const unsigned byte = (unsigned)(address & (HAUL__PRESENT_SPAN - 1));
    const haul__page_entry *entry = version & 1 ? NULL : haul__present_entry(table, address);
    const uintptr_t word = entry ? GET(entry->word) : 0;
    unsigned next = word ? byte : (unsigned)HAUL__PRESENT_SPAN;
    *has_changed_meanwhile = version & 1 || has_changed(table, version);
    if (!*has_changed_meanwhile && haul__present_record_of(word)) {
        const haul__present_page *p = haul__present_record_of(word);
        next = word & HAUL__PRESENT_ROW && GET(p->count) == 0
                   ? next_in_row(entry, byte)
                   : next_in_record(table, version, p, byte);
        *has_changed_meanwhile = has_changed(table, version);
    }
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

/* A place that is read here may be given to a later change meanwhile: then too many have begun. */
int haul__present_is_quiet(const haul__present *table, uintptr_t begin, uintptr_t end,
                           uint32_t *since)
{
    const uint32_t done = GET(table->done), begun = GET(table->begun);
    uint32_t i;
    if (begun - *since >= HAUL__PRESENT_LATELY)
        return 0;
    for (i = *since; i != begun; i++) {
        const uint32_t at = i & (HAUL__PRESENT_LATELY - 1);
        if (GET(table->lately[at].begin) < end && GET(table->lately[at].end) > begin)
            return 0;
    }
    if (GET(table->begun) - *since >= HAUL__PRESENT_LATELY)
        return 0;
    *since = done;
    return 1;
}

/* How many ranges, from the first one on, lie in the page and hold no byte of its pieces. Nobody
 * changes it meanwhile. */
HAUL__HOT static size_t count_clear(const haul__present_page *p, const haul__covered *ranges,
                                    size_t count)
{
    const uintptr_t page_at = ranges->begin & ~(HAUL__PRESENT_SPAN - 1);
    const uint32_t pieces = p->count,
                   begun = search(p, pieces, (unsigned)(ranges->begin - page_at));
    uint32_t k = begun > 0 ? begun - 1 : 0;
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
        const uintptr_t begin = ranges[i].begin, end = begin + ranges[i].bytes;
        const haul__page_entry *entry = haul__present_entry_held(table, begin);
        const haul__present_page *p = entry ? haul__present_record_of(entry->word) : NULL;
        const size_t clear = p && p->count ? count_clear(p, ranges + i, count - i) : 0;
        if (!clear) {
            *there = haul__present_next(table, begin, end);
            if (*there < end)
                return i;
        }
        i += clear ? clear : 1;
    }
    return count;
}

/* The present table: ranges come and go (present_records.h).
 *
 * A change makes the version odd while it writes records that readers may see. Ranges that begin
 * and end in one page come and go together: the page is changed once. A range alone takes a way of
 * its own (add_piece, remove_piece), which is a sixth shorter.
 */
#include "environment/present_records.h"

/* ---- Memory. */

struct haul__kept {
    struct haul__kept *next;
    size_t bytes;
};

#define SMALLEST 5u /* records have 2^5 bytes, or more */
#define SMALL_CHUNK ((size_t)4 << 10)
#define LARGE_CHUNK ((size_t)1 << 20)

void haul__present_open(haul__present *table, const haul_allocator *allocator)
{
    memset(table, 0, sizeof *table);
    table->allocator = *allocator;
}

void haul__present_close(haul__present *table)
{
    struct haul__kept *kept = table->kept, *next;
    for (; kept; kept = next) {
        next = kept->next;
        haul__release(&table->allocator, kept, kept->bytes);
    }
    memset(table, 0, sizeof *table);
}

/* Memory that is kept until the table closes. */
static void *keep(haul__present *table, size_t bytes)
{
    struct haul__kept *kept;
    if (haul__add_overflows(bytes, HAUL__LINE, &bytes))
        return NULL;
    kept = haul__allocate(&table->allocator, bytes, HAUL__LINE);
    if (!kept)
        return NULL;
    kept->next = table->kept;
    kept->bytes = bytes;
    table->kept = kept;
    table->bytes += bytes;
    return (unsigned char *)kept + HAUL__LINE;
}

static void *take(haul__present *table, unsigned class)
{
    const size_t bytes = (size_t)1 << class;
    uintptr_t *record = (uintptr_t *)table->free[class];
    size_t chunk = table->bytes < SMALL_CHUNK ? SMALL_CHUNK : table->bytes;
    if (record) {
        table->free[class] = record[0];
        return record;
    }
    chunk = chunk > LARGE_CHUNK ? LARGE_CHUNK : chunk & ~(size_t)(HAUL__LINE - 1);
    chunk = chunk < bytes ? bytes : chunk;
    if ((size_t)(table->fresh_end - table->fresh) < bytes) {
        unsigned char *more = keep(table, chunk);
        if (!more)
            return NULL;
        table->fresh = more;
        table->fresh_end = more + chunk;
    }
    record = (uintptr_t *)(void *)table->fresh;
    table->fresh += bytes;
    return record;
}

/* Stores what readers may be reading. */
#define SET(place, value) haul__atomic_store(&(place), value)

/* The record's first word is written, so the version must be odd. */
static void give_back(haul__present *table, void *record, unsigned class)
{
    SET(*(uintptr_t *)record, table->free[class]);
    table->free[class] = (uintptr_t)record;
}

/* All stores release, so no reader sees a change before the odd version, or the even one before the
 * change. */
static void begin_change(haul__present *table)
{
    SET(table->version, table->version + 1);
}

static void end_change(haul__present *table)
{
    SET(table->version, table->version + 1);
}

/* ---- The directory. */

static int is_empty(const uintptr_t *pages)
{
    unsigned i;
    for (i = 0; i < HAUL__PRESENT_PAGES; i++)
        if (pages[i])
            return 0;
    return 1;
}

/* Makes a directory twice as large, without blocks that are empty. The old one stays for readers
 * that are in it. */
static haul__directory *grow(haul__present *table)
{
    haul__directory *old = (haul__directory *)table->directory, *made;
    const size_t slots = old ? 2 * (old->mask + 1) : 16;
    size_t i;
    made = keep(table, sizeof *made + slots * sizeof(haul__present_slot));
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made + slots * sizeof(haul__present_slot));
    made->mask = slots - 1;
    table->last_block = 0;
    begin_change(table);
    for (i = 0; old && i <= old->mask; i++) {
        const haul__present_slot *from = &old->slots[i];
        if (from->block && is_empty((const uintptr_t *)from->pages)) {
            give_back(table, (void *)from->pages, 7);
        } else if (from->block) {
            made->slots[haul__present_slot_of(made, from->block)] = *from;
            made->used++;
        }
    }
    SET(table->directory, (uintptr_t)made);
    end_change(table);
    return made;
}

/* The words of the pages of a block, made if there are none. NULL: out of memory. */
static uintptr_t *find_pages(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    haul__directory *directory = (haul__directory *)table->directory;
    haul__present_slot *at =
        directory ? &directory->slots[haul__present_slot_of(directory, block)] : NULL;
    uintptr_t *pages;
    unsigned i;
    if (at && at->block)
        return (uintptr_t *)at->pages;
    if (!directory || 2 * directory->used >= directory->mask) {
        directory = grow(table);
        if (!directory)
            return NULL;
    }
    pages = take(table, 7);
    if (!pages)
        return NULL;
    at = &directory->slots[haul__present_slot_of(directory, block)];
    begin_change(table);
    for (i = 0; i < HAUL__PRESENT_PAGES; i++)
        SET(pages[i], (uintptr_t)0);
    SET(at->pages, (uintptr_t)pages);
    SET(at->block, block);
    end_change(table);
    directory->used++;
    return pages;
}

/* The same. Ranges come and go in order of address, so it often is the last one again. */
static uintptr_t *pages_of(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    if (table->last_block != block) {
        table->last_pages = (uintptr_t)find_pages(table, address);
        table->last_block = table->last_pages ? block : 0;
    }
    return (uintptr_t *)table->last_pages;
}

/* ---- Pages. */

/* Does the range cover the page at `page_at`, and go on behind it? */
static int covers(uintptr_t begin, uintptr_t end, uintptr_t page_at)
{
    return begin <= page_at && end - page_at > HAUL__PRESENT_SPAN;
}

static haul__page_piece piece_in(uintptr_t begin, uintptr_t end, uintptr_t page_at, uintptr_t delta,
                                 uint32_t group)
{
    const uintptr_t first = begin > page_at ? begin - page_at : 0,
                    last = end - page_at > HAUL__PRESENT_SPAN ? HAUL__PRESENT_SPAN - 1
                                                              : end - page_at - 1;
    haul__page_piece one;
    one.delta = delta;
    one.group = group;
    one.place = (uint32_t)first | (uint32_t)last << HAUL__PRESENT_LAST |
                (begin < page_at ? HAUL__PRESENT_BEGUN : 0) |
                (end - page_at > HAUL__PRESENT_SPAN ? HAUL__PRESENT_GOES_ON : 0);
    return one;
}

static uintptr_t begin_of(const haul__covered *range, int by_device)
{
    return by_device ? range->device : range->begin;
}

/* The piece of a range that begins and ends in one page. */
HAUL__INLINE haul__page_piece piece_of(const haul__covered *range, int by_device, uint32_t group)
{
    const uintptr_t first = begin_of(range, by_device) & (HAUL__PRESENT_SPAN - 1),
                    delta = range->device - range->begin;
    haul__page_piece one;
    one.delta = by_device ? 0 - delta : delta;
    one.group = group;
    one.place = (uint32_t)first | (uint32_t)(first + range->bytes - 1) << HAUL__PRESENT_LAST;
    return one;
}

static size_t room_of(unsigned class)
{
    return (((size_t)1 << class) - sizeof(haul__present_page)) / sizeof(haul__page_piece);
}

/* Writes the bits of a page by its pieces. */
static void index_page(haul__present_page *p)
{
    uint32_t bits[HAUL__PRESENT_PARTS] = { 0 }, i;
    uint16_t in[HAUL__PRESENT_PARTS] = { 0 }, before[HAUL__PRESENT_PARTS];
    uint32_t is_crowded = 0, part;
    for (i = 0; i < p->count; i++) {
        const unsigned unit = haul__first_of(p->pieces[i].place) >> HAUL__PRESENT_UNIT;
        const uint32_t bit = (uint32_t)1 << unit % 32;
        is_crowded |= bits[unit / 32] & bit ? 1u : 0u;
        bits[unit / 32] |= bit;
        in[unit / 32]++;
    }
    for (part = 0, i = 0; part < HAUL__PRESENT_PARTS; i += in[part], part++)
        before[part] = (uint16_t)i;
    for (part = 0; part < HAUL__PRESENT_PARTS; part++) {
        SET(p->bits[part], bits[part]);
        SET(p->before[part], before[part]);
    }
    SET(p->is_crowded, is_crowded);
}

/* Sets or clears the bit of a piece that has come or gone. A crowded page is indexed as a whole. */
static void index_piece(haul__present_page *p, unsigned first, int has_come)
{
    const unsigned unit = first >> HAUL__PRESENT_UNIT;
    const uint32_t bit = (uint32_t)1 << unit % 32;
    unsigned part;
    if (p->is_crowded || (has_come && (p->bits[unit / 32] & bit))) {
        index_page(p);
        return;
    }
    SET(p->bits[unit / 32], p->bits[unit / 32] ^ bit);
    for (part = unit / 32 + 1; part < HAUL__PRESENT_PARTS; part++)
        SET(p->before[part], (uint16_t)(p->before[part] + (has_come ? 1 : -1)));
}

static void put_piece(haul__present_page *p, uint32_t at, const haul__page_piece *one)
{
    SET(p->pieces[at].delta, one->delta);
    SET(p->pieces[at].place, one->place);
    SET(p->pieces[at].group, one->group);
}

/* A page record with room for `more` pieces, in place of the word's. NULL: out of memory. */
static haul__present_page *with_room(haul__present *table, uintptr_t *word, size_t more)
{
    haul__present_page *old = (haul__present_page *)*word, *made;
    unsigned class = old ? old->class : 7;
    uint32_t i;
    while (room_of(class) < (old ? old->count : 0) + more)
        class += 1;
    if (old && class == old->class)
        return old;
    made = take(table, class);
    if (!made)
        return NULL;
    begin_change(table);
    SET(made->count, old ? old->count : 0);
    SET(made->class, class);
    for (i = 0; i < made->count; i++)
        put_piece(made, i, &old->pieces[i]);
    index_page(made);
    SET(*word, (uintptr_t)made);
    if (old)
        give_back(table, old, old->class);
    end_change(table);
    return made;
}

static int add_piece(haul__present *table, uintptr_t *word, const haul__page_piece *one)
{
    haul__present_page *p = with_room(table, word, 1);
    uint32_t at;
    if (!p)
        return 0;
    begin_change(table);
    for (at = p->count;
         at > 0 && haul__first_of(p->pieces[at - 1].place) > haul__first_of(one->place); at--)
        put_piece(p, at, &p->pieces[at - 1]);
    put_piece(p, at, one);
    SET(p->count, p->count + 1);
    index_piece(p, haul__first_of(one->place), 1);
    end_change(table);
    return 1;
}

/* Sets the bits of a page. */
HAUL__INLINE void set_bits(haul__present_page *p, const uint32_t *bits)
{
    uint32_t before = 0, part;
    for (part = 0; part < HAUL__PRESENT_PARTS; part++) {
        SET(p->bits[part], bits[part]);
        SET(p->before[part], (uint16_t)before);
        before += haul__bits32(bits[part]);
    }
}

/* Merges the pieces of `count` ranges of a list into a page, from the last one on. */
HAUL__HOT static void merge_pieces(haul__present_page *p, const haul__covered *ranges, size_t count,
                                   int by_device, uint32_t group)
{
    uint32_t bits[HAUL__PRESENT_PARTS], old = p->count, to = old + (uint32_t)count,
                                        is_crowded = p->is_crowded;
    size_t left;
    memcpy(bits, p->bits, sizeof bits);
    SET(p->count, to);
    for (left = count; left > 0; left--) {
        const haul__page_piece one = piece_of(&ranges[left - 1], by_device, group);
        const uint32_t first = haul__first_of(one.place), unit = first >> HAUL__PRESENT_UNIT,
                       bit = (uint32_t)1 << unit % 32;
        for (; old > 0 && haul__first_of(p->pieces[old - 1].place) > first; old--)
            put_piece(p, --to, &p->pieces[old - 1]);
        put_piece(p, --to, &one);
        is_crowded |= bits[unit / 32] & bit;
        bits[unit / 32] |= bit;
    }
    if (is_crowded)
        index_page(p);
    else
        set_bits(p, bits);
}

static int add_pieces(haul__present *table, uintptr_t *word, const haul__covered *ranges,
                      size_t count, int by_device, uint32_t group)
{
    haul__present_page *p = with_room(table, word, count);
    if (!p)
        return 0;
    begin_change(table);
    merge_pieces(p, ranges, count, by_device, group);
    end_change(table);
    return 1;
}

static void remove_piece(haul__present *table, uintptr_t *word, unsigned first)
{
    haul__present_page *p = (haul__present_page *)*word;
    uint32_t i = p->count - 1;
    while (haul__first_of(p->pieces[i].place) != first)
        i--;
    begin_change(table);
    for (; i + 1 < p->count; i++)
        put_piece(p, i, &p->pieces[i + 1]);
    SET(p->count, p->count - 1);
    index_piece(p, first, 0);
    if (!p->count) {
        SET(*word, (uintptr_t)0);
        give_back(table, p, p->class);
    }
    end_change(table);
}

/* Takes the pieces of `count` ranges of a list out of a page. */
static void remove_pieces(haul__present *table, uintptr_t *word, const haul__covered *ranges,
                          size_t count, int by_device)
{
    haul__present_page *p = (haul__present_page *)*word;
    uint32_t i, kept = 0;
    size_t gone = 0;
    begin_change(table);
    for (i = 0; i < p->count; i++) {
        if (gone < count && haul__first_of(p->pieces[i].place) ==
                                (begin_of(&ranges[gone], by_device) & (HAUL__PRESENT_SPAN - 1)))
            gone++;
        else
            put_piece(p, kept++, &p->pieces[i]);
    }
    SET(p->count, kept);
    index_page(p);
    if (!kept) {
        SET(*word, (uintptr_t)0);
        give_back(table, p, p->class);
    }
    end_change(table);
}

/* ---- Ranges. */

/* Removes the range from its pages before `until`. */
static void remove_until(haul__present *table, uintptr_t begin, uintptr_t end, uintptr_t until)
{
    uintptr_t at, *pages = NULL, *word, whole = 0;
    for (at = begin & ~(HAUL__PRESENT_SPAN - 1); at < until; at += HAUL__PRESENT_SPAN) {
        if (!pages || (at & (((uintptr_t)1 << HAUL__PRESENT_BLOCK) - 1)) == 0)
            pages = pages_of(table, at);
        word = &pages[at >> HAUL__PRESENT_SHIFT & (HAUL__PRESENT_PAGES - 1)];
        if (covers(begin, end, at)) {
            whole = *word;
            begin_change(table);
            SET(*word, (uintptr_t)0);
            end_change(table);
        } else {
            remove_piece(table, word, begin > at ? (unsigned)(begin - at) : 0);
        }
    }
    if (!whole)
        return;
    begin_change(table);
    give_back(table, (void *)(whole - 1), SMALLEST);
    end_change(table);
}

int haul__present_add(haul__present *table, uintptr_t begin, size_t bytes, uintptr_t delta,
                      uint32_t group)
{
    const uintptr_t end = begin + bytes;
    uintptr_t at, *pages = NULL, *word;
    haul__page_piece *whole = NULL;
    for (at = begin & ~(HAUL__PRESENT_SPAN - 1); at < end; at += HAUL__PRESENT_SPAN) {
        const haul__page_piece one = piece_in(begin, end, at, delta, group);
        int is_added = 0;
        if (!pages || (at & (((uintptr_t)1 << HAUL__PRESENT_BLOCK) - 1)) == 0)
            pages = pages_of(table, at);
        word = pages ? &pages[at >> HAUL__PRESENT_SHIFT & (HAUL__PRESENT_PAGES - 1)] : NULL;
        if (word && !covers(begin, end, at)) {
            is_added = add_piece(table, word, &one);
        } else if (word) {
            if (!whole)
                whole = take(table, SMALLEST);
            is_added = whole != NULL;
        }
        if (!is_added) {
            remove_until(table, begin, end, at);
            return 0;
        }
        if (!covers(begin, end, at))
            continue;
        begin_change(table);
        SET(whole->delta, delta);
        SET(whole->group, group);
        SET(*word, (uintptr_t)whole + 1);
        end_change(table);
    }
    return 1;
}

void haul__present_remove(haul__present *table, uintptr_t begin, size_t bytes)
{
    remove_until(table, begin, begin + bytes, begin + bytes);
}

/* How many ranges, from the first one on, begin and end in its page. 0: it does not end there. */
static size_t count_together(const haul__covered *ranges, size_t count, int by_device)
{
    const uintptr_t page_at = begin_of(ranges, by_device) & ~(HAUL__PRESENT_SPAN - 1);
    size_t together = 0;
    while (together < count) {
        const uintptr_t from_page = begin_of(&ranges[together], by_device) - page_at;
        if (from_page >= HAUL__PRESENT_SPAN ||
            ranges[together].bytes > HAUL__PRESENT_SPAN - from_page)
            break;
        together++;
    }
    return together;
}

void haul__present_remove_all(haul__present *table, const haul__covered *ranges, size_t count,
                              int by_device)
{
    size_t i, together;
    for (i = 0; i < count; i += together) {
        const uintptr_t begin = begin_of(&ranges[i], by_device);
        together = count_together(ranges + i, count - i, by_device);
        if (together > 1) {
            remove_pieces(
                table,
                &pages_of(table, begin)[begin >> HAUL__PRESENT_SHIFT & (HAUL__PRESENT_PAGES - 1)],
                ranges + i, together, by_device);
        } else {
            together = 1;
            haul__present_remove(table, begin, ranges[i].bytes);
        }
    }
}

int haul__present_add_all(haul__present *table, const haul__covered *ranges, size_t count,
                          int by_device, uint32_t group)
{
    size_t i, together;
    for (i = 0; i < count; i += together) {
        const uintptr_t begin = begin_of(&ranges[i], by_device),
                        delta = ranges[i].device - ranges[i].begin;
        uintptr_t *pages;
        int is_added;
        together = count_together(ranges + i, count - i, by_device);
        if (together > 1) {
            pages = pages_of(table, begin);
            is_added =
                pages &&
                add_pieces(table, &pages[begin >> HAUL__PRESENT_SHIFT & (HAUL__PRESENT_PAGES - 1)],
                           ranges + i, together, by_device, group);
        } else {
            together = 1;
            is_added = haul__present_add(table, begin, ranges[i].bytes,
                                         by_device ? 0 - delta : delta, group);
        }
        if (is_added)
            continue;
        haul__present_remove_all(table, ranges, i, by_device);
        return 0;
    }
    return 1;
}

/* The present table: ranges come and go (present_records.h).
 *
 * A change makes the version odd while it writes records that readers may see. The page's entry is
 * written anew, by its record. Ranges that begin and end in one page come and go together: the page
 * is changed once. A range alone takes a way of its own (add_piece, remove_piece), which is a sixth
 * shorter.
 */
#include "environment/present_records.h"

/* ---- Memory. */

struct haul__kept {
    struct haul__kept *next;
    size_t bytes;
};

/* Sizes are powers of two, and these and a half. */
#define SMALLEST 12u /* of records */
#define BLOCK 16u    /* of blocks */

typedef char haul__block_fits[HAUL__PRESENT_PAGES * sizeof(haul__page_entry) <= 512 ? 1 : -1];

#define SMALL_CHUNK ((size_t)4 << 10)
#define LARGE_CHUNK (((size_t)4 << 20) - HAUL__LINE)

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

static size_t bytes_of(unsigned class)
{
    return (size_t)(2 + (class & 1)) << class / 2;
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

/* New blocks lie side by side, apart from records: all of them have few pages of memory. */
static void *take(haul__present *table, haul__fresh *fresh, unsigned class)
{
    const size_t bytes = bytes_of(class);
    uintptr_t *record = (uintptr_t *)table->free[class];
    size_t chunk = fresh->bytes < SMALL_CHUNK ? SMALL_CHUNK : fresh->bytes;
    if (record) {
        table->free[class] = record[0];
        return record;
    }
    chunk = chunk > LARGE_CHUNK ? LARGE_CHUNK : chunk & ~(size_t)(HAUL__LINE - 1);
    chunk = chunk < bytes ? bytes : chunk;
    if ((size_t)(fresh->end - fresh->at) < bytes) {
        unsigned char *more = keep(table, chunk);
        if (!more)
            return NULL;
        fresh->at = more;
        fresh->end = more + chunk;
        fresh->bytes += chunk;
    }
    record = (uintptr_t *)(void *)fresh->at;
    fresh->at += bytes;
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

static int is_empty(const haul__page_entry *pages)
{
    unsigned i;
    for (i = 0; i < HAUL__PRESENT_PAGES; i++)
        if (pages[i].word)
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
        if (from->block && is_empty((const haul__page_entry *)from->pages)) {
            give_back(table, (void *)from->pages, BLOCK);
        } else if (from->block) {
            made->slots[haul__present_slot_of(made, from->block)] = *from;
            made->used++;
        }
    }
    SET(table->directory, (uintptr_t)made);
    end_change(table);
    return made;
}

/* The pages of a block, made if there are none. NULL: out of memory. */
static haul__page_entry *find_pages(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    haul__directory *directory = (haul__directory *)table->directory;
    haul__present_slot *at =
        directory ? &directory->slots[haul__present_slot_of(directory, block)] : NULL;
    haul__page_entry *pages;
    unsigned i;
    if (at && at->block)
        return (haul__page_entry *)at->pages;
    if (!directory || 2 * directory->used >= directory->mask) {
        directory = grow(table);
        if (!directory)
            return NULL;
    }
    pages = take(table, &table->blocks, BLOCK);
    if (!pages)
        return NULL;
    at = &directory->slots[haul__present_slot_of(directory, block)];
    begin_change(table);
    for (i = 0; i < HAUL__PRESENT_PAGES; i++)
        SET(pages[i].word, (uintptr_t)0);
    SET(at->pages, (uintptr_t)pages);
    SET(at->block, block);
    end_change(table);
    directory->used++;
    return pages;
}

/* The page of an address, made if there is none. Ranges come and go in order of address, so its
 * block often is the last one again. NULL: out of memory. */
static haul__page_entry *page_of(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    haul__page_entry *pages;
    if (table->last_block != block) {
        table->last_pages = (uintptr_t)find_pages(table, address);
        table->last_block = table->last_pages ? block : 0;
    }
    pages = (haul__page_entry *)table->last_pages;
    return pages ? &pages[haul__present_page_of(address)] : NULL;
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
    return (bytes_of(class) - sizeof(haul__present_page)) / sizeof(haul__page_piece);
}

static void put_piece(haul__present_page *p, uint32_t at, const haul__page_piece *one)
{
    SET(p->pieces[at].delta, one->delta);
    SET(p->pieces[at].place, one->place);
    SET(p->pieces[at].group, one->group);
}

/* The bits of a page by its pieces; 0: two begin in one granule. */
HAUL__HOT static int bits_of(const haul__present_page *p, haul__page_bits *bits)
{
    const uint32_t count = p->count;
    uint32_t i, part, crowded = 0, before = 0;
    memset(bits, 0, sizeof *bits);
    for (i = 0; i < count; i++) {
        const unsigned unit = haul__first_of(p->pieces[i].place) >> HAUL__PRESENT_UNIT;
        const uint32_t bit = (uint32_t)1 << unit % 32;
        crowded |= bits->of[unit / 32] & bit;
        bits->of[unit / 32] |= bit;
    }
    for (part = 0; part < HAUL__PRESENT_PARTS; part++) {
        bits->before[part] = (uint8_t)before;
        before += haul__bits32(bits->of[part]);
    }
    return !crowded;
}

static void set_row(haul__page_entry *entry, const haul__page_row *row)
{
    SET(entry->as.row.delta, row->delta);
    SET(entry->as.row.group, row->group);
    SET(entry->as.row.shape, row->shape);
    SET(entry->as.row.inverse, row->inverse);
    SET(entry->as.row.begin, row->begin);
    SET(entry->as.row.step, row->step);
}

static void set_bits(haul__page_entry *entry, const haul__page_bits *bits)
{
    unsigned part;
    for (part = 0; part < HAUL__PRESENT_PARTS; part++) {
        SET(entry->as.bits.of[part], bits->of[part]);
        SET(entry->as.bits.before[part], bits->before[part]);
    }
}

/* Writes the entry of a page by its record. */
static void index_page(haul__page_entry *entry, const haul__present_page *p)
{
    const uint32_t last = p->pieces[p->count - 1].place;
    uintptr_t flags = HAUL__PRESENT_CROWDED;
    haul__page_row row;
    haul__page_bits bits;
    if (haul__present_row(p->pieces, p->count, &row)) {
        flags = HAUL__PRESENT_ROW | (last & HAUL__PRESENT_GOES_ON ? HAUL__PRESENT_ROW_GOES_ON : 0);
        set_row(entry, &row);
    } else if (bits_of(p, &bits)) {
        flags = 0;
        set_bits(entry, &bits);
    }
    SET(entry->word, (uintptr_t)p | flags);
}

/* One range covers the page and goes on behind it. */
static void set_whole(haul__page_entry *entry, uintptr_t delta, uint32_t group)
{
    haul__page_row row = { 0, 0, (uint32_t)HAUL__PRESENT_SPAN - 1, 0, 0, 0 };
    row.delta = delta;
    row.group = group;
    set_row(entry, &row);
    SET(entry->word, HAUL__PRESENT_ROW | HAUL__PRESENT_ROW_GOES_ON);
}

/* Does its record leave the pieces to the row? */
static int is_unwritten(const haul__page_entry *entry)
{
    const haul__present_page *p = haul__present_record_of(entry->word);
    return entry->word & HAUL__PRESENT_ROW && p && p->count == 0;
}

/* Writes the pieces that a row has told so far, in the room for them. */
static void write_pieces(haul__present *table, haul__page_entry *entry)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    const uint32_t count = haul__row_count(&entry->as.row);
    uint32_t i;
    begin_change(table);
    for (i = 0; i < count; i++) {
        const haul__page_piece one = haul__present_piece_of(
            &entry->as.row, (entry->word & HAUL__PRESENT_ROW_GOES_ON) != 0, i);
        put_piece(p, i, &one);
    }
    SET(p->count, count);
    end_change(table);
}

/* A page record with room for `more` pieces, in place of the entry's. NULL: out of memory. */
static haul__present_page *with_room(haul__present *table, haul__page_entry *entry, size_t more)
{
    haul__present_page *old = haul__present_record_of(entry->word), *made;
    unsigned class = old ? old->class : SMALLEST;
    uint32_t i;
    if (is_unwritten(entry))
        write_pieces(table, entry);
    while (room_of(class) < (old ? old->count : 0) + more)
        class += 1;
    if (old && class == old->class)
        return old;
    made = take(table, &table->records, class);
    if (!made)
        return NULL;
    begin_change(table);
    SET(made->count, old ? old->count : 0);
    SET(made->class, class);
    for (i = 0; i < made->count; i++)
        put_piece(made, i, &old->pieces[i]);
    /* an empty record is searched: its entry has no bits yet */
    SET(entry->word,
        (uintptr_t)made | (old ? entry->word & HAUL__PRESENT_FLAGS : HAUL__PRESENT_CROWDED));
    if (old)
        give_back(table, old, old->class);
    end_change(table);
    return made;
}

static int add_piece(haul__present *table, haul__page_entry *entry, const haul__page_piece *one)
{
    haul__present_page *p = with_room(table, entry, 1);
    uint32_t at;
    if (!p)
        return 0;
    begin_change(table);
    for (at = p->count;
         at > 0 && haul__first_of(p->pieces[at - 1].place) > haul__first_of(one->place); at--)
        put_piece(p, at, &p->pieces[at - 1]);
    put_piece(p, at, one);
    SET(p->count, p->count + 1);
    index_page(entry, p);
    end_change(table);
    return 1;
}

/* Merges the pieces of `count` ranges of a list into a page, from the last one on. */
HAUL__HOT static void merge_pieces(haul__present_page *p, const haul__covered *ranges, size_t count,
                                   int by_device, uint32_t group)
{
    uint32_t old = p->count, to = old + (uint32_t)count;
    size_t left = count;
    SET(p->count, to);
    while (left > 0) {
        const haul__page_piece one = piece_of(&ranges[left - 1], by_device, group);
        for (; old > 0 && haul__first_of(p->pieces[old - 1].place) > haul__first_of(one.place);
             old--)
            put_piece(p, --to, &p->pieces[old - 1]);
        put_piece(p, --to, &one);
        left--;
    }
}

static int add_pieces(haul__present *table, haul__page_entry *entry, const haul__covered *ranges,
                      size_t count, int by_device, uint32_t group)
{
    haul__present_page *p = with_room(table, entry, count);
    if (!p)
        return 0;
    begin_change(table);
    merge_pieces(p, ranges, count, by_device, group);
    index_page(entry, p);
    end_change(table);
    return 1;
}

/* The record of a page has lost pieces. */
static void end_removal(haul__present *table, haul__page_entry *entry)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    if (p->count) {
        index_page(entry, p);
    } else {
        SET(entry->word, (uintptr_t)0);
        give_back(table, p, p->class);
    }
}

static void remove_piece(haul__present *table, haul__page_entry *entry, unsigned first)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    uint32_t i;
    if (is_unwritten(entry))
        write_pieces(table, entry);
    i = p->count - 1;
    while (haul__first_of(p->pieces[i].place) != first)
        i--;
    begin_change(table);
    for (; i + 1 < p->count; i++)
        put_piece(p, i, &p->pieces[i + 1]);
    SET(p->count, p->count - 1);
    end_removal(table, entry);
    end_change(table);
}

/* Takes the pieces of `count` ranges of a list out of a page. */
static void remove_pieces(haul__present *table, haul__page_entry *entry,
                          const haul__covered *ranges, size_t count, int by_device)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    uint32_t i, kept = 0;
    size_t gone = 0;
    if (is_unwritten(entry))
        write_pieces(table, entry);
    begin_change(table);
    for (i = 0; i < p->count; i++) {
        if (gone < count && haul__first_of(p->pieces[i].place) ==
                                (begin_of(&ranges[gone], by_device) & (HAUL__PRESENT_SPAN - 1)))
            gone++;
        else
            put_piece(p, kept++, &p->pieces[i]);
    }
    SET(p->count, kept);
    end_removal(table, entry);
    end_change(table);
}

/* ---- Even ranges. */

#define FEW_EVEN 4u /* so few take the general way */

/* The even ranges that a list begins with. */
HAUL__HOT static haul__even find_even(const haul__covered *ranges, size_t count, int by_device,
                                      uint32_t group)
{
    haul__even even = { 0, 0, 0, 0, 0, 0, 0 };
    uintptr_t here, there, delta = ranges->device - ranges->begin;
    size_t i = 1;
    if (count < FEW_EVEN)
        return even;
    here = ranges[1].begin - ranges->begin;
    there = ranges[1].device - ranges->device;
    while (i < count && ranges[i].begin - ranges[i - 1].begin == here &&
           ranges[i].device - ranges[i - 1].device == there && ranges[i].bytes == ranges->bytes)
        i++;
    even.begin = begin_of(ranges, by_device);
    even.bytes = ranges->bytes;
    even.stride = by_device ? there : here;
    even.delta = by_device ? 0 - delta : delta;
    even.step = by_device ? here - there : there - here;
    even.group = group;
    even.count = i < FEW_EVEN || even.stride >= HAUL__PRESENT_SPAN ? 0 : i;
    return even;
}

/* Those of the page at `page_at`, from one on that begins in it or reaches into it. As two are less
 * than a page apart, each page has some. */
HAUL__INLINE haul__even_part part_in(const haul__even *even, uintptr_t page_at, size_t first)
{
    const size_t last_begun = (page_at + HAUL__PRESENT_SPAN - 1 - even->begin) / even->stride,
                 last = last_begun < even->count ? last_begun : even->count - 1;
    haul__even_part part;
    part.first = first;
    part.count = (uint32_t)(last - first) + 1;
    part.begin = (int32_t)(intptr_t)(even->begin + first * even->stride - page_at);
    part.goes_on =
        even->begin + last * even->stride + even->bytes - page_at > HAUL__PRESENT_SPAN;
    return part;
}

/* The first one of the next page. */
HAUL__INLINE size_t next_part(const haul__even_part *part)
{
    return part->first + part->count - (part->goes_on ? 1 : 0);
}

/* Merges them into the pieces of a page, from the last one on. */
HAUL__HOT static void merge_even(haul__present_page *p, const haul__even *even,
                                 const haul__even_part *part)
{
    uint32_t old = p->count, to = old + part->count, left = part->count;
    int32_t begin = part->begin + (int32_t)((left - 1) * even->stride);
    int goes_on = part->goes_on;
    haul__page_piece one;
    one.group = even->group;
    one.delta = even->delta + (part->first + left - 1) * even->step;
    SET(p->count, to);
    for (; left > 0; left--, begin -= (int32_t)even->stride, one.delta -= even->step, goes_on = 0) {
        one.place = haul__place_in_page(begin, even->bytes, goes_on);
        for (; old > 0 && haul__first_of(p->pieces[old - 1].place) > haul__first_of(one.place);
             old--)
            put_piece(p, --to, &p->pieces[old - 1]);
        put_piece(p, --to, &one);
    }
}

static int add_part(haul__present *table, haul__page_entry *entry, const haul__even *even,
                    const haul__even_part *part)
{
    haul__present_page *p = with_room(table, entry, part->count);
    haul__page_row row;
    if (!p)
        return 0;
    begin_change(table);
    if (p->count == 0 && haul__present_row_of(even, part, &row)) {
        set_row(entry, &row);
        SET(entry->word, (uintptr_t)p | HAUL__PRESENT_ROW |
                             (part->goes_on ? HAUL__PRESENT_ROW_GOES_ON : 0));
    } else {
        merge_even(p, even, part);
        index_page(entry, p);
    }
    end_change(table);
    return 1;
}

static void remove_part(haul__present *table, haul__page_entry *entry, const haul__even *even,
                        const haul__even_part *part)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    int32_t begin = part->begin;
    uint32_t i, kept = 0, left = part->count;
    if (is_unwritten(entry) && haul__row_count(&entry->as.row) != left)
        write_pieces(table, entry);
    begin_change(table);
    for (i = 0; i < p->count; i++) {
        if (left > 0 &&
            haul__first_of(p->pieces[i].place) == (uint32_t)(begin < 0 ? 0 : begin)) {
            begin += (int32_t)even->stride;
            left--;
        } else {
            put_piece(p, kept++, &p->pieces[i]);
        }
    }
    SET(p->count, kept);
    end_removal(table, entry);
    end_change(table);
}

/* Removes them from their pages before `until`. */
static void remove_even(haul__present *table, const haul__even *even, uintptr_t until)
{
    uintptr_t at = even->begin & ~(HAUL__PRESENT_SPAN - 1);
    haul__even_part part;
    size_t first = 0;
    for (; at < until; at += HAUL__PRESENT_SPAN, first = next_part(&part)) {
        part = part_in(even, at, first);
        remove_part(table, page_of(table, at), even, &part);
    }
}

static uintptr_t end_of_even(const haul__even *even)
{
    return even->begin + (even->count - 1) * even->stride + even->bytes;
}

/* 0: out of memory, and nothing has changed. */
static int add_even(haul__present *table, const haul__even *even)
{
    const uintptr_t end = end_of_even(even);
    uintptr_t at = even->begin & ~(HAUL__PRESENT_SPAN - 1);
    haul__even_part part;
    size_t first = 0;
    for (; at < end; at += HAUL__PRESENT_SPAN, first = next_part(&part)) {
        haul__page_entry *entry = page_of(table, at);
        part = part_in(even, at, first);
        if (!entry || !add_part(table, entry, even, &part)) {
            remove_even(table, even, at);
            return 0;
        }
    }
    return 1;
}

/* ---- Ranges. */

/* Removes the range from its pages before `until`. */
static void remove_until(haul__present *table, uintptr_t begin, uintptr_t end, uintptr_t until)
{
    uintptr_t at;
    for (at = begin & ~(HAUL__PRESENT_SPAN - 1); at < until; at += HAUL__PRESENT_SPAN) {
        haul__page_entry *entry = page_of(table, at);
        if (covers(begin, end, at)) {
            begin_change(table);
            SET(entry->word, (uintptr_t)0);
            end_change(table);
        } else {
            remove_piece(table, entry, begin > at ? (unsigned)(begin - at) : 0);
        }
    }
}

int haul__present_add(haul__present *table, uintptr_t begin, size_t bytes, uintptr_t delta,
                      uint32_t group)
{
    const uintptr_t end = begin + bytes;
    uintptr_t at;
    for (at = begin & ~(HAUL__PRESENT_SPAN - 1); at < end; at += HAUL__PRESENT_SPAN) {
        const haul__page_piece one = piece_in(begin, end, at, delta, group);
        haul__page_entry *entry = page_of(table, at);
        if (!entry || (!covers(begin, end, at) && !add_piece(table, entry, &one))) {
            remove_until(table, begin, end, at);
            return 0;
        }
        if (!covers(begin, end, at))
            continue;
        begin_change(table);
        set_whole(entry, delta, group);
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
        const haul__even even = find_even(ranges + i, count - i, by_device, 0);
        together = even.count ? even.count : count_together(ranges + i, count - i, by_device);
        if (even.count) {
            remove_even(table, &even, end_of_even(&even));
        } else if (together > 1) {
            remove_pieces(table, page_of(table, begin), ranges + i, together, by_device);
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
        const haul__even even = find_even(ranges + i, count - i, by_device, group);
        int is_added;
        together = even.count ? even.count : count_together(ranges + i, count - i, by_device);
        if (even.count) {
            is_added = add_even(table, &even);
        } else if (together > 1) {
            haul__page_entry *entry = page_of(table, begin);
            is_added = entry && add_pieces(table, entry, ranges + i, together, by_device, group);
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

/* The present table.
 *
 *   directory   a hash of the 64 KiB blocks that hold ranges
 *   block       one word for each of its 16 pages
 *   page        a bit for each granule of 16 bytes in which a range begins, and the ranges in order
 *
 * The number of bits up to an address gives the range that could hold it, so a look-up takes five
 * loads, wherever the ranges lie and however many they are. If two ranges begin in one granule, the
 * page is crowded, and is searched. A page that one range covers has no record of its own: its word
 * leads to the range's, with a lowest bit of 1. So an array takes 8 bytes for each 4 KiB.
 *
 * Readers take no lock and write nothing. A record that they read may be given to other ranges
 * meanwhile. So memory is kept until the table closes, and a version is odd while records change:
 * whoever finds it changed begins again. A word that leads to a record is used only after a look at
 * the version, and so was right when it was read.
 */
#include "environment/present.h"
#include "base/index.h"
#include "base/pool.h"

#define PAGE_SHIFT 12u
#define PAGE_SPAN ((uintptr_t)1 << PAGE_SHIFT)
#define BLOCK_SHIFT 16u
#define PAGES 16u
#define UNIT_SHIFT 4u /* of a bit */
#define PARTS 8u      /* words of bits in a page */

#define LAST_SHIFT 12u
#define FROM_BEFORE ((uint32_t)1 << 24) /* the range began in an earlier page */
#define GOES_ON ((uint32_t)1 << 25)     /* it ends in a later one */

/* A range in a page. */
typedef struct page_piece {
    uintptr_t delta;
    uint32_t place; /* its first byte, its last one << LAST_SHIFT, and flags */
    uint32_t group;
} page_piece;

typedef struct page {
    uint32_t bits[PARTS];
    uint16_t before[PARTS]; /* pieces that begin before each word of bits */
    uint32_t count, is_crowded;
    uint32_t class; /* of its memory: that gives the room for pieces */
    uint32_t unused;
    page_piece pieces[];
} page;

typedef struct slot {
    uintptr_t block; /* 1 + its number; 0: free */
    uintptr_t pages; /* of a `uintptr_t[PAGES]` */
} slot;

typedef struct haul__directory {
    size_t mask, used;
    slot slots[];
} haul__directory;

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

static size_t slot_of(const haul__directory *directory, uintptr_t block)
{
    size_t at = (size_t)(haul__hash(block) >> 32) & directory->mask;
    while (directory->slots[at].block && directory->slots[at].block != block)
        at = (at + 1) & directory->mask;
    return at;
}

static int is_empty(const uintptr_t *pages)
{
    unsigned i;
    for (i = 0; i < PAGES; i++)
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
    made = keep(table, sizeof *made + slots * sizeof(slot));
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made + slots * sizeof(slot));
    made->mask = slots - 1;
    table->last_block = 0;
    begin_change(table);
    for (i = 0; old && i <= old->mask; i++) {
        const slot *from = &old->slots[i];
        if (from->block && is_empty((const uintptr_t *)from->pages)) {
            give_back(table, (void *)from->pages, 7);
        } else if (from->block) {
            made->slots[slot_of(made, from->block)] = *from;
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
    const uintptr_t block = (address >> BLOCK_SHIFT) + 1;
    haul__directory *directory = (haul__directory *)table->directory;
    slot *at = directory ? &directory->slots[slot_of(directory, block)] : NULL;
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
    at = &directory->slots[slot_of(directory, block)];
    begin_change(table);
    for (i = 0; i < PAGES; i++)
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
    const uintptr_t block = (address >> BLOCK_SHIFT) + 1;
    if (table->last_block != block) {
        table->last_pages = (uintptr_t)find_pages(table, address);
        table->last_block = table->last_pages ? block : 0;
    }
    return (uintptr_t *)table->last_pages;
}

/* ---- Pages. */

static unsigned first_of(uint32_t place)
{
    return place & (PAGE_SPAN - 1);
}

static unsigned last_of(uint32_t place)
{
    return place >> LAST_SHIFT & (PAGE_SPAN - 1);
}

/* Does the range cover the page at `page_at`, and go on behind it? */
static int covers(uintptr_t begin, uintptr_t end, uintptr_t page_at)
{
    return begin <= page_at && end - page_at > PAGE_SPAN;
}

static page_piece piece_in(uintptr_t begin, uintptr_t end, uintptr_t page_at, uintptr_t delta,
                           uint32_t group)
{
    const uintptr_t first = begin > page_at ? begin - page_at : 0,
                    last = end - page_at > PAGE_SPAN ? PAGE_SPAN - 1 : end - page_at - 1;
    page_piece one;
    one.delta = delta;
    one.group = group;
    one.place = (uint32_t)first | (uint32_t)last << LAST_SHIFT |
                (begin < page_at ? FROM_BEFORE : 0) | (end - page_at > PAGE_SPAN ? GOES_ON : 0);
    return one;
}

static uintptr_t begin_of(const haul__covered *range, int is_there)
{
    return is_there ? range->device : range->begin;
}

/* The piece of a range that begins and ends in one page. */
static page_piece piece_of(const haul__covered *range, int is_there, uint32_t group)
{
    const uintptr_t begin = begin_of(range, is_there), delta = range->device - range->begin;
    return piece_in(begin, begin + range->bytes, begin & ~(PAGE_SPAN - 1),
                    is_there ? 0 - delta : delta, group);
}

static size_t room_of(unsigned class)
{
    return (((size_t)1 << class) - sizeof(page)) / sizeof(page_piece);
}

/* Writes the bits of a page by its pieces. */
static void index_page(page *p)
{
    uint32_t bits[PARTS] = { 0 }, i;
    uint16_t in[PARTS] = { 0 }, before[PARTS];
    uint32_t is_crowded = 0, part;
    for (i = 0; i < p->count; i++) {
        const unsigned unit = first_of(p->pieces[i].place) >> UNIT_SHIFT;
        const uint32_t bit = (uint32_t)1 << unit % 32;
        is_crowded |= bits[unit / 32] & bit ? 1u : 0u;
        bits[unit / 32] |= bit;
        in[unit / 32]++;
    }
    for (part = 0, i = 0; part < PARTS; i += in[part], part++)
        before[part] = (uint16_t)i;
    for (part = 0; part < PARTS; part++) {
        SET(p->bits[part], bits[part]);
        SET(p->before[part], before[part]);
    }
    SET(p->is_crowded, is_crowded);
}

/* Sets or clears the bit of a piece that has come or gone. A crowded page is indexed as a whole. */
static void index_piece(page *p, unsigned first, int is_there)
{
    const unsigned unit = first >> UNIT_SHIFT;
    const uint32_t bit = (uint32_t)1 << unit % 32;
    unsigned part;
    if (p->is_crowded || (is_there && (p->bits[unit / 32] & bit))) {
        index_page(p);
        return;
    }
    SET(p->bits[unit / 32], p->bits[unit / 32] ^ bit);
    for (part = unit / 32 + 1; part < PARTS; part++)
        SET(p->before[part], (uint16_t)(p->before[part] + (is_there ? 1 : -1)));
}

static void put_piece(page *p, uint32_t at, const page_piece *one)
{
    SET(p->pieces[at].delta, one->delta);
    SET(p->pieces[at].place, one->place);
    SET(p->pieces[at].group, one->group);
}

/* A page record with room for `more` pieces, in place of the word's. NULL: out of memory. */
static page *with_room(haul__present *table, uintptr_t *word, size_t more)
{
    page *old = (page *)*word, *made;
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

static int add_piece(haul__present *table, uintptr_t *word, const page_piece *one)
{
    page *p = with_room(table, word, 1);
    uint32_t at;
    if (!p)
        return 0;
    begin_change(table);
    for (at = p->count; at > 0 && first_of(p->pieces[at - 1].place) > first_of(one->place); at--)
        put_piece(p, at, &p->pieces[at - 1]);
    put_piece(p, at, one);
    SET(p->count, p->count + 1);
    index_piece(p, first_of(one->place), 1);
    end_change(table);
    return 1;
}

/* Sets the bits of pieces that have come to a page, whose other bits are right. 0: two pieces begin
 * in one granule. */
HAUL__INLINE int set_bits(page *p, const haul__covered *ranges, size_t count, int is_there)
{
    uint32_t bits[PARTS], before = 0, part;
    size_t i;
    memcpy(bits, p->bits, sizeof bits);
    for (i = 0; i < count; i++) {
        const unsigned unit =
            (unsigned)(begin_of(&ranges[i], is_there) & (PAGE_SPAN - 1)) >> UNIT_SHIFT;
        const uint32_t bit = (uint32_t)1 << unit % 32;
        if (bits[unit / 32] & bit)
            return 0;
        bits[unit / 32] |= bit;
    }
    for (part = 0; part < PARTS; part++) {
        SET(p->bits[part], bits[part]);
        SET(p->before[part], (uint16_t)before);
        before += haul__bits32(bits[part]);
    }
    return 1;
}

/* Merges the pieces of `count` ranges of a list into a page, from the last one on. */
HAUL__HOT static void merge_pieces(page *p, const haul__covered *ranges, size_t count, int is_there,
                                   uint32_t group)
{
    uint32_t old = p->count, to = old + (uint32_t)count;
    size_t left = count;
    SET(p->count, to);
    while (left > 0) {
        const page_piece one = piece_of(&ranges[left - 1], is_there, group);
        for (; old > 0 && first_of(p->pieces[old - 1].place) > first_of(one.place); old--)
            put_piece(p, --to, &p->pieces[old - 1]);
        put_piece(p, --to, &one);
        left--;
    }
    if (p->is_crowded || !set_bits(p, ranges, count, is_there))
        index_page(p);
}

static int add_pieces(haul__present *table, uintptr_t *word, const haul__covered *ranges,
                      size_t count, int is_there, uint32_t group)
{
    page *p = with_room(table, word, count);
    if (!p)
        return 0;
    begin_change(table);
    merge_pieces(p, ranges, count, is_there, group);
    end_change(table);
    return 1;
}

static void remove_piece(haul__present *table, uintptr_t *word, unsigned first)
{
    page *p = (page *)*word;
    uint32_t i = p->count - 1;
    while (first_of(p->pieces[i].place) != first)
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
                          size_t count, int is_there)
{
    page *p = (page *)*word;
    uint32_t i, kept = 0;
    size_t gone = 0;
    begin_change(table);
    for (i = 0; i < p->count; i++) {
        if (gone < count &&
            first_of(p->pieces[i].place) == (begin_of(&ranges[gone], is_there) & (PAGE_SPAN - 1)))
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
    for (at = begin & ~(PAGE_SPAN - 1); at < until; at += PAGE_SPAN) {
        if (!pages || (at & (((uintptr_t)1 << BLOCK_SHIFT) - 1)) == 0)
            pages = pages_of(table, at);
        word = &pages[at >> PAGE_SHIFT & (PAGES - 1)];
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
    page_piece *whole = NULL;
    for (at = begin & ~(PAGE_SPAN - 1); at < end; at += PAGE_SPAN) {
        const page_piece one = piece_in(begin, end, at, delta, group);
        int is_added = 0;
        if (!pages || (at & (((uintptr_t)1 << BLOCK_SHIFT) - 1)) == 0)
            pages = pages_of(table, at);
        word = pages ? &pages[at >> PAGE_SHIFT & (PAGES - 1)] : NULL;
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
static size_t count_together(const haul__covered *ranges, size_t count, int is_there)
{
    const uintptr_t page_at = begin_of(ranges, is_there) & ~(PAGE_SPAN - 1);
    size_t together = 0;
    while (together < count) {
        const uintptr_t from_page = begin_of(&ranges[together], is_there) - page_at;
        if (from_page >= PAGE_SPAN || ranges[together].bytes > PAGE_SPAN - from_page)
            break;
        together++;
    }
    return together;
}

void haul__present_remove_all(haul__present *table, const haul__covered *ranges, size_t count,
                              int is_there)
{
    size_t i, together;
    for (i = 0; i < count; i += together) {
        const uintptr_t begin = begin_of(&ranges[i], is_there);
        together = count_together(ranges + i, count - i, is_there);
        if (together > 1) {
            remove_pieces(table, &pages_of(table, begin)[begin >> PAGE_SHIFT & (PAGES - 1)],
                          ranges + i, together, is_there);
        } else {
            together = 1;
            haul__present_remove(table, begin, ranges[i].bytes);
        }
    }
}

int haul__present_add_all(haul__present *table, const haul__covered *ranges, size_t count,
                          int is_there, uint32_t group)
{
    size_t i, together;
    for (i = 0; i < count; i += together) {
        const uintptr_t begin = begin_of(&ranges[i], is_there),
                        delta = ranges[i].device - ranges[i].begin;
        uintptr_t *pages;
        int is_added;
        together = count_together(ranges + i, count - i, is_there);
        if (together > 1) {
            pages = pages_of(table, begin);
            is_added = pages && add_pieces(table, &pages[begin >> PAGE_SHIFT & (PAGES - 1)],
                                           ranges + i, together, is_there, group);
        } else {
            together = 1;
            is_added = haul__present_add(table, begin, ranges[i].bytes,
                                         is_there ? 0 - delta : delta, group);
        }
        if (is_added)
            continue;
        haul__present_remove_all(table, ranges, i, is_there);
        return 0;
    }
    return 1;
}

/* ---- Look-ups. */

#define GET(place) haul__atomic_load(&(place))

enum { ABSENT, THERE, CHANGED };

HAUL__INLINE int has_changed(const haul__present *table, uint32_t version)
{
    return GET(table->version) != version;
}

/* Reads the piece of a page that may hold a byte, the last one that begins at or before it. */
HAUL__INLINE int read_page(const haul__present *table, uint32_t version, const page *p,
                           unsigned byte, page_piece *found)
{
    const unsigned unit = byte >> UNIT_SHIFT, part = unit / 32;
    const uint32_t bits = GET(p->bits[part]) & (UINT32_MAX >> (31 - unit % 32));
    uint32_t i = GET(p->before[part]) + haul__bits32(bits);
    if (HAUL__UNLIKELY(GET(p->is_crowded))) {
        uint32_t high = GET(p->count), middle;
        if (has_changed(table, version))
            return CHANGED;
        for (i = 0; i < high;) {
            middle = i + (high - i) / 2;
            if (first_of(GET(p->pieces[middle].place)) <= byte)
                i = middle + 1;
            else
                high = middle;
        }
    }
    if (has_changed(table, version))
        return CHANGED;
    if (i == 0)
        return ABSENT;
    found->place = GET(p->pieces[i - 1].place);
    found->delta = GET(p->pieces[i - 1].delta);
    found->group = GET(p->pieces[i - 1].group);
    if (has_changed(table, version))
        return CHANGED;
    /* in the granule of the byte, the range may begin behind it */
    if (first_of(found->place) > byte && i > 1) {
        found->place = GET(p->pieces[i - 2].place);
        found->delta = GET(p->pieces[i - 2].delta);
        found->group = GET(p->pieces[i - 2].group);
        if (has_changed(table, version))
            return CHANGED;
    }
    return first_of(found->place) <= byte && byte <= last_of(found->place) ? THERE : ABSENT;
}

/* The word of an address's page: *word, 0 if nothing is there. */
HAUL__INLINE int read_word(const haul__present *table, uint32_t version, uintptr_t address,
                           uintptr_t *word)
{
    const haul__directory *directory = (const haul__directory *)GET(table->directory);
    const uintptr_t block = (address >> BLOCK_SHIFT) + 1;
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
    *word = GET(((const uintptr_t *)pages)[address >> PAGE_SHIFT & (PAGES - 1)]);
    if (has_changed(table, version))
        return CHANGED;
    return *word ? THERE : ABSENT;
}

HAUL__INLINE int read_piece(const haul__present *table, uint32_t version, uintptr_t address,
                            page_piece *found)
{
    uintptr_t word;
    int there = version & 1 ? CHANGED : read_word(table, version, address, &word);
    if (there != THERE)
        return there;
    if (!(word & 1))
        return read_page(table, version, (const page *)word, (unsigned)(address & (PAGE_SPAN - 1)),
                         found);
    found->delta = GET(((const page_piece *)(word - 1))->delta);
    found->group = GET(((const page_piece *)(word - 1))->group);
    found->place = (uint32_t)(PAGE_SPAN - 1) << LAST_SHIFT | FROM_BEFORE | GOES_ON;
    return has_changed(table, version) ? CHANGED : THERE;
}

static void tell(haul__found_range *found, uintptr_t address, const page_piece *one)
{
    found->delta = one->delta;
    found->group = one->group;
    found->end = (address & ~(PAGE_SPAN - 1)) + last_of(one->place) + 1;
    found->goes_on = (one->place & GOES_ON) != 0;
}

HAUL__HOT static int find(const haul__present *table, uintptr_t address, haul__found_range *found)
{
    unsigned spins = 0;
    page_piece one = { 0, 0, 0 };
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

/* A page that is not crowded, which nobody changes meanwhile. In the granule of the byte, a piece
 * may begin behind it. */
HAUL__HOT static int find_in_page(const page *p, uintptr_t address, haul__found_range *found)
{
    const unsigned byte = (unsigned)(address & (PAGE_SPAN - 1)), unit = byte >> UNIT_SHIFT;
    uint32_t i =
        p->before[unit / 32] + haul__bits32(p->bits[unit / 32] & (UINT32_MAX >> (31 - unit % 32)));
    i -= i > 0 && first_of(p->pieces[i - 1].place) > byte;
    if (i == 0 || last_of(p->pieces[i - 1].place) < byte)
        return 0;
    tell(found, address, &p->pieces[i - 1]);
    return 1;
}

/* The words of an address's block; NULL: there are none. Nobody changes the table meanwhile. */
static const uintptr_t *pages_held(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> BLOCK_SHIFT) + 1;
    const haul__directory *directory = (const haul__directory *)table->directory;
    if (table->last_block != block) {
        const slot *at = directory ? &directory->slots[slot_of(directory, block)] : NULL;
        if (!at || !at->block)
            return NULL;
        table->last_block = block;
        table->last_pages = at->pages;
    }
    return (const uintptr_t *)table->last_pages;
}

int haul__present_find_held(haul__present *table, uintptr_t address, haul__found_range *found)
{
    const uintptr_t *pages = pages_held(table, address);
    const uintptr_t word = pages ? pages[address >> PAGE_SHIFT & (PAGES - 1)] : 0;
    if (!word)
        return 0;
    return (word & 1) || ((const page *)word)->is_crowded
               ? haul__present_find(table, address, found)
               : find_in_page((const page *)word, address, found);
}

/* The first byte from `byte` on that lies in a range of a page that is not crowded, which nobody
 * changes meanwhile; PAGE_SPAN: there is none. */
HAUL__HOT static unsigned next_held(const page *p, unsigned byte)
{
    const unsigned unit = byte >> UNIT_SHIFT;
    uint32_t i =
        p->before[unit / 32] + haul__bits32(p->bits[unit / 32] & (UINT32_MAX >> (31 - unit % 32)));
    i -= i > 0 && first_of(p->pieces[i - 1].place) > byte;
    if (i > 0 && last_of(p->pieces[i - 1].place) >= byte)
        return byte;
    return i < p->count ? first_of(p->pieces[i].place) : (unsigned)PAGE_SPAN;
}

/* Most ranges lie in one page. */
uintptr_t haul__present_next_held(haul__present *table, uintptr_t begin, uintptr_t end)
{
    const uintptr_t page_at = begin & ~(PAGE_SPAN - 1);
    const uintptr_t *pages;
    const page *p;
    unsigned next;
    if (end - page_at > PAGE_SPAN)
        return haul__present_next(table, begin, end);
    pages = pages_held(table, begin);
    p = pages ? (const page *)pages[begin >> PAGE_SHIFT & (PAGES - 1)] : NULL;
    if (!p)
        return end;
    if ((uintptr_t)p & 1 || p->is_crowded)
        return haul__present_next(table, begin, end);
    next = next_held(p, (unsigned)(begin - page_at));
    return next < end - page_at ? page_at + next : end;
}

/* How many pieces end before a byte; or one fewer. */
HAUL__INLINE uint32_t count_before(const page *p, unsigned byte)
{
    const unsigned unit = byte >> UNIT_SHIFT;
    const uint32_t before =
        GET(p->before[unit / 32]) +
        haul__bits32(GET(p->bits[unit / 32]) & (((uint32_t)1 << unit % 32) - 1));
    return before > 0 && !GET(p->is_crowded) ? before - 1 : 0;
}

/* The first byte of a page from `byte` on that lies in a range; PAGE_SPAN: there is none. */
HAUL__HOT static unsigned next_in_page(const haul__present *table, uint32_t version,
                                       uintptr_t address, int *has_changed_meanwhile)
{
    const unsigned byte = (unsigned)(address & (PAGE_SPAN - 1));
    unsigned next = (unsigned)PAGE_SPAN;
    uintptr_t word;
    const page *p;
    uint32_t i, count;
    int there = version & 1 ? CHANGED : read_word(table, version, address, &word);
    if (there == THERE && (word & 1))
        return byte;
    if (there == THERE) {
        p = (const page *)word;
        count = GET(p->count);
        i = count_before(p, byte);
        there = has_changed(table, version) ? CHANGED : THERE;
        for (; there == THERE && i < count && next == PAGE_SPAN; i++) {
            const uint32_t place = GET(p->pieces[i].place);
            if (last_of(place) >= byte)
                next = first_of(place) > byte ? first_of(place) : byte;
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
        if (next < PAGE_SPAN)
            break;
        at = (at & ~(PAGE_SPAN - 1)) + PAGE_SPAN;
        if (at == 0)
            return end;
    }
    if (at < end)
        at = (at & ~(PAGE_SPAN - 1)) + next;
    return at < end ? at : end;
}

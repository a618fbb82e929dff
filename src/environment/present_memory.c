/* Memory of a present table, and the directory of its blocks (present_records.h).
 *
 * Sizes are classes, so what one page or block gives back fits the next one. All is kept until the
 * table closes: a reader may still be in it.
 */
#include "environment/present_change.h"

/* ---- Memory. */

struct haul__kept {
    struct haul__kept *next;
    size_t bytes;
};

/* Sizes are powers of two, and these and a half. */
#define BLOCK 16u /* of blocks */

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

size_t haul__present_bytes_of(unsigned class)
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
void *haul__present_take(haul__present *table, haul__fresh *fresh, unsigned class)
{
    const size_t bytes = haul__present_bytes_of(class);
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

void haul__present_give_back(haul__present *table, void *record, unsigned class)
{
    HAUL__STORE(*(uintptr_t *)record, table->free[class]);
    table->free[class] = (uintptr_t)record;
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
    const size_t old_slots = old ? old->last / sizeof *old->slots + 1 : 0,
                 slots = old ? 2 * old_slots : 16;
    size_t i;
    made = keep(table, sizeof *made + slots * sizeof *made->slots);
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made + slots * sizeof *made->slots);
    made->last = (slots - 1) * sizeof *made->slots;
    table->last_block = 0;
    haul__present_begin_change(table);
    for (i = 0; i < old_slots; i++) {
        const haul__present_slot *from = &old->slots[i];
        if (from->block && is_empty((const haul__page_entry *)from->pages)) {
            haul__present_give_back(table, (void *)from->pages, BLOCK);
        } else if (from->block) {
            *haul__present_slot_of(made, (from->block - 1) << HAUL__PRESENT_BLOCK) = *from;
            made->used++;
        }
    }
    HAUL__STORE(table->directory, (uintptr_t)made);
    haul__present_end_change(table);
    return made;
}

/* The slot of a block, whose pages are made if there are none. NULL: out of memory. */
static haul__present_slot *find_slot(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    haul__directory *directory = (haul__directory *)table->directory;
    haul__present_slot *at = directory ? haul__present_slot_of(directory, address) : NULL;
    haul__page_entry *pages;
    unsigned i;
    if (at && at->block)
        return at;
    if (!directory || 2 * directory->used * sizeof *at >= directory->last) {
        directory = grow(table);
        if (!directory)
            return NULL;
    }
    pages = haul__present_take(table, &table->blocks, BLOCK);
    if (!pages)
        return NULL;
    at = haul__present_slot_of(directory, address);
    haul__present_begin_change(table);
    for (i = 0; i < HAUL__PRESENT_PAGES; i++)
        HAUL__STORE(pages[i].word, (uintptr_t)0);
    HAUL__STORE(at->pages, (uintptr_t)pages);
    HAUL__STORE(at->block, block);
    haul__present_end_change(table);
    directory->used++;
    return at;
}

/* Ranges come and go in order of address, so the block often is the last one again. */
haul__page_entry *haul__present_page_made(haul__present *table, uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    haul__present_slot *slot;
    if (table->last_block != block) {
        table->last_slot = (uintptr_t)find_slot(table, address);
        table->last_block = table->last_slot ? block : 0;
    }
    slot = (haul__present_slot *)table->last_slot;
    if (!slot)
        return NULL;
    if (slot->row.inverse) {
        haul__present_begin_change(table);
        HAUL__STORE(slot->row.inverse, (uintptr_t)0);
        haul__present_end_change(table);
    }
    return (haul__page_entry *)slot->pages + haul__present_page_of(address);
}

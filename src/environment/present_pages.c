/* Pages of a present table: their records and entries (present_records.h).
 *
 * An entry is written anew by its record. Only a row that came to an empty page has no pieces in
 * its record, until others come or some of it leaves.
 */
#include "environment/present_change.h"

#define SMALLEST 12u /* class of records */

static size_t room_of(unsigned class)
{
    return (haul__present_bytes_of(class) - sizeof(haul__present_page)) / sizeof(haul__page_piece);
}

/* The bits of a page by its pieces; 0: two begin in one granule. */
HAUL__HOT static int bits_of(const haul__present_page *p, haul__page_bits *bits)
{
    const uint32_t count = p->count;
    uint32_t i, part, before = 0;
    memset(bits, 0, sizeof *bits);
    for (i = 0; i < count; i++) {
        const unsigned unit = haul__first_of(p->pieces[i].place) >> HAUL__PRESENT_UNIT;
        bits->of[unit / 32] |= (uint32_t)1 << unit % 32;
    }
    for (part = 0; part < HAUL__PRESENT_PARTS; part++) {
        bits->before[part] = (uint8_t)before;
        before += haul__bits32(bits->of[part]);
    }
    return before == count;
}

static void set_bits(haul__page_entry *entry, const haul__page_bits *bits)
{
    unsigned part;
    for (part = 0; part < HAUL__PRESENT_PARTS; part++) {
        HAUL__STORE(entry->as.bits.of[part], bits->of[part]);
        HAUL__STORE(entry->as.bits.before[part], bits->before[part]);
    }
}

void haul__present_index(haul__page_entry *entry, const haul__present_page *p)
{
    const uint32_t last = p->pieces[p->count - 1].place;
    uintptr_t flags = HAUL__PRESENT_CROWDED;
    haul__page_row row;
    haul__page_bits bits;
    if (haul__present_row(p->pieces, p->count, &row)) {
        flags = HAUL__PRESENT_ROW | (last & HAUL__PRESENT_GOES_ON ? HAUL__PRESENT_ROW_GOES_ON : 0);
        haul__present_set_row(entry, &row);
    } else if (bits_of(p, &bits)) {
        flags = 0;
        set_bits(entry, &bits);
    }
    HAUL__STORE(entry->word, (uintptr_t)p | flags);
}

void haul__present_write(haul__present *table, haul__page_entry *entry)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    const uint32_t count = haul__row_count(&entry->as.row);
    uint32_t i;
    haul__present_begin_change(table);
    for (i = 0; i < count; i++) {
        const haul__page_piece one = haul__present_piece_of(
            &entry->as.row, (entry->word & HAUL__PRESENT_ROW_GOES_ON) != 0, i);
        haul__present_put(&p->pieces[i], &one);
    }
    HAUL__STORE(p->count, count);
    haul__present_end_change(table);
}

haul__present_page *haul__present_with_room(haul__present *table, haul__page_entry *entry,
                                            size_t more)
{
    haul__present_page *old = haul__present_record_of(entry->word), *made;
    unsigned class = old ? old->class : SMALLEST;
    uint32_t i;
    if (haul__present_is_unwritten(entry))
        haul__present_write(table, entry);
    while (room_of(class) < (old ? old->count : 0) + more)
        class += 1;
    if (old && class == old->class)
        return old;
    made = haul__present_take(table, &table->records, class);
    if (!made)
        return NULL;
    haul__present_begin_change(table);
    HAUL__STORE(made->count, old ? old->count : 0);
    HAUL__STORE(made->class, class);
    for (i = 0; i < made->count; i++)
        haul__present_put(&made->pieces[i], &old->pieces[i]);
    /* an empty record is searched: its entry has no bits yet */
    HAUL__STORE(entry->word, (uintptr_t)made |
                                 (old ? entry->word & HAUL__PRESENT_FLAGS : HAUL__PRESENT_CROWDED));
    if (old)
        haul__present_give_back(table, old, old->class);
    haul__present_end_change(table);
    return made;
}

void haul__present_end_removal(haul__present *table, haul__page_entry *entry)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    if (p->count) {
        haul__present_index(entry, p);
    } else {
        HAUL__STORE(entry->word, (uintptr_t)0);
        haul__present_give_back(table, p, p->class);
    }
}

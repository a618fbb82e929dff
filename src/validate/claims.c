/* Bytes that one object counts by, and another one may write.
 *
 * Marks tell pointers from data, but not whose data a byte is. In an image made with malice an
 * array of numbers may lie over another object's count. The graph is then as its types say, until
 * somebody writes the array. So each number that discovery has read, and each special word, is a
 * *spot*: an object that covers it must know it as such a field. A number needs an object that
 * does, and may not lie in a pointer: its value would depend on where the block lies. Borrowed
 * pointers are not followed, so the type of their targets is compared here, too.
 *
 * Spots are sorted by address. Each object marks the spots within it, as one that counts by them or
 * as one whose data changes them; then each spot is judged. The work is that of the overlaps, and
 * is counted.
 */
#include "validate/claims.h"

#include "base/list.h"
#include "base/sort.h"
#include "layout/layout.h"
#include "map/forms.h"
#include "type/field.h"
#include "type/row.h"
#include "walk/aliases.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/place.h"
#include "walk/targets.h"
#include "walk/waiting.h"

#define STEPS_MOST 32u /* steps for each spot and object; more: they overlap on purpose */

typedef struct spot {
    uintptr_t at;
    unsigned bytes;
    int is_word;    /* a special word, no number */
    int is_free;    /* the end of a string, which its own bytes may hold */
    int is_read;    /* an object that covers it counts or chooses by it */
    int is_written; /* it may be data of another one */
} spot;

typedef struct span {
    uintptr_t begin, end;
    uintptr_t before; /* the furthest end of those before it */
    size_t entry;
} span;

typedef struct claims {
    haul__discovery *d;
    spot *spots;
    span *spans;
    size_t spot_count, spot_room, span_count, span_room, steps, most;
} claims;

/* All ranges that pointers lead to, with new bytes or without. */
static size_t entry_count(const claims *c)
{
    return c->d->entries.count + c->d->known.count;
}

static const haul__entry *entry_at(const claims *c, size_t i)
{
    const size_t count = c->d->entries.count;
    return i < count ? &c->d->entries.at[i] : &c->d->known.at[i - count];
}

/* The offset of an address in its element, whose first byte may lie behind its address. */
static size_t offset_in(const claims *c, const haul__entry *entry, uintptr_t address)
{
    const size_t offset = address - entry->address;
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? c->d->met_types[entry->met_type].walk : NULL;
    const size_t lower = walk ? walk->true_lower : 0;
    return offset < lower ? offset : (offset - lower) % entry->stride + lower;
}

/* ---- Spots. */

static haul_status step(claims *c)
{
    if (c->steps++ < c->most)
        return HAUL_OK;
    return haul__refuse(c->d, HAUL_ERROR_LIMIT, NULL, "too many objects overlap");
}

static int is_spot_before(const void *a, const void *b)
{
    return ((const spot *)a)->at < ((const spot *)b)->at;
}

static int spot_begins_before(const void *spots, size_t i, uint64_t address)
{
    return ((const spot *)spots)[i].at < address;
}

static size_t first_spot(const claims *c, uintptr_t address)
{
    return haul__search(c->spots, 0, c->spot_count, address, spot_begins_before);
}

static void add_spot(claims *c, uintptr_t at, unsigned bytes, int is_word)
{
    spot *added = &c->spots[c->spot_count++];
    added->at = at;
    added->bytes = bytes;
    added->is_word = is_word;
    added->is_free = added->is_read = added->is_written = 0;
}

static void list_spots(claims *c)
{
    const haul__found *found = c->d->found;
    size_t i = found->read_count;
    while (i > 0) {
        const uint64_t read = found->reads[--i];
        add_spot(c, HAUL__READ_ADDRESS(read), 1u << (read >> 48 & 3u), 0);
        if (read >> 50 == HAUL__READ_FAR) /* its value stands before it */
            i--;
    }
    for (i = 0; i < found->special_count; i++)
        add_spot(c, found->special[i].address, found->special[i].bytes, 1);
    haul__sort(c->spots, c->spot_count, sizeof *c->spots, is_spot_before);
    c->spots[c->spot_count].at = UINTPTR_MAX; /* behind all ranges: it ends each loop */
}

/* ---- What a type's elements know of a byte. */

static int is_at(const haul_integer *field, size_t self, size_t offset, unsigned bytes)
{
    return self + field->offset == offset && field->bytes == bytes;
}

static int reads_count(const haul__slot *slot, size_t offset, unsigned bytes)
{
    unsigned level, i;
    for (level = 0; level < slot->levels; level++)
        for (i = 0;
             slot->shape[level].kind == HAUL_COUNT_KIND_PRODUCT && i < slot->shape[level].fields;
             i++)
            if (is_at(&slot->shape[level].field[i], slot->self, offset, bytes))
                return 1;
    return 0;
}

static int reads_by_rule(const haul__rule *rule, size_t offset, unsigned bytes)
{
    for (; rule; rule = rule->each) {
        const haul_field *said = &rule->said;
        if (is_at(&said->when.field, 0, offset, bytes)) /* of 0 bytes if there is none */
            return 1;
        if (said->type_switch.kind == HAUL_SWITCH_KIND_SELF &&
            is_at(&said->type_switch.field, 0, offset, bytes))
            return 1;
    }
    return 0;
}

static int counts_in(const haul_count *count, size_t offset, unsigned bytes)
{
    unsigned i;
    for (i = 0; count->kind == HAUL_COUNT_KIND_PRODUCT && i < count->fields; i++)
        if (is_at(&count->field[i], 0, offset, bytes))
            return 1;
    return 0;
}

/* The extents and strides of a section. */
static int reads_section(const haul__rule *rule, size_t offset, unsigned bytes)
{
    const haul_section *section = rule ? &rule->said.section : NULL;
    size_t i;
    for (i = 0; section && i < section->rank; i++)
        if (counts_in(&section->dimensions[i].extent, offset, bytes) ||
            counts_in(&section->dimensions[i].stride, offset, bytes))
            return 1;
    return 0;
}

/* The pointers that a slot leads to may have members of their own, which read the slot's struct. */
static int reads_each(const haul__slot *slot, size_t offset, unsigned bytes)
{
    const haul__walk *each = haul__type_walk(slot->target);
    if (!each || !each->is_slot)
        return 0;
    return reads_count(&each->ruled->slot, offset - slot->self, bytes) ||
           reads_by_rule(each->ruled->rule, offset - slot->self, bytes);
}

/* Does a field of any type met choose by a number at this offset of the type? */
static int is_tag(const haul__discovery *d, const haul_type *type, size_t offset, unsigned bytes)
{
    size_t t, i, k;
    for (t = 0; t < d->met_type_count; t++)
        for (i = 0; i < d->met_types[t].walk->ruled_count; i++) {
            const haul__ruled *ruled = &d->met_types[t].walk->ruled[i];
            const haul_switch *choice = ruled->rule ? &ruled->rule->said.type_switch : NULL;
            if (!choice || choice->kind != HAUL_SWITCH_KIND_TARGET)
                continue;
            for (k = 0; k < choice->case_count; k++)
                if (ruled->cases[k].target == type && choice->field.bytes == bytes &&
                    choice->field.offset - (size_t)choice->cases[k].base == offset)
                    return 1;
        }
    return 0;
}

static int counts_by(const haul__discovery *d, const haul__met_type *met, size_t offset,
                     unsigned bytes)
{
    const haul__walk *walk = met->walk;
    size_t i;
    for (i = 0; i < walk->slot_count; i++)
        if (reads_count(&walk->slots[i], offset, bytes) ||
            reads_each(&walk->slots[i], offset, bytes))
            return 1;
    for (i = 0; i < walk->ruled_count; i++)
        if (reads_count(&walk->ruled[i].slot, offset, bytes) ||
            reads_each(&walk->ruled[i].slot, offset, bytes) ||
            reads_by_rule(walk->ruled[i].rule, offset, bytes) ||
            reads_section(walk->ruled[i].rule, offset, bytes))
            return 1;
    return is_tag(d, met->type, offset, bytes);
}

/* A pointer off the grid is a special word, without a rule that would name it. */
static int has_word(const haul__walk *walk, size_t offset)
{
    size_t i;
    for (i = 0; i < walk->slot_count; i++)
        if (walk->slots[i].offset == offset && (walk->slots[i].flags & HAUL__SLOT_OFF_GRID))
            return 1;
    return 0;
}

static int overlap(size_t first, size_t bytes, size_t offset, size_t count)
{
    return first < offset + count && offset < first + bytes;
}

/* Is a row with rules data now? An arm that is plain bytes, or one that does not hold and travels
 * as it is. Functions are not asked. A row that always holds has no field that could be read. */
static int is_data_now(const haul__ruled *ruled, const void *element)
{
    const haul_field *said;
    if (!ruled->rule)
        return 0;
    said = &ruled->rule->said;
    if (said->kind == HAUL_FIELD_SKIP || said->when.kind == HAUL_WHEN_KIND_FUNCTION)
        return 0;
    return said->when.kind == HAUL_WHEN_KIND_ALWAYS || haul__when_holds(&said->when, element)
               ? ruled->kind == HAUL__RULED_DATA
               : said->else_raw;
}

/* Are bytes of the range plain data of the element? The elements of a tail have an entry of their
 * own. */
static int has_data(const haul__walk *walk, const void *element, size_t offset, size_t bytes)
{
    size_t i;
    for (i = 0; i < walk->run_count; i++)
        if (overlap(walk->runs[i].offset, walk->runs[i].bytes, offset, bytes))
            return 1;
    for (i = 0; i < walk->ruled_count; i++)
        if (overlap(walk->ruled[i].slot.offset, walk->ruled[i].bytes, offset, bytes) &&
            is_data_now(&walk->ruled[i], element))
            return 1;
    return walk->size && offset + bytes > walk->extent;
}

/* ---- The ends of strings. */

static void free_ends(claims *c)
{
    size_t i, s;
    for (i = 0; i < entry_count(c); i++) {
        const haul__entry *entry = entry_at(c, i);
        const uintptr_t last = entry->address + (entry->count - 1) * entry->stride;
        if (entry->what != HAUL__PLAIN ||
            entry->slot->shape[entry->level].kind != HAUL_COUNT_KIND_TERMINATED)
            continue;
        for (s = first_spot(c, last); c->spots[s].at == last; s++)
            c->spots[s].is_free |= c->spots[s].bytes == entry->stride;
    }
}

/* ---- Pointers over numbers. */

static int special_begins_before(const void *special, size_t i, uint64_t address)
{
    return ((const haul__special_word *)special)[i].address < address;
}

/* Has a pointer that is not null a byte of the number? */
static int is_over_pointer(const haul__found *found, const spot *s)
{
    uintptr_t word = s->at & ~(uintptr_t)(HAUL__WORD - 1);
    size_t i = haul__search(found->special, 0, found->special_count, s->at - (HAUL__WORD - 1),
                            special_begins_before);
    for (; i < found->special_count && found->special[i].address < s->at + s->bytes; i++)
        if (haul__is_pointer(&found->special[i]) &&
            haul__load_word((const void *)found->special[i].address) != 0)
            return 1;
    for (; word < s->at + s->bytes; word += HAUL__WORD) {
        const haul__block *block = haul__map_find(&found->map, word);
        const uint64_t slots =
            block ? haul__placed_slots(&found->map, block, haul__cell_number(word)) : 0;
        if ((slots >> haul__word_in_cell(word) & 1) && haul__load_word((const void *)word) != 0)
            return 1;
    }
    return 0;
}

/* ---- Objects over spots. */

static haul_status refuse_byte(const claims *c, uintptr_t address, const char *why)
{
    const haul_status status = haul__fail(&c->d->context->error, HAUL_ERROR_GRAPH, "%s", why);
    haul__name_near(c->d, address);
    return status;
}

/* A spot that begins in an element, and may end in the next one. */
static void mark_spot(const claims *c, const haul__entry *entry, spot *s)
{
    const haul__met_type *met = &c->d->met_types[entry->met_type];
    const size_t offset = offset_in(c, entry, s->at), end = offset + s->bytes;
    const unsigned char *element = (const unsigned char *)s->at - offset;
    if (s->is_word ? has_word(met->walk, offset) : counts_by(c->d, met, offset, s->bytes))
        s->is_read = 1;
    else if (has_data(met->walk, element, offset, s->bytes) ||
             (end > entry->stride &&
              has_data(met->walk, element + entry->stride, 0, end - entry->stride)))
        s->is_written = 1;
}

/* Does the number lie between two runs of a section's line? */
static int lies_in_gap(const haul__entry *entry, const spot *s)
{
    size_t place;
    if (!entry->run || s->at < entry->address)
        return 0;
    place = (s->at - entry->address) % entry->stride;
    return place >= entry->run && place + s->bytes <= entry->stride;
}

/* The spots of which a range has a byte. */
static haul_status mark_range(claims *c, const haul__entry *entry, uintptr_t end)
{
    size_t s = first_spot(c, entry->address - 7);
    for (; c->spots[s].at < end; s++) {
        spot *it = &c->spots[s];
        if (it->at + it->bytes <= entry->address || lies_in_gap(entry, it))
            continue;
        if (step(c) != HAUL_OK)
            return HAUL_ERROR_LIMIT;
        if (entry->what == HAUL__PLAIN || it->at < entry->address)
            it->is_written = 1;
        else
            mark_spot(c, entry, it);
    }
    return HAUL_OK;
}

static haul_status mark_spots(claims *c)
{
    size_t i;
    for (i = 0; i < c->span_count; i++) {
        const haul__entry *entry = entry_at(c, c->spans[i].entry);
        const int is_data = entry->what == HAUL__PLAIN && !(entry->slot->flags & HAUL__SLOT_POOL);
        if ((entry->what == HAUL__OBJECTS || is_data) &&
            mark_range(c, entry, c->spans[i].end) != HAUL_OK)
            return HAUL_ERROR_LIMIT;
    }
    return HAUL_OK;
}

/* An end that no object counts by is free. */
static haul_status check_spots(claims *c)
{
    size_t i;
    for (i = 0; i < c->spot_count; i++) {
        const spot *s = &c->spots[i];
        const char *why = NULL;
        if (s->is_free && !s->is_read)
            continue;
        if (s->is_written)
            why = "a number or word that the graph depends on, and data of another object";
        else if (!s->is_word && !s->is_read)
            why = "a number that the graph depends on belongs to no object";
        else if (!s->is_word && is_over_pointer(c->d->found, s))
            why = "a number that the graph depends on lies in a pointer";
        if (why)
            return refuse_byte(c, s->at, why);
    }
    return HAUL_OK;
}

/* ---- Borrowed pointers. */

static int is_span_before(const void *a, const void *b)
{
    return ((const span *)a)->begin < ((const span *)b)->begin;
}

static int begins_by(const void *spans, size_t i, uint64_t address)
{
    return ((const span *)spans)[i].begin <= address;
}

static void list_spans(claims *c)
{
    uintptr_t reach = 0;
    size_t i;
    for (i = 0; i < entry_count(c); i++) {
        const haul__entry *entry = entry_at(c, i);
        span *added = &c->spans[c->span_count];
        added->begin = entry->address;
        added->end = entry->address + haul__entry_bytes(c->d, entry);
        added->entry = i;
        c->span_count += added->end > added->begin;
    }
    haul__sort(c->spans, c->span_count, sizeof *c->spans, is_span_before);
    for (i = 0; i < c->span_count; i++) {
        c->spans[i].before = reach;
        reach = c->spans[i].end > reach ? c->spans[i].end : reach;
    }
}

/* Is the byte plain data, no part of a pointer? */
static int is_plain(const haul__walk *walk, const void *element, size_t offset)
{
    size_t i;
    for (i = 0; i < walk->slot_count; i++)
        if (overlap(walk->slots[i].offset, HAUL__WORD, offset, 1))
            return 0;
    return has_data(walk, element, offset, 1);
}

static int fits(const claims *c, const haul__entry *entry, uintptr_t address,
                const haul__slot *slot)
{
    const haul__met_type *met = &c->d->met_types[entry->met_type];
    const size_t offset = offset_in(c, entry, address);
    const void *element = (const void *)(address - offset);
    if (entry->what != HAUL__OBJECTS)
        return entry->what == HAUL__PLAIN && !slot->target;
    return slot->target ? haul__embeds(met->type, offset, slot->target)
                        : is_plain(met->walk, element, offset) &&
                              is_plain(met->walk, element, offset + slot->unit - 1);
}

static haul_status check_borrowed(claims *c, uintptr_t address, const haul__slot *slot,
                                  size_t entry, size_t element)
{
    size_t i = haul__search(c->spans, 0, c->span_count, address, begins_by);
    c->d->at_entry = entry;
    c->d->at_element = element;
    while (i-- > 0) {
        const span *s = &c->spans[i];
        if ((s->end > address && fits(c, entry_at(c, s->entry), address, slot)) ||
            (s->end == address && !slot->target))
            return HAUL_OK;
        if (step(c) != HAUL_OK)
            return HAUL_ERROR_LIMIT;
    }
    return haul__refuse(c->d, HAUL_ERROR_GRAPH, slot,
                        "a borrowed pointer that leads to no object of its type");
}

static haul_status check_all_borrowed(claims *c)
{
    const haul__discovery *d = c->d;
    haul_status status = HAUL_OK;
    size_t i, k;
    for (i = 0; i < d->aliases.count && status == HAUL_OK; i++)
        status = check_borrowed(c, d->aliases.at[i].value, d->aliases.at[i].slot,
                                d->aliases.at[i].entry, d->aliases.at[i].element);
    for (k = 0; k < 2; k++)
        for (i = 0; i < d->waiting[k].list.count && status == HAUL_OK; i++) {
            const haul__waiting *w = &d->waiting[k].list.at[i];
            if (w->is_borrowed)
                status = check_borrowed(c, w->word.start, w->word.slot, w->entry, w->element);
        }
    return status;
}

/* ---- Pointers that two objects have. */

static int is_target_before(const void *a, const void *b)
{
    return ((const haul__word_target *)a)->place < ((const haul__word_target *)b)->place;
}

/* A plan follows such a pointer once, for the object that it meets first. */
static haul_status check_targets(claims *c)
{
    haul__word_target *targets = c->d->targets.at;
    size_t i, count = 0;
    for (i = 0; i < c->d->targets.count; i++) {
        const size_t s = haul__search(c->spans, 0, c->span_count, targets[i].place, begins_by);
        if (c->spans[s - 1].before > targets[i].place) /* else nothing else has the word */
            targets[count++] = targets[i];
    }
    haul__sort(targets, count, sizeof *targets, is_target_before);
    for (i = 1; i < count; i++)
        if (targets[i].place == targets[i - 1].place &&
            !haul__is_same_target(&targets[i], &targets[i - 1]))
            return refuse_byte(c, targets[i].place,
                               "one pointer word is described with two different targets");
    return HAUL_OK;
}

haul_status haul__check_claims(haul__discovery *d)
{
    haul_status status = HAUL_ERROR_MEMORY;
    claims c;
    memset(&c, 0, sizeof c);
    c.d = d;
    c.spot_room = d->found->read_count + d->found->special_count + 1;
    c.span_room = entry_count(&c) + 1;
    c.most = (c.spot_room + c.span_room) * STEPS_MOST;
    c.spots = haul__allocate(d->allocator, c.spot_room * sizeof *c.spots, sizeof(uint64_t));
    c.spans = haul__allocate(d->allocator, c.span_room * sizeof *c.spans, sizeof(uint64_t));
    if (c.spots && c.spans) {
        list_spots(&c);
        list_spans(&c);
        free_ends(&c);
        status = mark_spots(&c);
        if (status == HAUL_OK)
            status = check_spots(&c);
        if (status == HAUL_OK)
            status = check_all_borrowed(&c);
        if (status == HAUL_OK)
            status = check_targets(&c);
    } else {
        haul__fail(&d->context->error, status, "out of memory for the checks of an image");
    }
    haul__release(d->allocator, c.spots, c.spot_room * sizeof *c.spots);
    haul__release(d->allocator, c.spans, c.span_room * sizeof *c.spans);
    return status;
}

/* An image of structs as they were becomes one of structs that have grown.
 *
 * The walk tells where grown structs lie: ranges of elements, which are apart. Each element gets
 * more room behind it, so all that follows moves up, and the map from old offsets to new ones is
 * monotone. Objects keep their addresses modulo the largest alignment, because what a range adds is
 * rounded up to it. Then each pointer is sent through the map.
 *
 * A monotone map cannot tell the end of a range from the begin of another that touches it. Only a
 * pair of begin and end, or a limit, has pointers that mean an end: those are looked for first.
 * Distances, and pointers that lead beside their targets, are worked out from the targets.
 *
 * Why it is right: the old graph has been checked, so a bit or the list names each word that may be
 * followed. The result is an image like any other: its reader checks it again, by the
 * types that have grown. So a mistake here can lose a graph, but not make a wrong one look right.
 */
#include "image/convert.h"

#include "base/sort.h"
#include "base/status.h"
#include "walk/discovery.h"
#include "walk/met_types.h"
#include "walk/place.h"

/* Bytes of a struct as it was and as it is, and where its new fields begin. `is` 0: it has not
 * grown. */
typedef struct growth {
    size_t was, is, added;
} growth;

/* Elements of one grown type, side by side. Members but `place` are of the old arena. */
typedef struct grown_range {
    size_t begin, end, place;
    const growth *growth;
} grown_range;

/* A pointer at `word` that means the end of a range. */
typedef struct range_end {
    size_t word, place;
} range_end;

typedef struct converter {
    const haul__claimed *was;
    const haul__offsets *old;
    const haul_allocator *allocator;
    haul_error *error;
    haul__discovery walk;
    haul__found found;
    growth *growths; /* by number of the met type */
    size_t alignment;
    HAUL__LIST(grown_range) ranges;
    HAUL__LIST(range_end) ends; /* by word */
    unsigned char *arena;       /* the new one */
    uint64_t *bitmap;
    size_t bytes, bitmap_bytes;
    HAUL__LIST(haul__odd_word) words;
} converter;

static haul_status short_of_memory(const converter *c)
{
    return haul__fail(c->error, HAUL_ERROR_MEMORY, "out of memory for an image");
}

static size_t offset_of(const converter *c, uintptr_t address)
{
    return address - (uintptr_t)c->old->block;
}

/* ---- Where grown structs lie. */

static int is_range_before(const void *a, const void *b)
{
    const grown_range *one = a, *other = b;
    return one->begin != other->begin ? one->begin < other->begin : one->end > other->end;
}

static int begins_by(const void *ranges, size_t i, uint64_t offset)
{
    return ((const grown_range *)ranges)[i].begin <= offset;
}

/* The last range that begins at the offset or before it; NULL: none does. */
static const grown_range *range_before(const converter *c, size_t offset)
{
    const size_t i = haul__search(c->ranges.at, 0, c->ranges.count, offset, begins_by);
    return i ? &c->ranges.at[i - 1] : NULL;
}

static haul_status refuse_overlap(converter *c, size_t offset)
{
    char path[HAUL_PATH_BYTES];
    haul__fail(c->error, HAUL_ERROR_UNSUPPORTED,
               "no image is converted to it: other objects overlap structs that have grown");
    if (haul__name_byte(&c->walk, (uintptr_t)c->old->block + offset, 1, path))
        haul__set_path(c->error->path, path);
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status find_growths(converter *c, const haul__type_text *before,
                                const haul__type_text *now)
{
    size_t i;
    c->alignment = HAUL__GRANULE;
    c->growths = haul__allocate_zeroed(c->allocator, c->walk.met_type_count * sizeof *c->growths);
    if (!c->growths)
        return short_of_memory(c);
    for (i = 0; i < c->walk.met_type_count; i++) {
        const haul__met_type *met = &c->walk.met_types[i];
        const uint32_t number = haul__type_text_number(before, met->type);
        const haul_image_growth *declared = haul__type_text_growth(now, number);
        if (met->walk->placement > c->alignment)
            c->alignment = met->walk->placement;
        if (!declared)
            continue;
        c->growths[i].was = declared->stored_bytes;
        c->growths[i].is = haul__type_walk(now->types.at[number])->extent;
        c->growths[i].added = declared->added_at;
    }
    return HAUL_OK;
}

static haul_status list_ranges(converter *c)
{
    size_t i;
    for (i = 0; i < c->walk.entries.count; i++) {
        const haul__entry *entry = &c->walk.entries.at[i];
        const growth *growth = &c->growths[entry->met_type];
        grown_range *added;
        if (entry->what != HAUL__OBJECTS || !growth->is || !entry->count)
            continue;
        added = HAUL__LIST_ADD(c->allocator, &c->ranges);
        if (!added)
            return short_of_memory(c);
        added->begin = offset_of(c, entry->address);
        added->end = added->begin + entry->count * growth->was;
        added->growth = growth;
        if (added->end > c->old->bytes)
            return refuse_overlap(c, added->begin);
    }
    haul__sort(c->ranges.at, c->ranges.count, sizeof *c->ranges.at, is_range_before);
    return HAUL_OK;
}

/* Is the inner one a single struct, and the last field of an element of the outer one? Then both
 * have the same new bytes. */
static int is_last_field(const grown_range *outer, const grown_range *inner)
{
    const size_t at = (inner->begin - outer->begin) % outer->growth->was;
    return inner->end - inner->begin == inner->growth->was &&
           at + inner->growth->was <= outer->growth->was &&
           at + inner->growth->added == outer->growth->added;
}

/* Ranges that overlap become one, or the larger one stands for both. */
static haul_status join_ranges(converter *c)
{
    size_t i, count = 0;
    for (i = 0; i < c->ranges.count; i++) {
        const grown_range *next = &c->ranges.at[i];
        grown_range *last = count ? &c->ranges.at[count - 1] : NULL;
        if (!last || next->begin >= last->end)
            c->ranges.at[count++] = *next;
        else if (last->growth == next->growth &&
                 (next->begin - last->begin) % next->growth->was == 0)
            last->end = next->end > last->end ? next->end : last->end;
        else if (!is_last_field(last, next))
            return refuse_overlap(c, next->begin);
    }
    c->ranges.count = count;
    return HAUL_OK;
}

/* Other objects lie beside grown structs, or within one of them. */
static haul_status check_others(converter *c)
{
    const size_t count = c->walk.entries.count, all = count + c->walk.known.count;
    size_t i;
    for (i = 0; i < all; i++) {
        const haul__entry *entry =
            i < count ? &c->walk.entries.at[i] : &c->walk.known.at[i - count];
        const size_t begin = offset_of(c, entry->address),
                     end = begin + haul__entry_bytes(&c->walk, entry);
        const grown_range *before = end > begin ? range_before(c, end - 1) : NULL;
        if ((entry->what == HAUL__OBJECTS && c->growths[entry->met_type].is) || !before ||
            before->end <= begin)
            continue;
        if (begin < before->begin ||
            (begin - before->begin) % before->growth->was + (end - begin) > before->growth->was)
            return refuse_overlap(c, begin);
    }
    return HAUL_OK;
}

/* ---- Where they go. */

static haul_status place_ranges(converter *c)
{
    const size_t most = c->was->context->options.max_bytes;
    size_t i, added, moved = 0;
    for (i = 0; i < c->ranges.count; i++) {
        grown_range *r = &c->ranges.at[i];
        const growth *growth = r->growth;
        r->place = r->begin + moved;
        if (haul__multiply_overflows((r->end - r->begin) / growth->was, growth->is - growth->was,
                                     &added) ||
            added > SIZE_MAX / 4 - moved)
            return haul__fail(c->error, HAUL_ERROR_LIMIT, "converted, the image has no size");
        moved = (moved + added + c->alignment - 1) & ~(c->alignment - 1);
    }
    c->bytes = c->old->bytes + moved;
    return c->bytes <= most
               ? HAUL_OK
               : haul__fail(c->error, HAUL_ERROR_LIMIT, "%llu bytes, more than the limit of %zu",
                            (unsigned long long)c->bytes, most);
}

/* How far the bytes between range `i` and the one before it move up. */
static size_t shift_before(const converter *c, size_t i)
{
    return i < c->ranges.count ? c->ranges.at[i].place - c->ranges.at[i].begin
                               : c->bytes - c->old->bytes;
}

/* The place of a byte. Tagged pointers may lead below the arena. */
static size_t place_of(const converter *c, size_t offset)
{
    const grown_range *r = offset <= SIZE_MAX / 2 ? range_before(c, offset) : NULL;
    if (!r)
        return offset;
    if (offset >= r->end)
        return offset + shift_before(c, (size_t)(r - c->ranges.at) + 1);
    offset -= r->begin;
    return r->place + offset / r->growth->was * r->growth->is + offset % r->growth->was;
}

static void copy_bytes(const converter *c)
{
    const unsigned char *from = c->old->block;
    size_t i, at, done = 0;
    for (i = 0; i < c->ranges.count; i++) {
        const grown_range *r = &c->ranges.at[i];
        const growth *growth = r->growth;
        const size_t kept = growth->added < growth->was ? growth->added : growth->was;
        memcpy(c->arena + done + shift_before(c, i), from + done, r->begin - done);
        for (at = r->begin; at < r->end; at += growth->was)
            memcpy(c->arena + place_of(c, at), from + at, kept);
        done = r->end;
    }
    memcpy(c->arena + done + shift_before(c, i), from + done, c->old->bytes - done);
}

/* ---- Ends of ranges. */

static int is_end_before(const void *a, const void *b)
{
    return ((const range_end *)a)->word < ((const range_end *)b)->word;
}

static int stands_before(const void *ends, size_t i, uint64_t word)
{
    return ((const range_end *)ends)[i].word < word;
}

/* `slot`: the end of a pair, or a limit, of an object; begin and end lead into one range, and to
 * its end. */
static int note_end(converter *c, const haul__slot *slot, size_t object)
{
    const size_t word = object + slot->offset, begin = object + slot->self + slot->index;
    const grown_range *r;
    range_end *added;
    size_t first, end;
    if (!haul__fits(word, HAUL__WORD, c->old->bytes) ||
        !haul__fits(begin, HAUL__WORD, c->old->bytes))
        return 1;
    end = offset_of(c, haul__load_word(c->old->block + word));
    first = offset_of(c, haul__load_word(c->old->block + begin));
    r = range_before(c, end - 1);
    if (!r || r->end != end || first < r->begin || first >= end)
        return 1;
    added = HAUL__LIST_ADD(c->allocator, &c->ends);
    if (!added)
        return 0;
    added->word = word;
    added->place = r->place + (r->end - r->begin) / r->growth->was * r->growth->is;
    return 1;
}

static haul_status list_ends(converter *c)
{
    size_t i, k, s;
    int is_noted = 1;
    for (i = 0; i < c->walk.entries.count; i++) {
        const haul__entry *entry = &c->walk.entries.at[i];
        const haul__walk *walk = c->walk.met_types[entry->met_type].walk;
        if (entry->what != HAUL__OBJECTS)
            continue;
        for (s = 0; s < walk->slot_count; s++)
            for (k = 0; (walk->slots[s].flags & HAUL__SLOT_END) && k < entry->count; k++)
                is_noted &=
                    note_end(c, &walk->slots[s], offset_of(c, entry->address) + k * entry->stride);
        for (s = 0; s < walk->ruled_count; s++)
            for (k = 0; (walk->ruled[s].slot.flags & HAUL__SLOT_END) && k < entry->count; k++)
                is_noted &= note_end(c, &walk->ruled[s].slot,
                                     offset_of(c, entry->address) + k * entry->stride);
    }
    haul__sort(c->ends.at, c->ends.count, sizeof *c->ends.at, is_end_before);
    return is_noted ? HAUL_OK : short_of_memory(c);
}

/* ---- Pointers. */

/* Where a pointer leads that stands at `word`. */
static size_t target_place(const converter *c, size_t word, uintptr_t target)
{
    const size_t i = haul__search(c->ends.at, 0, c->ends.count, word, stands_before);
    if (i < c->ends.count && c->ends.at[i].word == word)
        return c->ends.at[i].place;
    return place_of(c, offset_of(c, target));
}

/* Null pointers are left out: the reader finds them by its own types. */
static haul_status put_pointer(converter *c, size_t at, uintptr_t mask)
{
    const size_t place = place_of(c, at);
    uintptr_t word = haul__load_word(c->old->block + at);
    haul__odd_word *added;
    if (!(word & ~mask))
        return HAUL_OK;
    word = (target_place(c, at, word & ~mask) + (mask ? HAUL__IMAGE_BELOW : 0)) | (word & mask);
    memcpy(c->arena + place, &word, sizeof word);
    if (!mask && place % HAUL__WORD == 0) {
        c->bitmap[place / HAUL__WORD / 64] |= (uint64_t)1 << place / HAUL__WORD % 64;
        return HAUL_OK;
    }
    added = HAUL__LIST_ADD(c->allocator, &c->words);
    if (!added)
        return short_of_memory(c);
    added->offset = place;
    added->mask = mask;
    return HAUL_OK;
}

static int is_word_before(const void *a, const void *b)
{
    return ((const haul__odd_word *)a)->offset < ((const haul__odd_word *)b)->offset;
}

static haul_status put_pointers(converter *c)
{
    const haul__offsets *old = c->old;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < old->bitmap_words; i++) {
        uint64_t bits = old->bitmap[i];
        for (; bits && status == HAUL_OK; bits &= bits - 1)
            status = put_pointer(c, (i * 64 + haul__lowest64(bits)) << HAUL__WORD_SHIFT, 0);
    }
    for (i = 0; i < old->word_count && status == HAUL_OK; i++)
        status = put_pointer(c, (size_t)old->words[i].offset, (uintptr_t)old->words[i].mask);
    haul__sort(c->words.at, c->words.count, sizeof *c->words.at, is_word_before);
    return status;
}

/* A distance, or a pointer that leads beside its target. */
static haul_status put_special(converter *c, const haul__special_word *special)
{
    const size_t at = offset_of(c, special->address);
    const int is_distance = special->kind == HAUL__DISTANCE;
    const uintptr_t mask = special->mask, addend = (uintptr_t)special->addend;
    uintptr_t value = (uintptr_t)special->value & ~mask;
    int64_t wide;
    int32_t narrow;
    if (!value || special->is_limit || !(is_distance || (haul__is_pointer(special) && addend)))
        return HAUL_OK;
    if (special->bytes == sizeof narrow)
        value = (uintptr_t)(intptr_t)(int32_t)value;
    value = place_of(c, offset_of(c, value + addend + (is_distance ? special->address : 0)));
    value -= addend + (is_distance ? place_of(c, at) : 0);
    if (mask)
        value = (value + HAUL__IMAGE_BELOW) | ((uintptr_t)special->value & mask);
    wide = (intptr_t)value;
    narrow = (int32_t)wide;
    if (special->bytes == sizeof narrow)
        memcpy(c->arena + place_of(c, at), &narrow, sizeof narrow);
    else
        memcpy(c->arena + place_of(c, at), &wide, sizeof wide);
    return special->bytes == sizeof wide || wide == narrow
               ? HAUL_OK
               : haul__fail(c->error, HAUL_ERROR_LIMIT,
                            "converted, a distance does not fit into its field");
}

/* ---- All of it. */

static haul_status convert(converter *c)
{
    size_t i;
    haul_status status = list_ranges(c);
    if (status == HAUL_OK)
        status = join_ranges(c);
    if (status == HAUL_OK)
        status = check_others(c);
    if (status == HAUL_OK)
        status = place_ranges(c);
    if (status == HAUL_OK)
        status = list_ends(c);
    if (status != HAUL_OK)
        return status;
    c->bitmap_bytes = ((c->bytes >> HAUL__WORD_SHIFT) + 63) / 64 * sizeof *c->bitmap;
    c->arena = haul__allocate_zeroed(c->allocator, c->bytes);
    c->bitmap = haul__allocate_zeroed(c->allocator, c->bitmap_bytes);
    if (!c->arena || !c->bitmap)
        return short_of_memory(c);
    copy_bytes(c);
    status = put_pointers(c);
    for (i = 0; i < c->found.special_count && status == HAUL_OK; i++)
        status = put_special(c, &c->found.special[i]);
    return status;
}

static void replace(const converter *c, void **contents, size_t *bytes, unsigned kind, void *with,
                    size_t count)
{
    haul__release(c->allocator, contents[kind], bytes[kind]);
    contents[kind] = with;
    bytes[kind] = count;
}

/* The new sections take the place of the old ones. */
static haul_status hand_over(converter *c, void **contents, size_t *bytes)
{
    const size_t word_bytes = c->words.count * sizeof *c->words.at;
    haul__image_root *roots = contents[HAUL__SECTION_ROOTS];
    void *words = NULL;
    size_t i;
    if (word_bytes > 0) {
        words = haul__allocate(c->allocator, word_bytes, sizeof(uint64_t));
        if (!words)
            return short_of_memory(c);
        memcpy(words, c->words.at, word_bytes);
    }
    for (i = 0; i < bytes[HAUL__SECTION_ROOTS] / sizeof *roots; i++)
        roots[i].offset = place_of(c, (size_t)roots[i].offset);
    replace(c, contents, bytes, HAUL__SECTION_WORDS, words, word_bytes);
    replace(c, contents, bytes, HAUL__SECTION_BITS, c->bitmap, c->bitmap_bytes);
    replace(c, contents, bytes, HAUL__SECTION_ARENA, c->arena, c->bytes);
    c->bitmap = NULL;
    c->arena = NULL;
    return HAUL_OK;
}

haul_status haul__image_convert(const haul__claimed *was, const haul__type_text *before,
                                const haul__type_text *now, void **contents, size_t *bytes)
{
    const haul__bounds bounds = haul__block_bounds(was->offsets);
    haul_status status;
    converter c;
    memset(&c, 0, sizeof c);
    c.was = was;
    c.old = was->offsets;
    c.allocator = &was->context->allocator;
    c.error = &was->context->error;
    status = haul__record(was->context, was->roots, was->root_count, &bounds, &c.found, &c.walk);
    if (status != HAUL_OK)
        return status;
    status = find_growths(&c, before, now);
    if (status == HAUL_OK)
        status = convert(&c);
    if (status == HAUL_OK)
        status = hand_over(&c, contents, bytes);
    haul__release(c.allocator, c.growths, c.walk.met_type_count * sizeof *c.growths);
    haul__release(c.allocator, c.arena, c.bytes);
    haul__release(c.allocator, c.bitmap, c.bitmap_bytes);
    HAUL__LIST_RELEASE(c.allocator, &c.ranges);
    HAUL__LIST_RELEASE(c.allocator, &c.ends);
    HAUL__LIST_RELEASE(c.allocator, &c.words);
    haul__record_close(&c.walk);
    haul__found_drop(was->context, &c.found);
    return status;
}

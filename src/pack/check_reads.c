/* The check of the read set: results must not change counts, tags, conditions or terminators.
 *
 * A count that comes back without its pointer would send the host beyond the old array. Only the
 * host's own library knows what else must change with a count. So before results are written, each
 * field that discovery read is compared with the bytes that arrived. Fields are compared in order
 * of address, as results are written. Bytes that will not be written do not matter.
 *
 * A pool shares the look. Its threads write nothing: each notes the first field of its chunk that
 * would change, and the caller's thread refuses the first of all. So errors are those of one
 * thread.
 */
#include "pack/check_reads.h"
#include "base/pool.h"
#include "context/context.h"
#include "map/exclusions.h"
#include "pack/granule_data.h"
#include "pack/stale.h"
#include "pack/translate.h"

#define FEW_READS ((size_t)1024) /* up to this number, reads are compared without a sorted list */
#define READ_CELLS_AHEAD 24u     /* the map's cell of a read is fetched this many reads ahead, */
#define READ_BYTES_AHEAD 12u     /* and the bytes that arrived for it, this many ahead */
#define ENDS_AT_ONCE ((size_t)32)

/* A piece of an arena, in `memory`, and the source range that it will be written to. */
typedef struct window {
    const uintptr_t *flat; /* the table that shows the plan's map; NULL: look in the map's list */
    const unsigned char *memory;
    size_t at, bytes;
    uintptr_t first, end;
    int is_final; /* 1: places of the plan's own layout; 0: of the compacted one */
} window;

static uintptr_t address_of(const haul_plan *plan, size_t block)
{
    return haul__block_address(plan->found.map.numbers[block]);
}

HAUL__INLINE const haul__block *block_of(const haul_plan *plan, const window *w, uintptr_t address)
{
    return address >= HAUL__LOWEST && address <= HAUL__HIGHEST
               ? haul__map_find_in(&plan->found.map, w->flat, address)
               : NULL;
}

/* A byte of the block, in the window's memory; NULL: the window does not have it. */
HAUL__INLINE const unsigned char *byte_in(const haul_plan *plan, const window *w,
                                          const haul__block *block, uintptr_t address)
{
    uint64_t place;
    if (!haul__is_placed(block, address) || address < w->first || address >= w->end)
        return NULL;
    place = haul__place(block, address);
    if (w->is_final)
        place = haul__final_place(plan, place);
    return place - w->at < w->bytes ? w->memory + (place - w->at) : NULL;
}

static const unsigned char *find_byte(const haul_plan *plan, const window *w, uintptr_t address)
{
    const haul__block *block = block_of(plan, w, address);
    return block ? byte_in(plan, w, block, address) : NULL;
}

/* Must the byte keep its value? A byte that was not sent may change: the device began with a zero
 * in its place. */
static int may_not_change(const haul_plan *plan, uintptr_t address)
{
    const haul__block *block = haul__map_find(&plan->found.map, address);
    const unsigned granule = haul__granule_in_block(address);
    const uint16_t excluded = haul__excluded_mask(block, granule, HAUL__UNSENT) |
                              haul__excluded_mask(block, granule, HAUL__UNRETURNED);
    const uint16_t mask =
        haul__data_mask(plan, block, haul__block_number(address), granule) & (uint16_t)~excluded;
    return mask >> (address & (HAUL__GRANULE - 1)) & 1;
}

/* Compares byte by byte. *is: the value that the field would get. */
static int bytes_hold(const haul_plan *plan, uint64_t word, int64_t value, const window *w,
                      int64_t *is)
{
    const uintptr_t address = HAUL__READ_ADDRESS(word);
    unsigned char bytes[HAUL__READ_MAX];
    unsigned i;
    int hold = 1;
    haul__read_to_bytes(word, value, bytes);
    for (i = 0; i < haul__read_bytes(word); i++) {
        const unsigned char *copied = find_byte(plan, w, address + i);
        if (!copied || *copied == bytes[i] || !may_not_change(plan, address + i))
            continue;
        bytes[i] = *copied;
        hold = 0;
    }
    *is = haul__read_copied(word, bytes);
    return hold;
}

/* Would the field keep its value? *is: the value that it would get, if not. */
static int read_holds(const haul_plan *plan, uint64_t word, int64_t value, const window *w,
                      int64_t *is)
{
    const uintptr_t address = HAUL__READ_ADDRESS(word), bytes = haul__read_bytes(word);
    const unsigned char *copied = find_byte(plan, w, address);
    if (copied && (address & (HAUL__GRANULE - 1)) + bytes <= HAUL__GRANULE &&
        bytes <= (size_t)(w->memory + w->bytes - copied) &&
        haul__read_copied(word, copied) == value)
        return 1;
    return bytes_hold(plan, word, value, w, is);
}

static haul_status check_read(haul_plan *plan, uint64_t word, int64_t value, const window *w)
{
    haul_status status;
    int64_t is;
    if (read_holds(plan, word, value, w, &is))
        return HAUL_OK;
    status = haul__refuse_read(&plan->context->error, word, value, is);
    haul__name_changed(plan, 0, HAUL__READ_ADDRESS(word));
    return status;
}

/* ---- Terminators. */

/* Have terminators [first, end) of the block arrived as 0, where they have arrived? They lie in the
 * order of finding, so those of a whole batch are fetched before the first is looked at. */
HAUL__HOT static int batch_holds(const haul_plan *plan, const haul__block *block, uintptr_t address,
                                 const window *w, size_t first, size_t end)
{
    static const unsigned char nothing;
    const unsigned char *copied[ENDS_AT_ONCE];
    const uint16_t *ends = block->side->ends + first;
    unsigned char any = 0;
    size_t i;
    for (i = 0; i < end - first; i++) {
        copied[i] = byte_in(plan, w, block, address + ends[i]);
        if (!copied[i])
            copied[i] = &nothing;
        haul__prefetch(copied[i]);
    }
    for (i = 0; i < end - first; i++)
        any |= *copied[i];
    return any == 0;
}

/* The first terminator of the block that would change; 0: none would. */
static uintptr_t find_changed_end(const haul_plan *plan, const haul__block *block,
                                  uintptr_t address, const window *w)
{
    const size_t count = block->side ? block->side->end_count : 0;
    size_t i, k, end;
    int64_t is;
    for (i = 0; i < count; i = end) {
        end = count - i < ENDS_AT_ONCE ? count : i + ENDS_AT_ONCE;
        if (HAUL__LIKELY(batch_holds(plan, block, address, w, i, end)))
            continue;
        for (k = i; k < end; k++)
            if (!read_holds(plan, haul__read_of(address + block->side->ends[k], 1, 0), 0, w, &is))
                return address + block->side->ends[k];
    }
    return 0;
}

static haul_status check_ends(haul_plan *plan, const haul__block *block, uintptr_t address,
                              const window *w)
{
    const uintptr_t lost = find_changed_end(plan, block, address, w);
    return lost ? check_read(plan, haul__read_of(lost, 1, 0), 0, w) : HAUL_OK;
}

/* ---- By a pool. */
typedef struct checked {
    const haul_plan *plan;
    const window *window;
    size_t lost[HAUL__POOL_CHUNKS]; /* the chunk's first read, or block, that would change */
} checked;

static void check_reads_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    checked *all = user;
    const haul__read_set *reads = &all->plan->reads;
    int64_t is;
    (void)scratch;
    all->lost[number] = SIZE_MAX;
    for (; first < end && all->lost[number] == SIZE_MAX; first++)
        if (!read_holds(all->plan, reads->words[first],
                        haul__read_value(reads, reads->words[first]), all->window, &is))
            all->lost[number] = first;
}

static void check_ends_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    checked *all = user;
    (void)scratch;
    all->lost[number] = SIZE_MAX;
    for (; first < end && all->lost[number] == SIZE_MAX; first++)
        if (find_changed_end(all->plan, haul__plan_block(all->plan, first),
                             address_of(all->plan, first), all->window))
            all->lost[number] = first;
}

/* The first of [first, end) that would change; SIZE_MAX: none would. `bytes` of work. */
static size_t find_lost(const haul_plan *plan, const window *w, size_t bytes, size_t first,
                        size_t end, haul__pool_work *work)
{
    size_t chunks, i;
    checked all;
    all.plan = plan;
    all.window = w;
    chunks =
        haul__pool_run(haul__context_pool(plan->context, bytes), bytes, first, end, 1, work, &all);
    for (i = 0; i < chunks; i++)
        if (all.lost[i] != SIZE_MAX)
            return all.lost[i];
    return SIZE_MAX;
}

static haul_status check_between(haul_plan *plan, uintptr_t first, uintptr_t last, const window *w)
{
    const haul__read_set *reads = &plan->reads;
    const size_t from = haul__first_read(reads, first),
                 to = last < UINTPTR_MAX ? haul__first_behind(reads, last + 1) : reads->count;
    const size_t lost =
        from < to ? find_lost(plan, w, (to - from) * HAUL__LINE, from, to, check_reads_chunk)
                  : SIZE_MAX;
    return lost == SIZE_MAX ? HAUL_OK
                            : check_read(plan, reads->words[lost],
                                         haul__read_value(reads, reads->words[lost]), w);
}

static haul_status check_strings(haul_plan *plan, size_t first, size_t end, const window *w)
{
    const size_t lost =
        plan->found.map.side_bytes > 0
            ? find_lost(plan, w, (end - first) << HAUL__BLOCK_SHIFT, first, end, check_ends_chunk)
            : SIZE_MAX;
    return lost == SIZE_MAX
               ? HAUL_OK
               : check_ends(plan, haul__plan_block(plan, lost), address_of(plan, lost), w);
}

int haul__has_read_set(const haul_plan *plan)
{
    return plan->found.read_count > 0 || plan->found.map.side_bytes > 0;
}

haul_status haul__prepare_read_set(haul_plan *plan)
{
    return plan->reads.is_made
               ? HAUL_OK
               : haul__read_set_make(plan, 0, &plan->context->allocator, &plan->reads);
}

haul_status haul__prepare_update(haul_plan *plan)
{
    return plan->found.read_count <= FEW_READS ? HAUL_OK : haul__prepare_read_set(plan);
}

int haul__piece_is_read(const haul_plan *plan, const haul__piece *piece)
{
    size_t i;
    if (piece->first < piece->end) {
        i = haul__first_read(&plan->reads, address_of(plan, piece->first));
        if (i < plan->reads.count && HAUL__READ_ADDRESS(plan->reads.words[i]) <=
                                         address_of(plan, piece->end - 1) + (HAUL__BLOCK_BYTES - 1))
            return 1;
    }
    for (i = piece->first; i < piece->end && plan->found.map.side_bytes > 0; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        if (block->side && block->side->end_count > 0)
            return 1;
    }
    return 0;
}

/* Compares reads in the order of finding: that needs no memory. A far read's value stands before
 * it in the list. The prefetch may take such a value for a read, which does no harm. */
static haul_status check_unsorted(haul_plan *plan, const window *w)
{
    const haul__found *found = &plan->found;
    haul_status status = HAUL_OK;
    size_t i = found->read_count;
    while (i > 0 && status == HAUL_OK) {
        const uint64_t read = found->reads[--i];
        int64_t value;
        /* Prefetches for reads that are compared soon. */
        if (i >= READ_CELLS_AHEAD) {
            const uintptr_t address = HAUL__READ_ADDRESS(found->reads[i - READ_CELLS_AHEAD]);
            const haul__block *block = block_of(plan, w, address);
            if (block && block->form != HAUL__FULL)
                haul__prefetch((uintptr_t)&block->cells[haul__cell_number(address)]);
        }
        if (i >= READ_BYTES_AHEAD) {
            const unsigned char *copied =
                find_byte(plan, w, HAUL__READ_ADDRESS(found->reads[i - READ_BYTES_AHEAD]));
            if (copied)
                haul__prefetch((uintptr_t)copied);
        }
        value = read >> 50 == HAUL__READ_FAR ? (int64_t)found->reads[--i] : haul__small_read(read);
        if (HAUL__READ_ADDRESS(read) < w->end &&
            HAUL__READ_ADDRESS(read) + HAUL__READ_MAX > w->first)
            status = check_read(plan, read, value, w);
    }
    return status;
}

haul_status haul__check_compacted(haul_plan *plan, const void *arena)
{
    window w = { NULL, NULL, 0, 0, 0, UINTPTR_MAX, 0 };
    haul_status status;
    w.flat = haul__table_show(&plan->context->table, &plan->found.map);
    w.memory = arena;
    w.bytes = haul__compacted_bytes(plan);
    status = check_unsorted(plan, &w);
    return status == HAUL_OK ? check_strings(plan, 0, plan->found.map.block_count, &w) : status;
}

haul_status haul__check_piece(haul_plan *plan, const haul__piece *piece, const void *memory)
{
    window w = { NULL, NULL, 0, 0, 0, UINTPTR_MAX, 0 };
    haul_status status = haul__prepare_read_set(plan);
    if (status != HAUL_OK || piece->first == piece->end)
        return status;
    w.flat = haul__table_show(&plan->context->table, &plan->found.map);
    w.memory = memory;
    w.at = piece->at;
    w.bytes = piece->bytes;
    status = check_between(plan, address_of(plan, piece->first),
                           address_of(plan, piece->end - 1) + (HAUL__BLOCK_BYTES - 1), &w);
    return status == HAUL_OK ? check_strings(plan, piece->first, piece->end, &w) : status;
}

haul_status haul__check_range(haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                              size_t offset, size_t bytes)
{
    window w = { NULL, NULL, 0, 0, 0, 0, 1 }; /* few look-ups: the map's list is enough */
    uintptr_t block = first & ~(uintptr_t)(HAUL__BLOCK_BYTES - 1);
    haul_status status = haul__prepare_update(plan);
    w.memory = piece;
    w.at = offset;
    w.bytes = bytes;
    w.first = first;
    w.end = end;
    if (status == HAUL_OK)
        status = plan->reads.is_made ? check_between(plan, first, end - 1, &w)
                                     : check_unsorted(plan, &w);
    for (; plan->found.map.side_bytes > 0 && block < end && block <= HAUL__HIGHEST &&
           status == HAUL_OK;
         block += HAUL__BLOCK_BYTES) {
        const haul__block *here = haul__map_find(&plan->found.map, block);
        if (here)
            status = check_ends(plan, here, block, &w);
    }
    return status;
}

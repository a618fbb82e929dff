/* Cuts.
 *
 * While the root that a group was found from is held, all of the group stays. Once that root has
 * left, the group is held by others: roots that lie in it, and groups whose walks have stopped in
 * it. What they do not lead to leaves. So an exit marks what they lead to, from range to range, by
 * the host's pointers; the plan of the group tells where these stand. The rest becomes a group of
 * its own with the same shipment, and leaves like any other. The shipment's memory stays until all
 * groups that share it have left, so a pointer within it that still leads to what has left
 * leads to memory.
 *
 * It takes time for what stays of such a group. The exit of a root whose group is still held by the
 * root that made it marks nothing.
 */
#include "environment/cut.h"
#include "environment/groups.h"
#include "environment/held.h"
#include "environment/outstanding.h"
#include "environment/standing.h"
#include "environment/updates.h"
#include "layout/lists.h"
#include "map/forms.h"
#include "pack/plan.h"
#include "pack/plan_struct.h"
#include "pack/special_words.h"

typedef struct marker {
    haul_environment *e;
    const haul__sent_group *group;
    const haul__found *found; /* by its plan */
    unsigned char *stays;     /* for each range */
    size_t *todo;             /* ranges that stay, and whose pointers were not followed */
    size_t count;
    haul__rest *cut;
    int has_memory;
} marker;

/* `is_listed` of the groups that it leads into. */
#define IS_LED_INTO 1
#define IS_NOTED 2 /* and of which the cut knows */

/* ---- Targets. */

static const haul__covered *range_of_object(const haul__sent_group *group, const haul__typed *one)
{
    return haul__covered_at(group, one->begin + haul__type_walk(one->type)->true_lower);
}

static void mark(marker *m, const haul__covered *range)
{
    const size_t i = (size_t)(range - m->group->ranges.at);
    if (m->stays[i])
        return;
    m->stays[i] = 1;
    m->todo[m->count++] = i;
}

/* The range of another group that the group leads into; NULL: it is in none. */
static const haul__covered *range_elsewhere(const marker *m, uintptr_t address, uint32_t *number)
{
    haul__found_range found;
    size_t i;
    if (haul__present_find_held(&m->e->host, address, &found)) {
        *number = found.group;
        return m->e->groups.at[found.group]->is_listed
                   ? haul__covered_at(m->e->groups.at[found.group], address)
                   : NULL;
    }
    for (i = 0; i < m->group->leads_into.count; i++) {
        const haul__covered *range;
        *number = m->group->leads_into.at[i];
        range = haul__range_around(m->e->groups.at[*number], address);
        if (range)
            return range;
    }
    return NULL;
}

/* Does a pointer lead into another group? Then notes that. */
static int note_stop(marker *m, uintptr_t address)
{
    const haul_allocator *allocator = &m->e->context->allocator;
    uint32_t number, *lead;
    const haul__covered *range = range_elsewhere(m, address, &number);
    uintptr_t *stop;
    if (!range)
        return 0;
    stop = HAUL__LIST_ADD(allocator, &m->cut->stops);
    m->has_memory &= stop != NULL;
    if (stop)
        *stop = range->begin;
    if (m->e->groups.at[number]->is_listed != IS_LED_INTO)
        return 1;
    lead = HAUL__LIST_ADD(allocator, &m->cut->leads_into);
    m->has_memory &= lead != NULL;
    if (lead)
        *lead = number;
    m->e->groups.at[number]->is_listed = IS_NOTED;
    return 1;
}

/* 0: the byte is in no range. */
static int follow_byte(marker *m, uintptr_t address)
{
    const haul__covered *range = haul__range_around(m->group, address);
    if (range)
        mark(m, range);
    return range || note_stop(m, address);
}

/* One past a range, a pointer to no elements holds it. */
static void follow(marker *m, uintptr_t address, int is_empty)
{
    if (address && !follow_byte(m, address) && is_empty)
        follow_byte(m, address - 1);
}

/* ---- Pointers. */

/* The begin of an array leads to it; its end may be the begin of something else. */
static void follow_slots(marker *m, uintptr_t begin, uintptr_t end)
{
    uintptr_t at = begin & ~(uintptr_t)(HAUL__CELL_BYTES - 1);
    for (; at < end; at += HAUL__CELL_BYTES) {
        const haul__block *block = haul__map_find(&m->found->map, at);
        uint64_t slots = block && block->form != HAUL__FULL
                             ? haul__placed_slots(&m->found->map, block, haul__cell_number(at))
                             : 0;
        for (; slots; slots &= slots - 1) {
            const uintptr_t slot = at + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
            if (slot >= begin && slot < end && !haul__array_end_at(m->found, slot))
                follow(m, haul__load_word((const void *)slot), haul__was_empty(m->found, slot));
        }
    }
}

/* Tagged pointers, distances, and pointers in words that no slot bit tells. Any of
 * them may lead to no elements: no list tells. */
static void follow_special(marker *m, uintptr_t begin, uintptr_t end)
{
    const haul__special_word *words = m->found->special;
    size_t i = haul__first_special(words, m->found->special_count, begin);
    for (; i < m->found->special_count && words[i].address < end; i++) {
        const haul__special_word *word = &words[i];
        uintptr_t pointer;
        if (word->kind == HAUL__FIXED || haul__array_end_at(m->found, word->address))
            continue;
        pointer = haul__special_pointer(word, haul__load_special(word->address, word->bytes));
        if (pointer)
            follow(m,
                   pointer + (uintptr_t)word->addend +
                       (word->kind == HAUL__DISTANCE ? word->address : 0),
                   1);
    }
}

static void follow_all(marker *m)
{
    while (m->count > 0 && m->has_memory) {
        const haul__covered *range = &m->group->ranges.at[m->todo[--m->count]];
        follow_slots(m, range->begin, range->begin + range->bytes);
        follow_special(m, range->begin, range->begin + range->bytes);
    }
}

/* ---- Holds. */

/* What is held by a root, or by a group that does not leave. */
static void mark_held(marker *m, uint32_t number, uintptr_t leaver)
{
    size_t i;
    m->has_memory &= haul__count_held(m->e, number, leaver);
    for (i = 0; i < m->group->ranges.count && m->has_memory; i++)
        if (m->group->held[i])
            mark(m, &m->group->ranges.at[i]);
}

/* ---- The two lists. */

static int list_ranges(const haul_allocator *allocator, const marker *m, haul__sent_group *part)
{
    size_t i;
    for (i = 0; i < m->group->ranges.count; i++) {
        haul__covered *one = m->stays[i] ? HAUL__LIST_ADD(allocator, &m->cut->ranges)
                                         : HAUL__LIST_ADD(allocator, &part->ranges);
        if (!one)
            return 0;
        *one = m->group->ranges.at[i];
    }
    return 1;
}

static int list_objects(const haul_allocator *allocator, const marker *m, haul__sent_group *part)
{
    size_t i;
    for (i = 0; i < m->group->objects.count; i++) {
        const haul__typed *object = &m->group->objects.at[i];
        const haul__covered *range = range_of_object(m->group, object);
        const int stays = !range || m->stays[range - m->group->ranges.at];
        haul__typed *one = stays ? HAUL__LIST_ADD(allocator, &m->cut->objects)
                                 : HAUL__LIST_ADD(allocator, &part->objects);
        if (!one)
            return 0;
        *one = *object;
    }
    return 1;
}

static int leads_into_part(haul_environment *e, const haul__sent_group *part,
                           const haul__attached *one)
{
    haul__found_range found;
    const uintptr_t target = one->value - one->is_end;
    if (haul__present_find_held(&e->there, target, &found))
        return haul__covered_at(part, target + found.delta) != NULL;
    /* the target begins with bytes that do not travel */
    return haul__range_around(part, haul__load_word((const void *)one->host) - one->is_end) != NULL;
}

/* The pointers that are to be detached. */
static int list_attached(haul_environment *e, const haul__sent_group *group, haul__sent_group *part)
{
    size_t i;
    for (i = 0; i < group->attached.count; i++) {
        haul__attached *one = NULL;
        if (!leads_into_part(e, part, &group->attached.at[i]))
            continue;
        one = HAUL__LIST_ADD(&e->context->allocator, &part->attached);
        if (!one)
            return 0;
        *one = group->attached.at[i];
    }
    return 1;
}

/* Those that are attached still, when other groups have left, go over to the part's list. */
static void move_attached(haul_environment *e, uint32_t number, uint32_t part_number)
{
    haul__sent_group *group = e->groups.at[number], *part = e->groups.at[part_number];
    size_t i, stay = 0;
    part->attached.count = 0;
    for (i = 0; i < group->attached.count; i++) {
        const haul__attached one = group->attached.at[i];
        if (leads_into_part(e, part, &one))
            part->attached.at[part->attached.count++] = one;
        else
            group->attached.at[stay++] = one;
    }
    group->attached.count = stay;
    haul__number_attached(e, number);
    haul__number_attached(e, part_number);
}

static haul_status no_memory(haul_environment *e)
{
    return haul__fail(&e->context->error, HAUL_ERROR_MEMORY, "out of memory for an exit");
}

/* ---- Cutting. */

static void set_listed(const marker *m, int value)
{
    size_t i;
    for (i = 0; i < m->group->leads_into.count; i++)
        m->e->groups.at[m->group->leads_into.at[i]]->is_listed = value;
}

/* Marks all that stays. 0: out of memory. */
static int find_rest(marker *m, uint32_t number, uintptr_t leaver)
{
    set_listed(m, IS_LED_INTO);
    mark_held(m, number, leaver);
    follow_all(m);
    set_listed(m, 0);
    return m->has_memory;
}

static haul__sent_group *new_part(haul_environment *e, uint32_t of)
{
    const haul_allocator *allocator = &e->context->allocator;
    haul__sent_group *group = e->groups.at[of],
                     *part = haul__allocate_zeroed(allocator, sizeof *part);
    if (!part)
        return NULL;
    part->next_sharer = part;
    part->cut = haul__allocate_zeroed(allocator, sizeof *part->cut);
    if (!part->cut) {
        haul__release(allocator, part, sizeof *part);
        return NULL;
    }
    part->cut->of = of;
    part->shipment = group->shipment;
    part->next_sharer = group->next_sharer;
    group->next_sharer = part;
    return part;
}

/* Takes the holds that the group had of others, and gives them those of the rest. */
static void change_leads(haul_environment *e, const uint32_t *from, size_t from_count,
                         const uint32_t *to, size_t to_count)
{
    size_t i;
    for (i = 0; i < from_count; i++)
        e->groups.at[from[i]]->led_from--;
    for (i = 0; i < to_count; i++)
        e->groups.at[to[i]]->led_from++;
}

/* Finds the rest, and lists what leaves. 0: out of memory. */
static int fill(haul_environment *e, uint32_t number, uintptr_t leaver, haul__sent_group *part)
{
    const haul_allocator *allocator = &e->context->allocator;
    const haul__sent_group *group = e->groups.at[number];
    const size_t count = group->ranges.count, bytes = count * (sizeof(size_t) + 1);
    marker m;
    int is_full;
    memset(&m, 0, sizeof m);
    m.e = e;
    m.group = group;
    m.found = haul__plan_found(group->shipment->plan);
    m.cut = part->cut;
    m.has_memory = 1;
    m.todo = haul__allocate_zeroed(allocator, bytes);
    if (!m.todo)
        return 0;
    m.stays = (unsigned char *)(m.todo + count);
    is_full = find_rest(&m, number, leaver) && list_ranges(allocator, &m, part) &&
              list_objects(allocator, &m, part) &&
              haul__list_roomy(allocator, part->objects.at, part->objects.count, &part->roomy) &&
              haul__list_roomy(allocator, m.cut->objects.at, m.cut->objects.count, &m.cut->roomy) &&
              list_attached(e, group, part);
    haul__release(allocator, m.todo, bytes);
    return is_full;
}

/* Results are written, since they may be of members whose lists go. */
static haul_status prepare(haul_environment *e, haul__sent_group *group, haul__sent_group *part,
                           uint32_t *taken)
{
    const haul_status status =
        haul__has_results(e, group) ? haul__come_behind(e, group, NULL) : HAUL_OK;
    if (status != HAUL_OK)
        return status;
    return haul__cut_digests(e, group, part) && haul__take_number(e, taken) ? HAUL_OK
                                                                            : no_memory(e);
}

haul_status haul__cut(haul_environment *e, uint32_t number, uintptr_t leaver, uint32_t *part_number)
{
    haul__sent_group *group = e->groups.at[number], *part = new_part(e, number);
    haul_status status = part ? HAUL_OK : no_memory(e);
    uint32_t taken;
    *part_number = 0;
    if (status == HAUL_OK && !fill(e, number, leaver, part))
        status = no_memory(e);
    if (status == HAUL_OK && part->ranges.count > 0)
        status = prepare(e, group, part, &taken);
    if (status != HAUL_OK || !part->ranges.count) {
        if (part)
            haul__group_discard(e, part);
        return status;
    }
    e->groups.at[taken] = part;
    change_leads(e, group->leads_into.at, group->leads_into.count, part->cut->leads_into.at,
                 part->cut->leads_into.count);
    haul__stops_go(e, group);
    haul__stops_stay(e, part->cut);
    group->rest = part->cut;
    *part_number = 1 + taken;
    return HAUL_OK;
}

void haul__undo_cut(haul_environment *e, uint32_t number)
{
    haul__sent_group *part = e->groups.at[number], *group = e->groups.at[part->cut->of];
    change_leads(e, part->cut->leads_into.at, part->cut->leads_into.count, group->leads_into.at,
                 group->leads_into.count);
    group->rest = NULL;
    haul__group_discard(e, part);
    haul__give_number(e, number);
}

/* Pointers of the part that calls have attached are attached no more. */
static void forget_attached_in(haul_environment *e, const haul__sent_group *group,
                               const haul__sent_group *part)
{
    size_t i;
    for (i = group->attached_in.count; i-- > 0;)
        if (haul__range_around(part, group->attached_in.at[i]))
            haul__forget_attached_in(e, group, i);
}

#define SWAP(type, a, b)                                                                           \
    do {                                                                                           \
        type swapped = a;                                                                          \
        a = b;                                                                                     \
        b = swapped;                                                                               \
    } while (0)
#define SWAP_LISTS(type, a, b)                                                                     \
    do {                                                                                           \
        SWAP(type *, (a)->at, (b)->at);                                                            \
        SWAP(size_t, (a)->count, (b)->count);                                                      \
        SWAP(size_t, (a)->capacity, (b)->capacity);                                                \
    } while (0)

void haul__take_cut(haul_environment *e, uint32_t number)
{
    haul__sent_group *part = e->groups.at[number], *group = e->groups.at[part->cut->of];
    haul__rest *cut = part->cut;
    haul__take_cut_digests(e, group, part);
    haul__drop_members(e, group);
    haul__cut_held(group, cut->ranges.at, cut->ranges.count);
    SWAP_LISTS(haul__covered, &group->ranges, &cut->ranges);
    SWAP_LISTS(haul__typed, &group->objects, &cut->objects);
    SWAP_LISTS(haul__roomy, &group->roomy, &cut->roomy);
    SWAP_LISTS(uint32_t, &group->leads_into, &cut->leads_into);
    SWAP_LISTS(uintptr_t, &group->stops, &cut->stops);
    move_attached(e, cut->of, number);
    forget_attached_in(e, group, part);
    group->rest = NULL;
    group->was_cut = 1;
    group->shipment->plan->has_lost_parts = 1;
    e->info.groups++; /* until the part leaves */
}

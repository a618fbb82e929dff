/* The read set: the values and answers that discovery has used. A plan that is used again checks
 * that they are still the same. Values are counts, fields that rules read, and terminators.
 *
 * A callback's call takes two words, or six if it does not fit:
 *
 *     most       self, 48 bits | site, 16     target, 48 bits | answer, 16
 *     others     self          | ELSEWHERE    target          | 0        site, answer, high bits
 *
 * Most calls have the same function, root, index and ancestor: together these are a site,
 * which is stored once. Storing a call takes longer than making it, so short notes make callbacks
 * cheap.
 */
#include "walk/read_set.h"
#include "base/sort.h"
#include "type/field.h"
#include "walk/callbacks.h"
#include "walk/discovery.h"
#include "walk/readable.h"

/* The last sites that are searched: types have few callbacks. More: slower if all calls differ. */
#define SITES_SEARCHED 8u
#define ELSEWHERE UINT64_C(0xffff)
#define LOW48 UINT64_C(0x0000ffffffffffff)
#define MOST_WORDS ((size_t)6)
/* Words fetched ahead: neither a new note nor a repeated call waits for its cache line. */
#define NOTES_AHEAD ((size_t)64)

/* ---- Values. */

haul_status haul__note_read(haul__discovery *d, uintptr_t address, unsigned bytes, int64_t value)
{
    haul__found *found = d->found;
    const uint64_t read = haul__read_of(address, bytes, value);
    const size_t count = found->read_count;
    if (d->changed) /* no plan comes of this walk */
        return HAUL_OK;
    if (count && HAUL__READ_PLACE(found->reads[count - 1]) == HAUL__READ_PLACE(read))
        return HAUL_OK;
    if (!haul__notes_grow(d->context, &d->context->reads, &found->reads, &found->read_capacity,
                          count + 2))
        return HAUL_ERROR_MEMORY;
    if (!haul__read_is_small(value))
        found->reads[found->read_count++] = (uint64_t)value;
    found->reads[found->read_count++] = read;
    return HAUL_OK;
}

int haul__reads_fit(haul__discovery *d, size_t reads)
{
    haul__found *found = d->found;
    return found->read_capacity - found->read_count >= reads ||
           haul__notes_grow(d->context, &d->context->reads, &found->reads, &found->read_capacity,
                            found->read_count + reads);
}

int haul__read_holds(const haul__found *found, size_t *i)
{
    const uint64_t read = found->reads[--*i];
    const uintptr_t address = HAUL__READ_ADDRESS(read);
    haul_integer place = { 0, 0, 1, { 0, 0, 0 } };
    int64_t value;
    int32_t i32;
    place.bytes = (uint8_t)(1u << (read >> 48 & 3u));
    if (HAUL__LIKELY(place.bytes == sizeof i32)) {
        memcpy(&i32, (const void *)address, sizeof i32);
        value = i32;
    } else {
        value = haul__read_stored((const void *)address, &place);
    }
    if (HAUL__UNLIKELY(read >> 50 == HAUL__READ_FAR))
        return found->reads[--*i] == (uint64_t)value;
    return haul__read_is_small(value) && read >> 50 == ((uint64_t)value & HAUL__READ_VALUE);
}

/* ---- Sites. */

/* Is the target the value of the pointer word at `place`? A rule may work out another value, and a
 * tail has no pointer word: it is its own target. */
static int is_plain(const haul__asked *asked)
{
    const haul_here *here = &asked->here;
    return asked->question == HAUL__ASKS_COUNT && !asked->by_rule && here->place != here->target &&
           (uintptr_t)here->place % HAUL__WORD == 0 &&
           haul__load_word(here->place) == (uintptr_t)here->target;
}

static int is_site(const haul__site *site, const haul__asked *asked, uintptr_t offset, int plain)
{
    const haul_here *here = &asked->here;
    return site->function == asked->function && site->offset == offset &&
           site->here.index == here->index && site->here.root == here->root &&
           site->here.ancestor == here->ancestor && site->has_place == (here->place != NULL) &&
           site->is_plain == plain;
}

/* *number: that of the call's site, found among the last ones or added. */
static haul_status find_site(haul__discovery *d, const haul__asked *asked, size_t *number)
{
    haul__found *found = d->found;
    const haul_here *here = &asked->here;
    const uintptr_t offset = here->place ? (uintptr_t)here->place - (uintptr_t)here->self : 0;
    const int plain = is_plain(asked);
    const size_t end = found->site_count;
    haul__site *site;
    for (*number = end; *number > 0 && *number + SITES_SEARCHED > end;)
        if (HAUL__LIKELY(is_site(&found->sites[--*number], asked, offset, plain)))
            return HAUL_OK;
    *number = end;
    if (end >= UINT32_MAX || !haul__grow(d->allocator, &found->sites, &found->site_capacity,
                                         end + 1, sizeof *found->sites))
        return HAUL_ERROR_MEMORY;
    site = &found->sites[found->site_count++];
    site->function = asked->function;
    site->here = *here;
    site->offset = offset;
    site->has_place = here->place != NULL;
    site->is_plain = plain;
    return HAUL_OK;
}

/* ---- Calls. */

static size_t put_call(uint64_t *words, uint64_t self, uint64_t target, uint64_t site,
                       int64_t answer)
{
    const int fits = answer >= INT16_MIN && answer <= INT16_MAX && site < ELSEWHERE &&
                     ((self | target) & ~LOW48) == 0;
    words[0] = (self & LOW48) | (fits ? site : ELSEWHERE) << 48;
    words[1] = (target & LOW48) | (fits ? (uint64_t)(uint16_t)answer << 48 : 0);
    if (HAUL__LIKELY(fits))
        return 2;
    words[2] = site;
    words[3] = (uint64_t)answer;
    words[4] = self & ~LOW48;
    words[5] = target & ~LOW48;
    return MOST_WORDS;
}

static size_t get_call(const uint64_t *words, haul__call *call)
{
    uint64_t self = words[0] & LOW48, target = words[1] & LOW48;
    if (HAUL__UNLIKELY(words[0] >> 48 == ELSEWHERE)) {
        call->site = (size_t)words[2];
        call->answer = (int64_t)words[3];
        call->self = (uintptr_t)(self | words[4]);
        call->target = (uintptr_t)(target | words[5]);
        return MOST_WORDS;
    }
    call->site = (size_t)(words[0] >> 48);
    call->answer = (int16_t)(uint16_t)(words[1] >> 48);
    call->self = (uintptr_t)self;
    call->target = (uintptr_t)target;
    return 2;
}

haul_status haul__note_call(haul__discovery *d, const haul__asked *asked, int64_t answer)
{
    haul__found *found = d->found;
    size_t site = 0;
    haul_status status = find_site(d, asked, &site);
    if (status != HAUL_OK)
        return status;
    if (HAUL__UNLIKELY(found->call_capacity - found->call_words < MOST_WORDS) &&
        !haul__notes_grow(d->context, &d->context->calls, &found->calls, &found->call_capacity,
                          found->call_words + MOST_WORDS))
        return HAUL_ERROR_MEMORY;
    haul__prefetch_write((uintptr_t)found->calls +
                         (found->call_words + NOTES_AHEAD) * sizeof *found->calls);
    found->call_words += put_call(found->calls + found->call_words, (uintptr_t)asked->here.self,
                                  (uintptr_t)asked->here.target, site, answer);
    return HAUL_OK;
}

/* ---- The plan's read set, in a walk over its changed graph. */

/* A question without the root, index and ancestor, which the walk may come by otherwise. */
typedef struct question {
    haul_function *function;
    uintptr_t self, target, offset;
} question;

static uint64_t hash_of(const question *q)
{
    const uint64_t mixed = (uint64_t)q->self * 3 ^ (uint64_t)q->target * 5 ^ (uint64_t)q->offset;
    return haul__hash(mixed);
}

static question question_of(const haul__found *found, size_t at, haul__call *call)
{
    question q;
    get_call(found->calls + 2 * at, call);
    q.function = found->sites[call->site].function;
    q.offset = found->sites[call->site].offset;
    q.self = call->self;
    q.target = call->target;
    return q;
}

static int is_question(const void *found, size_t at, const void *key)
{
    const question *wanted = key;
    haul__call call;
    const question q = question_of(found, at, &call);
    return q.self == wanted->self && q.target == wanted->target && q.offset == wanted->offset &&
           q.function == wanted->function;
}

/* All calls by their questions; each record has an even number of words. 0: out of memory. */
static int index_calls(haul__discovery *d)
{
    const haul__found *plan = d->changed;
    size_t at, next;
    haul__call call;
    for (at = 0; at < plan->call_words; at = next) {
        const question q = question_of(plan, at / 2, &call);
        next = at + get_call(plan->calls + at, &call);
        if (haul__index_find(&d->answers, hash_of(&q), plan, &q, is_question) == SIZE_MAX &&
            !haul__index_add(d->allocator, &d->answers, hash_of(&q), at / 2))
            return 0;
    }
    return 1;
}

haul_status haul__answer_of(haul__discovery *d, const haul__asked *asked, int64_t *answer, int *has)
{
    const haul_here *here = &asked->here;
    question q;
    haul__call call;
    size_t at;
    if (!d->answers.count && !index_calls(d))
        return HAUL_ERROR_MEMORY;
    q.function = asked->function;
    q.self = (uintptr_t)here->self;
    q.target = (uintptr_t)here->target;
    q.offset = here->place ? (uintptr_t)here->place - q.self : 0;
    at = haul__index_find(&d->answers, hash_of(&q), d->changed, &q, is_question);
    *has = at != SIZE_MAX;
    if (!*has)
        return HAUL_OK;
    question_of(d->changed, at, &call);
    *answer = call.answer;
    return HAUL_OK;
}

static int is_lower(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* Lists the reads outside of all objects. 0: out of memory. */
static int list_apart(haul__discovery *d)
{
    const haul__found *plan = d->changed;
    size_t i = plan->read_count;
    while (i > 0) {
        const uint64_t read = plan->reads[--i];
        const size_t bytes = (size_t)1 << (read >> 48 & 3u);
        uint64_t *added;
        i -= read >> 50 == HAUL__READ_FAR;
        if (haul__known_bytes(d, HAUL__READ_ADDRESS(read), bytes, HAUL__DESCRIBED) == bytes)
            continue;
        added = HAUL__LIST_ADD(d->allocator, &d->apart);
        if (!added)
            return 0;
        *added = HAUL__READ_PLACE(read);
    }
    haul__sort(d->apart.at, d->apart.count, sizeof *d->apart.at, is_lower);
    d->has_apart = 1;
    return 1;
}

static int is_before(const void *list, size_t i, uint64_t key)
{
    return ((const uint64_t *)list)[i] < key;
}

haul_status haul__has_read_apart(haul__discovery *d, uintptr_t address, size_t bytes, int *has)
{
    const uint64_t place = HAUL__READ_PLACE(haul__read_of(address, (unsigned)bytes, 0));
    size_t at;
    if (!d->has_apart && !list_apart(d))
        return HAUL_ERROR_MEMORY;
    at = haul__search(d->apart.at, 0, d->apart.count, place, is_before);
    *has = at < d->apart.count && d->apart.at[at] == place;
    return HAUL_OK;
}

void haul__answers_close(haul__discovery *d)
{
    haul__index_close(d->allocator, &d->answers);
    HAUL__LIST_RELEASE(d->allocator, &d->apart);
}

/* ---- Read sets of what led to the roots. */

/* Values are compared from the last one to the first, so they are added in the other order. */
static haul_status add_reads(haul_context *context, haul__found *to, const haul__found *from)
{
    size_t i = from->read_count;
    if (i && !haul__notes_grow(context, &context->reads, &to->reads, &to->read_capacity,
                               to->read_count + i))
        return HAUL_ERROR_MEMORY;
    while (i > 0) {
        const uint64_t read = from->reads[--i];
        if (read >> 50 == HAUL__READ_FAR)
            to->reads[to->read_count++] = from->reads[--i];
        to->reads[to->read_count++] = read;
    }
    return HAUL_OK;
}

haul_status haul__add_read_set(haul_context *context, haul__found *to, const haul__found *from)
{
    const size_t sites = to->site_count;
    size_t at = 0;
    haul__call call;
    if ((from->site_count && !haul__grow(&context->allocator, &to->sites, &to->site_capacity,
                                         sites + from->site_count, sizeof *to->sites)) ||
        (from->call_words && /* a record may become longer */
         !haul__notes_grow(context, &context->calls, &to->calls, &to->call_capacity,
                           to->call_words + from->call_words / 2 * MOST_WORDS)))
        return HAUL_ERROR_MEMORY;
    if (from->site_count)
        memcpy(to->sites + sites, from->sites, from->site_count * sizeof *to->sites);
    to->site_count += from->site_count;
    while (at < from->call_words) {
        at += get_call(from->calls + at, &call);
        to->call_words += put_call(to->calls + to->call_words, call.self, call.target,
                                   call.site + sites, call.answer);
    }
    return add_reads(context, to, from);
}

int haul__has_read(const haul__found *found, uintptr_t address)
{
    size_t i = found->read_count;
    while (i > 0) {
        const uint64_t read = found->reads[--i];
        if (HAUL__READ_ADDRESS(read) == address)
            return 1;
        i -= read >> 50 == HAUL__READ_FAR;
    }
    return 0;
}

void haul__read_set_drop(haul_context *context, haul__found *found)
{
    haul__notes_keep(context, &context->reads, found->reads, found->read_capacity);
    haul__notes_keep(context, &context->calls, found->calls, found->call_capacity);
    haul__release(&context->allocator, found->sites, found->site_capacity * sizeof *found->sites);
}

/* ---- Repeated calls. */

int haul__find_changed_call(const haul__found *found, haul__call *call, uintptr_t *moved)
{
    size_t at = 0;
    while (at < found->call_words) {
        const haul__site *site;
        uintptr_t place;
        haul_here here;
        if (found->call_words - at > NOTES_AHEAD)
            haul__prefetch((uintptr_t)(found->calls[at + NOTES_AHEAD] & LOW48));
        at += get_call(found->calls + at, call);
        site = &found->sites[call->site];
        place = call->self + site->offset;
        /* No callback gets a changed target, which may lead anywhere, or the old one, which may be
         * gone. */
        *moved = site->is_plain && haul__load_word((const void *)place) != call->target ? place : 0;
        if (HAUL__UNLIKELY(*moved))
            return 1;
        here = site->here;
        here.self = (const void *)call->self;
        here.target = (const void *)call->target;
        here.place = site->has_place ? (const void *)place : NULL;
        if (HAUL__UNLIKELY(site->function(&here) != call->answer))
            return 1;
    }
    return 0;
}

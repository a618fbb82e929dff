/* Taking reads out of the list in which discovery has noted them, by all threads of a pool.
 *
 * A far read's value stands before it, and may look like any read. So a loop goes from a read back
 * to the first one, and it seems that no thread could begin in the middle. But a word is a value
 * only if the next one is marked as a far read. So the list may be cut before each word that is not
 * marked so, whatever it is: the word before that is a read. A cut is moved on to such a word. A
 * list of marked words has one part; a cut is sought behind the one before, so no word is looked at
 * twice for it.
 *
 * Threads count the reads of each part, so that each part has its place in the result. They come
 * out in the order of finding: reads of objects that lie as they were found are in order of
 * address.
 */
#include "pack/take_reads.h"
#include "map/found.h"

HAUL__INLINE int is_far(uint64_t word)
{
    return word >> 50 == HAUL__READ_FAR;
}

static void count_parts(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    haul__listed_reads *l = user;
    (void)number;
    (void)scratch;
    for (; first < end; first++) {
        size_t reads = 0, far = 0, i = l->starts[first + 1];
        while (i > l->starts[first]) {
            const size_t has_value = (size_t)is_far(l->list[--i]);
            i -= has_value;
            far += has_value;
            reads++;
        }
        l->read_at[first] = reads;
        l->far_at[first] = far;
    }
}

void haul__list_reads(const haul__read_crew *crew, const uint64_t *list, size_t words,
                      haul__listed_reads *listed)
{
    size_t i, at = 0;
    listed->list = list;
    listed->starts[0] = 0;
    for (i = 1; i <= crew->parts; i++) {
        const size_t wanted = haul__read_part(words, crew->parts, i);
        at = wanted > at ? wanted : at;
        while (at < words && is_far(list[at]))
            at++;
        listed->starts[i] = at;
    }
    haul__run_parts(crew, words, count_parts, listed);
    listed->reads = listed->far = 0;
    for (i = 0; i <= crew->parts; i++) {
        const size_t reads = i < crew->parts ? listed->read_at[i] : 0,
                     far = i < crew->parts ? listed->far_at[i] : 0;
        listed->read_at[i] = listed->reads;
        listed->far_at[i] = listed->far;
        listed->reads += reads;
        listed->far += far;
    }
}

typedef struct taking {
    const haul__listed_reads *from;
    uint64_t *words;
    haul__far_read *far;
} taking;

static void take_parts(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const taking *t = user;
    const haul__listed_reads *l = t->from;
    (void)number;
    (void)scratch;
    for (; first < end; first++) {
        uint64_t *words = t->words + l->read_at[first + 1];
        haul__far_read *far = t->far ? t->far + l->far_at[first + 1] : NULL;
        size_t i = l->starts[first + 1];
        while (i > l->starts[first]) {
            const uint64_t read = l->list[--i];
            *--words = read;
            if (is_far(read)) {
                (--far)->place = HAUL__READ_PLACE(read);
                far->value = (int64_t)l->list[--i];
            }
        }
    }
}

void haul__take_reads(const haul__read_crew *crew, const haul__listed_reads *listed,
                      haul__read_set *to)
{
    taking t;
    t.from = listed;
    t.words = to->words + to->count;
    t.far = to->far ? to->far + to->far_count : NULL;
    haul__run_parts(crew, listed->reads, take_parts, &t);
    to->count += listed->reads;
    to->far_count += listed->far;
}

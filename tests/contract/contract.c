/* The cases of the device contract (haul/device.h).
 *
 * Each case gets a freshly opened device and a counting allocator; after it the device is closed
 * and the allocator must be empty. A case says no more than the contract: copies are compared after
 * a wait only, and memory given to a copy stays as it is until then. What must come out is worked
 * out on the host by the plainest loop.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract.h"
#include "support/random.h"

typedef struct device {
    const haul_device_table *table;
    const void *settings;
    haul_allocator allocator;
    void *state;
    size_t live_blocks, live_bytes;
    const contract_streams *streams; /* may be NULL */
    random_source random;
    const char *broken; /* the first expectation that was not met */
    int line;
} device;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            broken(d, #condition, __LINE__);                                                       \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define EXPECT_OK(call) EXPECT((call) == HAUL_OK)

static void broken(device *d, const char *what, int line)
{
    if (!d->broken) {
        d->broken = what;
        d->line = line;
    }
}

/* ---- The allocator that counts. */

static void *count_allocate(void *user, size_t bytes, size_t alignment)
{
    device *d = user;
    size_t total = bytes + alignment + sizeof(void *);
    char *memory = total < bytes ? NULL : malloc(total);
    uintptr_t at;
    if (!memory)
        return NULL;
    at = ((uintptr_t)memory + sizeof(void *) + alignment - 1) & ~((uintptr_t)alignment - 1);
    memcpy((void *)(at - sizeof(void *)), &memory, sizeof(void *));
    d->live_blocks++;
    d->live_bytes += bytes;
    return (void *)at;
}

static void count_release(void *user, void *memory, size_t bytes)
{
    device *d = user;
    void *start;
    memcpy(&start, (char *)memory - sizeof(void *), sizeof(void *));
    d->live_blocks--;
    d->live_bytes -= bytes;
    free(start);
}

/* ---- Host buffers of the cases: they live until the case ends. */

typedef struct buffer_head {
    struct buffer_head *next;
    uint64_t align;
} buffer_head;

static buffer_head *buffers;

static unsigned char *buffer(size_t bytes)
{
    buffer_head *head = calloc(1, sizeof *head + bytes);
    if (!head) {
        printf("out of memory\n");
        exit(1);
    }
    head->next = buffers;
    buffers = head;
    return (unsigned char *)(head + 1);
}

static void free_buffers(void)
{
    while (buffers) {
        buffer_head *next = buffers->next;
        free(buffers);
        buffers = next;
    }
}

static unsigned char *noise(device *d, size_t bytes)
{
    unsigned char *memory = buffer(bytes);
    random_fill(&d->random, memory, bytes);
    return memory;
}

/* ---- The verbs, shorter. Failures other than the status go through EXPECT. */

static haul_status get(device *d, uint64_t bytes, size_t alignment, haul_address *address)
{
    return d->table->allocate(d->state, bytes, alignment, address);
}

static void put_back(device *d, haul_address address, uint64_t bytes)
{
    d->table->release(d->state, address, bytes);
}

static haul_status copy_to(device *d, haul_address to, const void *from, size_t bytes)
{
    return d->table->copy_to(d->state, to, from, bytes);
}

static haul_status copy_from(device *d, void *to, haul_address from, size_t bytes)
{
    return d->table->copy_from(d->state, to, from, bytes);
}

static haul_status wait(device *d)
{
    return d->table->wait(d->state);
}

/* 1 when the device holds exactly these bytes there. */
static int holds(device *d, haul_address address, const void *bytes, size_t count)
{
    unsigned char *got = buffer(count);
    return copy_from(d, got, address, count) == HAUL_OK && wait(d) == HAUL_OK &&
           memcmp(got, bytes, count) == 0;
}

static haul_device_capabilities told_by(device *d)
{
    haul_device_capabilities capabilities;
    memset(&capabilities, 0, sizeof capabilities);
    d->table->capabilities(d->state, &capabilities, sizeof capabilities);
    if (!d->table->send)
        capabilities.send_bytes = 0;
    if (!d->table->fetch)
        capabilities.fetch_bytes = 0;
    return capabilities;
}

/* ---- Cases: life. */

static void the_table_is_complete(device *d)
{
    const haul_device_table *t = d->table;
    EXPECT(t->table_bytes == sizeof *t);
    EXPECT(t->name && *t->name);
    EXPECT(t->open && t->close && t->capabilities && t->allocate && t->release && t->stage &&
           t->unstage);
    EXPECT(t->copy_to && t->copy_from && t->relocate);
    EXPECT(t->select && t->fence && t->poll && t->await && t->wait && t->message);
}

static void the_capabilities_are_sensible(device *d)
{
    const haul_device_capabilities capabilities = told_by(d);
    EXPECT(capabilities.allocate_alignment > 0);
    EXPECT((capabilities.allocate_alignment & (capabilities.allocate_alignment - 1)) == 0);
}

static void a_fresh_device_has_a_message_and_nothing_to_wait_for(device *d)
{
    EXPECT(d->table->message(d->state) != NULL);
    EXPECT_OK(wait(d));
    EXPECT_OK(wait(d));
}

static void two_open_devices_do_not_disturb_each_other(device *d)
{
    unsigned char *bytes = noise(d, 1000), *other_bytes = noise(d, 1000);
    haul_address here, there;
    device other = *d;
    other.broken = NULL;
    EXPECT_OK(d->table->open(d->settings, &d->allocator, &other.state));
    EXPECT_OK(get(d, 1000, 16, &here));
    EXPECT_OK(get(&other, 1000, 16, &there));
    EXPECT_OK(copy_to(d, here, bytes, 1000));
    EXPECT_OK(copy_to(&other, there, other_bytes, 1000));
    EXPECT_OK(wait(d));
    EXPECT(holds(&other, there, other_bytes, 1000));
    put_back(&other, there, 1000);
    d->table->close(other.state);
    EXPECT(holds(d, here, bytes, 1000));
    put_back(d, here, 1000);
}

/* ---- Cases: memory. */

static void memory_of_all_sizes_is_aligned_and_apart(device *d)
{
    static const uint64_t sizes[] = {
        1, 2, 7, 8, 15, 16, 17, 255, 4095, 4096, 4097, 65537, 1000003
    };
    enum { COUNT = 13 * 13 };
    haul_address at[COUNT];
    size_t i, j, n = 0, alignment;
    const haul_device_capabilities capabilities = told_by(d);
    for (i = 0; i < 13; i++)
        for (alignment = 1; alignment <= 4096; alignment *= 2, n++) {
            EXPECT_OK(get(d, sizes[i], alignment, &at[n]));
            EXPECT(at[n] != 0 && at[n] % alignment == 0 &&
                   at[n] % capabilities.allocate_alignment == 0);
            for (j = 0; j < n; j++)
                EXPECT(at[j] + sizes[j / 13] <= at[n] || at[n] + sizes[i] <= at[j]);
        }
    while (n-- > 0)
        put_back(d, at[n], sizes[n / 13]);
}

static void memory_is_released_in_any_order(device *d)
{
    enum { COUNT = 64, BYTES = 300 };
    haul_address at[COUNT];
    unsigned char *bytes = noise(d, COUNT * BYTES);
    size_t i, round, kept = COUNT;
    for (i = 0; i < COUNT; i++) {
        EXPECT_OK(get(d, BYTES, 16, &at[i]));
        EXPECT_OK(copy_to(d, at[i], bytes + i * BYTES, BYTES));
    }
    EXPECT_OK(wait(d));
    for (round = 0; kept > 0; round++) {
        i = random_below(&d->random, kept);
        EXPECT(holds(d, at[i], bytes + i * BYTES, BYTES));
        put_back(d, at[i], BYTES);
        at[i] = at[--kept];
        memcpy(bytes + i * BYTES, bytes + kept * BYTES, BYTES);
    }
}

static void memory_that_is_not_there_is_refused_and_the_device_goes_on(device *d)
{
    uint64_t sizes[] = { (uint64_t)1 << 62, UINT64_MAX / 2, UINT64_MAX - 4096, UINT64_MAX,
                         (uint64_t)1 << 62 };
    unsigned char *bytes = noise(d, 100);
    const haul_device_capabilities capabilities = told_by(d);
    haul_address address;
    size_t i;
    if (capabilities.memory_bytes != 0)
        sizes[4] = (uint64_t)capabilities.memory_bytes + 1;
    for (i = 0; i < 5; i++) {
        EXPECT(get(d, sizes[i], 16, &address) == HAUL_ERROR_DEVICE_MEMORY);
        EXPECT(d->table->message(d->state) != NULL);
        EXPECT_OK(get(d, 100, 16, &address));
        EXPECT_OK(copy_to(d, address, bytes, 100));
        EXPECT_OK(wait(d));
        EXPECT(holds(d, address, bytes, 100));
        put_back(d, address, 100);
    }
}

/* The three places in turn, `count` pages in all, the last one half. Answers the bytes. */
static uint64_t place_in_turn(size_t page_bytes, haul_placing *placings, size_t count)
{
    static const haul_place places[] = { HAUL_PLACE_HOST, HAUL_PLACE_DEVICE, HAUL_PLACE_MOVING };
    size_t i;
    memset(placings, 0, count * sizeof *placings);
    for (i = 0; i < count; i++) {
        placings[i].end = (i + 1) * (uint64_t)page_bytes;
        placings[i].place = places[i % 3];
    }
    placings[count - 1].end -= page_bytes / 2;
    return placings[count - 1].end;
}

static void memory_in_several_places_is_one_run_of_addresses(device *d)
{
    enum { COUNT = 5 };
    const size_t page_bytes = told_by(d).place_bytes;
    haul_placing placings[COUNT];
    haul_relocation relocation;
    haul_address at[2];
    unsigned char *bytes;
    uint64_t all, word;
    size_t i;
    if (!d->table->allocate_in_places || page_bytes == 0)
        return;
    all = place_in_turn(page_bytes, placings, COUNT);
    bytes = noise(d, (size_t)all);
    for (i = 0; i < 2; i++) {
        EXPECT_OK(d->table->allocate_in_places(d->state, all, 256, placings, COUNT, &at[i]));
        EXPECT(at[i] != 0 && at[i] % 256 == 0);
        EXPECT_OK(copy_to(d, at[i], bytes, (size_t)all));
    }
    EXPECT(at[0] + all <= at[1] || at[1] + all <= at[0]);
    put_back(d, at[0], all);
    EXPECT(holds(d, at[1], bytes, (size_t)all));
    EXPECT(holds(d, at[1] + page_bytes - 100, bytes + page_bytes - 100, 200));
    /* a list in one place of a pointer in the next */
    memset(&relocation, 0, sizeof relocation);
    relocation.arena = at[1];
    relocation.bytes = all;
    relocation.delta = at[1];
    relocation.word_bytes = 8;
    relocation.offsets = at[1] + page_bytes - 8;
    relocation.offset_count = 1;
    word = page_bytes;
    memcpy(bytes + page_bytes - 8, &word, 8);
    memcpy(bytes + page_bytes, &word, 8);
    EXPECT_OK(copy_to(d, at[1], bytes, (size_t)all));
    EXPECT_OK(d->table->relocate(d->state, &relocation));
    word += at[1];
    memcpy(bytes + page_bytes, &word, 8);
    EXPECT(holds(d, at[1], bytes, (size_t)all));
    put_back(d, at[1], all);
}

static void places_that_do_not_fit_are_refused_and_the_device_goes_on(device *d)
{
    const haul_device_capabilities capabilities = told_by(d);
    const uint64_t pages =
        capabilities.place_bytes ? capabilities.memory_bytes / capabilities.place_bytes + 1 : 0;
    haul_placing placings[2];
    haul_address address;
    uint64_t bytes;
    if (!d->table->allocate_in_places || capabilities.memory_bytes == 0 || pages == 0)
        return;
    place_in_turn(capabilities.place_bytes, placings, 2);
    placings[1].end = bytes = (pages + 1) * capabilities.place_bytes;
    EXPECT(d->table->allocate_in_places(d->state, bytes, 256, placings, 2, &address) ==
           HAUL_ERROR_DEVICE_MEMORY);
    EXPECT(*d->table->message(d->state));
    memory_in_several_places_is_one_run_of_addresses(d);
}

/* What is free can be allocated: a part of it here, because others allocate, too. */
static void free_memory_is_there(device *d)
{
    const uint64_t bytes = d->table->free_bytes ? d->table->free_bytes(d->state) / 64 : 0;
    const size_t all = told_by(d).memory_bytes;
    haul_address address;
    if (bytes == 0)
        return;
    EXPECT(all == 0 || bytes <= all / 64);
    EXPECT_OK(d->table->allocate(d->state, bytes, 256, &address));
    EXPECT(d->table->free_bytes(d->state) > 0);
    put_back(d, address, bytes);
}

static void staging_is_memory_to_copy_from_and_to(device *d)
{
    static const size_t sizes[] = { 1, 100, 4096, 5000001 };
    size_t i;
    for (i = 0; i < 4; i++) {
        size_t bytes = sizes[i];
        void *there = NULL, *back = NULL;
        haul_address address;
        EXPECT_OK(d->table->stage(d->state, bytes, &there));
        EXPECT_OK(d->table->stage(d->state, bytes, &back));
        EXPECT(there && back && there != back);
        EXPECT(((uintptr_t)there & 15) == 0);
        random_fill(&d->random, there, bytes);
        memset(back, 0, bytes);
        EXPECT_OK(get(d, bytes, 16, &address));
        EXPECT_OK(copy_to(d, address, there, bytes));
        EXPECT_OK(copy_from(d, back, address, bytes));
        EXPECT_OK(wait(d));
        EXPECT(memcmp(there, back, bytes) == 0);
        put_back(d, address, bytes);
        d->table->unstage(d->state, there, bytes);
        d->table->unstage(d->state, back, bytes);
    }
}

/* ---- Cases: copies. */

static void bytes_come_back_as_they_went_at_any_offset_and_size(device *d)
{
    enum { BYTES = 20000 };
    unsigned char *mirror = noise(d, BYTES);
    haul_address base;
    int round;
    EXPECT_OK(get(d, BYTES, 16, &base));
    EXPECT_OK(copy_to(d, base, mirror, BYTES));
    EXPECT_OK(wait(d));
    for (round = 0; round < 300; round++) {
        size_t at = random_below(&d->random, BYTES), limit = round % 2 ? 40 : BYTES;
        size_t bytes = 1 + random_below(&d->random, limit < BYTES - at ? limit : BYTES - at);
        random_fill(&d->random, mirror + at, bytes);
        EXPECT_OK(copy_to(d, base + at, mirror + at, bytes));
        EXPECT_OK(wait(d));
        at = random_below(&d->random, BYTES);
        bytes = 1 + random_below(&d->random, BYTES - at);
        EXPECT(holds(d, base + at, mirror + at, bytes));
    }
    EXPECT(holds(d, base, mirror, BYTES));
    put_back(d, base, BYTES);
}

static void a_copy_from_writes_nothing_beside_its_range(device *d)
{
    unsigned char *bytes = noise(d, 1000), *got = buffer(1000);
    haul_address base;
    EXPECT_OK(get(d, 1000, 16, &base));
    EXPECT_OK(copy_to(d, base, bytes, 1000));
    EXPECT_OK(copy_from(d, got + 101, base + 37, 555));
    EXPECT_OK(wait(d));
    EXPECT(memcmp(got + 101, bytes + 37, 555) == 0);
    EXPECT(got[100] == 0 && got[101 + 555] == 0);
    put_back(d, base, 1000);
}

static void copies_take_effect_in_the_order_of_the_calls(device *d)
{
    enum { BYTES = 100000, ROUNDS = 50 };
    unsigned char *all = noise(d, BYTES * 2), *mirror = buffer(BYTES), *middle = buffer(BYTES),
                  *seen = buffer(BYTES);
    haul_address base;
    int round;
    EXPECT_OK(get(d, BYTES, 16, &base));
    EXPECT_OK(copy_to(d, base, all, BYTES));
    memcpy(mirror, all, BYTES);
    for (round = 0; round < ROUNDS; round++) {
        size_t at = random_below(&d->random, BYTES), from = random_below(&d->random, BYTES);
        size_t bytes = 1 + random_below(&d->random, BYTES - at);
        EXPECT_OK(copy_to(d, base + at, all + from, bytes));
        memcpy(mirror + at, all + from, bytes);
        if (round == ROUNDS / 2) {
            EXPECT_OK(copy_from(d, middle, base, BYTES));
            memcpy(seen, mirror, BYTES);
        }
    }
    EXPECT_OK(wait(d));
    EXPECT(memcmp(middle, seen, BYTES) == 0);
    EXPECT(holds(d, base, mirror, BYTES));
    put_back(d, base, BYTES);
}

static void a_large_copy_arrives_whole(device *d)
{
    enum { BYTES = (16 << 20) + 13 };
    unsigned char *bytes = buffer(BYTES), *got = buffer(BYTES);
    haul_address base;
    size_t i;
    for (i = 0; i + 8 <= BYTES; i += 8) {
        uint64_t word = random_next(&d->random);
        memcpy(bytes + i, &word, 8);
    }
    EXPECT_OK(get(d, BYTES, 256, &base));
    EXPECT_OK(copy_to(d, base, bytes, BYTES));
    EXPECT_OK(copy_from(d, got, base, BYTES));
    EXPECT_OK(wait(d));
    EXPECT(memcmp(bytes, got, BYTES) == 0);
    put_back(d, base, BYTES);
}

/* ---- Cases: relocation. */

/* An arena as a shipment lays it out: words, bitmap, list of offsets; on the host, and as it must
 * become. */
typedef struct arena {
    size_t bytes, bitmap_at, offsets_at, total; /* in one allocation */
    size_t offset_count;
    unsigned word_bytes;
    uint64_t words, from, range, delta;
    unsigned char *host, *expected;
    haul_address base;
} arena;

static uint64_t load_word(const unsigned char *word, unsigned word_bytes)
{
    uint64_t wide;
    uint32_t narrow;
    memcpy(&wide, word, 8);
    memcpy(&narrow, word, 4);
    return word_bytes == 8 ? wide : narrow;
}

static void store_word(unsigned char *word, uint64_t value, unsigned word_bytes)
{
    uint32_t narrow = (uint32_t)value;
    if (word_bytes == 8)
        memcpy(word, &value, 8);
    else
        memcpy(word, &narrow, 4);
}

/* 1: it leads outside. */
static int patch(const arena *a, unsigned char *at)
{
    uint64_t mask = a->word_bytes == 8 ? UINT64_MAX : UINT32_MAX,
             word = load_word(at, a->word_bytes);
    if (word != 0 && ((word - a->from) & mask) <= a->range)
        store_word(at, word + a->delta, a->word_bytes);
    else
        return word != 0;
    return 0;
}

static int is_marked(const arena *a, uint64_t word)
{
    uint64_t bits;
    memcpy(&bits, a->host + a->bitmap_at + word / 64 * 8, 8);
    return (int)(bits >> (word % 64) & 1);
}

static uint64_t listed_offset(const arena *a, size_t i)
{
    uint64_t offset;
    memcpy(&offset, a->host + a->offsets_at + 8 * i, 8);
    return offset;
}

/* The whole of what relocate means. 1: some word leads outside. */
static int relocate_plainly(const arena *a, unsigned char *bytes)
{
    uint64_t i;
    int outside = 0;
    for (i = 0; i < a->words; i++)
        if (is_marked(a, i))
            outside |= patch(a, bytes + i * a->word_bytes);
    for (i = 0; i < a->offset_count; i++)
        outside |= patch(a, bytes + listed_offset(a, (size_t)i));
    return outside;
}

/* Marks about `density` of 64 words, and bits behind the last word too: they must be ignored. */
static void mark(device *d, arena *a, unsigned density)
{
    uint64_t i, bits = 0;
    for (i = 0; i < (a->words + 63) / 64 * 64; i++) {
        if (i % 64 == 0)
            bits = 0;
        if (i >= a->words || random_below(&d->random, 64) < density)
            bits |= (uint64_t)1 << i % 64;
        if (i % 64 == 63)
            memcpy(a->host + a->bitmap_at + i / 64 * 8, &bits, 8);
    }
}

/* Odd pointers lie apart from each other and from marked words: the last bytes of the arena are
 * theirs. */
static void place_offsets(arena *a)
{
    size_t i;
    for (i = 0; i < a->offset_count; i++) {
        uint64_t offset = a->words * a->word_bytes + 1 + i * (a->word_bytes + 1);
        memcpy(a->host + a->offsets_at + 8 * i, &offset, 8);
    }
}

/* Null, the edges of the range that moves and what lies beside them, any word in it, any word. */
static uint64_t choose_word(device *d, const arena *a)
{
    switch (random_below(&d->random, 8)) {
    case 0:
        return 0;
    case 1:
        return a->from;
    case 2:
        return a->from - 1;
    case 3:
        return a->from + a->range;
    case 4:
        return a->from + a->range + 1;
    case 5:
        return random_next(&d->random);
    default:
        return a->from + random_below(&d->random, (size_t)a->range + 1);
    }
}

static void choose_words(device *d, const arena *a)
{
    uint64_t i;
    for (i = 0; i < a->words; i++)
        store_word(a->host + i * a->word_bytes, choose_word(d, a), a->word_bytes);
    for (i = 0; i < a->offset_count; i++)
        store_word(a->host + listed_offset(a, (size_t)i), choose_word(d, a), a->word_bytes);
}

/* What moves: offsets, as an arena has them that was packed; or addresses, as one has that comes
 * from elsewhere. */
static void choose_range(device *d, arena *a)
{
    a->from = random_one_in(&d->random, 2) ? 0 : random_next(&d->random);
    if (a->word_bytes == 4)
        a->from &= UINT32_MAX;
    a->range = random_between(&d->random, 0, 1000000);
    a->delta = random_next(&d->random);
}

static void make_arena(device *d, arena *a, uint64_t words, unsigned word_bytes, unsigned density,
                       size_t offset_count)
{
    a->words = words;
    a->word_bytes = word_bytes;
    a->offset_count = offset_count;
    choose_range(d, a);
    a->bytes = (size_t)words * word_bytes + offset_count * (word_bytes + 1) + 3;
    a->bitmap_at = (a->bytes + 7) & ~(size_t)7;
    a->offsets_at = a->bitmap_at + (size_t)((words + 63) / 64 * 8);
    a->total = a->offsets_at + offset_count * 8 + 5;
    a->host = noise(d, a->total);
    a->expected = buffer(a->total);
    mark(d, a, density);
    place_offsets(a);
    choose_words(d, a);
    memcpy(a->expected, a->host, a->total);
}

static void drop_arena(device *d, const arena *a)
{
    put_back(d, a->base, a->total);
}

static haul_relocation order_of(const arena *a)
{
    haul_relocation relocation;
    relocation.arena = a->base;
    relocation.words = a->words;
    relocation.bitmap = a->words ? a->base + a->bitmap_at : 0;
    relocation.from = a->from;
    relocation.bytes = a->range;
    relocation.delta = a->delta;
    relocation.offsets = a->offset_count ? a->base + a->offsets_at : 0;
    relocation.offset_count = a->offset_count;
    relocation.word_bytes = a->word_bytes;
    relocation.outside = NULL;
    relocation.after = 0;
    return relocation;
}

static haul_status relocate(device *d, const arena *a)
{
    haul_relocation relocation = order_of(a);
    return d->table->relocate(d->state, &relocation);
}

/* Other word sizes than the host's may be refused, cleanly. */
static int supports(device *d, unsigned word_bytes)
{
    arena a;
    int works;
    if (word_bytes == sizeof(void *))
        return 1;
    make_arena(d, &a, 1, word_bytes, 64, 0);
    if (get(d, a.total, 16, &a.base) != HAUL_OK)
        return 0;
    works =
        copy_to(d, a.base, a.host, a.total) == HAUL_OK && relocate(d, &a) != HAUL_ERROR_UNSUPPORTED;
    works = wait(d) == HAUL_OK && works;
    drop_arena(d, &a);
    return works;
}

static void try_relocation(device *d, uint64_t words, unsigned word_bytes, unsigned density,
                           size_t offset_count)
{
    arena a;
    make_arena(d, &a, words, word_bytes, density, offset_count);
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(copy_to(d, a.base, a.host, a.total));
    EXPECT_OK(relocate(d, &a));
    EXPECT_OK(wait(d));
    relocate_plainly(&a, a.expected);
    EXPECT(holds(d, a.base, a.expected, a.total));
    drop_arena(d, &a);
}

static void try_relocations(device *d, unsigned word_bytes)
{
    static const uint64_t words[] = { 1, 2, 63, 64, 65, 127, 128, 129, 1000, 4096, 70001 };
    static const unsigned densities[] = { 0, 1, 8, 32, 63, 64 };
    size_t i, j;
    if (!supports(d, word_bytes))
        return;
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        for (j = 0; j < sizeof densities / sizeof densities[0]; j++)
            try_relocation(d, words[i], word_bytes, densities[j], 0);
    for (i = 0; i < 60; i++)
        try_relocation(d, random_between(&d->random, 1, 3000), word_bytes,
                       (unsigned)random_below(&d->random, 65), 0);
}

static void marked_words_of_8_bytes_move_and_no_others(device *d)
{
    try_relocations(d, 8);
}

static void marked_words_of_4_bytes_move_and_no_others(device *d)
{
    try_relocations(d, 4);
}

static void listed_pointers_move(device *d)
{
    unsigned word_bytes;
    size_t i;
    for (word_bytes = 4; word_bytes <= 8; word_bytes += 4)
        for (i = 0; i < 40 && supports(d, word_bytes); i++)
            try_relocation(d, i % 4 ? random_between(&d->random, 1, 500) : 0, word_bytes, 20,
                           random_between(&d->random, 1, i < 30 ? 20 : 3000));
}

/* Noise has words that lead outside; without any of those, or of those that are marked, nothing is
 * told. */
static void try_telling(device *d, uint64_t words, unsigned density, size_t offset_count,
                        uint32_t *word)
{
    haul_relocation relocation;
    arena a;
    make_arena(d, &a, words, sizeof(void *), density, offset_count);
    if (random_below(&d->random, 2)) {
        a.from = 0;
        a.range = UINT64_MAX;
    }
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(copy_to(d, a.base, a.host, a.total));
    relocation = order_of(&a);
    relocation.outside = word;
    *word = 0;
    EXPECT_OK(d->table->relocate(d->state, &relocation));
    EXPECT_OK(wait(d));
    EXPECT(*word == (uint32_t)relocate_plainly(&a, a.expected));
    EXPECT(holds(d, a.base, a.expected, a.total));
    drop_arena(d, &a);
}

static void a_word_of_the_hosts_tells_whether_any_pointer_leads_outside(device *d)
{
    void *memory = NULL;
    size_t i;
    EXPECT_OK(d->table->stage(d->state, 64, &memory));
    for (i = 0; i < 40; i++) {
        try_telling(d, random_between(&d->random, 1, 20), (unsigned)random_below(&d->random, 10),
                    i % 3, memory);
        try_telling(d, random_between(&d->random, 1, 30000), (unsigned)random_below(&d->random, 65),
                    i % 3, memory);
    }
    d->table->unstage(d->state, memory, 64);
}

/* Copy, relocate, copy over a part, relocate again by another delta, copy back: one wait. */
static void copies_and_relocations_take_effect_in_the_order_of_the_calls(device *d)
{
    enum { WORDS = 30000 };
    size_t part = 1000 * sizeof(void *), part_bytes = 5000 * sizeof(void *);
    unsigned char *over = noise(d, part_bytes), *got;
    arena a;
    make_arena(d, &a, WORDS, sizeof(void *), 30, 10);
    got = buffer(a.total);
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(copy_to(d, a.base, a.host, a.total));
    EXPECT_OK(relocate(d, &a));
    relocate_plainly(&a, a.expected);
    EXPECT_OK(copy_to(d, a.base + part, over, part_bytes));
    memcpy(a.expected + part, over, part_bytes);
    a.delta = random_next(&d->random);
    EXPECT_OK(relocate(d, &a));
    relocate_plainly(&a, a.expected);
    EXPECT_OK(copy_from(d, got, a.base, a.total));
    EXPECT_OK(wait(d));
    EXPECT(memcmp(got, a.expected, a.total) == 0);
    drop_arena(d, &a);
}

/* There and back again by the opposite delta, of the range where it then lies. */
static void a_relocation_is_undone_by_its_opposite(device *d)
{
    arena a;
    make_arena(d, &a, 5000, sizeof(void *), 32, 7);
    a.from = 0;
    a.range = 1000000;
    a.delta = (uint64_t)1 << 24;
    choose_words(d, &a);
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(copy_to(d, a.base, a.host, a.total));
    EXPECT_OK(relocate(d, &a));
    relocate_plainly(&a, a.host);
    a.from = a.delta;
    a.delta = 0 - a.delta;
    EXPECT_OK(relocate(d, &a));
    relocate_plainly(&a, a.host);
    EXPECT_OK(wait(d));
    EXPECT(holds(d, a.base, a.host, a.total));
    drop_arena(d, &a);
}

/* The arena in two parts: the first is patched while the second crosses, and what comes later sees
 * both patched. */
static void try_relocation_beside(device *d, uint64_t words, unsigned density)
{
    haul_relocation first, rest;
    size_t cut = (size_t)(words / 2 / 64 * 64) * sizeof(void *), part = cut / 2;
    unsigned char *over = noise(d, 64), *got;
    uint64_t fence;
    arena a;
    make_arena(d, &a, words, sizeof(void *), density, 0);
    got = buffer(a.total);
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(copy_to(d, a.base, a.host, cut));
    EXPECT_OK(copy_to(d, a.base + a.bitmap_at, a.host + a.bitmap_at, a.total - a.bitmap_at));
    EXPECT_OK(d->table->fence(d->state, &fence));
    EXPECT_OK(copy_to(d, a.base + cut, a.host + cut, a.bitmap_at - cut));
    first = rest = order_of(&a);
    first.words = cut / sizeof(void *);
    first.after = fence;
    rest.arena += cut;
    rest.words -= first.words;
    rest.bitmap += first.words / 8;
    EXPECT_OK(d->table->relocate(d->state, &first));
    EXPECT_OK(d->table->relocate(d->state, &rest));
    EXPECT_OK(copy_to(d, a.base + part, over, 64));
    EXPECT_OK(copy_from(d, got, a.base, a.total));
    EXPECT_OK(wait(d));
    relocate_plainly(&a, a.expected);
    memcpy(a.expected + part, over, 64);
    EXPECT(memcmp(got, a.expected, a.total) == 0);
    drop_arena(d, &a);
}

static void a_relocation_may_run_beside_what_was_ordered_since_its_fence(device *d)
{
    size_t i;
    for (i = 0; i < 20; i++)
        try_relocation_beside(d, random_between(&d->random, 1000, 2000000),
                              (unsigned)random_below(&d->random, 65));
}

/* ---- Cases: send. */

static haul_status send(device *d, const arena *a, const void *from)
{
    haul_relocation relocation = order_of(a);
    return d->table->send(d->state, &relocation, from, a->total);
}

/* An arena whose bytes on the host are memory of `stage`. */
static void try_send(device *d, uint64_t words, unsigned density, size_t offset_count)
{
    arena a;
    void *staged = NULL;
    make_arena(d, &a, words, sizeof(void *), density, offset_count);
    if (a.total > told_by(d).send_bytes)
        return;
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(d->table->stage(d->state, a.total, &staged));
    memcpy(staged, a.host, a.total);
    EXPECT_OK(send(d, &a, staged));
    EXPECT_OK(wait(d));
    relocate_plainly(&a, a.expected);
    EXPECT(holds(d, a.base, a.expected, a.total));
    EXPECT(memcmp(staged, a.host, a.total) == 0);
    d->table->unstage(d->state, staged, a.total);
    drop_arena(d, &a);
}

static void a_send_is_a_copy_and_a_relocation_in_one(device *d)
{
    static const uint64_t words[] = { 1, 2, 63, 64, 65, 127, 129, 1000, 4096, 7001, 16000, 32000 };
    size_t i;
    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        try_send(d, words[i], 64, 0);
        try_send(d, words[i], 8, 3);
        try_send(d, words[i], 0, 1);
    }
    for (i = 0; i < 60; i++)
        try_send(d, random_between(&d->random, 0, 3000), (unsigned)random_below(&d->random, 65),
                 random_between(&d->random, 1, 50));
}

/* One send after the other over the same memory, a copy between: one wait. */
static void sends_and_copies_take_effect_in_the_order_of_the_calls(device *d)
{
    unsigned char *over = noise(d, 1000), *got;
    void *staged = NULL;
    arena a;
    make_arena(d, &a, 1000, sizeof(void *), 30, 4);
    if (a.total > told_by(d).send_bytes)
        return;
    got = buffer(a.total);
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(d->table->stage(d->state, a.total, &staged));
    memcpy(staged, a.host, a.total);
    EXPECT_OK(copy_to(d, a.base, over, 1000));
    EXPECT_OK(send(d, &a, staged));
    EXPECT_OK(copy_from(d, got, a.base, a.total));
    EXPECT_OK(copy_to(d, a.base, over, 1000));
    EXPECT_OK(wait(d));
    relocate_plainly(&a, a.expected);
    EXPECT(memcmp(got, a.expected, a.total) == 0);
    EXPECT(holds(d, a.base, over, 1000));
    d->table->unstage(d->state, staged, a.total);
    drop_arena(d, &a);
}

/* ---- Cases: fetch. */

static void try_fetch(device *d, uint64_t words, unsigned density, size_t offset_count)
{
    haul_relocation relocation;
    unsigned char *staged = NULL;
    void *memory = NULL;
    arena a;
    make_arena(d, &a, words, sizeof(void *), density, offset_count);
    if (a.total > told_by(d).fetch_bytes)
        return;
    EXPECT_OK(get(d, a.total, 16, &a.base));
    EXPECT_OK(d->table->stage(d->state, a.total, &memory));
    staged = memory;
    memset(staged, 0x5a, a.total);
    EXPECT_OK(copy_to(d, a.base, a.host, a.total));
    relocation = order_of(&a);
    EXPECT_OK(d->table->fetch(d->state, staged, &relocation, a.total - 1));
    EXPECT_OK(wait(d));
    relocate_plainly(&a, a.expected);
    EXPECT(memcmp(staged, a.expected, a.total - 1) == 0 && staged[a.total - 1] == 0x5a);
    EXPECT(holds(d, a.base, a.host, a.total));
    d->table->unstage(d->state, memory, a.total);
    drop_arena(d, &a);
}

static void a_fetch_is_a_patched_copy_of_an_arena_that_stays_as_it_is(device *d)
{
    static const uint64_t words[] = { 1, 2, 63, 64, 65, 129, 1000, 4096, 7001, 16000, 32000 };
    size_t i;
    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        try_fetch(d, words[i], 64, 0);
        try_fetch(d, words[i], 8, 3);
    }
    for (i = 0; i < 40; i++)
        try_fetch(d, random_between(&d->random, 0, 3000), (unsigned)random_below(&d->random, 65),
                  random_between(&d->random, 1, 50));
    try_fetch(d, 300000, 8, 250);
    try_fetch(d, 1000000, 2, 0);
}

/* ---- Cases: crossings of the device's own. */

enum { PAGE = 4096, PAIR = 2 * sizeof(void *) };

/* Whole pages of host memory, which are somebody's alone. */
static unsigned char *pages(size_t count)
{
    unsigned char *memory = buffer((count + 1) * PAGE);
    return memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
}

/* What crosses: the host's memory and where it goes, in order of both, with gaps; and each side as
 * it must become. */
typedef struct crossing {
    unsigned char *host, *scattered; /* `host_bytes`, locked; what a push leaves there */
    size_t host_bytes;
    /* `bytes`: what lies there before; what a pull makes of it */
    unsigned char *arena, *gathered;
    size_t bytes;
    haul_segment *segments;
    haul_attachment *attachments;
    size_t segment_count, attachment_count;
    haul_crossing order;
    haul_interval locked;
    void *lists;
} crossing;

enum { SEGMENTS_MAX = 3000 };

static void attach_word(device *d, crossing *c, const haul_segment *segment, size_t at)
{
    unsigned char *here = (unsigned char *)(uintptr_t)segment->from + at;
    haul_attachment *attachment = &c->attachments[c->attachment_count++];
    uintptr_t there = (uintptr_t)random_next(&d->random);
    attachment->on_host = load_word(here, sizeof(void *));
    attachment->in_arena = there;
    store_word(c->gathered + segment->to + at, there, sizeof(void *));
}

static int is_slot(const haul_segment *segment, size_t at)
{
    return at / sizeof(void *) < 64 && (segment->slots >> at / sizeof(void *) & 1);
}

/* One more segment, and what it means, byte by byte. */
static void add_segment(device *d, crossing *c, size_t from, size_t to, size_t bytes)
{
    haul_segment *segment = &c->segments[c->segment_count++];
    size_t at;
    memset(segment, 0, sizeof *segment);
    segment->from = (uintptr_t)c->host + from;
    segment->to = to;
    segment->bytes = (uint16_t)bytes;
    segment->first = (uint32_t)c->attachment_count;
    segment->mask = UINT16_MAX;
    if (bytes == PAIR && random_below(&d->random, 2))
        segment->mask = (uint16_t)random_below(&d->random, (size_t)1 << PAIR);
    if (bytes <= 64 * sizeof(void *) && random_below(&d->random, 4))
        segment->slots = random_next(&d->random) & random_next(&d->random);
    if (bytes < 64 * sizeof(void *))
        segment->slots &= ((uint64_t)1 << bytes / sizeof(void *)) - 1;
    for (at = 0; at < bytes; at++) {
        int crosses = segment->mask == UINT16_MAX || (segment->mask >> at & 1);
        if (!is_slot(segment, at))
            c->gathered[to + at] = crosses ? c->host[from + at] : 0;
        else if (at % sizeof(void *) == 0)
            attach_word(d, c, segment, at);
        if (crosses && !is_slot(segment, at))
            c->scattered[from + at] = c->arena[to + at];
    }
}

static void make_segments(device *d, crossing *c, size_t most)
{
    size_t from = 0, to = 0, bytes;
    while (c->segment_count < SEGMENTS_MAX) {
        from += random_below(&d->random, 4) * PAIR;
        to += random_below(&d->random, 3) * PAIR;
        bytes = (1 + random_below(&d->random, random_below(&d->random, 3) ? most : 3)) * PAIR;
        if (from + bytes > c->host_bytes || to + bytes > c->bytes)
            break;
        add_segment(d, c, from, to, bytes);
        from += bytes;
        to += bytes;
    }
}

/* `most`: of the longest segment, in pairs of words. */
static void make_crossing(device *d, crossing *c, size_t page_count, size_t most)
{
    memset(c, 0, sizeof *c);
    c->host_bytes = c->bytes = page_count * PAGE;
    c->host = pages(page_count);
    random_fill(&d->random, c->host, c->host_bytes);
    c->scattered = buffer(c->host_bytes);
    memcpy(c->scattered, c->host, c->host_bytes);
    c->arena = noise(d, c->bytes);
    c->gathered = buffer(c->bytes);
    memcpy(c->gathered, c->arena, c->bytes);
    c->segments = (haul_segment *)(void *)buffer(SEGMENTS_MAX * sizeof *c->segments);
    c->attachments =
        (haul_attachment *)(void *)buffer(c->bytes / sizeof(void *) * sizeof *c->attachments);
    make_segments(d, c, most);
}

/* On the device: the arena as it lies before, and the lists. */
static void place_crossing(device *d, crossing *c)
{
    haul_crossing *order = &c->order;
    size_t lists;
    void *word;
    order->bytes = c->bytes;
    order->segment_count = c->segment_count;
    order->attachments_at = c->segment_count * sizeof(haul_segment);
    order->attachment_count = c->attachment_count;
    order->word_bytes = sizeof(void *);
    lists = (size_t)order->attachments_at + c->attachment_count * sizeof(haul_attachment);
    EXPECT_OK(get(d, c->bytes, 16, &order->arena));
    EXPECT_OK(get(d, lists + 16, 16, &order->lists));
    EXPECT_OK(copy_to(d, order->arena, c->arena, c->bytes));
    EXPECT_OK(copy_to(d, order->lists, c->segments, c->segment_count * sizeof(haul_segment)));
    if (c->attachment_count > 0)
        EXPECT_OK(copy_to(d, order->lists + order->attachments_at, c->attachments,
                          c->attachment_count * sizeof(haul_attachment)));
    EXPECT_OK(d->table->stage(d->state, sizeof(uint32_t), &word));
    order->changed = word;
    *order->changed = 0;
    EXPECT_OK(d->table->lock(d->state, c->host, c->host_bytes));
    c->locked.begin = (uintptr_t)c->host;
    c->locked.end = c->locked.begin + c->host_bytes;
    order->locked = &c->locked;
    order->locked_count = 1;
}

static void drop_crossing(device *d, crossing *c)
{
    const size_t lists =
        (size_t)c->order.attachments_at + c->attachment_count * sizeof(haul_attachment) + 16;
    d->table->unlock(d->state, c->host, c->host_bytes);
    d->table->unstage(d->state, c->order.changed, sizeof(uint32_t));
    put_back(d, c->order.lists, lists);
    put_back(d, c->order.arena, c->bytes);
}

/* Of words that the device does not know, an answer is all. */
static int crosses_by_itself(device *d)
{
    return d->table->pull != NULL && sizeof(void *) == 8;
}

static void try_pull(device *d, size_t page_count, size_t most)
{
    crossing c;
    make_crossing(d, &c, page_count, most);
    place_crossing(d, &c);
    if (d->broken)
        return;
    EXPECT_OK(d->table->pull(d->state, &c.order));
    EXPECT_OK(wait(d));
    EXPECT(*c.order.changed == 0);
    EXPECT(holds(d, c.order.arena, c.gathered, c.bytes));
    if (c.attachment_count > 0) {
        haul_attachment *spoiled = &c.attachments[random_below(&d->random, c.attachment_count)];
        spoiled->on_host ^= 1;
        EXPECT_OK(copy_to(d, c.order.lists + c.order.attachments_at, c.attachments,
                          c.attachment_count * sizeof(haul_attachment)));
        EXPECT_OK(d->table->pull(d->state, &c.order));
        EXPECT_OK(wait(d));
        EXPECT(*c.order.changed == 1);
        EXPECT(holds(d, c.order.arena, c.gathered, c.bytes));
    }
    drop_crossing(d, &c);
}

/* Short segments and long ones, few and many. */
static void try_crossings(device *d, void (*try_one)(device *d, size_t page_count, size_t most))
{
    static const size_t most[] = { 1, 4, 8, 32, 100, 2048 };
    size_t i;
    for (i = 0; i < sizeof most / sizeof most[0] && crosses_by_itself(d); i++) {
        try_one(d, 1, most[i] < 64 ? most[i] : 64);
        try_one(d, 60, most[i]);
    }
}

static void a_pull_gathers_locked_memory_attaches_pointers_and_tells_changed_ones(device *d)
{
    try_crossings(d, try_pull);
}

static void try_push(device *d, size_t page_count, size_t most)
{
    crossing c;
    make_crossing(d, &c, page_count, most);
    place_crossing(d, &c);
    if (d->broken)
        return;
    EXPECT_OK(d->table->push(d->state, &c.order));
    EXPECT_OK(wait(d));
    EXPECT(memcmp(c.host, c.scattered, c.host_bytes) == 0);
    EXPECT(holds(d, c.order.arena, c.arena, c.bytes));
    drop_crossing(d, &c);
}

static void a_push_scatters_what_crosses_and_no_byte_beside_it(device *d)
{
    try_crossings(d, try_push);
}

/* One after the other without a wait: what a push writes the next pull reads. */
static void crossings_and_copies_take_effect_in_the_order_of_the_calls(device *d)
{
    unsigned char *got;
    crossing c;
    size_t i, at;
    if (!crosses_by_itself(d))
        return;
    make_crossing(d, &c, 20, 20);
    place_crossing(d, &c);
    if (d->broken)
        return;
    got = buffer(c.bytes);
    for (i = 0; i < 10; i++) {
        EXPECT_OK(d->table->push(d->state, &c.order));
        EXPECT_OK(copy_to(d, c.order.arena, c.gathered, c.bytes));
        EXPECT_OK(d->table->pull(d->state, &c.order));
        EXPECT_OK(copy_from(d, got, c.order.arena, c.bytes));
        EXPECT_OK(copy_to(d, c.order.arena, c.arena, c.bytes));
    }
    EXPECT_OK(wait(d));
    EXPECT(memcmp(c.host, c.scattered, c.host_bytes) == 0);
    for (i = 0; i < c.segment_count; i++)
        for (at = 0; at < c.segments[i].bytes; at++)
            if (c.segments[i].mask == UINT16_MAX && !is_slot(&c.segments[i], at))
                EXPECT(got[c.segments[i].to + at] == c.arena[c.segments[i].to + at]);
    drop_crossing(d, &c);
}

static void pages_are_locked_once(device *d)
{
    unsigned char *memory = pages(6);
    if (!d->table->lock)
        return;
    EXPECT_OK(d->table->lock(d->state, memory + PAGE, 3 * PAGE));
    EXPECT(d->table->lock(d->state, memory + PAGE, PAGE) == HAUL_ERROR_UNSUPPORTED);
    EXPECT(d->table->lock(d->state, memory, 2 * PAGE) == HAUL_ERROR_UNSUPPORTED);
    EXPECT_OK(d->table->lock(d->state, memory, PAGE));
    EXPECT_OK(d->table->lock(d->state, memory + 4 * PAGE, PAGE));
    d->table->unlock(d->state, memory + PAGE, 3 * PAGE);
    EXPECT_OK(d->table->lock(d->state, memory + 2 * PAGE, 2 * PAGE));
    d->table->unlock(d->state, memory + 2 * PAGE, 2 * PAGE);
    d->table->unlock(d->state, memory, PAGE);
    d->table->unlock(d->state, memory + 4 * PAGE, PAGE);
    EXPECT_OK(wait(d));
}

/* ---- Cases: mirrors. */

/* 0: the device has none to give, as it may say, or its memory is not what it should be. */
static int get_mirror(device *d, size_t bytes, haul_mirror *mirror)
{
    haul_status status =
        d->table->mirror ? d->table->mirror(d->state, bytes, mirror) : HAUL_ERROR_UNSUPPORTED;
    size_t i;
    if (status == HAUL_OK &&
        (mirror->bytes < bytes || (uintptr_t)mirror->memory % PAGE != 0 ||
         (uintptr_t)mirror->window % 16 != 0 || mirror->memory == mirror->window))
        broken(d, "a mirror of the size that was asked for, aligned, with a window elsewhere",
               __LINE__);
    for (i = 0; status == HAUL_OK && i < bytes; i++)
        if (((unsigned char *)mirror->memory)[i] != 0)
            broken(d, "a mirror of zeros", __LINE__);
    if (status != HAUL_OK && status != HAUL_ERROR_UNSUPPORTED)
        broken(d, "a mirror, or none", __LINE__);
    return status == HAUL_OK && !d->broken;
}

static void a_mirror_is_memory_of_the_hosts_and_of_the_devices_at_one_address(device *d)
{
    enum { BYTES = 300000 };
    const unsigned char *here = noise(d, BYTES), *there = noise(d, BYTES), *later = noise(d, BYTES);
    unsigned char *memory;
    haul_address at;
    haul_mirror mirror;
    if (!get_mirror(d, BYTES, &mirror))
        return;
    memory = mirror.memory;
    at = (haul_address)(uintptr_t)memory;
    memcpy(memory, here, BYTES);
    EXPECT_OK(copy_to(d, at, there, BYTES));
    EXPECT_OK(wait(d));
    EXPECT(memcmp(memory, here, BYTES) == 0);
    EXPECT(memcmp(mirror.window, here, BYTES) == 0);
    EXPECT(holds(d, at, there, BYTES));
    EXPECT_OK(copy_to(d, at, mirror.window, BYTES));
    EXPECT_OK(wait(d));
    memcpy(memory, later, BYTES);
    EXPECT(holds(d, at, here, BYTES));
    EXPECT(memcmp(memory, later, BYTES) == 0);
    EXPECT_OK(copy_from(d, mirror.window, at, BYTES));
    EXPECT_OK(wait(d));
    EXPECT(memcmp(memory, here, BYTES) == 0);
    d->table->unmirror(d->state, &mirror);
}

/* Its words are no pointers into it; they move all the same. */
static void a_window_is_memory_of_stage(device *d)
{
    arena a;
    haul_mirror mirror;
    haul_relocation relocation;
    make_arena(d, &a, 500, sizeof(void *), 3, 8);
    if (a.total > told_by(d).send_bytes || a.total > told_by(d).fetch_bytes)
        return;
    if (!get_mirror(d, a.total, &mirror))
        return;
    a.base = (haul_address)(uintptr_t)mirror.memory;
    memcpy(mirror.memory, a.host, a.total);
    EXPECT_OK(send(d, &a, mirror.window));
    EXPECT_OK(wait(d));
    relocate_plainly(&a, a.expected);
    EXPECT(holds(d, a.base, a.expected, a.bytes));
    EXPECT(memcmp(mirror.memory, a.host, a.total) == 0);
    relocation = order_of(&a);
    relocation.delta = 0;
    memset(mirror.memory, 0, a.bytes);
    EXPECT_OK(d->table->fetch(d->state, mirror.window, &relocation, a.bytes));
    EXPECT_OK(wait(d));
    EXPECT(memcmp(mirror.memory, a.expected, a.bytes) == 0);
    d->table->unmirror(d->state, &mirror);
}

static void mirrors_come_and_go_in_any_order(device *d)
{
    static const size_t sizes[] = { 1, 70000, 5000001, 4096 };
    haul_mirror mirrors[4];
    unsigned char *sent[4];
    size_t i, round;
    for (i = 0; i < 4; i++)
        sent[i] = noise(d, sizes[i]);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 4; i++) {
            if (!get_mirror(d, sizes[i], &mirrors[i]))
                return;
            memcpy(mirrors[i].memory, sent[i], sizes[i]);
            EXPECT_OK(copy_to(d, (haul_address)(uintptr_t)mirrors[i].memory, mirrors[i].window,
                              sizes[i]));
        }
        EXPECT_OK(wait(d));
        for (i = 0; i < 4; i++) {
            const haul_mirror *one = &mirrors[(i * 3 + round) % 4];
            const size_t which = (size_t)(one - mirrors);
            EXPECT(holds(d, (haul_address)(uintptr_t)one->memory, sent[which], sizes[which]));
            EXPECT(memcmp(one->memory, sent[which], sizes[which]) == 0);
            d->table->unmirror(d->state, one);
        }
    }
}

static void a_mirror_that_is_not_there_is_refused_and_the_device_goes_on(device *d)
{
    static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2 };
    haul_mirror mirror;
    size_t i;
    if (!d->table->mirror)
        return;
    for (i = 0; i < 3; i++) {
        haul_status status = d->table->mirror(d->state, sizes[i], &mirror);
        EXPECT(status == HAUL_ERROR_DEVICE_MEMORY || status == HAUL_ERROR_MEMORY ||
               status == HAUL_ERROR_UNSUPPORTED);
        if (get_mirror(d, 100, &mirror))
            d->table->unmirror(d->state, &mirror);
        EXPECT_OK(wait(d));
    }
}

/* The device would take it for its own. */
static void a_mirror_is_not_locked(device *d)
{
    haul_mirror mirror;
    if (!d->table->lock || !get_mirror(d, 4 * PAGE, &mirror))
        return;
    EXPECT(d->table->lock(d->state, mirror.memory, PAGE) == HAUL_ERROR_UNSUPPORTED);
    EXPECT(d->table->lock(d->state, (char *)mirror.memory + PAGE, 2 * PAGE) ==
           HAUL_ERROR_UNSUPPORTED);
    EXPECT_OK(wait(d));
    d->table->unmirror(d->state, &mirror);
}

/* ---- Cases: across. */

/* To `there` on d from `here` on the other one; the other one is not waited for. */
static void try_across(device *d, device *other, size_t bytes)
{
    unsigned char *sent = noise(d, bytes);
    haul_address here, there;
    if (!d->table->across)
        return;
    EXPECT_OK(get(other, bytes, 16, &here));
    EXPECT_OK(get(d, bytes, 16, &there));
    EXPECT_OK(copy_to(other, here, sent, bytes));
    EXPECT_OK(d->table->across(d->state, there, other->state, here, bytes));
    EXPECT_OK(wait(d));
    EXPECT(holds(d, there, sent, bytes));
    EXPECT(holds(other, here, sent, bytes));
    put_back(d, there, bytes);
    put_back(other, here, bytes);
}

static void bytes_cross_from_one_device_to_another(device *d)
{
    static const size_t sizes[] = { 1, 3, 64, 4097, 1000003 };
    device other = *d;
    size_t i;
    other.broken = NULL;
    EXPECT_OK(d->table->open(d->settings, &d->allocator, &other.state));
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        try_across(d, &other, sizes[i]);
    d->table->close(other.state);
}

static void a_mirror_crosses_to_another_device_and_back(device *d)
{
    enum { BYTES = 70000 };
    const unsigned char *sent = noise(d, BYTES);
    device other = *d;
    haul_mirror mirror;
    haul_address at, there;
    other.broken = NULL;
    if (!d->table->across || !get_mirror(d, BYTES, &mirror))
        return;
    at = (haul_address)(uintptr_t)mirror.memory;
    EXPECT_OK(d->table->open(d->settings, &d->allocator, &other.state));
    EXPECT_OK(get(&other, BYTES, 16, &there));
    EXPECT_OK(copy_to(d, at, sent, BYTES));
    EXPECT_OK(d->table->across(other.state, there, d->state, at, BYTES));
    EXPECT_OK(wait(&other));
    EXPECT(holds(&other, there, sent, BYTES));
    EXPECT_OK(copy_to(d, at, sent + 1, BYTES - 1));
    EXPECT_OK(d->table->across(d->state, at, other.state, there, BYTES));
    EXPECT_OK(wait(d));
    EXPECT(holds(d, at, sent, BYTES));
    EXPECT(((const unsigned char *)mirror.memory)[BYTES - 1] == 0);
    put_back(&other, there, BYTES);
    d->table->close(other.state);
    d->table->unmirror(d->state, &mirror);
}

static void bytes_cross_within_a_device(device *d)
{
    try_across(d, d, 1);
    try_across(d, d, 70001);
}

/* ---- Cases: strips. */

enum { STRIPS = 200, STRIPS_ARENA = 1 << 20 };

/* Random strips within an arena, each in a part of its own; answers the bytes of the buffer. */
static size_t make_strips(device *d, haul_address arena, haul_strip *strips)
{
    const size_t share = STRIPS_ARENA / STRIPS;
    size_t packed = 0, i;
    for (i = 0; i < STRIPS; i++) {
        haul_strip *strip = &strips[i];
        const size_t unit = (size_t)1 << random_below(&d->random, 4),
                     run = unit * random_between(&d->random, 1, 40), stride = run + i % 3 * unit,
                     fit = share / stride - 1, most = HAUL_STRIP_BYTES / run;
        strip->bytes = (uint32_t)run;
        strip->stride = stride;
        strip->count = (uint32_t)random_between(&d->random, 1, most < fit ? most : fit);
        strip->first = arena + i * share / 8 * 8 + random_below(&d->random, 2) * unit;
        strip->packed = packed = (packed + unit - 1) / unit * unit;
        packed += (size_t)strip->count * strip->bytes;
    }
    return packed;
}

/* Copies runs between a copy of the arena and the buffer. */
static void copy_strips(const haul_strip *strips, haul_address arena, unsigned char *copy,
                        unsigned char *packed, int to_copy)
{
    size_t i, k;
    for (i = 0; i < STRIPS; i++)
        for (k = 0; k < strips[i].count; k++) {
            unsigned char *at = copy + (size_t)(strips[i].first - arena + k * strips[i].stride),
                          *run = packed + (size_t)(strips[i].packed + k * strips[i].bytes);
            memcpy(to_copy ? at : run, to_copy ? run : at, strips[i].bytes);
        }
}

static void strips_cross_either_way_and_no_byte_beside_them(device *d)
{
    unsigned char *expected = noise(d, STRIPS_ARENA), *gathered;
    const size_t most = STRIPS_ARENA + STRIPS * sizeof(haul_strip);
    haul_strip *strips;
    haul_address arena;
    void *memory;
    size_t bytes;
    if (!d->table->gather_strips)
        return;
    EXPECT_OK(get(d, STRIPS_ARENA, 16, &arena));
    EXPECT_OK(d->table->stage(d->state, most, &memory));
    strips = (haul_strip *)(void *)((unsigned char *)memory + STRIPS_ARENA);
    bytes = make_strips(d, arena, strips);
    gathered = buffer(bytes);
    memset(memory, 0, bytes);
    EXPECT_OK(copy_to(d, arena, expected, STRIPS_ARENA));
    EXPECT_OK(d->table->gather_strips(d->state, memory, bytes, strips, STRIPS));
    EXPECT_OK(wait(d));
    copy_strips(strips, arena, expected, gathered, 0);
    EXPECT(memcmp(memory, gathered, bytes) == 0);
    random_fill(&d->random, memory, bytes);
    EXPECT_OK(d->table->scatter_strips(d->state, strips, STRIPS, memory, bytes));
    copy_strips(strips, arena, expected, memory, 1);
    EXPECT(holds(d, arena, expected, STRIPS_ARENA));
    d->table->unstage(d->state, memory, most);
    put_back(d, arena, STRIPS_ARENA);
}

static void bytes_that_are_cleared_are_zeros_and_no_byte_beside_them(device *d)
{
    static const size_t parts[][2] = { { 0, 1 },       { 3, 7 },        { 16, 16 },  { 100, 4096 },
                                       { 5000, 1001 }, { 8192, 16384 }, { 24577, 1 } };
    unsigned char *expected = noise(d, STRIPS_ARENA);
    haul_address arena;
    size_t i;
    if (!d->table->clear)
        return;
    EXPECT_OK(get(d, STRIPS_ARENA, 16, &arena));
    EXPECT_OK(copy_to(d, arena, expected, STRIPS_ARENA));
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        EXPECT(parts[i][0] + parts[i][1] <= STRIPS_ARENA);
        EXPECT_OK(d->table->clear(d->state, arena + parts[i][0], parts[i][1]));
        memset(expected + parts[i][0], 0, parts[i][1]);
    }
    EXPECT(holds(d, arena, expected, STRIPS_ARENA));
    put_back(d, arena, STRIPS_ARENA);
}

/* ---- Cases: order. */

static void fences_grow_and_are_reached(device *d)
{
    enum { BYTES = 1000000, FENCES = 100 };
    unsigned char *bytes = noise(d, BYTES);
    uint64_t fences[FENCES];
    haul_address base;
    size_t i;
    EXPECT_OK(get(d, BYTES, 16, &base));
    for (i = 0; i < FENCES; i++) {
        EXPECT_OK(copy_to(d, base + i * 100, bytes + i * 100, i % 7 ? 100 : BYTES - i * 100));
        EXPECT_OK(d->table->fence(d->state, &fences[i]));
        EXPECT(i == 0 || fences[i] > fences[i - 1]);
    }
    for (i = FENCES; i-- > 0;)
        EXPECT_OK(d->table->await(d->state, fences[i]));
    for (i = 0; i < FENCES; i++) {
        EXPECT_OK(d->table->poll(d->state, fences[i]));
        EXPECT_OK(d->table->await(d->state, fences[i]));
    }
    EXPECT(holds(d, base, bytes, BYTES));
    put_back(d, base, BYTES);
}

static void what_lies_before_a_fence_is_done_when_it_is_reached(device *d)
{
    enum { BYTES = 300000, ROUNDS = 20 };
    unsigned char *sent = noise(d, BYTES), *got = buffer(BYTES);
    haul_address base;
    uint64_t fence;
    int round;
    EXPECT_OK(get(d, BYTES, 16, &base));
    for (round = 0; round < ROUNDS; round++) {
        haul_status status = HAUL_ERROR_PENDING;
        random_fill(&d->random, sent, BYTES);
        EXPECT_OK(copy_to(d, base, sent, BYTES));
        EXPECT_OK(copy_from(d, got, base, BYTES));
        EXPECT_OK(d->table->fence(d->state, &fence));
        while (round % 2 && status == HAUL_ERROR_PENDING)
            status = d->table->poll(d->state, fence);
        EXPECT(round % 2 == 0 || status == HAUL_OK);
        if (round % 2 == 0)
            EXPECT_OK(d->table->await(d->state, fence));
        EXPECT(memcmp(sent, got, BYTES) == 0);
    }
    put_back(d, base, BYTES);
}

/* The memory goes when the copies are done: what is allocated next is not written by them. */
static void memory_may_be_released_while_the_device_works_on_it(device *d)
{
    enum { BYTES = 2000000 };
    unsigned char *old = noise(d, BYTES), *fresh = noise(d, BYTES);
    haul_address base, next;
    int round;
    for (round = 0; round < 10; round++) {
        EXPECT_OK(get(d, BYTES, 16, &base));
        EXPECT_OK(copy_to(d, base, old, BYTES));
        put_back(d, base, BYTES);
        EXPECT_OK(get(d, BYTES, 16, &next));
        EXPECT_OK(copy_to(d, next, fresh, BYTES));
        EXPECT(holds(d, next, fresh, BYTES));
        put_back(d, next, BYTES);
    }
}

static void the_devices_own_stream_can_be_selected(device *d)
{
    EXPECT_OK(d->table->select(d->state, NULL));
    EXPECT_OK(d->table->select(d->state, NULL));
    EXPECT_OK(wait(d));
}

/* Two streams that the user made, and events on them. */
static void work_on_streams_is_ordered_by_fences_and_told_by_events(device *d)
{
    enum { BYTES = 400000 };
    const contract_streams *streams = d->streams;
    unsigned char *sent = noise(d, BYTES), *got = buffer(BYTES);
    void *first, *second, *event;
    uint64_t fence;
    haul_address base;
    if (!streams)
        return;
    first = streams->make_stream ? streams->make_stream() : NULL;
    second = streams->make_stream ? streams->make_stream() : NULL;
    event = streams->make_event();
    EXPECT_OK(d->table->select(d->state, first));
    EXPECT_OK(get(d, BYTES, 16, &base));
    EXPECT_OK(copy_to(d, base, sent, BYTES));
    EXPECT_OK(d->table->fence(d->state, &fence));
    EXPECT_OK(d->table->await(d->state, fence));
    EXPECT_OK(d->table->select(d->state, second));
    EXPECT_OK(copy_from(d, got, base, BYTES));
    if (d->table->signal)
        EXPECT_OK(d->table->signal(d->state, event));
    EXPECT_OK(wait(d));
    EXPECT(!d->table->signal || streams->is_told(event));
    EXPECT(memcmp(sent, got, BYTES) == 0);
    EXPECT_OK(d->table->select(d->state, NULL));
    EXPECT(holds(d, base, sent, BYTES));
    put_back(d, base, BYTES);
    streams->drop_event(event);
    if (streams->drop_stream) {
        streams->drop_stream(second);
        streams->drop_stream(first);
    }
}

/* ---- Cases: the surroundings. */

/* H11. */
static void errno_stays_as_it_was(device *d)
{
    haul_address address;
    void *memory = NULL;
    unsigned char bytes[8] = { 0 };
    errno = 77;
    EXPECT(get(d, (uint64_t)1 << 62, 16, &address) == HAUL_ERROR_DEVICE_MEMORY && errno == 77);
    EXPECT(get(d, 8, 16, &address) == HAUL_OK && errno == 77);
    EXPECT(d->table->stage(d->state, 100, &memory) == HAUL_OK && errno == 77);
    EXPECT(copy_to(d, address, bytes, 8) == HAUL_OK && errno == 77);
    EXPECT(copy_from(d, bytes, address, 8) == HAUL_OK && errno == 77);
    EXPECT(wait(d) == HAUL_OK && errno == 77);
    d->table->unstage(d->state, memory, 100);
    EXPECT(errno == 77);
    put_back(d, address, 8);
    EXPECT(errno == 77);
}

/* ---- The list, and one run of a case. */

typedef struct contract_case {
    const char *sentence;
    void (*run)(device *d);
} contract_case;

#define CASE(name) #name, name
static const contract_case cases[] = {
    { CASE(the_table_is_complete) },
    { CASE(the_capabilities_are_sensible) },
    { CASE(a_fresh_device_has_a_message_and_nothing_to_wait_for) },
    { CASE(two_open_devices_do_not_disturb_each_other) },
    { CASE(memory_of_all_sizes_is_aligned_and_apart) },
    { CASE(memory_is_released_in_any_order) },
    { CASE(memory_that_is_not_there_is_refused_and_the_device_goes_on) },
    { CASE(memory_in_several_places_is_one_run_of_addresses) },
    { CASE(places_that_do_not_fit_are_refused_and_the_device_goes_on) },
    { CASE(free_memory_is_there) },
    { CASE(staging_is_memory_to_copy_from_and_to) },
    { CASE(bytes_come_back_as_they_went_at_any_offset_and_size) },
    { CASE(a_copy_from_writes_nothing_beside_its_range) },
    { CASE(copies_take_effect_in_the_order_of_the_calls) },
    { CASE(a_large_copy_arrives_whole) },
    { CASE(marked_words_of_8_bytes_move_and_no_others) },
    { CASE(marked_words_of_4_bytes_move_and_no_others) },
    { CASE(listed_pointers_move) },
    { CASE(a_word_of_the_hosts_tells_whether_any_pointer_leads_outside) },
    { CASE(copies_and_relocations_take_effect_in_the_order_of_the_calls) },
    { CASE(a_relocation_is_undone_by_its_opposite) },
    { CASE(a_relocation_may_run_beside_what_was_ordered_since_its_fence) },
    { CASE(a_send_is_a_copy_and_a_relocation_in_one) },
    { CASE(a_fetch_is_a_patched_copy_of_an_arena_that_stays_as_it_is) },
    { CASE(sends_and_copies_take_effect_in_the_order_of_the_calls) },
    { CASE(a_pull_gathers_locked_memory_attaches_pointers_and_tells_changed_ones) },
    { CASE(a_push_scatters_what_crosses_and_no_byte_beside_it) },
    { CASE(crossings_and_copies_take_effect_in_the_order_of_the_calls) },
    { CASE(pages_are_locked_once) },
    { CASE(a_mirror_is_memory_of_the_hosts_and_of_the_devices_at_one_address) },
    { CASE(a_window_is_memory_of_stage) },
    { CASE(mirrors_come_and_go_in_any_order) },
    { CASE(a_mirror_that_is_not_there_is_refused_and_the_device_goes_on) },
    { CASE(a_mirror_is_not_locked) },
    { CASE(a_mirror_crosses_to_another_device_and_back) },
    { CASE(bytes_cross_from_one_device_to_another) },
    { CASE(bytes_cross_within_a_device) },
    { CASE(strips_cross_either_way_and_no_byte_beside_them) },
    { CASE(bytes_that_are_cleared_are_zeros_and_no_byte_beside_them) },
    { CASE(fences_grow_and_are_reached) },
    { CASE(what_lies_before_a_fence_is_done_when_it_is_reached) },
    { CASE(memory_may_be_released_while_the_device_works_on_it) },
    { CASE(the_devices_own_stream_can_be_selected) },
    { CASE(work_on_streams_is_ordered_by_fences_and_told_by_events) },
    { CASE(errno_stays_as_it_was) },
};

static void run_open(device *d, const contract_case *c)
{
    EXPECT_OK(d->table->open(d->settings, &d->allocator, &d->state));
    EXPECT(d->state != NULL);
    c->run(d);
    if (!d->broken)
        EXPECT(d->table->message(d->state) != NULL);
    d->table->close(d->state);
    if (!d->broken)
        EXPECT(d->live_blocks == 0 && d->live_bytes == 0);
}

static int run_case(const haul_device_table *table, const void *settings,
                    const contract_streams *streams, uint64_t seed, const contract_case *c)
{
    const char *letter;
    device d;
    memset(&d, 0, sizeof d);
    d.table = table;
    d.settings = settings;
    d.streams = streams;
    d.allocator.user = &d;
    d.allocator.allocate = count_allocate;
    d.allocator.release = count_release;
    d.random = random_from(seed);
    printf("%s: ", table->name);
    for (letter = c->sentence; *letter; letter++)
        putchar(*letter == '_' ? ' ' : *letter);
    printf(" ... ");
    fflush(stdout);
    run_open(&d, c);
    free_buffers();
    if (d.broken)
        printf("FAILED (line %d: %s)\n", d.line, d.broken);
    else
        printf("ok\n");
    return d.broken == NULL;
}

unsigned contract_run(const haul_device_table *table, const void *settings)
{
    return contract_run_with(table, settings, NULL);
}

unsigned contract_run_with(const haul_device_table *table, const void *settings,
                           const contract_streams *streams)
{
    random_source seeds = random_start("device contract");
    unsigned passed = 0, failed = 0;
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (run_case(table, settings, streams, random_next(&seeds), &cases[i]))
            passed++;
        else
            failed++;
    printf("%u passed, %u failed\n", passed, failed);
    return failed;
}

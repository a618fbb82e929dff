/* Large arrays begin at multiples of 256 bytes in a compacted arena, wherever they lie in the
 * source. Everything beside them travels as ever.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

/* BLOCK: of the library's map, and the least length that is aligned. */
enum { LINE = 256, WORD = sizeof(void *), BLOCK = WORD << 13, CELL = WORD << 6, BLOCKS = 24 };

typedef struct shelf {
    unsigned char *data;
    size_t bytes;
    struct shelf *next;
    unsigned char *end; /* an alias: one past the data */
    unsigned char *scratch;
    size_t scratch_bytes;
} shelf;

typedef struct small {
    struct small *next;
    size_t value[3];
} small;

typedef struct small_rows {
    small *rows;
    size_t count;
} small_rows;

static haul_type *shelf_type, *small_type, *rows_type;
static const haul_field shelf_fields[] = {
    HAUL_ARRAY(shelf, data, HAUL_COUNT(shelf, bytes)),
    HAUL_OBJECT(shelf, next, &shelf_type),
    HAUL_ADDRESS(shelf, end, .element_bytes = 1, .ownership = HAUL_BORROWED),
    HAUL_ARRAY(shelf, scratch, HAUL_COUNT(shelf, scratch_bytes), .transfer = HAUL_COPYOUT),
};
static const haul_field small_fields[] = { HAUL_OBJECT(small, next, &small_type) };
static const haul_field rows_fields[] = {
    HAUL_OBJECTS(small_rows, rows, &small_type, HAUL_COUNT(small_rows, count)),
};

static haul_context *context;
static unsigned char *memory, *before; /* what the memory held */

static void start_in(haul_context *used, size_t blocks)
{
    void *room = NULL;
    size_t i;
    context = used;
    shelf_type = TYPE_NEW(shelf, shelf_fields);
    small_type = TYPE_NEW(small, small_fields);
    rows_type = TYPE_NEW(small_rows, rows_fields);
    CHECK_STATUS(haul_type_commit(shelf_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(rows_type), HAUL_OK);
    CHECK(posix_memalign(&room, BLOCK, blocks * BLOCK) == 0);
    memory = room;
    for (i = 0; i < blocks * BLOCK; i++)
        memory[i] = (unsigned char)(i % 251 + 1);
}

static void start(void)
{
    haul_context *made;
    CHECK_STATUS(haul_context_create(NULL, &made), HAUL_OK);
    start_in(made, BLOCKS);
}

static void end(void)
{
    haul_type_free(&rows_type);
    haul_type_free(&small_type);
    haul_type_free(&shelf_type);
    haul_context_free(&context);
    free(memory);
}

static shelf *shelf_at(size_t at, unsigned char *data, size_t bytes)
{
    shelf *made = (shelf *)(void *)(memory + at);
    memset(made, 0, sizeof *made);
    made->data = data;
    made->bytes = bytes;
    made->end = data + bytes;
    return made;
}

static haul_root root_of(shelf *s)
{
    haul_root root;
    root.address = s;
    root.type = shelf_type;
    root.count = 1;
    return root;
}

/* ---- A plan, and its arena. */

typedef struct packed {
    haul_plan *plan;
    unsigned char *arena;
    size_t bytes;
    uint64_t *bitmap;
} packed;

static packed pack(haul_source source)
{
    packed p;
    CHECK_STATUS(haul_plan_create(context, source, NULL, &p.plan), HAUL_OK);
    p.bytes = plan_bytes(p.plan);
    p.arena = malloc(p.bytes);
    p.bitmap = malloc(plan_bitmap_bytes(p.plan));
    CHECK(p.arena && p.bitmap);
    memset(p.arena, 0xdd, p.bytes);
    CHECK_STATUS(haul_plan_pack(p.plan, p.arena, p.bytes, 0, p.bitmap), HAUL_OK);
    return p;
}

static void drop(packed *p)
{
    haul_plan_free(&p->plan);
    free(p->arena);
    free(p->bitmap);
}

static size_t place_of(const packed *p, const void *address)
{
    void *back;
    size_t offset;
    CHECK_STATUS(haul_plan_offset(p->plan, address, &offset), HAUL_OK);
    CHECK_STATUS(haul_plan_address(p->plan, offset, &back), HAUL_OK);
    CHECK_PTR(back, address);
    return offset;
}

static size_t pointer_at(const packed *p, size_t offset)
{
    uintptr_t word;
    CHECK(p->bitmap[offset / WORD / 64] >> (offset / WORD % 64) & 1);
    memcpy(&word, p->arena + offset, sizeof word);
    return word;
}

/* Bytes that no place leads back from are zeros. */
static void check_gaps(const packed *p)
{
    size_t offset;
    void *address;
    for (offset = WORD; offset < p->bytes; offset += 2 * WORD)
        if (haul_plan_address(p->plan, offset, &address) != HAUL_OK)
            CHECK_EQ(p->arena[offset], 0);
}

static void check_shelf(const packed *p, const shelf *s, int is_aligned)
{
    const size_t at = place_of(p, s), data = place_of(p, s->data);
    if (is_aligned)
        CHECK_EQ(data % LINE, 0);
    CHECK_EQ(place_of(p, s->end - 1), data + s->bytes - 1);
    CHECK_BYTES(p->arena + data, s->data, s->bytes);
    CHECK_EQ(pointer_at(p, at + offsetof(shelf, data)), data);
    CHECK_EQ(pointer_at(p, at + offsetof(shelf, end)), data + s->bytes);
    CHECK_EQ(pointer_at(p, at + offsetof(shelf, next)), s->next ? place_of(p, s->next) : 0);
}

/* All bytes of the data are changed in the arena, come back, and go again. */
static void check_return(packed *p, const shelf *s)
{
    for (; s; s = s->next) {
        const size_t data = place_of(p, s->data);
        size_t i;
        for (i = 0; i < s->bytes; i++)
            p->arena[data + i] ^= 0x55;
    }
    CHECK_STATUS(haul_plan_unpack(p->plan, p->arena, p->bytes, 0), HAUL_OK);
}

static void check_all(shelf *first, size_t changed)
{
    packed p = pack(haul_from_object(first, shelf_type));
    const shelf *s;
    size_t i;
    for (s = first; s; s = s->next)
        check_shelf(&p, s, s->bytes >= BLOCK);
    check_gaps(&p);
    before = malloc(changed);
    CHECK(before != NULL);
    memcpy(before, memory, changed);
    check_return(&p, first);
    for (s = first; s; s = s->next)
        for (i = 0; i < s->bytes; i++)
            before[s->data - memory + (ptrdiff_t)i] ^= 0x55;
    CHECK_BYTES(memory, before, changed);
    free(before);
    drop(&p);
}

/* ---- Where they lie. */

/* A shelf close before its data, and another one close behind them, whose data begin a page later.
 * Answers the first byte that is free. */
static size_t two_arrays(size_t begin, size_t bytes)
{
    const size_t behind = (begin + bytes + WORD - 1) & ~(size_t)(WORD - 1);
    const size_t second = (behind + 3 * 4096) & ~(size_t)4095;
    shelf *one = shelf_at(begin - sizeof(shelf) - 3 * WORD, memory + begin, bytes);
    one->next = shelf_at(behind, memory + second + 2 * WORD, bytes);
    return second + 2 * WORD + bytes;
}

TEST(large_arrays, begin_at_a_line_wherever_they_lie)
{
    static const size_t begins[] = { 0, 2 * WORD, 4096 + 2 * WORD, BLOCK / 2 + 3 * CELL / 8,
                                     BLOCK - 2 * WORD };
    static const size_t sizes[] = { BLOCK, BLOCK + 1, 2 * BLOCK - 20, 3 * BLOCK + 1000 };
    size_t i, k;
    start();
    for (i = 0; i < sizeof begins / sizeof *begins; i++)
        for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const size_t first = BLOCK + begins[i], used = two_arrays(first, sizes[k]);
            check_note("array at %zu of %zu bytes", begins[i], sizes[k]);
            CHECK(used <= BLOCKS * BLOCK);
            check_all((shelf *)(void *)(memory + first - sizeof(shelf) - 3 * WORD), used);
        }
    check_note(NULL);
    end();
}

TEST(large_arrays, that_touch_one_another_stay_together)
{
    shelf *one;
    start();
    one = shelf_at(0, memory + 4096 + 2 * WORD, 2 * BLOCK + 5 * WORD);
    one->next = shelf_at(sizeof(shelf), one->end, 2 * BLOCK);
    {
        packed p = pack(haul_from_object(one, shelf_type));
        check_shelf(&p, one, 1);
        CHECK_EQ(place_of(&p, one->next->data + 1), place_of(&p, one->data) + one->bytes + 1);
        drop(&p);
    }
    end();
}

TEST(large_arrays, of_which_slices_are_found_first_begin_at_a_line_too)
{
    haul_root roots[2];
    packed one, other;
    shelf *whole, *slice;
    start();
    whole = shelf_at(0, memory + BLOCK + 6 * WORD, 4 * BLOCK);
    slice = shelf_at(sizeof(shelf), whole->data + 10 * WORD, 2 * BLOCK);
    roots[0] = root_of(whole);
    roots[1] = root_of(slice);
    one = pack(haul_from_roots(roots, 2));
    roots[0] = root_of(slice);
    roots[1] = root_of(whole);
    other = pack(haul_from_roots(roots, 2));
    check_shelf(&one, whole, 1);
    check_shelf(&other, whole, 1);
    CHECK_EQ(one.bytes, other.bytes);
    CHECK_BYTES(one.arena, other.arena, one.bytes);
    drop(&one);
    drop(&other);
    end();
}

TEST(large_arrays, of_structs_with_pointers_begin_at_a_line)
{
    const size_t count = 2 * BLOCK / sizeof(small);
    small_rows rows;
    size_t i, skew;
    start();
    for (skew = 0; skew < 2; skew++) { /* within a granule, too: then a line begins there */
        packed p;
        rows.rows = (small *)(void *)(memory + 4096 + (2 + skew) * WORD);
        rows.count = count;
        for (i = 0; i < count; i++) {
            rows.rows[i].next = &rows.rows[(i * 7 + 1) % count];
            rows.rows[i].value[0] = i;
        }
        p = pack(haul_from_object(&rows, rows_type));
        CHECK_EQ(place_of(&p, rows.rows) % LINE, skew * WORD);
        check_gaps(&p);
        for (i = 0; i < count; i++) {
            const size_t at = place_of(&p, &rows.rows[i]), changed = i + 1;
            CHECK_EQ(pointer_at(&p, at), place_of(&p, rows.rows[i].next));
            CHECK_BYTES(p.arena + at + WORD, rows.rows[i].value, sizeof rows.rows[i].value);
            memcpy(p.arena + at + WORD, &changed, sizeof changed);
        }
        CHECK_STATUS(haul_plan_unpack(p.plan, p.arena, p.bytes, 0), HAUL_OK);
        for (i = 0; i < count; i++)
            CHECK_EQ(rows.rows[i].value[0], i + 1);
        drop(&p);
    }
    end();
}

TEST(large_arrays, that_are_not_sent_begin_at_a_line)
{
    shelf *one;
    packed p;
    size_t at, i;
    start();
    one = shelf_at(BLOCK, memory + BLOCK + 4096, 5);
    one->scratch = memory + BLOCK + 2 * 4096 + 2 * WORD;
    one->scratch_bytes = 2 * BLOCK;
    p = pack(haul_from_object(one, shelf_type));
    at = place_of(&p, one->scratch);
    CHECK_EQ(at % LINE, 0);
    for (i = 0; i < one->scratch_bytes; i++)
        CHECK_EQ(p.arena[at + i], 0);
    check_gaps(&p);
    drop(&p);
    end();
}

/* ---- With other features. */

typedef struct lane {
    uint64_t bytes[8];
} lane;

typedef struct lanes {
    lane *lane;
    shelf *first;
} lanes;

TEST(large_arrays, beside_objects_with_an_alignment_begin_at_a_line)
{
    static haul_type *lane_type, *lanes_type;
    static const haul_field lanes_fields[] = {
        HAUL_OBJECT(lanes, lane, &lane_type),
        HAUL_OBJECT(lanes, first, &shelf_type),
    };
    lanes all;
    packed p;
    start();
    lane_type = type_new(&(const haul_struct){ .name = "lane",
                                               .bytes = sizeof(lane),
                                               .type = NULL,
                                               .field_bytes = sizeof(haul_field),
                                               .alignment = sizeof(lane) });
    lanes_type = TYPE_NEW(lanes, lanes_fields);
    CHECK_STATUS(haul_type_commit(lanes_type), HAUL_OK);
    two_arrays(2 * BLOCK + 4096 + 2 * WORD, 2 * BLOCK);
    all.lane = (lane *)(void *)(memory + sizeof(lane));
    all.first = (shelf *)(void *)(memory + 2 * BLOCK + 4096 - WORD - sizeof(shelf));
    p = pack(haul_from_object(&all, lanes_type));
    CHECK_EQ(place_of(&p, all.lane) % sizeof(lane), 0);
    check_shelf(&p, all.first, 1);
    check_shelf(&p, all.first->next, 1);
    check_gaps(&p);
    drop(&p);
    haul_type_free(&lanes_type);
    haul_type_free(&lane_type);
    end();
}

static haul_context *context_of(unsigned threads)
{
    haul_context_options options;
    haul_context *made;
    memset(&options, 0, sizeof options);
    options.threads = threads;
    CHECK_STATUS(haul_context_create(&options, &made), HAUL_OK);
    return made;
}

TEST(large_arrays, begin_at_the_same_places_whoever_lays_them_out)
{
    enum { ARRAYS = 60, EACH = 3 * BLOCK };
    haul_context *several = context_of(3);
    size_t i, at = ARRAYS * sizeof(shelf);
    packed one, other;
    shelf *first;
    start_in(context_of(1), ARRAYS * 3);
    first = (shelf *)(void *)memory;
    for (i = 0; i < ARRAYS; i++) {
        at = (at + 4095) & ~(size_t)4095;
        shelf_at(i * sizeof(shelf), memory + at + 2 * WORD, EACH - 2 * 4096 - i * 36);
        first[i].next = i + 1 < ARRAYS ? &first[i + 1] : NULL;
        at += first[i].bytes + 2 * WORD;
    }
    one = pack(haul_from_object(first, shelf_type));
    for (i = 0; i < ARRAYS; i++)
        CHECK_EQ(place_of(&one, first[i].data) % LINE, 0);
    haul_context_free(&context);
    context = several;
    other = pack(haul_from_object(first, shelf_type));
    CHECK_EQ(one.bytes, other.bytes);
    CHECK_BYTES(one.arena, other.arena, one.bytes);
    drop(&one);
    drop(&other);
    end();
}

/* ---- On a device. */

TEST(large_arrays, have_addresses_on_a_device_that_are_multiples_of_256)
{
    haul_device *device;
    haul_shipment *shipment;
    unsigned char *last;
    shelf *one;
    start();
    two_arrays(BLOCK + 4096 + 2 * WORD, 2 * BLOCK + 100);
    one = (shelf *)(void *)(memory + BLOCK + 4096 - WORD - sizeof(shelf));
    last = one->data + one->bytes - 1;
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, one, shelf_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_EQ(device_address(shipment, one->data) % LINE, 0);
    CHECK_EQ(device_address(shipment, one->next->data) % LINE, 0);
    CHECK_EQ(device_address(shipment, last), device_address(shipment, one->data) + one->bytes - 1);
    CHECK_PTR(host_of(shipment, device_address(shipment, one->next->data)), one->next->data);
    /* a range over the gap: it goes, and comes back with everything else */
    *last = 77;
    *one->next->data = 78;
    CHECK_STATUS(
        haul_update_device(shipment, RANGE(last, (size_t)(one->next->data + 1 - last)), NULL),
        HAUL_OK);
    *last = *one->next->data = 1;
    CHECK_STATUS(
        haul_update_host(shipment, RANGE(last, (size_t)(one->next->data + 1 - last)), NULL),
        HAUL_OK);
    CHECK(*last == 77 && *one->next->data == 78);
    *last = *one->next->data = 1;
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK(*last == 77 && *one->next->data == 78);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    end();
}

/* The bytes between the arrays have no place, and the gap makes up for them. */
TEST(large_arrays, with_a_gap_between_them_are_not_one_piece)
{
    const size_t gap = 10 * WORD, bytes = 2 * BLOCK - gap;
    haul_device *device;
    haul_shipment *shipment;
    haul_chain *chain;
    haul_root target;
    shelf *one;
    size_t count;
    start();
    one = shelf_at(0, memory + BLOCK, bytes);
    one->next = shelf_at(sizeof(shelf), memory + 3 * BLOCK, 2 * BLOCK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_chain_create(context, shelf_type, "data", &chain), HAUL_OK);
    CHECK_STATUS(haul_ship(device, one, shelf_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_EQ(device_address(shipment, one->next->data) - device_address(shipment, one->data),
             2 * BLOCK);
    CHECK_STATUS(haul_chain_resolve_on(shipment, chain, one, &target, 1, &count), HAUL_OK);
    one->bytes = 2 * BLOCK + 1;
    CHECK_STATUS(haul_chain_resolve_on(shipment, chain, one, &target, 1, &count), HAUL_ERROR_STALE);
    haul_shipment_free(&shipment);
    haul_chain_free(&chain);
    haul_device_close(&device);
    end();
}

/* ---- A struct with a distance, in the middle of a large array of plain bytes. */

typedef struct hop {
    ptrdiff_t distance;
} hop;

typedef struct crossing {
    unsigned char *data;
    hop *inside;
    unsigned char *in;
    int32_t *target;
} crossing;

static haul_type *hop_type, *crossing_type;

static void cross(haul_transfer transfer)
{
    const haul_field hop_fields[] = { HAUL_RELATIVE(hop, distance,
                                                    .element_bytes = sizeof(int32_t)) };
    const haul_field fields[] = {
        HAUL_ARRAY(crossing, data, HAUL_FIXED(4 * BLOCK)),
        HAUL_OBJECT(crossing, inside, &hop_type),
        HAUL_ARRAY(crossing, in, HAUL_FIXED(100), .transfer = transfer),
        HAUL_ARRAY(crossing, target, HAUL_FIXED(1)),
    };
    unsigned char *memory = NULL;
    int32_t *target = malloc(sizeof *target);
    void *arena;
    haul_context *context;
    haul_plan *plan;
    haul_device *device;
    haul_shipment *shipment;
    crossing root;
    ptrdiff_t distance;
    CHECK(posix_memalign((void **)&memory, BLOCK, 4 * BLOCK) == 0 && target);
    memset(memory, 1, 4 * BLOCK);
    *target = 5;
    root.data = memory;
    root.inside = (hop *)(void *)(memory + 2 * BLOCK + 800);
    root.in = memory + 2 * BLOCK + 2000;
    root.target = target;
    distance = (ptrdiff_t)((uintptr_t)target - (uintptr_t)&root.inside->distance);
    root.inside->distance = distance;
    hop_type = TYPE_NEW(hop, hop_fields);
    crossing_type = TYPE_NEW(crossing, fields);
    CHECK_STATUS(haul_type_commit(crossing_type), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(&root, crossing_type), NULL, &plan),
                 HAUL_OK);
    arena = malloc(plan_bytes(plan));
    CHECK(arena != NULL);
    CHECK_STATUS(haul_plan_pack(plan, arena, plan_bytes(plan), 1 << 20, NULL), HAUL_OK);
    CHECK_STATUS(haul_plan_unpack(plan, arena, plan_bytes(plan), 0), HAUL_OK);
    CHECK_EQ(root.inside->distance, distance);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &root, crossing_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, RANGE(memory + 2 * BLOCK, BLOCK), NULL), HAUL_OK);
    CHECK_EQ(root.inside->distance, distance);
    CHECK_STATUS(haul_update_device(shipment, RANGE(memory + 2 * BLOCK, BLOCK), NULL), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, NULL, NULL), HAUL_OK);
    CHECK_EQ(root.inside->distance, distance);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&crossing_type);
    haul_type_free(&hop_type);
    free(arena);
    free(memory);
    free(target);
}

TEST(large_arrays, a_distance_in_one_stays_as_the_host_has_it)
{
    cross(HAUL_COPY);
    cross(HAUL_COPYIN);
}

/* Pools: memory of a program's own allocator, described as bytes, in which other fields find
 * objects. Their pointers are pointers in the copy; every other byte travels as it is.
 *
 * Faults by number (docs/testing.md): H1, H2.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/types.h"

typedef struct node {
    struct node *next;
    int32_t value, pad;
    char *name;
} node;

typedef struct pool {
    size_t bytes, used;
    unsigned char *memory;
    node *first;
} pool;

static haul_type *node_type, *pool_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type),
                                          HAUL_STRING(node, name) };
static const haul_field pool_fields[] = { HAUL_POOL(pool, memory, HAUL_COUNT(pool, bytes)),
                                          HAUL_OBJECT(pool, first, &node_type) };

enum { NODES = 3000, ROOM = NODES * 40 + 300000 };

static haul_context *the_context;
static haul_device *the_device;
static unsigned char *the_memory;
static pool the_pool;

static void *take(size_t bytes)
{
    void *taken = the_pool.memory + the_pool.used;
    the_pool.used += (bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
    CHECK(the_pool.used <= the_pool.bytes);
    return taken;
}

/* Names lie at odd places between the nodes; the rest is what an allocator leaves there. */
static void start(const haul_context_options *options, int nodes)
{
    static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields),
                                           HAUL_STRUCT(pool, &pool_type, pool_fields) };
    int i;
    CHECK_STATUS(haul_context_create(options, &the_context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(the_context, structs), HAUL_OK);
    CHECK_STATUS(haul_host_open(the_context, NULL, &the_device), HAUL_OK);
    CHECK((the_memory = malloc(ROOM)) != NULL);
    for (i = 0; i < ROOM; i++)
        the_memory[i] = (unsigned char)(i * 7 % 11); /* no word is an address, of 32 bits either */
    memset(&the_pool, 0, sizeof the_pool);
    the_pool.memory = the_memory + sizeof(void *);
    the_pool.bytes = ROOM - sizeof(void *) - 3;
    for (i = 0; i < nodes; i++) {
        node *n = take(sizeof *n);
        char *name = take(8);
        memset(n, 0, sizeof *n);
        n->next = the_pool.first;
        n->value = i;
        n->name = i % 3 ? memcpy(name + i % 2, i % 2 ? "odd" : "even", (size_t)(5 - i % 2)) : NULL;
        the_pool.first = n;
    }
}

static void end(void)
{
    haul_device_close(&the_device);
    haul_type_free(&pool_type);
    haul_type_free(&node_type);
    haul_context_free(&the_context);
    free(the_memory);
}

typedef struct walked {
    const pool *from;
    int64_t nodes, sum, names, bytes;
} walked;

static void walk(void *argument)
{
    walked *w = argument;
    const node *n;
    size_t i;
    for (n = w->from->first; n; n = n->next) {
        const unsigned char *at = (const unsigned char *)n;
        if (at < w->from->memory || at >= w->from->memory + w->from->bytes)
            return;
        w->nodes++;
        w->sum += n->value;
        w->names += n->name && n->name[0] == (n->value % 2 ? 'o' : 'e');
    }
    for (i = w->from->used; i < w->from->bytes; i++)
        w->bytes += w->from->memory[i];
}

static void change(void *argument)
{
    pool *p = argument;
    node *n;
    for (n = p->first; n; n = n->next)
        n->value += 1000;
    p->memory[p->bytes - 1] ^= 255;
    p->memory[p->used + 1] ^= 255;
}

static void ship_and_look(haul_source source)
{
    walked here, there;
    haul_shipment *s;
    unsigned char last = the_pool.memory[the_pool.bytes - 1];
    unsigned char *old = malloc(ROOM);
    const node *n;
    CHECK(old != NULL);
    memcpy(old, the_memory, ROOM);
    CHECK_STATUS(haul_ship_from(the_device, source, NULL, NULL, &s), HAUL_OK);
    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    here.from = &the_pool;
    walk(&here);
    there.from = haul_device_pointer(s, &the_pool);
    CHECK_STATUS(haul_host_launch(the_device, walk, &there), HAUL_OK);
    CHECK_EQ(there.nodes, here.nodes);
    CHECK_EQ(there.sum, here.sum);
    CHECK_EQ(there.names, here.names);
    CHECK_EQ(there.bytes, here.bytes);
    /* distances within the pool are kept */
    CHECK_PTR(haul_device_pointer(s, the_pool.memory + the_pool.bytes / 2),
              (char *)haul_device_pointer(s, the_pool.memory) + the_pool.bytes / 2);
    CHECK_STATUS(haul_host_launch(the_device, change, haul_device_pointer(s, &the_pool)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(the_pool.memory[the_pool.bytes - 1], last ^ 255);
    for (n = the_pool.first; n; n = n->next) {
        CHECK_EQ(n->value,
                 1000 + (int)((const node *)(const void *)(old +
                                                           ((const unsigned char *)n - the_memory)))
                            ->value);
        CHECK_PTR(
            n->next,
            ((const node *)(const void *)(old + ((const unsigned char *)n - the_memory)))->next);
    }
    CHECK_BYTES(the_memory, old, sizeof(void *)); /* before the pool */
    CHECK_BYTES(the_memory + ROOM - 3, old + ROOM - 3, 3);
    memcpy(the_memory, old, ROOM);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_host_launch(the_device, walk, &there), HAUL_OK);
    CHECK_EQ(there.sum, 2 * here.sum);
    haul_shipment_free(&s);
    free(old);
}

TEST(pools, objects_in_a_pool_are_found_and_all_its_other_bytes_travel)
{
    static const int counts[] = { 0, 1, 20, NODES };
    size_t i;
    for (i = 0; i < sizeof counts / sizeof *counts; i++) {
        start(NULL, counts[i]);
        ship_and_look(haul_from_object(&the_pool, pool_type));
        end();
    }
}

TEST(pools, checked_contexts_agree)
{
    haul_context_options options = { .checked = 1 };
    start(&options, 50);
    ship_and_look(haul_from_object(&the_pool, pool_type));
    end();
}

TEST(pools, they_may_be_found_after_their_objects_and_twice)
{
    haul_root roots[4];
    start(NULL, 100);
    roots[0].address = the_pool.first;
    roots[0].type = node_type;
    roots[1].address = &the_pool;
    roots[1].type = pool_type;
    roots[2].address = the_pool.first->next;
    roots[2].type = node_type;
    roots[3] = roots[1];
    roots[0].count = roots[1].count = roots[2].count = roots[3].count = 1;
    ship_and_look(haul_from_roots(roots, 4));
    end();
}

TEST(pools, several_owners_of_one_and_of_a_part_of_it_are_as_one)
{
    pool same, part;
    haul_root roots[3];
    int i;
    start(NULL, 100);
    same = part = the_pool;
    part.bytes /= 2;
    roots[0].address = &part;
    roots[1].address = &the_pool;
    roots[2].address = &same;
    for (i = 0; i < 3; i++) {
        roots[i].type = pool_type;
        roots[i].count = 1;
    }
    ship_and_look(haul_from_roots(roots, 3));
    end();
}

TEST(pools, ordered_plans_keep_a_pool_together)
{
    haul_plan_options options = { .ordered = 1 };
    haul_plan *plan;
    start(NULL, 100);
    CHECK_STATUS(
        haul_plan_create(the_context, haul_from_object(&the_pool, pool_type), &options, &plan),
        HAUL_OK);
    ship_and_look(haul_from_plan(plan));
    haul_plan_free(&plan);
    end();
}

TEST(pools, a_pointer_that_has_changed_is_stale_and_a_free_byte_is_not)
{
    haul_shipment *s;
    start(NULL, 100);
    CHECK_STATUS(haul_ship(the_device, &the_pool, pool_type, 1, NULL, &s), HAUL_OK);
    the_pool.memory[the_pool.used + 5] ^= 1;
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    the_pool.first->next->next = NULL;
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the_context)->path, "root.first.next.next");
    CHECK_STATUS(haul_reship(s, NULL), HAUL_OK);
    haul_shipment_free(&s);
    end();
}

TEST(pools, a_pointer_in_a_pool_that_no_row_describes_is_found_by_the_audit)
{
    haul_audit_info info;
    start(NULL, 10);
    CHECK_STATUS(haul_audit(the_context, haul_from_object(&the_pool, pool_type), NULL, &info),
                 HAUL_OK);
    CHECK_EQ(info.hidden_pointers, 0);
    memcpy(the_pool.memory + the_pool.bytes / 2 / sizeof(void *) * sizeof(void *), &the_pool.first,
           sizeof(void *));
    CHECK_STATUS(haul_audit(the_context, haul_from_object(&the_pool, pool_type), NULL, &info),
                 HAUL_OK);
    CHECK_EQ(info.hidden_pointers, 1);
    end();
}

static void refuse(const haul_field *field, const char *word)
{
    haul_type *type;
    CHECK_STATUS(type_make("pool", sizeof(pool), field, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "pool.memory");
    CHECK_HAS(type_error()->text, word);
    haul_type_free(&type);
}

TEST(pools, what_can_be_no_pool_is_refused)
{
    haul_field typed = HAUL_POOL(pool, memory, HAUL_COUNT(pool, bytes), .target = &node_type);
    haul_field ended = HAUL_POOL(pool, memory, HAUL_TERMINATED);
    haul_field unsent = HAUL_POOL(pool, memory, HAUL_COUNT(pool, bytes), .transfer = HAUL_CREATE);
    haul_field other = HAUL_POOL(pool, memory, HAUL_FIXED(1), .ownership = HAUL_BORROWED);
    haul_field raw = HAUL_RAW(pool, memory, .pool = 1);
    start(NULL, 0);
    typed.element_bytes = 0;
    refuse(&typed, "has a target type");
    refuse(&ended, "is a value");
    refuse(&unsent, "does not send it");
    refuse(&other, "does not own its target");
    refuse(&raw, "is no pointer");
    end();
}

/* ---- Memory that runs out. */

TEST(pools, every_allocation_for_one_can_fail_H1_H2)
{
    start(NULL, 3);
    CHECK(fault_every_plan(haul_from_object(&the_pool, pool_type), FAULT_MEMORY) > 5);
    end();
}

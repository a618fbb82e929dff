/* A stack without locks. Whoever swaps its head counts the swaps in the bits
 * that addresses leave free, lest it take a node that has come back for one that never went. Nodes
 * fill a line of cache each; where pointers have 4 bytes, the count is in the low bits that this
 * leaves.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { TASKS = 3000, LINE = 64 };

typedef struct task {
    uintptr_t next; /* the head that it was pushed upon, count and all */
    uint64_t work;
    struct task *mate;
    char rest[LINE - sizeof(uint64_t) - 2 * sizeof(void *)];
} task;

typedef struct task_stack {
    uintptr_t head;
    int64_t length;
} task_stack;

#define COUNTS (sizeof(void *) > 4 ? HAUL_HIGH_TAGS : (uintptr_t)LINE - 1)
#define ONE_MORE (sizeof(void *) > 4 ? (uintptr_t)1 << 16 << 16 << 16 : 1)

static haul_type *task_type, *stack_type;

static void stack_open(uintptr_t tag_bits)
{
    const haul_field task_fields[] = { HAUL_ADDRESS(task, next, .target = &task_type,
                                                    .tag_bits = tag_bits),
                                       HAUL_OBJECT(task, mate, &task_type) };
    const haul_field stack_fields[] = { HAUL_ADDRESS(task_stack, head, .target = &task_type,
                                                     .tag_bits = tag_bits) };
    task_type = OPEN(task, task_fields, .alignment = LINE);
    stack_type = OPEN(task_stack, stack_fields);
    type_close(stack_type);
}

static void stack_close(void)
{
    haul_type_free(&stack_type);
    haul_type_free(&task_type);
}

static task *task_at(uintptr_t word)
{
    return (task *)(word & ~COUNTS);
}

static void swap_head(task_stack *s, task *t)
{
    uintptr_t count = (s->head + ONE_MORE) & COUNTS;
    s->head = (uintptr_t)t | count;
}

static void push_task(task_stack *s, task *t)
{
    t->next = s->head;
    swap_head(s, t);
    s->length++;
}

static task *pop_task(task_stack *s)
{
    task *t = task_at(s->head);
    swap_head(s, task_at(t->next));
    s->length--;
    return t;
}

/* Every push is one swap: the word in task i counts i of them. */
static task_stack *stack_make(uint64_t *seen)
{
    static task *all[TASKS];
    task_stack *s = PUT(task_stack);
    size_t i;
    for (i = 0; i < TASKS; i++) {
        all[i] = put(sizeof(task), LINE);
        all[i]->work = i;
        all[i]->mate = i ? all[random_below(&the.random, i)] : NULL;
        push_task(s, all[i]);
    }
    for (i = TASKS; i-- > 0;) {
        see(seen, i);
        see(seen, i & (COUNTS / ONE_MORE));
        see(seen, i ? all[i]->mate->work : TASKS);
    }
    return s;
}

static void stack_walk(void *argument)
{
    visit *v = argument;
    task_stack *s = v->root;
    task *t, *first;
    for (t = task_at(s->head); t; t = task_at(t->next)) {
        see(&v->seen, t->work);
        see(&v->seen, (t->next & COUNTS) / ONE_MORE);
        see(&v->seen, t->mate ? t->mate->work : TASKS);
    }
    for (t = task_at(s->head); t; t = task_at(t->next))
        t->work += 100;
    first = pop_task(s);
    t = pop_task(s);
    push_task(s, first);
    push_task(s, t);
}

TEST(structures_lockfree,
     a_stack_whose_head_counts_its_swaps_in_high_bits_is_walked_and_swapped_there)
{
    journey j = { .walk = stack_walk, .with_pointers = 1 };
    site_start(15);
    stack_open(COUNTS);
    j.root = stack_make(&j.seen);
    j.type = stack_type;
    travel(&j);
    stack_close();
    site_end();
}

TEST(structures_lockfree, a_count_of_which_a_bit_is_not_named_is_no_address)
{
    uint64_t seen = 0;
    site_start(15);
    stack_open(COUNTS & ~ONE_MORE);
    refuse_graph(stack_make(&seen), stack_type, HAUL_ERROR_GRAPH, "root.head.next", "",
                 sizeof(void *) > 4 ? "outside any process's address range"
                                    : "a misaligned pointer");
    stack_close();
    site_end();
}

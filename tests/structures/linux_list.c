/* Linux's list_head. A task is in the list of all tasks by one hook and in that of its
 * parent's children by another; the heads are in no element, so a link's end is told by where it
 * leads.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { TASKS = 600 };

typedef struct list_head {
    struct list_head *next, *prev;
} list_head;

typedef struct task {
    int64_t pid;
    list_head tasks, children, sibling;
    struct task *parent;
    char comm[16];
} task;

typedef struct scheduler {
    int64_t nr_running;
    list_head tasks;
} scheduler;

static haul_type *task_type, *scheduler_type;

/* Does the hook's link lead to the head of the list, in the parent? An empty list's head leads to
 * itself. */
HAUL_FUNCTION(leads_to_parent, task, here->target == (const void *)&self->parent->children)
HAUL_FUNCTION(leads_to_itself, task, here->target == (const void *)&self->children)
HAUL_FUNCTION(leads_to_scheduler, task,
              here->target == (const void *)&((const scheduler *)here->root)->tasks)
HAUL_FUNCTION(leads_to_own_head, scheduler, here->target == (const void *)&self->tasks)

static const haul_case sibling_cases[] = { { 0, &task_type, HAUL_CONTAINER_OF(task, sibling) },
                                           { 1, &task_type, HAUL_CONTAINER_OF(task, children) } };
static const haul_case tasks_cases[] = { { 0, &task_type, HAUL_CONTAINER_OF(task, tasks) },
                                         { 1, &scheduler_type,
                                           HAUL_CONTAINER_OF(scheduler, tasks) } };

#define HOOK(S, m, ...) HAUL_ADDRESS(S, m.next, __VA_ARGS__), HAUL_ADDRESS(S, m.prev, __VA_ARGS__)

#define BY_SIBLING .type_switch = HAUL_SWITCH_FN(leads_to_parent, sibling_cases)
#define BY_CHILD .type_switch = HAUL_SWITCH_FN(leads_to_itself, sibling_cases)
#define BY_TASK .type_switch = HAUL_SWITCH_FN(leads_to_scheduler, tasks_cases)
#define BY_HEAD .type_switch = HAUL_SWITCH_FN(leads_to_own_head, tasks_cases)

static void scheduler_open(const haul_field *siblings)
{
    static const haul_field task_fields[] = { HOOK(task, tasks, BY_TASK),
                                              HOOK(task, children, BY_CHILD),
                                              HAUL_OBJECT(task, parent, &task_type) };
    static const haul_field scheduler_fields[] = { HOOK(scheduler, tasks, BY_HEAD) };
    task_type = OPEN(task, task_fields);
    scheduler_type = OPEN(scheduler, scheduler_fields);
    CHECK_STATUS(haul_type_add(task_type, siblings, 2), HAUL_OK);
    type_close(scheduler_type);
}

static void scheduler_close(void)
{
    haul_type_free(&task_type);
    haul_type_free(&scheduler_type);
    site_end();
}

static void list_add_tail(list_head *link, list_head *head)
{
    link->next = head;
    link->prev = head->prev;
    head->prev->next = link;
    head->prev = link;
}

static scheduler *scheduler_make(int count)
{
    scheduler *s = put_elements(1, sizeof *s);
    task *all[TASKS];
    int i;
    s->tasks.next = s->tasks.prev = &s->tasks;
    s->nr_running = count;
    for (i = 0; i < count; i++) {
        task *t = all[i] = put_elements(1, sizeof *t);
        t->children.next = t->children.prev = &t->children;
        /* the first has no siblings: its list is its own */
        t->sibling.next = t->sibling.prev = &t->sibling;
        t->parent = i ? all[chance(0, i - 1)] : t;
        t->pid = chance(1, 32768);
        snprintf(t->comm, sizeof t->comm, "task-%d", i);
        list_add_tail(&t->tasks, &s->tasks);
        if (i)
            list_add_tail(&t->sibling, &t->parent->children);
        the.told += i ? 2 * t->pid : t->pid;
    }
    return s;
}

#define container_of(at, S, m) ((S *)(void *)((char *)(at)-offsetof(S, m)))

/* All tasks in their list, and of each its children. */
static int64_t scheduler_walk(void *root, size_t count)
{
    scheduler *s = root;
    list_head *l, *c;
    int64_t sum = 0, tasks = 0;
    (void)count;
    for (l = s->tasks.next; l != &s->tasks; l = l->next) {
        task *t = container_of(l, task, tasks);
        sum += l->prev->next == l ? t->pid : -1;
        t->comm[0] = 'T';
        tasks++;
        for (c = t->children.prev; c != &t->children; c = c->prev) {
            task *child = container_of(c, task, sibling);
            sum += child->parent == t && c->next->prev == c ? child->pid : -1;
            child->comm[1] = 'A';
        }
    }
    return tasks == s->nr_running ? sum : -1;
}

TEST(structures_linux, lists_through_hooks_whose_heads_lie_in_objects_of_other_kinds)
{
    static const haul_field siblings[] = { HOOK(task, sibling, BY_SIBLING) };
    site_start(53);
    scheduler_open(siblings);
    travel_and_sum(scheduler_make(TASKS), scheduler_type, 1, scheduler_walk);
    scheduler_close();
}

TEST(structures_linux, a_head_taken_for_a_hook_is_refused_with_both_paths)
{
    static const haul_field siblings[] = { HAUL_ADDRESS(task, sibling.next, .target = &task_type,
                                                        .base = HAUL_CONTAINER_OF(task, sibling)),
                                           HAUL_ADDRESS(task, sibling.prev, .target = &task_type,
                                                        .base = HAUL_CONTAINER_OF(task, sibling)) };
    site_start(54);
    scheduler_open(siblings);
    refuse_ship(scheduler_make(2), scheduler_type, 1, HAUL_ERROR_GRAPH,
                "root.tasks.prev.sibling.next",
                "a word is a pointer for one description and data for another");
    CHECK_STR(the.refused.other_path, "root.tasks.next");
    scheduler_close();
}

/* Links: back to where one came from (BACK: GLib's GNode), and to hooks in the middle of elements
 * (HOOK: the lists of Linux, whose heads lie in other objects; uthash, where the hook's offset is a
 * number in the data).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- BACK: GNode. Siblings know each other both ways, children their parent. */

enum { NODES = 4000 };

typedef struct GNode {
    void *data;
    struct GNode *next, *prev, *parent, *children;
} GNode;

typedef struct payload {
    int64_t value, seen;
} payload;

static haul_type *gnode_type, *payload_type;

static void gnode_open(int has_parent)
{
    const haul_field fields[] = {
        HAUL_ADDRESS(GNode, data, .target = &payload_type),
        HAUL_OBJECT(GNode, next, &gnode_type),
        HAUL_OBJECT(GNode, prev, &gnode_type),
        HAUL_OBJECT(GNode, children, &gnode_type),
        HAUL_OBJECT(GNode, parent, &gnode_type),
    };
    payload_type = yard_type("payload", sizeof(payload), NULL, 0);
    gnode_type = yard_type("GNode", sizeof(GNode), fields, has_parent ? 5 : 4);
    yard_commit(gnode_type);
}

static void gnode_close(void)
{
    haul_type_free(&gnode_type);
    haul_type_free(&payload_type);
    yard_close();
}

static GNode *gnode_make(GNode *parent)
{
    GNode *n = yard_take(1, sizeof *n);
    payload *p = n->data = yard_take(1, sizeof *p);
    p->value = yard_int(1, 999);
    yard.told += p->value;
    n->parent = parent;
    if (!parent)
        return n;
    n->next = parent->children;
    if (n->next)
        n->next->prev = n;
    parent->children = n;
    return n;
}

static GNode *gtree_make(void)
{
    GNode *all[NODES];
    int i;
    for (i = 0; i < NODES; i++)
        all[i] = gnode_make(i ? all[yard_int(i > 30 ? i - 30 : 0, i - 1)] : NULL);
    return all[0];
}

/* Down by children, on by next, up by parent; each step is looked at backwards, too. */
static int64_t gtree_walk(void *root, size_t count)
{
    GNode *n = root;
    int64_t sum = 0;
    (void)count;
    while (n) {
        payload *p = n->data;
        sum += p->value;
        p->seen++;
        if ((n->next && n->next->prev != n) || (n->children && n->children->parent != n))
            return -1;
        if (n->children) {
            n = n->children;
            continue;
        }
        while (n && !n->next)
            n = n->parent;
        n = n ? n->next : NULL;
    }
    return sum;
}

TEST(structures, BACK_a_tree_with_links_in_all_four_directions)
{
    yard_open(1 << 20, 51);
    gnode_open(1);
    yard_prove(gtree_make(), gnode_type, 1, gtree_walk);
    gnode_close();
}

TEST(structures, BACK_a_forgotten_way_back_is_told)
{
    char path[40], words[80];
    yard_open(1 << 20, 52);
    gnode_open(0);
    snprintf(path, sizeof path, "root.children+%zu", offsetof(GNode, parent));
    snprintf(words, sizeof words,
             "of GNode, which no row describes, holds an address in the graph (%d times)",
             NODES - 1);
    yard_tell(gtree_make(), gnode_type, 1, HAUL_AUDIT_HIDDEN_POINTER, path, words);
    gnode_close();
}

/* ---- HOOK: Linux's list_head. A task is in the list of all tasks by one hook and in that of its
 * parent's children by another; the heads are in no element, so a link's end is told by where it
 * leads. */

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
    task_type = YARD_TYPE(task, task_fields);
    scheduler_type = YARD_TYPE(scheduler, scheduler_fields);
    CHECK_STATUS(haul_type_add(task_type, siblings, 2), HAUL_OK);
    yard_commit(scheduler_type);
}

static void scheduler_close(void)
{
    haul_type_free(&task_type);
    haul_type_free(&scheduler_type);
    yard_close();
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
    scheduler *s = yard_take(1, sizeof *s);
    task *all[TASKS];
    int i;
    s->tasks.next = s->tasks.prev = &s->tasks;
    s->nr_running = count;
    for (i = 0; i < count; i++) {
        task *t = all[i] = yard_take(1, sizeof *t);
        t->children.next = t->children.prev = &t->children;
        /* the first has no siblings: its list is its own */
        t->sibling.next = t->sibling.prev = &t->sibling;
        t->parent = i ? all[yard_int(0, i - 1)] : t;
        t->pid = yard_int(1, 32768);
        snprintf(t->comm, sizeof t->comm, "task-%d", i);
        list_add_tail(&t->tasks, &s->tasks);
        if (i)
            list_add_tail(&t->sibling, &t->parent->children);
        yard.told += i ? 2 * t->pid : t->pid;
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

TEST(structures, HOOK_lists_through_hooks_whose_heads_lie_in_objects_of_other_kinds)
{
    static const haul_field siblings[] = { HOOK(task, sibling, BY_SIBLING) };
    yard_open(1 << 20, 53);
    scheduler_open(siblings);
    yard_prove(scheduler_make(TASKS), scheduler_type, 1, scheduler_walk);
    scheduler_close();
}

TEST(structures, HOOK_a_head_taken_for_a_hook_is_refused_with_both_paths)
{
    static const haul_field siblings[] = { HAUL_ADDRESS(task, sibling.next, .target = &task_type,
                                                        .base = HAUL_CONTAINER_OF(task, sibling)),
                                           HAUL_ADDRESS(task, sibling.prev, .target = &task_type,
                                                        .base = HAUL_CONTAINER_OF(task, sibling)) };
    yard_open(1 << 20, 54);
    scheduler_open(siblings);
    yard_refuse(scheduler_make(2), scheduler_type, 1, HAUL_ERROR_GRAPH,
                "root.tasks.prev.sibling.next",
                "a word is a pointer for one description and data for another");
    CHECK_STR(yard.refused.other_path, "root.tasks.next");
    scheduler_close();
}

/* ---- HOOK: uthash. The handle lies in the user's struct, at an offset that the table holds; next
 * and prev lead to elements, hh_next, hh_prev and the buckets to handles. */

enum { BUCKETS = 256, USERS = 1500 };

typedef struct UT_hash_table UT_hash_table;

typedef struct UT_hash_handle {
    UT_hash_table *tbl;
    void *prev, *next;
    struct UT_hash_handle *hh_prev, *hh_next;
    const void *key;
    uint32_t keylen, hashv;
} UT_hash_handle;

typedef struct UT_hash_bucket {
    UT_hash_handle *hh_head;
    uint32_t count, expand_mult;
} UT_hash_bucket;

struct UT_hash_table {
    UT_hash_bucket *buckets;
    uint32_t num_buckets, log2_num_buckets, num_items;
    UT_hash_handle *tail;
    ptrdiff_t hho;
};

typedef struct user {
    int64_t logins;
    char name[24];
    UT_hash_handle hh;
} user;

static haul_type *handle_type, *bucket_type, *hash_type, *user_type;

HAUL_FUNCTION(hook_of_handle, UT_hash_handle, -self->tbl->hho)
HAUL_FUNCTION(hook_of_table, UT_hash_table, -self->hho)
HAUL_FUNCTION(no_hook, UT_hash_table, 0)

static void hash_open(haul_function *hook)
{
    static const haul_field handle_fields[] = {
        HAUL_OBJECT(UT_hash_handle, tbl, &hash_type),
        HAUL_ADDRESS(UT_hash_handle, prev, .target = &user_type),
        HAUL_ADDRESS(UT_hash_handle, next, .target = &user_type),
        HAUL_ADDRESS(UT_hash_handle, hh_prev, .target = &user_type, .base_fn = hook_of_handle),
        HAUL_ADDRESS(UT_hash_handle, hh_next, .target = &user_type, .base_fn = hook_of_handle),
        HAUL_BYTES(UT_hash_handle, key, HAUL_COUNT(UT_hash_handle, keylen)),
    };
    static const haul_field bucket_fields[] = { HAUL_ADDRESS(UT_hash_bucket, hh_head,
                                                             .ownership = HAUL_BORROWED) };
    const haul_field hash_fields[] = {
        HAUL_OBJECTS(UT_hash_table, buckets, &bucket_type, HAUL_COUNT(UT_hash_table, num_buckets)),
        HAUL_ADDRESS(UT_hash_table, tail, .target = &user_type, .base_fn = hook),
    };
    static const haul_field user_fields[] = { HAUL_EMBED(user, hh, &handle_type) };
    handle_type = YARD_TYPE(UT_hash_handle, handle_fields);
    bucket_type = YARD_TYPE(UT_hash_bucket, bucket_fields);
    hash_type = YARD_TYPE(UT_hash_table, hash_fields);
    user_type = YARD_TYPE(user, user_fields);
    yard_commit(user_type);
}

static void hash_close(void)
{
    haul_type_free(&handle_type);
    haul_type_free(&bucket_type);
    haul_type_free(&hash_type);
    haul_type_free(&user_type);
    yard_close();
}

static uint32_t hash_of(const char *key, size_t bytes)
{
    uint32_t hash = 2166136261u;
    size_t i;
    for (i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)key[i]) * 16777619u;
    return hash;
}

static user *hash_add(UT_hash_table *t, user *last, int number)
{
    user *u = yard_take(1, sizeof *u);
    UT_hash_bucket *b;
    u->logins = yard_int(1, 99);
    u->hh.keylen = (uint32_t)snprintf(u->name, sizeof u->name, "user-%d", number);
    u->hh.key = u->name;
    u->hh.hashv = hash_of(u->name, u->hh.keylen) & 0xFFFFF;
    u->hh.tbl = t;
    u->hh.prev = last;
    if (last)
        last->hh.next = u;
    t->tail = &u->hh;
    t->num_items++;
    b = &t->buckets[u->hh.hashv & (BUCKETS - 1)];
    u->hh.hh_next = b->hh_head;
    if (b->hh_head)
        b->hh_head->hh_prev = &u->hh;
    b->hh_head = &u->hh;
    b->count++;
    yard.told += u->logins * (number + 1);
    return u;
}

static user *users_make(int count)
{
    UT_hash_table *t = yard_take(1, sizeof *t);
    user *first = NULL, *last = NULL;
    int i;
    t->buckets = yard_take(BUCKETS, sizeof *t->buckets);
    t->num_buckets = BUCKETS;
    t->log2_num_buckets = 8;
    t->hho = offsetof(user, hh);
    for (i = 0; i < count; i++) {
        last = hash_add(t, last, i);
        first = first ? first : last;
    }
    return first;
}

static user *hash_find(const UT_hash_table *t, const char *key)
{
    size_t bytes = strlen(key);
    UT_hash_handle *h = t->buckets[hash_of(key, bytes) & (t->num_buckets - 1)].hh_head;
    for (; h; h = h->hh_next)
        if (h->keylen == bytes && memcmp(h->key, key, bytes) == 0)
            return (user *)(void *)((char *)h - t->hho);
    return NULL;
}

/* Finds all users by their names, and goes through them in their order. */
static int64_t users_walk(void *root, size_t count)
{
    user *first = root, *u;
    UT_hash_table *t = first->hh.tbl;
    int64_t sum = 0;
    uint32_t i;
    char name[24];
    (void)count;
    for (i = 0, u = first; u; u = u->hh.next, i++) {
        snprintf(name, sizeof name, "user-%u", (unsigned)i);
        if (hash_find(t, name) != u || (const void *)u->name != u->hh.key)
            return -1;
        if (u->hh.hh_next && u->hh.hh_next->hh_prev != &u->hh)
            return -1;
        sum += u->logins++ * (i + 1);
    }
    return i == t->num_items && t->tail->next == NULL ? sum : -1;
}

TEST(structures, HOOK_a_hash_of_handles_whose_place_in_the_element_is_data)
{
    yard_open(1 << 20, 55);
    hash_open(hook_of_table);
    yard_prove(users_make(USERS), user_type, 1, users_walk);
    hash_close();
}

TEST(structures, HOOK_a_handle_taken_for_its_element_is_refused_with_both_paths)
{
    yard_open(1 << 20, 56);
    hash_open(no_hook);
    yard_refuse(users_make(1), user_type, 1, HAUL_ERROR_GRAPH, "root.hh.tbl.tail",
                "one address is reached as a user and as a UT_hash_handle");
    CHECK_STR(yard.refused.other_path, "root");
    hash_close();
}

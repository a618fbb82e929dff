/* Random programs of enters, exits, updates, host writes and kernels, against a simple model.
 *
 * The model knows groups as sets of objects. It walks the host's pointers from a root, and stops at
 * what is present. Once the root that a group was found from has left, it marks what others lead to
 * in the group, and lets the rest leave. After each step, presence, counts, and every byte on the
 * device and on the host are compared with it.
 *
 * Some programs make asynchronous calls, on streams of a device that does its work as late as it
 * may. Their comparisons come after each call that waits, and after haul_environment_wait.
 */
#include "environment_graphs.h"

/* Sanitizers tell what a program did wrong, so most run under them: 10,500 in a build with
 * AddressSanitizer, and as many with ThreadSanitizer. */
#if defined(BUILD_ASAN) || defined(BUILD_TSAN)
#define MANY 6000
#else
#define MANY LARGE(600, 40)
#endif

enum { OBJECTS = PARTS + ARRAYS, PROGRAMS = MANY, STEPS = 60, NOBODY = -1 };

typedef struct model {
    int group[OBJECTS]; /* NOBODY: absent */
    /* of each group */
    int leads[OBJECTS][OBJECTS]; /* [g][h]: g leads into h */
    int stops[OBJECTS][OBJECTS]; /* [g][i]: the walk of g stopped at object i of another group */
    int is_live[OBJECTS];
    int maker[OBJECTS]; /* the root that it was found from, while that is held; else NOBODY */
    int home[PARTS];    /* of an entered root: its group */
    unsigned dynamic[PARTS], structured[PARTS];
    unsigned attached[2][PARTS]; /* how often `a` and `b` of each were attached by a call */
    int is_attached[PARTS][3];   /* an enter or a call has made the pointer lead where it does */
    void *old[PARTS][3];      /* a pointer's value, if its target has left and it is not detached */
    int is_shallow[PARTS];    /* its `b` was left out when it was entered */
    store copy;               /* what the device holds, with the host's addresses in its pointers */
    store expected;           /* on the host */
    unsigned serial[OBJECTS]; /* of each group: none has had it before */
} model;

/* What an asynchronous call brings: contents of objects, and the groups it has to do with. */
typedef struct result {
    store contents;
    int has[OBJECTS];
    unsigned serials[2 * OBJECTS];
    int count; /* of serials */
} result;

static result results[STEPS];
static int result_count;
static unsigned serials;
static int has_streams;
static haul_type *value_alone;  /* a policy: `value` comes back, and nothing else */
static haul_type *shallow;      /* a policy: no part's `b` travels */
static const haul_async *async; /* of the step */

static model m;
static random_source dice;

static int pick(int below)
{
    return (int)random_below(&dice, (size_t)below);
}

static int number_of(const void *at)
{
    const char *byte = at;
    if (byte >= (const char *)host.parts && byte < (const char *)(host.parts + PARTS))
        return (int)((const part *)at - host.parts);
    return PARTS + (int)((byte - (const char *)host.arrays) / (ptrdiff_t)sizeof host.arrays[0]);
}

/* A pointer of a part: `a`, `b`, `data`. */
static void **pointer_of(store *from, int i, int which)
{
    part *p = &from->parts[i];
    return which == 0 ? (void **)&p->a : which == 1 ? (void **)&p->b : (void **)&p->data;
}

static int targets_of(const store *from, int object, int is_shallow, const void *targets[3])
{
    int count = 0;
    if (object >= PARTS)
        return 0;
    if (from->parts[object].a)
        targets[count++] = from->parts[object].a;
    if (from->parts[object].b && !is_shallow)
        targets[count++] = from->parts[object].b;
    targets[count++] = from->parts[object].data;
    return count;
}

static void copy_object(store *to, const store *from, int object)
{
    if (object < PARTS)
        to->parts[object] = from->parts[object];
    else
        memcpy(to->arrays[object - PARTS], from->arrays[object - PARTS], sizeof to->arrays[0]);
}

/* ---- Enter. */

static int free_group(void)
{
    int g = 0;
    while (m.is_live[g])
        g++;
    return g;
}

static void attach_pointer(int part, int which, void *target)
{
    *pointer_of(&m.copy, part, which) = target;
    m.is_attached[part][which] = 1;
    m.old[part][which] = NULL;
}

/* The pointers of a present part that lead into the group. */
static void attach(int object, int g)
{
    int which;
    for (which = 0; which < 3 && object < PARTS; which++) {
        void *const now = *pointer_of(&host, object, which);
        if (now && m.group[number_of(now)] == g && !(which == 1 && m.is_shallow[object]))
            attach_pointer(object, which, now);
    }
}

static void take_object(int object, int is_shallow)
{
    copy_object(&m.copy, &host, object);
    if (object >= PARTS)
        return;
    m.is_shallow[object] = is_shallow;
    memset(m.is_attached[object], 0, sizeof m.is_attached[object]);
    memset(m.old[object], 0, sizeof m.old[object]);
    if (is_shallow)
        m.copy.parts[object].b = NULL;
}

static void model_enter(int root, int is_shallow)
{
    int g, todo[OBJECTS], count = 0, done, k;
    const void *targets[3];
    if (m.group[root] == NOBODY) {
        g = free_group();
        memset(m.leads[g], 0, sizeof m.leads[g]);
        memset(m.stops[g], 0, sizeof m.stops[g]);
        m.is_live[g] = 1;
        m.maker[g] = root;
        m.serial[g] = ++serials;
        todo[count++] = root;
        m.group[root] = g;
        for (done = 0; done < count; done++) {
            take_object(todo[done], is_shallow);
            for (k = targets_of(&host, todo[done], is_shallow, targets); k-- > 0;) {
                const int next = number_of(targets[k]);
                if (m.group[next] == NOBODY) {
                    m.group[next] = g;
                    todo[count++] = next;
                } else if (m.group[next] != g) {
                    m.leads[g][m.group[next]] = m.stops[g][next] = 1;
                }
            }
        }
        for (k = 0; k < OBJECTS; k++)
            if (m.stops[g][k])
                attach(k, g);
    }
    m.home[root] = m.group[root];
}

/* ---- Exit. */

static int is_held(int g)
{
    int i;
    for (i = 0; i < PARTS; i++)
        if (m.home[i] == g && (m.dynamic[i] || m.structured[i]))
            return 1;
    for (i = 0; i < OBJECTS; i++)
        if (m.is_live[i] && i != g && m.leads[i][g])
            return 1;
    return 0;
}

/* Where the objects are on the device, as the last check of presence has found them. */
static void *places[OBJECTS];

/* Pointers of a part that stays, whose targets have left: they are null if an attachment led them
 * there; else they keep their values. */
static void detach(int i)
{
    int which;
    for (which = 0; which < 3; which++) {
        void **const p = pointer_of(&m.copy, i, which);
        if (!*p || m.old[i][which] || m.group[number_of(*p)] != NOBODY)
            continue;
        if (m.is_attached[i][which])
            *p = NULL;
        else
            m.old[i][which] = places[number_of(*p)];
        m.is_attached[i][which] = 0;
    }
}

static void write_back(const store *from, int object)
{
    if (object < PARTS) {
        m.expected.parts[object].value = from->parts[object].value;
        m.expected.parts[object].count = from->parts[object].count;
    } else {
        copy_object(&m.expected, from, object);
    }
}

/* Writes the first results that are on their way. */
static void write_results(int count)
{
    int i, k;
    for (i = 0; i < count; i++)
        for (k = 0; k < OBJECTS; k++)
            if (results[i].has[k])
                write_back(&results[i].contents, k);
    result_count -= count;
    memmove(results, results + count, (size_t)result_count * sizeof *results);
}

static int has_left(unsigned serial)
{
    int g = 0;
    while (g < OBJECTS && !(m.is_live[g] && m.serial[g] == serial))
        g++;
    return g == OBJECTS;
}

/* Those up to the last one of a group that has left. */
static void write_results_of_left(void)
{
    int i, k, count = 0;
    for (i = 0; i < result_count; i++)
        for (k = 0; k < results[i].count; k++)
            if (has_left(results[i].serials[k]))
                count = i + 1;
    write_results(count);
}

/* Those up to the last one of a group. */
static void write_results_of(unsigned serial)
{
    int i, k, count = 0;
    for (i = 0; i < result_count; i++)
        for (k = 0; k < results[i].count; k++)
            if (results[i].serials[k] == serial)
                count = i + 1;
    write_results(count);
}

/* The result of a step: of a call that waits, it is written at the end of the step. */
static result *new_result(void)
{
    result *r = &results[result_count++];
    memset(r, 0, sizeof *r);
    r->contents = m.copy;
    return r;
}

/* The objects that leave with an exit. `only`: the one part whose value comes back; NOBODY: all. */
typedef struct leaving {
    result r;
    int only;
    int is_affected[OBJECTS]; /* groups that have lost a hold */
} leaving;

static void let_object_go(leaving *l, int i)
{
    l->r.has[i] = l->only == NOBODY || l->only == i;
    m.group[i] = NOBODY;
}

/* Another group has lost those of this one. */
static void affect(leaving *l, const int *leads)
{
    int h;
    for (h = 0; h < OBJECTS; h++)
        l->is_affected[h] |= leads[h];
}

static void let_groups_go(leaving *l)
{
    int g, i;
    for (g = 0; g < OBJECTS; g++) {
        if (!m.is_live[g] || is_held(g))
            continue;
        m.is_live[g] = 0;
        l->r.serials[l->r.count++] = m.serial[g];
        for (i = 0; i < OBJECTS; i++)
            if (m.group[i] == g)
                let_object_go(l, i);
        affect(l, m.leads[g]);
        g = -1; /* again: others may be held no more */
    }
}

/* Marks what is led to in a group, and answers how many of its objects are not. */
static int mark(int g, int *is_marked)
{
    int todo[OBJECTS], count = 0, i, h, k, left = 0;
    const void *targets[3];
    memset(is_marked, 0, OBJECTS * sizeof *is_marked);
    for (i = 0; i < OBJECTS; i++) {
        is_marked[i] = i < PARTS && m.home[i] == g && (m.dynamic[i] || m.structured[i]);
        for (h = 0; h < OBJECTS; h++)
            is_marked[i] |= m.is_live[h] && m.group[i] == g && m.stops[h][i];
        if (is_marked[i])
            todo[count++] = i;
    }
    while (count > 0) {
        const int object = todo[--count];
        const int is_shallow = object < PARTS && m.is_shallow[object];
        for (k = targets_of(&host, object, is_shallow, targets); k-- > 0;) {
            const int next = number_of(targets[k]);
            if (m.group[next] != g || is_marked[next])
                continue;
            is_marked[next] = 1;
            todo[count++] = next;
        }
    }
    for (i = 0; i < OBJECTS; i++)
        left += m.group[i] == g && !is_marked[i];
    return left;
}

/* Of a group whose first root has left, what nothing leads to leaves. */
static void cut(leaving *l, int g)
{
    int is_marked[OBJECTS], was_led[OBJECTS], i, k;
    const void *targets[3];
    if (mark(g, is_marked) == 0)
        return;
    write_results_of(m.serial[g]);
    l->r.serials[l->r.count++] = ++serials;
    memcpy(was_led, m.leads[g], sizeof was_led);
    memset(m.leads[g], 0, sizeof m.leads[g]);
    memset(m.stops[g], 0, sizeof m.stops[g]);
    for (i = 0; i < OBJECTS; i++) {
        if (m.group[i] != g)
            continue;
        if (!is_marked[i]) {
            let_object_go(l, i);
            continue;
        }
        for (k = targets_of(&host, i, i < PARTS && m.is_shallow[i], targets); k-- > 0;) {
            const int next = number_of(targets[k]), h = m.group[next];
            if (h != NOBODY && was_led[h])
                m.leads[g][h] = m.stops[g][next] = 1;
        }
    }
    affect(l, was_led);
}

static int youngest_affected(const leaving *l)
{
    int g, youngest = NOBODY;
    for (g = 0; g < OBJECTS; g++)
        if (l->is_affected[g] && m.is_live[g] && m.maker[g] == NOBODY &&
            (youngest == NOBODY || m.serial[g] > m.serial[youngest]))
            youngest = g;
    return youngest;
}

static void model_let_go(int root, int copyout, int only)
{
    const int home = m.home[root];
    leaving l;
    int g;
    memset(&l, 0, sizeof l);
    l.only = only;
    if (m.dynamic[root] || m.structured[root])
        return;
    if (m.maker[home] == root)
        m.maker[home] = NOBODY;
    l.is_affected[home] = 1;
    l.r.contents = m.copy;
    let_groups_go(&l);
    while ((g = youngest_affected(&l)) != NOBODY) {
        l.is_affected[g] = 0;
        cut(&l, g);
        let_groups_go(&l);
    }
    if (copyout)
        results[result_count++] = l.r;
    for (g = 0; g < PARTS; g++)
        if (m.group[g] != NOBODY)
            detach(g);
}

/* ---- Steps. */

static void wait_for_all(void)
{
    CHECK_STATUS(haul_environment_wait(env), HAUL_OK);
    write_results(result_count);
}

static void step_enter(void)
{
    const haul_enter_options how = { .structured = pick(3) == 0 };
    const int root = pick(PARTS), is_shallow = pick(4) == 0;
    CHECK_STATUS(haul_environment_enter(env, &host.parts[root], is_shallow ? shallow : part_type, 1,
                                        &how, async),
                 HAUL_OK);
    if (m.group[root] == NOBODY)
        write_results_of_left();
    model_enter(root, is_shallow);
    ++*(how.structured ? &m.structured[root] : &m.dynamic[root]);
}

static void step_exit(void)
{
    const haul_exit_options how = { .structured = pick(3) == 0,
                                    .copyout = pick(2),
                                    .finalize = pick(4) == 0,
                                    .policy = pick(4) ? NULL : value_alone };
    const int root = pick(PARTS);
    unsigned *count = how.structured ? &m.structured[root] : &m.dynamic[root];
    const haul_status expected = *count ? HAUL_OK : HAUL_ERROR_ARGUMENT;
    CHECK_STATUS(haul_environment_exit(env, &host.parts[root], &how, async), expected);
    if (expected != HAUL_OK)
        return;
    *count = how.finalize && !how.structured ? 0 : *count - 1;
    model_let_go(root, how.copyout, how.policy ? root : NOBODY);
}

static part *anyone(void)
{
    return pick(4) ? &host.parts[pick(PARTS)] : NULL;
}

static void step_write(void)
{
    part *p = &host.parts[pick(PARTS)];
    p->value = pick(1000);
    p->a = anyone();
    p->b = anyone();
    p->data = host.arrays[pick(ARRAYS)];
    host.arrays[pick(ARRAYS)][pick(LENGTH)] = pick(1000);
    m.expected = host;
}

typedef struct work {
    part *p;
    int32_t *array;
    int64_t value;
} work;

static void work_there(void *argument)
{
    const work *w = argument;
    if (w->p)
        w->p->value = w->value;
    if (w->array)
        w->array[1] = (int32_t)w->value;
}

/* It uses what has been ordered. */
static void step_kernel(void)
{
    const int i = pick(PARTS), k = pick(ARRAYS);
    work w = { there(&host.parts[i]), (int32_t *)(void *)there(host.arrays[k]), pick(1000) };
    if (m.group[i] == NOBODY)
        w.p = NULL; /* one past another part */
    if (m.group[PARTS + k] == NOBODY)
        w.array = NULL;
    wait_for_all();
    CHECK_STATUS(haul_host_launch(device, work_there, &w), HAUL_OK);
    if (w.p)
        m.copy.parts[i].value = w.value;
    if (w.array)
        m.copy.arrays[k][1] = (int32_t)w.value;
}

static void step_update(void)
{
    const int object = pick(OBJECTS), is_back = pick(2);
    void *at = object < PARTS ? (void *)&host.parts[object] : host.arrays[object - PARTS];
    const size_t bytes = object < PARTS ? sizeof(part) : sizeof host.arrays[0];
    const haul_status expected = m.group[object] == NOBODY ? HAUL_ERROR_ARGUMENT : HAUL_OK;
    CHECK_STATUS(is_back ? haul_environment_update_host(env, at, bytes, async)
                         : haul_environment_update_device(env, at, bytes, async),
                 expected);
    if (expected != HAUL_OK)
        return;
    if (is_back) {
        result *r = new_result();
        r->has[object] = 1;
        r->serials[r->count++] = m.serial[m.group[object]];
    } else if (object < PARTS) {
        m.copy.parts[object].value = host.parts[object].value;
    } else {
        copy_object(&m.copy, &host, object);
    }
}

/* What stands in an object that leaves, or leads to one, is attached no more. */
static void forget_attached(void)
{
    int which, i;
    for (which = 0; which < 2; which++)
        for (i = 0; i < PARTS; i++)
            if (m.group[i] == NOBODY || !m.is_attached[i][which])
                m.attached[which][i] = 0;
}

static void step_attach(void)
{
    const int i = pick(PARTS), which = pick(2), may = m.group[i] != NOBODY;
    void **const pointer = pointer_of(&host, i, which), *const target = *pointer;
    const int is_there = target && m.group[number_of(target)] != NOBODY;
    unsigned *const count = &m.attached[which][i];
    CHECK_STATUS(haul_environment_attach(env, pointer),
                 may && (*count || is_there) ? HAUL_OK : HAUL_ERROR_ARGUMENT);
    if (may && !*count && is_there)
        attach_pointer(i, which, target);
    if (may && (*count || is_there))
        ++*count;
}

static void step_detach(void)
{
    const int i = pick(PARTS), which = pick(2);
    unsigned *const count = &m.attached[which][i];
    CHECK_STATUS(haul_environment_detach(env, pointer_of(&host, i, which)),
                 *count ? HAUL_OK : HAUL_ERROR_ARGUMENT);
    if (*count && --*count == 0) {
        attach_pointer(i, which, NULL);
        m.is_attached[i][which] = 0;
    }
}

/* ---- Comparison. */

typedef struct comparing {
    part *parts[PARTS];
    int32_t *arrays[ARRAYS];
    part expected[PARTS];
    int32_t values[ARRAYS][LENGTH];
    int wrong; /* 1 + an object's number */
} comparing;

static void compare_there(void *argument)
{
    comparing *c = argument;
    int i;
    for (i = 0; i < PARTS; i++)
        if (c->parts[i] && memcmp(c->parts[i], &c->expected[i], sizeof(part)) != 0)
            c->wrong = 1 + i;
    for (i = 0; i < ARRAYS; i++)
        if (c->arrays[i] && memcmp(c->arrays[i], c->values[i], sizeof c->values[i]) != 0)
            c->wrong = 1 + PARTS + i;
}

/* The value of a pointer there. */
static void *value_there(int i, int which)
{
    void *const at = *pointer_of(&m.copy, i, which);
    return m.old[i][which] ? m.old[i][which] : at ? places[number_of(at)] : NULL;
}

static void check_device(void)
{
    static comparing c;
    int i;
    memset(&c, 0, sizeof c);
    for (i = 0; i < PARTS; i++) {
        if (m.group[i] == NOBODY)
            continue;
        c.parts[i] = places[i];
        c.expected[i] = m.copy.parts[i];
        c.expected[i].a = value_there(i, 0);
        c.expected[i].b = value_there(i, 1);
        c.expected[i].data = value_there(i, 2);
    }
    for (i = 0; i < ARRAYS; i++) {
        if (m.group[PARTS + i] == NOBODY)
            continue;
        c.arrays[i] = places[PARTS + i];
        memcpy(c.values[i], m.copy.arrays[i], sizeof c.values[i]);
    }
    CHECK_STATUS(haul_host_launch(device, compare_there, &c), HAUL_OK);
    CHECK_EQ(c.wrong, 0);
}

static const void *object_at(int i)
{
    return i < PARTS ? (const void *)&host.parts[i] : host.arrays[i - PARTS];
}

static void check_object(int i, int is)
{
    const void *at = object_at(i);
    const size_t bytes = i < PARTS ? sizeof(part) : sizeof host.arrays[0];
    haul_present_range range;
    CHECK_EQ(haul_environment_presence(env, at, bytes), is ? HAUL_PRESENT : HAUL_ABSENT);
    CHECK_STATUS(haul_environment_find(env, at, &range), is ? HAUL_OK : HAUL_ERROR_ARGUMENT);
    CHECK_PTR(range.host, is ? at : NULL);
    if (!is)
        return;
    CHECK_PTR(range.device, places[i]);
    CHECK_PTR(haul_environment_host_pointer(env, range.device), at);
}

/* Of an absent object the address is that of one past a neighbour, or none. In slow builds every
 * third object is looked at more closely. */
static void check_presence(int turn)
{
    size_t groups = 0, ranges = 0, roots = 0;
    haul_environment_info now = info();
    int i;
    for (i = 0; i < OBJECTS; i++) {
        const int is = m.group[i] != NOBODY;
        places[i] = there(object_at(i));
        CHECK(!is || places[i]);
        if ((i + turn) % LARGE(1, 3) == 0)
            check_object(i, is);
        groups += (size_t)m.is_live[i];
        ranges += (size_t)is;
        roots += i < PARTS && (m.dynamic[i] || m.structured[i]);
    }
    CHECK_EQ(now.groups, groups);
    CHECK_EQ(now.ranges, ranges);
    CHECK_EQ(now.roots, roots);
}

static void run_program(void)
{
    static void (*const steps[])(void) = { step_enter,  step_enter,  step_exit,   step_exit,
                                           step_write,  step_write,  step_kernel, step_update,
                                           step_attach, step_attach, step_detach };
    int step, i;
    memset(&m, 0, sizeof m);
    result_count = 0;
    store_reset();
    for (i = 0; i < PARTS; i++) {
        host.parts[i].a = anyone();
        host.parts[i].b = anyone();
        m.home[i] = NOBODY;
    }
    for (i = 0; i < OBJECTS; i++)
        m.group[i] = NOBODY;
    m.expected = host;
    for (step = 0; step < STEPS; step++) {
        const int which = pick((int)(sizeof steps / sizeof *steps));
        const haul_async on = { fault_stream((unsigned)pick(3)), NULL };
        const int may_be =
            steps[which] == step_enter || steps[which] == step_exit || steps[which] == step_update;
        async = has_streams && may_be && pick(2) ? &on : NULL;
        check_note("step %d of kind %d%s", step, which, async ? ", asynchronous" : "");
        steps[which]();
        if (!async && steps[which] != step_write)
            wait_for_all();
        forget_attached();
        if (step == 0 || step == STEPS - 1 || steps[which] == step_enter ||
            steps[which] == step_exit)
            check_presence(step); /* other steps leave it as it is */
        if (!async && steps[which] != step_write && (step % LARGE(1, 2) == 0 || step == STEPS - 1))
            check_device();
        CHECK_BYTES(&host, &m.expected, sizeof host);
    }
    haul_environment_free(&env);
    CHECK_STATUS(haul_environment_create(device, &env), HAUL_OK);
}

static void run_all(int count)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(part, value), .action = HAUL_COPYOUT } };
    const haul_policy_row row = { .type = &part_type, .path = "b", .action = HAUL_SHALLOW };
    CHECK_STATUS(haul_policy_create(part_type, "value", rows, 2, &value_alone), HAUL_OK);
    CHECK_STATUS(haul_policy_create(part_type, "shallow", &row, 1, &shallow), HAUL_OK);
    while (count-- > 0)
        run_program();
    check_note(NULL);
    haul_type_free(&value_alone);
    haul_type_free(&shallow);
}

static void run_programs(int count, haul_context_options options)
{
    start_in(options);
    run_all(count);
    finish();
}

TEST(environment_random, asynchronous_programs_do_what_the_model_does)
{
    fault_plan plan = { .deferred = 1 };
    haul_device *opened;
    dice = random_start("asynchronous environments agree with the model");
    CHECK_STATUS(fault_open(&plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    has_streams = 1;
    run_all(PROGRAMS / 2);
    has_streams = 0;
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
    fault_check_clean(&plan);
}

TEST(environment_random, programs_do_what_the_model_does)
{
    dice = random_start("environments agree with the model");
    run_programs(PROGRAMS, (haul_context_options){ .checked = 0 });
}

static int is_readable(void *user, const void *address, size_t bytes)
{
    const char *const at = address;
    (void)user;
    return at >= (const char *)&host && at + bytes <= (const char *)(&host + 1);
}

TEST(environment_random, programs_do_so_in_contexts_that_record_each_walk_and_have_threads)
{
    dice = random_start("environments of contexts with options agree with the model");
    run_programs(PROGRAMS / 8, (haul_context_options){ .checked = 1 });
    run_programs(PROGRAMS / 8, (haul_context_options){ .readable = is_readable, .threads = 3 });
}

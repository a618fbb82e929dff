/* Random programs of enters, exits, updates, syncs, attaches, host writes and kernels, against a
 * simple model (environment_model.h).
 *
 * After each step, presence, counts, and every byte on the device and on the host are compared with
 * the model. A program is one of four kinds:
 *
 *   alone          each call waits
 *   asynchronous   calls on streams of a device that does its work as late as it may; comparisons
 *                  come after each call that waits, and after haul_environment_wait
 *   failing        an allocation or a device call of each step fails; then all is as it was, and
 *                  the step's call is made again
 *   beside others  as many threads as the test has run programs of their own in one environment,
 *                  and enter and exit roots of one graph that they share
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "environment_model.h"

/* Sanitizers tell what a program did wrong, so most run under them: more than 10,000 in a build
 * with AddressSanitizer, and as many with ThreadSanitizer. */
#if defined(BUILD_ASAN) || defined(BUILD_TSAN)
#define MANY 4400
#else
#define MANY LARGE(600, 40)
#endif

enum { PROGRAMS = MANY, THREADS = 3, SHARED = 6 };

static __thread random_source dice;
static __thread const haul_async *async; /* of the step */
static int has_streams, has_others;
static fault_plan *failing; /* NULL: nothing fails */

static haul_type *value_alone; /* a policy: `value` comes back, and nothing else */

static int pick(int below)
{
    return (int)random_below(&dice, (size_t)below);
}

static void *object_at(int i)
{
    return object_in(own, i);
}

static void wait_for_all(void)
{
    CHECK_STATUS(haul_environment_wait(env), HAUL_OK);
    write_results(result_count);
}

/* One launch at a time is allowed. */
static pthread_mutex_t launches = PTHREAD_MUTEX_INITIALIZER;

static void launch(void (*function)(void *), void *argument)
{
    haul_status status;
    pthread_mutex_lock(&launches);
    status = haul_host_launch(device, function, argument);
    pthread_mutex_unlock(&launches);
    CHECK_STATUS(status, HAUL_OK);
}

/* ---- Comparison. */

typedef struct comparing {
    part *parts[PARTS];
    int32_t *arrays[ARRAYS];
    store seen;
} comparing;

static void look_at_all(void *argument)
{
    comparing *c = argument;
    int i;
    for (i = 0; i < PARTS; i++)
        if (c->parts[i])
            c->seen.parts[i] = *c->parts[i];
    for (i = 0; i < ARRAYS; i++)
        if (c->arrays[i])
            memcpy(c->seen.arrays[i], c->arrays[i], sizeof c->seen.arrays[i]);
}

static void check_pointer(int i, int which, const void *seen_there)
{
    const part *const at = *pointer_of(&m->copy, i, which);
    const void *pointer;
    if (m->is_poisoned[i][which]) {
        CHECK_STATUS(haul_environment_name_poison(env, (uintptr_t)seen_there, &pointer, NULL),
                     HAUL_OK);
        CHECK_PTR(pointer, pointer_of(own, i, which));
    } else {
        CHECK_PTR(seen_there, m->old[i][which] ? m->old[i][which]
                              : at             ? places[number_of(at)]
                                               : NULL);
    }
}

static void check_device(void)
{
    static __thread comparing c;
    int i, which;
    memset(&c, 0, sizeof c);
    for (i = 0; i < PARTS; i++)
        c.parts[i] = m->group[i] == NOBODY ? NULL : places[i];
    for (i = 0; i < ARRAYS; i++)
        c.arrays[i] = m->group[PARTS + i] == NOBODY ? NULL : places[PARTS + i];
    launch(look_at_all, &c);
    for (i = 0; i < PARTS; i++) {
        if (!c.parts[i])
            continue;
        CHECK_EQ(c.seen.parts[i].value, m->copy.parts[i].value);
        CHECK_EQ(c.seen.parts[i].count, m->copy.parts[i].count);
        for (which = 0; which < POINTERS; which++)
            check_pointer(i, which, *pointer_of(&c.seen, i, which));
    }
    for (i = 0; i < ARRAYS; i++)
        if (c.arrays[i])
            CHECK_BYTES(c.seen.arrays[i], m->copy.arrays[i], sizeof c.seen.arrays[i]);
}

static void check_object(int i, int is)
{
    const void *at = object_at(i);
    haul_present_range range;
    CHECK_EQ(haul_environment_presence(env, at, bytes_of(i)), is ? HAUL_PRESENT : HAUL_ABSENT);
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
        const int is = m->group[i] != NOBODY;
        places[i] = there(object_at(i));
        CHECK(!is || places[i]);
        if ((i + turn) % LARGE(1, 3) == 0)
            check_object(i, is);
        groups += (size_t)m->is_live[i];
        ranges += (size_t)is;
        roots += i < PARTS && (m->dynamic[i] || m->structured[i]);
    }
    if (has_others)
        return;
    CHECK_EQ(now.groups, groups);
    CHECK_EQ(now.ranges, ranges);
    CHECK_EQ(now.roots, roots);
}

/* ---- Faults. */

static void arm(void)
{
    static const fault_mode modes[] = { FAULT_ONCE, FAULT_LATE };
    if (failing)
        fault_arm(failing, modes[pick(2)], 1 + (uint64_t)pick(12));
}

/* Whether a call has met the fault. One that asks once more for memory may succeed. */
static int has_met(haul_status status)
{
    if (!failing)
        return 0;
    fault_disarm(failing);
    if (!failing->fired)
        return 0;
    CHECK(status != HAUL_OK || failing->first == HAUL_ERROR_MEMORY);
    if (status == HAUL_OK || status == HAUL_ERROR_ARGUMENT || status == HAUL_ERROR_GRAPH)
        return 0;
    check_presence(0);
    return 1;
}

static __thread haul_status answer;
static __thread int has_failed; /* the last call was made twice */

/* Makes a call, and once more if a fault met it. */
#define TRY(call)                                                                                  \
    (arm(), answer = (call), has_failed = has_met(answer), has_failed ? (call) : answer)

/* What a failed exit has brought back stays: it is what the device has. */
static void expect_what_came_back(void)
{
    int i;
    size_t k;
    for (i = 0; i < OBJECTS; i++)
        for (k = 0; k < bytes_of(i); k++) {
            char *is = (char *)object_in(own, i) + k, *was = (char *)object_in(&m->expected, i) + k;
            if (*is == *was)
                continue;
            CHECK(m->group[i] != NOBODY && data_at(i, k));
            CHECK_EQ(*is, ((char *)object_in(&m->copy, i))[k]);
            *was = *is;
        }
}

/* ---- Steps. */

static void step_enter(void)
{
    const haul_enter_options how = { .structured = pick(3) == 0 };
    const int root = pick(PARTS), drawn = pick(2) ? pick(WAYS) : 0,
              is_way = leads_past_an_end(root, &ways[drawn]) ? 0 : drawn;
    const haul_status status =
        TRY(haul_environment_enter(env, &own->parts[root], type_of_way[is_way], 1, &how, async));
    CHECK_STATUS(status, model_enter(root, &ways[is_way]));
    if (status == HAUL_OK)
        ++*(how.structured ? &m->structured[root] : &m->dynamic[root]);
}

static void exit_of(int root, const haul_exit_options *how, coming what)
{
    unsigned *count = how->structured ? &m->structured[root] : &m->dynamic[root];
    const haul_status expected = *count ? HAUL_OK : HAUL_ERROR_ARGUMENT;
    haul_status status;
    arm();
    status = haul_environment_exit(env, &own->parts[root], how, async);
    has_failed = has_met(status);
    if (has_failed) {
        expect_what_came_back();
        status = haul_environment_exit(env, &own->parts[root], how, async);
    }
    CHECK_STATUS(status, expected);
    if (expected != HAUL_OK)
        return;
    *count = how->finalize && !how->structured ? 0 : *count - 1;
    model_let_go(root, how->copyout, what);
}

static void step_exit(void)
{
    const coming what = pick(2) ? AS_ENTERED : pick(2) ? VALUE_ALONE : ALL_THAT_IT_REACHES;
    const haul_exit_options how = { .structured = pick(3) == 0,
                                    .copyout = pick(2),
                                    .finalize = pick(4) == 0,
                                    .policy = what == AS_ENTERED    ? NULL
                                              : what == VALUE_ALONE ? value_alone
                                                                    : node_type };
    exit_of(pick(PARTS), &how, what);
}

static part *anyone(void)
{
    return pick(4) ? &own->parts[pick(PARTS)] : NULL;
}

static void step_write(void)
{
    part *p = &own->parts[pick(PARTS)];
    p->value = pick(1000);
    p->a = anyone();
    p->b = anyone();
    p->data = own->arrays[pick(ARRAYS)];
    own->arrays[pick(ARRAYS)][pick(LENGTH)] = pick(1000);
    m->expected = *own;
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
    work w = { there(&own->parts[i]), (int32_t *)(void *)there(own->arrays[k]), pick(1000) };
    if (m->group[i] == NOBODY)
        w.p = NULL; /* one past another part */
    if (m->group[PARTS + k] == NOBODY)
        w.array = NULL;
    wait_for_all();
    launch(work_there, &w);
    if (w.p)
        m->copy.parts[i].value = w.value;
    if (w.array)
        m->copy.arrays[k][1] = (int32_t)w.value;
}

/* The model of an update: bytes, that all cross, one way. */
static void model_update(const bytes_of_all *moved, const int *is_in, haul_direction direction)
{
    result *r = NULL;
    int g, i;
    for (g = 0; g < OBJECTS && !async; g++)
        if (is_in[g])
            write_results_of(m->serial[g]);
    if (direction == HAUL_TO_DEVICE) {
        for (i = 0; i < OBJECTS; i++)
            copy_bytes(&m->copy, &m->expected, moved, i);
        return;
    }
    r = new_result();
    r->brings = *moved;
    for (g = 0; g < OBJECTS; g++)
        if (is_in[g])
            r->serials[r->count++] = m->serial[g];
}

static unsigned may_cross(int object, haul_direction direction)
{
    return direction == HAUL_TO_DEVICE ? m->entered[object]->to : m->entered[object]->from;
}

static void step_update(void)
{
    const int object = pick(OBJECTS);
    const haul_direction direction = pick(2) ? HAUL_TO_HOST : HAUL_TO_DEVICE;
    const int is = m->group[object] != NOBODY;
    int is_in[OBJECTS] = { 0 };
    bytes_of_all moved;
    CHECK_STATUS(
        TRY(direction == HAUL_TO_HOST
                ? haul_environment_update_host(env, object_at(object), bytes_of(object), async)
                : haul_environment_update_device(env, object_at(object), bytes_of(object), async)),
        is ? HAUL_OK : HAUL_ERROR_ARGUMENT);
    if (!is)
        return;
    memset(&moved, 0, sizeof moved);
    add_bytes(&moved, object, 0, bytes_of(object), may_cross(object, direction));
    is_in[m->group[object]] = 1;
    model_update(&moved, is_in, direction);
}

/* A range or a strided section of an object; with a type, of all objects of that type that are
 * present, or of those in one group. */
static haul_update_part random_part(haul_direction direction, bytes_of_all *moved, int *is_in,
                                    int *is_wrong)
{
    const int object = pick(OBJECTS), is = m->group[object] != NOBODY;
    const size_t offset = random_below(&dice, bytes_of(object)), room = bytes_of(object) - offset;
    haul_update_part update = { .bytes = 1 + random_below(&dice, room) };
    size_t runs = 1, k;
    int i, of_type = object < PARTS && pick(2), of_group = has_others || pick(2), i_in = 0;
    if (pick(2)) {
        update.bytes = 1 + random_below(&dice, room < 9 ? room : 9);
        update.stride = update.bytes + random_below(&dice, 9);
        update.count = runs = (room - update.bytes) / update.stride + 1;
    }
    if (of_type) {
        update.type = is ? type_of_way[m->entered[object] - ways] : node_type;
        update.offset = offset;
    }
    if (!of_type || of_group)
        update.host = (char *)object_at(object) + (of_type ? 0 : offset);
    for (i = 0; i < OBJECTS; i++) {
        if (m->group[i] == NOBODY ||
            (of_type && (i >= PARTS || type_of_way[m->entered[i] - ways] != update.type)) ||
            (of_type ? of_group && m->group[i] != m->group[object] : i != object))
            continue;
        for (k = 0; k < runs; k++)
            add_bytes(moved, i, offset + k * update.stride, update.bytes, may_cross(i, direction));
        is_in[m->group[i]] = i_in = 1;
    }
    *is_wrong |= !i_in;
    return update;
}

/* A batch. */
static void step_update_parts(void)
{
    const haul_direction direction = pick(2) ? HAUL_TO_HOST : HAUL_TO_DEVICE;
    haul_update_part parts[4];
    const int count = 1 + pick(4);
    int is_in[OBJECTS] = { 0 }, is_wrong = 0, i;
    bytes_of_all moved;
    memset(&moved, 0, sizeof moved);
    for (i = 0; i < count; i++)
        parts[i] = random_part(direction, &moved, is_in, &is_wrong);
    CHECK_STATUS(TRY(haul_environment_update(env, parts, (size_t)count, direction, async)),
                 is_wrong ? HAUL_ERROR_ARGUMENT : HAUL_OK);
    if (!is_wrong)
        model_update(&moved, is_in, direction);
}

/* A sync that has failed may have read some groups and not others, so the next one sends all data
 * of some. Then all data of all groups goes. */
static void send_all(void)
{
    int g, i;
    for (g = 0; g < OBJECTS; g++) {
        for (i = 0; i < OBJECTS && m->group[i] != g; i++)
            continue;
        if (i == OBJECTS)
            continue;
        CHECK_STATUS(haul_environment_update_device(env, object_at(i), 0, NULL), HAUL_OK);
        send_group(g);
    }
}

static void step_sync(void)
{
    const int object = pick(OBJECTS), of_one = has_others || pick(2);
    const int is_wrong = of_one && m->group[object] == NOBODY;
    int g;
    CHECK_STATUS(TRY(haul_environment_sync(env, of_one ? object_at(object) : NULL)),
                 is_wrong ? HAUL_ERROR_ARGUMENT : HAUL_OK);
    for (g = 0; g < OBJECTS && !is_wrong; g++)
        if (m->is_live[g] && (!of_one || m->group[object] == g))
            model_sync(g);
    if (has_failed)
        send_all();
}

static void step_attach(void)
{
    const int i = pick(PARTS), which = pick(POINTERS), may = m->group[i] != NOBODY;
    part *const target = *pointer_of(own, i, which);
    const int is_there = target && m->group[number_of(target)] != NOBODY;
    unsigned *const count = &m->attached[which][i];
    CHECK_STATUS(TRY(haul_environment_attach(env, pointer_of(own, i, which))),
                 may && (*count || is_there) ? HAUL_OK : HAUL_ERROR_ARGUMENT);
    if (may && !*count && is_there)
        lead_to(i, which, target);
    if (may && (*count || is_there))
        ++*count;
}

static void step_detach(void)
{
    const int i = pick(PARTS), which = pick(POINTERS);
    unsigned *const count = &m->attached[which][i];
    CHECK_STATUS(TRY(haul_environment_detach(env, pointer_of(own, i, which))),
                 *count ? HAUL_OK : HAUL_ERROR_ARGUMENT);
    if (*count && --*count == 0)
        detach_pointer(i, which);
}

/* The form of pointers is the environment's, so programs beside others leave it alone. */
static void step_set_detached(void)
{
    const haul_detached form = (haul_detached)pick(3);
    const int may = form != HAUL_DETACHED_POISON || sizeof(void *) == 8;
    if (has_others)
        return;
    CHECK_STATUS(haul_environment_set_detached(env, form), may ? HAUL_OK : HAUL_ERROR_UNSUPPORTED);
    if (may)
        m->detached = form;
}

/* ---- What threads share: a graph that nobody writes. */

static __thread unsigned shared_counts[SHARED];

static void step_shared(void)
{
    const int i = pick(SHARED);
    part *const root = &host.parts[i];
    if (!has_others)
        return;
    if (pick(2)) {
        enter(root);
        shared_counts[i]++;
    } else if (shared_counts[i]) {
        leave(root);
        shared_counts[i]--;
    }
    if (!shared_counts[i])
        return;
    CHECK_EQ(haul_environment_presence(env, root, sizeof *root), HAUL_PRESENT);
    CHECK_EQ(haul_environment_presence(env, root->a, sizeof *root), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_update_device(env, &root->value, sizeof root->value, NULL),
                 HAUL_OK);
}

/* ---- Programs. */

static void begin_program(void)
{
    int i;
    model_open();
    memset(m, 0, sizeof *m);
    result_count = 0;
    store_fill(own);
    for (i = 0; i < PARTS; i++) {
        own->parts[i].a = anyone();
        own->parts[i].b = anyone();
        own->parts[i].count = pick(3);
        m->home[i] = NOBODY;
    }
    for (i = 0; i < OBJECTS; i++)
        m->group[i] = NOBODY;
    m->expected = *own;
}

static void run_steps(void)
{
    static void (*const steps[])(
        void) = { step_enter,  step_enter,  step_exit,   step_exit,         step_write,
                  step_write,  step_kernel, step_update, step_update_parts, step_attach,
                  step_attach, step_detach, step_sync,   step_shared,       step_set_detached };
    int step;
    for (step = 0; step < STEPS; step++) {
        const int which = pick((int)(sizeof steps / sizeof *steps));
        const haul_async on = { fault_stream((unsigned)pick(3)), NULL };
        const int may_be = steps[which] == step_enter || steps[which] == step_exit ||
                           steps[which] == step_update || steps[which] == step_update_parts;
        async = has_streams && may_be && pick(2) ? &on : NULL;
        if (!has_others)
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
        CHECK_BYTES(own, &m->expected, sizeof *own);
    }
}

static void make_types(void)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(node, value), .action = HAUL_COPYOUT } };
    haul_field_info behind;
    int i;
    ends_type = TYPE_NEW(ends, ends_fields);
    node_type = TYPE_NEW(node, node_fields);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    CHECK_STATUS(haul_policy_create(node_type, "value", rows, 2, &value_alone), HAUL_OK);
    type_of_way[0] = node_type;
    for (i = 1; i < WAYS; i++) {
        CHECK_STATUS(haul_policy_create(node_type, ways[i].name, ways[i].rows, ways[i].row_count,
                                        &type_of_way[i]),
                     HAUL_OK);
        CHECK_STATUS(haul_type_get_field(type_of_way[i], 0, &behind), HAUL_OK);
        CHECK_STATUS(haul_type_get_field(behind.target, 0, &behind), HAUL_OK);
        CHECK_PTR(behind.target, type_of_way[i]); /* a root is like what pointers lead to */
    }
}

static void free_types(void)
{
    int i;
    for (i = WAYS; i-- > 0;)
        haul_type_free(&type_of_way[i]);
    haul_type_free(&ends_type);
    haul_type_free(&value_alone);
}

static void run_all(int count)
{
    make_types();
    while (count-- > 0) {
        begin_program();
        run_steps();
        haul_environment_free(&env);
        CHECK_STATUS(haul_environment_create(device, &env), HAUL_OK);
    }
    check_note(NULL);
    model_close();
    free_types();
}

static void run_programs(int count, haul_context_options options)
{
    start_in(options);
    has_streams = has_others = 0;
    failing = NULL;
    run_all(count);
    finish();
}

static void run_on(fault_plan *plan, int count)
{
    haul_device *opened;
    CHECK_STATUS(fault_open(plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    has_streams = plan->deferred;
    failing = plan->deferred ? NULL : plan;
    run_all(count);
    has_streams = 0;
    failing = NULL;
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
    fault_check_clean(plan);
}

TEST(environment_random, asynchronous_programs_do_what_the_model_does)
{
    fault_plan plan = { .deferred = 1 };
    dice = random_start("asynchronous environments agree with the model");
    run_on(&plan, PROGRAMS / 2);
}

TEST(environment_random, programs_do_what_the_model_does)
{
    dice = random_start("environments agree with the model");
    run_programs(PROGRAMS, (haul_context_options){ .checked = 0 });
}

TEST(environment_random, a_call_that_fails_anywhere_changes_nothing_and_can_be_repeated)
{
    fault_plan plan = { .at = 0 };
    dice = random_start("environments whose calls fail agree with the model");
    run_on(&plan, PROGRAMS / 4);
}

static const store *readable;

static int is_readable(void *user, const void *address, size_t bytes)
{
    const char *const at = address;
    (void)user;
    return at >= (const char *)readable && at + bytes <= (const char *)(readable + 1);
}

TEST(environment_random, programs_do_so_in_contexts_that_record_each_walk_and_have_threads)
{
    dice = random_start("environments of contexts with options agree with the model");
    run_programs(PROGRAMS / 8, (haul_context_options){ .checked = 1 });
    model_open();
    readable = own;
    run_programs(PROGRAMS / 8, (haul_context_options){ .readable = is_readable, .threads = 3 });
}

/* ---- Programs of several threads in one environment. */

static void leave_all(void)
{
    int i;
    for (i = 0; i < PARTS; i++) {
        const haul_exit_options dynamic = { .finalize = 1, .copyout = 1 },
                                structured = { .structured = 1, .copyout = 1 };
        while (m->structured[i])
            exit_of(i, &structured, AS_ENTERED);
        if (m->dynamic[i])
            exit_of(i, &dynamic, AS_ENTERED);
        wait_for_all();
    }
    for (i = 0; i < SHARED; i++)
        for (; shared_counts[i]; shared_counts[i]--)
            leave(&host.parts[i]);
    check_presence(0);
    CHECK_BYTES(own, &m->expected, sizeof *own);
}

static void *run_beside_others(void *seed)
{
    int count;
    dice = *(random_source *)seed;
    async = NULL;
    for (count = PROGRAMS / 8; count-- > 0;) {
        begin_program();
        run_steps();
        leave_all();
    }
    model_close();
    return NULL;
}

TEST(environment_random, programs_of_several_threads_in_one_environment_do_what_the_model_does)
{
    random_source seeds[THREADS];
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    int i;
    dice = random_start("environments of several threads agree with the model");
    start();
    make_types();
    for (i = 0; i < SHARED; i++)
        host.parts[i].a =
            &host.parts[(i * 5 + 1) % (SHARED + 2)]; /* also to some that are no roots */
    has_others = 1;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 4u << 20) == 0); /* it has the model, too */
    for (i = 0; i < THREADS; i++) {
        seeds[i] = random_from(random_next(&dice));
        CHECK(pthread_create(&threads[i], &attributes, run_beside_others, &seeds[i]) == 0);
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    has_others = 0;
    CHECK_EQ(info().groups, 0);
    CHECK_EQ(info().ranges, 0);
    CHECK_EQ(info().roots, 0);
    free_types();
    finish();
}

/* Strict launches: the kernel runs in a child of this process, which has closed the host's memory.
 *
 *     parent   fork ------------------------------------------ waitpid, write what came back
 *     child         find, open, close | the kernel | compare
 *
 * Device memory is shared with the child, so results stay in it. A child's stack and static data
 * are copies: the child notes the words that the kernel has changed there, and the parent writes
 * them. The parent opens no memory, so its other threads cannot touch device memory meanwhile.
 *
 * A fault is handled on a stack of its own, in memory that parent and child share. With it lies all
 * that the two tell each other. The handler finds it through sigaltstack, because the library has
 * no variables.
 *
 * The dynamic linker may look up a function when a kernel first calls it. Its own tables lie in
 * closed memory, so a page that it asks for is opened to it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "fault.h"
#include "opening.h"
#include "reach.h"
#include "strict.h"

#define HANDLER_BYTES ((size_t)64 << 10)
#define CHANGES 262144u
#define DATA_PAGES 16384u /* of static data that the kernel writes */

typedef struct change {
    uintptr_t at;
    uint64_t before, after;
} change;

typedef enum outcome {
    RUNNING, /* also if the kernel has ended its process */
    RETURNED,
    FAULTED,
    EXITED,
    GIVEN_UP /* `why` says what */
} outcome;

/* What parent and child share. */
typedef struct launch {
    unsigned char handler_stack[HANDLER_BYTES]; /* first: see shared_by_handler */
    outcome outcome;
    const char *why;
    haul__host *host;
    haul__host_fault fault;
    haul__host_reach reach;
    unsigned char *stack_copy, *page_copies; /* the child's */
    size_t page_count, change_count;
    uintptr_t pages[DATA_PAGES];
    change changes[CHANGES];
    char output[BUFSIZ];
} launch;

extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

int haul__host_can_be_strict(void)
{
    return !__asan_init && !__hwasan_init && !__msan_init && !__tsan_init;
}

/* ---- The child: how it ends. */

static void end(launch *l, outcome how, const char *why)
{
    l->why = why;
    l->outcome = how;
    _exit(0);
}

/* ---- The child: what the kernel changes of the caller's stack and of static data. The stack is
 * copied before, and each page of the data when it is first written. */

static void note_change(launch *l, uintptr_t at, const unsigned char *copy, size_t bytes)
{
    change *next = &l->changes[l->change_count];
    if (l->change_count == CHANGES)
        end(l, GIVEN_UP,
            "the kernel has changed more than 2 MiB of its caller's stack and static data");
    next->at = at;
    memcpy(&next->before, copy, bytes);
    next->after = next->before;
    memcpy(&next->after, (const void *)at, bytes);
    l->change_count++;
}

static void compare(launch *l, uintptr_t at, const unsigned char *copy, size_t bytes)
{
    size_t i, word;
    for (i = 0; i < bytes; i += word) {
        word = bytes - i < sizeof(uint64_t) ? bytes - i : sizeof(uint64_t);
        if (memcmp((const void *)(at + i), copy + i, word) != 0)
            note_change(l, at + i, copy + i, word);
    }
}

static unsigned char *room_for(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

static int copy_stack(launch *l)
{
    const haul__host_extent *stack = &l->reach.stack;
    l->stack_copy = room_for((size_t)(stack->end - stack->begin) + 1);
    if (l->stack_copy)
        memcpy(l->stack_copy, (const void *)stack->begin, (size_t)(stack->end - stack->begin));
    return l->stack_copy != NULL;
}

/* Copies a page of static data that is written, and opens it. 0: the address is elsewhere. */
static int is_data(launch *l, uintptr_t address)
{
    const size_t page = l->reach.page;
    const uintptr_t begin = address & ~((uintptr_t)page - 1);
    if (l->page_count == DATA_PAGES ||
        !haul__host_is_in(l->reach.data, l->reach.data_count, address))
        return 0;
    memcpy(l->page_copies + l->page_count * page, (const void *)begin, page);
    l->pages[l->page_count++] = begin;
    return mprotect((void *)begin, page, PROT_READ | PROT_WRITE) == 0;
}

static void compare_all(launch *l)
{
    const haul__host_extent *stack = &l->reach.stack;
    const size_t page = l->reach.page;
    size_t i;
    compare(l, stack->begin, l->stack_copy, (size_t)(stack->end - stack->begin));
    for (i = 0; i < l->page_count; i++)
        compare(l, l->pages[i], l->page_copies + i * page, page);
}

/* ---- The child: faults, and calls of exit. */

static launch *shared_by_handler(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) == 0 ? stack.ss_sp : NULL;
}

/* Where the faulting instruction stands; 0: not known for this processor. */
static uintptr_t instruction(const ucontext_t *at)
{
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.pc;
#elif defined(__s390x__)
    return (uintptr_t)at->uc_mcontext.psw.addr;
#else
    (void)at;
    return 0;
#endif
}

/* Opens the page if the dynamic linker has faulted on it. 0: other code has. */
static int is_linkers(const launch *l, uintptr_t address, const ucontext_t *at)
{
    const haul__host_extent *linker = &l->reach.linker;
    const uintptr_t from = instruction(at);
    return from >= linker->begin && from < linker->end &&
           haul__host_is_in(l->reach.closed, l->reach.closed_count, address) &&
           mprotect((void *)(address & ~((uintptr_t)l->reach.page - 1)), l->reach.page,
                    PROT_READ | PROT_WRITE) == 0;
}

static void on_fault(int number, siginfo_t *what, void *at)
{
    launch *l = shared_by_handler();
    const uintptr_t address = (uintptr_t)what->si_addr;
    (void)number;
    if (is_linkers(l, address, at) || is_data(l, address))
        return;
    l->fault.address = address;
    l->fault.place = what->si_code == SI_KERNEL ? HAUL__AT_UNKNOWN : HAUL__AT_NOTHING;
    l->outcome = FAULTED; /* the look itself may fail */
    haul__host_protect(l->reach.closed, l->reach.closed_count, PROT_READ);
    haul__host_look(l->host, &l->reach.maps,
                    haul__host_is_in(l->reach.closed, l->reach.closed_count, address), &l->fault);
    end(l, FAULTED, NULL);
}

static void on_exit_call(void)
{
    launch *l = shared_by_handler();
    if (l)
        end(l, EXITED, NULL);
    _exit(0);
}

/* ---- The child. */

static int handle_faults(launch *l)
{
    struct sigaction action;
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = l->handler_stack;
    stack.ss_size = sizeof l->handler_stack;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0 ||
        sigaction(SIGBUS, &action, NULL) != 0)
        return 0;
    sigaddset(&action.sa_mask, SIGSEGV);
    sigaddset(&action.sa_mask, SIGBUS);
    return sigprocmask(SIG_UNBLOCK, &action.sa_mask, NULL) == 0;
}

static void run(launch *l, void (*function)(void *argument), void *argument)
{
    const char *why;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* What waits in the buffer of the output is the parent's to write. The buffer is changed before
     * the mappings are read: that frees the old one, and the heap may shrink. */
    __fpurge(stdout);
    setvbuf(stdout, l->output, _IOLBF, sizeof l->output);
    why = haul__host_find_closed(&l->reach);
    if (why)
        end(l, GIVEN_UP, why);
    l->page_copies = room_for(DATA_PAGES * l->reach.page);
    if (!handle_faults(l) || atexit(on_exit_call) != 0 || !haul__host_open_memory(l->host, 1) ||
        !l->page_copies || !copy_stack(l) ||
        !haul__host_protect(l->reach.data, l->reach.data_count, PROT_READ) ||
        !haul__host_protect(l->reach.closed, l->reach.closed_count, PROT_NONE))
        end(l, GIVEN_UP, "the system refuses what a strict launch needs of it");
    function(argument);
    fflush(stdout);
    compare_all(l);
    end(l, RETURNED, NULL);
}

/* ---- The parent. */

static void write_changes(const launch *l)
{
    size_t i, byte;
    for (i = 0; i < l->change_count; i++) {
        const change *c = &l->changes[i];
        const unsigned char *before = (const unsigned char *)&c->before,
                            *after = (const unsigned char *)&c->after;
        for (byte = 0; byte < sizeof c->after; byte++)
            if (before[byte] != after[byte])
                ((volatile unsigned char *)c->at)[byte] = after[byte];
    }
}

static void say(const launch *l, int status, char *text, size_t room)
{
    if (l->outcome == GIVEN_UP)
        snprintf(text, room, "%s", l->why);
    else if (l->outcome == FAULTED)
        haul__host_say(&l->fault, NULL, text, room);
    else if (l->outcome == EXITED)
        snprintf(text, room, "the kernel called exit");
    else if (WIFSIGNALED(status))
        snprintf(text, room, "the kernel was ended by signal %d", WTERMSIG(status));
    else
        snprintf(text, room, "the kernel ended its process");
}

/* Answers NULL, or why it failed. */
static const char *in_child(launch *l, void (*function)(void *argument), void *argument,
                            int *status)
{
    pid_t child;
    size_t i;
    pthread_mutex_lock(
        &l->host->mutex); /* so that the table of allocations is whole in the child */
    haul__host_keep_objects(&l->reach);
    haul__host_keep(&l->reach, (uintptr_t)l, sizeof *l);
    for (i = 0; i < l->host->block_count; i++)
        if (l->host->blocks[i].window)
            haul__host_keep(&l->reach, (uintptr_t)(l->host->blocks[i].public_map + l->host->page),
                            l->host->blocks[i].map_bytes);
    child = fork();
    if (child == 0)
        run(l, function, argument);
    pthread_mutex_unlock(&l->host->mutex);
    if (child < 0)
        return "a strict launch needs a second process, and the system refuses it";
    while (waitpid(child, status, 0) < 0)
        if (errno != EINTR) {
            *status = 0; /* somebody else has waited for it */
            break;
        }
    return NULL;
}

haul_status haul__host_launch_strictly(haul__host *host, void (*function)(void *argument),
                                       void *argument, uintptr_t frame, haul__host_fault *fault,
                                       char *text, size_t room)
{
    const char *why;
    int status = 0, is_done;
    launch *l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fault->word_count = 0;
    if (l == MAP_FAILED) {
        snprintf(text, room, "a strict launch needs memory to share with its process");
        return HAUL_ERROR_DEVICE;
    }
    l->host = host;
    l->reach.page = host->page;
    l->reach.function = (uintptr_t)function;
    l->reach.frame = frame;
    why = in_child(l, function, argument, &status);
    is_done = !why && l->outcome == RETURNED;
    if (is_done)
        write_changes(l);
    else if (why)
        snprintf(text, room, "%s", why);
    else
        say(l, status, text, room);
    *fault = l->fault;
    munmap(l, sizeof *l);
    return is_done ? HAUL_OK : HAUL_ERROR_DEVICE;
}

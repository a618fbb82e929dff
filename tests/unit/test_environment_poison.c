/* Environments: a kernel that follows a detached pointer, which is poison, faults there, and what
 * the machine shows of the fault names the pointer.
 *
 * The machine tells the address of the fault, or (x86, where no address of that kind exists) shows
 * it in the registers alone.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "environment_graphs.h"

#define P (host.parts)

#ifdef __clang__
#define UNCHECKED __attribute__((no_sanitize("address", "thread", "memory", "undefined")))
#else
#define UNCHECKED
#endif

/* What the child saw, in memory that it shares with the parent. */
typedef struct fault {
    int has_happened;
    uint64_t address;
    mcontext_t registers;
} fault;

static fault *fault_seen;

static void note_fault(int number, siginfo_t *info, void *context)
{
    const ucontext_t *where = context;
    fault_seen->has_happened = 1;
    fault_seen->address = (uintptr_t)info->si_addr;
    memcpy(&fault_seen->registers, &where->uc_mcontext, sizeof fault_seen->registers);
    signal(number, SIG_DFL); /* the kernel goes on, and faults for good */
}

/* A kernel, which adds to what a pointer leads to. */
UNCHECKED static void follow(part *volatile at)
{
    volatile int64_t *value = &at->value;
    *value = *value + 1;
}

static int faults_in_a_child(part *at)
{
    struct sigaction action;
    int ended;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        memset(&action, 0, sizeof action);
        action.sa_sigaction = note_fault;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        follow(at);
        check_leave(0);
    }
    CHECK(waitpid(child, &ended, 0) == child);
    return WIFSIGNALED(ended) && (WTERMSIG(ended) == SIGSEGV || WTERMSIG(ended) == SIGBUS);
}

/* Does this word of the fault name the pointer? */
static int names(uint64_t word, const void *pointer, const char *path)
{
    const void *named;
    char named_path[HAUL_PATH_BYTES];
    return haul_environment_name_poison(env, word, &named, named_path) == HAUL_OK &&
           named == pointer && strcmp(named_path, path) == 0;
}

static void check_fault_names(const void *pointer, const char *path)
{
    const unsigned char *registers = (const unsigned char *)&fault_seen->registers;
    int found;
    size_t i;
    CHECK(fault_seen->has_happened);
    found = names(fault_seen->address, pointer, path);
    for (i = 0; !found && i + sizeof(uint64_t) <= sizeof fault_seen->registers;
         i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, registers + i, sizeof word);
        found = names(word, pointer, path);
    }
    CHECK(found);
}

TEST(environment_poison, a_kernel_that_follows_it_faults_and_the_fault_names_the_field)
{
    start();
    if (sizeof(void *) == 4) { /* there is none */
        finish();
        return;
    }
    fault_seen =
        mmap(NULL, sizeof *fault_seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(fault_seen != MAP_FAILED);
    CHECK_STATUS(haul_environment_set_detached(env, HAUL_DETACHED_POISON), HAUL_OK);
    P[0].b = &P[3];
    enter(&P[0]);
    P[3].a = &P[1];
    enter(&P[1]);
    CHECK_STATUS(haul_environment_attach(env, &P[3].a), HAUL_OK);
    CHECK(!faults_in_a_child(&P[5])); /* what is there does not fault */
    leave(&P[1]);
    CHECK(faults_in_a_child(seen(&P[3]).seen.a));
    check_fault_names(&P[3].a, "root.b.a");
    munmap(fault_seen, sizeof *fault_seen);
    finish();
}

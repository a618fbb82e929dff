/* One target for an engine that calls LLVMFuzzerTestOneInput: libFuzzer, AFL++, honggfuzz.
 * FUZZ_TARGET is its fuzz_target.
 */
#include <stdlib.h>
#include <string.h>

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most) __attribute__((weak));

static int is_running;

/* A check that fails ends the program with exit(1), which AFL++ takes for a run that went well. */
static void complain(void)
{
    if (is_running)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static int is_told;
    if (!is_told)
        atexit(complain);
    is_told = is_running = 1;
    FUZZ_TARGET.run(data, bytes);
    is_running = 0;
    return 0;
}

/* Some changes are the engine's own, which know what it has learnt; all, where bytes mean nothing
 * by themselves. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed)
{
    choices c = choices_from_seed(seed);
    if (LLVMFuzzerMutate && (!FUZZ_TARGET.change || chance(&c, 1, 4)))
        return LLVMFuzzerMutate(data, bytes, most);
    return FUZZ_TARGET.change ? FUZZ_TARGET.change(data, bytes, most, &c)
                              : fuzz_change_bytes(data, bytes, most, &c);
}

/* Campaigns without an engine: very many inputs, each drawn from a seed, in a process for each
 * processor.
 *
 * An input is a file of the corpus or random bytes, changed a few times. It follows from its seed
 * and the corpus alone, so a seed names it. A process that dies or hangs is replaced, and its
 * input is run once more by itself.
 */
#ifndef FUZZ_CAMPAIGN_H
#define FUZZ_CAMPAIGN_H

#include "target.h"

#define CAMPAIGN_BYTES ((size_t)1 << 16) /* of an input, at most */

/* Files that inputs begin as, in the order of their names. */
typedef struct corpus {
    struct corpus_file {
        char *path;
        uint8_t *data;
        size_t bytes;
    } * files;
    size_t count, capacity;
} corpus;

/* A file, or the files of a folder; 0: it cannot be read. */
int corpus_add(corpus *c, const char *path);
void corpus_sort(corpus *c);
void corpus_free(corpus *c);

typedef struct campaign {
    const fuzz_target *target;
    const corpus *from;
    uint64_t runs, seed;   /* seeds are seed .. seed + runs - 1 */
    double seconds;        /* 0: no limit */
    unsigned jobs;         /* processes; 0: one for each processor */
    unsigned hang_seconds; /* of one run */
    const char *keep;      /* a folder for inputs that fail; NULL: none */
} campaign;

typedef struct campaign_result {
    uint64_t runs, accepted, failed;
    int is_interrupted; /* SIGINT or SIGTERM */
} campaign_result;

campaign_result campaign_run(const campaign *c);

#endif

/* An image for the scan and for the walk: the verdicts of both, and what they say, are compared for
 * each small damage of a small arena. The scan is called itself; the walk is asked by a context
 * that wants to know which memory is readable.
 */
#ifndef HAUL_TESTS_IMAGES_SAMPLE_H
#define HAUL_TESTS_IMAGES_SAMPLE_H

#include "image/scan.h"
#include "images/image_bytes.h"
#include "support/random.h"

#define WORD sizeof(void *)

typedef struct sample {
    haul_root roots[2];
    size_t root_count;
    image_parts parts;
    size_t bytes; /* of the arena */
    haul_context *scans, *walks;
    unsigned char *room, *block; /* a page that nobody may read follows the block */
    size_t room_bytes;
    uint64_t *bits;
    unsigned char *is_owned; /* for each word: an object has it */
} sample;

/* `options` NULL: the defaults. */
void sample_open_roots(sample *s, const haul_root *roots, size_t count,
                       const haul_context_options *options);
/* `count` objects. */
void sample_open(sample *s, void *object, haul_type *type, size_t count);
void sample_close(sample *s);
/* The sections may have been changed. */
void sample_renew(sample *s);
void sample_prepare(sample *s, haul_context *context, haul__filling *f, haul__claimed *claimed);

/* Does it accept the image by itself? */
int sample_scan_accepts(sample *s);
int sample_walk_accepts(sample *s);
int sample_has_bit(const sample *s, size_t word);
/* The scan may be unsure of objects that begin where nothing does, or behind what leads to them. */
void sample_compare(sample *s, int may_be_unsure);

void sample_damage_byte(sample *s, size_t at);
void sample_damage_all(sample *s);
/* A pointer to anywhere, another number, tag or bit. Half of the pointers lead where others do. */
void sample_damage_once(sample *s, random_source *random);
/* With several damages in each round. */
void sample_damage_at_random(sample *s, size_t rounds);
void sample_is_accepted(sample *s);
void sample_is_left_to_walk(sample *s);
void sample_is_refused(sample *s);

/* An image of the roots, and of an array of objects. */
void sample_check_roots(const haul_root *roots, size_t count, void (*check)(sample *));
void sample_check_objects(void *objects, haul_type *type, size_t count, void (*check)(sample *));

/* For haul_context_options. */
int sample_is_readable(void *user, const void *address, size_t bytes);

#endif

/* What the pass over an image accepts, the walk accepts: asked with types, graphs and damages drawn
 * at random (images/random_types.h). Nothing that either reads may lie behind the block, where a
 * page begins that nobody may read. The small pictures of test_image_arms.c hold one rule each;
 * here the rules meet.
 */
#include <stdio.h>
#include <string.h>

#include "images/random_types.h"
#include "support/builds.h"
#include "support/check.h"
#include "type/type.h"

enum { ROUNDS = LARGE(1200, 600), IMAGES = 25, DAMAGED = 6 };

typedef struct verdicts {
    drawing d;
    sample s;
    size_t accepted, refused; /* with rules, by the scan; by both */
} verdicts;

/* What haul_type_dump leaves out. */
static void print_switch(const drawing *d, const drawn_type *of, const haul_field *row)
{
    const haul_switch *by = &row->type_switch;
    size_t i;
    if (!by->kind)
        return;
    printf("\n%s.%s chooses by %u bytes @%zu of its %s:", haul_type_name(of->type), row->name,
           by->field.bytes, by->field.offset,
           by->kind == HAUL_SWITCH_KIND_SELF ? "struct" : "target");
    for (i = 0; i < by->case_count; i++)
        printf(" %d %s", (int)by->cases[i].value,
               haul_type_name(drawing_type_of(d, by->cases[i].type)->type));
}

static void print_drawing(verdicts *v)
{
    const image_bytes *arena = &v->s.parts.part[HAUL__SECTION_ARENA];
    image_bytes text = { NULL, 0, 0 };
    const haul_file file = bytes_file(&text);
    uintptr_t word;
    size_t i, k;
    for (i = 0; i < TYPES; i++)
        CHECK_STATUS(haul_type_dump(v->d.types[i].type, &file), HAUL_OK);
    printf("%.*s", (int)text.count, (const char *)text.at);
    for (i = 0; i < TYPES; i++)
        for (k = 0; k < v->d.types[i].row_count; k++)
            print_switch(&v->d, &v->d.types[i], &v->d.types[i].rows[k]);
    printf("\nRoots of type a, and the arena by words (*: a pointer):\n");
    bytes_free(&text);
    for (i = 0; i < arena->count / WORD; i++) {
        memcpy(&word, arena->at + i * WORD, WORD);
        printf("%5zu:%c%-8zx%s", i * WORD, sample_has_bit(&v->s, i) ? '*' : ' ', (size_t)word,
               i % 8 == 7 ? "\n" : "");
    }
    printf("\nThe walk: %s (%s)\n", haul_context_error(v->s.walks)->text,
           haul_context_error(v->s.walks)->path);
}

static void judge(verdicts *v)
{
    const int accepts = sample_scan_accepts(&v->s), agrees = sample_walk_accepts(&v->s);
    if (accepts && !agrees)
        print_drawing(v);
    CHECK(!accepts || agrees);
    v->accepted += accepts && haul__is_ruled(haul__type_walk(v->d.types[0].type));
    v->refused += !accepts && !agrees;
}

static void judge_graph(verdicts *v)
{
    image_bytes *arena = &v->s.parts.part[HAUL__SECTION_ARENA];
    image_bytes *bits = &v->s.parts.part[HAUL__SECTION_BITS];
    size_t i, damages;
    bytes_set(&v->s.parts.part[HAUL__SECTION_ROOTS], &v->d.root, sizeof v->d.root);
    v->s.roots[0].type = v->d.types[0].type;
    bytes_set(arena, v->d.arena.at, v->d.arena.count);
    bytes_set(bits, v->d.bits.at, v->d.bits.count);
    sample_renew(&v->s);
    for (i = 0; i < DAMAGED; i++) {
        bytes_set(arena, v->d.arena.at, v->d.arena.count);
        bytes_set(bits, v->d.bits.at, v->d.bits.count);
        for (damages = i ? 1 + below(&v->d, 3) : 0; damages > 0; damages--)
            sample_damage_once(&v->s, &v->d.random);
        judge(v);
    }
}

static void ask(verdicts *v)
{
    size_t round, i;
    for (round = 0; round < ROUNDS; round++) {
        drawing_of_types(&v->d);
        for (i = 0; i < IMAGES; i++) {
            check_note("round %zu, image %zu", round, i);
            if (drawing_of_graph(&v->d))
                judge_graph(v);
        }
    }
    check_note("%zu images with rules are accepted, %zu refused", v->accepted, v->refused);
    CHECK(v->accepted > ROUNDS * IMAGES / 2 && v->refused > ROUNDS * IMAGES / 2);
    check_note(NULL);
}

TEST(image_random_types, what_the_scan_accepts_the_walk_accepts)
{
    static verdicts v;
    haul_context_options asking;
    memset(&v, 0, sizeof v);
    memset(&asking, 0, sizeof asking);
    asking.readable = sample_is_readable;
    v.s.root_count = 1;
    CHECK_STATUS(haul_context_create(NULL, &v.s.scans), HAUL_OK);
    CHECK_STATUS(haul_context_create(&asking, &v.s.walks), HAUL_OK);
    v.d.random = random_start("verdicts on images of random types");
    ask(&v);
    drawing_close(&v.d);
    sample_close(&v.s);
}

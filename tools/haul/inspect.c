/* haul inspect: what an image holds.
 *
 * The head and the list of sections are shown as docs/image-format.md describes them; the library
 * has checked them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

typedef struct head {
    unsigned char magic[8];
    uint32_t version;
    uint16_t order, word_bytes;
    uint64_t bytes, alignment;
    uint32_t section_count, reserved;
    uint64_t arena_bytes, address, hash;
} head;

typedef struct image_section {
    uint32_t kind, flags;
    uint64_t offset, bytes, hash;
} image_section;

enum { SECTIONS = 64 };

static const char *name_of(uint32_t kind)
{
    static const char *const names[] = { NULL, "types", "roots", "words", "bits", "arena" };
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "(unknown)";
}

static int is_big_endian(void)
{
    const uint16_t order = 0x0102;
    unsigned char first;
    memcpy(&first, &order, 1);
    return first == 1;
}

static void print_head(const head *h, const image_section *sections)
{
    uint32_t i;
    printf("version %" PRIu32 ", pointers of %u bytes, %s-endian, %" PRIu64
           " bytes, alignment %" PRIu64,
           h->version, (unsigned)h->word_bytes, is_big_endian() ? "big" : "little", h->bytes,
           h->alignment);
    if (h->address)
        printf(", for address 0x%" PRIx64, h->address);
    printf("\n\n");
    printf("%12s %14s  %-16s  section\n", "offset", "bytes", "checksum");
    for (i = 0; i < h->section_count; i++)
        printf("%12" PRIu64 " %14" PRIu64 "  %016" PRIx64 "  %s\n", sections[i].offset,
               sections[i].bytes, sections[i].hash, name_of(sections[i].kind));
    if (h->arena_bytes)
        printf("%12s %14" PRIu64 "  %-16s  arena, decompressed\n", "", h->arena_bytes, "");
    printf("\n");
}

static void print_roots(const haul_image *image)
{
    size_t count, i;
    const haul_root *roots = haul_image_roots(image, &count);
    const unsigned char *block = haul_image_memory(image, NULL);
    printf("%8s %12s %8s  type\n", "root", "offset", "objects");
    for (i = 0; i < count; i++) {
        printf("%8zu %12zu %8zu  ", i, (size_t)((const unsigned char *)roots[i].address - block),
               roots[i].count);
        print_clean(stdout, haul_type_name(roots[i].type));
        printf("\n");
    }
    printf("\n");
}

int inspect_file(tool *t)
{
    const char *path = t->files[0];
    const haul_file out = clean_output();
    haul_image *image;
    head h;
    image_section sections[SECTIONS];
    size_t count;
    const haul_root *roots;
    haul_status status;
    int code = load_image(t, path, &image);
    if (code != GOOD)
        return code;
    memcpy(&h, t->first, sizeof h);
    memcpy(sections, t->first + sizeof h, h.section_count * sizeof *sections);
    print_head(&h, sections);
    print_roots(image);
    roots = haul_image_roots(image, &count);
    status = haul_graph_write_table(t->context, haul_from_roots(roots, count), &out);
    if (status != HAUL_OK)
        code = say_failure(t, path, status);
    haul_image_free(&image);
    return code;
}

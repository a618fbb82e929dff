/* The head of an image and its list of sections.
 *
 * Every member is checked before anything is sized by it, so a head that claims too much takes no
 * memory.
 */
#include "image/head.h"

#include "base/status.h"
#include "haul/type.h"
#include "map/address.h"

haul_status haul__image_refuse(haul_error *error, const char *why)
{
    return haul__fail(error, HAUL_ERROR_FORMAT, "not a whole image: %s", why);
}

static haul_status check_version(const haul__image_head *head, haul_error *error)
{
    if (memcmp(head->magic, HAUL__IMAGE_MAGIC, sizeof head->magic) != 0)
        return haul__image_refuse(error, "its first bytes are those of another format");
    if (head->order != HAUL__IMAGE_ORDER)
        return haul__fail(error, HAUL_ERROR_VERSION,
                          "the image was written by a processor with another byte order");
    if (head->version != HAUL__IMAGE_VERSION)
        return haul__fail(error, HAUL_ERROR_VERSION,
                          "the image has version %u of the format, this library reads version %u",
                          (unsigned)head->version, HAUL__IMAGE_VERSION);
    if (head->word_bytes != sizeof(void *))
        return haul__fail(error, HAUL_ERROR_VERSION,
                          "the image has pointers of %u bytes, this program of %u",
                          (unsigned)head->word_bytes, (unsigned)sizeof(void *));
    return HAUL_OK;
}

/* Do the sections stand one behind the other, up to the end? */
static const char *fault_of_sections(const haul__image_head *head,
                                     const haul__image_section *sections)
{
    uint64_t end = sizeof *head + head->section_count * sizeof *sections;
    unsigned seen = 0;
    uint32_t i;
    for (i = 0; i < head->section_count; i++) {
        const haul__image_section *s = &sections[i];
        if (s->bytes > SIZE_MAX / 2 || s->offset != haul__section_begin(s->kind, s->bytes, end))
            return "a section stands at a wrong place";
        end = s->offset + s->bytes;
        if (s->kind == 0 || (s->flags & ~HAUL__SECTION_OPTIONAL))
            return "a section has an unknown flag, or the kind 0";
        if (s->kind < HAUL__SECTION_KINDS && (seen >> s->kind & 1))
            return "a section stands there twice";
        if (s->kind < HAUL__SECTION_ARENA && (seen >> HAUL__SECTION_ARENA & 1))
            return "a section that tells its pointers or types stands behind the arena";
        seen |= s->kind < HAUL__SECTION_KINDS ? 1u << s->kind : 0;
    }
    if (end != head->bytes)
        return "its size is not the sum of its sections";
    return (seen | 1u << HAUL__SECTION_WORDS | 1u) == (1u << HAUL__SECTION_KINDS) - 1
               ? NULL
               : "a section is missing";
}

haul_status haul__image_read_head(haul__input *input, haul__image_head *head,
                                  haul__image_section *sections)
{
    haul_error *error = input->error;
    const char *fault;
    haul_status status = haul__input_read(input, head, sizeof *head);
    if (status == HAUL_OK)
        status = check_version(head, error);
    if (status != HAUL_OK)
        return status;
    if (head->section_count > HAUL__IMAGE_SECTIONS)
        return haul__image_refuse(error, "it has more than 64 sections");
    status = haul__input_read(input, sections, head->section_count * sizeof *sections);
    if (status != HAUL_OK)
        return status;
    if (head->hash != haul__image_head_hash(head, sections))
        return haul__image_refuse(error, "its head does not have its checksum");
    if (head->reserved)
        return haul__fail(error, HAUL_ERROR_VERSION,
                          "the image's head has members that this library does not know");
    fault = fault_of_sections(head, sections);
    if (!fault && head->arena_bytes > SIZE_MAX / 2)
        fault = "its arena has no size that an arena can have";
    if (!fault && (head->address % HAUL__IMAGE_ADDRESS || head->address > UINTPTR_MAX ||
                   head->bytes > UINTPTR_MAX - head->address))
        fault = "it has no address that an image can have";
    if (!fault && (head->alignment < HAUL__GRANULE || head->alignment > HAUL_ALIGNMENT_MAX ||
                   !haul__is_power_of_two((size_t)head->alignment)))
        fault = "its alignment is not a power of two up to 4096, or less than two pointers";
    if (!fault && input->left != SIZE_MAX && head->bytes - input->done != input->left)
        fault = head->bytes - input->done < input->left ? "other bytes follow it"
                                                        : "its end is missing";
    return fault ? haul__image_refuse(error, fault) : HAUL_OK;
}

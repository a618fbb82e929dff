/* A program that starts faster the second time: a JSON document is parsed once, and its tree is
 * saved as an image.
 *
 *     json_snapshot [--keep] [document.json ...]
 *                                             default: Debian's table of the world's languages
 *
 * --keep: the image stays, as json_snapshot.haul. `haul inspect json_snapshot.haul` shows it.
 *
 * The first start parses the text and saves cJSON's nodes, as json_types.h describes them. The
 * second start loads them into a block of memory with working pointers, and checks node by node,
 * because a file may come from a stranger. Or it maps the file, because it trusts its own files:
 * then pages are read when they are touched. The tree belongs to the image: cJSON must not delete
 * it.
 *
 * Prints the times and the size, then a claim with yes or NO for each tree: it equals the parsed
 * one.
 */
#include "common.h"
#include "json_documents.h"
#include "json_types.h"

static const char path[] = "json_snapshot.haul";

static haul_context *haul;

/* The text of the documents, read once. */
static char *read_text(int argument_count, char **arguments)
{
    cJSON *root = json_read(argument_count, arguments);
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return text;
}

static cJSON *parse(const char *text)
{
    const double started = milliseconds();
    cJSON *root = cJSON_Parse(text);
    printf("%-20s %8.2f ms\n", "Parsed:", milliseconds() - started);
    return root;
}

static haul_status save(cJSON *root)
{
    const double started = milliseconds();
    const haul_status status = haul_image_save(haul, haul_from_object(root, node_type), path);
    printf("%-20s %8.2f ms\n", "Saved:", milliseconds() - started);
    return status;
}

static haul_status load(int maps, haul_image **image)
{
    const double started = milliseconds();
    const haul_status status = maps ? haul_image_map(haul, path, &node_type, 1, image)
                                    : haul_image_load(haul, path, &node_type, 1, NULL, image);
    printf("%-20s %8.2f ms\n", maps ? "Mapped:" : "Loaded and checked:", milliseconds() - started);
    return status;
}

static int same(const haul_image *image, const cJSON *parsed, const char *sentence)
{
    return claim(sentence, json_equal(haul_image_roots(image, NULL)->address, parsed));
}

int main(int argument_count, char **arguments)
{
    const int keeps = argument_count > 1 && strcmp(arguments[1], "--keep") == 0;
    char *text = read_text(argument_count - keeps, arguments + keeps);
    cJSON *root = text ? parse(text) : NULL;
    haul_image *loaded = NULL, *mapped = NULL;
    size_t bytes;
    int right;
    haul_status status;
    if (!root)
        return 1;
    status = haul_context_create(NULL, &haul);
    if (!status)
        status = HAUL_DESCRIBE(haul, json_types);
    if (!status)
        status = save(root);
    if (!status)
        status = load(0, &loaded);
    if (!status)
        status = load(1, &mapped);
    if (status)
        return failed("the image", status, haul_context_error(haul));
    haul_image_memory(loaded, &bytes);
    printf("%-20s %8lu bytes\n", "The tree in a block:", (unsigned long)bytes);
    right = same(loaded, root, "the loaded tree equals the parsed one");
    right &= same(mapped, root, "the mapped tree equals the parsed one");
    if (!keeps)
        remove(path);
    haul_image_free(&loaded);
    haul_image_free(&mapped);
    cJSON_Delete(root);
    cJSON_free(text);
    HAUL_FORGET(json_types);
    haul_context_free(&haul);
    return right ? 0 : 1;
}

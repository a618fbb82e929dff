/* A program that starts faster the second time: its first start parses a JSON document and saves
 * the tree as an image; the next start maps the image.
 *
 *     json_snapshot [document.json]       default: Debian's table of the world's languages
 *
 * The image lies in the current folder: iso_639-3.json.haul. A document that is newer than its
 * image is parsed again. The next start maps the file, because it trusts its own files; pages are
 * read when they are touched. It also loads it as one would a stranger's, with each node checked.
 * Both trees belong to their images: cJSON must not delete them.
 *
 * Prints the times, each with a walk over all nodes, and at the next start a claim for each tree.
 */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>

#include "common.h"
#include "json_documents.h"
#include "json_types.h"

static haul_context *haul;
static const char *document;
static char path[4096];

static void tell(const char *what, double started, const cJSON *root)
{
    const long nodes = json_nodes(root);
    printf("%-20s %8.2f ms, %ld nodes\n", what, milliseconds() - started, nodes);
}

static cJSON *parse(void)
{
    const double started = milliseconds();
    cJSON *root = json_parse(document);
    if (root)
        tell("Read and parsed:", started, root);
    return root;
}

static haul_status first_start(void)
{
    cJSON *root = parse();
    const double started = milliseconds();
    haul_status status = HAUL_ERROR_FILE;
    if (root)
        status = haul_image_save(haul, haul_from_object(root, node_type), path);
    if (!status)
        tell("Saved:", started, root);
    cJSON_Delete(root);
    return status;
}

static haul_status open_image(int maps, haul_image **image)
{
    const double started = milliseconds();
    const haul_status status = maps ? haul_image_map(haul, path, &node_type, 1, image)
                                    : haul_image_load(haul, path, &node_type, 1, NULL, image);
    if (!status)
        tell(maps ? "Mapped:" : "Loaded and checked:", started,
             haul_image_roots(*image, NULL)->address);
    return status;
}

static haul_status next_start(void)
{
    haul_image *images[2] = { NULL, NULL };
    haul_status status = open_image(1, &images[0]);
    if (!status)
        status = open_image(0, &images[1]);
    if (!status) {
        cJSON *root = parse();
        for (int i = 0; i < 2; i++)
            if (!claim(i ? "the loaded tree is the parsed one"
                         : "the mapped tree is the parsed one",
                       json_equal(haul_image_roots(images[i], NULL)->address, root)))
                status = HAUL_ERROR_GRAPH;
        cJSON_Delete(root);
    }
    haul_image_free(&images[0]);
    haul_image_free(&images[1]);
    return status;
}

int main(int count, char **given)
{
    struct stat text, image;
    const char *base = strrchr(document = count > 1 ? given[1] : json_default, '/');
    haul_status status = haul_context_create(NULL, &haul);
    snprintf(path, sizeof path, "%s.haul", base ? base + 1 : document);
    if (!status)
        status = HAUL_DESCRIBE(haul, json_types);
    if (!status)
        status = stat(document, &text) || stat(path, &image) || image.st_mtime < text.st_mtime
                     ? first_start()
                     : next_start();
    if (status)
        failed(path, status, haul_context_error(haul));
    HAUL_FORGET(json_types);
    haul_context_free(&haul);
    return status ? 1 : 0;
}

/* haul verify: is this a right image?
 */
#include <stdio.h>

#include "tool.h"

int verify_files(tool *t)
{
    int worst = GOOD;
    size_t i, bytes;
    for (i = 0; i < t->file_count; i++) {
        haul_image *image;
        const int code = load_image(t, t->files[i], &image);
        worst = code > worst ? code : worst;
        print_clean(stdout, t->files[i]);
        if (code != GOOD) {
            printf(code == REFUSED ? ": refused\n" : ": not read\n");
            continue;
        }
        haul_image_memory(image, &bytes);
        printf(": good%s, a graph of %zu bytes\n",
               t->options.is_trusted ? " as far as looked at" : "", bytes);
        haul_image_free(&image);
    }
    return worst;
}

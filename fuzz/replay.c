/* Runs a fuzz target over files, and over the files in folders, once each: for builds without a
 * fuzzer.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long inputs;

/* The input in memory of exactly its size, so that a sanitizer sees every byte too many. */
static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long size;
    int good = file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
               fseek(file, 0, SEEK_SET) == 0 &&
               (data = malloc((size_t)size != 0 ? (size_t)size : 1)) != NULL &&
               fread(data, 1, (size_t)size, file) == (size_t)size;
    if (file != NULL)
        fclose(file);
    if (!good) {
        fprintf(stderr, "cannot read %s\n", path);
    } else {
        LLVMFuzzerTestOneInput(data, (size_t)size);
        inputs++;
    }
    free(data);
    return good;
}

static int run_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int good = folder != NULL;
    while (good && (entry = readdir(folder)) != NULL) {
        size_t bytes = strlen(path) + strlen(entry->d_name) + 2;
        char *name;
        if (entry->d_name[0] == '.')
            continue;
        name = malloc(bytes);
        good = name != NULL;
        if (good) {
            snprintf(name, bytes, "%s/%s", path, entry->d_name);
            good = run_file(name);
        }
        free(name);
    }
    if (folder != NULL)
        closedir(folder);
    return good;
}

int main(int count, char **arguments)
{
    int good = 1;
    for (int i = 1; i < count && good; i++) {
        struct stat about;
        good = stat(arguments[i], &about) == 0 &&
               (S_ISDIR(about.st_mode) ? run_folder(arguments[i]) : run_file(arguments[i]));
        if (!good)
            fprintf(stderr, "stopped at %s\n", arguments[i]);
    }
    printf("%lu passed, %d failed\n", inputs, !good);
    return !good;
}

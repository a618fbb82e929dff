/* OpenACC on a machine without a device: the calls say so, and the program goes on. acc_map_data
 * would end it. Then this file plays a device that counts what it is told.
 */
#include <stdio.h>

#include <haul.h>
#include <openacc.h>

static int plays, finder_is_busy, failures;
static size_t mapped;

static acc_device_t type_of_device(void)
{
    return plays ? acc_device_not_host : acc_get_device_type();
}

static int devices(acc_device_t type)
{
    return plays ? 1 : acc_get_num_devices(type);
}

static void map_data(void *host, void *device, size_t bytes)
{
    (void)host;
    (void)device;
    (void)bytes;
    mapped++;
}

static void unmap_data(void *host)
{
    (void)host;
    mapped--;
}

static int is_present(void *host, size_t bytes)
{
    (void)host;
    (void)bytes;
    return 0;
}

/* Another thread may enter the context between two calls of one function. */
static haul_status set_finder(haul_environment *e, haul_copy_finder *find, void *user)
{
    return finder_is_busy ? HAUL_ERROR_BUSY : haul_environment_set_finder(e, find, user);
}

#define acc_get_device_type type_of_device
#define acc_get_num_devices devices
#define acc_map_data map_data
#define acc_unmap_data unmap_data
#define acc_is_present is_present
#define haul_environment_set_finder set_finder
#include <haul/openacc.h>

static void claim(const char *sentence, int holds)
{
    printf("  %s  %s\n", holds ? "yes" : "NO ", sentence);
    failures += !holds;
}

int main(void)
{
    static const haul_struct plain = HAUL_PLAIN(double, NULL);
    static double number;
    haul_context *context = NULL;
    haul_device *device = NULL;
    haul_environment *e = NULL;
    haul_type *type = NULL;
    haul_openacc told;
    if (haul_context_create(NULL, &context) != HAUL_OK ||
        haul_host_open(context, NULL, &device) != HAUL_OK ||
        haul_environment_create(device, &e) != HAUL_OK ||
        haul_type_create(context, &plain, &type) != HAUL_OK || haul_type_commit(type) != HAUL_OK ||
        haul_environment_enter(e, &number, type, 1, NULL, NULL) != HAUL_OK)
        return 1;
    claim("without a device the call says so",
          haul_openacc_watch(e, &told) == HAUL_ERROR_UNSUPPORTED);
    plays = finder_is_busy = 1;
    claim("a busy context leaves nothing mapped",
          haul_openacc_watch(e, &told) == HAUL_ERROR_BUSY && mapped == 0);
    finder_is_busy = 0;
    claim("else what is present is mapped",
          haul_openacc_watch(e, &told) == HAUL_OK && mapped == 1 && told.ranges == 1);
    claim("a second call maps it again, and counts it once",
          haul_openacc_watch(e, &told) == HAUL_OK && mapped == 1 && told.ranges == 1);
    haul_environment_free(&e);
    claim("and nothing stays", mapped == 0 && told.ranges == 0);
    haul_type_free(&type);
    haul_device_close(&device);
    haul_context_free(&context);
    return failures != 0;
}

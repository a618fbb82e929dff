/* Sources: read with the size that the caller's header knows.
 */
#include "pack/source.h"

#include "base/sized.h"
#include "base/status.h"

haul_status haul__source_read(const haul_source *theirs, size_t bytes, haul_source *source,
                              haul_error *error)
{
    if (haul__read_options(source, sizeof *source, theirs, bytes) != HAUL_OK)
        return haul__fail(error, HAUL_ERROR_VERSION, "%s", HAUL__NEWER_OPTIONS);
    if (source->kind < HAUL_SOURCE_ROOT || source->kind > HAUL_SOURCE_DEVICE)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the source is of kind %d, which does not exist: make it with "
                          "haul_from_object or its like",
                          source->kind);
    return HAUL_OK;
}

haul_status haul__source_roots(const haul_source *source, const haul_root **roots, size_t *count,
                               haul_error *error)
{
    if (source->kind == HAUL_SOURCE_ROOT) {
        *roots = &source->root;
        *count = 1;
    } else if (source->kind == HAUL_SOURCE_ROOTS) {
        *roots = source->roots;
        *count = source->count;
    } else {
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the source is no objects: haul_from_object, _array or _roots is needed");
    }
    return HAUL_OK;
}

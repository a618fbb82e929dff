/* Roots are checked before anything is read through them.
 */
#include "walk/roots.h"

void haul__hold_types(const haul_root *roots, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        haul__type_hold(roots[i].type);
}

void haul__drop_types(const haul_root *roots, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        haul__type_drop(roots[i].type);
}

haul_status haul__check_roots(haul_context *context, const haul_root *roots, size_t count)
{
    size_t i;
    if (!roots || !count)
        return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                          roots ? "the number of roots is 0: nothing to start from"
                                : "the list of roots is NULL");
    for (i = 0; i < count; i++) {
        if (!roots[i].address || !roots[i].count)
            return haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "root %zu is %s", i,
                              roots[i].address ? "0 objects" : "NULL");
        if (!haul__type_is_valid(roots[i].type))
            return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                              "the type of root %zu is NULL or freed", i);
        if (!haul__type_walk(roots[i].type))
            return haul__fail(&context->error, HAUL_ERROR_STATE,
                              "type %s of root %zu is not committed: call haul_type_commit "
                              "and look at its answer",
                              haul_type_name(roots[i].type), i);
    }
    return HAUL_OK;
}

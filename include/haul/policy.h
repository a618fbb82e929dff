/* Policies: a type under which only a part of its objects travels, or travels another way.
 *
 *     const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
 *                                      { HAUL_MEMBER(mesh, weight), .action = HAUL_COPYIN },
 *                                      { .path = "cells[*].sub.e", .action = HAUL_COPYOUT } };
 *     haul_policy_create(mesh_type, "weigh", rows, 3, &weigh);
 *     haul_environment_enter(e, mesh, weigh, 1, NULL);
 *
 * A policy is a type, with a name of its own: "mesh:weigh". So every call takes it in place of the
 * type that it was made from, another policy can be made from it, and haul_type_free frees it. The
 * original type stays as it is.
 *
 * Rows. A path begins at the root, or at each object of `type`. Its steps are the names of fields:
 * "cells[*].sub.e" and "cells.sub.e" mean the same, each element. It ends at a field, or at a plain
 * member that no field describes, which HAUL_MEMBER places. The empty path stands for all that no
 * other row names in these objects, and in the structs that are embedded there: gaps between fields
 * too, but not what their pointers lead to. A row for an embedded struct stands for all that no
 * other row names in it.
 *
 * Which row counts? One with a path from the root before one with a `type`, and both before an
 * empty path or an embedded struct's row, of which the innermost counts. If two rows of a kind name
 * one field, such as "a.x" and "b.x" where both lead to one struct, their order does not matter:
 * HAUL_NONE and HAUL_SHALLOW give way to HAUL_ONLY_PRESENT, and this to the others; and of
 * directions, each way is open that all of them open (copyin and copyout: create). The same holds
 * for one object that several pointers lead to.
 *
 * Behind pointers, a struct has one form in a policy, whichever path leads to it. Embedded structs
 * have one for each place; a pointer into the middle of an object sees the struct there as its own
 * type has it in the policy.
 *
 * On the device members keep their offsets. So an object takes the room from its first to its last
 * byte that travels, and bytes in between are zeros there. What does not come back is not written
 * on the host.
 */
#ifndef HAUL_POLICY_H
#define HAUL_POLICY_H

#include "haul/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to a row's bytes: a haul_transfer (for a pointer: to the bytes that it leads to, as
 * field.h has it), or one of these. */
enum {
    /* A pointer is not followed: what it leads to must be on the device already, or go there by
     * another path; else HAUL_ERROR_GRAPH, with the pointer's path. */
    HAUL_ONLY_PRESENT = 4,
    /* A pointer is not followed, and null on the device; the host's stays. As for all that is not
     * named, an empty path: every pointer; the other bytes travel. */
    HAUL_SHALLOW = 5,
    /* The bytes do not travel: zeros on the device, unchanged on the host. As HAUL_SKIP. */
    HAUL_NONE = 6
};

/* Zeroed members mean the defaults. */
typedef struct haul_policy_row {
    const char *path; /* NULL: empty */
    /* The path begins at each object of this type that the policy's type reaches. NULL: at the
     * root. */
    haul_type *const *type;
    /* Of a plain member, in its struct. bytes 0: the path ends at a field. */
    size_t offset, bytes;
    int action, reserved;
    /* The row counts while this holds in the struct of its field: HAUL_EQUALS and the like
     * (describe.h), HAUL_WHEN_FN for plain members alone. Else the field travels as without the
     * row. */
    haul_when when;
} haul_policy_row;

/* A member of S, for a path that it ends: a field or a plain member. */
#define HAUL_MEMBER(S, m) .path = #m, .offset = offsetof(S, m), .bytes = sizeof(((S *)0)->m)

/* Makes a committed type from a committed one, and rows. Integers that counts and conditions of
 * fields read travel both ways, unless a row names them.
 * HAUL_ERROR_ARGUMENT: NULL; no name; a path that is none, or leads nowhere, or passes a field that
 * leads to no struct; an action that its field cannot have. HAUL_ERROR_STATE: the type is not
 * committed. HAUL_ERROR_TYPE: as haul_type_commit, for the forms of the types; so when HAUL_COPYOUT
 * or HAUL_CREATE is asked for bytes that the host must read. HAUL_ERROR_UNSUPPORTED: a type of a
 * constructor lies in between, or a struct that is embedded under a path is an `.ancestor`.
 * HAUL_ERROR_LIMIT: a name is too long. HAUL_ERROR_VERSION, HAUL_ERROR_BUSY, HAUL_ERROR_MEMORY. On
 * failure *policy is NULL. */
HAUL_API haul_status haul_policy_create_sized(const haul_type *type, const char *name,
                                              const haul_policy_row *rows, size_t count,
                                              size_t row_bytes, haul_type **policy);
static inline haul_status haul_policy_create(const haul_type *type, const char *name,
                                             const haul_policy_row *rows, size_t count,
                                             haul_type **policy)
{
    return haul_policy_create_sized(type, name, rows, count, sizeof *rows, policy);
}

#ifdef __cplusplus
}
#endif
#endif

/* Policies: a type under which only a part of its objects travels, or travels another way.
 *
 *     const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
 *                                      { HAUL_MEMBER(mesh, weight), .action = HAUL_COPYIN },
 *                                      { .path = "cells[*].sub.e", .action = HAUL_COPYOUT } };
 *     haul_policy_create(mesh_type, "weigh", rows, 3, &weigh);
 *     haul_environment_enter(e, mesh, weigh, 1, NULL, NULL);
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
 * other row names in it. A pointer travels if a path goes through it, unless a row names it or the
 * path's action is HAUL_NONE.
 *
 * Which row counts? One that names the field, before an empty path or an embedded struct's row; of
 * these the innermost. Of two that name the field, one with a path from the root, before one with a
 * `type`. If two rows of a kind name one field, such as "a.x" and "b.x" where a and b lead to one
 * struct, their order does not matter. HAUL_NONE gives way to HAUL_SHALLOW, this to
 * HAUL_ONLY_PRESENT, and this to the others. Of the others, bytes cross a way only if all of them
 * let it: copyin and copyout make create. The same holds for one object that several pointers lead
 * to.
 *
 * Behind pointers, a type has one form in a policy, whichever path leads to it. An embedded struct
 * has a form for each place. A pointer to an embedded struct leads to the form that its type has
 * behind pointers.
 *
 * On the device members keep their offsets, and an object has its whole room: bytes that do not
 * travel are zeros there. (Large gaps of them do not cross: docs/environment.md.) What does not
 * come back is not written on the host.
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
     * another path; else HAUL_ERROR_GRAPH, with the pointer's path. One past the end of it counts,
     * as for borrowed pointers (field.h). */
    HAUL_ONLY_PRESENT = 4,
    /* A pointer is not followed, and null on the device; the host's stays. With an empty path: each
     * pointer that no other row names; the other bytes travel. */
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
    /* Of a plain member, from the beginning of the struct that the path's last pointer leads to, or
     * that the path begins at. bytes 0: the path ends at a field. */
    size_t offset, bytes;
    int action, reserved;
    /* The row counts while this condition holds in the struct of its field; else the field travels
     * as in the original type, whatever other rows say. HAUL_EQUALS and the like (describe.h);
     * HAUL_WHEN_FN for plain members alone. The path is not empty, no other row of this kind names
     * the field, and the field has no condition of its own. */
    haul_when when;
} haul_policy_row;

/* The path, offset and bytes of a member of S, be it a field or a plain member. */
#define HAUL_MEMBER(S, m) .path = #m, .offset = offsetof(S, m), .bytes = sizeof(((S *)0)->m)

/* Makes a committed type from a committed type and rows. It copies the rows and their names, and
 * holds the types that it leads to, so all of them may go. Integers that counts and conditions of
 * fields read travel both ways, unless a row names them.
 *
 * HAUL_ERROR_ARGUMENT, with the row's path: it is no path, names nothing, or goes on behind a field
 * that leads to no struct; its field cannot have the action or the condition. Also: NULL, or no
 * name. HAUL_ERROR_STATE: the type is not committed. HAUL_ERROR_TYPE: as of haul_type_commit, for
 * the forms of the types; HAUL_COPYOUT or HAUL_CREATE for bytes that the host must read is one of
 * them. HAUL_ERROR_UNSUPPORTED: a type that a constructor made leads to what rows change, or a
 * struct that is embedded under a path is an `.ancestor`. HAUL_ERROR_LIMIT: a type's name would be
 * too long. HAUL_ERROR_VERSION, HAUL_ERROR_BUSY, HAUL_ERROR_MEMORY. On failure *policy is NULL. */
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

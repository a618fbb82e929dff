/* MPI's constructors: types made of other types. They bear MPI's names and argument order (MPI-5.0,
 * chapter 5), with size_t throughout.
 *
 * Each makes a new open type over `oldtype`, open or committed, which it holds, in the old type's
 * context (create_struct: the first type's). `stride` and `displacements` count extents of oldtype;
 * in the h-forms and in create_struct they count bytes. Old types may have fields. Bytes between
 * the blocks are no part of the type: they are neither read nor written, and are zeros in the copy,
 * so that distances stay. An extent is not rounded up to an alignment, as MPI's is for
 * create_struct: set it with resized. Types whose size is 0 can be made and committed; a pointer to
 * one is refused.
 *
 * HAUL_ERROR_ARGUMENT for NULL pointers; HAUL_ERROR_TYPE at once when a size overflows;
 * HAUL_ERROR_BUSY: a call is under way on the context; HAUL_ERROR_MEMORY. On failure *newtype is
 * NULL, and the context has the record; if the old type is committed, so that it may be shared, the
 * record has no numbers.
 */
#ifndef HAUL_TYPE_MPI_H
#define HAUL_TYPE_MPI_H

#include "haul/type.h"

#ifdef __cplusplus
extern "C" {
#endif

HAUL_API haul_status haul_type_contiguous(size_t count, haul_type *oldtype, haul_type **newtype);
HAUL_API haul_status haul_type_vector(size_t count, size_t blocklength, size_t stride,
                                      haul_type *oldtype, haul_type **newtype);
HAUL_API haul_status haul_type_create_hvector(size_t count, size_t blocklength, size_t stride_bytes,
                                              haul_type *oldtype, haul_type **newtype);
HAUL_API haul_status haul_type_indexed(size_t count, const size_t *blocklengths,
                                       const size_t *displacements, haul_type *oldtype,
                                       haul_type **newtype);
HAUL_API haul_status haul_type_create_hindexed(size_t count, const size_t *blocklengths,
                                               const size_t *displacements, haul_type *oldtype,
                                               haul_type **newtype);
HAUL_API haul_status haul_type_create_indexed_block(size_t count, size_t blocklength,
                                                    const size_t *displacements, haul_type *oldtype,
                                                    haul_type **newtype);
HAUL_API haul_status haul_type_create_struct(size_t count, const size_t *blocklengths,
                                             const size_t *displacements, haul_type *const *types,
                                             haul_type **newtype);
typedef enum haul_order { HAUL_ORDER_C = 0, HAUL_ORDER_FORTRAN = 1 } haul_order;
HAUL_API haul_status haul_type_create_subarray(size_t ndims, const size_t *sizes,
                                               const size_t *subsizes, const size_t *starts,
                                               haul_order order, haul_type *oldtype,
                                               haul_type **newtype);
/* Lower bound and extent in bytes; the extent may be smaller than the type (interleaved columns),
 * not 0. */
HAUL_API haul_status haul_type_create_resized(haul_type *oldtype, size_t lower_bound, size_t extent,
                                              haul_type **newtype);
HAUL_API haul_status haul_type_dup(haul_type *oldtype, haul_type **newtype);
/* Not MPI's: pointers to pointers to any depth. The new type is one pointer, to `count` elements of
 * `target` (NULL: plain elements of `element_bytes` bytes). Commit refuses a count that reads
 * integers, because there are none. */
HAUL_API haul_status haul_type_pointer(haul_context *context, const char *name,
                                       haul_type *const *target, size_t element_bytes,
                                       haul_count count, haul_type **newtype);
/* A named element of `bytes` bytes without pointers, for the constructors above (MPI's basic
 * types). */
HAUL_API haul_status haul_type_bytes(haul_context *context, const char *name, size_t bytes,
                                     haul_type **newtype);

#ifdef __cplusplus
}
#endif
#endif

/* CHOLMOD's structs: as in tests/acceptance, and as haul-describe makes them. */
#include "cholmod_haul.h"
#include "cholmod_types.h"
#include "same.h"
#include "sparse.h"

int main(void)
{
    haul_context *context = types_context();
    cholmod_types_open();
    made(context, cholmod_sparse_describe(context));
    same("cholmod_sparse", sparse_type, cholmod_sparse_type);
    same("cholmod_dense", dense_type, cholmod_dense_type);
    same("cholmod_triplet", triplet_type, cholmod_triplet_type);
    same("cholmod_factor", factor_type, cholmod_factor_type);
    cholmod_sparse_forget();
    cholmod_types_close();
    return done();
}

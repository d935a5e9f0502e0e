// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include "hosts/mpi/shim.h"

// Sums of unsigned numbers have the same bits as those of signed ones.
static const struct {
    MPI_Datatype datatype;
    enum silken_type type;
} types_numbers[] = {
    {MPI_FLOAT, SILKEN_F32},
    {MPI_DOUBLE, SILKEN_F64},
    {MPI_INT, SILKEN_I32},
    {MPI_UNSIGNED, SILKEN_I32},
    {MPI_INT32_T, SILKEN_I32},
    {MPI_UINT32_T, SILKEN_I32},
    {MPI_LONG, sizeof(long) == 8 ? SILKEN_I64 : SILKEN_I32},
    {MPI_UNSIGNED_LONG, sizeof(long) == 8 ? SILKEN_I64 : SILKEN_I32},
    {MPI_LONG_LONG, SILKEN_I64},
    {MPI_UNSIGNED_LONG_LONG, SILKEN_I64},
    {MPI_INT64_T, SILKEN_I64},
    {MPI_UINT64_T, SILKEN_I64},
};

enum sk_mpi_reason sk_mpi_number(MPI_Datatype datatype, bool doubles, enum silken_type *type) {
    for (size_t i = 0; i < sizeof types_numbers / sizeof *types_numbers; i++) {
        if (types_numbers[i].datatype == datatype) {
            *type = types_numbers[i].type;
            return *type == SILKEN_F64 && !doubles ? SK_MPI_DOUBLE : SK_MPI_NONE;
        }
    }
    return SK_MPI_TYPE;
}

bool sk_mpi_is_plain(MPI_Datatype datatype) {
    int integers, addresses, datatypes, combiner, size;
    MPI_Aint low, extent;

    return PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) ==
               MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED &&
           PMPI_Type_get_extent(datatype, &low, &extent) == MPI_SUCCESS && low == 0 &&
           PMPI_Type_size(datatype, &size) == MPI_SUCCESS && size == extent;
}

size_t sk_mpi_bytes(MPI_Datatype datatype, size_t count) {
    int size;

    if (datatype == MPI_DATATYPE_NULL || count > INT32_MAX ||
        PMPI_Type_size(datatype, &size) != MPI_SUCCESS || size <= 0)
        return 0;
    return count * (size_t)size;
}

// SPDX-License-Identifier: Apache-2.0
//
// A rank that reduces with Open MPI: reduce_mpi [small]
#include <mpi.h>

#include "reduce.h"

static void sum(void *aux, float *in, float *out, size_t n) {
    (void)aux;
    if (MPI_Allreduce(in, out, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) {
        fprintf(stderr, "MPI_Allreduce failed\n");
        exit(1);
    }
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != REDUCE_WORKERS)
        return 2;
    int rc = reduce_run(rank, sum, NULL, argv[argc - 1]);
    MPI_Finalize();
    return rc;
}

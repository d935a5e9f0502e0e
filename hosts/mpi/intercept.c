// SPDX-License-Identifier: Apache-2.0
#include "hosts/mpi/shim.h"

#define INTERCEPT_PUBLIC __attribute__((visibility("default")))

static MPI_Comm intercept_ranks = MPI_COMM_NULL;  // of all ranks; the shim's own
static int intercept_keyval = MPI_KEYVAL_INVALID; // of communicators: one of the next two
static char intercept_congruent, intercept_other;

// ---- MPI's own calls -------------------------------------------------------------------------

static int own_allreduce(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf,
                         int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    (void)own;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

static int own_reduce_scatter_block(const struct sk_mpi_own *own, const void *sendbuf,
                                    void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                    MPI_Comm comm) {
    (void)own;
    return PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

static int own_bcast(const struct sk_mpi_own *own, void *buffer, int count, MPI_Datatype datatype,
                     int root, MPI_Comm comm) {
    (void)own;
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}

static int own_allgather(const struct sk_mpi_own *own, const void *sendbuf, int sendcount,
                         MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                         MPI_Comm comm) {
    (void)own;
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

static int own_largest(const struct sk_mpi_own *own, long long *values, int n) {
    (void)own;
    return PMPI_Allreduce(MPI_IN_PLACE, values, n, MPI_LONG_LONG, MPI_MAX, intercept_ranks);
}

static int own_failed(MPI_Comm comm, int rc) {
    PMPI_Comm_call_errhandler(comm, rc);
    return rc;
}

// Looked up once for a communicator.
static bool own_has_all_ranks(MPI_Comm comm) {
    void *value;
    int found, result;

    if (comm == MPI_COMM_WORLD)
        return true;
    if (comm == MPI_COMM_NULL ||
        PMPI_Comm_get_attr(comm, intercept_keyval, &value, &found) != MPI_SUCCESS)
        return false;
    if (!found) {
        int inter = 0;
        if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
            (!inter && PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) != MPI_SUCCESS))
            return false;
        value = !inter && result == MPI_CONGRUENT ? &intercept_congruent : &intercept_other;
        PMPI_Comm_set_attr(comm, intercept_keyval, value);
    }
    return value == &intercept_congruent;
}

static const struct sk_mpi_own intercept_own = {
    .allreduce = own_allreduce,
    .reduce_scatter_block = own_reduce_scatter_block,
    .bcast = own_bcast,
    .allgather = own_allgather,
    .largest = own_largest,
    .failed = own_failed,
    .has_all_ranks = own_has_all_ranks,
};

// ---- beginning and end -----------------------------------------------------------------------

static int intercept_begin(void) {
    int level, rank, size;
    int rc = PMPI_Comm_dup(MPI_COMM_WORLD, &intercept_ranks);

    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(intercept_ranks, MPI_ERRORS_RETURN);
    rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &intercept_keyval,
                                 NULL);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Query_thread(&level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    return sk_mpi_begin(&intercept_own, rank, size, level == MPI_THREAD_MULTIPLE);
}

INTERCEPT_PUBLIC int MPI_Init(int *argc, char ***argv) {
    int rc = PMPI_Init(argc, argv);

    return rc == MPI_SUCCESS ? intercept_begin() : rc;
}

INTERCEPT_PUBLIC int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    return rc == MPI_SUCCESS ? intercept_begin() : rc;
}

INTERCEPT_PUBLIC int MPI_Finalize(void) {
    sk_mpi_end();
    if (intercept_keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&intercept_keyval);
    if (intercept_ranks != MPI_COMM_NULL)
        PMPI_Comm_free(&intercept_ranks);
    return PMPI_Finalize();
}

// ---- calls -----------------------------------------------------------------------------------

INTERCEPT_PUBLIC int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return sk_mpi_allreduce(&intercept_own, sendbuf, recvbuf, count, datatype, op, comm);
}

INTERCEPT_PUBLIC int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return sk_mpi_reduce_scatter_block(&intercept_own, sendbuf, recvbuf, recvcount, datatype, op,
                                       comm);
}

INTERCEPT_PUBLIC int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root,
                               MPI_Comm comm) {
    return sk_mpi_bcast(&intercept_own, buffer, count, datatype, root, comm);
}

INTERCEPT_PUBLIC int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, int recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm) {
    return sk_mpi_allgather(&intercept_own, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                            recvtype, comm);
}

// Counted, and always MPI's: a sum under way would need the ranks' decision in MPI_Wait() and all
// that are like it.
INTERCEPT_PUBLIC int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                    MPI_Request *request) {
    sk_mpi_count_passed(SK_MPI_NONBLOCKING);
    return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

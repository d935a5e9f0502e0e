/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "hosts/mpi/shim.h"

#define INTERCEPT_PUBLIC __attribute__((visibility("default")))

/* The shim's own calls failed: what the caller has asked to happen on errors. */
static int intercept_failed(MPI_Comm comm, int rc) {
    PMPI_Comm_call_errhandler(comm, rc);
    return rc;
}

static bool intercept_is_aligned(const void *buffer, size_t bytes) {
    return (uintptr_t)buffer % bytes == 0;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

INTERCEPT_PUBLIC int MPI_Init(int *argc, char ***argv) {
    int rc = PMPI_Init(argc, argv);

    return rc == MPI_SUCCESS ? sk_mpi_begin() : rc;
}

INTERCEPT_PUBLIC int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    return rc == MPI_SUCCESS ? sk_mpi_begin() : rc;
}

INTERCEPT_PUBLIC int MPI_Finalize(void) {
    sk_mpi_end();
    return PMPI_Finalize();
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Why the ranks do not sum |count| elements by the switch, by what is the same at all of them. */
static enum sk_mpi_reason intercept_sum(MPI_Datatype datatype, size_t count, MPI_Op op,
                                        MPI_Comm comm, enum silken_type *type) {
    enum sk_mpi_reason reason = sk_mpi_eligible(comm, sk_mpi_bytes(datatype, count));

    if (reason == SK_MPI_NONE && op != MPI_SUM) {
        reason = SK_MPI_OPERATION;
    }
    return reason == SK_MPI_NONE ? sk_mpi_number(datatype, sk_mpi_doubles(), type) : reason;
}

/* This rank's own reason: |in_bytes| at |in| go in, and |out_bytes| come to |*out|, which is memory
 * of the shim when the input has to be kept. */
static enum sk_mpi_reason intercept_buffers(const void *in, void *recvbuf, bool in_place,
                                            size_t out_bytes, size_t element, void **out) {
    *out = in_place ? sk_mpi_scratch(out_bytes) : recvbuf;
    return *out && intercept_is_aligned(in, element) && intercept_is_aligned(*out, element)
               ? SK_MPI_NONE
               : SK_MPI_BUFFER;
}

INTERCEPT_PUBLIC int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    const bool in_place = sendbuf == MPI_IN_PLACE;
    const void *in = in_place ? recvbuf : sendbuf;
    const size_t n = count > 0 ? (size_t)count : 0, bytes = sk_mpi_bytes(datatype, n);
    enum silken_type type = SILKEN_F32;
    enum sk_mpi_reason reason = intercept_sum(datatype, n, op, comm, &type);
    void *out;
    int rc;

    if (reason != SK_MPI_NONE) {
        sk_mpi_count_passed(reason);
        return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    }
    reason = intercept_buffers(in, recvbuf, in_place, bytes, bytes / n, &out);
    if (sk_mpi_enter(reason, &rc) &&
        sk_mpi_leave(silken_allreduce(sk_mpi_comm(), in, out, n, type, SILKEN_SUM), bytes, &rc)) {
        if (in_place) {
            memcpy(recvbuf, out, bytes);
        }
        return MPI_SUCCESS;
    }
    return rc != MPI_SUCCESS ? intercept_failed(comm, rc)
                             : PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

INTERCEPT_PUBLIC int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    const bool in_place = sendbuf == MPI_IN_PLACE;
    const void *in = in_place ? recvbuf : sendbuf;
    const size_t n = recvcount > 0 ? (size_t)recvcount : 0, bytes = sk_mpi_bytes(datatype, n);
    enum silken_type type = SILKEN_F32;
    enum sk_mpi_reason reason = intercept_sum(datatype, n, op, comm, &type);
    void *out;
    int rc;

    if (reason != SK_MPI_NONE) {
        sk_mpi_count_passed(reason);
        return PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
    }
    reason = intercept_buffers(in, recvbuf, in_place, bytes, bytes / n, &out);
    if (sk_mpi_enter(reason, &rc) &&
        sk_mpi_leave(silken_reduce_scatter(sk_mpi_comm(), in, out, n, type, SILKEN_SUM), bytes,
                     &rc)) {
        if (in_place) {
            memcpy(recvbuf, out, bytes);
        }
        return MPI_SUCCESS;
    }
    return rc != MPI_SUCCESS
               ? intercept_failed(comm, rc)
               : PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

/* ---- copies: ranks may describe the same bytes by different types ---------------------------- */

INTERCEPT_PUBLIC int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root,
                               MPI_Comm comm) {
    const size_t bytes = sk_mpi_bytes(datatype, count > 0 ? (size_t)count : 0);
    enum sk_mpi_reason reason = sk_mpi_eligible(comm, bytes);
    int rc;

    if (reason != SK_MPI_NONE) {
        sk_mpi_count_passed(reason);
        return PMPI_Bcast(buffer, count, datatype, root, comm);
    }
    reason = sk_mpi_is_plain(datatype) && root >= 0 ? SK_MPI_NONE : SK_MPI_TYPE;
    if (sk_mpi_enter(reason, &rc) &&
        sk_mpi_leave(silken_broadcast(sk_mpi_comm(), buffer, bytes, (uint32_t)root), bytes, &rc)) {
        return MPI_SUCCESS;
    }
    return rc != MPI_SUCCESS ? intercept_failed(comm, rc)
                             : PMPI_Bcast(buffer, count, datatype, root, comm);
}

INTERCEPT_PUBLIC int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, int recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm) {
    const size_t bytes = sk_mpi_bytes(recvtype, recvcount > 0 ? (size_t)recvcount : 0);
    const bool in_place = sendbuf == MPI_IN_PLACE;
    enum sk_mpi_reason reason = sk_mpi_eligible(comm, bytes);
    const void *in = sendbuf;
    int rank, rc;

    if (reason != SK_MPI_NONE) {
        sk_mpi_count_passed(reason);
        return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    }
    if (in_place) {
        PMPI_Comm_rank(comm, &rank);
        in = (const char *)recvbuf + (size_t)rank * bytes;
    }
    reason = sk_mpi_is_plain(recvtype) && (in_place || sk_mpi_is_plain(sendtype)) ? SK_MPI_NONE
                                                                                  : SK_MPI_TYPE;
    if (sk_mpi_enter(reason, &rc) &&
        sk_mpi_leave(silken_allgather(sk_mpi_comm(), in, recvbuf, bytes), bytes, &rc)) {
        return MPI_SUCCESS;
    }
    return rc != MPI_SUCCESS
               ? intercept_failed(comm, rc)
               : PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

/* ---- counted, and always MPI's --------------------------------------------------------------- */

/* A sum under way would need the ranks' decision in MPI_Wait() and all that are like it. */
INTERCEPT_PUBLIC int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                    MPI_Request *request) {
    sk_mpi_count_passed(SK_MPI_NONBLOCKING);
    return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

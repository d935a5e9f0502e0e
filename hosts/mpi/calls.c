// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <string.h>

#include "hosts/mpi/shim.h"

static bool calls_is_aligned(const void *buffer, size_t bytes) {
    return (uintptr_t)buffer % bytes == 0;
}

// ---- sums ------------------------------------------------------------------------------------

// Why the ranks do not sum 'count' elements by the switch, by what is the same at all of them.
static enum sk_mpi_reason calls_sum(const struct sk_mpi_own *own, MPI_Datatype datatype,
                                    size_t count, MPI_Op op, MPI_Comm comm,
                                    enum silken_type *type) {
    enum sk_mpi_reason reason = sk_mpi_eligible(own, comm, sk_mpi_bytes(datatype, count));

    if (reason == SK_MPI_NONE && op != MPI_SUM)
        reason = SK_MPI_OPERATION;
    return reason == SK_MPI_NONE ? sk_mpi_number(datatype, sk_mpi_doubles(), type) : reason;
}

// This rank's own reason: 'in_bytes' at 'in' go in, and 'out_bytes' come to '*out', which is memory
// of the shim when the input has to be kept.
static enum sk_mpi_reason calls_buffers(const void *in, void *recvbuf, bool in_place,
                                        size_t out_bytes, size_t element, void **out) {
    *out = in_place ? sk_mpi_scratch(out_bytes) : recvbuf;
    return *out && calls_is_aligned(in, element) && calls_is_aligned(*out, element) ? SK_MPI_NONE
                                                                                    : SK_MPI_BUFFER;
}

typedef int by_switch(struct silken_comm *comm, const void *in, void *out, size_t n,
                      enum silken_type type, enum silken_op op);
typedef int by_mpi(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf, int count,
                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

// 'count': elements of a rank's result.
static int calls_reduce(const struct sk_mpi_own *own, by_switch *silken, by_mpi *mpi,
                        const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm) {
    const bool in_place = sendbuf == MPI_IN_PLACE;
    const void *in = in_place ? recvbuf : sendbuf;
    const size_t n = count > 0 ? (size_t)count : 0, bytes = sk_mpi_bytes(datatype, n);
    enum silken_type type = SILKEN_F32;
    enum sk_mpi_reason reason = calls_sum(own, datatype, n, op, comm, &type);
    void *out;
    int rc;

    if (reason != SK_MPI_NONE) {
        sk_mpi_count_passed(reason);
        return mpi(own, sendbuf, recvbuf, count, datatype, op, comm);
    }
    reason = calls_buffers(in, recvbuf, in_place, bytes, bytes / n, &out);
    if (sk_mpi_enter(own, reason, &rc) &&
        sk_mpi_leave(own, silken(sk_mpi_comm(), in, out, n, type, SILKEN_SUM), bytes, &rc)) {
        if (in_place)
            memcpy(recvbuf, out, bytes);
        return MPI_SUCCESS;
    }
    return rc != MPI_SUCCESS ? own->failed(comm, rc)
                             : mpi(own, sendbuf, recvbuf, count, datatype, op, comm);
}

int sk_mpi_allreduce(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return calls_reduce(own, silken_allreduce, own->allreduce, sendbuf, recvbuf, count, datatype,
                        op, comm);
}

int sk_mpi_reduce_scatter_block(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf,
                                int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return calls_reduce(own, silken_reduce_scatter, own->reduce_scatter_block, sendbuf, recvbuf,
                        recvcount, datatype, op, comm);
}

// ---- copies: ranks may describe the same bytes by different types ----------------------------

int sk_mpi_bcast(const struct sk_mpi_own *own, void *buffer, int count, MPI_Datatype datatype,
                 int root, MPI_Comm comm) {
    const size_t bytes = sk_mpi_bytes(datatype, count > 0 ? (size_t)count : 0);
    enum sk_mpi_reason reason = sk_mpi_eligible(own, comm, bytes);
    int rc;

    if (reason != SK_MPI_NONE) {
        sk_mpi_count_passed(reason);
        return own->bcast(own, buffer, count, datatype, root, comm);
    }
    reason = sk_mpi_is_plain(datatype) && root >= 0 ? SK_MPI_NONE : SK_MPI_TYPE;
    if (sk_mpi_enter(own, reason, &rc) &&
        sk_mpi_leave(own, silken_broadcast(sk_mpi_comm(), buffer, bytes, (uint32_t)root), bytes,
                     &rc))
        return MPI_SUCCESS;
    return rc != MPI_SUCCESS ? own->failed(comm, rc)
                             : own->bcast(own, buffer, count, datatype, root, comm);
}

int sk_mpi_allgather(const struct sk_mpi_own *own, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     MPI_Comm comm) {
    const size_t bytes = sk_mpi_bytes(recvtype, recvcount > 0 ? (size_t)recvcount : 0);
    const bool in_place = sendbuf == MPI_IN_PLACE;
    enum sk_mpi_reason reason = sk_mpi_eligible(own, comm, bytes);
    const void *in = sendbuf;
    int rank, rc;

    if (reason != SK_MPI_NONE) {
        sk_mpi_count_passed(reason);
        return own->allgather(own, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                              comm);
    }
    if (in_place) {
        PMPI_Comm_rank(comm, &rank);
        in = (const char *)recvbuf + (size_t)rank * bytes;
    }
    reason = sk_mpi_is_plain(recvtype) && (in_place || sk_mpi_is_plain(sendtype)) ? SK_MPI_NONE
                                                                                  : SK_MPI_TYPE;
    if (sk_mpi_enter(own, reason, &rc) &&
        sk_mpi_leave(own, silken_allgather(sk_mpi_comm(), in, recvbuf, bytes), bytes, &rc))
        return MPI_SUCCESS;
    return rc != MPI_SUCCESS ? own->failed(comm, rc)
                             : own->allgather(own, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                              recvtype, comm);
}

// SPDX-License-Identifier: Apache-2.0
//
// shim.h: MPI programs sum through a switch without knowing it.
//
// The shim is a library that is loaded before MPI's (LD_PRELOAD) and has its functions of the same
// names: MPI's profiling interface lets each call the original as PMPI_*. It is compiled once for
// each MPI, since handles and constants differ: libsilken-mpi-openmpi.so and
// libsilken-mpi-mpich.so. Open MPI has a way of its own besides: a component of its framework
// "coll", mca_coll_silken.so, which it asks for each new communicator and which also has the calls
// from Fortran. Both are made of the same parts:
//
//      intercept.c  the shim: the MPI_ functions, and MPI's own as PMPI_
//      component.c  the component: the functions of a communicator, and those that it had before
//      calls.c      what a call asks for, and where it goes
//      types.c      MPI's types as libsilken's
//      job.c        the ranks' common decision, the switch, and what becomes of a call without it
//      counts.c     how many calls went which way, and the report of it
//
// TAKEN are MPI_Allreduce and MPI_Reduce_scatter_block with MPI_SUM of float, int32 and int64 types
// (of double ones, when SILKEN_MPI_DOUBLE asks for it, as they are rounded to float), MPI_Bcast and
// MPI_Allgather of types without gaps; of SILKEN_MPI_MIN_BYTES or more; on MPI_COMM_WORLD and
// communicators that have the same ranks in the same order. Everything else is the MPI's.
//
// ALL RANKS DECIDE ALIKE. What MPI requires to be the same at all ranks (the operation, the number
// of bytes, the communicator) each rank decides alone. For the rest, before each call that is left
// the ranks take the largest of their reasons not to take it, by an all-reduce of the MPI's. It
// also means that nobody waits for the switch before all ranks are there: a rank may be as late as
// it likes, and the limit of libsilken measures the switch alone. After the sum they do so again:
// where one rank has no sum, all add the same numbers once more by MPI, and when that was because
// of the switch, they leave it for good. For that a call's input is kept until all ranks have the
// result.
//
// THREADS. Calls on two communicators need the same order at all ranks, as there is one switch.
// Threads do not give that, so with MPI_THREAD_MULTIPLE only MPI_COMM_WORLD is taken.
//
//      SILKEN_MPI_MIN_BYTES   of a rank's result, of MPI_Allgather its part of it (65536); the
//                             largest of the ranks' numbers is used
//      SILKEN_MPI_DOUBLE      1, at all ranks: double, too
//      SILKEN_MPI_REQUIRE     1: a job that has no switch, or loses it, is aborted
//      SILKEN_MPI_REPORT      1: each rank writes its counts to stderr in MPI_Finalize
//
// The others are libsilken's (ENVIRONMENT in silken/allreduce.h); rank and number of workers are
// those of MPI_COMM_WORLD.
#ifndef SILKEN_HOSTS_MPI_SHIM_H
#define SILKEN_HOSTS_MPI_SHIM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "silken/allreduce.h"

// ---- why a call is the MPI's (counts.c) ------------------------------------------------------

#define SK_MPI_REASONS(X)                                                                          \
    X(NONE, "")                                                                                    \
    X(EMPTY, "of no bytes")                                                                        \
    X(SMALL, "of fewer bytes than SILKEN_MPI_MIN_BYTES")                                           \
    X(OPERATION, "with an operation other than MPI_SUM")                                           \
    X(TYPE, "of a type that does not go through the switch")                                       \
    X(DOUBLE, "of double, which SILKEN_MPI_DOUBLE=1 takes")                                        \
    X(COMMUNICATOR, "on a communicator that has not the ranks of MPI_COMM_WORLD")                  \
    X(THREADS, "on a duplicate of MPI_COMM_WORLD, with MPI_THREAD_MULTIPLE")                       \
    X(NONBLOCKING, "of MPI_Iallreduce")                                                            \
    X(BUFFER, "with a buffer that is not aligned, or no memory for one")                           \
    X(ALONE, "of a job of one rank")                                                               \
    X(NO_SWITCH, "since there is no switch")                                                       \
    X(LOST, "since the switch was lost")                                                           \
    X(RANGE, "of int64 with a sum beyond the type")                                                \
    X(REFUSED, "that libsilken refused")

enum sk_mpi_reason {
#define SK_MPI_REASON_ENUM(name, text) SK_MPI_##name,
    SK_MPI_REASONS(SK_MPI_REASON_ENUM)
#undef SK_MPI_REASON_ENUM
        SK_MPI_REASON_COUNT
};

// A call that all ranks took through the switch, of so many bytes; one that was MPI's. Any
// thread.
void sk_mpi_count_switch(size_t bytes);
void sk_mpi_count_passed(enum sk_mpi_reason reason);
// Writes the counts to stderr, in one line.
void sk_mpi_report(int rank);

// ---- types (types.c) -------------------------------------------------------------------------

// Can the switch add elements of 'datatype'? If so its type is in '*type'. NONE, TYPE or DOUBLE.
enum sk_mpi_reason sk_mpi_number(MPI_Datatype datatype, bool doubles, enum silken_type *type);
// Do elements of 'datatype' lie in memory one after the other, without gaps?
bool sk_mpi_is_plain(MPI_Datatype datatype);
// Bytes of 'count' elements of it; 0 for what MPI will refuse.
size_t sk_mpi_bytes(MPI_Datatype datatype, size_t count);

// ---- the MPI's own calls ---------------------------------------------------------------------

// What a call would be without the switch. Functions return MPI's error codes.
struct sk_mpi_own {
    int (*allreduce)(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
    int (*reduce_scatter_block)(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf,
                                int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
    int (*bcast)(const struct sk_mpi_own *own, void *buffer, int count, MPI_Datatype datatype,
                 int root, MPI_Comm comm);
    int (*allgather)(const struct sk_mpi_own *own, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     MPI_Comm comm);
    // The largest of all ranks' 'values', one by one. Collective.
    int (*largest)(const struct sk_mpi_own *own, long long *values, int n);
    // 'largest' has failed: what the caller has asked to happen on errors. Returns 'rc'.
    int (*failed)(MPI_Comm comm, int rc);
    // Has 'comm', which may be null, the ranks of MPI_COMM_WORLD in its order?
    bool (*has_all_ranks)(MPI_Comm comm);
};

// ---- calls (calls.c): by the switch, or by 'own' ---------------------------------------------

int sk_mpi_allreduce(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int sk_mpi_reduce_scatter_block(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf,
                                int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int sk_mpi_bcast(const struct sk_mpi_own *own, void *buffer, int count, MPI_Datatype datatype,
                 int root, MPI_Comm comm);
int sk_mpi_allgather(const struct sk_mpi_own *own, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     MPI_Comm comm);

// ---- the job (job.c) -------------------------------------------------------------------------

// This is rank 'rank' of 'size'; 'threads': with MPI_THREAD_MULTIPLE. Of 'mpi' only 'largest' is
// called. Collective. Returns MPI's error code.
int sk_mpi_begin(const struct sk_mpi_own *mpi, int rank, int size, bool threads);
// No call of MPI's is made. Nothing happens if it has not begun.
void sk_mpi_end(void);

// May calls on 'comm' with a result of 'bytes' be taken? By what is the same at all ranks.
enum sk_mpi_reason sk_mpi_eligible(const struct sk_mpi_own *own, MPI_Comm comm, size_t bytes);
bool sk_mpi_doubles(void);

// The ranks decide on a call that is eligible; 'own' is this rank's reason against it. Collective
// on MPI_COMM_WORLD. '*rc' is MPI's error code: when it is not MPI_SUCCESS the call has failed.
// True when all go through the switch, by sk_mpi_comm(); else it is counted as passed on.
bool sk_mpi_enter(const struct sk_mpi_own *mpi, enum sk_mpi_reason own, int *rc);
struct silken_comm *sk_mpi_comm(void);
// After sk_mpi_enter(), with libsilken's 'code'. True when all ranks have the result, of
// 'bytes'.
bool sk_mpi_leave(const struct sk_mpi_own *mpi, int code, size_t bytes, int *rc);

// Memory of at least 'bytes' that lasts until the next call; NULL when memory is exhausted.
void *sk_mpi_scratch(size_t bytes);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's framework "coll" asks each component, for each communicator, for a module: functions
// for some of the calls. The last that is asked, by its priority, has the calls; it may keep the
// functions that were there before it, and the modules that these belong to. This one does, for
// what does not go through the switch.
//
// The job begins when MPI_COMM_WORLD gets its module, in MPI_Init, where calls between the ranks
// are possible, but no function of MPI's is; it ends when MPI_COMM_WORLD loses it, in MPI_Finalize.
#include <ompi_config.h>

#include <ompi/communicator/communicator.h>
#include <ompi/constants.h>
#include <ompi/group/group.h>
#include <ompi/mca/coll/base/base.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/runtime/mpiruntime.h>
#include <opal/mca/base/mca_base_var.h>

#include "hosts/mpi/shim.h"

// Above Open MPI's own: "tuned" has 30.
#define COMPONENT_PRIORITY 90

static int component_priority = COMPONENT_PRIORITY;

// ---- the module of a communicator ------------------------------------------------------------

struct component_module {
    mca_coll_base_module_t super;
    struct sk_mpi_own own;
    ompi_communicator_t *comm; // set while it is enabled
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_reduce_scatter_block_fn_t reduce_scatter_block;
    mca_coll_base_module_bcast_fn_t bcast;
    mca_coll_base_module_allgather_fn_t allgather;
    mca_coll_base_module_t *allreduce_module, *reduce_scatter_block_module, *bcast_module,
        *allgather_module;
};

static struct component_module *module_of(mca_coll_base_module_t *super) {
    return (struct component_module *)super;
}

static const struct component_module *module_of_own(const struct sk_mpi_own *own) {
    return (const struct component_module *)((const char *)own -
                                             offsetof(struct component_module, own));
}

static bool component_is_world(const ompi_communicator_t *comm) {
    return comm == MPI_COMM_WORLD;
}

// ---- what the communicator would do without it -----------------------------------------------

static int component_own_allreduce(const struct sk_mpi_own *own, const void *sendbuf, void *recvbuf,
                                   int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    const struct component_module *m = module_of_own(own);
    return m->allreduce(sendbuf, recvbuf, count, datatype, op, comm, m->allreduce_module);
}

static int component_own_reduce_scatter_block(const struct sk_mpi_own *own, const void *sendbuf,
                                              void *recvbuf, int recvcount, MPI_Datatype datatype,
                                              MPI_Op op, MPI_Comm comm) {
    const struct component_module *m = module_of_own(own);
    return m->reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm,
                                   m->reduce_scatter_block_module);
}

static int component_own_bcast(const struct sk_mpi_own *own, void *buffer, int count,
                               MPI_Datatype datatype, int root, MPI_Comm comm) {
    const struct component_module *m = module_of_own(own);
    return m->bcast(buffer, count, datatype, root, comm, m->bcast_module);
}

static int component_own_allgather(const struct sk_mpi_own *own, const void *sendbuf, int sendcount,
                                   MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                   MPI_Datatype recvtype, MPI_Comm comm) {
    const struct component_module *m = module_of_own(own);
    return m->allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                        m->allgather_module);
}

// On the communicator that the call is on: at all its ranks it stands in the same place.
static int component_own_largest(const struct sk_mpi_own *own, long long *values, int n) {
    const struct component_module *m = module_of_own(own);
    return m->allreduce(MPI_IN_PLACE, values, n, MPI_LONG_LONG, MPI_MAX, m->comm,
                        m->allreduce_module);
}

// Who called the function asks the error handler.
static int component_own_failed(MPI_Comm comm, int rc) {
    (void)comm;
    return rc;
}

// Others have no module.
static bool component_own_has_all_ranks(MPI_Comm comm) {
    (void)comm;
    return true;
}

static const struct sk_mpi_own component_own = {
    .allreduce = component_own_allreduce,
    .reduce_scatter_block = component_own_reduce_scatter_block,
    .bcast = component_own_bcast,
    .allgather = component_own_allgather,
    .largest = component_own_largest,
    .failed = component_own_failed,
    .has_all_ranks = component_own_has_all_ranks,
};

// ---- calls -----------------------------------------------------------------------------------

// Open MPI itself makes some before and after, when no function of MPI's may be called.
static bool component_is_running(void) {
    return ompi_mpi_state == OMPI_MPI_STATE_INIT_COMPLETED;
}

static int component_allreduce(const void *sendbuf, void *recvbuf, int count,
                               struct ompi_datatype_t *datatype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
    const struct sk_mpi_own *own = &module_of(super)->own;
    return (component_is_running() ? sk_mpi_allreduce : component_own_allreduce)(
        own, sendbuf, recvbuf, count, datatype, op, comm);
}

static int component_reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                          struct ompi_datatype_t *datatype, struct ompi_op_t *op,
                                          struct ompi_communicator_t *comm,
                                          mca_coll_base_module_t *super) {
    const struct sk_mpi_own *own = &module_of(super)->own;
    return (component_is_running() ? sk_mpi_reduce_scatter_block
                                   : component_own_reduce_scatter_block)(
        own, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

static int component_bcast(void *buffer, int count, struct ompi_datatype_t *datatype, int root,
                           struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
    const struct sk_mpi_own *own = &module_of(super)->own;
    return (component_is_running() ? sk_mpi_bcast : component_own_bcast)(own, buffer, count,
                                                                         datatype, root, comm);
}

static int component_allgather(const void *sendbuf, int sendcount, struct ompi_datatype_t *sendtype,
                               void *recvbuf, int recvcount, struct ompi_datatype_t *recvtype,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
    const struct sk_mpi_own *own = &module_of(super)->own;
    return (component_is_running() ? sk_mpi_allgather : component_own_allgather)(
        own, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

// ---- modules come and go ---------------------------------------------------------------------

// Keeps a function that the communicator has, and its module, for as long as this one lives.
#define COMPONENT_KEEP(m, comm, call)                                                              \
    ((m)->call = (comm)->c_coll->coll_##call,                                                      \
     (m)->call##_module = (comm)->c_coll->coll_##call##_module, (m)->call && (m)->call##_module)

#define COMPONENT_DROP(m, call)                                                                    \
    do {                                                                                           \
        if ((m)->call##_module) {                                                                  \
            OBJ_RELEASE((m)->call##_module);                                                       \
        }                                                                                          \
    } while (0)

static int component_enable(mca_coll_base_module_t *super, struct ompi_communicator_t *comm) {
    struct component_module *m = module_of(super);

    if (!COMPONENT_KEEP(m, comm, allreduce) || !COMPONENT_KEEP(m, comm, reduce_scatter_block) ||
        !COMPONENT_KEEP(m, comm, bcast) || !COMPONENT_KEEP(m, comm, allgather)) {
        m->allreduce_module = m->reduce_scatter_block_module = m->bcast_module =
            m->allgather_module = NULL;
        return OMPI_ERR_NOT_FOUND;
    }
    OBJ_RETAIN(m->allreduce_module);
    OBJ_RETAIN(m->reduce_scatter_block_module);
    OBJ_RETAIN(m->bcast_module);
    OBJ_RETAIN(m->allgather_module);
    m->comm = comm;
    if (!component_is_world(comm))
        return OMPI_SUCCESS;
    return sk_mpi_begin(&m->own, ompi_comm_rank(comm), ompi_comm_size(comm),
                        ompi_mpi_thread_provided == MPI_THREAD_MULTIPLE) == MPI_SUCCESS
               ? OMPI_SUCCESS
               : OMPI_ERROR;
}

static void component_construct(struct component_module *m) {
    m->own = component_own;
    m->comm = NULL;
    m->allreduce_module = m->reduce_scatter_block_module = m->bcast_module = m->allgather_module =
        NULL;
    m->super.coll_module_enable = component_enable;
    m->super.coll_allreduce = component_allreduce;
    m->super.coll_reduce_scatter_block = component_reduce_scatter_block;
    m->super.coll_bcast = component_bcast;
    m->super.coll_allgather = component_allgather;
}

static void component_destruct(struct component_module *m) {
    if (m->comm && component_is_world(m->comm))
        sk_mpi_end();
    COMPONENT_DROP(m, allreduce);
    COMPONENT_DROP(m, reduce_scatter_block);
    COMPONENT_DROP(m, bcast);
    COMPONENT_DROP(m, allgather);
}

typedef struct component_module component_module;
static OBJ_CLASS_INSTANCE(component_module, mca_coll_base_module_t, component_construct,
                          component_destruct);

// ---- the component ---------------------------------------------------------------------------

static int component_register(void);

static int component_init(bool progress_threads, bool threads) {
    (void)progress_threads;
    (void)threads;
    return OMPI_SUCCESS;
}

static bool component_has_all_ranks(struct ompi_communicator_t *comm) {
    int result;

    return component_is_world(comm) ||
           (!OMPI_COMM_IS_INTER(comm) &&
            ompi_group_compare(comm->c_local_group, ompi_mpi_comm_world.comm.c_local_group,
                               &result) == OMPI_SUCCESS &&
            result == MPI_IDENT);
}

static mca_coll_base_module_t *component_query(struct ompi_communicator_t *comm, int *priority) {
    struct component_module *m = NULL;

    *priority = component_priority;
    if (component_priority >= 0 && component_has_all_ranks(comm))
        m = OBJ_NEW(component_module);
    return m ? &m->super : NULL;
}

__attribute__((visibility("default"))) mca_coll_base_component_t mca_coll_silken_component = {
    .collm_version =
        {
            MCA_COLL_BASE_VERSION_2_0_0,
            .mca_component_name = "silken",
            .mca_component_major_version = OMPI_MAJOR_VERSION,
            .mca_component_minor_version = OMPI_MINOR_VERSION,
            .mca_component_release_version = OMPI_RELEASE_VERSION,
            .mca_register_component_params = component_register,
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = component_init,
    .collm_comm_query = component_query,
};

static int component_register(void) {
    int rc = mca_base_component_var_register(
        &mca_coll_silken_component.collm_version, "priority",
        "Priority of the component that sums through a Silken switch; negative: it is not used",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY,
        &component_priority);

    return rc < 0 ? rc : OPAL_SUCCESS;
}

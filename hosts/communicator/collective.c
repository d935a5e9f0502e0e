// SPDX-License-Identifier: Apache-2.0
//
// Collective operations: of tensors that are not for all, where the switch serves such
// (hosts/switchml/worker.h, COLLECTIVES), else above all-reduce. What has to arrive bit by bit goes
// as integers, to which the other workers add zeros, or nothing.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/communicator/comm.h"
#include "hosts/switchml/worker.h"

// Words of 'bytes'.
static size_t collective_words(size_t bytes) {
    return bytes / 4 + (bytes % 4 != 0);
}

// ---- by the switch ---------------------------------------------------------------------------

// Tensors under way, at most one for each worker.
struct collective {
    struct silken_comm *comm;
    struct silken_request *request[SWML_COLLECTIVE_WORKERS];
    size_t n;
    int result; // of the first that failed
};

static void collective_put(struct collective *c, const struct sk_tensor *tensor,
                           const struct sk_wire *wire) {
    if (c->result == 0)
        c->result = sk_comm_submit(c->comm, tensor, wire, &c->request[c->n]);
    c->n += c->result == 0;
}

// Waits for all, and returns the result.
static int collective_end(struct collective *c) {
    for (size_t i = 0; i < c->n; i++) {
        int rc = silken_wait(c->request[i]);
        c->result = c->result ? c->result : rc;
    }
    return c->result;
}

static bool collective_is_aligned(const void *p, size_t bytes) {
    return (uintptr_t)p % 4 == 0 && bytes % 4 == 0;
}

// Worker 'root' has 'words' for all others.
static void collective_put_words(struct collective *c, const void *in, void *out, size_t words,
                                 uint32_t root) {
    const struct sk_tensor tensor = {.type = SILKEN_I32,
                                     .in = in,
                                     .out = out,
                                     .count = words,
                                     .reach = SK_FROM_ONE,
                                     .who = root};
    collective_put(c, &tensor, NULL);
}

static int switch_broadcast(struct silken_comm *comm, void *data, size_t bytes, uint32_t root) {
    const size_t words = collective_words(bytes);
    struct collective c = {.comm = comm};
    const bool as_is = collective_is_aligned(data, bytes);
    void *room = as_is ? data : calloc(words, 4);
    int rc;

    if (!room)
        return SILKEN_ERR_NOMEM;
    if (!as_is && silken_rank(comm) == root)
        memcpy(room, data, bytes);
    collective_put_words(&c, room, room, words, root);
    rc = collective_end(&c);
    if (!as_is) {
        if (rc == 0 && silken_rank(comm) != root)
            memcpy(data, room, bytes);
        free(room);
    }
    return rc;
}

static bool collective_overlaps(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

    return x < y + b_bytes && y < x + a_bytes;
}

static int switch_allgather(struct silken_comm *comm, const void *in, void *out, size_t bytes) {
    const uint32_t workers = silken_workers(comm), rank = silken_rank(comm);
    const size_t words = collective_words(bytes);
    struct collective c = {.comm = comm};
    const bool as_is = collective_is_aligned(out, bytes);
    char *room = as_is ? out : calloc(workers * words, 4);
    int rc;

    if (!room)
        return SILKEN_ERR_NOMEM;
    memmove(room + rank * 4 * words, in, bytes); // before anything comes that may lie over it
    for (uint32_t i = 0; i < workers; i++)
        collective_put_words(&c, room + i * 4 * words, room + i * 4 * words, words, i);
    rc = collective_end(&c);
    if (!as_is) {
        for (uint32_t i = 0; i < workers && rc == 0; i++)
            memcpy((char *)out + i * bytes, room + i * 4 * words, bytes);
        free(room);
    }
    return rc;
}

// The sums for worker 'to', which are wanted in 'out' there.
static void collective_put_sums(struct collective *c, const void *in, void *out, size_t count,
                                enum silken_type type, enum silken_op op, uint32_t to) {
    struct sk_wire wire;
    struct sk_tensor tensor;
    const bool mine = silken_rank(c->comm) == to;

    if (c->result == 0)
        c->result =
            sk_wire_begin(&wire, &tensor, in, out, count, type, op, silken_workers(c->comm), false);
    if (c->result != 0)
        return;
    tensor.reach = SK_TO_ONE;
    tensor.who = to;
    if (!mine) {
        tensor.out = NULL;
        wire.count = 0; // nothing of it is converted back
    }
    collective_put(c, &tensor, &wire);
    if (c->result != 0)
        sk_wire_free(&wire);
}

static int switch_reduce_scatter(struct silken_comm *comm, const void *in, void *out, size_t count,
                                 enum silken_type type, enum silken_op op) {
    const uint32_t workers = silken_workers(comm), rank = silken_rank(comm);
    const size_t bytes = count * sk_type_bytes(type);
    const char *own = (const char *)in + rank * bytes;
    struct collective c = {.comm = comm};
    const bool apart = own == out || !collective_overlaps(in, workers * bytes, out, bytes);
    void *room = apart ? out : malloc(bytes);
    int rc;

    if (!room)
        return SILKEN_ERR_NOMEM;
    for (uint32_t i = 0; i < workers; i++)
        collective_put_sums(&c, (const char *)in + i * bytes, room, count, type, op, i);
    rc = collective_end(&c);
    if (!apart) {
        if (rc == 0)
            memcpy(out, room, bytes);
        free(room);
    }
    return rc;
}

static int switch_barrier(struct silken_comm *comm) {
    const struct sk_tensor tensor = {.type = SILKEN_I32, .count = 1, .reach = SK_NONE};
    struct collective c = {.comm = comm};

    collective_put(&c, &tensor, NULL);
    return collective_end(&c);
}

int silken_collectives_in_switch(struct silken_comm *comm) {
    return sk_comm_audiences(comm);
}

// ---- above all-reduce ------------------------------------------------------------------------

// Sums of bytes on a switch of 16-bit floats: each byte is the bits of a half, up to 255 times the
// least one, of which sums are exact.
static int collective_sum_bytes(struct silken_comm *comm, uint8_t *bytes, size_t n) {
    uint16_t *halves = malloc(n ? n * sizeof *halves : 1);
    int rc;

    if (!halves)
        return SILKEN_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        halves[i] = bytes[i];
    rc = silken_allreduce(comm, halves, halves, n, SILKEN_F16, SILKEN_SUM);
    for (size_t i = 0; i < n && rc == 0; i++)
        bytes[i] = (uint8_t)halves[i];
    free(halves);
    return rc;
}

// All-reduces 'words' zeros in which this worker has 'bytes' of 'in' at 'at'. The sums are in
// '*room', to be freed by the caller.
static int collective_place(struct silken_comm *comm, int32_t **room, size_t words, size_t at,
                            const void *in, size_t bytes) {
    int rc;

    *room = calloc(words ? words : 1, sizeof **room);
    if (!*room)
        return SILKEN_ERR_NOMEM;
    if (bytes > 0)
        memcpy(*room + at, in, bytes);
    rc = sk_comm_halves(comm) ? collective_sum_bytes(comm, (uint8_t *)*room, words * sizeof **room)
                              : silken_allreduce_i32(comm, *room, *room, words);
    if (rc != 0)
        free(*room);
    return rc;
}

static int sum_broadcast(struct silken_comm *comm, void *data, size_t bytes, uint32_t root) {
    bool sends = silken_rank(comm) == root;
    int32_t *room;
    int rc = collective_place(comm, &room, collective_words(bytes), 0, data, sends ? bytes : 0);

    if (rc != 0)
        return rc;
    if (!sends && bytes > 0)
        memcpy(data, room, bytes);
    free(room);
    return 0;
}

static int sum_allgather(struct silken_comm *comm, const void *in, void *out, size_t bytes) {
    uint32_t workers = silken_workers(comm);
    size_t words = collective_words(bytes);
    int32_t *room;
    int rc = collective_place(comm, &room, workers * words, silken_rank(comm) * words, in, bytes);

    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < workers && bytes > 0; i++)
        memcpy((char *)out + i * bytes, room + i * words, bytes);
    free(room);
    return 0;
}

static int sum_reduce_scatter(struct silken_comm *comm, const void *in, void *out, size_t count,
                              enum silken_type type, enum silken_op op) {
    size_t bytes = sk_type_bytes(type);
    uint32_t workers = silken_workers(comm);
    char *room = malloc(workers * count * bytes + 1);
    int rc;

    if (!room)
        return SILKEN_ERR_NOMEM;
    rc = silken_allreduce(comm, in, room, workers * count, type, op);
    if (rc == 0 && count > 0)
        memcpy(out, room + silken_rank(comm) * count * bytes, count * bytes);
    free(room);
    return rc;
}

static int sum_barrier(struct silken_comm *comm) {
    int32_t *room;
    int rc = collective_place(comm, &room, 1, 0, &(int32_t){1}, sizeof *room);

    if (rc == 0)
        free(room);
    return rc;
}

// ---- the calls -------------------------------------------------------------------------------

int silken_broadcast(struct silken_comm *comm, void *data, size_t bytes, uint32_t root) {
    int audiences;

    if (root >= silken_workers(comm) || bytes > SIZE_MAX / 8 || (bytes > 0 && !data))
        return SILKEN_ERR_INVALID;
    audiences = sk_comm_audiences(comm);
    if (audiences < 0)
        return audiences;
    return audiences && bytes > 0 ? switch_broadcast(comm, data, bytes, root)
                                  : sum_broadcast(comm, data, bytes, root);
}

int silken_allgather(struct silken_comm *comm, const void *in, void *out, size_t bytes) {
    int audiences;

    if (bytes > SIZE_MAX / 8 / silken_workers(comm) || (bytes > 0 && (!in || !out)))
        return SILKEN_ERR_INVALID;
    audiences = sk_comm_audiences(comm);
    if (audiences < 0)
        return audiences;
    return audiences && bytes > 0 ? switch_allgather(comm, in, out, bytes)
                                  : sum_allgather(comm, in, out, bytes);
}

// All workers are to see that a sum is no int64_t, so all have to see those sums. What is wrong
// with the call is so at all of them.
int silken_reduce_scatter(struct silken_comm *comm, const void *in, void *out, size_t count,
                          enum silken_type type, enum silken_op op) {
    size_t bytes = sk_type_bytes(type);
    int audiences;

    if (bytes == 0 || count > SIZE_MAX / 32 / silken_workers(comm) || (count > 0 && (!in || !out)))
        return SILKEN_ERR_INVALID;
    audiences = sk_comm_audiences(comm);
    if (audiences < 0)
        return audiences;
    return audiences && count > 0 && type != SILKEN_I64
               ? switch_reduce_scatter(comm, in, out, count, type, op)
               : sum_reduce_scatter(comm, in, out, count, type, op);
}

int silken_barrier(struct silken_comm *comm) {
    int audiences = sk_comm_audiences(comm);

    if (audiences < 0)
        return audiences;
    return audiences ? switch_barrier(comm) : sum_barrier(comm);
}

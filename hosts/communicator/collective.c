// SPDX-License-Identifier: Apache-2.0
//
// Collective operations above all-reduce. What has to arrive bit by bit goes as integers, to which
// the other workers add zeros.
#include <stdlib.h>
#include <string.h>

#include "hosts/core/wire_type.h"
#include "silken/allreduce.h"

// Words of 'bytes'.
static size_t collective_words(size_t bytes) {
    return bytes / 4 + (bytes % 4 != 0);
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
    rc = silken_allreduce_i32(comm, *room, *room, words);
    if (rc != 0)
        free(*room);
    return rc;
}

int silken_broadcast(struct silken_comm *comm, void *data, size_t bytes, uint32_t root) {
    bool sends = silken_rank(comm) == root;
    int32_t *room;
    int rc;

    if (root >= silken_workers(comm) || bytes > SIZE_MAX / 8 || (bytes > 0 && !data))
        return SILKEN_ERR_INVALID;
    rc = collective_place(comm, &room, collective_words(bytes), 0, data, sends ? bytes : 0);
    if (rc != 0)
        return rc;
    if (!sends && bytes > 0)
        memcpy(data, room, bytes);
    free(room);
    return 0;
}

int silken_allgather(struct silken_comm *comm, const void *in, void *out, size_t bytes) {
    uint32_t workers = silken_workers(comm);
    size_t words = collective_words(bytes);
    int32_t *room;
    int rc;

    if (bytes > SIZE_MAX / 8 / workers || (bytes > 0 && (!in || !out)))
        return SILKEN_ERR_INVALID;
    rc = collective_place(comm, &room, workers * words, silken_rank(comm) * words, in, bytes);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < workers && bytes > 0; i++)
        memcpy((char *)out + i * bytes, room + i * words, bytes);
    free(room);
    return 0;
}

int silken_reduce_scatter(struct silken_comm *comm, const void *in, void *out, size_t count,
                          enum silken_type type, enum silken_op op) {
    size_t bytes = sk_type_bytes(type);
    uint32_t workers = silken_workers(comm);
    char *room;
    int rc;

    if (bytes == 0 || count > SIZE_MAX / 32 / workers || (count > 0 && (!in || !out)))
        return SILKEN_ERR_INVALID;
    room = malloc(workers * count * bytes + 1);
    if (!room)
        return SILKEN_ERR_NOMEM;
    rc = silken_allreduce(comm, in, room, workers * count, type, op);
    if (rc == 0 && count > 0)
        memcpy(out, room + silken_rank(comm) * count * bytes, count * bytes);
    free(room);
    return rc;
}

int silken_barrier(struct silken_comm *comm) {
    int32_t *room;
    int rc = collective_place(comm, &room, 1, 0, &(int32_t){1}, sizeof *room);

    if (rc == 0)
        free(room);
    return rc;
}

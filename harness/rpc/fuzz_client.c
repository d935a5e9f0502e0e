// SPDX-License-Identifier: Apache-2.0
//
// fuzz_client: what a server says to a gRPC client: the fuzzer's bytes, as they are, or in frames
// of HTTP/2 that are well formed; all at once, then the end of the connection.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CLIENT_MOST 32768u // what a socket takes without a reader

static void fuzz_client_message(void *aux, const uint8_t *bytes, size_t length) {
    uint64_t *sum = aux;
    for (size_t i = 0; i < length; i++)
        *sum += bytes[i];
}

// What a server says, sent in one piece: a socket takes many bytes, but only some hundred sends.
struct fuzz_client_said {
    size_t n;
    uint8_t bytes[FUZZ_CLIENT_MOST];
};

static void fuzz_client_put(struct fuzz_client_said *said, const void *bytes, size_t n) {
    if (n > sizeof said->bytes - said->n)
        abort();
    memcpy(said->bytes + said->n, bytes, n);
    said->n += n;
}

// A frame for each [type, flags, length] and its bytes.
static void fuzz_client_frames(struct fuzz_client_said *said, const uint8_t *at, size_t n) {
    static const uint8_t settings[9] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    fuzz_client_put(said, settings, sizeof settings);
    while (n >= 3) {
        const size_t length = at[2] < n - 3 ? at[2] : n - 3;
        const uint8_t type = at[0] % 11, stream = type == 4 || type == 6 || type == 7 ? 0 : 1;
        const uint8_t head[9] = {0, 0, (uint8_t)length, type, at[1], 0, 0, 0, stream};
        fuzz_client_put(said, head, sizeof head);
        if (length)
            fuzz_client_put(said, at + 3, length);
        at += 3 + length;
        n -= 3 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct fuzz_client_said said;
    int ends[2];
    struct sk_error err = {""};
    struct rpc_client_end end;
    uint64_t sum = 0;
    if (size < 1 || size > FUZZ_CLIENT_MOST / 8)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        abort();
    said.n = 0;
    if (data[0] % 2)
        fuzz_client_frames(&said, data + 1, size - 1);
    else
        fuzz_client_put(&said, data + 1, size - 1);
    if (said.n > 0 &&
        send(ends[1], said.bytes, said.n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)said.n)
        abort();
    shutdown(ends[1], SHUT_WR);
    struct rpc_client *c = rpc_client_of(ends[0], "fuzz", NULL, &err);
    for (int i = 0; i < 2; i++)
        if (rpc_client_call(c, "/a.B/C", "x", 1, fuzz_client_message, &sum, &end, &err) == 0
                ? strlen(end.message) >= sizeof end.message
                : !err.text[0])
            abort();
    rpc_client_close(c);
    close(ends[1]);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// fuzz_server: a parameter server of Libra, and a worker's link to it, with any frames. Each step
// of the input is a byte that says who gets a frame, and what of the frame is changed: a request or
// a reply as the other one wrote it, so that inputs get past the first checks, or bytes of the
// input alone. Whatever comes, a request is done once, and memory is used as it should be (the
// sanitizers see to that).
#include <stdlib.h>
#include <string.h>

#include "hosts/libra/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
    const uint8_t *at, *end;
};

static uint8_t fuzz_server_byte(struct fuzz_input *in) {
    return in->at < in->end ? *in->at++ : 0;
}

static struct sk_endpoint fuzz_server_end(uint8_t number, uint16_t port) {
    return (struct sk_endpoint){{2, 0, 0, 0, 0, number}, port, 0x0a000000u + number};
}

struct fuzz_job {
    struct libra_server *server;
    struct libra_worker *worker;
    uint8_t frame[LIBRA_COLD_BYTES]; // the last one
    size_t length;
    bool done[64];
    uint32_t out[64][200];
    unsigned requests;
    uint64_t now;
};

static void fuzz_server_submit(struct fuzz_job *job, struct fuzz_input *in) {
    struct libra_cold_pair pairs[200];
    uint64_t keys[200];
    unsigned n = fuzz_server_byte(in) % 200, id = job->requests;
    uint8_t kind = fuzz_server_byte(in) % 3;
    if (id == 64)
        return;
    for (unsigned i = 0; i < n; i++) {
        keys[i] = fuzz_server_byte(in);
        pairs[i] = (struct libra_cold_pair){keys[i], 0x3f800000};
    }
    bool *done = &job->done[id];
    int rc = kind == 0 ? libra_worker_push_keys(job->worker, pairs, n, done, job->now)
             : kind == 1
                 ? libra_worker_pull_keys(job->worker, keys, n, job->out[id], done, job->now)
                 : libra_worker_barrier(job->worker, id, done, job->now);
    job->requests += rc == 0;
}

static void fuzz_server_change(struct fuzz_job *job, struct fuzz_input *in) {
    for (unsigned changes = fuzz_server_byte(in) % 4; changes > 0 && job->length > 0; changes--) {
        size_t at = (size_t)fuzz_server_byte(in) * 8 + fuzz_server_byte(in) % 8;
        job->frame[at % job->length] ^= fuzz_server_byte(in);
    }
    if (fuzz_server_byte(in) == 1) // no checksum, so that what is changed is looked at
        memset(job->frame + 40, 0, 2);
}

static void fuzz_server_step(struct fuzz_job *job, struct fuzz_input *in) {
    size_t length;
    switch (fuzz_server_byte(in) % 6) {
    case 0:
        fuzz_server_submit(job, in);
        break;
    case 1:
        if ((length = libra_worker_write(job->worker, job->frame, sizeof job->frame, job->now)) > 0)
            job->length = length;
        break;
    case 2:
        if ((length = libra_server_write(job->server, job->frame, sizeof job->frame, job->now)) > 0)
            job->length = length;
        break;
    case 3:
        fuzz_server_change(job, in);
        libra_server_read(job->server, job->frame, job->length, job->now);
        break;
    case 4:
        fuzz_server_change(job, in);
        libra_worker_read(job->worker, job->frame, job->length, job->now);
        break;
    default:
        job->now += fuzz_server_byte(in) * UINT64_C(1000000);
        libra_worker_expire(job->worker, job->now);
        libra_server_expire(job->server, job->now);
    }
    for (void *cookie; libra_worker_done(job->worker, &cookie);) {
        bool *done = cookie;
        if (*done)
            abort();
        *done = true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct libra_layout layout;
    const uint64_t hot[] = {1, 4, 9, 16, 25};
    struct sk_error err;
    if (!layout.n && libra_layout_make(&layout, 3, 7, LIBRA_PLACES, hot, 5, &err))
        abort();
    struct fuzz_input in = {data, data + size};
    struct fuzz_job job = {0};
    struct libra_worker_config link = {
        .flow = {fuzz_server_end(1, 41001), fuzz_server_end(9, LIBRA_COLD_PORT), 3, 0, 7},
        .cold = true,
        .first_sequence = 1,
        .window = 4,
        .window_max = 64,
        .rto_initial = 1000000,
        .rto_min = 1000000,
        .rto_max = 100000000,
        .hard_limit = LIBRA_NEVER};
    struct libra_server_config config = {.self = fuzz_server_end(9, LIBRA_COLD_PORT),
                                         .job = 3,
                                         .epoch = 7,
                                         .workers = 2,
                                         .last_key = 255,
                                         .layout = &layout,
                                         .hot = link};
    config.hot.cold = false;
    config.hot.floats = true;
    config.hot.flow =
        (struct libra_flow){fuzz_server_end(9, 41000), fuzz_server_end(200, LIBRA_PORT), 3, 2, 7};
    if (libra_worker_new(&job.worker, &link, NULL) || libra_server_new(&job.server, &config, NULL))
        abort();
    while (in.at < in.end)
        fuzz_server_step(&job, &in);
    libra_worker_free(job.worker);
    libra_server_free(job.server);
    return 0;
}

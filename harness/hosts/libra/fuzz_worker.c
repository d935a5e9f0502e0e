// SPDX-License-Identifier: Apache-2.0
//
// fuzz_worker: a worker of Libra with any frames, times and requests. Each step of the input is a
// byte that says what is done, and what that needs. A frame is the answer to a packet on the way
// with some of its bytes changed, so that inputs get past the first checks. Whatever comes, a
// request is done once, and a pull writes within its own memory (the sanitizers see to that).
#include <stdlib.h>
#include <string.h>

#include "hosts/libra/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUESTS 32u
#define PAIRS    40u

struct fuzz_input {
    const uint8_t *at, *end;
};

static uint8_t fuzz_byte(struct fuzz_input *in) {
    return in->at < in->end ? *in->at++ : 0;
}

struct fuzz_run {
    struct libra_worker *worker;
    uint8_t sent[LIBRA_FRAME_BYTES]; // the last frame
    uint32_t *out[REQUESTS];
    bool done[REQUESTS];
    unsigned requests;
    uint64_t now;
};

static void fuzz_submit(struct fuzz_run *run, struct fuzz_input *in) {
    struct libra_pair pairs[PAIRS];
    uint32_t ranks[PAIRS];
    unsigned n = fuzz_byte(in) % PAIRS, id = run->requests;
    bool pull = fuzz_byte(in) & 1;

    if (id == REQUESTS)
        return;
    for (unsigned i = 0; i < n; i++) {
        ranks[i] = fuzz_byte(in);
        pairs[i] = (struct libra_pair){ranks[i], i};
    }
    run->out[id] = malloc((n ? n : 1) * sizeof(uint32_t)); // exactly: one more is found
    int rc = pull ? libra_worker_pull(run->worker, ranks, n, run->out[id], &run->done[id], run->now)
                  : libra_worker_push(run->worker, pairs, n, &run->done[id], run->now);
    if (rc == 0)
        run->requests++;
    else
        free(run->out[id]);
}

// The last frame turned round, as a switch does it, with some bytes changed.
static void fuzz_answer(struct fuzz_run *run, struct fuzz_input *in) {
    uint8_t frame[LIBRA_FRAME_BYTES], swap[6];
    size_t length = fuzz_byte(in);
    bool pull = run->sent[42] >> 4 == LIBRA_PULL;

    memcpy(frame, run->sent, sizeof frame);
    memcpy(swap, frame, 6), memcpy(frame, frame + 6, 6), memcpy(frame + 6, swap, 6);
    memcpy(swap, frame + 26, 4), memcpy(frame + 26, frame + 30, 4), memcpy(frame + 30, swap, 4);
    memcpy(swap, frame + 34, 2), memcpy(frame + 34, frame + 36, 2), memcpy(frame + 36, swap, 2);
    frame[42] = (uint8_t)(frame[42] & 15) | (uint8_t)((pull ? LIBRA_ANSWER : LIBRA_ACK) << 4);
    for (unsigned changes = fuzz_byte(in) % 4; changes > 0; changes--)
        frame[fuzz_byte(in) % sizeof frame] ^= fuzz_byte(in);
    length = length > sizeof frame || length == 0 ? sizeof frame : length;
    libra_worker_read(run->worker, frame, length, run->now);
}

static void fuzz_take_done(struct fuzz_run *run) {
    for (void *cookie; libra_worker_done(run->worker, &cookie);) {
        bool *done = cookie;
        if (*done)
            abort();
        *done = true;
    }
}

static void fuzz_step(struct fuzz_run *run, struct fuzz_input *in) {
    switch (fuzz_byte(in) % 5) {
    case 0:
        fuzz_submit(run, in);
        break;
    case 1:
        libra_worker_write(run->worker, run->sent, sizeof run->sent, run->now);
        break;
    case 2:
        fuzz_answer(run, in);
        break;
    case 3:
        run->now += (uint64_t)fuzz_byte(in) << (fuzz_byte(in) % 32);
        break;
    default:
        if (libra_worker_deadline(run->worker) < run->now)
            libra_worker_expire(run->worker, run->now);
    }
    fuzz_take_done(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, data + size};
    struct fuzz_run run = {.requests = 0};
    const struct libra_worker_config config = {
        .flow = {{{2, 0, 0, 0, 0, 1}, 40000, 1}, {{2, 0, 0, 0, 0, 2}, LIBRA_PORT, 2}, 3, 4, 5},
        .first_sequence = 1u + fuzz_byte(&in),
        .window = 4,
        .window_max = LIBRA_WINDOW_MOST,
        .rto_initial = 1000,
        .rto_min = 100,
        .rto_max = 1000000,
        .hard_limit = UINT64_C(1) << 40,
    };

    if (libra_worker_new(&run.worker, &config, NULL))
        abort();
    while (in.at < in.end)
        fuzz_step(&run, &in);
    libra_worker_free(run.worker);
    for (unsigned i = 0; i < run.requests; i++)
        free(run.out[i]);
    return 0;
}

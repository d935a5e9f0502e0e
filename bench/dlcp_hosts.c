// SPDX-License-Identifier: Apache-2.0
#include "bench/dlcp_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "hosts/dlcp/dlcp.h"

#define COUNT                                                                                      \
    ((uint32_t)8 << 20) // elements of the sent tensor: 32 MiB, more than caches near the core hold
#define BURST    32u
#define SEGMENTS 512u // of the received one: frames of 775 KB
#define LINK     UINT64_C(1000000000000)

static const struct sk_endpoint worker = {{2, 0, 0, 0, 0, 1}, DLCP_PORT, 0x0a000001};
static const struct sk_endpoint server = {{2, 0, 0, 0, 0, 9}, DLCP_PORT, 0x0a000009};
static const struct dlcp_name name = {.iteration = 3, .tensor = 1, .job = 1};

static void dlcp_hosts_give_up(const char *sentence) __attribute__((noreturn));
static void dlcp_hosts_give_up(const char *sentence) {
    fprintf(stderr, "bench: %s\n", sentence);
    exit(1);
}

static float dlcp_hosts_value(size_t i) {
    return (float)((int)(i * 2654435761u % 2000001) - 1000000) * 1e-6f;
}

static void dlcp_hosts_peer(struct dlcp_peer *peer) {
    // nothing is repeated
    dlcp_peer_init(peer, 50000, 4, SK_TIME_NEVER / 4, SK_TIME_NEVER / 4, SK_TIME_NEVER / 4);
}

static struct dlcp_sender_config dlcp_hosts_sender(struct dlcp_peer *peer, const float *values,
                                                   uint32_t elements) {
    return (struct dlcp_sender_config){.name = name,
                                       .peer = peer,
                                       .values = values,
                                       .elements = elements,
                                       .segment = DLCP_ELEMENTS,
                                       .bound = DLCP_ALL / 10,
                                       .class = 2,
                                       .contributions = 1,
                                       .link = LINK,
                                       .period = 200000,
                                       .hard_limit = SK_TIME_NEVER};
}

static struct dlcp_receiver_config dlcp_hosts_receiver(struct dlcp_peer *peer, uint32_t elements,
                                                       struct dlcp_sums *sums) {
    return (struct dlcp_receiver_config){.name = name,
                                         .peer = peer,
                                         .elements = elements,
                                         .segment = DLCP_ELEMENTS,
                                         .bound = 0,
                                         .place = dlcp_sums_place,
                                         .place_aux = sums,
                                         .period = 200000,
                                         .hard_limit = SK_TIME_NEVER};
}

// ---- the sender ----

struct dlcp_bench_worker {
    struct dlcp_peer peer;
    float *in;
    struct dlcp_packet packet;
    uint8_t frames[BURST][DLCP_FRAME_BYTES];
};

static uint64_t dlcp_hosts_send(struct dlcp_bench_worker *b,
                                void (*look)(void *aux, const uint8_t *), void *aux) {
    const struct dlcp_sender_config c = dlcp_hosts_sender(&b->peer, b->in, COUNT);
    struct dlcp_sender *s;
    uint64_t now = 1, data = 0;
    if (dlcp_sender_new(&s, &c, now, NULL))
        dlcp_hosts_give_up("no memory");
    while (dlcp_sender_state(s) == DLCP_SENDER_SENDING) {
        now += 1000000;
        if (!dlcp_sender_next(s, now, &b->packet))
            continue;
        uint8_t *frame = b->frames[data % BURST];
        dlcp_frame_write(frame, &worker, &server, &b->packet);
        if (look)
            look(aux, frame);
        data += b->packet.kind == DLCP_DATA;
    }
    dlcp_sender_free(s);
    return data;
}

struct dlcp_hosts_check {
    struct dlcp_receiver *receiver;
    struct dlcp_packet packet;
};

static void dlcp_hosts_look(void *aux, const uint8_t *frame) {
    struct dlcp_hosts_check *check = aux;
    struct sk_endpoint from;
    const size_t length = (size_t)(frame[16] << 8 | frame[17]) + 14;
    if (dlcp_frame_read(frame, length, &server, &check->packet, &from) != DLCP_ACCEPTED ||
        dlcp_receiver_hear(check->receiver, &check->packet, 1) != DLCP_ACCEPTED)
        dlcp_hosts_give_up("DLCP's sender sent what its receiver does not take");
}

static void dlcp_hosts_check_sender(struct dlcp_bench_worker *b) {
    static struct dlcp_hosts_check check;
    struct dlcp_peer peer;
    const uint32_t segments = dlcp_segments(COUNT, DLCP_ELEMENTS);
    struct dlcp_sums sums = {calloc(COUNT, sizeof(float)), calloc(segments, sizeof(uint16_t)),
                             DLCP_ELEMENTS};
    dlcp_hosts_peer(&peer);
    const struct dlcp_receiver_config c = dlcp_hosts_receiver(&peer, COUNT, &sums);
    if (!sums.sum || !sums.contributions || dlcp_receiver_new(&check.receiver, &c, 1, NULL))
        dlcp_hosts_give_up("no memory");
    if (dlcp_hosts_send(b, dlcp_hosts_look, &check) != segments ||
        memcmp(sums.sum, b->in, COUNT * sizeof(float)) != 0)
        dlcp_hosts_give_up("DLCP's sender sent another tensor than its own");
    dlcp_receiver_free(check.receiver);
    free(sums.sum);
    free(sums.contributions);
}

struct dlcp_bench_worker *dlcp_bench_worker_new(void) {
    struct dlcp_bench_worker *b = calloc(1, sizeof *b);
    if (b)
        b->in = aligned_alloc(64, COUNT * sizeof *b->in);
    if (!b || !b->in)
        dlcp_hosts_give_up("no memory");
    for (size_t i = 0; i < COUNT; i++)
        b->in[i] = dlcp_hosts_value(i);
    dlcp_hosts_peer(&b->peer);
    dlcp_hosts_check_sender(b);
    return b;
}

void dlcp_bench_worker_free(struct dlcp_bench_worker *b) {
    free(b->in);
    free(b);
}

uint64_t dlcp_bench_worker_work(void *aux, uint64_t times) {
    uint64_t data = 0;
    for (uint64_t t = 0; t < times; t++)
        data += dlcp_hosts_send(aux, NULL, NULL);
    return data;
}

// ---- the receiver ----

struct dlcp_bench_server {
    struct dlcp_peer peer;
    struct dlcp_sums sums; // owned
    struct dlcp_packet packet;
    uint8_t start[DLCP_FRAME_BYTES];
    size_t start_length;
    uint8_t (*frames)[DLCP_FRAME_BYTES]; // owned: of SEGMENTS packets
};

static void dlcp_hosts_read(struct dlcp_bench_server *b, struct dlcp_receiver *r,
                            const uint8_t *frame, size_t length) {
    struct sk_endpoint from;
    if (dlcp_frame_read(frame, length, &server, &b->packet, &from) != DLCP_ACCEPTED ||
        dlcp_receiver_hear(r, &b->packet, 1) != DLCP_ACCEPTED)
        dlcp_hosts_give_up("DLCP's receiver does not take a packet");
}

// A tensor of one worker.
static void dlcp_hosts_receive(struct dlcp_bench_server *b) {
    const struct dlcp_receiver_config c =
        dlcp_hosts_receiver(&b->peer, SEGMENTS * DLCP_ELEMENTS, &b->sums);
    struct dlcp_receiver *r;
    if (dlcp_receiver_new(&r, &c, 1, NULL))
        dlcp_hosts_give_up("no memory");
    dlcp_hosts_read(b, r, b->start, b->start_length);
    for (unsigned i = 0; i < SEGMENTS; i++)
        dlcp_hosts_read(b, r, b->frames[i], DLCP_FRAME_BYTES);
    if (dlcp_receiver_state(r) != DLCP_RECEIVER_ENOUGH)
        dlcp_hosts_give_up("DLCP's receiver has not enough");
    dlcp_receiver_free(r);
}

static void dlcp_hosts_make_frames(struct dlcp_bench_server *b, const float *values) {
    const struct dlcp_sender_config c =
        dlcp_hosts_sender(&b->peer, values, SEGMENTS * DLCP_ELEMENTS);
    struct dlcp_sender *s;
    unsigned n = 0;
    if (dlcp_sender_new(&s, &c, 1, NULL))
        dlcp_hosts_give_up("no memory");
    for (uint64_t now = 1; n < SEGMENTS; now += 1000000)
        while (dlcp_sender_next(s, now, &b->packet)) {
            if (b->packet.kind == DLCP_START)
                b->start_length = dlcp_frame_write(b->start, &worker, &server, &b->packet);
            else if (b->packet.kind == DLCP_DATA)
                dlcp_frame_write(b->frames[n++], &worker, &server, &b->packet);
        }
    dlcp_sender_free(s);
}

struct dlcp_bench_server *dlcp_bench_server_new(void) {
    const size_t count = (size_t)SEGMENTS * DLCP_ELEMENTS;
    struct dlcp_bench_server *b = calloc(1, sizeof *b);
    float *values = malloc(count * sizeof *values);
    if (b) {
        b->frames = malloc(SEGMENTS * sizeof *b->frames);
        b->sums = (struct dlcp_sums){calloc(count, sizeof(float)),
                                     calloc(SEGMENTS, sizeof(uint16_t)), DLCP_ELEMENTS};
    }
    if (!b || !values || !b->frames || !b->sums.sum || !b->sums.contributions)
        dlcp_hosts_give_up("no memory");
    for (size_t i = 0; i < count; i++)
        values[i] = dlcp_hosts_value(i);
    dlcp_hosts_peer(&b->peer);
    dlcp_hosts_make_frames(b, values);
    dlcp_hosts_receive(b);
    dlcp_hosts_receive(b);
    for (size_t i = 0; i < count; i++)
        if (b->sums.sum[i] != 2 * values[i] || b->sums.contributions[i / DLCP_ELEMENTS] != 2)
            dlcp_hosts_give_up("DLCP's receiver has a wrong sum");
    free(values);
    return b;
}

void dlcp_bench_server_free(struct dlcp_bench_server *b) {
    free(b->frames);
    free(b->sums.sum);
    free(b->sums.contributions);
    free(b);
}

// The sums begin anew each time, as a server's do.
uint64_t dlcp_bench_server_work(void *aux, uint64_t times) {
    struct dlcp_bench_server *b = aux;
    for (uint64_t t = 0; t < times; t++) {
        memset(b->sums.contributions, 0, SEGMENTS * sizeof *b->sums.contributions);
        dlcp_hosts_receive(b);
    }
    return times * SEGMENTS;
}

// ---- the keys ----

void measure_dlcp_worker(const struct bench_options *opt, json_t *result) {
    struct dlcp_bench_worker *b = dlcp_bench_worker_new();
    struct bench_side side = {.name = "dlcp_worker", .work = dlcp_bench_worker_work, .aux = b};
    // a trial is a tensor
    const size_t n = bench_trials(&side, 1, opt->seconds, 1e8);
    bench_put_packets(result, side.ns, n, DLCP_FRAME_BYTES);
    bench_note(
        result,
        "a tensor of %u MiB of float32, tags of all its packets with it; gbps are on the wire",
        (unsigned)(COUNT * sizeof(float) >> 20));
    bench_sides_free(&side, 1);
    dlcp_bench_worker_free(b);
}

void measure_dlcp_server(const struct bench_options *opt, json_t *result) {
    struct dlcp_bench_server *b = dlcp_bench_server_new();
    struct bench_side side = {.name = "dlcp_server", .work = dlcp_bench_server_work, .aux = b};
    const size_t n = bench_trials(&side, 1, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, side.ns, n, DLCP_FRAME_BYTES);
    bench_note(result, "a tensor of %u packets is added to a server's sums; gbps are on the wire",
               SEGMENTS);
    bench_sides_free(&side, 1);
    dlcp_bench_server_free(b);
}

// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/atp/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "rig: %s\n", what);
        abort();
    }
}

struct atp_flow rig_flow(unsigned worker) {
    return (struct atp_flow){
        .worker = {{2, 0, 0, 0, 1, (uint8_t)worker}, ATP_UDP_PORT, 0x0a000001 + worker},
        .server = {{2, 0, 0, 0, 0xee, 1}, ATP_UDP_PORT, 0x0a00fe01},
        .group = {{1, 0, 0x5e, 0, 0, 7}, ATP_UDP_PORT, 0xef000007},
        .job = RIG_JOB,
    };
}

struct atp_worker_config rig_worker_config(unsigned worker, unsigned workers) {
    struct atp_worker_config c;

    atp_worker_config_init(&c);
    c.flow = rig_flow(worker);
    c.rank = worker;
    c.place = (struct atp_place){
        .bitmap0 = UINT32_C(1) << worker, .bitmap1 = 1, .fan_in0 = (uint8_t)workers, .fan_in1 = 1};
    c.window = 8;
    c.window_max = 16;
    c.rto_initial = c.rto_min = 1000000;
    c.rto_max = 8000000;
    return c;
}

struct atp_server_config rig_server_config(unsigned workers) {
    uint32_t rack_of[ATP_MAX_WORKERS] = {0};
    struct atp_server_config c;

    atp_server_config_init(&c);
    c.flow = rig_flow(0);
    must(atp_places(rack_of, workers, 0, &c.shape, NULL, NULL) == 0, "places");
    c.window_max = 16;
    return c;
}

struct atp_worker *rig_worker(const struct atp_worker_config *config) {
    const char *why = "";
    struct atp_worker *w = NULL;
    int rc = atp_worker_new(&w, config, &why);

    must(rc == 0, why);
    return w;
}

struct atp_server *rig_server(const struct atp_server_config *config) {
    const char *why = "";
    struct atp_server *s = NULL;
    int rc = atp_server_new(&s, config, &why);

    must(rc == 0, why);
    return s;
}

bool rig_sent(struct atp_worker *w, uint64_t now, uint8_t *frame, struct atp_packet *packet) {
    struct atp_flow flow = rig_flow(0);
    size_t len = atp_worker_write(w, frame, ATP_FRAME_BYTES, now);

    if (len == 0)
        return false;
    must(atp_frame_check(&flow.server, frame, len, packet) == ATP_ACCEPTED, "a worker's frame");
    return true;
}

bool rig_answer(struct atp_server *s, uint64_t now, uint8_t *frame, struct atp_packet *packet) {
    struct atp_flow flow = rig_flow(0);
    size_t len = atp_server_write(s, frame, ATP_FRAME_BYTES, now);

    if (len == 0)
        return false;
    must(atp_frame_check(&flow.group, frame, len, packet) == ATP_ACCEPTED, "a server's frame");
    return true;
}

static void write_values(uint8_t *out, const uint32_t *values) {
    for (unsigned i = 0; i < ATP_VALUES; i++) {
        uint32_t v = values ? values[i] : 0;
        for (int b = 0; b < 4; b++)
            out[4 * i + (unsigned)b] = (uint8_t)(v >> (24 - 8 * b));
    }
}

static struct atp_packet filled(const struct atp_packet *packet) {
    struct atp_packet p = *packet;

    p.job = p.job ? p.job : RIG_JOB;
    p.fan_in0 = p.fan_in0 ? p.fan_in0 : 1;
    p.fan_in1 = p.fan_in1 ? p.fan_in1 : 1;
    return p;
}

enum atp_reason rig_give(struct atp_worker *w, const struct atp_packet *packet,
                         const uint32_t *values, uint64_t now) {
    struct atp_flow flow = rig_flow(0);
    struct atp_packet p = filled(packet);
    uint8_t frame[ATP_FRAME_BYTES];

    p.is_ack = true;
    atp_frame_init(frame, &flow, false);
    atp_frame_set(frame, &p);
    write_values(frame + ATP_HEADER_BYTES, values);
    return atp_worker_read(w, frame, sizeof frame, now);
}

enum atp_reason rig_push(struct atp_server *s, unsigned from, const struct atp_packet *packet,
                         const uint32_t *values, uint64_t now) {
    struct atp_flow flow = rig_flow(from);
    struct atp_packet p = filled(packet);
    uint8_t frame[ATP_FRAME_BYTES];

    p.edge = true;
    atp_frame_init(frame, &flow, true);
    atp_frame_set(frame, &p);
    write_values(frame + ATP_HEADER_BYTES, values);
    return atp_server_read(s, frame, sizeof frame, now);
}

uint32_t rig_value(const struct atp_packet *packet, unsigned i) {
    const uint8_t *p = packet->values + 4 * (size_t)i;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint32_t rig_bits(float x) {
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

float rig_float(uint32_t bits) {
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

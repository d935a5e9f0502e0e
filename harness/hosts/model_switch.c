// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/model_switch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/core/halves.h"
#include "hosts/core/udp.h"
#include "switchml_wire.h"

#define IPV4_AT      ETHERNET_H_BYTES
#define UDP_AT       (IPV4_AT + IPV4_H_BYTES)
#define SWITCHML_AT  (UDP_AT + UDP_H_BYTES)
#define EXPONENTS_AT (SWITCHML_AT + SWITCHML_H_BYTES)

// One version of one slot.
struct copy {
    uint32_t values[SWML_MAX_K];
    uint32_t seen; // bit per worker
    uint32_t count;
    int8_t e0, e1;
};

struct model {
    struct sut_job job;
    struct copy (*pool)[2]; // by slot, then by version
};

static int model_reset(void *state, const struct sut_job *job) {
    struct model *m = state;

    free(m->pool);
    m->job = *job;
    m->pool = calloc(job->pool_base + job->pool_size, sizeof *m->pool);
    if (!m->pool)
        abort();
    return 0;
}

// Elements are added as they are on the wire, or halves as numbers (hosts/core/halves.h).
static uint32_t load(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static int8_t max_of(int8_t a, int8_t b) {
    return a > b ? a : b;
}

// Lines 9 to 12 of the algorithm: the first packet writes, the others add. 'empty': zeros.
static void aggregate(struct copy *c, const uint8_t *frame, unsigned k, bool first, bool empty,
                      bool halves) {
    const uint8_t *elements = frame + SWML_HEADER_BYTES;
    int8_t e0 = (int8_t)exponents_h_get_e0(frame + EXPONENTS_AT);
    int8_t e1 = (int8_t)exponents_h_get_e1(frame + EXPONENTS_AT);

    for (unsigned i = 0; i < k && !halves; i++)
        c->values[i] = (empty ? 0 : load(elements + 4 * i)) + (first ? 0 : c->values[i]);
    for (unsigned i = 0; i < k && halves; i++)
        c->values[i] = (uint32_t)sk_half_add(
            sk_half_number((uint16_t)(elements[2 * i] << 8 | elements[2 * i + 1])),
            first ? 0 : (int32_t)c->values[i]);
    c->e0 = first ? e0 : max_of(c->e0, e0);
    c->e1 = first ? e1 : max_of(c->e1, e1);
}

static uint64_t mac_number(const uint8_t mac[6]) {
    uint64_t n = 0;

    for (int i = 0; i < 6; i++)
        n = n << 8 | mac[i];
    return n;
}

// Turns the update in 'frame' into the answer to the worker on 'port'.
static void readdress(const struct model *m, uint8_t *frame, unsigned port) {
    const struct swml_flow *flow = &m->job.flow[port];
    uint8_t *ipv4 = frame + IPV4_AT, *udp = frame + UDP_AT;

    ethernet_h_set_dst_addr(frame, mac_number(flow->worker.mac));
    ethernet_h_set_src_addr(frame, mac_number(flow->fabric.mac));
    ipv4_h_set_dst_addr(ipv4, flow->worker.ip);
    ipv4_h_set_src_addr(ipv4, flow->fabric.ip);
    ipv4_h_set_hdr_checksum(ipv4, 0);
    ipv4_h_set_hdr_checksum(ipv4, sk_checksum(ipv4, IPV4_H_BYTES));
    udp_h_set_dst_port(udp, flow->worker.port);
    udp_h_set_src_port(udp, flow->fabric.port);
}

// 'brief': without elements.
static void answer(const struct model *m, uint8_t *frame, bool brief, unsigned port, sut_emit *emit,
                   void *context) {
    size_t len = brief ? SWML_HEADER_BYTES : swml_frame_bytes(&m->job.flow[0]);

    ipv4_h_set_total_len(frame + IPV4_AT, (uint16_t)(len - IPV4_AT));
    udp_h_set_length(frame + UDP_AT, (uint16_t)(len - UDP_AT));
    readdress(m, frame, port);
    emit(context, port, frame, len);
}

// What the packet says: whether worker 'port' gets the result without its elements.
static bool gets_brief(const uint8_t *frame, unsigned port) {
    unsigned audience = exponents_h_get_e1(frame + EXPONENTS_AT);

    if (switchml_h_get_msg_type(frame + SWITCHML_AT) < SWML_COLLECTIVE)
        return false;
    if (audience < SWML_ALL_BUT)
        return port != audience;
    return audience == SWML_NOBODY || port == audience - SWML_ALL_BUT;
}

static bool is_empty(const uint8_t *frame) {
    unsigned type = switchml_h_get_msg_type(frame + SWITCHML_AT);

    return type >= SWML_COLLECTIVE && (type & SWML_EMPTY);
}

static void fill_in_result(const struct copy *c, uint8_t *frame, const struct swml_flow *flow) {
    uint8_t *elements = frame + SWML_HEADER_BYTES;

    for (unsigned i = 0; i < flow->k && !flow->halves; i++)
        store(elements + 4 * i, c->values[i]);
    for (unsigned i = 0; i < flow->k && flow->halves; i++) {
        const uint16_t half = sk_half_of_sum((int32_t)c->values[i]);
        elements[2 * i] = (uint8_t)(half >> 8);
        elements[2 * i + 1] = (uint8_t)half;
    }
    exponents_h_set_e0(frame + EXPONENTS_AT, (uint8_t)c->e0);
    exponents_h_set_e1(frame + EXPONENTS_AT, (uint8_t)c->e1);
}

static void update(struct model *m, struct copy copies[2], bool version, unsigned port,
                   uint8_t *frame, sut_emit *emit, void *context) {
    struct copy *c = &copies[version];
    uint32_t bit = UINT32_C(1) << port;
    const struct swml_flow *flow = &m->job.flow[0];
    unsigned n = m->job.workers;

    if (c->seen & bit) { // lines 18 to 23: a packet we know
        if (c->count == 0) {
            bool brief = gets_brief(frame, port);
            fill_in_result(c, frame, flow);
            answer(m, frame, brief, port, emit, context);
        }
        return;
    }
    c->seen |= bit;
    copies[!version].seen &= ~bit;
    c->count = (c->count + 1) % n;
    aggregate(c, frame, flow->k, c->count == 1 % n, is_empty(frame), flow->halves);
    if (c->count == 0) {
        bool brief[SUT_MAX_WORKERS];
        for (unsigned i = 0; i < n; i++)
            brief[i] = gets_brief(frame, i);
        fill_in_result(c, frame, flow);
        for (unsigned i = 0; i < n; i++)
            answer(m, frame, brief[i], i, emit, context);
    }
}

static void model_deliver(void *state, unsigned port, const uint8_t *frame, size_t len,
                          uint64_t now, sut_emit *emit, void *context) {
    struct model *m = state;
    uint8_t copy[SWML_MAX_FRAME];
    uint16_t index;
    uint32_t slot;

    (void)now;
    if (len < SWML_HEADER_BYTES || port >= m->job.workers ||
        len != (is_empty(frame) ? SWML_EMPTY_FRAME : swml_frame_bytes(&m->job.flow[0])))
        return;
    memcpy(copy, frame, len);
    index = switchml_h_get_pool_index(frame + SWITCHML_AT);
    slot = index & 0x7fff;
    if (slot >= m->job.pool_base && slot < m->job.pool_base + m->job.pool_size)
        update(m, m->pool[slot], index >> 15, port, copy, emit, context);
}

static void model_free(void *state) {
    struct model *m = state;

    free(m->pool);
    free(m);
}

struct switch_under_test model_switch_new(void) {
    struct model *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    return (struct switch_under_test){
        .name = "model",
        .state = m,
        .reset = model_reset,
        .deliver = model_deliver,
        .free = model_free,
    };
}

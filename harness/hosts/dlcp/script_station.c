// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "harness/hosts/dlcp/any_packet.h"
#include "harness/hosts/dlcp/scripts.h"
#include "hosts/core/udp.h"

#define FLOWS   4u
#define LARGEST 64u // elements
#define SEGMENT 16u
#define FRAMES  100u // written in a row, at most
#define NONCE   0x7ffffff0u

struct script_flow {
    struct dlcp_flow *flow; // NULL: none
    bool sends, over;       // over: the station has said so
    struct dlcp_name name;
    uint32_t elements, bound, placed;
    bool has[LARGEST];
    uint32_t signal; // the number of the last one that the station has sent
};

struct script_rig {
    struct script in;
    struct script_reach *reach;
    struct dlcp_station *station;
    struct script_flow flow[FLOWS];
    float values[LARGEST];
    uint64_t now, refused;
    uint32_t iteration;
};

static const struct sk_endpoint self = {{2, 0, 0, 0, 0, 1}, DLCP_PORT, 0x0a000001};
static const struct sk_endpoint peer = {{2, 0, 0, 0, 0, 2}, DLCP_PORT, 0x0a000002};
static const struct sk_endpoint stranger = {{2, 0, 0, 0, 0, 3}, DLCP_PORT, 0x0a000003};

static void rig_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                      uint16_t contributions) {
    struct script_flow *f = aux;
    if (!wire || !contributions || offset + count > f->elements)
        abort();
    for (uint32_t i = offset; i < offset + count; i++) {
        if (f->has[i])
            abort();
        f->has[i] = true;
    }
    f->placed += count;
}

static void rig_begin_flow(struct script_rig *rig, struct script_flow *f) {
    const unsigned number = (unsigned)(f - rig->flow);
    struct dlcp_flow *flow;
    int rc;
    *f = (struct script_flow){.sends = number % 2,
                              .elements = 1 + script_byte(&rig->in) % LARGEST,
                              .bound = script_byte(&rig->in) * 3000u};
    f->name = (struct dlcp_name){.iteration = ++rig->iteration, .tensor = (uint16_t)number};
    if (f->sends) {
        const struct dlcp_sender_config c = {.name = f->name,
                                             .values = rig->values,
                                             .elements = f->elements,
                                             .segment = SEGMENT,
                                             .bound = f->bound,
                                             .class = (uint8_t)number,
                                             .contributions = 1};
        rc = dlcp_station_send(rig->station, &peer, &c, f, rig->now, &flow, NULL);
    } else {
        const struct dlcp_receiver_config c = {.name = f->name,
                                               .elements = f->elements,
                                               .segment = SEGMENT,
                                               .bound = f->bound,
                                               .place = rig_place,
                                               .place_aux = f};
        rc = dlcp_station_recv(rig->station, &peer, &c, f, rig->now, &flow, NULL);
    }
    if (rc)
        abort();
    f->flow = flow;
}

// What a flow says when it has ended, and that it says so once.
static void rig_hear_ends(struct script_rig *rig) {
    struct dlcp_flow *flow;
    while ((flow = dlcp_station_done(rig->station))) {
        struct script_flow *f = dlcp_flow_cookie(flow);
        const bool failed = dlcp_flow_failed(flow);
        if (f->flow != flow || f->over)
            abort();
        f->over = true;
        if (!f->sends && !failed && f->placed < dlcp_needed(f->elements, f->bound))
            abort();
        rig->reach->failed += failed;
        rig->reach->met += !failed;
    }
}

static void rig_give_back(struct script_rig *rig, struct script_flow *f) {
    dlcp_station_give_back(rig->station, f->flow);
    f->flow = NULL;
}

// What the station sends: the other end reads it, and data are of a flow's tensor.
static void rig_take_frames(struct script_rig *rig) {
    static struct dlcp_packet p;
    uint8_t frame[DLCP_FRAME_BYTES];
    struct sk_endpoint from;
    size_t length;
    for (unsigned n = 0;
         n < FRAMES && (length = dlcp_station_write(rig->station, frame, sizeof frame, rig->now));
         n++) {
        const bool is_peers = frame[5] == peer.mac[5];
        if (dlcp_frame_read(frame, length, is_peers ? &peer : &stranger, &p, &from) !=
            DLCP_ACCEPTED)
            abort();
        struct script_flow *f = &rig->flow[p.name.tensor % FLOWS];
        if (!f->flow || !dlcp_name_is(f->name, p.name))
            continue; // it answers, or one that was given back goes on
        if (p.kind == DLCP_DATA &&
            (!f->sends || p.offset % SEGMENT || p.offset >= f->elements ||
             p.count != dlcp_segment_count(f->elements, SEGMENT, p.offset / SEGMENT)))
            abort();
        if (p.kind != DLCP_DATA && p.kind != DLCP_ACK)
            f->signal = p.sequence;
    }
}

// Changes some bytes, and puts the checksums right again or not.
static size_t rig_damage(struct script_rig *rig, uint8_t *frame, size_t length) {
    struct script *in = &rig->in;
    for (unsigned n = 1 + script_byte(in) % 3; n > 0; n--)
        frame[script_number(in) % length] ^= script_byte(in);
    if (script_byte(in) % 4) {
        frame[24] = frame[25] = frame[40] = frame[41] = 0;
        const uint16_t sum = sk_checksum(frame + 14, 20);
        frame[24] = (uint8_t)(sum >> 8);
        frame[25] = (uint8_t)sum;
    }
    return script_byte(in) % 4 ? length : script_number(in) % (length + 1);
}

static void rig_hear(struct script_rig *rig, struct dlcp_packet *p) {
    uint8_t frame[DLCP_FRAME_BYTES], *exact;
    const unsigned how = script_byte(&rig->in);
    size_t length = dlcp_frame_write(frame, how % 16 == 0 ? &stranger : &peer, &self, p);
    if (how >= 224)
        length = rig_damage(rig, frame, length);
    if (!(exact = malloc(length ? length : 1)))
        abort();
    if (length)
        memcpy(exact, frame, length);
    const enum dlcp_reason reason = dlcp_station_read(rig->station, exact, length, rig->now);
    rig->reach->heard[reason]++;
    rig->refused += reason != DLCP_ACCEPTED;
    free(exact);
}

// A packet for one of the flows, or for one that was, or is to be.
static void rig_hear_any(struct script_rig *rig, struct script_flow *f) {
    static struct dlcp_packet p;
    const uint32_t elements = f->elements ? f->elements : LARGEST;
    struct dlcp_name name = f->name;
    name.tensor = (uint16_t)(f - rig->flow);
    name.iteration += script_byte(&rig->in) % 8 == 0;
    any_packet(&p, &rig->in, name, elements, SEGMENT, NONCE);
    if (p.kind == DLCP_ACK && script_byte(&rig->in) % 2)
        p.sequence = f->signal;
    rig_hear(rig, &p);
}

// All of a tensor, as a good sender has it: START, data, STOP.
static void rig_hear_tensor(struct script_rig *rig, const struct script_flow *f) {
    static struct dlcp_packet p;
    p = (struct dlcp_packet){.name = f->name, .kind = DLCP_START, .port = 50000, .count = 3};
    p.entry[0] = (struct dlcp_entry){f->elements, f->bound};
    p.entry[1] = (struct dlcp_entry){SEGMENT, NONCE};
    p.entry[2] = (struct dlcp_entry){50000, 1};
    rig_hear(rig, &p);
    for (uint32_t i = 0; i < dlcp_segments(f->elements, SEGMENT); i++) {
        p = (struct dlcp_packet){.name = f->name,
                                 .kind = DLCP_DATA,
                                 .port = 50000,
                                 .offset = i * SEGMENT,
                                 .count = (uint16_t)dlcp_segment_count(f->elements, SEGMENT, i),
                                 .contributions = 1,
                                 .sequence = i};
        rig_hear(rig, &p);
    }
    p = (struct dlcp_packet){.name = f->name, .kind = DLCP_STOP, .port = 50000, .sequence = 1};
    rig_hear(rig, &p);
}

static void rig_step(struct script_rig *rig) {
    const unsigned what = script_byte(&rig->in);
    struct script_flow *f = &rig->flow[what % FLOWS];
    if (what < 32 && !f->flow)
        rig_begin_flow(rig, f);
    else if (what < 48 && f->flow)
        rig_give_back(rig, f);
    else if (what < 64 && f->flow && !f->sends)
        rig_hear_tensor(rig, f);
    else if (what < 80)
        rig->now += script_number(&rig->in) * UINT64_C(100000);
    else
        rig_hear_any(rig, f);
    if (script_byte(&rig->in) % 2)
        rig_take_frames(rig);
    rig_hear_ends(rig);
    rig->now += script_byte(&rig->in) * UINT64_C(1000);
}

static void rig_check_counters(const struct script_rig *rig) {
    const struct dlcp_station_stats stats = dlcp_station_stats(rig->station);
    uint64_t refused = 0;
    for (int i = 0; i < DLCP_REASON_COUNT; i++)
        refused += stats.refused[i];
    if (refused != rig->refused)
        abort();
}

void script_station(const uint8_t *data, size_t size, struct script_reach *reach) {
    struct script_rig rig = {.in = {data, size, 0}, .reach = reach, .iteration = 5};
    const struct dlcp_station_config c = {.self = self,
                                          .first_port = 50000,
                                          .ports = (uint16_t)(1 + script_byte(&rig.in) % 4),
                                          .link = UINT64_C(1000000000),
                                          .period = 200000,
                                          .rto_initial = 1000000,
                                          .rto_min = 100000,
                                          .rto_max = 50000000,
                                          .hard_limit = 1000000000,
                                          .nonce = NONCE};
    if (dlcp_station_new(&rig.station, &c, NULL))
        abort();
    while (rig.in.at < rig.in.len)
        rig_step(&rig);
    rig_check_counters(&rig);
    dlcp_station_free(rig.station);
}

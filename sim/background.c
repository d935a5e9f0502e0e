// SPDX-License-Identifier: Apache-2.0
//
// Traffic besides the jobs: ordinary UDP frames from one host to another, so many a second or as
// many as the sender's link takes. Nobody answers them.
#include <stdlib.h>
#include <string.h>

#include "hosts/core/udp.h"
#include "sim/sim.h"

#define UDP_PORT 9 // discard

struct source {
    struct sim_app app;
    struct sim *sim;
    const struct scn_background *as;
    uint64_t from_ns, until_ns, gap_ns, next_ns; // gap 0: as fast as it goes
    uint64_t sent, received, received_bytes;
    bool routed; // to the sender's gateway, once that is known
    bool waits;  // for it
    uint16_t flow;
    uint8_t frame[SIM_MAX_FRAME];
    struct sim_app sink; // at the other end
};

static struct source *source_of_sink(struct sim_app *a) {
    return (struct source *)((char *)a - offsetof(struct source, sink));
}

static bool wants_nothing(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    (void)a;
    (void)frame;
    (void)length;
    return false;
}

static void ignore(struct sim_app *a, const uint8_t *frame, uint32_t length, uint64_t now) {
    (void)a;
    (void)frame;
    (void)length;
    (void)now;
}

static size_t sim_background_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    struct source *b = (struct source *)a;
    if (now < b->next_ns || now >= b->until_ns || cap < b->as->frame_bytes)
        return 0;
    if (b->routed && !neighbour_gateway(&b->sim->stations[b->as->from], b->frame)) {
        b->waits = true;
        return 0;
    }
    if (b->waits) // what was not sent then is not made up for
        b->next_ns = now;
    b->waits = false;
    memcpy(buf, b->frame, b->as->frame_bytes);
    b->sent++;
    b->next_ns += b->gap_ns;
    return b->as->frame_bytes;
}

static uint64_t sim_background_deadline(struct sim_app *a) {
    const struct source *b = (const struct source *)a;
    const uint64_t now = b->sim->events.now;
    // what is due already waits for the card, which asks by itself
    return b->next_ns > now && b->next_ns < b->until_ns ? b->next_ns : SIM_NEVER;
}

static void sim_background_expire(struct sim_app *a, uint64_t now) {
    (void)a;
    (void)now;
}

static void sim_background_keep(struct sim_app *a) {
    (void)a; // the simulation frees it: its counts are wanted
}

static bool sink_wants(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    const struct source *b = source_of_sink((struct sim_app *)a);
    // a switch may have marked it on its way: the ECN bits and the checksum; one that routes has
    // other addresses of Ethernet, and less time to live
    if (b->routed)
        return length == b->as->frame_bytes && memcmp(frame + 12, b->frame + 12, 3) == 0 &&
               memcmp(frame + 16, b->frame + 16, 6) == 0 && frame[23] == b->frame[23] &&
               memcmp(frame + 26, b->frame + 26, 16) == 0;
    return length == b->as->frame_bytes && memcmp(frame, b->frame, 15) == 0 &&
           memcmp(frame + 16, b->frame + 16, 8) == 0 && memcmp(frame + 26, b->frame + 26, 16) == 0;
}

static void sink_deliver(struct sim_app *a, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct source *b = source_of_sink(a);
    (void)now;
    if (!sink_wants(a, frame, length))
        return;
    b->received++;
    b->received_bytes += length;
}

static size_t sink_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    (void)a;
    (void)buf;
    (void)cap;
    (void)now;
    return 0;
}

static uint64_t sink_deadline(struct sim_app *a) {
    (void)a;
    return SIM_NEVER;
}

static const struct sim_app_ops source_ops = {wants_nothing,         ignore,
                                              sim_background_next,   sim_background_deadline,
                                              sim_background_expire, sim_background_keep},
                                sink_ops = {
                                    sink_wants,    sink_deliver,          sink_next,
                                    sink_deadline, sim_background_expire, sim_background_keep};

static void sim_background_put(uint8_t *at, uint64_t v, int bytes) {
    while (bytes-- > 0) {
        at[bytes] = (uint8_t)v;
        v >>= 8;
    }
}

static void sim_background_write_headers(struct source *b) {
    const struct sim_station *from = &b->sim->stations[b->as->from],
                             *to = &b->sim->stations[b->as->to];
    uint8_t *f = b->frame;
    b->routed = neighbour_is_routed(from, to);
    if (!b->routed)
        memcpy(f, to->mac, 6);
    memcpy(f + 6, from->mac, 6);
    sim_background_put(f + 12, 0x0800, 2);
    sim_background_put(f + 14, 0x4500u | b->as->tos, 2);
    sim_background_put(f + 16, b->as->frame_bytes - 14, 2);
    sim_background_put(f + 22, 64 << 8 | 17, 2);
    sim_background_put(f + 26, from->address && to->address ? from->address : from->ip, 4);
    sim_background_put(f + 30, from->address && to->address ? to->address : to->ip, 4);
    sim_background_put(f + 24, sk_checksum(f + 14, 20), 2);
    sim_background_put(f + 34, b->flow, 2);
    sim_background_put(f + 36, UDP_PORT, 2);
    sim_background_put(f + 38, b->as->frame_bytes - 34, 2);
}

static void sim_background_start(void *who, void *what) {
    (void)what;
    host_serve(((struct sim_app *)who)->host);
}

struct sim_app *background_new(struct sim *s, uint32_t i) {
    struct source *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    b->sim = s;
    b->as = &s->scenario->background[i];
    b->flow = (uint16_t)(20000 + i);
    const double gbps = sim_draw(&s->draws, &b->as->gbps),
                 from = sim_draw(&s->draws, &b->as->start_ms),
                 until = sim_draw(&s->draws, &b->as->stop_ms);
    b->gap_ns = gbps > 0 ? (uint64_t)((b->as->frame_bytes + SIM_OVERHEAD) * 8 / gbps) : 0;
    b->from_ns = b->next_ns = (uint64_t)(from * 1e6);
    b->until_ns = until > 0 ? (uint64_t)(until * 1e6) : SIM_NEVER;
    b->app.ops = &source_ops;
    b->sink.ops = &sink_ops;
    sim_background_write_headers(b);
    if (b->routed)
        neighbour_ask(&s->stations[b->as->from]);
    host_add(s->stations[b->as->from].host, &b->app);
    host_add(s->stations[b->as->to].host, &b->sink);
    sim_at(&s->events, b->from_ns, sim_background_start, &b->app, NULL);
    return &b->app;
}

uint64_t background_received(const struct sim_app *a) {
    return ((const struct source *)a)->received_bytes;
}

json_t *background_result(const struct sim_app *a) {
    const struct source *b = (const struct source *)a;
    const uint64_t now = b->sim->events.now, until = now < b->until_ns ? now : b->until_ns;
    const double ns = until > b->from_ns ? (double)(until - b->from_ns) : 0;
    return json_pack("{s:s, s:I, s:I, s:I, s:f}", "name", b->as->name, "sent", (json_int_t)b->sent,
                     "received", (json_int_t)b->received, "received_bytes",
                     (json_int_t)b->received_bytes, "gbps",
                     ns > 0 ? (double)b->received_bytes * 8 / ns : 0.0);
}

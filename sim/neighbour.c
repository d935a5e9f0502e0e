// SPDX-License-Identifier: Apache-2.0
//
// What a host with an address of its own (the topology's "addresses") does so that switches which
// route find it, and it them: answers when it is asked for by ARP (RFC 826), and asks for its
// gateway. In real time the kernel of the host's namespace answers, and this one only listens.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/sim.h"

#define ARP_FRAME   60u // without a frame check sequence
#define ARP_REQUEST 1u
#define ARP_REPLY   2u
#define WAITING     8u // answers
#define AGAIN_NS    UINT64_C(100000000)

struct sim_neighbour {
    struct sim_app app;
    struct sim *sim;
    const struct sim_station *of;
    bool wants_gateway, knows_gateway;
    uint8_t gateway[6];
    uint64_t ask_at;
    uint8_t answers[WAITING][ARP_FRAME];
    unsigned n;
};

static void neighbour_write(const struct sim_neighbour *n, uint8_t *f, unsigned op,
                            const uint8_t *to, uint32_t asked) {
    memset(f, 0, ARP_FRAME);
    memcpy(f, to, 6);
    memcpy(f + 6, n->of->mac, 6);
    put16(f + 12, 0x0806);
    put32(f + 14, 0x00010800);
    put16(f + 18, 0x0604);
    put16(f + 20, (uint16_t)op);
    memcpy(f + 22, n->of->mac, 6);
    put32(f + 28, n->of->address);
    if (op == ARP_REPLY)
        memcpy(f + 32, to, 6);
    put32(f + 38, asked);
}

static bool neighbour_is_arp(const uint8_t *f, uint32_t length) {
    return length >= 42 && memcmp(f + 12, "\x08\x06\x00\x01\x08\x00\x06\x04\x00", 9) == 0;
}

static bool neighbour_wants(const struct sim_app *a, const uint8_t *f, uint32_t length) {
    const struct sim_neighbour *n = (const struct sim_neighbour *)a;
    return neighbour_is_arp(f, length) &&
           (get32(f + 38) == n->of->address || get32(f + 28) == n->of->gateway);
}

static void neighbour_deliver(struct sim_app *a, const uint8_t *f, uint32_t length, uint64_t now) {
    struct sim_neighbour *n = (struct sim_neighbour *)a;
    (void)now;
    if (!neighbour_wants(a, f, length))
        return;
    if (get32(f + 28) == n->of->gateway) {
        memcpy(n->gateway, f + 22, 6);
        n->knows_gateway = true;
    }
    if (f[21] == ARP_REQUEST && get32(f + 38) == n->of->address && !n->sim->real && n->n < WAITING)
        neighbour_write(n, n->answers[n->n++], ARP_REPLY, f + 22, get32(f + 28));
}

static size_t neighbour_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct sim_neighbour *n = (struct sim_neighbour *)a;
    if (cap < ARP_FRAME)
        return 0;
    if (n->n > 0) {
        memcpy(buf, n->answers[0], ARP_FRAME);
        memmove(n->answers[0], n->answers[1], --n->n * sizeof n->answers[0]);
        return ARP_FRAME;
    }
    if (!n->wants_gateway || n->knows_gateway || now < n->ask_at)
        return 0;
    neighbour_write(n, buf, ARP_REQUEST, all, n->of->gateway);
    n->ask_at = now + AGAIN_NS;
    return ARP_FRAME;
}

static uint64_t neighbour_deadline(struct sim_app *a) {
    const struct sim_neighbour *n = (const struct sim_neighbour *)a;
    return n->wants_gateway && !n->knows_gateway ? n->ask_at : SIM_NEVER;
}

static void neighbour_expire(struct sim_app *a, uint64_t now) {
    (void)a; // what is due is the next frame
    (void)now;
}

static void neighbour_free(struct sim_app *a) {
    ((struct sim_neighbour *)a)->of->host->neighbour = NULL;
    free(a);
}

static const struct sim_app_ops neighbour_ops = {neighbour_wants,  neighbour_deliver,
                                                 neighbour_next,   neighbour_deadline,
                                                 neighbour_expire, neighbour_free};

void neighbour_make(struct sim *s, struct sim_station *st) {
    if (!st->address)
        return;
    struct sim_neighbour *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    n->app.ops = &neighbour_ops;
    n->sim = s;
    n->of = st;
    st->host->neighbour = n;
    host_add(st->host, &n->app);
}

static void neighbour_begin(void *who, void *what) {
    (void)what;
    host_serve(who);
}

bool neighbour_is_routed(const struct sim_station *from, const struct sim_station *to) {
    return from->host && from->host->neighbour && to->address && from->gateway &&
           (from->address & from->mask) != (to->address & from->mask);
}

void neighbour_ask(struct sim_station *st) {
    struct sim_neighbour *n = st->host->neighbour;
    if (!n->wants_gateway)
        sim_at(&n->sim->events, n->sim->events.now, neighbour_begin, st->host, NULL);
    n->wants_gateway = true;
}

bool neighbour_gateway(const struct sim_station *st, uint8_t mac[6]) {
    const struct sim_neighbour *n = st->host->neighbour;
    if (!n || !n->knows_gateway)
        return false;
    memcpy(mac, n->gateway, 6);
    return true;
}

// SPDX-License-Identifier: Apache-2.0
//
// latency: how long a packet stays in the switch when it has half of what it could take to do; of
// forwarding also a tenth and eight tenths, and by way of a port.
//
// Packets arrive at a steady pace, with half the load one each two times the time that one takes at
// full load. The
// loop does what the port loop does: takes what has arrived, up to a burst, into the switch, runs
// it. A stay is from the time at which the packet was due, whether or not the loop had time for it
// then, to its transmission; of SwitchML the one of the packet that completes a slot, to each of
// its copies. Slices in which the system took the processor away are thrown away, because a switch
// has its core for itself. What interrupts and the machine underneath take away meanwhile cannot be
// told from inside: every fourth slice is without a switch, and shows what that makes of the stays.
//
// By way of a port: what has arrived is put into the ring of a net_ring device, the ports are
// polled, and what they have sent is taken out again, all by one thread, and all part of the stay.
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "bench/bench.h"
#include "bench/loop.h"
#include "bench/rack.h"

#define BURST     32u
#define SLICE_NS  2e6
#define ID_AT     16u // in forward64's frames: which it is
#define MAX_STAY  ((size_t)1 << 22)
#define GROUPS    10
#define MIN_STAYS 2000u // of a group, so that one in a thousand is more than one

struct stays {
    double *ticks; // of the TSC
    size_t n;
};

struct by_port {
    struct sk_ports *ports;
    struct rte_mempool *pool;
    uint16_t id; // of the device
    struct rte_mbuf *frames[BURST];
    uint16_t n;
};

struct pace {
    struct sk_switch *sw;
    struct by_port *port; // null: from memory
    bool idle;            // no switch: packets are gone when the loop takes them
    const uint8_t *frames;
    unsigned stride, bytes, n;
    // Of the i-th to arrive: its place among the frames, its port,
    unsigned (*place_of)(unsigned i);
    unsigned (*port_of)(unsigned i);
    // and which of the 'n' it is for the stamps; UINT32_MAX: none leaves because of it.
    uint32_t (*id_of)(unsigned i);
    uint64_t *due;         // by id
    struct stays stays[2]; // in the switch, and with 'idle'
    uint64_t now_ns;
};

static void stayed(struct pace *p, uint64_t due) {
    struct stays *s = &p->stays[p->idle];
    if (s->n < MAX_STAY)
        s->ticks[s->n++] = (double)(bench_tsc() - due);
}

static void sent(struct pace *p, uint32_t id) {
    if (id < p->n)
        stayed(p, p->due[id]);
}

static void give_up(const char *why) __attribute__((noreturn));
static void give_up(const char *why) {
    fprintf(stderr, "bench: latency: %s\n", why);
    exit(1);
}

static void to_port(struct by_port *b, const uint8_t *frame, unsigned bytes) {
    struct rte_mbuf *m = rte_pktmbuf_alloc(b->pool);
    if (!m)
        give_up("no buffer");
    memcpy(rte_pktmbuf_append(m, (uint16_t)bytes), frame, bytes);
    b->frames[b->n++] = m;
}

// The device's ring is what the switch receives from and sends to.
static void through_port(struct by_port *b, uint64_t now, void (*leaves)(void *aux, uint32_t id),
                         void *aux) {
    const unsigned n = b->n;
    struct rte_mbuf *m[BURST];
    unsigned received = 0, left = 0;
    if (rte_eth_tx_burst(b->id, 0, b->frames, b->n) != b->n)
        give_up("the ring is full");
    b->n = 0;
    for (unsigned polls = 0; received < n; polls++) {
        received += sk_ports_poll(b->ports, 0, now);
        if (polls > 1000)
            give_up("packets do not arrive");
    }
    for (uint16_t got; (got = rte_eth_rx_burst(b->id, 0, m, BURST)) > 0; left += got) {
        for (uint16_t i = 0; i < got; i++) {
            uint32_t id;
            memcpy(&id, rte_pktmbuf_mtod(m[i], const uint8_t *) + ID_AT, 4);
            leaves(aux, id);
        }
        rte_pktmbuf_free_bulk(m, got);
    }
    if (left != n)
        give_up("packets do not leave");
}

static void into(struct pace *p, unsigned i, uint64_t due) {
    const uint8_t *frame = p->frames + (size_t)p->place_of(i) * p->stride;
    uint32_t id = p->id_of(i);
    if (p->idle) {
        stayed(p, due);
        return;
    }
    if (id != UINT32_MAX)
        p->due[id] = due;
    if (p->port)
        to_port(p->port, frame, p->bytes);
    else
        sk_switch_rx(p->sw, (uint16_t)p->port_of(i), frame, p->bytes, p->now_ns);
}

static void leaves_by_port(void *aux, uint32_t id) {
    sent(aux, id);
}

// Rounds of all frames for about SLICE_NS. 'every': ticks between arrivals.
static void slice(struct pace *p, double every, unsigned rounds) {
    const uint64_t start = bench_tsc() + 1000;
    const uint64_t total = (uint64_t)rounds * p->n;
    for (uint64_t next = 0; next < total;) {
        uint64_t now = bench_tsc();
        double passed = now > start ? (double)(now - start) : 0;
        uint64_t arrived = (uint64_t)(passed / every);
        arrived = arrived < total ? arrived : total;
        p->now_ns++;
        unsigned taken = 0;
        for (; next < arrived && taken < BURST; taken++, next++)
            into(p, (unsigned)(next % p->n), start + (uint64_t)((double)(next + 1) * every));
        if (taken && !p->idle && p->port)
            through_port(p->port, p->now_ns, leaves_by_port, p);
        else if (taken && !p->idle)
            sk_switch_run(p->sw, p->now_ns);
    }
}

static long switches(void) {
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nivcsw + u.ru_nvcsw;
}

// Each quantile is the median of those of GROUPS parts of the time, so that it has a spread too.
static void put_stays(const struct stays *s, json_t *result, const char *prefix) {
    static const struct {
        const char *name;
        double of;
    } quantiles[] = {{"p50_ns", 0.5}, {"p99_ns", 0.99}, {"p999_ns", 0.999}};
    const size_t each = s->n / GROUPS;
    for (unsigned i = 0; i < 3; i++) {
        char field[64];
        double of_group[GROUPS];
        snprintf(field, sizeof field, "%s%s", prefix, quantiles[i].name);
        if (each < MIN_STAYS) {
            bench_error(result, field, "only %zu packets passed undisturbed", s->n);
            continue;
        }
        for (unsigned g = 0; g < GROUPS; g++)
            of_group[g] =
                bench_quantile(s->ticks + g * each, each, quantiles[i].of) / bench_tsc_per_ns();
        bench_put(result, field, bench_stat(of_group, GROUPS));
    }
}

// 'load': the share of what can be taken at most that arrives.
static void measure(struct pace *p, json_t *result, const char *prefix, double full_ns, double load,
                    double seconds) {
    const double every = full_ns / load * bench_tsc_per_ns();
    unsigned rounds = (unsigned)(SLICE_NS / (full_ns / load * p->n)) + 1;
    unsigned slices = 0, kept = 0;
    char floor[32];
    p->due = calloc(p->n, sizeof *p->due);
    for (unsigned i = 0; i < 2; i++)
        p->stays[i] = (struct stays){calloc(MAX_STAY, sizeof(double)), 0};
    if (!p->due || !p->stays[0].ticks || !p->stays[1].ticks)
        abort();
    for (double from = bench_wall_ns(); bench_wall_ns() - from < seconds * 1e9; slices++) {
        p->idle = slices % 4 == 3;
        const size_t before = p->stays[p->idle].n;
        const long lost = switches();
        slice(p, every, rounds);
        if (switches() != lost)
            p->stays[p->idle].n = before;
        else
            kept++;
    }
    snprintf(floor, sizeof floor, "%sfloor_", prefix);
    put_stays(&p->stays[0], result, prefix);
    put_stays(&p->stays[1], result, floor);
    bench_note(
        result,
        "%sp50_ns: a packet every %.0f ns (%.0f %% of what can be taken), %zu stays measured; %u "
        "of "
        "%u slices of %.0f ms kept, in the others the system took the processor away; floor: the "
        "same without a switch",
        prefix, full_ns / load, 100 * load, p->stays[0].n, kept, slices, SLICE_NS / 1e6);
    free(p->due);
    free(p->stays[0].ticks);
    free(p->stays[1].ticks);
}

// ---- SwitchML: the ids are the results' tsi ----

// The workers send at the same time: of each slot come all packets, then those of the next.
static unsigned worker_of(unsigned i) {
    return i % RACK_WORKERS;
}

static unsigned slot_of(unsigned i) {
    return i / RACK_WORKERS % RACK_SLOTS;
}

static unsigned version_of(unsigned i) {
    return i / RACK_WORKERS / RACK_SLOTS;
}

static unsigned place_in_rack(unsigned i) {
    return (version_of(i) * RACK_WORKERS + worker_of(i)) * RACK_SLOTS + slot_of(i);
}

static uint32_t completes(unsigned i) {
    return worker_of(i) == RACK_WORKERS - 1 ? slot_of(i) * 2 + version_of(i) : UINT32_MAX;
}

static void result_sent(void *aux, const uint8_t *frame) {
    uint32_t tsi;
    memcpy(&tsi, frame + RACK_TSI_AT, 4);
    sent(aux, be32toh(tsi));
}

static void switchml(json_t *result, double seconds) {
    struct rack *r = rack_new(256, false);
    struct bench_side side = {.name = "silken", .work = rack_work_copied, .aux = r};
    const size_t n = bench_trials(&side, 1, 0.5, BENCH_TRIAL_NS);
    struct pace p = {.sw = r->sw,
                     .frames = r->frames,
                     .stride = r->stride,
                     .bytes = r->frame_bytes,
                     .n = RACK_PACKETS,
                     .place_of = place_in_rack,
                     .port_of = worker_of,
                     .id_of = completes,
                     .now_ns = sk_switch_now(r->sw)};
    r->on_sent = result_sent;
    r->on_sent_aux = &p;
    measure(&p, result, "switchml256_", bench_stat(side.ns, n).median, 0.5, seconds);
    bench_sides_free(&side, 1);
    rack_free(r);
}

// ---- forwarding ----

struct forwarding {
    struct sk_switch *sw;
    struct sk_ports *ports; // null: from memory
    uint8_t *frames;
    struct pace *pace; // null: not yet
};

static bool forwarded(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct forwarding *f = aux;
    uint32_t id;
    if (f->ports)
        return sk_ports_tx(f->ports, port, frame, length);
    memcpy(&id, frame + ID_AT, 4);
    if (f->pace)
        sent(f->pace, id);
    return true;
}

static void nobody_waits(void *aux, uint32_t id) {
    (void)aux;
    (void)id;
}

static uint64_t forward_all(void *aux, uint64_t times) {
    struct pace *p = aux;
    for (uint64_t t = 0; t < times; t++)
        for (unsigned i = 0; i < LOOP_FRAMES; i += BURST) {
            uint64_t now = sk_switch_now(p->sw) + 1;
            for (unsigned j = 0; j < BURST; j++) {
                const uint8_t *frame = p->frames + (size_t)(i + j) * LOOP_BYTES;
                if (p->port)
                    to_port(p->port, frame, LOOP_BYTES);
                else
                    sk_switch_rx(p->sw, 0, frame, LOOP_BYTES, now);
            }
            if (p->port)
                through_port(p->port, now, nobody_waits, NULL);
            else
                sk_switch_run(p->sw, now);
        }
    return times * LOOP_FRAMES;
}

static unsigned port_zero(unsigned i) {
    (void)i;
    return 0;
}

static unsigned itself(unsigned i) {
    return i;
}

static void open_port(struct forwarding *f, struct by_port *b) {
    char error[512];
    const struct sk_port_spec spec = {.device = "net_ring0"};
    const struct sk_ports_options options = {.cpu = bench_pin()};
    f->ports = sk_ports_open(&spec, 1, &options, error, sizeof error);
    if (!f->ports)
        give_up(error);
    sk_ports_attach(f->ports, f->sw);
    *b = (struct by_port){.ports = f->ports, .pool = rte_mempool_lookup("silken")};
    if (!b->pool || rte_eth_dev_get_port_by_name(spec.device, &b->id))
        give_up("the device is not there");
}

static void forwarding(json_t *result, bool by_port, double seconds) {
    static const struct {
        const char *prefix;
        double load;
    } loads[] = {{"low_", 0.1}, {"", 0.5}, {"high_", 0.8}};
    char error[256] = "no memory", prefix[32];
    struct forwarding f = {.frames = malloc((size_t)LOOP_FRAMES * LOOP_BYTES)};
    struct by_port port;
    struct sk_program *program = loop_program();
    const struct sk_switch_options options = {
        .tx = forwarded, .aux = &f, .packet_bytes = by_port ? SK_PORTS_FRAME : 0};
    f.sw = sk_switch_new(program, &options, error, sizeof error);
    if (!f.sw || !f.frames)
        give_up(error);
    sk_switch_port_up(f.sw, 0, true);
    if (by_port)
        open_port(&f, &port);
    loop_add_entries(f.sw, -1, 0);
    for (uint32_t i = 0; i < LOOP_FRAMES; i++) {
        loop_frame(i, f.frames + (size_t)i * LOOP_BYTES);
        memcpy(f.frames + (size_t)i * LOOP_BYTES + ID_AT, &i, 4);
    }
    struct pace p = {.sw = f.sw,
                     .port = by_port ? &port : NULL,
                     .frames = f.frames,
                     .stride = LOOP_BYTES,
                     .bytes = LOOP_BYTES,
                     .n = LOOP_FRAMES,
                     .place_of = itself,
                     .port_of = port_zero,
                     .id_of = itself};
    struct bench_side side = {.name = "silken", .work = forward_all, .aux = &p};
    const size_t n = bench_trials(&side, 1, 0.5, BENCH_TRIAL_NS);
    p.now_ns = sk_switch_now(f.sw);
    f.pace = &p;
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        snprintf(prefix, sizeof prefix, "%s%s", by_port ? "ports_" : "", loads[i].prefix);
        measure(&p, result, prefix, bench_stat(side.ns, n).median, loads[i].load, seconds / 3);
    }
    bench_sides_free(&side, 1);
    sk_ports_close(f.ports);
    sk_switch_free(f.sw);
    sk_program_free(program);
    free(f.frames);
}

void measure_latency(const struct bench_options *opt, json_t *result) {
    forwarding(result, false, opt->seconds * 0.4);
    forwarding(result, true, opt->seconds * 0.4);
    switchml(result, opt->seconds * 0.2);
}

// SPDX-License-Identifier: Apache-2.0
//
// fuzz_packets: bytes as packets, entries and settings of the traffic manager, on a switch of a
// program with every feature. Whatever they are, nothing may crash or go on for ever, every packet
// must be accounted for, and every buffer come back.
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "control/tables/control.h"
#include "control/tables/idle.h"
#include "harness/control/fuzz_program.h"
#include "pipeline/tm/pre.h"
#include "pipeline/observe/tracer.h"
#include "pipeline/switch/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at;
    size_t left;
};

// Zeros behind the end.
static uint64_t take(struct bytes *b, unsigned bytes) {
    uint64_t v = 0;
    for (; bytes > 0; bytes--) {
        v = v << 8 | (b->left > 0 ? *b->at : 0);
        b->at += b->left > 0;
        b->left -= b->left > 0;
    }
    return v;
}

struct run {
    struct sk_switch *sw;
    struct bytes in;
    uint64_t now;
    uint64_t sent;
};

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct run *r = aux;
    static uint8_t copy[65536];
    if (port >= SK_PORTS || length == 0 || length > sizeof copy)
        abort();
    memcpy(copy, frame, length); // all of it is there
    r->sent++;
    return r->sent % 16 != 0; // now and then a port is full
}

// Ports of pipe 0 mostly: all kinds of them.
static uint16_t port(struct run *r) {
    static const uint16_t known[] = {0, 1, 2, 3, 4, 9, 64, 65, 68, 69, 70, 71, 130, 196, 324, 455};
    uint8_t v = (uint8_t)take(&r->in, 1);
    uint16_t any = (uint16_t)(v << 1 | (v & 1));
    return v < 192 || !sk_port_exists(any) ? known[v % 16] : any;
}

// ---- packets ----

static void receive(struct run *r, const uint8_t *frame, uint32_t length) {
    r->now += 1 + take(&r->in, 1);
    sk_switch_rx(r->sw, port(r), frame, length, r->now);
}

// An order (everything.p4) and what follows it.
static void order(struct run *r) {
    uint8_t frame[14 + 17 + 256] = {0};
    uint32_t tail = (uint32_t)take(&r->in, 1) % 200;
    frame[5] = (uint8_t)take(&r->in, 1);
    frame[12] = 0x90;
    for (uint32_t i = 0; i < 17 + tail; i++)
        frame[14 + i] = (uint8_t)take(&r->in, 1);
    uint16_t out = port(r);
    frame[16] = (uint8_t)(out >> 8); // a port that there is
    frame[17] = (uint8_t)out;
    receive(r, frame, 14 + 17 + tail);
}

static void raw(struct run *r) {
    static uint8_t frame[9300];
    uint32_t length = (uint32_t)take(&r->in, 2) % sizeof frame;
    for (uint32_t i = 0; i < length; i++)
        frame[i] = r->in.left > 0 ? (uint8_t)take(&r->in, 1) : (uint8_t)i;
    receive(r, frame, length);
}

// ---- what the control plane writes; refusals do not matter ----

static void entry(struct run *r) {
    const struct sk_program_desc *d = sk_switch_program(r->sw);
    const struct sk_pipeline_desc *p = d->pipelines[0];
    const struct sk_table_desc *t = p->tables[take(&r->in, 1) % p->n_tables];
    struct sk_named_value keys[16], args[16];
    char text[32][80];
    size_t n = 0;
    struct sk_entry_spec e = {.table = t->name, .keys = keys, .args = args, .pipe = -1};
    struct sk_error err;
    for (uint32_t i = 0; i < t->n_keys && i < 16; i++, n++) {
        const char *form = t->keys[i].match == SK_TERNARY ? "%" PRIu64 " &&& %" PRIu64
                           : t->keys[i].match == SK_LPM   ? "%" PRIu64 "/%" PRIu64
                           : t->keys[i].match == SK_RANGE ? "%" PRIu64 "..%" PRIu64
                                                          : "%" PRIu64;
        uint64_t low = take(&r->in, 1);
        snprintf(text[n], sizeof text[n], form, low,
                 t->keys[i].match == SK_LPM ? low % 33 : low + take(&r->in, 1));
        keys[e.n_keys++] = (struct sk_named_value){t->keys[i].name, text[n]};
    }
    const struct sk_action_desc *a =
        t->n_actions > 0 ? t->actions[take(&r->in, 1) % t->n_actions] : NULL;
    for (uint32_t i = 0; a && i < a->n_params && i < 16; i++, n++) {
        snprintf(text[n], sizeof text[n], "%" PRIu64,
                 take(&r->in, 2) &
                     (UINT64_C(1) << (a->params[i].width < 16 ? a->params[i].width : 16)) - 1);
        args[e.n_args++] = (struct sk_named_value){a->params[i].name, text[n]};
    }
    e.action = a ? a->name : NULL;
    uint8_t how = (uint8_t)take(&r->in, 1);
    if (how & 8) {
        e.action = NULL;
        snprintf(text[31], sizeof text[31], "%u", how >> 4);
        *(how & 1 ? &e.member : &e.group) = text[31];
        e.n_args = 0;
    }
    switch (how % 8) {
    case 6:
        sk_control_entry_delete(r->sw, &e, &err);
        break;
    case 7:
        sk_control_entry_modify(r->sw, &e, &err);
        break;
    default:
        e.has_priority = true;
        e.priority = how;
        if (sk_control_entry_add(r->sw, &e, &err) && how & 1) {
            e.has_priority = false;
            sk_control_entry_add(r->sw, &e, &err);
        }
    }
}

static void group(struct run *r) {
    struct sk_group_member members[8];
    struct sk_error err;
    uint8_t how = (uint8_t)take(&r->in, 1);
    struct sk_group_spec g = {.selector = "pipe.Ingress.selector",
                              .id = how % 4,
                              .max_size = how & 16 ? 4 : 0,
                              .members = members,
                              .n = how >> 5,
                              .pipe = -1};
    for (uint32_t i = 0; i < g.n; i++) {
        uint8_t m = (uint8_t)take(&r->in, 1);
        members[i] = (struct sk_group_member){.member = m % 8, .up = m & 128};
    }
    if (how & 8)
        sk_control_group_delete(r->sw, g.selector, g.id, -1, &err);
    else if (sk_control_group_add(r->sw, &g, &err))
        sk_control_group_modify(r->sw, &g, &err);
}

static void mirror(struct run *r) {
    uint16_t how = (uint16_t)take(&r->in, 2);
    uint16_t session = (uint16_t)take(&r->in, 1);
    struct sk_mirror_session s = {.enabled = how & 1,
                                  .direction = how >> 1 & 3,
                                  .ucast_valid = how & 8,
                                  .mcast_a_valid = how & 16,
                                  .mcast_b_valid = how & 32,
                                  .copy_to_cpu = how & 64,
                                  .deflect_on_drop = how & 128,
                                  .ucast_port = port(r),
                                  .mcast_grp_a = how >> 8 & 3,
                                  .mcast_grp_b = how >> 10 & 3,
                                  .qid = how >> 12,
                                  .max_pkt_len = (uint16_t)take(&r->in, 1)};
    sk_mirror_set(r->sw, session, &s);
}

static void replication(struct run *r) {
    uint8_t how = (uint8_t)take(&r->in, 1);
    uint16_t ports[3];
    uint8_t lags[2] = {how % 3, how % 5};
    for (unsigned i = 0; i < 3; i++)
        ports[i] = port(r);
    uint32_t nodes[3] = {how % 4, SK_PRE_NO_NODE, 2};
    const struct sk_pre_member members[2] = {
        {.node = how % 4, .ecmp = how & 8, .l1_xid_valid = how & 16, .l1_xid = how}, {.node = 3}};
    switch (take(&r->in, 1) % 8) {
    case 0:
    case 1:
        sk_pre_node_set_lags(r->sw, how % 4, how, ports, how >> 6, lags, how >> 5 & 1);
        break;
    case 2:
    case 3:
        sk_pre_group_set(r->sw, how % 4, members, how >> 7 ? 2 : 1);
        break;
    case 4:
        sk_pre_lag_set(r->sw, how % 5,
                       &(struct sk_pre_lag){.ports = ports, .n_ports = how >> 6, .left = how & 1});
        break;
    case 5:
        sk_pre_ecmp_set(r->sw, how % 4, nodes, 3);
        break;
    case 6:
        sk_pre_backup_set(r->sw, ports[0], ports[1]);
        sk_pre_prune_set(r->sw, how, ports, 2);
        break;
    default:
        sk_pre_node_delete(r->sw, how % 4);
        sk_pre_group_delete(r->sw, how >> 4);
        sk_pre_ecmp_delete(r->sw, how >> 6);
    }
}

// Pools, shares, limits of all kinds; those that are refused, too.
static void queue(struct run *r, uint16_t p, uint8_t how) {
    struct sk_port_queue q = {.speed_mbps = how & 8 ? 0 : 1000u << (how >> 5),
                              .limit_red = how >> 4,
                              .limit_yellow = how >> 3,
                              .limit_green = how >> 2};
    if (how & 16) {
        const uint8_t more = (uint8_t)take(&r->in, 1), pool = (uint8_t)take(&r->in, 1);
        const struct sk_queue_buffer b = {more % 8, more & 8, pool % 5, pool % 11, how % 3};
        struct sk_queue_schedule *s = &q.schedule[more % SK_PORT_QUEUES];
        q.limit = more & 16 ? more : 0;
        q.buffer = more & 32 ? b : (struct sk_queue_buffer){0};
        s->own_limits = more & 64;
        s->own_buffer = more & 128;
        s->limits = (struct sk_queue_limits){pool % 4, pool % 8, pool % 16};
        s->buffer = b;
        sk_switch_app_pool(r->sw, pool % 5,
                           &(struct sk_app_pool){.cells = pool, .limit_yellow = more});
    }
    sk_switch_port_queue(r->sw, p, &q);
}

static void ports(struct run *r) {
    uint8_t how = (uint8_t)take(&r->in, 1), md[16] = {how};
    uint16_t p = port(r);
    switch (how % 5) {
    case 0:
        sk_switch_port_up(r->sw, p, how >> 7);
        break;
    case 1:
        sk_switch_port_loopback(r->sw, p, how >> 7);
        break;
    case 2:
        sk_switch_port_metadata(r->sw, p, md, how >> 4);
        break;
    case 3:
        queue(r, p, how);
        break;
    default:
        sk_switch_deflect_to(r->sw, how >> 7 ? p : SK_PORT_INVALID, how >> 3);
    }
}

static void generator(struct run *r) {
    uint8_t how = (uint8_t)take(&r->in, 1), bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)take(&r->in, 1);
    sk_pktgen_buffer(r->sw, how >> 6, (uint32_t)take(&r->in, 2), bytes, sizeof bytes);
    struct sk_pktgen_app a = {.enabled = how % 8 != 7,
                              .trigger = (enum sk_pktgen_trigger)(how % 4),
                              .timer_ns = 1000 + take(&r->in, 2),
                              .pattern = (uint32_t)take(&r->in, 1),
                              .mask = (uint32_t)take(&r->in, 1),
                              .length = (uint16_t)(how & 32 ? take(&r->in, 2) : 64),
                              .offset = (uint16_t)(how & 16 ? take(&r->in, 2) : 0),
                              .batches = 1 + how % 3,
                              .packets = 1 + how % 5,
                              .batch_gap_ns = (uint32_t)take(&r->in, 2),
                              .packet_gap_ns = (uint32_t)take(&r->in, 2),
                              .source_port = 68 + how % 4};
    sk_pktgen_set(r->sw, how >> 6, how >> 3 & 7, &a, r->now);
}

// ---- afterwards ----

static void account(struct run *r, uint32_t buffers) {
    struct sk_switch_stats s;
    // the generators stop, the ports send what waits
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (unsigned app = 0; app < SK_PKTGEN_APPS; app++)
            sk_pktgen_set(r->sw, pipe, app, &(struct sk_pktgen_app){0}, r->now);
    for (uint16_t p = 0; p < SK_PORTS; p++)
        sk_switch_port_queue(r->sw, p, &(struct sk_port_queue){0});
    for (uint64_t next; (next = sk_core_next(sk_switch_core(r->sw, 0), false)) != UINT64_MAX;)
        sk_switch_run(r->sw, r->now = next > r->now ? next : r->now + 1);
    if (sk_switch_buffers_free(r->sw) != buffers)
        abort();
    for (unsigned i = 0; i < SK_APP_POOLS; i++)
        if (sk_switch_app_pool_used(r->sw, i))
            abort();
    sk_switch_stats(r->sw, &s);
    uint64_t out = s.tx_packets;
    for (unsigned i = 0; i < SK_DROP_COUNT; i++)
        out += s.drops[i];
    if (s.rx_packets + s.copies + s.generated != out) {
        fprintf(stderr,
                "%" PRIu64 " received, %" PRIu64 " copies, %" PRIu64 " generated; %" PRIu64
                " sent or dropped\n",
                s.rx_packets, s.copies, s.generated, out);
        abort();
    }
}

static void step(struct run *r) {
    switch (take(&r->in, 1) % 16) {
    case 0:
        raw(r);
        break;
    case 1:
    case 2:
        entry(r);
        break;
    case 3:
        group(r);
        break;
    case 4:
        mirror(r);
        break;
    case 5:
    case 6:
        replication(r);
        break;
    case 7:
        ports(r);
        break;
    case 8:
        generator(r);
        break;
    case 9:
        sk_switch_run(r->sw, r->now += take(&r->in, 2));
        sk_control_idle_poll(r->sw, NULL, NULL);
        break;
    default:
        order(r);
        if (take(&r->in, 1) % 8 > 0) // else several are inside at once
            sk_switch_run(r->sw, r->now);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct sk_program *prog;
    if (!prog)
        prog = fuzz_program();
    char error[256];
    struct run r = {.in = {data, size}};
    r.sw = sk_switch_new(prog, &(struct sk_switch_options){.tx = tx, .aux = &r, .n_packets = 32},
                         error, sizeof error);
    if (!r.sw)
        abort();
    uint32_t buffers = sk_switch_buffers_free(r.sw);
    for (uint16_t p = 0; p < SK_PORTS; p++)
        if (sk_port_exists(p))
            sk_switch_port_up(r.sw, p, true);
    sk_mirror_set(r.sw, 1,
                  &(struct sk_mirror_session){.enabled = true,
                                              .direction = 3,
                                              .ucast_valid = true,
                                              .ucast_port = 2,
                                              .max_pkt_len = 40});
    for (unsigned i = 0; i < 256 && r.in.left > 0; i++)
        step(&r);
    sk_switch_run(r.sw, r.now);
    account(&r, buffers);
    sk_switch_free(r.sw);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "bench/bench.h"
#include "compiler/compile.h"
#include "control/tables/control.h"

#define DEVICE "net_ring0"
#define BURST  32u

struct loop {
    struct sk_program *program;
    struct sk_switch *sw;
    struct sk_ports *ports;
};

static void give_up(const char *what, const char *why) __attribute__((noreturn));
static void give_up(const char *what, const char *why) {
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

// Bytes that differ all over the address, as those of many hosts do.
void loop_address(unsigned i, uint8_t mac[6]) {
    uint64_t v = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 16;
    for (unsigned b = 0; b < 6; b++)
        mac[b] = (uint8_t)(v >> (8 * b));
    mac[0] = (uint8_t)((mac[0] & 0xfc) | 2); // local, unicast
}

void loop_frame(unsigned i, uint8_t *frame) {
    memset(frame, 0, LOOP_BYTES);
    // not in the order of the entries: 617 and 1000 have no common factor
    loop_address(i * 617 % LOOP_ENTRIES, frame);
    memcpy(frame + 6, "\2\0\0\0\0\1\x88\xb5", 8);
}

bool loop_fill(const char *device, struct rte_mempool *pool) {
    uint16_t id;
    if (!pool || rte_eth_dev_get_port_by_name(device, &id))
        return false;
    for (unsigned i = 0; i < LOOP_FRAMES; i++) {
        struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
        uint8_t *frame = m ? (uint8_t *)rte_pktmbuf_append(m, LOOP_BYTES) : NULL;
        if (!frame)
            return false;
        loop_frame(i, frame);
        if (rte_eth_tx_burst(id, 0, &m, 1) != 1)
            return false;
    }
    return true;
}

static bool tx(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    return sk_ports_tx(((struct loop *)aux)->ports, dev_port, frame, length);
}

void loop_add_entries(struct sk_switch *sw, int pipe, uint16_t port) {
    char number[8];
    snprintf(number, sizeof number, "%u", port);
    for (unsigned i = 0; i < LOOP_ENTRIES; i++) {
        uint8_t m[6];
        char text[32];
        struct sk_error err;
        loop_address(i, m);
        snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
                 m[5]);
        const struct sk_named_value key = {"hdr.ethernet.dst_addr", text}, arg = {"port", number};
        const struct sk_entry_spec entry = {.table = "forward",
                                            .keys = &key,
                                            .n_keys = 1,
                                            .action = "send",
                                            .args = &arg,
                                            .n_args = 1,
                                            .pipe = pipe};
        if (sk_control_entry_add(sw, &entry, &err))
            give_up("forward.p4's table", err.text);
    }
}

struct sk_program *loop_program(void) {
    char error[512];
    const struct compile_options opt = {.path = "bench/forward.p4"};
    char *object = compile_p4(&opt, stderr);
    struct sk_program *program = object ? sk_program_load(object, error, sizeof error) : NULL;
    if (!program)
        give_up("forward.p4", object ? error : "does not compile");
    free(object);
    return program;
}

struct loop *loop_new(int cpu) {
    char error[512];
    struct loop *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    l->program = loop_program();
    const struct sk_switch_options options = {.tx = tx, .aux = l, .packet_bytes = SK_PORTS_FRAME};
    l->sw = sk_switch_new(l->program, &options, error, sizeof error);
    if (!l->sw)
        give_up("switch", error);
    sk_switch_port_up(l->sw, 0, true);
    loop_add_entries(l->sw, -1, 0);
    const struct sk_port_spec spec = {.device = DEVICE};
    const struct sk_ports_options port_options = {.cpu = cpu};
    l->ports = sk_ports_open(&spec, 1, &port_options, error, sizeof error);
    if (!l->ports)
        give_up("ports", error);
    sk_ports_attach(l->ports, l->sw);
    if (!loop_fill(DEVICE, rte_mempool_lookup("silken")))
        give_up("ports", "cannot fill the ring with frames");
    return l;
}

uint64_t loop_work(void *aux, uint64_t times) {
    struct loop *l = aux;
    uint64_t received = 0, empty = 0;
    while (received < times * LOOP_FRAMES && empty < 1000) {
        unsigned n = sk_ports_poll(l->ports, 0, (uint64_t)bench_wall_ns());
        received += n;
        empty = n ? 0 : empty + 1;
    }
    return empty ? 0 : received; // the frames are gone: that is no measurement
}

void loop_free(struct loop *l) {
    struct sk_switch_stats s;
    sk_switch_stats(l->sw, &s);
    for (unsigned r = 0; r < SK_DROP_COUNT; r++)
        if (s.drops[r])
            give_up("packets were dropped", sk_drop_text((enum sk_drop_reason)r));
    sk_ports_close(l->ports);
    sk_switch_free(l->sw);
    sk_program_free(l->program);
    free(l);
}

struct sk_switch *loop_switch(struct loop *l) {
    return l->sw;
}

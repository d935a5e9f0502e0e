// SPDX-License-Identifier: Apache-2.0
//
// dlcp: p4/dlcp as a leaf, on frames of 1,514 bytes in memory: from eight hosts to addresses that
// four spines lead to. The same frames with classes that are sprayed, and with none that is.
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/rig.h"
#include "pipeline/switch/core.h"

#define HOSTS   8u
#define SPINES  4u
#define SLOTS   64u
#define UP      16u // first port to a spine
#define CLASSES 7u
#define BYTES   1514u
#define FRAMES  1024u // of them a round; a host's flow has each 64th
#define BURST   32u
#define BUFFER  2880u // how far apart they lie: not in the same sets of the cache
_Static_assert(BUFFER >= SK_LENT_FRONT + BYTES + SK_LENT_BEHIND && BUFFER % 64 == 0, "room");

struct leaf {
    struct rig rig;
    uint8_t *buffers;
    uint64_t sent, by_port[SK_PORTS];
    double took;
};

static json_t *dlcp_entry(const char *table, json_t *key, const char *action, json_t *args) {
    return json_pack("{s:s, s:o, s:s, s:o}", "table", table, "key", key, "action", action, "args",
                     args);
}

static json_t *dlcp_configuration(bool sprayed) {
    json_t *ports = json_array(), *entries = json_array();
    for (unsigned i = 0; i < HOSTS + SPINES; i++) {
        char device[8];
        snprintf(device, sizeof device, "m%u", i);
        json_array_append_new(ports,
                              json_pack("{s:i, s:s}", "port", (int)(i < HOSTS ? i : UP + i - HOSTS),
                                        "device", device));
    }
    for (unsigned slot = 0; slot < SLOTS; slot++)
        json_array_append_new(
            entries, dlcp_entry("paths", json_pack("{s:i, s:i}", "hops", 1, "slot", (int)slot),
                                "to_port", json_pack("{s:i}", "port", (int)(UP + slot % SPINES))));
    for (unsigned h = 0; h < HOSTS; h++)
        json_array_append_new(entries,
                              dlcp_entry("addresses",
                                         json_pack("{s:I}", "dst_addr", (json_int_t)0x0a010001 + h),
                                         "by_slot", json_pack("{s:i}", "hops", 1)));
    for (unsigned c = 0; c < CLASSES; c++) {
        for (unsigned ecn = 0; ecn < 4; ecn++)
            json_array_append_new(
                entries,
                dlcp_entry("queues_of",
                           json_pack("{s:i, s:i}", "dscp", (int)(4 * c + 3), "ecn", (int)ecn),
                           "claims",
                           json_pack("{s:i, s:i, s:i}", "qid", (int)(CLASSES - 1 - c), "colour",
                                     ecn == 0, "what", ecn != 0)));
        if (sprayed)
            json_array_append_new(entries, dlcp_entry("sprayed",
                                                      json_pack("{s:i}", "dscp", (int)(4 * c + 3)),
                                                      "spray", json_object()));
    }
    json_t *root =
        json_pack("{s:s, s:o, s:o}", "program", "dlcp.p4", "ports", ports, "entries", entries);
    if (!root)
        abort();
    return root;
}

// Ethernet, IPv4, UDP; a flow has its source port, the frame its class and whether it is important.
static void dlcp_frame(uint8_t *at, unsigned i) {
    const unsigned host = i / BURST % HOSTS;
    static const uint8_t start[] = {2,    0, 0, 1,    0, 0, 2, 0, 0,  0,  0, 0, 8, 0, // Ethernet
                                    0x45, 0, 5, 0xdc, 0, 0, 0, 0, 64, 17, 0, 0};
    uint32_t sum = 0;
    memcpy(at, start, sizeof start);
    at[11] = (uint8_t)host;
    at[15] = (uint8_t)((4 * (i % CLASSES) + 3) << 2 | (i % 2 ? 2 : 0));
    const uint32_t addresses[] = {htobe32(0x0a000001 + host), htobe32(0x0a010001 + i % HOSTS)};
    const uint16_t ports[] = {htobe16((uint16_t)(40000 + i % 16)), htobe16(0xbec2),
                              htobe16(BYTES - 34), 0};
    memcpy(at + 26, addresses, sizeof addresses);
    memcpy(at + 34, ports, sizeof ports);
    for (unsigned k = 14; k < 34; k += 2)
        sum += (uint32_t)at[k] << 8 | at[k + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16));
    at[24] = (uint8_t)(sum >> 8);
    at[25] = (uint8_t)sum;
}

static bool dlcp_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct leaf *l = aux;
    (void)frame;
    l->by_port[port]++;
    l->sent += length == BYTES;
    return true;
}

static struct leaf *leaf_new(bool sprayed) {
    struct leaf *l = calloc(1, sizeof *l);
    if (!l || !(l->buffers = aligned_alloc(64, (size_t)FRAMES * BUFFER)))
        abort();
    memset(l->buffers, 0x5a, (size_t)FRAMES * BUFFER);
    l->rig = rig_new("dlcp/dlcp.p4", false, dlcp_configuration(sprayed),
                     &(struct sk_switch_options){.tx = dlcp_tx, .aux = l});
    return l;
}

static void leaf_free(struct leaf *l) {
    rig_free(&l->rig);
    free(l->buffers);
    free(l);
}

// A switch may change a frame where it lies, so headers are written anew before.
static uint64_t leaf_round(void *aux) {
    struct leaf *l = aux;
    struct sk_lent_frame lent[BURST];
    for (unsigned i = 0; i < FRAMES; i++)
        dlcp_frame(l->buffers + SK_LENT_FRONT + (size_t)i * BUFFER, i);
    const uint64_t from = bench_tsc();
    for (unsigned i = 0; i < FRAMES; i += BURST) {
        const uint64_t now = sk_switch_now(l->rig.sw) + 1000;
        for (unsigned k = 0; k < BURST; k++)
            lent[k] =
                (struct sk_lent_frame){now, l->buffers + SK_LENT_FRONT + (size_t)(i + k) * BUFFER,
                                       BYTES, (uint16_t)(i / BURST % HOSTS)};
        sk_core_rx_lent(sk_switch_core(l->rig.sw, 0), lent, BURST);
    }
    return bench_tsc() - from;
}

static uint64_t leaf_work(void *aux, uint64_t times) {
    struct leaf *l = aux;
    l->took = bench_rounds(leaf_round, l, times) / FRAMES;
    return times * FRAMES;
}

static double leaf_took(void *aux) {
    return ((const struct leaf *)aux)->took;
}

// All frames come out, by every spine.
static void leaf_check(struct leaf *l) {
    const uint64_t before = l->sent;
    uint64_t least = UINT64_MAX, most = 0;
    memset(l->by_port, 0, sizeof l->by_port);
    for (unsigned i = 0; i < 64; i++)
        leaf_round(l);
    for (unsigned s = 0; s < SPINES; s++) {
        least = l->by_port[UP + s] < least ? l->by_port[UP + s] : least;
        most = l->by_port[UP + s] > most ? l->by_port[UP + s] : most;
    }
    if (l->sent - before != 64 * FRAMES || least == 0)
        rig_give_up("p4/dlcp: %lu of %u frames came out, of one spine %lu",
                    (unsigned long)(l->sent - before), 64 * FRAMES, (unsigned long)least);
}

void measure_dlcp(const struct bench_options *opt, json_t *result) {
    struct leaf *sprayed = leaf_new(true), *by_flow = leaf_new(false);
    leaf_check(sprayed);
    leaf_check(by_flow);
    struct bench_side sides[] = {
        {.name = "sprayed", .work = leaf_work, .took = leaf_took, .aux = sprayed},
        {.name = "by flow", .work = leaf_work, .took = leaf_took, .aux = by_flow},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, BYTES);
    bench_put(result, "by_flow_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_by_flow", bench_ratio(sides[0].ns, sides[1].ns, n));
    bench_note(result,
               "%u hosts, %u spines, seven classes, half of the packets important: frames of %u "
               "bytes, where a device would have written them, in bursts of %u",
               HOSTS, SPINES, BYTES, BURST);
    bench_note(result, "a set of next hops has slots (by_slot); the selector's groups take longer");
    bench_note(result, "ratio_by_flow: the same frames, none of whose classes is sprayed");
    bench_sides_free(sides, 2);
    leaf_free(sprayed);
    leaf_free(by_flow);
}

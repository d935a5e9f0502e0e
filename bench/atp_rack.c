// SPDX-License-Identifier: Apache-2.0
#include "bench/atp_rack.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "atp_wire.h"
#include "bench/bench.h"
#include "hosts/core/udp.h"
#include "pipeline/switch/core.h"

#define ROWS      (ATP_RACK_WORKERS + 1)
#define SERVER    ATP_RACK_WORKERS // its row and its port
#define GROUP     100
#define JOB       7u
#define VALUES    62u
#define VALUES_AT (ETHERNET_H_BYTES + IPV4_H_BYTES + UDP_H_BYTES + ATP_H_BYTES)
// Room for a frame, and how far apart they are: not in the same sets of the cache.
#define BUFFER    1728u
#define FRAGMENTS (ATP_RACK_BATCHES * ATP_RACK_BURST)
#define UDP_PORT  0xa790
#define MAC(row)  (UINT64_C(0x020000000000) + (row))
#define GROUP_MAC UINT64_C(0x01005e000007)
#define IP(row)   (0x0a000001u + (row))

_Static_assert(VALUES_AT + 4 * VALUES == ATP_RACK_BYTES, "an ATP packet");
_Static_assert(BUFFER % 64 == 0 && BUFFER >= SK_LENT_FRONT + ATP_RACK_BYTES + SK_LENT_BEHIND,
               "room for a frame, before it and after it");
_Static_assert(2 * VALUES_H_BYTES == 4 * VALUES, "two halves");

// ---- the switch's configuration, in the words of p4/atp/README.md ----

static json_t *destination(uint64_t mac, const char *action, const char *arg, unsigned value) {
    return json_pack("{s:s, s:{s:I}, s:s, s:{s:i}}", "table", "pipe.Ingress.forward.macs", "key",
                     "hdr.ethernet.dst_addr", (json_int_t)mac, "action", action, "args", arg,
                     value);
}

static json_t *configuration(void) {
    json_t *ports = json_array(), *nodes = json_array(), *members = json_array(),
           *entries = json_array();
    for (unsigned row = 0; row < ROWS; row++) {
        char device[8]; // nobody opens it, but each must have a name of its own
        snprintf(device, sizeof device, "m%u", row);
        json_array_append_new(ports, json_pack("{s:i, s:s}", "port", row, "device", device));
        json_array_append_new(entries, destination(MAC(row), "to_port", "port", row));
    }
    for (unsigned w = 0; w < ATP_RACK_WORKERS; w++) {
        json_array_append_new(nodes,
                              json_pack("{s:i, s:i, s:[i]}", "id", w + 1, "rid", 0, "ports", w));
        json_array_append_new(members, json_integer(w + 1));
    }
    json_array_append_new(entries, destination(GROUP_MAC, "to_group", "group", GROUP));
    json_t *root = json_pack("{s:s, s:o, s:{s:o, s:[{s:i, s:o}]}, s:o}", "program", "atp.p4",
                             "ports", ports, "multicast", "nodes", nodes, "groups", "id", GROUP,
                             "nodes", members, "entries", entries);
    if (!root)
        abort();
    return root;
}

// ---- packets ----

static uint8_t *frame_of(const struct atp_rack *r, unsigned fragment, unsigned row) {
    const unsigned batch = fragment / ATP_RACK_BURST, at = fragment % ATP_RACK_BURST;
    return r->frames + (((size_t)batch * ROWS + row) * ATP_RACK_BURST + at) * r->stride;
}

// Value i of a worker's gradient: different for each, and sums that saturate are among them.
static int32_t value(unsigned worker, unsigned fragment, unsigned i) {
    return (int32_t)((worker + 1) * 0x9e3779b1u * (fragment + 1) + i * 0x85ebca6bu) / 2;
}

static int32_t saturated_sum(unsigned fragment, unsigned i) {
    int64_t sum = 0;
    for (unsigned w = 0; w < ATP_RACK_WORKERS && sum != INT32_MAX && sum != INT32_MIN; w++) {
        sum += value(w, fragment, i);
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    }
    return (int32_t)sum;
}

// The server's row: parameters, to the job's group; else a gradient to the server.
static void make_frame(uint8_t *frame, unsigned fragment, unsigned row) {
    const bool parameters = row == SERVER;
    uint8_t *const ip = frame + ETHERNET_H_BYTES, *const udp = ip + IPV4_H_BYTES,
                   *const atp = udp + UDP_H_BYTES;
    memset(frame, 0, ATP_RACK_BYTES);
    ethernet_h_set_dst_addr(frame, parameters ? GROUP_MAC : MAC(SERVER));
    ethernet_h_set_src_addr(frame, MAC(row));
    ethernet_h_set_ether_type(frame, 0x0800);
    ipv4_h_set_version(ip, 4);
    ipv4_h_set_ihl(ip, 5);
    ipv4_h_set_total_len(ip, ATP_RACK_BYTES - ETHERNET_H_BYTES);
    ipv4_h_set_ttl(ip, 64);
    ipv4_h_set_protocol(ip, 17);
    ipv4_h_set_src_addr(ip, IP(row));
    ipv4_h_set_dst_addr(ip, parameters ? 0xe0000007u : IP(SERVER));
    ipv4_h_set_hdr_checksum(ip, sk_checksum(ip, IPV4_H_BYTES));
    udp_h_set_src_port(udp, UDP_PORT);
    udp_h_set_dst_port(udp, UDP_PORT);
    udp_h_set_length(udp, ATP_RACK_BYTES - ETHERNET_H_BYTES - IPV4_H_BYTES);
    atp_h_set_bitmap0(atp, parameters ? 0 : 1u << row);
    atp_h_set_fan_in0(atp, ATP_RACK_WORKERS - 1);
    atp_h_set_is_ack(atp, parameters);
    // of the 16,384 of pipe 0, where all ports are
    atp_h_set_index(atp, (uint16_t)(fragment * 0x9e3779b1u >> 18));
    atp_h_set_fragment(atp, JOB << 24 | (fragment + 1));
    for (unsigned i = 0; i < VALUES; i++) {
        const uint32_t be =
            htobe32((uint32_t)(parameters ? (int32_t)(fragment + i) : value(row, fragment, i)));
        memcpy(frame + VALUES_AT + 4 * i, &be, 4);
    }
}

static void make_frames(struct atp_rack *r) {
    r->stride = (ATP_RACK_BYTES + 127) & ~127u;
    r->frames = aligned_alloc(128, ATP_RACK_PACKETS * r->stride);
    r->buffers = aligned_alloc(64, (size_t)ROWS * ATP_RACK_BURST * BUFFER);
    if (!r->frames || !r->buffers)
        abort();
    memset(r->frames, 0, ATP_RACK_PACKETS * r->stride);
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned f = 0; f < FRAGMENTS; f++)
            make_frame(frame_of(r, f, row), f, row);
}

// ---- running ----

// What the switch is to send: to the server the last worker's packet with all bits and the sums,
// past its first switch; to a worker the parameters as they are.
static bool is_right(const struct atp_rack *r, uint16_t port, const uint8_t *frame,
                     uint32_t length) {
    const uint8_t *const atp = frame + VALUES_AT - ATP_H_BYTES;
    if (length != ATP_RACK_BYTES)
        return false;
    const unsigned fragment = (atp_h_get_fragment(atp) & 0xffffff) - 1;
    if (fragment >= FRAGMENTS)
        return false;
    if (port != SERVER)
        return memcmp(frame, frame_of(r, fragment, SERVER), ATP_RACK_BYTES) == 0;
    uint8_t expected[ATP_RACK_BYTES];
    memcpy(expected, frame_of(r, fragment, ATP_RACK_WORKERS - 1), sizeof expected);
    atp_h_set_bitmap0(expected + VALUES_AT - ATP_H_BYTES, (1u << ATP_RACK_WORKERS) - 1);
    atp_h_set_edge(expected + VALUES_AT - ATP_H_BYTES, 1);
    for (unsigned i = 0; i < VALUES; i++) {
        const uint32_t be = htobe32((uint32_t)saturated_sum(fragment, i));
        memcpy(expected + VALUES_AT + 4 * i, &be, 4);
    }
    return memcmp(frame, expected, sizeof expected) == 0;
}

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct atp_rack *r = aux;
    if (port == SERVER)
        r->sums++;
    else
        r->parameters++;
    if (r->verify)
        r->wrong += !is_right(r, port, frame, length);
    return true;
}

static void fill(struct atp_rack *r, unsigned batch) {
    const uint8_t *from = r->frames + (size_t)batch * ROWS * ATP_RACK_BURST * r->stride;
    for (unsigned f = 0; f < ROWS * ATP_RACK_BURST; f++, from += r->stride)
        memcpy(r->buffers + SK_LENT_FRONT + (size_t)f * BUFFER, from, ATP_RACK_BYTES);
}

static void work_burst(struct atp_rack *r, unsigned row, uint64_t now) {
    struct sk_lent_frame lent[ATP_RACK_BURST];
    uint8_t *at = r->buffers + SK_LENT_FRONT + (size_t)row * ATP_RACK_BURST * BUFFER;
    for (unsigned i = 0; i < ATP_RACK_BURST; i++, at += BUFFER)
        lent[i] = (struct sk_lent_frame){now, at, ATP_RACK_BYTES, (uint16_t)row};
    sk_core_rx_lent(sk_switch_core(r->rig.sw, 0), lent, ATP_RACK_BURST);
}

static uint64_t round_ticks(void *aux) {
    struct atp_rack *r = aux;
    uint64_t ticks = 0;
    for (unsigned batch = 0; batch < ATP_RACK_BATCHES; batch++) {
        fill(r, batch);
        const uint64_t from = bench_tsc();
        for (unsigned row = 0; row < ROWS; row++)
            work_burst(r, row, sk_switch_now(r->rig.sw) + 1000);
        ticks += bench_tsc() - from;
    }
    return ticks;
}

uint64_t atp_rack_work(void *aux, uint64_t times) {
    struct atp_rack *r = aux;
    r->took = bench_rounds(round_ticks, r, times) / ATP_RACK_PACKETS;
    return times * ATP_RACK_PACKETS;
}

double atp_rack_took(void *aux) {
    return ((const struct atp_rack *)aux)->took;
}

static void check(struct atp_rack *r) {
    r->verify = true;
    // the second time the aggregators are not fresh
    atp_rack_work(r, 2);
    r->verify = false;
    if (r->sums != 2 * FRAGMENTS || r->parameters != 2 * FRAGMENTS * ATP_RACK_WORKERS || r->wrong)
        rig_give_up("atp sent %llu sums and %llu parameters, %llu of them wrong",
                    (unsigned long long)r->sums, (unsigned long long)r->parameters,
                    (unsigned long long)r->wrong);
}

struct atp_rack *atp_rack_new(void) {
    struct atp_rack *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    const struct sk_switch_options options = {.tx = tx, .aux = r};
    r->rig = rig_new("atp/atp.p4", false, configuration(), &options);
    make_frames(r);
    check(r);
    return r;
}

void atp_rack_free(struct atp_rack *r) {
    rig_free(&r->rig);
    free(r->frames);
    free(r->buffers);
    free(r);
}

struct ideal_load atp_rack_load(const struct atp_rack *r) {
    return (struct ideal_load){.frames = r->frames,
                               .stride = r->stride,
                               .values_at = VALUES_AT,
                               .k = VALUES,
                               .batches = ATP_RACK_BATCHES,
                               .rows = ROWS,
                               .slots = ATP_RACK_BURST,
                               .senders = ATP_RACK_WORKERS,
                               .saturating = true,
                               .packets = "atp's packets",
                               .counted = ATP_RACK_PACKETS};
}

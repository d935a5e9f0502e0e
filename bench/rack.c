// SPDX-License-Identifier: Apache-2.0
#include "bench/rack.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/rig.h"
#include "hosts/core/halves.h"
#include "hosts/roce/frame.h"
#include "hosts/switchml/frame.h"
#include "pipeline/switch/core.h"

#define JOB   RACK_JOB
#define GROUP 100
#define IP(w) (0x0a000001u + (w))
// Buffers that frames are lent in, and how far apart they lie: not in the same sets of the cache.
// Where they are copied while the switch works, so many at a time.
#define BUFFER 2496u
#define LENT   4u
_Static_assert(BUFFER % 64 == 0 && BUFFER >= SK_LENT_FRONT + ROCE_MAX_FRAME + SK_LENT_BEHIND,
               "room for 256 elements");
_Static_assert(RACK_SLOTS % LENT == 0, "a burst is lent in whole parts");

// ---- the switch's configuration, in the words of p4/switchml/README.md ----

static json_t *admission(unsigned w, unsigned workers, unsigned slots) {
    return json_pack("{s:s, s:{s:i, s:I, s:i}, s:s, s:{s:I, s:i, s:i, s:i, s:i, s:i, s:i}}", //
                     "table", "pipe.Ingress.admission.workers", "key",                       //
                     "hdr.switchml.job_number", JOB,                                         //
                     "hdr.ipv4.src_addr", (json_int_t)IP(w),                                 //
                     "ig_intr_md.ingress_port", w, "action", "admit", "args",                //
                     "worker_bit", (json_int_t)1 << w, "num_workers", workers,               //
                     "group", GROUP, "rid", w + 1, "port", w, "pool_base", 0,                //
                     "pool_last", slots - 1);
}

static json_t *receiver(unsigned w) {
    return json_pack("{s:s, s:{s:i}, s:s, s:{s:I, s:I, s:i}}", "table", "pipe.Egress.receivers",
                     "key", "md.rid", w + 1, "action", "address", "args", "mac",
                     (json_int_t)0x020000000000 + w, "ip", (json_int_t)IP(w), "udp_port", 0xbee0);
}

json_t *rack_configuration(const char *program, unsigned workers, unsigned slots,
                           const char *const *devices) {
    json_t *ports = json_array(), *nodes = json_array(), *members = json_array(),
           *entries = json_array();
    for (unsigned w = 0; w < workers; w++) {
        json_array_append_new(ports, json_pack("{s:i, s:s}", "port", w, "device", devices[w]));
        json_array_append_new(
            nodes, json_pack("{s:i, s:i, s:[i]}", "id", w + 1, "rid", w + 1, "ports", w));
        json_array_append_new(members, json_integer(w + 1));
        json_array_append_new(entries, admission(w, workers, slots));
        json_array_append_new(entries, receiver(w));
    }
    json_t *root = json_pack("{s:s, s:o, s:{s:o, s:[{s:i, s:o}]}, s:o}", "program", program,
                             "ports", ports, "multicast", "nodes", nodes, "groups", "id", GROUP,
                             "nodes", members, "entries", entries);
    if (!root)
        abort();
    return root;
}

// ---- by RoCEv2 ----

#define QUEUE_PAIR 0x100u // a worker's; the switch's is 64 times its replication id
#define RKEY       0x12340000u

static json_t *rack_writer(unsigned w, bool begins) {
    const int end = 2 * (RACK_SLOTS - 1);
    json_t *args = json_pack("{s:I, s:i, s:i, s:i, s:i, s:i}", "worker_bit", (json_int_t)1 << w,
                             "num_workers", RACK_WORKERS, "group", GROUP, "rid", w + 1, "port", w,
                             begins ? "first" : "end", 0x8000 + (begins ? 0 : end));
    if (begins)
        json_object_set_new(args, "last", json_integer(end + 1));
    return json_pack("{s:s, s:{s:I, s:I, s:i, s:i, s:i}, s:s, s:o}", "table", "writes.writers",
                     "key", "hdr.ipv4.src_addr", (json_int_t)IP(w), "hdr.ipv4.dst_addr",
                     (json_int_t)0x0a0000fe, "ig_intr_md.ingress_port", w, "queue_pairs", w + 1,
                     "begins", begins, "action", begins ? "begin" : "go_on", "args", args);
}

static json_t *rack_queue_pair(unsigned w) {
    return json_pack("{s:s, s:{s:i, s:i}, s:s, s:{s:i, s:i, s:i}}", "table", "results.queue_pairs",
                     "key", "md.rid", w + 1, "queue_pair", 0, "action", "queue_pair", "args", "qpn",
                     QUEUE_PAIR, "rkey_high", RKEY >> 16, "rkey", RKEY & 0xffff);
}

static struct sk_endpoint rack_station(unsigned last, uint32_t ip) {
    return (struct sk_endpoint){.mac = {2, 0, 0, 0, 0, (uint8_t)last}, .ip = ip};
}

static enum roce_opcode rack_opcode(unsigned slot) {
    return slot == 0               ? ROCE_WRITE_FIRST
           : slot + 1 < RACK_SLOTS ? ROCE_WRITE_MIDDLE
                                   : ROCE_WRITE_LAST_IMMEDIATE;
}

static uint32_t element(unsigned worker, unsigned slot, unsigned version, unsigned i);

static void make_roce_frame(const struct rack *r, unsigned version, unsigned worker,
                            unsigned slot) {
    const struct sk_endpoint from = rack_station(worker, IP(worker)),
                             to = rack_station(0xfe, 0x0a0000fe);
    const struct roce_packet p = {.opcode = rack_opcode(slot),
                                  .qpn = (worker + 1) << 6,
                                  .rkey = version,
                                  .length = RACK_SLOTS * r->k * 4,
                                  .immediate = {0, 0, 3, 0},
                                  .bytes = r->k * 4};
    size_t length;
    uint8_t *at = roce_frame_begin(rack_frame(r, version, worker, slot), &from, &to, &p, &length);
    for (unsigned i = 0; i < r->k; i++) {
        const uint32_t be = htobe32(element(worker, slot, version, i));
        memcpy(at + 4 * (size_t)i, &be, 4);
    }
}

// The next packet of its queue pair. It is the n-th of the round.
static void rack_number(const struct rack *r, uint8_t *frame, unsigned n) {
    const unsigned slot = n % RACK_SLOTS, version = n / RACK_SLOTS / RACK_WORKERS;
    const uint32_t be = htobe32((r->psn + version * RACK_SLOTS + slot) & ROCE_PSN_MASK);
    memcpy(frame + ROCE_BTH_AT + 8, &be, 4);
    roce_seal(frame);
}

// Answers come in the order of slots and versions.
static bool is_roce_sum(struct rack *r, uint16_t port, const uint8_t *frame, uint32_t length) {
    const struct sk_endpoint self = rack_station(port, IP(port)),
                             peer = rack_station(0xfe, 0x0a0000fe);
    const uint32_t number = r->answers[port];
    const unsigned slot = number % RACK_SLOTS, version = number / RACK_SLOTS % 2;
    uint8_t sealed[ROCE_MAX_FRAME];
    struct roce_packet p;
    if (r->cards && length <= sizeof sealed && roce_is(frame, length)) { // as one does
        memcpy(sealed, frame, length);
        roce_seal(sealed);
        frame = sealed;
    }
    if (roce_frame_read(frame, length, &self, &peer, &p) != ROCE_ACCEPTED ||
        p.opcode != rack_opcode(slot) || p.psn != (number & ROCE_PSN_MASK) || p.qpn != QUEUE_PAIR ||
        p.bytes != r->k * 4)
        return false;
    for (unsigned i = 0; i < r->k; i++) {
        uint32_t got, sum = 0;
        memcpy(&got, p.payload + 4 * (size_t)i, 4);
        for (unsigned w = 0; w < RACK_WORKERS; w++)
            sum += element(w, slot, version, i);
        if (be32toh(got) != sum)
            return false;
    }
    return true;
}

// Nobody opens the devices, but each must have a name of its own.
static json_t *configuration(const struct rack *r) {
    static const char *const devices[RACK_WORKERS] = {"m0", "m1", "m2", "m3",
                                                      "m4", "m5", "m6", "m7"};
    json_t *root = rack_configuration(r->roce  ? "with_roce.p4"
                                      : r->f16 ? "halves.p4"
                                               : "switchml.p4",
                                      RACK_WORKERS, RACK_SLOTS, devices);
    json_t *entries = json_object_get(root, "entries");
    if (r->f16)
        json_object_set_new(root, "filled", json_pack("[{s:s}]", "tables", "halves"));
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry) {
        json_t *args = json_object_get(entry, "args");
        if (r->roce && json_object_get(args, "udp_port"))
            json_object_set_new(args, "udp_port", json_integer(ROCE_UDP_PORT));
    }
    for (unsigned w = 0; r->roce && w < RACK_WORKERS; w++) {
        json_array_append_new(entries, rack_writer(w, true));
        json_array_append_new(entries, rack_writer(w, false));
        json_array_append_new(entries, rack_queue_pair(w));
    }
    return root;
}

// Of the packet for a slot.
static unsigned rack_length(const struct rack *r, unsigned slot) {
    const enum roce_opcode o = rack_opcode(slot);
    return r->frame_bytes + (r->roce && roce_begins(o) ? 16 : 0) +
           (r->roce && roce_has_immediate(o) ? 4 : 0);
}

// ---- packets ----

// Element i of a worker's packet: different for each, and sums that wrap are among them.
static uint32_t element(unsigned worker, unsigned slot, unsigned version, unsigned i) {
    return (worker + 1) * 0x9e3779b1u * (slot * 2 + version + 1) + i * 0x85ebca6bu;
}

// Of 16-bit floats: of many sizes and both signs, below 2.
static uint16_t half_element(unsigned worker, unsigned slot, unsigned version, unsigned i) {
    return (element(worker, slot, version, i) >> 16) & 0xbfff;
}

uint8_t *rack_frame(const struct rack *r, unsigned version, unsigned worker, unsigned slot) {
    return r->frames + (size_t)((version * RACK_WORKERS + worker) * RACK_SLOTS + slot) * r->stride;
}

static void make_frame(const struct rack *r, unsigned version, unsigned worker, unsigned slot) {
    const struct swml_flow flow = {
        .worker = {.mac = {2, 0, 0, 0, 0, (uint8_t)worker}, .port = 0xbee0, .ip = IP(worker)},
        .fabric = {.mac = {2, 0, 0, 0, 0, 0xfe}, .port = 0xbee0, .ip = 0x0a0000fe},
        .job = JOB,
        .k = (uint16_t)r->k,
        .halves = r->f16,
    };
    uint8_t *frame = rack_frame(r, version, worker, slot);
    swml_frame_init(frame, &flow);
    swml_frame_set_chunk(
        frame, &(struct swml_chunk){
                   .slot = (uint16_t)slot, .version = version, .e0 = 3, .tsi = slot * 2 + version});
    for (unsigned i = 0; i < r->k && r->f16; i++) {
        uint16_t be = htobe16(half_element(worker, slot, version, i));
        memcpy(frame + SWML_HEADER_BYTES + 2 * i, &be, 2);
    }
    for (unsigned i = 0; i < r->k && !r->f16; i++) {
        uint32_t be = htobe32(element(worker, slot, version, i));
        memcpy(frame + SWML_HEADER_BYTES + 4 * i, &be, 4);
    }
}

static void make_frames(struct rack *r) {
    r->frame_bytes = r->roce ? ROCE_BTH_AT + ROCE_BTH_BYTES + 4 * r->k + ROCE_CRC_BYTES
                             : SWML_HEADER_BYTES + (r->f16 ? 2 : 4) * r->k;
    r->stride = (r->frame_bytes + (r->roce ? 16 : 0) + 127) & ~127u;
    r->frames = aligned_alloc(128, (size_t)RACK_PACKETS * r->stride);
    r->buffers = aligned_alloc(64, (size_t)RACK_PACKETS * BUFFER);
    if (!r->frames || !r->buffers)
        abort();
    for (unsigned v = 0; v < 2; v++)
        for (unsigned w = 0; w < RACK_WORKERS; w++)
            for (unsigned s = 0; s < RACK_SLOTS; s++)
                (r->roce ? make_roce_frame : make_frame)(r, v, w, s);
}

// ---- running ----

static bool is_half_sum(const uint8_t *elements, unsigned slot, unsigned version, unsigned k) {
    for (unsigned i = 0; i < k; i++) {
        int32_t sum = 0;
        uint16_t got;
        memcpy(&got, elements + 2 * i, 2);
        for (unsigned w = 0; w < RACK_WORKERS; w++)
            sum = sk_half_add(sum, sk_half_number(half_element(w, slot, version, i)));
        if (be16toh(got) != sk_half_of_sum(sum))
            return false;
    }
    return true;
}

static bool is_sum(const struct rack *r, uint16_t port, const uint8_t *frame, uint32_t length) {
    const struct swml_flow flow = {
        .worker = {.mac = {2, 0, 0, 0, 0, (uint8_t)port}, .port = 0xbee0, .ip = IP(port)},
        .fabric = {.mac = {2, 0, 0, 0, 0, 0xfe}, .port = 0xbee0, .ip = 0x0a0000fe},
        .job = JOB,
        .k = (uint16_t)r->k,
        .halves = r->f16,
    };
    struct swml_chunk chunk;
    if (swml_frame_check(&flow, frame, length, &chunk) != SWML_ACCEPTED || chunk.e0 != 3)
        return false;
    if (r->f16)
        return is_half_sum(frame + SWML_HEADER_BYTES, chunk.slot, chunk.version, r->k);
    for (unsigned i = 0; i < r->k; i++) {
        uint32_t got, sum = 0;
        memcpy(&got, frame + SWML_HEADER_BYTES + 4 * i, 4);
        for (unsigned w = 0; w < RACK_WORKERS; w++)
            sum += element(w, chunk.slot, chunk.version, i);
        if (be32toh(got) != sum)
            return false;
    }
    return true;
}

void rack_take(struct rack *r, uint16_t port, const uint8_t *frame, uint32_t length) {
    r->sent++;
    r->sent_bytes += length;
    if (r->verify)
        r->wrong +=
            !(r->roce ? is_roce_sum(r, port, frame, length) : is_sum(r, port, frame, length));
    r->answers[port % RACK_WORKERS]++;
    if (r->on_sent)
        r->on_sent(r->on_sent_aux, frame);
}

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct rack *r = aux;
    if (__builtin_expect(r->verify || r->on_sent, 0)) {
        rack_take(r, port, frame, length);
        return true;
    }
    r->sent++;
    r->sent_bytes += length;
    return true;
}

// ---- as a device would ----

static void fill(struct rack *r) {
    for (unsigned f = 0; f < RACK_PACKETS; f++) {
        uint8_t *to = r->buffers + SK_LENT_FRONT + (size_t)f * BUFFER;
        memcpy(to, r->frames + (size_t)f * r->stride, rack_length(r, f % RACK_SLOTS));
        if (r->roce)
            rack_number(r, to, f);
    }
    r->psn += 2 * RACK_SLOTS;
}

static void work_burst(struct rack *r, unsigned burst, uint64_t now) {
    struct sk_lent_frame lent[RACK_SLOTS];
    uint8_t *at = r->buffers + SK_LENT_FRONT + (size_t)burst * RACK_SLOTS * BUFFER;
    for (unsigned i = 0; i < RACK_SLOTS; i++, at += BUFFER)
        lent[i] =
            (struct sk_lent_frame){now, at, rack_length(r, i), (uint16_t)(burst % RACK_WORKERS)};
    sk_core_rx_lent(sk_switch_core(r->sw, 0), lent, RACK_SLOTS);
}

static uint64_t round_ticks(void *aux) {
    struct rack *r = aux;
    fill(r);
    const uint64_t from = bench_tsc();
    for (unsigned burst = 0; burst < 2 * RACK_WORKERS; burst++)
        work_burst(r, burst, sk_switch_now(r->sw) + 1000);
    return bench_tsc() - from;
}

uint64_t rack_work(void *aux, uint64_t times) {
    struct rack *r = aux;
    r->took = bench_rounds(round_ticks, r, times) / RACK_PACKETS;
    return times * RACK_PACKETS;
}

double rack_took(void *aux) {
    return ((const struct rack *)aux)->took;
}

// ---- copies, some at a time ----

// A switch may change a frame where it lies, so it gets copies: some at a time, as more would push
// others out of the cache, and the next ones fetched before.
static void copy_burst(struct rack *r, unsigned burst, uint64_t now) {
    const uint8_t *from = r->frames + (size_t)burst * RACK_SLOTS * r->stride;
    struct sk_lent_frame lent[LENT];
    for (unsigned i = 0; i < RACK_SLOTS; i += LENT) {
        for (unsigned k = 0; k < LENT; k++, from += r->stride) {
            uint8_t *to = r->buffers + SK_LENT_FRONT + (size_t)k * BUFFER;
            lent[k] =
                (struct sk_lent_frame){now, to, r->frame_bytes, (uint16_t)(burst % RACK_WORKERS)};
            memcpy(to, from, r->frame_bytes);
        }
        for (unsigned at = 0; i + LENT < RACK_SLOTS && at < LENT * r->stride; at += 64)
            __builtin_prefetch(from + at);
        sk_core_rx_lent(sk_switch_core(r->sw, 0), lent, LENT);
    }
}

uint64_t rack_work_copied(void *aux, uint64_t times) {
    struct rack *r = aux;
    for (uint64_t t = 0; t < times; t++)
        for (unsigned burst = 0; burst < 2 * RACK_WORKERS; burst++)
            copy_burst(r, burst, sk_switch_now(r->sw) + 1000);
    return times * RACK_PACKETS;
}

static void check(struct rack *r) {
    const uint64_t results = (uint64_t)RACK_SLOTS * 2 * RACK_WORKERS;
    r->verify = true;
    // the second time the slots are not fresh
    rack_work(r, 2);
    r->verify = false;
    if (r->sent != 2 * results || r->wrong)
        rig_give_up(
            "switchml with %u elements sent %llu results instead of %llu, %llu of them wrong", r->k,
            (unsigned long long)r->sent, (unsigned long long)(2 * results),
            (unsigned long long)r->wrong);
}

// ---- making ----

static struct rack *rack_make(unsigned k, bool scalar, bool f16, bool roce, bool cards) {
    struct rack *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->k = k;
    r->f16 = f16;
    r->roce = roce;
    r->cards = cards;
    const struct sk_switch_options options = {.tx = tx, .aux = r};
    const struct rig rig = rig_new(cards  ? "../bench/roce_by_cards.p4"
                                   : roce ? "switchml/with_roce.p4"
                                   : f16  ? "switchml/halves.p4"
                                          : "switchml/switchml.p4",
                                   scalar, configuration(r), &options);
    r->program = rig.program;
    r->sw = rig.sw;
    make_frames(r);
    check(r);
    return r;
}

struct rack *rack_new(unsigned k, bool scalar) {
    return rack_make(k, scalar, false, false, false);
}

struct rack *rack_new_f16(unsigned k) {
    return rack_make(k, false, true, false, false);
}

struct rack *rack_new_roce(unsigned k, bool cards) {
    return rack_make(k, false, false, true, cards);
}

void rack_free(struct rack *r) {
    rig_free(&(struct rig){r->program, r->sw});
    free(r->frames);
    free(r->buffers);
    free(r);
}

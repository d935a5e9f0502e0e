// SPDX-License-Identifier: Apache-2.0
#include "bench/libra_rack.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "control/tables/names.h"
#include "libra_wire.h"
#include "pipeline/switch/core.h"

#define JOB   3u
#define EPOCH 7u
#define BUFFER                                                                                     \
    1728u // room for a frame, and how far apart they are: not in the same sets of the cache

// ---- the switch's configuration, in the words of p4/libra/README.md ----

static json_t *rack_worker(unsigned w) {
    return json_pack("{s:s, s:{s:i, s:i, s:I, s:i}, s:s, s:{s:i, s:i, s:i, s:i}}", "table",
                     "admission.workers", "key", "hdr.libra.job", JOB, "hdr.libra.worker", w,
                     "hdr.ipv4.src_addr", (json_int_t)(0x0a000001u + w), "ig_intr_md.ingress_port",
                     w, "action", "admit", "args", "cell_base", 0, "cell_last",
                     LIBRA_RACK_CELLS - 1, "record_base", w * LIBRA_WINDOW_MOST, "epoch", EPOCH);
}

static json_t *rack_configuration(void) {
    json_t *ports = json_array(), *entries = json_array();
    for (unsigned w = 0; w < LIBRA_RACK_WORKERS; w++) {
        char device[8]; // nobody opens it, but each must have a name of its own
        snprintf(device, sizeof device, "m%u", w);
        json_array_append_new(ports, json_pack("{s:i, s:s}", "port", w, "device", device));
        json_array_append_new(entries, rack_worker(w));
    }
    json_t *root =
        json_pack("{s:s, s:o, s:o}", "program", "libra.p4", "ports", ports, "entries", entries);
    if (!root)
        abort();
    return root;
}

static int rack_fill_table(void *sw, const char *table, const char *action, const uint32_t *values,
                           size_t n) {
    struct sk_error err;
    if (sk_control_table_fill(sw, table, action, values, n, -1, &err))
        rig_give_up("%s: %s", table, err.text);
    return 0;
}

// ---- packets ----

static unsigned rack_at(unsigned batch, unsigned worker, unsigned i) {
    return (batch * LIBRA_RACK_WORKERS + worker) * LIBRA_RACK_BURST + i;
}

// The pair of a packet at a place: 16 times an odd number is different for each packet.
static struct libra_pair rack_pair(const struct libra_rack *r, unsigned packet, unsigned place) {
    const uint32_t cell = (packet * 5167u + place * 977u) % LIBRA_RACK_CELLS;
    const float value = (float)((int)((packet * 16 + place) * 2654435761u % 20001) - 10000) * 1e-4f;
    struct libra_pair p = {cell * LIBRA_PLACES + place, packet * 31 + place};
    if (r->floats)
        memcpy(&p.value, &value, sizeof value);
    return p;
}

static void rack_make_frame(const struct libra_rack *r, uint8_t *frame, unsigned packet,
                            unsigned worker) {
    const struct libra_flow flow = {.worker = {{2, 0, 0, 0, 0, (uint8_t)(worker + 1)},
                                               (uint16_t)(40000 + worker),
                                               0x0a000001u + worker},
                                    .fabric = {{2, 0, 0, 0, 0xff, 1}, LIBRA_PORT, 0x0a0000feu},
                                    .job = JOB,
                                    .number = (uint16_t)worker,
                                    .epoch = EPOCH};
    const struct libra_header header = {.kind = LIBRA_PUSH, .sequence = 1};
    struct libra_packet p = {.used = 0xffff};
    for (unsigned place = 0; place < LIBRA_PLACES; place++)
        p.places[place] = rack_pair(r, packet, place);
    libra_frame_write(frame, &flow, &header, &p);
}

static void rack_make_frames(struct libra_rack *r) {
    r->frames = aligned_alloc(128, (size_t)LIBRA_RACK_PACKETS * LIBRA_RACK_STRIDE);
    r->buffers = aligned_alloc(64, (size_t)LIBRA_RACK_WORKERS * LIBRA_RACK_BURST * BUFFER);
    if (!r->frames || !r->buffers)
        abort();
    memset(r->frames, 0, (size_t)LIBRA_RACK_PACKETS * LIBRA_RACK_STRIDE);
    for (unsigned b = 0; b < LIBRA_RACK_BATCHES; b++)
        for (unsigned w = 0; w < LIBRA_RACK_WORKERS; w++)
            for (unsigned i = 0; i < LIBRA_RACK_BURST; i++) {
                const unsigned packet = rack_at(b, w, i);
                rack_make_frame(r, r->frames + (size_t)packet * LIBRA_RACK_STRIDE, packet, w);
            }
}

// ---- running ----

static bool rack_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct libra_rack *r = aux;
    const bool ack = length == LIBRA_HEADERS && port < LIBRA_RACK_WORKERS &&
                     libra_h_get_kind(frame + LIBRA_HEADERS - LIBRA_H_BYTES) == LIBRA_ACK &&
                     libra_h_get_places(frame + LIBRA_HEADERS - LIBRA_H_BYTES) == 0;
    r->acks += ack;
    r->others += !ack;
    return true;
}

static void rack_fill_batch(struct libra_rack *r, unsigned batch) {
    const uint8_t *from = r->frames + (size_t)rack_at(batch, 0, 0) * LIBRA_RACK_STRIDE;
    uint8_t *to = r->buffers + SK_LENT_FRONT;
    for (unsigned w = 0; w < LIBRA_RACK_WORKERS; w++)
        for (unsigned i = 0; i < LIBRA_RACK_BURST; i++) {
            memcpy(to, from, LIBRA_FRAME_BYTES);
            libra_h_set_sequence(to + LIBRA_HEADERS - LIBRA_H_BYTES, r->sequence + i);
            from += LIBRA_RACK_STRIDE;
            to += BUFFER;
        }
    r->sequence += LIBRA_RACK_BURST;
    if (r->sequence > LIBRA_SEQUENCE_LAST - LIBRA_RACK_BURST)
        rig_give_up("libra: sequence numbers are used up");
}

static void rack_burst(struct libra_rack *r, unsigned w, uint64_t now) {
    struct sk_lent_frame lent[LIBRA_RACK_BURST];
    uint8_t *at = r->buffers + SK_LENT_FRONT + (size_t)w * LIBRA_RACK_BURST * BUFFER;
    for (unsigned i = 0; i < LIBRA_RACK_BURST; i++, at += BUFFER)
        lent[i] = (struct sk_lent_frame){now, at, LIBRA_FRAME_BYTES, (uint16_t)w};
    sk_core_rx_lent(sk_switch_core(r->rig.sw, 0), lent, LIBRA_RACK_BURST);
}

static uint64_t rack_round(void *aux) {
    struct libra_rack *r = aux;
    uint64_t ticks = 0;
    for (unsigned batch = 0; batch < LIBRA_RACK_BATCHES; batch++) {
        rack_fill_batch(r, batch);
        const uint64_t from = bench_tsc();
        for (unsigned w = 0; w < LIBRA_RACK_WORKERS; w++)
            rack_burst(r, w, sk_switch_now(r->rig.sw) + 1000);
        ticks += bench_tsc() - from;
    }
    return ticks;
}

uint64_t libra_rack_work(void *aux, uint64_t times) {
    struct libra_rack *r = aux;
    r->took = bench_rounds(rack_round, r, times) / LIBRA_RACK_PACKETS;
    return times * LIBRA_RACK_PACKETS;
}

double libra_rack_took(void *aux) {
    return ((const struct libra_rack *)aux)->took;
}

// ---- checking ----

static uint32_t rack_cell(const struct libra_rack *r, uint32_t rank) {
    const unsigned reg = rank % LIBRA_PLACES;
    struct sk_object object;
    struct sk_error err;
    char name[32];
    if (r->floats)
        snprintf(name, sizeof name, "lane%u.cells%u", reg % 2, reg / 2);
    else
        snprintf(name, sizeof name, "place%02u.cells", reg);
    if (sk_find_object(r->rig.sw, SK_REGISTER, name, &object, &err))
        rig_give_up("%s", err.text);
    return (uint32_t)object.desc->register_read(sk_switch_pipe(r->rig.sw, 0), object.index,
                                                rank / LIBRA_PLACES, 0);
}

static void rack_check(struct libra_rack *r) {
    const struct libra_adder *adder = libra_adder();
    libra_rack_work(r, 2);
    if (r->acks != 2 * LIBRA_RACK_PACKETS || r->others)
        rig_give_up("libra sent %llu acks and %llu other frames", (unsigned long long)r->acks,
                    (unsigned long long)r->others);
    for (unsigned p = 0; p < LIBRA_RACK_PACKETS; p++)
        for (unsigned place = 0; place < LIBRA_PLACES; place++) {
            const struct libra_pair pair = rack_pair(r, p, place);
            const uint32_t once = r->floats ? libra_add(adder, 0, pair.value, NULL) : pair.value,
                           twice = r->floats ? libra_add(adder, once, pair.value, NULL)
                                             : once + pair.value;
            if (rack_cell(r, pair.rank) != twice)
                rig_give_up("libra: the cell of rank %u is %#x and not %#x", pair.rank,
                            rack_cell(r, pair.rank), twice);
        }
}

struct libra_rack *libra_rack_new(bool floats) {
    struct libra_rack *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->floats = floats;
    r->sequence = 1;
    const struct sk_switch_options options = {.tx = rack_tx, .aux = r};
    r->rig = rig_new(floats ? "libra/libra.p4" : "libra/integer.p4", false, rack_configuration(),
                     &options);
    if (floats)
        libra_adder_fill(libra_adder(), rack_fill_table, r->rig.sw);
    rack_make_frames(r);
    rack_check(r);
    return r;
}

void libra_rack_free(struct libra_rack *r) {
    rig_free(&r->rig);
    free(r->frames);
    free(r->buffers);
    free(r);
}

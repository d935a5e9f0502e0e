// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/atp/frame.h"
#include "hosts/libra/cold.h"
#include "wire/switchml.h"

#define UDP_AT      34 // behind Ethernet and IPv4 without options
#define PROTOCOL_AT 42

struct sim_key sim_key_of(const uint8_t *frame, size_t length) {
    struct sim_key key = {SIM_OTHER, 0, 0};
    if (length < PROTOCOL_AT + SWML_OWN_BYTES || frame[12] != 8 || frame[13] || frame[23] != 17)
        return key;
    const uint16_t to = (uint16_t)(frame[UDP_AT + 2] << 8 | frame[UDP_AT + 3]),
                   from = (uint16_t)(frame[UDP_AT] << 8 | frame[UDP_AT + 1]);
    const uint8_t *h = frame + PROTOCOL_AT;
    if (to == ATP_UDP_PORT) {
        if (length < PROTOCOL_AT + 16)
            return key;
        key.protocol = SIM_ATP;
        key.job = h[12];
        key.number = (uint32_t)h[13] << 16 | (uint32_t)h[14] << 8 | h[15];
    } else if ((to & 0xfff0) == 0xbee0 || (from & 0xfff0) == 0xbee0) {
        key.protocol = SIM_SWITCHML;
        key.job = h[1];
        key.number = (uint32_t)(h[6] & 0x7f) << 8 | h[7];
    } else if (to == LIBRA_PORT || from == LIBRA_PORT || to == LIBRA_COLD_PORT ||
               from == LIBRA_COLD_PORT) {
        key.protocol = SIM_LIBRA;
        key.job = h[1];
        key.number = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | h[7];
    }
    return key;
}

void sim_trace_init(struct sim_trace *t, size_t size, FILE *live) {
    *t = (struct sim_trace){.size = size, .live = live};
    t->ring = size ? malloc(size * sizeof *t->ring) : NULL;
    if (size && !t->ring)
        abort();
}

void sim_trace_free(struct sim_trace *t) {
    free(t->ring);
    *t = (struct sim_trace){0};
}

static void sim_trace_print_atp(const uint8_t *h, FILE *out) {
    fprintf(out,
            " fragment %" PRIu32 " index %u bits %08" PRIx32 "/%08" PRIx32
            " fan-in %u/%u%s%s%s%s%s%s",
            (uint32_t)h[13] << 16 | (uint32_t)h[14] << 8 | h[15], h[10] << 8 | h[11],
            (uint32_t)h[0] << 24 | (uint32_t)h[1] << 16 | (uint32_t)h[2] << 8 | h[3],
            (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | h[7],
            (h[8] & 31) + 1, (h[9] & 31) + 1, h[8] & 0x80 ? " edge" : "",
            h[8] & 0x40 ? " resend" : "", h[8] & 0x20 ? " collision" : "",
            h[9] & 0x80 ? " ecn" : "", h[9] & 0x40 ? " overflow" : "", h[9] & 0x20 ? " ack" : "");
}

static void print_entry(const struct sim_trace_entry *e, FILE *out) {
    const uint8_t *h = e->header;
    fprintf(out, "%14.3f us  %-12s %-14s", (double)e->time / 1000, e->where, e->what);
    if (e->length)
        fprintf(out, " %4" PRIu32 " bytes", e->length);
    if (e->key.protocol != SIM_OTHER)
        fprintf(out, " job %u", e->key.job);
    if (e->key.protocol == SIM_ATP)
        sim_trace_print_atp(h, out);
    if (e->key.protocol == SIM_SWITCHML)
        fprintf(out, " slot %u version %u chunk %" PRIu32, (h[6] & 0x7f) << 8 | h[7], h[6] >> 7,
                (uint32_t)h[2] << 24 | (uint32_t)h[3] << 16 | (uint32_t)h[4] << 8 | h[5]);
    if (e->key.protocol == SIM_LIBRA)
        fprintf(out, " worker %u sequence %" PRIu32 " kind %u%s%s epoch %u places %04x",
                h[2] << 8 | h[3], e->key.number, h[0] >> 4, h[0] & 8 ? " again" : "",
                h[0] & 4 ? " cold" : "", h[10] << 8 | h[11], h[8] << 8 | h[9]);
    fputc('\n', out);
}

void sim_trace_add(struct sim_trace *t, uint64_t now, const char *where, const char *what,
                   const uint8_t *frame, size_t length) {
    struct sim_trace_entry other = {0},
                           *e = t->size ? &t->ring[t->written++ & (t->size - 1)] : &other;
    if (!t->size && !t->live)
        return;
    e->time = now;
    e->where = where;
    e->what = what;
    e->length = (uint32_t)length;
    e->key = frame ? sim_key_of(frame, length) : (struct sim_key){SIM_OTHER, 0, 0};
    if (e->key.protocol != SIM_OTHER)
        memcpy(e->header, frame + PROTOCOL_AT, sizeof e->header);
    if (t->live)
        print_entry(e, t->live);
}

static bool sim_trace_wanted(const struct sim_trace_entry *e, const struct sim_key *key) {
    return !key || (!e->length && e->key.protocol == SIM_OTHER) ||
           (e->key.protocol == key->protocol && e->key.job == key->job &&
            e->key.number == key->number);
}

void sim_trace_print(const struct sim_trace *t, const struct sim_key *key, size_t most, FILE *out) {
    const uint64_t oldest = t->written > t->size ? t->written - t->size : 0;
    uint64_t from = t->written;
    for (size_t n = 0; from > oldest && n < most; from--)
        n += sim_trace_wanted(&t->ring[(from - 1) & (t->size - 1)], key);
    for (; from < t->written; from++)
        if (sim_trace_wanted(&t->ring[from & (t->size - 1)], key))
            print_entry(&t->ring[from & (t->size - 1)], out);
}

// SPDX-License-Identifier: Apache-2.0
//
// fuzz_frame: Libra_s with any frames from the switch and any requests for jobs. Each step of the
// input is a byte that says what comes: a frame as the switch would send it (an answer, an ack, a
// repeated collect, what is left of a push, a member that begins) with some bytes changed, the last
// frame that Libra_s sent with some bytes changed, or bytes of the input alone. Whatever comes,
// memory is used as it should be (the sanitizers see to that), no answer has two copies, and all
// that waits ends when its job is removed.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "control/libra/libra.h"
#include "control/tables/control.h"
#include "hosts/core/udp.h"
#include "hosts/libra/libra.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMBERS 3u // two workers, a server

struct fuzz_input {
    const uint8_t *at, *end;
};

struct fuzz_cpu {
    struct sk_switch *sw;
    struct libra_s *l;
    uint8_t frame[LIBRA_COLD_BYTES]; // the last one
    uint32_t length;
    uint64_t now;
};

static uint8_t fuzz_frame_byte(struct fuzz_input *in) {
    return in->at < in->end ? *in->at++ : 0;
}

static struct sk_endpoint fuzz_frame_end(unsigned m) {
    return (struct sk_endpoint){
        {2, 0, 0, 0, 0, (uint8_t)m}, (uint16_t)(41000 + m), 0x0a000000u + m};
}

static bool fuzz_frame_send(void *aux, const uint8_t *frame, uint32_t length) {
    struct fuzz_cpu *c = aux;
    if (length > sizeof c->frame)
        abort();
    memcpy(c->frame, frame, length);
    c->length = length;
    return true;
}

// The record of a push that is being added, without which nothing of it is taken. There is one job.
static void fuzz_frame_record(struct fuzz_cpu *c, unsigned m, uint32_t sequence) {
    char begun[16];
    struct sk_error err;
    snprintf(begun, sizeof begun, "%u", 2 * sequence);
    if (sk_control_register_write(c->sw, "records.records",
                                  m * LIBRA_WINDOW_MOST + sequence % LIBRA_WINDOW_MOST, NULL, begun,
                                  -1, &err))
        abort();
}

// As the switch turns it round, or passes it on.
static void fuzz_frame_write(struct fuzz_cpu *c, struct fuzz_input *in) {
    const unsigned m = fuzz_frame_byte(in) % MEMBERS, kind = fuzz_frame_byte(in) % 16;
    const struct sk_endpoint host = fuzz_frame_end(m + 1),
                             fabric = {{2, 0, 0, 0, 0, 0xfe}, LIBRA_PORT, 0x0a0000fe};
    const bool to_switch = kind == LIBRA_ACK || kind == LIBRA_JOIN;
    const struct libra_flow flow = {to_switch ? host : fabric, to_switch ? fabric : host, 3,
                                    (uint16_t)m, 7};
    const struct libra_header header = {.kind = (enum libra_kind)kind,
                                        .sequence = fuzz_frame_byte(in) * 257u,
                                        .clock = fuzz_frame_byte(in)};
    struct libra_packet packet = {.used = (uint16_t)(fuzz_frame_byte(in) * 257u)};
    for (unsigned p = 0; p < LIBRA_PLACES; p++)
        packet.places[p] = (struct libra_pair){fuzz_frame_byte(in), 0x3f800000};
    if (kind == LIBRA_JOIN)
        libra_frame_write_join(c->frame, &flow, header.clock);
    else if (kind == LIBRA_ACK)
        libra_frame_write_ack(c->frame, &flow, header.sequence);
    else
        libra_frame_write(c->frame, &flow, &header, &packet);
    if (kind == LIBRA_PUSH || kind == LIBRA_PUSH_ANY)
        fuzz_frame_record(c, m, header.sequence);
    c->length = to_switch ? LIBRA_HEADERS : LIBRA_FRAME_BYTES;
}

static void fuzz_frame_change(struct fuzz_cpu *c, struct fuzz_input *in) {
    for (unsigned changes = fuzz_frame_byte(in) % 4; changes > 0 && c->length > 0; changes--) {
        const uint32_t at = fuzz_frame_byte(in) * 8u + fuzz_frame_byte(in) % 8;
        c->frame[at % c->length] ^= fuzz_frame_byte(in);
    }
    if (c->length >= SK_UDP_BYTES && fuzz_frame_byte(in) == 1) { // so that it is looked at
        memset(c->frame + 24, 0, 2);
        const uint16_t sum = sk_checksum(c->frame + 14, 20);
        c->frame[24] = (uint8_t)(sum >> 8);
        c->frame[25] = (uint8_t)sum;
        memset(c->frame + 40, 0, 2);
    }
}

static void fuzz_frame_job(struct fuzz_cpu *c, const char *op, json_t *request) {
    struct sk_error err;
    struct sk_json doc = {.name = "request", .err = &err};
    const struct sk_at at = {.doc = &doc, .value = request};
    bool known;
    json_decref(libra_s_request(c->l, op, &at, &known));
    json_decref(request);
    if (!known)
        abort();
}

static json_t *fuzz_frame_new_job(const char *layout) {
    return json_pack("{s:s, s:s, s:i, s:[s, s], s:[s]}", "name", "job", "layout", layout,
                     "parameters", 256, "workers", "1:10.0.0.1/02:00:00:00:00:01", "2:10.0.0.2",
                     "servers", "3:10.0.0.3/02:00:00:00:00:03");
}

// A job that is added waits for what the one before has sent, which is all once the frame that
// Libra_s sends to itself is back.
static void fuzz_frame_add(struct fuzz_cpu *c, const char *layout, bool waits) {
    fuzz_frame_job(c, "job.add", fuzz_frame_new_job(layout)); // refused if it is there
    for (unsigned turns = waits ? 0 : 2; turns > 0; turns--) {
        libra_s_frame(c->l, c->frame, c->length, c->now);
        c->now += UINT64_C(2000000);
        libra_s_run(c->l, c->now);
    }
}

static void fuzz_frame_ask(struct fuzz_cpu *c, struct fuzz_input *in) {
    static const char *const ops[] = {"job.list",    "job.remove", "libra.hold",  "libra.save",
                                      "libra.admit", "libra.end",  "libra.status"};
    const char *op = ops[fuzz_frame_byte(in) % (sizeof ops / sizeof *ops)];
    json_t *request = json_pack("{s:s}", "name", "job");
    if (strcmp(op, "libra.admit") == 0)
        json_object_set_new(request, "epoch", json_integer(7 + fuzz_frame_byte(in) % 2));
    fuzz_frame_job(c, op, request);
}

static void fuzz_frame_step(struct fuzz_cpu *c, struct fuzz_input *in, const char *layout) {
    switch (fuzz_frame_byte(in) % 6) {
    case 0:
    case 1:
        fuzz_frame_write(c, in);
        fuzz_frame_change(c, in);
        libra_s_frame(c->l, c->frame, c->length, c->now);
        break;
    case 2:
        fuzz_frame_change(c, in);
        libra_s_frame(c->l, c->frame, c->length, c->now);
        break;
    case 3:
        c->length = fuzz_frame_byte(in);
        for (uint32_t i = 0; i < c->length; i++)
            c->frame[i] = fuzz_frame_byte(in);
        libra_s_frame(c->l, c->frame, c->length, c->now);
        break;
    case 4:
        c->now += fuzz_frame_byte(in) * UINT64_C(1000000);
        libra_s_run(c->l, c->now);
        break;
    default:
        fuzz_frame_ask(c, in);
        fuzz_frame_add(c, layout, fuzz_frame_byte(in) % 4 == 1);
    }
    if (libra_s_waiting(c->l) > MEMBERS * LIBRA_WINDOW_MOST + 1)
        abort();
}

static const char *fuzz_frame_layout(void) {
    static char path[] = "/tmp/silken-fuzz-XXXXXX";
    const uint64_t hot[] = {1, 4, 9, 16, 25};
    struct libra_layout layout;
    struct sk_error err;
    const int fd = mkstemp(path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out || libra_layout_make(&layout, 3, 7, LIBRA_PLACES, hot, 5, &err) ||
        !libra_layout_write(&layout, out) || fclose(out))
        abort();
    libra_layout_clear(&layout);
    return path;
}

static struct sk_switch *fuzz_frame_switch(void) {
    const struct compile_options opt = {.path = "p4/libra/libra.p4"};
    const struct sk_switch_options options = {
        .tx = sk_tx_nowhere, .packet_bytes = 512, .n_packets = 16};
    char error[256], *object = compile_p4(&opt, stderr);
    static struct sk_program *program; // lives as long as the switch
    program = object ? sk_program_load(object, error, sizeof error) : NULL;
    struct sk_switch *sw = program ? sk_switch_new(program, &options, error, sizeof error) : NULL;
    if (!sw)
        abort();
    free(object);
    return sw;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *layout;
    static struct fuzz_cpu c; // its switch lives on, with the entry of its own address
    struct sk_error err;
    if (!layout) {
        layout = fuzz_frame_layout();
        struct sk_json doc = {.name = "section", .err = &err};
        json_t *section =
            json_pack("{s:s, s:s}", "mac", "02:00:00:00:00:fe", "address", "10.0.0.254");
        const struct sk_at at = {.doc = &doc, .value = section};
        c.sw = fuzz_frame_switch();
        const struct libra_s_host host = {
            .sw = c.sw, .cpu_port = 64, .send = fuzz_frame_send, .aux = &c};
        if (!(c.l = libra_s_new(&host, &at, &err)))
            abort();
        json_decref(section);
    }
    struct fuzz_input in = {data, data + size};
    c.length = 0;
    fuzz_frame_add(&c, layout, false);
    while (in.at < in.end)
        fuzz_frame_step(&c, &in, layout);
    fuzz_frame_job(&c, "job.remove", json_pack("{s:s}", "name", "job"));
    if (libra_s_waiting(c.l) > 0)
        abort();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/atp/script.h"

#include <stdlib.h>
#include <string.h>

#include "harness/hosts/atp/rig.h"
#include "harness/hosts/script_bytes.h"
#include "hosts/core/udp.h"

#define TENSORS  6
#define ELEMENTS 700
#define CANARY   0x7eadbeef

static void must(bool condition) {
    if (!condition)
        abort();
}

// Changes some bytes of a frame, mends the header's checksum or not, and cuts it or not.
static size_t spoil(struct script *s, uint8_t *frame) {
    unsigned changes = script_byte(s);
    uint16_t sum;

    changes = changes < 220 ? 0 : changes % 4;
    while (changes-- > 0) {
        size_t at = script_number(s) % ATP_FRAME_BYTES;
        frame[at] = script_byte(s);
        if (script_byte(s) % 2) {
            frame[24] = frame[25] = 0;
            sum = sk_checksum(frame + 14, 20);
            frame[24] = (uint8_t)(sum >> 8);
            frame[25] = (uint8_t)sum;
        }
        if (script_byte(s) == 1)
            return script_number(s) % ATP_FRAME_BYTES;
    }
    return ATP_FRAME_BYTES;
}

// An exact-size copy, so that a read past the end is seen.
static uint8_t *exact(const uint8_t *frame, size_t len) {
    uint8_t *copy = malloc(len ? len : 1);

    must(copy != NULL);
    memcpy(copy, frame, len);
    return copy;
}

static size_t raw_bytes(struct script *s, const uint8_t **bytes) {
    size_t len = script_number(s) % 100, left = s->len - s->at;

    len = len < left ? len : left;
    *bytes = s->bytes + s->at;
    s->at += len;
    return len;
}

// Flags of which most are unlikely.
static void any_flags(struct script *s, struct atp_packet *p) {
    unsigned f = script_byte(s);

    p->ecn = f & 1;
    p->collision = f & 2;
    p->overflow = (f & 0x1c) == 0x1c;
    p->resend = (f & 0xe0) == 0xe0;
}

static void any_values(struct script *s, uint8_t *frame) {
    for (unsigned i = 0; i < 3; i++) {
        frame[ATP_HEADER_BYTES + 4 * (script_byte(s) % ATP_VALUES) + script_byte(s) % 4] =
            script_byte(s);
    }
}

// ---- a worker --------------------------------------------------------------------------------

struct worker_fuzz {
    struct script script;
    struct atp_worker_config config;
    struct atp_worker *worker;
    uint64_t now, given, accepted;
    unsigned submitted, fetched;
    uint64_t lowest;
    int32_t in[TENSORS][ELEMENTS];
    int32_t out[TENSORS][ELEMENTS + 1];
    uint32_t sent; // sequence of the last one
};

static void make_worker(struct worker_fuzz *f) {
    struct script *s = &f->script;
    struct atp_worker_config *c = &f->config;

    *c = rig_worker_config(0, 2);
    c->flow.flow_bits = script_byte(s) % 7;
    c->flow.flow = (uint8_t)((1u << c->flow.flow_bits) - 1);
    c->window_max = 1 + script_byte(s) % 20;
    c->window = 1 + script_byte(s) % c->window_max;
    c->indices = 1 + script_byte(s);
    c->linear = script_byte(s) % 2;
    c->first_fragment = (uint64_t)script_number(s) << 12;
    c->stall_warning = 1000000;
    c->hard_limit = 1000000000;
    f->worker = rig_worker(c);
}

static void submit(struct worker_fuzz *f) {
    struct script *s = &f->script;
    struct atp_tensor t = {.type = script_byte(s) % 2 ? ATP_F32 : ATP_I32};
    unsigned i = f->submitted;
    int rc;

    t.count = script_number(s) % (ELEMENTS + 1);
    if (i == TENSORS)
        return;
    for (size_t j = 0; j < t.count; j += 16)
        f->in[i][j] = (int32_t)(script_number(s) << 16);
    t.in = f->in[i];
    t.out = f->out[i];
    t.cookie = &f->out[i][t.count];
    f->out[i][t.count] = CANARY;
    rc = atp_worker_submit(f->worker, &t, f->now);
    must(rc == 0 || rc == SILKEN_ERR_STALLED);
    f->submitted += rc == 0;
}

static void worker_sends(struct worker_fuzz *f) {
    unsigned count = script_byte(&f->script) % 24;
    uint8_t frame[ATP_FRAME_BYTES];
    struct atp_packet p;

    while (count-- > 0 && rig_sent(f->worker, f->now, frame, &p)) {
        f->sent = p.sequence;
        must(p.job == RIG_JOB && p.index < f->config.indices);
    }
}

static void give_worker(struct worker_fuzz *f, const uint8_t *frame, size_t len) {
    uint8_t *copy = exact(frame, len);

    f->accepted += atp_worker_read(f->worker, copy, len, f->now) == ATP_ACCEPTED;
    free(copy);
    f->given++;
}

static void give_parameters(struct worker_fuzz *f) {
    struct script *s = &f->script;
    uint8_t frame[ATP_FRAME_BYTES] = {0};
    struct atp_packet p = {.is_ack = true, .fan_in0 = 1, .fan_in1 = 1, .job = RIG_JOB};
    uint32_t words = script_byte(s);

    p.sequence =
        atp_sequence(&f->config.flow,
                     atp_unwrap(&f->config.flow, f->sent, UINT64_C(1) << 40) - script_byte(s) % 8);
    p.index = (uint16_t)atp_hash(RIG_JOB, p.sequence, f->config.indices, f->config.linear);
    any_flags(s, &p);
    if (words % 4 == 1)
        p.bitmap0 = ATP_NEW | script_number(s);
    if (words % 4 == 2)
        p.bitmap1 = ATP_NEW | script_number(s) << 16 | script_number(s);
    if (words % 8 == 7)
        p.index = script_byte(s);
    if (p.resend)
        p.bitmap0 = ATP_NEW | ((p.sequence + script_byte(s)) & 0xffffff);
    atp_frame_init(frame, &f->config.flow, false);
    atp_frame_set(frame, &p);
    any_values(s, frame);
    give_worker(f, frame, spoil(s, frame));
}

static void fetch_done(struct worker_fuzz *f) {
    void *cookie;

    while (atp_worker_done(f->worker, &cookie)) {
        must(*(int32_t *)cookie == (int32_t)CANARY);
        f->fetched++;
    }
}

static void worker_step(struct worker_fuzz *f) {
    struct script *s = &f->script;
    const uint8_t *bytes;
    char text[600];
    size_t n;

    switch (script_byte(s) % 16) {
    case 0:
    case 1:
        submit(f);
        break;
    case 2:
        f->now += (uint64_t)script_number(s) * script_number(s);
        atp_worker_expire(f->worker, f->now);
        break;
    case 3:
        n = raw_bytes(s, &bytes);
        give_worker(f, bytes, n);
        break;
    case 4:
        fetch_done(f);
        break;
    case 5:
        n = 1 + script_number(s) % sizeof text;
        atp_worker_explain(f->worker, f->now, text, n);
        must(memchr(text, 0, n) != NULL);
        break;
    default:
        worker_sends(f);
        give_parameters(f);
    }
}

static uint64_t ignored_by_worker(const struct worker_fuzz *f) {
    struct atp_worker_stats stats = atp_worker_stats(f->worker);
    uint64_t total = 0;

    must(stats.ignored[ATP_ACCEPTED] == 0);
    for (int i = 0; i < ATP_REASON_COUNT; i++)
        total += stats.ignored[i];
    return total;
}

static void check_worker(struct worker_fuzz *f) {
    struct atp_worker_stats stats = atp_worker_stats(f->worker);
    bool failed = (atp_worker_expire(f->worker, f->now) & ATP_FAILED) != 0;

    must(f->accepted + ignored_by_worker(f) == f->given);
    must(stats.tensors_done <= f->submitted && f->fetched <= stats.tensors_done);
    must(failed || !atp_worker_busy(f->worker) || atp_worker_deadline(f->worker) != ATP_NEVER);
    must(stats.in_flight <= f->config.window_max && stats.window <= f->config.window_max);
    must(atp_worker_busy(f->worker) == (stats.tensors_done < f->submitted));
}

void script_worker(const uint8_t *bytes, size_t len, struct script_reach *reach) {
    struct worker_fuzz *f = calloc(1, sizeof *f);

    must(f != NULL);
    f->script = (struct script){bytes, len, 0};
    make_worker(f);
    while (f->script.at < f->script.len) {
        worker_step(f);
        check_worker(f);
    }
    fetch_done(f);
    if (reach) {
        reach->accepted += f->accepted;
        reach->ignored += ignored_by_worker(f);
        reach->done += atp_worker_stats(f->worker).tensors_done;
        reach->floats += atp_worker_stats(f->worker).floats;
    }
    atp_worker_free(f->worker);
    free(f);
}

// ---- a server --------------------------------------------------------------------------------

struct server_fuzz {
    struct script script;
    struct atp_server_config config;
    struct atp_server *server;
    uint64_t now, given, accepted, first, restarts;
};

static void any_shape(struct script *s, uint32_t workers, struct atp_shape *shape) {
    uint32_t rack_of[70];

    for (uint32_t i = 0; i < workers; i++)
        rack_of[i] = i % (1 + script_byte(s) % 4);
    must(atp_places(rack_of, workers, script_byte(s) % 4, shape, NULL, NULL) == 0);
}

static void make_server(struct server_fuzz *f) {
    struct script *s = &f->script;
    struct atp_server_config *c = &f->config;
    uint32_t workers = 1 + script_byte(s) % 8;

    atp_server_config_init(c);
    c->flow = rig_flow(0);
    c->flow.flow_bits = script_byte(s) % 7;
    any_shape(s, script_byte(s) == 1 ? 26 : workers, &c->shape);
    c->type = script_byte(s) % 2 ? ATP_F32 : ATP_I32;
    c->indices = 1 + script_byte(s);
    c->window_max = 1 + script_byte(s) % 20;
    c->dynamic_scale = script_byte(s) % 2;
    c->repeat_every = script_byte(s);
    c->first_fragment = f->first = (uint64_t)script_number(s) << 12;
    f->server = rig_server(c);
}

static void give_server(struct server_fuzz *f, const uint8_t *frame, size_t len) {
    uint8_t *copy = exact(frame, len);

    f->accepted += atp_server_read(f->server, copy, len, f->now) == ATP_ACCEPTED;
    free(copy);
    f->given++;
}

static void give_gradient(struct server_fuzz *f) {
    struct script *s = &f->script;
    uint8_t frame[ATP_FRAME_BYTES] = {0};
    struct atp_packet p = {.edge = true, .fan_in0 = 1, .fan_in1 = 1, .job = RIG_JOB};

    p.sequence =
        atp_sequence(&f->config.flow,
                     f->first + (script_byte(s) % 4 ? script_byte(s) % 3 : script_byte(s) % 24) -
                         script_byte(s) % 8 / 7);
    p.index = script_byte(s);
    p.bitmap0 = 1u << script_byte(s) % 8 | 1u << script_byte(s) % 4;
    p.bitmap1 = 1u << script_byte(s) % 4;
    if (script_byte(s) % 8 == 0)
        p.bitmap1 = script_byte(s);
    any_flags(s, &p);
    atp_frame_init(frame, &f->config.flow, true);
    atp_frame_set(frame, &p);
    any_values(s, frame);
    if (script_byte(s) % 8 == 0)
        memcpy(frame + ATP_HEADER_BYTES, "\x7f\xff\xff\xff", 4);
    give_server(f, frame, spoil(s, frame));
}

static void server_sends(struct server_fuzz *f) {
    unsigned count = script_byte(&f->script) % 8;
    uint8_t frame[ATP_FRAME_BYTES];
    struct atp_packet p;

    while (count-- > 0 && rig_answer(f->server, f->now, frame, &p))
        must(p.is_ack && p.job == RIG_JOB);
}

static void reshape(struct server_fuzz *f) {
    struct atp_shape shape;

    any_shape(&f->script, f->config.shape.workers, &shape);
    must(atp_server_reshape(f->server, &shape, f->now, NULL) == 0);
    f->restarts++;
}

static void check_server(struct server_fuzz *f) {
    struct atp_server_stats stats = atp_server_stats(f->server);
    uint64_t total = 0, first = atp_server_first(f->server);
    struct atp_members members;
    bool complete;

    for (int i = 0; i < ATP_REASON_COUNT; i++)
        total += stats.ignored[i];
    must(stats.ignored[ATP_ACCEPTED] == 0 && total + f->accepted == f->given);
    must(first >= f->first);
    f->first = first;
    for (uint64_t n = first; n < first + f->config.window_max; n++) {
        if (atp_server_look(f->server, n, &members, &complete)) {
            unsigned there = (unsigned)__builtin_popcountll(members.word[0]);
            must(there <= f->config.shape.workers);
            must(complete == (there == f->config.shape.workers));
            must(n != first || !complete);
        }
    }
}

void script_server(const uint8_t *bytes, size_t len, struct script_reach *reach) {
    struct server_fuzz *f = calloc(1, sizeof *f);
    const uint8_t *raw;
    size_t n;

    must(f != NULL);
    f->script = (struct script){bytes, len, 0};
    make_server(f);
    while (f->script.at < f->script.len) {
        switch (script_byte(&f->script) % 16) {
        case 0:
            n = raw_bytes(&f->script, &raw);
            give_server(f, raw, n);
            break;
        case 1:
            f->now += (uint64_t)script_number(&f->script) * 100;
            atp_server_expire(f->server, f->now);
            break;
        case 2:
            if (script_byte(&f->script) % 8 == 0)
                reshape(f);
            break;
        case 3:
        case 4:
            server_sends(f);
            break;
        default:
            give_gradient(f);
        }
        check_server(f);
    }
    if (reach) {
        struct atp_server_stats stats = atp_server_stats(f->server);
        reach->accepted += f->accepted;
        reach->ignored += f->given - f->accepted;
        reach->done += stats.completed;
        reach->floats += stats.overflows;
        reach->restarts += f->restarts;
    }
    atp_server_free(f->server);
    free(f);
}

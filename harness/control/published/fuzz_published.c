// SPDX-License-Identifier: Apache-2.0
//
// fuzz_published: calls of the published client's services on some connections, mostly good ones
// and any bytes, in any order; calls that give up, connections that end, and time between. The
// switch knows some addresses and has room for some jobs. A call is answered once at most, and not
// after it was given up; a session's number comes from the root; the switch has no address twice,
// and only jobs that were admitted; at the end it has none.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/published/published.h"
#include "control/published/switchml.pb-c.h"
#include "harness/control/tor/fuzz_input.h"

#define CONNECTIONS 12u
#define STEPS       300u
#define MS          UINT64_C(1000000)
#define JOBS        8u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct call {
    bool open;
    unsigned by; // connection
};

struct rig {
    struct published *p;
    struct input *in;
    uint64_t now, packets;
    uint64_t connection[CONNECTIONS], next; // numbers, of which none comes again
    struct call calls[STEPS];
    unsigned n_calls;
    struct {
        char name[ADMISSION_NAME];
        uint32_t ip[ADMISSION_WORKERS], workers;
    } jobs[JOBS];
};

// ---- the switch ----

static int locate(void *aux, const struct admission_request *q, struct admission_place *place,
                  struct sk_error *err) {
    (void)aux;
    if ((q->mac[5] & 7) == 7)
        return sk_fail(err, "nowhere");
    *place = (struct admission_place){.switch_ip = 1, .link = "1"};
    memcpy(place->mac, q->mac, 6);
    sk_fail(err, "not yet");
    return (q->mac[5] & 7) != 6;
}

static int add(void *aux, struct admission_job *job, struct sk_error *err) {
    struct rig *r = aux;
    size_t at = 0;
    while (at < JOBS && r->jobs[at].workers)
        at++;
    if (at == JOBS || byte(r->in) % 4 == 3)
        return sk_fail(err, "full");
    for (uint32_t i = 0; i < job->workers; i++) {
        const uint32_t ip = job->members[i].request.ip;
        must(job->members[i].owner && job->members[i].placed);
        for (size_t k = 0; k < JOBS; k++)
            for (uint32_t w = 0; w < r->jobs[k].workers; w++)
                must(r->jobs[k].ip[w] != ip);
    }
    snprintf(r->jobs[at].name, sizeof r->jobs[at].name, "%s", job->name);
    r->jobs[at].workers = job->workers;
    for (uint32_t i = 0; i < job->workers; i++)
        r->jobs[at].ip[i] = job->members[i].request.ip;
    return 0;
}

static void take(void *aux, const char *name) {
    struct rig *r = aux;
    size_t at = 0;
    while (at < JOBS && (!r->jobs[at].workers || strcmp(r->jobs[at].name, name) != 0))
        at++;
    must(at < JOBS);
    r->jobs[at].workers = 0;
}

static uint64_t packets(void *aux, const char *name) {
    const struct rig *r = aux;
    must(strncmp(name, "switchml-", 9) == 0);
    return r->packets;
}

// ---- calls ----

static void answered(struct call *c) {
    must(c->open);
    c->open = false;
}

static void reply(void *call, const uint8_t *bytes, size_t length) {
    (void)bytes;
    must(length < 64);
    answered(call);
}

static void fail(void *call, enum rpc_status status, const char *why) {
    must(status != RPC_OK && *why && !strchr(why, '\n'));
    answered(call);
}

static const struct published_carrier carrier = {reply, fail};

static size_t message(struct rig *r, enum published_method method, uint8_t out[64]) {
    struct input *in = r->in;
    const uint32_t workers = 1 + byte(in) % 3, rank = byte(in) % 3;
    SwitchmlProto__BroadcastRequest b = SWITCHML_PROTO__BROADCAST_REQUEST__INIT;
    SwitchmlProto__BarrierRequest w = SWITCHML_PROTO__BARRIER_REQUEST__INIT;
    SwitchmlProto__UdpSessionRequest u = SWITCHML_PROTO__UDP_SESSION_REQUEST__INIT;
    b.value = u.session_id = 1 + byte(in) % 2;
    b.rank = u.rank = rank;
    b.num_workers = w.num_workers = u.num_workers = workers;
    u.mac = 0x020000000000 + byte(in) % 16;
    u.ipv4 = 0x0a000000 + byte(in) % 16;
    u.packet_size = (SwitchmlProto__PacketSize)(byte(in) % 8 ? 1 : byte(in) % 6);
    if (method == PUBLISHED_BROADCAST)
        return switchml_proto__broadcast_request__pack(&b, out);
    return method == PUBLISHED_BARRIER ? switchml_proto__barrier_request__pack(&w, out)
                                       : switchml_proto__udp_session_request__pack(&u, out);
}

static void ask(struct rig *r) {
    const unsigned by = byte(r->in) % CONNECTIONS, kind = byte(r->in);
    const enum published_method method = (enum published_method)(kind % 4);
    uint8_t bytes[64];
    size_t n = message(r, method, bytes);
    for (unsigned flips = kind >> 2; flips > 60 && n > 0; flips--)
        bytes[byte(r->in) % n] = (uint8_t)byte(r->in);
    struct call *c = &r->calls[r->n_calls++];
    *c = (struct call){.open = true, .by = by};
    published_call(r->p, method, &carrier, r->connection[by], c, bytes, n, r->now);
}

static void give_up(struct rig *r) {
    struct call *c = r->n_calls ? &r->calls[byte(r->in) % r->n_calls] : NULL;
    if (c && c->open) {
        published_call_over(r->p, c);
        c->open = false;
    }
}

// Its calls are over first, as rpc/ has it.
static void end(struct rig *r) {
    const unsigned by = byte(r->in) % CONNECTIONS;
    for (unsigned i = 0; i < r->n_calls; i++)
        if (r->calls[i].open && r->calls[i].by == by) {
            published_call_over(r->p, &r->calls[i]);
            r->calls[i].open = false;
        }
    published_gone(r->p, r->connection[by], r->now);
    r->connection[by] = ++r->next;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    static struct rig r;
    struct sk_error err;
    memset(&r, 0, sizeof r);
    r.in = &in;
    r.now = 1;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        r.connection[i] = ++r.next;
    r.p = published_open(
        &(struct published_options){.slots = 64,
                                    .elements = 256,
                                    .udp_port = 4000,
                                    .wait_ns = 900 * MS,
                                    .grace_ns = 100 * MS,
                                    .silence_ns = 300 * MS,
                                    .jobs = {.locate = locate, .add = add, .remove = take},
                                    .packets = packets,
                                    .aux = &r},
        &err);
    for (unsigned step = 0; step < STEPS && in.left > 0; step++) {
        const unsigned what = byte(&in) % 16;
        if (what < 10)
            ask(&r);
        else if (what == 10)
            give_up(&r);
        else if (what == 11)
            end(&r);
        else if (what == 12 && byte(&in) == 0)
            published_lost(r.p, "lost", r.now);
        else if (what == 13)
            r.packets++;
        else
            r.now += byte(&in) * MS, published_run(r.p, r.now);
        json_decref(published_json(r.p, r.now));
    }
    published_close(r.p);
    for (size_t i = 0; i < JOBS; i++)
        must(r.jobs[i].workers == 0);
    for (unsigned i = 0; i < r.n_calls; i++)
        must(!r.calls[i].open);
    return 0;
}

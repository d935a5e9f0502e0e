// SPDX-License-Identifier: Apache-2.0
//
// p4rt: P4Runtime's controllers in the running switch (p4rt/p4rt.h). The program's tables are those
// of brt.c, which starts before and ends after.
#include "p4rt/p4rt.h"

#include "base/clock.h"
#include "cli/run/run.h"
#include "control/config/controllers.h"

#define FRAMES_AT_ONCE 32u
#define FRAMES_A_TURN  256u

static int run_p4rt_tell(struct run *r, struct sk_error *err) {
    const char *p4info = run_source_description(r->source)->p4info;
    if (!p4info)
        return sk_fail(err, "the compiler left no P4Info of the program for controllers");
    return p4rt_run_program(r->p4rt, p4info, err);
}

static int run_p4rt_listen(struct run *r, const struct brt_listen_options *options,
                           struct sk_error *err) {
    return p4rt_listen(r->p4rt, options, err);
}

static bool run_p4rt_packet_out(void *aux, const uint8_t *frame, uint32_t length) {
    const struct run *r = aux;
    return !r->tor && !r->sessions && sk_ports_inside_give(r->ports, frame, length);
}

bool run_p4rt_start(struct run *r) {
    const struct sk_config_controllers s = sk_config_p4runtime(r->config);
    struct sk_error err;
    if (!s.listen)
        return true;
    struct sk_config_port_id given[SK_PORTS];
    struct p4rt_port_id ports[SK_PORTS];
    const size_t n = sk_config_p4runtime_ports(r->config, given);
    for (size_t i = 0; i < n; i++)
        ports[i] = (struct p4rt_port_id){.id = given[i].id, .port = given[i].port};
    r->p4rt =
        p4rt_new(r->brt, s.device_id,
                 &(struct p4rt_host){
                     .packet_out = run_p4rt_packet_out, .aux = r, .ports = ports, .n_ports = n});
    if (run_p4rt_tell(r, &err) == 0 && run_controllers_listen(r, &s, run_p4rt_listen, &err) == 0)
        return true;
    return run_say(err.text);
}

int run_p4rt_fd(const struct run *r) {
    return r->p4rt ? p4rt_fd(r->p4rt) : -1;
}

uint64_t run_p4rt_wait(const struct run *r) {
    const uint64_t due = r->p4rt ? p4rt_due(r->p4rt) : UINT64_MAX, now = sk_clock_now();
    return due > now ? due - now : 0;
}

// The inside port is the controller's when nobody else has it.
static void run_p4rt_packets(struct run *r) {
    struct sk_inside_frame frames[FRAMES_AT_ONCE];
    if (r->tor || r->sessions)
        return;
    for (unsigned done = 0, n; done < FRAMES_A_TURN; done += n) {
        n = sk_ports_inside_take(r->ports, frames, FRAMES_AT_ONCE);
        for (unsigned i = 0; i < n; i++)
            p4rt_packet(r->p4rt, frames[i].bytes, frames[i].length);
        if (n < FRAMES_AT_ONCE)
            break;
    }
}

void run_p4rt_turn(struct run *r) {
    const uint64_t now = sk_clock_now();
    if (!r->p4rt)
        return;
    p4rt_poll(r->p4rt, now);
    run_p4rt_packets(r);
    run_controllers_say_lost("P4Runtime", p4rt_lost(r->p4rt), &r->p4rt_lost, now);
}

void run_p4rt_program_changed(struct run *r) {
    struct sk_error err;
    if (r->p4rt && run_p4rt_tell(r, &err))
        run_say(err.text);
}

bool run_p4rt_wants_digests(const struct run *r) {
    return r->p4rt && p4rt_wants_digests(r->p4rt);
}

void run_p4rt_digests(struct run *r, const struct sk_digest *digests, size_t n) {
    if (run_p4rt_wants_digests(r))
        p4rt_digests(r->p4rt, digests, n);
}

bool run_p4rt_wants_idle(const struct run *r) {
    return r->p4rt && p4rt_wants_idle(r->p4rt);
}

void run_p4rt_idle(struct run *r, const struct sk_idle_event *event) {
    if (r->p4rt)
        p4rt_idle(r->p4rt, event);
}

uint16_t run_p4rt_port(const struct run *r) {
    return r->p4rt ? p4rt_port(r->p4rt) : 0;
}

void run_p4rt_end(struct run *r) {
    p4rt_free(r->p4rt);
    r->p4rt = NULL;
}

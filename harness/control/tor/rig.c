// SPDX-License-Identifier: Apache-2.0
#include "harness/control/tor/rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "compiler/compile.h"
#include "base/json.h"
#include "pipeline/observe/violations.h"
#include "pipeline/program.h"
#include "pipeline/switch/core.h"

#define CPU_PORT 64u
#define STEP_NS  UINT64_C(1000000)
// Frames that one frame may cause between switch and control plane before it is a loop.
#define ROUNDS 10000u

struct frame {
    struct frame *next;
    uint32_t length;
    uint8_t bytes[];
};
struct list {
    struct frame *first, **end;
    size_t n;
};

struct rig {
    struct sk_program *program;
    struct sk_violations *violations; // null: not the checked build
    struct sk_switch *sw;
    struct sk_config *config;
    struct tor *tor;
    unsigned n_ports;
    struct list out[SK_PORTS];
    struct list to_switch; // from the control plane
    bool down[SK_PORTS];
    uint64_t now;
    struct sk_digest_reader digests;
    json_t **events;
    size_t n_events;
    char program_path[256];
    void (*between_writes)(void *aux);
    void *between_aux;
};

// ---- time ----

static uint64_t virtual_now;

int clock_gettime(clockid_t clock, struct timespec *out) {
    if (virtual_now == 0)
        return (int)syscall(SYS_clock_gettime, clock, out);
    *out = (struct timespec){.tv_sec = (time_t)(virtual_now / 1000000000u),
                             .tv_nsec = (long)(virtual_now % 1000000000u)};
    return 0;
}

// ---- frames ----

static void push(struct list *l, const uint8_t *bytes, uint32_t length) {
    struct frame *f = malloc(sizeof *f + length);
    assert_non_null(f);
    *f = (struct frame){.length = length};
    memcpy(f->bytes, bytes, length);
    if (!l->first)
        l->end = &l->first;
    *l->end = f;
    l->end = &f->next;
    l->n++;
}

static struct frame *pop(struct list *l) {
    struct frame *f = l->first;
    if (f) {
        l->first = f->next;
        l->n--;
    }
    return f;
}

static bool tx(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    struct rig *r = aux;
    push(&r->out[dev_port], frame, length);
    return true;
}

static bool from_control(void *aux, const uint8_t *frame, uint32_t length) {
    push(&((struct rig *)aux)->to_switch, frame, length);
    return true;
}

static bool link_is_up(void *aux, uint16_t port) {
    return !((struct rig *)aux)->down[port];
}

static void about_to_write(void *aux) {
    struct rig *r = aux;
    if (r->between_writes)
        r->between_writes(r->between_aux);
}

static void event(void *aux, json_t *e) {
    struct rig *r = aux;
    r->events = realloc(r->events, (r->n_events + 1) * sizeof(json_t *));
    assert_non_null(r->events);
    r->events[r->n_events++] = e;
}

// All that the switch has for the control plane, and what that sends, until both are quiet.
static void settle(struct rig *r) {
    struct sk_digest d;
    struct frame *f;
    bool more = true;
    for (unsigned i = 0; more; i++) {
        if (i == ROUNDS)
            fail_msg("switch and control plane send frames to each other without end");
        sk_switch_run(r->sw, r->now);
        more = false;
        while (sk_digest_read(r->sw, &r->digests, &d)) {
            tor_digest(r->tor, &d, r->now);
            more = true;
        }
        if ((f = pop(&r->out[CPU_PORT]))) {
            tor_frame(r->tor, f->bytes, f->length, r->now);
            free(f);
            more = true;
        }
        tor_run(r->tor, r->now);
        while ((f = pop(&r->to_switch))) {
            sk_switch_rx(r->sw, CPU_PORT, f->bytes, f->length, r->now);
            free(f);
            more = true;
        }
    }
}

void rig_send(struct rig *r, uint16_t port, const void *frame, size_t length) {
    sk_switch_rx(r->sw, port, frame, (uint32_t)length, r->now);
    settle(r);
}

void rig_pass(struct rig *r, uint16_t port, const void *frame, size_t length) {
    sk_switch_rx(r->sw, port, frame, (uint32_t)length, r->now);
    sk_switch_run(r->sw, r->now);
}

void rig_between_writes(struct rig *r, void (*fn)(void *aux), void *aux) {
    r->between_writes = fn;
    r->between_aux = aux;
}

void rig_send_hex(struct rig *r, uint16_t port, const char *hex) {
    uint8_t bytes[RIG_FRAME];
    size_t n = 0;
    for (const char *h = hex; *h; h++) {
        unsigned byte = 0;
        if (*h == ' ' || *h == '\n')
            continue;
        if (n == sizeof bytes || sscanf(h, "%2x", &byte) != 1)
            fail_msg("no bytes: %s", h);
        bytes[n++] = (uint8_t)byte;
        h++;
    }
    rig_send(r, port, bytes, n);
}

size_t rig_take(struct rig *r, uint16_t port, uint8_t bytes[RIG_FRAME]) {
    struct frame *f = pop(&r->out[port]);
    if (!f)
        return 0;
    const size_t n = f->length;
    assert_true(n <= RIG_FRAME);
    memcpy(bytes, f->bytes, n);
    free(f);
    return n;
}

size_t rig_count(const struct rig *r, uint16_t port) {
    return r->out[port].n;
}

void rig_forget(struct rig *r) {
    for (unsigned p = 0; p < SK_PORTS; p++)
        for (struct frame *f; (f = pop(&r->out[p]));)
            free(f);
}

// ---- time and events ----

void rig_wait(struct rig *r, uint64_t ms) {
    for (; ms > 0; ms--) {
        virtual_now = r->now += STEP_NS;
        settle(r);
    }
}

uint64_t rig_now(const struct rig *r) {
    return r->now;
}

void rig_link(struct rig *r, uint16_t port, bool up) {
    r->down[port] = !up;
    sk_switch_port_up(r->sw, port, up);
    tor_link(r->tor, port, up, r->now);
    settle(r);
}

size_t rig_events(const struct rig *r, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_events; i++)
        n += strcmp(json_string_value(json_object_get(r->events[i], "event")), name) == 0;
    return n;
}

json_t *rig_event(const struct rig *r, const char *name) {
    for (size_t i = r->n_events; i-- > 0;)
        if (strcmp(json_string_value(json_object_get(r->events[i], "event")), name) == 0)
            return r->events[i];
    return NULL;
}

const char *rig_last_alarm(const struct rig *r) {
    const json_t *alarm = rig_event(r, "alarm");
    return alarm ? json_string_value(json_object_get(alarm, "why")) : "";
}

json_t *rig_request(struct rig *r, const char *op, const char *members, struct sk_error *err) {
    json_t *request = json_loads(members ? members : "{}", 0, NULL);
    assert_non_null(request);
    json_t *result = tor_request(r->tor, op, request, r->now, err);
    json_decref(request);
    settle(r);
    return result;
}

// ---- from beginning to end ----

static struct sk_config *parse(const struct rig *r, const char *section, struct sk_error *err) {
    char *text, ports[8192] = "";
    for (unsigned p = 0; p < r->n_ports; p++)
        snprintf(ports + strlen(ports), sizeof ports - strlen(ports),
                 "%s{\"port\": %u, \"device\": \"rig%u\", \"name\": \"p%u\"}", p ? ", " : "", p, p,
                 p);
    const int n = asprintf(&text, "{\"program\": \"%s\", \"ports\": [%s],\n\"tor\": %s}",
                           r->program_path, ports, section);
    assert_true(n > 0);
    struct sk_config *c = sk_config_parse("rig", text, (size_t)n, err);
    free(text);
    return c;
}

static struct tor_host host_of(struct rig *r, const struct sk_config *c) {
    return (struct tor_host){.sw = r->sw,
                             .ports = c->ports,
                             .n_ports = c->n_ports,
                             .send = from_control,
                             .link = link_is_up,
                             .pause = about_to_write,
                             .event = event,
                             .aux = r};
}

static void make_switch(struct rig *r) {
    char error[256];
    const bool checked = getenv("RIG_CHECKED") != NULL;
    const struct compile_options opt = {.path = r->program_path, .checked = checked};
    char *object = compile_p4(&opt, stderr);
    assert_non_null(object);
    r->program = sk_program_load(object, error, sizeof error);
    free(object);
    if (!r->program)
        fail_msg("%s", error);
    r->sw = sk_switch_new(r->program, &(struct sk_switch_options){.tx = tx, .aux = r}, error,
                          sizeof error);
    if (!r->sw)
        fail_msg("%s", error);
    if (checked) {
        r->violations = sk_violations_new(stderr);
        sk_core_observe(sk_switch_core(r->sw, 0), sk_violations_observer(r->violations));
    }
    for (unsigned p = 0; p < r->n_ports; p++)
        sk_switch_port_up(r->sw, (uint16_t)p, true);
    sk_switch_port_up(r->sw, CPU_PORT, true);
    sk_switch_run(r->sw, r->now);
    sk_digest_reader_init(r->sw, &r->digests);
}

static struct rig *begin(const char *program, unsigned n_ports) {
    struct rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->n_ports = n_ports;
    snprintf(r->program_path, sizeof r->program_path, "%s", program);
    // some time after the epoch: the library takes 0 for "never"
    virtual_now = r->now = UINT64_C(1000000) * 1000000000;
    make_switch(r);
    return r;
}

struct rig *rig_new_with(const char *program, unsigned n_ports, const char *section) {
    struct sk_error err = {""};
    struct rig *r = begin(program, n_ports);
    r->config = parse(r, section, &err);
    if (!r->config)
        fail_msg("%s", err.text);
    const struct tor_host host = host_of(r, r->config);
    r->tor = tor_new(&host, r->config->tor, &err);
    if (!r->tor)
        fail_msg("%s", err.text);
    settle(r);
    return r;
}

struct rig *rig_new(unsigned n_ports, const char *section) {
    return rig_new_with("p4/tor/tor.p4", n_ports, section);
}

const char *rig_refusal(unsigned n_ports, const char *section) {
    static struct sk_error err;
    struct rig *r = begin("p4/tor/tor.p4", n_ports);
    err.text[0] = '\0';
    r->config = parse(r, section, &err);
    if (r->config) {
        const struct tor_host host = host_of(r, r->config);
        r->tor = tor_new(&host, r->config->tor, &err);
    }
    rig_free(r);
    return err.text;
}

int rig_reload(struct rig *r, const char *section, struct sk_error *err) {
    struct sk_config *c = parse(r, section, err);
    if (!c)
        return -1;
    const struct tor_host host = host_of(r, c);
    const int rc = tor_reload(r->tor, &host, c->tor, err);
    sk_config_free(rc ? c : r->config);
    if (rc == 0)
        r->config = c;
    settle(r);
    return rc;
}

// What is wrong with the program. Packets that are too short are their sender's fault; SwitchML's
// of 32 elements have no lower half, and what is added for it is never sent.
static bool count_wrong(void *aux, const struct sk_violation_view *v) {
    if (v->violation != SK_VIOLATION_SHORT_PACKET && strncmp(v->name, "hdr.low.", 8) != 0)
        *(uint64_t *)aux += v->count;
    return true;
}

void rig_free(struct rig *r) {
    if (!r)
        return;
    tor_free(r->tor);
    rig_forget(r);
    for (struct frame *f; (f = pop(&r->to_switch));)
        free(f);
    for (size_t i = 0; i < r->n_events; i++)
        json_decref(r->events[i]);
    uint64_t wrong = 0;
    if (r->violations)
        sk_violations_each(r->violations, count_wrong, &wrong);
    sk_switch_free(r->sw);
    sk_violations_free(r->violations);
    sk_program_free(r->program);
    sk_config_free(r->config);
    free(r->events);
    free(r);
    virtual_now = 0;
    if (wrong)
        fail_msg("the checked build found something wrong %llu times", (unsigned long long)wrong);
}

struct tor *rig_tor(struct rig *r) {
    return r->tor;
}
struct sk_switch *rig_switch(struct rig *r) {
    return r->sw;
}

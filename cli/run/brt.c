// SPDX-License-Identifier: Apache-2.0
//
// brt: BF Runtime's controllers in the running switch (brt/brt.h).
#include "brt/brt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/run/run.h"
#include "control/config/controllers.h"

#define SAID_EVERY_NS UINT64_C(10000000000)

static int run_brt_tell(struct run *r, struct sk_error *err) {
    struct brt_description described[SK_PIPES] = {{0}};
    char *names[SK_PIPES];
    size_t n = 0;
    bool whole = true;
    for (const struct run_source *s = r->source; s; s = run_source_next(s), n++) {
        const struct run_description *d = run_source_description(s);
        names[n] = run_source_name(s);
        described[n] = (struct brt_description){names[n], d->bfrt, d->text};
        whole &= d->bfrt && d->text;
    }
    const int rc =
        whole ? brt_run_programs(r->brt, r->sw, described, n, err)
              : sk_fail(err, "the compiler left no description of the program for controllers");
    while (n > 0)
        free(names[--n]);
    return rc;
}

int run_controllers_listen(struct run *r, const struct sk_config_controllers *c,
                           int (*listen)(struct run *r, const struct brt_listen_options *options,
                                         struct sk_error *err),
                           struct sk_error *err) {
    const bool is_path = strncmp(c->listen, "unix:", 5) == 0;
    char *beside = is_path ? run_beside_config(r, c->listen + 5) : NULL,
         *path = beside ? malloc(strlen(beside) + 6) : sk_copy_text(c->listen),
         *certificate = c->certificate ? run_beside_config(r, c->certificate) : NULL,
         *key = c->key ? run_beside_config(r, c->key) : NULL,
         *authority = c->client_authority ? run_beside_config(r, c->client_authority) : NULL;
    if (!path)
        abort();
    if (beside)
        strcat(strcpy(path, "unix:"), beside);
    const int rc = listen(
        r,
        &(struct brt_listen_options){
            .address = path, .certificate = certificate, .key = key, .client_authority = authority},
        err);
    free(beside);
    free(path);
    free(certificate);
    free(key);
    free(authority);
    return rc;
}

static int run_brt_listen(struct run *r, const struct brt_listen_options *options,
                          struct sk_error *err) {
    return brt_listen(r->brt, options, err);
}

static bool run_brt_device(void *aux, uint16_t port, struct brt_port *out) {
    const struct run *r = aux;
    struct sk_port_device device;
    if (!sk_ports_device(r->ports, port, &device))
        return false;
    *out =
        (struct brt_port){.link = sk_ports_link(r->ports, port), .speed_mbps = device.speed_mbps};
    return true;
}

static void run_brt_enable_port(void *aux, uint16_t port, bool enabled) {
    struct run *r = aux;
    if (!sk_ports_enable(r->ports, port, enabled) && enabled &&
        !sk_switch_port_is_loopback(r->sw, port))
        fprintf(stderr,
                "silken run: BF Runtime: port %u has no device and stays down; `silken ctl port "
                "add` gives it one\n",
                port);
}

bool run_brt_start(struct run *r) {
    struct sk_error err;
    const struct sk_config_controllers s = sk_config_bfrt(r->config);
    if (!s.listen && !sk_config_p4runtime(r->config).listen)
        return true;
    struct brt_host host = {.pause = run_pause,
                            .resume = run_resume,
                            .resume_same = run_resume_same,
                            .idle = run_idle,
                            .port = run_brt_device,
                            .enable_port = run_brt_enable_port,
                            .snapshot_check = run_snapshot_check,
                            .snapshot_arm = run_snapshot_arm,
                            .snapshot_look = run_snapshot_look,
                            .snapshot_drop = run_snapshot_drop,
                            .aux = r};
    if (s.programs) {
        host.compile_programs = run_client_program_compile;
        host.compiled_programs = run_client_program_compiled;
        host.run_programs = run_client_program_run;
        host.forget_programs = run_client_program_forget;
    }
    r->brt = brt_new(&host);
    if (run_brt_tell(r, &err) == 0 &&
        (!s.listen || run_controllers_listen(r, &s, run_brt_listen, &err) == 0))
        return true;
    return run_say(err.text);
}

int run_brt_fd(const struct run *r) {
    return r->brt ? brt_fd(r->brt) : -1;
}

uint64_t run_brt_wait(const struct run *r) {
    const uint64_t due = r->brt ? brt_due(r->brt) : UINT64_MAX, now = sk_clock_now();
    return due > now ? due - now : 0;
}

void run_controllers_say_lost(const char *who, uint64_t lost, struct run_lost *said, uint64_t now) {
    char text[120];
    if (lost == said->n || now < said->due)
        return;
    snprintf(text, sizeof text,
             "%s: notifications are lost that a client does not take, %llu by now", who,
             (unsigned long long)lost);
    run_say(text);
    *said = (struct run_lost){.n = lost, .due = now + SAID_EVERY_NS};
}

void run_brt_turn(struct run *r) {
    const uint64_t now = sk_clock_now();
    if (!r->brt)
        return;
    brt_poll(r->brt, now);
    run_controllers_say_lost("BF Runtime", brt_lost(r->brt), &r->brt_lost, now);
}

void run_brt_program_changed(struct run *r) {
    struct sk_error err;
    if (r->brt && run_brt_tell(r, &err))
        run_say(err.text);
}

bool run_brt_wants_digests(const struct run *r) {
    return r->brt && brt_wants_digests(r->brt);
}

void run_brt_digests(struct run *r, const struct sk_digest *digests, size_t n) {
    if (run_brt_wants_digests(r))
        brt_digests(r->brt, digests, n);
}

bool run_brt_wants_idle(const struct run *r) {
    return r->brt && brt_wants_idle(r->brt);
}

bool run_brt_is_asymmetric(void *aux, const struct sk_table_desc *table) {
    const struct run *r = aux;
    return r->brt && brt_is_asymmetric(r->brt, table);
}

void run_brt_idle(struct run *r, const struct sk_idle_event *event) {
    if (r->brt)
        brt_idle(r->brt, event);
}

uint16_t run_brt_port(const struct run *r) {
    return r->brt ? brt_port(r->brt) : 0;
}

void run_brt_end(struct run *r) {
    brt_free(r->brt);
    r->brt = NULL;
}

// SPDX-License-Identifier: Apache-2.0
//
// client_program: a program, or several, that a controller sent: compiled as `silken ctl program`
// has one compiled, with the same limits, from a file in a folder of the process's own; then a
// switch of that program beside the running one, until the controller has filled it.
#include <stdlib.h>

#include "brt/brt.h"
#include "cli/run/run.h"
#include "pipeline/switch/core.h"

#define CLIENT_PROGRAM_ASKS UINT64_MAX // as a client of run_compile(), beside those of the socket

struct run_client_program {
    struct run_source *source;
    struct sk_program *program; // null: it is being compiled
    struct run_exchange *exchange;
};

static int client_program_ask(struct run *r, struct run_client_program *p, struct sk_error *err) {
    const uint64_t client = r->control.client;
    r->control.client = CLIENT_PROGRAM_ASKS;
    const int rc = run_compile(r, p->source, &p->program, err);
    r->control.client = client;
    return rc;
}

int run_client_program_compile(void *run, const struct brt_sent *sent, size_t n,
                               struct sk_error *err) {
    struct run *r = run;
    struct run_source *source = run_source_sent(r, sent, n, err);
    if (!source)
        return -1;
    r->client_program = calloc(1, sizeof *r->client_program);
    if (!r->client_program)
        abort();
    r->client_program->source = source;
    if (client_program_ask(r, r->client_program, err) >= 0)
        return 0;
    run_client_program_forget(r);
    return -1;
}

static int client_program_prepare(struct run *r, struct run_client_program *p,
                                  struct sk_error *err) {
    p->exchange = run_exchange_new(r, p->program, err);
    if (!p->exchange)
        return -1;
    struct sk_switch *sw = run_exchange_switch(p->exchange);
    if (sk_switch_is_tofino_2(sw) != sk_switch_is_tofino_2(r->sw))
        return sk_fail(err, "it is a program for a chip other than that of the running one");
    sk_core_run(sk_switch_core(sw, 0), run_now());
    sk_switch_cpu_port(sw, sk_switch_cpu_port_of(r->sw));
    run_describe_ports(r, sw, NULL);
    return 0;
}

int run_client_program_compiled(void *run, struct sk_switch **sw, struct brt_description *described,
                                struct sk_error *err) {
    struct run *r = run;
    struct run_client_program *p = r->client_program;
    int rc = p->program ? 0 : client_program_ask(r, p, err);
    if (rc)
        return rc;
    for (const struct run_source *s = p->source; s; s = run_source_next(s), described++) {
        const struct run_description *d = run_source_description(s);
        described->schema = d->bfrt;
        described->text = d->text;
        if (!d->bfrt || !d->text)
            return sk_fail(err, "the compiler left no description of the program for controllers");
    }
    if (client_program_prepare(r, p, err))
        return -1;
    *sw = run_exchange_switch(p->exchange);
    return 0;
}

int run_client_program_run(void *run, struct sk_error *err) {
    struct run *r = run;
    struct run_client_program *p = r->client_program;
    if (run_exchange_fresh(r, p->exchange, err))
        return -1;
    run_exchange_free(p->exchange); // with the old program, which must be there still
    p->exchange = NULL;
    r->copies_gone = true;
    run_runs_of_client(r, p->program, p->source);
    p->program = NULL;
    p->source = NULL;
    return 0;
}

void run_client_program_forget(void *run) {
    struct run *r = run;
    struct run_client_program *p = r->client_program;
    r->client_program = NULL;
    if (!p)
        return;
    if (!p->program)
        run_compile_left(r, CLIENT_PROGRAM_ASKS);
    run_exchange_free(p->exchange);
    sk_program_free(p->program);
    run_source_free(p->source);
    free(p);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/config/change.h"

// ---- ports ----

static const struct sk_config_port *run_reload_find(const struct sk_config *c, uint16_t port) {
    for (size_t i = 0; i < c->n_ports; i++)
        if (c->ports[i].port == port)
            return &c->ports[i];
    return NULL;
}

// But for what can be changed while it is open.
static bool same_device(const struct sk_config_port *a, const struct sk_config_port *b) {
    return strcmp(a->device, b->device) == 0 && a->mtu == b->mtu && a->queues == b->queues &&
           a->not_promiscuous == b->not_promiscuous;
}

// What was done with a port, to be undone: it was added, or was as 'before' says.
struct port_step {
    uint16_t port;
    bool added;
    struct sk_config_port before;
};
struct port_work {
    struct run *r;
    struct port_step done[2 * SK_PORTS];
    size_t n_done;
    size_t added, removed;
};

static struct sk_config_port run_reload_copy_of(const struct sk_config_port *p) {
    struct sk_config_port own = *p;
    own.device = strdup(p->device);
    own.name = p->name ? strdup(p->name) : NULL;
    if (!own.device || (p->name && !own.name))
        abort();
    return own;
}

static int take_port_away(struct port_work *w, const struct sk_config_port *p,
                          struct sk_error *err) {
    struct port_step *s = &w->done[w->n_done];
    *s = (struct port_step){.port = p->port, .before = run_reload_copy_of(p)};
    w->n_done++;
    if (run_remove_port(w->r, s->port, err) == 0) {
        w->removed++;
        return 0;
    }
    w->n_done--;
    free((char *)s->before.device);
    free((char *)s->before.name);
    return -1;
}

static int bring_port(struct port_work *w, const struct sk_config_port *p, struct sk_error *err) {
    if (run_add_port(w->r, p, err))
        return -1;
    w->done[w->n_done++] = (struct port_step){.port = p->port, .added = true};
    w->added++;
    return 0;
}

static void end_port_work(struct port_work *w, bool undo) {
    struct sk_error err;
    while (w->n_done > 0) {
        struct port_step *s = &w->done[--w->n_done];
        int rc = 0;
        if (undo)
            rc = s->added ? run_remove_port(w->r, s->port, &err)
                          : run_add_port(w->r, &s->before, &err);
        if (rc)
            run_say(err.text);
        if (rc && !s->added) // its interface may be away for the moment
            run_keep_port(w->r, &s->before);
        free((char *)s->before.device);
        free((char *)s->before.name);
    }
    free(w);
}

// Those that are to go first: the others may want their devices.
static int change_ports(struct port_work *w, const struct sk_config *to, struct sk_error *err) {
    struct run *r = w->r;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->config->n_ports; i++) {
        const struct sk_config_port *now = run_port_of(r, r->config->ports[i].port);
        if (now && !run_reload_find(to, now->port))
            rc = take_port_away(w, now, err);
    }
    for (size_t i = 0; rc == 0 && i < to->n_ports; i++) {
        const struct sk_config_port *now = run_port_of(r, to->ports[i].port);
        if (now && !same_device(now, &to->ports[i]))
            rc = take_port_away(w, now, err);
    }
    for (size_t i = 0; rc == 0 && i < to->n_ports; i++)
        if (!run_port_of(r, to->ports[i].port))
            rc = bring_port(w, &to->ports[i], err);
    return rc;
}

static bool run_reload_same_name(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

// Metadata is written again wherever there is some: whether it differs only the program knows.
static bool same_description(const struct sk_config *from, const struct sk_config_port *p) {
    const struct sk_config_port *before = run_reload_find(from, p->port);
    return before && !before->has_metadata && !p->has_metadata &&
           run_reload_same_name(before->name, p->name);
}

// ---- the whole ----

// With the file's ports, and those that were added at run time.
static int try_tor(struct run *r, const struct sk_config *to, const struct sk_program *program,
                   struct sk_error *err) {
    struct sk_config_port *ports = calloc(to->n_ports + r->n_port_list + 1, sizeof *ports);
    size_t n = 0;
    if (!ports)
        abort();
    for (size_t i = 0; i < to->n_ports; i++)
        ports[n++] = to->ports[i];
    for (size_t i = 0; i < r->n_port_list; i++)
        if (!run_reload_find(to, r->port_list[i].port) &&
            !run_reload_find(r->config, r->port_list[i].port))
            ports[n++] = r->port_list[i];
    int rc = run_tor_try(r, to->tor, ports, n, err);
    if (rc == 0)
        rc = run_tor_try_jobs(r, to->tor, program, ports, n, err);
    free(ports);
    return rc;
}

static int check_fixed(struct run *r, const struct sk_config *to, struct sk_error *err) {
    const char *fixed = sk_config_fixed(r->config, to);
    if (fixed)
        return sk_fail(err, "%s: \"%s\" cannot change while the switch runs; restart the switch",
                       r->opt.config_path, fixed);
    if (!r->config->tor != !to->tor)
        return sk_fail(
            err, "%s: \"tor\" cannot be added or removed while the switch runs; restart the switch",
            r->opt.config_path);
    return 0;
}

static int run_reload_check(struct run *r, const struct sk_config *to,
                            const struct sk_program *program, struct sk_error *err) {
    if (r->copies_gone && (sk_config_has_copies(to) || sk_config_has_copies(r->config)))
        return sk_fail(err,
                       "a controller has replaced the program, and the multicast groups and "
                       "mirror sessions of the configuration with its own; restart the switch");
    const struct sk_switch_options opt = {.packet_bytes = SK_PORTS_FRAME};
    return try_tor(r, to, program, err) ? -1 : sk_config_try(to, program, &opt, err);
}

// What is in the switch; 'x' null: the program stays.
static int change_switch(struct run *r, const struct sk_config *to, struct run_exchange *x,
                         struct sk_change_counts *n, struct sk_error *err) {
    const struct sk_change_pause pause = {run_pause, run_resume, r};
    struct sk_change_counts back;
    struct sk_error ignored;
    if (!x)
        return sk_config_change(r->config, to, r->sw, &pause, n, err);
    if (sk_config_change_rest(r->config, to, r->sw, &pause, n, err))
        return -1;
    if (run_exchange(r, x, to, err) == 0)
        return 0;
    if (sk_config_change_rest(to, r->config, r->sw, &pause, &back, &ignored))
        run_say(ignored.text);
    return -1;
}

static void change_switch_back(struct run *r, const struct sk_config *to, struct run_exchange *x) {
    const struct sk_change_pause pause = {run_pause, run_resume, r};
    struct sk_change_counts n;
    struct sk_error err;
    int rc;
    if (x) {
        run_exchange_back(r, x);
        rc = sk_config_change_rest(to, r->config, r->sw, &pause, &n, &err);
    } else {
        rc = sk_config_change(to, r->config, r->sw, &pause, &n, &err);
    }
    if (rc)
        run_say(err.text);
}

static int run_reload_change(struct run *r, const struct sk_config *to, struct run_exchange *x,
                             json_t **done, struct sk_error *err) {
    struct sk_change_counts n;
    struct port_work *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->r = r;
    int rc = change_ports(w, to, err);
    if (rc == 0)
        rc = change_switch(r, to, x, &n, err);
    for (size_t i = 0; rc == 0 && i < to->n_ports; i++)
        if (!same_description(r->config, &to->ports[i]))
            run_describe_port(r, &to->ports[i]);
    if (rc == 0 && (rc = run_tor_reload(r, to->tor, err)))
        change_switch_back(r, to, x);
    if (rc == 0)
        *done = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "added", (json_int_t)n.added, "changed",
                          (json_int_t)n.changed, "removed", (json_int_t)n.removed, "ports_added",
                          (json_int_t)w->added, "ports_removed", (json_int_t)w->removed, "tor",
                          (json_int_t)!sk_config_same(r->config, to, "tor"));
    if (rc == 0 && x)
        run_exchange_tell(r, x, *done);
    end_port_work(w, rc != 0);
    return rc;
}

// 1: the program is being compiled. 'source' and 'program' null: it stays.
static int fetch_program(struct run *r, const struct sk_config *to, struct run_source **source,
                         struct sk_program **program, struct sk_error *err) {
    *program = NULL;
    *source = run_source_new(r, to, NULL);
    if (run_source_same(*source, r->source)) { // that which runs, whoever put it there
        run_source_free(*source);
        *source = NULL;
        return 0;
    }
    return run_compile(r, *source, program, err);
}

static int reload_with(struct run *r, const struct sk_config *to, const struct sk_program *program,
                       json_t **done, struct sk_error *err) {
    struct run_exchange *x = NULL;
    if (run_reload_check(r, to, program ? program : r->program, err) ||
        (program && !(x = run_exchange_new(r, program, err))))
        return -1;
    const int rc = run_reload_change(r, to, x, done, err);
    run_exchange_free(x);
    return rc;
}

int run_reload(struct run *r, json_t **done, struct sk_error *err) {
    struct sk_config *to = run_read_config(r, err);
    struct run_source *source = NULL;
    struct sk_program *program = NULL;
    if (!to)
        return -1;
    int rc = check_fixed(r, to, err);
    if (rc == 0)
        rc = fetch_program(r, to, &source, &program, err);
    if (rc == 1)
        *done = json_pack("{s:s}", "state", "compiling");
    if (rc == 0 && (rc = reload_with(r, to, program, done, err)) == 0) {
        if (program)
            run_runs(r, program, source);
        sk_config_free(r->config);
        r->config = to;
        run_watch_reloaded(r);
        return 0;
    }
    sk_program_free(program);
    run_source_free(source);
    sk_config_free(to);
    return rc < 0 ? -1 : 0;
}

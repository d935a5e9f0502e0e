// SPDX-License-Identifier: Apache-2.0
#include "cli/run/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "control/config/ports.h"
#include "control/config/rights.h"
#include "base/json.h"
#include "control/tables/json_switch.h"

void run_event(void *aux, json_t *event) {
    struct run *r = aux;
    if (!run_watch_event(r, event) && r->server)
        sk_server_publish(r->server, event);
    else
        json_decref(event);
}

// What went wrong is in the document's sentence.
static json_t *run_requests_done(const struct sk_at *at, int rc) {
    at->doc->failed |= rc != 0;
    return rc ? NULL : json_object();
}

// ---- ports ----

// By number or name; one that has a device, or with 'any' every one of the chip.
static uint16_t port_member(const struct run *r, const struct sk_at *at, bool any) {
    const struct sk_at port = sk_at_member(at, "port");
    const char *name = json_string_value(port.value);
    const struct sk_config_port *p = name ? run_port_named(r, name) : NULL;
    const uint16_t number = p ? p->port : name ? 0 : sk_at_port(&port);
    if (name && !p)
        sk_at_fail(&port, "there is no port '%s'", name);
    else if (!any && !at->doc->failed && !run_port_of(r, number))
        sk_at_fail(&port, "there is no port %u", number);
    return number;
}

static json_t *run_requests_port_add(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op",       "port",   "device",      "name", "mtu",
                                       "metadata", "queues", "promiscuous", NULL};
    struct sk_config_port p = {0};
    sk_at_keys(at, keys);
    sk_config_read_port(at, &p);
    if (!at->doc->failed)
        sk_config_check_port(at, &p, r->port_list, r->n_port_list, r->config->pipes);
    if (at->doc->failed)
        return NULL;
    char *beside = run_beside_config(r, ".");
    const int rc = sk_rights_device(&r->config->requests, beside, p.device, at->doc->err);
    free(beside);
    return run_requests_done(at, rc ? rc : run_add_port(r, &p, at->doc->err));
}

// Not one that the ToR's section names.
static int remove_port(struct run *r, uint16_t port, struct sk_error *err) {
    struct sk_config_port *others = calloc(r->n_port_list + 1, sizeof *others);
    size_t n = 0;
    if (!others)
        abort();
    for (size_t i = 0; i < r->n_port_list; i++)
        if (r->port_list[i].port != port)
            others[n++] = r->port_list[i];
    int rc = run_tor_try(r, r->config->tor, others, n, err);
    if (rc == 0)
        rc = run_remove_port(r, port, err);
    free(others);
    return rc;
}

static json_t *run_requests_port_remove(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op", "port", NULL};
    sk_at_keys(at, keys);
    const uint16_t port = port_member(r, at, false);
    return at->doc->failed ? NULL : run_requests_done(at, remove_port(r, port, at->doc->err));
}

static json_t *run_requests_port_set(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op", "port", "up", NULL};
    sk_at_keys(at, keys);
    const uint16_t port = port_member(r, at, true);
    const struct sk_at up = sk_at_member(at, "up");
    if (!at->doc->failed && !json_is_boolean(up.value))
        sk_at_fail(up.value ? &up : at, "\"up\" must be true or false");
    return at->doc->failed
               ? NULL
               : run_requests_done(at, run_enable_port(r, port, json_is_true(up.value)));
}

// ---- the file ----

static json_t *reload(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op", NULL};
    json_t *result = NULL;
    sk_at_keys(at, keys);
    if (at->doc->failed)
        return NULL;
    at->doc->failed = run_reload(r, &result, at->doc->err) != 0;
    return result;
}

// One of the folders that are named for that, or what the configuration itself names.
static int requests_check_program(struct run *r, const char *path, struct sk_error *err) {
    const char *program = r->config->program;
    char *own = program ? run_beside_config(r, program) : NULL, *beside = run_beside_config(r, ".");
    char real[PATH_MAX], given[PATH_MAX];
    const bool ours = own && path[0] == '/' && realpath(own, real) && realpath(path, given) &&
                      strcmp(real, given) == 0;
    const int rc = ours ? 0 : sk_rights_program(&r->config->requests, beside, path, err);
    free(own);
    free(beside);
    return rc;
}

static json_t *program(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op", "file", NULL};
    const struct sk_at file = sk_at_member(at, "file");
    const char *path = sk_at_string(&file, true);
    json_t *result = NULL;
    sk_at_keys(at, keys);
    if (at->doc->failed)
        return NULL;
    if (requests_check_program(r, path, at->doc->err)) {
        at->doc->failed = true;
        return NULL;
    }
    at->doc->failed = run_program(r, path, &result, at->doc->err) != 0;
    return result;
}

// ---- all ----

json_t *run_request(void *aux, const char *op, const struct sk_at *at, bool *known) {
    static const struct {
        const char *op;
        json_t *(*handle)(struct run *r, const struct sk_at *at);
    } ops[] = {
        {"port.add", run_requests_port_add},
        {"port.remove", run_requests_port_remove},
        {"port.set", run_requests_port_set},
        {"reload", reload},
        {"program", program},
        {"trace.start", run_trace_start},
        {"trace.read", run_trace_read},
        {"trace.stop", run_trace_stop},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].op, op) == 0) {
            *known = true;
            return ops[i].handle(aux, at);
        }
    json_t *result = run_sessions_request(aux, op, at, known);
    if (!*known)
        result = run_libra_request(aux, op, at, known);
    if (!*known)
        result = run_published_request(aux, op, at, known);
    return *known ? result : run_tor_request(aux, op, at, known);
}

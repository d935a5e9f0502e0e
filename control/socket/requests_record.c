// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include <string.h>

#include "control/config/record.h"
#include "control/socket/recording.h"

static json_t *requests_record_ports_json(const struct request *r) {
    const struct sk_service *c = r->service;
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_ports; i++) {
        json_t *port =
            json_pack("{s:i, s:s}", "port", c->ports[i].port, "device", c->ports[i].device);
        if (c->ports[i].name)
            json_object_set_new(port, "name", json_string(c->ports[i].name));
        json_array_append_new(list, port);
    }
    return list;
}

static bool requests_record_read_options(const struct request *r, struct sk_recorder_options *opt,
                                         bool *ports) {
    static const char *const keys[] = {"op", "ports", "snaplen", "ring", "filter", NULL};
    struct sk_at list = sk_at_member(r->at, "ports"), snaplen = sk_at_member(r->at, "snaplen"),
                 ring = sk_at_member(r->at, "ring"), filter = sk_at_member(r->at, "filter");
    size_t n;
    sk_at_keys(r->at, keys);
    const uint16_t *wanted = sk_at_ports(&list, &n);
    sk_config_check_recorded(r->service->ports, r->service->n_ports, &list, wanted, n);
    opt->snaplen = (uint32_t)sk_at_number(&snaplen, false, UINT32_MAX);
    opt->ring_bytes = sk_at_number(&ring, false, SK_RECORDER_MAX_RING >> 20) << 20;
    opt->ports = n ? ports : NULL;
    for (size_t i = 0; i < n; i++)
        ports[wanted[i]] = true;
    if (filter.value && good(r))
        opt->filter = sk_filter_of_json(&filter);
    return good(r);
}

static bool requests_record_may(const struct request *r) {
    const struct sk_service *s = r->service;
    if (!s->recording || !s->records || !s->pass) {
        sk_fail(r->err, "nothing can be recorded here");
        return false;
    }
    if (sk_switch_program(r->sw)->n_programs) {
        sk_fail(r->err, "a recording is of a switch with one program");
        return false;
    }
    return *s->records || !sk_recording_is_on(s->recording, r->err);
}

json_t *sk_request_record_start(const struct request *r) {
    const struct sk_service *s = r->service;
    bool ports[SK_PORTS] = {false};
    struct sk_recorder_options opt = {0};
    int fd = -1;
    if (!requests_record_read_options(r, &opt, ports))
        return NULL;
    if (!requests_record_may(r)) {
        sk_filter_free(opt.filter);
        return requests_failed(r);
    }
    int rc = sk_recording_start(s->recording, &opt, &fd, r->err);
    // who waits for the memory of a client that went away records nothing yet, and others may be
    // first
    *s->records = sk_recording_is_on(s->recording, NULL);
    if (rc < 0)
        return requests_failed(r);
    if (rc == 0)
        return json_pack("{s:s}", "state", "preparing");
    *s->pass = fd;
    json_t *result =
        json_pack("{s:s, s:s, s:o}", "state", "recording", "program",
                  sk_switch_program(r->sw)->path, "ports", requests_record_ports_json(r));
    sk_set_number(result, "clock", s->now);
    return result;
}

json_t *sk_request_record_stop(const struct request *r) {
    static const char *const keys[] = {"op", NULL};
    sk_at_keys(r->at, keys);
    if (!good(r))
        return NULL;
    if (!r->service->records || !*r->service->records) {
        sk_fail(r->err, "this client records nothing");
        return requests_failed(r);
    }
    *r->service->records = false;
    sk_recording_stop(r->service->recording);
    return json_object();
}

// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include "control/state/jobs.h"

static json_t *alarms(const struct request *r) {
    return r->service->alarms ? r->service->alarms(r->service->aux) : json_array();
}

static json_t *jobs(const struct request *r) {
    json_t *list = sk_jobs_brief(r->sw, r->service->now);
    json_t *more = r->service->aggregators ? r->service->aggregators(r->service->aux) : NULL;
    json_array_extend(list, more);
    json_decref(more);
    return list;
}

json_t *sk_request_watch(const struct request *r) {
    json_t *out = json_pack("{s:s, s:o, s:o, s:o}", "program", sk_switch_program(r->sw)->path,
                            "stats", sk_request_stats(r), "jobs", jobs(r), "alarms", alarms(r));
    // of the ports the list alone
    json_t *ports = sk_request_ports(r);
    json_object_set(out, "ports", json_object_get(ports, "ports"));
    json_decref(ports);
    sk_set_number(out, "clock", r->service->now);
    return out;
}

json_t *sk_request_alarms(const struct request *r) {
    return json_pack("{s:o}", "alarms", alarms(r));
}

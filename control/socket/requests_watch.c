// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include "control/state/jobs.h"

static json_t *alarms(const struct request *r) {
    return r->service->alarms ? r->service->alarms(r->service->aux) : json_array();
}

static json_t *requests_watch_jobs(const struct request *r) {
    json_t *list = sk_jobs_brief(r->sw, r->service->now, r->pauses);
    json_t *more = r->service->aggregators ? r->service->aggregators(r->service->aux) : NULL;
    json_array_extend(list, more);
    json_decref(more);
    return list;
}

json_t *sk_request_watch(const struct request *r) {
    json_t *out = sk_request_counts(r);
    json_object_set_new(out, "program", json_string(sk_switch_program(r->sw)->path));
    json_object_set_new(out, "jobs", requests_watch_jobs(r));
    json_object_set_new(out, "alarms", alarms(r));
    return out;
}

json_t *sk_request_alarms(const struct request *r) {
    return json_pack("{s:o}", "alarms", alarms(r));
}

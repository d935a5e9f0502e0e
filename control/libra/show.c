// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "base/address.h"
#include "control/libra/libra_impl.h"
#include "control/tables/control.h"

static json_int_t show_count(const struct libra_s *l, const char *counter, uint32_t index) {
    struct sk_counter_cell sum = {0};
    struct sk_error ignored;
    sk_control_counter_read(l->host.sw, counter, index, &sum, &ignored);
    return (json_int_t)sum.packets;
}

static json_t *show_member(const struct libra_s *l, const struct libra_s_member *m) {
    char ip[20];
    snprintf(ip, sizeof ip, "%u.%u.%u.%u", m->end.ip >> 24, m->end.ip >> 16 & 255,
             m->end.ip >> 8 & 255, m->end.ip & 255);
    return json_pack("{s:i, s:s, s:b, s:I}", "port", m->port, "address", ip, "server", m->server,
                     "repetitions", show_count(l, "repetitions", m->window));
}

static json_t *show_stats(const struct libra_s_stats *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", //
                     "copies", (json_int_t)s->copies, "acks", (json_int_t)s->acks, "repeated",
                     (json_int_t)s->repeated, "given_up", (json_int_t)s->given_up, "lost",
                     (json_int_t)s->lost, "rests", (json_int_t)s->rests, "rest_pairs",
                     (json_int_t)s->rest_pairs, "rests_done", (json_int_t)s->rests_done, "joined",
                     (json_int_t)s->joined, "refused", (json_int_t)s->refused);
}

json_t *libra_s_job_json(struct libra_s *l, const struct libra_s_job *j) {
    char digest[20];
    json_t *members = json_array();
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)j->layout.digest);
    for (uint32_t m = 0; m < j->workers + j->servers; m++)
        json_array_append_new(members, show_member(l, &j->members[m]));
    json_t *out =
        json_pack("{s:b, s:s, s:s, s:i, s:i, s:s, s:I, s:i, s:i, s:I, s:o, s:o}", //
                  "held", j->held, "name", j->name, "protocol", "libra", "number", j->layout.job,
                  "epoch", j->epoch, "digest", digest, "hot", (json_int_t)j->layout.n, "first_cell",
                  (int)j->cell_base, "cells", (int)j->cells, "incarnation",
                  (json_int_t)j->incarnation, "members", members, "stats", show_stats(&j->stats));
    if (j->waits)
        json_object_set_new(out, "waits",
                            json_string(libra_s_late_is(l, j->layout.job)
                                            ? "for the last packets of the job that had its number"
                                            : SESSIONS_WAITS));
    return out;
}

json_t *libra_s_list(struct libra_s *l) {
    json_t *jobs = json_array();
    for (const struct libra_s_job *j = l->jobs; j; j = j->next)
        json_array_append_new(jobs, libra_s_job_json(l, j));
    return json_pack("{s:o, s:I, s:I, s:I, s:I}", "jobs", jobs, "waiting",
                     (json_int_t)libra_s_waiting(l), "frames", (json_int_t)l->frames, "bad",
                     (json_int_t)l->bad, "frames_lost", (json_int_t)l->lost);
}

// By reason, of both gresses; and packets of each job's members.
json_t *libra_s_status(struct libra_s *l) {
    json_t *drops = json_array(), *jobs = json_object();
    struct rusage use = {0};
    getrusage(RUSAGE_SELF, &use);
    for (uint32_t r = 0; r < 16; r++)
        json_array_append_new(drops, json_integer(libra_s_has_floats(l)
                                                      ? show_count(l, "pipe.Ingress.drops", r) +
                                                            show_count(l, "pipe.Egress.drops", r)
                                                      : show_count(l, "pipe.Ingress.drops", r)));
    for (const struct libra_s_job *j = l->jobs; j; j = j->next)
        json_object_set_new(jobs, j->name, show_stats(&j->stats));
    return json_pack("{s:I, s:o, s:o, s:I, s:I, s:I, s:I}", "memory_kib", (json_int_t)use.ru_maxrss,
                     "jobs", jobs, "drops", drops, "waiting", (json_int_t)libra_s_waiting(l),
                     "frames", (json_int_t)l->frames, "bad", (json_int_t)l->bad, "frames_lost",
                     (json_int_t)l->lost);
}

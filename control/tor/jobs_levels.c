// SPDX-License-Identifier: Apache-2.0
//
// jobs_levels: a job of SwitchML whose workers are in several racks: a tree of switches with
// p4/rack/with_levels.p4 (p4/switchml/README.md, Levels).
//
// Each switch of the tree has the job, with the same number and as many slots. Directly below it
// are hosts, which are workers of the job, and switches, each of which stands for all that is below
// it. Which ranks its hosts have follows from "racks", which is the same at all switches.
//
// A switch that is restarted does not ask workers how far they are (jobs_resume.c): what their
// switches have above and below each other would have to be asked, too. The job's session is over
// instead, at all of its switches.
#include <string.h>

#include "control/sessions/clear.h"
#include "control/tor/jobs_impl.h"

bool jobs_has_levels(struct tor *t) {
    const struct sessions_switch sw = {t->host.sw, t->host.pause, t->host.resume, t->host.aux};
    return sessions_are_levels(&sw);
}

size_t jobs_place_of(const struct jobs_job *job, unsigned rank) {
    size_t i = 0;
    if (!job->levels)
        return rank < job->n_hosts ? rank : job->n_hosts;
    while (i < job->n_hosts && job->ranks[i] != rank)
        i++;
    return i;
}

unsigned jobs_rank_of(const struct jobs_job *job, size_t place) {
    return job->levels ? job->ranks[place] : (unsigned)place;
}

// ---- the request ----

static int levels_read_racks(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *racks = json_object_get(request, "racks"),
                 *rack = json_object_get(request, "rack");
    const json_int_t here = json_integer_value(rack);
    size_t n = 0;
    if (!json_is_array(racks) || json_array_size(racks) < 1 || json_array_size(racks) > JOBS_TOTAL)
        return sk_fail(err, "racks: should be a list of numbers, one for each worker of the job");
    if (job->n_hosts > 0 && (!json_is_integer(rack) || here < 0 || here > 255))
        return sk_fail(err, "rack: should be given with \"workers\" and \"racks\", a number from 0 "
                            "to 255");
    if (job->n_hosts == 0 && rack)
        return sk_fail(err, "rack: a switch without \"workers\" is in no rack");
    for (size_t i = 0; i < json_array_size(racks); i++) {
        const json_t *item = json_array_get(racks, i);
        if (!json_is_integer(item) || json_integer_value(item) < 0 ||
            json_integer_value(item) > 255)
            return sk_fail(err, "racks: should be numbers from 0 to 255");
        if (job->n_hosts == 0 || json_integer_value(item) != here)
            continue;
        if (n < job->n_hosts)
            job->ranks[n] = (uint16_t)i;
        n++;
    }
    if (n != job->n_hosts)
        return sk_fail(err, "workers: there are %zu, but \"racks\" has %zu in rack %d",
                       job->n_hosts, n, (int)here);
    job->total = (uint32_t)json_array_size(racks);
    job->rack = (uint8_t)here;
    return 0;
}

static int levels_read_below(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *below = json_object_get(request, "below");
    const size_t n = json_array_size(below);
    if (!below)
        return 0;
    if (!json_is_array(below) || n < 1 || n > JOBS_WORKERS)
        return sk_fail(err, "below: should be a list of 1 to 32 like port:address");
    if (job->n_hosts + n > JOBS_WORKERS)
        return sk_fail(err, "below: with the workers there are more than 32 below this switch");
    job->n_workers = job->n_hosts + n;
    return 0;
}

// What a job over several switches must have, or cannot have.
static int levels_check(json_t *request, const struct jobs_job *job, struct sk_error *err) {
    if (job->all_numbers)
        return sk_fail(err, "numbers: a job over several switches has one number");
    if (!json_object_get(request, "number"))
        return sk_fail(err, "number: all switches of the job need the same: say it with \"above\" "
                            "and \"below\"");
    if (job->udp_port < JOBS_UDP_LOW || job->udp_port > JOBS_UDP_HIGH)
        return sk_fail(err,
                       "udp_port: switches of a job send to each other's ports %u to %u, not "
                       "to %u",
                       JOBS_UDP_LOW, JOBS_UDP_HIGH, job->udp_port);
    if (json_is_true(json_object_get(request, "resume")))
        return sk_fail(err,
                       "resume: after a restart of a switch a job over several switches begins "
                       "again");
    return 0;
}

int jobs_read_levels(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *above = json_object_get(request, "above");
    job->levels = above || json_object_get(request, "below");
    job->total = (uint32_t)job->n_hosts;
    if (!job->levels)
        return json_object_get(request, "racks") || json_object_get(request, "rack")
                   ? sk_fail(err, "racks: a job of SwitchML has them with a switch \"above\" or "
                                  "switches \"below\"")
                   : 0;
    job->has_above = above != NULL;
    int rc = levels_read_racks(request, job, err);
    if (rc == 0)
        rc = levels_read_below(request, job, err);
    return rc ? rc : levels_check(request, job, err);
}

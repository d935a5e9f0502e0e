// SPDX-License-Identifier: Apache-2.0
//
// The scenario of a system (docs/simulation.md), and what it needs of a switch and of a host.
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"

#define SWITCHML_ELEMENTS 256u   // of a packet
#define ATP_AGGREGATORS   65536u // all of p4/atp's
#define ATP_ELEMENTS      62u
#define SUM_BYTES         4u

static bool is_dlcp_program(enum compare_system system) {
    return system != COMPARE_SWITCHML && system != COMPARE_ATP;
}

// Stations of a rack in a scenario: the last one is ATP's server, in a tree it is at the root.
static uint32_t rack_hosts(const struct compare_setting *s) {
    return s->hosts + (s->racks == 1 || s->spines ? 1 : 0);
}

bool compare_is_worker(const struct compare_setting *s, uint32_t number) {
    return s->racks > 1 && s->spines ? number % rack_hosts(s) < s->hosts
                                     : number < s->racks * s->hosts;
}

static json_t *systems_topology(const struct compare_setting *s, enum compare_system system) {
    const char *const program = system == COMPARE_SWITCHML ? "switchml"
                                : system == COMPARE_ATP    ? "atp"
                                                           : "dlcp";
    json_t *t = json_object();
    json_object_set_new(t, "kind",
                        json_string(s->racks == 1 ? "rack"
                                    : s->spines   ? "leaf-spine"
                                                  : "tree"));
    json_object_set_new(t, "program", json_string(program));
    if (s->racks == 1) {
        json_object_set_new(t, "hosts", json_integer(rack_hosts(s)));
    } else if (s->spines) {
        json_object_set_new(t, "leaves", json_integer(s->racks));
        json_object_set_new(t, "hosts", json_integer(rack_hosts(s)));
        json_object_set_new(t, "spines", json_integer(s->spines));
        json_object_set_new(t, "spine_program",
                            json_string(is_dlcp_program(system) ? "dlcp" : "l2"));
    } else {
        json_t *leaves = json_array();
        for (uint32_t r = 0; r < s->racks; r++)
            json_array_append_new(leaves, json_integer(s->hosts));
        json_object_set_new(t, "leaves", leaves);
        json_object_set_new(t, "root_hosts", json_integer(1));
    }
    if (s->link)
        json_object_set(t, "link", s->link);
    if (s->trunk)
        json_object_set(t, "trunk", s->trunk);
    if (s->ecn && system != COMPARE_SWITCHML)
        json_object_set_new(t, "switch", json_pack("{s:O}", "ecn_bytes", s->ecn));
    if (is_dlcp_program(system))
        json_object_set_new(
            t, "paths",
            json_string(system == COMPARE_DLCP || system == COMPARE_DLCP_RING ? "packet" : "flow"));
    return t;
}

// A job's workers, rack by rack, each job the same number in each.
static json_t *systems_workers(const struct compare_setting *s, uint32_t job) {
    const uint32_t each = s->hosts / s->jobs;
    json_t *list = json_array();
    for (uint32_t r = 0; r < s->racks; r++)
        for (uint32_t i = 0; i < each; i++)
            json_array_append_new(list, json_sprintf("h%u", r * rack_hosts(s) + job * each + i));
    return list;
}

static json_t *systems_job(const struct compare_setting *s, enum compare_system system,
                           uint32_t number) {
    static const char *const forms[] = {
        [COMPARE_DLCP] = "servers",        [COMPARE_DLCP_RING] = "ring",
        [COMPARE_SERVERS] = "servers",     [COMPARE_RING] = "ring",
        [COMPARE_HALVING] = "halving",     [COMPARE_TREE] = "tree",
        [COMPARE_TWO_TREES] = "two trees", [COMPARE_HIERARCHICAL] = "hierarchical"};
    json_t *job = json_object(), *workers = systems_workers(s, number);
    json_object_set_new(job, "name", json_sprintf("job%u", number));
    json_object_set(job, "work", s->work);
    if (system == COMPARE_SWITCHML) {
        json_object_set_new(job, "protocol", json_string("switchml"));
        json_object_set_new(job, "elements", json_integer(SWITCHML_ELEMENTS));
        json_object_set_new(job, "slots", json_integer((json_int_t)(s->slots / s->jobs)));
    } else if (system == COMPARE_ATP) {
        const uint32_t server =
            s->racks == 1 ? s->hosts : s->racks * rack_hosts(s) - (s->spines ? 1 : 0);
        json_object_set_new(job, "protocol", json_string("atp"));
        json_object_set_new(job, "servers", json_pack("[o]", json_sprintf("h%u", server)));
    } else {
        const bool dlcp = system == COMPARE_DLCP || system == COMPARE_DLCP_RING;
        json_object_set_new(job, "protocol", json_string(dlcp ? "dlcp" : s->transport));
        json_object_set_new(job, "form", json_string(forms[system]));
        if (strcmp(forms[system], "servers") == 0) { // one beside each worker, of all tensors
            json_object_set(job, "servers", workers);
            json_object_set_new(job, "cut_bytes", json_integer(0));
        }
        if (system == COMPARE_HIERARCHICAL)
            json_object_set_new(job, "group", json_integer(s->hosts / s->jobs));
    }
    json_object_set_new(job, "workers", workers);
    return job;
}

json_t *compare_scenario(const struct compare_setting *s, enum compare_system system,
                         const char **why) {
    if (system == COMPARE_SWITCHML && s->racks > 1) {
        *why = "sums in one switch, and there are several racks";
        return NULL;
    }
    if (system == COMPARE_SWITCHML && s->slots < s->jobs) {
        *why = "has fewer slots than there are jobs";
        return NULL;
    }
    if (system == COMPARE_HIERARCHICAL && (s->racks == 1 || s->hosts == s->jobs)) {
        *why = "needs several racks with several workers of a job each";
        return NULL;
    }
    json_t *scenario = json_object(), *jobs = json_array();
    json_object_set_new(scenario, "name", json_string(compare_names[system]));
    json_object_set_new(scenario, "limit_ms", json_integer((json_int_t)s->limit_ms));
    json_object_set_new(scenario, "topology", systems_topology(s, system));
    for (uint32_t i = 0; i < s->jobs; i++)
        json_array_append_new(jobs, systems_job(s, system, i));
    json_object_set_new(scenario, "jobs", jobs);
    if (s->faults)
        json_object_set(scenario, "faults", s->faults);
    if (s->background)
        json_object_set(scenario, "background", s->background);
    return scenario;
}

double compare_memory(const struct compare_setting *s, enum compare_system system) {
    if (system == COMPARE_SWITCHML) // two versions of a slot
        return 2.0 * (double)s->slots * SWITCHML_ELEMENTS * SUM_BYTES;
    return system == COMPARE_ATP ? (double)ATP_AGGREGATORS * ATP_ELEMENTS * SUM_BYTES : 0;
}

double compare_host_us(enum compare_system system, double packets, const json_t *bench) {
    const char *const key = system == COMPARE_SWITCHML ? "worker"
                            : system == COMPARE_ATP    ? "atp_worker"
                            : system == COMPARE_DLCP   ? "dlcp_worker"
                                                       : NULL;
    const json_t *ns = key ? json_object_get(json_object_get(bench, key), "ns_per_packet") : NULL;
    return ns ? packets * json_number_value(ns) / 1000 : 0;
}

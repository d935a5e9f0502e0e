// SPDX-License-Identifier: Apache-2.0
//
// The scenario of a system (docs/simulation.md), and what it needs of a switch and of a host.
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "sim/libra/zipf.h"
#include "sim/random.h"

#define SWITCHML_ELEMENTS 256u   // of a packet
#define ATP_AGGREGATORS   65536u // all of p4/atp's
#define ATP_ELEMENTS      62u
#define SUM_BYTES         4u
#define PAIR_BYTES        8u
#define MOST_HALVES       32u // workers whose 16-bit floats are summed
#define MOST_BELOW        32u // workers and switches of a job below a switch of SwitchML

static bool systems_is_libra(enum compare_system system) {
    return system == COMPARE_LIBRA || system == COMPARE_SPARSE_SERVERS;
}

static const char *systems_program(const struct compare_setting *s, enum compare_system system) {
    return system == COMPARE_SWITCHML         ? (s->racks > 1 ? "with_levels" : "switchml")
           : system == COMPARE_SWITCHML_F16   ? "halves"
           : system == COMPARE_ATP            ? "atp"
           : system == COMPARE_LIBRA          ? "libra"
           : system == COMPARE_SPARSE_SERVERS ? "l2"
                                              : "dlcp";
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
    const char *const program = systems_program(s, system);
    const bool is_dlcp = strcmp(program, "dlcp") == 0;
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
                            json_string(is_dlcp || system == COMPARE_SWITCHML ? program : "l2"));
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
    if (s->ecn && (is_dlcp || system == COMPARE_ATP))
        json_object_set_new(t, "switch", json_pack("{s:O}", "ecn_bytes", s->ecn));
    if (is_dlcp)
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

// What the scenario's server is: ATP's, and Libra's.
static char *systems_server(const struct compare_setting *s) {
    char *name;
    const uint32_t server =
        s->racks == 1 ? s->hosts : s->racks * rack_hosts(s) - (s->spines ? 1 : 0);
    if (asprintf(&name, "h%u", server) < 0)
        abort();
    return name;
}

static double systems_uniform(void *aux) {
    const double x = sim_random_real(aux);
    return x > 0 ? x : 1e-300;
}

// Keys of a batch, each once: the mean of some.
static double systems_pairs(const struct compare_sparse *p) {
    enum { BATCHES = 16 };
    const struct zipf z = {(double)p->parameters, p->zipf};
    struct sim_random r = sim_random_of(1, "compare");
    uint64_t *keys = malloc(p->draws * sizeof *keys);
    double sum = 0;
    if (!keys)
        abort();
    for (int i = 0; i < BATCHES; i++)
        sum += (double)zipf_batch(&z, p->draws, systems_uniform, &r, keys);
    free(keys);
    return sum / BATCHES;
}

// Everybody's pairs to everybody: n - 1 times a worker's. A ring sends 2 (n - 1) / n of a tensor.
static json_t *systems_gathered(const struct compare_setting *s) {
    const uint32_t n = s->racks * s->hosts / s->jobs;
    json_t *work = json_deep_copy(s->work);
    json_object_set_new(work, "layers",
                        json_pack("[{s:f, s:f}]", "bytes",
                                  systems_pairs(&s->sparse) * PAIR_BYTES * n / 2, "compute_us",
                                  s->sparse.compute_us));
    return work;
}

static json_t *systems_libra_work(const struct compare_setting *s) {
    return json_pack("{s:I, s:f, s:I, s:I, s:i, s:s, s:b, s:b, s:f, s:f, s:f}", "parameters",
                     (json_int_t)s->sparse.parameters, "zipf", s->sparse.zipf, "draws",
                     (json_int_t)s->sparse.draws, "batches", (json_int_t)s->iterations,
                     "outstanding", 1, "values", "floats", "pull", 1, "sync", 1, "compute_us",
                     s->sparse.compute_us, "jitter", s->sparse.jitter, "start_ms", 0.1);
}

// All pairs go to the server with PS-lite, those of cold parameters with Libra.
static void systems_libra(const struct compare_setting *s, enum compare_system system,
                          json_t *job) {
    char *server = systems_server(s);
    json_object_set_new(job, "protocol", json_string("libra"));
    json_object_set_new(job, "servers", json_pack("[s]", server));
    json_object_set_new(job, "hot",
                        json_integer(system == COMPARE_LIBRA ? (json_int_t)s->sparse.hot : 0));
    json_object_set_new(job, "window", json_integer(64));
    json_object_set_new(job, "window_max", json_integer(256));
    json_object_set_new(job, "rto_us", json_integer(5000));
    json_object_set_new(job, "rto_min_us", json_integer(1000));
    json_object_set_new(job, "work", systems_libra_work(s));
    free(server);
}

static void systems_transport(const struct compare_setting *s, enum compare_system system,
                              json_t *job, json_t *workers) {
    static const char *const forms[] = {[COMPARE_DLCP] = "servers",
                                        [COMPARE_DLCP_RING] = "ring",
                                        [COMPARE_SERVERS] = "servers",
                                        [COMPARE_RING] = "ring",
                                        [COMPARE_GATHER] = "ring",
                                        [COMPARE_HALVING] = "halving",
                                        [COMPARE_TREE] = "tree",
                                        [COMPARE_TWO_TREES] = "two trees",
                                        [COMPARE_HIERARCHICAL] = "hierarchical"};
    const bool dlcp = system == COMPARE_DLCP || system == COMPARE_DLCP_RING;
    json_object_set_new(job, "protocol", json_string(dlcp ? "dlcp" : s->transport));
    json_object_set_new(job, "form", json_string(forms[system]));
    if (strcmp(forms[system], "servers") == 0) { // one beside each worker, of all tensors
        json_object_set(job, "servers", workers);
        json_object_set_new(job, "cut_bytes", json_integer(0));
    }
    if (system == COMPARE_HIERARCHICAL)
        json_object_set_new(job, "group", json_integer(s->hosts / s->jobs));
    if (system == COMPARE_GATHER)
        json_object_set_new(job, "work", systems_gathered(s));
}

// Gradients are floats: their blocks' exponents are agreed upon before a tensor's first packets.
static void systems_switchml(const struct compare_setting *s, enum compare_system system,
                             json_t *job) {
    json_t *floats = json_deep_copy(s->work);
    if (!s->integers || system == COMPARE_SWITCHML_F16)
        json_object_set_new(floats, "values", json_string("floats"));
    json_object_set_new(job, "protocol", json_string("switchml"));
    json_object_set_new(job, "elements", json_integer(SWITCHML_ELEMENTS));
    json_object_set_new(job, "slots", json_integer((json_int_t)(s->slots / s->jobs)));
    json_object_set_new(job, "work", floats);
    if (system == COMPARE_SWITCHML_F16)
        json_object_set_new(job, "f16", json_true());
    if (s->racks > 1) { // in each rack, and where the racks meet
        json_object_set_new(job, "levels", json_true());
        json_object_set_new(job, "switch", json_string(s->spines ? "p0" : "s0"));
    }
}

static json_t *systems_job(const struct compare_setting *s, enum compare_system system,
                           uint32_t number) {
    json_t *job = json_object(), *workers = systems_workers(s, number);
    json_object_set_new(job, "name", json_sprintf("job%u", number));
    json_object_set(job, "work", s->work);
    if (system == COMPARE_SWITCHML || system == COMPARE_SWITCHML_F16) {
        systems_switchml(s, system, job);
    } else if (system == COMPARE_ATP) {
        char *server = systems_server(s);
        json_object_set_new(job, "protocol", json_string("atp"));
        json_object_set_new(job, "servers", json_pack("[s]", server));
        free(server);
    } else if (systems_is_libra(system)) {
        systems_libra(s, system, job);
    } else {
        systems_transport(s, system, job, workers);
    }
    json_object_set_new(job, "workers", workers);
    return job;
}

// Why the system cannot do it, or null.
static const char *systems_refused(const struct compare_setting *s, enum compare_system system) {
    const bool switchml = system == COMPARE_SWITCHML || system == COMPARE_SWITCHML_F16;
    if (system == COMPARE_SWITCHML_F16 && s->racks > 1)
        return "sums 16-bit floats in one switch, and there are several racks";
    if (switchml && s->racks > 1 && (s->hosts / s->jobs > MOST_BELOW || s->racks > MOST_BELOW))
        return "sums for 32 workers and switches below each switch at most";
    if (switchml && s->slots < s->jobs)
        return "has fewer slots than there are jobs";
    if (system == COMPARE_SWITCHML_F16 && s->hosts / s->jobs > MOST_HALVES)
        return "sums 16-bit floats of 32 workers at most";
    if (compare_for_sparse(system) && !s->sparse.parameters)
        return "sends pairs, and the work has no \"sparse\"";
    if (systems_is_libra(system) && s->racks > 1)
        return "is simulated in one rack";
    if (systems_is_libra(system) && s->jobs > 1)
        return "is simulated with one job";
    if (system == COMPARE_HIERARCHICAL && (s->racks == 1 || s->hosts == s->jobs))
        return "needs several racks with several workers of a job each";
    return NULL;
}

json_t *compare_scenario(const struct compare_setting *s, enum compare_system system,
                         const char **why) {
    *why = systems_refused(s, system);
    if (*why)
        return NULL;
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
    if (system == COMPARE_SWITCHML || system == COMPARE_SWITCHML_F16) // two versions of a slot
        return 2.0 * (double)s->slots * SWITCHML_ELEMENTS * SUM_BYTES;
    if (system == COMPARE_LIBRA)
        return (double)s->sparse.hot * SUM_BYTES;
    return system == COMPARE_ATP ? (double)ATP_AGGREGATORS * ATP_ELEMENTS * SUM_BYTES : 0;
}

static double systems_measured(const json_t *bench, const char *key, const char *what) {
    return json_number_value(json_object_get(json_object_get(bench, key), what));
}

// A worker sends and gets as many packets; DLCP's is a server, too, and Libra's pulls what it
// pushes.
double compare_host_us(enum compare_system system, const struct compare_row *row,
                       const json_t *bench) {
    const double packet = systems_measured(bench,
                                           system == COMPARE_SWITCHML ? "worker"
                                           : system == COMPARE_ATP    ? "atp_worker"
                                           : system == COMPARE_DLCP   ? "dlcp_worker"
                                                                      : "",
                                           "ns_per_packet"),
                 server = systems_measured(bench, "dlcp_server", "ns_per_packet"),
                 pair = systems_measured(bench, "libra_worker", "ns_per_pair");
    if (systems_is_libra(system))
        return 2 * row->pairs * pair / 1000;
    return row->packets * (packet + (system == COMPARE_DLCP ? server : 0)) / 1000;
}

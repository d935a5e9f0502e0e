// SPDX-License-Identifier: Apache-2.0
//
// compare: one training, one network, one condition, and every way to add up its gradients, each
// simulated (sim/sim.h) on the same stations.
//
//     struct compare_setting *s = compare_setting_read(path, &err);   (setting.c, workload.c)
//     json_t *scenario = compare_scenario(s, system, &why);           (systems.c)
//     ... run it with each seed, sum up what came of it ...           (compare.c)
//     which accuracy that had in training, by measurement             (accuracy.c)
//     print it, as a table and as a picture                           (report.c)
//
// Stations. A rack has 'hosts' workers and, beside them, one host that only a parameter server of
// ATP uses: so every system has the same links, and no worker has to share its link with a server
// that others do not have.
//
// Concurrency: belongs to the caller's thread.
#ifndef SILKEN_CLI_COMPARE_COMPARE_H
#define SILKEN_CLI_COMPARE_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum compare_system {
    COMPARE_SWITCHML,
    COMPARE_SWITCHML_F16,
    COMPARE_ATP,
    COMPARE_LIBRA,
    COMPARE_DLCP,
    COMPARE_DLCP_RING,
    COMPARE_SERVERS,
    COMPARE_SPARSE_SERVERS,
    COMPARE_RING,
    COMPARE_GATHER,
    COMPARE_HALVING,
    COMPARE_TREE,
    COMPARE_TWO_TREES,
    COMPARE_HIERARCHICAL,
    COMPARE_SYSTEMS
};
extern const char *const compare_names[]; // ends with null

#define COMPARE_MOST_JOBS    8u
#define COMPARE_MOST_TENSORS 512u

// Gradients of a table of parameters of which a batch touches a few, drawn from Zipf's law
// (sim/libra/zipf.h).
struct compare_sparse {
    uint64_t parameters; // 0: the gradients are dense
    double zipf;
    uint64_t draws, hot; // of a batch; of Libra, in the switch
    double compute_us, jitter;
};

struct compare_setting {
    char *name;
    uint32_t racks, hosts, spines; // hosts: workers of a rack
    json_t *link, *trunk, *ecn;    // of the scenario, or null
    json_t *work;                  // with "kind"; of a table: all of it, as one tensor
    bool integers; // SwitchML's gradients; else floats, with their blocks' exponents
    struct compare_sparse sparse;
    json_t *faults, *background; // or null
    uint32_t jobs;               // which share each rack's workers evenly
    uint64_t seeds, limit_ms, iterations, slots;
    double computing_us; // of an iteration that sends nothing; known once a system has run
    char *transport;
    bool wanted[COMPARE_SYSTEMS];
};

// Null after a sentence with file, line and place.
struct compare_setting *compare_setting_read(const char *path, struct sk_error *err);
// The same of a text; files that it names are relative to 'path'.
struct compare_setting *compare_setting_parse(const char *path, const char *text, size_t length,
                                              struct sk_error *err);
// A workload: [{"name": ..., "elements": ..., "ready_us": ...}, ...] as "layers" and "forward_us"
// of a scenario's work, in the order in which tensors are ready. Null after a sentence.
json_t *compare_tensors_parse(const char *name, const char *text, size_t length,
                              struct sk_error *err);
bool compare_for_sparse(enum compare_system system);  // it sends nothing else
void compare_setting_free(struct compare_setting *s); // null allowed
// Null: the system cannot do it; 'why' is the reason. What is wrong with the work is found when
// the scenario is read.
json_t *compare_scenario(const struct compare_setting *s, enum compare_system system,
                         const char **why);

// What came of a system: means over jobs, workers and iterations of each seed, then over the seeds.
struct compare_row {
    const char *refused;                        // why it was not run, or null
    double iteration_us, least_us, greatest_us; // median of the seeds, least, greatest
    double up, down, trunks;                    // bytes on the wire: of a worker out and in, of all
                                                // links between switches; an iteration
    double busiest;                             // bytes of the busiest link, an iteration
    double packets;                             // that a worker sends in an iteration
    double again;                               // packets sent again, an iteration of all
    double lost;                                // part of the elements that did not come
    double memory;                              // bytes of sums in a switch; 0: none
    double pairs;                               // of a worker, an iteration (Libra's jobs)
    double host_us;                             // of a processor, by measurement; 0: unknown
    double accuracy;                            // %, by measurement; 0: unknown
    json_t *links;                              // bytes of each, an iteration; the row's owner
};
// 'bench': what `make bench` wrote, or null. Bytes of sums, and a worker's time for packets.
// Whether host h<number> of the scenarios is a worker.
bool compare_is_worker(const struct compare_setting *s, uint32_t number);
double compare_memory(const struct compare_setting *s, enum compare_system system);
double compare_host_us(enum compare_system system, const struct compare_row *row,
                       const json_t *bench);

// Accuracies that training had, as bench/figures/comparison_accuracy.py writes them: of each
// system's sums, and by the part of the gradients that was lost. Null after a sentence; the
// caller's to decref.
json_t *compare_accuracy_read(const char *path, struct sk_error *err);
json_t *compare_accuracy_parse(const char *name, const char *text, size_t length,
                               struct sk_error *err);
// In %; of a part between two measured ones by a line. 0: nobody measured it. 'accuracy' null: 0.
double compare_accuracy(const json_t *accuracy, enum compare_system system, double lost);

void compare_print(const struct compare_setting *s, const struct compare_row *rows, FILE *out);
json_t *compare_json(const struct compare_setting *s, const struct compare_row *rows);
// Bars of the iterations' times, by gnuplot. 0, or -1 after filling 'err'.
int compare_plot(const struct compare_setting *s, const struct compare_row *rows, const char *path,
                 struct sk_error *err);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// sparse: `silken demo --protocol libra`, a sparse model whose parameters are sums in a switch and
// in parameter servers.
//
// The model is a logistic regression over 65,536 features, of which a sample has some; how often
// features occur follows Zipf's law, as in click logs and in text. Data are generated from the
// seed, so every process has the same. A parameter is the sum of what all workers have pushed for
// it: a worker pulls those of its batch, and pushes the steps of gradient descent back
// (hosts/keyvalue).
//
// With --text it is a model of next words instead: of each of a text's 4,095 most frequent words,
// and of all others together, a vector of 8 as the word before and another one as the word after
// it: 65,536 parameters, too. A sample is two words, and whether the second one follows the first
// in the text (one third) or is drawn from it; what says so is the product of their vectors. The
// last tenth of the text is the test.
//
//      parent          finds out who is hot from a sample of 8 % of all batches, writes the layout,
//                      starts the others, checks, reports
//      switch          `silken run` with p4/libra, which has the hot parameters; with --racks one
//                      for each, which has those of the servers in its rack
//      server 0..m-1   have the others
//      worker 0..n-1   train
//
// What each worker pushed, by parameter and in double precision, is on a board in shared memory,
// which no packet has to do with. In the end a worker pulls all parameters. The word `verified`
// means that each is the exact sum within the adder's bound (hosts/libra/adder.h), or within a
// float's last place at a server, and that the model's loss is within 2 % of that of one process
// that has taken the same steps.
//
// Files:
//
//     sparse.c         the parent
//     sparse_model.c   data and models
//     sparse_text.c    words of a text
//     sparse_proc.c    a worker, a server
//     sparse_config.c  addresses and the switch's configuration
#ifndef SILKEN_CLI_DEMO_SPARSE_H
#define SILKEN_CLI_DEMO_SPARSE_H

#include <limits.h>

#include "cli/demo/options.h"
#include "cli/demo/sparse_text.h"
#include "silken/keyvalue.h"

#define SPARSE_KEYS     65536u
#define SPARSE_FEATURES 24u // of a sample
#define SPARSE_JOB      1
#define SPARSE_EPOCH    1

// What the processes share.
struct sparse_status {
    uint32_t steps; // that are done
    struct silken_kv_stats stats;
};
struct sparse_pushed { // by one worker, of one parameter
    double sum, magnitudes;
    uint32_t terms;
};
struct sparse_board {
    volatile bool release;                 // the servers may end
    volatile bool ready[DEMO_MAX_SERVERS]; // a server
    struct sparse_status status[DEMO_MAX_WORKERS];
    float reference[SPARSE_KEYS], trained[SPARSE_KEYS];
    struct sparse_pushed pushed[][SPARSE_KEYS]; // by worker
};

struct sparse_job {
    const struct demo_options *o;
    unsigned steps, batch; // of each worker; samples of a step
    const char *folder, *program;
    struct sparse_text text;               // empty: the model of clicks
    char layout[DEMO_MAX_RACKS][PATH_MAX]; // of each switch
    struct sparse_board *board;
};

// ---- sparse_model.c ----

struct sparse_sample {
    uint32_t key[SPARSE_FEATURES]; // may be the same
    bool label;
};
// Samples of a worker's step; worker DEMO_MAX_WORKERS: those of the test.
void sparse_batch(const struct sparse_job *job, unsigned worker, unsigned step,
                  struct sparse_sample *samples, unsigned n);
// The keys of samples, ascending, each once (room for n * SPARSE_FEATURES); how many.
size_t sparse_keys(const struct sparse_sample *samples, unsigned n, uint64_t *keys);
// The step of gradient descent for each key, at these weights.
void sparse_step(const struct sparse_job *job, const struct sparse_sample *samples, unsigned n,
                 const uint64_t *keys, size_t n_keys, const float *weights, float *step);
// The mean cross entropy over the test, at the weights of all keys.
double sparse_loss(const struct sparse_job *job, const float *weights);

// ---- sparse_config.c ----

// Stations by number: workers, then servers, each dealt out to the racks.
struct sparse_address {
    char mac[18], ip[16], socket[128], device[256];
    unsigned port;
};
struct sparse_address sparse_address(const struct sparse_job *job, unsigned station);
unsigned sparse_rack(const struct sparse_job *job, unsigned station);
// The rack whose switch has the parameter if it is hot: that of its server.
unsigned sparse_rack_of_key(const struct sparse_job *job, uint64_t key);
extern const struct silken_address sparse_switch[DEMO_MAX_RACKS];
// Writes the configuration of a rack's switch. 0, or -1 with a sentence.
int sparse_write_config(const struct sparse_job *job, unsigned rack, const char *path, char *error,
                        size_t error_size);
// The link's socket that the switch of this rack makes for that of a rack before it.
void sparse_uplink(const struct sparse_job *job, unsigned rack, unsigned other, char *path,
                   size_t size);

// ---- sparse_proc.c ----

// Run in a child; return its exit status.
int sparse_work(const struct sparse_job *job, unsigned worker);
int sparse_serve(const struct sparse_job *job, unsigned server);

// The whole demo, whose program is at this path; returns the exit status.
int sparse_demo(const struct demo_options *o, const char *program);

#endif

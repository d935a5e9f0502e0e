// SPDX-License-Identifier: Apache-2.0
//
// lossy: the demo of DLCP (`silken demo --protocol dlcp`): an image classifier of several layers is
// trained by processes that exchange gradients of which a bounded part may be lost.
//
// With a server: workers push the gradient of each layer, the server takes the mean of what came
// of each segment, updates the weights, and sends them to all. What does not come back, a worker
// changes by its own gradient. With --ring there is no server, and gradients are summed over a ring
// (SILKEN_DLCP of silken/allreduce.h).
//
//      parent          starts the others, trains in one process, checks, reports
//      switch...       `silken run` with p4/dlcp: one, or leaves and spines (--racks, --spines)
//      server          has the weights; with --ring none
//      worker 0..n-1   train
//
// What is sent lies on a board in shared memory, too, which no packet has to do with. Every element
// that came is compared with it, bit by bit, and so is what must not have been touched. The word
// `verified` means that all agreed, that each tensor had its bound, and that the accuracy is within
// a point of that of the same steps in one process.
//
// Files:
//
//     lossy.c         the parent
//     lossy_model.c   networks of layers and their gradients
//     lossy_proc.c    a worker, the server
//     lossy_ring.c    a worker of a ring
//     lossy_config.c  addresses, links, and the switches' configurations
#ifndef SILKEN_CLI_DEMO_LOSSY_H
#define SILKEN_CLI_DEMO_LOSSY_H

#include "cli/demo/dataset.h"
#include "cli/demo/model.h"
#include "cli/demo/options.h"
#include "cli/spaces.h"
#include "silken/dlcp.h"

#define LOSSY_JOB       1
#define LOSSY_LAYERS    8u // at most
#define LOSSY_SWITCHES  (2 * DEMO_MAX_RACKS)
#define LOSSY_LINK_MBPS 1000

// ---- lossy_model.c: networks ----

// A layer's parameters are one tensor: weights, the inputs' index first, then biases.
struct lossy_layer {
    bool convolves; // 3 x 3, then a maximum of each 2 x 2; else all inputs to all outputs
    unsigned side;  // of the image, if it convolves
    unsigned in, out;
    size_t first, count; // parameters
};
struct lossy_network {
    const char *text; // for the user
    unsigned layers;
    struct lossy_layer layer[LOSSY_LAYERS];
    size_t parameters, most_values; // of a layer's inputs or outputs
};
// Eight layers of a perceptron, or two that convolve and one after them.
struct lossy_network lossy_network(bool convolutional);
void lossy_init(const struct lossy_network *n, float *weights, uint64_t seed);

struct lossy_room;                                                // for one gradient at a time
struct lossy_room *lossy_room_new(const struct lossy_network *n); // null: no memory
void lossy_room_free(struct lossy_room *r);
// As model_gradient() and model_evaluate().
void lossy_gradient(const struct lossy_network *n, struct lossy_room *r, const float *weights,
                    const struct dataset *set, const uint32_t *index, size_t images, float scale,
                    float *gradient, struct model_score *score);
struct model_score lossy_evaluate(const struct lossy_network *n, struct lossy_room *r,
                                  const float *weights, const struct dataset *set);
// A step of gradient descent with momentum over 'count' parameters.
void lossy_update(float *weights, float *velocity, const float *gradient, size_t count, float rate);
float lossy_rate(unsigned step, unsigned steps);

// ---- what the processes share ----

struct lossy_status {
    unsigned steps;                // that are done
    uint64_t tensors, below_bound; // received; of them, those with less than the bound
    uint64_t elements, missing; // of tensors that were received: all; and those that did not come
    uint64_t wrong;             // elements that are not as they were sent
    uint64_t refused_why[32];
    double loss;
    struct silken_dlcp_stats stats;
};
struct lossy_board {
    volatile bool start, release; // training may begin; the server may end
    volatile bool ready[DEMO_MAX_WORKERS + 1], over[DEMO_MAX_WORKERS + 1];
    struct lossy_status status[DEMO_MAX_WORKERS + 1]; // the server's is the last one
    // Weights: of the server, of one process; then gradients: two of each worker.
    float values[];
};

struct lossy_job {
    const struct demo_options *o;
    struct lossy_network network;
    unsigned steps;
    const struct dataset *set;
    const char *folder, *program;
    struct lossy_board *board;
};
float *lossy_weights(const struct lossy_job *job);   // the server's, or of a ring worker 0's
float *lossy_reference(const struct lossy_job *job); // of one process
float *lossy_board_gradient(const struct lossy_job *job, unsigned worker, unsigned step);

// The images of a worker's part of a step, in an order that the seed and the step determine.
// 'order' has room for all images of the set and is kept from call to call; '*epoch' is UINT_MAX at
// first.
const uint32_t *lossy_shard(const struct lossy_job *job, unsigned worker, unsigned step,
                            uint32_t *order, unsigned *epoch, size_t *images);

// ---- lossy_config.c ----

// Stations by number: workers, then the server.
struct lossy_address {
    char mac[18], ip[16], socket[128], device[256];
    char switch_end[16], station_end[16]; // interfaces of a veth pair
    unsigned port, rack;
};
struct lossy_address lossy_address(const struct lossy_job *job, unsigned station);
unsigned lossy_stations(const struct lossy_job *job);
unsigned lossy_switches(const struct lossy_job *job);                     // leaves, then spines
bool lossy_switch_is_ready(const struct lossy_job *job, unsigned number); // not with --links veth
// The network namespaces, switches' and then stations', and the links between them.
int lossy_make_spaces(const struct lossy_job *job, struct spaces *s, char *error,
                      size_t error_size);
int lossy_write_config(const struct lossy_job *job, unsigned number, const char *path, char *error,
                       size_t error_size);

// ---- lossy_proc.c, lossy_ring.c ----

// Run in a child; return its exit status.
int lossy_serve(const struct lossy_job *job);
int lossy_work(const struct lossy_job *job, unsigned worker);
int lossy_work_in_ring(const struct lossy_job *job, unsigned worker);

// For both kinds of workers: their share of a step, which is put on the board, too.
struct lossy_trainee {
    const struct lossy_job *job;
    unsigned number;
    float *weights, *gradient, *came; // owned
    uint32_t *order;
    unsigned epoch;
    struct lossy_room *room;
};
int lossy_trainee_begin(struct lossy_trainee *t, const struct lossy_job *job, unsigned number);
void lossy_trainee_step(struct lossy_trainee *t, unsigned step);
void lossy_trainee_end(struct lossy_trainee *t);
int lossy_proc_fail(const char *what, int rc);

// The whole demo, whose program is at this path; returns the exit status.
int lossy_demo(const struct demo_options *o, const char *program);

#endif

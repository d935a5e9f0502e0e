// SPDX-License-Identifier: Apache-2.0
//
// options: what `silken demo` can be told.
#ifndef SILKEN_CLI_DEMO_OPTIONS_H
#define SILKEN_CLI_DEMO_OPTIONS_H

#include "silken/allreduce.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEMO_MAX_WORKERS 16
#define DEMO_MAX_LANES   8
#define DEMO_MAX_SERVERS 4
#define DEMO_MAX_RACKS   4

struct demo_options {
    enum silken_protocol protocol;
    bool both;          // a job of each protocol on one switch; 'protocol' says nothing then
    bool libra;         // a sparse model (sparse.h); 'protocol' says nothing then
    bool sync;          // of it: all workers' steps at the same parameters
    bool dlcp;          // gradients that may be lost (lossy.h); 'protocol' says nothing then
    bool ring;          // of it: workers in a ring, without a server
    bool convolutional; // of it: the network
    double bound;       // of it: share of a gradient that may be missing
    unsigned spines;    // of it: between racks
    unsigned workers;   // of each job
    unsigned servers;   // parameter servers of the job of ATP or Libra; 0: none
    unsigned racks;
    unsigned levels;   // of their switches
    unsigned lanes;    // of each worker and server
    unsigned elements; // in a packet of SwitchML, or else of ATP
    bool f16;          // SwitchML's switch adds 16-bit floats
    bool rdma;         // SwitchML by RoCEv2
    unsigned batch;    // images of a step, of all workers together
    unsigned epochs;
    unsigned steps;  // 0: as the epochs say
    unsigned images; // of the training set, 0: all
    unsigned limit;  // seconds after which the demo gives up
    uint64_t seed;
    bool veth;   // links between network namespaces; else memif
    double loss; // chance of a packet to be dropped, in each direction
    const char *program;
    bool own_program;   // it is one of Silken's own files, as of compiler/base/share.h
    const char *data;   // the data set's folder
    const char *text;   // of Libra: a file with the text of a model of next words; or null
    const char *record; // file for what the switch receives and sends; null: none
    const char *keep;   // folder for logs and configuration; null: a temporary one
    bool quiet;
    bool help;
};

// Fills '*o' from the command line, defaults included. Returns 0, or -1 with a sentence in 'error'.
int demo_options_parse(struct demo_options *o, int argc, char **argv, char *error,
                       size_t error_size);

// The text of --help.
extern const char demo_usage[];

#endif

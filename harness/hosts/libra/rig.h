// SPDX-License-Identifier: Apache-2.0
//
// rig.h: p4/libra as a switch under test: compiled in each of its builds, its tables filled,
// workers admitted, cells read and written.
#ifndef SILKEN_HARNESS_HOSTS_LIBRA_RIG_H
#define SILKEN_HARNESS_HOSTS_LIBRA_RIG_H

#include "harness/net/program.h"
#include "hosts/libra/libra.h"

#define RIG_JOB   3
#define RIG_EPOCH 7

enum rig_build { RIG_FAST, RIG_CHECKED, RIG_SCALAR, RIG_BUILDS };

struct sk_program *rig_program(const char *path, enum rig_build build);
// Adds floats: the adder's tables.
void rig_fill(struct sk_switch *sw);
// Worker w of the job at port w, with 'cells' cells in each register from 'base' on.
void rig_admit(struct sk_switch *sw, unsigned w, unsigned base, unsigned cells);
struct sk_endpoint rig_worker_end(unsigned w);
struct sk_endpoint rig_switch_end(void);
struct libra_flow rig_flow(unsigned w);

// The registers of the program that adds floats.
struct rig_cells {
    struct sk_pipe *pipe;
    const struct sk_pipeline_desc *desc;
    uint32_t registers[LIBRA_PLACES];
};
struct rig_cells rig_cells(struct sk_switch *sw);
uint32_t rig_read(const struct rig_cells *c, unsigned base, uint32_t rank);
void rig_write(const struct rig_cells *c, unsigned base, uint32_t rank, uint32_t value);

#endif

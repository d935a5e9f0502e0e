// SPDX-License-Identifier: Apache-2.0
//
// result: what came of a run, as JSON (docs/simulation.md has the members), and series over time.
#ifndef SILKEN_SIM_RESULT_H
#define SILKEN_SIM_RESULT_H

#include "sim/sim.h"

// From now on, every scenario->sample_us, notes what has gone on since the last time.
void series_start(struct sim *s);

// A picture of a run's series: jobs' throughput over time, by gnuplot. 0, or -1 after filling
// 'err'.
int plot_result(const json_t *result, const char *path, struct sk_error *err);
// A picture of what 'write_script' writes for gnuplot, about 'what'. 0, or -1 after filling 'err'.
int plot_draw(void (*write_script)(FILE *f, const void *what), const void *what, const char *path,
              struct sk_error *err);
// A name between single quotes of such a script: what gnuplot would read anything into is left out.
void plot_name(FILE *f, const char *name);

#endif

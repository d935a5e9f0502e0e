// SPDX-License-Identifier: Apache-2.0
//
// network: scenarios for tests: read from text, run with one seed; and copies of our programs with
// one thing wrong, to see that somebody notices.
#ifndef SILKEN_HARNESS_SIM_NETWORK_H
#define SILKEN_HARNESS_SIM_NETWORK_H

#include <jansson.h>
#include <stdint.h>

// Runs the scenario and returns its result; fails the test when it cannot be built. 'told', if not
// null, becomes what is printed about a violation, or null; the caller frees it.
json_t *network_run(const char *text, uint64_t seed, char **told);
json_t *network_run_file(const char *path, uint64_t seed, char **told);

// The same, after 'begin' has made events of its own.
struct sim;
json_t *network_run_with(const char *text, uint64_t seed, void (*begin)(struct sim *s),
                         char **told);

// What the scenario is refused for, when it is read or its switches are configured; fails the test
// when it is not. The caller frees it.
char *network_refused(const char *text);

// A copy of p4/NAME in which 'from', which must be in FILE, is 'to'. Returns the path of its
// NAME.p4.
const char *network_mutant(const char *name, const char *file, const char *from, const char *to);

// A member by a path of names and numbers, as in "jobs.0.outcome"; fails the test when it is not
// there.
const json_t *network_get(const json_t *result, const char *path);
const char *network_text(const json_t *result, const char *path);
double network_number(const json_t *result, const char *path);

#endif

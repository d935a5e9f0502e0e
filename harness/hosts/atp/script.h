// SPDX-License-Identifier: Apache-2.0
//
// script.h: a worker or a server driven by arbitrary bytes, and what must hold whatever they are.
//
// The bytes are read as a script: make it, let it send, let time pass, give it frames (packets made
// of the script's bytes and changed in some places, or bytes as they are), submit tensors or change
// the job's shape. After every step:
//
//   - nothing is written behind a tensor, and a frame is as long as it says;
//   - a frame is accepted or counted for one reason, exactly once;
//   - a worker with work in flight has a deadline; a server's first fragment never goes back, and
//     of a fragment that is complete nobody is missing.
//
// A violation aborts, so that a fuzzer sees it; the memory errors are for the sanitizers. The
// libFuzzer targets and the short random run test_script.c share this. No state between calls.
#ifndef SILKEN_HARNESS_HOSTS_ATP_SCRIPT_H
#define SILKEN_HARNESS_HOSTS_ATP_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

// What scripts have reached, for tests of the fuzzers themselves.
struct script_reach {
    uint64_t accepted, ignored, done, floats, restarts;
};

// Run a script, and add to '*reach' if that is not NULL.
void script_worker(const uint8_t *bytes, size_t len, struct script_reach *reach);
void script_server(const uint8_t *bytes, size_t len, struct script_reach *reach);

#endif

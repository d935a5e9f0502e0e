// SPDX-License-Identifier: Apache-2.0
//
// worker_script.h: a worker driven by arbitrary bytes, and what must hold whatever they are.
//
// The bytes are read as a script: make a worker, submit tensors, let it send, let time pass, give
// it frames (its own, turned into answers and then changed at some bytes, or bytes as they are).
// After every step:
//
//   - nothing is written behind a tensor, and a frame is as long as it says;
//   - a frame is accepted or counted for one reason, exactly once;
//   - a worker with work in flight has a deadline or something to send.
//
// A violation aborts, so that a fuzzer sees it; the memory errors are for the sanitizers. The
// libFuzzer target fuzz_worker.c and the short random run test_fuzz_worker.c share this. No state
// between calls.
#ifndef SILKEN_HARNESS_HOSTS_SWITCHML_WORKER_SCRIPT_H
#define SILKEN_HARNESS_HOSTS_SWITCHML_WORKER_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

// What a script has reached, for tests of the fuzzer itself.
struct fuzz_reach {
    uint64_t steps, accepted, asked, ignored, tensors_done;
};

// Runs a script, and adds to '*reach' if that is not NULL.
void fuzz_worker_script(const uint8_t *script, size_t len, struct fuzz_reach *reach);

#endif
